"""Language of a page: the phone's choice and the catalogs.

Texts are written in English and translated in `web/translations/<language>.po`, the referee's in `rules/messages`, card
names in `rules/card_names.toml`.
"""

from __future__ import annotations

import gettext
import io
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import cache

from babel import localedata
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from flask import Flask, request, session

from companion.common.languages import LANGUAGES
from companion.common.resources import shipped
from companion.common.text import Counted, Said, Term
from companion.rules import reasons
from companion.rules.card_names import card_name
from companion.rules.cards import card_of_slug

ENGLISH = "en"
EUROPEAN = "en_150"  # English without a country: unambiguous dates and times
_REGIONAL = re.compile(r"([a-z]{2})-([a-z]{2})", re.IGNORECASE | re.ASCII)
CHOSEN = "language"  # cookie key
_spoken: ContextVar[str] = ContextVar("spoken", default=ENGLISH)
_edition: ContextVar[str | None] = ContextVar("edition", default=None)

Called = Callable[[Term], str | None]  # a term's own name, if any
_called: ContextVar[Called] = ContextVar("called", default=lambda _term: None)


def spoken() -> str:
    """Return the language of this request; English outside a request."""
    return _spoken.get()


def locale() -> str:
    """Return the locale for dates and times: the page's language, in the browser's region if known."""
    regional = (_REGIONAL.fullmatch(tag) for tag in request.accept_languages.values())
    named = [f"{found[1].lower()}_{found[2].upper()}" for found in regional if found and found[1].lower() == spoken()]
    usual = EUROPEAN if spoken() == ENGLISH else spoken()
    return next((name for name in named if localedata.exists(name)), usual)


def speak(language: str) -> None:
    """Set this request's language; English if unknown."""
    _spoken.set(language if language in LANGUAGES else ENGLISH)


def printed_in() -> str | None:
    """Return the edition whose printed card names are used."""
    return _edition.get()


def name_cards_of(edition: str) -> None:
    """Set the edition whose card names and unit this request uses."""
    _edition.set(edition)


def speak_of(edition: str | None, called: Called = lambda _term: None) -> None:
    """Set this request's edition and the function that names other terms."""
    _edition.set(edition)
    _called.set(called)


def prepare(app: Flask) -> None:
    """Make an app set the language before each request and reset it afterwards."""

    def find_out() -> None:
        chosen = session.get(CHOSEN)
        speak(chosen if chosen in LANGUAGES else request.accept_languages.best_match(LANGUAGES, ENGLISH))

    def forget(_error: BaseException | None) -> None:
        speak(ENGLISH)
        speak_of(None)

    app.before_request(find_out)
    app.teardown_request(forget)


def translate(text: str) -> str:
    """Translate a text; unknown ones stay unchanged. A `Said` sentence keeps its initial capital."""
    if not isinstance(text, Said):
        return catalogue(spoken()).gettext(text) if text else ""
    said = _said(text)
    return said[:1].upper() + said[1:] if text[:1].isupper() else said


def worded(text: str) -> str:
    """Translate a text, with the edition's unit and card names."""
    return in_edition(translate(text))


def in_edition(pattern: str) -> str:
    """Return a translated pattern with the edition's unit and card names."""
    return reasons.in_edition(pattern, spoken(), printed_in())


def _said(sentence: Said) -> str:
    if isinstance(sentence, Term):
        return _called.get()(sentence) or _plainly(sentence)
    texts = catalogue(spoken())
    if isinstance(sentence, Counted):
        pattern = texts.ngettext(sentence.pattern, sentence.several, sentence.number)
    else:
        pattern = texts.gettext(sentence.pattern) if sentence.pattern else ""
    return with_values(in_edition(pattern), sentence.values)


def with_values(pattern: str, values: Mapping[str, object]) -> str:
    """Insert localized values into a translated pattern."""
    said = {key: _said(value) if isinstance(value, Said) else value for key, value in values.items()}
    said |= {key: decimal(value) for key, value in said.items() if isinstance(value, float) and f"%({key})s" in pattern}
    return _euphonic(pattern, said) % said if values else pattern


def decimal(value: float) -> str:
    """Return a number with at most one decimal, localized: `1,5`."""
    return format_decimal(value, "0.#", locale=spoken())


_EUPHONY: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "es": {"o": ("u", r"h?[oó]|8|11\b"), "y": ("e", r"h?[ií](?![aeou])")},
    "it": {"a": ("ad", "[aàá]"), "e": ("ed", "[eèé]")},
}
"""Words that change before certain sounds: `7 u 8`, `Ana e Inés`, `ad Anna`."""


def _euphonic(pattern: str, said: Mapping[str, object]) -> str:
    changes = _EUPHONY.get(spoken(), {})

    def joined(found: re.Match[str]) -> str:
        other, before = changes[found[1]]
        follows = re.match(before, str(said.get(found[2], "")), re.IGNORECASE)
        return f"{other if follows else found[1]} %({found[2]})"

    return re.sub(rf"\b({'|'.join(changes)}) %\((\w+)\)", joined, pattern) if changes else pattern


def _plainly(term: Term) -> str:
    card = card_of_slug(term.key) if term.kind == "card" else None
    if card is None:
        return catalogue(spoken()).gettext(str.__str__(term))
    return card_name(card, spoken(), printed_in())


def translate_many(one: str, many: str, count: int) -> str:
    """Translate the form of a text that fits a count."""
    return in_edition(catalogue(spoken()).ngettext(one, many, count))


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the catalog of a language. Raises FileNotFoundError without one."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    with (shipped("web") / "translations" / f"{language}.po").open("rb") as file:
        texts = read_po(file, locale=language)
    packed = io.BytesIO()
    write_mo(packed, texts)
    packed.seek(0)
    return gettext.GNUTranslations(packed)

"""The language of a request or command, and translation into it.

Texts are written in English; their catalogs are `web/translations/<language>.po`. The referee's sentences have catalogs
in `rules/messages`, the cards their names in `rules/card_names.toml`.
"""

from __future__ import annotations

import gettext
import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from companion.common.languages import LANGUAGES
from companion.common.resources import shipped
from companion.common.text import Counted, Said, Term
from companion.rules import reasons
from companion.rules.card_names import card_name
from companion.rules.cards import card_of_slug

ENGLISH = "en"
_spoken: ContextVar[str] = ContextVar("spoken", default=ENGLISH)
_edition: ContextVar[str | None] = ContextVar("edition", default=None)

Called = Callable[[Term], str | None]  # a term's own name at this table, if any
_called: ContextVar[Called] = ContextVar("called", default=lambda _term: None)


def spoken() -> str:
    """Return the language of this thread; English if none was set."""
    return _spoken.get()


def speak(language: str) -> None:
    """Set the language of this thread; English if unknown."""
    _spoken.set(language if language in LANGUAGES else ENGLISH)


@contextmanager
def speaking(language: str, edition: str | None = None) -> Iterator[None]:
    """Set the language, and the edition for unit and card names, inside the context."""
    before, printed = spoken(), printed_in()
    speak(language)
    _edition.set(edition)
    try:
        yield
    finally:
        speak(before)
        _edition.set(printed)


def printed_in() -> str | None:
    """Return the edition whose printed card names are used."""
    return _edition.get()


def name_cards_of(edition: str) -> None:
    """Set the edition whose printed card names and unit this request uses."""
    _edition.set(edition)


def speak_of(edition: str | None, called: Called = lambda _term: None) -> None:
    """Set the edition for card names, and a function for names of other terms."""
    _edition.set(edition)
    _called.set(called)


def translate(text: str) -> str:
    """Return a text, or a `Said` with its values, in the spoken language; unknown texts stay unchanged.

    A sentence that begins with a capital still does when a translated value comes first.
    """
    if not isinstance(text, Said):
        return catalogue(spoken()).gettext(text) if text else ""
    said = _said(text)
    return said[:1].upper() + said[1:] if text[:1].isupper() else said


def worded(text: str) -> str:
    """Return a translated text with the edition's unit and card names."""
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
    """Return a translated pattern with its `%(name)s` values: `Said` translated, floats as decimals of the language."""
    said = {key: _said(value) if isinstance(value, Said) else value for key, value in values.items()}
    said |= {key: decimal(value) for key, value in said.items() if isinstance(value, float) and f"%({key})s" in pattern}
    return _euphonic(pattern, said) % said if values else pattern


def decimal(value: float) -> str:
    """Return a number with at most one decimal in the reader's notation: `1,5`."""
    from babel.numbers import format_decimal

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
    """Return the usual translation of a term."""
    card = card_of_slug(term.key) if term.kind == "card" else None
    if card is None:
        return catalogue(spoken()).gettext(str.__str__(term))
    return card_name(card, spoken(), printed_in())


def translate_many(one: str, many: str, count: int) -> str:
    """Return the form of a text that fits a count."""
    return in_edition(catalogue(spoken()).ngettext(one, many, count))


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the catalog of a language. Raises FileNotFoundError without one."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    # Imported here, as English commands need no catalog.
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with (shipped("web") / "translations" / f"{language}.po").open("rb") as file:
        texts = read_po(file, locale=language)
    packed = io.BytesIO()
    write_mo(packed, texts)
    packed.seek(0)
    return gettext.GNUTranslations(packed)

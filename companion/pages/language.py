"""The language of a page: which one a phone reads, and its catalogue of texts.

The catalogues are `web/translations/<language>.po`; English is the language the texts are written in. The sentences
of the referee have catalogues of their own (`rules/messages`), and the cards their names there.
"""

from __future__ import annotations

import gettext
import io
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from flask import Flask, request, session

from companion.rules.reasons import LANGUAGES
from companion.said import Said
from companion.shipped import shipped

ENGLISH = "en"
OWN_NAMES: Mapping[str, str] = {"en": "English", "fr": "Français", "pl": "Polski"}
"""The languages as those who read them call them."""

_CHOSEN = "language"
_spoken: ContextVar[str] = ContextVar("spoken", default=ENGLISH)


def spoken() -> str:
    """The language in which this request is answered; English outside of any."""
    return _spoken.get()


def speak(language: str) -> None:
    """Answers in a language from here on; one that is none of ours is English."""
    _spoken.set(language if language in LANGUAGES else ENGLISH)


def choose(language: str) -> None:
    """Remembers the language of this phone."""
    session.permanent = True
    session[_CHOSEN] = language


def prepare(app: Flask) -> None:
    """Finds out before every request which language its page is in."""
    app.before_request(_find_out)
    app.teardown_request(lambda _error: speak(ENGLISH))


def _find_out() -> None:
    chosen = session.get(_CHOSEN)
    speak(chosen if chosen in LANGUAGES else request.accept_languages.best_match(LANGUAGES, ENGLISH))


def translate(text: str) -> str:
    """A text in the language of the page; one that is no text of the catalogue as it is."""
    if isinstance(text, Said):
        return said_here(text)
    return catalogue(spoken()).gettext(text) if text else ""


def said_here(sentence: Said) -> str:
    """A sentence from a room further in, in the language of the page."""
    pattern = catalogue(spoken()).gettext(sentence.pattern)
    if not sentence.values:
        return pattern
    return pattern % {
        key: said_here(value) if isinstance(value, Said) else value for key, value in sentence.values.items()
    }


def translate_many(one: str, many: str, count: int) -> str:
    """The form of a text that fits a count."""
    return catalogue(spoken()).ngettext(one, many, count)


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """The texts of a language. Raises FileNotFoundError for one without a catalogue."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    with (shipped("web") / "translations" / f"{language}.po").open("rb") as file:
        texts = read_po(file, locale=language)
    packed = io.BytesIO()
    write_mo(packed, texts)
    packed.seek(0)
    return gettext.GNUTranslations(packed)

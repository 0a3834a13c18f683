"""The language of a page: each phone's choice. The texts are translated in `tabletop/translation.py`."""

from __future__ import annotations

import re

from babel import localedata
from flask import Flask, request, session

from companion.common.languages import LANGUAGES
from companion.tabletop.translation import ENGLISH, speak, speak_of, spoken

EUROPEAN = "en_150"  # English without a country: its dates and times are unambiguous
_REGIONAL = re.compile(r"([a-z]{2})-([a-z]{2})", re.IGNORECASE | re.ASCII)
CHOSEN = "language"  # cookie key of the chosen language


def locale() -> str:
    """Return the locale for dates and times: the page's language, in the browser's region if known."""
    regional = (_REGIONAL.fullmatch(tag) for tag in request.accept_languages.values())
    named = [f"{found[1].lower()}_{found[2].upper()}" for found in regional if found and found[1].lower() == spoken()]
    usual = EUROPEAN if spoken() == ENGLISH else spoken()
    return next((name for name in named if localedata.exists(name)), usual)


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

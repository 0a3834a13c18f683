"""Preferences of a phone: language, theme, letter size, sounds and speech."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Blueprint, redirect, render_template, request, session, url_for

from companion.common.languages import OWN_NAMES
from companion.pages import language
from companion.pages.context import AnyResponse
from companion.pages.words import N_

bp = Blueprint("phone", __name__)

_KEPT = "looks"
ON = "on"


THEMES: Mapping[str, str] = {
    "auto": N_("Same as the phone"),
    "light": N_("Light"),
    "dark": N_("Dark"),
}
SWITCHES: Mapping[str, tuple[str, str]] = {
    "large": (N_("Larger text"), N_("Easier to read.")),
    "sound": (N_("Sounds"), N_("A horn for a coup fourré, brakes for an attack, a whistle for an illegal play.")),
    "speech": (N_("Read plays aloud"), N_("Reads each play aloud, if your phone can.")),
    "calm": (N_("Calm"), N_("No full-screen messages, not even for a coup fourré.")),
    "vibrate": (N_("Shake"), N_("When it is your turn or a play is illegal, if your phone can.")),
}
"""Title and note of each switch; off by default."""


def phone() -> Mapping[str, str]:
    """Return this phone's theme, and "on" for each switch that is on."""
    kept = session.get(_KEPT)
    kept = kept if isinstance(kept, dict) else {}
    theme = str(kept.get("theme"))
    return {"theme": theme if theme in THEMES else "auto", **{key: ON for key in SWITCHES if kept.get(key) == ON}}


def turn_on_sound() -> None:
    """Turn on sounds for this phone."""
    session[_KEPT] = {**phone(), "sound": ON}


@bp.get("/phone")
def show() -> str:
    """Show the preferences."""
    return render_template("phone.html", languages=OWN_NAMES, themes=THEMES, switches=SWITCHES)


@bp.post("/phone")
def save() -> AnyResponse:
    """Save the preferences in the phone's cookie; a language alone changes only that."""
    chosen = request.form.get("language")
    if chosen in OWN_NAMES:
        session[language.CHOSEN] = chosen
    if "theme" in request.form:
        session[_KEPT] = {field: request.form[field] for field in ("theme", *SWITCHES) if field in request.form}
    back = request.form.get("back", "")
    is_ours = back.startswith("/") and not back.startswith(("//", "/\\")) and back.isprintable()
    return redirect(back if is_ours else url_for("phone.show"), 303)

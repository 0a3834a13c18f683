"""Preferences of a phone: the language, the theme and size of its pages, whether it makes sounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Blueprint, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response as AnyResponse

from companion.pages import language
from companion.pages.words import N_

bp = Blueprint("phone", __name__)

_KEPT = "looks"
ON = "on"


@dataclass(frozen=True, slots=True)
class Switch:
    """A preference that is off until the phone's owner turns it on."""

    key: str
    title: str
    note: str


THEMES: Mapping[str, str] = {
    "auto": N_("As the phone is set"),
    "light": N_("Light"),
    "dark": N_("Dark"),
}
SWITCHES = (
    Switch("large", N_("Larger letters"), N_("For small screens and far eyes.")),
    Switch("sound", N_("Sounds"), N_("A horn for a coup fourré, brakes for an attack, a whistle for an illegal play.")),
    Switch("speech", N_("Speak the plays"), N_("The phone says what was played, where it has a voice.")),
    Switch("vibrate", N_("Shake"), N_("When it is your turn and when a play is illegal, where the phone can.")),
)


@dataclass(frozen=True, slots=True)
class Phone:
    """The preferences of a phone."""

    theme: str = "auto"
    switches: frozenset[str] = frozenset()
    """The keys of those that are on."""

    @property
    def looks(self) -> tuple[tuple[str, str], ...]:
        """Attributes of the page, with their values, that style sheets read."""
        theme = () if self.theme == "auto" else (("data-theme", self.theme),)
        return theme + ((("data-large", ON),) if "large" in self.switches else ())

    @property
    def does(self) -> tuple[tuple[str, str], ...]:
        """Those that scripts read."""
        return tuple((f"data-{key}", ON) for key in ("sound", "speech", "vibrate") if key in self.switches)


def phone() -> Phone:
    """Return the preferences of the phone that asks."""
    kept = session.get(_KEPT)
    if not isinstance(kept, dict):
        return Phone()
    theme = str(kept.get("theme"))
    on = frozenset(switch.key for switch in SWITCHES if kept.get(switch.key) == ON)
    return Phone(theme if theme in THEMES else "auto", on)


@bp.get("/phone")
def show() -> str:
    """Show what can be chosen for this phone."""
    return render_template("phone.html", languages=language.OWN_NAMES, themes=THEMES, switches=SWITCHES)


@bp.post("/phone")
def save() -> AnyResponse:
    """Keep what was chosen in the phone's own cookie; a form with a language alone changes that alone."""
    chosen = request.form.get("language")
    if chosen in language.OWN_NAMES:
        language.choose(str(chosen))
    if "theme" in request.form:
        session.permanent = True
        fields = ("theme", *(switch.key for switch in SWITCHES))
        session[_KEPT] = {field: request.form[field] for field in fields if field in request.form}
    back = request.form.get("back", "")
    is_ours = back.startswith("/") and not back.startswith(("//", "/\\")) and back.isprintable()
    return redirect(back if is_ours else url_for("phone.show"), 303)

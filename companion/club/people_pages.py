"""Pages about people: signing in, accounts, audit, personal data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from flask import Blueprint, Response, abort, redirect, render_template, request, session
from werkzeug.wrappers import Response as AnyResponse

from companion.club import club_doors, club_log, deeds, desk, erasure, people
from companion.club.club_doors import SESSION, club
from companion.club.people import Person, Role
from companion.club.postgres import Connection, connected
from companion.common.errors import Problem
from companion.common.text import plain, say
from companion.pages.context import download
from companion.pages.server.address import base_url, is_this_machine, qr_path
from companion.pages.words import N_, _

bp = Blueprint("people", __name__)

MOST_DEEDS = 200  # shown by the audit
MOST_TOLD = 160
ROLES = {Role.DIRECTOR: N_("Director"), Role.HELPER: N_("Helper"), Role.PLAYER: N_("Player")}
DID = {
    "came in": N_("signed in"),
    "person": N_("added a person"),
    "link": N_("made a link"),
    "shut out": N_("ended all sessions of a person"),
    "removed": N_("removed a person"),
    "erased": N_("erased a player’s name"),
    "key": N_("made a key"),
    "revoked": N_("revoked a key"),
    "settled": N_("settled a table"),
    "create": N_("made a tournament"),
    "enter": N_("added sides"),
    "leave": N_("removed a side"),
    "draw": N_("drew a round"),
    "undraw": N_("undid a draw"),
    "result": N_("entered a result"),
    "clock": N_("set the clock"),
    "call": N_("called the director"),
    "answered": N_("answered a call"),
    "coming": N_("informed the table"),
    "remove": N_("asked to remove a play"),
    "change": N_("asked to change a play"),
    "note": N_("wrote a note"),
    "arrived": N_("has received it"),
    "replied": N_("has answered"),
}


def here() -> str:
    """Return the club's address as this browser uses it; the network's for a loopback one."""
    scheme = "https" if request.headers.get("X-Forwarded-Proto") == "https" else request.scheme
    asked = urlsplit(f"//{request.host}")
    if is_this_machine(asked.hostname or ""):
        return base_url("", asked.port or 80)
    return f"{scheme}://{request.host}"


@bp.get("/director")
def show_link() -> str:
    """Show a button to sign in, so that link previews use up no link."""
    return render_template("club_in.html", once=request.args.get("once", ""))


@bp.post("/director")
def come_in() -> AnyResponse:
    """Sign in with a one-time link."""
    with connected(club().pool) as db:
        found = people.come_in(db, request.form.get("once", ""))
        if found is None:
            raise Problem(
                say("This link has been used, or is more than a day old: run `companion club link` for a new one.")
            )
        token, one = found
        deeds.append(db, deeds.PEOPLE, "came in", one.name, {"role": one.role})
    session[SESSION] = token
    return redirect({Role.DIRECTOR: "/keys", Role.HELPER: "/", Role.PLAYER: "/tournaments"}[one.role], 303)


@bp.post("/director/leave")
def leave() -> AnyResponse:
    """Sign out."""
    with connected(club().pool) as db:
        people.leave(db, str(session.pop(SESSION, "")))
    return redirect("/", 303)


@bp.get("/me")
def mine() -> str:
    """Show a person their own page."""
    return render_template("club_me.html", person=club_doors.who())


@bp.get("/me.json")
def own_data() -> Response:
    """Return the signed-in person's data."""
    with connected(club().pool) as db:
        return _as_file(erasure.known_of(db, club_doors.name()))


# The director


@bp.get("/people")
def show_all() -> str:
    """Show all accounts."""
    with connected(club().pool) as db:
        return render_template("club_people.html", people=people.everybody(db), roles=ROLES)


@bp.post("/people")
def add() -> AnyResponse:
    """Add a person."""
    with connected(club().pool) as db:
        one = people.add(db, request.form.get("name", ""), request.form.get("role", ""))
        _note(db, "person", {"name": one.name, "role": one.role})
    return redirect("/people", 303)


@bp.post("/people/<int:number>/link")
def link(number: int) -> str:
    """Create a person's link and show it once, with a QR code."""
    with connected(club().pool) as db:
        one = _found(db, number)
        url = f"{here()}/director?once={people.new_link(db, number)}"
        _note(db, "link", {"name": one.name})
    return render_template("club_link.html", person=one, url=url, qr=qr_path(url))


@bp.post("/people/<int:number>/out")
def shut_out(number: int) -> AnyResponse:
    """End a person's sessions and links."""
    with connected(club().pool) as db:
        _note(db, "shut out", {"name": _found(db, number).name})
        people.shut_out(db, number)
    return redirect("/people", 303)


@bp.post("/people/<int:number>/remove")
def remove(number: int) -> AnyResponse:
    """Remove a person."""
    with connected(club().pool) as db:
        one = _found(db, number)
        people.remove(db, one)
        _note(db, "removed", {"name": one.name})
    return redirect("/people", 303)


@bp.get("/people/data")
def data() -> Response:
    """Return a player's data."""
    with connected(club().pool) as db:
        return _as_file(erasure.known_of(db, request.args.get("name", "")))


@bp.post("/people/erase")
def erase() -> str:
    """Erase a player's name."""
    with connected(club().pool) as db:
        erased = erasure.erase(db, request.form.get("name", ""))
        _note(db, "erased", {"name": erased.alias})
    return render_template("club_erased.html", erased=erased)


@bp.get("/audit")
def audit() -> str:
    """Show recent deeds, newest first."""
    with connected(club().pool) as db:
        done = deeds.latest(db, MOST_DEEDS)
        places = {desk.topic(row.id): row.name for row in club_log.tables(db, hidden=True)}
        places |= {made.topic: made.body["name"] for made in deeds.begun(db, "create")} | {deeds.PEOPLE: _("The club")}
    shown = [(deed, places.get(deed.topic, deed.topic), _told(deed.body)) for deed in done]
    return render_template("club_audit.html", deeds=shown, did=DID)


def _told(body: Mapping[str, object]) -> str:
    said = (
        f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for key, value in body.items()
        if value
    )
    return plain(", ".join(said), MOST_TOLD)


def _found(db: Connection, number: int) -> Person:
    return next((one for one in people.everybody(db) if one.id == number), None) or abort(404)


def _note(db: Connection, kind: str, body: dict[str, object]) -> None:
    deeds.append(db, deeds.PEOPLE, kind, club_doors.name(), body)


def _as_file(known: dict[str, object]) -> Response:
    return download(json.dumps(known, ensure_ascii=False, indent=1, default=str), "application/json", "player.json")

"""Access control of the club: each endpoint's role. Unlisted endpoints are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from flask import abort, current_app, g, request, session

from companion.club import people
from companion.club.people import Person, Role
from companion.club.postgres import connected

if TYPE_CHECKING:
    from companion.club.club_service import Club

SESSION = "person"  # cookie field of the session token
_OPEN_TO: Mapping[Role | None, str] = {
    None: """
        static health metrics club.take club.boards club.as_json club.one club.standings club.speak
        people.show_link people.come_in people.leave
        tournaments.show_all tournaments.show tournaments.as_json tournaments.as_csv tournaments.cards
    """,
    Role.PLAYER: "people.mine people.own_data",
    Role.HELPER: "desk.show desk.board desk.answer desk.note tournaments.direct tournaments.decide",
    Role.DIRECTOR: """
        club.all_keys club.make_key club.one_key club.revoke_key club.settle desk.correct tournaments.create
        people.show_all people.add people.link people.shut_out people.remove people.data people.erase people.audit
    """,
}

DOORS: Mapping[str, Role | None] = {
    endpoint: role for role, endpoints in _OPEN_TO.items() for endpoint in endpoints.split()
}
"""Required role by endpoint; None if public."""


def club() -> Club:
    """Return the club of this request's app."""
    return cast("Club", current_app.extensions["club"])


def who() -> Person | None:
    """Return the signed-in person, if any."""
    if "person" not in g:
        token = session.get(SESSION)
        g.person = None
        if isinstance(token, str):
            with connected(club().pool) as db:
                g.person = people.of_session(db, token)
    return cast("Person | None", g.person)


def name() -> str:
    """Return the signed-in person's name; empty without one."""
    one = who()
    return one.name if one else ""


def may(role: Role) -> bool:
    """True if the signed-in person has a role's rights."""
    one = who()
    return one is not None and one.role.may(role)


def need(role: Role) -> None:
    """Abort without a role's rights: 401 if not signed in, else 403."""
    if not may(role):
        abort(403 if who() else 401)


def let_in() -> None:
    """Abort a request whose endpoint is not allowed; 404 if unlisted."""
    if request.endpoint is None:
        return
    if request.endpoint not in DOORS:
        abort(404)
    role = DOORS[request.endpoint]
    if role is not None:
        need(role)

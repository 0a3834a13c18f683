"""The people of a club: who they are, how they come in, and what each may do.

Nobody has a password. A link lets one browser in, once, within a day; from then on it is known by its cookie, which
holds a token whose hash is here. Who has no session is the public, and sees scores.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from enum import StrEnum

from companion.club.postgres import Connection
from companion.common.errors import Problem
from companion.common.text import plain, say

_MOST_NAME = 48
_LINK_COUNTS = "1 day"
_SESSION_COUNTS = "30 days"
FIRST_NAME = "Director"  # the name of whoever comes in by a link of the command line


class Role(StrEnum):
    """What somebody may do; each may also do what those after it may."""

    DIRECTOR = "director"  # everything
    HELPER = "helper"  # answer calls, type results, stop the clock, write notes to tables
    PLAYER = "player"  # see where they sit, take their own data along

    def may(self, needed: Role) -> bool:
        order = list(Role)
        return order.index(self) <= order.index(needed)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom the club knows by name."""

    id: int
    name: str
    role: Role


def everybody(db: Connection) -> list[Person]:
    """Return all people, directors first."""
    rows = db.execute("SELECT id, name, role FROM club.people ORDER BY role, name, id")
    return [Person(row[0], row[1], Role(row[2])) for row in rows]


def add(db: Connection, name: str, role: str) -> Person:
    """Add somebody. Raises Problem."""
    called = " ".join(plain(name, _MOST_NAME).split())
    if not called or role not in tuple(Role):
        raise Problem(say("Enter the person’s name and role."))
    row = db.execute("INSERT INTO club.people (name, role) VALUES (%s, %s) RETURNING id", [called, role]).fetchone()
    return Person(row[0] if row else 0, called, Role(role))


def remove(db: Connection, one: Person) -> None:
    """Forget somebody, with links and sessions. Raises Problem for the last director."""
    directors = [other for other in everybody(db) if other.role is Role.DIRECTOR]
    if directors == [one]:
        raise Problem(say("You cannot remove the last director: add another one first."))
    db.execute("DELETE FROM club.people WHERE id = %s", [one.id])


# --- Coming in ------------------------------------------------------------------------------------------------


def new_link(db: Connection, number: int | None = None) -> str:
    """Return a token that lets one browser in as somebody, once, within a day; without a number as a director."""
    token = secrets.token_urlsafe(24)
    db.execute("INSERT INTO club.links (digest, person) VALUES (%s, %s)", [_hash(token), number])
    return token


def come_in(db: Connection, token: str) -> tuple[str, Person] | None:
    """Use up a link; return the token of a session and whose it is, or None for a link that counts no more."""
    db.execute("DELETE FROM club.links WHERE made_at < now() - %s::interval", [_LINK_COUNTS])
    used = db.execute("DELETE FROM club.links WHERE digest = %s RETURNING person", [_hash(token)]).fetchone()
    if used is None:
        return None
    known = everybody(db)
    if used[0] is None:
        first = next((one for one in known if (one.name, one.role) == (FIRST_NAME, Role.DIRECTOR)), None)
        one = first or add(db, FIRST_NAME, Role.DIRECTOR)
    else:
        one = next(one for one in known if one.id == used[0])  # With the person a link goes too.
    session = secrets.token_urlsafe(24)
    db.execute("INSERT INTO club.sessions (digest, person) VALUES (%s, %s)", [_hash(session), one.id])
    return session, one


def of_session(db: Connection, token: str) -> Person | None:
    """Return whose session a token is; None where it has ended."""
    query = (
        "SELECT p.id, p.name, p.role FROM club.sessions s JOIN club.people p ON p.id = s.person"
        " WHERE s.digest = %s AND s.made_at > now() - %s::interval"
    )
    row = db.execute(query, [_hash(token), _SESSION_COUNTS]).fetchone()
    return Person(row[0], row[1], Role(row[2])) if row else None


def leave(db: Connection, token: str) -> None:
    """End a session."""
    db.execute("DELETE FROM club.sessions WHERE digest = %s", [_hash(token)])


def shut_out(db: Connection, number: int) -> None:
    """End all sessions and links of somebody: a phone that was lost."""
    db.execute("DELETE FROM club.sessions WHERE person = %s", [number])
    db.execute("DELETE FROM club.links WHERE person = %s", [number])


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

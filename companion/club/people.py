"""The people of a club: accounts, roles, one-time links and sessions.

There are no passwords. A link signs in one browser, once, within a day. Its cookie then holds a session token, whose
hash is stored.
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
FIRST_NAME = "Director"  # name of the user of a command-line link


class Role(StrEnum):
    """Rights, highest first; each role includes those below."""

    DIRECTOR = "director"  # everything
    HELPER = "helper"  # answer calls, enter results, stop the clock, send notes
    PLAYER = "player"  # see their seat, download their data

    def may(self, needed: Role) -> bool:
        order = list(Role)
        return order.index(self) <= order.index(needed)


@dataclass(frozen=True, slots=True)
class Person:
    """A person with an account."""

    id: int
    name: str
    role: Role


def everybody(db: Connection) -> list[Person]:
    """Return all people by role (directors first), name and ID."""
    rows = db.execute("SELECT id, name, role FROM club.people ORDER BY role, name, id")
    return [Person(row[0], row[1], Role(row[2])) for row in rows]


def add(db: Connection, name: str, role: str) -> Person:
    """Add a person. Raises Problem for an empty name or unknown role."""
    called = " ".join(plain(name, _MOST_NAME).split())
    if not called or role not in tuple(Role):
        raise Problem(say("Enter the person’s name and role."))
    row = db.execute("INSERT INTO club.people (name, role) VALUES (%s, %s) RETURNING id", [called, role]).fetchone()
    return Person(row[0] if row else 0, called, Role(role))


def remove(db: Connection, one: Person) -> None:
    """Remove a person with links and sessions. Raises Problem for the last director."""
    directors = [other for other in everybody(db) if other.role is Role.DIRECTOR]
    if directors == [one]:
        raise Problem(say("You cannot remove the last director: add another one first."))
    db.execute("DELETE FROM club.people WHERE id = %s", [one.id])


# Signing in


def new_link(db: Connection, number: int | None = None) -> str:
    """Return the token of a new one-time link for a person's ID; None for the director."""
    token = secrets.token_urlsafe(24)
    db.execute("INSERT INTO club.links (digest, person) VALUES (%s, %s)", [_hash(token), number])
    return token


def come_in(db: Connection, token: str) -> tuple[str, Person] | None:
    """Use a link; return a new session's token and person, or None if used or expired."""
    db.execute("DELETE FROM club.links WHERE made_at < now() - %s::interval", [_LINK_COUNTS])
    used = db.execute("DELETE FROM club.links WHERE digest = %s RETURNING person", [_hash(token)]).fetchone()
    if used is None:
        return None
    known = everybody(db)
    if used[0] is None:
        first = next((one for one in known if (one.name, one.role) == (FIRST_NAME, Role.DIRECTOR)), None)
        one = first or add(db, FIRST_NAME, Role.DIRECTOR)
    else:
        one = next(one for one in known if one.id == used[0])  # links are removed with their person
    session = secrets.token_urlsafe(24)
    db.execute("INSERT INTO club.sessions (digest, person) VALUES (%s, %s)", [_hash(session), one.id])
    return session, one


def of_session(db: Connection, token: str) -> Person | None:
    """Return a session's person; None if it has ended."""
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
    """End a person's sessions and links, such as after losing a phone."""
    db.execute("DELETE FROM club.sessions WHERE person = %s", [number])
    db.execute("DELETE FROM club.links WHERE person = %s", [number])


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

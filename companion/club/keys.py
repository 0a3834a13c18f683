"""The tables' keys.

A key is `ID.SECRET`; a batch names the ID and is signed with the secret. Any table may push until the director makes
the first key, then only those with a valid one.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass

from psycopg.rows import class_row

from companion.club.batch import SCHEME, digest
from companion.club.postgres import Connection
from companion.common.errors import Problem
from companion.common.text import plain, say

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without i, l, o, 0 and 1, which are easily confused
_MOST_NAME = 64


class NotLetIn(Problem):
    """A batch has no valid key."""


@dataclass(frozen=True, slots=True)
class Key:
    """A table's key."""

    id: str
    secret: str
    name: str
    is_revoked: bool

    @property
    def text(self) -> str:
        """Value of `companion up --key`."""
        return f"{self.id}.{self.secret}"


def make(db: Connection, name: str) -> Key:
    """Create a key for a table. Raises Problem for an empty name."""
    called = " ".join(plain(name, _MOST_NAME).split())
    if not called:
        raise Problem(say("Enter the table that the key is for."))
    key_id, secret = ("".join(secrets.choice(LETTERS) for _ in range(length)) for length in (6, 26))
    db.execute("INSERT INTO club.keys (id, secret, name) VALUES (%s, %s, %s)", [key_id, secret, called])
    return Key(key_id, secret, called, is_revoked=False)


def all_of(db: Connection) -> list[Key]:
    """Return all keys, revoked ones last."""
    with db.cursor(row_factory=class_row(Key)) as cursor:
        return cursor.execute(
            "SELECT id, secret, name, revoked_at IS NOT NULL AS is_revoked FROM club.keys ORDER BY 4, made_at DESC"
        ).fetchall()


def secret_of(db: Connection, key_id: str) -> str:
    """Return a key's secret, which also signs its table's letters; empty if unknown."""
    row = db.execute("SELECT secret FROM club.keys WHERE id = %s", [key_id]).fetchone()
    return row[0] if row else ""


def revoke(db: Connection, key_id: str) -> None:
    """Revoke a key: its batches are refused."""
    db.execute("UPDATE club.keys SET revoked_at = now() WHERE id = %s AND revoked_at IS NULL", [key_id])


def are_needed(db: Connection) -> bool:
    """True if a key was ever made, even if all are revoked."""
    return db.execute("SELECT 1 FROM club.keys LIMIT 1").fetchone() is not None


def checked(db: Connection, authorization: str, body: bytes, *, needed: bool = False) -> str | None:
    """Verify a batch and return its key's ID; None if no key is needed. Raises NotLetIn.

    `authorization` is `Companion ID:SIGNATURE`, or `Bearer KEY` for scripts over TLS.
    """
    if not needed and not are_needed(db):
        return None
    scheme, _, given = authorization.strip().partition(" ")
    if not given:
        raise NotLetIn(
            say(
                "This club only accepts tables with a key: copy one from the director’s page and restart the "
                "table with it."
            )
        )
    key_id, _, proof = given.strip().partition(":" if scheme == SCHEME else ".")
    row = db.execute("SELECT secret, revoked_at IS NOT NULL FROM club.keys WHERE id = %s", [key_id]).fetchone()
    secret, is_revoked = (row[0], bool(row[1])) if row else ("", False)
    expected = digest(secret, body) if scheme == SCHEME else secret
    if not secret or scheme not in (SCHEME, "Bearer") or not hmac.compare_digest(expected.encode(), proof.encode()):
        raise NotLetIn(say("The club does not know this key: copy the whole key from the director’s page."))
    if is_revoked:
        raise NotLetIn(say("The director has revoked this key: ask for another."))
    return key_id

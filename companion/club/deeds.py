"""The club's own log of what people did, by topic. The current state is computed from it.

Lock a topic before deciding on its next deed, so that simultaneous taps take turns.
"""

from __future__ import annotations

from collections.abc import Mapping

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from companion.club.deed import Deed
from companion.club.postgres import Connection

PEOPLE = "people"
_LOCK = 0x6D_62_63
_FIELDS = "seq, topic, kind, who, at, extract(epoch FROM now() - at)::float AS age_s, body"


def locked(db: Connection, topic: str) -> list[Deed]:
    """Lock a topic until the transaction ends; return its deeds in order."""
    db.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [_LOCK, topic])
    return of(db, topic)


def of(db: Connection, topic: str) -> list[Deed]:
    """Return a topic's deeds in order."""
    return _read(db, "WHERE topic = %s ORDER BY seq", topic)


def begun(db: Connection, kind: str = "%") -> list[Deed]:
    """Return deeds whose kind matches a LIKE pattern, newest first."""
    return _read(db, "WHERE kind LIKE %s ORDER BY seq DESC", kind)


def latest(db: Connection, most: int) -> list[Deed]:
    """Return the last `most` deeds of all topics, newest first."""
    return _read(db, "ORDER BY seq DESC LIMIT %s", most)


def at_tables(db: Connection) -> dict[str, list[Deed]]:
    """Return the last day's deeds about calls, by table topic."""
    found: dict[str, list[Deed]] = {}
    kinds = ["call", "answered", "arrived"]
    for deed in _read(db, "WHERE kind = ANY(%s) AND at > now() - interval '1 day' ORDER BY seq", kinds):
        found.setdefault(deed.topic, []).append(deed)
    return found


def _read(db: Connection, which: str, value: object) -> list[Deed]:
    with db.cursor(row_factory=class_row(Deed)) as cursor:
        return cursor.execute(f"SELECT {_FIELDS} FROM club.deeds {which}".encode(), [value]).fetchall()  # noqa: S608


def append(db: Connection, topic: str, kind: str, who: str, body: Mapping[str, object]) -> None:
    """Append a deed. The caller commits."""
    query = "INSERT INTO club.deeds (topic, kind, who, body) VALUES (%s, %s, %s, %s)"
    db.execute(query, [topic, kind, who, Jsonb(dict(body))])

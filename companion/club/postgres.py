"""The club's database: connections, schema, and sentences for errors.

Migrations are numbered files in `migrations/`, with Python steps in `_IN_PYTHON`. One transaction under a lock applies
new ones, so processes may start at once. Never edit a released migration.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout, TooManyRequests

from companion.club import batch
from companion.common.errors import Problem
from companion.common.text import Said, say
from companion.storage.events import checksum

Connection = psycopg.Connection[tuple[Any, ...]]
Pool = ConnectionPool[Connection]

MOST_CONNECTIONS = 8
WAIT_S = 2.0  # for a connection; tables retry soon
MOST_WAITING = 64
CONNECT_S = 5
_LOCK = 0x6D_62_63_6C_75_62  # advisory lock for migrations; arbitrary


class Unavailable(Problem):
    """The database is unavailable; send the request again."""


def opened(url: str) -> Pool:
    """Return a connection pool for a club's database, after migrating its schema.

    Raises Problem if the database is unreachable, unwritable or newer.
    """
    try:
        with psycopg.connect(url, connect_timeout=CONNECT_S) as db:
            migrate(db)
    except (psycopg.Error, UnicodeError) as error:
        raise Problem(_at_the_start(error, url)) from error
    pool: Pool = ConnectionPool(
        url,
        min_size=1,
        max_size=MOST_CONNECTIONS,
        open=False,
        timeout=WAIT_S,
        max_waiting=MOST_WAITING,
        # detects lost connections; after reconnect_timeout the next request tries again
        check=ConnectionPool.check_connection,
        reconnect_timeout=CONNECT_S,
        kwargs={"connect_timeout": CONNECT_S, "application_name": "companion club"},
    )
    pool.open()
    return pool


@contextmanager
def connected(pool: Pool) -> Iterator[Connection]:
    """Provide a connection; commit at the end, roll back after an exception. Raises Unavailable."""
    try:
        with pool.connection() as db:
            yield db
    except (psycopg.OperationalError, psycopg.InternalError, errors.InsufficientPrivilege) as error:
        raise Unavailable(sentence(error)) from error


def migrations() -> tuple[str, ...]:
    """Return all migrations' SQL, in order."""
    folder = files("companion.club") / "migrations"
    steps = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return tuple(file.read_text(encoding="utf-8") for file in steps)


def migrate(db: Connection) -> None:
    """Apply missing migrations. Raises psycopg.Error, or Problem if the schema is newer."""
    steps = migrations()
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        if db.execute("SELECT to_regclass('club.migrations')").fetchone() == (None,):
            db.execute("CREATE SCHEMA IF NOT EXISTS club")
            db.execute("CREATE TABLE club.migrations (number integer PRIMARY KEY, at timestamptz DEFAULT now())")
        row = db.execute("SELECT coalesce(max(number), 0) FROM club.migrations").fetchone()
        done = row[0] if row else 0
        if done > len(steps):
            raise Problem("The club’s database was written by a newer version of the companion: install that version.")
        for number, step in enumerate(steps[done:], start=done + 1):
            db.execute(step.encode())
            _IN_PYTHON.get(number, _nothing_more)(db)
            db.execute("INSERT INTO club.migrations (number) VALUES (%s)", [number])
        db.execute("INSERT INTO club.settings VALUES ('secret', %s) ON CONFLICT DO NOTHING", [secrets.token_hex(32)])


def _nothing_more(_db: Connection) -> None:
    pass


def _hide_deal_keys(db: Connection) -> None:
    """Replace older tables' deal keys with hashes, even of finished hands, which an undo may reopen.

    Events with an erased name get no checksum: their original text is gone.
    """
    query = "SELECT table_id, seq, body, erased FROM club.events WHERE strpos(body, 'deal') > 0"
    for table, seq, body, erased in db.execute(query).fetchall():
        row = batch.row_of(seq, json.loads(body))
        hidden = batch.without_deal_key(row) if row else row
        if row and hidden and hidden is not row:
            crc = "" if erased else str(checksum(hidden))
            new = batch.as_stored({**json.loads(body), "body": hidden[4]})
            query = "UPDATE club.events SET crc = %s, body = %s WHERE table_id = %s AND seq = %s"
            db.execute(query, [crc, new, table, seq])


_IN_PYTHON: Mapping[int, Callable[[Connection], None]] = {5: _hide_deal_keys}
"""Python steps after a migration's SQL, by number."""


def cookie_secret(db: Connection) -> bytes:
    """Return the secret for cookies and name hashes, shared by the club's processes."""
    row = db.execute("SELECT value FROM club.settings WHERE name = 'secret'").fetchone()
    return row[0].encode() if row else b""


def _at_the_start(error: Exception, url: str) -> str:
    if isinstance(error, errors.InsufficientPrivilege):
        return (
            "The club may not make its tables in this database: let its owner type"
            " GRANT CREATE ON DATABASE … TO …, or name another with --database."
        )
    is_unread = isinstance(error, psycopg.ProgrammingError | UnicodeError) and getattr(error, "sqlstate", None) is None
    if is_unread or "@" in _place(url):  # an unescaped password may be parsed as the host
        return (
            "This is no address of a database: --database postgresql://user:password@host/name."
            " In a password @ : / # are written %40 %3A %2F %23."
        )
    if isinstance(error, psycopg.OperationalError) and not _is_full(error):
        why = " ".join(str(error).strip().splitlines()[-1:]).split("FATAL:")[-1].strip().rstrip(".")
        return (
            f"The database {_place(url)} cannot be reached ({why}): see that PostgreSQL runs, and that the address"
            " given with --database is right."
        )
    return sentence(error)


def sentence(error: Exception) -> Said:
    """Return what a database error means and what to do."""
    if _is_full(error):
        return say(
            "The club’s database is full: free some space on its disk. Nothing is lost: the tables will send again."
        )
    if isinstance(error, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction):
        return say(
            "The club has no permission to write to its database: grant it to the database user. The tables "
            "will send again."
        )
    if isinstance(error, PoolTimeout | TooManyRequests | psycopg.OperationalError):
        return say("The club’s database does not answer: check that PostgreSQL is running. The tables will send again.")
    return say("The club’s database reports an error (%(why)s): see its log.", why=" ".join(str(error).split())[:200])


def _is_full(error: Exception) -> bool:
    return isinstance(error, errors.DiskFull) or "No space left" in str(error)


def _place(url: str) -> str:
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        return ""
    return f"{parts.get('host') or 'localhost'}/{parts.get('dbname') or ''}".rstrip("/")

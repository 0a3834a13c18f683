"""The file of the log: its schema, how it is opened, and whether what it holds is whole.

Schemas are numbered; a file of an older one is brought up to date when it is opened for writing, in one transaction.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from companion.common.errors import Problem
from companion.storage.events import Row, is_object, is_sound
from companion.storage.page_reader import Image, image_of, in_memory, read_bytes, rows_cut_off, with_wal

MIGRATIONS = (
    """
    CREATE TABLE event (
        seq   INTEGER PRIMARY KEY,  -- the order of everything; clocks order nothing
        match INTEGER NOT NULL,     -- the seq of the `setup` event that began the match
        at_s  REAL NOT NULL,        -- the clock on the wall, for people
        kind  TEXT NOT NULL,
        body  TEXT NOT NULL         -- JSON
    ) STRICT;
    CREATE INDEX event_of_match ON event (match, seq);
    """,
)
"""Number n brings a file of schema n to schema n + 1; the schema's number is kept in `user_version`.

One that was released is never edited; a new kind of event comes with a new number too, so that no older program takes
a log for whole that it cannot replay.
"""

ALL_ROWS = "SELECT seq, match, at_s, kind, body FROM event ORDER BY seq"
SIDECARS = ("-wal", "-shm")
"""What SQLite keeps beside a file that is open."""


class Damaged(Problem):
    """The log cannot be used as it is. A writer mends it; a reader says so."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is damaged: start the companion, which puts it away and restores the newest backup.", exit_code=1
        )


def connected(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """The file, open; made and brought up to date where it may be written.

    Raises sqlite3.OperationalError where it cannot be opened or written, and Problem where what is in it is of no use.
    """
    mode = "ro" if read_only else "rwc"
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, check_same_thread=False, isolation_level=None
    )
    try:
        check_schema(db, path)
        if not read_only:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            migrate(db)
        elif not is_whole(db):
            raise Damaged(path)
        return db
    except sqlite3.OperationalError:
        db.close()
        raise
    except sqlite3.DatabaseError as error:
        db.close()
        raise Damaged(path) from error
    except BaseException:
        db.close()
        raise


def readable(path: Path) -> sqlite3.Connection:
    """The file, open for reading; a copy in memory where SQLite cannot even read beside it, as on a read-only disk.

    Raises as `connected` does.
    """
    try:
        return connected(path, read_only=True)
    except sqlite3.OperationalError:
        with suppress(OSError):
            return new_in_memory(look(path)) if path.exists() else connected(path, read_only=True)
        raise


def migrate(db: sqlite3.Connection) -> None:
    """Brings a file to this program's schema, whole or not at all."""
    for number in range(schema_of(db), len(MIGRATIONS)):
        try:
            db.executescript(f"BEGIN IMMEDIATE; {MIGRATIONS[number]} PRAGMA user_version = {number + 1}; COMMIT;")
        except BaseException:
            with suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            raise


def schema_of(db: sqlite3.Connection) -> int:
    """The number of a file's schema; 0 for a new one."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def check_schema(db: sqlite3.Connection, path: Path) -> None:
    """Raises Problem for a file of a newer program."""
    if schema_of(db) > len(MIGRATIONS):
        raise Problem(
            f"{path} was written by a newer version of the companion: install that version, or move the file."
        )


def is_whole(db: sqlite3.Connection) -> bool:
    """Whether SQLite finds nothing wrong with the file."""
    return bool(db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")


def last_of(db: sqlite3.Connection) -> int:
    """The number of the last event; 0 where there is none."""
    return int(db.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()[0])


def insert(db: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Puts events into an open file."""
    db.executemany("INSERT INTO event (seq, match, at_s, kind, body) VALUES (?, ?, ?, ?, ?)", rows)


def write_log(path: Path, rows: Iterable[Row]) -> None:
    """Writes a file that holds these events and needs none beside it; it is on the disk then."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        migrate(db)
        with transaction(db):
            insert(db, rows)
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def new_in_memory(rows: Iterable[Row]) -> sqlite3.Connection:
    """A log in memory that holds these events."""
    db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    migrate(db)
    with transaction(db):
        insert(db, rows)
    return db


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Everything inside is written, or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


# --- Looking, without touching --------------------------------------------------------------------------------


def look(path: Path) -> tuple[Row, ...]:
    """Every event of a log that is whole, in order; none of a new one. Nothing is written or locked.

    Raises Damaged, Problem for a newer schema, and OSError where the file may not be read.
    """
    file, wal = read_bytes(path), read_bytes(path.with_name(f"{path.name}-wal"))
    if not file and wal:
        raise Damaged(path)
    alone = image_of(file)
    both = with_wal(alone, wal)
    rows = rows_of(both, path)
    if both is not alone and not _goes_on(alone, rows, path):
        raise Damaged(path)
    last = rows[-1][0] if rows else 0
    if any(seq > last and is_sound(row) for seq, row in rows_cut_off(both, wal).items()):
        raise Damaged(path)
    return rows


def _goes_on(alone: Image, rows: tuple[Row, ...], path: Path) -> bool:
    """Whether the write-ahead log continues this file: that of another one would put its events in their place.

    A file that is only whole together with its log, as after a plug pulled in mid-checkpoint, proves nothing.
    """
    try:
        return set(rows_of(alone, path)) <= set(rows)
    except Problem:
        return True


def rows_of(image: Image, path: Path) -> tuple[Row, ...]:
    """Every event of an image that is whole; raises Damaged, and Problem for a newer schema, both about `path`."""
    if not image.count:
        return ()
    try:
        with closing(in_memory(image)) as db:
            check_schema(db, path)
            if schema_of(db) == 0 and not db.execute("SELECT 1 FROM sqlite_schema").fetchone():
                return ()
            rows = tuple(db.execute(ALL_ROWS)) if is_whole(db) else None
    except (sqlite3.Error, UnicodeError, MemoryError) as error:
        raise Damaged(path) from error
    if rows is None or not all(is_object(body) for *_, body in rows):
        raise Damaged(path)
    return rows

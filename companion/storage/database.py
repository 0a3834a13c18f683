"""The SQLite file of the log: schema, opening, integrity checks.

Opening it for writing migrates it, each step in one transaction, and merges an older version's write-ahead log. Commits
delete the rollback journal: between plays one file holds the whole log.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from companion.common.errors import Problem
from companion.storage.data_folder import read_readable, write_whole
from companion.storage.events import Row, checksum, is_sound, unbroken

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
    """
    CREATE TABLE checked (
        seq   INTEGER PRIMARY KEY,  -- the order of everything; clocks order nothing
        match INTEGER NOT NULL,     -- the seq of the `setup` event that began the match
        at_s  REAL NOT NULL,        -- the clock on the wall, for people
        kind  TEXT NOT NULL,
        body  TEXT NOT NULL,        -- JSON
        crc   INTEGER NOT NULL      -- CRC-32 of all that stands before it
    ) STRICT;
    INSERT INTO checked SELECT seq, match, at_s, kind, body, checksum(seq, match, at_s, kind, body) FROM event;
    DROP TABLE event;
    ALTER TABLE checked RENAME TO event;
    CREATE INDEX event_of_match ON event (match, seq);
    """,
    """
    -- The tables stay. From here on there are events of the kinds `waive`, `wish`, `call` and `letter`.
    """,
)
"""Item n migrates schema n to n + 1; `user_version` holds the schema number.

Never edit a released migration. New kinds of events need a new schema: older programs take them for damage.
`tests/test_migrations.py` lists them.
"""

WITH_CHECKSUMS = 2  # first schema with checksums
SIDECARS = ("-journal", "-wal", "-shm")  # suffixes of SQLite's files beside an open one
LOCKED_S = 2.0  # maximum wait for another reader
MAGIC = b"SQLite format 3\x00"  # first bytes of every SQLite file
_KINDS_OF_JOURNAL = slice(18, 20)  # write and read version: 1 for a rollback journal, 2 for a write-ahead log
UNUSABLE = (sqlite3.Error, UnicodeError, MemoryError, OverflowError)  # from a damaged file; its message may not decode
Checked = tuple[Row, int | None]  # stored checksum; None in older schemas


class Damaged(Problem):
    """The log is damaged. A writer repairs it; a reader reports it."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is damaged: start the companion, which puts it away and restores the newest backup.", exit_code=1
        )


class Newer(Problem):
    """The log has a newer schema than this program knows."""


def connected(path: Path) -> sqlite3.Connection:
    """Open the file for writing; create or migrate it if needed.

    Raises Damaged, Newer, or sqlite3.OperationalError if it cannot be opened or written.
    """
    uri = f"{path.absolute().as_uri()}?mode=rwc"
    db = sqlite3.connect(uri, uri=True, timeout=LOCKED_S, check_same_thread=False, isolation_level=None)
    try:
        check_schema(db, path)
        db.execute("PRAGMA journal_mode = DELETE")
        # Syncs the folder too: a journal back after a power cut would undo the last play.
        db.execute("PRAGMA synchronous = EXTRA")
        migrate(db)
        _write_for_trial(db)
        return db
    except BaseException as error:
        db.close()
        is_of_no_use = isinstance(error, sqlite3.DatabaseError | UnicodeError)
        if is_of_no_use and not isinstance(error, sqlite3.OperationalError):
            raise Damaged(path) from error
        raise


def _write_for_trial(db: sqlite3.Connection) -> None:
    """Raise sqlite3.OperationalError if the open file is read-only; SQLite would not retry."""
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute(f"PRAGMA user_version = {schema_of(db)}")
    finally:
        # A full disk has already rolled back; report that instead.
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")


def migrate(db: sqlite3.Connection, schema: int | None = None) -> None:
    """Migrate a file to this program's schema, or to `schema`; each step is atomic."""
    db.create_function("checksum", 5, lambda *row: checksum(row), deterministic=True)
    for number in range(schema_of(db), len(MIGRATIONS) if schema is None else schema):
        try:
            db.executescript(f"BEGIN IMMEDIATE; {MIGRATIONS[number]} PRAGMA user_version = {number + 1}; COMMIT;")
        except BaseException:
            with suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            raise


def schema_of(db: sqlite3.Connection) -> int:
    """Return a file's schema number; 0 if new."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def check_schema(db: sqlite3.Connection, path: Path) -> None:
    """Raise Newer if a newer program wrote the file."""
    if schema_of(db) > len(MIGRATIONS):
        raise Newer(
            "%(path)s was written by a newer version of the companion: install that version, or move the file.",
            path=path,
        )


def last_of(db: sqlite3.Connection) -> int:
    """Return the number of the last event; 0 if none."""
    return int(db.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()[0])


def insert(db: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Insert events with their checksums."""
    db.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)", ((*row, checksum(row)) for row in rows))


def selected(db: sqlite3.Connection, where: str = "", values: tuple[object, ...] = ()) -> Iterator[Checked]:
    """Yield events in order, unchecked. Raises sqlite3.Error and UnicodeError.

    `where`: SQL clause with placeholders for `values`; never put user input in it.
    """
    crc = "crc" if schema_of(db) >= WITH_CHECKSUMS else "NULL"
    query = f"SELECT seq, match, at_s, kind, body, {crc} FROM event {where} ORDER BY seq"  # noqa: S608
    for *row, kept in db.execute(query, values):
        seq, match, at_s, kind, body = row
        yield (seq, match, at_s, kind, body), kept


def is_as_written(row: Row, crc: int | None) -> bool:
    """True if an event is sound and matches its checksum, if any."""
    has_types = tuple(map(type, row)) == (int, int, float, str, str)
    return has_types and crc in (None, checksum(row)) and is_sound(row)


def write_log(path: Path, rows: Iterable[Row]) -> None:
    """Atomically write a log file."""
    with closing(new_in_memory(rows)) as db:
        write_whole(path, db.serialize())


def new_in_memory(rows: Iterable[Row]) -> sqlite3.Connection:
    """Return a log in memory with these events."""
    db = in_memory(b"")
    migrate(db)
    with transaction(db):
        insert(db, rows)
    return db


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Commit everything inside, or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


# Reading without writing


def look(path: Path) -> tuple[Row, ...]:
    """Return an undamaged log's events in order, without writing or locking; none if it is new.

    Only for the process with the lock. Raises Damaged, Newer, and OSError if unreadable.
    """
    try:
        return rows_of(as_settled(path), path)
    except UNUSABLE as error:
        raise Damaged(path) from error


def rows_of(file: bytes, path: Path) -> tuple[Row, ...]:
    """Return all events of an undamaged file. Raises Damaged and Newer, naming `path`."""
    try:
        with closing(in_memory(file)) as db:
            return _checked(db, path)
    except UNUSABLE as error:
        raise Damaged(path) from error


def readable(path: Path) -> sqlite3.Connection:
    """Return a checked, migrated copy of the log in memory, even during writes by a service.

    Raises Damaged, Newer, and sqlite3.OperationalError or OSError if unreadable.
    """
    db = in_memory(_as_it_is_now(path))
    try:
        _checked(db, path)
        migrate(db)
        return db
    except BaseException as error:
        db.close()
        if isinstance(error, UNUSABLE):
            raise Damaged(path) from error
        raise


def _checked(db: sqlite3.Connection, path: Path) -> tuple[Row, ...]:
    check_schema(db, path)
    if schema_of(db) == 0 and not db.execute("SELECT 1 FROM sqlite_schema").fetchone():
        return ()
    if schema_of(db) == 0 or db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
        raise Damaged(path)
    checked = tuple(selected(db))
    rows = tuple(row for row, _ in checked)
    if not all(is_as_written(*one) for one in checked) or unbroken(rows) != rows:
        raise Damaged(path)
    return rows


def _as_it_is_now(path: Path) -> bytes:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            return db.serialize()
    except sqlite3.OperationalError:
        # SQLite would write: a journal after a kill, a write-ahead log on a read-only disk.
        if not path.exists():
            raise
        return as_settled(path)
    except (sqlite3.DatabaseError, UnicodeError) as error:
        raise Damaged(path) from error


def as_settled(path: Path) -> bytes:
    """Return the file (empty if missing) as SQLite would restore it; sidecars stay unchanged.

    Raises OSError if unreadable, Damaged or sqlite3.Error if unusable.
    """
    file = read_readable(path)
    beside = {ending: read_readable(path.with_name(f"{path.name}{ending}")) for ending in ("-journal", "-wal")}
    if not any(beside.values()):
        return file
    if not file and beside["-wal"]:
        raise Damaged(path)
    with tempfile.TemporaryDirectory(prefix="companion-") as folder:
        copy = Path(folder) / path.name
        for ending, content in {"": file, **beside}.items():
            copy.with_name(f"{copy.name}{ending}").write_bytes(content)
        with closing(sqlite3.connect(copy, isolation_level=None)) as db:
            db.execute("SELECT 1 FROM sqlite_schema").fetchall()
            db.execute("PRAGMA journal_mode = DELETE")
        return copy.read_bytes()


def in_memory(file: bytes) -> sqlite3.Connection:
    """Open a file's content in memory. Raises sqlite3.Error."""
    db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        if file:
            alone = bytearray(file)
            if file.startswith(MAGIC):
                alone[_KINDS_OF_JOURNAL] = b"\x01\x01"
            db.deserialize(bytes(alone))
        return db
    except BaseException:
        db.close()
        raise

"""The log: every event of every match, appended to one SQLite file and never deleted.

An event counts once `append` has returned: by then it is on the disk, also for a pulled plug. One process
writes (a lock file keeps others out), through one connection, which alone moves the write-ahead log into the file.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from companion.errors import Problem
from companion.said import say

_MIGRATIONS = (
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
"""Number n brings a file of schema n to schema n + 1; the schema's number is kept in `user_version`."""

SETUP = "setup"
"""The kind of event that begins a match."""


class NotSaved(Problem):
    """An event could not be written: nothing has been acknowledged and nothing has changed."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An event before it is written: its kind and a small JSON object."""

    kind: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """An event as it was written."""

    seq: int
    match: int
    at_s: float
    kind: str
    body: Mapping[str, Any]


class Store:
    """The open log. Any thread may call it."""

    def __init__(self, path: Path, db: sqlite3.Connection, lock_fd: int | None, clock: Callable[[], float]) -> None:
        self.path = path
        self._db = db
        self._lock_fd = lock_fd
        self._clock = clock
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False, clock: Callable[[], float] = time.time) -> Store:
        """Opens the log, made or migrated where needed; read-only beside a running service.

        Raises Problem when the file cannot be written, is damaged, is newer than this program, or is in use.
        """
        lock_fd = None if read_only else _locked(path)
        try:
            return cls(path, _connected(path, read_only=read_only), lock_fd, clock)
        except BaseException:
            if lock_fd is not None:
                os.close(lock_fd)
            raise

    def append(self, match: int | None, *drafts: Draft) -> tuple[Event, ...]:
        """Writes events, all or none; with no match given the first event begins one.

        Raises NotSaved when the disk refuses.
        """
        with self._lock:
            try:
                with _transaction(self._db):
                    return tuple(self._insert(match, drafts))
            except sqlite3.Error as error:
                why = say(
                    "The play could not be saved (%(error)s): check the disk's space, then try again.", error=error
                )
                raise NotSaved(why) from error

    def _insert(self, match: int | None, drafts: Sequence[Draft]) -> Iterator[Event]:
        seq = self._db.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()[0]
        for number, draft in enumerate(drafts, start=seq + 1):
            match = match or number
            body = json.dumps(draft.body, ensure_ascii=False, separators=(",", ":"))
            event = Event(number, match, self._clock(), draft.kind, json.loads(body))
            self._db.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?)", (number, match, event.at_s, event.kind, body))
            yield event

    def events(self, match: int) -> tuple[Event, ...]:
        """A match's events in order."""
        with self._lock:
            rows = self._db.execute("SELECT * FROM event WHERE match = ? ORDER BY seq", (match,)).fetchall()
        return tuple(Event(seq, of, at_s, kind, json.loads(body)) for seq, of, at_s, kind, body in rows)

    def matches(self) -> tuple[int, ...]:
        """Every match there is, the oldest first."""
        with self._lock:
            rows = self._db.execute("SELECT seq FROM event WHERE kind = ? ORDER BY seq", (SETUP,)).fetchall()
        return tuple(seq for (seq,) in rows)

    def latest(self) -> dict[int, int]:
        """The last event of every match, the oldest match first."""
        with self._lock:
            rows = self._db.execute("SELECT match, max(seq) FROM event GROUP BY match ORDER BY match").fetchall()
        return dict(rows)

    def close(self) -> None:
        """Closes the file and lets another process write."""
        with self._lock:
            self._db.close()
            if self._lock_fd is not None:
                os.close(self._lock_fd)
                self._lock_fd = None


def _locked(path: Path) -> int:
    """Holds the folder's lock file for this process."""
    try:
        fd = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        say = f"The data folder {path.parent} cannot be written to ({error.strerror}): choose another with --data."
        raise Problem(say) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        raise Problem(
            f"Another companion is using {path.parent}: stop it, or choose another folder with --data."
        ) from error
    return fd


def _connected(path: Path, *, read_only: bool) -> sqlite3.Connection:
    mode = "ro" if read_only else "rwc"
    try:
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}", uri=True, check_same_thread=False, isolation_level=None
        )
    except sqlite3.Error as error:
        raise Problem(f"{path} cannot be opened ({error}): choose another folder with --data.") from error
    try:
        if not read_only:
            _prepare(db)
        _check(db, path)
    except sqlite3.OperationalError as error:
        db.close()
        raise Problem(f"{path} cannot be used ({error}): check the folder's rights and the disk's space.") from error
    except (sqlite3.DatabaseError, Problem) as error:
        db.close()
        raise error if isinstance(error, Problem) else _damaged(path) from error
    return db


def _prepare(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    for number in range(_schema(db), len(_MIGRATIONS)):
        db.executescript(f"BEGIN IMMEDIATE; {_MIGRATIONS[number]} PRAGMA user_version = {number + 1}; COMMIT;")


def _check(db: sqlite3.Connection, path: Path) -> None:
    if _schema(db) > len(_MIGRATIONS):
        raise Problem(
            f"{path} was written by a newer version of the companion: install that version, or move the file."
        )
    if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise _damaged(path)


def _schema(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _damaged(path: Path) -> Problem:
    return Problem(f"{path} is damaged: move it away and start again, or put a copy of it in its place.", exit_code=1)


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise

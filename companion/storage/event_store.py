"""The log: all events of all matches, appended to one SQLite file and never deleted.

`append` returns once its events would survive a power cut. A lock file admits one writing process. While the disk fails
or the file is gone, events can stay in memory, which `unsaved` reports.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from companion.common.clock import now_s
from companion.common.errors import Problem, cause
from companion.common.text import Said, say, say_many
from companion.storage import database, recovery, restore
from companion.storage.data_folder import as_owner_of, store_path
from companion.storage.events import Event, NewEvent, Row, is_sound, read_body
from companion.storage.recovery import Mended

log = logging.getLogger(__name__)

TRY_AGAIN_S = 3.0  # between attempts to write held events


class NotSaved(Problem):
    """An event could not be written; nothing has changed."""


class Store:
    """The open log. Thread-safe."""

    def __init__(self, path: Path, db: sqlite3.Connection, lock_fd: int | None, clock: Callable[[], float]) -> None:
        self.path = path
        self.note: Mended | None = None  # about a damaged log, until dismissed
        self.changed: Callable[[], None] = lambda: None  # called by another thread once held events are saved
        self._db = db
        self._lock_fd = lock_fd
        self._clock = clock
        self._lock = threading.Lock()
        self._held: list[Event] = []
        self._refused: sqlite3.Error | OSError | None = None
        self._last: int | None = None  # last event on disk; None: unknown
        self._first = 0  # checksum of the first event; 0: unknown
        self._file: tuple[int, int] | None = None  # device and inode of the open file; None: in memory
        self._last_s = time.monotonic()
        self._closed = threading.Event()
        self._writer: threading.Thread | None = None

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False, clock: Callable[[], float] = now_s) -> Store:
        """Open the log; create, repair or migrate it if needed. `read_only` works beside a service.

        If the disk is not writable, events are held in memory. Raises Problem if the log is unreadable, too new, in
        use, or (with `read_only`) damaged.
        """
        if read_only:
            try:
                return cls(path, database.readable(path), None, clock)
            except (sqlite3.OperationalError, OSError) as error:
                raise Problem(
                    "%(path)s cannot be used (%(error)s): check the folder's permissions and the free disk space.",
                    path=path,
                    error=error,
                ) from error
        lock_fd = lock(path)
        try:
            return cls._opened(path, lock_fd, clock)
        except BaseException:
            os.close(lock_fd)
            raise

    @classmethod
    def _opened(cls, path: Path, lock_fd: int, clock: Callable[[], float]) -> Store:
        finish_restoring(path.parent)
        try:
            there = recovery.found(path)
        except OSError as error:
            raise Problem(
                "%(path)s cannot be read (%(why)s): check the file’s permissions.", path=path, why=cause(error)
            ) from error
        try:
            if not there.written:
                raise sqlite3.OperationalError("the mended log cannot be written")
            # Before migrating: newer schemas than noted count as damage.
            first = recovery.first_in(there.rows)
            _keep_last(path, there.rows, first)
            store = cls(path, database.connected(path), lock_fd, clock)
            store._first, store._file = first, _number_of(path)
        except sqlite3.OperationalError as error:
            store = cls(path, database.new_in_memory(there.rows), lock_fd, clock)
            store._refused = error
            store._write_later()
        store.note = there.mended or recovery.note(path.parent)
        store._last_saved()
        return store

    # Writing

    def append(self, match: int | None, *drafts: NewEvent, hold: bool = False) -> tuple[Event, ...]:
        """Write and return events, all or none; without `match`, the first begins one.

        If the disk fails, raises NotSaved or, with `hold`, keeps events in memory and retries.
        """
        with self._lock:
            events = tuple(self._numbered(match, drafts))
            self._last_s = time.monotonic()
            try:
                self._write([*self._held, *events])
            except (sqlite3.Error, OSError, Problem) as error:
                self._refused = _cause(error)
                if not hold:
                    # It may still be on disk.
                    self._last = None
                    raise _not_saved(self._refused) from error
                self._held.extend(events)
                self._write_later()
                if len(self._held) == len(events):
                    log.warning("%s", self.unsaved)
            return events

    def _numbered(self, match: int | None, drafts: Sequence[NewEvent]) -> Iterator[Event]:
        last = self._held[-1].seq if self._held else self._last_saved()
        for number, draft in enumerate(drafts, start=last + 1):
            match = match or number
            row = (number, match, self._clock(), draft.kind, _as_json(draft.body))
            if not is_sound(row):
                raise ValueError(f"a {draft.kind} that could not be replayed: {draft.body}")
            yield Event(*row[:4], read_body(row[4]))

    def _last_saved(self) -> int:
        try:
            self._last = database.last_of(self._db) if self._last is None else self._last
            return self._last
        except sqlite3.Error as error:
            raise _not_saved(error) from error

    def _write(self, events: Sequence[Event]) -> None:
        if self._file is not None and _number_of(self.path) != self._file:
            # The file was deleted or replaced: continue in memory.
            held = database.new_in_memory(row for row, _ in database.selected(self._db))
            self._db.close()
            self._db, self._file = held, None
        if self._file is None:
            self._go_to_disk()
        with database.transaction(self._db):
            # A failed commit may be on disk: write no event twice.
            last = database.last_of(self._db)
            database.insert(self._db, [_row(event) for event in events if event.seq > last])
        self._last = events[-1].seq if events else last
        self._held.clear()
        self._refused = None
        rows = [_row(event) for event in events]
        self._first = recovery.first_in(rows) or self._first
        _keep_last(self.path, rows, self._first)

    def _go_to_disk(self) -> None:
        """Switch from memory to the file, appending the events it lacks."""
        with tempfile.TemporaryFile(dir=self.path.parent):
            pass  # fails early if the disk is not writable
        if self._lock_fd is not None and os.fstat(self._lock_fd).st_nlink == 0:
            lock_fd = lock(self.path)
            os.close(self._lock_fd)
            self._lock_fd = lock_fd
        there = recovery.found(self.path) if self.path.exists() else recovery.FoundLog(())
        if not there.written:
            raise sqlite3.OperationalError("the mended log cannot be written")
        ours = tuple(row for row, _ in database.selected(self._db))
        if ours[: len(there.rows)] != there.rows:
            raise sqlite3.OperationalError("the file has changed")
        db = database.connected(self.path)
        try:
            with database.transaction(db):
                database.insert(db, ours[len(there.rows) :])
        except BaseException:
            db.close()
            raise
        self._db.close()
        self._db, self._file = db, _number_of(self.path)

    def _write_later(self) -> None:
        def keep_trying() -> None:
            while not self._closed.wait(TRY_AGAIN_S) and not self.save():
                pass

        if self._writer is None or not self._writer.is_alive():
            self._writer = threading.Thread(target=keep_trying, name="unsaved", daemon=True)
            with suppress(RuntimeError):  # No thread available: the next event retries.
                self._writer.start()

    def save(self) -> bool:
        """Write held events if possible; return True if none are left."""
        with self._lock:
            if self._closed.is_set():
                return True
            if self._refused is None:
                self._writer = None
                return True
            try:
                self._write(self._held)
            except (sqlite3.Error, OSError, Problem) as error:
                self._refused = _cause(error)
                return False
            self._writer = None
        log.warning("Everything is saved again.")
        self.changed()
        return True

    @property
    def unsaved(self) -> Said | None:
        """Why events are unsaved or the disk refuses writes, as a sentence, else None."""
        refused, held = self._refused, len(self._held)
        if refused is None or not (held or self._file is None):
            return None
        why, what_to_do = _why(refused)
        if not held:
            return say("Saving does not work: %(why)s. %(what_to_do)s", why=why, what_to_do=what_to_do)
        return say_many(
            "Not saved: %(why)s. The last entry exists only on screen. %(what_to_do)s",
            "Not saved: %(why)s. The last %(count)d entries exist only on screen. %(what_to_do)s",
            held,
            why=why,
            what_to_do=what_to_do,
        )

    # Reading

    def events(self, match: int) -> tuple[Event, ...]:
        """Return a match's events in order. Raises Problem if unreadable or failing checksums."""
        with self._lock:
            found = self._sound("WHERE match = ?", match)
            held = tuple(event for event in self._held if event.match == match)
        return (*(Event(*row[:4], read_body(row[4])) for row, _ in found), *held)

    @property
    def last(self) -> int:
        """Number of the last event on disk; 0 if none. Raises NotSaved if unreadable."""
        with self._lock:
            return self._last_saved()

    def rows(self, first: int, most: int) -> tuple[database.Checked, ...]:
        """Return up to `most` saved events from number `first`, with checksums. Raises Problem."""
        with self._lock:
            return self._sound("WHERE seq IN (SELECT seq FROM event WHERE seq >= ? ORDER BY seq LIMIT ?)", first, most)

    def _sound(self, where: str, *values: int) -> tuple[database.Checked, ...]:
        try:
            found = tuple(database.selected(self._db, where, values))
        except sqlite3.Error as error:
            raise _unreadable(error) from error
        if not all(database.is_as_written(row, crc) for row, crc in found):
            raise _unreadable(sqlite3.DatabaseError("malformed"))
        return found

    def matches(self) -> tuple[int, ...]:
        return tuple(self.latest())

    def latest(self) -> dict[int, int]:
        """Return the last event's number by match, oldest match first. Raises Problem."""
        with self._lock:
            try:
                rows = self._db.execute("SELECT match, max(seq) FROM event GROUP BY match ORDER BY match").fetchall()
            except sqlite3.Error as error:
                raise _unreadable(error) from error
            return dict(rows) | {event.match: event.seq for event in self._held}

    def quiet_s(self) -> float:
        """Return seconds since the last `append` or opening."""
        return time.monotonic() - self._last_s

    def put_note_away(self) -> None:
        self.note = None
        recovery.put_note_away(self.path.parent)

    def close(self) -> None:
        """Try to save held events; close the file and release the lock."""
        if not self._closed.is_set() and self._held:
            self.save()
        self._closed.set()
        with self._lock:
            self._db.close()
            if self._lock_fd is not None:
                os.close(self._lock_fd)
                self._lock_fd = None


def _keep_last(path: Path, rows: Sequence[Row], first: int) -> None:
    if rows:
        with suppress(OSError):
            recovery.keep_last(path.parent, rows, first)


def _as_json(body: object) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _row(event: Event) -> Row:
    return event.seq, event.match, event.at_s, event.kind, _as_json(event.body)


def _number_of(path: Path) -> tuple[int, int] | None:
    """Return device and inode; None without an accessible file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _unreadable(error: sqlite3.Error) -> Problem:
    return Problem("The matches cannot be read right now (%(error)s): check the disk.", error=str(error))


def _not_saved(error: sqlite3.Error | OSError) -> NotSaved:
    return NotSaved(
        "The play could not be saved (%(error)s): check the free disk space, then try again.", error=str(error)
    )


def _cause(error: BaseException) -> sqlite3.Error | OSError:
    if isinstance(error, sqlite3.Error | OSError):
        return error
    return sqlite3.DatabaseError("malformed" if isinstance(error, database.Damaged) else "of a newer version")


_FULL = ("full", "no space", "quota")
_UNWRITABLE = ("readonly", "read-only", "unable to open", "cannot be written", "permission", "no such file")
_DAMAGED = ("malformed", "not a database")
"""Parts of error messages."""


def _why(error: sqlite3.Error | OSError) -> tuple[Said, Said]:
    text = str(error).lower()
    if any(sign in text for sign in _FULL):
        return say("the disk is full"), say("Free some disk space: saving then continues by itself.")
    if any(sign in text for sign in _DAMAGED):
        keep = say(
            "Export the record of this match (under More), then restart the companion: the restart repairs the file."
        )
        return say("the match file is damaged"), keep
    unwritable = any(sign in text for sign in _UNWRITABLE)
    why = say("the data folder is not writable") if unwritable else say("the disk reports an error")
    return why, say("Check the disk: saving continues as soon as it works.")


def finish_restoring(folder: Path) -> None:
    """Finish an interrupted restore while holding the lock. Raises Problem if that fails."""
    try:
        with as_owner_of(folder):
            restore.finish(folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Problem(
            "A backup is only partly restored in %(folder)s: check that the folder is writable, then start the"
            " companion again.",
            1,
            folder=folder,
        ) from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a data folder against other companions and finish any interrupted restore.

    Inside, root acts as the folder's owner.
    """
    with as_owner_of(folder):
        fd = lock(store_path(folder))
        try:
            finish_restoring(folder)
            yield
        finally:
            os.close(fd)


def lock(path: Path) -> int:
    """Return the descriptor of the locked lock file, or folder if that cannot be opened.

    Closing it releases the lock. Raises Problem if another process holds it or neither can be opened.
    """
    with as_owner_of(path.parent):
        fd = _lock_file(path)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        raise Problem(
            "Another companion is using %(folder)s: stop it, or choose another folder with --data.",
            folder=path.parent,
        ) from error
    return fd


def _lock_file(path: Path) -> int:
    file = path.with_suffix(".lock")
    with suppress(OSError):
        return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with suppress(OSError):
        return os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        return os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Problem(
            "The data folder %(folder)s cannot be written to (%(error)s): choose another with --data.",
            folder=path.parent,
            error=cause(error),
        ) from error

"""Copies of the log beside it, made while it is written to: the newest seven, verified, named by their last event.

They are ordered by the number of their last event and never by a date: a small computer may have no clock.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path

from companion.common.errors import Problem
from companion.storage.database import connected, is_whole, last_of, rows_of
from companion.storage.events import Row
from companion.storage.files import sync_folder
from companion.storage.page_reader import image_of, read_bytes

FOLDER = "backups"
KEPT = 7
EVERY_S = 24 * 3600.0
QUIET_S = 60.0
"""Nobody plays when nothing was written for so long: a good moment."""

PATIENCE_S = 6 * 3600.0
"""A table that is never quiet gets its backup all the same."""

LOOK_S = 20.0
LAST_ONE_S = 3.0

_NAME = re.compile(r"log-(\d{9,})\.sqlite3")

log = logging.getLogger(__name__)


def backups_of(path: Path) -> tuple[Path, ...]:
    """The backups of a log, the newest first."""
    folder = path.parent / FOLDER
    try:
        named = [(int(found[1]), one) for one in folder.iterdir() if (found := _NAME.fullmatch(one.name))]
    except OSError:
        return ()
    return tuple(one for _, one in sorted(named, reverse=True))


def last_in(backup: Path) -> int:
    """The number of the last event that a backup's name tells."""
    found = _NAME.fullmatch(backup.name)
    return int(found[1]) if found else 0


def rows_in_backup(backup: Path) -> tuple[Row, ...] | None:
    """The events of a backup; None where it is damaged, or not what its name says."""
    try:
        rows = rows_of(image_of(read_bytes(backup)), backup)
    except (Problem, OSError):
        return None
    return rows if rows and rows[-1][0] == last_in(backup) else None


def back_up(path: Path) -> Path | None:
    """Copies a log as it is now, also one that is being written to; None where nothing is new.

    Raises Problem where it cannot be copied: nothing half-written is left, and the older backups are as they were.
    """
    folder = path.parent / FOLDER
    new = folder / "log.new"
    try:
        folder.mkdir(exist_ok=True)
        _clear(new)
        with closing(connected(path, read_only=True)) as source:
            last = last_of(source)
            if not last or rows_in_backup(_named(folder, last)) is not None:
                return None
            last = _copied(source, new, last)
        final = _named(folder, last)
        new.replace(final)
        sync_folder(folder)
        # Keeps the newest. A backup that is ahead of the log is of another one: it is not counted, and not deleted.
        behind = [backup for backup in backups_of(path) if last_in(backup) <= last]
        for old in behind[KEPT:]:
            old.unlink(missing_ok=True)
        return final
    except (OSError, sqlite3.Error) as error:
        with suppress(OSError):
            _clear(new)
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        what_to_do = "look at the disk, its room and the folder's rights"
        raise Problem(f"No backup could be made in {folder} ({why}): {what_to_do}.", 1) from error


def _clear(new: Path) -> None:
    for ending in ("", "-journal", "-wal", "-shm"):
        new.with_name(f"{new.name}{ending}").unlink(missing_ok=True)


def _named(folder: Path, last: int) -> Path:
    return folder / f"log-{last:09d}.sqlite3"


def _copied(source: sqlite3.Connection, new: Path, least: int) -> int:
    """Writes a copy that needs no file beside it, on the disk and read again; gives the number of its last event."""
    with closing(sqlite3.connect(new, isolation_level=None)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    with new.open("rb+") as file:
        os.fsync(file.fileno())
    with closing(sqlite3.connect(f"{new.absolute().as_uri()}?mode=ro", uri=True)) as copy:
        last = last_of(copy)
        if not is_whole(copy) or last < least:
            raise sqlite3.DatabaseError("the copy is not what was copied")
        return last


class Nightly:
    """Makes a backup as the service starts and once on every day that it runs, while nobody plays if possible."""

    def __init__(
        self,
        path: Path,
        quiet_s: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
        tell: Callable[[str], None] = log.warning,
    ) -> None:
        self._path = path
        self._quiet_s = quiet_s
        self._clock = clock
        self._tell = tell
        self._last_s: float | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="backups", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends it; one that is being made is waited for, though not where the disk hangs: only a whole one counts."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(LAST_ONE_S)

    def is_due(self) -> bool:
        """Whether now is the moment, by a clock that nobody sets."""
        if self._last_s is None:
            return True
        waited_s = self._clock() - self._last_s
        return waited_s >= EVERY_S and (self._quiet_s() >= QUIET_S or waited_s >= EVERY_S + PATIENCE_S)

    def back_up(self) -> Path | None:
        """Makes one; what went wrong is told, and tried again a day later."""
        self._last_s = self._clock()
        try:
            return back_up(self._path)
        except Problem as problem:
            self._tell(str(problem))
        except Exception as error:  # whatever it is, it must not end the days to come
            self._tell(f"No backup could be made ({type(error).__name__}).")
        return None

    def _run(self) -> None:
        while not self._stop.is_set():
            if self.is_due():
                self.back_up()
            self._stop.wait(LOOK_S)


def agree(rows: Sequence[Row], backup: Sequence[Row]) -> bool:
    """Whether a log and a backup are of one life: what both of them hold is the same."""
    known = {row[0]: row for row in rows}
    return all(known[row[0]] == row for row in backup if row[0] in known)

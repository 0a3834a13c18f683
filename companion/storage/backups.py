"""Verified copies of the log in `backups/`, made while it is in use.

The newest seven daily ones are kept, and two made after a hand. They are named and sorted by last event: a small
computer may have no clock.
"""

from __future__ import annotations

import logging
import re
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from companion.common.errors import Problem, cause
from companion.storage.data_folder import read_readable, write_whole
from companion.storage.database import last_of, readable, rows_of
from companion.storage.events import Row

FOLDER = "backups"
DAILY, HAND = "log", "hand"  # name prefixes: daily, end of a hand
KEPT, KEPT_OF_HANDS = 7, 2
EVERY_S = 24 * 3600.0
QUIET_S = 60.0  # without a write, the table is quiet
PATIENCE_S = 6 * 3600.0  # longest wait of a daily backup for a quiet table
LOOK_S = 2.0
LAST_ONE_S = 3.0

_NAME = re.compile(rf"({DAILY}|{HAND})-(\d{{9,}})\.sqlite3")

log = logging.getLogger(__name__)


def backups_of(path: Path) -> tuple[Path, ...]:
    """Return a log's backups, newest first."""
    folder = path.parent / FOLDER
    try:
        named = [(last_in(one), one) for one in folder.iterdir() if _NAME.fullmatch(one.name)]
    except OSError:
        return ()
    return tuple(one for _, one in sorted(named, reverse=True))


def last_in(backup: Path) -> int:
    """Return the last event in a backup, by its name; 0 for other names."""
    found = _NAME.fullmatch(backup.name)
    return int(found[2]) if found else 0


def rows_in_backup(backup: Path) -> tuple[Row, ...] | None:
    """Return a backup's events; None if damaged or contradicting its name."""
    try:
        rows = rows_of(read_readable(backup), backup)
    except (Problem, OSError):
        return None
    return rows if rows and rows[-1][0] == last_in(backup) else None


def back_up(path: Path, kind: str = DAILY) -> Path | None:
    """Back up a log, even during writes; return the new file, None if empty or already backed up.

    Raises Problem on failure, leaving older backups and no partial file.
    """
    folder = path.parent / FOLDER
    try:
        folder.mkdir(exist_ok=True)
        for half in folder.glob("*.new*"):  # Left by a killed process.
            half.unlink()
        with closing(readable(path)) as source:
            last, content = last_of(source), source.serialize()
        final = folder / f"{kind}-{last:09d}.sqlite3"
        if not last or rows_in_backup(final) is not None:
            return None
        write_whole(final, content)
        if rows_in_backup(final) is None:
            final.unlink()
            raise sqlite3.DatabaseError("the copy is not what was copied")
        # Those ahead of the log belong to another log.
        behind = [one for one in backups_of(path) if one.name.startswith(f"{kind}-") and last_in(one) <= last]
        for old in behind[KEPT if kind == DAILY else KEPT_OF_HANDS :]:
            old.unlink(missing_ok=True)
        return final
    except (OSError, sqlite3.Error) as error:
        raise Problem(
            "No backup could be made in %(folder)s (%(error)s): check the disk, its free space and the folder's"
            " permissions.",
            1,
            folder=folder,
            error=cause(error),
        ) from error


class Nightly:
    """Thread that makes a backup at the start and daily, if possible while the table is quiet.

    It makes another when `hands_ended()` changes. `quiet_s` returns seconds since the last write.
    """

    def __init__(
        self,
        path: Path,
        quiet_s: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
        tell: Callable[[str], None] = log.warning,
        *,
        hands_ended: Callable[[], object] = lambda: None,
    ) -> None:
        self._path = path
        self._quiet_s = quiet_s
        self._hands_ended = hands_ended
        self._ended = hands_ended()
        self._clock = clock
        self._tell = tell
        self._last_s: float | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="backups", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop; wait at most `LAST_ONE_S` for a backup: the disk may hang."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(LAST_ONE_S)

    def is_due(self) -> bool:
        if self._last_s is None:
            return True
        waited_s = self._clock() - self._last_s
        return waited_s >= EVERY_S and (self._quiet_s() >= QUIET_S or waited_s >= EVERY_S + PATIENCE_S)

    def back_up(self, kind: str = DAILY) -> Path | None:
        """Make a backup or report the failure; the next retries."""
        if kind == DAILY:
            self._last_s = self._clock()
        try:
            return back_up(self._path, kind)
        except Problem as problem:
            self._tell(str(problem))
        except Exception as error:  # no error may end the thread
            self._tell(f"No backup could be made ({type(error).__name__}).")
        return None

    def _run(self) -> None:
        while not self._stop.is_set():
            if self.is_due():
                self.back_up()
            ended = self._hands_ended()
            if ended != self._ended:
                self._ended = ended
                self.back_up(HAND)
            self._stop.wait(LOOK_S)

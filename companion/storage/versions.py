"""Version numbers: each visible change gets a larger one, also after a restart.

They fit a signed 32-bit integer, the limit of some scoreboards. The log cannot provide them: camera questions and
joining phones are no events. They are reserved on disk in blocks; a restart continues after the last.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from companion.common.parsing import whole
from companion.common.small_file import read_small
from companion.storage.data_folder import write_whole

FILE_NAME = "last-version"
MOST = 2**31 - 1
"""The largest version; the next is 1. At one change per second that takes 68 years."""

BLOCK = 256  # reserved per write; most skipped by a restart
RETRY = 16  # used before a refused write is tried again
PER_EVENT, MOST_ASSUMED = 256, 2**30
"""If the file is missing: versions assumed used, per event and at most."""


class Versions:
    """The versions of one table. Not thread-safe.

    If the disk refuses a block, its numbers are used anyway and may repeat after a restart.
    """

    def __init__(self, folder: Path, last_event: int) -> None:
        self._path = folder / FILE_NAME
        self._last = self._reserved = _reserved(self._path) or min(last_event * PER_EVENT, MOST_ASSUMED)

    def next(self) -> int:
        self._last = self._last % MOST + 1
        if self._last > self._reserved or self._last == 1:
            self._reserve(min(self._last + BLOCK - 1, MOST))
        return self._last

    def _reserve(self, until: int) -> None:
        try:
            write_whole(self._path, f"{until}\n")
            self._reserved = until
        except OSError:  # Pages report it once an event cannot be written.
            self._reserved = self._last + RETRY - 1


def _reserved(path: Path) -> int | None:
    """Return the last reserved version, None if unreadable."""
    with suppress(OSError, UnicodeDecodeError):
        return whole(read_small(path).decode().strip(), 1, MOST)
    return None

"""Version numbers: each change that a page could show gets a larger one, also after a restart.

They fit into a signed integer of 32 bits, which is all that some scoreboards have. A number says nothing about the log:
a question of the camera or a phone that joins is no event. So the numbers are reserved on the disk, a block at a time,
before the first of a block is used. A restart goes on after the last block.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from companion.common.parsing import whole
from companion.common.small_file import read_small
from companion.storage.data_folder import write_whole

FILE_NAME = "last-version"
MOST = 2**31 - 1
"""The largest version. After it they start again at 1; at one change a second, day and night, that takes 68 years."""

BLOCK = 256  # Versions reserved with one write; at most so many are skipped by a restart.
RETRY = 16  # Versions used before a refused write is tried again.
PER_EVENT, MOST_ASSUMED = 256, 2**30
"""Versions assumed to have been used for each event of the log where the file is missing, and at most."""


class Versions:
    """The versions of one table. The caller keeps threads apart.

    Where the disk refuses a block, versions are used all the same: those may come again after a restart.
    """

    def __init__(self, folder: Path, last_event: int) -> None:
        self._path = folder / FILE_NAME
        self._last = self._reserved = _reserved(self._path) or min(last_event * PER_EVENT, MOST_ASSUMED)

    def next(self) -> int:
        """Return a version that has not been used."""
        self._last = self._last % MOST + 1
        if self._last > self._reserved or self._last == 1:
            self._reserve(min(self._last + BLOCK - 1, MOST))
        return self._last

    def _reserve(self, until: int) -> None:
        try:
            write_whole(self._path, f"{until}\n")
            self._reserved = until
        except OSError:  # The pages say so as soon as an event cannot be written either.
            self._reserved = self._last + RETRY - 1


def _reserved(path: Path) -> int | None:
    """Return the last version that was reserved; None where the file is missing, damaged or cannot be read."""
    with suppress(OSError, UnicodeDecodeError):
        return whole(read_small(path).decode().strip(), 1, MOST)
    return None

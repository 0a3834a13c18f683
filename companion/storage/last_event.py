"""The last event, kept beside the log in a small file: a log that has become shorter is noticed by it.

The file is written in place with one call and is not synced: a play costs no more by it. A kill leaves it whole;
a power cut may leave an older one, or a damaged one, which counts as none. It is never ahead of the log.
"""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path

from companion.common.small_file import read_json
from companion.storage import database
from companion.storage.events import Row, checksum

FILE_NAME = "last-event.json"
SIZE_BYTES = 80  # size of the file, so that each content covers the one before


@dataclass(frozen=True, slots=True)
class LastEvent:
    """What is known of the last event: its number, its match and its checksum, and of which schema its log is."""

    seq: int
    match: int
    crc: int
    schema: int


def read(folder: Path) -> LastEvent | None:
    """Return the last event as it was kept; None where nothing was, or what was kept is damaged."""
    with suppress(OSError, ValueError, TypeError):
        *numbers, check = read_json(folder / FILE_NAME)
        last = LastEvent(*map(int, numbers))
        return last if check == _check(last) else None
    return None


def write(folder: Path, row: Row | None) -> None:
    """Keep the last event, which is on the disk already; None: there is none. Raises OSError."""
    seq, match, crc = (row[0], row[1], checksum(row)) if row else (0, 0, 0)
    last = LastEvent(seq, match, crc, len(database.MIGRATIONS))
    content = json.dumps([*astuple(last), _check(last)]).ljust(SIZE_BYTES).encode()
    fd = os.open(folder / FILE_NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        os.pwrite(fd, content, 0)
        os.ftruncate(fd, SIZE_BYTES)
    finally:
        os.close(fd)


def _check(last: LastEvent) -> int:
    return zlib.crc32(repr(astuple(last)).encode())

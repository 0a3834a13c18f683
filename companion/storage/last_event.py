"""The last event, kept beside the log in a small file: a log that has become shorter is noticed by it."""

from __future__ import annotations

import json
import zlib
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path

from companion.storage.events import Row, checksum
from companion.storage.files import read_small, write_whole

FILE_NAME = "last-event.json"


@dataclass(frozen=True, slots=True)
class LastEvent:
    """What is known of the last event: its number, its match and its checksum."""

    seq: int
    match: int
    crc: int


def read(folder: Path) -> LastEvent | None:
    """Return the last event as it was kept; None where nothing was, or what was kept is damaged."""
    with suppress(OSError, ValueError, TypeError, RecursionError):
        *numbers, check = json.loads(read_small(folder / FILE_NAME))
        last = LastEvent(*map(int, numbers))
        return last if check == _check(last) else None
    return None


def write(folder: Path, row: Row | None) -> None:
    """Keep the last event, which is on the disk already; None: there is none. Raises OSError.

    The file is not synced: after a power cut it may be an older one, or damaged, and is never ahead of the log.
    """
    last = LastEvent(row[0], row[1], checksum(row)) if row else LastEvent(0, 0, 0)
    write_whole(folder / FILE_NAME, json.dumps([*astuple(last), _check(last)]), synced=False)


def _check(last: LastEvent) -> int:
    return zlib.crc32(repr(astuple(last)).encode())

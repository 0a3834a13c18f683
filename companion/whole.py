"""Small files of the data folder: written whole or not at all, and on the disk when that is said; read with care."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MOST_BYTES = 1_000_000
"""No small file is larger."""


def write_whole(path: Path, content: str | bytes) -> None:
    """Puts a file in its place once all of it is on the disk. Raises OSError where the disk refuses."""
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def read_small(path: Path) -> bytes:
    """What a small file holds. Raises OSError where that is none: a pipe, a device, or more than `MOST_BYTES`."""
    # Whoever opens a pipe that nobody writes to would wait for ever.
    if not path.is_dir() and not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is no file", str(path))
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {MOST_BYTES // 1_000_000} MB", str(path))
    return content

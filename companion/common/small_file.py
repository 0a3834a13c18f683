"""Small files that people or programs have laid: read with care, as nobody knows what they are."""

from __future__ import annotations

import errno
import json
import stat
from pathlib import Path
from typing import Any

MOST_BYTES = 1_000_000


def read_small(path: Path) -> bytes:
    """Return the content of a small file. Raises OSError for a pipe, a device, or more than `MOST_BYTES`."""
    # Opening a pipe that nobody writes to would wait for ever.
    if not path.is_dir() and not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is no file", str(path))
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {MOST_BYTES // 1_000_000} MB", str(path))
    return content


def read_json(path: Path) -> Any:
    """Return what a small JSON file holds. Raises OSError as `read_small` does, ValueError for what is no JSON."""
    try:
        return json.loads(read_small(path))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error

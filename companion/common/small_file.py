from __future__ import annotations

import codecs
import errno
import json
import stat
from pathlib import Path
from typing import Any

MOST_BYTES = 1_000_000


def read_small(path: Path) -> bytes:
    """Return a file's content. Raises OSError for a pipe, a device, or above `MOST_BYTES`."""
    # Opening a pipe without a writer would block.
    if not path.is_dir() and not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is no file", str(path))
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {MOST_BYTES // 1_000_000} MB", str(path))
    return content


def text_of(raw: bytes, errors: str = "strict") -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark (Windows Notepad).

    Raises UnicodeDecodeError otherwise; `errors` as in `bytes.decode`.
    """
    is_utf16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if is_utf16 else "utf-8-sig", errors)


def is_text(text: str) -> bool:
    """True unless a text has many null or replacement characters, as from a picture."""
    return text.count("\x00") + text.count("\ufffd") <= len(text) // _MOST_STRANGE


_MOST_STRANGE = 4  # one character in this many may be damaged


def read_json(path: Path) -> Any:
    """Return a small JSON file's value. Raises OSError like `read_small`, ValueError if invalid."""
    try:
        return json.loads(read_small(path))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error

"""Zip files that people send: opened and unpacked with distrust."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from companion.common.errors import Problem
from companion.common.text import Said, say

_STEP_BYTES = 1 << 16
_OF_UNPACKING = ("zlib", "lzma", "_lzma", "struct")  # modules whose errors, without a common base, mean damage


@contextmanager
def opened(file: Path, sent: bytes | None, bad: Callable[[Said], Problem]) -> Iterator[zipfile.ZipFile]:
    """Open a zip file; `sent` is its content where it is not on this disk.

    Raises Problem for whatever goes wrong while it is open: `bad` makes one of what is wrong with the file.
    """
    try:
        with zipfile.ZipFile(file if sent is None else io.BytesIO(sent)) as packed:
            yield packed
    except Problem:
        raise
    except FileNotFoundError as error:
        raise Problem("There is no file %(path)s: check the path.", path=file) from error
    except OSError as error:
        why = error.strerror or str(error)
        raise Problem("%(path)s cannot be read (%(error)s): check the path.", path=file, error=why) from error
    except (
        *(zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError),
        *(ValueError, OverflowError, MemoryError),
    ) as error:
        raise bad(say("it is no zip file, or damaged")) from error
    except Exception as error:
        if type(error).__module__ not in _OF_UNPACKING:
            raise
        raise bad(say("it is damaged")) from error


def read_entry(packed: zipfile.ZipFile, info: zipfile.ZipInfo, most_bytes: int) -> bytes | None:
    """Return an entry's content, counted as it comes, whatever size it says it has; None if there is more than that."""
    content = bytearray()
    with packed.open(info) as entry:
        while piece := entry.read(_STEP_BYTES):
            content += piece
            if len(content) > most_bytes:
                return None
    return bytes(content)

"""Memory is given back: pictures come and go for hours, and a small computer has other things to do with it."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Of glibc's `mallopt`."""

PICTURE_BYTES = 1 << 20
"""What is as large as that is a picture: it has memory of its own, which the system gets back with it."""

MOST_ARENAS = 4
"""Each thread that takes memory has it from one of so many heaps; by itself the library makes eight a core."""


def give_memory_back() -> None:
    """Asks the C library for that, for all that the process takes from now on; another library does as it does."""
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, PICTURE_BYTES)
        mallopt(_TRIM_THRESHOLD, 4 * PICTURE_BYTES)
        mallopt(_ARENA_MAX, MOST_ARENAS)

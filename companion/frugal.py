"""Memory is given back: pictures come and go for hours, and a small computer has other things to do with it."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Of glibc's `mallopt`."""

FRAME_BYTES = 1 << 22
"""What is as large as that is a camera's whole frame: it has memory of its own, which the system gets back with it.

Half as much, and each grey picture would be had from the system anew, which takes as long as reading it does.
"""

MOST_SPARE_BYTES = 1 << 24
"""So much that is free at the end of the heap is kept: the next frame needs as much again."""

ONE_HEAP = 1
"""By itself the library makes up to eight heaps a core, one for each thread, and what one gives back no other gets."""


def give_memory_back() -> None:
    """Asks the C library for that, for all that the process takes from now on; another library does as it does."""
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, FRAME_BYTES)
        mallopt(_TRIM_THRESHOLD, MOST_SPARE_BYTES)
        mallopt(_ARENA_MAX, ONE_HEAP)

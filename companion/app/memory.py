"""Memory is given back: pictures come and go for hours, and a small computer has other things to do with it."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Of glibc's `mallopt`."""

FRAME_BYTES = 1 << 22
"""What is as large as that is a camera's whole frame: it has memory of its own, which the system gets back with it.

Half as much, and each grey picture would be fetched from the system again, which takes as long as reading it does.
"""

MOST_SPARE_BYTES = 1 << 24
"""So much that is free at the end of the heap is kept: the next frame needs as much again."""

ONE_HEAP = 1
"""By itself the library makes up to eight heaps a core, one for each thread, and what one gives back no other gets."""

EVERY_S = 10.0
"""So often what lies free between things in use is given back too: it takes some milliseconds."""


@contextmanager
def giving_memory_back() -> Iterator[None]:
    """Has the C library give free memory back to the system as long as this lasts; another library does as it does."""
    over = threading.Event()
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, FRAME_BYTES)
        library.mallopt(_TRIM_THRESHOLD, MOST_SPARE_BYTES)
        library.mallopt(_ARENA_MAX, ONE_HEAP)
        threading.Thread(target=_trim, args=(library.malloc_trim, over), name="frugal", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _trim(malloc_trim: Callable[[int], int], over: threading.Event) -> None:
    while not over.wait(EVERY_S):
        malloc_trim(0)

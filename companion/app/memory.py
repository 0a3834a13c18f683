"""Return the memory of pictures to the system, for other programs."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # parameters of glibc's `mallopt`
FRAME_BYTES = 1 << 22
"""M_MMAP_THRESHOLD in bytes: frames are mapped separately, so freeing one returns its memory.

Half would map gray pictures too, which takes as long as reading them.
"""

MOST_SPARE_BYTES = 1 << 24  # M_TRIM_THRESHOLD in bytes: one frame's worth of free heap
ONE_HEAP = 1  # M_ARENA_MAX: the default, up to eight heaps a core, cannot reuse each other's memory
EVERY_S = 10.0  # interval of malloc_trim, which takes some milliseconds


@contextmanager
def loading() -> Iterator[None]:
    """Exclude imports inside the context from garbage collection."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def giving_memory_back() -> Iterator[None]:
    """Make glibc return free memory to the system inside the context; other C libraries ignore it."""
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

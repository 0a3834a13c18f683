"""Giving memory back: pictures come and go for hours, and a small computer needs it for other things."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # parameters of glibc's `mallopt`
FRAME_BYTES = 1 << 22
"""M_MMAP_THRESHOLD, in bytes: a camera's frame has memory of its own, which the system gets back with it.

Half as much, and each grey picture would be fetched from the system again, which takes as long as reading it does.
"""

MOST_SPARE_BYTES = 1 << 24  # M_TRIM_THRESHOLD, in bytes: keep one frame's worth of free heap
ONE_HEAP = 1  # M_ARENA_MAX: the library makes up to eight heaps a core, and none gets what another gives back
EVERY_S = 10.0  # seconds between returns of what lies free between things in use; one takes some milliseconds


@contextmanager
def loading() -> Iterator[None]:
    """Load modules inside the context without searching them for garbage, then or ever: all of them stay."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def giving_memory_back() -> Iterator[None]:
    """Have glibc give free memory back to the system inside the context; other C libraries stay as they are."""
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

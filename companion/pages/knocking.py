"""Slows down who tries codes: a few wrong ones a minute from an address, then a wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

MOST_WRONG = 5
FORGIVEN_AFTER_S = 60.0
MOST_ADDRESSES = 1000


class Knocks:
    """The wrong codes of the last minute, by address. Any thread may call it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._wrong_s: dict[str, tuple[float, ...]] = {}

    def may_try(self, address: str) -> bool:
        """Whether an address may type another code now."""
        with self._lock:
            return len(self._recent(address)) < MOST_WRONG

    def was_wrong(self, address: str) -> None:
        """An address has typed a wrong code."""
        with self._lock:
            recent = (*self._recent(address), self._clock())
            self._wrong_s.pop(address, None)
            self._wrong_s[address] = recent
            for oldest in list(self._wrong_s)[:-MOST_ADDRESSES]:
                del self._wrong_s[oldest]

    def _recent(self, address: str) -> tuple[float, ...]:
        now_s = self._clock()
        return tuple(at_s for at_s in self._wrong_s.get(address, ()) if now_s - at_s < FORGIVEN_AFTER_S)

"""Slows down who tries codes: a few wrong ones a minute from an address, then a wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from enum import StrEnum

MOST_WRONG = 5
FORGIVEN_AFTER_S = 60.0
MOST_ADDRESSES = 1000


class Answer(StrEnum):
    """What a code that was typed comes to."""

    RIGHT = "right"
    WRONG = "wrong"
    WAIT = "wait"
    """Too many wrong ones lately: whether this one was right is not said."""


class Knocks:
    """The wrong codes of the last minute, by address. Any thread may call it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._wrong_s: dict[str, tuple[float, ...]] = {}

    def knock(self, address: str, *, is_right: bool) -> Answer:
        """An address has typed a code; a wrong one counts against it."""
        with self._lock:
            recent = self._recent(address)
            if len(recent) >= MOST_WRONG:
                return Answer.WAIT
            if is_right:
                return Answer.RIGHT
            self._remember(address, (*recent, self._clock()))
            return Answer.WRONG

    def _remember(self, address: str, wrong_s: tuple[float, ...]) -> None:
        self._wrong_s.pop(address, None)
        self._wrong_s[address] = wrong_s
        for oldest in list(self._wrong_s)[:-MOST_ADDRESSES]:
            del self._wrong_s[oldest]

    def _recent(self, address: str) -> tuple[float, ...]:
        now_s = self._clock()
        return tuple(at_s for at_s in self._wrong_s.get(address, ()) if now_s - at_s < FORGIVEN_AFTER_S)

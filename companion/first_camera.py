"""The first camera that answers, whenever that is: it may be plugged in, or wake, long after the companion."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

LOOK_S = 2.0
"""How often it is looked whether another device is there: that costs a glance at a folder."""

TRY_AGAIN_S = 30.0
"""How often the same devices are tried again: one may have been busy, or not awake yet."""


class FirstCamera:
    """Looks for a camera until one answers.

    `answers` tries what is there and gives a source for `frames`, or None; `devices` lists what is there; `wait`
    pauses, and ends the search when it returns something true.
    """

    def __init__(
        self,
        answers: Callable[[], str | None],
        devices: Callable[[], Sequence[str]],
        wait: Callable[[float], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._answers = answers
        self._devices = devices
        self._wait = wait
        self._clock = clock
        self._source: str | None = None

    @property
    def is_there(self) -> bool:
        """Whether one has answered."""
        return self._source is not None

    def found(self, none_yet: Callable[[], None] = lambda: None) -> str | None:
        """The source, as soon as there is one; None where the search was ended. `none_yet` is called at most once."""
        self._source = self._answers()
        if self._source is None:
            none_yet()
        while self._source is None:
            if not self._another_try():
                return None
            self._source = self._answers()
        return self._source

    def _another_try(self) -> bool:
        """Waits until it is worth trying again; False where the search was ended."""
        before, until_s = self._devices(), self._clock() + TRY_AGAIN_S
        while self._devices() == before and self._clock() < until_s:
            if self._wait(LOOK_S):
                return False
        return True

"""The first camera that answers, whenever that is: it may be plugged in, or wake, long after the start."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from companion.vision.capture.devices import Device, lasting_name, opener_of

LOOK_S = 2.0
"""Seconds between two looks for another device: each costs a glance at a folder."""

TRY_AGAIN_S = 30.0
"""Seconds until the same devices are tried again: one may have been busy, or not awake yet."""


@dataclass(frozen=True, slots=True)
class Openers:
    """What opens a camera again, and what says whether its device is there."""

    open: Callable[[], Device]
    is_there: Callable[[], bool]


def openers(source: str) -> Openers:
    """Return those of a camera that is there now. One on the ribbon cable has no device that could be gone."""
    lasting = Path(lasting_name(source))
    return Openers(opener_of(source, None), lasting.exists if source.startswith("/dev/") else lambda: True)


class FirstCamera:
    """Looks for a camera until one answers, and opens that again and again; one that is gone gives way to the next.

    `answers` tries what is there and returns a source for `frames`, or None; `devices` lists what is there; `wait`
    pauses, and ends the search when it returns something true. Several threads may open at the same time.
    """

    def __init__(
        self,
        answers: Callable[[], str | None],
        devices: Callable[[], Sequence[str]],
        wait: Callable[[float], object],
        clock: Callable[[], float] = time.monotonic,
        openers: Callable[[str], Openers] = openers,
    ) -> None:
        self._answers, self._devices, self._wait, self._clock = answers, devices, wait, clock
        self._openers_of = openers
        self._openers: Openers | None = None
        self._tried: tuple[Sequence[str], float] | None = None
        """Which devices were tried in vain, and until when they are not tried again."""

        self.source: str | None = None
        """Which camera it is now; None before one has answered."""

    def found(self, none_yet: Callable[[], None] = lambda: None) -> str | None:
        """Return the source, as soon as there is one; None if the search is ended. Call `none_yet` at most once."""
        self.source = self._answers()
        if self.source is None:
            none_yet()
        while self.source is None:
            before, until_s = self._devices(), self._clock() + TRY_AGAIN_S
            while self._devices() == before and self._clock() < until_s:
                if self._wait(LOOK_S):
                    return None
            self.source = self._answers()
        self._openers = self._openers_of(self.source)
        return self.source

    def open(self, source: str) -> Device:
        """Return the camera, opened; `source` is the one that was found. Raises Problem, as every opening does."""
        now = self._openers or self._openers_of(source)
        if now.is_there():
            self._tried = None
        elif self._is_worth_a_try():
            other = self._answers()
            if other is not None:
                now = self._openers = self._openers_of(other)
                self.source = other
        return now.open()

    def _is_worth_a_try(self) -> bool:
        there, now_s = self._devices(), self._clock()
        if not there or (self._tried is not None and there == self._tried[0] and now_s < self._tried[1]):
            return False
        self._tried = there, now_s + TRY_AGAIN_S
        return True

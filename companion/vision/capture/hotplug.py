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
        self._answers, self._devices, self._wait, self._clock = answers, devices, wait, clock
        self._source: str | None = None

    @property
    def is_there(self) -> bool:
        """True if one has answered."""
        return self._source is not None

    def found(self, none_yet: Callable[[], None] = lambda: None) -> str | None:
        """Return the source, as soon as there is one; None if the search is ended. Call `none_yet` at most once."""
        self._source = self._answers()
        if self._source is None:
            none_yet()
        while self._source is None:
            before, until_s = self._devices(), self._clock() + TRY_AGAIN_S
            while self._devices() == before and self._clock() < until_s:
                if self._wait(LOOK_S):
                    return None
            self._source = self._answers()
        return self._source


@dataclass(frozen=True, slots=True)
class Openers:
    """What opens a camera again, and what says whether its device is there."""

    open: Callable[[], Device]
    is_there: Callable[[], bool]


def openers(source: str) -> Openers:
    """Return those of a camera that is there now. One on the ribbon cable has no device that could be gone."""
    lasting = Path(lasting_name(source))
    return Openers(opener_of(source, None), lasting.exists if source.startswith("/dev/") else lambda: True)


class Succession:
    """Opens the first camera again and again; where its device is gone, the next one that answers takes its place.

    `answers` and `devices` are those of `FirstCamera`. Several threads may open at the same time.
    """

    def __init__(
        self,
        source: str,
        answers: Callable[[], str | None],
        devices: Callable[[], Sequence[str]],
        clock: Callable[[], float] = time.monotonic,
        openers: Callable[[str], Openers] = openers,
    ) -> None:
        self.source = source
        """Which camera it is now."""

        self._answers, self._devices, self._clock = answers, devices, clock
        self._openers_of, self._openers = openers, openers(source)
        self._tried: tuple[Sequence[str], float] | None = None
        """Which devices were tried in vain, and until when they are not tried again."""

    def open(self, _source: str) -> Device:
        """Return the camera, opened. Raises Problem, as every opening does."""
        if self._openers.is_there():
            self._tried = None
        elif self._is_worth_a_try():
            source = self._answers()
            if source is not None:
                self._openers, self.source = self._openers_of(source), source
        return self._openers.open()

    def _is_worth_a_try(self) -> bool:
        there, now_s = self._devices(), self._clock()
        if not there or (self._tried is not None and there == self._tried[0] and now_s < self._tried[1]):
            return False
        self._tried = there, now_s + TRY_AGAIN_S
        return True

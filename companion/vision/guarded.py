"""A device for those who look through it only once: every call is answered in time, or is a sentence."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from companion.common.errors import Problem
from companion.common.text import say
from companion.vision.boxes import Image
from companion.vision.capture.devices import Device

OPENING_S = 6.0
ANSWER_S = 4.0
CLOSING_S = 2.0

T = TypeVar("T")


class Guarded:
    """A device that is opened and called in a thread of its own, which is left behind where the driver hangs.

    Raises Problem for whatever goes wrong while it is opened or called.
    """

    def __init__(
        self, opener: Callable[[], Device], name: str, *, opening_s: float = OPENING_S, answer_s: float = ANSWER_S
    ) -> None:
        self._name = name
        self._answer_s = answer_s
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._opened: list[Device] = []
        self._thread = threading.Thread(target=self._work, name="camera trial", daemon=True)
        self._thread.start()
        try:
            self._device = self._asked(lambda: self._open(opener), opening_s)
        except Problem:
            self._calls.put(None)
            raise

    def grab(self) -> bool:
        return self._asked(lambda: self._device.grab(), self._answer_s)

    def retrieve(self) -> Image | None:
        return self._asked(lambda: self._device.retrieve(), self._answer_s)

    def hold(self) -> None:
        self._asked(lambda: self._device.hold(), self._answer_s)

    def release(self) -> None:
        self._asked(lambda: self._device.release(), self._answer_s)

    def kind(self) -> str | None:
        return self._asked(lambda: self._device.kind(), self._answer_s)

    def close(self) -> None:
        """Gives the device back, as soon as it lets itself be."""
        self._calls.put(None)
        self._thread.join(CLOSING_S)

    def _asked(self, call: Callable[[], T], limit_s: float) -> T:
        answer: queue.SimpleQueue[tuple[T] | Exception] = queue.SimpleQueue()
        self._calls.put(lambda: answer.put(_answer(call)))
        try:
            said = answer.get(timeout=limit_s)
        except queue.Empty:
            hangs = say("The camera %(name)s does not answer: unplug it and plug it in again.", name=self._name)
            raise Problem(hangs) from None
        if isinstance(said, Problem):
            raise said
        if isinstance(said, Exception):
            broken = say("The camera %(name)s cannot be used: unplug it and plug it in again.", name=self._name)
            raise Problem(broken) from said
        return said[0]

    def _open(self, opener: Callable[[], Device]) -> Device:
        self._opened.append(opener())
        return self._opened[0]

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
        for device in self._opened:
            with suppress(Exception):
                device.close()


def _answer(call: Callable[[], T]) -> tuple[T] | Exception:
    try:
        return (call(),)
    except Exception as error:
        return error

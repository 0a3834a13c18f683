"""What takes a while to make, kept as long as it is asked for: any thread may ask, and nothing is made twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class Kept(Generic[_Value]):
    """The last things that were asked for, by their keys.

    What is missing is made without holding up those who ask for something else; who asks for the same waits for it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: dict[Hashable, Future[_Value]] = {}

    def get(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        """Return the value of a key, made where it is not known. What `make` raises reaches all who wait for it."""
        with self._lock:
            known = self._values.pop(key, None)
            value = self._values[key] = known or Future()
            while len(self._values) > self._most:
                del self._values[next(iter(self._values))]
        if known is None:
            try:
                value.set_result(make())
            except BaseException as error:
                with self._lock:
                    if self._values.get(key) is value:
                        del self._values[key]
                value.set_exception(error)
        return value.result()

    def forget(self, which: Callable[[Hashable], bool]) -> None:
        """Drop the values of some keys; threads that already wait for one still get it."""
        with self._lock:
            for key in [key for key in self._values if which(key)]:
                del self._values[key]

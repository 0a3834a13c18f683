from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class Kept(Generic[_Value]):
    """A thread-safe cache of the `most` values used last.

    Threads that request a key together wait for one value.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: dict[Hashable, tuple[int, Future[_Value]]] = {}

    def get(self, key: Hashable, make: Callable[[], _Value], stamp: int = 0) -> _Value:
        """Return the value of `key`, made if missing or of another `stamp`.

        Exceptions of `make` reach all waiting callers, uncached.
        """
        with self._lock:
            known = self._values.pop(key, None)
            is_known = known is not None and known[0] == stamp
            entry = self._values[key] = known if known is not None and is_known else (stamp, Future())
            while len(self._values) > self._most:
                del self._values[next(iter(self._values))]
        value = entry[1]
        if not is_known:
            try:
                value.set_result(make())
            except BaseException as error:
                with self._lock:
                    if self._values.get(key) is entry:
                        del self._values[key]
                value.set_exception(error)
        return value.result()

"""A time for threads that runs as fast as they can: it goes on when all of them sleep, to where the first one wakes."""

import heapq
import itertools
import threading
from collections.abc import Callable


class VirtualTime:
    """A clock, a sleep and a start of threads. One thread at a time is awake, so that all is the same every time.

    Only the thread that has made it, and those that it starts, may sleep by it.
    """

    def __init__(self, ends_s: float = 3600.0) -> None:
        self.now_s = 0.0
        self._ends_s = ends_s
        """What takes longer waits for something that never comes."""

        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._sleepers: list[tuple[float, int, threading.Event]] = []
        self._awake = 1

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        if self.now_s > self._ends_s:
            raise AssertionError(f"nothing has come of it for {self.now_s:.0f} s")
        wakes_s = self.now_s + max(0.0, seconds)
        if not self._sleepers or wakes_s < self._sleepers[0][0]:
            # Whoever asks is the only one awake.
            self.now_s = wakes_s
            return
        woken = self._queued(max(0.0, seconds))
        self._leave()
        woken.wait()

    def start(self, run: Callable[[], object]) -> None:
        """Runs something in a thread of its own, as soon as the others sleep."""
        woken = self._queued(0.0)

        def body() -> None:
            woken.wait()
            try:
                run()
            finally:
                self._leave()

        threading.Thread(target=body, daemon=True).start()

    def _queued(self, seconds: float) -> threading.Event:
        woken = threading.Event()
        with self._lock:
            heapq.heappush(self._sleepers, (self.now_s + seconds, next(self._numbers), woken))
        return woken

    def _leave(self) -> None:
        with self._lock:
            self._awake -= 1
            if not self._awake and self._sleepers:
                wakes_s, _, woken = heapq.heappop(self._sleepers)
                self.now_s, self._awake = max(self.now_s, wakes_s), 1
                woken.set()

"""A camera reader in simulated time, and cameras that send given pictures."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np
from virtual_time import VirtualTime

from companion.common.errors import Problem
from companion.vision.capture.sources import Frame, Notice, Timing, frames

Sends = Iterable[np.ndarray] | Callable[[VirtualTime], Iterator[np.ndarray]]
"""The pictures sent while plugged in, at ten a second; or a function that yields them and sleeps itself."""


class FakeCamera:
    """Sends its pictures, then nothing."""

    def __init__(self, pictures: Iterator[np.ndarray], kind: str | None = None) -> None:
        self._pictures, self._kind = pictures, kind
        self._image: np.ndarray | None = None
        self.done: list[str] = []
        self.hold, self.let_go, self.close = (partial(self.done.append, deed) for deed in ("hold", "let_go", "close"))

    def grab(self) -> bool:
        self._image = next(self._pictures, None)
        return self._image is not None

    def retrieve(self) -> np.ndarray | None:
        return self._image

    def kind(self) -> str | None:
        return self._kind


class Looking:
    """Reads a camera that is plugged in repeatedly: each attempt to open it takes the next of `sends`.

    `kind` is the format of its pictures.
    """

    def __init__(self, *sends: Sends | None, kind: str | None = None) -> None:
        self.kind = kind
        self.time = VirtualTime()
        self.ends_s = 1e9
        self.tried_s: list[float] = []
        """Times of the attempts to open it."""

        self.notices: list[Notice] = []
        self.cameras: list[FakeCamera] = []
        self._sends = iter(sends)

    def open(self) -> FakeCamera:
        self.tried_s.append(round(self.time(), 1))
        sends = next(self._sends, None)
        if sends is None:
            raise Problem("There is no camera.")
        self.cameras.append(FakeCamera(sends(self.time) if callable(sends) else self._paced(sends), self.kind))
        return self.cameras[-1]

    def _paced(self, pictures: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        for picture in pictures:
            self.time.sleep(0.1)
            yield picture
        self.time.sleep(0.1)

    def frames(self, source: str = "0", **more: object) -> Iterator[Frame]:
        timing = Timing(self.time, self.time.sleep, self.time.start)
        how = {"wait": self.wait, "tell": self.notices.append, "timing": timing} | more
        return frames(source, open_device=self.open, **how)

    def wait(self, seconds: float) -> bool:
        self.time.sleep(seconds)
        return self.time() > self.ends_s

    def until(self, seconds: float, source: str = "0") -> list[Frame]:
        self.ends_s = self.time() + seconds
        return list(self.frames(source, patient=True))

    def blind(self) -> list[str]:
        return [notice.sentence for notice in self.notices if notice.blind]


def noisy(count: int, level: int = 100, size: tuple[int, int] = (36, 64)) -> Iterator[np.ndarray]:
    """Return random pictures as from a sensor: no two are equal."""
    rng = np.random.default_rng(level)
    return (rng.integers(level - 5, level + 5, (*size, 3), np.uint8) for _ in range(count))

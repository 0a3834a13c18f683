"""Examine the latest frame for the camera page."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from companion.tabletop.drawn_zones import Drawing, DrawnZones
from companion.tabletop.mat_layout import all_mats
from companion.vision.capture.devices import SIZE_PX, Size
from companion.vision.capture.sources import Frame
from companion.vision.eye import Eye
from companion.vision.mats.homography import Fit, as_quad
from companion.vision.quality.advice import Advice, of_reading
from companion.vision.quality.verdict import Pace, size_wanted
from companion.vision.read import read
from companion.vision.view import Quad, View

PACE_LOOKS = 20  # to measure the pace, within two to ten seconds
LOOK_AGAIN_S = 2.0  # maximum age of a survey, which costs as much as reading a frame


@dataclass(frozen=True, slots=True)
class Survey:
    """What can be read on one frame, and its zones."""

    advice: Advice
    printed: Mapping[str, Quad]  # zone corners by printed mats
    drawn: Mapping[str, Quad]  # zone corners as drawn
    is_last: bool = False  # source has ended
    pace: Pace | None = None  # None until known

    @property
    def zones(self) -> Mapping[str, Quad]:
        return {**self.printed, **self.drawn}

    @property
    def size_px(self) -> tuple[int, int]:
        return self.advice.size_px


class Lookout:
    """Read frames with an eye, and survey the latest one for any thread.

    `in_play` returns the ids of the mats in play, if known; `drawn` are the eye's zones.
    """

    def __init__(self, eye: Eye, in_play: Callable[[], Sequence[str]] = tuple, drawn: DrawnZones | None = None) -> None:
        self._eye = eye
        self._in_play = in_play
        self._drawn = drawn
        self._seen: tuple[Frame, View] | None = None
        self._asked = threading.Lock()
        self._last: Survey | None = None
        self._last_s = 0.0
        self._last_drawing: Drawing | None = None  # of the last survey
        self._is_over = False
        self.size_px = SIZE_PX  # wanted size
        self._is_too_slow = False  # larger pictures failed: never again
        self._looks = deque[tuple[float, float]](maxlen=PACE_LOOKS)  # begin and end of each

    def until_over(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        """Yield the frames, and note their end."""
        try:
            yield from frames
        finally:
            self._is_over = True

    def __call__(self, frame: Frame) -> View:
        if frame.after_gap:
            self._looks.clear()
        begun_s = time.monotonic()
        view = self._eye(frame)
        self._looks.append((begun_s, time.monotonic()))
        if self.size_px != SIZE_PX and len(self._looks) == PACE_LOOKS:
            self._choose_size(size_wanted(self.size_px, self.pace))
        self._seen = (frame, view)
        return view

    @property
    def showing(self) -> frozenset[str]:
        """Mats with a visible marker."""
        return self._eye.sight.mats.showing

    @property
    def pace(self) -> Pace | None:
        """Current rate; None until known, and after the end."""
        looks = tuple(self._looks)
        if len(looks) < 2 or self._is_over:
            return None
        passed_s = max(looks[-1][0] - looks[0][0], 1e-3)
        return Pace((len(looks) - 1) / passed_s, sum(end_s - begun_s for begun_s, end_s in looks[:-1]) / passed_s)

    def _choose_size(self, size_px: Size) -> None:
        self._is_too_slow |= size_px < self.size_px
        if size_px != self.size_px and not (self._is_too_slow and size_px > self.size_px):
            self.size_px = size_px
            self._looks.clear()

    def look_with(self, eye: Eye) -> None:
        """Use another eye, for another deck; forget the last frame."""
        self._eye = eye
        self._seen = None

    def begin_afresh(self) -> None:
        """Forget all frames; the last survey stays valid."""
        self._eye.begin_afresh()
        self._seen = None

    def survey(self) -> Survey | None:
        """Return the latest frame's survey, renewed if outdated; None if no frame is fresh."""
        with self._asked:
            now_s = time.monotonic()
            seen = self._seen  # another thread may clear it
            if seen is not None and not self._is_over and not seen[0].is_fresh():
                return None
            if seen is not None and not self._still_holds(now_s):
                self._last, self._last_s = self._looked(*seen), now_s
            return self._last

    def _still_holds(self, now_s: float) -> bool:
        """True if the last survey is recent, or made after the last frame, and zones are unchanged since."""
        if self._last is None or self._last.is_last != self._is_over:
            return False
        if self._drawn is not None and self._drawn.current is not self._last_drawing:
            return False
        return self._is_over or now_s - self._last_s < LOOK_AGAIN_S

    def _looked(self, frame: Frame, view: View) -> Survey:
        is_over = self._is_over
        if is_over:
            # Zones may have been drawn since.
            self._eye(replace(frame, t_s=frame.t_s + LOOK_AGAIN_S))
            view = read(frame, self._eye.sight.mats)
        placed, wanted = self._eye.sight.mats, set(self._in_play())
        self._last_drawing = placed.drawing
        layouts = tuple(layout for layout in all_mats() if layout.id in wanted)
        printed, drawn = (_outlines(fit for fit in placed.fits if fit.is_measured is it) for it in (True, False))
        advice = of_reading([frame.image], placed, view, layouts)
        pace = self.pace
        if len(self._looks) == PACE_LOOKS and frame.image.shape[1] == SIZE_PX[0]:
            self._choose_size(size_wanted(self.size_px, pace, advice))
        return Survey(advice, printed, drawn, is_over, pace)


def _outlines(fits: Iterable[Fit]) -> Mapping[str, Quad]:
    return {
        f"{fit.layout.id}/{name}": as_quad(fit.quad_px(rect)) for fit in fits for name, rect in fit.layout.zones.items()
    }

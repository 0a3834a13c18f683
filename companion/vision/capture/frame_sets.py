"""Combine the pictures of several cameras over one table into one frame, in a grid.

Each camera has a thread, and sends its next picture once the last frame was processed. Silent cameras are not awaited.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from functools import partial
from threading import Condition, Thread
from typing import cast

import numpy as np

from companion.common.errors import Problem
from companion.vision.capture.devices import Size
from companion.vision.capture.sources import Frame, Part

log = logging.getLogger(__name__)

ROWS = 2  # two pictures stacked suit a phone
GREY = 90  # gray level of an empty cell
LOOK_S = 0.2  # between checks for added, removed and silent cameras
Opened = Callable[[str, Callable[[], bool]], Iterator[Frame]]
"""Function (source, is_stopped) → frames, which end when `is_stopped` returns True."""


class _Feed:
    """A camera's thread and newest frame."""

    def __init__(self, frames: Callable[[Callable[[], bool]], Iterator[Frame]], come: Condition) -> None:
        self._frames, self._come = frames, come
        self.frame: Frame | None = None
        self.is_new = self.is_left = self.is_over = False
        Thread(target=self._run, name="camera frames", daemon=True).start()

    @property
    def sends(self) -> bool:
        return self.frame is not None and not self.is_over and self.frame.is_fresh()

    @property
    def size_px(self) -> Size:
        return (0, 0) if self.frame is None else (self.frame.image.shape[1], self.frame.image.shape[0])

    def leave(self) -> None:
        """Make the thread close the camera."""
        with self._come:
            self.is_left = True
            self._come.notify_all()

    def _run(self) -> None:
        try:
            frames = self._frames(lambda: self.is_left)
            for frame in frames:
                with self._come:
                    self.frame, self.is_new = frame, True
                    self._come.notify_all()
                    self._come.wait_for(lambda: self.is_left or not self.is_new)
                if self.is_left:
                    break
            cast(Generator[Frame, None, None], frames).close()
        except Problem as problem:
            log.warning("%s", problem)
        except Exception:
            log.exception("a camera cannot be read")
        finally:
            with self._come:
                self.is_over = True
                self._come.notify_all()


def frame_sets(
    first: Iterator[Frame], others: Callable[[], Sequence[str]], opened: Opened, is_stopped: Callable[[], bool]
) -> Iterator[Frame]:
    """Yield the first camera's frames, combined with those of `others()` once there are any."""
    while not others():
        frame = next(first, None)
        if frame is None:
            return
        yield frame
    come = Condition()
    feeds = {"": _Feed(lambda _is_left: first, come)}
    try:
        while not is_stopped() and not all(feed.is_over for feed in feeds.values()):
            _bring_up_to_date(feeds, others(), opened, come)
            with come:
                come.wait_for(lambda: _is_complete(feeds.values()), LOOK_S)
                taken = [feed for feed in feeds.values() if feed.is_new]
                frame = _set_of(tuple(feeds.values())) if _is_complete(feeds.values()) else None
            if frame is not None:
                yield frame
                with come:
                    # Later pictures belong to the next set.
                    for feed in taken:
                        feed.is_new = False
                    come.notify_all()
    finally:
        for feed in feeds.values():
            feed.leave()


def _bring_up_to_date(feeds: dict[str, _Feed], others: Sequence[str], opened: Opened, come: Condition) -> None:
    """Add and remove feeds to match `others`."""
    for source in set(feeds) - {"", *others}:
        feeds.pop(source).leave()
    for source in others:
        if source not in feeds:
            feeds[source] = _Feed(partial(opened, source), come)


def _is_complete(feeds: Collection[_Feed]) -> bool:
    """True if all sending cameras, at least one, have a new picture."""
    return any(feed.is_new for feed in feeds) and all(feed.is_new or not feed.sends for feed in feeds)


def _set_of(feeds: Sequence[_Feed]) -> Frame:
    frames = [feed.frame if feed.is_new else None for feed in feeds]
    if len(feeds) == 1 and frames[0] is not None:
        return frames[0]
    width, height = (max(feed.size_px[side] for feed in feeds) for side in (0, 1))
    return side_by_side(frames, (width, height))


def side_by_side(frames: Sequence[Frame | None], size_px: Size) -> Frame:
    """Combine pictures in a grid with cells of `size_px` (width, height); None leaves a cell gray."""
    come = [frame for frame in frames if frame is not None]
    (width, height), columns = size_px, -(-len(frames) // ROWS)
    whole = np.full((ROWS * height, columns * width, 3), GREY, np.uint8)
    parts = tuple(Part(frame, (n % columns * width, n // columns * height)) for n, frame in enumerate(frames))
    for part in parts:
        if part.frame is not None:
            (left, top), (high, wide) = part.at_px, part.frame.image.shape[:2]
            whole[top : top + high, left : left + wide] = part.frame.image
    return Frame(
        whole,
        max(frame.t_s for frame in come),
        after_gap=all(frame.after_gap for frame in come),
        is_fresh=lambda: all(frame.is_fresh() for frame in come),
        parts=parts,
    )

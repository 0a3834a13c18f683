"""Upright rectangles of pixels, where to look; and a picture made smaller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from companion.vision.opencv import cv2

Image = npt.NDArray[np.uint8]


class Box(NamedTuple):
    """Pixels from `left`, `top` up to but without `right`, `bottom`."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def area_px(self) -> int:
        return max(0, self.right - self.left) * max(0, self.bottom - self.top)

    def of(self, image: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The part of the picture inside, a view of it."""
        return image[self.top : self.bottom, self.left : self.right]

    def padded(self, by_px: int) -> Box:
        return Box(self.left - by_px, self.top - by_px, self.right + by_px, self.bottom + by_px)

    def within(self, width_px: int, height_px: int) -> Box:
        """The part that lies on a picture of that size; empty (no area) where none does."""
        left, top = min(max(self.left, 0), width_px), min(max(self.top, 0), height_px)
        return Box(left, top, max(left, min(self.right, width_px)), max(top, min(self.bottom, height_px)))

    def touches(self, other: Box) -> bool:
        """Whether the two have a pixel in common or share an edge."""
        return (
            self.left <= other.right
            and other.left <= self.right
            and self.top <= other.bottom
            and other.top <= self.bottom
        )

    def holds(self, points: Iterable[tuple[float, float]]) -> bool:
        """Whether every point lies inside."""
        return all(self.left <= x <= self.right and self.top <= y <= self.bottom for x, y in points)


def whole(image: Image) -> Box:
    """The box of a whole picture."""
    return Box(0, 0, image.shape[1], image.shape[0])


def around(points: npt.ArrayLike) -> Box:
    """The smallest box round points `(N, 2)`."""
    flat = np.asarray(points, np.float64).reshape(-1, 2)
    low, high = np.floor(flat.min(axis=0)).astype(int), np.ceil(flat.max(axis=0)).astype(int) + 1
    return Box(int(low[0]), int(low[1]), int(high[0]), int(high[1]))


def merged(boxes: Sequence[Box]) -> tuple[Box, ...]:
    """Boxes that touch become one, so that no pixel is looked at twice."""
    apart: list[Box] = []
    for box in boxes:
        joined, rest = box, list(apart)
        while near := [other for other in rest if joined.touches(other)]:
            rest = [other for other in rest if other not in near]
            joined = _hull((joined, *near))
        apart = [*rest, joined]
    return tuple(apart)


def _hull(boxes: Sequence[Box]) -> Box:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return Box(min(lefts), min(tops), max(rights), max(bottoms))


def shrunk(image: Image, share: float) -> Image:
    """A picture `(H, W)` or `(H, W, 3)` at that share of its size, at least a pixel high and wide; never enlarged."""
    if share >= 1:
        return image
    height, width = (max(1, round(side * share)) for side in image.shape[:2])
    if min(image.shape[:2]) * share >= 1:
        # By the share itself, and not by the whole pixels that come of it: what is found is to be scaled back by it.
        return cv2.resize(image, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
    return cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)

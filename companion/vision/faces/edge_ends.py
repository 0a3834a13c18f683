"""Whether what shows of a card ends where the card does.

A strip of table may look like a part of some face: a dark cloth beside a pale mat is like a face with a dark band. But
across the border of a card that lies there the picture changes, and across that of none it goes on as it was.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Floats
from companion.vision.opencv import cv2

Map = npt.NDArray[np.float32]

BESIDE_MM = 2.0
"""So far on both sides of a border the picture is compared."""

POINTS, PART = 25, 6
"""A side is looked at in so many points, a part of so many at a time: what it lies on need not be all alike."""

ENDS_FROM = 0.08
"""This share of a side is left out at each end: corners are round."""

LEAST_POINTS = 4
LEAST_STEP = 2.5
"""Steps of Lab across a border of a card, at least."""

SMOOTH_PX = 0.8


def smoothed(fine: Map) -> Map:
    """A picture `(h, w, 3) float32` Lab as `share_that_ends` looks at it."""
    return np.asarray(cv2.GaussianBlur(fine, (0, 0), SMOOTH_PX), np.float32)


def share_that_ends(smooth: Map, shown: Map, corners: Floats, px_per_mm: float) -> float:
    """Of the borders of a card that are in sight the share across which the picture changes, 0 … 1.

    `corners` `(4, 2)` in pixels, in order around the card; `shown` `(h, w) float32` is 0 where other cards lie over it.
    0 where none of its borders is in sight.
    """
    seen = [_side(smooth, shown, *inside_and_out) for inside_and_out in _beside(corners, BESIDE_MM * px_per_mm)]
    in_sight = sum(count for _, count in seen)
    return sum(count for step, count in seen if step >= LEAST_STEP) / in_sight if in_sight else 0.0


def _beside(corners: Floats, off_px: float) -> list[tuple[Floats, Floats]]:
    """Points along the four sides, inside of the card and outside, `(POINTS, 2)` each."""
    middle, along = corners.mean(axis=0), np.linspace(ENDS_FROM, 1 - ENDS_FROM, POINTS)[:, None]
    sides = []
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        outwards = (start + end) / 2 - middle
        outwards *= off_px / max(float(np.hypot(*outwards)), 1e-6)
        points = start + (end - start) * along
        sides.append((points - outwards, points + outwards))
    return sides


def _side(smooth: Map, shown: Map, inside: Floats, outside: Floats) -> tuple[float, int]:
    """How much the picture changes across one side, in steps of Lab, and in how many points it is in sight."""
    free = (_at(shown, inside) > 0.5) & (_at(shown, outside) > 0.5)
    if np.count_nonzero(free) < LEAST_POINTS:
        return 0.0, 0
    steps = (_at(smooth, inside) - _at(smooth, outside))[free]
    parts = np.array_split(steps, max(1, len(steps) // PART))
    return float(np.mean([np.linalg.norm(part.mean(axis=0)) for part in parts])), len(steps)


def _at(picture: Map, points: Floats) -> Map:
    """The picture at points `(n, 2)`: 0 beyond its edges."""
    x, y = (points[:, axis].astype(np.float32)[None] for axis in (0, 1))
    return np.asarray(cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)[0], np.float32)

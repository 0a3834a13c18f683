"""Whether what shows of a card ends where the card does.

A strip of table may look like a part of some face: a dark cloth beside a pale mat is like a face with a dark band. But
across the border of a card that lies there the picture changes, and across that of none it goes on as it was.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Floats
from companion.vision.faces.border_profile import ALONG
from companion.vision.opencv import cv2

Map = npt.NDArray[np.float32]

BESIDE_MM = 2.0
"""Distance from a border at which the picture is compared, on both sides, in millimetres."""

POINTS, PART = 25, 6
"""Points compared along a side, and how many of them at a time: what a card lies on need not be all alike."""

LEAST_STEP = 2.5
"""Minimum change across a card's border, in steps of Lab."""

SMOOTH_PX = 0.8
"""Blur of the picture before it is compared, σ in pixels."""


def smoothed(fine: Map) -> Map:
    """Return a picture `(h, w, 3) float32` Lab as `share_that_ends` looks at it."""
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
    middle, along = corners.mean(axis=0), np.linspace(ALONG, 1 - ALONG, POINTS)[:, None]
    sides = []
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        outwards = (start + end) / 2 - middle
        outwards *= off_px / max(float(np.hypot(*outwards)), 1e-6)
        points = start + (end - start) * along
        sides.append((points - outwards, points + outwards))
    return sides


def _side(smooth: Map, shown: Map, inside: Floats, outside: Floats) -> tuple[float, int]:
    """Return how much the picture changes across one side, in steps of Lab, and in how many points it is in sight."""
    free = (_at(shown, inside) > 0.5) & (_at(shown, outside) > 0.5)
    if np.count_nonzero(free) < PART:
        return 0.0, 0
    steps = (_at(smooth, inside) - _at(smooth, outside))[free]
    parts = np.array_split(steps, max(1, len(steps) // PART))
    return float(np.mean([np.linalg.norm(part.mean(axis=0)) for part in parts])), len(steps)


def _at(picture: Map, points: Floats) -> Map:
    """Return the picture at points `(n, 2)`: 0 beyond its edges."""
    x, y = (points[:, axis].astype(np.float32)[None] for axis in (0, 1))
    return np.asarray(cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)[0], np.float32)

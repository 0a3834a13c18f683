"""Whether the visible part of a card ends where the card does.

A strip of table may look like part of a face: a dark cloth beside a pale mat is like a face with a dark band. But
across the border of a real card the picture changes, and elsewhere it goes on as it was.
"""

from __future__ import annotations

import numpy as np

from companion.vision.boxes import Floats, Pixels
from companion.vision.opencv import cv2

BESIDE_MM = 2.0
"""Distance from a border at which the picture is compared on both sides."""

POINTS, PART = 25, 6
"""Number of points along a side, and of those compared at a time: the ground need not be uniform."""

CORNER_SHARE = 0.08
"""Share of a side left out at each end: corners are round."""

LEAST_POINTS = 4
LEAST_STEP = 2.5
"""Minimum change across the border of a card, in steps of Lab."""

SMOOTH_PX = 0.8


def smoothed(fine: Pixels) -> Pixels:
    """Return a picture `(h, w, 3) float32` Lab as `share_that_ends` takes it."""
    return np.asarray(cv2.GaussianBlur(fine, (0, 0), SMOOTH_PX), np.float32)


def share_that_ends(smooth: Pixels, shown: Pixels, corners: Floats, px_per_mm: float) -> float:
    """Return the share of a card's visible borders across which the picture changes, 0 … 1; 0 where none is visible.

    `corners` `(4, 2)` in pixels, in order around the card; `shown` `(h, w) float32` is 0 where other cards lie over it.
    """
    seen = []
    middle, along = corners.mean(axis=0), np.linspace(CORNER_SHARE, 1 - CORNER_SHARE, POINTS)[:, None]
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        outwards = (start + end) / 2 - middle
        outwards *= BESIDE_MM * px_per_mm / max(float(np.hypot(*outwards)), 1e-6)
        points = start + (end - start) * along
        seen.append(_side(smooth, shown, points - outwards, points + outwards))
    visible = sum(count for _, count in seen)
    return sum(count for step, count in seen if step >= LEAST_STEP) / visible if visible else 0.0


def _side(smooth: Pixels, shown: Pixels, inside: Floats, outside: Floats) -> tuple[float, int]:
    """Return how much the picture changes across one side, in steps of Lab, and in how many points it is visible."""
    free = (_at(shown, inside) > 0.5) & (_at(shown, outside) > 0.5)
    if np.count_nonzero(free) < LEAST_POINTS:
        return 0.0, 0
    steps = (_at(smooth, inside) - _at(smooth, outside))[free]
    parts = np.array_split(steps, max(1, len(steps) // PART))
    return float(np.mean([np.linalg.norm(part.mean(axis=0)) for part in parts])), len(steps)


def _at(picture: Pixels, points: Floats) -> Pixels:
    """Return the picture at points `(n, 2)`: 0 beyond its edges."""
    x, y = (points[:, axis].astype(np.float32)[None] for axis in (0, 1))
    return np.asarray(cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)[0], np.float32)

"""Did anything change? The cheapest look at a frame there is: every eighth pixel of its green.

An idle table costs this and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from companion.vision.boxes import Image
from companion.vision.opencv import cv2

STEP_PX = 8
CHANGED_LEVELS = 16
"""Difference from the frame before from which a sample has changed: sensor noise stays below."""

MIN_SAMPLES = 8
"""Minimum size of a changed patch: a smaller one is noise, a finger covers more."""

EVERYTHING_SHARE = 0.8
"""Share of changed samples from which the light or the camera has changed."""


class Motion(StrEnum):
    """What a frame is against the one before."""

    STILL = "still"
    MOVING = "moving"
    EVERYTHING = "everything"
    """Light or camera changed (or this is the first frame): nothing remembered can be compared."""


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """What is remembered of the last frame, and what it showed."""

    sample: Image | None = None
    """Its green, every eighth pixel each way, smoothed: `(H/8, W/8) uint8`."""

    motion: Motion = Motion.EVERYTHING


def update(gate: Gate, image: Image) -> Gate:
    """Return the gate after a frame `(H, W, 3) uint8 BGR`."""
    sample = cv2.blur(np.ascontiguousarray(image[::STEP_PX, ::STEP_PX, 1]), (3, 3))
    if gate.sample is None or gate.sample.shape != sample.shape:
        return Gate(sample)
    changed = cv2.threshold(cv2.absdiff(sample, gate.sample), CHANGED_LEVELS, 255, cv2.THRESH_BINARY)[1]
    if cv2.countNonZero(changed) > EVERYTHING_SHARE * changed.size:
        return Gate(sample)
    _, _, stats, _ = cv2.connectedComponentsWithStats(changed, connectivity=8)
    is_moving = (stats[1:, cv2.CC_STAT_AREA] >= MIN_SAMPLES).any()
    return Gate(sample, Motion.MOVING if is_moving else Motion.STILL)

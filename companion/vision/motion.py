"""Did anything change? The cheapest look at a frame there is: every eighth pixel of its green.

An idle table costs this and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Box, Image
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
    still_frames: int = 0
    """For how many frames in a row nothing has changed."""

    boxes: tuple[Box, ...] = ()
    """Where it changed, in pixels of the frame."""


def update(gate: Gate, image: Image) -> Gate:
    """Return the gate after a frame `(H, W, 3) uint8 BGR`."""
    sample = cv2.blur(np.ascontiguousarray(image[::STEP_PX, ::STEP_PX, 1]), (3, 3))
    if gate.sample is None or gate.sample.shape != sample.shape:
        return Gate(sample)
    changed = cv2.threshold(cv2.absdiff(sample, gate.sample), CHANGED_LEVELS, 255, cv2.THRESH_BINARY)[1]
    count = cv2.countNonZero(changed)
    if count > EVERYTHING_SHARE * changed.size:
        return Gate(sample)
    boxes = _patches(changed) if count >= MIN_SAMPLES else ()
    if boxes:
        return Gate(sample, Motion.MOVING, 0, boxes)
    return Gate(sample, Motion.STILL, gate.still_frames + 1)


def _patches(changed: npt.NDArray[np.uint8]) -> tuple[Box, ...]:
    """Return the changed patches that are more than noise."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(changed, connectivity=8)
    return tuple(
        Box(int(x) * STEP_PX, int(y) * STEP_PX, int(x + w) * STEP_PX, int(y + h) * STEP_PX)
        for x, y, w, h, area in stats[1:]
        if area >= MIN_SAMPLES
    )

"""Detect motion between frames by every eighth green pixel, and compare parts of pictures by their print."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from companion.vision.boxes import Box, Floats, Image, Mask, Pixels, around, cut_out
from companion.vision.opencv import cv2

STEP_PX = 8
CHANGED_LEVELS = 16  # minimum change; sensor noise stays below
MIN_SAMPLES = 8  # minimum changed patch, between noise and a finger
EVERYTHING_SHARE = 0.8  # changed share that means another light or camera
PRINT, FEW_PX = 0.12, 60
"""Fewer than `FEW_PX` pixels whose print differs by more than `PRINT` are noise or a shadow's edge.

At 1.5 to 2 pixels per mm, a card on an equal card changes hundreds (films of drawn and scanned decks). A pastel card on
a dim bare zone changes 140, a resting black card in a sixth of full light 50.
"""

BLUR_PX, AROUND_PX = 3, 31  # sizes of a spot and its surroundings, whose contrast is print
DIM_LEVELS = 100  # minimum divisor, against noise in dark pictures


class Motion(StrEnum):
    """Change since the frame before."""

    STILL = "still"
    MOVING = "moving"
    EVERYTHING = "everything"  # light or camera changed, or first frame: nothing can be compared


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """The motion detector's state after a frame."""

    sample: Image | None = None  # green, every eighth pixel, smoothed: `(H/8, W/8) uint8`
    motion: Motion = Motion.EVERYTHING


def update(gate: Gate, image: Image) -> Gate:
    """Return the state after a frame `(H, W, 3) uint8 BGR`."""
    sample = cv2.blur(np.ascontiguousarray(image[::STEP_PX, ::STEP_PX, 1]), (3, 3))
    if gate.sample is None or gate.sample.shape != sample.shape:
        return Gate(sample)
    changed = cv2.threshold(cv2.absdiff(sample, gate.sample), CHANGED_LEVELS, 255, cv2.THRESH_BINARY)[1]
    if cv2.countNonZero(changed) > EVERYTHING_SHARE * changed.size:
        return Gate(sample)
    _, _, stats, _ = cv2.connectedComponentsWithStats(changed, connectivity=8)
    is_moving = (stats[1:, cv2.CC_STAT_AREA] >= MIN_SAMPLES).any()
    return Gate(sample, Motion.MOVING if is_moving else Motion.STILL)


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A remembered part of a gray picture."""

    box: Box
    look: Image
    inside: Mask  # which pixels count

    @classmethod
    def of(cls, gray: Image, corners: Floats) -> Patch:
        """Return the part of `gray`, `(h, w) uint8`, inside corners `(4, 2)`."""
        box = around(corners).within(gray.shape[1], gray.shape[0])
        look, inside = cut_out(gray, corners, box)
        return cls(box, look.copy(), inside)

    def is_in(self, gray: Image, but: Iterable[Box] = ()) -> bool:
        """True if a picture shows the same print there in any light, outside boxes `but`."""
        now = self.box.of(gray)
        if now.shape != self.look.shape or not now.size:
            return False
        apart = cv2.absdiff(_print_of(now), _print_of(self.look)) > PRINT
        apart &= self.inside
        for box in but:
            left, top = box.left - self.box.left, box.top - self.box.top
            here = Box(left, top, left + box.right - box.left, top + box.bottom - box.top)
            here.within(apart.shape[1], apart.shape[0]).of(apart)[:] = False
        return int(np.count_nonzero(apart)) < FEW_PX


def _print_of(part: Image) -> Pixels:
    """Return each pixel's contrast relative to its surroundings' brightness, `(h, w)`."""
    levels = part.astype(np.float32)
    around_it = cv2.blur(levels, (AROUND_PX, AROUND_PX))
    return (cv2.blur(levels, (BLUR_PX, BLUR_PX)) - around_it) / np.maximum(around_it, DIM_LEVELS)

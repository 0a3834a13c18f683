"""How a part of the picture looked, to tell whether anything has come to lie there since."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from companion.vision.boxes import Box, Image, whole
from companion.vision.opencv import cv2

LEVELS, FEW_PX = 16, 12
"""Fewer pixels than this that differ by more levels are noise: a card laid on one like it shows along its print."""

BLUR_PX = 3
SAMPLED_PX = 7
"""The light is compared on each pixel of a grid so wide."""


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A part of a grey picture."""

    box: Box
    look: Image

    @classmethod
    def of(cls, gray: Image, box: Box) -> Patch:
        """The part of a picture `(h, w) uint8` inside a box."""
        inside = box.within(whole(gray).right, whole(gray).bottom)
        return cls(inside, inside.of(gray).copy())

    def is_in(self, gray: Image) -> bool:
        """Whether a picture looks the same there, in brighter or darker light."""
        now = self.box.of(gray)
        if now.shape != self.look.shape or not now.size:
            return False
        sampled, before = (part[::SAMPLED_PX, ::SAMPLED_PX].astype(np.float32) for part in (now, self.look))
        share = float(np.median(sampled / np.maximum(before, 1.0)))
        then = cv2.blur(cv2.convertScaleAbs(self.look, alpha=share), (BLUR_PX, BLUR_PX))
        apart = cv2.absdiff(cv2.blur(now, (BLUR_PX, BLUR_PX)), then)
        return int(np.count_nonzero(apart > LEVELS)) < FEW_PX

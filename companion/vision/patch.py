"""The look of a part of the picture, to tell whether anything has come to lie there since."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Box, Image, whole
from companion.vision.opencv import cv2

LEVELS, FEW_PX = 20, 60
"""Fewer pixels than this whose print differs by more levels are noise, or a shadow's edge: a card that is laid on one
like it differs on hundreds (measured on films of drawn and scanned decks, 1.5 to 2 pixels a millimetre)."""

BLUR_PX, AROUND_PX = 3, 31
"""Print is what differs from its surroundings of so many pixels: those are brighter or darker in other light."""


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A part of a grey picture."""

    box: Box
    look: Image

    @classmethod
    def of(cls, gray: Image, box: Box) -> Patch:
        """Return the part of a picture `(h, w) uint8` inside a box."""
        inside = box.within(whole(gray).right, whole(gray).bottom)
        return cls(inside, inside.of(gray).copy())

    def is_in(self, gray: Image) -> bool:
        """True if a picture shows the same print there, in brighter or darker light."""
        now = self.box.of(gray)
        if now.shape != self.look.shape or not now.size:
            return False
        apart = cv2.absdiff(_print_of(now), _print_of(self.look))
        return int(np.count_nonzero(apart > LEVELS)) < FEW_PX


def _print_of(part: Image) -> npt.NDArray[np.int16]:
    """Return what stands out from its surroundings, and by how many levels."""
    levels = part.astype(np.int16)
    return cv2.blur(levels, (BLUR_PX, BLUR_PX)) - cv2.blur(levels, (AROUND_PX, AROUND_PX))

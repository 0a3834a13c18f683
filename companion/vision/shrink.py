"""A picture made smaller, of whatever shape it is."""

from __future__ import annotations

from companion.vision.boxes import Image
from companion.vision.opencv import cv2


def shrunk(image: Image, share: float) -> Image:
    """A picture `(H, W)` or `(H, W, 3)` at that share of its size, at least a pixel high and wide; never enlarged."""
    if share >= 1:
        return image
    height, width = (max(1, round(side * share)) for side in image.shape[:2])
    if min(image.shape[:2]) * share >= 1:
        # By the share itself, and not by the whole pixels that come of it: what is found is to be scaled back by it.
        return cv2.resize(image, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
    return cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)

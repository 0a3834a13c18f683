"""Whether two pictures show the same card, even if one is turned, lighter, or cut a little differently.

The faces of some decks share their drawing and differ in a number alone: the most different spot decides.
"""

from __future__ import annotations

import numpy as np

from companion.vision.boxes import Image, Pixels, lab
from companion.vision.opencv import cv2

SMALL_PX = (72, 112)  # width and height of the pictures compared
ALIKE = 0.98  # minimum correlation of two pictures of the same card
SAME_SPOT = 4.0
"""Maximum difference between pictures of the same card, in Lab over a spot a tenth of the card's width.

Measured on ten decks: two faces that share their drawing differ by 5.2 or more, the same scan saved twice by 1 to 3.
"""

_RIM = 0.04  # share of a picture left out at each edge: where it is cut differs most
_SPOT_PX = SMALL_PX[0] // 10
_SHIFT_PX = 2  # maximum shift of a spot to fit, in pixels


def small(picture: Image) -> Pixels:
    """Return a card's picture `(H, W, 3) uint8 BGR` as `is_same_card` compares it: `(112, 72, 3)` of Lab."""
    height, width = picture.shape[:2]
    x, y = round(_RIM * width), round(_RIM * height)
    inner = cv2.resize(picture[y : height - y, x : width - x], SMALL_PX, interpolation=cv2.INTER_AREA)
    return cv2.GaussianBlur(lab(inner), (0, 0), 0.8)


def is_same_card(one: Pixels, other: Pixels) -> bool:
    """True if two pictures show the same card, the one perhaps upside down."""
    ways = (other, np.ascontiguousarray(other[::-1, ::-1]))
    return any(likeness(one, way) >= ALIKE and worst_spot(one, way) <= SAME_SPOT for way in ways)


def likeness(one: Pixels, other: Pixels) -> float:
    """Return the correlation of all colours of two pictures."""
    a, b = one - one.mean(axis=(0, 1)), other - other.mean(axis=(0, 1))
    return float((a * b).sum() / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-6))


def worst_spot(one: Pixels, other: Pixels) -> float:
    """Return the greatest difference between two pictures, each spot moved to where it fits best."""
    # The other picture with the brightness, contrast and tint of the one.
    a, b = one.reshape(-1, 3), other.reshape(-1, 3)
    shared = ((a - a.mean(axis=0)) * (b - b.mean(axis=0))).mean(axis=0)
    gain = np.clip(shared / (b.var(axis=0) + 4), 0.6, 1.6)
    level: Pixels = ((other - b.mean(axis=0)) * gain + a.mean(axis=0)).astype(np.float32)
    shade = cv2.GaussianBlur(one - level, (0, 0), 16)
    least = np.full(one.shape[:2], np.inf, np.float32)
    for dx in range(-_SHIFT_PX, _SHIFT_PX + 1):
        for dy in range(-_SHIFT_PX, _SHIFT_PX + 1):
            off = np.linalg.norm(one - np.roll(level, (dy, dx), (0, 1)) - shade, axis=2)
            least = np.minimum(least, cv2.boxFilter(off, -1, (_SPOT_PX, _SPOT_PX)))
    return float(least[4:-4, 4:-4].max())

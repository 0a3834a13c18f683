"""Whether two pictures show the same card, though one may be turned, lighter, or cut a little otherwise.

The faces of some decks share their drawing and differ in a number alone, so that all of a picture counts for little: it
is its most different spot that tells.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Image, lab
from companion.vision.opencv import cv2

SMALL_PX = (72, 112)
"""Width and height at which pictures are compared."""

ALIKE = 0.98
"""Minimum correlation of two pictures of the same card."""

SAME_SPOT = 4.0
"""Pictures of the same card differ nowhere by more, in Lab over a spot of a tenth of the card's width.

Measured on ten decks: two faces that share their drawing differ by 5.2 or more, the same scan saved twice by 1 to 3.
"""

_RIM = 0.04
"""The share of a picture at each edge that is left out: where it is cut differs most."""

_SPOT_PX = SMALL_PX[0] // 10
_SHIFT_PX = 2
"""Maximum distance to which a spot is moved to fit, in pixels."""

Small = npt.NDArray[np.float32]


def small(picture: Image) -> Small:
    """Return a card's picture `(H, W, 3) uint8 BGR` as `is_same_card` compares it: `(112, 72, 3)` of Lab."""
    height, width = picture.shape[:2]
    x, y = round(_RIM * width), round(_RIM * height)
    inner = cv2.resize(picture[y : height - y, x : width - x], SMALL_PX, interpolation=cv2.INTER_AREA)
    return cv2.GaussianBlur(lab(inner), (0, 0), 0.8)


def is_same_card(one: Small, other: Small) -> bool:
    """True if two pictures show the same card, the one perhaps upside down."""
    ways = (other, np.ascontiguousarray(other[::-1, ::-1]))
    return any(likeness(one, way) >= ALIKE and worst_spot(one, way) <= SAME_SPOT for way in ways)


def likeness(one: Small, other: Small) -> float:
    """Return the correlation of all colours of two pictures."""
    a, b = one - one.mean(axis=(0, 1)), other - other.mean(axis=(0, 1))
    return float((a * b).sum() / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-6))


def worst_spot(one: Small, other: Small) -> float:
    """Return how much two pictures differ where they differ most, each spot moved to where it fits best."""
    # The other picture with the brightness, contrast and tint of the one.
    a, b = one.reshape(-1, 3), other.reshape(-1, 3)
    shared = ((a - a.mean(axis=0)) * (b - b.mean(axis=0))).mean(axis=0)
    gain = np.clip(shared / (b.var(axis=0) + 4), 0.6, 1.6)
    level: Small = ((other - b.mean(axis=0)) * gain + a.mean(axis=0)).astype(np.float32)
    shade = cv2.GaussianBlur(one - level, (0, 0), 16)
    least = np.full(one.shape[:2], np.inf, np.float32)
    for dx in range(-_SHIFT_PX, _SHIFT_PX + 1):
        for dy in range(-_SHIFT_PX, _SHIFT_PX + 1):
            off = np.linalg.norm(one - np.roll(level, (dy, dx), (0, 1)) - shade, axis=2)
            least = np.minimum(least, cv2.boxFilter(off, -1, (_SPOT_PX, _SPOT_PX)))
    return float(least[4:-4, 4:-4].max())

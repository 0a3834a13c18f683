"""Registration of pictures of faces that share a drawing.

No two cards are cut out exactly alike. Where two faces differ in a figure alone, the edges of what they share would
otherwise differ more than the figures do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from companion.vision.boxes import Image, Pixels
from companion.vision.opencv import cv2

_WIDTH_PX = 114
"""Width of the pictures compared, two pixels a millimetre of most cards: enough for a tenth of one."""

_LIKE_ENOUGH, _SAME_DRAWING = 0.55, 0.84
"""Minimum correlation of pictures that share a drawing, before and after registration."""

_MOST_OFF, _LITTLE_OFF, _GAIN = 0.05, 0.02, 0.04
"""Maximum shift in card widths; beyond the second registration must raise the correlation by the third."""

_STOP = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-4)


def laid_on_one_another(pictures: Sequence[Image]) -> list[Image]:
    """Return pictures `(h, w, 3) uint8 BGR`, each moved onto the first that shares its drawing, if any does."""
    grays = [_small(picture) for picture in pictures]
    first: list[int] = []
    laid: list[Image] = []
    for number, picture in enumerate(pictures):
        found = ((other, onto) for other in first if (onto := _onto(grays[other], grays[number])) is not None)
        other, onto = next(found, (number, None))
        if onto is None:
            first.append(number)
            laid.append(picture)
        else:
            laid.append(_moved(picture, onto, grays[other].shape[1], pictures[other].shape[:2]))
    return laid


def _small(picture: Image) -> Pixels:
    height = round(_WIDTH_PX * picture.shape[0] / picture.shape[1])
    small = cv2.resize(picture, (_WIDTH_PX, height), interpolation=cv2.INTER_AREA)
    return cv2.GaussianBlur(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY).astype(np.float32), (0, 0), 0.8)


def _onto(still: Pixels, moving: Pixels) -> Pixels | None:
    """Return the homography `(3, 3)` from one picture to the other; None where they share no drawing."""
    same_size = still.shape == moving.shape
    before = float(cv2.matchTemplate(still, moving, cv2.TM_CCOEFF_NORMED)[0, 0]) if same_size else 0.0
    if before < _LIKE_ENOUGH:
        return None
    try:
        likeness, onto = cv2.findTransformECC(still, moving, np.eye(3, dtype=np.float32), cv2.MOTION_HOMOGRAPHY, _STOP)
    except cv2.error:
        return None
    height, width = still.shape
    corners = np.float32([(0, 0), (width, 0), (width, height), (0, height)]).reshape(-1, 1, 2)
    off = float(np.abs(cv2.perspectiveTransform(corners, onto) - corners).max()) / width
    is_near = off <= _LITTLE_OFF or (off <= _MOST_OFF and likeness - before >= _GAIN)
    return onto if likeness >= _SAME_DRAWING and is_near else None


def _moved(picture: Image, onto: Pixels, width_px: int, size: tuple[int, ...]) -> Image:
    """Return a picture moved by a homography between pictures `width_px` wide, in `size`, (height, width)."""
    height, width = size
    to_small = np.diag([width_px / width, width_px / width, 1.0])
    from_small = np.diag([picture.shape[1] / width_px, picture.shape[1] / width_px, 1.0])
    how = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    matrix = from_small @ onto.astype(np.float64) @ to_small
    return cv2.warpPerspective(picture, matrix, (width, height), flags=how, borderMode=cv2.BORDER_REPLICATE)

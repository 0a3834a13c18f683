"""Distinguish a lamp's reflection, which hides print, from bright paper."""

from __future__ import annotations

import numpy as np

from companion.vision.boxes import Floats, Image, Mask, around, cut_out
from companion.vision.opencv import cv2

SATURATED = 250  # minimum level
LEAST_SHARE = 0.004  # minimum patch, relative to its zone
WIDE_SHARE = 0.4  # maximum relative size of a reflection; sunlight is larger
PRINT_SHARE, PRINT_LEVEL = 0.015, 150  # print is visible if that share of a patch's core is darker
CORE = 0.6  # inner part of a patch; reflections fade at the rim
STANDS_OUT = 25.0  # minimum difference from the surroundings
_JOIN = np.ones((5, 5), np.uint8)
_ROOM = 0.5  # margin to follow patches, relative to the zone


def shine_of(gray: Image, quad: Floats) -> tuple[float, float]:
    """Return the saturated shares of a zone, corners `(4, 2)` px, on a picture `(H, W) uint8`.

    The first is due to a lamp's reflection, the second to bright light that hides print.
    """
    box = around(quad)
    room = round(_ROOM * min(box.right - box.left, box.bottom - box.top))
    box = box.padded(room).within(gray.shape[1], gray.shape[0])
    part, in_zone = cut_out(gray, quad, box)
    white = part >= SATURATED
    area, glare, faded = max(_count(in_zone), 1), 0.0, 0.0
    if _count(white & in_zone) < LEAST_SHARE * area:
        return 0.0, 0.0
    joined = cv2.morphologyEx(white.astype(np.uint8), cv2.MORPH_CLOSE, _JOIN)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(joined)
    for number in range(1, count):
        size = stats[number, cv2.CC_STAT_AREA] / area
        if size < LEAST_SHARE:
            continue
        patch = labels == number
        inside = _count(patch & white & in_zone) / area
        if not inside or _shows_print(part, patch):
            continue
        if size < WIDE_SHARE and _stands_out(part, in_zone, patch):
            glare += inside
        else:
            faded += inside
    return glare, faded


def _count(pixels: Mask) -> int:
    # JSON cannot encode NumPy numbers (since 2.4).
    return int(np.count_nonzero(pixels))


def _shows_print(part: Image, pixels: Mask) -> bool:
    """True if print shows in a patch, as in bright light but not in a reflection."""
    places = np.argwhere(pixels)[:, ::-1].astype(np.int32)
    hull = cv2.convexHull(places).reshape(-1, 2).astype(np.float64)
    middle = places.mean(axis=0)
    core = np.zeros(part.shape, np.uint8)
    cv2.fillConvexPoly(core, np.int32(np.round(middle + CORE * (hull - middle))), 1)
    return float((part[core > 0] < PRINT_LEVEL).mean()) >= PRINT_SHARE


def _stands_out(part: Image, zone: Mask, pixels: Mask) -> bool:
    """True if `zone` around the patch `pixels` is at least `STANDS_OUT` levels below saturation."""
    around_it = cv2.dilate(pixels.astype(np.uint8), _JOIN, iterations=3) == 0
    rest = part[zone & around_it]
    return not rest.size or float(np.percentile(rest, 75)) <= SATURATED - STANDS_OUT

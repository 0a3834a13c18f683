"""A lamp's reflection told from bright paper: both are white in white, and only one of them takes the print away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Image, around
from companion.vision.opencv import cv2

SATURATED = 250
"""Grey level from which on a pixel is white in white."""

LEAST_SHARE = 0.004
"""Smaller patches, against their zone, are specks."""

WIDE_SHARE = 0.4
"""A patch so large, against its zone, is light on the table, such as the sun's: a lamp is mirrored smaller."""

PRINT_SHARE, PRINT_LEVEL = 0.015, 150
"""So much of a patch's core being darker than this level is print that can still be seen."""

CORE = 0.6
"""The inner part of a patch, along each way: on its rim a reflection is weak."""

STANDS_OUT = 25.0
"""By so many grey levels paper beside a reflection is darker than it."""

_JOIN = np.ones((5, 5), np.uint8)
_ROOM = 0.5
"""How far beyond its zone a patch is followed, in the zone's size."""


@dataclass(frozen=True, slots=True)
class Shine:
    """What of a zone is white in white, as shares of it."""

    glare: float = 0.0
    """By a lamp's reflection."""

    faded: float = 0.0
    """By bright light all over it, where no print shows."""


NO_SHINE = Shine()


@dataclass(frozen=True, slots=True)
class _Patch:
    """A patch that is white in white: its pixels in the box looked at, and what it covers of the zone."""

    pixels: npt.NDArray[np.bool_]
    inside: float
    """Share of the zone that is white in white by it."""

    size: float
    """All of it, against the zone."""


def shine_of(gray: Image, quad: npt.NDArray[np.float64]) -> Shine:
    """What shines in a zone with these corners, `(4, 2)` pixels, of a picture `(H, W) uint8`."""
    box = around(quad)
    room = round(_ROOM * min(box.right - box.left, box.bottom - box.top))
    box = box.padded(room).within(gray.shape[1], gray.shape[0])
    part = np.ascontiguousarray(box.of(gray))
    zone = np.zeros(part.shape, np.uint8)
    if not zone.size:
        return NO_SHINE
    cv2.fillConvexPoly(zone, np.int32(np.round(quad - (box.left, box.top))), 1)
    glare = faded = 0.0
    for patch in _patches(part, zone > 0):
        if _shows_print(part, patch.pixels):
            continue
        if patch.size < WIDE_SHARE and _stands_out(part, zone > 0, patch.pixels):
            glare += patch.inside
        else:
            faded += patch.inside
    return Shine(glare, faded)


def _patches(part: Image, zone: npt.NDArray[np.bool_]) -> list[_Patch]:
    """The patches that lie in a zone at least in part."""
    area = max(int(zone.sum()), 1)
    white = part >= SATURATED
    if np.count_nonzero(white & zone) < LEAST_SHARE * area:
        return []
    joined = cv2.morphologyEx(white.astype(np.uint8), cv2.MORPH_CLOSE, _JOIN)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(joined)
    large = [n for n in range(1, count) if stats[n, cv2.CC_STAT_AREA] >= LEAST_SHARE * area]
    patches = []
    for number in large:
        pixels = labels == number
        inside = float(np.count_nonzero(pixels & white & zone) / area)
        patches.append(_Patch(pixels, inside, np.count_nonzero(pixels) / area))
    return [patch for patch in patches if patch.inside > 0]


def _shows_print(part: Image, pixels: npt.NDArray[np.bool_]) -> bool:
    """Whether print is to be seen within a patch: light on paper leaves it dark, a mirrored lamp does not."""
    places = np.argwhere(pixels)[:, ::-1].astype(np.int32)
    hull = cv2.convexHull(places).reshape(-1, 2).astype(np.float64)
    middle = places.mean(axis=0)
    core = np.zeros(part.shape, np.uint8)
    cv2.fillConvexPoly(core, np.int32(np.round(middle + CORE * (hull - middle))), 1)
    return float((part[core > 0] < PRINT_LEVEL).mean()) >= PRINT_SHARE


def _stands_out(part: Image, zone: npt.NDArray[np.bool_], pixels: npt.NDArray[np.bool_]) -> bool:
    """Whether what is around a patch is not nearly so bright."""
    around_it = cv2.dilate(pixels.astype(np.uint8), _JOIN, iterations=3) == 0
    rest = part[zone & around_it]
    return not rest.size or float(np.percentile(rest, 75)) <= SATURATED - STANDS_OUT

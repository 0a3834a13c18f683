"""Distinguish a lamp's reflection, which hides print, from bright paper.

Zones and cards have a rule each: that for zones refuses 6 of 150 ordinary photographs of cards without a reflection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from companion.vision.boxes import Floats, Image, Mask, around, cut_out, slopes
from companion.vision.opencv import cv2

SATURATED = 250  # minimum level
LEAST_SHARE = 0.004  # minimum patch, relative to its zone
WIDE_SHARE = 0.4  # maximum relative size of a reflection; sunlight is larger
PRINT_SHARE, PRINT_LEVEL = 0.015, 150  # print is visible if that share of a patch's core is darker
CORE = 0.6  # inner part of a patch; reflections fade at the rim
STANDS_OUT = 25.0  # minimum difference from the surroundings
_JOIN = np.ones((5, 5), np.uint8)
_ROOM = 0.5  # margin to follow patches, relative to the zone


@dataclass(frozen=True, slots=True)
class CardReflections:
    """What counts as a reflection on a card's print, at 6 px/mm.

    On rendered cards, 38 of 65 reflections that hide 3 % of the card are found, and none on 140 cards without one. Weak
    ones on nearly white print are missed: overexposed paper looks alike.
    """

    share: float = 0.025  # maximum share of a usable card under reflections; the least patch has a third of it
    fading_px: int = 25  # width of the fading rim
    fades: tuple[tuple[float, int], ...] = ((14.0, 200), (10.0, 215))
    """Maximum slope there in levels/px, and maximum level of the print beside it: either pair."""
    least_fading: float = 0.15  # minimum share of such a rim


ON_CARDS = CardReflections()


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
    for patch, size in _patches(cv2.morphologyEx(white.astype(np.uint8), cv2.MORPH_CLOSE, _JOIN), area, LEAST_SHARE):
        inside = _count(patch & white & in_zone) / area
        if not inside or _shows_print(part, patch):
            continue
        if size < WIDE_SHARE and _stands_out(part, in_zone, patch):
            glare += inside
        else:
            faded += inside
    return glare, faded


def reflections_on(card: Image) -> tuple[float, list[Floats]]:
    """Return the share of a cut-out card `(H, W) uint8`, 6 px/mm, where reflections hide print, and their outlines.

    Outlines are `(n, 2)` px. Reflections are saturated patches that fade out on print; saturated paper, where they hide
    nothing, ends sharply.
    """
    white = cv2.morphologyEx((card >= SATURATED).astype(np.uint8), cv2.MORPH_OPEN, _JOIN)
    slope = cv2.magnitude(*slopes(cv2.GaussianBlur(card, (0, 0), 1.0)))
    beside = np.ones([ON_CARDS.fading_px] * 2, np.uint8)
    steepest, darkest = cv2.dilate(slope, beside), cv2.erode(card, beside)
    fades = np.any([(steepest < most) & (darkest < paper) for most, paper in ON_CARDS.fades], axis=0)
    share, outlines = 0.0, []
    for patch, size in _patches(white, card.size, ON_CARDS.share / 3):
        pixels = patch.astype(np.uint8)
        edge = (cv2.dilate(pixels, np.ones((3, 3), np.uint8)) - pixels) > 0
        edge[:6], edge[-6:], edge[:, :6], edge[:, -6:] = False, False, False, False
        if edge.sum() > 20 and float(fades[edge].mean()) > ON_CARDS.least_fading:
            share += size
            (outline, *_), _ = cv2.findContours(cv2.dilate(pixels, _JOIN), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
            outlines.append(cv2.approxPolyDP(outline, 1.0, closed=True).reshape(-1, 2).astype(np.float64))
    return share, sorted(outlines, key=lambda outline: -cv2.contourArea(np.float32(outline)))


def _patches(white: Image, area_px: int, least: float) -> Iterator[tuple[Mask, float]]:
    """Yield connected patches of `white`, and their sizes relative to `area_px` if not below `least`."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats(white)
    for number in range(1, count):
        size = stats[number, cv2.CC_STAT_AREA] / area_px
        if size >= least:
            yield labels == number, float(size)


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

"""Find the corners of cards with stickers: a sticker's place on its card is learned from cards that lie alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from companion.vision.boxes import Floats
from companion.vision.mats.homography import axes_of
from companion.vision.mats.printed_ground import LIMITS, PX_PER_MM, PrintedGround
from companion.vision.opencv import cv2
from companion.vision.view import STICKER, Sighting


@dataclass(frozen=True)
class ExtentLimits:
    """Limits in mm, set on the tables of `python -m tests.bench.finished`."""

    short: tuple[float, float] = (52.0, 64.0)  # range of a card's short side
    long: tuple[float, float] = (82.0, 94.0)  # range of its long side
    full: float = 0.88  # minimum share of its rectangle that a card alone hides
    gap: float = 5.0  # pale print that has the ground's color, closed
    thick: float = 14.0  # printed lines and words are thinner
    scatter: float = 9.0  # maximum distance of a sticker from its usual place
    askew_deg: float = 15.0  # maximum angle between sticker and card, quarter turns aside


EXTENTS = ExtentLimits()


class Glued(NamedTuple):
    """A card in its sticker's frame: its center and size in mm, axis for axis."""

    centre: Floats
    size: Floats


def usual(alone: Sequence[Glued]) -> Glued | None:
    """Return a sticker's usual place on its card, from cards that lie alone; None without any."""
    if not alone:
        return None
    middle = np.median([one.centre for one in alone], axis=0)
    near = [one for one in alone if np.hypot(*(one.centre - middle)) <= EXTENTS.scatter]
    if not near:
        return None
    return Glued(np.median([one.centre for one in near], axis=0), np.median([one.size for one in near], axis=0))


def corners_of(ground: PrintedGround, one: Sighting, glued: Glued | None) -> Floats | None:
    """Return the corners `(4, 2)` px of a card on a mat; None if its sticker's place is unknown."""
    if one.corners_px is None or (one.by == STICKER and glued is None):
        return None
    if one.by != STICKER or glued is None:
        return np.array(one.corners_px)
    origin, axes = axes_of(ground.fit, one.corners_px)
    corners = glued.centre + np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * glued.size / 2
    return ground.fit.to_px(origin + corners @ axes)


def alone(ground: PrintedGround, seen: Sequence[Sighting]) -> Iterator[Glued]:
    """Yield the cards that hide a rectangle of a card's size, with one sticker."""
    stickers = [one for one in seen if one.by == STICKER]
    if not stickers:
        return
    filled = np.uint8(ground.hidden & ground.zones(LIMITS.line_mm))
    for how, width_mm in ((cv2.MORPH_CLOSE, EXTENTS.gap), (cv2.MORPH_OPEN, EXTENTS.thick)):
        width = round(width_mm * PX_PER_MM)
        filled = cv2.morphologyEx(filled, how, np.ones((width, width), np.uint8))
    for outline in cv2.findContours(filled, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]:
        here = [one for one in stickers if _holds(outline, ground.fit.to_mm([one.centre_px])[0])]
        middle, sides, turn = cv2.minAreaRect(outline)
        short, long = sorted(side / PX_PER_MM for side in sides)
        is_card = EXTENTS.short[0] <= short <= EXTENTS.short[1] and EXTENTS.long[0] <= long <= EXTENTS.long[1]
        if is_card and len(here) == 1 and cv2.contourArea(outline) >= EXTENTS.full * sides[0] * sides[1]:
            assert here[0].corners_px is not None, "stickers have corners"  # noqa: S101
            origin, axes = axes_of(ground.fit, here[0].corners_px)
            along = np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn))]) @ axes.T
            angle = np.degrees(np.arctan2(along[1], along[0]))
            if abs((angle + 45) % 90 - 45) <= EXTENTS.askew_deg:
                size = np.array(sides[::-1] if round(angle / 90) % 2 else sides) / PX_PER_MM
                yield Glued((np.array(middle) / PX_PER_MM - origin) @ axes.T, size)


def _holds(outline: Floats, at_mm: Floats) -> bool:
    return bool(cv2.pointPolygonTest(outline, (at_mm * PX_PER_MM).tolist(), False) >= 0)

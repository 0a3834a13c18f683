"""Which zone a card lies in where it lies on a border, and how sure that is.

Between two zones there is a strip of mat, and a card laid in a hurry may have its sticker there: it belongs to the
nearer zone, the less surely the nearer it is to the other. Where the draw pile lies none belongs that shows its face:
one with its middle there, half beside the discard pile, is discarded.
"""

from __future__ import annotations

import math
from dataclasses import replace

from companion.tabletop.mat_layout import DRAW_ZONE, Rect
from companion.vision.mats.localization import Mats
from companion.vision.view import Sighting

BESIDE_MM = 10.0  # maximum distance of a sticker from the zone that it belongs to, in millimetres
BESIDE_DRAW_MM = 25.0  # the same where the draw pile lies: a strip of the card is on the other pile's zone still
SURE_MM = 16.0  # difference of the distances to the two nearest zones from which on the zone is sure, in millimetres
LEAST_SHARE = 0.6  # share of the confidence in a sighting that is left in the middle between two zones


def settled(mats: Mats, sighting: Sighting) -> Sighting:
    """Return a sighting with the zone that it belongs to, less sure near the border to another."""
    near: list[tuple[float, str]] = []
    for fit in mats.fits:
        x_mm, y_mm = map(float, fit.to_mm([sighting.centre_px])[0])
        gaps = {f"{fit.layout.id}/{name}": _outside_mm(rect, x_mm, y_mm) for name, rect in fit.layout.zones.items()}
        most_mm = BESIDE_DRAW_MM if gaps.pop(DRAW_ZONE, math.inf) <= 0 else BESIDE_MM
        near += [(mm, zone) for zone, mm in gaps.items()] if any(mm <= most_mm for mm in gaps.values()) else []
    if not near:
        return replace(sighting, zone=None)
    (nearest_mm, zone), *others = sorted(near)
    clear = min(1.0, (others[0][0] - nearest_mm) / SURE_MM) if others else 1.0
    return replace(sighting, zone=zone, confidence=sighting.confidence * (LEAST_SHARE + (1 - LEAST_SHARE) * clear))


def _outside_mm(rect: Rect, x_mm: float, y_mm: float) -> float:
    """Return how far outside of a rectangle a point lies; below zero within it, as far as to its edge."""
    dx = max(rect.x_mm - x_mm, x_mm - rect.x_mm - rect.width_mm)
    dy = max(rect.y_mm - y_mm, y_mm - rect.y_mm - rect.height_mm)
    return math.hypot(max(dx, 0.0), max(dy, 0.0)) if max(dx, dy) > 0 else max(dx, dy)

"""Assign a card near a border to the nearer zone, with lower confidence.

A face-up card never belongs to the draw pile; half on the discard pile, it is discarded.
"""

from __future__ import annotations

import math
from dataclasses import replace

from companion.tabletop.mat_layout import DRAW_ZONE, Rect
from companion.vision.mats.localization import Mats
from companion.vision.view import Sighting

BESIDE_MM = 10.0  # maximum distance of a card's middle from its zone
BESIDE_DRAW_MM = 25.0  # the same on the draw pile's zone
SURE_MM = 16.0  # lead in distance that makes a zone certain
LEAST_SHARE = 0.6  # confidence left halfway between zones


def settled(mats: Mats, sighting: Sighting) -> Sighting:
    """Return a sighting with its zone (None if too far), less confident near another."""
    near: list[tuple[float, str]] = []
    for fit in mats.fits:
        x_mm, y_mm = map(float, fit.to_mm([sighting.middle_px])[0])
        gaps = {f"{fit.layout.id}/{name}": _outside_mm(rect, x_mm, y_mm) for name, rect in fit.layout.zones.items()}
        most_mm = BESIDE_DRAW_MM if gaps.pop(DRAW_ZONE, math.inf) <= 0 else BESIDE_MM
        near += [(mm, zone) for zone, mm in gaps.items()] if any(mm <= most_mm for mm in gaps.values()) else []
    if not near:
        return replace(sighting, zone=None)
    (nearest_mm, zone), *others = sorted(near)
    clear = min(1.0, (others[0][0] - nearest_mm) / SURE_MM) if others else 1.0
    return replace(sighting, zone=zone, confidence=sighting.confidence * (LEAST_SHARE + (1 - LEAST_SHARE) * clear))


def _outside_mm(rect: Rect, x_mm: float, y_mm: float) -> float:
    """Return a point's distance from a rectangle, negative inside."""
    dx = max(rect.x_mm - x_mm, x_mm - rect.x_mm - rect.width_mm)
    dy = max(rect.y_mm - y_mm, y_mm - rect.y_mm - rect.height_mm)
    return math.hypot(max(dx, 0.0), max(dy, 0.0)) if max(dx, dy) > 0 else max(dx, dy)

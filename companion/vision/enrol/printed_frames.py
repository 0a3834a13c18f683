"""Detect frames printed on a card, and how far the card extends beyond them.

The strip of card around a frame has one color and width. Unlike cloth, tables and mats, it ends at the card's corners.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from companion.vision.boxes import Floats, Pixels, Size, lengths
from companion.vision.enrol.quadrilaterals import Ground
from companion.vision.faces.border_profile import CORNER_SHARE
from companion.vision.mats.homography import through
from companion.vision.opencv import cv2

DIFFERENT = 3.0  # minimum Lab distance of different things; a strip varies by up to twice that

_STEP_MM, _BEYOND_MM = 0.25, 24.0  # search step outwards; search distance past a side's ends
_NARROWEST_MM, _WIDEST_MM = 1.0, 10.5  # width of a strip
_SMOOTH_MM, _ROUND_EDGE_MM = 7, 0.6  # averaging length along a side; width of the card's edge
_PEAK, _NEAR = 1.5, 5  # minimum Lab change per mm above the minimum within so many steps on both sides
_TILTS_MM = (-1.5, -0.75, 0.0, 0.75, 1.5)  # difference in width of a strip's ends
_LEAST_EDGE, _MOST_GOING_ON = 0.8, 0.6  # share of edge along a strip; share that continues past its corners
_WIDEST_RIM_MM, _MOST_GROWN = 14.0, 6  # maximum widening; maximum candidates


def strips(lab: Pixels, frame: Floats, size_mm: Size) -> tuple[float, ...]:
    """Return the strip widths around a frame `(4, 2)` px, clockwise from the top; 0 for none.

    Widths are in mm as if the frame measured `size_mm`. `lab` is `(H, W, 3)`.
    """
    w, h = size_mm
    to_px = to_pixels(frame, size_mm)
    away = np.arange(-1.0, _WIDEST_MM + 2.6, _STEP_MM)
    sides = (np.arange(-_BEYOND_MM, length + _BEYOND_MM + 0.5) for length in (w, h, w, h))
    seen = (beyond(lab, to_px, size_mm, side, away, along) for side, along in enumerate(sides))
    return tuple(_width(colours, away, length) for colours, length in zip(seen, (w, h, w, h), strict=True))


def to_pixels(frame: Floats, size_mm: Size) -> Floats:
    """Return the homography from a card's mm to its corners `(4, 2)` px."""
    w, h = size_mm
    return cv2.getPerspectiveTransform(np.float32([(0, 0), (w, 0), (w, h), (0, h)]), np.float32(frame)).astype(float)


def beyond(lab: Pixels, to_px: Floats, size_mm: Size, side: int, away: Floats, along: Floats) -> Pixels:
    """Return colors `away` mm outwards from a side and `along` mm from its left or upper end, `(n, m, 3)`."""
    w, h = size_mm
    off, across = np.meshgrid(away if side in (1, 2) else -away, along, indexing="ij")
    points = np.stack(((across, off + (h if side == 2 else 0)), (off + (w if side == 1 else 0), across))[side % 2], -1)
    return sampled(lab, through(to_px, points.reshape(-1, 2)).reshape(*off.shape, 2))


def sampled(lab: Pixels, points: Floats) -> Pixels:
    """Return interpolated colors `(n, m, 3)` at points `(n, m, 2)` px."""
    return cv2.remap(lab, points.astype(np.float32), None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def _width(colours: Pixels, away: Floats, length: float) -> float:
    """Return a strip's width in mm, or 0, from colors `beyond` a side."""
    end = round(_BEYOND_MM)
    inner = slice(end + round(CORNER_SHARE * length), -end - round(CORNER_SHARE * length))
    smooth = cv2.blur(colours, (_SMOOTH_MM, 1))[:, inner]
    support, tilt, slope = _edges(smooth)
    widths = (i for i in np.argsort(-support - 1e-3 * slope, kind="stable") if support[i] > _LEAST_EDGE)
    for i in widths:
        near, far = away[i] - abs(tilt[i]) / 2, away[i] + abs(tilt[i]) / 2
        band = (away >= min(max(0.5, 0.35 * near), near / 2)) & (away <= max(near - _ROUND_EDGE_MM, near / 2))
        if not _NARROWEST_MM <= away[i] <= _WIDEST_MM or not band.any():
            continue
        strip = colours[band][:, inner]
        colour = np.median(strip.reshape(-1, 3), axis=0)
        outside = smooth[(away > far + _ROUND_EDGE_MM) & (away <= far + _ROUND_EDGE_MM + 2)].mean(axis=0)
        is_other = lengths(outside - smooth[band].mean(axis=0)) > DIFFERENT
        spread = np.percentile(lengths(strip - colour), 85)
        over = (colours[band][:, :10], colours[band][:, -10:])
        goes_on = max(float((lengths(part - colour) < 2 * DIFFERENT).mean()) for part in over)
        if spread < 2 * DIFFERENT and is_other.mean() > _LEAST_EDGE and goes_on < _MOST_GOING_ON:
            return float(away[i])
    return 0.0


def _edges(smooth: Pixels) -> tuple[Floats, Floats, Floats]:
    """Return per distance the best line's share of edge, its tilt in mm, and the mean color change, `(n,)` each.

    `smooth` `(n, m, 3)` has a row of colors per distance.
    """
    slope = np.zeros(smooth.shape[:2])
    slope[2:-2] = lengths(smooth[4:] - smooth[:-4])
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(slope, ((_NEAR, _NEAR), (0, 0)), "edge"), 2 * _NEAR + 1, 0
    )
    sides = np.maximum(windows[..., :_NEAR].min(axis=-1), windows[..., _NEAR + 1 :].min(axis=-1))
    nearest = windows[..., _NEAR - 2 : _NEAR + 3].max(axis=-1)
    peak = (slope >= nearest) & (slope - sides > _PEAK)
    near = cv2.dilate(peak.astype(np.uint8), np.ones((3, 1), np.uint8))
    rows, columns = np.arange(len(near)), np.arange(near.shape[1])
    shifts = [np.rint(tilt * np.linspace(-0.5, 0.5, len(columns)) / _STEP_MM).astype(int) for tilt in _TILTS_MM]
    shares = np.array([near[(rows[:, None] + s).clip(0, len(rows) - 1), columns].mean(axis=1) for s in shifts])
    best = shares.argmax(axis=0)
    return shares.max(axis=0), np.array(_TILTS_MM)[best], slope.mean(axis=1)


# --- Larger outlines ------------------------------------------------------------------------------------------


def larger(ground: Ground, frame: Floats, size_mm: Size) -> list[Floats]:
    """Return quadrilaterals `(4, 2)` px around a possible printed frame, bounded by weaker edges."""
    w, h = size_mm
    to_px = to_pixels(frame, size_mm)
    per_side = [_edges_beyond(ground, to_px, size_mm, side) for side in range(4)]
    grown = []
    for (up, a), (right, b), (down, c), (left, d) in itertools.product(*per_side):
        ratio = (w + left + right) / (h + up + down) / (w / h)
        if abs(math.log(ratio)) < 0.09 and min(up, right, down, left) > 0.4:
            grown.append((a + b + c + d, through(to_px, widened(size_mm, up, right, down, left))))
    inside = [(worth, quad) for worth, quad in grown if (quad > -2).all() and (quad < np.array(ground.size) + 1).all()]
    return [quad for _, quad in sorted(inside, key=lambda one: -one[0])[:_MOST_GROWN]]


def widened(size_mm: Size, up: float, right: float, down: float, left: float) -> list[tuple[float, float]]:
    """Return a card's corners in its mm after widening each side."""
    w, h = size_mm
    return [(-left, -up), (w + right, -up), (w + right, h + down), (-left, h + down)]


def _edges_beyond(ground: Ground, to_px: Floats, size_mm: Size, side: int) -> list[tuple[float, float]]:
    """Return up to four edges beyond a side, strongest first: distance in mm, strength."""
    away, along = np.arange(-0.5, _WIDEST_RIM_MM, 0.25), np.linspace(0.02, 0.98, 64) * size_mm[side % 2]
    level = beyond(ground.lab, to_px, size_mm, side, away, along).mean(axis=1)
    step = np.zeros(len(away))
    step[2:-2] = lengths(level[3:-1] + level[4:] - level[:-4] - level[1:-3]) / 2
    peak = np.flatnonzero((step[1:-1] >= step[:-2]) & (step[1:-1] > step[2:]) & (step[1:-1] > 0.7)) + 1
    peak = peak[np.argsort(-step[peak], kind="stable")][:4]
    return [(float(away[i]), float(min(step[i], 10.0))) for i in peak if away[i] > 0.4]

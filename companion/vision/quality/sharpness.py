"""Measure sharpness and brightness at the edges of black markers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from companion.tabletop.mat_layout import MARKER_CELLS
from companion.vision.boxes import Floats, Image, slopes
from companion.vision.opencv import cv2

REACH_CELLS = 0.95  # examined on both sides of an edge
STEP_PX = 0.25  # between samples across an edge
PARTS = 3  # per edge, so that inexact corners add no blur
MIN_CONTRAST = 15.0  # minimum to measure sharpness
_SAMPLING_VARIANCE_PX = 0.1  # px² added by interpolation; measured on known edges
_SLOPE_VARIANCE_PX, _SLOPE_GAIN = 0.6, 2.0
"""Variance added by gradients over three pixels, and factor for fine print; measured likewise."""

_CALM_PATCH_PX, _CALM_SHARE, _CALM_TO_SIGMA = 6, 10, 1.5
"""Patch width, percentile of calm patches, ratio of noise σ to their deviation."""

_WINDOW = np.ones((9, 9), np.uint8)
_STRONG = 60.0


@dataclass(frozen=True, slots=True)
class Edge:
    """Edges of one marker."""

    middle_px: tuple[float, float]
    blur_px: tuple[float, float]  # σ: top and bottom; left and right
    white: float  # level of paper
    black: float  # level of print


def marker_edge(gray: Image, corners: Floats) -> Edge | None:
    """Measure a marker with corners `(4, 2)` px; None without contrast, at the border or if a side is too short."""
    height, width = gray.shape
    if (corners < 4).any() or (corners > (width - 5, height - 5)).any():
        return None
    profiles = [list(_profiles(gray, corners, side)) for side in range(4)]
    both_ways = [profiles[0] + profiles[2], profiles[1] + profiles[3]]
    if not all(both_ways):
        return None
    white, black = np.median([(high, low) for way in both_ways for high, low, _ in way], axis=0)
    if white - black < MIN_CONTRAST:
        return None
    blurs = [float(np.median([sigma for _, _, sigma in way])) for way in both_ways]
    x, y = corners.mean(axis=0)
    return Edge((float(x), float(y)), (blurs[0], blurs[1]), float(white), float(black))


def _profiles(gray: Image, corners: Floats, side: int) -> Iterator[tuple[float, float, float]]:
    """Yield paper, print and blur of each part of a side."""
    start, end = corners[side], corners[(side + 1) % 4]
    opposite = (corners[(side + 2) % 4] + corners[(side + 3) % 4]) / 2
    along = end - start
    inwards = np.array([-along[1], along[0]]) / (np.hypot(*along) + 1e-9)
    depth_px = float((opposite - (start + end) / 2) @ inwards)
    reach = REACH_CELLS * depth_px / MARKER_CELLS
    if reach < 1:
        return
    away = np.arange(-reach, reach + STEP_PX / 2, STEP_PX)
    for part in range(PARTS):
        at = np.linspace(0.08 + 0.84 * part / PARTS, 0.08 + 0.84 * (part + 1) / PARTS, 12)
        points = start + at[:, None, None] * along + away[None, :, None] * inwards
        lines = cv2.remap(gray, points.astype(np.float32), None, cv2.INTER_LINEAR)
        yield _edge_of(lines.mean(axis=0, dtype=np.float64))


def _edge_of(profile: Floats) -> tuple[float, float, float]:
    """Return paper and print levels, and blur (σ in px), of a profile from paper to print.

    The area under the outer half of a Gaussian edge is σ/√(2π). The inner half is near the marker's pattern.
    """
    few = max(2, len(profile) // 8)
    white, black = float(np.median(profile[:few])), float(profile[len(profile) // 2 :].min())
    if white - black < MIN_CONTRAST:
        return white, black, 0.0
    fallen = (white - profile) / (white - black)
    last = max(1, int(np.argmax(fallen > 0.5)))
    before, after = fallen[last - 1], fallen[last]
    rest = (0.5 - before) / max(after - before, 1e-9)
    area = float(fallen[:last].sum() - (fallen[0] + before) / 2 + rest * (before + 0.5) / 2)
    sigma = area * STEP_PX * np.sqrt(2 * np.pi)
    return white, black, float(np.sqrt(max(sigma**2 - _SAMPLING_VARIANCE_PX, 0.01)))


def blur_of(gray: Image) -> float | None:
    """Return σ in px of an excerpt's sharpest edges; None if none is strong.

    A Gaussian edge's steepest slope is its height / (σ·√(2π)).
    """
    if min(gray.shape) < len(_WINDOW):
        return None
    height = cv2.subtract(cv2.dilate(gray, _WINDOW), cv2.erode(gray, _WINDOW)).astype(np.float32)
    slope = cv2.magnitude(*slopes(gray))
    strong = height >= _STRONG
    steepest = slope[strong] / height[strong]
    if steepest.size < 20:
        return None
    sigma = 1 / (np.sqrt(2 * np.pi) * max(float(np.percentile(steepest, 98)), 1e-3))
    return float(np.sqrt(max(_SLOPE_GAIN * (sigma**2 - _SLOPE_VARIANCE_PX), 0.01)))


def grain_of(gray: Image) -> float:
    """Return σ of an excerpt's noise, in levels."""
    if not gray.size:
        return 0.0
    level = gray.astype(np.float32)
    off = np.abs(level - cv2.GaussianBlur(level, (0, 0), 2.0))
    patches = tuple(max(1, side // _CALM_PATCH_PX) for side in gray.shape[::-1])
    return _CALM_TO_SIGMA * float(np.percentile(cv2.resize(off, patches, interpolation=cv2.INTER_AREA), _CALM_SHARE))

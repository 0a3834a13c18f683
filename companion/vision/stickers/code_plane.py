"""Estimate the table plane from sticker codes, without mats; measure sticker widths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from types import MappingProxyType

import numpy as np

from companion.tabletop.mat_layout import MatLayout
from companion.tabletop.sticker_codes import MODULES, STICKER_MM, STICKER_MODULES
from companion.vision.boxes import Floats
from companion.vision.mats.homography import Fit
from companion.vision.view import Quad

ENOUGH_FOR_A_VIEW = 4  # minimum codes that show perspective
MOST_WRONG = 0.12  # in sides; codes of another size or in a hand exceed it
_NUDGE = 1e-5

SIZES_MM = (STICKER_MM, 24.0, 29.0, 35.0)  # each search also finds codes a tenth wider or narrower
SMALLER_MM = 17.0  # searched if nothing was found: printed to fit the page
SAME_WIDTH = 0.05  # relative difference
ENOUGH_STICKERS = 12  # stickers to measure


def level_of(quads: Sequence[Quad]) -> Fit | None:
    """Return the plane of square codes, in modules from their middle; None if undetermined."""
    codes = np.array(quads, float).reshape(-1, 4, 2)
    for _ in range(3):
        if not len(codes):
            return None
        middle, unit = codes.mean(axis=(0, 1)), max(1.0, float(np.ptp(codes, axis=(0, 1)).max()))
        placed = (codes - middle) / unit
        plane = _settled(placed, _straight_on(placed))
        wrong = np.abs(_off(plane, placed).reshape(-1, 3)).max(axis=1)
        if (wrong <= MOST_WRONG).all():
            return _as_fit(plane, middle, unit)
        codes = codes[wrong <= max(MOST_WRONG, float(np.median(wrong)))]
    return None


def _sides(placed: Floats) -> Floats:
    """Return each code's module vectors, right and down, `(n, 2, 2)`."""
    a, b, c, d = np.moveaxis(placed, 1, 0)
    return np.stack((b + c - a - d, c + d - a - b), axis=2) / (2 * MODULES)


def _straight_on(placed: Floats) -> Floats:
    """Return the plane for a distant camera, `(a, b, c, 0, 0)`: points map to (a·x + b·y, c·y)."""
    sides = _sides(placed)
    seen = np.median(sides @ np.swapaxes(sides, 1, 2), axis=0)
    lower = np.linalg.cholesky(np.linalg.inv(seen))
    return np.array([lower[0, 0], lower[1, 0], lower[1, 1], 0.0, 0.0])


def _settled(placed: Floats, plane: Floats) -> Floats:
    """Return the plane `(a, b, c, g, h)`, refined by Gauss–Newton: codes `(n, 4, 2)` become upright unit squares."""
    free = 5 if len(placed) >= ENOUGH_FOR_A_VIEW else 3
    for _ in range(12):
        off = _off(plane, placed)
        slopes = [(_off(plane + nudge, placed) - off) / _NUDGE for nudge in _NUDGE * np.eye(5)[:free]]
        step, *_ = np.linalg.lstsq(np.column_stack(slopes), -off, rcond=None)
        plane = plane + np.pad(
            np.clip(step, -0.3 * np.abs(plane[:3]).max(), 0.3 * np.abs(plane[:3]).max()), (0, 5 - free)
        )
    return plane


def _off(plane: Floats, placed: Floats) -> Floats:
    """Return each code's deviation from an upright unit square, `(3n,)`."""
    a, b, c, g, h = plane
    x, y = placed.mean(axis=1).T
    w = np.maximum(1 + g * x + h * y, 0.05)
    across, down = (a * x + b * y) / w, c * y / w
    slopes = np.array([[(a - g * across) / w, (b - h * across) / w], [-g * down / w, (c - h * down) / w]])
    flat = np.moveaxis(slopes, 2, 0) @ _sides(placed)
    square = np.swapaxes(flat, 1, 2) @ flat
    return np.column_stack(((square[:, 0, 0] - 1) / 2, (square[:, 1, 1] - 1) / 2, square[:, 0, 1])).ravel()


def _as_fit(plane: Floats, middle: Floats, unit: float) -> Fit:
    a, b, c, g, h = plane
    to_modules = np.array([[a, b, 0], [0, c, 0], [g, h, 1]])
    to_unit = np.array([[1 / unit, 0, -middle[0] / unit], [0, 1 / unit, -middle[1] / unit], [0, 0, 1]])
    nowhere = MatLayout("", (0.0, 0.0), (), MappingProxyType({}))
    return Fit(nowhere, np.linalg.inv(to_modules @ to_unit), {})


def widths_mm(quads: Iterable[Quad], fit: Fit) -> tuple[float, ...]:
    """Return the distinct sticker widths on a mat, ascending."""
    measured = sorted(width_mm(quad, fit) for quad in islice(quads, ENOUGH_STICKERS))
    return tuple(float(np.median(group)) for group in _groups(measured))


def still_to_look_for(found_mm: Sequence[float], sizes_mm: Sequence[float]) -> tuple[float, ...]:
    """Return the widths still to search for, after a search for `sizes_mm` found `found_mm`."""
    if not found_mm:
        return (SMALLER_MM,) if tuple(sizes_mm) == SIZES_MM else ()
    return tuple(width for width in found_mm if all(abs(width / size - 1) >= SAME_WIDTH for size in sizes_mm))


def width_mm(quad: Quad, fit: Fit) -> float:
    """Return a sticker's width, with quiet zone, on a mat."""
    corners = fit.to_mm(quad)
    side_mm = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).mean()
    return float(side_mm) / MODULES * STICKER_MODULES


def _groups(widths: Sequence[float]) -> Iterator[list[float]]:
    left = list(widths)
    while left:
        count = sum(width <= left[0] * (1 + 2 * SAME_WIDTH) for width in left)
        yield left[:count]
        left = left[count:]

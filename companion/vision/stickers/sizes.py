"""Widths of stickers, quiet zone included: those that are looked for, and those of stickers that were read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from companion.tabletop.sticker_codes import MODULES, STICKER_MM, STICKER_MODULES
from companion.vision.mats.homography import Fit
from companion.vision.view import Quad

SIZES_MM = (STICKER_MM, 24.0, 29.0, 35.0)
"""Widths that are looked for first; most squares a tenth wider or narrower are found with them."""

SMALLER_MM = 17.0
"""Width that is looked for if nothing else is found: a sheet printed to fit the page."""

SAME = 0.05
"""Difference of widths, as a share, below which they are one."""

ENOUGH = 12
"""Number of stickers measured to know their widths."""


def widths_mm(quads: Iterable[Quad], fit: Fit) -> tuple[float, ...]:
    """Return the widths that codes with these corners have on a mat's plane, each once, the smallest first."""
    measured = sorted(width_mm(quad, fit) for quad, _ in zip(quads, range(ENOUGH), strict=False))
    return tuple(float(np.median(group)) for group in _groups(measured))


def still_to_look_for(found_mm: Sequence[float], sizes_mm: Sequence[float]) -> tuple[float, ...]:
    """Return the widths that are worth a look of their own once these were found by looking for `sizes_mm`."""
    if not found_mm:
        return (SMALLER_MM,) if tuple(sizes_mm) == SIZES_MM else ()
    return tuple(width for width in found_mm if all(abs(width / size - 1) >= SAME for size in sizes_mm))


def width_mm(quad: Quad, fit: Fit) -> float:
    """Return the width, quiet zone included, of the sticker with this code on a mat's plane."""
    corners = fit.to_mm(quad)
    side_mm = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).mean()
    return float(side_mm) / MODULES * STICKER_MODULES


def _groups(widths: Sequence[float]) -> Iterator[list[float]]:
    """Yield widths in order, those that follow each other closely together."""
    group: list[float] = []
    for width in widths:
        if group and width > group[0] * (1 + 2 * SAME):
            yield group
            group = []
        group.append(width)
    if group:
        yield group

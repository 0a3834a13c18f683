"""Find the squares of QR codes on a picture with known module size.

A mark, the black ring around a black square in three corners, is averaged over all rotations and correlated with every
place. Three good matches at a right angle, 14 modules apart, may be a code; two suffice if the third is weak.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Floats, Image, Places, first_of_each
from companion.vision.opencv import cv2

Fits = npt.NDArray[np.float32]  # correlation with a mark, -1 … 1

LEG_MODULES = 14.0  # between the centers of two marks
MARK_MODULES = 9  # with white border
SOFT_MODULES = 0.3  # blur (σ) of the mark
SOFTENED_MODULES = 0.45  # blur (σ) of the picture
SURE_MARK = 0.48
POOR_MARK = 0.36
THREE_MARKS = 1.42  # minimum fit of two marks, of the third, of all; a perfect mark has 1
GOOD_MARK = 0.62  # without the third
LEAST_CONTRAST = 0.03  # relative; most cloth has less
MOST_MARKS, TILE_MODULES = 40, 64  # per tile: twelve codes; gravel has more
REACH_MODULES = 1.0  # maximum distance of a third mark from where it is expected
STRAIGHT = 0.1  # maximum relative deviation of leg lengths
STRIP_PX = 128  # rows at once: 9 MB for a table instead of 230
_FINE = 16


@dataclass(frozen=True, slots=True, eq=False)
class _Marks:
    """A mark's fit everywhere, and its maxima."""

    fit: Fits
    points: Floats  # `(n, 2)`, subpixel
    values: Fits
    module_px: float
    slack: float  # as `STRAIGHT`


def squares(image: Image, module_px: float, slack: float = STRAIGHT) -> Floats:
    """Return possible codes on a picture `(H, W) uint8`, likeliest first.

    They are matrices `(n, 3, 3)` from modules to pixels. `slack` is the relative deviation of leg lengths.
    """
    mark = _mark(round(module_px, 2))
    if min(image.shape) <= 2 * LEG_MODULES * module_px:
        return np.empty((0, 3, 3))
    soft = cv2.GaussianBlur(image, (0, 0), SOFTENED_MODULES * module_px)
    fit = _fits(soft, mark)
    marks = _Marks(fit, *_peaks(fit, TILE_MODULES * module_px), module_px, slack)
    strength, corners = _triples(marks)
    corners = corners[np.argsort(-strength)]
    if len(corners):
        # Triples of nearly the same square count once.
        corners = corners[first_of_each(np.rint(corners.reshape(-1, 6).T / (1.5 * module_px)), 1)]
    return _as_matrices(corners + (len(mark) - 1) / 2)


@lru_cache(maxsize=32)
def _mark(module_px: float) -> npt.NDArray[np.uint8]:
    """Return a mark's gray levels, averaged over rotations."""
    dark = np.zeros((MARK_MODULES, MARK_MODULES), np.float32)
    dark[1:8, 1:8], dark[2:7, 2:7], dark[3:6, 3:6] = 1, 0, 1
    large = cv2.GaussianBlur(
        np.pad(np.kron(dark, np.ones((_FINE, _FINE), np.float32)), 40), (0, 0), SOFT_MODULES * _FINE
    )
    middle = (len(large) - 1) / 2
    turns = (cv2.getRotationMatrix2D((middle, middle), turn_deg, 1) for turn_deg in range(0, 90, 5))
    mean = np.mean([cv2.warpAffine(large, turn, large.shape[::-1]) for turn in turns], axis=0)
    side = round(MARK_MODULES * module_px) | 1
    shrink = module_px / _FINE
    onto = np.array([[shrink, 0, (side - 1) / 2 - middle * shrink], [0, shrink, (side - 1) / 2 - middle * shrink]])
    return np.rint(255 * (1 - cv2.warpAffine(mean, onto, (side, side)).clip(0, 1))).astype(np.uint8)


def _fits(image: Image, mark: npt.NDArray[np.uint8]) -> Fits:
    """Return the correlation with a mark, 0 where contrast is low; twice as fast as `cv2.matchTemplate`."""
    part = mark - mark.mean(dtype=np.float32)
    pattern, beside = part / np.linalg.norm(part) / len(mark), len(mark) - 1
    fit = np.empty((image.shape[0] - beside, image.shape[1] - beside), np.float32)
    for top in range(0, len(fit), STRIP_PX):
        strip = image[top : top + STRIP_PX + beside].astype(np.float32)
        fit[top : top + STRIP_PX] = _strip_fits(strip, pattern)
    return fit


def _strip_fits(here: Fits, pattern: Fits) -> Fits:
    fit = cv2.matchTemplate(here, pattern, cv2.TM_CCORR)
    window, half = pattern.shape, len(pattern) // 2
    whole = np.s_[half : here.shape[0] - half, half : here.shape[1] - half]
    light = cv2.blur(here, window)[whole]
    spread = cv2.sqrBoxFilter(here, cv2.CV_32F, window)[whole]
    cv2.subtract(spread, cv2.multiply(light, light), spread)
    cv2.sqrt(cv2.max(spread, 1e-3, spread), spread)
    cv2.divide(fit, spread, fit)
    fit[spread < LEAST_CONTRAST * light] = 0
    return fit


def _peaks(fit: Fits, tile_px: float) -> tuple[Floats, Fits]:
    """Return the local maxima: subpixel positions `(n, 2)`, and values."""
    # Far cheaper than filtering the picture, as few places fit.
    found = cv2.findNonZero((fit > SURE_MARK).view(np.uint8))
    columns, rows = np.empty((2, 0), np.int64) if found is None else found.reshape(-1, 2).T.astype(np.int64)
    is_top = fit[rows, columns] >= _around(fit, columns, rows, 2).max(axis=1, initial=-1)
    columns, rows = columns[is_top], rows[is_top]
    best = np.argsort(-fit[rows, columns])
    best = best[first_of_each(np.stack((rows, columns))[:, best] // tile_px, MOST_MARKS)]
    return _refined(fit, columns[best], rows[best]), fit[rows[best], columns[best]]


def _around(fit: Fits, x: Places, y: Places, reach: int) -> Fits:
    """Return the fits within `reach` pixels, `(n, (2 · reach + 1)²)`."""
    steps = np.arange(-reach, reach + 1)
    rows = (y[:, None] + steps).clip(0, fit.shape[0] - 1)
    columns = (x[:, None] + steps).clip(0, fit.shape[1] - 1)
    return fit[rows[:, :, None], columns[:, None]].reshape(len(x), len(steps) ** 2)


def _refined(fit: Fits, x: Places, y: Places) -> Floats:
    """Refine peaks to subpixels `(n, 2)`."""
    x, y = x.clip(1, fit.shape[1] - 2), y.clip(1, fit.shape[0] - 2)
    here = fit[y, x]
    return np.column_stack((x + _top(fit[y, x - 1], here, fit[y, x + 1]), y + _top(fit[y - 1, x], here, fit[y + 1, x])))


def _top(before: Floats, here: Floats, after: Floats) -> Floats:
    bend = before + after - 2 * here
    return np.where(bend < -1e-6, (before - after) / (2 * np.where(bend < -1e-6, bend, -1)), 0.0).clip(-0.6, 0.6)


# --- Three marks at a right angle -------------------------------------------------------------------------------


def _triples(marks: _Marks) -> tuple[Fits, Floats]:
    """Return all triples: summed fit, and top left, top right, bottom left, `(n, 3, 2)`."""
    one, other = _pairs(marks, LEG_MODULES)
    leg = marks.points[other] - marks.points[one]
    across, apart = _pairs(marks, LEG_MODULES * 2**0.5)
    middle, half = (marks.points[across] + marks.points[apart]) / 2, (marks.points[apart] - marks.points[across]) / 2
    found = [
        _with_third(marks, one, other, marks.points[one] + _turned(leg), (0, 1, 2)),
        _with_third(marks, one, other, marks.points[one] - _turned(leg), (0, 2, 1)),
        _with_third(marks, across, apart, middle + _turned(half), (1, 2, 0)),
    ]
    strengths, corners = zip(*found, strict=True)
    return np.concatenate(strengths), np.concatenate(corners)


def _pairs(marks: _Marks, modules: float) -> tuple[Places, Places]:
    """Return indices of ordered pairs about `modules` apart."""
    order = np.argsort(marks.points[:, 0], kind="stable")
    x = marks.points[order, 0]
    reach = modules * marks.module_px
    low, high = (np.searchsorted(x, x + side * reach * (1 + marks.slack)) for side in (-1, 1))
    one = np.repeat(np.arange(len(x)), high - low)
    other = (
        np.arange(len(one)) - np.repeat(np.cumsum(high - low) - (high - low), high - low) + np.repeat(low, high - low)
    )
    one, other = order[one], order[other]
    length = np.hypot(*(marks.points[other] - marks.points[one]).T)
    good = np.abs(length / reach - 1) < marks.slack
    return one[good], other[good]


def _turned(vectors: Floats) -> Floats:
    """Turn vectors a quarter clockwise."""
    return np.column_stack((-vectors[:, 1], vectors[:, 0]))


def _with_third(
    marks: _Marks, one: Places, other: Places, expected: Floats, roles: tuple[int, int, int]
) -> tuple[Fits, Floats]:
    """Return fits and corners of pairs with a third mark near its expected position.

    `roles` are the three corners' indices.
    """
    reach = max(1, round(REACH_MODULES * marks.module_px * marks.slack / STRAIGHT))
    height, width = marks.fit.shape
    x, y = np.rint(expected).astype(int).T
    inside = (x > reach) & (y > reach) & (x < width - reach - 1) & (y < height - reach - 1)
    one, other, expected, x, y = (each[inside] for each in (one, other, expected, x, y))
    near = _around(marks.fit, x, y, reach)
    third = near.max(axis=1, initial=-1)
    strength = third + marks.values[one] + marks.values[other]
    three = (third >= POOR_MARK) & (strength >= THREE_MARKS)
    two = np.minimum(marks.values[one], marks.values[other]) >= GOOD_MARK
    good = np.flatnonzero(three | two)
    corners = np.empty((len(good), 3, 2))
    corners[:, roles[0]], corners[:, roles[1]] = marks.points[one[good]], marks.points[other[good]]
    seen = third[good, None] >= POOR_MARK
    down, right = np.divmod(near[good].argmax(axis=1), 2 * reach + 1)
    best = _refined(marks.fit, x[good] + right - reach, y[good] + down - reach)
    corners[:, roles[2]] = np.where(seen, best, expected[good])
    return strength[good], corners


def _as_matrices(corners: Floats) -> Floats:
    across = (corners[:, 1] - corners[:, 0]) / LEG_MODULES
    down = (corners[:, 2] - corners[:, 0]) / LEG_MODULES
    matrices = np.zeros((len(corners), 3, 3))
    matrices[:, :2, 0], matrices[:, :2, 1], matrices[:, 2, 2] = across, down, 1
    matrices[:, :2, 2] = corners[:, 0] - 3.5 * (across + down)
    return matrices

"""Find the squares of QR codes on a picture with known module size.

A mark, the black ring around a black square in three corners, is averaged over all rotations and correlated with every
place. Three good matches at a right angle, 14 modules apart, may be a code; two suffice if the third is weak.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Floats, Image, Places, first_of_each
from companion.vision.opencv import cv2

Fits = npt.NDArray[np.float32]  # correlation with a mark, -1 … 1
Points = npt.NDArray[np.complex128]  # pixels x + y·i; times i is a quarter turn clockwise

LEG_MODULES = 14.0  # between the centers of two marks
MARK_MODULES = 9  # with white border
STRIP_PX = 128  # rows at once: less memory, and a fifth faster than the whole picture
_FINE = 16


@dataclass(frozen=True, slots=True)
class MarkFit:
    """What counts as a mark; a perfect one has a fit of 1.

    Set on the pictures of `tests.bench.eye` and `tests.bench.readings`, at one pixel a module: minimums higher by 0.02
    lose codes in hard light, lower ones cost time.
    """

    soft_modules: float = 0.4  # blur (σ) of the mark
    softened_modules: float = 0.6  # blur (σ) of the picture; less lets noise through
    sure: float = 0.48  # minimum fit to start from
    poor: float = 0.36  # minimum fit of a third mark
    three: float = 1.42  # minimum sum of the fits of three marks
    good: float = 0.6  # minimum fit of two marks without a third, which another card may cover
    contrast: float = 0.03  # minimum relative contrast; most cloth has less
    most: int = 40  # marks per tile: more than twelve codes have; gravel has more
    tile_modules: float = 64
    slack: float = 0.1  # maximum relative deviation of leg lengths
    reach_slacks: float = 0.7  # maximum distance of a third mark from its expected place, in legs, relative to `slack`


UPRIGHT = MarkFit()  # for a rectified picture
LEANING = replace(UPRIGHT, slack=0.2)  # where codes may be foreshortened
NEARLY_UPRIGHT = replace(UPRIGHT, sure=0.44, poor=0.33, three=1.34)  # rectified by a rough estimate


@dataclass(frozen=True, slots=True, eq=False)
class _Marks:
    """A mark's fit everywhere, and its maxima."""

    fit: Fits
    near: Fits  # best fit within `reach_px`
    reach_px: int
    points: Points  # subpixel
    values: Fits
    module_px: float
    what: MarkFit  # that it was found by


def squares(image: Image, module_px: float, what: MarkFit = UPRIGHT) -> Floats:
    """Return possible codes on a picture `(H, W) uint8`, likeliest first.

    They are matrices `(n, 3, 3)` from modules to pixels.
    """
    if min(image.shape) <= 2 * LEG_MODULES * module_px:
        return np.empty((0, 3, 3))
    marks = _marks(image, module_px, what)
    strength, corners = _triples(marks)
    corners = corners[np.argsort(-strength)]
    # Triples of nearly the same square count once.
    places = np.rint(corners.view(np.float64).T / (1.5 * module_px))
    return _as_matrices(corners[first_of_each(places, 1)])


def _marks(image: Image, module_px: float, what: MarkFit) -> _Marks:
    soft = cv2.GaussianBlur(image, (0, 0), what.softened_modules * module_px)
    fit = _fits(soft, _mark(round(module_px, 2)))
    reach_px = max(1, round(what.reach_slacks * what.slack * LEG_MODULES * module_px))
    near = cv2.dilate(fit, np.ones((2 * reach_px + 1, 2 * reach_px + 1), np.uint8))
    found = cv2.findNonZero(((fit > what.sure) & (fit >= near)).view(np.uint8))
    x, y = np.empty((2, 0), np.int64) if found is None else found.reshape(-1, 2).T.astype(np.int64)
    best = np.argsort(-fit[y, x])
    tiles = np.stack((y, x))[:, best] // (what.tile_modules * module_px)
    best = best[first_of_each(tiles, what.most)]
    x, y = x[best], y[best]
    return _Marks(fit, near, reach_px, _refined(fit, x, y), fit[y, x], module_px, what)


@lru_cache(maxsize=32)
def _mark(module_px: float) -> npt.NDArray[np.uint8]:
    """Return a mark's gray levels, averaged over rotations."""
    dark = np.zeros((MARK_MODULES, MARK_MODULES), np.float32)
    dark[1:8, 1:8], dark[2:7, 2:7], dark[3:6, 3:6] = 1, 0, 1
    large = cv2.GaussianBlur(
        np.pad(np.kron(dark, np.ones((_FINE, _FINE), np.float32)), 40), (0, 0), UPRIGHT.soft_modules * _FINE
    )
    middle = (len(large) - 1) / 2
    turns = (cv2.getRotationMatrix2D((middle, middle), turn_deg, 1) for turn_deg in range(0, 90, 5))
    mean = np.mean([cv2.warpAffine(large, turn, large.shape[::-1]) for turn in turns], axis=0)
    side = round(MARK_MODULES * module_px) | 1
    shrink = module_px / _FINE
    onto = np.array([[shrink, 0, (side - 1) / 2 - middle * shrink], [0, shrink, (side - 1) / 2 - middle * shrink]])
    return np.rint(255 * (1 - cv2.warpAffine(mean, onto, (side, side)).clip(0, 1))).astype(np.uint8)


def _fits(image: Image, mark: npt.NDArray[np.uint8]) -> Fits:
    """Return each pixel's correlation with a mark, `(H, W)`; lower where contrast is low."""
    part = mark - mark.mean(dtype=np.float32)
    pattern, half = part / np.linalg.norm(part) / len(mark), len(mark) // 2
    fit = np.empty(image.shape, np.float32)
    for top in range(0, len(fit), STRIP_PX):
        above = min(top, half)
        strip = image[top - above : top + STRIP_PX + half]
        fit[top : top + STRIP_PX] = _strip_fits(strip, pattern)[above : above + STRIP_PX]
    return fit


def _strip_fits(here: Image, pattern: Fits) -> Fits:
    light = cv2.boxFilter(here, cv2.CV_32F, pattern.shape)
    spread = cv2.sqrBoxFilter(here, cv2.CV_32F, pattern.shape)
    cv2.subtract(spread, cv2.multiply(light, light), spread)
    cv2.sqrt(cv2.max(spread, 1e-3, spread), spread)
    cv2.max(spread, light * np.float32(UPRIGHT.contrast), spread)
    # Floats are filtered three times as fast as bytes.
    return cv2.divide(cv2.filter2D(here.astype(np.float32), cv2.CV_32F, pattern), spread)


def _refined(fit: Fits, x: Places, y: Places) -> Points:
    """Refine peaks to subpixels."""
    x, y = x.clip(1, fit.shape[1] - 2), y.clip(1, fit.shape[0] - 2)
    here = fit[y, x]
    return x + _top(fit[y, x - 1], here, fit[y, x + 1]) + 1j * (y + _top(fit[y - 1, x], here, fit[y + 1, x]))


def _top(before: Fits, here: Fits, after: Fits) -> Fits:
    bend = before + after - 2 * here
    return np.where(bend < -1e-6, (before - after) / (2 * np.where(bend < -1e-6, bend, -1)), 0.0).clip(-0.6, 0.6)


# --- Three marks at a right angle -------------------------------------------------------------------------------


def _triples(marks: _Marks) -> tuple[Fits, Points]:
    """Return all triples: summed fit, and top left, top right, bottom left, `(n, 3)`."""
    one, other = _pairs(marks, LEG_MODULES)
    leg = marks.points[other] - marks.points[one]
    across, apart = _pairs(marks, LEG_MODULES * 2**0.5)
    middle, half = (marks.points[across] + marks.points[apart]) / 2, (marks.points[apart] - marks.points[across]) / 2
    found = [
        _with_third(marks, one, other, marks.points[one] + 1j * leg, (0, 1, 2)),
        _with_third(marks, one, other, marks.points[one] - 1j * leg, (0, 2, 1)),
        _with_third(marks, across, apart, middle + 1j * half, (1, 2, 0)),
    ]
    strengths, corners = zip(*found, strict=True)
    return np.concatenate(strengths), np.concatenate(corners)


def _pairs(marks: _Marks, modules: float) -> tuple[Places, Places]:
    """Return indices of ordered pairs about `modules` apart."""
    reach = modules * marks.module_px
    cells = marks.points / (reach * (1 + marks.what.slack))
    column, row = cells.real.astype(np.int64), cells.imag.astype(np.int64)
    row_step = column.max(initial=0) + 3
    cell = column + row * row_step
    order = np.argsort(cell, kind="stable")
    # Partners are in the same or neighboring cells, which are consecutive in each row.
    around = (cell + row_step * np.array([[-1], [0], [1]])).ravel()
    low = np.searchsorted(cell[order], around - 1)
    count = np.searchsorted(cell[order], around + 1, side="right") - low
    one = np.repeat(np.tile(np.arange(len(cell)), 3), count)
    other = order[np.arange(len(one)) + np.repeat(low - np.cumsum(count) + count, count)]
    good = np.abs(np.abs(marks.points[other] - marks.points[one]) / reach - 1) < marks.what.slack
    return one[good], other[good]


def _with_third(
    marks: _Marks, one: Places, other: Places, expected: Points, roles: tuple[int, int, int]
) -> tuple[Fits, Points]:
    """Return fits and corners of pairs with a third mark near its expected position.

    `roles` are the three corners' indices.
    """
    height, width = marks.fit.shape
    x, y = (np.rint(along).astype(np.int64) for along in (expected.real, expected.imag))
    inside = np.flatnonzero((x >= 0) & (y >= 0) & (x < width) & (y < height))
    third = np.full(len(x), -1, np.float32)
    third[inside] = marks.near[y[inside], x[inside]]
    strength = third + marks.values[one] + marks.values[other]
    three = (third >= marks.what.poor) & (strength >= marks.what.three)
    two = (third > -1) & (np.minimum(marks.values[one], marks.values[other]) >= marks.what.good)
    good = np.flatnonzero(three | two)
    corners = np.empty((len(good), 3), np.complex128)
    corners[:, roles[0]], corners[:, roles[1]] = marks.points[one[good]], marks.points[other[good]]
    best = _best_near(marks, x[good], y[good])
    corners[:, roles[2]] = np.where(third[good] >= marks.what.poor, best, expected[good])
    return strength[good], corners


def _best_near(marks: _Marks, x: Places, y: Places) -> Points:
    """Return the places of the best fits within reach."""
    steps = np.arange(-marks.reach_px, marks.reach_px + 1)
    columns = (x[:, None] + np.tile(steps, len(steps))).clip(0, marks.fit.shape[1] - 1)
    rows = (y[:, None] + np.repeat(steps, len(steps))).clip(0, marks.fit.shape[0] - 1)
    best = np.arange(len(x)), marks.fit[rows, columns].argmax(axis=1)
    return _refined(marks.fit, columns[best], rows[best])


def _as_matrices(corners: Points) -> Floats:
    across = (corners[:, 1] - corners[:, 0]) / LEG_MODULES
    down = (corners[:, 2] - corners[:, 0]) / LEG_MODULES
    columns = np.stack((across, down, corners[:, 0] - 3.5 * (across + down)), axis=1)
    return np.stack((columns.real, columns.imag, np.broadcast_to((0.0, 0.0, 1.0), columns.shape)), axis=1)

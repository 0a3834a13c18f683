"""Where the squares of QR codes are, on a picture where the size of their modules is known.

A QR code has the same mark in three corners: a black ring round a black square. A picture of that mark, averaged over
all its turns, is laid over every place; where three places that fit stand at a right angle, fourteen modules apart,
there may be a code. Two of them are enough where the third fits only poorly, under glare or a thumb's edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Floats, Image, Places, first_of_each
from companion.vision.opencv import cv2

Fits = npt.NDArray[np.float32]  # fit of a mark, -1 … 1

LEG_MODULES = 14.0  # from the middle of one mark to the next
MARK_MODULES = 9  # a mark with the white round it
SOFT_MODULES = 0.3  # blur (σ) of the mark that is looked for
SOFTENED_MODULES = 0.45  # blur (σ) of the picture before the search: what is finer is noise, or made by sharpening
SURE_MARK = 0.48
POOR_MARK = 0.36
THREE_MARKS = 1.42  # minimum fit of two of a code's marks, of the third, and of all together; 1 each is perfect
GOOD_MARK = 0.62  # minimum fit of two marks that do without the third
LEAST_CONTRAST = 0.03  # minimum contrast of print, as a share of the light on it; noise and most cloth have less
MOST_MARKS, TILE_MODULES = 40, 64  # most marks followed up on a tile so wide: twelve codes' worth; gravel shows more
REACH_MODULES = 1.0  # maximum distance of a third mark from where it should be, on a picture from straight above
STRAIGHT = 0.1  # maximum deviation of a leg's length on a picture from straight above, as a share
STRIP_PX = 128  # height of the strips over which a mark is laid: of a whole table they take 9 MB, all of it 230
_FINE = 16


@dataclass(frozen=True, slots=True, eq=False)
class _Marks:
    """The fit of a mark at every place, and the places where it is best."""

    fit: Fits
    points: Floats  # `(n, 2)`, with parts of a pixel
    values: Fits
    module_px: float
    slack: float  # maximum deviation of a leg from the length expected, as a share


def squares(image: Image, module_px: float, slack: float = STRAIGHT) -> Floats:
    """Return what may be codes on a grey picture `(H, W) uint8`, likeliest first: modules to pixels, `(n, 3, 3)`."""
    mark = _mark(round(module_px, 2))
    if min(image.shape) <= 2 * LEG_MODULES * module_px:
        return np.empty((0, 3, 3))
    soft = cv2.GaussianBlur(image, (0, 0), SOFTENED_MODULES * module_px)
    fit = _fits(soft, mark)
    marks = _Marks(fit, *_peaks(fit, TILE_MODULES * module_px), module_px, slack)
    strength, corners = _triples(marks)
    corners = corners[np.argsort(-strength)]
    if len(corners):
        # Triples that mean nearly the same square count once.
        corners = corners[first_of_each(np.rint(corners.reshape(-1, 6).T / (1.5 * module_px)), 1)]
    return _as_matrices(corners + (len(mark) - 1) / 2)


@lru_cache(maxsize=32)
def _mark(module_px: float) -> npt.NDArray[np.uint8]:
    """Return a mark averaged over all its turns, as light as it is printed."""
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
    """Return how well a mark fits everywhere, as `cv2.matchTemplate` does in twice the time; 0 in too faint print."""
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
    """Return the places where a mark fits better than all around, and how well."""
    # Few places fit well enough: to look round each takes far less than to look round all of the picture's.
    found = cv2.findNonZero((fit > SURE_MARK).view(np.uint8))
    columns, rows = np.empty((2, 0), np.int64) if found is None else found.reshape(-1, 2).T.astype(np.int64)
    is_top = fit[rows, columns] >= _around(fit, columns, rows, 2).max(axis=1, initial=-1)
    columns, rows = columns[is_top], rows[is_top]
    best = np.argsort(-fit[rows, columns])
    best = best[first_of_each(np.stack((rows, columns))[:, best] // tile_px, MOST_MARKS)]
    return _refined(fit, columns[best], rows[best]), fit[rows[best], columns[best]]


def _around(fit: Fits, x: Places, y: Places, reach: int) -> Fits:
    """Return the fits up to `reach` pixels beside each place, row by row, `(n, (2 · reach + 1)²)`."""
    steps = np.arange(-reach, reach + 1)
    rows = (y[:, None] + steps).clip(0, fit.shape[0] - 1)
    columns = (x[:, None] + steps).clip(0, fit.shape[1] - 1)
    return fit[rows[:, :, None], columns[:, None]].reshape(len(x), len(steps) ** 2)


def _refined(fit: Fits, x: Places, y: Places) -> Floats:
    """Return peaks to parts of a pixel: the top of a parabola through each and its neighbours, `(n, 2)`."""
    x, y = x.clip(1, fit.shape[1] - 2), y.clip(1, fit.shape[0] - 2)
    here = fit[y, x]
    return np.column_stack((x + _top(fit[y, x - 1], here, fit[y, x + 1]), y + _top(fit[y - 1, x], here, fit[y + 1, x])))


def _top(before: Floats, here: Floats, after: Floats) -> Floats:
    bend = before + after - 2 * here
    return np.where(bend < -1e-6, (before - after) / (2 * np.where(bend < -1e-6, bend, -1)), 0.0).clip(-0.6, 0.6)


# --- Three marks at a right angle -------------------------------------------------------------------------------


def _triples(marks: _Marks) -> tuple[Fits, Floats]:
    """Return all threes of marks, top left, top right, bottom left: how well they fit, and where, `(n, 3, 2)`."""
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
    """Return every two marks that stand about so many modules apart, both ways round."""
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
    """Return vectors turned a quarter clockwise, as the picture shows it."""
    return np.column_stack((-vectors[:, 1], vectors[:, 0]))


def _with_third(
    marks: _Marks, one: Places, other: Places, expected: Floats, roles: tuple[int, int, int]
) -> tuple[Fits, Floats]:
    """Return the pairs whose third mark fits near where it is expected; `roles` are the corners of the three."""
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
    """Return what carries a code's modules to pixels, `(n, 3, 3)`, by the middles of its three marks."""
    across = (corners[:, 1] - corners[:, 0]) / LEG_MODULES
    down = (corners[:, 2] - corners[:, 0]) / LEG_MODULES
    matrices = np.zeros((len(corners), 3, 3))
    matrices[:, :2, 0], matrices[:, :2, 1], matrices[:, 2, 2] = across, down, 1
    matrices[:, :2, 2] = corners[:, 0] - 3.5 * (across + down)
    return matrices

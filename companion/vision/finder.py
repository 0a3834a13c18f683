"""Where the squares of QR codes are, on a picture where the size of their modules is known.

A QR code has the same mark in three corners: a black ring round a black square. A picture of that mark, averaged over
all its turns, is laid over every place; where three places that fit stand at a right angle, fourteen modules apart,
there may be a code. Two of them are enough where the third fits only poorly, under glare or a thumb's edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Image
from companion.vision.opencv import cv2

Floats = npt.NDArray[np.float64]

LEG_MODULES = 14.0
"""From the middle of one mark to the next."""

MARK_MODULES = 9
"""A mark with the white round it."""

SOFT_MODULES = 0.3
"""How blurred the mark is that is looked for."""

SOFTENED_MODULES = 0.45
"""How much the picture is blurred first: what is finer than a module is noise, or the lines that sharpening draws."""

SURE_MARK = 0.48
POOR_MARK = 0.36
THREE_MARKS = 1.42
"""The least that one mark, the poorest, and all three together have to fit; a perfect fit is 1 each."""

LEAST_CONTRAST = 0.03
"""Print is not fainter than this share of the light on it, however it shines; noise and most cloth is."""

MOST_MARKS = 1200
"""No table shows so many codes; what looks like more is gravel or cloth."""

REACH_MODULES = 1.0
"""So far from where it should be a third mark is looked for, where the picture is from straight above."""

STRAIGHT = 0.1
"""How much longer or shorter than expected a leg may be on a picture from straight above."""

_FINE = 16


@dataclass(frozen=True, slots=True, eq=False)
class _Marks:
    """How well a mark fits at every place, and the places where it fits best."""

    fit: npt.NDArray[np.float32]
    points: Floats
    """`(n, 2)`, with parts of a pixel."""

    values: npt.NDArray[np.float32]
    module_px: float
    slack: float
    """How much longer or shorter than expected a leg may be."""


def squares(image: Image, module_px: float, slack: float = STRAIGHT) -> Floats:
    """The squares on a grey picture `(H, W) uint8` that may be codes, the likeliest first.

    Each is a matrix `(3, 3)` from a code's modules to pixels; all together `(n, 3, 3)`.
    """
    mark = _mark(round(module_px, 2))
    if min(image.shape) <= 2 * LEG_MODULES * module_px:
        return np.empty((0, 3, 3))
    soft = cv2.GaussianBlur(image, (0, 0), SOFTENED_MODULES * module_px)
    fit = cv2.matchTemplate(soft, mark, cv2.TM_CCOEFF_NORMED)
    fit[_is_faint(soft, len(mark))] = 0
    marks = _Marks(fit, *_peaks(fit), module_px, slack)
    found = sorted(_triples(marks), key=lambda triple: -triple[0])
    corners = np.array([points for _, points in found]).reshape(-1, 3, 2) + (mark.shape[0] - 1) / 2
    return _as_matrices(corners[_apart(corners, module_px)])


@lru_cache(maxsize=32)
def _mark(module_px: float) -> npt.NDArray[np.uint8]:
    """A mark averaged over all its turns, as light as it is printed."""
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


def _is_faint(image: Image, side: int) -> npt.NDArray[np.bool_]:
    """Where the contrast within a window is too low for print, one value for each place of the window."""
    light = cv2.blur(image, (side, side))
    spread = cv2.absdiff(image, light)
    half = side // 2
    whole = np.s_[half : image.shape[0] - half, half : image.shape[1] - half]
    return (cv2.blur(spread, (side, side)).astype(np.float32) < LEAST_CONTRAST * light)[whole]


def _peaks(fit: npt.NDArray[np.float32]) -> tuple[Floats, npt.NDArray[np.float32]]:
    """The places where a mark fits better than all around, and how well."""
    rows, columns = np.nonzero((fit >= cv2.dilate(fit, np.ones((5, 5), np.uint8))) & (fit > SURE_MARK))
    values = fit[rows, columns]
    best = np.argsort(-values)[:MOST_MARKS]
    return _refined(fit, columns[best], rows[best]), values[best]


def _refined(fit: npt.NDArray[np.float32], x: npt.NDArray[np.int64], y: npt.NDArray[np.int64]) -> Floats:
    """Peaks to parts of a pixel: the top of a parabola through each and its neighbours, `(n, 2)`."""
    x, y = x.clip(1, fit.shape[1] - 2), y.clip(1, fit.shape[0] - 2)
    here = fit[y, x]
    return np.column_stack((x + _top(fit[y, x - 1], here, fit[y, x + 1]), y + _top(fit[y - 1, x], here, fit[y + 1, x])))


def _top(before: Floats, here: Floats, after: Floats) -> Floats:
    bend = before + after - 2 * here
    return np.where(bend < -1e-6, (before - after) / (2 * np.where(bend < -1e-6, bend, -1)), 0.0).clip(-0.6, 0.6)


# --- Three marks at a right angle -------------------------------------------------------------------------------


def _triples(marks: _Marks) -> Iterator[tuple[float, Floats]]:
    """Each three places that may be a code's marks, `(3, 2)`: top left, top right, bottom left."""
    if len(marks.points) < 2:
        return
    between = marks.points[None] - marks.points[:, None]
    lengths = np.hypot(between[..., 0], between[..., 1]) / (LEG_MODULES * marks.module_px)
    one, other = np.nonzero(np.abs(lengths - 1) < marks.slack)
    leg = between[one, other]
    yield from _with_third(marks, one, other, marks.points[one] + _turned(leg), (0, 1, 2))
    yield from _with_third(marks, one, other, marks.points[one] - _turned(leg), (0, 2, 1))
    one, other = np.nonzero(np.abs(lengths / 2**0.5 - 1) < marks.slack)
    middle, across = (marks.points[one] + marks.points[other]) / 2, _turned(between[one, other]) / 2
    yield from _with_third(marks, one, other, middle - across, (1, 2, 0))


def _turned(vectors: Floats) -> Floats:
    """Vectors turned a quarter clockwise, as the picture shows it."""
    return np.column_stack((-vectors[:, 1], vectors[:, 0]))


def _with_third(
    marks: _Marks,
    one: npt.NDArray[np.int64],
    other: npt.NDArray[np.int64],
    expected: Floats,
    roles: tuple[int, int, int],
) -> Iterator[tuple[float, Floats]]:
    """The pairs whose third mark fits near where it is expected; `roles` says which corner each of the three is."""
    reach = max(1, round(REACH_MODULES * marks.module_px * marks.slack / STRAIGHT))
    height, width = marks.fit.shape
    x, y = np.rint(expected).astype(int).T
    inside = (x >= reach) & (y >= reach) & (x < width - reach) & (y < height - reach)
    best = cv2.dilate(marks.fit, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
    third = best[y.clip(0, height - 1), x.clip(0, width - 1)]
    strength = third + marks.values[one] + marks.values[other]
    for n in np.flatnonzero(inside & (third >= POOR_MARK) & (strength >= THREE_MARKS)):
        near = marks.fit[y[n] - reach : y[n] + reach + 1, x[n] - reach : x[n] + reach + 1]
        row, column = divmod(int(near.argmax()), 2 * reach + 1)
        three = np.empty((3, 2))
        three[list(roles[:2])] = marks.points[one[n]], marks.points[other[n]]
        three[roles[2]] = _refined(marks.fit, np.array([x[n] - reach + column]), np.array([y[n] - reach + row]))[0]
        yield float(strength[n]), three


def _apart(corners: Floats, module_px: float) -> list[int]:
    """Which of the triples to keep: of those that mean the same square only the first."""
    kept: list[int] = []
    for n, triple in enumerate(corners):
        same = np.abs(corners[kept] - triple).max(axis=(1, 2)) < module_px if kept else np.zeros(0, bool)
        if not same.any():
            kept.append(n)
    return kept


def _as_matrices(corners: Floats) -> Floats:
    """From the middles of three marks to what carries a code's modules to pixels, `(n, 3, 3)`."""
    across = (corners[:, 1] - corners[:, 0]) / LEG_MODULES
    down = (corners[:, 2] - corners[:, 0]) / LEG_MODULES
    matrices = np.zeros((len(corners), 3, 3))
    matrices[:, :2, 0], matrices[:, :2, 1], matrices[:, 2, 2] = across, down, 1
    matrices[:, :2, 2] = corners[:, 0] - 3.5 * (across + down)
    return matrices

"""Identify a square's sticker code by comparing it with all codes.

Squares are sampled twice per module, without coarse shading. Modules that all codes share show whether it is a code
(`structure`), the others which: `score` is the best correlation, `margin` its lead over the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from companion.tabletop import sticker_codes
from companion.tabletop.sticker_codes import MODULES
from companion.vision.boxes import Floats32, Image, blurring, first_of_each
from companion.vision.opencv import cv2

Homographies = npt.NDArray[np.float64]  # modules (0 … 21) → pixels, `(n, 3, 3)`
PER_MODULE = 2
BLURS_MODULES = (0.45, 0.7, 1.0, 1.4)  # σ, from sharp to out of focus
SHIFTS_MODULES = (-0.35, 0.0, 0.35)
RIM_MODULES = 1  # white around a code, to read its outer row
SHADING_MODULES = 11
LEAST_STRUCTURE = 0.45
LEAST_SCORE = 0.33
LEAST_SUM = 0.55
"""Squares below these at first are not examined further.

On photos, score plus margin of small print seldom reaches 0.55; codes hardly ever have less than 0.7.
"""

PLACE_MODULES, MOST_ON_A_PLACE = 6.0, 4
MOST_READ, MOST_READ_CLOSELY = 1500, 250  # to compare; to compare again shifted
_BLOCK = 256

CLEAR_SCORE, CLEAR_MARGIN = 0.8, 0.4  # enough after one comparison
_DRAWN_PER_MODULE = 4
_SIDE = (MODULES + 2 * RIM_MODULES) * PER_MODULE
_WITHIN = slice(RIM_MODULES * PER_MODULE, -RIM_MODULES * PER_MODULE)
_INNER = np.s_[..., _WITHIN, _WITHIN]


@dataclass(frozen=True, slots=True)
class Reading:
    """A square's best cards."""

    ranking: tuple[tuple[str, float], ...]  # three best cards, and fit (-1 … 1)
    structure: float  # similarity to any version 1 code (-1 … 1)
    matrix: npt.NDArray[np.float64]  # modules → pixels, `(3, 3)`

    @property
    def card(self) -> str:
        return self.ranking[0][0]

    @property
    def score(self) -> float:
        return self.ranking[0][1]

    @property
    def margin(self) -> float:
        return self.ranking[0][1] - self.ranking[1][1]


@dataclass(frozen=True, slots=True, eq=False)
class _Book:
    """Codes under each blur: `b` blurs, `n` codes, `f` shared and `v` varying samples."""

    varies: npt.NDArray[np.bool_]  # `(42 * 42,)`
    common: Floats32  # shared by all codes, unit vectors `(b, f)`
    mean_fixed: Floats32
    mean_varying: Floats32  # mean code: shared samples `(b, f)`, varying `(b, v)`
    glance: npt.NDArray[np.float64]  # centers of shared modules, `(3, m)`
    at_a_glance: Floats32  # their values, unit vectors `(b, m)`
    apart: Floats32  # codes minus the mean, unit vectors `(b * n, v)`


def read_squares(image: Image, squares: Homographies) -> list[Reading | None]:
    """Read squares on a picture `(H, W) uint8`; None if not a version 1 code."""
    readings: list[Reading | None] = [None] * len(squares)
    if not len(squares):
        return readings
    likely = _likeliest(squares, _structure(image, squares))
    for index, reading in zip(likely, _read_at_once(image, squares[likely]), strict=True):
        readings[index] = reading
    told = [(index, reading) for index in likely if (reading := readings[index]) is not None]
    unclear = [(index, r) for index, r in told if r.score < CLEAR_SCORE or r.margin < CLEAR_MARGIN]
    doubtful = [(i, r) for i, r in unclear if r.score >= LEAST_SCORE and r.score + r.margin >= LEAST_SUM]
    doubtful.sort(key=lambda item: -item[1].score - item[1].margin)
    for index, _ in doubtful[:MOST_READ_CLOSELY]:
        readings[index] = _read_closely(image, squares[index])
    return [reading if reading and reading.score >= LEAST_SCORE else None for reading in readings]


def _likeliest(squares: Homographies, structure: Floats32) -> npt.NDArray[np.int64]:
    """Return indices of the best few squares per place."""
    order = np.flatnonzero(structure >= LEAST_STRUCTURE)
    order = order[np.argsort(-structure[order])]
    middles = squares[order] @ (MODULES / 2, MODULES / 2, 1)
    place_px = PLACE_MODULES * np.linalg.norm(squares[order][:, :2, 0], axis=1)
    cells = middles[:, :2] / middles[:, 2:] / place_px[:, None]
    return order[first_of_each(np.floor(cells).T, MOST_ON_A_PLACE)][:MOST_READ]


def _structure(image: Image, squares: Homographies) -> Floats32:
    """Return the similarity to any code `(k,)`, by shared modules only."""
    book = _book()
    seen = []
    for start in range(0, len(squares), 16 * _BLOCK):
        samples = _sampled(image, squares[start : start + 16 * _BLOCK], book.glance)
        seen.append((_unit(samples - samples.mean(axis=1, keepdims=True)) @ book.at_a_glance.T).max(axis=1))
    return np.concatenate(seen)


def _read_at_once(image: Image, squares: Homographies) -> Iterator[Reading]:
    """Yield the readings of squares, in blocks to save memory."""
    for start in range(0, len(squares), _BLOCK):
        block = squares[start : start + _BLOCK]
        structure, scores = _compared(image, block)
        yield from (_reading(scores[n], structure[n], block[n]) for n in range(len(block)))


def _read_closely(image: Image, square: npt.NDArray[np.float64]) -> Reading:
    """Read a square again, shifted."""
    shifts = [np.array([[1, 0, dx], [0, 1, dy], [0, 0, 1]]) for dx in SHIFTS_MODULES for dy in SHIFTS_MODULES]
    shifted = np.stack([square @ shift for shift in shifts])
    structure, scores = _compared(image, shifted)
    return _reading(scores.max(axis=0), structure.max(), shifted[scores.max(axis=1).argmax()])


def _reading(scores: Floats32, structure: float, matrix: npt.NDArray[np.float64]) -> Reading:
    three = np.argsort(-scores)[:3]
    return Reading(tuple((sticker_codes.CARDS[n], float(scores[n])) for n in three), float(structure), matrix)


def _compared(image: Image, squares: Homographies) -> tuple[Floats32, Floats32]:
    """Return the similarity to any code `(k,)` and to each code `(k, n)`, at the best blur."""
    book = _book()
    patches = _sampled(image, squares, _grid()).reshape(-1, _SIDE, _SIDE)
    samples = _flattened(patches)[_INNER].reshape(len(squares), -1)
    fixed, varying = samples[:, ~book.varies], samples[:, book.varies]
    structure = (_unit(fixed - fixed.mean(axis=1, keepdims=True)) @ book.common.T).max(axis=1)
    scores = [_fitting(book, blur, fixed, varying) for blur in range(len(BLURS_MODULES))]
    return structure, np.maximum.reduce(scores)


def _fitting(book: _Book, blur: int, fixed: Floats32, varying: Floats32) -> Floats32:
    """Return the correlation with all codes, without the shared part, `(k, n)`."""
    mean = book.mean_fixed[blur]
    contrast = (fixed @ mean) / (mean @ mean)
    rest = varying - contrast[:, None] * book.mean_varying[blur]
    count = len(sticker_codes.CARDS)
    return _unit(rest - rest.mean(axis=1, keepdims=True)) @ book.apart[blur * count : (blur + 1) * count].T


def _sampled(image: Image, squares: Homographies, points: npt.NDArray[np.float64]) -> Floats32:
    """Sample squares at points `(3, m)` in modules, `(k, m)`."""
    x, y, w = np.moveaxis(squares @ points, 1, 0)
    at = (x / w).astype(np.float32), (y / w).astype(np.float32)
    # One call for all squares, as rows of a picture.
    return cv2.remap(image, *at, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE).astype(np.float32)


@cache
def _grid() -> npt.NDArray[np.float64]:
    """Return a code's sample points, with rim, `(3, side * side)`."""
    at = (np.arange(_SIDE) + 0.5) / PER_MODULE - RIM_MODULES
    return np.stack((*(part.ravel() for part in np.meshgrid(at, at)), np.ones(_SIDE * _SIDE)))


def _flattened(patches: Floats32) -> Floats32:
    """Remove coarse shading."""
    size = SHADING_MODULES * PER_MODULE // 2 | 1
    return np.stack([p - cv2.blur(p, (size, size), borderType=cv2.BORDER_REPLICATE) for p in patches])


def _unit(vectors: Floats32) -> Floats32:
    return vectors / (np.linalg.norm(vectors, axis=-1, keepdims=True) + 1e-6)


# --- The book ---------------------------------------------------------------------------------------------------


@cache
def _book() -> _Book:
    light = 1.0 - np.array([sticker_codes.modules(card) for card in sticker_codes.CARDS], np.float32)
    shared = (light == light[0]).all(axis=0)
    varies = np.kron(~shared, np.ones((PER_MODULE, PER_MODULE), bool)).ravel()
    middles = np.stack((*np.argwhere(shared)[:, ::-1].T + 0.5, np.ones(shared.sum())))
    mean, apart, glance = zip(*(_looks(light, blur, varies) for blur in BLURS_MODULES), strict=True)
    fixed, at_a_glance = np.stack(mean)[:, ~varies], np.stack(glance)[:, shared]
    return _Book(
        varies=varies,
        common=_unit(fixed - fixed.mean(axis=1, keepdims=True)),
        mean_fixed=fixed,
        mean_varying=np.stack(mean)[:, varies],
        glance=middles,
        at_a_glance=_unit(at_a_glance - at_a_glance.mean(axis=1, keepdims=True)),
        apart=np.concatenate(apart),
    )


def _looks(light: Floats32, blur_modules: float, varies: npt.NDArray[np.bool_]) -> tuple[Floats32, Floats32, Floats32]:
    """Return the blurred codes' mean, and each one's difference where they vary.

    `light` are the codes `(n, 21, 21)`. Also return each module's mean with shading, `(21, 21)`.
    """
    around = RIM_MODULES + 4
    side, cut = MODULES + 2 * around, (around - RIM_MODULES) * PER_MODULE
    across = blurring(side, blur_modules, _DRAWN_PER_MODULE, PER_MODULE)[cut:-cut]
    seen = across @ np.pad(light, ((0, 0), (around, around), (around, around)), constant_values=1) @ across.T
    looks = _flattened(seen)[_INNER].reshape(len(light), -1)
    mean = looks.mean(axis=0)
    by_module = seen.mean(axis=0)[_INNER].reshape(MODULES, PER_MODULE, MODULES, PER_MODULE)
    return mean, _unit((looks - mean)[:, varies]), by_module.mean(axis=(1, 3))

"""Identify a square's sticker code by comparing it with all codes.

Squares are sampled twice per module, without coarse shading; before that once per module, which rules out most of them.
Modules that all codes share show whether it is a code (`structure`), the others which: `score` is the best correlation,
`margin` its lead over the next. What is not read so may be covered in part (`covered_codes`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from companion.tabletop import sticker_codes
from companion.tabletop.sticker_codes import MODULES
from companion.vision.boxes import Floats32, Image, first_of_each
from companion.vision.opencv import cv2
from companion.vision.stickers.code_samples import (
    BLURS_MODULES,
    INNER,
    PER_MODULE,
    RIM_MODULES,
    Homographies,
    Levels,
    Reading,
    blurred,
    centred,
    light_of_codes,
    middles_of,
    modules_px,
    unit,
)
from companion.vision.stickers.covered_codes import read_covered

SHIFTS_MODULES = (-0.35, 0.0, 0.35)
SHADING_MODULES = 11


@dataclass(frozen=True, slots=True)
class CodeLimits:
    """Which squares are compared, from the cheapest test to the dearest.

    Set on the pictures of `tests.bench.eye` and `tests.bench.readings`: as strict as possible without losing a code.
    """

    structure: float = 0.38  # minimum similarity of shared modules; codes that are found a little off have 0.39
    place_modules: float = 8.0  # size of a place
    most_on_a_place: int = 4
    most_compared: int = 1500
    promise: float = 0.5  # minimum score plus margin by one sample a module: nearly all codes have more, print seldom
    promise_blur: int = 1  # of `BLURS_MODULES`
    score: float = 0.33
    doubtful_sum: float = 0.55  # score plus margin below which a square is not read again, shifted
    most_doubtful: int = 250
    clear_score: float = 0.8
    clear_margin: float = 0.4  # with this score and margin one comparison is enough


LIMITS = CodeLimits()
_BLOCK = 256  # squares compared at once, to save memory
_SIDE = (MODULES + 2 * RIM_MODULES) * PER_MODULE


@dataclass(frozen=True, slots=True, eq=False)
class _Book:
    """Codes under each blur: `b` blurs, `n` codes, `f` shared and `v` varying samples."""

    varies: npt.NDArray[np.bool_]  # `(42 * 42,)`
    common: Floats32  # shared by all codes, unit vectors `(b, f)`
    mean_fixed: Floats32
    mean_varying: Floats32  # mean code: shared samples `(b, f)`, varying `(b, v)`
    glance: Floats32  # centers of shared modules, `(3, m)`
    at_a_glance: Floats32  # their values, unit vectors `(b, m)`
    apart: Floats32  # codes minus the mean, unit vectors `(b * n, v)`
    modules: Floats32  # centers of all modules, shared ones first, `(3, 441)`
    even: Floats32  # values of shared modules at one blur, `(m,)`
    mean_module: Floats32  # mean of the others
    module_apart: Floats32  # codes minus the mean, unit vectors `(n, 441 - m)`


def read_squares(image: Image, squares: Homographies) -> list[Reading | None]:
    """Read squares on a picture `(H, W) uint8`; None if not a version 1 code."""
    if not len(squares):
        return []
    levels, book = Levels(image, squares), _book()
    glances = _glances(levels, squares)
    likely = _likeliest(squares, (glances @ book.at_a_glance.T).max(axis=1))
    likely = likely[_promise(levels, squares[likely]) >= LIMITS.promise]
    found = dict(zip(likely.tolist(), _read_each(levels, squares[likely, None]), strict=True))
    doubtful = sorted((index for index in found if _is_doubtful(found[index])), key=lambda index: -found[index].sum)
    doubtful = doubtful[: LIMITS.most_doubtful]
    found |= zip(doubtful, _read_each(levels, squares[doubtful, None] @ _shifts()), strict=True)
    sure = [index for index, reading in found.items() if reading.is_sure]
    found |= read_covered(levels, squares, glances, (book.glance, book.at_a_glance), sure)
    readings = map(found.get, range(len(squares)))
    return [reading if reading and reading.score >= LIMITS.score else None for reading in readings]


def _is_doubtful(reading: Reading) -> bool:
    is_clear = reading.score >= LIMITS.clear_score and reading.margin >= LIMITS.clear_margin
    return not is_clear and reading.score >= LIMITS.score and reading.sum >= LIMITS.doubtful_sum


def _likeliest(squares: Homographies, structure: Floats32) -> npt.NDArray[np.int64]:
    """Return indices of the best few squares of similar size per place."""
    order = np.flatnonzero(structure >= LIMITS.structure)
    order = order[np.argsort(-structure[order])]
    octave_px = np.exp2(np.floor(np.log2(modules_px(squares[order]))))
    cells = middles_of(squares[order]) / (LIMITS.place_modules * octave_px[:, None])
    places = np.stack((*np.floor(cells).T, octave_px))
    return order[first_of_each(places, LIMITS.most_on_a_place)][: LIMITS.most_compared]


def _glances(levels: Levels, squares: Homographies) -> Floats32:
    """Return the shared modules' levels in their centers as rows of mean 0 and length 1, `(k, m)`."""
    step, points = 16 * _BLOCK, _book().glance
    blocks = [levels.sampled(squares[start : start + step], points) for start in range(0, len(squares), step)]
    return centred(np.concatenate(blocks))


def _promise(levels: Levels, squares: Homographies) -> Floats32:
    """Return score plus margin `(k,)` by one sample a module at one blur."""
    if not len(squares):
        return np.empty(0, np.float32)
    book = _book()
    samples = levels.sampled(squares, book.modules)
    fixed, varying = samples[:, : len(book.even)], samples[:, len(book.even) :]
    even = book.even - book.even.mean()
    contrast = (fixed @ even) / (even @ even)
    rest = varying - contrast[:, None] * book.mean_module
    scores = centred(rest) @ book.module_apart.T
    second, first = np.partition(scores, -2, axis=1)[:, -2:].T
    return 2 * first - second


def _read_each(levels: Levels, squares: npt.NDArray[np.float64]) -> Iterator[Reading]:
    """Yield the reading of each square, the best of its versions `(n, versions, 3, 3)`, in blocks to save memory."""
    versions = squares.shape[1]
    for start in range(0, len(squares), step := max(1, _BLOCK // versions)):
        block = squares[start : start + step]
        structure, scores = _compared(levels, block.reshape(-1, 3, 3))
        structure, scores = structure.reshape(-1, versions), scores.reshape(len(block), versions, -1)
        for n, best in enumerate(scores.max(axis=2).argmax(axis=1)):
            yield _reading(scores[n].max(axis=0), structure[n].max(), block[n, best])


@cache
def _shifts() -> Homographies:
    """Return small shifts in modules, `(9, 3, 3)`."""
    return np.array([[[1, 0, dx], [0, 1, dy], [0, 0, 1]] for dx in SHIFTS_MODULES for dy in SHIFTS_MODULES], float)


def _reading(scores: Floats32, structure: float, matrix: npt.NDArray[np.float64]) -> Reading:
    three = np.argsort(-scores)[:3]
    return Reading(tuple((sticker_codes.CARDS[n], float(scores[n])) for n in three), float(structure), matrix)


def _compared(levels: Levels, squares: Homographies) -> tuple[Floats32, Floats32]:
    """Return the similarity to any code `(k,)` and to each code `(k, n)`, at the best blur."""
    book = _book()
    patches = levels.sampled(squares, _grid()).reshape(-1, _SIDE, _SIDE)
    samples = _flattened(patches)[INNER].reshape(len(squares), -1)
    fixed, varying = samples[:, ~book.varies], samples[:, book.varies]
    structure = (centred(fixed) @ book.common.T).max(axis=1)
    scores = [_fitting(book, blur, fixed, varying) for blur in range(len(BLURS_MODULES))]
    return structure, np.maximum.reduce(scores)


def _fitting(book: _Book, blur: int, fixed: Floats32, varying: Floats32) -> Floats32:
    """Return the correlation with all codes, without the shared part, `(k, n)`."""
    mean = book.mean_fixed[blur]
    contrast = (fixed @ mean) / (mean @ mean)
    rest = varying - contrast[:, None] * book.mean_varying[blur]
    count = len(sticker_codes.CARDS)
    return centred(rest) @ book.apart[blur * count : (blur + 1) * count].T


@cache
def _grid() -> Floats32:
    """Return a code's sample points, with rim, `(3, side * side)`."""
    at = (np.arange(_SIDE, dtype=np.float32) + 0.5) / PER_MODULE - RIM_MODULES
    return np.stack((*(part.ravel() for part in np.meshgrid(at, at)), np.ones(_SIDE * _SIDE, np.float32)))


def _flattened(patches: Floats32) -> Floats32:
    """Remove coarse shading."""
    size = SHADING_MODULES * PER_MODULE // 2 | 1
    return np.stack([p - cv2.blur(p, (size, size), borderType=cv2.BORDER_REPLICATE) for p in patches])


# --- The book ---------------------------------------------------------------------------------------------------


@cache
def _book() -> _Book:
    light = light_of_codes()
    shared = (light == light[0]).all(axis=0)
    varies = np.kron(~shared, np.ones((PER_MODULE, PER_MODULE), bool)).ravel()
    places = [np.argwhere(which)[:, ::-1].T + 0.5 for which in (shared, ~shared)]
    middles, others = (np.float32([*at, np.ones(at.shape[1])]) for at in places)
    mean, apart, glance = zip(*(_looks(light, blur, varies) for blur in BLURS_MODULES), strict=True)
    fixed, at_a_glance = np.stack(mean)[:, ~varies], np.stack([each.mean(axis=0) for each in glance])[:, shared]
    one_blur = glance[LIMITS.promise_blur]
    mean_module = one_blur.mean(axis=0)
    return _Book(
        varies=varies,
        common=centred(fixed),
        mean_fixed=fixed,
        mean_varying=np.stack(mean)[:, varies],
        glance=middles,
        at_a_glance=centred(at_a_glance),
        apart=np.concatenate(apart),
        modules=np.concatenate((middles, others), axis=1),
        even=mean_module[shared],
        mean_module=mean_module[~shared],
        module_apart=unit((one_blur - mean_module)[:, ~shared]),
    )


def _looks(light: Floats32, blur_modules: float, varies: npt.NDArray[np.bool_]) -> tuple[Floats32, Floats32, Floats32]:
    """Return the blurred codes' mean, and each one's difference where they vary.

    `light` are the codes `(n, 21, 21)`. Also return each module's mean with shading, `(21, 21)`.
    """
    seen = blurred(light, blur_modules)
    looks = _flattened(seen)[INNER].reshape(len(light), -1)
    mean = looks.mean(axis=0)
    by_module = seen[INNER].reshape(-1, MODULES, PER_MODULE, MODULES, PER_MODULE)
    return mean, unit((looks - mean)[:, varies]), by_module.mean(axis=(2, 4))

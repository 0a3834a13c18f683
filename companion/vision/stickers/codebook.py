"""Identify a square's sticker code by comparing it with all codes.

Squares are sampled twice per module, without coarse shading; before that once per module, which rules out most of them.
Modules that all codes share show whether it is a code (`structure`), the others which: `score` is the best correlation,
`margin` its lead over the next.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from companion.tabletop import sticker_codes
from companion.tabletop.sticker_codes import MODULES
from companion.vision.boxes import Floats, Floats32, Image, around, blurring, first_of_each, shrunk
from companion.vision.opencv import cv2

Homographies = npt.NDArray[np.float64]  # modules (0 … 21) → pixels, `(n, 3, 3)`
PER_MODULE = 2
BLURS_MODULES = (0.45, 0.7, 1.0, 1.4)  # σ, from sharp to out of focus
SHIFTS_MODULES = (-0.35, 0.0, 0.35)
RIM_MODULES = 1  # white around a code, to read its outer row
SHADING_MODULES = 11


@dataclass(frozen=True, slots=True)
class CodeLimits:
    """Which squares are compared, from the cheapest test to the dearest.

    Set on the pictures of `tests.bench.eye` and `tests.bench.readings`: as strict as possible without losing a code.
    """

    smooth_px: float = 0.5  # blur (σ) of the picture; without it, noise costs one reading in 15 in dim light
    finest_px: float = 1.5  # minimum size of a module on the smaller pictures that large codes are read from
    most_halvings: int = 3
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
_DRAWN_PER_MODULE = 4
_SIDE = (MODULES + 2 * RIM_MODULES) * PER_MODULE
_WITHIN = slice(RIM_MODULES * PER_MODULE, -RIM_MODULES * PER_MODULE)
_INNER = np.s_[..., _WITHIN, _WITHIN]
_CORNERS = np.array([(0, 0, 1), (MODULES, 0, 1), (MODULES, MODULES, 1), (0, MODULES, 1)], float).T


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

    @property
    def sum(self) -> float:
        return self.score + self.margin


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
    levels = _Levels(image, squares)
    likely = _likeliest(squares, _structure(levels, squares))
    likely = likely[_promise(levels, squares[likely]) >= LIMITS.promise]
    found = dict(zip(likely.tolist(), _read_each(levels, squares[likely, None]), strict=True))
    doubtful = sorted((index for index in found if _is_doubtful(found[index])), key=lambda index: -found[index].sum)
    doubtful = doubtful[: LIMITS.most_doubtful]
    found |= zip(doubtful, _read_each(levels, squares[doubtful, None] @ _shifts()), strict=True)
    readings = map(found.get, range(len(squares)))
    return [reading if reading and reading.score >= LIMITS.score else None for reading in readings]


def _is_doubtful(reading: Reading) -> bool:
    is_clear = reading.score >= LIMITS.clear_score and reading.margin >= LIMITS.clear_margin
    return not is_clear and reading.score >= LIMITS.score and reading.sum >= LIMITS.doubtful_sum


def quads_of(squares: Homographies) -> Floats:
    """Return the corners of squares `(…, 3, 3)`, `(…, 4, 2)`, clockwise from the top left."""
    seen = np.swapaxes(squares @ _CORNERS, -1, -2)
    return seen[..., :2] / seen[..., 2:]


def modules_px(squares: Homographies) -> Floats:
    """Return the size of a module in the middle of each square, `(n,)`."""
    middles = squares @ (MODULES / 2, MODULES / 2, 1)
    across, down = (squares[:, :2, n] - squares[:, 2:, n] * middles[:, :2] / middles[:, 2:] for n in (0, 1))
    return np.sqrt(np.abs(across[:, 0] * down[:, 1] - across[:, 1] * down[:, 0])) / np.abs(middles[:, 2])


def _likeliest(squares: Homographies, structure: Floats32) -> npt.NDArray[np.int64]:
    """Return indices of the best few squares of similar size per place."""
    order = np.flatnonzero(structure >= LIMITS.structure)
    order = order[np.argsort(-structure[order])]
    middles = squares[order] @ (MODULES / 2, MODULES / 2, 1)
    octave_px = np.exp2(np.floor(np.log2(modules_px(squares[order]))))
    cells = middles[:, :2] / middles[:, 2:] / (LIMITS.place_modules * octave_px[:, None])
    places = np.stack((*np.floor(cells).T, octave_px))
    return order[first_of_each(places, LIMITS.most_on_a_place)][: LIMITS.most_compared]


class _Levels:
    """The part of a picture that shows squares, slightly blurred, and the same at a half, a quarter and an eighth."""

    def __init__(self, image: Image, squares: Homographies) -> None:
        spare_px = 2 * math.ceil(modules_px(squares).max()) + 2
        box = around(quads_of(squares)).padded(spare_px)
        self._box = box.within(image.shape[1], image.shape[0])
        self._images = [cv2.GaussianBlur(self._box.of(image), (3, 3), LIMITS.smooth_px)] if self._box.area_px else []

    def sampled(self, squares: Homographies, points: Floats32) -> Floats32:
        """Sample squares at points `(3, m)` in modules, each from the level that suits its size, `(k, m)`."""
        samples = np.empty((len(squares), points.shape[1]), np.float32)
        levels = np.log2(np.maximum(modules_px(squares) / LIMITS.finest_px, 1)).astype(int)
        levels = levels.clip(0, LIMITS.most_halvings)
        for level in np.unique(levels):
            here, size = levels == level, 2.0**level
            left, top = (side + 0.5 * size - 0.5 for side in self._box[:2])
            onto = np.array([[1 / size, 0, -left / size], [0, 1 / size, -top / size], [0, 0, 1]])
            seen = np.float32(onto @ squares[here]).reshape(-1, 3) @ points
            x, y, w = np.moveaxis(seen.reshape(-1, 3, points.shape[1]), 1, 0)
            # One call for all squares, as rows of a picture.
            samples[here] = cv2.remap(self._at(level), x / w, y / w, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return samples

    def _at(self, level: int) -> Image:
        while len(self._images) <= level:
            self._images.append(shrunk(self._images[-1], 0.5))
        return self._images[level]


def _structure(levels: _Levels, squares: Homographies) -> Floats32:
    """Return the similarity to any code `(k,)`, by shared modules only."""
    book = _book()
    seen = []
    for start in range(0, len(squares), 16 * _BLOCK):
        samples = levels.sampled(squares[start : start + 16 * _BLOCK], book.glance)
        seen.append((_unit(samples - samples.mean(axis=1, keepdims=True)) @ book.at_a_glance.T).max(axis=1))
    return np.concatenate(seen)


def _promise(levels: _Levels, squares: Homographies) -> Floats32:
    """Return score plus margin `(k,)` by one sample a module at one blur."""
    if not len(squares):
        return np.empty(0, np.float32)
    book = _book()
    samples = levels.sampled(squares, book.modules)
    fixed, varying = samples[:, : len(book.even)], samples[:, len(book.even) :]
    even = book.even - book.even.mean()
    contrast = (fixed @ even) / (even @ even)
    rest = varying - contrast[:, None] * book.mean_module
    scores = _unit(rest - rest.mean(axis=1, keepdims=True)) @ book.module_apart.T
    second, first = np.partition(scores, -2, axis=1)[:, -2:].T
    return 2 * first - second


def _read_each(levels: _Levels, squares: npt.NDArray[np.float64]) -> Iterator[Reading]:
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


def _compared(levels: _Levels, squares: Homographies) -> tuple[Floats32, Floats32]:
    """Return the similarity to any code `(k,)` and to each code `(k, n)`, at the best blur."""
    book = _book()
    patches = levels.sampled(squares, _grid()).reshape(-1, _SIDE, _SIDE)
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


@cache
def _grid() -> Floats32:
    """Return a code's sample points, with rim, `(3, side * side)`."""
    at = (np.arange(_SIDE, dtype=np.float32) + 0.5) / PER_MODULE - RIM_MODULES
    return np.stack((*(part.ravel() for part in np.meshgrid(at, at)), np.ones(_SIDE * _SIDE, np.float32)))


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
    places = [np.argwhere(which)[:, ::-1].T + 0.5 for which in (shared, ~shared)]
    middles, others = (np.float32([*at, np.ones(at.shape[1])]) for at in places)
    mean, apart, glance = zip(*(_looks(light, blur, varies) for blur in BLURS_MODULES), strict=True)
    fixed, at_a_glance = np.stack(mean)[:, ~varies], np.stack([each.mean(axis=0) for each in glance])[:, shared]
    one_blur = glance[LIMITS.promise_blur]
    mean_module = one_blur.mean(axis=0)
    return _Book(
        varies=varies,
        common=_unit(fixed - fixed.mean(axis=1, keepdims=True)),
        mean_fixed=fixed,
        mean_varying=np.stack(mean)[:, varies],
        glance=middles,
        at_a_glance=_unit(at_a_glance - at_a_glance.mean(axis=1, keepdims=True)),
        apart=np.concatenate(apart),
        modules=np.concatenate((middles, others), axis=1),
        even=mean_module[shared],
        mean_module=mean_module[~shared],
        module_apart=_unit((one_blur - mean_module)[:, ~shared]),
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
    by_module = seen[_INNER].reshape(-1, MODULES, PER_MODULE, MODULES, PER_MODULE)
    return mean, _unit((looks - mean)[:, varies]), by_module.mean(axis=(2, 4))

"""Sticker codes as a camera sees them: blurred, sampled twice per module, and with the cards that they resemble."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from companion.tabletop import sticker_codes
from companion.tabletop.sticker_codes import MODULES
from companion.vision.boxes import Floats, Floats32, Image, around, blurring, shrunk
from companion.vision.opencv import cv2

Homographies = npt.NDArray[np.float64]  # modules (0 … 21) → pixels, `(n, 3, 3)`
PER_MODULE = 2
BLURS_MODULES = (0.45, 0.7, 1.0, 1.4)  # σ, from sharp to out of focus
RIM_MODULES = 1  # white around a code, to read its outer row
_WITHIN = slice(RIM_MODULES * PER_MODULE, -RIM_MODULES * PER_MODULE)
INNER = np.s_[..., _WITHIN, _WITHIN]  # samples without the rim
_DRAWN_PER_MODULE = 4
_CORNERS = np.array([(0, 0, 1), (MODULES, 0, 1), (MODULES, MODULES, 1), (0, MODULES, 1)], float).T


@dataclass(frozen=True, slots=True)
class SampleLimits:
    """How pictures of codes are sampled, and what makes a reading sure.

    Set on the pictures of `tests.bench.eye` and `tests.bench.readings`.
    """

    smooth_px: float = 0.5  # blur (σ) of the picture; without it, noise costs one reading in 15 in dim light
    finest_px: float = 1.5  # minimum size of a module on the smaller pictures that large codes are read from
    most_halvings: int = 3
    sure_score: float = 0.52  # minimum of a sure reading: noise and blur lower the score, not the margin
    sure_margin: float = 0.25
    sure_sum: float = 0.92  # of both


LIMITS = SampleLimits()


@dataclass(frozen=True, slots=True)
class Reading:
    """A square's best cards."""

    ranking: tuple[tuple[str, float], ...]  # three best cards, and fit (-1 … 1)
    structure: float  # similarity to any version 1 code (-1 … 1)
    matrix: npt.NDArray[np.float64]  # modules → pixels, `(3, 3)`
    shown: float = 1.0  # share of the code that was compared; the rest is covered

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

    @property
    def is_sure(self) -> bool:
        """True if it needs no other reader's agreement. What is partly covered is returned only if it is sure."""
        is_clear = self.score >= LIMITS.sure_score and self.margin >= LIMITS.sure_margin
        return self.shown < 1 or (is_clear and self.sum >= LIMITS.sure_sum)


class Levels:
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


def quads_of(squares: Homographies) -> Floats:
    """Return the corners of squares `(…, 3, 3)`, `(…, 4, 2)`, clockwise from the top left."""
    seen = np.swapaxes(squares @ _CORNERS, -1, -2)
    return seen[..., :2] / seen[..., 2:]


def middles_of(squares: Homographies) -> Floats:
    """Return the middles of squares on the picture, `(n, 2)`."""
    middles = squares @ (MODULES / 2, MODULES / 2, 1)
    return middles[:, :2] / middles[:, 2:]


def modules_px(squares: Homographies) -> Floats:
    """Return the size of a module in the middle of each square, `(n,)`."""
    middles = squares @ (MODULES / 2, MODULES / 2, 1)
    across, down = (squares[:, :2, n] - squares[:, 2:, n] * middles[:, :2] / middles[:, 2:] for n in (0, 1))
    return np.sqrt(np.abs(across[:, 0] * down[:, 1] - across[:, 1] * down[:, 0])) / np.abs(middles[:, 2])


@cache
def looks_of_codes(blur_modules: float) -> tuple[Floats32, Floats32]:
    """Return the blurred codes' mean `(side, side)`, and what each of them adds to it, `(n, side, side)`."""
    seen = blurred(light_of_codes(), blur_modules)[INNER]
    mean = seen.mean(axis=0)
    return mean, seen - mean


def light_of_codes() -> Floats32:
    """Return all codes, 1 where they are white, `(n, 21, 21)`."""
    light: Floats32 = 1.0 - np.array([sticker_codes.modules(card) for card in sticker_codes.CARDS], np.float32)
    return light


def blurred(light: Floats32, blur_modules: float) -> Floats32:
    """Return the samples of blurred codes with rim, `(n, side, side)`."""
    around = RIM_MODULES + 4
    side, cut = MODULES + 2 * around, (around - RIM_MODULES) * PER_MODULE
    across = blurring(side, blur_modules, _DRAWN_PER_MODULE, PER_MODULE)[cut:-cut]
    seen: Floats32 = across @ np.pad(light, ((0, 0), (around, around), (around, around)), constant_values=1) @ across.T
    return seen


def unit(vectors: Floats32) -> Floats32:
    """Return vectors `(…, n)` of length 1."""
    return vectors / (np.linalg.norm(vectors, axis=-1, keepdims=True) + 1e-6)


def centred(levels: Floats32) -> Floats32:
    """Return rows `(k, n)` of mean 0 and length 1, whose products are correlations."""
    return unit(levels - levels.mean(axis=1, keepdims=True))

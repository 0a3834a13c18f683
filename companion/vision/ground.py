"""The bare mat: what a located mat looks like in the light of one picture if nothing lies on it.

A mat has two surfaces, paper and zones, and light varies smoothly over it. So the logarithm of each channel is a cubic
polynomial of the place, plus a constant in zones. It is fitted robustly, in rising degrees: cards, hands and print are
outliers. A clipped channel may be any brighter: it only says that the light is no weaker.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Floats, Image, Mask

Colours = npt.NDArray[np.float32]  # `(h, w, 3)`, BGR levels


@dataclass(frozen=True, slots=True)
class GroundBars:
    """What is fitted, and how. Chosen by eye on two films, one in burnt-out light; not estimated."""

    clipped_level: int = 250  # a channel from here on may be brighter than it shows
    darkest_level: int = 6  # below, noise is larger than the level's differences
    step_px: int = 3  # every third pixel across and down is fitted
    outlier: float = 2.5  # residual, in robust standard deviations, that halves a pixel's weight
    noise: float = 0.02  # minimum standard deviation of the logarithm
    zone_shade: tuple[float, float, float] = (-0.32, -0.2, -0.13)  # printed zones against paper, blue, green, red
    prior_px: float = 40.0  # weight of what a zone's shade is expected to be, in pixels
    bend_px: float = 2.0  # weight of "the light does not vary", in pixels
    least_px: int = 60  # fewer visible pixels cannot be fitted


BARS = GroundBars()
DEGREES = (0, 1, 2, 3, 3, 3)


def clipped_alike(sheet: Image) -> Mask:
    """True where all channels of a picture `(h, w, 3) uint8` are clipped: nothing shows."""
    return sheet.min(axis=2) >= BARS.clipped_level


def clipped(sheet: Image) -> Mask:
    """True where a channel of a picture `(h, w, 3) uint8` is clipped."""
    return sheet.max(axis=2) >= BARS.clipped_level


def bare_mat(sheet: Image, zones: Mask, mat: Mask) -> Colours:
    """Return the expected levels `(h, w, 3)` of a bare mat in the light of a top view `(h, w, 3) uint8`.

    `zones` and `mat` are where zones are and what is fitted. Without enough to fit, paper has its median colors.
    """
    powers, terms = _terms(*sheet.shape[:2])
    step = BARS.step_px
    here = mat[::step, ::step] & (sheet[::step, ::step].max(axis=2) >= BARS.darkest_level)
    columns = np.dstack((terms, zones.astype(np.float32)))
    shape = (*sheet.shape[:2], 3)
    if np.count_nonzero(here) < BARS.least_px:
        colour = np.median(sheet[mat], axis=0) if mat.any() else np.full(3, 128.0)
        return np.broadcast_to(colour.astype(np.float32), shape).copy()
    seen = np.log(np.maximum(sheet[::step, ::step][here], BARS.darkest_level).astype(np.float64))
    factors = columns[::step, ::step][here].astype(np.float64)
    in_zone = factors[:, -1] > 0
    shades = [np.array(BARS.zone_shade)]
    if min(np.count_nonzero(in_zone), np.count_nonzero(~in_zone)) >= BARS.least_px:
        # Other ink or a drawn zone; wrong where cards hide most of the zones.
        shades.append(np.median(seen[in_zone], axis=0) - np.median(seen[~in_zone], axis=0))
    found, _ = min((_fitted(factors, seen, powers, shade) for shade in shades), key=lambda fit: fit[1])
    levels = np.exp(columns.reshape(-1, columns.shape[2]) @ found.astype(np.float32))
    return np.minimum(levels, 255).astype(np.float32).reshape(shape)


def _fitted(factors: Floats, seen: Floats, powers: tuple[int, ...], shade: Floats) -> tuple[Floats, float]:
    """Return the coefficients `(terms, 3)` of a robust fit and its spread.

    `seen` `(n, 3)` is fitted by `factors` `(n, terms)`; zones differ from paper by about `shade` `(3,)`.
    """
    degree = np.array((*powers, 0))
    prior = np.zeros((len(degree), 3))
    prior[-1] = shade
    prior[0] = np.median(seen - factors[:, -1:] * prior[-1], axis=0)
    found = prior
    is_clipped = seen >= math.log(BARS.clipped_level)
    for most in DEGREES:
        expected = factors @ found
        seen = np.where(is_clipped, np.maximum(seen, expected), seen)
        apart = np.abs(seen - expected).max(axis=1)
        spread = max(BARS.noise, 1.48 * float(np.median(apart)))
        weight = 1 / (1 + (apart / (BARS.outlier * spread)) ** 2) ** 2
        used = np.flatnonzero(degree <= most)
        pull = np.where(degree[used] > 0, BARS.bend_px * degree[used] ** 2, 1e-3)
        pull[-1] = BARS.prior_px
        part, target = factors[:, used], prior[used]
        weighted = part * weight[:, None]
        left = weighted.T @ part + np.diag(pull)
        found = np.zeros_like(prior)
        found[used] = np.linalg.solve(left, weighted.T @ seen + pull[:, None] * target * (degree[used] == 0)[:, None])
    return found, float(np.median(np.abs(seen - factors @ found).max(axis=1)))


@lru_cache(maxsize=8)
def _terms(height: int, width: int) -> tuple[tuple[int, ...], Colours]:
    """Return the degrees and values `(height, width, n)` of the polynomial's terms."""
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
    powers = [(a, total - a) for total in range(4) for a in range(total, -1, -1)]
    values = np.dstack([x**a * y**b for a, b in powers]).astype(np.float32)
    return tuple(a + b for a, b in powers), values

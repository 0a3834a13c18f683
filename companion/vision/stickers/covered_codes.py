"""Identify sticker codes that another card covers from one side, by what shows of them.

Where the edge of the covering card lies is unknown. So the best of all codes is compared with the next one for every
side and every share that may show; their likelihood ratio is greatest where nothing but the code is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from companion.tabletop.sticker_codes import CARDS, MODULES
from companion.vision.boxes import Floats32, first_of_each
from companion.vision.stickers.code_samples import (
    BLURS_MODULES,
    PER_MODULE,
    Homographies,
    Levels,
    Reading,
    looks_of_codes,
    middles_of,
    modules_px,
    unit,
)

SIDE = MODULES * PER_MODULE
SIDES = 4


@dataclass(frozen=True, slots=True)
class CoveredLimits:
    """What is compared and believed. Set by `python -m tests.bench.eye --only covered`, on tables of odd seeds."""

    shown: float = 0.36  # minimum visible share of a code: with less, two of its three marks are cut
    glance: float = 0.6  # minimum similarity of the modules that all codes share, in that share, by one sample each
    structure: float = 0.6  # the same by all samples
    place_px: float = 6.0  # size of a place
    most_on_a_place: int = 3  # squares compared there: two marks belong to a code in either of two turns
    most: int = 100  # squares compared
    independent: float = 0.5  # modules that count as independent evidence, of those visible: blur joins neighbors
    ratio: float = 45.0  # minimum log likelihood ratio of the best code to the next; other print has at most 27
    score: float = 0.72  # minimum correlation; other print has at most 0.69


LIMITS = CoveredLimits()


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """Codes under one blur, cut from one side: sums over the rows up to each one, `SIDE` rows."""

    mean: Floats32  # the mean code, `(SIDE, SIDE)`
    apart: Floats32  # codes minus the mean, `(n, SIDE, SIDE)`
    mean_sum: Floats32  # `(SIDE,)`
    mean_square: Floats32  # less its mean
    apart_sum: Floats32  # `(n, SIDE)`
    with_mean: Floats32  # product with the mean code, less their means
    apart_square: Floats32  # what is left of the squares without a constant and the mean code


def read_covered(
    levels: Levels,
    squares: Homographies,
    glances: Floats32,
    shared: tuple[Floats32, Floats32],
    sure: Sequence[int],
) -> dict[int, Reading]:
    """Return the readings, by index, of those of `squares` `(n, 3, 3)` that surely show part of a code.

    `glances` `(n, m)` are their levels in the centers of the modules that all codes share; `shared` are these modules'
    places `(3, m)` and levels `(b, m)`. `sure` are the indices of codes that were read.
    """
    likeness = _part_likeness(glances, *shared)
    order = np.flatnonzero(likeness >= LIMITS.glance)
    middles, sides_px = middles_of(squares), MODULES * modules_px(squares)
    order = order[
        (np.linalg.norm(middles[order, None] - middles[sure], axis=2) > sides_px[order, None] / 2).all(axis=1)
    ]
    order = order[np.argsort(-likeness[order])]
    places = np.floor(middles[order].T / LIMITS.place_px)
    order = order[first_of_each(places, LIMITS.most_on_a_place)][: LIMITS.most]
    patches = levels.sampled(squares[order], _grid()).reshape(-1, SIDE, SIDE)
    structure = _structures(patches)
    found = {}
    for at, patch, by_way in zip(order.tolist(), patches, structure, strict=True):
        blur, side = np.unravel_index(by_way.argmax(), by_way.shape)
        reading = _reading(patch, int(blur), int(side), squares[at]) if by_way.max() >= LIMITS.structure else None
        if reading is not None:
            found[at] = reading
    return found


def _part_likeness(glances: Floats32, places: Floats32, levels: Floats32) -> Floats32:
    """Return the best similarity `(n,)` of the shared modules on one side of a square."""
    x, y, _ = places
    edge = LIMITS.shown * MODULES
    sides = (y < edge, x > MODULES - edge, y > MODULES - edge, x < edge)
    parts = (_centred(glances[:, side]) @ _centred(levels[:, side]).T for side in sides)
    return np.maximum.reduce([part.max(axis=1) for part in parts])


def _centred(levels: Floats32) -> Floats32:
    return unit(levels - levels.mean(axis=1, keepdims=True))


def _structures(patches: Floats32) -> Floats32:
    """Return the similarity to the mean code, by blur and by the side that shows, `(k, blurs, 4)`."""
    rows = round(LIMITS.shown * SIDE)
    turned = np.stack(
        [np.rot90(patches, side, axes=(1, 2))[:, :rows].reshape(len(patches), rows * SIDE) for side in range(SIDES)]
    )
    turned -= turned.mean(axis=2, keepdims=True)
    turned /= np.linalg.norm(turned, axis=2, keepdims=True) + 1e-6
    found: Floats32 = (turned @ _common(rows)).transpose(1, 2, 0)
    return found


@cache
def _common(rows: int) -> Floats32:
    """Return the mean code's first rows from each side, as unit vectors `(4, rows · SIDE, blurs)`."""
    blurs = range(len(BLURS_MODULES))
    parts = np.array([[_seen(blur, side).mean[:rows].ravel() for blur in blurs] for side in range(SIDES)])
    parts -= parts.mean(axis=2, keepdims=True)
    unit: Floats32 = parts / np.linalg.norm(parts, axis=2, keepdims=True)
    return unit.transpose(0, 2, 1)


def _reading(patch: Floats32, blur: int, side: int, matrix: Floats32) -> Reading | None:
    """Return what a square shows that is visible from a side; None if that is not sure.

    Levels are a constant, a multiple of the mean code, and a multiple of what a code has of its own, up to some row.
    """
    book, seen = _seen(blur, side), np.rot90(patch, side)
    counts = np.arange(1, SIDE + 1, dtype=np.float32) * SIDE
    light, square, product = (_up_to(each) for each in (seen, seen * seen, seen * book.mean))
    contrast = (product - light * book.mean_sum / counts) / book.mean_square
    spread = square - light**2 / counts
    rest = np.maximum(spread - contrast**2 * book.mean_square, 1e-3)
    own = np.cumsum(np.einsum("rc,nrc->nr", seen, book.apart), axis=1)
    own -= book.apart_sum * light / counts + book.with_mean * contrast
    scores = own / np.sqrt(book.apart_square * rest)
    second, first = np.partition(scores, -2, axis=0)[-2:]
    independent = LIMITS.independent * counts / PER_MODULE**2
    unexplained = (1 - np.maximum(second, 0) ** 2) / np.maximum(1 - first**2, 1e-6)
    ratios = np.where(contrast > 0, independent / 2 * np.log(unexplained), 0.0)
    ratios[: round(LIMITS.shown * SIDE)] = 0.0
    row = int(ratios.argmax())
    if ratios[row] < LIMITS.ratio or first[row] < LIMITS.score:
        return None
    structure = contrast[row] * np.sqrt(book.mean_square[row] / max(float(spread[row]), 1e-3))
    three = np.argsort(-scores[:, row])[:3]
    ranking = tuple((CARDS[n], float(scores[n, row])) for n in three)
    return Reading(ranking, float(structure), matrix, shown=(row + 1) / SIDE)


@cache
def _seen(blur: int, side: int) -> _Seen:
    mean, apart = (np.rot90(each, side, axes=(-2, -1)) for each in looks_of_codes(BLURS_MODULES[blur]))
    counts = np.arange(1, SIDE + 1, dtype=np.float32) * SIDE
    mean_sum, apart_sum = _up_to(mean), _up_to(apart)
    mean_square = np.maximum(_up_to(mean * mean) - mean_sum**2 / counts, 1e-3)
    with_mean = _up_to(apart * mean) - apart_sum * mean_sum / counts
    squares = _up_to(apart * apart) - apart_sum**2 / counts - with_mean**2 / mean_square
    return _Seen(mean, apart, mean_sum, mean_square, apart_sum, with_mean, np.maximum(squares, 1e-3))


def _up_to(levels: Floats32) -> Floats32:
    """Return sums over the rows up to each one, `(…, rows)`."""
    sums: Floats32 = np.cumsum(levels.sum(axis=-1), axis=-1)
    return sums


@cache
def _grid() -> Floats32:
    """Return a code's sample points in modules, `(3, SIDE · SIDE)`."""
    at = (np.arange(SIDE, dtype=np.float32) + 0.5) / PER_MODULE
    return np.stack((*(part.ravel() for part in np.meshgrid(at, at)), np.ones(SIDE * SIDE, np.float32)))

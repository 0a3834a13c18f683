"""Identify sticker codes that another card covers from one side, by what shows of them.

Where the edge of the covering card lies is unknown. So the best of all codes is compared with the next one for every
side and every share that may show; their likelihood ratio is greatest where nothing but the code is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from companion.tabletop.sticker_codes import CARDS, MODULES
from companion.vision.boxes import Floats32, Places, first_of_each
from companion.vision.stickers.code_samples import (
    BLURS_MODULES,
    PER_MODULE,
    Homographies,
    Levels,
    Reading,
    centred,
    looks_of_codes,
    middles_of,
    modules_px,
)

SIDE = MODULES * PER_MODULE


@dataclass(frozen=True, slots=True)
class CoveredLimits:
    """What is compared and believed. Set on the tables of `python -m tests.bench.finished --decks stickers`."""

    shown: float = 0.36  # minimum visible share of a code: with less, two of its three marks are cut
    glance: float = 0.7  # minimum similarity of the modules that all codes share, in that share, by one sample each
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
    order = np.flatnonzero(likeness.max(axis=1) >= LIMITS.glance)
    middles, sides_px = middles_of(squares), MODULES * modules_px(squares)
    off_px = np.linalg.norm(middles[order, None] - middles[sure], axis=2)
    order = order[(off_px > sides_px[order, None] / 2).all(axis=1)]
    order = order[np.argsort(-likeness[order].max(axis=1))]
    places = np.floor(middles[order].T / LIMITS.place_px)
    order = order[first_of_each(places, LIMITS.most_on_a_place)][: LIMITS.most]
    patches = levels.sampled(squares[order], _grid()).reshape(-1, SIDE, SIDE)
    found: dict[int, Reading] = {}
    for side in range(4):
        here = np.flatnonzero(likeness[order, side] >= LIMITS.glance)
        turned = np.rot90(patches[here], side, axes=(1, 2))
        blurs = _blurs(turned, side)
        for blur in np.unique(blurs):
            those = here[blurs == blur]
            for at, ranking, shown in _ranked(turned[blurs == blur], _seen(int(blur), side)):
                index = int(order[those[at]])
                if index not in found or ranking[0][1] > found[index].score:
                    found[index] = Reading(ranking, float(likeness[index, side]), squares[index], shown)
    return found


def _part_likeness(glances: Floats32, places: Floats32, levels: Floats32) -> Floats32:
    """Return the similarity of the shared modules by the side that shows, at the best blur, `(n, 4)`."""
    x, y, _ = places
    edge = LIMITS.shown * MODULES
    sides = (y < edge, x > MODULES - edge, y > MODULES - edge, x < edge)
    parts = [centred(glances[:, side]) @ centred(levels[:, side]).T for side in sides]
    return np.stack([part.max(axis=1) for part in parts], axis=1)


def _blurs(patches: Floats32, side: int) -> Places:
    """Return the blur under which the mean code is most like the first rows of `patches` `(k, SIDE, SIDE)`."""
    rows = round(LIMITS.shown * SIDE)
    means = np.stack([_seen(blur, side).mean[:rows].ravel() for blur in range(len(BLURS_MODULES))])
    return (centred(patches[:, :rows].reshape(len(patches), rows * SIDE)) @ centred(means).T).argmax(axis=1)


def _ranked(seen: Floats32, book: _Seen) -> Iterator[tuple[int, tuple[tuple[str, float], ...], float]]:
    """Yield which squares `(k, SIDE, SIDE)`, the visible side first, are sure: index, best cards, visible share.

    Levels are a constant, a multiple of the mean code, and a multiple of what a code has of its own, up to some row.
    """
    counts = np.arange(1, SIDE + 1, dtype=np.float32) * SIDE
    light, square, product = (_up_to(each) for each in (seen, seen * seen, seen * book.mean))
    contrast = (product - light * book.mean_sum / counts) / book.mean_square
    rest = np.maximum(square - light**2 / counts - contrast**2 * book.mean_square, 1e-3)
    own = np.cumsum(book.apart.transpose(1, 0, 2) @ seen.transpose(1, 2, 0), axis=0).transpose(2, 1, 0)
    own -= book.apart_sum * (light / counts)[:, None] + book.with_mean * contrast[:, None]
    scores = own / np.sqrt(book.apart_square * rest[:, None])
    second, first = np.moveaxis(np.partition(scores, -2, axis=1)[:, -2:], 1, 0)
    unexplained = (1 - np.maximum(second, 0) ** 2) / np.maximum(1 - first**2, 1e-6)
    ratios = LIMITS.independent * counts / PER_MODULE**2 / 2 * np.log(unexplained)
    ratios[(contrast <= 0) | (counts < LIMITS.shown * SIDE**2)] = 0.0
    for at, row in enumerate(ratios.argmax(axis=1).tolist()):
        if ratios[at, row] >= LIMITS.ratio and first[at, row] >= LIMITS.score:
            three = np.argsort(-scores[at, :, row])[:3]
            yield at, tuple((CARDS[n], float(scores[at, n, row])) for n in three), (row + 1) / SIDE


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

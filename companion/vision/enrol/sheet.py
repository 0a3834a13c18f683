"""Cut out many cards photographed in rows.

A few certain cards determine their common plane, in which frames and whole rows have the wrong size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from companion.vision.boxes import Floats, Image, Size, around, first_of_each, lengths, shrunk
from companion.vision.enrol.card_outline import SURE_ENDS, Looks, Outline, edge_shares, in_one_order, likeliest
from companion.vision.enrol.quadrilaterals import Ground, candidates, ground_of
from companion.vision.enrol.rectify import Rectified, judged, rectified
from companion.vision.mats.calibration import similarity
from companion.vision.mats.homography import through
from companion.vision.opencv import cv2

LONG_SIDE_PX = 1200  # longer side of the searched picture
BANDS = ((0.07, 0.15), (0.13, 0.27), (0.24, 0.5))  # card heights in longer picture sides: 12 to 2 in a row
_LOOKED_AT, _AT_A_PLACE, _MOST_CERTAIN = 180, 3, 14
"""Maximum candidates measured, candidates per place, and cards that determine the plane."""

_LEAST_WORTH, _OTHER_COLOUR = 1.1, 6.0  # minimum sum of the weakest sides' edge and contrast shares; Lab contrast
_SAME_PLACE = 0.35  # minimum intersection over union within a card
_FEWEST = 3  # minimum certain cards to determine the plane
_SAME, _ALIKE, _LOOSELY, _ROUGHLY = 0.01, 0.012, 0.035, 0.06
"""Maximum relative size deviation in the plane: of cards that determine it, others, others on the first pass, unfitted.
On rendered sheets, cards deviate by up to 0.006, frames by at least 0.014."""

_PER_OFF, _PER_ROUGHLY_OFF = 30.0, 8.0  # score lost per unit of deviation: outlines, unfitted candidates
_LEAST_EDGE, _MOST_EDGE = 0.6, 0.8
"""Minimum support and step of a card of the right size, and if its sides seem to continue. Neither finds false cards;
0.93 for the latter misses one more of 518 cards on rendered sheets."""


@dataclass(frozen=True, slots=True)
class BesideLimits:
    """Limits for cards that almost touch: their sides continue in each other and have the same color outside.

    Source: rendered sheets with gaps of 0.5 to 1.8 mm, whose cards had a support of 1.00.
    """

    support: float = 0.9  # minimum share of edge along the weakest side
    most_off: float = 0.005  # maximum relative size deviation; printed frames have at least 0.014
    gap_mm: tuple[float, float] = (0.3, 2.5)  # distance of two cards' edges; with less, they are one edge
    in_line_mm: float = 8.0  # maximum offset along the edges


BESIDE = BesideLimits()
_ROOM_MM, _LEAST_PX = 14.0, 30  # margin around a missed card; minimum size of that crop
_SEARCHES = 4  # maximum searches for missed cards, each beside those found: gaps of one row may differ
_ROUNDS = 40  # iterations of fitting plane and places


def cut_out(image: Image, size_mm: Size) -> list[list[Rectified | None]]:
    """Return the cards in a picture `(H, W, 3) uint8 BGR` by row, with None for gaps.

    Of fewer than three, return one as from `rectified`.
    """
    shrink = min(1.0, LONG_SIDE_PX / max(image.shape[:2]))
    found, to_mm = _found(shrunk(image, shrink), size_mm)
    if to_mm is None:
        return [[rectified(image, size_mm)]]
    quads = [(corners + 0.5) / shrink - 0.5 for corners in found]
    middles = np.array([through(to_mm, corners).mean(axis=0) for corners in found])
    return [
        [None if at is None else _card(image, quads[at], size_mm) for at in row] for row in rows_of(middles, size_mm)
    ]


def _card(image: Image, corners: Floats, size_mm: Size) -> Rectified:
    box = around(corners).padded(8).within(image.shape[1], image.shape[0])
    card = judged(box.of(image), corners - (box.left, box.top), size_mm)
    reflections = tuple(outline + np.array((box.left, box.top)) for outline in card.reflections)
    return replace(card, corners=corners, reflections=reflections)


def rows_of(middles: Floats, size_mm: Size) -> list[list[int | None]]:
    """Return card indices by row from centers `(n, 2)` mm, None for gaps before the last."""
    order = np.argsort(middles[:, 1], kind="stable")
    breaks = np.flatnonzero(np.diff(middles[order, 1]) > size_mm[1] / 2) + 1
    rows = [part[np.argsort(middles[part, 0], kind="stable")] for part in np.split(order, breaks)]
    pitch = _pitch(middles, rows, size_mm)
    left, right = middles[:, 0].min(), middles[:, 0].max()
    filled: list[list[int | None]] = []
    for row in rows:
        at = [left - pitch, *middles[row, 0], right + pitch]
        line: list[int | None] = []
        for index, (before, after) in zip([*map(int, row), None], pairwise(at), strict=True):
            line += [None] * max(0, round(float(after - before) / pitch) - 1)
            line.append(index)
        filled.append(line[:-1])
    while filled[-1][-1] is None:
        filled[-1].pop()
    return filled


def _pitch(middles: Floats, rows: Sequence[Sequence[int]], size_mm: Size) -> float:
    """Return the distance between neighbors in mm."""
    steps = np.concatenate([np.diff(middles[list(row), 0]) for row in rows])
    return max(float(np.percentile(steps, 40)) if len(steps) else 0.0, size_mm[0])


# --- Finding them ---------------------------------------------------------------------------------------------


def _found(image: Image, size_mm: Size) -> tuple[list[Floats], Floats | None]:
    """Return the cards' corners in px and the homography to table mm; None below three."""
    ground = ground_of(image)
    quads = candidates(ground, size_mm, BANDS)
    look = Looks(ground, size_mm)
    groups = _places(look.at(_likeliest_per_place(ground, quads, np.zeros(len(quads)))))[:_MOST_CERTAIN]
    firsts = (likeliest(group, look)[0] for group in groups)
    to_mm = _plane(_of_one_size([outline for outline in firsts if outline.is_sure]), size_mm)
    cards = [] if to_mm is None else _cards(ground, quads, to_mm, size_mm, _LOOSELY)
    to_mm = _plane(cards, size_mm)
    if to_mm is None:
        return [], None
    cards = _cards(ground, np.concatenate([quads, cards]), to_mm, size_mm, _ALIKE)
    if len(cards) < _FEWEST:
        return [], None
    for _ in range(_SEARCHES):
        missing = [_candidates_at(ground, middle, to_mm, size_mm) for middle in _missing(cards, to_mm, size_mm)]
        more = _cards(ground, np.concatenate([*missing, cards]), to_mm, size_mm, _ALIKE) if missing else []
        if len(more) <= len(cards):
            break
        cards = more
    return cards, to_mm


def _cards(ground: Ground, quads: Floats, to_mm: Floats, size_mm: Size, alike: float) -> list[Floats]:
    """Return the corners of candidates whose size deviates by less than `alike`."""
    look = Looks(ground, size_mm)
    rough = _size_deviation(to_mm, quads, size_mm)
    found = look.at(_likeliest_per_place(ground, quads[rough < _ROUGHLY], rough[rough < _ROUGHLY]))
    corners = np.array([outline.corners for outline in found]).reshape(-1, 4, 2)
    off = _size_deviation(to_mm, corners, size_mm)
    middles = through(to_mm, corners.reshape(-1, 2)).reshape(-1, 4, 2).mean(axis=1)
    is_exact = (off < BESIDE.most_off) & np.array([outline.support > BESIDE.support for outline in found], bool)
    fitting = [
        replace(outline, score=outline.score - _PER_OFF * by)
        for outline, by, middle, exact in zip(found, off, middles, is_exact, strict=True)
        if by < alike and (_has_edges(outline) or (exact and _almost_touches(middle, middles[is_exact], size_mm)))
    ]
    return [
        card.corners
        for card, *_ in _places(fitting)
        # Reject cards that partly overlap a likelier one.
        if not any(other.score > card.score and 0.05 < _shared(card, other) < _SAME_PLACE for other in fitting)
    ]


def _has_edges(outline: Outline) -> bool:
    return min(outline.support, outline.step) > (_LEAST_EDGE if outline.ends > SURE_ENDS else _MOST_EDGE)


def _almost_touches(middle: Floats, others: Floats, size_mm: Size) -> bool:
    """True if a card's center `(2,)` mm is so far from another's as if their edges almost touch."""
    apart = np.abs(others - middle)
    gap_mm = np.linalg.norm(apart, axis=1)[:, None] - size_mm
    is_in_line = apart[:, ::-1] < BESIDE.in_line_mm
    return bool((is_in_line & (gap_mm > BESIDE.gap_mm[0]) & (gap_mm < BESIDE.gap_mm[1])).any())


def _missing(cards: Sequence[Floats], to_mm: Floats, size_mm: Size) -> list[Floats]:
    """Return the centers, in mm, of gaps in rows and at ends of shorter rows."""
    middles = np.array([through(to_mm, corners).mean(axis=0) for corners in cards])
    rows = rows_of(middles, size_mm)
    pitch = _pitch(middles, [[at for at in row if at is not None] for row in rows], size_mm)
    rows[-1] += [None] * (max(map(len, rows)) - len(rows[-1]))
    missing = []
    for row in rows:
        there = [column for column, at in enumerate(row) if at is not None]
        for column in set(range(len(row))) - set(there):
            near = min(there, key=lambda other: abs(other - column))
            missing.append(middles[row[near]] + np.array([(column - near) * pitch, 0.0]))
    return missing


def _candidates_at(ground: Ground, middle_mm: Floats, to_mm: Floats, size_mm: Size) -> Floats:
    reach = np.array(size_mm) / 2 + _ROOM_MM
    corners = middle_mm + reach * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    box = around(through(np.linalg.inv(to_mm), corners)).within(*ground.size)
    part = Ground(np.ascontiguousarray(box.of(ground.lab)), box.of(ground.steep), ground.grain)
    if min(part.size) < _LEAST_PX:
        return np.zeros((0, 4, 2))
    return candidates(part, size_mm) + np.array([box.left, box.top])


def _likeliest_per_place(ground: Ground, quads: Floats, off: Floats) -> list[Floats]:
    """Return quadrilaterals `(4, 2)` with clear edges from `quads` `(n, 4, 2)`, a few per place and size.

    `off`, the relative deviation from a card's size, counts against them.
    """
    if not len(quads):
        return []
    worth = edge_shares(ground, quads).min(axis=1) + _contrasts(ground, quads).min(axis=1) - _PER_ROUGHLY_OFF * off
    order = np.argsort(-worth, kind="stable")
    order = order[worth[order] >= _LEAST_WORTH]
    quads = in_one_order(quads[order])
    quads = quads[first_of_each(np.rint(quads.reshape(-1, 8).T / 4), 1)]
    middles, (right, down) = quads.mean(axis=1), (quads[:, 2:] - quads[:, :2]).transpose(1, 0, 2)
    size = np.sqrt(np.linalg.norm(right, axis=1) * np.linalg.norm(down, axis=1))
    cells = np.column_stack([np.rint(middles / (0.3 * size[:, None])), np.rint(np.log(size) / 0.2)])
    return list(quads[first_of_each(cells.T, _AT_A_PLACE)][:_LOOKED_AT])


def _contrasts(ground: Ground, quads: Floats) -> Floats:
    """Return each side's share with different colors inside and outside, `(n, 4)`."""
    at = np.linspace(0.1, 0.9, 10, dtype=np.float32)[:, None]
    start, middle = quads.astype(np.float32), quads.mean(axis=1, dtype=np.float32)[:, None, None]
    points = start[:, :, None] + at * (np.roll(start, -1, axis=1) - start)[:, :, None]
    high, wide = ground.lab.shape[:2]
    inner, outer = (np.rint(middle + share * (points - middle)).astype(np.intp) for share in (0.96, 1.04))
    colours = [ground.lab[p[..., 1].clip(0, high - 1), p[..., 0].clip(0, wide - 1)] for p in (inner, outer)]
    return (lengths(colours[0] - colours[1]) > _OTHER_COLOUR).mean(axis=-1)


def _places(found: Sequence[Outline]) -> list[list[Outline]]:
    """Return outlines grouped by card, likeliest first."""
    places: list[list[Outline]] = []
    for outline in sorted(found, key=lambda outline: -outline.score):
        shares = [_shared(outline, group[0]) for group in places]
        if shares and max(shares) > _SAME_PLACE:
            places[int(np.argmax(shares))].append(outline)
        else:
            places.append([outline])
    return places


def _shared(one: Outline, other: Outline) -> float:
    """Return the intersection over union."""
    area, _ = cv2.intersectConvexConvex(np.float32(one.corners), np.float32(other.corners))
    return float(area / (one.area_px + other.area_px - area + 1e-6))


def _of_one_size(certain: Sequence[Outline]) -> list[Floats]:
    """Return the corners of most outlines of one size without overlap: blocks of cards are fewer."""
    best: list[Outline] = []
    for one in sorted(certain, key=lambda outline: outline.area_px):
        alike = [other for other in certain if 0.72 < other.area_px / one.area_px < 1.38]
        apart: list[Outline] = []
        for other in alike:
            if all(_shared(other, taken) < 0.05 for taken in apart):
                apart.append(other)
        if len(apart) > len(best):
            best = apart
    return [outline.corners for outline in best]


def _plane(cards: Sequence[Floats], size_mm: Size) -> Floats | None:
    """Return the homography to table mm in which most cards have one size; None below `_FEWEST`."""
    w, h = size_mm
    own = np.array([(-w, -h), (w, -h), (w, h), (-w, h)]) / 2
    left = np.array(cards)
    while len(left) >= _FEWEST:
        middle = left.mean(axis=(0, 1))
        first = left[np.linalg.norm(left.mean(axis=1) - middle, axis=1).argmin()]
        to_mm = np.vstack([cv2.estimateAffine2D(first, own)[0], (0, 0, 1)])
        for _ in range(_ROUNDS):
            seen = through(to_mm, left.reshape(-1, 2)).reshape(left.shape)
            wanted = np.array([_moved_onto(own, quad) for quad in seen])
            to_mm = cv2.findHomography(left.reshape(-1, 2), wanted.reshape(-1, 2))[0]
        off = _size_deviation(to_mm, left, size_mm)
        if off.max() < _SAME:
            return np.asarray(to_mm, np.float64)
        left = np.delete(left, off.argmax(), axis=0)
    return None


def _moved_onto(own: Floats, seen: Floats) -> Floats:
    """Return a card's corners `(4, 2)` mm, moved and turned onto detected ones."""
    a, b, _, _ = similarity(own, seen)
    return own @ np.array([[a, b], [-b, a]]) / np.hypot(a, b) + seen.mean(axis=0)


def _size_deviation(to_mm: Floats, quads: Floats, size_mm: Size) -> Floats:
    """Return the relative size deviation of quadrilaterals `(n, 4, 2)`, `(n,)`."""
    if not len(quads):
        return np.zeros(0)
    mm = through(to_mm, quads.reshape(-1, 2)).reshape(quads.shape)
    sides = np.linalg.norm(np.roll(mm, -1, axis=1) - mm, axis=2)
    across = np.linalg.norm(mm[:, :2] - mm[:, 2:], axis=2)
    wanted = [np.array([*size_mm, *size_mm]), np.array([*size_mm[::-1], *size_mm[::-1]])]
    by_sides = np.min([np.abs(np.log(sides / side)).max(axis=1) for side in wanted], axis=0)
    return np.maximum(by_sides, np.abs(np.log(across / np.hypot(*size_mm))).max(axis=1))

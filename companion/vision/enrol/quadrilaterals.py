"""Find quadrilaterals with a card's proportions: line segments meet in corners, opposite corners form candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from companion.vision.boxes import Floats, Image, Mask, Pixels, Places, Size, first_of_each, lab, slopes
from companion.vision.opencv import cv2

MOST_ODD = 0.16  # maximum oddity of fitted candidates
LEAST_HEIGHT = 0.12  # minimum long side in shorter picture sides
_SHORTEST_PX = 14.0  # minimum length of a segment
_MOST_SEGMENTS, _MOST_CORNERS, _MOST_CANDIDATES = 420, 900, 16000
_SEGMENTS_OF_MANY, _MOST_OF_MANY = 700, 2500  # maximum segments and corners with many cards
_FOCALS = (0.7, 0.9, 1.1, 1.4, 2.0, 4.0)  # focal lengths in longer picture sides; the last for cropped pictures


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Colors and gradients of a reduced picture."""

    lab: Pixels
    steep: Pixels  # `(H, W, 2)`: horizontal and vertical slope of the steepest channel
    grain: float  # slope caused by noise

    @property
    def size(self) -> tuple[int, int]:
        return self.lab.shape[1], self.lab.shape[0]


def ground_of(image: Image) -> Ground:
    """Return the colors and gradients of `(H, W, 3) uint8 BGR`."""
    soft = cv2.GaussianBlur(lab(image), (0, 0), 0.8)
    across, down = slopes(soft)
    strength = cv2.magnitude(across, down)
    steepest = strength.argmax(axis=2)[..., None]
    steep = np.concatenate([np.take_along_axis(part, steepest, axis=2) for part in (across, down)], axis=2)
    return Ground(soft, steep, float(np.percentile(np.take_along_axis(strength, steepest, axis=2)[::2, ::2], 30)))


def _segments(ground: Ground, most: int) -> Floats:
    """Return line segments `(n, 4)`, also joined, longest first."""
    finder = cv2.createLineSegmentDetector(cv2.LSD_REFINE_STD)
    light = np.clip(ground.lab[..., 0] * 2.55, 0, 255).astype(np.uint8)
    colours = [light, *(np.clip(ground.lab[..., i] * 2.5 + 128, 0, 255).astype(np.uint8) for i in (1, 2))]
    found = [lines.reshape(-1, 4) for part in colours if (lines := finder.detect(part)[0]) is not None]
    if not found:
        return np.zeros((0, 4))
    pieces = _longest(np.concatenate(found).astype(np.float64), 4 * most, 6.0)
    return _longest(np.concatenate([_joined(pieces), pieces]), most, _SHORTEST_PX)


def _longest(pieces: Floats, most: int, least_px: float) -> Floats:
    length = np.hypot(pieces[:, 2] - pieces[:, 0], pieces[:, 3] - pieces[:, 1])
    order = np.argsort(-length, kind="stable")
    return pieces[order[length[order] >= least_px]][:most]


def _joined(pieces: Floats) -> Floats:
    """Return collinear segments joined over small gaps: a checkered cloth breaks edges."""
    free = np.ones(len(pieces), bool)
    whole = []
    for i, piece in enumerate(pieces):
        if not free[i]:
            continue
        start, along = piece[:2], piece[2:] - piece[:2]
        along = along / (np.hypot(*along) + 1e-9)
        across = np.array([-along[1], along[0]])
        ends = pieces.reshape(-1, 2, 2) - start
        one, other = np.abs(ends @ across).T
        members = np.flatnonzero((np.maximum(one, other) < 1.8) & (one + other < 2.6) & free)
        at = np.sort(ends[members] @ along, axis=1)
        low, high = at[members == i][0]
        for _ in range(6):
            room = max(8.0, min(120.0, 1.05 * (high - low)))
            inside = (at[:, 0] < high + room) & (at[:, 1] > low - room)
            new_low, new_high = at[inside, 0].min(), at[inside, 1].max()
            if new_low >= low and new_high <= high:
                break
            low, high = min(low, new_low), max(high, new_high)
        inside = members[(at[:, 0] >= low - 1) & (at[:, 1] <= high + 1)]
        free[inside] = False
        if len(inside) > 1:
            whole.append(_through_ends(pieces[inside], along))
    return np.array(whole).reshape(-1, 4)


def _through_ends(pieces: Floats, along: Floats) -> Floats:
    """Return one segment `(4,)` fitted through several."""
    ends = pieces.reshape(-1, 2)
    weight = np.repeat(np.hypot(*(pieces[:, 2:] - pieces[:, :2]).T), 2)
    middle = np.average(ends, axis=0, weights=weight)
    _, _, axes = np.linalg.svd((ends - middle) * np.sqrt(weight)[:, None], full_matrices=False)
    direction = axes[0] if axes[0] @ along > 0 else -axes[0]
    at = (ends - middle) @ direction
    return np.concatenate([middle + at.min() * direction, middle + at.max() * direction])


# --- Candidates -----------------------------------------------------------------------------------------------


def candidates(ground: Ground, size_mm: Size, bands: Sequence[tuple[float, float]] = ()) -> Floats:
    """Return card-shaped quadrilaterals `(n, 4, 2)`, clockwise, from pairs of opposite corners.

    For many cards, `bands` are height ranges in longer picture sides, each with its own limit: pairs of corners of
    different cards would crowd out others.
    """
    size = ground.size
    points, first, second, weight = _corners(_segments(ground, _SEGMENTS_OF_MANY if bands else _MOST_SEGMENTS))
    keep = np.argsort(-weight, kind="stable")
    if bands:
        # Keep one corner per place and direction.
        way = np.degrees(np.arctan2(first[keep, 1], first[keep, 0]))
        keep = keep[first_of_each(np.rint(np.column_stack([points[keep] / 2.5, way / 15])).T, 1)][:_MOST_OF_MANY]
    keep = keep if bands else keep[:_MOST_CORNERS]
    points, first, second, weight = points[keep], first[keep], second[keep], weight[keep]
    a, c = _opposite(points, first, second)
    if bands:
        apart = np.linalg.norm(points[a] - points[c], axis=1) / max(size)
        near = (apart > 0.9 * bands[0][0]) & (apart < 1.2 * bands[-1][1])
        a, c = a[near], c[near]
    # Other corners: the first arm of one meets the second of the other.
    b, b_ok = _meeting(points[a], first[a], points[c], second[c])
    d, d_ok = _meeting(points[a], second[a], points[c], first[c])
    quads = np.stack([points[a], b, points[c], d], axis=1)
    keep = b_ok & d_ok & _plausible(quads, size, size_mm[0] / size_mm[1])
    quads, strength = quads[keep], (weight[a] + weight[c])[keep]
    keep = np.minimum(oddity(quads, size, size_mm), oddity(np.roll(quads, 1, axis=1), size, size_mm)) < MOST_ODD + 0.04
    quads, strength = quads[keep], strength[keep]
    around = np.linalg.norm(quads - np.roll(quads, 1, axis=1), axis=2).sum(axis=1)
    worth = np.minimum(strength / around, 1)
    if not bands:
        return quads[np.argsort(-worth * np.sqrt(around), kind="stable")][:_MOST_CANDIDATES]
    height = around / (2 + 2 * size_mm[0] / size_mm[1]) / max(size)
    order = np.argsort(-worth, kind="stable")
    of_band = [order[(height[order] >= low) & (height[order] < high)][:_MOST_CANDIDATES] for low, high in bands]
    return quads[np.concatenate(of_band)]


def _corners(pieces: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return where segments meet: points, directions of both arms (clockwise), weights."""
    start, end = pieces[:, :2], pieces[:, 2:]
    length = np.hypot(*(end - start).T)
    along = (end - start) / length[:, None]
    i, j = np.triu_indices(len(pieces), 1)
    turn = along[i, 0] * along[j, 1] - along[i, 1] * along[j, 0]
    i, j = i[np.abs(turn) > 0.8], j[np.abs(turn) > 0.8]
    _, on_i, on_j = crossings(start[i], along[i], start[j], along[j])
    near_i, away_i = _near_end(on_i, length[i])
    near_j, away_j = _near_end(on_j, length[j])
    meet = near_i & near_j
    i, j, on_i, away_i, away_j = i[meet], j[meet], on_i[meet], away_i[meet], away_j[meet]
    points = start[i] + on_i[:, None] * along[i]
    arm_i, arm_j = along[i] * away_i[:, None], along[j] * away_j[:, None]
    clockwise = (arm_i[:, 0] * arm_j[:, 1] - arm_i[:, 1] * arm_j[:, 0] > 0)[:, None]
    weight = np.minimum(length[i], 4 * length[j]) + np.minimum(length[j], 4 * length[i])
    return points, np.where(clockwise, arm_i, arm_j), np.where(clockwise, arm_j, arm_i), weight


def _near_end(at: Floats, length: Floats) -> tuple[Mask, Floats]:
    """Return which points are near a segment's end, and the direction (±1) away from it."""
    room_out, room_in = 0.3 * length + 8, np.minimum(0.2 * length, 14) + 2
    at_start = (at > -room_out) & (at < room_in)
    at_end = (at > length - room_in) & (at < length + room_out)
    return at_start | at_end, np.where(at < length / 2, 1.0, -1.0)


def _opposite(points: Floats, first: Floats, second: Floats) -> tuple[Places, Places]:
    """Return index pairs of corners that may be opposite on a card: their arms meet."""
    facing = (first @ first.T < -0.8) & (second @ second.T < -0.8)
    a, c = np.nonzero(np.triu(facing, 1))
    to = points[c] - points[a]
    inside = np.ones(len(a), bool)
    for corner, sign in ((a, 1.0), (c, -1.0)):
        along_first, along_second = ((to * arm[corner]).sum(axis=1) * sign for arm in (first, second))
        inside &= (along_first > 12) & (along_second > 12)
    return a[inside], c[inside]


def _meeting(p: Floats, u: Floats, q: Floats, v: Floats) -> tuple[Floats, Mask]:
    """Return where rays from p along u and q along v meet, and if they do."""
    turn, on_u, on_v = crossings(p, u, q, v)
    return p + on_u[:, None] * u, (np.abs(turn) > 0.5) & (on_u > 8) & (on_v > 8)


def crossings(p: Floats, u: Floats, q: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """Return u × v, and where lines from p along u and q along v cross, in units of u and v."""
    turn = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    safe = np.where(np.abs(turn) < 1e-6, 1.0, turn)
    between = q - p
    on_u = (between[:, 0] * v[:, 1] - between[:, 1] * v[:, 0]) / safe
    on_v = (between[:, 0] * u[:, 1] - between[:, 1] * u[:, 0]) / safe
    return turn, on_u, on_v


def _plausible(quads: Floats, size: tuple[int, int], ratio: float) -> Mask:
    """True where size and proportions may be a card's in perspective."""
    side = np.linalg.norm(np.roll(quads, -1, axis=1) - quads, axis=2)
    one, other = (side[:, 0] + side[:, 2]) / 2, (side[:, 1] + side[:, 3]) / 2
    shape = np.minimum(one, other) / np.maximum(one, other)
    within = ((quads > -3) & (quads < np.array(size) + 2)).all(axis=(1, 2))
    large = np.maximum(one, other) > LEAST_HEIGHT * min(size)
    alike = (np.minimum(side[:, :2], side[:, 2:]) > 0.6 * np.maximum(side[:, :2], side[:, 2:])).all(axis=1)
    return within & large & alike & (shape > 0.72 * ratio) & (shape < min(1.0, 1.42 * ratio))


# --- Proportions ----------------------------------------------------------------------------------------------


def upright(corners: Floats, size: tuple[int, int], size_mm: Size) -> Floats:
    """Return corners `(4, 2)` clockwise from the card's upper left, as upright as possible in a picture of `size`."""
    if cv2.contourArea(np.float32(corners), oriented=True) < 0:
        corners = corners[::-1]
    turns = [np.roll(corners, -k, axis=0) for k in range(4)]
    odd = oddity(np.array(turns[:2]), size, size_mm)
    fitting = turns[0::2] if odd[0] <= odd[1] else turns[1::2]
    return max(fitting, key=lambda turn: float((turn[2:] - turn[:2][::-1]).sum(axis=0)[1]) + 1e-3 * float(turn[1, 0]))


def oddity(quads: Floats, size: tuple[int, int], size_mm: Size) -> Floats:
    """Return how far quadrilaterals `(n, 4, 2)` deviate from a card's proportions in perspective, `(n,)`.

    About a relative error, for the best of `_FOCALS`. Corners begin at the card's upper left.
    """
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = (quads[:, i].T - (np.array(size)[:, None] / 2 - 0.5) for i in range(4))
    # The homography from the unit square, after Heckbert.
    dx1, dx2, sx = x1 - x2, x3 - x2, x0 - x1 + x2 - x3
    dy1, dy2, sy = y1 - y2, y3 - y2, y0 - y1 + y2 - y3
    area = dx1 * dy2 - dx2 * dy1
    area = np.where(np.abs(area) < 1e-9, 1e-9, area)
    g, h = (sx * dy2 - dx2 * sy) / area, (dx1 * sy - sx * dy1) / area
    wide = np.stack([x1 - x0 + g * x1, y1 - y0 + g * y1, g]) / size_mm[0]
    long = np.stack([x3 - x0 + h * x3, y3 - y0 + h * y3, h]) / size_mm[1]
    best = np.full(len(quads), 9.0)
    for focal in _FOCALS:
        to_camera = np.array([[1.0], [1.0], [focal * max(size)]])
        a, b = wide * to_camera, long * to_camera
        length_a, length_b = np.linalg.norm(a, axis=0) + 1e-12, np.linalg.norm(b, axis=0) + 1e-12
        best = np.minimum(best, np.hypot(np.log(length_a / length_b), (a * b).sum(axis=0) / (length_a * length_b)))
    return best

"""The outline of one card on a photograph: four straight edges of a card's proportions, on any ground.

Line segments that meet make corners; two opposite corners make a candidate. Each candidate's sides are fitted to a
fraction of a pixel and checked for what a card's edge must show: an edge all along, that ends at the corners, with
different things on its two sides. Of candidates inside one another the outermost is the card: the others are frames
printed on it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Floats, Image, Mask, Pixels, lab, shrunk, slopes
from companion.vision.enrol.printed_frames import DIFFERENT, beyond, sampled, strips, to_pixels
from companion.vision.faces.border_profile import CORNER_SHARE
from companion.vision.mats.homography import Fit, through
from companion.vision.opencv import cv2

SURE_EDGE, SURE_ENDS, SURE_ODD = 0.8, 0.45, 0.04
"""Minimum edge and step along the weakest side, minimum ends, and maximum oddity of a candidate taken for a card."""

_FITS = SURE_ODD / 2
"""Oddity of a card found well, and added to one that lies across: half of an upright card often looks like one."""

_CLEAR_ENDS = 0.88
"""Minimum ends of a candidate of greater oddity: a side that goes on belongs to another thing."""

LONG_SIDE_PX = 1000
"""Maximum longer side of a picture searched for outlines; larger ones are reduced."""

LEAST_HEIGHT = 0.12
"""Minimum long side of a card, as a share of the picture's shorter side."""

_SHORTEST_PX = 14.0
"""Minimum length of a line segment, in pixels."""

_MOST_SEGMENTS, _MOST_CORNERS, _MOST_CANDIDATES, _MOST_LOOKED_AT, _MOST_GROWN = 420, 900, 16000, 60, 6
"""Maximum numbers of segments, of corners, of candidates, of those fitted, and of those grown (and of what each grows
to)."""

_MOST_OF_MANY = 2500
"""Maximum number of corners of many cards, each place once."""

_WIDEST_RIM_MM = 14.0
"""Maximum distance by which a candidate is grown."""

_SAMPLES = 32
"""Minimum number of samples along a side."""

_LEAST_SUPPORT = 0.3
"""Share of edge along a side below which a candidate is dropped."""

_BURNT, _MOST_BURNT = 98.5, 0.45
"""Lightness of what a lamp has burnt out, and the maximum share of a side that is left out of account for it."""

_AS_STEEP = 0.4
"""Minimum slope of an edge that goes on beyond a corner, against the side's own."""

_FOCALS = (0.7, 0.9, 1.1, 1.4, 2.0, 4.0)
"""Focal lengths of cameras, in long sides of their pictures; the last for pictures cut out of others."""

_ODD = 4 * SURE_ODD
"""Maximum oddity of a candidate."""

_ROUND_ENDS = 0.6
"""Minimum ends of a card round a frame printed on it."""

_LESS_LIKELY, _MUCH_LESS_LIKELY = 0.16, 0.42
"""Maximum lead in score of a frame over the card round it, and over one that still makes the frame doubtful."""

_HARDLY_LARGER, _CLEARLY_LARGER, _LARGEST_FRAME = 1.06, 1.15, 2.6
"""Ratio of areas up to which an edge round another is as often its shadow, from which it is not, and the largest."""


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """A candidate for the card's outline, and the measures of its sides."""

    corners: Floats
    """`(4, 2)` pixels of the picture, clockwise from the upper left, where the straight edges meet."""

    support: float
    """Share of edge along the weakest side."""

    ends: float
    """1 if no edge goes on beyond its corners, down to 0."""

    step: float
    """Share of the weakest side with different things on its two sides."""

    odd: float
    """Distance from a card's proportions as any camera may see them."""

    score: float
    blur_px: float = 0.0
    """σ of its edges, in pixels of the picture."""

    is_doubtful: bool = False
    """True if another outline, or a strip of card round this one, suggests a larger or smaller card."""

    @property
    def is_sure(self) -> bool:
        if self.is_doubtful or self.step < SURE_EDGE or self.odd > SURE_ODD or self.ends < SURE_ENDS:
            return False
        if self.odd > _FITS and self.ends < _CLEAR_ENDS:
            return False
        fits = self.ends > 0.8 and self.step > 0.95 and self.odd < _FITS
        return self.support >= (SURE_EDGE - 0.1 if fits else SURE_EDGE)

    @property
    def area_px(self) -> float:
        return abs(float(cv2.contourArea(np.float32(self.corners))))


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """The reduced picture: its colours and their slopes."""

    lab: Pixels
    steep: Pixels
    """`(H, W, 2)`: the slope across and down, per pixel, of the steepest colour."""

    grain: float
    """The slope of noise alone."""

    @property
    def size(self) -> tuple[int, int]:
        return self.lab.shape[1], self.lab.shape[0]


def outlines(image: Image, size_mm: tuple[float, float], fit: Fit | None = None) -> list[Outline]:
    """Return candidates for the outline of a card on a picture `(H, W, 3) uint8 BGR`, the likeliest first.

    `fit` is a printed mat on the same table, which gives the card's size.
    """
    shrink = min(1.0, LONG_SIDE_PX / max(image.shape[:2]))
    ground = ground_of(shrunk(image, shrink))
    quads = candidates(segments(ground), ground.size, size_mm)
    look = Looks(ground, size_mm, shrink, fit)
    return likeliest(look.at(most_edge(ground, quads)), look)


def likeliest(found: list[Outline], look: Looks) -> list[Outline]:
    """Return the candidates for one card and those round them, the card first."""
    wider = look.grown_round(sorted(found, key=lambda outline: -outline.score)[:_MOST_GROWN])
    return _believed(_ranked([*found, *wider]), look)


def ground_of(image: Image) -> Ground:
    """Return a picture `(H, W, 3) uint8 BGR` as it is searched for outlines."""
    soft = cv2.GaussianBlur(lab(image), (0, 0), 0.8)
    across, down = slopes(soft)
    strength = cv2.magnitude(across, down)
    steepest = strength.argmax(axis=2)[..., None]
    steep = np.concatenate([np.take_along_axis(part, steepest, axis=2) for part in (across, down)], axis=2)
    return Ground(soft, steep, float(np.percentile(np.take_along_axis(strength, steepest, axis=2)[::2, ::2], 30)))


# --- Line segments --------------------------------------------------------------------------------------------


def segments(ground: Ground, most: int = _MOST_SEGMENTS) -> Floats:
    """Return line segments `(n, 4)`, from end to end, the longest first; those in line also joined to one."""
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
    """Return segments in line with only small gaps as one: an edge on a chequered cloth is broken up."""
    free = np.ones(len(pieces), bool)
    whole = []
    for i, piece in enumerate(pieces):
        if not free[i]:
            continue
        start, along = piece[:2], piece[2:] - piece[:2]
        along = along / (np.hypot(*along) + 1e-9)
        across = np.array([-along[1], along[0]])
        ends = pieces.reshape(-1, 2, 2) - start
        off, at = np.abs(ends @ across), np.sort(ends @ along, axis=1)
        near = (off.max(axis=1) < 1.8) & (off.sum(axis=1) < 2.6) & free
        low, high = at[i]
        members = np.flatnonzero(near)
        for _ in range(6):
            room = max(8.0, min(120.0, 1.05 * (high - low)))
            inside = members[(at[members, 0] < high + room) & (at[members, 1] > low - room)]
            new_low, new_high = at[inside, 0].min(), at[inside, 1].max()
            if new_low >= low and new_high <= high:
                break
            low, high = min(low, new_low), max(high, new_high)
        inside = members[(at[members, 0] >= low - 1) & (at[members, 1] <= high + 1)]
        free[inside] = False
        if len(inside) > 1:
            whole.append(_through_ends(pieces[inside], along))
    return np.array(whole).reshape(-1, 4)


def _through_ends(pieces: Floats, along: Floats) -> Floats:
    """Return the line through segments, as far as they reach."""
    ends = pieces.reshape(-1, 2)
    weight = np.repeat(np.hypot(*(pieces[:, 2:] - pieces[:, :2]).T), 2)
    middle = np.average(ends, axis=0, weights=weight)
    _, _, axes = np.linalg.svd((ends - middle) * np.sqrt(weight)[:, None], full_matrices=False)
    direction = axes[0] if axes[0] @ along > 0 else -axes[0]
    at = (ends - middle) @ direction
    return np.concatenate([middle + at.min() * direction, middle + at.max() * direction])


# --- Candidates -----------------------------------------------------------------------------------------------


def candidates(
    pieces: Floats, size: tuple[int, int], size_mm: tuple[float, float], bands: Sequence[tuple[float, float]] = ()
) -> Floats:
    """Return quadrilaterals `(n, 4, 2)`, clockwise, from pairs of opposite corners.

    With `bands` of heights, in longer sides of the picture, those of many cards: so many of each band, or else pairs of
    corners of different cards would crowd them out.
    """
    if len(pieces) < 4:
        return np.zeros((0, 4, 2))
    points, first, second, weight = _corners(pieces)
    keep = np.argsort(-weight, kind="stable")
    keep = keep[_each_once(points[keep], first[keep])][:_MOST_OF_MANY] if bands else keep[:_MOST_CORNERS]
    points, first, second, weight = points[keep], first[keep], second[keep], weight[keep]
    a, c = _opposite(points, first, second)
    if bands:
        apart = np.linalg.norm(points[a] - points[c], axis=1) / max(size)
        near = (apart > 0.9 * bands[0][0]) & (apart < 1.2 * bands[-1][1])
        a, c = a[near], c[near]
    if not len(a):
        return np.zeros((0, 4, 2))
    # The two other corners: where the first arm of one meets the second arm of the other.
    b, b_ok = _meeting(points[a], first[a], points[c], second[c])
    d, d_ok = _meeting(points[a], second[a], points[c], first[c])
    quads = np.stack([points[a], b, points[c], d], axis=1)
    keep = b_ok & d_ok & _plausible(quads, size, size_mm[0] / size_mm[1])
    quads, strength = quads[keep], (weight[a] + weight[c])[keep]
    keep = np.minimum(oddity(quads, size, size_mm), oddity(np.roll(quads, 1, axis=1), size, size_mm)) < _ODD + 0.04
    quads, strength = quads[keep], strength[keep]
    around = np.linalg.norm(quads - np.roll(quads, 1, axis=1), axis=2).sum(axis=1)
    worth = np.minimum(strength / around, 1)
    if not bands:
        return quads[np.argsort(-worth * np.sqrt(around), kind="stable")][:_MOST_CANDIDATES]
    height = around / (2 + 2 * size_mm[0] / size_mm[1]) / max(size)
    order = np.argsort(-worth, kind="stable")
    of_band = [order[(height[order] >= low) & (height[order] < high)][:_MOST_CANDIDATES] for low, high in bands]
    return quads[np.concatenate(of_band)]


def _each_once(points: Floats, first: Floats) -> npt.NDArray[np.intp]:
    """Return the indices of corners without those that lie and point like an earlier one, in order."""
    way = np.degrees(np.arctan2(first[:, 1], first[:, 0]))
    places = np.rint(np.column_stack([points / 2.5, way / 15]))
    return np.sort(np.unique(places, axis=0, return_index=True)[1])


def _corners(pieces: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return where two segments meet: the points, the directions of both arms away from it (clockwise), and weights."""
    start, end = pieces[:, :2], pieces[:, 2:]
    length = np.hypot(*(end - start).T)
    along = (end - start) / length[:, None]
    i, j = np.triu_indices(len(pieces), 1)
    turn = along[i, 0] * along[j, 1] - along[i, 1] * along[j, 0]
    i, j = i[np.abs(turn) > 0.8], j[np.abs(turn) > 0.8]
    _, on_i, on_j = _crossings(start[i], along[i], start[j], along[j])
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
    """Return whether points on a line are near an end of a segment, and the sign of the way along it from there."""
    room_out, room_in = 0.3 * length + 8, np.minimum(0.2 * length, 14) + 2
    at_start = (at > -room_out) & (at < room_in)
    at_end = (at > length - room_in) & (at < length + room_out)
    return at_start | at_end, np.where(at < length / 2, 1.0, -1.0)


def _opposite(points: Floats, first: Floats, second: Floats) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the pairs of corners that face each other, each once: their arms run against each other's."""
    facing = (first @ first.T < -0.8) & (second @ second.T < -0.8)
    a, c = np.nonzero(np.triu(facing, 1))
    to = points[c] - points[a]
    inside = np.ones(len(a), bool)
    for corner, sign in ((a, 1.0), (c, -1.0)):
        along_first, along_second = ((to * arm[corner]).sum(axis=1) * sign for arm in (first, second))
        inside &= (along_first > 12) & (along_second > 12)
    return a[inside], c[inside]


def _meeting(p: Floats, u: Floats, q: Floats, v: Floats) -> tuple[Floats, Mask]:
    """Return where the lines from p along u and from q along v meet, and whether they do ahead of both."""
    turn, on_u, on_v = _crossings(p, u, q, v)
    return p + on_u[:, None] * u, (np.abs(turn) > 0.5) & (on_u > 8) & (on_v > 8)


def _crossings(p: Floats, u: Floats, q: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """Return where lines `(n, 2)` from p along u and from q along v cross: u × v, and the ways in units of u and v."""
    turn = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    safe = np.where(np.abs(turn) < 1e-6, 1.0, turn)
    between = q - p
    on_u = (between[:, 0] * v[:, 1] - between[:, 1] * v[:, 0]) / safe
    on_v = (between[:, 0] * u[:, 1] - between[:, 1] * u[:, 0]) / safe
    return turn, on_u, on_v


def _plausible(quads: Floats, size: tuple[int, int], ratio: float) -> Mask:
    """Return which are of a card's size and proportions, roughly, whatever the perspective."""
    side = np.linalg.norm(np.roll(quads, -1, axis=1) - quads, axis=2)
    one, other = (side[:, 0] + side[:, 2]) / 2, (side[:, 1] + side[:, 3]) / 2
    shape = np.minimum(one, other) / np.maximum(one, other)
    within = ((quads > -3) & (quads < np.array(size) + 2)).all(axis=(1, 2))
    large = np.maximum(one, other) > LEAST_HEIGHT * min(size)
    alike = (np.minimum(side[:, :2], side[:, 2:]) > 0.6 * np.maximum(side[:, :2], side[:, 2:])).all(axis=1)
    return within & large & alike & (shape > 0.72 * ratio) & (shape < min(1.0, 1.42 * ratio))


def _grown(ground: Ground, frame: Floats, size_mm: tuple[float, float]) -> list[Floats]:
    """Return candidates round one that may be a printed frame: with weaker edges along its sides."""
    w, h = size_mm
    to_px = to_pixels(frame, size_mm)
    per_side = [_edges_beyond(ground, to_px, size_mm, side) for side in range(4)]
    grown = []
    for (up, a), (right, b), (down, c), (left, d) in itertools.product(*per_side):
        ratio = (w + left + right) / (h + up + down) / (w / h)
        if abs(math.log(ratio)) < 0.09 and min(up, right, down, left) > 0.4:
            grown.append((a + b + c + d, through(to_px, _widened(size_mm, up, right, down, left))))
    inside = [(worth, quad) for worth, quad in grown if (quad > -2).all() and (quad < np.array(ground.size) + 1).all()]
    return [quad for _, quad in sorted(inside, key=lambda one: -one[0])[:_MOST_GROWN]]


def _widened(
    size_mm: tuple[float, float], up: float, right: float, down: float, left: float
) -> list[tuple[float, float]]:
    """Return the corners, in its millimetres, of a card widened on each side."""
    w, h = size_mm
    return [(-left, -up), (w + right, -up), (w + right, h + down), (-left, h + down)]


def _edges_beyond(ground: Ground, to_px: Floats, size_mm: tuple[float, float], side: int) -> list[tuple[float, float]]:
    """Return the strongest edges along a side of a frame: how far beyond it, in its millimetres, and how strong."""
    away, along = np.arange(-0.5, _WIDEST_RIM_MM, 0.25), np.linspace(0.02, 0.98, 64) * size_mm[side % 2]
    level = beyond(ground.lab, to_px, size_mm, side, away, along).mean(axis=1)
    step = np.zeros(len(away))
    step[2:-2] = np.linalg.norm(level[3:-1] + level[4:] - level[:-4] - level[1:-3], axis=1) / 2
    peak = np.flatnonzero((step[1:-1] >= step[:-2]) & (step[1:-1] > step[2:]) & (step[1:-1] > 0.7)) + 1
    peak = peak[np.argsort(-step[peak], kind="stable")][:4]
    return [(float(away[i]), float(min(step[i], 10.0))) for i in peak if away[i] > 0.4]


# --- Sides ----------------------------------------------------------------------------------------------------


def most_edge(ground: Ground, quads: Floats) -> list[Floats]:
    """Return the candidates with most edge along their sides, each place once."""
    if not len(quads):
        return []
    shares = edge_shares(ground, quads)
    worth = shares.min(axis=1) + 0.5 * shares.mean(axis=1)
    order = np.argsort(-worth, kind="stable")
    order = order[worth[order] >= 0.45]
    left = in_one_order(quads)[order]
    chosen: list[Floats] = []
    while len(left) and len(chosen) < _MOST_LOOKED_AT:
        best = left[0]
        chosen.append(best)
        same = 1 + 0.008 * math.sqrt(abs(cv2.contourArea(np.float32(best))))
        left = left[np.abs(left - best).max(axis=(1, 2)) >= same]
    return chosen


def in_one_order(quads: Floats) -> Floats:
    """Return quadrilaterals `(n, 4, 2)` in one order of corners, to compare them corner by corner."""
    firsts = quads.sum(axis=2).argmin(axis=1)
    return np.take_along_axis(quads, ((firsts[:, None] + np.arange(4)) % 4)[..., None], axis=1)


def edge_shares(ground: Ground, quads: Floats) -> Floats:
    """Return the share of each side of quadrilaterals `(n, 4, 2)` on an edge that runs along it: `(n, 4)`."""
    at = np.linspace(CORNER_SHARE, 1 - CORNER_SHARE, 16)
    start, end = quads.astype(np.float32), np.roll(quads, -1, axis=1).astype(np.float32)
    along = end - start
    across = np.stack([-along[..., 1], along[..., 0]], axis=-1)
    across /= np.linalg.norm(across, axis=-1, keepdims=True) + 1e-9
    points = start[:, :, None] + at[:, None].astype(np.float32) * along[:, :, None]
    width, height = ground.size
    is_edge = np.zeros(points.shape[:3], bool)
    least = max(0.5, 1.2 * ground.grain)
    for offset in (-1.4, 0.0, 1.4):
        place = points + np.float32(offset) * across[:, :, None]
        x = np.clip(np.rint(place[..., 0]), 0, width - 1).astype(np.intp)
        y = np.clip(np.rint(place[..., 1]), 0, height - 1).astype(np.intp)
        steep = ground.steep[y, x]
        along_n = np.abs((steep * across[:, :, None]).sum(-1))
        is_edge |= (along_n > least) & (along_n**2 > 0.6 * (steep**2).sum(-1))
    return is_edge.mean(axis=-1)


class Looks:
    """Candidates with their sides fitted and measured, each place once."""

    def __init__(self, ground: Ground, size_mm: tuple[float, float], shrink: float, fit: Fit | None) -> None:
        self._ground, self._size_mm, self._shrink, self._fit = ground, size_mm, shrink, fit
        self._seen = np.zeros((0, 4, 2))

    def at(self, quads: Sequence[Floats]) -> list[Outline]:
        """Return the outlines of those whose sides are edges."""
        return [outline for quad in quads if (outline := self._one(quad)) is not None]

    def strips(self, outline: Outline) -> tuple[float, ...]:
        """Return the width of the card beyond each side of an outline that is a printed frame."""
        return strips(self._ground.lab, self.on_ground(outline), self._size_mm)

    def grown(self, outline: Outline, widths: Sequence[float]) -> Outline | None:
        """Return the outline widened on each side, None if those sides are no edges."""
        quad = through(to_pixels(self.on_ground(outline), self._size_mm), _widened(self._size_mm, *widths))
        return Looks(self._ground, self._size_mm, self._shrink, self._fit)._one(quad)

    def grown_round(self, likely: Sequence[Outline]) -> list[Outline]:
        """Return the outlines of what lies round candidates that may be printed frames."""
        return self.at([q for o in likely for q in _grown(self._ground, self.on_ground(o), self._size_mm)])

    def on_ground(self, outline: Outline) -> Floats:
        """Return its corners on the reduced picture."""
        return (outline.corners + 0.5) * self._shrink - 0.5

    def _one(self, quad: Floats) -> Outline | None:
        w, h = self._size_mm
        scale = math.sqrt(abs(cv2.contourArea(np.float32(quad))) / (w * h))
        roughly = _fitted(self._ground, quad, max(2.5, 0.45 * scale))
        if roughly is None or min(roughly[1]) < _LEAST_SUPPORT:
            return None
        rough = upright(roughly[0], self._ground.size, self._size_mm)
        if (np.abs(self._seen - rough).max(axis=(1, 2)) < 0.6).any():
            return None
        self._seen = np.concatenate([self._seen, rough[None]])
        fitted = _fitted(self._ground, rough, max(1.8, 0.3 * scale))
        return None if fitted is None else self._measured(*fitted, scale)

    def _measured(self, corners: Floats, support: list[float], blur: float, scale: float) -> Outline | None:
        corners = upright(corners, self._ground.size, self._size_mm)
        odd = float(oddity(corners[None], self._ground.size, self._size_mm)[0])
        down = corners[2:].mean(axis=0) - corners[:2].mean(axis=0)
        odd += _FITS if abs(down[0]) > abs(down[1]) else 0.0
        placed = (corners + 0.5) / self._shrink - 0.5
        if self._fit is not None:
            # Its distance from the card's size in the table's plane.
            mm = through(self._fit.inverse, self._fit.lens.straighten(placed) if self._fit.lens else placed)
            side = np.linalg.norm(np.roll(mm, -1, axis=0) - mm, axis=1)
            wanted = np.array([self._size_mm[0], self._size_mm[1]] * 2)
            odd = 0.5 * odd + float(np.abs(np.log(side / wanted)).max())
        if odd > _ODD:
            return None
        ends = 1 - _going_on(self._ground, corners)
        step = _steps(self._ground, corners, scale)
        score = min(support) + 0.6 * float(np.mean(support)) + 0.5 * ends + 0.6 * step - 4.0 * max(0.0, odd - _FITS)
        return Outline(placed, min(support), ends, step, odd, score, blur / self._shrink)


def _normal(along: Floats) -> Floats:
    """Return the unit vector a quarter turn from a vector `(2,)`."""
    return np.array([-along[1], along[0]]) / (np.hypot(*along) + 1e-9)


def _fitted(ground: Ground, quad: Floats, reach: float) -> tuple[Floats, list[float], float] | None:
    """Return the corners with each side on the edge near it, the share of edge along each, and the edges' σ."""
    ends = zip(quad, np.roll(quad, -1, axis=0), strict=True)
    sides = (_line_through(ground, start, end, reach) for start, end in ends)
    lines, support, blurs = zip(*sides, strict=True)
    start, along = np.array(lines).transpose(1, 0, 2)
    before, way = np.roll(start, 1, axis=0), np.roll(along, 1, axis=0)
    turn, on_before, _ = _crossings(before, way, start, along)
    if (np.abs(turn) < 1e-6).any():
        return None
    moved = before + on_before[:, None] * way
    side_px = math.sqrt(abs(cv2.contourArea(np.float32(quad))))
    if np.abs(moved - quad).max() > 3 * reach + 0.03 * side_px:
        return None
    return moved, list(support), float(np.median(blurs))


def _profiles(ground: Ground, start: Floats, end: Floats, reach: float) -> tuple[Floats, Floats, Floats]:
    """Return the slope across a side, `(samples, offsets)`, the samples' places, and the normal."""
    along = end - start
    across = _normal(along)
    count = int(np.clip(np.hypot(*along) / 3, _SAMPLES, 120))
    at = np.linspace(CORNER_SHARE, 1 - CORNER_SHARE, count)
    offsets = np.arange(-reach - 0.5, reach + 0.75, 0.5)
    base = start + at[:, None] * along
    points = base[:, None] + offsets[:, None] * across
    colours = sampled(ground.lab, points)
    slope = np.zeros(points.shape[:2])
    slope[:, 1:-1] = np.linalg.norm(colours[:, 2:] - colours[:, :-2], axis=2)
    return slope, base, across


def _line_through(
    ground: Ground, start: Floats, end: Floats, reach: float
) -> tuple[tuple[Floats, Floats], float, float]:
    """Return the line along a side where the slope is steepest, the share of the side on it, and the edge's σ.

    Of several parallel edges the one that most of the side shows wins.
    """
    slope, base, across = _profiles(ground, start, end, reach)
    grain = ground.grain
    offsets = np.arange(slope.shape[1]) * 0.5 - reach - 0.5
    peaks = (
        (slope[:, 1:-1] >= slope[:, :-2]) & (slope[:, 1:-1] > slope[:, 2:]) & (slope[:, 1:-1] > max(0.4, 1.1 * grain))
    )
    row, column = np.nonzero(peaks)
    if len(row) < 6:
        middle = base.mean(axis=0)
        return (middle, base[-1] - base[0]), 0.0, 9.0
    column = column + 1
    left, top, right = slope[row, column - 1], slope[row, column], slope[row, column + 1]
    shift = 0.5 * (left - right) / np.minimum(left - 2 * top + right, -1e-6)
    at = offsets[column] + 0.5 * np.clip(shift, -0.5, 0.5)
    u = row / max(1, len(base) - 1)
    weight = np.minimum(top, 6.0)
    level, tilt = _agreed(u, at, weight, reach)
    for _ in range(4):
        off = np.abs(at - level - tilt * u)
        w = weight * (off < 1.6) * np.exp(-0.5 * (off / 0.6) ** 2)
        if w.sum() <= 0:
            break
        mean_u, mean_at = np.average(u, weights=w), np.average(at, weights=w)
        spread = (w * (u - mean_u) ** 2).sum()
        tilt = float((w * (u - mean_u) * (at - mean_at)).sum() / spread) if spread > 1e-9 else 0.0
        level = float(mean_at - tilt * mean_u)
    near = np.abs(at - level - tilt * u) < 1.0
    share = min(1.0, len(np.unique(row[near])) / _to_be_seen(_is_burnt(ground, base)))
    ends = base[[0, -1]] + np.array([[level], [level + tilt]]) * across
    return (ends[0], ends[1] - ends[0]), share, _blur(slope, offsets, level + tilt * np.linspace(0, 1, len(base)))


def _agreed(u: Floats, at: Floats, weight: Floats, reach: float) -> tuple[float, float]:
    """Return level and tilt of the line through most of the peaks, by exhaustive search."""
    levels = np.arange(-reach, reach + 0.2, 0.4)
    tilts = np.linspace(-min(reach, 6.0), min(reach, 6.0), 9)
    best, found = -1.0, (0.0, 0.0)
    for tilt in tilts:
        votes = (weight * (np.abs(at - tilt * (u - 0.5) - levels[:, None]) < 0.7)).sum(axis=1)
        votes = votes * (1 - 0.15 * np.abs(levels) / reach)
        i = int(np.argmax(votes))
        if votes[i] > best:
            best, found = float(votes[i]), (float(levels[i] - 0.5 * tilt), float(tilt))
    return found


def _blur(slope: Floats, offsets: Floats, at: Floats) -> float:
    """Return the σ of an edge from its height and steepest slope, the median over the samples."""
    near = np.abs(offsets[None] - at[:, None]) < 3.5
    height = (slope * near).sum(axis=1) * 0.5
    steepest = np.where(near, slope, 0).max(axis=1)
    strong = steepest > 1.5
    if strong.sum() < 5:
        return 9.0
    return float(np.median(height[strong] / steepest[strong])) / math.sqrt(2 * math.pi)


def _going_on(ground: Ground, corners: Floats) -> float:
    """Return how much the sides go on as edges beyond the corners, over a fifth of their length: 0 to 1.

    Other things there have edges too, but not along the side, or not with the same colours beside them. One side that
    goes on at both ends is enough: it is a line of the cloth. So are two that go on beyond the side between them: that
    one divides a larger thing, such as the card itself.
    """
    shares = []
    for side in range(4):
        start, end = corners[side], corners[(side + 1) % 4]
        way = end - start
        own = _step_along(ground, start + 0.1 * way, end - 0.1 * way)
        slope = _profiles(ground, start + 0.1 * way, end - 0.1 * way, 1.0)[0].max(axis=1)
        least = max(1.5, 2.5 * ground.grain, _AS_STEEP * float(np.median(slope)))
        for a, b in ((end + 0.03 * way, end + 0.2 * way), (start - 0.03 * way, start - 0.2 * way)):
            same_colours = 1.5 * _step_along(ground, a, b) / max(own, 1.0)
            # The share of the line on edges as steep along it, whatever the colours beside them.
            slope, _, _ = _profiles(ground, a, b, 3.0)
            near = np.abs(slope.argmax(axis=1) - slope.shape[1] // 2) <= 2
            in_line = float((near & (slope.max(axis=1) > least)).mean())
            shares.append(min(1.0, max(same_colours, (in_line - 0.45) / 0.45)))
    per_side = np.array(shares).reshape(4, 2)
    past = np.minimum(np.roll(per_side[:, 0], 1), np.roll(per_side[:, 1], -1))
    return max(float(per_side.mean()), 0.9 * float(per_side.min(axis=1).max()), 0.9 * float(past.max()))


def _step_along(ground: Ground, start: Floats, end: Floats) -> float:
    """Return the difference in colour a pixel or two to both sides of a line, over all of it."""
    along = end - start
    across = _normal(along)
    base = start + np.linspace(0, 1, 24)[:, None] * along
    one, other = (_colours(ground, base[:, None] + sign * np.array([[1.0], [2.0]]) * across) for sign in (1, -1))
    return float(np.linalg.norm((one - other).mean(axis=0)))


def _steps(ground: Ground, corners: Floats, scale: float) -> float:
    """Return the share of the weakest side with different colours on its two sides, near and farther.

    Farther, because a thin printed line has the same paper on both sides.
    """
    middle = corners.mean(axis=0)
    near = np.linspace(max(1.5, 0.7 * scale), max(3.0, 1.9 * scale), 4)
    far = np.linspace(max(3.0, 2.2 * scale), max(5.0, 4.0 * scale), 4)
    shares = []
    for side in range(4):
        start, end = corners[side], corners[(side + 1) % 4]
        along = end - start
        across = _normal(along)
        across = across if across @ (middle - start) > 0 else -across
        base = start + np.linspace(CORNER_SHARE, 1 - CORNER_SHARE, _SAMPLES)[:, None] * along
        for away in (near, far):
            inside, outside = (_colours(ground, base[:, None] + sign * away[:, None] * across) for sign in (1, -1))
            is_step = np.linalg.norm(inside - outside, axis=1) > DIFFERENT
            shares.append(min(1.0, float(is_step.sum()) / _to_be_seen(_is_burnt(ground, base))))
    return min(shares)


def _is_burnt(ground: Ground, base: Floats) -> Mask:
    """Return which places along a side `(n, 2)` a lamp has burnt out: no edge can be seen there."""
    return sampled(ground.lab, base[:, None])[:, 0, 0] > _BURNT


def _to_be_seen(burnt: Mask) -> float:
    """Return the number of places along a side on which an edge should be seen."""
    return len(burnt) - min(float(burnt.sum()), _MOST_BURNT * len(burnt))


def _colours(ground: Ground, points: Floats) -> Floats:
    """Return the mean colour over the second axis of points `(n, m, 2)`: `(n, 3)`."""
    taken = sampled(ground.lab, points)
    return taken.mean(axis=1).astype(np.float64)


# --- Proportions ----------------------------------------------------------------------------------------------


def upright(corners: Floats, size: tuple[int, int], size_mm: tuple[float, float]) -> Floats:
    """Return the corners clockwise from the card's upper left one, with the card nearest to upright.

    For a card that lies across either end may be the upper one: only its print could tell.
    """
    if cv2.contourArea(np.float32(corners), oriented=True) < 0:
        corners = corners[::-1]
    turns = [np.roll(corners, -k, axis=0) for k in range(4)]
    odd = oddity(np.array(turns[:2]), size, size_mm)
    fitting = turns[0::2] if odd[0] <= odd[1] else turns[1::2]
    return max(fitting, key=lambda turn: float((turn[2:] - turn[:2][::-1]).sum(axis=0)[1]) + 1e-3 * float(turn[1, 0]))


def oddity(quads: Floats, size: tuple[int, int], size_mm: tuple[float, float]) -> Floats:
    """Return how far quadrilaterals `(n, 4, 2)` are from a card as any camera may see it: `(n,)`, about a share.

    Each begins with the card's upper left corner. The camera's focal length is unknown: the best of `_FOCALS` counts.
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


# --- Choice ---------------------------------------------------------------------------------------------------


def _believed(found: list[Outline], look: Looks) -> list[Outline]:
    """Return the same, the first one grown if a strip of card lies round it, or doubtful if it may be a frame."""
    if not found:
        return []
    first, widths = found[0], look.strips(found[0])
    if any(widths):
        whole = look.grown(first, widths)
        fits = whole is not None and whole.is_sure and whole.odd < max(first.odd, _FITS)
        if whole is not None and fits and not any(look.strips(whole)):
            # Hardly larger and less likely: a shadow, or a line of the ground beside one side.
            is_no_card = whole.area_px < _HARDLY_LARGER * first.area_px and whole.score < first.score - 0.1
            return [replace(first, is_doubtful=True), whole, *found[1:]] if is_no_card else [whole, *found]
    is_doubtful = any(widths) or any(_may_be_round(other, first) or _fits_better(other, first) for other in found[1:])
    return [replace(first, is_doubtful=is_doubtful), *found[1:]]


def _may_be_round(outer: Outline, inner: Outline) -> bool:
    """True if the outer candidate may as well be the card, and the inner one a frame on it."""
    if not _CLEARLY_LARGER < outer.area_px / inner.area_px < _LARGEST_FRAME or not holds(outer.corners, inner.corners):
        return False
    sound = outer.support > 0.78 and outer.ends > 0.75 and outer.step > 0.84 and outer.odd < 0.03
    return sound and outer.score > inner.score - _MUCH_LESS_LIKELY


def _fits_better(inner: Outline, outer: Outline) -> bool:
    """True if the inner candidate is likelier in all respects than the outer, which may be a line of the ground."""
    return inner.score > outer.score + 0.08 and inner.odd < outer.odd - 0.005 and holds(outer.corners, inner.corners)


def _ranked(found: Sequence[Outline]) -> list[Outline]:
    """Return the likeliest first, but a card before the frames printed on it."""
    order = sorted(found, key=lambda outline: -outline.score)
    if not order:
        return []
    first = order[0]
    while (outer := next((other for other in order if _is_card_round(other, first)), None)) is not None:
        first = outer
    return [first, *(other for other in order if other is not first)]


def _is_card_round(outer: Outline, inner: Outline) -> bool:
    """True if the outer candidate may be the card, and the inner one a frame on it."""
    larger = outer.area_px / inner.area_px
    if not 1.004 < larger < _LARGEST_FRAME or not holds(outer.corners, inner.corners):
        return False
    if larger < _HARDLY_LARGER and outer.odd > inner.odd + 0.01:
        return False
    less_likely = _LESS_LIKELY if larger >= _HARDLY_LARGER else 0.2 if outer.odd < inner.odd - 0.005 else 0.05
    sound = min(outer.support, outer.step) >= SURE_EDGE and outer.ends >= _ROUND_ENDS
    sound = sound and outer.score > inner.score - less_likely and outer.blur_px < 1.5 * inner.blur_px
    # A card has a card's proportions: one side of it and three of its frame, or a line of the ground, have not.
    sound = sound and outer.ends > inner.ends - (0.3 if outer.odd < inner.odd - 0.01 else 0.2)
    return sound and outer.odd < (
        inner.odd + 1.5 * _FITS if inner.odd < _FITS / 4 else max(SURE_ODD, inner.odd) + _FITS
    )


def holds(outer: Floats, inner: Floats) -> bool:
    """True if the inner corners `(4, 2)` lie within the outer quadrilateral."""
    polygon = np.float32(outer)
    return all(cv2.pointPolygonTest(polygon, (float(x), float(y)), True) >= -1.5 for x, y in inner)

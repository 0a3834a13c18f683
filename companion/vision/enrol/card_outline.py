"""Find a card's outline in a photograph: four straight edges with a card's proportions, on any ground.

Candidates come from `quadrilaterals.py`. Each side must be an edge that ends at the corners and separates two colors.
Of nested outlines, the outermost is the card, the others are printed frames.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from companion.vision.boxes import Floats, Image, Size, lengths, shrunk
from companion.vision.enrol.printed_frames import DIFFERENT, larger, sampled, strips, to_pixels, widened
from companion.vision.enrol.quadrilaterals import MOST_ODD, Ground, candidates, crossings, ground_of, oddity, upright
from companion.vision.faces.border_profile import CORNER_SHARE
from companion.vision.mats.homography import Fit, through
from companion.vision.opencv import cv2

LONG_SIDE_PX = 1000  # larger pictures are reduced
_MOST_LOOKED_AT, _MOST_GROWN = 60, 6  # maximum candidates fitted, and widened

SURE_EDGE, SURE_ENDS, SURE_ODD = 0.8, 0.45, 0.04  # certain outline: minimum `support` and `step`, `ends`; maximum `odd`
_FITS = SURE_ODD / 2  # oddity of a good fit; penalty for a card on its side, which half a card resembles
_CLEAR_ENDS = 0.88  # minimum `ends` above that oddity: longer lines belong to other things
_ROUND_ENDS = 0.6  # minimum `ends` of a card around its frame

_SAMPLES = 32  # minimum per side
_LEAST_SUPPORT = 0.3  # minimum share of edge along a candidate's side
_BURNT, _MOST_BURNT = 98.5, 0.45  # minimum lightness of overexposed samples; maximum share excused by them
_AS_STEEP = 0.4  # minimum slope of a continuing edge, relative to the side's

_NO_EDGE = 9.0  # blur σ without an edge, in pixels

_LESS_LIKELY, _MUCH_LESS_LIKELY = 0.16, 0.42  # maximum score lead of a frame over its card; of a doubtful one
_HARDLY_LARGER, _CLEARLY_LARGER, _LARGEST_FRAME = 1.06, 1.15, 2.6
"""Area ratios of nested outlines: up to the first, the outer is often a shadow; from the second, never; maximum."""


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """A candidate outline of a card."""

    corners: Floats  # `(4, 2)` picture px, clockwise from the upper left, where straight edges meet
    support: float  # share of edge along the weakest side
    ends: float  # 1 if all edges end at the corners, down to 0
    step: float  # share of the weakest side with a color step
    odd: float  # deviation from a card's proportions in any perspective
    score: float
    blur_px: float = 0.0  # σ of its edges, in picture px
    is_doubtful: bool = False  # another outline or outer strip suggests another size

    @property
    def is_sure(self) -> bool:
        least_ends = SURE_ENDS if self.odd <= _FITS else _CLEAR_ENDS
        if self.is_doubtful or self.step < SURE_EDGE or self.odd > SURE_ODD or self.ends < least_ends:
            return False
        fits = self.ends > 0.8 and self.step > 0.95 and self.odd < _FITS
        return self.support >= (SURE_EDGE - 0.1 if fits else SURE_EDGE)

    @property
    def area_px(self) -> float:
        return abs(float(cv2.contourArea(np.float32(self.corners))))


def outlines(image: Image, size_mm: Size, fit: Fit | None = None) -> list[Outline]:
    """Return a card's candidate outlines in a picture `(H, W, 3) uint8 BGR`, likeliest first.

    With a mat's `fit`, the real size is checked too.
    """
    shrink = min(1.0, LONG_SIDE_PX / max(image.shape[:2]))
    ground = ground_of(shrunk(image, shrink))
    look = Looks(ground, size_mm, shrink, fit)
    return likeliest(look.at(most_edge(ground, candidates(ground, size_mm))), look)


def likeliest(found: list[Outline], look: Looks) -> list[Outline]:
    """Return one card's candidates and larger outlines around them, the card first."""
    wider = look.grown_round(sorted(found, key=lambda outline: -outline.score)[:_MOST_GROWN])
    return _with_first_checked(_ranked([*found, *wider]), look) if found else []


# --- Sides ----------------------------------------------------------------------------------------------------


def most_edge(ground: Ground, quads: Floats) -> list[Floats]:
    """Return the quadrilaterals with most edge along their sides, one per place."""
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
    """Return quadrilaterals `(n, 4, 2)` with the upper left corner first."""
    firsts = quads.sum(axis=2).argmin(axis=1)
    return np.take_along_axis(quads, ((firsts[:, None] + np.arange(4)) % 4)[..., None], axis=1)


def edge_shares(ground: Ground, quads: Floats) -> Floats:
    """Return each side's share of edge, `(n, 4)`, of quadrilaterals `(n, 4, 2)`."""
    at = np.linspace(CORNER_SHARE, 1 - CORNER_SHARE, 16)
    start, end = quads.astype(np.float32), np.roll(quads, -1, axis=1).astype(np.float32)
    along = end - start
    across = np.stack([-along[..., 1], along[..., 0]], axis=-1)
    across /= lengths(across)[..., None] + 1e-9
    points = start[:, :, None] + at[:, None].astype(np.float32) * along[:, :, None]
    width, height = ground.size
    is_edge = np.zeros(points.shape[:3], bool)
    least = max(0.5, 1.2 * ground.grain)
    for offset in (-1.4, 0.0, 1.4):
        place = points + np.float32(offset) * across[:, :, None]
        x = np.clip(np.rint(place[..., 0]), 0, width - 1).astype(np.intp)
        y = np.clip(np.rint(place[..., 1]), 0, height - 1).astype(np.intp)
        steep = ground.steep[y, x]
        right, down = np.moveaxis(steep, -1, 0)
        along_n = np.abs(right * across[..., None, 0] + down * across[..., None, 1])
        is_edge |= (along_n > least) & (along_n**2 > 0.6 * (right**2 + down**2))
    return is_edge.mean(axis=-1)


class Looks:
    """Fits and measures candidates, each place once."""

    def __init__(self, ground: Ground, size_mm: Size, shrink: float = 1.0, fit: Fit | None = None) -> None:
        self._ground, self._size_mm, self._shrink, self._fit = ground, size_mm, shrink, fit
        self._seen = np.zeros((0, 4, 2))

    def at(self, quads: Sequence[Floats]) -> list[Outline]:
        """Return the quadrilaterals fitted to edges, without those that fail."""
        return [outline for quad in quads if (outline := self._one(quad)) is not None]

    def strips(self, outline: Outline) -> tuple[float, ...]:
        """Return the width of card beyond each side in mm; 0 for none."""
        return strips(self._ground.lab, self.on_ground(outline), self._size_mm)

    def fits_wider(self, outline: Outline, widths: Sequence[float]) -> bool:
        """True if strips of `widths` in mm may belong to the card: without them, its proportions are not exact.

        A line of the table beside a card looks like a strip too, but widens it to other proportions.
        """
        quad = through(to_pixels(self.on_ground(outline), self._size_mm), widened(self._size_mm, *widths))
        odd = float(oddity(quad[None], self._ground.size, self._size_mm)[0])
        return outline.odd > _FITS / 2 or odd < 2 * outline.odd + _FITS / 2

    def grown(self, outline: Outline, widths: Sequence[float]) -> Outline | None:
        """Return the outline widened by `widths` in mm; None without edges."""
        quad = through(to_pixels(self.on_ground(outline), self._size_mm), widened(self._size_mm, *widths))
        return Looks(self._ground, self._size_mm, self._shrink, self._fit)._one(quad)

    def grown_round(self, likely: Sequence[Outline]) -> list[Outline]:
        """Return larger outlines around possible printed frames."""
        return self.at([q for o in likely for q in larger(self._ground, self.on_ground(o), self._size_mm)])

    def on_ground(self, outline: Outline) -> Floats:
        return (outline.corners + 0.5) * self._shrink - 0.5

    def _one(self, quad: Floats) -> Outline | None:
        w, h = self._size_mm
        scale = math.sqrt(abs(cv2.contourArea(np.float32(quad))) / (w * h))
        roughly = _fitted(self._ground, quad, max(2.5, 0.45 * scale), _LEAST_SUPPORT)
        if roughly is None:
            return None
        rough = upright(roughly[0], self._ground.size, self._size_mm)
        if (np.abs(self._seen - rough).max(axis=(1, 2)) < 0.6).any():
            return None
        self._seen = np.concatenate([self._seen, rough[None]])
        fitted = _fitted(self._ground, rough, max(1.8, 0.3 * scale))
        return None if fitted is None else self._measured(*fitted, scale)

    def _measured(
        self, corners: Floats, support: Sequence[float], blurs: Sequence[float], scale: float
    ) -> Outline | None:
        corners = upright(corners, self._ground.size, self._size_mm)
        odd = float(oddity(corners[None], self._ground.size, self._size_mm)[0])
        down = corners[2:].mean(axis=0) - corners[:2].mean(axis=0)
        odd += _FITS if abs(down[0]) > abs(down[1]) else 0.0
        placed = (corners + 0.5) / self._shrink - 0.5
        if self._fit is not None:
            # Deviation from the real size.
            mm = self._fit.to_mm(placed)
            side = np.linalg.norm(np.roll(mm, -1, axis=0) - mm, axis=1)
            wanted = np.array(self._size_mm * 2)
            odd = 0.5 * odd + float(np.abs(np.log(side / wanted)).max())
        if odd > MOST_ODD:
            return None
        ends = 1 - _continuation(self._ground, corners)
        step = _steps(self._ground, corners, scale)
        score = min(support) + 0.6 * float(np.mean(support)) + 0.5 * ends + 0.6 * step - 4.0 * max(0.0, odd - _FITS)
        return Outline(placed, min(support), ends, step, odd, score, float(np.median(blurs)) / self._shrink)


def _normals(along: Floats) -> Floats:
    return np.stack([-along[:, 1], along[:, 0]], axis=-1) / (np.hypot(*along.T)[:, None] + 1e-9)


def _fitted(
    ground: Ground, quad: Floats, reach: float, least: float = 0.0
) -> tuple[Floats, Sequence[float], Sequence[float]] | None:
    """Return the fitted corners, and each side's share of edge and blur σ.

    None if a side has less edge than `least`, or the fit is far from `quad`.
    """
    sides = []
    for start, end in zip(quad, np.roll(quad, -1, axis=0), strict=True):
        sides.append(_line_through(ground, start, end, reach))
        if sides[-1][1] < least:
            return None
    lines, support, blurs = zip(*sides, strict=True)
    start, along = np.array(lines).transpose(1, 0, 2)
    before, way = np.roll(start, 1, axis=0), np.roll(along, 1, axis=0)
    turn, on_before, _ = crossings(before, way, start, along)
    if (np.abs(turn) < 1e-6).any():
        return None
    moved = before + on_before[:, None] * way
    side_px = math.sqrt(abs(cv2.contourArea(np.float32(quad))))
    if np.abs(moved - quad).max() > 3 * reach + 0.03 * side_px:
        return None
    return moved, support, blurs


def _profiles(ground: Ground, start: Floats, end: Floats, reach: float) -> tuple[Floats, Floats, Floats]:
    """Return slopes across lines `(n, samples, offsets)`, sample points and normals."""
    along = end - start
    across = _normals(along)
    count = int(np.clip(np.hypot(*along.T).max() / 3, _SAMPLES, 120))
    base = start[:, None] + np.linspace(CORNER_SHARE, 1 - CORNER_SHARE, count)[:, None] * along[:, None]
    offsets = np.arange(-reach - 0.5, reach + 0.75, 0.5)[:, None]
    points = base[:, :, None] + offsets * across[:, None, None]
    colours = sampled(ground.lab, points.reshape(-1, len(offsets), 2))
    difference = colours[:, 2:] - colours[:, :-2]
    difference *= difference
    slope = np.zeros(points.shape[:3])
    slope.reshape(-1, len(offsets))[:, 1:-1] = np.sqrt(difference[..., 0] + difference[..., 1] + difference[..., 2])
    return slope, base, across


def _line_through(
    ground: Ground, start: Floats, end: Floats, reach: float
) -> tuple[tuple[Floats, Floats], float, float]:
    """Return the steepest line near a side (start, vector), its share of edge and blur σ."""
    slope, base, across = (of[0] for of in _profiles(ground, start[None], end[None], reach))
    offsets = np.arange(slope.shape[1]) * 0.5 - reach - 0.5
    inner = slope[:, 1:-1]
    row, column = np.nonzero((inner >= slope[:, :-2]) & (inner > slope[:, 2:]) & (inner > max(0.4, 1.1 * ground.grain)))
    if len(row) < 6:
        return (base.mean(axis=0), base[-1] - base[0]), 0.0, _NO_EDGE
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
        total = w.sum()
        if total <= 0:
            break
        mean_u, mean_at = (w * u).sum() / total, (w * at).sum() / total
        spread = (w * (u - mean_u) ** 2).sum()
        tilt = float((w * (u - mean_u) * (at - mean_at)).sum() / spread) if spread > 1e-9 else 0.0
        level = float(mean_at - tilt * mean_u)
    near = np.abs(at - level - tilt * u) < 1.0
    share = min(1.0, np.count_nonzero(np.bincount(row[near])) / float(_in_sight(ground, base[None])[0]))
    ends = base[[0, -1]] + np.array([[level], [level + tilt]]) * across
    return (ends[0], ends[1] - ends[0]), share, _blur(slope, offsets, level, tilt)


def _agreed(u: Floats, at: Floats, weight: Floats, reach: float) -> tuple[float, float]:
    """Return level and tilt of the line through most peaks."""
    levels = np.arange(-reach, reach + 0.2, 0.4)
    tilts = np.linspace(-min(reach, 6.0), min(reach, 6.0), 9)
    lines = tilts[:, None, None] * (u - 0.5)
    votes = (weight * (np.abs(at - lines - levels[:, None]) < 0.7)).sum(axis=2) * (1 - 0.15 * np.abs(levels) / reach)
    tilt, level = np.unravel_index(votes.argmax(), votes.shape)
    return float(levels[level] - 0.5 * tilts[tilt]), float(tilts[tilt])


def _blur(slope: Floats, offsets: Floats, level: float, tilt: float) -> float:
    """Return an edge's blur σ from the median ratio of height to slope."""
    at = level + tilt * np.linspace(0, 1, len(slope))
    near = np.abs(offsets[None] - at[:, None]) < 3.5
    height = (slope * near).sum(axis=1) * 0.5
    steepest = np.where(near, slope, 0).max(axis=1)
    strong = steepest > 1.5
    if strong.sum() < 5:
        return _NO_EDGE
    return float(np.median(height[strong] / steepest[strong])) / math.sqrt(2 * math.pi)


def _continuation(ground: Ground, corners: Floats) -> float:
    """Return how clearly the sides continue beyond the corners, within a fifth of their length: 0 to 1.

    A continuation follows the side or has the same colors beside it. One side continued at both ends suffices, a line
    of the cloth; so do two continued past the side between them, which divides something larger.
    """
    start, end = corners, np.roll(corners, -1, axis=0)
    way = end - start
    first, last = start + 0.1 * way, end - 0.1 * way
    own = _steps_along(ground, first, last)
    sides = (_profiles(ground, a[None], b[None], 1.0)[0] for a, b in zip(first, last, strict=True))
    slopes = np.array([np.median(slope.max(axis=2)) for slope in sides])
    least = np.maximum(max(1.5, 2.5 * ground.grain), _AS_STEEP * slopes)
    near, far = (np.stack([end + share * way, start - share * way], axis=1) for share in (0.03, 0.2))
    # Edges farther away belong to neighboring cards.
    middle = (near + far) / 2
    begins, ends = (np.stack(of, axis=2).reshape(-1, 2) for of in ((near, middle), (middle, far)))
    same_colours = 1.5 * _steps_along(ground, begins, ends).reshape(4, 2, 2).min(axis=2) / np.maximum(own, 1.0)[:, None]
    in_line = _shares_in_line(ground, begins, ends, np.repeat(least, 4)).reshape(4, 2, 2).min(axis=2)
    per_side = np.minimum(1.0, np.maximum(same_colours, (in_line - 0.45) / 0.45))
    past = np.minimum(np.roll(per_side[:, 0], 1), np.roll(per_side[:, 1], -1))
    return max(float(per_side.mean()), 0.9 * float(per_side.min(axis=1).max()), 0.9 * float(past.max()))


def _shares_in_line(ground: Ground, start: Floats, end: Floats, least: Floats) -> Floats:
    """Return each line's share of edge with at least this slope, `(n,)`."""
    slope, _, _ = _profiles(ground, start, end, 3.0)
    is_near = np.abs(slope.argmax(axis=2) - slope.shape[2] // 2) <= 2
    return (is_near & (slope.max(axis=2) > least[:, None])).mean(axis=1)


def _steps_along(ground: Ground, start: Floats, end: Floats) -> Floats:
    """Return the mean Lab difference across each line, one to two pixels off, `(n,)`."""
    along = end - start
    base = (start[:, None] + np.linspace(0, 1, 24)[:, None] * along[:, None])[:, :, None]
    away = np.array([[1.0], [2.0]]) * _normals(along)[:, None, None]
    one, other = (sampled(ground.lab, (base + sign * away).reshape(-1, 2, 2)) for sign in (1, -1))
    return lengths((one - other).reshape(len(along), -1, 3).mean(axis=1)).astype(np.float64)


def _steps(ground: Ground, corners: Floats, scale: float) -> float:
    """Return the weakest side's share with a color step, near and farther off: no printed line."""
    along = np.roll(corners, -1, axis=0) - corners
    across = _normals(along)
    across *= np.where((across * (corners.mean(axis=0) - corners)).sum(axis=1) > 0, 1.0, -1.0)[:, None]
    base = corners[:, None] + np.linspace(CORNER_SHARE, 1 - CORNER_SHARE, _SAMPLES)[:, None] * along[:, None]
    shares = []
    for ends in ((max(1.5, 0.7 * scale), max(3.0, 1.9 * scale)), (max(3.0, 2.2 * scale), max(5.0, 4.0 * scale))):
        away = np.linspace(*ends, 4)[:, None] * across[:, None, None]
        places = ((base[:, :, None] + sign * away).reshape(-1, 4, 2) for sign in (1, -1))
        inside, outside = (sampled(ground.lab, points) for points in places)
        is_step = lengths((inside - outside).mean(axis=1)) > DIFFERENT
        shares.append(is_step.reshape(4, -1).sum(axis=1) / _in_sight(ground, base))
    return min(1.0, float(np.min(shares)))


def _in_sight(ground: Ground, base: Floats) -> Floats:
    """Return how many samples per side can show an edge: not overexposed."""
    burnt = sampled(ground.lab, base)[..., 0] > _BURNT
    return base.shape[1] - np.minimum(burnt.sum(axis=1), _MOST_BURNT * base.shape[1])


# --- Choice ---------------------------------------------------------------------------------------------------


def _with_first_checked(found: list[Outline], look: Looks) -> list[Outline]:
    """Return the candidates, the first one widened or marked doubtful if needed."""
    first, widths = found[0], look.strips(found[0])
    has_strips = any(widths) and look.fits_wider(first, widths)
    if has_strips:
        whole = look.grown(first, widths)
        fits = whole is not None and whole.is_sure and whole.odd < max(first.odd, _FITS)
        if whole is not None and fits and not any(look.strips(whole)):
            # Barely larger and less likely: a shadow or line beside the card.
            is_no_card = whole.area_px < _HARDLY_LARGER * first.area_px and whole.score < first.score - 0.1
            return [replace(first, is_doubtful=True), whole, *found[1:]] if is_no_card else [whole, *found]
    # The first may include a line on the ground.
    fit_better = (other for other in found[1:] if other.score > first.score + 0.08 and other.odd < first.odd - 0.005)
    is_doubtful = has_strips or any(holds(first.corners, other.corners) for other in fit_better)
    is_doubtful = is_doubtful or any(_are_ambiguous(other, first) for other in found[1:])
    return [replace(first, is_doubtful=is_doubtful), *found[1:]]


def _are_ambiguous(outer: Outline, inner: Outline) -> bool:
    """True if either candidate may be the card."""
    if not _CLEARLY_LARGER < outer.area_px / inner.area_px < _LARGEST_FRAME or not holds(outer.corners, inner.corners):
        return False
    sound = outer.support > 0.78 and outer.ends > 0.75 and outer.step > 0.84 and outer.odd < 0.03
    return sound and outer.score > inner.score - _MUCH_LESS_LIKELY


def _ranked(found: Sequence[Outline]) -> list[Outline]:
    """Return candidates, likeliest first, a card before its frames."""
    order = sorted(found, key=lambda outline: -outline.score)
    first = order[0]
    while (outer := next((other for other in order if _has_as_frame(other, first)), None)) is not None:
        first = outer
    return [first, *(other for other in order if other is not first)]


def _has_as_frame(outer: Outline, inner: Outline) -> bool:
    """True if the inner candidate is likely a frame printed on the outer one."""
    larger = outer.area_px / inner.area_px
    if not 1.004 < larger < _LARGEST_FRAME or not holds(outer.corners, inner.corners):
        return False
    if larger < _HARDLY_LARGER and outer.odd > inner.odd + 0.01:
        return False
    less_likely = _LESS_LIKELY if larger >= _HARDLY_LARGER else 0.2 if outer.odd < inner.odd - 0.005 else 0.05
    sound = min(outer.support, outer.step) >= SURE_EDGE and outer.ends >= _ROUND_ENDS
    sound = sound and outer.score > inner.score - less_likely and outer.blur_px < 1.5 * inner.blur_px
    # Mixed sides of card and frame, or a line on the ground, have wrong proportions.
    sound = sound and outer.ends > inner.ends - (0.3 if outer.odd < inner.odd - 0.01 else 0.2)
    return sound and outer.odd < (
        inner.odd + 1.5 * _FITS if inner.odd < _FITS / 4 else max(SURE_ODD, inner.odd) + _FITS
    )


def holds(outer: Floats, inner: Floats) -> bool:
    """True if inner corners `(4, 2)` are inside outer ones, within 1.5 px."""
    polygon = np.float32(outer)
    return all(cv2.pointPolygonTest(polygon, (float(x), float(y)), True) >= -1.5 for x, y in inner)

"""Fit one table plane and the lens distortion to the marker corners of all mats.

On the plane each mat has a rotation, a shift and, because printers differ, a scale near 1. Blur moves corners inwards;
this inset is fitted too, or it would pass for distortion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from companion.vision.boxes import Floats
from companion.vision.mats.homography import Lens, through
from companion.vision.opencv import cv2

CORNER_PX = 0.3  # usual error (σ) of a marker corner
LEAST_ERROR = 0.4  # minimum corner error believed, relative to `CORNER_PX` …
ENOUGH_SPARE = 7  # … with at least so many spare measurements; else 1
LEFT_PX = 0.2  # RMS residual below which no distortion is sought
CLEARLY_BETTER = 0.5  # distortion must leave at most this share of the squared residuals …
SURELY_BETTER = 40.0  # … and reduce them by so many times their mean
NOT_FLAT = 0.7  # uneven table: one plane per mat leaves a smaller share of the squared residuals
LEAST_BEND_PX = 1.0  # minimum shift of some marker by distortion
PRINT_SCALE = 0.01  # usual relative size difference of printed mats
INSET = 0.02
USUAL_BEND = 0.05  # usual k1
_MM = 100.0  # mm per unit in the equations, to balance the parameters


@dataclass(frozen=True, slots=True, eq=False)
class MarkerPoints:
    """Marker corners of one mat, in mm and px, `(4n, 2)` each."""

    mm: Floats
    px: Floats

    def __len__(self) -> int:
        return len(self.mm) // 4


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Result of `survey`; `lens` is None without distortion."""

    lens: Lens | None
    matrices: Mapping[str, Floats]  # mm → undistorted picture, `(3, 3)`
    spread_mm: Mapping[str, float]  # RMS error of the worst watched point


def survey(
    mats: Mapping[str, MarkerPoints],
    size_px: tuple[int, int],
    lens: Lens | None,
    *,
    seek_lens: bool,
    watched: Mapping[str, Floats] = MappingProxyType({}),
) -> Calibration:
    """Fit the plane, the mats and, with `seek_lens`, the lens; else use `lens` (None: undistorted).

    The first mat, the best known, defines the table's coordinates. Also estimate `spread_mm` at points `watched` on the
    mats, `(N, 2)` mm.
    """
    task = _Task.of(list(mats.values()), size_px)
    known = (lens.k1, lens.k2) if lens else (0.0, 0.0)
    straight = _solved(task, task.start(*(known if not seek_lens else (0.0, 0.0))), 0)
    best, bends = straight, 0
    for extra in (1, 2) if seek_lens else ():
        if task.left_px(best, bends) < LEFT_PX:
            break
        bent = _solved(task, best, extra)
        if not _is_better(task, bent, best, extra):
            break
        best, bends = bent, extra
    found = task.lens(best) if bends or (lens and not seek_lens) else None
    # relative to `CORNER_PX`; 1 with too few measurements
    more = max(LEAST_ERROR if task.spare(bends) >= ENOUGH_SPARE else 1.0, 1.5 * (task.left_px(best, bends) / CORNER_PX))
    # Distortion is uncertain even if none was found.
    ways = _ways_off(task, best, max(bends, 1) if seek_lens else bends, more)
    unsure = {
        mat: _worst_mm(task, best, ways, at, watched[mat]) * max(1.0, task.off_on(at, best) / more)
        for at, mat in enumerate(mats)
        if mat in watched
    }
    return Calibration(found, dict(zip(mats, task.matrices(best), strict=True)), unsure)


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """Least-squares problem. Parameters: 8 of the plane, 4 per mat, inset, k1, k2."""

    mm: Floats
    inward: Floats  # from each corner to its marker's center
    seen: Floats
    mat: np.ndarray  # mat index per corner
    loose: Floats  # usual scale error per mat
    size_px: tuple[int, int]
    middle: Floats
    unit: float

    @classmethod
    def of(cls, mats: Sequence[MarkerPoints], size_px: tuple[int, int]) -> _Task:
        mm = np.concatenate([points.mm for points in mats]) / _MM
        middles = mm.reshape(-1, 4, 2).mean(axis=1).repeat(4, axis=0)
        middle, unit = np.array([(size_px[0] - 1) / 2, (size_px[1] - 1) / 2]), float(np.hypot(*size_px) / 2)
        seen = (np.concatenate([points.px for points in mats]) - middle) / unit
        mat = np.repeat(np.arange(len(mats)), [len(points.mm) for points in mats])
        loose = np.array([PRINT_SCALE if len(points) > 1 else PRINT_SCALE / 10 for points in mats])
        return cls(mm, middles - mm, seen, mat, loose, size_px, middle, unit)

    def start(self, k1: float, k2: float) -> Floats:
        """Return initial parameters: the first mat's plane, the others fitted to it."""
        flat = self.flat(Lens(self.size_px, k1, k2))
        first = self.mat == 0
        plane, _ = cv2.findHomography(self.mm[first], flat[first], 0)
        on_table = cv2.perspectiveTransform(flat[None], np.linalg.inv(plane))[0]
        poses = [similarity(self.mm[self.mat == i], on_table[self.mat == i]) for i in range(len(self.loose))]
        return np.concatenate(((plane / plane[2, 2]).ravel()[:8], *poses, (0.0, k1, k2)))

    def free(self, bends: int) -> np.ndarray:
        """Return free parameters: not the first mat's pose, only `bends` of k1 and k2."""
        sought = np.ones(8 + 4 * len(self.loose) + 3, bool)
        sought[8:12] = False
        sought[len(sought) - 2 + bends :] = False
        return np.flatnonzero(sought)

    def off(self, at: Floats) -> Floats:
        """Return residuals of corners, scales and inset, each divided by its usual error."""
        poses = at[8:-3].reshape(-1, 4)
        a, b, x, y = poses[self.mat].T
        mm = self.mm + at[-3] * self.inward
        table_x, table_y = a * mm[:, 0] - b * mm[:, 1] + x, b * mm[:, 0] + a * mm[:, 1] + y
        depth = at[6] * table_x + at[7] * table_y + 1
        across = (at[0] * table_x + at[1] * table_y + at[2]) / depth
        down = (at[3] * table_x + at[4] * table_y + at[5]) / depth
        square = across * across + down * down
        bend = 1 + square * (at[-2] + square * at[-1])
        far = np.concatenate((across * bend - self.seen[:, 0], down * bend - self.seen[:, 1])) * self.unit
        scales = (np.hypot(poses[:, 0], poses[:, 1]) - 1) / self.loose
        return np.concatenate((far / CORNER_PX, scales, [at[-3] / INSET]))

    def off_on(self, mat: int, at: Floats) -> float:
        """Return one mat's RMS residual, in `CORNER_PX`."""
        own = self.off(at)[: 2 * len(self.mm)].reshape(2, -1)[:, self.mat == mat]
        return float(np.sqrt((own**2).sum() / (own.size - 4)))

    def lens(self, at: Floats) -> Lens:
        return Lens(self.size_px, float(at[-2]), float(at[-1]))

    def flat(self, lens: Lens) -> Floats:
        return (lens.straighten(self.seen * self.unit + self.middle) - self.middle) / self.unit

    def total(self, at: Floats) -> float:
        """Return the squared corner residuals, in `CORNER_PX`²."""
        return float((self.off(at)[: 2 * len(self.mm)] ** 2).sum())

    def spare(self, bends: int) -> int:
        """Return the degrees of freedom."""
        return max(1, 2 * len(self.mm) - len(self.free(bends)) + len(self.loose))

    def left_px(self, at: Floats, bends: int) -> float:
        return float(np.sqrt(self.total(at) / self.spare(bends)) * CORNER_PX)

    def left_apart_px(self, at: Floats) -> float:
        """Return the RMS residual with one plane per mat."""
        mm = self.mm + at[-3] * self.inward
        flat = self.flat(self.lens(at))
        total, spare = 0.0, 0
        for own in (self.mat == number for number in range(len(self.loose))):
            plane, _ = cv2.findHomography(mm[own], flat[own], 0)
            off = cv2.perspectiveTransform(mm[own][None], plane)[0] - flat[own]
            total, spare = total + float((off**2).sum()), spare + off.size - 8
        return float(np.sqrt(total / max(1, spare))) * self.unit

    def matrices(self, at: Floats) -> list[Floats]:
        plane = np.append(at[:8], 1.0).reshape(3, 3)
        to_px = np.array([[self.unit, 0, self.middle[0]], [0, self.unit, self.middle[1]], [0, 0, 1]])
        own = [np.array([[a, -b, x], [b, a, y], [0, 0, 1]]) for a, b, x, y in at[8:-3].reshape(-1, 4)]
        made = [to_px @ plane @ pose @ np.diag([1 / _MM, 1 / _MM, 1.0]) for pose in own]
        return [matrix / matrix[2, 2] for matrix in made]


def _ways_off(task: _Task, at: Floats, bends: int, more: float) -> Floats:
    """Return independent error modes `(modes, parameters)` if corners are off by `more` · `CORNER_PX`."""
    free = task.free(bends)
    slope = _slope(task.off, at, task.off(at), free)
    slope[: 2 * len(task.mm)] /= more
    usual = np.where(free == len(at) - 2, 1 / USUAL_BEND, 1e-6)
    shares, turned = np.linalg.eigh(slope.T @ slope + np.diag(usual**2))
    ways = np.zeros((len(free), len(at)))
    ways[:, free] = (turned / np.sqrt(np.maximum(shares, 1e-2))).T
    return ways


def _worst_mm(task: _Task, at: Floats, ways: Floats, mat: int, points_mm: Floats) -> float:
    """Return the RMS error of a mat's worst visible point."""
    px = task.lens(at).bend(through(task.matrices(at)[mat], points_mm))
    shows = ((px >= 0) & (px < task.size_px)).all(axis=1)
    px, mm = (px[shows], points_mm[shows]) if shows.any() else (px, points_mm)
    tried = (at + 1e-3 * way for way in ways)
    seen = [through(np.linalg.inv(task.matrices(one)[mat]), task.lens(one).straighten(px)) - mm for one in tried]
    return float(np.sqrt(((np.array(seen) / 1e-3) ** 2).sum(axis=(0, 2)).max()))


def similarity(points: Floats, onto: Floats) -> tuple[float, float, float, float]:
    """Return a, b, c, d that best map points `(N, 2)` onto others: x' = a·x - b·y + c, y' = b·x + a·y + d."""
    p, q = (each[:, 0] + 1j * each[:, 1] for each in (points, onto))
    by = complex(np.vdot(p - p.mean(), q - q.mean()) / np.square(np.abs(p - p.mean())).sum())
    shift = complex(q.mean() - by * p.mean())
    return by.real, by.imag, shift.real, shift.imag


def _is_better(task: _Task, bent: Floats, before: Floats, bends: int) -> bool:
    """True if a real lens can have this distortion, and it clearly reduces the residuals."""
    lens = task.lens(bent)
    at = np.sqrt((task.seen**2).sum(axis=1).max())
    if at >= lens.reach * (1 + lens.reach**2 * (lens.k1 + lens.reach**2 * lens.k2)):
        return False
    moved = np.abs(task.flat(lens) - task.seen).max() * task.unit
    was, left = task.total(before), task.total(bent)
    clearly = left <= CLEARLY_BETTER * was and was - left >= SURELY_BETTER * left / task.spare(bends)
    flat = task.left_px(bent, bends) ** 2 * NOT_FLAT <= task.left_apart_px(before) ** 2
    return bool(clearly and flat and moved >= LEAST_BEND_PX)


def _solved(task: _Task, start: Floats, bends: int) -> Floats:
    """Minimize the residuals (Levenberg–Marquardt)."""
    free = task.free(bends)
    at, off, damping = start, task.off(start), 1e-3
    for _ in range(25):
        slope = _slope(task.off, at, off, free)
        square, pull = slope.T @ slope, slope.T @ off
        better = None
        while better is None and damping < 1e6:
            step = np.linalg.solve(square + damping * np.diag(np.diag(square) + 1e-12), pull)
            tried = at.copy()
            tried[free] -= step
            now = task.off(tried)
            better = now if np.isfinite(now).all() and now @ now < off @ off else None
            damping *= 0.2 if better is not None else 8.0
        if better is None:
            return at
        gain = (off @ off - better @ better) / max(off @ off, 1e-12)
        at, off = tried, better
        if gain < 1e-5:
            return at
    return at


def _slope(off_at: Callable[[Floats], Floats], at: Floats, off: Floats, free: np.ndarray) -> Floats:
    """Return the numeric Jacobian `(residuals, free parameters)`."""
    columns = []
    for index in free:
        nudged = at.copy()
        nudged[index] += 1e-6
        columns.append((off_at(nudged) - off) / 1e-6)
    return np.stack(columns, axis=1)

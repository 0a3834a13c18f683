"""The table's plane and the camera's lens, from all markers of all mats at once.

Every mat lies on one plane: one homography carries the table to the straight picture, and each mat has its turn,
shift and (printers differ) a scale near 1 on it. Blur draws a marker's corners inwards; how far is found along with
the rest, or it would pass for a bend. A bend is believed only where it explains what is left clearly better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from companion.vision.boxes import Floats
from companion.vision.mats.homography import Lens, through
from companion.vision.opencv import cv2

CORNER_PX = 0.3  # usual error of a marker's corner, in pixels
LEAST_ERROR = 0.4  # minimum error that corners are believed to have, as a share of the usual one …
ENOUGH_SPARE = 7  # … and minimum number of spare measurements for an error below the usual one to be believed
LEFT_PX = 0.2  # RMS of what a straight lens leaves of all corners, with blur and noise, below which no bend is sought
CLEARLY_BETTER = 0.5  # maximum share of the squared errors that a bend may leave …
SURELY_BETTER = 40.0  # … and minimum ratio of what it explains to what chance would: few markers are soon explained
NOT_FLAT = 0.7  # share of a bend's squared errors: if mats on planes of their own leave less, the table is uneven
LEAST_BEND_PX = 1.0  # minimum distance by which a bend moves some marker
PRINT_SCALE = 0.01  # usual difference between the scales of two printed mats, as a share
INSET = 0.02
USUAL_BEND = 0.05  # usual size of k1 of a lens of which nothing is known
_MM = 100.0  # unit of length in the equations, in millimetres, so that all parameters are of like size


@dataclass(frozen=True, slots=True, eq=False)
class MarkerPoints:
    """The markers of one mat: corners four by four, on the mat and on the picture, `(4n, 2)` each."""

    mm: Floats
    px: Floats

    def __len__(self) -> int:
        return len(self.mm) // 4


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """What all markers together tell."""

    lens: Lens | None
    matrices: Mapping[str, Floats]  # from mats' mm to the straight picture, `(3, 3)`
    spread_mm: Mapping[str, float]  # of each mat's least well known watched point


def survey(
    mats: Mapping[str, MarkerPoints],
    size_px: tuple[int, int],
    lens: Lens | None,
    *,
    seek_lens: bool,
    watched: Mapping[str, Floats] = MappingProxyType({}),
) -> Calibration:
    """Return the plane under the mats, the first of which is best known, and the lens, known or sought again.

    Of the points `watched` on each mat, in millimetres `(N, 2)`, it is told how well they are known.
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
    # How far off corners are on this picture, in usual errors: 1 if there are too few to tell by.
    more = max(LEAST_ERROR if task.spare(bends) >= ENOUGH_SPARE else 1.0, 1.5 * (task.left_px(best, bends) / CORNER_PX))
    # Where the lens is sought its bend is uncertain even if none was found.
    ways = _ways_off(task, best, max(bends, 1) if seek_lens else bends, more)
    unsure = {
        mat: _worst_mm(task, best, ways, at, watched[mat]) * max(1.0, task.off_on(at, best) / more)
        for at, mat in enumerate(mats)
        if mat in watched
    }
    return Calibration(found, dict(zip(mats, task.matrices(best), strict=True)), unsure)


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """All corners in a row, and what is to be found: eight numbers of the plane, four a mat, inset, k1, k2."""

    mm: Floats
    inward: Floats  # from each corner to its marker's middle
    seen: Floats
    mat: np.ndarray  # which mat each corner belongs to
    loose: Floats  # usual difference of each mat's scale: a single marker says too little of it
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
        """Return a first guess: the plane by the first mat's markers, the others laid onto it as they fit."""
        flat = self.flat(Lens(self.size_px, k1, k2))
        first = self.mat == 0
        plane, _ = cv2.findHomography(self.mm[first], flat[first], 0)
        on_table = cv2.perspectiveTransform(flat[None], np.linalg.inv(plane))[0]
        poses = [similarity(self.mm[self.mat == i], on_table[self.mat == i]) for i in range(len(self.loose))]
        return np.concatenate(((plane / plane[2, 2]).ravel()[:8], *poses, (0.0, k1, k2)))

    def free(self, bends: int) -> np.ndarray:
        """Return which parameters are sought: all but the first mat's pose, and only `bends` of the lens."""
        sought = np.ones(8 + 4 * len(self.loose) + 3, bool)
        sought[8:12] = False
        sought[len(sought) - 2 + bends :] = False
        return np.flatnonzero(sought)

    def off(self, at: Floats) -> Floats:
        """Return how far off every corner is, in usual errors, and every pose from what is likely."""
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
        """Return how far off one mat's corners are, in usual errors, as a root mean square."""
        own = self.off(at)[: 2 * len(self.mm)].reshape(2, -1)[:, self.mat == mat]
        return float(np.sqrt((own**2).sum() / (own.size - 4)))

    def lens(self, at: Floats) -> Lens:
        return Lens(self.size_px, float(at[-2]), float(at[-1]))

    def flat(self, lens: Lens) -> Floats:
        """Return all corners as they would be seen without a lens's bend."""
        return (lens.straighten(self.seen * self.unit + self.middle) - self.middle) / self.unit

    def total(self, at: Floats) -> float:
        """Return all corners' squared distances, in usual errors."""
        return float((self.off(at)[: 2 * len(self.mm)] ** 2).sum())

    def spare(self, bends: int) -> int:
        """Return how many more numbers there are than parameters found."""
        return max(1, 2 * len(self.mm) - len(self.free(bends)) + len(self.loose))

    def left_px(self, at: Floats, bends: int) -> float:
        """Return what is left of each number, as a root mean square."""
        return float(np.sqrt(self.total(at) / self.spare(bends)) * CORNER_PX)

    def left_apart_px(self, at: Floats) -> float:
        """Return what would be left were each mat on a plane of its own, by the bend and inset at hand."""
        mm = self.mm + at[-3] * self.inward
        flat = self.flat(self.lens(at))
        total, spare = 0.0, 0
        for own in (self.mat == number for number in range(len(self.loose))):
            plane, _ = cv2.findHomography(mm[own], flat[own], 0)
            off = cv2.perspectiveTransform(mm[own][None], plane)[0] - flat[own]
            total, spare = total + float((off**2).sum()), spare + off.size - 8
        return float(np.sqrt(total / max(1, spare))) * self.unit

    def matrices(self, at: Floats) -> list[Floats]:
        """Return each mat's way from millimetres to the straight picture."""
        plane = np.append(at[:8], 1.0).reshape(3, 3)
        to_px = np.array([[self.unit, 0, self.middle[0]], [0, self.unit, self.middle[1]], [0, 0, 1]])
        own = [np.array([[a, -b, x], [b, a, y], [0, 0, 1]]) for a, b, x, y in at[8:-3].reshape(-1, 4)]
        made = [to_px @ plane @ pose @ np.diag([1 / _MM, 1 / _MM, 1.0]) for pose in own]
        return [matrix / matrix[2, 2] for matrix in made]


def _ways_off(task: _Task, at: Floats, bends: int, more: float) -> Floats:
    """Return independent ways for parameters to be off, `(ways, parameters)`; corners are by `more` usual errors."""
    free = task.free(bends)
    slope = _slope(task.off, at, task.off(at), free)
    slope[: 2 * len(task.mm)] /= more
    usual = np.where(free == len(at) - 2, 1 / USUAL_BEND, 1e-6)
    shares, turned = np.linalg.eigh(slope.T @ slope + np.diag(usual**2))
    ways = np.zeros((len(free), len(at)))
    ways[:, free] = (turned / np.sqrt(np.maximum(shares, 1e-2))).T
    return ways


def _worst_mm(task: _Task, at: Floats, ways: Floats, mat: int, points_mm: Floats) -> float:
    """Return how far off those of a mat's points that the picture shows are, as a root mean square of the worst."""
    px = task.lens(at).bend(through(task.matrices(at)[mat], points_mm))
    shows = ((px >= 0) & (px < task.size_px)).all(axis=1)
    px, mm = (px[shows], points_mm[shows]) if shows.any() else (px, points_mm)
    tried = (at + 1e-3 * way for way in ways)
    seen = [through(np.linalg.inv(task.matrices(one)[mat]), task.lens(one).straighten(px)) - mm for one in tried]
    return float(np.sqrt(((np.array(seen) / 1e-3) ** 2).sum(axis=(0, 2)).max()))


def similarity(points: Floats, onto: Floats) -> tuple[float, float, float, float]:
    """Return a, b, c, d that best carry points `(N, 2)` onto others: x' = a·x - b·y + c, y' = b·x + a·y + d."""
    # As complex numbers: one to multiply by, and one to add.
    p, q = (each[:, 0] + 1j * each[:, 1] for each in (points, onto))
    by = complex(np.vdot(p - p.mean(), q - q.mean()) / np.square(np.abs(p - p.mean())).sum())
    shift = complex(q.mean() - by * p.mean())
    return by.real, by.imag, shift.real, shift.imag


def _is_better(task: _Task, bent: Floats, before: Floats, bends: int) -> bool:
    """True if a bend explains much of what was left, clearly, by a lens that can exist."""
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
    """Find the parameters that leave least, by Levenberg and Marquardt's steps."""
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
    """Return the numeric Jacobian, `(numbers, parameters)`."""
    columns = []
    for index in free:
        nudged = at.copy()
        nudged[index] += 1e-6
        columns.append((off_at(nudged) - off) / 1e-6)
    return np.stack(columns, axis=1)

"""Where one mat lies on the picture, from its millimetres to pixels and back, and what a wide lens does to the picture.

Straight lines bend towards its edge. The model is Brown's radial one, as OpenCV has it: a point at the distance r from
the picture's middle is shown at r·(1 + k1·r² + k2·r⁴). Distances are counted in half diagonals of the picture, so the
focal length need not be known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from companion.tabletop.mat_layout import MatLayout, Rect
from companion.vision.boxes import Floats, Floats32
from companion.vision.view import Point, Quad

FARTHEST = 2.5  # farthest distance from the middle for which the model is asked, in half diagonals
LEAST_SLOPE = 0.12  # minimum slope of the bend: beyond the point where a lens squeezes more, it stays what it was there
Corners = Mapping[int, Floats]  # markers by id: their corners `(4, 2)` px, in the order of `MatLayout.markers`' squares


@dataclass(frozen=True, slots=True)
class Lens:
    """The bend of one camera's pictures, `size_px` wide and high."""

    size_px: tuple[int, int]
    k1: float
    k2: float = 0.0

    def bend(self, points_px: npt.NDArray[np.floating]) -> Floats:
        """Return points `(…, 2)` of the straight picture, where the camera shows them."""
        middle, unit = self._frame()
        apart = (points_px - middle) / unit
        square = np.minimum((apart * apart).sum(axis=-1, keepdims=True), self.reach**2)
        return apart * (unit * (1 + square * (self.k1 + square * self.k2))) + middle

    def straighten(self, points_px: npt.NDArray[np.floating]) -> Floats:
        """Return points `(…, 2)` of the camera's picture, where a lens without bend would show them."""
        middle, unit = self._frame()
        apart = (np.asarray(points_px, np.float64) - middle) / unit
        shown = np.hypot(apart[..., :1], apart[..., 1:])
        return apart * (unit * self._unbent(shown)) + middle

    @property
    def reach(self) -> float:
        """Distance from the middle up to which the model is good, in half diagonals of the straight picture."""
        return _reach(self.k1, self.k2)

    def _unbent(self, shown: Floats) -> Floats:
        """Return by how much more than shown a point is away from the middle; Newton's steps from where it is shown."""
        reach = self.reach
        edge = 1 + reach**2 * (self.k1 + reach**2 * self.k2)
        inside = np.minimum(shown, reach * edge)
        at = np.minimum(inside, reach)
        for _ in range(12):
            square = at * at
            off = at * (1 + square * (self.k1 + square * self.k2)) - inside
            at = np.clip(at - off / (1 + square * (3 * self.k1 + square * 5 * self.k2)), 0.0, reach)
        with np.errstate(invalid="ignore", divide="ignore"):
            more: Floats = np.where(inside < 1e-9, 1.0, np.where(shown > inside, 1 / edge, at / inside))
        return more

    def _frame(self) -> tuple[Floats, float]:
        """Return the picture's middle and half its diagonal."""
        return (np.array(self.size_px) - 1) / 2, float(np.hypot(*self.size_px) / 2)


@lru_cache(maxsize=16)
def _reach(k1: float, k2: float) -> float:
    """Return up to which distance a bend still has the least slope."""
    at = np.linspace(0.0, FARTHEST, 251)
    flat = np.flatnonzero(1 + 3 * k1 * at**2 + 5 * k2 * at**4 < LEAST_SLOPE)
    return float(at[flat[0]]) if len(flat) else FARTHEST


@dataclass(frozen=True, eq=False)
class Fit:
    """Where one mat lies on the picture."""

    layout: MatLayout
    matrix: Floats  # from millimetres on the mat to pixels as a lens without bend shows them, `(3, 3)`
    markers: Corners  # its markers where they were last seen
    lens: Lens | None = None  # the bend of the camera's lens; None if there is none
    is_measured: ClassVar[bool] = True  # True if printed markers tell the millimetres, not what was drawn
    is_scaled: bool = True  # True if its millimetres are not a guess

    @cached_property
    def inverse(self) -> Floats:
        return np.linalg.inv(self.matrix)

    def to_px(self, points_mm: npt.ArrayLike) -> Floats:
        """Return points `(N, 2)` on the mat, in pixels of the picture."""
        straight = through(self.matrix, points_mm)
        return self.lens.bend(straight) if self.lens else straight

    def to_mm(self, points_px: npt.ArrayLike) -> Floats:
        """Return points `(N, 2)` of the picture, in millimetres on the mat."""
        points = np.asarray(points_px, np.float64).reshape(-1, 2)
        return through(self.inverse, self.lens.straighten(points) if self.lens else points)

    def grid_px(self, area: Rect, step_mm: float) -> Floats32:
        """Return an area's cells of `step_mm` on the picture, `(rows, columns, 2) float32`, for `cv2.remap`."""
        x = area.x_mm + step_mm * (np.arange(round(area.width_mm / step_mm)) + 0.5)
        y = area.y_mm + step_mm * (np.arange(round(area.height_mm / step_mm)) + 0.5)
        points = np.stack(np.meshgrid(x, y), axis=-1)
        return np.float32(self.to_px(points).reshape(points.shape))

    def quad_px(self, rect: Rect) -> Floats:
        """Return the corners of a rectangle of the mat on the picture, `(4, 2)`."""
        return self.to_px(corners_mm(rect))

    def zone_at(self, point_px: Point) -> str | None:
        """Return the zone under a point of the picture, as `side-1/battle`."""
        name = self.layout.zone_at(*self.to_mm([point_px])[0])
        return None if name is None else f"{self.layout.id}/{name}"

    def holds(self, point_px: Point) -> bool:
        """True if a point of the picture lies on the sheet."""
        return self.sheet.contains(*self.to_mm([point_px])[0])

    @property
    def sheet(self) -> Rect:
        """The printed sheet, in millimetres."""
        return Rect(0.0, 0.0, *self.layout.size_mm)

    @property
    def outline_px(self) -> Floats:
        """The corners of the printed sheet on the picture, `(4, 2)`."""
        return self.quad_px(self.sheet)

    @property
    def px_per_mm(self) -> float:
        """The scale at the mat's middle."""
        return float(self.scales([self.sheet.centre_mm])[0])

    def scales(self, points_mm: npt.ArrayLike) -> Floats:
        """Return pixels a millimetre at points `(N, 2)` of the mat, each the root of what 1 mm² covers, `(N,)`."""
        here, right, down = (self.to_px(np.add(points_mm, shift)) for shift in ((0, 0), (1, 0), (0, 1)))
        (ax, ay), (bx, by) = (right - here).T, (down - here).T
        return np.sqrt(np.abs(ax * by - ay * bx))


def through(matrix: Floats, points: npt.ArrayLike) -> Floats:
    """Return points `(N, 2)` through a homography `(3, 3)`."""
    flat = np.asarray(points, np.float64).reshape(-1, 2)
    moved = np.column_stack((flat, np.ones(len(flat)))) @ matrix.T
    return moved[:, :2] / moved[:, 2:]


def corners_mm(rect: Rect) -> Floats:
    """Return a rectangle's corners, top left first, then clockwise, `(4, 2)`."""
    left, top, right, bottom = rect.x_mm, rect.y_mm, rect.x_mm + rect.width_mm, rect.y_mm + rect.height_mm
    return np.array([(left, top), (right, top), (right, bottom), (left, bottom)])


def lies_sideways(quad: Quad, fit: Fit | None) -> bool:
    """True if what has these corners on the picture is turned a quarter against its mat, or else the picture."""
    corners = fit.to_mm(quad) if fit else np.array(quad)
    up = corners[0] + corners[1] - corners[2] - corners[3]
    return bool(abs(up[0]) > abs(up[1]))


def as_quad(corners: Floats) -> Quad:
    """Return corners `(4, 2)` as plain numbers."""
    a, b, c, d = ((float(x), float(y)) for x, y in corners)
    return a, b, c, d

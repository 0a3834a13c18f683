"""Map mm on one mat to pixels and back, with lens distortion.

Brown's radial model, as in OpenCV: a point at distance r from the center appears at r·(1 + k1·r² + k2·r⁴). Distances
are in half diagonals.
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
from companion.vision.view import Point, Quad, centre_of

FARTHEST = 2.5  # range of the model, in half diagonals
LEAST_SLOPE = 0.12  # minimum slope of the distortion; beyond, its factor is constant
Corners = Mapping[int, Floats]  # marker corners by id, `(4, 2)` px, ordered as in `MatLayout.markers`


@dataclass(frozen=True, slots=True)
class Lens:
    """Distortion of a camera with pictures of `size_px` (width, height)."""

    size_px: tuple[int, int]
    k1: float
    k2: float = 0.0

    def bend(self, points_px: npt.NDArray[np.floating]) -> Floats:
        """Map points `(…, 2)` px from the undistorted picture to the camera's."""
        middle, unit = self._frame()
        apart = (points_px - middle) / unit
        square = np.minimum((apart * apart).sum(axis=-1, keepdims=True), self.reach**2)
        return apart * (unit * (1 + square * (self.k1 + square * self.k2))) + middle

    def straighten(self, points_px: npt.NDArray[np.floating]) -> Floats:
        """Map points `(…, 2)` px from the camera's picture to the undistorted one."""
        middle, unit = self._frame()
        apart = (np.asarray(points_px, np.float64) - middle) / unit
        shown = np.hypot(apart[..., :1], apart[..., 1:])
        return apart * (unit * self._unbent(shown)) + middle

    @property
    def reach(self) -> float:
        """Range of the model, in undistorted half diagonals."""
        return _reach(self.k1, self.k2)

    def _unbent(self, shown: Floats) -> Floats:
        """Return undistorted / distorted distance (Newton's method)."""
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
        return (np.array(self.size_px) - 1) / 2, float(np.hypot(*self.size_px) / 2)


@lru_cache(maxsize=16)
def _reach(k1: float, k2: float) -> float:
    at = np.linspace(0.0, FARTHEST, 251)
    flat = np.flatnonzero(1 + 3 * k1 * at**2 + 5 * k2 * at**4 < LEAST_SLOPE)
    return float(at[flat[0]]) if len(flat) else FARTHEST


@dataclass(frozen=True, eq=False)
class Fit:
    """Position of one mat on the picture."""

    layout: MatLayout
    matrix: Floats  # mm → undistorted pixels, `(3, 3)`
    markers: Corners
    lens: Lens | None = None
    is_measured: ClassVar[bool] = True  # False for drawn zones
    is_scaled: bool = True  # False if the mm are a guess

    @cached_property
    def inverse(self) -> Floats:
        return np.linalg.inv(self.matrix)

    def to_px(self, points_mm: npt.ArrayLike) -> Floats:
        """Map points `(N, 2)` from mm to pixels."""
        straight = through(self.matrix, points_mm)
        return self.lens.bend(straight) if self.lens else straight

    def to_mm(self, points_px: npt.ArrayLike) -> Floats:
        """Map points `(N, 2)` from pixels to mm."""
        points = np.asarray(points_px, np.float64).reshape(-1, 2)
        return through(self.inverse, self.lens.straighten(points) if self.lens else points)

    def grid_px(self, area: Rect, step_mm: float) -> Floats32:
        """Return an area's cell centers in pixels, `(rows, columns, 2) float32`, for `cv2.remap`."""
        x = area.x_mm + step_mm * (np.arange(round(area.width_mm / step_mm)) + 0.5)
        y = area.y_mm + step_mm * (np.arange(round(area.height_mm / step_mm)) + 0.5)
        points = np.stack(np.meshgrid(x, y), axis=-1)
        return np.float32(self.to_px(points).reshape(points.shape))

    def quad_px(self, rect: Rect) -> Floats:
        """Return a rectangle's corners in pixels, `(4, 2)`."""
        return self.to_px(corners_mm(rect))

    def zone_at(self, point_px: Point) -> str | None:
        """Return the zone at a pixel, such as `side-1/battle`, or None."""
        name = self.layout.zone_at(*self.to_mm([point_px])[0])
        return None if name is None else f"{self.layout.id}/{name}"

    def holds(self, point_px: Point) -> bool:
        """True if the pixel is on the sheet."""
        return self.sheet.contains(*self.to_mm([point_px])[0])

    @property
    def sheet(self) -> Rect:
        return Rect(0.0, 0.0, *self.layout.size_mm)

    @property
    def outline_px(self) -> Floats:
        """The sheet's corners in pixels, `(4, 2)`."""
        return self.quad_px(self.sheet)

    @property
    def px_per_mm(self) -> float:
        """Scale at the mat's center."""
        return float(self.scales([self.sheet.centre_mm])[0])

    def scales(self, points_mm: npt.ArrayLike) -> Floats:
        """Return px/mm at points `(N, 2)` mm, as `(N,)`: √(area of 1 mm²)."""
        here, right, down = (self.to_px(np.add(points_mm, shift)) for shift in ((0, 0), (1, 0), (0, 1)))
        (ax, ay), (bx, by) = (right - here).T, (down - here).T
        return np.sqrt(np.abs(ax * by - ay * bx))


def from_squares(side: float, quads: npt.NDArray[np.floating]) -> Floats:
    """Return the matrices `(n, 3, 3)` that map an upright square at the origin to quads `(n, 4, 2)`.

    `side` is the square's. Corners run clockwise from the top left.
    """
    a, b, c, d = np.moveaxis(np.asarray(quads, np.float64), 1, 0)
    right, left, bend = b - c, d - c, a - b + c - d
    area = side * _cross(right, left)
    g, h = (_cross(bend, left) / area)[:, None], (_cross(right, bend) / area)[:, None]
    upper = np.stack(((b - a) / side + g * b, (d - a) / side + h * d, a), axis=2)
    lower = np.stack((g, h, np.ones_like(g)), axis=2)
    return np.concatenate((upper, lower), axis=1)


def _cross(a: Floats, b: Floats) -> Floats:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def through(matrix: Floats, points: npt.ArrayLike) -> Floats:
    """Map points `(N, 2)` by a homography `(3, 3)`."""
    flat = np.asarray(points, np.float64).reshape(-1, 2)
    moved = np.column_stack((flat, np.ones(len(flat)))) @ matrix.T
    return moved[:, :2] / moved[:, 2:]


def corners_mm(rect: Rect) -> Floats:
    """Return a rectangle's corners `(4, 2)`, clockwise from the top left."""
    left, top, right, bottom = rect.x_mm, rect.y_mm, rect.x_mm + rect.width_mm, rect.y_mm + rect.height_mm
    return np.array([(left, top), (right, top), (right, bottom), (left, bottom)])


def axes_of(fit: Fit, quad: Quad) -> tuple[Floats, Floats]:
    """Return a quad's middle on its mat in mm, and its directions right and down as rows of `(2, 2)`."""
    corners = fit.to_mm(quad)
    right = corners[1] + corners[2] - corners[0] - corners[3]
    right /= np.hypot(*right)
    return fit.to_mm([centre_of(quad)])[0], np.array([right, (-right[1], right[0])])


def lies_sideways(quad: Quad, fit: Fit | None) -> bool:
    """True if a quad is turned by 90° relative to its mat, or without a mat to the picture."""
    corners = fit.to_mm(quad) if fit else np.array(quad)
    up = corners[0] + corners[1] - corners[2] - corners[3]
    return bool(abs(up[0]) > abs(up[1]))


def as_quad(corners: Floats) -> Quad:
    """Convert corners `(4, 2)` to tuples."""
    a, b, c, d = ((float(x), float(y)) for x, y in corners)
    return a, b, c, d

"""Use zones drawn on a picture like printed mats: one virtual mat per side.

Each zone has its own homography; outside, the side's mean rotation and scale apply. Without measured zones the scale
comes from zones drawn around one card, which resemble the printed battle zone.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from companion.tabletop.drawn_zones import OVERLAP_SHARE, Drawing, DrawnZone
from companion.tabletop.mat_layout import MatLayout, Rect, kind_of, side_mat
from companion.vision.boxes import Floats
from companion.vision.mats.homography import Fit, corners_mm, through
from companion.vision.opencv import cv2
from companion.vision.view import Point

ROUND_A_CARD = ("battle", "speed", "draw", "discard")  # drawn around one card
EDGE_MM = 5.0  # margin of the virtual mat
GAP_MM = 4.0  # minimum distance of zones


@dataclass(frozen=True, slots=True, eq=False)
class Pane:
    """A drawn zone: `rect` on the virtual mat, in mm, and `quad` on the picture."""

    name: str
    rect: Rect
    quad: Floats  # in pixels, `(4, 2)`, from the player's top left
    matrix: Floats  # mat mm → pixels, `(3, 3)`


@dataclass(frozen=True, eq=False)
class DrawnFit(Fit):
    """Position of one side's drawn zones; `matrix` applies outside."""

    is_measured: ClassVar[bool] = False
    panes: tuple[Pane, ...] = ()

    def to_px(self, points_mm: npt.ArrayLike) -> Floats:
        points = np.asarray(points_mm, np.float64).reshape(-1, 2)
        rects = [corners_mm(pane.rect) for pane in self.panes]
        inside = np.stack([np.clip(points, corners[0], corners[2]) for corners in rects])
        return _through_nearest(points, inside, [pane.matrix for pane in self.panes], self.matrix[:2, :2])

    def to_mm(self, points_px: npt.ArrayLike) -> Floats:
        points = np.asarray(points_px, np.float64).reshape(-1, 2)
        inside = np.stack([_into(points, pane.quad) for pane in self.panes])
        matrices = [np.linalg.inv(pane.matrix) for pane in self.panes]
        return _through_nearest(points, inside, matrices, np.linalg.inv(self.matrix[:2, :2]))

    def zone_at(self, point_px: Point) -> str | None:
        at = np.array([point_px], np.float64)
        under = (pane.name for pane in self.panes if np.square(_into(at, pane.quad) - at).sum() < 1e-9)
        return next((f"{self.layout.id}/{name}" for name in under), None)

    def holds(self, point_px: Point) -> bool:
        return self.zone_at(point_px) is not None or Fit.holds(self, point_px)

    @property
    def px_per_mm(self) -> float:
        return float(np.hypot(*self.matrix[:2, 0]))


@lru_cache(maxsize=8)
def fits_of(drawing: Drawing, size_px: tuple[int, int]) -> tuple[DrawnFit, ...]:
    """Return the virtual mats for a picture; none if its proportions differ."""
    if not drawing.fits(*size_px):
        return ()
    larger = np.array(size_px) / drawing.picture
    return tuple(_stand_in(mat, drawing.of(mat), larger) for mat in drawing.mats)


def without_mats(drawn: Sequence[DrawnFit], mats: Sequence[Fit]) -> tuple[DrawnFit, ...]:
    """Return the virtual mats that no printed mat replaces or overlaps."""
    found = {fit.layout.id for fit in mats}
    sheets = [np.float32(fit.outline_px) for fit in mats]

    def is_free(pane: Pane) -> bool:
        shared = (cv2.intersectConvexConvex(sheet, np.float32(pane.quad))[0] for sheet in sheets)
        return all(area <= OVERLAP_SHARE * _area(pane.quad) for area in shared)

    return tuple(fit for fit in drawn if fit.layout.id not in found and all(map(is_free, fit.panes)))


def _stand_in(mat: str, zones: Sequence[DrawnZone], larger: Floats) -> DrawnFit:
    quads = {kind_of(zone.name): np.array(zone.seen_by_player) * larger for zone in zones}
    sizes = {kind_of(zone.name): zone.size_mm for zone in zones if zone.size_mm}
    scale = _scale(quads, sizes)
    turn = scale * _mean_turn(list(quads.values()))
    rects = _laid_out(
        {name: (quad.mean(axis=0) @ np.linalg.inv(turn).T) for name, quad in quads.items()},
        {name: sizes.get(name) or _size_mm(quad, scale) for name, quad in quads.items()},
    )
    width = max(rect.x_mm + rect.width_mm for rect in rects.values()) + EDGE_MM
    height = max(rect.y_mm + rect.height_mm for rect in rects.values()) + EDGE_MM
    layout = MatLayout(mat, (width, height), (), MappingProxyType(rects))
    middles = np.array([rects[name].centre_mm for name in quads])
    shift = np.mean([quad.mean(axis=0) for quad in quads.values()], axis=0) - turn @ middles.mean(axis=0)
    panes = tuple(
        Pane(name, rect, quad, cv2.getPerspectiveTransform(np.float32(corners_mm(rect)), np.float32(quad)))
        for (name, quad), rect in zip(quads.items(), rects.values(), strict=True)
    )
    matrix = np.block([[turn, shift[:, None]], [np.zeros((1, 2)), np.ones((1, 1))]])
    return DrawnFit(layout, matrix, {}, is_scaled=bool(sizes), panes=panes)


def _scale(quads: Mapping[str, Floats], sizes: Mapping[str, tuple[float, float]]) -> float:
    """Return px/mm, from measured zones, else from those around one card."""
    battle = side_mat(1).zones["battle"]
    known = sizes or {name: (battle.width_mm, battle.height_mm) for name in quads if name in ROUND_A_CARD}
    return float(np.median([(_area(quads[name]) / (w * h)) ** 0.5 for name, (w, h) in known.items()]))


def _mean_turn(quads: Sequence[Floats]) -> Floats:
    """Return the mean rotation `(2, 2)`, or the first if they cancel out."""
    rights = [quad[1] - quad[0] + quad[2] - quad[3] for quad in quads]
    mean = np.mean([right / np.hypot(*right) for right in rights], axis=0)
    along = mean if np.hypot(*mean) > 0.1 else rights[0]
    cos, sin = along / np.hypot(*along)
    return np.array([[cos, -sin], [sin, cos]])


def _size_mm(quad: Floats, scale: float) -> tuple[float, float]:
    a, b, c, d = quad
    width, height = np.hypot(*(b - a)) + np.hypot(*(c - d)), np.hypot(*(d - a)) + np.hypot(*(c - b))
    return float(width) / 2 / scale, float(height) / 2 / scale


def _laid_out(middles: Mapping[str, Floats], sizes: Mapping[str, tuple[float, float]]) -> dict[str, Rect]:
    """Place the zones as on the picture, spread until none overlap."""
    apart = 1.0
    while _any_overlap(middles, sizes, apart):
        apart += 0.05
    left = min(apart * at[0] - sizes[name][0] / 2 for name, at in middles.items()) - EDGE_MM
    top = min(apart * at[1] - sizes[name][1] / 2 for name, at in middles.items()) - EDGE_MM
    return {
        name: Rect(float(apart * at[0] - w / 2 - left), float(apart * at[1] - h / 2 - top), w, h)
        for name, at in middles.items()
        for w, h in [sizes[name]]
    }


def _any_overlap(middles: Mapping[str, Floats], sizes: Mapping[str, tuple[float, float]], apart: float) -> bool:
    return any(
        (np.abs(middles[one] - middles[other]) * apart < np.add(sizes[one], sizes[other]) / 2 + GAP_MM).all()
        for one, other in itertools.combinations(middles, 2)
    )


def _area(quad: Floats) -> float:
    return float(cv2.contourArea(np.float32(quad)))


def _through_nearest(points: Floats, inside: Floats, matrices: Sequence[Floats], around: Floats) -> Floats:
    """Map points `(N, 2)` by the nearest pane's matrix; beyond its edge by the linear map `around`.

    `inside` are the points clamped to each pane, `(panes, N, 2)`.
    """
    nearest = np.square(inside - points).sum(axis=2).argmin(axis=0)
    result = np.empty_like(points)
    for index, matrix in enumerate(matrices):
        own = nearest == index
        result[own] = through(matrix, inside[index][own]) + (points[own] - inside[index][own]) @ around.T
    return result


def _into(points: Floats, quad: Floats) -> Floats:
    """Clamp points `(N, 2)` to a quadrilateral."""
    along = np.roll(quad, -1, axis=0) - quad
    apart = points[:, None] - quad
    inside = (along[:, 0] * apart[..., 1] - along[:, 1] * apart[..., 0] >= -1e-9).all(axis=1)
    share = np.clip((apart * along).sum(axis=2) / (along * along).sum(axis=1), 0, 1)
    edges = quad + share[..., None] * along
    nearest = np.square(edges - points[:, None]).sum(axis=2).argmin(axis=1)
    return np.where(inside[:, None], points, edges[np.arange(len(points)), nearest])

"""What a wide lens does to a picture: straight lines bend towards its edge.

The model is Brown's radial one, as OpenCV has it: a point at the distance r from the picture's middle is shown at
r·(1 + k1·r² + k2·r⁴). Distances are counted in half diagonals of the picture, so the focal length need not be known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Floats

FARTHEST = 2.5
"""Farthest distance from the middle for which the model is asked, in half diagonals."""

LEAST_SLOPE = 0.12
"""Minimum slope of the bend: beyond the point where a lens squeezes more, it stays what it was there."""


@dataclass(frozen=True, slots=True)
class Lens:
    """The bend of one camera's pictures, `size_px` wide and high."""

    size_px: tuple[int, int]
    k1: float
    k2: float = 0.0

    def bend(self, points_px: npt.NDArray[np.floating]) -> Floats:
        """Return points `(…, 2)` of the straight picture, where the camera shows them."""
        middle, unit = self._middle(), self._unit()
        apart = (points_px - middle) / unit
        square = np.minimum((apart * apart).sum(axis=-1, keepdims=True), self.reach**2)
        bent: Floats = apart * (unit * (1 + square * (self.k1 + square * self.k2))) + middle
        return bent

    def straighten(self, points_px: npt.NDArray[np.floating]) -> Floats:
        """Return points `(…, 2)` of the camera's picture, where a lens without bend would show them."""
        middle, unit = self._middle(), self._unit()
        apart = (np.asarray(points_px, np.float64) - middle) / unit
        shown = np.hypot(apart[..., :1], apart[..., 1:])
        straight: Floats = apart * (unit * self._unbent(shown)) + middle
        return straight

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

    def _middle(self) -> Floats:
        return np.array([(self.size_px[0] - 1) / 2, (self.size_px[1] - 1) / 2])

    def _unit(self) -> float:
        return float(np.hypot(*self.size_px) / 2)


@lru_cache(maxsize=16)
def _reach(k1: float, k2: float) -> float:
    """Return up to which distance a bend still has the least slope."""
    at = np.linspace(0.0, FARTHEST, 251)
    flat = np.flatnonzero(1 + 3 * k1 * at**2 + 5 * k2 * at**4 < LEAST_SLOPE)
    return float(at[flat[0]]) if len(flat) else FARTHEST

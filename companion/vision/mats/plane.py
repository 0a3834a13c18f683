"""Rectify parts of the picture to a view from straight above, at constant scale.

The picture's rotation is kept, or boxes would grow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Box, Floats, Image, shrunk, whole
from companion.vision.mats.homography import Fit
from companion.vision.mats.localization import Mats
from companion.vision.opencv import cv2

NEAR_ENOUGH = (0.55, 2.5)  # rectified scales, relative to the mat's
_GRID_PX = 24  # step within which a lens bends little
_STRIP_PX = 256  # rows mapped at once, to save memory


@dataclass(frozen=True, slots=True, eq=False)
class Flat:
    """A rectified part of the picture."""

    image: Image  # `(h, w) uint8`, gray outside the picture
    fit: Fit
    to_mm: Floats  # pixels → mm on `fit`'s mat, `(3, 3)`

    def to_picture(self, points: npt.ArrayLike) -> Floats:
        """Map points `(n, 2)` to pixels of the whole picture."""
        flat = np.asarray(points, np.float64).reshape(-1, 2)
        return self.fit.to_px(flat @ self.to_mm[:2, :2].T + self.to_mm[:2, 2])

    def from_picture(self, points: npt.ArrayLike) -> Floats:
        """Map points `(n, 2)` from the whole picture."""
        back = np.linalg.inv(self.to_mm)
        return self.fit.to_mm(points) @ back[:2, :2].T + back[:2, 2]


def plane_of(gray: Image, box: Box, mats: Mats) -> Fit | None:
    """Return the mat to rectify a box by: the nearest; for a whole picture, that with most markers."""
    if box == whole(gray):
        return max(mats.printed, key=lambda fit: len(fit.markers), default=None)
    middle = np.array([(box.left + box.right) / 2, (box.top + box.bottom) / 2])
    return min(mats.printed, key=lambda fit: float(np.hypot(*(fit.outline_px.mean(axis=0) - middle))), default=None)


def flattened(gray: Image, fit: Fit, box: Box, px_per_mm: float) -> Flat | None:
    """Rectify a box at `px_per_mm`; None if the plane is too oblique."""
    seen = _seen_well(fit, box)
    if len(seen) < 3:
        return None
    turn = _turn(fit, seen.mean(axis=0))
    turned = fit.to_mm(seen) @ turn.T
    low, high = turned.min(axis=0), turned.max(axis=0)
    size = np.ceil((high - low) * px_per_mm).astype(int) + 1
    to_mm = np.eye(3)
    to_mm[:2, :2], to_mm[:2, 2] = turn.T / px_per_mm, turn.T @ low
    return Flat(_warped(gray, fit, to_mm, (int(size[0]), int(size[1]))), fit, to_mm)


def _seen_well(fit: Fit, box: Box) -> Floats:
    """Return the box's grid points `(n, 2)` with a readable scale."""
    xs, ys = np.linspace(box.left, box.right - 1, 24), np.linspace(box.top, box.bottom - 1, 24)
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    share = fit.scales(fit.to_mm(grid)) / fit.px_per_mm
    return grid[(share >= NEAR_ENOUGH[0]) & (share <= NEAR_ENOUGH[1])]


def _turn(fit: Fit, point_px: Floats) -> Floats:
    """Return the rotation `(2, 2)` from mat mm to the picture's axes."""
    here, right = fit.to_mm([point_px, np.add(point_px, (1.0, 0.0))])
    angle = math.atan2(right[1] - here[1], right[0] - here[0])
    return np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])


def _warped(gray: Image, fit: Fit, to_mm: Floats, size: tuple[int, int]) -> Image:
    """Sample a rectified picture of `size` (width, height); shrink finer sources first."""
    fewer = 2 ** max(0, int(math.log2(max(1.0, fit.px_per_mm * math.hypot(*to_mm[:2, 0])))))
    small = shrunk(gray, 1 / fewer)
    shrink = np.array([[1 / fewer, 0, 0.5 / fewer - 0.5], [0, 1 / fewer, 0.5 / fewer - 0.5], [0, 0, 1]])
    how = {"borderMode": cv2.BORDER_CONSTANT, "borderValue": (128, 128, 128)}
    if fit.lens is None:
        matrix = shrink @ fit.matrix @ to_mm
        return cv2.warpPerspective(small, matrix, size, flags=cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP, **how)
    flat = np.empty((size[1], size[0], *gray.shape[2:]), np.uint8)
    bent = _bent_grid(fit, to_mm, size) / fewer + (0.5 / fewer - 0.5)
    for top in range(0, size[1], _STRIP_PX):
        strip = flat[top : top + _STRIP_PX]
        x, y = (_widened(part, size, top, len(strip)) for part in cv2.split(bent))
        cv2.remap(small, x, y, cv2.INTER_CUBIC, strip, **how)
    return flat


def _bent_grid(fit: Fit, to_mm: Floats, size: tuple[int, int]) -> npt.NDArray[np.float32]:
    """Return a coarse grid of rectified pixels on the camera's picture, `(h, w, 2)`."""
    columns, rows = (max(2, math.ceil(side / _GRID_PX)) for side in size)
    xs, ys = ((np.arange(n) + 0.5) * side / n - 0.5 for n, side in ((columns, size[0]), (rows, size[1])))
    points = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    return fit.to_px(points @ to_mm[:2, :2].T + to_mm[:2, 2]).reshape(rows, columns, 2).astype(np.float32)


def _widened(coarse: npt.NDArray[np.float32], size: tuple[int, int], top: int, height: int) -> npt.NDArray[np.float32]:
    """Enlarge rows of a coarse grid to full size."""
    padded = np.pad(coarse, 1, mode="reflect", reflect_type="odd")
    cell_w, cell_h = size[0] / coarse.shape[1], size[1] / coarse.shape[0]
    matrix = np.array([[1 / cell_w, 0, 0.5 / cell_w + 0.5], [0, 1 / cell_h, (top + 0.5) / cell_h + 0.5]])
    return cv2.warpAffine(
        padded,
        matrix,
        (size[0], height),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )

"""Pixel rectangles and array helpers: scaling, Lab colors, gradients, blurred patterns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from companion.vision.opencv import cv2

Image = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Floats32 = npt.NDArray[np.float32]
Pixels = npt.NDArray[np.float32]  # Lab colors `(h, w, 3)`, or one value per pixel `(h, w)`
Size = tuple[float, float]  # width, height
Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]  # indices along an array


class Box(NamedTuple):
    """A pixel rectangle; `right` and `bottom` are exclusive."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def area_px(self) -> int:
        return max(0, self.right - self.left) * max(0, self.bottom - self.top)

    def of(self, image: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return this part of a picture, without copying."""
        return image[self.top : self.bottom, self.left : self.right]

    def padded(self, by_px: int) -> Box:
        return Box(self.left - by_px, self.top - by_px, self.right + by_px, self.bottom + by_px)

    def within(self, width_px: int, height_px: int) -> Box:
        """Return the box clipped to a picture of that size; may be empty."""
        left, top = min(max(self.left, 0), width_px), min(max(self.top, 0), height_px)
        return Box(left, top, max(left, min(self.right, width_px)), max(top, min(self.bottom, height_px)))

    def touches(self, other: Box) -> bool:
        """True if the boxes overlap or share an edge."""
        across = self.left <= other.right and other.left <= self.right
        return across and self.top <= other.bottom and other.top <= self.bottom

    def holds(self, points: Iterable[tuple[float, float]]) -> bool:
        return all(self.left <= x <= self.right and self.top <= y <= self.bottom for x, y in points)


def whole(image: Image) -> Box:
    """Return a picture's box."""
    return Box(0, 0, image.shape[1], image.shape[0])


def around(points: npt.ArrayLike) -> Box:
    """Return the smallest box around points `(N, 2)`."""
    flat = np.asarray(points, np.float64).reshape(-1, 2)
    low, high = np.floor(flat.min(axis=0)).astype(int), np.ceil(flat.max(axis=0)).astype(int) + 1
    return Box(int(low[0]), int(low[1]), int(high[0]), int(high[1]))


def cut_out(gray: Image, quad: Floats, box: Box) -> tuple[Image, Mask]:
    """Return the box's part of a picture `(H, W) uint8`, and its mask of the quad `(4, 2)`."""
    part = np.ascontiguousarray(box.of(gray))
    mask = np.zeros(part.shape, np.uint8)
    if mask.size:
        cv2.fillConvexPoly(mask, np.int32(np.round(quad - (box.left, box.top))), 1)
    return part, mask > 0


def lengths(vectors: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the lengths of vectors `(…, n)`, ten times as fast as `np.linalg.norm` for small n."""
    squares = vectors * vectors
    total = squares[..., 0]
    for place in range(1, squares.shape[-1]):
        total = total + squares[..., place]
    return np.sqrt(total)


def merged(boxes: Sequence[Box]) -> tuple[Box, ...]:
    """Return boxes with touching ones joined."""
    apart: list[Box] = []
    for box in boxes:
        joined, rest = box, list(apart)
        while near := [other for other in rest if joined.touches(other)]:
            rest = [other for other in rest if other not in near]
            lefts, tops, rights, bottoms = zip(joined, *near, strict=True)
            joined = Box(min(lefts), min(tops), max(rights), max(bottoms))
        apart = [*rest, joined]
    return tuple(apart)


def boxes_within(image: Image, where: Sequence[Box] | None) -> tuple[Box, ...]:
    """Return boxes clipped to a picture and merged; None means the whole picture."""
    if where is None:
        return (whole(image),)
    height, width = image.shape[:2]
    return merged([part for box in where if (part := box.within(width, height)).area_px])


def first_of_each(keys: Floats, most: int) -> Places:
    """Return sorted indices of the first `most` occurrences of each distinct column of `keys`, `(parts, n)`."""
    order = np.lexsort(keys)
    grouped, at = keys[:, order], np.arange(len(order))
    is_new = np.ones(len(order), bool)
    is_new[1:] = (grouped[:, 1:] != grouped[:, :-1]).any(axis=0)
    starts = np.maximum.accumulate(np.where(is_new, at, 0))
    return np.sort(order[at - starts < most])


def shrunk(image: npt.NDArray[Any], share: float) -> npt.NDArray[Any]:
    """Return a picture `(H, W[, 3])` scaled by `share`, at most 1, to at least 1 × 1 pixel."""
    if share >= 1:
        return image
    height, width = (max(1, round(side * share)) for side in image.shape[:2])
    if min(image.shape[:2]) * share >= 1:
        # Callers divide positions by the exact share.
        return cv2.resize(image, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
    return cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)


def lab(image: Image) -> Pixels:
    """Convert `(H, W, 3) uint8 BGR` to Lab `(H, W, 3) float32`, lightness 0 to 100."""
    return cv2.cvtColor(image / np.float32(255), cv2.COLOR_BGR2LAB)


def slopes(image: npt.NDArray[Any]) -> list[Pixels]:
    """Return the horizontal and vertical gradients in levels per pixel."""
    return [cv2.Scharr(image, cv2.CV_32F, *axis, scale=1 / 32) for axis in ((1, 0), (0, 1))]


def blurring(cells: int, blur_cells: float, drawn: int, per_cell: int) -> Floats32:
    """Return the matrix `m`, `(cells · per_cell, cells)`, that blurs and samples a row of printed cells.

    A pattern `(cells, cells)` looks like `m @ pattern @ m.T`. `blur_cells` is σ, `drawn` the pixels drawn per cell.
    """
    fine = np.kron(np.eye(cells, dtype=np.float32), np.ones((drawn, 1), np.float32))
    blurred = cv2.GaussianBlur(fine, (1, 0), sigmaX=1, sigmaY=drawn * blur_cells)
    return blurred.reshape(cells * per_cell, drawn // per_cell, cells).mean(axis=1)

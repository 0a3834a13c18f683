"""Scale and perspective of a picture without mats, from cards of a known deck.

Keypoints of the picture are matched with those of the deck's faces (SIFT, Lowe 2004). Each match votes for a place, a
size and a turn of a card; where several agree there is one, and its keypoints give its perspective.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from companion.tabletop.sticker_codes import MODULES
from companion.vision.boxes import Floats, Image, Pixels, Size, shrunk
from companion.vision.mats.homography import Fit, as_quad
from companion.vision.opencv import cv2
from companion.vision.stickers.code_plane import level_of
from companion.vision.view import Quad

MOST_POINTS = 6000
MOST_FACE_POINTS = 300
LARGEST_PX = 1800  # maximum longer side of a picture searched for keypoints; larger ones are reduced
STRIP_PX, SEAM_PX = 480, 96
"""Rows of a picture searched for keypoints at once, and how far beyond: their surroundings are no larger. OpenCV keeps
eleven pictures of twice the size, 430 MB for all rows of the largest."""

CANDIDATES = 3  # matches kept of each keypoint: faces share drawings, so it may belong to several
FEWEST = 8  # minimum number of keypoints that agree on a card; half of them make a cell worth a look
CLEAR_SHARES = (0.4, 0.6, 0.8)
"""Minimum number of a card's keypoints as a share of the clearest card's, raised until the plane fits: chance agrees at
times."""

NEAR_PX = 2.5
LEAST_SLANT = 0.6  # minimum ratio of the axes of a card seen from the side, against one seen from above
AGREES = 0.35  # maximum distance between votes that agree: of middles in card widths, of sizes in octaves
TURN_DEG = 20.0  # maximum difference between votes for its turn that agree


@dataclass(frozen=True, eq=False)
class Keypoints:
    """The keypoints of a deck's faces."""

    at_mm: Floats  # from the middle of the card, `(n, 2)`
    size_mm: Floats
    angle_deg: Floats
    descriptors: Pixels  # `(n, 128)`


def points_of(pictures: Sequence[Image], width_mm: float) -> Keypoints:
    """Return the keypoints of pictures `(h, w) uint8`, each filled by one card of that width."""
    keys, rows = [np.empty((0, 4))], [np.empty((0, 128), np.float32)]
    for gray in pictures:
        points, found = _points_on(gray, MOST_FACE_POINTS)
        height, width = gray.shape
        keys.append((points - (width / 2, height / 2, 0, 0)) * (*[width_mm / width] * 3, 1))
        rows.append(found)
    x, y, sizes, angles = np.concatenate(keys).T
    return Keypoints(np.column_stack((x, y)), sizes, angles, np.concatenate(rows))


def _points_on(gray: Image, most: int) -> tuple[Floats, Pixels]:
    """Return the keypoints of a picture, `(n, 4)`: place, size and angle; and their descriptors, `(n, 128)`."""
    keys, found = cv2.SIFT.create(most).detectAndCompute(gray, None)
    points = np.array([(*key.pt, key.size, key.angle) for key in keys]).reshape(-1, 4)
    return points, np.empty((0, 128), np.float32) if found is None else found


def _points_by_strips(gray: Image) -> tuple[Floats, Pixels]:
    """Return the same of a larger picture, as many keypoints from each strip as it is high."""
    height = len(gray)
    keys, rows = [np.empty((0, 4))], [np.empty((0, 128), np.float32)]
    for top in range(0, height, STRIP_PX):
        end = min(top + STRIP_PX, height)
        first = max(0, top - SEAM_PX)
        points, found = _points_on(gray[first : end + SEAM_PX], MOST_POINTS * (end - top) // height)
        points[:, 1] += first
        is_here = (points[:, 1] >= top) & (points[:, 1] < end)
        keys.append(points[is_here])
        rows.append(found[is_here])
    return np.concatenate(keys), np.concatenate(rows)


def level_by_faces(image: Image, points: Keypoints, size_mm: Size) -> Fit | None:
    """Return the plane in which cards of a deck lie on a picture, its millimetres true; None if none is recognised."""
    share = min(1.0, LARGEST_PX / max(image.shape[:2]))
    small = shrunk(image, share)
    found = [*_squares(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), points, size_mm)]
    most = max((count for count, _ in found), default=0)
    for clear in CLEAR_SHARES:
        squares = [as_quad((np.array(square) + 0.5) / share - 0.5) for count, square in found if count >= clear * most]
        fit = level_of(squares)
        if fit is not None:
            return fit
    return None


def _squares(gray: Image, points: Keypoints, size_mm: Size) -> Iterator[tuple[int, Quad]]:
    """Yield for each card recognised the number of its keypoints, and a square on it, a module a millimetre."""
    keys, found = _points_by_strips(gray)
    if not len(found) or not len(points.descriptors):
        return
    matches = cv2.BFMatcher(cv2.NORM_L2).knnMatch(found, points.descriptors, k=min(CANDIDATES, len(points.descriptors)))
    pairs = np.array([(m.queryIdx, m.trainIdx) for several in matches for m in several])
    here, there = keys[pairs[:, 0]], pairs[:, 1]
    scale = here[:, 2] / points.size_mm[there]
    turn = np.radians(here[:, 3] - points.angle_deg[there])
    cos, sin = scale * np.cos(turn), scale * np.sin(turn)
    x, y = points.at_mm[there].T
    middles = here[:, :2] - np.column_stack((cos * x - sin * y, sin * x + cos * y))
    for group in _agreeing(middles, scale, turn, size_mm[0]):
        found = _square(here[group, :2], points.at_mm[there[group]])
        if found is not None:
            yield found


def _agreeing(middles: Floats, scale: Floats, turn: Floats, width_mm: float) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the indices of the votes that agree on a card, the clearest card first; no vote counts twice."""
    octave = np.log2(np.maximum(scale, 1e-6))
    level = np.rint(octave / AGREES)
    places = np.rint(middles / (AGREES * width_mm * 2 ** (AGREES * level))[:, None])
    cells = defaultdict(list)
    for number, cell in enumerate(np.column_stack((level, places, np.rint(np.degrees(turn) / TURN_DEG)))):
        cells[tuple(cell)].append(number)
    free = np.ones(len(middles), bool)
    for first in sorted((group for group in cells.values() if len(group) >= FEWEST // 2), key=len, reverse=True):
        group = [number for number in first if free[number]]
        if len(group) < FEWEST // 2:
            continue
        spot, size, way = middles[group].mean(axis=0), np.median(octave[group]), np.median(turn[group])
        near = (
            free
            & (np.hypot(*(middles - spot).T) < AGREES * width_mm * 2**size)
            & (np.abs(octave - size) < AGREES)
            & (np.abs((turn - way + np.pi) % (2 * np.pi) - np.pi) < np.radians(TURN_DEG))
        )
        if np.count_nonzero(near) >= FEWEST:
            free &= ~near
            yield np.flatnonzero(near)


def _square(px: Floats, mm: Floats) -> tuple[int, Quad] | None:
    """Return how many keypoints agree on a card's perspective, and a square on it; None for too few."""
    affine, inside = cv2.estimateAffine2D(mm, px, ransacReprojThreshold=NEAR_PX)
    if affine is None:
        return None
    # A point of the picture counts once, whichever faces it is like.
    count = len(np.unique(px[inside[:, 0] > 0], axis=0))
    long, short = np.linalg.svd(affine[:, :2], compute_uv=False)
    upright = np.linalg.det(affine[:, :2]) > 0 and short > LEAST_SLANT * long
    if not upright or count < FEWEST:
        return None
    half = MODULES / 2
    square = np.array([(-half, -half), (half, -half), (half, half), (-half, half)])
    return count, as_quad(square @ affine[:, :2].T + affine[:, 2])

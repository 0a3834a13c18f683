"""Cards of a deck on a picture without mats: how large they are, and how the table is seen.

Points that stand out on the picture are matched with those of the deck's faces (SIFT, Lowe 2004). Each match tells a
place, a size and a turn for a card; where several agree there is one, and its points tell how it is seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from companion.tabletop.sticker_codes import MODULES
from companion.vision.boxes import Floats, Image, shrunk
from companion.vision.mats.homography import Fit, as_quad
from companion.vision.opencv import cv2
from companion.vision.stickers.code_plane import level_of
from companion.vision.view import Quad

MOST_POINTS = 6000
MOST_FACE_POINTS = 300
LARGEST_PX = 1800
"""The longer side of a picture on which points are looked for: a telephone's is made smaller."""

CANDIDATES = 3
"""Faces share drawings, so a point may belong to several."""

FEWEST = 8
"""So many points have to agree on a card."""

CLEAR_SHARES = (0.4, 0.6, 0.8)
"""Cards of which fewer points are recognised, against the clearest one, are left out, first few, then more of them:
chance agrees at times."""

NEAR_PX = 2.5
LEAST_SLANT = 0.6
"""A card seen from the side is at least so many times as high as wide, against one seen from above."""

CELL = 0.35
"""Votes for a card's middle within this share of its width agree."""

OCTAVE = 0.35
"""Votes for its size within this many octaves agree."""

TURN_DEG = 20.0


@dataclass(frozen=True, eq=False)
class Points:
    """What stands out on the faces of a deck."""

    at_mm: Floats
    """From the middle of the card, `(n, 2)`."""

    size_mm: Floats
    angle_deg: Floats
    descriptors: npt.NDArray[np.float32]
    """`(n, 128)`."""


def points_of(pictures: Sequence[Image], width_mm: float) -> Points:
    """The points of pictures `(h, w) uint8`, each filled by one card that is so wide."""
    at, sizes, angles, rows = [], [], [], []
    for gray in pictures:
        keys, found = cv2.SIFT.create(MOST_FACE_POINTS).detectAndCompute(gray, None)
        if found is None:
            continue
        height, width = gray.shape
        mm = width_mm / width
        at += [((key.pt[0] - width / 2) * mm, (key.pt[1] - height / 2) * mm) for key in keys]
        sizes += [key.size * mm for key in keys]
        angles += [key.angle for key in keys]
        rows.append(found)
    stacked = np.concatenate(rows) if rows else np.empty((0, 128), np.float32)
    return Points(np.array(at).reshape(-1, 2), np.array(sizes), np.array(angles), stacked)


def level_by_faces(image: Image, points: Points, size_mm: tuple[float, float]) -> Fit | None:
    """The plane in which cards of a deck lie on a picture, its millimetres true; None where none is recognised."""
    share = min(1.0, LARGEST_PX / max(image.shape[:2]))
    small = shrunk(image, share)
    found = [*_squares(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), points, size_mm)]
    most = max((count for count, _ in found), default=0)
    for clear in CLEAR_SHARES:
        squares = [as_quad((np.array(square) + 0.5) / share - 0.5) for count, square in found if count >= clear * most]
        fit = level_of(squares) if squares else None
        if fit is not None:
            return fit
    return None


def square_on(matrix: Floats, middle: Floats) -> Quad:
    """How a square of as many millimetres as a code has modules looks, `matrix` `(2, 2)` being pixels a millimetre."""
    half = MODULES / 2
    return as_quad(np.array([(-half, -half), (half, -half), (half, half), (-half, half)]) @ matrix.T + middle)


def _squares(gray: Image, points: Points, size_mm: tuple[float, float]) -> Iterator[tuple[int, Quad]]:
    """A square on each card that is recognised, and how many points say so."""
    keys, found = cv2.SIFT.create(MOST_POINTS).detectAndCompute(gray, None)
    if found is None or not len(points.descriptors):
        return
    matches = cv2.BFMatcher(cv2.NORM_L2).knnMatch(found, points.descriptors, k=min(CANDIDATES, len(points.descriptors)))
    pairs = np.array([(m.queryIdx, m.trainIdx) for several in matches for m in several])
    here = np.array([(*key.pt, key.size, key.angle) for key in keys])[pairs[:, 0]]
    there = pairs[:, 1]
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
    """The votes that agree on a card, each card's together, the clearest first; no vote counts twice."""
    octave = np.log2(np.maximum(scale, 1e-6))
    cells = defaultdict(list)
    for number, (spot, o, t) in enumerate(zip(middles, octave, turn, strict=True)):
        cell = CELL * width_mm * 2 ** (OCTAVE * round(o / OCTAVE))
        cells[round(o / OCTAVE), round(spot[0] / cell), round(spot[1] / cell), round(np.degrees(t) / TURN_DEG)].append(
            number
        )
    free = np.ones(len(middles), bool)
    for first in sorted((group for group in cells.values() if len(group) >= FEWEST // 2), key=len, reverse=True):
        group = [number for number in first if free[number]]
        if len(group) < FEWEST // 2:
            continue
        spot, size, way = middles[group].mean(axis=0), np.median(octave[group]), np.median(turn[group])
        near = (
            free
            & (np.hypot(*(middles - spot).T) < CELL * width_mm * 2**size)
            & (np.abs(octave - size) < OCTAVE)
            & (np.abs((turn - way + np.pi) % (2 * np.pi) - np.pi) < np.radians(TURN_DEG))
        )
        if np.count_nonzero(near) >= FEWEST:
            free &= ~near
            yield np.flatnonzero(near)


def _square(px: Floats, mm: Floats) -> tuple[int, Quad] | None:
    """How many points agree on how a card is seen, and how a square on it looks."""
    affine, inside = cv2.estimateAffine2D(mm, px, ransacReprojThreshold=NEAR_PX)
    if affine is None:
        return None
    # A point of the picture counts once, whichever faces it is like.
    count = len(np.unique(px[inside[:, 0] > 0], axis=0))
    long, short = np.linalg.svd(affine[:, :2], compute_uv=False)
    upright = np.linalg.det(affine[:, :2]) > 0 and short > LEAST_SLANT * long
    return (count, square_on(affine[:, :2], affine[:, 2])) if upright and count >= FEWEST else None

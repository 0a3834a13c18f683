"""Where cards of a known deck may lie on a table seen from straight above.

Every face in every turn is correlated with a small picture of the table. That needs no edges of cards, which a pile of
white cards or a white cloth hides; parts covered by cards known to lie above are masked out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from companion.vision.boxes import Pixels
from companion.vision.faces.face_templates import COARSE_PX_PER_MM, Templates
from companion.vision.faces.rotations import TILE_PX, Turned, maps_of, spectra
from companion.vision.opencv import cv2

LEAST_SCORE = 0.4
"""Correlation on the small picture below which no card is looked for more closely."""

LEAST_SHOWN = 0.14
"""Minimum visible share of a card searched for."""

APART_MM = 14.0
"""Minimum distance of two cards' middles: nearer by, the upper hides too much of the lower."""

MOST_POSES = 60
NEARLY_DEG = 12.0
"""Maximum angle between a card and those above it, up to quarter turns."""


@dataclass(frozen=True, slots=True)
class Pose:
    """Where a card of the deck may lie: its middle in pixels of the coarse picture, and its turn clockwise."""

    x_px: float
    y_px: float
    turn_deg: float
    score: float
    """Its likeness to some face there."""


def poses(
    coarse: Pixels, templates: Templates, shown: Pixels | None = None, turns_deg: Sequence[float] | None = None
) -> list[Pose]:
    """Return where a card may lie on a picture `(h, w, 3) float32` Lab, `COARSE_PX_PER_MM`, the best first.

    `shown` `(h, w) float32` is 1 where the table is visible, 0 where a card found before lies. `turns_deg`
    limits the turns to those near one of these, up to quarter turns.
    """
    scores, turns = _maps(coarse, templates, shown, turns_deg)
    reach = 2 * round(APART_MM * COARSE_PX_PER_MM / 2) + 1
    peaks = (scores >= cv2.dilate(scores, np.ones((reach, reach), np.uint8))) & (scores >= LEAST_SCORE)
    rows, columns = np.nonzero(peaks)
    found = [
        Pose(float(x), float(y), float(turns[y, x]), float(scores[y, x])) for y, x in zip(rows, columns, strict=True)
    ]
    return sorted(found, key=lambda pose: -pose.score)[:MOST_POSES]


def _maps(
    coarse: Pixels, templates: Templates, shown: Pixels | None, turns_deg: Sequence[float] | None
) -> tuple[Pixels, Pixels]:
    """Return for each place the best correlation with any template in any turn, and that turn, `(h, w)` each."""
    scores, turns = np.full(coarse.shape[:2], -1, np.float32), np.zeros(coarse.shape[:2], np.float32)
    every = templates.turned
    near = [
        turned
        for turned in every
        if turns_deg is None or any(abs((turned.turn_deg - o + 45) % 90 - 45) <= NEARLY_DEG for o in turns_deg)
    ]
    overlap = max((side for turned in near for side in turned.size_px), default=1) - 1
    for here in _tiles(coarse.shape[:2], overlap):
        tile = _Tile(coarse[here], None if shown is None else shown[here])
        for turned in near:
            found = tile.likeness(turned)
            # It begins where the middle of a card may be that the tile holds.
            left, top = (side // 2 for side in turned.size_px)
            place = (slice(top, top + found.shape[0]), slice(left, left + found.shape[1]))
            better = found > scores[here][place]
            scores[here][place][better] = found[better]
            turns[here][place][better] = turned.turn_deg
    return scores, turns


def _tiles(size: tuple[int, int], overlap: int) -> Iterator[tuple[slice, slice]]:
    """Yield the tiles of a picture of `size`, (height, width); what fits into their overlap is whole in one of them."""
    step = TILE_PX - overlap
    for top in range(0, max(1, size[0] - overlap), step):
        for left in range(0, max(1, size[1] - overlap), step):
            yield slice(top, top + TILE_PX), slice(left, left + TILE_PX)


class _Tile:
    """A part of a coarse picture, and what of it is visible."""

    def __init__(self, coarse: Pixels, shown: Pixels | None) -> None:
        self._size = coarse.shape[:2]
        # Templates are zero on average, so the picture may be too, which makes spectra more exact.
        picture = coarse - coarse.mean(axis=(0, 1))
        weights = np.ones(self._size, np.float32) if shown is None else shown
        self._colours = spectra((picture * weights[..., None]).transpose(2, 0, 1))
        self._squares = spectra((picture**2).sum(axis=2) * weights)
        self._shown = None if shown is None else spectra(shown)

    def likeness(self, turned: Turned) -> Pixels:
        """Return the best correlation with any picture in one turn, for each place of a card that the tile holds."""
        width, height = turned.size_px
        high, wide = max(0, self._size[0] - height + 1), max(0, self._size[1] - width + 1)
        if not high or not wide:
            return np.empty((high, wide), np.float32)
        if self._shown is None:
            return self._likeness(turned, high, wide)
        area = maps_of(self._shown * turned.inside, high, wide)
        is_worth_it = area >= LEAST_SHOWN * turned.area_px
        if not is_worth_it.any():
            return np.full((high, wide), -1, np.float32)
        return np.where(is_worth_it, self._likeness_where_shown(turned, np.maximum(area, 1e-3)), -1)

    def _likeness(self, turned: Turned, high: int, wide: int) -> Pixels:
        """Return the same where nothing is covered, without the even slope of the light."""
        _, energy = self._varies(turned, np.full((high, wide), turned.area_px, np.float32))
        slants = maps_of(self._colours[:, None] * turned.slopes, high, wide)
        rest = np.sqrt(np.maximum(energy**2 - (slants**2).sum(axis=(0, 1)), 1.0))
        products = maps_of((self._colours * turned.pictures).sum(axis=1), high, wide)
        products -= np.einsum("nck,ckhw->nhw", turned.leanings, slants)
        best: Pixels = (products / turned.rests[:, None, None]).max(axis=0) / rest
        return best

    def _likeness_where_shown(self, turned: Turned, area: Pixels) -> Pixels:
        """Return the same with what is covered masked out of both picture and templates."""
        sums, energy = self._varies(turned, area)
        products = maps_of((self._colours * turned.pictures).sum(axis=1), *area.shape)
        own = maps_of(self._shown * turned.squares, *area.shape)
        shifts = maps_of(self._shown * turned.pictures, *area.shape)
        products -= np.einsum("nchw,chw->nhw", shifts, sums) / area
        own -= (shifts**2).sum(axis=1) / area
        best: Pixels = (products / np.sqrt(np.maximum(own, 1.0))).max(axis=0) / energy
        return best

    def _varies(self, turned: Turned, area: Pixels) -> tuple[Pixels, Pixels]:
        """Return the sums of the picture's colours under a card, `(3, h, w)`, and their variation there, `(h, w)`."""
        sums = maps_of(self._colours * turned.inside, *area.shape)
        squares = maps_of(self._squares * turned.inside, *area.shape)
        return sums, np.sqrt(np.maximum(squares - (sums**2).sum(axis=0) / area, 1.0))

"""Where cards of a known deck may lie on a table seen from straight above, and what they look most like there.

Every face in every turn is correlated with a small picture of the table. That needs no edge of a card, which a pile of
white cards or a white cloth hides; what is covered by cards known to lie above is left out of the comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby

import numpy as np
import numpy.typing as npt

from companion.vision.opencv import cv2
from companion.vision.templates import COARSE_PX_PER_MM, Colours, Templates, Turned

LEAST_SCORE = 0.4
"""Correlation on the small picture below which no card is looked for more closely."""

LEAST_SHOWN = 0.14
"""So much of a card has to show to be looked for."""

APART_MM = 14.0
"""Two cards' middles are no nearer than this, or the upper hides too much of the lower."""

MOST_POSES = 60
NEARLY_DEG = 12.0
"""Cards beneath others lie turned as those are, give or take so much."""

Map = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Pose:
    """Where a card of the deck may lie: its middle in pixels of the coarse picture, and its turn clockwise."""

    x_px: float
    y_px: float
    turn_deg: float
    score: float
    """How like some face it is there."""


def poses(
    coarse: Colours, templates: Templates, shown: Map | None = None, turns_deg: Sequence[float] | None = None
) -> list[Pose]:
    """The places on a picture `(h, w, 3) float32` Lab, `COARSE_PX_PER_MM`, where a card may lie, the best first.

    `shown` `(h, w) float32` is 1 where the table is in sight, 0 where a card that has been told lies. `turns_deg`
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
    coarse: Colours, templates: Templates, shown: Map | None, turns_deg: Sequence[float] | None
) -> tuple[Map, Map]:
    """For each place the best correlation with any template in any turn, and that turn, `(h, w)` each."""
    scores, turns = np.full(coarse.shape[:2], -1, np.float32), np.zeros(coarse.shape[:2], np.float32)
    scene = _Scene(coarse, shown)
    for turn, group in groupby(templates.turned, key=lambda turned: turned.turn_deg):
        same = tuple(group)
        place = scene.places(same[0])
        if place is None or (turns_deg is not None and not _is_near(turn, turns_deg)):
            continue
        found = scene.likeness(same)
        better = found > scores[place]
        scores[place][better] = found[better]
        turns[place][better] = turn
    return scores, turns


def _is_near(turn: float, turns_deg: Sequence[float]) -> bool:
    return any(abs((turn - other + 45) % 90 - 45) <= NEARLY_DEG for other in turns_deg)


class _Scene:
    """A coarse picture and what of it is in sight."""

    def __init__(self, coarse: Colours, shown: Map | None) -> None:
        self._shown = shown
        self._picture = coarse if shown is None else coarse * shown[..., None]
        self._channels = cv2.split(self._picture)
        self._squares = (self._picture**2).sum(axis=2)

    def places(self, turned: Turned) -> tuple[slice, slice] | None:
        """Where the middle of a turned card may be, so that the picture holds all of it."""
        (height, width), (high, wide) = self._squares.shape, turned.inside.shape
        if high > height or wide > width:
            return None
        return slice(high // 2, high // 2 + height - high + 1), slice(wide // 2, wide // 2 + width - wide + 1)

    def likeness(self, same: Sequence[Turned]) -> Map:
        """The best correlation with any of several templates that are turned alike, wherever their middle may be."""
        inside = same[0].inside
        sums = [_correlated(channel, inside) for channel in self._channels]
        area = inside.sum() if self._shown is None else np.maximum(_correlated(self._shown, inside), 1e-3)
        energy = np.maximum(_correlated(self._squares, inside) - sum(s * s for s in sums) / area, 1e-3)
        if self._shown is None:
            rows = (_correlated(self._picture, t.picture) / np.float32(np.linalg.norm(t.picture)) for t in same)
            return reduce(np.maximum, rows) / np.sqrt(energy)
        best = reduce(np.maximum, (self._where_shown(turned, sums, area) for turned in same)) / np.sqrt(energy)
        return np.where(area >= LEAST_SHOWN * inside.sum(), best, -1)

    def _where_shown(self, turned: Turned, sums: Sequence[Map], area: Map) -> Map:
        """The same before it is divided by how much the picture varies, with what is covered left out."""
        product = _correlated(self._picture, turned.picture)
        own = _correlated(self._shown, (turned.picture**2).sum(axis=2))
        for total, channel in zip(sums, cv2.split(turned.picture), strict=True):
            shift = _correlated(self._shown, channel)
            product -= shift * total / area
            own -= shift * shift / area
        return product / np.sqrt(np.maximum(own, 1e-3))


def _correlated(picture: Map, template: Map) -> Map:
    return cv2.matchTemplate(picture, template, cv2.TM_CCORR)

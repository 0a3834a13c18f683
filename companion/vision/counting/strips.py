"""Find the strips of stacked cards in a column, as unknown cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from companion.rules.cards import Card, Family
from companion.tabletop.card_ids import any_copy, face_of
from companion.vision.boxes import Floats, Pixels, Places
from companion.vision.counting.tally import LIKELY
from companion.vision.mats.printed_ground import PX_PER_MM
from companion.vision.opencv import cv2
from companion.vision.view import FACE, Quad, Sighting

STRIP_MM = 10.0  # minimum width of a strip
ALIKE = 0.6  # minimum correlation with a card's edge: 0.65 to 0.98 at edges, at most 0.57 elsewhere
PARTS = 4  # parts in which an edge is checked
SHADOW_PX, SHADOW, SHADOW_LEAD = 5, 0.35, 6.0
"""Width of an edge's shadow; minimum darkening in Lab, and relative to other rows. In pale print: 0.4 to 1.7 at edges,
at most 0.3 elsewhere."""

MOST_TILT, TILTS = 0.14, 15  # maximum slope of an edge; slopes tried
OTHERS = 0.1  # confidence in each unseen safety
Rivals = tuple[tuple[str, float], ...]


class Sorting(NamedTuple):
    """How reliably a column contains one distance, on a mat the printed one."""

    times: float  # likelihood ratio of that distance to another
    sure: float  # confidence in it without evidence
    beneath: float = LIKELY  # confidence that cards under a card are equal

    @classmethod
    def of(cls, *, is_told: bool, is_sorted: bool) -> Sorting:
        return USUAL if not is_told else SORTED if is_sorted else UNSORTED

    def likelier(self, one: Sighting, face: Card | None) -> Sighting:
        """Return an unknown card with its column's distance `face` made likelier."""
        weights = {card: sure * (self.times if face_of(card) is face else 1) for card, sure in one.rivals}
        share = sum(sure for _, sure in one.rivals) / max(sum(weights.values()), 1e-6)
        rivals = sorted(weights.items(), key=lambda rival: -rival[1])
        return replace(one, rivals=tuple((card, round(share * weight, 3)) for card, weight in rivals))


SORTED, USUAL, UNSORTED = Sorting(32.0, LIKELY), Sorting(8.0, 0.3), Sorting(1.0, 0.1, 0.1)
"""All read cards are in their columns, or all but one of several; no card was read; several are elsewhere."""


def unread(quad: Quad, rivals: Rivals, zone: str | None = None) -> Sighting:
    """Return an unknown card with these corners and possible faces."""
    x, y = np.mean(quad, axis=0)
    return Sighting(
        face=Card.UNKNOWN,
        card=None,
        centre_px=(float(x), float(y)),
        corners_px=quad,
        zone=zone,
        sideways=False,
        confidence=0.0,
        by=FACE,
        rivals=rivals,
    )


def safeties_left(seen: Sequence[Sighting]) -> Rivals:
    """Return the unseen safeties as rivals."""
    left = {card for card in Card if card.family is Family.SAFETY} - {one.face for one in seen}
    return tuple((any_copy(card), OTHERS) for card in sorted(left))


def ends_of_strips(picture: Pixels, edge: Pixels | None, *, is_upper: bool, has_print: bool = False) -> list[int]:
    """Return the rows that bound strips in a pile `(h, w, 3)` Lab, including first and last.

    `edge` is the upper or lower edge that a column's cards share, without its ends. With `has_print`, shadows are no
    evidence: strips may show a card's print.
    """
    rows, apart = [0, len(picture)], round(STRIP_MM * PX_PER_MM)
    edges = np.zeros(len(picture)) if has_print else _edges(picture)
    if edge is not None:
        edges = np.maximum(edges, _alike(picture, edge, is_upper=is_upper))
    plainest: Places = np.argsort(-edges)[: np.count_nonzero(edges >= 1)]
    for row in plainest.tolist():
        if all(abs(row - other) >= apart for other in rows):
            rows.append(row)
    return sorted(rows)


def _alike(picture: Pixels, edge: Pixels, *, is_upper: bool) -> Floats:
    """Return each row's correlation with an edge, divided by `ALIKE`, `(h,)`."""
    likeness = np.zeros(len(picture))
    ahead, behind = (0, len(edge)) if is_upper else (len(edge), 0)
    for level in _tilted(cv2.copyMakeBorder(picture, ahead, behind, 0, 0, cv2.BORDER_REPLICATE)):
        if 0 < edge.shape[1] <= level.shape[1]:
            found = cv2.matchTemplate(level, edge, cv2.TM_CCOEFF_NORMED).max(axis=1)
            likeness = np.maximum(likeness, found[: len(likeness)])
    return likeness / ALIKE


def _tilted(picture: Pixels) -> Iterator[Pixels]:
    """Yield the picture sheared about its middle to level edges of each slope."""
    height, width = picture.shape[:2]
    for tilt in np.linspace(-MOST_TILT, MOST_TILT, TILTS):
        level = np.float32([[1, 0, 0], [tilt, 1, -tilt * width / 2]])
        how = {"flags": cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, "borderMode": cv2.BORDER_REPLICATE}
        yield cv2.warpAffine(picture, level, (width, height), **how)


def _edges(picture: Pixels) -> Floats:
    """Return how clearly level or tilted edges follow each row, `(h,)`, as a multiple of the minimum."""
    edges = np.zeros(len(picture))
    for level in _tilted(np.ascontiguousarray(picture[..., 0])):
        parts = np.stack([part.mean(axis=1) for part in np.array_split(level, PARTS, axis=1)])
        edges = np.maximum(edges, _shadows(parts))
    return edges


def _shadows(parts: Pixels) -> Floats:
    """Return how much darker each row is than its neighbors, `(h,)`, as a multiple of an edge's minimum.

    All but one of the parts `(n, h)` must show it. Equal pale cards show only the upper edge's shadow.
    """
    reach = SHADOW_PX // 2 + 1
    darker = np.zeros(parts.shape[1])
    if len(darker) > 2 * reach:
        beside = (parts[:, : -2 * reach] + parts[:, 2 * reach :]) / 2
        darker[reach:-reach] = np.sort(beside - parts[:, reach:-reach], axis=0)[1]
    return darker / max(SHADOW, SHADOW_LEAD * float(np.median(np.abs(darker))))

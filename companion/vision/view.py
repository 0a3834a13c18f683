"""The data types of vision, without pictures: stickers, sightings and views."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from companion.common.text import Said, say
from companion.rules.card_names import card_term
from companion.rules.cards import Card
from companion.tabletop.card_ids import copy_of, face_of

STICKER, FACE = "sticker", "face"  # how a card was recognized
Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]

CELL_MM = 16.0  # of `Hidden`: a card is 20 cells
_CARD_STEPS = (-24.0, -8.0, 8.0, 24.0)  # a card's middle, however it is turned

AGREED = 0.99  # confidence if two readers agree; the maximum
ALONE = 0.9  # confidence of one reader


@dataclass(frozen=True, slots=True)
class MatSeen:
    """A mat detected on a frame."""

    id: str
    corners_px: Quad  # clockwise from the printed sheet's top left
    px_per_mm: float  # scale at its center


@dataclass(frozen=True, slots=True)
class Sighting:
    """A card detected on one frame."""

    face: Card  # `Card.UNKNOWN` if not recognized
    card: str | None  # physical card (`roll-03`), if a sticker names it
    centre_px: Point
    corners_px: Quad | None
    zone: str | None  # `side-1/battle`, `table/discard`, …; None outside all zones
    sideways: bool  # turned by 90° (±45°) against the mat
    confidence: float
    by: str  # `STICKER` or `FACE`
    rivals: tuple[tuple[str, float], ...] = ()
    """Up to three possible cards with confidences, likeliest first; `25-00` is any copy."""

    is_double: bool = False  # an equal card beside it is now hidden below, or shifted
    stay: int | None = None  # number of a card recognized by face, constant while it stays, once its zone was visible
    glued: str | None = None  # the sticker's physical card, if the face is clearly another
    twice: str | None = None  # the sticker's physical card, if a second sticker names it too
    card_px: Quad | None = None  # the card's corners, if `corners_px` are its sticker's
    card_sd_mm: float = 0.0  # standard deviation of their place

    @property
    def middle_px(self) -> Point:
        """The card's middle, as far as it is known."""
        return self.centre_px if self.card_px is None else centre_of(self.card_px)


def _cells(side_mm: float) -> int:
    """Return the cells along a side; the last may be up to one and a half times as long."""
    return max(1, round(side_mm / CELL_MM))


@dataclass(frozen=True, slots=True)
class Hidden:
    """The places of one mat that cannot be judged, in cells of `CELL_MM` from the sheet's top left corner."""

    size_mm: tuple[float, float]
    rows: tuple[int, ...]  # bit n is the cell n to the right

    @classmethod
    def of(cls, mask: npt.NDArray[np.bool_], size_mm: tuple[float, float]) -> Hidden:
        """Return the cells that are at least half in a mask `(h, w)` of the sheet."""
        across, down = (
            np.rint(np.arange(_cells(side)) * CELL_MM * length / side).astype(int)
            for side, length in zip(size_mm, mask.shape[::-1], strict=True)
        )
        sums = np.add.reduceat(np.add.reduceat(mask.astype(int), down, axis=0), across, axis=1)
        height, width = mask.shape
        cells = 2 * sums >= np.diff(down, append=height)[:, None] * np.diff(across, append=width)[None, :]
        return cls(size_mm, tuple(sum(1 << int(n) for n in np.flatnonzero(row)) for row in cells))

    def share(self, x_mm: float, y_mm: float) -> float:
        """Return how much of a card around a point on the sheet is hidden, 0 to 1."""
        around = ((x_mm + dx, y_mm + dy) for dx in _CARD_STEPS for dy in _CARD_STEPS)
        width, height = self.size_mm
        there = [
            (min(int(x // CELL_MM), _cells(width) - 1), min(int(y // CELL_MM), _cells(height) - 1))
            for x, y in around
            if 0 <= x <= width and 0 <= y <= height
        ]
        return sum(self.rows[y] >> x & 1 for x, y in there) / max(1, len(there))


class Blindness(StrEnum):
    """Why a zone cannot be read although nothing moves."""

    OBJECT = "object"  # an unread object lies there; it may be a card
    LIGHT = "light"  # its picture is white
    OUTSIDE = "outside"  # it is partly outside the picture


@dataclass(frozen=True, slots=True)
class View:
    """The content of one frame."""

    t_s: float
    mats: tuple[MatSeen, ...]
    sightings: tuple[Sighting, ...]
    unknown_zones: frozenset[str] = field(default_factory=frozenset)  # covered or moving, not *empty*
    draw_pile_empty: bool | None = None  # the marker under the pile is visible; None if unknown
    trouble: str | None = None  # sentence for the page if the frame cannot be trusted
    things: frozenset[str] = field(default_factory=frozenset)  # zones with an unread, card-sized object
    note: str | None = None  # sentence for the page if one of several cameras cannot be trusted
    hidden: Mapping[str, Hidden] = field(default_factory=dict)  # by mat; without, an unknown zone is hidden altogether
    blind: Mapping[str, Blindness] = field(default_factory=dict)  # zones too bright or outside the picture

    @property
    def about_same_stickers(self) -> str | None:
        """Sentence for the page about two cards with one sticker."""
        same = min((sighting.twice for sighting in self.sightings if sighting.twice), default=None)
        if same is None:
            return None
        printed = Said("%(card)s %(copy)s", card=card_term(face_of(same)), copy=copy_of(same))
        return say("Two cards have the sticker %(sticker)s: replace one of the stickers.", sticker=printed)


@dataclass(frozen=True, slots=True)
class StickerSeen:
    """A sticker on a picture."""

    card: str | None  # physical card; None if unreadable, foreign, or found twice
    corners_px: Quad  # code without quiet zone, clockwise from printed top left
    confidence: float  # 0 if the card is None
    rivals: tuple[tuple[str, float], ...] = ()  # if unreadable, as in `Sighting`
    twice: str | None = None  # physical card, if a second sticker names it too

    @property
    def centre_px(self) -> Point:
        return centre_of(self.corners_px)

    @property
    def side_px(self) -> float:
        """Mean side of the code."""
        return side_of(self.corners_px)


def centre_of(quad: Quad) -> Point:
    """Return a quad's crossing of diagonals: a square's center in perspective."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = quad
    ux, uy, vx, vy = cx - ax, cy - ay, dx - bx, dy - by
    cross = ux * vy - uy * vx
    if abs(cross) < 1e-9:
        return (ax + bx + cx + dx) / 4, (ay + by + cy + dy) / 4
    t = ((bx - ax) * vy - (by - ay) * vx) / cross
    return ax + t * ux, ay + t * uy


def side_of(quad: Quad) -> float:
    """Return a quad's mean side length."""
    return sum(math.dist(quad[i - 1], quad[i]) for i in range(4)) / 4

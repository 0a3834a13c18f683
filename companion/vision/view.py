"""The values of vision: a sticker as every reader tells it, and what was seen on one frame. Plain data, no pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from companion.common.text import say
from companion.rules.cards import Card

STICKER, FACE = "sticker", "face"  # ways in which a card is recognised
Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]

AGREED = 0.99  # confidence of a card that two readers agree on, and the highest that is given
ALONE = 0.9  # confidence of a card that one reader alone gives, less surely


@dataclass(frozen=True, slots=True)
class MatSeen:
    """A mat found on the frame."""

    id: str
    corners_px: Quad  # top left, top right, bottom right, bottom left of the printed sheet
    px_per_mm: float  # the scale at the mat's middle


@dataclass(frozen=True, slots=True)
class Sighting:
    """One card seen on one frame."""

    face: Card  # `Card.UNKNOWN` where it cannot be recognised
    card: str | None  # the physical card where a sticker tells it (`roll-03`), else None
    centre_px: Point
    corners_px: Quad | None
    zone: str | None  # `side-1/battle`, `table/discard`, … or None off the zones
    sideways: bool  # turned a quarter against the mat (within 45°)
    confidence: float
    by: str  # `sticker` or `face`
    rivals: tuple[tuple[str, float], ...] = ()
    """Where the card cannot be recognised for sure, up to three physical cards with their confidences, likeliest first;
    where only faces are known each is `25-00`: any copy of it."""

    is_double: bool = False  # one with the same face lay a little beside, and may be under it now or have been pushed
    stay: int | None = None  # number of a card recognised by its face, the same while it lies where it was laid
    glued: str | None = None  # the physical card that its sticker names, where its face is plainly another
    twice: str | None = None  # the physical card that its sticker names, where another sticker names it as well


@dataclass(frozen=True, slots=True)
class View:
    """What one frame shows. An occluded or unsettled zone is *unknown*, never *empty*."""

    t_s: float
    mats: tuple[MatSeen, ...]
    sightings: tuple[Sighting, ...]
    unknown_zones: frozenset[str] = field(default_factory=frozenset)  # moved over or covered: nothing is said of them
    draw_pile_empty: bool | None = None  # the marker under it shows, is covered, or None: its mat is not seen
    trouble: str | None = None  # a sentence for the page where the frame is not to be trusted
    things: frozenset[str] = field(default_factory=frozenset)  # with something card-sized that is no card that is read
    note: str | None = None  # a sentence for the page about one of several cameras; all else is to be trusted

    @property
    def about_same_stickers(self) -> str | None:
        """A sentence for the page if two cards have the same sticker; both are unknown then."""
        same = min((sighting.twice for sighting in self.sightings if sighting.twice), default=None)
        if same is None:
            return None
        return say("Two cards have the sticker %(sticker)s: put another sticker on one of them.", sticker=same)


@dataclass(frozen=True, slots=True)
class StickerSeen:
    """A sticker of ours on a picture."""

    card: str | None  # the physical card, or None: it cannot be recognised, is not in this deck, or is here twice
    corners_px: Quad  # the code without its quiet zone: top left, top right, bottom right, bottom left as it is printed
    confidence: float  # 0 where the card is None
    rivals: tuple[tuple[str, float], ...] = ()  # of one not recognised: up to three, with confidences, likeliest first
    twice: str | None = None  # the physical card that it names, where another sticker names it as well

    @property
    def centre_px(self) -> Point:
        return centre_of(self.corners_px)

    @property
    def side_px(self) -> float:
        """The mean length of the code's four sides."""
        return side_of(self.corners_px)


def centre_of(quad: Quad) -> Point:
    """Return the middle of four corners: where the diagonals of a square seen at an angle cross."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = quad
    ux, uy, vx, vy = cx - ax, cy - ay, dx - bx, dy - by
    cross = ux * vy - uy * vx
    if abs(cross) < 1e-9:
        return (ax + bx + cx + dx) / 4, (ay + by + cy + dy) / 4
    t = ((bx - ax) * vy - (by - ay) * vx) / cross
    return ax + t * ux, ay + t * uy


def side_of(quad: Quad) -> float:
    """Return the mean length of the four sides of a quad."""
    return sum(math.dist(quad[i - 1], quad[i]) for i in range(4)) / 4

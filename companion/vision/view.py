"""The data types of vision: stickers, sightings and the view of one frame. Plain data without pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from companion.common.text import say
from companion.rules.cards import Card

STICKER, FACE = "sticker", "face"  # how a card was recognized
Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]

AGREED = 0.99  # confidence if two readers agree; also the maximum
ALONE = 0.9  # confidence of one reader, unconfirmed


@dataclass(frozen=True, slots=True)
class MatSeen:
    """A mat detected on the frame."""

    id: str
    corners_px: Quad  # of the printed sheet: top left, top right, bottom right, bottom left
    px_per_mm: float  # scale at the mat's center


@dataclass(frozen=True, slots=True)
class Sighting:
    """A card detected on one frame."""

    face: Card  # `Card.UNKNOWN` if not recognized
    card: str | None  # physical card (`roll-03`), if a sticker names it
    centre_px: Point
    corners_px: Quad | None
    zone: str | None  # `side-1/battle`, `table/discard`, …; None outside all zones
    sideways: bool  # turned by 90° (within 45°) against the mat
    confidence: float
    by: str  # `STICKER` or `FACE`
    rivals: tuple[tuple[str, float], ...] = ()
    """Up to three possible cards with confidences, likeliest first; `25-00` is any copy of a face."""

    is_double: bool = False  # an equal card was beside it: now hidden below, or shifted
    stay: int | None = None  # number of a card recognized by face, constant while it stays
    glued: str | None = None  # physical card of the sticker, if the face is clearly another
    twice: str | None = None  # physical card of the sticker, if a second sticker names it too


@dataclass(frozen=True, slots=True)
class View:
    """The content of one frame. A covered or moving zone is *unknown*, never *empty*."""

    t_s: float
    mats: tuple[MatSeen, ...]
    sightings: tuple[Sighting, ...]
    unknown_zones: frozenset[str] = field(default_factory=frozenset)  # covered or moving
    draw_pile_empty: bool | None = None  # the marker under the pile is visible; None without its mat
    trouble: str | None = None  # sentence for the page: do not trust the frame
    things: frozenset[str] = field(default_factory=frozenset)  # zones with an unread, card-sized object
    note: str | None = None  # sentence for the page about one of several cameras; the others can be trusted

    @property
    def about_same_stickers(self) -> str | None:
        """Sentence for the page about two cards with one sticker; both are unknown."""
        same = min((sighting.twice for sighting in self.sightings if sighting.twice), default=None)
        if same is None:
            return None
        return say("Two cards have the sticker %(sticker)s: replace one of the stickers.", sticker=same)


@dataclass(frozen=True, slots=True)
class StickerSeen:
    """One of our stickers on a picture."""

    card: str | None  # physical card; None if unreadable, foreign, or found twice
    corners_px: Quad  # code without quiet zone: top left, top right, bottom right, bottom left as printed
    confidence: float  # 0 if the card is None
    rivals: tuple[tuple[str, float], ...] = ()  # if unreadable: up to three cards with confidences, likeliest first
    twice: str | None = None  # physical card, if a second sticker names it too

    @property
    def centre_px(self) -> Point:
        return centre_of(self.corners_px)

    @property
    def side_px(self) -> float:
        """Mean length of the code's four sides."""
        return side_of(self.corners_px)


def centre_of(quad: Quad) -> Point:
    """Return the center of a square seen in perspective: where its diagonals cross."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = quad
    ux, uy, vx, vy = cx - ax, cy - ay, dx - bx, dy - by
    cross = ux * vy - uy * vx
    if abs(cross) < 1e-9:
        return (ax + bx + cx + dx) / 4, (ay + by + cy + dy) / 4
    t = ((bx - ax) * vy - (by - ay) * vx) / cross
    return ax + t * ux, ay + t * uy


def side_of(quad: Quad) -> float:
    """Return the mean length of a quad's four sides."""
    return sum(math.dist(quad[i - 1], quad[i]) for i in range(4)) / 4

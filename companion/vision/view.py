"""The values that leave vision: what was seen on one frame. Plain data, no pictures."""

from __future__ import annotations

from dataclasses import dataclass, field

from companion.rules.cards import Card

STICKER, FACE = "sticker", "face"  # ways in which a card is recognised
Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]


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
    """Where the card cannot be recognised for sure, up to three physical cards with their confidences, likeliest first.

    Where only faces are known each is `25-00`: any copy of it.
    """

    is_double: bool = False
    """One with the same face lay there a little beside, and may be under it now or have been pushed."""

    stay: int | None = None
    """Number of a card recognised by its face, the same for as long as it lies where it was laid."""

    glued: str | None = None  # the physical card that its sticker names, where its face is plainly another


@dataclass(frozen=True, slots=True)
class View:
    """What one frame shows. An occluded or unsettled zone is *unknown*, never *empty*."""

    t_s: float
    mats: tuple[MatSeen, ...]
    sightings: tuple[Sighting, ...]
    unknown_zones: frozenset[str] = field(default_factory=frozenset)
    """Zones that something moves over, covers, or whose mat is not found: say nothing about them."""

    draw_pile_empty: bool | None = None
    """True when the marker under the draw pile shows, False when it is covered, None when its mat is not seen."""

    trouble: str | None = None
    """A sentence for the page when the frame is not to be trusted (light or camera moved, frozen camera)."""

    read_zones: frozenset[str] | None = None
    """The zones that were read on this very frame (None: all); elsewhere it repeats what was read before."""

    things: frozenset[str] = field(default_factory=frozenset)
    """Zones in which something as large as a card has come to lie that is no card that is read: one without a sticker,
    or a thing."""

"""What is remembered of each physical card, and which cards may hide which."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from companion.rules.cards import Card
from companion.vision.view import Point

READS = 3
AGREEING_READS = 2
COVERING_MM = 60.0
"""A card laid within this distance of another may hide its sticker."""


@dataclass(frozen=True, slots=True)
class Place:
    """A zone, and how a card lies in it."""

    zone: str
    sideways: bool


@dataclass(slots=True)
class Track:
    """What is remembered of one physical card."""

    card: str
    face: Card
    recent: deque[Place | None] = field(default_factory=lambda: deque(maxlen=READS))
    place: Place | None = None
    """Where it counts as lying; None until it has been laid."""

    centre_px: Point = (0.0, 0.0)
    px_per_mm: float = 1.0
    confidence: float = 0.0
    order: int = 0
    """Rises with every card laid: one with a higher order may lie on top."""

    proposal_id: int | None = None
    """The proposal that its laying became, if it became one."""

    player: str | None = None
    """Who laid it, by that proposal."""

    waiting: bool = False
    """That proposal is neither confirmed nor dismissed."""

    confirmed: bool = False
    """Its play is in the record."""

    seen_since_s: float = 0.0
    """Since when every look has seen it."""

    missing_since_s: float | None = None
    astray_since_s: float | None = None
    """Since when it lies where the record does not have it."""

    mismatch_id: int | None = None
    asked: bool = False
    """Only people can say what it means that it lies there; the mismatch is that question."""

    lifted: bool = False
    """It was the top of the discard pile and is gone: taken by the next player, or taken back. The next card tells."""

    of_last_hand: bool = False
    """Still lying there from the hand before: it means nothing until it has been taken away."""

    left_alone: bool = False
    """People said that its being where it is, or not, is all right."""

    def steady(self) -> Place | None:
        """The place that two of the last three sightings agree on, the last among them."""
        last = self.last_seen
        return last if last is not None and self.recent.count(last) >= AGREEING_READS else None

    @property
    def last_seen(self) -> Place | None:
        """Where the last look at it saw it; None where it did not."""
        return self.recent[-1] if self.recent else None

    @property
    def zone(self) -> str:
        """The zone in which it counts as lying, or nothing."""
        return self.place.zone if self.place is not None else ""

    @property
    def is_new(self) -> bool:
        """Whether it has been seen somewhere without counting as laid there yet."""
        return self.last_seen is not None and self.last_seen != self.place and not self.of_last_hand

    def pick_up(self) -> None:
        """Forget that it lay anywhere: it is in a hand now."""
        self.recent.clear()
        self.place = self.missing_since_s = self.astray_since_s = self.proposal_id = self.player = None
        self.waiting = self.confirmed = self.lifted = self.left_alone = False


def may_cover(upper: Track, lower: Track) -> bool:
    """Whether a card may hide another: laid later, or just seen there for the first time, and close enough."""
    here, was, seen = lower.zone, upper.zone, upper.last_seen
    if upper is lower or upper.missing_since_s is not None or (was != here and (seen is None or seen.zone != here)):
        return False
    return (upper.order > lower.order or upper.is_new) and near(upper, lower)


def near(one: Track, other: Track) -> bool:
    """Whether the middles of two cards are so close that one may hide the other."""
    return math.dist(one.centre_px, other.centre_px) <= COVERING_MM * one.px_per_mm

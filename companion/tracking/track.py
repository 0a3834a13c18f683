"""What is remembered of each physical card, which cards may hide which, and how sure their reading is."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from companion.rules.cards import Card, Family
from companion.vision.view import MatSeen, Point, Sighting

READS = 3
AGREEING_READS = 2
COVERING_MM = 60.0
"""A card laid within this distance of another may hide its sticker."""

PUSHED_MM = 25.0
"""A card that is seen so far from where it lay has been pushed, alone or with others."""

NUDGE_MM = 8.0
SPREAD = ("distance", "safety")
"""The zones where cards lie side by side, and may be pushed over each other."""

DIAGONAL_DEG = 12.0
"""Within this of half a quarter turn a card lies neither upright nor sideways."""

DIAGONAL_SURENESS = 0.85
SPLIT_SURENESS = 0.97
"""Where one of the last sightings says something else."""

LAIN_S = 1.0
"""A card that lay in sight for so long was laid, even if an arm is over it now."""

UNCLEAR_SURENESS = 0.95
"""The most that is claimed of a play that another may look like."""


@dataclass(frozen=True, slots=True)
class Place:
    """A zone, and how a card lies in it."""

    zone: str
    sideways: bool

    @property
    def mat(self) -> str:
        return self.zone.partition("/")[0]


@dataclass(slots=True)
class Track:
    """What is remembered of one physical card."""

    card: str
    face: Card
    recent: deque[Place | None] = field(default_factory=lambda: deque(maxlen=READS))
    sureness: deque[float] = field(default_factory=lambda: deque(maxlen=READS))
    """How sure its last sightings were."""

    rivals: tuple[str, ...] = ()
    """Which other cards it may be, where its code was not read for sure."""

    place: Place | None = None
    """Where it counts as lying; None until it has been laid."""

    at_mm: Point = (0.0, 0.0)
    """The middle of its sticker, from the middle of its mat."""

    order: int = 0
    """Rises with every card laid: one with a higher order may lie on top."""

    proposal_id: int | None = None
    """The proposal that its laying became, if it became one."""

    player: str | None = None
    """Who laid it, by that proposal."""

    refused_s: float | None = None
    """When that proposal was made, if it was illegal as the record stood."""

    waiting: bool = False
    """That proposal is neither confirmed nor dismissed."""

    confirmed: bool = False
    """Its play is in the record."""

    contested: str | None = None
    """What is wrong where it lies on although people said otherwise: a sentence, until it has been asked."""

    contested_since_s: float | None = None
    seen_s: float = -math.inf
    """When it was seen last."""

    pushed_s: float = -math.inf
    """When it was last seen to have been pushed."""

    seen_since_s: float = 0.0
    """Since when every look has seen it."""

    hidden_since_s: float = 0.0
    """Since when its place had been out of sight before it was seen there: it was laid no earlier."""

    held: Place | None = None
    """Where it has been seen to lie without counting yet: it was seen too seldom, or something was waited for."""

    is_covered: bool = False
    """Since it was seen in the place where it is held no look has found it gone: something is over its zone."""

    unseen_since_s: float | None = None
    """Since when every look has missed it, its zone being in sight."""

    away_s: float = 0.0
    """For how long it was out of sight before it was seen where it lies now."""

    bare_looks: int = 0
    """How often its place has been seen bare since it was seen there, with nothing that may hide it."""

    bared_s: float | None = None
    """Since when its place has been seen bare, with nothing that may hide it."""

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

    def lain(self) -> Place | None:
        """Where it lies steadily, or lay in sight for a while before something came over it."""
        long_enough = self.seen_s - self.seen_since_s >= LAIN_S
        return self.held if self.is_covered and long_enough else self.steady()

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

    @property
    def confidence(self) -> float:
        """How sure its reading is, by its last sightings together; less where they do not agree."""
        if not self.sureness:
            return 0.0
        agreed = self.recent.count(self.last_seen) == len(self.recent)
        return sum(self.sureness) / len(self.sureness) * (1.0 if agreed else SPLIT_SURENESS)

    def see(self, place: Place, sighting: Sighting, at_mm: Point, sureness: float, t_s: float) -> None:
        """Takes in that a look has seen it."""
        if self.last_seen is None and not self.was_covered_in(place):
            self.seen_since_s, self.away_s = t_s, t_s - self.seen_s if self.recent else 0.0
        shift_mm = math.dist(self.at_mm, at_mm)
        if shift_mm > PUSHED_MM and self.zone == place.zone:
            self.pushed_s = t_s
        if shift_mm > NUDGE_MM or self.last_seen != place:
            self.sureness.clear()
        self.at_mm, self.seen_s = at_mm, t_s
        self.held, self.is_covered = place if self.place is None else None, False
        self.unseen_since_s = self.bared_s = None
        self.sureness.append(sureness)
        self.rivals = tuple(card for card, _ in sighting.rivals if card != self.card)
        self.recent.append(place)

    def was_covered_in(self, place: Place) -> bool:
        """Whether it lay in this place all the while, though something was over it."""
        return self.is_covered and self.held == place

    def miss(self, t_s: float, *, covered: bool = False) -> None:
        """Takes in that a look has not seen it where it was, `covered` if its zone was out of sight."""
        self.is_covered = covered and (self.is_covered or self.last_seen is not None)
        if not covered:
            self.unseen_since_s = t_s if self.unseen_since_s is None else self.unseen_since_s
        self.recent.append(None)

    def lose_sight(self) -> None:
        """What it was seen doing last may have been its last, or not: it has to be seen anew."""
        self.recent.clear()
        self.sureness.clear()
        self.held, self.is_covered, self.bare_looks, self.bared_s = None, False, 0, None

    def pick_up(self) -> None:
        """Forget that it lay anywhere: it is in a hand now."""
        self.recent.clear()
        self.sureness.clear()
        self.place = self.held = self.missing_since_s = self.astray_since_s = self.proposal_id = self.player = None
        self.is_covered, self.bare_looks, self.refused_s = False, 0, None
        self.bared_s = self.unseen_since_s = self.contested = self.contested_since_s = None
        self.waiting = self.confirmed = self.lifted = self.left_alone = False


def may_cover(upper: Track, lower: Track) -> bool:
    """Whether a card may hide another.

    It was laid later, or is seen there for the first time, and lies close enough; or both were pushed together, which
    may put any card of an area on any other.
    """
    here, was, seen = lower.zone, upper.zone, upper.last_seen
    if upper is lower or upper.missing_since_s is not None or (was != here and (seen is None or seen.zone != here)):
        return False
    if lower.bared_s is not None and upper.seen_since_s > lower.bared_s:
        return False
    if _is_spread(here) and upper.pushed_s > lower.seen_s:
        return True
    return (upper.order > lower.order or upper.is_new) and near(upper, lower)


def near(one: Track, other: Track) -> bool:
    """Whether the middles of two cards are so close that one may hide the other."""
    return math.dist(one.at_mm, other.at_mm) <= COVERING_MM


def _is_spread(zone: str) -> bool:
    return zone.partition("/")[2] in SPREAD


def spots(mats: tuple[MatSeen, ...], sightings: tuple[Sighting, ...]) -> Iterator[tuple[Sighting, Place, Point, float]]:
    """Every sighting in a zone, with how it lies there, where on its mat, and how sure that is."""
    by_id = {mat.id: mat for mat in mats}
    for sighting in sightings:
        if sighting.zone is not None:
            yield sighting, *_lies(sighting, sighting.zone, by_id)


def _lies(sighting: Sighting, zone: str, mats: Mapping[str, MatSeen]) -> tuple[Place, Point, float]:
    mat = mats.get(zone.partition("/")[0])
    # How a card is turned means something for safeties alone; the turning of any other is none.
    turned = sighting.face.family is Family.SAFETY
    diagonal = turned and mat is not None and _is_diagonal(sighting, mat)
    sureness = sighting.confidence * (DIAGONAL_SURENESS if diagonal else 1.0)
    return Place(zone, sighting.sideways and turned), _on_mat(sighting.centre_px, mat), sureness


def _on_mat(point: Point, mat: MatSeen | None) -> Point:
    """A point in millimetres from a mat's middle, along its edges, so that it stays when the camera is moved."""
    if mat is None:
        return point
    middle = sum(x for x, _ in mat.corners_px) / 4, sum(y for _, y in mat.corners_px) / 4
    (left, top), (right, bottom) = mat.corners_px[:2]
    angle = -math.atan2(bottom - top, right - left)
    x, y = (point[0] - middle[0]) / mat.px_per_mm, (point[1] - middle[1]) / mat.px_per_mm
    return x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)


def _is_diagonal(sighting: Sighting, mat: MatSeen) -> bool:
    if sighting.corners_px is None:
        return False
    turn = _degrees(*sighting.corners_px[:2]) - _degrees(*mat.corners_px[:2])
    return abs(turn % 90.0 - 45.0) < DIAGONAL_DEG


def _degrees(start: Point, end: Point) -> float:
    return math.degrees(math.atan2(end[1] - start[1], end[0] - start[0]))

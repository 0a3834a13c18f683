"""What one look shows of each zone: cards with their place in millimeters, each followed from look to look as a spot.

A *spot* is a sighting that stays: the same sticker, the same number of the eye, or the same face in the same place. A
card that is picked up and put down again makes a new spot. A spot does not say which card it is: the hypotheses
explain that.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from companion.rules.cards import Card, Family
from companion.tabletop.mat_layout import DRAW_ZONE, mat_of
from companion.tracking.handling import LAST_WEIGHT, LATE_SHARE, LOOK_S, MOST_WEIGHT
from companion.vision.view import Hidden, Point, Quad, Sighting, View

SAME_MM = 8.0  # between two looks, a spot without a number moves at most this far
STILL_MM = 2.0  # a card that moves less between two looks is not being carried
STILL_LOOKS = 3  # looks without movement after which a card counts although its zone is hidden
FIRST_WEIGHT = 0.5  # evidence of the first look, and of the first after pictures were missing
LEAST_WEIGHT = 0.1  # evidence of a look that follows the last at once
SPANS = 12  # times remembered when something was over a zone
MOST_HIDDEN = 0.25  # share of a card below which its place can be judged
LOST_S = 0.7  # a spot without a number of the eye ends after this time in a visible zone without it


class SeenCard(NamedTuple):
    """A card as it was seen last."""

    number: int  # rises with every new spot
    zone: str
    face: Card
    card: str | None  # physical card, if a sticker names it
    at_mm: complex  # from the center of its mat, along the mat's edges
    turn_deg: float  # of its upper edge against the mat's
    sideways: bool
    confidence: float  # mean of the readings
    rivals: tuple[tuple[str, float], ...]
    stay: int | None
    is_double: bool
    centre_px: Point
    first_s: float
    earliest_s: float  # its zone was hidden from then on: it may have been put there since
    looks: int = 1  # readings so far
    still: int = 1  # looks without movement
    lost_s: float | None = None  # since when its visible zone is seen without it
    has_rested: bool = False  # two looks in a row saw it in the same place
    is_numbered: bool = True  # it was seen while its zone was visible: the eye keeps its number since then

    @property
    def is_unread(self) -> bool:
        return self.face is Card.UNKNOWN


Seen = frozenset[tuple[int, Card]]  # the spots of a zone by number and face


Floats = npt.NDArray[np.float64]


class PlacesInSight(NamedTuple):
    """Which places of a zone a look can judge."""

    zone_is_visible: bool = True
    hidden: Hidden | None = None  # places of the mat that cannot be judged
    to_sheet: Floats | None = None  # mm around the mat's middle → mm on its sheet, `(3, 3)`

    def hide(self, at_mm: complex) -> float:
        """Return how much of a card there is hidden, 0 to 1."""
        if self.hidden is None or self.to_sheet is None:
            return 0.0 if self.zone_is_visible else 1.0
        x, y, scale = self.to_sheet @ (at_mm.real, at_mm.imag, 1.0)
        return self.hidden.share(x / scale, y / scale)

    def show(self, at_mm: complex) -> bool:
        return self.hide(at_mm) < MOST_HIDDEN


class ZoneLook(NamedTuple):
    """What a look adds about a zone."""

    zone: str
    spots: tuple[SeenCard, ...]
    is_visible: bool  # False: a card that is not seen may be hidden
    is_first: bool  # the zone has just changed
    weight: float  # evidence of this look: less than 1 if it comes soon after the last
    before_s: float  # when the zone was visible last before this look
    before: frozenset[int]  # the spots that it showed before it changed
    is_touched: bool  # something was over the zone since the last look
    places: PlacesInSight = PlacesInSight()  # which of its places are visible


Span = tuple[float, float]  # from when until when, in seconds


class ZoneMemory(NamedTuple):
    """What is remembered of a zone from look to look."""

    spots: tuple[SeenCard, ...] = ()
    shown: Seen = frozenset()  # what it showed last
    before: Seen = frozenset()  # and what before that
    weight: float = 0.0  # evidence of the looks that saw it like this
    is_partial: bool = False  # it was hidden in part when it showed that
    visible_s: float | None = None  # when it was visible last, or since when it is known, if never
    hidden: tuple[Span, ...] = ()  # when something was over it

    def seen(self, shown: Seen, weight: float, *, is_visible: bool, is_news: bool = False) -> ZoneMemory:
        """Return the memory with the spots that count now; `is_news`: one that is new is in a visible place."""
        if not is_visible and (shown < self.shown or (shown == self.shown and not is_news)):
            # What a hand leaves in sight, and was there before, is no news.
            return self
        if shown == self.shown:
            return self._replace(weight=self.weight + weight, is_partial=self.is_partial and not is_visible)
        before = self.shown | self.before if self.is_partial else self.shown
        return self._replace(shown=shown, before=before, weight=weight, is_partial=not is_visible)

    def covered(self, t_s: float) -> ZoneMemory:
        """Return the memory of a zone that is covered now."""
        *earlier, (from_s, until_s) = self.hidden or ((t_s, t_s),)
        if t_s - until_s < LOST_S:
            return self._replace(hidden=(*earlier, (from_s, t_s)))
        return self._replace(hidden=(*self.hidden[1 - SPANS :], (t_s, t_s)))


class PileSeen(NamedTuple):
    """What was seen of the draw pile."""

    was_there: bool = False
    empty_since_s: float | None = None  # since when it has been seen to be empty
    refilled_s: float | None = None  # when it was seen again after that

    def after(self, view: View) -> PileSeen:
        if view.draw_pile_empty is None:
            return self
        if view.draw_pile_empty:
            return self if self.empty_since_s is not None else self._replace(empty_since_s=view.t_s, refilled_s=None)
        is_back = self.empty_since_s is not None
        return PileSeen(True, None, view.t_s if is_back else self.refilled_s)


@dataclass(frozen=True)
class SeenTable:
    """What is remembered of all zones."""

    t_s: float = -math.inf
    zones: Mapping[str, ZoneMemory] = field(default_factory=dict)
    last_number: int = 0  # of the spots so far
    begun_s: float = math.inf  # when the first look was
    gap_s: float = -math.inf  # when pictures were missing last
    pile: PileSeen = field(default_factory=PileSeen)
    glimpsed: frozenset[int] = frozenset()  # spots that were seen only once before pictures were missing

    def broken(self) -> SeenTable:
        """Return the looks after pictures were missing: every card has to be seen again."""
        zones = {
            zone: memory._replace(
                spots=tuple(s._replace(lost_s=None, still=0, has_rested=False) for s in memory.spots), weight=0.0
            ).covered(self.t_s)
            for zone, memory in self.zones.items()
        }
        glimpsed = {spot.number for memory in self.zones.values() for spot in memory.spots if spot.looks < 2}
        return replace(self, zones=zones, gap_s=self.t_s, glimpsed=self.glimpsed | glimpsed)

    def after(self, view: View) -> tuple[SeenTable, tuple[ZoneLook, ...]]:
        """Return the memory after a view, and what it adds about each zone, the zones of older news first."""
        by_zone: dict[str, list[Sighting]] = {}
        for sighting in view.sightings:
            if sighting.zone is not None and sighting.zone != DRAW_ZONE:
                by_zone.setdefault(sighting.zone, []).append(sighting)
        frames = {mat.id: _frame(mat.corners_px, mat.px_per_mm) for mat in view.mats}
        weight = min(1.0, max(LEAST_WEIGHT, (view.t_s - self.t_s) / LOOK_S))
        if not self.zones or self.gap_s == self.t_s:
            weight = FIRST_WEIGHT
        number, zones, looks = self.last_number, dict(self.zones), []
        for zone in sorted({*self.zones, *by_zone, *view.unknown_zones}):
            first_s = view.t_s if math.isinf(self.t_s) else self.t_s
            memory, frame = self.zones.get(zone, ZoneMemory(visible_s=first_s)), frames.get(mat_of(zone))
            if frame is None:
                zones[zone] = memory
                continue
            before_s = view.t_s if memory.visible_s is None else memory.visible_s
            is_visible = zone not in view.unknown_zones
            places = _places(view, zone, frame)
            follow = _Follow(zone, view.t_s, before_s, places, frame, number)
            spots = follow.followed(memory.spots, by_zone.get(zone, ()))
            number = follow.number
            in_sight = {spot.number for spot in spots if is_visible or places.show(spot.at_mm)}
            shown = tuple(s for s in spots if s.lost_s is None and (s.number in in_sight or s.still >= STILL_LOOKS))
            seen = frozenset((spot.number, spot.face) for spot in shown)
            is_news = any(s.number in in_sight and (s.number, s.face) not in memory.before for s in shown)
            now = memory.seen(seen, weight, is_visible=is_visible, is_news=is_news)._replace(spots=spots)
            zones[zone] = now._replace(visible_s=view.t_s) if is_visible else now.covered(view.t_s)
            was_there = frozenset(n for n, _ in now.before)
            is_touched = not is_visible or memory.visible_s != self.t_s
            is_first = now.shown != memory.shown or not memory.weight
            if is_first or memory.weight < now.weight <= LAST_WEIGHT:
                adds = weight if now.weight <= MOST_WEIGHT else weight * LATE_SHARE
                looks.append(ZoneLook(zone, shown, is_visible, is_first, adds, before_s, was_there, is_touched, places))
        looks.sort(key=lambda look: max((spot.first_s for spot in look.spots), default=0.0))
        return SeenTable(
            view.t_s, zones, number, min(self.begun_s, view.t_s), self.gap_s, self.pile.after(view), self.glimpsed
        ), tuple(looks)


Frame = tuple[complex, complex, float]  # a mat's middle, the direction of its upper edge, its scale in px/mm


def _frame(corners: Quad, px_per_mm: float) -> Frame:
    return sum(complex(*corner) for corner in corners) / 4, _edge(corners), px_per_mm


def _places(view: View, zone: str, frame: Frame) -> PlacesInSight:
    hidden = view.hidden.get(mat_of(zone))
    is_visible = zone not in view.unknown_zones
    if hidden is None:
        return PlacesInSight(is_visible)
    middle, along, scale = frame
    corners = next(mat.corners_px for mat in view.mats if mat.id == mat_of(zone))
    around = [(complex(*corner) - middle) / along / scale for corner in corners]
    return PlacesInSight(
        is_visible, hidden, _through_corners(tuple((at.real, at.imag) for at in around), hidden.size_mm)
    )


@lru_cache(maxsize=64)
def _through_corners(corners: Quad, size_mm: tuple[float, float]) -> Floats:
    """Return the homography `(3, 3)` that maps a mat's corners to those of its sheet."""
    width, height = size_mm
    rows = []
    for (x, y), (u, v) in zip(corners, ((0, 0), (width, 0), (width, height), (0, height)), strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y, u], [0, 0, 0, x, y, 1, -v * x, -v * y, v]]
    table = np.array(rows, np.float64)
    return np.append(np.linalg.solve(table[:, :8], table[:, 8]), 1.0).reshape(3, 3)


def _edge(corners: Quad) -> complex:
    """Return the direction of the upper edge, as a complex number of length 1."""
    edge = complex(*corners[1]) - complex(*corners[0])
    return edge / (abs(edge) or 1.0) or 1.0


class _Follow:
    """Follows the spots of one zone over one look."""

    def __init__(
        self, zone: str, t_s: float, earliest_s: float, places: PlacesInSight, frame: Frame, number: int
    ) -> None:
        self._zone, self._t_s, self._earliest_s, self._places = zone, t_s, earliest_s, places
        self._frame, self.number = frame, number

    def followed(self, before: Iterable[SeenCard], sightings: Sequence[Sighting]) -> tuple[SeenCard, ...]:
        left, found = list(before), []
        # The eye numbers cards recognized by face from the lowest up.
        for sighting in sorted(sightings, key=lambda s: s.stay or 0):
            at_mm, turn = self._place(sighting)
            old = next(_candidates(left, sighting, at_mm), None)
            if old is None:
                self.number += 1
                found.append(self._spot(sighting, at_mm, turn))
            else:
                left.remove(old)
                found.append(self._seen_again(old, sighting, at_mm, turn))
        return (*found, *self._unseen(left))

    def _unseen(self, left: Iterable[SeenCard]) -> Iterator[SeenCard]:
        for spot in left:
            if not self._places.zone_is_visible or not self._places.show(spot.at_mm):
                yield spot._replace(lost_s=spot.lost_s if spot.lost_s is not None else math.inf, still=0)
            elif spot.lost_s is None or spot.lost_s == math.inf:
                yield spot._replace(lost_s=self._t_s, still=0)
            elif self._t_s - spot.lost_s < LOST_S or (spot.stay is not None and spot.is_numbered):
                # The eye knows a card by its number again when whatever covered it is gone.
                yield spot

    def _place(self, sighting: Sighting) -> tuple[complex, float]:
        middle, along, scale = self._frame
        turn = 1.0 if sighting.corners_px is None else _edge(sighting.corners_px) / along
        return (complex(*sighting.centre_px) - middle) / along / scale, math.degrees(cmath.phase(turn))

    def _spot(self, s: Sighting, at_mm: complex, turn: float) -> SeenCard:
        # How a card is turned has a meaning only for safeties.
        sideways = s.sideways and s.face.family is Family.SAFETY
        return SeenCard(
            self.number, self._zone, s.face, s.card, at_mm, turn, sideways, s.confidence, s.rivals, s.stay, s.is_double,
            s.centre_px, self._t_s, self._earliest_s, is_numbered=self._places.zone_is_visible,
        )  # fmt: skip

    def _seen_again(self, old: SeenCard, s: Sighting, at_mm: complex, turn: float) -> SeenCard:
        is_still = abs(at_mm - old.at_mm) <= STILL_MM and old.lost_s is None
        still = old.still + 1 if is_still else 1
        new = self._spot(s, at_mm, turn)._replace(
            number=old.number,
            first_s=old.first_s,
            earliest_s=old.earliest_s,
            looks=old.looks + 1,
            still=still,
            has_rested=old.has_rested or still > 1,
            is_numbered=old.is_numbered or self._places.zone_is_visible,
        )
        if s.face is Card.UNKNOWN and not old.is_unread:
            return new._replace(
                face=old.face, card=old.card, confidence=old.confidence, sideways=old.sideways, stay=old.stay
            )
        if old.is_unread:
            return new
        share = 1 / min(new.looks, 3)
        return new._replace(confidence=old.confidence * (1 - share) + s.confidence * share)


def _candidates(left: Iterable[SeenCard], sighting: Sighting, at_mm: complex) -> Iterator[SeenCard]:
    """Yield the spots that a sighting may continue, the likeliest first."""
    near = sorted((s for s in left if abs(s.at_mm - at_mm) <= SAME_MM), key=lambda s: abs(s.at_mm - at_mm))
    if sighting.card is not None:
        yield from (s for s in left if s.card == sighting.card)
        yield from (s for s in near if s.is_unread)
    elif sighting.face is Card.UNKNOWN:
        yield from near
    elif sighting.stay is not None:
        yield from (s for s in left if s.stay == sighting.stay)
        yield from (s for s in near if s.face is sighting.face and s.card is None and not s.is_numbered)
    else:
        yield from (s for s in near if s.face is sighting.face and s.card is None)

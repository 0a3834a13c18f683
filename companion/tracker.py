"""From views over time to proposals: what was laid, taken back, moved, or is no longer where it should be.

Every decision is a function of the views, their times and the table as the record has it:
* A card counts as laid where two of its last three sightings agree. An unknown zone says nothing.
* A card counts as gone after `GONE_S` of seeing its zone without it, unless a newer card may hide it.
* A card that the record has already (entered by hand, or lying there before we looked) is adopted, not proposed.
* While the hand is over, or waits for an answer about the extension, nothing is proposed.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from companion.places import DISCARD_ZONE, DRAW_ZONE, Places
from companion.proposal import Mismatch, Proposal
from companion.rules.cards import Card, card_name
from companion.rules.play import Play, Verb
from companion.rules.referee import objections
from companion.rules.table import Table
from companion.vision.view import Point, View

GONE_S = 1.5
ASTRAY_S = 3.0
READS = 3
AGREEING_READS = 2
SURE_CONFIDENCE = 0.9
COVERING_MM = 60.0
"""A card laid within this distance of another may hide its sticker."""

PILE_EMPTY_S = 5.0
UNSEEN_DRAWS = 2
"""So many cards may have been drawn before the plays that tell of it; only beyond it is an empty pile news."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A proposal's card was taken back, or moved, before it was confirmed."""

    proposal_id: int


@dataclass(frozen=True, slots=True)
class Settled:
    """A mismatch is no more: the card lies again where the record has it."""

    mismatch_id: int


@dataclass(frozen=True, slots=True)
class Cleared:
    """The hand is over and its cards are gathered in: the next one can begin."""

    t_s: float


Event = Proposal | Withdrawn | Mismatch | Settled | Cleared


@dataclass(frozen=True, slots=True)
class _Place:
    zone: str
    sideways: bool


@dataclass(slots=True)
class _Track:
    """What is remembered of one physical card."""

    card: str
    face: Card
    recent: deque[_Place | None] = field(default_factory=lambda: deque(maxlen=READS))
    place: _Place | None = None
    """Where it counts as lying; None until it has been laid."""

    centre_px: Point = (0.0, 0.0)
    px_per_mm: float = 1.0
    confidence: float = 0.0
    order: int = 0
    """Rises with every card laid: one with a higher order may lie on top."""

    proposal_id: int | None = None
    """The proposal that its laying became, if it became one."""

    waiting: bool = False
    """That proposal is neither confirmed nor dismissed."""

    confirmed: bool = False
    """Its play is in the record."""

    missing_since_s: float | None = None
    astray_since_s: float | None = None
    """Since when it lies where the record does not have it."""

    mismatch_id: int | None = None
    of_last_hand: bool = False
    """Still lying there from the hand before: it means nothing until it has been taken away."""

    left_alone: bool = False
    """People said that its being where it is, or not, is all right."""

    def steady(self) -> _Place | None:
        """The place that two of the last three sightings agree on, the last among them."""
        last = self.recent[-1] if self.recent else None
        return last if last is not None and self.recent.count(last) >= AGREEING_READS else None


class Tracker:
    """Follows the physical cards of one table.

    `mats` gives the side's name by mat id; `table` is the record's table when the tracker starts, whose cards may
    be lying there already. `update` takes every view, with the table as it would be were all waiting proposals
    confirmed. `resolve`, `leave` and `expect` tell what people did.
    """

    def __init__(self, mats: Mapping[str, str], table: Table | None = None) -> None:
        self._places = Places(dict(mats))
        self._ids = 0
        self._start(table)

    def _start(self, table: Table | None) -> None:
        self._tracks: dict[str, _Track] = {}
        self._order = 0
        self._owed: Counter[tuple[str, Card]] = Counter()
        self._before_us = Counter(self._places.lying(table)) if table is not None else Counter()
        self._pile_empty_since_s: float | None = None
        self._bare_since_s: float | None = None
        self._exhausted_said = False

    def new_hand(self) -> None:
        """The cards are dealt anew: what still lies there from the hand before means nothing any more."""
        left = self._tracks
        self._start(None)
        self._tracks = {card: _Track(card, t.face, place=t.place, of_last_hand=True) for card, t in left.items()}

    def update(self, view: View, table: Table | None) -> tuple[Event, ...]:
        """What one view brings. Without a table (no hand has begun) nothing is proposed."""
        if view.trouble is not None:
            return ()
        self._observe(view)
        if table is None:
            return ()
        if table.is_over:
            return tuple(self._gathered_in(view))
        if table.extension_offered_to is not None:
            return ()
        return (*self._follow_all(view, table), *self._draw_pile(view, table))

    def resolve(self, proposal_id: int, *, confirmed: bool) -> None:
        """A waiting proposal was confirmed (perhaps corrected), or dismissed as no play."""
        for track in self._tracks.values():
            if track.proposal_id == proposal_id and track.waiting:
                track.waiting, track.confirmed, track.left_alone = False, confirmed, not confirmed

    def leave(self, mismatch_id: int, table: Table) -> None:
        """A mismatch was answered. Where the record gave way, the card is new when it is laid again."""
        for card, track in list(self._tracks.items()):
            if track.mismatch_id == mismatch_id:
                track.mismatch_id, track.left_alone = None, True
                if track.place is None or not self._still_recorded(track, track.place.zone, table):
                    del self._tracks[card]

    def expect(self, play: Play, table: Table) -> None:
        """A play was entered by hand: when its card appears, the record has it already."""
        zone = self._places.zone_of(play, table)
        if zone is not None and play.card is not None:
            self._owed[(zone, play.card)] += 1

    # Seeing

    def _observe(self, view: View) -> None:
        scales = {mat.id: mat.px_per_mm for mat in view.mats}
        seen: dict[str, _Place] = {}
        for sighting in view.sightings:
            zone = sighting.zone
            if sighting.card is None or sighting.face is Card.UNKNOWN or zone is None or zone == DRAW_ZONE:
                continue
            if zone in view.unknown_zones:
                continue
            track = self._tracks.setdefault(sighting.card, _Track(sighting.card, sighting.face))
            seen[sighting.card] = _Place(zone, sighting.sideways)
            track.centre_px, track.confidence = sighting.centre_px, sighting.confidence
            track.px_per_mm = scales.get(zone.partition("/")[0], track.px_per_mm)
        for card, track in self._tracks.items():
            if card in seen or not self._out_of_sight(track, view):
                track.recent.append(seen.get(card))

    def _follow_all(self, view: View, table: Table) -> Iterator[Event]:
        """What became of each card; after a proposal the others wait for the table that it leads to.

        Of cards laid at the same moment the one that the rules allow comes first: they break the tie.
        """
        for track in sorted(self._tracks.values(), key=lambda track: (self._is_refused(track, table), track.card)):
            for event in self._follow(track, view, table):
                yield event
                if isinstance(event, Proposal):
                    return

    def _is_refused(self, track: _Track, table: Table) -> bool:
        """Whether a card that lies anew would be an illegal play."""
        place = track.steady()
        if place is None or place == track.place or track.confirmed:
            return False
        guess = self._places.play_at(track.face, place.zone, place.sideways, table)
        return guess is not None and bool(objections(table, guess.play))

    @staticmethod
    def _out_of_sight(track: _Track, view: View) -> bool:
        """Whether the view says nothing about the zone that a card lies in."""
        return track.place is not None and track.place.zone in view.unknown_zones

    def _follow(self, track: _Track, view: View, table: Table) -> Iterator[Event]:
        place = track.steady()
        if track.of_last_hand:
            self._follow_old(track, view)
        elif place is not None:
            track.missing_since_s = None
            yield from self._back_again(track, place)
            if place != track.place:
                yield from self._lies_anew(track, place, view, table)
        elif track.place is not None and track.recent[-1] is None and not self._out_of_sight(track, view):
            yield from self._not_seen(track, view, table)
        elif self._out_of_sight(track, view):
            track.missing_since_s = None

    def _follow_old(self, track: _Track, view: View) -> None:
        """A card of the hand before is forgotten once it has been out of its zone's sight for a while."""
        if track.recent and track.recent[-1] is not None:
            track.missing_since_s, track.place = None, track.recent[-1]
        elif not self._out_of_sight(track, view):
            track.missing_since_s = track.missing_since_s or view.t_s
            if view.t_s - track.missing_since_s >= GONE_S:
                del self._tracks[track.card]

    # Cards that lie somewhere

    def _back_again(self, track: _Track, place: _Place) -> Iterator[Event]:
        if place != track.place:
            return
        track.astray_since_s = None
        if track.mismatch_id is not None:
            yield Settled(track.mismatch_id)
            track.mismatch_id = None

    def _lies_anew(self, track: _Track, place: _Place, view: View, table: Table) -> Iterator[Event]:
        """A card lies where it did not lie before: laid, moved before it was confirmed, or moved afterwards."""
        if track.confirmed and track.place is not None:
            yield from self._moved(track, place, table, view.t_s)
            return
        if track.waiting and track.proposal_id is not None:
            yield Withdrawn(track.proposal_id)
        track.waiting, track.left_alone = False, False
        self._lay_down(track, place)
        if self._adopt(track, place, table):
            track.confirmed = True
        else:
            yield from self._propose(track, place, view, table)

    def _lay_down(self, track: _Track, place: _Place) -> None:
        self._order += 1
        track.place, track.order = place, self._order

    def _moved(self, track: _Track, new: _Place, table: Table, t_s: float) -> Iterator[Event]:
        """A confirmed card lies elsewhere.

        Within its zone that means nothing, and a hazard that a coup fourré has beaten belongs on the discard
        pile; it may be taken there before the safety is seen, so a strange place is borne with for a while. The
        card laid last is simply put right when it is moved to another zone.
        """
        old = track.place or new
        put_right = track.order == self._order and new.zone != DISCARD_ZONE
        if old.zone == new.zone:
            track.place = new
        elif new.zone == DISCARD_ZONE and not self._still_recorded(track, old.zone, table):
            self._lay_down(track, new)
        elif track.astray_since_s is None and not put_right:
            track.astray_since_s = t_s
        elif (
            (put_right or t_s - (track.astray_since_s or t_s) >= ASTRAY_S)
            and track.mismatch_id is None
            and not track.left_alone
        ):
            said = f"{_named(track.face)} has moved from {_where(old.zone)} to {_where(new.zone)}."
            yield self._differ(track, old.zone, said)

    def _still_recorded(self, track: _Track, zone: str, table: Table) -> bool:
        """Whether the record has as many of a card in a zone as have been laid there."""
        laid = sum(
            other.confirmed and other.face is track.face and other.place is not None and other.place.zone == zone
            for other in self._tracks.values()
        )
        return Counter(self._places.lying(table))[(zone, track.face)] >= laid

    def _adopt(self, track: _Track, place: _Place, table: Table) -> bool:
        """Whether the record has this card already: entered by hand, or lying there before we looked."""
        key = (place.zone, track.face)
        if self._owed[key]:
            self._owed[key] -= 1
            return True
        if self._before_us[key] and track.face in self._places.shows(table, place.zone) and not self._lies_on(track):
            self._before_us[key] -= 1
            return True
        return False

    def _lies_on(self, track: _Track) -> bool:
        """Whether a card that we know of lay where this one appeared: then this one is new."""
        return any(
            other is not track and other.confirmed and other.missing_since_s is None and _overlap(track, other)
            for other in self._tracks.values()
        )

    def _propose(self, track: _Track, place: _Place, view: View, table: Table) -> Iterator[Event]:
        guess = self._places.play_at(track.face, place.zone, place.sideways, table)
        if guess is None:
            return
        self._ids += 1
        track.proposal_id, track.waiting = self._ids, True
        sure = guess.clear and track.confidence >= SURE_CONFIDENCE
        yield Proposal(self._ids, guess.play, place.zone, track.confidence, view.t_s, sure)

    # Cards that are gone

    def _not_seen(self, track: _Track, view: View, table: Table) -> Iterator[Event]:
        if self._may_be_covered(track):
            track.missing_since_s = None
            return
        if track.missing_since_s is None:
            track.missing_since_s = view.t_s
        if view.t_s - track.missing_since_s < GONE_S or track.mismatch_id is not None:
            return
        if track.confirmed:
            yield from self._gone(track, table)
        else:
            if track.waiting and track.proposal_id is not None:
                yield Withdrawn(track.proposal_id)
            del self._tracks[track.card]

    def _may_be_covered(self, track: _Track) -> bool:
        return any(
            other.order > track.order and other.missing_since_s is None and _overlap(track, other)
            for other in self._tracks.values()
        )

    def _gone(self, track: _Track, table: Table) -> Iterator[Event]:
        """A confirmed card has left its place: the record differs, unless it has let the card go as well."""
        zone = track.place.zone if track.place is not None else ""
        if not self._still_recorded(track, zone, table):
            del self._tracks[track.card]
        elif not track.left_alone:
            yield self._differ(track, zone, f"{_named(track.face)} is no longer on {_where(zone)}.")

    def _differ(self, track: _Track, zone: str, say: str) -> Mismatch:
        self._ids += 1
        track.mismatch_id = self._ids
        return Mismatch(self._ids, zone, track.face.value, None, say, track.proposal_id)

    # The draw pile, and the end of a hand

    def _draw_pile(self, view: View, table: Table) -> Iterator[Event]:
        """The marker under the draw pile shows steadily although the count says otherwise."""
        if view.draw_pile_empty is not True:
            self._pile_empty_since_s = None
            return
        if self._pile_empty_since_s is None:
            self._pile_empty_since_s = view.t_s
        long_enough = view.t_s - self._pile_empty_since_s >= PILE_EMPTY_S
        if long_enough and table.draw_pile > UNSEEN_DRAWS and not self._exhausted_said:
            self._exhausted_said = True
            self._ids += 1
            yield Proposal(self._ids, Play(Verb.EXHAUSTED), DRAW_ZONE, 1.0, view.t_s, sure=False)

    def _gathered_in(self, view: View) -> Iterator[Event]:
        """After a hand: every mat is seen, nothing is unknown, and no card lies anywhere."""
        seen = {mat.id for mat in view.mats}
        bare = not view.sightings and not view.unknown_zones and seen >= set(self._places.mats)
        if not bare:
            self._bare_since_s = None
        elif self._bare_since_s is None:
            self._bare_since_s = view.t_s
        elif view.t_s - self._bare_since_s >= GONE_S and self._tracks:
            self._start(None)
            yield Cleared(view.t_s)


def _overlap(one: _Track, other: _Track) -> bool:
    """Whether two cards lie so close that one may hide the other."""
    if one.place is None or other.place is None or one.place.zone != other.place.zone:
        return False
    return math.dist(one.centre_px, other.centre_px) <= COVERING_MM * one.px_per_mm


def _named(face: Card) -> str:
    name = card_name(face)
    return f"The {name}" if name[0].isdigit() else f"{name[0].upper()}{name[1:]}"


def _where(zone: str) -> str:
    """The zone in words; the match knows whose mat it is."""
    mat, _, kind = zone.partition("/")
    return f"the {kind} pile" if mat == "table" or kind in ("battle", "speed") else f"the {kind} area"

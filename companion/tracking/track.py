"""The life of one card in one zone, as a table of transitions.

Laws:
* A card that is taken up and laid again, or carried to another zone, is a new track with a new serial.
* A zone that is out of sight ends no track.
* Covered is not gone: a track ends only when its place is seen without it, or its sticker elsewhere.
* A track that has gone is kept as such: the record may have its card still.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from companion.rules.cards import Card, Family
from companion.tabletop.card_ids import any_copy
from companion.tabletop.mat_layout import DISCARD_ZONE
from companion.vision.view import Point, Sighting

LOOKS = 3  # number of looks whose agreement decides, and of readings that are averaged
AGREEING_LOOKS = 2  # number of the last `LOOKS` that must have seen a card before it can count as lying

MOMENT_S = 0.8
"""Time after which what is seen is no accident: a card is gone, lies there, is read. Ten watched hands come out the
same from 0.7 s to 1.5 s, and a card taken up for a second is noticed."""

LAYING_S = 2.0  # maximum time between the cards that one hand lays, or in which it hides what it has laid
PUT_RIGHT_S = 4.0  # wait for people to put right what lies amiss: mostly they do so at once
TURN_S = 6.0  # maximum time that an arm is over the table to lay a card, and that others wait for that card
DIAGONAL_DEG = 12.0  # deviation from 45° within which a card lies neither upright nor sideways
DOUBTFUL_CONFIDENCE, UNCLEAR_CONFIDENCE = 0.85, 0.97
"""Maximum confidence where a tap is needed, as in a card that lies diagonally, and where little speaks against it, as
in one that not every one of the last looks saw."""

UNLIKELY_CONFIDENCE = 0.4
"""The same of a hazard that may be the like one that is in force there, pushed: in 110 watched hands 11 of 13 were it,
but of 9 stops 2."""

NUDGE_MM = 6.0
"""Distance that a card may have moved for its readings to be averaged on, and within which two alike show too
little to be told from one: of a dozen that no picture told, those that were laid lay within 4.3 mm of their like, and
one was pushed by 6.4 mm; at 8 mm cards of a fan are doubted for nothing."""


class State(StrEnum):
    """Where a card is in its life."""

    SEEN = "seen"  # in sight, not yet often enough to count
    LYING = "lying"  # laid; in sight, or its zone is not
    COVERED = "covered"  # laid, and something that came later may lie over it
    GONE = "gone"  # its place was seen without it


class Observation(StrEnum):
    """What one look says of a card, where it says anything."""

    SETTLED = "settled"  # it is seen, for long enough to count as laid
    COVERED = "covered"  # it is not seen, and something newer may hide it
    VANISHED = "vanished"  # its place has been seen without it for long enough, or its sticker elsewhere


THERE = (State.LYING, State.COVERED)
TRANSITIONS: Mapping[tuple[State, Observation], State] = {
    (State.SEEN, Observation.SETTLED): State.LYING,
    (State.SEEN, Observation.COVERED): State.COVERED,
    (State.SEEN, Observation.VANISHED): State.GONE,
    (State.LYING, Observation.COVERED): State.COVERED,
    (State.LYING, Observation.VANISHED): State.GONE,
    (State.COVERED, Observation.SETTLED): State.LYING,
    (State.COVERED, Observation.VANISHED): State.GONE,
}
"""The state after a look; where a pair is not named the state stays."""


class Place(NamedTuple):
    """Where a sighting lies."""

    zone: str
    sideways: bool
    at_mm: Point  # from the middle of its mat, along the mat's edges
    turn_deg: float  # of its upper edge against its mat's


class Track(NamedTuple):
    """One card in one zone, from its first sighting until it is gone: a tuple, as each look makes all in sight anew."""

    serial: int  # never given twice; rises with every card, so a higher one came later
    face: Card
    card: str | None  # the physical card where a sticker tells it
    place: Place
    state: State = State.SEEN
    since_s: float = 0.0  # when it was seen first
    earliest_s: float = 0.0  # when it may have been laid at the earliest: its zone was out of sight from then on
    seen_s: float = 0.0  # when it was seen last
    absent_since_s: float | None = None  # since when its place is seen without it
    is_lifted: bool = False  # the card below it has come into sight while it was not seen: it is gone sooner
    recent: tuple[bool, ...] = ()  # whether each of the last looks saw it
    readings: tuple[Mapping[str, float], ...] = ()  # confidences by physical card of each of the last readings
    stay: int | None = None  # the eye's own number for a card told by its face, as long as it has not been touched
    centre_px: Point = (0.0, 0.0)
    is_double: bool = False  # it may be a card like it that lay there before, nudged
    stacked_s: float | None = None  # when one like it may have been laid exactly on it: no picture tells
    shifted_s: float | None = None  # when it came to lie a little beside: a hand touched it, or laid one like it on it
    laid_seq: int | None = None  # the record's last event when it came to count as lying; None until it has
    gone_seq: int = 0  # the record's last event when it went

    @property
    def zone(self) -> str:
        return self.place.zone

    @property
    def is_there(self) -> bool:
        """True if it was laid and has not gone."""
        return self.state in THERE

    @property
    def is_laid_off_hazard(self) -> bool:
        """True if it is a hazard on the discard pile: discarded, or beaten and carried there."""
        return self.zone == DISCARD_ZONE and self.face.family is Family.HAZARD

    @property
    def last_there_s(self) -> float:
        """The time until which it may have lain there."""
        return self.seen_s if self.absent_since_s is None else self.absent_since_s

    @property
    def is_in_sight(self) -> bool:
        """True if the last look at it saw it."""
        return bool(self.recent) and self.recent[-1]

    @property
    def confidence(self) -> float:
        """How sure its reading is, by the last ones together."""
        if not self.readings or self.face is Card.UNKNOWN:
            return 0.0
        mean = sum(max(read.values(), default=0.0) for read in self.readings) / len(self.readings)
        return mean * (1.0 if all(self.recent) else UNCLEAR_CONFIDENCE)

    def laid_since(self, seq: int) -> bool:
        """True if it came to count as lying at this event of the record, or later."""
        return self.laid_seq is not None and self.laid_seq >= seq

    def has_vanished(self, t_s: float) -> bool:
        """True if its place has been seen without it for long enough."""
        is_long = self.absent_since_s is not None and t_s - self.absent_since_s >= MOMENT_S
        return self.recent == (False,) * LOOKS and (is_long or self.is_lifted or self.state is State.SEEN)

    def seen(self, sighting: Sighting, place: Place, t_s: float, *, is_shifted: bool = False) -> Track:
        """Return the track after a look that saw it; `is_shifted` says that it lies beside where it lay."""
        known = sighting.face is not Card.UNKNOWN
        is_other = known and self.face is not sighting.face
        before = () if is_other or distance_mm(self.place, place) > NUDGE_MM else self.readings
        reading = dict(sighting.rivals)
        if known:
            diagonal = sighting.face.family is Family.SAFETY and abs(place.turn_deg % 90.0 - 45.0) < DIAGONAL_DEG
            sure = sighting.confidence * (DOUBTFUL_CONFIDENCE if diagonal else 1.0)
            reading[sighting.card or any_copy(sighting.face)] = sure
        return self._replace(
            face=sighting.face if known else self.face,
            card=sighting.card if known else self.card,
            place=place,
            seen_s=t_s,
            absent_since_s=None,
            is_lifted=False,
            recent=(*self.recent, True)[-LOOKS:],
            readings=(*before, reading)[-LOOKS:] if known or self.face is Card.UNKNOWN else before,
            stay=sighting.stay,
            stacked_s=t_s if sighting.is_double and sighting.stay != self.stay and self.readings else self.stacked_s,
            shifted_s=t_s if is_shifted and self.readings else self.shifted_s,
            centre_px=sighting.centre_px,
        )

    def missed(self, t_s: float, *, is_lifted: bool) -> Track:
        """Return the track after a look at its place that did not see it."""
        return self._replace(
            recent=(*self.recent, False)[-LOOKS:],
            absent_since_s=t_s if self.absent_since_s is None else self.absent_since_s,
            is_lifted=self.is_lifted or is_lifted,
        )

    def after(self, observation: Observation, seq: int) -> Track:
        """Return the track in the state that follows from a look."""
        state = TRANSITIONS.get((self.state, observation), self.state)
        if state is self.state:
            return self
        if state is State.GONE:
            return self._replace(state=state, gone_seq=seq)
        return self._replace(state=state, laid_seq=seq if self.state is State.SEEN else self.laid_seq)


def distance_mm(one: Place, other: Place) -> float:
    """Return the distance between the middles of two cards on one mat."""
    return math.dist(one.at_mm, other.at_mm)


def by_zone(cards: Iterable[Track]) -> dict[str, list[Track]]:
    """Return cards by their zones, each zone's in their order."""
    zones: dict[str, list[Track]] = {}
    for track in cards:
        zones.setdefault(track.zone, []).append(track)
    return zones

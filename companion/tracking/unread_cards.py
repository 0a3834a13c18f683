"""Codes that are there and cannot be told for sure: which cards they may be, and when the table is asked.

A code that shows steadily in one place is either the card that is known to lie there, or one that every reading puts
first by far – then it counts as that card, though never surely enough to confirm itself – or it is asked about.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from companion.match.proposals import Doubt
from companion.match.zone_plays import DRAW_ZONE, Places
from companion.rules.play import Play
from companion.rules.referee import objections
from companion.rules.table import Table
from companion.tabletop.card_ids import face_of
from companion.tracking.track import Place, Track, spots
from companion.vision.faces.occlusion import any_copy
from companion.vision.view import FACE, Point, Sighting, View

OPEN_S = 6.0
"""So long at most other cards are waited with until it is told which card a code is."""

ASKING_S = 1.0
"""A code that is not told after so long is asked about."""

READS_TO_ASK = 3
SAME_PLACE_MM = 20.0
CLEAR_MARGIN = 0.15
"""So much likelier than the next a card has to be on every reading to count as read."""

LEAST_LEAD = 0.5
JOINT_CONFIDENCE = 0.85
NEARLY_AS_LIKELY = 0.1
"""Of plays that are so nearly alike in likelihood the legal ones come first."""

GONE_READS = 2
MOST_PLAYS = 3


@dataclass(slots=True)
class Spot:
    """A place where a code shows that is not read."""

    place: Place
    at_mm: Point
    since_s: float
    sighting: Sighting
    reads: list[Mapping[str, float]] = field(default_factory=list)
    """What each reading made of it: confidences by card."""

    missed: int = 0
    card: str | None = None
    """The card that it counts as."""

    doubt_id: int | None = None
    silent: bool = False
    """It was asked and answered."""

    is_old: bool = False
    """It can only be a card that is known to lie there, half hidden by now."""

    @property
    def is_open(self) -> bool:
        """Whether it is still to be told what lies there."""
        return self.card is None and not self.silent

    def likeliest(self) -> list[tuple[str, float]]:
        """The cards it may be with their confidences, averaged over all readings, likeliest first."""
        cards = {card for read in self.reads for card in read}
        mean = {card: sum(read.get(card, 0.0) for read in self.reads) / len(self.reads) for card in cards}
        return sorted(mean.items(), key=lambda item: (-item[1], item[0]))

    def leader(self) -> str | None:
        """The card that every reading puts first with a clear margin."""
        firsts = {_clear_first(read) for read in self.reads}
        return firsts.pop() if len(firsts) == 1 else None

    def is_at(self, zone: str, at_mm: Point) -> bool:
        """Whether a place is this one."""
        return self.place.zone == zone and self.is_within(SAME_PLACE_MM, at_mm)

    def is_within(self, reach_mm: float, at_mm: Point) -> bool:
        """Whether a point of the same mat is so near."""
        return math.dist(self.at_mm, at_mm) <= reach_mm


class Doubts:
    """The codes on one table that cannot be told."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._spots: list[Spot] = []
        self._answered: list[Spot] = []
        self._settled: list[int] = []
        self._wrong: set[str] = set()
        self._now_s = 0.0

    @property
    def spots(self) -> Sequence[Spot]:
        """The places with a code that is not read, now."""
        return self._spots

    @property
    def anything_open(self) -> bool:
        """Whether some card has been laid a moment ago of which it is still to be told which it is.

        A code that stays unread for longer holds nothing up, nor does one that showed for a moment: it may be half
        hidden, and nobody may be there to ask.
        """
        fresh = (spot for spot in self._spots if spot.missed == 0 and self._now_s - spot.since_s < OPEN_S)
        return any(spot.is_open and not spot.is_old for spot in fresh)

    def observe(self, view: View, tracks: Mapping[str, Track]) -> tuple[Sighting, ...]:
        """Takes in what a view shows; gives sightings for the codes that count as read."""
        self._now_s = view.t_s
        read: list[Spot] = []
        shown: list[tuple[str, str, Point]] = []
        for sighting, place, at_mm, _ in spots(view.mats, view.sightings):
            if sighting.card is not None:
                shown.append((sighting.card, place.zone, at_mm))
            elif place.zone != DRAW_ZONE and _is_read(place.zone, view):
                read.append(self._seen(sighting, place, at_mm, view.t_s))
        self._forget([spot for spot in self._spots if spot not in read], shown, view)
        for spot in self._spots:
            spot.card = spot.card or self._known_card(spot, tracks) or self._joint(spot, tracks, view.t_s)
            spot.is_old = all(_lies_elsewhere(tracks.get(card)) for card in _cards(spot))
        return tuple(_as_read(spot) for spot in self._spots if spot.card is not None)

    def ask(self, table: Table, tracks: Mapping[str, Track], t_s: float, next_id: int) -> Doubt | None:
        """The question about the oldest code that has been shown long enough, if there is one."""
        for spot in self._spots:
            if spot.is_open and spot.doubt_id is None and _is_ripe(spot, t_s):
                plays = self._plays(spot, table, tracks)
                if plays:
                    spot.doubt_id = next_id
                    said = tuple(play for play, _ in plays[:MOST_PLAYS])
                    return Doubt(next_id, spot.place.zone, said, plays[0][1], spot.since_s)
        return None

    def settled(self) -> Iterator[int]:
        """The doubts that are none any more since this was asked last."""
        settled, self._settled = self._settled, []
        return iter(settled)

    def was_wrong(self, card: str) -> bool:
        """Whether a code that counted as this card has turned out to be another's."""
        return card in self._wrong

    def others(self, cards: Iterable[str], place: Place, but: Play, table: Table) -> tuple[Play, ...]:
        """What other cards would mean in a place, likeliest first, no two alike."""
        guesses = (self._places.play_at(face_of(card), place.zone, place.sideways, table) for card in cards)
        plays = dict.fromkeys(guess.play for guess in guesses if guess is not None and guess.play != but)
        return tuple(plays)[: MOST_PLAYS - 1]

    def answer(self, doubt_id: int) -> None:
        """People have said what it is, or that it is no play."""
        for spot in self._spots:
            if spot.doubt_id == doubt_id:
                spot.silent, spot.doubt_id = True, None
                self._answered.append(spot)

    def lost_sight(self) -> None:
        """The pictures had broken off: a code that nobody was asked about yet has to show anew."""
        self._spots = [spot for spot in self._spots if spot.silent or spot.doubt_id is not None]

    def _seen(self, sighting: Sighting, place: Place, at_mm: Point, t_s: float) -> Spot:
        spot = next((spot for spot in self._spots if spot.is_at(place.zone, at_mm)), None)
        if spot is None:
            spot = Spot(place, at_mm, t_s, sighting)
            cards = {card for card, _ in sighting.rivals}
            spot.silent = any(old.is_at(place.zone, at_mm) and cards & _cards(old) for old in self._answered)
            self._spots.append(spot)
        spot.sighting, spot.missed = sighting, 0
        spot.reads.append(dict(sighting.rivals))
        return spot

    def _forget(self, others: Iterable[Spot], shown: Sequence[tuple[str, str, Point]], view: View) -> None:
        """Spots where a card is read now, or nothing shows on several looks, are none any more."""
        self._wrong.clear()
        for spot in others:
            spot.missed += _is_read(spot.place.zone, view) and spot.place.zone not in view.unknown_zones
            cards = {card for card, zone, at_mm in shown if spot.is_at(zone, at_mm)}
            if spot.missed >= GONE_READS or cards:
                self._spots.remove(spot)
                self._wrong |= {spot.card} if cards and spot.card is not None and spot.card not in cards else set()
                self._settled += [spot.doubt_id] if spot.doubt_id is not None else []

    def _known_card(self, spot: Spot, tracks: Mapping[str, Track]) -> str | None:
        """The card that lies there as far as is known, if the code may be its own."""
        cards = _cards(spot)
        here = (t for t in tracks.values() if spot.is_at(t.zone, t.at_mm) and t.last_seen is None)
        return next((track.card for track in here if track.card in cards or any_copy(track.face) in cards), None)

    def _joint(self, spot: Spot, tracks: Mapping[str, Track], t_s: float) -> str | None:
        # Of a face alone there may be another copy elsewhere: people had better say.
        is_code = spot.sighting.by != FACE
        leader = spot.leader() if is_code and spot.is_open and _is_ripe(spot, t_s) and spot.doubt_id is None else None
        return leader if leader is not None and not _lies_elsewhere(tracks.get(leader)) else None

    def _plays(self, spot: Spot, table: Table, tracks: Mapping[str, Track]) -> list[tuple[Play, float]]:
        """What it may mean, no two alike: likeliest first, of plays about as likely the legal ones."""
        found: dict[Play, float] = {}
        for card, confidence in spot.likeliest():
            face, place = face_of(card), spot.place
            guess = self._places.play_at(face, place.zone, spot.sighting.sideways, table)
            if guess is not None and not _lies_elsewhere(tracks.get(card)):
                found.setdefault(guess.play, confidence)
        best = max(found.values(), default=0.0)
        return sorted(
            found.items(),
            key=lambda item: (item[1] < best - NEARLY_AS_LIKELY, bool(objections(table, item[0])), -item[1]),
        )


def _is_read(zone: str, view: View) -> bool:
    return view.read_zones is None or zone in view.read_zones


def _is_ripe(spot: Spot, t_s: float) -> bool:
    return len(spot.reads) >= READS_TO_ASK and t_s - spot.since_s >= ASKING_S


def _clear_first(read: Mapping[str, float]) -> str | None:
    ranked = sorted(read.items(), key=lambda item: -item[1])
    second = ranked[1][1] if len(ranked) > 1 else 0.0
    clear = ranked and ranked[0][1] >= LEAST_LEAD and ranked[0][1] - second >= CLEAR_MARGIN
    return ranked[0][0] if clear else None


def _cards(spot: Spot) -> set[str]:
    return {card for read in spot.reads for card in read}


def _lies_elsewhere(track: Track | None) -> bool:
    """Whether a card is known to lie somewhere, in sight or beneath others."""
    return track is not None and (track.last_seen is not None or (track.place is not None and track.confirmed))


def _as_read(spot: Spot) -> Sighting:
    card = spot.card or ""
    confidence = min(JOINT_CONFIDENCE, dict(spot.likeliest()).get(card, JOINT_CONFIDENCE))
    return replace(spot.sighting, card=card, face=face_of(card), confidence=confidence)

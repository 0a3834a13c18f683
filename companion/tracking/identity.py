"""Which of a face's cards a card is that was told by its face alone: they all look alike, so their places tell.

A card that lies where one like it lay is that card. One that appears elsewhere is new, unless one like it has just gone
from where it lay in sight: then it was carried or pushed. Where a card comes to lie on others and one like it lies
beneath them, it is new too, unless what lay between is no longer there.
"""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from companion.match.zone_plays import DISCARD_ZONE, DRAW_ZONE
from companion.rules.cards import Card
from companion.rules.play import Play
from companion.rules.referee import apply, objections
from companion.rules.table import Table
from companion.tracking.table_memory import Memory
from companion.tracking.track import Place, Track, near, spots
from companion.vision.faces.occlusion import share_covered
from companion.vision.view import FACE, Point, Quad, Sighting, View

SAME_MM = 6.0
"""A card that was in sight a moment ago and is seen so near to there has not been touched, or hardly."""

PUSHED_MM = 130.0
"""So far at most a card is pushed within its zone."""

BARED_MM, BARED_DEG = 10.0, 8.0
"""A card that comes to light again is seen so near to where it was covered."""

EXACT_MM = 1.2
"""So near to where one like it lay a card counts as that one: a hand seldom lays one so exactly upon another."""

COVERED_SHARE = 0.6
CARRIED_S = 6.0
"""So long a card may be in a hand between two places."""

HELD_UP_S = 2.0
"""So long a card is waited with that may have been carried from a place that is out of sight now."""

PUT_RIGHT_S = 10.0
DOUBLE_CONFIDENCE = 0.85
"""The most that is claimed of a card that may be the one that lay there, pushed a little."""

TOO_MANY_CONFIDENCE = 0.85
"""The most that is claimed of a card of which there are more by now than the deck has."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A card told by its face, in a zone."""

    sighting: Sighting
    place: Place
    at_mm: Point
    turn_deg: float
    px_per_mm: float
    began: int | None
    """The number of its stay when it was seen in this zone first; it is lower than those of cards laid upon it."""

    @property
    def zone(self) -> str:
        return self.place.zone

    @property
    def quad(self) -> Quad:
        return self.sighting.corners_px or ((0.0, 0.0),) * 4

    def off_mm(self, other: _Seen) -> float:
        """How far apart two lie: on the mat, or on the picture, for a mat is told anew after each push."""
        on_picture_mm = math.dist(self.sighting.centre_px, other.sighting.centre_px) / self.px_per_mm
        return min(math.dist(self.at_mm, other.at_mm), on_picture_mm)

    def off_deg(self, other: _Seen) -> float:
        return abs((self.turn_deg - other.turn_deg + 180) % 360 - 180)


class _Now(NamedTuple):
    """What is known beside the places of the cards."""

    view: View
    memory: Memory
    table: Table | None


class Copies:
    """Gives the cards of one table that are told by their faces names of their own: `roll-a`, `roll-b`."""

    def __init__(self) -> None:
        self._last: dict[str, _Seen] = {}
        """Every card by its name, as it was seen last."""

        self._seen_s: dict[str, float] = {}
        self._in_sight: frozenset[str] = frozenset()
        self._covered: frozenset[str] = frozenset()
        """Those that others have come to lie on."""

        self._since_s: dict[tuple[str, Card], float] = {}
        """Since when cards are waited with."""

        self._revealed: frozenset[str] = frozenset()
        """Those that may have lain there uncounted when they came to light."""

        self._names: dict[Card, Iterator[str]] = {}
        self.unclear: tuple[tuple[Card, Place], ...] = ()
        """What may have been laid upon one like it in the last view, and counts as that one: no picture tells."""

    def lost_sight(self) -> None:
        """The pictures had broken off: nothing has been waited with meanwhile."""
        self._since_s = {}

    def named(self, view: View, memory: Memory, table: Table | None) -> View:
        """The same view, each card in it that was told by its face with a name.

        What is not to be spoken of yet is left out.
        """
        seen = [item for item in _told(view) if item.zone not in view.unknown_zones and item.zone != DRAW_ZONE]
        others = tuple(s for s in view.sightings if s.by != FACE or s.face is Card.UNKNOWN)
        self.unclear = ()
        if not seen and not self._last:
            return view
        self._forget(memory, view)
        names = self._matched(seen, _Now(view, memory, table))
        self.unclear = tuple(self._may_be_another(names))
        new = names.keys() - self._last
        self._revealed |= frozenset(name for name in new if self._is_owed(name, names, memory, table))
        names = {name: self._as_it_began(item, self._last.get(name)) for name, item in names.items()}
        self._last |= names
        self._seen_s |= dict.fromkeys(names, view.t_s)
        self._covered = frozenset(self._covered_by(names))
        self._in_sight = frozenset(names)
        cards = (replace(self._bounded(name, names, table), card=name) for name in names)
        return replace(view, sightings=(*others, *cards))

    @staticmethod
    def _as_it_began(item: _Seen, was: _Seen | None) -> _Seen:
        return item if was is None or was.zone != item.zone else replace(item, began=was.began)

    def _may_be_another(self, names: Mapping[str, _Seen]) -> Iterator[tuple[Card, Place]]:
        for name, item in names.items():
            was = self._last.get(name)
            if was is not None and item.sighting.is_double and was.sighting.stay != item.sighting.stay:
                yield item.sighting.face, item.place

    def _is_owed(self, name: str, names: Mapping[str, _Seen], memory: Memory, table: Table | None) -> bool:
        """Whether a card may be one that the record has: laid just so upon one like it, and pushed off it now."""
        new = names[name]
        alike = (n for n, item in names.items() if n != name and _key(item) == _key(new))
        is_double = any(names[n].sighting.is_double for n in alike)
        return is_double and table is not None and memory.has_one_more(new.sighting.face, new.zone, table)

    def _bounded(self, name: str, names: Mapping[str, _Seen], table: Table | None) -> Sighting:
        """A sighting that people are asked about where it may be none of its own, or the deck has no more of them."""
        sighting = names[name].sighting
        alike = sum(other.rpartition("-")[0] == sighting.face.value for other in names)
        too_many = table is not None and alike > table.deck.get(sighting.face, 0)
        is_double = sighting.is_double or name in self._revealed
        most = TOO_MANY_CONFIDENCE if too_many else DOUBLE_CONFIDENCE if is_double else 1.0
        return replace(sighting, confidence=min(sighting.confidence, most))

    def _covered_by(self, names: Mapping[str, _Seen]) -> Iterator[str]:
        """The cards out of sight that lie beneath others, of which some are in sight now.

        What has only come to light again covers nothing.
        """
        upper = [item for name, item in names.items() if name not in self._covered]
        for name, was in self._last.items():
            above = (item for item in upper if item.zone == was.zone and not _was_there_before(item, was))
            is_covered = any(share_covered(was.quad, item.quad) >= COVERED_SHARE for item in above)
            if name not in names and (name in self._covered or is_covered):
                yield name

    def _forget(self, memory: Memory, view: View) -> None:
        gone = [
            name
            for name in self._last
            if name not in memory.tracks and name not in self._in_sight and view.t_s - self._seen_s[name] > CARRIED_S
        ]
        for name in gone:
            del self._last[name], self._seen_s[name]
        self._revealed -= frozenset(gone)

    def _matched(self, seen: Sequence[_Seen], now: _Now) -> dict[str, _Seen]:
        names: dict[str, _Seen] = {}
        left = list(seen)
        for claim in (self._staying, self._untouched, self._pushed, self._bared, self._carried):
            for item, name in claim(tuple(left), names, now):
                if name not in names and item in left:
                    names[name] = item
                    left.remove(item)
        held = [item for item in left if self._is_held_up(item, names, now.view)]
        new = [item for item in left if item not in held]
        self._since_s = {_key(item): self._since_s.get(_key(item), now.view.t_s) for item in held}
        return names | {self._new_name(item.sighting.face): item for item in new}

    # What a card may be, the likeliest first

    def _staying(self, left: Sequence[_Seen], _names: Mapping[str, _Seen], _now: _Now) -> Iterator[tuple[_Seen, str]]:
        """It has not been touched, for all that can be seen."""
        known = {(last.sighting.stay, *_key(last)): name for name, last in self._last.items()}
        for item in left:
            name = known.get((item.sighting.stay, *_key(item))) if item.sighting.stay is not None else None
            if name is not None:
                yield item, name

    def _untouched(self, left: Sequence[_Seen], names: Mapping[str, _Seen], now: _Now) -> Iterator[tuple[_Seen, str]]:
        """It lies where one like it was seen last: of several that lay there the one on top."""
        pairs = self._pairs(left, self._last.keys() - self._covered - names.keys(), SAME_MM)
        pairs.sort(key=lambda pair: -(self._last[pair[2]].sighting.stay or 0))
        buried = self._buried(left, names)
        pairs = [pair for pair in pairs if pair[0] < EXACT_MM or pair[2] not in buried]
        return ((item, name) for _, item, name in pairs if not self._is_another(item, name, now))

    def _pushed(self, left: Sequence[_Seen], names: Mapping[str, _Seen], now: _Now) -> Iterator[tuple[_Seen, str]]:
        """One like it has gone from elsewhere in its zone."""
        buried = self._buried(left, names)
        gone = [n for n in self._last if n not in names and n not in buried and self._has_gone(n, left, now.view)]
        pairs = self._pairs(left, gone, PUSHED_MM)
        return ((item, name) for _, item, name in pairs if not self._is_another(item, name, now))

    def _buried(self, left: Collection[_Seen], names: Mapping[str, _Seen]) -> frozenset[str]:
        """Cards that lay beneath another of which nothing is seen now: one like them lies upon both more likely."""
        shown = {item.sighting.face for item in left}
        hidden = [item for n, item in self._last.items() if n not in names and item.sighting.face not in shown]
        return frozenset(
            name
            for name, was in self._last.items()
            for upper in hidden
            if upper.zone == was.zone and _lies_upon(upper, was)
        )

    def _is_another(self, item: _Seen, name: str, now: _Now) -> bool:
        """Whether a card that lies a little beside where one like it lay is more likely to have been laid upon it.

        The picture does not tell: the rules break the tie, and people are asked.
        """
        if not item.sighting.is_double or now.table is None or item.off_mm(self._last[name]) < EXACT_MM:
            return False
        return any(_legal_play(item.sighting.face, item.place, table, now.memory) for table in _tables(now))

    def _bared(self, left: Sequence[_Seen], names: Mapping[str, _Seen], now: _Now) -> Iterator[tuple[_Seen, str]]:
        """One like it lay there beneath others, which have gone."""
        covered = [name for name in self._covered if name in now.memory.tracks and name not in names]
        for _, item, name in self._pairs(left, covered, BARED_MM):
            off_deg = item.off_deg(self._last[name])
            above = self._above(name, now.memory)
            if any(track.card in names and names[track.card].zone == item.zone for track in above):
                continue
            if off_deg <= BARED_DEG and _is_uncovered(above, names, now):
                yield item, name

    def _above(self, name: str, memory: Memory) -> Sequence[Track]:
        """The cards that were laid on one."""
        lower = memory.tracks[name]
        return [t for t in memory.in_zone(lower.zone) if t.order > lower.order and near(t, lower) and t.place]

    def _carried(self, left: Sequence[_Seen], names: Mapping[str, _Seen], now: _Now) -> Iterator[tuple[_Seen, str]]:
        """One like it has just gone from another zone."""
        for item in left:
            fresh = (n for n in self._alike(item, names) if now.view.t_s - self._seen_s[n] <= CARRIED_S)
            gone = [n for n in fresh if self._last[n].zone != item.zone and self._may_be_carried(n, left, now.view)]
            if gone:
                yield item, max(gone, key=lambda name: self._seen_s[name])

    def _may_be_carried(self, name: str, left: Iterable[_Seen], view: View) -> bool:
        """Whether a card has gone that could be taken: none is from beneath others on the discard pile."""
        was = self._last[name]
        pile = [item for n, item in self._last.items() if n != name and item.zone == was.zone == DISCARD_ZONE]
        is_beneath = any(_lies_upon(item, was) for item in pile)
        return not is_beneath and self._has_gone(name, left, view)

    def _is_held_up(self, item: _Seen, names: Mapping[str, _Seen], view: View) -> bool:
        """Whether one like it may have been carried here from a place that is out of sight."""
        if view.t_s - self._since_s.get(_key(item), view.t_s) >= HELD_UP_S:
            return False
        hidden = (n for n in self._alike(item, names) if self._last[n].zone in view.unknown_zones)
        return any(
            self._last[n].zone != item.zone
            and view.t_s - self._seen_s[n] <= PUT_RIGHT_S
            and DISCARD_ZONE in (item.zone, self._last[n].zone)
            for n in hidden
        )

    def _alike(self, item: _Seen, names: Collection[str]) -> Iterator[str]:
        return (n for n, last in self._last.items() if last.sighting.face is item.sighting.face and n not in names)

    def _has_gone(self, name: str, left: Iterable[_Seen], view: View) -> bool:
        """Whether a card that lay in sight is not where it was, and no other covers it."""
        was = self._last[name]
        if was.zone in view.unknown_zones or name in self._covered:
            return False
        # What has a name already lay beneath it, or elsewhere.
        new = (item for item in left if item.sighting.face is not was.sighting.face)
        return not any(share_covered(was.quad, item.quad) >= COVERED_SHARE for item in new)

    def _pairs(self, left: Sequence[_Seen], names: Collection[str], most_mm: float) -> list[tuple[float, _Seen, str]]:
        """Cards and names of one face in one zone with how far apart they are, the nearest first."""
        pairs = (
            (item.off_mm(self._last[name]), item, name)
            for item in left
            for name in names
            if self._last[name].sighting.face is item.sighting.face and self._last[name].zone == item.zone
        )
        return sorted((pair for pair in pairs if pair[0] <= most_mm), key=lambda pair: pair[0])

    def _new_name(self, face: Card) -> str:
        letters = self._names.setdefault(face, _letters())
        return f"{face.value}-{next(letters)}"


def _told(view: View) -> Iterator[_Seen]:
    told = tuple(s for s in view.sightings if s.by == FACE and s.face is not Card.UNKNOWN)
    px_per_mm = {mat.id: mat.px_per_mm for mat in view.mats}
    for sighting, place, at_mm, _ in spots(view.mats, told):
        yield _Seen(sighting, place, at_mm, _turn_deg(sighting), px_per_mm.get(place.mat, 1.0), sighting.stay)


def _turn_deg(sighting: Sighting) -> float:
    if sighting.corners_px is None:
        return 0.0
    (left, top), (right, bottom) = sighting.corners_px[:2]
    return math.degrees(math.atan2(bottom - top, right - left))


def _was_there_before(item: _Seen, other: _Seen) -> bool:
    """Whether a card has lain where it lies for longer than another did: it cannot have come to lie on that one."""
    return item.began is not None and other.began is not None and item.began < other.began


def _lies_upon(upper: _Seen, lower: _Seen) -> bool:
    """Whether a card came to lie on another, by the order in which they were told."""
    return _was_there_before(lower, upper) and share_covered(lower.quad, upper.quad) >= COVERED_SHARE


def _key(item: _Seen) -> tuple[str, Card]:
    return item.zone, item.sighting.face


def _letters() -> Iterator[str]:
    """a, b, …, z, aa, ab, …"""
    for length in itertools.count(1):
        yield from map("".join, itertools.product(string.ascii_lowercase, repeat=length))


def _tables(now: _Now) -> Iterator[Table]:
    """The table as the record has it, and as it is to be once a card counts that has just been seen elsewhere."""
    if now.table is None:
        return
    yield now.table
    for track in now.memory:
        place = track.last_seen if track.place is None else None
        play = _legal_play(track.face, place, now.table, now.memory) if place is not None else None
        if play is not None:
            yield apply(now.table, play)


def _legal_play(face: Card, place: Place, table: Table, memory: Memory) -> Play | None:
    """The play that a card new in a place is; None where it is illegal, or there is doubt which."""
    guess = memory.places.play_at(face, place.zone, place.sideways, table)
    return guess.play if guess is not None and guess.clear and not objections(table, guess.play) else None


def _is_uncovered(above: Sequence[Track], names: Collection[str], now: _Now) -> bool:
    """Whether the cards that lay over one are no longer there, for all that is known."""
    top = max(above, key=lambda track: track.order, default=None)
    if top is None or now.table is None or not top.confirmed or top.card in names:
        return True
    return not now.memory.still_recorded(top, top.zone, now.table)

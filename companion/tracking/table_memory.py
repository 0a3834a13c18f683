"""The cards of one table as they are remembered, against the table as the record has it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from companion.common.text import Term
from companion.match.zone_plays import DISCARD_ZONE, DRAW_ZONE, Places
from companion.rules.cards import Card, Family, card_name
from companion.rules.play import Play, Verb
from companion.rules.referee import objections
from companion.rules.table import Table
from companion.tracking.track import READS, Place, Track, may_cover, near, spots
from companion.vision.view import Sighting, View

GONE_S = 1.5


class Memory:
    """Every physical card that has been seen, by its name; `table` is the record's when we begin to look."""

    def __init__(self, places: Places, table: Table | None) -> None:
        self.places = places
        self.tracks: dict[str, Track] = {}
        self.order = 0
        self._in_zone: Mapping[str, Sequence[Track]] = {}
        self._hidden_since_s: dict[str, float] = {}
        """Since when the zones that are out of sight are so."""

        self._seen_s: float | None = None
        """When a view was taken in last."""

        self._gap_since_s: float | None = None
        """Since when nothing has been seen, until the next view: whatever it shows may have come since then."""

        self._owed: Counter[tuple[str, Card]] = Counter()
        self._before_us = Counter(places.lying(table)) if table is not None else Counter()

    def __iter__(self) -> Iterator[Track]:
        return iter(self.tracks.values())

    def leave_behind(self, tracks: Iterable[Track]) -> None:
        """These cards lie there from the hand before."""
        for t in tracks:
            left = Track(t.card, t.face, place=t.place, at_mm=t.at_mm, of_last_hand=True)
            left.recent.extend(t.recent)
            self.tracks[t.card] = left

    def forget(self, track: Track) -> None:
        """A card is off the table."""
        del self.tracks[track.card]

    def let_go(self, track: Track, table: Table) -> None:
        """A card is off the table by the record too; a beaten hazard is on its way to the discard pile."""
        self.forget(track)
        if track.zone != DISCARD_ZONE and self.has_one_more(track.face, DISCARD_ZONE, table):
            self._owed[(DISCARD_ZONE, track.face)] += 1

    # Seeing

    def lost_sight(self) -> None:
        """The pictures had broken off after the last view."""
        self._gap_since_s = self._seen_s
        for track in self:
            track.lose_sight()

    def observe(self, view: View, also: Sequence[Sighting] = ()) -> None:
        """Takes in a view, and sightings that follow from it. An unknown zone says nothing."""
        seen: set[str] = set()
        earliest_s = view.t_s if self._gap_since_s is None else self._gap_since_s
        for sighting, place, at_mm, sureness in spots(view.mats, (*also, *view.sightings)):
            if sighting.card is None or sighting.face is Card.UNKNOWN or place.zone == DRAW_ZONE:
                continue
            if place.zone not in view.unknown_zones:
                track = self.tracks.setdefault(sighting.card, Track(sighting.card, sighting.face))
                if track.last_seen != place and not track.was_covered_in(place):
                    track.hidden_since_s = self._hidden_since_s.get(place.zone, earliest_s)
                track.see(place, sighting, at_mm, sureness, view.t_s)
                seen.add(sighting.card)
        for card, track in self.tracks.items():
            if is_out_of_sight(track, view):
                track.unseen_since_s = None
            elif card not in seen:
                track.miss(view.t_s, covered=track.held is not None and track.held.zone in view.unknown_zones)
        self._hidden_since_s = {zone: self._hidden_since_s.get(zone, earliest_s) for zone in view.unknown_zones}
        self._seen_s, self._gap_since_s = view.t_s, None
        self._in_zone = _by_zone(self)

    # What hides what

    def is_hidden(self, track: Track, table: Table) -> bool:
        """Whether a card that is not seen may lie beneath another."""
        return not track.lifted and any(self.covers(other, track, table) for other in self.in_zone(track.zone))

    def covers(self, upper: Track, lower: Track, table: Table) -> bool:
        """Whether one card may hide another; a discard that has only come to light hides nothing."""
        new = upper.is_new and not upper.confirmed
        return may_cover(upper, lower) and not (new and self.comes_to_light(upper, lower.zone, table))

    def is_laid_upon(self, track: Track) -> bool:
        """Whether a card that does not count yet is hidden by a newer one; one that was mislaid has gone elsewhere."""
        held = track.held
        if held is None or track.last_seen is not None or not self.places.belongs(track.face, held.zone):
            return False
        newer = (t for t in self.in_zone(held.zone) if t.is_new and not t.confirmed)
        return any(near(t, track) for t in newer)

    def in_zone(self, zone: str) -> Sequence[Track]:
        """The cards that count as lying in a zone, or were seen there, when the view was taken in."""
        return self._in_zone.get(zone, ())

    def lies_on(self, track: Track, table: Table) -> bool:
        """Whether a card that we know of, and the record too, lay where this one appeared: then this one is new."""
        known = (o for o in self if o.confirmed and o.missing_since_s is None and may_cover(track, o))
        return any(self.still_recorded(other, other.zone, table) for other in known)

    def coming(self, zone: str) -> Iterator[Track]:
        """The cards seen in a zone that are not in the record and have not been laid there yet."""
        seen = (t for t in self if t.last_seen is not None and t.last_seen.zone == zone)
        return (t for t in seen if t.is_new and not t.confirmed)

    def lay_down(self, track: Track, place: Place) -> None:
        """A card counts as lying there, above all that lies there."""
        self.order += 1
        track.place, track.order, track.held = place, self.order, None

    # Against the record

    def laid(self, face: Card, zone: str) -> int:
        """How many of a card have been confirmed in a zone."""
        return sum(track.confirmed and track.face is face and track.zone == zone for track in self)

    def recorded(self, face: Card, zone: str, table: Table) -> int:
        """How many of a card the record has in a zone."""
        return Counter(self.places.lying(table))[(zone, face)]

    def still_recorded(self, track: Track, zone: str, table: Table) -> bool:
        """Whether the record has as many of a card in a zone as have been laid there."""
        return self.recorded(track.face, zone, table) >= self.laid(track.face, zone)

    def has_one_more(self, face: Card, zone: str, table: Table) -> bool:
        """Whether the record has one more of a card in a zone than have been seen laid there."""
        return self.recorded(face, zone, table) > self.laid(face, zone)

    def expect(self, face: Card, zone: str) -> None:
        """A card of this face will come to lie in a zone, or lies there unread: the record has it already."""
        here = [track for track in self if track.face is face and track.zone == zone]
        if any(track.asked for track in here):
            return
        dismissed = next((track for track in here if track.left_alone and not track.confirmed), None)
        if dismissed is not None:
            dismissed.confirmed, dismissed.left_alone = True, False
            return
        self._owed[(zone, face)] += 1

    def adopt(self, track: Track, place: Place, table: Table) -> bool:
        """Whether the record has this card already: entered by hand, or lying there before we looked."""
        key = (place.zone, track.face)
        if self._owed[key]:
            self._owed[key] -= 1
            return True
        if (
            self._before_us[key]
            and track.face in self.places.shows(table, place.zone)
            and not self.lies_on(track, table)
        ):
            self._before_us[key] -= 1
            return True
        return track.face.family is Family.SPECIAL and self.has_one_more(track.face, place.zone, table)

    # The discard pile

    def comes_to_light(self, track: Track, zone: str, table: Table) -> bool:
        """Whether a new card may be a discard from before we looked, of which the one on it has been taken."""
        beneath = zone == DISCARD_ZONE and track.face in table.discards[-2:-1] and self._before_us[(zone, track.face)]
        return bool(beneath) and not objections(table, taking(table))

    def lifted_discard(self, table: Table) -> Track | None:
        """The top of the discard pile, while it is not seen there and may have been taken."""
        if objections(table, taking(table)):
            return None
        gone = (t for t in self if t.confirmed and t.zone == DISCARD_ZONE and t.face is table.discards[-1])
        top = max(gone, key=lambda track: track.order, default=None)
        return top if top is not None and (top.lifted or top.missing_since_s is not None) else None

    def has_uncovered(self, track: Track, table: Table) -> bool:
        """Whether the card under the top discard came to light as that went: it need not be waited for any longer."""
        if track.missing_since_s is None or track is not self.lifted_discard(table):
            return False
        beneath = [t for t in self.in_zone(DISCARD_ZONE) if t.order < track.order and t.recent.count(t.place) == READS]
        return any(t.confirmed and t.seen_since_s >= track.missing_since_s for t in beneath)

    def discards_are_gone(self) -> bool:
        """Whether no card that was seen on the discard pile is left, and no other shows there."""
        known = (track for track in self if track.confirmed and track.zone == DISCARD_ZONE)
        return all(track.missing_since_s is not None for track in known) and not any(self.coming(DISCARD_ZONE))


def taking(table: Table) -> Play:
    """The play of the player to move, should he take the top of the discard pile."""
    return Play(Verb.TAKE, table.player_to_move)


def is_out_of_sight(track: Track, view: View) -> bool:
    """Whether the view says nothing about the zone that a card lies in."""
    return track.place is not None and track.place.zone in view.unknown_zones


def named(face: Card) -> Term:
    """The card at the beginning of a sentence."""
    name = card_name(face)
    return name.called(f"The {name}") if name[0].isdigit() else name.begun()


def where(zone: str) -> Term:
    """The zone in words; the match knows whose mat it is."""
    mat, _, kind = zone.partition("/")
    is_pile = mat == "table" or kind in ("battle", "speed")
    return Term(f"the {kind} pile" if is_pile else f"the {kind} area", "zone", zone)


def _by_zone(tracks: Iterable[Track]) -> Mapping[str, Sequence[Track]]:
    cards: defaultdict[str, list[Track]] = defaultdict(list)
    for track in tracks:
        for zone in {place.zone for place in (track.place, track.last_seen) if place is not None}:
            cards[zone].append(track)
    return cards

"""The one memory of the table: which card lies where, since when, covered or gone.

`update` takes one look after the other. What the record has, and the rules allow, is only a hint where two cards look
alike (`Expected`); what the tracks mean is `reconcile`'s to say.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from companion.match.zone_plays import Places
from companion.rules.cards import Card
from companion.tabletop.mat_layout import DRAW_ZONE
from companion.tracking.identity import COVERING_MM, SPREAD, Expected, Seen, assign
from companion.tracking.track import (
    GONE_LOOKS,
    GONE_S,
    LOOKS,
    NUDGE_MM,
    SETTLED_S,
    Sight,
    State,
    Track,
    distance_mm,
    placed,
)
from companion.vision.view import View

ARM_S = 8.0
"""What is over a zone for longer is no arm that lays a card."""

ARM_RESTS_S = 0.8
"""A new card waits at most so long for the arm over its mat to leave."""

MISLAID_S = 4.0
"""A card waits so long on a pile where it does not belong: mostly it is put right at once."""

PILE_MM, SPREAD_MM = 20.0, 6.0
"""Of two cards with one face nearer to each other than this only one can show enough to be told: in a pile, spread."""

SEVERAL = 2
"""So many cards of a pile that all look other than they did were touched, or stand in other light."""

GHOST_MM = 3.0
"""Nearer than this to one like it, of which the eye tells that it still lies there, a pile's card may be that one."""

MOST_GONE = 120
"""Cards that have gone are remembered up to this number: more than a deck has."""


@dataclass(frozen=True, slots=True)
class Tracks:
    """All that is remembered of a table."""

    cards: tuple[Track, ...] = ()
    """In the order in which they came."""

    t_s: float = 0.0
    """The time of the last look."""

    last_serial: int = 0
    hand: int = -1
    """The event that began the hand at the last look."""

    hidden_since_s: Mapping[str, float] = field(default_factory=dict)
    """Since when the zones that are out of sight are so."""

    unread_zones: frozenset[str] = frozenset()
    """The zones in which the last look saw a card that it could not tell."""

    begun_s: float = math.inf
    """When the first look was taken."""

    gap_since_s: float | None = None
    """Since when nothing has been seen, until the next look: whatever it shows may have come since then."""

    bare_since_s: float | None = None
    """Since when every mat has been seen with no card on it and nothing over it."""

    pile_empty_since_s: float | None = None
    """Since when the marker under the draw pile shows."""

    draw_pile_empty: bool | None = None
    pile_seen_seq: int = -1
    """The record's last event when the draw pile was seen last."""

    pile_empty_seq: int = -1
    """The record's last event when the marker under it was seen last."""

    @property
    def there(self) -> tuple[Track, ...]:
        """The cards that were laid and have not gone."""
        return tuple(track for track in self.cards if track.is_there)

    def arms(self) -> frozenset[str]:
        """The zones that an arm may be over."""
        return frozenset(
            zone for zone, since_s in self.hidden_since_s.items() if self.t_s - since_s < ARM_S and zone != DRAW_ZONE
        )

    def of_serial(self, serial: int) -> Track | None:
        """The track of that serial."""
        return next((track for track in self.cards if track.serial == serial), None)


def update(tracks: Tracks, view: View, expected: Expected, mats: Iterable[str], seq: int) -> Tracks:
    """Return the memory after a look.

    `mats` are those of the sides; `seq` is the record's last event. A view that is not to be trusted says nothing,
    and nothing has been missing meanwhile.
    """
    if view.trouble is not None:
        return _paused(tracks)
    earliest_s = view.t_s if tracks.gap_since_s is None else tracks.gap_since_s
    alive = [track for track in tracks.cards if track.state is not State.GONE]
    seen = list(_seen(view, alive))
    open_ = [track for track in alive if track.zone not in view.unknown_zones]
    disturbed = tracks.unread_zones.union(tracks.hidden_since_s, view.unknown_zones)
    found = assign(seen, open_, expected, disturbed, {mat.id: mat.px_per_mm for mat in view.mats})
    now: dict[int, Track] = {}
    serial = tracks.last_serial
    # The eye numbers cards told by their faces from below: a pile that lies there from the first is in order.
    for n, item in sorted(enumerate(seen), key=lambda one: one[1].sighting.stay or 0):
        known = found.get(n)
        if known is None:
            is_double = _may_be_double(item, open_)
            is_read = view.read_zones is None or item.place.zone in view.read_zones
            moved = is_read and item.place.zone in disturbed
            if is_double and not (moved and expected.is_legal(item.sighting.face, item.place)):
                continue
            serial += 1
            since_s = tracks.hidden_since_s.get(item.place.zone, earliest_s)
            known = Track(
                serial,
                item.sighting.face,
                item.sighting.card,
                item.place,
                since_s=view.t_s,
                earliest_s=since_s,
                is_double=item.sighting.is_double or is_double,
            )
        now[known.serial] = known.seen(item.sighting, item.place, view.t_s)
    arms = {zone.partition("/")[0] for zone in _arms(tracks, view)}
    hidden = _hidden(open_, now)
    told = [
        _told(track, now, hidden, view, arms, seq)
        for track in (*alive, *(t for s, t in now.items() if s > tracks.last_serial))
    ]
    cards = _elsewhere(told, seq)
    gone = [track for track in tracks.cards if track.state is State.GONE]
    kept = [track for track in cards if track.laid_seq is not None or track.state is not State.GONE]
    return Tracks(
        cards=tuple(sorted((*gone[-MOST_GONE:], *kept), key=lambda track: track.serial)),
        t_s=view.t_s,
        unread_zones=frozenset(item.place.zone for item in seen if item.sighting.face is Card.UNKNOWN),
        begun_s=min(tracks.begun_s, view.t_s),
        last_serial=serial,
        hidden_since_s={zone: tracks.hidden_since_s.get(zone, earliest_s) for zone in view.unknown_zones},
        bare_since_s=_since(tracks.bare_since_s, _is_bare(view, mats), view.t_s),
        pile_empty_since_s=_since(tracks.pile_empty_since_s, view.draw_pile_empty is True, view.t_s),
        draw_pile_empty=view.draw_pile_empty,
        pile_seen_seq=seq if view.draw_pile_empty is False else tracks.pile_seen_seq,
        pile_empty_seq=seq if view.draw_pile_empty is True else tracks.pile_empty_seq,
    )


def _seen(view: View, tracks: Sequence[Track]) -> Iterator[Seen]:
    """The sightings with their places; where nothing looks as it did, no picture tells what was nudged."""
    sightings = [(sighting, place) for sighting, place in placed(view) if place.zone != DRAW_ZONE]
    stays = {sighting.stay for sighting, _ in sightings}
    for sighting, place in sightings:
        before = [t for t in tracks if t.zone == place.zone and t.is_in_sight and t.stay is not None]
        alike = [t for t in before if t.face is sighting.face]
        is_upset = any(len(b) >= SEVERAL and not any(t.stay in stays for t in b) for b in (before, alike))
        yield Seen(replace(sighting, is_double=sighting.is_double or is_upset), place)


def _may_be_double(item: Seen, tracks: Iterable[Track]) -> bool:
    """True if the top card there looks alike: what is seen may be that one, its edges found badly."""
    is_pile = item.place.zone.partition("/")[2] not in SPREAD
    reach_mm = (PILE_MM if item.sighting.stay is None else GHOST_MM) if is_pile else SPREAD_MM
    near = [t for t in tracks if t.zone == item.place.zone and distance_mm(t.place, item.place) <= reach_mm]
    top = max(near, key=lambda t: t.serial, default=None)
    is_face = item.sighting.card is None and item.sighting.face is not Card.UNKNOWN
    return is_face and top is not None and top.card is None and top.face is item.sighting.face


def lost_sight(tracks: Tracks) -> Tracks:
    """Return the memory after the pictures broke off: what had been seen of a card that did not count is void."""
    cards = (replace(t, recent=(), bare_since_s=None, bare_looks=0) for t in tracks.cards if t.state is not State.SEEN)
    return replace(_paused(tracks), cards=tuple(cards), gap_since_s=tracks.t_s)


def _paused(tracks: Tracks) -> Tracks:
    """Nothing that was missing or waited for counts on."""
    cards = tuple(replace(t, bare_since_s=None) if t.bare_since_s is not None else t for t in tracks.cards)
    return replace(tracks, cards=cards, hidden_since_s={}, bare_since_s=None, pile_empty_since_s=None)


def _since(since_s: float | None, holds: bool, t_s: float) -> float | None:
    return (t_s if since_s is None else since_s) if holds else None


def _is_bare(view: View, mats: Iterable[str]) -> bool:
    return not view.sightings and not view.unknown_zones and {mat.id for mat in view.mats} >= set(mats)


def _arms(tracks: Tracks, view: View) -> Iterator[str]:
    for zone in view.unknown_zones:
        if view.t_s - tracks.hidden_since_s.get(zone, view.t_s) < ARM_S and zone != DRAW_ZONE:
            yield zone


def _told(
    track: Track,
    now: Mapping[int, Track],
    hidden: frozenset[int],
    view: View,
    arms: frozenset[str] | set[str],
    seq: int,
) -> Track:
    """The track after what this look says of it."""
    seen = now.get(track.serial)
    if seen is not None:
        settled = seen.is_steady and not _waits(seen, view.t_s, arms)
        return seen.after(Sight.SETTLED if settled else Sight.GLIMPSED, view.t_s, seq)
    if track.zone in view.unknown_zones:
        was_settled = track.is_in_sight and track.seen_s - track.since_s >= SETTLED_S and _belongs(track)
        return track.after(Sight.SETTLED if was_settled else Sight.BLIND, view.t_s, seq)
    if track.serial in hidden:
        return track.hidden().after(Sight.HIDDEN, view.t_s, seq)
    missed = track.missed(view.t_s, is_lifted=any(_came_to_light(lower, track) for lower in now.values()))
    if track.state is State.SEEN:
        left = not any(missed.recent[-LOOKS + 1 :])
    else:
        long_enough = missed.is_lifted or view.t_s - (missed.bare_since_s or 0.0) >= GONE_S
        left = missed.bare_looks >= GONE_LOOKS and long_enough
    return missed.after(Sight.LEFT if left else Sight.BARE, view.t_s, seq)


def _waits(track: Track, t_s: float, arms: frozenset[str] | set[str]) -> bool:
    """True if it is too early to say that a card was laid: it is put right, or the arm is still there."""
    lies_s = t_s - track.since_s
    if lies_s < MISLAID_S and not _belongs(track):
        return True
    mat = track.zone.partition("/")[0]
    return lies_s < ARM_RESTS_S and mat != "table" and mat in arms


def _belongs(track: Track) -> bool:
    """True if a card may be meant to lie in its zone."""
    return track.face is Card.UNKNOWN or Places.belongs(track.face, track.zone)


def _hidden(before: Sequence[Track], now: Mapping[int, Track]) -> frozenset[int]:
    """Return the serials of unseen cards over which another may lie: one in sight, or one that is hidden itself."""
    over = list(now.values())
    places = {track.serial: track.place for track in before}
    pushed = {s for s, t in now.items() if s in places and distance_mm(places[s], t.place) > NUDGE_MM}
    hidden = set()
    for track in sorted(before, key=lambda track: -track.serial):
        unseen = track.serial not in now
        if unseen and any(_may_cover(upper, track) or _is_pushed_over(upper, track, pushed) for upper in over):
            hidden.add(track.serial)
            if track.is_there:
                over.append(track)
    return frozenset(hidden)


def _is_pushed_over(upper: Track, lower: Track, pushed: Collection[int]) -> bool:
    """True if a card that lay beside another, however long, may have been pushed over it, now or before."""
    beside = upper.zone == lower.zone and lower.zone.partition("/")[2] in SPREAD
    was_pushed = upper.serial in pushed or lower.state is State.COVERED
    return beside and was_pushed and distance_mm(upper.place, lower.place) <= COVERING_MM


def _came_to_light(lower: Track, upper: Track) -> bool:
    """True if a pile's card is seen now that another hid until now."""
    is_pile = upper.zone.partition("/")[2] not in SPREAD
    return is_pile and lower.state is State.COVERED and _may_cover(upper, lower)


def _may_cover(upper: Track, lower: Track) -> bool:
    newer = upper.serial > lower.serial and upper.zone == lower.zone
    return newer and distance_mm(upper.place, lower.place) <= COVERING_MM


def _elsewhere(cards: Iterable[Track], seq: int) -> list[Track]:
    """The tracks, those of stickers that have come to lie elsewhere gone from where they were."""
    cards = list(cards)
    latest = {track.card: track.serial for track in cards if track.card is not None and track.is_there}
    return [
        replace(track, state=State.GONE, gone_seq=seq)
        if track.card is not None and track.is_there and latest[track.card] > track.serial
        else track
        for track in cards
    ]

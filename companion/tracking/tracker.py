"""The one memory of the table: which card lies where, since when, covered or gone.

`update` takes one look after the other. What the record has, and the rules allow, is only a hint where two cards look
alike (`Hint`); what the tracks mean is `reconcile`'s to say.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter

from companion.match.zone_plays import Places
from companion.rules.cards import HAZARD_OF, Card, Family
from companion.tabletop.mat_layout import DISCARD_ZONE, DRAW_ZONE, TABLE, is_pile, mat_of
from companion.tracking.hand_record import Hint
from companion.tracking.identity import COVERING_MM, SAME_MM, UNREAD_MM, Detection, Zones, assign, detections_in
from companion.tracking.track import (
    AGREEING_LOOKS,
    LAYING_S,
    MOMENT_S,
    NUDGE_MM,
    PUT_RIGHT_S,
    TURN_S,
    Observation,
    State,
    Track,
    by_zone,
    distance_mm,
)
from companion.vision.view import View

SHIFTED_MM = 0.5
"""Minimum distance of a card from where it lay for one like it to have been laid on it meanwhile: of 209 cards that an
arm had been over, 99.5 % lay within 0.3 mm of where they had lain, and one that got its like on it 1.1 mm beside."""

MOST_GONE = 120  # number of cards remembered after they have gone: more than a deck has


@dataclass(frozen=True)
class Tracks:
    """All that is remembered of a table; what is asked of it more than once a look is worked out once."""

    cards: tuple[Track, ...] = ()  # in the order in which they came
    t_s: float = 0.0  # the time of the last look
    begun_s: float = math.inf  # the time of the first look
    last_serial: int = 0
    hand_seq: int = -1  # the event that began the hand at the last look
    hidden_since_s: Mapping[str, float] = field(default_factory=dict)  # since when each zone that is out of sight is so
    hidden_until_s: Mapping[str, float] = field(default_factory=dict)  # when each zone was last out of sight
    unread_zones: frozenset[str] = frozenset()  # the zones in which the last look saw a card that it could not read
    undecided: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    """Since when cards are seen that may be their likes, nudged, and when they were laid at the earliest, by the eye's
    numbers: once the record says that they can be new, they have lain there since then."""

    broken_s: float = -math.inf  # when the pictures broke off last: what the next look shows may be newer than that
    bare_since_s: float | None = None  # since when every mat has been seen with no card on it and nothing over it
    pile_since_s: Mapping[bool, float] = field(default_factory=dict)
    """Since when the draw pile (False) or the marker under it (True) has been in sight; nothing where neither is."""

    pile_seqs: Mapping[bool, int] = field(default_factory=dict)
    """The record's last event when the pile was seen last, by whether it was empty."""

    @cached_property
    def by_serial(self) -> Mapping[int | None, Track]:
        return {track.serial: track for track in self.cards}

    @cached_property
    def there(self) -> tuple[Track, ...]:
        """The cards that were laid and have not gone."""
        return tuple(track for track in self.cards if track.is_there)

    @cached_property
    def alive(self) -> tuple[Track, ...]:
        """The cards that have not gone."""
        return tuple(track for track in self.cards if track.state is not State.GONE)

    @cached_property
    def zones(self) -> Zones:
        """The cards that have not gone, by their zones."""
        return by_zone(self.alive)

    @cached_property
    def coming(self) -> tuple[Track, ...]:
        """The cards that have been seen too seldom, or too short a time, to count."""
        return tuple(track for track in self.alive if track.state is State.SEEN)

    @cached_property
    def gone(self) -> tuple[Track, ...]:
        """The cards that have gone, as far as they are remembered."""
        return tuple(track for track in self.cards if track.state is State.GONE)

    @property
    def zones_under_arms(self) -> frozenset[str]:
        """The zones that an arm may be over."""
        hidden = self.hidden_since_s.items()
        return frozenset(zone for zone, since_s in hidden if self.t_s - since_s < TURN_S and zone != DRAW_ZONE)

    @property
    def unseen_zones(self) -> frozenset[str]:
        """The zones that have not been in sight since the pictures broke off: a play there may have been missed."""
        return frozenset(zone for zone, since_s in self.hidden_since_s.items() if since_s == self.broken_s)

    @property
    def bare_s(self) -> float:
        """How long the mats have been bare."""
        return 0.0 if self.bare_since_s is None else self.t_s - self.bare_since_s

    def may_be_carried_off(self, old: Track, new: Track) -> bool:
        """True if a card that has come to the discard pile, told by its face, may be one that had just gone.

        That is a hazard; or the remedy that has beaten one, if both have gone together.
        """
        is_like = new.zone == DISCARD_ZONE != old.zone and new.card is None and new.face is old.face
        if not is_like or not 0 <= new.since_s - old.seen_s <= TURN_S:
            return False
        spot = (old.zone, HAZARD_OF.get(old.face))
        left = (t for t in self.cards if (t.zone, t.face) == spot and t.absent_since_s is not None)
        return new.is_laid_off_hazard or any(abs(t.seen_s - old.seen_s) <= MOMENT_S for t in left)

    def earliest_s(self, zone: str, t_s: float) -> float:
        """Return when what a look at that time shows in a zone may have been laid at the earliest."""
        return self.hidden_since_s.get(zone, self.t_s if self.broken_s == self.t_s else t_s)


def update(tracks: Tracks, view: View, hint: Hint, seq: int) -> Tracks:
    """Return the memory after a look.

    `seq` is the record's last event. A view that is not to be trusted says nothing, and nothing has been missing
    meanwhile. A mat that is not found is out of sight with all that lies there.
    """
    if view.trouble is not None:
        return _paused(tracks)
    found = {mat.id for mat in view.mats}
    lost = {zone for zone in tracks.zones if mat_of(zone) not in found}
    view = replace(view, unknown_zones=view.unknown_zones | lost)
    tracks = _known_again(tracks, view, hint)
    look, is_empty = _Look(tracks, view, hint), view.draw_pile_empty
    is_bare = not view.sightings and not view.unknown_zones and found >= hint.record.places.mats.keys()
    now = replace(
        tracks,
        t_s=view.t_s,
        begun_s=min(tracks.begun_s, view.t_s),
        hidden_since_s={zone: tracks.earliest_s(zone, view.t_s) for zone in view.unknown_zones},
        hidden_until_s={**tracks.hidden_until_s, **dict.fromkeys(view.unknown_zones, view.t_s)},
        unread_zones=frozenset(one.place.zone for one in look.detections if one.sighting.face is Card.UNKNOWN),
        undecided={**tracks.undecided, **look.undecided},
        bare_since_s=None if not is_bare else view.t_s if tracks.bare_since_s is None else tracks.bare_since_s,
        pile_since_s={} if is_empty is None else {is_empty: tracks.pile_since_s.get(is_empty, view.t_s)},
        pile_seqs=tracks.pile_seqs if is_empty is None else {**tracks.pile_seqs, is_empty: seq},
    )
    new = [track for serial, track in look.seen.items() if serial > tracks.last_serial]
    cards = _moved_on([look.observed(track, now, seq) for track in (*tracks.alive, *new)], seq)
    kept = [track for track in cards if track.laid_seq is not None or track.state is not State.GONE]
    return replace(
        now,
        cards=tuple(sorted((*tracks.gone[-MOST_GONE:], *kept), key=attrgetter("serial"))),
        last_serial=max((tracks.last_serial, *look.seen)),
    )


class _Look:
    """One look against what was remembered `before`."""

    def __init__(self, before: Tracks, view: View, hint: Hint) -> None:
        self._before, self._view, self._hint = before, view, hint
        self._in_sight = {zone: cards for zone, cards in before.zones.items() if zone not in view.unknown_zones}
        self._disturbed = before.unread_zones.union(before.hidden_since_s)
        self.detections = list(detections_in(view, self._in_sight))
        self.undecided: dict[int, tuple[float, float]] = {}
        self.seen = self._seen()  # the tracks that it sees, by serial, new ones among them
        doubles = {sighting.stay for sighting in view.sightings if sighting.is_double}
        self._covered = _covered(self._in_sight, self.seen, doubles)
        self._uncovered = [t for t in self.seen.values() if t.state is State.COVERED and is_pile(t.zone)]

    def _seen(self) -> dict[int, Track]:
        found = assign(self.detections, self._in_sight, self._hint, self._disturbed)
        seen_too = {track.serial for track in found.values() if track is not None}
        seen: dict[int, Track] = {}
        serial = self._before.last_serial + 1
        # The eye numbers cards told by their faces from below: a pile that lies there from the first is in order.
        for n, one in sorted(enumerate(self.detections), key=lambda item: item[1].sighting.stay or 0):
            track = found[n] or self._new_track(one, serial, seen_too)
            if track is not None:
                # What the eye takes for the same card may lie beside where it lay before something was over it.
                is_same = track.stay is not None and track.stay == one.sighting.stay
                is_shifted = is_same and track.zone in self._disturbed and one.off_mm(track) > SHIFTED_MM
                seen[track.serial] = track.seen(one.sighting, one.place, self._view.t_s, is_shifted=is_shifted)
                serial = max(serial, track.serial + 1)
        return seen

    def _new_track(self, one: Detection, serial: int, seen_too: Collection[int]) -> Track | None:
        """Return the track of a card that is new; None where it may be the top one there, its edges found badly.

        `seen_too` are the serials of the cards that are seen beside it.
        """
        sighting, place, t_s = one.sighting, one.place, self._view.t_s
        reach_mm = (UNREAD_MM if sighting.stay is None else SAME_MM) if is_pile(place.zone) else NUDGE_MM
        there = self._in_sight.get(place.zone, ())
        near = [t for t in there if distance_mm(t.place, place) <= reach_mm]
        is_face = sighting.card is None and sighting.face is not Card.UNKNOWN
        is_like = is_face and bool(near) and near[-1].card is None and near[-1].face is sighting.face
        # Beside the only one of its face the eye tells two apart; in a column, or on a pile, one is pushed as often.
        is_only = sum(t.face is sighting.face for t in there) == 1 and not (is_pile(place.zone) or sighting.is_double)
        is_beside = is_like and is_only and near[-1].serial in seen_too
        times = self._before.undecided.get(sighting.stay or 0, (t_s, self._before.earliest_s(place.zone, t_s)))
        may_be_new = is_beside or self._hint.is_legal(sighting.face, place)
        if is_like and not (place.zone in self._disturbed and may_be_new):
            if sighting.stay is not None:
                self.undecided[sighting.stay] = times
            return None
        alike = [t.serial in seen_too for t in there if t.face is sighting.face]
        is_double = sighting.is_double or (is_like and near[-1].serial not in seen_too)
        is_double = is_double and not (alike and all(alike))  # those that it may be are all seen beside it
        track = Track(serial, sighting.face, sighting.card, place, is_double=is_double)
        return track._replace(since_s=times[0], earliest_s=times[1])

    def observed(self, track: Track, now: Tracks, seq: int) -> Track:
        """Return a track after this look; `now` is all that it tells but for the cards."""
        seen = self.seen.get(track.serial)
        if seen is not None:
            is_new = seen.state is not State.LYING and sum(seen.recent) >= AGREEING_LOOKS
            return seen.after(Observation.SETTLED, seq) if is_new and not _is_too_early(seen, now) else seen
        if track.zone in self._view.unknown_zones:
            return track
        if track.serial in self._covered:
            if (left_s := self._drawn_out_s(track)) is not None:
                return track._replace(seen_s=left_s).after(Observation.VANISHED, seq)
            if track.state is State.COVERED and not track.recent and track.absent_since_s is None:
                return track
            return track._replace(recent=(), absent_since_s=None).after(Observation.COVERED, seq)
        lower = (t for t in self._uncovered if t.zone == track.zone)
        missed = track.missed(self._view.t_s, is_lifted=any(_may_cover(track, each) for each in lower))
        return missed.after(Observation.VANISHED, seq) if missed.has_vanished(self._view.t_s) else missed

    def _drawn_out_s(self, track: Track) -> float | None:
        """Return when a beaten hazard was drawn out from beneath what has beaten it; None if it was not.

        Its like has come to the discard pile: with the last card laid upon it, or once it had shown beneath that, or a
        hand been over it, again. From beneath the next hazard it is hardly ever drawn out: then only if that like one
        cannot have been discarded.
        """
        is_hazard = track.face.family is Family.HAZARD and track.zone != DISCARD_ZONE and track.card is None
        upon = [t for t in self._in_sight[track.zone] if t.serial > track.serial]
        if not is_hazard or not upon or not self._hint.is_beaten(track.face, track.zone):
            return None
        is_deep = any(t.face.family is Family.HAZARD for t in upon)
        laid_off = (t for t in self._before.there if t.is_laid_off_hazard and t.face is track.face)
        came = (t for t in laid_off if t.serial > track.serial and not self._hint.has_told(t.serial))
        away = [t for t in self._before.cards if t.state is State.GONE or t.absent_since_s is not None]
        came = (t for t in came if not any(self._before.may_be_carried_off(other, t) for other in away))
        came_s = [t.since_s for t in came if not (is_deep and self._hint.is_legal(t.face, t.place))]
        touched_s = max(track.seen_s, self._before.hidden_until_s.get(track.zone, 0.0))
        most_s = TURN_S if touched_s >= max(t.since_s for t in upon) + MOMENT_S else LAYING_S
        return min((min(touched_s, t_s) for t_s in came_s if abs(t_s - touched_s) <= most_s), default=None)


def _is_too_early(track: Track, now: Tracks) -> bool:
    """True if it is too early to say that a card was laid: it may be put right, or the arm is still there."""
    lies_s, mat = now.t_s - track.since_s, mat_of(track.zone)
    is_misplaced = track.face is not Card.UNKNOWN and not Places.belongs(track.face, track.zone)
    if lies_s < PUT_RIGHT_S and is_misplaced:
        return True
    return lies_s < MOMENT_S and mat != TABLE and any(mat_of(zone) == mat for zone in now.zones_under_arms)


def lost_sight(tracks: Tracks) -> Tracks:
    """Return the memory after the pictures broke off: what had been seen of a card that did not count is void."""
    laid = (t for t in tracks.cards if t.state is not State.SEEN)
    cards = tuple(track._replace(recent=()) for track in laid)
    return _paused(replace(tracks, cards=cards, broken_s=tracks.t_s))


def _known_again(tracks: Tracks, view: View, hint: Hint) -> Tracks:
    """Return the memory in which a card of the record that lies just where it lay, by the eye's number, has not gone.

    Something like the bare ground was over it; nor have those beneath it gone that were missed from the same look on.
    """
    stays = {(sighting.zone, sighting.stay) for sighting in view.sightings if sighting.stay is not None}
    again = [t for t in tracks.gone if (t.zone, t.stay) in stays and hint.has_told(t.serial)]
    if not again:
        return tracks
    missed = {(t.zone, t.absent_since_s) for t in again}
    back = {t.serial for t in tracks.gone if (t.zone, t.absent_since_s) in missed and t.laid_since(tracks.hand_seq)}
    cards = (
        t._replace(state=State.COVERED, recent=(), absent_since_s=None) if t.serial in back else t for t in tracks.cards
    )
    return replace(tracks, cards=tuple(cards))


def _paused(tracks: Tracks) -> Tracks:
    """Return the memory with every wait begun again."""
    cards = tuple(t._replace(absent_since_s=None) for t in tracks.cards)
    return replace(tracks, cards=cards, hidden_since_s={}, bare_since_s=None, pile_since_s={})


def _covered(before: Zones, seen: Mapping[int, Track], doubles: Collection[int | None]) -> frozenset[int]:
    """Return the serials of unseen cards over which another may lie: one in sight, or one that is hidden itself.

    `doubles` are the eye's numbers of those in sight that may be two.
    """
    covered = set()
    seen_in = by_zone(seen.values())
    for zone, cards in before.items():
        over, were = seen_in.get(zone, []), [t for t in cards if t.serial in seen]
        pushed = {t.serial for t in were if distance_mm(t.place, seen[t.serial].place) > NUDGE_MM}
        for track in reversed(cards):
            if track.serial not in seen and any(_may_cover(upper, track, pushed) for upper in over):
                covered.add(track.serial)
                if track.is_there:
                    over.append(track)
        moved = [(t, seen[t.serial].stay in doubles) for t in were if t.stay != seen[t.serial].stay]
        covered |= _heaped([t for t in cards if t.serial not in seen], moved)
    return frozenset(covered)


def _may_cover(upper: Track, lower: Track, pushed: Collection[int] = ()) -> bool:
    """True if a card may lie on another of its zone: it came later, or was pushed over it, side by side in a spread."""
    if distance_mm(upper.place, lower.place) > COVERING_MM:
        return False
    was_pushed = upper.serial in pushed or lower.state is State.COVERED
    return upper.serial > lower.serial or (was_pushed and not is_pile(lower.zone))


def _heaped(unseen: Sequence[Track], moved: Sequence[tuple[Track, bool]]) -> set[int]:
    """Return the serials of cards that lie exactly under one like them that was moved: a spread's column, squared up.

    A single one may have been taken up, unless what shows may be two cards, as `moved` says; nobody takes up two.
    """
    heaped: set[int] = set()
    for upper, may_be_two in moved:
        alike = (track for track in unseen if track.face is upper.face and not is_pile(track.zone))
        column = [track.serial for track in alike if distance_mm(track.place, upper.place) <= UNREAD_MM]
        heaped.update(column if may_be_two or len(column) > 1 else ())
    return heaped


def _moved_on(cards: Sequence[Track], seq: int) -> list[Track]:
    """Return the tracks; those of stickers that have come to lie elsewhere have moved from where they were."""
    latest = {track.card: track.serial for track in cards if track.card is not None and track.is_there}
    return [
        track.after(Observation.VANISHED, seq)
        if track.card is not None and track.is_there and latest[track.card] > track.serial
        else track
        for track in cards
    ]

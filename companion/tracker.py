"""From views over time to proposals: what was laid, taken, taken back, moved, or is no longer where it should be.

Every decision is a function of the views, their times and the table as the record has it:
* A card counts as laid where two of its last three sightings agree. An unknown zone says nothing.
* A card counts as gone after `GONE_S` of seeing its zone without it, unless a newer card may hide it.
* A card that the record has already (entered by hand, or lying there before we looked) is adopted, not proposed.
* The top of the discard pile is taken, or taken back; where a picture cannot tell, the next card does, or people.
* What only people can explain is asked, and what depends on it waits for their answer.
* While the hand is over, or waits for an answer about the extension, nothing is proposed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from companion.places import DISCARD_ZONE, DRAW_ZONE, Places, needs_people
from companion.proposal import Mismatch, Proposal
from companion.rules.cards import Card, Family, card_name
from companion.rules.play import Play, Verb
from companion.rules.referee import objections
from companion.rules.table import Table
from companion.tracks import READS, Place, Track, may_cover
from companion.vision.view import View

GONE_S = 1.5
ASTRAY_S = 3.0
GATHERING_S = 12.0
"""So long many cards may be missing at once before they are missed: a hand's cards are being gathered in."""

MANY = 3
SURE_CONFIDENCE = 0.9
PILE_EMPTY_S = 5.0
UNSEEN_DRAWS = 2
"""So many cards may have been drawn before the plays that tell of it; only beyond it is an empty pile news."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A proposal's card was taken back, or moved, before it was confirmed."""

    proposal_id: int


@dataclass(frozen=True, slots=True)
class Settled:
    """A mismatch is no more: the card lies again where the record has it, or the record tells what it means."""

    mismatch_id: int


@dataclass(frozen=True, slots=True)
class Cleared:
    """The hand is over and its cards are gathered in: the next one can begin."""

    t_s: float


Event = Proposal | Withdrawn | Mismatch | Settled | Cleared


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
        self._tracks: dict[str, Track] = {}
        self._in_zone: Mapping[str, Sequence[Track]] = {}
        self._order = 0
        self._owed: Counter[tuple[str, Card]] = Counter()
        self._before_us = Counter(self._places.lying(table)) if table is not None else Counter()
        self._pile_empty_since_s: float | None = None
        self._pile_was_empty = False
        """The draw pile has been seen used up, with cards on the discard pile to be reshuffled."""

        self._bare_since_s: float | None = None
        self._exhausted_said = False
        self._end_said = False

    def new_hand(self) -> None:
        """The cards are dealt anew: what still lies there from the hand before means nothing any more."""
        left = self._tracks
        self._start(None)
        self._tracks = {card: Track(card, t.face, place=t.place, of_last_hand=True) for card, t in left.items()}

    def update(self, view: View, table: Table | None) -> tuple[Event, ...]:
        """What one view brings. Without a table (no hand has begun) nothing is proposed."""
        if view.trouble is not None:
            return ()
        self._observe(view)
        bare_s = self._bare_for_s(view)
        if table is None:
            return ()
        if table.is_over:
            return tuple(self._gathered_in(view, bare_s))
        if table.extension_offered_to is not None:
            return ()
        return (
            *self._follow_all(view, table),
            *self._draw_pile(view, table),
            *self._gathered_early(view, table, bare_s),
        )

    def resolve(self, proposal_id: int, *, confirmed: bool) -> None:
        """A waiting proposal was confirmed (perhaps corrected), or dismissed as no play."""
        for track in self._tracks.values():
            if track.proposal_id == proposal_id and track.waiting:
                track.waiting, track.confirmed, track.left_alone = False, confirmed, not confirmed

    def leave(self, mismatch_id: int, table: Table) -> None:
        """A mismatch was answered. Where the record gave way, the card is new when it is laid again."""
        for card, track in list(self._tracks.items()):
            if track.mismatch_id == mismatch_id:
                track.mismatch_id, track.asked, track.left_alone = None, False, True
                if track.place is None or not self._still_recorded(track, track.place.zone, table):
                    del self._tracks[card]

    def expect(self, play: Play, table: Table) -> None:
        """A play was entered by hand: when its card appears, the record has it already."""
        zone = self._places.zone_of(play, table)
        if zone is None or play.card is None:
            return
        for card in (play.card, Card.ACCELERATOR) if play.times > 1 else (play.card,):
            if not any(track.asked and track.face is card and track.zone == zone for track in self._tracks.values()):
                self._owed[(zone, card)] += 1

    # Seeing

    def _observe(self, view: View) -> None:
        scales = {mat.id: mat.px_per_mm for mat in view.mats}
        seen: dict[str, Place] = {}
        for sighting in view.sightings:
            zone = sighting.zone
            if sighting.card is None or sighting.face is Card.UNKNOWN or zone is None or zone == DRAW_ZONE:
                continue
            if zone in view.unknown_zones:
                continue
            track = self._tracks.setdefault(sighting.card, Track(sighting.card, sighting.face))
            seen[sighting.card] = Place(zone, sighting.sideways)
            track.seen_since_s = view.t_s if track.last_seen is None else track.seen_since_s
            track.centre_px, track.confidence = sighting.centre_px, sighting.confidence
            track.px_per_mm = scales.get(zone.partition("/")[0], track.px_per_mm)
        for card, track in self._tracks.items():
            if card in seen or not self._out_of_sight(track, view):
                track.recent.append(seen.get(card))

    def _bare_for_s(self, view: View) -> float:
        """How long every mat has been seen with no card on it and nothing over it."""
        seen = {mat.id for mat in view.mats}
        if view.sightings or view.unknown_zones or not seen >= set(self._places.mats):
            self._bare_since_s = None
        elif self._bare_since_s is None:
            self._bare_since_s = view.t_s
        return 0.0 if self._bare_since_s is None else view.t_s - self._bare_since_s

    def _follow_all(self, view: View, table: Table) -> Iterator[Event]:
        """What became of each card; after a proposal the others wait for the table that it leads to.

        The cards that lay there come first, from the top down. Of cards laid at the same moment the one that the
        rules allow comes first: they break the tie.
        """
        turn = sorted(
            self._tracks.values(), key=lambda track: (self._is_refused(track, table), -track.order, track.card)
        )
        self._in_zone = _by_zone(turn)
        for track in turn:
            if self._tracks.get(track.card) is not track:
                continue
            for event in self._follow(track, view, table):
                yield event
                if isinstance(event, Proposal):
                    return

    def _is_refused(self, track: Track, table: Table) -> bool:
        """Whether a card that lies anew would be an illegal play."""
        place = track.steady()
        if place is None or place == track.place or track.confirmed:
            return False
        guess = self._places.play_at(track.face, place.zone, place.sideways, table)
        return guess is not None and bool(objections(table, guess.play))

    @staticmethod
    def _out_of_sight(track: Track, view: View) -> bool:
        """Whether the view says nothing about the zone that a card lies in."""
        return track.place is not None and track.place.zone in view.unknown_zones

    def _follow(self, track: Track, view: View, table: Table) -> Iterator[Event]:
        place = track.steady()
        if track.of_last_hand:
            self._follow_old(track, view)
        elif place is not None:
            track.missing_since_s = None
            yield from self._back_again(track, place, table)
            if place != track.place:
                yield from self._lies_anew(track, place, view, table)
        elif track.place is not None and track.last_seen is None and not self._out_of_sight(track, view):
            yield from self._not_seen(track, view, table)
        elif self._out_of_sight(track, view):
            track.missing_since_s = None

    def _follow_old(self, track: Track, view: View) -> None:
        """A card of the hand before is forgotten once it has been out of its zone's sight for a while."""
        if track.last_seen is not None:
            track.missing_since_s, track.place = None, track.last_seen
        elif not self._out_of_sight(track, view):
            track.missing_since_s = track.missing_since_s or view.t_s
            if view.t_s - track.missing_since_s >= GONE_S:
                del self._tracks[track.card]

    # Cards that lie somewhere

    def _back_again(self, track: Track, place: Place, table: Table) -> Iterator[Event]:
        if place != track.place:
            return
        track.astray_since_s, track.lifted = None, False
        if track.asked:
            if self._lies_there_too(track, place.zone, table):
                yield from self._explained(track.mismatch_id, table)
        elif track.mismatch_id is not None:
            yield Settled(track.mismatch_id)
            track.mismatch_id = None

    def _lies_anew(self, track: Track, place: Place, view: View, table: Table) -> Iterator[Event]:
        """A card lies where it did not lie before: laid, moved before it was confirmed, or moved afterwards."""
        if track.confirmed and track.place is not None:
            yield from self._moved(track, place, table, view.t_s)
            return
        if track.mismatch_id is not None:
            yield Settled(track.mismatch_id)
        if track.waiting and track.proposal_id is not None:
            yield Withdrawn(track.proposal_id)
        track.waiting = track.left_alone = track.asked = False
        track.mismatch_id = None
        if self._adopt(track, place, table):
            self._lay_down(track, place)
            track.confirmed = True
        elif self._comes_to_light(track, place.zone, table):
            return
        elif (lifted := self._lifted_discard(table)) is not None:
            yield from self._who_goes_on(lifted, track, place, view, table)
        elif not self._waits(track, place, table):
            self._lay_down(track, place)
            yield from self._propose(track, place, view, table)

    def _lay_down(self, track: Track, place: Place) -> None:
        self._order += 1
        track.place, track.order = place, self._order

    def _moved(self, track: Track, new: Place, table: Table, t_s: float) -> Iterator[Event]:
        """A confirmed card lies elsewhere.

        Within its zone that means nothing, and a hazard that a safety has beaten belongs on the discard pile; it
        may be taken there before the safety is seen, so a strange place is borne with for a while. The card laid
        last is simply put right when it is moved to another zone, and the top of the discard pile may be taken
        and laid at once.
        """
        old = track.place or new
        put_right = track.order == self._order and new.zone != DISCARD_ZONE
        if old.zone == new.zone:
            track.place = new
        elif self._has_followed(track, old, new, table):
            self._lay_down(track, new)
        elif (sure := self._is_taken_and_laid(track, new, table)) is not None:
            yield self._take(track, table, t_s, sure=sure)
        elif track.astray_since_s is None and not put_right:
            track.astray_since_s = t_s
        elif (
            (put_right or t_s - (track.astray_since_s or t_s) >= ASTRAY_S)
            and track.mismatch_id is None
            and not track.left_alone
        ):
            said = f"{_named(track.face)} has moved from {_where(old.zone)} to {_where(new.zone)}."
            yield self._differ(track, old.zone, said, table)

    def _has_followed(self, track: Track, old: Place, new: Place, table: Table) -> bool:
        """Whether the record has let a card go from its old place, to the discard pile or to where it lies now."""
        if self._still_recorded(track, old.zone, table):
            return False
        return new.zone == DISCARD_ZONE or self._lies_there_too(track, new.zone, table)

    def _laid(self, face: Card, zone: str) -> int:
        """How many of a card have been confirmed in a zone."""
        return sum(track.confirmed and track.face is face and track.zone == zone for track in self._tracks.values())

    def _recorded(self, face: Card, zone: str, table: Table) -> int:
        return Counter(self._places.lying(table))[(zone, face)]

    def _still_recorded(self, track: Track, zone: str, table: Table) -> bool:
        """Whether the record has as many of a card in a zone as have been laid there."""
        return self._recorded(track.face, zone, table) >= self._laid(track.face, zone)

    def _lies_there_too(self, track: Track, zone: str, table: Table) -> bool:
        """Whether the record has one more of a card in a zone than have been seen laid there."""
        return self._recorded(track.face, zone, table) > self._laid(track.face, zone)

    def _adopt(self, track: Track, place: Place, table: Table) -> bool:
        """Whether the record has this card already: entered by hand, or lying there before we looked."""
        key = (place.zone, track.face)
        if self._owed[key]:
            self._owed[key] -= 1
            return True
        if (
            self._before_us[key]
            and track.face in self._places.shows(table, place.zone)
            and not self._lies_on(track, table)
        ):
            self._before_us[key] -= 1
            return True
        return track.face.family is Family.SPECIAL and self._lies_there_too(track, place.zone, table)

    def _comes_to_light(self, track: Track, zone: str, table: Table) -> bool:
        """Whether a new card may be a discard from before we looked, of which the one on it has been taken."""
        beneath = zone == DISCARD_ZONE and track.face in table.discards[-2:-1] and self._before_us[(zone, track.face)]
        return bool(beneath) and not objections(table, _taking(table))

    def _covers(self, upper: Track, lower: Track, table: Table) -> bool:
        new = upper.is_new and not upper.confirmed
        return may_cover(upper, lower) and not (new and self._comes_to_light(upper, lower.zone, table))

    def _lies_on(self, track: Track, table: Table) -> bool:
        """Whether a card that we know of, and the record too, lay where this one appeared: then this one is new."""
        known = (o for o in self._all() if o.confirmed and o.missing_since_s is None and may_cover(track, o))
        return any(self._still_recorded(other, other.zone, table) for other in known)

    def _propose(self, track: Track, place: Place, view: View, table: Table) -> Iterator[Event]:
        doubling = self._accelerators(track, place, table)
        for accelerator in doubling:
            self._lay_down(accelerator, place)
        question = self._places.question(track.face, place.zone, table)
        if doubling and not self._is_doubled(track, doubling, place):
            question = f"{_named(track.face)} and an accelerator have been laid: enter what was played."
        if question is not None:
            yield self._ask((track, *doubling), place.zone, question)
            return
        guess = self._places.play_at(track.face, place.zone, place.sideways, table)
        if guess is None:
            return
        for card in (track, *doubling):
            card.proposal_id, card.waiting, card.player = self._ids + 1, True, guess.play.player
        play = replace(guess.play, times=1 + len(doubling))
        yield self._proposal(play, place.zone, track.confidence, view.t_s, sure=guess.clear)

    def _proposal(self, play: Play, zone: str | None, confidence: float, t_s: float, *, sure: bool) -> Proposal:
        self._ids += 1
        return Proposal(self._ids, play, zone, confidence, t_s, sure and confidence >= SURE_CONFIDENCE)

    # Cards that only people can explain

    def _ask(self, tracks: Sequence[Track], zone: str, say: str) -> Mismatch:
        self._ids += 1
        for track in tracks:
            track.asked, track.mismatch_id = True, self._ids
        return Mismatch(self._ids, zone, None, tracks[0].face.value, say)

    def _explained(self, question: int | None, table: Table) -> Iterator[Event]:
        """The record tells what a card means. Others of the same question that it does not tell of are new again."""
        for track in [track for track in self._all() if track.asked and track.mismatch_id == question]:
            track.asked, track.mismatch_id = False, None
            track.confirmed = self._lies_there_too(track, track.zone, table)
            track.place = track.place if track.confirmed else None
        if question is not None:
            yield Settled(question)

    def _waits(self, track: Track, place: Place, table: Table) -> bool:
        """Whether a new card has to wait: for its accelerator, or for an answer that tells whose turn it is."""
        if not needs_people(table.edition):
            return False
        asked = [other for other in self._all() if other.mismatch_id is not None]
        if track.face.family is Family.DISTANCE or track.face is Card.ACCELERATOR:
            here = any(other.asked and other.zone == place.zone for other in asked)
            return here or self._waits_for_its_partner(track, place, table)
        return bool(asked) and (place.zone == DISCARD_ZONE or track.face.family is Family.HAZARD)

    def _waits_for_its_partner(self, track: Track, place: Place, table: Table) -> bool:
        """A distance card and an accelerator laid together are seen together, give or take a frame."""
        if track.recent.count(place) < READS:
            return True
        if track.face is Card.ACCELERATOR:
            return any(t.face.family is Family.DISTANCE for t in self._coming(place.zone))
        return any(t.steady() != place for t in self._accelerators(track, place, table))

    def _accelerators(self, track: Track, place: Place, table: Table) -> list[Track]:
        """The accelerators that come to lie in a distance card's zone."""
        if track.face.family is not Family.DISTANCE or not needs_people(table.edition):
            return []
        return [t for t in self._coming(place.zone) if t.face is Card.ACCELERATOR]

    def _is_doubled(self, track: Track, accelerators: Sequence[Track], place: Place) -> bool:
        """Whether one distance card and one accelerator have come to lie in a zone together."""
        others = (t for t in self._coming(place.zone) if t is not track and t.face.family is Family.DISTANCE)
        return len(accelerators) == 1 and not any(others)

    def _coming(self, zone: str) -> Iterator[Track]:
        """The cards seen in a zone that are not in the record and have not been laid there yet."""
        seen = (t for t in self._all() if t.last_seen is not None and t.last_seen.zone == zone)
        return (t for t in seen if t.is_new and not t.confirmed)

    def _all(self) -> Iterator[Track]:
        return iter(self._tracks.values())

    # The discard pile

    def _lifted_discard(self, table: Table) -> Track | None:
        """The top of the discard pile, while it is not seen there and may have been taken."""
        if objections(table, _taking(table)):
            return None
        gone = (t for t in self._all() if t.confirmed and t.zone == DISCARD_ZONE and t.face is table.discards[-1])
        top = max(gone, key=lambda track: track.order, default=None)
        return top if top is not None and (top.lifted or top.missing_since_s is not None) else None

    def _who_goes_on(self, lifted: Track, track: Track, place: Place, view: View, table: Table) -> Iterator[Event]:
        """The next card after a discard was lifted tells whether it was taken, or taken back."""
        if not lifted.lifted or lifted.mismatch_id is not None:
            return
        taken = self._places.is_taken(track.face, place.zone, table, lifted.player)
        if taken is False:
            lifted.lifted, lifted.missing_since_s = False, None
            yield self._differ(lifted, DISCARD_ZONE, _gone_from(lifted), table)
        else:
            yield self._take(lifted, table, view.t_s, sure=taken is True)

    def _is_taken_and_laid(self, track: Track, new: Place, table: Table) -> bool | None:
        """Whether the top of the discard pile was taken and laid by the player to move; None where it was not.

        False where it may as well be that whoever discarded it has changed his mind.
        """
        top = track.zone == DISCARD_ZONE and track.face in table.discards[-1:]
        if not top or new.zone == DISCARD_ZONE or objections(table, _taking(table)):
            return None
        laid_by = track.player if track.order == self._order else None
        taken = self._places.is_taken(track.face, new.zone, table, laid_by)
        if taken is None and track.face.family is Family.HAZARD and laid_by is None:
            return self._places.is_taken(Card.ROLL, new.zone, table, None) is None
        return None if taken is False else taken is True

    def _take(self, track: Track, table: Table, t_s: float, *, sure: bool) -> Proposal:
        proposal = self._proposal(_taking(table), DISCARD_ZONE, track.confidence, t_s, sure=sure)
        track.pick_up()
        return proposal

    def _off_the_discards(self, track: Track, view: View, table: Table) -> Iterator[Event]:
        """A card has gone from the discard pile, which the record does not know of."""
        if self._may_be_reshuffled(view, table):
            if view.draw_pile_empty is False:
                yield from self._reshuffled(view, table)
        elif track is not self._lifted_discard(table) or (len(table.discards) > 1 and self._discards_are_gone()):
            yield from self._missed(track, view, table)
        elif track.order == self._order:
            track.lifted = True
        else:
            yield self._take(track, table, view.t_s, sure=True)

    def _discards_are_gone(self) -> bool:
        """Whether no card that was seen on the discard pile is left, and no other shows there."""
        known = (track for track in self._all() if track.confirmed and track.zone == DISCARD_ZONE)
        return all(track.missing_since_s is not None for track in known) and not any(self._coming(DISCARD_ZONE))

    def _may_be_reshuffled(self, view: View, table: Table) -> bool:
        """Whether the discards are becoming the draw pile: that one is used up, and all of them are gone."""
        used_up = table.draw_pile == 0 or self._pile_was_empty
        taken = len(table.discards) == 1 and view.draw_pile_empty is True
        return table.edition.empty_pile == "reshuffle" and used_up and not taken and self._discards_are_gone()

    def _reshuffled(self, view: View, table: Table) -> Iterator[Event]:
        """The record reshuffles by itself where its count is right; where it is not, the table is asked."""
        for card in [t.card for t in self._all() if t.zone == DISCARD_ZONE]:
            del self._tracks[card]
        self._pile_was_empty = False
        if table.draw_pile:
            yield self._proposal(Play(Verb.EXHAUSTED), DRAW_ZONE, 1.0, view.t_s, sure=False)

    # Cards that are gone

    def _not_seen(self, track: Track, view: View, table: Table) -> Iterator[Event]:
        if not track.lifted and any(self._covers(other, track, table) for other in self._in_zone[track.zone]):
            track.missing_since_s = None
            return
        if track.missing_since_s is None:
            track.missing_since_s = view.t_s
        if view.t_s - track.missing_since_s < GONE_S and not self._has_uncovered(track, table):
            return
        if track.confirmed:
            yield from self._gone(track, view, table)
        else:
            yield from self._taken_up(track)

    def _has_uncovered(self, track: Track, table: Table) -> bool:
        """Whether the card under the top discard came to light as that went: it need not be waited for any longer."""
        if track.missing_since_s is None or track is not self._lifted_discard(table):
            return False
        beneath = [t for t in self._in_zone[DISCARD_ZONE] if t.order < track.order and t.recent.count(t.place) == READS]
        return any(t.confirmed and t.seen_since_s >= track.missing_since_s for t in beneath)

    def _taken_up(self, track: Track) -> Iterator[Event]:
        """A card that was never confirmed has left the table."""
        if track.waiting and track.proposal_id is not None:
            yield Withdrawn(track.proposal_id)
        if track.mismatch_id is not None:
            yield Settled(track.mismatch_id)
        del self._tracks[track.card]

    def _gone(self, track: Track, view: View, table: Table) -> Iterator[Event]:
        """A confirmed card has left its place: the record differs, unless it has let the card go as well."""
        if not self._still_recorded(track, track.zone, table):
            if track.mismatch_id is not None:
                yield Settled(track.mismatch_id)
            del self._tracks[track.card]
        elif track.left_alone or track.mismatch_id is not None:
            return
        elif track.zone == DISCARD_ZONE:
            yield from self._off_the_discards(track, view, table)
        else:
            yield from self._missed(track, view, table)

    def _missed(self, track: Track, view: View, table: Table) -> Iterator[Event]:
        """The record has a card that is gone. Many at once may be a hand that is being gathered in."""
        since_s = view.t_s if track.missing_since_s is None else track.missing_since_s
        missing = sum(t.confirmed and t.missing_since_s is not None for t in self._all())
        if missing < MANY or view.t_s - since_s >= GATHERING_S:
            yield self._differ(track, track.zone, _gone_from(track), table)

    def _differ(self, track: Track, zone: str, say: str, table: Table) -> Mismatch:
        """Table and record differ. Where a play may move cards of others, it need not be a play taken back."""
        self._ids += 1
        track.mismatch_id = self._ids
        about = None if needs_people(table.edition) else track.proposal_id
        return Mismatch(self._ids, zone, track.face.value, None, say, about)

    # The draw pile, and the end of a hand

    def _draw_pile(self, view: View, table: Table) -> Iterator[Event]:
        """The marker under the draw pile shows steadily although the count says otherwise."""
        if view.draw_pile_empty is not True:
            self._pile_empty_since_s = None
            return
        if self._pile_empty_since_s is None:
            self._pile_empty_since_s = view.t_s
        self._pile_was_empty |= bool(table.discards)
        long_enough = view.t_s - self._pile_empty_since_s >= PILE_EMPTY_S
        # Where the discards are reshuffled it is the reshuffling that counts.
        news = table.draw_pile > UNSEEN_DRAWS and not (table.edition.empty_pile == "reshuffle" and table.discards)
        if long_enough and news and not self._exhausted_said:
            self._exhausted_said = True
            yield self._proposal(Play(Verb.EXHAUSTED), DRAW_ZONE, 1.0, view.t_s, sure=False)

    def _gathered_early(self, view: View, table: Table, bare_s: float) -> Iterator[Event]:
        """All cards are taken up before the record has the hand's end: it may have ended, so that is asked once.

        It is sure where the edition ends a hand that nobody can go on with, and the draw pile is used up.
        """
        if bare_s == 0.0:
            self._end_said = False
        laid = sum(track.confirmed for track in self._all())
        if bare_s >= GONE_S and laid >= MANY and not self._end_said:
            self._end_said = True
            stuck = table.edition.empty_pile == "stuck" and table.draw_pile == 0
            yield self._proposal(Play(Verb.END), None, 1.0, view.t_s, sure=stuck)

    def _gathered_in(self, view: View, bare_s: float) -> Iterator[Event]:
        """After a hand: every mat is seen, nothing is unknown, and no card lies anywhere."""
        if bare_s >= GONE_S and self._tracks:
            self._start(None)
            yield Cleared(view.t_s)


def _by_zone(tracks: Iterable[Track]) -> Mapping[str, Sequence[Track]]:
    """The cards that count as lying in each zone, or are seen there."""
    cards: defaultdict[str, list[Track]] = defaultdict(list)
    for track in tracks:
        for zone in {place.zone for place in (track.place, track.last_seen) if place is not None}:
            cards[zone].append(track)
    return cards


def _taking(table: Table) -> Play:
    return Play(Verb.TAKE, table.player_to_move)


def _named(face: Card) -> str:
    name = card_name(face)
    return f"The {name}" if name[0].isdigit() else f"{name[0].upper()}{name[1:]}"


def _gone_from(track: Track) -> str:
    return f"{_named(track.face)} is no longer on {_where(track.zone)}."


def _where(zone: str) -> str:
    """The zone in words; the match knows whose mat it is."""
    mat, _, kind = zone.partition("/")
    return f"the {kind} pile" if mat == "table" or kind in ("battle", "speed") else f"the {kind} area"

"""From views over time to proposals: what was laid, taken, taken back, moved, or is no longer where it should be.

Every decision is a function of the views, their times and the table as the record has it:
* A card counts as laid where two of its last three sightings agree. An unknown zone says nothing.
* Whoever lays a card may still be over it: while an arm is over its mat, it is waited for a moment.
* A card counts as gone after `GONE_S` of seeing its zone without it, unless another may hide it.
* A card that the record has already (entered by hand, or lying there before we looked) is adopted, not proposed.
* The top of the discard pile is taken, or taken back; where a picture cannot tell, the next card does, or people.
* What only people can explain, or read, is asked, and what depends on it waits for their answer.
* While the hand is over, or waits for an answer about the extension, nothing is proposed.
* A view that is not to be trusted is as if it had not been; nothing has been missing meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from companion.common.text import Said, say
from companion.match.proposals import ASKING_CONFIDENCE, OUT_OF_TURN_SURENESS, Doubt, Mismatch, Proposal
from companion.match.zone_plays import DISCARD_ZONE, DRAW_ZONE, Places, needs_people
from companion.rules.cards import Card, Family
from companion.rules.play import Play, Verb
from companion.rules.referee import apply, objections
from companion.rules.table import Table
from companion.tracking.clearing import Gathering
from companion.tracking.discard_pile import Discards
from companion.tracking.identity import Copies
from companion.tracking.settling import Patience
from companion.tracking.table_memory import GONE_S, Memory, is_out_of_sight, named, where
from companion.tracking.track import COVERING_MM, READS, UNCLEAR_SURENESS, Place, Track
from companion.tracking.unread_cards import Doubts
from companion.vision.view import View

ASTRAY_S = 3.0
GATHERING_S = 12.0
"""So long many cards may be missing at once before they are missed: a hand's cards are being gathered in."""

MANY = 3
PILE_EMPTY_S = 5.0
UNSEEN_DRAWS = 2
"""So many cards may have been drawn before the plays that tell of it; only beyond it is an empty pile news."""

MOST_AT_ONCE = 4
"""So many cards that lie anew are tried in every order."""

BEFORE_ALL = (-1, 0, 0.0, 0.0)
BARE_LOOKS = 3
CONTESTED_S = 8.0
"""So long a card may lie on that was to be taken back, or that the record has otherwise."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A proposal's card was taken back, or moved, before it was confirmed."""

    proposal_id: int


@dataclass(frozen=True, slots=True)
class Settled:
    """A mismatch is no more: the card lies again where the record has it, or the record tells what it means.

    Or a doubt is none any more: the card can be read now, or is gone.
    """

    question_id: int


@dataclass(frozen=True, slots=True)
class Cleared:
    """The hand is over and its cards are gathered in: the next one can begin."""

    t_s: float


@dataclass(frozen=True, slots=True)
class Unclear:
    """A card may have been laid just so upon one like it, or that one was pushed a little."""

    play: Play
    """What it would be, as the table is."""

    zone: str
    t_s: float


Event = Unclear | Proposal | Withdrawn | Mismatch | Doubt | Settled | Cleared


class Tracker:
    """Follows the physical cards of one table.

    `mats` gives the side's name by mat id; `table` is the record's table when the tracker starts, whose cards may
    be lying there already; `last_id` is the last id that another tracker of this match has given. `update` takes
    every view, with the table as it would be were all waiting proposals confirmed. `resolve`, `leave`, `answered`
    and `expect` tell what people did.
    """

    def __init__(self, mats: Mapping[str, str], table: Table | None = None, last_id: int = 0) -> None:
        self._places = Places(dict(mats))
        self._ids = last_id
        self._copies = Copies()
        self._start(table)

    def _start(self, table: Table | None) -> None:
        self._memory = Memory(self._places, table)
        self._discards = Discards(self._memory)
        self._doubts = Doubts(self._places)
        self._gathering = Gathering()
        self._patience = Patience(self._places)
        self._held_up = False
        """A card that may have been laid before the others in this view is still waited with."""

        self._pile_empty_since_s: float | None = None
        self._exhausted_said = self._end_said = self._is_cleared = False

    @property
    def last_id(self) -> int:
        """The last id that a proposal or a question was given."""
        return self._ids

    def new_hand(self) -> None:
        """The cards are dealt anew: what still lies there from the hand before means nothing any more."""
        if self._is_cleared:
            # What has been laid since the table was cleared belongs to this hand.
            self._is_cleared = False
            return
        left = list(self._memory)
        self._start(None)
        self._memory.leave_behind(left)

    def update(self, view: View, table: Table | None) -> tuple[Event, ...]:
        """What one view brings. Without a table (no hand has begun) nothing is proposed."""
        if view.trouble is not None:
            self._pause()
            return ()
        view = self._copies.named(view, self._memory, table)
        self._patience.observe(view)
        self._memory.observe(view, self._doubts.observe(view, self._memory.tracks))
        bare_s = self._gathering.bare_for_s(view, tuple(self._places.mats))
        settled = tuple(Settled(doubt) for doubt in self._doubts.settled())
        if table is None:
            return settled
        if table.is_over:
            return (*settled, *self._gathered_in(view, bare_s))
        self._is_cleared = False
        if table.extension_offered_to is not None:
            return settled
        return (
            *settled,
            *self._unclear(view, table),
            *self._follow_all(view, table),
            *self._ask_of_a_code(view, table),
            *self._draw_pile(view, table),
            *self._gathered_early(view, table, bare_s),
        )

    def resolve(self, proposal_id: int, *, confirmed: bool, changed: bool = False, taken_back: bool = False) -> None:
        """A waiting proposal was confirmed (perhaps `changed`), or dismissed as no play or to be `taken_back`."""
        for track in self._memory:
            if track.proposal_id == proposal_id and track.waiting:
                track.waiting, track.confirmed, track.left_alone = False, confirmed, not confirmed
                if changed:
                    track.contested = say(
                        "%(card)s lies on %(zone)s; the record has another card.",
                        card=named(track.face),
                        zone=where(track.zone),
                    )
                elif taken_back:
                    track.contested = say(
                        "%(card)s was to be taken back and still lies on %(zone)s.",
                        card=named(track.face),
                        zone=where(track.zone),
                    )

    def leave(self, mismatch_id: int, table: Table) -> None:
        """A mismatch was answered. Where the record gave way, the card is new when it is laid again."""
        for track in list(self._memory):
            if track.mismatch_id == mismatch_id:
                asked, track.mismatch_id, track.asked, track.left_alone = track.asked, None, False, True
                gone = track.place is None or not self._memory.still_recorded(track, track.place.zone, table)
                if gone and not asked:
                    self._memory.forget(track)

    def answered(self, doubt_id: int) -> None:
        """People have said which card a doubt is about; a play that they entered is told by `expect`."""
        self._doubts.answer(doubt_id)

    def expect(self, play: Play, table: Table) -> None:
        """A play was entered by hand: when its card appears, the record has it already."""
        zone = self._places.zone_of(play, table)
        if zone is None or play.card is None:
            return
        for card in (play.card, Card.ACCELERATOR) if play.times > 1 else (play.card,):
            self._memory.expect(card, zone)

    def lost_sight(self) -> None:
        """The pictures had broken off. Nothing that was waited for counts on across that, however long it was.

        A card that did not count yet has to be seen anew; one that has been laid is missed only where it is looked for.
        """
        self._pause()
        self._copies.lost_sight()
        self._doubts.lost_sight()
        self._memory.lost_sight()

    # Seeing

    def _pause(self) -> None:
        """Nothing can be told from this view: nothing that was missing or waited for counts on."""
        self._gathering.pause()
        self._patience.pause()
        self._pile_empty_since_s = None
        for track in self._memory:
            track.missing_since_s = track.astray_since_s = track.unseen_since_s = track.contested_since_s = None

    def _unclear(self, view: View, table: Table) -> Iterator[Unclear]:
        for face, place in self._copies.unclear:
            guess = self._places.play_at(face, place.zone, place.sideways, table)
            if guess is not None:
                yield Unclear(guess.play, place.zone, view.t_s)

    def _follow_all(self, view: View, table: Table) -> Iterator[Event]:
        """What became of each card; after a proposal the others wait for the table that it leads to.

        The cards that lay there come first, from the top down. Of cards laid at the same moment the one comes first
        that the rules allow, and after which they allow the most of the others: they break the tie.
        """
        self._held_up = False
        first = {t.card: self._precedence(t, table) for t in self._memory if self._lies_new(t)}
        turn = sorted(self._memory, key=lambda track: (first.get(track.card, BEFORE_ALL), -track.order, track.card))
        for track in turn:
            if self._memory.tracks.get(track.card) is not track:
                continue
            for event in self._follow(track, view, table):
                yield event
                if isinstance(event, Proposal):
                    return

    def _lies_new(self, track: Track) -> bool:
        """Whether a card lies steadily where it did not lie, and is in no record yet."""
        place = self._new_place(track)
        return place is not None and place != track.place and not track.confirmed

    def _new_place(self, track: Track) -> Place | None:
        """Where a card lies by its last sightings; or where it lay until a newer one was laid upon it."""
        return track.held if self._memory.is_laid_upon(track) else track.lain()

    def _precedence(self, track: Track, table: Table) -> tuple[int, int, float, float]:
        """What comes first of cards that lie anew, the least before.

        Whether it is an illegal play; how many of the others would be after it; when it came into sight; since when
        it may have been there.
        """
        seen = track.seen_since_s, track.hidden_since_s
        play = self._play(track, table)
        if self._memory.is_laid_upon(track):
            return (-1, 0, *seen)
        if play is None or objections(table, play):
            return (int(play is not None), 0, *seen)
        others = [t for t in self._memory if t is not track and self._lies_new(t)][: MOST_AT_ONCE - 1]
        return (0, len(others) - self._legal_ones(others, apply(table, play)), *seen)

    def _legal_ones(self, tracks: Sequence[Track], table: Table) -> int:
        """How many of the cards that lie anew may have been laid one after the other, in the best order."""
        most = 0
        for track in tracks:
            play = self._play(track, table)
            if play is not None and not objections(table, play):
                left = [other for other in tracks if other is not track]
                most = max(most, 1 + self._legal_ones(left, apply(table, play)))
        return most

    def _play(self, track: Track, table: Table) -> Play | None:
        """What a card that lies anew would mean."""
        place = self._new_place(track)
        guess = self._places.play_at(track.face, place.zone, place.sideways, table) if place is not None else None
        return guess.play if guess is not None else None

    def _follow(self, track: Track, view: View, table: Table) -> Iterator[Event]:
        place = track.lain()
        if track.of_last_hand:
            self._follow_old(track, view, table)
        elif track.held is not None and self._memory.is_laid_upon(track):
            yield from self._laid_upon(track, track.held, view, table)
        elif place is not None and self._is_laid_again(track, place, table):
            yield from self._let_go(track)
            track.pick_up()
        elif place is not None:
            track.missing_since_s, track.bare_looks = None, 0
            yield from self._back_again(track, place, table)
            yield from self._contested(track, place, view, table)
            yield from self._legal_after_all(track, place, view, table)
            if place != track.place:
                yield from self._lies_anew(track, place, view, table)
        elif is_out_of_sight(track, view):
            track.missing_since_s = None
        elif track.place is not None and track.last_seen is None:
            yield from self._not_seen(track, view, table)

    def _is_laid_again(self, track: Track, place: Place, table: Table) -> bool:
        """Whether a card that was refused has been taken up for a moment and lies there once more, by now legally."""
        was_refused = track.refused_s is not None and not track.confirmed and place == track.place
        if not was_refused or track.bare_looks < BARE_LOOKS:
            return False
        guess = self._places.play_at(track.face, place.zone, place.sideways, table)
        return guess is not None and not objections(table, guess.play)

    def _follow_old(self, track: Track, view: View, table: Table) -> None:
        """A card of the hand before is forgotten once it has been out of its zone's sight for a while."""
        if track.last_seen is not None:
            track.missing_since_s, track.place = None, track.last_seen
        elif is_out_of_sight(track, view) or self._is_hidden(track, table):
            track.missing_since_s = None
        else:
            track.missing_since_s = track.missing_since_s or view.t_s
            if view.t_s - track.missing_since_s >= GONE_S:
                self._memory.forget(track)

    def _is_hidden(self, track: Track, table: Table) -> bool:
        """Whether a card may lie beneath another, or beneath one that cannot be read."""
        spots = (s for s in self._doubts.spots if s.card is None and s.place.zone == track.zone)
        return self._memory.is_hidden(track, table) or any(s.is_within(COVERING_MM, track.at_mm) for s in spots)

    # Cards that lie somewhere

    def _back_again(self, track: Track, place: Place, table: Table) -> Iterator[Event]:
        if place != track.place:
            return
        track.astray_since_s, track.lifted = None, False
        if track.asked:
            if self._memory.has_one_more(track.face, place.zone, table):
                yield from self._explained(track.mismatch_id, table)
        elif track.mismatch_id is not None:
            yield Settled(track.mismatch_id)
            track.mismatch_id = None

    def _contested(self, track: Track, place: Place, view: View, table: Table) -> Iterator[Event]:
        """A card that people said was another, or was to be taken back, lies on as it did: that is asked once."""
        if track.contested is None or place.zone != track.zone or track.mismatch_id is not None:
            return
        if track.confirmed and self._memory.still_recorded(track, track.zone, table):
            track.contested = None
            return
        track.contested_since_s = view.t_s if track.contested_since_s is None else track.contested_since_s
        if view.t_s - track.contested_since_s >= CONTESTED_S:
            said, track.contested, track.confirmed = track.contested, None, False
            yield self._ask((track,), place.zone, said)

    def _legal_after_all(self, track: Track, place: Place, view: View, table: Table) -> Iterator[Event]:
        """A card seemed illegal because one laid before it was out of sight: now that it counts, this one is legal."""
        if not (track.waiting and track.refused_s is not None and place == track.place):
            return
        late = (t for t in self._memory if t.confirmed and t.order > track.order)
        guess = self._places.play_at(track.face, place.zone, place.sideways, table)
        if guess is None or objections(table, guess.play):
            return
        # It may have been out of sight again since.
        since_s = min(track.seen_since_s, track.refused_s)
        if any(t.hidden_since_s <= since_s for t in late):
            yield from self._let_go(track)
            yield from self._propose(track, place, view, table)

    def _lies_anew(self, track: Track, place: Place, view: View, table: Table) -> Iterator[Event]:
        """A card lies where it did not lie before: laid, moved before it was confirmed, or moved afterwards."""
        if track.confirmed and track.place is not None:
            yield from self._moved(track, place, view, table)
            return
        yield from self._let_go(track)
        track.waiting = track.left_alone = track.asked = False
        track.mismatch_id = track.contested = None
        if self._memory.adopt(track, place, table):
            self._memory.lay_down(track, place)
            track.confirmed = True
        elif self._says_nothing_yet(track, place, view, table):
            return
        elif (lifted := self._memory.lifted_discard(table)) is not None:
            yield from self._who_goes_on(lifted, track, place, view, table)
        elif not self._waits(track, place, table):
            self._memory.lay_down(track, place)
            yield from self._propose(track, place, view, table)

    def _laid_upon(self, track: Track, place: Place, view: View, table: Table) -> Iterator[Event]:
        """A card that was waited with has another upon it by now: it was laid."""
        self._memory.lay_down(track, place)
        yield from self._propose(track, place, view, table)

    def _says_nothing_yet(self, track: Track, place: Place, view: View, table: Table) -> bool:
        """Whether a card has only come to light, or it is too early to say what it means."""
        if self._memory.comes_to_light(track, place.zone, table):
            return True
        waits = self._patience.waits(track, place, self._memory, table, view.t_s)
        if waits or (self._held_up and self._patience.turn_matters(track, place, table)):
            play = self._play(track, table)
            self._held_up |= play is not None and not objections(table, play)
            return True
        return False

    def _let_go(self, track: Track) -> Iterator[Event]:
        """What was said of a card where it lay is no more."""
        if track.mismatch_id is not None:
            yield Settled(track.mismatch_id)
        if track.waiting and track.proposal_id is not None:
            yield Withdrawn(track.proposal_id)

    def _moved(self, track: Track, new: Place, view: View, table: Table) -> Iterator[Event]:
        """A confirmed card lies elsewhere.

        Within its zone that means nothing, and a hazard that a safety has beaten belongs on the discard pile; it
        may be taken there before the safety is seen, so a strange place is borne with for a while. The card laid
        last is simply put right when it is moved to another zone, and the top of the discard pile may be taken
        and laid at once.
        """
        old, t_s = track.place or new, view.t_s
        put_right = track.order == self._memory.order and new.zone != DISCARD_ZONE
        if old.zone == new.zone:
            track.place = new
        elif self._has_followed(track, old, new, table):
            self._memory.lay_down(track, new)
        elif (sure := self._discards.is_taken_and_laid(track, new, table)) is not None:
            yield self._take(track, table, t_s, sure=sure)
        elif (track.astray_since_s is None and not put_right) or self._may_be_answered(track, new, view):
            track.astray_since_s = t_s
        elif (
            (put_right or t_s - (track.astray_since_s or t_s) >= ASTRAY_S)
            and track.mismatch_id is None
            and not track.left_alone
        ):
            said = say(
                "%(card)s has moved from %(old)s to %(new)s.",
                card=named(track.face),
                old=where(old.zone),
                new=where(new.zone),
            )
            yield self._differ(track, old.zone, said, table)

    def _may_be_answered(self, track: Track, new: Place, view: View) -> bool:
        """Whether a hazard was taken to the discard pile, and a safety may say why.

        It has just come into sight, or nobody can see yet whether one has been laid.
        """
        if track.face.family is not Family.HAZARD or track.place is None or new.zone != DISCARD_ZONE:
            return False
        safeties = f"{track.place.mat}/safety"
        new_there = any(t.face.family is Family.SAFETY for t in self._memory.coming(safeties))
        return new_there or safeties in view.unknown_zones

    def _has_followed(self, track: Track, old: Place, new: Place, table: Table) -> bool:
        """Whether the record has let a card go from its old place, to the discard pile or to where it lies now."""
        if self._memory.still_recorded(track, old.zone, table):
            return False
        return new.zone == DISCARD_ZONE or self._memory.has_one_more(track.face, new.zone, table)

    def _propose(self, track: Track, place: Place, view: View, table: Table) -> Iterator[Event]:
        doubling = self._accelerators(track, place, table)
        for accelerator in doubling:
            self._memory.lay_down(accelerator, place)
        question = self._places.question(track.face, place.zone, table)
        if doubling and not self._is_doubled(track, doubling, place):
            question = say("%(card)s and an accelerator have been laid: enter what was played.", card=named(track.face))
        if question is not None:
            yield self._ask((track, *doubling), place.zone, question)
            return
        guess = self._places.play_at(track.face, place.zone, place.sideways, table)
        if guess is None:
            return
        for card in (track, *doubling):
            card.proposal_id, card.waiting, card.player = self._ids + 1, True, guess.play.player
        play = replace(guess.play, times=1 + len(doubling))
        reasons = objections(table, play)
        track.refused_s = view.t_s if reasons else None
        # Who seems to play out of turn may do so after a play that was missed.
        most = OUT_OF_TURN_SURENESS if any(reason.code == "not-your-turn" for reason in reasons) else 1.0
        made = self._proposal(play, place.zone, min(most, track.confidence), view.t_s, sure=guess.clear)
        yield replace(made, sideways=place.sideways, rivals=self._rivals(track, place, made, table))

    def _proposal(self, play: Play, zone: str | None, confidence: float, t_s: float, *, sure: bool) -> Proposal:
        self._ids += 1
        confidence = confidence if sure else min(confidence, UNCLEAR_SURENESS)
        return Proposal(self._ids, play, zone, confidence, t_s, sure and confidence >= ASKING_CONFIDENCE)

    def _rivals(self, track: Track, place: Place, made: Proposal, table: Table) -> tuple[Play, ...]:
        """What else an unsure card may have been."""
        if made.confidence >= ASKING_CONFIDENCE:
            return ()
        return self._doubts.others(track.rivals, place, made.play, table)

    # Cards that only people can explain

    def _ask_of_a_code(self, view: View, table: Table) -> Iterator[Event]:
        """A card has been laid that cannot be read; one that was taken for another is not that one after all."""
        for track in [t for t in self._memory if t.waiting and self._doubts.was_wrong(t.card)]:
            yield from self._taken_up(track)
        doubt = self._doubts.ask(table, self._memory.tracks, view.t_s, self._ids + 1)
        if doubt is not None:
            self._ids += 1
            yield doubt

    def _ask(self, tracks: Sequence[Track], zone: str, sentence: str) -> Mismatch:
        self._ids += 1
        for track in tracks:
            track.asked, track.mismatch_id = True, self._ids
        return Mismatch(self._ids, zone, None, tracks[0].face.value, sentence)

    def _explained(self, question: int | None, table: Table) -> Iterator[Event]:
        """The record tells what a card means. Others of the same question that it does not tell of are new again."""
        for track in [track for track in self._memory if track.asked and track.mismatch_id == question]:
            track.asked, track.mismatch_id = False, None
            track.confirmed = self._memory.has_one_more(track.face, track.zone, table)
            track.place = track.place if track.confirmed else None
        if question is not None:
            yield Settled(question)

    def _waits(self, track: Track, place: Place, table: Table) -> bool:
        """Whether a new card has to wait: for its accelerator, or for an answer that tells whose turn it is."""
        turn_matters = place.zone == DISCARD_ZONE or track.face.family is Family.HAZARD
        if not needs_people(table.edition):
            return turn_matters and self._doubts.anything_open
        asked = [other for other in self._memory if other.mismatch_id is not None]
        if track.face.family is Family.DISTANCE or track.face is Card.ACCELERATOR:
            here = any(other.asked and other.zone == place.zone for other in asked)
            return here or self._waits_for_its_partner(track, place, table)
        return turn_matters and (bool(asked) or self._doubts.anything_open)

    def _waits_for_its_partner(self, track: Track, place: Place, table: Table) -> bool:
        """A distance card and an accelerator laid together are seen together, give or take a frame."""
        if track.recent.count(place) < READS:
            return True
        if track.face is Card.ACCELERATOR:
            return any(t.face.family is Family.DISTANCE for t in self._memory.coming(place.zone))
        return any(t.steady() != place for t in self._accelerators(track, place, table))

    def _accelerators(self, track: Track, place: Place, table: Table) -> list[Track]:
        """The accelerators that come to lie in a distance card's zone."""
        if track.face.family is not Family.DISTANCE or not needs_people(table.edition):
            return []
        return [t for t in self._memory.coming(place.zone) if t.face is Card.ACCELERATOR]

    def _is_doubled(self, track: Track, accelerators: Sequence[Track], place: Place) -> bool:
        """Whether one distance card and one accelerator have come to lie in a zone together."""
        others = (t for t in self._memory.coming(place.zone) if t is not track and t.face.family is Family.DISTANCE)
        return len(accelerators) == 1 and not any(others)

    # The discard pile

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

    def _take(self, track: Track, table: Table, t_s: float, *, sure: bool) -> Proposal:
        play = Play(Verb.TAKE, table.player_to_move)
        proposal = self._proposal(play, DISCARD_ZONE, track.confidence, t_s, sure=sure)
        track.pick_up()
        return proposal

    def _off_the_discards(self, track: Track, view: View, table: Table) -> Iterator[Event]:
        """A card has gone from the discard pile, which the record does not know of."""
        if self._discards.may_be_reshuffled(view, table):
            if view.draw_pile_empty is False and self._discards.reshuffle(table):
                yield self._proposal(Play(Verb.EXHAUSTED), DRAW_ZONE, 1.0, view.t_s, sure=False)
        elif self._discards.is_amiss(track, table):
            yield from self._missed(track, view, table)
        elif track.order == self._memory.order:
            track.lifted = True
        else:
            yield self._take(track, table, view.t_s, sure=True)

    # Cards that are gone

    def _not_seen(self, track: Track, view: View, table: Table) -> Iterator[Event]:
        if not track.lifted and self._is_hidden(track, table):
            track.missing_since_s, track.bare_looks = None, 0
            return
        track.bare_looks += 1
        if track.zone == DISCARD_ZONE and track.recent.count(None) >= BARE_LOOKS and track.bared_s is None:
            track.bared_s = view.t_s
        if track.missing_since_s is None:
            track.missing_since_s = view.t_s
        if view.t_s - track.missing_since_s < GONE_S and not self._memory.has_uncovered(track, table):
            return
        if track.confirmed:
            yield from self._gone(track, view, table)
        else:
            yield from self._taken_up(track)

    def _taken_up(self, track: Track) -> Iterator[Event]:
        """A card that was never confirmed has left the table."""
        yield from self._let_go(track)
        self._memory.forget(track)

    def _gone(self, track: Track, view: View, table: Table) -> Iterator[Event]:
        """A confirmed card has left its place: the record differs, unless it has let the card go as well."""
        if not self._memory.still_recorded(track, track.zone, table):
            if track.mismatch_id is not None:
                yield Settled(track.mismatch_id)
            self._memory.let_go(track, table)
        elif track.left_alone or track.mismatch_id is not None:
            return
        elif track.zone == DISCARD_ZONE:
            yield from self._off_the_discards(track, view, table)
        else:
            yield from self._missed(track, view, table)

    def _missed(self, track: Track, view: View, table: Table) -> Iterator[Event]:
        """The record has a card that is gone. Many at once may be a hand that is being gathered in."""
        since_s = view.t_s if track.missing_since_s is None else track.missing_since_s
        missing = sum(t.confirmed and t.missing_since_s is not None for t in self._memory)
        if missing < MANY or view.t_s - since_s >= GATHERING_S:
            yield self._differ(track, track.zone, _gone_from(track), table)

    def _differ(self, track: Track, zone: str, sentence: str, table: Table) -> Mismatch:
        """Table and record differ. Where a play may move cards of others, it need not be a play taken back."""
        self._ids += 1
        track.mismatch_id = self._ids
        about = None if needs_people(table.edition) else track.proposal_id
        return Mismatch(self._ids, zone, track.face.value, None, sentence, about)

    # The draw pile, and the end of a hand

    def _draw_pile(self, view: View, table: Table) -> Iterator[Event]:
        """The marker under the draw pile shows steadily although the count says otherwise."""
        if view.draw_pile_empty is not True:
            self._pile_empty_since_s = None
            return
        if self._pile_empty_since_s is None:
            self._pile_empty_since_s = view.t_s
        self._discards.pile_was_empty |= bool(table.discards)
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
        laid = sum(track.confirmed for track in self._memory)
        if bare_s >= GONE_S and laid >= MANY and not self._end_said:
            self._end_said = True
            stuck = table.edition.empty_pile == "stuck" and table.draw_pile == 0
            yield self._proposal(Play(Verb.END), None, 1.0, view.t_s, sure=stuck)

    def _gathered_in(self, view: View, bare_s: float) -> Iterator[Event]:
        """After a hand: its cards are gathered in, but for a few that were left lying or are cleared late."""
        if self._is_cleared:
            return
        bare = bare_s >= GONE_S and bool(self._memory.tracks)
        left = [] if bare else self._gathering.left_lying(view, self._memory)
        if left is not None:
            self._start(None)
            self._memory.leave_behind(left)
            self._is_cleared = True
            yield Cleared(view.t_s)


def _gone_from(track: Track) -> Said:
    return say("%(card)s is no longer on %(zone)s.", card=named(track.face), zone=where(track.zone))

"""What lies on the table against what the record has: the questions that follow, derived anew at each look.

The record says what should lie in each zone, the tracks say what does. Cards that agree ask nothing. The others are
explained by acts: a card laid, a card taken from the discard pile, a discard taken back, a card moved. The cheapest
explanation counts: legal in turn before out of turn before illegal, in the order in which the cards came into sight.
The rules break a tie; a card that lies there is asked about however illegal it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from companion.common.text import Said, say
from companion.match.questions import (
    SURE_CONFIDENCE,
    Answer,
    Answered,
    Kind,
    Question,
    question_id,
)
from companion.match.zone_plays import Places, named, where
from companion.rules.cards import Card, Family
from companion.rules.play import Play, Verb
from companion.rules.referee import apply, objections
from companion.rules.table import Table
from companion.tabletop.mat_layout import DISCARD_ZONE
from companion.tracking.acts import UNCLEAR, Act, cost_of, explained
from companion.tracking.balance import Balance, balance
from companion.tracking.beaten import BeatenHazards
from companion.tracking.clearing import MANY, may_be_reshuffled, questions_of_the_piles
from companion.tracking.hand_record import Line, Record, spots_of, takeable, taking
from companion.tracking.reading import candidates, is_ripe, known_face, plays_of
from companion.tracking.track import (
    DOUBTFUL_CONFIDENCE,
    LAYING_S,
    MOMENT_S,
    PUT_RIGHT_S,
    TURN_S,
    UNCLEAR_CONFIDENCE,
    State,
    Track,
)
from companion.tracking.tracker import Tracks

MOST_PLAYS = 3
"""Maximum number of plays that a question offers."""


def reconcile(tracks: Tracks, record: Record, places: Places) -> tuple[Question, ...]:
    """Return what is to be asked, in the order of play."""
    table = record.table
    if table is None or table.is_over or table.extension_offered_to is not None:
        return ()
    return tuple(_Reconciliation(tracks, record, table, places).questions())


class _Reconciliation:
    """The tracks against the record, at one moment."""

    def __init__(self, tracks: Tracks, record: Record, table: Table, places: Places) -> None:
        self._tracks, self._record, self._table, self._places = tracks, record, table, places
        self._t_s = tracks.t_s
        self._now = balance(tracks, record.hand_seq, table, record.lines, places)
        self._beaten = BeatenHazards(tracks, record, table, places, self._now.extra)
        last = record.lines[-1].play if record.lines else None
        self._last_discard = last if last is not None and last.verb is Verb.DISCARD else None
        self._taken = self._taken_top()
        """The top of the discard pile, if it is gone and the player to move may have taken it."""

        self._moved = list(self._moves())
        self._refused = [track for track in self._now.extra if self._refusal(track) is not None]

    def questions(self) -> Iterator[Question]:
        """Yield what is to be asked: about each card that lies there, and once none of those has to wait, the rest."""
        acts = self._acts()
        if not acts and self._taken is not None and self._is_own(self._taken):
            # Only the next card can tell whether it was taken or taken back.
            return
        waits = [self._waits(act, acts[:n]) for n, act in enumerate(acts)]
        # What comes after a legal play depends on it.
        end = next((n for n, act in enumerate(acts) if waits[n] and act.is_legal), None)
        asked = [] if self._taken is None else [self._take(self._taken, acts)]
        asked += [self._of_act(act) for act, must_wait in zip(acts[:end], waits, strict=False) if not must_wait]
        if end is None:
            asked += map(self._still_there, self._refused)
            # What people are still to enter may be what took a card away.
            after = acts[-1].after if acts else self._table
            now = self._balance_after(acts, after)
            is_reshuffled = may_be_reshuffled(self._tracks, after, self._record.lines)
            is_gathering = not is_reshuffled and self._is_gathering(now.missing)
            if not (is_reshuffled or is_gathering or any(map(self._awaits_entry, acts))):
                asked += self._differences(now)
            asked += questions_of_the_piles(self._tracks, self._record, after, is_gathering=is_gathering)
        yield from (question for question in asked if question is not None)

    def _acts(self) -> tuple[Act, ...]:
        """What has been done with the cards that lie there and of which nothing is known yet, in order."""
        extra = self._now.extra
        known = {track.serial for track in (*self._refused, *(new for _, new in self._moved))}
        known |= {t.serial for track in extra if self._is_doubled(track) for t in self._accelerators(track)}
        carried = [hazard for hazard in self._beaten.uncounted() if self._refusal(hazard) is None]
        stickers = {track.card for track in carried if track.card is not None}
        cards = [*(t for t in extra if t.serial not in known and t.card not in stickers), *carried]
        start = self._table if self._taken is None else apply(self._table, taking(self._table))
        return self._with_one_stacked(cards, start, explained(cards, start, self._meaning))

    # What cards mean

    def _meaning(self, track: Track, table: Table) -> Act:
        face = known_face(track, self._tracks)
        if face is None or table.is_over or self._places.question(face, track.zone, table) is not None:
            return Act(track, None, table)
        guess = self._places.play_at(face, track.zone, track.place.sideways, table)
        accelerators = self._accelerators(track)
        if guess is None or (accelerators and not self._is_doubled(track)):
            return Act(track, None, table)
        play = replace(guess.play, times=2) if accelerators else guess.play
        return Act(track, play, table, objections(table, play), guess.clear)

    def _with_one_stacked(self, extra: Sequence[Track], table: Table, acts: tuple[Act, ...]) -> tuple[Act, ...]:
        """The acts, with a card laid exactly on one like it where that makes better sense of them."""
        told = Counter(line.serial for line in self._record.lines)
        laid_s = max((track.since_s for track in self._tracks.cards if told[track.serial]), default=0.0)
        last_s = max((track.since_s for track in extra), default=0.0)
        ways = [acts]
        for track in sorted(self._tracks.there, key=lambda track: -(track.stacked_s or 0.0)):
            answered = self._id(track, Kind.PLAY, "-stacked") in self._record.answers
            since = track.stacked_s is not None and laid_s <= track.stacked_s < last_s
            if since and told[track.serial] == 1 and not answered:
                upon = replace(self._meaning(track, table), is_stacked=True)
                if upon.is_legal:
                    ways.append((upon, *explained(extra, upon.after, self._meaning)))
        return min(ways, key=cost_of)

    def _accelerators(self, track: Track) -> list[Track]:
        """The accelerators that came to lie together with a distance card, and of which people have said nothing."""
        if track.face.family is not Family.DISTANCE:
            return []
        return [
            t
            for t in self._now.extra
            if t.face is Card.ACCELERATOR
            and t.zone == track.zone
            and abs(t.since_s - track.since_s) <= LAYING_S
            and self._id(t, Kind.DIFFERS) not in self._record.answers
        ]

    def _is_doubled(self, track: Track) -> bool:
        """True if one accelerator came with this distance card, and with it alone."""
        accelerators = self._accelerators(track)
        return len(accelerators) == 1 and not any(
            other is not track and self._accelerators(other) == accelerators for other in self._now.extra
        )

    def _moves(self) -> Iterator[tuple[Track, Track]]:
        """Yield the cards that have gone from one zone and lie in another: each with where it lies now."""
        is_reshuffled = may_be_reshuffled(self._tracks, self._table, self._record.lines)
        gone = [t for t in self._now.missing if t is not self._taken and not (is_reshuffled and t.zone == DISCARD_ZONE)]
        for new in self._now.extra:
            for old in gone:
                is_same = self._may_be_moved(old, new) if new.card is None else new.card == old.card
                if old.zone != new.zone and is_same:
                    yield old, new
                    break

    def _may_be_moved(self, old: Track, new: Track) -> bool:
        """True if a card without a sticker was carried off, or put right by whoever has just laid it."""
        is_last = bool(self._record.lines) and self._record.lines[-1].serial == old.serial
        is_soon = old.seen_s < new.since_s <= old.last_there_s + PUT_RIGHT_S
        return self._beaten.is_carried(old, new) or (is_last and is_soon and new.face is old.face)

    def _taken_top(self) -> Track | None:
        gone = [t for t in self._now.missing if t.zone == DISCARD_ZONE]
        if len(gone) != 1 or gone[0].face is not takeable(self._table) or self._is_put_right(gone[0]):
            return None
        return gone[0] if self._id(gone[0], Kind.PLAY, "-taken") not in self._record.answers else None

    def _is_put_right(self, top: Track) -> bool:
        """True if whoever discarded a card has laid it elsewhere."""
        laid_by = self._last_discard.player if self._last_discard is not None else None
        new = next((t for t in self._now.extra if t.card is not None and t.card == top.card), None)
        return new is not None and self._places.is_taken(top.face, new.zone, self._table, laid_by) is False

    def _is_own(self, top: Track) -> bool:
        """True if the last play discarded this card."""
        return self._last_discard is not None and self._last_discard.card is top.face

    # Waiting

    def _waits(self, act: Act, before: Sequence[Act]) -> bool:
        """True if it is too early to say what a card means."""
        return not act.is_stacked and (
            self._may_be_doubled(act)
            or self._may_have_moved(act.track)
            or self._may_have_taken(act)
            or (act.turn_matters and self._may_follow_another(act, before))
        )

    def _may_be_doubled(self, act: Act) -> bool:
        """True if an accelerator may be laid with it yet."""
        is_distance = act.track.face.family is Family.DISTANCE
        return is_distance and Card.ACCELERATOR in act.table.edition.deck and self._lies_s(act.track) < MOMENT_S

    def _may_have_moved(self, track: Track) -> bool:
        """True if a card told by its face may be one that has just left its place, or whose place is out of sight."""
        if track.card is not None or self._lies_s(track) >= PUT_RIGHT_S:
            return False
        alike = (t for t in self._tracks.there if t.face is track.face and t.zone != track.zone)
        return any(not t.is_in_sight and (track.is_laid_off_hazard or t.absent_since_s is not None) for t in alike)

    def _may_have_taken(self, act: Act) -> bool:
        """True if the top of the discard pile is missing, and in a moment will have been taken before this."""
        top = takeable(act.table)
        tops = (t for t in self._tracks.there if t.zone == DISCARD_ZONE and t.face is top)
        return any(t.absent_since_s is not None and t.absent_since_s <= act.track.since_s for t in tops)

    def _may_follow_another(self, act: Act, before: Sequence[Act]) -> bool:
        """True if a play before it may not have been entered, or its card not be in sight, or be read, yet."""
        if any(map(self._awaits_entry, before)):
            return True
        if self._lies_s(act.track) >= TURN_S:
            return False
        others = [t for t in self._tracks.cards if t is not act.track]
        return self._may_hide_another(act) or any(
            self._is_coming(t, act.track) or self._is_being_read(t) for t in others
        )

    def _may_hide_another(self, act: Act) -> bool:
        """True if an arm has been over a zone where the player to move may have laid a card since before this one."""
        reach = self._tracks.zones_under_arms & (self._places.within_reach(act.table) - {act.track.zone})
        return any(self._tracks.hidden_since_s[zone] <= act.track.since_s for zone in reach)

    @staticmethod
    def _is_coming(other: Track, track: Track) -> bool:
        """True if another card has been seen, too seldom to count, that may have been laid before this one."""
        return other.state is State.SEEN and other.is_in_sight and other.earliest_s <= track.since_s

    def _is_being_read(self, track: Track) -> bool:
        """True if a card was laid a moment ago of which it is still to be told which it is."""
        if not track.is_there or track.face is not Card.UNKNOWN or not track.is_in_sight:
            return False
        told = any(line.serial == track.serial for line in self._record.lines) or self._refusal(track) is not None
        is_open = not told and self._lies_s(track) < TURN_S and known_face(track, self._tracks) is None
        return is_open and bool(candidates(track, self._tracks))

    def _awaits_entry(self, act: Act) -> bool:
        """True if people are asked to enter what was played with a card, and have not answered."""
        face = known_face(act.track, self._tracks)
        asks = face is not None and self._places.question(face, act.track.zone, act.table) is not None
        return asks and self._id(act.track, Kind.DIFFERS) not in self._record.answers

    def _lies_s(self, track: Track) -> float:
        return self._t_s - track.since_s

    # Questions about cards that lie there

    def _id(self, track: Track, kind: Kind, suffix: str = "") -> str:
        name = f"{track.card or track.face.value}{suffix}"
        return question_id(self._record.match, self._record.hand_seq, name, track.serial, kind)

    def _refusal(self, track: Track) -> Answered | None:
        """The answer of people who said that a card is no play, or goes back to the hand."""
        said = (self._record.answers.get(self._id(track, kind)) for kind in (Kind.PLAY, Kind.WHICH))
        return next((one for one in said if one is not None and one.answer in (Answer.NO, Answer.TAKEN_BACK)), None)

    def _of_act(self, act: Act) -> Question | None:
        track, face = act.track, known_face(act.track, self._tracks)
        if face is None:
            return self._which(act)
        sentence = self._places.question(face, track.zone, act.table)
        if sentence is not None:
            return self._differs(track, sentence, seen=face)
        if act.play is None:
            return None
        confidence, others = self._confidence(act, face), []
        if confidence < SURE_CONFIDENCE:
            ranked = plays_of(track, self._tracks, act.table, self._places)
            others = [play for play, _ in ranked if play != act.play]
        ident = self._id(track, Kind.PLAY, "-stacked" if act.is_stacked else "")
        return self._play(ident, (act.play, *others)[:MOST_PLAYS], act, confidence)

    def _confidence(self, act: Act, face: Card) -> float:
        track = act.track
        doubtful = track.is_double or act.is_stacked or face is not track.face or self._lay_before(track)
        most = 1.0 if act.clear else UNCLEAR_CONFIDENCE
        if doubtful or act.is_out_of_turn:
            most = DOUBTFUL_CONFIDENCE
        return round(min(most, track.confidence) if face is track.face else most, 2)

    def _lay_before(self, track: Track) -> bool:
        """True if a card counts that was laid after this one: that one may have lain on, and mean nothing."""
        counted = (self._tracks.of_serial(line.serial) for line in self._record.lines if line.serial is not None)
        return any(other is not None and other.earliest_s > track.since_s for other in counted)

    @staticmethod
    def _play(ident: str, plays: tuple[Play, ...], act: Act, confidence: float) -> Question:
        sure = act.clear and confidence >= SURE_CONFIDENCE
        return Question(
            ident, Kind.PLAY, act.track.zone, plays, act.table, act.reasons, confidence=confidence, sure=sure
        )

    def _which(self, act: Act) -> Question | None:
        """A card that cannot be read, once it has been looked at often enough."""
        plays = plays_of(act.track, self._tracks, act.table, self._places)
        if not plays or not is_ripe(act.track, self._t_s):
            return None
        return Question(
            self._id(act.track, Kind.WHICH),
            Kind.WHICH,
            act.track.zone,
            tuple(play for play, _ in plays[:MOST_PLAYS]),
            act.table,
            objections(act.table, plays[0][0]),
            confidence=plays[0][1],
            sure=False,
        )

    def _still_there(self, track: Track) -> Question | None:
        """A card that was to be taken back and lies there still although the game has gone on."""
        said = self._refusal(track)
        if said is None or said.answer is not Answer.TAKEN_BACK or not track.is_in_sight:
            return None
        if not any(line.seq > said.seq for line in self._record.lines):
            return None
        card, zone = named(track.face), where(track.zone)
        sentence = say("%(card)s was to be taken back and still lies on %(zone)s.", card=card, zone=zone)
        return self._differs(track, sentence, seen=track.face)

    # Questions about cards that are gone

    def _take(self, top: Track, acts: Sequence[Act]) -> Question | None:
        """The discard that is gone was taken; the last play, it may have been taken back."""
        clear = True
        if self._is_own(top):
            back = explained([act.track for act in acts], self._record.lines[-1].before, self._meaning)
            lead = cost_of(back) + UNCLEAR - cost_of(acts)
            if lead < 0:
                return self._gone(top)
            clear = lead > UNCLEAR
        act = Act(top, taking(self._table), self._table, clear=clear)
        ident = self._id(top, Kind.PLAY, "-taken")
        return self._play(ident, (taking(self._table),), act, 1.0 if clear else UNCLEAR_CONFIDENCE)

    def _balance_after(self, acts: Sequence[Act], after: Table) -> Balance:
        """Return how the cards differ from the record once these acts count."""
        lines = list(self._record.lines)
        for act in acts:
            if act.play is not None and act.is_legal:
                seq = lines[-1].seq if lines else self._record.hand_seq
                lines.append(Line(seq + 1, act.play, act.table, act.track.serial))
        return balance(self._tracks, self._record.hand_seq, after, lines, self._places)

    def _is_gathering(self, missing: Sequence[Track]) -> bool:
        """True if so many cards are gone that somebody gathers them in."""
        recent = any(self._t_s - t.last_there_s < 2 * TURN_S for t in missing)
        return len(missing) >= MANY and (recent or self._tracks.bare_since_s is not None)

    def _differences(self, now: Balance) -> list[Question | None]:
        """Return what is asked about cards that the record has and the table has not, or elsewhere."""
        elsewhere = {old.serial: new for old, new in self._moved if new in now.extra}
        gone = (track for track in now.missing if track is not self._taken)
        return [self._elsewhere(t, elsewhere[t.serial]) if t.serial in elsewhere else self._gone(t) for t in gone]

    def _elsewhere(self, old: Track, new: Track) -> Question | None:
        if self._beaten.explains(old, new):
            return None
        card, was_on, is_on = named(old.face), where(old.zone), where(new.zone)
        sentence = say("%(card)s has moved from %(old)s to %(new)s.", card=card, old=was_on, new=is_on)
        return self._differs(old, sentence, expected=old.face)

    def _gone(self, track: Track) -> Question | None:
        sentence = say("%(card)s is no longer on %(zone)s.", card=named(track.face), zone=where(track.zone))
        return self._differs(track, sentence, expected=track.face)

    def _differs(
        self, track: Track, sentence: Said, *, expected: Card | None = None, seen: Card | None = None
    ) -> Question | None:
        """The question, unless people have said that the record is right, or all right while the zone lies so."""
        ident = self._id(track, Kind.DIFFERS)
        about = ",".join(str(t.serial) for t in self._tracks.there if t.zone == track.zone)
        answered = self._record.answers.get(ident)
        if answered is not None and (answered.answer is Answer.RECORD or answered.about == about):
            return None
        return Question(
            ident,
            Kind.DIFFERS,
            track.zone,
            table=self._table,
            say=sentence,
            sure=False,
            expected=expected,
            seen=seen,
            line=self._line_of(track) if expected is not None else None,
            about=about,
        )

    def _line_of(self, track: Track) -> int | None:
        """The line that laid a card: the one told by it, or the last that laid one like it there."""
        spot, lines = (track.zone, track.face), self._record.lines[::-1]
        own = [line for line in lines if line.serial == track.serial]
        alike = [line for line in lines if spot in spots_of(line, self._places)]
        return next((line.seq for line in (*own, *alike)), None)

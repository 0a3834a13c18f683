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
from companion.match.questions import SURE_CONFIDENCE, Answer, Kind, Question
from companion.match.zone_plays import Places, named, where
from companion.rules.cards import SAFETY_OF, Card, Family
from companion.rules.play import Play, Verb
from companion.rules.referee import apply, objections
from companion.rules.table import Table
from companion.tabletop.mat_layout import DISCARD_ZONE, mat_of
from companion.tracking.acts import UNCLEAR, Act, cost_of, doubled, explained, is_ripe, known_face, plays_of
from companion.tracking.balance import Balance, balance
from companion.tracking.clearing import MANY, may_be_reshuffled, questions_of_the_piles
from companion.tracking.deferral import Deferral
from companion.tracking.hand_record import Deed, Line, Record, spots_of, takeable, taking
from companion.tracking.track import DOUBTFUL_CONFIDENCE, PUT_RIGHT_S, TURN_S, UNCLEAR_CONFIDENCE, Track
from companion.tracking.tracker import Tracks

MOST_PLAYS = 3  # maximum number of plays that a question offers


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
        self._balance = balance(tracks, record.hand_seq, table, record.lines, places)
        self._doubling, self._unclear = doubled(self._balance.extra, record)
        self._deferral = Deferral(tracks, record, places)
        last = record.lines[-1].play if record.lines else None
        self._last_discard = last if last is not None and last.verb is Verb.DISCARD else None
        self._taken = self._taken_top()  # the top discard, if it is gone and the player to move may have it
        self._moved = list(self._moves())
        self._refused = [track for track in self._balance.extra if record.refusal(track) is not None]

    def questions(self) -> Iterator[Question]:
        """Yield what is to be asked: about each card that lies there, and once none of those has to wait, the rest."""
        acts = self._acts()
        if not acts and self._taken is not None and self._was_just_discarded(self._taken):
            # Only the next card can tell whether it was taken or taken back.
            return
        waits = [self._deferral.is_too_early(act, acts[:n]) for n, act in enumerate(acts)]
        # What comes after a legal play depends on it.
        end = next((n for n, act in enumerate(acts) if waits[n] and act.is_legal), None)
        asked = [] if self._taken is None else [self._about_taken(self._taken, acts)]
        asked += [self._about_act(act) for act, must_wait in zip(acts[:end], waits, strict=False) if not must_wait]
        if end is None:
            asked += map(self._about_refused, self._refused)
            # What people are still to enter may be what took a card away.
            after = acts[-1].after if acts else self._table
            now = self._balance_after(acts, after)
            is_reshuffled = may_be_reshuffled(self._tracks, after, self._record.lines)
            is_gathering = not is_reshuffled and self._is_gathering(now.missing)
            if not (is_reshuffled or is_gathering or any(map(self._deferral.awaits_entry, acts))):
                asked += self._differences(now)
            asked += questions_of_the_piles(self._tracks, self._record, after, is_gathering=is_gathering)
        yield from (question for question in asked if question is not None)

    def _acts(self) -> tuple[Act, ...]:
        """What has been done with the cards that lie there and of which nothing is known yet, in order."""
        extra = self._balance.extra
        known = {track.serial for track in (*self._refused, *(new for _, new in self._moved))}
        known |= set(self._doubling.values())
        carried = [hazard for hazard in self._uncounted() if self._record.refusal(hazard) is None]
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
        if guess is None or track.serial in self._unclear:
            return Act(track, None, table)
        play = replace(guess.play, times=2) if track.serial in self._doubling else guess.play
        return Act(track, play, table, objections(table, play), guess.clear)

    def _with_one_stacked(self, extra: Sequence[Track], table: Table, acts: tuple[Act, ...]) -> tuple[Act, ...]:
        """The acts, with a card laid exactly on one like it where that makes better sense of them."""
        told = Counter(line.serial for line in self._record.lines)
        laid_s = max((track.since_s for track in self._tracks.cards if told[track.serial]), default=0.0)
        last_s = max((track.since_s for track in extra), default=0.0)
        ways = [acts]
        for track in sorted(self._tracks.there, key=lambda track: -(track.stacked_s or 0.0)):
            answered = self._record.answer(track, Kind.PLAY, Deed.STACKED) is not None
            since = track.stacked_s is not None and laid_s <= track.stacked_s < last_s
            if since and told[track.serial] == 1 and not answered:
                upon = replace(self._meaning(track, table), is_stacked=True)
                if upon.is_legal:
                    ways.append((upon, *explained(extra, upon.after, self._meaning)))
        return min(ways, key=cost_of)

    def _moves(self) -> Iterator[tuple[Track, Track]]:
        """Yield the cards that have gone from one zone and lie in another: each with where it lies now."""
        is_reshuffled = may_be_reshuffled(self._tracks, self._table, self._record.lines)
        missing = [t for t in self._balance.missing if t is not self._taken]
        gone = [t for t in missing if not (is_reshuffled and t.zone == DISCARD_ZONE)]
        for new in self._balance.extra:
            for old in gone:
                is_same = self._may_be_moved(old, new) if new.card is None else new.card == old.card
                if old.zone != new.zone and is_same:
                    yield old, new
                    break

    def _may_be_moved(self, old: Track, new: Track) -> bool:
        """True if a card without a sticker was carried off, or put right by whoever has just laid it."""
        is_last = bool(self._record.lines) and self._record.lines[-1].serial == old.serial
        is_soon = old.seen_s < new.since_s <= old.last_there_s + PUT_RIGHT_S
        return self._is_carried(old, new) or (is_last and is_soon and new.face is old.face)

    def _taken_top(self) -> Track | None:
        gone = [t for t in self._balance.missing if t.zone == DISCARD_ZONE]
        if len(gone) != 1 or gone[0].face is not takeable(self._table) or self._is_put_right(gone[0]):
            return None
        return gone[0] if self._record.answer(gone[0], Kind.PLAY, Deed.TAKEN) is None else None

    def _is_put_right(self, top: Track) -> bool:
        """True if whoever discarded a card has laid it elsewhere."""
        laid_by = self._last_discard.player if self._last_discard is not None else None
        new = next((t for t in self._balance.extra if t.card is not None and t.card == top.card), None)
        return new is not None and self._places.is_taken(top.face, new.zone, self._table, laid_by) is False

    def _was_just_discarded(self, top: Track) -> bool:
        """True if the last play discarded this card."""
        return self._last_discard is not None and self._last_discard.card is top.face

    # Beaten hazards are carried to the discard pile at any time: before the attack counts, before the card that beats
    # them is in sight, turns later, or never. So one on that pile need not have been discarded, and one that has left
    # its place need not have been taken back.

    def _uncounted(self) -> list[Track]:
        """Return those that a safety has beaten, or may have, and that have gone before their attack counted."""
        lines = self._record.lines
        told = {line.serial for line in lines}
        counted = {spot for line in lines for spot in spots_of(line, self._places)}
        return [
            track
            for track in self._tracks.gone
            if track.face.family is Family.HAZARD
            and track.laid_since(self._record.hand_seq)
            and track.serial not in told
            and (track.zone, track.face) not in counted
            and self._is_beaten(track)
        ]

    def _is_beaten(self, hazard: Track) -> bool:
        gone_s = self._tracks.t_s - hazard.seen_s
        stickers = {track.card for track in self._tracks.there if track.zone == DISCARD_ZONE}
        if gone_s > TURN_S and (hazard.card is None or hazard.card not in stickers):
            return False
        zone = f"{mat_of(hazard.zone)}/safety"
        soon = zone in self._tracks.hidden_since_s and gone_s < PUT_RIGHT_S
        safeties = (track.face for track in (*self._balance.extra, *self._tracks.coming) if track.zone == zone)
        return soon or SAFETY_OF[hazard.face] in safeties

    @staticmethod
    def _is_carried(old: Track, new: Track) -> bool:
        """True if a card on the discard pile, told by its face, may be the hazard that has just left its place."""
        return new.is_laid_off_hazard and new.face is old.face and 0 <= new.since_s - old.seen_s <= TURN_S

    def _explains(self, old: Track, new: Track) -> bool:
        """True if a card that lies elsewhere now is a hazard that was beaten, or whose safety may come into sight."""
        if not new.is_laid_off_hazard:
            return False
        zone = f"{mat_of(old.zone)}/safety"
        has_remedy = new.face in self._places.cards(self._table, old.zone)[:-1]
        has_safety = SAFETY_OF[new.face] in self._places.cards(self._table, zone)
        is_coming = zone in self._tracks.hidden_since_s or any(track.zone == zone for track in self._tracks.coming)
        return has_remedy or has_safety or is_coming or self._tracks.t_s - new.since_s < PUT_RIGHT_S

    # Questions about cards that lie there

    def _about_act(self, act: Act) -> Question | None:
        track, face = act.track, known_face(act.track, self._tracks)
        if face is None:
            return self._about_unread(act)
        sentence = self._places.question(face, track.zone, act.table)
        if sentence is not None:
            return self._difference(track, sentence, seen=face)
        if act.play is None:
            return None
        confidence, others = self._confidence(act, face), []
        if confidence < SURE_CONFIDENCE:
            ranked = plays_of(track, self._tracks, act.table, self._places)
            others = [play for play, _ in ranked if play != act.play]
        ident = self._record.question_id(track, Kind.PLAY, Deed.STACKED if act.is_stacked else Deed.LAID)
        return self._play(ident, (act.play, *others)[:MOST_PLAYS], act, confidence)

    def _confidence(self, act: Act, face: Card) -> float:
        track = act.track
        doubtful = track.is_double or act.is_stacked or face is not track.face or self._lay_before(track)
        doubtful = doubtful or (act.turn_matters and self._may_be_missed(act))
        most = 1.0 if act.clear else UNCLEAR_CONFIDENCE
        if doubtful or act.is_out_of_turn:
            most = DOUBTFUL_CONFIDENCE
        return round(min(most, track.confidence) if face is track.face else most, 2)

    def _may_be_missed(self, act: Act) -> bool:
        """True if the player to move may have laid a card where nobody has looked since the pictures broke off."""
        return bool(self._tracks.unseen_zones & (self._places.within_reach(act.table) - {act.track.zone}))

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

    def _about_unread(self, act: Act) -> Question | None:
        """A card that cannot be read, once it has been looked at often enough."""
        plays = plays_of(act.track, self._tracks, act.table, self._places)
        if not plays or not is_ripe(act.track, self._t_s):
            return None
        return Question(
            self._record.question_id(act.track, Kind.WHICH),
            Kind.WHICH,
            act.track.zone,
            tuple(play for play, _ in plays[:MOST_PLAYS]),
            act.table,
            objections(act.table, plays[0][0]),
            confidence=plays[0][1],
            sure=False,
        )

    def _about_refused(self, track: Track) -> Question | None:
        """A card that was to be taken back and lies there still although the game has gone on."""
        said = self._record.refusal(track)
        if said is None or said.answer is not Answer.TAKEN_BACK or not track.is_in_sight:
            return None
        if not any(line.seq > said.seq for line in self._record.lines):
            return None
        card, zone = named(track.face), where(track.zone)
        sentence = say("%(card)s was to be taken back and still lies on %(zone)s.", card=card, zone=zone)
        return self._difference(track, sentence, seen=track.face)

    # Questions about cards that are gone

    def _about_taken(self, top: Track, acts: Sequence[Act]) -> Question | None:
        """The discard that is gone was taken; the last play, it may have been taken back."""
        clear = True
        if self._was_just_discarded(top):
            back = explained([act.track for act in acts], self._record.lines[-1].before, self._meaning)
            lead = cost_of(back) + UNCLEAR - cost_of(acts)
            if lead < 0:
                return self._about_gone(top)
            clear = lead > UNCLEAR
        act = Act(top, taking(self._table), self._table, clear=clear)
        ident = self._record.question_id(top, Kind.PLAY, Deed.TAKEN)
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
        moved = {old.serial: new for old, new in self._moved if new in now.extra}
        gone = (track for track in now.missing if track is not self._taken)
        return [self._about_moved(t, moved[t.serial]) if t.serial in moved else self._about_gone(t) for t in gone]

    def _about_moved(self, old: Track, new: Track) -> Question | None:
        if self._explains(old, new):
            return None
        card, was_on, is_on = named(old.face), where(old.zone), where(new.zone)
        sentence = say("%(card)s has moved from %(old)s to %(new)s.", card=card, old=was_on, new=is_on)
        return self._difference(old, sentence, expected=old.face)

    def _about_gone(self, track: Track) -> Question | None:
        sentence = say("%(card)s is no longer on %(zone)s.", card=named(track.face), zone=where(track.zone))
        return self._difference(track, sentence, expected=track.face)

    def _difference(
        self, track: Track, sentence: Said, *, expected: Card | None = None, seen: Card | None = None
    ) -> Question | None:
        """The question, unless people have said that the record is right, or all right while the zone lies so."""
        ident = self._record.question_id(track, Kind.DIFFERS)
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

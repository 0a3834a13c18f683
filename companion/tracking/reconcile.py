"""What lies on the table against what the record has: the questions that follow, derived anew at each look.

The record says what should lie in each zone, the tracks say what does. Cards that agree ask nothing. The others are
explained by acts: a card laid, a card taken from the discard pile, a discard taken back, a card moved. The cheapest
explanation counts: legal in turn before out of turn before illegal, in the order in which the cards came into sight.
The rules break a tie; a card that lies there is asked about however illegal it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
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
from companion.rules.cards import SAFETY_OF, Card, Family
from companion.rules.play import Play, Verb
from companion.rules.referee import apply, objections
from companion.rules.table import Table
from companion.tabletop.mat_layout import DISCARD_ZONE, mat_of
from companion.tracking.acts import UNCLEAR, Act, cost_of, explained
from companion.tracking.balance import Balance, balance
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
        self._now = self._balance(table, record.lines)

    def _balance(self, table: Table, lines: Sequence[Line]) -> Balance:
        return balance(self._tracks, self._record.hand_seq, table, lines, self._places)

    def questions(self) -> Iterator[Question]:
        moved = self._moved()
        refused = [track for track in self._now.extra if self._refusal(track) is not None]
        extra = self._to_explain({track.serial for track in refused} | {new.serial for _, new in moved})
        top = self._taken_top()
        last = self._record.lines[-1].play if self._record.lines else None
        start = self._table if top is None else apply(self._table, taking(self._table))
        acts = self._with_one_stacked(extra, start, explained(extra, start, self._meaning))
        if top is not None:
            is_own = last is not None and last.verb is Verb.DISCARD and last.card is top.face
            if is_own and not acts:
                # Only the next card can tell whether it was taken or taken back.
                return
            yield from self._take(top, acts, is_own=is_own)
        lines, table = list(self._record.lines), acts[-1].after if acts else self._table
        for n, act in enumerate(acts):
            if not self._waits(act, acts[:n]):
                yield from self._of_act(act)
            elif act.is_legal:
                # What comes after it depends on it.
                return
            if act.play is not None and act.is_legal:
                lines.append(Line(lines[-1].seq + 1 if lines else 0, act.play, act.table, act.track.serial))
        yield from self._still_there(refused)
        if not any(self._is_to_be_entered(act) for act in acts):
            # Else what people enter may be what took a card away.
            yield from self._differences(self._balance(table, lines), moved, table)
        yield from questions_of_the_piles(self._tracks, self._record, table)

    def _to_explain(self, known: Collection[int]) -> list[Track]:
        """The cards that lie there and of which nothing is known yet; `known` are the serials of others."""
        doubled = (track for track in self._now.extra if self._is_doubled(track))
        known = {*known, *(t.serial for track in doubled for t in self._accelerators(track))}
        carried = self._carried_off()
        cards = {track.card for track in carried if track.card is not None}
        left = (track for track in self._now.extra if track.serial not in known and track.card not in cards)
        return [*left, *carried]

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

    def _carried_off(self) -> list[Track]:
        """Hazards that a safety has beaten, gone from where they lay before their attack counted."""
        told = {line.serial for line in self._record.lines}
        counted = {spot for line in self._record.lines for spot in spots_of(line, self._places)}
        gone = (t for t in self._tracks.cards if t.state is State.GONE and t.face.family is Family.HAZARD)
        open_ = (t for t in gone if t.serial not in told and (t.zone, t.face) not in counted)
        mine = (t for t in open_ if t.zone != DISCARD_ZONE and self._refusal(t) is None)
        return [t for t in mine if (t.laid_seq or -1) >= self._record.hand_seq and self._is_beaten(t)]

    def _is_beaten(self, hazard: Track) -> bool:
        """True if a safety that beats a hazard lies before the side that it attacked, or may be coming."""
        zone = f"{mat_of(hazard.zone)}/safety"
        on_pile = any(
            t.card is not None and t.card == hazard.card and t.zone == DISCARD_ZONE for t in self._tracks.there
        )
        if not on_pile and self._t_s - hazard.seen_s > TURN_S:
            return False
        coming = (t for t in self._tracks.cards if t.state is State.SEEN)
        safeties = (t for t in (*self._now.extra, *coming) if t.zone == zone)
        soon = zone in self._tracks.hidden_since_s and self._t_s - hazard.seen_s < PUT_RIGHT_S
        return soon or any(t.face is SAFETY_OF[hazard.face] for t in safeties)

    def _with_one_stacked(self, extra: Sequence[Track], table: Table, acts: tuple[Act, ...]) -> tuple[Act, ...]:
        """The acts, with a card laid exactly on one like it where that makes better sense of them."""
        told = Counter(line.serial for line in self._record.lines)
        first_s = min((track.since_s for track in extra), default=0.0)
        laid_s = max((track.since_s for track in self._tracks.cards if told[track.serial]), default=0.0)
        ways = [acts]
        for track in sorted(self._tracks.there, key=lambda track: -(track.stacked_s or 0.0)):
            answered = self._id(track, Kind.PLAY, "-stacked") in self._record.answers
            since = track.stacked_s is not None and laid_s <= track.stacked_s < first_s
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

    def _moved(self) -> list[tuple[Track, Track]]:
        """Cards that have gone from one zone and lie in another: each with where it lies now."""
        pairs, left = [], [track for track in self._now.missing if track is not self._taken_top()]
        if may_be_reshuffled(self._tracks, self._table, self._record.lines):
            left = [track for track in left if track.zone != DISCARD_ZONE]
        for new in self._now.extra:
            old = next((old for old in left if old.zone != new.zone and self._is_same(old, new)), None)
            if old is not None:
                pairs.append((old, new))
        return pairs

    @staticmethod
    def _is_same(old: Track, new: Track) -> bool:
        """True if a card is another's next place; of cards told by their faces only a beaten hazard is followed."""
        if new.card is not None:
            return new.card == old.card
        carried = new.face is old.face and new.face.family is Family.HAZARD and new.zone == DISCARD_ZONE
        return carried and 0 <= new.since_s - old.seen_s <= TURN_S

    def _taken_top(self) -> Track | None:
        """The top of the discard pile where it is gone and the player to move may have taken it."""
        gone = [t for t in self._now.missing if t.zone == DISCARD_ZONE]
        if len(gone) != 1 or gone[0].face is not takeable(self._table) or self._is_put_right(gone[0]):
            return None
        was_refused = self._id(gone[0], Kind.PLAY, "-taken") in self._record.answers
        return None if was_refused else gone[0]

    def _is_put_right(self, top: Track) -> bool:
        """True if whoever discarded a card has laid it elsewhere."""
        last = self._record.lines[-1].play if self._record.lines else None
        laid_by = last.player if last is not None and last.verb is Verb.DISCARD else None
        new = next((t for t in self._now.extra if t.card is not None and t.card == top.card), None)
        return new is not None and self._places.is_taken(top.face, new.zone, self._table, laid_by) is False

    # Waiting

    def _waits(self, act: Act, before: Sequence[Act]) -> bool:
        """True if it is too early to say what a card means: one before it may not be in sight, or be read, yet."""
        track, lies_s = act.track, self._t_s - act.track.since_s
        if act.is_stacked:
            return False
        if Card.ACCELERATOR in act.table.edition.deck and track.face.family is Family.DISTANCE and lies_s < MOMENT_S:
            return True
        if (lies_s < PUT_RIGHT_S and self._may_be_carried(track)) or self._may_have_taken(act):
            return True
        if not act.turn_matters:
            return False
        if any(self._is_to_be_entered(other) for other in before):
            return True
        if lies_s >= TURN_S:
            return False
        arms = {zone for zone in self._tracks.zones_under_arms if self._tracks.hidden_since_s[zone] <= track.since_s}
        seen = (t for t in self._tracks.cards if t.state is State.SEEN and t.is_in_sight and t is not track)
        coming = any(t.earliest_s <= track.since_s for t in seen)
        reach = arms & (self._places.within_reach(act.table) - {track.zone})
        return bool(reach) or coming or any(self._is_being_read(t) for t in self._tracks.there if t is not track)

    def _is_to_be_entered(self, act: Act) -> bool:
        """True if people are asked to enter what was played with a card, and have not answered."""
        face = known_face(act.track, self._tracks)
        asks = face is not None and self._places.question(face, act.track.zone, act.table) is not None
        return asks and self._id(act.track, Kind.DIFFERS) not in self._record.answers

    def _may_have_taken(self, act: Act) -> bool:
        """True if the top of the discard pile is missing, and in a moment will have been taken before this."""
        top = takeable(act.table)
        tops = (t for t in self._tracks.there if t.zone == DISCARD_ZONE and t.face is top)
        return any(t.absent_since_s is not None and t.absent_since_s <= act.track.since_s for t in tops)

    def _is_being_read(self, track: Track) -> bool:
        """True if a card was laid a moment ago of which it is still to be told which it is."""
        if track.face is not Card.UNKNOWN or not track.is_in_sight or self._t_s - track.since_s >= TURN_S:
            return False
        told = any(line.serial == track.serial for line in self._record.lines) or self._refusal(track) is not None
        return not told and known_face(track, self._tracks) is None and bool(candidates(track, self._tracks))

    def _may_be_carried(self, track: Track) -> bool:
        """True if a card told by its face may be one that has just left its place, or whose place is out of sight."""
        if track.card is not None:
            return False
        alike = (t for t in self._tracks.there if t.face is track.face and t.zone != track.zone)
        hazard = track.face.family is Family.HAZARD and track.zone == DISCARD_ZONE
        return any(not t.is_in_sight and (hazard or t.absent_since_s is not None) for t in alike)

    # Questions about cards that lie there

    def _id(self, track: Track, kind: Kind, suffix: str = "") -> str:
        name = f"{track.card or track.face.value}{suffix}"
        return question_id(self._record.match, self._record.hand_seq, name, track.serial, kind)

    def _refusal(self, track: Track) -> Answered | None:
        """The answer of people who said that a card is no play, or goes back to the hand."""
        said = (self._record.answers.get(self._id(track, kind)) for kind in (Kind.PLAY, Kind.WHICH))
        return next((one for one in said if one is not None and one.answer in (Answer.NO, Answer.TAKEN_BACK)), None)

    def _of_act(self, act: Act) -> Iterator[Question]:
        track, face = act.track, known_face(act.track, self._tracks)
        if face is None:
            yield from self._which(act)
            return
        sentence = self._places.question(face, track.zone, act.table)
        if sentence is not None:
            yield from self._differs(track, sentence, seen=face)
        elif act.play is not None:
            confidence = self._confidence(act, face)
            others = () if confidence >= SURE_CONFIDENCE else self._others(act)
            ident = self._id(track, Kind.PLAY, "-stacked" if act.is_stacked else "")
            yield self._play(ident, (act.play, *others), act, confidence)

    def _confidence(self, act: Act, face: Card) -> float:
        track = act.track
        doubtful = track.is_double or act.is_stacked or face is not track.face or self._lay_before(track)
        most = min(
            DOUBTFUL_CONFIDENCE if doubtful or act.is_out_of_turn else 1.0,
            1.0 if act.clear else UNCLEAR_CONFIDENCE,
        )
        return round(min(most, track.confidence if face is track.face else 1.0), 2)

    def _lay_before(self, track: Track) -> bool:
        """True if a card counts that was laid after this one: that one may have lain on, and mean nothing."""
        counted = (self._tracks.of_serial(line.serial) for line in self._record.lines if line.serial is not None)
        return any(other is not None and other.earliest_s > track.since_s for other in counted)

    def _others(self, act: Act) -> tuple[Play, ...]:
        """What else an unsure card may mean."""
        ranked = plays_of(act.track, self._tracks, act.table, self._places)
        return tuple(play for play, _ in ranked if play != act.play)[: MOST_PLAYS - 1]

    @staticmethod
    def _play(ident: str, plays: tuple[Play, ...], act: Act, confidence: float) -> Question:
        sure = act.clear and confidence >= SURE_CONFIDENCE
        return Question(
            ident, Kind.PLAY, act.track.zone, plays, act.table, act.reasons, confidence=confidence, sure=sure
        )

    def _which(self, act: Act) -> Iterator[Question]:
        """A card that cannot be read, once it has been looked at often enough."""
        plays = plays_of(act.track, self._tracks, act.table, self._places)
        if plays and is_ripe(act.track, self._t_s):
            yield Question(
                id=self._id(act.track, Kind.WHICH),
                kind=Kind.WHICH,
                zone=act.track.zone,
                plays=tuple(play for play, _ in plays[:MOST_PLAYS]),
                table=act.table,
                reasons=objections(act.table, plays[0][0]),
                confidence=plays[0][1],
                sure=False,
            )

    def _still_there(self, refused: Iterable[Track]) -> Iterator[Question]:
        """Cards that were to be taken back and lie there still although the game has gone on."""
        for track in refused:
            said = self._refusal(track)
            gone_on = said is not None and any(line.seq > said.seq for line in self._record.lines)
            if said is not None and said.answer is Answer.TAKEN_BACK and gone_on and track.is_in_sight:
                sentence = say(
                    "%(card)s was to be taken back and still lies on %(zone)s.",
                    card=named(track.face),
                    zone=where(track.zone),
                )
                yield from self._differs(track, sentence, seen=track.face)

    # Questions about cards that are gone

    def _take(self, top: Track, acts: Sequence[Act], *, is_own: bool) -> Iterator[Question]:
        """The discard that is gone was taken; the last play, it may have been taken back."""
        clear = True
        if is_own:
            back = explained([act.track for act in acts], self._record.lines[-1].before, self._meaning)
            lead = cost_of(back) + UNCLEAR - cost_of(acts)
            if lead < 0:
                yield from self._gone(top)
                return
            clear = lead > UNCLEAR
        act = Act(top, taking(self._table), self._table, clear=clear)
        ident = self._id(top, Kind.PLAY, "-taken")
        yield self._play(ident, (taking(self._table),), act, 1.0 if clear else UNCLEAR_CONFIDENCE)

    def _differences(self, now: Balance, moved: Sequence[tuple[Track, Track]], table: Table) -> Iterator[Question]:
        """Cards that the record has and the table has not, or elsewhere."""
        recent = any(self._t_s - (t.absent_since_s or 0.0) < 2 * TURN_S for t in now.missing)
        gathering = len(now.missing) >= MANY and (recent or self._tracks.table_bare_since_s is not None)
        if gathering or may_be_reshuffled(self._tracks, table, self._record.lines):
            return
        elsewhere = {old.serial: new for old, new in moved}
        for track in now.missing:
            new = elsewhere.get(track.serial)
            if new is None or new not in now.extra:
                if track is not self._taken_top():
                    yield from self._gone(track)
            elif not (self._is_remedied(track, new) or self._may_be_answered(track, new)):
                sentence = say(
                    "%(card)s has moved from %(old)s to %(new)s.",
                    card=named(track.face),
                    old=where(track.zone),
                    new=where(new.zone),
                )
                yield from self._differs(track, sentence, expected=track.face)

    def _is_remedied(self, old: Track, new: Track) -> bool:
        """True if a hazard was carried to the discard pile whose remedy lies on it, or whose safety is out."""
        if new.zone != DISCARD_ZONE or old.face.family is not Family.HAZARD:
            return False
        safeties = self._places.cards(self._table, f"{mat_of(old.zone)}/safety")
        return old.face in self._places.cards(self._table, old.zone)[:-1] or SAFETY_OF[old.face] in safeties

    def _may_be_answered(self, old: Track, new: Track) -> bool:
        """True if a hazard was carried to the discard pile and a safety that says why may come into sight yet."""
        if new.zone != DISCARD_ZONE or new.face.family is not Family.HAZARD:
            return False
        safeties = f"{mat_of(old.zone)}/safety"
        coming = any(t.zone == safeties and t.state is State.SEEN for t in self._tracks.cards)
        return coming or safeties in self._tracks.hidden_since_s or self._t_s - new.since_s < PUT_RIGHT_S

    def _gone(self, track: Track) -> Iterator[Question]:
        sentence = say("%(card)s is no longer on %(zone)s.", card=named(track.face), zone=where(track.zone))
        yield from self._differs(track, sentence, expected=track.face)

    def _differs(
        self, track: Track, sentence: Said, *, expected: Card | None = None, seen: Card | None = None
    ) -> Iterator[Question]:
        """The question, unless people have said that the record is right, or all right while the zone lies so."""
        ident = self._id(track, Kind.DIFFERS)
        about = ",".join(str(t.serial) for t in self._tracks.there if t.zone == track.zone)
        answered = self._record.answers.get(ident)
        if answered is None or (answered.answer is not Answer.RECORD and answered.about != about):
            yield Question(
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

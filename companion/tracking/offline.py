"""A film followed to its end, with a record of its own: what `companion watch` tells.

The same tracks and the same questions as at the table, answered by a policy: what is legal and sure counts at once,
what is not sure counts by what comes after it, and a card that is taken back takes its play with it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from companion.common.errors import Problem
from companion.match.questions import SURE_CONFIDENCE, Answer, Answered, Answers, Kind, Question
from companion.match.setup_file import Setup
from companion.match.zone_plays import Places
from companion.rules import referee
from companion.rules.cards import HAZARD_OF, Card
from companion.rules.play import Play, Verb
from companion.rules.reasons import Code, as_json
from companion.rules.record import judge
from companion.rules.record.judge import Game, JudgedLine
from companion.rules.record.notation import RecordLine as RecordLine
from companion.rules.table import Table
from companion.tabletop.mat_layout import DISCARD_ZONE
from companion.tracking import tracker
from companion.tracking.balance import balance
from companion.tracking.clearing import MANY, dealt, is_cleared
from companion.tracking.hand_record import Hint, Line, Record
from companion.tracking.reconcile import reconcile
from companion.tracking.robot_hand import public
from companion.tracking.track import DOUBTFUL_CONFIDENCE, LAYING_S, MOMENT_S, UNLIKELY_CONFIDENCE
from companion.tracking.tracker import Tracks
from companion.vision.capture.sources import Frame
from companion.vision.view import View

LINGER_LOOKS, LINGER_STEP_S = 10, 0.1  # how often the last picture of a film is looked at further; seconds between
MOST_ANSWERS = 20  # maximum number of questions answered after one frame
MOST_PASSED = 4  # number of lines played on an illegal card before nothing explains it any more: a round of four
MOST_DOUBTED, MOST_SUPPOSED = 16, 8
"""Number of the last lines of which one that is doubtful is dropped, or before which a card came to lie on its like;
among which one that nobody saw is supposed, when what follows contradicts them: four may discard for long before."""

UNREAD = "A card has been laid that cannot be read for sure: which is it?"

COUNTS = "counts"  # what is told of a play that is written down; before that it is `judge.LEGAL` or `judge.ILLEGAL`


@dataclass(frozen=True, slots=True)
class TrialLine:
    """A line of the open hand and the game after it."""

    line: Line
    game: Game
    question: Question | None  # what the camera asked; None for a line that it did not see

    @property
    def name(self) -> tuple[int | None, str]:
        """The track that it came from and its play: the same in another course."""
        return self.line.serial, str(self.line.play)


@dataclass(frozen=True, slots=True)
class Course:
    """All that has come of a film so far. Another course is a value beside it, tried and then adopted or dropped."""

    places: Places
    dealt: Game  # the game as the open hand began
    hand_seq: int  # the number of the line that began the hand
    seq: int  # the highest number that has been given to a line or an answer
    tracks: Tracks = field(default_factory=Tracks)
    entries: tuple[TrialLine, ...] = ()
    answers: Answers = field(default_factory=dict)
    asked: tuple[Question, ...] = ()
    unsure: tuple[Question, ...] = ()
    """Plays that nobody was sure of and nothing has decided: they count where the cards are gathered in."""

    dropped: tuple[Question, ...] = ()  # plays that what follows spoke against

    told: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """What was told last of each play that was asked about, by the question's id and the play."""

    refused_s: Mapping[str, float] = field(default_factory=dict)  # when each illegal play was told first
    items: tuple[dict[str, Any], ...] = ()  # what is to be told of this frame
    is_trial: bool = False

    @property
    def game(self) -> Game:
        return self.entries[-1].game if self.entries else self.dealt

    @property
    def table(self) -> Table:
        if self.game.table is None:
            raise AssertionError("a hand has begun")
        return self.game.table

    @property
    def record(self) -> Record:
        lines = tuple(entry.line for entry in self.entries)
        return Record(1, self.hand_seq, self.places, self.table, lines, self.answers)

    def with_line(self, play: Play, question: Question | None = None, number: int | None = None) -> Course:
        """Return the course with one more line; `number` is that of a line whose card nobody saw being laid.

        Any other comes right after its card was laid, or has gone, in whichever course it is told.
        """
        seq, serial = self.seq + 1, question.serial if question else None
        track = self.tracks.by_serial.get(serial)
        is_unseen = number is not None and track is None
        if number is None:
            number = seq if track is None else 1 + max(track.laid_seq or 0, track.gone_seq)
        number = max(number, self.entries[-1].line.seq if self.entries else self.hand_seq)
        line = Line(number, play, self.table, self.places, serial, is_unseen=is_unseen)
        entry = TrialLine(line, _judged(self.game, str(play)), question)
        return replace(self, seq=seq, entries=(*self.entries, entry))

    def counts(self, cards: Sequence[Question], before: Course) -> bool:
        """True if all these cards count, with all that were sure in the course before, and none more is refused."""
        told = (entry.question for entry in before.entries)
        sure = [q for q in told if q is not None and q.confidence >= SURE_CONFIDENCE and q.id not in self.answers]
        counted = {entry.line.serial for entry in self.entries}
        slips = {q.id for q in before.asked if not q.is_legal}
        illegal = (q for q in self.asked if q.kind is Kind.PLAY and not q.is_legal and q.id not in slips)
        is_refused = any(not self.is_passed_over(question) for question in illegal)
        return not is_refused and all(question.serial in counted for question in (*sure, *cards))

    def is_passed_over(self, question: Question) -> bool:
        """True if people have played on for long although this card lies there: it is a slip, or was never laid."""
        serial = question.serial or 0
        return sum((entry.line.serial or 0) > serial for entry in self.entries) >= MOST_PASSED

    def may_be_its_like(self, question: Question) -> bool:
        """True if its card may be one like it that lay there before, pushed."""
        track = self.tracks.by_serial.get(question.serial)
        return track is not None and track.is_double

    # Other courses

    def others(self, cards: Sequence[Question]) -> Iterator[Course]:
        """Yield the other courses that may explain these cards, likeliest first; the last one may be legal in this too.

        The last was laid before the first, which answers it, and was carried off. One of them was laid, out of sight,
        before the last lines. A card that was dropped was laid after all. A card before them was not laid: it was
        doubtful, or may be one of its likes, pushed. A card was laid on its like, so exactly that it was taken for that
        one. Somebody discarded a card before them, and nobody saw it. That, and that none was laid of which only one of
        these says so, is asked only where two cards were illegal, of which the last line may have told one.
        """
        yield from self._with_attack(cards)
        yield from self._told_anew(cards)
        yield from itertools.chain.from_iterable(map(self._with_dropped, reversed(self.dropped)))
        told = [entry.question for entry in self.entries]
        was_refused = bool(told and told[-1] and told[-1].id in self.refused_s)
        are_two = len(cards) + was_refused > 1
        last = [(at, one) for at, one in enumerate(told) if one is not None][: -MOST_DOUBTED - 1 : -1]
        doubtful = [one for one in last if one[1].confidence < SURE_CONFIDENCE]
        pushed = [one for one in last if self._may_be_pushed(one[1])]
        for at, question in (*doubtful, *pushed) if are_two else [one for one in doubtful if one in pushed]:
            yield self._up_to(at).without([question], self._seq_at(at))
        yield from itertools.chain.from_iterable(map(self._with_stacked, self._last(MOST_DOUBTED)))
        if are_two:
            # What is legal by now, or counts, shows that nothing is missing just before it.
            is_later = was_refused or cards[0].is_legal
            unseen = self._latest[:1] if cards[-1].is_legal else self._latest[is_later:]
            yield from itertools.chain.from_iterable(map(self._with_discard, unseen))

    def _with_attack(self, cards: Sequence[Question]) -> Iterator[Course]:
        """The last card, a hazard on the discard pile, was laid before the first, its remedy, and carried off since."""
        remedy, hazard = cards[0], cards[-1]
        if _is_answered_by(hazard, remedy) and remedy.zone is not None:
            course = self._up_to(self._place_of(remedy))
            guess = self.places.play_at(hazard.plays[0].card or Card.UNKNOWN, remedy.zone, False, course.table)
            for question, play in ((hazard, guess.play if guess else None), (remedy, remedy.plays[0])):
                if play is None or referee.objections(course.table, play):
                    return
                told = replace(question, plays=(play,), reasons=(), zone=remedy.zone, table=course.table)
                course = course.with_line(play, told, course.seq + 1)
            yield course

    def _told_anew(self, cards: Sequence[Question]) -> Iterator[Course]:
        """The last lines are yet to be told: one of these cards may have been laid before them."""
        tracks = (self.tracks.by_serial.get(question.serial) for question in cards)
        earliest_s = min((track.earliest_s for track in tracks if track is not None), default=math.inf)
        later = (at for at in self._latest if earliest_s <= self._since_s(self.entries[at : at + 1]) < math.inf)
        yield from map(self._up_to, later)

    def _with_dropped(self, question: Question) -> Iterator[Course]:
        """A play that was dropped counts, before the cards that were laid after its own."""
        at = self._place_of(question)
        if at in self._latest:
            course = self._up_to(at)
            if not referee.objections(course.table, question.plays[0]):
                yield course.with_line(question.plays[0], question)

    def _place_of(self, question: Question) -> int:
        """The place before the first line that a later card has told."""
        later = (n for n, entry in enumerate(self.entries) if (entry.line.serial or 0) > (question.serial or 0))
        return next(later, len(self.entries))

    def _with_discard(self, at: int) -> Iterator[Course]:
        """At this line somebody discarded a card, and nobody saw it: the likeliest card, if he has any."""
        course = self._up_to(at)
        table = course.table
        legal = referee.legal_plays(table, table.player_up)
        discards = {play: table.copies_left(play.card) for play in legal if play.verb is Verb.DISCARD and play.card}
        if discards:
            yield course.with_line(max(discards, key=discards.__getitem__), number=self._seq_at(at))

    def _with_stacked(self, at: int) -> Iterator[Course]:
        """Before this line a card was laid exactly on its like: by a hand of its own, that laid no other card.

        Or, after the last line, a hazard was discarded that counted as carried off.
        """
        course, told = self._up_to(at), {entry.line.serial for entry in self.entries}
        since_s, until_s = (self._since_s(self.entries[n : n + 1]) for n in (at - 1, at))
        for track in self.tracks.there:
            is_laid_off = track.is_laid_off_hazard and at == len(self.entries) and track.serial not in told
            times_s = track.stacked_s, track.shifted_s, track.since_s if is_laid_off else None
            if any(t_s is not None and since_s + MOMENT_S <= t_s < until_s - MOMENT_S for t_s in times_s):
                guess = self.places.play_at(track.face, track.zone, track.place.sideways, course.table)
                if guess is not None and not referee.objections(course.table, guess.play):
                    yield course.with_line(guess.play, number=self._seq_at(at))

    def _may_be_pushed(self, question: Question) -> bool:
        """True if a card that was discarded may be one of its likes on that pile, pushed."""
        track = self.tracks.by_serial.get(question.serial)
        if track is None or track.zone != DISCARD_ZONE or track.card is not None:
            return False
        return any(t.zone == track.zone and t.face is track.face and t.serial < track.serial for t in self.tracks.there)

    def _since_s(self, entries: Sequence[TrialLine]) -> float:
        """When the card of a line was seen first."""
        track = self.tracks.by_serial.get(entries[0].line.serial) if entries else None
        return math.inf if track is None else track.since_s

    @property
    def _latest(self) -> range:
        """The places of the last lines among which a card that nobody saw is supposed, the latest first."""
        return self._last(MOST_SUPPOSED)

    def _last(self, many: int) -> range:
        """The places before, between and after the last lines, the latest first."""
        return range(len(self.entries), max(-1, len(self.entries) - many), -1)

    def without(self, questions: Sequence[Question], seq: int) -> Course:
        """Return the course in which these cards mean nothing, said at `seq`."""
        answers = {question.id: Answered(Answer.NO, question.about, seq) for question in questions}
        return replace(self, answers={**self.answers, **answers}, unsure=())

    def _seq_at(self, at: int) -> int:
        return self.entries[at].line.seq if at < len(self.entries) else self.seq + 1

    def _up_to(self, at: int) -> Course:
        """The course before this line."""
        answers = {ident: said for ident, said in self.answers.items() if said.seq < self._seq_at(at)}
        return replace(self, entries=self.entries[:at], answers=answers, unsure=())


class Watcher:
    """Keeps the record of a watched source; legal plays are confirmed at once, or none is.

    Where none is, each play is still judged as if the legal ones before it had been.
    """

    def __init__(self, setup: Setup, look: Callable[[Frame], View], *, confirm: bool, extension: Verb) -> None:
        self._setup, self._look, self._confirms, self._extension = setup, look, confirm, extension
        self._now_s = 0.0
        self._hands_told = 0
        self._tried: set[tuple[object, ...]] = set()  # what no other course explains, as long as nothing comes to it
        game, lines = judge.NEW_GAME, (*setup.header(), f"hand first {setup.first}")
        for line in lines:
            game = _judged(game, line)
        self._course = Course(Places(setup.mats), game, len(lines), len(lines))

    def items(self, frames: Iterable[Frame]) -> Iterator[dict[str, Any]]:
        """One JSON object a proposal, one at each hand's end, one for a hand still open at the source's end."""
        for frame in _lingering(frames):
            self._now_s, course = frame.t_s, self._course
            tracks = tracker.lost_sight(course.tracks) if frame.after_gap else course.tracks
            hint = Hint(course.record, course.asked)
            tracks = tracker.update(tracks, public(self._look(frame)), hint, course.seq)
            self._course = replace(course, tracks=tracks)
            self._follow()
            yield from self._told()
            if self._confirms and is_cleared(self._course.tracks, self._course.record):
                self._deal()
        if self._confirms:
            self._decide_at_the_end()
        yield from self._told()
        course = self._course
        # The next hand has begun only because the cards of the last were gathered in, if nothing follows its beginning.
        if judge.at_the_end(course.game) and (course.game.hand_number == 1 or course.entries):
            ends = judge.at_the_end(course.game if self._confirms else course.dealt)
            yield from (item.as_json("") for item in ends)

    def _told(self) -> Iterator[dict[str, Any]]:
        """What is to be told now, and the hands that have ended."""
        course, self._course = self._course, replace(self._course, items=())
        yield from course.items
        if self._confirms and course.game.held is None:
            yield from (hand.as_json("") for hand in course.game.hands[self._hands_told :])
            self._hands_told = len(course.game.hands)

    def _deal(self) -> None:
        """Begin the next hand: the turn to begin goes round the seats."""
        course = self._course
        seats = [seat.player for seat in referee.seating(self._setup.teams)]
        first = seats[(seats.index(self._setup.first) + course.game.hand_number) % len(seats)]
        game, seq = _judged(course.game, f"hand first {first}"), course.seq + 1
        self._course = Course(course.places, game, seq, seq, dealt(course.tracks, course.seq))

    # The policy

    def _follow(self) -> None:
        """Answer what is asked until no question has an answer."""
        for _ in range(MOST_ANSWERS):
            asked = reconcile(self._course.tracks, self._course.record)
            self._course = replace(self._course, asked=asked)
            if not self._decided(asked):
                return

    def _decided(self, questions: Iterable[Question]) -> bool:
        """Tell what is asked up to the first question that decides something; True if there is one.

        Where nothing is confirmed, that is the first legal play.
        """
        unsure: list[Question] = []
        illegal: list[Question] = []
        for question in questions:
            if question.kind is Kind.PLAY and not question.is_legal:
                if unsure and self._refute(question, unsure):
                    return True
                if not self._course.is_passed_over(question):
                    illegal.append(question)
            elif question.is_legal and question.asks_play:
                # It may have been refused only because a card laid before it was seen a moment later.
                is_late = self._now_s - self._course.refused_s.get(question.id, -math.inf) <= LAYING_S
                least = (DOUBTFUL_CONFIDENCE if is_late else SURE_CONFIDENCE) * self._confirms
                if question.kind is Kind.PLAY and question.confidence >= least:
                    unlikely = [one for one in unsure if one.confidence <= UNLIKELY_CONFIDENCE]
                    if not (unlikely and self._refute(question, unlikely)):
                        self._accept(question, unsure, illegal)
                    return True
                unsure.append(question)
                self._course = replace(self._course, unsure=tuple(self._unsure(unsure)))
            self._tell(question)
            entries, of = self._course.entries, (question.line, question.expected)
            if self._confirms and entries and of == (entries[-1].line.seq, entries[-1].line.play.card):
                # The card of the last play has left its place before anybody played on. Several may share its number.
                self._course = replace(self._course, entries=entries[:-1], seq=self._course.seq + 1)
                self._withdraw(entries[-1])
                return True
        if unsure:
            return False
        # The first may be a slip that lies there still.
        return any(self._explain(cards) for cards in (illegal[:2], illegal[-2:], illegal[-1:]) if cards)

    def _unsure(self, asked: Sequence[Question]) -> list[Question]:
        """Return the plays nobody is sure of, in their order; those of before too once a card leaves: gathered in, say.

        What was legal after that card is not without it.
        """
        again, tracks, before = {question.id for question in asked}, self._course.tracks, self._course.unsure
        cards = [card for one in before if (card := tracks.by_serial.get(one.serial)) is not None]
        has_left = any(card.absent_since_s is not None or card.zone in tracks.hidden_since_s for card in cards)
        left = [one for one in before if one.id not in again] if has_left else []
        return sorted((*left, *asked), key=lambda question: question.serial or 0)

    def _accept(self, question: Question, unsure: Sequence[Question], illegal: Sequence[Question]) -> None:
        """Count a legal play; where it says that plays before it were laid, count those, and it is asked again."""
        course = self._course
        if any(_is_answered_by(question, one) and self._explain([one, question]) for one in illegal):
            return
        newest = max((entry.line.serial or 0 for entry in course.entries), default=0)
        if illegal and not unsure and (illegal[-1].serial or 0) > newest:
            # Which card was discarded tells nothing. No other play is supposed: to invent one is worse than to refuse.
            is_still_illegal = referee.objections(referee.apply(course.table, question.plays[0]), illegal[-1].plays[0])
            if is_still_illegal and self._explain([illegal[-1], question]):
                return
        before = course.unsure if question.zone is None else unsure
        self._course = replace(course, unsure=())
        for one in before or (question,):
            self._count(one)

    def _refute(self, question: Question, unsure: Sequence[Question]) -> bool:
        """Tell what nobody was sure of otherwise, or drop it, where an illegal card is legal then; True if so."""
        course = self._course
        late = [one for one in unsure if one.id in course.refused_s and not course.is_passed_over(one)]
        late = [one for one in late if not course.may_be_its_like(one)]
        is_after_end = any(why.code is Code.HAND_OVER for why in question.reasons)
        if late and not is_after_end and self._explain([*late, question]):
            return True
        without = course.without(unsure, course.seq)
        asked = reconcile(without.tracks, without.record)
        if not any(one.id == question.id and one.is_legal for one in asked):
            return False
        self._course = replace(without, dropped=(*course.dropped, *unsure))
        return True

    def _explain(self, cards: Sequence[Question]) -> bool:
        """Adopt the first other course in which all of these cards are legal; True if there is one."""
        before = self._course
        tried = (before.seq, *(question.id for question in cards))
        may_be = self._confirms and not before.is_trial and cards[0].confidence >= DOUBTFUL_CONFIDENCE
        may_be = may_be and not all(map(before.may_be_its_like, cards))
        if not may_be or tried in self._tried:
            return False
        self._tried.add(tried)
        for course in before.others(cards):
            self._course = replace(course, is_trial=True, items=())
            self._follow()
            if self._course.counts(cards, before):
                break
        else:
            self._course = before
            return False
        course = self._course
        self._course = replace(course, is_trial=False, items=before.items)
        was, now = ({entry.name for entry in each.entries} for each in (before, course))
        for entry in reversed(before.entries):
            if entry.name not in now:
                self._withdraw(entry)
        for entry in course.entries:
            if entry.line.is_unseen and entry.name not in was:
                self._say(missed=str(entry.line.play))
            elif entry.question is not None and entry.name not in was:
                self._tell(entry.question, counts=True)
        self._course = replace(self._course, items=self._course.items + course.items)
        return True

    def _decide_at_the_end(self) -> None:
        """Count what is not sure but likely, as nothing will follow it."""
        course = self._course
        missing = balance(course.tracks, course.record, course.table).missing
        gathered = course.unsure if len(missing) >= MANY else ()
        for question in (*gathered, *course.asked):
            is_play = question.kind is Kind.PLAY and question.is_legal and question.zone is not None
            if is_play and question.confidence >= DOUBTFUL_CONFIDENCE:
                self._count(question)

    # What is written and told

    def _count(self, question: Question) -> None:
        """Tell a play and write it down; an extension that it earns is answered at once."""
        self._tell(question, counts=self._confirms)
        course = self._course.with_line(question.plays[0], question)
        offered = course.table.extension_offered_to
        if offered is not None and not course.table.is_over:
            course = course.with_line(Play(self._extension, course.table.sides[offered].players[0]))
        self._course = course

    def _withdraw(self, entry: TrialLine) -> None:
        """Tell that a play does not count; where it counts after all, that is told again."""
        question = entry.question
        if question is not None:
            self._course = replace(self._course, told={**self._course.told, _key(question): judge.LEGAL})
        self._say(withdrawn=str(entry.line.play), zone=question and question.zone)

    def _tell(self, question: Question, *, counts: bool = False) -> None:
        """Tell what is asked, unless that was told of it last; what is refused in a trial may be legal at its end."""
        course, key = self._course, _key(question)
        verdict = judge.LEGAL if question.is_legal else judge.ILLEGAL
        was, now = course.told.get(key), COUNTS if counts else verdict
        if was == now or (was, now) == (COUNTS, judge.LEGAL) or (course.is_trial and now == judge.ILLEGAL):
            return
        first_s = {} if question.is_legal else {question.id: self._now_s}
        self._course = replace(course, told={**course.told, key: now}, refused_s={**first_s, **course.refused_s})
        confidence = round(question.confidence, 3)
        if question.kind is Kind.DIFFERS:
            self._say(question=question.say, zone=question.zone)
        elif question.kind is Kind.WHICH and not counts:
            choices = [str(play) for play in question.plays]
            self._say(question=UNREAD, zone=question.zone, choices=choices, confidence=confidence)
        elif (was, now) == (judge.LEGAL, COUNTS):
            self._say(counted=key[1], zone=question.zone)
        else:
            self._say(
                proposal=key[1],
                verdict=verdict,
                reasons=[as_json(why, question.table.edition) for why in question.reasons if question.table],
                confirmed=counts,
                zone=question.zone,
                confidence=confidence,
            )

    def _say(self, **item: Any) -> None:
        self._course = replace(self._course, items=(*self._course.items, {"t_s": round(self._now_s, 3), **item}))


def _is_answered_by(hazard: Question, remedy: Question) -> bool:
    """True if a hazard has come to the discard pile that the card of the other question, refused, ends."""
    return hazard.zone == DISCARD_ZONE and HAZARD_OF.get(remedy.plays[0].card or Card.UNKNOWN) is hazard.plays[0].card


def _key(question: Question) -> tuple[str, str]:
    return question.id, str(question.plays[0]) if question.plays else ""


def _judged(game: Game, text: str) -> Game:
    """Return the game after one more line. Raises Problem for a line that cannot be read."""
    game, items = judge.step(game, RecordLine(1, text))
    for item in items:
        if isinstance(item, JudgedLine) and item.unreadable:
            raise Problem(str(item.unreadable))
    return game


def _lingering(frames: Iterable[Frame]) -> Iterator[Frame]:
    """The frames of a source, then the last for a moment longer: what has just been laid is read too."""
    last = None
    for last in frames:
        yield last
    if last is not None:
        looks = (last.t_s + LINGER_STEP_S * (n + 1) for n in range(LINGER_LOOKS))
        yield from (replace(last, t_s=t_s, after_gap=False) for t_s in looks)

"""A film followed to its end, with a record of its own: what `companion watch` tells.

The same tracks and the same questions as at the table, answered by a policy: what is legal and sure counts at once,
what is not sure counts by what comes after it, and a card that is taken back takes its play with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from companion.common.errors import Problem
from companion.match.questions import SURE_CONFIDENCE, Answer, Answered, Kind, Question
from companion.match.setup_file import Setup
from companion.match.zone_plays import Places
from companion.rules import referee
from companion.rules.play import Play, Verb
from companion.rules.reasons import as_json
from companion.rules.record import judge
from companion.rules.record.judge import Game, HandResult, JudgedLine
from companion.rules.record.notation import Line as RecordLine
from companion.rules.referee import LegalPlays
from companion.tracking import tracker
from companion.tracking.balance import UNSEEN, Line, Record, expected
from companion.tracking.clearing import dealt, is_cleared
from companion.tracking.reconcile import OUT_OF_TURN_CONFIDENCE, reconcile
from companion.tracking.tracker import Tracks
from companion.vision.capture.sources import Frame
from companion.vision.view import View

LINGER_S, LINGER_LOOKS = 1.0, 10
"""The last picture of a film counts so long as if nothing moved, and is looked at so often."""

MOST_AT_ONCE = 20
SEEN_LATE_S = 2.0
"""A card may be seen so much later than one that was laid after it."""

LATER_PLAYS = 2
"""So many cards must be legal only after a turn that nobody saw."""

UNREAD = "A card has been laid that cannot be read for sure: which is it?"

Look = Callable[[Frame], View]


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the record, the event that wrote it, and the track that it came from."""

    seq: int
    text: str
    play: Play | None = None
    serial: int | None = None
    by_camera: bool = False


class Watcher:
    """Keeps the record of a watched source; legal plays are confirmed at once, or none is.

    Where none is, each play is still judged as if the legal ones before it had been.
    """

    def __init__(self, setup: Setup, look: Look, *, confirm: bool, extension: Verb) -> None:
        self._setup, self._look, self._confirms, self._extension = setup, look, confirm, extension
        self._places = Places(setup.mats)
        self._tracks = Tracks()
        self._seq = 0
        self._entries: list[Entry] = []
        self._answers: dict[str, Answered] = {}
        self._told: dict[tuple[str, str], bool] = {}
        """What has been told: whether a question's play was legal."""

        self._refused_s: dict[str, float] = {}
        """When each illegal play was told first."""

        self._asked: tuple[Question, ...] = ()
        self._unsure: tuple[Question, ...] = ()
        """Plays that nobody was sure of and nothing has decided: they count where the cards are gathered in."""

        self._now_s = 0.0
        for text in (*setup.header(), f"hand first {setup.first}"):
            self._append(text)
        self._judge()

    def items(self, frames: Iterable[Frame]) -> Iterator[dict[str, Any]]:
        """One JSON object a proposal, one at each hand's end, one for a hand still open at the source's end."""
        for frame in _lingering(frames):
            self._now_s = frame.t_s
            if frame.after_gap:
                self._tracks = tracker.lost_sight(self._tracks)
            record = self._record()
            hint = expected(record, self._places, self._asked)
            self._tracks = tracker.update(self._tracks, self._look(frame), hint, self._setup.mats, self._seq)
            yield from self._follow()
        yield from self._at_the_end()

    def _follow(self) -> Iterator[dict[str, Any]]:
        for _ in range(MOST_AT_ONCE):
            before = self._seq, len(self._answers)
            self._asked = self._questions()
            yield from self._take(self._asked)
            if (self._seq, len(self._answers)) == before:
                break
        if self._confirms and is_cleared(self._tracks, self._record()):
            ended = self._seq
            self._append(f"hand first {self._next_first()}")
            self._tracks = dealt(self._tracks, ended)
            self._judge()

    def _questions(self) -> tuple[Question, ...]:
        return reconcile(self._tracks, self._record(), self._places)

    def _take(self, questions: tuple[Question, ...]) -> Iterator[dict[str, Any]]:
        """Answers the first question that the policy has an answer to."""
        unsure: list[Question] = []
        illegal: list[Question] = []
        for question in questions:
            if question.kind is Kind.DIFFERS:
                yield from self._tell(question)
                if question.line is not None and self._entries[-1].seq == question.line and self._confirms:
                    yield from self._take_back(question)
                    return
            elif question.kind is Kind.WHICH:
                yield from self._tell(question)
            elif not question.is_legal:
                if unsure and self._confirms and self._refutes(question, unsure):
                    self._answers |= {q.id: Answered(Answer.NO, q.about, self._seq) for q in unsure}
                    self._unsure = ()
                    return
                yield from self._tell(question)
                self._refused_s.setdefault(question.id, self._now_s)
                illegal.append(question)
            elif question.confidence < SURE_CONFIDENCE and self._confirms and not self._is_late(question):
                yield from self._tell(question)
                unsure.append(question)
                self._unsure = tuple(unsure)
            elif illegal and not unsure and self._confirms and (missed := self._missed_turn([illegal[0], question])):
                yield from self._suppose(missed)
                return
            elif before := unsure or (self._unsure if question.zone is None else ()):
                self._unsure = ()
                for one in before:
                    yield {"t_s": round(self._now_s, 3), "counted": str(one.plays[0]), "zone": one.zone}
                    yield from self._confirm(one)
                return
            else:
                self._unsure = ()
                yield from self._tell(question, confirmed=self._confirms)
                yield from self._confirm(question)
                return
        missed = self._missed_turn(illegal[:LATER_PLAYS]) if self._confirms and not unsure else None
        if missed is not None:
            yield from self._suppose(missed)

    def _is_late(self, question: Question) -> bool:
        """True if a card was refused only because one laid before it was seen a moment later."""
        refused_s = self._refused_s.get(question.id, -SEEN_LATE_S)
        return question.confidence >= OUT_OF_TURN_CONFIDENCE and 0 <= self._now_s - refused_s <= SEEN_LATE_S

    def _missed_turn(self, later: Sequence[Question]) -> Play | None:
        """A turn that nobody saw, where several cards are legal one after the other only after one more discard.

        Which card was discarded tells nothing. No other play is supposed: one invented is worse than one refused.
        """
        table = self._game.table
        if len(later) < LATER_PLAYS or table is None or later[0].confidence < OUT_OF_TURN_CONFIDENCE:
            return None
        if later[1].is_legal and not referee.objections(referee.apply(table, later[1].plays[0]), later[0].plays[0]):
            # The one that is legal now explains the other.
            return None
        plays = (play for play in LegalPlays(table, table.player_to_move) if play.verb is Verb.DISCARD and play.card)
        play = max(plays, key=lambda play: table.copies_left(play.card) if play.card else 0, default=None)
        if play is None:
            return None
        record = self._record()
        lines = (*record.lines, Line(self._seq + 1, play, table, UNSEEN))
        after = replace(record, table=referee.apply(table, play), lines=lines)
        legal = {q.id for q in reconcile(self._tracks, after, self._places) if q.is_legal}
        return play if all(question.id in legal for question in later) else None

    def _suppose(self, play: Play) -> Iterator[dict[str, Any]]:
        self._append(str(play), play, UNSEEN)
        self._judge()
        yield {"t_s": round(self._now_s, 3), "missed": str(play)}

    def _refutes(self, question: Question, unsure: list[Question]) -> bool:
        """True if a card that was read for sure is legal only if what nobody was sure of was no play."""
        answers = self._answers | {q.id: Answered(Answer.NO, q.about, self._seq) for q in unsure}
        without = reconcile(self._tracks, replace(self._record(), answers=answers), self._places)
        return any(q.id == question.id and q.is_legal for q in without)

    def _tell(self, question: Question, *, confirmed: bool = False) -> Iterator[dict[str, Any]]:
        play = str(question.plays[0]) if question.plays else ""
        if self._told.get((question.id, play)) is question.is_legal and not confirmed:
            return
        was_told = self._told.get((question.id, play))
        self._told[question.id, play] = question.is_legal
        t_s = round(self._now_s, 3)
        if question.kind is Kind.DIFFERS:
            yield {"t_s": t_s, "question": question.say, "zone": question.zone}
        elif question.kind is Kind.WHICH:
            choices = [str(play) for play in question.plays]
            yield {
                "t_s": t_s,
                "question": UNREAD,
                "zone": question.zone,
                "choices": choices,
                "confidence": round(question.confidence, 3),
            }
        elif was_told is not True:
            yield _proposal_json(question, self._now_s, confirmed=confirmed)
        else:
            yield {"t_s": t_s, "counted": play, "zone": question.zone}

    def _confirm(self, question: Question) -> Iterator[dict[str, Any]]:
        play = question.plays[0]
        self._append(str(play), play, question.serial, by_camera=True)
        yield from self._judge()
        yield from self._answer_extension()

    def _answer_extension(self) -> Iterator[dict[str, Any]]:
        table = self._game.table
        if table is not None and not table.is_over and table.extension_offered_to is not None:
            answer = Play(self._extension, table.sides[table.extension_offered_to].players[0])
            self._append(str(answer), answer)
            yield from self._judge()

    def _take_back(self, question: Question) -> Iterator[dict[str, Any]]:
        """The card of the last play has left its place before anybody played on: the play is taken back."""
        entry = self._entries.pop()
        self._seq += 1
        self._judge()
        yield {"t_s": round(self._now_s, 3), "withdrawn": entry.text, "zone": question.zone}

    def _at_the_end(self) -> Iterator[dict[str, Any]]:
        for question in self._questions() if self._confirms else ():
            is_play = question.kind is Kind.PLAY and question.is_legal and question.zone is not None
            if is_play and question.confidence >= OUT_OF_TURN_CONFIDENCE:
                yield {"t_s": round(self._now_s, 3), "counted": str(question.plays[0]), "zone": question.zone}
                yield from self._confirm(question)
        if self._game.hand_is_open and not self._only_cleared():
            entries = self._entries if self._confirms else [e for e in self._entries if not e.by_camera]
            lines = (RecordLine(number, entry.text) for number, entry in enumerate(entries, start=1))
            last = list(judge.judge(lines))[-1:]
            yield from (item.as_json("") for item in last if isinstance(item, HandResult))

    def _only_cleared(self) -> bool:
        """True if the next hand has begun only because the cards of the last were gathered in."""
        return self._game.hand_number > 1 and self._entries[-1].text.startswith("hand first ")

    # The record

    def _append(
        self, text: str, play: Play | None = None, serial: int | None = None, *, by_camera: bool = False
    ) -> None:
        self._seq += 1
        self._entries.append(Entry(self._seq, text, play, serial, by_camera))

    def _judge(self) -> list[dict[str, Any]]:
        """Judges the record; gives the results of hands that the last line has ended."""
        items: tuple[judge.Item, ...] = ()
        self._games = [judge.NEW_GAME]
        for number, entry in enumerate(self._entries, start=1):
            game, items = judge.step(self._games[-1], RecordLine(number, entry.text))
            bad = next((item for item in items if isinstance(item, JudgedLine) and item.unreadable), None)
            if bad is not None:
                raise Problem(str(bad.unreadable))
            self._games.append(game)
        self._game: Game = self._games[-1]
        if not self._confirms:
            return []
        return [item.as_json("") for item in items if isinstance(item, HandResult)]

    def _record(self) -> Record:
        begun = max(n for n, entry in enumerate(self._entries) if entry.text.startswith("hand first "))
        lines = [
            Line(entry.seq, entry.play, before.table, entry.serial)
            for entry, before in zip(self._entries[begun + 1 :], self._games[begun + 1 :], strict=False)
            if entry.play is not None and before.table is not None
        ]
        return Record(1, self._entries[begun].seq, self._game.table, tuple(lines), self._answers)

    def _next_first(self) -> str:
        firsts = [entry.text.split()[-1] for entry in self._entries if entry.text.startswith("hand first ")]
        seats = [seat.player for seat in referee.seating(self._setup.teams)]
        return seats[(seats.index(firsts[-1]) + 1) % len(seats)]


def _lingering(frames: Iterable[Frame]) -> Iterator[Frame]:
    """The frames of a source, then the last for a moment longer: what has just been laid is read too."""
    last = None
    for last in frames:
        yield last
    if last is not None:
        looks = (last.t_s + LINGER_S * (n + 1) / LINGER_LOOKS for n in range(LINGER_LOOKS))
        yield from (replace(last, t_s=t_s, after_gap=False) for t_s in looks)


def _proposal_json(question: Question, t_s: float, *, confirmed: bool) -> dict[str, Any]:
    return {
        "t_s": round(t_s, 3),
        "proposal": str(question.plays[0]),
        "verdict": judge.ILLEGAL if question.reasons else judge.LEGAL,
        "reasons": [as_json(why, question.table.edition) for why in question.reasons if question.table],
        "confirmed": confirmed,
        "zone": question.zone,
        "confidence": round(question.confidence, 3),
    }

"""A film followed to its end, with a record of its own: what `companion watch` tells.

The same tracks and the same questions as at the table, answered by a policy: what is legal and sure counts at once,
what is not sure counts by what comes after it, and a card that is taken back takes its play with it.
"""

from __future__ import annotations

import copy
import itertools
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
from companion.tracking.balance import balance
from companion.tracking.clearing import MANY, dealt, is_cleared
from companion.tracking.hand_record import Line, Record, hint_from
from companion.tracking.reconcile import reconcile
from companion.tracking.track import DOUBTFUL_CONFIDENCE, LAYING_S
from companion.tracking.tracker import Tracks
from companion.vision.capture.sources import Frame
from companion.vision.view import View

LINGER_LOOKS, LINGER_STEP_S = 10, 0.1
"""How often the last picture of a film is looked at further, and how long after the other."""

MOST_ANSWERS = 20
"""Maximum number of questions answered after one frame."""

MOST_DOUBTED = 8
"""Number of the last lines that are doubted when what follows contradicts them."""

UNREAD = "A card has been laid that cannot be read for sure: which is it?"

Look = Callable[[Frame], View]


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the record, the event that wrote it, and the track that it came from."""

    seq: int
    text: str
    play: Play | None = None
    serial: int | None = None
    question: Question | None = None
    """What the camera asked; None for a line that it did not see."""

    is_unseen: bool = False
    """True if its card was laid and nobody saw it."""


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

        self._seqs: dict[str, int] = {}
        """The number of the line that each question came to be first."""

        self._is_trial = False
        self._tried: set[tuple[object, ...]] = set()
        """What no other past has explained, as long as nothing comes to it."""

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
            hint = hint_from(record, self._places, self._asked)
            self._tracks = tracker.update(self._tracks, self._look(frame), hint, self._setup.mats, self._seq)
            yield from self._follow()
        yield from self._at_the_end()

    def _follow(self) -> Iterator[dict[str, Any]]:
        for _ in range(MOST_ANSWERS):
            before = self._seq, len(self._answers)
            self._asked = reconcile(self._tracks, self._record(), self._places)
            yield from self._take(self._asked)
            if (self._seq, len(self._answers)) == before:
                break
        if self._confirms and is_cleared(self._tracks, self._record()):
            ended = self._seq
            self._append(f"hand first {self._next_first()}")
            self._tracks = dealt(self._tracks, ended)
            self._judge()

    def _take(self, questions: tuple[Question, ...]) -> Iterator[dict[str, Any]]:
        """Answer the first question that the policy has an answer to."""
        unsure: list[Question] = []
        illegal: list[Question] = []
        for question in questions:
            if question.kind is not Kind.PLAY:
                yield from self._tell(question)
                if self._confirms and question.expected and question.line == self._entries[-1].seq:
                    yield from self._take_back(question)
                    return
            elif not question.is_legal:
                late = [q for q in unsure if q.id in self._refused_s]
                revised = self._revised([*late, question], self._earlier_pasts()) if late and self._confirms else []
                if revised or (unsure and self._confirms and self._refutes(question, unsure)):
                    yield from revised
                    return
                yield from self._tell(question)
                illegal.append(question)
            elif question.confidence < SURE_CONFIDENCE and self._confirms and not self._is_late(question):
                yield from self._tell(question)
                unsure.append(question)
                self._unsure = tuple(unsure)
            else:
                yield from self._accept(question, unsure, illegal)
                return
        if self._confirms and illegal and not unsure:
            yield from self._contradicted(illegal)

    def _accept(
        self, question: Question, unsure: Sequence[Question], illegal: Sequence[Question]
    ) -> Iterator[dict[str, Any]]:
        """A legal play, and those before it that nobody was sure of."""
        if illegal and not unsure and self._confirms and not self._explains(question, illegal[0]):
            # Which card was discarded tells nothing. No other play is supposed: to invent one is worse than to refuse.
            revised = self._revised([illegal[0], question], [self._with_discard(len(self._entries))])
            if revised:
                yield from revised
                return
        before = unsure or (self._unsure if question.zone is None else ())
        self._unsure = ()
        for one in before:
            yield {"t_s": round(self._now_s, 3), "counted": str(one.plays[0]), "zone": one.zone}
            yield from self._confirm(one)
        if not before:
            yield from self._tell(question, confirmed=self._confirms)
            yield from self._confirm(question)

    def _explains(self, question: Question, refused: Question) -> bool:
        """True if a card that is refused is legal after this one."""
        table = self._game.table
        return table is not None and not referee.objections(referee.apply(table, question.plays[0]), refused.plays[0])

    def _contradicted(self, illegal: Sequence[Question]) -> Iterator[dict[str, Any]]:
        """Cards that are illegal where something before them may have been taken for what it was not."""
        last = self._entries[-1].question
        was_refused = last is not None and last.id in self._refused_s
        pasts: list[Iterable[Watcher | None]] = [self._pasts_with_unread()]
        if len(illegal) > 1 and not was_refused:
            pasts.append([self._with_discard(len(self._entries))])
        if len(illegal) > 1 or was_refused:
            pasts.append(self._earlier_pasts())
        yield from self._revised(illegal[:2], itertools.chain(*pasts))

    def _is_late(self, question: Question) -> bool:
        """True if a card was refused only because one laid before it was seen a moment later."""
        since_s = self._now_s - self._refused_s.get(question.id, -LAYING_S)
        return question.confidence >= DOUBTFUL_CONFIDENCE and 0 <= since_s <= LAYING_S

    def _refutes(self, question: Question, unsure: Sequence[Question]) -> bool:
        """Drop what nobody was sure of where a card is legal only if that was no play; True if so."""
        answers = self._answers | {q.id: Answered(Answer.NO, q.about, self._seq) for q in unsure}
        without = reconcile(self._tracks, replace(self._record(), answers=answers), self._places)
        if not any(q.id == question.id and q.is_legal for q in without):
            return False
        self._answers, self._unsure = answers, ()
        return True

    # Second thoughts

    def _revised(self, later: Sequence[Question], pasts: Iterable[Watcher | None]) -> list[dict[str, Any]]:
        """Return what is told where one of these pasts makes all of these cards legal: the first that does."""
        tried: tuple[object, ...] = (self._seq, *(question.id for question in later))
        if later[0].confidence < DOUBTFUL_CONFIDENCE or self._is_trial or tried in self._tried:
            return []
        self._tried.add(tried)
        for trial in pasts:
            if trial is not None:
                items = list(trial._follow())
                if trial._counts(later):
                    return self._adopted(trial, items)
        return []

    def _pasts_with_unread(self) -> Iterator[Watcher]:
        """A card that could not be read counts as what it is likeliest to be."""
        end = len(self._entries)
        for question in self._asked:
            if question.kind is Kind.WHICH and question.is_legal:
                play = question.plays[0]
                yield self._retold(end, Entry(self._seq + 1, str(play), play, question.serial, question))

    def _earlier_pasts(self) -> Iterator[Watcher | None]:
        """A card that was doubtful was not laid, or a turn was missed: the latest lines first."""
        end = len(self._entries) - 1
        latest = range(end, max(self._begun, end - MOST_DOUBTED), -1)
        for n in latest:
            question = self._entries[n].question
            if question is not None and question.confidence < SURE_CONFIDENCE:
                yield self._retold(n, without=question)
        yield from (self._with_discard(n) for n in latest)

    def _with_discard(self, at: int) -> Watcher | None:
        """Another past: at this line somebody discarded a card, and nobody saw it."""
        table = self._games[at].table
        if table is None:
            return None
        plays = (play for play in LegalPlays(table, table.player_to_move) if play.verb is Verb.DISCARD and play.card)
        play = max(plays, key=lambda play: table.copies_left(play.card) if play.card else 0, default=None)
        if play is None:
            return None
        return self._retold(at, Entry(self._seq_at(at), str(play), play, is_unseen=True))

    def _seq_at(self, at: int) -> int:
        return self._entries[at].seq if at < len(self._entries) else self._seq + 1

    def _retold(self, at: int, first: Entry | None = None, without: Question | None = None) -> Watcher:
        """Another past: told anew from this line on, with one play that nobody saw, or without one card."""
        trial = copy.copy(self)
        seq = self._seq_at(at)
        trial._is_trial, trial._unsure = True, ()
        trial._entries, trial._seqs = self._entries[:at], dict(self._seqs)
        trial._told, trial._refused_s = dict(self._told), dict(self._refused_s)
        trial._answers = {ident: said for ident, said in self._answers.items() if said.seq < seq}
        if without is not None:
            trial._answers[without.id] = Answered(Answer.NO, without.about, seq)
        if first is not None:
            trial._entries.append(first)
            trial._seq = max(trial._seq, first.seq)
        trial._judge()
        return trial

    def _counts(self, later: Sequence[Question]) -> bool:
        """True if all these cards count, and none is refused."""
        counted = {entry.serial for entry in self._entries}
        refused = any(q.kind is Kind.PLAY and not q.is_legal for q in self._asked)
        return not refused and all(question.serial in counted for question in later)

    def _adopted(self, trial: Watcher, items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Take over another past; what is told of it."""
        was = {(entry.serial, entry.text) for entry in self._entries if entry.play}
        now = {(entry.serial, entry.text) for entry in trial._entries if entry.play}
        t_s = round(self._now_s, 3)
        gone = [e for e in reversed(self._entries) if e.play and (e.serial, e.text) not in now]
        missed = [e for e in trial._entries if e.is_unseen and (e.serial, e.text) not in was]
        kept = {text for _, text in was & now}
        told = [item for item in items if item.get("proposal", item.get("counted")) not in kept]
        vars(self).update(vars(trial), _is_trial=False)
        return [
            *({"t_s": t_s, "withdrawn": e.text, "zone": e.question and e.question.zone} for e in gone),
            *({"t_s": t_s, "missed": e.text} for e in missed),
            *told,
        ]

    def _tell(self, question: Question, *, confirmed: bool = False) -> Iterator[dict[str, Any]]:
        key = question.id, str(question.plays[0]) if question.plays else ""
        was_legal = self._told.get(key)
        if was_legal is question.is_legal and not confirmed:
            return
        self._told[key] = question.is_legal
        if not question.is_legal:
            self._refused_s.setdefault(question.id, self._now_s)
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
        elif not was_legal:
            yield {
                "t_s": t_s,
                "proposal": key[1],
                "verdict": judge.LEGAL if question.is_legal else judge.ILLEGAL,
                "reasons": [as_json(why, question.table.edition) for why in question.reasons if question.table],
                "confirmed": confirmed,
                "zone": question.zone,
                "confidence": round(question.confidence, 3),
            }
        else:
            yield {"t_s": t_s, "counted": key[1], "zone": question.zone}

    def _confirm(self, question: Question) -> Iterator[dict[str, Any]]:
        play = question.plays[0]
        self._append(str(play), play, question.serial, question)
        yield from self._judge()
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
        record = self._record()
        asked: tuple[Question, ...] = ()
        if self._confirms and record.table is not None:
            asked = reconcile(self._tracks, record, self._places)
            missing = balance(self._tracks, record.hand_seq, record.table, record.lines, self._places).missing
            if len(missing) >= MANY:
                # The cards are being gathered in.
                asked = (*self._unsure, *asked)
        for question in asked:
            is_play = question.kind is Kind.PLAY and question.is_legal and question.zone is not None
            if is_play and question.confidence >= DOUBTFUL_CONFIDENCE:
                yield {"t_s": round(self._now_s, 3), "counted": str(question.plays[0]), "zone": question.zone}
                yield from self._confirm(question)
        # The next hand has begun only because the cards of the last were gathered in, if nothing follows its beginning.
        has_begun = self._game.hand_number == 1 or self._begun < len(self._entries) - 1
        if self._game.hand_is_open and has_begun:
            entries = self._entries if self._confirms else [e for e in self._entries if e.question is None]
            lines = (RecordLine(number, entry.text) for number, entry in enumerate(entries, start=1))
            last = list(judge.judge(lines))[-1:]
            yield from (item.as_json("") for item in last if isinstance(item, HandResult))

    # The record

    def _append(
        self, text: str, play: Play | None = None, serial: int | None = None, question: Question | None = None
    ) -> None:
        """Write a line; one that is told anew keeps its number, as the cards remember theirs."""
        self._seq += 1
        seq = self._seqs.setdefault(question.id, self._seq) if question else self._seq
        self._entries.append(
            Entry(max(seq, self._entries[-1].seq if self._entries else 0), text, play, serial, question)
        )

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
        begun = self._begun
        lines = [
            Line(entry.seq, entry.play, before.table, entry.serial, entry.is_unseen)
            for entry, before in zip(self._entries[begun + 1 :], self._games[begun + 1 :], strict=False)
            if entry.play is not None and before.table is not None
        ]
        return Record(1, self._entries[begun].seq, self._game.table, tuple(lines), self._answers)

    @property
    def _begun(self) -> int:
        """The number of the entry that began the hand."""
        return max(n for n, entry in enumerate(self._entries) if entry.text.startswith("hand first "))

    def _next_first(self) -> str:
        first = self._entries[self._begun].text.split()[-1]
        seats = [seat.player for seat in referee.seating(self._setup.teams)]
        return seats[(seats.index(first) + 1) % len(seats)]


def _lingering(frames: Iterable[Frame]) -> Iterator[Frame]:
    """The frames of a source, then the last for a moment longer: what has just been laid is read too."""
    last = None
    for last in frames:
        yield last
    if last is not None:
        looks = (last.t_s + LINGER_STEP_S * (n + 1) for n in range(LINGER_LOOKS))
        yield from (replace(last, t_s=t_s, after_gap=False) for t_s in looks)

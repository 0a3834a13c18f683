"""A film followed to its end, with a record of its own: what `companion watch` prints.

The beliefs are those of a table whose plays count by themselves (`beam.py`); only the answers differ:

* A play in doubt counts once a later one is sure, because it is legal only after it. No person is asked.
* The record follows the beliefs. Each change is reported: a line withdrawn, counted after all, or missed.
* Where nothing follows, at the end of a hand or of the film, the likeliest hypothesis counts as it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from companion.common.errors import Problem
from companion.match.questions import SURE_CONFIDENCE, Kind, Question, serial_of
from companion.match.setup_file import Setup
from companion.match.zone_plays import Places
from companion.rules import referee
from companion.rules.play import Play, Verb
from companion.rules.reasons import as_json
from companion.rules.record import judge
from companion.rules.record.judge import Game, JudgedLine
from companion.rules.record.notation import RecordLine
from companion.tracking.follower import Follower
from companion.tracking.hand_record import Line, Record
from companion.tracking.handling import BARS
from companion.tracking.robot_hand import public
from companion.vision.capture.sources import Frame
from companion.vision.view import View

LINGER_LOOKS, LINGER_STEP_S = 10, 0.1  # extra looks at the last frame of a film, and seconds between them
POSSIBLE = 0.5  # confidence from which a doubtful play is reported
LIKELY = 0.85  # confidence in a card from which its play counts although nothing follows
MOST_ANSWERS = 20  # changes of the record after one frame
OF_THE_TABLE = (Verb.EXHAUSTED, Verb.END)

UNREAD = "A card has been laid that cannot be read for sure: which is it?"

COUNTS = "counts"  # the play is in the record; before that it is `judge.LEGAL` or `judge.ILLEGAL`


class FilmLine(NamedTuple):
    """A line of the open hand, the question that it answers, and the game after it."""

    line: Line
    question: str
    game: Game


class Watcher:
    """Keeps the record of a watched source; legal plays are confirmed, or none is.

    Where none is, each play is still judged as if the legal ones before it had been.
    """

    def __init__(self, setup: Setup, look: Callable[[Frame], View], *, confirm: bool, extension: Verb) -> None:
        self._setup, self._look, self._confirms, self._extension = setup, look, confirm, extension
        self._places = Places(setup.mats)
        game = judge.NEW_GAME
        for line in setup.header():
            game, _ = _judged(game, line)
        self._t_s, self._seq = 0.0, 0
        self._hand_told: dict[str, Any] = {}
        self._before: tuple[Play, ...] = ()  # the plays of earlier hands
        self.questions: tuple[Question, ...] = ()  # reported questions that are open after the last frame
        self._items: list[dict[str, Any]] = []  # what is reported after the frame
        self._entries: tuple[FilmLine, ...] = ()
        self._begin(game)
        self._unplayed = self._dealt
        self._follower = Follower(hand_seq=self._hand_seq)

    @property
    def plays(self) -> tuple[Play, ...]:
        """The plays of all hands that are in the record."""
        return (*self._before, *(entry.line.play for entry in self._entries))

    @property
    def _game(self) -> Game:
        return self._entries[-1].game if self._entries else self._dealt

    @property
    def _record(self) -> Record:
        lines = tuple(entry.line for entry in self._entries)
        table, extension = self._game.table, self._extension
        return Record(1, self._hand_seq, self._places, table, lines, is_automatic=True, extension=extension)

    def items(self, frames: Iterable[Frame]) -> Iterator[dict[str, Any]]:
        """Yield one JSON object a proposal, one at each hand's end, one for a hand still open at the source's end."""
        for frame in _lingering(frames):
            self._take(frame)
            yield from self._new_items()
        self._decide_all()
        yield from self._new_items()
        # If nothing follows its beginning, the next hand has begun only because the cards were gathered in.
        if not self._confirms or self._game.hand_number == 1 or self._entries:
            ends = judge.at_the_end(self._game if self._confirms else self._unplayed)
            yield from (item.as_json("") for item in ends)

    def _new_items(self) -> list[dict[str, Any]]:
        """Return what to report now. A hand that ended is reported again if later frames change its score."""
        items, self._items = self._items, []
        hands = self._game.hands[self._game.hand_number - 1 :] if self._game.held is None else ()
        for hand in (hand.as_json("") for hand in hands if self._confirms):
            if hand != self._hand_told:
                items.append(hand)
                self._hand_told = hand
        return items

    def _take(self, frame: Frame) -> None:
        """Look at a frame, and bring the record up to date."""
        self._t_s = frame.t_s
        if frame.after_gap:
            self._follower.lose_sight()
        self._follower.see(public(self._look(frame)), self._record)
        self._revise(at_the_end=False)
        self._answer()
        self._decide(frame.t_s - BARS.patience_s)
        if self._follower.is_cleared(self._record):
            self._decide_all()
            self._items = self._new_items()
            self._begin(self._game)
            self._follower.deal(self._seq)

    def _begin(self, game: Game) -> None:
        """Begin a hand: the turn to begin goes round the seats."""
        seats = [seat.player for seat in referee.seating(self._setup.teams)]
        first = seats[(seats.index(self._setup.first) + game.hand_number) % len(seats)]
        self._before = self.plays if game.hand_number else ()
        self._dealt, _ = _judged(game, f"hand first {first}")
        self._seq += 1
        self._hand_seq, self._entries = self._seq, ()
        self._told: dict[tuple[int | str, str], str] = {}  # the last report, by card (or question) and play

    # The policy

    def _answer(self) -> None:
        """Count what is decided, until nothing more is; tell what is in doubt."""
        for _ in range(MOST_ANSWERS):
            asked = self._follower.asking()(self._record)
            waiting = [q for q in asked if q.asks_play and q.is_legal]
            if not any(map(_is_sure, waiting)):
                break
            if _is_of_the_table(waiting[0]):
                # The record before it is not doubted any more.
                self._decide_all()
            self._count(waiting[0].plays[0], waiting[0].id, waiting[0].confidence)
        self.questions = tuple(filter(_is_told, asked))
        for question in self.questions:
            self._tell(question)

    def _decide_all(self) -> None:
        """Let the likeliest hypothesis count as it is, because nothing follows."""
        self._revise(at_the_end=True)
        self._decide(self._t_s)

    def _decide(self, until_s: float) -> None:
        """Let the likeliest hypothesis decide about what was played until then."""
        plays = [one for one in self._follower.likeliest(self._record) if one.since_s <= until_s]
        if len(plays) <= len(self._record.unvouched):
            return
        self._revise(at_the_end=True)
        said = [line.play for line in self._record.unvouched]
        if said == [one.play for one in plays[: len(said)]]:
            for one in itertools.takewhile(lambda one: one.reading >= LIKELY, plays[len(said) :]):
                self._count(one.play, one.question, one.reading)

    def _revise(self, *, at_the_end: bool) -> None:
        """Change the record where other hypotheses have become likelier."""
        lines = [(entry.line, entry.question) for entry in self._entries]
        for change in self._follower.revisions(self._record, at_the_end=at_the_end):
            n = next(n for n, (line, _) in enumerate(lines) if line.seq == change.line)
            self._seq += 1
            new = [] if change.play is None else [(self._line(change.play, change.question), change.question)]
            lines[n : n + (not change.is_new)] = new
        if [line for line, _ in lines] != [entry.line for entry in self._entries]:
            self._rewrite(lines, {one.question: one.reading for one in self._follower.likeliest(self._record)})

    # The record

    def _line(self, play: Play, question: str) -> Line:
        """Return a new line; a game goes on after it, so its table is filled in later."""
        table = self._game.table
        if table is None:
            raise AssertionError("a hand has begun")
        return Line(self._seq, play, table, self._places, serial_of(question), is_vouched=play.verb in OF_THE_TABLE)

    def _count(self, play: Play, question: str, confidence: float) -> None:
        self._seq += 1
        lines = [(entry.line, entry.question) for entry in self._entries]
        self._rewrite([*lines, (self._line(play, question), question)], {question: confidence})

    def _rewrite(self, lines: Sequence[tuple[Line, str]], confidence: Mapping[str, float]) -> None:
        """Replace the lines of the open hand, drop illegal ones, and report the difference."""
        before, game = self._entries, self._dealt
        entries: list[FilmLine] = []
        for line, question in lines:
            after, is_legal = self._played(game, line.play)
            if is_legal and game.table is not None:
                entries.append(FilmLine(replace(line, before=game.table), question, after))
                game = after
        self._entries = tuple(entries)
        kept = {entry.line.seq for entry in entries}
        for entry in reversed(before):
            if entry.line.seq not in kept:
                self._withdraw(entry)
        known = {entry.line.seq for entry in before}
        for entry in entries:
            if entry.line.seq not in known:
                self._tell_counted(entry, confidence.get(entry.question, 1.0))

    def _played(self, game: Game, play: Play) -> tuple[Game, bool]:
        """Return the game after a play, and True if that was legal; an extension that it earns is answered at once."""
        after, is_legal = _judged(game, str(play))
        table = after.table
        if is_legal and table is not None and table.extension_offered_to is not None and not table.is_over:
            player = table.sides[table.extension_offered_to].players[0]
            after, _ = _judged(after, str(Play(self._extension, player)))
        return after, is_legal

    # Reports

    def _withdraw(self, entry: FilmLine) -> None:
        self._told[_card(entry.question), str(entry.line.play)] = judge.LEGAL
        if self._confirms:
            self._say(withdrawn=str(entry.line.play), zone=_zone(entry.line))

    def _tell_counted(self, entry: FilmLine, confidence: float) -> None:
        play, zone = entry.line.play, _zone(entry.line)
        key = _card(entry.question), str(play)
        was, self._told[key] = self._told.get(key), COUNTS
        is_unseen = entry.line.serial is None and play.verb not in OF_THE_TABLE
        if was != judge.LEGAL and not is_unseen:
            self._propose(play, judge.LEGAL, [], zone, confidence, counts=True)
        elif self._confirms and is_unseen:
            self._say(missed=str(play))
        elif self._confirms:
            self._say(counted=str(play), zone=zone)

    def _tell(self, question: Question) -> None:
        """Report a question, unless that was the last report about it."""
        play = question.plays[0] if question.plays else None
        key = question.id if play is None else _card(question.id), str(play or "")
        verdict = judge.LEGAL if question.is_legal else judge.ILLEGAL
        if self._told.get(key) == verdict:
            return
        self._told[key] = verdict
        if question.kind is Kind.DIFFERS:
            self._say(question=question.say, zone=question.zone)
        elif question.kind is Kind.WHICH:
            choices = [str(play) for play in question.plays]
            self._say(question=UNREAD, zone=question.zone, choices=choices, confidence=round(question.confidence, 3))
        elif play is not None and question.table is not None:
            why = [as_json(reason, question.table.edition) for reason in question.reasons]
            self._propose(play, verdict, why, question.zone, question.confidence, counts=False)

    def _propose(
        self, play: Play, verdict: str, reasons: list[Any], zone: str | None, confidence: float, *, counts: bool
    ) -> None:
        self._say(
            proposal=str(play),
            verdict=verdict,
            reasons=reasons,
            confirmed=counts and self._confirms,
            zone=zone,
            confidence=round(confidence, 3),
        )

    def _say(self, **item: Any) -> None:
        self._items.append({"t_s": round(self._t_s, 3), **item})


def _is_sure(question: Question) -> bool:
    return question.sure or (question.kind is Kind.PLAY and question.confidence >= SURE_CONFIDENCE)


def _is_of_the_table(question: Question) -> bool:
    return bool(question.plays) and question.plays[0].verb in OF_THE_TABLE


def _is_told(question: Question) -> bool:
    """True if a question is reported at once. Unlikely or unseen plays are reported only once they count."""
    is_unseen = question.serial is None and not _is_of_the_table(question)
    return question.kind is not Kind.PLAY or (question.confidence >= POSSIBLE and not is_unseen)


def _card(question: str) -> int | str:
    """Return the number of the card that a question is about; the question itself if that has none."""
    serial = serial_of(question)
    return question if serial is None else serial


def _zone(line: Line) -> str | None:
    return line.spots[0][0] if line.spots else None


def _judged(game: Game, text: str) -> tuple[Game, bool]:
    """Return the game after one more line, and True if that was legal. Raises Problem for an unreadable line."""
    game, items = judge.step(game, RecordLine(1, text))
    lines = [item for item in items if isinstance(item, JudgedLine)]
    for line in lines:
        if line.unreadable:
            raise Problem(str(line.unreadable))
    return game, all(line.verdict == judge.LEGAL for line in lines)


def _lingering(frames: Iterable[Frame]) -> Iterator[Frame]:
    """Yield the frames of a source, then the last for a moment longer: a card that has just been put down counts."""
    last = None
    for last in frames:
        yield last
    if last is not None:
        looks = (last.t_s + LINGER_STEP_S * (n + 1) for n in range(LINGER_LOOKS))
        yield from (replace(last, t_s=t_s, after_gap=False) for t_s in looks)

"""Immutable state of the match: judged record and open questions."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from companion.common.errors import Problem
from companion.common.text import say
from companion.match import dealer
from companion.match.dealer import Dealt
from companion.match.history import DEALT, ROBOT_SEAT, VERIFYING, YES, History, Written, history
from companion.match.questions import Kind, Letter, Question, letter_id, question_id
from companion.robots.robot import Level
from companion.rules import reasons, referee
from companion.rules.hidden_cards import DealError
from companion.rules.play import Play
from companion.rules.record import judge, notation
from companion.rules.record.judge import Game, HandResult, JudgedLine, JudgedRecord
from companion.rules.record.notation import RecordLine
from companion.rules.table import Table
from companion.storage.events import Event, NewEvent

log = logging.getLogger(__name__)

NO_HAND = say("No game has been set up yet: choose the players first.")


class Policy(StrEnum):
    """When a play detected by the camera counts."""

    TAP = "tap"
    PLAY_ON = "play-on"  # a tap; if it is legal and sure, also the next player's play
    AUTO = "auto"  # no tap, if it is legal and sure


class RobotSeat(NamedTuple):
    """A player at the real table whose cards a robot plays, with a person's help."""

    player: str
    level: int

    @classmethod
    def of(cls, setting: str | None, players: Iterable[str]) -> RobotSeat | None:
        """Parse a setting such as `Ann 2`; None for an unknown player or level."""
        player, _, level = (setting or "").partition(" ")
        known = Level.of(level)
        return cls(player, known) if known and player in players else None

    def __str__(self) -> str:
        return f"{self.player} {self.level}"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the record with the referee's verdict."""

    written: Written
    hand: int
    judged: JudgedLine | None  # None for a header or hand start

    @property
    def seq(self) -> int:
        return self.written.seq

    @property
    def play(self) -> Play | None:
        return self.judged.play if self.judged else None

    @property
    def needs_attention(self) -> bool:
        """True if the line does not count: unreadable, or illegal and not allowed by the table."""
        return self.judged is not None and not self.judged.applied


@dataclass(frozen=True, slots=True)
class MatchState:
    """Everything the pages show at one moment."""

    version: int = 0  # grows with every visible change, even over restarts; below 2^31
    seq: int = 0  # last event; on disk if `unsaved` is None
    match: int | None = None
    record: JudgedRecord = judge.EMPTY_RECORD
    entries: tuple[Entry, ...] = ()
    past: History = field(default_factory=History)
    hand_seq: int = 0  # event that began the current hand
    questions: tuple[Question, ...] = ()  # in the order of `asked_in`
    trouble: str | None = None
    unsaved: str | None = None  # a sentence while a shown change is not on disk
    note: str | None = None  # about a damaged log, until dismissed
    offered: tuple[str, ...] = ()  # setup lines of another match
    without_camera: bool = False  # paused: trouble shows only on the camera's page
    policy: Policy = Policy.TAP
    other_side_verifies: bool = False  # another side confirms plays
    robot_seat: RobotSeat | None = None
    redone_next: tuple[Event, ...] = ()  # undos that one redo reverts, newest first
    is_dealt: bool = False  # the program deals
    robots: Mapping[str, int] = field(default_factory=dict)  # level by player
    dealt: Dealt | None = None  # hidden cards: show only `seen_by`

    @property
    def undoable(self) -> Event | None:
        """The oldest change that the next undo reverts."""
        return self.past.undone_next[-1] if self.past.undone_next else None

    @property
    def redoable(self) -> Event | None:
        """The first undo that the next redo reverts."""
        return self.redone_next[0] if self.redone_next else None

    @property
    def side_of(self) -> Mapping[str, str]:
        return {player: team.name for team in self.game.teams for player in team.players}

    @property
    def people(self) -> tuple[str, ...]:
        return tuple(player for player in self.side_of if player not in self.robots)

    @property
    def game(self) -> Game:
        return self.record.game

    @property
    def hand_entries(self) -> tuple[Entry, ...]:
        return tuple(e for e in self.entries if e.hand == self.game.hand_number and e.judged is not None)

    @property
    def attention(self) -> tuple[Entry, ...]:
        """Lines that do not count until a person decides."""
        return tuple(entry for entry in self.entries if entry.needs_attention)

    @property
    def last_line(self) -> int:
        """Event of the hand's last play, else of its beginning."""
        return self.hand_entries[-1].seq if self.hand_entries else self.hand_seq

    @property
    def is_under_way(self) -> bool:
        """True if something was played and the match is not over."""
        return self.match is not None and self.game.goes_on and bool(self.hand_entries or self.game.hands)

    @property
    def is_demo(self) -> bool:
        return self.past.is_demo

    def was_counted(self, entry: Entry) -> bool:
        return any(hand.number == entry.hand for hand in self.game.hands)

    def entry(self, seq: int) -> Entry | None:
        return next((e for e in self.entries if e.seq == seq and e.judged is not None), None)

    def question(self, question_id: str) -> Question | None:
        return next((question for question in self.questions if question.id == question_id), None)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of an action, and the state after it."""

    done: bool
    reasons: tuple[reasons.Reason, ...] = ()
    say: str | None = None  # for the person who acted
    is_void: bool = False  # nothing to do
    line: int | None = None  # that was entered in the meantime
    seq: int = 0
    version: int = 0
    asked: tuple[str, ...] = ()  # question ids
    saved: bool = True  # everything is on disk


# Judging


def judge_on(before: JudgedRecord, lines: Sequence[Written]) -> tuple[JudgedRecord, tuple[Entry, ...]]:
    """Return the record after `lines`, judged from the first change on, and its entries."""
    record = judge.judge_on(before, tuple(RecordLine(written.seq, written.text) for written in lines))
    games = enumerate(zip(lines, record.games, strict=True))
    return record, tuple(Entry(line, game.hand_number, record.verdict(place)) for place, (line, game) in games)


def misfits(state: MatchState, events: Sequence[Event], change: NewEvent) -> tuple[Entry, ...]:
    """Return the lines that a change stops from counting, a changed one first."""
    new = Event(state.seq + 1, state.match or 0, 0.0, change.kind, change.body)
    _, entries = judge_on(state.record, history((*events, new)).lines)
    known = {entry.seq for entry in state.attention} - {change.body.get("of")}
    return tuple(entry for entry in entries if entry.needs_attention and entry.seq not in known)


def judged_next(game: Game, play: Play) -> tuple[Game, JudgedLine]:
    """Judge a play without recording it; return the game after it and the verdict."""
    game, items = judge.step(game, RecordLine(0, str(play)))
    return game, next(item for item in items if isinstance(item, JudgedLine))


def asked_in(state: MatchState, seen: Sequence[Question]) -> Iterator[Question]:
    """Yield open questions: the director's, then the camera's (`seen`) and typed plays or, if dealt, the undo wish."""
    yield from _directed(state)
    yield from _wished(state) if state.is_dealt else _claimed(state, seen)


def _directed(state: MatchState) -> Iterator[Question]:
    for letter in state.past.letters:
        what, who, text = letter.body["what"], letter.body["by"], letter.body.get("text", "")
        asked = Question(
            letter_id(letter.match, letter.body["letter"]), Kind.DIRECTOR, None, table=state.game.table, by=who
        )
        if asked.id in state.past.asked or what == Letter.COMING:
            continue
        if what == Letter.NOTE:
            yield replace(asked, say=say("%(who)s, for the club, says: “%(text)s”", who=who, text=text))
            continue
        entry = None if state.is_dealt else state.entry(letter.body["of"])
        if entry is None:
            continue
        line = entry.written.text
        if what == Letter.REMOVE:
            wish = say("%(who)s, for the club, removes this from the record: “%(line)s”", who=who, line=line)
            yield replace(asked, say=wish, line=entry.seq)
        elif (play := notation.read_play(str(text), state.game.teams)) is not None:
            new = str(play)
            wish = say("%(who)s, for the club, changes “%(line)s” to “%(text)s”.", who=who, line=line, text=new)
            yield replace(asked, plays=(play,), say=wish, line=entry.seq)


def _wished(state: MatchState) -> Iterator[Question]:
    """Yield the open request to undo."""
    for wish in state.past.wishes:
        asked = question_id(state.match or 0, state.hand_seq, "wish", f"e{wish.seq}", Kind.UNDO)
        is_last = state.undoable is not None and wish.body["of"] == state.undoable.seq
        if is_last and asked not in state.past.answers:
            yield Question(asked, Kind.UNDO, None, table=state.game.table, by=wish.body["by"])
            return


def _typed(state: MatchState) -> Iterator[tuple[str, Play]]:
    """Yield question id and play of each typed play that waits.

    A hand's end drops earlier ones; a later one may still answer its last play.
    """
    since = state.hand_seq if state.game.hand_is_open else max(entry.seq for entry in state.entries)
    answered = {entry.written.question for entry in state.entries} | state.past.answers.keys()
    for claim in state.past.claims:
        asked = typed_id(state, claim.seq)
        play = notation.read_play(claim.text, state.game.teams)
        if claim.seq > since and asked not in answered and play is not None:
            yield asked, play


def typed_id(state: MatchState, claim: int) -> str:
    """Return the question id of the play typed in event `claim`."""
    return question_id(state.match or 0, state.hand_seq, "typed", f"e{claim}", Kind.PLAY)


def _claimed(state: MatchState, seen: Sequence[Question]) -> Iterator[Question]:
    """Yield the camera's questions, then typed plays, each judged after those before it.

    A play both typed and seen gives one question, with the typed id.
    """
    table = state.game.table
    if table is None:
        return
    waiting = list(_typed(state))
    for question in seen:
        plays = question.plays[:1] if question.kind is Kind.PLAY else ()
        own = next((one for one in waiting if one[1] in plays), None)
        if own is not None:
            waiting.remove(own)
            question = replace(question, id=own[0], instead_of=question.id)
        yield question
        table = after(question, table)
    for asked, play in waiting:
        question = Question(asked, Kind.PLAY, None, (play,), table, referee.objections(table, play))
        yield question
        table = after(question, table)


def after(question: Question, table: Table) -> Table:
    """Return the table after the question's play, unchanged if that is illegal."""
    if question.kind is not Kind.PLAY or not question.is_legal:
        return table
    return referee.apply(question.table or table, question.plays[0])


# Queries


def next_first(state: MatchState) -> str:
    """Return the next hand's starter: the player after the last one."""
    players = [seat.player for seat in table_of(state).seats]
    return players[(players.index(first_of_hand(state)) + 1) % len(players)]


def first_of_hand(state: MatchState) -> str:
    """Return the latest hand's starter."""
    tables = (game.table for game in state.record.games if game.hand_number == state.game.hand_number)
    return next((table.player_to_move for table in tables if table is not None), table_of(state).player_to_move)


def waits_for_another(state: MatchState, play: Play, by: str) -> bool:
    """True if another side must confirm the play, and `by` is not on one."""
    whose = state.side_of.get(play.player or "")
    return state.other_side_verifies and whose is not None and state.side_of.get(by, whose) == whose


def table_of(state: MatchState) -> Table:
    """Return the current table. Raises Problem before the first match."""
    if state.game.table is None:
        raise Problem(NO_HAND)
    return state.game.table


def last_result(state: MatchState) -> HandResult | None:
    """Return the last hand's result; None once the next has begun."""
    return state.game.hands[-1] if state.game.hands and not state.game.hand_is_open else None


def derived(before: MatchState, events: Sequence[Event]) -> MatchState:
    """Return the state after these events; judges only changes since `before`."""
    past = history(events)
    record, entries = judge_on(before.record, past.lines)
    players = [player for team in record.game.teams for player in team.players]
    is_dealt, robots = past.settings.get(DEALT) == YES, MappingProxyType(past.robots)
    policy = past.settings.get("policy")
    state = replace(
        before,
        seq=events[-1].seq,
        match=events[0].match,
        record=record,
        entries=entries,
        hand_seq=next((entry.seq for entry in entries if entry.hand == record.game.hand_number > 0), 0),
        past=past,
        policy=Policy(policy) if policy in tuple(Policy) else Policy.TAP,
        other_side_verifies=past.settings.get(VERIFYING) == YES,
        robot_seat=None if is_dealt else RobotSeat.of(past.settings.get(ROBOT_SEAT), players),
        # Between several people, an agreed undo of dealt cards is final.
        redone_next=() if is_dealt and len(players) > len(robots) + 1 else past.redone_next,
        is_dealt=is_dealt,
        robots=robots,
        dealt=None,
    )
    return replace(state, dealt=_dealt(state)) if is_dealt else state


def _dealt(state: MatchState) -> Dealt | None:
    """Return the last hand with its hidden cards; None if they contradict the record."""
    key = next((entry.written.deal for entry in state.entries if entry.seq == state.hand_seq), "")
    waived = [player for of, player in state.past.waived if of == state.last_line]
    before = next((game.totals for game in state.record.games if game.hand_number == state.game.hand_number), {})
    try:
        return dealer.dealt(state.record, key, waived, before, state.robots) if key else None
    except DealError:
        log.exception("the cards of this hand do not fit its record")
        return None

"""Follow the views of a whole hand in several ways, and compare each record with what was really played.

*film* is `companion watch --confirm legal`. *live, no taps* is the table with plays that count by themselves. *live,
host* is the table with a person who knows what was played, answers every question truthfully, and types what the
camera does not ask about.
"""

import math
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.views import FilmedHand, TruePlay
from companion.match.match import Match
from companion.match.questions import Answer, Kind, Question
from companion.match.setup_file import Setup, parse_setup
from companion.match.state import Policy
from companion.match.zone_plays import Places
from companion.rules.play import Play, Verb
from companion.rules.record import judge
from companion.rules.record.judge import NEW_GAME, Game
from companion.rules.record.notation import RecordLine, parse_play
from companion.storage.event_store import Store
from companion.storage.events import EventKind
from companion.tracking.beam import Beliefs
from companion.tracking.film import LINGER_LOOKS, LINGER_STEP_S, Watcher
from companion.tracking.handling import COSTS
from companion.tracking.hypothesis import Judge
from companion.tracking.live import TableWatch
from companion.vision.capture.sources import Frame
from companion.vision.view import View

FILM, NO_TAPS, HOST = "film", "live, no taps", "live, host"
FOLLOWERS = (FILM, NO_TAPS, HOST)
TOLERANCE_S = 2.5  # for this long after a card was removed, a question about it is still justified
READS_S = 0.5  # from a question's appearance to the host's answer
TYPES_S = 4.0  # from a play to its being typed, if the camera does not ask about it
PICTURE = np.zeros((4, 4, 3), np.uint8)


# What was played -----------------------------------------------------------------------------------------------


def texts_of(plays: Sequence[Play]) -> tuple[str, ...]:
    """Return the plays that move a card in record notation, without `anyway`.

    Lines without a card (`finish`, `exhausted`, `end`) are left out, because the true plays lack them.
    """
    moving = (play for play in plays if play.card is not None or play.cards or play.verb is Verb.TAKE)
    return tuple(str(replace(play, anyway=False)) for play in moving)


class Truth:
    """The true plays of a hand: those that stayed, in order, and those that were taken back."""

    def __init__(self, hand: FilmedHand, setup: Setup) -> None:
        read = ((play, texts_of([parse_play(play.text, setup.teams)])) for play in hand.plays)
        plays = [replace(play, text=text) for play, texts in read for text in texts]
        self.legal = tuple(play for play in plays if play.is_legal)
        self.slips = tuple(play for play in plays if not play.is_legal)
        self.texts = tuple(play.text for play in self.legal)

    def is_true(self, record: Sequence[str]) -> bool:
        """True if the record is the beginning of what was played."""
        return tuple(record) == self.texts[: len(record)]

    def due(self, record: Sequence[str], t_s: float) -> TruePlay | None:
        """Return the play that a true record needs next, if it has been made by then."""
        return next((play for play in self.legal[len(record) :][:1] if _lies(play, t_s)), None)

    def missing(self, record: Sequence[str], t_s: float) -> Counter[str]:
        """Count, by text, the plays that have been made by then and are not in the record."""
        return Counter(play.text for play in self.legal if _lies(play, t_s)) - Counter(record)

    def slip(self, text: str, t_s: float) -> TruePlay | None:
        """Return the illegal play of this text whose card is on the table or has just been taken back."""
        there = (slip for slip in self.slips if slip.text == text and _lies(slip, t_s))
        return next((slip for slip in there if t_s <= _gone_s(slip) + TOLERANCE_S), None)

    def is_disturbed(self, zone: str | None, t_s: float) -> bool:
        """True if a misplaced card, or one that is taken back, is in this zone or has just left it."""
        strays = ((place, from_s, play.lies_s) for play in self.legal for place, from_s in play.early)
        slips = ((slip.zone, slip.lies_s, _gone_s(slip)) for slip in self.slips)
        spans = ((from_s, until_s) for place, from_s, until_s in (*strays, *slips) if place == zone)
        return any(from_s is not None and from_s <= t_s <= (until_s or 0.0) + TOLERANCE_S for from_s, until_s in spans)

    def is_behind(self, question: Question, record: Sequence[str], t_s: float) -> bool:
        """True if the question may be about a play that was made, or about a misplaced card."""
        missing = self.missing(record, t_s)
        if any(text in missing or self.slip(text, t_s) for text in texts_of(question.plays)):
            return True
        is_end = any(play.verb is Verb.END for play in question.plays)
        return self.is_disturbed(question.zone, t_s) or (is_end and all(_lies(play, t_s) for play in self.legal))

    def is_false_difference(self, question: Question, record: Sequence[str], t_s: float) -> bool:
        """True if the record is true and complete, and every card of that zone is in its place."""
        is_complete = not any(_lies(play, t_s) for play in self.legal[len(record) :])
        return self.is_true(record) and is_complete and not self.is_disturbed(question.zone, t_s)


def _lies(play: TruePlay, t_s: float) -> bool:
    return (play.lies_s or 0.0) <= t_s


def _gone_s(play: TruePlay) -> float:
    return math.inf if play.gone_s is None else play.gone_s


def _clear_s(play: TruePlay) -> float:
    """Return when the hand had left the card."""
    return (play.lies_s or 0.0) if play.clear_s is None else play.clear_s


# Comparing -----------------------------------------------------------------------------------------------------


class Journal:
    """What a follower showed and recorded after each view, compared with what was played."""

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._times_s: list[float] = []
        self._shown: set[tuple[str, str]] = set()
        self._proposed: dict[int, int] = {}  # by true play: the view on which it was proposed first
        self._plays: tuple[Play, ...] = ()
        self.record: tuple[str, ...] = ()
        self.flagged: set[int] = set()
        self._justified: set[str] = set()  # ids of questions about plays that were made
        self.false: set[str] = set()  # ids of false questions
        self.ms: list[float] = []  # processor time of each view

    def note(self, t_s: float, questions: Sequence[Question], plays: tuple[Play, ...], ms: float) -> None:
        """Note the open questions and the record after a view."""
        self._times_s.append(t_s)
        self.ms.append(ms)
        for question in questions:
            self._see(question, t_s)
        if plays != self._plays:
            self._plays, self.record = plays, texts_of(plays)
            known = Counter(self._truth.texts[number] for number in self._proposed)
            for text in (Counter(self.record) - known).elements():
                self._propose(text, t_s)
        self.false |= {question.id for question in questions if self._is_false(question, t_s)}

    def _see(self, question: Question, t_s: float) -> None:
        texts = texts_of(question.plays[:1] if question.kind is Kind.PLAY else question.plays)
        for text in texts if question.asks_play else ():
            slip = None if question.is_legal else self._truth.slip(text, t_s)
            if slip is not None:
                self.flagged.add(self._truth.slips.index(slip))
            elif question.is_legal and (question.id, text) not in self._shown:
                self._shown.add((question.id, text))
                self._propose(text, t_s)

    def _propose(self, text: str, t_s: float) -> None:
        """Assign a proposal to the latest play of this text that has none."""
        numbered = enumerate(self._truth.legal)
        fits = [n for n, play in numbered if play.text == text and _lies(play, t_s) and n not in self._proposed]
        if fits:
            self._proposed[fits[-1]] = len(self._times_s) - 1

    def _is_false(self, question: Question, t_s: float) -> bool:
        if question.kind is Kind.DIFFERS:
            return self._truth.is_false_difference(question, self.record, t_s)
        if self._truth.is_behind(question, self.record, t_s):
            self._justified.add(question.id)
        return question.asks_play and question.id not in self._justified

    def delays(self) -> tuple[int, ...]:
        """Return, for each proposed play, the number of views from the hand having left the card to the proposal."""
        clear = {number: _clear_s(self._truth.legal[number]) for number in self._proposed}
        first = {number: sum(t_s < clear_s for t_s in self._times_s) for number, clear_s in clear.items()}
        return tuple(max(0, view - first[number]) for number, view in sorted(self._proposed.items()))


def aligned(record: Sequence[str], truth: Sequence[str]) -> Iterator[tuple[str | None, str | None]]:
    """Yield pairs (recorded, played) along the longest common subsequence; None where one has no partner.

    Between two agreeing plays, missing ones and extra ones are paired in order.
    """
    common = [[0] * (len(truth) + 1) for _ in range(len(record) + 1)]
    for i in reversed(range(len(record))):
        for j in reversed(range(len(truth))):
            is_same = record[i] == truth[j]
            common[i][j] = common[i + 1][j + 1] + 1 if is_same else max(common[i + 1][j], common[i][j + 1])
    i = j = 0
    mine: list[str] = []
    theirs: list[str] = []
    while i < len(record) or j < len(truth):
        if i < len(record) and j < len(truth) and record[i] == truth[j]:
            yield from _paired(mine, theirs)
            yield record[i], truth[j]
            mine, theirs, i, j = [], [], i + 1, j + 1
        elif j == len(truth) or (i < len(record) and common[i + 1][j] >= common[i][j + 1]):
            mine.append(record[i])
            i += 1
        else:
            theirs.append(truth[j])
            j += 1
    yield from _paired(mine, theirs)


def _paired(mine: list[str], theirs: list[str]) -> Iterator[tuple[str | None, str | None]]:
    both = min(len(mine), len(theirs))
    yield from zip(mine, theirs, strict=False)
    yield from ((text, None) for text in mine[both:])
    yield from ((None, text) for text in theirs[both:])


@dataclass(frozen=True)
class Taps:
    """What the host did."""

    confirmed: int = 0
    refused: int = 0
    other: int = 0
    typed: int = 0
    removed: int = 0  # lines of a record that had gone wrong

    @property
    def total(self) -> int:
        return self.confirmed + self.refused + self.other


@dataclass(frozen=True)
class Result:
    """How one follower did on one hand, or on several; times in milliseconds of the processor."""

    hands: int = 0
    plays: int = 0
    right: int = 0
    missed: int = 0
    wrong: int = 0
    invented: int = 0
    slips: int = 0
    flagged: int = 0
    sheets: int = 0
    sheets_right: int = 0
    false_questions: int = 0
    taps: int = 0
    refused: int = 0
    typed: int = 0
    removed: int = 0
    views: int = 0
    ms: float = 0.0
    slowest_ms: float = 0.0  # for one view
    delays: tuple[int, ...] = ()  # in views
    faults: tuple[str, ...] = field(default=(), compare=False)

    def __add__(self, other: "Result") -> "Result":
        both = {name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__}
        return Result(**{**both, "slowest_ms": max(self.slowest_ms, other.slowest_ms)})


def judged(hand: FilmedHand, truth: Truth, journal: Journal, sheets: list[dict], taps: Taps) -> Result:
    """Return the figures of a follower that has come to the end of a hand."""
    pairs = list(aligned(journal.record, truth.texts))
    right = sum(mine == theirs for mine, theirs in pairs)
    missed = sum(mine is None for mine, _ in pairs)
    invented = sum(theirs is None for _, theirs in pairs)
    return Result(
        hands=1, plays=len(truth.texts), right=right, missed=missed, invented=invented,
        wrong=len(pairs) - right - missed - invented, slips=len(truth.slips), flagged=len(journal.flagged),
        sheets=len(hand.sheets), sheets_right=len(hand.sheets) if sheets == hand.sheets else 0,
        false_questions=len(journal.false), taps=taps.total, refused=taps.refused, typed=taps.typed,
        removed=taps.removed, views=len(journal.ms), ms=sum(journal.ms), slowest_ms=max(journal.ms, default=0.0),
        delays=journal.delays(), faults=(*_faults(pairs), *(f"asked: {asked}" for asked in sorted(journal.false))),
    )  # fmt: skip


def _faults(pairs: Sequence[tuple[str | None, str | None]]) -> Iterator[str]:
    for number, (mine, theirs) in enumerate(pairs, start=1):
        if mine != theirs:
            yield f"{number}. invented: {mine}" if theirs is None else f"{number}. {theirs}: {mine or 'missed'}"


# The followers -------------------------------------------------------------------------------------------------


class Film(Watcher):
    """The film follower over stored views."""

    def __init__(self, setup: Setup, hand: FilmedHand, journal: Journal) -> None:
        super().__init__(setup, self._next_view, confirm=True, extension=Verb.FINISH)
        self._views, self._journal = hand.views, journal
        self._looks = 0

    def told(self) -> list[dict]:
        """Return all that `companion watch` prints."""
        items = list(self.items(Frame(PICTURE, view.t_s, after_gap) for view, after_gap in self._views))
        self._journal.note(math.inf, (), self.plays, 0.0)
        return items

    def _next_view(self, frame: Frame) -> View:
        """Return the next view; after the end, the last one again."""
        view, _ = self._views[min(self._looks, len(self._views) - 1)]
        self._looks += 1
        return replace(view, t_s=frame.t_s)

    def _take(self, frame: Frame) -> None:
        start = time.process_time()
        super()._take(frame)
        self._journal.note(frame.t_s, self.questions, self.plays, 1000 * (time.process_time() - start))


def follow_film(hand: FilmedHand) -> tuple[Result, list[dict]]:
    """Follow the views as `companion watch` does; return what it prints as well."""
    setup = setup_of(hand)
    truth = Truth(hand, setup)
    journal = Journal(truth)
    items = Film(setup, hand, journal).told()
    sheets = {item["hand"]: item["sides"] for item in items if "hand" in item}
    return judged(hand, truth, journal, list(sheets.values()), Taps()), items


def follow_live(hand: FilmedHand, *, is_hosted: bool, noted: Callable[[Truth], Journal] = Journal) -> Result:
    """Follow the views as the table does: with a truthful host, or with plays that count by themselves."""
    setup = setup_of(hand)
    truth, now = Truth(hand, setup), hand.views[0][0]
    journal = noted(truth)
    with TemporaryDirectory() as folder:
        match = Match(Store.open(Path(folder) / "companion.sqlite3"), lambda _: setup.mats)
        policy = Policy.TAP if is_hosted else Policy.AUTO
        match.start([*setup.header(), f"hand first {setup.first}"], policy=policy)
        watch = TableWatch(match, lambda _frame: now, match.mats)
        host = Host(match, truth) if is_hosted else None
        for now, after_gap in lingering(hand):
            start = time.process_time()
            watch.take(Frame(PICTURE, now.t_s, after_gap))
            ms = 1000 * (time.process_time() - start)
            _finish(match)
            journal.note(now.t_s, match.state.questions, _plays(match), ms)
            if host is not None:
                host.act(now.t_s)
                _finish(match)
        if host is not None:
            host.type_the_rest(now.t_s)
            _finish(match)
        journal.note(now.t_s, (), _plays(match), 0.0)
        sheets = list(_sheets(match))
        match.store.close()
    return judged(hand, truth, journal, sheets, host.taps if host else Taps())


def setup_of(hand: FilmedHand) -> Setup:
    return parse_setup(tomllib.loads(hand.setup))


def lingering(hand: FilmedHand) -> Iterator[tuple[View, bool]]:
    """Yield the views, then the last one for a second longer, as a film is followed."""
    yield from hand.views
    last, _ = hand.views[-1]
    yield from ((replace(last, t_s=last.t_s + LINGER_STEP_S * (n + 1)), False) for n in range(LINGER_LOOKS))


def _plays(match: Match) -> tuple[Play, ...]:
    """Return the plays of all hands that count."""
    return tuple(entry.play for entry in match.state.entries if entry.play and not entry.needs_attention)


def _sheets(match: Match) -> Iterator[dict]:
    """Yield the scores of each hand in which something was played: once cards are gathered in, another has begun."""
    hands = {entry.hand for entry in match.state.entries if entry.play}
    yield from (result.as_json("")["sides"] for n, result in sorted(match.state.record.hands.items()) if n in hands)


def _finish(match: Match) -> None:
    """Decline an extension, as the film follower does."""
    table = match.state.game.table
    if table is not None and table.extension_offered_to is not None and not table.is_over:
        player = table.sides[table.extension_offered_to].players[0]
        match.enter(str(Play(Verb.FINISH, player)), player)


class Host:
    """A person at the table who knows what was played, and does at most one thing a view."""

    def __init__(self, match: Match, truth: Truth) -> None:
        self._match, self._truth = match, truth
        self._by = next(iter(match.state.people))
        self._since_s: dict[str, float] = {}  # by question: when it appeared
        self.taps = Taps()

    def act(self, t_s: float) -> None:
        """Correct the record, answer a question or type a play."""
        questions = self._match.state.questions
        for question in questions:
            self._since_s.setdefault(question.id, t_s)
        read = [question for question in questions if t_s - self._since_s[question.id] >= READS_S]
        first = next((question for question in questions if question.asks_play), None)
        if self._corrects() or (first in read and self._answers(first, t_s)) or self._types(t_s):
            return
        false = (question for question in read if self._is_false_difference(question, t_s))
        if (question := next(false, None)) is not None:
            self._say(question, Answer.RECORD)
            self._count("other")

    @property
    def _record(self) -> tuple[str, ...]:
        return texts_of(_plays(self._match))

    def _count(self, what: str) -> bool:
        self.taps = replace(self.taps, **{what: getattr(self.taps, what) + 1})
        return True

    def _corrects(self) -> bool:
        """Remove a line that does not count, or else the first wrong one; True if there is one."""
        state, record = self._match.state, self._record
        wrong = [entry for entry in state.hand_entries if entry.needs_attention]
        if not wrong and not self._truth.is_true(record):
            moving = [entry for entry in state.hand_entries if entry.play and texts_of([entry.play])]
            wrong = [entry for n, entry in enumerate(moving) if record[: n + 1] != self._truth.texts[: n + 1]]
        if not wrong:
            return False
        self._match.rewrite(EventKind.RETRACT, wrong[0].seq, None, self._by)
        return self._count("removed")

    def _answers(self, question: Question, t_s: float) -> bool:
        """Answer the first question about a play; True unless the host waits."""
        texts, due = texts_of(question.plays), self._truth.due(self._record, t_s)
        if due is not None and due.text in texts:
            self._say(question, Answer.YES, due.text)
            return self._count("confirmed")
        if texts and self._truth.slip(texts[0], t_s):
            self._say(question, Answer.TAKEN_BACK)
            return self._count("confirmed")
        if self._record == self._truth.texts and any(play.verb is Verb.END for play in question.plays):
            self._say(question, Answer.YES)
            return self._count("other")
        if self._waits(question, due, t_s):
            return False
        self._say(question, Answer.NO)
        return self._count("refused")

    def _waits(self, question: Question, due: TruePlay | None, t_s: float) -> bool:
        """True if an earlier play must count first, or a misplaced card will be moved."""
        if not self._truth.is_behind(question, self._record, t_s):
            return False
        # The earlier play's own question comes after this one and cannot be answered before it.
        is_stuck = due is not None and self._is_asked(due) and t_s - _clear_s(due) >= TYPES_S
        return not is_stuck

    def _is_asked(self, play: TruePlay) -> bool:
        return any(play.text in texts_of(question.plays) for question in self._match.state.questions)

    def _types(self, t_s: float) -> bool:
        """Type the due play if the camera has not asked about it for some seconds; True if typed."""
        due = self._truth.due(self._record, t_s)
        if due is None or self._is_asked(due) or t_s - _clear_s(due) < TYPES_S:
            return False
        self._match.enter(due.text, self._by, anyway=True)
        return self._count("typed")

    def _is_false_difference(self, question: Question, t_s: float) -> bool:
        return question.kind is Kind.DIFFERS and self._truth.is_false_difference(question, self._record, t_s)

    def _say(self, question: Question, answer: Answer, play: str | None = None) -> None:
        self._match.answer(question.id, answer, self._by, play=play, anyway=play is not None)

    def type_the_rest(self, t_s: float) -> None:
        """Type the last plays that the record lacks, at the end of the film."""
        while self._corrects():
            pass
        while (due := self._truth.due(self._record, t_s)) is not None:
            before = self._record
            self._match.enter(due.text, self._by, anyway=True)
            if self._record == before:
                return
            self._count("typed")


def started(setup: Setup) -> tuple[Game, Beliefs]:
    """Return a game before its first play, and what is believed about its table."""
    game = _game((*setup.header(), f"hand first {setup.first}"))
    return game, Beliefs(Judge(game.table, Places(setup.mats), COSTS, Verb.FINISH))


def _game(lines: Iterable[str], game: Game = NEW_GAME) -> Game:
    for line in lines:
        game, _ = judge.step(game, RecordLine(1, line))
    return game


def follow(hand: FilmedHand, followers: Sequence[str] = FOLLOWERS) -> dict[str, Result]:
    """Return the figures of each follower on a hand."""
    ways = {
        FILM: lambda: follow_film(hand)[0],
        NO_TAPS: lambda: follow_live(hand, is_hosted=False),
        HOST: lambda: follow_live(hand, is_hosted=True),
    }
    return {name: ways[name]() for name in followers}

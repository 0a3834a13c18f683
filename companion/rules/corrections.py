"""Late correction: a line of a record is changed, taken out or put in, and the record is judged anew from there.

A record judged keeps the game after every line, so that the lines before the change are not judged again. No
line is ever dropped: one that does not fit any more stays and is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from companion.rules.record import judge
from companion.rules.record.judge import LEGAL, NEW_GAME, Game, HandResult, Item, JudgedLine
from companion.rules.record.notation import Line, without_comment

Record = tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class JudgedRecord:
    """A record, line by line: the game after each line, and what the line gave."""

    lines: Record = ()
    games: tuple[Game, ...] = ()
    given: tuple[tuple[Item, ...], ...] = ()

    @property
    def game(self) -> Game:
        """The game after the last line."""
        return self.games[-1] if self.games else NEW_GAME

    @property
    def items(self) -> tuple[Item, ...]:
        """What `judge` gives for these lines: every verdict and hand in order, an open hand at the end."""
        return (*(item for items in self.given for item in items), *judge.at_the_end(self.game))

    @property
    def hands(self) -> dict[int, HandResult]:
        """The result of each hand, by its number."""
        return {item.number: item for item in self.items if isinstance(item, HandResult)}

    def verdict(self, place: int) -> JudgedLine | None:
        """What the referee says of the line at a place; None where there is nothing to say of a header."""
        return next((item for item in self.given[place] if isinstance(item, JudgedLine)), None)


EMPTY = JudgedRecord()


@dataclass(frozen=True, slots=True)
class ChangedHand:
    """A hand that a correction has made another one; None where there was, or is, no such hand."""

    number: int
    before: HandResult | None
    after: HandResult | None


@dataclass(frozen=True, slots=True)
class Correction:
    """What a correction comes to."""

    before: JudgedRecord
    after: JudgedRecord
    since: int
    """The place of the first line judged anew."""

    became_illegal: tuple[JudgedLine, ...]
    """The lines that do not fit any more, as they are judged now; a line that is new counts if it does not fit."""

    became_legal: tuple[JudgedLine, ...]
    hands: tuple[ChangedHand, ...]
    """The hands whose end, score or match totals are not what they were."""

    @property
    def items(self) -> tuple[Item, ...]:
        """What was judged anew."""
        return (*(i for items in self.after.given[self.since :] for i in items), *judge.at_the_end(self.after.game))


# Changing a record: its lines are numbered as in a file, so those after a new line move down by one


def change(record: Record, number: int, text: str) -> Record:
    """The record with another text in a line. Raises KeyError where no line has that number."""
    at = _place(record, number)
    return (*record[:at], *_line(number, text), *record[at + 1 :])


def remove(record: Record, number: int) -> Record:
    """The record without a line. Raises KeyError where no line has that number."""
    at = _place(record, number)
    return (*record[:at], *_moved(record[at + 1 :], -1))


def insert(record: Record, before_number: int | None, text: str) -> Record:
    """The record with one line more, before another or at the end. Raises KeyError where no line has that number."""
    if before_number is None:
        return (*record, *_line(record[-1].number + 1 if record else 1, text))
    at = _place(record, before_number)
    return (*record[:at], *_line(before_number, text), *_moved(record[at:], 1))


def _place(record: Record, number: int) -> int:
    for at, line in enumerate(record):
        if line.number == number:
            return at
    raise KeyError(number)


def _line(number: int, text: str) -> Iterator[Line]:
    """The line, unless it says nothing."""
    words = without_comment(text)
    if words:
        yield Line(number, words)


def _moved(lines: Iterable[Line], by: int) -> Iterator[Line]:
    return (Line(line.number + by, line.text) for line in lines)


# Judging anew


def judge_on(before: JudgedRecord, record: Sequence[Line]) -> JudgedRecord:
    """A record judged from the first line on that is not as it was before."""
    since = _same(before.lines, record)
    games, given = list(before.games[:since]), list(before.given[:since])
    game = games[-1] if games else NEW_GAME
    for line in record[since:]:
        game, items = judge.step(game, line)
        games.append(game)
        given.append(items)
    return JudgedRecord(tuple(record), tuple(games), tuple(given))


def judge_again(before: JudgedRecord, record: Sequence[Line]) -> Correction:
    """A corrected record judged from the first changed line on, and what that has changed."""
    after = judge_on(before, record)
    fits_not, fits = _turned(before, after)
    return Correction(before, after, _same(before.lines, record), fits_not, fits, tuple(_changed_hands(before, after)))


def _same(one: Sequence[Line], other: Sequence[Line]) -> int:
    """How many lines two records begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _turned(before: JudgedRecord, after: JudgedRecord) -> tuple[tuple[JudgedLine, ...], tuple[JudgedLine, ...]]:
    """The lines that have become illegal, and those that have become legal."""
    illegal, legal = [], []
    for was, place in _pairs(before.lines, after.lines):
        now = after.verdict(place)
        fitted = was is None or _fits(before.verdict(was))
        if now is not None and fitted and not _fits(now):
            illegal.append(now)
        elif now is not None and not fitted and _fits(now):
            legal.append(now)
    return tuple(illegal), tuple(legal)


def _fits(judged: JudgedLine | None) -> bool:
    return judged is None or judged.verdict == LEGAL


def _pairs(before: Record, after: Record) -> Iterator[tuple[int | None, int]]:
    """The place of each later line, from the first changed one on, and where it stood before; None for a new one."""
    since = _same(before, after)
    shift = len(before) - len(after)
    tail = 0
    while tail < min(len(before), len(after)) - since and before[-1 - tail].text == after[-1 - tail].text:
        tail += 1
    for place in range(since, len(after)):
        moved = place >= len(after) - tail
        yield (place + shift if moved else place if shift == 0 else None), place


def _changed_hands(before: JudgedRecord, after: JudgedRecord) -> Iterator[ChangedHand]:
    was, now = before.hands, after.hands
    for number in sorted(was.keys() | now.keys()):
        hand = ChangedHand(number, was.get(number), now.get(number))
        if _outcome(hand.before) != _outcome(hand.after):
            yield hand


def _outcome(result: HandResult | None) -> object:
    """What people see of a hand's end."""
    if result is None:
        return None
    return result.how, result.by, dict(result.sheets), dict(result.match), result.winner

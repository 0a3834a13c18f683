"""A Swiss tournament: who plays whom in the next round, and how all stand. Pure functions over what has been played.

Two sides sit at a table; a side is a player or a pair. In each round those who stand nearest to each other meet, and
nobody meets the same side twice. Where their number is odd, the last of those who have not had one gets a bye.

A win counts 2 match points, a draw 1, a bye 2. Level sides are ordered by the match points of all whom they have met
(Buchholz; a bye adds none), then by the difference of all points, then by the points, then as they were drawn.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from companion.common.errors import Problem
from companion.common.parsing import whole

WIN, DRAW = 2, 1
BYE = "bye"
MOST_SIDES = 512
MOST_POINTS = 100_000
MOST_TRIES = 100_000
"""Pairings that are tried before two may meet again."""


@dataclass(frozen=True, slots=True)
class Encounter:
    """What two sides have played in a round; `second` is None for a bye."""

    round: int
    first: str
    second: str | None = None
    points: tuple[int, int] = (0, 0)

    def won(self) -> tuple[int, int]:
        """Return the match points of both."""
        ours, theirs = self.points
        if self.second is None or ours > theirs:
            return WIN, 0
        return (DRAW, DRAW) if ours == theirs else (0, WIN)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a side stands."""

    side: str
    won: int = 0
    """Match points."""

    met: tuple[str, ...] = ()
    buchholz: int = 0
    difference: int = 0
    points: int = 0
    has_had_bye: bool = False


def standings(sides: Sequence[str], games: Iterable[Encounter]) -> list[Standing]:
    """Return how all stand after these games, the first first; `sides` are in the order in which they were drawn."""
    won, points, difference = Counter[str](), Counter[str](), Counter[str]()
    met: dict[str, list[str]] = {side: [] for side in sides}
    byes = set()
    for game in games:
        if game.second is None:
            byes.add(game.first)
            won[game.first] += WIN
            continue
        for side, other, mine, gets in _both(game):
            met[side].append(other)
            won[side] += gets
            points[side] += mine
            difference[side] += 2 * mine - sum(game.points)
    found = [
        Standing(
            side=side,
            won=won[side],
            met=tuple(met[side]),
            buchholz=sum(won[other] for other in met[side]),
            difference=difference[side],
            points=points[side],
            has_had_bye=side in byes,
        )
        for side in sides
    ]
    return sorted(found, key=lambda one: (-one.won, -one.buchholz, -one.difference, -one.points))


def _both(game: Encounter) -> Iterator[tuple[str, str, int, int]]:
    """Yield each side of a game, whom it has met, its points and match points."""
    second = game.second or ""
    yield game.first, second, game.points[0], game.won()[0]
    yield second, game.first, game.points[1], game.won()[1]


def paired(table: Sequence[Standing]) -> list[tuple[str, str | None]]:
    """Return the next round's pairs, the first table first; the one who has a bye comes last, beside None.

    Where no pairing without a second meeting is found, neighbours meet again.
    """
    for bye in _who_may_rest(table):
        playing = [one for one in table if one is not bye]
        found = next(_pairings(playing, iter(range(MOST_TRIES))), None)
        if found is not None:
            return [*found, *([(bye.side, None)] if bye else [])]
    rests = next(iter(_who_may_rest(table)))
    sides = [one.side for one in table if one is not rests]
    return [*zip(sides[::2], sides[1::2], strict=True), *([(rests.side, None)] if rests else [])]


def _who_may_rest(table: Sequence[Standing]) -> list[Standing | None]:
    """Return who may have the bye, the best choice first; only nobody where their number is even."""
    if len(table) % 2 == 0:
        return [None]
    last_first = table[::-1]
    return [*sorted(last_first, key=lambda one: one.has_had_bye)]


def _pairings(table: Sequence[Standing], tries: Iterator[int]) -> Iterator[list[tuple[str, str]]]:
    """Yield the pairings without a second meeting, the nearest first, as long as tries are left."""
    if not table:
        yield []
        return
    first, *others = table
    for other in others:
        if other.side in first.met:
            continue
        if next(tries, None) is None:
            return
        rest = [one for one in others if one is not other]
        yield from ([(first.side, other.side), *more] for more in islice(_pairings(rest, tries), 1))


def read(lines: Iterable[str], name: str) -> tuple[list[str], list[Encounter]]:
    """Return the sides and the games of a file: a line a side, as drawn; a line a game.

        Ann & Bob
        Cid & Dee
        1, Ann & Bob, 3400, Cid & Dee, 2100
        1, Eve, bye

    Raises Problem with `name` and the line for what cannot be read.
    """
    sides: list[str] = []
    games: list[Encounter] = []
    for number, row in enumerate(csv.reader(lines), start=1):
        cells = [" ".join(cell.split()) for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        try:
            if len(cells) == 1:
                _add_side(sides, cells[0])
            else:
                games.append(_game(cells, sides, games))
        except ValueError as error:
            raise Problem(f"{name}, line {number}: {error}.", 1) from error
    return sides, games


def _add_side(sides: list[str], side: str) -> None:
    if side in sides or side == BYE:
        raise ValueError(f"{side} stands there twice" if side in sides else f"nobody can be called {BYE}")
    if len(sides) == MOST_SIDES:
        raise ValueError(f"at most {MOST_SIDES} can play")
    sides.append(side)


def _game(cells: Sequence[str], sides: Sequence[str], games: Iterable[Encounter]) -> Encounter:
    names = [cells[1], *cells[3:4]]
    unknown = next((side for side in names if side not in sides), None)
    if unknown is not None:
        raise ValueError(f"{unknown or 'nobody'} is none of those who play")
    round_, *points = (whole(cell, low, MOST_POINTS) for cell, low in ((cells[0], 1), *((c, 0) for c in cells[2::2])))
    if len(cells) == 3 and cells[2].casefold() == BYE and round_ is not None:
        game = Encounter(round_, cells[1])
    elif len(cells) == 5 and round_ is not None and points[0] is not None and points[1] is not None:
        game = Encounter(round_, cells[1], cells[3], (points[0], points[1]))
    else:
        raise ValueError("a game is written as 1, Ann, 3400, Bob, 2100")
    busy = {side for other in games if other.round == round_ for side in (other.first, other.second)}
    twice = next((side for side in names if side in busy), None)
    if twice is not None or cells[1:2] == cells[3:4]:
        raise ValueError(f"{twice or cells[1]} plays twice in round {round_}")
    return game


def told(sides: Sequence[str], games: Sequence[Encounter]) -> list[str]:
    """Return the standings and the next round, as lines for the terminal."""
    table = standings(sides, games)
    width = max(map(len, sides), default=0)
    lines = [f"{'':4}{'':{width}}  match points  Buchholz  difference  points"]
    for place, one in enumerate(table, start=1):
        figures = f"{one.won:12}  {one.buchholz:8}  {one.difference:+10}  {one.points:6}"
        lines.append(f"{place:2}. {one.side:{width}}  {figures}")
    lines += ["", f"Round {max((game.round for game in games), default=0) + 1}"]
    for number, (first, second) in enumerate(paired(table), start=1):
        lines.append(f"Table {number}: {first} – {second}" if second else f"{first}: {BYE}")
    return lines

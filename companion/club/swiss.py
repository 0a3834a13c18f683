"""Swiss pairing and standings, as explained in `docs/club.md`. Pure functions.

A side is a player or a pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

WIN, DRAW = 2, 1
MOST_TRIES = 100_000  # pairings tried before sides may meet again


@dataclass(frozen=True, slots=True)
class Encounter:
    """A table's game in a round; a single side has a bye."""

    sides: tuple[str, ...]
    points: tuple[int, ...] = ()
    seats: int = 2

    def won(self) -> tuple[int, ...]:
        """Return each side's match points: WIN per lower side or empty seat, DRAW per level side."""
        empty = WIN * (self.seats - len(self.sides))
        points = self.points or (0,) * len(self.sides)
        return tuple(
            empty + WIN * sum(other < mine for other in points) + DRAW * (points.count(mine) - 1) for mine in points
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """A side's results so far; `standings` sorts them."""

    side: str
    won: int = 0  # match points
    met: tuple[str, ...] = ()  # opponents
    buchholz: int = 0  # opponents' match points
    difference: int = 0  # points above opponents
    points: int = 0  # of hands
    has_rested: bool = False  # had an empty seat at its table


def standings(sides: Sequence[str], games: Iterable[Encounter]) -> list[Standing]:
    """Return the standings, best first; the order of `sides`, drawn by lot, decides full ties."""
    won, points, difference = Counter[str](), Counter[str](), Counter[str]()
    met: dict[str, list[str]] = {side: [] for side in sides}
    rested: set[str] = set()
    for game in games:
        if len(game.sides) < game.seats:
            rested.update(game.sides)
        for side, mine, gets in zip(game.sides, game.points or (0,), game.won(), strict=True):
            met[side] += [other for other in game.sides if other != side]
            won[side] += gets
            points[side] += mine
            difference[side] += len(game.sides) * mine - sum(game.points)
    found = [
        Standing(
            side=side,
            won=won[side],
            met=tuple(met[side]),
            buchholz=sum(won[other] for other in met[side]),
            difference=difference[side],
            points=points[side],
            has_rested=side in rested,
        )
        for side in sides
    ]
    return sorted(found, key=lambda one: (-one.won, -one.buchholz, -one.difference, -one.points))


def seated(table: Sequence[Standing], seats: int = 2) -> list[tuple[str, ...]]:
    """Return the sides of the next round's tables, best first, those with empty seats last.

    With two seats, sides meet again only if no other pairing was found.
    """
    last_first = table[::-1]
    rest = sorted(last_first, key=lambda one: one.has_rested)  # order in which sides get empty seats
    if seats > 2:
        size, more = divmod(len(table), -(-len(table) // seats))
        few = rest[: len(table) - more * (size + 1)] if more else []
        full = _together([one for one in table if one not in few], size + (more > 0))
        return full + _together([one for one in table if one in few], size)
    rests: Sequence[Standing | None] = rest if len(table) % 2 else [None]
    for bye in rests:
        found = next(_pairings([one for one in table if one is not bye], iter(range(MOST_TRIES))), None)
        if found is not None:
            break
    else:
        bye = rests[0]
        found = _together([one for one in table if one is not bye], 2)
    return [*found, *([(bye.side,)] if bye else [])]


def _together(table: Sequence[Standing], size: int) -> list[tuple[str, ...]]:
    """Fill tables of one size: the best side left, then the nearest that met those there least."""
    left, tables = list(table), []
    while left:
        there = [left.pop(0)]
        while len(there) < size:
            there.append(min(left, key=lambda one: sum(one.met.count(other.side) for other in there)))
            left.remove(there[-1])
        tables.append(tuple(one.side for one in there))
    return tables


def _pairings(table: Sequence[Standing], tries: Iterator[int]) -> Iterator[list[tuple[str, ...]]]:
    """Yield pairings without repetition, nearest first, while tries are left."""
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

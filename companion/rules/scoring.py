"""Counting a hand, and a match over its hands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from companion.rules.cards import Card
from companion.rules.edition import Edition
from companion.rules.table import HowEnded, Side, Table


class Item(StrEnum):
    """The lines of the score sheet, in the order of the printed pads."""

    DISTANCE = "distance"
    SAFETIES = "safeties"
    ALL_SAFETIES = "all-safeties"
    COUPS_FOURRES = "coups-fourres"
    TRIP_COMPLETED = "trip-completed"
    DELAYED_ACTION = "delayed-action"
    SAFE_TRIP = "safe-trip"
    EXTENSION = "extension"
    SHUT_OUT = "shut-out"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A side's score sheet of one hand: the lines that count, and their sum."""

    lines: tuple[tuple[Item, int], ...]

    @property
    def total(self) -> int:
        return sum(points for _, points in self.lines)


def score(table: Table) -> tuple[Sheet, ...]:
    """The sheet of each side; while the hand is open, what would count now (nothing for a completed trip)."""
    return tuple(_sheet(table, index) for index in range(len(table.sides)))


def _sheet(table: Table, index: int) -> Sheet:
    lines = [*_anybodys_lines(table, table.sides[index]), *_completers_lines(table, index)]
    order = list(Item)
    counted = [line for line in lines if line[1] or line[0] is Item.DISTANCE]
    return Sheet(tuple(sorted(counted, key=lambda line: order.index(line[0]))))


def _anybodys_lines(table: Table, side: Side) -> Iterator[tuple[Item, int]]:
    points = table.edition.points
    yield Item.DISTANCE, side.km
    yield Item.SAFETIES, points.safety * len(side.safeties)
    if set(side.safeties) >= set(table.edition.safeties):
        yield Item.ALL_SAFETIES, points.all_safeties
    yield Item.COUPS_FOURRES, points.coup_fourre * len(side.coups_fourres)


def _completers_lines(table: Table, index: int) -> Iterator[tuple[Item, int]]:
    completer = _completer(table)
    if completer is None:
        return
    points = table.edition.points
    if completer == index:
        yield Item.TRIP_COMPLETED, points.trip_completed
        yield Item.DELAYED_ACTION, points.delayed_action * (table.draw_pile == 0)
        yield Item.SAFE_TRIP, points.safe_trip * (Card.KM_200 not in table.sides[index].distances)
        yield Item.SHUT_OUT, points.shut_out * _shut_outs(table, index)
    if table.extended_by is not None and _gets_extension(table, index, completer):
        yield Item.EXTENSION, points.extension


def _completer(table: Table) -> int | None:
    ending = table.ending
    return ending.side if ending is not None and ending.how is HowEnded.COMPLETED else None


def _gets_extension(table: Table, index: int, completer: int) -> bool:
    if table.edition.extension_bonus == "completer":
        return index == completer
    caller_did_it = completer == table.extended_by
    return index == completer if caller_did_it else index != table.extended_by


def _shut_outs(table: Table, index: int) -> int:
    """How many shut-outs the completer scores: opponents that laid no distance card at all."""
    stayed = [not side.distances for i, side in enumerate(table.sides) if i != index]
    return sum(stayed) if table.edition.shut_out == "per-side" else int(all(stayed))


def match_totals(edition: Edition, before: Mapping[str, int], table: Table) -> dict[str, int]:
    """The match totals after a hand. A one-race match holds this race's totals alone."""
    if edition.match_points is None:
        return {side.name: table.race_km(side) for side in table.sides}
    return {
        side.name: before.get(side.name, 0) + sheet.total for side, sheet in zip(table.sides, score(table), strict=True)
    }


def match_winner(edition: Edition, totals: Mapping[str, int], table: Table) -> str | None:
    """The side that has won the match with these totals, or None while it goes on (or has ended level)."""
    if edition.match_points is None:
        completer = _completer(table)
        return None if completer is None else table.sides[completer].name
    best = max(totals.values(), default=0)
    leaders = [name for name, points in totals.items() if points == best]
    return leaders[0] if best >= edition.match_points and len(leaders) == 1 else None


def starts_again(edition: Edition, totals: Mapping[str, int], winner: str | None) -> bool:
    """Whether the next hand begins a new match from zero."""
    if winner is not None or edition.match_points is None:
        return True
    level_at_the_end = max(totals.values(), default=0) >= edition.match_points
    return level_at_the_end and edition.points.level == "restart"

"""Scores of hands and matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from companion.rules.cards import Card
from companion.rules.editions.edition import Edition
from companion.rules.table import COUP_FOURRE_KM, SAFETY_KM, HowEnded, Side, Table

_Key = TypeVar("_Key")


class Item(StrEnum):
    """Lines of the score sheet, ordered as on printed pads."""

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
    """A side's score sheet of one hand; omits lines without points, except distance."""

    lines: tuple[tuple[Item, int], ...]

    @property
    def total(self) -> int:
        return sum(points for _, points in self.lines)


def score(table: Table) -> tuple[Sheet, ...]:
    """Return each side's sheet; for an open hand, the score so far."""
    return tuple(_sheet(table, index) for index in range(len(table.sides)))


def _sheet(table: Table, index: int) -> Sheet:
    side = table.sides[index]
    lines = [*_anybodys_lines(table, side), *_completers_lines(table, index), *_extension_lines(table, index)]
    order = list(Item)
    counted = [line for line in lines if line[1] or line[0] is Item.DISTANCE]
    return Sheet(tuple(sorted(counted, key=lambda line: order.index(line[0]))))


def safety_points(edition: Edition) -> tuple[int, int]:
    """Return the points for a safety, and the additional ones for a coup fourré.

    Safeties that count as distance and have no points score their km.
    """
    race = edition.safeties_count_as_distance == "yes"
    return edition.points.safety or SAFETY_KM * race, edition.points.coup_fourre or COUP_FOURRE_KM * race


def _anybodys_lines(table: Table, side: Side) -> Iterator[tuple[Item, int]]:
    points = table.edition.points
    safety, coup_fourre = safety_points(table.edition)
    yield Item.DISTANCE, side.km
    yield Item.SAFETIES, safety * len(side.safeties)
    if set(side.safeties) >= set(table.edition.safeties):
        yield Item.ALL_SAFETIES, points.all_safeties
    yield Item.COUPS_FOURRES, coup_fourre * len(side.coups_fourres)


def _extension_lines(table: Table, index: int) -> Iterator[tuple[Item, int]]:
    """Yield the extension bonus: to the completer, or to the opponents of a caller who failed."""
    if table.extended_by is None or table.ending is None:
        return
    completer = _completer(table)
    goes_to_opponents = table.edition.extension_bonus == "caller-or-opponents" and completer != table.extended_by
    if index != table.extended_by if goes_to_opponents else index == completer:
        yield Item.EXTENSION, table.edition.points.extension


def _completers_lines(table: Table, index: int) -> Iterator[tuple[Item, int]]:
    completer = _completer(table)
    if completer is None:
        return
    points = table.edition.points
    if completer == index:
        yield Item.TRIP_COMPLETED, points.trip_completed
        yield Item.DELAYED_ACTION, points.delayed_action * (table.draw_pile == 0)
        yield Item.SAFE_TRIP, points.safe_trip * (Card.KM_200 not in table.sides[index].distances)
        stayed = [not side.distances for i, side in enumerate(table.sides) if i != index]
        yield Item.SHUT_OUT, points.shut_out * (sum(stayed) if table.edition.shut_out == "per-side" else all(stayed))


def _completer(table: Table) -> int | None:
    ending = table.ending
    return ending.side if ending is not None and ending.how is HowEnded.COMPLETED else None


def match_totals(table: Table, before: Mapping[str, int], sheets: tuple[Sheet, ...]) -> dict[str, int]:
    """Return match totals after a hand; in a race, only the hand's own."""
    start = before if not table.edition.is_race else {}
    return {s.name: start.get(s.name, 0) + sheet.total for s, sheet in zip(table.sides, sheets, strict=True)}


def match_winner(edition: Edition, totals: Mapping[str, int], table: Table) -> str | None:
    """Return the side that won by `totals` (in a race, on `table`); None if tied or not over."""
    if edition.match_points is None:
        index = _race_winner(table)
        return None if index is None else table.sides[index].name
    leader = sole_leader(totals)
    return leader if leader is not None and totals[leader] >= edition.match_points else None


def _race_winner(table: Table) -> int | None:
    """Return the side that completed the race; with all cards used up, the nearest not past the target.

    Editions that reshuffle have no such end: None.
    """
    is_exhausted = table.ending is not None and table.ending.how is HowEnded.EXHAUSTED
    if not is_exhausted or table.edition.reshuffles:
        return _completer(table)
    return sole_leader({i: km for i, km in enumerate(map(table.race_km, table.sides)) if km <= table.target})


def sole_leader(totals: Mapping[_Key, int]) -> _Key | None:
    """Return the key with the highest total; None in a tie."""
    best = max(totals.values(), default=0)
    leaders = [key for key, total in totals.items() if total == best]
    return leaders[0] if len(leaders) == 1 else None


def starts_again(edition: Edition, totals: Mapping[str, int], winner: str | None) -> bool:
    """True if the next hand begins a new match."""
    if winner is not None or edition.match_points is None:
        return True
    level_at_the_end = max(totals.values(), default=0) >= edition.match_points
    return level_at_the_end and edition.points.level == "restart"

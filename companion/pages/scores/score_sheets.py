"""Score sheets as the pages show them: every line with its points and reasons, the totals, how the hand ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from companion.match.archive import PlayedHand
from companion.pages import words
from companion.pages.scores import explanations
from companion.pages.scores.explanations import NOTHING, Answered
from companion.pages.words import N_, Names, _
from companion.rules import scoring
from companion.rules.record.judge import Game, HandResult
from companion.rules.scoring import Item, Sheet
from companion.rules.table import Table


@dataclass(frozen=True, slots=True)
class SheetView:
    """A hand's score sheet."""

    number: int
    title: str
    is_race: bool
    sides: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    """The lines with each side's points, and what they are for."""

    totals: tuple[int, ...]
    target: int
    extended: bool
    match: tuple[int, ...] = ()
    is_open: bool = False
    how: str = ""
    """How it ended, if nobody completed it."""

    completed_by: str | None = None
    winner: str | None = None

    @property
    def lead(self) -> tuple[int, int] | None:
        """The number of the side that has won this hand, from 1, and its lead; None where nobody has."""
        best = self.winner if self.is_race else self.sides[self.totals.index(max(self.totals))]
        if best is None:
            return None
        number = self.sides.index(best)
        ahead = self.totals[number] - max(self.totals[:number] + self.totals[number + 1 :])
        return (number + 1, ahead) if ahead or self.is_race else None

    @property
    def headline(self) -> str:
        """Who has won a hand that has ended, and by how much."""
        if self.lead is None:
            return _("The race is over") if self.is_race else _("The hand ends level")
        (number, ahead), race = self.lead, N_("The race goes to %(who)s, by %(ahead)d km!")
        pattern = race if self.is_race else N_("The hand goes to %(who)s, by %(ahead)d!")
        return _(pattern if ahead > 0 else N_("The race goes to %(who)s!"), who=self.sides[number - 1], ahead=ahead)

    def steps(self, side: int) -> tuple[int, ...]:
        """Return a side's total after each line of the sheet but the last, as it is counted up."""
        return tuple(accumulate(row["points"][side] or 0 for row in self.rows))[:-1]


def explained(hand: PlayedHand, names: Names) -> SheetView:
    """Return the score sheet of a hand that has ended, with the hazards that its coups fourrés answered."""
    return sheet_view(hand.result, names, explanations.answered(hand))


def sheet_view(result: HandResult, names: Names, hazards: Answered = NOTHING) -> SheetView:
    """Return the score sheet of a hand that has ended."""
    table, sides = result.table, [side.name for side in result.table.sides]
    sheet = _sheet(table, result.number, [result.sheets[side] for side in sides], names, hazards)
    return replace(
        sheet,
        how=words.how_ended(table.edition, result.how),
        match=tuple(result.match.get(side, 0) for side in sides),
        completed_by=names.side(result.by) if result.by else None,
        winner=names.side(result.winner) if result.winner else None,
    )


def open_sheet(game: Game, hazards: Answered = NOTHING) -> SheetView | None:
    """Return what the hand on the table would score if it ended here."""
    table = game.table
    if table is None:
        return None
    sheet = _sheet(table, game.hand_number, scoring.score(table), Names.of(game), hazards)
    return replace(sheet, is_open=True, match=tuple(game.totals.get(side.name, 0) for side in table.sides))


def counted_sheet(table: Table) -> SheetView:
    """Return the score sheet of a hand that was counted from the cards alone."""
    sheet = _sheet(table, 0, scoring.score(table), Names({}, {}), NOTHING)
    completer = table.ending.side if table.ending else None
    return replace(
        sheet,
        title=_("The race") if sheet.is_race else _("The hand"),
        how=words.how_ended(table.edition, table.ending.how) if table.ending else "",
        completed_by=table.sides[completer].name if completer is not None else None,
        winner=scoring.match_winner(table.edition, {}, table) if sheet.is_race else None,
    )


def _sheet(table: Table, number: int, sheets: Sequence[Sheet], names: Names, hazards: Answered) -> SheetView:
    """Return what all kinds of sheets have in common."""
    return SheetView(
        number=number,
        title=words.hand_title(table.edition, number),
        is_race=words.is_race(table.edition),
        sides=tuple(names.side(side.name) for side in table.sides),
        rows=tuple(_rows(table, sheets, names, hazards)),
        totals=tuple(sheet.total for sheet in sheets),
        target=table.target,
        extended=table.extended_by is not None,
    )


def _rows(table: Table, sheets: Sequence[Sheet], names: Names, hazards: Answered) -> Iterator[dict[str, Any]]:
    """Yield every line that anybody has points on, and distance always."""
    points = [dict(sheet.lines) for sheet in sheets]
    for item in Item:
        scored = {side.name: p.get(item, 0) for side, p in zip(table.sides, points, strict=True)}
        if any(scored.values()) or item is Item.DISTANCE:
            yield {
                "item": item,
                "title": _(words.ITEMS[item]),
                "note": _note(item, table, points, names),
                "points": [p.get(item) for p in points],
                "because": explanations.because(item, table, scored, names, hazards),
                "rule": explanations.rule(item, table.edition),
            }


def _note(item: Item, table: Table, points: Sequence[Mapping[Item, int]], names: Names) -> str:
    """Say what a line of the score sheet is for; an extension's points may have gone to the opponents of its caller."""
    caller, or_opponents = table.extended_by, table.edition.extension_bonus == "caller-or-opponents"
    if item is Item.EXTENSION and or_opponents and caller is not None and not points[caller].get(item):
        return _("%(who)s called it and did not complete it", who=names.side(table.sides[caller].name))
    return words.item_note(item, table.edition)


def wins(game: Game) -> list[tuple[str, int]]:
    """Return how many matches each side has won, once any has."""
    names = Names.of(game)
    won = [(names.side(team.name), game.won.get(team.name, 0)) for team in game.teams]
    return won if any(count for _, count in won) else []

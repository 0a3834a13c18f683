"""Score sheets for display."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from companion.common.text import all_of
from companion.match.archive import PlayedHand
from companion.pages import words
from companion.pages.game import views
from companion.pages.words import N_, Names, _, many
from companion.rules import reasons, scoring
from companion.rules.cards import SAFETY_OF, Card
from companion.rules.editions.edition import Edition
from companion.rules.record.judge import Game, HandResult
from companion.rules.scoring import Item, Sheet
from companion.rules.table import Ending, HowEnded, Side, Table
from companion.tabletop import translation

Answered = Mapping[tuple[str, Card], Card]  # hazard countered by each coup fourré, by side and safety
NOTHING: Answered = {}


@dataclass(frozen=True, slots=True)
class SheetView:
    """A hand's score sheet."""

    number: int
    title: str
    is_race: bool
    sides: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]  # each with points and explanations by side
    totals: tuple[int, ...]
    target: int
    extended: bool
    match: tuple[int, ...] = ()
    is_open: bool = False
    how: str = ""  # if no side completed it
    completed_by: str | None = None
    winner: str | None = None  # of the match or race
    draw: str = ""  # a sentence if the match or race ended level

    @property
    def champion(self) -> int:
        """Number of the side that won the match or race, from 1; 0 for none."""
        return self.sides.index(self.winner) + 1 if self.winner else 0

    @property
    def final_score(self) -> str:
        """Match totals, best first: `5800 : 0`; empty in a race."""
        return "" if self.is_race else " : ".join(map(str, sorted(self.match, reverse=True)))

    @property
    def lead(self) -> tuple[int, int] | None:
        """The winning side's number, from 1, and its lead; None without a winner."""
        best = self.winner if self.is_race else self.sides[self.totals.index(max(self.totals))]
        if best is None:
            return None
        number = self.sides.index(best)
        ahead = self.totals[number] - max(self.totals[:number] + self.totals[number + 1 :])
        return (number + 1, ahead) if ahead or self.is_race else None

    @property
    def headline(self) -> str:
        if self.winner and not self.is_race:
            return words.match_won(self.winner)
        if self.draw:
            return self.draw
        if self.lead is None:
            return _("The race ends without a winner") if self.is_race else _("The hand is a tie")
        number, ahead = self.lead
        who = self.sides[number - 1]
        players = words.players_in(who)
        if not self.is_race:
            return many(
                "%(who)s wins the hand by %(ahead)d!",
                "%(who)s win the hand by %(ahead)d!",
                players,
                who=who,
                ahead=ahead,
            )
        if ahead <= 0:
            return words.race_won(who)
        return many(
            "%(who)s wins the race by %(ahead)d km!",
            "%(who)s win the race by %(ahead)d km!",
            players,
            who=who,
            ahead=ahead,
        )

    def steps(self, side: int) -> tuple[int, ...]:
        """Return a side's running total after each line but the last."""
        return tuple(accumulate(row["points"][side] or 0 for row in self.rows))[:-1]


def explained(hand: PlayedHand, names: Names) -> SheetView:
    """Return a hand's score sheet, with the hazards countered by coups fourrés."""
    return sheet_view(hand.result, names, answered(hand))


def sheet_view(result: HandResult, names: Names, hazards: Answered = NOTHING) -> SheetView:
    """Return a hand's score sheet; for an open hand, what would count now."""
    table, edition = result.table, result.table.edition
    sheets = [result.sheets[side.name] for side in table.sides]
    return SheetView(
        number=result.number,
        title=words.hand_title(edition, result.number),
        is_race=edition.is_race,
        sides=tuple(names.side(side.name) for side in table.sides),
        rows=tuple(_rows(table, sheets, names, hazards)),
        totals=tuple(sheet.total for sheet in sheets),
        target=table.target,
        extended=table.extended_by is not None,
        match=tuple(result.match.get(side.name, 0) for side in table.sides),
        is_open=result.how is HowEnded.OPEN,
        how=words.how_ended(edition, result.how),
        completed_by=names.side(result.by) if result.by else None,
        winner=names.side(result.winner) if result.winner else None,
        draw=_draw(result, names),
    )


def _draw(result: HandResult, names: Names) -> str:
    """Return the sentence about sides that are level at the end of a match or race; empty if none are."""
    table, edition = result.table, result.table.edition
    if result.winner is not None or result.how is HowEnded.OPEN:
        return ""
    if edition.match_points is None:
        is_decided = result.how is HowEnded.EXHAUSTED and not edition.reshuffles
        km = {side.name: table.race_km(side) for side in table.sides} if is_decided else {}
        reached = {side: driven for side, driven in km.items() if driven <= table.target}
        pattern = N_("A draw: %(who)s have %(sum)d km each.")
    else:
        reached = {side: points for side, points in result.match.items() if points >= edition.match_points}
        again, on = (
            N_("%(who)s have %(sum)d points each: the match starts again."),
            N_("%(who)s have %(sum)d points each: another hand decides."),
        )
        pattern = again if edition.points.level == "restart" else on
    best = max(reached.values(), default=0)
    level = [names.side(side) for side, reach in reached.items() if reach == best]
    return _(pattern, who=all_of(level), sum=best) if len(level) > 1 else ""


@dataclass(frozen=True, slots=True)
class MatchView:
    """All hands of a match."""

    sides: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[int, int], ...]], ...]  # title; by side, points and running total
    champion: int  # number of the winning side, from 1; 0 for none


MOST_ROWS = 12  # legible across the room; earlier hands share a row


def match_view(hands: Sequence[HandResult], names: Names) -> MatchView:
    """Return the table of a match's finished hands, at least one."""
    last, before = hands[-1], hands[: 1 - MOST_ROWS] if len(hands) > MOST_ROWS else ()
    teams = [side.name for side in last.table.sides]
    rows = [(words.hand_title(last.table.edition, 1 + at), hand) for at, hand in enumerate(hands)][len(before) :]
    early = [(_("Hands 1–%(last)d", last=len(before)), _cells(before[-1].match, before[-1], teams))] if before else []
    return MatchView(
        sides=tuple(names.side(team) for team in teams),
        rows=(
            *early,
            *((title, _cells({t: hand.sheets[t].total for t in teams}, hand, teams)) for title, hand in rows),
        ),
        champion=names.number(last.winner),
    )


def _cells(points: Mapping[str, int], hand: HandResult, teams: Sequence[str]) -> tuple[tuple[int, int], ...]:
    return tuple((points.get(team, 0), hand.match.get(team, 0)) for team in teams)


def counted_sheet(table: Table) -> SheetView:
    """Return the score sheet of a hand counted from photographs."""
    ending, is_race = table.ending or Ending(HowEnded.AGREED), table.edition.is_race
    by = table.sides[ending.side].name if ending.side is not None else None
    sheets = {side.name: sheet for side, sheet in zip(table.sides, scoring.score(table), strict=True)}
    winner = scoring.match_winner(table.edition, {}, table) if is_race else None
    sheet = sheet_view(HandResult(0, ending.how, by, table, sheets, {}, winner, {}), Names({}, {}))
    return replace(sheet, title=_("The race") if is_race else _("The hand"), match=())


def _rows(table: Table, sheets: Sequence[Sheet], names: Names, hazards: Answered) -> Iterator[dict[str, Any]]:
    points = [dict(sheet.lines) for sheet in sheets]
    for item in Item:
        scored = {side.name: p.get(item, 0) for side, p in zip(table.sides, points, strict=True)}
        if any(scored.values()) or item is Item.DISTANCE:
            yield {
                "item": item,
                "title": _(words.ITEMS[item]),
                "note": _note(item, table, points, names),
                "points": [p.get(item) for p in points],
                "because": because(item, table, scored, names, hazards),
                "rule": rule(item, table.edition),
            }


def _note(item: Item, table: Table, points: Sequence[Mapping[Item, int]], names: Names) -> str:
    caller, or_opponents = table.extended_by, table.edition.extension_bonus == "caller-or-opponents"
    if item is Item.EXTENSION and or_opponents and caller is not None and not points[caller].get(item):
        return _("%(who)s called it but did not complete it", who=names.side(table.sides[caller].name))
    return words.item_note(item, table.edition)


def wins(game: Game) -> list[tuple[str, int]]:
    """Return (side, matches won) in seating order; empty if none was won."""
    names = Names.of(game)
    won: list[tuple[str, int]] = [(names.side(team.name), game.won.get(team.name, 0)) for team in game.teams]
    return won if any(count for _, count in won) else []


# Reasons behind the points


def answered(hand: PlayedHand) -> Answered:
    """Return the hazards countered by a hand's coups fourrés."""
    found: dict[tuple[str, Card], Card] = {}
    for before, entry in zip((hand.begins, *hand.games), hand.entries, strict=False):
        play, table = entry.play, before.table
        if entry.needs_attention or play is None or play.card is None or table is None or not play.is_coup_fourre:
            continue
        index = table.side_index(play.player)
        hazards = [a.hazard for a in table.attacks if a.side == index and SAFETY_OF.get(a.hazard) is play.card]
        if index is not None and hazards:
            found[table.sides[index].name, play.card] = hazards[-1]
    return found


@dataclass(frozen=True, slots=True)
class _Scored:
    table: Table
    side: Side
    points: int
    names: Names
    hazards: Answered

    @property
    def who(self) -> str:
        return self.names.side(self.side.name)


def because(item: Item, table: Table, points: Mapping[str, int], names: Names, hazards: Answered) -> tuple[str, ...]:
    """Return the sentences behind a line; `points` maps sides to points."""
    found: list[str] = []
    for side in table.sides:
        scored = _Scored(table, side, points.get(side.name, 0), names, hazards)
        if item in _PATTERNS and scored.points:
            found.append(_(_PATTERNS[item], who=scored.who, km=table.target, sum=scored.points))
        elif scored.points or item is Item.DISTANCE:
            found += _SAY[item](scored)
    return tuple(found)


_PATTERNS = {
    Item.ALL_SAFETIES: N_("%(who)s played all the safeties: %(sum)d extra."),
    Item.TRIP_COMPLETED: N_("%(who)s completed %(km)d km: %(sum)d"),
    Item.DELAYED_ACTION: N_("The draw pile was empty when %(who)s completed the trip: %(sum)d"),
    Item.SAFE_TRIP: N_("%(who)s completed the trip without any 200 km card: %(sum)d"),
}
"""Lines explained by one sentence."""


def rule(item: Item, edition: Edition) -> str:
    """Return the source of a line's rule."""
    safety = "safeties-count-as-distance" if edition.safeties_count_as_distance == "yes" else "points"
    what = {
        Item.SAFETIES: safety,
        Item.COUPS_FOURRES: safety,
        Item.EXTENSION: "extension-bonus",
        Item.SHUT_OUT: "shut-out",
    }.get(item, "points")
    return words.curly(reasons.source(what, edition, translation.spoken()))


def _distance(scored: _Scored) -> Iterator[str]:
    if not scored.side.distances:
        yield _("%(who)s: no distance card.", who=scored.who)
        return
    plain, doubled = N_("%(count)d × %(card)s"), N_("%(count)d × %(card)s with %(accelerator)s")
    piles = views.distance_piles(scored.side)
    said = (_(doubled if times > 1 else plain, count=count, card=words.name(card)) for card, count, times in piles)
    yield _("%(who)s: %(cards)s = %(sum)d", who=scored.who, cards=", ".join(said), sum=scored.points)


def _safeties(scored: _Scored) -> Iterator[str]:
    count, cards = len(scored.side.safeties), ", ".join(map(words.name, scored.side.safeties))
    said = {"who": scored.who, "cards": cards, "each": scored.points // max(1, count), "sum": scored.points}
    yield many(
        "%(who)s played %(cards)s: %(sum)d", "%(who)s played %(cards)s: %(count)d × %(each)d = %(sum)d", count, **said
    )


def _coups(scored: _Scored) -> Iterator[str]:
    each = scored.points // max(1, len(scored.side.coups_fourres))
    for card in scored.side.coups_fourres:
        hazard = scored.hazards.get((scored.side.name, card))
        said = {"who": scored.who, "card": words.name(card), "hazard": words.name(hazard), "sum": each}
        known = N_("%(who)s countered %(hazard)s at once with %(card)s: %(sum)d extra.")
        yield _(known if hazard else N_("%(who)s played %(card)s as a coup fourré: %(sum)d extra."), **said)


def _extension(scored: _Scored) -> Iterator[str]:
    table, side = scored.table, scored.side
    caller = table.sides[table.extended_by or 0]
    completer = table.sides[table.ending.side] if table.ending and table.ending.side is not None else None
    say = N_("%(caller)s called the extension but did not complete it: %(sum)d for %(who)s.")
    if completer is side:
        own = N_("%(who)s called the extension and completed it: %(sum)d")
        say = own if caller is side else N_("%(caller)s called the extension, %(who)s completed it: %(sum)d")
    yield _(say, caller=scored.names.side(caller.name), who=scored.who, sum=scored.points)


def _shut_out(scored: _Scored) -> Iterator[str]:
    others = (other for other in scored.table.sides if other is not scored.side)
    shut = [scored.names.side(other.name) for other in others if not other.distances]
    if scored.table.edition.shut_out == "per-side":
        for other in shut:
            say = N_("%(who)s played no distance card: %(sum)d for %(winner)s.")
            yield _(say, who=other, sum=scored.points // len(shut), winner=scored.who)
        return
    say = N_("No opponent of %(who)s played a distance card (%(others)s): %(sum)d")
    yield _(say, who=scored.who, others=", ".join(shut), sum=scored.points)


_SAY: Mapping[Item, Callable[[_Scored], Iterator[str]]] = {
    Item.DISTANCE: _distance,
    Item.SAFETIES: _safeties,
    Item.COUPS_FOURRES: _coups,
    Item.EXTENSION: _extension,
    Item.SHUT_OUT: _shut_out,
}

"""Explanations of the lines of a score sheet: the cards and plays behind the points, a sentence for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from companion.match.archive import PlayedHand
from companion.pages import language, words
from companion.pages.game import views
from companion.pages.words import N_, Names, _, many
from companion.rules import reasons
from companion.rules.cards import SAFETY_OF, Card
from companion.rules.editions.edition import Edition
from companion.rules.scoring import Item
from companion.rules.table import Side, Table

Answered = Mapping[tuple[str, Card], Card]
"""The hazard that each coup fourré answered, by side and safety."""

NOTHING: Answered = {}


def answered(hand: PlayedHand) -> Answered:
    """Return which hazards the coups fourrés of a hand answered."""
    found: dict[tuple[str, Card], Card] = {}
    for before, entry in zip((hand.begins, *hand.games), hand.entries, strict=False):
        play, table = entry.play, before.table
        if entry.needs_attention or play is None or play.card is None or table is None or not play.is_coup_fourre:
            continue
        index = table.side_index(play.player or "")
        hazards = [a.hazard for a in table.attacks if a.side == index and SAFETY_OF.get(a.hazard) is play.card]
        if index is not None and hazards:
            found[table.sides[index].name, play.card] = hazards[-1]
    return found


@dataclass(frozen=True, slots=True)
class _Scored:
    """A side's points on a line of the sheet."""

    table: Table
    side: Side
    points: int
    names: Names
    hazards: Answered

    @property
    def who(self) -> str:
        return self.names.side(self.side.name)


def because(item: Item, table: Table, points: Mapping[str, int], names: Names, hazards: Answered) -> tuple[str, ...]:
    """Return the sentences behind a line of the sheet; `points` are those of each side on it."""
    found: list[str] = []
    for side in table.sides:
        scored = _Scored(table, side, points.get(side.name, 0), names, hazards)
        if item in _PATTERNS and scored.points:
            found.append(_(_PATTERNS[item], who=scored.who, km=table.target, sum=scored.points))
        elif scored.points or item is Item.DISTANCE:
            found += _SAY[item](scored)
    return tuple(found)


_PATTERNS = {
    Item.ALL_SAFETIES: N_("%(who)s laid every safety there is: %(sum)d on top."),
    Item.TRIP_COMPLETED: N_("%(who)s completed %(km)d km: %(sum)d"),
    Item.DELAYED_ACTION: N_("The draw pile was used up when %(who)s completed the trip: %(sum)d"),
    Item.SAFE_TRIP: N_("%(who)s completed the trip without any 200 km card: %(sum)d"),
}
"""The lines that need one sentence."""


def rule(item: Item, edition: Edition) -> str:
    """Return where a line of the sheet is written."""
    safety = "safeties-count-as-distance" if edition.safeties_count_as_distance == "yes" else "points"
    what = {
        Item.SAFETIES: safety,
        Item.COUPS_FOURRES: safety,
        Item.EXTENSION: "extension-bonus",
        Item.SHUT_OUT: "shut-out",
    }.get(item, "points")
    return words.curly(reasons.source(what, edition, language.spoken()))


def _distance(scored: _Scored) -> Iterator[str]:
    if not scored.side.distances:
        yield _("%(who)s: no distance card.", who=scored.who)
        return
    plain, doubled = N_("%(count)d × %(card)s"), N_("%(count)d × %(card)s with an accelerator")
    piles = views.distance_piles(scored.side)
    said = (_(doubled if times > 1 else plain, count=count, card=words.name(card)) for card, count, times in piles)
    yield _("%(who)s: %(cards)s = %(sum)d", who=scored.who, cards=", ".join(said), sum=scored.points)


def _safeties(scored: _Scored) -> Iterator[str]:
    count, cards = len(scored.side.safeties), ", ".join(map(words.name, scored.side.safeties))
    said = {"who": scored.who, "cards": cards, "each": scored.points // max(1, count), "sum": scored.points}
    yield many(
        "%(who)s laid %(cards)s: %(sum)d", "%(who)s laid %(cards)s: %(count)d × %(each)d = %(sum)d", count, **said
    )


def _coups(scored: _Scored) -> Iterator[str]:
    each = scored.points // max(1, len(scored.side.coups_fourres))
    for card in scored.side.coups_fourres:
        hazard = scored.hazards.get((scored.side.name, card))
        said = {"who": scored.who, "card": words.name(card), "hazard": words.name(hazard), "sum": each}
        known = N_("%(who)s answered %(hazard)s at once with %(card)s: %(sum)d on top.")
        yield _(known if hazard else N_("%(who)s laid %(card)s as a coup fourré: %(sum)d on top."), **said)


def _extension(scored: _Scored) -> Iterator[str]:
    table, side = scored.table, scored.side
    caller = table.sides[table.extended_by or 0]
    completer = table.sides[table.ending.side] if table.ending and table.ending.side is not None else None
    say = N_("%(caller)s called the extension and did not complete it: %(sum)d for %(who)s.")
    if completer is side:
        own = N_("%(who)s called the extension and completed it: %(sum)d")
        say = own if caller is side else N_("%(caller)s called the extension, %(who)s completed it: %(sum)d")
    yield _(say, caller=scored.names.side(caller.name), who=scored.who, sum=scored.points)


def _shut_out(scored: _Scored) -> Iterator[str]:
    others = (other for other in scored.table.sides if other is not scored.side)
    shut = [scored.names.side(other.name) for other in others if not other.distances]
    if scored.table.edition.shut_out == "per-side":
        for other in shut:
            say = N_("%(who)s laid no distance card: %(sum)d for %(winner)s.")
            yield _(say, who=other, sum=scored.points // len(shut), winner=scored.who)
        return
    say = N_("No opponent of %(who)s laid a distance card (%(others)s): %(sum)d")
    yield _(say, who=scored.who, others=", ".join(shut), sum=scored.points)


_SAY: Mapping[Item, Callable[[_Scored], Iterator[str]]] = {
    Item.DISTANCE: _distance,
    Item.SAFETIES: _safeties,
    Item.COUPS_FOURRES: _coups,
    Item.EXTENSION: _extension,
    Item.SHUT_OUT: _shut_out,
}

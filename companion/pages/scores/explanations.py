"""Why a line of a score sheet has the points it has: the cards and plays behind it, a sentence for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from companion.match.archive import PlayedHand
from companion.pages import language, words
from companion.pages.words import N_, Names, _, many
from companion.rules import reasons
from companion.rules.cards import SAFETY_OF, Card
from companion.rules.editions.edition import Edition
from companion.rules.scoring import Item
from companion.rules.table import Side, Table

Answered = Mapping[tuple[str, Card], Card]
"""The hazard that each coup fourré has answered, by side and safety."""

NOTHING: Answered = {}


def answered(hand: PlayedHand) -> Answered:
    """Which hazards the coups fourrés of a hand have answered."""
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


def because(item: Item, table: Table, points: Mapping[str, int], names: Names, hazards: Answered) -> tuple[str, ...]:
    """The sentences behind a line of the sheet; `points` are those of each side on it."""
    scorers = [side for side in table.sides if points.get(side.name) or item is Item.DISTANCE]
    return tuple(say for side in scorers for say in _SAY[item](table, side, points.get(side.name, 0), names, hazards))


def rule(item: Item, edition: Edition) -> str:
    """Where a line of the sheet is written."""
    race = edition.safeties_count_as_distance == "yes"
    what = {
        Item.SAFETIES: "safeties-count-as-distance" if race else "points",
        Item.COUPS_FOURRES: "safeties-count-as-distance" if race else "points",
        Item.EXTENSION: "extension-bonus",
        Item.SHUT_OUT: "shut-out",
    }.get(item, "points")
    return words.curly(reasons.source(what, edition, language.spoken()))


def _distance(table: Table, side: Side, points: int, names: Names, hazards: Answered) -> Iterator[str]:
    del table, hazards
    who = names.side(side.name)
    if not side.distances:
        yield _("%(who)s: no distance card.", who=who)
        return
    yield _("%(who)s: %(cards)s = %(sum)d", who=who, cards=", ".join(_piles(side)), sum=points)


def _piles(side: Side) -> Iterator[str]:
    """The distance cards of each kind, the longest first, and those with an accelerator."""
    doubled = Counter(side.doubled)
    plain = Counter(side.distances) - doubled
    for card in sorted(set(side.distances), key=lambda card: -card.km):
        if plain[card]:
            yield _("%(count)d × %(card)s", count=plain[card], card=words.name(card))
        if doubled[card]:
            yield _("%(count)d × %(card)s with an accelerator", count=doubled[card], card=words.name(card))


def _safeties(table: Table, side: Side, points: int, names: Names, hazards: Answered) -> Iterator[str]:
    del table, hazards
    count, cards = len(side.safeties), ", ".join(map(words.name, side.safeties))
    said = {"who": names.side(side.name), "cards": cards, "each": points // max(1, count), "sum": points}
    yield many(
        "%(who)s laid %(cards)s: %(sum)d", "%(who)s laid %(cards)s: %(count)d × %(each)d = %(sum)d", count, **said
    )


def _all_safeties(table: Table, side: Side, points: int, names: Names, hazards: Answered) -> Iterator[str]:
    del table, hazards
    yield _("%(who)s laid every safety there is: %(sum)d on top.", who=names.side(side.name), sum=points)


def _coups(table: Table, side: Side, points: int, names: Names, hazards: Answered) -> Iterator[str]:
    del table
    each = points // max(1, len(side.coups_fourres))
    for card in side.coups_fourres:
        hazard = hazards.get((side.name, card))
        said = {"who": names.side(side.name), "card": words.name(card), "hazard": words.name(hazard), "sum": each}
        known = N_("%(who)s answered %(hazard)s at once with %(card)s: %(sum)d on top.")
        yield _(known if hazard else N_("%(who)s laid %(card)s as a coup fourré: %(sum)d on top."), **said)


def _trip(table: Table, side: Side, points: int, names: Names, hazards: Answered) -> Iterator[str]:
    del hazards
    yield _("%(who)s completed %(km)d km: %(sum)d", who=names.side(side.name), km=table.target, sum=points)


def _delayed(table: Table, side: Side, points: int, names: Names, hazards: Answered) -> Iterator[str]:
    del table, hazards
    say = N_("The draw pile was used up when %(who)s completed the trip: %(sum)d")
    yield _(say, who=names.side(side.name), sum=points)


def _safe(table: Table, side: Side, points: int, names: Names, hazards: Answered) -> Iterator[str]:
    del table, hazards
    yield _("%(who)s completed the trip without any 200 km card: %(sum)d", who=names.side(side.name), sum=points)


def _extension(table: Table, side: Side, points: int, names: Names, hazards: Answered) -> Iterator[str]:
    del hazards
    caller = table.sides[table.extended_by or 0]
    completer = table.sides[table.ending.side] if table.ending and table.ending.side is not None else None
    say = N_("%(caller)s called the extension and did not complete it: %(sum)d for %(who)s.")
    if completer is side:
        own = N_("%(who)s called the extension and completed it: %(sum)d")
        say = own if caller is side else N_("%(caller)s called the extension, %(who)s completed it: %(sum)d")
    yield _(say, caller=names.side(caller.name), who=names.side(side.name), sum=points)


def _shut_out(table: Table, side: Side, points: int, names: Names, hazards: Answered) -> Iterator[str]:
    del hazards
    shut = [other for other in table.sides if other is not side and not other.distances]
    if table.edition.shut_out == "per-side":
        for other in shut:
            say = N_("%(who)s laid no distance card: %(sum)d for %(winner)s.")
            each = points // max(1, len(shut))
            yield _(say, who=names.side(other.name), sum=each, winner=names.side(side.name))
        return
    others = ", ".join(names.side(other.name) for other in shut)
    yield _("No opponent of %(who)s laid a distance card (%(others)s): %(sum)d", **_of(names, side, others, points))


def _of(names: Names, side: Side, others: str, points: int) -> dict[str, object]:
    return {"who": names.side(side.name), "others": others, "sum": points}


_SAY: Mapping[Item, Callable[[Table, Side, int, Names, Answered], Iterator[str]]] = {
    Item.DISTANCE: _distance,
    Item.SAFETIES: _safeties,
    Item.ALL_SAFETIES: _all_safeties,
    Item.COUPS_FOURRES: _coups,
    Item.TRIP_COMPLETED: _trip,
    Item.DELAYED_ACTION: _delayed,
    Item.SAFE_TRIP: _safe,
    Item.EXTENSION: _extension,
    Item.SHUT_OUT: _shut_out,
}

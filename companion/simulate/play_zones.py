"""Which zone of which mat a play touches: what the hands at the simulated table have to know of the rules."""

from __future__ import annotations

from collections.abc import Iterator

from companion.rules.cards import Card, Family
from companion.rules.play import Play, Verb
from companion.rules.table import PILE_OF, Table
from companion.tabletop.mat_layout import DISCARD_ZONE


def zone_of(table: Table, play: Play) -> str:
    """Return the zone that a play's card is laid in: `side-1/battle`, `table/discard`, …"""
    card = play.card or Card.UNKNOWN
    side = table.side_index(play.target or play.player or "")
    if play.verb is Verb.DISCARD or card.family is Family.SPECIAL or side is None:
        return DISCARD_ZONE
    return f"side-{side + 1}/{PILE_OF[card]}"


def answered(before: Table, after: Table) -> tuple[str, ...]:
    """Return the zones whose top card a play sends to the discards, once a card, in the order in which they lie."""
    gone = [(f"side-{number}/{pile}", card) for number, pile, card in _taken_away(before, after)]
    last = after.discards[-len(gone) :] if gone else ()
    return tuple(zone for zone, card in sorted(gone, key=lambda part: last.index(part[1]) if part[1] in last else 0))


def _taken_away(before: Table, after: Table) -> Iterator[tuple[int, str, Card]]:
    for number, (old, new) in enumerate(zip(before.sides, after.sides, strict=True), 1):
        yield from ((number, "battle", card) for card in old.battle[len(new.battle) :])
        yield from ((number, "speed", card) for card in old.speed[len(new.speed) :])


def reshuffled(before: Table, play: Play, after: Table) -> bool:
    """True if the discards have become the draw pile on the way."""
    return play.verb is not Verb.TAKE and after.discards[: len(before.discards)] != before.discards

"""What the simulated table knows of the rules: the zone that a play touches, and how a hand lies in its middle."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from companion.rules.cards import Card, Family
from companion.rules.play import Play, Verb
from companion.rules.table import PILE_OF, Table
from companion.tabletop.card_ids import card_ids, face_of
from companion.tabletop.mat_layout import DISCARD_ZONE


@dataclass(frozen=True, slots=True)
class Position:
    """What lies on the simulated table when a hand is taken up in its middle."""

    table: Table
    lying: Mapping[str, tuple[str, ...]]  # the physical cards in each zone, from the bottom to the top
    sideways: frozenset[str] = frozenset()  # those that lie sideways: coups fourrés

    @property
    def not_lying(self) -> tuple[str, ...]:
        """The physical cards in the hands and in the draw pile."""
        lying = {card_id for cards in self.lying.values() for card_id in cards}
        return tuple(card_id for card_id in card_ids(self.table.deck) if card_id not in lying)


def position_of(table: Table, chance: random.Random) -> Position:
    """Return a table with a physical card for each that lies there, except those that no card of the deck can show."""
    left = card_ids(table.deck)
    copies = {face: [card_id for card_id in left if face_of(card_id) is face] for face in table.deck}
    for cards in copies.values():
        chance.shuffle(cards)
    lying: dict[str, tuple[str, ...]] = {}
    sides = list(enumerate(table.sides, start=1))
    piles = [(f"side-{number}/{pile}", cards) for number, side in sides for pile, cards in side.piles.items()]
    for zone, faces in (*piles, (DISCARD_ZONE, table.discards)):
        shown = tuple(copies[face].pop() for face in faces if copies.get(face))
        if shown:
            lying[zone] = shown
    sideways = frozenset(
        card_id
        for number, side in sides
        for card_id in lying.get(f"side-{number}/safety", ())
        if face_of(card_id) in side.coups_fourres
    )
    return Position(table, MappingProxyType(lying), sideways)


def zone_of(table: Table, play: Play) -> str:
    """Return the zone that a play's card is laid in: `side-1/battle`, `table/discard`, …"""
    card = play.card or Card.UNKNOWN
    side = table.side_index(play.target or play.player)
    if play.verb is Verb.DISCARD or card.family is Family.SPECIAL or side is None:
        return DISCARD_ZONE
    return f"side-{side + 1}/{PILE_OF[card]}"


def answered(before: Table, after: Table) -> tuple[str, ...]:
    """Return the zones whose top card a play sends to the discards, once a card, in the order in which they lie."""
    gone: list[tuple[str, Card]] = []
    for number, (old, new) in enumerate(zip(before.sides, after.sides, strict=True), 1):
        gone += ((f"side-{number}/battle", card) for card in old.battle[len(new.battle) :])
        gone += ((f"side-{number}/speed", card) for card in old.speed[len(new.speed) :])
    last = after.discards[-len(gone) :] if gone else ()
    return tuple(zone for zone, card in sorted(gone, key=lambda part: last.index(part[1]) if part[1] in last else 0))


def reshuffled(before: Table, play: Play, after: Table) -> bool:
    """True if the discards have become the draw pile on the way."""
    return play.verb is not Verb.TAKE and after.discards[: len(before.discards)] != before.discards

"""A hand in the middle of its play: the table by the record, and the physical cards that show it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from companion.rules.cards import Card
from companion.rules.table import Table
from companion.tabletop.card_ids import card_ids, face_of
from companion.tabletop.mat_layout import DISCARD_ZONE


@dataclass(frozen=True, slots=True)
class Position:
    """What lies on the simulated table when a hand is taken up in its middle."""

    table: Table
    lying: Mapping[str, tuple[str, ...]]
    """The physical cards in each zone, from the bottom to the top."""

    sideways: frozenset[str] = frozenset()
    """Those that lie sideways: coups fourrés."""

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
    for zone, faces in _piles(table):
        shown = tuple(copies[face].pop() for face in faces if copies.get(face))
        if shown:
            lying[zone] = shown
    sideways = frozenset(
        card_id
        for number, side in enumerate(table.sides, start=1)
        for card_id in lying.get(f"side-{number}/safety", ())
        if face_of(card_id) in side.coups_fourres
    )
    return Position(table, MappingProxyType(lying), sideways)


def _piles(table: Table) -> Iterator[tuple[str, tuple[Card, ...]]]:
    for number, side in enumerate(table.sides, start=1):
        yield from ((f"side-{number}/{pile}", cards) for pile, cards in side.piles.items())
    yield DISCARD_ZONE, table.discards

"""What a player knows: the table, the plays of the hand so far, the match, and his own cards; nothing hidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from companion.common.errors import Problem
from companion.common.text import plain
from companion.rules import legality
from companion.rules.cards import Card, card_name
from companion.rules.hidden_cards import gained, out_of_hand
from companion.rules.play import Play
from companion.rules.record.judge import Game, JudgedLine, JudgedRecord
from companion.rules.table import Side, Table

NO_TOTALS: Mapping[str, int] = MappingProxyType({})


class Past(NamedTuple):
    """A play of the hand, and the table before it."""

    table: Table
    play: Play


@dataclass(frozen=True, slots=True)
class Position:
    """A hand as one player sees it."""

    table: Table
    player: str
    hand: tuple[Card, ...]
    totals: Mapping[str, int] = field(default_factory=lambda: NO_TOTALS)
    """The match totals before this hand, by side."""

    past: tuple[Past, ...] = ()
    """The plays of this hand that the table stands after, the oldest first."""

    @property
    def seat(self) -> int:
        return self.table.seat_of(self.player)

    @property
    def own(self) -> int:
        """The index of the player's side."""
        return self.table.seats[self.seat].side

    @property
    def side(self) -> Side:
        return self.table.sides[self.own]

    @property
    def is_in_turn(self) -> bool:
        return not self.table.is_over and self.table.to_move == self.seat

    @property
    def has_drawn(self) -> bool:
        """True if nothing is drawn any more before the player's turn: he holds it already, or there is nothing."""
        nothing_left = not self.table.draw_pile and not (reshuffles(self.table) and self.table.discards)
        return not self.table.to_draw or nothing_left or len(self.hand) != self.table.hands[self.seat]

    @property
    def lying(self) -> Counter[Card]:
        """The cards that lie openly on the table."""
        table = self.table
        if self.is_in_turn and self.has_drawn and legality.reshuffles(table):
            # The turn's draw has made the discards the draw pile, which the record says with the play that follows.
            table = table._replace(discards=())
        return table.lying

    @property
    def unseen(self) -> Counter[Card]:
        """The cards that the player has not seen: in the draw pile and in the others' hands."""
        return Counter(self.table.deck) - self.lying - Counter(self.hand)


def reshuffles(table: Table) -> bool:
    """True if the discards become the draw pile once that is used up."""
    return table.edition.empty_pile == "reshuffle"


def position_of(record: JudgedRecord, player: str, hand: Iterable[Card]) -> Position:
    """Return what a player knows after a record. Raises Problem, with a sentence, where he cannot hold that hand."""
    table = record.game.table
    if table is None:
        raise Problem("No hand has begun: the record needs a line `hand first` and a player's name.")
    if all(seat.player != player for seat in table.seats):
        names = ", ".join(seat.player for seat in table.seats)
        raise Problem(f"{plain(player)} does not play in this record: its players are {names}.")
    position = Position(table, player, tuple(hand), record.game.totals, past_of(record))
    _check_hand(position)
    return position


def past_of(record: JudgedRecord) -> tuple[Past, ...]:
    """Return the plays of the last hand of a record, each with the table before it."""
    past: list[Past] = []
    before: Game | None = None
    for game, items in zip(record.games, record.given, strict=True):
        if before is None or before.table is None or game.hand_number != before.hand_number:
            past = []
        else:
            lines = (item for item in items if isinstance(item, JudgedLine))
            past += [Past(before.table, line.play) for line in lines if line.play and line.applied]
        before = game
    return tuple(past)


def _check_hand(position: Position) -> None:
    """Raise Problem where the deck has no such cards, or no more of them; an unverified deck may be counted wrong."""
    table, lying = position.table, position.lying
    for card, count in Counter(position.hand).items():
        if card not in table.deck:
            raise Problem(f"There is no {card_name(card)} in this edition.")
        if count > table.deck[card] - lying[card] and table.edition.counts_verified:
            left = table.deck[card] - lying[card]
            raise Problem(f"The hand holds more of {card_name(card)} than the {left} that do not lie on the table.")


def known_cards(position: Position) -> dict[int, Counter[Card]]:
    """Return the cards that are known to be in each other seat's hand, because everybody saw them get there."""
    known: dict[int, Counter[Card]] = {seat: Counter() for seat in range(len(position.table.seats))}
    for table, play in position.past:
        if play.player is None:
            continue
        seat = table.seat_of(play.player)
        known[seat] = known[seat] - Counter(out_of_hand(play))
        for to, card in gained(table, play):
            known[to][card] += 1
    return known

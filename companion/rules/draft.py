"""A mutable table during one play, with what every play entails: draw, turn, end of the hand."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from companion.rules.cards import Card
from companion.rules.table import Attack, Due, Ending, HowEnded, Request, Shows, Side, Table, Window

_FIELDS = itemgetter(*Table._fields)
_GO_UNDER = frozenset({Card.THEFT, Card.CONTROL})


def without_last(cards: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    """Return the cards without the last copy of `card`."""
    at = len(cards) - cards[::-1].index(card) if card in cards else 0
    return (*cards[: at - 1], *cards[at:]) if at else cards


class Draft:
    """A mutable copy of a table; `seat` is the acting player's."""

    before: Table
    sides: tuple[Side, ...]
    hands: list[int]
    draw_pile: int
    discards: tuple[Card, ...]
    to_move: int
    due: Due
    target: int
    extension_offered_to: int | None
    extended_by: int | None
    attacks: tuple[Attack, ...]
    may_pass: bool
    window: Window
    requests: tuple[Request, ...]
    ending: Ending | None

    def __init__(self, table: Table, player: str | None) -> None:
        vars(self).update(zip(Table._fields, table, strict=False))
        self.before, self.hands, self.window = table, list(table.hands), Window()
        self.seat = table.to_move if player is None else table.seat_of(player)
        self.new_attacks: tuple[Attack, ...] = ()

    def table(self) -> Table:
        return Table._make(_FIELDS({**vars(self), "hands": tuple(self.hands)}))

    def change_side(self, index: int, **changes: Any) -> None:
        changed = self.sides[index]._replace(**changes)
        self.sides = (*self.sides[:index], changed, *self.sides[index + 1 :])

    def put_hazard(self, index: int, card: Card) -> None:
        side = self.sides[index]
        if card is Card.SPEED_LIMIT:
            self.change_side(index, speed=(*side.speed, card), speed_cleared=False)
        else:
            self.change_side(index, battle=(*side.battle, card), shows=Shows.TOP)

    def lift(self, index: int, hazard: Card, before: Shows) -> None:
        """Remove a side's top hazard and restore what the pile showed before."""
        side = self.sides[index]
        if hazard is Card.SPEED_LIMIT:
            self.change_side(index, speed=side.speed[:-1])
        else:
            self.change_side(index, battle=side.battle[:-1], shows=before)

    def next(self, seat: int) -> int:
        return (seat + 1) % len(self.hands)

    def discard(self, *cards: Card) -> None:
        """Discard cards, the last on top; Theft and Control go to the bottom."""
        for card in cards:
            self.discards = (card, *self.discards) if card in _GO_UNDER else (*self.discards, card)

    def fetch(self, seat: int, card: Card) -> None:
        """Move a card's topmost copy from the discard pile to a hand."""
        if card in self.discards:
            self.discards = without_last(self.discards, card)
            self.hands[seat] += 1

    def draw(self, seat: int) -> None:
        """Draw a card, if any, after any reshuffle due."""
        if self.draw_pile == 0 and self.before.edition.reshuffles:
            self.draw_pile, self.discards = len(self.discards), ()
        if self.draw_pile:
            self.draw_pile -= 1
            self.hands[seat] += 1

    def draw_for_turn(self, seat: int) -> None:
        due = self.due if seat == self.to_move else Due.TURN
        for _ in range(self.before.draws(self.hands[seat], due)):
            self.draw(seat)

    def leave_hand(self, seat: int, cards: int = 1) -> None:
        """Reduce a hand, at least to 0: people may have drawn more than recorded."""
        self.hands[seat] = max(0, self.hands[seat] - cards)

    def complete(self, index: int) -> None:
        """End the hand or offer the extension if the side is at the target."""
        if not self.before.edition.completes(self.before.race_km(self.sides[index]), self.target):
            return
        if self.before.may_extend:
            self.extension_offered_to = index
        else:
            self.ending = Ending(HowEnded.COMPLETED, index)

    def settle(self, seat: int, due: Due = Due.TURN) -> None:
        """Give the turn to a seat, or the next with cards; without any, end the hand."""
        self.to_move, self.due, self.may_pass = seat, due, False
        if self.draw_pile:
            return
        how_on = self.before.edition.empty_pile
        if how_on == "reshuffle" and self.discards:
            return
        if how_on == "ends" and due is not Due.NOTHING:
            self.exhaust()
        elif not self.hands[seat]:
            following = (*range(seat + 1, len(self.hands)), *range(seat))
            holder = next((other for other in following if self.hands[other]), None)
            if holder is not None:
                self.to_move, self.due = holder, Due.TURN
            else:
                self.exhaust()

    def exhaust(self) -> None:
        """End the hand as exhausted, unless ended or an extension is offered."""
        if self.ending is None and self.extension_offered_to is None:
            self.ending = Ending(HowEnded.EXHAUSTED)

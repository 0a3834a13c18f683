"""A hand that is dealt and played by the program: who decides next, and what he knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from companion.robots.information_set import NO_TOTALS, Past, Position
from companion.rules.cards import Card
from companion.rules.hidden_cards import Deal
from companion.rules.play import Play, Verb
from companion.rules.table import How


@dataclass(frozen=True, slots=True)
class DealtHand:
    """A hand with its hidden cards: `asked` tells who decides next, `answered` goes on with what he does."""

    deal: Deal
    totals: Mapping[str, int] = field(default_factory=lambda: NO_TOTALS)
    """The match totals before this hand, by side."""

    past: tuple[Past, ...] = ()
    waived: frozenset[int] = frozenset()
    """The seats that could have answered what was played last, and did not."""

    def position(self, seat: int) -> Position:
        """Return what a player knows."""
        table = self.deal.table
        return Position(table, table.seats[seat].player, self.deal.hands[seat], self.totals, self.past)

    def asked(self) -> Position | None:
        """Return the position of the player who decides next, after his draw if this is his turn; None at the end.

        Whoever may act out of turn comes first, before anybody draws, and the player to move last of these; no answer
        is an answer there, and where the top of the discard pile may be taken instead of drawing.
        """
        table, first = self.deal.table, next(self.out_of_turn(), None)
        if first is not None or table.is_over:
            return first
        undrawn = self.position(table.to_move)
        may_take = not (undrawn.has_drawn or self.deal.objections(Play(Verb.TAKE, undrawn.player)))
        if may_take and table.to_move not in self.waived:
            return undrawn
        return self.drawn().position(table.to_move)

    def out_of_turn(self) -> Iterator[Position]:
        """Yield the position of each player who may act before anybody draws, and has not declined."""
        table = self.deal.table
        seats = [] if self.deal.ahead else [*range(table.to_move + 1, len(table.seats)), *range(table.to_move + 1)]
        positions = (self.position(seat) for seat in seats if seat not in self.waived)
        return (position for position in positions if _may_act_out_of_turn(position))

    def answered(self, position: Position, play: Play | None) -> DealtHand:
        """Return the hand after what the player of `asked` has done; None is no answer."""
        if play is None:
            return replace(self, waived=self.waived | {position.seat})
        return replace(
            self,
            deal=self.deal.play(play),
            past=(*self.past, Past(self.deal.table, play)),
            waived=frozenset(),
        )

    def drawn(self) -> DealtHand:
        """Return the hand after the turn's draw."""
        return replace(self, deal=self.deal.draw())


def _may_act_out_of_turn(position: Position) -> bool:
    """True if the player has something to answer, to lay at once, or to say, before anybody's turn goes on."""
    table, window, side = position.table, position.table.window, position.own
    if table.extension_offered_to is not None:
        if table.extension_offered_to == side:
            return position.player == position.side.players[0]
    elif position.is_in_turn and position.has_drawn:
        return False
    taken, asked, laid = window.taken, window.asked, window.laid
    return (
        (taken is not None and taken.seat == position.seat and taken.how is not How.FETCHED)
        or (asked is not None and asked.of_seat == position.seat)
        or (laid is not None and Card.U_TURN in position.hand and table.seats[laid.seat].side != side)
        or any(attack.side == side for attack in table.attacks)
    )

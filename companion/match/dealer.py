"""The dealer of a match without cards: who holds which cards, and who decides.

Hidden cards are never saved: they follow from secret key, record and passes. Only `Dealt.seen_by` may show them, on the
player's own phone.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from companion.common.errors import Problem
from companion.common.text import Said, say
from companion.robots.information_set import DealtHand, Options, Position, options, past_of
from companion.robots.robot import Choice, Level, choose
from companion.rules.cards import Card
from companion.rules.hidden_cards import dealt_by
from companion.rules.legality import is_extra
from companion.rules.play import Play, Verb
from companion.rules.reasons import Reason
from companion.rules.record.judge import JudgedRecord

NOTHING_DEALT = say("These cards cannot be dealt: undo, or start another hand.")
OWN_CARDS = say("You can only play your own cards: take the seat these cards belong to.")
DRAW_FIRST = say("Draw a card first.")
NOT_YET = say("Wait a moment: the last play can still be countered.")
TABLE_DEALS = say("The companion deals the cards here, so a play cannot be corrected: undo it instead.")
NOTHING_TO_DECLINE = say("There is nothing for you to pass on.")


@dataclass(frozen=True, slots=True)
class Seen:
    """A player's cards in a dealt hand, and the options open to them."""

    player: str
    hand: tuple[Card, ...]  # newest last
    is_asked: bool = False
    plays: tuple[Play, ...] = ()  # legal plays, if asked
    may_wait: bool = False  # may pass; in turn, passing draws a card
    has_drawn: bool = False  # the last card in hand was drawn this turn


@dataclass(frozen=True, slots=True)
class Dealt:
    """A hand with its hidden cards, and the players it waits for."""

    hand: DealtHand  # with this turn's draw, if made
    waiting: tuple[Position, ...]  # may answer before the next draw, else in turn; empty at the end

    def asks(self, player: str | None) -> Position | None:
        """Return the player's position if the hand waits for them."""
        return next((position for position in self.waiting if position.player == player), None)

    def seen_by(self, player: str) -> Seen:
        """Return a view for this player's eyes only."""
        deal, position = self.hand.deal, self.asks(player)
        seat = deal.table.seat_of(player)
        cards = deal.hands[seat]
        if position is None:
            return Seen(player, cards)
        plays, may_wait = _options(position)
        return Seen(player, cards, True, plays, may_wait, has_drawn=seat == deal.table.to_move and deal.ahead > 0)

    def objections(self, play: Play, by: str) -> Said | tuple[Reason, ...]:
        """Return reasons against a play (none if allowed); a sentence if `by` may not enter it now."""
        table = self.hand.deal.table
        # Players enter their own plays; either partner may decide on the extension.
        is_decision = play.verb in (Verb.EXTEND, Verb.FINISH)
        if play.player is None or by not in (table.side_of(play.player).players if is_decision else (play.player,)):
            return OWN_CARDS
        against, position = self.hand.deal.objections(play), self.asks(play.player)
        if against or play.at_once or is_extra(table, play):
            return against
        if position is None:
            return NOT_YET
        plays, may_draw = _options(position)
        return DRAW_FIRST if may_draw and play not in plays else ()

    def choice(self, position: Position, level: Level) -> Choice:
        """Return a robot's choice, always the same for a position."""
        chance = random.Random(f"{self.hand.deal.key} {len(position.past)} {position.player}")  # noqa: S311
        return choose(position, level, chance)


def dealt(
    record: JudgedRecord, key: str, waived: Collection[str], totals: Mapping[str, int], robots: Collection[str]
) -> Dealt:
    """Return the last hand of a record, dealt from its secret key and replayed.

    `waived`: players who passed after the last line; `totals`: match scores before the hand. Raises DealError if these
    cards contradict the record.
    """
    past, table = past_of(record), record.game.table
    if past:
        table = past[0].table
    if table is None:
        raise AssertionError("a hand was begun")
    deal = dealt_by(table, key)
    for _, play in past:
        deal = deal.play(play)
    seats = frozenset(seat for seat, place in enumerate(deal.table.seats) if place.player in waived)
    hand = DealtHand(deal, totals, past, seats)
    while idle := [position for position in hand.out_of_turn() if _is_idle(position, robots)]:
        hand = hand.answered(idle[0], None)
    waiting = tuple(hand.out_of_turn())
    if waiting or (position := hand.asked()) is None:
        return Dealt(hand, waiting)
    drawn = hand.drawn()
    return Dealt(drawn if drawn.deal.hands[position.seat] == position.hand else hand, (position,))


def _is_idle(position: Position, robots: Collection[str]) -> bool:
    """True if a player without an answer can be skipped: the next in turn, or a robot.

    For others the hand always waits: the pace must not reveal who holds an answer.
    """
    plays, may_wait = _options(position)
    return may_wait and not plays and (position.is_in_turn or position.player in robots)


def _options(position: Position) -> Options:
    """Return a player's options; they must hand over a requested card."""
    try:
        plays, may_wait = options(position)
    except Problem:
        return Options((), may_wait=False)
    return Options(plays, may_wait and all(play.verb is not Verb.GIVE for play in plays))

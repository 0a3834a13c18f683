"""The hidden cards of a dealt hand: the cards of each seat and the order of the draw pile.

They follow from the deal and the plays. Chance comes from outside: a shuffled pile, and a secret key that orders
reshuffled discards.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from companion.rules import referee
from companion.rules.cards import Card, Family, card_of_slug
from companion.rules.legality import answered, attacks_on, is_extra, lays_taken
from companion.rules.moves import laying
from companion.rules.play import Play, Verb, card_of
from companion.rules.reasons import Code, Reason, reason
from companion.rules.table import Table

_INSTEAD_OF_DRAWING = (Verb.TAKE, Verb.SKIP_DRAW, Verb.EXCHANGE)


class DealError(ValueError):
    """A play that does not fit the deal, or a saved deal its table."""


def shuffled(cards: Sequence[Card], key: str) -> tuple[Card, ...]:
    """Return the cards in an order fixed by `key`, unpredictable without it."""
    text = f"{key} {' '.join(cards)}"
    order = sorted(range(len(cards)), key=lambda place: hashlib.sha256(f"{place} {text}".encode()).digest())
    return tuple(cards[place] for place in order)


def deal(table: Table, pile: Sequence[Card], key: str) -> Deal:
    """Return the deal before the first play, with hands drawn from the end (top) of `pile`.

    Raises DealError if the pile is not the table's deck.
    """
    dealt = Deal(table, ((),) * len(table.seats), tuple(pile), key)
    for seat, size in enumerate(table.hands):
        dealt = dealt._drawn(seat, size)
    return dealt.checked()


def dealt_by(table: Table, key: str) -> Deal:
    """Return the deal that a secret key determines, by shuffling the deck."""
    return deal(table, shuffled(tuple(Counter(table.deck).elements()), f"{key} deal"), key)


@dataclass(frozen=True, slots=True)
class Deal:
    """A table with its hidden cards."""

    table: Table
    hands: tuple[tuple[Card, ...], ...]  # by seat, latest last
    pile: tuple[Card, ...]  # bottom to top
    key: str  # secret; orders reshuffled discards

    @property
    def has_drawn(self) -> bool:
        """True if no draw is due."""
        return self.draw() is self

    def draw(self) -> Deal:
        """Return the deal after the turn's draw, itself if none is due."""
        table = self.table
        if table.is_over or table.extension_offered_to is not None or table.handed_to is not None:
            return self
        return self._drawn(table.to_move, table.to_draw - self.ahead)

    def objections(self, play: Play) -> tuple[Reason, ...]:
        """Return the referee's objections, else those that depend on hidden cards; undrawn cards are not held."""
        against = referee.objections(self.table, play)
        if against or play.player is None:
            return against
        if play.verb is Verb.PENALTY:
            return (reason(Code.NO_PENALTY),)
        table, seat, asked = self.table, self.table.seat_of(play.player), self.table.window.asked
        gives = play.verb is Verb.GIVE and asked is not None and (asked.of_seat, asked.card) == (seat, play.card)
        on_the_spot = gives or is_extra(table, play)
        if self.ahead and (play.at_once or on_the_spot or play.verb in _INSTEAD_OF_DRAWING):
            return (self._too_late(play),)
        stuck = table.edition.discard == "when-stuck" and play.verb is Verb.DISCARD and not lays_taken(table, play)
        if stuck and any(self._can_lay(play.player, card) for card in self.hands[seat]):
            return (reason(Code.DISCARD_ONLY_WHEN_STUCK),)
        return tuple(
            reason(Code.NO_SUCH_CARD_THERE, case="hand", card=card, player=play.player)
            for card in Counter(play.out_of_hand) - Counter(self.hands[seat])
        )

    def _can_lay(self, player: str, card: Card) -> bool:
        held = Counter(self.hands[self.table.seat_of(player)])
        plays = (play for play in laying(self.table, player, card) if Counter(play.out_of_hand) <= held)
        return any(not referee.objections(self.table, play) for play in plays)

    def play(self, play: Play) -> Deal:
        """Return the deal after a play, legal or not, with its draw if still due.

        Raises DealError if the player lacks the cards.
        """
        table, after = self.table, referee.apply(self.table, play)
        seat = table.to_move if play.player is None else table.seat_of(play.player)
        out, into, dealt = play.out_of_hand, gained(table, play), self
        if not play.at_once and play.verb is not Verb.EXCHANGE:
            held = len(self.hands[seat]) - len(out) + [to for to, _ in into].count(seat)
            dealt = self._drawn(seat, after.hands[seat] - held)
        hands = [list(hand) for hand in dealt.hands]
        for card in out:
            if card not in hands[seat]:
                raise DealError(f"`{play}`: there is no {card} in the hand.")
            hands[seat].remove(card)
        for to, card in into:
            hands[to].append(card)
        dealt = replace(dealt, table=after, hands=tuple(map(tuple, hands)))
        for other, size in enumerate(after.hands):
            dealt = dealt._drawn(other, size - len(dealt.hands[other]), after.discards)
        if tuple(map(len, dealt.hands)) != after.hands or play.verb in (Verb.EXHAUSTED, Verb.PENALTY):
            raise DealError(f"`{play}` does not fit the cards that were dealt and drawn.")
        return dealt

    @property
    def ahead(self) -> int:
        """Number of drawn cards that the table does not count yet."""
        return len(self.hands[self.table.to_move]) - self.table.hands[self.table.to_move]

    def _drawn(self, seat: int, count: int, discards: Sequence[Card] = ()) -> Deal:
        """Return the deal with `count` more cards in a hand; keeps `discards` out of a reshuffle."""
        hand, pile = list(self.hands[seat]), list(self.pile)
        for _ in range(count):
            if not pile and self.table.edition.reshuffles:
                hands = (*self.hands[:seat], hand, *self.hands[seat + 1 :])
                elsewhere = self.table._replace(discards=tuple(discards)).lying + Counter(chain.from_iterable(hands))
                pile = list(shuffled(tuple((Counter(self.table.deck) - elsewhere).elements()), self.key))
            if pile:
                hand.append(pile.pop())
        if len(hand) == len(self.hands[seat]):
            return self
        return replace(self, hands=(*self.hands[:seat], tuple(hand), *self.hands[seat + 1 :]), pile=tuple(pile))

    def _too_late(self, play: Play) -> Reason:
        """Return the reason against an act due before the draw."""
        attack = answered(self.table, play) or next(attacks_on(self.table, play.player), None)
        if attack is None or not play.at_once:
            return reason(Code.CANNOT_TAKE_DISCARD, case="drawn")
        case = None if card_of(play).family is Family.SAFETY else "remedy"
        return reason(Code.COUP_FOURRE_WINDOW_CLOSED, case=case, hazard=attack.hazard, card=play.card)

    def as_json(self) -> dict[str, Any]:
        """Return hidden cards and key, for `read_deal`."""
        return {"hands": [list(hand) for hand in self.hands], "pile": list(self.pile), "key": self.key}

    def checked(self) -> Deal:
        """Return the deal itself. Raises DealError unless cards and hand sizes fit the table."""
        table, hidden = self.table, Counter(chain(self.pile, *self.hands))
        ahead = [len(hand) - size for hand, size in zip(self.hands, table.hands, strict=True)]
        drawn = 0 if table.is_over else ahead.pop(table.to_move)
        # The draw may have reshuffled the discards, unknown to the table.
        lies = (table._replace(discards=()) if drawn > table.draw_pile else table).lying
        if any(ahead) or not 0 <= drawn <= table.to_draw or hidden + lies != +Counter(table.deck):
            raise DealError("These are not the cards that are hidden at this table.")
        return self


def read_deal(table: Table, written: Mapping[str, Any]) -> Deal:
    """Return the deal saved by `as_json`. Raises DealError if it does not fit the table."""
    try:
        read = Deal(table, tuple(map(_cards, written["hands"])), _cards(written["pile"]), str(written["key"]))
    except (KeyError, TypeError) as error:
        raise DealError("A deal has `hands`, `pile` and `key`.") from error
    if len(read.hands) != len(table.seats):
        raise DealError("A deal has a hand for each seat.")
    return read.checked()


def _cards(slugs: Sequence[str]) -> tuple[Card, ...]:
    return tuple(card_of_slug(slug) or Card.UNKNOWN for slug in slugs)


def gained(table: Table, play: Play) -> list[tuple[int, Card]]:
    """Return (seat, card) for each card that a play visibly puts into a hand."""
    seat, laid = table.seat_of(play.player) if play.player else table.to_move, table.window.laid
    if play.verb is Verb.TAKE and table.discards:
        return [(seat, table.discards[-1])]
    if play.verb is Verb.PAIR and play.wanted:
        return [(seat, play.wanted)]
    if play.verb is Verb.THEFT and play.card:
        victim = table.sides[table.side_index(play.target) or 0]
        return [(seat, play.card), *[(seat, Card.ACCELERATOR)] * victim.goes_doubled(play.card, play.times)]
    if play.verb is Verb.GIVE and play.card and play.target:
        return [(table.seat_of(play.target), play.card)]
    if play.card is Card.U_TURN and play.at_once and laid is not None:
        return [(laid.seat, laid.card)]
    return []

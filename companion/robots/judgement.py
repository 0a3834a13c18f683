"""Worths of all plays: `valuation.py` for ordinary cards, points on its scale for others."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from companion.robots.information_set import Position
from companion.robots.lanes import TURN_BACK_KM, Lanes, deck_of, lanes_to_move
from companion.robots.valuation import NEVER, STUCK_ALONE, Points, worths
from companion.robots.worlds import wants_extension
from companion.rules.cards import HAZARD_OF, REMEDY_OF, Card, Family
from companion.rules.legality import answered
from companion.rules.play import Play, Verb
from companion.rules.table import is_driving

_GIFT = 5000.0
_ANSWER = 2000.0
_TAKEN_LEAST = 90.0  # least worth of a discard to take instead of drawing
_MOST_FETCHED = 20  # per hand: stops endless exchanges of discards
_GIVEN_SHARE = 0.5  # cost of a discard, in its worth to the next player
_ROBBED = 30.0  # worth of a theft besides the km
_OTHER_VICTIM = 5.0  # deducted for any target but the best


def judged(position: Position, plays: Iterable[Play | None]) -> list[tuple[Play | None, float]]:
    """Return plays with their worth, best first; doing nothing (None) is worth 0."""
    judge = _Judge(position)
    return sorted(((play, judge.worth(play)) for play in plays), key=lambda one: -one[1])


class _Judge:
    def __init__(self, position: Position) -> None:
        self.position, self.table = position, position.table
        self.deck = deck_of(tuple(position.table.deck))
        self.points, self.victim = self._valued(position.hand)

    def _lane(self, hand: Iterable[Card]) -> Lanes:
        return lanes_to_move(self.table, self.position.seat, self.deck.counts(hand)[None], self.position.totals)

    def _valued(self, hand: Iterable[Card]) -> tuple[Points, Points]:
        worth, victim = worths(self._lane(hand))
        return worth[0], victim[0]

    def worth(self, play: Play | None) -> float:
        if play is None:
            return 0.0
        if play.at_once:
            return self._at_once(play)
        card, cards = self.deck.number.get(play.card or Card.UNKNOWN, 0), len(self.deck.cards)
        if play.verb is Verb.PLAY:
            other = play.target is not None and self.table.side_index(play.target) != self.victim[card]
            return float(self.points[card + 2 * cards * (play.times > 1)]) - _OTHER_VICTIM * other
        if play.verb is Verb.DISCARD:
            return float(self.points[card + cards]) - self._given_away(card)
        return self._special(play)

    def _given_away(self, card: int) -> float:
        """Return the cost of a discard that the next player may take."""
        edition = self.table.edition
        if edition.take_discard != "allowed" or not any(is_driving(edition, side) for side in self.table.sides):
            return 0.0
        alone = np.eye(len(self.deck.cards), dtype=np.int8)[[card]]
        lanes = lanes_to_move(self.table, (self.position.seat + 1) % len(self.table.seats), alone)
        return max(0.0, float(worths(lanes)[0][0, card]) - _TAKEN_LEAST) * _GIVEN_SHARE

    def _special(self, play: Play) -> float:
        card = play.card or Card.UNKNOWN
        if play.verb in (Verb.EXTEND, Verb.FINISH):
            return float(wants_extension(self._lane(self.position.hand))[0] == (play.verb is Verb.EXTEND))
        if play.verb is Verb.TAKE:
            return self._fetched(self.table.discards[-1]) - _TAKEN_LEAST
        if play.verb is Verb.PAIR:
            lost = math.fmod(self.points[self.deck.number[card] + len(self.deck.cards)], STUCK_ALONE) - card.km
            return self._fetched(play.wanted or Card.UNKNOWN, card) + 2 * lost - 20.0
        if play.verb is Verb.THEFT:
            return self._stolen(card, play.times)
        if play.verb is Verb.CONTROL:
            return 40.0 + self._wish(card) * self._chance_of(card, play.target or "")
        return {Verb.GIVE: _GIFT, Verb.PASS: -5.0}.get(play.verb, NEVER)

    def _stolen(self, card: Card, times: int) -> float:
        """Return the worth of a theft and of playing the card."""
        if any(request.of_seat == self.position.seat and request.card is card for request in self.table.requests):
            return NEVER
        hand = (*self.position.hand, card, *[Card.ACCELERATOR] * (times > 1))
        laid = self._valued(hand)[0][self.deck.number[card] :: 2 * len(self.deck.cards)]
        return _ROBBED + card.km * times / 8 + max(0.0, float(laid.max()))

    def _fetched(self, card: Card, laid: Card | None = None) -> float:
        """Return a discard's worth to the hand, after paying a pair of `laid`, if any."""
        before = (past.play for past in self.position.past if past.play.player == self.position.player)
        fetched = sum(play.verb in (Verb.TAKE, Verb.PAIR) for play in before)
        if card not in self.deck.number or fetched >= _MOST_FETCHED:
            return NEVER
        hand = list(self.position.hand)
        for _ in range(2 if laid else 0):
            hand.remove(laid or card)
        return float(self._valued([*hand, card])[0][self.deck.number[card]])

    def _wish(self, card: Card) -> float:
        hazard = self.position.side.hazard
        if hazard is not None:
            return 150.0 if card is REMEDY_OF[hazard] else 0.0
        return card.km / 2.0 if card.family is Family.DISTANCE else 20.0

    def _chance_of(self, card: Card, player: str) -> float:
        unseen = self.position.unseen
        held = self.table.hands[self.table.seat_of(player)] / max(1, unseen.total())
        return float(1 - (1 - held) ** max(0, unseen[card]))

    def _at_once(self, play: Play) -> float:
        laid = self.table.window.laid
        if play.card is Card.U_TURN and laid is not None:
            ends = self.table.ending is not None or self.table.extension_offered_to is not None
            return _ANSWER if ends or laid.card.km * laid.times >= TURN_BACK_KM else -1.0
        attack = answered(self.table, play)
        is_safety = play.card is not None and play.card.family is Family.SAFETY
        if attack is not None and not is_safety:
            return _ANSWER / 2 - (10.0 if HAZARD_OF[play.card or Card.ROLL] is Card.SPEED_LIMIT else 0.0)
        return _ANSWER if is_safety else _ANSWER * 0.75


_LIKING = {
    Verb.GIVE: 900.0,
    Verb.FINISH: 900.0,
    Verb.EXTEND: 0.0,
    Verb.THEFT: 250.0,
    Verb.CONTROL: 60.0,
    Verb.PAIR: -50.0,
    Verb.TAKE: -1.0,
    Verb.PASS: -20.0,
}
_AT_ONCE = {Card.MIRROR: 700.0, Card.U_TURN: 700.0}


def liking(position: Position, play: Play | None) -> float:
    """Return a play's level 1 score; doing nothing scores 0."""
    if play is None:
        return 0.0
    card = play.card or Card.UNKNOWN
    if play.verb is Verb.DISCARD:
        return -_regret(position, card)
    if play.verb is not Verb.PLAY:
        return _LIKING.get(play.verb, 0.0) + card.km / 10
    if play.at_once:
        return _AT_ONCE.get(card, 800.0)
    if card.family is Family.DISTANCE:
        return 300.0 + card.km * play.times
    if card.family is Family.HAZARD:
        return _attack(position, play)
    if card.family is Family.SAFETY:
        # Keep it for a coup fourré while cards are left to draw.
        return 50.0 if position.table.draw_pile > len(position.table.seats) * 3 else 550.0
    return 500.0 if card is not Card.ROLL or not is_driving(position.table.edition, position.side) else -10.0


def _attack(position: Position, play: Play) -> float:
    victim = position.table.sides[position.table.side_index(play.target) or 0]
    stands = victim.hazard is not None and play.card is not Card.SPEED_LIMIT
    return -30.0 if stands else 200.0 + victim.km / 10


def _regret(position: Position, card: Card) -> float:
    if card.family is Family.DISTANCE:
        left = position.table.target - position.table.race_km(position.side)
        return 12.0 + card.km / 10 if card.km <= left else 5.0
    if card.family is Family.REMEDY:
        # Keep one of each remedy, unless another is needed now.
        hazard = position.side.hazard
        return 60.0 if hazard in (None, HAZARD_OF[card]) else 24.0 if position.hand.count(card) == 1 else 10.0
    all_stand = all(side.hazard for side in position.table.sides if side is not position.side)
    if card.family is Family.HAZARD and all_stand and position.table.edition.reshuffles:
        # If all kept hazards while remedies circulate, races would not end.
        return 15.0
    return {Family.SAFETY: 500.0, Family.HAZARD: 35.0}.get(card.family, 25.0)

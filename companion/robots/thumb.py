"""Level 1: a rule of thumb. What helps first, then the longest distance, then a hazard before whoever is ahead."""

from __future__ import annotations

from companion.robots.information_set import Position, reshuffles
from companion.rules.cards import HAZARD_OF, Card, Family
from companion.rules.play import Play, Verb
from companion.rules.table import is_driving

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
    """Return how much a play is liked; no answer counts as nothing."""
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
        # It waits for a coup fourré while there is anything to drive.
        return 50.0 if position.table.draw_pile > len(position.table.seats) * 3 else 550.0
    return 500.0 if card is not Card.ROLL or not is_driving(position.table.edition, position.side) else -10.0


def _attack(position: Position, play: Play) -> float:
    victim = position.table.sides[position.table.side_index(play.target or "") or 0]
    stands = victim.hazard is not None and play.card is not Card.SPEED_LIMIT
    return -30.0 if stands else 200.0 + victim.km / 10


def _regret(position: Position, card: Card) -> float:
    """Return how much a discarded card would be missed."""
    if card.family is Family.DISTANCE:
        left = position.table.target - position.table.race_km(position.side)
        return 12.0 + card.km / 10 if card.km <= left else 5.0
    if card.family is Family.REMEDY:
        # It waits for its hazard, one of each, but not in the way of the one that is needed now.
        hazard = position.side.hazard
        return 60.0 if hazard in (None, HAZARD_OF[card]) else 24.0 if position.hand.count(card) == 1 else 10.0
    all_stand = all(side.hazard for side in position.table.sides if side is not position.side)
    if card.family is Family.HAZARD and all_stand and reshuffles(position.table):
        # It comes round again. Where everybody keeps his, and the remedies go round, a race has no end.
        return 15.0
    return {Family.SAFETY: 500.0, Family.HAZARD: 35.0}.get(card.family, 25.0)

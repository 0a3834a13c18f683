"""Dominated discards: the table alone shows that another legal play is better. No robot considers them.

Playing and discarding leave the same hand. Playing is better if it only improves the table: a needed remedy, an
unanswerable hazard, a safety. Distance cards are never compared: they may spoil the safe trip or exact target.

A needed remedy beats any discard if discards never return and the remedied car is not open to new attacks: the discard
can follow. With an empty draw pile, all attacks on the car must have been seen. Otherwise an opponent may have to waste
a last Stop.

Not considered: without stacked hazards, a stopped car is safe from the next. And a safety still to be drawn may do more
for it than a remedy.
"""

from __future__ import annotations

from collections.abc import Sequence

from companion.robots.information_set import Position
from companion.rules.apply import apply
from companion.rules.cards import HAZARD_OF, SAFETY_OF, Card, Family
from companion.rules.editions.edition import Edition
from companion.rules.legality import against_attack
from companion.rules.play import Play, Verb, card_of
from companion.rules.table import Side, Table, is_driving


def undominated(position: Position, plays: Sequence[Play | None]) -> list[Play | None]:
    """Return the plays without dominated discards."""
    discards = [play for play in plays if play is not None and play.verb is Verb.DISCARD]
    better = [play for play in plays if play is not None and _may_beat(position, play)] if discards else []
    beaten = {discard for discard in discards if any(_beats(position, play, discard) for play in better)}
    return [play for play in plays if play not in beaten]


def _may_beat(position: Position, play: Play) -> bool:
    """True if a play has no drawback, such as an answer or better later use."""
    if play.verb is not Verb.PLAY or play.at_once:
        return False
    table, card = position.table, card_of(play)
    if card.family is Family.HAZARD:
        return len(table.sides) == 2 and not _may_be_answered(position, card)
    if card.family is Family.SAFETY:
        # The card drawn for it can follow.
        edition = table.edition
        return edition.safeties_count_as_distance == "no" and edition.discard == "free" and table.draw_pile > 0
    return card.family is Family.REMEDY and SAFETY_OF[HAZARD_OF[card]] not in position.hand


def _may_be_answered(position: Position, hazard: Card) -> bool:
    table = position.table
    out_of_turn = table.edition.fast_remedy == "yes" or Card.MIRROR in table.deck
    return out_of_turn or not table.edition.counts_verified or position.unseen[SAFETY_OF[hazard]] > 0


def _beats(position: Position, play: Play, discard: Play) -> bool:
    """True if the play leaves a better table and an equally good hand."""
    table, card = position.table, card_of(play)
    is_other = card is not card_of(discard)
    if is_other and (card.family is not Family.REMEDY or not _discards_are_dead(table.edition)):
        return False
    after, instead = apply(table, play), apply(table, discard)
    if card.family is Family.SAFETY:
        return after.to_move == position.seat
    if (after.to_move, after.due, after.is_over) != (instead.to_move, instead.due, instead.is_over):
        return False
    if card.family is Family.HAZARD:
        victim = table.side_index(play.target) or 0
        return _is_freer(table.edition, instead.sides[victim], after.sides[victim])
    own, compared = after.sides[position.own], instead.sides[position.own]
    if not _is_freer(table.edition, own, compared):
        return False
    if not is_other:
        return True
    attacks = _possible_attacks(table, own)
    may_be_spent = not table.draw_pile and any(position.unseen[hazard] for hazard in attacks)
    return not may_be_spent and attacks <= _possible_attacks(table, compared)


def _discards_are_dead(edition: Edition) -> bool:
    return edition.take_discard == "forbidden" and edition.pair_for_discard == "no" and not edition.reshuffles


def _is_freer(edition: Edition, side: Side, other: Side) -> bool:
    """True if strictly less holds up `side` than `other`."""
    free, compared = _freedoms(edition, side), _freedoms(edition, other)
    return free != compared and all(one >= two for one, two in zip(free, compared, strict=True))


def _freedoms(edition: Edition, side: Side) -> tuple[bool, bool, bool]:
    return side.hazard is None, not side.limited, is_driving(edition, side)


def _possible_attacks(table: Table, side: Side) -> set[Card]:
    hazards = (card for card in table.deck if card.family is Family.HAZARD)
    return {card for card in hazards if not any(against_attack(table.edition, card, side))}

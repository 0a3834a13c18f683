"""Worlds dealt in agreement with what a player has seen: the others' hands and the draw pile, many at a time.

They agree in three ways: no card lies in two places, what everybody saw somebody take is in his hand, and hands with
which the others would hardly have played as they did are rarer. For the last, each other hand is led back through the
plays of its player: the card that he laid comes into it again, the one that he had drawn goes out by chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from companion.robots.deck_numbers import Deck, Ints, deck_of
from companion.robots.information_set import Past, Position, known_cards
from companion.robots.lane_start import lanes_of
from companion.robots.valuation import Points, worths
from companion.rules.cards import SAFETY_OF, Card, Family
from companion.rules.legality import laid_from_hand
from companion.rules.play import Play, Verb
from companion.rules.table import Due

_SURPLUS = 8
"""How many worlds are dealt for each that is kept."""

_LOOKS_BACK = 5
"""How many plays of the others, each his share, say something about their hands."""

_PATIENCE_POINTS = 40.0
"""How much worse than the best a play has to look to be e times as rare."""

_WHIM = 0.08
"""How likely a play at least is: people do not play by the valuation."""


def deal(position: Position, count: int, chance: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the hands by world, seat and card, the own one as it is, and the cards of each draw pile in order."""
    hands, piles = _dealt(position, count * _SURPLUS, chance)
    likely = _likelihood(position, hands, chance)
    # Systematic sampling: as many of each world as its likelihood has of the whole, in a mixed order.
    steps = (np.arange(count) + chance.random()) / count
    kept = np.minimum(np.searchsorted(np.cumsum(likely) / likely.sum(), steps), len(likely) - 1)
    chance.shuffle(kept)
    # Hands may be there several times over; their piles are mixed, so that no order of cards counts more than another.
    return hands[kept], chance.permuted(piles[kept], axis=1)


def _dealt(position: Position, count: int, chance: np.random.Generator) -> tuple[Ints, Ints]:
    table, deck = position.table, deck_of(tuple(position.table.deck))
    unseen = +position.unseen
    hands = np.zeros((count, len(table.seats), len(deck.cards)), np.int8)
    hands[:, position.seat] = deck.counts(position.hand)
    sizes = {}
    for seat, known in known_cards(position).items():
        if seat != position.seat:
            sure = Counter(list((known & unseen).elements())[: table.hands[seat]])
            unseen -= sure
            hands[:, seat] = deck.counts(sure.elements())
            sizes[seat] = table.hands[seat] - sure.total()
    hidden = np.repeat(np.arange(len(deck.cards), dtype=np.int8), deck.counts(unseen.elements()))
    mixed = chance.permuted(np.tile(hidden, (count, 1)), axis=1)
    worlds, at = np.arange(count), 0
    for seat, size in sizes.items():
        for _ in range(min(size, len(hidden) - at)):
            hands[worlds, seat, mixed[:, at]] += 1
            at += 1
    return hands, mixed[:, at:]


def _likelihood(position: Position, hands: Ints, chance: np.random.Generator) -> Points:
    """Return how likely it is, world by world, that the others have played as they did."""
    likely = np.ones(len(hands))
    looks = max(1, _LOOKS_BACK // (len(position.table.seats) - 1))
    for seat, other in enumerate(position.table.seats):
        if seat == position.seat:
            continue
        held, plays = hands[:, seat].astype(np.int16), 0
        for past, after in _backwards(position):
            play, table = past.play, past.table
            if _is_unanswered(past, after, other.side):
                safety = SAFETY_OF[play.card or Card.UNKNOWN]
                likely *= np.where(held[:, deck_of(tuple(table.deck)).number[safety]] > 0, _WHIM / 2, 1.0)
            elif play.player == other.player:
                plays += 1
                if plays > looks or play.verb not in (Verb.PLAY, Verb.DISCARD):
                    break
                held = _led_back(past, seat, held, likely, chance)
    return likely


def _backwards(position: Position) -> Iterator[tuple[Past, Play | None]]:
    after: Play | None = None
    for past in reversed(position.past):
        yield past, after
        after = past.play


def _is_unanswered(past: Past, after: Play | None, side: int) -> bool:
    """True if a play attacked a side, and nobody of it has played a coup fourré."""
    play, table = past.play, past.table
    card = play.card
    if play.verb is not Verb.PLAY or card is None or card.family is not Family.HAZARD:
        return False
    answered = after is not None and after.is_coup_fourre
    return table.side_index(play.target or "") == side and after is not None and not answered


def _led_back(past: Past, seat: int, held: Ints, likely: Points, chance: np.random.Generator) -> Ints:
    """Return the hands before a play and its draw; makes worlds less likely in which another play looked better."""
    table, play = past
    deck = deck_of(tuple(table.deck))
    held = held + deck.counts(card for card in laid_from_hand(play) if card in deck.number)
    column = _column(deck, play)
    if column is not None and not play.at_once:
        hands = np.zeros((len(held), len(table.seats), len(deck.cards)), np.int8)
        hands[:, seat] = held
        lanes = lanes_of(table._replace(due=Due.NOTHING), hands, np.zeros((len(held), table.draw_pile), np.int8))
        lanes.move[:] = seat
        worth = worths(lanes)[0]
        lost = worth.max(1) - worth[:, column]
        likely *= _WHIM + (1 - _WHIM) * np.exp(-np.minimum(lost, 1e4) / _PATIENCE_POINTS)
    for _ in range(int(held[0].sum()) - table.hands[seat]):
        drawn = (np.cumsum(held, axis=1) > (chance.random(len(held)) * held.sum(1))[:, None]).argmax(1)
        held[np.arange(len(held)), drawn] -= 1
    return held


def _column(deck: Deck, play: Play) -> int | None:
    """Return the column of the valuation that is about a play."""
    if play.card not in deck.number or play.verb not in (Verb.PLAY, Verb.DISCARD):
        return None
    kind = 1 if play.verb is Verb.DISCARD else 2 if play.times > 1 else 0
    return kind * len(deck.cards) + deck.number[play.card]

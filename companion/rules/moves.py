"""A player's plays that the notation can express, legal or not, each in one form.

Targets are sides, not players; exchanges have one card; no card is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator

from companion.rules.cards import Card, Family
from companion.rules.play import Play, Verb
from companion.rules.table import Table


def candidates(table: Table, player: str) -> Iterator[Play]:
    """Yield a player's plays."""
    for verb in (Verb.EXTEND, Verb.FINISH, Verb.TAKE, Verb.SKIP_DRAW, Verb.PASS):
        yield Play(verb, player)
    for card in table.deck:
        yield from laying(table, player, card)
        if card.family in (Family.SAFETY, Family.REMEDY) or card in (Card.MIRROR, Card.U_TURN):
            yield Play(Verb.PLAY, player, card, at_once=True)
        if card.family is Family.REMEDY:
            yield Play(Verb.PLAY, player, card, at_once=True, under=True)
        yield Play(Verb.DISCARD, player, card)
        yield Play(Verb.EXCHANGE, player, cards=(card,))
        yield Play(Verb.PENALTY, player, card)
        # The wanted card may be one of the pair.
        yield from (Play(Verb.PAIR, player, card, wanted=wanted) for wanted in dict.fromkeys((*table.discards, card)))
        yield from _between_players(table, player, card)


def laying(table: Table, player: str, card: Card) -> Iterator[Play]:
    """Yield all ways to play a card in turn."""
    if card.family is Family.HAZARD:
        yield from (Play(Verb.PLAY, player, card, side.name) for side in table.sides)
    elif card is Card.ACCELERATOR:
        for distance in _distances(table):
            yield Play(Verb.PLAY, player, distance, times=2)
    elif card is Card.THEFT:
        for distance in _distances(table):
            for side in table.sides:
                yield Play(Verb.THEFT, player, distance, side.name)
                yield Play(Verb.THEFT, player, distance, side.name, times=2)
    elif card is Card.CONTROL:
        for named in table.deck:
            yield from (Play(Verb.CONTROL, player, named, seat.player) for seat in table.seats)
    else:
        yield Play(Verb.PLAY, player, card)


def _distances(table: Table) -> Iterator[Card]:
    return (card for card in table.deck if card.family is Family.DISTANCE)


def _between_players(table: Table, player: str, card: Card) -> Iterator[Play]:
    """Yield how `card` answers (`give`) or replaces (`name`) the card of each open request."""
    # Two players may have several requests.
    asked = dict.fromkeys(
        (table.seats[asking.by_seat].player, table.seats[asking.of_seat].player) for asking in table.requests
    )
    for by, of in asked:
        if of == player:
            yield Play(Verb.GIVE, player, card, by)
        if by == player:
            yield Play(Verb.NAME, player, card, of)

"""What a player may do with the cards in his hand: the question that the table puts to him, and its legal answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from companion.common.errors import Problem
from companion.robots.information_set import Position
from companion.rules.cards import Card, Family
from companion.rules.legality import can_turn_back, lays_taken, objections
from companion.rules.moves import laying
from companion.rules.play import Play, Verb, discard, lay
from companion.rules.table import How


class Options(NamedTuple):
    """The legal answers to a question."""

    plays: tuple[Play, ...]
    may_wait: bool
    """True if no answer is an answer: nothing has to be done, or not yet."""


def options(position: Position) -> Options:
    """Return what the player may do now. Raises Problem, with a sentence, where nothing is asked of him."""
    table, player = position.table, position.player
    offered = table.extension_offered_to
    if offered == position.own:
        return Options((Play(Verb.EXTEND, player), Play(Verb.FINISH, player)), may_wait=False)
    taken = table.window.taken
    if taken is not None and taken.seat == position.seat:
        lays = _legal(position, (play for play in _in_turn(position) if lays_taken(table, play)))
        may_wait = taken.how is How.STOLEN
        if lays or (may_wait and not position.is_in_turn):
            return Options(lays, may_wait)
    answers = _legal(position, _answers(position))
    in_turn = position.is_in_turn and offered is None
    if in_turn and (position.has_drawn or not (_may_answer(position) or _may_take(position))):
        late = () if len(position.hand) > table.hands[position.seat] else answers
        plays = _without_needless_discards(position, _legal(position, _in_turn(position)))
        if not (plays or late):
            raise Problem(f"{player} holds no card that can be laid or discarded.")
        return Options((*late, *plays), may_wait=False)
    if in_turn:
        take = (Play(Verb.TAKE, player),) if _may_take(position) else ()
        return Options((*answers, *take), may_wait=True)
    if _may_answer(position):
        return Options(answers, may_wait=True)
    if table.is_over:
        raise Problem("The hand is over: `hand first` and a player's name begins the next.")
    turn = table.player_to_move if offered is None else table.sides[offered].name
    raise Problem(f"It is {turn}'s turn, and {player} has nothing to answer.")


def _legal(position: Position, plays: Iterable[Play]) -> tuple[Play, ...]:
    return tuple(dict.fromkeys(play for play in plays if not objections(position.table, play)))


def _may_take(position: Position) -> bool:
    return not objections(position.table, Play(Verb.TAKE, position.player))


def _may_answer(position: Position) -> bool:
    """True if something has just happened that the player could answer, had he the card."""
    table, window = position.table, position.table.window
    if window.laid is not None and table.seats[window.laid.seat].side != position.own:
        return table.ending is None or can_turn_back(table, lay(position.player, Card.U_TURN, at_once=True))
    if window.asked is not None and window.asked.of_seat == position.seat:
        return True
    return any(attack.side == position.own for attack in table.attacks)


def _answers(position: Position) -> Iterator[Play]:
    """Yield what can be laid or handed over at once."""
    for card in dict.fromkeys(position.hand):
        if card.family in (Family.SAFETY, Family.REMEDY) or card in (Card.MIRROR, Card.U_TURN):
            yield lay(position.player, card, at_once=True)
    if position.table.window.asked is not None:
        yield from _gifts(position)


def _gifts(position: Position) -> Iterator[Play]:
    """Yield what others have asked for. What was drawn since the asking waits: the record would take it for held."""
    just_asked = position.table.window.asked if len(position.hand) > position.table.hands[position.seat] else None
    for request in position.table.requests:
        if request is just_asked:
            continue
        if request.of_seat == position.seat and request.card in position.hand:
            asker = position.table.seats[request.by_seat].player
            yield Play(Verb.GIVE, position.player, request.card, asker)


def _in_turn(position: Position) -> Iterator[Play]:
    """Yield every way to use each card of the hand on the own turn."""
    table, player, hand = position.table, position.player, position.hand
    yield from _gifts(position)
    for card in dict.fromkeys(hand):
        for play in laying(table, player, card):
            if card is not Card.ACCELERATOR or play.card in hand:
                yield play
        if hand.count(card) > 1 and table.edition.pair_for_discard == "yes":
            yield from (Play(Verb.PAIR, player, card, wanted=wanted) for wanted in dict.fromkeys(table.discards))
        yield discard(player, card)
    if table.may_pass:
        yield Play(Verb.PASS, player)


def _without_needless_discards(position: Position, plays: tuple[Play, ...]) -> tuple[Play, ...]:
    """Leave discards out where the edition has them for the stuck alone."""
    if position.table.edition.discard != "when-stuck":
        return plays
    if any(play.verb in (Verb.PLAY, Verb.THEFT, Verb.CONTROL) for play in plays):
        return tuple(play for play in plays if play.verb is not Verb.DISCARD)
    return plays

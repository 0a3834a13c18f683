"""Play hands and matches between robots, and check each play."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from players import random_options, random_teams

from companion.robots.information_set import DealtHand, Position, options
from companion.rules import referee
from companion.rules.cards import Card
from companion.rules.editions.edition import load_edition
from companion.rules.hidden_cards import deal
from companion.rules.play import Play
from companion.rules.record.judge import NO_POINTS
from companion.rules.scoring import match_totals, match_winner, score, starts_again
from companion.rules.table import Team

Player = Callable[[Position], Play | None]
TWO = (Team("Ann", ("Ann",)), Team("Bob", ("Bob",)))
PAIRS = (Team("Reds", ("Ann", "Cid")), Team("Blues", ("Bob", "Dee")))
MOST_PLAYS = 1500


class Step(NamedTuple):
    """A question and its answer."""

    hand: DealtHand
    """The hand as the player sees it, after the turn's draw if that came before the question."""

    position: Position
    play: Play | None
    after: DealtHand


def dealt(
    edition: str, seed: object, teams: Sequence[Team] = TWO, first: str | None = None, rules=(), totals=NO_POINTS
) -> DealtHand:
    """Return a hand dealt from a seed."""
    table = referee.new_hand(load_edition(edition).with_options(rules), teams, first or teams[0].players[0])
    pile = [card for card, count in table.deck.items() for _ in range(count)]
    random.Random(f"deal {seed}").shuffle(pile)
    return DealtHand(deal(table, pile, str(seed)), totals)


def any_seating(edition: str, seed: int, most_options: int = 0) -> DealtHand:
    """Return a hand with a random seating of the edition and random house rules."""
    chance, sheet = random.Random(seed), load_edition(edition)
    rules = random_options(sheet, chance, most_options)
    return dealt(edition, seed, random_teams(sheet, chance), rules=rules)


def chance_hand(at: DealtHand, seed: int, most: int) -> Iterator[Step]:
    """Yield the steps of a hand with random players, who choose any of their options."""
    chance = random.Random(seed)

    def player(position: Position) -> Play | None:
        asked = options(position)
        return chance.choice([*asked.plays, *([None] if asked.may_wait else [])])

    return play_hand(at, dict.fromkeys([seat.player for seat in at.deal.table.seats], player), most)


def done(at: DealtHand, player: str, play: Play) -> DealtHand:
    """Return the hand after a player's play."""
    assert not at.deal.objections(play), (play, at.deal.objections(play))
    return at.answered(at.position(at.deal.table.seat_of(player)), play)


def play_hand(at: DealtHand, players: Mapping[str, Player], most: int = MOST_PLAYS) -> Iterator[Step]:
    """Play a hand to its end, or up to `most` questions; plays must be legal and no card may be lost."""
    for _ in range(most):
        position = at.asked()
        if position is None:
            return
        asked_after_draw = at.deal.hands[position.seat] != position.hand
        at = at.drawn() if asked_after_draw else at
        play = players[position.player](position)
        assert play is None or not at.deal.objections(play), (play, at.deal.objections(play))
        after = at.answered(position, play)
        after.deal.checked()
        yield Step(at, position, play, after)
        at = after


def play_match(edition: str, seed: object, players: Mapping[str, Player], watch: Callable[[Step], None], teams=TWO):
    """Play a match; return the winner and each hand's totals. `watch` is called with each step."""
    seats = [seat.player for seat in referee.seating(teams)]
    totals, hands = NO_POINTS, []
    for number in range(60):
        at = dealt(edition, f"{seed} {number}", teams, seats[number % len(seats)], totals=totals)
        for step in play_hand(at, players):
            watch(step)
        table = step.after.deal.table
        assert table.is_over
        sheets = score(table)
        totals = match_totals(table, totals, sheets)
        hands.append([sheet.total for sheet in sheets])
        winner = match_winner(table.edition, totals, table)
        if winner is not None or starts_again(table.edition, totals, winner):
            return winner, hands
    raise AssertionError("this match does not end")


def hidden(at: DealtHand, but: int) -> list[Card]:
    """Return the cards a seat cannot see."""
    return [card for seat, hand in enumerate(at.deal.hands) if seat != but for card in hand] + list(at.deal.pile)

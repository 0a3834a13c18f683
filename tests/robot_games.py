"""Robots at one table: cards are dealt, everybody is asked what the rules ask of him, and each play is judged."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from companion.robots.information_set import NO_TOTALS, Past, Position
from companion.rules import referee
from companion.rules.cards import Card
from companion.rules.editions.edition import load_edition
from companion.rules.legality import laid_from_hand
from companion.rules.play import Play, Verb
from companion.rules.scoring import match_totals, match_winner, score, starts_again
from companion.rules.table import How, Table, Team

Player = Callable[[Position], Play | None]
TWO = (Team("Ann", ("Ann",)), Team("Bob", ("Bob",)))
MOST_PLAYS = 1500


@dataclass
class Deal:
    """A hand with its hidden cards."""

    table: Table
    pile: list[Card]
    hands: list[list[Card]]
    chance: random.Random
    totals: Mapping[str, int] = field(default_factory=lambda: NO_TOTALS)
    past: list[Past] = field(default_factory=list)

    def position(self, seat: int) -> Position:
        player = self.table.seats[seat].player
        return Position(self.table, player, tuple(self.hands[seat]), self.totals, tuple(self.past))

    def draw(self, seat: int, count: int) -> None:
        for _ in range(count):
            if not self.pile and self.table.edition.empty_pile == "reshuffle":
                self.pile = list(self.table.discards)
                self.chance.shuffle(self.pile)
            if self.pile:
                self.hands[seat].append(self.pile.pop())

    def do(self, play: Play) -> None:
        """Apply a play, which must be legal, and move the cards that it moves."""
        before = self.table
        assert not referee.objections(before, play), (play, referee.objections(before, play))
        seat = before.seat_of(str(play.player))
        self._move_cards(before, play, seat)
        self.table = referee.apply(before, play)
        self.past.append(Past(before, play))
        for other, size in enumerate(self.table.hands):
            self.draw(other, size - len(self.hands[other]))
        held = [len(hand) for hand in self.hands]
        assert held == list(self.table.hands), (str(play), held, self.table.hands)
        self._check_cards()

    def _move_cards(self, before: Table, play: Play, seat: int) -> None:
        hand = self.hands[seat]
        gift = play.verb is Verb.GIVE
        for card in (play.card,) if gift else laid_from_hand(play):
            hand.remove(card)
        if gift:
            self.hands[before.seat_of(str(play.target))].append(play.card)
        elif play.verb is Verb.TAKE:
            hand.append(before.discards[-1])
        elif play.verb is Verb.PAIR:
            hand.append(play.wanted)
        elif play.verb is Verb.THEFT:
            victim = before.sides[before.side_index(str(play.target))]
            doubled = play.times > 1 or victim.distances.count(play.card) == victim.doubled.count(play.card)
            hand.extend([play.card, Card.ACCELERATOR] if doubled else [play.card])
        elif play.card is Card.U_TURN and play.at_once:
            self.hands[before.window.laid.seat].append(before.window.laid.card)

    def _check_cards(self) -> None:
        lying = Counter(self.table.discards) + Counter(self.pile)
        for side in self.table.sides:
            for pile in side.piles.values():
                lying.update(pile)
            lying[Card.ACCELERATOR] += len(side.doubled)
        for hand in self.hands:
            lying.update(hand)
        assert +lying == Counter(self.table.deck)


def deal(
    edition: str, seed: object, teams: Sequence[Team] = TWO, first: str | None = None, rules=(), totals=NO_TOTALS
) -> Deal:
    """A hand dealt by a seed."""
    chance = random.Random(f"deal {seed}")
    table = referee.new_hand(load_edition(edition).with_options(rules), teams, first or teams[0].players[0])
    pile = [card for card, count in table.deck.items() for _ in range(count)]
    chance.shuffle(pile)
    hands = [[pile.pop() for _ in range(size)] for size in table.hands]
    return Deal(table, pile, hands, chance, totals)


def play_hand(
    at: Deal, players: Mapping[str, Player], most: int = MOST_PLAYS
) -> Iterator[tuple[Position, Play | None]]:
    """Play a hand to its end, or so many plays; yields each question with its answer."""
    for _ in range(most):
        asked = next((answer for answer in _answers(at, players) if answer[1] is not None or answer[0] is None), None)
        if asked is not None:
            yield asked
            at.do(asked[1])
            continue
        if at.table.is_over:
            return
        yield from _turn(at, players)


def _answers(at: Deal, players: Mapping[str, Player]) -> Iterator[tuple[Position, Play | None]]:
    """Everybody who may act out of turn is asked."""
    table = at.table
    for seat, (player, side) in enumerate((seat.player, seat.side) for seat in table.seats):
        window = table.window
        concerned = (
            (table.extension_offered_to == side and player == table.sides[side].players[0])
            or (window.taken is not None and window.taken.seat == seat and window.taken.how is not How.FETCHED)
            or (window.asked is not None and window.asked.of_seat == seat)
            or (
                window.laid is not None and Card.U_TURN in at.hands[seat] and table.seats[window.laid.seat].side != side
            )
            or any(attack.side == side for attack in table.attacks)
        )
        position = at.position(seat)
        if concerned and not (position.is_in_turn and position.has_drawn and table.extension_offered_to is None):
            yield position, players[player](position)


def _turn(at: Deal, players: Mapping[str, Player]) -> Iterator[tuple[Position, Play | None]]:
    table, seat = at.table, at.table.to_move
    player = players[table.player_to_move]
    if not referee.objections(table, Play(Verb.TAKE, table.player_to_move)):
        position = at.position(seat)
        play = player(position)
        yield position, play
        if play is not None:
            at.do(play)
            return
    at.draw(seat, table.to_draw)
    position = at.position(seat)
    play = player(position)
    assert play is not None, position.player
    yield position, play
    at.do(play)


def play_match(edition: str, seed: object, players: Mapping[str, Player], teams: Sequence[Team] = TWO, starts: int = 0):
    """Play a match; the winner, and the sheets' totals of each hand."""
    seats = [seat.player for seat in referee.seating(teams)]
    totals, hands = NO_TOTALS, []
    for number in range(60):
        at = deal(edition, f"{seed} {number}", teams, seats[(starts + number) % len(seats)], totals=totals)
        for _ in play_hand(at, players):
            pass
        assert at.table.is_over
        sheets = score(at.table)
        totals = match_totals(at.table, totals, sheets)
        hands.append([sheet.total for sheet in sheets])
        winner = match_winner(at.table.edition, totals, at.table)
        if winner is not None or starts_again(at.table.edition, totals, winner):
            return winner, hands
    raise AssertionError("this match does not end")

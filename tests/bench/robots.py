"""Robots against each other: `PYTHONPATH=tests:. python tests/bench/robots.py 2 1 --matches 100`.

Two players, named by their levels or `greedy`, play matches of two; each pair of matches has the same deals, with the
seats changed. Prints the share of matches that the first wins and what he makes more a hand, with 95 % intervals.

Luck decides most matches. Against level 2 a third figure leaves it out: wherever the first plays otherwise than level 2
would, both plays are played out by level 2, with the hands as they are and the same mixed piles. What his plays are
worth by that, summed over a match, is what he wins more than one match of two.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import threading
import time
from collections.abc import Iterable
from copy import copy
from pathlib import Path
from statistics import mean, stdev

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from robot_games import Player, Step, play_match

from companion.robots import search
from companion.robots.deck_numbers import deck_of
from companion.robots.information_set import Position
from companion.robots.lane_start import joined
from companion.robots.lanes import Lanes
from companion.robots.options import options
from companion.robots.playouts import Ends, play_out
from companion.robots.robot import Level, choose
from companion.robots.search import Effort
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import edition_names
from companion.rules.play import Play, Verb

CERTAIN = 1.96
MIXES = 100
"""In how many orders of the draw pile two plays are compared."""

NAMES = ("greedy", *(str(level.value) for level in Level))


def main() -> None:
    """Play, and print who wins."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("one", choices=NAMES)
    parser.add_argument("other", choices=NAMES)
    parser.add_argument("--matches", type=int, default=100, help="how many, half of them with the seats changed")
    parser.add_argument("--edition", default="bsd-mille", choices=edition_names())
    parser.add_argument("--playouts", type=int, default=Effort().playouts, help="of level 3, a move")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    won, ahead, gained, begun = [], [], [], time.process_time()
    for pair in played_together(asked):
        won += [mean(share for share, _, _ in pair)]
        ahead += [mean(lead for _, leads, _ in pair for lead in leads)]
        gained += [0.5 + mean(gain for _, _, gain in pair)]
    took_s = time.process_time() - begun
    print(f"{asked.one} against {asked.other}, {asked.edition}, {2 * len(won)} matches, {took_s:.0f} s of one core")
    print(f"matches won: {interval(won, 100)} %    points more a hand: {interval(ahead, 1)}")
    if asked.other == "2":
        print(f"matches won by what his plays are worth: {interval(gained, 100)} %")


def played_together(asked: argparse.Namespace) -> list[list[tuple[float, list[int], float]]]:
    """Both matches of each deal, all of them at once: their searches are played out in one batch, which is quicker."""
    batch = Batch()
    search.play_out = batch.play_out
    results: dict[tuple[int, int], tuple[float, list[int], float]] = {}

    def play(number: int, seat: int) -> None:
        try:
            results[number, seat] = play_once(asked, f"{asked.seed} {number}", seat)
        finally:
            batch.leave()

    numbers = range(asked.matches // 2)
    threads = [threading.Thread(target=play, args=(number, seat), daemon=True) for number in numbers for seat in (0, 1)]
    batch.players = len(threads)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [[results[number, seat] for seat in (0, 1)] for number in numbers]


class Batch:
    """Searches of several games that wait for each other, so that all their lanes are played out together."""

    def __init__(self) -> None:
        self.players, self._changed = 0, threading.Condition()
        self._asked: list[tuple[Lanes, list[Ends]]] = []

    def play_out(self, lanes: Lanes, rng: np.random.Generator) -> Ends:
        ends: list[Ends] = []
        with self._changed:
            self._asked.append((lanes, ends))
            self._play_when_all_wait(rng)
            self._changed.wait_for(lambda: ends)
        return ends[0]

    def leave(self) -> None:
        with self._changed:
            self.players -= 1
            self._play_when_all_wait(np.random.default_rng(1))

    def _play_when_all_wait(self, rng: np.random.Generator) -> None:
        if not self._asked or len(self._asked) < self.players:
            return
        together = play_out(joined([lanes for lanes, _ in self._asked]), rng)
        at = 0
        for lanes, ends in self._asked:
            ends.append(part(together, slice(at, at + len(lanes))))
            at += len(lanes)
        self._asked = []
        self._changed.notify_all()


def part(ends: Ends, lanes: slice) -> Ends:
    """How some of the lanes ended."""
    some = copy(ends)
    for name in ("totals", "points", "by", "km"):
        setattr(some, name, getattr(ends, name)[lanes])
    return some


def play_once(asked: argparse.Namespace, seed: str, seat: int) -> tuple[float, list[int], float]:
    """The share of a match that the first player wins in a seat, his lead in each hand, what his plays are worth."""
    one, other = (player(name, seed, asked.playouts) for name in (asked.one, asked.other))
    names = ("Ann", "Bob") if seat == 0 else ("Bob", "Ann")
    rng, gains = np.random.default_rng([asked.seed, seat]), []

    def watch(step: Step) -> None:
        if asked.other == "2" and step.position.player == names[0]:
            instead = other(step.position)
            if instead != step.play:
                gains.append(gain(step, instead, rng))

    winner, hands = play_match(asked.edition, seed, dict(zip(names, (one, other), strict=True)), watch)
    share = 0.5 if winner is None else float(winner == names[0])
    return share, [hand[seat] - hand[1 - seat] for hand in hands], sum(gains)


def gain(step: Step, instead: Play | None, rng: np.random.Generator) -> float:
    """How much likelier the match is won by what was played than by another play, with the hands as they are."""
    position, deal = step.position, step.hand.deal
    deck = deck_of(tuple(deal.table.deck))
    hands = np.tile(np.array([deck.counts(hand) for hand in deal.hands]), (MIXES, 1, 1))
    piles = rng.permuted(np.tile(np.array([deck.number[card] for card in deal.pile], np.int8), (MIXES, 1)), axis=1)
    both = [search.Candidate(position, play) for play in (step.play, instead)]
    lanes = joined([search.lanes_after(position, candidate, hands, piles, rng) for candidate in both])
    played, other = np.split(search.play_out(lanes, rng).shares(position.own), 2)
    return float((played - other).mean())


def interval(values: Iterable[float], times: float) -> str:
    """A mean with its 95 % interval."""
    listed = list(values)
    error = CERTAIN * stdev(listed) / math.sqrt(len(listed)) if len(listed) > 1 else math.inf
    return f"{times * mean(listed):.1f} ± {times * error:.1f}"


def player(name: str, seed: str, playouts: int) -> Player:
    """A player by his name."""
    if name == "greedy":
        return greedy
    chance = random.Random(f"player {seed}")
    return lambda position: choose(position, Level(int(name)), chance, Effort(playouts)).play


def greedy(position: Position) -> Play | None:
    """The longest distance, else what helps, else a hazard, else a safety; the card of least km is discarded."""
    order = (Family.SPECIAL, Family.SAFETY, Family.HAZARD, Family.REMEDY, Family.DISTANCE)

    def liking(play: Play) -> tuple[int, int]:
        card = play.card or Card.UNKNOWN
        if play.verb is Verb.PLAY:
            return 2 + play.at_once, order.index(card.family) * 1000 + card.km
        return play.verb is not Verb.DISCARD, -card.km

    asked = options(position)
    return max(asked.plays, key=liking, default=None)


if __name__ == "__main__":
    main()

"""Compare weights of the robots' valuation: `python -m tests.bench.weights first_200=-60 attack=200,remedy=350`.

Each argument changes some weights. Two players without search play the same deals, one of them with the changed
weights, in both seats and with both starters. Prints the gain in points a hand; in a race, in percent of the races.
"""

import argparse
from collections.abc import Sequence
from functools import partial

import numpy as np
from robot_games import TWO

from companion.robots import worlds
from companion.robots.lanes import Lanes, deck_of, lanes_of
from companion.robots.valuation import WEIGHTS, Weights, worths
from companion.rules import referee
from companion.rules.editions.edition import edition_names, load_edition

CERTAIN = 1.96


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("changes", nargs="+", help="NAME=VALUE,NAME=VALUE")
    parser.add_argument("--edition", default="bsd-mille", choices=edition_names())
    parser.add_argument("--deals", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def main() -> None:
    asked = parsed()
    for change in asked.changes:
        pairs = (part.split("=") for part in change.split(","))
        lead = duel(WEIGHTS._replace(**{name: float(value) for name, value in pairs}), asked)
        print(f"{change}: {lead.mean():+.1f} ± {CERTAIN * lead.std() / len(lead) ** 0.5:.1f}")


def duel(changed: Weights, asked: argparse.Namespace) -> np.ndarray:
    """Return the mean gain of the changed weights for each deal, over both seats and both starters."""
    leads = []
    for seat in (0, 1):
        for first in ("Ann", "Bob"):
            rng = np.random.default_rng(asked.seed)
            worlds.worths = partial(worths_with, changed, seat)
            ends = worlds.play_out(dealt(asked.edition, asked.deals, first, rng), rng)
            races = ends.edition.is_race
            leads.append(200 * ends.shares(seat) - 100 if races else ends.points[:, seat] - ends.points[:, 1 - seat])
    return np.mean(leads, axis=0)


def worths_with(changed: Weights, side: int, lanes: Lanes) -> tuple[np.ndarray, np.ndarray]:
    """Return the worth of each play; one side uses the changed weights."""
    worth, victims = worths(lanes, WEIGHTS)
    theirs = lanes.side_of[lanes.move] == side
    if theirs.any():
        worth[theirs], victims[theirs] = worths(lanes.chosen(theirs), changed)
    return worth, victims


def dealt(edition: str, deals: int, first: str, rng: np.random.Generator) -> Lanes:
    """Return new hands of two players, one hand a lane."""
    table = referee.new_hand(load_edition(edition), TWO, first)
    deck = deck_of(tuple(table.deck))
    mixed = rng.permuted(np.tile(np.repeat(np.arange(len(deck.cards)), list(table.deck.values())), (deals, 1)), axis=1)
    hands, at = np.zeros((deals, len(table.seats), len(deck.cards)), np.int8), 0
    for seat, size in enumerate(table.hands):
        for _ in range(size):
            hands[np.arange(deals), seat, mixed[:, at]] += 1
            at += 1
    return lanes_of(table, hands, mixed[:, at:].astype(np.int8))


if __name__ == "__main__":
    main()

"""Level 3: a Monte Carlo search over the information set.

Each world that is dealt is one in which every play under consideration is played out, so that luck is the same for all
and differences show early. What falls behind is left out from one round to the next. The play of most worth is kept
unless another is better by more than chance explains.
"""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from companion.robots.information_set import Position
from companion.robots.lanes import Ints, Lanes, deck_of, joined, lanes_of
from companion.robots.valuation import Points
from companion.robots.worlds import deal, play_out
from companion.rules.apply import apply
from companion.rules.hidden_cards import gained, out_of_hand
from companion.rules.play import Play
from companion.rules.table import Table

_MARGIN_ERRORS = 1.5  # by how many standard errors a play must be better than the one of most worth
_BEHIND_ERRORS = 1.5  # by how many standard errors a play falls behind the best before it is left out
_MOST_ROUNDS = 2
_FIRST_ROUND = 150  # the playouts of a round that are worth its beginning
_LEAST_WORLDS = 8


@dataclass(frozen=True, slots=True)
class Effort:
    """How long a search goes on: a number of playouts, or a time."""

    playouts: int = 3000  # as many at a table of two sides, fewer at a larger one
    seconds: float | None = None  # the time for a move; a search by the clock is not the same twice
    clock: Callable[[], float] = time.monotonic


class Found(NamedTuple):
    """What a search has come to."""

    play: Play | None
    share: float  # how likely the match is won by it
    other: Play | None
    other_share: float
    worlds: int


class Candidate:
    """A play under consideration, and what came of it in each world."""

    def __init__(self, position: Position, play: Play | None) -> None:
        self.play = play
        self.table: Table = apply(position.table, play) if play is not None else position.table
        self.hand = Counter(position.hand)
        if play is not None:
            got = (card for seat, card in gained(position.table, play) if seat == position.seat)
            self.hand = self.hand - Counter(out_of_hand(play)) + Counter(got)
        self.shares: list[Points] = []

    @property
    def all(self) -> Points:
        return np.concatenate(self.shares)


def search(position: Position, plays: Sequence[Play | None], chance: random.Random, effort: Effort) -> Found:
    """Return the best of several plays, of which the first is of most worth."""
    rng = np.random.default_rng(chance.getrandbits(64))
    candidates = all_candidates = [Candidate(position, play) for play in plays]
    # A turn at a larger table takes longer to play out.
    playouts = 2 * effort.playouts // max(2, len(position.table.sides))
    rounds = min(_MOST_ROUNDS, 1 + playouts // _FIRST_ROUND)
    share = playouts // rounds if effort.seconds is None else _FIRST_ROUND
    until = None if effort.seconds is None else effort.clock() + effort.seconds
    for round_number in itertools.count(1):
        begun = effort.clock()
        _try_out(position, candidates, max(_LEAST_WORLDS, share // len(candidates)), rng)
        candidates = _not_behind(candidates)
        if until is None:
            done = round_number == rounds
        else:
            # Each round is twice as long as the one before.
            now, share = effort.clock(), share * 2
            done = now + 2 * (now - begun) > until
        if len(candidates) < 2 or done:
            break
    return _verdict(all_candidates, candidates)


def _try_out(position: Position, candidates: Sequence[Candidate], worlds: int, rng: np.random.Generator) -> None:
    """Play each candidate out in the same new worlds."""
    hands, piles = deal(position, worlds, rng)
    lanes = joined([lanes_after(position, candidate, hands, piles, rng) for candidate in candidates])
    shares = play_out(lanes, rng).shares(position.own)
    for candidate, of_one in zip(candidates, np.split(shares, len(candidates)), strict=True):
        candidate.shares.append(of_one)


def lanes_after(position: Position, candidate: Candidate, hands: Ints, piles: Ints, rng: np.random.Generator) -> Lanes:
    """Return the worlds after a candidate; whoever is attacked by it answers with the safety, if he has it there."""
    table, deck = candidate.table, deck_of(tuple(position.table.deck))
    own = hands.copy()
    own[:, position.seat] = deck.counts(candidate.hand.elements())
    lanes = lanes_of(table, own, piles[:, : table.draw_pile], position.totals)
    if table.attacks and table.attacks[-1].side != position.own:
        attack = table.attacks[-1]
        everywhere = np.ones(len(lanes), bool)
        victim, card = (np.full(len(lanes), number) for number in (attack.side, deck.number[attack.hazard]))
        lanes.answer(everywhere, victim, card, rng)
    return lanes


def _not_behind(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that may still be the best; the first, of most worth, always stays to be compared."""
    best = max(candidates, key=lambda candidate: candidate.all.mean())
    return [
        candidate
        for number, candidate in enumerate(candidates)
        if number == 0 or candidate is best or _ahead(best, candidate) < _BEHIND_ERRORS
    ]


def _ahead(one: Candidate, other: Candidate) -> float:
    """Return by how many standard errors one candidate is ahead of another, world by world."""
    difference = _lead(one, other)
    error = difference.std() / np.sqrt(len(difference))
    return float(difference.mean() / max(error, 1e-9))


def _verdict(everything: Sequence[Candidate], left: Sequence[Candidate]) -> Found:
    default = left[0]
    best = max(left, key=lambda candidate: candidate.all.mean())
    chosen = best if best is default or _ahead(best, default) >= _MARGIN_ERRORS else default
    others = [candidate for candidate in everything if candidate is not chosen]
    # Worlds differ in luck, and what fell behind was not played out in all of them: it is compared in its own.
    second = min(others, key=lambda other: _lead(chosen, other).mean(), default=chosen)
    share, less = float(chosen.all.mean()), float(_lead(chosen, second).mean())
    return Found(chosen.play, share, second.play, share - less, len(chosen.all))


def _lead(one: Candidate, other: Candidate) -> Points:
    """Return by how much one candidate is better in each world in which both were played out."""
    worlds = min(len(one.all), len(other.all))
    return one.all[:worlds] - other.all[:worlds]

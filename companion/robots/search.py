"""Level 3: a Monte Carlo search over the information set.

Candidates are played out in the same dealt worlds, for equal luck. The first, chosen by `valuation.py`, stays until
another leads by more than the noise. Each round drops others that can hardly gain.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from companion.robots.information_set import Position
from companion.robots.lanes import Ints, Lanes, deck_of, joined, lanes_of
from companion.robots.valuation import Points
from companion.robots.worlds import deal, play_out
from companion.rules.apply import apply
from companion.rules.hidden_cards import gained
from companion.rules.play import Play, Verb
from companion.rules.table import Table

_FIRST_ROUND = 1000  # playouts; each later round doubles the total
_FIRST_TIMED_ROUND = 200
_LEAST_WORLDS = 8
_DOUBT = 0.003  # prior: deducted from the share of all but the first
_DOUBT_POINT = 0.00005  # also deducted per point of worth below the first
_DOUBT_WORLDS = 20  # weight of this prior
_LEAST_ERROR = 1e-9
_LEAST_GAIN = 0.0006  # least expected gain for more playouts, in matches
_CLEAR_LEAD = 1.5  # over the first candidate, in standard errors
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Effort:
    """Limit of a search: playouts or time."""

    playouts: int = 4000  # for two sides; fewer with more
    seconds: float | None = None  # replaces `playouts`; not reproducible


class SearchResult(NamedTuple):
    """Best play and runner-up."""

    play: Play | None
    share: float  # likelihood of winning the match
    other: Play | None
    other_share: float
    worlds: int


class Candidate:
    """A play, with its likelihood of winning the match by world."""

    def __init__(self, position: Position, play: Play | None, doubt: float = 0.0) -> None:
        self.play, self.doubt = play, doubt
        self.table: Table = apply(position.table, play) if play is not None else position.table
        self.hand = Counter(position.hand)
        if play is not None:
            got = (card for seat, card in gained(position.table, play) if seat == position.seat)
            self.hand = self.hand - Counter(play.out_of_hand) + Counter(got)
        self.shares: list[Points] = []

    @property
    def all(self) -> Points:
        return np.concatenate(self.shares)


def search(
    position: Position, plays: Sequence[tuple[Play | None, float]], chance: random.Random, effort: Effort
) -> SearchResult:
    """Return the best of `plays`, given with worths, best first."""
    rng = np.random.default_rng(chance.getrandbits(64))
    everything = left = [
        Candidate(position, play, (_DOUBT + _DOUBT_POINT * (plays[0][1] - worth)) * (number > 0))
        for number, (play, worth) in enumerate(plays)
    ]
    most = 2 * effort.playouts // max(2, len(position.table.sides))
    share = min(most, _FIRST_ROUND) if effort.seconds is None else _FIRST_TIMED_ROUND
    begun, played = time.monotonic(), 0
    while share > 0 and len(left) > 1:
        worlds = max(_LEAST_WORLDS, share // len(left))
        _try_out(position, left, worlds, rng)
        played += worlds * len(left)
        choice = _choice(left)
        rivals = [one for one in left if one is not choice and _may_gain(one, choice) > _LEAST_GAIN]
        if not rivals:
            break
        left = [one for one in left if one in (left[0], choice, *rivals)]
        share = min(played, most - played)
        if effort.seconds is not None:
            # The next round takes as long as all before.
            share = played if 2 * (time.monotonic() - begun) < effort.seconds else 0
    return _verdict(everything, choice)


def _try_out(position: Position, candidates: Sequence[Candidate], worlds: int, rng: np.random.Generator) -> None:
    hands, piles = deal(position, worlds, rng)
    lanes = joined([lanes_after(position, candidate, hands, piles, rng) for candidate in candidates])
    shares = play_out(lanes, rng).shares(position.own)
    for candidate, of_one in zip(candidates, np.split(shares, len(candidates)), strict=True):
        candidate.shares.append(of_one)


def lanes_after(position: Position, candidate: Candidate, hands: Ints, piles: Ints, rng: np.random.Generator) -> Lanes:
    """Return the worlds after a candidate and its answers."""
    table, deck = candidate.table, deck_of(tuple(position.table.deck))
    own = hands.copy()
    own[:, position.seat] = deck.counts(candidate.hand.elements())
    lanes = lanes_of(table, own, piles[:, : table.draw_pile], position.totals)
    if table.attacks and table.attacks[-1].side != position.own:
        attack = table.attacks[-1]
        known = (attack.by_seat, attack.side, deck.number[attack.hazard])
        by, victim, card = (np.full(len(lanes), number) for number in known)
        lanes.answer(lanes.rows, by, victim, card, rng, attack.mirrors)
    laid = table.window.laid
    if (
        laid is not None
        and laid.seat == position.seat
        and candidate.play is not None
        and candidate.play.verb is Verb.PLAY
    ):
        driver, card = (np.full(len(lanes), number) for number in (laid.seat, deck.number[laid.card]))
        lanes.turn_back(lanes.rows, driver, card, np.full(len(lanes), laid.times > 1))
    return lanes


def _choice(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the largest clear lead over the first."""
    first = candidates[0]

    def clear_lead(one: Candidate) -> float:
        mean, error = _difference(one, first)
        return mean if mean > _CLEAR_LEAD * error else 0.0

    return max(candidates, key=clear_lead)


def _may_gain(one: Candidate, choice: Candidate) -> float:
    """Return the expected gain from more playouts of a candidate."""
    mean, error = _difference(one, choice)
    return error * _NORMAL.pdf(mean / error) + mean * _NORMAL.cdf(mean / error)


def _difference(one: Candidate, other: Candidate) -> tuple[float, float]:
    """Return the difference's mean and standard error, with prior."""
    worlds, difference = len(one.all) + _DOUBT_WORLDS, one.all - other.all
    mean = (float(difference.sum()) - _DOUBT_WORLDS * (one.doubt - other.doubt)) / worlds
    return mean, max(float(difference.std()) / math.sqrt(worlds), _LEAST_ERROR)


def _verdict(everything: Sequence[Candidate], chosen: Candidate) -> SearchResult:
    others = [candidate for candidate in everything if candidate is not chosen]
    # Compare only worlds in common.
    second = min(others, key=lambda other: _lead(chosen, other).mean(), default=chosen)
    share, less = float(chosen.all.mean()), float(_lead(chosen, second).mean())
    return SearchResult(chosen.play, share, second.play, share - less, len(chosen.all))


def _lead(one: Candidate, other: Candidate) -> Points:
    """Return the difference in each common world."""
    worlds = min(len(one.all), len(other.all))
    return one.all[:worlds] - other.all[:worlds]

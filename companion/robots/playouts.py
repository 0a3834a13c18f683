"""Worlds played out to the hand's end: all seats by the valuation, and what comes of it for each side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from companion.robots.deck_numbers import Flags, Ints
from companion.robots.lanes import COMPLETED, OPEN, Lanes
from companion.robots.valuation import WEIGHTS, Points, Weights, worths
from companion.rules.cards import Family
from companion.rules.editions.edition import Edition
from companion.rules.table import COUP_FOURRE_KM, SAFETY_KM

_MOST_TURNS = 130
"""More turns than a hand has."""

_MOST_TURNS_OF_RACE = 60
"""The turns after which a race is judged by the lead where the discards are reshuffled, and nothing else may end it."""

_HAND_SPREAD = 1150.0
"""Spread of the difference that one hand of two players makes, in points."""

_RACE_SPREAD_KM = 1000.0
"""The lead, in km, that decides a race for sure."""

_HAND_POINTS = 1130.0
"""What a side makes in a hand, on the average."""


def play_out(lanes: Lanes, chance: np.random.Generator, weights: Sequence[Weights] = (WEIGHTS,)) -> Ends:
    """Play every lane to its end. `weights` are those of each side, or of all; the lanes are used up."""
    ends = Ends(lanes)
    for _ in range(_MOST_TURNS_OF_RACE if lanes.reshuffles else _MOST_TURNS):
        done = lanes.over != OPEN
        if done.any():
            extends = done & wants_extension(lanes)
            lanes.extend(extends)
            done &= ~extends
            ends.note(lanes, done)
            lanes = lanes.chosen(~done)
        if not len(lanes):
            break
        take_turns(lanes, chance, weights)
    ends.note(lanes, np.ones(len(lanes), bool))
    return ends


def take_turns(lanes: Lanes, chance: np.random.Generator, weights: Sequence[Weights] = (WEIGHTS,)) -> None:
    """Play one turn in every lane, none of which is over."""
    lanes.draw_for_turn(chance)
    worth, victims = worths(lanes, weights[0])
    for side, others in enumerate(weights[1:], start=1):
        theirs = lanes.side_of[lanes.move] == side
        if theirs.any():
            worth[theirs], victims[theirs] = worths(lanes.chosen(theirs), others)
    column = worth.argmax(1)
    lanes.play(column, victims[lanes.rows, column % len(lanes.deck.cards)], chance)


def wants_extension(lanes: Lanes) -> Flags:
    """Return where the completer calls the extension: where that makes more points on average, and wins no match less.

    At stake is what the trip scores if it ends now; for it speak the cards to draw and to play, and who is held up.
    """
    may = (lanes.over == COMPLETED) & lanes.may_extend
    if not may.any():
        return may
    w, deck, side = WEIGHTS, lanes.deck, np.arange(lanes.sides)
    is_other, made = side != lanes.by[:, None], points(lanes)
    hand = (lanes.hands * (lanes.side_of == lanes.by[:, None])[..., None]).sum(1)
    gain = w.extend + w.extend_draw * lanes.left() / lanes.seats
    gain += w.extend_stake * (made - _own_points(lanes))[lanes.rows, lanes.by]
    gain += w.extend_km * hand @ deck.km + w.extend_hazard * hand[:, deck.is_of(Family.HAZARD)].sum(1)
    held, safe = lanes.stopped.astype(int) + lanes.limit, lanes.safe.sum(2)
    gain += w.extend_held * np.where(is_other, held, 2).min(1)
    gain += w.extend_safety * (safe[lanes.rows, lanes.by] - np.where(is_other, safe, 0).max(1))
    worth_it = gain > 0
    most = lanes.edition.match_points
    if most is not None:
        after = made + lanes.totals
        own = after[lanes.rows, lanes.by]
        worth_it &= (own < most) | (own < after.max(1))
    return may & worth_it


def _own_points(lanes: Lanes) -> Ints:
    """Return what each side scores for its own cards, however the hand ends."""
    score = lanes.edition.points
    safety, coup = score.safety, score.coup_fourre
    if lanes.race_counts:
        safety, coup = safety or SAFETY_KM, coup or COUP_FOURRE_KM
    return lanes.km + safety * lanes.safe.sum(2) + coup * lanes.coups + score.all_safeties * lanes.safe.all(2)


def points(lanes: Lanes) -> Ints:
    """Return the hand's score by lane and side, as `rules/scoring.py` counts it."""
    score, edition, made = lanes.edition.points, lanes.edition, _own_points(lanes)
    by = lanes.over == COMPLETED
    lane, side = np.flatnonzero(by), lanes.by[by]
    bonus = score.trip_completed + score.delayed_action * (lanes.left()[by] == 0)
    bonus = bonus + score.safe_trip * (lanes.twos[lane, side] == 0)
    stayed = (~lanes.moved[lane]).sum(1)
    bonus += score.shut_out * (stayed if edition.shut_out == "per-side" else stayed == lanes.sides - 1)
    made[lane, side] += bonus
    called = np.flatnonzero(lanes.called >= 0)
    caller, completer = lanes.called[called], lanes.by[called]
    if edition.extension_bonus == "caller-or-opponents":
        for other in range(lanes.sides):
            gets = np.where(completer == caller, other == caller, other != caller)
            made[called, other] += score.extension * gets
    else:
        ended = completer >= 0
        made[called[ended], completer[ended]] += score.extension
    return np.asarray(made)


class Ends:
    """How lanes ended, by the number that each had in the beginning."""

    def __init__(self, lanes: Lanes) -> None:
        self.edition: Edition = lanes.edition
        self.totals = lanes.totals
        self.points = np.zeros((len(lanes), lanes.sides), np.int64)
        self.by = np.full(len(lanes), -1)
        self.km = np.zeros((len(lanes), lanes.sides), np.int64)

    def note(self, lanes: Lanes, done: Flags) -> None:
        """Write down the lanes that are over."""
        if not done.any():
            return
        over = lanes.chosen(done)
        self.points[over.origin], self.by[over.origin] = points(over), over.by
        self.km[over.origin] = np.stack([over.race_km(side) for side in range(over.sides)], axis=1)

    def shares(self, own: int) -> Points:
        """Return for each lane how likely a side is to win the match (or has won the race) after such a hand."""
        if self.edition.match_points is None:
            lead = self.km[:, own] - np.delete(self.km, own, axis=1).max(1)
            lead = lead / _RACE_SPREAD_KM if self.edition.empty_pile == "reshuffle" else np.sign(lead)
            return np.where(self.by >= 0, self.by == own, 0.5 + 0.5 * np.clip(lead, -1, 1))
        return match_share(self.points + self.totals, own, self.edition.match_points)


def match_share(after: Ints, own: int, goal: int) -> Points:
    """Return how likely a side is to win the match with those totals, by lane and side."""
    best = np.delete(after, own, axis=1).max(1)
    lead = after[:, own] - best
    to_go = np.maximum(goal - after.max(1), 0) / _HAND_POINTS
    share = 1 / (1 + np.exp(-1.702 * lead / (_HAND_SPREAD * np.sqrt(np.maximum(to_go, 0.3)))))
    return np.where(after.max(1) >= goal, 0.5 + 0.5 * np.sign(lead), share)

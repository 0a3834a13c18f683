"""Worths of plays for the player to move, in points, by rules of thumb and unseen cards.

Level 2 makes the best play, and so do all seats in level 3's simulations.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from companion.robots.lanes import Flags, Ints, Lanes
from companion.rules.cards import Family
from companion.rules.legality import SLOW_KM
from companion.rules.table import SAFETY_KM

Points = npt.NDArray[np.floating[Any]]
NEVER = -1e6
STUCK_ALONE = NEVER / 2  # deducted from a discard with `discard=when-stuck`


class Weights(NamedTuple):
    """Worths in points of the classic game, tuned in bsd-mille hands between two sets of weights.

    `save_*` is for playing a safety; `keep_*` is the cost of a discard.
    """

    complete: float = 1000.0
    save_first: float = 2000.0  # shortly before the hand ends
    save_spent: float = 500.0  # all its hazards have been seen
    save_stuck: float = 280.0  # for a missing remedy
    save_limited: float = 137.0
    save_held: float = -140.0  # kept for its coup fourré
    save_pointless: float = 20.0  # the same if that scores nothing
    remedy: float = 300.0
    roll: float = 160.0  # below `limit`: first slow the opponent
    end_of_limit: float = 208.0
    attack: float = 330.0
    attack_in_crowd: float = 10.0  # with reshuffling and over two sides
    attack_progress: float = 60.0
    attack_remedy: float = -1.0  # per unseen copy of its remedy
    attack_known: float = 30.0  # its safety was seen
    attack_stopped: float = -100.0
    limit: float = 170.0
    limit_late: float = -60.0  # if the side needs at most 100 km
    drive: float = 60.0
    drive_km: float = 0.25
    first_200: float = -15.0  # if the match goes on
    misfit: float = -90.0  # within 100 km of the target without a card for the rest
    misfit_25: float = -110.0  # the same at any distance for a rest of 25 km
    useless: float = -15.0
    near_km: int = 200  # an opponent's rest that makes safeties urgent
    last_draws: float = 2.0  # draws left per seat that do so
    accelerator: float = 20.0
    keep_km: Mapping[int, float] = MappingProxyType({25: 10.0, 50: 16.0, 75: 20.0, 100: 34.0, 200: 40.0, 300: 40.0})

    keep_second: float = 0.6
    keep_exact: float = 50.0
    keep_hazard: float = 32.0
    keep_limit: float = 22.0
    keep_remedy: float = 45.0
    keep_copy: float = 8.0  # a further copy of a remedy
    keep_roll: tuple[float, ...] = (0.0, 88.0, 20.0, 8.0)  # by number of Rolls in hand
    keep_needed: float = 90.0
    keep_safety: float = 300.0
    keep_special: float = 35.0
    extend: float = -695.0  # base value of calling it
    extend_stake: float = -0.47  # per point that the completed trip scores now
    extend_draw: float = 18.0  # per draw left for a seat
    extend_km: float = 1.75  # per km in the completer's hands
    extend_hazard: float = 111.0  # per hazard there
    extend_held: float = 270.0  # per hazard or limit on every opponent
    extend_safety: float = 96.0  # per safety above the best opponent's


_LEAST_KM = 25
_TWO_HUNDRED_KM = 200
_ONE_CARD_KM = 100  # many cards can drive this far
WEIGHTS = Weights()


class Movers:
    """Players to move after the draw, and their playable cards, by card and lane."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes, self.deck, self.edition = lanes, lanes.deck, lanes.edition
        own = self.own = lanes.side_of[lanes.move]
        self.top, self.stopped = lanes.of(lanes.tops, own), lanes.of(lanes.stopped, own)
        self.limited, self.safe = lanes.of(lanes.limit, own), lanes.of(lanes.safe, own).T
        self.twos = lanes.of(lanes.twos, own)
        self.rest = lanes.target - lanes.race_km(own)
        self.km = self.deck.km[self.deck.distances][:, None]
        self.right_of_way = self.safe[self.deck.right_of_way]
        self.held_up = self.stopped & (self.top == self.deck.hazards.cards[:, None] + 1)  # by hazard and lane
        self.under_hazard = self.deck.answers[self.top] >= 0
        self.driving = self._driving()
        self.may_begin = lanes.of(lanes.begun, own) | (self.edition.first_card == "any")

    def _driving(self) -> Flags:
        edition, top = self.edition, self.top
        rolls = (top == self.deck.roll + 1) | self.right_of_way
        if edition.roll_after_late_safety == "not-needed":
            rolls |= self.under_hazard
        if edition.roll_to_start == "not-needed":
            rolls |= top == 0
        if edition.roll_after_remedy == "not-needed":
            rolls |= (top > 0) & ~self.under_hazard
        return np.asarray(rolls & ~self.stopped)

    def may_drive(self, times: int = 1) -> Flags:
        edition, km = self.edition, self.km * times
        too_fast = (km if edition.limit_on_doubled == "doubled" else self.km) > SLOW_KM
        may = self.driving & self.may_begin & ~(too_fast & self.limited)
        if edition.overshoot == "forbidden":
            may &= km <= self.rest
        most = edition.two_hundreds_max
        if most is not None:
            may[self.km[:, 0] == _TWO_HUNDRED_KM] &= self.twos < most
        return may

    def may_remedy(self) -> Flags:
        deck, edition, top = self.deck, self.edition, self.top
        free = ~self.stopped & (top != deck.roll + 1)
        if edition.roll_with_right_of_way == "forbidden":
            free &= ~self.right_of_way
        if edition.roll_on_remedy == "forbidden":
            free &= np.where(top == 0, edition.roll_to_start == "needed", self.under_hazard)
        may = self.held_up & self.may_begin
        stop = deck.hazards.cards == deck.stop
        may[stop] = self.held_up[stop] | free
        may[deck.hazards.cards == deck.limit] = self.limited & self.may_begin
        return may

    def may_save(self) -> Flags:
        may = np.tile(self.may_begin, (len(self.deck.safeties), 1))
        may[self.deck.right_of_way] = True
        if self.lanes.race_counts and self.edition.overshoot == "forbidden":
            may &= self.rest >= SAFETY_KM
        return may

    def may_stop(self, victim: Ints) -> Flags:
        """Flag lanes where a hazard could stop another side, safeties aside."""
        edition, lanes = self.edition, self.lanes
        top, right_of_way = lanes.of(lanes.tops, victim), lanes.of(lanes.safe, victim)[:, self.deck.right_of_way]

        def by(switch: str) -> Any:
            return right_of_way if switch == "with-right-of-way" else switch == "allowed"

        free = np.where(top == 0, by(edition.hazard_on_empty_pile), by(edition.hazard_on_remedy))
        free |= top == self.deck.roll + 1
        may = np.where(lanes.of(lanes.stopped, victim), edition.hazard_on_hazard == "allowed", free)
        return may & self.may_begin

    def may_limit(self, victim: Ints) -> Flags:
        return self.may_begin & ~self.lanes.of(self.lanes.limit, victim)


def worths(lanes: Lanes, weights: Weights = WEIGHTS) -> tuple[Points, Ints]:
    """Return by lane each `Lanes.play` column's worth, and each card's best target side."""
    return Valuation(lanes, weights).worths()


class Valuation(Movers):
    """Worths of the movers' cards."""

    def __init__(self, lanes: Lanes, weights: Weights) -> None:
        super().__init__(lanes)
        self.w = weights
        # By card and lane, so that operations read memory in order.
        self.hand = np.ascontiguousarray(lanes.of(lanes.hands, lanes.move).T)
        self.holds = self.hand > 0
        self.unseen = np.ascontiguousarray((lanes.total - lanes.public).T) - self.hand
        cards = len(self.deck.cards)
        self.all = np.full((cards * (2 if self.deck.accelerator < 0 else 3), len(lanes)), NEVER, np.float32)
        self.lay, self.discard, self.doubled = (self.all[at : at + cards] for at in (0, cards, 2 * cards))
        self.victim = np.zeros(self.lay.shape, np.int8)

    def worths(self) -> tuple[Points, Ints]:
        self.discard[self.deck.of[Family.SPECIAL]] = -self.w.keep_special
        self._distances()
        self._attacks()
        self._remedies()
        self._safeties()
        lacks = ~self.holds * np.float32(2 * NEVER)
        self.lay += lacks
        self.discard += lacks
        if self.edition.discard == "when-stuck":
            self.discard[:, self.lay.max(0) > NEVER] += STUCK_ALONE
        if self.deck.accelerator >= 0:
            self._doubled()
        return self.all.T, self.victim.T

    # Driving

    def _distances(self) -> None:
        deck, w, lanes, km = self.deck, self.w, self.lanes, self.km
        may, held, left = self.may_drive(), self.hand[deck.distances], self.rest - km
        drive = (w.drive + w.drive_km * km).astype(np.float32)
        worth = np.where(left <= 0, drive + w.complete, drive)
        keep = np.array([w.keep_km[one] for one in km[:, 0].tolist()], np.float32)[:, None]
        keep = np.where(held > 1, keep * w.keep_second, keep)
        near = np.flatnonzero(self.rest <= km.max() + _LEAST_KM)
        if not lanes.overshoots and len(near):
            after, several = left[:, near], np.eye(len(km), dtype=np.int8)[..., None]
            fits = ((after[:, None] == km) & (held[:, near] > several)).any(1)
            misfit = np.where(after == _LEAST_KM, w.misfit_25, w.misfit * (self.rest[near] <= _ONE_CARD_KM))
            worth[:, near] += misfit * ((after > 0) & ~fits)
            keep[:, near] = np.select([after == 0, after < 0], [w.keep_exact, 0.0], keep[:, near])
        two_hundred = km[:, 0] == _TWO_HUNDRED_KM
        if self.edition.two_hundreds_max is not None:
            keep[two_hundred] *= self.twos < self.edition.two_hundreds_max
        if self.edition.points.safe_trip:
            # A safe trip matters if the match goes on.
            after = np.maximum.reduce(lanes.totals.T) + lanes.target + self.edition.points.trip_completed
            goes_on = after < (self.edition.match_points or 0)
            worth[two_hundred] += w.first_200 * (goes_on & (self.twos == 0))
        self.lay[deck.distances] = np.where(may, worth, NEVER)
        self.discard[deck.distances] = -keep
        may &= held > 0
        self.can_drive_km = (km * may).max(0)
        self.completes = (may & (left <= 0)).any(0)

    def _doubled(self) -> None:
        deck, w, km = self.deck, self.w, self.km
        worth = w.drive + w.drive_km * 2 * km - w.accelerator + w.complete * (self.rest <= 2 * km)
        # One that arrives by itself needs no accelerator.
        may = self.may_drive(times=2) & (self.rest > km) & self.holds[deck.distances] & self.holds[deck.accelerator]
        self.doubled[deck.distances] = np.where(may, worth, NEVER)

    # Attacking

    def _attacks(self) -> None:
        deck, w, lanes = self.deck, self.w, self.lanes
        cards, remedies, safeties = deck.hazards
        limits = (cards == deck.limit)[:, None]
        answers = w.attack_known * (self.unseen[deck.safeties] == 0)[safeties] + w.attack_remedy * self.unseen[remedies]
        attack = w.attack_in_crowd if lanes.reshuffles and lanes.sides > 2 else w.attack
        best = np.full(answers.shape, NEVER, np.float32)
        victims, alive = np.zeros(best.shape, np.int8), np.zeros(best.shape, bool)
        for further in range(1, lanes.sides):
            victim = (self.own + further) % lanes.sides
            rest = lanes.target - lanes.race_km(victim)
            bare = ~lanes.of(lanes.safe, victim).T[safeties]
            alive |= bare
            worth = answers + w.attack_progress * (1 - rest / lanes.target)
            worth += np.where(limits, w.limit + w.limit_late * (rest <= 2 * SLOW_KM), attack)
            worth = np.where(lanes.of(lanes.stopped, victim) & ~limits, w.attack_stopped, worth)
            better = np.where(limits, self.may_limit(victim), self.may_stop(victim)) & bare & (worth > best)
            best, victims = np.where(better, worth, best), np.where(better, victim, victims)
        self.lay[cards], self.victim[cards] = best, victims
        self.discard[cards] = np.where(limits, -w.keep_limit, -w.keep_hazard) * alive

    # Remedies

    def _remedies(self) -> None:
        deck, w = self.deck, self.w
        cards, remedies, safeties = deck.hazards
        stop, limit = cards == deck.stop, cards == deck.limit
        may, count = self.may_remedy(), self.hand[remedies]
        needed = may & ~(stop[:, None] & self.driving)
        to_come = self.unseen[cards] + needed
        keep = np.where(count == 1, w.keep_remedy, w.keep_copy) * np.minimum(to_come, 2) / 2
        keep[stop] = np.asarray(w.keep_roll)[np.minimum(count[stop], len(w.keep_roll) - 1)]
        worth = np.where(limit, w.end_of_limit, np.where(stop, w.roll, w.remedy))[:, None]
        self.lay[remedies] = np.where(needed, worth, np.where(may, w.useless, NEVER))
        if self.edition.hazard_on_empty_pile == "forbidden":
            # Roll would expose the car to attacks.
            self.lay[deck.roll, self.right_of_way & (self.top == 0)] = NEVER
        keep = np.where(self.holds[deck.safeties][safeties], keep / 3, keep) * ~self.safe[safeties]
        if self.lanes.reshuffles:
            # With all cars stopped, remedies must circulate.
            keep[:, self.lanes.stopped.all(1)] /= 10
        self.discard[remedies] = -np.where(needed & (count == 1), w.keep_needed, keep)

    # Safeties

    def _safeties(self) -> None:
        deck, w, lanes = self.deck, self.w, self.lanes
        pays = self.edition.points.coup_fourre or lanes.race_counts
        worth = np.full((len(deck.safeties), len(lanes)), w.save_held if pays else w.save_pointless, np.float32)
        to_come, stuck = np.zeros(worth.shape, np.int16), np.zeros(worth.shape, bool)
        helpless = self.held_up & ~self.holds[deck.hazards.remedies]
        for number, (card, _, safety) in enumerate(zip(*deck.hazards, strict=True)):
            to_come[safety] += self.unseen[card]
            stuck[safety] |= helpless[number]
        way = deck.right_of_way
        stuck[way] |= ~self.driving & ~self.stopped & ~self.holds[deck.roll]
        worth[way, self.limited & ~self.holds[deck.end_of_limit] & (self.can_drive_km == 0)] = w.save_limited
        worth = np.where(to_come == 0, w.save_spent, np.where(stuck, w.save_stuck, worth))
        worth = np.where(self._ends_soon(), w.save_first, worth)
        self.lay[deck.safeties] = np.where(self.may_save(), worth, NEVER)
        if self.edition.discard_safety == "allowed":
            self.discard[deck.safeties] = -w.keep_safety

    def _ends_soon(self) -> Flags:
        """Flag lanes where this turn completes, an opponent is near, or few cards are left."""
        w, lanes = self.w, self.lanes
        soon = self.completes.copy()
        if not lanes.reshuffles:
            soon |= lanes.left() <= w.last_draws * lanes.seats
        for further in range(1, lanes.sides):
            other = (self.own + further) % lanes.sides
            soon |= (lanes.target - lanes.race_km(other) <= w.near_km) & ~lanes.of(lanes.stopped, other)
        if lanes.race_counts:
            # A distance card may follow a safety.
            soon |= SAFETY_KM * self.holds[self.deck.safeties].sum(0) + self.can_drive_km >= self.rest
        return soon

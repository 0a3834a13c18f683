"""What each play is worth to the player to move, in points, by rules of thumb and the cards that he has not seen.

Level 2 plays the best of them; so do all seats in the worlds that level 3 plays out.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from companion.robots.lanes import Flags, Hazard, Ints, Lanes
from companion.rules.cards import Family
from companion.rules.legality import SLOW_KM
from companion.rules.table import SAFETY_KM

Points = npt.NDArray[np.floating[Any]]
NEVER = -1e6


class Weights(NamedTuple):
    """Worths in points of the classic game, tuned by hands of bsd-mille that two of them played against each other."""

    complete: float = 1000.0
    save_first: float = 2000.0  # a safety before the card that ends the hand, or before somebody else ends it
    save_spent: float = 500.0  # a safety whose hazards have all been seen
    save_stuck: float = 280.0  # a safety that sets the car going where no remedy is in the hand
    save_limited: float = 137.0
    save_held: float = -140.0  # a safety kept for its coup fourré
    save_pointless: float = 20.0  # a safety kept for a coup fourré that scores nothing, as in a race by distance alone
    remedy: float = 300.0
    roll: float = 160.0  # less than a limit: before anybody drives, to slow the other down comes first
    end_of_limit: float = 208.0
    attack: float = 330.0
    attack_in_crowd: float = 10.0  # the same in an endless race of many: it helps the others as well
    attack_progress: float = 60.0
    attack_remedy: float = -1.0  # for each remedy that the attacked may hold or draw
    attack_known: float = 30.0  # the safety cannot answer it
    attack_stopped: float = -100.0
    limit: float = 170.0
    limit_late: float = -60.0  # a limit on who needs no more than 100 km
    drive: float = 60.0
    drive_km: float = 0.25
    first_200: float = -15.0  # the first 200 of what might be a safe trip, where the match goes on after it
    misfit: float = -90.0  # what is left afterwards is no card of the hand, where one card might have driven it all
    misfit_25: float = -110.0  # the same where only a 25 drives what is left, however far it was
    useless: float = -15.0
    near_km: int = 200  # how near to the target another side may be before safeties are laid
    last_draws: float = 2.0  # how many draws a seat the pile holds when safeties are laid
    accelerator: float = 20.0
    keep_km: Mapping[int, float] = MappingProxyType({25: 10.0, 50: 16.0, 75: 20.0, 100: 34.0, 200: 40.0, 300: 40.0})

    keep_second: float = 0.6
    keep_exact: float = 50.0
    keep_hazard: float = 32.0
    keep_limit: float = 22.0
    keep_remedy: float = 45.0
    keep_copy: float = 8.0  # a remedy more than the first
    keep_roll: tuple[float, ...] = (0.0, 88.0, 20.0, 8.0)  # a roll that is the only one, the second, one more
    keep_needed: float = 90.0
    keep_safety: float = 300.0
    keep_special: float = 35.0
    extend: float = -695.0  # an extension as such, of which the following speak for or against
    extend_stake: float = -0.47  # for each point that the trip scores if it ends now
    extend_draw: float = 18.0  # for each draw a seat that is left
    extend_km: float = 1.75  # for each kilometre in the completer's hand
    extend_hazard: float = 111.0  # for each hazard there
    extend_held: float = 270.0  # for each hazard or limit that holds everybody else
    extend_safety: float = 96.0  # for each safety that lies before him, and against each before the one with most


_ONE_CARD_KM = 100  # the distances up to which there are many cards that drive them at once
WEIGHTS = Weights()  # the worths that win most


class Movers:
    """The players to move: what lies before them, and which cards they could lay. The turn's draw is done."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes, self.deck, self.edition = lanes, lanes.deck, lanes.edition
        rows = self.rows = lanes.rows
        self.own = lanes.side_of[lanes.move]
        self.top, self.stopped = lanes.tops[rows, self.own], lanes.stopped[rows, self.own]
        self.limited, self.safe = lanes.limit[rows, self.own], lanes.safe[rows, self.own]
        self.rest = lanes.target - lanes.race_km(self.own)
        self.right_of_way = self.safe[:, self.deck.right_of_way]
        self.under_hazard = self.deck.answers[self.top] >= 0
        self.driving = self._driving()
        self.may_begin = lanes.begun[rows, self.own] | (self.edition.first_card == "any")

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

    def may_drive(self, card: int, times: int = 1) -> Flags:
        """Return where a distance card could be laid."""
        km, edition = int(self.deck.km[card]), self.edition
        may = self.driving & self.may_begin
        if km > SLOW_KM or (km * times > SLOW_KM and edition.limit_on_doubled == "doubled"):
            may &= ~self.limited
        if edition.overshoot == "forbidden":
            may &= km * times <= self.rest
        most = edition.two_hundreds_max
        if card == self.deck.two_hundred and most is not None:
            may &= self.lanes.twos[self.rows, self.own] < most
        return may

    def may_remedy(self, hazard: Hazard) -> Flags:
        """Return where the remedy of a hazard could be laid."""
        deck, edition, top = self.deck, self.edition, self.top
        if hazard.card == deck.limit:
            return self.limited & self.may_begin
        on_it = self.stopped & (top == hazard.card + 1)
        if hazard.card != deck.stop:
            return on_it & self.may_begin
        free = ~self.stopped & (top != deck.roll + 1)
        if edition.roll_with_right_of_way == "forbidden":
            free &= ~self.right_of_way
        if edition.roll_on_remedy == "forbidden":
            free &= np.where(top == 0, edition.roll_to_start == "needed", self.under_hazard)
        return np.asarray(on_it | free)

    def may_save(self, safety: int) -> Flags:
        """Return where a safety could be laid; it is numbered among the safeties."""
        may = self.may_begin | (safety == self.deck.right_of_way)
        if self.lanes.race_counts and self.edition.overshoot == "forbidden":
            may = may & (self.rest >= SAFETY_KM)
        return may

    def may_stop(self, victim: int) -> Flags:
        """Return where the car of a side could be stopped by a hazard that no safety of its keeps off."""
        edition, lanes = self.edition, self.lanes
        top, right_of_way = lanes.tops[:, victim], lanes.safe[:, victim, self.deck.right_of_way]

        def by(switch: str) -> Any:
            return right_of_way if switch == "with-right-of-way" else switch == "allowed"

        free = np.where(top == 0, by(edition.hazard_on_empty_pile), by(edition.hazard_on_remedy))
        free |= top == self.deck.roll + 1
        may = np.where(lanes.stopped[:, victim], edition.hazard_on_hazard == "allowed", free)
        return may & (self.own != victim) & self.may_begin

    def may_limit(self, victim: int) -> Flags:
        """Return where the car of a side could be slowed down."""
        return (self.own != victim) & self.may_begin & ~self.lanes.limit[:, victim]


def worths(lanes: Lanes, weights: Weights = WEIGHTS) -> tuple[Points, Ints]:
    """Return the worth of each column of `Lanes.play`, and for each card the side that it is best laid before.

    Columns are the cards laid, the cards discarded, and the distance cards laid with an accelerator.
    """
    return Valuation(lanes, weights).worths()


class Valuation(Movers):
    """The players to move, and what follows for each card of theirs from what they have seen."""

    def __init__(self, lanes: Lanes, weights: Weights) -> None:
        super().__init__(lanes)
        self.w = weights
        # By card and lane, as the worths below: what is done card by card runs through memory in order.
        self.hand = np.ascontiguousarray(lanes.hands[self.rows, lanes.move].T)
        self.holds = self.hand > 0
        self.unseen = (lanes.total - lanes.public).T - self.hand
        cards = len(self.deck.cards)
        self.all = np.full((cards * (2 if self.deck.accelerator < 0 else 3), len(lanes)), NEVER, np.float32)
        self.lay, self.discard, self.doubled = (self.all[at : at + cards] for at in (0, cards, 2 * cards))
        self.victim = np.zeros(self.lay.shape, np.int8)

    def worths(self) -> tuple[Points, Ints]:
        deck = self.deck
        self.discard[deck.of[Family.SPECIAL]] = -self.w.keep_special
        self._distances()
        self._attacks()
        for hazard in deck.hazards:
            self._remedy(hazard)
        self._safeties()
        lacks = ~self.holds
        np.copyto(self.lay, NEVER, where=lacks)
        np.copyto(self.discard, NEVER, where=lacks)
        if self.edition.discard == "when-stuck":
            self.discard[:, self.lay.max(0) > NEVER] += NEVER / 2
        if deck.accelerator >= 0:
            self.doubled[~(self.holds & self.holds[deck.accelerator])] = NEVER
        return self.all.T, self.victim.T

    # Driving

    def _distances(self) -> None:
        deck, w, lanes = self.deck, self.w, self.lanes
        self.completes, self.can_drive_km = np.zeros(len(lanes), bool), np.zeros(len(lanes), np.int16)
        distances, held_km = np.array(deck.distances), deck.km[deck.distances][:, None]
        for card in deck.distances:
            km = int(deck.km[card])
            may = self.may_drive(card)
            left = self.rest - km
            worth = w.drive + w.drive_km * km + w.complete * (left <= 0)
            if not lanes.overshoots:
                others = self.hand[distances] > (distances == card)[:, None]
                misfits = (left > 0) & ~(others & (held_km == left)).any(0)
                worth += misfits * np.where(left == 25, w.misfit_25, w.misfit * (self.rest <= _ONE_CARD_KM))
            if card == deck.two_hundred and self.edition.points.safe_trip:
                # Where the match goes on after this trip, a safe one is worth some kilometres.
                after = lanes.totals.max(1) + lanes.target + self.edition.points.trip_completed
                goes_on = after < (self.edition.match_points or 0)
                worth += w.first_200 * (goes_on & (lanes.twos[self.rows, self.own] == 0))
            self.lay[card] = np.where(may, worth, NEVER)
            held = may & self.holds[card]
            self.can_drive_km = np.maximum(self.can_drive_km, km * held)
            self.completes |= held & (left <= 0)
            self._keep_distance(card, km, left)
            if deck.accelerator >= 0:
                self._doubled(card, km)

    def _keep_distance(self, card: int, km: int, left: Ints) -> None:
        w, most = self.w, self.edition.two_hundreds_max
        value = w.keep_km[km] * np.where(self.hand[card] > 1, w.keep_second, 1.0)
        if not self.lanes.overshoots:
            value[left == 0] = w.keep_exact
            value[left < 0] = 0.0
        if card == self.deck.two_hundred and most is not None:
            value[self.lanes.twos[self.rows, self.own] >= most] = 0.0
        self.discard[card] = -value

    def _doubled(self, card: int, km: int) -> None:
        w = self.w
        worth = w.drive + w.drive_km * 2 * km - w.accelerator + w.complete * (self.rest <= 2 * km)
        # A card that gets there by itself needs no accelerator.
        may = self.may_drive(card, times=2) & (self.rest > km)
        self.doubled[card] = np.where(may, worth, NEVER)

    # Attacking

    def _attacks(self) -> None:
        """Find for each hazard the side that it hurts most, and what that is worth."""
        deck, w, lanes = self.deck, self.w, self.lanes
        known = np.where(self.unseen[deck.safeties] == 0, w.attack_known, 0.0)
        helps = w.attack_remedy * self.unseen
        alive = np.zeros((len(deck.hazards), len(lanes)), bool)
        attack = w.attack_in_crowd if lanes.reshuffles and lanes.sides > 2 else w.attack
        for victim in range(lanes.sides):
            rest = lanes.target - lanes.race_km(victim)
            progress = w.attack_progress * (1 - rest / lanes.target)
            may_stop, may_limit = self.may_stop(victim), self.may_limit(victim)
            idle = lanes.stopped[:, victim]
            for number, hazard in enumerate(deck.hazards):
                bare = ~lanes.safe[:, victim, hazard.safety]
                alive[number] |= bare & (self.own != victim)
                worth = progress + known[hazard.safety] + helps[hazard.remedy]
                if hazard.card == deck.limit:
                    worth += w.limit + w.limit_late * (rest <= 2 * SLOW_KM)
                    worth = np.where(may_limit & bare, worth, NEVER)
                else:
                    worth = np.where(may_stop & bare, np.where(idle, w.attack_stopped, attack + worth), NEVER)
                better = worth > self.lay[hazard.card]
                np.copyto(self.lay[hazard.card], worth, where=better)
                self.victim[hazard.card][better] = victim
        for number, hazard in enumerate(deck.hazards):
            keep = w.keep_limit if hazard.card == deck.limit else w.keep_hazard
            self.discard[hazard.card] = -keep * alive[number]

    # What helps

    def _remedy(self, hazard: Hazard) -> None:
        deck, w, card = self.deck, self.w, hazard.remedy
        may, count = self.may_remedy(hazard), self.hand[card]
        if hazard.card == deck.stop:
            needed = may & ~self.driving
            keep = np.asarray(w.keep_roll)[np.minimum(count, len(w.keep_roll) - 1)]
        else:
            needed = may
            to_come = self.unseen[hazard.card] + needed
            keep = np.where(count == 1, w.keep_remedy, w.keep_copy) * np.minimum(to_come, 2) / 2
        worth = w.end_of_limit if hazard.card == deck.limit else w.roll if hazard.card == deck.stop else w.remedy
        self.lay[card] = np.where(needed, worth, np.where(may, w.useless, NEVER))
        held = self.holds[deck.safeties[hazard.safety]]
        keep = np.where(self.safe[:, hazard.safety], 0.0, np.where(held, keep / 3, keep))
        if self.lanes.reshuffles:
            # Where nobody moves, what helps others has to come round for the race to go on.
            keep = np.where(self.lanes.stopped.all(1), keep / 10, keep)
        self.discard[card] = -np.where(needed & (count == 1), w.keep_needed, keep)

    # Safeties

    def _safeties(self) -> None:
        deck, w, lanes = self.deck, self.w, self.lanes
        ends_soon = self._ends_soon()
        pays = self.edition.points.coup_fourre or lanes.race_counts
        for number, card in enumerate(deck.safeties):
            hazards = [hazard for hazard in deck.hazards if hazard.safety == number]
            to_come = self.unseen[[hazard.card for hazard in hazards]].sum(0)
            worth = np.full(len(lanes), w.save_held if pays else w.save_pointless)
            under = np.zeros(len(lanes), bool)
            for hazard in hazards:
                if hazard.card != deck.limit:
                    under |= self.stopped & (self.top == hazard.card + 1) & ~self.holds[hazard.remedy]
            if number == deck.right_of_way:
                under |= ~self.driving & ~self.stopped & ~self.holds[deck.roll]
                worth[self.limited & ~self.holds[deck.end_of_limit] & (self.can_drive_km == 0)] = w.save_limited
            worth[under] = w.save_stuck
            worth[to_come == 0] = w.save_spent
            worth[ends_soon] = w.save_first
            self.lay[card] = np.where(self.may_save(number), worth, NEVER)
            if self.edition.discard_safety == "allowed":
                self.discard[card] = -w.keep_safety

    def _ends_soon(self) -> Flags:
        """Return where safeties wait for nothing more: this turn completes, somebody is near, few cards are left."""
        w, lanes = self.w, self.lanes
        soon = self.completes.copy()
        if not lanes.reshuffles:
            soon |= lanes.left() <= w.last_draws * lanes.seats
        for other in range(lanes.sides):
            rest = lanes.target - lanes.race_km(other)
            soon |= (self.own != other) & (rest <= w.near_km) & ~lanes.stopped[:, other]
        if lanes.race_counts:
            # Safeties keep the turn, so that a distance card may follow.
            soon |= SAFETY_KM * self.holds[self.deck.safeties].sum(0) + self.can_drive_km >= self.rest
        return soon

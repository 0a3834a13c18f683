"""What the players to move may lay, one a lane: the referee's objections to the ordinary cards, as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from companion.robots.deck_numbers import Flags, Hazard
from companion.robots.lanes import Lanes
from companion.rules.legality import SLOW_KM
from companion.rules.table import SAFETY_KM


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

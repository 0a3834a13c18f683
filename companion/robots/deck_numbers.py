"""The cards of a deck as numbers, for tables that are kept as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card, Family

Ints = npt.NDArray[np.integer[Any]]
Flags = npt.NDArray[np.bool_]


class Hazard(NamedTuple):
    """A hazard and what answers it, as numbers of the deck."""

    card: int
    remedy: int
    safety: int
    """The number among the safeties."""


class Deck:
    """The cards of an edition by numbers, in the order of its deck; on a pile a card is its number plus one."""

    def __init__(self, cards: tuple[Card, ...]) -> None:
        self.cards = cards
        number = {card: at for at, card in enumerate(cards)}
        self.number = number
        self.km = np.array([card.km for card in cards], np.int16)
        self.distances = [at for at, card in enumerate(cards) if card.family is Family.DISTANCE]
        self.safeties = [at for at, card in enumerate(cards) if card.family is Family.SAFETY]
        self.hazards = [
            Hazard(number[card], number[REMEDY_OF[card]], self.safeties.index(number[SAFETY_OF[card]]))
            for card in cards
            if card.family is Family.HAZARD
        ]
        self.roll, self.limit = number[Card.ROLL], number[Card.SPEED_LIMIT]
        self.stop, self.end_of_limit = number[Card.STOP], number[Card.END_OF_LIMIT]
        self.right_of_way = self.safeties.index(number[Card.RIGHT_OF_WAY])
        self.two_hundred = number.get(Card.KM_200, -1)
        self.accelerator = number.get(Card.ACCELERATOR, -1)
        # By what shows on a battle pile: which safety answers it (-1: it is no hazard), whether it is a remedy.
        self.answers = np.full(len(cards) + 1, -1, np.int8)
        self.remedies = np.array([False, *(card.family is Family.REMEDY for card in cards)])
        self.safety_of = np.full(len(cards), -1, np.int8)
        for hazard in self.hazards:
            self.safety_of[hazard.card] = hazard.safety
            if hazard.card != self.limit:
                self.answers[hazard.card + 1] = hazard.safety
        self.family = np.array([list(Family).index(card.family) for card in cards], np.int8)

    def is_of(self, family: Family) -> Flags:
        """Return which cards are of a family."""
        return np.asarray(self.family == list(Family).index(family))

    def counts(self, cards: Iterable[Card]) -> Ints:
        """Return how many there are of each card; those that nobody could tell are left out."""
        counted = np.zeros(len(self.cards), np.int8)
        for card in cards:
            if card in self.number:
                counted[self.number[card]] += 1
        return counted


@cache
def deck_of(cards: tuple[Card, ...]) -> Deck:
    """Return the numbers of a deck."""
    return Deck(cards)

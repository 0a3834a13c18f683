"""The cards: slugs, families, and the remedy and safety for each hazard.

A slug names a card in files, notation, logs, stickers and JSON.
"""

from __future__ import annotations

from enum import StrEnum

from companion.common.text import Said, say


class Family(StrEnum):
    """Groups of cards on the rule sheets."""

    DISTANCE = "distance"
    HAZARD = "hazard"
    REMEDY = "remedy"
    SAFETY = "safety"
    SPECIAL = "special"
    UNKNOWN = "unknown"


class Card(StrEnum):
    """A card face of any edition; `UNKNOWN` is an unread card."""

    family: Family
    km: int

    # `Enum.__hash__` slows every dictionary lookup by card.
    __hash__ = str.__hash__

    def __new__(cls, slug: str, family: Family) -> Card:
        card = str.__new__(cls, slug)
        card._value_ = slug
        card.family = family
        card.km = int(slug) if family is Family.DISTANCE else 0
        return card

    KM_25 = "25", Family.DISTANCE
    KM_50 = "50", Family.DISTANCE
    KM_75 = "75", Family.DISTANCE
    KM_100 = "100", Family.DISTANCE
    KM_200 = "200", Family.DISTANCE
    KM_300 = "300", Family.DISTANCE
    ACCIDENT = "accident", Family.HAZARD
    OUT_OF_GAS = "out-of-gas", Family.HAZARD
    FLAT_TIRE = "flat-tire", Family.HAZARD
    OUT_OF_CHARGE = "out-of-charge", Family.HAZARD
    POLLUTION = "pollution", Family.HAZARD
    STOP = "stop", Family.HAZARD
    SPEED_LIMIT = "speed-limit", Family.HAZARD
    REPAIRS = "repairs", Family.REMEDY
    GASOLINE = "gasoline", Family.REMEDY
    SPARE_TIRE = "spare-tire", Family.REMEDY
    RECHARGE = "recharge", Family.REMEDY
    END_OF_POLLUTION = "end-of-pollution", Family.REMEDY
    ROLL = "roll", Family.REMEDY
    END_OF_LIMIT = "end-of-limit", Family.REMEDY
    DRIVING_ACE = "driving-ace", Family.SAFETY
    EXTRA_TANK = "extra-tank", Family.SAFETY
    PUNCTURE_PROOF = "puncture-proof", Family.SAFETY
    LONG_RANGE = "long-range", Family.SAFETY
    CAR_POOL = "car-pool", Family.SAFETY
    RIGHT_OF_WAY = "right-of-way", Family.SAFETY
    ACCELERATOR = "accelerator", Family.SPECIAL
    MIRROR = "mirror", Family.SPECIAL
    U_TURN = "u-turn", Family.SPECIAL
    CONTROL = "control", Family.SPECIAL
    THEFT = "theft", Family.SPECIAL
    UNKNOWN = "unknown", Family.UNKNOWN


REMEDY_OF: dict[Card, Card] = {
    Card.ACCIDENT: Card.REPAIRS,
    Card.OUT_OF_GAS: Card.GASOLINE,
    Card.FLAT_TIRE: Card.SPARE_TIRE,
    Card.OUT_OF_CHARGE: Card.RECHARGE,
    Card.POLLUTION: Card.END_OF_POLLUTION,
    Card.STOP: Card.ROLL,
    Card.SPEED_LIMIT: Card.END_OF_LIMIT,
}

SAFETY_OF: dict[Card, Card] = {
    Card.ACCIDENT: Card.DRIVING_ACE,
    Card.OUT_OF_GAS: Card.EXTRA_TANK,
    Card.FLAT_TIRE: Card.PUNCTURE_PROOF,
    Card.OUT_OF_CHARGE: Card.LONG_RANGE,
    Card.POLLUTION: Card.CAR_POOL,
    Card.STOP: Card.RIGHT_OF_WAY,
    Card.SPEED_LIMIT: Card.RIGHT_OF_WAY,
}

HAZARD_OF: dict[Card, Card] = {remedy: hazard for hazard, remedy in REMEDY_OF.items()}

SPECIALS: dict[Card, Said] = {
    Card.ACCELERATOR: say("With a distance card: it counts twice."),
    Card.MIRROR: say("Right after an attack on you: it hits the attacker instead."),
    Card.U_TURN: say("Right after an opponent's distance card: the card goes back to their hand."),
    Card.CONTROL: say(
        "On your turn: name a card, but no safety. An opponent hands it over as soon as they hold it, and you play it."
    ),
    Card.THEFT: say(
        "On your turn, even under attack: take a distance card from an opponent's table, with its %(accelerator)s."
        " Play it at once or keep it."
    ),
}
"""Effects of the special cards."""


def card_of_slug(slug: str) -> Card | None:
    """Return the card with this slug, `unknown` included; None if there is none."""
    found = Card._value2member_map_.get(slug)
    return found if isinstance(found, Card) else None

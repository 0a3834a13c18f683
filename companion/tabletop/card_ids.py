"""Ids of physical cards, and the text on their stickers.

An id is face and copy number: `roll-03`. The text `MB1:ROLL-03` fits a version 1 QR code; `MB1` marks our stickers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from companion.rules.cards import Card, card_of_slug

PREFIX = "MB1:"
_PAYLOAD = re.compile(r"MB1:([A-Z0-9-]{2,16}-[0-9]{2})")


def card_ids(deck: Mapping[Card, int]) -> tuple[str, ...]:
    """Return the ids of a deck's cards, in its order: `25-01` … `right-of-way-01`."""
    return tuple(f"{card.value}-{copy:02d}" for card, count in deck.items() for copy in range(1, count + 1))


def face_of(card_id: str) -> Card:
    """Return a card's face. Raise ValueError if unknown."""
    slug = card_id.rpartition("-")[0]
    card = card_of_slug(slug)
    if card is None:
        raise ValueError(f"{slug!r} is no card.")
    return card


def copy_of(card_id: str) -> int:
    """Return the copy number: 3 for `roll-03`."""
    return int(card_id.rpartition("-")[2])


def any_copy(face: Card) -> str:
    """Return the id for an unknown copy: `25-00`."""
    return f"{face.value}-00"


def is_any_copy(card_id: str) -> bool:
    """True if the copy is unknown."""
    return card_id.endswith("-00")


def payload(card_id: str) -> str:
    """Return the text on a card's sticker."""
    return PREFIX + card_id.upper()


def card_id_of(text: str) -> str | None:
    """Return the card that a sticker's text names, or None."""
    found = _PAYLOAD.fullmatch(text)
    if found is None:
        return None
    card_id = found[1].lower()
    known = card_of_slug(card_id.rpartition("-")[0]) not in (None, Card.UNKNOWN)
    return card_id if known else None

"""The signs of all cards as one SVG file, the same drawings as on the printed deck."""

from __future__ import annotations

from functools import cache

from companion.printing import pictograms
from companion.printing.svg import INK
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import edition_names, load_edition

SIGN_BOX = "-63 -63 126 126"
STONE_BOX = "-4.4 -4.9 8.8 8.8"


@cache
def sprite() -> str:
    """Return an SVG document with a symbol for each card that any edition has, and a plain milestone."""
    cards = {card: None for name in edition_names() for card in load_edition(name).deck}
    signs = [card for card in cards if card.family is not Family.DISTANCE and card is not Card.UNKNOWN]
    symbols = [_symbol(card.value, SIGN_BOX, pictograms.sign(card)) for card in signs]
    stones = [(card.value, card.value) for card in cards if card.family is Family.DISTANCE]
    symbols += [_symbol(name, STONE_BOX, pictograms.milestone(INK, km)) for name, km in (*stones, ("borne", ""))]
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(symbols)}</svg>'


def _symbol(name: str, box: str, body: list[str]) -> str:
    return f'<symbol id="s-{name}" viewBox="{box}">{"".join(body)}</symbol>'

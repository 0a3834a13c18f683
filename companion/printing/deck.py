"""Our own deck: what each card looks like. Millimetres, flat colours, no art but our own."""

from __future__ import annotations

from functools import cache

from companion.layout import CARD_MM
from companion.printing import svg as draw
from companion.rules.cards import Card, Family, card_name

COLOUR_OF: dict[Family, str] = {
    Family.DISTANCE: draw.YELLOW,
    Family.HAZARD: draw.RED,
    Family.REMEDY: draw.GREEN,
    Family.SAFETY: draw.BLUE,
    Family.SPECIAL: draw.INK,
}


@cache
def face_svg(card: Card) -> str:
    """A card's face, `CARD_MM` large."""
    width, height = CARD_MM
    colour = COLOUR_OF[card.family]
    return draw.document(
        width,
        height,
        [
            draw.rect(0, 0, width, height, draw.paint(draw.PAPER)),
            draw.circle(width / 2, 38, 22, draw.paint(colour)),
            draw.fitted(card_name(card).upper(), width / 2, 76, 12, width - 8),
        ],
    )


@cache
def back_svg() -> str:
    """The back, the same upside down."""
    width, height = CARD_MM
    return draw.document(width, height, [draw.rect(0, 0, width, height, draw.paint(draw.INK))])

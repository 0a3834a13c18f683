"""Road signs (50 units in radius) and pictograms (30) around (0, 0)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from companion.printing import svg as draw
from companion.rules.cards import Card, Family
from companion.tabletop.mat_layout import SIDE_MARKS

_TWO_COLOURS = re.compile(f"{draw.BLACK}|{draw.WHITE}")  # ink and ground in `pictograms.svg`
COLOUR_OF: dict[Family, str] = {
    Family.DISTANCE: draw.YELLOW,
    Family.HAZARD: draw.RED,
    Family.REMEDY: draw.GREEN,
    Family.SAFETY: draw.BLUE,
    Family.SPECIAL: draw.INK,
}


def sign(card: Card) -> list[str]:
    """Return a card's sign. Distances have milestones instead: see `deck`."""
    colour = COLOUR_OF[card.family]
    plate = drawing("order" if card in (Card.STOP, Card.SPEED_LIMIT) else card.family, colour, draw.PAPER)
    return [*plate, *drawing(card, draw.PAPER, colour)]


def drawing(name: str, ink: str = draw.INK, ground: str = draw.PAPER) -> list[str]:
    """Return a group of `pictograms.svg`, with black as `ink`, white as `ground`."""
    colours = {draw.BLACK: ink, draw.WHITE: ground}
    return [_TWO_COLOURS.sub(lambda drawn: colours[drawn[0]], shape) for shape in _shapes()[name]]


@cache
def _shapes() -> Mapping[str, list[str]]:
    groups = ElementTree.parse(Path(__file__).with_suffix(".svg")).getroot()  # noqa: S314 – our own file
    return {group.attrib["id"]: [_spelt(shape) for shape in group] for group in groups}


def _spelt(shape: ElementTree.Element) -> str:
    name = shape.tag.rpartition("}")[2]
    look = "".join(f' {key}="{value}"' for key, value in shape.items())
    return f"<{name}{look}>{''.join(map(_spelt, shape))}</{name}>" if len(shape) else f"<{name}{look}/>"


def milestone(line: str = "none", figure: str = "") -> list[str]:
    """Return a milestone around (0, 0), 6 wide and about 8 high, with a bar or `figure`."""
    arch = "L-3 -0.8C-3 -4.6 3 -4.6 3 -0.8L"
    mark = draw.fitted(figure, 0, 1.75, 4.2, 4.4) if figure else draw.rect(-1.5, 0.8, 3, 0.9, draw.paint(draw.INK))
    return [
        draw.path(f"M-3 3.8{arch}3 3.8Z", draw.paint(draw.PAPER, line, 0.3, join="round")),
        draw.path("M-3 -0.6L-3 -0.8C-3 -4.6 3 -4.6 3 -0.8L3 -0.6Z", draw.paint(draw.YELLOW, line, 0.3, join="round")),
        mark,
    ]


def badge(number: int) -> list[str]:
    """Return side `number`'s mark, outlined for all backgrounds."""
    mark = SIDE_MARKS[number - 1]
    halo, look = draw.paint("none", draw.PAPER, 17, join="round"), draw.paint(mark.colour, draw.INK, 7, join="round")
    return [draw.path(mark.shape, halo), draw.path(mark.shape, look)]

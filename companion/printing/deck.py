"""Our own deck of 57 × 88 mm, readable from two meters.

Hazards are triangles and octagons, remedies discs, safeties shields, distances milestones, specials tiles. Distances
differ in number, milestone height and pattern.
"""

from __future__ import annotations

from functools import cache
from math import hypot

from companion.printing import svg as draw
from companion.printing.pictograms import COLOUR_OF, drawing, milestone, sign
from companion.printing.printed_words import card_word, family_word
from companion.rules.cards import Card, Family
from companion.tabletop.mat_layout import CARD_MM

_STONE_HEIGHT_MM = {25: 32.5, 50: 36.0, 75: 39.5, 100: 43.0, 200: 47.0, 300: 49.0}
_WIDTH, _HEIGHT = CARD_MM
_MIDDLE = _WIDTH / 2
_EDGE = 2.2  # width of the plain rim, which hides crooked cuts
_BAND_TOP, _BAND_HEIGHT = 61.0, 11.5
_CORNER = 3.0
_SIGN_MIDDLE_OF = {Family.HAZARD: 36.5, Family.SPECIAL: 37.2}


@cache
def face_svg(card: Card, language: str = "en", edition: str | None = None) -> str:
    """Return the SVG of a card's face, `CARD_MM` large, with the edition's name in one of `common.languages`."""
    if card.family is Family.DISTANCE:
        plate = draw.rect(-4, -4, 23, 19.5, draw.paint(draw.PAPER, draw.YELLOW, 1.1), radius=_CORNER)
        picture = _on_paper([*_pattern(card.km), *_stone(card), plate, _turned(plate)])
        index = draw.text(card.value, 10.6, 12.4, 10.5, anchor=0.5, weight=800)
    else:
        picture = _sign_picture(card, language)
        index = draw.group(sign(card), x=9.8, y=9.8, scale=0.1)
    body = [
        *picture,
        *_rim(COLOUR_OF[card.family]),
        *_band(card_word(card, language, edition), card.family),
        index,
        _turned(index),
    ]
    return draw.document(_WIDTH, _HEIGHT, body)


def _turned(*body: str) -> str:
    return draw.group(body, x=_WIDTH, y=_HEIGHT, turn=180)


def _on_paper(body: list[str]) -> list[str]:
    """Clip a picture under the rim, to hide inexact cuts."""
    edge = _EDGE / 2
    return [_ground(draw.PAPER), draw.window(body, edge, edge, _WIDTH - 2 * edge, _HEIGHT - 2 * edge)]


def _rim(colour: str) -> list[str]:
    hole = _rounded(_EDGE, _EDGE, _WIDTH - 2 * _EDGE, _HEIGHT - 2 * _EDGE, _CORNER)
    outside = f"M0 0L0 {draw.num(_HEIGHT)}L{draw.num(_WIDTH)} {draw.num(_HEIGHT)}L{draw.num(_WIDTH)} 0Z"
    return [draw.path(outside + hole, draw.paint(draw.PAPER)), draw.path(hole, draw.paint("none", colour, 1.1))]


def _rounded(x: float, y: float, width: float, height: float, radius: float) -> str:
    right, bottom, bend = x + width, y + height, radius * 0.4477
    corners = (
        (x + radius, y, right - radius, y, right - bend, y, right, y + bend, right, y + radius),
        (right, y + radius, right, bottom - radius, right, bottom - bend, right - bend, bottom, right - radius, bottom),
        (right - radius, bottom, x + radius, bottom, x + bend, bottom, x, bottom - bend, x, bottom - radius),
        (x, bottom - radius, x, y + radius, x, y + bend, x + bend, y, x + radius, y),
    )
    steps = ["L{2} {3}C{4} {5} {6} {7} {8} {9}".format(*(draw.num(value) for value in corner)) for corner in corners]
    return f"M{draw.num(x + radius)} {draw.num(y)}" + "".join(steps) + "Z"


def _band(word: str, family: Family) -> list[str]:
    """Draw a card's word, in ink on yellow, else in cream."""
    colour, fill = COLOUR_OF[family], draw.INK if family is Family.DISTANCE else draw.PAPER
    band = draw.rect(_EDGE, _BAND_TOP, _WIDTH - 2 * _EDGE, _BAND_HEIGHT, draw.paint(colour))
    middle = _BAND_TOP + _BAND_HEIGHT / 2
    return [band, draw.name(word.upper(), _MIDDLE, middle, 11.5, 47, fill=fill)]


def _sign_picture(card: Card, language: str) -> list[str]:
    family = draw.text(
        family_word(card.family, language).upper(), 6.2, 82.6, 4.6, fill=COLOUR_OF[card.family], track=0.08
    )
    middle, scale = _SIGN_MIDDLE_OF.get(card.family, 36.0), 0.42 if card.family is Family.SPECIAL else 0.44
    return [_ground(draw.PAPER), draw.group(sign(card), x=_MIDDLE, y=middle, scale=scale), family, _turned(family)]


# --- distances -------------------------------------------------------------------------------------------------

_STONE_WIDTH_MM, _ARCH_MM, _CAP_MM = 38.0, 10.5, 11.5


def _stone(card: Card) -> list[str]:
    top = _BAND_TOP - _STONE_HEIGHT_MM[card.km]
    edge = draw.paint("none", draw.INK, 1.5, join="round")
    figure_middle = (top + _CAP_MM + _BAND_TOP) / 2
    return [
        draw.path(_arch(top, _BAND_TOP), draw.paint(draw.PAPER)),
        draw.path(_arch(top, top + _CAP_MM), draw.paint(draw.YELLOW)),
        draw.path(_arch(top, top + _CAP_MM), edge),
        draw.path(_arch(top, _BAND_TOP), edge),
        draw.fitted(card.value, _MIDDLE, figure_middle, 25.5, 34),
    ]


def _arch(top: float, bottom: float) -> str:
    half, shoulder = _STONE_WIDTH_MM / 2, top + _ARCH_MM
    left, right, reach = _MIDDLE - half, _MIDDLE + half, 0.5523
    return (
        f"M{left} {bottom}L{left} {shoulder}"
        f"C{left} {shoulder - reach * _ARCH_MM:.3f} {_MIDDLE - reach * half:.3f} {top} {_MIDDLE} {top}"
        f"C{_MIDDLE + reach * half:.3f} {top} {right} {shoulder - reach * _ARCH_MM:.3f} {right} {shoulder}"
        f"L{right} {bottom}Z"
    )


def _ground(colour: str) -> str:
    return draw.rect(0, 0, _WIDTH, _HEIGHT, draw.paint(colour))


def _pattern(km: int) -> list[str]:
    fill, line = draw.paint(draw.YELLOW), draw.paint("none", draw.YELLOW, 4.6 if km == 200 else 4.2)
    match km:
        case 25:
            spots = [(x * 9.5 + 4.75 * (y % 2), y * 8.0) for y in range(12) for x in range(7)]
            shapes = [draw.circle(x, y, 1.7, fill) for x, y in spots]
        case 50:
            shapes = [draw.rect(0, 8.0 * i, _WIDTH, 4.0, fill) for i in range(12)]
        case 75:
            shapes = [draw.line(-5, 12 * i, 62, 12 * i - 67, line) for i in range(14)]
        case 100:
            cells = [(x * 9.5, y * 9.5) for x in range(6) for y in range(10) if (x + y) % 2]
            shapes = [draw.rect(x, y, 9.5, 9.5, fill) for x, y in cells]
        case 200:
            shapes = [draw.path(f"M-3 {y}L{_MIDDLE} {y - 20}L60 {y}", line) for y in range(14, 99, 12)]
        case _:
            shapes = [draw.rect(1.0 + 8 * i, 0, 4.2, _HEIGHT, fill) for i in range(7)]
    return [_ground(draw.PAPER if km <= 100 else draw.INK), *shapes]


# --- the back --------------------------------------------------------------------------------------------------


_DISC_MM = 18.5


@cache
def back_svg() -> str:
    """Return the SVG of the back, the same upside down."""
    rows = ((9.4, 5), (19.4, 4), (29.4, 5), (39.4, 4))
    places = [(_MIDDLE + 10.2 * (i - (count - 1) / 2), y) for y, count in rows for i in range(count)]
    free = [(x, y) for x, y in places if hypot(x - _MIDDLE, y - _HEIGHT / 2) > _DISC_MM + 6]
    half = [draw.group(milestone(), x=x, y=y) for x, y in free]
    road = draw.group(drawing("winding-road"), x=_MIDDLE, y=_HEIGHT / 2)
    picture = _on_paper([_ground(draw.INK), road, *half, _turned(*half)])
    return draw.document(_WIDTH, _HEIGHT, [*picture, *_rim(draw.INK)])

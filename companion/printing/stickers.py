"""Stickers: a QR code or tag, and below it the card's name and number, which show the way up.

Labels have the card's sign, name and id.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from companion.printing import mats
from companion.printing import svg as draw
from companion.printing.label_sheets import LabelSheet
from companion.printing.pictograms import COLOUR_OF, milestone, sign
from companion.printing.printed_words import card_word
from companion.rules.card_names import card_name
from companion.rules.cards import Family
from companion.tabletop.card_ids import copy_of, face_of
from companion.tabletop.mat_layout import MARKER_CELLS
from companion.tabletop.sticker_codes import MODULES, STICKER_MM, STICKER_MODULES, modules, tag_id

KINDS = ("qr", "tag")  # for any phone, or a coarser pattern for the companion only
QUIET_MODULES = (STICKER_MODULES - MODULES) / 2
"""Quiet zone: enough for our reader; modules are 16 % larger than with the standard's four."""

NAME_STRIP = 0.12  # height of the name's strip, relative to a sticker's width
_LETTERS, _CAPITALS_MIDDLE = 0.11, 1.042
"""Maximum em of the name, and middle of its capitals from the top, relative to a sticker's width.

Dots above letters then end below the quiet zone, and descenders inside the sticker.
"""
_CUT_MM = 0.6  # margin inside a label for inexact printers
_BELOW_MM = 8.0  # maximum height of sign and name below a code …
_TALL_MM = 24.0  # … or beside it


def sticker_size_mm(size_mm: float) -> tuple[float, float]:
    """Return width and height of a sticker with a code of `size_mm`, quiet zone included."""
    return size_mm, round(size_mm * (1 + NAME_STRIP), 3)


@cache
def sticker_svg(
    card_id: str,
    size_mm: float = STICKER_MM,
    kind: str = "qr",
    language: str = "en",
    edition: str | None = None,
) -> str:
    """Return the SVG of a sticker of `sticker_size_mm(size_mm)`; `kind` is one of `KINDS`."""
    width, height = sticker_size_mm(size_mm)
    words, middle = sticker_words(card_id, language, edition), _CAPITALS_MIDDLE * size_mm
    name = draw.fitted(words, width / 2, middle, _LETTERS * size_mm, 0.92 * width, weight=600, fill=draw.BLACK)
    ground = draw.rect(0, 0, width, height, draw.paint(draw.WHITE))
    return draw.document(width, height, [ground, _code(card_id, size_mm, kind), name])


def sticker_words(card_id: str, language: str = "en", edition: str | None = None) -> str:
    """Return a card's printed name and copy number: `Roll 3` for `roll-03`."""
    return f"{card_name(face_of(card_id), language, edition)} {copy_of(card_id)}"


@cache
def label_svg(
    card_id: str, sheet: LabelSheet, size_mm: float, kind: str, language: str, edition: str | None = None
) -> str:
    """Return the SVG of a label: the code, and beside or below it sign, name and card id."""
    width, height = sheet.label_mm
    if sheet.is_name_below(size_mm):
        top = max((height - size_mm - _BELOW_MM) / 2, 0.0)
        x, y = (width - size_mm) / 2, top
        rest = (_CUT_MM, top + size_mm, width - 2 * _CUT_MM, min(_BELOW_MM, height - size_mm - top - _CUT_MM))
        sign_box = (rest[0], rest[1], rest[3], rest[3])
        words_box = (rest[0] + rest[3] + 1, rest[1], rest[2] - rest[3] - 1, rest[3])
    else:
        x, y = _CUT_MM, (height - size_mm) / 2
        left = x + size_mm
        room, least = width - left - 2 * _CUT_MM, (height - min(height, _TALL_MM)) / 2 + _CUT_MM
        tall = height - 2 * least
        sign_box, words_box = (left, least, room, 0.58 * tall), (left, least + 0.6 * tall, room, 0.4 * tall)
    ground = draw.rect(0, 0, width, height, draw.paint(draw.WHITE))
    code = draw.group([_code(card_id, size_mm, kind)], x=x, y=y)
    return draw.document(
        width, height, [ground, code, _sign(card_id, sign_box), *_words(card_id, words_box, language, edition)]
    )


Box = tuple[float, float, float, float]  # left, top, width, height (mm)


def _sign(card_id: str, box: Box) -> str:
    """Draw a sign or milestone as large as fits."""
    card, (left, top, width, height) = face_of(card_id), box
    is_distance = card.family is Family.DISTANCE
    reach = min(width, height) / (9.2 if is_distance else 116)
    shapes = milestone(draw.INK, card.value) if is_distance else sign(card)
    return draw.group(shapes, x=left + width / 2, y=top + height / 2, scale=reach)


def _words(card_id: str, box: Box, language: str, edition: str | None) -> list[str]:
    """Draw a card's name on its family's color, and below it the card id."""
    card, (left, top, width, height) = face_of(card_id), box
    colour, fill = COLOUR_OF[card.family], draw.INK if card.family is Family.DISTANCE else draw.PAPER
    figure = f"{card.value} " if card.family is Family.DISTANCE else ""
    word = f"{figure}{card_word(card, language, edition)}".upper()
    middle, deep = left + width / 2, 0.62 * height
    return [
        draw.rect(left, top, width, deep, draw.paint(colour), radius=0.6),
        draw.name(word, middle, top + deep / 2, 0.9 * deep, width - 1.2, fill=fill),
        draw.fitted(card_id, middle, top + 0.83 * height, 0.3 * height, width, weight=600, fill=draw.BLACK),
    ]


def _code(card_id: str, size_mm: float, kind: str) -> str:
    if kind == "tag":
        # one white cell around
        cell = size_mm / (MARKER_CELLS + 2)
        tag = draw.path(mats.marker_cells(tag_id(card_id)), draw.paint(draw.BLACK))
        return draw.group([tag], x=cell, y=cell, scale=cell)
    module = size_mm / STICKER_MODULES
    # Adjacent black modules form one bar, without seams.
    bars = []
    for y, row in enumerate(modules(card_id)):
        edges = np.flatnonzero(np.diff(np.concatenate(([False], row, [False])).astype(np.int8)))
        bars += [f"M{x} {y}h{end - x}v1h{x - end}z" for x, end in zip(edges[::2], edges[1::2], strict=True)]
    pattern = draw.path("".join(bars), draw.paint(draw.BLACK))
    return draw.group([pattern], x=QUIET_MODULES * module, y=QUIET_MODULES * module, scale=module)

"""Stickers, one a physical card: a QR code or a tag, its own name in small letters below, which is also the way up.

The code with its quiet zone is as wide as the sticker. The name stands in a strip below the quiet zone, so that
no letter comes near the code; a sticker is therefore a little taller than wide, which tells up from sideways.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from companion.printing import mats
from companion.printing import svg as draw
from companion.tabletop.mat_layout import MARKER_CELLS
from companion.tabletop.sticker_codes import MODULES, STICKER_MM, STICKER_MODULES, modules, tag_id

KINDS = ("qr", "tag")
"""A code that any phone reads, or a coarser pattern that only the companion reads."""

QUIET_MODULES = (STICKER_MODULES - MODULES) / 2
"""Width of the quiet zone: as good as the standard's four for our reader, with modules 14 % larger."""

NAME_STRIP = 0.12
"""Height of the strip with the name, as a part of the sticker's width."""


def sticker_size_mm(size_mm: float) -> tuple[float, float]:
    """Return width and height of what is cut out for a code of `size_mm` (quiet zone included)."""
    return size_mm, round(size_mm * (1 + NAME_STRIP), 3)


@cache
def sticker_svg(card_id: str, size_mm: float = STICKER_MM, kind: str = "qr") -> str:
    """Draw one sticker, `sticker_size_mm(size_mm)` large, of one of `KINDS`."""
    width, height = sticker_size_mm(size_mm)
    middle, letters_mm = (1 + NAME_STRIP * 0.33) * size_mm, 0.115 * size_mm
    name = draw.fitted(card_id, width / 2, middle, letters_mm, 0.92 * width, weight=600, fill=draw.BLACK)
    pattern = _code(card_id, size_mm)
    if kind == "tag":
        # A cell of white lies around the tag.
        cell = size_mm / (MARKER_CELLS + 2)
        tag = draw.path(mats.marker_cells(tag_id(card_id)), draw.paint(draw.BLACK))
        pattern = draw.group([tag], x=cell, y=cell, scale=cell)
    return draw.document(width, height, [draw.rect(0, 0, width, height, draw.paint(draw.WHITE)), pattern, name])


def _code(card_id: str, size_mm: float) -> str:
    """Draw a card's QR code with its quiet zone, as wide as the sticker."""
    module = size_mm / STICKER_MODULES
    # Black modules beside each other in a row are one bar, so that no seam shows.
    bars = []
    for y, row in enumerate(modules(card_id)):
        edges = np.flatnonzero(np.diff(np.concatenate(([False], row, [False])).astype(np.int8)))
        bars += [f"M{x} {y}h{end - x}v1h{x - end}z" for x, end in zip(edges[::2], edges[1::2], strict=True)]
    pattern = draw.path("".join(bars), draw.paint(draw.BLACK))
    return draw.group([pattern], x=QUIET_MODULES * module, y=QUIET_MODULES * module, scale=module)

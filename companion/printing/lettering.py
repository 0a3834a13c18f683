"""Outline text in Barlow Condensed: all renderers agree, and no font is installed."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fontTools.pens.recordingPen import RecordingPen
    from fontTools.ttLib import TTFont

FONTS = Path(__file__).parent / "fonts"
CAP_HEIGHT_EM = 0.7

_READING = threading.RLock()  # threads must not parse a font's tables at once


@dataclass(frozen=True, slots=True)
class Lettering:
    """Outlined words: baseline at y = 0, y down, 1000 units per em."""

    data: str  # SVG path data
    width_em: float


@cache
def outline(words: str, weight: int = 600, track_em: float = 0.0) -> Lettering:
    """Outline words in weight 600 or 800, kerned, with `track_em` extra space between letters.

    Raise ValueError for a character that the font lacks.
    """
    # imported late: signs need no words
    from fontTools.pens.svgPathPen import SVGPathPen
    from fontTools.pens.transformPen import TransformPen

    with _READING:
        characters = _font(weight).getBestCmap()
        missing = [letter for letter in words if ord(letter) not in characters]
        if missing:
            raise ValueError(f"the font has no letter {missing[0]!r}")
        font, names = _font(weight), [characters[ord(letter)] for letter in words]
        pen, x = SVGPathPen(_glyphs(weight), ntos=lambda value: f"{value:.6g}"), 0.0
        for i, name in enumerate(names):
            _drawn(name, weight).replay(TransformPen(pen, (1, 0, 0, -1, x, 0)))
            last = i == len(names) - 1
            x += font["hmtx"][name][0] + (0 if last else _kern(name, names[i + 1], weight) + 1000 * track_em)
        return Lettering(pen.getCommands(), x / 1000)


def known(words: str, weight: int = 600) -> str:
    """Replace each character that the font lacks by a dot."""
    with _READING:
        characters = _font(weight).getBestCmap()
    return "".join(letter if ord(letter) in characters else "·" for letter in words)


@cache
def _font(weight: int) -> TTFont:
    from fontTools.ttLib import TTFont

    return TTFont(BytesIO((FONTS / f"barlow-condensed-{weight}.ttf").read_bytes()), lazy=True)


@cache
def _glyphs(weight: int) -> Any:
    return _font(weight).getGlyphSet()


@cache
def _drawn(name: str, weight: int) -> RecordingPen:
    """Return a glyph's outline; cached, as reading takes as long as drawing."""
    from fontTools.pens.recordingPen import RecordingPen

    pen = RecordingPen()
    _glyphs(weight)[name].draw(pen)
    return pen


@cache
def _kern(left: str, right: str, weight: int) -> int:
    tables = (sub for lookup in _font(weight)["GPOS"].table.LookupList.Lookup for sub in lookup.SubTable)
    found = (_pair_value(sub, left, right) for sub in tables if left in sub.Coverage.glyphs)
    return next((value for value in found if value), 0)


def _pair_value(table: Any, left: str, right: str) -> int:
    """Return a pair's kerning by glyphs (format 1) or classes (format 2)."""
    if table.Format == 1:
        pairs = table.PairSet[table.Coverage.glyphs.index(left)].PairValueRecord
        values = [pair.Value1 for pair in pairs if pair.SecondGlyph == right]
    else:
        row = table.Class1Record[table.ClassDef1.classDefs.get(left, 0)]
        values = [row.Class2Record[table.ClassDef2.classDefs.get(right, 0)].Value1]
    return getattr(values[0], "XAdvance", 0) if values and values[0] else 0

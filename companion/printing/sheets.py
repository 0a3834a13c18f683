from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from companion.printing import lettering, mats, pictograms
from companion.printing import svg as draw
from companion.printing.label_sheets import PAPERS_MM, LabelSheet
from companion.printing.printed_words import mat_word
from companion.tabletop.mat_layout import ROBOT, MatLayout

A4_MM = PAPERS_MM["A4"]
MARGIN_MM = 14.0  # for cut marks, title and ruler; printers need about 5 mm
SCREEN_FOLDS_MM = (95.0, 190.0)
"""Folds of a robot's screen from the sheet's top: 94 mm high on a foot of 20 mm.

Seen from 45 cm above the table and 70 cm away, it hides cards up to 18 cm behind it.
"""

_RULED_MM = 7.0  # minimum margin for a ruler
_GAP_MM = 5.0  # between texts that share a line
_MARK_MM = 3.0
_CROSS_MM = 1.2
_CUT = draw.paint("none", draw.INK, 0.15)
_FAINT = draw.paint("none", "#9A9A9A", 0.1)


def tiled(items: Sequence[str], size_mm: tuple[float, float], name: str, language: str) -> list[str]:
    """Return numbered A4 sheets of drawings of one size, with cut marks, title and ruler."""
    firsts = range(0, len(items), each_sheet(size_mm))
    return [
        _sheet(items[first : first + firsts.step], size_mm, f"{name} · {number}/{len(firsts)}", language)
        for number, first in enumerate(firsts, start=1)
    ]


def labelled(items: Sequence[str], sheet: LabelSheet, name: str, language: str) -> list[str]:
    """Return pages with drawings on a sheet's labels."""
    size_mm, count = PAPERS_MM[sheet.paper], sheet.sheets_for(len(items))
    (left, top), (across, down), columns = sheet.margin_mm, sheet.pitch_mm, sheet.grid[0]
    below_mm = size_mm[1] - top - (sheet.grid[1] - 1) * down - sheet.label_mm[1]
    foot = _foot(size_mm[0], size_mm[1] - 0.4 * below_mm, language) if below_mm >= _RULED_MM else []
    pages = []
    for number in range(count):
        say = f"{name} · {number + 1}/{count} · {mat_word('print', language)}"
        title = _title(say, size_mm[0], top / 2 + 1.2, min(3.6, 0.6 * top))
        here = enumerate(items[number * sheet.each : (number + 1) * sheet.each])
        labels = (draw.placed(it, left + at % columns * across, top + at // columns * down) for at, it in here)
        ground = draw.rect(0, 0, *size_mm, draw.paint(draw.WHITE))
        pages.append(draw.document(*size_mm, [ground, *labels, title, *foot]))
    return pages


def mat_halves(layout: MatLayout, language: str = "en") -> list[str]:
    """Return a mat's left and right half, to join edge to edge."""
    width, height = layout.size_mm
    whole = [draw.inner(mats.mat_svg(layout, language)), *_seam(layout, language)]
    return [draw.document(width / 2, height, [draw.group(whole, x=-x)]) for x in (0.0, width / 2)]


def _seam(layout: MatLayout, language: str) -> list[str]:
    """Draw the halves' names, and a line to align them."""
    x, y = layout.size_mm[0] / 2, 202.0 if layout.id == ROBOT else 153.0
    number = layout.id.rpartition("-")[2]
    side = mat_word(ROBOT, language) if layout.id == ROBOT else f"{mat_word('side', language)} {number}"
    left, right = (f"{side}, {mat_word(half, language)}: {mat_word('join', language)}" for half in ("left", "right"))
    tips = [[(x - d, y), (x - 2.2 * d, y - d / 2), (x - 2.2 * d, y + d / 2)] for d in (5.5, -5.5)]
    return [
        draw.line(x - 13, y, x + 13, y, draw.paint("none", draw.INK, 0.4)),
        *(draw.polygon(tip, draw.paint(draw.INK)) for tip in tips),
        draw.text(left, x - 15, y + 1.3, 4, anchor=1),
        draw.text(right, x + 15, y + 1.3, 4),
    ]


def screen_svg(parts: int, language: str) -> str:
    """Return a screen to fold and hide a robot's hand, A4 landscape, or `parts` shorter ones to cut apart.

    From top to bottom: the hand's side, the ridge, the people's side, a glue strip.
    """
    height, width = A4_MM
    each, look = width / parts, draw.paint("none", draw.INK, 0.3)
    ridge, foot = SCREEN_FOLDS_MM
    body = [draw.rect(0, 0, width, height, draw.paint(draw.PAPER))]
    for x in (each * (part + 0.5) for part in range(parts)):
        body += [
            draw.group(pictograms.drawing("robot"), x=x - each * 0.29, y=(ridge + foot) / 2 + 5, scale=7 / parts**0.5),
            draw.fitted(mat_word(ROBOT, language).upper(), x + each * 0.09, (ridge + foot) / 2, 75, each * 0.5),
            draw.fitted(mat_word("screen-glue", language), x, foot + 10, 5, each - 16, weight=600),
            draw.text(mat_word("screen-fold", language), x, ridge - 3, 4.2, anchor=0.5),
        ]
    folds = (draw.line(x, y, x + 3, y, look) for y in SCREEN_FOLDS_MM for x in range(0, int(width), 6))
    cuts = (draw.line(each * part, 0, each * part, height, look) for part in range(1, parts))
    return draw.document(width, height, [*body, *folds, *cuts])


def each_sheet(size_mm: tuple[float, float]) -> int:
    """Return how many items fit on an A4 sheet."""
    return prod(_grid(size_mm))


def sheets_for(count: int, size_mm: tuple[float, float]) -> int:
    """Return the number of A4 sheets for `count` items."""
    return -(-count // each_sheet(size_mm))


def _grid(size_mm: tuple[float, float]) -> tuple[int, int]:
    return int((A4_MM[0] - 2 * MARGIN_MM) // size_mm[0]), int((A4_MM[1] - 2 * MARGIN_MM) // size_mm[1])


def _sheet(items: Sequence[str], size_mm: tuple[float, float], title: str, language: str) -> str:
    """Draw a centered block of items with shared cuts."""
    (width, height), (columns, rows) = size_mm, _grid(size_mm)
    left, top = (A4_MM[0] - columns * width) / 2, (A4_MM[1] - rows * height) / 2
    places = [(left + i % columns * width, top + i // columns * height) for i in range(len(items))]
    body = [draw.rect(0, 0, *A4_MM, draw.paint(draw.WHITE))]
    body += [draw.placed(item, x, y) for item, (x, y) in zip(items, places, strict=True)]
    used = -(-len(items) // columns)
    lines = [left + i * width for i in range(min(columns, len(items)) + 1)], [top + i * height for i in range(used + 1)]
    return draw.document(*A4_MM, [*body, *_cut_marks(*lines), *_edges(title, language)])


def _cut_marks(xs: Sequence[float], ys: Sequence[float]) -> Iterator[str]:
    """Draw outer marks for knives, and faint crosses for scissors."""
    near, far = 1.0, 1.0 + _MARK_MM
    for x in xs:
        yield draw.line(x, ys[0] - far, x, ys[0] - near, _CUT)
        yield draw.line(x, ys[-1] + near, x, ys[-1] + far, _CUT)
    for y in ys:
        yield draw.line(xs[0] - far, y, xs[0] - near, y, _CUT)
        yield draw.line(xs[-1] + near, y, xs[-1] + far, y, _CUT)
    for x in xs:
        for y in ys:
            yield draw.line(x - _CROSS_MM, y, x + _CROSS_MM, y, _FAINT)
            yield draw.line(x, y - _CROSS_MM, x, y + _CROSS_MM, _FAINT)


def _edges(title: str, language: str) -> list[str]:
    width, height = A4_MM
    return [_title(title, width, 9, 4.4), *_foot(width, height - 6, language, mat_word("print", language))]


def _title(words: str, width_mm: float, y: float, letters_mm: float) -> str:
    fit = min(letters_mm, (width_mm - 2 * MARGIN_MM) / lettering.outline(words).width_em)
    return draw.text(words, width_mm / 2, y, fit, anchor=0.5)


def _foot(width_mm: float, y: float, language: str, remark: str = "") -> list[str]:
    """Draw a ruler at the left and a remark at the right, with letters small enough for one line."""
    words_em = sum(lettering.outline(words).width_em for words in (mats.ruler_words(language), remark))
    room = width_mm - 2 * MARGIN_MM - mats.BESIDE_RULER_MM - _GAP_MM
    letters_mm = min(4.2, room / words_em)
    ruler = draw.group(mats.ruler(language, beside_mm=letters_mm), x=MARGIN_MM, y=y)
    return [ruler, draw.text(remark, width_mm - MARGIN_MM, y, letters_mm, anchor=1)] if remark else [ruler]

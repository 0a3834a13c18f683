"""A score sheet as a picture to send: drawn like the printed sheets, in outlines, so that it looks alike everywhere."""

from __future__ import annotations

from collections.abc import Iterator

from companion.pages.sheets import Row, SheetView
from companion.pages.words import _
from companion.printing import lettering, pictograms, render
from companion.printing import svg as draw

WIDTH_MM, MARGIN_MM, LINE_MM = 100.0, 6.0, 8.0
HEAD_MM, FOOT_MM = 22.0, 8.0
DPI = 254.0
MOST_BESIDE = 4
"""More sides than this stand below each other."""

SOFT = "#5C5F63"


def png(sheet: SheetView, heading: str, when: str) -> bytes:
    """The sheet as a PNG file, ten pixels a millimetre; `heading` and `when` say which match it is of."""
    return render.to_png(svg(sheet, heading, when), DPI)


def svg(sheet: SheetView, heading: str, when: str) -> str:
    """The sheet as a drawing."""
    rows = _across(sheet) if len(sheet.sides) <= MOST_BESIDE else _down(sheet)
    height = HEAD_MM + LINE_MM * len(rows) + FOOT_MM + MARGIN_MM
    body = [
        draw.rect(0, 0, WIDTH_MM, height, draw.paint(draw.PAPER)),
        *_head(sheet, heading),
        *(part for number, row in enumerate(rows) for part in _row(row, number, len(rows))),
        _words(when, MARGIN_MM, height - 5, 3.2, WIDTH_MM - 2 * MARGIN_MM, fill=SOFT),
    ]
    return draw.document(WIDTH_MM, height, body)


def _head(sheet: SheetView, heading: str) -> Iterator[str]:
    yield draw.rect(0, 0, WIDTH_MM, 17, draw.paint(draw.INK))
    yield draw.group(pictograms.milestone(draw.INK, ""), x=MARGIN_MM + 4.5, y=8.7, scale=1.35)
    yield _words(heading, MARGIN_MM + 12, 8, 5.6, WIDTH_MM - 2 * MARGIN_MM - 12, weight=800, fill=draw.PAPER)
    yield _words(_about(sheet), MARGIN_MM + 12, 13.6, 4, WIDTH_MM - 2 * MARGIN_MM - 12, fill=draw.PAPER)


def _about(sheet: SheetView) -> str:
    """Which hand it is and how it ended."""
    how = _("%(who)s completed %(km)d km", who=sheet.completed_by, km=sheet.target) if sheet.completed_by else sheet.how
    return _("%(hand)s: %(how)s", hand=sheet.title, how=how) if how else sheet.title


Cells = tuple[str, ...]


def _across(sheet: SheetView) -> list[Cells]:
    """A column a side, as on the page."""
    total = _("This race") if sheet.is_race else _("This hand")
    rows: list[Cells] = [("", *sheet.sides), *(_cells(row) for row in sheet.rows), (total, *map(str, sheet.totals))]
    return rows + ([(_("Match"), *map(str, sheet.match))] if sheet.match and not sheet.is_race else [])


def _cells(row: Row) -> Cells:
    return (row.title, *("–" if points is None else str(points) for points in row.points))


def _down(sheet: SheetView) -> list[Cells]:
    """A line a side, with its total and the match's: so many sides have no room beside each other."""
    has_match = bool(sheet.match) and not sheet.is_race
    head = ("", _("This race") if sheet.is_race else _("This hand"), *([_("Match")] if has_match else []))
    sides = enumerate(sheet.sides)
    return [head, *((s, str(sheet.totals[n]), *([str(sheet.match[n])] if has_match else [])) for n, s in sides)]


def _row(cells: Cells, number: int, count: int) -> Iterator[str]:
    top = HEAD_MM - 2 + LINE_MM * number
    is_total = number == count - 1
    look = draw.paint(stroke=draw.INK, width=0.6 if is_total or number == 1 else 0.15)
    if number:
        yield draw.line(MARGIN_MM, top, WIDTH_MM - MARGIN_MM, top, look)
    columns = len(cells) - 1
    first = 38.0 if columns > 2 else 46.0
    room = (WIDTH_MM - 2 * MARGIN_MM - first) / columns
    baseline, weight = top + 5.7, 800 if is_total or not number else 600
    yield _words(cells[0], MARGIN_MM, baseline, 4.6, first - 2, weight=weight)
    for place, words in enumerate(cells[1:], start=1):
        right = MARGIN_MM + first + room * place
        yield _words(words, right, baseline, 5.0, room - 2, anchor=1.0, weight=weight)


def _words(
    words: str,
    x: float,
    y: float,
    size: float,
    room: float,
    *,
    anchor: float = 0.0,
    weight: int = 600,
    fill: str = draw.INK,
) -> str:
    """Words no wider than the room they have; what the letters do not know is left as a dot."""
    known = lettering.known(words, weight)
    width = draw.text_width(known, 1, weight=weight)
    fit = min(size, room / width) if width else size
    return draw.text(known, x, y, fit, anchor=anchor, weight=weight, fill=fill)

"""A score sheet as a picture. Letters are outlines: no font is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from companion.pages.scores.score_sheets import SheetView
from companion.pages.words import _
from companion.printing import lettering, pictograms, render
from companion.printing import svg as draw

WIDTH_MM, MARGIN_MM, LINE_MM = 100.0, 6.0, 8.0
HEAD_MM, FOOT_MM = 23.0, 6.0
DPI = 254.0
MOST_BESIDE = 4  # sides with a column each; more have a row each
SMALLEST_MM = 3.4  # letters on one line; longer names take two
SOFT = "#5C5F63"


Row = tuple[tuple[str, ...], bool]  # cells; whether bold (heading or total)


def png(sheet: SheetView, heading: str, when: str) -> bytes:
    """Return the sheet as PNG, ten pixels per mm; `heading` and `when` identify the match."""
    return render.to_png(svg(sheet, heading, when), DPI)


def svg(sheet: SheetView, heading: str, when: str) -> str:
    """Return the sheet as SVG."""
    is_won = sheet.winner and not sheet.is_race
    hand = _("%(hand)s: %(how)s", hand=sheet.title, how=sheet.headline)
    return table(heading, f"{sheet.headline} {sheet.final_score}" if is_won else hand, _table(sheet), when)


def table(heading: str, about: str, rows: Sequence[Row], foot: str) -> str:
    """Return a table below a dark heading as SVG."""
    height = HEAD_MM + LINE_MM * len(rows) + FOOT_MM + MARGIN_MM
    body = [
        draw.rect(0, 0, WIDTH_MM, height, draw.paint(draw.PAPER)),
        *_head(heading, about),
        *(part for number, row in enumerate(rows) for part in _row(row, number)),
        _words(foot, MARGIN_MM, height - 5, 3.2, WIDTH_MM - 2 * MARGIN_MM, fill=SOFT),
    ]
    return draw.document(WIDTH_MM, height, body)


def _head(heading: str, about: str) -> Iterator[str]:
    yield draw.rect(0, 0, WIDTH_MM, 17, draw.paint(draw.INK))
    yield draw.group(pictograms.milestone(draw.INK, ""), x=MARGIN_MM + 4.5, y=8.7, scale=1.35)
    yield _words(heading, MARGIN_MM + 12, 8, 5.6, WIDTH_MM - 2 * MARGIN_MM - 12, weight=800, fill=draw.PAPER)
    yield _words(about, MARGIN_MM + 12, 13.6, 4, WIDTH_MM - 2 * MARGIN_MM - 12, fill=draw.PAPER)


def _table(sheet: SheetView) -> list[Row]:
    points = [(row["title"], *("–" if of is None else str(of) for of in row["points"])) for row in sheet.rows]
    totals = [(_("This race") if sheet.is_race else _("This hand"), *map(str, sheet.totals))]
    match = [(_("Match"), *map(str, sheet.match))] if sheet.match and not sheet.is_race else []
    if len(sheet.sides) <= MOST_BESIDE:
        return [(cells, cells in totals or not cells[0]) for cells in (("", *sheet.sides), *points, *totals, *match)]
    return [(cells, not cells[0]) for cells in zip(("", *sheet.sides), *totals, *match, strict=True)]


def _row(row: Row, number: int) -> Iterator[str]:
    (name, *cells), is_bold = row
    top = HEAD_MM - 2 + LINE_MM * number
    if number:
        width = 0.6 if is_bold or number == 1 else 0.15
        yield draw.line(MARGIN_MM, top, WIDTH_MM - MARGIN_MM, top, draw.paint(stroke=draw.INK, width=width))
    columns, baseline = len(cells), top + 5.7
    first, weight = 38.0 if columns > 2 else 44.0, 800 if is_bold else 600
    room = (WIDTH_MM - 2 * MARGIN_MM - first) / columns
    yield _words(name, MARGIN_MM, baseline, 4.6, first - 2, weight=weight)
    for place, words in enumerate(cells, start=1):
        right = MARGIN_MM + first + room * place
        yield from _cell(words, right, baseline, room - 3, weight)


def _cell(words: str, right: float, baseline: float, room: float, weight: int) -> Iterator[str]:
    begins, _blank, ends = words.rpartition(" ")
    if begins and _fitting(words, 5.0, room, weight) < SMALLEST_MM:
        yield _words(begins, right, baseline - 3.6, 4.2, room, anchor=1.0, weight=weight)
        yield _words(ends, right, baseline, 4.2, room, anchor=1.0, weight=weight)
    else:
        yield _words(words, right, baseline, 5.0, room, anchor=1.0, weight=weight)


def _fitting(words: str, size: float, room: float, weight: int) -> float:
    width = lettering.outline(lettering.known(words, weight), weight).width_em
    return min(size, room / width) if width else size


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
    fit = _fitting(words, size, room, weight)
    return draw.text(lettering.known(words, weight), x, y, fit, anchor=anchor, weight=weight, fill=fill)

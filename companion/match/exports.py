"""A match to keep: its judged lines as JSON, its score sheets as a table for a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping

from companion.match.archive import Past
from companion.rules.record import judge, notation
from companion.rules.record.judge import HandResult, Item
from companion.rules.record.notation import Line

_BEGIN_FORMULAS = ("=", "+", "-", "@", "|", "%")
"""In any width: what a spreadsheet may take for the beginning of something to compute."""


def text_of(past: Past, form: str, called: Callable[[str], str]) -> str:
    """Return a match as a record (`mbn`), its score sheets (`csv`), or its judged lines as JSON; `called` as below."""
    if form == "mbn":
        return notation.record_text(past.lines)
    if form == "csv":
        return as_csv(past.record.items, called)
    return as_json_lines(judged(past.lines), str(past.match), past.game.shown)


def judged(lines: Iterable[str]) -> tuple[Item, ...]:
    """Return what the referee makes of a record: every line's verdict, every hand's result."""
    return tuple(judge.judge(Line(number, text) for number, text in enumerate(lines, start=1)))


def as_json_lines(items: Iterable[Item], name: str, shown: Mapping[str, str] | None = None) -> str:
    """Return one JSON object a line of the record and one a hand; `name` is what they call the record.

    Where players are `shown` under other names than the record's, each hand says which.
    """
    names = {"names": dict(shown)} if shown else {}
    bodies = (item.as_json(name) | (names if isinstance(item, HandResult) else {}) for item in items)
    return "".join(json.dumps(body, ensure_ascii=False) + "\n" for body in bodies)


def as_csv(items: Iterable[Item], called: Callable[[str], str] = str) -> str:
    """Return the score sheets of all hands, a row a line of each side's sheet; `called` gives a side's name to show."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(["hand", "ended", "side", "item", "points", "name"])
    for result in items:
        if isinstance(result, HandResult):
            for side, sheet in result.sheets.items():
                rows = [*((item.value, points) for item, points in sheet.lines), ("total", sheet.total)]
                table.writerows([result.number, result.how, side, *row, _cell(called(side))] for row in rows)
    return text.getvalue()


def _cell(name: str) -> str:
    """Return a name as a cell: what somebody typed must not become a formula of the spreadsheet."""
    begins = unicodedata.normalize("NFKC", name.lstrip())[:1]
    return f"'{name}" if begins in _BEGIN_FORMULAS or name[:1].isspace() or not name.isprintable() else name

"""A match to keep: its judged lines as JSON, its score sheets as a table for a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable

from companion.rules import judge
from companion.rules.judge import HandResult, Item
from companion.rules.notation import Line


def judged(lines: Iterable[str]) -> tuple[Item, ...]:
    """What the referee makes of a record: every line's verdict, every hand's result."""
    return tuple(judge.judge(Line(number, text) for number, text in enumerate(lines, start=1)))


def as_json_lines(items: Iterable[Item], name: str) -> str:
    """One JSON object a line of the record and one a hand; `name` is what they call the record."""
    return "".join(json.dumps(item.as_json(name), ensure_ascii=False) + "\n" for item in items)


def as_csv(items: Iterable[Item]) -> str:
    """The score sheets of all hands, a row for each line of each side's sheet."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(["hand", "ended", "side", "item", "points"])
    for result in items:
        if isinstance(result, HandResult):
            for side, sheet in result.sheets.items():
                table.writerows([result.number, result.how, side, item.value, points] for item, points in sheet.lines)
                table.writerow([result.number, result.how, side, "total", sheet.total])
    return text.getvalue()

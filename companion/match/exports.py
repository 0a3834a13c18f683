"""A match written as a file: its record, its score sheets, its judged lines, a play for the app BG Stats."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Callable, Iterable

from companion.common import clock
from companion.match.archive import Past
from companion.match.statistics import key_of
from companion.rules.record import judge, notation
from companion.rules.record.judge import HandResult, Item
from companion.rules.record.notation import Line

_BEGIN_FORMULAS = ("=", "+", "-", "@", "|", "%")  # what a spreadsheet may compute, in any width


def text_of(past: Past, form: str, called: Callable[[str], str]) -> str:
    """Return a match as a record (`mbn`), its score sheets (`csv`), or its judged lines as JSON; `called` as below."""
    if form == "mbn":
        return notation.record_text(past.lines)
    if form == "csv":
        return as_csv(past.record.items, called)
    # Where players are shown under other names than the record's, each hand says which.
    names = {"names": dict(past.game.shown)} if past.game.shown else {}
    items = judge.judge(Line(number, text) for number, text in enumerate(past.lines, start=1))
    bodies = (item.as_json(str(past.match)) | (names if isinstance(item, HandResult) else {}) for item in items)
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
                table.writerows([result.number, result.how, side, *row, as_cell(called(side))] for row in rows)
    return text.getvalue()


def as_cell(name: str) -> str:
    """Return a name as a cell: what somebody typed must not become a formula of the spreadsheet."""
    begins = unicodedata.normalize("NFKC", name.lstrip())[:1]
    return f"'{name}" if begins in _BEGIN_FORMULAS or name[:1].isspace() or not name.isprintable() else name


BG_STATS_GAME = "Mille Bornes"  # what the app finds the game by: no number at BoardGameGeek is needed


def bg_stats_play(past: Past, called: Callable[[str], str]) -> dict[str, object] | None:
    """Return a match as a play for BG Stats, as it stands after its last finished hand; None where there is none.

    Of a record that holds several matches, or races, it is the last. `called` gives a player's or a side's name to
    show. The app remembers whom it took a player's id for, and a play by its id, so a match sent twice is one play.
    """
    if not past.finished:
        return None
    last, ended = past.finished[-1].result, clock.moment(past.ended_s)
    is_race = last.table.edition.is_race
    number = last.number if is_race else sum(last.won.values()) + (last.winner is None)
    return {
        "sourceName": "Mille Bornes Companion",
        "sourcePlayId": f"{past.began_s:.0f}-{past.match}-{number}",
        "playDate": f"{ended:%Y-%m-%d %H:%M:%S}" if ended else "",
        "board": past.game.edition.title,
        "game": {"name": BG_STATS_GAME, "sourceGameId": "mille-bornes", "highestWins": True, "noPoints": False},
        "players": [
            {
                "name": called(player),
                "sourcePlayerId": key_of(called(player)),
                "role": called(side.name) if len(side.players) > 1 else "",
                "score": last.sheets[side.name].total if is_race else last.match[side.name],
                "winner": side.name == last.winner,
            }
            for side in last.table.sides
            for player in side.players
        ],
    }

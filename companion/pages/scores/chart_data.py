"""Data of the charts: the kilometres of each side after every play, the totals after every hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from companion.match.archive import PlayedHand
from companion.match.statistics import struck_by
from companion.pages import words
from companion.pages.scores.charts import Line, Mark, Plot, Point
from companion.pages.words import Names, _
from companion.rules.record.judge import HandResult
from companion.rules.table import Table

_Moment = tuple[Table, Mark | None]
"""The table after a play that counts, and the hazard that it laid."""


def race(hand: PlayedHand, names: Names) -> Plot | None:
    """Return the kilometres of a hand, play by play; None where nobody has driven yet."""
    moments = list(_moments(hand, names))
    table = hand.result.table
    if not any(table.race_km(side) for side in table.sides):
        return None
    sides = tuple(names.side(side.name) for side in table.sides)
    km = [_("%(who)s: %(km)d km", who=names.side(side.name), km=table.race_km(side)) for side in table.sides]
    return Plot(
        key=f"race-{hand.number}",
        title=_("The race to %(km)d km", km=table.target),
        about=_("How far each had driven after every play. At the end: %(all)s.", all=", ".join(km)),
        lines=tuple(Line(name, (_course(moments, index),)) for index, name in enumerate(sides)),
        x_name=_("plays"),
        x_most=len(moments),
        goal=(table.target, _("%(km)d km", km=table.target)),
        marks=tuple(mark for _table, mark in moments if mark),
        in_steps=True,
        heads=(_("Play"), *sides, _("Hazard")),
        rows=tuple(_rows(moments)),
    )


def _moments(hand: PlayedHand, names: Names) -> Iterator[_Moment]:
    moves = zip(hand.entries, hand.games, strict=True)
    counted = ((e.judged, g.table) for e, g in moves if e.judged and e.judged.applied and g.table is not None)
    for number, (judged, table) in enumerate(counted, start=1):
        struck, mark = struck_by(judged), None
        if struck is not None:
            side, card = struck
            say = _("%(title)s on %(whom)s", title=words.title(card), whom=names.side(side.name))
            mark = Mark((number, table.race_km(side)), card.value, say)
        yield table, mark


def _course(moments: Sequence[_Moment], index: int) -> tuple[Point, ...]:
    """Return the corners of a side's line, and its end."""
    points: list[Point] = [(0, 0)]
    for number, (table, _mark) in enumerate(moments, start=1):
        km = table.race_km(table.sides[index])
        if km != points[-1][1]:
            points.append((number, km))
    return (*points, (len(moments), points[-1][1]))


def _rows(moments: Sequence[_Moment]) -> Iterator[tuple[str, ...]]:
    """Yield the plays that changed a distance or laid a hazard."""
    before: tuple[int, ...] = ()
    for number, (table, mark) in enumerate(moments, start=1):
        now = tuple(table.race_km(side) for side in table.sides)
        if (now != before and (before or any(now))) or mark:
            yield (str(number), *map(str, now), mark.say if mark else "")
        before = now


def totals(results: Sequence[HandResult], names: Names) -> Plot | None:
    """Return the match totals after each hand; None before there are two hands to compare."""
    if len(results) < 2:
        return None
    edition, teams = results[-1].table.edition, [side.name for side in results[-1].table.sides]
    is_race, sides = words.is_race(edition), tuple(names.side(team) for team in teams)
    goal, last = edition.match_points, results[-1].match
    now = [_("%(who)s: %(sum)d", who=names.side(team), sum=last.get(team, 0)) for team in teams]
    return Plot(
        key="totals",
        title=_("Race by race") if is_race else _("The match, hand by hand"),
        about=_("Where each stood after every hand. At the end: %(all)s.", all=", ".join(now)),
        lines=tuple(Line(name, tuple(_runs(results, team))) for name, team in zip(sides, teams, strict=True)),
        x_name=_("races") if is_race else _("hands"),
        x_most=len(results),
        goal=(goal, str(goal)) if goal else None,
        heads=(_("Race") if is_race else _("Hand"), *sides),
        rows=tuple((str(result.number), *(str(result.match.get(team, 0)) for team in teams)) for result in results),
    )


def _runs(results: Sequence[HandResult], team: str) -> Iterator[tuple[Point, ...]]:
    """Yield a side's totals in runs; a match that begins again begins at 0."""
    run: list[Point] = []
    for number, result in enumerate(results, start=1):
        total = result.match.get(team, 0)
        start = total - result.sheets[team].total
        if not run or run[-1][1] != start:
            if run:
                yield tuple(run)
            run = [(number - 1, start)]
        run.append((number, total))
    yield tuple(run)

"""Charts as SVG, styled in `score.css`.

Lines differ in color, dash and marker, with names at their ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from companion.match.archive import PlayedHand
from companion.match.statistics import struck_by
from companion.pages import words
from companion.pages.words import Names, _
from companion.rules.record.judge import HandResult
from companion.rules.table import Table
from companion.tabletop.mat_layout import SIDE_MARKS

WIDTH, HEIGHT = 340.0, 230.0
LEFT, RIGHT, TOP, BOTTOM = 38.0, 84.0, 16.0, 30.0  # room for numbers left and below, names right
LOOKS = len(SIDE_MARKS)
MOST_LETTERS = 11
MOST_TICKS = 5
LABEL_HEIGHT = 14.0
MARK_SIDE = 15.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Curve:
    """A side's line; each restart begins a run."""

    label: str
    runs: tuple[tuple[Point, ...], ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """An event on a line: card symbol and description."""

    at: Point
    sign: str
    say: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A line chart and the same data as a table."""

    key: str  # id: a letter, then letters, digits and dashes
    title: str
    about: str  # for screen readers
    lines: tuple[Curve, ...]
    x_name: str
    x_most: int
    goal: tuple[float, str] | None = None  # horizontal line: value and label
    marks: tuple[Mark, ...] = ()
    in_steps: bool = False  # otherwise straight lines
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class _Scale:
    x_most: float
    y_most: float

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * value / self.x_most

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / self.y_most


def svg(plot: Plot, signs: str) -> Markup:
    """Return a chart as SVG; `signs` is the URL of the card symbols."""
    highest = max((y for line in plot.lines for run in line.runs for _x, y in run), default=0.0)
    scale = _Scale(max(1, plot.x_most), max(highest, plot.goal[0] if plot.goal else 0.0, 100.0))
    parts = [
        _drawn('<title id="{}-t">{}</title>', plot.key, plot.title),
        _drawn('<desc id="{}-d">{}</desc>', plot.key, plot.about),
        *_grid(plot, scale),
        *(part for number, line in enumerate(plot.lines) for part in _line(line, number, plot.in_steps, scale, signs)),
        *(_mark(mark, signs, scale) for mark in plot.marks),
        *_labels(plot.lines, scale, signs),
    ]
    root = '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-labelledby="{}-t {}-d">{}</svg>'
    return _drawn(root, WIDTH, HEIGHT, plot.key, plot.key, Markup("").join(parts))


def sample(number: int, signs: str) -> Markup:
    """Return line `number`'s sample for the legend."""
    root = '<svg class="sample" viewBox="0 0 32 14" aria-hidden="true"><path class="line side-{}" d="M1 7H31"/>{}</svg>'
    return _drawn(root, number % LOOKS + 1, _shape(number, 16.0, 7.0, 7.0, signs))


def _grid(plot: Plot, scale: _Scale) -> Iterator[Markup]:
    for value in ticks(scale.y_most):
        y = scale.y(value)
        yield _drawn('<path class="grid" d="M{} {}H{}"/>', LEFT, y, WIDTH - RIGHT)
        yield _text(f"{value:g}", LEFT - 6, y + 4, "end")
    for value in ticks(plot.x_most, whole=True)[1:]:
        yield _text(f"{value:g}", scale.x(value), HEIGHT - BOTTOM + 14, "middle")
    yield _text(plot.x_name, LEFT, HEIGHT - 3, "start")
    if plot.goal is not None:
        y = scale.y(plot.goal[0])
        yield _drawn('<path class="goal-line" d="M{} {}H{}"/>', LEFT, y, WIDTH - RIGHT)
        yield _text(plot.goal[1], LEFT + 3, y - 4, "start", "goal-text")


def _line(line: Curve, number: int, in_steps: bool, scale: _Scale, signs: str) -> Iterator[Markup]:
    for run in line.runs:
        places = [(scale.x(x), scale.y(y)) for x, y in run]
        yield _drawn('<path class="line side-{}" d="{}"/>', number % LOOKS + 1, _path(places, in_steps=in_steps))
        for (x, y), before in zip(places[1:], places, strict=False):
            if y != before[1]:
                yield _shape(number, x, y, 5.0, signs)


def _path(places: Sequence[Point], *, in_steps: bool) -> str:
    first, *others = places
    step = "H{}V{}" if in_steps else "L{} {}"
    return _drawn("M{} {}", *first) + "".join(_drawn(step, *place) for place in others)


def _mark(mark: Mark, signs: str, scale: _Scale) -> Markup:
    x, y = scale.x(mark.at[0]) - MARK_SIDE / 2, scale.y(mark.at[1]) - MARK_SIDE / 2
    use = '<use href="{}#s-{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></use>'
    return _drawn(use, signs, mark.sign, x, y, MARK_SIDE, MARK_SIDE, mark.say)


def _labels(lines: Sequence[Curve], scale: _Scale, signs: str) -> Iterator[Markup]:
    ends = [scale.y(line.runs[-1][-1][1]) if line.runs else scale.y(0) for line in lines]
    x = WIDTH - RIGHT + 9
    for number, y in enumerate(spread(ends, LABEL_HEIGHT, TOP, HEIGHT - BOTTOM)):
        yield _shape(number, x, y, 6.0, signs)
        yield _text(cut(lines[number].label), x + 8, y + 4, "start", "name")


def spread(wanted: Sequence[float], gap: float, lowest: float, highest: float) -> list[float]:
    """Return positions near `wanted`, in their order and at least `gap` apart."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    places = [0.0] * len(wanted)
    at = lowest - gap
    for index in order:
        at = places[index] = max(wanted[index], at + gap)
    at = highest + gap
    for index in reversed(order):
        at = places[index] = min(places[index], at - gap)
    return places


def cut(label: str) -> str:
    """Shorten a name to MOST_LETTERS; the legend has it in full."""
    return label if len(label) <= MOST_LETTERS else label[: MOST_LETTERS - 1].rstrip() + "…"


def ticks(most: float, *, whole: bool = False) -> list[float]:
    """Return at most six round values from 0 up to `most`."""
    size = 1.0
    while True:
        for step in (size, 2 * size, 2.5 * size, 5 * size):
            if most / step <= MOST_TICKS and (not whole or step == int(step)):
                return [step * number for number in range(int(most / step + 1e-9) + 1)]
        size *= 10


def _shape(number: int, x: float, y: float, size: float, signs: str) -> Markup:
    use = '<use href="{}#s-badge-{}" x="{}" y="{}" width="{}" height="{}"/>'
    return _drawn(use, signs, number % LOOKS + 1, x - size, y - size, 2 * size, 2 * size)


def _text(words: str, x: float, y: float, anchor: str, look: str = "axis") -> Markup:
    return _drawn('<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>', look, x, y, anchor, words)


def _drawn(pattern: str, *values: object) -> Markup:
    """Return SVG with values inserted: numbers to one decimal, texts escaped."""
    said = (f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value for value in values)
    return Markup(pattern).format(*said)  # noqa: S704 - the patterns are ours


_Moment = tuple[Table, Mark | None]  # table after a counted play, and its hazard's mark


def race(hand: PlayedHand, names: Names) -> Plot | None:
    """Return a chart of a hand's distances by play; None before a side has driven."""
    moments = list(_moments(hand, names))
    table = hand.result.table
    if not any(table.race_km(side) for side in table.sides):
        return None
    sides = tuple(names.side(side.name) for side in table.sides)
    km = [_("%(who)s: %(km)d km", who=names.side(side.name), km=table.race_km(side)) for side in table.sides]
    return Plot(
        key=f"race-{hand.number}",
        title=_("The race to %(km)d km", km=table.target),
        about=_("Distance after each play. At the end: %(all)s.", all=", ".join(km)),
        lines=tuple(Curve(name, (_course(moments, index),)) for index, name in enumerate(sides)),
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
    points: list[Point] = [(0, 0)]
    for number, (table, _mark) in enumerate(moments, start=1):
        km = table.race_km(table.sides[index])
        if km != points[-1][1]:
            points.append((number, km))
    return (*points, (len(moments), points[-1][1]))


def _rows(moments: Sequence[_Moment]) -> Iterator[tuple[str, ...]]:
    before: tuple[int, ...] = ()
    for number, (table, mark) in enumerate(moments, start=1):
        now = tuple(table.race_km(side) for side in table.sides)
        if (now != before and (before or any(now))) or mark:
            yield (str(number), *map(str, now), mark.say if mark else "")
        before = now


def totals(results: Sequence[HandResult], names: Names) -> Plot | None:
    """Return a chart of match totals by hand; None for fewer than two hands."""
    if len(results) < 2:
        return None
    edition, teams = results[-1].table.edition, [side.name for side in results[-1].table.sides]
    is_race, sides = edition.is_race, tuple(names.side(team) for team in teams)
    goal, last = edition.match_points, results[-1].match
    now = [_("%(who)s: %(sum)d", who=names.side(team), sum=last.get(team, 0)) for team in teams]
    return Plot(
        key="totals",
        title=_("Race by race") if is_race else _("The match, hand by hand"),
        about=_("Score after each hand. At the end: %(all)s.", all=", ".join(now)),
        lines=tuple(Curve(name, tuple(_runs(results, team))) for name, team in zip(sides, teams, strict=True)),
        x_name=_("races") if is_race else _("hands"),
        x_most=len(results),
        goal=(goal, str(goal)) if goal else None,
        heads=(_("Race") if is_race else _("Hand"), *sides),
        rows=tuple((str(result.number), *(str(result.match.get(team, 0)) for team in teams)) for result in results),
    )


def _runs(results: Sequence[HandResult], team: str) -> Iterator[tuple[Point, ...]]:
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

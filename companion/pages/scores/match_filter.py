"""A choice of matches in the address, such as `?when=2026&edition=rush&with=ann`, and the links to other choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from flask import request

from companion.common import clock
from companion.match import season
from companion.match.season import MONTH, YEAR, MatchFigures, Month, Selection
from companion.pages.words import _

MOST_LETTERS, MOST_PRESENT, MOST_NAMES = 200, 8, 24  # of a value; players chosen; players offered


@dataclass(frozen=True, slots=True)
class FilterLink:
    """A link to another choice of matches."""

    title: str
    href: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class FilterView:
    """The filter as shown: what is chosen, and rows of links."""

    says: str
    is_chosen: bool
    rows: tuple[tuple[str, tuple[FilterLink, ...]], ...]


def selection() -> Selection:
    """Return the request's choice of matches."""
    said = request.args
    present = dict.fromkeys(key[:MOST_LETTERS] for key in said.getlist("with") if key)
    return Selection(
        said.get("when", "")[:MOST_LETTERS], said.get("edition", "")[:MOST_LETTERS], tuple(present)[:MOST_PRESENT]
    )


def query(chosen: Selection) -> str:
    """Return a choice as the end of an address; empty for all matches."""
    pairs = [("when", chosen.when), ("edition", chosen.edition), *(("with", key) for key in chosen.present)]
    said = urlencode([pair for pair in pairs if pair[1]])
    return f"?{said}" if said else ""


def this_month() -> Month | None:
    """Return the current month; None if the clock is wrong."""
    return season.month_of(clock.now_s())


def view(path: str, chosen: Selection, matches: Sequence[MatchFigures], whose: str = "") -> FilterView:
    """Return the filter of the page at `path`; `whose` page it is, by key, is not offered as company."""
    counted = [one for one in matches if one.players]
    times = {"": _("All"), **dict(_times(counted, this_month()))}
    editions = {"": _("All"), **{one.edition: _(one.title) for one in counted}}
    names = {key: figures.name for one in counted for key, figures in one.players.items()}
    often = Counter(key for one in counted for key in one.players if key != whose).most_common(MOST_NAMES)

    def link(title: str, to: Selection) -> FilterLink:
        return FilterLink(title, path + query(to), to == chosen)

    def company(key: str) -> FilterLink:
        is_chosen = key in chosen.present
        others = tuple(one for one in chosen.present if one != key)
        to = replace(chosen, present=others if is_chosen else (*others, key))
        return FilterLink(names[key], path + query(to), is_chosen)

    rows = [
        (_("When"), [link(title, replace(chosen, when=when)) for when, title in times.items()], 2),
        (_("Edition"), [link(title, replace(chosen, edition=name)) for name, title in editions.items()], 2),
        (_("With"), [company(key) for key, _count in often], 1 if len(names) > 2 else MOST_NAMES),
    ]
    # One time or edition is the same as all, and two players are always together.
    shown = tuple((title, tuple(choices)) for title, choices, needless in rows if len(choices) > needless)
    said = [times.get(chosen.when, chosen.when), editions.get(chosen.edition, chosen.edition)]
    said = [title for title, value in zip(said, (chosen.when, chosen.edition), strict=True) if value]
    if chosen.present:
        said.append(_("with %(whom)s", whom=", ".join(names.get(key, key) for key in chosen.present)))
    return FilterView(" · ".join(said) or _("All matches"), chosen != Selection(), shown)


def _times(matches: Sequence[MatchFigures], now: Month | None) -> Iterator[tuple[str, str]]:
    """Yield value and title of each time with matches, the latest first."""
    months = {one.month for one in matches if one.month}
    if now in months:
        yield MONTH, _("This month")
    years = {year for year, _month in months}
    if now and now[0] in years:
        yield YEAR, _("This year")
    for year in sorted(years - {now[0] if now else 0}, reverse=True):
        yield str(year), str(year)

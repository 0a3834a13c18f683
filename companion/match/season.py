"""Statistics of many matches: what each match adds, which matches count, and their sums by edition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from companion.common import clock
from companion.match import statistics
from companion.match.history import history
from companion.match.state import judge_on
from companion.match.statistics import Figures, key_of
from companion.rules.record.judge import EMPTY_RECORD, JudgedRecord
from companion.rules.table import HowEnded
from companion.storage.events import Event

PAUSE_S = 30 * 60.0  # a longer gap between two entries is no play
Month = tuple[int, int]  # year and month, local time


@dataclass(frozen=True, slots=True)
class DecidedMatch:
    """A match or race with a winner."""

    match: int  # of the log
    hand: int  # its last
    edition: str
    at_s: float  # Unix time of the log's match
    sides: tuple[tuple[tuple[str, ...], int], ...]  # players' keys, and points or, in a race, distance
    winner: tuple[str, ...]  # players' keys


@dataclass(frozen=True, slots=True)
class MatchFigures:
    """What one match of the log adds to the statistics."""

    match: int
    edition: str  # name
    title: str  # of the edition, in English
    began_s: float  # Unix time
    month: Month | None  # None if the clock was wrong
    players: dict[str, Figures]  # by key; empty without a finished hand
    partners: dict[tuple[str, ...], Figures]  # by the players' keys
    decided: tuple[DecidedMatch, ...]


def figures_of(match: int, events: Sequence[Event]) -> MatchFigures:
    """Return what a match's events add; unfinished hands add nothing."""
    record, _ = judge_on(EMPTY_RECORD, history(events).lines)
    began_s = events[0].at_s
    shown, players = record.game.shown, (player for team in record.game.teams for player in team.players)
    keys = {player: key_of(shown.get(player, player)) for player in players}
    partners = statistics.partners_of(record)
    teams = [tuple(sorted(keys[player] for player in team.players)) for team in record.game.teams]
    return MatchFigures(
        match=match,
        edition=record.game.edition.name,
        title=record.game.edition.title,
        began_s=began_s,
        month=month_of(began_s),
        players=statistics.players_of(record),
        partners={team: partners[key] for team in teams if (key := statistics.joint_key(team)) in partners},
        decided=tuple(_decided(match, began_s, record, keys)),
    )


def month_of(at_s: float) -> Month | None:
    """Return the local year and month of a Unix time; None if the clock was wrong."""
    if clock.moment(at_s) is None:
        return None
    moment = datetime.fromtimestamp(at_s).astimezone()
    return moment.year, moment.month


def played_s(times_s: Iterable[float]) -> float:
    """Return the seconds played: the gaps between a match's events, without pauses and clock jumps."""
    return sum(gap for one, other in pairwise(times_s) if 0 < (gap := other - one) <= PAUSE_S)


def _decided(match: int, at_s: float, record: JudgedRecord, keys: Mapping[str, str]) -> Iterator[DecidedMatch]:
    for result in record.hands.values():
        if result.winner is None or result.how is HowEnded.OPEN:
            continue
        edition = result.table.edition
        totals = {side: sheet.total for side, sheet in result.sheets.items()} if edition.is_race else result.match
        sides = {side.name: tuple(sorted(keys[player] for player in side.players)) for side in result.table.sides}
        scored = tuple((players, totals[name]) for name, players in sides.items())
        yield DecidedMatch(match, result.number, edition.name, at_s, scored, sides[result.winner])


# Which matches count

MONTH, YEAR = "month", "year"  # the current ones


@dataclass(frozen=True, slots=True)
class Selection:
    """A choice of matches."""

    when: str = ""  # MONTH, YEAR, or a year such as `2025`; empty for all
    edition: str = ""  # empty for all
    present: tuple[str, ...] = ()  # keys of players who all took part

    def takes(self, one: MatchFigures, now: Month | None) -> bool:
        """True if a match counts; `now` is the current month, None if the clock is wrong."""
        if self.edition not in ("", one.edition) or not one.players.keys() >= set(self.present):
            return False
        if self.when == MONTH:
            return now is not None and one.month == now
        year = now[0] if now and self.when == YEAR else self.when
        return not self.when or (one.month is not None and str(one.month[0]) == str(year))


# Sums


@dataclass(frozen=True, slots=True)
class EditionFigures:
    """The statistics of all matches of one edition."""

    edition: str
    title: str  # in English
    players: dict[str, Figures]  # by key, most wins first
    partners: dict[str, Figures]  # by `statistics.joint_key`
    teams: dict[str, tuple[str, ...]]  # their players' keys, by the same key
    decided: tuple[DecidedMatch, ...]  # oldest first

    def find(self, key: str) -> tuple[Figures, tuple[str, ...]] | None:
        """Return the figures of a player or of partners, and the keys of the players; None if they did not play."""
        if key in self.players:
            return self.players[key], (key,)
        return (self.partners[key], self.teams[key]) if key in self.partners else None


def by_edition(matches: Iterable[MatchFigures]) -> list[EditionFigures]:
    """Add up matches, oldest first, for each edition; the edition with most matches comes first."""
    found: dict[str, list[MatchFigures]] = {}
    for one in matches:
        if one.players:
            found.setdefault(one.edition, []).append(one)
    return [
        EditionFigures(
            edition,
            ones[-1].title,
            statistics.together(one.players for one in ones),
            statistics.together(
                {statistics.joint_key(team): figures for team, figures in one.partners.items()} for one in ones
            ),
            {statistics.joint_key(team): team for one in ones for team in one.partners},
            tuple(decided for one in ones for decided in one.decided),
        )
        for edition, ones in sorted(found.items(), key=lambda item: -len(item[1]))
    ]


@dataclass(frozen=True, slots=True)
class Duel:
    """A decided match between a side and one opposing side."""

    match: DecidedMatch
    points: int  # or distance in a race
    opponents: tuple[str, ...]  # keys
    opponents_points: int

    @property
    def margin(self) -> int:
        """The winner's lead; 0 if level."""
        return abs(self.points - self.opponents_points)


def duels(decided: Iterable[DecidedMatch], keys: Iterable[str]) -> Iterator[Duel]:
    """Yield the matches of players on one side against each other side, oldest first."""
    own = set(keys)
    for match in decided:
        points = next((points for players, points in match.sides if own <= set(players)), None)
        for players, others in match.sides if points is not None else ():
            if not own <= set(players):
                yield Duel(match, points or 0, players, others)

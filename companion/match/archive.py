"""Past matches: judged on demand, cached and exported."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from companion.common import clock
from companion.common.cache import Kept
from companion.match import season
from companion.match.history import history
from companion.match.season import MatchFigures
from companion.match.state import Entry, judge_on
from companion.match.statistics import key_of
from companion.rules import scoring
from companion.rules.record import judge, notation
from companion.rules.record.judge import EMPTY_RECORD, Game, HandResult, Item, JudgedRecord
from companion.rules.record.notation import RecordLine
from companion.rules.table import HowEnded
from companion.storage.event_store import Store
from companion.storage.events import Event, EventKind

MOST_JUDGED = 16
MOST_COUNTED = 2000


@dataclass(frozen=True, slots=True)
class PlayedHand:
    """A hand of a judged record."""

    number: int
    begins: Game  # before the first play
    entries: tuple[Entry, ...]
    games: tuple[Game, ...]  # after each play
    result: HandResult  # an open hand's score if it ended now

    @property
    def is_open(self) -> bool:
        return self.result.how is HowEnded.OPEN


@dataclass(frozen=True, slots=True)
class PastMatch:
    """A judged match of the log."""

    match: int
    last: int  # number of its last event; the cache key
    began_s: float  # Unix time
    ended_s: float  # Unix time of the last line
    record: JudgedRecord
    hands: tuple[PlayedHand, ...]
    is_demo: bool
    played_s: float  # without long pauses

    @property
    def is_unfinished(self) -> bool:
        """True if people played in this match and it is not over."""
        return self.game.goes_on and not self.is_demo and any(hand.entries for hand in self.hands)

    @property
    def game(self) -> Game:
        return self.record.game

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(line.text for line in self.record.lines)

    @property
    def finished(self) -> tuple[PlayedHand, ...]:
        return tuple(hand for hand in self.hands if not hand.is_open)

    def hand(self, number: int) -> PlayedHand | None:
        return next((hand for hand in self.hands if hand.number == number), None)


class Archive:
    """Cache of judged matches and statistics; a new event of a match drops its entry."""

    def __init__(self) -> None:
        self._past: Kept[PastMatch] = Kept(MOST_JUDGED)
        self._figures: Kept[MatchFigures] = Kept(MOST_COUNTED)

    def past(self, store: Store, match: int) -> PastMatch | None:
        """Return a judged match; None for an unknown number."""
        events = store.events(match)
        return self._past.get(match, lambda: judged(match, events), events[-1].seq) if events else None

    def page(
        self, store: Store, page: int, size: int, only: Sequence[int] | None = None
    ) -> tuple[tuple[PastMatch, ...], int]:
        """Return a page of matches, newest first, and the number of pages; `page` counts from 1.

        `only`: numbers of the matches to show, oldest first.
        """
        matches = (store.matches() if only is None else only)[::-1]
        chosen = (self.past(store, match) for match in matches[(page - 1) * size : page * size])
        return tuple(past for past in chosen if past is not None), -(-len(matches) // size)

    def figures(self, store: Store) -> tuple[MatchFigures, ...]:
        """Return what each match in `store` adds to the statistics, oldest first."""

        def of(match: int) -> MatchFigures:
            return season.figures_of(match, store.events(match))

        return tuple(self._figures.get(match, partial(of, match), seq) for match, seq in store.latest().items())


def judged(match: int, events: Sequence[Event]) -> PastMatch:
    """Judge the events of one match."""
    past = history(events)
    record, entries = judge_on(EMPTY_RECORD, past.lines)
    ended_s = max((event.at_s for event in events if event.kind == EventKind.LINE), default=events[0].at_s)
    hands = tuple(hands_of(record, entries))
    played_s = season.played_s(event.at_s for event in events)
    return PastMatch(match, events[-1].seq, events[0].at_s, ended_s, record, hands, past.is_demo, played_s)


def hands_of(record: JudgedRecord, entries: Sequence[Entry]) -> Iterator[PlayedHand]:
    """Yield each hand that has lines."""
    for number, result in record.hands.items():
        places = [place for place, entry in enumerate(entries) if entry.hand == number]
        if places:
            plays = [place for place in places if entries[place].judged is not None]
            yield PlayedHand(
                number=number,
                begins=record.games[places[0]],
                entries=tuple(entries[place] for place in plays),
                games=tuple(record.games[place] for place in plays),
                result=result,
            )


def last_match(hands: Sequence[HandResult]) -> tuple[HandResult, ...]:
    """Return the finished hands of the last match in a record; a race has one."""
    begins = 0
    for number, hand in enumerate(hands[:-1], start=1):
        if scoring.starts_again(hand.table.edition, hand.match, hand.winner):
            begins = number
    return tuple(hands[begins:])


# Exports


_BEGIN_FORMULAS = ("=", "+", "-", "@", "|", "%")  # or their full-width forms


FORMS: Mapping[str, str] = {"mbn": "text/plain", "csv": "text/csv", "jsonl": "application/x-ndjson"}
"""Export formats: media type by file extension."""


def text_of(past: PastMatch, form: str, called: Callable[[str], str]) -> str:
    """Return a match's record (`mbn`), score sheets (`csv`) or judged lines (`jsonl`) as text.

    `called` returns a side's shown name; only `csv` uses it.
    """
    if form == "mbn":
        return notation.record_text(past.lines)
    if form == "csv":
        return as_csv(past.record.items, called)
    # Only if they differ from the record's.
    names = {"names": dict(past.game.shown)} if past.game.shown else {}
    items = judge.judge(RecordLine(number, text) for number, text in enumerate(past.lines, start=1))
    bodies = (item.as_json(str(past.match)) | (names if isinstance(item, HandResult) else {}) for item in items)
    return "".join(json.dumps(body, ensure_ascii=False) + "\n" for body in bodies)


def as_csv(items: Iterable[Item], called: Callable[[str], str] = str) -> str:
    """Return score sheets as CSV: a row per hand, side and score item. `called` returns a displayed name."""
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
    """Return a CSV cell; quotes names that a spreadsheet could run as formulas."""
    begins = unicodedata.normalize("NFKC", name.lstrip())[:1]
    return f"'{name}" if begins in _BEGIN_FORMULAS or name[:1].isspace() or not name.isprintable() else name


BG_STATS_GAME = "Mille Bornes"  # BG Stats finds the game by name, without a BoardGameGeek id


def bg_stats_play(past: PastMatch, called: Callable[[str], str]) -> dict[str, object] | None:
    """Return a match as a BG Stats play, scored after its last finished hand; None without one.

    Of several matches or races, gives the last. `called` returns a displayed name. Stable ids prevent duplicates.
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

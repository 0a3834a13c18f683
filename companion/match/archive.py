"""The matches of the log, judged when somebody asks for one, the last few kept; and each written as a file."""

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
from companion.match import statistics
from companion.match.history import history
from companion.match.state import Entry, judge_on
from companion.match.statistics import Figures, key_of
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
    """A hand of a record: how it began, its lines of play, the game after each of them, and what it came to."""

    number: int
    begins: Game
    entries: tuple[Entry, ...]
    games: tuple[Game, ...]
    result: HandResult  # of an open hand, what would count now

    @property
    def is_open(self) -> bool:
        return self.result.how is HowEnded.OPEN


@dataclass(frozen=True, slots=True)
class PastMatch:
    """A match of the log."""

    match: int
    last: int  # the number of its last event: what was made of it holds as long as this is the last
    began_s: float
    ended_s: float  # when its last line was written
    record: JudgedRecord
    hands: tuple[PlayedHand, ...]
    is_demo: bool

    @property
    def is_unfinished(self) -> bool:
        """True if people have played something, and the match would go on."""
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
    """The matches of a log, judged; what was judged is remembered as long as nothing has been added to the match."""

    def __init__(self) -> None:
        self._past: Kept[PastMatch] = Kept(MOST_JUDGED)
        self._figures: Kept[dict[str, Figures]] = Kept(MOST_COUNTED)

    def past(self, store: Store, match: int) -> PastMatch | None:
        """Return a match of the log, the running one too; None where there is none of that number."""
        events = store.events(match)
        return self._past.get(match, lambda: judged(match, events), events[-1].seq) if events else None

    def page(self, store: Store, page: int, size: int) -> tuple[tuple[PastMatch, ...], int]:
        """Return a page of the matches, the newest first, and how many pages there are; the first page is 1."""
        matches = store.matches()[::-1]
        chosen = (self.past(store, match) for match in matches[(page - 1) * size : page * size])
        return tuple(past for past in chosen if past is not None), -(-len(matches) // size)

    def figures(self, store: Store) -> dict[str, Figures]:
        """Return what every player has done over all matches of the log, by `statistics.key_of` of the name."""

        def of(match: int) -> dict[str, Figures]:
            record, _ = judge_on(EMPTY_RECORD, history(store.events(match)).lines)
            return statistics.players_of(record)

        latest = store.latest().items()
        return statistics.together(self._figures.get(match, partial(of, match), seq) for match, seq in latest)


def judged(match: int, events: Sequence[Event]) -> PastMatch:
    """Return a match from its events."""
    past = history(events)
    record, entries = judge_on(EMPTY_RECORD, past.lines)
    ended_s = max((event.at_s for event in events if event.kind is EventKind.LINE), default=events[0].at_s)
    hands = tuple(hands_of(record, entries))
    return PastMatch(match, events[-1].seq, events[0].at_s, ended_s, record, hands, past.is_demo)


def hands_of(record: JudgedRecord, entries: Sequence[Entry]) -> Iterator[PlayedHand]:
    """Yield the hands of a judged record."""
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


# --- As files -------------------------------------------------------------------------------------------------


_BEGIN_FORMULAS = ("=", "+", "-", "@", "|", "%")  # what a spreadsheet may compute, in any width


FORMS: Mapping[str, str] = {"mbn": "text/plain", "csv": "text/csv", "jsonl": "application/x-ndjson"}
"""Media types of the files that a match can be exported as, by the ending of their names."""


def text_of(past: PastMatch, form: str, called: Callable[[str], str]) -> str:
    """Return a match as a record (`mbn`), its score sheets (`csv`), or its judged lines as JSON; `called` as below."""
    if form == "mbn":
        return notation.record_text(past.lines)
    if form == "csv":
        return as_csv(past.record.items, called)
    # Where players are shown under other names than the record's, each hand says which.
    names = {"names": dict(past.game.shown)} if past.game.shown else {}
    items = judge.judge(RecordLine(number, text) for number, text in enumerate(past.lines, start=1))
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


def bg_stats_play(past: PastMatch, called: Callable[[str], str]) -> dict[str, object] | None:
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

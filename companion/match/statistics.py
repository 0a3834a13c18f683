"""Statistics of players over all matches.

Names identify players, ignoring case. Unfinished hands do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from itertools import groupby, permutations, product
from typing import Any

from companion.common.spelling import composed
from companion.rules.cards import SAFETY_OF, Card, card_of_slug
from companion.rules.record.judge import HandResult, JudgedLine, JudgedRecord
from companion.rules.scoring import Item, sole_leader
from companion.rules.table import HowEnded, Side


@dataclass(slots=True)
class Figures:
    """Statistics of one player, or of players who share a side."""

    name: str  # as last shown
    hands: int = 0
    hands_won: int = 0  # sole highest total, or race won
    matches: int = 0  # with a winner
    matches_won: int = 0
    counted_hands: int = 0  # scored in points, so no races
    points: int = 0
    best_hand: int | None = None  # most points; None if all were races
    coups_fourres: int = 0
    coups_suffered: int = 0  # answers to the player's own hazards
    shut_outs: int = 0  # scored by the player's side
    began: int = 0  # hands as first player; partners count only their own
    began_won: int = 0
    km: int = 0  # by the player's sides, in the edition's unit
    longest_hand: int = 0  # plays by all players
    hazards_given: int = 0
    hazards_got: int = 0  # counts for both partners
    hand_points: list[int] = field(default_factory=list)  # without races, oldest first
    outcomes: list[bool] = field(default_factory=list)  # hands, oldest first; true if won
    hazards: Counter[str] = field(default_factory=Counter)  # given, by card
    gave: Counter[str] = field(default_factory=Counter)  # hazards given, by opponent's key
    met: Counter[str] = field(default_factory=Counter)  # decided hands against each opponent, by key
    beaten: Counter[str] = field(default_factory=Counter)  # those of `met` that this player won

    @property
    def mean_points(self) -> int | None:
        return round(self.points / self.counted_hands) if self.counted_hands else None

    @property
    def worst_hand(self) -> int | None:
        return min(self.hand_points, default=None)

    @property
    def longest_streak(self) -> int:
        """The most hands won in a row."""
        return max((len(list(run)) for won, run in groupby(self.outcomes) if won), default=0)

    @property
    def favorite_hazard(self) -> Card | None:
        """The hazard given most often; the earliest of equals."""
        return card_of_slug(self.hazards.most_common(1)[0][0]) if self.hazards else None

    def add(self, later: Figures) -> None:
        """Add the statistics of later hands, and take their name."""
        for name in _ADDED:
            setattr(self, name, getattr(self, name) + getattr(later, name))
        for name in _EXTENDED:
            getattr(self, name).extend(getattr(later, name))
        for name in _COUNTED:
            getattr(self, name).update(getattr(later, name))
        self.name, self.longest_hand = later.name, max(self.longest_hand, later.longest_hand)
        self.best_hand = max((best for best in (self.best_hand, later.best_hand) if best is not None), default=None)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name; `dataclasses.asdict` would break counters."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


_EXTENDED, _COUNTED = ("hand_points", "outcomes"), ("hazards", "gave", "met", "beaten")
_APART = ("name", "best_hand", "longest_hand", *_EXTENDED, *_COUNTED)
_ADDED = tuple(each.name for each in fields(Figures) if each.name not in _APART)
"""Fields that are summed."""


def key_of(shown: str) -> str:
    """Return a name's key: case, extra spaces and Unicode spelling do not matter."""
    return " ".join(composed(shown).split()).casefold()


Holders = Callable[[Side], Iterable[tuple[str, ...]]]
"""Players of a side who share one `Figures`, for each of its figures."""


def players_of(record: JudgedRecord) -> dict[str, Figures]:
    """Return statistics of a record's finished hands by player (`key_of`)."""
    return _Tally(record, lambda side: [(player,) for player in side.players]).figures


def partners_of(record: JudgedRecord) -> dict[str, Figures]:
    """Return statistics of a record's finished hands by side of several players (`joint_key`)."""
    return _Tally(record, lambda side: [side.players] if len(side.players) > 1 else []).figures


def joint_key(keys: Iterable[str]) -> str:
    """Return the key of partners: their keys in alphabetical order."""
    return " & ".join(sorted(keys))


class _Tally:
    """Counts the finished hands of a record."""

    def __init__(self, record: JudgedRecord, holders: Holders) -> None:
        self.figures: dict[str, Figures] = {}
        self._shown = record.game.shown
        self._holders = holders
        finished = {number: result for number, result in record.hands.items() if result.how is not HowEnded.OPEN}
        given = (item for items in record.given for item in items if isinstance(item, JudgedLine))
        lines = [line for line in given if line.applied and line.hand in finished]
        lengths, first = Counter(line.hand for line in lines), first_players(record)
        for number, result in finished.items():
            self._count_hand(result, lengths[number], first.get(number))
        self._count_plays(lines)

    def _of(self, side: Side, player: str | None = None) -> list[Figures]:
        """Return a side's figures, or only a player's."""
        return [self._held(names) for names in self._holders(side) if player is None or player in names]

    def _held(self, players: tuple[str, ...]) -> Figures:
        names = [self._shown.get(player, player) for player in players]
        return self.figures.setdefault(joint_key(map(key_of, names)), Figures(" & ".join(names)))

    def _count_hand(self, result: HandResult, length: int, first: str | None) -> None:
        is_race, totals = result.table.edition.is_race, {side: sheet.total for side, sheet in result.sheets.items()}
        best = result.winner if is_race else sole_leader(totals)
        for side in result.table.sides:
            has_won, total = side.name == best, totals[side.name]
            for one in self._of(side):
                one.hands += 1
                one.hands_won += has_won
                one.outcomes.append(has_won)
                one.matches += result.winner is not None
                one.matches_won += side.name == result.winner
                one.shut_outs += Item.SHUT_OUT in dict(result.sheets[side.name].lines)
                one.km += side.km
                one.longest_hand = max(one.longest_hand, length)
                if not is_race:
                    one.counted_hands += 1
                    one.points += total
                    one.hand_points.append(total)
                    one.best_hand = total if one.best_hand is None else max(one.best_hand, total)
            for one in self._of(side, first) if first in side.players else ():
                one.began += 1
                one.began_won += has_won
        for winner, loser in _won_against(result):
            for victor, beaten in product(self._of(winner), self._of(loser)):
                victor_key, beaten_key = self._key(victor), self._key(beaten)
                victor.met[beaten_key] += 1
                victor.beaten[beaten_key] += 1
                beaten.met[victor_key] += 1

    def _key(self, one: Figures) -> str:
        return next(key for key, other in self.figures.items() if other is one)

    def _count_plays(self, lines: Iterable[JudgedLine]) -> None:
        struck_last: dict[tuple[int, str, Card], list[Figures]] = {}  # attackers by hand, side and answering safety
        for line in lines:
            index = line.table.side_index(line.play.player) if line.table and line.play else None
            if line.play is None or line.table is None or index is None:
                continue
            side = line.table.sides[index]
            doers = self._of(side, line.play.player)
            if line.play.is_coup_fourre and line.play.card is not None:
                for one in doers:
                    one.coups_fourres += 1
                for one in struck_last.pop((line.hand, side.name, line.play.card), ()):
                    one.coups_suffered += 1
            struck = struck_by(line)
            if struck is not None:
                victims, hazard = self._of(struck[0]), struck[1]
                struck_last[line.hand, struck[0].name, SAFETY_OF[hazard]] = doers
                for one in doers:
                    one.hazards_given += 1
                    one.hazards[hazard.value] += 1
                    one.gave.update(map(self._key, victims))
                for one in victims:
                    one.hazards_got += 1


def first_players(record: JudgedRecord) -> dict[int, str]:
    """Return who began each hand, by hand number."""
    first: dict[int, str] = {}
    for place, game in enumerate(record.games):
        if game.table is not None and game.hand_number not in first:
            line = record.verdict(place)
            # Without a `hand first` line, the first play tells who began.
            played = line.play.player if line is not None and line.play is not None else None
            first[game.hand_number] = played or game.table.player_to_move
    return first


def _won_against(result: HandResult) -> Iterator[tuple[Side, Side]]:
    """Yield (better, worse) pairs of sides by points; in a race, the winner with each other side."""
    for one, other in permutations(result.table.sides, 2):
        if result.table.edition.is_race:
            if one.name == result.winner:
                yield one, other
        elif result.sheets[one.name].total > result.sheets[other.name].total:
            yield one, other


def struck_by(line: JudgedLine) -> tuple[Side, Card] | None:
    """Return the side hit by a line and the hazard; a mirror returns it to the attacker."""
    play, table = line.play, line.table
    if not line.applied or play is None or play.card is None or table is None or not play.is_attack:
        return None
    if table.attacks:
        return table.sides[table.attacks[-1].side], table.attacks[-1].hazard
    index = table.side_index(play.target)
    return None if index is None else (table.sides[index], play.card)


def together(matches: Iterable[dict[str, Figures]]) -> dict[str, Figures]:
    """Add up statistics of matches, oldest first; sort players by wins."""
    figures: dict[str, Figures] = {}
    for key, one in (item for match in matches for item in match.items()):
        figures.setdefault(key, Figures(one.name)).add(one)
    order = sorted(figures.items(), key=lambda item: (-item[1].matches_won, -item[1].hands_won, -item[1].hands))
    return dict(order)


def most_cruel(figures: dict[str, Figures]) -> tuple[str, str, int] | None:
    """Return attacker, victim and count of the most hazards between two players; None if tied or none."""
    pairs = [(one.name, victim, count) for one in figures.values() for victim, count in one.gave.items()]
    if not pairs:
        return None
    attacker, victim, count = max(pairs, key=lambda pair: pair[2])
    if sum(pair[2] == count for pair in pairs) > 1:
        return None
    return attacker, figures[victim].name, count

"""Statistics of players over all matches.

Names identify players, ignoring case. Unfinished hands do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from itertools import permutations, product
from typing import Any

from companion.common.spelling import composed
from companion.rules.cards import Card
from companion.rules.record.judge import Game, HandResult, JudgedLine, JudgedRecord
from companion.rules.scoring import sole_leader
from companion.rules.table import HowEnded, Side


@dataclass(slots=True)
class Figures:
    """Statistics of one player."""

    name: str  # as last shown
    hands: int = 0
    hands_won: int = 0  # sole highest total, or race won
    matches_won: int = 0
    counted_hands: int = 0  # scored in points, so no races
    points: int = 0
    best_hand: int | None = None  # most points; None if all were races
    coups_fourres: int = 0
    km: int = 0  # by the player's sides
    longest_hand: int = 0  # plays by all players
    hazards_given: int = 0
    hazards_got: int = 0  # counts for both partners
    hand_points: list[int] = field(default_factory=list)  # without races, oldest first
    gave: Counter[str] = field(default_factory=Counter)  # hazards given, by opponent's key
    met: Counter[str] = field(default_factory=Counter)  # decided hands against each opponent, by key
    beaten: Counter[str] = field(default_factory=Counter)  # those of `met` that this player won

    @property
    def mean_points(self) -> int | None:
        return round(self.points / self.counted_hands) if self.counted_hands else None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name; `dataclasses.asdict` would break counters."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def key_of(shown: str) -> str:
    """Return a name's key: case, extra spaces and Unicode spelling do not matter."""
    return " ".join(composed(shown).split()).casefold()


def players_of(record: JudgedRecord) -> dict[str, Figures]:
    """Return statistics of a record's finished hands by player (`key_of`)."""
    figures: dict[str, Figures] = {}
    finished = {number: result for number, result in record.hands.items() if result.how is not HowEnded.OPEN}
    given = (item for items in record.given for item in items if isinstance(item, JudgedLine))
    lines = [line for line in given if line.applied and line.hand in finished]
    lengths = Counter(line.hand for line in lines)
    for result in finished.values():
        is_race, totals = result.table.edition.is_race, {side: sheet.total for side, sheet in result.sheets.items()}
        best = result.winner if is_race else sole_leader(totals)
        for side in result.table.sides:
            for one in (_of(figures, record.game, player) for player in side.players):
                one.hands += 1
                one.hands_won += side.name == best
                one.matches_won += side.name == result.winner
                one.km += side.km
                one.longest_hand = max(one.longest_hand, lengths[result.number])
                if not is_race:
                    total = totals[side.name]
                    one.counted_hands += 1
                    one.points += total
                    one.hand_points.append(total)
                    one.best_hand = total if one.best_hand is None else max(one.best_hand, total)
        for winner, loser in _won_against(result):
            for first, second in product(winner.players, loser.players):
                victor, beaten = _of(figures, record.game, first), _of(figures, record.game, second)
                victor.met[key_of(beaten.name)] += 1
                victor.beaten[key_of(beaten.name)] += 1
                beaten.met[key_of(victor.name)] += 1
    for line in lines:
        if line.play is not None and line.play.player is not None:
            one = _of(figures, record.game, line.play.player)
            one.coups_fourres += line.play.is_coup_fourre
            struck = struck_by(line)
            one.hazards_given += struck is not None
            for victim in struck[0].players if struck else ():
                hurt = _of(figures, record.game, victim)
                hurt.hazards_got += 1
                one.gave[key_of(hurt.name)] += 1
    return figures


def _of(figures: dict[str, Figures], game: Game, player: str) -> Figures:
    name = game.shown.get(player, player)
    return figures.setdefault(key_of(name), Figures(name))


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
        total = figures.setdefault(key, Figures(one.name))
        for name in _ADDED:
            setattr(total, name, getattr(total, name) + getattr(one, name))
        total.name, total.longest_hand = one.name, max(total.longest_hand, one.longest_hand)
        total.best_hand = max((best for best in (total.best_hand, one.best_hand) if best is not None), default=None)
    order = sorted(figures.items(), key=lambda item: (-item[1].matches_won, -item[1].hands_won, -item[1].hands))
    return dict(order)


_ADDED = tuple(field.name for field in fields(Figures) if field.name not in ("name", "best_hand", "longest_hand"))
"""Fields that are summed."""


def most_cruel(figures: dict[str, Figures]) -> tuple[str, str, int] | None:
    """Return attacker, victim and count of the most hazards between two players; None if tied or none."""
    pairs = [(one.name, victim, count) for one in figures.values() for victim, count in one.gave.items()]
    if not pairs:
        return None
    attacker, victim, count = max(pairs, key=lambda pair: pair[2])
    if sum(pair[2] == count for pair in pairs) > 1:
        return None
    return attacker, figures[victim].name, count

"""What players have done over their matches: a pure function of judged records.

A player is who goes by the same name from one match to the next, capitals or not. Hands that were never finished
do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

from companion.rules.cards import Card
from companion.rules.record.judge import Game, HandResult, JudgedLine, JudgedRecord
from companion.rules.table import HowEnded, Side


@dataclass(frozen=True, slots=True)
class Figures:
    """What one player has done."""

    name: str
    """As it was shown last."""

    hands: int = 0
    hands_won: int = 0
    """Hands with the highest total alone, and races won."""

    matches_won: int = 0
    counted_hands: int = 0
    """The hands that were counted in points; the races among the hands are not."""

    points: int = 0
    best_hand: int | None = None
    """The most points in a hand; None where all were races."""

    coups_fourres: int = 0
    km: int = 0
    """What the cars drove that the player sat in."""

    longest_hand: int = 0
    """The plays of the longest hand, everybody's."""

    hazards_given: int = 0
    hazards_got: int = 0
    """Those of a partner hold up both."""

    gave: Counter[str] = field(default_factory=Counter)
    """The hazards laid on each other player, by `key_of` of the name."""

    @property
    def mean_points(self) -> int | None:
        """The points of a hand on average, rounded."""
        return round(self.points / self.counted_hands) if self.counted_hands else None


@dataclass(frozen=True, slots=True)
class Cruelty:
    """Who has laid the most hazards on whom."""

    attacker: str
    victim: str
    hazards: int


def key_of(shown: str) -> str:
    """Return what makes two names the same."""
    return " ".join(shown.split()).casefold()


def players_of(record: JudgedRecord) -> dict[str, Figures]:
    """Return what each player of a record has done in its finished hands, by `key_of` of the name."""
    figures: dict[str, Figures] = {}
    hands = {number: result for number, result in record.hands.items() if result.how is not HowEnded.OPEN}
    for result in hands.values():
        length = sum(line.applied for line in _lines_of(record, result.number))
        for one in _of_hand(record.game, result, length):
            _add(figures, one)
    for one in _of_plays(record, hands):
        _add(figures, one)
    return figures


def _of_hand(game: Game, result: HandResult, length: int) -> Iterator[Figures]:
    """Yield what a finished hand has brought each player."""
    best, is_race = _best(result), result.table.edition.match_points is None
    for side in result.table.sides:
        total = result.sheets[side.name].total
        for player in side.players:
            yield Figures(
                name=_shown(game, player),
                hands=1,
                hands_won=int(side.name == best),
                matches_won=int(side.name == result.winner),
                counted_hands=int(not is_race),
                points=0 if is_race else total,
                best_hand=None if is_race else total,
                km=side.km,
                longest_hand=length,
            )


def _best(result: HandResult) -> str | None:
    """Return the side that has won a hand."""
    if result.table.edition.match_points is None:
        return result.winner
    totals = {side: sheet.total for side, sheet in result.sheets.items()}
    leaders = [side for side, total in totals.items() if total == max(totals.values())]
    return leaders[0] if len(leaders) == 1 else None


def _of_plays(record: JudgedRecord, hands: Iterable[int]) -> Iterator[Figures]:
    """Yield the coups fourrés and the hazards of the hands, one by one."""
    finished = set(hands)
    for line in _lines_of(record):
        play = line.play
        if line.hand not in finished or not line.applied or play is None or play.player is None:
            continue
        name = _shown(record.game, play.player)
        if play.is_coup_fourre:
            yield Figures(name, coups_fourres=1)
        struck = struck_by(line)
        if struck is not None:
            hurt = [_shown(record.game, victim) for victim in struck[0].players]
            yield Figures(name, hazards_given=1, gave=Counter(map(key_of, hurt)))
            yield from (Figures(victim, hazards_got=1) for victim in hurt)


def _lines_of(record: JudgedRecord, hand: int | None = None) -> Iterator[JudgedLine]:
    lines = (item for items in record.given for item in items if isinstance(item, JudgedLine))
    return (line for line in lines if hand in (None, line.hand))


def struck_by(line: JudgedLine) -> tuple[Side, Card] | None:
    """Return the side on which a line has put a hazard, and which; a mirror puts it back on the attacker."""
    play, table = line.play, line.table
    if not line.applied or play is None or play.card is None or table is None or not play.is_attack:
        return None
    if table.attacks:
        return table.sides[table.attacks[-1].side], table.attacks[-1].hazard
    index = table.side_index(play.target or "")
    return None if index is None else (table.sides[index], play.card)


def _shown(game: Game, player: str) -> str:
    return game.shown.get(player, player)


def _add(figures: dict[str, Figures], one: Figures) -> None:
    """Add figures to those of the same player."""
    key = key_of(one.name)
    before = figures.get(key, one)
    if before is not one:
        best = [hand for hand in (before.best_hand, one.best_hand) if hand is not None]
        added: dict[str, Any] = {name: getattr(before, name) + getattr(one, name) for name in _ADDED}
        longest = max(before.longest_hand, one.longest_hand)
        one = replace(one, best_hand=max(best, default=None), longest_hand=longest, **added)
    figures[key] = one


_ADDED = tuple(field.name for field in fields(Figures) if field.name not in ("name", "best_hand", "longest_hand"))
"""The figures of which those of several hands are the sum."""


def together(matches: Iterable[dict[str, Figures]]) -> dict[str, Figures]:
    """Return the figures of several matches, the oldest first; who has won the most comes first."""
    figures: dict[str, Figures] = {}
    for match in matches:
        for one in match.values():
            _add(figures, one)
    order = sorted(figures.items(), key=lambda item: (-item[1].matches_won, -item[1].hands_won, -item[1].hands))
    return dict(order)


def most_cruel(figures: dict[str, Figures]) -> Cruelty | None:
    """Return who has laid the most hazards on one other player; None where nobody has laid any, or two as many."""
    pairs = [(one.name, victim, count) for one in figures.values() for victim, count in one.gave.items()]
    if not pairs:
        return None
    attacker, victim, count = max(pairs, key=lambda pair: pair[2])
    if sum(pair[2] == count for pair in pairs) > 1:
        return None
    return Cruelty(attacker, figures[victim].name if victim in figures else victim, count)

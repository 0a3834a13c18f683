"""A match of one person against robots, and its file."""

from __future__ import annotations

import json
import os
import random
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from companion.common.errors import Problem, file_problem
from companion.common.small_file import read_json
from companion.pages.players import names
from companion.robots.information_set import DealtHand, Position, past_of
from companion.robots.robot import ROBOT_NAMES, Choice, Level, choose
from companion.rules.dealing import check_seating
from companion.rules.editions.edition import EditionError, load_edition
from companion.rules.hidden_cards import dealt_by, read_deal
from companion.rules.play import Play
from companion.rules.record import judge, notation
from companion.rules.record.judge import JudgedLine, JudgedRecord
from companion.rules.record.notation import RecordLine
from companion.rules.table import Table, Team

PERSON = "Player"  # in the record, whatever name is shown


@dataclass(frozen=True, slots=True)
class RobotMatch:
    """The record, and the current hand with its hidden cards."""

    record: JudgedRecord
    hand: DealtHand
    level: Level
    seed: int

    @property
    def table(self) -> Table:
        return self.hand.deal.table

    def choice(self, position: Position) -> Choice:
        """Return a robot's choice at this match's level, always the same."""
        number = self.record.game.hand_number
        chance = random.Random(f"{self.seed} {number} {len(position.past)} {position.player}")  # noqa: S311
        return choose(position, self.level, chance)

    def after(self, position: Position, play: Play | None) -> RobotMatch:
        """Return the match after a player's play; None declines to answer."""
        hand = self.hand.answered(position, play)
        return replace(self, hand=hand, record=_written(self.record, str(play)) if play else self.record)

    def next_hand(self) -> RobotMatch:
        """Return the match with its next hand dealt; the next seat begins."""
        seats = self.table.seats
        first = seats[self.record.game.hand_number % len(seats)].player
        return _dealt(_written(self.record, f"hand first {first}"), self.level, self.seed)

    def as_text(self) -> str:
        lines = [line.text for line in self.record.lines]
        saved = {"level": self.level, "seed": self.seed, "record": lines, "deal": self.hand.deal.as_json()}
        return json.dumps(saved, ensure_ascii=False, indent=1)


def begun_or_resumed(path: Path | None, *, name: str | None, **asked: Any) -> RobotMatch:
    """Return the match in an existing file, else a new one, with the person shown as `name`.

    Raises Problem for an unusable file or option.
    """
    match, shown = _begun_or_resumed(path, **asked), names.clean(name or "")
    if not shown:
        return match
    seated = [seat.player for seat in match.table.seats if seat.player != PERSON]
    names.check_names([shown, *seated])
    return replace(match, record=_written(match.record, f'player {PERSON} "{shown}"'))


def _begun_or_resumed(
    path: Path | None, *, edition: str | None, players: int | None, pairs: bool, level: str | None, seed: int | None
) -> RobotMatch:
    if path is None or not os.path.lexists(path):
        chosen = secrets.randbelow(1_000_000) if seed is None else seed
        return begin(edition or "classic", players or 2, Level(int(level or Level.COUNTING)), chosen, pairs=pairs)
    match = read_match(path)
    game = match.record.game
    is_other = edition not in (None, game.edition_name) or players not in (None, len(match.table.seats))
    if is_other or seed not in (None, match.seed):
        raise Problem(
            "%(file)s contains a different game: omit --edition, --players and --seed, or choose another file.",
            file=path,
        )
    return replace(match, level=Level(int(level))) if level else match


def begin(edition: str, players: int, level: Level, seed: int, *, pairs: bool) -> RobotMatch:
    """Return a new match with the person in the first seat. Raises Problem if the edition does not seat so many."""
    try:
        rules = load_edition(edition)
        each = 2 if pairs or ((players, 1) not in rules.seatings and (players, 2) in rules.seatings) else 1
        seated = [(PERSON, *ROBOT_NAMES)[side : players : players // each] for side in range(players // each)]
        teams = [Team("-".join(players_of), players_of) for players_of in seated]
        check_seating(rules, teams)
    except EditionError as error:
        raise Problem(str(error)) from error
    header = notation.header_text(teams, rules.name, None, {})
    return _dealt(_written(judge.EMPTY_RECORD, *header, f"hand first {PERSON}"), level, seed)


def _written(record: JudgedRecord, *texts: str) -> JudgedRecord:
    lines = [RecordLine(number, text) for number, text in enumerate(texts, start=len(record.lines) + 1)]
    return judge.judge_on(record, (*record.lines, *lines))


def _dealt(record: JudgedRecord, level: Level, seed: int) -> RobotMatch:
    table, key = record.game.table, f"{seed} {record.game.hand_number}"
    if table is None:
        raise AssertionError("a hand was begun")
    return RobotMatch(record, DealtHand(dealt_by(table, key), record.game.totals), level, seed)


def read_match(path: Path) -> RobotMatch:
    """Return the match in a file. Raises Problem without one."""
    try:
        with file_problem("The game in %(file)s cannot be read: %(error)s.", file=path):
            saved = read_json(path)
        record = judge.judge_on(judge.EMPTY_RECORD, tuple(notation.lines("\n".join(saved["record"]))))
        table = record.game.table
        said = [item for item in record.items if isinstance(item, JudgedLine)]
        if table is None or table.seats[0].player != PERSON or any(item.verdict != judge.LEGAL for item in said):
            raise ValueError("this is no record of a match")
        hand = DealtHand(read_deal(table, saved["deal"]), record.game.totals, past_of(record))
        return RobotMatch(record, hand, Level(saved["level"]), int(saved["seed"]))
    except (ValueError, KeyError, TypeError) as error:
        raise Problem(
            "%(file)s has no game to continue. It was not changed: choose another file.", 1, file=path
        ) from error

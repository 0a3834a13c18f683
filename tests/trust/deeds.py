"""Random actions on a match: plays, corrections, camera reports, settings, seats, new matches."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from seen import camera

from companion.common.errors import Problem
from companion.match.match import Match
from companion.match.questions import Answer
from companion.match.state import MatchState, Policy
from companion.rules.play import Play
from companion.rules.record.notation import Unreadable, parse_play
from companion.rules.referee import legal_plays
from companion.storage.events import EventKind

SET_UPS = (
    ("edition classic", "side Ann", "side Bob", "hand first Ann"),
    ("side Reds = Ann, Cid", "side Blues = Bob, Dee", "hand first Ann"),
    ("edition classic", "side Ann", "side Bob", "side Cid", 'player Ann "Zoë"', "hand first Bob"),
)
CARDS = ("25", "100", "200", "roll", "stop", "gasoline", "driving-ace", "speed-limit", "end-of-limit", "accident")
ZONES = ("battle", "speed", "distance", "safety")
MOST_LINES = 60


def logged(state: MatchState) -> dict[str, Any]:
    """Return the part of a state that the log determines."""
    return {
        "match": state.match,
        "seq": state.seq,
        "game": state.game,
        "entries": state.entries,
        "hands": state.record.hands,
        "policy": state.policy,
        "verifies": state.other_side_verifies,
        "changes": state.past.changes,
        "answers": dict(state.past.answers),
        # Sorted, because their order also depends on the camera, which is not in the log.
        "typed": sorted(question.id for question in state.questions if question.is_typed),
        "undoable": state.undoable,
        "redoable": state.redoable,
    }


class Deeds:
    """Acts at a table; `chance` chooses the action, its arguments and the player."""

    def __init__(self, match: Match, chance: random.Random) -> None:
        self.match, self.chance = match, chance
        self._number = 0

    def do_something(self) -> None:
        state = self.match.state
        if state.match is None or len(state.entries) > MOST_LINES or self.chance.random() < 0.01:
            self.start()
        elif state.game.table is None or (state.game.table.is_over and self.chance.random() < 0.6):
            self.match.next_hand(self.somebody())
        else:
            (deed,) = self.chance.choices(list(DEEDS), list(DEEDS.values()))
            self.do(deed)

    def do(self, deed: Callable[[Deeds], Any]) -> None:
        """Do an action; errors that a page would answer are ignored."""
        try:
            deed(self)
        except (Problem, Unreadable):
            return

    # Choices

    def somebody(self) -> str:
        players = [player for team in self.match.state.game.teams for player in team.players]
        return self.chance.choice([*players, "somebody"])

    def line(self) -> int:
        """Return the number of a line, usually an existing one."""
        seqs = [entry.seq for entry in self.match.state.entries] or [0]
        return self.chance.choice([*seqs[-12:], *seqs[-3:], 10**6])

    def play(self) -> Play:
        state, chance = self.match.state, self.chance
        table = state.game.table
        if table is not None and not table.is_over and chance.random() < 0.7:
            legal = list(legal_plays(table, table.player_up))
            if legal:
                return chance.choice(legal)
        return parse_play(self.text(), state.game.teams)

    def text(self) -> str:
        teams, chance = self.match.state.game.teams, self.chance
        team = chance.choice(teams)
        player, card = chance.choice(team.players), chance.choice(CARDS)
        if chance.random() < 0.05:
            return chance.choice(("end", "exhausted", "nobody plays nothing"))
        others = [one.name for one in teams if one is not team]
        if card in ("stop", "speed-limit", "accident"):
            return f"{player} {card} > {chance.choice(others)}"
        return f"{player} {chance.choice(('discard ', '', ''))}{card}"

    def asked(self) -> str:
        """Return a question's ID, usually of an open one."""
        ids = [question.id for question in self.match.state.questions]
        return self.chance.choice([*ids, *ids, "1-2-camera.1-play"])

    def next_number(self) -> int:
        self._number += 1
        return self._number

    # Actions

    def start(self) -> None:
        lines = self.chance.choice(SET_UPS)
        self.match.start(lines, by="host", policy=self.chance.choice((None, *Policy)),
                         verified=self.chance.choice((None, None, None, True, False)))  # fmt: skip

    def enter(self) -> None:
        self.match.enter(str(self.play()), self.somebody(), anyway=self.chance.random() < 0.3,
                         vouched=self.chance.random() < 0.5)  # fmt: skip

    def lay_unreadably(self) -> None:
        camera(self.match).which(self.next_number(), *{str(self.play()), str(self.play())})

    def differ(self) -> None:
        zone = f"side-{self.chance.randint(1, 2)}/{self.chance.choice(ZONES)}"
        shows = (None, *CARDS)
        expected, seen = self.chance.choice(shows), self.chance.choice(shows)
        plays = [str(self.play())] if self.chance.random() < 0.5 else []
        line = self.chance.choice([None, self.line()])
        camera(self.match).differs(self.next_number(), zone, expected, seen, *plays, line=line)

    def answer(self) -> None:
        self.match.answer(
            self.asked(),
            self.chance.choice(list(Answer)),
            self.somebody(),
            play=self.chance.choice((None, None, str(self.play()))),
            anyway=self.chance.random() < 0.5,
            vouched=self.chance.random() < 0.7,
        )

    def undo_twice(self) -> None:
        """Tap twice: both taps mean the same change."""
        latest = self.match.state.undoable
        for _ in range(2):
            self.match.undo(self.somebody(), latest.seq if latest else 0)

    def sit(self) -> None:
        name = self.chance.choice((None, "Ünal", 'Jo\u202e "x"'.replace('"', "”"), f"Ann {self.chance.randrange(99)}"))
        self.match.sit(self.somebody(), self.somebody(), name)


DEEDS: dict[Callable[[Deeds], Any], int] = {
    Deeds.enter: 20,
    lambda one: camera(one.match).play(one.next_number(), str(one.play()), sure=one.chance.random() < 0.7): 8,
    Deeds.lay_unreadably: 2,
    Deeds.differ: 2,
    Deeds.answer: 14,
    lambda one: camera(one.match).lift(one.asked()): 2,
    lambda one: one.match.correct(one.line(), str(one.play()), one.somebody(), vouched=True): 4,
    lambda one: one.match.rewrite(EventKind.LINE, one.line(), str(one.play()), one.somebody(), vouched=True): 3,
    lambda one: one.match.let_stand(one.line(), one.somebody(), vouched=True): 3,
    lambda one: one.match.rewrite(EventKind.RETRACT, one.line(), None, one.somebody()): 3,
    lambda one: one.match.undo(one.somebody()): 4,
    Deeds.undo_twice: 1,
    lambda one: one.match.redo(one.somebody()): 4,
    Deeds.sit: 2,
    lambda one: one.match.set_policy(one.chance.choice(list(Policy)), one.somebody()): 2,
    lambda one: one.match.set_verifying(one.somebody(), on=one.chance.random() < 0.5): 1,
    lambda one: one.match.next_hand(one.somebody(), one.chance.choice((None, one.somebody()))): 1,
    lambda one: one.match.enter("end", one.somebody(), anyway=True, vouched=True): 1,
    lambda one: one.match.trouble(one.chance.choice((None, "The camera is gone."))): 1,
}
"""Each action with its weight."""


def same(one: MatchState, other: MatchState) -> list[str]:
    """Return the differences between the logged parts of two states."""
    mine, theirs = logged(one), logged(other)
    return [key for key in mine if mine[key] != theirs[key]]

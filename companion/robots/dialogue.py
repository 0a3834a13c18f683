"""`companion robot`: a question as a line of JSON, and the answer as one."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

from companion.common.errors import Problem
from companion.robots.information_set import Position, position_of
from companion.robots.robot import Level, choose
from companion.robots.search import Effort
from companion.rules.cards import Card, card_of_slug
from companion.rules.record import judge, notation
from companion.rules.record.judge import JudgedLine
from companion.rules.record.notation import UnknownCard

_MOST_CARDS = 30
"""More than any hand holds."""


class Dialogue:
    """Questions and answers in turn. The last record is kept judged: of a longer one only what is new costs time."""

    def __init__(self, level: Level, effort: Effort, seed: int | None) -> None:
        self.level, self.effort, self.seed = level, effort, seed
        self._judged = judge.EMPTY_RECORD

    def answer(self, line: str) -> dict[str, str | None]:
        """Return `play` and `why`, or `error` with a sentence. With a seed the answer to a line is always the same."""
        try:
            question = _question(line)
            position = self._position(question)
            chance = random.Random(None if self.seed is None else f"{self.seed} {sorted(question.items())}")  # noqa: S311
            choice = choose(position, self.level, chance, self.effort)
        except Problem as problem:
            return {"error": problem.sentence}
        return {"play": None if choice.play is None else str(choice.play), "why": choice.why}

    def _position(self, question: Mapping[str, Any]) -> Position:
        hand = [_card(slug) for slug in question["hand"]]
        if len(hand) > _MOST_CARDS:
            raise Problem(f"No hand has {len(hand)} cards.")
        self._judged = judge.judge_on(self._judged, tuple(notation.lines(question["record"])))
        for item in self._judged.items:
            if isinstance(item, JudgedLine) and item.unreadable:
                raise Problem(f"Line {item.line.number} of the record: {item.unreadable}")
        return position_of(self._judged, question["player"], hand)


def _question(line: str) -> Mapping[str, Any]:
    try:
        question = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Problem("This line is no JSON: write one object a line.") from error
    if not isinstance(question, dict):
        raise Problem("A question is a JSON object with `record`, `player` and `hand`.")
    kinds = {"record": str, "player": str, "hand": list}
    for key, kind in kinds.items():
        if not isinstance(question.get(key), kind):
            raise Problem(f"A question has `record` and `player`, two texts, and `hand`, a list: `{key}` is none.")
    return question


def _card(slug: object) -> Card:
    card = card_of_slug(slug.lower()) if isinstance(slug, str) else Card.UNKNOWN
    if card is None:
        raise Problem(str(UnknownCard(str(slug))))
    if card is Card.UNKNOWN:
        raise Problem("A hand is a list of cards by their names, such as `roll` or `25`.")
    return card

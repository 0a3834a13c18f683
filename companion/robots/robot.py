"""A robot's choice: the level decides how, `options` among what."""

from __future__ import annotations

import random
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from companion.common.text import Said
from companion.robots.information_set import Position
from companion.robots.judgement import judged
from companion.robots.options import options
from companion.robots.reason import reason_for, search_reason
from companion.robots.search import Effort, search
from companion.robots.thumb import liking
from companion.robots.valuation import NEVER
from companion.rules.play import Play, Verb


class Level(IntEnum):
    """How well a robot plays."""

    THUMB = 1
    COUNTING = 2
    SEARCHING = 3


class Choice(NamedTuple):
    """What a robot does, None for nothing, and why."""

    play: Play | None
    why: Said


ROBOT_NAMES = ("Bob", "Cid", "Dee", "Eve", "Fay", "Gus", "Hal", "Ida", "Jo", "Kit", "Lou", "Max", "Ned", "Oz", "Pat")
"""Names of robots, for more than there are seats: people may have some of them."""

_MOST_LAID = 6
_MOST_DISCARDED = 3
"""How many plays the search compares: those of most worth, laid and discarded."""

_NOT_SEARCHED_WORTH = 1000.0
"""From this worth on a play is plainly right: it ends the hand well, or answers an attack."""


def choose(position: Position, level: Level, chance: random.Random, effort: Effort = Effort()) -> Choice:  # noqa: B008
    """Return a legal play, or None where nothing has to be done. Raises Problem where nothing is asked."""
    asked = options(position)
    plays: list[Play | None] = [*asked.plays, *([None] if asked.may_wait else [])]
    if level is Level.THUMB:
        best = max(plays, key=lambda play: (liking(position, play), chance.random()))
        return Choice(best, reason_for(position, best))
    ranked = judged(position, plays)
    default, worth = ranked[0]
    candidates = _worth_searching(ranked)
    if level is Level.COUNTING or len(candidates) < 2 or worth >= _NOT_SEARCHED_WORTH:
        return Choice(default, reason_for(position, default))
    found = search(position, candidates, chance, effort)
    return Choice(found.play, search_reason(position, found))


def _worth_searching(ranked: Sequence[tuple[Play | None, float]]) -> list[Play | None]:
    """Return the plays that are compared, that of most worth first. Beside a dead card no other is discarded."""
    discards = [(play, worth) for play, worth in ranked if play is not None and play.verb is Verb.DISCARD]
    others = [play for play, worth in ranked if worth > NEVER and (play is None or play.verb is not Verb.DISCARD)]
    most = 1 if discards and discards[0][1] >= 0 else _MOST_DISCARDED
    kept = {*others[:_MOST_LAID], *(play for play, _ in discards[:most])}
    return [play for play, _ in ranked if play in kept]

"""A robot's choice among the plays of `options`, by level."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Any, NamedTuple

from companion.common.errors import Problem
from companion.common.spelling import composed
from companion.common.text import Said, Term, all_of, say, say_many
from companion.robots.dominance import undominated
from companion.robots.information_set import Position, options, position_of
from companion.robots.judgement import judged, liking
from companion.robots.search import Effort, SearchResult, search
from companion.robots.valuation import NEVER
from companion.rules.card_names import card_named, card_term
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card, Family
from companion.rules.play import Play, Verb, card_of
from companion.rules.record import judge, notation
from companion.rules.record.judge import JudgedLine
from companion.rules.record.notation import UnknownCard
from companion.rules.table import Side


class Level(IntEnum):
    """Playing strength of a robot."""

    THUMB = 1
    COUNTING = 2
    SEARCHING = 3

    @classmethod
    def of(cls, text: str) -> Level | None:
        """Return the level with this number, if any."""
        return next((level for level in cls if str(int(level)) == text), None)


class Choice(NamedTuple):
    """A robot's play (None: do nothing) and the reason."""

    play: Play | None
    why: Said


ROBOT_NAMES = ("Bob", "Cid", "Dee", "Eve", "Fay", "Gus", "Hal", "Ida", "Jo", "Kit", "Lou", "Max", "Ned", "Oz", "Pat")
"""More than seats: people may use some."""

_MOST_LAID = 6
_MOST_DISCARDED = 3  # in a search
_NOT_SEARCHED_WORTH = 1000.0  # such answers and special cards are clearly right


def choose(position: Position, level: Level, chance: random.Random, effort: Effort = Effort()) -> Choice:  # noqa: B008
    """Return a legal play, or None to wait, whatever the hand's order.

    Raises Problem if there is nothing to decide.
    """
    position = replace(position, hand=tuple(sorted(position.hand)))
    asked = options(position)
    plays = undominated(position, [*asked.plays, *([None] if asked.may_wait else [])])
    if level is Level.THUMB:
        best = max(plays, key=lambda play: (liking(position, play), chance.random()))
        return Choice(best, reason_for(position, best))
    ranked = judged(position, plays)
    default, worth = ranked[0]
    candidates = _worth_searching(ranked)
    is_laid = default is not None and default.verb is Verb.PLAY and not default.at_once
    if level is Level.COUNTING or len(candidates) < 2 or (worth >= _NOT_SEARCHED_WORTH and not is_laid):
        return Choice(default, reason_for(position, default))
    found = search(position, candidates, chance, effort)
    return Choice(found.play, search_reason(position, found))


def _worth_searching(ranked: Sequence[tuple[Play | None, float]]) -> list[tuple[Play | None, float]]:
    """Return the plays to compare, best first; a costless discard excludes others."""
    discards = [(play, worth) for play, worth in ranked if play is not None and play.verb is Verb.DISCARD]
    others = [play for play, worth in ranked if worth > NEVER and (play is None or play.verb is not Verb.DISCARD)]
    most = 1 if discards and discards[0][1] >= 0 else _MOST_DISCARDED
    kept = {*others[:_MOST_LAID], *(play for play, _ in discards[:most])}
    return [(play, worth) for play, worth in ranked if play in kept]


def reason_for(position: Position, play: Play | None) -> Said:
    """Return why a play was chosen by worth."""
    if play is None or play.verb is Verb.PASS:
        return say_many(
            "The card in the hand is not worth playing now.",
            "None of the %(count)d cards in the hand is worth playing now.",
            len(position.hand),
        )
    if play.verb is Verb.PLAY:
        return _reason_to_lay(position, play)
    table, side = position.table, position.side
    if play.verb in (Verb.EXTEND, Verb.FINISH):
        most = max(table.race_km(other) for other in table.sides if other is not side)
        return say("The nearest opponent has %(km)d km; cards left to draw: %(left)d.", km=most, left=table.draw_pile)
    if play.verb is Verb.GIVE:
        return say("It was demanded.")
    if play.verb is Verb.DISCARD:
        return say_many(
            "%(card)s is the last card.",
            "Of the %(count)d cards, %(card)s is the least useful.",
            len(position.hand),
            card=card_term(card_of(play), position.table.edition.name),
        )
    return _it_helps(position)


def _reason_to_lay(position: Position, play: Play) -> Said:
    table, side, card = position.table, position.side, card_of(play)
    laid = table.window.laid
    if play.is_u_turn and laid is not None:
        driver = table.sides[table.seats[laid.seat].side]
        km = table.race_km(driver) - laid.card.km * laid.times
        return say("It brings %(side)s back to %(km)d km.", side=_named(driver), km=km)
    if card.family is Family.DISTANCE:
        km = table.race_km(side) + card.km * play.times
        return say("It brings %(side)s to %(km)d of %(target)d km.", side=_named(side), km=km, target=table.target)
    unseen = position.unseen
    if card.family is Family.HAZARD:
        victim = table.sides[table.side_index(play.target) or 0]
        return say(
            "It holds up %(side)s at %(km)d km; unseen cards that help: %(left)d.",
            side=_named(victim),
            km=table.race_km(victim),
            left=unseen[REMEDY_OF[card]] + unseen[SAFETY_OF[card]],
        )
    if card.family is Family.SAFETY:
        to_come = sum(unseen[hazard] for hazard, safety in SAFETY_OF.items() if safety is card)
        return say("Unseen hazards it protects against: %(count)d.", count=to_come)
    return _it_helps(position)


def _it_helps(position: Position) -> Said:
    lacks = position.table.target - position.table.race_km(position.side)
    return say("It helps %(side)s, with %(km)d km still to go.", side=_named(position.side), km=lacks)


def _named(side: Side) -> Said:
    return all_of(Term(player, "player", player) for player in side.players)


def search_reason(position: Position, found: SearchResult) -> Said:
    """Return why a search chose a play."""
    return say(
        "In %(worlds)d simulated deals it wins %(share)d%%, `%(other)s` %(less)d%%: %(why)s",
        worlds=found.worlds,
        share=round(100 * found.share),
        other=str(found.other).removeprefix(position.player).strip() if found.other else "–",
        less=round(100 * found.other_share),
        why=reason_for(position, found.play),
    )


_MOST_CARDS = 30  # more than a hand holds


class Dialogue:
    """Answers questions; judges only new lines of a growing record."""

    def __init__(self, level: Level, effort: Effort, seed: int | None) -> None:
        self.level, self.effort, self.seed = level, effort, seed
        self._judged = judge.EMPTY_RECORD

    def answer(self, line: str) -> dict[str, str | None]:
        """Return `play` and `why`, or `error`; a seed makes them repeatable."""
        try:
            question = _question(line)
            position = self._position(question)
            chance = random.Random(self._seed_for(position))  # noqa: S311
            choice = choose(position, self.level, chance, self.effort)
        except Problem as problem:
            return {"error": problem.sentence}
        return {"play": None if choice.play is None else str(choice.play), "why": choice.why}

    def _seed_for(self, position: Position) -> str | None:
        """Return a seed from record, player and hand; None without `seed`."""
        lines = [line.text for line in self._judged.lines]
        return None if self.seed is None else f"{self.seed} {lines} {position.player} {sorted(position.hand)}"

    def _position(self, question: Mapping[str, Any]) -> Position:
        hand = [_card(slug) for slug in question["hand"]]
        if len(hand) > _MOST_CARDS:
            raise Problem(f"A hand cannot have {len(hand)} cards.")
        self._judged = judge.judge_on(self._judged, tuple(notation.lines(question["record"])))
        for item in self._judged.items:
            if isinstance(item, JudgedLine) and item.unreadable:
                raise Problem(f"Line {item.line.number} of the record: {item.unreadable}")
        return position_of(self._judged, composed(question["player"]), hand)


def _question(line: str) -> Mapping[str, Any]:
    try:
        question = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Problem("This line is not JSON: write one object per line.") from error
    if not isinstance(question, dict):
        raise Problem("A question must be a JSON object with `record`, `player` and `hand`.")
    kinds = {"record": str, "player": str, "hand": list}
    for key, kind in kinds.items():
        if not isinstance(question.get(key), kind):
            raise Problem(f"A question needs the texts `record` and `player` and the list `hand`: `{key}` is wrong.")
    return question


def _card(slug: object) -> Card:
    card = card_named(slug) if isinstance(slug, str) else Card.UNKNOWN
    if card is None:
        raise Problem(str(UnknownCard(str(slug))))
    if card is Card.UNKNOWN:
        raise Problem("A hand must be a list of card names, such as `roll` or `25`.")
    return card

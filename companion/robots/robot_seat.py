"""A robot's seat at the real table: instructions for its helper, step by step."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from companion.common.errors import Problem
from companion.common.text import Said
from companion.robots.information_set import PastPlay, Position, options, past_of, position_of
from companion.robots.robot import Level, choose
from companion.rules.cards import Card
from companion.rules.play import Play, Verb
from companion.rules.record.judge import JudgedRecord
from companion.rules.table import Table

Slots = Sequence[Card | None]  # of the robot's mat, from the left; `UNKNOWN` if unread


class Step(StrEnum):
    """What the robot's helper, a person, must do."""

    DRAW = "draw"  # face down into a slot
    LAY = "lay"  # play or discard a slot's card
    DO = "do"  # a play of no card or several
    SHOW = "show"  # adjust or enter an unreadable card
    TAKE_BACK = "take-back"  # put surplus cards back


@dataclass(frozen=True, slots=True)
class Instruction:
    """The helper's next step at a table."""

    step: Step
    table: Table
    slots: tuple[int, ...] = ()  # concerned, from 1
    play: Play | None = None
    why: Said | None = None

    def stands(self, table: Table, slots: Slots) -> bool:
        """True if the table is unchanged and the play's cards are in place or moving."""
        if self.play is None or self.table != table:
            return False
        return all(slots[n - 1] in (card, None) for n, card in zip(self.slots, self.play.out_of_hand, strict=False))


def instruct(
    record: JudgedRecord, player: str, level: Level, slots: Slots, chance: random.Random, before: Instruction | None
) -> Instruction | None:
    """Return a robot's next step, None while it waits; `before` is the last one.

    Moving a play's cards does not change it. Raises Problem for impossible cards.
    """
    table = record.game.table
    if table is None:
        return None
    if before is not None and before.stands(table, slots):
        return before
    free, unread = ([n for n, card in enumerate(slots, start=1) if card is kind] for kind in (None, Card.UNKNOWN))
    if unread:
        return Instruction(Step.SHOW, table, (unread[0],))
    position = position_of(record, player, [card for card in slots if card is not None])
    held, counted = len(position.hand), table.hands[position.seat]
    draws = _draws(position)
    if held > counted + draws and position.is_in_turn:
        return Instruction(Step.TAKE_BACK, table)
    if held >= counted and not (0 < held - counted < draws):
        chosen = _chosen(position, level, chance, slots, draws_first=held < counted + draws)
        if chosen is not None or held >= counted + draws:
            return chosen
    return Instruction(Step.DRAW, table, tuple(free[:1])) if free and not table.is_over else None


def _draws(position: Position) -> int:
    """Return how many cards to draw before the play."""
    table, taken = position.table, position.table.window.taken
    lays_first = table.handed_to is not None or (taken is not None and taken.seat == position.seat)
    if not position.is_in_turn or table.extension_offered_to is not None or lays_first:
        return 0
    return table.to_draw if table.edition.reshuffles else min(table.to_draw, table.draw_pile)


def _chosen(
    position: Position, level: Level, chance: random.Random, slots: Slots, *, draws_first: bool
) -> Instruction | None:
    """Return the robot's play, unless it must draw first."""
    try:
        may_wait = options(position).may_wait
    except Problem:
        return None
    if draws_first and not may_wait:
        return None
    play, why = choose(position, level, chance)
    if play is None:
        return None
    left = list(slots)
    numbers = [left.index(None) + 1] if play.verb is Verb.TAKE else []
    for card in play.out_of_hand:
        numbers.append(left.index(card) + 1)
        left[numbers[-1] - 1] = None
    is_laid = play.verb in (Verb.PLAY, Verb.DISCARD) and play.times == 1
    return Instruction(Step.LAY if is_laid else Step.DO, position.table, tuple(numbers), play, why)


class RobotHelp:
    """The helper's last instruction and entered cards; thread-safe, not saved."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told: Instruction | None = None
        self._tapped: Mapping[int, tuple[Card | None, Card | None]] = {}  # by slot: card entered, card then seen
        self._hand: object = None
        self.helper: str | None = None  # phone
        self.steps = 0  # instructions so far: a phone reads each once

    def tap(self, cards: Mapping[int, Card | None], hand: object, seen: Slots) -> None:
        """Enter cards of slots, valid until the camera sees a change."""
        with self._lock:
            self._begin(hand)
            self._tapped = {**self._tapped, **{n: (card, seen[n - 1]) for n, card in cards.items()}}

    def slots(self, seen: Slots) -> tuple[Card | None, ...]:
        tapped = {n: card for n, (card, before) in self._tapped.items() if seen[n - 1] is before}
        return tuple(tapped.get(n, card) for n, card in enumerate(seen, start=1))

    def next_step(
        self, record: JudgedRecord, player: str, level: Level, hand: object, seen: Slots
    ) -> Instruction | None:
        """Return the next step; `hand` identifies the deal. Raises Problem like `instruct`."""
        with self._lock:
            self._begin(hand)
            past, told = past_of(record), self._told
            if told is not None and told.play is not None and past[-1:] == (PastPlay(told.table, told.play),):
                # Played cards have left, even if unseen.
                gone = {n: (None, seen[n - 1]) for n in told.slots if n in self._tapped}
                self._told, self._tapped = None, {**self._tapped, **gone}
            chance = random.Random(f"{hand} {len(past)} {player}")  # noqa: S311
            step = instruct(record, player, level, self.slots(seen), chance, self._told)
            self.steps += step is not None and step != told
            self._told = step
            return step

    def _begin(self, hand: object) -> None:
        if hand != self._hand:
            self._hand, self._told, self._tapped = hand, None, {}

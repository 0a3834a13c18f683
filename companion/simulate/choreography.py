from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from companion.rules import referee
from companion.rules.play import Play, Verb
from companion.rules.table import Table
from companion.simulate import arrange
from companion.simulate.arrange import MatPlace, Pose, TablePlan
from companion.simulate.scene import BACK, Lying
from companion.simulate.script import Action, Hand, Script, answered, reshuffled, zone_of
from companion.tabletop.card_ids import face_of
from companion.tabletop.mat_layout import DISCARD_ZONE, DRAW_ZONE, TABLE, mat_of

_CARDS_A_LAYER = 12  # per visible layer of the draw pile


@dataclass(frozen=True, slots=True)
class Rest:
    """Pause of `wish_s` at speed 1, never under `least_s`."""

    wish_s: float
    least_s: float = 0.0


AFTER_DRAWING = Rest(0.3)
AFTER_LAYING = Rest(1.5, 1.0)
BEFORE_TAKING_BACK = Rest(3.0, 1.8)
AFTER_TAKING_BACK = Rest(2.0, 2.0)
AFTER_CLEARING = Rest(3.0, 2.6)


@dataclass(frozen=True, slots=True)
class Movement:
    """A hand that comes, moves cards, and leaves.

    A `start` or `end` of None is the player's hand. `before`, `during` and `after` are the cards on the table before
    the pickup, while carrying, and at the end.
    """

    player: int
    pictures: tuple[str, ...]
    start: Pose | None
    end: Pose | None
    before: tuple[Lying, ...]
    during: tuple[Lying, ...]
    after: tuple[Lying, ...]
    rest: Rest
    is_play: bool = False  # players may wait here for a confirmation
    play_number: int = 0  # play that this belongs or leads to, from 1


class Choreographer:
    """Turns a script into movements, and tracks cards."""

    def __init__(self, script: Script, plan: TablePlan, seed: int) -> None:
        self._script, self._plan = script, plan
        self._players = {player: seat for seat, player in enumerate(script.players)}
        self._chance = random.Random(f"spots {seed}")  # noqa: S311
        self._zones: dict[str, tuple[Lying, ...]] = {}
        self._pile = 0
        self._drawn_this_turn = False
        self._reshuffled_this_turn = False
        self._play_number = 1

    def lying(self) -> tuple[Lying, ...]:
        """Return all cards, bottom to top."""
        return self._stack() + tuple(card for cards in self._zones.values() for card in cards)

    def movements(self) -> Iterator[Movement]:
        """Yield all movements after the first deal."""
        return (self._counted(movement) for movement in self._all_hands())

    def _counted(self, movement: Movement) -> Movement:
        return movement if movement.play_number else replace(movement, play_number=self._play_number)

    def _all_hands(self) -> Iterator[Movement]:
        ended_by_word, script = False, self._script
        for number, hand in enumerate(script.hands):
            begins = hand.begins
            table = (
                begins.table if begins else referee.new_hand(script.edition, script.teams, hand.first, script.target)
            )
            if number:
                yield from self._gather(wait=ended_by_word)
                yield self._new_pile(0, table.draw_pile)
            elif begins:
                for zone, cards in begins.lying.items():
                    for card_id in cards:
                        self._put(zone, Lying(card_id, self._spot_in(zone, card_id, card_id in begins.sideways)))
            self._pile = table.draw_pile
            yield from self._play_hand(table, hand)
            ended_by_word = any(action.play.verb is Verb.END for action in hand.actions)
        if ended_by_word:
            yield from self._gather(wait=True)

    def _play_hand(self, table: Table, hand: Hand) -> Iterator[Movement]:
        for action in hand.actions:
            if action.taken_back:
                yield from self._laid_and_taken_back(table, action)
            else:
                after = referee.apply(table, action.play)
                yield from self._act(table, action, after)
                self._play_number += 1
                table = after

    def _act(self, before: Table, action: Action, after: Table) -> Iterator[Movement]:
        play = action.play
        if play.player is None:
            return
        seat = self._players[play.player]
        if play.verb is Verb.TAKE:
            yield from self._take_discard(seat)
        if not play.at_once:
            yield from self._draws(seat, before, play, after)
        if action.card_id is not None:
            spot = self._spot(before, play, action.card_id)
            yield from self._put_down(seat, action.card_id, spot, zone_of(before, play))
            yield from self._discard_answered(seat, answered(before, after))
        if play.at_once:
            yield from self._draws(seat, before, play, after)
        self._drawn_this_turn = self._reshuffled_this_turn = False

    def _discard_answered(self, seat: int, zones: tuple[str, ...]) -> Iterator[Movement]:
        place, name = self._place(DISCARD_ZONE)
        for zone in zones:
            spot = arrange.pile_spot(place, place.layout.zones[name], self._chance)
            yield self._carry(seat, zone, DISCARD_ZONE, spot)

    def _draws(self, seat: int, before: Table, play: Play, after: Table) -> Iterator[Movement]:
        """Yield a play's draws, unless already made for a card taken back."""
        if reshuffled(before, play, after) and not self._reshuffled_this_turn:
            yield from self._draw(seat, self._pile)
            yield from self._reshuffle(seat)
        yield from self._draw(seat, self._pile - after.draw_pile)

    def _laid_and_taken_back(self, table: Table, action: Action) -> Iterator[Movement]:
        play, card_id = action.play, action.card_id
        if play.player is None or card_id is None:
            return
        seat, zone = self._players[play.player], zone_of(table, play)
        if not self._drawn_this_turn and not table.drawn and seat == table.to_move:
            if not table.draw_pile and table.edition.reshuffles:
                yield from self._reshuffle(seat)
                self._reshuffled_this_turn = True
            yield from self._draw(seat, 1)
            self._drawn_this_turn = True
        yield from self._lay_and_take_back(seat, card_id, self._spot(table, play, card_id), zone)

    # Where a card belongs

    def _spot(self, table: Table, play: Play, card_id: str) -> Pose:
        return self._spot_in(zone_of(table, play), card_id, play.at_once)

    def _spot_in(self, zone: str, card_id: str, sideways: bool) -> Pose:
        place, name = self._place(zone)
        rect = place.layout.zones[name]
        if name == "safety":
            others = [card.pose for card in self._zones.get(zone, ())]
            return arrange.safety_spot(place, rect, others, sideways, self._chance)
        if name == "distance":
            rect = arrange.column(place.layout, face_of(card_id).value)
        return arrange.pile_spot(place, rect, self._chance)

    def _place(self, zone: str) -> tuple[MatPlace, str]:
        mat_id, _, name = zone.partition("/")
        return self._plan.mat(mat_id), name

    # Movements

    def _put_down(self, seat: int, card_id: str, spot: Pose, zone: str) -> Iterator[Movement]:
        yield self._lay(seat, card_id, spot, zone)

    def _lay_and_take_back(self, seat: int, card_id: str, spot: Pose, zone: str) -> Iterator[Movement]:
        yield replace(self._lay(seat, card_id, spot, zone), rest=BEFORE_TAKING_BACK, is_play=False)
        yield self._pick_up(seat, zone, AFTER_TAKING_BACK)

    def _lay(self, seat: int, card_id: str, spot: Pose, zone: str) -> Movement:
        before = self.lying()
        self._put(zone, Lying(card_id, spot))
        return Movement(seat, (card_id,), None, spot, before, before, self.lying(), AFTER_LAYING, is_play=True)

    def _put(self, zone: str, card: Lying) -> None:
        self._zones[zone] = (*self._zones.get(zone, ()), card)

    def _pick_up(self, seat: int, zone: str, rest: Rest) -> Movement:
        before, top = self.lying(), self._zones[zone][-1]
        self._zones[zone] = self._zones[zone][:-1]
        return Movement(seat, (top.picture,), top.pose, None, before, self.lying(), self.lying(), rest)

    def _draw(self, seat: int, count: int) -> Iterator[Movement]:
        for _ in range(min(max(count, 0), self._pile)):
            before, top = self.lying(), self._stack()[-1].pose
            self._pile -= 1
            now = self.lying()
            yield Movement(seat, (BACK,), top, None, before, now, now, AFTER_DRAWING)

    def _take_discard(self, seat: int) -> Iterator[Movement]:
        if self._zones.get(DISCARD_ZONE):
            yield self._pick_up(seat, DISCARD_ZONE, AFTER_TAKING_BACK)

    def _carry(self, seat: int, zone: str, to_zone: str, spot: Pose) -> Movement:
        taken = self._pick_up(seat, zone, AFTER_LAYING)
        self._put(to_zone, Lying(taken.pictures[0], spot))
        return replace(taken, end=spot, after=self.lying())

    def _reshuffle(self, seat: int) -> Iterator[Movement]:
        count = len(self._zones.get(DISCARD_ZONE, ()))
        if count:
            yield self._sweep(seat, TABLE)
            yield self._new_pile(seat, count)

    def _gather(self, *, wait: bool) -> Iterator[Movement]:
        """Clear the table; players wait if only that shows the hand's end."""
        of = self._play_number - wait
        for number, team in enumerate(self._script.teams, 1):
            yield replace(self._sweep(self._players[team.players[0]], f"side-{number}"), play_number=of)
        self._pile = 0
        last = replace(self._sweep(0, TABLE), play_number=of)
        yield replace(last, rest=AFTER_CLEARING, is_play=True) if wait else last

    def _sweep(self, seat: int, mat_id: str) -> Movement:
        """Remove a mat's cards (`side-1`, `table`); return the movement that takes them off the table."""
        before, place = self.lying(), self._plan.mat(mat_id)
        swept = [zone for zone in self._zones if mat_of(zone) == mat_id]
        pictures = tuple(card.picture for zone in swept for card in self._zones.pop(zone))
        now = self.lying()
        return Movement(seat, pictures[-6:], place.middle, None, before, now, now, AFTER_DRAWING)

    def _new_pile(self, seat: int, count: int) -> Movement:
        before = self.lying()
        self._pile = count
        spot = self._stack()[-1].pose
        return Movement(seat, (BACK,) * 3, None, spot, before, before, self.lying(), AFTER_CLEARING)

    def _stack(self) -> tuple[Lying, ...]:
        place, name = self._place(DRAW_ZONE)
        layers = range(math.ceil(self._pile / _CARDS_A_LAYER))
        return tuple(Lying(BACK, arrange.stack_spot(place, place.layout.zones[name], n)) for n in layers)

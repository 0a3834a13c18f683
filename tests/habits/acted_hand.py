"""People who play a scripted hand: where each card is at each moment, and which zones their hands cover.

Positions are poses on the simulated table, in millimeters, as in `companion/simulate/arrange.py`.
"""

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from bench.views import TruePlay

from companion.rules import referee
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card, Family
from companion.rules.play import Play, Verb
from companion.rules.table import Table
from companion.simulate import arrange
from companion.simulate.arrange import MatPlace, Point, Pose, TablePlan
from companion.simulate.scene import Lying
from companion.simulate.script import Action, Script, answered, reshuffled, zone_of
from companion.tabletop.card_ids import face_of
from companion.tabletop.mat_layout import CARD_MM, DISCARD_ZONE, DRAW_ZONE, TABLE, Rect

BEFORE_S, DRAW_S, CARRY_S = 2.0, 0.8, 0.6  # before the first play; from drawing to playing; from zone to zone
HASTY_S = (0.02, 0.15)  # between two plays that no look can separate
CORRECTS_S, REPICKS_S = (0.6, 3.0), (0.4, 1.5)  # a card is in a wrong zone; is down before it is picked up again
SHOWS_SLIP_S = (1.5, 4.0)  # an illegal card is on the table before it is taken back
CLEARS_LATER, LINGERS = (2, 4), (2, 7)  # plays until a beaten hazard, or an illegal card, is removed
NUDGE_MM, SCATTER_MM, EXACT_MM = 8.0, 1.0, 0.5  # a card put down again; between pushed cards; cards pushed together
APART_MM = 3.0  # between equal cards that are not stacked exactly
FAN_STEP_MM, FAN_STEPS = 20.0, 3


@dataclass(frozen=True)
class Habits:
    """How people handle cards: probabilities, but for the last fields. Without habits, everyone is tidy."""

    clears_now: float = 0.0  # a hazard beaten by a remedy or safety is cleared away at once
    clears_later: float = 0.0  # some plays later; otherwise never
    with_remedy: float = 0.0  # the remedy is cleared away too
    whole_pile: float = 0.0  # the remedy and everything below it is cleared away
    forgets: float = 0.0  # a hazard that a Coup Fourré sends to the discard pile stays where it is
    pushes: float = 0.0  # a card played on others moves those
    squares_up: float = 0.0  # after a play, a pile or column is pushed together
    fans: float = 0.0  # a side puts equal distances one below another
    stacks: float = 0.0  # an equal distance is put exactly on the last one
    repicks: float = 0.0  # a card is picked up and put down again nearby
    strays: float = 0.0  # a card is put in a wrong zone first
    slips: float = 0.0  # an illegal play of the script is made, and taken back
    lingers: float = 0.0  # an illegal card stays during some plays
    hasty: float = 0.0  # a play follows the last one at once
    crosses: float = 0.0  # an arm hides another zone of the mat too
    pause_s: float = 4.0  # mean time from one play to the next
    hand_before_s: float = 0.6  # a hand is over the zone before a card moves
    hand_after_s: float = 0.5  # and afterwards
    push_mm: float = 8.0


class Moment(NamedTuple):
    """All cards from a time on, by zone from bottom to top."""

    t_s: float
    zones: Mapping[str, tuple[Lying, ...]]
    draw_pile: int


class HiddenZone(NamedTuple):
    """A zone with something over it."""

    zone: str
    from_s: float
    until_s: float


@dataclass(frozen=True)
class ActedHand:
    """What happened on the table."""

    script: Script
    plan: TablePlan
    moments: tuple[Moment, ...]
    hidden: tuple[HiddenZone, ...]
    plays: tuple[TruePlay, ...]
    gathered_s: float  # the first card is gathered in
    end_s: float


class _Due(NamedTuple):
    """Cards that will be removed before an action of the script."""

    number: int
    zone: str
    cards: tuple[str, ...]
    is_slip: bool


class Acting:
    """Plays the only hand of a script, then gathers the cards in."""

    def __init__(self, script: Script, habits: Habits, seed: object) -> None:
        self._script, self._habits = script, habits
        self._luck = random.Random(f"people {seed}")
        self._plan = arrange.plan(len(script.teams), len(script.players))
        self._t_s, self._is_hasty = BEFORE_S, False
        self._zones: dict[str, tuple[Lying, ...]] = {}
        self._by_rules: defaultdict[str, list[str]] = defaultdict(list)  # cards where the rules put them
        self._draw_pile = 0
        self._due: list[_Due] = []
        self._plays: list[TruePlay] = []
        self._moments: list[Moment] = []
        self._hidden: list[HiddenZone] = []
        sides = range(1, len(script.teams) + 1)
        self._fanned = {f"side-{side}/distance" for side in sides if self._happens(habits.fans)}

    def acted(self) -> ActedHand:
        (hand,) = self._script.hands
        table = referee.new_hand(self._script.edition, self._script.teams, hand.first, self._script.target)
        self._draw_pile = table.draw_pile
        self._moments.append(Moment(0.0, {}, self._draw_pile))
        for number, action in enumerate(hand.actions):
            self._wait()
            after = table if action.taken_back else referee.apply(table, action.play)
            self._remove_due(number, action, (zone_of(table, action.play), *answered(table, after)))
            if action.taken_back:
                self._slip(table, action, number)
                continue
            self._act(table, action, after, number)
            table = after
            if self._happens(self._habits.squares_up):
                self._square_up()
        self._t_s += self._habits.pause_s
        gathered_s = self._t_s
        self._gather()
        moments, hidden, plays, end_s = tuple(self._moments), tuple(self._hidden), tuple(self._plays), self._t_s + 2.0
        return ActedHand(self._script, self._plan, moments, hidden, plays, gathered_s, end_s)

    def _happens(self, share: float) -> bool:
        return self._luck.random() < share

    def _offset(self, mm: float) -> Point:
        return self._luck.gauss(0.0, mm), self._luck.gauss(0.0, mm)

    def _wait(self) -> None:
        # After two quick plays the table comes to rest.
        self._is_hasty = not self._is_hasty and bool(self._plays) and self._happens(self._habits.hasty)
        pause_s = self._habits.pause_s
        self._t_s += self._luck.uniform(*(HASTY_S if self._is_hasty else (0.6 * pause_s, 1.4 * pause_s)))

    def _touch(self, *zones: str) -> None:
        """Put a hand over the zones, and perhaps an arm over others of the mat."""
        from_s, until_s = self._t_s - self._habits.hand_before_s, self._t_s + self._habits.hand_after_s
        mat = zones[0].partition("/")[0]
        others = (f"{mat}/{name}" for name in self._plan.mat(mat).layout.zones)
        crossed = {*zones, *(other for other in others if self._happens(self._habits.crosses))}
        self._hidden += (HiddenZone(zone, from_s, until_s) for zone in sorted(crossed))

    def _act(self, before: Table, action: Action, after: Table, number: int) -> None:
        play, card = action.play, action.card_id
        if play.verb is Verb.TAKE:
            self._take_discard(play)
        if not play.at_once:
            self._draw(before, play, after)
        if card is not None:
            zone = zone_of(before, play)
            self._by_rules[zone].append(card)
            self._lay(play, card, zone)
            # A Coup Fourré sends the hazard to the discard pile.
            for pile in answered(before, after):
                hazard = self._by_rules[pile].pop()
                self._by_rules[DISCARD_ZONE].append(hazard)
                self._carry_off(pile, [] if self._happens(self._habits.forgets) else [hazard])
            self._clear(before, play, card, zone, number)
        if play.at_once:
            self._draw(before, play, after)

    def _draw(self, before: Table, play: Play, after: Table) -> None:
        if reshuffled(before, play, after):
            self._by_rules[DISCARD_ZONE].clear()
            self._touch(DISCARD_ZONE)
            self._lift(DISCARD_ZONE, self._cards(DISCARD_ZONE))
        if after.draw_pile != self._draw_pile:
            self._touch(DRAW_ZONE)
            self._draw_pile = after.draw_pile
            self._note()
            self._t_s += 0.0 if self._is_hasty else DRAW_S

    def _take_discard(self, play: Play) -> None:
        card = self._by_rules[DISCARD_ZONE].pop()
        zone = next((zone for zone in self._zones if card in self._cards(zone)), DISCARD_ZONE)
        clear_s = self._t_s + self._habits.hand_after_s
        self._plays.append(TruePlay(str(play), True, None, None, self._t_s, clear_s, None))
        self._take_up(zone, [card])

    def _slip(self, table: Table, action: Action, number: int) -> None:
        """Play an illegal card, and take it back at once or some plays later."""
        if action.card_id is None or not self._happens(self._habits.slips):
            return
        zone = zone_of(table, action.play)
        self._lay(action.play, action.card_id, zone, is_legal=False)
        if self._happens(self._habits.lingers):
            until = number + self._luck.randint(*LINGERS)
            self._due.append(_Due(until, zone, (action.card_id,), is_slip=True))
        else:
            self._t_s += self._luck.uniform(*SHOWS_SLIP_S)
            self._take_up(zone, [action.card_id])

    def _clear(self, before: Table, play: Play, card: str, zone: str, number: int) -> None:
        """Clear away the hazard that a play beats: now, later or never."""
        pile, cards = self._beaten(before, play, card, zone)
        when, habits = self._luck.random(), self._habits
        if when < habits.clears_now:
            self._carry_off(pile, cards)
        elif when < habits.clears_now + habits.clears_later and cards:
            self._due.append(_Due(number + self._luck.randint(*CLEARS_LATER), pile, cards, is_slip=False))

    def _beaten(self, before: Table, play: Play, card: str, zone: str) -> tuple[str, tuple[str, ...]]:
        """Return the pile and the cards that are cleared away after a play; no cards if it beats no hazard."""
        face, side = face_of(card), before.side_index(play.player)
        if play.verb is not Verb.PLAY or play.at_once or side is None:
            return zone, ()
        hazard = Card.SPEED_LIMIT if face is Card.END_OF_LIMIT else before.sides[side].hazard
        pile = zone.replace("/safety", "/battle")
        cards = self._cards(pile)
        at = [n for n, one in enumerate(cards) if face_of(one) is hazard]
        if hazard is None or not at or face not in (REMEDY_OF[hazard], SAFETY_OF[hazard]):
            return zone, ()
        remedy = cards[cards.index(card) :][:1] if card in cards else []
        choice = self._luck.random() - self._habits.whole_pile
        if choice < 0.0:
            return pile, (*cards[: at[-1] + 1], *remedy)
        return pile, (cards[at[-1]], *(remedy if choice < self._habits.with_remedy else ()))

    def _remove_due(self, number: int, action: Action, touched: Sequence[str]) -> None:
        """Clear away hazards that are due; take back illegal cards that are due, needed or in the way."""
        for due in list(self._due):
            in_the_way = due.is_slip and (action.card_id in due.cards or due.zone in touched)
            if due.number <= number or in_the_way:
                self._due.remove(due)
                cards = [card for card in due.cards if card in self._cards(due.zone)]
                (self._take_up if due.is_slip else self._carry_off)(due.zone, cards)
                self._wait()

    def _lay(self, play: Play, card: str, zone: str, *, is_legal: bool = True) -> None:
        habits, early = self._habits, []
        if is_legal and self._happens(habits.strays):
            wrong = self._wrong_zone(zone)
            early.append((wrong, self._t_s))
            self._touch(wrong)
            self._put(wrong, Lying(card, self._spot(wrong, card)))
            self._t_s += self._luck.uniform(*CORRECTS_S)
            self._take_up(wrong, [card])
        self._touch(zone)
        if self._happens(habits.pushes):
            self._push(zone, card)
        laid = Lying(card, self._spot(zone, card, sideways=play.at_once))
        lies_s = self._t_s
        self._put(zone, laid)
        if is_legal and self._happens(habits.repicks):
            self._t_s += self._luck.uniform(*REPICKS_S)
            self._take_up(zone, [card])
            self._touch(zone)
            self._put(zone, self._moved(zone, laid, self._offset(NUDGE_MM)))
        clear_s = self._t_s + habits.hand_after_s
        self._plays.append(TruePlay(str(play), is_legal, zone, card, lies_s, clear_s, None, tuple(early)))

    def _take_up(self, zone: str, cards: Sequence[str]) -> None:
        self._touch(zone)
        self._lift(zone, cards)
        self._t_s += CARRY_S

    def _carry_off(self, zone: str, cards: Sequence[str]) -> None:
        """Move cards from a pile to the discard pile, if any."""
        if cards:
            self._t_s += CARRY_S
            self._take_up(zone, cards)
            self._touch(DISCARD_ZONE)
            for card in cards:
                self._put(DISCARD_ZONE, Lying(card, self._spot(DISCARD_ZONE, card)))

    def _push(self, zone: str, card: str) -> None:
        """Push the cards that a card is put on in one direction; each ends up a little elsewhere."""
        by_x, by_y = self._offset(self._habits.push_mm)
        offsets = {one: self._offset(SCATTER_MM) for one in self._near(zone, card)}
        self._replace(zone, {one: self._moved(zone, one, (by_x + x, by_y + y)) for one, (x, y) in offsets.items()})

    def _square_up(self) -> None:
        """Push the cards of a pile, or of one column, together."""
        zones = [zone for zone, cards in self._zones.items() if len(cards) > 1 and not zone.endswith("/safety")]
        if zones:
            self._t_s += CARRY_S
            zone = self._luck.choice(zones)
            cards = self._near(zone, self._luck.choice(self._cards(zone)))
            self._touch(zone)
            onto = {one: replace(cards[-1], picture=one.picture) for one in cards}
            self._replace(zone, {one: self._moved(zone, at, self._offset(EXACT_MM)) for one, at in onto.items()})

    def _spot(self, zone: str, card: str, *, sideways: bool = False) -> Pose:
        (place, rect), near = self._rect(zone, card), self._near(zone, card)
        equal = [one for one in near if face_of(one.picture) is face_of(card)]
        if zone.endswith("/safety"):
            return arrange.safety_spot(place, rect, [one.pose for one in near], sideways, self._luck)
        if zone.endswith("/distance") and equal and self._happens(self._habits.stacks):
            return self._moved(zone, equal[-1], self._offset(EXACT_MM)).pose
        for _ in range(10):
            spot = arrange.pile_spot(place, rect, self._luck)
            if all(distance_mm(one.pose, spot) >= APART_MM for one in equal):
                break
        if zone not in self._fanned:
            return spot
        x_mm, _ = place.on_mat(spot.x_mm, spot.y_mm)
        y_mm = rect.y_mm + CARD_MM[1] / 2 + 1.0 + FAN_STEP_MM * (len(equal) % FAN_STEPS)
        return arrange.laid_inside(place, rect, x_mm, y_mm, spot.turn_deg - place.middle.turn_deg)

    def _near(self, zone: str, card: str) -> list[Lying]:
        """Return the cards of a pile, or the equal ones of the distance area."""
        there = self._zones.get(zone, ())
        return [one for one in there if not zone.endswith("/distance") or face_of(one.picture) is face_of(card)]

    def _rect(self, zone: str, card: str) -> tuple[MatPlace, Rect]:
        mat, _, name = zone.partition("/")
        place, face = self._plan.mat(mat), face_of(card)
        is_column = name == "distance" and face.family is Family.DISTANCE
        return place, arrange.column(place.layout, face.value) if is_column else place.layout.zones[name]

    def _wrong_zone(self, zone: str) -> str:
        """Return another zone of a side's mat, or the discard pile."""
        own = zone.partition("/")[0]
        mat = self._luck.choice(self._plan.mats[:-1]).layout.id if own == TABLE else own
        zones = [f"{mat}/{name}" for name in self._plan.mat(mat).layout.zones]
        return self._luck.choice([other for other in (*zones, DISCARD_ZONE) if other != zone])

    def _moved(self, zone: str, card: Lying, by_mm: Point) -> Lying:
        place, rect = self._rect(zone, card.picture)
        x_mm, y_mm = place.on_mat(card.pose.x_mm + by_mm[0], card.pose.y_mm + by_mm[1])
        turn_deg = card.pose.turn_deg - place.middle.turn_deg
        return Lying(card.picture, arrange.laid_inside(place, rect, x_mm, y_mm, turn_deg))

    def _cards(self, zone: str) -> list[str]:
        return [one.picture for one in self._zones.get(zone, ())]

    def _put(self, zone: str, card: Lying) -> None:
        # A card that the rules have reshuffled may still be somewhere on the table.
        for other in [other for other in self._zones if card.picture in self._cards(other)]:
            self._lift(other, [card.picture])
        self._zones[zone] = (*self._zones.get(zone, ()), card)
        self._note()

    def _lift(self, zone: str, cards: Sequence[str]) -> None:
        self._zones[zone] = tuple(one for one in self._zones.get(zone, ()) if one.picture not in cards)
        for n, play in enumerate(self._plays):
            if play.gone_s is None and play.zone == zone and play.card in cards:
                self._plays[n] = replace(play, gone_s=self._t_s)
        self._note()

    def _replace(self, zone: str, moved: Mapping[Lying, Lying]) -> None:
        self._zones[zone] = tuple(moved.get(one, one) for one in self._zones.get(zone, ()))
        self._note()

    def _note(self) -> None:
        self._moments.append(Moment(self._t_s, dict(self._zones), self._draw_pile))

    def _gather(self) -> None:
        """Take all cards off the table, mat by mat."""
        for place in self._plan.mats:
            mat = place.layout.id
            zones = [f"{mat}/{name}" for name in place.layout.zones]
            self._touch(*zones)
            self._draw_pile = 0 if mat == TABLE else self._draw_pile
            for zone in zones:
                self._lift(zone, self._cards(zone))
            self._t_s += 1.0


def distance_mm(one: Pose, other: Pose) -> float:
    return math.hypot(one.x_mm - other.x_mm, one.y_mm - other.y_mm)

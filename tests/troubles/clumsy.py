"""Choreograph people with mishaps: late and hasty hands, cups, nudged cards, shifted mats."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from companion.rules import referee
from companion.rules.play import Play, Verb
from companion.rules.table import Table
from companion.simulate import arrange
from companion.simulate.arrange import PILE_TWIST_DEG, MatPlace, Pose, TablePlan
from companion.simulate.choreography import (
    AFTER_DRAWING,
    AFTER_LAYING,
    AFTER_TAKING_BACK,
    BEFORE_TAKING_BACK,
    Choreographer,
    Movement,
    Rest,
)
from companion.simulate.scene import Lying
from companion.simulate.script import Action, Hand, Script, answered, reshuffled, zone_of
from companion.tabletop.card_ids import face_of
from companion.tabletop.mat_layout import CARD_MM, DISCARD_ZONE, DRAW_ZONE, Rect
from troubles import accidents
from troubles.acting import TroubledMovement, troubled
from troubles.mishaps import Mishaps
from troubles.things import is_card

_THINGS_MOST = 2
_FAN_STEP_MM, _FAN_STEPS = 21.0, 3
_LAYS_A_CARD = (Verb.PLAY, Verb.DISCARD)


@dataclass(frozen=True, slots=True)
class _Left:
    """An illegal card that has not been taken back yet."""

    seat: int
    zone: str
    card_id: str
    until: int  # number of the play after which it is taken back


class ClumsyChoreographer(Choreographer):
    """Choreographs a script with random mishaps, reproducible by seed."""

    def __init__(self, script: Script, plan: TablePlan, seed: int, mishaps: Mishaps) -> None:
        super().__init__(script, plan, seed)
        self._mishaps = mishaps
        self._luck = random.Random(f"mishaps {seed}")
        self._left: tuple[_Left, ...] = ()
        self._things: dict[Lying, int] = {}  # objects on the table, and the play after which each is removed
        sides = range(1, len(script.teams) + 1)
        self._fanned = {f"side-{number}" for number in sides if self._happens(mishaps.fans)}
        self._mats_moved = False

    def lying(self) -> tuple[Lying, ...]:
        return (*super().lying(), *self._things)

    def _happens(self, share: float) -> bool:
        return share > 0.0 and self._luck.random() < share

    def _anybody(self) -> int:
        return self._luck.randrange(len(self._players))

    def _counted(self, movement: Movement) -> Movement:
        mats = self._plan.mats if self._mats_moved else ()
        movement = troubled(super()._counted(movement))
        return movement if movement.mats_after else replace(movement, mats=mats, mats_after=mats)

    # One hand

    def _all_hands(self) -> Iterator[Movement]:
        yield from super()._all_hands()
        if self._mishaps.tidy and any(map(is_card, self.lying())):
            yield from self._gather(wait=True)

    def _play_hand(self, table: Table, hand: Hand) -> Iterator[Movement]:
        actions = list(hand.actions)
        while actions:
            action = actions.pop(0)
            yield from self._take_back_in_time(table, action)
            after = table if action.taken_back else referee.apply(table, action.play)
            if action.taken_back:
                yield from self._laid_and_taken_back(table, action)
            elif actions and self._may_be_hasty(table, action, actions[0]) and self._happens(self._mishaps.hasty):
                second = actions.pop(0)
                yield from self._together(table, action, second)
                after = referee.apply(after, second.play)
            else:
                yield from self._act(table, action, after)
            self._play_number += not action.taken_back
            table = after
            yield from self._accidents()

    def _may_be_hasty(self, table: Table, first: Action, second: Action) -> bool:
        """True if the next player can play at the same time, in a different zone."""
        plays, after = (first.play, second.play), referee.apply(table, first.play)
        simple = all(play.verb in _LAYS_A_CARD for play in plays) and not (first.play.at_once or second.taken_back)
        if not simple or self._left or first.play.player == second.play.player:
            return False
        if after.is_over or after.extension_offered_to is not None or answered(table, after):
            return False
        last = referee.apply(after, second.play)
        pile_stays = not (reshuffled(table, first.play, after) or reshuffled(after, second.play, last))
        return pile_stays and zone_of(table, first.play) != zone_of(after, second.play)

    def _together(self, table: Table, first: Action, second: Action) -> Iterator[Movement]:
        """Two players play almost at once, the second right after the first."""
        after = referee.apply(table, first.play)
        last = referee.apply(after, second.play)
        seats = [self._players[str(action.play.player)] for action in (first, second)]
        yield from self._draws(seats[0], table, first.play, after)
        if not second.play.at_once:
            yield from self._draws(seats[1], after, second.play, last)
        spots = [self._spot(table, first.play, str(first.card_id)), self._spot(after, second.play, str(second.card_id))]
        yield from self._make_room(spots)
        one = self._lay(seats[0], str(first.card_id), spots[0], zone_of(table, first.play))
        two = self._lay(seats[1], str(second.card_id), spots[1], zone_of(after, second.play))
        self._play_number += 1
        yield troubled(one, meanwhile=troubled(two), gap_s=self._luck.uniform(0.1, 0.4))
        yield from self._discard_answered(seats[1], answered(after, last))
        if second.play.at_once:
            yield from self._draws(seats[1], after, second.play, last)
        self._drawn_this_turn = self._reshuffled_this_turn = False

    # Laying

    def _spot(self, table: Table, play: Play, card_id: str) -> Pose:
        zone = zone_of(table, play)
        place, name = self._place(zone)
        if name != "distance" or place.layout.id not in self._fanned:
            return super()._spot(table, play, card_id)
        face = face_of(card_id)
        layer = sum(face_of(card.picture) is face for card in self._zones.get(zone, ()))
        return _fan_spot(place, arrange.column(place.layout, face.value), layer, self._chance)

    def _put_down(self, seat: int, card_id: str, spot: Pose, zone: str) -> Iterator[Movement]:
        yield from self._make_room([spot])
        if self._happens(self._mishaps.wrong_zone):
            wrong = self._wrong_zone(zone)
            yield from self._astray(seat, card_id, wrong)
            yield replace(self._carry(seat, wrong, zone, spot), is_play=True)
        else:
            yield self._in_his_way(self._lay(seat, card_id, spot, zone))

    def _in_his_way(self, laid: Movement) -> Movement:
        pace = 0.5 if self._happens(self._mishaps.slow) else 2.0 if self._happens(self._mishaps.quick) else 1.0
        hold_s = self._luck.uniform(0.6, 1.4) if self._happens(self._mishaps.hesitating) else 0.0
        return troubled(laid, pace=pace, hold_s=hold_s)

    def _wrong_zone(self, zone: str) -> str:
        """Return another zone, usually on the same mat."""
        mats = [zone.partition("/")[0], self._luck.choice(self._plan.mats).layout.id]
        names = (f"{mat}/{name}" for mat in mats for name in self._plan.mat(mat).layout.zones)
        return self._luck.choice([name for name in names if name not in (zone, DRAW_ZONE)] or [DISCARD_ZONE])

    def _astray(self, seat: int, card_id: str, zone: str) -> Iterator[Movement]:
        """Put the card in a wrong zone for a moment."""
        place, name = self._place(zone)
        spot = arrange.pile_spot(place, place.layout.zones[name], self._chance)
        yield from self._make_room([spot])
        laid = self._lay(seat, card_id, spot, zone)
        yield replace(laid, rest=Rest(0.0, self._luck.uniform(0.5, 3.0)), is_play=False)

    def _lay_and_take_back(self, seat: int, card_id: str, spot: Pose, zone: str) -> Iterator[Movement]:
        yield from self._make_room([spot])
        yield replace(self._lay(seat, card_id, spot, zone), rest=BEFORE_TAKING_BACK, is_play=False)
        left = _Left(seat, zone, card_id, self._play_number + self._luck.randint(1, 2))
        self._left = (*self._left, left)
        if not self._happens(self._mishaps.lingering):
            yield from self._take_back(left)

    def _take_back_in_time(self, table: Table, action: Action) -> Iterator[Movement]:
        """Take back illegal cards that are due, or in the way of the next play."""
        after = table if action.taken_back else referee.apply(table, action.play)
        touched = {zone_of(table, action.play), *answered(table, after)}
        for left in self._left:
            if left.until <= self._play_number or left.card_id == action.card_id or left.zone in touched:
                yield from self._take_back(left)

    def _take_back(self, left: _Left) -> Iterator[Movement]:
        self._left = tuple(other for other in self._left if other is not left)
        yield from self._make_room([self._zones[left.zone][-1].pose])
        yield self._pick_up(left.seat, left.zone, AFTER_TAKING_BACK)

    def _take_discard(self, seat: int) -> Iterator[Movement]:
        yield from self._make_room([card.pose for card in self._zones.get(DISCARD_ZONE, ())[-1:]])
        yield from super()._take_discard(seat)

    def _discard_answered(self, seat: int, zones: tuple[str, ...]) -> Iterator[Movement]:
        place, name = self._place(DISCARD_ZONE)
        onto = Pose(*place.on_table(*place.layout.zones[name].centre_mm))
        if zones:
            yield from self._make_room([onto, *(self._zones[zone][-1].pose for zone in zones)])
        yield from super()._discard_answered(seat, zones)

    def _sweep(self, seat: int, mat_id: str) -> Movement:
        """Sweep the mat's cards together with the objects on it."""
        before, place = self.lying(), self._plan.mat(mat_id)
        self._things = {thing: n for thing, n in self._things.items() if not accidents.lies_on(place, thing)}
        self._left = tuple(left for left in self._left if not left.zone.startswith(f"{mat_id}/"))
        return replace(super()._sweep(seat, mat_id), before=before)

    # Accidents between two plays

    def _accidents(self) -> Iterator[Movement]:
        for thing in [thing for thing, until in self._things.items() if until <= self._play_number]:
            yield self._taken_away(thing)
        shares = self._mishaps
        for share, accident in (
            (shares.bump, self._bump),
            (shares.straighten, self._straighten),
            (shares.cup, self._cup),
            (shares.corner, self._corner),
            (shares.mat, self._shift_mat),
        ):
            if self._happens(share):
                yield from accident()

    def _bump(self) -> Iterator[Movement]:
        zone = self._some_zone(1)
        if zone is None:
            return
        last = {face_of(card.picture): card for card in self._zones[zone]}
        old = self._luck.choice(list(last.values())) if zone.endswith("/distance") else self._zones[zone][-1]
        place, name = self._place(zone)
        yield from self._pushed(zone, {old: accidents.bumped(place, place.layout.zones[name], old, self._luck)})

    def _straighten(self) -> Iterator[Movement]:
        """Push the cards of a pile, or of one distance column, together."""
        zone = self._some_zone(2)
        if zone is None or zone.endswith("/safety"):
            return
        place, name = self._place(zone)
        rect, cards = place.layout.zones[name], self._zones[zone]
        if name == "distance":
            face = face_of(self._luck.choice(cards).picture)
            rect = arrange.column(place.layout, face.value)
            cards = tuple(card for card in cards if face_of(card.picture) is face)
        yield from self._pushed(zone, dict(zip(cards, accidents.squared(place, rect, cards, self._luck), strict=True)))

    def _some_zone(self, least: int) -> str | None:
        zones = [zone for zone, cards in self._zones.items() if len(cards) >= least]
        return self._luck.choice(zones) if zones else None

    def _pushed(self, zone: str, moved: dict[Lying, Lying]) -> Iterator[Movement]:
        poses = [card.pose for pair in moved.items() for card in pair]
        yield from self._make_room(poses)
        before = self.lying()
        self._zones[zone] = tuple(moved.get(card, card) for card in self._zones[zone])
        after, start, end = self.lying(), poses[-2], poses[-1]
        yield TroubledMovement(self._anybody(), (), start, end, before, before, after, AFTER_LAYING, slides=True)

    def _cup(self) -> Iterator[Movement]:
        place = self._luck.choice(self._plan.mats)
        rect = place.layout.zones[self._luck.choice([name for name in place.layout.zones if name != "draw"])]
        yield from self._put_thing(accidents.thing_in_zone(place, rect, self._luck))

    def _corner(self) -> Iterator[Movement]:
        yield from self._put_thing(accidents.thing_on_corner(self._luck.choice(self._plan.mats), self._luck))

    def _put_thing(self, thing: Lying) -> Iterator[Movement]:
        if len(self._things) >= _THINGS_MOST or accidents.in_the_way(thing, (other.pose for other in self._things)):
            return
        before = self.lying()
        self._things[thing] = self._play_number + self._luck.randint(2, 6)
        yield Movement(self._anybody(), (thing.picture,), None, thing.pose, before, before, self.lying(), AFTER_LAYING)

    def _make_room(self, spots: Sequence[Pose]) -> Iterator[Movement]:
        """Remove objects where a card will be put down or taken up."""
        for thing in [thing for thing in self._things if accidents.in_the_way(thing, spots)]:
            yield self._taken_away(thing)

    def _taken_away(self, thing: Lying) -> Movement:
        before = self.lying()
        del self._things[thing]
        now = self.lying()
        return Movement(self._anybody(), (thing.picture,), thing.pose, None, before, now, now, AFTER_DRAWING)

    def _shift_mat(self) -> Iterator[Movement]:
        old = self._luck.choice(self._plan.mats)
        new = accidents.shifted(old, self._plan.mats, self._luck)
        if new is None:
            return
        before, mats = self.lying(), self._plan.mats
        self._plan = replace(self._plan, mats=tuple(new if place is old else place for place in mats))
        for zone in [zone for zone in self._zones if zone.startswith(f"{old.layout.id}/")]:
            self._zones[zone] = tuple(accidents.carried_along(card, old, new) for card in self._zones[zone])
        self._things = {
            accidents.carried_along(thing, old, new) if accidents.lies_on(old, thing) else thing: until
            for thing, until in self._things.items()
        }
        self._mats_moved = True
        corner = self._luck.randrange(4)
        start, end = (Pose(*place.corners[corner], place.middle.turn_deg) for place in (old, new))
        move = Movement(self._anybody(), (), start, end, before, before, self.lying(), AFTER_LAYING)
        yield troubled(move, slides=True, mats=mats, mats_after=self._plan.mats)


def _fan_spot(place: MatPlace, rect: Rect, layer: int, chance: random.Random) -> Pose:
    """Return a spot in a fanned column: each card is one sticker lower, the fourth at the top again."""
    turn_deg = arrange.within(chance.gauss(0.0, PILE_TWIST_DEG), 4.0)
    y_mm = rect.y_mm + CARD_MM[1] / 2 + 1.0 + _FAN_STEP_MM * (layer % _FAN_STEPS) + chance.gauss(0.0, 1.0)
    return arrange.laid_inside(place, rect, rect.centre_mm[0] + chance.gauss(0.0, 1.5), y_mm, turn_deg)

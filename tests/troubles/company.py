"""Idle hands over the table: they cross, pass, hover over a pile, or rest on a mat."""

import math
import random
from collections.abc import Iterator
from dataclasses import replace

from companion.simulate.animation import Tempo, between, shares
from companion.simulate.arrange import Point, Pose, TablePlan
from companion.simulate.choreography import Movement
from companion.simulate.scene import Arm, Scene
from troubles.acting import TroubledMovement
from troubles.mishaps import Mishaps

LEAST_SEEN_S = 1.0  # players continue once their card has been visible for this time
_PATIENCE_S = 8.0
_ARM_MM = 70.0
_CARD_REACH_MM = 55.0
_TREMBLE_MM = 3.0


class Company:
    """The other people at the table, with their hands and the cards that must still be seen."""

    def __init__(self, plan: TablePlan, mishaps: Mishaps, tempo: Tempo, seed: int) -> None:
        self._plan, self._mishaps, self._tempo = plan, mishaps, tempo
        self._luck = random.Random(f"company {seed}")
        self._hands: list[Iterator[Arm]] = []
        self._laid: tuple[Pose, ...] = ()
        self._frames_seen = 0

    def join(self, movement: TroubledMovement) -> None:
        """Start a movement, and random visits by other hands."""
        hands = (hand for hand in (movement, movement.meanwhile) if hand is not None and not hand.slides)
        laid = tuple(hand.end for hand in hands if hand.end is not None)
        if laid:
            self._laid, self._frames_seen = laid, 0
        if movement.is_play:
            self._hands += self._visits(movement)

    def waits(self, movement: Movement, waited: int) -> bool:
        """True if the players wait before a movement, after `waited` frames of waiting.

        They wait until the last card has been visible long enough, unless this movement corrects it.
        """
        long_enough = self._frames_seen >= LEAST_SEEN_S * self._tempo.fps
        patient = waited < _PATIENCE_S * self._tempo.fps
        return bool(self._laid) and not long_enough and patient and movement.start not in self._laid

    def around(self, scene: Scene) -> Scene:
        """Return a frame's scene with the idle hands."""
        arms = [(hand, next(hand, None)) for hand in self._hands]
        self._hands = [hand for hand, arm in arms if arm is not None]
        scene = replace(scene, arms=(*scene.arms, *(arm for _, arm in arms if arm is not None))) if arms else scene
        hidden = any(hides(scene, laid) for laid in self._laid)
        self._frames_seen = 0 if hidden else self._frames_seen + 1
        return scene

    def _visits(self, movement: Movement) -> Iterator[Iterator[Arm]]:
        shares, luck = self._mishaps, self._luck
        spot = movement.end or movement.start or Pose(0.0, 0.0)
        if self._happens(shares.crossing):
            yield self._hand(movement, (spot.x_mm, spot.y_mm), 60.0)
        if self._happens(shares.passing):
            yield self._hand(movement, self._middle_of_a_mat(), 150.0)
        if self._happens(shares.hovering):
            yield self._hand(movement, self._zone(), 25.0, luck.uniform(0.4, 2.5))
        if self._happens(shares.resting):
            yield self._hand(movement, self._middle_of_a_mat(), 120.0, luck.uniform(2.0, 6.0), trembles=False)

    def _happens(self, share: float) -> bool:
        return share > 0.0 and self._luck.random() < share

    def _middle_of_a_mat(self) -> Point:
        middle = self._luck.choice(self._plan.mats).middle
        return middle.x_mm, middle.y_mm

    def _zone(self) -> Point:
        place = self._luck.choice(self._plan.mats)
        return place.on_table(*self._luck.choice(list(place.layout.zones.values())).centre_mm)

    def _hand(
        self, movement: Movement, to: Point, spread_mm: float, stay_s: float = 0.0, *, trembles: bool = True
    ) -> Iterator[Arm]:
        """Yield another player's idle arm per frame: it reaches there and stays for a while."""
        player = self._luck.choice([seat for seat in range(len(self._plan.seats)) if seat != movement.player])
        seat, spot = self._plan.seats[player], self._near(to, spread_mm)
        reach, stay = self._tempo.frames(0.7), round(stay_s * self._tempo.fps)
        tips = [seat] * round(self._luck.uniform(0.0, 1.0) * self._tempo.fps / self._tempo.speed)
        tips += [between(seat, spot, share) for share in shares(reach)]
        tips += [self._near(spot, _TREMBLE_MM) if trembles else spot for _ in range(stay)]
        tips += [between(spot, seat, share) for share in shares(reach)]
        return (Arm(player, seat, tip) for tip in tips)

    def _near(self, point: Point, most_mm: float) -> Point:
        x, y = (part + self._luck.uniform(-most_mm, most_mm) for part in point)
        return x, y


def hides(scene: Scene, pose: Pose) -> bool:
    """True if a hand or a carried card covers a spot or casts a shadow on it."""
    spot = pose.x_mm, pose.y_mm
    carried = (math.dist(spot, (card.pose.x_mm, card.pose.y_mm)) < 2 * _CARD_REACH_MM for card in scene.carried)
    return any(_to_arm_mm(arm, spot) < _ARM_MM + _CARD_REACH_MM for arm in scene.arms) or any(carried)


def _to_arm_mm(arm: Arm, spot: Point) -> float:
    """Return the distance from a spot to an arm's center line."""
    along_x, along_y = arm.seat[0] - arm.tip[0], arm.seat[1] - arm.tip[1]
    length = math.hypot(along_x, along_y) or 1.0
    share = ((spot[0] - arm.tip[0]) * along_x + (spot[1] - arm.tip[1]) * along_y) / length**2
    share = min(1.0, max(0.0, share))
    return math.dist(spot, (arm.tip[0] + along_x * share, arm.tip[1] + along_y * share))

"""Turn movements with mishaps into scenes: slow and hasty hands, nudged cards, shifted mats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

from companion.simulate import animation
from companion.simulate.animation import CARRY_S, REACH_S, TOUCH_S, Tempo
from companion.simulate.arrange import MatPlace, TablePlan
from companion.simulate.choreography import Movement
from companion.simulate.scene import Arm, Scene


@dataclass(frozen=True, slots=True)
class TroubledMovement(Movement):
    """A movement with a mishap."""

    mats: tuple[MatPlace, ...] = ()  # places of the mats before the movement
    mats_after: tuple[MatPlace, ...] = ()
    slides: bool = False  # cards and mats are pushed by the hand, not carried
    pace: float = 1.0
    hold_s: float = 0.0  # how long the fingers stay on the card
    meanwhile: TroubledMovement | None = None  # another hand's movement, `gap_s` after this one
    gap_s: float = 0.0

    @property
    def last(self) -> TroubledMovement:
        """The movement that ends last: this one or `meanwhile`."""
        return self.meanwhile or self


def troubled(movement: Movement, **changes) -> TroubledMovement:
    return TroubledMovement(**{field.name: getattr(movement, field.name) for field in fields(movement)} | changes)


def scenes(movement: TroubledMovement, plan: TablePlan, tempo: Tempo) -> Iterator[Scene]:
    yield from _acted(movement, plan, tempo) if movement.meanwhile is None else _at_once(movement, plan, tempo)
    resting = animation.resting(movement.last.after, tempo.rest_frames(movement.rest))
    yield from (replace(scene, mats=movement.mats_after) for scene in resting)


def _acted(movement: TroubledMovement, plan: TablePlan, tempo: Tempo) -> Iterator[Scene]:
    paced = Tempo(tempo.fps, tempo.speed * movement.pace)
    acted = list(animation.acted(movement, plan, paced))
    reached = paced.frames(REACH_S) + paced.frames(TOUCH_S)
    carried = reached + paced.frames(CARRY_S) * (movement.start is not None and movement.end is not None)
    held = [replace(acted[carried], arms=acted[reached - 1].arms)] * round(movement.hold_s * tempo.fps)
    yield from (replace(scene, mats=movement.mats) for scene in acted[:reached])
    if movement.slides:
        yield from _pushed(movement, plan, paced)
    else:
        yield from (replace(scene, mats=movement.mats) for scene in acted[reached:carried])
    yield from (replace(scene, mats=movement.mats_after) for scene in (*held, *acted[carried:]))


def _pushed(movement: TroubledMovement, plan: TablePlan, tempo: Tempo) -> Iterator[Scene]:
    """Yield scenes in which pushed cards and mats move with the hand."""
    seat = plan.seats[movement.player]
    start, end = (animation.grip(pose, seat) for pose in (movement.start, movement.end))
    for share in animation.shares(tempo.frames(CARRY_S)):
        tip = start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
        lying = tuple(
            new if old == new else replace(old, pose=part_way(old.pose, new.pose, share))
            for old, new in zip(movement.before, movement.after, strict=True)
        )
        mats = tuple(
            new if old == new else replace(old, middle=part_way(old.middle, new.middle, share))
            for old, new in zip(movement.mats, movement.mats_after, strict=True)
        )
        yield Scene(lying, arms=(Arm(movement.player, seat, tip),), mats=mats)


def part_way(old: Any, new: Any, share: float) -> Any:
    """Return a value interpolated between two dataclasses of numbers, such as poses."""
    parts = zip(astuple(old), astuple(new), strict=True)
    return type(old)(*(start + (end - start) * share for start, end in parts))


def _at_once(first: TroubledMovement, plan: TablePlan, tempo: Tempo) -> Iterator[Scene]:
    """Yield scenes in which two hands put down a card each, the second slightly later."""
    second = first.last
    one, two = (list(_acted(movement, plan, tempo)) for movement in (first, second))
    laid_one, laid_two = (
        next(number for number, scene in enumerate(acted) if scene.lying == movement.after)
        for acted, movement in ((one, first), (two, second))
    )
    gap = max(1, round(first.gap_s * tempo.fps))
    late = laid_one + gap - laid_two
    for number in range(min(0, late), max(len(one), late + len(two))):
        seen = [acted[n] for acted, n in ((one, number), (two, number - late)) if 0 <= n < len(acted)]
        lying = second.after if number >= laid_one + gap else first.after if number >= laid_one else first.before
        arms = tuple(arm for scene in seen for arm in scene.arms)
        yield Scene(lying, tuple(card for scene in seen for card in scene.carried), arms, first.mats)

"""From movements to scenes, frame by frame: arms reach, carry, lay, and withdraw."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from companion.simulate.arrange import MatPlace, Point, Pose, TablePlan
from companion.simulate.choreography import Movement, Rest
from companion.simulate.scene import Arm, Lying, Scene

_REACH_S, _TOUCH_S, _CARRY_S, _WITHDRAW_S = 0.6, 0.2, 0.7, 0.5
_GRIP_MM = 30.0
"""The fingertips hold a card so far from its middle."""

_BOW_MM = 25.0
"""An arm swings out so far on its way."""

_HELD_TWIST_DEG = 14.0
_LEAST_FRAMES = 2


@dataclass(frozen=True, slots=True)
class Tempo:
    """How fast the players play, and how often the camera looks."""

    fps: float = 10.0
    speed: float = 1.0

    def frames(self, seconds: float) -> int:
        """The frames of a movement that takes so long at speed 1."""
        return max(_LEAST_FRAMES, round(seconds * self.fps / self.speed))

    def rest_frames(self, rest: Rest) -> int:
        """The frames of a rest, which never gets shorter than the pipeline needs."""
        return math.ceil(max(rest.wish_s / self.speed, rest.least_s) * self.fps - 1e-9)


def scenes(movement: Movement, plan: TablePlan, tempo: Tempo) -> Iterator[Scene]:
    """A movement's scenes, its rest included."""
    if movement.meanwhile is None:
        yield from _acted(movement, plan, tempo)
    else:
        yield from _at_once(movement, movement.meanwhile, plan, tempo)
    yield from resting(last(movement).after, tempo.rest_frames(movement.rest), movement.mats_after)


def resting(lying: tuple[Lying, ...], count: int, mats: tuple[MatPlace, ...] = ()) -> Iterator[Scene]:
    """The table with nobody's hand over it."""
    return (Scene(lying, mats=mats) for _ in range(count))


def last(movement: Movement) -> Movement:
    """The movement that ends last: its own, or that of the hand that comes after it."""
    return movement.meanwhile or movement


def _acted(movement: Movement, plan: TablePlan, tempo: Tempo) -> Iterator[Scene]:
    seat = plan.seats[movement.player]
    stations = [_grip(pose, seat) for pose in (movement.start, movement.end) if pose is not None]
    yield from _approach(movement, seat, stations[0], tempo)
    if len(stations) > 1:
        over = _push_over if movement.slides else _pass_over
        yield from over(movement, seat, stations[0], stations[1], tempo)
    yield from _leave(movement, seat, stations[-1], tempo)


def _at_once(first: Movement, second: Movement, plan: TablePlan, tempo: Tempo) -> Iterator[Scene]:
    """Two hands lay a card each, the second a little after the first."""
    one, two = (list(_acted(movement, plan, tempo)) for movement in (first, second))
    laid_one, laid_two = (_laid_at(acted, movement) for acted, movement in ((one, first), (two, second)))
    gap = max(1, round(first.gap_s * tempo.fps))
    late = laid_one + gap - laid_two
    for number in range(min(0, late), max(len(one), late + len(two))):
        seen = [acted[n] for acted, n in ((one, number), (two, number - late)) if 0 <= n < len(acted)]
        lying = second.after if number >= laid_one + gap else first.after if number >= laid_one else first.before
        arms = tuple(arm for scene in seen for arm in scene.arms)
        yield Scene(lying, tuple(card for scene in seen for card in scene.carried), arms, first.mats)


def _laid_at(acted: list[Scene], movement: Movement) -> int:
    return next(number for number, scene in enumerate(acted) if scene.lying == movement.after)


def _approach(movement: Movement, seat: Point, to: Point, tempo: Tempo) -> Iterator[Scene]:
    held = movement.pictures if movement.start is None else ()
    for share in _shares(tempo.frames(_REACH_S / movement.pace)):
        yield _scene(movement, movement.before, seat, between(seat, to, share), held, movement.end, 1.0 - share)
    for _ in range(tempo.frames(_TOUCH_S / movement.pace)):
        yield _scene(movement, movement.before, seat, to, held, movement.end, 0.0)


def _pass_over(movement: Movement, seat: Point, start: Point, end: Point, tempo: Tempo) -> Iterator[Scene]:
    for share in _shares(tempo.frames(_CARRY_S / movement.pace)):
        tip = between(start, end, share)
        yield _scene(movement, movement.during, seat, tip, movement.pictures, movement.end, 1.0 - share)


def _push_over(movement: Movement, seat: Point, start: Point, end: Point, tempo: Tempo) -> Iterator[Scene]:
    """What lies differently afterwards goes with the hand."""
    for share in _shares(tempo.frames(_CARRY_S / movement.pace)):
        tip = start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
        lying = tuple(map(partial(_pushed_so_far, share), movement.before, movement.after))
        mats = tuple(
            replace(old, middle=_pose_between(share, old.middle, new.middle)) if old != new else new
            for old, new in zip(movement.mats, movement.mats_after, strict=True)
        )
        yield Scene(lying, arms=(Arm(movement.player, seat, tip),), mats=mats)


def _pushed_so_far(share: float, old: Lying, new: Lying) -> Lying:
    return new if old == new else replace(old, pose=_pose_between(share, old.pose, new.pose))


def _pose_between(share: float, old: Pose, new: Pose) -> Pose:
    return Pose(
        old.x_mm + (new.x_mm - old.x_mm) * share,
        old.y_mm + (new.y_mm - old.y_mm) * share,
        old.turn_deg + (new.turn_deg - old.turn_deg) * share,
    )


def _leave(movement: Movement, seat: Point, at: Point, tempo: Tempo) -> Iterator[Scene]:
    held = movement.pictures if movement.end is None else ()
    lying = movement.after if movement.end is not None else movement.during
    for _ in range(round(movement.hold_s * tempo.fps)):
        yield _scene(movement, lying, seat, at, held, movement.start, 0.0, movement.mats_after)
    for share in _shares(tempo.frames(_WITHDRAW_S / movement.pace)):
        tip = between(at, seat, share)
        yield _scene(movement, lying, seat, tip, held, movement.start, share, movement.mats_after)


def _scene(
    movement: Movement,
    lying: tuple[Lying, ...],
    seat: Point,
    tip: Point,
    held: tuple[str, ...],
    spot: Pose | None,
    away: float,
    mats: tuple[MatPlace, ...] | None = None,
) -> Scene:
    """The arm with its fingertips at `tip`, holding cards turned like the spot they come from or go to."""
    base = Scene(lying, arms=(Arm(movement.player, seat, tip),), mats=movement.mats if mats is None else mats)
    if not held or spot is None:
        return base
    grip_x, grip_y = _grip(spot, seat)
    x_mm, y_mm = tip[0] + spot.x_mm - grip_x, tip[1] + spot.y_mm - grip_y
    turn_deg = spot.turn_deg + _HELD_TWIST_DEG * away
    fan = (Lying(picture, Pose(x_mm, y_mm, turn_deg + 9.0 * n)) for n, picture in enumerate(held))
    return replace(base, carried=tuple(fan))


def _grip(pose: Pose, seat: Point) -> Point:
    """Where the fingertips hold a card lying at a pose: between its middle and the player."""
    away = math.dist((pose.x_mm, pose.y_mm), seat)
    return (
        pose.x_mm + (seat[0] - pose.x_mm) / away * _GRIP_MM,
        pose.y_mm + (seat[1] - pose.y_mm) / away * _GRIP_MM,
    )


def between(start: Point, end: Point, share: float) -> Point:
    """A point on the slightly bowed way of a hand."""
    along_x, along_y = end[0] - start[0], end[1] - start[1]
    length = math.hypot(along_x, along_y) or 1.0
    bow = _BOW_MM * math.sin(math.pi * share)
    return start[0] + along_x * share - along_y / length * bow, start[1] + along_y * share + along_x / length * bow


def _shares(count: int) -> Iterator[float]:
    """How far a movement has got on each of its frames: slow at both ends, 1 on the last."""
    return (eased((index + 1) / count) for index in range(count))


def eased(share: float) -> float:
    """Return how far a movement is at a share of its time: slow at both ends."""
    return share * share * (3.0 - 2.0 * share)

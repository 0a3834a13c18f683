"""Convert movements to scenes, one per frame."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from companion.simulate.arrange import Point, Pose, TablePlan
from companion.simulate.choreography import Movement, Rest
from companion.simulate.scene import Arm, Lying, Scene

REACH_S, TOUCH_S, CARRY_S, _WITHDRAW_S = 0.6, 0.2, 0.7, 0.5
_GRIP_MM = 30.0  # fingertips to the middle of a held card
_BOW_MM = 25.0  # maximum deviation from a straight path
_HELD_TWIST_DEG = 14.0
_LEAST_FRAMES = 2


@dataclass(frozen=True, slots=True)
class Tempo:
    """Players' speed and camera's frame rate."""

    fps: float = 10.0
    speed: float = 1.0

    def frames(self, seconds: float) -> int:
        """Return the frames for a time at speed 1."""
        return max(_LEAST_FRAMES, round(seconds * self.fps / self.speed))

    def rest_frames(self, rest: Rest) -> int:
        """Return the frames of a rest, at least `least_s`."""
        return math.ceil(max(rest.wish_s / self.speed, rest.least_s) * self.fps - 1e-9)


def scenes(movement: Movement, plan: TablePlan, tempo: Tempo) -> Iterator[Scene]:
    """Yield a movement's scenes, then its rest."""
    yield from acted(movement, plan, tempo)
    yield from resting(movement.after, tempo.rest_frames(movement.rest))


def resting(lying: tuple[Lying, ...], count: int) -> Iterator[Scene]:
    """Yield `count` scenes without hands."""
    return (Scene(lying) for _ in range(count))


def acted(movement: Movement, plan: TablePlan, tempo: Tempo) -> Iterator[Scene]:
    """Yield a movement's scenes without its rest."""
    seat, start, end = plan.seats[movement.player], movement.start, movement.end
    at, *rest = [grip(pose, seat) for pose in (start, end) if pose is not None]
    held = movement.pictures if start is None else ()
    for share in shares(tempo.frames(REACH_S)):
        yield _scene(movement, movement.before, seat, between(seat, at, share), held, end, 1.0 - share)
    for _ in range(tempo.frames(TOUCH_S)):
        yield _scene(movement, movement.before, seat, at, held, end, 0.0)
    for onto in rest:
        for share in shares(tempo.frames(CARRY_S)):
            tip = between(at, onto, share)
            yield _scene(movement, movement.during, seat, tip, movement.pictures, end, 1.0 - share)
        at = onto
    held = movement.pictures if end is None else ()
    lying = movement.after if end is not None else movement.during
    for share in shares(tempo.frames(_WITHDRAW_S)):
        yield _scene(movement, lying, seat, between(at, seat, share), held, start, share)


def _scene(
    movement: Movement,
    lying: tuple[Lying, ...],
    seat: Point,
    tip: Point,
    held: tuple[str, ...],
    spot: Pose | None,
    away: float,
) -> Scene:
    """Return a scene with an arm at `tip`, and its cards."""
    base = Scene(lying, arms=(Arm(movement.player, seat, tip),))
    if not held or spot is None:
        return base
    grip_x, grip_y = grip(spot, seat)
    x_mm, y_mm = tip[0] + spot.x_mm - grip_x, tip[1] + spot.y_mm - grip_y
    turn_deg = spot.turn_deg + _HELD_TWIST_DEG * away
    fan = (Lying(picture, Pose(x_mm, y_mm, turn_deg + 9.0 * n)) for n, picture in enumerate(held))
    return replace(base, carried=tuple(fan))


def grip(pose: Pose, seat: Point) -> Point:
    """Return where fingertips hold a card."""
    away = math.dist((pose.x_mm, pose.y_mm), seat)
    return (
        pose.x_mm + (seat[0] - pose.x_mm) / away * _GRIP_MM,
        pose.y_mm + (seat[1] - pose.y_mm) / away * _GRIP_MM,
    )


def between(start: Point, end: Point, share: float) -> Point:
    """Return the point at `share` (0 … 1) of a hand's slightly curved path."""
    along_x, along_y = end[0] - start[0], end[1] - start[1]
    length = math.hypot(along_x, along_y) or 1.0
    bow = _BOW_MM * math.sin(math.pi * share)
    return start[0] + along_x * share - along_y / length * bow, start[1] + along_y * share + along_x / length * bow


def shares(count: int) -> Iterator[float]:
    """Yield progress by frame: slow at both ends, 1 on the last."""
    return (at * at * (3.0 - 2.0 * at) for at in ((index + 1) / count for index in range(count)))

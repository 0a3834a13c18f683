from __future__ import annotations

from dataclasses import dataclass

from companion.simulate.arrange import MatPlace, Point, Pose

BACK = "back"  # face-down card


@dataclass(frozen=True, slots=True)
class Lying:
    """A card, or `BACK`, on the table."""

    picture: str
    pose: Pose


@dataclass(frozen=True, slots=True)
class Arm:
    """A player's arm from seat to fingertips."""

    player: int
    seat: Point
    tip: Point


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything on the table, cards from bottom to top."""

    lying: tuple[Lying, ...] = ()
    carried: tuple[Lying, ...] = ()
    arms: tuple[Arm, ...] = ()
    mats: tuple[MatPlace, ...] = ()  # if moved

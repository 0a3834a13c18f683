from __future__ import annotations

from dataclasses import dataclass

from companion.simulate.arrange import MatPlace, Point, Pose

BACK = "back"  # a card that is face down


@dataclass(frozen=True, slots=True)
class Lying:
    """A physical card, or `BACK`, on the table."""

    picture: str
    pose: Pose


@dataclass(frozen=True, slots=True)
class Arm:
    """A player's arm from the seat to the fingertips."""

    player: int
    seat: Point
    tip: Point


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything on the table at one moment, cards from bottom to top."""

    lying: tuple[Lying, ...] = ()
    carried: tuple[Lying, ...] = ()
    arms: tuple[Arm, ...] = ()
    mats: tuple[MatPlace, ...] = ()  # if moved from their first places

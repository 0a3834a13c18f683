"""The physical table as a value: what lies and moves where, in table millimetres, and how the camera hangs."""

from __future__ import annotations

from dataclasses import dataclass

from companion.simulate.arrange import MatPlace, Point, Pose

BACK = "back"  # the picture of a card that lies face down


@dataclass(frozen=True, slots=True)
class Lying:
    """A thing on the table, a physical card or `BACK`, and where."""

    picture: str
    pose: Pose


@dataclass(frozen=True, slots=True)
class Arm:
    """A player's arm reaching from his seat: where his fingertips are."""

    player: int
    seat: Point
    tip: Point


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything on the table at one moment; later cards lie over earlier ones, hands over all."""

    lying: tuple[Lying, ...] = ()
    carried: tuple[Lying, ...] = ()
    arms: tuple[Arm, ...] = ()
    mats: tuple[MatPlace, ...] = ()  # where the mats lie, if not where they were laid at first

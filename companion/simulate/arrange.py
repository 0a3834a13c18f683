"""Positions of mats, seats and cards in table mm: x right, y down, angles clockwise."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from companion.common.errors import Problem
from companion.tabletop.mat_layout import CARD_MM, DISTANCE_COLUMNS, MatLayout, Rect, side_mat, table_mat

Point = tuple[float, float]

GAP_MM = 10.0  # between mats
MOST_SIDES = 4

SEAT_AWAY_MM = 330.0  # mats' edge to a shoulder, outside every picture
_PILE_SPREAD_MM = 3.0
PILE_TWIST_DEG = 1.8
_OUTLINE_UP_MM = 8.0


@dataclass(frozen=True, slots=True)
class Pose:
    """Center and clockwise turn."""

    x_mm: float
    y_mm: float
    turn_deg: float = 0.0


@dataclass(frozen=True, slots=True)
class MatPlace:
    """A mat on the table."""

    layout: MatLayout
    middle: Pose

    def on_table(self, x_mm: float, y_mm: float) -> Point:
        """Convert a point from mat to table mm."""
        width, height = self.layout.size_mm
        x, y = turned(x_mm - width / 2, y_mm - height / 2, self.middle.turn_deg)
        return self.middle.x_mm + x, self.middle.y_mm + y

    def on_mat(self, x_mm: float, y_mm: float) -> Point:
        """Convert a point from table to mat mm."""
        width, height = self.layout.size_mm
        x, y = turned(x_mm - self.middle.x_mm, y_mm - self.middle.y_mm, -self.middle.turn_deg)
        return x + width / 2, y + height / 2

    @property
    def corners(self) -> tuple[Point, ...]:
        """The sheet's corners on the table, clockwise from its top left."""
        width, height = self.layout.size_mm
        return tuple(self.on_table(x, y) for x, y in ((0, 0), (width, 0), (width, height), (0, height)))


@dataclass(frozen=True, slots=True)
class TablePlan:
    """Mats on a table, and seats clockwise."""

    mats: tuple[MatPlace, ...]  # sides in order, then the table mat
    seats: tuple[Point, ...]

    def mat(self, mat_id: str) -> MatPlace:
        return next(place for place in self.mats if place.layout.id == mat_id)

    @property
    def corners(self) -> tuple[Point, ...]:
        return tuple(chain.from_iterable(place.corners for place in self.mats))


def turned(x_mm: float, y_mm: float, turn_deg: float) -> Point:
    """Rotate a point clockwise about the origin."""
    cos, sin = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))
    return x_mm * cos - y_mm * sin, x_mm * sin + y_mm * cos


(_WIDE_MM, _HIGH_MM), _TABLE_HIGH_MM = side_mat(1).size_mm, table_mat().size_mm[1]
_RIGHT_MM, _DOWN_MM = (_WIDE_MM + GAP_MM) / 2, (_HIGH_MM + GAP_MM) / 2
_OUTER_MM = (_WIDE_MM + _TABLE_HIGH_MM) / 2 + GAP_MM
_MIDDLES = {  # by number of sides, the table mat last
    2: (Pose(-_RIGHT_MM, 0.0), Pose(_RIGHT_MM, 0.0), Pose(0.0, -(_HIGH_MM + _TABLE_HIGH_MM) / 2 - GAP_MM)),
    3: (
        Pose(-_RIGHT_MM, _DOWN_MM),
        Pose(-_RIGHT_MM, -_DOWN_MM, 180.0),
        Pose(_RIGHT_MM, -_DOWN_MM, 180.0),
        Pose(_RIGHT_MM, _DOWN_MM),
    ),
    4: (
        Pose(-_OUTER_MM, _DOWN_MM),
        Pose(-_OUTER_MM, -_DOWN_MM, 180.0),
        Pose(_OUTER_MM, -_DOWN_MM, 180.0),
        Pose(_OUTER_MM, _DOWN_MM),
        Pose(0.0, 0.0, 90.0),
    ),
}


def plan(sides: int, players: int) -> TablePlan:
    """Return a table: two side mats below the table mat, three in a square with it, or four around it.

    Raise Problem for other numbers.
    """
    if sides not in _MIDDLES:
        raise Problem(f"The simulated table seats 2 to {MOST_SIDES} sides, not {sides}.")
    layouts = (*(side_mat(number) for number in range(1, sides + 1)), table_mat())
    mats = tuple(MatPlace(layout, middle) for layout, middle in zip(layouts, _MIDDLES[sides], strict=True))
    return TablePlan(mats, tuple(_seats(mats, players)))


def _seats(mats: tuple[MatPlace, ...], players: int) -> Iterator[Point]:
    """Yield seats clockwise; players without partners sit behind their mats."""
    left, top, right, bottom = bounds(tuple(chain.from_iterable(place.corners for place in mats)))
    if players == len(mats) - 1:
        for place in mats[:-1]:
            below = place.middle.turn_deg == 0.0
            yield place.middle.x_mm, bottom + SEAT_AWAY_MM if below else top - SEAT_AWAY_MM
        return
    middle, half = ((left + right) / 2, (top + bottom) / 2), ((right - left) / 2, (bottom - top) / 2)
    for seat in range(players):
        angle = math.radians(115.0 + 360.0 * seat / players)
        yield (
            middle[0] + math.cos(angle) * (half[0] + SEAT_AWAY_MM),
            middle[1] + math.sin(angle) * (half[1] + SEAT_AWAY_MM),
        )


def bounds(points: Iterable[Point]) -> tuple[float, float, float, float]:
    """Return left, top, right, bottom."""
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def column(layout: MatLayout, face: str) -> Rect:
    """Return a distance card's column."""
    return layout.columns[DISTANCE_COLUMNS.index(face)]


def pile_spot(place: MatPlace, rect: Rect, chance: random.Random) -> Pose:
    """Return a slightly random pose on a zone's pile.

    It is at a side mat's printed outline, or in the middle of a table mat's zone.
    """
    turn_deg = within(chance.gauss(0.0, PILE_TWIST_DEG), 4.0)
    x_mm, y_mm = rect.centre_mm
    if place.layout.draw_marker is None:
        y_mm = rect.y_mm + rect.height_mm - CARD_MM[1] / 2 - _OUTLINE_UP_MM
    x_mm, y_mm = x_mm + chance.gauss(0.0, _PILE_SPREAD_MM), y_mm + chance.gauss(0.0, _PILE_SPREAD_MM)
    return laid_inside(place, rect, x_mm, y_mm, turn_deg)


def laid_inside(place: MatPlace, rect: Rect, x_mm: float, y_mm: float, turn_deg: float) -> Pose:
    """Return a card's pose near a mat point, inside the zone if possible."""
    half_x, half_y = half_extent_mm(turn_deg)
    x_mid, y_mid = rect.centre_mm
    room_x, room_y = max(rect.width_mm / 2 - half_x - 0.5, 0.0), max(rect.height_mm / 2 - half_y - 0.5, 0.0)
    return _laid(place, x_mid + within(x_mm - x_mid, room_x), y_mid + within(y_mm - y_mid, room_y), turn_deg)


def safety_spot(place: MatPlace, rect: Rect, others: Iterable[Pose], sideways: bool, chance: random.Random) -> Pose:
    """Return a pose in a free corner of the safety zone, where stickers stay visible.

    Upright cards take upper corners first, sideways ones lower corners.
    """
    x_mid, y_mid = rect.centre_mm
    at = (place.on_mat(other.x_mm, other.y_mm) for other in others)
    taken = {(x_mm > x_mid, y_mm > y_mid) for x_mm, y_mm in at}
    rows = (True, False) if sideways else (False, True)
    corners = [(right, low) for low in rows for right in (False, True)]
    right, low = next((corner for corner in corners if corner not in taken), corners[0])
    turn_deg = (-90.0 if sideways else 0.0) + within(chance.gauss(0.0, 0.7), 1.5)
    half_x, half_y = half_extent_mm(turn_deg)
    room_x, room_y = (rect.width_mm / 2 - half_x) * 0.99, (rect.height_mm / 2 - half_y) * 0.99
    return _laid(place, x_mid + (room_x if right else -room_x), y_mid + (room_y if low else -room_y), turn_deg)


def stack_spot(place: MatPlace, rect: Rect, layer: int) -> Pose:
    """Return the pose of a stack's layer; lower edges stay visible."""
    x_mm, y_mm = rect.centre_mm
    wobble = random.Random(layer)  # noqa: S311
    return _laid(place, x_mm + wobble.uniform(-0.5, 0.5), y_mm - 0.6 * layer, wobble.uniform(-0.6, 0.6))


def half_extent_mm(turn_deg: float) -> Point:
    """Return half the size of a turned card's bounding box, in mm."""
    cos, sin = abs(math.cos(math.radians(turn_deg))), abs(math.sin(math.radians(turn_deg)))
    width, height = CARD_MM
    return (width * cos + height * sin) / 2, (width * sin + height * cos) / 2


def _laid(place: MatPlace, x_mm: float, y_mm: float, turn_deg: float) -> Pose:
    return Pose(*place.on_table(x_mm, y_mm), place.middle.turn_deg + turn_deg)


def within(value: float, limit: float) -> float:
    """Limit a value to `-limit` … `limit`."""
    return max(-limit, min(limit, value))

"""Accidents with cards, mats and objects: nudged, turned, straightened, shifted, and put in the way."""

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace

import cv2
import numpy as np

from companion.simulate import arrange
from companion.simulate.arrange import MatPlace, Pose
from companion.simulate.scene import Lying
from companion.tabletop.mat_layout import Rect
from troubles.things import THINGS

THING_REACH_MM = 100.0  # an object closer to a spot must be removed before a card is put down or taken up
_CORNER_SPREAD_MM = 14.0
_BESIDE_MM = 8.0
_TRIES = 12


def bumped(place: MatPlace, rect: Rect, card: Lying, chance: random.Random) -> Lying:
    """Return the card pushed by 3 … 30 mm and turned by up to 20°, still in its zone."""
    away_mm, towards = chance.uniform(3.0, 30.0), chance.uniform(0.0, 2 * math.pi)
    x_mm, y_mm = place.on_mat(card.pose.x_mm, card.pose.y_mm)
    turn_deg = card.pose.turn_deg - place.middle.turn_deg + chance.choice((-1, 1)) * chance.uniform(0.0, 20.0)
    x_mm, y_mm = x_mm + away_mm * math.cos(towards), y_mm + away_mm * math.sin(towards)
    return replace(card, pose=arrange.laid_inside(place, rect, x_mm, y_mm, turn_deg))


def squared(place: MatPlace, rect: Rect, cards: Sequence[Lying], chance: random.Random) -> tuple[Lying, ...]:
    """Return the cards of a pile or column pushed together into one straight pile."""
    points = [place.on_mat(card.pose.x_mm, card.pose.y_mm) for card in cards]
    x_mm, y_mm = (sum(part) / len(cards) for part in zip(*points, strict=True))
    lean_deg = chance.uniform(-3.0, 3.0)
    lying = []
    for card in cards:
        off_x, off_y = chance.uniform(-1, 1), chance.uniform(-1, 1)
        upright_deg = 90.0 * round((card.pose.turn_deg - place.middle.turn_deg) / 90.0)
        pose = arrange.laid_inside(place, rect, x_mm + off_x, y_mm + off_y, upright_deg + lean_deg)
        lying.append(replace(card, pose=pose))
    return tuple(lying)


def thing_in_zone(place: MatPlace, rect: Rect, chance: random.Random) -> Lying:
    """Return a cup, a phone or dice at a random place in a zone."""
    x_mm = rect.x_mm + chance.uniform(0.2, 0.8) * rect.width_mm
    y_mm = rect.y_mm + chance.uniform(0.2, 0.8) * rect.height_mm
    return _thing(place, x_mm, y_mm, chance)


def thing_on_corner(place: MatPlace, chance: random.Random) -> Lying:
    """Return a cup, a phone or dice on a marker at a mat's corner."""
    x_mm, y_mm = chance.choice(place.layout.markers).square.centre_mm
    off_x, off_y = (chance.uniform(-_CORNER_SPREAD_MM, _CORNER_SPREAD_MM) for _ in range(2))
    return _thing(place, x_mm + off_x, y_mm + off_y, chance)


def _thing(place: MatPlace, x_mm: float, y_mm: float, chance: random.Random) -> Lying:
    return Lying(chance.choice(THINGS), Pose(*place.on_table(x_mm, y_mm), chance.uniform(0.0, 360.0)))


def in_the_way(thing: Lying, spots: Iterable[Pose]) -> bool:
    """True if an object is where a card will be put down or taken up."""
    return any(math.dist((thing.pose.x_mm, thing.pose.y_mm), (spot.x_mm, spot.y_mm)) < THING_REACH_MM for spot in spots)


def shifted(place: MatPlace, mats: Sequence[MatPlace], chance: random.Random) -> MatPlace | None:
    """Return a mat pushed by up to 30 mm and turned by up to 5°, or None if there is no room.

    It stays within the rectangle around all mats, plus 8 mm: the camera shows no more.
    """
    others = [other for other in mats if other.layout.id != place.layout.id]
    left, top, right, bottom = arrange.bounds([corner for mat in mats for corner in mat.corners])
    for attempt in range(_TRIES):
        reach = 1.0 - attempt / _TRIES
        x_mm, y_mm = (reach * chance.uniform(-30.0, 30.0) for _ in range(2))
        middle, turn_deg = place.middle, reach * chance.uniform(-5.0, 5.0)
        moved = replace(place, middle=Pose(middle.x_mm + x_mm, middle.y_mm + y_mm, middle.turn_deg + turn_deg))
        low_x, low_y, high_x, high_y = arrange.bounds(moved.corners)
        held = min(low_x - left, low_y - top, right - high_x, bottom - high_y) > -_BESIDE_MM
        if held and not any(_overlap(moved, other) for other in others):
            return moved
    return None


def _overlap(one: MatPlace, other: MatPlace) -> bool:
    area, _ = cv2.intersectConvexConvex(np.float32(one.corners), np.float32(other.corners))
    return area > 0


def carried_along(card: Lying, old: MatPlace, new: MatPlace) -> Lying:
    """Return an object on a mat after the mat was shifted."""
    x_mm, y_mm = new.on_table(*old.on_mat(card.pose.x_mm, card.pose.y_mm))
    return replace(card, pose=Pose(x_mm, y_mm, card.pose.turn_deg + new.middle.turn_deg - old.middle.turn_deg))


def lies_on(place: MatPlace, card: Lying) -> bool:
    """True if an object's center is on a mat."""
    x_mm, y_mm = place.on_mat(card.pose.x_mm, card.pose.y_mm)
    return 0 <= x_mm <= place.layout.size_mm[0] and 0 <= y_mm <= place.layout.size_mm[1]

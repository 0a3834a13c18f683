"""Cards that were identified by their faces, as they were last seen, and how two of them lie to each other."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from companion.rules.cards import Family
from companion.tabletop.mat_layout import DISCARD_ZONE, kind_of
from companion.vision.boxes import Floats, Mask
from companion.vision.faces.border_profile import OUTSIDE_MM, Borders
from companion.vision.opencv import cv2
from companion.vision.view import Quad, Sighting

# Most by which a card lies beside, and is turned against, the place of its like if it is the same card,
SAME_MM, SAME_DEG = 1.0, 1.5
EXACT_MM = SAME_MM / 4  # come to light again: no hand lays one so exactly on its like;
PUSHED_MM, PUSHED_DEG = 2.5, 2 * SAME_DEG  # where the mat was pushed: its new place is less certain at first;
UNTOUCHED_MM, UNTOUCHED_PILE_MM, ANY_DEG = 5.0, 20.0, 180.0
"""where nothing has moved: a pale card's edges are found badly, and on a pile no other card can show so near."""

OVER_MM = 12.0  # most between an unidentified card and a remembered one if it is that one, half hidden
UPON_SHARE = 0.3  # least share of a card covered by one that lies upon it
LOOKS = 3  # in a row without sight of a card, after which it is buried or gone: a hand may hide it for less

FACE_UP_PILES = ("battle", "speed", "discard")  # not a slot of a robot's mat, where one card lies

NOWHERE: Quad = ((0.0, 0.0),) * 4


@dataclass(frozen=True, slots=True, eq=False)
class Lain:
    """A card identified by its face, as it was last seen."""

    sighting: Sighting
    mat: str
    corners_mm: Floats  # its corners on its mat, `(4, 2)`
    borders: Borders
    is_whole: bool  # True if nothing covered it
    order: int  # its own number, higher than those of all cards below it
    upon: frozenset[int] = frozenset()  # the orders of those seen lying on it
    missed: int = 0  # number of looks in a row on which it was not seen where it lay

    @property
    def is_buried(self) -> bool:
        """True if it counts as lying below others, or gone."""
        return self.missed >= LOOKS

    @property
    def is_on_a_pile(self) -> bool:
        return kind_of(self.sighting.zone or "") in FACE_UP_PILES

    @property
    def may_be_drawn_out(self) -> bool:
        """True if people take such a card from beneath others that stay: a hazard, once it is beaten."""
        is_hazard = self.sighting.face.family is Family.HAZARD
        return is_hazard and self.is_on_a_pile and self.sighting.zone != DISCARD_ZONE


def lies_upon(upper: Lain, lower: Lain) -> bool:
    """True if a card was laid upon another, as they were last seen."""
    is_later = upper.order > lower.order and upper.mat == lower.mat
    return is_later and share_covered(lower.corners_mm, upper.corners_mm) >= UPON_SHARE


def ends_alike(one: Lain, other: Lain, most_mm: float = OUTSIDE_MM) -> bool:
    """True if the borders of two cards lie so near to each other that they may be taken for each other's."""
    off_mm, off_deg = apart(one.corners_mm, other.corners_mm)
    return one.mat == other.mat and off_mm <= most_mm and min(off_deg, 180 - off_deg) <= PUSHED_DEG


def sides_shared(lain: Lain, cards: Iterable[Lain]) -> Mask:
    """Return along which of a card's four sides, the upper one first and then to the right, one below it ends too.

    A little farther out its end is among what the border showed; farther in it would show that the upper has gone, and
    beneath a third one that reaches farther it does not show at all.
    """
    below = [card for card in cards if card.order < lain.order]
    reach_mm, shared = np.full(4, -np.inf), np.zeros(4, bool)
    for card in sorted(below, key=lambda card: -card.order):
        if ends_alike(lain, card, OVER_MM):
            beyond_mm = overhang_mm(lain, card)
            if card.sighting.face is not lain.sighting.face and ends_alike(lain, card):
                shared |= (beyond_mm > reach_mm) & (beyond_mm >= -SAME_MM) & (beyond_mm <= OUTSIDE_MM)
            reach_mm = np.maximum(reach_mm, beyond_mm)
    return shared


def overhang_mm(one: Lain, other: Lain) -> Floats:
    """Return how far another card reaches beyond each of a card's four sides, turned nearly alike."""
    middles = (one.corners_mm + np.roll(one.corners_mm, -1, axis=0)) / 2
    outwards = middles - one.corners_mm.mean(axis=0)
    outwards /= np.hypot(*outwards.T)[:, None]
    ends: Floats = np.sort(other.corners_mm @ outwards.T, axis=0)[-2:].mean(axis=0) - (middles * outwards).sum(axis=1)
    return ends


def is_like_upon(upper: Lain, lower: Lain) -> bool:
    """True if a card of the same face came later to lie about where another did."""
    is_like = upper.sighting.face is lower.sighting.face and upper.order > lower.order and upper.mat == lower.mat
    return is_like and apart(upper.corners_mm, lower.corners_mm)[0] <= OVER_MM


def lies_over(one: Sighting, other: Sighting) -> bool:
    """True if two cards, or a card and a sticker, lie so near to each other that one covers the other's place."""
    here, there = quad_of(one), quad_of(other)
    return max(share_covered(here, there), share_covered(there, here)) >= UPON_SHARE


def share_covered(lower: npt.ArrayLike, upper: npt.ArrayLike) -> float:
    """Return the share of one card that lies under another, both by their corners `(4, 2)`."""
    one, other = np.asarray(lower, np.float32), np.asarray(upper, np.float32)
    shared, _ = cv2.intersectConvexConvex(one, other)
    return float(shared) / max(float(cv2.contourArea(one)), 1.0)


def apart(one: Floats, other: Floats) -> tuple[float, float]:
    """Return how far two cards with these corners `(4, 2)` lie apart, and by how many degrees they are turned."""
    tops = (corners[1] - corners[0] for corners in (one, other))
    now, then = (math.degrees(math.atan2(down, right)) for right, down in tops)
    return float(np.hypot(*(one - other).mean(axis=0))), abs((now - then + 180) % 360 - 180)


def overlap(one: Quad, other: Quad) -> bool:
    """True if one card lies on a part of the other's place."""
    return share_covered(one, other) > 0


def quad_of(sighting: Sighting) -> Quad:
    """Return the corners, which every card identified by its face has."""
    return sighting.corners_px or NOWHERE

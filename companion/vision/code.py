"""A sticker on a picture, as every reader tells it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from companion.vision.view import Point, Quad

AGREED = 0.99  # confidence of a card that two readers agree on, and the highest that is given
ALONE = 0.9  # confidence of a card that one reader alone gives, less surely


@dataclass(frozen=True, slots=True)
class Code:
    """A sticker of ours on a picture."""

    card: str | None  # the physical card, or None: it cannot be recognised, is not in this deck, or is here twice
    corners_px: Quad  # the code without its quiet zone: top left, top right, bottom right, bottom left as it is printed
    confidence: float  # 0 where the card is None
    rivals: tuple[tuple[str, float], ...] = ()
    """For a code that is there and cannot be recognised: up to three cards with their confidences, likeliest first."""

    @property
    def centre_px(self) -> Point:
        return centre_of(self.corners_px)

    @property
    def side_px(self) -> float:
        """The mean length of the code's four sides."""
        return side_of(self.corners_px)


def centre_of(quad: Quad) -> Point:
    """Return the middle of four corners: where the diagonals of a square seen at an angle cross."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = quad
    ux, uy, vx, vy = cx - ax, cy - ay, dx - bx, dy - by
    cross = ux * vy - uy * vx
    if abs(cross) < 1e-9:
        return (ax + bx + cx + dx) / 4, (ay + by + cy + dy) / 4
    t = ((bx - ax) * vy - (by - ay) * vx) / cross
    return ax + t * ux, ay + t * uy


def side_of(quad: Quad) -> float:
    """Return the mean length of the four sides of a quad."""
    return sum(math.dist(quad[i - 1], quad[i]) for i in range(4)) / 4

"""Figures of a side's cards: visible parts get frames, and numbers that do not overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from companion.vision.boxes import Box, Floats, Image, Places, around
from companion.vision.counting.tally import Lot, Spot, Tally
from companion.vision.opencv import cv2
from companion.vision.view import Point

MARGIN = 0.12  # margin around a lot, in longer sides
LEAST_SHARE = 1 / 6  # minimum longer side, in photograph widths
ACROSS, DOWN = 28.0, 44.0  # maximum figure width and height in number heights, for small screens
LETTER_PX = 21.0  # number height on the raster of visible parts
RADIUS_PX = 0.72 * LETTER_PX  # radius of a number's disc
SLIVER_PX = 6  # narrower visible parts are position errors
BEST_AT = np.array((0.5, 0.12))  # preferred number place in card widths and heights, clear of printed corners
INSIDE, APART = 4.0, 12.0  # cost per pixel of disc off the card and on other discs, in pixels


@dataclass(frozen=True, slots=True)
class NumberedFrame:
    """A card's frame and number, in photograph px."""

    number: int
    outline: tuple[Point, ...]
    at: Point
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Figure:
    """The part of a photograph that shows a lot, in photograph px."""

    photo: int  # photograph index
    size_px: tuple[int, int]  # of the photograph
    box: Box
    letter_px: float  # number height
    marks: tuple[NumberedFrame, ...]

    def of(self, number: int) -> Figure:
        """Return the figure of one card, by number."""
        marks = tuple(mark for mark in self.marks if mark.number == number)
        box = around(next(mark.outline for mark in marks)).padded(round(self.letter_px))
        return replace(self, box=box.within(*self.size_px), marks=marks)


def figures(tally: Tally, lot: Lot) -> Iterator[Figure]:
    """Yield the figure of each photograph that shows a lot's mat or cards."""
    for number, photo in enumerate(tally.photos):
        spots = [spot for spot in lot.spots if spot.photo == number]
        shown = [point for spot in spots for point in spot.sighting.corners_px or (spot.centre_px,)]
        if shown or not lot.spots:
            shown += [point for mat in photo.view.mats if mat.id == lot.key for point in mat.corners_px]
        if shown:
            tight = around(shown)
            longest = max(tight.right - tight.left, tight.bottom - tight.top, photo.size_px[0] * LEAST_SHARE)
            box = tight.padded(round(MARGIN * longest)).within(*photo.size_px)
            letter_px = max((box.right - box.left) / ACROSS, (box.bottom - box.top) / DOWN, 1.0)
            yield Figure(number, photo.size_px, box, letter_px, tuple(_marks(spots, box, LETTER_PX / letter_px)))


def _marks(spots: Sequence[Spot], box: Box, scale: float) -> Iterator[NumberedFrame]:
    """Yield the marks of cards that may score; `scale` is raster px per photograph px."""
    corner = np.array(box[:2])
    quads = {spot: (np.array(spot.sighting.corners_px or (spot.centre_px,) * 4) - corner) * scale for spot in spots}
    raster = np.zeros((round(DOWN * LETTER_PX), round(ACROSS * LETTER_PX)), np.int32)
    for spot in sorted(spots, key=lambda spot: -spot.at):
        cv2.fillConvexPoly(raster, np.int32(np.round(quads[spot])), spot.number)
    taken: list[Floats] = []
    for spot in (spot for spot in spots if spot.matters):
        quad = quads[spot]
        outline = _outline(np.uint8(raster == spot.number), quad)
        taken.append(_place(outline, quad[0] + BEST_AT @ (quad[[1, 3]] - quad[0]), taken))
        x, y = (taken[-1] / scale + corner).tolist()
        yield NumberedFrame(spot.number, tuple(map(tuple, (outline / scale + corner).tolist())), (x, y), spot.is_sure)


def _outline(shows: Image, quad: Floats) -> Places:
    """Return the outline `(n, 2)` of a card's largest visible part, or of a hidden card."""
    plain = cv2.morphologyEx(shows, cv2.MORPH_OPEN, np.ones((SLIVER_PX, SLIVER_PX), np.uint8))
    parts = cv2.findContours(plain if plain.any() else shows, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]
    largest = max(parts, key=cv2.contourArea, default=np.int32(np.round(quad)))
    return np.asarray(cv2.approxPolyDP(largest, 1.0, closed=True)).reshape(-1, 2)


def _place(outline: Places, best: Floats, taken: Sequence[Floats]) -> Floats:
    """Return the point for a number: on the card, near `best`, off the numbers `taken`."""
    x, y, width, height = cv2.boundingRect(outline)
    shows = np.zeros((height + 2, width + 2), np.uint8)
    cv2.fillPoly(shows, [outline - (x - 1, y - 1)], 1)
    depth = cv2.distanceTransform(shows, cv2.DIST_L2, cv2.DIST_MASK_3)[shows > 0]
    places = np.argwhere(shows)[:, ::-1] + (x - 1, y - 1)
    cost = np.hypot(*(places - best).T) + INSIDE * np.maximum(RADIUS_PX - depth, 0)
    for other in taken:
        cost += APART * np.maximum(2 * RADIUS_PX - np.hypot(*(places - other).T), 0)
    return np.asarray(places[cost.argmin()], np.float64)

"""Find missed cards on a photographed mat by the printed ground they hide.

Pale columns and cards with one small sign may show too little to match. But a zone's ground has one color; each strip
that hides it is an unknown card.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from companion.rules.cards import Card, Family
from companion.tabletop.card_ids import any_copy
from companion.tabletop.mat_layout import DISTANCE_COLUMNS, Rect
from companion.tabletop.sticker_codes import STICKER_MM
from companion.vision.boxes import Floats, Image, Mask, Pixels
from companion.vision.counting.bare_table import with_passed_over
from companion.vision.counting.card_extents import Glued, alone, corners_of, usual
from companion.vision.counting.strips import UNSORTED, Rivals, Sorting, ends_of_strips, safeties_left, unread
from companion.vision.counting.tally import LIKELY
from companion.vision.faces.face_templates import Templates
from companion.vision.mats.homography import as_quad, corners_mm
from companion.vision.mats.localization import Mats
from companion.vision.mats.printed_ground import LIMITS, PX_PER_MM, PrintedGround, part
from companion.vision.opencv import cv2
from companion.vision.view import FACE, STICKER, Point, Sighting, centre_of

BESIDE_MM, BESIDE_STICKERED_MM = 2.0, 4.0  # maximum error of a card's position, by its face and by its sticker
LEAST_MM, LEAST_STICKERED_MM = (30.0, 6.0), (25.0, 6.0)
"""Minimum length and width of a visible part, above the mat's print, beside cards read by face and by sticker."""

LEAST_WIDTH_MM = 45.0  # minimum width of a likely card's part at the rim of a zone
SKIPPED_MM = 30.0  # minimum distance of read cards in a column: one sticker shows, the next partly
EDGE_MM = 9.0  # width of the edge searched in a column
ROUND_MM = 4.0  # length of an edge's round ends, omitted
HIDDEN_SHARE = 0.12  # minimum share of ground that an unknown card must hide; one in the ground's color hides 0.13

SEVERAL = 5  # with so many read distances, one in a wrong column is probably misread
EVEN = 0.4  # confidence in both its face and its column's distance

PRINTED = tuple(card for card in Card if card.value in DISTANCE_COLUMNS)  # distances printed over a mat's columns


def with_unread(
    image: Image, mats: Mats, seen: Sequence[Sighting], templates: Templates | None
) -> tuple[Sighting, ...]:
    """Return the cards seen in a picture `(H, W, 3) uint8 BGR`, and missed ones in scoring zones.

    Missed cards are unknown, with likely faces. Unknown sightings favor their column's distance, or are dropped where
    ground shows. A single distance in a wrong column becomes unknown.

    A sticker's place on its card is learned from cards that lie alone; without any, a mat with stickers is skipped.
    Without printed mats, `templates` cards are searched beside the read ones.
    """
    cards = tuple(seen)
    if templates is None and not any(one.card for one in cards):
        return cards  # cards of a deck without stickers, perhaps
    if templates is not None and not mats.printed:
        by_face = all(one.by == FACE and one.corners_px is not None for one in cards)
        return tuple(with_passed_over(image, mats, cards, templates)) if by_face else cards
    there = {fit: tuple(one for one in cards if fit.holds(one.centre_px)) for fit in mats.printed if fit.layout.columns}
    grounds = [PrintedGround(image, fit) for fit in there]
    glued = usual([each for ground in grounds for each in alone(ground, there[ground.fit])])
    for ground in grounds:
        here = there[ground.fit]
        mat = _Mat(ground, here, glued)
        if mat.is_told:
            cards = (*(one for one in cards if one not in here), *mat.cards())
    return cards


class _Mat:
    """A side's mat from straight above, and its read cards."""

    def __init__(self, ground: PrintedGround, seen: Sequence[Sighting], glued: Glued | None) -> None:
        self._ground, self._fit, self._picture = ground, ground.fit, ground.picture
        corners = ((one, corners_of(ground, one, glued)) for one in seen)
        self._corners = {one: found for one, found in corners if found is not None}
        self._seen, self.is_told = seen, len(self._corners) == len(seen)  # all extents are known
        self._by_face = all(one.by == FACE for one in seen)
        self._told = self._beneath(seen) | ground.is_off  # nothing to ask here
        # An unknown card may be print, so print is judged as if it were not there.
        read = self._beneath(one for one in seen if one.face is not Card.UNKNOWN)
        self._hidden = ground.hidden_beside(read | ground.is_off)
        distances = ((one, self._printed_over(one)) for one in seen if one.face.family is Family.DISTANCE)
        told = [(one, printed) for one, printed in distances if printed is not None]
        odd = {one: printed for one, printed in told if one.face is not printed}
        is_sorted = len(odd) <= (len(told) >= SEVERAL)
        self._sorting = Sorting.of(is_told=bool(told), is_sorted=is_sorted)
        self._doubted = {one: printed for one, printed in odd.items() if is_sorted and one.by == FACE}
        self._in_columns = [(one, printed) for one, printed in told if one not in self._doubted]

    def _beneath(self, cards: Iterable[Sighting]) -> Mask:
        """True under and just beside cards."""
        beside = 2 * round((BESIDE_MM if self._by_face else BESIDE_STICKERED_MM) * PX_PER_MM) + 1
        mask = self._ground.under([self._corners[one] for one in cards if one in self._corners])
        return cv2.dilate(np.uint8(mask), np.ones((beside, beside), np.uint8)) > 0

    def cards(self) -> Iterator[Sighting]:
        hidden = self._hidden
        for at, one in enumerate(self._seen):
            if one in self._doubted:
                rivals = tuple((any_copy(card), EVEN) for card in (one.face, self._doubted[one]))
                yield replace(one, face=Card.UNKNOWN, confidence=0.0, rivals=rivals)
            elif one.face is not Card.UNKNOWN:
                yield one
            elif self._is_there(one, self._seen[:at], hidden):
                yield self._sorting.likelier(one, self._printed_over(one))
        left = (hidden & ~self._told).astype(np.uint8)
        least = LEAST_MM if self._by_face else LEAST_STICKERED_MM
        distances = self._fit.layout.zones["distance"]
        for printed, column in zip(PRINTED, self._fit.layout.columns, strict=True):
            told = [one for one, over in self._in_columns if over is printed]
            faces = {one.face for one in told}
            face, sure = (faces.pop(), LIKELY) if len(faces) == 1 else (printed, self._sorting.sure)
            piles = _left_over(left, column, least)
            strips = (strip for pile in piles for strip in self._strips(pile, told))
            for strip in (*strips, *self._between(printed)):
                is_doubtful = _is_at_rim(strip, column) or self._ground.crosses_rim(strip, distances)
                likely = min(sure, UNSORTED.sure) if is_doubtful else sure
                yield self._unread(strip, "distance", ((any_copy(face), likely),))
        for strip in _left_over(left, self._fit.layout.zones["safety"], least[::-1]):
            yield self._unread(strip, "safety", safeties_left(self._seen))

    def _is_there(self, one: Sighting, above: Sequence[Sighting], hidden: Mask) -> bool:
        """True if an unknown card, or its sticker, hides the mat's print outside the cards `above` it."""
        if one.by == STICKER:
            return self._ground.log_ratio(np.array(one.corners_px)) > 0
        alone = self._beneath([one]) & ~self._beneath(above) & self._ground.zones(LIMITS.line_mm)
        return bool(np.count_nonzero(hidden & alone) >= HIDDEN_SHARE * np.count_nonzero(alone))

    def _printed_over(self, one: Sighting) -> Card | None:
        at = self._middle(one)
        columns = zip(PRINTED, self._fit.layout.columns, strict=True)
        return next((card for card, column in columns if column.contains(*at)), None)

    def _strips(self, pile: Rect, told: Sequence[Sighting]) -> Iterator[Rect]:
        """Yield the strips of stacked cards in part of a column, in mm; `told` are the column's read cards."""
        picture = self._picture[part(pile)]
        quads = [self._fit.to_mm(self._corners[one]) for one in told if one in self._corners]
        middle = pile.centre_mm[1]
        nearest = min(quads, key=lambda quad: abs(quad[:, 1].mean() - middle), default=None)
        is_above = nearest is not None and middle < nearest[:, 1].mean()
        edge = None if nearest is None else self._edge(nearest, is_upper=is_above)
        for top, bottom in pairwise(ends_of_strips(picture, edge, is_upper=is_above)):
            yield Rect(pile.x_mm, pile.y_mm + top / PX_PER_MM, pile.width_mm, (bottom - top) / PX_PER_MM)

    def _between(self, printed: Card) -> Iterator[Rect]:
        """Yield the strips between the edges of a column's cards with stickers, in mm.

        A card whose sticker is partly covered shows its edge there, as the card on top does.
        """
        column = next(each for card, each in zip(PRINTED, self._fit.layout.columns, strict=True) if card is printed)
        cards = [one for one in self._seen if one.by == STICKER and column.contains(*self._middle(one))]
        quads = sorted((self._fit.to_mm(self._corners[one]) for one in cards), key=lambda quad: quad[:, 1].mean())
        offs = [self._fit.to_mm([one.centre_px])[0][1] - self._middle(one)[1] for one in cards]
        is_upper = not offs or float(np.median(offs)) < 0
        ends = [np.sort(quad[:, 1])[:2].mean() if is_upper else np.sort(quad[:, 1])[2:].mean() for quad in quads]
        for (quad, start), (other, end) in pairwise(zip(quads, ends, strict=True)):
            under, top = (quad, quads[-1]) if is_upper else (other, quads[0])
            pile = Rect(float(under[:, 0].min()), float(start), float(np.ptp(under[:, 0])), float(end - start))
            if pile.height_mm >= SKIPPED_MM:
                edge = self._edge(top, is_upper=is_upper)
                rows = ends_of_strips(self._picture[part(pile)], edge, is_upper=is_upper, has_print=True)
                for first, last in pairwise(row / PX_PER_MM for row in rows):
                    if (first if is_upper else pile.height_mm - last) >= STICKER_MM:
                        yield Rect(pile.x_mm, pile.y_mm + first, pile.width_mm, last - first)

    def _middle(self, one: Sighting) -> Point:
        """Return a card's center on the mat in mm."""
        at = centre_of(as_quad(self._corners[one])) if one in self._corners else one.centre_px
        x, y = self._fit.to_mm([at])[0].tolist()
        return x, y

    def _edge(self, quad: Floats, *, is_upper: bool) -> Pixels:
        """Return the picture of a card's upper or lower edge, without round ends."""
        by_height = quad[np.argsort(quad[:, 1])]
        near, far = (by_height[:2], by_height[2:]) if is_upper else (by_height[2:], by_height[:2])
        ends, others = near[np.argsort(near[:, 0])], far[np.argsort(far[:, 0])]
        inwards = (others - ends).mean(axis=0)
        inwards *= EDGE_MM / max(float(np.hypot(*inwards)), 1e-6)
        upper, lower = (ends, ends + inwards) if is_upper else (ends + inwards, ends)
        width, height = round(float(np.hypot(*(ends[1] - ends[0]))) * PX_PER_MM), round(EDGE_MM * PX_PER_MM)
        corners = np.float32([upper[0], upper[1], lower[1], lower[0]]) * np.float32(PX_PER_MM)
        level = cv2.getPerspectiveTransform(corners, np.float32([(0, 0), (width, 0), (width, height), (0, height)]))
        ends_px = round(ROUND_MM * PX_PER_MM)
        return cv2.warpPerspective(self._picture, level, (width, height))[:, ends_px:-ends_px]

    def _unread(self, strip: Rect, zone: str, rivals: Rivals) -> Sighting:
        return unread(as_quad(self._fit.to_px(corners_mm(strip))), rivals, f"{self._fit.layout.id}/{zone}")


def _is_at_rim(strip: Rect, column: Rect) -> bool:
    """True if a part is too narrow for a card and reaches the mat's margin, as a plate's edge does."""
    above, below = strip.y_mm - column.y_mm, column.y_mm + column.height_mm - strip.y_mm - strip.height_mm
    return strip.width_mm < LEAST_WIDTH_MM and min(above, below) < 2 * LIMITS.line_mm


def _left_over(left: Pixels, area: Rect, least_mm: tuple[float, float]) -> Iterator[Rect]:
    """Yield parts of an area, in mm, left and at least this wide and high."""
    width, height = (round(side * PX_PER_MM) for side in least_mm)
    # Count only what is inside the area.
    inside = cv2.copyMakeBorder(left[part(area, LIMITS.line_mm)], 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
    there = cv2.morphologyEx(inside, cv2.MORPH_OPEN, np.ones((height, width), np.uint8))[1:-1, 1:-1]
    _, _, boxes, _ = cv2.connectedComponentsWithStats(there)
    for x, y, wide, high, _ in (boxes[1:] / PX_PER_MM).tolist():
        yield Rect(area.x_mm + LIMITS.line_mm + x, area.y_mm + LIMITS.line_mm + y, wide, high)

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
from companion.vision.boxes import Floats, Image, Mask, Pixels, lengths
from companion.vision.counting.bare_table import with_passed_over
from companion.vision.counting.strips import PX_PER_MM, Rivals, Sorting, ends_of_strips, safeties_left, softened, unread
from companion.vision.counting.tally import LIKELY
from companion.vision.faces.face_templates import Templates
from companion.vision.mats.homography import Fit, as_quad, corners_mm
from companion.vision.mats.localization import Mats
from companion.vision.opencv import cv2
from companion.vision.view import FACE, Sighting

LINE_MM, RIM_MM = 2.0, 8.0
"""Width of a zone's printed line, and of its rim, usually free of cards."""

HUE_STEP, ROUGH_STEP = 3.0, 10.0
"""Minimum Lab difference in hue of object and ground; the same in unknown light. The palest print differs by at least
3, old paper by less."""

DARKEST, BRIGHTER = 0.62, 1.06  # brightness range of ground, relative to lit ground
LIT = 80  # percentile of lit ground's brightness: over half may be shaded
LEAST_GROUND = 1000  # minimum ground pixels, one in four sampled, to estimate the light
FITS = 6  # iterations of fitting the light
BLACK = 16.0  # offset in Lab's lightness: zero light is at -16
BESIDE_MM = 2.0  # maximum error of a card's position
LEAST_MM = (30.0, 6.0)  # minimum length and width of a visible part, above the mat's print
EDGE_MM = 9.0  # width of the edge searched in a column
ROUND_MM = 4.0  # length of an edge's round ends, omitted
HIDDEN_SHARE = 0.3  # minimum share of ground that an unknown card must hide

SEVERAL = 5  # with so many read distances, one in a wrong column is probably misread
EVEN = 0.4  # confidence in both its face and its column's distance

PRINTED = tuple(card for card in Card if card.value in DISTANCE_COLUMNS)  # distances printed over a mat's columns


def with_unread(
    image: Image, mats: Mats, seen: Sequence[Sighting], templates: Templates | None
) -> tuple[Sighting, ...]:
    """Return the cards seen in a picture `(H, W, 3) uint8 BGR`, and missed ones in scoring zones.

    Missed cards are unknown, with likely faces. Unknown sightings favor their column's distance, or are dropped where
    ground shows. A single distance in a wrong column becomes unknown.

    Mats with stickers are skipped: they do not show a card's extent. Without printed mats, `templates` cards
    are searched beside the read ones.
    """
    cards = tuple(seen)
    if templates is not None and not mats.printed:
        by_face = all(one.by == FACE and one.corners_px is not None for one in cards)
        return tuple(with_passed_over(image, mats, cards, templates)) if by_face else cards
    for fit in mats.fits:
        here = tuple(one for one in cards if fit.holds(one.centre_px))
        by_face = all(one.by == FACE and one.corners_px is not None for one in here)
        if fit.layout.columns and fit.is_measured and by_face:
            cards = (*(one for one in cards if one not in here), *_Mat(image, fit, here).cards())
    return cards


class _Mat:
    """A side's mat from straight above, and its read cards."""

    def __init__(self, image: Image, fit: Fit, seen: Sequence[Sighting]) -> None:
        self._fit, self._seen = fit, seen
        x, y = cv2.split(fit.grid_px(fit.sheet, 1 / PX_PER_MM))
        self._picture = softened(cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))
        height, width = image.shape[:2]
        is_off = (x < 0) | (y < 0) | (x > width - 1) | (y > height - 1)
        self._told = self._beneath(seen) | is_off  # nothing to ask here
        distances = ((one, self._printed_over(one)) for one in seen if one.face.family is Family.DISTANCE)
        told = [(one, printed) for one, printed in distances if printed is not None]
        odd = {one: printed for one, printed in told if one.face is not printed}
        is_sorted = len(odd) <= (len(told) >= SEVERAL)
        self._sorting = Sorting.of(is_told=bool(told), is_sorted=is_sorted)
        self._doubted = odd if is_sorted else {}
        self._in_columns = [(one, printed) for one, printed in told if one not in self._doubted]

    def _beneath(self, cards: Iterable[Sighting]) -> Mask:
        """True under and just beside cards."""
        mask = np.zeros(self._picture.shape[:2], np.uint8)
        for one in cards:
            cv2.fillConvexPoly(mask, np.int32(np.round(self._fit.to_mm(one.corners_px) * PX_PER_MM)), 1)
        beside = 2 * round(BESIDE_MM * PX_PER_MM) + 1
        return cv2.dilate(mask, np.ones((beside, beside), np.uint8)) > 0

    def cards(self) -> Iterator[Sighting]:
        hidden = self._is_hidden()
        for at, one in enumerate(self._seen):
            if one in self._doubted:
                rivals = tuple((any_copy(card), EVEN) for card in (one.face, self._doubted[one]))
                yield replace(one, face=Card.UNKNOWN, confidence=0.0, rivals=rivals)
            elif one.face is not Card.UNKNOWN:
                yield one
            elif self._is_there(one, self._seen[:at], hidden):
                yield self._sorting.likelier(one, self._printed_over(one))
        left = (hidden & ~self._told).astype(np.uint8)
        for printed, column in zip(PRINTED, self._fit.layout.columns, strict=True):
            told = [one for one, over in self._in_columns if over is printed]
            faces = {one.face for one in told}
            face, sure = (faces.pop(), LIKELY) if len(faces) == 1 else (printed, self._sorting.sure)
            for pile in _left_over(left, column, LEAST_MM):
                for strip in self._strips(pile, told):
                    yield self._unread(strip, "distance", ((any_copy(face), sure),))
        for strip in _left_over(left, self._fit.layout.zones["safety"], LEAST_MM[::-1]):
            yield self._unread(strip, "safety", safeties_left(self._seen))

    def _is_there(self, one: Sighting, above: Sequence[Sighting], hidden: Mask) -> bool:
        """True if an unknown card hides ground outside the cards `above` it."""
        alone = self._beneath([one]) & ~self._beneath(above) & self._zones(LINE_MM)
        return bool(np.count_nonzero(hidden & alone) >= HIDDEN_SHARE * np.count_nonzero(alone))

    def _printed_over(self, one: Sighting) -> Card | None:
        at = self._fit.to_mm([one.centre_px])[0]
        columns = zip(PRINTED, self._fit.layout.columns, strict=True)
        return next((card for card, column in columns if column.contains(*at)), None)

    def _is_hidden(self) -> Mask:
        """True where ground is hidden: another hue, much darker, or brighter.

        Nowhere if too little ground is visible.
        """
        height, width = self._told.shape
        down, right = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
        light = np.stack((np.ones_like(right), right, down), axis=-1)
        inside = self._zones(LINE_MM) & ~self._told
        # A full column may hide all its ground: learn from other zones.
        is_bare = ~self._zones(0.0, "distance")
        at, colours, bare = (each[inside][::4] for each in (light, self._picture, is_bare))
        slope = np.zeros((3, 3), np.float32)
        grounds = np.round(self._picture[inside & is_bare & ~self._zones(RIM_MM)] / HUE_STEP)
        steps, counts = np.unique(grounds, axis=0, return_counts=True)
        slope[0] = steps[counts.argmax()] * HUE_STEP if len(steps) else 0.0
        for most in np.linspace(ROUGH_STEP, HUE_STEP, FITS):
            off, shade = _hue_and_brightness(colours, at @ slope)
            near = (off < np.where(bare, most, HUE_STEP / 2)) & (shade > DARKEST) & (shade < 1 / DARKEST)
            if np.count_nonzero(near) < LEAST_GROUND:
                return np.zeros(self._told.shape, bool)
            slope = np.linalg.lstsq(at[near], colours[near], rcond=None)[0]
        lit = np.percentile(shade[near], LIT)
        off, shade = _hue_and_brightness(self._picture, light @ slope)
        return (off >= HUE_STEP) | (shade < DARKEST * lit) | (shade > BRIGHTER * lit)

    def _zones(self, within_mm: float, *names: str) -> Mask:
        """True in the named zones, or all, inside a margin."""
        mask = np.zeros(self._told.shape, bool)
        zones = self._fit.layout.zones
        for name in names or zones:
            mask[_part(zones[name], within_mm)] = True
        return mask

    def _strips(self, pile: Rect, told: Sequence[Sighting]) -> Iterator[Rect]:
        """Yield the strips of stacked cards in part of a column, in mm; `told` are the column's read cards."""
        picture = self._picture[_part(pile)]
        quads = [self._fit.to_mm(one.corners_px) for one in told]
        middle = pile.centre_mm[1]
        nearest = min(quads, key=lambda quad: abs(quad[:, 1].mean() - middle), default=None)
        is_above = nearest is not None and middle < nearest[:, 1].mean()
        edge = None if nearest is None else self._edge(nearest, is_upper=is_above)
        for top, bottom in pairwise(ends_of_strips(picture, edge, is_upper=is_above)):
            yield Rect(pile.x_mm, pile.y_mm + top / PX_PER_MM, pile.width_mm, (bottom - top) / PX_PER_MM)

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


def _left_over(left: Pixels, area: Rect, least_mm: tuple[float, float]) -> Iterator[Rect]:
    """Yield parts of an area, in mm, left and at least this wide and high."""
    width, height = (round(side * PX_PER_MM) for side in least_mm)
    there = cv2.morphologyEx(left[_part(area, LINE_MM)], cv2.MORPH_OPEN, np.ones((height, width), np.uint8))
    _, _, boxes, _ = cv2.connectedComponentsWithStats(there)
    for x, y, wide, high, _ in (boxes[1:] / PX_PER_MM).tolist():
        yield Rect(area.x_mm + LINE_MM + x, area.y_mm + LINE_MM + y, wide, high)


def _part(rect: Rect, within_mm: float = 0.0) -> tuple[slice, slice]:
    """Return a rectangle's rows and columns in the mat's picture, inside a margin."""
    rim = round(within_mm * PX_PER_MM)
    left, top = round(rect.x_mm * PX_PER_MM), round(rect.y_mm * PX_PER_MM)
    width, height = round(rect.width_mm * PX_PER_MM), round(rect.height_mm * PX_PER_MM)
    return slice(top + rim, top + height - rim), slice(left + rim, left + width - rim)


def _hue_and_brightness(colours: Pixels, ground: Pixels) -> tuple[Pixels, Pixels]:
    """Return the hue difference of colors `(…, 3)` Lab from the ground, and their relative brightness.

    Shadow scales lightness above black and hues by one factor.
    """
    shade = (colours[..., 0] + BLACK) / np.maximum(ground[..., 0] + BLACK, 1.0)
    return lengths(colours[..., 1:] - shade[..., None] * ground[..., 1:]), shade

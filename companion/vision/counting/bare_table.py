"""Find missed cards on a table without mats: further cards of a column or fan, and whole outlines.

The next card of a column is a strip beside a read card. It ends in an equal edge, with table on both sides. Hidden
ground proves nothing: cloths have any pattern.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from companion.rules.cards import Card, Family
from companion.tabletop.card_ids import any_copy, face_of
from companion.tabletop.sticker_codes import MODULES
from companion.vision.boxes import Floats, Image, Pixels, Size, around, lengths
from companion.vision.counting.strips import Rivals, Sorting, ends_of_strips, safeties_left, unread
from companion.vision.counting.tally import scores
from companion.vision.faces.border_profile import steps_across
from companion.vision.faces.face_detector import face_at
from companion.vision.faces.face_templates import Templates
from companion.vision.faces.matching import cropped
from companion.vision.faces.pose_search import Lie
from companion.vision.mats.homography import as_quad, lies_sideways, through
from companion.vision.mats.localization import Mats
from companion.vision.mats.plane import Flat, flattened
from companion.vision.mats.printed_ground import PX_PER_MM, softened
from companion.vision.opencv import cv2
from companion.vision.stickers.code_plane import level_of
from companion.vision.view import Quad, Sighting

AROUND_CARDS = 1.5  # searched margin, in card heights
BAND_MM, ROUND_MM = 8.0, 4.0  # width of the compared edge; length of its round ends
FURTHEST_MM = 46.0  # search range beyond a card, from `BAND_MM`
ASIDE_MM = 9.0  # maximum sideways offset
TURNS_DEG = np.arange(-9.0, 9.1, 1.5)  # relative turns tried
STEP_MM, STEP_ALONG_MM = 2.0, 4.0  # lengths across and along which a step is measured
LEAST_STEP = 3.0  # minimum Lab change across a strip's sides
UNLIKE, UNLIKE_SHARE = 14.0, 0.45
"""Maximum Lab difference of a strip's end and the card's edge, absolute and relative to that change. On four tableaux:
0.4 to 10 with a change of 14 to 71 for cards, 6 to 75 with at most 10 elsewhere."""

OUTLINE_TURNS_DEG = np.arange(-12.0, 12.1, 1.5)  # turns tried, relative to read cards
OUTLINE_STEP, LEAST_OUTLINE = 2.0, 0.5  # Lab change that scores one half; minimum score per border
MOST_OUTLINES = 60
LEAST_FREE = 0.85  # minimum visible share of an edge or card
LEAST_SHOWN = 0.6  # the same of a strip
LEAST_BOUNDED = 0.85  # minimum share of a strip's length with changes at both sides
BAND_PX, ROUND_PX = round(BAND_MM * PX_PER_MM), round(ROUND_MM * PX_PER_MM)
RIM_PX = 2, 8  # distance range of a card's rim from its border


def with_passed_over(image: Image, mats: Mats, seen: Sequence[Sighting], templates: Templates) -> Iterator[Sighting]:
    """Yield the cards `seen` by face in a picture `(H, W, 3) uint8 BGR`, and missed ones as unknown.

    Unknown cards favor their column's distance.
    """
    flat = _flat_of(image, [one.corners_px for one in seen if one.corners_px is not None], templates.size_mm)
    if flat is None:
        yield from seen
        return
    table, plane = BareTable(flat, seen, templates.size_mm), Mats(fits=(flat.fit,))
    whole = [face_at(image, templates, plane, quad, is_card=True) for quad in table.outlined()]
    cards = (*table.in_columns(), *filter(None, whole))
    strips = (unread(*strip) for strip in BareTable(flat, cards, templates.size_mm).strips())
    for card in (*cards, *strips):
        fit = mats.at(card.centre_px)
        zone, sideways = fit and fit.zone_at(card.centre_px), lies_sideways(card.corners_px, fit)
        yield replace(card, zone=zone, sideways=sideways)


def _flat_of(image: Image, quads: Sequence[Quad], size_mm: Size) -> Flat | None:
    """Return the table around the cards from straight above; None in unclear perspective."""
    x, y = (side / 2 for side in size_mm)
    card = np.float32([(-x, -y), (x, -y), (x, y), (-x, y)])
    square = np.array([(-x, -x), (x, -x), (x, x), (-x, x)]) * (MODULES / size_mm[0])
    squares = [as_quad(through(cv2.getPerspectiveTransform(card, np.float32(quad)), square)) for quad in quads]
    fit = level_of(squares)
    if fit is None:
        return None
    sides = [np.hypot(*np.subtract(quad[3], quad[0])) for quad in quads]
    area = around(quads).padded(round(AROUND_CARDS * float(np.median(sides))))
    return flattened(image, fit, area.within(image.shape[1], image.shape[0]), PX_PER_MM)


def _lie(corners: Floats) -> Lie:
    x, y = corners.mean(axis=0).tolist()
    right, down = (corners[1] + corners[2] - corners[0] - corners[3]).tolist()
    return Lie(x, y, math.degrees(math.atan2(down, right)))


class _Side(NamedTuple):
    """A side of a card; `lie` is the card turned to have it on top."""

    lie: Lie
    quarter: int  # number of quarter turns
    size_px: tuple[int, int]

    def crop(self, picture: Pixels) -> Pixels:
        return cropped(picture, self.lie, self.size_px, 0)


class BareTable:
    """A table from straight above, and its read cards, topmost first."""

    def __init__(self, flat: Flat, seen: Sequence[Sighting], size_mm: Size) -> None:
        self._flat, self._seen = flat, seen
        self._size_px = (round(size_mm[0] * PX_PER_MM), round(size_mm[1] * PX_PER_MM))
        self._picture = softened(flat.image)
        self._free = np.zeros(self._picture.shape[:2], np.float32)
        self._free[1:-1, 1:-1] = 1
        self._lies = [_lie(flat.from_picture(one.corners_px)) for one in seen]

    def strips(self) -> Iterator[tuple[Quad, Rivals]]:
        """Yield picture corners and likely faces of missed cards, partly under those seen."""
        starts = []
        for one, lie in zip(self._seen, self._lies, strict=True):
            rivals = self._rivals(one)
            if rivals is not None:
                starts += [(side, band, rivals) for side, band in self._sides(lie)]
            self._hide(lie)
        for side, band, rivals in starts:
            for lie in self._column(side, band):
                yield as_quad(self._flat.to_picture(self._corners(lie))), rivals

    def outlined(self) -> Iterator[Quad]:
        """Yield picture corners of visible objects with a card's outline and rim, then hide them."""
        rims = self._rims()
        found = sorted(self._outlines(), key=itemgetter(0), reverse=True)[:MOST_OUTLINES] if len(rims) else ()
        for _, lie in found:
            unlike = np.sqrt(((rims - self._rim(lie)) ** 2).sum(axis=2).mean(axis=1)).min()
            if unlike < UNLIKE and cropped(self._free, lie, self._size_px, 0).mean() >= LEAST_FREE:
                corners = self._corners(lie)
                steps = steps_across(self._picture, self._free, corners, PX_PER_MM)
                if len(steps) == 4 and unlike < UNLIKE_SHARE * steps[0]:
                    self._hide(lie)
                    yield as_quad(self._flat.to_picture(corners))

    def _outlines(self) -> Iterator[tuple[float, Lie]]:
        """Yield score and pose of cards whose four borders show."""
        height, width = self._free.shape
        side = math.ceil(math.hypot(width, height) / PX_PER_MM)
        askew = float(np.median([(lie.turn_deg + 45) % 90 - 45 for lie in self._lies]))
        for turn in OUTLINE_TURNS_DEG.tolist():
            area = Lie((width - 1) / 2, (height - 1) / 2, askew + turn, PX_PER_MM)
            picture, free = (cropped(layer, area, (side, side), 0) for layer in (self._picture, self._free))
            across, down = _steps(picture, 1.0), _steps(picture.transpose(1, 0, 2), 1.0).T
            across, down = (steps / (steps + OUTLINE_STEP) for steps in (across, down))
            for quarter in range(2):
                wide, high = (round(edge / PX_PER_MM) for edge in self._size_px[:: -1 if quarter else 1])
                upright = cv2.blur(across, (1, high - 2 * round(ROUND_MM)))
                level = cv2.blur(down, (wide - 2 * round(ROUND_MM), 1))
                left, right = (np.roll(upright, shift, axis=1) for shift in (wide // 2, -(wide // 2)))
                top, bottom = (np.roll(level, shift, axis=0) for shift in (high // 2, -(high // 2)))
                least = np.minimum(np.minimum(left, right), np.minimum(top, bottom))
                least[cv2.blur(free, (wide, high)) < LEAST_FREE] = 0
                best = cv2.dilate(least, np.ones((wide // 2, wide // 2)))
                here = (least >= LEAST_OUTLINE) & (least == best)
                for y, x in np.argwhere(here).tolist():
                    lie = replace(area.shifted(x - (side - 1) / 2, y - (side - 1) / 2), scale=1.0)
                    yield float(least[y, x]), lie.turned(90.0 * quarter)

    def _rims(self) -> Pixels:
        """Hide all cards; return the rims `(n, points, 3)` of fully visible ones, both ways up."""
        whole = []
        for lie in self._lies:
            if cropped(self._free, lie, self._size_px, 0).mean() > LEAST_FREE:
                whole += [self._rim(lie), self._rim(lie.turned(180.0))]
            self._hide(lie)
        return np.array(whole, np.float32)

    def _rim(self, lie: Lie) -> Pixels:
        """Return the colors inside a card's borders, `(points, 3)`."""
        card = cropped(self._picture, lie, self._size_px, 0)
        inner, outer = RIM_PX
        mask = np.zeros(card.shape[:2], bool)
        mask[outer:-outer, inner:-inner] = mask[inner:-inner, outer:-outer] = True
        mask[ROUND_PX:-ROUND_PX, ROUND_PX:-ROUND_PX] = False
        return card[mask][::4]

    def _rivals(self, one: Sighting) -> Rivals | None:
        """Return the likely faces of cards under this one; None if none scores."""
        if one.face is Card.UNKNOWN:
            return one.rivals if not one.rivals or any(scores(face_of(card)) for card, _ in one.rivals) else None
        if one.face.family is Family.SAFETY:
            return safeties_left(self._seen)
        return ((any_copy(one.face), self._sorting.beneath),) if scores(one.face) else None

    def in_columns(self) -> Iterator[Sighting]:
        """Yield the cards seen, an unknown one with its column's distance likelier."""
        for one, lie in zip(self._seen, self._lies, strict=True):
            column = [(lie.distance_px(at), other.face) for other, at in self._told if self._overlap(lie, at)]
            is_unknown = one.face is Card.UNKNOWN and column
            yield self._sorting.likelier(one, min(column)[1]) if is_unknown else one

    @cached_property
    def _told(self) -> list[tuple[Sighting, Lie]]:
        pairs = zip(self._seen, self._lies, strict=True)
        return [(one, lie) for one, lie in pairs if one.face.family is Family.DISTANCE]

    @cached_property
    def _sorting(self) -> Sorting:
        alike = [a.face is b.face for (a, at), (b, by) in combinations(self._told, 2) if self._overlap(at, by)]
        return Sorting.of(is_told=bool(alike), is_sorted=all(alike))

    def _overlap(self, one: Lie, other: Lie) -> bool:
        """True if two cards overlap, shifted along one axis only, as in a column or fan."""
        x, y = (abs(apart) for apart in _within(one, other))
        width, height = (side / PX_PER_MM for side in self._size_px)
        return (x <= ASIDE_MM and y < height) or (y <= ASIDE_MM and x < width)

    def _sides(self, lie: Lie) -> Iterator[tuple[_Side, Pixels]]:
        for quarter in range(4):
            side = _Side(lie.turned(90.0 * quarter), quarter, self._size_px[:: -1 if quarter % 2 else 1])
            if side.crop(self._free)[:BAND_PX].mean() >= LEAST_FREE:
                yield side, side.crop(self._picture)[:BAND_PX]

    def _column(self, side: _Side, band: Pixels) -> Iterator[Lie]:
        """Yield and cover the places of a column's missed cards beyond a side, whose edge is `band`."""
        while (beyond := self._beyond(side, band)) is not None:
            for lie in [*self._strips(side, beyond, band)]:
                yield lie
                self._hide(lie)
            side = beyond

    def _beyond(self, side: _Side, band: Pixels) -> _Side | None:
        """Return the same side of the column's next visible card, or None."""
        wide, high = side.size_px
        reach = round((FURTHEST_MM + STEP_MM) * PX_PER_MM)
        size_px = (wide + 2 * round((ASIDE_MM + 2 * STEP_MM) * PX_PER_MM), reach)
        found = []
        for turn in TURNS_DEG.tolist():
            area = side.lie.shifted(0, -(high + reach) / 2).turned(turn)
            fit = _ends(cropped(self._picture, area, size_px, 0), cropped(self._free, area, size_px, 0), band)
            if fit is not None:
                score, x, y = fit
                lie = area.shifted(x - (size_px[0] - 1) / 2, y - (reach - 1) / 2 + high / 2)
                aside, _ = _within(side.lie, lie)
                if abs(aside) <= ASIDE_MM:
                    found.append((score, side._replace(lie=lie)))
        return max(found, key=itemgetter(0))[1] if found else None

    def _strips(self, side: _Side, beyond: _Side, band: Pixels) -> Iterator[Lie]:
        """Yield the cards with strips between two equal sides, farthest first."""
        _, down = _within(side.lie, beyond.lie)
        height = round(-down * PX_PER_MM)
        middle = _between(side.lie, beyond.lie, 0.5).shifted(0, -side.size_px[1] / 2)
        pile, seen = (cropped(picture, middle, (side.size_px[0], height), 0) for picture in (self._picture, self._free))
        ends = ends_of_strips(pile, band[:, ROUND_PX:-ROUND_PX], is_upper=True)
        for top, bottom in pairwise(ends):
            if top == 0 or seen[top:bottom].mean() >= LEAST_SHOWN:
                yield _between(side.lie, beyond.lie, 1 - top / height).turned(-90.0 * side.quarter)

    def _hide(self, lie: Lie) -> None:
        cv2.fillConvexPoly(self._free, np.int32(np.round(self._corners(lie))), 0)

    def _corners(self, lie: Lie) -> Floats:
        return lie.placed(np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]) * self._size_px)


def _ends(picture: Pixels, free: Pixels, band: Pixels) -> tuple[float, float, float] | None:
    """Return score, x and y of the best match for a card's edge `band` beyond it, or None.

    A match is bounded at both ends; x is its middle.
    """
    rows, width = band.shape[:2]
    placed = picture.shape[0] - rows + 1, picture.shape[1] - width + 1
    here = tuple(map(slice, placed))
    unlike = np.sqrt(cv2.matchTemplate(picture, band, cv2.TM_SQDIFF).clip(0) / band[..., 0].size)
    shown = cv2.boxFilter(free, -1, (width, rows), anchor=(0, 0))[here]
    sides = cv2.boxFilter(_steps(picture), -1, (1, rows), anchor=(0, 0))
    bounded = np.minimum(sides[: placed[0], : placed[1]], sides[: placed[0], width - 1 : width - 1 + placed[1]])
    far = _steps(picture.transpose(1, 0, 2)).T
    far = cv2.boxFilter(far, -1, (width - 2 * ROUND_PX, 1), anchor=(0, 0))[: placed[0], ROUND_PX : ROUND_PX + placed[1]]
    along = cv2.dilate(np.float32(bounded >= LEAST_STEP), np.ones((1, 5)))[::-1].cumsum(axis=0)[::-1]
    along /= np.arange(placed[0], 0, -1)[:, None]
    fits = (shown >= LEAST_FREE) & (along >= LEAST_BOUNDED) & (bounded >= LEAST_STEP)
    fits &= unlike < np.minimum(UNLIKE, UNLIKE_SHARE * bounded)
    score = np.where(fits, far + bounded - 2 * unlike, -np.inf)
    y, x = np.unravel_index(score.argmax(), score.shape)
    return (float(score[y, x]), x + (width - 1) / 2, float(y)) if fits[y, x] else None


def _steps(picture: Pixels, px_per_mm: float = PX_PER_MM) -> Pixels:
    """Return the horizontal Lab change at each pixel of a picture `(h, w, 3)`, `(h, w)`."""
    reach = round(STEP_MM * px_per_mm)
    step = np.array([[*[-1 / reach] * reach, 0, 0, *[1 / reach] * reach]], np.float32)
    changes = cv2.blur(cv2.filter2D(picture, -1, step), (1, round(STEP_ALONG_MM * px_per_mm)))
    return cv2.dilate(lengths(changes), np.ones((1, 3)))


def _within(lie: Lie, other: Lie) -> tuple[float, float]:
    """Return the other card's offset along the first's edges in mm: right, down."""
    turn, x, y = math.radians(lie.turn_deg), other.x_px - lie.x_px, other.y_px - lie.y_px
    cos, sin = math.cos(turn), math.sin(turn)
    return (cos * x + sin * y) / PX_PER_MM, (cos * y - sin * x) / PX_PER_MM


def _between(one: Lie, other: Lie, share: float) -> Lie:
    ends = zip((one.x_px, one.y_px, one.turn_deg), (other.x_px, other.y_px, other.turn_deg), strict=True)
    return Lie(*(start + share * (end - start) for start, end in ends))

"""The borders of cards: whether what shows ends where a card does, and whether a card below others still lies there.

A strip of table may look like part of a face: a dark cloth beside a pale mat is like a face with a dark band. But
across the border of a real card the picture changes, and elsewhere it goes on as it was.

Of a card below another often only a strip of a millimetre or two shows, too little to identify it. But the line along
which it ends is still there, and the picture across it goes on as before. Where more shows, that must look as before
too: a card further down may end along the very same line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from companion.vision.boxes import Floats, Image, Mask, Pixels, lab
from companion.vision.mats.homography import Fit, through
from companion.vision.opencv import cv2
from companion.vision.view import Quad

CORNER_SHARE = 0.08  # share of a side left out at each end: corners are round

BESIDE_MM = 2.0  # distance from a border at which the picture is compared on both sides
POINTS, PART = 25, 6  # number of points along a side, and of those compared at a time: the ground need not be uniform
LEAST_POINTS = 4
LEAST_STEP = 2.5  # change across the border of a card, in steps of Lab
SMOOTH_PX = 0.8

PX_PER_MM = 4.0
OUTSIDE_MM, INSIDE_MM = 2.5, 1.5  # width of the strips compared outside and inside a border
LEAST_ALONG = 0.35  # visible share of each row of a strip
LEAST_ROWS, LEAST_INSIDE_ROWS = 8, 3  # visible rows, of a quarter of a millimetre: in all, and on the card itself
LEAST_CONTRAST = 0.8  # steps of Lab across a border below which it says nothing
ALIKE, STRENGTH = 0.78, 0.3  # least likeness of a border's profile, and strength, against what they were if it is there
UNLIKE = 0.5  # likeness below which it is gone, as it is if it is weaker
STRONGER = 2.0  # strength from which it is another's: of 4,710 of cards at rest, read 0.6 mm off, none was above 1.6
LEAST_IN_SIGHT_MM2 = 150.0  # visible area of a card that is compared with how it looked before
LEAST_DRAWN = 5.0  # variation there, in steps of Lab: one white rim is like any other
ANOTHER = 0.7  # likeness of the visible area below which it belongs to another card, and from which to the same
MIXED_PX = 1.5  # distance from the edge of a card, in pixels of the picture, within which its colours spread
INSET_MM = 2

VERY_ALIKE, NOT_ALIKE = 0.95, 0.25
"""Likeness from which a border that shows whole is just as before, 0.93 where it was another card's, 0.99 where a card
lay still under its like; and up to which it is gone for sure: of those 4,710 borders none was below 0.5."""


def smoothed(fine: Pixels) -> Pixels:
    """Return a picture `(h, w, 3) float32` Lab as `share_that_ends` takes it."""
    return np.asarray(cv2.GaussianBlur(fine, (0, 0), SMOOTH_PX), np.float32)


def share_that_ends(smooth: Pixels, shown: Pixels, corners: Floats, px_per_mm: float) -> float:
    """Return the share of a card's visible borders across which the picture changes, 0 … 1; 0 where none is visible.

    `corners` `(4, 2)` in pixels, in order around the card; `shown` `(h, w) float32` is 0 where other cards lie over it.
    """
    along = np.linspace(CORNER_SHARE, 1 - CORNER_SHARE, POINTS)[:, None]
    lines = ((start + way * along, out) for start, way, out in _borders(corners, px_per_mm))
    seen = [_side(smooth, shown, points - out, points + out) for points, out in lines]
    visible = sum(count for _, count in seen)
    return sum(count for step, count in seen if step >= LEAST_STEP) / visible if visible else 0.0


def steps_across(smooth: Pixels, shown: Pixels, corners: Floats, px_per_mm: float) -> list[float]:
    """Return how much the picture changes across each border that is visible, the least first, in steps of Lab."""
    steps = []
    for start, way, out in _borders(corners, px_per_mm):
        count = round(float(np.hypot(*way)) / px_per_mm)
        points = start + way * np.linspace(CORNER_SHARE / 2, 1 - CORNER_SHARE / 2, count)[:, None]
        step, visible = _side(smooth, shown, points - out, points + out)
        if visible:
            steps.append(step)
    return sorted(steps)


def _borders(corners: Floats, px_per_mm: float) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield where each border begins, the way to its end, and the way outwards to where the picture is compared."""
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        outwards = (start + end) / 2 - corners.mean(axis=0)
        yield start, end - start, outwards * BESIDE_MM * px_per_mm / max(float(np.hypot(*outwards)), 1e-6)


def _side(smooth: Pixels, shown: Pixels, inside: Floats, outside: Floats) -> tuple[float, int]:
    """Return how much the picture changes across one side, in steps of Lab, and in how many points it is visible."""
    free = (_at(shown, inside) > 0.5) & (_at(shown, outside) > 0.5)
    if np.count_nonzero(free) < LEAST_POINTS:
        return 0.0, 0
    steps = (_at(smooth, inside) - _at(smooth, outside))[free]
    parts = np.array_split(steps, max(1, len(steps) // PART))
    return float(np.mean([np.linalg.norm(part.mean(axis=0)) for part in parts])), len(steps)


def _at(picture: Pixels, points: Floats) -> Pixels:
    """Return the picture at points `(n, 2)`: 0 beyond its edges."""
    x, y = (points[:, axis].astype(np.float32)[None] for axis in (0, 1))
    return np.asarray(cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)[0], np.float32)


# --- A card below others --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Borders:
    """The profiles of the picture across a card's four borders, and what it shows between them."""

    profiles: Floats  # from outside to inside, `(4, n, 3)` Lab, averaged along the border; NaN where it is covered
    inside: Pixels  # the card without its rim, `(h, w, 3)` Lab, a pixel a millimetre
    in_sight: Mask  # true where it is not covered, `(h, w)`

    def still_there(self, now: Borders, *, least: int = 0) -> bool | None:
        """True if the same borders show now; None if too little of them shows, or they never did.

        A card that has gone takes all its borders along; one that is covered keeps some. With `least` it counts as
        still there only if so many borders say so, at least half as strong as before, and none says otherwise, as
        another card below may end where it did, and as gone only if all that show do. One that shows whole and is just
        as before, or nothing like it, counts twice. Where one is enough, one that is strong but not whole says nothing
        against it.
        """
        if self._shows_another(now):
            return False
        votes = [vote for pair in zip(self.profiles, now.profiles, strict=True) if (vote := _vote(*pair)) is not None]
        weakest = 1 / STRONGER if least else STRENGTH
        same = sum((alike >= ALIKE and weakest <= strong < STRONGER) * (1 + clear) for alike, strong, clear in votes)
        against = [
            clear
            for alike, strong, clear in votes
            if not STRENGTH <= strong < STRONGER or (alike < UNLIKE and (clear or least != 1))
        ]
        other = sum(1 + clear for clear in against)
        if same > other:
            return True if not least or (same >= least and not other) else None
        return False if other > same and (not least or len(against) == len(votes)) else None

    def agreement(self, now: Borders) -> Floats:
        """Return how well each border shows as it was, `(4,)`: 1 where just so, NaN where nothing can be said."""
        votes = [_vote(*pair) for pair in zip(self.profiles, now.profiles, strict=True)]
        return np.array([np.nan if v is None else v[0] * min(v[1], 1 / max(v[1], 1e-6)) for v in votes])

    def shows_the_same(self, now: Borders) -> bool:
        """True if enough is visible between the borders, and something is drawn there: the same as it was."""
        both = self._in_sight_with(now)
        if both is None:
            return False
        then, seen = (cv2.blur(each.inside, (3, 3))[both] for each in (self, now))
        drawn = then - then.mean(axis=0)
        is_drawn = np.linalg.norm(drawn) >= LEAST_CONTRAST * np.sqrt(len(drawn))
        return bool(is_drawn) and _likeness(drawn, seen) >= ANOTHER

    def likeness_to(self, now: Borders) -> float:
        """Return the correlation of what shows between these borders and of what does between others, -1 … 1."""
        size = self.inside.shape[1::-1]
        inside, in_sight = (cv2.resize(each, size) for each in (now.inside, now.in_sight.astype(np.float32)))
        both = self.in_sight & (in_sight > 0.99)
        then = self.inside[both]
        return _likeness(then - then.mean(axis=0), inside[both]) if len(then) else 0.0

    def _shows_another(self, now: Borders) -> bool:
        """True if what is visible between the borders cannot be the same card's."""
        both = self._in_sight_with(now)
        if both is None:
            return False
        then = self.inside[both] - self.inside[both].mean(axis=0)
        if np.linalg.norm(then) < LEAST_DRAWN * np.sqrt(np.count_nonzero(both)):
            return False
        # A card is never laid back on itself exactly: up to a millimetre beside is the same place.
        padded = cv2.copyMakeBorder(now.inside, 1, 1, 1, 1, cv2.BORDER_REPLICATE)
        height, width = now.inside.shape[:2]
        shifts = ((down, right) for down in range(3) for right in range(3))
        shifted = (padded[down : down + height, right : right + width] for down, right in shifts)
        return max(_likeness(then, seen[both]) for seen in shifted) < ANOTHER

    def _in_sight_with(self, now: Borders) -> Mask | None:
        """Return what of the card was visible and still is; None where that is too little to compare."""
        if self.inside.shape != now.inside.shape:
            return None
        both = self.in_sight & now.in_sight
        return both if np.count_nonzero(both) >= LEAST_IN_SIGHT_MM2 else None


def borders_of(image: Image, fit: Fit, corners_mm: Floats, above: Sequence[Quad]) -> Borders:
    """Return the borders of a card with these corners `(4, 2)` on a mat; `above` are the cards over it."""
    picture, free = _cut_out(image, fit, corners_mm, above)
    profiles = np.stack([_profile(*side) for side in _sides(picture, free)])
    rim = round((OUTSIDE_MM + INSET_MM) * PX_PER_MM)
    card, seen = picture[rim:-rim, rim:-rim], free[rim:-rim, rim:-rim].astype(np.float32)
    size = [max(1, round(side / PX_PER_MM)) for side in card.shape[1::-1]]
    small, share = (cv2.resize(each, size, interpolation=cv2.INTER_AREA) for each in (card, seen))
    return Borders(profiles, small, share > 0.99)


def _likeness(then: Pixels, now: Pixels) -> float:
    """Return the correlation of colours `(n, 3)`, the first of which are 0 on average."""
    even = now - now.mean(axis=0)
    return float((then * even).sum() / max(float(np.linalg.norm(then) * np.linalg.norm(even)), 1e-6))


def _vote(then: Floats, now: Floats) -> tuple[float, float, bool] | None:
    """Return how alike a border's profile is, how strong against before, and whether it shows whole and clearly.

    None where that says nothing.
    """
    both = ~np.isnan(then[:, 0]) & ~np.isnan(now[:, 0])
    inside = both[round(OUTSIDE_MM * PX_PER_MM) :]
    if np.count_nonzero(both) < LEAST_ROWS or np.count_nonzero(inside) < LEAST_INSIDE_ROWS:
        return None
    one, other = ((profile[both] - profile[both].mean(axis=0)).ravel() for profile in (then, now))
    contrast, length = (float(np.linalg.norm(each)) for each in (one, other))
    if contrast < LEAST_CONTRAST * np.sqrt(np.count_nonzero(both)):
        return None
    alike = float(one @ other) / max(contrast * length, 1e-6)
    return alike, length / contrast, bool(both.all()) and not NOT_ALIKE < alike < VERY_ALIKE


def _cut_out(image: Image, fit: Fit, corners_mm: Floats, above: Sequence[Quad]) -> tuple[Pixels, Mask]:
    """Return a card upright with what is around it, and where none of the quads lies."""
    width, height = (max(12, round(float(np.hypot(*side)) * PX_PER_MM)) for side in np.diff(corners_mm[:3], axis=0))
    rim = round(OUTSIDE_MM * PX_PER_MM)
    own = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32) + rim - 0.5
    matrix = cv2.getPerspectiveTransform(fit.to_px(corners_mm).astype(np.float32), own)
    size = (width + 2 * rim, height + 2 * rim)
    picture = cv2.warpPerspective(image, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    free = np.ones((size[1], size[0]), np.uint8)
    for quad in above:
        corners = through(matrix, quad)
        if np.abs(corners).max() < 8000:
            cv2.fillConvexPoly(free, np.int32(np.round(corners * 16)), 0, shift=4)
    # Near the edge of a covering card the colours are mixed.
    mixed_px = 2 * round(MIXED_PX / fit.px_per_mm * PX_PER_MM) + 1
    return lab(picture), cv2.erode(free, np.ones((mixed_px, mixed_px), np.uint8)) > 0


def _sides(picture: Pixels, free: Mask) -> Iterator[tuple[Pixels, Mask]]:
    """Yield the strips across the four borders, outside first: `(n, along, 3)`, and where they are visible."""
    rim, deep = round(OUTSIDE_MM * PX_PER_MM), round((OUTSIDE_MM + INSIDE_MM) * PX_PER_MM)
    for turn in range(4):
        turned, seen = np.rot90(picture, turn), np.rot90(free, turn)
        length = turned.shape[1] - 2 * rim
        along = slice(rim + round(CORNER_SHARE * length), rim + round((1 - CORNER_SHARE) * length))
        yield turned[:deep, along], seen[:deep, along]


def _profile(strip: Pixels, seen: Mask) -> Floats:
    count = seen.sum(axis=1)
    mean = (strip * seen[..., None]).sum(axis=1) / np.maximum(count, 1)[:, None]
    mean[count < LEAST_ALONG * strip.shape[1]] = np.nan
    return mean.astype(np.float64)

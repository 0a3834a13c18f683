"""A card's borders: by them it is told whether a card still lies where another has come to lie upon it.

Of a card that lies below another a strip of a millimetre or two shows, too little for its face. But the line along
which it ends is still there: across it the picture goes on as it did before. Where more of it shows, that has to look
as it did too: a card below may end along the very same line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Floats, Image, lab
from companion.vision.mats.homography import Fit, through
from companion.vision.opencv import cv2
from companion.vision.view import Quad

PX_PER_MM = 4.0
OUTSIDE_MM, INSIDE_MM = 2.5, 1.5
"""So far on both sides of a card's border the picture is looked at."""

ALONG = 0.12
"""This share of a side is left out at each end: corners are round."""

LEAST_ALONG = 0.35
"""So much of a side has to be in sight, row by row."""

LEAST_ROWS, LEAST_INSIDE_ROWS = 8, 3
"""So many rows, a quarter of a millimetre each, have to be in sight: in all, and of the card itself."""

LEAST_CONTRAST = 0.8
"""Steps of Lab across a border below which it tells nothing."""

ALIKE, STRENGTH = 0.78, 0.3
"""A border is still there where its profile is so much like it was, and at least so strong."""

UNLIKE, WEAKNESS = 0.5, 0.15
"""And it is gone where it is less alike or weaker than this."""

LEAST_IN_SIGHT_MM2 = 150.0
"""So much of a card has to be in sight to be compared with how it looked before."""

LEAST_DRAWN = 5.0
"""And it has to vary so much there, in steps of Lab: a white rim is like any other."""

ANOTHER = 0.7
"""What is so little like the part of a card that showed there is another."""

_INSET_MM, _SHIFTS_MM = 2, (-1, 0, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Borders:
    """How the picture goes over each of a card's four borders, and what it shows between them."""

    profiles: Floats
    """From outside to inside, `(4, n, 3)` Lab, averaged along the border; NaN where it is covered."""

    inside: npt.NDArray[np.float32]
    """The card without its rim, `(h, w, 3)` Lab, a pixel a millimetre."""

    in_sight: npt.NDArray[np.bool_]
    """What of it is not covered, `(h, w)`."""

    def still_there(self, now: Borders, *, all_agree: bool = False) -> bool | None:
        """Whether the same borders show now; None where too little of them shows, or they never did.

        A card that has gone takes all its borders along; one that something else has come to lie on keeps others. With
        `all_agree` it is only said to be there still where none of its borders tells otherwise: another card below
        it may end where it did.
        """
        if self._shows_another(now):
            return False
        votes = [vote for pair in zip(self.profiles, now.profiles, strict=True) if (vote := _vote(*pair)) is not None]
        same = sum(alike >= ALIKE and strong >= STRENGTH for alike, strong in votes)
        other = sum(alike < UNLIKE or strong < WEAKNESS for alike, strong in votes)
        if same > other:
            return None if all_agree and other else True
        return False if other and not same else None

    def _shows_another(self, now: Borders) -> bool:
        """Whether what is in sight between the borders cannot be the same card's."""
        both = self.in_sight & now.in_sight
        if self.inside.shape != now.inside.shape or np.count_nonzero(both) < LEAST_IN_SIGHT_MM2:
            return False
        then = self.inside[both] - self.inside[both].mean(axis=0)
        if np.linalg.norm(then) < LEAST_DRAWN * np.sqrt(np.count_nonzero(both)):
            return False
        return max(_likeness(then, seen[both]) for seen in _shifted(now.inside)) < ANOTHER


def borders_of(image: Image, fit: Fit, corners_mm: Floats, above: Sequence[Quad]) -> Borders:
    """The borders of a card with these corners `(4, 2)` on a mat; `above` are the cards that lie over it."""
    picture, free = _cut_out(image, fit, corners_mm, above)
    profiles = np.stack([_profile(*side) for side in _sides(picture, free)])
    return Borders(profiles, *_inside(picture, free))


def _inside(
    picture: npt.NDArray[np.float32], free: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """A card without its rim, a pixel a millimetre, and what of it is in sight."""
    rim = round((OUTSIDE_MM + _INSET_MM) * PX_PER_MM)
    card, seen = picture[rim:-rim, rim:-rim], free[rim:-rim, rim:-rim].astype(np.float32)
    size = [max(1, round(side / PX_PER_MM)) for side in card.shape[1::-1]]
    small, share = (cv2.resize(each, size, interpolation=cv2.INTER_AREA) for each in (card, seen))
    return small, share > 0.99


def _shifted(inside: npt.NDArray[np.float32]) -> Iterator[npt.NDArray[np.float32]]:
    """The same a millimetre to every side, for a card is never laid back on itself to the hair."""
    padded = cv2.copyMakeBorder(inside, 1, 1, 1, 1, cv2.BORDER_REPLICATE)
    height, width = inside.shape[:2]
    for down in _SHIFTS_MM:
        for right in _SHIFTS_MM:
            yield padded[1 + down : 1 + down + height, 1 + right : 1 + right + width]


def _likeness(then: npt.NDArray[np.float32], now: npt.NDArray[np.float32]) -> float:
    """The correlation of colours `(n, 3)`, the first of which are 0 on average."""
    even = now - now.mean(axis=0)
    return float((then * even).sum() / max(float(np.linalg.norm(then) * np.linalg.norm(even)), 1e-6))


def _vote(then: Floats, now: Floats) -> tuple[float, float] | None:
    """How alike a border's profile is, and how strong against before; None where it does not tell."""
    both = ~np.isnan(then[:, 0]) & ~np.isnan(now[:, 0])
    inside = both[round(OUTSIDE_MM * PX_PER_MM) :]
    if np.count_nonzero(both) < LEAST_ROWS or np.count_nonzero(inside) < LEAST_INSIDE_ROWS:
        return None
    one, other = ((profile[both] - profile[both].mean(axis=0)).ravel() for profile in (then, now))
    contrast, length = (float(np.linalg.norm(each)) for each in (one, other))
    if contrast < LEAST_CONTRAST * np.sqrt(np.count_nonzero(both)):
        return None
    return float(one @ other) / max(contrast * length, 1e-6), length / contrast


def _cut_out(
    image: Image, fit: Fit, corners_mm: Floats, above: Sequence[Quad]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """A card upright with what is around it, and where none of the quads lies."""
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
    # Near the edge of what lies above the picture is half its colour.
    return lab(picture), cv2.erode(free, np.ones((5, 5), np.uint8)) > 0


def _sides(
    picture: npt.NDArray[np.float32], free: npt.NDArray[np.bool_]
) -> Iterator[tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]]:
    """The strips over the four borders, outside first: `(n, along, 3)` and what of them is in sight."""
    rim, deep = round(OUTSIDE_MM * PX_PER_MM), round((OUTSIDE_MM + INSIDE_MM) * PX_PER_MM)
    for turn in range(4):
        turned, seen = np.rot90(picture, turn), np.rot90(free, turn)
        length = turned.shape[1] - 2 * rim
        along = slice(rim + round(ALONG * length), rim + round((1 - ALONG) * length))
        yield turned[:deep, along], seen[:deep, along]


def _profile(strip: npt.NDArray[np.float32], seen: npt.NDArray[np.bool_]) -> Floats:
    count = seen.sum(axis=1)
    mean = (strip * seen[..., None]).sum(axis=1) / np.maximum(count, 1)[:, None]
    mean[count < LEAST_ALONG * strip.shape[1]] = np.nan
    return mean.astype(np.float64)

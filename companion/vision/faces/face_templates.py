"""The pictures of a deck's faces, prepared for comparison with the camera's.

A face is compared in three sizes: coarse, in every turn, to find cards; middle, to align its picture with the card;
fine, to distinguish it from the other faces.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from companion.rules.cards import REMEDY_OF, Card, Family
from companion.tabletop.template_decks import Deck
from companion.vision.boxes import Floats, Image, Mask, Pixels, Size, lab
from companion.vision.capture.image_io import read_picture
from companion.vision.faces.keypoints import Keypoints, points_of
from companion.vision.faces.pose_search import COARSE_PX_PER_MM, Turned, in_every_turn, slants
from companion.vision.mats.homography import through
from companion.vision.opencv import cv2
from companion.vision.view import Point

FINE_PX_PER_MM = 1.2
MIDDLE_PX_PER_MM = FINE_PX_PER_MM / 2
POINTS_PX_PER_MM = 3.0
INSET_MM = 1.5  # width of a picture's rim left out: no enrolled card is cut out exactly, and corners are round
NARROW_PX, WIDE_PX = 0.7, 4.5  # sizes of details on the fine picture, as σ

ROUND_SIGN = 0.6
"""Likeness to itself, turned about its sign, from which a picture may be found in a wrong turn: of two decks distances
come to 0.35, a wheel to 0.94; a wheel found turned by 90° had 0.91, in its own turn 0.97."""

_SHARED_PX = 114  # width of pictures laid on one another, two pixels a millimetre: enough for a tenth of one
_LIKE_ENOUGH, _SAME_DRAWING = 0.55, 0.84  # correlation of pictures that share a drawing, before and after
_MOST_OFF, _LITTLE_OFF, _GAIN = 0.05, 0.02, 0.04  # most shift, in widths; beyond the second it must gain the third
_STOP = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-4)
_CORNERS = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])


class Pictures:
    """Pictures of one size, compared with parts of the table at once."""

    def __init__(self, pictures: Pixels, mask: Mask | None = None) -> None:
        """`pictures` are `(n, h, w, c) float32`; of a card only `mask` `(h, w)` is visible (None: all of it)."""
        planes = np.ascontiguousarray(pictures.transpose(0, 3, 1, 2))  # colour by colour: taken from in a third of time
        self._pictures = planes.transpose(0, 2, 3, 1)
        self._visible = None if mask is None else np.flatnonzero(mask)
        shown = np.ones(pictures.shape[1:3], np.float32) if mask is None else mask.astype(np.float32)
        self._slopes = self._of(slants(shown)).T
        """What light with an even slope makes of the visible part of a card, as columns, `(p, 3)`."""

        seen = self._of(planes)
        even = (seen - (seen @ self._slopes) @ self._slopes.T).reshape(len(seen), -1)
        lengths = np.linalg.norm(even, axis=1)
        self.contrast = lengths / np.float32(math.sqrt(max(even.shape[1] / pictures.shape[3], 1)))
        """The average variation of each of them, in steps of Lab, `(n,)`."""

        self._rows = even / np.maximum(lengths[:, None], 1e-3)
        """Each as a row of length 1 whose colours are 0 on average, `(n, c p)`, colour by colour."""

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height."""
        return self._pictures.shape[2], self._pictures.shape[1]

    def shown(self, mask: Mask) -> Pictures:
        """Return the same where only part of a card is visible, `(h, w)`."""
        return Pictures(self._pictures, mask)

    def only(self, *numbers: int) -> Pictures:
        """Return some of them, in this order."""
        few = copy(self)
        few.__dict__.pop("_likenesses", None)
        some = list(numbers)
        few._pictures, few._rows, few.contrast = self._pictures[some], self._rows[some], self.contrast[some]
        return few

    def upright(self, numbers: Sequence[int]) -> Pixels:
        """Return some of the pictures, `(n, h, w, c)`."""
        return self._pictures[numbers]

    def likeness_to(self, number: int) -> Pixels:
        """Return the likeness of each of them to one, `(n,)`."""
        return self._likenesses[number] if self._visible is None else self._rows @ self._rows[number]

    @cached_property
    def _likenesses(self) -> Pixels:
        return self._rows @ self._rows.T

    def compared(self, crop: Pixels) -> Pixels:
        """Return the likeness of each picture to each part of a crop of their size, row by row, `(n, m)`, -1 … 1."""
        width, height = self.size_px
        planes = np.ascontiguousarray(crop.transpose(2, 0, 1))
        windows = np.lib.stride_tricks.sliding_window_view(planes, (height, width), axis=(1, 2))
        seen = self._of(windows.transpose(1, 2, 0, 3, 4).reshape(-1, len(planes), height, width))
        parts = seen.reshape(len(seen), -1)
        level = parts.reshape(len(parts) * len(planes), -1) @ self._slopes
        energy = np.einsum("ij,ij->i", parts, parts) - (level * level).reshape(len(parts), -1).sum(axis=1)
        result: Pixels = (self._rows @ parts.T) / np.sqrt(np.maximum(energy, 1e-3))
        return result

    def _of(self, pictures: Pixels) -> Pixels:
        """Return the visible part of pictures `(…, c, h, w)` as `(…, c, p)`."""
        flat = pictures.reshape(*pictures.shape[:-2], -1)
        return flat if self._visible is None else flat.take(self._visible, axis=-1)


@dataclass(frozen=True, eq=False)
class Templates:
    """A deck's pictures, prepared: all of one size, upright and then upside down."""

    size_mm: Size  # width and height of a card
    faces: tuple[Card | None, ...]  # what each picture shows, None for a card's back
    fine: Pictures  # all of them in Lab, `FINE_PX_PER_MM`, their rims left out
    details: Pictures  # the drawings on them: their lightness without the slope of the light
    middle: Pictures  # the first of each face, enough to find a card, `MIDDLE_PX_PER_MM`
    turned: tuple[Turned, ...]  # the same in every turn
    corners_mm: Floats  # of the card that each picture shows, from the middle of the picture, `(n, 4, 2)`
    doubtful: frozenset[Card]  # faces that a face without a picture may look like: none of them is ever certain
    _large: tuple[Image, ...]  # the same whole, in grey, `POINTS_PX_PER_MM`

    @cached_property
    def signs(self) -> Mapping[int, Point]:
        """Where the middle pictures with a round sign have it: its middle from theirs in pixels, by their indices."""
        numbers = range(2 * len(_first_of_each(self.faces)))
        return {number: sign for number in numbers if (sign := _round_sign(self.middle, number)) is not None}

    @cached_property
    def points(self) -> Keypoints:
        """The keypoints of each face's first picture."""
        return points_of(self._large, self.size_mm[0])

    def corners_of(self, face: Card | None) -> Floats:
        """Return where a face's card has its corners, from the middle of its picture in millimetres, `(4, 2)`."""
        return self.corners_mm[self.faces.index(face)]

    def numbered(self, main: int) -> int:
        """Return the index among the fine pictures of one among the middle ones."""
        firsts = _first_of_each(self.faces)
        is_turned, number = divmod(main, len(firsts))
        return firsts[number] + is_turned * len(self.faces)


def _first_of_each(faces: Sequence[Card | None]) -> list[int]:
    return [number for number, face in enumerate(faces) if face not in faces[:number]]


def templates_of(
    pictures: Sequence[tuple[Card | None, Image]], size_mm: Size, missing: Collection[Card] = ()
) -> Templates:
    """Return templates from pictures `(H, W, 3) uint8 BGR`, each filled by one card upright; None stands for the back.

    `missing` are the deck's faces without a picture.
    """
    faces = tuple(face for face, _ in pictures)
    laid, corners = laid_on_one_another([picture for _, picture in pictures])
    mains = [laid[first] for first in _first_of_each(faces)]
    fine = [_without_rim(picture, size_mm, FINE_PX_PER_MM) for picture in laid]
    middle = [_without_rim(picture, size_mm, MIDDLE_PX_PER_MM) for picture in mains]
    turned = tuple(in_every_turn(middle, COARSE_PX_PER_MM / MIDDLE_PX_PER_MM))
    large = (cv2.resize(picture, pixels(size_mm, POINTS_PX_PER_MM), interpolation=cv2.INTER_AREA) for picture in mains)
    return Templates(
        size_mm=size_mm,
        faces=faces,
        fine=_both_ways(fine),
        details=_both_ways([*map(details, fine)]),
        middle=_both_ways(middle),
        turned=turned,
        corners_mm=(corners - 0.5) * size_mm,
        doubtful=frozenset(face for other in missing for face in _may_look_like(other)),
        _large=tuple(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY) for picture in large),
    )


def _both_ways(pictures: Sequence[Pixels]) -> Pictures:
    upright = np.stack(pictures)
    return Pictures(np.concatenate((upright, upright[:, ::-1, ::-1])))


def _round_sign(pictures: Pictures, number: int) -> Point | None:
    """Return where a picture has the sign about which it may be turned and still be like itself; None if it has none.

    Upside down a sign lies as far from the middle on the other side.
    """
    (picture,), (width, height) = pictures.upright([number]), pictures.size_px
    light = np.ascontiguousarray(picture[..., 0])
    window = cv2.createHanningWindow((width, height), cv2.CV_32F)
    (right, down), _ = cv2.phaseCorrelate(light, np.ascontiguousarray(light[::-1, ::-1]), window)
    sign = (-right / 2, -down / 2)
    middle = ((width - 1) / 2 + sign[0], (height - 1) / 2 + sign[1])
    turns = (cv2.getRotationMatrix2D(middle, turn_deg, 1.0) for turn_deg in range(30, 360, 30))
    how = {"dsize": (width, height), "borderMode": cv2.BORDER_REPLICATE}
    own = pictures.only(number)
    likeness = max(own.compared(cv2.warpAffine(picture, turn, **how)).max() for turn in turns)
    return sign if likeness >= ROUND_SIGN else None


def _may_look_like(face: Card) -> Iterator[Card]:
    """Yield the faces that may share their drawing with one: distances with each other, a hazard with its remedy."""
    if face.family is Family.DISTANCE:
        yield from (card for card in Card if card.family is Family.DISTANCE)
    yield from (other for pair in REMEDY_OF.items() if face in pair for other in pair)


def load_templates(deck: Deck) -> Templates:
    """Return the templates of a deck on the disk, the same value until its pictures change.

    Raises Problem if a picture cannot be read.
    """
    shown = tuple((face, path) for face, paths in (*deck.faces.items(), (None, deck.back)) for path in paths)
    return _loaded(shown, deck.size_mm, deck.missing, tuple(path.stat().st_mtime_ns for _, path in shown))


@lru_cache(maxsize=3)
def _loaded(
    shown: tuple[tuple[Card | None, Path], ...],
    size_mm: Size,
    missing: tuple[Card, ...],
    _written: tuple[int, ...],
) -> Templates:
    return templates_of([(face, read_picture(path)) for face, path in shown], size_mm, missing)


def details(fine: Pixels) -> Pixels:
    """Return the drawing on a picture `(h, w, 3)` Lab: its lightness without the slope of the light, `(h, w, 1)`."""
    light = np.ascontiguousarray(fine[..., 0])
    wide, narrow = (cv2.GaussianBlur(light, (0, 0), sigma) for sigma in (WIDE_PX, NARROW_PX))
    return (narrow - wide)[..., None]


def pixels(size_mm: Size, px_per_mm: float) -> tuple[int, int]:
    """Return width and height in pixels."""
    return round(size_mm[0] * px_per_mm), round(size_mm[1] * px_per_mm)


def _without_rim(picture: Image, size_mm: Size, px_per_mm: float) -> Pixels:
    """Return a card's picture reduced, in Lab."""
    height, width = picture.shape[:2]
    x, y = round(INSET_MM * width / size_mm[0]), round(INSET_MM * height / size_mm[1])
    inner = (size_mm[0] - 2 * INSET_MM, size_mm[1] - 2 * INSET_MM)
    cut = picture[y : height - y, x : width - x]
    return lab(cv2.resize(cut, pixels(inner, px_per_mm), interpolation=cv2.INTER_AREA))


# --- Faces that share a drawing -------------------------------------------------------------------------------


def laid_on_one_another(pictures: Sequence[Image]) -> tuple[list[Image], Floats]:
    """Return pictures `(h, w, 3) uint8 BGR`, each moved onto the first that shares its drawing, if any does.

    And where the corners of each card are then, in widths and heights, `(n, 4, 2)`. No two cards are cut out exactly
    alike, nor were they printed so. Where two faces differ in a figure alone, the edges of what they share would
    otherwise differ more than the figures do.
    """
    grays = [_gray(picture) for picture in pictures]
    first: list[int] = []
    laid, corners = [], np.tile(_CORNERS, (len(pictures), 1, 1))
    for number, picture in enumerate(pictures):
        found = ((other, onto) for other in first if (onto := _onto(grays[other], grays[number])) is not None)
        other, onto = next(found, (number, None))
        if onto is None:
            first.append(number)
            laid.append(picture)
        else:
            laid.append(_moved(picture, onto, pictures[other].shape[:2]))
            to_shares = np.diag([1 / _SHARED_PX, 1 / len(grays[number]), 1.0])
            corners[number] = through(to_shares @ np.linalg.inv(onto) @ np.linalg.inv(to_shares), _CORNERS)
    return laid, corners


def _gray(picture: Image) -> Pixels:
    height = round(_SHARED_PX * picture.shape[0] / picture.shape[1])
    small = cv2.resize(picture, (_SHARED_PX, height), interpolation=cv2.INTER_AREA)
    return cv2.GaussianBlur(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY).astype(np.float32), (0, 0), 0.8)


def _onto(still: Pixels, moving: Pixels) -> Pixels | None:
    """Return the homography `(3, 3)` from one picture to the other; None where they share no drawing."""
    same_size = still.shape == moving.shape
    before = float(cv2.matchTemplate(still, moving, cv2.TM_CCOEFF_NORMED)[0, 0]) if same_size else 0.0
    if before < _LIKE_ENOUGH:
        return None
    try:
        likeness, onto = cv2.findTransformECC(still, moving, np.eye(3, dtype=np.float32), cv2.MOTION_HOMOGRAPHY, _STOP)
    except cv2.error:
        return None
    height, width = still.shape
    corners = np.float32([(0, 0), (width, 0), (width, height), (0, height)]).reshape(-1, 1, 2)
    off = float(np.abs(cv2.perspectiveTransform(corners, onto) - corners).max()) / width
    is_near = off <= _LITTLE_OFF or (off <= _MOST_OFF and likeness - before >= _GAIN)
    return onto if likeness >= _SAME_DRAWING and is_near else None


def _moved(picture: Image, onto: Pixels, size: tuple[int, ...]) -> Image:
    """Return a picture moved by a homography between pictures `_SHARED_PX` wide, in `size`, (height, width)."""
    height, width = size
    to_small = np.diag([_SHARED_PX / width, _SHARED_PX / width, 1.0])
    from_small = np.diag([picture.shape[1] / _SHARED_PX, picture.shape[1] / _SHARED_PX, 1.0])
    how = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    matrix = from_small @ onto.astype(np.float64) @ to_small
    return cv2.warpPerspective(picture, matrix, (width, height), flags=how, borderMode=cv2.BORDER_REPLICATE)

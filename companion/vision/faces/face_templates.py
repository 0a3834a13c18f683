"""The pictures of a deck's faces, prepared for comparison with the camera's.

A face is compared in three sizes: coarse, in every turn, to find cards; middle, to align its picture with the card;
fine, to distinguish it from the other faces.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from companion.rules.cards import REMEDY_OF, Card, Family
from companion.tabletop.template_decks import Deck
from companion.vision.boxes import Image, Mask, Pixels, lab
from companion.vision.capture.image_io import read_picture
from companion.vision.faces.keypoints import Points, points_of
from companion.vision.faces.registration import laid_on_one_another
from companion.vision.faces.rotations import Turned, in_every_turn, slants
from companion.vision.opencv import cv2

FINE_PX_PER_MM = 1.2
MIDDLE_PX_PER_MM = FINE_PX_PER_MM / 2
COARSE_PX_PER_MM = 0.2
POINTS_PX_PER_MM = 3.0
INSET_MM = 1.5
"""Width of a picture's rim left out: no enrolled card is cut out exactly, and corners are round."""

NARROW_PX, WIDE_PX = 0.7, 4.5
"""Minimum and maximum size of details on the fine picture, as σ."""


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """One picture of one face."""

    face: Card | None
    """None for a card's back."""

    fine: Pixels
    """`(h, w, 3) float32` Lab, `FINE_PX_PER_MM`, its rim left out, upright."""

    middle: Pixels
    """The same, `MIDDLE_PX_PER_MM`."""

    gray: Image
    """All of the picture, `(h, w) uint8`, `POINTS_PX_PER_MM`."""


@dataclass(frozen=True, eq=False)
class Templates:
    """A deck's templates, all of one size."""

    size_mm: tuple[float, float]
    """Width and height of a card."""

    all: tuple[Template, ...]

    doubtful: frozenset[Card] = frozenset()
    """Faces that a face without a template may look like: none of them is ever certain."""

    @cached_property
    def main(self) -> tuple[Template, ...]:
        """The first picture of each face, enough to find a card."""
        return tuple({template.face: template for template in reversed(self.all)}.values())[::-1]

    def numbered(self, main: int) -> int:
        """Return the index among the fine pictures, upright and upside down, of one among the middle ones."""
        is_turned, number = divmod(main, len(self.main))
        return self.all.index(self.main[number]) + is_turned * len(self.all)

    @cached_property
    def points(self) -> Points:
        """The keypoints of the main pictures."""
        return points_of([template.gray for template in self.main], self.size_mm[0])

    @cached_property
    def turned(self) -> tuple[Turned, ...]:
        """The main pictures in every turn, `COARSE_PX_PER_MM`."""
        pictures = [template.middle for template in self.main]
        return tuple(in_every_turn(pictures, COARSE_PX_PER_MM / MIDDLE_PX_PER_MM))

    @cached_property
    def fine(self) -> Pictures:
        return Pictures.of([template.fine for template in self.all])

    @cached_property
    def details(self) -> Pictures:
        return Pictures.of([details(template.fine) for template in self.all])

    @cached_property
    def middle(self) -> Pictures:
        return Pictures.of([template.middle for template in self.main])


@dataclass(frozen=True, eq=False)
class Pictures:
    """All pictures of one size, upright and then upside down, compared with parts of the table at once."""

    upright: Pixels
    """`(2 n, h, w, c) float32`."""

    mask: Mask | None = None
    """The visible part of a card, `(h, w)`; None for all of it."""

    @classmethod
    def of(cls, pictures: Sequence[Pixels]) -> Pictures:
        upright = np.stack(pictures)
        return cls(np.concatenate((upright, upright[:, ::-1, ::-1])))

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height."""
        return self.upright.shape[2], self.upright.shape[1]

    def shown(self, mask: Mask) -> Pictures:
        """Return the same where only part of a card is visible, `(h, w)`."""
        return Pictures(self.upright, mask)

    def only(self, number: int) -> Pictures:
        """Return one of them alone, by its index in `upright`."""
        return Pictures(self.upright[number : number + 1], self.mask)

    @cached_property
    def rows(self) -> Pixels:
        """Each as a row of length 1 whose colours are 0 on average, `(2 n, c p)`, colour by colour."""
        return self._even / np.maximum(np.linalg.norm(self._even, axis=1, keepdims=True), 1e-3)

    @cached_property
    def _even(self) -> Pixels:
        seen = self._of(self.upright.transpose(0, 3, 1, 2))
        return (seen - (seen @ self._slopes) @ self._slopes.T).reshape(len(seen), -1)

    @cached_property
    def _slopes(self) -> Pixels:
        """What light with an even slope makes of the visible part of a card, as columns, `(p, 3)`."""
        shown = np.ones(self.upright.shape[1:3], np.float32) if self.mask is None else self.mask.astype(np.float32)
        return self._of(slants(shown)).T

    @cached_property
    def contrast(self) -> Pixels:
        """The average variation of each of them, in steps of Lab, `(2 n,)`."""
        return np.linalg.norm(self._even, axis=1) / np.float32(math.sqrt(max(self._even.shape[1] / self._colours, 1)))

    @property
    def _colours(self) -> int:
        return self.upright.shape[3]

    def likeness_to(self, number: int) -> Pixels:
        """Return the likeness of each of them to one, `(2 n,)`."""
        return self._likenesses[number] if self.mask is None else self.rows @ self.rows[number]

    @cached_property
    def _likenesses(self) -> Pixels:
        """The likeness of each of them to each, `(2 n, 2 n)`."""
        return self.rows @ self.rows.T

    def compared(self, *crops: Pixels) -> Pixels:
        """Return the likeness of each picture to each part of crops of their size, `(n, m)`, -1 … 1.

        The parts are in the order of each crop's rows.
        """
        width, height = self.size_px
        planes = np.ascontiguousarray(np.stack(crops).transpose(0, 3, 1, 2))
        windows = np.lib.stride_tricks.sliding_window_view(planes, (height, width), axis=(2, 3))
        seen = self._of(windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, self._colours, height, width))
        parts = seen.reshape(len(seen), -1)
        level = parts.reshape(len(parts) * self._colours, -1) @ self._slopes
        energy = np.einsum("ij,ij->i", parts, parts) - (level * level).reshape(len(parts), -1).sum(axis=1)
        result: Pixels = (self.rows @ parts.T) / np.sqrt(np.maximum(energy, 1e-3))
        return result

    def _of(self, pictures: Pixels) -> Pixels:
        """Return the visible part of pictures `(…, c, h, w)` as `(…, c, p)`."""
        if self.mask is None:
            return pictures.reshape(*pictures.shape[:-2], -1)
        return pictures[..., self.mask]


def templates_of(
    pictures: Sequence[tuple[Card | None, Image]], size_mm: tuple[float, float], missing: Collection[Card] = ()
) -> Templates:
    """Return templates from pictures `(H, W, 3) uint8 BGR`, each filled by one card upright; None stands for the back.

    `missing` are the deck's faces without a picture.
    """
    laid = laid_on_one_another([picture for _, picture in pictures])
    faces = (face for face, _ in pictures)
    made = tuple(_template(face, one, size_mm) for face, one in zip(faces, laid, strict=True))
    return Templates(size_mm, made, frozenset(face for other in missing for face in _may_look_like(other)))


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
    size_mm: tuple[float, float],
    missing: tuple[Card, ...],
    _written: tuple[int, ...],
) -> Templates:
    return templates_of([(face, read_picture(path)) for face, path in shown], size_mm, missing)


def details(fine: Pixels) -> Pixels:
    """Return the drawing on a picture `(h, w, 3)` Lab: its lightness without the slope of the light, `(h, w, 1)`."""
    light = np.ascontiguousarray(fine[..., 0])
    wide, narrow = (cv2.GaussianBlur(light, (0, 0), sigma) for sigma in (WIDE_PX, NARROW_PX))
    return (narrow - wide)[..., None]


def pixels(size_mm: tuple[float, float], px_per_mm: float) -> tuple[int, int]:
    """Return width and height in pixels."""
    return round(size_mm[0] * px_per_mm), round(size_mm[1] * px_per_mm)


def _template(face: Card | None, picture: Image, size_mm: tuple[float, float]) -> Template:
    inner = (size_mm[0] - 2 * INSET_MM, size_mm[1] - 2 * INSET_MM)
    rim_x, rim_y = (INSET_MM * side / mm for side, mm in zip(picture.shape[1::-1], size_mm, strict=True))
    height, width = picture.shape[:2]
    cut = picture[round(rim_y) : height - round(rim_y), round(rim_x) : width - round(rim_x)]
    fine, middle = (
        lab(cv2.resize(cut, pixels(inner, scale), interpolation=cv2.INTER_AREA))
        for scale in (FINE_PX_PER_MM, MIDDLE_PX_PER_MM)
    )
    large = cv2.resize(picture, pixels(size_mm, POINTS_PX_PER_MM), interpolation=cv2.INTER_AREA)
    return Template(face, fine, middle, cv2.cvtColor(large, cv2.COLOR_BGR2GRAY))

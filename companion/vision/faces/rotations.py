"""A deck's pictures small and in every turn, made ready to be looked for all at once.

What is looked for is correlated with the table by way of spectra: one transform of a tile of the table serves every
picture in every turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from companion.vision.opencv import cv2

Maps = npt.NDArray[np.float32]
Spectra = npt.NDArray[np.complex64]

TILE_PX = 64
"""The table is looked at in square tiles of this side: more than a zone, and three times a card."""

TURN_STEP_DEG = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Turned:
    """All pictures of a deck in one turn."""

    turn_deg: float
    """Clockwise."""

    size_px: tuple[int, int]
    """Width and height of the box around a card that is turned so."""

    area_px: float
    inside: Spectra
    """How much of each pixel the card covers."""

    slopes: Spectra
    """`(2, …)`: what is to be summed up to learn how much the light slants over a card to one side and to the other."""

    leanings: Maps
    """`(n, 3, 2)`: how much of each of them a picture's colours have."""

    rests: Maps
    """`(n,)`: how long the pictures are without them, each taken as a row of colours."""

    pictures: Spectra
    """`(n, 3, …)`: their colours, 0 on average inside of the card, 0 outside of it."""

    squares: Spectra
    """`(n, …)`: the squares of their colours inside of the card, summed over the three."""


def in_every_turn(pictures: Sequence[Maps], scale: float) -> Iterator[Turned]:
    """Pictures `(h, w, 3) float32` of one size, made smaller by `scale`, in one turn after the other."""
    for turn in np.arange(0.0, 360.0, TURN_STEP_DEG):
        inside, shown = _turned(pictures, scale, float(turn))
        squares = (shown**2).sum(axis=3) * inside
        slopes = slants(inside)[1:]
        leanings = np.einsum("nhwc,khw->nck", shown, slopes)
        whole = squares.sum(axis=(1, 2))
        yield Turned(
            turn_deg=float(turn),
            size_px=(inside.shape[1], inside.shape[0]),
            area_px=float(inside.sum()),
            inside=spectra(inside).conj(),
            pictures=spectra((shown * inside[..., None]).transpose(0, 3, 1, 2)).conj(),
            squares=spectra(squares).conj(),
            slopes=spectra(slopes).conj(),
            leanings=leanings.astype(np.float32),
            rests=np.sqrt(np.maximum(whole - (leanings**2).sum(axis=(1, 2)), 1.0)),
        )


def slants(weights: Maps) -> Maps:
    """Even light, light that falls off to the right, and downwards, each without those before it, `(3, h, w)`.

    They are of length 1 and have nothing in common, each pixel counting as `weights` `(h, w)` say, and come multiplied
    by the weights.
    """
    height, width = weights.shape
    down, right = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
    root = np.sqrt(weights).ravel()
    columns = np.stack((root, right.ravel() * root, down.ravel() * root), axis=1)
    found: Maps = np.linalg.qr(columns)[0].T * root
    return found.reshape(3, height, width)


def spectra(maps: Maps) -> Spectra:
    """The spectra of maps `(…, h, w)` no larger than a tile: `(…, TILE_PX, TILE_PX // 2 + 1)`."""
    return np.ascontiguousarray(np.fft.rfft2(maps, s=(TILE_PX, TILE_PX)), np.complex64)


def maps_of(these: Spectra, height: int, width: int) -> Maps:
    """Back from spectra to the first rows and columns of their maps: `(…, height, width)`."""
    return np.fft.irfft2(these, s=(TILE_PX, TILE_PX))[..., :height, :width].astype(np.float32, copy=False)


def _turned(pictures: Sequence[Maps], scale: float, turn_deg: float) -> tuple[Maps, Maps]:
    """How much of each pixel a turned card covers, `(h, w)`, and its colours there, 0 on average, `(n, h, w, 3)`."""
    height, width = pictures[0].shape[:2]
    cos, sin = abs(math.cos(math.radians(turn_deg))), abs(math.sin(math.radians(turn_deg)))
    size = [math.ceil(scale * side) | 1 for side in (width * cos + height * sin, width * sin + height * cos)]
    onto = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), -turn_deg, scale)
    onto[:, 2] += (size[0] - width) / 2, (size[1] - height) / 2
    inside = cv2.warpAffine(np.ones((height, width), np.float32), onto, size, flags=cv2.INTER_LINEAR)
    soft = (cv2.GaussianBlur(picture, (0, 0), 0.4 / scale) for picture in pictures)
    shown = np.stack(
        [cv2.warpAffine(each, onto, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE) for each in soft]
    )
    mean = (shown * inside[..., None]).sum(axis=(1, 2), keepdims=True) / inside.sum()
    return inside, shown - mean

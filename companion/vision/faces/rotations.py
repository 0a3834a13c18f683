"""A deck's pictures, small and in every turn, ready to be searched for all at once.

They are correlated with the table by way of spectra: one transform of a tile of the table serves every picture in every
turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Pixels
from companion.vision.opencv import cv2

Spectra = npt.NDArray[np.complex64]

TILE_PX = 48
"""Side of the square tiles of the table: a zone, and twice a card. With 64 a deck takes 22 MB more, and its cards are
found no sooner."""

TURN_STEP_DEG = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Turned:
    """All pictures of a deck in one turn."""

    turn_deg: float
    """Clockwise."""

    size_px: tuple[int, int]
    """Width and height of the box around the turned card."""

    area_px: float
    inside: Spectra
    """The share of each pixel that the card covers."""

    slopes: Spectra
    """`(2, …)`: weights that sum up to the slope of the light across and down the card."""

    leanings: Pixels
    """`(n, 3, 2)`: the part of each of them in a picture's colours."""

    rests: Pixels
    """`(n,)`: the norms of the pictures without them."""

    pictures: Spectra
    """`(n, 3, …)`: their colours, 0 on average inside the card, 0 outside."""

    squares: Spectra
    """`(n, …)`: the squares of their colours inside the card, summed over the three."""


def in_every_turn(pictures: Sequence[Pixels], scale: float) -> Iterator[Turned]:
    """Yield pictures `(h, w, 3) float32` of one size, reduced by `scale`, in one turn after the other."""
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


def slants(weights: Pixels) -> Pixels:
    """Return even light and light with a slope to the right and downwards: `(3, h, w)`.

    They are orthonormal under `weights` `(h, w)` and come multiplied by them.
    """
    height, width = weights.shape
    down, right = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
    root = np.sqrt(weights).ravel()
    columns = np.stack((root, right.ravel() * root, down.ravel() * root), axis=1)
    found: Pixels = np.linalg.qr(columns)[0].T * root
    return found.reshape(3, height, width)


def spectra(maps: Pixels) -> Spectra:
    """Return the spectra of maps `(…, h, w)` no larger than a tile: `(…, TILE_PX, TILE_PX // 2 + 1)`."""
    return np.ascontiguousarray(np.fft.rfft2(maps, s=(TILE_PX, TILE_PX)), np.complex64)


def maps_of(these: Spectra, height: int, width: int) -> Pixels:
    """Return the first rows and columns of the maps of spectra: `(…, height, width)`."""
    return np.fft.irfft2(these, s=(TILE_PX, TILE_PX))[..., :height, :width].astype(np.float32, copy=False)


def _turned(pictures: Sequence[Pixels], scale: float, turn_deg: float) -> tuple[Pixels, Pixels]:
    """Return the share of each pixel that a turned card covers, `(h, w)`, and its zero-mean colours, `(n, h, w, 3)`."""
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

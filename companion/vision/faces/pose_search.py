"""Where cards of a known deck may lie on a table seen from straight above.

Every face in every turn is correlated with a small picture of the table. That needs no edges of cards, which a pile of
white cards or a white cloth hides; parts covered by cards known to lie above are masked out. One transform of a tile of
the table serves every picture in every turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from companion.vision.boxes import Floats, Pixels
from companion.vision.opencv import cv2

Spectra = npt.NDArray[np.complex64]

COARSE_PX_PER_MM = 0.2
LEAST_SCORE = 0.4  # correlation below which no card is looked for more closely
LEAST_SHOWN = 0.14  # visible share of a card searched for
APART_MM = 14.0  # minimum distance of two cards' middles: nearer by, the upper hides too much of the lower
MOST_POSES = 60
NEARLY_DEG = 12.0  # maximum angle between a card and those above it, up to quarter turns
TURN_STEP_DEG = 10.0

TILE_PX = 48
"""Side of the square tiles of the table: a zone, and twice a card. With 64 a deck takes three quarters more memory, and
its cards are found no sooner."""


@dataclass(frozen=True, slots=True, eq=False)
class Turned:
    """All pictures of a deck in one turn, less than a quarter."""

    turn_deg: float  # clockwise
    size_px: tuple[int, int]  # width and height of the box around the turned card, both odd
    area_px: float
    inside: Spectra  # the share of each pixel that the card covers
    slopes: Spectra  # `(2, …)`: weights that sum up to the slope of the light across and down the card
    leanings: Pixels  # `(n, 3, 2)`: the part of each of them in a picture's colours
    rests: Pixels  # `(n,)`: the norms of the pictures without them
    pictures: Spectra  # `(n, 3, …)`: their colours, 0 on average inside the card, 0 outside
    squares: Spectra  # `(n, …)`: the squares of their colours inside the card, summed over the three


@dataclass(frozen=True, slots=True)
class Lie:
    """The pose of a card on a picture from straight above."""

    x_px: float
    y_px: float
    turn_deg: float  # clockwise from upright
    scale: float = 1.0  # its size against a card of the deck in the plane

    def shifted(self, right: float, down: float) -> Lie:
        """Return the same, moved along the card's own edges."""
        cos, sin = math.cos(math.radians(self.turn_deg)), math.sin(math.radians(self.turn_deg))
        right, down = right * self.scale, down * self.scale
        return replace(self, x_px=self.x_px + cos * right - sin * down, y_px=self.y_px + sin * right + cos * down)

    def placed(self, points: Floats) -> Floats:
        """Return points of the card, from its middle along its own edges, on the picture, `(n, 2)`."""
        lies = [self.shifted(*point) for point in points]
        return np.array([(lie.x_px, lie.y_px) for lie in lies])

    def distance_px(self, other: Lie) -> float:
        return math.dist((self.x_px, self.y_px), (other.x_px, other.y_px))

    def on(self, share: float) -> Lie:
        """Return the same on the picture `share` times as large."""
        return replace(self, x_px=(self.x_px + 0.5) * share - 0.5, y_px=(self.y_px + 0.5) * share - 0.5)

    def turned(self, turn_deg: float) -> Lie:
        """Return the same, turned clockwise."""
        return replace(self, turn_deg=self.turn_deg + turn_deg)


def in_every_turn(pictures: Sequence[Pixels], scale: float) -> Iterator[Turned]:
    """Yield pictures `(h, w, 3) float32` of one size, reduced by `scale`, in one turn after the other up to a quarter.

    A card turned by more is one turned by less on the picture turned by quarters.
    """
    for turn in np.arange(0.0, 90.0, TURN_STEP_DEG):
        inside, shown = _turned(pictures, scale, float(turn))
        squares = (shown**2).sum(axis=3) * inside
        slopes = slants(inside)[1:]
        leanings = np.einsum("nhwc,khw->nck", shown, slopes)
        whole = squares.sum(axis=(1, 2))
        yield Turned(
            turn_deg=float(turn),
            size_px=(inside.shape[1], inside.shape[0]),
            area_px=float(inside.sum()),
            inside=_spectra(inside).conj(),
            pictures=_spectra((shown * inside[..., None]).transpose(0, 3, 1, 2)).conj(),
            squares=_spectra(squares).conj(),
            slopes=_spectra(slopes).conj(),
            leanings=leanings.astype(np.float32),
            rests=np.sqrt(np.maximum(whole - (leanings**2).sum(axis=(1, 2)), 1.0)),
        )


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


def slants(weights: Pixels) -> Pixels:
    """Return even light and light with a slope to the right and downwards: `(3, h, w)`.

    They are orthonormal under `weights` `(h, w)` and come multiplied by them. What so little shows that it has no
    slope of its own is 0.
    """
    light, across = _sloping_light(*weights.shape), weights.ravel()
    products = (light * across) @ light.T
    # Cholesky's triangle makes one after the other orthogonal to those before it, as QR of all points would.
    own = np.linalg.inv(np.linalg.cholesky(products + np.eye(3) * (1e-9 * products[0, 0])))
    found: Pixels = ((own @ light) * across).astype(np.float32)
    return found.reshape(3, *weights.shape)


@cache
def _sloping_light(height: int, width: int) -> Floats:
    """Return even light and light with a slope to the right and downwards as rows, `(3, height · width)`."""
    down, right = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    return np.stack((np.ones(height * width), right.ravel(), down.ravel()))


def _spectra(maps: Pixels) -> Spectra:
    """Return the spectra of maps `(…, h, w)` no larger than a tile: `(…, TILE_PX, TILE_PX // 2 + 1)`."""
    return np.ascontiguousarray(np.fft.rfft2(maps, s=(TILE_PX, TILE_PX)), np.complex64)


def _maps_of(these: Spectra, height: int, width: int) -> Pixels:
    """Return the first rows and columns of the maps of spectra: `(…, height, width)`.

    So small, products of matrices take less than half as long as fast transforms, which return all of them.
    """
    down, across = _transform_back()
    maps: Pixels = (down[:height] @ these).view(np.float32) @ across[:, :width]
    return maps


@cache
def _transform_back() -> tuple[Spectra, Pixels]:
    """Return what a spectrum's columns and then its rows, real and imaginary parts in turn, are multiplied by."""
    down, half = np.fft.ifft(np.eye(TILE_PX), axis=0), np.eye(TILE_PX // 2 + 1)
    across = np.stack((np.fft.irfft(half, TILE_PX), np.fft.irfft(1j * half, TILE_PX)), axis=1)
    return down.astype(np.complex64), across.reshape(-1, TILE_PX).astype(np.float32)


# --- The search -----------------------------------------------------------------------------------------------


def poses(
    coarse: Pixels, deck: Sequence[Turned], shown: Pixels | None = None, turns_deg: Sequence[float] | None = None
) -> list[Lie]:
    """Return where a card may lie on a picture `(h, w, 3) float32` Lab, `COARSE_PX_PER_MM`, the best first.

    `deck` are its pictures in every turn. `shown` `(h, w) float32` is 1 where the table is visible, 0 where a card
    found before lies. `turns_deg` limits the turns to those near one of these, up to quarter turns.
    """
    scores, turns = np.full(coarse.shape[:2], -1, np.float32), np.zeros(coarse.shape[:2], np.float32)
    near = [turned for turned in deck if turns_deg is None or _is_near(turned.turn_deg, turns_deg)]
    overlap = max((side for turned in near for side in turned.size_px), default=1) - 1
    for here in _tiles(coarse.shape[:2], overlap):
        for quarters in range(4):
            tile = _Tile(*(None if part is None else np.rot90(part[here], quarters) for part in (coarse, shown)))
            for turned in near:
                found = np.rot90(tile.likeness(turned), -quarters)
                # It begins where the middle of a card may be that the tile holds.
                top, left = ((side - high) // 2 for side, high in zip(scores[here].shape, found.shape, strict=True))
                place = (slice(top, top + found.shape[0]), slice(left, left + found.shape[1]))
                better = found > scores[here][place]
                scores[here][place][better] = found[better]
                turns[here][place][better] = turned.turn_deg + 90 * quarters
    reach = 2 * round(APART_MM * COARSE_PX_PER_MM / 2) + 1
    peaks = (scores >= cv2.dilate(scores, np.ones((reach, reach), np.uint8))) & (scores >= LEAST_SCORE)
    best = sorted(np.argwhere(peaks), key=lambda place: -scores[*place])[:MOST_POSES]
    return [Lie(float(x), float(y), float(turns[y, x])) for y, x in best]


def _is_near(turn_deg: float, turns_deg: Sequence[float]) -> bool:
    return any(abs((turn_deg - other + 45) % 90 - 45) <= NEARLY_DEG for other in turns_deg)


def _tiles(size: tuple[int, int], overlap: int) -> Iterator[tuple[slice, slice]]:
    """Yield the tiles of a picture of `size`, (height, width); what fits into their overlap is whole in one of them."""
    step = TILE_PX - overlap
    for top in range(0, max(1, size[0] - overlap), step):
        for left in range(0, max(1, size[1] - overlap), step):
            yield slice(top, top + TILE_PX), slice(left, left + TILE_PX)


class _Tile:
    """A part of a coarse picture, and what of it is visible."""

    def __init__(self, coarse: Pixels, shown: Pixels | None) -> None:
        self._size = coarse.shape[:2]
        # Templates are zero on average, so the picture may be too, which makes spectra more exact.
        picture = coarse - coarse.mean(axis=(0, 1))
        weights = np.ones(self._size, np.float32) if shown is None else shown
        self._colours = _spectra((picture * weights[..., None]).transpose(2, 0, 1))
        self._squares = _spectra((picture**2).sum(axis=2) * weights)
        self._shown = None if shown is None else _spectra(shown)

    def likeness(self, turned: Turned) -> Pixels:
        """Return the best correlation with any picture in one turn, for each place of a card that the tile holds."""
        width, height = turned.size_px
        high, wide = max(0, self._size[0] - height + 1), max(0, self._size[1] - width + 1)
        if not high or not wide:
            return np.empty((high, wide), np.float32)
        if self._shown is None:
            return self._likeness(turned, high, wide)
        area = _maps_of(self._shown * turned.inside, high, wide)
        is_worth_it = area >= LEAST_SHOWN * turned.area_px
        if not is_worth_it.any():
            return np.full((high, wide), -1, np.float32)
        return np.where(is_worth_it, self._likeness_where_shown(turned, np.maximum(area, 1e-3)), -1)

    def _likeness(self, turned: Turned, high: int, wide: int) -> Pixels:
        """Return the same where nothing is covered, without the even slope of the light."""
        _, energy = self._varies(turned, np.full((high, wide), turned.area_px, np.float32))
        sloping = _maps_of(self._colours[:, None] * turned.slopes, high, wide)
        rest = np.sqrt(np.maximum(energy**2 - (sloping**2).sum(axis=(0, 1)), 1.0))
        products = _maps_of((self._colours * turned.pictures).sum(axis=1), high, wide)
        products -= np.einsum("nck,ckhw->nhw", turned.leanings, sloping)
        best: Pixels = (products / turned.rests[:, None, None]).max(axis=0) / rest
        return best

    def _likeness_where_shown(self, turned: Turned, area: Pixels) -> Pixels:
        """Return the same with what is covered masked out of both picture and templates."""
        sums, energy = self._varies(turned, area)
        products = _maps_of((self._colours * turned.pictures).sum(axis=1), *area.shape)
        own = _maps_of(self._shown * turned.squares, *area.shape)
        shifts = _maps_of(self._shown * turned.pictures, *area.shape)
        products -= np.einsum("nchw,chw->nhw", shifts, sums) / area
        own -= (shifts**2).sum(axis=1) / area
        best: Pixels = (products / np.sqrt(np.maximum(own, 1.0))).max(axis=0) / energy
        return best

    def _varies(self, turned: Turned, area: Pixels) -> tuple[Pixels, Pixels]:
        """Return the sums of the picture's colours under a card, `(3, h, w)`, and their variation there, `(h, w)`."""
        sums = _maps_of(self._colours * turned.inside, *area.shape)
        squares = _maps_of(self._squares * turned.inside, *area.shape)
        return sums, np.sqrt(np.maximum(squares - (sums**2).sum(axis=0) / area, 1.0))

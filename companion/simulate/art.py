"""Pictures of cards, mats, hands and table."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.printing import deck, mats, render, stickers
from companion.simulate.arrange import Point
from companion.simulate.camera_model import Image
from companion.simulate.scene import BACK
from companion.tabletop.card_ids import face_of
from companion.tabletop.mat_layout import MatLayout
from companion.tabletop.sticker_codes import STICKER_MM

_CARD_RIM_MM = 3.0
_CORNER_MM = 3.0
_SPRITES_AT_HAND = 8  # cached, a third of a megabyte each
_HAND_PX_PER_MM = 1.6
_HAND_BOX_MM = (-16.0, -80.0, 940.0, 80.0)
_SKINS = ((138, 172, 222), (70, 104, 150), (160, 190, 235), (52, 76, 112))
_SLEEVES = ((112, 62, 38), (52, 54, 58), (60, 92, 52), (48, 44, 128), (150, 142, 132), (40, 118, 158))
_FINGERS = (
    ((22, 36), (72, 30), 7.5),
    ((7, 22), (68, 19), 8.5),
    ((0, 5), (66, 4), 9.0),
    ((5, -12), (66, -11), 8.5),
)
_THUMB = ((26, -34), (92, -20), 10.0)
_KNUCKLES = ((58, 36), (54, 20), (52, 4), (56, -19), (100, -26), (120, 30))
_PALM = ((80, 6), (108, 5), 30.0)
_SLEEVE = ((158, -33), (172, -37), (500, -48), (940, -58), (940, 62), (500, 54), (172, 42), (158, 38))
_WRIST = ((110, 5), (190, 3), 24.0)


_MATS: dict[tuple[str, float], Image] = {}


@dataclass(frozen=True, slots=True)
class Sprite:
    """A picture `(H, W, 4) uint8`: BGR premultiplied by opacity, then opacity."""

    pixels: Image
    px_per_mm: float
    anchor_px: Point


@lru_cache(maxsize=_SPRITES_AT_HAND)
def card_sprite(picture: str, cards: Cards) -> Sprite:
    """Return a physical card (`roll-03`) or `BACK`, anchored at its middle."""
    scale, rim = PX_PER_MM, round(_CARD_RIM_MM * PX_PER_MM)
    flat = cv2.imdecode(_packed(picture, cards), cv2.IMREAD_COLOR)
    assert flat is not None, "our own file"  # noqa: S101
    opacity = _rounded(flat.shape[:2], round(_CORNER_MM * scale))
    framed = cv2.copyMakeBorder(flat, rim, rim, rim, rim, cv2.BORDER_REPLICATE)
    opacity = cv2.copyMakeBorder(opacity, rim, rim, rim, rim, cv2.BORDER_CONSTANT, value=0.0)
    pixels = over_shadow(framed, opacity, cv2.GaussianBlur(opacity, (0, 0), rim / 2.2) * 0.45)
    height, width = opacity.shape
    return Sprite(pixels, scale, (width / 2, height / 2))


@lru_cache(maxsize=256)
def _packed(picture: str, cards: Cards) -> Image:
    """Return a card's PNG file; drawing takes thirty times as long as decoding."""
    _, file = cv2.imencode(".png", cards.flat(picture), (cv2.IMWRITE_PNG_COMPRESSION, 1))
    return file


def _rounded(shape: tuple[int, ...], radius: int) -> NDArray[np.float32]:
    """Return a card's opacity, `(H, W) float32` in 0 … 1."""
    height, width = shape
    opacity = np.zeros(shape, np.uint8)
    for x in (radius, width - 1 - radius):
        for y in (radius, height - 1 - radius):
            cv2.circle(opacity, (x, y), radius, 255, -1, cv2.LINE_AA)
    opacity[radius : height - radius] = 255
    opacity[:, radius : width - radius] = 255
    return opacity.astype(np.float32) / 255.0


def over_shadow(colour: Image, opacity: NDArray[np.float32], shadow: NDArray[np.float32]) -> Image:
    """Return sprite pixels of a thing with black shadow."""
    whole = opacity + shadow * (1.0 - opacity)
    return np.rint(np.dstack([colour * opacity[..., None], whole * 255.0])).astype(np.uint8)


def mat_image(layout: MatLayout, px_per_mm: float) -> Image:
    """Return a printed mat, `(H, W, 3) uint8 BGR`, cached: do not modify it."""
    if (layout.id, px_per_mm) not in _MATS:
        _MATS[layout.id, px_per_mm] = render.to_image(mats.mat_svg(layout), px_per_mm)
    return _MATS[layout.id, px_per_mm]


@lru_cache(maxsize=16)
def hand_sprite(player: int) -> Sprite:
    """Return a hand and arm, fingertips at the anchor, arm to the right."""
    left, top, right, bottom = _HAND_BOX_MM
    shape = round((bottom - top) * _HAND_PX_PER_MM), round((right - left) * _HAND_PX_PER_MM)
    colour, opacity = np.zeros((*shape, 3), np.float32), np.zeros(shape, np.float32)
    skin = _SKINS[player % len(_SKINS)]
    paint(colour, opacity, _limb(shape, *_THUMB), skin)
    knuckles = (cv2.GaussianBlur(_filled(shape, _KNUCKLES), (0, 0), 5.0) > 127).astype(np.uint8) * 255
    paint(colour, opacity, _limb(shape, *_PALM) | _limb(shape, *_WRIST) | knuckles, skin)
    stays = np.interp(np.arange(shape[1]), (_hand_px(44, 0)[0], _hand_px(66, 0)[0]), (1.0, 0.0))
    for finger in _FINGERS:
        paint(colour, opacity, np.rint(_limb(shape, *finger) * stays).astype(np.uint8), skin)
    nail = tuple(min(255.0, 0.75 * part + 64.0) for part in skin)
    for (x, y), _, radius in (_THUMB, *_FINGERS):
        size = round(radius * 0.62 * _HAND_PX_PER_MM), round(radius * 0.45 * _HAND_PX_PER_MM)
        cv2.ellipse(colour, _hand_px(x + 1, y), size, 0, 0, 360, nail, -1, cv2.LINE_AA)
    paint(colour, opacity, _filled(shape, _SLEEVE), _SLEEVES[player % len(_SLEEVES)])
    _weave(colour, opacity, player)
    opacity = cv2.GaussianBlur(opacity, (0, 0), 0.8)
    shadow = cv2.GaussianBlur(opacity, (0, 0), 9.0) * 0.5
    pixels = over_shadow(colour.clip(0, 255).astype(np.uint8), opacity, shadow)
    return Sprite(pixels, _HAND_PX_PER_MM, (-left * _HAND_PX_PER_MM, -top * _HAND_PX_PER_MM))


def _hand_px(x_mm: float, y_mm: float) -> tuple[int, int]:
    left, top, _, _ = _HAND_BOX_MM
    return round((x_mm - left) * _HAND_PX_PER_MM), round((y_mm - top) * _HAND_PX_PER_MM)


def _limb(shape: tuple[int, ...], tip: Point, root: Point, radius_mm: float) -> Image:
    mask = np.zeros(shape, np.uint8)
    cv2.line(mask, _hand_px(*tip), _hand_px(*root), 255, round(2 * radius_mm * _HAND_PX_PER_MM), cv2.LINE_AA)
    return mask


def _filled(shape: tuple[int, ...], outline: Sequence[Point]) -> Image:
    mask = np.zeros(shape, np.uint8)
    cv2.fillPoly(mask, [np.array([_hand_px(x, y) for x, y in outline])], 255, cv2.LINE_AA)
    return mask


def paint(colour: NDArray[np.float32], opacity: NDArray[np.float32], mask: Image, paint: tuple[int, ...]) -> None:
    """Draw a rounded part in place."""
    depth = cv2.distanceTransform((mask > 8).astype(np.uint8), cv2.DIST_L2, 5)
    shade = 0.55 + 0.45 * np.sqrt(depth / max(float(depth.max()), 1.0))
    cover = (mask.astype(np.float32) / 255.0)[..., None]
    colour *= 1.0 - cover
    colour += cover * shade[..., None] * np.array(paint, np.float32)
    np.maximum(opacity, cover[..., 0], out=opacity)


def _weave(colour: NDArray[np.float32], opacity: NDArray[np.float32], seed: int) -> None:
    """Add folds and thread in place."""
    source = np.random.default_rng(seed)
    height, width = opacity.shape
    folds = cv2.resize(source.standard_normal((6, 40)).astype(np.float32), (width, height), None, 0, 0, cv2.INTER_CUBIC)
    thread = cv2.GaussianBlur(source.standard_normal((height, width)).astype(np.float32), (0, 0), 0.7)
    colour *= (1.0 + 0.07 * folds + 0.05 * thread)[..., None]


def wood(width_mm: float, height_mm: float, px_per_mm: float, seed: int) -> Image:
    """Return a table top of dark boards, `(H, W, 3) uint8 BGR`."""
    source = np.random.default_rng(seed)
    size = round(width_mm * px_per_mm), round(height_mm * px_per_mm)
    grain = sum(_streaks(source, size, along, across) for along, across in ((300.0, 6.0), (60.0, 1.2), (900.0, 40.0)))
    board_px = 118.0 * px_per_mm
    board = (np.arange(size[1]) / board_px).astype(int)
    tone = 1.0 + 0.09 * source.standard_normal(board.max() + 1)[board]
    seam = 1.0 - 0.55 * (np.arange(size[1]) % board_px < 0.9 * px_per_mm)
    value = (1.0 + 0.11 * grain) * (tone * seam).astype(np.float32)[:, None]
    stain = np.array((46.0, 68.0, 98.0), np.float32) * np.float32(source.uniform(0.75, 1.15))
    return np.dstack([(value * part).clip(0, 255).astype(np.uint8) for part in stain])


def _streaks(
    source: np.random.Generator, size: tuple[int, int], along_mm: float, across_mm: float
) -> NDArray[np.float32]:
    cells = max(2, round(size[1] / across_mm)), max(2, round(size[0] / along_mm))
    rough = source.standard_normal(cells).astype(np.float32)
    return cv2.resize(rough, size, None, 0, 0, cv2.INTER_CUBIC)


# --- The cards ------------------------------------------------------------------------------------------------


PX_PER_MM = 4.0
_STICKER_TOP_MM = 3.5
_GLUED_OFF_MM, _GLUED_ASKEW_DEG = 2.0, 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Cards:
    """A deck of physical cards, compared by identity for caches."""

    sticker_mm: float | None = STICKER_MM  # None: no stickers

    def flat(self, picture: str) -> Image:
        """Return a card (`roll-03`) or `BACK` with square corners, at `PX_PER_MM`."""
        bare = self.bare(picture)
        return bare if picture == BACK or self.sticker_mm is None else _stickered(bare, picture, self.sticker_mm)

    def bare(self, picture: str) -> Image:
        """Return the same without sticker."""
        drawing = deck.back_svg() if picture == BACK else deck.face_svg(face_of(picture))
        return render.to_image(drawing, PX_PER_MM)


STICKERED = Cards()  # with stickers as printed
BARE = Cards(sticker_mm=None)


def _stickered(face: Image, card_id: str, sticker_mm: float) -> Image:
    """Add a sticker slightly askew, differently per card."""
    chance = random.Random(crc32(card_id.encode()))  # noqa: S311
    sticker = render.to_image(stickers.sticker_svg(card_id, sticker_mm), PX_PER_MM)
    x_mm = face.shape[1] / PX_PER_MM / 2 + chance.uniform(-_GLUED_OFF_MM, _GLUED_OFF_MM)
    y_mm = _STICKER_TOP_MM + sticker.shape[0] / PX_PER_MM / 2 + chance.uniform(-_GLUED_OFF_MM, _GLUED_OFF_MM)
    askew_deg = chance.uniform(-_GLUED_ASKEW_DEG, _GLUED_ASKEW_DEG)
    middle = sticker.shape[1] / 2, sticker.shape[0] / 2
    onto = cv2.getRotationMatrix2D(middle, -askew_deg, 1.0)
    onto[:, 2] += x_mm * PX_PER_MM - middle[0], y_mm * PX_PER_MM - middle[1]
    return cv2.warpAffine(
        sticker, onto, face.shape[1::-1], dst=face.copy(), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_TRANSPARENT
    )

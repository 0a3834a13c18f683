"""Objects beside the cards, seen from above: a cup, a phone, two dice."""

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.simulate.arrange import Point
from companion.simulate.art import Sprite, over_shadow, paint
from companion.simulate.camera_model import Image
from companion.simulate.scene import BACK, Lying

THINGS = ("cup", "phone", "dice")  # names of the pictures
_PX_PER_MM = 2.0
_BOX_MM = 220.0


def is_card(lying: Lying) -> bool:
    """True for a face-up card."""
    return lying.picture != BACK and lying.picture not in THINGS


@lru_cache(maxsize=8)
def thing_sprite(picture: str) -> Sprite:
    side = round(_BOX_MM * _PX_PER_MM)
    colour, opacity = np.zeros((side, side, 3), np.float32), np.zeros((side, side), np.float32)
    {"cup": _paint_cup, "phone": _paint_phone, "dice": _paint_dice}[picture](colour, opacity)
    shadow = cv2.GaussianBlur(opacity, (0, 0), 12.0) * 0.45
    pixels = over_shadow(colour.clip(0, 255).astype(np.uint8), opacity, shadow)
    return Sprite(pixels, _PX_PER_MM, (side / 2, side / 2))


def _px(x_mm: float, y_mm: float) -> tuple[int, int]:
    return round((x_mm + _BOX_MM / 2) * _PX_PER_MM), round((y_mm + _BOX_MM / 2) * _PX_PER_MM)


def _disc(shape: tuple[int, ...], x_mm: float, y_mm: float, radius_mm: float) -> Image:
    mask = np.zeros(shape, np.uint8)
    cv2.circle(mask, _px(x_mm, y_mm), round(radius_mm * _PX_PER_MM), 255, -1, cv2.LINE_AA)
    return mask


def _block(shape: tuple[int, ...], middle: Point, size_mm: Point) -> Image:
    (x, y), (width, height), mask = middle, size_mm, np.zeros(shape, np.uint8)
    corners = (_px(x - width / 2, y - height / 2), _px(x + width / 2, y + height / 2))
    cv2.rectangle(mask, *corners, 255, -1)
    return mask


def _paint_cup(colour: NDArray[np.float32], opacity: NDArray[np.float32]) -> None:
    shape = opacity.shape
    for n in range(5):
        paint(colour, opacity, _disc(shape, 38.0 + 4.0 * n, 0.0, 6.0), (208, 214, 218))
    paint(colour, opacity, _disc(shape, 0.0, 0.0, 41.0), (214, 220, 224))
    paint(colour, opacity, _disc(shape, 0.0, 0.0, 36.0), (150, 160, 170))
    paint(colour, opacity, _disc(shape, 1.0, 2.0, 34.0), (24, 40, 66))


def _paint_phone(colour: NDArray[np.float32], opacity: NDArray[np.float32]) -> None:
    """Paint a phone with lines of text on its screen."""
    shape = opacity.shape
    paint(colour, opacity, _block(shape, (0.0, 0.0), (72.0, 148.0)), (36, 34, 32))
    np.copyto(colour, np.float32((232, 226, 222)), where=(_block(shape, (0.0, 0.0), (66.0, 136.0)) > 0)[..., None])
    for n in range(13):
        line = _block(shape, (-6.0 + 3.0 * (n % 3), -58.0 + 9.5 * n), (44.0 - 8.0 * (n % 4), 3.5))
        np.copyto(colour, np.float32((90, 70, 60)), where=(line > 0)[..., None])


def _paint_dice(colour: NDArray[np.float32], opacity: NDArray[np.float32]) -> None:
    for x_mm, y_mm, pips in ((-13.0, 4.0, ((0, 0),)), (12.0, -7.0, ((-4, -4), (0, 0), (4, 4)))):
        paint(colour, opacity, _block(opacity.shape, (x_mm, y_mm), (16.0, 16.0)), (228, 232, 236))
        for right, down in pips:
            paint(colour, opacity, _disc(opacity.shape, x_mm + right, y_mm + down, 1.7), (24, 20, 20))

"""The camera that does not exist: where it hangs, how the light falls, how its sensor rustles."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from companion.simulate.arrange import Point
from companion.simulate.scene import Light

Image = NDArray[np.uint8]
Matrix = NDArray[np.float64]
Size = tuple[int, int]

_FOCAL = 0.78
"""Focal length over picture width: a webcam of 65°."""

_MARGIN = 0.012
"""Share of the picture's height left free round the outermost mats."""

LAMP_SHARE = 0.65
"""So much of the light comes from the lamp."""

_NOISE_SLACK_PX = 64
_SHADE_REACH, _GLARE_REACH = 0.22, 0.07


@dataclass(frozen=True, slots=True)
class Look:
    """How the picture is taken: the camera's stance, the light, and what the sensor adds."""

    tilt_deg: float = 8.0
    """0 looks straight down; more looks from the bottom of the picture."""

    roll_deg: float = 0.8
    brightness: float = 0.9
    """Share of full scale that white paper reaches in the middle."""

    gradient: float = 0.12
    """The light falls off by this share from the lit edge to the middle."""

    light_from_deg: float = 215.0
    vignette: float = 0.16
    tint_bgr: tuple[float, float, float] = (0.94, 0.99, 1.0)
    noise: float = 2.2
    """Standard deviation of the sensor's noise, of 255."""

    blur_px: float = 0.55
    jpeg_quality: int | None = None
    """Where set, every frame goes through JPEG at this quality, as from a webcam that sends MJPG."""

    px_per_mm: float | None = None
    """The scale at the middle of the picture, at most; None: as large as the mats' corners let it be."""

    shake_px: float = 0.0
    """The picture is smeared by so much, in the direction `shake_deg`: a camera that trembles in dim light."""

    shake_deg: float = 0.0
    gamma: float = 1.0
    """Above 1 the camera's software brightens the dark parts."""

    glare: float = 0.0
    """A lamp mirrored in the table adds so much of full scale in the middle of its spot."""

    glare_at: tuple[float, float] = (0.3, 0.4)
    """Where the spot is, and where the shade is, as shares of the picture's width and height."""

    shade: float = 0.0
    """Somebody stands in the light: so much of it is missing in the middle of his shadow."""

    shade_at: tuple[float, float] = (0.7, 0.8)
    arm_shadow: float = 0.0
    """An arm takes so much of the light from what is around it."""


def typical_look(seed: int) -> Look:
    """A living room's camera: a little tilt, a little roll, a lamp somewhere; the same for the same seed."""
    chance = random.Random(f"look {seed}")  # noqa: S311
    return Look(
        tilt_deg=chance.uniform(4.0, 12.0),
        roll_deg=chance.uniform(-1.5, 1.5),
        brightness=chance.uniform(0.85, 0.92),
        gradient=chance.uniform(0.05, 0.15),
        light_from_deg=chance.uniform(0.0, 360.0),
        tint_bgr=(chance.uniform(0.9, 0.98), 0.99, chance.uniform(0.97, 1.0)),
    )


def camera(
    points: Iterable[Point], size: Size, tilt_deg: float, roll_deg: float, px_per_mm: float | None = None
) -> Matrix:
    """The homography from table millimetres to pixels, (3, 3), of a camera that just holds all the points.

    `size` is (width, height) in pixels. The camera hangs higher where the scale would exceed `px_per_mm`.
    """
    corners = np.array([(x, y, 1.0) for x, y in points]).T
    width, height = size
    room = np.array([width, height]) * (1.0 - 2.0 * _MARGIN)
    target, away_mm = np.zeros(2), 3000.0
    for _ in range(40):
        matrix = _looking_at(target, away_mm, size, tilt_deg, roll_deg)
        low, high = _extent_px(matrix, corners)
        scale = _FOCAL * width / away_mm
        target = target + _unrolled((low + high) / 2 - np.array([width, height]) / 2, roll_deg) / scale
        away_mm *= 0.5 + 0.5 * float(((high - low) / room).max())
    if px_per_mm is not None and away_mm < _FOCAL * width / px_per_mm:
        away_mm = _FOCAL * width / px_per_mm
        target = _centred(target, away_mm, corners, size, tilt_deg, roll_deg)
    return _looking_at(target, away_mm, size, tilt_deg, roll_deg)


def _centred(target: Matrix, away_mm: float, corners: Matrix, size: Size, tilt_deg: float, roll_deg: float) -> Matrix:
    """Where a camera at this height looks so that as much room is left on either side."""
    for _ in range(20):
        low, high = _extent_px(_looking_at(target, away_mm, size, tilt_deg, roll_deg), corners)
        off_px = (low + high) / 2 - np.array(size) / 2
        target = target + _unrolled(off_px, roll_deg) * away_mm / (_FOCAL * size[0])
    return target


def _looking_at(target: Matrix, away_mm: float, size: Size, tilt_deg: float, roll_deg: float) -> Matrix:
    width, height = size
    tilt, roll = math.radians(tilt_deg), math.radians(roll_deg)
    focal = _FOCAL * width
    sensor = np.array([[focal, 0.0, width / 2], [0.0, focal, height / 2], [0.0, 0.0, 1.0]])
    rolled = np.array([[math.cos(roll), -math.sin(roll), 0.0], [math.sin(roll), math.cos(roll), 0.0], [0.0, 0.0, 1.0]])
    tilted = np.array([[1.0, 0.0, 0.0], [0.0, math.cos(tilt), 0.0], [0.0, -math.sin(tilt), away_mm]])
    moved = np.array([[1.0, 0.0, -target[0]], [0.0, 1.0, -target[1]], [0.0, 0.0, 1.0]])
    return sensor @ rolled @ tilted @ moved


def _extent_px(matrix: Matrix, corners: Matrix) -> tuple[Matrix, Matrix]:
    seen = matrix @ corners
    flat = seen[:2] / seen[2]
    return flat.min(axis=1), flat.max(axis=1)


def _unrolled(offset: Matrix, roll_deg: float) -> Matrix:
    roll = math.radians(roll_deg)
    x, y = offset
    return np.array([x * math.cos(roll) + y * math.sin(roll), -x * math.sin(roll) + y * math.cos(roll)])


def light(look: Look, size: Size) -> NDArray[np.float32]:
    """How much of its own brightness each pixel shows: (H, W, 3) float32, BGR."""
    width, height = size
    x = np.linspace(-1.0, 1.0, width, dtype=np.float32)[None, :]
    y = np.linspace(-1.0, 1.0, height, dtype=np.float32)[:, None] * (height / width)
    towards = math.radians(look.light_from_deg)
    slope = 1.0 + look.gradient * (x * math.cos(towards) + y * math.sin(towards))
    fall = 1.0 - look.vignette * (x * x + y * y)
    if look.shade:
        fall = fall * (1.0 - np.float32(look.shade) * _spot(look.shade_at, size, _SHADE_REACH))
    tint = np.array(look.tint_bgr, dtype=np.float32) * np.float32(look.brightness)
    return np.ascontiguousarray((slope * fall)[..., None] * tint, dtype=np.float32)


def glare(look: Look, size: Size) -> NDArray[np.float32] | None:
    """What a mirrored lamp adds to what is printed or varnished: (H, W, 1) float32 of 255, or None without one."""
    if not look.glare:
        return None
    return (255.0 * np.float32(look.glare) * _spot(look.glare_at, size, _GLARE_REACH))[..., None]


def _spot(at: Point, size: Size, reach: float) -> NDArray[np.float32]:
    """A soft round spot, 1 in its middle: (H, W) float32; `reach` is its radius as a share of the width."""
    width, height = size
    x = (np.arange(width, dtype=np.float32) - at[0] * width) / (reach * width)
    y = (np.arange(height, dtype=np.float32) - at[1] * height) / (reach * width)
    return np.exp(-y * y)[:, None] * np.exp(-x * x)[None, :]


def smear(look: Look) -> NDArray[np.float32] | None:
    """The kernel of a trembling camera, or None where it hangs still."""
    if look.shake_px <= 0.0:
        return None
    reach, kernel = math.ceil(look.shake_px / 2) + 1, np.zeros((13, 13), np.float32)
    middle, along = 6.0, math.radians(look.shake_deg)
    for part in np.linspace(-0.5, 0.5, 16 * reach):
        x, y = middle + part * look.shake_px * math.cos(along), middle + part * look.shake_px * math.sin(along)
        left, top = int(x), int(y)
        kernel[top : top + 2, left : left + 2] += np.outer((1 - y + top, y - top), (1 - x + left, x - left))
    return kernel / kernel.sum()


def tone_curve(gamma: float) -> NDArray[np.uint8] | None:
    """What the camera's software makes of each level, (256,) uint8; None where it changes nothing."""
    if gamma == 1.0:
        return None
    return np.rint(255.0 * np.linspace(0.0, 1.0, 256) ** (1.0 / gamma)).astype(np.uint8)


def changed_light(light: Light, look_light: NDArray[np.float32]) -> NDArray[np.uint8]:
    """By how much each pixel is brighter than in the look's own light, (h, w, 3) uint8, 64 for once.

    Without the lamp the light is even, and bluer.
    """
    even = np.float32(look_light.mean()) * (1.0 - LAMP_SHARE)
    by_lamp = np.maximum(look_light - even, 0.0)
    blue = np.array((1.08, 1.0, 0.93), np.float32)
    dark = np.float32(1.0 - min(1.0, light.lamp))
    cast = 1.0 + (blue - 1.0) * dark
    now = (light.sky * even + light.lamp * by_lamp) * light.exposure * cast
    return np.rint(64.0 * now / np.maximum(look_light, 0.02)).clip(0, 255).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class Noise:
    """A sheet of noise larger than the picture; each frame takes another piece of it."""

    more: Image
    less: Image
    size: Size

    def piece(self, chance: random.Random) -> tuple[Image, Image]:
        """What to add and what to take away on one frame, each (H, W, 3) uint8."""
        width, height = self.size
        x, y = chance.randrange(_NOISE_SLACK_PX), chance.randrange(_NOISE_SLACK_PX)
        here = np.s_[y : y + height, x : x + width]
        return self.more[here], self.less[here]


def noise(strength: float, size: Size, seed: int) -> Noise:
    """The sensor's noise: mostly brightness, a little colour."""
    width, height = size
    shape = (height + _NOISE_SLACK_PX, width + _NOISE_SLACK_PX)
    source = np.random.default_rng(seed)
    bright = source.standard_normal((*shape, 1), dtype=np.float32) * (0.85 * strength)
    colour = source.standard_normal((*shape, 3), dtype=np.float32) * (0.53 * strength)
    values = np.rint(bright + colour)
    return Noise(np.maximum(values, 0).astype(np.uint8), np.maximum(-values, 0).astype(np.uint8), size)

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from companion.simulate.arrange import Point, turned

Image = NDArray[np.uint8]
Matrix = NDArray[np.float64]
Size = tuple[int, int]

_FOCAL = 0.78  # relative to picture width: a webcam of 65°
_MARGIN = 0.012  # free share on each side of the mats
NOISE_SLACK_PX = 64  # extra width and height of the noise


@dataclass(frozen=True, slots=True)
class Look:
    """The virtual camera's angle, light and sensor."""

    tilt_deg: float = 8.0  # 0: straight down; more: from the picture's bottom
    roll_deg: float = 0.8
    brightness: float = 0.9  # of white paper, relative to full scale
    gradient: float = 0.12  # share of light lost from edge to middle
    light_from_deg: float = 215.0
    vignette: float = 0.16
    tint_bgr: tuple[float, float, float] = (0.94, 0.99, 1.0)
    noise: float = 2.2  # σ, of 255
    blur_px: float = 0.55
    px_per_mm: float | None = None  # maximum; None: limited by the mats' corners


def typical_look(seed: int) -> Look:
    """Return a random living room's camera and light."""
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
    """Return the `(3, 3)` homography from table mm to pixels of a camera that just sees all points.

    `size` is (width, height) in pixels, `px_per_mm` the maximum scale.
    """
    corners = np.array([(x, y, 1.0) for x, y in points]).T
    width, height = size
    room = np.array([width, height]) * (1.0 - 2.0 * _MARGIN)
    target, away_mm, least_mm = np.zeros(2), 3000.0, _FOCAL * width / (px_per_mm or math.inf)
    for _ in range(40):
        matrix = _looking_at(target, away_mm, size, tilt_deg, roll_deg)
        seen = matrix @ corners
        low, high = (extreme(seen[:2] / seen[2], axis=1) for extreme in (np.min, np.max))
        scale = _FOCAL * width / away_mm
        off_x, off_y = (low + high - size) / 2
        target = target + np.array(turned(off_x, off_y, -roll_deg)) / scale
        away_mm = max(least_mm, away_mm * (0.5 + 0.5 * float(((high - low) / room).max())))
    return _looking_at(target, away_mm, size, tilt_deg, roll_deg)


def _looking_at(target: Matrix, away_mm: float, size: Size, tilt_deg: float, roll_deg: float) -> Matrix:
    width, height = size
    tilt, roll = math.radians(tilt_deg), math.radians(roll_deg)
    focal = _FOCAL * width
    sensor = np.array([[focal, 0.0, width / 2], [0.0, focal, height / 2], [0.0, 0.0, 1.0]])
    rolled = np.array([[math.cos(roll), -math.sin(roll), 0.0], [math.sin(roll), math.cos(roll), 0.0], [0.0, 0.0, 1.0]])
    tilted = np.array([[1.0, 0.0, 0.0], [0.0, math.cos(tilt), 0.0], [0.0, -math.sin(tilt), away_mm]])
    moved = np.array([[1.0, 0.0, -target[0]], [0.0, 1.0, -target[1]], [0.0, 0.0, 1.0]])
    return sensor @ rolled @ tilted @ moved


def light(look: Look, size: Size) -> NDArray[np.float32]:
    """Return light factors for pixels, `(H, W, 3) float32 BGR`."""
    width, height = size
    x = np.linspace(-1.0, 1.0, width, dtype=np.float32)[None, :]
    y = np.linspace(-1.0, 1.0, height, dtype=np.float32)[:, None] * (height / width)
    towards = math.radians(look.light_from_deg)
    slope = 1.0 + look.gradient * (x * math.cos(towards) + y * math.sin(towards))
    fall = 1.0 - look.vignette * (x * x + y * y)
    tint = np.array(look.tint_bgr, dtype=np.float32) * np.float32(look.brightness)
    return np.ascontiguousarray((slope * fall)[..., None] * tint, dtype=np.float32)


def noise(strength: float, size: Size, seed: int) -> NDArray[np.int16]:
    """Return noise to add, `int16 BGR`, `NOISE_SLACK_PX` larger than `size`: each frame uses another part."""
    width, height = size
    shape = (height + NOISE_SLACK_PX, width + NOISE_SLACK_PX)
    source = np.random.default_rng(seed)
    bright = source.standard_normal((*shape, 1), dtype=np.float32) * (0.85 * strength)
    colour = source.standard_normal((*shape, 3), dtype=np.float32) * (0.53 * strength)
    return np.rint(bright + colour).astype(np.int16)

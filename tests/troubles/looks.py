"""Other cameras than the demo's: ordinary webcams at home, and a dim evening."""

import random
from collections.abc import Iterable
from dataclasses import asdict, replace

import numpy as np

from companion.simulate.arrange import Point
from companion.simulate.camera_model import Look, Matrix, Size, camera, typical_look
from troubles.rough_studio import RoughLook

SIZES = ((1920, 1080), (2560, 1440), (3840, 2160))


def household_look(seed: int, most_tilt_deg: float = 30.0) -> Look:
    """Return a webcam with a random tilt and JPEG pictures, in otherwise good light."""
    chance = random.Random(f"household {seed}")
    return replace(
        RoughLook(**asdict(typical_look(seed))),
        tilt_deg=chance.uniform(0.0, most_tilt_deg),
        roll_deg=chance.uniform(-3.0, 3.0),
        jpeg_quality=chance.randint(80, 92),
        blur_px=chance.uniform(0.5, 0.7),
        px_per_mm=1.6,
    )


def hard_look(seed: int, most_tilt_deg: float = 35.0) -> Look:
    """Return a dim evening: soft, noisy and tinted, with shadows and a reflection."""
    chance = random.Random(f"hard {seed}")
    warm = chance.uniform(-0.22, 0.22)
    return RoughLook(
        tilt_deg=chance.uniform(0.0, most_tilt_deg),
        roll_deg=chance.uniform(-6.0, 6.0),
        brightness=chance.uniform(0.5, 0.85),
        gradient=chance.uniform(0.15, 0.35),
        light_from_deg=chance.uniform(0.0, 360.0),
        vignette=chance.uniform(0.1, 0.3),
        tint_bgr=(1.0 - max(0.0, warm), 0.97, 1.0 + min(0.0, warm)),
        noise=chance.uniform(3.0, 5.5),
        blur_px=chance.uniform(0.6, 0.95),
        jpeg_quality=chance.randint(50, 85),
        px_per_mm=1.6,
        shake_px=chance.choice((0.0, 0.0, 1.5)),
        shake_deg=chance.uniform(0.0, 180.0),
        gamma=chance.uniform(0.8, 1.25),
        glare=chance.choice((0.0, 0.25, 0.5)),
        glare_at=(chance.uniform(0.1, 0.9), chance.uniform(0.1, 0.9)),
        shade=chance.choice((0.0, 0.3, 0.45)),
        shade_at=(chance.uniform(0.0, 1.0), chance.choice((0.0, 1.0))),
        arm_shadow=chance.uniform(0.1, 0.35),
    )


def size_for(points: Iterable[Point], look: Look, px_per_mm: float = 1.5) -> Size:
    """Return the smallest usual picture size with this scale, in px/mm, at the center."""
    points = list(points)
    scales = ((size, middle_scale(camera(points, size, look.tilt_deg, look.roll_deg), size)) for size in SIZES)
    return next((size for size, scale in scales if scale >= px_per_mm), SIZES[-1])


def middle_scale(matrix: Matrix, size: Size) -> float:
    """Return the horizontal scale at the picture's center, in px/mm."""
    middle = np.linalg.inv(matrix) @ (size[0] / 2, size[1] / 2, 1.0)
    here = middle / middle[2]
    left, right = (matrix @ (here[0] + off, here[1], 1.0) for off in (-0.5, 0.5))
    return float(np.hypot(*(right / right[2] - left / left[2])[:2]))

"""Decide when a camera holds or releases exposure, white balance and focus.

It holds them once the table is lit and the light constant, so that hands change no colors, and releases them when the
light has changed for good.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from companion.vision.boxes import Image

SETTLED_S = 2.0  # time of constant light; cameras settle within 1 s
STEP_PX = 32
LIT = 24.0  # minimum mean level of a lit table
SETTLED_RATIO, OTHER_RATIO = 1.15, 1.6
"""Brightness ratios up to which light is constant, and above which it has changed.

Hands, arms and cards over the simulated table made at most 1.10 (261 pictures).
"""

NOISE = 6.0  # levels
OTHER_WARMTH = 1.35
"""Change of the red-to-blue ratio above which the light has changed.

Arms and cards made at most 1.05; a 2,700 K lamp instead of 5,000 K daylight makes 2.3.
"""


@dataclass(frozen=True, slots=True)
class Light:
    """Light in a picture."""

    level: float  # mean of the green channel
    warmth: float  # ratio of red to blue


@dataclass(frozen=True, slots=True)
class Steadiness:
    """State of one camera's settings."""

    held: Light | None = None  # when settings were held; None while automatic
    new: Light | None = None  # not yet held, or different from the held light
    since_s: float = 0.0  # start of the new light


class Adjustment(Enum):
    """Command to hold or release a camera's settings."""

    HOLD = auto()
    RELEASE = auto()


def light_of(image: Image) -> Light:
    """Measure the light in a picture `(H, W, 3) uint8 BGR`."""
    blue, green, red = (float(mean) for mean in np.mean(image[::STEP_PX, ::STEP_PX], axis=(0, 1)))
    return Light(green, (red + 1) / (blue + 1))


def after(now: Steadiness, light: Light, t_s: float) -> tuple[Steadiness, Adjustment | None]:
    """Return the state after a picture at `t_s`, and the command to the camera, if any."""
    if now.held is None:
        is_wanted = light.level > LIT
        is_same = now.new is not None and not _differ(light.level, now.new.level, SETTLED_RATIO)
    else:
        warmths, is_same = (light.warmth, now.held.warmth), now.new is not None
        is_wanted = _differ(light.level, now.held.level, OTHER_RATIO) or max(warmths) > OTHER_WARMTH * min(warmths)
    if not is_wanted:
        return Steadiness(now.held), None
    if not is_same:
        return Steadiness(now.held, light, t_s), None
    if t_s - now.since_s < SETTLED_S:
        return now, None
    return (Steadiness(light), Adjustment.HOLD) if now.held is None else (Steadiness(), Adjustment.RELEASE)


def _differ(one: float, other: float, ratio: float) -> bool:
    return max(one, other) > ratio * min(one, other) + NOISE

"""When a camera holds exposure, white balance and focus, and when it lets go: decided from the pictures alone.

It holds them once the table is lit and the light has settled, so that a hand over the table changes no colour; it lets
go once the light is another for good. Pure: the light measured and the time are arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from companion.vision.boxes import Image

SETTLED_S = 2.0  # seconds for which light stays as it is before it is held, or let go: a camera settles within one
STEP_PX = 32  # step at which a picture is measured
LIT = 24.0  # mean grey level above which a table is lit: what a camera sets in a dark room would spoil the game
SETTLED_RATIO, OTHER_RATIO = 1.15, 1.6
"""Ratios of two brightnesses: up to the first they are the same while a camera settles, beyond the second the light is
another one. Over a hand at the simulated table, arms and cards made at most 1.10 (261 pictures)."""

NOISE = 6.0  # grey levels that brightness may differ by in any light: in the dark they are noise
OTHER_WARMTH = 1.35
"""Ratio of red to blue, against what it was, beyond which the light is another one.

Arms and cards made at most 1.05 there; a lamp of 2,700 K in place of daylight of 5,000 K makes 2.3 by their colours.
"""


@dataclass(frozen=True, slots=True)
class Light:
    """What a picture says of the light."""

    level: float  # mean grey level
    warmth: float  # ratio of red to blue


@dataclass(frozen=True, slots=True)
class Steadiness:
    """How it stands with a camera."""

    held: Light | None = None  # the light in which it was held; None while the camera sets itself
    new: Light | None = None  # the light that may come to be held, or that differs from the one held
    since_s: float = 0.0  # since when that light has been there


class Adjustment(Enum):
    """What the camera is to do."""

    HOLD = auto()
    RELEASE = auto()


def light_of(image: Image) -> Light:
    """Return the light of a picture, `(H, W, 3) uint8 BGR`."""
    blue, green, red = (float(mean) for mean in np.mean(image[::STEP_PX, ::STEP_PX], axis=(0, 1)))
    return Light(green, (red + 1) / (blue + 1))


def after(now: Steadiness, light: Light, t_s: float) -> tuple[Steadiness, Adjustment | None]:
    """Return how it stands after a picture in that light, and what the camera is to do, if anything."""
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

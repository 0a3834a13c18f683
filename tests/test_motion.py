"""Change detection: the gate for movement in a whole frame, a patch for a part that looks different."""

from functools import lru_cache

import numpy as np
import pytest

from companion.vision.boxes import Box
from companion.vision.motion import Gate, Motion, Patch, update
from companion.vision.opencv import cv2


@lru_cache(4)
def table(
    noise: float = 0.0,
    seed: int = 0,
    light: float = 1.0,
    size: tuple[int, int] = (1080, 1920),
    thing: tuple[int, int, int, int, int] | None = None,
) -> np.ndarray:
    """A plain gray table with texture and noise, and an object given by place, size and gray level."""
    height, width = size
    rows, columns = np.arange(height)[:, None], np.arange(width)
    seen = ((110 + 30 * np.sin(rows / 97) + 30 * np.cos(columns / 71)) * light)[:, :, None]
    if noise:
        seen = seen + np.random.default_rng(seed).standard_normal((*size, 3), np.float32) * noise
    image = np.clip(seen, 0, 255).astype(np.uint8)
    image = np.repeat(image, 3 // image.shape[2], axis=2)
    if thing is not None:
        x, y, width, height, level = thing
        image[y : y + height, x : x + width] = level
    return image


LAID, OVER_HALF = {"thing": (300, 300, 200, 200, 230)}, {"thing": (0, 0, 960, 1080, 240)}
FRAMES = {
    "the first frame can be compared with nothing": ([{}], Motion.EVERYTHING),
    "what was laid down is still from the next frame on": ([{}, {}, LAID, LAID], Motion.STILL),
    "a lamp switched on changes everything": ([{}, {}, {"light": 1.4}], Motion.EVERYTHING),
    "a little more sun from frame to frame changes nothing": ([{}, {"light": 1.02}], Motion.STILL),
    "another size of picture changes everything": ([{}, {"size": (720, 1280)}], Motion.EVERYTHING),
    "a hand over half the table is movement only": ([{}, OVER_HALF], Motion.MOVING),
    **{
        f"sensor noise of {noise} levels is no movement": (
            [{"noise": noise, "seed": seed} for seed in range(4)],
            Motion.STILL,
        )
        for noise in (0.0, 4.0, 8.0, 12.0)
    },
    **{
        f"a finger that comes at {x}, {y} is movement": (
            [{"noise": 6.0}, {"noise": 6.0, "seed": 1, "thing": (x, y, 48, 48, 200)}],
            Motion.MOVING,
        )
        for x, y in ((0, 0), (1000, 500), (1872, 1032))
    },
}


@pytest.mark.parametrize(("shown", "motion"), FRAMES.values(), ids=FRAMES)
def test_the_motion_gate(shown: list[dict], motion: Motion):
    gate = Gate()
    for how in shown:
        gate = update(gate, table(**how))

    assert gate.motion is motion


ZONE = np.array([(20.0, 20.0), (220.0, 20.0), (220.0, 300.0), (20.0, 300.0)])


def zone_with(number: str, x: int = 60) -> np.ndarray:
    """A pale card with a number on a mat, `(320, 240) uint8`."""
    picture = np.full((320, 240), 200, np.uint8)
    cv2.rectangle(picture, (x, 60), (x + 100, 210), 225, -1)
    cv2.putText(picture, number, (x + 10, 150), cv2.FONT_HERSHEY_SIMPLEX, 2.0, 40, 4)
    return picture


def noisy(picture: np.ndarray, seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(0, 4, picture.shape)
    return np.clip(picture + noise, 0, 255).astype(np.uint8)


def lit(picture: np.ndarray, share: float) -> np.ndarray:
    """The picture in light that decreases from left to right."""
    return np.clip(picture * np.linspace(1.0, share, picture.shape[1]), 0, 255).astype(np.uint8)


CARD, BARE = zone_with("25"), np.full((320, 240), 110, np.uint8)
LOOKS = {
    "a card in noise looks as it did": (CARD, noisy(CARD, 2), True),
    "so it does in a shadow": (CARD, lit(noisy(CARD, 2), 0.8), True),
    "another card does not": (CARD, noisy(zone_with("50"), 2), False),
    "one without a number does not": (CARD, noisy(zone_with(""), 2), False),
    "one laid a little beside does not": (CARD, noisy(zone_with("25", x=63), 2), False),
    "a picture of another size does not": (CARD, CARD[:200], False),
    "a pale card on a bare zone in dim light does not": (
        BARE, noisy(cv2.putText(BARE.copy(), "50", (60, 180), cv2.FONT_HERSHEY_SIMPLEX, 2.0, 88, 4), 2), False
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "now", "is_in"), LOOKS.values(), ids=LOOKS)
def test_a_zone_is_compared_with_its_earlier_look(before: np.ndarray, now: np.ndarray, is_in: bool):
    assert Patch.of(noisy(before, 1), ZONE).is_in(now) is is_in


def test_changes_beside_a_slanted_zone_are_not_in_it():
    askew = np.array([(120.0, 20.0), (220.0, 160.0), (120.0, 300.0), (20.0, 160.0)])
    patch = Patch.of(CARD, askew)
    beside, inside = CARD.copy(), CARD.copy()
    beside[30:60, 30:60], inside[230:260, 105:135] = 40, 40

    assert patch.is_in(beside)
    assert not patch.is_in(inside)
    assert patch.is_in(inside, [Box(85, 210, 155, 280)])

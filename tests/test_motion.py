"""What has changed: the gate says whether anything moves in the whole frame, a patch whether a part looks as it did."""

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
    """A plain grey table with some texture, as a sensor gives it; a thing on it by its place, size and grey level."""
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
def test_the_gate(shown: list[dict], motion: Motion):
    gate = Gate()
    for how in shown:
        gate = update(gate, table(**how))

    assert gate.motion is motion


ZONE = np.array([(20.0, 20.0), (220.0, 20.0), (220.0, 300.0), (20.0, 300.0)])


def zone_with(number: str, *, x: int = 60, y: int = 60) -> np.ndarray:
    """A pale card with a number on a mat, `(320, 240) uint8`."""
    picture = np.full((320, 240), 200, np.uint8)
    cv2.rectangle(picture, (x, y), (x + 100, y + 150), 225, -1)
    cv2.putText(picture, number, (x + 10, y + 90), cv2.FONT_HERSHEY_SIMPLEX, 2.0, 40, 4)
    return picture


def noisy(picture: np.ndarray, seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(0, 4, picture.shape)
    return np.clip(picture + noise, 0, 255).astype(np.uint8)


def lit(picture: np.ndarray, share: float) -> np.ndarray:
    """In light that falls off from left to right."""
    return np.clip(picture * np.linspace(1.0, share, picture.shape[1]), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("share", [1.0, 0.8])
def test_the_same_card_looks_the_same_in_noise_and_in_a_shadow(share: float):
    patch = Patch.of(noisy(zone_with("25"), 1), ZONE)

    assert patch.is_in(lit(noisy(zone_with("25"), 2), share))


@pytest.mark.parametrize(("number", "off_px"), [("50", 0), ("25", 3), ("", 0)])
def test_another_card_or_one_laid_a_little_beside_does_not(number: str, off_px: int):
    patch = Patch.of(noisy(zone_with("25"), 1), ZONE)

    assert not patch.is_in(noisy(zone_with(number, x=60 + off_px), 2))


def test_a_pale_card_on_a_bare_zone_in_dim_light_does_not():
    bare = np.full((320, 240), 110, np.uint8)
    pale = cv2.putText(bare.copy(), "50", (60, 180), cv2.FONT_HERSHEY_SIMPLEX, 2.0, 88, 4)

    assert not Patch.of(noisy(bare, 1), ZONE).is_in(noisy(pale, 2))


def test_what_changes_beside_a_zone_that_is_askew_on_the_picture_is_not_in_it():
    askew = np.array([(120.0, 20.0), (220.0, 160.0), (120.0, 300.0), (20.0, 160.0)])
    patch = Patch.of(zone_with("25"), askew)
    beside, inside = zone_with("25"), zone_with("25")
    beside[30:60, 30:60], inside[230:260, 105:135] = 40, 40

    assert patch.is_in(beside)
    assert not patch.is_in(inside)
    assert patch.is_in(inside, [Box(85, 210, 155, 280)])


def test_a_picture_of_another_size_does_not():
    assert not Patch.of(zone_with("25"), ZONE).is_in(zone_with("25")[:200])

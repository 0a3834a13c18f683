"""The gate: still, moving, or everything changed."""

from __future__ import annotations

import numpy as np
import pytest

from companion.vision.motion import Gate, Motion, update


def table(noise: float = 0.0, seed: int = 0, light: float = 1.0, size: tuple[int, int] = (1080, 1920)) -> np.ndarray:
    """A plain grey table with some texture, as a sensor gives it."""
    rng = np.random.default_rng(seed)
    rows, columns = np.indices(size)
    plain = (110 + 30 * np.sin(rows / 97) + 30 * np.cos(columns / 71)) * light
    seen = np.repeat(plain[:, :, None], 3, axis=2) + (
        rng.standard_normal((*size, 3), np.float32) * noise if noise else 0
    )
    return np.clip(seen, 0, 255).astype(np.uint8)


def after(*images: np.ndarray) -> Gate:
    gate = Gate()
    for image in images:
        gate = update(gate, image)
    return gate


def test_the_first_frame_can_be_compared_with_nothing():
    assert after(table()).motion is Motion.EVERYTHING


@pytest.mark.variants(1)
@pytest.mark.parametrize("noise", [0.0, 4.0, 8.0, 12.0])
def test_sensor_noise_is_no_movement(noise):
    assert after(*(table(noise, seed) for seed in range(4))).motion is Motion.STILL


@pytest.mark.variants(1)
@pytest.mark.parametrize(("x", "y"), [(0, 0), (1000, 500), (1872, 1032)])
def test_a_finger_that_comes_is_movement(x, y):
    touched = table(6.0, seed=1)
    touched[y : y + 48, x : x + 48] = 200

    assert after(table(6.0), touched).motion is Motion.MOVING


def test_what_was_laid_down_is_still_from_the_next_frame_on():
    touched = table()
    touched[300:500, 300:500] = 230

    assert after(table(), table(), touched, touched).motion is Motion.STILL


def test_a_lamp_switched_on_changes_everything():
    assert after(table(), table(), table(light=1.4)).motion is Motion.EVERYTHING


def test_a_little_more_sun_from_frame_to_frame_changes_nothing():
    assert after(table(), table(light=1.02)).motion is Motion.STILL


def test_another_size_of_picture_changes_everything():
    assert after(table(), table(size=(720, 1280))).motion is Motion.EVERYTHING


def test_a_hand_over_half_the_table_is_movement_only():
    half = table()
    half[:, :960] = 240

    assert after(table(), half).motion is Motion.MOVING

"""Whether a part of the picture looks as it did, so that it is not read again."""

from __future__ import annotations

import numpy as np
import pytest

from companion.vision.boxes import Box
from companion.vision.motion import Patch
from companion.vision.opencv import cv2

ZONE = Box(20, 20, 220, 300)


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


def test_a_picture_of_another_size_does_not():
    assert not Patch.of(zone_with("25"), ZONE).is_in(zone_with("25")[:200])

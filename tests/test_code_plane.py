"""How the table lies, told by the codes on it alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pictures import Lens, placed, through

from companion.vision.stickers.code_plane import level_of

CODE_MM = 16.8
MODULE_MM = CODE_MM / 21


def codes_on(lens: Lens, count: int, *, seed: int = 1, size_mm: float = CODE_MM, noise_px: float = 0.1) -> list:
    """The corners of codes lying about on the table, as a camera sees them."""
    chance = np.random.default_rng(seed)
    half = size_mm / 2
    square = [(-half, -half), (half, -half), (half, half), (-half, half)]
    return [
        tuple(map(tuple, through(lens.matrix() @ placed(x, y, turn), square) + chance.normal(0, noise_px, (4, 2))))
        for x, y, turn in zip(
            chance.uniform(-450, 450, count),
            chance.uniform(-250, 250, count),
            chance.uniform(0, 360, count),
            strict=True,
        )
    ]


def worst_scale(lens: Lens, quads: list, seed: int = 2) -> float:
    """By what share other codes on the table come out too large or too small on the plane."""
    fit = level_of(quads)
    sides = [
        np.hypot(*(fit.to_mm([q[0]])[0] - fit.to_mm([q[1]])[0])) for q in codes_on(lens, 40, seed=seed, noise_px=0.0)
    ]
    return max(abs(side / 21 - 1) for side in sides)


@pytest.mark.parametrize("tilt_deg", [0, 15, 30, 45])
def test_a_dozen_codes_tell_how_the_table_is_tilted(tilt_deg):
    lens = Lens(width_mm=1200, tilt_deg=tilt_deg, turn_deg=7)

    assert worst_scale(lens, codes_on(lens, 12)) < 0.06


def test_two_codes_tell_the_scale_between_them():
    lens = Lens(width_mm=1200, tilt_deg=5)

    assert worst_scale(lens, codes_on(lens, 2)) < 0.15


def test_codes_of_another_size_are_left_out():
    lens = Lens(width_mm=1200, tilt_deg=20)
    odd = codes_on(lens, 3, seed=5, size_mm=28.0)

    assert worst_scale(lens, [*codes_on(lens, 12), *odd]) < 0.06


def test_no_code_tells_nothing():
    assert level_of([]) is None


def test_the_plane_goes_there_and_back():
    lens = Lens(width_mm=1000, tilt_deg=25)
    fit = level_of(codes_on(lens, 10))

    assert math.dist(fit.to_px(fit.to_mm([(700.0, 300.0)]))[0], (700.0, 300.0)) < 1e-6

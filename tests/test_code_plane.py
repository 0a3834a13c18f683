"""The table plane by codes alone, and the sticker widths to search for on a mat."""

import numpy as np
import pytest
from pictures import Lens, placed, through

from companion.tabletop.mat_layout import side_mat
from companion.vision.mats.homography import Fit
from companion.vision.stickers.code_plane import SIZES_MM, SMALLER_MM, level_of, still_to_look_for, widths_mm

CODE_MM = 16.8


def codes_on(lens: Lens, count: int, *, seed: int = 1, size_mm: float = CODE_MM, noise_px: float = 0.1) -> list:
    """The corners of codes scattered on the table, as a camera sees them."""
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


def worst_scale(lens: Lens, quads: list) -> float:
    """The relative error of other codes' sizes on the plane."""
    fit = level_of(quads)
    sides = [np.hypot(*(fit.to_mm([q[0]])[0] - fit.to_mm([q[1]])[0])) for q in codes_on(lens, 40, seed=2, noise_px=0.0)]
    return max(abs(side / 21 - 1) for side in sides)


@pytest.mark.parametrize("tilt_deg", [0, 15, 30, 45])
def test_a_dozen_codes_show_the_tables_tilt(tilt_deg):
    lens = Lens(width_mm=1200, tilt_deg=tilt_deg, turn_deg=7)

    assert worst_scale(lens, codes_on(lens, 12)) < 0.06


def test_two_codes_show_the_scale_between_them():
    lens = Lens(width_mm=1200, tilt_deg=5)

    assert worst_scale(lens, codes_on(lens, 2)) < 0.15


def test_codes_of_another_size_are_ignored():
    lens = Lens(width_mm=1200, tilt_deg=20)
    odd = codes_on(lens, 3, seed=5, size_mm=28.0)

    assert worst_scale(lens, [*codes_on(lens, 12), *odd]) < 0.06


def test_without_codes_the_plane_is_unknown():
    assert level_of([]) is None


# Widths

MATRIX = np.array([[1.5, 0.2, 300.0], [-0.1, 1.4, 200.0], [1e-4, 3e-4, 1.0]])
FIT = Fit(side_mat(1), MATRIX, {})


def quad(width_mm: float, x_mm: float, y_mm: float) -> tuple:
    side = width_mm * 21 / 25
    square = [(x_mm + dx * side, y_mm + dy * side) for dx, dy in ((0, 0), (1, 0), (1, 1), (0, 1))]
    return tuple(map(tuple, through(MATRIX, square)))


@pytest.mark.parametrize(
    ("stickers", "told"),
    [
        ([(18.0, 0, 0), (18.0, 200, 50), (18.0, 390, 250)], (18.0,)),
        ([(20.0, 10, 10), (20.5, 100, 10), (28.0, 10, 200), (27.5, 300, 200)], (20.25, 27.75)),
    ],
    ids=["one size", "two sizes"],
)
def test_stickers_are_measured_anywhere_on_the_mat(stickers, told):
    assert widths_mm([quad(*sticker) for sticker in stickers], FIT) == pytest.approx(told, rel=0.01)


@pytest.mark.parametrize(
    ("found", "more"),
    [((20.3,), ()), ((18.0,), (18.0,)), ((18.2, 35.5), (18.2,)), ((22.0, 26.3), (22.0, 26.3)), ((), (SMALLER_MM,))],
)
def test_a_size_between_the_usual_ones_is_searched_separately(found, more):
    assert still_to_look_for(found, SIZES_MM) == more


def test_known_sizes_are_not_extended_for_an_empty_place():
    assert still_to_look_for((), (20.0,)) == ()

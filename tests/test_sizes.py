"""Which widths of stickers are looked for, by those that were read."""

from __future__ import annotations

import numpy as np
import pytest

from companion.tabletop.mat_layout import side_mat
from companion.vision.mats.homography import Fit, through
from companion.vision.stickers.code_plane import SIZES_MM, SMALLER_MM, still_to_look_for, widths_mm

MATRIX = np.array([[1.5, 0.2, 300.0], [-0.1, 1.4, 200.0], [1e-4, 3e-4, 1.0]])
FIT = Fit(side_mat(1), MATRIX, {})


def quad(width_mm: float, x_mm: float, y_mm: float) -> tuple:
    side = width_mm * 21 / 25
    return tuple(
        map(
            tuple,
            through(MATRIX, [(x_mm + dx * side, y_mm + dy * side) for dx, dy in ((0, 0), (1, 0), (1, 1), (0, 1))]),
        )
    )


def test_stickers_are_measured_on_the_mat_wherever_they_lie():
    quads = [quad(18.0, x, y) for x, y in ((0, 0), (200, 50), (390, 250))]

    assert widths_mm(quads, FIT) == pytest.approx((18.0,), rel=0.01)


def test_two_sizes_on_one_table_are_told_apart():
    quads = [quad(20.0, 10, 10), quad(20.5, 100, 10), quad(28.0, 10, 200), quad(27.5, 300, 200)]

    assert widths_mm(quads, FIT) == pytest.approx((20.25, 27.75), rel=0.01)


@pytest.mark.parametrize(
    ("found", "more"),
    [((20.3,), ()), ((18.0,), (18.0,)), ((18.2, 35.5), (18.2,)), ((22.0, 26.3), (22.0, 26.3)), ((), (SMALLER_MM,))],
)
def test_a_size_between_those_looked_for_gets_a_look_of_its_own(found, more):
    assert still_to_look_for(found, SIZES_MM) == more


def test_where_the_sizes_are_known_none_is_added_for_an_empty_place():
    assert still_to_look_for((), (20.0,)) == ()

"""Whether what shows of a card ends where the card does: pictures of rectangles."""

from __future__ import annotations

import numpy as np
import pytest

from companion.vision.faces.edge_ends import share_that_ends, smoothed

PX_PER_MM = 1.2
CORNERS = np.array([(40.0, 30.0), (108.0, 30.0), (108.0, 136.0), (40.0, 136.0)])


def table(card: float = 70.0, ground: float = 50.0, noise: float = 2.0) -> np.ndarray:
    """Grey ground with a card of another lightness at `CORNERS`, and the camera's noise."""
    picture = np.full((170, 150, 3), (ground, 0, 0), np.float32)
    picture[30:136, 40:108, 0] = card
    return smoothed(picture + np.random.default_rng(1).normal(0, noise, picture.shape).astype(np.float32))


def everything() -> np.ndarray:
    return np.ones((170, 150), np.float32)


def test_a_card_ends_on_all_sides() -> None:
    assert share_that_ends(table(), everything(), CORNERS, PX_PER_MM) == 1.0


def test_nothing_ends_on_bare_ground_however_noisy() -> None:
    assert share_that_ends(table(card=50.0, noise=6.0), everything(), CORNERS, PX_PER_MM) == 0.0


def test_an_edge_that_runs_across_is_no_border_of_a_card() -> None:
    picture = np.full((170, 150, 3), (80.0, 0, 0), np.float32)
    picture[:60, :, 0] = 20.0

    assert share_that_ends(smoothed(picture), everything(), CORNERS, PX_PER_MM) < 0.2


def test_borders_beneath_other_cards_do_not_count() -> None:
    picture, shown = table(), everything()
    picture[:, 70:] = (50.0, 0, 0)
    shown[:, 70:] = 0

    assert share_that_ends(picture, shown, CORNERS, PX_PER_MM) == 1.0


@pytest.mark.parametrize("corners", [CORNERS, CORNERS + 1000.0])
def test_where_no_border_is_in_sight_none_ends(corners: np.ndarray) -> None:
    assert share_that_ends(table(), np.zeros((170, 150), np.float32), corners, PX_PER_MM) == 0.0

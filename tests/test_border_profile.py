"""A card's borders tell whether it still lies where another has come to lie upon it."""

from __future__ import annotations

import numpy as np
import pytest
from laid import Laid, Sheet, Table
from photos import photograph
from webcam import Pose, Shot

from companion.tabletop.mat_layout import all_mats
from companion.vision.faces.border_profile import borders_of
from companion.vision.mats.homography import Fit
from companion.vision.mats.localization import Mats, look

MAT = Sheet("side-1", 0, 0, 0, (420, 297))
CAMERA = Pose(px_per_mm=1.8, tilt_deg=10)
OLD = Laid(-20, 70, 2, None, "own 100")


def seen(*cards: Laid) -> tuple[np.ndarray, Fit]:
    photo = photograph(Table(cards=cards, sheets=(MAT,), cloth="felt", seed=4), CAMERA, Shot(noise=2.5), 9)
    mats = look(photo.gray, Mats(), 0.0, all_mats())
    return photo.image, mats.fits[0]


def corners_mm(card: Laid) -> np.ndarray:
    return card.corners_mm() + np.array([210.0, 148.5])


def still_there(*now: Laid, beneath: Laid | None = None) -> bool | None:
    """Whether the old card still lies there, of which the cards above are known."""
    image, fit = seen(OLD)
    before = borders_of(image, fit, corners_mm(OLD), ())
    image, fit = seen(*([beneath] if beneath else []), *now)
    above = [tuple(map(tuple, CAMERA.px(card.corners_mm()))) for card in now if card is not OLD]
    return before.still_there(borders_of(image, fit, corners_mm(OLD), above))


@pytest.mark.variants(1)
@pytest.mark.parametrize(("right", "down"), [(3.0, 2.0), (-2.5, 3.5), (0.0, 20.0), (6.0, -4.0)])
def test_beneath_one_like_it_a_card_still_shows_its_borders(right: float, down: float) -> None:
    other = Laid(OLD.x_mm + right, OLD.y_mm + down, 1, None, "own 100")

    assert still_there(OLD, other) is True


@pytest.mark.variants(1)
@pytest.mark.parametrize(("right", "down"), [(3.0, 2.5), (-4.0, 3.5), (9.0, -6.0)])
def test_a_card_that_was_pushed_takes_its_borders_along(right: float, down: float) -> None:
    pushed = Laid(OLD.x_mm + right, OLD.y_mm + down, 5, None, "own 100")

    assert still_there(pushed) is not True


def test_of_a_card_that_is_covered_whole_nothing_can_be_said() -> None:
    assert still_there(OLD, Laid(OLD.x_mm + 0.2, OLD.y_mm, 2, None, "own stop")) is None


@pytest.mark.long
def test_a_card_that_was_pushed_off_one_with_the_same_borders_lies_there_no_more() -> None:
    beneath = Laid(OLD.x_mm + 0.7, OLD.y_mm + 0.4, 1.5, None, "own 200")
    pushed = Laid(OLD.x_mm - 6, OLD.y_mm - 12, 4, None, "own 100")

    assert still_there(pushed, beneath=beneath) is False
    assert still_there(OLD, pushed, beneath=beneath) is True

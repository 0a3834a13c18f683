"""A card's borders: what shows ends where they are, and they tell whether it still lies below another."""

import numpy as np
import pytest
from laid import Laid, Sheet, Table
from photos import photograph
from webcam import Pose, Shot

from companion.tabletop.mat_layout import all_mats
from companion.vision.faces.border_profile import Borders, borders_of, share_that_ends, smoothed
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


# --- Where a card ends ------------------------------------------------------------------------------------------

PX_PER_MM = 1.2
CORNERS = np.array([(40.0, 30.0), (108.0, 30.0), (108.0, 136.0), (40.0, 136.0)])


def table(card: float = 70.0, ground: float = 50.0, noise: float = 2.0) -> np.ndarray:
    """Grey ground with a card of another lightness at `CORNERS`, and the camera's noise."""
    picture = np.full((170, 150, 3), (ground, 0, 0), np.float32)
    picture[30:136, 40:108, 0] = card
    return smoothed(picture + np.random.default_rng(1).normal(0, noise, picture.shape).astype(np.float32))


EVERYTHING = np.ones((170, 150), np.float32)


def test_a_card_ends_on_all_sides() -> None:
    assert share_that_ends(table(), EVERYTHING, CORNERS, PX_PER_MM) == 1.0


def test_nothing_ends_on_bare_ground_however_noisy() -> None:
    assert share_that_ends(table(card=50.0, noise=6.0), EVERYTHING, CORNERS, PX_PER_MM) == 0.0


def test_an_edge_that_runs_across_is_no_border_of_a_card() -> None:
    picture = np.full((170, 150, 3), (80.0, 0, 0), np.float32)
    picture[:60, :, 0] = 20.0

    assert share_that_ends(smoothed(picture), EVERYTHING, CORNERS, PX_PER_MM) < 0.2


def test_borders_beneath_other_cards_do_not_count() -> None:
    picture, shown = table(), EVERYTHING.copy()
    picture[:, 70:] = (50.0, 0, 0)
    shown[:, 70:] = 0

    assert share_that_ends(picture, shown, CORNERS, PX_PER_MM) == 1.0


@pytest.mark.parametrize("corners", [CORNERS, CORNERS + 1000.0])
def test_where_no_border_is_in_sight_none_ends(corners: np.ndarray) -> None:
    assert share_that_ends(table(), np.zeros((170, 150), np.float32), corners, PX_PER_MM) == 0.0


STEP = np.repeat(np.linspace(-1, 1, 16)[:, None] ** 3 * 10, 3, axis=1)
"""The profile of a border, from outside to inside."""

UNLIKE, VAGUE = (STEP / 2 + np.linspace(-1, 1, 16)[:, None] ** 2 * other for other in (12, 5))
"""No longer like it, and hardly."""


def borders(*profiles: np.ndarray | None) -> Borders:
    """A card whose four borders have these profiles; those that are None are covered, and all of the card is."""
    covered = np.full_like(STEP, np.nan)
    shown = [covered if profile is None else profile for profile in profiles]
    return Borders(np.stack(shown), np.zeros((8, 5, 3), np.float32), np.zeros((8, 5), bool))


@pytest.mark.parametrize(
    ("profiles", "is_there"),
    [
        ((STEP, None, None, None), True),
        ((STEP * 0.6, None, None, None), True),
        ((STEP * 2.5, None, None, None), False),
        ((STEP, -STEP, None, None), None),
        ((STEP * 0.6 + np.sin(np.arange(16))[:, None] * 3, -STEP, None, None), False),
        ((None, None, None, None), None),
    ],
    ids=["as before", "in shadow", "far stronger", "one as before, one not", "one a little alike, one not", "covered"],
)
def test_the_borders_that_show_say_whether_a_card_is_there(profiles: tuple[np.ndarray, ...], is_there: bool) -> None:
    assert borders(STEP, STEP, STEP, STEP).still_there(borders(*profiles)) is is_there


@pytest.mark.parametrize(
    ("profiles", "least", "is_there"),
    [((UNLIKE, None), 2, False), ((UNLIKE, VAGUE), 2, None), ((UNLIKE, None), 1, None)],
)
def test_where_its_like_covers_a_card_it_has_gone_only_if_all_borders_that_show_say_so(
    profiles: tuple[np.ndarray | None, ...], least: int, is_there: bool | None
) -> None:
    assert borders(STEP, STEP, STEP, STEP).still_there(borders(*profiles, None, None), least=least) is is_there

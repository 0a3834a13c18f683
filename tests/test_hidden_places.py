"""What cannot be judged: the bare mat in uneven light, and places beside a hand."""

from dataclasses import replace

import numpy as np
import pytest

from companion.rules.cards import Card
from companion.tabletop.mat_layout import Rect, side_mat
from companion.tracking.looks import SeenTable
from companion.vision import ground, zones
from companion.vision.mats.homography import Fit, corners_mm
from companion.vision.view import CELL_MM, Hidden, MatSeen, Sighting, View

SIZE_MM = (420.0, 297.0)
MAT = MatSeen("side-1", ((0.0, 0.0), (840.0, 0.0), (840.0, 594.0), (0.0, 594.0)), 2.0)
ZONE = "side-1/distance"
ROWS, COLUMNS = 74, 105
ZONES = np.zeros((ROWS, COLUMNS), bool)
ZONES[40:70, 12:93] = ZONES[4:36, 12:50] = True
PAPER, SAND = np.array((220.0, 235, 240)), np.array((150.0, 190, 205))


def sheet(brightest: float, darkest: float) -> np.ndarray:
    """A bare mat under a lamp at its left edge, before clipping."""
    lamp = np.linspace(brightest, darkest, COLUMNS)[None, :, None] * np.linspace(1.0, 0.8, ROWS)[:, None, None]
    return np.where(ZONES[:, :, None], SAND, PAPER) * lamp


@pytest.mark.parametrize("brightest", [0.9, 1.2, 1.6])
def test_the_bare_mat_is_predicted_under_cards_and_a_hand_in_uneven_light(brightest):
    bare = sheet(brightest, 0.4)
    picture = np.minimum(bare, 255)
    picture[45:67, 30:44] = (60, 60, 190)
    picture[45:67, 50:64] = (250, 250, 250)
    picture[10:74, 70:86] = (110, 140, 190)

    found = ground.bare_mat(picture.astype(np.uint8), ZONES, np.ones_like(ZONES))

    off = np.abs(found - np.minimum(bare, 255)).max(axis=2)
    assert np.percentile(off, 90) < 8


@pytest.mark.parametrize("ink", [(160.0, 168.0, 169.0), (90.0, 90.0, 95.0), (215.0, 230.0, 236.0)])
def test_zones_may_be_printed_in_any_ink(ink):
    picture = np.where(ZONES[:, :, None], np.array(ink), PAPER)
    picture[45:67, 30:44] = (60, 60, 190)

    found = ground.bare_mat(picture.astype(np.uint8), ZONES, np.ones_like(ZONES))

    assert np.abs(found[60, 20] - ink).max() < 4
    assert np.abs(found[38, 5] - PAPER).max() < 4


def test_without_anything_to_fit_the_bare_mat_has_the_median_color():
    picture = np.full((ROWS, COLUMNS, 3), (10, 20, 30), np.uint8)
    nowhere = np.zeros_like(ZONES)
    nowhere[0, 0] = True

    assert (ground.bare_mat(picture, ZONES, nowhere) == (10, 20, 30)).all()


def hidden_left_of(x_mm: float) -> Hidden:
    mask = np.zeros((ROWS, COLUMNS), bool)
    mask[:, : round(x_mm / 4)] = True
    return Hidden.of(mask, SIZE_MM)


@pytest.mark.parametrize(("x_mm", "share"), [(100.0, 1.0), (208.0, 0.5), (300.0, 0.0), (415.0, 0.0)])
def test_as_much_of_a_card_is_hidden_as_of_the_cells_around_its_middle(x_mm, share):
    assert hidden_left_of(13 * CELL_MM).share(x_mm, 220.0) == share


@pytest.mark.parametrize("size_mm", [(297.0, 210.0), (420.0, 297.0), (594.0, 210.0)])
def test_mats_of_any_size_are_hidden_altogether_or_not_at_all(size_mm):
    width, height = size_mm
    everywhere = np.ones((max(1, round(height / 4)), max(1, round(width / 4))), bool)

    for hidden, share in ((everywhere, 1.0), (~everywhere, 0.0)):
        assert Hidden.of(hidden, size_mm).share(width / 2, height / 2) == share


def fifty(x_px: float, confidence: float = 0.99) -> Sighting:
    quad = tuple((x_px + dx, 440.0 + dy) for dx, dy in ((-20, -20), (20, -20), (20, 20), (-20, 20)))
    return Sighting(Card.KM_50, f"50-{x_px:02.0f}"[:5], (x_px, 440.0), quad, ZONE, False, confidence, "sticker")


def test_a_card_beside_a_hand_counts_at_once_and_one_below_it_does_not():
    bare = View(0.0, (MAT,), ())
    beside, below = (fifty(x_px) for x_px in (700.0, 200.0))
    hand = {"unknown_zones": frozenset({ZONE}), "hidden": {"side-1": hidden_left_of(208.0)}}
    looks, _ = SeenTable().after(bare)

    _, (look,) = looks.after(View(0.2, (MAT,), (beside, below), **hand))

    assert [spot.card for spot in look.spots] == [beside.card]
    assert not look.is_visible
    assert [look.places.show(spot.at_mm) for spot in look.spots] == [True]


def test_where_no_places_are_told_an_unknown_zone_is_hidden_altogether():
    view = View(0.2, (MAT,), (fifty(700.0),), unknown_zones=frozenset({ZONE}))

    _, looks = SeenTable().after(replace(view, t_s=0.0))[0].after(view)

    assert all(look.spots == () for look in looks)


def test_a_face_that_was_only_seen_beside_a_hand_is_another_card_when_it_comes_back_later():
    hand = {"unknown_zones": frozenset({ZONE}), "hidden": {"side-1": hidden_left_of(208.0)}}
    by_face = replace(fifty(700.0), card=None, by="face", stay=1000)
    looks, _ = SeenTable().after(View(0.0, (MAT,), ()))
    looks, _ = looks.after(View(0.2, (MAT,), (by_face,), **hand))
    (first,) = looks.zones[ZONE].spots

    for t_s in (0.4, 1.5):
        looks, _ = looks.after(View(t_s, (MAT,), ()))
    looks, _ = looks.after(View(1.7, (MAT,), (replace(by_face, stay=2000),)))

    assert [spot.number > first.number for spot in looks.zones[ZONE].spots] == [True]


@pytest.mark.parametrize("numbered_by", ["hand beside it", "hand away"])
def test_a_face_beside_a_hand_is_one_card_whatever_its_number_until_the_hand_is_away(numbered_by):
    hand = {"unknown_zones": frozenset({ZONE}), "hidden": {"side-1": hidden_left_of(208.0)}}
    first = {} if numbered_by == "hand away" else hand
    looks, _ = SeenTable().after(View(0.0, (MAT,), ()))
    by_face = replace(fifty(700.0), card=None, by="face")

    looks, _ = looks.after(View(0.2, (MAT,), (replace(by_face, stay=1000),), **first))
    looks, _ = looks.after(View(0.4, (MAT,), (replace(by_face, stay=2000),)))

    spots = [spot for spot in looks.zones[ZONE].spots if spot.lost_s is None]
    assert [(spot.stay, spot.looks) for spot in spots] == [(2000, 1 if numbered_by == "hand away" else 2)]


def test_a_gray_phone_on_a_card_of_a_dim_mat_is_no_bare_ground():
    fit = Fit(side_mat(1), np.diag([2.0, 2.0, 1.0]), {})
    height, width = zones._sheet_size(fit.layout)[::-1]
    in_zones = zones._in_zones(fit.layout)
    ground_now = np.where(in_zones[:, :, None], (97, 115, 118), (140, 160, 165))
    dim = np.uint8(ground_now + np.random.default_rng(1).normal(0, 1, (height, width, 3)))
    with_card, with_phone, cleared = dim.copy(), dim.copy(), dim
    place = zones._slices(Rect(120.0, 180.0, 57.0, 88.0))
    with_card[place], with_phone[place] = (60, 60, 150), (101, 104, 99)
    nothing = np.zeros((height, width), np.uint8)

    def is_hidden(now: np.ndarray) -> bool:
        memory = zones.MatMemory(fit, now, with_card, dim, nothing > 0, nothing + 9, nothing)
        return zones.is_hidden({"side-1": memory}, "side-1", corners_mm(Rect(120.0, 180.0, 57.0, 88.0)))

    assert is_hidden(with_phone)
    assert not is_hidden(cleared)

"""A place on a printed mat: the mat's own print is never taken for an object."""

from functools import cache

import cv2
import numpy as np
import pytest

from companion.printing import mats, render
from companion.tabletop.mat_layout import Rect, side_mat
from companion.vision.mats.homography import Fit, corners_mm
from companion.vision.mats.printed_ground import PrintedGround

PX_PER_MM = 3.0
LAYOUT = side_mat(2)
SPEED, SAFETY = LAYOUT.zones["speed"], LAYOUT.zones["safety"]
FIFTIES = LAYOUT.columns[1]
STICKER_MM = 20.0


@cache
def sheet(language: str) -> np.ndarray:
    return render.to_image(mats.mat_svg(LAYOUT, language), PX_PER_MM)


def ground(image: np.ndarray) -> PrintedGround:
    noise = np.random.default_rng(1).normal(0, 2, image.shape)
    matrix = np.diag((PX_PER_MM, PX_PER_MM, 1.0))
    soft = cv2.GaussianBlur(image, (0, 0), 0.8)
    return PrintedGround(np.uint8(np.clip(soft + noise, 0, 255)), Fit(LAYOUT, matrix, {}))


def quad(x_mm: float, y_mm: float, width_mm: float = STICKER_MM, height_mm: float = STICKER_MM) -> np.ndarray:
    return corners_mm(Rect(x_mm, y_mm, width_mm, height_mm)) * PX_PER_MM


PLACES = {
    "the D of SPEED": quad(SPEED.x_mm + 44, SPEED.y_mm + 3),
    "the sign of SPEED": quad(SPEED.x_mm + 2, SPEED.y_mm + 3),
    "a printed number": quad(FIFTIES.x_mm + 3, FIFTIES.y_mm + 2),
    "a printed milestone": quad(FIFTIES.x_mm + 43, FIFTIES.y_mm + 3),
    "a card's outline": quad(SAFETY.x_mm + 8, SAFETY.y_mm + 36, 57, 88),
    "the line between columns": quad(FIFTIES.x_mm - 10, FIFTIES.y_mm + 60),
}


@pytest.mark.parametrize("language", ["en", "pl"])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_bare_print_is_no_object(place, language):
    assert ground(sheet(language)).log_ratio(place) < 0


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("light", [0.35, 0.7, "shadow", "warm"])
def test_bare_print_is_no_object_in_any_light(place, light):
    image = sheet("en")
    if light == "shadow":
        soft = cv2.GaussianBlur(np.where(np.arange(image.shape[1]) < 500, 0.7, 1.0)[None], (61, 1), 12)
        image = np.uint8(image * soft[..., None])
    else:
        image = np.uint8(image * np.array((0.7, 0.9, 1.0) if light == "warm" else (light,) * 3))
    assert ground(image).log_ratio(place) < 0


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("paper", [(250, 250, 250), (60, 60, 200), (40, 40, 40)], ids=["white", "red", "black"])
def test_a_card_on_the_print_is_an_object(place, paper):
    image = sheet("en").copy()
    left, top = (round(v) for v in place.mean(axis=0) - np.array((28, 44)) * PX_PER_MM)
    cv2.rectangle(image, (left, max(top, 0)), (left + 171, max(top, 0) + 264), paper, -1)
    assert ground(image).log_ratio(place) > 0


def test_burnt_out_paper_is_no_evidence():
    image = np.uint8(np.clip(sheet("en") * 1.5, 0, 255))
    assert ground(image).log_ratio(PLACES["a card's outline"]) == 0


def test_nothing_is_known_beside_the_zones():
    assert ground(sheet("en")).log_ratio(quad(2, 100)) == 0


# --- Objects that cross a zone's rim ------------------------------------------------------------------------------

DISTANCE = LAYOUT.zones["distance"]
TOP = Rect(FIFTIES.x_mm + 4, DISTANCE.y_mm + 2, 50.0, 40.0)
BOTTOM = Rect(FIFTIES.x_mm + 4, DISTANCE.y_mm + DISTANCE.height_mm - 42, 50.0, 40.0)
RIGHT = Rect(DISTANCE.x_mm + DISTANCE.width_mm - 52, DISTANCE.y_mm + 50, 50.0, 40.0)
STRIPS = {"top": TOP, "bottom": BOTTOM, "right": RIGHT}


def with_object(place: Rect, colour: tuple[int, int, int]) -> np.ndarray:
    image = sheet("en").copy()
    corners = np.int32((corners_mm(place) * PX_PER_MM).round())
    cv2.fillConvexPoly(image, corners, colour)
    return image


@pytest.mark.parametrize("language", ["en", "pl"])
@pytest.mark.parametrize("light", [0.5, 1.0, "warm"])
@pytest.mark.parametrize("strip", STRIPS.values(), ids=STRIPS)
def test_nothing_crosses_the_rim_of_a_bare_zone(strip, light, language):
    gain = (0.7, 0.9, 1.0) if light == "warm" else (light,) * 3

    assert not ground(np.uint8(sheet(language) * np.array(gain))).crosses_rim(strip, DISTANCE)


@pytest.mark.parametrize("colour", [(15, 15, 15), (60, 150, 60), (110, 140, 190)], ids=["phone", "cup", "hand"])
@pytest.mark.parametrize("strip", STRIPS.values(), ids=STRIPS)
def test_an_object_that_goes_on_beyond_the_zone_crosses_its_rim(strip, colour):
    lower = Rect(strip.x_mm - 5, strip.y_mm - 25, strip.width_mm + 30, strip.height_mm + 50)

    assert ground(with_object(lower, colour)).crosses_rim(strip, DISTANCE)


@pytest.mark.parametrize("colour", [(245, 245, 245), (15, 15, 15), (60, 150, 60)], ids=["white", "dark", "green"])
@pytest.mark.parametrize("strip", STRIPS.values(), ids=STRIPS)
def test_a_card_inside_a_zone_does_not_cross_its_rim(strip, colour):
    assert not ground(with_object(strip, colour)).crosses_rim(strip, DISTANCE)

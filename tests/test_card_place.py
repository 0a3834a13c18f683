"""A sticker tells its card's rectangle once other cards have shown where the deck's stickers are glued."""

from dataclasses import replace

import numpy as np
import pytest

from companion.rules.cards import Card
from companion.tabletop.card_ids import face_of
from companion.tabletop.mat_layout import CARD_MM, side_mat
from companion.vision.mats.homography import Fit, as_quad
from companion.vision.mats.localization import Mats
from companion.vision.mats.zone_borders import settled
from companion.vision.stickers.card_place import StickerPlace, covering
from companion.vision.view import STICKER, Sighting

PX_PER_MM = 3.0
MATS = Mats(fits=(Fit(side_mat(1), np.diag([PX_PER_MM, PX_PER_MM, 1.0]), {}),))
ZONES = side_mat(1).zones
BATTLE, SPEED, SAFETY = "side-1/battle", "side-1/speed", "side-1/safety"
CODE = np.array([(-7, -7), (7, -7), (7, 7), (-7, 7)])
CORNER = (15.0, 30.0)  # from a sticker near a card's upper left corner to the card's middle
CARDS = ("roll-01", "stop-01", "25-01", "repairs-02", "75-03", "50-04")


def turned(points, degrees):
    turn = np.radians(degrees)
    return np.atleast_2d(points) @ np.array([(np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))])


def sticker(card: str, zone: str, middle_mm, *, glued=CORNER, turn_deg: float = 0.0, code_deg: float = 0.0) -> Sighting:
    """Return the sticker of a card with its middle somewhere on the mat, turned; its code is turned on the card too."""
    at = np.array(middle_mm) - turned(glued, turn_deg)[0]
    corners = PX_PER_MM * (at + turned(CODE, turn_deg + code_deg))
    middle = corners.mean(axis=0)
    return Sighting(face_of(card), card, (middle[0], middle[1]), as_quad(corners), zone, False, 0.99, STICKER)


def in_zone(card: str, zone: str, off_mm=(0.0, 0.0), **how) -> Sighting:
    return sticker(card, zone, np.add(ZONES[zone.partition("/")[2]].centre_mm, off_mm), **how)


def learned(**how) -> StickerPlace:
    """Return what six cards tell that lie askew in battle and speed zone, half of them turned by 180°."""
    place, rng = StickerPlace(), np.random.default_rng(1)
    for number, card in enumerate(CARDS):
        zone, turn_deg = (BATTLE, SPEED)[number % 2], 180 * (number // 2 % 2)
        seen = in_zone(card, zone, rng.normal(0, (4, 9)), turn_deg=turn_deg + rng.normal(0, 3), **how)
        place = place.after([seen], MATS)
    return place


def middle_mm(sighting: Sighting) -> np.ndarray:
    return np.array(sighting.middle_px) / PX_PER_MM


def test_before_any_card_a_card_may_be_anywhere_around_its_sticker():
    seen = in_zone("roll-03", BATTLE)

    placed = StickerPlace().placed(MATS, seen)

    assert middle_mm(placed) == pytest.approx(np.array(seen.centre_px) / PX_PER_MM)
    assert placed.card_sd_mm > 20


@pytest.mark.parametrize("turn_deg", [0, 90, 180, 270])
def test_after_six_cards_a_sticker_tells_its_card_however_it_is_turned(turn_deg):
    placed = learned().placed(MATS, in_zone("200-01", SAFETY, turn_deg=turn_deg))

    assert np.hypot(*(middle_mm(placed) - ZONES["safety"].centre_mm)) < 8
    assert placed.card_sd_mm < 10
    corners = np.array(placed.card_px) / PX_PER_MM
    assert np.ptp(corners, axis=0) == pytest.approx(CARD_MM[::-1] if turn_deg % 180 else CARD_MM, abs=0.1)
    assert placed.sideways is bool(turn_deg % 180)


def test_stickers_may_be_glued_on_sideways():
    place = learned(code_deg=90)

    upright, sideways = (in_zone("right-of-way-01", SAFETY, turn_deg=turn, code_deg=90) for turn in (0, 90))

    assert [place.placed(MATS, seen).sideways for seen in (upright, sideways)] == [False, True]
    assert np.hypot(*(middle_mm(place.placed(MATS, sideways)) - ZONES["safety"].centre_mm)) < 8


def test_a_sideways_safety_is_in_its_zone_although_its_sticker_is_in_another():
    safety = sticker("driving-ace-01", SPEED, (236.0, 80.0), turn_deg=270)

    assert settled(MATS, safety).zone == SPEED
    assert settled(MATS, learned().placed(MATS, safety)).zone == SAFETY


def test_a_card_between_two_zones_does_not_make_itself_sure():
    between = in_zone("roll-03", BATTLE, (22.0, 0.0), glued=(0, 0))
    place = StickerPlace().after([between], MATS)

    assert middle_mm(place.placed(MATS, between)) == pytest.approx(np.array(between.centre_px) / PX_PER_MM)
    assert middle_mm(place.placed(MATS, replace(between, card="roll-04")))[0] < middle_mm(between)[0]


def test_a_sticker_that_cannot_be_on_a_card_in_the_middle_tells_nothing():
    assert StickerPlace().after([in_zone("roll-03", BATTLE, (30.0, 0.0), glued=(0, 0))], MATS).samples == ()


def test_a_card_that_stays_counts_once():
    seen, moved = (in_zone("roll-03", BATTLE, (0.0, y)) for y in (0.0, 20.0))

    place = StickerPlace().after([seen], MATS).after([seen], MATS)

    assert len(place.samples) == 1
    assert len(place.after([moved], MATS).samples) == 2


# A sticker under another zone's card


def beneath(zone: str) -> tuple[Sighting, Sighting]:
    """Return a sideways safety's sticker at the speed zone's edge, and a card in a zone that lies on it."""
    safety = sticker("driving-ace-01", SAFETY, (240.0, 80.0), turn_deg=270)
    upper = learned().placed(MATS, replace(in_zone("stop-02", SPEED, (12.0, 0.0)), zone=zone))
    return safety, upper


def test_a_card_is_still_there_if_a_new_card_of_another_zone_lies_on_its_sticker():
    safety, upper = beneath(SPEED)

    assert [*covering([safety], [upper], [safety], {})] == [("driving-ace-01", "stop-02")]
    assert [*covering([safety], [upper], [safety, upper], {"driving-ace-01": "stop-02"})] != []


@pytest.mark.parametrize("why", ["it lay there before", "it is in the same zone", "it lies elsewhere"])
def test_a_card_has_gone_if_no_new_card_of_another_zone_lies_on_its_sticker(why):
    safety, upper = beneath(SAFETY if why == "it is in the same zone" else SPEED)
    before = [safety, upper] if why == "it lay there before" else [safety]
    if why == "it lies elsewhere":
        upper = learned().placed(MATS, in_zone("stop-02", BATTLE))

    assert [*covering([safety], [upper], before, {})] == []


def test_faces_keep_their_corners():
    face = Sighting(Card.ROLL, None, (100.0, 100.0), as_quad(CODE), BATTLE, False, 0.99, "face")

    assert learned().placed(MATS, face) is face

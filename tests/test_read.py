"""One frame to one view: zones, sideways cards, what may be said and what not."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest
from pictures import DECK, Lens, Mat, Scene, Sticker, on_mat, picture

from companion.rules.cards import Card
from companion.rules.editions.edition import load_edition
from companion.tabletop.mat_layout import side_mat, table_mat
from companion.vision.boxes import Box, around, merged
from companion.vision.capture.sources import Frame
from companion.vision.mats.localization import Mats, search
from companion.vision.read import gray_of, read, read_pictures
from companion.vision.view import View

SIDE, TABLE = Mat(side_mat(1), -385, -150, 2), Mat(table_mat(), 75, -100)
LAYOUTS = (SIDE.layout, TABLE.layout)
LENS = Lens(width_mm=850, tilt_deg=15)
HAND = (
    on_mat(SIDE, "battle", "MB1:ROLL-03"),
    on_mat(SIDE, "speed", "MB1:SPEED-LIMIT-01", turn_deg=8),
    on_mat(SIDE, "safety", "MB1:RIGHT-OF-WAY-01", dx_mm=-40),
    on_mat(SIDE, "safety", "MB1:DRIVING-ACE-01", dx_mm=30, turn_deg=90),
    on_mat(SIDE, "distance", "MB1:25-02", dx_mm=-130),
    on_mat(SIDE, "distance", "MB1:100-12", dx_mm=65, dy_mm=-40, turn_deg=-12),
    on_mat(TABLE, "discard", "MB1:GASOLINE-06", turn_deg=180),
)


def frame_of(*stickers: Sticker, mats: tuple[Mat, ...] = (SIDE, TABLE), t_s: float = 0.0, lens: Lens = LENS) -> Frame:
    return Frame(picture(Scene(mats=mats, stickers=stickers), lens), t_s)


def mats_on(frame: Frame) -> Mats:
    return search(gray_of(frame.image), Mats(), LAYOUTS, 0.0)


@cache
def seen_of(*stickers: Sticker) -> tuple[Mats, View]:
    """The mats and what lies on them, as they are seen at first."""
    frame = frame_of(*stickers)
    mats = mats_on(frame)
    return mats, read(frame, mats)


def round_(at: tuple[float, float]) -> Box:
    """What is read again round a place."""
    x, y = map(int, at)
    return Box(x - 90, y - 90, x + 90, y + 90)


def where_cards_lie(view: View) -> dict[str | None, str | None]:
    return {sighting.card: sighting.zone for sighting in view.sightings}


def test_every_card_is_seen_in_its_zone_and_one_that_is_turned_a_quarter_lies_sideways():
    _, view = seen_of(*HAND)

    assert where_cards_lie(view) == {
        "roll-03": "side-1/battle", "speed-limit-01": "side-1/speed", "right-of-way-01": "side-1/safety",
        "driving-ace-01": "side-1/safety", "25-02": "side-1/distance", "100-12": "side-1/distance",
        "gasoline-06": "table/discard",
    }  # fmt: skip
    assert view.unknown_zones == frozenset()
    assert [mat.id for mat in view.mats] == ["side-1", "table"]
    assert [sighting.card for sighting in view.sightings if sighting.sideways] == ["driving-ace-01"]


def test_sideways_is_told_by_the_mat_however_the_mat_lies():
    turned = Mat(side_mat(1), 150, -220, 90)
    frame = frame_of(
        on_mat(turned, "safety", "MB1:EXTRA-TANK-01", dx_mm=-40),
        on_mat(turned, "safety", "MB1:DRIVING-ACE-01", dx_mm=30, turn_deg=-90),
        mats=(turned,),
        lens=Lens(width_mm=900),
    )

    view = read(frame, mats_on(frame))

    assert {s.card: s.sideways for s in view.sightings} == {"extra-tank-01": False, "driving-ace-01": True}


def test_a_card_off_the_mats_has_no_zone():
    frame = frame_of(Sticker("MB1:ROLL-03", 0, 180))

    assert where_cards_lie(read(frame, mats_on(frame))) == {"roll-03": None}


def test_outside_of_what_is_read_again_the_earlier_sightings_stand():
    mats, before = seen_of(*HAND)
    box = round_(next(s for s in before.sightings if s.card == "roll-03").centre_px)

    taken = read(frame_of(*HAND[1:], t_s=1.0), mats, where=[box], before=before)

    assert where_cards_lie(taken).keys() == where_cards_lie(before).keys() - {"roll-03"}
    assert len(taken.sightings) == len(HAND) - 1


@pytest.mark.parametrize("is_second", [False, True], ids=["carried there", "a second copy makes both unknown"])
def test_a_card_laid_into_the_part_that_is_read(is_second):
    mats, before = seen_of(HAND[0])
    box = round_(mats.of("table").quad_px(table_mat().zones["discard"]).mean(axis=0))
    there = on_mat(TABLE, "discard", "MB1:ROLL-03")

    found = read(frame_of(*HAND[:is_second], there), mats, where=[box], before=before)

    unknown = [(Card.UNKNOWN, "side-1/battle"), (Card.UNKNOWN, "table/discard")]
    assert sorted((s.face, s.zone) for s in found.sightings) == (
        unknown if is_second else [(Card.ROLL, "table/discard")]
    )


def said_of(folder: Path, frame: Frame, **how: object) -> dict:
    """What is said of a picture file."""
    cv2.imwrite(str(folder / "a.png"), frame.image)
    (said,) = read_pictures([folder / "a.png"], **how)
    return said


def test_pictures_become_the_json_of_the_contract(tmp_path):
    said = said_of(tmp_path, frame_of(HAND[0], HAND[3]))

    assert (said["image"], said["width"], said["height"]) == (str(tmp_path / "a.png"), 1920, 1080)
    assert [mat["id"] for mat in said["mats"]] == ["side-1", "table"]
    card = next(card for card in said["cards"] if card["card"] == "roll-03")
    assert set(card) == {"face", "card", "centre_px", "corners_px", "sideways", "confidence", "by", "zone"}
    assert (card["face"], card["by"], card["zone"], card["sideways"]) == ("roll", "sticker", "side-1/battle", False)
    assert np.shape(card["corners_px"]) == (4, 2)


def test_a_mirrored_picture_is_read_and_its_places_are_those_of_the_picture_as_given(tmp_path):
    frame = frame_of(*HAND)
    straight = said_of(tmp_path, frame)

    said = said_of(tmp_path, replace(frame, image=cv2.flip(frame.image, 1)))

    assert said["mirrored"]
    assert "mirrored" not in straight
    assert len(said["cards"]) == len(HAND)
    for what in ("mats", "cards"):
        for one, as_it_lies in zip(said[what], straight[what], strict=True):
            corners = [[frame.image.shape[1] - 1 - x, y] for x, y in as_it_lies["corners_px"]]
            assert np.array(one["corners_px"]) == pytest.approx(np.array(corners), abs=0.2)
            assert {key: one[key] for key in one if not key.endswith("_px")} == {
                key: as_it_lies[key] for key in as_it_lies if not key.endswith("_px")
            }


def test_two_cards_with_one_sticker_are_unknown_and_say_which_sticker_it_is(tmp_path):
    said = said_of(tmp_path, frame_of(*HAND[:2], on_mat(TABLE, "discard", "MB1:ROLL-03")))

    assert [(card["face"], card["card"], card["zone"]) for card in said["cards"] if card.get("twice") == "roll-03"] == [
        ("unknown", None, "side-1/battle"),
        ("unknown", None, "table/discard"),
    ]
    assert [card["card"] for card in said["cards"] if "twice" not in card] == ["speed-limit-01"]


@pytest.mark.parametrize("zone", ["battle", "discard"])
def test_where_one_of_two_cards_with_one_sticker_is_read_again_both_stay_unknown(zone):
    frame = frame_of(*HAND[:2], on_mat(TABLE, "discard", "MB1:ROLL-03"))
    mats = mats_on(frame)
    before = read(frame, mats)
    (one,) = (s for s in before.sightings if s.twice and s.zone is not None and s.zone.endswith(zone))

    again = read(frame, mats, where=[around(one.corners_px).padded(20)], before=before)

    assert sorted(str(s.card or s.twice) for s in again.sightings) == ["roll-03", "roll-03", "speed-limit-01"]
    assert [s.card for s in again.sightings if s.card] == ["speed-limit-01"]


def test_pictures_without_mats_are_read_just_the_same(tmp_path):
    said = said_of(tmp_path, frame_of(Sticker("MB1:STOP-01", 0, 0, 90), mats=()))

    assert said["mats"] == []
    assert [(card["card"], card["zone"], card["sideways"]) for card in said["cards"]] == [("stop-01", None, True)]


def test_a_card_of_another_edition_is_unknown_and_named_as_that(tmp_path):
    said = said_of(tmp_path, frame_of(*HAND[:2]), allowed=frozenset(DECK) - {"roll-03"})

    cards = {card.get("foreign", card["card"]): card for card in said["cards"]}
    stranger = cards.pop("roll-03")
    assert (stranger["face"], stranger["card"], stranger["confidence"]) == ("unknown", None, 0.0)
    assert [name for name, card in cards.items() if "foreign" in card] == []


def test_a_picture_that_cannot_be_read_says_so_and_the_others_follow(tmp_path):
    good = tmp_path / "good.png"
    cv2.imwrite(str(good), frame_of(HAND[0]).image)

    missing, read_one = read_pictures([tmp_path / "none.png", good])

    assert "not found: check the path" in missing["problem"]
    assert len(read_one["cards"]) == 1


@pytest.mark.parametrize("tilt_deg", [0.0, 30.0])
def test_a_full_table_is_read_without_a_miss(tilt_deg):
    cards = iter(DECK[::3])
    laid = [
        on_mat(SIDE, zone, "MB1:" + next(cards).upper(), dx_mm=dx, dy_mm=dy)
        for zone, columns in (
            ("battle", [0]),
            ("speed", [0]),
            ("safety", [-50, 0, 50]),
            ("distance", range(-130, 131, 65)),
        )
        for dx in columns
        for dy in (-45, -10, 25)
    ]
    frame = frame_of(*laid, lens=Lens(width_mm=850, tilt_deg=tilt_deg))

    view = read(frame, mats_on(frame), allowed=frozenset(DECK))

    assert sorted(f"{s.card}" for s in view.sightings) == sorted(s.text[4:].lower() for s in laid)
    assert {s.face for s in view.sightings} <= set(load_edition("classic").deck)


def test_boxes_that_touch_become_one():
    boxes = [Box(0, 0, 10, 10), Box(30, 30, 40, 40), Box(8, 8, 31, 31), Box(60, 0, 70, 10)]

    assert sorted(merged(boxes)) == [Box(0, 0, 40, 40), Box(60, 0, 70, 10)]

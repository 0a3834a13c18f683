"""Zones without mats: drawn in the setup file or on the page, checked, kept, and seen like mats."""

from __future__ import annotations

import json
import os

import pytest

from companion.drawn_zones import FILE_NAME, Drawing, DrawnZones, Seat, check_sides, parse_drawing
from companion.errors import Problem

PICTURE = [1280, 720]
BATTLE = {"name": "side-1/battle", "rect": [100, 100, 120, 220]}
DISTANCE = {"name": "side-1/distance", "rect": [100, 360, 500, 220]}


def drawn(*zones: dict, picture: object = PICTURE) -> Drawing | None:
    return parse_drawing({"picture": picture, "zone": list(zones)})


def test_a_rectangle_has_its_corners_in_order():
    drawing = drawn(BATTLE, DISTANCE)

    assert drawing.zones[0].corners == ((100, 100), (220, 100), (220, 320), (100, 320))
    assert drawing.mats == ("side-1",)


@pytest.mark.parametrize(
    ("seat", "first"), [("bottom", (100, 100)), ("left", (220, 100)), ("top", (220, 320)), ("right", (100, 320))]
)
def test_the_seat_says_which_corner_is_the_players_top_left(seat, first):
    drawing = drawn({**BATTLE, "seat": seat}, DISTANCE)

    assert drawing.zones[0].seen_by_player[0] == first


def test_corners_named_the_other_way_round_are_put_in_order():
    corners = [[100, 100], [100, 320], [220, 330], [220, 90]]

    drawing = drawn({"name": "side-1/battle", "corners": corners}, DISTANCE)

    assert drawing.zones[0].corners == ((100, 100), (220, 90), (220, 330), (100, 320))


def test_nothing_drawn_is_no_drawing():
    assert parse_drawing({}) is None


@pytest.mark.parametrize(
    ("zones", "sentence"),
    [
        ([{**BATTLE, "name": "side-1/kitchen"}], "no zone 'side-1/kitchen'"),
        ([{**BATTLE, "name": "side-9/battle"}], "no zone 'side-9/battle'"),
        ([{"rect": [1, 2, 3, 4]}], "no zone 'None'"),
        ([{**BATTLE, "name": ["side-1/battle"]}], "no zone"),
        ([{**BATTLE, "colour": "red"}], "unknown key 'colour'"),
        ([{"name": "side-1/battle"}], "either rect .* or corners"),
        ([{**BATTLE, "corners": [[0, 0]] * 4}], "either rect .* or corners"),
        ([{**BATTLE, "rect": [1, 2, 3]}], "'rect' of 'side-1/battle' is four numbers"),
        ([{**BATTLE, "rect": [1, 2, -30, 40]}], "'rect' of 'side-1/battle' is four numbers"),
        ([{**BATTLE, "rect": [1, 2, True, 40]}], "'rect' of 'side-1/battle' is four numbers"),
        ([{**BATTLE, "rect": [float("nan"), 2, 30, 40]}], "'rect' of 'side-1/battle' is four numbers"),
        ([{"name": "side-1/battle", "corners": [[0, 0], [9, 9]]}], "are four points"),
        ([{"name": "side-1/battle", "corners": [[0, 0], [9, 9], [9, 0], [0, "9"]]}], "are four points"),
        ([{"name": "side-1/battle", "corners": [[0, 0], [90, 90], [90, 0], [0, 90]]}], "without crossing"),
        ([{"name": "side-1/battle", "corners": [[0, 0], [90, 0], [20, 20], [0, 90]]}], "without crossing"),
        ([{**BATTLE, "seat": "middle"}], "'seat' of 'side-1/battle' is bottom, left, top or right"),
        ([{**BATTLE, "zone_mm": [74]}], "'zone_mm' of 'side-1/battle' is width and height"),
        ([{**BATTLE, "zone_mm": [7, 13]}], "'zone_mm' of 'side-1/battle' is width and height"),
        ([BATTLE, BATTLE], "'side-1/battle' is drawn twice"),
        ([{**BATTLE, "rect": [1200, 100, 120, 220]}], "reaches out of the picture, which is 1280 × 720"),
        ([{**BATTLE, "rect": [100, 100, 12, 220]}], "is too small"),
        ([BATTLE, {**DISTANCE, "rect": [100, 300, 500, 220]}], "'side-1/battle' and 'side-1/distance' overlap"),
        ([BATTLE], "side-1 has no distance zone"),
        ([DISTANCE], "side-1 has no battle zone"),
        ([3], r"each zone is a \[\[zone\]\] table"),
    ],
)
def test_what_cannot_be_is_refused_with_one_sentence(zones, sentence):
    with pytest.raises(ValueError, match=rf"{sentence}.*\.$") as refused:
        drawn(*zones)

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("picture", [None, [1280], [1280, 720.5], ["1280", "720"], [0, 0], [10**9, 10**9], 1280])
def test_the_picture_that_was_drawn_on_has_a_size(picture):
    with pytest.raises(ValueError, match="'picture' is the size"):
        drawn(BATTLE, DISTANCE, picture=picture)


def test_a_picture_without_zones_is_refused():
    with pytest.raises(ValueError, match=r"no \[\[zone\]\] is drawn"):
        parse_drawing({"picture": PICTURE})


def test_zones_may_touch_and_overlap_by_a_hair():
    assert drawn(BATTLE, {**DISTANCE, "rect": [100, 316, 500, 220]}) is not None


def test_quadrilaterals_whose_boxes_overlap_may_lie_side_by_side():
    slanted = [[100, 100], [200, 100], [400, 300], [300, 300]]
    beside = [[230, 100], [330, 100], [530, 300], [430, 300]]

    assert drawn(
        {"name": "side-1/battle", "corners": slanted},
        {"name": "side-1/speed", "corners": beside},
        DISTANCE,
    )


@pytest.mark.parametrize(
    ("sides", "sentence"),
    [
        ({"side-1": "Ann", "side-2": "Bob"}, "Bob plays on side-2, and no zone 'side-2/battle' is drawn"),
        ({"side-2": "Bob"}, "Bob plays on side-2"),
        ({}, "zones of side-1 are drawn, and no side plays there"),
    ],
)
def test_who_plays_has_zones_and_zones_have_who_plays(sides, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_sides(drawn(BATTLE, DISTANCE), sides)


def test_the_table_alone_may_be_drawn_beside_printed_mats():
    drawing = drawn({"name": "table/discard", "rect": [600, 100, 120, 220]})

    assert check_sides(drawing, {"side-1": "Ann", "side-2": "Bob"}) is None


def test_a_drawing_is_kept_and_read_back(tmp_path):
    drawing = drawn({**BATTLE, "seat": "left", "zone_mm": [74, 136]}, DISTANCE)
    zones = DrawnZones(tmp_path)
    zones.save(drawing)

    again = DrawnZones(tmp_path)

    assert zones.current == again.current == drawing
    assert again.current.zones[0].seat is Seat.LEFT


def test_forgotten_zones_are_gone(tmp_path):
    zones = DrawnZones(tmp_path)
    zones.save(drawn(BATTLE, DISTANCE))
    zones.forget()
    zones.forget()

    assert (zones.current, DrawnZones(tmp_path).current) == (None, None)


def test_the_setup_file_wins_over_what_is_kept(tmp_path):
    kept, given = drawn(BATTLE, DISTANCE), drawn(BATTLE, DISTANCE, picture=[1920, 1080])
    DrawnZones(tmp_path).save(kept)

    assert DrawnZones(tmp_path, given).current == given


@pytest.mark.parametrize("text", ["", "3", "{", '{"picture": [3, 4], "zone": [{}]}', "[" * 100_000, "\x00\xff"])
def test_a_damaged_file_is_told_and_nothing_is_drawn(tmp_path, text):
    (tmp_path / FILE_NAME).write_text(text, encoding="latin-1")

    zones = DrawnZones(tmp_path)

    assert zones.current is None
    assert "draw them anew" in zones.problem


def test_a_folder_that_cannot_be_written_gives_a_sentence_and_changes_nothing(tmp_path):
    zones = DrawnZones(tmp_path / "gone")

    with pytest.raises(Problem, match="cannot be kept"):
        zones.save(drawn(BATTLE, DISTANCE))
    assert zones.current is None


def test_a_torn_write_leaves_the_old_drawing(tmp_path, monkeypatch):
    zones = DrawnZones(tmp_path)
    zones.save(drawn(BATTLE, DISTANCE))
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))

    with pytest.raises(Problem, match="No space left"):
        zones.save(drawn(BATTLE, DISTANCE, picture=[1920, 1080]))
    assert DrawnZones(tmp_path).current.picture == (1280, 720)


def test_the_page_gets_and_gives_plain_json():
    drawing = drawn({**BATTLE, "seat": "top"}, DISTANCE)

    assert parse_drawing(json.loads(json.dumps(drawing.as_json()))) == drawing

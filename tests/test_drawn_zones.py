"""Zones without mats: drawn in the setup file or on the page, checked, kept, and seen like mats."""

import os
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from logs import full
from pictures import Lens, Mat, Scene, Sticker, as_seen, clean, on_mat, picture, through

from companion.app.service import watched
from companion.common.errors import Problem
from companion.tabletop.card_ids import payload
from companion.tabletop.drawn_zones import (
    FILE_NAME,
    ZONE_NAMES,
    Drawing,
    DrawnZones,
    PictureEdge,
    check_sides,
    parse_drawing,
)
from companion.tabletop.mat_layout import all_mats, side_mat, table_mat
from companion.vision.capture.sources import Frame
from companion.vision.eye import NO_ZONES, Eye
from companion.vision.mats.drawn import fits_of
from companion.vision.mats.homography import corners_mm
from companion.vision.mats.localization import SEARCH_BESIDE_DRAWN_S, Mats, look, search
from companion.vision.read import gray_of, read, read_pictures

PICTURE = [1280, 720]
BATTLE = {"name": "side-1/battle", "rect": [100, 100, 120, 220]}
DISTANCE = {"name": "side-1/distance", "rect": [100, 360, 500, 220]}


def drawn(*zones: dict, picture: object = PICTURE) -> Drawing | None:
    return parse_drawing({"picture": picture, "zone": list(zones)})


BACKWARDS = {"name": "side-1/battle", "corners": [[100, 100], [100, 320], [220, 330], [220, 90]]}


@pytest.mark.parametrize(
    ("zone", "corners"),
    [(BATTLE, ((100, 100), (220, 100), (220, 320), (100, 320))),
     (BACKWARDS, ((100, 100), (220, 90), (220, 330), (100, 320)))],
    ids=["a rectangle", "named the other way round"],
)  # fmt: skip
def test_corners_are_in_order(zone, corners):
    drawing = drawn(zone, DISTANCE)

    assert (drawing.zones[0].corners, drawing.mats) == (corners, ("side-1",))


@pytest.mark.parametrize(
    ("seat", "first"), [("bottom", (100, 100)), ("left", (220, 100)), ("top", (220, 320)), ("right", (100, 320))]
)
def test_the_seat_says_which_corner_is_the_players_top_left(seat, first):
    drawing = drawn({**BATTLE, "seat": seat}, DISTANCE)

    assert drawing.zones[0].seen_by_player[0] == first


def test_nothing_drawn_is_no_drawing_and_a_picture_alone_is_refused():
    assert parse_drawing({}) is None
    with pytest.raises(ValueError, match=r"no \[\[zone\]\] is drawn"):
        parse_drawing({"picture": PICTURE})


@pytest.mark.parametrize(
    ("zones", "sentence"),
    [
        ([{**BATTLE, "name": "side-1/kitchen"}], "unknown zone 'side-1/kitchen'"),
        ([{**BATTLE, "name": "side-9/battle"}], "unknown zone 'side-9/battle'"),
        ([{"rect": [1, 2, 3, 4]}], "unknown zone 'None'"),
        ([{**BATTLE, "name": ["side-1/battle"]}], "unknown zone"),
        ([{**BATTLE, "colour": "red"}], "unknown key 'colour'"),
        ([{"name": "side-1/battle"}], "either rect .* or corners"),
        ([{**BATTLE, "corners": [[0, 0]] * 4}], "either rect .* or corners"),
        ([{**BATTLE, "rect": [1, 2, 3]}], "must be four numbers"),
        ([{**BATTLE, "rect": [1, 2, -30, 40]}], "must be four numbers"),
        ([{**BATTLE, "rect": [1, 2, True, 40]}], "must be four numbers"),
        ([{**BATTLE, "rect": [float("nan"), 2, 30, 40]}], "must be four numbers"),
        ([{"name": "side-1/battle", "corners": [[0, 0], [9, 9]]}], "must be four points"),
        ([{"name": "side-1/battle", "corners": [[0, 0], [9, 9], [9, 0], [0, "9"]]}], "must be four points"),
        ([{"name": "side-1/battle", "corners": [[0, 0], [90, 90], [90, 0], [0, 90]]}], "without crossing"),
        ([{"name": "side-1/battle", "corners": [[0, 0], [90, 0], [20, 20], [0, 90]]}], "without crossing"),
        ([{**BATTLE, "seat": "middle"}], "'seat' of 'side-1/battle' must be bottom, left, top or right"),
        ([{**BATTLE, "zone_mm": [74]}], "'zone_mm' of 'side-1/battle' must be width and height"),
        ([{**BATTLE, "zone_mm": [7, 13]}], "'zone_mm' of 'side-1/battle' must be width and height"),
        ([BATTLE, BATTLE], "'side-1/battle' is drawn twice"),
        ([{**BATTLE, "rect": [1200, 100, 120, 220]}], "'side-1/battle' is outside the picture of 1280 × 720"),
        ([{**BATTLE, "rect": [100, 100, 12, 220]}], "is too small"),
        ([BATTLE, {**DISTANCE, "rect": [100, 300, 500, 220]}], "'side-1/battle' and 'side-1/distance' overlap"),
        ([BATTLE], "side-1 has no distance zone"),
        ([DISTANCE], "side-1 has no battle zone"),
        ([3], r"each zone must be a \[\[zone\]\] table"),
    ],
)
def test_what_cannot_be_is_refused_with_one_sentence(zones, sentence):
    with pytest.raises(ValueError, match=rf"{sentence}.*\.$") as refused:
        drawn(*zones)

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("picture", [None, [1280], [1280, 720.5], ["1280", "720"], [0, 0], [10**9, 10**9], 1280])
def test_the_picture_that_was_drawn_on_has_a_size(picture):
    with pytest.raises(ValueError, match="'picture' must be the size"):
        drawn(BATTLE, DISTANCE, picture=picture)


def test_zones_may_touch_and_overlap_by_a_hair():
    assert drawn(BATTLE, {**DISTANCE, "rect": [100, 316, 500, 220]}) is not None


def test_quadrilaterals_whose_boxes_overlap_may_lie_side_by_side():
    slanted = [[100, 100], [200, 100], [400, 300], [300, 300]]
    beside = [[230, 100], [330, 100], [530, 300], [430, 300]]

    assert drawn({"name": "side-1/battle", "corners": slanted}, {"name": "side-1/speed", "corners": beside}, DISTANCE)


TABLE = {"name": "table/discard", "rect": [600, 100, 120, 220]}


@pytest.mark.parametrize("zones", [(BATTLE, DISTANCE), (TABLE,)], ids=["a side", "the table"])
def test_a_side_without_zones_plays_on_its_printed_mat(zones):
    assert check_sides(drawn(*zones), {"side-1": "Ann", "side-2": "Bob"}) is None


def test_a_drawing_is_kept_read_back_and_forgotten(tmp_path):
    drawing = drawn({**BATTLE, "seat": "left", "zone_mm": [74, 136]}, DISTANCE)
    zones = DrawnZones(tmp_path)
    zones.save(drawing)
    again = DrawnZones(tmp_path)

    assert zones.current == again.current == drawing
    assert again.current.zones[0].seat is PictureEdge.LEFT

    zones.forget()
    zones.forget()
    assert (zones.current, DrawnZones(tmp_path).current) == (None, None)


def test_the_setup_file_wins_over_what_is_kept(tmp_path):
    kept, given = drawn(BATTLE, DISTANCE), drawn(BATTLE, DISTANCE, picture=[1920, 1080])
    DrawnZones(tmp_path).save(kept)

    assert DrawnZones(tmp_path, given).current == given


@pytest.mark.parametrize("text", ["", "3", "{", '{"picture": [3, 4], "zone": [{}]}', "[" * 100_000, "\x00\xff", None])
def test_a_damaged_file_is_told_and_nothing_is_drawn(tmp_path, text):
    if text is None:
        os.mkfifo(tmp_path / FILE_NAME)
    else:
        (tmp_path / FILE_NAME).write_text(text, encoding="latin-1")

    zones = DrawnZones(tmp_path)

    assert zones.current is None
    assert ("it is no file" if text is None else "draw them again") in str(zones.problem)


def test_a_torn_write_leaves_the_old_drawing(tmp_path, monkeypatch):
    zones, nowhere = DrawnZones(tmp_path), DrawnZones(tmp_path / "gone")
    zones.save(drawn(BATTLE, DISTANCE))
    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(Problem, match="No space left"):
        zones.save(drawn(BATTLE, DISTANCE, picture=[1920, 1080]))
    assert DrawnZones(tmp_path).current.picture == (1280, 720)
    with pytest.raises(Problem, match="cannot be saved"):
        nowhere.save(drawn(BATTLE, DISTANCE))
    assert nowhere.current is None


# --- As the eye uses them -------------------------------------------------------------------------------------

LENS = Lens(width_mm=1150, tilt_deg=25, size_px=(1280, 720))
ANN, BOB = Mat(side_mat(1), -210, 0), Mat(side_mat(2), 210, -30, 180)


def quad_of(mat: Mat, zone: str, lens: Lens = LENS) -> np.ndarray:
    """Where a zone would be printed, were the mat there."""
    return through(lens.matrix() @ mat.matrix(), corners_mm(mat.layout.zones[zone]))


def traced(*mats: Mat, lens: Lens = LENS, upright: bool = False) -> Drawing:
    """The zones as somebody draws them along the mats' print: corner by corner, or as upright rectangles."""
    zones = []
    for mat in mats:
        for zone in mat.layout.zones:
            quad, name = quad_of(mat, zone, lens), f"{mat.layout.id}/{zone}"
            low, high = quad.min(axis=0), quad.max(axis=0)
            rect = {"rect": [*low, *(high - low)], "seat": "bottom" if abs(mat.turn_deg) < 90 else "top"}
            zones.append({"name": name, **(rect if upright else {"corners": quad.tolist()})})
    return parse_drawing({"picture": list(lens.size_px), "zone": zones})


def card(mat: Mat, zone: str, name: str, **how: float) -> Sticker:
    return on_mat(mat, zone, payload(name), size_mm=34, card=(240, 240, 245), **how)


@pytest.mark.parametrize("size_px", [(1280, 720), (640, 360), (1920, 1080)])
def test_zones_lie_where_they_were_drawn_on_pictures_of_every_size(size_px):
    drawing = traced(ANN, BOB)

    fits = fits_of(drawing, size_px)

    for fit, mat in zip(fits, (ANN, BOB), strict=True):
        for zone, rect in fit.layout.zones.items():
            quad = quad_of(mat, zone) * (size_px[0] / 1280)
            assert fit.quad_px(rect) == pytest.approx(quad, abs=1e-2)
            assert fit.zone_at(tuple(quad.mean(axis=0))) == f"{mat.layout.id}/{zone}"
            assert fit.to_mm(quad) == pytest.approx(corners_mm(rect), abs=1e-2)


def test_the_scale_comes_from_the_zones_drawn_round_a_card():
    (fit,) = fits_of(traced(ANN), (1280, 720))
    scale = np.hypot(*np.diff(through(LENS.matrix() @ ANN.matrix(), [(110, 80), (160, 80)]), axis=0)[0]) / 50

    assert fit.px_per_mm == pytest.approx(scale, rel=0.1)


def test_a_measured_zone_gives_the_scale_for_all_of_its_side():
    (fit,) = fits_of(drawn({**BATTLE, "zone_mm": [60, 110]}, DISTANCE), (1280, 720))

    assert fit.px_per_mm == pytest.approx(2)
    assert fit.layout.zones["distance"].as_list()[2:] == pytest.approx([250, 110])


def test_every_pixel_of_a_flat_picture_is_where_its_point_lies():
    (fit,) = fits_of(traced(ANN), (1280, 720))
    rect = fit.layout.zones["battle"]

    grid = fit.grid_px(rect, 2.0)

    assert grid[5, 9] == pytest.approx(fit.to_px([(rect.x_mm + 19, rect.y_mm + 11)])[0], abs=1e-3)


@pytest.mark.parametrize("turn_deg", range(0, 360, 45))
def test_zones_may_lie_at_any_angle(turn_deg):
    lens = replace(LENS, turn_deg=turn_deg, width_mm=1900)
    drawing = traced(ANN, lens=lens)
    (fit,) = fits_of(drawing, (1280, 720))

    for zone, rect in fit.layout.zones.items():
        inside = quad_of(ANN, zone, lens).mean(axis=0)
        assert fit.zone_at(tuple(inside)) == f"side-1/{zone}"
        assert all(0 <= at <= size for at, size in zip(rect.centre_mm, fit.layout.size_mm, strict=True))
    rects = list(fit.layout.zones.values())
    assert not any(a.contains(*b.centre_mm) for a in rects for b in rects if a is not b)


def test_just_outside_of_a_zone_is_no_zone():
    (fit,) = fits_of(traced(ANN), (1280, 720))
    quad = quad_of(ANN, "distance")
    middle = quad.mean(axis=0)

    for corner in quad:
        assert fit.zone_at(tuple(middle + 0.98 * (corner - middle))) == "side-1/distance"
        assert fit.zone_at(tuple(middle + 1.02 * (corner - middle))) is None


@pytest.mark.parametrize("upright", [False, True], ids=["corners", "rectangles"])
def test_cards_are_read_in_drawn_zones_without_any_mat(upright):
    laid = (
        card(ANN, "battle", "roll-01"),
        card(ANN, "safety", "right-of-way-01", turn_deg=90),
        card(BOB, "speed", "speed-limit-02"),
        card(BOB, "distance", "100-03", dx_mm=90),
    )
    image = picture(Scene(stickers=laid), LENS)

    mats = search(gray_of(image), Mats(drawing=traced(ANN, BOB, upright=upright)), all_mats(), 0.0)
    view = read(Frame(image, 0.0), mats)

    assert {s.card: (s.zone, s.sideways) for s in view.sightings} == {
        "roll-01": ("side-1/battle", False),
        "right-of-way-01": ("side-1/safety", True),
        "speed-limit-02": ("side-2/speed", False),
        "100-03": ("side-2/distance", False),
    }


def test_eight_sides_and_the_table_are_drawn_at_once():
    rects = {"table/draw": [500, 300, 70, 120], "table/discard": [600, 300, 70, 120]}
    for number in range(8):
        x, y, side = 20 + number % 4 * 315, 20 + number // 4 * 500, f"side-{number + 1}"
        rects |= {f"{side}/battle": [x, y, 60, 100], f"{side}/speed": [x + 65, y, 60, 100]}
        rects |= {f"{side}/safety": [x + 130, y, 130, 100], f"{side}/distance": [x, y + 102, 260, 90]}
    drawing = drawn(*({"name": name, "rect": rect} for name, rect in rects.items()))

    mats = search(np.full((720, 1280), 90, np.uint8), Mats(drawing=drawing), all_mats(), 0.0)

    assert set(rects) == set(ZONE_NAMES)
    middles = [(x + w / 2, y + h / 2) for x, y, w, h in rects.values()]
    assert {mats.at(middle).zone_at(middle) for middle in middles} == set(ZONE_NAMES)
    assert {mats.at(middle).layout.id for middle in middles} == set(drawing.mats)


def test_a_printed_mat_takes_the_place_of_the_zones_drawn_for_it():
    lens = Lens(width_mm=900)
    drawing = traced(Mat(side_mat(1), -430, -245), Mat(side_mat(2), 10, -245), Mat(table_mat(), -430, 45), lens=lens)
    scene = Scene(mats=(Mat(side_mat(1), -440, -240), Mat(table_mat(), 60, -150)))

    mats = search(gray_of(picture(scene, lens)), Mats(drawing=drawing), all_mats(), 0.0)

    assert {fit.layout.id: fit.is_measured for fit in mats.fits} == {"side-1": True, "table": True}


def test_a_printed_mat_is_still_found_beside_zones_drawn_for_another_side():
    lens = Lens(width_mm=900)
    drawing = traced(Mat(side_mat(1), -430, -245), lens=lens)
    bare, laid = Scene(), Scene(mats=(Mat(side_mat(2), 10, -245),))

    before = look(gray_of(picture(bare, lens)), Mats(drawing=drawing), 0.0)
    soon = look(gray_of(picture(laid, lens)), before, SEARCH_BESIDE_DRAWN_S - 1)
    later = look(gray_of(picture(laid, lens)), soon, SEARCH_BESIDE_DRAWN_S)

    assert [fit.layout.id for fit in soon.fits] == ["side-1"]
    assert {fit.layout.id: fit.is_measured for fit in later.fits} == {"side-1": False, "side-2": True}


def test_what_is_drawn_while_the_eye_looks_is_in_force_on_the_next_frame():
    image = picture(Scene(stickers=(card(ANN, "battle", "roll-01"),)), LENS)
    zones = DrawnZones()
    eye = Eye(drawn=zones)

    before = eye(Frame(image, 0.0))
    zones.save(traced(ANN))
    views = [eye(Frame(image, 0.1 * number)) for number in range(1, 9)]
    zones.forget()
    after = eye(Frame(image, 1.0))

    assert (before.mats, after.mats) == ((), ())
    assert [s.zone for s in views[-1].sightings] == ["side-1/battle"]
    assert views[-1].unknown_zones == frozenset()


def test_a_picture_of_other_proportions_is_refused_in_a_sentence(tmp_path):
    square = np.full((600, 600, 3), 90, np.uint8)
    cv2.imwrite(str(tmp_path / "square.png"), square)

    (said,) = read_pictures([tmp_path / "square.png"], drawing=traced(ANN))
    view = Eye(drawn=DrawnZones(given=traced(ANN)))(Frame(square, 0.0))

    assert "is 600 × 600, but the zones were drawn on a picture of 1280 × 720" in said["problem"]
    assert view.trouble == NO_ZONES


def setup_text(drawing: Drawing) -> str:
    tables = [
        f'[[zone]]\nname = "{zone.name}"\nseat = "{zone.seat}"\ncorners = {[list(point) for point in zone.corners]}'
        for zone in drawing.zones
    ]
    sides = '[[side]]\nname = "Ann"\n[[side]]\nname = "Bob"'
    return "\n".join([f"picture = {list(drawing.picture)}", sides, *tables])


def frames_in(folder: Path, *scenes: Scene) -> None:
    """Ten pictures of each scene, one after the other."""
    for number, scene in enumerate(scenes):
        bare = clean(scene, LENS)
        for n in range(10):
            cv2.imwrite(str(folder / f"{number}-{n}.png"), as_seen(bare, LENS, 10 * number + n))


@pytest.mark.long
def test_a_game_is_watched_over_drawn_rectangles_without_any_mat(tmp_path):
    laid = (card(ANN, "battle", "roll-01"), card(BOB, "battle", "roll-02"), card(ANN, "distance", "100-01", dx_mm=-60))
    (tmp_path / "frames").mkdir()
    frames_in(tmp_path / "frames", *(Scene(stickers=laid[:count]) for count in range(4)))
    (tmp_path / "table.toml").write_text(setup_text(traced(ANN, BOB, upright=True)), encoding="utf-8")

    items = watched(str(tmp_path / "frames"), tmp_path / "table.toml", confirm="legal", extension="finish", fps=10.0)

    assert [item["proposal"] for item in items if "proposal" in item] == ["Ann roll", "Bob roll", "Ann 100"]

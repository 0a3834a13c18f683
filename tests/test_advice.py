"""Camera quality: measurements match what was rendered, and the advice helps."""

import json
import re
from dataclasses import replace

import cv2
import numpy as np
import pytest
from pictures import Lens, Mat, Scene, Sticker, on_mat, picture, through
from plain_values import numpy_in

from companion.tabletop.drawn_zones import Drawing, DrawnZone
from companion.tabletop.mat_layout import Rect, all_mats, side_mat, table_mat
from companion.vision.mats.drawn import fits_of
from companion.vision.mats.homography import as_quad, corners_mm
from companion.vision.mats.localization import Mats, search
from companion.vision.quality import measure
from companion.vision.quality.advice import Advice, advise
from companion.vision.quality.sharpness import blur_of, grain_of, marker_edge
from companion.vision.read import gray_of
from companion.vision.view import Quad

SIDE, TABLE = Mat(side_mat(1), -380, -150, 3), Mat(table_mat(), 75, -100)
LAYOUTS = (SIDE.layout, TABLE.layout)
SCENE = Scene(mats=(SIDE, TABLE), stickers=(on_mat(SIDE, "battle", "MB1:ROLL-03", size_mm=24),))
NEAR = Lens(width_mm=900)
FAR = Lens(width_mm=1920 * 20 / 25 / (0.85 * measure.MODULE_PX))
"""Modules of 20 mm stickers are 15 % smaller here than the reader needs."""

WHITE = on_mat(SIDE, "battle", "MB1:ROLL-03", size_mm=24, card=(250, 250, 250))
WITH_CARD = Scene(mats=(SIDE, TABLE), stickers=(WHITE,))


def mats_on(image: np.ndarray, layouts=LAYOUTS) -> Mats:
    return search(gray_of(image), Mats(), layouts, 0.0)


def advice_for(lens: Lens, scene: Scene = SCENE, layouts=LAYOUTS, **how: object) -> Advice:
    image = picture(scene, lens)
    return advise([image], mats_on(image, layouts), layouts, **how)


def codes(found: Advice) -> list[str]:
    return [hint.code for hint in found.hints]


def said(found: Advice, code: str) -> str:
    return next(hint.say for hint in found.hints if hint.code == code)


def with_spot(lens: Lens, x: int, y: int, radius: int, scene: Scene = SCENE) -> np.ndarray:
    return cv2.circle(picture(scene, lens).copy(), (x, y), radius, (255, 255, 255), -1)


def spot_on_card() -> np.ndarray:
    at_mm = through(SIDE.matrix(), [SIDE.layout.zones["battle"].centre_mm])
    ((x, y),) = through(NEAR.matrix(), at_mm)
    return with_spot(NEAR, round(x), round(y), 40, WITH_CARD)


def milky() -> np.ndarray:
    return cv2.addWeighted(picture(SCENE, NEAR), 0.25, np.full((1080, 1920, 3), 200, np.uint8), 0.75, 0)


def lit_from_one_side() -> np.ndarray:
    dim = np.linspace(1.0, 0.15, 1920)[None, :, None]
    return (picture(SCENE, Lens(width_mm=900, uneven=0.0)) * dim).astype(np.uint8)


# --- Measurements ----------------------------------------------------------------------------------------------


@pytest.mark.variants(5)
@pytest.mark.parametrize(
    ("figure", "rendered", "lens"),
    [
        ("px_per_mm", pytest.approx((2.13, 2.13), rel=0.01), Lens(width_mm=900)),
        ("white", pytest.approx(0.6 * 240, abs=6), Lens(width_mm=900, light=0.6, uneven=0.0)),
        ("contrast", pytest.approx(0.6 * 215, abs=10), Lens(width_mm=900, light=0.6, uneven=0.0)),
        ("grain", pytest.approx(3 * 0.75, rel=0.3), Lens(width_mm=900, noise=3.0, uneven=0.0, jpeg=None)),
        ("grain", pytest.approx(10 * 0.75, rel=0.3), Lens(width_mm=900, noise=10.0, uneven=0.0, jpeg=None)),
        ("px_per_mm", pytest.approx((1.6, 1.6), rel=0.01), Lens(width_mm=1200)),
        ("px_per_mm", pytest.approx((1.28, 1.28), rel=0.01), Lens(width_mm=1500)),
    ],
)
def test_scale_levels_and_grain_of_every_zone_match_lens_and_sensor(figure, rendered, lens):
    assert all(getattr(zone, figure) == rendered for zone in advice_for(lens).zones)


def test_a_tilted_camera_sees_the_far_end_of_a_zone_smaller():
    found = advice_for(Lens(width_mm=1200, tilt_deg=30))

    far, near = next(zone.px_per_mm for zone in found.zones if zone.zone == "side-1/distance")
    assert far < 0.95 * near


@pytest.mark.variants(2)
@pytest.mark.parametrize("blur_px", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("tilt_deg", [0, 25])
def test_the_blur_of_marker_edges_matches_the_lens(blur_px, tilt_deg):
    gray = gray_of(picture(SCENE, Lens(width_mm=1000, blur_px=blur_px, tilt_deg=tilt_deg, noise=5)))

    edges = [
        marker_edge(gray, corners)
        for fit in search(gray, Mats(), LAYOUTS, 0.0).fits
        for corners in fit.markers.values()
    ]

    assert np.median([max(edge.blur_px) for edge in edges if edge]) == pytest.approx(blur_px, abs=0.15)


def test_without_markers_sharper_print_has_less_blur():
    sharp, soft = (gray_of(picture(SCENE, Lens(width_mm=900, blur_px=blur))) for blur in (0.5, 2.0))
    box = mats_on(picture(SCENE, NEAR)).fits[0].quad_px(SIDE.layout.zones["battle"]).astype(int)
    part = np.s_[box[:, 1].min() : box[:, 1].max(), box[:, 0].min() : box[:, 0].max()]

    assert blur_of(sharp[part]) < 1.0 < 1.5 < blur_of(soft[part])
    assert blur_of(np.full((60, 60), 120, np.uint8)) is None


def test_fine_print_over_most_of_a_zone_is_not_grain():
    rng = np.random.default_rng(1)
    zone = np.full((120, 96), 180.0)
    zone[:100, :80] = 110 + 60 * np.sign(rng.normal(size=(50, 40))).repeat(2, axis=0).repeat(2, axis=1)
    noisy = np.clip(zone + rng.normal(0, 3, zone.shape), 0, 255).astype(np.uint8)

    assert grain_of(noisy) == pytest.approx(3, abs=1)


def test_a_reflection_is_a_share_of_its_own_zone_only():
    image = with_spot(NEAR, 500, 400, 40)

    shares = {zone.zone: zone.saturated for zone in advise([image], mats_on(image)).zones}

    assert shares.pop("side-1/speed") > 0.05
    assert max(shares.values()) < 0.01


@pytest.mark.variants(2)
@pytest.mark.parametrize("width_mm", [800, 1200, 1600])
@pytest.mark.parametrize("tilt_deg", [0, 30])
def test_the_cameras_distance_and_tilt_are_estimated(width_mm, tilt_deg):
    usual = 0.5 / np.tan(np.radians(measure.VIEW_DEG / 2))
    found = advice_for(Lens(width_mm=width_mm, tilt_deg=tilt_deg, focal=usual))

    assert found.tilt_deg == pytest.approx(tilt_deg, abs=3)
    assert found.distance_cm == pytest.approx(usual * width_mm / 10, rel=0.15)


def test_the_stickers_read_show_their_width():
    mats = mats_on(picture(SCENE, NEAR))

    assert measure.sticker_mm_of([code_of(CARD, NEAR)], mats) == 20.0
    assert measure.sticker_mm_of([((0, 0), (9, 0), (9, 9), (0, 9))], mats) is None


# --- What would help ------------------------------------------------------------------------------------------


PLAIN = Scene(cloth=(150, 150, 150))


WRONG = {
    "nothing": (lambda: picture(SCENE, NEAR), ""),
    "few pixels": (lambda: picture(SCENE, Lens(width_mm=1300, size_px=(1280, 720))), "closer smaller-picture"),
    "a soft lens": (lambda: picture(SCENE, Lens(width_mm=1200, blur_px=1.8)), "blurred"),
    "a moving camera": (lambda: cv2.blur(picture(SCENE, Lens(width_mm=1000)), (9, 1)), "shaken"),
    "a lamp on the mat": (lambda: with_spot(NEAR, 500, 400, 60), "glare"),
    "a lamp on a card": (spot_on_card, "glare"),
    "too much light": (lambda: picture(SCENE, Lens(width_mm=900, light=1.7)), "too-bright"),
    "a dim room": (lambda: picture(SCENE, Lens(width_mm=900, light=0.25)), "dark"),
    "a milky lens": (milky, "pale"),
    "a lamp on one side": (lit_from_one_side, "dark uneven"),
    "a steep slant": (lambda: picture(SCENE, Lens(width_mm=1200, tilt_deg=45)), "tilted"),
    "no mats": (lambda: picture(PLAIN, NEAR), "no-mats"),
    "no mats in the dark": (lambda: picture(Scene(), Lens(light=0.05)), "dark no-mats"),
}


@pytest.mark.parametrize(("made", "asked"), WRONG.values(), ids=WRONG)
def test_each_problem_of_a_picture_leads_to_its_advice(made, asked):
    image = made()

    assert codes(advise([image], mats_on(image), LAYOUTS)) == asked.split()


@pytest.mark.parametrize("made", [made for made, _ in WRONG.values()], ids=WRONG)
def test_advice_on_any_picture_can_be_written_as_json(made):
    image = made()
    found = advise([image], mats_on(image), LAYOUTS)

    assert [*numpy_in(found)] == []
    assert json.loads(json.dumps(found.as_json()))["good"] is found.good


def test_of_several_pictures_the_median_counts():
    spoilt, clear = with_spot(NEAR, 500, 400, 60), picture(SCENE, NEAR)
    found = advise([spoilt, spoilt, clear], mats_on(clear))

    assert codes(advise([spoilt, clear, clear], mats_on(clear))) == []
    assert "side-1/speed" in said(found, "glare")


def test_blur_is_harmless_if_stickers_are_large_enough():
    assert advice_for(Lens(width_mm=900, blur_px=1.5), sticker_mm=40).good


def test_the_advice_to_move_closer_makes_small_stickers_readable():
    found = advice_for(FAR)
    by_cm = int(said(found, "closer").split(" cm")[0].split()[-1])
    nearer = FAR.width_mm * (1 - by_cm / found.distance_cm)

    assert not found.good
    assert said(found, "closer").endswith("on the mat of side 1 and the mat of the table's middle.")
    assert advice_for(Lens(width_mm=nearer)).good


def test_larger_stickers_are_advised_if_the_mats_fill_the_picture():
    found = advice_for(Lens(width_mm=800), sticker_mm=8)

    assert "larger-stickers" in codes(found)
    size_mm = int(re.search(r"(\d+) mm", said(found, "larger-stickers"))[1])
    assert advice_for(Lens(width_mm=800), sticker_mm=size_mm).good


def test_bright_cards_with_visible_print_are_not_reflections():
    found = advice_for(Lens(width_mm=900, light=1.0, uneven=0.0), WITH_CARD)

    battle = next(zone for zone in found.zones if zone.zone == "side-1/battle")
    assert battle.saturated > 2 * measure.GLARE_SHARE
    assert battle.good
    assert codes(found) == []


def test_sunlight_on_half_a_mat_is_not_a_lamp():
    sun = np.where(np.arange(1920) < 600, 1.5, 0.8)[None, :, None]
    image = np.clip(picture(WITH_CARD, NEAR) * sun, 0, 255).astype(np.uint8)

    found = advise([image], mats_on(image))

    assert max(zone.saturated for zone in found.zones) > 0.5
    assert "glare" not in codes(found)
    assert [hint for hint in found.hints if hint.needed] == []


@pytest.mark.parametrize("is_read", [True, False])
def test_a_bright_picture_needs_less_light_only_if_no_sticker_is_read(is_read):
    lens = Lens(width_mm=900, light=1.7)

    found = advice_for(lens, WITH_CARD, codes=[code_of(WHITE, lens)] if is_read else [])

    assert [(hint.code, hint.needed) for hint in found.hints] == [("too-bright", not is_read)]


@pytest.mark.variants(2)
@pytest.mark.parametrize(
    ("at_mm", "says"),
    [((150, 0), "to its left"), ((-90, 0), "to its right"), ((0, 200), "upwards"), ((0, -200), "downwards")],
)
def test_the_camera_should_turn_towards_what_is_outside_the_picture(at_mm, says):
    found = advice_for(Lens(width_mm=900, at_mm=at_mm))

    assert codes(found)[0] == "mat-cut-off"
    assert says in said(found, "mat-cut-off")


COVERED = Scene(mats=(replace(SIDE, hidden=frozenset({0, 1})), TABLE))


@pytest.mark.parametrize(
    ("scene", "more", "code", "says"),
    [
        (SCENE, (side_mat(2), side_mat(3)), "mat-missing", "side 2 and the mat of side 3 were not found"),
        (COVERED, (), "marks-covered", "side 1: 2 of 4"),
    ],
)
def test_a_missing_or_half_covered_mat_is_named(scene, more, code, says):
    found = advice_for(NEAR, scene, (*LAYOUTS, *more))

    assert codes(found) == [code]
    assert says in said(found, code)


DRAWN = ("side-1/battle", "side-1/speed", "side-1/distance")


def drawn(image: np.ndarray, *cards: Sticker, measured: bool = False, **how: object) -> Advice:
    """Advice on zones drawn in place of a mat, with the codes of cards as if read."""
    lens = how.pop("lens", NEAR)
    to_px = lens.matrix() @ SIDE.matrix()
    rects = {name: SIDE.layout.zones[name.partition("/")[2]] for name in DRAWN}
    zones = [
        DrawnZone(
            name,
            as_quad(through(to_px, corners_mm(rect))),
            size_mm=(rect.width_mm, rect.height_mm) if measured else None,
        )
        for name, rect in rects.items()
    ]
    fits = fits_of(Drawing((1920, 1080), tuple(zones)), (1920, 1080))
    return advise([image], Mats(fits), codes=[code_of(card, lens) for card in cards], **how)


def code_of(card: Sticker, lens: Lens) -> Quad:
    """The corners of a sticker's code on the picture."""
    half = card.size_mm * 21 / 25 / 2
    return as_quad(through(lens.matrix(), corners_mm(Rect(card.x_mm - half, card.y_mm - half, 2 * half, 2 * half))))


CARD = replace(on_mat(SIDE, "battle", "MB1:ROLL-03", size_mm=20, card=(240, 240, 245)), turn_deg=0)


def test_a_drawn_zone_without_a_card_has_no_scale_and_is_not_called_good():
    found = drawn(picture(Scene(cloth=(160, 165, 170)), NEAR))

    assert [(zone.px_per_mm, zone.smallest_mm, zone.good) for zone in found.zones] == [(None, None, None)] * 3
    assert (found.good, found.verdict, codes(found), found.tilt_deg) == (False, "", ["no-scale"], None)
    assert (found.card_px, found.faces) == (None, "")
    assert "Put a card in each zone" in said(found, "no-scale")


def test_the_stickers_read_give_the_scale_of_drawn_zones():
    found = drawn(picture(Scene(stickers=(CARD,)), NEAR), CARD)

    assert [zone.px_per_mm[0] for zone in found.zones] == pytest.approx([1920 / 900] * 3, rel=0.01)
    assert (found.good, found.is_guessed, found.cards) == (True, True, 1)
    assert found.verdict.startswith(
        "1 card was read. Without mats the stickers tell the scale: if they are 20 mm wide,"
    )


def test_small_stickers_in_drawn_zones_need_a_closer_camera():
    found = drawn(picture(Scene(stickers=(CARD,)), FAR), CARD, lens=FAR)

    assert (found.good, codes(found)) == (False, ["closer"])
    assert said(found, "closer").startswith("Move the camera closer: 20 mm stickers are too small")
    assert found.verdict.endswith("and yours are too small.")


def test_a_measured_drawn_zone_needs_no_card_for_its_scale():
    found = drawn(picture(Scene(cloth=(160, 165, 170)), NEAR), measured=True)

    assert found.zones[0].px_per_mm == pytest.approx((1920 / 900, 1920 / 900), rel=0.02)
    assert (found.good, found.is_guessed, codes(found)) == (True, False, [])


def test_a_dark_cloth_in_drawn_zones_is_not_a_dark_picture():
    found = drawn(picture(Scene(stickers=(CARD,), cloth=(30, 40, 25)), NEAR), CARD)

    assert [zone.shows_paper for zone in found.zones] == [True, False, False]
    assert codes(found) == []
    assert codes(drawn(picture(Scene(), Lens(width_mm=900, light=0.1))))[0] == "dark"


def test_the_verdict_states_the_sticker_width_only_if_measured():
    usual, own = advice_for(NEAR), advice_for(NEAR, sticker_mm=24.0)

    assert usual.verdict.endswith("can be read in every zone: the usual ones, 20 mm wide, are large enough.")
    assert own.verdict.endswith("can be read in every zone: those on the table, about 24 mm wide, are large enough.")


@pytest.mark.parametrize(
    ("width_mm", "px", "told"),
    [
        (1200, range(85, 96), "large enough to recognize"),
        (1700, range(55, 68), "the app will often ask about cards without stickers"),
        (2600, range(35, 45), "too small to recognize"),
    ],
)
def test_advice_says_if_cards_are_large_enough_to_recognize_faces(width_mm: float, px: range, told: str):
    found = advice_for(Lens(width_mm=width_mm))

    assert found.card_px in px
    assert found.faces.startswith(f"The smallest card is {found.card_px} pixels wide: {told}")


@pytest.mark.variants(2)
@pytest.mark.parametrize("tilt_deg", [0, 40])
@pytest.mark.parametrize("width_mm", [700, 1800])
@pytest.mark.parametrize("light", [0.2, 0.85, 2.0])
def test_every_hint_is_one_sentence(tilt_deg, width_mm, light):
    found = advice_for(Lens(width_mm=width_mm, tilt_deg=tilt_deg, light=light), layouts=all_mats()[:3])

    assert all(hint.say.endswith(".") and "\n" not in hint.say for hint in found.hints)
    assert [hint.needed for hint in found.hints] == sorted((hint.needed for hint in found.hints), reverse=True)


def test_the_json_has_all_measurements_and_advice():
    told = advice_for(FAR).as_json()

    figures = {"size_px", "distance_cm", "tilt_deg", "sticker_mm", "smallest_mm", "cards", "card_px", "zones"}
    assert set(told) == figures | {"good", "verdict", "faces", "hints"}
    assert {zone["zone"] for zone in told["zones"]} == {
        f"{layout.id}/{name}" for layout in LAYOUTS for name in layout.zones
    }
    assert told["hints"][0]["code"] == "closer"


def test_blur_and_grain_need_larger_stickers():
    sharp = measure.module_px_needed(0.6, 180, 3)

    assert sharp == measure.MODULE_PX
    assert measure.module_px_needed(2.0, 180, 3) > 1.5 * sharp
    assert measure.module_px_needed(0.6, 45, 9) > 1.5 * sharp

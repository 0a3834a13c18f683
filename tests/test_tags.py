"""Tags of cards: small ones are named, none is ever named wrongly, and the mats' markers are no cards."""

from functools import cache

import cv2
import numpy as np
import pytest
from pictures import Lens, Mat, Scene, paste, picture, placed

from companion.printing import render, stickers
from companion.tabletop.mat_layout import all_mats, side_mat, table_mat
from companion.tabletop.sticker_codes import CARDS
from companion.vision.boxes import Box
from companion.vision.mats.localization import Mats, search
from companion.vision.mats.tags import read_tags
from companion.vision.read import gray_of
from companion.vision.stickers.reader import read_codes
from companion.vision.view import StickerSeen

CLOTH = 70
STICKER_MM = 20.0
TEXELS = 6


@cache
def sticker(card: str, kind: str = "tag") -> np.ndarray:
    """A sticker as printed, with ink and paper as they are."""
    image = render.to_image(stickers.sticker_svg(card, STICKER_MM, kind), TEXELS)
    return cv2.convertScaleAbs(image, alpha=0.78, beta=28)


@cache
def tag_of(dictionary: int, number: int) -> np.ndarray:
    """A marker of another kind, as large as a sticker."""
    found = cv2.aruco.getPredefinedDictionary(dictionary)
    cells = cv2.aruco.generateImageMarker(found, number, found.markerSize + 2)
    large = np.kron(np.pad(cells, 1, constant_values=255), np.ones((12, 12), np.uint8))
    return cv2.cvtColor(cv2.convertScaleAbs(large, alpha=0.78, beta=28), cv2.COLOR_GRAY2BGR)


def lay(images: list[np.ndarray], px_per_mm: float, *, turn_deg: float = 0.0, squeeze: float = 1.0) -> np.ndarray:
    """Stickers in rows on a dark cloth, `(H, W, 3) uint8` at twice the camera's pixels."""
    columns, step = 16, 34 * px_per_mm
    rows = -(-len(images) // columns)
    canvas = np.full((int(2 * step * squeeze * rows) + 8, int(2 * step * columns), 3), CLOTH, np.uint8)
    for number, image in enumerate(images):
        row, column = divmod(number, columns)
        scale = STICKER_MM * px_per_mm / image.shape[1]
        own = placed(0, 0, turn_deg + 7 * (number % 5)) @ np.diag([scale, scale, 1]) @ placed(
            -image.shape[1] / 2, -image.shape[0] / 2, 0
        )  # fmt: skip
        at = np.diag([2.0, 2.0 * squeeze, 1]) @ placed((column + 0.5) * step, (row + 0.5) * step, 0)
        paste(canvas, image, at @ own)
    return canvas


def seen(canvas: np.ndarray, *, blur_px: float = 0.6, noise: float = 4.0, seed: int = 0) -> np.ndarray:
    """What a webcam makes of it, grey."""
    half = cv2.resize(canvas, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(half, (0, 0), blur_px).astype(np.float32)
    grain = np.random.default_rng(seed).normal(0, noise, soft.shape)
    return gray_of(np.clip(soft + grain, 0, 255).astype(np.uint8))


def shown(cards: tuple[str, ...], px_per_mm: float, how: dict[str, float], **spoilt: float) -> list[StickerSeen]:
    return list(read_tags(seen(lay([sticker(card) for card in cards], px_per_mm, **how), **spoilt)))


def place_of(code: StickerSeen, px_per_mm: float, squeeze: float = 1.0) -> int:
    """Which of the stickers that `lay` has laid lies there."""
    x, y = code.centre_px
    return int(y / (34 * px_per_mm * squeeze)) * 16 + int(x / (34 * px_per_mm))


@pytest.mark.variants(1)
@pytest.mark.parametrize(("blur_px", "noise"), [(0.6, 4.0), (0.5, 3.0), (1.0, 6.0)])
@pytest.mark.parametrize(("squeeze", "turn_deg"), [(0.8, 0), (1.0, 0), (1.0, 205)])
def test_every_card_s_tag_of_20_mm_is_named_over_a_table_of_1_2_m(squeeze, turn_deg, blur_px, noise):
    found = shown(CARDS, 1.6, {"squeeze": squeeze, "turn_deg": turn_deg}, blur_px=blur_px, noise=noise)

    assert {place_of(code, 1.6, squeeze): code.card for code in found} == dict(enumerate(CARDS))


@pytest.mark.variants(2)
@pytest.mark.parametrize(
    ("px_per_mm", "blur_px", "at_least"), [(1.2, 1.0, 0.9), (0.9, 0.5, 0.6), (1.2, 0.6, 0.97), (0.7, 0.6, 0.0)]
)
def test_a_smaller_tag_is_named_rightly_or_not_at_all(px_per_mm, blur_px, at_least):
    found = shown(CARDS, px_per_mm, {}, blur_px=blur_px)

    named = {place_of(code, px_per_mm): code.card for code in found if code.card}
    assert all(CARDS[place] == card for place, card in named.items())
    assert len(named) >= at_least * len(CARDS)


@pytest.mark.variants(1)
@pytest.mark.parametrize("spoilt", [{"blur_px": 2.0}, {"blur_px": 3.0}, {"noise": 40.0}, {"noise": 80.0}], ids=str)
def test_on_a_spoilt_picture_no_tag_is_named_wrongly(spoilt):
    found = shown(CARDS, 1.6, {"turn_deg": 11}, **spoilt)

    assert [code.card for code in found if code.card not in (None, CARDS[place_of(code, 1.6)])] == []


@pytest.mark.parametrize("quarter", range(4))
def test_corners_are_given_as_they_are_printed(quarter):
    canvas = np.full((200, 200, 3), CLOTH, np.uint8)
    turn = placed(100, 100, 90 * quarter) @ placed(-40, -40, 0) @ np.diag([80 / 120, 80 / 120, 1])
    paste(canvas, sticker("roll-03")[:120], turn)
    printed = np.array([(12, 12, 1), (108, 12, 1), (108, 108, 1), (12, 108, 1)]) @ turn.T

    (code,) = read_tags(gray_of(canvas))

    assert code.card == "roll-03"
    assert np.abs(np.array(code.corners_px) - (printed[:, :2] - 0.5)).max() < 1.5


def test_tags_that_can_be_told_well_are_surer_than_those_that_cannot():
    near, far = shown(("roll-03",), 4.0, {}), shown(CARDS, 1.0, {}, blur_px=0.8)

    assert near[0].confidence == 0.99
    assert min(code.confidence for code in far if code.card) < 0.99


def test_what_cannot_be_told_has_the_likeliest_cards_as_rivals():
    unsure = [code for code in shown(CARDS, 1.0, {}, blur_px=1.1) if code.card is None]

    assert unsure
    assert all(1 <= len(code.rivals) <= 3 and code.confidence == 0.0 for code in unsure)
    assert np.mean([CARDS[place_of(code, 1.0)] in dict(code.rivals) for code in unsure]) > 0.8


def test_a_card_of_another_deck_is_a_tag_without_a_card():
    gray = seen(lay([sticker(card) for card in ("roll-03", "mirror-01")], 1.6))

    assert [code.card for code in read_tags(gray, allowed={"roll-03"})] in (["roll-03", None], [None, "roll-03"])


def test_a_box_limits_where_is_read():
    gray = seen(lay([sticker(card) for card in ("roll-03", "stop-01")], 1.6))

    assert [code.card for code in read_tags(gray, where=[Box(50, 0, 400, 60)])] == ["stop-01"]
    assert read_tags(gray, where=[]) == read_tags(gray, where=[Box(-9, -9, 3, 3)]) == ()


@pytest.mark.parametrize("tilt_deg", [0, 25])
@pytest.mark.parametrize("width_mm", [600, 1200])
def test_the_mats_markers_are_no_cards(width_mm, tilt_deg):
    scene = Scene(mats=(Mat(side_mat(1), -225, -150, 3), Mat(table_mat(), 200, -100)))

    gray = gray_of(picture(scene, Lens(width_mm=width_mm, tilt_deg=tilt_deg)))

    assert read_tags(gray) == ()


def test_no_marker_of_any_mat_is_a_card_at_any_size():
    markers = [tag_of(cv2.aruco.DICT_ARUCO_MIP_36h12, number) for number in range(37)]

    assert all(read_tags(seen(lay(markers, px_per_mm))) == () for px_per_mm in (1.2, 2.5))


def test_tags_of_cards_do_not_disturb_the_search_for_mats():
    scene, lens = Scene(mats=(Mat(side_mat(1), -225, -150, 3),)), Lens(width_mm=700)
    image = picture(scene, lens).copy()
    rows = cv2.resize(lay([sticker(card) for card in CARDS[:48]], 1.6), None, fx=0.5, fy=0.5)
    image[: rows.shape[0], : rows.shape[1]] = rows

    (alone,), (among,) = (search(gray_of(each), Mats(), all_mats(), 0.0).fits for each in (picture(scene, lens), image))

    assert among.layout.id == alone.layout.id == "side-1"
    assert np.abs(among.outline_px - alone.outline_px).max() < 0.5


OTHERS = (cv2.aruco.DICT_APRILTAG_36h11, cv2.aruco.DICT_6X6_250, cv2.aruco.DICT_5X5_250, cv2.aruco.DICT_4X4_250)


@pytest.mark.variants(1)
@pytest.mark.parametrize("dictionary", OTHERS)
@pytest.mark.parametrize("px_per_mm", [1.4, 3.0])
def test_tags_of_other_makers_are_no_cards(dictionary, px_per_mm):
    others = [tag_of(dictionary, number) for number in range(200)]

    assert [code.card for code in read_tags(seen(lay(others, px_per_mm))) if code.card] == []


def test_qr_stickers_are_no_tags():
    assert read_tags(seen(lay([sticker(card, "qr") for card in CARDS[::4]], 2.0))) == ()


def test_tags_and_codes_on_one_table_are_read_by_one_call():
    mixed = [sticker(card, ("tag", "qr")[number % 2]) for number, card in enumerate(CARDS[:32])]

    found = read_codes(seen(lay(mixed, 1.8)))

    assert {place_of(code, 1.8): code.card for code in found} == dict(enumerate(CARDS[:32]))


@pytest.mark.parametrize("seed", range(3))
def test_noise_and_blank_paper_are_no_tags(seed):
    chance = np.random.default_rng(seed)
    noise = chance.integers(0, 256, (400, 600)).astype(np.uint8)
    blots = cv2.GaussianBlur(noise, (0, 0), 2.5 + seed)

    assert read_tags(noise) == read_tags(cv2.normalize(blots, None, 0, 255, cv2.NORM_MINMAX)) == ()
    assert read_tags(np.full((300, 300), 128, np.uint8)) == ()


@pytest.mark.variants(1)
@pytest.mark.parametrize("share", [0.25, 0.1, 0.5])
def test_a_tag_that_is_partly_covered_is_named_rightly_or_not_at_all(share):
    covered = []
    for card in CARDS:
        image = sticker(card).copy()
        image[: int(share * 120)] = (120, 150, 205)
        covered.append(image)

    found = read_tags(seen(lay(covered, 1.6)))

    assert [code.card for code in found if code.card not in (None, CARDS[place_of(code, 1.6)])] == []

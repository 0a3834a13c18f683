"""Stickers: what is read, at which sizes and angles, and what must never be believed."""

from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest
import tableaux
from pictures import DECK, Lens, Scene, Sticker, grid_of, payload, picture

from companion.tabletop.mat_layout import all_mats
from companion.vision.boxes import Box
from companion.vision.capture.image_io import decode
from companion.vision.mats.localization import Mats, look
from companion.vision.read import gray_of
from companion.vision.stickers import reader
from companion.vision.stickers.reader import AGREED, ALONE, Before, read_codes


def scattered(seed: int, count: int = 60) -> Scene:
    """Cards of the deck in a loose grid over 624 mm, each turned its own way."""
    rng = np.random.default_rng(seed)
    grid = grid_of([payload(card) for card in rng.permutation(DECK)[:count]], 12, 52.0)
    return Scene(stickers=tuple(replace(sticker, turn_deg=rng.uniform(0, 360)) for sticker in grid))


def texts(scene: Scene) -> list[str]:
    return sorted(sticker.text.removeprefix("MB1:").lower() for sticker in scene.stickers)


NEAR = Lens(size_px=(960, 540), width_mm=400)
"""The usual camera over half of the usual width: as many pixels a millimetre, a quarter of the time."""


@cache
def gray_picture(scene: Scene, lens: Lens | None = NEAR, seed: int = 0) -> np.ndarray:
    return gray_of(picture(scene, lens, seed))


@pytest.mark.variants(1)
@pytest.mark.parametrize(
    "lens",
    [
        Lens(), Lens(tilt_deg=15), Lens(tilt_deg=30, turn_deg=12), Lens(blur_px=0.9, noise=6, jpeg=80),
        Lens(light=0.35, noise=8), Lens(light=1.1, uneven=0.3), Lens(tilt_deg=30, blur_px=0.8, noise=5),
    ],
    ids=["straight", "tilted", "far tilted and turned", "soft", "dim", "glaring", "tilted and soft"],
)  # fmt: skip
def test_every_28_mm_sticker_is_read_at_1080p_over_80_cm(lens):
    scene = scattered(seed=3)

    codes = read_codes(gray_picture(scene, lens))

    assert sorted(str(code.card) for code in codes) == texts(scene)


@pytest.mark.long
@pytest.mark.parametrize("mats", [True, False], ids=["mats", "bare table"])
def test_a_phone_near_by_reads_the_stickers_of_a_fan_whose_edges_the_next_cards_cover(mats):
    image = decode(tableaux.file_of((2800, 2100), sides=1, mats=mats), "a fan")

    codes = read_codes(gray_of(image), mats=look(gray_of(image), Mats(), 0.0, all_mats()))

    assert {code.card for code in codes} == {name.split()[0] for names in tableaux.ANN.values() for name in names}


@pytest.mark.variants(1)
@pytest.mark.parametrize("seed", range(6))
def test_no_sticker_is_ever_read_as_another_however_bad_the_picture(seed):
    rng = np.random.default_rng(seed)
    lens = Lens(
        width_mm=rng.uniform(900, 1500),
        tilt_deg=rng.uniform(0, 40),
        blur_px=rng.uniform(0.5, 1.6),
        noise=rng.uniform(3, 20),
        light=rng.uniform(0.15, 1.4),
        jpeg=int(rng.integers(30, 90)),
    )
    scene = scattered(seed)

    read = {code.card for code in read_codes(gray_picture(scene, lens, seed)) if code.card}

    assert read <= set(texts(scene))


def test_a_code_lies_where_it_was_laid_and_its_corners_start_top_left():
    lens = replace(NEAR, noise=0, uneven=0)
    code = read_codes(gray_picture(Scene(stickers=(Sticker("MB1:ROLL-03", 100, 50, 90),)), lens))[0]

    scale = 960 / 400
    assert code.centre_px == pytest.approx((479.5 + 100 * scale, 269.5 + 50 * scale), abs=0.8)
    assert code.side_px == pytest.approx(28 * 21 / 25 * scale, rel=0.03)
    (left, top), (right, bottom) = code.corners_px[3], code.corners_px[1]
    assert left < right
    assert top < bottom
    assert code.corners_px[0][0] > code.centre_px[0] > code.corners_px[2][0]


@pytest.mark.variants(1)
@pytest.mark.parametrize(
    "text", ["https://example.org", "MB1:ROLL-3", "mb1:roll-03", "MB1:HACK-01", "MB2:ROLL-03", "MB1:UNKNOWN-01"]
)
def test_a_foreign_code_is_no_sighting(text):
    big = Sticker(text, 0, 0, size_mm=60)
    codes = read_codes(gray_picture(Scene(stickers=(big, Sticker("MB1:ROLL-03", 120, 0)))))

    assert [code.card for code in codes] == ["roll-03"]


def test_a_card_of_another_deck_is_seen_and_unknown():
    scene = Scene(stickers=(Sticker("MB1:300-01", 0, 0), Sticker("MB1:200-01", 100, 0)))

    codes = read_codes(gray_picture(scene), allowed=frozenset(DECK))

    assert {(code.card, code.confidence > 0) for code in codes} == {(None, False), ("200-01", True)}


def test_the_same_card_at_two_places_is_unknown_at_both():
    scene = Scene(stickers=(Sticker("MB1:ROLL-03", -100, 0), Sticker("MB1:ROLL-03", 100, 0)))

    codes = read_codes(gray_picture(scene))

    assert [(code.card, code.confidence) for code in codes] == [(None, 0.0), (None, 0.0)]
    assert [code.twice for code in codes] == ["roll-03", "roll-03"]


ONE = Scene(stickers=(Sticker("MB1:ROLL-03", 0, 0),))
QUAD = ((452.0, 242.0), (508.0, 242.0), (508.0, 298.0), (452.0, 298.0))
"""Where the code of `ONE` lies on its picture, roughly."""


@pytest.fixture
def own_reader_silent(monkeypatch):
    """As for a code that is too large for our own reader, or one that an older version printed."""
    monkeypatch.setattr(reader, "_closed_set", lambda *_: ())
    monkeypatch.setattr(reader.codebook, "read_squares", lambda image, squares: [None] * len(squares))


@pytest.mark.parametrize(
    ("said", "card", "confidence"), [("roll-03", "roll-03", AGREED), (None, "roll-03", ALONE), ("stop-01", None, 0.0)]
)
@pytest.mark.usefixtures("own_reader_silent")
def test_what_one_general_reader_says_the_other_confirms_keeps_silent_on_or_denies(monkeypatch, said, card, confidence):
    monkeypatch.setattr(reader, "_second_opinion", lambda gray, quad: said)

    (code,) = read_codes(gray_picture(ONE))

    assert (code.card, code.confidence) == (card, confidence)


@pytest.mark.usefixtures("own_reader_silent")
def test_without_pyzbar_stickers_are_still_read(monkeypatch):
    monkeypatch.setattr(reader, "_zbar", lambda: lambda gray: [])

    assert [(code.card, code.confidence) for code in read_codes(gray_picture(ONE))] == [("roll-03", ALONE)]


@pytest.mark.usefixtures("own_reader_silent")
def test_pyzbar_really_reads():
    codes = read_codes(gray_picture(scattered(seed=5), Lens()))

    assert sum(code.confidence == AGREED for code in codes) >= 50


@pytest.mark.usefixtures("own_reader_silent")
def test_what_was_sure_before_is_not_asked_again_at_its_place(monkeypatch):
    asked = []
    monkeypatch.setattr(reader, "_second_opinion", lambda gray, quad: asked.append(1))

    (here,) = read_codes(gray_picture(ONE), before=Before({"roll-03": (480.0, 270.0)}))
    (elsewhere,) = read_codes(gray_picture(ONE), before=Before({"roll-03": (620.0, 270.0)}))

    assert (here.confidence, elsewhere.confidence) == (AGREED, ALONE)
    assert len(asked) == 1


def test_a_code_is_there_again_only_where_its_own_card_still_lies():
    scene = scattered(3, count=20)
    gray = gray_picture(scene)
    first, other, *_ = [code for code in read_codes(gray) if code.card]

    codes = [(first.card, first.corners_px), (other.card, first.corners_px), (first.card, None), (None, None)]

    assert reader.are_there(gray, codes) == (True, False, False, False)
    assert reader.are_there(gray_picture(scattered(4, count=0)), codes[:1]) == (False,)
    assert reader.are_there(gray, []) == ()


@pytest.mark.variants(1)
@pytest.mark.parametrize("said", ["stop-01", "25-07"])
def test_where_our_reader_and_a_general_one_differ_the_card_is_unknown(monkeypatch, said):
    monkeypatch.setattr(reader, "_general", lambda gray, box: [(said, QUAD)])

    (code,) = read_codes(gray_picture(ONE))

    assert (code.card, code.confidence) == (None, 0.0)


def test_only_the_boxes_asked_for_are_read():
    scene = Scene(stickers=(Sticker("MB1:ROLL-03", -200, 0), Sticker("MB1:STOP-02", 200, 100)))
    gray = gray_picture(scene, Lens())

    right = read_codes(gray, where=[Box(1300, 650, 1600, 950), Box(1500, 900, 5000, 5000)])
    nothing = read_codes(gray, where=[])

    assert [code.card for code in right] == ["stop-02"]
    assert nothing == ()
    assert right[0].centre_px == pytest.approx((959.5 + 480, 539.5 + 240), abs=1.5)


def noise_and_text() -> np.ndarray:
    gray = np.random.default_rng(0).integers(0, 255, (540, 960), np.uint8)
    for row in range(30, 540, 30):
        cv2.putText(gray, "MB1:ROLL-03 " * 6, (5, row), cv2.FONT_HERSHEY_SIMPLEX, 0.8, 0, 2)
    return gray


@pytest.mark.parametrize(
    "shown",
    [
        *(lambda shape=shape: np.zeros(shape, np.uint8) for shape in ((1, 1), (3, 400), (40, 40))),
        noise_and_text,
        lambda: gray_picture(scattered(seed=4, count=20), Lens())[:, ::-1].copy(),
    ],
    ids=["one pixel", "a strip", "an empty picture", "noise and text", "a table seen in a mirror"],
)
def test_there_is_no_sticker_in(shown):
    assert read_codes(shown()) == ()


@pytest.mark.variants(1)
@pytest.mark.parametrize("text", ["MB1:ROLL-99", "MB1:STOP-00", "MB1:ROLL-17"])
def test_a_text_of_our_form_that_no_sticker_bears_is_no_card(text):
    codes = read_codes(gray_picture(Scene(stickers=(Sticker(text, 0, 0, 12.0, 40.0),))))

    assert [code.card for code in codes] in ([], [None])


NEAR_MISSES = [
    "MB1:AC\x1bIDENT-04", "MBI:RECHARGE-07", "MB1:END-OF-POLLUTION-76", "MB1:SPARE-TIREy06", "bB1:EXTRA-TANK-03",
    "pB1:LONG-RANGE-03",
]  # fmt: skip
"""All but one sign of a sticker of ours: most of what is printed is the same."""


@pytest.mark.variants(1)
@pytest.mark.parametrize("size_mm", [20.0, 28.0])
def test_a_code_that_says_almost_what_ours_does_is_no_card(size_mm):
    scene = Scene(stickers=grid_of(NEAR_MISSES, 3, 60.0, size_mm=size_mm))

    assert [code.card for code in read_codes(gray_picture(scene, Lens(width_mm=520))) if code.card] == []

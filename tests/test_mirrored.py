"""Frames mirrored by a camera or its app are flipped back once mats are visible."""

import cv2
import numpy as np
import pytest
from pictures import Lens, Mat, Scene, Sticker, on_mat, picture

from companion.rules.cards import Card
from companion.tabletop.drawn_zones import Drawing, DrawnZone
from companion.tabletop.mat_layout import side_mat
from companion.vision.capture.image_io import decode, jpeg_of
from companion.vision.capture.sources import Frame
from companion.vision.counting.photographs import read_photo
from companion.vision.eye import Eye
from companion.vision.mirrored import LOOK_EVERY_S, is_mirrored, unmirrored
from companion.vision.quality.advice import MIRRORED
from companion.vision.quality.camera_check import Trial, verdict_of
from companion.vision.read import read_pictures

SIDE = Mat(side_mat(1), -215, -135)
ROLL = on_mat(SIDE, "battle", "MB1:ROLL-03", dx_mm=-10, dy_mm=-20)
LENS = Lens(width_mm=480, size_px=(960, 680), at_mm=(-5, 15), noise=2)
TABLE = picture(Scene(mats=(SIDE,), stickers=(ROLL,)), LENS)
BARE = picture(Scene(), LENS)
LOOSE = picture(Scene(stickers=(Sticker("MB1:STOP-01", -100, 0, 90), Sticker("MB1:25-02", 80, 20, 5))), LENS)
BATTLE = DrawnZone("side-1/battle", ((100, 100), (300, 100), (300, 400), (100, 400)))
DISTANCE = DrawnZone("side-1/distance", ((320, 100), (860, 100), (860, 580), (320, 580)))
DRAWING = Drawing((960, 680), (BATTLE, DISTANCE))


def mirror(image: np.ndarray) -> np.ndarray:
    return cv2.flip(image, 1)


def filmed(*images: np.ndarray, every_s: float = 0.2) -> list[Frame]:
    return [Frame(image, number * every_s, newest=lambda image=image: image) for number, image in enumerate(images)]


@pytest.mark.parametrize(
    ("image", "said"), [(TABLE, False), (mirror(TABLE), True), (BARE, None)], ids=["as it is", "mirrored", "no mat"]
)
def test_mats_show_whether_a_picture_is_mirrored(image, said):
    assert is_mirrored(image) is said


def test_a_card_is_read_through_a_mirroring_camera():
    eye = Eye()
    views = [eye(frame) for frame in unmirrored(filmed(*[mirror(TABLE)] * 9))]

    assert [(s.face, s.card, s.zone) for s in views[-1].sightings] == [(Card.ROLL, "roll-03", "side-1/battle")]


def test_people_see_the_table_unmirrored_too():
    (frame,) = unmirrored(filmed(mirror(TABLE)))

    assert (frame.image == TABLE).all()
    assert (frame.newest() == TABLE).all()


def test_a_frame_that_is_not_mirrored_is_unchanged():
    frames = filmed(TABLE, BARE)

    assert all(one is other for one, other in zip(unmirrored(frames), frames, strict=True))


def test_mats_added_later_are_detected_as_mirrored_and_earlier_frames_do_not_count():
    frames = filmed(*[mirror(BARE)] * 3, *[mirror(TABLE)] * 4, every_s=LOOK_EVERY_S / 2)

    seen = [*unmirrored(frames)]

    assert [(frame.image == TABLE).all() for frame in seen] == [False] * 4 + [True] * 3
    assert [frame.after_gap for frame in seen] == [False] * 4 + [True, False, False]


def test_a_hand_over_all_markers_changes_nothing():
    seen = [*unmirrored(filmed(mirror(TABLE), mirror(BARE), mirror(TABLE), every_s=60.0))]

    assert [(frame.image == TABLE).all() for frame in seen] == [True, False, True]
    assert (seen[1].image == BARE).all()


def test_mirroring_by_hand_does_not_undo_the_correction():
    turned = [False]
    coming = unmirrored(
        (Frame(mirror(TABLE) if not turned[0] else TABLE, 0.1 * n) for n in range(9)), lambda: turned[0]
    )
    first = next(coming)
    turned[0] = True
    second = next(coming)

    assert (first.image == TABLE).all()
    assert (second.image == TABLE).all()


def test_a_mirrored_photo_is_counted_and_shown_unmirrored():
    photo = read_photo(jpeg_of(mirror(TABLE)), "photograph 1")

    assert [(s.card, s.zone) for s in photo.view.sightings] == [("roll-03", "side-1/battle")]
    assert is_mirrored(decode(photo.jpeg, "as shown")) is False


def test_a_mirroring_camera_is_tested_unmirrored():
    as_it_is, mirrored = (verdict_of(Trial("The camera", (image,)), [SIDE.layout]) for image in (TABLE, mirror(TABLE)))

    assert [(one.aspect, one.is_good) for one in mirrored.findings] == [
        (one.aspect, one.is_good) for one in as_it_is.findings
    ]
    assert "No mat found" not in mirrored.next_step


def test_a_mirrored_photo_of_cards_without_mats_is_counted():
    photo = read_photo(jpeg_of(mirror(LOOSE)), "photograph 1")

    assert sorted(str(s.card) for s in photo.view.sightings) == ["25-02", "stop-01"]


def test_a_mirrored_picture_of_cards_without_mats_is_read_and_reported_as_mirrored(tmp_path):
    for name, image in (("plain", LOOSE), ("mirrored", mirror(LOOSE))):
        cv2.imwrite(str(tmp_path / f"{name}.png"), image)

    plain, mirrored = read_pictures([tmp_path / "plain.png", tmp_path / "mirrored.png"])

    assert "mirrored" not in plain
    assert mirrored["mirrored"]
    at = {card["card"]: card["centre_px"] for card in plain["cards"]}
    assert len(at) == 2
    for card in mirrored["cards"]:
        x, y = at[card["card"]]
        assert card["centre_px"] == pytest.approx([LOOSE.shape[1] - 1 - x, y], abs=0.5)


@pytest.mark.parametrize("drawing", [None, DRAWING], ids=["nothing", "drawn zones"])
def test_a_mirroring_camera_without_mats_is_named_as_such(drawing):
    as_it_is, mirrored = (
        verdict_of(Trial("The camera", (image,)), drawing=drawing) for image in (LOOSE, mirror(LOOSE))
    )

    assert mirrored.next_step == MIRRORED.say
    assert MIRRORED.say not in as_it_is.steps

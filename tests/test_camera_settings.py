"""Saved camera settings: rotation, and which cameras look at the table together."""

import os

import numpy as np
import pytest

from companion.common.errors import Problem
from companion.pages.table_camera import camera_settings
from companion.pages.table_camera.camera_settings import AS_IT_IS, OTHERS_NAME, KeptTurn, OtherCameras, Turn
from companion.storage.data_folder import TURN_NAME
from companion.vision.capture.sources import Frame

PICTURE = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
"""Two rows of three pixels, all different."""


@pytest.mark.parametrize(
    ("turn", "corner"),
    [
        (Turn(), PICTURE[0, 0]), (Turn(90), PICTURE[1, 0]), (Turn(180), PICTURE[1, 2]), (Turn(270), PICTURE[0, 2]),
        (Turn(0, mirrored=True), PICTURE[0, 2]), (Turn(180, mirrored=True), PICTURE[1, 0]),
    ],
)  # fmt: skip
def test_a_picture_is_rotated_clockwise_and_then_mirrored(turn, corner):
    turned = turn.of(PICTURE)

    assert (turned[0, 0] == corner).all()
    assert turned.shape == ((3, 2, 3) if turn.degrees in (90, 270) else (2, 3, 3))


def test_frames_are_rotated_by_the_current_setting(tmp_path):
    kept = KeptTurn(tmp_path)
    frames = kept.turned(Frame(PICTURE, float(number)) for number in range(2))

    first = next(frames)
    kept.keep(Turn(180))

    assert first.image is PICTURE
    assert (next(frames).image == PICTURE[::-1, ::-1]).all()


def test_a_newer_picture_is_rotated_too(tmp_path):
    kept = KeptTurn(tmp_path)
    kept.keep(Turn(180))
    (turned, without) = kept.turned([Frame(PICTURE, 0.0, newest=lambda: PICTURE + 1), Frame(PICTURE, 0.1)])

    assert (turned.newest() == (PICTURE + 1)[::-1, ::-1]).all()
    assert without.newest() is None


def test_the_rotation_is_saved_in_the_data_folder(tmp_path):
    KeptTurn(tmp_path).keep(Turn(270, mirrored=True))

    assert KeptTurn(tmp_path).current == Turn(270, mirrored=True)


@pytest.mark.parametrize(
    "damaged", ["", "{", "[]", "7", '{"degrees": 90}', "[" * 5000, '{"degrees": [], "mirrored": 1}', os.mkfifo]
)
def test_an_unreadable_setting_rotates_nothing(tmp_path, damaged):
    path = tmp_path / TURN_NAME
    path.write_text(damaged) if isinstance(damaged, str) else damaged(path)

    assert KeptTurn(tmp_path).current == AS_IT_IS


def test_a_missing_folder_is_reported_and_rotates_nothing(tmp_path):
    kept = KeptTurn(tmp_path / "gone")

    with pytest.raises(Problem, match="cannot be written"):
        kept.keep(Turn(90))

    assert kept.current == AS_IT_IS


# --- Additional cameras ----------------------------------------------------------------------------------------


@pytest.fixture
def devices(monkeypatch):
    monkeypatch.setattr(camera_settings, "video_devices", lambda: ["/dev/video0", "/dev/video2", "/dev/video4"])


def test_an_added_camera_is_still_there_after_a_restart(tmp_path, devices):
    others = OtherCameras(tmp_path, first=lambda: "/dev/video0")
    assert others.choices() == ["/dev/video2", "/dev/video4"]

    others.add("/dev/video4")
    others.add("http://192.168.1.30:8080/video")
    others.leave_out(0)

    assert OtherCameras(tmp_path).sources == ("http://192.168.1.30:8080/video",)


@pytest.mark.parametrize("source", ["", "/dev/video0", "/dev/video9", "/etc/passwd", "file:///etc/passwd", "demo:"])
def test_a_source_that_is_not_a_camera_or_already_used_is_not_added(tmp_path, devices, source):
    others = OtherCameras(tmp_path, first=lambda: "/dev/video0")

    with pytest.raises(Problem, match="is not a camera that can be added"):
        others.add(source)

    assert others.sources == ()


def test_the_number_of_cameras_is_limited(tmp_path, devices):
    others = OtherCameras(tmp_path)
    for number in range(camera_settings.MOST_OTHERS):
        others.add(f"http://192.168.1.{number}/video")

    with pytest.raises(Problem, match="remove one first"):
        others.add("/dev/video0")


@pytest.mark.parametrize("kept", ["", "{", "[1]", '"x"', '["demo:", "/etc/passwd"]', "[" * 10_000])
def test_a_damaged_list_of_cameras_counts_as_empty(tmp_path, kept):
    (tmp_path / OTHERS_NAME).write_text(kept, encoding="utf-8")

    assert OtherCameras(tmp_path).sources == ()


def test_cameras_named_at_the_start_replace_the_saved_ones(tmp_path):
    (tmp_path / OTHERS_NAME).write_text('["/dev/video4"]', encoding="utf-8")

    assert OtherCameras(tmp_path, ["/dev/video2"]).sources == ("/dev/video2",)

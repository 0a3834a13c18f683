"""The doctor: one line for each check, required or optional."""

import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Self
from unittest import mock

import cv2
import numpy as np
import pytest
from flask import Flask
from logs import changed, played
from pictures import Lens, Mat, Scene, picture
from serving import running

from companion.app import doctor
from companion.common.errors import Problem
from companion.tabletop.drawn_zones import parse_drawing
from companion.tabletop.mat_layout import side_mat
from companion.vision.capture.devices import unanswered
from companion.vision.quality.camera_check import Trial, tried


def test_every_check_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("companion.vision.capture.sources.camera_answers", lambda: None)

    found = list(doctor.checks(tmp_path, port=0))

    assert [c.name for c in found] == [
        "OpenCV", "zxing-cpp", "pyzbar", "camera", "clock", "data folder", "matches", "power", "port",
    ]  # fmt: skip
    assert all(c.sentence and "\n" not in c.sentence for c in found)


def bad(name: str, *, needed: bool = False) -> doctor.Check:
    return doctor.Check(name, False, needed, "It is not well.")


@pytest.mark.parametrize(
    ("found", "begins"),
    [
        ([doctor.Check("camera", True, False, "It is well.")], "All good"),
        ([bad("camera")], "You can play by hand now"),
        ([bad("clock")], "You can play now"),
        ([bad("camera"), bad("OpenCV", needed=True)], "The companion cannot work yet"),
        ([bad("mats"), doctor.Check("verdict", False, False, "Not yet. Lay the mats.")], "Not yet. Lay the mats."),
    ],
)
def test_the_verdict_first_says_whether_you_can_play(found, begins):
    assert doctor.verdict(found).startswith(begins)


PICTURE = np.full((1080, 1920, 3), 90, np.uint8)


def trial(image: np.ndarray = PICTURE, **more: object) -> Trial:
    return Trial("The camera /dev/video0", (image,), **more)


def no_port() -> doctor.Check:
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        return doctor.port_free(taken.getsockname()[1])


@pytest.mark.parametrize(("answer", "is_ours"), [({"version": 1}, True), ([7], False), ({"version": "2.1"}, False)])
def test_only_another_program_on_the_port_is_a_fault_not_a_companion(answer, is_ours):
    app = Flask(__name__)
    app.add_url_rule("/version", "version", lambda: answer)
    with running(app) as url:
        found = doctor.port_free(int(url.rpartition(":")[2]))

    assert (found.ok, "A companion is already running here" in found.sentence) == (is_ours, is_ours)


def seeing(*source: str) -> doctor.Check:
    (check,) = doctor.seeing(*source)
    return check


def full_disk() -> doctor.Check:
    with mock.patch("shutil.disk_usage", return_value=SimpleNamespace(free=1000)):
        return doctor.disk(Path("/none/yet"))


def seeing_by(answer: object) -> doctor.Check:
    """Return the camera check if the search for the first camera has this result."""
    with mock.patch("companion.vision.capture.sources.camera_answers", side_effect=[answer]):
        return seeing()


@pytest.mark.parametrize(
    ("check", "needed", "says"),
    [
        (lambda: doctor.library("no_such_library", "zbar", "type `apt-get install libzbar0`"), True, "type `apt-get"),
        (lambda: seeing_by(None), False, "plug one in"),
        (lambda: seeing_by(Problem("The camera is busy.")), False, "busy"),
        (lambda: seeing_by(ImportError("libGL.so.1")), False, "OpenCV"),
        (lambda: seeing("nowhere.jpg"), True, "nowhere.jpg"),
        (lambda: seeing("rtsp//ann:secret@10.0.0.5/a.jpg"), True, "folder or camera rtsp//10.0.0.5: check"),
        (full_disk, False, "free some space"),
        (lambda: doctor.disk(Path("/proc/1/nothing")), True, "--data"),
        (no_port, True, "port"),
    ],
    ids=[
        "a library",
        "no camera",
        "a busy one",
        "no OpenCV",
        "no source",
        "no address",
        "a full disk",
        "no folder",
        "a taken port",
    ],
)
def test_missing_parts_are_required_or_optional_and_come_with_advice(check, needed, says):
    found = check()

    assert (found.ok, found.needed) == (False, needed)
    assert says in found.sentence


def test_the_camera_that_answers_is_tried(monkeypatch):
    looked_at = []

    def tried(source: str, **_how: object) -> Trial:
        looked_at.append(source)
        return trial(fps=24.4, kind="MJPG")

    monkeypatch.setattr("companion.vision.capture.sources.camera_answers", lambda: "/dev/video0")
    monkeypatch.setattr("companion.vision.quality.camera_check.tried", tried)
    checks = list(doctor.seeing())

    assert looked_at == ["/dev/video0"]
    assert checks[0].sentence == ("The camera /dev/video0 gives pictures of 1920 × 1080 pixels, 24 a second, as MJPG.")
    assert [check.name for check in checks][:4] == ["camera", "mats", "pace", "verdict"]


@pytest.mark.parametrize(
    ("seen", "ok", "says"),
    [
        (trial(fps=25.0), True, "25 a second"),
        (trial(fps=4.0), False, "USB port"),
        (trial(np.zeros((480, 640, 3), np.uint8), fps=25.0), False, "1920 × 1080 is better"),
        (trial(np.zeros((480, 640, 3), np.uint8)), True, "has 640 × 480 pixels"),
    ],
)
def test_a_slow_or_small_camera_is_reported(seen, ok, says):
    check = doctor.pictures(seen)

    assert (check.ok, check.needed) == (ok, False)
    assert says in check.sentence


SIDE = Mat(side_mat(1), -210, -150)


@pytest.fixture(scope="module")
def near():
    """A well-seen table."""
    return picture(Scene(mats=(SIDE,)), Lens(width_mm=900))


@pytest.fixture
def photo(near, tmp_path):
    cv2.imwrite(str(tmp_path / "table.png"), near)
    return tmp_path / "table.png"


def test_a_well_seen_table_is_reported_finding_by_finding(photo):
    checks = list(doctor.seeing(str(photo)))

    assert [(check.name, check.sentence) for check in checks[1:]] == [
        ("mats", "One mat found."), ("glare", "None."), ("focus", "Sharp."), ("light", "Good light."),
        ("stickers", "Readable from 11.5 mm; the usual size is 20 mm."), ("faces", "Readable without stickers."),
        ("verdict", "All good: you can play. Leave the camera where it is, and set up the game."),
    ]  # fmt: skip
    assert all(check.ok for check in checks)


def test_there_is_one_verdict_and_it_comes_first(called, photo):
    ran = called("doctor", "--camera", "--source", photo, "--data", photo.parent)

    assert ran.stdout.startswith("All good: you can play. Leave the camera where it is, and set up the game.\n\n")
    assert ran.stdout.count("you can play") == 1
    assert "power: " not in ran.stdout


def test_the_verdict_names_the_next_step():
    far = trial(picture(Scene(mats=(SIDE,)), Lens(width_mm=2000)))

    *_, verdict = doctor.table(far, None)

    assert (verdict.ok, verdict.needed) == (False, False)
    assert verdict.sentence.startswith("Not yet: cards would go unread. Move the camera")


def test_missing_mats_are_reported(near):
    checks = doctor.table(trial(near), [side_mat(1), side_mat(2)])

    assert any("side 2 was not found" in check.sentence for check in checks)


DRAWING = parse_drawing(
    {
        "picture": [1920, 1080],
        "zone": [
            {"name": "side-1/battle", "rect": [100, 100, 200, 300]},
            {"name": "side-1/distance", "rect": [400, 100, 600, 300]},
        ],
    }
)


def test_drawn_zones_replace_mats_that_are_not_seen():
    seen = trial(picture(Scene(), Lens(width_mm=900)))
    told = {check.name: check for check in doctor.table(seen, [side_mat(1)], DRAWING)}

    assert told["mats"].sentence == "Drawn zones of one mat."
    assert not told["verdict"].ok
    assert "stickers can be read. Put a card in each zone" in told["verdict"].sentence


def test_zones_drawn_on_a_picture_of_other_proportions_are_reported():
    (check,) = doctor.table(trial(np.full((600, 600, 3), 90, np.uint8)), None, DRAWING)

    assert not check.ok
    assert "600 × 600, but the zones were drawn on a picture of 1920 × 1080" in check.sentence


class SteadyCamera:
    """A camera with a picture every 40 ms of its own virtual clock."""

    def __init__(self, pictures: int = 1000) -> None:
        self.now_s = 0.0
        self.left = pictures
        self.closed = False

    def plugged_in(self, monkeypatch: pytest.MonkeyPatch) -> Self:
        monkeypatch.setattr("companion.vision.quality.camera_check.opener_of", lambda source: lambda: self)
        monkeypatch.setattr("companion.vision.quality.camera_check.time", SimpleNamespace(monotonic=lambda: self.now_s))
        return self

    def grab(self) -> bool:
        self.now_s += 0.04
        self.left -= 1
        return self.left >= 0

    def retrieve(self) -> np.ndarray:
        return PICTURE

    def kind(self) -> str:
        return "MJPG"

    def close(self) -> None:
        self.closed = True


def test_a_camera_is_measured_after_its_exposure_has_settled(monkeypatch):
    camera = SteadyCamera().plugged_in(monkeypatch)

    seen = tried("0")

    assert seen.fps == pytest.approx(25.0)
    assert (seen.kind, len(seen.pictures), camera.closed) == ("MJPG", 3, True)


def test_a_camera_that_stops_during_the_trial_is_a_problem(monkeypatch):
    camera = SteadyCamera(pictures=60).plugged_in(monkeypatch)

    with pytest.raises(Problem, match="sends no pictures"):
        tried("0")

    assert camera.closed


class SlowStream(SteadyCamera):
    """A stream with its first picture `first_s` after the connection, and then one every `every_s`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, first_s: float, every_s: float = 0.2) -> None:
        super().__init__()
        self.first_s, self.every_s = first_s, every_s
        self.plugged_in(monkeypatch)
        monkeypatch.setattr("companion.vision.quality.camera_check.opener_of", self.opener_of)

    def opener_of(self, source: str, *, first_picture_s: Callable[[], float]) -> Callable[[], Self]:
        def opened() -> Self:
            self.now_s += min(self.first_s, first_picture_s())
            if self.first_s > first_picture_s():
                raise unanswered(source)
            return self

        return opened

    def grab(self) -> bool:
        self.now_s += self.every_s
        return True


def test_a_slow_stream_is_waited_for_with_a_message(monkeypatch):
    stream, said = SlowStream(monkeypatch, 8.0), []

    seen = tried("http://camera/a.mjpg", said.append)

    assert seen.fps == pytest.approx(5.0)
    assert [str(one) for one in said] == ["Waiting up to 10 seconds for the first picture of http://camera."]
    assert stream.closed


def test_a_stream_that_never_starts_does_not_answer(monkeypatch):
    stream = SlowStream(monkeypatch, 1000.0)

    with pytest.raises(Problem, match=r"The stream http://camera/a\.mjpg does not answer"):
        tried("http://camera/a.mjpg")

    assert stream.now_s == 5 + 10 + 20 + 40


def test_a_slow_stream_is_measured_in_a_few_seconds(monkeypatch):
    stream = SlowStream(monkeypatch, 1.0, every_s=2.0)

    assert tried("http://camera/a.mjpg").fps == pytest.approx(0.5)
    assert stream.now_s < 20


def test_a_folder_of_pictures_is_checked(tmp_path):
    for number in range(5):
        cv2.imwrite(str(tmp_path / f"{number}.png"), PICTURE[:100, :100])

    assert len(tried(str(tmp_path)).pictures) == 3


@pytest.mark.parametrize(
    ("now_s", "set_by_network", "ok", "says"),
    [(0.0, None, False, "19"), (4e9, None, True, ""), (4e9, "no", True, "not synchronized over the network")],
)
def test_a_clock_that_was_never_set_is_reported(now_s, set_by_network, ok, says, monkeypatch):
    monkeypatch.setattr("companion.common.clock.now_s", lambda: now_s)
    monkeypatch.setattr(doctor, "_said", lambda command: set_by_network)
    check = doctor.clock()

    assert check.ok is ok
    assert says in check.sentence


@pytest.mark.parametrize(
    ("said", "ok", "says"),
    [
        ("throttled=0x0", True, "strong enough"), ("throttled=0x50005", False, "Too little power now"),
        ("throttled=0x50000", False, "since it was switched on"), ("throttled=0x4", False, "hot"),
        ("nonsense", True, "does not report"), (None, True, "does not report"),
    ],
)  # fmt: skip
def test_a_raspberry_pis_power_supply_is_checked(said, ok, says, monkeypatch):
    monkeypatch.setattr(doctor, "_said", lambda command: said)
    check = doctor.power()

    assert check.ok is ok
    assert says in check.sentence


# --- The matches ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "ok", "needed", "says"),
    [
        ("", True, False, "All matches can be read, up to event 6."),
        ("UPDATE event SET body = replace(body, 'Ann', 'Anf') WHERE seq = 4", False, False, "is damaged: start the"),
        ("DELETE FROM event WHERE seq > 4", False, False, "is missing: start the companion"),
        ("PRAGMA user_version = 99", False, True, "was written by a newer version"),
    ],
)
def test_whether_the_companion_can_start_with_its_matches_is_said(tmp_path, statement, ok, needed, says):
    assert doctor.matches(tmp_path).sentence == "The data folder has no matches yet."
    path = played(tmp_path, matches=1, plays=3)
    changed(path, statement)

    check = doctor.matches(tmp_path)

    assert (check.ok, check.needed) == (ok, needed)
    assert says in check.sentence

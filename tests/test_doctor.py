"""The doctor: one line a check, and what is needed told from what is good to have."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from companion.errors import Problem
from companion.vision import doctor


def broken_camera() -> str | None:
    raise Problem("The camera is busy.")


def without_opencv() -> str | None:
    raise ImportError("libGL.so.1")


def test_every_check_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "_camera_answers", lambda: None)

    found = list(doctor.checks(tmp_path, port=0))

    assert [c.name for c in found] == [
        "OpenCV", "zxing-cpp", "pyzbar", "camera", "clock", "data folder", "power", "port",
    ]  # fmt: skip
    assert all(c.sentence and "\n" not in c.sentence for c in found)


def test_a_missing_library_is_needed_and_the_sentence_says_what_to_type():
    check = doctor.library("no_such_library", "zbar", "type  sudo apt-get install libzbar0")

    assert (check.ok, check.needed) == (False, True)
    assert "sudo apt-get install libzbar0" in check.sentence


@pytest.mark.parametrize(
    ("answers", "ok", "says"),
    [
        (lambda: "/dev/video0", True, "/dev/video0"),
        (lambda: None, False, "plug one in"),
        (broken_camera, False, "busy"),
        (without_opencv, False, "OpenCV"),
    ],
)
def test_a_camera_is_good_to_have(answers, ok, says):
    check = doctor.camera(answers)

    assert (check.ok, check.needed) == (ok, False)
    assert says in check.sentence


@pytest.mark.parametrize(("now_s", "ok"), [(0.0, False), (4e9, True)])
def test_a_clock_that_was_never_set_is_noticed(now_s, ok):
    assert doctor.clock(now_s, run=lambda command: None).ok is ok


def test_a_clock_that_no_network_sets_is_all_right_and_said():
    check = doctor.clock(4e9, run=lambda command: "no")

    assert check.ok
    assert "not set by the network" in check.sentence


@pytest.mark.parametrize(
    ("said", "ok", "says"),
    [
        ("throttled=0x0", True, "strong enough"),
        ("throttled=0x50005", False, "Too little power now"),
        ("throttled=0x50000", False, "since it was switched on"),
        ("throttled=0x4", False, "hot"),
        ("nonsense", True, "does not say"),
        (None, True, "does not say"),
    ],
)
def test_a_raspberry_pi_says_how_its_power_supply_does(said, ok, says):
    check = doctor.power(run=lambda command: said)

    assert check.ok is ok
    assert says in check.sentence


def test_a_full_disk_is_noticed(tmp_path):
    check = doctor.disk(tmp_path / "not there yet", free=lambda folder: 1000)

    assert (check.ok, check.needed) == (False, False)
    assert "make room" in check.sentence


def test_a_data_folder_that_cannot_be_written_to_is_noticed(tmp_path):
    check = doctor.disk(Path("/proc/1/nothing"))

    assert (check.ok, check.needed) == (False, True)
    assert "--data" in check.sentence


def test_a_taken_port_is_noticed():
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]

        check = doctor.port_free(port)

    assert (check.ok, check.needed) == (False, True)
    assert str(port) in check.sentence


def test_a_program_that_is_not_there_says_nothing():
    assert doctor._said(["no-such-program-anywhere"]) is None

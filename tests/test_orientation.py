"""The camera's picture is turned as people want to see it, and stays so."""

from __future__ import annotations

import os

import numpy as np
import pytest

from companion.common.errors import Problem
from companion.vision.capture.orientation import AS_IT_IS, KEPT_NAME, KeptTurn, Turn
from companion.vision.capture.sources import Frame

PICTURE = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
"""Two rows of three pixels, all different."""


@pytest.mark.parametrize(
    ("turn", "corner"),
    [
        (Turn(), PICTURE[0, 0]),
        (Turn(90), PICTURE[1, 0]),
        (Turn(180), PICTURE[1, 2]),
        (Turn(270), PICTURE[0, 2]),
        (Turn(0, mirrored=True), PICTURE[0, 2]),
        (Turn(180, mirrored=True), PICTURE[1, 0]),
    ],
)
def test_a_picture_is_turned_clockwise_and_then_mirrored(turn, corner):
    assert (turn.of(PICTURE)[0, 0] == corner).all()


def test_a_quarter_makes_a_wide_picture_high():
    assert Turn(90).of(PICTURE).shape == (3, 2, 3)


def test_frames_are_turned_as_is_in_force_when_they_come():
    kept = KeptTurn()
    frames = kept.turned(Frame(PICTURE, float(number)) for number in range(2))

    first = next(frames)
    kept.keep(Turn(180))

    assert first.image is PICTURE
    assert (next(frames).image == PICTURE[::-1, ::-1]).all()


def test_a_turn_is_kept_in_the_data_folder(tmp_path):
    KeptTurn(tmp_path).keep(Turn(270, mirrored=True))

    assert KeptTurn(tmp_path).current == Turn(270, mirrored=True)


@pytest.mark.parametrize(
    "damaged", ["", "{", "[]", "7", '{"degrees": 90}', "[" * 5000, '{"degrees": [], "mirrored": 1}']
)
def test_what_cannot_be_read_turns_nothing(tmp_path, damaged):
    (tmp_path / KEPT_NAME).write_text(damaged)

    assert KeptTurn(tmp_path).current == AS_IT_IS


def test_a_folder_that_is_gone_is_said_and_turns_nothing(tmp_path):
    kept = KeptTurn(tmp_path / "gone")

    with pytest.raises(Problem, match="cannot be written"):
        kept.keep(Turn(90))

    assert kept.current == AS_IT_IS


def test_what_is_no_file_turns_nothing(tmp_path):
    os.mkfifo(tmp_path / "picture-turn.json")

    assert KeptTurn(tmp_path).current == AS_IT_IS

"""The pictures of several cameras, taken together."""

from __future__ import annotations

import queue
from collections.abc import Iterator

import numpy as np

from companion.common.errors import Problem
from companion.vision.capture import frame_sets as sets
from companion.vision.capture.frame_sets import GREY
from companion.vision.capture.sources import Frame


class Sending:
    """A camera that sends what it is given, and nothing else."""

    def __init__(self, level: int) -> None:
        self._level, self._to_come = level, queue.Queue[Frame | None]()
        self.is_fresh = True

    def sends(self, *times_s: float) -> Sending:
        for t_s in times_s:
            self._to_come.put(Frame(np.full((4, 6, 3), self._level, np.uint8), t_s, is_fresh=lambda: self.is_fresh))
        return self

    def ends(self) -> None:
        self._to_come.put(None)

    def frames(self) -> Iterator[Frame]:
        while (frame := self._to_come.get()) is not None:
            yield frame


class Table:
    """A first camera, and others that are added and left out."""

    def __init__(self, *others: str) -> None:
        self.others, self.first, self.second = list(others), Sending(10), Sending(20)
        self.sets = sets.frame_sets(
            self.first.frames(), lambda: tuple(self.others), lambda *_: self.second.frames(), lambda: False
        )

    def both(self) -> Frame:
        """The next set with a picture of each camera: the first sets may have only that of one which was quicker."""
        return next(frame for frame in self.sets if all(part.frame for part in frame.parts))


def test_frames_of_one_camera_are_passed_on_as_they_are():
    table = Table()
    table.first.sends(1.0)

    frame = next(table.sets)

    assert (frame.t_s, frame.parts, frame.image.shape) == (1.0, (), (4, 6, 3))


def test_pictures_of_two_stand_one_above_the_other_and_each_is_looked_at_once():
    table = Table("/dev/video2")
    table.first.sends(1.0, 1.1, 1.2, 1.3)
    table.second.sends(1.0, 1.1)

    frame, later = table.both(), table.both()

    assert frame.image[:, 0, 0].tolist() == [10] * 4 + [20] * 4
    assert [part.at_px for part in frame.parts] == [(0, 0), (0, 4)]
    assert not {id(part.frame) for part in frame.parts} & {id(part.frame) for part in later.parts}


def test_a_camera_that_sends_nothing_is_not_waited_for_and_its_place_stays_grey():
    table = Table("/dev/video2")
    table.first.sends(1.0, 1.1, 1.2, 1.3)
    table.second.sends(1.0)
    before = table.both()
    table.second.is_fresh = False

    frame = next(table.sets)

    assert [part.frame is None for part in frame.parts] == [False, True]
    assert frame.image[:, 0, 0].tolist() == [10] * 4 + [GREY] * 4
    assert (frame.image.shape, before.is_fresh(), frame.is_fresh()) == (before.image.shape, False, True)


def test_every_picture_of_every_camera_is_in_one_set():
    times_s = [number / 10 for number in range(30)]
    table = Table("/dev/video2")
    table.first.sends(*times_s).ends()
    table.second.sends(*times_s).ends()

    together = list(table.sets)

    for camera in (0, 1):
        assert [s.parts[camera].frame.t_s for s in together if s.parts[camera].frame] == times_s


def test_a_camera_is_added_and_left_out_while_the_table_is_looked_at():
    table = Table()
    table.first.sends(1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
    table.second.sends(1.0)
    assert next(table.sets).parts == ()
    table.others = ["/dev/video2"]
    assert len(table.both().parts) == 2

    table.others = []

    assert next(table.sets).parts == ()


def test_the_pictures_end_where_those_of_all_cameras_have_ended():
    table = Table("/dev/video2")
    table.first.sends(1.0).ends()
    table.second.ends()

    assert [frame.t_s for frame in table.sets] == [1.0]


def test_what_is_no_camera_after_all_is_a_sentence_and_the_others_go_on(caplog):
    def opened(source: str, _is_left: object) -> Iterator[Frame]:
        raise Problem(f"{source} is no film.")

    first = Sending(10).sends(1.0, 1.1)
    first.ends()
    together = sets.frame_sets(first.frames(), lambda: ("notes.txt",), opened, lambda: False)

    assert [frame.t_s for frame in together] == [1.0, 1.1]
    assert [(said.getMessage(), said.exc_info) for said in caplog.records] == [("notes.txt is no film.", None)]


def test_three_and_four_pictures_stand_in_two_columns():
    pictures = [Frame(np.full((2, 3, 3), n, np.uint8), 0.0) for n in (1, 2, 3)]

    whole = sets.side_by_side(pictures, (3, 2))

    assert whole.image[:, :, 0].tolist() == [[1, 1, 1, 2, 2, 2]] * 2 + [[3, 3, 3, GREY, GREY, GREY]] * 2

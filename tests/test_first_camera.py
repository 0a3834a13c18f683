"""A camera is found whenever it is plugged in; the table has long begun to play."""

from __future__ import annotations

from companion.first_camera import TRY_AGAIN_S, FirstCamera


class Room:
    """A room where things are plugged in as time goes by."""

    def __init__(self, devices: dict[float, list[str]], answers: dict[float, str], closes_s: float = 1000.0) -> None:
        self.now_s = 0.0
        self.tries_s: list[float] = []
        self._devices, self._answers, self._closes_s = devices, answers, closes_s
        self.first = FirstCamera(self.answer, self.devices, self.wait, lambda: self.now_s)

    def answer(self) -> str | None:
        self.tries_s.append(self.now_s)
        return next((source for since_s, source in self._answers.items() if self.now_s >= since_s), None)

    def devices(self) -> list[str]:
        return [name for since_s, names in self._devices.items() if self.now_s >= since_s for name in names]

    def wait(self, pause_s: float) -> bool:
        self.now_s += pause_s
        return self.now_s >= self._closes_s


def test_a_camera_that_answers_at_once_is_taken_without_a_word():
    room, said = Room({0: ["/dev/video0"]}, {0: "/dev/video0"}), []

    assert room.first.found(lambda: said.append("none")) == "/dev/video0"
    assert (room.first.is_there, said, room.tries_s) == (True, [], [0.0])


def test_a_camera_that_is_plugged_in_later_is_tried_as_soon_as_it_is_there():
    room, said = Room({11: ["/dev/video0"]}, {11: "/dev/video0"}), []

    assert room.first.found(lambda: said.append("none")) == "/dev/video0"
    assert (said, room.tries_s) == (["none"], [0.0, 12.0])


def test_a_device_that_does_not_answer_yet_is_tried_again_now_and_then():
    room = Room({0: ["/dev/video0"]}, {70: "/dev/video0"})

    assert room.first.found() == "/dev/video0"
    assert room.tries_s == [0.0, TRY_AGAIN_S, 2 * TRY_AGAIN_S, 3 * TRY_AGAIN_S]


def test_the_search_ends_with_the_service():
    room = Room({}, {}, closes_s=50)

    assert room.first.found() is None
    assert (room.first.is_there, room.now_s) == (False, 50)

"""A camera is found whenever it is plugged in; the table has long begun to play."""

from contextlib import suppress

from companion.common.errors import Problem
from companion.vision.capture.devices import TRY_AGAIN_S, FirstCamera, Openers, openers


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
    assert (room.first.source, said, room.tries_s) == ("/dev/video0", [], [0.0])


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
    assert (room.first.source, room.now_s) == (None, 50)


class Plugged:
    """Cameras that are plugged in and out by hand; those of them in `mute` do not answer."""

    def __init__(self, *there: str) -> None:
        self.there, self.mute = list(there), set[str]()
        self.now_s, self.asked = 0.0, 0
        self.first = FirstCamera(
            self.answers, lambda: list(self.there), lambda _pause_s: True, lambda: self.now_s, self.openers
        )
        self.first.found()
        self.asked = 0

    def answers(self) -> str | None:
        self.asked += 1
        return next((name for name in self.there if name not in self.mute), None)

    def openers(self, source: str) -> Openers:
        return Openers(lambda: self.open(source), lambda: source in self.there)

    def open(self, source: str) -> str:
        if source not in self.there:
            raise Problem("It is gone.")
        return source

    def opened(self) -> str | None:
        with suppress(Problem):
            return self.first.open()
        return None


def test_a_camera_that_is_there_is_opened_again_whatever_else_is_plugged_in():
    room = Plugged("/dev/video2", "/dev/video0")

    assert (room.opened(), room.asked) == ("/dev/video2", 0)


def test_another_camera_takes_the_place_of_one_that_is_gone():
    room = Plugged("/dev/video0")
    room.there = []
    assert (room.opened(), room.asked) == (None, 0)

    room.there = ["/dev/video2"]
    assert (room.opened(), room.first.source) == ("/dev/video2", "/dev/video2")
    room.there = ["/dev/video0", "/dev/video2"]
    assert room.opened() == "/dev/video2"


def test_devices_that_do_not_answer_are_tried_again_now_and_then_only():
    room = Plugged("/dev/video0")
    room.there, room.mute = ["/dev/video10"], {"/dev/video10"}

    assert [room.opened() for _ in range(5)] == [None] * 5
    assert room.asked == 1
    room.now_s += TRY_AGAIN_S
    assert (room.opened(), room.asked) == (None, 2)
    room.there.append("/dev/video2")
    assert room.opened() == "/dev/video2"


def test_a_camera_with_a_device_is_gone_with_it_and_one_on_the_ribbon_cable_never_is():
    assert not openers("/dev/video-none").is_there()
    assert openers("/dev/null").is_there()
    assert openers("picamera2:").is_there()

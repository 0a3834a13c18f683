"""A camera is found whenever it is plugged in, even after the game has begun."""

import math
from contextlib import suppress

from companion.common.errors import Problem
from companion.vision.capture.devices import TRY_AGAIN_S, FirstCamera, Openers, openers


class Room:
    """Cameras that are plugged in and out, by command or over time; some answer only after a while."""

    def __init__(self, *there: str, later: dict[float, str] | None = None, closes_s: float = 1000.0) -> None:
        self.there, self.mute_until_s = list(there), dict[str, float]()
        self.now_s, self.asked_s = 0.0, list[float]()
        self._later, self._closes_s = later or {}, closes_s
        self.first = FirstCamera(self.answers, lambda: list(self.there), self.wait, lambda: self.now_s, self.openers)

    def answers(self) -> str | None:
        self.asked_s.append(self.now_s)
        return next((name for name in self.there if self.now_s >= self.mute_until_s.get(name, 0.0)), None)

    def wait(self, pause_s: float) -> bool:
        self.now_s += pause_s
        self.there += [self._later.pop(s) for s in [*self._later] if s <= self.now_s]
        return self.now_s >= self._closes_s

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


def watching(*there: str) -> Room:
    """A room with a camera being watched."""
    room = Room(*there)
    room.first.found()
    room.asked_s.clear()
    return room


def test_a_camera_that_answers_at_once_is_used_silently():
    room, said = Room("/dev/video0"), []

    assert room.first.found(lambda: said.append("none")) == "/dev/video0"
    assert (room.first.source, said, room.asked_s) == ("/dev/video0", [], [0.0])


def test_a_camera_plugged_in_later_is_tried_at_once():
    room, said = Room(later={11: "/dev/video0"}), []

    assert room.first.found(lambda: said.append("none")) == "/dev/video0"
    assert (said, room.asked_s) == (["none"], [0.0, 12.0])


def test_a_device_that_does_not_answer_yet_is_retried():
    room = Room("/dev/video0")
    room.mute_until_s["/dev/video0"] = 70

    assert room.first.found() == "/dev/video0"
    assert room.asked_s == [0.0, TRY_AGAIN_S, 2 * TRY_AGAIN_S, 3 * TRY_AGAIN_S]


def test_the_search_ends_with_the_service():
    room = Room(closes_s=50)

    assert room.first.found() is None
    assert (room.first.source, room.now_s) == (None, 50)


def test_a_present_camera_is_reopened_even_if_another_is_plugged_in():
    room = watching("/dev/video2", "/dev/video0")

    assert (room.opened(), room.asked_s) == ("/dev/video2", [])


def test_another_camera_replaces_one_that_is_gone():
    room = watching("/dev/video0")
    room.there = []
    assert (room.opened(), room.asked_s) == (None, [])

    room.there = ["/dev/video2"]
    assert (room.opened(), room.first.source) == ("/dev/video2", "/dev/video2")
    room.there = ["/dev/video0", "/dev/video2"]
    assert room.opened() == "/dev/video2"


def test_devices_that_do_not_answer_are_not_retried_too_often():
    room = watching("/dev/video0")
    room.there, room.mute_until_s = ["/dev/video10"], {"/dev/video10": math.inf}

    assert [room.opened() for _ in range(5)] == [None] * 5
    assert room.asked_s == [0.0]
    room.now_s += TRY_AGAIN_S
    assert (room.opened(), room.asked_s) == (None, [0.0, TRY_AGAIN_S])
    room.there.append("/dev/video2")
    assert room.opened() == "/dev/video2"


def test_a_camera_is_gone_with_its_device_but_never_on_a_ribbon_cable():
    assert not openers("/dev/video-none").is_there()
    assert openers("/dev/null").is_there()
    assert openers("picamera2:").is_there()

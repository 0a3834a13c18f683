"""Whatever a camera does: it is shown, nothing old is proposed, pictures come back, and everything can end."""

import itertools
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
from looking import Looking
from moody import SPOILT, Mood, MoodyCamera, Table
from virtual_time import VirtualTime

from companion.common.errors import Problem
from companion.match.match import Match
from companion.tracking.live import TableWatch
from companion.vision.capture import sources
from companion.vision.capture.capture_thread import guarded, is_cut_short, is_picture
from companion.vision.capture.sources import frames

RNG = np.random.default_rng(0)
NOISE = RNG.integers(90, 110, (64, 96, 3), np.uint8)
BLACK = np.zeros_like(NOISE)


@pytest.fixture
def looking() -> Looking:
    """A reader of a camera with moods."""
    looking = Looking()
    looking.camera = MoodyCamera(looking.time, Table(looking.time))
    looking.open = looking.camera.open
    return looking


@pytest.mark.parametrize(
    ("mood", "says"),
    [
        (Mood.UNPLUGGED, "no longer sends pictures"), (Mood.HUNG_GRAB, "no longer sends pictures"),
        (Mood.HUNG_RETRIEVE, "no longer sends pictures"), (Mood.HUNG_CLOSE, "no longer sends pictures"),
        (Mood.RAISING, "no longer sends pictures"), (Mood.FROZEN, "keeps sending the same picture"),
        (Mood.RUBBISH, "damaged pictures"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_camera_is_said_once_and_that_it_is_well_again(mood, says, looking):
    running = looking.frames()
    next(running)
    looking.camera.mood = mood
    began_s = looking.time()
    looking.time.start(lambda: (looking.time.sleep(6.0), setattr(looking.camera, "mood", Mood.FINE)))

    frame = next(frame for frame in running if frame.after_gap)

    assert [notice.blind for notice in looking.notices] == [False, True, False]
    assert says in looking.blind()[0]
    assert began_s + 6.0 <= frame.t_s <= began_s + 11.0


@pytest.mark.parametrize(
    ("mood", "says"), [(Mood.HUNG_OPEN, "no pictures yet"), (Mood.UNPLUGGED, "There is no camera")]
)
def test_a_camera_that_hangs_or_fails_while_it_is_opened_is_waited_for_by_whoever_is_patient(looking, mood, says):
    looking.camera.mood = mood
    looking.time.start(lambda: (looking.time.sleep(9.0), setattr(looking.camera, "mood", Mood.FINE)))

    frame = next(looking.frames(patient=True))

    assert 9.0 < frame.t_s < 10.5
    assert says in looking.blind()[0]
    assert [notice.blind for notice in looking.notices] == [True, False]


@pytest.mark.parametrize(("mood", "says"), [(Mood.HUNG_OPEN, "does not answer"), (Mood.RAISING, "cannot be used")])
def test_a_camera_that_hangs_or_fails_while_it_is_opened_is_a_problem_for_all_others(mood, says, looking):
    looking.camera.mood = mood

    with pytest.raises(Problem, match=says):
        looking.frames()

    assert looking.time() < 11.0


def never(time: VirtualTime) -> Iterator[np.ndarray]:
    """Never comes back from its first grab."""
    time.sleep(3000.0)
    yield from ()


def test_a_camera_that_hangs_for_ever_is_said_to_and_leaves_few_threads():
    looking = Looking(*[never] * 9)

    assert looking.until(300.0) == []

    assert len(looking.cameras) == sources.MOST_THREADS
    assert "no longer answers" in looking.blind()[-1]
    assert len(looking.notices) == 6


def test_who_reads_slowly_gets_what_lies_there_now(looking):
    ages_s = []
    for frame in looking.frames():
        ages_s.append(looking.time() - frame.t_s)
        looking.time.sleep(1.7)
        if len(ages_s) == 10:
            break

    assert max(ages_s) < 0.1


def buffered(time: VirtualTime) -> Iterator[np.ndarray]:
    """Five old pictures at hand when it is opened, then some of what lies there now."""
    for number in range(9):
        time.sleep(0.0 if number < 5 else 0.1)
        yield np.clip(NOISE.astype(int) + (-70 if number < 5 else 100) + number, 0, 255).astype(np.uint8)


def test_pictures_that_have_been_waiting_in_the_device_are_thrown_away():
    looking = Looking(*[buffered] * 9)

    seen = looking.until(6.0)

    assert len(seen) > 4
    assert min(frame.image.mean() for frame in seen) > 150


def half_sent(time: VirtualTime, whole_every: int = 10**9) -> Iterator[np.ndarray]:
    """A stream of upper halves alone but for some pictures: its decoder fills the lower one with that before."""
    rng, last = np.random.default_rng(1), NOISE
    for number in itertools.count(1):
        time.sleep(0.1)
        image = rng.integers(90, 110, NOISE.shape, np.uint8)
        if number % whole_every:
            image[32:] = last[32:]
        yield (last := image)


@pytest.mark.parametrize(("source", "after_s"), [("0", 12.0), ("http://camera/stream", 30.0)])
def test_a_camera_whose_lower_half_is_always_the_picture_before_is_said_to_be_damaged(source, after_s):
    looking = Looking(*[half_sent] * 9)

    seen = looking.until(after_s + 4.0, source)

    assert not any(after_s + 1.0 < frame.t_s < after_s + 2.0 for frame in seen)
    assert any(after_s - 1.0 < frame.t_s < after_s for frame in seen)
    assert [sentence for sentence in looking.blind() if "damaged pictures" in sentence]


def test_a_stream_that_sends_what_does_not_move_now_and_then_is_not_damaged():
    looking = Looking(partial(half_sent, whole_every=250))

    looking.until(80.0, "http://camera/stream")

    assert looking.blind() == []


def test_the_last_picture_is_shown_until_about_when_the_camera_is_said_to_be_blind(looking):
    said_s: list[float] = []
    shown_s: list[float] = []
    running = looking.frames(tell=lambda notice: notice.blind and said_s.append(looking.time()))
    last = next(running)
    looking.camera.mood = Mood.HUNG_GRAB

    def look_at_the_page() -> None:
        for _ in range(60):
            looking.time.sleep(0.1)
            if last.is_fresh():
                shown_s.append(looking.time())
        looking.camera.mood = Mood.FINE

    looking.time.start(look_at_the_page)
    next(frame for frame in running if frame.after_gap)

    assert shown_s[-1] == pytest.approx(said_s[0], abs=0.7)


def test_a_picture_that_is_looked_at_for_long_is_fresh_until_then(looking):
    running = looking.frames()
    last = next(running)

    looking.time.sleep(10.0)

    assert last.is_fresh()
    assert next(running).t_s > 10.0


def test_of_a_reader_that_is_gone_no_picture_stays_fresh(looking):
    running = looking.frames()
    last = next(running)
    running.close()

    looking.time.sleep(sources.FRESH_S + 0.1)

    assert not last.is_fresh()


@pytest.mark.parametrize("spoil", SPOILT)
def test_what_is_no_whole_picture_is_known(spoil):
    image = spoil(NOISE.copy())

    assert not is_picture(image) or is_cut_short(image)


@pytest.mark.parametrize("level", [0, 8, 255])
def test_a_dark_room_and_a_lamp_before_the_lens_are_no_damage(level):
    assert not is_cut_short(np.full((480, 640, 3), level, np.uint8))
    assert not is_cut_short(NOISE)


def test_a_camera_in_a_dark_room_is_not_taken_for_a_frozen_one():
    looking = Looking(itertools.repeat(BLACK))

    assert len(looking.until(10.0)) > 80
    assert looking.blind() == []


def faltering(time: VirtualTime) -> Iterator[np.ndarray]:
    """Sends nothing for three seconds, and goes on."""
    while True:
        time.sleep(3.0 if 5.0 < time() < 5.2 else 0.1)
        yield BLACK


def test_a_stream_that_falters_is_said_to_and_is_not_opened_anew():
    looking = Looking(faltering)

    seen = looking.until(12.0, "rtsp://camera/live")

    assert [notice.blind for notice in looking.notices] == [False, True, False]
    assert [round(frame.t_s) for frame in seen if frame.after_gap] == [8]


# --- By the clock on the wall -------------------------------------------------------------------------------------


class Hanging:
    """A device that hangs in its first grab until it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.hangs = threading.Event()
        self.closed = threading.Event()

    def grab(self) -> bool:
        self.hangs.set()
        self.let_go.wait()
        return False

    def close(self) -> None:
        self.closed.set()


def test_what_watches_ends_when_it_is_stopped_while_its_camera_hangs(match: Match):
    device = Hanging()
    watch = TableWatch(match, lambda frame: pytest.fail("there is no frame"), lambda state: {})
    running = watch.start(frames("0", wait=watch.stopping.wait, open_device=lambda: device, patient=True))
    assert device.hangs.wait(20)

    watch.stopping.set()
    running.join(20)

    assert not running.is_alive()
    assert not device.closed.is_set()
    device.let_go.set()
    assert device.closed.wait(20)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_program_can_be_ended_while_its_camera_hangs(number):
    # A shell that starts the tests in the background has their children ignore an interrupt.
    program = """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
from companion.vision.capture.sources import frames
class Hanging:
    def grab(self):
        print("hangs", flush=True)
        threading.Event().wait()
try:
    next(frames("0", open_device=Hanging))
except KeyboardInterrupt:
    pass
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout.readline() == b"hangs\n"
        running.send_signal(number)
        _, said = running.communicate(timeout=60)

    assert said == b""


def test_a_camera_that_hangs_while_it_is_looked_through_is_a_sentence():
    device = Hanging()

    with pytest.raises(Problem, match="does not answer"):
        guarded(lambda: device, "0", lambda opened: opened.grab(), limit_s=0.05)

    device.let_go.set()
    assert device.closed.wait(20)


def test_whatever_a_camera_raises_while_it_is_looked_through_is_a_sentence():
    def opener() -> object:
        raise OSError

    with pytest.raises(Problem, match="cannot be used"):
        guarded(opener, "0", lambda opened: opened.grab())

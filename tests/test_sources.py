"""Frames from films, folders and cameras that come and go; no real camera is opened."""

import itertools
import re
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import cv2
import numpy as np
import pytest
from looking import FakeCamera, Looking, Sends, noisy
from virtual_time import VirtualTime

from companion.common.addresses import shown
from companion.common.errors import Problem
from companion.vision.capture import devices, image_io
from companion.vision.capture.sources import Frame, Notice, Timing, camera_answers, frames, is_webcam


def grey(level: int, size: tuple[int, int] = (36, 64)) -> np.ndarray:
    return np.full((*size, 3), level, np.uint8)


def folder_of(path: Path) -> Path:
    for number in range(3):
        cv2.imwrite(str(path / f"shot-{number:02d}.png"), grey(40 * number))
    return path


# --- Folders --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("pace", "times_s"), [({}, [0.0, 0.1, 0.2]), ({"fps": 2}, [0.0, 0.5, 1.0])])
def test_a_folder_gives_its_pictures_in_the_order_of_their_names_at_its_pace(tmp_path, pace, times_s):
    (tmp_path / "notes.txt").write_text("not a picture")

    seen = list(frames(str(folder_of(tmp_path)), **pace))

    assert [(frame.image[0, 0, 0], frame.t_s) for frame in seen] == list(zip((0, 40, 80), times_s, strict=True))


def test_a_damaged_picture_in_a_folder_is_left_out_with_a_sentence(tmp_path):
    folder_of(tmp_path)
    (tmp_path / "shot-01.png").write_bytes(b"\x89PNG\r\n\x1a\nrubbish")
    notices: list[Notice] = []

    seen = list(frames(str(tmp_path), tell=notices.append))

    assert [frame.t_s for frame in seen] == [0.0, 0.2]
    assert len(notices) == 1
    assert "shot-01.png" in notices[0].sentence
    assert "left out" in notices[0].sentence


def test_an_empty_folder_is_a_problem_at_once(tmp_path):
    with pytest.raises(Problem, match="has no pictures"):
        frames(str(tmp_path))


# --- Films ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def film(tmp_path_factory) -> Path:
    """Two seconds at 5 frames a second, each frame a little lighter."""
    path = tmp_path_factory.mktemp("films") / "table.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 5, (64, 48))
    for number in range(10):
        writer.write(grey(20 * number, (48, 64)))
    writer.release()
    return path


@pytest.mark.parametrize(("fps", "times_s"), [(None, [n / 5 for n in range(10)]), (2, [0.0, 0.6, 1.0, 1.6])])
def test_a_film_tells_its_own_time_and_can_be_thinned(film, fps, times_s):
    seen = list(frames(str(film), fps=fps))

    assert [frame.t_s for frame in seen] == pytest.approx(times_s, abs=0.01)
    assert [int(frame.image[20, 20, 1]) for frame in seen] == pytest.approx([100 * t_s for t_s in times_s], abs=4)


def test_a_film_played_live_waits_for_each_frame(film):
    time = VirtualTime()

    list(frames(str(film), timing=Timing(time), wait=time.sleep, live=True))

    assert time() == pytest.approx(1.8, abs=0.01)


def test_a_film_played_live_can_be_stopped(film):
    seen = list(frames(str(film), timing=Timing(lambda: 0.0), wait=lambda pause_s: True, live=True))

    assert len(seen) == 1


@pytest.mark.parametrize("content", [b"", b"this is no film", b"\x00" * 5000])
def test_a_file_that_is_no_film_is_a_problem(tmp_path, content, capfd):
    path = tmp_path / "table.mp4"
    path.write_bytes(content)

    with pytest.raises(Problem, match="is not a playable film") as raised:
        frames(str(path))

    assert raised.value.exit_code == 1
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("nowhere/table.mp4", "No film, folder or camera"), ("demo:", "No film, folder or camera"),
        ("/dev/video97", "Camera /dev/video97 not found"), ("picamera2:", "python3-picamera2"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_a_problem_that_says_what_to_do(source, says):
    with pytest.raises(Problem, match=says) as raised:
        frames(source)

    assert raised.value.exit_code == 2


@pytest.mark.parametrize("fps", [0.0, -1.0, float("nan"), float("inf")])
def test_a_senseless_pace_is_a_problem(fps, tmp_path):
    with pytest.raises(Problem, match="frames per second"):
        frames(str(tmp_path), fps=fps)


# --- Cameras that come and go ---------------------------------------------------------------------------------


def gaps(times: list[float]) -> list[float]:
    return [later - earlier for earlier, later in itertools.pairwise(times)]


@pytest.mark.parametrize(("fps", "times_s"), [(None, [0.1, 0.2, 0.3, 0.4]), (2, [0.1, 0.5, 1.0, 1.5])])
def test_frames_of_a_camera_carry_the_clock_and_can_be_thinned(fps, times_s):
    seen = list(itertools.islice(Looking(noisy(40)).frames(fps=fps), 4))

    assert [frame.t_s for frame in seen] == pytest.approx(times_s)


def test_people_see_a_newer_picture_while_one_is_looked_at_for_long():
    pictures = list(noisy(60))
    looking = Looking(iter(pictures))
    coming = looking.frames()
    frame = next(coming)
    assert frame.newest() is frame.image

    looking.time.sleep(5.0)

    since = next(n for n, picture in enumerate(pictures) if picture is frame.newest())
    assert 39 <= since <= 50


def test_an_unplugged_camera_is_looked_for_again_and_again():
    looking = Looking(noisy(3), None, None, None, noisy(4))

    seen = list(itertools.islice(looking.frames(), 6))

    assert len(seen) == 6
    assert gaps(looking.tried_s) == pytest.approx([0.9, 1.0, 1.0, 1.0], abs=0.15)
    assert [notice.blind for notice in looking.notices] == [False, True, False]
    assert looking.cameras[0].done[-1] == "close"


def stuck(count: int = 10**9) -> Iterator[np.ndarray]:
    """The same picture again and again."""
    return itertools.repeat(next(noisy(1)), count)


@pytest.mark.parametrize(
    ("source", "kind", "count"),
    [("rtsp://camera/live", "h264", 250), ("http://camera/live", None, 250), ("http://camera/a.mjpg", "MJPG", 100)],
)
def test_a_stream_may_repeat_a_picture_for_some_seconds(source, kind, count):
    looking = Looking(itertools.chain(stuck(count), noisy(30), stuck(count), noisy(30)), kind=kind)

    seen = list(itertools.islice(looking.frames(source), 2 * count + 50))

    assert not any(frame.after_gap for frame in seen)
    assert looking.blind() == []


@pytest.mark.parametrize(
    ("source", "kind", "after_s", "says"),
    [
        ("http://camera/stream", None, 30.0, "http://camera keeps sending the same picture: restart it"),
        ("http://camera/a.mjpg", "MJPG", 12.0, "http://camera keeps sending the same picture: restart it"),
        ("phone:", "MJPG", 12.0, "The camera phone keeps sending the same picture: reload its camera page."),
    ],
)
def test_a_stream_that_repeats_one_picture_forever_is_reported_and_not_read(source, kind, after_s, says):
    looking = Looking(stuck(), stuck(), stuck(), kind=kind)

    seen = looking.until(120.0, source)

    assert after_s - 1.0 < seen[-1].t_s < after_s + 2.0
    assert len(looking.blind()) == 1
    assert looking.blind()[0].startswith(says)
    assert len(looking.cameras) == 2, "it is opened again once, which may help, and then left alone"


def test_a_stream_that_was_stuck_is_read_again_with_its_first_other_picture():
    looking = Looking(stuck(), itertools.chain(stuck(300), noisy(500)))

    seen = looking.until(80.0, "rtsp://camera/live")

    assert [round(frame.t_s) for frame in seen if frame.after_gap] == [round(looking.tried_s[1] + 30.1)]
    assert [notice.blind for notice in looking.notices] == [False, True, False]


def test_a_stuck_stream_that_breaks_off_is_opened_again():
    looking = Looking(stuck(), stuck(200), noisy(50))

    seen = looking.until(120.0, "rtsp://camera/live")

    assert len(looking.cameras) >= 3
    assert seen[-1].t_s > 60.0


def slow_pictures(every_s: float, stops_after: int, time: VirtualTime) -> Iterator[np.ndarray]:
    for image in noisy(stops_after):
        yield image
        time.sleep(every_s)
    time.sleep(1000.0)


def test_a_stream_that_sends_few_pictures_is_not_reported_blind_before_each():
    looking = Looking(partial(slow_pictures, 2.7, 20))

    seen = looking.until(60.0, "http://camera/stream")

    assert len(seen) >= 18
    assert not any(frame.after_gap for frame in seen[4:])
    assert len(looking.blind()) <= 4, "before the first three pictures, and at the end"
    assert looking.notices[-1].blind, "it has stopped"


def test_a_folder_may_hold_the_same_picture_as_often_as_it_likes(tmp_path):
    for number in range(150):
        cv2.imwrite(str(tmp_path / f"{number:03d}.png"), grey(120))

    assert len(list(frames(str(tmp_path)))) == 150


class SlowStream(Looking):
    """A stream whose first picture takes a while; whoever waits less gets nothing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, first_s: float, *sends: Sends) -> None:
        super().__init__(*sends)
        self.first_s = first_s
        self.connections = 0
        monkeypatch.setattr("companion.vision.capture.sources.opener_of", self.opener_of)

    def opener_of(self, source: str, _size_px: object, limit_s: Callable[[], float]) -> Callable[[], FakeCamera]:
        def opened() -> FakeCamera:
            self.connections += 1
            self.time.sleep(min(self.first_s, limit_s()))
            if self.first_s > limit_s():
                raise devices.unanswered(source)
            return self.open()

        return opened

    def come(self, **how: object) -> Iterator[Frame]:
        timing = Timing(self.time, self.time.sleep, self.time.start)
        return frames("http://camera/a.mjpg", wait=self.wait, tell=self.notices.append, timing=timing, **how)


@pytest.mark.parametrize("patient", [True, False], ids=["up", "watch"])
@pytest.mark.parametrize(
    ("first_s", "waited_s"), [(3.0, []), (8.0, [10]), (18.0, [10, 20]), (38.0, [10, 20, 40])], ids=str
)
def test_a_stream_that_takes_long_to_start_is_waited_for_longer_at_each_try(monkeypatch, patient, first_s, waited_s):
    slow = SlowStream(monkeypatch, first_s, noisy(10))

    frame = next(slow.come(patient=patient))

    late = [sentence for sentence in slow.blind() if "Waiting up to" in sentence]
    assert late == [f"Waiting up to {limit} seconds for the first picture of http://camera." for limit in waited_s]
    assert frame.t_s > first_s
    assert len(slow.cameras) == 1


def test_a_stream_that_sends_nothing_in_the_longest_time_is_a_problem(monkeypatch):
    slow = SlowStream(monkeypatch, 1000.0)

    with pytest.raises(Problem, match=r"The stream http://camera/a\.mjpg does not answer"):
        slow.come()

    assert slow.time() == pytest.approx(75.0, abs=1.0)


def test_a_slow_stream_that_broke_off_is_waited_for_as_long_as_it_needed_before(monkeypatch):
    slow = SlowStream(monkeypatch, 8.0, noisy(10), noisy(10))
    coming = slow.come(patient=True)

    seen = list(itertools.islice(coming, 15))

    assert slow.connections == 3, "only the very first did not wait long enough"
    assert [frame.after_gap for frame in seen].count(True) == 1


def test_a_stream_that_is_not_there_is_a_problem_at_once():
    with pytest.raises(Problem, match="does not answer"):
        frames("http://127.0.0.1:9/none.mjpg", tell=lambda notice: pytest.fail(notice.sentence))


def test_a_real_stream_that_starts_late_is_seen(monkeypatch):
    monkeypatch.setattr("companion.vision.capture.sources.FIRST_PICTURE_S", (0.5, 60.0))
    sends, notices = cv2.imencode(".jpg", next(noisy(1, size=(360, 640))))[1].tobytes(), []

    class Late(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=next")
            self.end_headers()
            with suppress(OSError):
                time.sleep(1.0)
                while True:
                    self.wfile.write(b"--next\r\nContent-Type: image/jpeg\r\n\r\n" + sends + b"\r\n")
                    time.sleep(0.02)

        def log_message(self, *_said: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Late)
    server.daemon_threads, server.block_on_close = True, False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    coming = frames(f"http://127.0.0.1:{server.server_port}/a.mjpg", tell=notices.append)
    frame = next(coming)
    coming.close()
    server.shutdown()
    server.server_close()

    assert frame.image.shape == (360, 640, 3)
    assert "for the first picture of" in notices[0].sentence


def test_another_size_after_the_camera_came_back_is_tried_again():
    looking = Looking(noisy(2), noisy(2, size=(18, 32)), noisy(3))

    seen = list(itertools.islice(looking.frames(), 4))

    assert {frame.image.shape for frame in seen} == {(36, 64, 3)}


def test_another_size_that_stays_is_taken_with_a_sentence():
    looking = Looking(noisy(2), *(noisy(3, size=(18, 32)) for _ in range(4)))

    seen = list(itertools.islice(looking.frames(), 4))

    assert [frame.image.shape[0] for frame in seen] == [36, 36, 18, 18]
    assert "32 × 18 pixels instead of 64 × 36" in looking.notices[-1].sentence


def test_a_camera_is_opened_anew_for_another_size_without_a_word_of_trouble():
    looking = Looking(noisy(9, size=(72, 128)), noisy(9))
    seen = looking.frames(size_px=lambda: (64 if len(shapes) >= 3 else 128, 0))
    shapes: list[int] = []
    for frame in itertools.islice(seen, 5):
        shapes.append(frame.image.shape[0])

    assert shapes == [72, 72, 72, 36, 36]
    assert looking.cameras[0].done[-1] == "close"
    assert not any(notice.blind for notice in looking.notices)


def test_exposure_is_held_and_set_anew_when_the_light_has_changed():
    looking = Looking(itertools.chain(noisy(25, 100), noisy(60, 30)))

    list(itertools.islice(looking.frames(), 80))

    assert [deed for deed in looking.cameras[0].done if deed != "close"] == ["hold", "let_go", "hold"]


def test_waiting_for_a_camera_can_be_ended_from_outside():
    looking = Looking(noisy(2))

    def wait(pause_s: float) -> bool:
        looking.time.sleep(pause_s)
        return any(notice.blind for notice in looking.notices)

    assert len(list(looking.frames(wait=wait))) == 2


def test_leaving_off_gives_the_camera_back():
    looking = Looking(noisy(20))
    running = looking.frames()
    next(running)
    running.close()

    assert looking.cameras[0].done == ["close"]


@pytest.mark.parametrize(
    ("source", "as_shown"),
    [
        ("rtsp://ann:secret@10.0.0.5/live", "rtsp://10.0.0.5"),
        ("rtsp://ann:secret@[fe80::1]:8554/live", "rtsp://[fe80::1]:8554"),
        ("rtsp://ann:sec@ret@10.0.0.5/live", "rtsp://…"),
        ("rtsp://ann:sec@ret/?1@10.0.0.5/live", "rtsp://…"),
        ("rtsp://ann:1/secret@10.0.0.5/live", "rtsp://…"),
        ("http://ann:secret#1@camera.lan/", "http://…"),
        ("http://10.0.0.5/video?user=ann&pwd=secret&size=hd", "http://10.0.0.5"),
        ("http://camera.lan:81/videostream.cgi?loginuse=ann&loginpas=secret", "http://camera.lan:81"),
        ("http://10.0.0.5/cgi-bin/CGIStream.cgi?cmd=GetMJStream&usr=ann&psw=secret", "http://10.0.0.5"),
        ("http://10.0.0.5/axis-cgi/mjpg/video.cgi?authbasic=secret", "http://10.0.0.5"),
        ("rtsp://10.0.0.5:554/user=ann_password=secret_channel=1.sdp", "rtsp://10.0.0.5:554"),
        ("rtsps://10.0.0.5:7441/secret?enableSrtp", "rtsps://10.0.0.5:7441"),
        ("http://camera.lan;secret", "http://…"),
        ("HTTP://camera.lan", "HTTP://camera.lan"),
        ("rtmp:/ann:secret@10.0.0.5/live", "rtmp://10.0.0.5"),
        ("ann:secret@10.0.0.5/live", "…@10.0.0.5/live"),
        ("rtsp//ann:secret@10.0.0.5/live", "rtsp//10.0.0.5"),
        ("http;//ann:secret@camera.lan:81/a.jpg", "http;//camera.lan:81"),
        ("//ann:secret@10.0.0.5/live", "//10.0.0.5"),
        ("rtsp//ann:sec@ret@10.0.0.5/live", "rtsp//…"),
        ("rtsp//ann:sec#ret@10.0.0.5/live", "rtsp//…"),
        ("rtsp:ann;secret@10.0.0.5/live", "…@10.0.0.5/live"),
        ("rtsp/ann;secret@10.0.0.5/live", "…@10.0.0.5/live"),
        ("rtsp:ann:sec?ret@10.0.0.5/live", "…"),
        ("10.0.0.5/video?user=ann&pwd=secret", "10.0.0.5/video…"),
        ("10.0.0.5/video&pwd=secret", "10.0.0.5/video…"),
        ("10.0.0.5/video#secret", "10.0.0.5/video…"),
        ("/10.0.0.5/user=ann_password=secret", "/10.0.0.5/user…"),
        ("http:10.0.0.5/video?m=a@b&pwd=secret", "…"),
        *((plain, plain) for plain in ("/dev/video0", "0", "phone:", "picamera2:", "demo:7", "films/a game.mp4")),
        ("/dev/v4l/by-path/pci-0000:00:14.0-usb-0:1:1.0-video-index0",) * 2,
        ("films/me@home.mp4", "…@home.mp4"),
    ],
)
def test_a_password_in_a_source_is_not_shown(source, as_shown):
    assert shown(source) == as_shown
    assert not {"sec", "ret", "secret"} & set(re.split(r"\W", as_shown))


def test_a_file_that_is_no_camera_is_busy_or_none(tmp_path, capfd):
    node = tmp_path / "video0"
    node.write_bytes(b"")

    with pytest.raises(Problem, match="busy or not a camera"):
        devices.Webcam(str(node), "/dev/video0")

    assert capfd.readouterr().err == ""


def test_a_stream_that_does_not_answer_is_a_problem_without_its_password():
    with pytest.raises(Problem, match="does not answer") as raised:
        frames("http://ann:secret@127.0.0.1:9/none.mjpg")

    assert "secret" not in str(raised.value)


def test_a_camera_keeps_its_name_when_it_is_plugged_in_elsewhere(tmp_path):
    node = tmp_path / "video3"
    node.write_bytes(b"")
    by_id = tmp_path / "by-id"
    by_id.mkdir()
    (by_id / "usb-Webcam_1234-index0").symlink_to(node)

    assert devices.lasting_name(str(node), by_id) == str(by_id / "usb-Webcam_1234-index0")
    assert devices.lasting_name("/dev/video9", by_id) == "/dev/video9"
    assert devices.lasting_name("/dev/video9", tmp_path / "none") == "/dev/video9"


def test_video_devices_are_listed_by_number(tmp_path):
    for name in ("video10", "video2", "video0", "videocapture"):
        (tmp_path / name).write_bytes(b"")

    assert [Path(path).name for path in devices.video_devices(tmp_path)] == ["video0", "video2", "video10"]


def test_what_a_raspberry_pi_codes_films_with_is_no_camera(tmp_path):
    for number, name in enumerate(("unicam-image", "HD Pro Webcam C920", "bcm2835-codec-decode", "pispbe-input")):
        (tmp_path / f"video{number}").mkdir()
        (tmp_path / f"video{number}" / "name").write_text(f"{name}\n")

    assert [Path(path).name for path in devices.video_devices(tmp_path, tmp_path)] == ["video1"]


@pytest.mark.parametrize(("source", "is_one"), [("0", True), ("/dev/v4l/by-id/one", True), ("/dev/shm/films", False)])
def test_a_camera_is_told_by_its_name_and_what_lies_in_the_systems_memory_is_none(source, is_one):
    assert is_webcam(source) is is_one


def test_the_first_camera_that_gives_a_picture_answers(monkeypatch):
    names = ["/dev/video0", "/dev/video1", "/dev/video2"]
    monkeypatch.setattr("companion.vision.capture.sources.video_devices", lambda: names)
    opened = {"/dev/video0": noisy(0), "/dev/video2": noisy(1)}

    def opener(source: str) -> FakeCamera:
        if source not in opened:
            raise ValueError
        return FakeCamera(opened[source])

    monkeypatch.setattr("companion.vision.capture.sources.opener_of", lambda source: partial(opener, source))

    assert camera_answers() == "/dev/video2"


def test_a_camera_that_hangs_is_passed_over_until_it_lets_go(monkeypatch):
    monkeypatch.setattr("companion.vision.capture.sources.video_devices", lambda: ["/dev/video0", "/dev/video2"])
    monkeypatch.setattr("companion.vision.capture.sources.ANSWER_S", 0.05)
    let_go, hung = threading.Event(), []

    def hangs(source: str) -> FakeCamera:
        hung.append((source, threading.current_thread()))
        let_go.wait()
        raise Problem("It is gone.")

    monkeypatch.setattr("companion.vision.capture.sources.opener_of", lambda source: partial(hangs, source))

    assert [camera_answers() for _ in range(5)] == [None] * 5
    assert [source for source, _ in hung] == ["/dev/video0", "/dev/video2", "picamera2:"]
    let_go.set()
    for _, thread in hung:
        thread.join()
    camera_answers()
    assert len(hung) == 6


def test_a_camera_that_took_the_place_of_another_is_called_by_its_own_name():
    looking = Looking(noisy(3), noisy(3))

    list(itertools.islice(looking.frames("/dev/video0", named=lambda: f"/dev/video{len(looking.cameras)}"), 5))

    named = [notice.sentence.split()[0] for notice in looking.notices if not notice.blind]
    assert named == ["/dev/video1", "/dev/video2"]


# --- Picture files --------------------------------------------------------------------------------------------


def encoded(suffix: str, image: np.ndarray | None = None) -> bytes:
    return cv2.imencode(suffix, grey(120) if image is None else image)[1].tobytes()


@pytest.mark.parametrize("image", [grey(120), grey(50)[:, :, 0]], ids=["colours", "grey alone"])
@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp", ".bmp"])
def test_a_picture_is_read_in_three_colours_and_its_size_known_from_the_header(tmp_path, suffix, image):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(encoded(suffix, image))

    assert image_io.declared_size(path.read_bytes()) == (64, 36)
    assert image_io.read_picture(path).shape == (36, 64, 3)


def test_a_picture_is_turned_as_its_camera_noted(tmp_path):
    marked = grey(20)
    marked[:18, :32] = 250
    jpeg = encoded(".jpg", marked)
    quarter_turn = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    path = tmp_path / "phone.jpg"
    path.write_bytes(jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(quarter_turn) + 2) + quarter_turn + jpeg[2:])

    image = image_io.read_picture(path)

    assert image.shape == (64, 36, 3)
    assert image[5, 30, 0] > 200
    assert image[5, 5, 0] < 60


def huge_png(width: int, height: int) -> bytes:
    """A small file that would take gigabytes once decoded."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packed = chunk(b"IDAT", zlib.compress(b"\0" * 100))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + packed + chunk(b"IEND", b"")


def huge_jpeg() -> bytes:
    """A JPEG whose second size, which some decoders take, is far larger than its first."""
    jpeg = encoded(".jpg")
    at = jpeg.index(b"\xff\xc0")
    second = jpeg[at : at + 5] + struct.pack(">HH", 60000, 60000) + jpeg[at + 9 : at + 19]
    return jpeg[: at + 19] + second + jpeg[at + 19 :]


WRONG: dict[str, tuple[Callable[[], bytes], str]] = {
    "bomb.png": (lambda: huge_png(30000, 30000), "30000 × 30000"), "flat.png": (lambda: huge_png(0, 10), "0 × 10"),
    "two-sizes.jpg": (huge_jpeg, "60000 × 60000"), "empty.jpg": (lambda: b"", "not a JPEG"),
    "text.jpg": (lambda: b"hello", "not a JPEG"), "gif.jpg": (lambda: b"GIF89a" + b"\0" * 40, "not a JPEG"),
    "half.jpg": (lambda: encoded(".jpg")[:300], "incomplete"),
    "half.png": (lambda: encoded(".png")[:-20], "incomplete"),
    "hollow.png": (lambda: huge_png(64, 36), "damaged"), "head-only.jpg": (lambda: b"\xff\xd8\xff\xd9", "not a JPEG"),
    "half.webp": (lambda: encoded(".webp")[:40], "damaged"), "half.bmp": (lambda: encoded(".bmp")[:40], "damaged"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_picture_gets_one_sentence(name, tmp_path, capfd):
    make, says = WRONG[name]
    path = tmp_path / name
    path.write_bytes(make())

    with pytest.raises(Problem, match=says) as raised:
        image_io.read_picture(path)

    assert raised.value.exit_code == 1
    assert name in str(raised.value)
    assert capfd.readouterr().err == ""


def test_a_picture_that_is_not_there_or_a_folder_gets_one_sentence(tmp_path):
    with pytest.raises(Problem, match="not found: check the path"):
        image_io.read_picture(tmp_path / "none.jpg")
    with pytest.raises(Problem, match="is a folder"):
        image_io.read_picture(tmp_path)

"""Camera devices with simulated drivers: which mode is chosen, and which settings are held and released."""

import itertools
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType, SimpleNamespace

import cv2
import numpy as np
import pytest

from companion.common.errors import Problem
from companion.vision.capture import devices, steadiness
from companion.vision.capture.devices import PiCamera, Webcam
from companion.vision.capture.image_io import jpeg_of
from companion.vision.capture.sources import frames
from companion.vision.capture.steadiness import Adjustment, Light, Steadiness

UHD, HD, HALF, SMALL = (3840, 2160), (1920, 1080), (1280, 720), (640, 480)


class Driver:
    """A webcam's driver: it chooses the mode of the requested format that is closest in size."""

    def __init__(self, modes: dict[str, list[tuple[int, int]]]) -> None:
        self.modes = modes
        self.kind = next(iter(modes))
        self.asked = [0, 0]
        self.values: dict[int, float] = {}

    def set(self, name: int, value: float) -> bool:
        if name == cv2.CAP_PROP_FOURCC:
            letters = int(value).to_bytes(4, "little").decode()
            self.kind = letters if letters in self.modes else self.kind
        elif name in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT):
            self.asked[name == cv2.CAP_PROP_FRAME_HEIGHT] = int(value)
        self.values[name] = value
        return True

    def get(self, name: int) -> float:
        size = min(self.modes[self.kind], key=lambda size: abs(size[0] - self.asked[0]))
        told = {
            cv2.CAP_PROP_FOURCC: cv2.VideoWriter.fourcc(*self.kind),
            cv2.CAP_PROP_FRAME_WIDTH: size[0],
            cv2.CAP_PROP_FRAME_HEIGHT: size[1],
        }
        return told.get(name, self.values.get(name, 0.0))


def webcam(monkeypatch, modes: dict[str, list[tuple[int, int]]], *most: tuple[int, int]) -> tuple[Webcam, Driver]:
    driver = Driver(modes)
    monkeypatch.setattr(devices, "_opened_webcam", lambda path, name: driver)
    return Webcam("/dev/video0", "/dev/video0", *most), driver


@pytest.mark.parametrize(
    ("modes", "kind", "size"),
    [
        ({"YUYV": [SMALL, HD], "MJPG": [SMALL, HALF, HD]}, "MJPG", HD),
        ({"YUYV": [SMALL, HD], "MJPG": [SMALL, HALF]}, "YUYV", HD),
        ({"YUYV": [SMALL, HALF], "MJPG": [SMALL, HALF]}, "MJPG", HALF),
        ({"YUYV": [SMALL, HALF]}, "YUYV", HALF),
        ({"MJPG": [(1600, 1200)]}, "MJPG", (1600, 1200)),
    ],
    ids=["JPEG before raw", "pixels before JPEG", "JPEG of the same size", "nothing but raw", "a size of its own"],
)
def test_a_webcam_uses_its_best_mode(monkeypatch, modes, kind, size):
    camera, driver = webcam(monkeypatch, modes)

    assert camera.kind() == kind
    assert (driver.get(cv2.CAP_PROP_FRAME_WIDTH), driver.get(cv2.CAP_PROP_FRAME_HEIGHT)) == size


@pytest.mark.parametrize("most", [HD, UHD])
def test_a_webcam_gives_no_larger_pictures_than_wanted(monkeypatch, most):
    _, driver = webcam(monkeypatch, {"MJPG": [HD, UHD]}, most)

    assert driver.get(cv2.CAP_PROP_FRAME_WIDTH) == most[0]


def test_a_webcam_holds_and_releases_its_automatic_exposure_and_white_balance(monkeypatch):
    camera, driver = webcam(monkeypatch, {"MJPG": [HD]})
    driver.values |= {cv2.CAP_PROP_EXPOSURE: 157.0, cv2.CAP_PROP_WB_TEMPERATURE: 3400.0}
    camera.hold()

    switches = (cv2.CAP_PROP_AUTO_EXPOSURE, cv2.CAP_PROP_AUTO_WB, cv2.CAP_PROP_AUTOFOCUS)
    assert [driver.values[name] for name in switches] == [1, 0, 0]
    assert (driver.values[cv2.CAP_PROP_EXPOSURE], driver.values[cv2.CAP_PROP_WB_TEMPERATURE]) == (157.0, 3400.0)

    camera.let_go()

    assert [driver.values[name] for name in switches] == [3, 1, 1]


# --- The Raspberry Pi camera -----------------------------------------------------------------------------------


class Picamera2:
    """A replacement for Picamera2's class of this name."""

    metadata = MappingProxyType(
        {"ExposureTime": 20000, "AnalogueGain": 2.0, "ColourGains": (1.8, 1.4), "LensPosition": 1.3, "Lux": 90.0}
    )

    def __init__(self, number: int) -> None:
        if number > 0:
            raise IndexError("list index out of range")
        self.set: list[dict[str, object]] = []
        self.is_closed = False
        self.camera_controls = dict.fromkeys(("AeEnable", "AwbEnable", *self.metadata, *self.lens))

    lens: tuple[str, ...] = ("AfMode",)

    def create_video_configuration(self, main: dict[str, object], buffer_count: int) -> dict[str, object]:
        return main

    def configure(self, configuration: dict[str, object]) -> None:
        self.size_px = configuration["size"]

    def start(self) -> None:
        pass

    def set_controls(self, controls: dict[str, object]) -> None:
        self.set.append(controls)

    def capture_array(self, name: str) -> np.ndarray:
        return np.full((self.size_px[1], self.size_px[0], 3), 90, np.uint8)

    def capture_metadata(self) -> dict[str, object]:
        return self.metadata

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def driver(monkeypatch) -> type[Picamera2]:
    monkeypatch.setitem(sys.modules, "picamera2", SimpleNamespace(Picamera2=Picamera2))
    return Picamera2


@pytest.mark.parametrize("lens", [("AfMode",), ()], ids=["its lens follows", "its lens does not move"])
def test_the_pi_camera_gives_full_size_pictures(driver, monkeypatch, lens):
    monkeypatch.setattr(driver, "lens", lens)
    camera = PiCamera("")

    assert camera.grab()
    assert camera.retrieve().shape == (1080, 1920, 3)
    assert camera._camera.set == [{"AeEnable": True, "AwbEnable": True, **dict.fromkeys(lens, 2)}]


def test_the_pi_camera_holds_exposure_and_focus(driver):
    camera = PiCamera("0")
    camera.hold()

    assert camera._camera.set[-1] == {
        "AeEnable": False, "AwbEnable": False, "AfMode": 0,
        "ExposureTime": 20000, "AnalogueGain": 2.0, "ColourGains": (1.8, 1.4), "LensPosition": 1.3,
    }  # fmt: skip


def test_a_missing_pi_camera_is_reported_in_a_sentence(driver):
    with pytest.raises(Problem, match="check its cable"):
        PiCamera("1")


# --- When settings are held ------------------------------------------------------------------------------------

DAY, DIM, LAMP, NIGHT = Light(120, 1.0), Light(60, 1.0), Light(115, 1.8), Light(15, 1.0)


def deeds(*lights: tuple[Light, float]) -> list[tuple[float, Adjustment]]:
    """Commands, with times, to a camera with ten pictures a second in each light for that many seconds."""
    now, told, number = Steadiness(), [], 0
    for light, seconds in lights:
        for _ in range(round(10 * seconds)):
            now, deed = steadiness.after(now, light, number / 10)
            told += [(number / 10, deed)] if deed else []
            number += 1
    return told


ANEW = [(2.0, Adjustment.HOLD), (5.0, Adjustment.RELEASE), (7.1, Adjustment.HOLD)]


@pytest.mark.parametrize(
    ("lights", "told"),
    [
        pytest.param([(DAY, 1.9)], [], id="not before the light has settled"),
        pytest.param([(DAY, 5)], [(2.0, Adjustment.HOLD)], id="once it has"),
        pytest.param([(NIGHT, 60), (DAY, 3)], [(62.0, Adjustment.HOLD)], id="never in the dark"),
        pytest.param([(DIM, 1), (DAY, 3)], [(3.0, Adjustment.HOLD)], id="not while the camera still sets itself"),
        pytest.param([(DAY, 3), (DIM, 5)], ANEW, id="anew when it is darker for good"),
        pytest.param([(DAY, 3), (LAMP, 5)], ANEW, id="anew when the light is of another colour"),
        pytest.param(
            [(DAY, 3), (DIM, 1.5), (DAY, 5)], [(2.0, Adjustment.HOLD)], id="a hand before the lens is no matter"
        ),
        pytest.param([(DAY, 3), (Light(110, 1.2), 9)], [(2.0, Adjustment.HOLD)], id="nor are red cards"),
        pytest.param([(DAY, 3), (NIGHT, 9)], ANEW[:2], id="let go when the light is switched off"),
    ],
)
def test_camera_settings_are_held_and_released(lights, told):
    assert deeds(*lights) == told


def test_the_light_of_a_picture_is_its_brightness_and_warmth():
    red = np.zeros((64, 64, 3), np.uint8) + np.array([59, 80, 119], np.uint8)

    assert steadiness.light_of(red) == Light(80.0, 2.0)


TABLE = jpeg_of(np.random.default_rng(1).integers(0, 255, (*HALF[::-1], 3), np.uint8))


class NetworkCamera(BaseHTTPRequestHandler):
    """Behaves like a network camera app on a phone: one JPEG after another, as long as a client is connected."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=next")
        self.end_headers()
        with suppress(OSError):
            while True:
                self.wfile.write(b"--next\r\nContent-Type: image/jpeg\r\n\r\n" + TABLE + b"\r\n")

    def log_message(self, *_said: object) -> None:
        pass


def test_a_network_camera_that_sends_jpegs_works():
    server = ThreadingHTTPServer(("127.0.0.1", 0), NetworkCamera)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    coming = frames(f"http://127.0.0.1:{server.server_port}/video")

    first, second = itertools.islice(coming, 2)

    assert first.image.shape == second.image.shape == (*HALF[::-1], 3)
    assert first.t_s < second.t_s
    coming.close()
    server.shutdown()
    server.server_close()

"""Webcams, network streams and Raspberry Pi cameras; `FirstCamera` searches for one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from companion.common.addresses import shown
from companion.common.errors import Problem
from companion.common.terminal import typed
from companion.common.text import Said, say
from companion.vision.boxes import Image
from companion.vision.opencv import cv2

PHONE = "phone:"  # source name of a camera phone
SINGLE_JPEGS = "MJPG"  # picture format in which no picture depends on another
PHONE_SILENT = say("The camera phone sends no pictures: unlock it and open its camera page.")
PHONE_STUCK = say("The camera phone keeps sending the same picture: reload its camera page.")

Size = tuple[int, int]  # width, height
SIZE_PX, LARGE_PX = (1920, 1080), (3840, 2160)  # usual; for cards that look too small


def usual_size() -> Size:
    """Return the default picture size."""
    return SIZE_PX


FIRST_PICTURE_S = (5.0, 10.0, 20.0, 40.0)
"""Limits for a camera's first picture: first try, second, …, all later ones.

Some streams start only for a client, and take 8 s or more.
"""
LOOK_S = 2.0  # between checks for new devices
TRY_AGAIN_S = 30.0  # until the same devices are tried again


class Device(Protocol):
    """An opened camera or stream."""

    def grab(self) -> bool:
        """Wait for the next picture. Return False if there are no more."""

    def retrieve(self) -> Image | None:
        """Return the last grabbed picture, `(H, W, 3) uint8 BGR`; None if damaged."""

    def hold(self) -> None:
        """Fix exposure, white balance and focus."""
        return

    def let_go(self) -> None:
        """Make exposure, white balance and focus automatic."""
        return

    def kind(self) -> str | None:
        """Return the picture format, such as `SINGLE_JPEGS`; None if unknown."""
        return None

    def close(self) -> None:
        """Release the device."""


def is_stream(source: str) -> bool:
    """True for HTTP and RTSP addresses."""
    return source.lower().startswith(("http://", "https://", "rtsp://", "rtsps://"))


def opener_of(
    source: str,
    size_px: Callable[[], Size] = usual_size,
    first_picture_s: Callable[[], float] = lambda: FIRST_PICTURE_S[0],
) -> Callable[[], Device]:
    """Return a function that opens the source, repeatedly if needed.

    Each call asks `size_px` for a webcam's picture size, or `first_picture_s` for a stream's limit.
    """
    if source.startswith("picamera2:"):
        return lambda: PiCamera(source.removeprefix("picamera2:"))
    if is_stream(source):
        return lambda: Stream(source, first_picture_s())
    path = f"/dev/video{source}" if source.isdecimal() else source
    lasting = lasting_name(path)
    return lambda: Webcam(lasting, path, size_px())


def lasting_name(path: str, by_id: Path = Path("/dev/v4l/by-id")) -> str:
    """Return a camera's path in `by_id`, which survives replugging; else `path`."""
    with suppress(OSError):
        links = sorted(by_id.iterdir())
        return next((str(link) for link in links if link.resolve() == Path(path).resolve()), path)
    return path


class _OpenCv(Device):
    _capture: cv2.VideoCapture

    def grab(self) -> bool:
        return bool(self._capture.grab())

    def retrieve(self) -> Image | None:
        good, image = self._capture.retrieve()
        return image if good else None

    def kind(self) -> str | None:
        code = int(self._capture.get(cv2.CAP_PROP_FOURCC)) & 0xFFFFFFFF
        letters = code.to_bytes(4, "little").decode("ascii", "replace").strip()
        return letters if letters.isprintable() and letters.isascii() and letters else None

    def close(self) -> None:
        self._capture.release()


MODES = (
    ("MJPG", LARGE_PX),
    ("MJPG", SIZE_PX),
    ("YUYV", SIZE_PX),
    ("MJPG", (1280, 720)),
    ("YUYV", (1280, 720)),
    ("MJPG", (640, 480)),
)
"""Formats and sizes to try, largest first.

Over USB 2, 1920 × 1080 comes 30 times a second as JPEG; 5 times raw, which is enough.
"""


class Webcam(_OpenCv):
    """A Video4Linux camera, in the first of `MODES` up to `most_px` that it supports."""

    def __init__(self, path: str, name: str, most_px: Size = SIZE_PX) -> None:
        self._capture = _opened_webcam(path, name)
        modes = [(kind, size_px) for kind, size_px in MODES if size_px <= most_px]
        if not any(self._set(*mode) for mode in modes):
            self._set(*modes[0])
        self._capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        self.let_go()

    def _set(self, kind: str, size_px: Size) -> bool:
        """Request a format (`MJPG`) and size. Return True if the camera reports them."""
        # Format first: cameras offer full rates only for the current one.
        self._capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*kind))
        self._capture.set(cv2.CAP_PROP_FRAME_WIDTH, size_px[0])
        self._capture.set(cv2.CAP_PROP_FRAME_HEIGHT, size_px[1])
        given_px = tuple(int(self._capture.get(side)) for side in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT))
        return given_px == size_px and self.kind() in (kind, None)

    def hold(self) -> None:
        exposure, warmth = self._capture.get(cv2.CAP_PROP_EXPOSURE), self._capture.get(cv2.CAP_PROP_WB_TEMPERATURE)
        self._capture.set(cv2.CAP_PROP_AUTO_EXPOSURE, 1)
        self._capture.set(cv2.CAP_PROP_EXPOSURE, exposure)
        self._capture.set(cv2.CAP_PROP_AUTO_WB, 0)
        if warmth > 0:
            self._capture.set(cv2.CAP_PROP_WB_TEMPERATURE, warmth)
        self._capture.set(cv2.CAP_PROP_AUTOFOCUS, 0)

    def let_go(self) -> None:
        self._capture.set(cv2.CAP_PROP_AUTO_EXPOSURE, 3)
        self._capture.set(cv2.CAP_PROP_AUTO_WB, 1)
        self._capture.set(cv2.CAP_PROP_AUTOFOCUS, 1)


def _opened_webcam(path: str, name: str) -> cv2.VideoCapture:
    if not Path(path).exists():
        there = ", ".join(video_devices())
        others = say("found: %(cameras)s.", cameras=there)
        plug = say("plug one in, or try `%(command)s`.", command=typed("demo"))
        raise Problem("Camera %(name)s not found: %(others)s", name=name, others=others if there else plug)
    if not os.access(path, os.R_OK | os.W_OK):
        raise Problem(
            "No permission to use camera %(name)s: run `sudo usermod -aG video $USER` and log in again.", name=name
        )
    capture = cv2.VideoCapture(path, cv2.CAP_V4L2)
    if not capture.isOpened():
        raise Problem("%(name)s is busy or not a camera: close the program that uses it, or choose another.", name=name)
    return capture


PI_NODES = ("bcm2835-", "pispbe", "rp1-cfe", "rpi-hevc", "rpivid", "unicam")
"""Name prefixes of a Raspberry Pi's codecs and ribbon cable camera.

Trying all twenty would delay that camera.
"""


def video_devices(folder: Path = Path("/dev"), names: Path = Path("/sys/class/video4linux")) -> list[str]:
    """Return the paths of possible webcams, by number."""
    nodes = [node for node in folder.glob("video*") if node.name[5:].isdecimal()]
    nodes = [node for node in nodes if not _name_in(names / node.name / "name").startswith(PI_NODES)]
    return [str(node) for node in sorted(nodes, key=lambda node: int(node.name[5:]))]


def _name_in(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")
    return ""


class Stream(_OpenCv):
    """A network stream; opening it and each picture may take `limit_s`."""

    def __init__(self, source: str, limit_s: float) -> None:
        limit_ms = round(1000 * limit_s)
        limits = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, limit_ms, cv2.CAP_PROP_READ_TIMEOUT_MSEC, limit_ms]
        self._capture = cv2.VideoCapture(source, cv2.CAP_FFMPEG, limits)
        if not self._capture.isOpened():
            raise unanswered(shown(source))


def slow(name: str, limit_s: float) -> Said:
    """Return the message that a first picture may take `limit_s`."""
    return say(
        "Waiting up to %(seconds)d seconds for the first picture of %(camera)s.",
        camera=name,
        seconds=round(limit_s),
    )


def unanswered(name: str) -> Problem:
    """Return the problem that a camera does not answer. `name` is from `shown`."""
    if is_stream(name):
        return Problem("The stream %(name)s does not answer: check the address and that it is running.", name=name)
    return Problem("The camera %(name)s does not answer: unplug it and plug it in again.", name=name)


_AF_MANUAL, _AF_CONTINUOUS = 0, 2  # libcamera's focus modes


class PiCamera(Device):
    """A Raspberry Pi's ribbon cable camera."""

    def __init__(self, number: str) -> None:
        try:
            from picamera2 import Picamera2
        except (ImportError, ValueError) as error:  # ValueError: a dependency needs another NumPy.
            raise Problem(
                say(
                    "Picamera2 is missing: run `sudo apt install python3-picamera2` and create the virtual "
                    "environment with --system-site-packages."
                )
            ) from error
        try:
            self._camera = Picamera2(int(number or 0))
            self._start()
        except (RuntimeError, IndexError, ValueError) as error:
            raise Problem(
                "The Pi camera %(number)s does not answer (%(error)s): check its cable.",
                number=number or 0,
                error=error,
            ) from error
        self._image: Image | None = None
        self.let_go()

    def _start(self) -> None:
        # Picamera2 names bytes in reverse: in memory its RGB888 is BGR.
        main = {"size": SIZE_PX, "format": "RGB888"}
        try:
            self._camera.configure(self._camera.create_video_configuration(main=main, buffer_count=2))
            self._camera.start()
        except Exception:
            # Otherwise it cannot be opened again.
            self.close()
            raise

    def grab(self) -> bool:
        try:
            self._image = self._camera.capture_array("main")
        except (RuntimeError, OSError):
            return False
        return True

    def retrieve(self) -> Image | None:
        return self._image

    def hold(self) -> None:
        now = self._camera.capture_metadata()
        kept = {key: now[key] for key in ("ExposureTime", "AnalogueGain", "ColourGains", "LensPosition") if key in now}
        self._set({"AeEnable": False, "AwbEnable": False, "AfMode": _AF_MANUAL, **kept})

    def let_go(self) -> None:
        self._set({"AeEnable": True, "AwbEnable": True, "AfMode": _AF_CONTINUOUS})

    def _set(self, controls: dict[str, object]) -> None:
        """Set those controls that this camera has."""
        known = self._camera.camera_controls
        self._camera.set_controls({name: value for name, value in controls.items() if name in known})

    def kind(self) -> str | None:
        return "Picamera2"

    def close(self) -> None:
        with suppress(Exception):
            self._camera.close()


@dataclass(frozen=True, slots=True)
class Openers:
    """Functions to open a camera, and to check that its device exists."""

    open: Callable[[], Device]
    is_there: Callable[[], bool]


def openers(source: str, size_px: Callable[[], Size] = usual_size) -> Openers:
    """Return a camera's openers; without a device path `is_there` is always True."""
    lasting = Path(lasting_name(source))
    return Openers(opener_of(source, size_px), lasting.exists if source.startswith("/dev/") else lambda: True)


class FirstCamera:
    """Find a camera, open it, and replace it if removed.

    `answers` tries the devices and returns a source for `frames`, or None; `devices` lists them. `wait(seconds)`
    returns true to end the search. `open` is thread-safe.
    """

    def __init__(
        self,
        answers: Callable[[], str | None],
        devices: Callable[[], Sequence[str]],
        wait: Callable[[float], object],
        clock: Callable[[], float] = time.monotonic,
        openers: Callable[[str], Openers] = openers,
    ) -> None:
        self._answers, self._devices, self._wait, self._clock = answers, devices, wait, clock
        self._openers_of = openers
        self._openers: Openers  # of the camera found
        self._tried: tuple[Sequence[str], float] | None = None
        """Devices tried in vain, and the end of their pause."""

        self.source: str | None = None  # None until a camera has answered

    def found(self, none_yet: Callable[[], None] = lambda: None) -> str | None:
        """Wait for a camera and return its source; None if stopped. Call `none_yet` if the first try fails."""
        self.source = self._answers()
        if self.source is None:
            none_yet()
        while self.source is None:
            before, until_s = self._devices(), self._clock() + TRY_AGAIN_S
            while self._devices() == before and self._clock() < until_s:
                if self._wait(LOOK_S):
                    return None
            self.source = self._answers()
        self._openers = self._openers_of(self.source)
        return self.source

    def open(self) -> Device:
        """Open the camera found, or another if it is gone. Raise Problem on failure."""
        now = self._openers
        if now.is_there():
            self._tried = None
        elif self._is_worth_a_try() and (other := self._answers()) is not None:
            now = self._openers = self._openers_of(other)
            self.source = other
        return now.open()

    def _is_worth_a_try(self) -> bool:
        there, now_s = self._devices(), self._clock()
        if not there or (self._tried is not None and there == self._tried[0] and now_s < self._tried[1]):
            return False
        self._tried = there, now_s + TRY_AGAIN_S
        return True

"""Frames from a camera, a film, a folder of pictures, a stream, or the simulated table: all through `frames`.

A camera that is lost is opened again with longer and longer pauses; meanwhile no frames come and a `Notice` says so.
The device itself hides behind `Device`, so everything else here runs without one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

import numpy as np

from companion.errors import Problem
from companion.said import say
from companion.vision.boxes import Image
from companion.vision.devices import Device, is_stream, opener_of, shown, video_devices
from companion.vision.opencv import cv2
from companion.vision.picture import SUFFIXES, read_picture

__all__ = ["Device", "Frame", "Notice", "camera_answers", "frames", "read_picture", "shown"]

FOLDER_FPS = 10.0
LOCK_AFTER_S = 2.0
"""How long a camera may set exposure, white balance and focus by itself before they are held."""

FROZEN_AFTER_S = 3.0
"""Pictures that are the same bit for bit for so long come from a camera that is gone: a sensor is never that still.
Not so a stream: its pictures may well be the same where nothing moves, and its connection tells when it is gone."""

PAUSES_S = (0.5, 1.0, 2.0, 4.0)
"""Pauses before the camera is opened again; the last one repeats."""

WRONG_SIZE_TRIES = 3


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture: `(H, W, 3) uint8 BGR`, and when it was taken, in seconds on the source's own clock."""

    image: Image
    t_s: float


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know about the source."""

    sentence: str
    blind: bool = False
    """True while no frames come; the next notice with False says that they come again."""


Tell = Callable[[Notice], None]
Wait = Callable[[float], object]
Opener = Callable[[], Device]


def _log(notice: Notice) -> None:
    logging.getLogger(__name__).warning("%s", notice.sentence)


def frames(
    source: str,
    *,
    fps: float | None = None,
    clock: Callable[[], float] = time.monotonic,
    wait: Wait = time.sleep,
    tell: Tell = _log,
    demo: Callable[[], Iterator[Frame]] | None = None,
    open_device: Callable[[str], Device] | None = None,
    patient: bool = False,
    live: bool = False,
) -> Iterator[Frame]:
    """The frames of a source: `0`, `/dev/video2`, a film, a folder, `http://…`, `rtsp://…`, `picamera2:`, `demo:`.

    `fps` thins a camera, stream or film to at most so many frames a second and gives a folder its pace (10).
    `t_s` is `clock()` for cameras and streams, the film's own time, or number / fps in a folder. `wait(seconds)`
    pauses, and ends the frames when it returns something true (`Event.wait` does). `tell` hears what is wrong
    meanwhile. `demo` makes the frames of `demo:`, `open_device` opens devices in the place of the real ones.
    `patient` waits for a camera that is not there yet; `live` plays what is no camera at its own speed.
    Raises Problem at once for a source that is not there or cannot be opened.
    """
    if fps is not None and not 0 < fps <= 1000:
        raise Problem(f"{fps} is no number of frames a second: give one above 0, up to 1000.")
    if source.startswith("demo:"):
        return _paced(_demo(demo), clock, wait) if live else _demo(demo)
    if is_device(source):
        opener = opener_of(source, open_device)
        camera = _Camera(shown(source), opener, clock, wait, tell, inf if is_stream(source) else FROZEN_AFTER_S)
        return _device_frames(camera, _first(opener, patient, tell), fps)
    path = Path(source).expanduser()
    stills = path.is_dir()
    played = _folder_frames(path, fps or FOLDER_FPS, tell) if stills else _film_frames(path, fps)
    return _paced(played, clock, wait) if live else played


def is_device(source: str) -> bool:
    """Whether a source is a camera or a stream, which never ends by itself."""
    return source.isdecimal() or source.startswith(("/dev/", "picamera2:")) or is_stream(source)


def _demo(demo: Callable[[], Iterator[Frame]] | None) -> Iterator[Frame]:
    if demo is None:
        raise Problem(say("The simulated table is not to be had here: name a camera, a film or a folder."))
    return demo()


# --- Films and folders ----------------------------------------------------------------------------------------


def _folder_frames(folder: Path, fps: float, tell: Tell) -> Iterator[Frame]:
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        none = say(
            "There is no picture in the folder %(folder)s: it should hold JPEG, PNG, WebP or BMP files.", folder=folder
        )
        raise Problem(none)
    return _pictures(files, fps, tell)


def _pictures(files: list[Path], fps: float, tell: Tell) -> Iterator[Frame]:
    for number, file in enumerate(files):
        try:
            image = read_picture(file)
        except Problem as problem:
            tell(Notice(f"{problem} It is left out."))
            continue
        yield Frame(image, number / fps)


def _film_frames(path: Path, fps: float | None) -> Iterator[Frame]:
    if not path.exists():
        raise Problem(say("There is no film, folder or camera %(path)s: check the path.", path=path))
    film = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
    if not film.isOpened() or not film.grab():
        none = say("%(path)s is no film that can be played: give an MP4, MKV, AVI or WebM file.", path=path)
        raise Problem(none, exit_code=1)
    return _film(film, fps)


def _film(film: cv2.VideoCapture, fps: float | None) -> Iterator[Frame]:
    step_s = 1 / (film.get(cv2.CAP_PROP_FPS) or 25.0)
    t_s, due_s, number = 0.0, 0.0, 0
    try:
        while number == 0 or film.grab():
            told_s = film.get(cv2.CAP_PROP_POS_MSEC) / 1000
            t_s = told_s if number == 0 or told_s > t_s else t_s + step_s
            number += 1
            if t_s < due_s - 1e-6:
                continue
            due_s = max(due_s, t_s - 1 / fps) + 1 / fps if fps else t_s
            good, image = film.retrieve()
            if good:
                yield Frame(image, t_s)
    finally:
        film.release()


def _paced(played: Iterator[Frame], clock: Callable[[], float], wait: Wait) -> Iterator[Frame]:
    """Each frame not before its time has come; after a delay they go on at their pace, without a rush."""
    start_s: float | None = None
    for frame in played:
        now_start_s = clock() - frame.t_s
        start_s = now_start_s if start_s is None else max(start_s, now_start_s)
        ahead_s = start_s - now_start_s
        if ahead_s > 0 and wait(ahead_s):
            return
        yield frame


# --- Cameras and streams --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Camera:
    name: str
    opener: Opener
    clock: Callable[[], float]
    wait: Wait
    tell: Tell
    frozen_after_s: float


def _first(opener: Opener, patient: bool, tell: Tell) -> Device | None:
    try:
        return opener()
    except Problem as problem:
        if not patient:
            raise
        waits = say("%(problem)s It is used as soon as it is there.", problem=str(problem))
        tell(Notice(waits, blind=True))
        return None


def _device_frames(camera: _Camera, device: Device | None, fps: float | None) -> Iterator[Frame]:
    """Frames for ever: a run of them, and when it breaks off, the next as soon as the device opens again."""
    shape: tuple[int, ...] | None = None
    wrong_sizes = 0
    while device := device or _reopened(camera):
        well = False
        try:
            for frame in _run(camera, device, fps):
                if shape and frame.image.shape != shape and wrong_sizes < WRONG_SIZE_TRIES:
                    wrong_sizes += 1
                    break
                if not well:
                    _greet(camera, frame.image, shape)
                    well, wrong_sizes, shape = True, 0, frame.image.shape
                yield frame
        finally:
            device.close()
        device = None
        if well:
            lost = say("%(camera)s sends no pictures any more; it is tried again and again.", camera=camera.name)
            camera.tell(Notice(lost, blind=True))
        if camera.wait(PAUSES_S[0]):
            return


def _greet(camera: _Camera, image: Image, before: tuple[int, ...] | None) -> None:
    """Says that pictures come, and when they are not as they should be."""
    height, width = image.shape[:2]
    if before and image.shape != before:
        camera.tell(Notice(f"{camera.name} now gives {width} × {height} pixels instead of {before[1]} × {before[0]}."))
    else:
        camera.tell(Notice(f"{camera.name} gives {width} × {height} pixels."))


def _reopened(camera: _Camera) -> Device | None:
    """The device once it opens again; None when the wait was ended from outside."""
    attempt = 0
    while True:
        with suppress(Problem):
            return camera.opener()
        if camera.wait(PAUSES_S[min(attempt, len(PAUSES_S) - 1)]):
            return None
        attempt += 1


@dataclass(frozen=True, slots=True)
class _Watch:
    """What is remembered of a run of pictures from one opened device."""

    started_s: float
    changed_s: float
    due_s: float
    sample: bytes = b""
    held_light: float | None = None
    """Mean brightness when exposure was held, None while the camera sets it itself."""

    strange_s: float | None = None
    """Since when the brightness has been far from that."""


def _run(camera: _Camera, device: Device, fps: float | None) -> Iterator[Frame]:
    """Frames until the device gives none, or the same one for too long."""
    now_s = camera.clock()
    watch = _Watch(now_s, now_s, now_s)
    while device.grab():
        now_s = camera.clock()
        if now_s < watch.due_s - 0.001:
            continue
        image = device.retrieve()
        if image is None or image.ndim != 3:
            return
        watch = _kept_steady(device, _looked_at(watch, image, now_s, fps), image, now_s)
        if now_s - watch.changed_s > camera.frozen_after_s:
            return
        yield Frame(image, now_s)


def _looked_at(watch: _Watch, image: Image, now_s: float, fps: float | None) -> _Watch:
    sample = image[::16, ::16, 1].tobytes()
    due_s = max(watch.due_s, now_s - 1 / fps) + 1 / fps if fps else now_s
    return replace(watch, due_s=due_s, sample=sample, changed_s=watch.changed_s if sample == watch.sample else now_s)


def _kept_steady(device: Device, watch: _Watch, image: Image, now_s: float) -> _Watch:
    """Holds exposure, white balance and focus after two seconds; lets go when the light has changed for good."""
    if watch.held_light is None:
        if now_s - watch.started_s < LOCK_AFTER_S:
            return watch
        device.hold()
        return replace(watch, held_light=_brightness(image), strange_s=None)
    if 0.6 * watch.held_light <= _brightness(image) <= 1.6 * watch.held_light + 8:
        return replace(watch, strange_s=None)
    if watch.strange_s is None:
        return replace(watch, strange_s=now_s)
    if now_s - watch.strange_s < LOCK_AFTER_S:
        return watch
    device.release()
    return replace(watch, held_light=None, strange_s=None, started_s=now_s)


def _brightness(image: Image) -> float:
    return float(np.mean(image[::32, ::32, 1]))


def camera_answers(open_device: Callable[[str], Device] | None = None) -> str | None:
    """The first camera that gives a picture, as a source for `frames`; None where none does."""
    for source in (*video_devices(), "picamera2:"):
        with suppress(Problem):
            device = opener_of(source, open_device)()
            try:
                if device.grab() and device.retrieve() is not None:
                    return source
            finally:
                device.close()
    return None

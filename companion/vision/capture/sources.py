"""Read frames from a camera, film, folder or stream.

Each camera is captured in a thread (`capture_thread`). The reader reports a hanging, silent or unplugged camera by a
`Notice`, and reopens it in another thread.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf, prod
from pathlib import Path
from threading import Thread, current_thread

from companion.common.addresses import shown
from companion.common.errors import Problem
from companion.common.text import say
from companion.vision.boxes import Image
from companion.vision.capture.capture_thread import (
    ANSWER_S,
    REPEATS_S,
    Capture,
    FrameFault,
    Shot,
    Timing,
    guarded,
    is_picture,
)
from companion.vision.capture.devices import (
    FIRST_PICTURE_S,
    PHONE,
    PHONE_SILENT,
    PHONE_STUCK,
    Device,
    Size,
    is_stream,
    lasting_name,
    opener_of,
    slow,
    unanswered,
    usual_size,
    video_devices,
)
from companion.vision.capture.image_io import SUFFIXES, read_picture
from companion.vision.opencv import cv2

log = logging.getLogger(__name__)

LIVE_FPS = 10.0  # from a camera; more would only heat a Raspberry Pi
FOLDER_FPS = 10.0

BLIND_S = 2.0  # without a good picture, until a camera is reported blind and reopened
SHOWN_LONGER_S = 0.5  # from then on, until the last picture is no longer shown
FRESH_S = BLIND_S + SHOWN_LONGER_S
LEFT_STREAM_AFTER_S = 5.0  # until a stream is reopened: it may resume by itself
SLOW_WAITS, SLOW_TIMES = 3, 1.5
"""A stream is blind only after `SLOW_TIMES` the shortest of its last `SLOW_WAITS` waits for a picture.

Otherwise one that sends a picture every three seconds would be reported blind before each.
"""
OPEN_S = 4.0  # until another opening is tried beside a hanging one; plus a stream's own limit
FIRST_OPEN_S = 10.0  # until `frames` raises Problem if a camera hangs
STALE_S = 1.0  # maximum age of an arriving picture
PAUSES_S = (0.5, 1.0, 2.0)  # before reopening: first, second, later
MOST_THREADS = 4  # per camera: one is read, others may hang
POLL_S = 0.02  # between checks
CLOSING_S = 0.5  # maximum wait for threads at the end
WRONG_SIZE_TRIES = 3  # consecutive smaller pictures until that size is accepted


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A picture `(H, W, 3) uint8 BGR`, and its time on the source's clock."""

    image: Image
    t_s: float
    after_gap: bool = False  # pictures were missed: anything may have changed
    is_fresh: Callable[[], bool] = lambda: True  # latest picture is current
    newest: Callable[[], Image | None] = lambda: None  # a later picture, if any
    parts: tuple[Part, ...] = ()  # one per camera, if combined


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One camera's part of a combined frame."""

    frame: Frame | None  # None without a new picture
    at_px: tuple[int, int]  # top left corner


@dataclass(frozen=True, slots=True)
class Notice:
    """Message about the source for people."""

    sentence: str
    blind: bool = False  # frames stop; a later notice with False ends that


Tell = Callable[[Notice], None]
Wait = Callable[[float], object]
REAL_TIME = Timing()


def frames(
    source: str,
    *,
    fps: float | None = None,
    wait: Wait = time.sleep,
    tell: Tell = lambda notice: log.warning("%s", notice.sentence),
    patient: bool = False,
    live: bool = False,
    open_device: Callable[[], Device] | None = None,
    named: Callable[[], str] | None = None,
    size_px: Callable[[], Size] = usual_size,
    timing: Timing = REAL_TIME,
) -> Iterator[Frame]:
    """Return the frames of `0`, `/dev/video2`, a film, a folder, `http://…`, `rtsp://…`, `picamera2:` or `phone:`.

    Raise Problem at once if the source is missing or cannot be opened. Times are the clock's for devices, the film's
    own, or number / fps in a folder.

    * `fps`: maximum rate, or a folder's rate (10).
    * `wait(seconds)`: pauses; returns true to end the frames, like `Event.wait`.
    * `tell`: receives notices, in the reading thread.
    * `patient`: wait for a missing camera.
    * `live`: play films and folders at their own speed.
    * `open_device`: opens a device instead; needed for a phone.
    * `named`: returns that device's name, if not `source`.
    * `size_px`: wanted size of a webcam's pictures; a change reopens it.
    """
    if fps is not None and not 0 < fps <= 1000:
        raise Problem("%(fps)s is not a number of frames per second: use one above 0, up to 1000.", fps=str(fps))
    if is_device(source):
        size_px = size_px if is_webcam(source) else usual_size
        patience = _Patience()
        reader = _Reader(
            named or (lambda: source),
            open_device or opener_of(source, size_px, lambda: patience.limit_s),
            patience,
            size_px,
            fps,
            wait,
            tell,
            timing,
            is_stream=is_stream(source),
            is_remote=is_stream(source) or source == PHONE,
            # Retry more often if checking for a device is cheap.
            pauses_s=PAUSES_S if is_stream(source) or source.startswith("picamera2:") else PAUSES_S[:-1],
        )
        return reader.frames(patient=patient)
    path = Path(source).expanduser()
    if not path.exists():
        raise not_there(source)
    stills = path.is_dir()
    played = _folder_frames(path, fps or FOLDER_FPS, tell) if stills else _film_frames(path, fps)
    return paced(played, timing.clock, wait) if live else played


def not_there(source: str) -> Problem:
    """Return the problem that `source` is neither a camera nor a path."""
    return Problem("No film, folder or camera %(path)s: check the path.", path=shown(source))


def is_device(source: str) -> bool:
    """True for cameras and streams, which never end."""
    return is_webcam(source) or source.startswith(("picamera2:", PHONE)) or is_stream(source)


def is_webcam(source: str) -> bool:
    """True for a camera of this machine; its size can be chosen."""
    # /dev/shm is memory: it may hold films, but no cameras.
    return source.isdecimal() or (source.startswith("/dev/") and not source.startswith("/dev/shm/"))  # noqa: S108


# --- Films and folders ----------------------------------------------------------------------------------------


def _folder_frames(folder: Path, fps: float, tell: Tell) -> Iterator[Frame]:
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        raise Problem("The folder %(folder)s has no pictures: put JPEG, PNG, WebP or BMP files in it.", folder=folder)
    return _pictures(files, fps, tell)


def _pictures(files: list[Path], fps: float, tell: Tell) -> Iterator[Frame]:
    for number, file in enumerate(files):
        try:
            yield Frame(read_picture(file), number / fps)
        except Problem as problem:
            tell(Notice(say("%(problem)s It is left out.", problem=problem.sentence)))


def _film_frames(path: Path, fps: float | None) -> Iterator[Frame]:
    film = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
    if not film.isOpened() or not film.grab():
        raise Problem("%(path)s is not a playable film: use an MP4, MKV, AVI or WebM file.", 1, path=path)
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


def paced(
    played: Iterator[Frame], clock: Callable[[], float] = time.monotonic, wait: Wait = time.sleep
) -> Iterator[Frame]:
    """Yield each frame at its time; after a delay, continue at normal speed."""
    start_s: float | None = None
    for frame in played:
        now_start_s = clock() - frame.t_s
        start_s = now_start_s if start_s is None else max(start_s, now_start_s)
        ahead_s = start_s - now_start_s
        if ahead_s > 0 and wait(ahead_s):
            return
        yield frame


# --- Cameras and streams --------------------------------------------------------------------------------------


class _Stopped(Exception):
    """The caller's `wait` returned true: frames end."""


@dataclass(slots=True, eq=False)
class _Patience:
    """Time limit for a first picture; grows with each try."""

    tries: int = 0

    @property
    def limit_s(self) -> float:
        return FIRST_PICTURE_S[self.tries]

    @property
    def is_at_its_end(self) -> bool:
        return self.limit_s == FIRST_PICTURE_S[-1]

    def was_enough(self, took_s: float) -> None:
        """Set the smallest limit above `took_s`."""
        self.tries = next((n for n, limit_s in enumerate(FIRST_PICTURE_S) if limit_s > took_s), self.tries)


@dataclass(slots=True, eq=False)
class _Reader:
    """Read one camera: start captures, monitor them, report problems."""

    named: Callable[[], str]
    opener: Callable[[], Device]
    patience: _Patience
    size_px: Callable[[], Size]
    fps: float | None
    wait: Wait
    tell: Tell
    timing: Timing
    is_stream: bool
    is_remote: bool  # stream or phone: pictures may repeat
    pauses_s: Sequence[float]
    captures: list[Capture] = field(default_factory=list)  # with running threads
    next_s: float = -inf  # earliest time of another opening
    waits_since_s: float = inf  # when a frame was requested; inf while one is processed
    failed: int = 0  # consecutive captures without a frame
    waited_s: deque[float] = field(default_factory=lambda: deque(maxlen=SLOW_WAITS))  # for the last pictures
    shape: tuple[int, ...] | None = None
    wrong_sizes: int = 0
    sample: bytes = b""
    same_since_s: float | None = None  # when `sample` began to repeat; None if it changed
    is_reopened: bool = False  # because a picture repeated; that helps at most once
    said: str | None = None  # latest message while blind

    def frames(self, *, patient: bool) -> Iterator[Frame]:
        """Return frames until stopped. Raise Problem if the camera cannot be opened, unless `patient`."""
        if not patient:
            with suppress(_Stopped):
                self._open_at_once()
        return self._all()

    def _all(self) -> Iterator[Frame]:
        try:
            while True:
                yield from self._of(self._opened())
        except _Stopped:
            return
        finally:
            for capture in self.captures:
                capture.give_up()
            for _ in range(int(CLOSING_S / POLL_S)):
                if all(capture.is_over for capture in self.captures):
                    break
                self.timing.sleep(POLL_S)

    # Opening

    def _open_at_once(self) -> None:
        capture = self._begin()
        while not capture.is_open:
            if capture.is_dry:
                self.captures.clear()
                if not self._waits_longer_after(capture):
                    raise self._problem(capture)
                capture = self._begin()
            elif self.timing.clock() - capture.begun_s > max(FIRST_OPEN_S, self._open_s):
                capture.give_up()
                raise unanswered(self._name)
            self._pause()

    def _begin(self) -> Capture:
        capture = Capture(
            self.opener,
            self.timing,
            self.fps,
            repeats_s=REPEATS_S if self.is_remote else 0.0,
            before=self.sample,
            same_since_s=self.same_since_s,
        )
        self.captures.append(capture)
        self.next_s = self.timing.clock() + self._open_s
        self.timing.start(capture.run)
        return capture

    @property
    def _open_s(self) -> float:
        """Time until an opening counts as hanging."""
        return OPEN_S + (self.patience.limit_s if self.is_stream else 0.0)

    def _waits_longer_after(self, capture: Capture) -> bool:
        """Extend the limit and return True if this try took too long."""
        passed_s = self.timing.clock() - capture.begun_s
        if capture.first_s is not None or passed_s < self.patience.limit_s or self.patience.is_at_its_end:
            return False
        self.patience.tries += 1
        if self.shape is None:
            self._say(slow(self._name, self.patience.limit_s))
        return True

    def _opened(self) -> Capture:
        """Wait for an open capture and return it; start another after a failure, or beside a hanging one."""
        since_s = self.timing.clock()
        while True:
            for capture in self.captures:
                if capture.is_dry and not capture.is_given_up:
                    self._leave(capture)
            self.captures = [capture for capture in self.captures if not capture.is_over]
            ready = next((c for c in self.captures if c.is_open and not c.is_given_up), None)
            if ready is not None:
                return ready
            if self.timing.clock() >= self.next_s and len(self.captures) < MOST_THREADS:
                self._begin()
            elif self.timing.clock() >= self.next_s:
                gone = say("%(camera)s no longer answers: unplug it and plug it in again.", camera=self._name)
                self._say(unanswered(self._name).sentence if self.is_stream else gone)
            if self.said is None and self.timing.clock() - since_s > BLIND_S:
                self._say(say("%(camera)s sends no pictures yet; still trying.", camera=self._name))
            self._pause()

    def _problem(self, capture: Capture) -> Problem:
        if isinstance(capture.problem, Problem):
            return capture.problem
        return Problem("%(camera)s cannot be used: unplug it and plug it in again.", 1, camera=self._name)

    # Reading

    def _of(self, capture: Capture) -> Iterator[Frame]:
        """Yield a capture's frames until it fails."""
        for other in self.captures:
            if other is not capture:
                other.give_up()
        capture.ask()
        is_first, asked_s, size_px = True, self.timing.clock(), self.size_px()
        while True:
            if self.size_px() != size_px:
                # Accept smaller pictures then.
                capture.give_up()
                self.next_s, self.wrong_sizes = self.timing.clock() + self.pauses_s[0], WRONG_SIZE_TRIES
                return
            shot = capture.taken()
            if shot is not None:
                # Skip a smaller picture unless the next ones are too.
                is_wrong = self.shape is not None and shot.image.size < prod(self.shape)
                self.wrong_sizes = self.wrong_sizes + 1 if is_wrong else 0
                if 0 < self.wrong_sizes <= WRONG_SIZE_TRIES:
                    break
                self.waited_s.append(shot.t_s - asked_s)
                if self.timing.clock() - shot.t_s < STALE_S:
                    try:
                        self.waits_since_s = inf
                        yield self._frame(shot, capture, is_first=is_first)
                    finally:
                        self.waits_since_s = self.timing.clock()
                    is_first = False
                capture.ask()
                asked_s = self.timing.clock()
            elif capture.is_dry or self._is_lost(capture, asked_s, is_first=is_first):
                break
            else:
                self._pause()
        self._leave(capture)

    @property
    def _blind_s(self) -> float:
        """Time without a good picture until the camera is reported blind; longer for a slow stream."""
        if not self.is_stream or len(self.waited_s) < SLOW_WAITS:
            return BLIND_S
        return min(LEFT_STREAM_AFTER_S, max(BLIND_S, SLOW_TIMES * min(self.waited_s)))

    def _is_lost(self, capture: Capture, asked_s: float, *, is_first: bool) -> bool:
        """True if the capture must be reopened for lack of good pictures. Report a blind camera."""
        quiet_s = self.timing.clock() - min(asked_s, capture.moved_s)
        if quiet_s > self._blind_s and self.said is None:
            self._say(self._why_blind(capture))
        if is_first and capture.first_s is None:
            return quiet_s > self.patience.limit_s
        is_moving = self.timing.clock() - capture.moved_s <= LEFT_STREAM_AFTER_S
        if self.is_remote and self.is_reopened and capture.fault is FrameFault.FROZEN and is_moving:
            # Reopening did not help.
            return False
        return quiet_s > (LEFT_STREAM_AFTER_S if is_first or self.is_remote else BLIND_S)

    def _leave(self, capture: Capture) -> None:
        """Abandon a capture, report why, and schedule another."""
        capture.give_up()
        self.sample, self.same_since_s = capture.sample or self.sample, capture.same_since_s
        self.is_reopened = self.is_reopened or capture.fault is FrameFault.FROZEN
        self.next_s = self.timing.clock() + self.pauses_s[min(self.failed, len(self.pauses_s) - 1)]
        self.failed += 1
        was_at_its_end = self.patience.is_at_its_end
        self._waits_longer_after(capture)
        if self.said is not None and not was_at_its_end:
            return
        if capture.problem is None:
            self._say(self._why_blind(capture))
        else:
            problem = str(self._problem(capture))
            self._say(say("%(problem)s It is used as soon as it is available.", problem=problem))

    def _frame(self, shot: Shot, capture: Capture, *, is_first: bool) -> Frame:
        after_gap = self.shape is not None and (is_first or self.said is not None)
        if is_first or self.said is not None:
            before, (height, width) = self.shape, shot.image.shape[:2]
            is_other = before is not None and shot.image.shape != before
            its = {"camera": self._name, "width": width, "height": height}
            gives = say("%(camera)s gives %(width)d × %(height)d pixels.", **its)
            if before is not None and is_other:
                gives = say(
                    "%(camera)s now gives %(width)d × %(height)d pixels instead of %(before)s.",
                    before=f"{before[1]} × {before[0]}",
                    **its,
                )
            self.tell(Notice(gives))
        if is_first and capture.first_s is not None:
            self.patience.was_enough(capture.first_s - capture.begun_s)
        self.is_reopened = False
        self.shape, self.failed, self.wrong_sizes, self.said = shot.image.shape, 0, 0, None
        return Frame(
            *shot,
            after_gap,
            lambda: self.timing.clock() - self.waits_since_s <= self._blind_s + SHOWN_LONGER_S,
            lambda: capture.newest,
        )

    # Saying

    @property
    def _name(self) -> str:
        return shown(self.named())

    def _say(self, sentence: str) -> None:
        if sentence != self.said:
            self.said = sentence
            self.tell(Notice(sentence, blind=True))

    def _why_blind(self, capture: Capture) -> str:
        is_frozen = not capture.is_dry and capture.fault is FrameFault.FROZEN
        if self.named() == PHONE:
            return PHONE_STUCK if is_frozen else PHONE_SILENT
        if is_frozen and self.is_remote:
            return say(
                "%(camera)s keeps sending the same picture: restart it, or the app that sends it.", camera=self._name
            )
        if is_frozen:
            return say("%(camera)s keeps sending the same picture; still trying.", camera=self._name)
        if not capture.is_dry and capture.fault is FrameFault.DAMAGED:
            return say("%(camera)s sends damaged pictures; still trying.", camera=self._name)
        if self.shape is None:
            return say("%(camera)s sends no pictures yet; still trying.", camera=self._name)
        return say("%(camera)s no longer sends pictures; still trying.", camera=self._name)

    def _pause(self) -> None:
        if self.wait(POLL_S):
            raise _Stopped


_TRIED: dict[str, Thread] = {}  # by source; hanging devices are not tried again


def camera_answers(besides: Collection[str] = ()) -> str | None:
    """Return the first camera that sends a picture, as a source for `frames`; None if none does.

    Skip those that hang from an earlier call, or are in `besides`.
    """

    def opened(source: str) -> Device:
        _TRIED[source] = current_thread()
        return opener_of(source)()

    for source in (*video_devices(), "picamera2:"):
        tried = _TRIED.get(source)
        if lasting_name(source) in besides or (tried is not None and tried.is_alive()):
            continue
        with suppress(Problem):
            if guarded(partial(opened, source), source, lambda d: d.grab() and is_picture(d.retrieve()), ANSWER_S):
                return source
    return None

"""Capture an opened camera in a separate thread, so that no driver blocks the rest.

OpenCV and Picamera2 release other threads while they wait. A process would cost a Raspberry Pi a second OpenCV and a
copy of every picture, and cannot end a hanging driver either. If a driver call never returns, the thread is abandoned.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from threading import Thread
from typing import NamedTuple, TypeGuard, TypeVar

import numpy as np

from companion.common.errors import Problem
from companion.vision.boxes import Image
from companion.vision.capture import steadiness
from companion.vision.capture.devices import SINGLE_JPEGS, Device, unanswered
from companion.vision.capture.image_io import MAX_SIDE_PX
from companion.vision.capture.steadiness import Adjustment, Steadiness

AT_ONCE_S = 0.005
"""A picture grabbed within this time was buffered, and may be old.

Also the pause between such grabs, which spares the CPU.
"""

SHOW_S = 1.0  # without a requested picture, until `newest` is renewed for display
MOST_WAITING = 8  # maximum pictures buffered in a device just opened
SAMPLE_PX = 16  # sampling step, and minimum side of a picture
DARK, BRIGHT = 24, 250  # between these levels no sensor gives a one-color strip; beyond are dark rooms and lamps
STRIP_SHARE = 8  # picture height / height of the examined strip
TORN_AFTER_S = 12.0
"""Time after which an unchanged lower strip below a changing upper one is old.

Some decoders fill missing data from the previous picture. Streams get `REPEATS_S` where that is longer: compression
repeats calm parts too.
"""

REPEATS_S, JPEG_REPEATS_S = 30.0, 12.0
"""Times for which a stream or phone may send the same picture, bit for bit; the second if each picture is a JPEG.

x264 repeats a still scene until the next full picture: by default 250 frames, 25 s at 10 frames a second. JPEGs do not
depend on each other and show the sensor's noise; the same one is sent again only while the sender waits for a new one.
"""

ANSWER_S, TRIAL_S, CLOSING_S = 10.0, 20.0, 2.0
"""Limits for a device's first picture, for a whole trial, and for closing."""

T = TypeVar("T")


class FrameFault(StrEnum):
    """Why a picture is discarded."""

    FROZEN = "frozen"  # repeated too long; a sensor always has noise
    DAMAGED = "damaged"  # missing or incomplete


class Shot(NamedTuple):
    """A picture `(H, W, 3) uint8 BGR`, and its time on the reader's clock."""

    image: Image
    t_s: float


@dataclass(frozen=True, slots=True)
class Timing:
    """Clock, pause and thread start."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    start: Callable[[Callable[[], None]], object] = lambda run: Thread(target=run, name="camera", daemon=True).start()


class Capture:
    """A device from opening to closing. Its thread calls `run`, the reader the rest.

    `fps` is the maximum rate (None: unlimited). Pictures may repeat for `repeats_s`, JPEGs at most for
    `JPEG_REPEATS_S`. `before` is the previous capture's last `sample`, `same_since_s` when it began to repeat. With
    `before`, the first picture is only compared: it may be old.
    """

    def __init__(
        self,
        opener: Callable[[], Device],
        timing: Timing,
        fps: float | None,
        *,
        repeats_s: float,
        before: bytes,
        same_since_s: float | None,
    ) -> None:
        self._opener, self._timing, self._fps, self._repeats_s = opener, timing, fps, repeats_s
        self._only_compares = bool(before)
        self.same_since_s = same_since_s  # when pictures began to repeat; None while they change
        self._due_s = 0.0
        self._steadiness = Steadiness()
        self._torn_s: float | None = None  # when the lower strip stopped changing
        self.sample = before  # pixels of the latest picture
        self.newest: Image | None = None  # latest good picture, requested or not
        self._shots = deque[Shot](maxlen=1)  # requested picture
        self._is_wanted = False
        self.begun_s = self._newest_s = self.moved_s = timing.clock()
        """Times of the start, of `newest`, and of the device's last answer."""

        self.first_s: float | None = None  # time of the first picture, even a bad one
        self.problem: Exception | None = None  # why opening failed
        self.fault: FrameFault | None = None  # of the latest picture
        self.is_open = self.is_given_up = False
        self.is_dry = False  # no more pictures
        self.is_over = False  # the thread has ended

    def ask(self) -> None:
        """Request the next good picture; earlier ones are never returned."""
        self._is_wanted = True

    def taken(self) -> Shot | None:
        """Return the requested picture once; None until it arrives."""
        return self._shots.pop() if self._shots else None

    def give_up(self) -> None:
        """Make the thread close the device once the driver answers."""
        self.is_given_up = True

    # In the thread

    def run(self) -> None:
        """Open the device, capture until it ends or is given up, and close it."""
        try:
            device = self._opener()
        except Exception as error:
            # Drivers may raise anything; the reader reports it.
            self.problem, self.is_dry, self.is_over = error, True, True
            return
        try:
            if _kind_of(device) == SINGLE_JPEGS:
                self._repeats_s = min(self._repeats_s, JPEG_REPEATS_S)
            self.moved_s = self._timing.clock()
            self.is_open = True
            self._capture(device)
        finally:
            self.is_dry = True
            with suppress(Exception):
                device.close()
            self.is_over = True

    def _capture(self, device: Device) -> None:
        self._due_s = self.moved_s
        at_once = waiting = 0
        while not self.is_given_up and _grabbed(device):
            now_s = self._timing.clock()
            at_once = at_once + 1 if now_s - self.moved_s < AT_ONCE_S else 0
            self.moved_s = now_s
            if at_once > MOST_WAITING:
                self._timing.sleep(AT_ONCE_S)
            elif at_once and waiting < MOST_WAITING:
                waiting += 1
                continue
            waiting = MOST_WAITING
            if self._is_wanted and now_s >= self._due_s - 0.001:
                self._take(device, now_s)
            elif not self._is_wanted and now_s - self._newest_s > SHOW_S:
                self._newest_s, image = now_s, _retrieved(device)
                self.newest = self.newest if image is None else image

    def _take(self, device: Device, now_s: float) -> None:
        """Hand over the grabbed picture, or set `fault`."""
        step_s = 1 / self._fps if self._fps else 0.0
        self._due_s = max(self._due_s, now_s - step_s) + step_s
        image = _retrieved(device)
        self.first_s = now_s if self.first_s is None else self.first_s
        if image is None:
            self.fault = FrameFault.DAMAGED
            return
        grid = image[::SAMPLE_PX, ::SAMPLE_PX, 1]
        before, self.sample = self.sample, grid.tobytes()
        is_frozen = self._is_frozen(before, now_s)
        if self._is_torn(before, grid, now_s):
            self.fault = FrameFault.DAMAGED
            return
        if is_frozen or self._only_compares:
            self.fault, self._only_compares = FrameFault.FROZEN if is_frozen else None, False
            return
        self.fault = None
        self._keep_steady(device, image, now_s)
        self._is_wanted = False
        self.newest, self._newest_s = image, now_s
        self._shots.append(Shot(image, now_s))

    def _is_frozen(self, before: bytes, now_s: float) -> bool:
        """True if pictures repeated for `repeats_s`; dark ones never count."""
        if before != self.sample or max(self.sample) <= DARK:
            self.same_since_s = None
            return False
        self.same_since_s = now_s if self.same_since_s is None else self.same_since_s
        return now_s - self.same_since_s >= self._repeats_s

    def _is_torn(self, before: bytes, grid: Image, now_s: float) -> bool:
        """True if the lower strip of `grid`, a sampled picture `(h, w) uint8`, is old."""
        if len(before) != grid.size:
            self._torn_s = None
            return False
        same = (np.frombuffer(before, np.uint8).reshape(grid.shape) == grid).all(axis=1)
        high = max(1, len(same) // STRIP_SHARE)
        if not same[-high:].all() or not DARK < np.median(grid[-high:]) < BRIGHT:
            self._torn_s = None
        elif self._torn_s is None and not same[:high].any():
            self._torn_s = now_s
        return self._torn_s is not None and now_s - self._torn_s > max(TORN_AFTER_S, self._repeats_s)

    def _keep_steady(self, device: Device, image: Image, now_s: float) -> None:
        self._steadiness, deed = steadiness.after(self._steadiness, steadiness.light_of(image), now_s)
        with suppress(Exception):
            if deed is Adjustment.HOLD:
                device.hold()
            elif deed is Adjustment.RELEASE:
                device.let_go()


def _kind_of(device: Device) -> str | None:
    with suppress(Exception):
        return device.kind()
    return None


def _grabbed(device: Device) -> bool:
    with suppress(Exception):
        return device.grab()
    return False


def _retrieved(device: Device) -> Image | None:
    with suppress(Exception):
        image = device.retrieve()
        return image if is_picture(image) and not is_cut_short(image) else None
    return None


def is_picture(image: object) -> TypeGuard[Image]:
    """True for a picture `(H, W, 3) uint8` of plausible size."""
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        return False
    return min(image.shape[:2]) >= SAMPLE_PX and max(image.shape[:2]) <= MAX_SIDE_PX


def is_cut_short(image: Image) -> bool:
    """True if a picture `(H, W, 3) uint8` ends in one color, with which decoders fill missing data."""
    sample = image[::-SAMPLE_PX, ::SAMPLE_PX]
    colour = sample[0, 0]
    if colour.max() <= DARK or colour.min() >= BRIGHT:
        return False
    rows = (sample == colour).all(axis=(1, 2))
    return bool(rows[: max(2, len(rows) // STRIP_SHARE)].all())


def guarded(opener: Callable[[], Device], name: str, work: Callable[[Device], T], limit_s: float = TRIAL_S) -> T:
    """Return `work(device)`, run in a thread that is abandoned if the driver hangs.

    The thread opens and closes the device. Raise Problem on failure, or after `limit_s`.
    """
    answer: Future[T] = Future()

    def run() -> None:
        device = None
        try:
            device = opener()
            answer.set_result(work(device))
        except Exception as error:
            answer.set_exception(error)
        finally:
            with suppress(Exception):
                if device is not None:
                    device.close()

    thread = Thread(target=run, name="camera trial", daemon=True)
    thread.start()
    try:
        return answer.result(limit_s)
    except Problem:
        raise
    except TimeoutError:
        raise unanswered(name) from None
    except Exception as error:
        raise Problem("The camera %(name)s cannot be used: unplug it and plug it in again.", name=name) from error
    finally:
        thread.join(CLOSING_S if answer.done() else 0.0)

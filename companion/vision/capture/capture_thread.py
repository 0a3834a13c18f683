"""Capture an opened camera in a thread of its own, so that no driver blocks the rest.

A thread, not a process: OpenCV and Picamera2 release other threads while waiting for a driver. A process would cost a
Raspberry Pi the memory of a second OpenCV and a copy of every picture, and cannot end a hanging driver either. Only
this thread calls the device. If a call never returns, the thread is abandoned until the program ends. `guarded` runs
one task in such a thread.
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
from companion.vision.capture.devices import Device, unanswered
from companion.vision.capture.image_io import MAX_SIDE_PX
from companion.vision.capture.steadiness import Adjustment, Steadiness

AT_ONCE_S = 0.005
"""Time within which only a buffered, possibly old picture arrives.

Also the pause between those, so that a faulty driver does not use a whole core.
"""

SHOW_S = 1.0  # until people see a newer picture during a long look
MOST_WAITING = 8  # maximum pictures buffered in a device just opened
SAMPLE_PX = 16  # step at which pictures are compared, and their minimum side
DARK, BRIGHT = 24, 250  # between these levels no sensor makes a strip of one color; beyond are dark rooms and lamps
STRIP_SHARE = 8  # height of a picture over that of the one-color strip where it is cut short
TORN_AFTER_S = 12.0
"""Seconds for which the lower strip must stay the same, while the upper one changes, to be old.

Some decoders fill what was not sent with the picture before. A compressed stream may repeat a calm part as well: for
one, `REPEATS_S` counts.
"""

REPEATS_S = 30.0
"""Seconds for which a stream or a phone may send the same picture, bit for bit.

Strong compression repeats a still scene until the next full picture. The x264 encoder sends one every 250 frames unless
told otherwise: 10 s at 25 frames a second, 17 s at 15, 25 s at 10.
"""

ANSWER_S, TRIAL_S, CLOSING_S = 10.0, 20.0, 2.0
"""Limits for opening a device until its first picture, for a whole trial, and for closing."""

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
    """The clock, and functions to sleep and to start a thread."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    start: Callable[[Callable[[], None]], object] = lambda run: Thread(target=run, name="camera", daemon=True).start()


class Capture:
    """A device from opening to closing. Its thread calls `run`, the reader the rest.

    `fps` is the maximum rate (None: unlimited). Pictures may repeat for `repeats_s`. `before` is the last `sample` of
    the previous capture, if any. The first picture is then only compared with it: it may be old, or the only one.
    `same_since_s` is since when that sample repeated.
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
        self.same_since_s = same_since_s  # since when pictures repeat; None while they change
        self._due_s = 0.0
        self._steadiness = Steadiness()
        self._torn_s: float | None = None  # since when only the upper strip changes
        self.sample = before  # some pixels of the latest picture
        self.newest: Image | None = None  # latest good picture, requested or not
        self._shots = deque[Shot](maxlen=1)  # requested, until taken
        self._is_wanted = False
        self.begun_s = self._newest_s = self.moved_s = timing.clock()
        """Times of the start, of `newest`, and of the device's last answer."""

        self.first_s: float | None = None  # time of the first picture, even a bad one
        self.problem: Exception | None = None  # why opening failed
        self.fault: FrameFault | None = None  # of the latest picture
        self.is_open = self.is_given_up = False
        self.is_dry = False  # no more pictures; perhaps still closing
        self.is_over = False  # the thread has ended

    def ask(self) -> None:
        """Request the next good picture; others are discarded, so that none is ever old."""
        self._is_wanted = True

    def taken(self) -> Shot | None:
        """Return the requested picture once it is there."""
        return self._shots.pop() if self._shots else None

    def give_up(self) -> None:
        """Have the thread close the device as soon as it answers."""
        self.is_given_up = True

    # In the thread

    def run(self) -> None:
        """Open the device, capture until it ends or is given up, and close it."""
        try:
            device = self._opener()
        except Exception as error:
            # Drivers may raise anything; the reader reports it and tries again.
            self.problem, self.is_dry, self.is_over = error, True, True
            return
        try:
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
        """Hand over the grabbed picture unless it is faulty."""
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
        """True if pictures repeat too long; in the dark they may."""
        if before != self.sample or max(self.sample) <= DARK:
            self.same_since_s = None
            return False
        self.same_since_s = now_s if self.same_since_s is None else self.same_since_s
        return now_s - self.same_since_s >= self._repeats_s

    def _is_torn(self, before: bytes, grid: Image, now_s: float) -> bool:
        """True if the lower strip of pictures, sampled as `grid` `(h, w) uint8`, is old."""
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
        """Hold or release exposure, white balance and focus, if the camera can."""
        self._steadiness, deed = steadiness.after(self._steadiness, steadiness.light_of(image), now_s)
        with suppress(Exception):
            if deed is Adjustment.HOLD:
                device.hold()
            elif deed is Adjustment.RELEASE:
                device.let_go()


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
    """True if this is a picture, `(H, W, 3) uint8`, of plausible size."""
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        return False
    return min(image.shape[:2]) >= SAMPLE_PX and max(image.shape[:2]) <= MAX_SIDE_PX


def is_cut_short(image: Image) -> bool:
    """True if a picture ends in a strip of one color, with which decoders fill missing data."""
    sample = image[::-SAMPLE_PX, ::SAMPLE_PX]
    colour = sample[0, 0]
    if colour.max() <= DARK or colour.min() >= BRIGHT:
        return False
    rows = (sample == colour).all(axis=(1, 2))
    return bool(rows[: max(2, len(rows) // STRIP_SHARE)].all())


def guarded(opener: Callable[[], Device], name: str, work: Callable[[Device], T], limit_s: float = TRIAL_S) -> T:
    """Run `work` on a device in a thread, abandoned if the driver hangs; return the result.

    The thread opens and closes the device. Raise Problem for any failure, or after `limit_s`.
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

"""A phone as the camera: its page sends pictures, and they are captured like those of any other camera."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from companion.common.errors import Problem
from companion.vision.boxes import Image
from companion.vision.capture.devices import PHONE, PHONE_SILENT, Device
from companion.vision.capture.sandbox import Darkroom

SENDING_S = 3.0  # silence after which a phone no longer counts as sending, in seconds: a busy Wi-Fi pauses for less
ANSWER_S = 1.5  # maximum wait for the next picture, in seconds: below `sources.BLIND_S`, so that no reader waits
PICTURES_A_PROCESS = 20_000  # number of pictures after which the process that decodes them is replaced: an hour of play


class PhoneFrames:
    """The pictures that one phone sends, the latest alone. For any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._come = threading.Condition()
        self._jpeg, self._came, self._read = b"", 0, 0  # the latest picture, its number, and that of the last one read
        self._came_s = -SENDING_S
        self._is_given_up = False
        self.sender: str | None = None  # the phone that is the camera; None where none is
        self.battery: int | None = None  # charge in percent; None where the phone is plugged in or does not say

    def choose(self, phone: str | None) -> None:
        """Make a phone the camera, None for no phone any more."""
        with self._come:
            self.sender, self._is_given_up, self.battery = phone, phone is None, None

    def put(self, phone: str, jpeg: bytes, battery: int | None = None) -> bool | None:
        """Take in a picture; None if this phone is not the camera, else True if the picture before has been read.

        After a restart the phone that goes on sending is the camera again.
        """
        with self._come:
            if self.sender is None and not self._is_given_up:
                self.sender = phone
            if phone != self.sender:
                return None
            is_kept_up_with = self._read == self._came
            self._jpeg, self._came, self._came_s, self.battery = jpeg, self._came + 1, self._clock(), battery
            self._come.notify_all()
        return is_kept_up_with

    def next_after(self, number: int) -> tuple[int, bytes]:
        """Return the number of the latest picture, and the picture, as soon as one has come after a number."""
        with self._come:
            self._come.wait_for(lambda: self._came > number, ANSWER_S)
            self._read = self._came
            return self._came, self._jpeg

    def open(self) -> Device:
        """Return the phone as a device. Raises Problem while it sends nothing."""
        if self.sender is None or self._clock() - self._came_s >= SENDING_S:
            raise Problem(PHONE_SILENT)
        return _Phone(self)


class _Phone(Device):
    def __init__(self, frames: PhoneFrames) -> None:
        self._frames, self._number, self._jpeg = frames, 0, b""
        self._darkroom = Darkroom(most_pictures=PICTURES_A_PROCESS)

    def grab(self) -> bool:
        before = self._number
        self._number, self._jpeg = self._frames.next_after(before)
        return self._number > before

    def retrieve(self) -> Image | None:
        return self._darkroom.decode(self._jpeg, PHONE)

    def close(self) -> None:
        """End the process that decodes; the phone may go on sending."""
        self._darkroom.close()

"""Use a phone as camera: its page sends pictures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from companion.common.errors import Problem
from companion.vision.boxes import Image
from companion.vision.capture.devices import PHONE, PHONE_SILENT, SINGLE_JPEGS, Device
from companion.vision.capture.sandbox import Darkroom

SENDING_S = 3.0  # silence that means not sending; busy Wi-Fi pauses for less
ANSWER_S = 1.5  # maximum wait for a picture, below `sources.BLIND_S`
PICTURES_A_PROCESS = 20_000  # until the decoding process is replaced, after an hour of play


class PhoneFrames:
    """The latest picture sent by the camera phone. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._come = threading.Condition()
        self._jpeg, self._came, self._read = b"", 0, 0  # latest JPEG, its number, last number read
        self._came_s = -SENDING_S
        self._is_given_up = False
        self.sender: str | None = None  # camera phone
        self.battery: int | None = None  # percent; None if charging or unknown

    def choose(self, phone: str | None) -> None:
        """Use this phone as camera; None for no phone."""
        with self._come:
            self.sender, self._is_given_up, self.battery = phone, phone is None, None

    def put(self, phone: str, jpeg: bytes, battery: int | None = None) -> bool | None:
        """Store picture and battery percentage. Return whether the last one was fetched; None if not the camera phone.

        After a restart, the first phone that sends becomes the camera.
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
        """Return the latest picture's number and JPEG; wait up to `ANSWER_S` for one above `number`."""
        with self._come:
            self._come.wait_for(lambda: self._came > number, ANSWER_S)
            self._read = self._came
            return self._came, self._jpeg

    def open(self) -> Device:
        """Return the phone as a device. Raise Problem if it is not sending."""
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

    def kind(self) -> str | None:
        return SINGLE_JPEGS

    def close(self) -> None:
        self._darkroom.close()

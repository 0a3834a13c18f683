"""An unreliable camera, and a table whose pictures encode when they were taken and which cards were there.

No real camera can be made to hang in a given call a hundred times.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np
from virtual_time import VirtualTime

from companion.common.errors import Problem
from companion.rules.cards import Card, Family
from companion.tabletop.card_ids import face_of
from companion.vision.capture.devices import Device
from companion.vision.capture.sources import Frame
from companion.vision.view import MatSeen, Sighting, View

SIZE = (64, 96)
SMALL = (48, 72)
BITS = 32
FPS = 15.0
SIDES = ("side-1", "side-2")
SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
MATS = tuple(MatSeen(mat, SQUARE, 2.0) for mat in (*SIDES, "table"))
ZONES = {Family.DISTANCE: "distance", Family.SAFETY: "safety", Family.HAZARD: "battle", Family.REMEDY: "battle"}


class Mood(StrEnum):
    """Behaviors of the camera."""

    FINE = "fine"
    UNPLUGGED = "unplugged"
    HUNG_GRAB = "hung in grab"
    HUNG_RETRIEVE = "hung in retrieve"
    HUNG_OPEN = "hung in open"
    HUNG_CLOSE = "hung in close"
    FROZEN = "frozen"
    RUBBISH = "rubbish"
    RAISING = "raising"
    SMALLER = "smaller after it came back"


ANGRY = (OSError("no such device"), cv2.error("V4L2"), ValueError("bad frame"), MemoryError(), RuntimeError("ISP"))


@dataclass(frozen=True)
class Taken:
    """The true state when a picture was taken."""

    t_s: float
    cards: dict[str, str]


class Table:
    """Cards that come and go; `look` is an eye that rejects old pictures and invalid ones."""

    def __init__(self, time: VirtualTime, seed: int = 0) -> None:
        self.cards: dict[str, str] = {}
        self.wrong: list[str] = []
        """Pictures that should not have reached the eye."""

        self.seen = Taken(0.0, {})
        """The true state of the last picture."""

        self.looked_s = self.gap_s = -100.0
        """When the last picture was read, and the first one after the last gap."""

        self.since_gap = 100
        """Number of pictures read since that gap."""

        self._time = time
        self._rng = random.Random(seed)
        self._noise = np.random.default_rng(seed)
        self._taken: list[Taken] = []
        self._last = -1

    def move(self) -> None:
        """Put down or remove a card."""
        if len(self.cards) > 4 or (self.cards and self._rng.random() < 0.4):
            del self.cards[self._rng.choice(sorted(self.cards))]
            return
        face = self._rng.choice([card for card in Card if card.family in ZONES])
        pile = "speed" if "limit" in face.value else ZONES[face.family]
        zone = "table/discard" if self._rng.random() < 0.2 else f"{self._rng.choice(SIDES)}/{pile}"
        self.cards[f"{face.value}-{self._rng.randint(1, 4):02d}"] = zone

    def picture(self, size: tuple[int, int] = SIZE) -> np.ndarray:
        """Take a picture now."""
        number = len(self._taken)
        self._taken.append(Taken(self._time(), dict(self.cards)))
        image = self._noise.integers(90, 110, (*size, 3), np.uint8)
        bits = np.array([255 * (number >> bit & 1) for bit in range(BITS)], np.uint8)
        image[1, :BITS], image[2, :BITS] = bits[:, None], 255 - bits[:, None]
        return image

    def look(self, frame: Frame) -> View:
        number = _number(frame.image)
        if number is None or number <= self._last:
            self.wrong.append(f"at {self._time():.2f} s no picture, or one that was seen before")
            return View(frame.t_s, MATS, (), trouble="no picture")
        self.seen, self._last, self.looked_s = self._taken[number], number, self._time()
        if self.looked_s - self.seen.t_s > 1.0:
            self.wrong.append(f"at {self.looked_s:.2f} s a picture of {self.seen.t_s:.2f} s")
        self.since_gap += 1
        if frame.after_gap:
            self.since_gap, self.gap_s = 1, self.looked_s
        return View(frame.t_s, MATS, tuple(_sighting(card, zone) for card, zone in self.seen.cards.items()))


def _number(image: np.ndarray) -> int | None:
    bits, inverse = image[1, :BITS, 0], image[2, :BITS, 0]
    if image.shape[:2] not in (SIZE, SMALL) or not ((bits == 0) | (bits == 255)).all() or (bits == inverse).any():
        return None
    return sum(int(bit > 0) << place for place, bit in enumerate(bits))


def _sighting(card: str, zone: str) -> Sighting:
    place = 250.0 * (zlib.crc32(card.encode()) % 1000)
    return Sighting(face_of(card), card, (place, place), None, zone, False, 0.99, "sticker")


class MoodyCamera:
    """The camera; only one device can be open. A hanging call hangs until the mood changes."""

    def __init__(self, time: VirtualTime, table: Table, seed: int = 0) -> None:
        self.mood = Mood.FINE
        self.opened = 0
        """Number of open devices."""

        self.time = time
        self.table = table
        self.rng = random.Random(seed)
        self.last = table.picture()
        self.rubbish = _rubbish(self)

    def open(self) -> MoodyDevice:
        self.time.sleep(0.3)
        self.hang(Mood.HUNG_OPEN)
        if self.mood is Mood.UNPLUGGED:
            raise Problem("There is no camera.")
        if self.mood is Mood.RAISING:
            raise self.rng.choice(ANGRY)
        if self.opened:
            raise Problem("The camera is busy.")
        return MoodyDevice(self)

    def hang(self, mood: Mood) -> bool:
        """Block while the camera is in a mood; return whether it was."""
        was = self.mood is mood
        while self.mood is mood:
            self.time.sleep(0.1)
        return was


class MoodyDevice(Device):
    """An opened camera; once unplugged, it sends nothing more."""

    def __init__(self, camera: MoodyCamera) -> None:
        self._camera = camera
        self._is_gone = False
        self._size = SMALL if camera.mood is Mood.SMALLER else SIZE
        camera.opened += 1

    def grab(self) -> bool:
        camera = self._camera
        camera.time.sleep(1 / FPS)
        gone = {Mood.UNPLUGGED, Mood.HUNG_OPEN, Mood.HUNG_CLOSE} | ({Mood.SMALLER} if self._size == SIZE else set())
        self._is_gone |= camera.mood in gone or camera.hang(Mood.HUNG_GRAB)
        if camera.mood is Mood.RAISING:
            raise camera.rng.choice(ANGRY)
        return not self._is_gone

    def retrieve(self) -> object:
        camera = self._camera
        camera.hang(Mood.HUNG_RETRIEVE)
        if camera.mood is Mood.FROZEN:
            return camera.last
        if camera.mood is Mood.RUBBISH:
            return next(camera.rubbish)
        camera.last = camera.table.picture(self._size)
        return camera.last

    def close(self) -> None:
        self._camera.hang(Mood.HUNG_CLOSE)
        self._camera.opened -= 1


def _rubbish(camera: MoodyCamera) -> Iterator[object]:
    """Yield invalid pictures in turn, endlessly."""
    while True:
        for spoil in SPOILT:
            yield spoil(camera.table.picture())


def _cut_short(image: np.ndarray) -> np.ndarray:
    image[len(image) // 2 :] = 128
    return image


SPOILT: tuple[Callable[[np.ndarray], object], ...] = (
    lambda image: None, lambda image: image[:0], lambda image: image[:, :, 0], lambda image: image[:, :, :1],
    lambda image: np.dstack([image, image[:, :, 0]]), lambda image: np.full(image.shape, np.nan),
    lambda image: image.astype(np.uint16), lambda image: image.tolist(), lambda image: np.resize(image, (4, 20_000, 3)),
    lambda image: np.resize(image, (8, 8, 3)), lambda image: np.full_like(image, (0, 135, 0)), _cut_short,
)  # fmt: skip
"""Ways to make a picture invalid."""

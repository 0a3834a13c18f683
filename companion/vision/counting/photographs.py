"""A phone's photograph: read, reduced for the page, its doubtful cards cut out.

Nothing is stored: the results stay in memory until newer ones push them out.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from companion.common.text import say
from companion.rules.cards import Card
from companion.tabletop.mat_layout import all_mats
from companion.tabletop.template_decks import titles, whole_decks
from companion.vision.boxes import Box, Image, around
from companion.vision.capture.image_io import jpeg_of
from companion.vision.capture.sandbox import decode, one_at_a_time
from companion.vision.capture.sources import Frame
from companion.vision.counting.tally import Photo
from companion.vision.counting.unread_cards import with_unread
from companion.vision.faces.deck_in_use import faces_of
from companion.vision.mats.localization import Mats, look
from companion.vision.opencv import cv2
from companion.vision.read import gray_of, read
from companion.vision.view import STICKER, Sighting, View

MOST_BYTES = 24_000_000  # maximum size of a file, in bytes: no telephone's photograph is larger
MOST_SENT_BYTES = 2 * MOST_BYTES  # of a request, above a file's: what was typed beside one too large is kept
SHOWN_PX, CROP_PX = 1600, 240  # longer side of the picture, and of a card cut out, as the page shows them
MOST_CROPS = 40  # maximum number of cards cut out of a photograph
MOST_PHOTOS = 8  # maximum number of photographs of a tableau, and of tableaux that are kept
BUSY = say("Another photograph is being read: try again in a moment.")
_AROUND_STICKER, _AROUND_CARD = 1.6, 0.15  # margins of a crop, as shares of what was seen: a sticker is part of a card
_OUTLINE = (0, 176, 240)  # milestone yellow, BGR
_reading = threading.Lock()
_reader = ThreadPoolExecutor(1, "photographs")  # one thread alone: each keeps the memory of a large picture


@dataclass(frozen=True, slots=True)
class Shot:
    """A photograph and what the page shows of it."""

    photo: Photo
    jpeg: bytes  # the reduced picture
    crops: Mapping[int, bytes]  # the cards not identified, as JPEG, by the index of the sighting


@dataclass(frozen=True, slots=True)
class Snap:
    """The photographs of one tableau."""

    edition: str
    deck: str  # the deck by whose faces its cards are identified; empty for stickers alone
    shots: tuple[Shot, ...]

    @property
    def photos(self) -> tuple[Photo, ...]:
        return tuple(shot.photo for shot in self.shots)


def read_photo(data: bytes, name: str, deck: str = "", folder: Path | None = None, file: str = "") -> Shot:
    """Read a picture file of cards with stickers or of a known deck, one at a time.

    `name` is the photograph's name from now on, `file` the one people know.

    Raises Problem for a file that is no picture or too large, and while another is being read.
    """
    with one_at_a_time(_reading, BUSY):
        return _reader.submit(_read, data, name, deck, folder, file).result()


def _read(data: bytes, name: str, deck: str, folder: Path | None, file: str) -> Shot:
    image = decode(data, file or name)
    mats = look(gray_of(image), Mats(), 0.0, all_mats())
    templates = faces_of(deck, folder)
    view = read(Frame(image, 0.0), mats, templates=templates, fans=True)
    if templates is not None:
        view = replace(view, sightings=with_unread(image, mats, view.sightings, templates))
    return Shot(
        Photo(name, (image.shape[1], image.shape[0]), view), jpeg_of(image, SHOWN_PX) or b"", dict(_crops(image, view))
    )


def deck_choices(folder: Path | None) -> tuple[tuple[str, str], ...]:
    """Return the decks by whose faces cards can be recognised, each with its title; `folder` is the data folder."""
    called = titles(folder)
    return tuple((deck.name, called[deck.name]) for deck in whole_decks(folder))


def _crops(image: Image, view: View) -> Iterator[tuple[int, bytes]]:
    doubtful = [(at, sighting) for at, sighting in enumerate(view.sightings) if sighting.face is Card.UNKNOWN]
    for at, sighting in doubtful[:MOST_CROPS]:
        box = around(sighting.corners_px or (sighting.centre_px,))
        share = _AROUND_STICKER if sighting.by == STICKER else _AROUND_CARD
        wide = box.padded(max(8, round(share * max(box.right - box.left, box.bottom - box.top))))
        part = wide.within(image.shape[1], image.shape[0])
        if part.area_px:
            yield at, jpeg_of(_outlined(part, image, sighting), CROP_PX) or b""


def _outlined(part: Box, image: Image, sighting: Sighting) -> Image:
    """Return a part of the picture in which a card is outlined: where a strip of it shows much else is around."""
    shown = part.of(image).copy()
    if sighting.corners_px is not None:
        corners = np.subtract(sighting.corners_px, (part.left, part.top)).round().astype(np.int32)
        cv2.polylines(shown, [corners], isClosed=True, color=_OUTLINE, thickness=max(1, max(shown.shape) // 80))
    return shown


class Snaps:
    """The latest photographs, in memory, each found by a token that cannot be guessed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, Snap] = {}

    def keep(self, edition: str, shot: Shot, deck: str = "") -> str:
        """Keep a photograph and return its token."""
        token = secrets.token_urlsafe(16)
        with self._lock:
            self._kept[token] = Snap(edition, deck, (shot,))
            while len(self._kept) > MOST_PHOTOS:
                del self._kept[next(iter(self._kept))]
        return token

    def get(self, token: str) -> Snap | None:
        """Return what was kept; None if newer ones have pushed it out."""
        with self._lock:
            return self._kept.get(token)

    def add(self, token: str, shot: Shot) -> None:
        """Add a photograph of the same tableau."""
        with self._lock:
            snap = self._kept.get(token)
            if snap is not None:
                self._kept[token] = replace(snap, shots=(*snap.shots, shot))

"""Read phone photographs, and keep the latest in memory, never on disk."""

from __future__ import annotations

import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from companion.tabletop.mat_layout import all_mats
from companion.tabletop.template_decks import titles, whole_decks
from companion.vision.boxes import Image
from companion.vision.capture.image_io import jpeg_of
from companion.vision.capture.sandbox import decode, one_at_a_time
from companion.vision.capture.sources import Frame
from companion.vision.counting.tally import Photo
from companion.vision.counting.unread_cards import with_unread
from companion.vision.faces.deck_in_use import faces_of
from companion.vision.faces.face_templates import Templates
from companion.vision.mats.localization import Mats, look
from companion.vision.mirrored import flipped, is_mirrored_photo
from companion.vision.read import gray_of, on_cards, read
from companion.vision.view import View

MOST_BYTES = 24_000_000  # maximum file size, above any phone's photograph
MOST_SENT_BYTES = 2 * MOST_BYTES  # maximum request size; typed values still arrive with too large a file
SHOWN_PX = 2000  # longer side of the page's picture
MOST_PHOTOS = 8  # maximum photographs of a tableau, and maximum tableaux
MOST_KEPT_BYTES = 4 * MOST_BYTES  # maximum total file size; the newest tableau is always kept
_reading = threading.Lock()
_reader = ThreadPoolExecutor(1, "photographs")  # every thread retains a large picture's memory


@dataclass(frozen=True, slots=True)
class Snap:
    """The photographs of one tableau."""

    edition: str
    deck: str  # deck to recognize faces; empty for stickers
    photos: tuple[Photo, ...]


def read_photo(data: bytes, name: str, deck: str = "", folder: Path | None = None, file: str = "") -> Photo:
    """Read a picture file of cards with stickers or of a known deck.

    `name` is for results, `file` for error messages. Raises Problem if it is no picture or too large, or while
    another is read.
    """
    with one_at_a_time(_reading):
        return _reader.submit(_read, data, name, deck, folder, file).result()


def _read(data: bytes, name: str, deck: str, folder: Path | None, file: str) -> Photo:
    image = decode(data, file or name)
    if is_mirrored_photo(image):
        image = flipped(image)
    view = view_of(image, faces_of(deck, folder))
    return Photo(name, (image.shape[1], image.shape[0]), view, jpeg_of(image, SHOWN_PX) or b"", data)


def view_of(image: Image, templates: Templates | None) -> View:
    """Return all cards on a picture `(H, W, 3) uint8 BGR` of a finished table, unreadable ones included."""
    mats = look(gray_of(image), Mats(), 0.0, all_mats())
    view = on_cards(read(Frame(image, 0.0), mats, templates=templates, fans=True), mats)
    return replace(view, sightings=with_unread(image, mats, view.sightings, templates))


def deck_choices(folder: Path | None) -> tuple[tuple[str, str], ...]:
    """Return name and title of decks with recognizable faces; `folder` is the data folder."""
    called = titles(folder)
    return tuple((deck.name, called[deck.name]) for deck in whole_decks(folder))


class Snaps:
    """The latest photographs in memory, by unguessable token."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, Snap] = {}

    def keep(self, snap: Snap, token: str = "") -> str:
        """Store photographs as the newest, replacing a given token's; return the token."""
        token = token or secrets.token_urlsafe(16)
        with self._lock:
            self._kept.pop(token, None)
            self._kept[token] = snap
            sizes = {kept: sum(len(photo.file) for photo in one.photos) for kept, one in self._kept.items()}
            while len(sizes) > MOST_PHOTOS or (len(sizes) > 1 and sum(sizes.values()) > MOST_KEPT_BYTES):
                oldest = next(iter(sizes))
                del self._kept[oldest], sizes[oldest]
        return token

    def get(self, token: str) -> Snap | None:
        """Return the photographs, None if displaced by newer ones."""
        with self._lock:
            return self._kept.get(token)

"""A phone's photograph: read, and reduced for the page.

Nothing is stored: the results stay in memory until newer ones push them out.
"""

from __future__ import annotations

import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from companion.tabletop.mat_layout import all_mats
from companion.tabletop.template_decks import titles, whole_decks
from companion.vision.capture.image_io import jpeg_of
from companion.vision.capture.sandbox import decode, one_at_a_time
from companion.vision.capture.sources import Frame
from companion.vision.counting.tally import Photo
from companion.vision.counting.unread_cards import with_unread
from companion.vision.faces.deck_in_use import faces_of
from companion.vision.mats.localization import Mats, look
from companion.vision.mirrored import flipped, is_mirrored
from companion.vision.read import gray_of, read

MOST_BYTES = 24_000_000  # maximum size of a file, in bytes: no telephone's photograph is larger
MOST_SENT_BYTES = 2 * MOST_BYTES  # of a request, above a file's: what was typed beside one too large is kept
SHOWN_PX = 2000  # longer side of the picture as the page shows it
MOST_PHOTOS = 8  # maximum number of photographs of a tableau, and of tableaux that are kept
MOST_KEPT_BYTES = 4 * MOST_BYTES  # of all files that are kept, beyond which only the newest tableau is
_reading = threading.Lock()
_reader = ThreadPoolExecutor(1, "photographs")  # one thread alone: each keeps the memory of a large picture


@dataclass(frozen=True, slots=True)
class Snap:
    """The photographs of one tableau."""

    edition: str
    deck: str  # the deck by whose faces its cards are identified; empty for stickers alone
    photos: tuple[Photo, ...]


def read_photo(data: bytes, name: str, deck: str = "", folder: Path | None = None, file: str = "") -> Photo:
    """Read a picture file of cards with stickers or of a known deck, one at a time.

    `name` is the photograph's name from now on, `file` the one people know.

    Raises Problem for a file that is no picture or too large, and while another is being read.
    """
    with one_at_a_time(_reading):
        return _reader.submit(_read, data, name, deck, folder, file).result()


def _read(data: bytes, name: str, deck: str, folder: Path | None, file: str) -> Photo:
    image = decode(data, file or name)
    if is_mirrored(image):
        image = flipped(image)
    mats = look(gray_of(image), Mats(), 0.0, all_mats())
    templates = faces_of(deck, folder)
    view = read(Frame(image, 0.0), mats, templates=templates, fans=True)
    if templates is not None:
        view = replace(view, sightings=with_unread(image, mats, view.sightings, templates))
    return Photo(name, (image.shape[1], image.shape[0]), view, jpeg_of(image, SHOWN_PX) or b"", data)


def deck_choices(folder: Path | None) -> tuple[tuple[str, str], ...]:
    """Return the decks by whose faces cards can be recognised, each with its title; `folder` is the data folder."""
    called = titles(folder)
    return tuple((deck.name, called[deck.name]) for deck in whole_decks(folder))


class Snaps:
    """The latest photographs, in memory, each found by a token that cannot be guessed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, Snap] = {}

    def keep(self, snap: Snap, token: str = "") -> str:
        """Keep photographs as the newest, in place of those of the token if one is given, and return their token."""
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
        """Return what was kept; None if newer ones have pushed it out."""
        with self._lock:
            return self._kept.get(token)

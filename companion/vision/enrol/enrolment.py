"""Deck enrollment: missing faces, checks of pictures, and import of a folder.

Two faces must not show one card, even turned, brightened or cropped differently. Some differ in a number alone, so the
most different spot decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np

from companion.common import clock
from companion.common.errors import Problem, cause
from companion.common.spelling import meant, shown
from companion.common.text import Said, all_of, say
from companion.rules.card_names import card_term
from companion.rules.cards import Card, card_of_slug
from companion.rules.editions.edition import load_edition
from companion.tabletop import template_decks
from companion.tabletop.template_decks import BACK, MOST_PICTURES, Description, Subject
from companion.vision.boxes import Image, Pixels, Size, lab, lengths, shrunk
from companion.vision.capture import sandbox
from companion.vision.capture.image_io import SUFFIXES, read_picture
from companion.vision.enrol.rectify import LARGE_PX, PictureFault, Rectified, rectified
from companion.vision.opencv import cv2

# Unsupported formats.
_OTHER_PICTURES = {".gif", ".tif", ".tiff", ".heic", ".heif", ".avif", ".jp2", ".svg", ".pdf", ".raw", ".dng"}
_COPY = re.compile(r"^(?P<stem>.*?)(?:[-_ ]+(?P<number>[2-9])|[-_ ]*\((?P<copy>[1-8])\))?$")
_LEAST_KEPT_PX = 32  # minimum side of saved pictures; `LARGE_PX`, the maximum, keeps PNGs below 8 MB
_SMALL_PX = (72, 112)  # width and height of compared pictures
_RIM = 0.04  # share cropped at each edge, where crops differ most
_ALIKE = 0.98  # minimum correlation of two pictures of one card
_SPOT_PX = _SMALL_PX[0] // 10
_SHIFT_PX = 2  # maximum shift of a spot
_SAME_SPOT = 4.0
"""Maximum Lab difference of one card's pictures, over a spot a tenth of its width. In ten decks, faces with shared
artwork differ by at least 5.2, one scan saved twice by 1 to 3."""


@dataclass(frozen=True, slots=True, eq=False)
class FaceVerdict:
    """The result of checking a face's picture."""

    found: Rectified = field(default_factory=lambda: Rectified(None))
    twin: str | None = None  # slug of another face with this card

    @property
    def picture(self) -> Image | None:
        """The card alone, if good."""
        return self.found.picture if self.twin is None and self.found.fault is None else None

    @property
    def fault(self) -> PictureFault | None:
        return self.found.fault

    @property
    def is_good(self) -> bool:
        return self.picture is not None

    @property
    def sentence(self) -> str:
        """The reason for a refusal, without a full stop, or empty."""
        if self.twin is not None:
            return say("it shows the same card as %(other)s: one of the two is another card's picture", other=self.twin)
        return self.found.sentence


@dataclass(frozen=True, slots=True)
class Enrolment:
    """A deck being enrolled, saved in its folder."""

    folder: Path
    description: Description
    cards: tuple[Card, ...]  # the faces of its edition
    _seen: dict[Path, Pixels] = field(default_factory=dict, compare=False, repr=False)

    @property
    def wanted(self) -> tuple[Subject, ...]:
        """The faces without pictures in the edition's order, then None if the back has none."""
        there = self._pictures()
        return tuple(subject for subject in (*self.cards, None) if subject not in there)

    def verdict(self, subject: Subject, image: Image) -> FaceVerdict:
        """Check a face's picture `(H, W, 3) uint8 BGR`, also against other faces, without saving."""
        found = rectified(image, self.description.size_mm)
        if found.fault is not None or found.picture is None:
            return FaceVerdict(found)
        return FaceVerdict(found, self.twin_of(subject, found.picture))

    def twin_of(self, subject: Subject, picture: Image) -> str | None:
        """Return the slug of another face with this card, or None."""
        this = small(picture)
        for other, paths in self._pictures().items():
            if other is not subject and any(is_same_card(this, self._small(path)) for path in paths):
                return subject_name(other)
        return None

    def keep(self, subject: Subject, pictures: list[Image]) -> None:
        """Save pictures as a face's only ones. Raises Problem if writing fails."""
        template_decks.write_description(self.folder, self.description)
        template_decks.put_pictures(self.folder, subject, [as_png(picture) for picture in pictures[:MOST_PICTURES]])
        self._seen.clear()

    def add(self, subject: Subject, picture: Image) -> None:
        """Save another picture of a face. Raises Problem at the maximum or if writing fails."""
        there = self.pictures(subject)
        if len(there) >= MOST_PICTURES:
            name = say("the back") if subject is None else card_term(subject, self.description.edition)
            raise Problem(
                "There are already %(most)d pictures of %(card)s, the most a deck can have.",
                most=MOST_PICTURES,
                card=name,
            )
        self.keep(subject, [*map(read_picture, there), picture])

    def pictures(self, subject: Subject) -> tuple[Path, ...]:
        """Return a face's picture files, the main one first."""
        return self._pictures().get(subject, ())

    def _pictures(self) -> Mapping[Subject, tuple[Path, ...]]:
        return template_decks.pictures_in(self.folder) if self.folder.is_dir() else {}

    def _small(self, path: Path) -> Pixels:
        if path not in self._seen:
            self._seen[path] = small(read_picture(path))
        return self._seen[path]


def begin(name: str, edition: str, data: Path, *, size_mm: Size | None = None, maker: str | None = None) -> Enrolment:
    """Return a deck's new or continued enrollment in the data folder; None means an existing deck's value.

    Raises Problem for an invalid name or edition, or if the deck exists with another edition or size.
    """
    folder = template_decks.own_folder(name, data)
    rules = load_edition(edition)
    old = template_decks.read_description(folder) if (folder / template_decks.FILE_NAME).is_file() else None
    if old and old.edition != rules.name:
        raise Problem(
            "The deck '%(name)s' already exists, for the edition %(edition)s: choose another name.",
            name=name,
            edition=old.edition,
        )
    if old and size_mm and old.size_mm != size_mm:
        was = " × ".join(f"{side:g}" for side in old.size_mm)
        raise Problem(
            "The cards of the deck '%(name)s' are %(size)s mm: remove the deck first, or choose another name.",
            name=name,
            size=was,
        )
    base = old or Description(name, rules.name)
    description = Description(name, rules.name, size_mm or base.size_mm, base.title or name,
                              base.maker if maker is None else maker, clock.today() or base.made)  # fmt: skip
    return Enrolment(folder, description, tuple(rules.deck))


def subject_name(subject: Subject) -> str:
    """Return a face's slug, or `back` for None."""
    return BACK if subject is None else subject.value


def as_png(picture: Image) -> bytes:
    """Encode a picture as PNG."""
    return cv2.imencode(".png", picture)[1].tobytes()


def recoded(content: bytes, name: str) -> bytes:
    """Re-encode another machine's picture as PNG, at most `LARGE_PX` long unless too narrow.

    Raises Problem for other content or impossible sizes.
    """
    image = sandbox.decode(content, name)
    height, width = image.shape[:2]
    short, long = sorted((height, width))
    if short < _LEAST_KEPT_PX or long > 4000:
        raise Problem(
            "The picture %(name)s has %(width)d × %(height)d pixels, which does not fit a card.",
            1,
            name=name,
            width=width,
            height=height,
        )
    return as_png(shrunk(image, max(LARGE_PX / long, _LEAST_KEPT_PX / short)))


def small(picture: Image) -> Pixels:
    """Return a card's picture `(H, W, 3) uint8 BGR` as `(112, 72, 3)` Lab for `is_same_card`."""
    height, width = picture.shape[:2]
    x, y = round(_RIM * width), round(_RIM * height)
    inner = cv2.resize(picture[y : height - y, x : width - x], _SMALL_PX, interpolation=cv2.INTER_AREA)
    return cv2.GaussianBlur(lab(inner), (0, 0), 0.8)


def is_same_card(one: Pixels, other: Pixels) -> bool:
    """True if two pictures from `small` show one card, even upside down."""
    ways = (other, np.ascontiguousarray(other[::-1, ::-1]))
    alike = (way for way in ways if cv2.matchTemplate(one, way, cv2.TM_CCOEFF_NORMED)[0, 0] >= _ALIKE)
    return any(_worst_spot(one, way) <= _SAME_SPOT for way in alike)


def _worst_spot(one: Pixels, other: Pixels) -> float:
    """Return the greatest Lab difference of any spot at its best shift."""
    # Equalize brightness, contrast and tint.
    a, b = one.reshape(-1, 3), other.reshape(-1, 3)
    shared = ((a - a.mean(axis=0)) * (b - b.mean(axis=0))).mean(axis=0)
    gain = np.clip(shared / (b.var(axis=0) + 4), 0.6, 1.6)
    level: Pixels = ((other - b.mean(axis=0)) * gain + a.mean(axis=0)).astype(np.float32)
    shade = cv2.GaussianBlur(one - level, (0, 0), 16)
    least = np.full(one.shape[:2], np.inf, np.float32)
    for dx in range(-_SHIFT_PX, _SHIFT_PX + 1):
        for dy in range(-_SHIFT_PX, _SHIFT_PX + 1):
            off = lengths(one - np.roll(level, (dy, dx), (0, 1)) - shade)
            least = np.minimum(least, cv2.boxFilter(off, -1, (_SPOT_PX, _SPOT_PX)))
    return float(least[4:-4, 4:-4].max())


# --- A folder of pictures -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """A message about an enrollment."""

    sentence: str
    is_fault: bool = False
    is_kept: bool = False  # a face was enrolled


def kept_whole(names: Iterable[str]) -> Iterator[Progress]:
    """Yield which cards or files were kept as scans, if any: table around a card would spoil its recognition."""
    if whole := ", ".join(names):
        sentence = say("Kept whole, as a scan: %(cards)s. If it shows more than the card, take it again.", cards=whole)
        yield Progress(sentence)


def noted(name: str, note: str) -> Progress:
    """Return a note, without a full stop, about a card or file."""
    return Progress(Said("%(name)s: %(note)s.", name=name, note=note))


def enrol_folder(enrolment: Enrolment, folder: Path) -> Iterator[Progress]:
    """Enroll faces from pictures named `roll.jpg`, `roll-2.jpg` or `back.jpg`, yielding results.

    Bad files are skipped. Raises Problem if the folder is unreadable or has no picture.
    """
    files: dict[tuple[Subject, int], list[Path]] = {}
    for path in _paths_in(folder):
        named = _named(path, enrolment)
        if isinstance(named, str):
            yield Progress(named, is_fault=True)
        else:
            files.setdefault(named, []).append(path)
    good: dict[Subject, list[tuple[Path, Image]]] = {}
    seen: dict[Path, Rectified] = {}
    for subject, number in sorted(files, key=lambda one: (one[0] is None, str(one[0]), one[1])):
        first, *others = files[subject, number]
        name = subject_name(subject)
        if others:
            both = say(
                "%(card)s: both %(files)s exist, and neither is used: keep one of them, or name the second picture"
                " %(card)s-2.",
                card=name,
                files=all_of(path.name for path in (first, *others)),
            )
            yield Progress(both, is_fault=True)
            continue
        found, wrong = Rectified(None), ""
        try:
            found = rectified(read_picture(first), enrolment.description.size_mm)
        except Problem as problem:
            wrong = str(problem).rstrip(".")
        if found.picture is None or found.fault is not None:
            why = found.sentence or wrong
            yield Progress(Said("%(card)s: %(why)s (%(file)s).", card=name, why=why, file=first.name), is_fault=True)
        else:
            good.setdefault(subject, []).append((first, found.picture))
            seen[first] = found
    yield from _kept(enrolment, good, seen)
    yield from lacking(enrolment)


def lacking(enrolment: Enrolment) -> Iterator[Progress]:
    """Yield which pictures are missing and the consequences; only faces are faults."""
    missing = [subject.value for subject in enrolment.wanted if subject is not None]
    if missing:
        lacks = say(
            "There is no picture yet of %(cards)s: %(then)s.",
            cards=", ".join(missing),
            then=template_decks.WITHOUT_FACES,
        )
        yield Progress(lacks, True)
    if None in enrolment.wanted:
        yield Progress(say("There is no picture yet of the back: %(then)s.", then=template_decks.WITHOUT_BACK))


def _paths_in(folder: Path) -> list[Path]:
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except FileNotFoundError as error:
        raise Problem("Folder %(folder)s not found: check the path.", folder=folder) from error
    except NotADirectoryError as error:
        raise Problem("%(folder)s is not a folder: name the folder with the pictures.", folder=folder) from error
    except OSError as error:
        raise Problem(
            "The folder %(folder)s cannot be read (%(error)s): check its permissions.",
            folder=folder,
            error=cause(error),
        ) from error
    pictures = [path for path in paths if path.suffix.lower() in SUFFIXES | _OTHER_PICTURES and not path.is_dir()]
    if not pictures:
        raise Problem(
            "%(folder)s has no pictures: put one of each card there, such as roll.jpg and 100.jpg.", folder=folder
        )
    return pictures


def _named(path: Path, enrolment: Enrolment) -> tuple[Subject, int] | str:
    """Return a file name's face and picture number, or what is wrong."""
    if path.suffix.lower() in _OTHER_PICTURES:
        return say("%(file)s: this kind of picture is not supported; save it as JPEG or PNG.", file=shown(path.name))
    match = _COPY.match(path.stem.strip())
    stem, number = path.stem, 1
    if match and _slug(path.stem) not in (BACK, *Card):
        stem, number = match["stem"], int(match["number"] or int(match["copy"] or 0) + 1)
    slug = _slug(stem)
    if slug == BACK:
        return None, number
    card = card_of_slug(slug)
    known = [*(card.value for card in enrolment.cards), BACK]
    if card is not None and card in enrolment.cards:
        return card, number
    if card is not None and card is not Card.UNKNOWN:
        edition = enrolment.description.edition
        return say(
            "%(file)s: the edition %(edition)s has no %(card)s; the picture is left out.",
            file=path.name,
            edition=edition,
            card=card_term(card, edition),
        )
    return say(
        "%(file)s: no card is called '%(name)s'%(near)s; the file is left out.",
        file=shown(path.name),
        name=shown(slug),
        near=meant(slug, known),
    )


def _slug(stem: str) -> str:
    """Return the slug for `Right of Way`, `right_of_way`, `100 km` or `km100`."""
    slug = re.sub(r"[\s_-]+", "-", stem.strip().lower()).strip("-")
    return re.sub(r"^(?:km-?(\d+)|(\d+)-?km)$", lambda m: m[1] or m[2], slug)


def _kept(
    enrolment: Enrolment, good: dict[Subject, list[tuple[Path, Image]]], found: Mapping[Path, Rectified]
) -> Iterator[Progress]:
    """Save faces that differ from all others, yielding results."""
    kept: list[Path] = []
    seen = [(subject, small(picture)) for subject, pictures in good.items() for _, picture in pictures]
    pairs = (pair for pair in combinations(seen, 2) if pair[0][0] is not pair[1][0])
    twins = {(one, other) for (one, a), (other, b) in pairs if is_same_card(a, b)}
    for one, other in sorted(twins, key=str):
        same = say(
            "%(cards)s: both pictures show the same card (%(files)s), and neither is used: check which one has the"
            " wrong name.",
            cards=all_of(map(subject_name, (one, other))),
            files=all_of(good[subject][0][0].name for subject in (one, other)),
        )
        yield Progress(same, is_fault=True)
    bad = {subject for pair in twins for subject in pair}
    for subject, pictures in good.items():
        if subject in bad:
            continue
        stays = (enrolment.twin_of(subject, picture) for _, picture in pictures)
        twin = next((name for name in stays if name and name not in map(subject_name, good)), None)
        if twin:
            same = say(
                "%(card)s: its picture shows the same card as the deck's %(other)s; it is left out.",
                card=subject_name(subject),
                other=twin,
            )
            yield Progress(same, is_fault=True)
            continue
        enrolment.keep(subject, [picture for _, picture in pictures])
        kept += [path for path, _ in pictures]
        names = ", ".join(path.name for path, _ in pictures)
        yield Progress(say("%(card)s: got it (from %(files)s)", card=subject_name(subject), files=names), is_kept=True)
    yield from kept_whole(path.name for path in kept if found[path].is_scan)
    yield from (noted(path.name, found[path].note) for path in kept if found[path].note)

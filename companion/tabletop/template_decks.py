"""Template decks: pictures of card faces, used to recognize cards without stickers.

A deck is a folder with `deck.toml` and pictures named `roll.png`, `roll-2.png`, `back.png`: shipped in
`card_templates/`, custom in `decks/` of the data folder.
"""

from __future__ import annotations

import datetime
import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType

from companion.common import toml_text
from companion.common.errors import Problem, file_problem
from companion.common.resources import shipped
from companion.common.small_file import read_small, text_of
from companion.common.spelling import meant, shown
from companion.common.terminal import typed
from companion.common.text import Said, plain, say
from companion.common.toml_text import TomlError
from companion.rules.cards import Card, card_of_slug
from companion.rules.editions.edition import EditionError, load_edition
from companion.storage.data_folder import write_whole
from companion.tabletop.mat_layout import CARD_MM

DECKS_NAME = "decks"  # of the data folder, with custom decks
FILE_NAME = "deck.toml"
BACK = "back"
WITHOUT_BACK = say("the app may ask about face-down cards")
WITHOUT_FACES = say("these cards are not recognized, and you are asked about similar ones")
WAITING = "waiting"  # subfolder for cards not yet named, by place: `7.png`
MOST_PICTURES = 9  # per face
SMALLEST_MM, LARGEST_MM = 30.0, 150.0  # range of a card's sides
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_PICTURE = re.compile(r"(?P<subject>[a-z0-9-]+?)(?:-(?P<number>[2-9]))?\.(?:png|jpg|jpeg)")
_KEYS = {"name": str, "title": str, "edition": str, "maker": str, "drawn_by": str, "back": str, "size_mm": list,
         "made": datetime.date}  # fmt: skip
_KIND_WORDS = {
    str: say("a text in quotes"),
    list: say("two lengths such as [57, 88]"),
    datetime.date: say("a date such as 2026-11-22"),
}
_LONGEST_TEXT = 200

Subject = Card | None  # a face, or None for the back


@dataclass(frozen=True, slots=True)
class Description:
    """Content of `deck.toml`."""

    name: str
    edition: str
    size_mm: tuple[float, float] = CARD_MM  # width and height of a card
    title: str = ""
    maker: str = ""
    made: str | None = None  # day of enrollment, `2026-11-22`


@dataclass(frozen=True, slots=True, kw_only=True)
class Deck(Description):
    """A template deck on disk."""

    folder: Path
    faces: Mapping[Card, tuple[Path, ...]]  # pictures by face, the main one first
    back: tuple[Path, ...] = ()
    missing: tuple[Card, ...] = ()  # faces of its edition without a picture

    @property
    def lacks(self) -> str | None:
        """Sentence on the effect of missing faces, or None."""
        if not self.missing:
            return None
        return say(
            "The deck '%(name)s' has no picture of %(cards)s: %(then)s.",
            name=self.name,
            cards=", ".join(self.missing),
            then=WITHOUT_FACES,
        )


# --- Finding --------------------------------------------------------------------------------------------------


def deck_names(data: Path | None) -> tuple[str, ...]:
    """Return the names of shipped, then of custom decks."""
    ours = _names_in(shipped("card_templates"))
    return (*ours, *(name for name in own_names(data) if name not in ours))


def own_names(data: Path | None) -> tuple[str, ...]:
    """Return the names of custom decks."""
    return _names_in(data / DECKS_NAME) if data else ()


def _names_in(folder: Path) -> tuple[str, ...]:
    with file_problem(
        "The decks in %(folder)s cannot be listed (%(error)s): check the folder's permissions.", folder=folder
    ):
        return tuple(sorted(path.parent.name for path in folder.glob(f"*/{FILE_NAME}") if is_name(path.parent.name)))


def is_name(name: str) -> bool:
    """True for 1 to 40 ASCII letters, digits, `-` and `_`, beginning with a letter or digit."""
    return bool(_NAME.fullmatch(name))


def checked_name(name: str) -> str:
    """Return `name`. Raise Problem if it is invalid or a shipped deck's."""
    if not is_name(name):
        raise Problem(
            "'%(name)s' cannot be the name of a deck: use at most 40 letters without accents, digits, - and _, "
            "starting with a letter or digit, such as our-old-deck.",
            name=shown(name),
        )
    if name.lower() in {other.lower() for other in _names_in(shipped("card_templates"))}:
        raise Problem("The deck '%(name)s' is built in and cannot be changed: choose another name.", name=name)
    return name


def own_folder(name: str, data: Path) -> Path:
    """Return a custom deck's folder, existing or not. Raise Problem like `checked_name`."""
    return data / DECKS_NAME / checked_name(name)


def titles(data: Path | None) -> dict[str, str]:
    """Return titles by deck name; equal titles are followed by the name."""
    called = {name: _title(folder_of(name, data), name) for name in deck_names(data)}
    many = Counter(title.casefold() for title in called.values())
    return {
        name: say("%(title)s (%(name)s)", title=title, name=name) if many[title.casefold()] > 1 else title
        for name, title in called.items()
    }


def _title(folder: Path, name: str) -> str:
    try:
        title = read_description(folder).title or name
    except Problem:
        return name
    return Said(title) if folder.parent == shipped("card_templates") else title


def is_begun(name: str, data: Path) -> bool:
    """True if a deck is valid, but has no face yet."""
    try:
        folder = folder_of(name, data)
        cards_of(read_description(folder).edition, folder)
        return not pictures_in(folder).keys() - {None}
    except (Problem, OSError):
        return False


# --- Reading --------------------------------------------------------------------------------------------------


def load_deck(name: str, data: Path | None = None) -> Deck:
    """Return a shipped or custom deck. Raise Problem if it is missing, faulty or without faces."""
    known = deck_names(data)
    if name not in known:
        raise Problem(
            "There is no deck '%(name)s'%(near)s: the decks are %(known)s. Add one of your cards with `%(command)s`.",
            name=shown(name),
            near=meant(name, known),
            known=", ".join(known),
            command=typed("enroll"),
        )
    return read_deck(folder_of(name, data))


def folder_of(name: str, data: Path | None) -> Path:
    """Return a deck's folder: the shipped one, else the one in `data`, which may not exist."""
    ours = shipped("card_templates") / name
    return ours if (ours / FILE_NAME).is_file() or data is None else data / DECKS_NAME / name


def whole_decks(data: Path | None) -> Iterator[Deck]:
    """Yield the usable decks, shipped ones first."""
    for name in deck_names(data):
        with suppress(Problem):
            yield load_deck(name, data)


def read_deck(folder: Path) -> Deck:
    """Return the deck in a folder. Raise Problem if faulty."""
    description = read_description(folder)
    cards = cards_of(description.edition, folder)
    pictures = pictures_in(folder)
    faces = {card: pictures[card] for card in cards if card in pictures}
    if not faces:
        raise Problem(
            "The deck in %(folder)s has no pictures yet: add its cards with `%(command)s`.",
            folder=folder,
            command=typed("enroll"),
        )
    return Deck(
        **asdict(replace(description, title=description.title or folder.name)),
        folder=folder,
        faces=MappingProxyType(faces),
        back=pictures.get(None, ()),
        missing=tuple(card for card in cards if card not in faces),
    )


def read_description(folder: Path) -> Description:
    """Return a folder's `deck.toml`. Raise Problem naming the first fault."""
    path = folder / FILE_NAME
    with file_problem("The deck's file %(path)s cannot be read (%(error)s): check the file's permissions.", path=path):
        raw = read_small(path)
    try:
        data = tables_of(raw)
    except ValueError as error:
        raise Problem(
            "The deck's file %(path)s is damaged (%(error)s): add the deck again.", path=path, error=str(error)
        ) from error
    try:
        description = description_of(data, folder.name)
    except ValueError as error:
        raise Problem("The deck's file %(path)s is wrong: %(error)s", path=path, error=str(error)) from error
    back = str(data.get("back") or "")
    if back and not any(path.name == back and path.is_file() for path in folder.iterdir()):
        raise Problem(
            "The picture '%(name)s', named in %(file)s, is missing from the deck in %(folder)s.",
            folder=folder,
            name=shown(back),
            file=FILE_NAME,
        )
    return description


def tables_of(raw: bytes) -> dict[str, object]:
    """Parse a `deck.toml`. Raise ValueError with a sentence."""
    try:
        return toml_text.load(text_of(raw))
    except UnicodeDecodeError as error:
        raise ValueError(say("it is not UTF-8 text")) from error
    except TomlError as error:
        raise ValueError(f"line {error.line}: {error}" if error.line else str(error)) from error


def description_of(data: Mapping[str, object], name: str) -> Description:
    """Check the tables of a `deck.toml`. Raise ValueError with a sentence."""
    unknown = next((key for key in data if key not in _KEYS), None)
    if unknown is not None:
        strange = say(
            "unknown key '%(key)s'%(near)s; the keys are %(known)s.",
            key=shown(unknown),
            near=meant(unknown, _KEYS),
            known=", ".join(_KEYS),
        )
        raise ValueError(strange)
    for key, value in data.items():
        if not isinstance(value, _KEYS[key]):
            raise ValueError(say("'%(key)s' must be %(kind)s.", key=key, kind=_KIND_WORDS[_KEYS[key]]))
    if "edition" not in data:
        raise ValueError(say('the edition is missing: write, for example, edition = "classic".'))
    made = data.get("made")
    return Description(
        name,
        plain(data["edition"], _LONGEST_TEXT),
        checked_size(data.get("size_mm", list(CARD_MM))),
        plain(data.get("title", ""), _LONGEST_TEXT),
        plain(data.get("maker", ""), _LONGEST_TEXT),
        str(made)[:10] if made else None,
    )


def checked_size(value: object) -> tuple[float, float]:
    """Return a card's width and height in millimeters. Raise ValueError with a sentence."""
    sizes = value if isinstance(value, list | tuple) else ()
    numbers = [float(n) for n in sizes if isinstance(n, int | float) and abs(n) <= LARGEST_MM]
    if len(numbers) != 2 or not all(SMALLEST_MM <= n <= LARGEST_MM for n in numbers) or numbers[0] >= numbers[1]:
        wrong = say(
            "give a card's width and height in millimeters, the shorter first, each from %(least)d to %(most)d, "
            "such as 57 and 88.",
            least=SMALLEST_MM,
            most=LARGEST_MM,
        )
        raise ValueError(wrong)
    return numbers[0], numbers[1]


def cards_of(edition: str, folder: Path) -> tuple[Card, ...]:
    """Return an edition's faces. Raise Problem if unknown."""
    try:
        return tuple(load_edition(edition).deck)
    except EditionError as error:
        raise Problem("The deck in %(folder)s cannot be used: %(error)s", folder=folder, error=str(error)) from error


def pictures_in(folder: Path) -> dict[Subject, tuple[Path, ...]]:
    """Return a deck's pictures by face, the main one first."""
    found: dict[Subject, list[tuple[int, Path]]] = {}
    for path in sorted(folder.iterdir()):
        named = picture_named(path.name)
        if named and path.is_file():
            found.setdefault(named[0], []).append((named[1], path))
    return {subject: tuple(path for _, path in sorted(paths)) for subject, paths in found.items()}


def picture_named(name: str) -> tuple[Subject, int] | None:
    """Return a picture's subject and number, from 1; None for other files."""
    match = _PICTURE.fullmatch(name)
    if not match:
        return None
    card = card_of_slug(match["subject"])
    if match["subject"] != BACK and (card is None or card is Card.UNKNOWN):
        return None
    return card, int(match["number"] or 1)


# --- Writing --------------------------------------------------------------------------------------------------


def write_description(folder: Path, description: Description) -> None:
    """Write a `deck.toml`, in a new folder if needed. Raise Problem."""
    lines = [f"name = {_quoted(description.name)}", f"title = {_quoted(description.title or description.name)}",
             f"edition = {_quoted(description.edition)}", f"maker = {_quoted(description.maker)}",
             f"size_mm = [{description.size_mm[0]}, {description.size_mm[1]}]"]  # fmt: skip
    lines += [f"made = {description.made}"] if description.made else []
    with _keeping(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / FILE_NAME, "\n".join([*lines, ""]).encode())


def _quoted(text: str) -> str:
    """Return a printable TOML string of limited length."""
    shown = "".join(char if char.isprintable() else " " for char in text[:_LONGEST_TEXT])
    return json.dumps(shown, ensure_ascii=False)


def stems_of(subject: Subject) -> tuple[str, ...]:
    """Return possible picture names without suffix, the main one first."""
    slug = BACK if subject is None else subject.value
    return slug, *(f"{slug}-{number}" for number in range(2, MOST_PICTURES + 1))


def put_pictures(folder: Path, subject: Subject, pngs: Sequence[bytes]) -> None:
    """Replace a subject's pictures; the first is the main one.

    New ones are written before old ones are removed. Raise Problem.
    """
    names = [f"{stem}.png" for stem in stems_of(subject)[: len(pngs)]]
    with _keeping(folder):
        for name, png in zip(names, pngs, strict=True):
            write_whole(folder / name, png)
        for path in pictures_in(folder).get(subject, ()):
            if path.name not in names:
                path.unlink(missing_ok=True)


def put_deck(folder: Path, description: Description, pngs: Iterable[tuple[str, bytes]]) -> Deck:
    """Write a deck with PNG files by name, check it, move it to `folder`, and return it."""
    with _keeping(folder.parent):
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=".", dir=folder.parent))
        try:
            write_description(new, description)
            for name, png in pngs:
                write_whole(new / name, png)
            read_deck(new)
            new.replace(folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return read_deck(folder)


def waiting_in(folder: Path) -> dict[int, Path]:
    """Return pictures of cards not yet named, by place from 0."""
    return {place: path for place, path in sorted(_waiting(folder)) if path.stat().st_size}


def places_in(folder: Path) -> int:
    """Return the number of places of cards not yet named, emptied ones included."""
    return max((place + 1 for place, _ in _waiting(folder)), default=0)


def _waiting(folder: Path) -> Iterator[tuple[int, Path]]:
    paths = (folder / WAITING).glob("*.png") if (folder / WAITING).is_dir() else ()
    return ((int(path.stem) - 1, path) for path in paths if path.stem.isdecimal())


def put_waiting(folder: Path, place: int, png: bytes) -> None:
    """Save the picture of a card not yet named; an empty one reserves its place. Raise Problem."""
    with _keeping(folder):
        (folder / WAITING).mkdir(exist_ok=True)
        write_whole(folder / WAITING / f"{place + 1}.png", png)


def drop_waiting(folder: Path) -> None:
    """Remove all cards not yet named."""
    shutil.rmtree(folder / WAITING, ignore_errors=True)


def remove_deck(name: str, data: Path) -> Path:
    """Remove a custom deck and return its former folder. Raise Problem."""
    folder = own_folder(name, data)
    if not (folder / FILE_NAME).is_file():
        raise Problem(
            "There is no deck '%(name)s' in %(folder)s%(near)s.",
            name=name,
            folder=folder.parent,
            near=meant(name, own_names(data)),
        )
    with file_problem("%(path)s cannot be removed (%(error)s): check the folder's permissions.", path=folder):
        (folder / FILE_NAME).unlink()
        shutil.rmtree(folder)
    return folder


def _keeping(folder: Path) -> AbstractContextManager[None]:
    return file_problem(
        "The deck cannot be saved in %(folder)s (%(error)s): free some disk space, or check the folder's permissions.",
        folder=folder,
    )

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

from companion.common.errors import Problem, file_problem
from companion.common.terminal import typed
from companion.common.text import Said, say
from companion.common.zip_reader import Recoded, ZipReader
from companion.tabletop import template_decks
from companion.tabletop.template_decks import FILE_NAME, Deck, own_folder, picture_named, stems_of

_MOST_FILE_BYTES, _MOST_PICTURE_BYTES, _MOST_FILES = 128_000_000, 16_000_000, 400


def export_deck(deck: Deck, out: Path) -> Path:
    """Write a deck to the zip file `out`, or to `<name>.zip` in the folder `out`; return its path.

    Picture names differ even without suffix: imports make all of them PNG. Raise Problem.
    """
    path = out / f"{deck.name}.zip" if out.is_dir() else out
    new = path.with_name(f"{path.name}.new")
    named = [*deck.faces.items(), (None, deck.back)]
    pictures = [
        (picture, stem + picture.suffix)
        for face, kept in named
        for picture, stem in zip(kept, stems_of(face), strict=False)
    ]
    with file_problem("The deck cannot be written to %(path)s (%(error)s): choose another place.", path=path):
        for picture, _ in pictures:
            if picture.stat().st_size > _MOST_PICTURE_BYTES:
                raise Problem(
                    "The picture %(name)s is larger than %(mb)d MB; save it smaller.",
                    name=picture,
                    mb=_MOST_PICTURE_BYTES // 1_000_000,
                )
        # Zip dates begin in 1980; an unset clock says 1970.
        with zipfile.ZipFile(new, "w", zipfile.ZIP_STORED, strict_timestamps=False) as packed:
            packed.write(deck.folder / FILE_NAME, FILE_NAME)
            for picture, name in pictures:
                packed.write(picture, name)
        new.replace(path)
    return path


def import_deck(
    file: Path,
    data: Path,
    recoded: Recoded,
    name: str | None = None,
    *,
    title: str | None = None,
    sent: bytes | None = None,
) -> Deck:
    """Import an exported deck into the data folder, completely or not at all; return it.

    `name` and `title` replace the deck's own; `sent` is an uploaded file's content. Names and sizes are checked,
    pictures encoded again. Raise Problem.
    """
    content = _ZIP.unpacked(file, sent)
    if FILE_NAME not in content:
        raise _bad_file(file, say("it has no %(file)s", file=FILE_NAME))
    try:
        described = template_decks.tables_of(content.pop(FILE_NAME))
        inner = template_decks.description_of(described, "")
    except ValueError as error:
        raise _bad_file(
            file, say("its %(file)s is damaged: %(error)s", file=FILE_NAME, error=_unended(error))
        ) from error
    called = name or str(described.get("name") or file.stem)
    folder = own_folder(called, data)
    if folder.exists():
        raise Problem(
            "A deck '%(name)s' already exists: give this one another name, on the page under “Another name” or "
            "in the terminal with --as NAME.",
            name=called,
        )
    description = replace(inner, name=called, title=title or inner.title)
    template_decks.cards_of(description.edition, file)
    return template_decks.put_deck(folder, description, _ZIP.anew(file, content.items(), recoded))


def _bad_file(file: Path, what: Said) -> Problem:
    return Problem(
        "%(path)s is not a usable deck (%(what)s): export it again with `%(command)s`.",
        1,
        path=file,
        what=what,
        command=typed("decks export"),
    )


def _strange(name: str) -> Said:
    return say("'%(name)s' in it is neither %(file)s nor a card's picture", name=name, file=FILE_NAME)


def _unended(error: Exception) -> str:
    said = str(error)
    return Said(said.pattern.rstrip("."), **said.values) if isinstance(said, Said) else said.rstrip(".")


_ZIP = ZipReader(
    is_known=lambda name: name == FILE_NAME or picture_named(name) is not None,
    strange=_strange,
    bad=_bad_file,
    most_files=_MOST_FILES,
    most_bytes=_MOST_FILE_BYTES,
    most_of=lambda _: _MOST_PICTURE_BYTES,
)

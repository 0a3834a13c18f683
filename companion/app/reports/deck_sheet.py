"""A contact sheet of a template deck, to check that each picture is well cut and correctly named."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from companion.common.errors import Problem, cause
from companion.printing import render, svg
from companion.rules.card_names import card_name
from companion.tabletop.template_decks import BACK, Deck
from companion.vision.boxes import Image
from companion.vision.capture.image_io import read_picture
from companion.vision.opencv import cv2

_COLUMNS, _GAP_MM, _LETTERS_MM, _PX_PER_MM = 6, 6.0, 5.0, 3.0


def write_sheet(deck: Deck, out: Path) -> Path:
    """Write the sheet as PNG or JPEG, by the file's suffix. Raises Problem."""
    suffix = out.suffix.lower()
    if suffix not in (".png", ".jpg", ".jpeg"):
        raise Problem(
            "The sheet is a picture: name the file %(file)s, not '%(name)s'.",
            file=f"{out.stem or deck.name}.png",
            name=out.name,
        )
    try:
        out.write_bytes(cv2.imencode(suffix, contact_sheet(deck))[1].tobytes())
    except OSError as error:
        raise Problem(
            "The sheet cannot be written to %(path)s (%(error)s): choose another place.",
            path=out,
            error=cause(error),
        ) from error
    return out


def contact_sheet(deck: Deck) -> Image:
    """Return all pictures of a deck in one image, `(H, W, 3) uint8 BGR`: faces in the edition's order, the back last.

    Raises Problem if a picture cannot be read.
    """
    called = {face: card_name(face, edition=deck.edition) for face in deck.faces}
    shown: list[tuple[str, Path]] = [(called[face], path) for face, paths in deck.faces.items() for path in paths]
    shown += [(BACK, path) for path in deck.back]
    width, height = deck.size_mm
    cell = (width + _GAP_MM, height + _LETTERS_MM + 2 * _GAP_MM)
    places = [(_GAP_MM + i % _COLUMNS * cell[0], _GAP_MM + i // _COLUMNS * cell[1]) for i in range(len(shown))]
    frames = [svg.rect(x - 0.5, y - 0.5, width + 1, height + 1, svg.paint("#777777")) for x, y in places]
    words = [
        svg.text(name, x + width / 2, y + height + _GAP_MM, _LETTERS_MM, anchor=0.5)
        for (name, _), (x, y) in zip(shown, places, strict=True)
    ]
    rows = -(-len(shown) // _COLUMNS)
    sheet = render.to_image(
        svg.document(_COLUMNS * cell[0] + _GAP_MM, rows * cell[1] + _GAP_MM, frames + words), _PX_PER_MM
    )
    for (_, path), place in zip(shown, places, strict=True):
        left, top = (round(mm * _PX_PER_MM) for mm in place)
        picture = cv2.resize(read_picture(path), tuple(round(mm * _PX_PER_MM) for mm in deck.size_mm),
                             interpolation=cv2.INTER_AREA)  # fmt: skip
        sheet[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return np.ascontiguousarray(sheet)

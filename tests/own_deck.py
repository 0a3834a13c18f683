"""Render the shipped template deck from our own drawing: `PYTHONPATH=. python tests/own_deck.py FOLDER`.

Run it with `card_templates/own` after changing the drawing. A test compares the folder with the drawing.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from companion.printing import deck, render
from companion.rules.editions.edition import load_edition
from companion.tabletop.mat_layout import CARD_MM

WIDTH_PX = 400
EDITION = "classic"
BACK = "back"


def pictures() -> Iterator[tuple[str, bytes]]:
    """Yield name and PNG of every face of `EDITION` and the back, `WIDTH_PX` wide."""
    dpi = WIDTH_PX / CARD_MM[0] * render.MM_PER_INCH
    faces = [(card.value, deck.face_svg(card)) for card in load_edition(EDITION).deck]
    for name, svg in [*faces, (BACK, deck.back_svg())]:
        yield name, render.to_png(svg, dpi)


def description() -> str:
    """Return the deck's `deck.toml`."""
    width, height = CARD_MM
    return f"""# Made by `PYTHONPATH=. python tests/own_deck.py`: change the drawing, not these files.
name = "own"
title = "Printable deck"
edition = "{EDITION}"
maker = "Mille Bornes Companion"
drawn_by = "the project; nothing of any publisher's art is used"
size_mm = [{width}, {height}]
back = "{BACK}.png"
"""


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tests/own_deck.py FOLDER")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, png in pictures():
        (folder / f"{name}.png").write_bytes(png)
    (folder / "deck.toml").write_text(description(), encoding="utf-8")

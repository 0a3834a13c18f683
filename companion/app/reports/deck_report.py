"""Template decks as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from companion.common.errors import Problem
from companion.common.terminal import typed
from companion.tabletop.template_decks import WITHOUT_BACK, WITHOUT_FACES, Deck, is_begun, load_deck

NO_FACE = "no face yet: go on with `{}`, or on the page Cards"


def listing(names: Sequence[str], data: Path) -> Iterator[str]:
    """Yield a line for each deck; one that cannot be used shows the reason."""
    for name in names:
        try:
            deck = load_deck(name, data)
            lacks = f", {len(deck.missing)} missing" if deck.missing else ""
            yield f"{deck.name:16}{deck.edition:14}{len(deck.faces)} faces{lacks}  {deck.title}"
        except Problem as problem:
            yield f"{name:16}{NO_FACE.format(typed('enroll ' + name)) if is_begun(name, data) else problem}"


def sheet(deck: Deck) -> Iterator[str]:
    """Yield the description of a deck."""
    width, height = deck.size_mm
    yield f"{deck.name}: {deck.title}"
    yield f"Edition: {deck.edition}. Cards: {width:g} × {height:g} mm."
    if deck.maker:
        yield f"Maker: {deck.maker}."
    if deck.made:
        yield f"Enrolled: {deck.made}."
    counts = {face: f" ({len(paths)} pictures)" if len(paths) > 1 else "" for face, paths in deck.faces.items()}
    yield f"Faces: {', '.join(f'{face}{count}' for face, count in counts.items())}."
    if deck.missing:
        yield f"Missing: {', '.join(deck.missing)}: {WITHOUT_FACES}."
    yield f"Back: {'there' if deck.back else f'no picture of it; {WITHOUT_BACK}'}."
    yield f"Folder: {deck.folder}"

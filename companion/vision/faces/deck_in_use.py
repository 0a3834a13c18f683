"""Which template deck the table plays with, kept in the data folder; none where its cards have stickers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

from companion.common.errors import Problem, cause
from companion.common.small_file import read_json
from companion.common.text import say
from companion.storage.data_folder import DECK_IN_USE_NAME, data_dir, write_whole
from companion.tabletop.template_decks import deck_names, load_deck
from companion.vision.faces.face_templates import Templates, load_templates

LOOK_AGAIN_S = 1.0  # seconds between checks for another choice, or more pictures of the deck


def faces_of(
    deck: str | None, data: Path | None, *, tell: Callable[[str], None] = lambda _sentence: None
) -> Templates | None:
    """Return the templates of a deck by its name, None for none; `data` as `--data` gives it.

    `tell` takes a sentence about the faces that the deck lacks. Raises Problem for an unknown or unreadable deck.
    """
    if not deck:
        return None
    found = load_deck(deck, data_dir(data))
    if found.lacks:
        tell(found.lacks)
    return load_templates(found)


def chosen_deck(data: Path) -> str | None:
    """Return the deck chosen in a data folder; None if there is none, or it is gone."""
    try:
        kept = read_json(data / DECK_IN_USE_NAME)
        name = kept.get("deck") if isinstance(kept, dict) else None
        return name if isinstance(name, str) and name in deck_names(data) else None
    except (OSError, ValueError, Problem):
        # As without a file: the table plays on with stickers, and the page shows that nothing is chosen.
        return None


def choose_deck(data: Path, name: str | None) -> None:
    """Keep a choice, None for stickers alone.

    Raises Problem if there is no such deck, it has no face yet, or the choice cannot be kept.
    """
    if name is not None:
        load_deck(name, data)
    try:
        write_whole(data / DECK_IN_USE_NAME, json.dumps({"deck": name}))
    except OSError as error:
        full = say(
            "Your choice of deck cannot be saved in %(folder)s (%(error)s): free some disk space.",
            folder=data,
            error=cause(error),
        )
        raise Problem(full) from error


class DeckInUse:
    """The templates of the chosen deck, the same object until another is chosen or its pictures change.

    For any thread. A deck that cannot be read counts as none, and `problem` says why.
    """

    def __init__(self, data: Path) -> None:
        self._data = data
        self._lock = threading.Lock()
        self._looked_s = -LOOK_AGAIN_S
        self._templates: Templates | None = None
        self.problem: str | None = None

    def templates(self) -> Templates | None:
        """Return the faces by which cards are identified now; None for stickers alone."""
        with self._lock:
            now_s = time.monotonic()
            if now_s - self._looked_s >= LOOK_AGAIN_S:
                self._looked_s, self._templates, self.problem = now_s, None, None
                name = chosen_deck(self._data)
                try:
                    self._templates = load_templates(load_deck(name, self._data)) if name else None
                except (Problem, OSError) as problem:
                    self.problem = str(problem)
            return self._templates

"""The data folder: matches, decks, settings and backups live there and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from companion.common.errors import Problem
from companion.storage.files import make_folder

STORE_NAME = "companion.sqlite3"
KEY_NAME = "secret-key"
EDITIONS_NAME = "editions"
DEMO_NAME = "demo"
DECK_IN_USE_NAME, TURN_NAME = "deck-in-use.json", "picture-turn.json"  # the deck that was chosen; how pictures turn


def data_dir(option: str | os.PathLike[str] | None = None) -> Path:
    """Return the data folder, made if it is missing: the option, else `COMPANION_DATA`, else the user's data folder.

    One that is there can be used although nothing can be written to it now: the writer says so. Raises Problem
    when it cannot be made or looked into.
    """
    folder = editions_path(option).parent
    try:
        make_folder(folder)
        next(folder.iterdir(), None)
        return folder
    except OSError as error:
        say = f"The data folder {folder} cannot be written to ({error.strerror}): choose another with --data."
        raise Problem(say) from error


def editions_path(option: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder for one's own editions in the data folder; neither need exist."""
    chosen = option or os.environ.get("COMPANION_DATA") or platformdirs.user_data_dir("mille-bornes-companion")
    return Path(chosen).expanduser() / EDITIONS_NAME


def store_path(folder: Path) -> Path:
    """Return the path of the file with all matches."""
    return folder / STORE_NAME

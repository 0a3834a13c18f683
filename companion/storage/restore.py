"""What was restored takes the place of what was there, whole or not at all, also when the plug is pulled in between.

Everything is laid ready in one folder first. From the moment that folder bears its name the restoring goes on until it
is done, by the next to come: `finish` tells from what lies where what is left to do.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path

from companion.common.small_file import read_json
from companion.storage.data_folder import sync_folder

READY = "restoring"
NEW = "restoring.new"
BEFORE = "before"
KEPT = "before-restore"  # what was there before lies in `before-restore-1`, and so on
CONTENTS = "contents.json"


def finish(folder: Path) -> Path | None:
    """Put what lies ready in its place and what was there aside; return where that is, None where nothing was there.

    May be stopped at any moment and called again. Raises OSError where the disk refuses, and ValueError, KeyError or
    TypeError where what lies ready is not what a restore has laid there: then nothing is moved.
    """
    ready = folder / READY
    if not (ready / CONTENTS).is_file():
        return None
    before = ready / BEFORE
    if any(one.is_symlink() for one in (ready, ready / CONTENTS, before)):
        raise ValueError(f"a link in {ready}")
    contents = read_json(ready / CONTENTS)
    names = [_name_in(folder, name) for name in contents["replaced"]]
    before.mkdir(exist_ok=True)
    for name in names:
        _replace(folder, name, brought=name in contents["brought"])
    sync_folder(folder)
    sync_folder(before)
    kept: Path | None = None
    if any(before.iterdir()):
        kept = next(one for number in count(1) if not (one := folder / f"{KEPT}-{number}").exists())
        before.rename(kept)
    else:
        before.rmdir()
    (ready / CONTENTS).unlink()
    ready.rmdir()
    sync_folder(folder)
    return kept


def _name_in(folder: Path, name: object) -> str:
    """Return the name of something in the folder itself. Raises ValueError for any other path."""
    if not isinstance(name, str) or (folder / name).parent != folder or name in ("", ".", "..", READY):
        raise ValueError(f"{name!r} is not a name in {folder}")
    return name


def _replace(folder: Path, name: str, *, brought: bool) -> None:
    """Put aside what is there, unless it is the new one already; then move the new one in."""
    there, new, aside = folder / name, folder / READY / name, folder / READY / BEFORE / name
    if brought and not new.exists():
        return
    if there.exists():
        there.rename(aside)
    if brought:
        new.rename(there)

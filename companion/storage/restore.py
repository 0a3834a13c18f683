"""What was restored takes the place of what was there, whole or not at all, also when the plug is pulled in between.

Everything is laid ready in one folder first. From the moment that folder bears its name the restoring goes on until it
is done, by the next to come: `finish` tells from what lies where what is left to do.
"""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

from companion.storage.data_folder import give_to_owner_of, sync_folder

READY = "restoring"
NEW = "restoring.new"
BEFORE = "before"
KEPT = "before-restore"  # what was there before lies in `before-restore-1`, and so on
CONTENTS = "contents.json"


def finish(folder: Path) -> Path | None:
    """Put what lies ready in its place and what was there aside; return where that is, None where nothing was there.

    May be stopped at any moment and called again. Raises OSError where the disk refuses.
    """
    ready = folder / READY
    if not (ready / CONTENTS).is_file():
        return None
    contents = json.loads((ready / CONTENTS).read_text(encoding="utf-8"))
    before = ready / BEFORE
    before.mkdir(exist_ok=True)
    give_to_owner_of(folder, before)
    for name in contents["replaced"]:
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


def _replace(folder: Path, name: str, *, brought: bool) -> None:
    """Put aside what is there, unless it is the new one already; then move the new one in."""
    there, new, aside = folder / name, folder / READY / name, folder / READY / BEFORE / name
    if brought and not new.exists():
        return
    if there.exists():
        there.rename(aside)
    if brought:
        new.rename(there)

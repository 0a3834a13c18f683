"""Replace files by those of a restored backup, all or none, even during a power cut.

New files are first written to one folder; once that has its final name, the restore has begun. The next start calls
`finish`, which sees from the remaining files what to do.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path

from companion.common.small_file import read_json
from companion.storage.data_folder import sync_folder

READY = "restoring"
NEW = "restoring.new"
BEFORE = "before"
KEPT = "before-restore"  # prefix for folders of replaced files: `before-restore-1`, …
CONTENTS = "contents.json"


def finish(folder: Path) -> Path | None:
    """Finish a restore that has begun; return the folder of replaced files, if any.

    It can be interrupted and repeated. Raises OSError if the disk refuses; ValueError, KeyError or TypeError, moving
    nothing, if the folder is not from a restore.
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
    """Return a name directly in the folder. Raises ValueError for other paths."""
    if not isinstance(name, str) or (folder / name).parent != folder or name in ("", ".", "..", READY):
        raise ValueError(f"{name!r} is not a name in {folder}")
    return name


def _replace(folder: Path, name: str, *, brought: bool) -> None:
    """Move the old file or folder aside, unless already replaced; then move the new one in."""
    there, new, aside = folder / name, folder / READY / name, folder / READY / BEFORE / name
    if brought and not new.exists():
        return
    if there.exists():
        there.rename(aside)
    if brought:
        new.rename(there)

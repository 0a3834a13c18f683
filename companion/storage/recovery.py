"""A damaged log is put away, never deleted, and what can be had of it stands in its place when the service starts.

What is taken: the newest backup that is whole, and beyond it every event that can still be read in the damaged file,
each match up to its first gap. What became of the file is kept until somebody has read it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import count, takewhile
from pathlib import Path

from companion.common.errors import Problem
from companion.common.text import Said, say, say_many
from companion.storage import page_reader
from companion.storage.backups import FOLDER as BACKUPS
from companion.storage.backups import agree, backups_of, last_in, rows_in_backup
from companion.storage.database import SIDECARS, Damaged, look, write_log
from companion.storage.events import Row, is_sound, unbroken
from companion.storage.files import sync_folder, write_whole

AWAY = "damaged"
"""The folder of the data folder in which damaged files lie."""

NOTE_NAME = "mended.json"
_NUMBERS = ("backup", "beyond", "missing")
_LONGEST = 200
NEW = ".mended"
"""The ending of the new log until it takes the damaged one's place."""


@dataclass(frozen=True, slots=True)
class Mended:
    """What became of a damaged log."""

    away: str
    """Where the damaged file lies, in the data folder; empty where there was none left, or it could not be moved."""

    backup: int = 0
    """The last event of the backup that was restored; 0 where there was none."""

    beyond: int = 0
    """How many events were read in the damaged file beyond it."""

    missing: int = 0
    """How many events are known to be missing: there may be more at the end."""

    matches: tuple[int, ...] = ()
    """The matches that are known to have lost something."""

    @property
    def sentence(self) -> Said:
        """What people are told."""
        if not self.backup and not self.beyond:
            return say(
                "%(what)s There was no backup, and nothing could be read in it: a new one is begun.", what=self._what
            )
        return say("%(what)s %(from_where)s %(missing)s", what=self._what, from_where=self._from, missing=self._missing)

    @property
    def _what(self) -> Said:
        if not self.away:
            return say("The file with all matches was lost or damaged.")
        return say("The file with all matches was damaged; it lies in %(away)s now.", away=self.away)

    @property
    def _from(self) -> Said:
        if not self.backup:
            return say("What could be read in it is here again.")
        if not self.beyond:
            return say("The newest backup is here again.")
        return say("The newest backup is here again, and what could be read beyond it.")

    @property
    def _missing(self) -> Said:
        if self.missing:
            return say_many(
                "At least %(count)d entry is missing, in match %(matches)s; look at the last plays too.",
                "At least %(count)d entries are missing, in match %(matches)s; look at the last plays too.",
                self.missing,
                matches=", ".join(map(str, self.matches)) or "?",
            )
        return say("Look at the last plays: any that are missing can be entered anew.")


@dataclass(frozen=True, slots=True)
class Found:
    """The log as it was found."""

    rows: tuple[Row, ...]
    mended: Mended | None = None
    written: bool = True
    """Whether the file on the disk holds these events; False where it could not be mended there."""


def found(path: Path) -> Found:
    """The events of a log, mended where it is damaged or has lost what a backup still has.

    Raises Problem for a log of a newer schema, and OSError where it may not be read.
    """
    with suppress(OSError):
        _finish(path)
    try:
        rows = look(path)
    except Damaged:
        return _mended(path)
    if any(last_in(one) > (rows[-1][0] if rows else 0) for one in backups_of(path)):
        return _beside_newer_backups(path, rows)
    return Found(rows)


def _beside_newer_backups(path: Path, rows: tuple[Row, ...]) -> Found:
    """A log that ends before a backup does has lost its end, as long as both begin alike; else it is another log."""
    last = rows[-1][0] if rows else 0
    for backup in backups_of(path):
        if last_in(backup) <= last:
            break
        copied = rows_in_backup(backup)
        if copied is not None and agree(copied, rows):
            return _mended(path)
        with suppress(OSError):
            _put_away(backup)
    return Found(rows)


# --- The note -------------------------------------------------------------------------------------------------


def note(folder: Path) -> Mended | None:
    """What became of a damaged log, as long as nobody has put that away."""
    try:
        kept = json.loads((folder / NOTE_NAME).read_text(encoding="utf-8"))
        backup, beyond, missing, *matches = (int(n) for n in (*(kept[key] for key in _NUMBERS), *kept["matches"]))
        return Mended(str(kept["away"])[:_LONGEST], backup, beyond, missing, tuple(matches))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def put_note_away(folder: Path) -> None:
    """Somebody has read it."""
    with suppress(OSError):
        (folder / NOTE_NAME).unlink(missing_ok=True)


# --- Mending --------------------------------------------------------------------------------------------------


def _mended(path: Path) -> Found:
    """Puts the damaged file away and what could be had in its place; where the disk refuses, gives it all the same."""
    base = next((rows for one in backups_of(path) if (rows := rows_in_backup(one)) is not None), ())
    read, matches = _readable(path, base)
    kept = unbroken((*base, *read.values()))
    mended = Mended(
        away="",
        backup=base[-1][0] if base else 0,
        beyond=len(kept) - len(base),
        missing=max([0, *(row[0] for row in kept[-1:]), *matches]) - len(kept),
        matches=tuple(sorted(_broken(kept, matches))),
    )
    try:
        away = _away(path) if path.exists() else None
        mended = replace(mended, away=f"{AWAY}/{away.name}" if away else "")
        _put_in_place(path, kept, mended, away)
        for worse in backups_of(path):
            if last_in(worse) > mended.backup:
                _put_away(worse)
    except (OSError, sqlite3.Error):
        return Found(kept, mended, written=False)
    return Found(kept, mended)


def _readable(path: Path, base: Sequence[Row]) -> tuple[dict[int, Row], dict[int, int]]:
    """The events of a damaged file beyond a backup, by seq; and the match of each event that is known to have been.

    Those of another log, in its file or -wal, are none.
    """
    alone = page_reader.image_of(page_reader.read_bytes(path))
    wal = page_reader.read_bytes(path.with_name(f"{path.name}-wal"))
    both = page_reader.with_wal(alone, wal)
    rows, of_log = _sound(page_reader.rows_in(alone)), alone
    if both is not alone and _is_of(rows, newer := _sound(page_reader.rows_in(both))):
        rows, of_log = rows | newer, both
    cut_off = _sound(page_reader.rows_cut_off(both, wal))
    if _is_of(rows, cut_off):
        rows |= cut_off
    if not _is_of({row[0]: row for row in base}, rows):
        return {}, {}
    last = base[-1][0] if base else 0
    read = {seq: row for seq, row in rows.items() if seq > last}
    return read, {seq: row[1] for seq, row in read.items()} | _known_after(
        max([last, *read]), page_reader.numbers_in(of_log)
    )


def _known_after(last: int, numbers: Mapping[int, int]) -> dict[int, int]:
    """Those of an index's numbers that follow the last event at once: a number far off is more likely a damaged one."""
    return {seq: numbers[seq] for seq in takewhile(numbers.__contains__, count(last + 1))}


def _sound(rows: Mapping[int, Row]) -> dict[int, Row]:
    return {seq: row for seq, row in rows.items() if is_sound(row)}


def _is_of(known: Mapping[int, Row], rows: Mapping[int, Row]) -> bool:
    """Whether rows are of the log that is known: most of what both have is the same. A damaged page may differ."""
    both = known.keys() & rows.keys()
    return sum(known[seq] == rows[seq] for seq in both) * 2 >= len(both)


def _broken(kept: Sequence[Row], known: Mapping[int, int]) -> set[int]:
    """The matches that are known to have lost something: one was being played where numbers are missing.

    `known`: the match of each event that was read, or is known to have been.
    """
    has = {row[0] for row in kept}
    before_gaps = {row[1] for row in kept if row[0] + 1 not in has and row[0] < max([0, *has, *known])}
    return before_gaps | {match for seq, match in known.items() if seq not in has}


def _put_in_place(path: Path, rows: Sequence[Row], mended: Mended, away: Path | None) -> None:
    """A new log with these events takes the place of the damaged one, whole or not at all.

    A plug pulled at any moment leaves the damaged log, or the new one beside an empty place: `_finish` goes on there.
    """
    new = path.with_name(f"{path.name}{NEW}")
    for ending in ("", "-journal"):
        new.with_name(f"{new.name}{ending}").unlink(missing_ok=True)
    write_log(new, rows)
    write_whole(path.parent / NOTE_NAME, json.dumps(asdict(mended)))
    sync_folder(path.parent)
    if away is not None:
        path.rename(away)
        sync_folder(path.parent)
    _finish(path)


def _finish(path: Path) -> None:
    """A new log that waits beside an empty place takes it; beside a log it is what was never finished."""
    new = path.with_name(f"{path.name}{NEW}")
    if not new.exists():
        return
    if path.exists() or not _is_log(new):
        new.unlink(missing_ok=True)
        return
    for sidecar in SIDECARS:
        beside = path.with_name(f"{path.name}{sidecar}")
        if beside.exists():
            beside.rename(_away(beside, sidecar))
    new.rename(path)
    sync_folder(path.parent)


def _is_log(path: Path) -> bool:
    try:
        look(path)
    except (Problem, OSError):
        return False
    return True


def _put_away(path: Path) -> Path:
    """Moves a file to where damaged files lie, over no other."""
    away = _away(path)
    path.rename(away)
    sync_folder(path.parent)
    return away


def _away(path: Path, sidecar: str = "") -> Path:
    """A name among the damaged files that none of them has; that of a sidecar goes with the file moved last."""
    folder = (path.parent.parent if path.parent.name == BACKUPS else path.parent) / AWAY
    folder.mkdir(exist_ok=True)
    taken = {one.name for one in folder.iterdir()}
    name = path.name.removesuffix(sidecar)
    free = next(n for n in count(1) if not taken & {f"{n}-{name}{end}" for end in ("", *SIDECARS)})
    with_it = f"{free - 1}-{name}" in taken and f"{free - 1}-{path.name}" not in taken
    return folder / f"{free - 1 if sidecar and with_it else free}-{path.name}"

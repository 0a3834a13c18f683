"""Repair a damaged log when the service starts: move it to `damaged/` and write a new one.

The new log has the newest complete backup and the later events that SQLite, queried one by one, or `raw_pages` still
finds, each match up to its first gap. An intact log that lacks its last known event, or a backup's, is treated the
same. Another table's intact log is used as it is. A note tells the host.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import asdict, astuple, dataclass, replace
from itertools import count
from pathlib import Path

from companion.common.errors import Problem
from companion.common.small_file import read_json
from companion.common.text import Said, say, say_many, sentences
from companion.storage import database, raw_pages
from companion.storage.backups import FOLDER as BACKUPS
from companion.storage.backups import backups_of, last_in, rows_in_backup
from companion.storage.data_folder import STORE_NAME, read_readable, sync_folder, write_whole
from companion.storage.events import Row, checksum, unbroken

AWAY = "damaged"  # folder of damaged files, in the data folder
NOTE_NAME, LAST_NAME = "mended.json", "last-event.json"
_NUMBERS = ("backup", "beyond", "missing", "corrected")
_LONGEST = 200
NEW = ".mended"  # suffix of a new log not yet in place
LAST_BYTES = 80  # fixed size of `last-event.json`: each write overwrites the last
LEAST_EVENT_BYTES = 20  # bounds the events in a file


@dataclass(frozen=True, slots=True)
class Mended:
    """Result of a recovery."""

    away: str  # damaged file, relative to the data folder; empty if not moved
    backup: int = 0  # last event of the restored backup; 0: none
    beyond: int = 0  # later events read from the damaged file
    missing: int = 0  # known to be missing; more may be at the end
    matches: tuple[int, ...] = ()  # known to have lost events
    corrected: int = 0  # those of `beyond` with a corrected bit
    is_other: bool = False  # the log is intact but another table's

    @property
    def sentence(self) -> Said:
        if self.is_other:
            return say(
                "%(file)s belongs to another table, whose matches are shown now. To get this table’s own matches "
                "back, stop the companion and run `companion restore` with a backup, or with the newest copy in "
                "the folder %(folder)s.",
                file=STORE_NAME,
                folder=AWAY,
            )
        what = say("The match file was lost or damaged.")
        if self.away:
            what = say("The match file was damaged. The damaged file is now in %(away)s.", away=self.away)
        if not self.backup and not self.beyond:
            return say(
                "%(what)s There was no backup and nothing could be recovered, so a new file was started.", what=what
            )
        source = say("The newest backup was restored, and later entries were recovered where possible.")
        if not self.backup:
            source = say("Everything readable was recovered.")
        elif not self.beyond:
            source = say("The newest backup was restored.")
        missing = say("Check the last plays and enter any that are missing.")
        if self.missing:
            missing = say_many(
                "At least %(count)d entry is missing, in match %(matches)s; check the last plays too.",
                "At least %(count)d entries are missing, in match %(matches)s; check the last plays too.",
                self.missing,
                matches=", ".join(map(str, self.matches)) or "?",
            )
        corrected = say_many(
            "A flipped bit was corrected in %(count)d entry, as its checksum confirms.",
            "Flipped bits were corrected in %(count)d entries, as their checksums confirm.",
            self.corrected,
        )
        return sentences(what, source, *([corrected] if self.corrected else []), missing)


@dataclass(frozen=True, slots=True)
class FoundLog:
    """The log as found or recovered."""

    rows: tuple[Row, ...]
    mended: Mended | None = None
    written: bool = True  # on disk


def found(path: Path) -> FoundLog:
    """Return a log, repaired if damaged or lacking events known to have been in it.

    Raises Newer for a newer schema, OSError if unreadable.
    """
    with suppress(OSError):
        _finish(path)
    last = last_known(path.parent)
    try:
        rows = database.look(path)
    except database.Damaged:
        return _mended(path, last)
    except database.Newer:
        # A newer program would have noted its schema: this one is damaged.
        if last is None or last.schema != len(database.MIGRATIONS):
            raise
        return _mended(path, last)
    end, is_other = rows[-1][0] if rows else 0, last is not None and last.is_of_another(rows)
    for backup in backups_of(path):
        if last_in(backup) <= end and not is_other:
            break
        copied = {row[0]: row for row in rows_in_backup(backup) or ()}
        if copied and all(copied[row[0]] == row for row in rows if row[0] in copied):
            if last_in(backup) > end:
                return _mended(path, last)
            break
        # Damaged, or of another log.
        is_other = is_other or bool(copied)
        with suppress(OSError):
            _put_away(backup)
    if is_other:
        return _of_another(path, rows)
    return _mended(path, last) if last is not None and end < last.seq else FoundLog(rows)


def _of_another(path: Path, rows: tuple[Row, ...]) -> FoundLog:
    note = Mended(away="", is_other=True)
    with suppress(OSError):
        write_whole(path.parent / NOTE_NAME, json.dumps(asdict(note)))
    return FoundLog(rows, note)


# The note


def note(folder: Path) -> Mended | None:
    """Return the note about a damaged log; None once dismissed."""
    try:
        kept = read_json(folder / NOTE_NAME)
        numbers = {key: int(kept.get(key, 0)) for key in _NUMBERS}
        matches, is_other = tuple(map(int, kept["matches"])), kept.get("is_other") is True
        return Mended(str(kept["away"])[:_LONGEST], matches=matches, is_other=is_other, **numbers)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def put_note_away(folder: Path) -> None:
    """Remove the note."""
    with suppress(OSError):
        (folder / NOTE_NAME).unlink(missing_ok=True)


# Repairing


def _mended(path: Path, last: LastEvent | None) -> FoundLog:
    """Replace a damaged file; return the recovered log, even if it cannot be saved."""
    base = next((rows for one in backups_of(path) if (rows := rows_in_backup(one)) is not None), ())
    end = base[-1][0] if base else 0
    readable, corrected = _still_readable(path, base, last)
    beyond = [row for row in readable if row[0] > end]
    kept = unbroken((*base, *beyond))
    has = {row[0] for row in kept}
    top = max([0, *has, *(row[0] for row in beyond), last.seq if last else 0])
    missing = set(range(end + 1, top + 1)) - has
    broken = {row[1] for row in kept if row[0] + 1 in missing} | {row[1] for row in beyond if row[0] in missing}
    mended = Mended(
        away="",
        backup=end,
        beyond=len(kept) - len(base),
        missing=len(missing),
        corrected=sum(row[0] in corrected for row in kept[len(base) :]),
        matches=tuple(sorted(broken | ({last.match} if last and last.seq in missing else set()))),
    )
    try:
        away = _away(path) if path.exists() else None
        mended = replace(mended, away=f"{AWAY}/{away.name}" if away else "")
        _put_in_place(path, kept, mended, away)
        for worse in backups_of(path):
            if last_in(worse) > mended.backup:
                _put_away(worse)
    except (OSError, sqlite3.Error):
        return FoundLog(kept, mended, written=False)
    return FoundLog(kept, mended)


def _still_readable(path: Path, base: Sequence[Row], last: LastEvent | None) -> tuple[list[Row], set[int]]:
    """Return all readable events of a damaged file, and the numbers of those with a corrected bit.

    Skips events of another log, such as in a foreign journal.
    """
    files = [read_readable(path)]
    with suppress(*database.UNUSABLE, Problem):
        files.append(database.as_settled(path))
    read: dict[int, Row] = {}
    corrected: set[int] = set()
    for file in dict.fromkeys(files):
        sound, made_sound = raw_pages.events_in(file)
        asked = _one_by_one(file, last.seq if last else 0)
        rows = made_sound | sound | asked
        known = {row[0]: row for row in base} or read
        both = known.keys() & rows.keys()
        # Damaged pages may differ; another log differs in most events.
        if sum(known[seq] == rows[seq] for seq in both) * 2 >= len(both):
            read |= rows
            corrected |= made_sound.keys() - sound.keys() - asked.keys()
    return list(read.values()), corrected


def _one_by_one(file: bytes, last: int) -> dict[int, Row]:
    """Return the sound events by number, each queried separately."""
    rows: dict[int, Row] = {}
    # SQLite needs the magic bytes.
    whole = database.MAGIC + file[len(database.MAGIC) :]
    with suppress(*database.UNUSABLE), closing(database.in_memory(whole)) as db:
        next(database.selected(db, "WHERE seq = 0"), None)
        for number in range(1, max(last, len(file) // LEAST_EVENT_BYTES) + 1):
            with suppress(*database.UNUSABLE):
                rows |= {
                    row[0]: row
                    for row, crc in database.selected(db, "WHERE seq = ?", (number,))
                    if database.is_as_written(row, crc)
                }
    return rows


def _put_in_place(path: Path, rows: Sequence[Row], mended: Mended, away: Path | None) -> None:
    """Atomically replace the damaged log by a new one with these events.

    A power cut leaves the damaged log, or a complete new one for `_finish`.
    """
    database.write_log(path.with_name(f"{path.name}{NEW}"), rows)
    write_whole(path.parent / NOTE_NAME, json.dumps(asdict(mended)))
    keep_last(path.parent, rows)
    if away is not None:
        path.rename(away)
        sync_folder(path.parent)
    _finish(path)


def _finish(path: Path) -> None:
    """Put a waiting new log in place; delete it if there is a log."""
    new = path.with_name(f"{path.name}{NEW}")
    if not new.exists():
        return
    if path.exists():
        new.unlink()
        return
    for sidecar in database.SIDECARS:
        beside = path.with_name(f"{path.name}{sidecar}")
        if beside.exists():
            beside.rename(_away(beside, sidecar))
    new.rename(path)
    sync_folder(path.parent)


def _put_away(path: Path) -> Path:
    """Move a file aside; return its path."""
    away = _away(path)
    path.rename(away)
    sync_folder(path.parent)
    return away


def _away(path: Path, sidecar: str = "") -> Path:
    """Return a free path among the damaged files; a sidecar gets its main file's number."""
    folder = (path.parent.parent if path.parent.name == BACKUPS else path.parent) / AWAY
    folder.mkdir(exist_ok=True)
    taken = {one.name for one in folder.iterdir()}
    name = path.name.removesuffix(sidecar)
    free = next(n for n in count(1) if not taken & {f"{n}-{name}{end}" for end in ("", *database.SIDECARS)})
    with_it = f"{free - 1}-{name}" in taken and f"{free - 1}-{path.name}" not in taken
    return folder / f"{free - 1 if sidecar and with_it else free}-{path.name}"


# A small file notes the last event, to show if the log has become shorter. It is written in place with one call and
# not synced, so that plays stay fast. A kill leaves it whole; a power cut may leave an older version, or a damaged
# one that is ignored. It is never ahead of the log.


@dataclass(frozen=True, slots=True)
class LastEvent:
    """Number, match and checksum of the last event, and its log's schema."""

    seq: int
    match: int
    crc: int
    schema: int
    first: int = 0  # checksum of the log's first event, unique to the table; 0: unknown

    def is_of_another(self, rows: Sequence[Row]) -> bool:
        """True if these events belong to another log."""
        known = {1: self.first, self.seq: self.crc}
        return any(known.get(row[0]) and checksum(row) != known[row[0]] for row in rows)


def last_known(folder: Path) -> LastEvent | None:
    """Return the noted last event; None if missing or damaged."""
    with suppress(OSError, ValueError, TypeError):
        *numbers, check = map(int, read_json(folder / LAST_NAME))  # Older programs note no first event.
        return LastEvent(*numbers) if check == _check(numbers) else None
    return None


def keep_last(folder: Path, rows: Sequence[Row], first: int = 0) -> None:
    """Note the last of these events, already on disk. Raises OSError.

    `first`: checksum of the log's first event, if not in `rows`.
    """
    seq, match, crc = (rows[-1][0], rows[-1][1], checksum(rows[-1])) if rows else (0, 0, 0)
    last = LastEvent(seq, match, crc, len(database.MIGRATIONS), first_in(rows) or first)
    numbers = astuple(last)
    content = json.dumps([*numbers, _check(numbers)]).ljust(LAST_BYTES).encode()
    fd = os.open(folder / LAST_NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.pwrite(fd, content, 0)
        os.ftruncate(fd, LAST_BYTES)
    finally:
        os.close(fd)


def first_in(rows: Sequence[Row]) -> int:
    """Return the checksum of the log's first event; 0 if `rows` starts later."""
    return checksum(rows[0]) if rows and rows[0][0] == 1 else 0


def _check(numbers: Sequence[int]) -> int:
    return zlib.crc32(repr(tuple(numbers)).encode())

"""Write the data folder (matches, own editions and decks, settings) to one zip file, and restore it.

Cookie key and seats are left out: no backup can pose as a phone. Restored files are not trusted: names must be on a
list, unpacked sizes are counted, events are copied into a new log, and readers check editions and decks.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path, PurePosixPath

from companion.app.usage import here
from companion.common.errors import Problem, cause
from companion.common.small_file import text_of
from companion.common.spelling import shown
from companion.common.terminal import typed
from companion.common.text import Said, listed, say, say_many, sentences
from companion.common.zip_reader import Recoded, ZipReader
from companion.match.archive import judged
from companion.rules.editions.edition import keep_own_editions
from companion.rules.editions.edition_file import read_text, shipped_names
from companion.storage import database
from companion.storage import restore as restoring
from companion.storage.backups import FOLDER as BACKUPS
from companion.storage.data_folder import (
    DECK_IN_USE_NAME,
    DEMO_NAME,
    EDITIONS_NAME,
    STORE_NAME,
    TURN_NAME,
    as_owner_of,
    sync_folder,
    write_whole,
)
from companion.storage.events import Event, Row, read_body
from companion.storage.recovery import LAST_NAME, NOTE_NAME
from companion.tabletop import drawn_zones
from companion.tabletop.template_decks import DECKS_NAME, checked_name, is_name, picture_named, pictures_in, read_deck
from companion.tabletop.template_decks import FILE_NAME as DECK_FILE
from companion.tracking import beliefs_file

ABOUT = "backup.json"
FORMAT = 1
SETTINGS = (drawn_zones.FILE_NAME, DECK_IN_USE_NAME, TURN_NAME)
REPLACED_BY_LOG = (
    STORE_NAME,
    *(f"{STORE_NAME}{ending}" for ending in database.SIDECARS),
    LAST_NAME,
    beliefs_file.FILE_NAME,
    BACKUPS,
    NOTE_NAME,
)
"""Files of a data folder that a restored log replaces."""

REPLACED = (*REPLACED_BY_LOG, EDITIONS_NAME, DECKS_NAME, *SETTINGS)
"""Files of a data folder that a restored backup replaces or, if it lacks them, removes."""

MOST_FILES, MOST_BYTES, MOST_EVENTS = 4000, 256_000_000, 500_000
_MOST_OF_ONE = {STORE_NAME: 200_000_000, ".png": 16_000_000, ".jpg": 16_000_000, ".jpeg": 16_000_000}
_MOST_OF_TEXT = 1_000_000
_EDITION = re.compile(r"[a-z0-9][a-z0-9-]{0,59}\.toml")


@dataclass(frozen=True, slots=True)
class Bundle:
    """The checked content of a backup."""

    rows: tuple[Row, ...]  # events, in this program's schema
    files: Mapping[str, bytes]  # other files by path: `editions/ours.toml`, `decks/grandma/roll.png`
    is_log: bool = False  # a copy from `storage/backups.py`: replaces the log alone

    @property
    def says(self) -> Said:
        """Summary: `2 matches, 1 deck, 0 editions`."""
        matches, things = len({row[1] for row in self.rows}), [_thing(name) for name in self.files]
        decks = len({thing for thing in things if thing.startswith(f"{DECKS_NAME}/")})
        editions = sum(thing.startswith(f"{EDITIONS_NAME}/") for thing in things)
        counts = (
            say_many("%(count)d match", "%(count)d matches", matches),
            say_many("%(count)d deck", "%(count)d decks", decks),
            say_many("%(count)d edition", "%(count)d editions", editions),
        )
        return listed(counts[:1] if self.is_log else counts)


# Writing


def write_bundle(folder: Path, out: Path, *, force: bool = False) -> tuple[Said, ...]:
    """Write a data folder to one file, atomically, also while a service runs.

    Return a sentence per file or deck left out. Raises Problem.
    """
    if out.is_dir():
        raise Problem("%(path)s is a folder: name the file, such as %(file)s.", path=out, file=out / "table.zip")
    if out.exists() and not force:
        raise Problem("%(path)s already exists: choose another name, or overwrite it with --force.", path=out)
    about = json.dumps({"format": FORMAT, "schema": len(database.MIGRATIONS)}).encode()
    with as_owner_of(folder):
        log = _log_as_bytes(folder / STORE_NAME)
        files, left_out = _sound_files(folder, MOST_BYTES - len(about) - len(log or b""))
    if log is None and not files:
        demo = folder / DEMO_NAME
        nothing = say("There is nothing to back up in %(folder)s: no matches, decks or settings.", folder=folder)
        if (demo / STORE_NAME).exists():
            also = say("What was played in the demo is in %(folder)s: add --data %(folder)s.", folder=demo)
            raise Problem(sentences(nothing, also))
        raise Problem(nothing)
    _write_zip(out, {ABOUT: about, **({STORE_NAME: log} if log else {}), **files})
    return left_out


def _log_as_bytes(path: Path) -> bytes | None:
    if not path.exists():
        return None
    try:
        with closing(database.readable(path)) as log:
            return log.serialize()
    except (sqlite3.Error, OSError) as error:
        raise Problem(
            "%(path)s cannot be read (%(error)s): check the folder's permissions and the disk.",
            1,
            path=path,
            error=error,
        ) from error


def _sound_files(folder: Path, room: int) -> tuple[dict[str, bytes], tuple[Said, ...]]:
    """Return restorable files by path, at most `room` bytes, and a sentence per file left out.

    Decks come last: they must not displace settings or editions.
    """
    files: dict[str, bytes] = {}
    left_out = []
    with _own_editions(folder / EDITIONS_NAME):
        allowed = sorted(_allowed_files(folder), key=lambda name: (name.startswith(f"{DECKS_NAME}/"), name))
        for thing, named in groupby(allowed, _thing):
            try:
                names = tuple(named)
                _check_sizes(thing, {name: (folder / name).stat().st_size for name in names}, folder, room, len(files))
                content = {name: (folder / name).read_bytes() for name in names}
                if thing.casefold() in {_thing(name).casefold() for name in files}:
                    raise Problem(
                        "%(path)s differs from another name only in capital letters: rename one of them.",
                        1,
                        path=folder / thing,
                    )
                _check_thing(thing, content, folder)
                files |= content
                room -= sum(map(len, content.values()))
            except Problem as problem:
                left_out.append(say("Left out: %(why)s", why=problem.sentence))
            except OSError as error:
                unread = say(
                    "%(path)s cannot be read (%(error)s): check the file's permissions.",
                    path=error.filename or folder / thing,
                    error=cause(error),
                )
                left_out.append(say("Left out: %(why)s", why=unread))
    return files, tuple(left_out)


def _check_sizes(thing: str, sizes: Mapping[str, int], folder: Path, room: int, others: int) -> None:
    """Raise Problem for sizes that reading would refuse."""
    for name, size in sizes.items():
        if size > (most := _most_of(name)):
            raise Problem(
                "%(path)s is larger than %(mb)d MB, too large for a backup: save it smaller.",
                1,
                path=folder / name,
                mb=most // 1_000_000,
            )
    if sum(sizes.values()) > room or others + len(sizes) > MOST_FILES - len((ABOUT, STORE_NAME)):
        raise Problem(
            "%(path)s does not fit into the backup, which holds %(mb)d MB and %(files)d files: save decks with"
            " `%(command)s`.",
            1,
            path=folder / thing,
            mb=MOST_BYTES // 1_000_000,
            files=MOST_FILES,
            command=typed("decks export"),
        )


def _most_of(name: str) -> int:
    return _MOST_OF_ONE.get(name, _MOST_OF_ONE.get(Path(name).suffix, _MOST_OF_TEXT))


def _allowed_files(folder: Path) -> Iterator[str]:
    for pattern in (*SETTINGS, f"{EDITIONS_NAME}/*", f"{DECKS_NAME}/*/*"):
        for path in folder.glob(pattern):
            name = path.relative_to(folder).as_posix()
            if is_allowed(name) and path.is_file():
                yield name


def _write_zip(out: Path, files: Mapping[str, bytes]) -> None:
    zipped = io.BytesIO()
    try:
        with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in files.items():
                # The clock may be wrong: entries get the format's earliest date.
                packed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        read_bundle(out, sent=zipped.getvalue())
        write_whole(out, zipped.getvalue())
    except (OSError, zipfile.LargeZipFile) as error:
        raise Problem(
            "The backup cannot be written to %(path)s (%(error)s): choose another place.", path=out, error=cause(error)
        ) from error


# Reading


def is_allowed(name: str) -> bool:
    """True if a backup may have a file of that name."""
    if name in (ABOUT, STORE_NAME, *SETTINGS):
        return True
    folder, _, rest = name.partition("/")
    if folder == EDITIONS_NAME:
        return bool(_EDITION.fullmatch(rest))
    deck, _, file = rest.partition("/")
    return folder == DECKS_NAME and is_name(deck) and (file == DECK_FILE or picture_named(file) is not None)


def read_bundle(
    file: Path, *, sent: bytes | None = None, recoded: Recoded | None = None, own: Path | None = None
) -> Bundle:
    """Return the checked content of a backup or log copy. Raises Problem only.

    `sent`: content not on disk. `recoded` re-encodes pictures. `own`: folder of the editions to reload afterwards.
    """
    if sent is None and (copy := _copy_of_log(file)) is not None:
        if own is not None:
            keep_own_editions(own)
        return Bundle(_checked_rows(file, copy), {}, is_log=True)
    files = _ZIP.unpacked(file, sent)
    said = _json(files.pop(ABOUT, b""))
    if not isinstance(said, dict) or type(said.get("format")) is not int:
        raise _bad(file, say("it contains no %(file)s", file=ABOUT))
    if said["format"] > FORMAT:
        raise _newer(file)
    log = files.pop(STORE_NAME, None)
    try:
        with tempfile.TemporaryDirectory(prefix="companion-") as at:
            folder = Path(at)
            _lay(folder, files)
            with _own_editions(folder / EDITIONS_NAME, after=own):
                for thing, named in groupby(sorted(files), _thing):
                    _check_thing(thing, {name: files[name] for name in named}, folder, file)
                rows = _checked_rows(file, log) if log is not None else ()
    except OSError as error:
        raise Problem(
            "%(path)s cannot be checked (%(error)s): free some disk space.", path=file, error=cause(error)
        ) from error
    if recoded:
        pictures = {name for name in files if name.startswith(f"{DECKS_NAME}/") and not name.endswith(f"/{DECK_FILE}")}
        files |= dict(_ZIP.anew(file, [(name, files.pop(name)) for name in sorted(pictures)], recoded))
    return Bundle(rows, files)


def _copy_of_log(file: Path) -> bytes | None:
    """Return a log copy's content; None for other or unreadable files."""
    most = _most_of(STORE_NAME)
    try:
        with file.open("rb") as opened:
            if opened.read(len(database.MAGIC)) != database.MAGIC:
                return None
            content = database.MAGIC + opened.read(most)
    except OSError:
        return None
    if len(content) > most:
        raise _bad(file, say("it is larger than %(mb)d MB", mb=most // 1_000_000))
    return content


def _json(content: bytes) -> object:
    try:
        return json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def _lay(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / PurePosixPath(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())


@contextmanager
def _own_editions(folder: Path, after: Path | None = None) -> Iterator[None]:
    """Load a folder's editions inside the context, then those of `after`; None keeps these."""
    keep_own_editions(folder)
    try:
        yield
    finally:
        if after is not None or not folder.exists():
            keep_own_editions(after or folder)


def _thing(name: str) -> str:
    """Return what is restored as a whole: a deck's folder, else one file."""
    return name.rpartition("/")[0] if name.startswith(f"{DECKS_NAME}/") else name


def _check_thing(thing: str, content: Mapping[str, bytes], folder: Path, file: Path | None = None) -> None:
    """Raise Problem for an unusable edition, deck or setting in `folder`."""
    where = file or folder / thing
    if thing.startswith(f"{EDITIONS_NAME}/"):
        _check_edition(where, Path(thing).name, content[thing])
    elif thing.startswith(f"{DECKS_NAME}/"):
        _check_deck(where, folder / thing)
    elif not _is_setting(thing, _json(content[thing])):
        raise _bad(where, say("its %(file)s is damaged", file=thing))


def _check_edition(where: Path, name: str, content: bytes) -> None:
    try:
        reading = read_text(text_of(content), shipped_names())
    except ValueError as error:
        raise _bad(where, say("the edition %(file)s is damaged", file=name)) from error
    if reading.faults:
        fault = reading.faults[0].say.rstrip(".")
        raise _bad(where, say("the edition %(file)s is wrong: %(fault)s", file=name, fault=fault))
    if f"{reading.entries['name']}.toml" != name:
        called = shown(reading.entries["name"])
        raise _bad(where, say("the edition %(file)s is wrong: it is called '%(name)s'", file=name, name=called))


def _check_deck(where: Path, folder: Path) -> None:
    try:
        checked_name(folder.name)
        read_deck(folder)
        names = [path.stem for paths in pictures_in(folder).values() for path in paths]
        if len(set(names)) < len(names):
            raise Problem(
                say("it has two pictures with the same name, such as roll.png and roll.jpg: delete one of them.")
            )
    except (Problem, OSError) as error:
        # Neither the path to the unpacked deck nor a full stop fits into the sentence.
        why = here(str(error)).rstrip(".").replace(f"{folder}", folder.name)
        raise _bad(where, say("a deck cannot be used: %(why)s", why=why)) from error


def _is_setting(name: str, said: object) -> bool:
    if not isinstance(said, dict):
        return False
    if name == DECK_IN_USE_NAME:
        return said.get("deck") is None or isinstance(said["deck"], str)
    if name == TURN_NAME:
        return said.get("degrees") in (0, 90, 180, 270) and isinstance(said.get("mirrored"), bool)
    try:
        drawn_zones.parse_drawing(said)
    except (ValueError, RecursionError, OverflowError):
        return False
    return True


# The log


def _checked_rows(file: Path, log: bytes) -> tuple[Row, ...]:
    """Return the events of an untrusted log, if all can be replayed."""
    try:
        rows = _rows(file, log)
    except (*database.UNUSABLE, database.Damaged) as error:
        raise _bad(file, say("its matches are damaged")) from error
    by_match: dict[int, list[Event]] = {}
    for row in rows:
        by_match.setdefault(row[1], []).append(Event(*row[:4], read_body(row[4])))
    for match, events in by_match.items():
        try:
            judged(match, events)
        except Exception as error:
            raise _bad(file, say("match %(number)d in it cannot be replayed", number=match)) from error
    return rows


def _rows(file: Path, log: bytes) -> tuple[Row, ...]:
    """Return an untrusted database's rows; only our schema is accepted, so no trigger or view runs."""
    with closing(database.in_memory(log)) as db:
        version = database.schema_of(db)
        if version > len(database.MIGRATIONS):
            raise _newer(file)
        says = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"
        with closing(database.in_memory(b"")) as ours:
            database.migrate(ours, version)
            if db.execute(says).fetchall() != ours.execute(says).fetchall():
                raise _bad(file, say("its matches are damaged"))
        if db.execute("SELECT count(*) FROM event").fetchone()[0] > MOST_EVENTS:
            raise _bad(file, say("it has more than %(most)d plays", most=MOST_EVENTS))
    return database.rows_of(log, file)


# Restoring


def restore(folder: Path, bundle: Bundle) -> Path | None:
    """Atomically replace a data folder's content by a backup; return the old content's folder.

    Call it inside `locked`. Raises Problem if the disk refuses, with the folder unchanged or for the next start to
    finish.
    """
    new = folder / restoring.NEW
    try:
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        _lay(new, bundle.files)
        if bundle.rows:
            database.write_log(new / STORE_NAME, bundle.rows)
        brought = sorted(
            {PurePosixPath(name).parts[0] for name in bundle.files} | ({STORE_NAME} if bundle.rows else set())
        )
        replaced = REPLACED_BY_LOG if bundle.is_log else REPLACED
        _lay(new, {restoring.CONTENTS: json.dumps({"replaced": replaced, "brought": brought}).encode()})
        for one in (*new.rglob("*/"), new):
            sync_folder(one)
        shutil.rmtree(folder / restoring.READY, ignore_errors=True)
        new.rename(folder / restoring.READY)
        sync_folder(folder)
    except (OSError, sqlite3.Error) as error:
        shutil.rmtree(new, ignore_errors=True)
        raise Problem(
            "The backup cannot be restored into %(folder)s (%(error)s): free some space.",
            folder=folder,
            error=cause(error),
        ) from error
    try:
        return restoring.finish(folder)
    except OSError as error:
        raise Problem(
            "The backup is only partly restored into %(folder)s (%(error)s): the next start continues.",
            1,
            folder=folder,
            error=cause(error),
        ) from error


def _newer(file: Path) -> Problem:
    return Problem(
        "%(path)s was written by a newer version of the companion: install that version first.", 1, path=file
    )


def _bad(file: Path, what: Said) -> Problem:
    return Problem(
        "%(path)s is not a usable backup (%(what)s): make a new one with `%(command)s`.",
        1,
        path=file,
        what=what,
        command=typed("backup"),
    )


def _strange(name: str) -> Said:
    return say("'%(name)s' does not belong in a backup", name=name)


_ZIP = ZipReader(is_allowed, _strange, _bad, MOST_FILES, MOST_BYTES, _most_of)

"""Logs for tests: with matches in them, frozen ones of older schemas, and ways in which a disk damages or refuses."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

from companion.match.match import Match
from companion.storage import last_event
from companion.storage.data_folder import store_path
from companion.storage.event_store import Draft, Store

SCHEMAS = Path(__file__).parent / "schemas"


def frozen(number: int, folder: Path) -> Path:
    """A log as the program of a schema wrote it."""
    path = store_path(folder)
    with closing(sqlite3.connect(path)) as db:
        db.executescript((SCHEMAS / f"{number}.sql").read_text(encoding="utf-8"))
    return path


def played(folder: Path, matches: int = 2, plays: int = 60) -> Path:
    """A closed log with some matches."""
    path = store_path(folder)
    store = Store.open(path, clock=lambda: 12.5)
    match = Match(store)
    texts = ["x" * 6000 if number % 40 == 39 else "Ann roll" for number in range(plays)]
    for _ in range(matches):
        match.start(["side Ann", "side Bob", "hand first Ann"])
        store.append(match.state.match, *(Draft("line", {"text": text, "by": "Ann"}) for text in texts))
    store.close()
    return path


def of_schema(path: Path, number: int) -> None:
    """Make a closed log that of a program of another schema, as far as that can be told without it."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {number}")
    (path.parent / last_event.FILE_NAME).unlink(missing_ok=True)


def append(path: Path, *texts: str) -> None:
    """Plays in the last match of a closed log."""
    store = Store.open(path, clock=lambda: 12.5)
    match = store.matches()[-1]
    for text in texts:
        store.append(match, Draft("line", {"text": text, "by": "Ann"}))
    store.close()


Damage = Callable[[bytes, Random], bytes]


def torn(file: bytes, chance: Random) -> bytes:
    """Half of a page never came to the disk."""
    at = chance.randrange(len(file) // 4096) * 4096 + 2048
    return file[:at] + bytes(2048) + file[at + 2048 :]


def truncated(file: bytes, chance: Random) -> bytes:
    return file[: chance.randrange(len(file))]


def garbage_header(file: bytes, chance: Random) -> bytes:
    return chance.randbytes(100) + file[100:]


def zeroed(file: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(file) // 4096) * 4096
    return file[:at] + bytes(4096) + file[at + 4096 :]


def garbage_page(file: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(file) // 4096) * 4096
    return file[:at] + chance.randbytes(4096) + file[at + 4096 :]


def garbage(file: bytes, chance: Random) -> bytes:
    return chance.randbytes(len(file))


DAMAGES: tuple[Damage, ...] = (torn, truncated, garbage_header, zeroed, garbage_page, garbage)


class Refusing:
    """A connection whose disk refuses every commit, as long as it says why."""

    def __init__(self, db: sqlite3.Connection, why: str) -> None:
        self._db = db
        self.why: str | None = why

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        if self.why is not None and sql == "COMMIT":
            raise sqlite3.OperationalError(self.why)
        return self._db.execute(sql, *values)

    def __getattr__(self, name: str) -> object:
        return getattr(self._db, name)


def refuse(store: Store, why: str = "database or disk is full") -> Refusing:
    """From now on a store's disk refuses."""
    store._db = disk = Refusing(store._db, why)  # type: ignore[assignment]
    return disk


def full(*_arguments: object, **_more: object) -> None:
    """Stands in for anything that writes."""
    raise OSError(errno.ENOSPC, "No space left on device")

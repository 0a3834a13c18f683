"""Logs for tests: with matches, in older schemas, and on disks that damage or refuse data."""

import errno
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random

import pytest

from companion.match.match import Match
from companion.storage import recovery
from companion.storage.data_folder import store_path
from companion.storage.event_store import NewEvent, Store

SCHEMAS = Path(__file__).parent / "schemas"


def frozen(number: int, folder: Path) -> Path:
    """Return a log as a program with an older schema wrote it."""
    path = store_path(folder)
    changed(path, (SCHEMAS / f"{number}.sql").read_text(encoding="utf-8"))
    return path


def played(folder: Path, matches: int = 2, plays: int = 60) -> Path:
    path = store_path(folder)
    store = Store.open(path, clock=lambda: 12.5)
    match = Match(store)
    texts = ["x" * 6000 if number % 40 == 39 else "Ann roll" for number in range(plays)]
    for _ in range(matches):
        match.start(["side Ann", "side Bob", "hand first Ann"])
        store.append(match.state.match, *(NewEvent("line", {"text": text, "by": "Ann"}) for text in texts))
    store.close()
    return path


def changed(path: Path, script: str) -> None:
    """Change a closed log with SQL, as no companion does."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)


def of_schema(path: Path, number: int) -> None:
    """Set a closed log's schema number."""
    changed(path, f"PRAGMA user_version = {number}")
    (path.parent / recovery.LAST_NAME).unlink(missing_ok=True)


def append(path: Path, *texts: str) -> None:
    """Append plays to the last match of a closed log."""
    store = Store.open(path, clock=lambda: 12.5)
    match = store.matches()[-1]
    for text in texts:
        store.append(match, NewEvent("line", {"text": text, "by": "Ann"}))
    store.close()


Damage = Callable[[bytes, Random], bytes]
"""Returns the damaged content of a file."""

PAGE = 4096


def flipped(file: bytes, chance: Random) -> bytes:
    """Flip up to 64 bits."""
    damaged = bytearray(file)
    for _ in range(chance.randint(1, 64) if file else 0):
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def _over_a_page(file: bytes, chance: Random, content: bytes, skipped: int = 0) -> bytes:
    at = chance.randrange(max(1, len(file) // PAGE)) * PAGE + skipped
    return file[:at] + content[: max(0, len(file) - at)] + file[at + len(content) :]


def garbage_page(file: bytes, chance: Random) -> bytes:
    return _over_a_page(file, chance, chance.randbytes(PAGE))


def swapped_pages(file: bytes, chance: Random) -> bytes:
    pages = [file[at : at + PAGE] for at in range(0, len(file), PAGE)] or [b""]
    one, other = chance.randrange(len(pages)), chance.randrange(len(pages))
    pages[one], pages[other] = pages[other], pages[one]
    return b"".join(pages)


def garbage(file: bytes, chance: Random) -> bytes:
    return chance.randbytes(len(file))


def first_bytes_gone(file: bytes, chance: Random) -> bytes:
    many = min(len(file), chance.choice((16, 32, 100, 512, PAGE)))
    return chance.choice((bytes, chance.randbytes))(many) + file[many:]


DAMAGES: dict[str, Damage] = {
    "flipped": flipped, "garbage page": garbage_page, "swapped pages": swapped_pages, "garbage": garbage,
    "first bytes gone": first_bytes_gone,
    "half a page never came to the disk": lambda file, chance: _over_a_page(file, chance, bytes(PAGE // 2), PAGE // 2),
    "zero page": lambda file, chance: _over_a_page(file, chance, bytes(PAGE)),
    "zeroed": lambda file, _chance: bytes(len(file)),
    "truncated": lambda file, chance: file[: chance.randrange(len(file) + 1)],
    "longer": lambda file, chance: file + chance.choice((bytes, chance.randbytes))(chance.randint(1, 3 * PAGE)),
}  # fmt: skip


class Pulled(BaseException):
    """The plug."""


@contextmanager
def plug_pulled(moment: int, *acts: tuple[object, str]) -> Iterator[list[int]]:
    """Pull the plug when the n-th of some calls begins; yield the number of calls, in a list of one."""
    steps = [0]

    def counted(act: Callable[..., object]) -> Callable[..., object]:
        def pulled(*arguments: object, **more: object) -> object:
            steps[0] += 1
            if steps[0] == moment:
                raise Pulled
            return act(*arguments, **more)

        return pulled

    with pytest.MonkeyPatch.context() as patch, suppress(Pulled):
        for owner, name in acts:
            patch.setattr(owner, name, counted(getattr(owner, name)))
        yield steps


class Refusing:
    """A connection whose disk refuses every commit until `why` is None."""

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
    """Make a store's disk refuse from now on."""
    store._db = disk = Refusing(store._db, why)  # type: ignore[assignment]
    return disk


def full(*_arguments: object, **_more: object) -> None:
    """Replacement for a function that writes: raises "No space left"."""
    raise OSError(errno.ENOSPC, "No space left on device")

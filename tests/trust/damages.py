"""Damages whole files of a data folder as a bad disk or a careless hand does, and looks whether anything goes unsaid.

`PYTHONPATH=tests:. python tests/trust/damages.py --times 130`. Somebody plays on the real log, with a copy made as a
hand ends, and is killed, half of the times in the middle of a commit. Then a file is damaged: the log, its journal, the
number of the last event, a copy; bits flipped, a page zeroed, random or swapped, all of it zeroed, cut, emptied,
deleted, made longer, an older one laid in its place. The log must open; show nothing that was not written, in order;
say so where anything acknowledged is missing; and start a second time with the same.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from companion.match.match import Match
from companion.storage import last_event
from companion.storage.backups import HAND, back_up
from companion.storage.data_folder import STORE_NAME, store_path
from companion.storage.database import look
from companion.storage.event_store import Store
from companion.storage.events import Row

PAGE = 4096
IN_A_COMMIT = 0.5

Damage = Callable[[bytes, random.Random], bytes | None]
"""What becomes of a file's content; None: it is deleted."""


def flipped(file: bytes, chance: random.Random) -> bytes:
    """Up to 64 bits are others."""
    damaged = bytearray(file)
    for _ in range(chance.randint(1, 64)):
        if damaged:
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def _page(file: bytes, chance: random.Random, content: bytes) -> bytes:
    at = chance.randrange(max(1, len(file) // PAGE)) * PAGE
    return file[:at] + content[: len(file) - at] + file[at + PAGE :]


def zero_page(file: bytes, chance: random.Random) -> bytes:
    return _page(file, chance, bytes(PAGE))


def random_page(file: bytes, chance: random.Random) -> bytes:
    return _page(file, chance, chance.randbytes(PAGE))


def swapped_pages(file: bytes, chance: random.Random) -> bytes:
    pages = [file[at : at + PAGE] for at in range(0, len(file), PAGE)]
    one, other = chance.randrange(max(1, len(pages))), chance.randrange(max(1, len(pages)))
    if pages:
        pages[one], pages[other] = pages[other], pages[one]
    return b"".join(pages)


def zeroed(file: bytes, _chance: random.Random) -> bytes:
    return bytes(len(file))


def first_bytes_zeroed(file: bytes, chance: random.Random) -> bytes:
    many = chance.choice((16, 32, 100, 512, PAGE))
    return bytes(min(many, len(file))) + file[many:]


def cut(file: bytes, chance: random.Random) -> bytes:
    return file[: chance.randrange(len(file) + 1)]


def emptied(_file: bytes, _chance: random.Random) -> bytes:
    return b""


def longer(file: bytes, chance: random.Random) -> bytes:
    return file + chance.choice((bytes, chance.randbytes))(chance.randint(1, 3 * PAGE))


def deleted(_file: bytes, _chance: random.Random) -> None:
    return None


DAMAGES: tuple[Damage, ...] = (
    flipped, zero_page, random_page, swapped_pages, zeroed, first_bytes_zeroed, cut, emptied, longer, deleted,
)  # fmt: skip
OLDER = "older"
"""An older version of the same file in its place."""


@dataclass
class Damaged:
    """What came of the damages."""

    times: int = 0
    whole: int = 0
    told: int = 0
    lost: int = 0
    by_file: Counter[str] = field(default_factory=Counter)
    silent: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def evening(folder: Path, chance: random.Random) -> tuple[Row, ...]:
    """Plays, and leaves what a kill leaves; gives what was acknowledged."""
    (folder / "played").mkdir(parents=True)
    store = Store.open(store_path(folder / "played"), clock=lambda: 1.7e9)
    match = Match(store)
    older = folder / "older"
    plays = chance.randint(20, 200)
    copied, aside = (chance.randrange(plays) for _ in range(2))
    match.start(["side Ann", "side Bob", "hand first Ann"])
    for number in range(plays):
        player = ("Ann", "Bob")[number % 2]
        match.enter(f"{player} discard {chance.choice((25, 50, 75, 100))}", player)
        if number == copied:
            back_up(store.path, HAND)
        if number == aside:
            shutil.copytree(store.path.parent, older)
    acknowledged = tuple(store._db.execute("SELECT seq, match, at_s, kind, body FROM event ORDER BY seq"))
    if chance.random() < IN_A_COMMIT:
        # The journal is written and synced, and so are some pages of the file.
        store._db.execute("PRAGMA cache_size = 1")
        store._db.execute("BEGIN IMMEDIATE")
        for seq in range(acknowledged[-1][0] + 1, acknowledged[-1][0] + chance.randint(20, 300)):
            store._db.execute("INSERT INTO event VALUES (?, 1, 0.0, 'line', ?, 0)", (seq, '{"text": "Ann 25"}'))
    shutil.copytree(store.path.parent, folder / "data")
    if store._db.in_transaction:
        store._db.execute("ROLLBACK")
    store.close()
    return acknowledged


def damage_and_look(times: int, *, seed: int = 0) -> Damaged:
    """Damages a file so many times, each after an evening of its own."""
    chance, done = random.Random(seed), Damaged()
    for _ in range(times):
        with tempfile.TemporaryDirectory(prefix="damages-") as temporary:
            acknowledged = evening(Path(temporary), chance)
            data = Path(temporary) / "data"
            what = _damage(data, Path(temporary) / "older", chance)
            done.times += 1
            done.by_file["a copy" if what.startswith("backups/") else what.partition(" ")[0]] += 1
            _look(store_path(data), acknowledged, done, what)
    return done


def _damage(data: Path, older: Path, chance: random.Random) -> str:
    """Damages a file of a folder; gives which, and how."""
    files = [STORE_NAME, STORE_NAME, last_event.FILE_NAME]
    files += [one.relative_to(data).as_posix() for one in data.glob("backups/*")]
    files += [f"{STORE_NAME}-journal"] * 3 if (data / f"{STORE_NAME}-journal").exists() else []
    name = chance.choice(files)
    damage = chance.choice((*DAMAGES, None))
    if damage is None and (older / name).exists():
        shutil.copy(older / name, data / name)
        return f"{name} {OLDER}"
    damage = damage or deleted
    content = damage((data / name).read_bytes(), chance)
    if content is None:
        (data / name).unlink()
    else:
        (data / name).write_bytes(content)
    return f"{name} {damage.__name__}"


def _look(path: Path, acknowledged: tuple[Row, ...], done: Damaged, what: str) -> None:
    try:
        store = Store.open(path)
        Match(store)
        note, unsaved = store.note, store.unsaved
        store.close()
        rows = look(path)
        again = Store.open(path)
        same = look(path) == rows and again.note == note
        again.close()
    except Exception as error:
        done.failed.append(f"{what}: {type(error).__name__}: {error}")
        return
    done.told += note is not None
    done.whole += rows == acknowledged
    done.lost += len(acknowledged) - len(rows)
    if unsaved is not None or not same:
        done.failed.append(f"{what}: {unsaved or 'the next start finds something else'}")
    elif rows != acknowledged[: len(rows)] or (rows != acknowledged and note is None):
        done.silent.append(f"{what}: {len(rows)} of {len(acknowledged)} events, {'told' if note else 'not a word'}")


def main() -> int:
    """Damages as often as the command says; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=130)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    done = damage_and_look(asked.times, seed=asked.seed)
    print(*done.silent, *done.failed, sep="\n", end="\n" if done.silent or done.failed else "")
    print(
        f"{done.times} damaged files ({', '.join(f'{n} {name}' for name, n in done.by_file.most_common())}): "
        f"{len(done.silent)} silent, {len(done.failed)} did not start; {done.whole} times nothing was missing, "
        f"{done.told} told, {done.lost} events missing in all. Seed {asked.seed}."
    )
    return bool(done.silent or done.failed)


if __name__ == "__main__":
    sys.exit(main())

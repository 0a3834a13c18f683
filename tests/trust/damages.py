"""Damage files of a data folder as a bad disk or a mistake would: is every loss reported?

`PYTHONPATH=tests:. python tests/trust/damages.py --times 130 --bits 1500`

A process plays with the real log, which is copied at the end of a hand. The process is killed, in half of the runs
during a commit. Then a file is damaged: the log, its journal, the number of the last event, or a copy. Bits are
flipped, pages zeroed, randomized or swapped; files are zeroed, cut, emptied, deleted, extended, or replaced by an older
version.

The log must open, contain only written events in order, report missing acknowledged events, and open a second time
with the same content. `--bits` flips single bits of another log, half of them within the text of an event.
"""

import random
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from logs import DAMAGES
from trust.fuzzing import arguments

from companion.match.match import Match
from companion.storage import recovery
from companion.storage.backups import HAND, back_up
from companion.storage.data_folder import STORE_NAME, store_path
from companion.storage.database import look
from companion.storage.event_store import Store
from companion.storage.events import Row

IN_A_COMMIT, WITHIN_AN_EVENT = 0.5, 0.5

Acknowledged = tuple[Row, ...]


@dataclass
class Damaged:
    times: int = 0
    whole: int = 0
    told: int = 0
    lost: int = 0
    by_file: Counter[str] = field(default_factory=Counter)
    silent: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def evening(folder: Path, chance: random.Random) -> Acknowledged:
    """Play, and leave the files as after a kill; return what was acknowledged."""
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
        # A tiny cache makes SQLite sync the journal and write some pages before the commit.
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
    """Damage a file this many times, each time after a new evening."""
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
    files = [STORE_NAME, STORE_NAME, recovery.LAST_NAME]
    files += [one.relative_to(data).as_posix() for one in data.glob("backups/*")]
    files += [f"{STORE_NAME}-journal"] * 3 if (data / f"{STORE_NAME}-journal").exists() else []
    name = chance.choice(files)
    damage = chance.choice((*DAMAGES, "emptied", "deleted", "older"))
    if damage in DAMAGES:
        (data / name).write_bytes(DAMAGES[damage]((data / name).read_bytes(), chance))
    elif damage == "emptied":
        (data / name).write_bytes(b"")
    elif damage == "older" and (older / name).exists():
        shutil.copy(older / name, data / name)
    else:
        (data / name).unlink()
    return f"{name} {damage}"


def flip_and_look(path: Path, times: int, *, seed: int = 0) -> Damaged:
    """Flip this many single bits of a closed log, each in a new copy of the folder."""
    chance, done = random.Random(seed), Damaged()
    whole, file = look(path), path.read_bytes()
    texts = [body.encode() for *_, body in whole if body.encode() in file]
    places = [at for text in texts for at in range(file.index(text), file.index(text) + len(text))]
    for _ in range(times):
        at = chance.choice(places) if chance.random() < WITHIN_AN_EVENT else chance.randrange(len(file))
        with tempfile.TemporaryDirectory(prefix="flips-") as folder:
            home = Path(folder) / "data"
            shutil.copytree(path.parent, home)
            bit = 1 << chance.randrange(8)
            store_path(home).write_bytes(file[:at] + bytes([file[at] ^ bit]) + file[at + 1 :])
            done.times += 1
            done.by_file["a bit"] += 1
            _look(store_path(home), whole, done, f"byte {at}, bit {bit:#04x}")
    return done


def _look(path: Path, acknowledged: Acknowledged, done: Damaged, what: str) -> None:
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
    asked = arguments(__doc__, "times", 130, bits=0)
    with tempfile.TemporaryDirectory(prefix="evening-") as folder:
        evening(Path(folder), random.Random(asked.seed))
        flips = flip_and_look(store_path(Path(folder) / "played"), asked.bits, seed=asked.seed)
    damages = damage_and_look(asked.times, seed=asked.seed)
    for done in (flips, damages):
        print(*done.silent, *done.failed, sep="\n", end="\n" if done.silent or done.failed else "")
        print(
            f"{done.times} damaged files ({', '.join(f'{n} {name}' for name, n in done.by_file.most_common())}): "
            f"{len(done.silent)} silent, {len(done.failed)} did not start; {done.whole} times nothing was missing, "
            f"{done.told} told, {done.lost} events missing in all. Seed {asked.seed}."
        )
    return int(any(done.silent or done.failed for done in (flips, damages)))


if __name__ == "__main__":
    sys.exit(main())

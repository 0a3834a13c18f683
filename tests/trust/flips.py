"""Flips single bits of a log, and looks whether any event that has changed is believed.

`PYTHONPATH=tests:. python tests/trust/flips.py --times 1500`. An evening is played on the real log, with a copy of it
from before; then one bit flips, half of the times within the text of an event, else anywhere in the file, and the log
is opened as the service opens it. It must open; show no event other than one that was written; and where it shows
fewer, say so.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from companion.match.match import Match
from companion.storage.backups import back_up
from companion.storage.data_folder import store_path
from companion.storage.database import look
from companion.storage.event_store import Store

PLAYS = 60
WITHIN_AN_EVENT = 0.5


@dataclass
class Flips:
    """What came of the flipped bits."""

    flips: int = 0
    whole: int = 0
    """How often nothing was missing, with a word or without."""

    told: int = 0
    lost: int = 0
    """How many events were missing, all told."""

    believed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def evening(folder: Path) -> Path:
    """Plays an evening; gives its log."""
    store = Store.open(store_path(folder), clock=lambda: 1.7e9)
    match = Match(store)
    match.start(["side Ann", "side Bob", "hand first Ann"])
    match.enter("Ann roll", "Ann")
    back_up(store.path)
    for number in range(PLAYS):
        player = ("Bob", "Ann")[number % 2]
        match.enter(f"{player} discard {(25, 50, 75, 100)[number % 4]}", player)
    store.close()
    return store.path


def tally(path: Path, times: int, *, seed: int = 0) -> Flips:
    """Flips so many single bits of a log, each in a folder of its own."""
    chance, flips = random.Random(seed), Flips()
    whole, file = look(path), path.read_bytes()
    places = [at for *_, body in whole for at in _within(file, body.encode())]
    for _ in range(times):
        at = chance.choice(places) if chance.random() < WITHIN_AN_EVENT else chance.randrange(len(file))
        bit = 1 << chance.randrange(8)
        with tempfile.TemporaryDirectory(prefix="flips-") as folder:
            home = Path(folder) / "data"
            shutil.copytree(path.parent, home)
            flipped = bytearray(file)
            flipped[at] ^= bit
            store_path(home).write_bytes(flipped)
            flips.flips += 1
            _look(store_path(home), whole, flips, f"byte {at}, bit {bit:#04x}")
    return flips


def _within(file: bytes, body: bytes) -> range:
    at = file.find(body)
    return range(at, at + len(body)) if at >= 0 else range(0)


def _look(path: Path, whole: tuple[object, ...], flips: Flips, where: str) -> None:
    try:
        store = Store.open(path)
        Match(store)
    except Exception as error:
        flips.failed.append(f"{where}: it does not start: {type(error).__name__}: {error}")
        return
    note, unsaved = store.note, store.unsaved
    store.close()
    rows = look(path)
    flips.told += note is not None
    flips.whole += rows == whole
    flips.lost += len(whole) - len(rows)
    if unsaved is not None:
        flips.failed.append(f"{where}: {unsaved}")
    elif not set(rows) <= set(whole) or (rows != whole and note is None):
        flips.believed.append(where)


def main() -> int:
    """Flips as often as the command says; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="evening-") as folder:
        done = tally(evening(Path(folder)), asked.times, seed=asked.seed)
    print(*done.believed, *done.failed, sep="\n", end="\n" if done.believed or done.failed else "")
    print(
        f"{done.flips} flipped bits: {len(done.believed)} believed, {len(done.failed)} kept it from starting; "
        f"{done.told} told, {done.whole} times nothing was missing, {done.lost} events missing and said in the others. "
        f"Seed {asked.seed}."
    )
    return bool(done.believed or done.failed)


if __name__ == "__main__":
    sys.exit(main())

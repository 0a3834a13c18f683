"""Simulate power cuts at random moments: is anything acknowledged lost?

`PYTHONPATH=tests:. python tests/trust/power_cuts.py --times 500`

A match is played on the real log, with the phones' party and the cookie key. It starts in an empty folder and includes
copies and restarts. All writes below SQLite are recorded (`disk.py`). After a simulated cut the folder gets a possible
content of the disk, and the real `Store.open` opens it. It must open, contain every acknowledged event unchanged and no
incomplete group, and give the state that was shown. The party must be the last acknowledged one or a later one.

`--careless` omits a sync (`off`, `normal`: SQLite's; `file`, `folder`: those of small files). Losses must then be
found, or the cuts prove nothing.
"""

import contextlib
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from logs import frozen
from trust import deeds
from trust.disk import Disk, Recorder
from trust.fuzzing import arguments
from trust.kills import Broken, check

from companion.common.errors import Problem
from companion.match import phones as party_of
from companion.match.match import Match
from companion.match.phones import Party, Phones
from companion.pages.players import phone_identity
from companion.storage import data_folder, database
from companion.storage.backups import back_up
from companion.storage.data_folder import data_dir, store_path
from companion.storage.event_store import Event, NewEvent, Store

CUTS_A_RUN = 25
DEEDS_A_RUN = (10, 40, 150)
OLD_LOG = 0.3  # share of runs that begin with a log of an older version
CARELESS = ("off", "normal", "file", "folder")
MADE_UP = """
    CREATE TABLE made_up (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL) STRICT;
    INSERT INTO made_up SELECT seq, kind FROM event;
"""


@dataclass
class Truth:
    """What really happened in a run."""

    events: list[Event] = field(default_factory=list)
    ends: set[int] = field(default_factory=lambda: {0})  # numbers of events at the ends of transactions
    states: dict[int, deeds.MatchState] = field(default_factory=dict)
    parties: list[Party] = field(default_factory=lambda: [Party()])
    keys: list[bytes] = field(default_factory=list)
    old: int = 0  # number of events written by an older version


@dataclass(frozen=True)
class Acknowledged:
    """What was acknowledged at a moment."""

    events: int
    parties: int
    keys: int


class Run:
    def __init__(self, home: Path, chance: random.Random, careless: str | None) -> None:
        self._folder, self._chance, self._careless = home / "family" / "data", chance, careless
        self.truth = Truth()
        if chance.random() < OLD_LOG:
            self._have_been_there()
        with Recorder(home) as self.recorder, _carelessly(careless):
            self._begin()
            try:
                self._play()
            finally:
                self._store.close()

    def _have_been_there(self) -> None:
        self._folder.mkdir(parents=True)
        frozen(1, self._folder)
        with tempfile.TemporaryDirectory() as copy, contextlib.closing(Store.open(frozen(1, Path(copy)))) as store:
            self.truth.events += sorted(
                (e for match in store.matches() for e in store.events(match)), key=lambda e: e.seq
            )
        self.truth.old = len(self.truth.events)
        self.truth.ends = {self.truth.old}

    def _begin(self) -> None:
        self._promise()
        folder = data_dir(self._folder)
        self._store = Store.open(store_path(folder), clock=lambda: self._chance.choice((0.0, 4.1e9, 1.8e9)))
        if self._careless in ("off", "normal"):
            self._store._db.execute(f"PRAGMA synchronous = {self._careless}")
        self._note_what_is_written()
        self._deeds = deeds.Deeds(Match(self._store), self._chance)
        self._phones = Phones(folder)
        self.truth.keys = [phone_identity.load_secret(folder)]
        self._promise()

    def _note_what_is_written(self) -> None:
        append = self._store.append

        def noted(*args: Any, **more: Any) -> tuple[Event, ...]:
            # Note it before returning: a cut may come after the write and before the acknowledgment.
            written = append(*args, **more)
            self.truth.events += written
            self.truth.ends.add(len(self.truth.events))
            return written

        self._store.append = noted

    def _play(self) -> None:
        for _ in range(self._chance.choice(DEEDS_A_RUN)):
            dice = self._chance.random()
            if dice < 0.15:
                self._move_somebody()
            elif dice < 0.18:
                self._store.close()
                self._begin()
            elif dice < 0.2:
                back_up(self._store.path)
            else:
                self._deeds.do_something()
            self.truth.states[len(self.truth.events)] = self._deeds.match.state
            self._promise()

    def _move_somebody(self) -> None:
        phone = f"phone-{self._chance.randrange(4)}"
        player = self._chance.choice(("Ann", "Bob", "Cid", "Dee"))
        if self._chance.random() < 0.5:
            self._phones.sit(phone, player, by=phone)
        elif self._chance.random() < 0.5:
            self._phones.make_host(phone, by=phone)
        else:
            self._phones.stand_up(phone, watches=self._chance.random() < 0.5)
        self.truth.parties.append(self._phones.party)

    def _promise(self) -> None:
        truth = self.truth
        self.recorder.promise(Acknowledged(len(truth.events), len(truth.parties) - 1, len(truth.keys)))


def _carelessly(careless: str | None) -> contextlib.AbstractContextManager[object]:
    """Omit a sync of the small files inside the context."""
    real = os.fsync
    if careless == "file":
        return patch.object(os, "fsync", lambda fd: real(fd) if Path(f"/proc/self/fd/{fd}").is_dir() else None)
    if careless == "folder":
        return patch.object(data_folder, "sync_folder", lambda folder: None)
    return contextlib.nullcontext()


# --- After a cut ----------------------------------------------------------------------------------------------


def cut(run: Run, times: int, home: Path, chance: random.Random) -> Iterator[str | None]:
    """Cut the power of a run at this many moments; yield each loss, None if there was none."""
    ops = run.recorder.ops
    moments = sorted(chance.randint(run.recorder.began, len(ops)) for _ in range(times))
    disk, told, done = Disk(), Acknowledged(0, 0, 0), 0
    for number, moment in enumerate(moments):
        for op in ops[done:moment]:
            told = op.value if op.what == "promise" else told
            disk.take_in(op)
        done = moment
        found = home / f"cut-{number}"
        _lay_out(found, disk, chance)
        yield _loss(found, run.truth, told)
        shutil.rmtree(found)


def _lay_out(home: Path, disk: Disk, chance: random.Random) -> None:
    home.mkdir()
    after = disk.after_cut(chance)
    for name, content in sorted(after.items(), key=lambda item: item[0].count("/")):
        if content is None:
            (home / name).mkdir()
        else:
            (home / name).write_bytes(content)


def _loss(home: Path, truth: Truth, told: Acknowledged) -> str | None:
    try:
        _look(home, truth, told)
    except Broken as lost:
        return str(lost)
    except (sqlite3.Error, Problem) as error:
        return f"the log cannot be used: {error}"
    return None


def _look(home: Path, truth: Truth, told: Acknowledged) -> None:
    """Open the folder as the service does, and compare. Raises Broken."""
    folder = data_dir(home / "family" / "data")
    _look_at_copies(folder)
    try:
        store = Store.open(store_path(folder))
    except Problem as problem:
        raise Broken(f"the log does not open: {problem}") from problem
    try:
        check(store.note is None, f"the log had to be mended: {store.note and store.note.sentence}")
        _look_at_log(store, truth, told)
        _look_at_party(folder, truth, told)
        _go_on(store)
    finally:
        store.close()


def _look_at_copies(folder: Path) -> None:
    """Check that copies of the log, such as backups, are complete."""
    for path in folder.rglob("*.sqlite3"):
        if path != store_path(folder):
            db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            with contextlib.closing(db):
                check(db.execute("PRAGMA quick_check").fetchone() == ("ok",), f"{path.name} is damaged")


def _look_at_log(store: Store, truth: Truth, told: Acknowledged) -> None:
    (migrated,) = store._db.execute("SELECT count(*) FROM made_up").fetchone()
    check(migrated == truth.old, f"{migrated} of {truth.old} events were brought up to date")
    found = [event for match in store.matches() for event in store.events(match)]
    found.sort(key=lambda event: event.seq)
    count = len(found)
    check(count >= told.events, f"{told.events} events were acknowledged, {count} are there")
    # An unacknowledged write may have survived.
    check(found == truth.events[:count], "the events are not those that were written")
    check(count in truth.ends, "events that belong together are there by half")
    match = Match(store)
    if count in truth.states:
        differing = deeds.same(match.state, truth.states[count])
        check(not differing, f"the log comes to another state: {', '.join(differing)}")


def _look_at_party(folder: Path, truth: Truth, told: Acknowledged) -> None:
    path = folder / party_of.KEPT_NAME
    if not path.exists():
        check(told.parties == 0, "the party is gone")
    else:
        kept = Phones(folder).party
        check(kept in truth.parties[max(1, told.parties) :], f"the party is {kept}")
    if told.keys:
        check(phone_identity.load_secret(folder) in truth.keys, "the key of the cookies is another")


def _go_on(store: Store) -> None:
    """Check that the match can be continued and new plays are saved."""
    written = store.append(None, NewEvent("setup", {"lines": []}))
    check(store.events(written[0].match) == written, "what is written now is not there")


# --- All of them ----------------------------------------------------------------------------------------------


@dataclass
class Tallied:
    cuts: int = 0
    runs: int = 0
    events: int = 0
    syncs: int = 0
    lost: list[str] = field(default_factory=list)


def cut_and_look(times: int, *, seed: int = 0, careless: str | None = None, first: bool = False) -> Tallied:
    """Cut this many times, in as many runs as needed; `first` stops at the first loss."""
    tallied = Tallied()
    while tallied.cuts < times and not (first and tallied.lost):
        chance = random.Random(f"{seed}:{tallied.runs}")
        with tempfile.TemporaryDirectory(prefix="power-") as temporary:
            home = Path(temporary)
            (home / "disk").mkdir()
            # An additional made-up migration makes older logs.
            with patch.object(database, "MIGRATIONS", (*database.MIGRATIONS, MADE_UP)):
                run = Run(home / "disk", chance, careless)
                for lost in cut(run, min(CUTS_A_RUN, times - tallied.cuts), home, chance):
                    tallied.cuts += 1
                    tallied.lost += [f"run {tallied.runs}, cut {tallied.cuts}: {lost}"] if lost else []
        tallied.runs += 1
        tallied.events += len(run.truth.events)
        tallied.syncs += run.recorder.syncs
    return tallied


def main() -> int:
    asked = arguments(__doc__, "times", 500, careless=("", *CARELESS))
    began_s = time.monotonic()
    done = cut_and_look(asked.times, seed=asked.seed, careless=asked.careless)
    took_s = time.monotonic() - began_s
    for lost in done.lost[:20]:
        print(lost)
    print(
        f"{done.cuts} power cuts in {done.runs} runs of {done.events} events and {done.syncs} syncs: "
        f"{len(done.lost)} lost something acknowledged, or could not be opened. "
        f"{done.cuts / took_s:.0f} cuts a second, seed {asked.seed}."
    )
    return bool(done.lost) != bool(asked.careless)


if __name__ == "__main__":
    sys.exit(main())

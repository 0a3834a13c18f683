"""Kill the service at random moments while phones tap: is anything acknowledged lost?

`PYTHONPATH=tests:. python tests/trust/kills.py --times 1000`

The real service with its web server runs in a process of its own (`served.py`). Phones send HTTP requests as pages and
scripts do, all at once. Each answer is recorded with its promises. After each kill the service starts again in the same
folder, and these must hold:

* Every acknowledged event is in the log, with its number and content. Numbers have no gap, earlier events are
  unchanged, and other events were requested just before the kill. No group of events is incomplete.
* Every phone has its identity and seat, the host is the same, and the join link is unchanged.

The seed determines the taps and the times of the kills; the progress of the service depends on the machine. `--keep
FOLDER` keeps the data there.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from trust.fuzzing import arguments
from trust.real_service import ROOT, wait_until
from trust.served import digest

from companion.match.phones import KEPT_NAME
from companion.pages.players import phone_identity
from companion.storage.data_folder import KEY_NAME, store_path
from companion.storage.recovery import NOTE_NAME

PATIENCE_S = 60.0
LONGEST_PLAY_S = 0.7
LONGEST_SHUTDOWN_S = 0.15
FRESH_FOLDER, AT_START, AT_SHUTDOWN = 0.08, 0.2, 0.15
"""Shares of rounds that use a new folder, kill the service before it is ready, or kill it during shutdown."""

MOST_LINES = 90  # then a new match begins, because every tap judges the whole match
MOST_EVENTS_A_TAP = 4
CARDS = ("25", "50", "75", "100", "200", "roll", "stop", "speed-limit", "end-of-limit", "gasoline", "driving-ace")


class Broken(AssertionError):
    """Something acknowledged was lost."""


def check(holds: bool, sentence: str) -> None:
    """Raise Broken with a sentence unless a condition holds."""
    if not holds:
        raise Broken(sentence)


# --- What was promised ----------------------------------------------------------------------------------------


@dataclass
class Ledger:
    """The answers that the phones got in one round."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    wrote: dict[int, str] = field(default_factory=dict)  # digests of acknowledged events by number
    party: tuple[int, dict[str, Any]] | None = None  # last acknowledged party
    open: dict[int, str] = field(default_factory=dict)  # requests without an answer yet
    answered: int = 0
    faults: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def asks(self, path: str) -> int:
        with self.lock:
            number = next(self.numbers)
            self.open[number] = path
            return number

    def is_told(self, number: int, status: int, headers: http.client.HTTPMessage) -> None:
        with self.lock:
            path = self.open.pop(number)
            self.answered += 1
            if status >= 500:
                self.faults.append(f"{path}: {status}")
            for wrote in filter(None, headers.get("X-Wrote", "").split(",")):
                seq, _, mark = wrote.partition(":")
                self.wrote[int(seq)] = mark
            if "X-Party" in headers:
                times, party = json.loads(headers["X-Party"])
                if self.party is None or times >= self.party[0]:
                    self.party = (times, party)


# --- The service ----------------------------------------------------------------------------------------------


class Nest:
    """Forks services from a process that has imported everything."""

    def __init__(self) -> None:
        environ = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        environ |= {"PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{ROOT}"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "trust.served"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=ROOT, env={**os.environ, **environ},
        )  # fmt: skip
        self._lock = threading.Lock()

    def start(self, folder: Path, out: Path) -> int:
        with self._lock:
            self._process.stdin.write(f"{folder}\t{out}\n")
            self._process.stdin.flush()
            return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(PATIENCE_S)
        self._process.stdout.close()


class Service:
    def __init__(self, folder: Path, nest: Nest) -> None:
        self._out = folder.with_suffix(".out")
        self._out.write_bytes(b"")
        self.pid = nest.start(folder, self._out)

    def port(self) -> int:
        """Wait for the start and return the port. Raises Broken if it fails."""
        ready = re.compile(r"http://localhost:(\d+)")
        wait_until(lambda: ready.search(self.said()) or not self.runs(), PATIENCE_S, 0.003)
        found = ready.search(self.said())
        check(found is not None, f"the service does not start, or is not ready after {PATIENCE_S} s: {self.said()}")
        return int(found[1])

    def said(self) -> str:
        return self._out.read_text(errors="replace")

    def runs(self) -> bool:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, 0)
            return True
        return False

    def send(self, which: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, which)

    def kill(self) -> None:
        """Kill the service and wait for its end, which releases its lock."""
        self.send(signal.SIGKILL)
        wait_until(lambda: not self.runs(), PATIENCE_S, 0.001)


# --- The phones -----------------------------------------------------------------------------------------------


class Phone:
    """A phone that keeps its cookies over kills and taps while it is answered."""

    def __init__(self, number: int, chance: random.Random) -> None:
        self.number = number
        self.chance = chance
        self.cookies: dict[str, str] = {}
        self.known: list[Any] = [None, None, False]
        """Its number at the service, its seat, and True if it is host."""

        self._line: http.client.HTTPConnection | None = None
        self._ledger, self._port = Ledger(), 0

    def call(self, port: int, ledger: Ledger) -> None:
        """Set the service's port and the ledger that records the answers."""
        self.hang_up()
        self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        self._ledger, self._port = ledger, port

    def hang_up(self) -> None:
        if self._line is not None:
            self._line.close()

    def ask(self, path: str, fields: dict[str, Any] | None = None, *, as_json: bool = False) -> tuple[int, Any]:
        """Get a page, or tap with `fields`; return status and content. Raises OSError if no answer comes."""
        number = self._ledger.asks("" if fields is None else path)
        try:
            self._send(path, fields, as_json)
            response = self._line.getresponse()
            # The headers have arrived: the promise counts even if the rest is cut off.
            self._ledger.is_told(number, response.status, response.headers)
            self._remember(response.headers)
            said = response.read().decode()
        except http.client.HTTPException as error:
            raise ConnectionError from error
        return response.status, json.loads(said) if response.headers.get_content_subtype() == "json" else said

    def _send(self, path: str, fields: dict[str, Any] | None, as_json: bool) -> None:
        headers = {"Origin": f"http://127.0.0.1:{self._port}"}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if fields is None:
            self._line.request("GET", path, headers=headers)
            return
        headers["Content-Type"] = "application/json" if as_json else "application/x-www-form-urlencoded"
        self._line.request("POST", path, json.dumps(fields) if as_json else urlencode(fields), headers)

    def _remember(self, headers: http.client.HTTPMessage) -> None:
        for cookie in headers.get_all("Set-Cookie", ()):
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        if "X-Phone" in headers:
            self.known = json.loads(headers["X-Phone"])

    def tap_until_nobody_answers(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                _, now = self.ask("/api/state")
                for _ in range(3):
                    _act(self, now)


def _act(phone: Phone, now: dict[str, Any]) -> None:
    """Make a random tap, as a page or a script sends it."""
    chance = phone.chance
    if now["match"] is None or len(now["log"]) > MOST_LINES or chance.random() < 0.004:
        _begin(phone)
        return
    if now["table"]["to_move"] is None and chance.random() < 0.5:
        phone.ask("/hand", {})
        return
    kinds: dict[Callable[[Phone, dict[str, Any]], None], int] = {
        _play: 18, _settle: 4, _change: 4, _take_back: 4, _name: 2, _move: 3, _set: 1, _look: 1,
    }  # fmt: skip
    (act,) = chance.choices(list(kinds), kinds.values())
    act(phone, now)


def _begin(phone: Phone) -> None:
    seating = phone.chance.choice(("2x1", "3x1", "4x2"))
    names = {f"name{seat}": name for seat, name in enumerate(("Ann", "Bob", "Cid", "Dee"), start=1)}
    verify = {"verify": "yes"} if phone.chance.random() < 0.2 else {}
    phone.ask("/setup", {"edition": "classic", "seating": seating, "replace": "1", **names, **verify})


def _text(phone: Phone, now: dict[str, Any]) -> str:
    """Return a play, legal or not, usually of the player to move."""
    chance, table = phone.chance, now["table"]
    player = table["to_move"] if chance.random() < 0.9 and table["to_move"] else chance.choice(list(now["names"]))
    card = chance.choice(CARDS)
    if chance.random() < 0.03:
        return "end"
    if chance.random() < 0.5:
        return f"{player} discard {card}"
    others = [side for side in table["sides"] if player not in side]
    return f"{player} {card} > {chance.choice(others)}" if card in ("stop", "speed-limit") else f"{player} {card}"


def _play(phone: Phone, now: dict[str, Any]) -> None:
    if phone.chance.random() < 0.55:
        phone.ask("/api/plays", {"text": _text(phone, now), "anyway": phone.chance.random() < 0.4}, as_json=True)
    else:
        phone.ask("/play", {"text": _text(phone, now)})


def _settle(phone: Phone, now: dict[str, Any]) -> None:
    if not now["questions"]:
        return
    asked = phone.chance.choice(now["questions"])["id"]
    fields = phone.chance.choice(
        ({"answer": "yes", "anyway": "1"}, {"answer": "yes"}, {"answer": "no"}, {"text": _text(phone, now)})
    )
    phone.ask(f"/question/{asked}", fields)


def _change(phone: Phone, now: dict[str, Any]) -> None:
    """Change or remove a line, let it count anyway, or insert one before it."""
    if now["log"]:
        seq = phone.chance.choice(now["log"][-12:])["seq"]
        deed = phone.chance.choice(("correct", "correct", "before", "retract", "stand"))
        phone.ask(f"/line/{seq}/{deed}", {"text": _text(phone, now), "anyway": "1"})


def _take_back(phone: Phone, _now: dict[str, Any]) -> None:
    path = phone.chance.choice(("/undo", "/redo", "/api/undo"))
    phone.ask(path, {}, as_json=path == "/api/undo")


def _name(phone: Phone, now: dict[str, Any]) -> None:
    player = phone.chance.choice(list(now["names"]))
    phone.ask("/join", {"player": player, "name": f"{player[0]}{phone.number}.{phone.chance.randrange(10**9)}"})


def _move(phone: Phone, now: dict[str, Any]) -> None:
    player = phone.chance.choice(list(now["names"]))
    path, fields = phone.chance.choice((
        ("/join", {"player": player}), ("/join", {"player": player, "take": "1"}), ("/join", {"everybody": "1"}),
        ("/join", {}), ("/seats/host/take", {}), ("/seats/host", {"phone": str(phone.known[0])}),
        ("/seats/give", {"phone": str(phone.known[0]), "player": player}), ("/seats/free", {"player": player}),
    ))  # fmt: skip
    phone.ask(path, fields)


def _set(phone: Phone, _now: dict[str, Any]) -> None:
    chance = phone.chance
    path, field_name, *values = chance.choice((
        ("/policy", "policy", "tap", "play-on", "auto"), ("/verify", "verify", "no", "no", "yes"),
        ("/phone", "theme", "light", "dark", "auto"),
    ))  # fmt: skip
    phone.ask(path, {field_name: chance.choice(values)})


def _look(phone: Phone, _now: dict[str, Any]) -> None:
    phone.ask(phone.chance.choice(("/", "/score", "/seats", "/past", "/export.mbn")))


# --- Checks after a kill --------------------------------------------------------------------------------------


class Log:
    """The known content of a folder's log, for comparison."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.marks: list[str] = []  # digests of all events in order

    def rows(self) -> list[tuple[int, int, str, dict[str, Any]]]:
        db = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)
        with contextlib.closing(db):
            found = db.execute("SELECT seq, match, kind, body FROM event ORDER BY seq")
            return [(seq, match, kind, json.loads(body)) for seq, match, kind, body in found]

    def take_in(self, ledger: Ledger) -> int:
        """Check the log and its new events; return the number of new events. Raises Broken."""
        rows, before = self.rows(), len(self.marks)
        check([row[0] for row in rows] == list(range(1, len(rows) + 1)), "the numbers have a gap")
        marks = [digest(match, kind, body) for _, match, kind, body in rows]
        check(marks[:before] == self.marks, "what was in the log has changed")
        found = dict(enumerate(marks[before:], start=before + 1))
        lost = {seq: mark for seq, mark in ledger.wrote.items() if found.get(seq) != mark}
        check(not lost, f"acknowledged and not there, or otherwise: {sorted(lost)} of {len(rows)}")
        unasked = len(found) - len(ledger.wrote)
        asking = sum(bool(path) for path in ledger.open.values())
        check(unasked <= MOST_EVENTS_A_TAP * asking, f"{unasked} events that nobody was waiting for ({asking} were)")
        _check_groups(rows[before:])
        self.marks = marks
        return len(found)


def _check_groups(rows: list[tuple[int, int, str, dict[str, Any]]]) -> None:
    """Check that groups of events are complete: a match with its first hand and settings, a name with its seat."""
    for place, (seq, match, kind, body) in enumerate(rows):
        if kind == "setup":
            following = [(row[1], row[2]) for row in rows[place + 1 : place + 3]]
            check(match == seq and following == [(seq, "line"), (seq, "setting")], f"match {seq} is there by half")
        elif kind == "line" and body["text"].startswith("player "):
            check(rows[place - 1][2] == "seat" and rows[place - 1][1] == match, f"name {seq} is there without its seat")


def check_party(path: Path, ledger: Ledger, before: dict[str, Any]) -> dict[str, Any]:
    """Check and return the saved party; `before` is the party at the start of the service."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError as error:
        raise Broken(f"{path.name} is torn") from error
    party = {"host": kept.get("host"), "seats": kept.get("seats", {}), "watching": sorted(kept.get("watching", ()))}
    told = ledger.party[1] if ledger.party else before
    moving = [path for path in ledger.open.values() if path.startswith(("/join", "/seats"))]
    check(party == told or bool(moving), f"the party is {party}, and {told} was acknowledged")
    changed = sum(
        party["seats"].get(player) != told["seats"].get(player) for player in {*party["seats"], *told["seats"]}
    )
    check(changed <= 2 * len(moving), f"{changed} seats changed hands, and {len(moving)} phones were moving")
    return party


# --- A table that is killed repeatedly ------------------------------------------------------------------------


NOBODY: dict[str, Any] = {"host": None, "seats": {}, "watching": []}


class Table:
    """The phones of one table, with one data folder after another."""

    def __init__(self, home: Path, nest: Nest, phones: int, seed: str) -> None:
        self._home, self._nest, self._how_many = home, nest, phones
        home.mkdir(parents=True)
        self.chance = random.Random(seed)
        self.tallied = Counter[str]()  # results of the kills
        self._ready_s = 0.5
        self._move_in()

    def _move_in(self) -> None:
        self.tallied["folders"] += 1
        self.folder = self._home / f"data-{self.tallied['folders']}"
        self._log = Log(store_path(self.folder))
        self._phones = [Phone(n, random.Random(self.chance.random())) for n in range(self._how_many)]
        self._ledger, self._party, self._token = Ledger(), NOBODY, None

    def round(self) -> None:
        if self.chance.random() < FRESH_FOLDER:
            self.close()
            self._move_in()
        began_s = time.monotonic()
        service = Service(self.folder, self._nest)
        try:
            if self.chance.random() < AT_START:
                self.tallied["at_start"] += 1
                time.sleep(self.chance.uniform(0, 1.2 * self._ready_s))
            else:
                port = service.port()
                self._ready_s += 0.2 * (time.monotonic() - began_s - self._ready_s)
                self._check(port, service)
                self._play(port, service)
        finally:
            service.kill()
        self.tallied["kills"] += 1
        for phone in self._phones:
            phone.hang_up()

    def _play(self, port: int, service: Service) -> None:
        self._ledger = Ledger(party=(0, self._party))
        threads = [threading.Thread(target=self._tap, args=(phone, port)) for phone in self._phones]
        for thread in threads:
            thread.start()
        time.sleep(self.chance.uniform(0, LONGEST_PLAY_S))
        if self.chance.random() < AT_SHUTDOWN:
            self.tallied["at_shutdown"] += 1
            service.send(self.chance.choice((signal.SIGTERM, signal.SIGINT)))
            time.sleep(self.chance.uniform(0, LONGEST_SHUTDOWN_S))
        service.kill()
        for thread in threads:
            thread.join(PATIENCE_S)
        self.tallied["answers"] += self._ledger.answered
        check(not self._ledger.faults, f"the service failed: {self._ledger.faults}")

    def _tap(self, phone: Phone, port: int) -> None:
        phone.call(port, self._ledger)
        phone.tap_until_nobody_answers()

    # After a kill

    def _check(self, port: int, service: Service) -> None:
        check("Traceback" not in service.said(), service.said())
        check(not (self.folder / NOTE_NAME).exists(), "a log that was only killed was taken for damaged")
        self.tallied["events"] += self._log.take_in(self._ledger)
        self._party = check_party(self.folder / KEPT_NAME, self._ledger, self._party)
        self._ledger = Ledger(party=(0, self._party))
        token = phone_identity.join_token((self.folder / KEY_NAME).read_bytes())
        check(self._token in (None, token), "the join link is another")
        self._token = token
        self._check_phones(port)

    def _check_phones(self, port: int) -> None:
        for phone in self._phones:
            before = phone.known[0]
            phone.call(port, self._ledger)
            if "companion" not in phone.cookies:
                phone.ask(f"/join?t={self._token}")
            _, shown = phone.ask("/api/state")
            who, seat, is_host = phone.known
            check(before in (None, who), f"phone {before} is taken for {who}")
            sits = {player for player, whose in self._party["seats"].items() if whose == who}
            check(who is None or {seat} - {None} <= sits, f"phone {who} sits at {seat}, kept is {self._party}")
            check(who is None or seat is not None or not sits & set(shown["names"]), f"phone {who} has lost {sits}")
            check(is_host == (who is not None and who == self._party["host"]), f"phone {who}: host {is_host}")

    def close(self) -> None:
        service = Service(self.folder, self._nest)
        try:
            self._check(service.port(), service)
        finally:
            service.kill()
            for phone in self._phones:
                phone.hang_up()


# --- All of them ----------------------------------------------------------------------------------------------


def kill_and_look(times: int, *, seed: int = 0, phones: int = 4, jobs: int = 2, home: Path) -> Counter[str]:
    """Kill services this many times, at `jobs` tables in parallel. Raises Broken at the first loss."""
    nest, over = Nest(), threading.Event()

    def kill(table: Table, share: int) -> None:
        try:
            for _ in range(share):
                if over.is_set():
                    return
                table.round()
            table.close()
        except BaseException as error:
            over.set()
            error.add_note(f"in {table.folder}, after {table.tallied['kills']} kills")
            raise

    try:
        tables = [Table(home / f"table-{job}", nest, phones, f"{seed}:{job}") for job in range(jobs)]
        with ThreadPoolExecutor(jobs) as threads:
            list(threads.map(kill, tables, [times // jobs + (job < times % jobs) for job in range(jobs)]))
    finally:
        nest.close()
    return sum((table.tallied for table in tables), Counter())


def main() -> int:
    asked = arguments(__doc__, "times", 1000, phones=4, jobs=2, keep="")
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kills-") as temporary:
        try:
            home = Path(asked.keep or temporary)
            done = kill_and_look(asked.times, seed=asked.seed, phones=asked.phones, jobs=asked.jobs, home=home)
        except Broken as broken:
            print(f"BROKEN with --seed {asked.seed}: {broken} ({'; '.join(broken.__notes__)})")
            return 1
    minutes = (time.monotonic() - began_s) / 60
    print(
        f"{done['kills']} kills ({done['at_start']} while it started, {done['at_shutdown']} while it stopped) in"
        f" {done['folders']} folders: {done['answers']} answers, {done['events']} events;"
        f" nothing acknowledged was lost. {done['kills'] / minutes:.0f} kills a minute, seed {asked.seed}."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

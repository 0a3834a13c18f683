"""Push the logs of many tables to a club while processes and connections fail: is an event lost or duplicated?

`PYTHONPATH=tests:. python tests/trust/club.py --tables 200 --minutes 180 --pace 10`

Two club processes share a real PostgreSQL behind a proxy. It cuts connections, repeats requests late and out of order,
and sometimes lets nothing through. The tables run the real log and outbox in processes that are killed. They play
recorded hands at `--pace` times human speed.

At the end every log must equal the club's copy byte for byte, and the derived tables must equal a rebuild. Each hand
begins with a secret key, as in a match without cards; the database must contain none of them.

Without PostgreSQL the script prints that it cannot run.
"""

import json
import multiprocessing
import os
import random
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

import club_database
from trust.fuzzing import arguments
from trust.real_service import PROGRAM, asked, free_port, size_of, wait_until

from companion.club.batch import without_deal_key
from companion.club.outbox import Address, Outbox
from companion.simulate.players import TWO_PLAYERS, random_script
from companion.storage.data_folder import store_path
from companion.storage.event_store import NewEvent, Store
from companion.storage.events import checksum

A_PLAY_S = 8.0
"""Time of a play at human speed, in seconds."""

TABLES_A_PROCESS = 25
DRAIN_S = 60.0
NAMES = ("cut", "postgres", "club killed", "tables killed")


class Broken(AssertionError):
    """An event was lost, duplicated or changed."""


# --- The tables -----------------------------------------------------------------------------------------------


def plays(seed: int, hands: int = 3) -> list[str]:
    script = random_script("classic", teams=TWO_PLAYERS, hands=hands, seed=seed)
    lines = ["edition classic", *(f"side {team.name}" for team in script.teams)]
    for hand in script.hands:
        lines += [f"hand first {hand.first}", *(str(action.play) for action in hand.actions if not action.taken_back)]
    return lines


@dataclass
class Table:
    """A table that plays matches without a break."""

    store: Store
    outbox: Outbox
    lines: list[str]
    at: int
    due_s: float
    written: list[tuple[int, float]] = field(default_factory=list)
    """Events that are not acknowledged yet, with the time of writing."""

    def play(self) -> None:
        place = self.at % len(self.lines)
        if place == 0:
            (event,) = self.store.append(None, NewEvent("setup", {"lines": self.lines[:3]}))
        else:
            begins = {"deal": secrets.token_hex(16)} if self.lines[place].startswith("hand first") else {}
            line = NewEvent("line", {"text": self.lines[place], "by": "Ann", "source": "phone", **begins})
            (event,) = self.store.append(self.store.matches()[-1], line)
        self.at += 1 if place else 3
        self.written.append((event.seq, time.monotonic()))


def play_on(folder: Path, numbers: range, url: str, pace: float, until_s: float) -> None:
    """Play at some tables in this process until `until_s`, then send the rest."""
    chance = random.Random(numbers.start)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tables = [_table(folder / f"{number}", number, url, chance, pace) for number in numbers]
    lags = (folder / f"lags-{numbers.start}-{time.monotonic_ns()}.txt").open("w", buffering=1)
    while (now_s := time.monotonic()) < until_s + DRAIN_S:
        for table in tables:
            if table.due_s <= now_s < until_s:
                table.play()
                table.due_s = now_s + chance.uniform(0.3, 1.7) * A_PLAY_S / pace
            has = table.outbox._delivery.acknowledged or 0
            while table.written and table.written[0][0] <= has:
                _, written_s = table.written.pop(0)
                lags.write(f"{written_s:.3f} {time.monotonic():.3f}\n")
        if now_s >= until_s and not any(table.outbox.behind or table.written for table in tables):
            break
        time.sleep(0.05)
    for table in tables:
        table.outbox.stop()
        table.store.close()


def _table(folder: Path, number: int, url: str, chance: random.Random, pace: float) -> Table:
    folder.mkdir(exist_ok=True)
    store = Store.open(store_path(folder))
    outbox = Outbox(store, Address(url, f"Table {number}"))
    outbox.start()
    lines = plays(number % 8)
    past = sum(len(store.events(match)) + 2 for match in store.matches())
    return Table(store, outbox, lines, past, time.monotonic() + chance.uniform(0, A_PLAY_S / pace))


# --- The line -------------------------------------------------------------------------------------------------


class Line:
    """A proxy for all club processes that may cut connections or repeat requests."""

    def __init__(self, ports: list[int], chance: random.Random) -> None:
        self.ports, self.is_cut = ports, False
        self.cuts = self.repeated = 0
        self._chance, self._kept = chance, []
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            with suppress(OSError):
                line, _ = self._listening.accept()
                threading.Thread(target=self._pass_on, args=(line,), daemon=True).start()

    def _pass_on(self, table: socket.socket) -> None:
        with table, suppress(OSError):
            table.settimeout(10)
            if self.is_cut:
                return
            request, fate = _whole(table), self._chance.random()
            if fate < 0.02:
                self.cuts += 1
                return
            if fate > 0.95:
                self._kept.append(request)
            answer = self.send(request[: len(request) // 2] if fate < 0.03 else request)
            if 0.03 < fate < 0.05:
                self.cuts += 1  # The club has stored the batch, but the table gets no answer.
                return
            table.sendall(answer)
        if len(self._kept) > 40:
            self.repeated += 1
            with suppress(OSError):
                self.send(self._kept.pop(self._chance.randrange(len(self._kept))))

    def send(self, request: bytes) -> bytes:
        """Send a request to a running club process; return the answer."""
        for port in self._chance.sample(self.ports, len(self.ports)):
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), 10) as club:
                club.sendall(request)
                club.shutdown(socket.SHUT_WR)
                return b"".join(iter(lambda: club.recv(65536), b""))
        raise ConnectionRefusedError


def _whole(line: socket.socket) -> bytes:
    sent = b""
    while b"\r\n\r\n" not in sent:
        sent += (more := line.recv(65536))
        if not more:
            return sent
    head, _, body = sent.partition(b"\r\n\r\n")
    length = next((int(one.split(b":")[1]) for one in head.split(b"\r\n") if one.lower().startswith(b"content-len")), 0)
    while len(body) < length and (more := line.recv(65536)):
        body += more
    return head + b"\r\n\r\n" + body


# --- The clubs ------------------------------------------------------------------------------------------------


def answers(port: int) -> bool:
    with suppress(OSError):
        return asked(port, "/health")[0] == 200
    return False


class Clubs:
    def __init__(self, url: str, count: int, said: Path) -> None:
        self.ports = [free_port() for _ in range(count)]
        self._url, self._said = url, said.open("ab")
        self.cpu_s = 0.0
        self._running = [self._started(port) for port in self.ports]
        for port in self.ports:
            self._wait_for(port)

    def _started(self, port: int) -> subprocess.Popen:
        call = ["-c", PROGRAM, "club", "up", "--database", self._url, "--host", "127.0.0.1", "--port", str(port)]
        return subprocess.Popen([sys.executable, *call], stdout=self._said, stderr=self._said)

    def kill(self, number: int, away_s: float) -> None:
        """Kill a process, and start it again after `away_s` seconds."""
        self.cpu_s += size_of(self._running[number].pid).cpu_s
        self._running[number].kill()
        self._running[number].wait()
        time.sleep(away_s)
        self._running[number] = self._started(self.ports[number])
        self._wait_for(self.ports[number])

    def _wait_for(self, port: int) -> None:
        if not wait_until(lambda: answers(port), 60, 0.2):
            raise Broken(f"no club answers at port {port}")

    def stop(self) -> list[int]:
        for club in self._running:
            self.cpu_s += size_of(club.pid).cpu_s
            club.terminate()
        codes = [club.wait(30) for club in self._running]
        self._said.close()
        return codes


# --- The run --------------------------------------------------------------------------------------------------


@dataclass
class Figures:
    tables: int = 0
    events: int = 0
    lost: int = 0
    doubled: int = 0
    changed: int = 0
    keys: int = 0
    leaked: int = 0  # deal keys found in the club's database
    troubles: dict[str, int] = field(default_factory=lambda: dict.fromkeys(NAMES, 0))
    repeated: int = 0
    broken_off: int = 0
    lags_s: list[float] = field(default_factory=list)
    boards_s: list[float] = field(default_factory=list)
    rebuild_s: float = 0.0
    cpu_s: float = 0.0
    event_bytes: float = 0.0
    load: float = 0.0
    is_rebuilt: bool = False

    def __str__(self) -> str:
        (lag, most), (board, slowest) = (
            [percentile(percent, values) for percent in (50, 95)] for values in (self.lags_s, self.boards_s)
        )
        return "\n".join(
            (
                f"{self.tables} tables, {self.events} events: {self.lost} lost, {self.doubled} doubled, "
                f"{self.changed} changed; {self.keys} hands dealt, {self.leaked} of their keys at the club",
                f"troubles: {', '.join(f'{name} {count}' for name, count in self.troubles.items())}; "
                f"{self.broken_off} requests broken off, {self.repeated} sent again later",
                f"lag, from the end of a trouble where there was one: p50 {lag:.2f} s, p95 {most:.2f} s",
                f"board of all tables: p50 {1000 * board:.0f} ms, p95 {1000 * slowest:.0f} ms, "
                f"{len(self.boards_s)} times",
                f"an event costs the clubs {1000 * self.cpu_s / max(1, self.events):.1f} ms of one processor, "
                f"the database {self.event_bytes:.0f} bytes",
                f"the machine had {self.load:.0f} processes waiting for its {os.cpu_count()} cores",
                f"rebuilt in {self.rebuild_s:.1f} s: {'the same' if self.is_rebuilt else 'NOT the same'}",
            )
        )


def percentile(percent: int, values: list[float]) -> float:
    return quantiles(values, n=100)[percent - 1] if len(values) > 1 else 0.0


class Run:
    def __init__(self, server: club_database.Server, home: Path, tables: int, pace: float, seed: int) -> None:
        self.server, self.home, self.pace = server, home, pace
        self.chance, self.figures = random.Random(seed), Figures(tables)
        self.url = server.new()
        self.clubs = Clubs(self.url, 2, home / "clubs.txt")
        self.line = Line(self.clubs.ports, self.chance)
        self.numbers = [
            range(at, min(at + TABLES_A_PROCESS, tables + 1)) for at in range(1, tables + 1, TABLES_A_PROCESS)
        ]
        self.outages: list[tuple[float, float]] = []

    def run(self, seconds: float) -> Figures:
        self.until_s = until_s = time.monotonic() + seconds
        processes = [self._begin(numbers) for numbers in self.numbers]
        watching = threading.Thread(target=self._look_at_boards, daemon=True)
        watching.start()
        while time.monotonic() < until_s - 5:
            time.sleep(self.chance.uniform(0.03, 0.09) * min(seconds, 300))
            if time.monotonic() < until_s - 5:
                self._trouble(self.chance.choice(NAMES), processes)
        for process in processes:
            process.join(DRAIN_S + max(0.0, until_s - time.monotonic()))
            if process.exitcode != 0:
                raise Broken(f"tables did not end: {process.exitcode}")
        self.figures.broken_off, self.figures.repeated = self.line.cuts, self.line.repeated
        self.figures.load = os.getloadavg()[0]
        self._compare()
        self._rebuild()
        return self.figures

    def _begin(self, numbers: range) -> multiprocessing.Process:
        arguments = (self.home, numbers, f"http://127.0.0.1:{self.line.port}", self.pace, self.until_s)
        process = multiprocessing.get_context("spawn").Process(target=play_on, args=arguments, daemon=True)
        process.start()
        return process

    def _trouble(self, name: str, processes: list[multiprocessing.Process]) -> None:
        self.figures.troubles[name] += 1
        began_s = time.monotonic()
        if name == "cut":
            self.line.is_cut = True
            time.sleep(self.chance.uniform(2, 10))
            self.line.is_cut = False
        elif name == "postgres":
            self.server.stop(self.chance.choice(("fast", "immediate")))
            time.sleep(self.chance.uniform(1, 6))
            self.server.start()
        elif name == "club killed":
            self.clubs.kill(self.chance.randrange(2), 1)
        else:
            which = self.chance.randrange(len(processes))
            processes[which].kill()
            processes[which].join()
            processes[which] = self._begin(self.numbers[which])
            time.sleep(5)
        self.outages.append((began_s, time.monotonic()))

    def _look_at_boards(self) -> None:
        while time.monotonic() < self.until_s:
            began_s = time.monotonic()
            with suppress(OSError):
                asked(self.chance.choice(self.clubs.ports), "/", timeout_s=10)
                self.figures.boards_s.append(time.monotonic() - began_s)
            time.sleep(0.5)

    def _compare(self) -> None:
        import psycopg

        with psycopg.connect(self.url) as db:
            names = dict(db.execute("SELECT id, name FROM club.tables").fetchall())
            for number in (number for numbers in self.numbers for number in numbers):
                folder = self.home / str(number)
                with closing(sqlite3.connect(store_path(folder))) as log:
                    rows = log.execute("SELECT seq, match, at_s, kind, body FROM event ORDER BY seq").fetchall()
                shown = [without_deal_key(row) for row in rows]
                ours = [(row[0], checksum(row), *row[1:]) for row in shown]
                table = json.loads((folder / "club.json").read_text())["table"]
                if names.get(table) != f"Table {number}":
                    raise Broken(f"table {number} is not at the club")
                theirs = [
                    (seq, int(crc), *(json.loads(body)[key] for key in ("match", "at_s", "kind", "body")))
                    for seq, crc, body in db.execute(
                        "SELECT seq, crc, body FROM club.events WHERE table_id = %s ORDER BY seq", [table]
                    )
                ]
                keys = [json.loads(row[4])["deal"] for row, public in zip(rows, shown, strict=True) if row != public]
                text = "".join(map(str, theirs))
                self.figures.keys += len(keys)
                self.figures.leaked += sum(key in text for key in keys)
                self.figures.events += len(ours)
                self.figures.lost += len({row[0] for row in ours} - {row[0] for row in theirs})
                self.figures.doubled += len(theirs) - len({row[0] for row in theirs})
                self.figures.changed += len(set(theirs) - set(ours))
            (size,) = db.execute("SELECT pg_total_relation_size('club.events')").fetchone()
            self.figures.event_bytes = size / max(1, self.figures.events)
            if len(names) != self.figures.tables:
                raise Broken(f"the club has {len(names)} tables")
        for written_s, had_s in self._lags():
            # An event written or sent during an outage can arrive only after its end.
            ends = [end for begin, end in self.outages if written_s <= end and had_s >= begin]
            self.figures.lags_s.append(max(0.0, had_s - max([written_s, *ends])))

    def _lags(self) -> Iterator[tuple[float, float]]:
        for file in self.home.glob("lags-*.txt"):
            for line in file.read_text().splitlines():
                with suppress(ValueError):
                    written_s, had_s = map(float, line.split())
                    yield written_s, had_s

    def _rebuild(self) -> None:
        from companion.club import postgres, projection

        with postgres.opened(self.url) as pool:
            with pool.connection() as db:
                projection.wait_for(pool, dict(db.execute("SELECT id, last FROM club.tables").fetchall()))
            before, began_s = self._derived(pool), time.monotonic()
            projection.rebuild(pool)
            self.figures.rebuild_s = time.monotonic() - began_s
            self.figures.is_rebuilt = self._derived(pool) == before

    def _derived(self, pool) -> list[list]:
        with pool.connection() as db:
            return [
                db.execute(f"SELECT * FROM club.{name} ORDER BY 1, 2, 3").fetchall() for name in ("matches", "hands")
            ]


def prove(tables: int, seconds: float, pace: float, seed: int, home: Path) -> Figures:
    """Run and check everything. Raises Broken for a lost, duplicated or changed event, or a leaked deal key."""
    with club_database.running() as server:
        run = Run(server, home, tables, pace, seed)
        try:
            figures = run.run(seconds)
        finally:
            codes = run.clubs.stop()
        figures.cpu_s = run.clubs.cpu_s
    if any(codes):
        raise Broken(f"a club did not end well: {codes}")
    if figures.lost or figures.doubled or figures.changed or figures.leaked or not figures.is_rebuilt:
        raise Broken(str(figures))
    return figures


def main() -> int:
    given = arguments(__doc__, "tables", 200, minutes=180.0, pace=10.0)
    if (why := club_database.why_not()) is not None:
        print(why)
        return 0
    with tempfile.TemporaryDirectory() as home:
        print(prove(given.tables, 60 * given.minutes, given.pace, given.seed, Path(home)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

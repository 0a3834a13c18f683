"""The long-running service: service manager, shutdown, connections and phones."""

import contextlib
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

import pytest
from flask import Flask, request
from logs import of_schema, played
from serving import turning
from trust.idle_connections import measured
from trust.real_service import PROGRAM, ROOT, asked, free_port, service, wait_until

from companion.match import phones
from companion.match.archive import Archive
from companion.match.phones import Phones, Wish
from companion.pages.server import connections, serving
from companion.pages.server.connections import Server
from companion.pages.server.serving import Manager, beat, start_heart
from companion.storage.database import MIGRATIONS

# --- The service manager -------------------------------------------------------------------------------------


class Listening:
    """A service manager's socket and its received messages."""

    def __init__(self, address: str) -> None:
        self.line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.line.bind("\0" + address[1:] if address.startswith("@") else address)
        self.line.settimeout(30)

    def next(self) -> dict[str, str]:
        told = self.line.recv(4096).decode()
        return dict(line.split("=", 1) for line in told.splitlines())

    def until(self, key: str) -> dict[str, str]:
        while key not in (told := self.next()):
            pass
        return told

    @property
    def is_silent(self) -> bool:
        self.line.settimeout(0)
        try:
            self.line.recv(4096)
        except BlockingIOError:
            return True
        finally:
            self.line.settimeout(30)
        return False


@pytest.fixture(params=["file", "abstract"])
def address(request, tmp_path) -> str:
    return str(tmp_path / "notify") if request.param == "file" else f"@companion {os.getpid()} {tmp_path.name}"


@pytest.fixture
def listening(address) -> Iterator[Listening]:
    manager = Listening(address)
    yield manager
    manager.line.close()


def manager_at(address: str, usec: int = 0, **more: str) -> Manager:
    watched = {"WATCHDOG_USEC": str(usec), "WATCHDOG_PID": str(os.getpid())} if usec else {}
    return Manager({"NOTIFY_SOCKET": address, **watched, **more})


def test_the_service_manager_gets_one_line_for_each_value(address, listening):
    manager_at(address).tell(READY=1, STATUS="Match 3,\nhand 2.")

    assert listening.next() == {"READY": "1", "STATUS": "Match 3, hand 2."}


def test_without_a_service_manager_nothing_is_sent(listening):
    Manager({}).tell(READY=1)
    Manager({"NOTIFY_SOCKET": "/nowhere/at/all"}).tell(READY=1)

    assert listening.is_silent


@pytest.mark.parametrize(
    ("environ", "patience_s"),
    [
        ({"WATCHDOG_USEC": "60000000"}, 60.0), ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": str(os.getpid())}, 60.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"}, None), ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "0"}, None), ({}, None),
    ],
)  # fmt: skip
def test_the_watchdog_time_is_read_from_the_environment(environ, patience_s):
    assert Manager(environ).patience_s == patience_s


def test_child_processes_do_not_notify_the_service_manager(address):
    environ = {"NOTIFY_SOCKET": address}

    Manager(environ)

    assert environ == {}


def test_the_heart_beats_while_everything_works(address, listening):
    start_heart(manager_at(address, usec=80_000), [lambda: None], lambda: "Match 1")

    beats = [listening.next() for _ in range(3)]

    assert beats == [{"WATCHDOG": "1", "STATUS": "Match 1"}] * 3


def test_the_heart_does_not_beat_without_a_watchdog(address, listening):
    before = set(threading.enumerate())
    start_heart(manager_at(address), [lambda: None], str)

    assert not [thread for thread in threading.enumerate() if thread.name == "heart" and thread not in before]
    assert listening.is_silent


def broken() -> None:
    raise OSError("the web server gives no answer")


def test_the_heart_stops_and_reports_the_reason_while_something_is_broken(address, listening):
    assert not beat(manager_at(address), [lambda: None, broken])
    assert listening.next() == {"STATUS": "Something does not answer: the web server gives no answer"}
    assert listening.is_silent


def test_the_heart_stops_while_the_match_lock_is_held_forever(address, listening, match):
    with match._changed:
        start_heart(manager_at(address, usec=40_000), [match.check_alive], str)
        assert wait_until(lambda: any(thread.name == "heart" for thread in threading.enumerate()))
        threading.Event().wait(0.1)
        silent = listening.is_silent

    after = listening.next()

    assert silent
    assert "WATCHDOG" in after


def test_the_heart_stops_if_the_log_cannot_be_read(address, listening, match):
    match.store._db.close()

    assert not beat(manager_at(address), [match.check_alive])


# --- The server ----------------------------------------------------------------------------------------------


def web(hold: threading.Event | None = None) -> Flask:
    """A small app: `/slow` waits until it is released, `/large` has a long answer."""
    app = Flask("small")
    app.add_url_rule("/slow", "slow", lambda: str((hold or threading.Event()).wait(30)))
    app.add_url_rule("/large", "large", lambda: "x" * 30_000_000)
    app.add_url_rule("/sent", "sent", lambda: str(len(request.get_data())), methods=["POST"])
    app.add_url_rule("/static/icon.svg", "icon", lambda: "icon")
    return app


at_work = partial(turning, threads=4, turn_s=0.02)


def port_of(server: Server) -> int:
    return int(server.effective_port)


@pytest.fixture
def call():
    """Return a function that opens a connection and sends; all are closed at the end."""
    with contextlib.ExitStack() as lines:

        def call(server: Server, sent: bytes = b"", source: str = "") -> socket.socket:
            near = ("127.0.0.1", port_of(server))
            line = lines.enter_context(socket.create_connection(near, 30, source_address=(source, 0)))
            line.sendall(sent)
            return line

        yield call


def get(path: str, more: bytes = b"") -> bytes:
    return b"GET " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\n" + more + b"\r\n"


def held(server: Server) -> int:
    return len(server.channels())


def is_closed(line: socket.socket) -> bool:
    """True if the other end closes the connection, with or without an answer."""
    with contextlib.suppress(ConnectionResetError):
        while line.recv(65536):
            pass
    return True


def test_the_heart_beats_while_the_web_server_answers(address, listening):
    with at_work(web()) as server:
        assert beat(manager_at(address), [lambda: serving.answers("0.0.0.0", port_of(server))])

    assert listening.next()["WATCHDOG"] == "1"


def test_the_heart_stops_if_all_server_threads_are_stuck(call):
    hold = threading.Event()
    with at_work(web(hold), threads=2) as server:
        for _ in range(2):
            call(server, get("/slow"))
        assert wait_until(lambda: sum(channel.is_answered for channel in server.channels()) == 2)

        with pytest.raises(OSError, match="timed out"):
            serving.answers("127.0.0.1", port_of(server), 0.2)
        hold.set()
        serving.answers("127.0.0.1", port_of(server))


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET / HTTP/1.1\r\nHo", id="half a header"),
        pytest.param(b"POST /sent HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nab", id="half a body"),
        pytest.param(get("/static/icon.svg"), id="a connection kept for the next request"),
    ],
)
def test_an_idle_connection_is_closed(monkeypatch, sent, call):
    monkeypatch.setattr(connections, "REQUEST_S", 0.1)
    for name, limit in (("IDLE_S", 1), ("LOOK_S", 0)):
        monkeypatch.setattr(serving, name, limit)
    with at_work(web()) as server, call(server, sent) as line:
        assert is_closed(line)
        assert wait_until(lambda: held(server) == 0)


def test_a_trickling_connection_is_closed_too(monkeypatch, call):
    monkeypatch.setattr(connections, "REQUEST_S", 0.3)
    monkeypatch.setattr(serving, "LOOK_S", 0)
    with at_work(web()) as server, call(server, b"GET / HTTP/1.1\r\nX: ") as line:

        def is_refused() -> bool:
            try:
                line.send(b"x")
            except OSError:
                return True
            return False

        assert wait_until(is_refused)


def test_a_phone_that_never_reads_its_answer_releases_thread_and_memory(monkeypatch, call):
    monkeypatch.setattr(connections, "STALLED_S", 1)
    monkeypatch.setattr(serving, "LOOK_S", 0)
    with at_work(web(), threads=1) as server, call(server, get("/large")):
        assert wait_until(lambda: any(channel.total_outbufs_len for channel in server.channels()))
        assert wait_until(lambda: held(server) == 0)
        serving.answers("127.0.0.1", port_of(server))


def test_a_slow_answer_does_not_close_the_connection(monkeypatch, call):
    for module, name, limit in ((serving, "IDLE_S", 1), (serving, "LOOK_S", 0), (connections, "REQUEST_S", 1)):
        monkeypatch.setattr(module, name, limit)
    hold = threading.Event()
    with at_work(web(hold)) as server, call(server, get("/slow", b"Connection: close\r\n")) as line:
        assert wait_until(lambda: any(channel.is_answered for channel in server.channels()))
        threading.Event().wait(1.2)
        hold.set()

        assert line.recv(65536).startswith(b"HTTP/1.1 200")


def test_an_address_with_too_many_connections_loses_its_oldest(monkeypatch, call):
    monkeypatch.setattr(connections, "MOST_AN_ADDRESS", 4)
    with at_work(web()) as server:
        lines = [call(server) for _ in range(6)]

        assert all(is_closed(line) for line in lines[:2])
        assert wait_until(lambda: held(server) == 4)
        assert call(server, get("/static/icon.svg")).recv(65536).startswith(b"HTTP/1.1 200")


def test_a_phone_keeps_its_connection_while_its_address_opens_many_idle_ones(monkeypatch, call):
    monkeypatch.setattr(connections, "MOST_AN_ADDRESS", 4)
    with at_work(web()) as server:
        phone = HTTPConnection("127.0.0.1", port_of(server), timeout=30)
        with contextlib.closing(phone):
            phone.request("GET", "/static/icon.svg")
            phone.getresponse().read()
            silent = [call(server) for _ in range(6)]
            assert is_closed(silent[1])
            phone.request("GET", "/static/icon.svg")

            assert phone.getresponse().read() == b"icon"


@pytest.mark.parametrize("limit", ["MOST_AN_ADDRESS", "MOST_CONNECTIONS"])
def test_active_connections_are_not_closed_for_others(monkeypatch, limit, call):
    monkeypatch.setattr(connections, limit, 2)
    hold = threading.Event()
    with at_work(web(hold)) as server:
        busy = [call(server, get("/slow", b"Connection: close\r\n")) for _ in range(2)]
        assert wait_until(lambda: sum(channel.is_answered for channel in server.channels()) == 2)

        assert is_closed(call(server))
        hold.set()
        assert all(line.recv(65536).startswith(b"HTTP/1.1 200") for line in busy)


def test_an_address_at_its_limit_does_not_block_others(monkeypatch, call):
    monkeypatch.setattr(connections, "MOST_AN_ADDRESS", 4)
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 10)
    with at_work(web()) as server:
        for _ in range(40):
            call(server, b"GET / HTTP/1.1\r\nX: ")

        assert call(server, get("/static/icon.svg"), "127.0.0.2").recv(65536).startswith(b"HTTP/1.1 200")
        assert held(server) <= 5


def test_a_thousand_open_files_work(call):
    """`select` would fail at the 1024th file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2000:
        pytest.skip("this system opens no 2000 files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    null = [os.open(os.devnull, os.O_RDONLY) for _ in range(1050)]
    try:
        with at_work(web()) as server, call(server, get("/static/icon.svg")) as line:
            assert line.recv(65536).startswith(b"HTTP/1.1 200")
    finally:
        for fd in null:
            os.close(fd)


# --- The end -------------------------------------------------------------------------------------------------


@pytest.mark.variants(1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_service_shuts_down_cleanly_on_request(tmp_path, number):
    with service(tmp_path, "up") as running:
        lines = [socket.create_connection(("127.0.0.1", running.port), 30) for _ in range(3)]
        for line in lines:
            line.sendall(get("/version"))
            line.recv(4096)
        before = len(running.said)
        code = running.end(number)

        assert code == 0
        assert wait_until(lambda: len(running.said) > before)
        assert running.said[before:] == ["The companion has stopped. Everything you confirmed is saved.\n"]
        assert all(is_closed(line) for line in lines)
        for line in lines:
            line.close()
    assert sorted(path.name for path in tmp_path.glob("companion.sqlite3*")) == ["companion.sqlite3"]


def test_the_simulated_table_shuts_down_cleanly_too(tmp_path):
    with service(tmp_path, "demo", "--confirm", "auto", "--speed", "20") as running:
        assert wait_until(lambda: b'"seq":0' not in asked(running.port, "/api/state")[1])

        assert running.end() == 0
    assert [line for line in running.said if "Traceback" in line] == []


@pytest.mark.parametrize("address", ["file"], indirect=True)
def test_the_service_manager_hears_ready_alive_and_stopping(tmp_path, address, listening):
    environ = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "400000"}
    with service(tmp_path, "up", environ=environ) as running:
        ready, beat = listening.until("READY"), listening.until("WATCHDOG")
        running.end()
        ended = listening.until("STOPPING")

    assert ready["STATUS"] == "No match yet."
    assert beat["STATUS"] == "No match yet."
    assert ended["STATUS"] == "Ending."


def up_over_a_newer_log(folder: Path, **environ: str) -> tuple[Path, int, subprocess.Popen[str]]:
    """Start a service on a log of a newer version; return log, port and process."""
    path, port = played(folder, matches=1, plays=3), free_port()
    of_schema(path, 99)
    called = [sys.executable, "-c", PROGRAM, "up", "--host", "127.0.0.1", "--port", str(port), "--data", str(folder)]
    known = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    return path, port, subprocess.Popen(called, env=known, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("address", ["file"], indirect=True)
def test_a_service_blocked_by_its_data_says_why_and_starts_once_it_can(tmp_path, address, listening):
    path, port, process = up_over_a_newer_log(tmp_path, NOTIFY_SOCKET=address, WATCHDOG_USEC="60000000")
    try:
        assert "newer version" in listening.until("READY")["STATUS"]
        status, page, _ = asked(port, "/score")
        tapped, french, _ = asked(port, "/confirm", {"play": "Ann roll"}, language="fr")
        of_schema(path, len(MIGRATIONS))
        assert wait_until(lambda: "Match 1" in listening.until("STATUS")["STATUS"], 60)
        state = asked(port, "/api/state")[0]
    finally:
        process.terminate()
        _, complained = process.communicate(timeout=30)

    assert (status, tapped) == (503, 503)
    assert "Le compagnon ne peut pas encore démarrer" in french.decode()
    assert "was written by a newer version of the companion: install that version" in page.decode()
    assert "newer version" in complained
    assert state == 200


def test_in_a_terminal_the_program_ends_with_the_reason(tmp_path):
    _, _, process = up_over_a_newer_log(tmp_path)

    assert "newer version" in process.communicate(timeout=60)[1]
    assert process.returncode == 2


def test_the_unit_restarts_forever_with_growing_pauses_and_needs_no_network():
    unit = (ROOT / "deploy" / "companion.service").read_text(encoding="utf-8")
    settings = dict(line.split("=", 1) for line in unit.splitlines() if "=" in line and line[0] != "#")

    assert (settings["Restart"], settings["StartLimitIntervalSec"]) == ("always", "0")
    assert int(settings["RestartSec"]) < int(settings["RestartMaxDelaySec"])
    assert int(settings["RestartSteps"]) > 1
    assert "StartLimitBurst" not in settings
    assert "network-online" not in unit


def test_a_services_files_are_private_whoever_made_the_folder(tmp_path):
    folder, setup = tmp_path / "data", tmp_path / "table.toml"
    folder.mkdir(mode=0o755)
    setup.write_text('[[side]]\nname = "Ann"\n[[side]]\nname = "Bob"\n')

    with service(folder, "up", "--setup", str(setup)):
        assert wait_until(lambda: any(folder.glob("backups/*.sqlite3")))
        modes = {path.relative_to(folder).as_posix(): stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}

    assert {"companion.sqlite3", "last-event.json", "secret-key", "backups"} <= modes.keys()
    assert [name for name, mode in modes.items() if mode & 0o077] == []


@pytest.mark.parametrize(
    ("signals", "code"),
    [
        ((signal.SIGTERM, signal.SIGTERM), 128 + signal.SIGTERM), ((signal.SIGHUP, signal.SIGHUP), 0),
        ((signal.SIGHUP, signal.SIGTERM, signal.SIGHUP), 0),
    ],
)  # fmt: skip
def test_a_second_signal_ends_the_service_at_once_but_a_closed_terminal_does_not(signals, code):
    """A clean shutdown finishes the current answer."""
    program = (
        "import sys; from flask import Flask; from companion.pages.server import serving\n"
        "serving.LAST_ANSWERS_S = 60\n"
        "app = Flask('x')\n"
        "app.add_url_rule('/', 'x', lambda: print('asked', flush=True) or sys.stdin.readline())\n"
        "serving.serve(app, '127.0.0.1', int(sys.argv[1]), lambda port: print('open', flush=True))"
    )
    port = free_port()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", program, str(port)], text=True, **pipes)
    assert process.stdout is not None
    process.stdout.readline()
    with socket.create_connection(("127.0.0.1", port), 30) as line:
        line.sendall(get("/"))
        assert process.stdout.readline() == "asked\n"
        for number in signals:
            process.send_signal(number)
            assert wait_until(lambda: not is_open(port))
        if code == 0:
            process.communicate("answered\n", 60)
            assert line.recv(4096).endswith(b"answered\n")

        assert process.wait(30) == code
    process.stdin.close()
    process.stdout.close()


def is_open(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
        return True
    return False


# --- Phones --------------------------------------------------------------------------------------------------


@pytest.fixture
def party(tmp_path, clock, monkeypatch) -> Phones:
    monkeypatch.setattr(phones, "MOST_SEEN", 10)
    return Phones(tmp_path, clock)


def come_and_go(party: Phones, clock) -> None:
    for number in range(50):
        clock.now_s += 1.0
        party.seen(f"passer {number}", inside=True, device="iPhone")


def test_phones_that_leave_are_forgotten_and_numbers_are_never_reused(party, clock):
    come_and_go(party, clock)

    assert len(party._seen_s) == len(party._numbers) == len(party._devices) == 10
    assert set(party.present()) == {f"passer {number}" for number in range(40, 50)}
    assert sorted(map(party.number, party.present())) == list(range(41, 51))


def test_host_seated_phones_and_the_asking_phone_are_not_forgotten(party, clock):
    party.arrive("host")
    party.sit("ann", "Ann")
    party.seen("ann", inside=True)
    party.ask(Wish.SEAT, "bob", player="Ann")
    come_and_go(party, clock)

    assert {"host", "ann", "bob"} <= set(party._seen_s)
    assert party.number("host") == 1
    assert party.silent_s("ann") == 50.0


def test_an_admitted_phone_stays_admitted_while_it_has_a_seat(tmp_path, monkeypatch):
    monkeypatch.setattr(phones, "MOST_KEPT", 3)
    party = Phones(tmp_path)
    for number in range(6):
        party.ask(Wish.JOIN, f"phone {number}", f"Name {number}")
        party.answer(party.asked[-1].id, yes=True)
        if number == 0:
            party.sit("phone 0", "Ann")

    assert party.party.let_in == ("phone 0", "phone 3", "phone 4", "phone 5")
    assert party.party.names["phone 0"] == "Name 0"


# --- As a family runs it, for a while ------------------------------------------------------------------------


def test_idle_connections_leave_room_for_taps_and_are_all_closed(tmp_path):
    """`tests/trust/idle_connections.py` does the same with 400 connections and measures taps."""
    with service(tmp_path, "demo", "--confirm", "tap") as running:
        found = measured(running, "", idle=130, phones=4, taps=10, crawl=20, mute=4)

    assert found.refused == 0
    assert found.after.sockets <= found.before.sockets + 1
    assert found.during.threads < serving.THREADS + 10


HELD = """
import re, sys, time
from companion.app import memory
memory.EVERY_S = float(sys.argv[1])
def taken_mb():
    return int(re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
with memory.giving_memory_back():
    before_mb = taken_mb()
    pieces = [bytes([1]) * 100_000 for _ in range(1000)]
    del pieces[:-1]  # The last one keeps what lies before it from being the heap's free end.
    until_s = time.monotonic() + float(sys.argv[2])
    while taken_mb() > before_mb + 30 and time.monotonic() < until_s:
        time.sleep(0.01)
    print(taken_mb() - before_mb)
"""


def held_mb(every_s: float, within_s: float) -> float:
    """Return a process's memory after it has freed 100 MB in small blocks, except the last block."""
    called = [sys.executable, "-c", HELD, str(every_s), str(within_s)]
    return float(subprocess.run(called, capture_output=True, text=True, check=True).stdout)


def test_free_memory_between_used_blocks_is_returned_to_the_system():
    assert held_mb(every_s=0.05, within_s=30.0) < 30
    assert held_mb(every_s=1000.0, within_s=0.3) > 60


def test_only_the_latest_judgment_of_a_match_is_cached(match):
    match.start(["edition classic", "side Ann", "side Bob", "hand first Ann"])
    archive = Archive()
    for number in range(5):
        match.set_policy(("tap", "auto")[number % 2], "Ann")
        archive.past(match.store, match.state.match)
        archive.figures(match.store)

    assert len(archive._past._values) == len(archive._figures._values) == 1
    assert archive.past(match.store, match.state.match).last == match.state.seq

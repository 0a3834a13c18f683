"""The log: nothing acknowledged is lost, nothing is deleted, and what is wrong with the file is said."""

from __future__ import annotations

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest

from companion.common.errors import Problem
from companion.storage.data_folder import data_dir, store_path
from companion.storage.event_store import SETUP, Draft, NotSaved, Store

ROOT = Path(__file__).parent.parent


@pytest.fixture
def path(tmp_path):
    return store_path(tmp_path)


@pytest.fixture
def store(path):
    opened = Store.open(path, clock=lambda: 12.5)
    yield opened
    opened.close()


def test_what_was_appended_is_there_after_opening_again(path):
    with_one = Store.open(path)
    with_one.append(None, Draft(SETUP, {"lines": ["side Ünal"]}))
    with_one.close()

    again = Store.open(path)

    assert [e.body for e in again.events(1)] == [{"lines": ["side Ünal"]}]
    again.close()


def test_events_are_numbered_through_all_matches(store):
    store.append(None, Draft(SETUP, {}), Draft("line", {"text": "hand first Ann"}))
    store.append(None, Draft(SETUP, {}))

    (last,) = store.append(3, Draft("line", {"text": "Ann roll"}))

    assert store.matches() == (1, 3)
    assert (last.seq, last.match, last.at_s) == (4, 3, 12.5)
    assert [e.seq for e in store.events(3)] == [3, 4]


def test_events_that_belong_together_are_written_together_or_not_at_all(store):
    with pytest.raises(TypeError):
        store.append(None, Draft(SETUP, {}), Draft("line", {"text": object()}))

    assert store.matches() == ()


def test_a_full_disk_is_said_and_nothing_is_acknowledged(store):
    store.append(None, Draft(SETUP, {}))
    store._db.execute("PRAGMA max_page_count = 1")

    with pytest.raises(NotSaved, match="could not be saved"):
        store.append(1, Draft("line", {"text": "x" * 100_000}))

    assert len(store.events(1)) == 1


def test_the_log_survives_a_pulled_plug(store):
    assert store._db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert store._db.execute("PRAGMA synchronous").fetchone() == (3,)


def test_a_second_companion_is_kept_out_of_the_same_folder(store, path):
    with pytest.raises(Problem, match="Another companion is using"):
        Store.open(path)


def test_a_running_service_can_be_read_beside(store, path):
    store.append(None, Draft(SETUP, {"lines": []}))

    reader = Store.open(path, read_only=True)

    assert reader.matches() == (1,)
    reader.close()


def test_a_damaged_file_is_said_to_whoever_only_reads(path):
    path.write_bytes(b"this was never a database" * 100)

    with pytest.raises(Problem, match="is damaged: start the companion"):
        Store.open(path, read_only=True)


def test_a_file_from_a_newer_version_is_left_alone(path):
    Store.open(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()

    with pytest.raises(Problem, match="newer version"):
        Store.open(path)


def test_a_data_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(Problem, match="cannot be written to"):
        data_dir(tmp_path / "file" / "data")


def test_the_option_names_the_data_folder_before_the_environment_does(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPANION_DATA", str(tmp_path / "b"))

    assert data_dir(tmp_path / "a") == tmp_path / "a"
    assert data_dir() == tmp_path / "b"


SERVICE = """
import sys
from pathlib import Path
from companion.match.match import Match
from companion.pages import run_service
from companion.storage.event_store import Store

match = Match(Store.open(Path(sys.argv[1])))
if match.state.match is None:
    match.start(["side Ann", "side Bob", "hand first Ann"])
run_service(match, "127.0.0.1", 0)
"""


def start_service(path: Path) -> tuple[subprocess.Popen[str], int]:
    """Starts the whole service on a free port; gives the process and the port."""
    service = subprocess.Popen([sys.executable, "-c", SERVICE, str(path)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert service.stdout is not None
    said = next(line for line in service.stdout if "localhost:" in line)
    return service, int(said.rsplit(":", 1)[1])


def tap(port: int, path: str, **fields: str) -> int:
    """Posts as a page would; gives the answer's status."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {"Origin": f"http://127.0.0.1:{port}", "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", path, urlencode(fields), headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_killing_the_service_loses_no_play_that_a_phone_was_told_of(path):
    service, port = start_service(path)
    told = [text for text in ("Ann roll", "Bob roll", "Ann 100") if tap(port, "/play", text=text) == 303]
    with service:
        os.kill(service.pid, signal.SIGKILL)
    service, port = start_service(path)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/api/state")
    state = json.load(connection.getresponse())
    connection.close()
    with service:
        service.terminate()

    assert [line["text"] for line in state["log"]] == told == ["Ann roll", "Bob roll", "Ann 100"]
    assert state["table"]["sides"]["Ann"]["km"] == 100


WRITER = """
import sys
from pathlib import Path
from companion.storage.event_store import Draft, Store

store = Store.open(Path(sys.argv[1]))
matches = store.matches()
match = matches[0] if matches else store.append(None, Draft("setup", {}))[0].match
while True:
    (event,) = store.append(match, Draft("line", {"text": "Ann 25"}))
    print(event.seq, flush=True)
"""


def killed_after(lines: int, path: Path) -> int:
    """Runs the writer, kills it once it has acknowledged some lines, and gives the last one acknowledged."""
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
        assert writer.stdout is not None
        said = [writer.stdout.readline() for _ in range(lines)]
        os.kill(writer.pid, signal.SIGKILL)
        said += [line for line in writer.stdout if line.endswith("\n")]
        return int(said[-1])


def test_killing_the_writer_loses_nothing_acknowledged(path):
    for number in range(2):
        acknowledged = killed_after(20 + 7 * number, path)
        store = Store.open(path)
        seqs = [event.seq for event in store.events(1)]
        store.close()

        assert seqs == list(range(1, len(seqs) + 1))
        assert seqs[-1] >= acknowledged

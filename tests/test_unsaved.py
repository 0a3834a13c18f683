"""A disk that is full, worn out or read-only: play goes on, everybody is told, nothing is half-written."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, suppress
from pathlib import Path

import pytest
from client import HOME, TWO, tap
from logs import full, of_schema, played, refuse

from companion.app.backup_archive import read_bundle, write_bundle
from companion.app.service import closed_at_the_end, exported, opened_match
from companion.common.errors import Problem
from companion.match.match import Match
from companion.match.phones import Phones
from companion.pages import create_app
from companion.pages.players import phone_identity
from companion.storage import database
from companion.storage import event_store as store_module
from companion.storage.data_folder import data_dir, store_path
from companion.storage.database import MIGRATIONS, insert, look
from companion.storage.event_store import Event, NewEvent, NotSaved, Store

ROOT = Path(__file__).parent.parent
REFUSALS = ("database or disk is full", "attempt to write a readonly database", "disk I/O error", "database is locked")


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """No test waits for the thread that tries again."""
    monkeypatch.setattr(store_module, "TRY_AGAIN_S", 3600.0)


@pytest.mark.parametrize("why", REFUSALS)
def test_a_disk_that_refuses_stops_nobody_and_everything_is_written_in_order_later(begun, why):
    disk = refuse(begun.store, why)

    assert begun.enter("Ann roll", "Ann").done
    assert begun.enter("Bob roll", "Bob").done
    assert begun.state.unsaved.startswith("Not saved: ")
    assert "The last 2 entries exist only on screen" in begun.state.unsaved
    assert [entry.written.text for entry in begun.state.entries][-2:] == ["Ann roll", "Bob roll"]

    disk.why = None
    begun.enter("Ann 100", "Ann")

    assert begun.state.unsaved is None
    record = begun.record()
    begun.store.close()
    again = Store.open(begun.store.path)
    assert Match(again).record() == record
    seqs = [row[0] for row in look(begun.store.path)]
    assert seqs == list(range(1, len(seqs) + 1))
    again.close()


def test_what_waits_is_written_as_soon_as_there_is_room_without_another_play(begun, monkeypatch):
    monkeypatch.setattr(store_module, "TRY_AGAIN_S", 0.01)
    disk = refuse(begun.store)
    begun.enter("Ann roll", "Ann")
    version = begun.state.version

    disk.why = None
    while begun.state.unsaved is not None:
        assert begun.wait(version, 30.0).version != version
        version = begun.state.version

    assert look(begun.store.path)[-1][4] == '{"text":"Ann roll","by":"Ann","source":"phone"}'


def test_a_disk_that_cannot_even_be_read_stops_nobody(begun):
    class Gone:
        """A card that was pulled out."""

        def execute(self, *_about):
            raise sqlite3.OperationalError("disk I/O error")

        def close(self):
            pass

    disk, begun.store._db = begun.store._db, Gone()

    assert begun.enter("Ann roll", "Ann").done
    assert begun.state.unsaved.startswith("Not saved: ")

    begun.store._db = disk
    assert begun.store.save()
    assert "Ann roll" in [event.body.get("text") for event in begun.store.events(1)]


def test_the_last_word_is_true(tmp_path, capsys):
    store, match = opened_match(tmp_path)
    with closed_at_the_end(store):
        match.start(TWO)
    assert "Everything you confirmed is saved" in capsys.readouterr().out

    store, match = opened_match(tmp_path)
    with closed_at_the_end(store):
        refuse(store)
        match.enter("Ann roll", "Ann")

    said = capsys.readouterr()
    assert "the last plays are lost" in said.err
    assert "kept" not in said.out


def test_whoever_does_not_hold_is_refused_and_nothing_changes(begun):
    refuse(begun.store)

    with pytest.raises(NotSaved, match="could not be saved"):
        begun.store.append(1, NewEvent("line", {"text": "Ann roll"}))
    assert begun.store.unsaved is None
    assert begun.store.latest() == {1: 3}


def test_a_commit_that_reached_the_disk_all_the_same_is_not_written_twice(begun):
    disk = refuse(begun.store, "disk I/O error")
    begun.enter("Ann roll", "Ann")
    held = begun.store._held[0]
    body = '{"text":"Ann roll","by":"Ann","source":"phone"}'
    insert(disk._db, [(held.seq, held.match, held.at_s, held.kind, body)])
    disk.why = None

    assert begun.store.save()
    assert [row[0] for row in look(begun.store.path)] == [1, 2, 3, 4]


def test_a_match_that_begins_while_nothing_can_be_saved_is_there_everywhere(begun, page):
    refuse(begun.store)
    begun.start(["side Cid", "side Dee", "hand first Cid"])
    begun.enter("Cid roll", "Cid")

    assert begun.store.matches() == (1, 4)
    assert begun.store.latest() == {1: 3, 4: 7}
    assert [event.body.get("text") for event in begun.store.events(4)][-1] == "Cid roll"

    assert page.get("/past").status_code == 200
    assert page.get("/past/4").status_code == 200


# --- What people and scripts are told -------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/plain", "/wall", "/more", "/seats", "/score", "/play", "/may", "/past"])
def test_every_page_says_that_nothing_is_saved_until_it_is(begun, page, path):
    disk = refuse(begun.store)

    assert "Not saved:" not in page.get(path).text
    begun.enter("Ann roll", "Ann")
    assert "Not saved: the disk is full" in page.get(path).text

    disk.why = None
    begun.store.save()
    assert "Not saved:" not in page.get(path).text


def test_a_tap_is_shown_with_the_banner_in_place(begun, page):
    refuse(begun.store)

    answer = page.post("/play", data={"text": "Ann roll"}, headers={**HOME, "HX-Request": "true"})

    assert answer.status_code == 200
    assert "Not saved: the disk is full." in answer.text


def test_a_script_is_told_that_its_play_is_not_saved(begun, page):
    disk = refuse(begun.store)

    answer = page.post("/api/plays", json={"text": "Ann roll"}, headers=HOME)

    assert (answer.status_code, answer.json["done"], answer.json["saved"]) == (202, True, False)
    assert page.get("/api/state").json["unsaved"].startswith("Not saved: the disk is full.")

    disk.why = None
    answer = page.post("/api/plays", json={"text": "Bob roll"}, headers=HOME)

    assert (answer.status_code, answer.json["saved"]) == (200, True)
    assert page.get("/api/state").json["unsaved"] is None


# --- Small files ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("begun")
def test_a_seat_is_taken_although_it_cannot_be_kept_and_that_is_said(app, page, monkeypatch):
    monkeypatch.setattr("companion.match.phones.write_whole", full)

    tap(page, "/join", player="Ann")

    assert "seating cannot be saved" in page.get("/").text
    assert "Ann" in app.extensions["companion"].phones.party.seats


def test_the_key_is_made_for_this_run_where_it_cannot_be_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", full)

    assert len(phone_identity.load_secret(tmp_path)) == phone_identity.KEY_BYTES
    assert not (tmp_path / "secret-key").exists()


# --- Starting where nothing can be written --------------------------------------------------------------------


def unwritable(monkeypatch, why: str = "unable to open database file"):
    """From now on no file is opened for writing."""

    def refused(*_arguments: object, **_more: object) -> None:
        raise sqlite3.OperationalError(why)

    monkeypatch.setattr(store_module.database, "connected", refused)


def test_a_service_starts_where_nothing_can_be_written_and_writes_what_was_played_later(tmp_path, monkeypatch):
    path = played(tmp_path, matches=1, plays=0)
    before = path.read_bytes()
    unwritable(monkeypatch)
    store = Store.open(path)
    match = Match(store)

    assert match.state.unsaved.startswith("Saving does not work: the data folder is not writable.")
    assert match.state.match == 1
    assert match.enter("Ann roll", "Ann").done
    assert match.state.unsaved.startswith("Not saved: the data folder is not writable.")
    assert path.read_bytes() == before

    monkeypatch.undo()
    assert store.save()
    assert match.state.unsaved is None
    store.close()
    assert look(path)[-1][4] == '{"text":"Ann roll","by":"Ann","source":"phone"}'


def test_a_file_that_a_newer_version_has_put_in_its_place_stops_nobody(tmp_path, monkeypatch):
    path = played(tmp_path, matches=1, plays=0)
    unwritable(monkeypatch)
    store = Store.open(path)
    match = Match(store)
    monkeypatch.undo()
    of_schema(path, 99)

    assert match.enter("Ann roll", "Ann").done
    assert match.state.unsaved.startswith("Not saved: ")
    assert not store.save()

    of_schema(path, len(MIGRATIONS))
    assert store.save()
    store.close()
    assert look(path)[-1][4] == '{"text":"Ann roll","by":"Ann","source":"phone"}'


def test_a_folder_that_is_there_is_used_although_it_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "open", full)

    assert data_dir(tmp_path) == tmp_path


IN_A_SMALL_DISK = """
import resource, sys
from pathlib import Path
from companion.match.match import Match
from companion.storage.event_store import Store

store = Store.open(Path(sys.argv[1]))
match = Match(store)
match.start(["side Ann", "side Bob", "hand first Ann"])
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
match.enter("Ann roll", "Ann")
for number in range(200):
    match.sit("Bob", "Bob")
assert match.state.unsaved, "it should be full"
saved = store._db.execute("SELECT max(seq) FROM event").fetchone()[0]
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
if sys.argv[2] == "room":
    assert store.save()
    saved = match.state.seq
print(saved, flush=True)
import os
os._exit(0)
"""


@pytest.mark.parametrize("then", ["room", "crash"])
def test_a_file_that_may_not_grow_is_survived_for_real(tmp_path, then):
    path = store_path(tmp_path)
    ran = subprocess.run(
        [sys.executable, "-c", IN_A_SMALL_DISK, str(path), then], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr

    seqs = [row[0] for row in look(path)]

    assert seqs == list(range(1, int(ran.stdout) + 1))
    assert (then == "room") == (len(seqs) == 204)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 300 kB; none where this machine mounts nothing."""
    at = tmp_path / "disk"
    at.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "none", str(at)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("nothing can be mounted here")
    yield at
    subprocess.run(["umount", "-l", str(at)], check=True)


def fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass


def test_a_full_file_system_is_survived_for_real(small_disk):
    store = Store.open(store_path(small_disk))
    match = Match(store)
    match.start(TWO)
    ballast = small_disk / "ballast"
    fill(ballast)

    for _turn in range(100):
        match.sit("Ann", "Ann")
    assert "the disk is full" in match.state.unsaved or "does not take it" in match.state.unsaved
    phones = Phones(small_disk)
    phones.arrive("first")
    assert phones.unkept

    ballast.unlink()
    assert store.save()
    assert match.state.unsaved is None
    seqs = [row[0] for row in look(store.path)]
    assert seqs == list(range(1, match.state.seq + 1))
    store.close()


@pytest.mark.parametrize("plays", [None, 3])
def test_a_start_on_a_full_disk_is_said_to_be_that(small_disk, plays):
    path = played(small_disk, matches=1, plays=plays) if plays else store_path(small_disk)
    ballast = small_disk / "ballast"
    fill(ballast)

    store = Store.open(path)
    match = Match(store)

    assert store.unsaved.startswith("Saving does not work: the disk is full.")
    match.start(TWO)
    assert match.state.unsaved.startswith("Not saved: the disk is full. The last 3 entries")

    ballast.unlink()
    assert store.save()
    store.close()
    assert look(path)[-1][0] == match.state.seq


def test_a_start_on_a_disk_that_became_read_only(small_disk, tmp_path):
    path = played(small_disk, matches=1, plays=3)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    store = Store.open(path)
    match = Match(store)

    match.enter("Bob roll", "Bob")

    assert match.state.unsaved.startswith("Not saved: the data folder is not writable.")
    assert data_dir(small_disk) == small_disk
    assert create_app(match, secret=phone_identity.load_secret(small_disk)).test_client().get("/").status_code == 200
    with pytest.raises(Problem, match="Another companion"):
        Store.open(path)

    assert exported(1, "mbn", small_disk).endswith("Ann roll\n")
    write_bundle(small_disk, tmp_path / "saved.zip")
    assert read_bundle(tmp_path / "saved.zip").rows == look(path)

    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert store.save()
    assert match.state.unsaved is None
    store.close()
    assert look(path)[-1][4] == '{"text":"Bob roll","by":"Bob","source":"phone"}'


def test_a_log_is_read_beside_a_service_that_writes(begun):
    over = threading.Event()
    read: list[tuple[Event, ...]] = []

    def read_on() -> None:
        while not over.is_set():
            beside = Store.open(begun.store.path, read_only=True)
            read.append(beside.events(1))
            beside.close()

    reader = threading.Thread(target=read_on)
    reader.start()
    for number in range(40):
        begun.sit("Ann", f"{number}")

        assert begun.state.unsaved is None
    over.set()
    reader.join()
    whole = begun.store.events(1)
    assert all(events == whole[: len(events)] for events in read)


def test_another_program_that_reads_without_end_is_said_and_what_waits_is_written_after_it(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "LOCKED_S", 0.05)
    match = Match(Store.open(store_path(tmp_path)))
    match.start(TWO)
    with closing(sqlite3.connect(match.store.path)) as beside:
        beside.execute("BEGIN")
        beside.execute("SELECT count(*) FROM event").fetchone()
        match.enter("Ann roll", "Ann")

        assert match.state.unsaved.startswith("Not saved: ")
    assert match.store.save()
    match.store.close()
    assert look(match.store.path)[-1][4] == '{"text":"Ann roll","by":"Ann","source":"phone"}'


# --- A data folder that is deleted meanwhile ------------------------------------------------------------------


def test_the_first_play_after_the_folder_was_deleted_is_said_to_be_unsaved_until_it_is_there_again(begun, tmp_path):
    shutil.rmtree(tmp_path)

    begun.enter("Ann roll", "Ann")

    assert begun.state.unsaved.startswith("Not saved: the data folder is not writable. The last entry exists only")
    assert [entry.written.text for entry in begun.state.entries][-1] == "Ann roll"
    assert begun.store.events(1)[-1].body["text"] == "Ann roll"

    tmp_path.mkdir()
    begun.enter("Bob roll", "Bob")

    assert begun.state.unsaved is None
    assert [row[0] for row in look(begun.store.path)] == [1, 2, 3, 4, 5]
    with pytest.raises(Problem, match="Another companion"):
        Store.open(begun.store.path)


def test_only_what_the_folder_lacks_is_written_where_it_comes_back(begun, tmp_path):
    away = tmp_path.with_name(f"{tmp_path.name}-away")
    tmp_path.rename(away)
    begun.enter("Ann roll", "Ann")
    away.rename(tmp_path)

    assert begun.store.save()

    assert [row[0] for row in look(begun.store.path)] == [1, 2, 3, 4]


def test_another_log_that_lies_in_the_place_of_ours_is_left_as_it_is(begun, tmp_path):
    (tmp_path / "other").mkdir()
    other = played(tmp_path / "other", matches=1, plays=9)
    before = other.read_bytes()
    other.replace(begun.store.path)

    begun.enter("Ann roll", "Ann")

    assert begun.state.unsaved.startswith("Not saved: ")
    assert not begun.store.save()
    assert begun.store.path.read_bytes() == before

"""Backups of the log: made while it is in use, verified, sorted by last event; the newest seven are kept."""

import os
import sqlite3
import threading
import time
from pathlib import Path
from random import Random
from unittest import mock

import pytest
from logs import append, full, garbage_page, played

from companion.common.errors import Problem
from companion.storage import backups
from companion.storage.backups import (
    EVERY_S,
    KEPT,
    PATIENCE_S,
    QUIET_S,
    Nightly,
    back_up,
    backups_of,
    last_in,
    rows_in_backup,
)
from companion.storage.data_folder import store_path
from companion.storage.database import look
from companion.storage.event_store import NewEvent, Store


@pytest.fixture
def path(tmp_path):
    return played(tmp_path, matches=1, plays=3)


def names(path: Path) -> list[str]:
    return sorted(one.name for one in (path.parent / "backups").iterdir())


def test_a_backup_is_a_complete_copy_made_only_if_there_are_new_events(path, tmp_path):
    backup = back_up(path)

    assert backup == tmp_path / "backups" / "log-000000006.sqlite3"
    assert names(path) == [backup.name]
    assert rows_in_backup(backup) == look(path)

    assert back_up(path) is None
    append(path, "Ann 25")
    assert last_in(back_up(path)) == 7


def test_an_empty_log_is_not_backed_up(tmp_path):
    Store.open(store_path(tmp_path)).close()

    assert back_up(store_path(tmp_path)) is None


def test_the_newest_seven_are_kept(path):
    for _number in range(KEPT + 3):
        append(path, "Ann 25")
        back_up(path)

    assert [last_in(one) for one in backups_of(path)] == list(range(16, 16 - KEPT, -1))


def test_a_damaged_backup_of_the_current_log_is_replaced(path):
    backup = back_up(path)
    backup.write_bytes(garbage_page(backup.read_bytes(), Random(1)))

    assert back_up(path) == backup
    assert rows_in_backup(backup) == look(path)


def test_a_backup_is_made_while_plays_are_written(path):
    store = Store.open(path)
    stop = threading.Event()

    def play() -> None:
        while not stop.is_set():
            store.append(1, NewEvent("line", {"text": "Ann 25", "by": "Ann"}))

    player = threading.Thread(target=play)
    player.start()
    try:
        made = [back_up(path) for _turn in range(2)]
    finally:
        stop.set()
        player.join()
        store.close()

    whole = look(path)
    for backup in {*made} - {None}:
        rows = rows_in_backup(backup)
        assert rows == whole[: len(rows)]


def test_a_full_disk_leaves_no_partial_backup_and_keeps_older_ones(path, monkeypatch):
    kept = back_up(path)
    append(path, "Ann 25")
    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(Problem, match=r"No backup could be made in .*backups \(No space left on device\)"):
        back_up(path)
    assert names(path) == [kept.name]


def test_leftovers_of_a_killed_backup_are_removed_but_backups_of_another_log_kept(path):
    back_up(path)
    append(path, "Ann 25")
    for name in ("log.new", "log.new-journal", *(f"log-{900 + number:09d}.sqlite3" for number in range(KEPT))):
        (path.parent / "backups" / name).write_bytes(b"half, or of another log")

    back_up(path)

    assert len(names(path)) == len(backups_of(path)) == KEPT + 2


# --- Schedule -------------------------------------------------------------------------------------------------


@pytest.fixture
def nightly(path):
    """Backups with a clock that the test controls."""
    times = {"now": 1000.0, "quiet": 0.0}
    told: list[str] = []
    return Nightly(path, lambda: times["quiet"], lambda: times["now"], told.append), times, told


def test_a_backup_is_made_at_the_start_and_every_day(nightly, path):
    made, times, _told = nightly
    times["quiet"] = QUIET_S

    assert made.is_due()
    assert made.back_up()
    assert not made.is_due()

    times["now"] += EVERY_S
    append(path, "Ann 25")

    assert made.is_due()
    assert made.back_up()


def test_a_daily_backup_waits_for_a_quiet_table_but_not_forever(nightly):
    made, times, _told = nightly
    made.back_up()
    times["now"] += EVERY_S

    assert not made.is_due()

    times["now"] += PATIENCE_S

    assert made.is_due()


def test_a_failed_backup_is_reported_and_retried_a_day_later(nightly, monkeypatch):
    made, times, told = nightly
    monkeypatch.setattr(backups, "write_whole", full)

    assert made.back_up() is None
    assert told[0].startswith("No backup could be made in ")
    assert not made.is_due()

    monkeypatch.undo()
    times["now"] += EVERY_S + PATIENCE_S

    assert made.is_due()
    assert made.back_up()


def test_no_error_stops_later_backups(nightly, monkeypatch):
    made, _times, told = nightly
    monkeypatch.setattr(backups, "back_up", mock.Mock(side_effect=RuntimeError("a mistake of ours")))

    assert made.back_up() is None
    assert told == ["No backup could be made (RuntimeError)."]


def wait_for(name: str, path: Path) -> None:
    until_s = time.monotonic() + 60
    while name not in names(path) and time.monotonic() < until_s:
        time.sleep(0.01)


def test_the_service_backs_up_at_start_and_after_hands_and_keeps_daily_backups(path, monkeypatch):
    for _day in range(KEPT - 1):
        append(path, "Ann 25")
        back_up(path)
    append(path, "Ann 25")
    hands = [0]
    made = Nightly(path, lambda: 0.0, hands_ended=lambda: hands[0])
    monkeypatch.setattr(backups, "LOOK_S", 0.01)
    made.start()
    try:
        wait_for("log-000000013.sqlite3", path)
        for number in (1, 2, 3):
            append(path, "Ann 50")
            hands[0] = number
            wait_for(f"hand-{13 + number:09d}.sqlite3", path)
    finally:
        made.stop()

    assert [name for name in names(path) if name.startswith("hand-")] == [
        "hand-000000015.sqlite3",
        "hand-000000016.sqlite3",
    ]
    assert [last_in(one) for one in backups_of(path) if one.name.startswith("log-")] == list(range(13, 13 - KEPT, -1))
    assert rows_in_backup(backups_of(path)[0]) == look(path)


def test_a_log_damaged_while_in_use_is_not_backed_up(tmp_path):
    path = played(tmp_path, matches=2, plays=60)
    good = back_up(path)
    append(path, "Ann 25")
    path.write_bytes(garbage_page(path.read_bytes(), Random(2)))

    with pytest.raises((Problem, sqlite3.Error)):
        back_up(path)
    assert backups_of(path) == (good,)

"""Killed at any moment, the service loses nothing that a phone was told; and a loss would be noticed."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from trust.kills import Broken, Ledger, Log, check_party, kill_and_look
from trust.served import digest

from companion.match.match import Match
from companion.storage.event_store import Store


@pytest.mark.parametrize("kills", [8, pytest.param(50, marks=pytest.mark.long)])
def test_kills_lose_nothing_that_a_phone_was_told(tmp_path, kills):
    done = kill_and_look(kills, seed=50, home=tmp_path)

    assert done.kills == kills
    assert done.events > 0
    assert kills < 50 or done.exports > 0


# --- A loss would be noticed ----------------------------------------------------------------------------------


@pytest.fixture
def told(tmp_path) -> tuple[Log, Ledger]:
    """A log, and what was acknowledged of it."""
    path = tmp_path / "log.sqlite3"
    store = Store.open(path)
    match = Match(store)
    match.start(["side Ann", "side Bob", "hand first Ann"])
    match.sit("Ann", "Ann", "Zoë")
    match.enter("Ann roll", "Ann")
    ledger = Ledger(wrote={e.seq: digest(e.match, e.kind, e.body) for e in store.events(1)})
    store.close()
    return Log(path), ledger


def altered(log: Log, statement: str) -> None:
    db = sqlite3.connect(log.path)
    db.execute(statement)
    db.commit()
    db.close()


def test_a_log_that_holds_what_was_acknowledged_passes(told):
    log, ledger = told
    ledger.said = [(0, 6, "line", "Ann roll")]

    assert log.take_in(ledger) == 6
    log.read_all()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM event WHERE seq = 6",
        "DELETE FROM event WHERE seq = 4",
        "UPDATE event SET body = json_set(body, '$.text', 'Bob roll') WHERE seq = 6",
        "UPDATE event SET match = 4 WHERE seq = 6",
        """INSERT INTO event VALUES (7, 1, 0.0, 'line', '{"text": "Ann roll"}', 0)""",
    ],
)
def test_an_event_that_is_lost_changed_or_there_twice_is_noticed(told, statement):
    log, ledger = told
    altered(log, statement)

    with pytest.raises(Broken):
        log.take_in(ledger)


def test_what_changes_later_is_noticed(told):
    log, ledger = told
    log.take_in(ledger)
    altered(log, "UPDATE event SET kind = 'retract' WHERE seq = 2")

    with pytest.raises(Broken, match="has changed"):
        log.read_all()


def test_what_only_the_phone_knows_is_missed_too(told):
    log, ledger = told
    ledger.said = [(0, 6, "line", "Ann 100")]

    with pytest.raises(Broken, match="Ann 100"):
        log.take_in(ledger)


@pytest.mark.parametrize("statement", ["DELETE FROM event WHERE seq > 1", "DELETE FROM event WHERE seq != 1"])
def test_a_match_without_its_first_hand_is_noticed_although_nobody_was_told(told, statement):
    log, _ = told
    altered(log, statement)

    with pytest.raises(Broken, match="by half"):
        log.take_in(Ledger(open={1: "/setup"}))


@pytest.mark.parametrize(
    "kept",
    ['{"host": "a", "seats": {"Ann": "a"', '{"host": "b", "seats": {"Ann": "a"}, "watching": []}', "{}"],
)
def test_a_party_that_is_torn_or_another_is_noticed(tmp_path, kept):
    path: Path = tmp_path / "phones.json"
    path.write_text(kept)
    party = {"host": "a", "seats": {"Ann": "a"}, "watching": []}

    with pytest.raises(Broken):
        check_party(path, Ledger(party=(1, party)), party)
    path.write_text(json.dumps(party))
    assert check_party(path, Ledger(party=(1, party)), party) == party

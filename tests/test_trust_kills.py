"""A killed service loses nothing acknowledged, and a loss would be detected."""

import sqlite3
from contextlib import closing

import pytest
from trust.kills import Broken, Ledger, Log, kill_and_look
from trust.served import digest

from companion.match.match import Match
from companion.storage.event_store import Store


def test_kills_lose_nothing_acknowledged(tmp_path):
    done = kill_and_look(8, seed=50, home=tmp_path)

    assert done["kills"] == 8
    assert done["events"] > 0


# --- A loss would be noticed ----------------------------------------------------------------------------------


@pytest.fixture
def told(tmp_path) -> tuple[Log, Ledger]:
    """A log and its acknowledged events."""
    path = tmp_path / "log.sqlite3"
    store = Store.open(path)
    match = Match(store)
    match.start(["side Ann", "side Bob", "hand first Ann"])
    match.sit("Ann", "Ann", "Zoë")
    match.enter("Ann roll", "Ann")
    ledger = Ledger(wrote={e.seq: digest(e.match, e.kind, e.body) for e in store.events(1)})
    store.close()
    return Log(path), ledger


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
def test_a_lost_changed_or_duplicate_event_is_detected(told, statement):
    log, ledger = told
    with closing(sqlite3.connect(log.path)) as db, db:
        db.execute(statement)

    with pytest.raises(Broken):
        log.take_in(ledger)

"""The log: acknowledged events are never lost or deleted, and problems with the file are reported."""

from itertools import product

import pytest

from companion.common.errors import Problem
from companion.match.archive import judged
from companion.match.state import MatchState, derived
from companion.storage.event_store import NewEvent, Store
from companion.storage.events import SETUP, EventKind


def test_appended_events_are_there_after_reopening(store):
    store.append(None, NewEvent(SETUP, {"lines": ["side Ünal"]}))
    store.close()

    again = Store.open(store.path)

    assert [e.body for e in again.events(1)] == [{"lines": ["side Ünal"]}]
    again.close()


def test_two_spellings_of_a_name_in_an_older_log_are_one_player(store):
    lines = ["side Zoe\u0308", "side Bob"]
    store.append(None, NewEvent(SETUP, {"lines": lines, "by": "Zo\u00eb"}), NewEvent("seat", {"player": "Zoe\u0308"}))
    store.close()

    again = Store.open(store.path)

    assert [e.body for e in again.events(1)] == [
        {"lines": ["side Zo\u00eb", "side Bob"], "by": "Zo\u00eb"},
        {"player": "Zo\u00eb"},
    ]
    again.close()


WHOLE = {
    "lines": ["side Ann", "side Bob", "hand first Ann"], "edition": "x", "text": "Ann roll", "source": "camera",
    "before": 2, "question": "q", "deal": "key", "of": 2, "player": "Ann", "name": "Ann", "key": "policy",
    "value": "tap", "answer": "no", "about": "", "by": "Ann", "is_over": True, "letter": 1, "what": "note",
    "request": "r", "asked": "a", "zone": "z", "expected": None, "seen": None,
}  # fmt: skip
"""Every field that a body may have, as it should be."""


WRONG = (None, True, 7, 1.5, "", [], [1], [[]], {}, {"a": [1]}, "\ud800")


@pytest.mark.parametrize("kind", EventKind)
def test_a_field_of_the_wrong_type_is_refused_or_means_nothing(store, kind):
    store.append(None, NewEvent(SETUP, {"lines": WHOLE["lines"]}), NewEvent("line", {"text": "Ann roll"}))
    refused = set()
    for field, wrong in product(WHOLE, WRONG):
        draft = NewEvent(kind, {**WHOLE, field: wrong})
        try:
            (event,) = store.append(None if kind == SETUP else 1, draft)
        except ValueError as error:
            refused.add((field, str(error).startswith(f"a {kind} that could not be replayed")))
            continue
        events = store.events(event.match)
        assert derived(MatchState(), events).seq == judged(event.match, events).last == event.seq

    assert refused == {(field, True) for field in WHOLE}


def test_events_are_numbered_through_all_matches(store):
    store.append(None, NewEvent(SETUP, {}), NewEvent("line", {"text": "hand first Ann"}))
    store.append(None, NewEvent(SETUP, {}))

    (last,) = store.append(3, NewEvent("line", {"text": "Ann roll"}))

    assert store.matches() == (1, 3)
    assert (last.seq, last.match, last.at_s) == (4, 3, 1_700_000_000.0)
    assert [e.seq for e in store.events(3)] == [3, 4]


def test_events_of_one_change_are_written_together_or_not_at_all(store):
    with pytest.raises(TypeError):
        store.append(None, NewEvent(SETUP, {}), NewEvent("line", {"text": object()}))

    assert store.matches() == ()


def test_a_reader_is_told_about_a_damaged_file(tmp_path):
    (tmp_path / "log.sqlite3").write_bytes(b"this was never a database" * 100)

    with pytest.raises(Problem, match="is damaged: start the companion"):
        Store.open(tmp_path / "log.sqlite3", read_only=True)

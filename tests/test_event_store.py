"""The log: nothing acknowledged is lost, nothing is deleted, and what is wrong with the file is said."""

import pytest

from companion.common.errors import Problem
from companion.storage.data_folder import store_path
from companion.storage.event_store import NewEvent, Store
from companion.storage.events import SETUP


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
    with_one.append(None, NewEvent(SETUP, {"lines": ["side Ünal"]}))
    with_one.close()

    again = Store.open(path)

    assert [e.body for e in again.events(1)] == [{"lines": ["side Ünal"]}]
    again.close()


def test_events_are_numbered_through_all_matches(store):
    store.append(None, NewEvent(SETUP, {}), NewEvent("line", {"text": "hand first Ann"}))
    store.append(None, NewEvent(SETUP, {}))

    (last,) = store.append(3, NewEvent("line", {"text": "Ann roll"}))

    assert store.matches() == (1, 3)
    assert (last.seq, last.match, last.at_s) == (4, 3, 12.5)
    assert [e.seq for e in store.events(3)] == [3, 4]


def test_events_that_belong_together_are_written_together_or_not_at_all(store):
    with pytest.raises(TypeError):
        store.append(None, NewEvent(SETUP, {}), NewEvent("line", {"text": object()}))

    assert store.matches() == ()


def test_a_second_companion_is_kept_out_of_the_same_folder(store, path):
    with pytest.raises(Problem, match="Another companion is using"):
        Store.open(path)


def test_a_damaged_file_is_said_to_whoever_only_reads(path):
    path.write_bytes(b"this was never a database" * 100)

    with pytest.raises(Problem, match="is damaged: start the companion"):
        Store.open(path, read_only=True)

"""Logs of every released schema can be opened, migrated, replayed and exported unchanged."""

import hashlib
import shutil
import sqlite3
from contextlib import closing
from itertools import count

import pytest
from logs import SCHEMAS, changed, frozen, plug_pulled

from companion.app.service import exported
from companion.common.errors import Problem
from companion.match.archive import judged
from companion.match.match import Match
from companion.rules.record import notation
from companion.storage import database
from companion.storage.database import MIGRATIONS, connected, look, schema_of
from companion.storage.event_store import Store
from companion.storage.events import EventKind, checksum

RELEASED = {
    1: "5d91c9be373a9e0c46770582defde526880261888e2cb385fbb1d8e26495c6bd",
    2: "b36f679977d6e098e3c0a56fb437e4c21acb48ecb5a84bc8d270cca3d415b276",
    3: "09fe3141ded862a62a63cca50fbc090f111eeda2d6446477c5c7f5c1899e40cd",
}
"""Fingerprint of each released migration, by the schema that it creates."""

NEW_KINDS = {
    1: "setup line correct retract undo redo seat setting answer", 2: "claim", 3: "waive wish call letter",
}  # fmt: skip
"""Kinds of events added by each schema. Never edit a released entry: a new kind needs a new schema."""


def text_of(store: Store) -> str:
    """Return all matches of a log as records."""
    pasts = [judged(match, store.events(match)) for match in store.matches()]
    return "".join(f"# match {past.match}\n{notation.record_text(past.lines)}" for past in pasts)


@pytest.mark.parametrize("number", range(1, len(MIGRATIONS) + 1))
def test_a_log_of_every_released_schema_can_be_opened_exported_and_continued(number, tmp_path):
    path = frozen(number, tmp_path)
    store = Store.open(path)
    expected = (SCHEMAS / f"{number}.mbn").read_text(encoding="utf-8")
    last = look(path)[-1][0]

    assert text_of(store) == expected
    assert Match(store).lines() == notation.record_text(Match(store).lines()).replace("\n\n", "\n").splitlines()
    Match(store).start(["side Ann", "side Bob", "hand first Ann"])
    assert store.matches()[-1] == last + 1

    store.close()

    assert exported(1, "mbn", tmp_path) == expected.partition("# match 1\n")[2].partition("# match ")[0]
    with closing(sqlite3.connect(path)) as db:
        assert schema_of(db) == len(MIGRATIONS)


def test_a_log_without_checksums_gets_them_and_keeps_its_content(tmp_path):
    path = frozen(1, tmp_path)
    before = look(path)

    Store.open(path).close()

    assert look(path) == before
    with closing(sqlite3.connect(path)) as db:
        kept = [crc for (crc,) in db.execute("SELECT crc FROM event ORDER BY seq")]
    assert kept == [checksum(row) for row in before]


@pytest.mark.parametrize("statement", ["", "UPDATE event SET at_s = 0 WHERE seq = 5"])
def test_a_first_schema_log_keeps_plays_from_its_write_ahead_log(tmp_path, statement):
    (tmp_path / "killed").mkdir()
    path = frozen(1, tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("INSERT INTO event VALUES (33, 27, 0.0, 'line', '{\"text\": \"Ann 25\"}')")
        db.execute(statement)
        for one in tmp_path.glob("companion.sqlite3*"):
            shutil.copy(one, tmp_path / "killed" / one.name)
    killed = tmp_path / "killed" / path.name
    found = {one.name: one.read_bytes() for one in killed.parent.iterdir() if not one.name.endswith("-shm")}

    rows = look(killed)

    assert (len(rows), rows[-1][4]) == (33, '{"text": "Ann 25"}')
    assert {name: (killed.parent / name).read_bytes() for name in found} == found
    Store.open(killed).close()
    assert look(killed) == rows
    assert [one.name for one in killed.parent.glob("companion.sqlite3*")] == ["companion.sqlite3"]


def test_every_schema_has_a_frozen_log():
    kept = next(number - 1 for number in count(1) if not (SCHEMAS / f"{number}.sql").exists())

    assert kept == len(MIGRATIONS), "write tests/schemas/N.sql with the program of schema N before you add to it"


def test_a_released_migration_is_never_edited():
    prints = {n: hashlib.sha256(text.encode()).hexdigest() for n, text in enumerate(MIGRATIONS, start=1)}

    assert prints == RELEASED


def test_a_new_kind_of_event_needs_a_new_schema():
    kinds = " ".join(NEW_KINDS.values()).split()

    assert sorted(kinds) == sorted(EventKind)
    assert list(NEW_KINDS) == list(range(1, len(MIGRATIONS) + 1))


@pytest.mark.parametrize("number", range(1, len(MIGRATIONS) + 1))
def test_a_frozen_log_contains_the_new_kinds_of_its_schema(number, tmp_path):
    kinds = {kind for _seq, _match, _at_s, kind, _body in look(frozen(number, tmp_path))}

    assert set(NEW_KINDS[number].split()) <= kinds | {"claim"}  # Claims are older than the frozen log of their schema.


@pytest.mark.parametrize("is_killed", [False, True])
def test_an_older_program_reports_a_newer_log_and_changes_nothing(tmp_path, monkeypatch, is_killed):
    """Includes a newer program killed right after the migration."""
    path = frozen(len(MIGRATIONS) - 1, tmp_path)
    monkeypatch.setattr(database, "MIGRATIONS", MIGRATIONS[:-1])
    Store.open(path).close()
    monkeypatch.undo()
    with plug_pulled(1 if is_killed else 0, (database, "_write_for_trial")):
        Store.open(path).close()
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}

    monkeypatch.setattr(database, "MIGRATIONS", MIGRATIONS[:-1])
    with pytest.raises(Problem) as said:
        Store.open(path)

    assert str(said.value) == (
        f"{path} was written by a newer version of the companion: install that version, or move the file."
    )
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before


def test_an_interrupted_migration_leaves_the_old_schema(tmp_path, monkeypatch):
    path = frozen(1, tmp_path)
    before = look(path)
    half = "ALTER TABLE event ADD COLUMN more TEXT; CREATE TABLE event (twice TEXT);"
    monkeypatch.setattr(database, "MIGRATIONS", (MIGRATIONS[0], half))

    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        connected(path)

    monkeypatch.undo()
    assert look(path) == before
    with closing(sqlite3.connect(path)) as db:
        assert schema_of(db) == 1
        assert "more" not in db.execute("SELECT sql FROM sqlite_schema").fetchone()[0]


def test_a_log_of_a_newer_schema_is_refused_and_not_changed(tmp_path):
    path = frozen(1, tmp_path)
    changed(path, "PRAGMA user_version = 99")
    before = path.read_bytes()

    with pytest.raises(database.Problem, match="newer version"):
        Store.open(path)
    assert path.read_bytes() == before

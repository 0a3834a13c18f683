"""A damaged log: put away, mended from the newest backup and what can still be read, and said until it was read."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from random import Random

import pytest
from logs import DAMAGES, append, full, garbage, garbage_page, played

from companion.common.errors import Problem
from companion.match.archive import judged
from companion.match.match import Match
from companion.pages import create_app
from companion.storage import database, recovery
from companion.storage.backups import back_up, backups_of
from companion.storage.data_folder import store_path
from companion.storage.database import look
from companion.storage.event_store import Draft, Store
from companion.storage.events import Row, is_sound, unbroken
from companion.storage.page_reader import image_of, rows_in, with_wal


def wal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def copied(path: Path, folder: Path) -> Path:
    """A log with all that lies beside it, as a pulled plug leaves it."""
    for one in path.parent.glob("companion.sqlite3*"):
        shutil.copy(one, folder / one.name)
    if (path.parent / "backups").exists():
        shutil.copytree(path.parent / "backups", folder / "backups", dirs_exist_ok=True)
    return folder / path.name


def mended(path: Path) -> tuple[tuple[Row, ...], str | None]:
    """What a start makes of a log: its events, and what it says. The start after it finds a log that is whole."""
    store = Store.open(path)
    note = store.note.sentence if store.note else None
    assert store.unsaved is None
    for match in store.matches():
        judged(match, store.events(match))
    store.close()
    return look(path), note


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A log with a backup, and plays after it."""
    path = played(tmp_path_factory.mktemp("whole"))
    assert back_up(path)
    append(path, *["Ann 25"] * 5)
    return path


# --- Reading the file page by page ----------------------------------------------------------------------------


def test_what_is_read_page_by_page_is_what_sqlite_reads(whole, tmp_path):
    path = copied(whole, tmp_path)
    store = Store.open(path)
    store.append(1, Draft("line", {"text": "y" * 20_000}), Draft("line", {"text": "Ünal 25"}))

    both = with_wal(image_of(path.read_bytes()), wal_of(path).read_bytes())

    assert tuple(sorted(rows_in(both).values())) == look(path)
    assert len(rows_in(image_of(path.read_bytes()))) < len(look(path))
    store.close()


def test_random_bytes_hold_no_events():
    chance = Random(7)
    for _turn in range(200):
        file = b"".join(b"\x0d" + chance.randbytes(4095) for _page in range(4))

        assert not [row for row in rows_in(image_of(file)).values() if is_sound(row)]


# --- Damage ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_with_a_backup_no_damage_loses_what_is_in_it(whole, tmp_path, damage, seed):
    path = copied(whole, tmp_path)
    path.write_bytes(damage(path.read_bytes(), Random(seed)))
    damaged, full_log = path.read_bytes(), look(whole)
    in_backup = full_log[:-5]

    rows, note = mended(path)

    assert rows[: len(in_backup)] == in_backup
    assert rows == full_log[: len(rows)]
    if note is None:
        assert rows == full_log
    else:
        assert (tmp_path / "damaged" / "1-companion.sqlite3").read_bytes() == damaged
        assert "backup" in note


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_without_a_backup_what_can_be_read_is_there_and_nothing_is_made_up(whole, tmp_path, damage, seed):
    path = copied(whole, tmp_path)
    shutil.rmtree(tmp_path / "backups")
    path.write_bytes(damage(path.read_bytes(), Random(seed)))

    rows, note = mended(path)

    assert set(rows) <= set(look(whole))
    assert unbroken(rows) == rows
    assert note or rows == look(whole)


def test_where_nothing_can_be_read_a_new_log_is_begun_and_said(tmp_path):
    path = store_path(tmp_path)
    path.write_bytes(b"this was never a database" * 1000)

    rows, note = mended(path)

    assert rows == ()
    assert note == (
        "The file with all matches was damaged; it lies in damaged/1-companion.sqlite3 now."
        " There was no backup, and nothing could be read in it: a new one is begun."
    )


def test_a_damaged_file_is_put_away_over_no_other(tmp_path):
    path = store_path(tmp_path)
    for number in range(3):
        path.write_bytes(f"damaged for the {number}. time".encode() * 100)
        mended(path)

    kept = sorted((tmp_path / "damaged").iterdir())
    assert [one.name for one in kept] == [f"{number}-companion.sqlite3" for number in (1, 2, 3)]
    assert kept[2].read_bytes().startswith(b"damaged for the 2.")


def test_a_gap_ends_its_match_and_a_match_begun_after_it_is_whole():
    rows = [(seq, match, 0.0, "setup" if seq == match else "line", "{}") for seq, match in
            [(1, 1), (2, 1), (4, 1), (5, 1), (6, 6), (7, 6), (9, 9), (10, 9)]]  # fmt: skip

    assert [row[0] for row in unbroken(rows)] == [1, 2, 6, 7, 9, 10]


def test_what_is_missing_is_counted_and_its_match_named(tmp_path):
    path = played(tmp_path, matches=3, plays=120)
    file = path.read_bytes()
    pages = [number for number in range(1, len(file) // 4096) if b"Ann roll" in file[number * 4096 :][:4096]]
    at = pages[len(pages) // 2 + 1] * 4096
    path.write_bytes(file[:at] + bytes(4096) + file[at + 4096 :])

    store = Store.open(path)

    assert store.note is not None
    assert store.note.missing > 0
    assert store.note.matches
    assert f"At least {store.note.missing} entries are missing" in store.note.sentence
    store.close()


@pytest.mark.parametrize("has_backup", [True, False])
def test_plays_whose_page_is_gone_are_counted_where_the_index_knows_them(tmp_path, has_backup):
    path = played(tmp_path, matches=1, plays=120)
    if has_backup:
        back_up(path)
    append(path, *["Ann 25"] * 200)
    all_rows, file = look(path), path.read_bytes()
    last_page = max(at for at in range(0, len(file), 4096) if rows_in(image_of(file), only=at // 4096 + 1))
    path.write_bytes(file[:last_page] + bytes(4096) + file[last_page + 4096 :])

    rows, note = mended(path)

    lost = len(all_rows) - len(rows)
    assert lost > 10
    assert f"At least {lost} entries are missing, in match 1" in note


def test_a_number_that_does_not_follow_is_not_believed():
    assert recovery._known_after(7, {3: 1, 8: 1, 9: 1, 11: 10, 10**9: 1}) == {8: 1, 9: 1}


# --- The write-ahead log --------------------------------------------------------------------------------------


@pytest.fixture
def killed(tmp_path):
    """A log whose last plays are in its write-ahead log alone, as a killed service leaves it."""
    path = played(tmp_path / "a" if (tmp_path / "a").mkdir() is None else tmp_path)
    store = Store.open(path, clock=lambda: 12.5)
    for _play in range(6):
        store.append(store.matches()[-1], Draft("line", {"text": "Ann 50", "by": "Ann"}))
    (tmp_path / "b").mkdir()
    left = copied(path, tmp_path / "b")
    store.close()
    return left


def test_a_killed_service_leaves_nothing_to_mend(killed):
    rows, note = mended(killed)

    assert note is None
    assert [row[4] for row in rows[-6:]] == ['{"text":"Ann 50","by":"Ann"}'] * 6


def test_a_missing_write_ahead_log_is_noticed_by_the_backup(killed):
    assert back_up(killed)
    before = look(killed)
    wal_of(killed).unlink()

    rows, note = mended(killed)

    assert rows == before
    assert "The newest backup is here again." in str(note)


def test_the_write_ahead_log_of_another_file_is_not_taken(killed, tmp_path):
    (tmp_path / "c").mkdir()
    other = store_path(tmp_path / "c")
    store = Store.open(other)
    Match(store).start(["side Eve", "side Gus", "hand first Eve"])
    for _play in range(200):
        store.append(1, Draft("line", {"text": "Eve 200", "by": "Eve"}))
    foreign = wal_of(other).read_bytes()
    store.close()
    wal_of(killed).write_bytes(foreign)
    ours = rows_in(image_of(killed.read_bytes()))

    rows, note = mended(killed)

    assert "any that are missing can be entered anew" in note
    assert set(rows) == set(ours.values())
    assert (killed.parent / "damaged" / "1-companion.sqlite3-wal").read_bytes() == foreign


def test_a_piece_out_of_the_write_ahead_log_costs_no_more_than_that_piece(killed):
    whole = look(killed)
    wal = bytearray(wal_of(killed).read_bytes())
    wal[32 + 24 + 200 : 32 + 24 + 260] = b"x" * 60
    wal_of(killed).write_bytes(wal)

    rows, note = mended(killed)

    assert note
    assert set(rows) <= set(whole)
    assert rows[-1] == whole[-1]


def test_what_was_being_written_as_the_plug_was_pulled_is_no_damage(killed):
    whole = look(killed)
    wal = wal_of(killed).read_bytes()
    wal_of(killed).write_bytes(wal[:-3000] + bytes(3000))

    rows, note = mended(killed)

    assert note is None
    assert rows == whole[: len(rows)]
    assert len(rows) >= len(whole) - 1


def test_only_a_write_ahead_log_is_left(killed):
    killed.write_bytes(b"")

    rows, note = mended(killed)

    assert note
    assert unbroken(rows) == rows


# --- A log that is gone, or another one -----------------------------------------------------------------------


def test_a_log_that_is_gone_comes_back_from_its_backup(whole, tmp_path):
    path = copied(whole, tmp_path)
    path.unlink()

    rows, note = mended(path)

    assert rows == look(whole)[:-5]
    assert str(note).startswith("The file with all matches was lost or damaged. The newest backup is here again.")


def test_a_log_that_ends_before_its_backup_has_lost_its_end(whole, tmp_path):
    path = copied(whole, tmp_path)
    last = look(whole)[-6][0]
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM event WHERE seq > ?", (last - 10,))
        db.commit()

    assert mended(path)[0] == look(whole)[:-5]


def test_the_backups_of_another_log_are_put_away_and_not_restored(whole, tmp_path):
    path = copied(whole, tmp_path)
    path.unlink()
    (tmp_path / "fresh").mkdir()
    own = played(tmp_path / "fresh", matches=1, plays=3)
    store = Store.open(own)
    store.append(1, Draft("line", {"text": "Bob roll", "by": "Bob"}))
    store.close()
    shutil.copy(own, path)

    rows, note = mended(path)

    assert note is None
    assert rows == look(own)
    assert backups_of(path) == ()
    assert list((tmp_path / "damaged").iterdir())


def test_a_damaged_backup_is_passed_over_for_an_older_one(whole, tmp_path):
    path = copied(whole, tmp_path)
    append(path, "Ann 75")
    newest = back_up(path)
    newest.write_bytes(garbage_page(newest.read_bytes(), Random(1)))
    path.write_bytes(garbage(path.read_bytes(), Random(1)))

    rows, _note = mended(path)

    assert rows == look(whole)[:-5]
    assert newest not in backups_of(path)
    assert (tmp_path / "damaged" / f"1-{newest.name}").exists()


# --- Whole or not at all --------------------------------------------------------------------------------------


class Pulled(BaseException):
    """The plug."""


@pytest.mark.parametrize("moment", range(1, 16))
def test_a_plug_pulled_while_mending_loses_nothing(whole, tmp_path, monkeypatch, moment):
    path = copied(whole, tmp_path)
    path.write_bytes(garbage_page(path.read_bytes(), Random(2)))
    expected = mended(copied(path, tmp_path / "beside" if (tmp_path / "beside").mkdir() is None else tmp_path))[0]
    steps = [0]

    def counted(act):
        def pulled(*arguments, **more):
            steps[0] += 1
            if steps[0] == moment:
                raise Pulled
            return act(*arguments, **more)

        return pulled

    for owner, name in ((Path, "rename"), (Path, "replace"), (Path, "unlink"), (Path, "mkdir"), (database.os, "fsync")):
        monkeypatch.setattr(owner, name, counted(getattr(owner, name)))
    with suppress(Pulled):
        Store.open(path).close()
    monkeypatch.undo()

    rows, _note = mended(path)

    assert rows == expected
    assert moment < 15 or steps[0] < moment, "there are more moments than are tried"
    assert len(list((tmp_path / "damaged").glob("*companion.sqlite3"))) >= 1


def test_a_damaged_log_on_a_disk_that_cannot_be_written_is_mended_in_memory(whole, tmp_path, monkeypatch):
    path = copied(whole, tmp_path)
    path.write_bytes(garbage_page(path.read_bytes(), Random(2)))
    before = path.read_bytes()
    monkeypatch.setattr(recovery, "_put_in_place", full)

    store = Store.open(path)

    assert store.matches() == (1, 64)
    assert store.note
    assert store.unsaved
    assert path.read_bytes() == before

    store.append(64, Draft("line", {"text": "Ann 75"}), hold=True)
    monkeypatch.undo()
    assert store.save()
    assert store.unsaved is None
    store.close()
    assert look(path)[-1][4] == '{"text":"Ann 75"}'


def test_a_log_that_may_not_be_read_is_a_sentence_and_stays(tmp_path):
    store_path(tmp_path).mkdir()

    with pytest.raises(Problem, match="cannot be read"):
        Store.open(store_path(tmp_path))


# --- The note -------------------------------------------------------------------------------------------------


def test_what_became_of_a_damaged_log_is_said_on_the_pages_until_the_host_has_read_it(whole, tmp_path):
    path = copied(whole, tmp_path)
    path.write_bytes(garbage_page(path.read_bytes(), Random(2)))
    Store.open(path).close()
    store = Store.open(path)
    page = create_app(Match(store), secret=b"x" * 32).test_client()

    assert "The newest backup is here again" in page.get("/").text
    assert "The newest backup is here again" in page.get("/seats").text

    answer = page.post("/mended", headers={"Origin": "http://localhost"})

    assert answer.status_code == 303
    assert "The newest backup is here again" not in page.get("/").text
    store.close()
    store = Store.open(path)
    assert store.note is None
    store.close()


@pytest.mark.parametrize("kept", ["", "{", "[]", "null", '{"away": 1}', '{"away": "x", "backup": "y"}'])
def test_a_damaged_note_is_none(tmp_path, kept):
    (tmp_path / recovery.NOTE_NAME).write_text(kept)

    assert recovery.note(tmp_path) is None

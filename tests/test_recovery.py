"""A damaged log is moved aside, repaired from the newest backup and readable events, and reported until confirmed."""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from logs import DAMAGES, PAGE, append, changed, frozen, full, garbage, garbage_page, played, plug_pulled
from trust import damages

from companion.app.doctor import matches
from companion.common.errors import Problem
from companion.match.archive import judged
from companion.match.match import Match
from companion.pages import create_app
from companion.storage import raw_pages, recovery
from companion.storage.backups import back_up, backups_of
from companion.storage.data_folder import store_path
from companion.storage.database import look
from companion.storage.event_store import NewEvent, Store
from companion.storage.events import Row, is_sound, unbroken


def copied(path: Path, folder: Path) -> Path:
    """Copy a log with its sidecars, as a power cut leaves them."""
    for one in (*path.parent.glob("companion.sqlite3*"), *path.parent.glob(recovery.LAST_NAME)):
        shutil.copy(one, folder / one.name)
    if (path.parent / "backups").exists():
        shutil.copytree(path.parent / "backups", folder / "backups", dirs_exist_ok=True)
    return folder / path.name


def mended(path: Path) -> tuple[tuple[Row, ...], str | None]:
    """Return the events and the note after a start. The next start finds an intact log."""
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


# --- Damage ---------------------------------------------------------------------------------------------------


@pytest.mark.variants(len(DAMAGES))
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("seed", range(4))
def test_no_damage_loses_events_of_the_backup(whole, tmp_path, damage, seed):
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


@pytest.mark.variants(len(DAMAGES))
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("seed", range(4))
def test_without_a_backup_readable_events_are_kept_and_none_invented(whole, tmp_path, damage, seed):
    path = copied(whole, tmp_path)
    shutil.rmtree(tmp_path / "backups")
    path.write_bytes(damage(path.read_bytes(), Random(seed)))

    rows, note = mended(path)

    assert set(rows) <= set(look(whole))
    assert unbroken(rows) == rows
    assert note or rows == look(whole)


def test_an_unreadable_log_is_replaced_by_a_new_one_and_reported(tmp_path):
    path = store_path(tmp_path)
    path.write_bytes(b"this was never a database" * 1000)

    rows, note = mended(path)

    assert rows == ()
    assert note == (
        "The match file was damaged. The damaged file is now in damaged/1-companion.sqlite3."
        " There was no backup and nothing could be recovered, so a new file was started."
    )


def test_a_damaged_file_is_moved_aside_without_overwriting_another(tmp_path):
    path = store_path(tmp_path)
    for number in range(3):
        path.write_bytes(f"damaged for the {number}. time".encode() * 100)
        mended(path)

    kept = sorted((tmp_path / "damaged").iterdir())
    assert [one.name for one in kept] == [f"{number}-companion.sqlite3" for number in (1, 2, 3)]
    assert kept[2].read_bytes().startswith(b"damaged for the 2.")


def test_a_gap_ends_its_match_but_a_later_match_is_complete():
    rows = [(seq, match, 0.0, "setup" if seq == match else "line", "{}") for seq, match in
            [(1, 1), (2, 1), (4, 1), (5, 1), (6, 6), (7, 6), (9, 9), (10, 9)]]  # fmt: skip

    assert [row[0] for row in unbroken(rows)] == [1, 2, 6, 7, 9, 10]


@pytest.mark.parametrize("has_backup", [True, False])
def test_plays_on_a_lost_page_are_counted_and_their_match_is_named(tmp_path, has_backup):
    path = played(tmp_path, matches=1, plays=120)
    if has_backup:
        back_up(path)
    append(path, *["Ann 25"] * 200)
    all_rows, file = look(path), path.read_bytes()
    last = b'"text":"Ann 25"'
    at = max(at for at in range(0, len(file), 4096) if file[at] == 0x0D and last in file[at : at + 4096])
    path.write_bytes(file[:at] + bytes(4096) + file[at + 4096 :])

    rows, note = mended(path)

    lost = len(all_rows) - len(rows)
    assert lost > 10
    assert f"At least {lost} entries are missing, in match 1" in note


# --- One event ------------------------------------------------------------------------------------------------


@pytest.fixture
def evening(tmp_path):
    """A log of some plays, with a backup after the first of them."""
    path = played(tmp_path, matches=1, plays=0)
    append(path, "Ann roll", "Bob roll", "Ann 25")
    back_up(path)
    append(path, "Bob 50", "Ann 75", "Bob 25", "Ann 100")
    return path


@pytest.mark.parametrize(
    "statement",
    [
        """UPDATE event SET body = replace(body, '"text"', '"test"') WHERE seq = 10""",
        "UPDATE event SET body = replace(body, 'Ann 100', 'Ann 200') WHERE seq = 10",
        "UPDATE event SET kind = 'retract' WHERE seq = 10", "UPDATE event SET match = 6 WHERE seq = 10",
        "UPDATE event SET at_s = 99.5 WHERE seq = 10", "UPDATE event SET seq = 13 WHERE seq = 10",
        "DELETE FROM event WHERE seq = 10",
    ],
)  # fmt: skip
def test_a_changed_event_is_not_accepted(evening, statement):
    whole = look(evening)
    changed(evening, statement)

    rows, note = mended(evening)

    assert rows == whole[:-1]
    assert "At least 1 entry is missing, in match 1" in note


def test_a_changed_event_is_restored_from_a_backup(evening):
    whole = look(evening)
    changed(evening, "UPDATE event SET body = replace(body, 'Ann roll', 'Ann stop') WHERE seq = 4")

    rows, note = mended(evening)

    assert rows == whole
    assert "missing" not in note.replace("enter any that are missing", "")


def test_an_invalid_event_without_a_checksum_counts_as_damage(tmp_path):
    path = frozen(1, tmp_path)
    whole = look(path)
    changed(path, """UPDATE event SET body = replace(body, '"text"', '"tezt"') WHERE seq = 32""")

    rows, note = mended(path)

    assert rows == whole[:-1]
    assert note


@pytest.mark.parametrize("body", ['{"text": "Ann \\ud800"}', '{"text": 7}', "[]", "{", "null"])
def test_an_event_with_text_that_cannot_be_shown_is_not_sound(body):
    assert not is_sound((7, 1, 0.0, "line", body))


def test_lost_first_bytes_cost_no_event(evening):
    whole = look(evening)
    evening.write_bytes(bytes(16) + evening.read_bytes()[16:])

    rows, note = mended(evening)

    assert rows == whole
    assert note


@pytest.mark.parametrize("number", [0, 7, 6, 2**20])
def test_a_changed_schema_number_counts_as_damage_and_costs_no_event(evening, number):
    whole = look(evening)
    changed(evening, f"PRAGMA user_version = {number}")

    rows, note = mended(evening)

    assert rows[:6] == whole[:6]
    assert number == 0 or rows == whole
    assert note


def test_an_event_that_cannot_be_replayed_is_never_written(evening):
    store = Store.open(evening)

    with pytest.raises(ValueError, match="could not be replayed"):
        store.append(1, NewEvent("line", {"txet": "Ann 25"}))
    store.close()


# --- A flipped bit --------------------------------------------------------------------------------------------


def flipped_at(file: bytes, *places: tuple[int, int]) -> bytes:
    """Flip bits in a file, each given by its byte and its place in the byte."""
    other = bytearray(file)
    for at, bit in places:
        other[at] ^= 1 << bit
    return bytes(other)


@pytest.fixture
def many(tmp_path):
    """A log of a few hundred plays without a backup; long plays overflow to other pages."""
    path = played(tmp_path, matches=1, plays=90)
    append(path, *["Ann 25"] * 150)
    return path


def test_any_flipped_bit_of_an_event_is_corrected_and_reported(evening):
    shutil.rmtree(evening.parent / "backups")
    whole, file = look(evening), evening.read_bytes()
    body = b'{"text":"Bob 50","by":"Ann"}'
    at = file.index(body)
    for place in (at - 12, at - 5, at, at + 3, at + 10, at + len(body) + 2):
        evening.write_bytes(flipped_at(file, (place, place % 7)))

        rows, note = mended(evening)

        assert rows == whole
        assert "A flipped bit was corrected in 1 entry, as its checksum confirms." in note
        assert "At least" not in note


def test_no_flipped_bit_of_a_page_loses_a_play(many):
    whole, file = look(many), many.read_bytes()
    page = file.rindex(b"Ann 25") // PAGE * PAGE

    for at in range(page, page + PAGE, 29):
        sound, corrected = raw_pages.events_in(flipped_at(file, (at, at % 8)))

        assert tuple(row for _, row in sorted((sound | corrected).items())) == whole


@pytest.mark.parametrize("place", [100, 2000, PAGE + 100])
def test_a_flipped_bit_anywhere_in_a_long_play_is_corrected(many, place):
    whole, file = look(many), many.read_bytes()
    text = b"x" * 300
    at = file.index(text) if place < PAGE else file.rindex(text)

    sound, corrected = raw_pages.events_in(flipped_at(file, (at + place % 200, 3)))

    assert tuple(row for _, row in sorted((sound | corrected).items())) == whole
    assert corrected


def test_pages_without_a_link_from_another_page_are_found(many):
    whole, file = look(many), many.read_bytes()
    inner = next(at for at in range(0, len(file), PAGE) if file[at] == 0x05)
    many.write_bytes(file[:inner] + bytes(PAGE) + file[inner + PAGE :])

    assert mended(many)[0] == whole


@pytest.mark.parametrize("seed", range(40))
def test_several_flipped_bits_never_make_another_event(many, seed):
    whole, file, chance = look(many), many.read_bytes(), Random(seed)
    at = file.rindex(b'{"text":"Ann 25","by":"Ann"}')
    places = [(chance.randrange(at, at + 28), chance.randrange(8)) for _ in range(chance.randint(2, 5))]

    sound, corrected = raw_pages.events_in(flipped_at(file, *places))

    assert {*sound.values(), *corrected.values()} <= set(whole)


def test_repair_of_an_entirely_damaged_file_gives_up_in_time(many, monkeypatch):
    file = many.read_bytes()
    damaged = flipped_at(file, *((at + PAGE - 20, 1) for at in range(0, len(file), PAGE) if file[at] == 0x0D))
    assert raw_pages.events_in(damaged)[1]

    monkeypatch.setattr(raw_pages, "MOST_TRIALS", 100)
    assert raw_pages.events_in(damaged) == ({}, {})


def test_a_page_of_garbage_takes_little_work(monkeypatch):
    steps, varint = [0], raw_pages._varint

    def counted(*arguments):
        steps[0] += 1
        return varint(*arguments)

    monkeypatch.setattr(raw_pages, "_varint", counted)
    monkeypatch.setattr(raw_pages, "MOST_TRIALS", 0)
    raw_pages._event.cache_clear()

    assert raw_pages.events_in(bytes(PAGE) + b"\x0d" + Random(2).randbytes(PAGE - 1)) == ({}, {})
    assert PAGE < steps[0] < 20 * PAGE


def test_a_note_of_an_older_version_is_read(tmp_path):
    (tmp_path / recovery.NOTE_NAME).write_text(
        '{"away": "damaged/1-companion.sqlite3", "backup": 3, "beyond": 2, "missing": 1, "matches": [1]}'
    )

    assert "At least 1 entry is missing, in match 1" in recovery.note(tmp_path).sentence


# --- Files beside the log -------------------------------------------------------------------------------------


@pytest.fixture
def killed(tmp_path):
    """The log of a killed service; its only backup is from the first plays."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    store = Store.open(played(tmp_path / "a", matches=1, plays=0))
    back_up(store.path)
    for _play in range(60):
        store.append(1, NewEvent("line", {"text": "Ann 50", "by": "Ann"}))
    left = copied(store.path, tmp_path / "b")
    store.close()
    return left


def test_between_two_plays_the_whole_log_is_in_one_file(killed):
    assert [one.name for one in killed.parent.glob("companion.sqlite3*")] == [killed.name]
    assert len(look(killed)) == 63


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("content", [b"", bytes(4096), b"rubbish" * 900])
def test_no_file_beside_the_log_changes_it(killed, ending, content):
    whole = look(killed)
    killed.with_name(f"{killed.name}{ending}").write_bytes(content)

    rows, note = mended(killed)

    assert (rows, note) == (whole, None)


def test_an_interrupted_transaction_is_rolled_back(killed):
    whole = look(killed)
    with closing(sqlite3.connect(killed, isolation_level=None)) as db:
        db.execute("PRAGMA cache_size = 1")
        db.execute("PRAGMA cache_spill = 1")
        db.execute("BEGIN IMMEDIATE")
        for seq in range(64, 400):
            db.execute("INSERT INTO event VALUES (?, 1, 0.0, 'line', '{\"text\": \"Ann 25\"}', 0)", (seq,))
        (killed.parent / "c").mkdir()
        cut = copied(killed, killed.parent / "c")
    found = {one.name: one.read_bytes() for one in cut.parent.glob("companion.sqlite3*")}
    assert found[f"{cut.name}-journal"]

    assert look(cut) == whole
    assert {name: (cut.parent / name).read_bytes() for name in found} == found
    assert mended(cut) == (whole, None)


@pytest.mark.parametrize(
    ("spoil", "kept"),
    [(lambda log: changed(log, "DELETE FROM event WHERE seq > 40"), 40), (lambda log: log.write_bytes(b""), 3)],
    ids=["shorter", "emptied"],
)
def test_a_log_that_lost_its_end_is_reported(killed, spoil, kept):
    whole = look(killed)
    spoil(killed)

    rows, note = mended(killed)

    assert rows == whole[:kept]
    assert f"At least {63 - kept} entries are missing, in match 1" in note
    assert Store.open(killed).note.missing == 63 - kept


def test_the_loss_of_the_log_and_all_backups_is_reported(killed):
    killed.unlink()
    shutil.rmtree(killed.parent / "backups")

    rows, note = mended(killed)

    assert rows == ()
    assert "There was no backup" in note
    assert mended(killed) == ((), note)


@pytest.mark.parametrize("content", ["", "[1, 2]", "[90, 1, 77, 5]", "null", '{"seq": 90}', "x" * 300, None])
def test_a_damaged_or_missing_number_of_the_last_event_is_ignored(killed, content):
    whole, kept = look(killed), killed.parent / recovery.LAST_NAME
    if content is None:
        kept.unlink()
    else:
        kept.write_text(content)

    assert mended(killed) == (whole, None)
    assert recovery.last_known(killed.parent).seq == 63


def test_any_damage_to_a_file_is_noticed_or_harmless():
    done = damages.damage_and_look(6, seed=12)

    assert done.silent == done.failed == []
    assert done.times == 6


# --- A lost or foreign log ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (Path.unlink, "was lost or damaged."),
        (
            lambda log: changed(log, "DELETE FROM event WHERE seq > 116"),
            "was damaged. The damaged file is now in damaged/1-",
        ),
    ],
)
def test_a_log_that_is_lost_or_older_than_its_backup_is_restored_from_it(whole, tmp_path, spoil, what):
    path = copied(whole, tmp_path)
    spoil(path)

    rows, note = mended(path)

    assert rows == look(whole)[:-5]
    assert note.startswith(f"The match file {what}")
    assert "The newest backup was restored." in note


@pytest.mark.parametrize(
    ("kept", "plays"),
    [("both", 3), ("both", 180), ("last event", 3), ("last event", 180), ("backups", 3)],
)
def test_the_log_of_another_table_is_shown_and_said_to_be_that_and_not_damaged(whole, tmp_path, called, kept, plays):
    path = copied(whole, tmp_path)
    (tmp_path / "another").mkdir()
    of_another = store_path(tmp_path / "another")
    with closing(Store.open(of_another)) as store:
        Match(store).start(["side Cid", "side Dee", "hand first Cid"])
    append(of_another, *["Cid 25"] * plays)
    shutil.copy(of_another, path)
    if kept == "last event":
        shutil.rmtree(tmp_path / "backups")
    elif kept == "backups":
        (tmp_path / recovery.LAST_NAME).unlink()
    told = matches(tmp_path)

    rows, note = mended(path)

    assert rows == look(of_another)
    assert note.startswith("companion.sqlite3 belongs to another table, whose matches are shown now. To get")
    assert "`companion restore` with a backup, or with the newest copy in the folder damaged." in note
    assert backups_of(path) == ()
    assert (kept == "last event") != any((tmp_path / "damaged").glob("*"))
    assert kept == "backups" or "belongs to another table" in told.sentence
    assert mended(path) == (rows, note)  # until the host has read it
    for copy in (tmp_path / "damaged").glob("1-*"):
        assert called("restore", copy, "--data", tmp_path).returncode == 0
        assert mended(path) == (look(whole)[:-5], None)
    recovery.put_note_away(tmp_path)
    assert mended(path)[1] is None


def test_the_last_event_noted_by_an_older_program_still_counts(killed):
    *numbers, _check = json.loads((killed.parent / recovery.LAST_NAME).read_text())
    older = numbers[:4]
    (killed.parent / recovery.LAST_NAME).write_text(json.dumps([*older, recovery._check(older)]))

    assert recovery.last_known(killed.parent) == recovery.LastEvent(*older)
    changed(killed, "DELETE FROM event WHERE seq > 40")
    assert "At least 23 entries are missing" in mended(killed)[1]


def test_an_older_backup_is_used_if_the_newest_is_damaged(whole, tmp_path):
    path = copied(whole, tmp_path)
    append(path, "Ann 75")
    newest = back_up(path)
    newest.write_bytes(garbage_page(newest.read_bytes(), Random(1)))
    path.write_bytes(garbage(path.read_bytes(), Random(1)))

    rows, _note = mended(path)

    assert rows == look(whole)[:-5]
    assert newest not in backups_of(path)
    assert (tmp_path / "damaged" / f"1-{newest.name}").exists()


# --- Power cuts and read-only disks ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def damaged(whole, tmp_path_factory):
    """The log with a page of garbage, and its events after recovery."""
    path, beside = (copied(whole, tmp_path_factory.mktemp(name)) for name in ("damaged", "mended"))
    for one in (path, beside):
        one.write_bytes(garbage_page(one.read_bytes(), Random(2)))
    return path, mended(beside)[0]


@pytest.mark.parametrize("moment", range(1, 22))
def test_a_power_cut_during_recovery_loses_nothing(damaged, tmp_path, moment):
    path, expected = copied(damaged[0], tmp_path), damaged[1]
    acts = [*((Path, name) for name in ("rename", "replace", "unlink", "mkdir")), (os, "fsync")]
    with plug_pulled(moment, *acts) as steps:
        Store.open(path).close()

    rows, _note = mended(path)

    assert rows == expected
    assert moment < 21 or steps[0] < moment, "there are more moments than are tried"
    assert len(list((tmp_path / "damaged").glob("*companion.sqlite3"))) >= 1


def test_a_damaged_log_on_a_read_only_disk_is_repaired_in_memory(whole, tmp_path, monkeypatch):
    path = copied(whole, tmp_path)
    path.write_bytes(garbage_page(path.read_bytes(), Random(2)))
    before = path.read_bytes()
    monkeypatch.setattr(recovery, "_put_in_place", full)

    store = Store.open(path)

    assert store.matches() == (1, 64)
    assert store.note
    assert store.unsaved
    assert path.read_bytes() == before

    store.append(64, NewEvent("line", {"text": "Ann 75"}), hold=True)
    monkeypatch.undo()
    assert store.save()
    assert store.unsaved is None
    store.close()
    assert look(path)[-1][4] == '{"text":"Ann 75"}'


def test_a_log_without_read_permission_is_reported_and_kept(tmp_path):
    store_path(tmp_path).mkdir()

    with pytest.raises(Problem, match="cannot be read"):
        Store.open(store_path(tmp_path))


# --- The note -------------------------------------------------------------------------------------------------


def test_pages_show_the_note_about_a_damaged_log_until_the_host_removes_it(whole, tmp_path):
    path = copied(whole, tmp_path)
    path.write_bytes(garbage_page(path.read_bytes(), Random(2)))
    Store.open(path).close()
    store = Store.open(path)
    page = create_app(Match(store), secret=b"x" * 32).test_client()

    assert "The newest backup was restored" in page.get("/").text
    assert "The newest backup was restored" in page.get("/seats").text

    answer = page.post("/mended", headers={"Origin": "http://localhost"})

    assert answer.status_code == 303
    assert "The newest backup was restored" not in page.get("/").text
    store.close()
    store = Store.open(path)
    assert store.note is None
    store.close()

"""The data folder as one archive: its content, hostile files, and atomic restores."""

import errno
import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import cv2
import numpy as np
import pytest
from logs import append, changed, frozen, full, garbage_page, played, plug_pulled

from companion.app import backup_archive
from companion.app.backup_archive import Bundle, read_bundle, restore, write_bundle
from companion.common.errors import Problem
from companion.rules.cards import Card
from companion.rules.editions.edition import keep_own_editions
from companion.storage import recovery
from companion.storage import restore as restoring
from companion.storage.backups import back_up
from companion.storage.data_folder import store_path
from companion.storage.database import MIGRATIONS, look
from companion.storage.event_store import NewEvent, Store, lock
from companion.storage.versions import FILE_NAME as VERSIONS
from companion.tabletop.template_decks import Description, own_folder, put_pictures, read_deck, write_description
from companion.vision.enrol.enrolment import recoded

PNG = cv2.imencode(".png", np.full((160, 120, 3), 200, np.uint8))[1].tobytes()
EDITION = 'name = "ours"\ntitle = "Ours"\nsheet = "our kitchen"\nparent = "classic"\n'
SETTINGS = {"deck-in-use.json": '{"deck": "grandma"}', "picture-turn.json": '{"degrees": 180, "mirrored": false}'}


@pytest.fixture(autouse=True)
def editions_as_they_were(tmp_path):
    yield
    keep_own_editions(tmp_path / "none")


@pytest.fixture
def data(tmp_path):
    """A data folder with some of every kind of file."""
    folder = tmp_path / "data"
    folder.mkdir()
    played(folder, matches=2, plays=5)
    (folder / "editions").mkdir()
    (folder / "editions" / "ours.toml").write_text(EDITION)
    keep_own_editions(folder / "editions")
    deck = own_folder("grandma", folder)
    write_description(deck, Description("grandma", "ours"))
    put_pictures(deck, Card.ROLL, [PNG, PNG])
    for name, content in SETTINGS.items():
        (folder / name).write_text(content)
    (folder / "secret-key").write_bytes(b"k" * 32)
    (folder / "phones.json").write_text('{"host": "first"}')
    return folder


@pytest.fixture
def table(data, tmp_path):
    write_bundle(data, tmp_path / "table.zip")
    return tmp_path / "table.zip"


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, except its lock and the sidecars of SQLite."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith((".lock", "-wal", "-shm"))
    }


def zipped(files: Mapping[str | zipfile.ZipInfo, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return out.getvalue()


def made_of(log: bytes | None = None, **files: bytes) -> bytes:
    """Return a backup as an attacker could write it."""
    about = {"backup.json": b'{"format": 1}'}
    return zipped({**about, **({"companion.sqlite3": log} if log is not None else {}), **files})


def refused(sent: bytes) -> str:
    with tempfile.TemporaryDirectory() as folder, pytest.raises(Problem) as problem:
        read_sent(Path(folder), sent)
    assert problem.value.exit_code == 1
    assert str(problem.value).startswith(f"{Path(folder) / 'table.zip'} ")
    return str(problem.value)


def read_sent(folder: Path, sent: bytes) -> Bundle:
    (folder / "table.zip").write_bytes(sent)
    return read_bundle(folder / "table.zip", recoded=recoded)


# --- Backup and restore ---------------------------------------------------------------------------------------


def test_a_backup_holds_matches_decks_editions_and_settings_and_no_key(data, tmp_path):
    assert write_bundle(data, tmp_path / "table.zip") == ()

    with zipfile.ZipFile(tmp_path / "table.zip") as packed:
        assert sorted(packed.namelist()) == [
            "backup.json", "companion.sqlite3", "deck-in-use.json", "decks/grandma/deck.toml",
            "decks/grandma/roll-2.png", "decks/grandma/roll.png", "editions/ours.toml", "picture-turn.json",
        ]  # fmt: skip


def with_second_deck(folder: Path, picture: bytes) -> None:
    deck = own_folder("second", folder)
    write_description(deck, Description("second", "classic"))
    put_pictures(deck, Card.ROLL, [picture])


def with_two_pictures_of_one_name(folder: Path) -> None:
    with_second_deck(folder, PNG)
    (folder / "decks/second/roll.jpg").write_bytes(PNG)


@pytest.mark.parametrize(
    ("spoil", "what", "why"),
    [
        (
            lambda folder: with_second_deck(folder, PNG + bytes(16_000_000)),
            "decks/second/roll.png",
            " is larger than 16 MB, too large for a backup: save it smaller.",
        ),
        (with_two_pictures_of_one_name, "decks/second", "two pictures with the same name"),
        (lambda folder: (folder / "drawn-zones.json").write_text("{"), "drawn-zones.json", "is damaged"),
    ],
)
def test_files_that_cannot_be_restored_are_left_out_and_reported(data, table, tmp_path, spoil, what, why):
    again = table.with_name("again.zip")
    spoil(data)

    (said,) = write_bundle(data, again)

    assert said.startswith(f"Left out: {data / what}")
    assert why in said
    kept = read_bundle(again, recoded=recoded)
    assert kept.says == "2 matches, 1 deck, 1 edition"
    assert kept == read_bundle(table, recoded=recoded)


def test_only_decks_that_exceed_the_size_limit_are_left_out(data, table, tmp_path, monkeypatch):
    with zipfile.ZipFile(table) as packed:
        monkeypatch.setattr(backup_archive, "MOST_BYTES", sum(info.file_size for info in packed.infolist()) + 1000)
    with_second_deck(data, PNG + bytes(1000))

    said = write_bundle(data, tmp_path / "again.zip")

    assert [sentence.partition(" does not fit")[0] for sentence in said] == [f"Left out: {data / 'decks/second'}"]
    assert read_bundle(tmp_path / "again.zip").files == read_bundle(table).files


def test_pictures_that_keep_growing_while_read_are_refused(data, table, monkeypatch):
    monkeypatch.setattr(backup_archive, "_ZIP", replace(backup_archive._ZIP, most_bytes=2_000_000))

    with pytest.raises(Problem, match="it is larger than 2 MB when unpacked"):
        read_bundle(table, recoded=lambda content, name: bytes(1_500_000))


def test_a_backup_can_be_restored_on_another_machine(data, table, tmp_path):
    other = tmp_path / "other"
    other.mkdir()

    kept = restore(other, read_bundle(table, recoded=recoded))

    assert kept is None
    assert look(store_path(other)) == look(store_path(data))
    assert (other / "editions" / "ours.toml").read_text() == EDITION
    assert {name: (other / name).read_text() for name in SETTINGS} == SETTINGS
    assert list(read_deck(own_folder("grandma", other)).faces) == [Card.ROLL]
    store = Store.open(store_path(other))
    assert store.append(store.matches()[-1], NewEvent("line", {"text": "Ann 25"}))
    store.close()


def test_replaced_files_are_kept_as_a_complete_data_folder(data, table):
    append(store_path(data), "Ann 75")
    before = tree(data)

    kept = restore(data, read_bundle(table))

    assert kept == data / "before-restore-1"
    assert look(store_path(kept))[-1][4] == '{"text":"Ann 75","by":"Ann"}'
    assert look(store_path(data))[-1][4] != '{"text":"Ann 75","by":"Ann"}'
    assert {**tree(data), **tree(kept)}.items() >= {k: v for k, v in before.items() if k in tree(kept)}.items()
    assert (data / "secret-key").exists()
    assert not (kept / "secret-key").exists()


def test_a_copy_of_the_matches_replaces_them_alone(data, called):
    copy, whole = back_up(store_path(data)), look(store_path(data))
    append(store_path(data), "Ann 75")

    done = called("restore", copy, "--data", data)

    assert done.stdout.startswith(f"Restored into {data}: 2 matches. ")
    assert look(store_path(data)) == whole
    assert {name: (data / name).read_text() for name in SETTINGS} == SETTINGS
    assert (data / "editions" / "ours.toml").read_text() == EDITION
    assert list(read_deck(own_folder("grandma", data)).faces) == [Card.ROLL]


def test_a_damaged_copy_of_the_matches_is_refused(data, called):
    copy = back_up(store_path(data))
    copy.write_bytes(copy.read_bytes()[:-4096])
    before = tree(data)

    done = called("restore", copy, "--data", data)

    assert (done.returncode, done.stdout) == (1, "")
    assert "is not a usable backup (its matches are damaged)" in done.stderr
    assert tree(data) == before


def test_backups_of_before_do_not_come_back_into_a_restored_log(data, table):
    append(store_path(data), "Ann 75")
    assert back_up(store_path(data))

    restore(data, read_bundle(table))
    store = Store.open(store_path(data))

    assert store.note is None
    store.close()
    assert look(store_path(data))[-1][4] != '{"text":"Ann 75","by":"Ann"}'


def test_a_backup_can_be_made_while_a_service_runs(data, tmp_path):
    store = Store.open(store_path(data))
    store.append(store.matches()[-1], NewEvent("line", {"text": "Ann 75", "by": "Ann"}))

    write_bundle(data, tmp_path / "table.zip")
    store.append(store.matches()[-1], NewEvent("line", {"text": "Ann 100", "by": "Ann"}))

    assert read_bundle(tmp_path / "table.zip").rows == look(store_path(data))[:-1]
    store.close()


def test_a_backup_of_an_older_schema_is_migrated(tmp_path):
    frozen(1, tmp_path)
    log = store_path(tmp_path).read_bytes()
    (tmp_path / "other").mkdir()

    restore(tmp_path / "other", read_sent(tmp_path, made_of(log)))

    assert look(store_path(tmp_path / "other")) == look(store_path(tmp_path))


def test_an_existing_file_is_not_overwritten(data, tmp_path):
    (tmp_path / "table.zip").write_text("mine")

    with pytest.raises(Problem, match="--force"):
        write_bundle(data, tmp_path / "table.zip")
    assert (tmp_path / "table.zip").read_text() == "mine"

    write_bundle(data, tmp_path / "table.zip", force=True)
    assert read_bundle(tmp_path / "table.zip").rows


def test_if_only_the_demo_was_played_its_folder_is_suggested(data, tmp_path):
    (tmp_path / "own").mkdir()
    with pytest.raises(Problem, match=r"nothing to back up .*or settings\.$"):
        write_bundle(tmp_path / "own", tmp_path / "table.zip")

    data.rename(tmp_path / "own" / "demo")
    with pytest.raises(Problem, match=r"played in the demo .* add --data .*demo\."):
        write_bundle(tmp_path / "own", tmp_path / "table.zip")


def test_a_full_disk_leaves_no_partial_file(data, tmp_path, monkeypatch):
    monkeypatch.setattr(backup_archive, "write_whole", full)

    with pytest.raises(Problem, match=r"cannot be written to .*table.zip \(No space left on device\)"):
        write_bundle(data, tmp_path / "table.zip")
    assert not list(tmp_path.glob("table*"))


# --- Hostile files --------------------------------------------------------------------------------------------


NAMES = r"""
/etc/passwd ../companion.sqlite3 editions/../../x.toml editions/../ours.toml editions//ours.toml editions\ours.toml
C:\ours.toml COMPANION.SQLITE3 companion.sqlite3-wal secret-key phones.json companion.lock decks/ decks/grandma/
decks/../deck.toml decks/.hidden/deck.toml decks/a/b/roll.png decks/grandma/roll.svg decks/grandma/Roll.png
editions/Ours.toml backups/log-000000001.sqlite3
"""


@pytest.mark.parametrize("name", [*NAMES.split(), "backup.json "])
def test_an_unlisted_file_name_is_refused(name):
    assert "does not belong in a backup" in refused(made_of(**{name: b"x"}))


def test_a_disguised_file_name_is_refused():
    sent = made_of(**{"editions/ours.tomlXx": b"x"}).replace(b"ours.tomlXx", b"ours.toml\x00x")

    assert "does not belong in a backup" in refused(sent) or "damaged" in refused(sent)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("first", "second"), [("decks/Ours/deck.toml", "decks/ours/deck.toml"), ("drawn-zones.json", "drawn-zones.json")]
)
def test_a_duplicate_file_name_is_refused(first, second):
    out = io.BytesIO(made_of(**{first: b"{}"}))
    with zipfile.ZipFile(out, "a") as packed:
        packed.writestr(second, b"{}")

    assert "twice" in refused(out.getvalue())


def test_a_link_is_refused():
    link = zipfile.ZipInfo("drawn-zones.json")
    link.external_attr = 0o120777 << 16

    assert "not belong in a backup" in refused(zipped({"backup.json": b'{"format": 1}', link: b"/etc/passwd"}))


def test_too_many_files_are_refused():
    many = {f"editions/e{number}.toml": b"" for number in range(backup_archive.MOST_FILES + 1)}

    assert "it contains 4002 files" in refused(made_of(**many))


def test_a_file_larger_than_declared_is_refused_by_its_real_size():
    bomb = bytearray(made_of(**{"drawn-zones.json": bytes(3_000_000)}))
    for at in range(len(bomb) - 4):
        if bomb[at : at + 4] == (3_000_000).to_bytes(4, "little"):
            bomb[at : at + 4] = (100).to_bytes(4, "little")

    assert "larger than" in refused(bytes(bomb)) or "damaged" in refused(bytes(bomb))
    assert "larger than" in refused(made_of(**{"drawn-zones.json": bytes(3_000_000)}))


def test_an_archive_with_too_large_a_total_is_refused(monkeypatch):
    monkeypatch.setattr(backup_archive, "_ZIP", replace(backup_archive._ZIP, most_bytes=50_000))
    editions = {f"editions/e{number}.toml": bytes(20_000) for number in range(3)}

    assert "larger than" in refused(made_of(**editions))


@pytest.mark.parametrize("sent", [b"", b"PK", b"no zip at all" * 100, zipped({}), zipped({"backup.json": b"[]"})])
def test_a_file_that_is_not_a_backup_is_refused(sent):
    assert "is not a usable backup" in refused(sent)


def test_a_backup_or_a_log_of_a_newer_program_is_refused(tmp_path):
    newer = log_with(tmp_path, f"PRAGMA user_version = {len(MIGRATIONS) + 1};")

    assert "newer version" in refused(zipped({"backup.json": b'{"format": 2}'}))
    assert "newer version" in refused(made_of(newer))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("drawn-zones.json", b"{"), ("drawn-zones.json", b'{"picture": [1, 1]}'),
        ("picture-turn.json", b'{"degrees": 45, "mirrored": false}'), ("deck-in-use.json", b'{"deck": 3}'),
        ("deck-in-use.json", b"[" * 100_000), ("editions/ours.toml", b"\xff"),
        ("editions/ours.toml", b'name = "classic"'), ("editions/ours.toml", EDITION.replace("ours", "others").encode()),
        ("editions/classic.toml", EDITION.replace("ours", "classic").encode()),
        ("decks/grandma/deck.toml", b'edition = "classic"'), ("decks/grandma/deck.toml", b"x" * 1000),
        ("decks/own/roll.png", PNG),
    ],
)  # fmt: skip
def test_files_that_the_program_could_not_read_are_refused(name, content):
    assert "is not a usable backup" in refused(made_of(**{name: content}))


def test_a_file_that_is_not_a_picture_is_refused(tmp_path):
    toml = b'name = "grandma"\nedition = "classic"\n'
    sent = made_of(**{"decks/grandma/deck.toml": toml, "decks/grandma/roll.png": b"no picture"})

    with pytest.raises(Problem):
        read_sent(tmp_path, sent)


def log_with(tmp_path: Path, script: str) -> bytes:
    path = frozen(1, tmp_path)
    changed(path, script)
    return path.read_bytes()


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event; END;",
        "CREATE VIEW v AS SELECT * FROM event;",
        "ALTER TABLE event RENAME TO e; CREATE VIEW event AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1"
        " FROM r) SELECT n AS seq, 1 AS match, 1.0 AS at_s, 'line' AS kind, '{}' AS body FROM r;",
        "DROP INDEX event_of_match;",
        "PRAGMA user_version = 0;",
        "PRAGMA user_version = -1;",
        "UPDATE event SET body = 'no JSON' WHERE seq = 5;",
        "UPDATE event SET body = '[]' WHERE seq = 5;",
        "UPDATE event SET body = '{\"by\": 3}' WHERE seq = 5;",
        "UPDATE event SET kind = 'strange' WHERE seq = 5;",
        "UPDATE event SET match = 400 WHERE seq = 5;",
        "DELETE FROM event WHERE seq = 5;",
        "UPDATE event SET body = json_set(body, '$.of', 'x') WHERE kind = 'undo';",
        "UPDATE event SET body = json_set(body, '$.text', 3) WHERE kind = 'line';",
    ],
)
def test_a_log_not_written_by_this_program_is_refused(tmp_path, script):
    assert "is not a usable backup" in refused(made_of(log_with(tmp_path, script)))


@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_log_is_refused(tmp_path, seed):
    file = played(tmp_path, matches=1, plays=60).read_bytes()
    damaged = garbage_page(file, Random(seed))

    assert "damaged" in refused(made_of(damaged))


# --- Interrupted restores -------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", range(1, 62))
def test_a_power_cut_while_restoring_leaves_all_old_or_all_new_files(tmp_path, moment):
    data = tmp_path / "data"
    (data / "editions").mkdir(parents=True)
    played(data, matches=1, plays=2)
    (data / "editions" / "older.toml").write_text(EDITION.replace("ours", "older"))
    (data / "drawn-zones.json").write_text("{}")
    brought = Bundle(look(store_path(data))[:3], {"editions/ours.toml": EDITION.encode(), **{
        name: content.encode() for name, content in SETTINGS.items()}})  # fmt: skip
    old = {name: content for name, content in tree(data).items() if "restor" not in name}
    acts = [*((Path, name) for name in ("rename", "rmdir", "unlink", "mkdir")), (backup_archive.os, "fsync")]
    with plug_pulled(moment, *acts) as steps:
        restore(data, brought)
    Store.open(store_path(data)).close()

    now = {name: content for name, content in tree(data).items() if "restor" not in name}
    if now["companion.sqlite3"] == old["companion.sqlite3"]:
        assert now == old
    else:
        assert look(store_path(data)) == brought.rows
        assert set(now) == {"companion.sqlite3", recovery.LAST_NAME, "editions/ours.toml", *SETTINGS, VERSIONS}
        assert now[VERSIONS] == old.pop(VERSIONS), "pages that are open go on with larger versions"
        assert tree(data / "before-restore-1") == old
    assert not (data / restoring.READY / restoring.CONTENTS).exists()
    assert moment < 61 or steps[0] < moment, "there are more moments than are tried"


def test_a_full_disk_while_restoring_changes_nothing(data, table, monkeypatch):
    found, before = read_bundle(table), tree(data)
    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(Problem, match="free some space"):
        restore(data, found)
    assert tree(data) == before


def test_no_new_log_is_created_while_a_restore_is_unfinished(data, monkeypatch):
    ready = data / restoring.READY
    ready.mkdir()
    (ready / restoring.CONTENTS).write_text(json.dumps({"replaced": ["companion.sqlite3"], "brought": []}))
    before = store_path(data).read_bytes()
    monkeypatch.setattr(Path, "rename", full)

    with pytest.raises(Problem, match="only partly restored"):
        Store.open(store_path(data))
    assert store_path(data).read_bytes() == before


# --- Hostile files in the data folder --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["../secret", "..", ".", "", "/secret", "editions/../../secret", "restoring", 7, None, ["x"]]
)
def test_an_unfinished_restore_moves_only_files_directly_in_the_folder(data, tmp_path, name):
    (tmp_path / "secret").write_text("outside")
    ready = data / restoring.READY
    ready.mkdir()
    (ready / "companion.sqlite3").write_bytes(b"another log")
    for brought in ([], ["companion.sqlite3", name]):
        contents = {"replaced": ["companion.sqlite3", name], "brought": brought}
        (ready / restoring.CONTENTS).write_text(json.dumps(contents))
        before = tree(tmp_path)

        with pytest.raises(Problem, match="only partly restored"):
            Store.open(store_path(data))
        assert tree(tmp_path) == before


@pytest.mark.parametrize("link", [".", restoring.CONTENTS, restoring.BEFORE])
def test_an_unfinished_restore_follows_no_links(data, tmp_path, link):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "companion.sqlite3").write_bytes(b"another log")
    (outside / restoring.CONTENTS).write_text('{"replaced": ["companion.sqlite3"], "brought": ["companion.sqlite3"]}')
    ready = data / restoring.READY
    if link == ".":
        ready.symlink_to(outside)
    else:
        shutil.copytree(outside, ready)
        (ready / link).unlink(missing_ok=True)
        (ready / link).symlink_to(outside / link if link == restoring.CONTENTS else outside)
    before = tree(tmp_path)

    with pytest.raises(Problem, match="only partly restored"):
        Store.open(store_path(data))
    assert tree(tmp_path) == before


def test_the_lock_file_is_not_created_through_a_link(data, tmp_path):
    (data / "companion.lock").unlink()
    (data / "companion.lock").symlink_to(tmp_path / "outside")

    os.close(lock(store_path(data)))

    assert not (tmp_path / "outside").exists()


# --- Root and the data folder of a service ---------------------------------------------------------------------

OWNER = 54321
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")


@pytest.fixture
def of_service(data, table):
    """A data folder owned by a service, inside a folder that only root may enter."""
    data.parent.chmod(0o700)
    for path in (data, *data.rglob("*")):
        os.chown(path, OWNER, OWNER)
    return data


@needs_root
def test_files_restored_by_root_belong_to_the_owner_of_the_data_folder(of_service, table, called):
    (of_service / "companion.lock").unlink()

    assert called("restore", table, "--data", of_service).returncode == 0

    assert {rights(path)[:2] for path in (of_service, *of_service.rglob("*"))} == {(OWNER, OWNER)}
    assert (of_service / "companion.lock").exists()
    assert os.geteuid() == 0


@needs_root
@pytest.mark.parametrize("command", [("restore", "table.zip"), ("backup", "other.zip"), ("doctor",), ("export", "1")])
@pytest.mark.parametrize(
    "link",
    [
        "restoring", "restoring.new", "companion.lock", "companion.sqlite3-wal", "companion.sqlite3-journal",
        ".companion-probe",
    ],
)  # fmt: skip
def test_root_follows_no_links_in_the_data_folder_of_a_service(of_service, tmp_path, called, command, link):
    """The log header claims a write-ahead log, so that SQLite opens that too."""
    log = store_path(of_service)
    log.write_bytes((file := log.read_bytes())[:18] + b"\x02\x02" + file[20:])
    for target in ("file", "folder", "new"):
        secret = tmp_path / "of-root" / "deep"
        shutil.rmtree(secret.parent, ignore_errors=True)
        secret.mkdir(parents=True)
        (secret / "file").write_text("secret")
        (secret / "folder").mkdir()
        (of_service / link).unlink(missing_ok=True)
        (of_service / link).symlink_to(secret / target)
        os.chown(of_service / link, OWNER, OWNER, follow_symlinks=False)
        before = {path: rights(path) for path in secret.rglob("*")}

        words = [tmp_path / word if "zip" in word else word for word in command]
        called(*words, *(["--force"] if command[0] == "backup" else []), "--data", of_service)

        assert {path: rights(path) for path in secret.rglob("*")} == before
        assert (secret / "file").read_text() == "secret"


@needs_root
@pytest.mark.parametrize("missing", ["setgroups", "setegid", "seteuid"])
@pytest.mark.parametrize(
    "command", [("up",), ("backup", "other.zip"), ("restore", "table.zip"), ("export", "1"), ("doctor",)]
)
def test_root_without_the_right_to_act_as_the_owner_is_told_what_to_do(
    of_service, tmp_path, called, monkeypatch, command, missing
):
    """As in a container that was started without CAP_SETUID or CAP_SETGID."""
    groups, change = os.getgroups(), getattr(os, missing)

    def refuse(wanted: object) -> None:
        if wanted in ([], OWNER):
            raise PermissionError(errno.EPERM, "Operation not permitted")
        change(wanted)

    monkeypatch.setattr(os, missing, refuse)
    words = [tmp_path / word if "zip" in word else word for word in command]

    done = called(*words, "--data", of_service)

    assert "run this as its owner, or choose another folder with --data" in done.stdout + done.stderr
    assert done.returncode == (1 if command == ("doctor",) else 2)
    assert (os.geteuid(), os.getegid(), os.getgroups()) == (0, 0, groups)


def rights(path: Path) -> tuple[int, int, int]:
    """Return owner and permissions of a file."""
    found = path.lstat()
    return found.st_uid, found.st_gid, found.st_mode


# --- The commands ---------------------------------------------------------------------------------------------


def test_the_commands_report_what_they_did(data, tmp_path, called):
    ran = called("backup", tmp_path / "table.zip", "--data", data)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"{tmp_path / 'table.zip'}\n", "")

    ran = called("restore", tmp_path / "table.zip", "--data", data)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == (
        f"Restored into {data}: 2 matches, 1 deck, 1 edition. On another machine, phones must scan the code again.\n"
        f"The previous data is in {data}/before-restore-1.\n"
    )


def test_no_backup_is_restored_while_a_companion_runs(data, table, called):
    store = Store.open(store_path(data))
    before = tree(data)

    ran = called("restore", table, "--data", data)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"Another companion is using {data}: stop it, or choose another folder with --data.\n"
    assert tree(data) == before
    store.close()


def test_a_wrong_call_is_explained_in_one_sentence(data, tmp_path, called):
    (tmp_path / "bad.zip").write_bytes(b"no zip")
    shutil.copy(tmp_path / "bad.zip", tmp_path / "there.zip")
    calls = {("restore", "bad.zip"): 1, ("restore", "none.zip"): 2, ("backup", "there.zip"): 2, ("backup", "."): 2}

    for (command, name), code in calls.items():
        ran = called(command, tmp_path / name, "--data", data)

        assert (ran.returncode, ran.stdout) == (code, "")
        assert ran.stderr.count("\n") == 1


def test_the_next_command_finishes_an_interrupted_restore_first(data, table, called):
    with pytest.MonkeyPatch.context() as patch, suppress(Problem):
        patch.setattr(restoring, "finish", full)
        restore(data, read_bundle(table))
    assert (data / restoring.READY / restoring.CONTENTS).exists()

    ran = called("export", "1", "--data", data)

    assert ran.returncode == 0
    assert not (data / restoring.READY / restoring.CONTENTS).exists()

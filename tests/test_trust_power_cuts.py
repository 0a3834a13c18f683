"""A power cut loses nothing acknowledged, and without syncs it would."""

import errno
import os
import random
from pathlib import Path

import pytest
from trust.disk import Disk, Recorder, library
from trust.power_cuts import CARELESS, cut_and_look

from companion.pages.players import phone_identity
from companion.storage import data_folder, database
from companion.storage.data_folder import data_dir, write_whole

needs_sqlite = pytest.mark.skipif(library() is None, reason="SQLite is built into this Python and cannot be reached")


@pytest.fixture(autouse=True)
def synced(unsynced, monkeypatch):
    """Enable the logs' syncs."""
    monkeypatch.setattr(database, "migrate", unsynced)


@needs_sqlite
def test_power_cuts_lose_nothing_acknowledged():
    done = cut_and_look(30, seed=30)

    assert done.lost == []
    assert (done.cuts, done.events > 0, done.syncs > 0) == (30, True, True)


@pytest.mark.variants(2)
@needs_sqlite
@pytest.mark.parametrize("careless", CARELESS)
def test_an_omitted_sync_is_detected(careless):
    assert cut_and_look(500, careless=careless, first=True).lost


# --- Small files ----------------------------------------------------------------------------------------------


@needs_sqlite
def test_a_saved_small_file_survives_a_power_cut(tmp_path):
    with Recorder(tmp_path) as recorder:
        folder = data_dir(tmp_path / "family" / "data")
        write_whole(folder / "a.json", "one")
        write_whole(folder / "a.json", "two")
        phone_identity.load_secret(folder)

    disk = Disk()
    for op in recorder.ops:
        disk.take_in(op)
    found = [disk.after_cut(random.Random(seed)) for seed in range(40)]

    assert {after["family/data/a.json"] for after in found} == {b"two"}
    assert {len(after["family/data/secret-key"]) for after in found} == {32}


def test_leftovers_of_a_kill_do_no_harm(tmp_path):
    (tmp_path / "a.json.new").write_text("half of")

    write_whole(tmp_path / "a.json", "all of it")

    assert (tmp_path / "a.json").read_text() == "all of it"
    assert (tmp_path / "a.json").stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize(("code", "is_said"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_file_system_without_folder_sync_works_but_a_failing_one_does_not(tmp_path, monkeypatch, code, is_said):
    real = os.fsync

    def sync(fd: int) -> None:
        if Path(f"/proc/self/fd/{fd}").is_dir():
            raise OSError(code, os.strerror(code))
        real(fd)

    monkeypatch.setattr(data_folder.os, "fsync", sync)
    if is_said:
        with pytest.raises(OSError, match="error"):
            write_whole(tmp_path / "a.json", "x")
    else:
        write_whole(tmp_path / "a.json", "x")
        assert (tmp_path / "a.json").read_text() == "x"

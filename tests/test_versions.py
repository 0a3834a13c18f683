"""Version numbers: larger with each change and over restarts, and never too large for 32 bits."""

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from companion.storage import data_folder, versions
from companion.storage.versions import BLOCK, FILE_NAME, MOST, RETRY, Versions


@pytest.fixture
def writes(monkeypatch) -> list[str]:
    """What was written to the disk; each write fails while `"full"` is the first of it."""
    found: list[str] = []
    write = versions.write_whole

    def note(path, content):
        if found[:1] == ["full"]:
            raise OSError(errno.ENOSPC, "No space left on device")
        found.append(content)
        write(path, content)

    monkeypatch.setattr(versions, "write_whole", note)
    return found


def test_each_version_is_the_next_number_and_a_restart_skips_a_block_at_most(tmp_path):
    before = Versions(tmp_path, 0)
    first = [before.next() for _ in range(3 * BLOCK + 7)]
    after = Versions(tmp_path, 0).next()

    assert first == list(range(1, 3 * BLOCK + 8))
    assert first[-1] < after <= first[-1] + BLOCK


def test_a_version_is_on_the_disk_before_it_is_used_and_few_are_written(tmp_path, writes):
    running = Versions(tmp_path, 0)
    for _ in range(10 * BLOCK):
        assert running.next() <= int((tmp_path / FILE_NAME).read_text())

    assert len(writes) == 10


@pytest.mark.parametrize("content", [None, b"", b"-1", b"\xff\xfe", b"9" * 30, b"12 34"])
def test_without_a_readable_file_versions_begin_above_what_the_log_suggests(tmp_path, content):
    if content is not None:
        (tmp_path / FILE_NAME).write_bytes(content)

    assert 100_000 < Versions(tmp_path, 100_000).next() < 2**31
    assert 0 < Versions(tmp_path / "missing", 10**9).next() < 2**31


def test_a_version_does_not_wait_for_another_file_that_is_being_written(tmp_path, monkeypatch):
    versions = Versions(tmp_path, 0)

    assert ends_while_writing(monkeypatch, tmp_path / "picture.png", versions.next)
    assert (tmp_path / FILE_NAME).exists()


def test_two_threads_write_the_same_file_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert not ends_while_writing(
        monkeypatch, tmp_path / "a.json", lambda: data_folder.write_whole(Path("a.json"), "second"), wait_s=0.2
    )
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.json", "second")]


def ends_while_writing(monkeypatch, path: Path, change: Callable[[], object], wait_s: float = 10) -> bool:
    """Write a file on a slow disk; return True if the change ends before that does."""
    sync, begun, may_end = os.fsync, threading.Event(), threading.Event()

    def slow(fd: int) -> None:
        if threading.current_thread() is writer:
            begun.set()
            may_end.wait(30)
        sync(fd)

    monkeypatch.setattr(data_folder.os, "fsync", slow)
    writer = threading.Thread(target=data_folder.write_whole, args=(path, b"first"))
    changer = threading.Thread(target=change)
    writer.start()
    begun.wait(30)
    changer.start()
    changer.join(wait_s)
    has_ended = not changer.is_alive()
    may_end.set()
    for thread in (writer, changer):
        thread.join()
    return has_ended


def test_after_the_largest_number_they_start_again(tmp_path):
    (tmp_path / FILE_NAME).write_text(str(MOST - 1))
    running = Versions(tmp_path, 0)

    assert [running.next() for _ in range(3)] == [2**31 - 1, 1, 2]
    assert Versions(tmp_path, 0).next() > 2


def test_a_full_disk_stops_nothing_and_is_tried_again(tmp_path, writes):
    running = Versions(tmp_path, 0)
    used = [running.next() for _ in range(BLOCK)]
    writes.insert(0, "full")
    used += [running.next() for _ in range(2 * RETRY)]
    del writes[0]
    used += [running.next() for _ in range(RETRY)]

    assert used == list(range(1, len(used) + 1))
    assert Versions(tmp_path, 0).next() > used[-1]

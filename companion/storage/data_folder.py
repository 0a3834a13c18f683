"""The data folder for matches, decks, settings and backups; its files are written atomically and synced."""

from __future__ import annotations

import ctypes
import errno
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from weakref import WeakValueDictionary

import platformdirs

from companion.common.errors import Problem, cause

STORE_NAME = "companion.sqlite3"
KEY_NAME = "secret-key"
EDITIONS_NAME = "editions"
DEMO_NAME = "demo"
DECK_IN_USE_NAME, TURN_NAME = "deck-in-use.json", "picture-turn.json"  # chosen deck; rotation of pictures

PIECE_BYTES = 4096  # page of the log, read as a whole or not at all
_writing: WeakValueDictionary[Path, threading.Lock] = WeakValueDictionary()
"""Lock by file being written: two writers would share its `.new` file."""

_to_lock = threading.Lock()  # held only to look up a lock
_CAPABILITY_VERSION, _CAP_DAC_READ_SEARCH = 0x20080522, 1 << 2  # from linux/capability.h
_CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP)
"""Errors of file systems that cannot sync folders: FAT, some network drives."""


def data_dir(option: str | os.PathLike[str] | None = None) -> Path:
    """Return the data folder, created if missing: the option, `COMPANION_DATA` or the user's.

    It may be read-only; writers report that. Raises Problem if it cannot be created or listed.
    """
    folder = editions_path(option).parent
    try:
        make_folder(folder)
        next(folder.iterdir(), None)
        return folder
    except OSError as error:
        raise Problem(
            "The data folder %(folder)s cannot be written to (%(error)s): choose another with --data.",
            folder=folder,
            error=cause(error),
        ) from error


def editions_path(option: str | os.PathLike[str] | None = None) -> Path:
    """Return the data folder's folder for custom editions; both may be missing."""
    chosen = option or os.environ.get("COMPANION_DATA") or platformdirs.user_data_dir("mille-bornes-companion")
    return Path(chosen).expanduser() / EDITIONS_NAME


def store_path(folder: Path) -> Path:
    """Return the path of the file with all matches."""
    return folder / STORE_NAME


# Files


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file atomically, readable only by its owner, and sync it and its folder.

    Raises OSError if the disk refuses, leaving no partial file.
    """
    new = path.with_name(f"{path.name}.new")
    with _to_lock:
        lock = _writing.setdefault(path.absolute(), threading.Lock())
    with lock:
        # A file left by a kill, or planted, may be readable by others.
        new.unlink(missing_ok=True)
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder's list of files. Raises OSError if the disk refuses."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(fd)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents for the owner only, and sync them. Raises OSError."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for made in missing:
        sync_folder(made.parent)


@contextmanager
def as_owner_of(folder: Path) -> Iterator[None]:
    """Act with the rights of the folder's owner if root runs the program on another user's folder.

    New files then belong to the owner, whose links cannot mislead root; everything stays readable: a service's folder
    lies in one of root's. This changes the whole process: call it with a single thread running. Raises Problem if
    rights cannot be changed.
    """
    owner = folder.stat() if os.geteuid() == 0 and folder.is_dir() else None
    if owner is None or owner.st_uid == 0:
        yield
        return
    group, groups = os.getegid(), os.getgroups()
    with ExitStack() as undo:
        try:
            os.setgroups([])
            undo.callback(os.setgroups, groups)
            os.setegid(owner.st_gid)
            undo.callback(os.setegid, group)
            os.seteuid(owner.st_uid)
            undo.callback(os.seteuid, 0)
        except OSError as error:
            raise Problem(
                "%(folder)s belongs to another user, and root may not act as that user here (%(error)s): run this as"
                " its owner, or choose another folder with --data.",
                folder=folder,
                error=cause(error),
            ) from error
        _keep_reading()
        yield


def _keep_reading() -> None:
    """Restore root's right to read files and search folders, if it was there."""
    header, (effective, permitted) = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0), (0, 1)
    sets = (ctypes.c_uint32 * 6)()
    library = ctypes.CDLL(None)
    if library.capget(header, sets) == 0:
        sets[effective] = sets[permitted] & _CAP_DAC_READ_SEARCH
        library.capset(header, sets)


def read_readable(path: Path) -> bytes:
    """Return a file's content, empty if missing; unreadable blocks of a worn memory card are zeros.

    Raises OSError if the file may not be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return b"".join(_pieces(path))


def _pieces(path: Path) -> Iterator[bytes]:
    size = path.stat().st_size
    with path.open("rb", buffering=0) as file:
        for at in range(0, size, PIECE_BYTES):
            try:
                file.seek(at)
                yield file.read(PIECE_BYTES).ljust(min(PIECE_BYTES, size - at), b"\x00")
            except OSError:
                yield bytes(min(PIECE_BYTES, size - at))

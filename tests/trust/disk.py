"""A simulated disk that loses unsynced writes in a power cut.

`Recorder` registers a default VFS in the SQLite library that Python uses. It wraps the system's VFS: opening and
deleting files, and four calls of open files. So unchanged product code runs, and every write and sync is recorded. For
small files it also records the sync, rename and remove calls of `os`. Tracing system calls (strace, a preloaded
library) would record the same, but needs a tracer or compiler on every test machine.

`Disk` returns a possible content after a cut. A file keeps everything up to its last sync, and any of the sectors
written since; its new size may be lost. A folder keeps its entries up to its last sync, and some later changes.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

SECTOR = 512
_OK, _CREATE = 0, 0x4
_CLOSE, _WRITE, _TRUNCATE, _SYNC = 0, 2, 3, 4  # indexes of an open file's calls


@dataclass(frozen=True)
class Op:
    """A recorded operation on the file number `file`, or on the folder entry `name`."""

    what: str
    name: str = ""
    file: int = 0
    data: bytes = b""
    at: int = 0
    value: Any = None


# --- What may lie there after a cut ---------------------------------------------------------------------------


@dataclass
class _File:
    kept: bytes = b""  # content at the last sync
    since: list[Op] = field(default_factory=list)  # writes after it

    def sync(self) -> None:
        self.kept, self.since = self.now(), []

    def now(self) -> bytes:
        """Return the content that a reader gets before a power cut."""
        content = bytearray(self.kept)
        for op in self.since:
            _put(content, op, lambda: True)
        return bytes(content)

    def after_cut(self, chance: random.Random) -> bytes:
        """Return a possible content: each sector written since the last sync, and the new size, may be lost."""
        content, likely = bytearray(self.kept), chance.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        for op in self.since:
            _put(content, op, lambda: chance.random() < likely)
        if len(content) > len(self.kept) and chance.random() < 0.3:
            del content[chance.randrange(len(self.kept), len(content) + 1) :]
        return bytes(content)


def _put(content: bytearray, op: Op, survives: Callable[[], bool]) -> None:
    """Apply the surviving sectors of an operation; a longer file is filled with zeros."""
    if op.what == "truncate":
        if survives():
            del content[op.at :]
            content.extend(bytes(op.at - len(content)))
        return
    if op.what == "content" and survives():
        del content[len(op.data) :]
    for begin, end in _sectors(op.at, len(op.data)):
        if survives():
            content.extend(bytes(max(0, end - len(content))))
            content[begin:end] = op.data[begin - op.at : end - op.at]


def _sectors(at: int, length: int) -> Iterator[tuple[int, int]]:
    begin = at
    while begin < at + length:
        end = min(at + length, (begin // SECTOR + 1) * SECTOR)
        yield begin, end
        begin = end


class Disk:
    def __init__(self) -> None:
        self._files: dict[int, _File] = {}
        self._entries: dict[str, int | None] = {}
        """Entries at the last sync: a file's number, or None for a folder."""

        self._since: list[Op] = []

    def take_in(self, op: Op) -> None:
        if op.what in ("write", "truncate", "content"):
            self._files[op.file].since.append(op)
        elif op.what == "sync":
            self._files[op.file].sync()
        elif op.what == "syncdir":
            there = [entry for entry in self._since if _above(entry.name) == op.name]
            self._since = [entry for entry in self._since if _above(entry.name) != op.name]
            for entry in there:
                _enter(self._entries, entry)
        elif op.what in ("create", "unlink", "rename", "mkdir"):
            if op.what == "create":
                self._files[op.file] = _File()
            self._since.append(op)

    def after_cut(self, chance: random.Random) -> dict[str, bytes | None]:
        """Return possible contents by path, None for folders."""
        entries = dict(self._entries)
        for entry in _surviving(self._since, chance):
            _enter(entries, entry)
        contents = {number: file.after_cut(chance) for number, file in self._files.items()}
        there = {name: None if number is None else contents[number] for name, number in entries.items()}
        return {name: content for name, content in there.items() if _is_reached(name, entries)}


def _enter(entries: dict[str, int | None], op: Op) -> None:
    if op.what == "create":
        entries[op.name] = op.file
    elif op.what == "mkdir":
        entries[op.name] = None
    elif op.what == "unlink":
        entries.pop(op.name, None)
    else:
        entries.pop(op.value, None)
        entries[op.name] = op.file


def _surviving(since: list[Op], chance: random.Random) -> list[Op]:
    """Return the surviving entry changes: a prefix, as with a journaling file system, or any subset."""
    if chance.random() < 0.5:
        return since[: chance.randrange(len(since) + 1)]
    likely = chance.choice((0.0, 0.5, 0.9))
    return [op for op in since if chance.random() < likely]


def _above(name: str) -> str:
    """Return the folder of an entry; empty for the root."""
    return name.rpartition("/")[0]


def _is_reached(name: str, entries: dict[str, int | None]) -> bool:
    above = _above(name)
    return not above or (above in entries and entries[above] is None and _is_reached(above, entries))


# --- The recorder ---------------------------------------------------------------------------------------------


class _Methods(ctypes.Structure):
    _fields_ = (("version", ctypes.c_int), ("calls", ctypes.c_void_p * 18))


class _Open(ctypes.Structure):
    _fields_ = (("methods", ctypes.c_void_p),)


class _Vfs(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_int), ("size", ctypes.c_int), ("longest", ctypes.c_int), ("next", ctypes.c_void_p),
        ("name", ctypes.c_char_p), ("data", ctypes.c_void_p), ("open", ctypes.c_void_p), ("delete", ctypes.c_void_p),
        ("others", ctypes.c_void_p * 11), ("set_call", ctypes.c_void_p), ("get_call", ctypes.c_void_p),
        ("next_call", ctypes.c_void_p),
    )  # fmt: skip


_INT, _LONG, _PTR, _STR = ctypes.c_int, ctypes.c_int64, ctypes.c_void_p, ctypes.c_char_p
_OPEN = ctypes.CFUNCTYPE(_INT, _PTR, _PTR, _PTR, _INT, _PTR)
_DELETE = ctypes.CFUNCTYPE(_INT, _PTR, _PTR, _INT)
_CLOSES = ctypes.CFUNCTYPE(_INT, _PTR)
_WRITES = ctypes.CFUNCTYPE(_INT, _PTR, _PTR, _INT, _LONG)
_TRUNCATES = ctypes.CFUNCTYPE(_INT, _PTR, _LONG)
_SYNCS = ctypes.CFUNCTYPE(_INT, _PTR, _INT)
_OPEN_FOLDER = ctypes.CFUNCTYPE(_INT, _STR, _PTR)
_SET_CALL = ctypes.CFUNCTYPE(_INT, _PTR, _STR, _PTR)
_GET_CALL = ctypes.CFUNCTYPE(_PTR, _PTR, _STR)


def library() -> ctypes.CDLL | None:
    """Return the library that Python's `sqlite3` uses; None if it is statically linked and hidden."""
    import _sqlite3

    try:
        found = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
        found.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
        found.sqlite3_vfs_find.argtypes = [_STR]
        found.sqlite3_vfs_register.argtypes = [ctypes.POINTER(_Vfs), _INT]
        found.sqlite3_vfs_unregister.argtypes = [ctypes.POINTER(_Vfs)]
    except (OSError, AttributeError):
        return None
    return found


class Recorder:
    """Records the operations on a folder's files and the promises made, inside the context."""

    def __init__(self, root: Path) -> None:
        self.ops: list[Op] = []
        self._root = f"{root.resolve()}/"
        self._lib = library()
        if self._lib is None:
            raise RuntimeError("SQLite is built into this Python: use one with a libsqlite3 beside it.")
        self._lock = threading.RLock()
        self._names: dict[str, int] = {}
        self._count = 0
        self._open: dict[int, int] = {}  # file number by address of the open handle
        self._synced: dict[int, bytes] = {}
        self._kept: list[Any] = []
        self._patched: dict[int, _Methods] = {}
        self.syncs = 0
        self.began = 0  # number of first operations that describe the initial content; no cut before their end

    def promise(self, value: Any) -> None:
        """Record that a value is acknowledged from now on."""
        self._note(Op("promise", value=value))

    def _note(self, op: Op) -> None:
        with self._lock:
            self.ops.append(op)

    def _inner(self, path: str | bytes | os.PathLike[str] | None) -> str | None:
        """Return a path relative to the folder; None if it is outside."""
        if path is None:
            return None
        whole = str(Path(os.fsdecode(path)).absolute())
        return whole.removeprefix(self._root) if whole.startswith(self._root) else None

    def _known(self, name: str) -> int:
        """Return a file's number; an unknown file is recorded as new."""
        if name not in self._names:
            self._count += 1
            self._names[name] = self._count
            self._note(Op("create", name, self._count))
        return self._names[name]

    # SQLite

    def __enter__(self) -> Recorder:
        for path in sorted(Path(self._root).rglob("*")):
            self._was_there(path)
        self.began = len(self.ops)
        self._real = self._lib.sqlite3_vfs_find(None)
        self._ours = _Vfs.from_buffer_copy(self._real.contents)
        self._ours.name = b"recorded"
        self._really_open, self._really_delete = _OPEN(self._ours.open), _DELETE(self._ours.delete)
        self._ours.open, self._ours.delete = self._led(_OPEN, self._opens), self._led(_DELETE, self._deletes)
        self._call = _SET_CALL(self._ours.set_call)
        self._open_folder = _OPEN_FOLDER(_GET_CALL(self._ours.get_call)(self._address(), b"openDirectory"))
        self._call(self._address(), b"openDirectory", self._led(_OPEN_FOLDER, self._opens_folder))
        self._lib.sqlite3_vfs_register(ctypes.byref(self._ours), 1)
        self._of_os = self._led_os()
        return self

    def __exit__(self, *_: object) -> None:
        self._of_os.close()
        self._call(self._address(), b"openDirectory", None)
        self._lib.sqlite3_vfs_unregister(ctypes.byref(self._ours))
        self._lib.sqlite3_vfs_register(self._real, 1)

    def _was_there(self, path: Path) -> None:
        name = str(path)[len(self._root) :]
        if path.is_dir():
            self._note(Op("mkdir", name))
        else:
            number = self._known(name)
            self._note(Op("content", name, number, path.read_bytes()))
            self._note(Op("sync", name, number))
        self._note(Op("syncdir", _above(name)))

    def _address(self) -> int:
        return ctypes.addressof(self._ours)

    def _led(self, kind: Any, call: Callable[..., int]) -> int:
        led = kind(call)
        self._kept.append(led)
        return ctypes.cast(led, _PTR).value

    def _opens(self, vfs: int, name: int | None, handle: int, flags: int, out: int | None) -> int:
        path = ctypes.string_at(name) if name else None
        inner = self._inner(path)
        said = self._really_open(vfs, name, handle, flags, out)
        # SQLite does not use the shared-memory file after a cut.
        if said == _OK and inner is not None and (flags & _CREATE or inner in self._names):
            self._open[handle] = self._known(inner)
            opened = _Open.from_address(handle)
            opened.methods = ctypes.addressof(self._methods(opened.methods))
        return said

    def _deletes(self, vfs: int, name: int, sync: int) -> int:
        inner = self._inner(ctypes.string_at(name))
        if inner in self._names:
            self._note(Op("unlink", inner, self._names.pop(inner)))
        return self._really_delete(vfs, name, sync)

    def _opens_folder(self, path: bytes, out: int) -> int:
        """Record a folder's sync: SQLite opens a folder, given by a file in it, only for this."""
        inner = self._inner(path)
        if inner is not None:
            self.syncs += 1
            self._note(Op("syncdir", _above(inner)))
        return self._open_folder(path, out)

    def _methods(self, real: int) -> _Methods:
        """Return an open file's calls, some replaced by ours."""
        if real not in self._patched:
            theirs = _Methods.from_address(real)
            ours = _Methods.from_buffer_copy(theirs)
            ours.version = min(ours.version, 2)
            led = ((_CLOSE, _CLOSES, self._closing), (_WRITE, _WRITES, self._writing),
                   (_TRUNCATE, _TRUNCATES, self._truncating), (_SYNC, _SYNCS, self._syncing))  # fmt: skip
            for place, kind, lead in led:
                ours.calls[place] = self._led(kind, partial(lead, kind(theirs.calls[place])))
            self._patched[real] = ours
        return self._patched[real]

    def _closing(self, real: Any, handle: int) -> int:
        self._open.pop(handle, None)
        return real(handle)

    def _writing(self, real: Any, handle: int, data: int, length: int, at: int) -> int:
        self._note(Op("write", file=self._open[handle], data=ctypes.string_at(data, length), at=at))
        return real(handle, data, length, at)

    def _truncating(self, real: Any, handle: int, size: int) -> int:
        self._note(Op("truncate", file=self._open[handle], at=size))
        return real(handle, size)

    def _syncing(self, real: Any, handle: int, flags: int) -> int:
        said = real(handle, flags)
        if said == _OK:
            self.syncs += 1
            self._note(Op("sync", file=self._open[handle]))
        return said

    # Small files

    def _led_os(self) -> contextlib.ExitStack:
        """Record the calls of `os`, which `pathlib` uses too, until the stack is closed."""
        led = contextlib.ExitStack()
        for name, lead in (
            ("fsync", self._fsync), ("fdatasync", self._fsync), ("replace", self._rename), ("rename", self._rename),
            ("unlink", self._unlink), ("remove", self._unlink), ("mkdir", self._mkdir), ("pwrite", self._pwrite),
        ):  # fmt: skip
            led.enter_context(patch.object(os, name, partial(lead, getattr(os, name))))
        return led

    def _fsync(self, real: Callable[[Any], None], fd: Any) -> None:
        path = str(Path(f"/proc/self/fd/{fd if isinstance(fd, int) else fd.fileno()}").readlink())
        inner = "" if f"{path}/" == self._root else self._inner(path)
        if inner is not None and Path(path).is_dir():
            real(fd)
            self._note(Op("syncdir", inner))
            return
        if inner is not None:
            self._look_at(inner)
        real(fd)
        if inner is not None:
            self.syncs += 1
            self._note(Op("sync", inner, self._names[inner]))
            self._synced[self._names[inner]] = Path(path).read_bytes()

    def _pwrite(self, real: Callable[..., int], fd: int, data: bytes, at: int) -> int:
        inner = self._inner(str(Path(f"/proc/self/fd/{fd}").readlink()))
        if inner is not None:
            self._note(Op("write", inner, self._known(inner), bytes(data), at))
        return real(fd, data, at)

    def _look_at(self, inner: str) -> None:
        """Record a small file's current content if it has changed."""
        content, number = Path(self._root, inner).read_bytes(), self._known(inner)
        if self._synced.get(number) != content:
            self._note(Op("content", inner, number, content))

    def _rename(self, real: Callable[..., None], src: Any, dst: Any, **more: Any) -> None:
        before, after = self._inner(src), self._inner(dst)
        if before is not None and after is not None and Path(src).is_file():
            self._look_at(before)
            number = self._names.pop(before)
            self._names[after] = number
            self._note(Op("rename", after, number, value=before))
        real(src, dst, **more)

    def _unlink(self, real: Callable[..., None], path: Any, **more: Any) -> None:
        real(path, **more)
        inner = self._inner(path)
        if inner in self._names:
            self._note(Op("unlink", inner, self._names.pop(inner)))

    def _mkdir(self, real: Callable[..., None], path: Any, *args: Any, **more: Any) -> None:
        real(path, *args, **more)
        inner = self._inner(path)
        if inner is not None:
            self._note(Op("mkdir", inner))

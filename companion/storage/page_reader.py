"""The log's file as bytes: what SQLite would see in it, told without opening it for writing.

A file is looked at before anything writes to it: opening a damaged one as usual would already change it (SQLite folds
the write-ahead log in, or throws it away). It also reads what a damaged file still has, page by page.
"""

from __future__ import annotations

import errno
import sqlite3
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from companion.storage.events import Row

PAGE = 4096
"""The size of a page where the header does not tell: what SQLite gives new files."""

_MAGIC = b"SQLite format 3\x00"
_WAL_MAGIC = 0x377F0682
_WAL_HEADER, _FRAME_HEADER = 32, 24
_LEAF, _INDEX_LEAF, _INDEX_BRANCH = 0x0D, 0x0A, 0x02
"""The first byte of a page with rows of a table; with entries of an index; with such that lead to other pages."""

_MOST_OF_A_ROW = 8_000_000


@dataclass(frozen=True, slots=True)
class Image:
    """The pages of a file by their numbers from 1, each `page_size` bytes."""

    pages: Mapping[int, bytes]
    page_size: int = PAGE
    count: int = 0
    """How many pages the file has."""

    def as_file(self) -> bytes:
        """One file of it all, for `deserialize`: it says that it has no write-ahead log."""
        empty = bytes(self.page_size)
        whole = bytearray().join(self.pages.get(number, empty) for number in range(1, self.count + 1))
        if whole[:16] == _MAGIC:
            whole[18:20] = b"\x01\x01"
        return bytes(whole)


def read_bytes(path: Path) -> bytes:
    """What a file holds; empty where there is none. Where a worn card no longer gives a piece, that piece is zeros.

    Raises OSError where the file may not be read.
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
        for at in range(0, size, PAGE):
            try:
                file.seek(at)
                yield file.read(PAGE).ljust(min(PAGE, size - at), b"\x00")
            except OSError:
                yield bytes(min(PAGE, size - at))


def image_of(file: bytes) -> Image:
    """The pages of a database file alone, a torn last one filled up with zeros."""
    size = _page_size(file)
    count = -(-len(file) // size)
    pages = {number: file[(number - 1) * size : number * size].ljust(size, b"\x00") for number in range(1, count + 1)}
    return Image(pages, size, count)


def _page_size(file: bytes) -> int:
    if file[:16] != _MAGIC:
        return PAGE
    said = int.from_bytes(file[16:18])
    size = 65536 if said == 1 else said
    return size if 512 <= size <= 65536 and size & (size - 1) == 0 else PAGE


def with_wal(image: Image, wal: bytes) -> Image:
    """The image with what its write-ahead log has committed; as it is where that holds nothing that is whole."""
    pages, count = dict(image.pages), image.count
    waiting: dict[int, bytes] = {}
    for frame in _whole_frames(wal, image.page_size):
        waiting[frame.number] = frame.page
        if frame.committed:
            pages |= waiting
            waiting, count = {}, frame.committed
    if count == image.count and pages == image.pages:
        return image
    return replace(image, pages={number: page for number, page in pages.items() if number <= count}, count=count)


def rows_cut_off(image: Image, wal: bytes) -> dict[int, Row]:
    """The events of a write-ahead log behind a piece of it that is damaged: SQLite would drop them without a word.

    What was being written as a plug was pulled stands there too, and nobody was told that it was saved: so the last
    commit alone counts for nothing.
    """
    slots = list(_slots(wal, image.page_size))
    salts = wal[16:24] if _header_sums(wal, image.page_size) else slots[0].salts if slots else b""
    behind = [slot for slot in slots[len(list(_whole_frames(wal, image.page_size))) :] if slot.salts == salts]
    if sum(slot.committed > 0 for slot in behind) < 2:
        return {}
    rows: dict[int, Row] = {}
    for slot in behind:
        rows |= rows_in(replace(image, pages={**image.pages, 0: slot.page}), only=0)
    return rows


@dataclass(frozen=True, slots=True)
class _Frame:
    """A page in a write-ahead log."""

    number: int
    committed: int
    """How many pages the file has once this commit is in it; 0 in its midst."""

    page: bytes
    salts: bytes
    """The same in all frames since the log last began again."""

    head: bytes
    sums: tuple[int, int]


def _slots(wal: bytes, page_size: int) -> Iterator[_Frame]:
    """Every frame that a write-ahead log has room for, whole or not."""
    for at in range(_WAL_HEADER, len(wal) - _FRAME_HEADER - page_size + 1, _FRAME_HEADER + page_size):
        head, page = wal[at : at + _FRAME_HEADER], wal[at + _FRAME_HEADER : at + _FRAME_HEADER + page_size]
        number, committed, _, _, one, two = struct.unpack(">6I", head)
        yield _Frame(number, committed, page, head[8:16], head[:8], (one, two))


def _whole_frames(wal: bytes, page_size: int) -> Iterator[_Frame]:
    """Every frame whose checksum is right, up to the first that is not."""
    sums = _header_sums(wal, page_size)
    if sums is None:
        return
    order = ">" if wal[3] & 1 else "<"
    for frame in _slots(wal, page_size):
        sums = _checksum(frame.head + frame.page, order, sums)
        if frame.salts != wal[16:24] or frame.sums != sums or not frame.number:
            return
        yield frame


def _header_sums(wal: bytes, page_size: int) -> tuple[int, int] | None:
    """The checksum of a write-ahead log's header; None where that is none for such pages."""
    if len(wal) < _WAL_HEADER:
        return None
    magic, _version, size = struct.unpack(">3I", wal[:12])
    if magic & ~1 != _WAL_MAGIC or size != page_size:
        return None
    sums = _checksum(wal[:24], ">" if magic & 1 else "<", (0, 0))
    return sums if sums == struct.unpack(">2I", wal[24:32]) else None


def _checksum(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    one, two = sums
    numbers = struct.unpack(f"{order}{len(data) // 4}I", data)
    for first, second in zip(numbers[::2], numbers[1::2], strict=True):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two


def in_memory(image: Image) -> sqlite3.Connection:
    """The image as a database in memory, of which nothing is written anywhere. Raises sqlite3.Error."""
    db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        db.deserialize(image.as_file())
    except BaseException:
        db.close()
        raise
    return db


# --- Rows, page by page ---------------------------------------------------------------------------------------


def rows_in(image: Image, only: int | None = None) -> dict[int, Row]:
    """The events that the pages still hold, whatever leads to them, by seq; where two pages differ, neither counts.

    `only`: those that one page begins.
    """
    found: dict[int, Row] = {}
    doubtful: set[int] = set()
    for page in [image.pages[only]] if only is not None else image.pages.values():
        if page[0] != _LEAF:
            continue
        for row in _rows_of(image, page):
            if found.setdefault(row[0], row) != row:
                doubtful.add(row[0])
    return {seq: row for seq, row in found.items() if seq not in doubtful}


def numbers_in(image: Image) -> dict[int, int]:
    """The match of each event that the index knows, by seq, whether or not the event itself can still be read."""
    found: dict[int, int] = {}
    for page in image.pages.values():
        if page[0] in (_INDEX_LEAF, _INDEX_BRANCH):
            found |= dict(_numbers_of(page))
    return found


def _numbers_of(page: bytes) -> Iterator[tuple[int, int]]:
    is_branch = page[0] == _INDEX_BRANCH
    for at in _cells(page, 12 if is_branch else 8):
        try:
            size, at = _varint(page, at + 4 if is_branch else at)
            match, *_, seq = _values(_exactly(page[at : at + size], size))
        except (IndexError, ValueError, struct.error):
            continue
        if isinstance(match, int) and isinstance(seq, int) and 0 < match <= seq:
            yield seq, match


def _cells(page: bytes, header: int) -> Iterator[int]:
    """Where on a page the things that it holds begin."""
    count = min(int.from_bytes(page[3:5]), (len(page) - header) // 2)
    return (int.from_bytes(page[header + 2 * place : header + 2 + 2 * place]) for place in range(count))


def _rows_of(image: Image, page: bytes) -> Iterator[Row]:
    for at in _cells(page, 8):
        try:
            row = _row(image, page, at)
        except (IndexError, ValueError, struct.error):
            continue
        if row is not None:
            yield row


def _row(image: Image, page: bytes, at: int) -> Row | None:
    """The row at a place of a page. Raises IndexError, ValueError or struct.error where it is none."""
    size, at = _varint(page, at)
    seq, at = _varint(page, at)
    if not 0 < size <= _MOST_OF_A_ROW or not 0 < seq < 2**53:
        return None
    payload = _payload(image, page, at, size)
    values = list(_values(payload))
    if len(values) < 5 or values[0] is not None:
        return None
    _, match, at_s, kind, body = values[:5]
    if not (isinstance(match, int) and isinstance(kind, str) and isinstance(body, str)):
        return None
    return (seq, match, float(at_s), kind, body) if isinstance(at_s, int | float) else None


def _payload(image: Image, page: bytes, at: int, size: int) -> bytes:
    """A row's bytes, also where they run over to other pages."""
    usable = image.page_size
    most, least = usable - 35, (usable - 12) * 32 // 255 - 23
    if size <= most:
        return _exactly(page[at : at + size], size)
    here = least + (size - least) % (usable - 4)
    here = here if here <= most else least
    content = bytearray(_exactly(page[at : at + here], here))
    following = int.from_bytes(_exactly(page[at + here : at + here + 4], 4))
    while len(content) < size:
        over = image.pages.get(following, b"")
        content += _exactly(over[4 : 4 + min(usable - 4, size - len(content))], min(usable - 4, size - len(content)))
        following = int.from_bytes(over[:4])
    return bytes(content)


def _exactly(piece: bytes, size: int) -> bytes:
    if len(piece) != size:
        raise ValueError("torn")
    return piece


def _values(payload: bytes) -> Iterator[object]:
    header, at = _varint(payload, 0)
    body = header
    while at < header:
        kind, at = _varint(payload, at)
        if kind in (10, 11):
            raise ValueError("reserved")
        size = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind] if kind < 10 else (kind - 12) // 2
        yield _value(kind, _exactly(payload[body : body + size], size))
        body += size


def _value(kind: int, piece: bytes) -> object:
    if kind >= 12:
        return piece.decode("utf-8") if kind % 2 else piece
    if kind == 7:
        return struct.unpack(">d", piece)[0]
    if kind in (0, 8, 9):
        return (None, 0, 1)[max(0, kind - 7)]
    return int.from_bytes(piece, signed=True)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of SQLite's variable length, and where it ends. Raises IndexError where the data ends first."""
    number = 0
    for place in range(8):
        byte = data[at + place]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at + place + 1
    return number << 8 | data[at + 8], at + 9

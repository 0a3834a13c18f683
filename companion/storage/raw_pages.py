"""Read events from the pages of a damaged log without SQLite, correcting one flipped bit per page.

A page is sound if its cells fill it without a gap, as appending writes them, and each holds an event with the right
checksum. In an unsound page, each suspect bit is flipped in turn. If exactly one flip makes the page sound, its events
are accepted.

A single flipped bit is always among those tried. Two in an event never pass for one: texts below 11 kB with equal
CRC-32 differ in at least four bits. After worse damage, one of about 1000 tries fits by chance with a probability of
1000 in 2^32, and only if the rest of the page is sound.

Format: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any, NamedTuple

from companion.storage.data_folder import PIECE_BYTES as PAGE
from companion.storage.database import is_as_written
from companion.storage.events import Row

_LEAF = 0x0D  # type of a page with rows
_HEADER, _LINK = 8, 4  # bytes of a page's header, and of a link to the next page of a row
_MOST_LOCAL, _LEAST_LOCAL = PAGE - 35, (PAGE - 12) * 32 // 255 - 23  # of a row on its own page; longer ones continue
_COLUMNS = 6  # of the event table
MOST_TRIALS = 200_000  # per file: some 4 s on a laptop; a service must start within 90 s
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # bytes by serial type
_NO_EVENT = (ValueError, IndexError, TypeError, OverflowError, struct.error)  # from bytes that are no event


class _Cell(NamedTuple):
    number: int  # of the row
    end: int  # offset in the file
    row: bytes
    elsewhere: tuple[int, ...]  # offsets of the row's overflow pages


def events_in(file: bytes) -> tuple[dict[int, Row], dict[int, Row]]:
    """Return the events of sound and of corrected pages, each by number."""
    sound: dict[int, Row] = {}
    corrected: dict[int, Row] = {}
    content, trials = bytearray(file), MOST_TRIALS
    # The first page holds the schema.
    for at in range(PAGE, len(file) - PAGE + 1, PAGE):
        if rows := _rows(content, at):
            sound |= {row[0]: row for row in rows}
            continue
        places = _doubtful(content, at)
        if 8 * len(places) <= trials:
            trials -= 8 * len(places)
            corrected |= {row[0]: row for row in _corrected(content, at, places)}
    return sound, corrected


def _corrected(file: bytearray, at: int, places: Mapping[int, int | None]) -> tuple[Row, ...]:
    """Return the events of an unsound page if exactly one flip makes it sound, else none."""
    fitting = set()
    for place, cell in places.items():
        for bit in range(8):
            file[place] ^= 1 << bit
            if (cell is None or _event_of(_cell(file, cell))) and (rows := _rows(file, at)):
                fitting.add(rows)
            file[place] ^= 1 << bit
    return fitting.pop() if len(fitting) == 1 else ()


def _doubtful(file: bytearray, at: int) -> Mapping[int, int | None]:
    """Return the offsets of a page's bytes outside its sound events.

    A cell's bytes map to its offset, as a correction must make it sound; others map to None.
    """
    if file[at] != _LEAF:
        # Another type, unless one of its bits flipped.
        return {at: None} if (file[at] ^ _LEAF).bit_count() == 1 else {}
    pointers = _pointers(file, at)
    places: dict[int, int | None] = dict.fromkeys(range(at, at + _HEADER))
    ends = dict(pairwise([*sorted(set(pointers)), at + PAGE]))
    for number, start in enumerate(pointers):
        cell = _cell(file, start)
        if _event_of(cell) is None:
            parts = [range(start, ends[start]), *(range(page, page + PAGE) for page in cell.elsewhere)]
            places |= dict.fromkeys(chain(*parts), start)
        if _event_of(cell) is None or pointers.count(start) > 1:
            pointer = at + _HEADER + 2 * number
            places |= dict.fromkeys((pointer, pointer + 1))
    return places


def _rows(file: bytearray, at: int) -> tuple[Row, ...]:
    """Return the events of a sound page in order, else none."""
    kind, free, _count, first, fragments = struct.unpack_from(">BHHHB", file, at)
    pointers = _pointers(file, at)
    if kind != _LEAF or free or fragments or not pointers or at + first != min(pointers):
        return ()
    rows, end = list[Row](), at + PAGE
    # Cells fill the page from its end.
    for pointer in pointers:
        cell = _cell(file, pointer)
        row = _event_of(cell) if cell.end == end else None
        if row is None or (rows and row <= rows[-1]):
            return ()
        rows.append(row)
        end = pointer
    return tuple(rows)


def _pointers(file: bytearray, at: int) -> list[int]:
    """Return the offsets of a page's cells by row number."""
    (count,) = struct.unpack_from(">H", file, at + 3)
    count = min(count, (PAGE - _HEADER) // 2)
    return [at + pointer % PAGE for pointer in struct.unpack_from(f">{count}H", file, at + _HEADER)]


def _cell(file: bytearray, at: int) -> _Cell:
    try:
        size, after = _varint(file, at)
        number, begins = _varint(file, after)
    except IndexError:
        return _Cell(0, 0, b"", ())
    local = size
    if size > _MOST_LOCAL:
        local = _LEAST_LOCAL + (size - _LEAST_LOCAL) % (PAGE - _LINK)
        local = local if local <= _MOST_LOCAL else _LEAST_LOCAL
    end = begins + local
    row, elsewhere, link = file[begins:end], list[int](), end
    while len(row) < size and len(elsewhere) * PAGE < len(file):
        page = (int.from_bytes(file[link : link + _LINK], "big") - 1) * PAGE
        if not 0 < page <= len(file) - PAGE:
            break
        elsewhere.append(page)
        row += file[page + _LINK : page + PAGE]
        link = page
    return _Cell(number, end + (_LINK if local < size else 0), bytes(row[:size]), tuple(elsewhere))


def _event_of(cell: _Cell) -> Row | None:
    return _event(cell.number, cell.row)


@lru_cache(maxsize=1024)
def _event(number: int, record: bytes) -> Row | None:
    """Return a row's event; None if it fails its checksum."""
    try:
        header, at = _varint(record, 0)
        types = []
        for _column in range(_COLUMNS):
            kind, at = _varint(record, at)
            types.append(kind)
        if at != header:
            return None
        values = []
        for kind in types:
            value, at = _value(record, kind, at)
            values.append(value)
        no_number, match, at_s, name, body, crc = values
        # SQLite stores whole numbers as integers, even in a REAL column.
        row: Row = number, match, float(at_s) if type(at_s) is int else at_s, name, body
        is_whole = no_number is None and at == len(record) and crc is not None
        return row if is_whole and is_as_written(row, crc) else None
    except _NO_EVENT:
        return None


def _value(record: bytes, kind: int, at: int) -> tuple[Any, int]:
    """Return a value of a row and the next offset. Raises one of `_NO_EVENT`."""
    if kind in (0, 8, 9):
        return (None if kind == 0 else kind - 8), at
    if kind in _INTEGERS:
        end = at + _INTEGERS[kind]
        return int.from_bytes(record[at:end], "big", signed=True), end
    if kind == 7:
        return float(struct.unpack_from(">d", record, at)[0]), at + 8
    if kind < 13 or kind % 2 == 0:
        raise ValueError("no type of a column of events")
    end = at + (kind - 13) // 2
    return record[at:end].decode(), end


def _varint(content: bytes | bytearray, at: int) -> tuple[int, int]:
    """Return a variable-length integer and the next offset. Raises IndexError."""
    value = 0
    for end in range(at + 1, at + 9):
        byte = content[end - 1]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, end
    return value << 8 | content[at + 8], at + 9

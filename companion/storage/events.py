"""Events of the log: kinds, values, checksums, validity."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from companion.common.spelling import all_composed

SETUP = "setup"  # begins a match
Row = tuple[int, int, float, str, str]  # event in the file: seq, match, Unix time, kind, JSON body


class EventKind(StrEnum):
    """Kinds of events and the keys of their bodies.

    `by`: who did it. `request`: the change's name from phone or script, and `asked`: a hash of its content; repeated
    requests count once.
    """

    SETUP = SETUP  # `lines`: the record's headers; `edition`: text of a custom one
    LINE = "line"
    """`text`; `source`: `camera` or `phone`; `before`: for a forgotten line, the seq of the next; `question`: id of the
    question it answers; `deal`: for a dealt hand, the secret key of its cards. The club gets only a hash of the key:
    `club.batch.without_deal_key`."""

    CORRECT = "correct"  # `of`: a line's seq; `text`: new text; `question`: see LINE
    RETRACT = "retract"  # `of`: a line's seq; `question`: see LINE
    UNDO = "undo"  # `of`: seq of an event
    REDO = "redo"  # `of`: seq of the undo to revert
    SEAT = "seat"  # `player`; `name`: to show, if given
    SETTING = "setting"  # `key` and `value`
    ANSWER = "answer"
    """`question`, `answer`, `about`: an answer that adds no line.

    Ignored in older logs: `zone`, `expected`, `seen`.
    """

    CLAIM = "claim"  # `text`: a typed play that is illegal or awaits another side
    WAIVE = "waive"  # `of`: seq of the last line; `by` passes, and draws if in turn
    WISH = "wish"  # `by` asks others to undo event `of`
    CALL = "call"  # `by` calls the club's director; `is_over` cancels that
    LETTER = "letter"  # from director `by`: `letter`: number; `what`: kind; `of`: an event; `text`


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event not yet written; the body is a small JSON object."""

    kind: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """A written event."""

    seq: int
    match: int
    at_s: float
    kind: str
    body: Mapping[str, Any]

    @property
    def by(self) -> str:
        return str(self.body.get("by", ""))


def read_body(body: str) -> dict[str, Any]:
    """Return an event's body in Unicode NFC: older logs then spell each player one way."""
    said: dict[str, Any] = json.loads(body)
    return {key: all_composed(value) if key in _COMPOSED else value for key, value in said.items()}


_COMPOSED = frozenset({"lines", "text", "by", "player", "name", "key", "value"})
"""Keys that can contain players' names."""


def checksum(row: Row) -> int:
    """Return an event's CRC-32; any flipped bit changes it."""
    seq, match, at_s, kind, body = row
    return zlib.crc32(f"{seq}\n{match}\n{float(at_s)!r}\n{kind}\n{body}".encode())


def is_sound(row: Row) -> bool:
    """True if an event can be replayed: valid numbers, known kind, required keys and types."""
    seq, match, _at_s, kind, body = row
    needs = _NEEDS.get(kind)
    if needs is None or not 0 < match <= seq or (kind == SETUP) != (match == seq):
        return False
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return False
    if not isinstance(said, dict):
        return False
    return all(key in said for key in needs) and all(_FIELDS[key](said[key]) for key in said if key in _FIELDS)


def unbroken(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return each match's events up to its first gap; later plays cannot be judged.

    A missing number may belong to any match begun before it: all of these end there. Later matches are complete.
    """
    kept, last, whole_from = [], 0, 0
    begun: set[int] = set()
    for row in sorted(rows):
        seq, match = row[:2]
        if seq != last + 1:
            whole_from = last + 1
        last = seq
        if match == seq:
            begun.add(match)
        if match in begun and match >= whole_from:
            kept.append(row)
    return tuple(kept)


def _is_text(value: object) -> bool:
    """True for text without lone surrogates, which pages cannot show."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


_NEEDS: Mapping[str, tuple[str, ...]] = {
    EventKind.SETUP: (),
    EventKind.LINE: ("text",),
    EventKind.CORRECT: ("of", "text"),
    EventKind.RETRACT: ("of",),
    EventKind.UNDO: ("of",),
    EventKind.REDO: ("of",),
    EventKind.SEAT: ("player",),
    EventKind.SETTING: ("key", "value"),
    EventKind.ANSWER: ("answer",),
    EventKind.CLAIM: ("text",),
    EventKind.WAIVE: ("of", "by"),
    EventKind.WISH: ("of", "by"),
    EventKind.CALL: ("by",),
    EventKind.LETTER: ("letter", "what", "of", "by"),
}
_TEXTS = "text by source player name key value zone question answer about request asked what deal edition"
_FIELDS: Mapping[str, Callable[[object], bool]] = {
    "lines": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    **dict.fromkeys(("of", "before", "letter"), lambda value: type(value) is int),
    "is_over": lambda value: isinstance(value, bool),
    **dict.fromkeys(("expected", "seen"), lambda value: value is None or _is_text(value)),
    **dict.fromkeys(_TEXTS.split(), _is_text),
}

"""Events of the log: kinds, values, checksums, validity."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from companion.common.spelling import all_composed

SETUP = "setup"  # the kind of event that begins a match
Row = tuple[int, int, float, str, str]  # an event in the file: seq, match, Unix time, kind, JSON body


class EventKind(StrEnum):
    """Kinds of events and the keys of their bodies.

    `by` names who did it. `request` is the name that a phone or script gave the change, and `asked` the hash of its
    content, so that a repeated request counts once.
    """

    SETUP = SETUP  # `lines`: header lines of the record; `edition`: text of a custom edition
    LINE = "line"
    """`text`; `source`: `camera` or `phone`; `before`: for a forgotten line, the seq of the line after it;
    `question`: id of the question it answers; `deal`: at the start of a dealt hand, the secret key of its cards.
    The club gets only a hash of the key: `club.batch.without_deal_key`."""

    CORRECT = "correct"  # `of`: a line's seq; `text`: its new text; `question` as in a line
    RETRACT = "retract"  # `of`: the seq of a removed line; `question` as in a line
    UNDO = "undo"  # `of`: the seq of the undone event
    REDO = "redo"  # `of`: the seq of the undo to revert
    SEAT = "seat"  # `player`; `name`: the name to show, if the person gave one
    SETTING = "setting"  # `key` and `value`
    ANSWER = "answer"
    """`question`, `answer`, `about`: the answer to a question that no line answers.

    Older logs have `zone`, `expected` and `seen` instead, which are ignored.
    """

    CLAIM = "claim"  # `text`: a typed play that waits: illegal, or to be confirmed by another side
    WAIVE = "waive"  # `of`: the seq of the last line; `by` passes, and draws if in turn
    WISH = "wish"  # `of`: the seq of an event that `by` asks others to undo
    CALL = "call"  # `by` calls the director of the club; `is_over` cancels the call
    LETTER = "letter"  # from director `by`: `letter`: its number; `what`: its kind; `of`: an event; `text`


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event before it is written: its kind and a small JSON object."""

    kind: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """An event as it was written."""

    seq: int
    match: int
    at_s: float
    kind: str
    body: Mapping[str, Any]

    @property
    def by(self) -> str:
        return str(self.body.get("by", ""))


def read_body(body: str) -> dict[str, Any]:
    """Return the body of a sound event with equal letters spelled alike: older logs then name each player one way."""
    said: dict[str, Any] = json.loads(body)
    return {key: all_composed(value) if key in _COMPOSED else value for key, value in said.items()}


_COMPOSED = frozenset({"lines", "text", "by", "player", "name", "key", "value"})
"""The keys that can contain names of players."""


def checksum(row: Row) -> int:
    """Return the CRC-32 of an event; any flipped bit changes it."""
    seq, match, at_s, kind, body = row
    return zlib.crc32(f"{seq}\n{match}\n{float(at_s)!r}\n{kind}\n{body}".encode())


def is_sound(row: Row) -> bool:
    """True if an event can be replayed: valid numbers, a known kind, the keys and types it needs."""
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
    """Return each match's events up to its first gap: plays after a missing one cannot be judged.

    Numbers run through all matches, so a missing one may belong to any match begun before it. All of these end at the
    gap; matches begun later are complete.
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
    """True for text without lone surrogates, which JSON can escape but a page cannot show."""
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

"""Events as values: what the log holds, which kinds there are, and whether one says what its kind needs."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from companion.common.spelling import all_composed

SETUP = "setup"  # the kind of event that begins a match
Row = tuple[int, int, float, str, str]  # an event as the file has it: seq, match, clock on the wall, kind, JSON body


class EventKind(StrEnum):
    """The kinds of events and what their bodies hold.

    `by` says who did it. `request`, with `asked`, is the name that a phone or a script gave the change, so that it
    counts once however often it is sent.
    """

    SETUP = SETUP  # `lines`: the header lines of the record; `edition`: the file of an edition of one's own
    LINE = "line"
    """`text`; `source`: `camera` or `phone`; `before`: the seq of the line it stands before, where it was forgotten;
    `question`: the id of the question that it answers; `deal`, beside the start of a hand that the program deals: the
    secret key that its cards follow from. The club gets its hash alone: `club.batch.without_deal_key`."""

    CORRECT = "correct"  # `of`: a line's seq; `text`: what it should have said; `question` as in a line
    RETRACT = "retract"  # `of`: the seq of a line that never happened; `question` as in a line
    UNDO = "undo"  # `of`: the seq of the event taken back
    REDO = "redo"  # `of`: the seq of the undo taken back
    SEAT = "seat"  # `player`, and `name`, the name to show, where the person has given one
    SETTING = "setting"  # `key` and `value`
    ANSWER = "answer"
    """`question`, `answer`, `about`: what the table said to a question that no line answers.

    Older logs have `zone`, `expected` and `seen` in their place; they mean nothing any more.
    """

    CLAIM = "claim"  # `text`: a play that was typed and waits: it is illegal, or another side has to confirm it
    WAIVE = "waive"  # `of`: the seq of the last line; `by` does not answer it, and draws where it is his turn
    WISH = "wish"  # `of`: the seq of an event that `by` wishes to take back, where others have to agree
    CALL = "call"  # `by` calls the director of the club; `is_over`: nobody needs to come any more
    LETTER = "letter"  # `letter`: the number of what director `by` has sent; `what`: its kind; `of`: an event; `text`


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
"""The parts of a body that name players."""


def checksum(row: Row) -> int:
    """Return the CRC-32 of an event: any bit that flips in it changes this number."""
    seq, match, at_s, kind, body = row
    return zlib.crc32(f"{seq}\n{match}\n{float(at_s)!r}\n{kind}\n{body}".encode())


def is_sound(row: Row) -> bool:
    """True if an event can be replayed: its numbers, its kind and what that kind needs."""
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
    """Return the events of each match up to its first gap: what comes after a play that is missing cannot be judged.

    Events are numbered through all matches. A number that is missing between the beginning of a match and one of its
    events may have been of that match: the match ends before it. One that began after the gap is whole.
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
    """True if this is text that a page can show: half a letter, which JSON can escape, cannot be encoded."""
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

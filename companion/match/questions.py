"""Questions for the players: plays, differences between table and record, requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from companion.common.text import Said
from companion.rules.cards import Card
from companion.rules.play import Play
from companion.rules.reasons import Reason
from companion.rules.table import Table

SURE_CONFIDENCE = 0.9  # minimum to count a play without a tap
_TYPED = "typed.e"
_ID = re.compile(r"(?P<match>[0-9]{1,15})-[0-9]{1,15}-.+\.[en]?[0-9]{1,15}-(?:play|which|differs|undo|director)")
_LETTER = re.compile(r"[0-9]{1,15}-0-letter\.e([0-9]{1,15})-director")


class Kind(StrEnum):
    """Kinds of questions."""

    PLAY = "play"  # does this play count?
    WHICH = "which"  # which of several plays was it?
    DIFFERS = "differs"  # table and record differ
    UNDO = "undo"  # may the last change of a dealt match be undone?
    DIRECTOR = "director"  # from the club's director


class Letter(StrEnum):
    """Kinds of messages (letters) from the club's director to a table."""

    REMOVE = "remove"  # remove line `of`
    CHANGE = "change"  # change line `of` to `text`
    NOTE = "note"  # show `text`
    COMING = "coming"  # answers a call; not a question


class Answer(StrEnum):
    """Answers to a question."""

    YES = "yes"
    NO = "no"
    TAKEN_BACK = "taken-back"
    TABLE = "table"
    RECORD = "record"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Question:
    """A question derived from table and record; open while they imply it, never saved."""

    id: str  # match, hand, card and kind; never reused
    kind: Kind
    zone: str | None
    plays: tuple[Play, ...] = ()  # likeliest first; for `differs`: what `table` would write
    table: Table | None = None  # after the legal plays before this one
    reasons: tuple[Reason, ...] = ()  # against the first play on `table`
    say: Said | None = None  # difference or director's request
    confidence: float = 1.0
    sure: bool = True  # may count without a tap if the policy allows
    expected: Card | None = None  # for `differs`: the missing card
    seen: Card | None = None  # for `differs`: the extra card
    line: int | None = None  # to change if the table or the director is right
    instead_of: str = ""  # the camera's question about a typed play's card
    about: str = ""  # state of the zone: `ignore` holds until it changes
    by: str = ""  # the director, or the player who wants to undo
    crop: bytes | None = field(default=None, compare=False)  # JPEG of the card

    @property
    def serial(self) -> int | None:
        return serial_of(self.id)

    @property
    def is_legal(self) -> bool:
        return not self.reasons

    @property
    def asks_play(self) -> bool:
        """True if about a play: later plays wait for it and are judged after it."""
        return self.kind in (Kind.PLAY, Kind.WHICH)

    @property
    def may_count_untapped(self) -> bool:
        return self.kind is Kind.PLAY and self.is_legal and self.sure

    @property
    def is_typed(self) -> bool:
        return self.id.rpartition("-")[0].rpartition("-")[2].startswith(_TYPED)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer from the log."""

    answer: Answer
    about: str
    seq: int


Answers = Mapping[str, Answered]


def question_id(match: int, hand: int, name: str, serial: int | str, kind: Kind) -> str:
    """Return a question's id.

    `serial`: a track's serial for a card; `n3` for the third question of this `name` without a card; `e41` for event
    41, a typed play (`name` is `typed`) or request to undo (`wish`).
    """
    return f"{match}-{hand}-{name}.{serial}-{kind.value}"


def letter_id(match: int, letter: int) -> str:
    """Return the question id of a director's letter."""
    return question_id(match, 0, "letter", f"e{letter}", Kind.DIRECTOR)


def letter_of(question: str) -> int | None:
    """Return the number of the letter in a question id, if any."""
    found = _LETTER.fullmatch(question)
    return int(found[1]) if found else None


def match_of(question: str) -> int | None:
    """Return the match of a question id; None if malformed."""
    found = _ID.fullmatch(question)
    return int(found["match"]) if found else None


def is_of_a_card(question: str, match: int, hand: int) -> bool:
    """True if the question is about a card seen in this hand."""
    return question.startswith(f"{match}-{hand}-") and serial_of(question) is not None


def serial_of(question: str) -> int | None:
    """Return the track's serial in a question id, if any."""
    serial = question.rpartition("-")[0].rpartition(".")[2]
    return int(serial) if serial.isdecimal() else None

"""What the table is asked: a play that was laid, a card that cannot be told, a table that differs from the record."""

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

SURE_CONFIDENCE = 0.9  # least confidence of a play that may be confirmed without a tap
_TYPED = "typed.e"
_ID = re.compile(r"(?P<match>[0-9]{1,15})-[0-9]{1,15}-.+\.[en]?[0-9]{1,15}-(?:play|which|differs|undo|director)")
_LETTER = re.compile(r"[0-9]{1,15}-0-letter\.e([0-9]{1,15})-director")


class Kind(StrEnum):
    """What a question asks."""

    PLAY = "play"  # this was laid: shall it count?
    WHICH = "which"  # one of several plays
    DIFFERS = "differs"  # the table lies otherwise than the record has it
    UNDO = "undo"  # somebody wishes to take back the last change; where the program deals another has to agree
    DIRECTOR = "director"  # the club's director asks for a change of the record, or has a note for the table


class Letter(StrEnum):
    """What the club's director may send to a table."""

    REMOVE = "remove"  # the play in line `of` shall go
    CHANGE = "change"  # it shall be `text`
    NOTE = "note"  # `text` is to be read
    COMING = "coming"  # the call in event `of` was answered; nothing is asked


class Answer(StrEnum):
    """What people say to a question."""

    YES = "yes"
    NO = "no"
    TAKEN_BACK = "taken-back"
    TABLE = "table"
    RECORD = "record"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Question:
    """One question, derived from the table and the record. Never kept: it is asked as long as it follows from them."""

    id: str  # of match, hand, card and kind: never given to another card, in no hand and no match
    kind: Kind
    zone: str | None
    plays: tuple[Play, ...] = ()  # likeliest first; what the table's answer would write for `differs`, if anything
    table: Table | None = None  # what the first play is judged on: the legal plays before it counted
    reasons: tuple[Reason, ...] = ()  # why the first play is illegal there
    say: Said | None = None  # the difference, or what the director writes or wishes, as a sentence
    confidence: float = 1.0
    sure: bool = True  # if the play may be confirmed without a tap where the table has chosen so
    expected: Card | None = None  # for `differs`: the card that should lie there and does not
    seen: Card | None = None  # for `differs`: the card that lies there and should not
    line: int | None = None  # for `differs` the line of the record that goes where the table is right; the director's
    instead_of: str = ""  # for a typed play: the id of the question about the card that was laid for it
    about: str = ""  # how the zone lay: `ignore` holds until that changes
    by: str = ""  # the director, or who wishes an undo
    crop: bytes | None = field(default=None, compare=False)  # the card as the camera saw it, JPEG

    @property
    def serial(self) -> int | None:
        return serial_of(self.id)

    @property
    def is_legal(self) -> bool:
        return not self.reasons

    @property
    def asks_play(self) -> bool:
        """True if it waits in the order of play: what comes after it is judged with it, and cannot count before it."""
        return self.kind in (Kind.PLAY, Kind.WHICH)

    @property
    def may_count_untapped(self) -> bool:
        return self.kind is Kind.PLAY and self.is_legal and self.sure

    @property
    def is_typed(self) -> bool:
        """True if somebody typed the play; else the camera saw it."""
        return self.id.rpartition("-")[0].rpartition("-")[2].startswith(_TYPED)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer as the log has it."""

    answer: Answer
    about: str
    seq: int


Answers = Mapping[str, Answered]


def question_id(match: int, hand: int, name: str, serial: int | str, kind: Kind) -> str:
    """Return the id of a question: about the card of a track's serial; `n3`: the third of its name that is about none;
    `e41`: about what an event says, `typed` a play and `wish` to take back.
    """
    return f"{match}-{hand}-{name}.{serial}-{kind.value}"


def letter_id(match: int, letter: int) -> str:
    """Return the id of the question that a letter of the director's asks in a match."""
    return question_id(match, 0, "letter", f"e{letter}", Kind.DIRECTOR)


def letter_of(question: str) -> int | None:
    """Return the number of the letter that a question with this id is about; None for another question."""
    found = _LETTER.fullmatch(question)
    return int(found[1]) if found else None


def match_of(question: str) -> int | None:
    """Return the match in which a question with this id was asked; None where no question has such an id."""
    found = _ID.fullmatch(question)
    return int(found["match"]) if found else None


def is_of_a_card(question: str, match: int, hand: int) -> bool:
    """True if a question with this id is about a card that was seen in a hand."""
    return question.startswith(f"{match}-{hand}-") and serial_of(question) is not None


def serial_of(question: str) -> int | None:
    """Return the serial of the track that a question with this id is about; None where it is about none."""
    serial = question.rpartition("-")[0].rpartition(".")[2]
    return int(serial) if serial.isdecimal() else None

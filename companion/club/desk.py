"""What passes between the director and a table beside its log: calls, notes, corrections. Pure functions of deeds.

A call is an event of the table's own log, and so is what the table makes of a correction: the letter that has arrived,
and the answer that somebody at the table has given. The club writes each down as a deed of the table's topic when it
takes the event in, and hands out what has not arrived with every batch that it acknowledges.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from companion.club.batch import MOST_SEQ, Sent
from companion.club.deed import Deed
from companion.match.archive import PastMatch
from companion.match.questions import Kind, Letter, letter_of
from companion.storage.events import EventKind

MOST_TEXT = 200
CALL, ANSWERED, ARRIVED, REPLIED = "call", "answered", "arrived", "replied"
"""Kinds of deeds at a table's desk, beside those of letters."""


def topic(table: str) -> str:
    """Return the topic of a table's deeds."""
    return f"table:{table}"


class LetterStage(StrEnum):
    """How far a letter has come."""

    WAITS = "waits"  # the table has not got it yet
    ASKED = "asked"  # the table has it, and nobody there has answered
    YES = "yes"
    NO = "no"
    VOID = "void"  # the line is there no more, or the table plays another match


@dataclass(frozen=True, slots=True)
class Correction:
    """A letter to a table and what became of it."""

    deed: Deed
    stage: LetterStage
    by: str = ""  # who has answered at the table


def heard(sent: Sent) -> tuple[str, dict[str, object]] | None:
    """Return the kind and body of the deed that an event of a table comes to; None for most."""
    if sent.kind not in (EventKind.CALL, EventKind.LETTER) and f"-{Kind.DIRECTOR}" not in sent.body:
        return None
    try:
        body = json.loads(json.loads(sent.body)["body"])
        who = str(body.get("by", ""))[:MOST_TEXT]
        if sent.kind == EventKind.CALL:
            return CALL, {"call": sent.seq, "by": who, "is_over": bool(body.get("is_over"))}
        if sent.kind == EventKind.LETTER:
            return ARRIVED, {"letter": _number(body["letter"]), "match": sent.match, "what": str(body["what"])[:16]}
        letter = letter_of(str(body.get("question", "")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    agreed = sent.kind in (EventKind.CORRECT, EventKind.RETRACT) or body.get("answer") == "yes"
    return None if letter is None else (REPLIED, {"letter": letter, "by": who, "agreed": agreed})


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MOST_SEQ:
        raise ValueError
    return value


def waiting_call(deeds: Iterable[Deed]) -> Deed | None:
    """Return the call that nobody has answered."""
    call: Deed | None = None
    for deed in deeds:
        if deed.kind == CALL:
            # Who calls twice has waited since the first time.
            call = None if deed.body["is_over"] else call or deed
        elif deed.kind == ANSWERED or deed.body.get("what") == Letter.COMING:
            call = None  # Of a log that is sent again as a new table only the second is here.
    return call


def letters(deeds: Sequence[Deed]) -> list[Deed]:
    """Return what was sent to a table, in order."""
    return [deed for deed in deeds if deed.kind in tuple(Letter)]


def not_arrived(deeds: Sequence[Deed]) -> list[dict[str, object]]:
    """Return what the table has not got, as far as the club knows, as it reads it."""
    there = {deed.body["letter"] for deed in deeds if deed.kind == ARRIVED}
    waiting = (deed for deed in letters(deeds) if deed.seq not in there)
    return [{**deed.body, "letter": deed.seq, "what": deed.kind, "by": deed.who} for deed in waiting]


def corrections(deeds: Sequence[Deed], now: PastMatch | None) -> list[Correction]:
    """Return the letters of a table that it is asked about, the newest first, with what became of each.

    `now` is the table's latest match.
    """
    arrived = {deed.body["letter"]: deed.body["match"] for deed in deeds if deed.kind == ARRIVED}
    replied = {deed.body["letter"]: deed.body for deed in deeds if deed.kind == REPLIED}
    lines = {entry.seq for hand in now.hands for entry in hand.entries} if now else set()
    found = []
    for deed in letters(deeds):
        said = replied.get(deed.seq)
        if deed.kind == Letter.COMING:
            continue
        if said is not None:
            found.append(Correction(deed, LetterStage.YES if said["agreed"] else LetterStage.NO, said["by"]))
        elif deed.seq not in arrived:
            found.append(Correction(deed, LetterStage.WAITS))
        else:
            is_there = deed.kind == Letter.NOTE or (
                now is not None and deed.body["match"] == arrived[deed.seq] == now.match and deed.body["of"] in lines
            )
            found.append(Correction(deed, LetterStage.ASKED if is_there else LetterStage.VOID))
    return found[::-1]

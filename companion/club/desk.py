"""Messages between director and table: calls, notes, corrections. Pure functions of deeds.

A table's calls, receipts of letters and answers are events of its log, for which the club appends deeds to the table's
topic. Unreceived letters are sent with every acknowledgment.
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
"""Kinds of a table's deeds, besides letters."""


def topic(table: str) -> str:
    """Return the topic of a table's deeds."""
    return f"table:{table}"


class LetterStage(StrEnum):
    """Stage of a letter."""

    WAITS = "waits"  # not received yet
    ASKED = "asked"  # received, unanswered
    YES = "yes"
    NO = "no"
    VOID = "void"  # the line is gone, or another match is played


@dataclass(frozen=True, slots=True)
class Correction:
    """A letter to a table and its stage."""

    deed: Deed
    stage: LetterStage
    by: str = ""  # who answered


def heard(sent: Sent) -> tuple[str, dict[str, object]] | None:
    """Return kind and body of the deed for a table's event; None if it needs none."""
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
    """Return the unanswered call among a table's deeds, if any."""
    call: Deed | None = None
    for deed in deeds:
        if deed.kind == CALL:
            # a repeated call counts from the first
            call = None if deed.body["is_over"] else call or deed
        elif deed.kind == ANSWERED or deed.body.get("what") == Letter.COMING:
            call = None  # only this deed is here if the log was sent again as a new table
    return call


def letters(deeds: Sequence[Deed]) -> list[Deed]:
    """Return the letters among a table's deeds."""
    return [deed for deed in deeds if deed.kind in tuple(Letter)]


def not_arrived(deeds: Sequence[Deed]) -> list[dict[str, object]]:
    """Return letters without a receipt, as in the protocol."""
    there = {deed.body["letter"] for deed in deeds if deed.kind == ARRIVED}
    waiting = (deed for deed in letters(deeds) if deed.seq not in there)
    return [{**deed.body, "letter": deed.seq, "what": deed.kind, "by": deed.who} for deed in waiting]


def corrections(deeds: Sequence[Deed], now: PastMatch | None) -> list[Correction]:
    """Return a table's notes and corrections with stages, newest first; `now` is its latest match."""
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

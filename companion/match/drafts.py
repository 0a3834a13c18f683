"""The events that a match writes, before they have a number."""

from __future__ import annotations

import secrets
from dataclasses import replace

from companion.match.history import CAMERA, PHONE, Kind
from companion.match.questions import Question
from companion.rules.play import Play
from companion.storage.events import Draft

VERIFYING, ROBOT_SEAT = "other-side-verifies", "robot-seat"
"""The settings of who confirms a play, and of whose cards a robot plays at the real table."""

YES, NO = "yes", "no"


def setting(key: str, value: str, by: str) -> Draft:
    """Return a setting of the match."""
    return Draft(Kind.SETTING, {"key": key, "value": value, "by": by})


def beginning(text: str, by: str, *, is_dealt: bool) -> Draft:
    """Return the line that begins a hand, with the key of its cards where the program deals."""
    return Draft(Kind.LINE, {"text": text, "by": by, **({"deal": secrets.token_hex(16)} if is_dealt else {})})


def line(play: Play, by: str, source: str, *, legal: bool) -> Draft:
    """Return a line for the record; an illegal play that the table lets stand says so."""
    return Draft(Kind.LINE, {"text": str(replace(play, anyway=not legal)), "by": by, "source": source})


def answering(question: Question, play: Play, by: str, *, legal: bool) -> Draft:
    """Return the line that answers a question: the camera's, unless somebody typed the play or names another one."""
    source = PHONE if question.is_typed or play not in question.plays[:1] else CAMERA
    answer = line(play, by, source, legal=legal)
    return Draft(answer.kind, {**answer.body, "question": question.id})

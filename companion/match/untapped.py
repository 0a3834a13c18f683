"""What counts without a tap: by the table's policy, and what a robot's helper has laid as told."""

from __future__ import annotations

from collections.abc import Set

from companion.match import drafts
from companion.match.history import CAMERA, Kind
from companion.match.questions import Question
from companion.match.state import MatchState, Policy
from companion.rules.play import Play
from companion.rules.table import Table
from companion.storage.events import Draft


def untapped(state: MatchState, answered: Set[str], instructed: tuple[Table, Play] | None) -> Draft | None:
    """Return what counts next without a tap.

    `answered` are the ids of the questions that people have answered before: what they took back waits for a tap.
    `instructed` is what a robot's helper was told to lay, and on which table.
    """
    if state.policy is Policy.AUTO:
        lifted = next((question for question in state.questions if _is_lifted(question, state, answered)), None)
        if lifted is not None:
            return Draft(Kind.RETRACT, {"of": lifted.line, "question": lifted.id, "by": CAMERA})
    waiting = [question for question in state.questions if question.asks_play]
    if not waiting or not waiting[0].may_count_untapped or waiting[0].id in answered:
        return None
    first, play = waiting[0], waiting[0].plays[0]
    counts = (first.table, play) == instructed or state.policy is Policy.AUTO
    if state.policy is Policy.PLAY_ON:
        later = (question.plays[0].player for question in waiting[1:] if question.plays and not question.is_typed)
        counts = counts or any(player != play.player for player in later)
    return drafts.answering(first, play, CAMERA, legal=True) if counts else None


def _is_lifted(question: Question, state: MatchState, answered: Set[str]) -> bool:
    """True if the card of the last play has been taken up again, and the camera had brought that play."""
    lines = state.hand_entries
    is_last = bool(lines) and lines[-1].seq == question.line and not question.plays
    return is_last and lines[-1].written.source == CAMERA and question.id not in answered

"""Turn actions into events to append, or into an outcome that refuses them.

Pure functions; `match.py` numbers the events.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from companion.common.errors import Problem
from companion.common.text import say
from companion.match.history import CAMERA, DEALT, PHONE, ROBOT, ROBOT_SEAT, VERIFYING, YES
from companion.match.questions import Answer, Kind, Letter, Question, letter_id
from companion.match.state import MatchState, Outcome, Policy, judge_on, judged_next, waits_for_another
from companion.robots.robot import Level
from companion.rules.editions.edition import own_text
from companion.rules.play import Play
from companion.rules.record import judge
from companion.rules.record.notation import HandLine, RecordLine, Unreadable, check_names, read_header
from companion.rules.table import Table
from companion.storage.events import EventKind, NewEvent

NO_LINE_FITS = Outcome(done=False, say=say("No line of the record fits: correct it in the log of the hand."))
THERE = Outcome(done=False, say=say("That was already entered."), is_void=True)
OVERTAKEN = Outcome(done=False, say=say("That no longer fits: others have played in the meantime."), is_void=True)
OTHER_SIDE = Outcome(done=False, say=say("The other side has to confirm that."))
WAITS = say("The play before it must be confirmed first.")
PROGRAM = "the companion"  # who answers the director in a dealt match
NO_ROBOT = say("Each robot is one of the players and has a level from 1 to 3; at least one player is not a robot.")


def setting(key: str, value: str, by: str) -> NewEvent:
    """Return the event for a setting."""
    return NewEvent(EventKind.SETTING, {"key": key, "value": value, "by": by})


def beginning(text: str, by: str, *, is_dealt: bool) -> NewEvent:
    """Return the event that begins a hand; dealt ones get a new 128-bit key."""
    return NewEvent(EventKind.LINE, {"text": text, "by": by, **({"deal": secrets.token_hex(16)} if is_dealt else {})})


def match_begun(
    before: MatchState,
    lines: Sequence[str],
    by: str,
    policy: Policy | None,
    verified: bool | None,
    robots: Mapping[str, int] | None,
) -> list[NewEvent]:
    """Return the events that begin a match; see `Match.start`."""
    game = judge.NEW_GAME
    for number, text in enumerate(lines, start=1):
        game, items = judge.step(game, RecordLine(number, text))
        for item in items:
            raise Problem(getattr(item, "unreadable", None) or say("Start a game with its players, not with a play."))
    try:
        for team in game.teams:
            check_names(team)
    except Unreadable as error:
        raise Problem(error.args[0]) from error
    if not game.hand_is_open or not isinstance(read_header(lines[-1]), HandLine):
        raise Problem(say("To set up a game, write its sides, then `hand first` and a player's name."))
    players = {player for team in game.teams for player in team.players}
    if robots and not (players > robots.keys() and set(robots.values()) <= set(Level)):
        raise Problem(NO_ROBOT)
    settings: dict[str, str] = {"policy": policy or before.policy}
    if robots is not None:
        settings |= {DEALT: YES, **{ROBOT + who: str(level) for who, level in robots.items()}}
    elif before.other_side_verifies if verified is None else verified:
        settings[VERIFYING] = YES
    if before.robot_seat is not None:
        settings[ROBOT_SEAT] = str(before.robot_seat)
    own = own_text(game.edition_name)  # The club lacks the file.
    set_up = NewEvent(EventKind.SETUP, {"lines": list(lines[:-1]), "by": by, **({"edition": own} if own else {})})
    first = beginning(lines[-1], by, is_dealt=robots is not None)
    return [set_up, first, *(setting(key, value, by) for key, value in settings.items())]


def line(play: Play, by: str, source: str, *, legal: bool) -> NewEvent:
    """Return the event for a play; an illegal one is marked as allowed by the table."""
    return NewEvent(EventKind.LINE, {"text": str(replace(play, anyway=not legal)), "by": by, "source": source})


def overtaken(state: MatchState, play: Play, after: int) -> Outcome | None:
    """Return the refusal of a play chosen when line `after` was the last; None if it still fits.

    The same play from another phone is that play. A player's other play has taken its turn.
    """
    if after == state.last_line:
        return None
    since = {e.seq: replace(e.play, anyway=False) for e in state.hand_entries if e.seq > after and e.play is not None}
    own = [seq for seq, one in since.items() if one.player == play.player]
    same = next((seq for seq in own if since[seq] == play), None)
    if same is not None:
        return replace(THERE, line=same)
    if own or after < state.hand_seq or judged_next(state.game, play)[1].verdict != judge.LEGAL:
        return replace(OVERTAKEN, line=next(reversed(own or [*since]), None))
    return None


def rewriting(kind: EventKind, seq: int, play: Play | None, by: str) -> NewEvent:
    """Return a correction or retraction of line `seq`, or a forgotten line before it."""
    which = {"source": PHONE, "before": seq} if kind is EventKind.LINE else {"of": seq}
    return NewEvent(kind, {**which, **({"text": str(play)} if play else {}), "by": by})


def standing(state: MatchState, by: str) -> list[NewEvent]:
    """Return corrections that allow each rejected line that can still be applied."""
    changes: list[NewEvent] = []
    tried: set[int] = set()
    while wrong := next(((one, one.play) for one in state.attention if one.play and one.seq not in tried), None):
        entry, play = wrong
        tried.add(entry.seq)
        text = str(replace(play, anyway=True))
        lines = [replace(one.written, text=text) if one is entry else one.written for one in state.entries]
        record, entries = judge_on(state.record, lines)
        after = replace(state, record=record, entries=entries)
        if after.entry(entry.seq) not in after.attention:
            changes.append(NewEvent(EventKind.CORRECT, {"of": entry.seq, "text": text, "by": by}))
            state = after
    return changes


def answering(question: Question, play: Play, by: str, *, legal: bool) -> NewEvent:
    """Return the line that answers a question; its source is the camera if that offered this play first."""
    source = PHONE if question.is_typed or play not in question.plays[:1] else CAMERA
    answer = line(play, by, source, legal=legal)
    return NewEvent(answer.kind, {**answer.body, "question": question.id})


def counting(
    state: MatchState, question: Question, play: Play, by: str, *, anyway: bool, vouched: bool
) -> Outcome | list[NewEvent]:
    """Return lines for a play and those waiting before it, or a refusal."""
    waiting = [one for one in state.questions if one.asks_play]
    before = waiting[: waiting.index(question)] if question.asks_play else []
    in_the_way = next((one for one in before if not one.may_count_untapped), None)
    if in_the_way is not None:
        return Outcome(done=False, reasons=in_the_way.reasons, say=WAITS)
    counted = [*((one, one.plays[0]) for one in before), (question, play)]
    plays = [*question.plays[:1], *(one for _, one in counted)]
    if not vouched and any(waits_for_another(state, one, by) for one in plays):
        return OTHER_SIDE
    lines, game = [], state.game
    for one, counts in counted:
        game, judged = judged_next(game, counts)
        is_legal = judged.verdict == judge.LEGAL
        if not is_legal and not (anyway and one is question):
            return Outcome(done=False, reasons=judged.reasons)
        lines.append(answering(one, counts, by, legal=is_legal))
    return lines


def following(
    state: MatchState, question: Question, play: Play | None, by: str, *, vouched: bool
) -> Outcome | list[NewEvent]:
    """Return changes that make the record match the table, legal or not, or a refusal."""
    wrong = state.entry(question.line) if question.line is not None else None
    if wrong is None:
        return counting(state, question, play, by, anyway=True, vouched=vouched) if play else NO_LINE_FITS
    about = {"of": wrong.seq, "question": question.id, "by": by}
    if play is None:
        return [NewEvent(EventKind.RETRACT, about)]
    if waits_for_another(state, play, by) and not vouched:
        return OTHER_SIDE
    return [NewEvent(EventKind.CORRECT, {**about, "text": str(play)})]


def received(state: MatchState, letter: Mapping[str, Any]) -> list[NewEvent]:
    """Return events for a director's letter; a dealt match refuses changes."""
    came = NewEvent(EventKind.LETTER, letter)
    if not state.is_dealt or state.match is None or letter["what"] not in (Letter.CHANGE, Letter.REMOVE):
        return [came]
    asked = letter_id(state.match, letter["letter"])
    return [came, NewEvent(EventKind.ANSWER, {"question": asked, "answer": Answer.NO, "about": "", "by": PROGRAM})]


def directed(question: Question, answer: Answer, by: str) -> NewEvent:
    """Return the change that the director asked for, or the table's answer."""
    about = {"question": question.id, "by": by}
    if answer is not Answer.YES or question.line is None:
        said = Answer.YES if answer is Answer.YES else Answer.NO
        return NewEvent(EventKind.ANSWER, {**about, "answer": said, "about": question.about})
    if question.plays:
        return NewEvent(EventKind.CORRECT, {**about, "of": question.line, "text": str(question.plays[0])})
    return NewEvent(EventKind.RETRACT, {**about, "of": question.line})


def untapped(state: MatchState, answered: Set[str], instructed: tuple[Table, Play] | None) -> NewEvent | None:
    """Return the next event to write without a tap, or None.

    A play in `answered` (question ids) was taken back and needs a tap. `instructed`: the table and the play that a
    robot's helper was asked to make. Where plays count by themselves, a play in doubt counts once a later one is sure.
    """
    if state.policy is Policy.AUTO:
        lifted = next((question for question in state.questions if _is_lifted(question, state, answered)), None)
        if lifted is not None:
            return NewEvent(EventKind.RETRACT, {"of": lifted.line, "question": lifted.id, "by": CAMERA})
    waiting = [question for question in state.questions if question.asks_play]
    if state.policy is Policy.AUTO:
        # People have played on although an illegal card lies there.
        waiting = [question for question in waiting if question.kind is Kind.WHICH or question.is_legal]
    is_doubt_over = state.policy is Policy.AUTO and any(question.may_count_untapped for question in waiting)
    if not waiting or waiting[0].id in answered:
        return None
    first = waiting[0]
    if not (first.may_count_untapped or (is_doubt_over and first.kind is Kind.PLAY)):
        return None
    play = first.plays[0]
    counts = (first.table, play) == instructed or state.policy is Policy.AUTO
    if state.policy is Policy.PLAY_ON:
        later = (question.plays[0].player for question in waiting[1:] if question.plays and not question.is_typed)
        counts = counts or any(player != play.player for player in later)
    return answering(first, play, CAMERA, legal=True) if counts else None


def _is_lifted(question: Question, state: MatchState, answered: Set[str]) -> bool:
    """True if the last play's card, recorded by the camera, was picked up again."""
    lines = state.hand_entries
    is_seen = question.kind is Kind.DIFFERS and not question.plays
    is_last = is_seen and bool(lines) and lines[-1].seq == question.line
    return is_last and lines[-1].written.source == CAMERA and question.id not in answered

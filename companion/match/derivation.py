"""The state that a match's log comes to: what the pages show follows from its events alone."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType

from companion.match import dealer
from companion.match.dealer import Dealt
from companion.match.drafts import ROBOT_SEAT, VERIFYING, YES
from companion.match.history import DEALT, History, Kind
from companion.match.state import Entry, MatchState, Policy, RobotSeat, hand_seq, judge_on, last_line
from companion.rules.hidden_cards import DealError
from companion.rules.record.judge import JudgedRecord
from companion.storage.events import Event

log = logging.getLogger(__name__)


def derived(before: MatchState, events: Sequence[Event], past: History) -> MatchState:
    """Return the state after all the events of a match, which come to `past`; judged on from the state before."""
    record, entries = judge_on(before, past.lines)
    players = [player for team in record.game.teams for player in team.players]
    is_dealt, robots = past.settings.get(DEALT) == YES, MappingProxyType(past.robots)
    policy = past.settings.get("policy")
    return replace(
        before,
        seq=events[-1].seq,
        match=events[0].match,
        record=record,
        entries=entries,
        hand_seq=hand_seq(record, entries),
        answers=MappingProxyType(dict(past.answers)),
        policy=Policy(policy) if policy in tuple(Policy) else Policy.TAP,
        other_side_verifies=past.settings.get(VERIFYING) == YES,
        robot_seat=None if is_dealt else RobotSeat.of(past.settings.get(ROBOT_SEAT), players),
        seats=MappingProxyType(dict(past.seats)),
        undone_next=_undone_next(events, past),
        # Where several people play with dealt cards, an undo was agreed on.
        redoable=None if is_dealt and len(players) > len(robots) + 1 else past.redoable,
        is_dealt=is_dealt,
        robots=robots,
        dealt=_dealt(record, entries, past) if is_dealt else None,
        changes=past.changes,
    )


def _undone_next(events: Sequence[Event], past: History) -> tuple[Event, ...]:
    """Return what an undo takes back: not the start of the first hand, which belongs to the set-up."""
    firsts = {after.seq for before, after in pairwise(events) if before.kind == Kind.SETUP}
    return () if any(event.seq in firsts for event in past.undone_next) else past.undone_next


def _dealt(record: JudgedRecord, entries: Sequence[Entry], past: History) -> Dealt | None:
    """Return the hidden cards of the last hand; None where they do not fit its record."""
    seq = hand_seq(record, entries)
    key = next((entry.written.deal for entry in entries if entry.seq == seq), "")
    last = last_line(record, entries)
    waived = [player for of, player in past.waived if of == last]
    before = next((game.totals for game in record.games if game.hand_number == record.game.hand_number), {})
    try:
        return dealer.dealt(record, key, waived, before, past.robots) if key else None
    except DealError:
        log.exception("the cards of this hand do not fit its record")
        return None

"""The match: the log, what the referee makes of it, and the plays that wait for a tap.

A match *is* its record. Its state is always the judged lines of the log, so a correction judges anew from
there on and replaying the log gives the same state. Readers get an immutable snapshot; every change is written
to the disk before it shows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from companion.common.errors import Problem
from companion.common.text import say
from companion.match.history import CAMERA, PHONE, History, Kind, history
from companion.match.proposals import Doubt, Mismatch, Proposal
from companion.match.state import (
    NO_HAND,
    Answer,
    Entry,
    Fate,
    MatchState,
    Outcome,
    Pending,
    Policy,
    in_turn,
    judge_on,
    judged_next,
    laid_there,
    last_result,
    next_first,
    table_of,
    waits_for_another,
)
from companion.match.zone_plays import Places
from companion.rules.cards import card_of_slug
from companion.rules.play import Play
from companion.rules.record import judge, notation
from companion.rules.record.judge import JudgedLine
from companion.rules.record.notation import Line, Unreadable
from companion.storage.event_store import Store
from companion.storage.events import Draft, Event

__all__ = [
    "Answer",
    "Entry",
    "Fate",
    "Match",
    "MatchState",
    "Outcome",
    "Pending",
    "Policy",
    "last_result",
    "next_first",
]

Mats = Callable[[MatchState], Mapping[str, str]]
"""Which side plays on which mat: the side's name by the mat's id."""

VERIFYING, YES, NO = "other-side-verifies", "yes", "no"
MOST_REMEMBERED = 500
"""How many settled proposals a running service remembers."""

DONE = Outcome(done=True)
GONE = Outcome(done=False, say=say("That was settled already."))
OTHER_SIDE = Outcome(done=False, say=say("The other side has to confirm that."))
WAITS = say("It waits for the play before it.")


def mats_in_order(state: MatchState) -> Mapping[str, str]:
    """The first side on the first mat, and so on."""
    return {f"side-{number}": team.name for number, team in enumerate(state.game.teams, start=1)}


class Match:
    """The match being played, over its store. Any thread may call it; each change is one lock, one commit."""

    def __init__(self, store: Store, mats: Mats | None = None) -> None:
        self._store = store
        self._mats = mats or mats_in_order
        self._changed = threading.Condition(threading.RLock())
        self._events: tuple[Event, ...] = ()
        self._state = MatchState()
        self._entered = 0
        store.changed = self._saved
        with self._changed:
            self._state = replace(self._state, unsaved=store.unsaved, note=_note(store))
            for latest in store.matches()[-1:]:
                self._take(store.events(latest))

    @property
    def state(self) -> MatchState:
        """The state now; a value that never changes."""
        return self._state

    @property
    def store(self) -> Store:
        return self._store

    def mats(self, state: MatchState) -> Mapping[str, str]:
        """Which side plays on which mat at that moment: the side's name by the mat's id."""
        return self._mats(state)

    def wait(self, after_version: int, timeout_s: float) -> MatchState:
        """The state as soon as it is newer than a version, or as it is when the time is up."""
        with self._changed:
            self._changed.wait_for(lambda: self._state.version != after_version, timeout_s)
            return self._state

    def is_there(self) -> None:
        """Comes back once the match can be had and the log be read: nothing holds them for ever."""
        with self._changed:
            self._store.events(0)

    # The whole match

    def start(
        self, lines: Sequence[str], by: str = "", policy: Policy | None = None, *, verified: bool | None = None
    ) -> None:
        """Begins a match from header lines and `hand first …`. Raises Problem for lines that make no game.

        `policy` and `verified`, whether the other side verifies, stay as they are where they are not given.
        """
        lines = [notation.without_comment(line) for line in lines]
        _check_setup(lines)
        *header, first = lines
        drafts = [Draft(Kind.SETUP, {"lines": header, "by": by}), Draft(Kind.LINE, {"text": first, "by": by})]
        drafts += [Draft(Kind.SETTING, {"key": "policy", "value": policy or self._state.policy, "by": by})]
        if self._state.other_side_verifies if verified is None else verified:
            drafts.append(_verifying(True, by))
        with self._changed:
            events = self._store.append(None, *drafts, hold=True)
            before = self._state
            self._state = MatchState(
                before.version, trouble=before.trouble, without_camera=before.without_camera, note=before.note
            )
            self._take(events)

    def record(self) -> str:
        """The match as a record."""
        return notation.record_text(self.lines())

    def lines(self) -> list[str]:
        """Every line that stands; none before the first match."""
        return [entry.written.text for entry in self._state.entries]

    def next_hand(self, by: str, first: str | None = None) -> Outcome:
        """Starts the next hand, begun by `first` or by the player after the last hand's first."""
        with self._changed:
            if self._state.match is None or self._state.game.hand_is_open:
                return GONE
            first = first or next_first(self._state)
            if not any(seat.player == first for seat in table_of(self._state).seats):
                return GONE
            return self._write_line(f"hand first {first}", by)

    def set_policy(self, policy: Policy, by: str) -> None:
        """How plays are confirmed from now on."""
        self._write(Draft(Kind.SETTING, {"key": "policy", "value": policy, "by": by}))
        with self._changed:
            self._confirm_by_policy()

    def set_verifying(self, by: str, *, on: bool) -> None:
        """Whether a side's plays wait from now on until another side confirms them."""
        self._write(_verifying(on, by))
        with self._changed:
            self._confirm_by_policy()

    def sit(self, player: str, by: str, name: str | None = None) -> Outcome:
        """Somebody takes a seat; with `name`, that is how the player is called from now on."""
        if not any(player in team.players for team in self._state.game.teams):
            return GONE
        drafts = [Draft(Kind.SEAT, {"player": player, "by": by})]
        if name:
            drafts.append(Draft(Kind.LINE, {"text": f'player {player} "{name}"', "by": by}))
        self._write(*drafts)
        return DONE

    # Plays

    def enter(self, text: str, by: str, *, anyway: bool = False, vouched: bool = False) -> Outcome:
        """A play entered by hand. What is legal counts at once; an illegal play waits for the table's answer.

        Where the other side verifies, a side's own play waits for it; `vouched`: somebody stands in for that side.
        Raises Problem for text that is no play.
        """
        with self._changed:
            play = self._read(text)
            twin = next((p for p in self._state.pending if p.proposal.play == play), None)
            if twin is not None:
                return self.confirm(twin.id, by, anyway=anyway, vouched=vouched)
            doubted = next((doubt for doubt in self._state.doubts if play in doubt.plays), None)
            if doubted is not None:
                return self.answer_doubt(doubted.id, text, by, anyway=anyway, vouched=vouched)
            _, judged = judged_next(self._state.game, play)
            waits = waits_for_another(self._state, play, by) and not vouched
            if (judged.verdict == judge.LEGAL or anyway) and not waits:
                return self._write_line(_text(play, judged), by, source=PHONE)
            self._queue(Proposal(self._next_id(), play, None, 1.0, 0.0, sure=True), by)
            queued = self._state.pending[-1].judged
            said = queued.reasons or (waits and len(self._state.pending) == 1)
            return Outcome(done=False, reasons=queued.reasons, say=None if said else WAITS)

    def confirm(self, proposal_id: int, by: str, *, anyway: bool = False, vouched: bool = False) -> Outcome:
        """Counts a proposal, and with it those before it in the queue that are legal.

        An illegal play counts only `anyway`: the table lets it stand. Where the other side verifies, a side's own
        play counts only `vouched`: somebody stands in for that side.
        """
        with self._changed:
            if self._state.waiting(proposal_id) is None:
                return GONE
            while self._state.waiting(proposal_id):
                head = self._state.pending[0]
                if not head.is_legal and not (anyway and head.id == proposal_id):
                    return Outcome(done=False, reasons=head.judged.reasons)
                if waits_for_another(self._state, head.proposal.play, by) and not vouched:
                    return OTHER_SIDE
                self._confirm(head, by)
            self._confirm_by_policy()
            return DONE

    def amend(self, proposal_id: int, text: str, by: str, *, vouched: bool = False) -> Outcome:
        """Another play in a proposal's place: it was read wrongly."""
        with self._changed:
            pending = self._state.waiting(proposal_id)
            if pending is None:
                return GONE
            play = self._read(text)
            twin = next((p for p in self._state.pending if p.proposal.play == play and p is not pending), None)
            if twin is not None:
                self._settle(proposal_id, Fate.CHANGED)
                return self.confirm(twin.id, by, vouched=vouched)
            _, judged = judged_next(self._state.game, play)
            waits = waits_for_another(self._state, play, by) and not vouched
            is_next = self._state.pending[0] is pending
            if is_next and judged.verdict == judge.LEGAL and not waits:
                written = self._write_line(_text(play, judged), by, source=PHONE)
                self._settle(proposal_id, Fate.CHANGED)
                return written
            self._settle(proposal_id, Fate.CHANGED)
            self._queue(replace(pending.proposal, id=self._next_id(), play=play, sure=True), by)
            return Outcome(done=False, reasons=judged.reasons) if is_next else DONE

    def dismiss(self, proposal_id: int, _by: str, fate: Fate = Fate.NOT_A_PLAY) -> Outcome:
        """A proposal that was no play, or an illegal play that was taken back."""
        with self._changed:
            if self._state.waiting(proposal_id) is None:
                return GONE
            self._settle(proposal_id, fate)
            self._confirm_by_policy()
            return DONE

    def correct(self, seq: int, text: str, by: str, *, vouched: bool = False) -> Outcome:
        """Changes a line of the record; everything after it is judged anew. Raises Problem for text that is no play.

        Where the other side verifies, it changes the lines of a side, or somebody `vouched`.
        """
        with self._changed:
            if self._state.entry(seq) is None:
                return GONE
            play = self._read(text)
            if waits_for_another(self._state, play, by) and not vouched:
                return OTHER_SIDE
            self._write(Draft(Kind.CORRECT, {"of": seq, "text": str(play), "by": by}))
            return DONE

    def insert(self, before: int, text: str, by: str, *, vouched: bool = False) -> Outcome:
        """A play that was forgotten, before another line of the record; the other side verifies as in `correct`."""
        with self._changed:
            if self._state.entry(before) is None:
                return GONE
            play = self._read(text)
            if waits_for_another(self._state, play, by) and not vouched:
                return OTHER_SIDE
            return self._write_line(str(play), by, source=PHONE, before=before)

    def let_stand(self, seq: int, by: str, *, vouched: bool = False) -> Outcome:
        """A line that became illegal counts all the same."""
        entry = self._state.entry(seq)
        if entry is None or entry.play is None:
            return GONE
        return self.correct(seq, str(replace(entry.play, anyway=True)), by, vouched=vouched)

    def retract(self, seq: int, by: str) -> Outcome:
        """Takes a line out of the record: that never happened."""
        with self._changed:
            if self._state.entry(seq) is None:
                return GONE
            self._write(Draft(Kind.RETRACT, {"of": seq, "by": by}))
            return DONE

    def undo(self, by: str, seq: int | None = None) -> Outcome:
        """Takes back the last change of the record; with `seq` only that one, so that a double tap undoes once."""
        return self._take_back(Kind.UNDO, self._state.undoable, by, seq)

    def redo(self, by: str, seq: int | None = None) -> Outcome:
        """Takes back the last undo."""
        return self._take_back(Kind.REDO, self._state.redoable, by, seq)

    def _take_back(self, kind: Kind, what: Event | None, by: str, seq: int | None) -> Outcome:
        with self._changed:
            if what is None or (seq is not None and seq != what.seq) or _begins_match(self._events, what):
                return GONE
            self._write(Draft(kind, {"of": what.seq, "by": by}))
            return DONE

    # What the camera says

    def propose(self, proposal: Proposal) -> None:
        """A play that was seen. Waits for a tap, or for what the policy says."""
        with self._changed:
            if proposal.id in self._state.fates or self._state.waiting(proposal.id):
                return
            self._queue(proposal, CAMERA)
            if self._state.policy is Policy.PLAY_ON and not self._state.other_side_verifies:
                self._confirm_before(proposal)
            self._confirm_by_policy()

    def withdraw(self, proposal_id: int) -> None:
        """The card has left the table again."""
        with self._changed:
            if self._state.waiting(proposal_id):
                self._settle(proposal_id, Fate.WITHDRAWN)
                self._confirm_by_policy()

    def doubt(self, doubt: Doubt) -> None:
        """A card was laid that cannot be told for sure. It is asked until it is answered or cleared."""
        with self._changed:
            if doubt.id in self._state.fates or doubt in self._state.doubts:
                return
            others = (d for d in self._state.doubts if d.id != doubt.id)
            self._show(doubts=tuple(sorted((*others, doubt), key=lambda d: d.t_s)))

    def clear_doubt(self, doubt_id: int) -> None:
        """The card can be told now, or has left the table."""
        with self._changed:
            if self._state.doubted(doubt_id):
                self._show(doubts=tuple(d for d in self._state.doubts if d.id != doubt_id))

    def answer_doubt(
        self, doubt_id: int, text: str | None, by: str, *, anyway: bool = False, vouched: bool = False
    ) -> Outcome:
        """What the card was, as a play in the notation; None where it was no play.

        The play takes the place in the queue that it had on the table, and counts at once where it is legal. Raises
        Problem for text that is no play.
        """
        with self._changed:
            doubt = self._state.doubted(doubt_id)
            if doubt is None:
                return GONE
            play = None if text is None else self._read(text)
            self._settle(doubt_id, Fate.NOT_A_PLAY if play is None else Fate.CHANGED)
            if play is None:
                return DONE
            said = Proposal(self._next_id(), play, doubt.zone, 1.0, doubt.t_s, sure=True, crop=doubt.crop)
            self._queue(said, by)
            return self.confirm(said.id, by, anyway=anyway, vouched=vouched)

    def mismatch(self, difference: Mismatch) -> None:
        """Table and record differ in a zone; one question a zone, and none that was ignored before."""
        with self._changed:
            if _key(difference) in history(self._events).ignored or difference in self._state.mismatches:
                return
            others = tuple(m for m in self._state.mismatches if m.zone != difference.zone)
            self._show(mismatches=(*others, difference))

    def clear_mismatch(self, mismatch_id: int) -> None:
        """Table and record agree again."""
        with self._changed:
            left = tuple(m for m in self._state.mismatches if m.id != mismatch_id)
            if left != self._state.mismatches:
                self._show(mismatches=left)

    def answer_mismatch(self, mismatch_id: int, answer: Answer, by: str) -> Outcome:
        """What the table says about a difference. "The table is right" corrects the line that laid the card."""
        with self._changed:
            found = next((m for m in self._state.mismatches if m.id == mismatch_id), None)
            if found is None:
                return GONE
            following = self._following(found, by) if answer is Answer.TABLE else ()
            if following is None:
                return Outcome(done=False, say=say("No line of the record fits: change it in the log of the hand."))
            zone, expected, seen = _key(found)
            body = {"zone": zone, "expected": expected, "seen": seen, "answer": answer, "by": by}
            self._write(*following, Draft(Kind.ANSWER, body))
            self.clear_mismatch(mismatch_id)
            return DONE

    def _following(self, found: Mismatch, by: str) -> tuple[Draft, ...] | None:
        """What makes the record say what lies on the table; None where no line of it laid that card."""
        entry = laid_there(self._state, Places(self.mats(self._state)), found)
        if entry is None or entry.play is None:
            return None
        if found.seen is None:
            return (Draft(Kind.RETRACT, {"of": entry.seq, "by": by}),)
        text = str(replace(entry.play, card=card_of_slug(found.seen)))
        return (Draft(Kind.CORRECT, {"of": entry.seq, "text": text, "by": by}),)

    def trouble(self, sentence: str | None) -> None:
        """What is wrong with the camera, as a sentence; None when all is well."""
        with self._changed:
            if sentence != self._state.trouble:
                self._show(trouble=sentence)

    def play_without_camera(self, *, on: bool) -> None:
        """Whether the table plays on without the camera, until somebody wants it again or the service starts anew."""
        with self._changed:
            self._show(without_camera=on)

    def put_note_away(self) -> None:
        """Somebody has read what became of a damaged log."""
        with self._changed:
            self._store.put_note_away()
            self._show(note=None)

    def refresh(self) -> None:
        """Something that pages show beside the match has changed."""
        with self._changed:
            self._show()

    # Inside the lock

    def _next_id(self) -> int:
        """A proposal's id that is nobody else's: below zero for what was entered by hand."""
        self._entered -= 1
        return self._entered

    def _read(self, text: str) -> Play:
        if self._state.match is None:
            raise Problem(NO_HAND)
        try:
            return notation.parse_play(text, self._state.game.teams)
        except Unreadable as error:
            raise Problem(str(error)) from error

    def _confirm(self, pending: Pending, by: str) -> None:
        source = CAMERA if pending.id > 0 else PHONE
        self._write_line(_text(pending.proposal.play, pending.judged), by, source=source)
        self._settle(pending.id, Fate.CONFIRMED)

    def _confirm_by_policy(self) -> None:
        """Confirms the head of the queue as long as the policy confirms by itself."""
        if self._state.policy is not Policy.AUTO or self._state.other_side_verifies:
            return
        while self._state.pending and self._state.pending[0].confirms_itself:
            self._confirm(self._state.pending[0], CAMERA)

    def _confirm_before(self, proposal: Proposal) -> None:
        """The next player's play confirms what waits before it."""
        while self._state.pending:
            head = self._state.pending[0]
            if head.id == proposal.id or head.proposal.play.player == proposal.play.player or not head.confirms_itself:
                return
            self._confirm(head, CAMERA)

    def _queue(self, proposal: Proposal, by: str) -> None:
        """Takes a proposal into the queue: the camera's behind the others, what people say of a card in its place."""
        _, judged = judged_next(self._state.game, proposal.play)
        waiting, by_hand = self._state.pending, by != CAMERA
        later = (n for n, p in enumerate(waiting) if by_hand and p.proposal.t_s > proposal.t_s > 0.0)
        place = next(later, len(waiting))
        self._show(pending=(*waiting[:place], Pending(proposal, judged, by), *waiting[place:]))

    def _settle(self, settled_id: int, fate: Fate) -> None:
        """A proposal or a doubt waits no longer."""
        fates = {**self._state.fates, settled_id: fate}
        recent = dict(list(fates.items())[-MOST_REMEMBERED:])
        left = tuple(p for p in self._state.pending if p.id != settled_id)
        doubts = tuple(d for d in self._state.doubts if d.id != settled_id)
        self._show(pending=left, doubts=doubts, fates=MappingProxyType(recent))

    def _write_line(self, text: str, by: str, source: str = "", before: int | None = None) -> Outcome:
        body: dict[str, Any] = {"text": text, "by": by, "source": source}
        self._write(Draft(Kind.LINE, body | ({"before": before} if before is not None else {})))
        return DONE

    def _write(self, *drafts: Draft) -> None:
        with self._changed:
            if self._state.match is None:
                raise Problem(NO_HAND)
            self._take(self._store.append(self._state.match, *drafts, hold=True))

    def _saved(self) -> None:
        """What the disk had refused is written now."""
        with self._changed:
            self._show(unsaved=self._store.unsaved)

    def _take(self, events: tuple[Event, ...]) -> None:
        """Shows what new events come to, which are saved, or held in memory as long as the disk refuses."""
        if events[0].match != self._state.match:
            self._events = ()
        self._events += events
        past = history(self._events)
        record, entries = judge_on(self._state, past.lines)
        same_hand = record.game.hand_number == self._state.game.hand_number
        self._show(
            doubts=self._state.doubts if same_hand else (),
            seq=events[-1].seq,
            match=events[0].match,
            record=record,
            entries=entries,
            policy=_policy(past),
            other_side_verifies=past.settings.get(VERIFYING) == YES,
            seats=MappingProxyType(dict(past.seats)),
            undoable=None if past.undoable and _begins_match(self._events, past.undoable) else past.undoable,
            redoable=past.redoable,
            changes=past.changes,
            unsaved=self._store.unsaved,
        )

    def _show(self, **changes: Any) -> None:
        state = replace(self._state, version=self._state.version + 1, **changes)
        self._state = replace(state, pending=tuple(in_turn(state.game, state.pending)))
        self._changed.notify_all()


def _note(store: Store) -> str | None:
    return store.note.sentence if store.note else None


def _verifying(on: bool, by: str) -> Draft:
    return Draft(Kind.SETTING, {"key": VERIFYING, "value": YES if on else NO, "by": by})


def _policy(past: History) -> Policy:
    said = past.settings.get("policy", Policy.TAP)
    return Policy(said) if said in tuple(Policy) else Policy.TAP


def _begins_match(events: Sequence[Event], event: Event) -> bool:
    """The first hand's start belongs to the set-up: it is not undone."""
    return any(a.kind == Kind.SETUP and b.seq == event.seq for a, b in pairwise(events))


def _check_setup(lines: Sequence[str]) -> None:
    game = judge.NEW_GAME
    for number, text in enumerate(lines, start=1):
        game, items = judge.step(game, Line(number, text))
        for item in items:
            raise Problem(getattr(item, "unreadable", None) or say("A game begins with its players, not with a play."))
    if not game.hand_is_open or not lines[-1].startswith("hand "):
        raise Problem(say("A game is set up by its sides and ends with `hand first` and a player's name."))


def _text(play: Play, judged: JudgedLine) -> str:
    """The line for the record; an illegal play that the table lets stand says so."""
    return str(replace(play, anyway=judged.verdict == judge.ILLEGAL))


def _key(difference: Mismatch) -> tuple[str, str | None, str | None]:
    return difference.zone, difference.expected, difference.seen

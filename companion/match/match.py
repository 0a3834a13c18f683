"""The match at the table: its record, the state judged from it, and the open questions.

A change is saved before it shows, or reported as unsaved.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from companion.common.errors import Problem
from companion.common.text import say
from companion.match import dealer, drafts, questions
from companion.match.drafts import OTHER_SIDE, WAITS
from companion.match.history import NO, PHONE, ROBOT_SEAT, VERIFYING, YES
from companion.match.questions import Answer, Question
from companion.match.state import (
    NO_HAND,
    Entry,
    MatchState,
    Outcome,
    Policy,
    RobotSeat,
    asked_in,
    derived,
    judged_next,
    misfits,
    next_first,
    table_of,
    typed_id,
    waits_for_another,
)
from companion.rules.play import Play
from companion.rules.record import judge, notation
from companion.rules.record.notation import Unreadable
from companion.rules.table import Table
from companion.storage.event_store import Store
from companion.storage.events import Event, EventKind, NewEvent
from companion.storage.versions import Versions

log = logging.getLogger(__name__)

Derive = Callable[[MatchState], tuple[Question, ...]]  # the camera's questions, in order
Mats = Callable[[MatchState], Mapping[str, str]]  # side names by mat id
DONE = Outcome(done=True)
GONE = Outcome(done=False, say=say("That is already settled."), is_void=True)
NOTHING = {
    EventKind.UNDO: Outcome(done=False, say=say("There is nothing to undo."), is_void=True),
    EventKind.REDO: Outcome(done=False, say=say("There is nothing to redo."), is_void=True),
}
NOT_LOOKED = Outcome(
    done=False,
    say=say("The camera has not read the table since the start: answer again in a moment."),
    is_void=True,
)
OTHER_CHANGE = Outcome(done=False, say=say("That ID was already used for another change."), is_void=True)
ASKED = say("Waiting for the others: it is undone as soon as one of them agrees.")


def _nothing_seen(_state: MatchState) -> tuple[Question, ...]:
    return ()


def mats_in_order(state: MatchState) -> Mapping[str, str]:
    """Return side names by mat id: mats in seating order."""
    return {f"side-{number}": team.name for number, team in enumerate(state.game.teams, start=1)}


class Match:
    """The match at the table. Thread-safe; each change is one commit.

    Methods that take a play's text raise Problem if it is unreadable.
    """

    def __init__(self, store: Store, mats: Mats = mats_in_order) -> None:
        self.store, self.mats = store, mats
        self._changed = threading.Condition(threading.RLock())
        self._events: tuple[Event, ...] = ()
        self._state = MatchState()
        self._derive: Derive = _nothing_seen
        self.instructed: tuple[Table, Play] | None = None  # a robot's play: counts once seen
        self._request: dict[str, str] = {}  # of the change in progress: "request", "asked"
        self._first: dict[str, tuple[str, Outcome]] = {}  # by request: hash of the change, outcome

        store.changed = self._saved
        with self._changed:
            note = store.note.sentence if store.note else None
            last = store.latest()
            # An earlier match may have been resumed.
            events = store.events(max(last, key=lambda match: last[match])) if last else ()
            self._versions = Versions(store.path.parent, events[-1].seq if events else 0)
            self._state = MatchState(self._versions.next(), unsaved=store.unsaved, note=note)
            if events:
                self._take(events)

    @property
    def state(self) -> MatchState:
        return self._state

    def wait(self, after_version: int, timeout_s: float) -> MatchState:
        """Return the state once its version changes, or at the timeout."""
        with self._changed:
            self._changed.wait_for(lambda: self._state.version != after_version, timeout_s)
            return self._state

    def check_alive(self) -> None:
        """Block until the match can be locked and the log read."""
        with self._changed:
            self.store.events(0)

    # Matches and hands

    def once(self, request: str | None, asked: str, act: Callable[[], Outcome]) -> Outcome:
        """Run `act` once per `request` and match; a repeat returns the first outcome.

        A request that found nothing to do may be repeated; one with another change (`asked`) is refused.
        """
        asked = hashlib.sha256(asked.encode()).hexdigest()[:16]
        with self._changed:
            first = self._first.get(request) if request else None
            if first is not None:
                return self._again(first[1]) if first[0] == asked else self._stamped(OTHER_CHANGE)
            self._request = {"request": request, "asked": asked} if request else {}
            try:
                outcome = self._stamped(act())
            finally:
                self._request = {}
            if request and not outcome.is_void:
                self._first[request] = asked, outcome
            return outcome

    def _again(self, first: Outcome) -> Outcome:
        """Return the first outcome; after a restart, rebuild its reasons."""
        if first.version:
            return first
        asked = self._state.question(typed_id(self._state, first.seq))
        return replace(self._stamped(first), seq=first.seq, reasons=asked.reasons if asked else ())

    def _stamped(self, outcome: Outcome) -> Outcome:
        now = self._state
        asked = tuple(question.id for question in now.questions)
        return replace(outcome, seq=now.seq, version=now.version, asked=asked, saved=now.unsaved is None)

    def start(
        self,
        lines: Sequence[str],
        by: str = "",
        policy: Policy | None = None,
        *,
        verified: bool | None = None,
        robots: Mapping[str, int] | None = None,
    ) -> Outcome:
        """Begin a match from its header lines and a last line `hand first PLAYER`.

        `policy` and `verified` (opponents confirm plays) default to the last match's. With `robots` (level by player,
        may be empty), the program deals. Raises Problem for an invalid setup.
        """
        with self._changed:
            before = self._state
            lines = [notation.without_comment(line) for line in lines]
            new = drafts.match_begun(before, lines, by, policy, verified, robots)
            self._bring(self.store.append(None, *map(self._named, new), hold=True))
            return DONE

    def go_on_with(self, match: int, by: str) -> Outcome:
        """Resume an earlier match; both stay in the log.

        Sets policy TAP: the table may have other cards.
        """
        with self._changed:
            if match == self._state.match or match not in self.store.matches():
                return GONE
            events = self.store.events(match)
            back = self._named(drafts.setting("policy", Policy.TAP, by))
            self._bring((*events, *self.store.append(match, back, hold=True)))
            return DONE

    def _bring(self, events: tuple[Event, ...]) -> None:
        now = self._state
        self._state = MatchState(now.version, trouble=now.trouble, without_camera=now.without_camera, note=now.note)
        self._take(events)

    def record(self) -> str:
        return notation.record_text(self.lines())

    def lines(self) -> list[str]:
        return [entry.written.text for entry in self._state.entries]

    def next_hand(self, by: str, first: str | None = None) -> Outcome:
        """Start the next hand, by default with the player after the last starter.

        Raises Problem if `first` is unknown.
        """
        with self._changed:
            if self._state.match is None or self._state.game.hand_is_open:
                return GONE
            first = first or next_first(self._state)
            if not any(seat.player == first for seat in table_of(self._state).seats):
                raise Problem(say("%(player)s is not one of the players.", player=first))
            return self._write(drafts.beginning(f"hand first {first}", by, is_dealt=self._state.is_dealt))

    def set_policy(self, policy: Policy, by: str) -> Outcome:
        return self._write(drafts.setting("policy", policy, by))

    def set_verifying(self, by: str, *, on: bool) -> None:
        """Set whether another side must confirm plays."""
        self._write(drafts.setting(VERIFYING, YES if on else NO, by))

    def seat_robot(self, seat: RobotSeat | None, by: str) -> None:
        """Set whose real cards a robot plays, if any."""
        self._write(drafts.setting(ROBOT_SEAT, "" if seat is None else str(seat), by))

    def sit(self, player: str, by: str, name: str | None = None) -> Outcome:
        """Record who takes a player's seat, shown as `name`."""
        with self._changed:
            if player not in self._state.people:
                return GONE
            new = [NewEvent(EventKind.SEAT, {"player": player, "by": by})]
            if name:
                new.append(NewEvent(EventKind.LINE, {"text": f'player {player} "{name}"', "by": by}))
            return self._write(*new)

    # Plays

    def enter(
        self, text: str, by: str, *, anyway: bool = False, vouched: bool = False, after: int | None = None
    ) -> Outcome:
        """Enter a typed play: a legal one counts at once, an illegal one becomes a question.

        `after` is the last line (`last_line`) when the play was chosen: if others have played since, one that no longer
        fits is refused instead.

        `anyway` lets an illegal play count. If opponents confirm plays, they must confirm a side's own play unless it
        is `vouched` for. The play may answer an open question.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> folder = TemporaryDirectory()
        >>> store = Store.open(Path(folder.name) / "companion.sqlite3")
        >>> match = Match(store)
        >>> match.start(["side Ann", "side Bob", "hand first Ann"]).done
        True
        >>> match.enter("Ann roll", by="Ann").done
        True
        >>> outcome = match.enter("Ann 100", by="Ann")  # It is Bob's turn.
        >>> outcome.done, [reason.code.value for reason in outcome.reasons]
        (False, ['not-your-turn'])
        >>> match.lines()
        ['side Ann', 'side Bob', 'hand first Ann', 'Ann roll']
        >>> store.close()
        >>> folder.cleanup()
        """
        with self._changed:
            said = self._read(text)
            play, anyway = replace(said, anyway=False), anyway or said.anyway
            if self._state.is_dealt:
                return self._enter_dealt(play, by)
            open_now = (question for question in self._state.questions if question.asks_play or question.line is None)
            asked = next((question for question in open_now if play in question.plays), None)
            if asked is not None:
                return self._settle(drafts.counting(self._state, asked, play, by, anyway=anyway, vouched=vouched))
            late = drafts.overtaken(self._state, play, after) if after is not None else None
            if late is not None:
                return late
            _, judged = judged_next(self._state.game, play)
            is_legal = judged.verdict == judge.LEGAL
            waits = waits_for_another(self._state, play, by) and not vouched
            if anyway and not judged_next(self._state.game, replace(play, anyway=True))[1].applied:
                return Outcome(done=False, reasons=judged.reasons)
            if (is_legal or anyway) and not waits:
                return self._write(drafts.line(play, by, PHONE, legal=is_legal))
            self._write(NewEvent(EventKind.CLAIM, {"text": str(play), "by": by}))
            claim = self._state.question(typed_id(self._state, self._state.past.claims[-1].seq))
            if claim is None:
                return DONE
            first = next(question for question in self._state.questions if question.asks_play)
            return Outcome(done=False, reasons=claim.reasons, say=None if claim.reasons or claim is first else WAITS)

    def _enter_dealt(self, play: Play, by: str) -> Outcome:
        dealt = self._state.dealt
        against = dealt.objections(play, by) if dealt else dealer.NOTHING_DEALT
        if isinstance(against, str):
            return Outcome(done=False, say=against)
        if against:
            return Outcome(done=False, reasons=against)
        return self._write(drafts.line(play, by, PHONE, legal=True))

    def waive(self, by: str) -> Outcome:
        """Pass in a dealt match: decline to answer or, in turn, draw a card."""
        with self._changed:
            dealt = self._state.dealt
            if dealt is None or dealt.asks(by) is None or not dealt.seen_by(by).may_wait:
                return Outcome(done=False, say=dealer.NOTHING_TO_DECLINE)
            return self._write(NewEvent(EventKind.WAIVE, {"of": self._state.last_line, "by": by}))

    def decide(self, player: str, play: Play | None, seq: int) -> Outcome:
        """Enter a robot's play, or pass for None, unless there are events after `seq`."""
        with self._changed:
            if seq != self._state.seq:
                return GONE
            return self.waive(player) if play is None else self._enter_dealt(play, player)

    def answer(
        self,
        question_id: str,
        answer: Answer,
        by: str,
        *,
        play: str | None = None,
        anyway: bool = False,
        vouched: bool = False,
    ) -> Outcome:
        """Answer a question with the first play offered, or with `play`.

        Legal, sure plays waiting before it count too. `anyway` and `vouched`: see `enter`.
        """
        with self._changed:
            question = self._state.question(question_id)
            if question is None:
                now, is_blind = self._state, self._derive is _nothing_seen
                may_come = is_blind and questions.is_of_a_card(question_id, now.match or 0, now.hand_seq)
                return NOT_LOOKED if may_come and question_id not in now.past.asked else GONE
            if question.kind is questions.Kind.UNDO and (answer is Answer.YES or by not in self._state.people):
                return self.undo(by)  # Refuses people who do not play.
            if question.kind is questions.Kind.DIRECTOR:
                return self._write(drafts.directed(question, answer, by))
            offered = question.plays[0] if question.plays else None
            said = offered if play is None else replace(self._read(play), anyway=False)
            if answer in (Answer.YES, Answer.TABLE):
                if said is not None and question.asks_play:
                    # If the table is right, even an illegal play counts.
                    stands = anyway or answer is Answer.TABLE
                    return self._settle(
                        drafts.counting(self._state, question, said, by, anyway=stands, vouched=vouched)
                    )
                return self._settle(drafts.following(self._state, question, said, by, vouched=vouched))
            if question.asks_play and answer is not Answer.TAKEN_BACK:
                answer = Answer.NO
            elif not question.asks_play and answer is not Answer.IGNORE:
                answer = Answer.RECORD
            body = {"answer": answer, "about": question.about, "by": by}
            asked = filter(None, (question.id, question.instead_of))
            return self._write(*(NewEvent(EventKind.ANSWER, {"question": one, **body}) for one in asked))

    def was_asked(self, question_id: str) -> bool:
        return question_id in self._state.past.asked or questions.match_of(question_id) in self.store.matches()

    @property
    def last_serial(self) -> int:
        """Highest track serial in answered questions; 0 for none."""
        return max((questions.serial_of(question) or 0 for question in self._state.past.asked), default=0)

    def correct(self, seq: int, text: str, by: str, *, vouched: bool = False) -> Outcome:
        """Correct line `seq` and judge later ones again.

        If opponents confirm plays, only they may change a side's lines, unless `vouched`.
        """
        return self.rewrite(EventKind.CORRECT, seq, text, by, vouched=vouched)

    def rewrite(
        self, kind: EventKind, seq: int, text: str | None, by: str, *, vouched: bool = False, asks: bool = False
    ) -> Outcome:
        """Change line `seq` (CORRECT), remove it (RETRACT) or insert a forgotten play before it (LINE).

        The outcome tells if it was refused; with `asks`, also because lines become illegal. `vouched`: see `enter`.
        """
        with self._changed:
            if self._state.entry(seq) is None:
                return GONE
            if self._state.is_dealt:
                return Outcome(done=False, say=dealer.TABLE_DEALS)
            play = self._read(text) if text is not None else None
            if play is not None and waits_for_another(self._state, play, by) and not vouched:
                return OTHER_SIDE
            wrong = self.misfits(kind, seq, text) if asks else ()
            if wrong and wrong[0].judged is not None:
                return Outcome(done=False, reasons=wrong[0].judged.reasons)
            outcome, now = self._write(drafts.rewriting(kind, seq, play, by)), self._state.entry(seq)
            against = now.judged if now is not None and now.needs_attention else None
            return replace(outcome, reasons=against.reasons) if against is not None else outcome

    def revise(self, changes: Sequence[NewEvent], seq: int) -> None:
        """Change lines that counted by themselves, as the camera sees them now; all at once.

        `seq` is the last event that the camera knew: after any other, what it wants to change may be a person's.
        """
        with self._changed:
            is_current = seq == self._state.seq and not self._state.is_dealt
            if changes and is_current and not self._state.other_side_verifies:
                self._append(*changes)

    def misfits(self, kind: EventKind, seq: int, text: str | None) -> tuple[Entry, ...]:
        """Return the lines that would become illegal or unreadable by `rewrite`."""
        with self._changed:
            play = self._read(text) if text is not None else None
            return misfits(self._state, self._events, drafts.rewriting(kind, seq, play, ""))

    def let_stand(self, seq: int, by: str, *, vouched: bool = False) -> Outcome:
        with self._changed:
            entry = self._state.entry(seq)
            if entry is None or entry.play is None:
                return GONE
            return self.correct(seq, str(replace(entry.play, anyway=True)), by, vouched=vouched)

    def let_all_stand(self, by: str, *, vouched: bool = False) -> Outcome:
        with self._changed:
            plays = [entry.play for entry in self._state.attention if entry.play]
            if not vouched and any(waits_for_another(self._state, play, by) for play in plays):
                return OTHER_SIDE
            changes = drafts.standing(self._state, by)
            return self._write(*changes) if changes else GONE

    def undo(self, by: str, seq: int | None = None) -> Outcome:
        """Undo the last change and robots' plays since; with `seq`, only if it is that change.

        In a dealt match, another person (if any) must agree.
        """
        with self._changed:
            now = self._state
            if now.undoable is None or seq not in (None, now.undoable.seq):
                return NOTHING[EventKind.UNDO] if seq is None else GONE
            if now.is_dealt and by not in now.people:
                return Outcome(done=False, say=dealer.OWN_CARDS)
            if now.is_dealt and len(now.people) > 1:
                wish = next((asked for asked in now.questions if asked.kind is questions.Kind.UNDO), None)
                if wish is None:
                    self._write(NewEvent(EventKind.WISH, {"of": now.undoable.seq, "by": by}))
                if wish is None or wish.by == by:
                    return Outcome(done=False, say=ASKED)
                by = wish.by
            undone = now.past.undone_next
            return self._write(*(NewEvent(EventKind.UNDO, {"of": event.seq, "by": by}) for event in undone))

    def redo(self, by: str, seq: int | None = None) -> Outcome:
        with self._changed:
            undone = self._state.redone_next
            if not undone or seq not in (None, undone[0].seq):
                return NOTHING[EventKind.REDO] if seq is None else GONE
            return self._write(*(NewEvent(EventKind.REDO, {"of": event.seq, "by": by}) for event in undone))

    # The club's director

    def call_director(self, by: str, *, is_over: bool = False) -> Outcome:
        """Call the club's director, or with `is_over` cancel the call."""
        with self._changed:
            if self._state.past.has_called is not is_over:
                return GONE
            return self._write(NewEvent(EventKind.CALL, {"by": by, **({"is_over": True} if is_over else {})}))

    def receive(self, letter: Mapping[str, Any]) -> None:
        """Record a director's letter once; without a match it stays with the club."""
        with self._changed:
            known = (had.body["letter"] for had in self._state.past.letters)
            if self._state.match is not None and letter["letter"] not in known:
                self._write(*drafts.received(self._state, letter))

    # The camera

    def look(self, derive: Derive) -> None:
        """Use `derive` for the camera's questions."""
        with self._changed:
            # First: errors must reach the camera, not a phone.
            seen = derive(self._state) if _is_seen(self._state) else ()
            self._derive = derive
            now = tuple(asked_in(self._state, seen))
            if now == self._state.questions:  # Only pictures are new.
                self._state = replace(self._state, questions=now)
            else:
                self._show()
            self._follow_policy()

    def trouble(self, sentence: str | None) -> None:
        """Show a camera problem, or clear it (None)."""
        with self._changed:
            if sentence != self._state.trouble:
                self._show(trouble=sentence)

    def offer(self, lines: Sequence[str]) -> None:
        """Let the pages offer a match with these setup lines; none withdraw the offer."""
        self._show(offered=tuple(lines))

    def play_without_camera(self, *, on: bool) -> None:
        """Set whether to play without camera, until a restart."""
        self._show(without_camera=on)

    def put_note_away(self) -> None:
        with self._changed:
            self.store.put_note_away()
            self._show(note=None)

    def refresh(self) -> None:
        """Publish a new version after a change elsewhere."""
        self._show()

    # Inside the lock

    def _read(self, text: str) -> Play:
        if self._state.match is None:
            raise Problem(NO_HAND)
        try:
            return notation.parse_play(text, self._state.game.teams)
        except Unreadable as error:
            raise Problem(str(error)) from error

    def _follow_policy(self) -> None:
        """Record plays that need no tap, unless opponents confirm plays."""
        while not self._state.other_side_verifies:
            draft = drafts.untapped(self._state, self._state.past.asked, self.instructed)
            if draft is None:
                return
            self._append(draft)

    def _settle(self, found: Outcome | Sequence[NewEvent]) -> Outcome:
        return found if isinstance(found, Outcome) else self._write(*found)

    def _write(self, *new: NewEvent) -> Outcome:
        with self._changed:
            if self._state.match is None:
                raise Problem(NO_HAND)
            self._append(*map(self._named, new))
            self._follow_policy()
            return DONE

    def _append(self, *new: NewEvent) -> None:
        self._take(self.store.append(self._state.match, *new, hold=True))

    def _named(self, draft: NewEvent) -> NewEvent:
        return NewEvent(draft.kind, {**draft.body, **self._request})

    def _saved(self) -> None:
        with self._changed:
            self._show(unsaved=self.store.unsaved)

    def _take(self, events: tuple[Event, ...]) -> None:
        if events[0].match != self._state.match:
            self._events, self._first = (), {}
        self._events += events
        for event in events:
            # From the log; `once` adds the outcomes of new changes.
            if request := event.body.get("request"):
                is_done = event.kind not in (EventKind.CLAIM, EventKind.WISH)
                self._first[request] = event.body.get("asked", ""), Outcome(done=is_done, seq=event.seq)
        self._show(derived(self._state, self._events), unsaved=self.store.unsaved)

    def _show(self, state: MatchState | None = None, **changes: Any) -> None:
        """Publish a state, by default the current one, with its questions."""
        with self._changed:
            state = state or self._state
            state = replace(state, version=self._versions.next(), **changes)
            self._state = replace(state, questions=tuple(asked_in(state, self._seen(state))))
            self._changed.notify_all()

    def _seen(self, state: MatchState) -> tuple[Question, ...]:
        """Return the camera's questions; none after an error, so that taps work."""
        try:
            return self._derive(state) if _is_seen(state) else ()
        except Exception:
            log.exception("no questions can be derived from what the camera sees")
            self._derive = _nothing_seen
            return ()


def _is_seen(state: MatchState) -> bool:
    """True if the match is played with real cards."""
    return state.match is not None and not state.is_dealt

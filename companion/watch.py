"""The corridor from the camera to the match: it owns the loop and the thread, and decides nothing.

`watch` follows a source to its end and keeps the record itself (`companion watch`); `Corridor` feeds a match that
people confirm on their phones (`companion up`, `companion demo`).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np

from companion.errors import Problem
from companion.labels import face_of
from companion.match import Fate, Match, MatchState, Policy
from companion.memory import where
from companion.missed import MOST_ACTS, Account, Act, tells, way_back
from companion.places import Places
from companion.proposal import ASKING_CONFIDENCE, OUT_OF_TURN_SURENESS, Doubt, Mismatch, Proposal
from companion.rules import judge, referee
from companion.rules.judge import Game, HandResult, JudgedLine
from companion.rules.notation import Line
from companion.rules.play import Play, Verb
from companion.rules.reasons import as_json
from companion.rules.table import Table
from companion.setup import Setup
from companion.tracker import Cleared, Event, Settled, Tracker, Unclear, Withdrawn
from companion.vision.camera import Frame
from companion.vision.view import Sighting, View

log = logging.getLogger(__name__)

Look = Callable[[Frame], View]
"""The eye: what a frame shows. It remembers the mats and what lay still before."""

SEEN_LATE_S = 2.0
"""So much later than it was laid a card may be seen, behind a hand or after a push of the camera."""

LIES_S = 3.0
"""What may be a card without a sticker is spoken of once it has lain so long."""

LINGER_S, LINGER_LOOKS = 1.0, 10
"""The last picture of a film counts so long as if nothing moved, and is looked at so often."""

STRANGERS = 3
"""From so many cards on that cannot be read, and none that can, it is another deck that is played with."""

NOT_THIS_DECK = (
    "None of the cards on the table can be read. Do they bear no stickers, or are they those of another deck?"
    " Choose the cards under More, or enter the plays by hand."
)

MOST_FAILURES = 5
"""So often what goes wrong with one picture is passed over."""

SOURCE_OVER = "The pictures have come to an end. Plays can be entered by hand."
UNREAD = "A card has been laid that cannot be read for sure: which is it?"
CROP_MM = 52.0
CROP_SIDE_PX = 320


# Following a source to its end, with a record of our own


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of the record, and what it says."""

    text: str
    play: Play | None = None
    seen: Proposal | None = None

    @property
    def begins_hand(self) -> bool:
        return self.text.startswith("hand first ")


class Watcher:
    """Keeps the record of a watched source; legal proposals are confirmed at once, or none is.

    Where none is, each proposal is still judged as if the legal ones before it had been. One that people would have to
    be asked about is confirmed by the next that is sure and legal after it, and dropped by one that is legal only
    without it.
    """

    def __init__(self, setup: Setup, look: Look, *, confirm: bool, extension: Verb) -> None:
        self._setup = setup
        self._look = look
        self._confirms = confirm
        self._extension = extension
        self._entries = [_Entry(text) for text in (*setup.header(), f"hand first {setup.first}")]
        self._game = _judged(self._entries)
        self._table = self._game.table
        self._places = Places(setup.mats)
        self._tracker = Tracker(setup.mats)
        self._refused: dict[int, Proposal] = {}
        """Illegal as they were laid; a play that was seen late may make them legal."""

        self._telling: set[int] = set()
        """Those of them that may tell of a play that was missed."""

        self._unsure: dict[int, Proposal] = {}
        """Legal, and not confirmed yet."""

        self._doubts: dict[int, Doubt] = {}
        """Cards that could not be read."""

        self._now_s = 0.0

    def items(self, frames: Iterable[Frame]) -> Iterator[dict[str, Any]]:
        """One JSON object a proposal, one at each hand's end, one for a hand still open at the source's end."""
        for frame in _lingering(frames):
            self._now_s = frame.t_s
            for event in self._tracker.update(self._look(frame), self._table):
                yield from self._take(event)
        yield from self._find_way_back(is_last=True)
        if self._game.hand_is_open and not self._only_cleared():
            yield from self._results(list(judge.judge(self._record()))[-1:])

    def _only_cleared(self) -> bool:
        """Whether the next hand has begun only because the cards of the last were gathered in."""
        return self._game.hand_number > 1 and self._entries[-1].begins_hand

    def _record(self) -> Iterator[Line]:
        return (Line(number, entry.text) for number, entry in enumerate(self._entries, start=1))

    def _take(self, event: Event) -> Iterator[dict[str, Any]]:
        match event:
            case Proposal():
                yield from self._take_proposal(event)
                yield from self._find_way_back()
            case Mismatch(proposal_id=None):
                yield {"t_s": round(self._now_s, 3), "question": event.say, "zone": event.zone}
            case Doubt():
                # Nobody answers here: what follows does not wait for it.
                self._tracker.answered(event.id)
                self._doubts[event.id] = event
                yield _doubt_json(event)
            case Mismatch():
                yield from self._take_back(event)
            case Cleared() if self._confirms:
                yield from self._confirm_all()
                yield from self._find_way_back(is_last=True)
                for kept in (self._refused, self._telling, self._doubts):
                    kept.clear()
                self._add(_Entry(f"hand first {self._next_first()}"))
            case Unclear(play, zone, t_s):
                self._note_doubt(play, zone, t_s)
            case Settled(question_id):
                self._doubts.pop(question_id, None)
            case Withdrawn(proposal_id):
                self._refused.pop(proposal_id, None)
                if self._unsure.pop(proposal_id, None) is not None:
                    self._suppose()
            case Cleared():
                pass

    def _take_proposal(self, proposal: Proposal) -> Iterator[dict[str, Any]]:
        if self._unsure and self._refutes(proposal):
            self._drop_unsure()
            # What was not sure of this one is whose turn it was.
            proposal = replace(proposal, confidence=max(proposal.confidence, ASKING_CONFIDENCE))
        table = _there(self._table)
        reasons = referee.objections(table, proposal.play)
        legal = not reasons
        confirmed = legal and self._confirms and proposal.confidence >= ASKING_CONFIDENCE
        yield _proposal_json(proposal, table, confirmed=confirmed)
        if not legal:
            self._refused[proposal.id] = proposal
            self._telling |= {proposal.id} if tells(proposal.play, reasons) else set()
        elif confirmed:
            yield from self._confirm_all()
            yield from self._confirm(proposal)
        elif self._confirms:
            self._unsure[proposal.id] = proposal
            self._suppose()
        else:
            self._tracker.resolve(proposal.id, confirmed=True)
            self._table = referee.apply(table, proposal.play)
        if legal:
            yield from self._legal_after_all()

    def _refutes(self, proposal: Proposal) -> bool:
        """Whether a card that was read for sure is legal only if what nobody was sure of was no play."""
        supposed, certain = _there(self._table), _there(self._game.table)
        was_read = proposal.confidence >= OUT_OF_TURN_SURENESS
        is_legal = not referee.objections(certain, proposal.play)
        return was_read and is_legal and bool(referee.objections(supposed, proposal.play))

    def _note_doubt(self, play: Play, zone: str, t_s: float) -> None:
        """A play that may have been made, under a number of its own: nobody is asked."""
        number = min((0, *self._doubts)) - 1
        self._doubts[number] = Doubt(number, zone, (play,), ASKING_CONFIDENCE / 2, t_s)

    def _drop_unsure(self) -> None:
        for proposal_id, proposal in self._unsure.items():
            self._tracker.resolve(proposal_id, confirmed=False)
            if proposal.zone is not None:
                self._note_doubt(proposal.play, proposal.zone, proposal.t_s)
        self._unsure.clear()
        self._suppose()

    def _confirm_all(self) -> Iterator[dict[str, Any]]:
        """What nobody was sure of counts by what came after it."""
        unsure, self._unsure = list(self._unsure.values()), {}
        for proposal in unsure:
            if not referee.objections(_there(self._game.table), proposal.play):
                yield {"t_s": round(self._now_s, 3), "counted": str(proposal.play), "zone": proposal.zone}
                yield from self._confirm(proposal)

    def _confirm(self, proposal: Proposal) -> Iterator[dict[str, Any]]:
        self._tracker.resolve(proposal.id, confirmed=True)
        yield from self._results(self._add(_Entry(str(proposal.play), proposal.play, proposal)))
        yield from self._answer_extension()

    def _suppose(self) -> None:
        """The table as it would be with every unsure play confirmed."""
        self._table = _with_legal(self._game.table, (proposal.play for proposal in self._unsure.values()))

    def _legal_after_all(self) -> Iterator[dict[str, Any]]:
        """A card laid a moment too early, because the play before it was seen late, counts now.

        One that was refused longer ago was laid out of turn: it stays refused until somebody takes it back.
        """
        table = self._table
        if table is None or table.is_over:
            self._refused.clear()
            return
        fresh = (p for p in self._refused.values() if self._now_s - p.t_s <= SEEN_LATE_S)
        late = next((p for p in fresh if not referee.objections(table, p.play)), None)
        if late is not None:
            del self._refused[late.id]
            # What was not sure is whose turn it was.
            yield from self._take_proposal(replace(late, confidence=max(late.confidence, ASKING_CONFIDENCE)))

    def _answer_extension(self) -> Iterator[dict[str, Any]]:
        table = self._game.table
        if table is not None and not table.is_over and table.extension_offered_to is not None:
            player = table.sides[table.extension_offered_to].players[0]
            answer = Play(self._extension, player)
            yield from self._results(self._add(_Entry(str(answer), answer)))

    def _take_back(self, mismatch: Mismatch) -> Iterator[dict[str, Any]]:
        """The card of the last play has left its place before anybody played on: the play is taken back."""
        last = self._entries[-1].seen
        if last is None or last.id != mismatch.proposal_id:
            return
        text = self._entries.pop().text
        self._game = _judged(self._entries)
        self._suppose()
        if self._game.table is not None:
            self._tracker.leave(mismatch.id, self._game.table)
        yield {"t_s": round(self._now_s, 3), "withdrawn": text, "zone": mismatch.zone}

    # Where a play was missed

    def _find_way_back(self, *, is_last: bool = False) -> Iterator[dict[str, Any]]:
        """What was read for sure and refused may be legal because a play was missed: then that one is supposed."""
        if not (self._confirms and self._refused) or self._unsure or _there(self._table).is_over:
            return
        since, acts = self._acts()
        before = _there(_judged(self._entries[:since]).table)
        account = way_back(before, acts, self._places, tuple(self._doubts.values()), is_last=is_last)
        if account is not None:
            yield from self._tell_anew(since, acts, account)

    def _acts(self) -> tuple[int, list[Act]]:
        """The last plays of this hand, those that were refused among them, and where in the record they begin."""
        begun = max(number for number, entry in enumerate(self._entries) if entry.begins_hand) + 1
        since = max(begun, len(self._entries) - MOST_ACTS)
        acts = [Act(entry.play, entry.seen, counts=True) for entry in self._entries[since:] if entry.play is not None]
        first = min((act.seen.id for act in acts if act.seen is not None), default=0) if since > begun else 0
        for refused in (p for p in self._refused.values() if p.id in self._telling and p.id > first):
            later = (number for number, act in enumerate(acts) if act.seen is not None and act.seen.id > refused.id)
            acts.insert(next(later, len(acts)), Act(refused.play, refused, counts=False))
        return since, acts

    def _tell_anew(self, since: int, acts: Sequence[Act], account: Account) -> Iterator[dict[str, Any]]:
        """The record from there on as the account has it: what is no more is withdrawn, what is new is told."""
        del self._entries[since:]
        self._game = _judged(self._entries)
        for number, (act, play) in enumerate(zip(acts, account.plays, strict=True)):
            if account.missed is not None and number == account.before:
                yield from self._enter_missed(account.missed, account.doubt)
            if act.counts and play != act.play:
                zone = act.seen.zone if act.seen is not None else None
                yield {"t_s": round(self._now_s, 3), "withdrawn": str(act.play), "zone": zone}
            if play is not None:
                yield from self._tell_one_anew(act, play)
        self._suppose()

    def _enter_missed(self, play: Play, doubt: Doubt | None) -> Iterator[dict[str, Any]]:
        """Enters a play that was not seen: one that a card tells of is a proposal after all, any other is told of."""
        if doubt is not None:
            del self._doubts[doubt.id]
            told = Proposal(doubt.id, play, doubt.zone, doubt.confidence, doubt.t_s, sure=False)
            yield _proposal_json(told, _there(self._game.table), confirmed=True)
        else:
            yield {"t_s": round(self._now_s, 3), "missed": str(play)}
        if play.verb is not Verb.DISCARD and (doubt is None or doubt.id > 0):
            # Its card may yet be read.
            self._tracker.expect(play, _there(self._game.table))
        yield from self._results(self._add(_Entry(str(play), play)))

    def _tell_one_anew(self, act: Act, play: Play) -> Iterator[dict[str, Any]]:
        """Enters a play that was seen, and tells of it where that had not been."""
        if act.seen is None:
            # The answer about the extension has been given anew.
            if not referee.objections(_there(self._game.table), play):
                yield from self._results(self._add(_Entry(str(play), play)))
            return
        seen = replace(act.seen, play=play)
        if not act.counts or play != act.play:
            yield _proposal_json(seen, _there(self._game.table), confirmed=True)
        self._refused.pop(seen.id, None)
        yield from self._confirm(seen)

    # The record

    def _add(self, entry: _Entry) -> Sequence[judge.Item]:
        self._entries.append(entry)
        self._game, items = judge.step(self._game, Line(len(self._entries), entry.text))
        self._table = self._game.table
        return items

    def _results(self, items: Sequence[judge.Item]) -> Iterator[dict[str, Any]]:
        return (item.as_json("") for item in items if isinstance(item, HandResult))

    def _next_first(self) -> str:
        firsts = [entry.text.split()[-1] for entry in self._entries if entry.begins_hand]
        seats = [seat.player for seat in referee.seating(self._setup.teams)]
        return seats[(seats.index(firsts[-1]) + 1) % len(seats)]


def _lingering(frames: Iterable[Frame]) -> Iterator[Frame]:
    """The frames of a source, then the last for a moment longer: what has just been laid is read too."""
    last = None
    for last in frames:
        yield last
    if last is not None:
        yield from (replace(last, t_s=last.t_s + LINGER_S * (n + 1) / LINGER_LOOKS) for n in range(LINGER_LOOKS))


def _there(table: Table | None) -> Table:
    if table is None:
        raise AssertionError("a watched hand has begun")
    return table


def _judged(entries: Iterable[_Entry]) -> Game:
    game = judge.NEW_GAME
    for number, entry in enumerate(entries, start=1):
        game, items = judge.step(game, Line(number, entry.text))
        bad = next((item for item in items if isinstance(item, JudgedLine) and item.unreadable), None)
        if bad is not None:
            raise Problem(str(bad.unreadable))
    return game


def _proposal_json(proposal: Proposal, table: Table, confirmed: bool) -> dict[str, Any]:
    reasons = referee.objections(table, proposal.play)
    return {
        "t_s": round(proposal.t_s, 3),
        "proposal": str(proposal.play),
        "verdict": judge.ILLEGAL if reasons else judge.LEGAL,
        "reasons": [as_json(why, table.edition) for why in reasons],
        "confirmed": confirmed,
        "zone": proposal.zone,
        "confidence": round(proposal.confidence, 3),
    }


def _doubt_json(doubt: Doubt) -> dict[str, Any]:
    return {
        "t_s": round(doubt.t_s, 3),
        "question": UNREAD,
        "zone": doubt.zone,
        "choices": [str(play) for play in doubt.plays],
        "confidence": round(doubt.confidence, 3),
    }


# Feeding a match that people confirm


@dataclass(frozen=True, slots=True)
class _Known:
    """What the corridor last knew of the match, to tell what people have done since."""

    hand: int = 0
    last_seq: int = 0


class Corridor:
    """Takes frames to a match: a thread that reads, tracks and proposes, and hears what people answered."""

    def __init__(
        self,
        match: Match,
        look: Look,
        mats: Callable[[MatchState], dict[str, str]],
        begin_afresh: Callable[[], None] = lambda: None,
    ) -> None:
        self._match = match
        self._look = look
        self._mats = mats
        self._begin_afresh = begin_afresh
        """Lets whoever looks forget all that went before."""

        self._tracker: Tracker | None = None
        self._waiting: set[int] = set()
        self._asked: set[int] = set()
        self._doubted: set[int] = set()
        """The doubts that wait for an answer."""

        self._plays: dict[int, Play] = {}
        """The plays proposed in this hand, by proposal."""

        self._known = _Known()
        self._match_id: int | None = None
        self._latest: Frame | None = None
        self._failures = 0
        self._things: dict[str, float] = {}
        """Since when something that may be a card without a sticker lies in each zone."""

        self._stop = threading.Event()

    def start(self, frames: Iterable[Frame], at_the_end: str = SOURCE_OVER) -> threading.Thread:
        """Runs the corridor in a thread of its own until the source ends, which is said so, or `stop` is called."""
        thread = threading.Thread(target=self._run, args=(frames, at_the_end), name="corridor", daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        """Asks the thread to end after the frame in hand."""
        self._stop.set()

    def picture(self) -> bytes | None:
        """The latest frame as JPEG, or None before the first."""
        frame = self._latest
        return None if frame is None else _jpeg(frame.image)

    def image(self) -> np.ndarray | None:
        """The latest frame as it is, `(H, W, 3) uint8 BGR`, or None before the first."""
        frame = self._latest
        return None if frame is None else frame.image

    def _run(self, frames: Iterable[Frame], at_the_end: str) -> None:
        try:
            for frame in frames:
                if self._stop.is_set():
                    return
                self._take_or_begin_afresh(frame)
            self._match.trouble(at_the_end)
        except Problem as problem:
            self._match.trouble(f"{problem} Plays can be entered by hand meanwhile.")
        except Exception:
            # The table must be able to play on whatever went wrong with the camera.
            log.exception("the camera thread has failed")
            self._match.trouble("The camera has failed. Plays can be entered by hand; restart to see again.")

    def _take_or_begin_afresh(self, frame: Frame) -> None:
        """Takes a frame in; where that fails, though not too often, the next is looked at as if it were the first."""
        try:
            self.take(frame)
        except Problem:
            raise
        except Exception:
            self._failures += 1
            if self._failures > MOST_FAILURES:
                raise
            log.exception("a picture could not be taken in")
            self._begin_afresh()
            self._tracker = None

    def take(self, frame: Frame) -> None:
        """One frame on its way: read, followed, and what it brings handed to the match."""
        self._latest = frame
        view = self._look(frame)
        state = self._match.state
        self._match.trouble(view.trouble or self._of_things(view, state))
        if state.game.table is None:
            return
        self._hear(state)
        if self._tracker is None:
            return
        for event in self._tracker.update(view, preview(state)):
            self._hand_on(event, view, frame)

    def _of_things(self, view: View, state: MatchState) -> str | None:
        """What is to be said of something that may be a card without a sticker, once it has lain for a while."""
        self._things = {zone: self._things.get(zone, view.t_s) for zone in sorted(view.things)}
        lying = [zone for zone, since_s in self._things.items() if view.t_s - since_s >= LIES_S]
        if not lying or state.game.table is None:
            return None
        if len(lying) >= STRANGERS and not view.sightings:
            return NOT_THIS_DECK
        zone = lying[0]
        side = self._mats(state).get(zone.partition("/")[0])
        pile = where(zone).replace("the", f"{side}'s", 1) if side else where(zone)
        return f"Something on {pile} cannot be read: if it is a card, enter the play."

    def _hear(self, state: MatchState) -> None:
        """What people have done since the last frame: a new match or hand, answers, plays entered by hand."""
        table = state.game.table
        if self._tracker is None or state.match != self._match_id:
            self._tracker = Tracker(self._mats(state), table)
            self._waiting, self._asked, self._doubted, self._match_id = set(), set(), set(), state.match
        elif state.game.hand_number != self._known.hand:
            self._tracker.new_hand()
            self._plays, self._doubted = {}, set()
        else:
            self._hear_answers(state, self._tracker)
        self._known = _Known(state.game.hand_number, state.seq)

    def _hear_answers(self, state: MatchState, tracker: Tracker) -> None:
        changed = 0
        for proposal_id in [i for i in self._waiting if i in state.fates]:
            fate = state.fates[proposal_id]
            changed += fate is Fate.CHANGED
            tracker.resolve(
                proposal_id,
                confirmed=fate in (Fate.CONFIRMED, Fate.CHANGED),
                changed=fate is Fate.CHANGED,
                taken_back=fate is Fate.TAKEN_BACK,
            )
            self._waiting.discard(proposal_id)
        by_hand = [e.play for e in state.entries if e.seq > self._known.last_seq and e.written.source == "phone"]
        for play in by_hand[changed:]:
            if play is not None and state.game.table is not None:
                tracker.expect(play, state.game.table)
        for doubt_id in self._doubted - {doubt.id for doubt in state.doubts}:
            tracker.answered(doubt_id)
            self._doubted.discard(doubt_id)
        shown = {mismatch.id for mismatch in state.mismatches}
        for mismatch_id in self._asked - shown:
            self._leave(mismatch_id)
        self._asked &= shown

    def _hand_on(self, event: Event, view: View, frame: Frame) -> None:
        match event:
            case Proposal():
                self._waiting.add(event.id)
                self._plays[event.id] = event.play
                self._match.propose(replace(event, crop=_crop(event, view, frame)))
            case Withdrawn(proposal_id):
                self._waiting.discard(proposal_id)
                self._match.withdraw(proposal_id)
            case Mismatch() if self._is_put_right(event):
                self._match.retract(self._match.state.hand_entries[-1].seq, "camera")
                self._leave(event.id)
            case Mismatch():
                self._match.mismatch(event)
                self._asked.add(event.id)
            case Doubt():
                self._doubted.add(event.id)
                self._match.doubt(replace(event, crop=_crop_of_doubt(event, view, frame)))
            case Settled(question_id) if question_id in self._doubted:
                self._doubted.discard(question_id)
                self._match.clear_doubt(question_id)
            case Settled(question_id):
                self._asked.discard(question_id)
                self._match.clear_mismatch(question_id)
            case Cleared():
                if self._match.state.policy is Policy.AUTO:
                    self._match.next_hand("camera")
            case Unclear():
                pass  # Such a card would be asked about all the time.

    def _is_put_right(self, mismatch: Mismatch) -> bool:
        """Whether plays confirm themselves here and the card is that of the last one: nobody has to be asked."""
        state = self._match.state
        play = self._plays.get(mismatch.proposal_id or 0)
        by_itself = state.policy is Policy.AUTO and bool(state.hand_entries)
        return by_itself and play is not None and state.hand_entries[-1].play == play

    def _leave(self, mismatch_id: int) -> None:
        table = self._match.state.game.table
        if self._tracker is not None and table is not None:
            self._tracker.leave(mismatch_id, table)


def preview(state: MatchState) -> Table | None:
    """The table as it would be with every waiting legal play confirmed."""
    return _with_legal(state.game.table, (pending.proposal.play for pending in state.pending))


def _with_legal(table: Table | None, plays: Iterable[Play]) -> Table | None:
    """A table after those of some plays that are legal in their turn."""
    for play in plays:
        if table is not None and not referee.objections(table, play):
            table = referee.apply(table, play)
    return table


def _crop(proposal: Proposal, view: View, frame: Frame) -> bytes | None:
    """The card of a proposal, cut out of the frame."""
    here = (s for s in view.sightings if s.zone == proposal.zone)
    card = next((s for s in here if proposal.play.card in (s.face, *(face_of(c) for c, _ in s.rivals))), None)
    return _cut_out(card, view, frame)


def _crop_of_doubt(doubt: Doubt, view: View, frame: Frame) -> bytes | None:
    """The card that cannot be read, cut out of the frame."""
    return _cut_out(next((s for s in view.sightings if s.zone == doubt.zone and s.card is None), None), view, frame)


def _cut_out(sighting: Sighting | None, view: View, frame: Frame) -> bytes | None:
    """What lies round a sighting, as JPEG."""
    mat = (sighting.zone or "").partition("/")[0] if sighting is not None else ""
    scale = next((m.px_per_mm for m in view.mats if m.id == mat), None)
    if sighting is None or scale is None:
        return None
    x, y, reach = *map(int, sighting.centre_px), int(CROP_MM * scale)
    part = frame.image[max(0, y - reach) : y + reach, max(0, x - reach) : x + reach]
    if part.size == 0:
        return None
    factor = CROP_SIDE_PX / max(part.shape[:2])
    return _jpeg(cv2.resize(part, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA))


def _jpeg(image: np.ndarray) -> bytes | None:
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])
    return data.tobytes() if done else None

"""A film followed to its end, with a record of our own: what `companion watch` tells.

Nobody can be asked about a film. What is not sure counts by what comes after it, and where a play was missed the way
back is looked for (`companion.tracking.missed_plays`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from companion.common.errors import Problem
from companion.match.proposals import ASKING_CONFIDENCE, OUT_OF_TURN_SURENESS, Doubt, Mismatch, Proposal
from companion.match.setup_file import Setup
from companion.match.zone_plays import Places
from companion.rules import referee
from companion.rules.play import Play, Verb
from companion.rules.reasons import as_json
from companion.rules.record import judge
from companion.rules.record.judge import Game, HandResult, JudgedLine
from companion.rules.record.notation import Line
from companion.rules.table import Table
from companion.tracking.live import Look, with_legal
from companion.tracking.missed_plays import MOST_ACTS, Account, Act, tells, way_back
from companion.tracking.tracker import Cleared, Event, Settled, Tracker, Unclear, Withdrawn
from companion.vision.capture.sources import Frame

SEEN_LATE_S = 2.0
"""So much later than it was laid a card may be seen, behind a hand or after a push of the camera."""

READ_LATE_S = 4.0
"""So much later than it was first seen a card that could not be read may be read after all."""

LINGER_S, LINGER_LOOKS = 1.0, 10
"""The last picture of a film counts so long as if nothing moved, and is looked at so often."""

UNREAD = "A card has been laid that cannot be read for sure: which is it?"


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
            if frame.after_gap:
                self._tracker.lost_sight()
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
        self._strike_out(proposal)
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

    def _strike_out(self, proposal: Proposal) -> None:
        """What could not be read a moment ago can be read now."""
        read = [
            doubt.id
            for doubt in self._doubts.values()
            if doubt.id > 0
            and doubt.zone == proposal.zone
            and proposal.play in doubt.plays
            and self._now_s - doubt.t_s <= READ_LATE_S
        ]
        for number in read[:1]:
            del self._doubts[number]

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
        self._table = with_legal(self._game.table, (proposal.play for proposal in self._unsure.values()))

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
        looks = (last.t_s + LINGER_S * (n + 1) / LINGER_LOOKS for n in range(LINGER_LOOKS))
        yield from (replace(last, t_s=t_s, after_gap=False) for t_s in looks)


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

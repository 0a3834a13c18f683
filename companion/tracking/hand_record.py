"""What the record says of the hand on the table, and leads the tracker to expect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from companion.match.questions import Answer, Answered, Answers, Kind, Question, is_of_a_card, question_id, serial_of
from companion.match.zone_plays import Places
from companion.rules.cards import Card
from companion.rules.play import Play, Verb
from companion.rules.reasons import Code
from companion.rules.referee import apply, objections
from companion.rules.table import Table
from companion.tracking.track import Place, Track

Spot = tuple[str, Card]  # a zone and a face


class Handling(StrEnum):
    """What may have been done with a card; part of the id of the question about it."""

    LAID = ""
    TAKEN = "-taken"  # taken from the discard pile
    STACKED = "-stacked"  # laid exactly on one like it


@dataclass(frozen=True)
class Line:
    """A line of the open hand that counts."""

    seq: int
    play: Play
    before: Table  # the table that it was played on
    places: Places
    serial: int | None = None  # the track that it was told by
    is_unseen: bool = False  # True if its card was laid and nobody will see it
    is_vouched: bool = True  # False if it counted by itself and no person has confirmed or changed it

    @cached_property
    def spots(self) -> tuple[Spot, ...]:
        """Where its cards lie once it is played, its own first."""
        zone = self.places.zone_of(self.play, self.before)
        if zone is None or self.play.card is None:
            return ()
        beside = [(zone, Card.ACCELERATOR)] if self.play.times > 1 else []
        return (zone, self.play.card), *beside


@dataclass(frozen=True)
class Record:
    """What the record says of the open hand."""

    match: int
    hand_seq: int  # the event that began the hand: cards laid before it are left over, and mean nothing
    places: Places
    table: Table | None
    lines: tuple[Line, ...] = ()
    answers: Answers = field(default_factory=dict)
    is_automatic: bool = False  # plays count by themselves
    extension: Verb | None = None  # answers each offer of an extension; None: people do

    @cached_property
    def vouched(self) -> tuple[Line, ...]:
        """The lines up to the last that a person has entered, confirmed or changed."""
        end = max((n for n, line in enumerate(self.lines, 1) if line.is_vouched), default=0)
        return self.lines[:end]

    @property
    def unvouched(self) -> tuple[Line, ...]:
        """The lines after them, which counted by themselves."""
        return self.lines[len(self.vouched) :]

    @property
    def start(self) -> Table | None:
        """The table before these."""
        return self.unvouched[0].before if self.unvouched else self.table

    @cached_property
    def refused(self) -> frozenset[tuple[int | None, bool]]:
        """The numbers of the cards of which people said no; with True: that nobody took them from the discard pile."""
        return frozenset(
            (serial_of(ident), Handling.TAKEN.value + "." in ident)
            for ident, answered in self.answers.items()
            if answered.answer in (Answer.NO, Answer.TAKEN_BACK)
            and not ident.endswith("-differs")
            and is_of_a_card(ident, self.match, self.hand_seq)
        )

    def said_of(self, question: str) -> Answered | None:
        """Return what people answered to a question."""
        return self.answers.get(question)

    def question_id(self, track: Track, kind: Kind, handling: Handling = Handling.LAID) -> str:
        """Return the id of the question about a card, which it never shares with another."""
        return question_id(self.match, self.hand_seq, f"{track.card or track.face.value}{handling}", track.serial, kind)

    def answer(self, track: Track, kind: Kind, handling: Handling = Handling.LAID) -> Answered | None:
        """Return what people answered to the question about a card."""
        return self.answers.get(self.question_id(track, kind, handling))

    def refusal(self, track: Track) -> Answered | None:
        """Return the answer of people who said that a card is no play, or goes back to the hand."""
        said = (self.answer(track, kind) for kind in (Kind.PLAY, Kind.WHICH))
        return next((one for one in said if one is not None and one.answer in (Answer.NO, Answer.TAKEN_BACK)), None)


def taking(table: Table) -> Play:
    """Return the play of the player to move, should he take the top of the discard pile."""
    return Play(Verb.TAKE, table.player_to_move)


def takeable(table: Table) -> Card | None:
    """Return the top of the discard pile where the player to move may take it."""
    return table.discards[-1] if table.discards and not objections(table, taking(table)) else None


@dataclass(frozen=True)
class Hint:
    """What the record, and the plays that wait, lead us to expect in a zone; it only breaks ties."""

    record: Record
    asked: Sequence[Question] = ()

    def has(self, face: Card, zone: str) -> bool:
        """True if the record has such a card in a zone."""
        return self.record.table is not None and face in self.record.places.cards(self.record.table, zone)

    def is_beaten(self, face: Card, zone: str) -> bool:
        """True if the record has such a card in a zone beneath another."""
        return self.record.table is not None and self.record.places.is_beneath(self.record.table, face, zone)

    def has_told(self, serial: int) -> bool:
        """True if a line of the record was told by this track."""
        return any(line.serial == serial for line in self.record.lines)

    def may_be_taken(self, face: Card) -> bool:
        """True if such a card is the top of the discard pile, and the player to move may take it."""
        return self.record.table is not None and takeable(self.record.table) is face

    def is_legal(self, face: Card, place: Place, *, in_turn: bool = False) -> bool:
        """True if nothing, but perhaps the turn, speaks against a card there: a play before it may be missing."""
        play_at = self.record.places.play_at
        guesses = ((table, play_at(face, place.zone, place.sideways, table)) for table in self._tables)
        said = (objections(table, guess.play) for table, guess in guesses if guess is not None)
        return any(all(why.code is Code.NOT_YOUR_TURN and not in_turn for why in reasons) for reasons in said)

    @cached_property
    def _tables(self) -> list[Table]:
        """The table by the record, and as each play that waits may leave it."""
        waiting = (q for q in self.asked if q.kind is Kind.PLAY and q.is_legal)
        tables = (self.record.table, *(apply(q.table, q.plays[0]) for q in waiting if q.table is not None))
        return [table for table in tables if table is not None and not table.is_over]

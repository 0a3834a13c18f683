"""What the record says of the hand on the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from companion.match.questions import Answer, Answers, is_of_a_card, serial_of
from companion.match.zone_plays import Places
from companion.rules.cards import Card
from companion.rules.play import Play, Verb
from companion.rules.table import Table

Spot = tuple[str, Card]  # a zone and a face


@dataclass(frozen=True)
class Line:
    """A line of the open hand that counts."""

    seq: int
    play: Play
    before: Table  # the table that it was played on
    places: Places
    serial: int | None = None  # the track that it was told by
    is_vouched: bool = True  # False if only the camera wrote it

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
            (serial_of(ident), "-taken." in ident)
            for ident, answered in self.answers.items()
            if answered.answer in (Answer.NO, Answer.TAKEN_BACK)
            and not ident.endswith("-differs")
            and is_of_a_card(ident, self.match, self.hand_seq)
        )

"""The follower by weighted hypotheses, as a table uses it: see a view, ask, begin anew, outlast a restart."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from companion.match.questions import Question
from companion.rules.play import Play
from companion.tabletop.mat_layout import mat_of
from companion.tracking import beliefs_file
from companion.tracking.asking import ask
from companion.tracking.beam import Beliefs, see
from companion.tracking.conditioning import conditioned, next_hand, of_next_hand, without_first
from companion.tracking.hand_record import Record
from companion.tracking.handling import BARS
from companion.tracking.hypothesis import Hypothesis, TableAct
from companion.tracking.looks import SeenTable
from companion.tracking.revising import Revision, counted, ident, revisions
from companion.vision.view import Point, View

SETTLED_S = BARS.gathered_s + 1.0  # by then, nothing that was waited for is still to come


class Likely(NamedTuple):
    """A play of the likeliest hypothesis."""

    play: Play
    question: str  # id of the question that would ask about it
    since_s: float
    reading: float  # confidence in its card


class Follower:
    """Follows a table by weighted hypotheses.

    `memory` is the file in which they outlast a restart. `hand_seq`: the hand that began when the table was empty.
    """

    def __init__(self, memory: Path | None = None, hand_seq: int | None = None) -> None:
        self._memory, self._written = memory, ""
        self._beliefs = beliefs_file.read(memory)
        self._is_gap = False
        self._known_seq: int | None = None  # the last line that was there before the first view
        self._asked: tuple[Beliefs, Record | None, tuple[Question, ...]] = (self._beliefs, None, ())
        self._revised: tuple[tuple[Hypothesis, ...], Record | None, bool, tuple[Revision, ...]] = ((), None, False, ())
        self._changed_s = 0.0  # when something changed last, or was hidden
        self._hand_before = self._beliefs.record.hand_seq if self._beliefs.record else hand_seq

    @property
    def last_serial(self) -> int:
        return self._beliefs.looks.last_number

    def see(self, view: View, record: Record) -> None:
        """Take a view in."""
        if self._known_seq is None:
            self._known_seq = max((line.seq for line in record.lines), default=0)
        record = self._known(record)
        before, known = self._beliefs, conditioned(self._beliefs, record)
        self._beliefs, self._is_gap = see(known, view, after_gap=self._is_gap), False
        is_same = self._beliefs.hypotheses is before.hypotheses and self._beliefs.looks.pile == before.looks.pile
        if not is_same or view.unknown_zones:
            self._changed_s = view.t_s
        if record.hand_seq != self._hand_before and not record.lines:
            self._beliefs = without_first(self._beliefs)

    def asking(self) -> Callable[[Record], tuple[Question, ...]]:
        """Return what derives the questions from a record and what is seen now."""
        beliefs, known = self._beliefs, self._known

        def derive(record: Record) -> tuple[Question, ...]:
            """Return the questions; where nothing has changed, those of the last time."""
            before, of, asked = self._asked
            is_settled = beliefs.hypotheses is before.hypotheses and beliefs.looks.t_s - self._changed_s > SETTLED_S
            if of != record or not (beliefs is before or is_settled):
                asked = ask(beliefs, known(record))
            self._asked = beliefs, record, asked
            return asked

        return derive

    def _known(self, record: Record) -> Record:
        """Return the record; what it said before the first view is not doubted."""
        until = self._known_seq or 0
        lines = tuple(replace(line, is_vouched=True) if line.seq <= until else line for line in record.lines)
        return record if not until else replace(record, lines=lines)

    def revisions(self, record: Record, *, at_the_end: bool = False) -> tuple[Revision, ...]:
        """Return what is to be changed in the record where plays count by themselves; `at_the_end`: nothing follows."""
        known = self._known(record)
        beliefs = conditioned(self._beliefs, known)
        is_late = at_the_end or _is_overdue(beliefs, known)
        hypotheses, of, was_late, found = self._revised
        if hypotheses is not beliefs.hypotheses or of is not record or is_late is not was_late:
            found = revisions(beliefs, known, at_the_end=is_late)
        self._revised = beliefs.hypotheses, record, is_late, found
        return found

    def likeliest(self, record: Record) -> tuple[Likely, ...]:
        """Return what the likeliest hypothesis has after the vouched lines, up to a play that no picture shows."""
        known = self._known(record)
        best = conditioned(self._beliefs, known).best
        shown = best._replace(acts=tuple(itertools.takewhile(lambda act: act.play is not None, best.acts)))
        return tuple(
            Likely(act.play, ident(best, act, known), act.since_s, self._reading(best, act))
            for act in counted(shown)
            if act.play is not None
        )

    def _reading(self, best: Hypothesis, act: TableAct) -> float:
        """Return how surely the card of an act is read; 1 if it is not seen any more."""
        spots = {card.serial: card.spot for there in best.zones.values() for card in there}
        seen = (spot for memory in self._beliefs.looks.zones.values() for spot in memory.spots)
        return next((spot.confidence for spot in seen if spot.number == spots.get(act.serial)), 1.0)

    def place(self, serial: int | None) -> tuple[str, Point] | None:
        """Return the zone of a card and its middle in the picture."""
        for zone, there in self._beliefs.best.zones.items():
            spot = next((card.spot for card in there if card.serial == serial), None)
            seen = self._beliefs.looks.zones.get(zone)
            found = next((s for s in (seen.spots if seen else ()) if s.number == spot), None)
            if found is not None:
                return zone, found.centre_px
        return None

    def is_cleared(self, record: Record) -> bool:
        """True if the hand is over and its cards have been gathered in, but for a few that are late.

        A side may be later still if another has begun the next hand.
        """
        h, looks = self._beliefs.best, self._beliefs.looks
        if record.table is None or not record.table.is_over or not h.is_gathering:
            return False
        fresh = {act.serial: mat_of(act.zone) for act in of_next_hand(h)}
        lying = ((zone, card) for zone, there in h.zones.items() for card in there if card.spot)
        left = [mat_of(zone) for zone, card in lying if card.serial not in fresh]
        has_waited = looks.t_s - h.gathered_s >= BARS.put_right_s
        has_begun = any(mat not in left for mat in fresh.values())
        return not left or (has_waited and (len(left) < BARS.many or has_begun))

    def deal(self, _ended: int) -> None:
        """Begin the next hand: what has been put down since the last one ended belongs to it."""
        self._beliefs = next_hand(self._beliefs)

    def lose_sight(self) -> None:
        """Pictures were missing."""
        self._is_gap = True

    def forget(self, last_serial: int) -> None:
        """Begin without any card; the next has a number above this one."""
        self._beliefs, self._known_seq = Beliefs(looks=SeenTable(last_number=last_serial)), None

    def number_from(self, last_serial: int) -> None:
        """Give cards numbers above this one."""
        looks = self._beliefs.looks
        self._beliefs = replace(self._beliefs, looks=replace(looks, last_number=max(last_serial, looks.last_number)))

    def save(self) -> None:
        """Write to the disk what has changed."""
        if self._memory is not None:
            self._written = beliefs_file.write(self._memory, self._beliefs, self._written)


def _is_overdue(beliefs: Beliefs, record: Record) -> bool:
    """True if the likeliest hypothesis has had more plays than the record for long: then it decides."""
    until_s = beliefs.looks.t_s - BARS.patience_s
    return sum(act.since_s <= until_s for act in counted(beliefs.best)) > len(record.unvouched)

"""Rush: which of the distance cards that have just been laid an accelerator doubles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from companion.match.questions import Kind
from companion.rules.cards import Card, Family
from companion.tracking.hand_record import Record
from companion.tracking.track import LAYING_S, Track


@dataclass(frozen=True, slots=True)
class Accelerators:
    """What the accelerators among the new cards belong to; cards are named by their serials."""

    doubling: Mapping[int, int]
    """The accelerator that came with each distance card, one with it alone."""

    unclear: frozenset[int]
    """The distance cards by which accelerators lie, none of them clearly its own."""

    @classmethod
    def among(cls, laid: Sequence[Track], record: Record) -> Accelerators:
        """Return those among cards that the record does not have, and of which people have said nothing."""
        loose = [t for t in laid if t.face is Card.ACCELERATOR and record.answer(t, Kind.DIFFERS) is None]
        beside = {
            distance.serial: tuple(
                t.serial for t in loose if t.zone == distance.zone and abs(t.since_s - distance.since_s) <= LAYING_S
            )
            for distance in laid
            if distance.face.family is Family.DISTANCE
        }
        shared = Counter(beside.values())
        doubling = {serial: near[0] for serial, near in beside.items() if len(near) == 1 and shared[near] == 1}
        return cls(doubling, frozenset(serial for serial, near in beside.items() if near and serial not in doubling))

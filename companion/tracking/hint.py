"""What the record leads the tracker to expect, where two cards look alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from companion.match.questions import Kind, Question
from companion.match.zone_plays import Places
from companion.rules.cards import Card
from companion.rules.reasons import Code
from companion.rules.referee import apply, objections
from companion.rules.table import Table
from companion.tracking.hand_record import Record, taking
from companion.tracking.track import Place


@dataclass(frozen=True, slots=True)
class Hint:
    """What the record leads us to expect in a zone; it only breaks ties."""

    is_legal: Callable[[Card, Place], bool]
    """True if a play that is legal now may have laid a card of this face there."""

    has: Callable[[Card, str], int]
    """How many of a face the record has in a zone."""

    may_be_taken: Card | None = None
    """The top of the discard pile where the player to move may take it."""


def hint_from(record: Record, places: Places, asked: Sequence[Question] = ()) -> Hint:
    """Return what the record and the plays that wait lead the tracker to expect where pictures leave it open."""
    table = record.table
    if table is None:
        return Hint(lambda _face, _place: False, lambda _face, _zone: 0)
    lying = Counter(places.lying(table))
    waiting = (q for q in asked if q.kind is Kind.PLAY and q.is_legal and q.table is not None)
    tables = [table, *(apply(q.table, q.plays[0]) for q in waiting if q.table is not None)]

    def is_legal(face: Card, place: Place) -> bool:
        return any(_may_be_laid(face, place, each, places) for each in tables)

    top = table.discards[-1] if table.discards and not objections(table, taking(table)) else None
    return Hint(is_legal, lambda face, zone: lying[(zone, face)], top)


def _may_be_laid(face: Card, place: Place, table: Table, places: Places) -> bool:
    """True if nothing but the turn speaks against it: a play before it may have been missed."""
    guess = places.play_at(face, place.zone, place.sideways, table)
    if table.is_over or guess is None:
        return False
    return all(reason.code is Code.NOT_YOUR_TURN for reason in objections(table, guess.play))

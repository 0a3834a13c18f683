"""What the record says of the hand on the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from companion.match.questions import Answers
from companion.match.zone_plays import Places
from companion.rules.cards import Card
from companion.rules.play import Play, Verb
from companion.rules.table import Table

Spot = tuple[str, Card]
"""A zone and a face."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the open hand that counts."""

    seq: int
    play: Play
    before: Table
    """The table that it was played on."""

    serial: int | None = None
    """The track that it was told by."""

    is_unseen: bool = False
    """True if its card was laid and nobody will see it."""


@dataclass(frozen=True, slots=True)
class Record:
    """What the record says of the open hand."""

    match: int
    hand_seq: int
    """The event that began the hand: cards laid before it are left over, and mean nothing."""

    table: Table | None
    lines: tuple[Line, ...] = ()
    answers: Answers = field(default_factory=dict)


def spots_of(line: Line, places: Places) -> Iterator[Spot]:
    """Yield where the cards of a line lie once it is played."""
    zone = places.zone_of(line.play, line.before)
    if zone is not None and line.play.card is not None:
        yield zone, line.play.card
        if line.play.times > 1:
            yield zone, Card.ACCELERATOR


def taking(table: Table) -> Play:
    """Return the play of the player to move, should he take the top of the discard pile."""
    return Play(Verb.TAKE, table.player_to_move)

"""What the tracker says to the match: a play it has seen, or that table and record differ."""

from __future__ import annotations

from dataclasses import dataclass

from companion.rules.play import Play


@dataclass(frozen=True, slots=True)
class Proposal:
    """A play as the camera saw it, waiting to be confirmed."""

    id: int
    play: Play
    zone: str | None
    """Where the card lies: `side-1/battle`; None for what is not a card (an empty draw pile)."""

    confidence: float
    t_s: float
    """When the card lay still, on the frames' clock."""

    sure: bool
    """False asks the table to look: who played it, or how, is a guess."""

    crop: bytes | None = None
    """JPEG of the card, where there is one."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Table and record differ: a card of a confirmed play is no longer where it should be."""

    id: int
    zone: str
    proposal_id: int | None
    """The proposal whose play is in doubt, where it was proposed by the camera."""

    expected: str | None
    seen: str | None
    say: str

"""What the table's followers hand to the match: a play that was seen, and a table that differs from the record."""

from __future__ import annotations

from dataclasses import dataclass

from companion.rules.play import Play

ASKING_CONFIDENCE = 0.9
"""A play that was seen with less is never confirmed by itself: the table is asked."""

OUT_OF_TURN_SURENESS = 0.85
"""The most that is claimed of a play out of turn: one before it may have been missed."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A play that was seen on the table and waits for somebody to confirm it."""

    id: int
    """Never given twice while the service runs; above zero."""

    play: Play
    zone: str | None
    """Where the card lies: `side-1/battle`; None where no zone tells."""

    confidence: float
    """0 … 1."""

    t_s: float
    """When the card had come to rest, on the source's own clock."""

    sure: bool
    """Sure enough to be confirmed without a tap, where the table has chosen so."""

    sideways: bool = False
    """The card lies sideways on its mat, where that means something."""

    crop: bytes | None = None
    """The card as the camera saw it, JPEG."""

    rivals: tuple[Play, ...] = ()
    """What else it may have been, likeliest first, where it is not sure; up to two."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A card was laid that cannot be told for sure: people say which it is."""

    id: int
    """From the same count as those of proposals and mismatches."""

    zone: str
    plays: tuple[Play, ...]
    """What it may be, likeliest first; one to three, no two alike."""

    confidence: float
    """Of the first, 0 … 1."""

    t_s: float
    """When the card had come to rest, on the source's own clock."""

    crop: bytes | None = None
    """The card as the camera saw it, JPEG."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A zone where the table steadily shows something else than the record says."""

    id: int
    zone: str
    expected: str | None
    """The slug that should show there; None for an empty zone."""

    seen: str | None
    """The slug that shows there; None for an empty zone."""

    say: str
    """The difference as a sentence for the table."""

    proposal_id: int | None = None
    """The proposal whose confirmed play is in doubt, where the camera had proposed it."""

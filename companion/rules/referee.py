"""The referee: legality of a play (`objections`), its effect (`apply`, even if illegal), and `legal_plays`."""

from __future__ import annotations

from collections.abc import Iterator

from companion.rules.apply import apply
from companion.rules.dealing import check_seating, new_hand, seating
from companion.rules.legality import objections, remarks
from companion.rules.moves import candidates
from companion.rules.play import Play
from companion.rules.table import Table, is_driving

__all__ = ["apply", "check_seating", "is_driving", "legal_plays", "new_hand", "objections", "remarks", "seating"]


def legal_plays(table: Table, player: str) -> Iterator[Play]:
    """Yield a player's legal `candidates`, as if every card were in hand."""
    return (play for play in candidates(table, player) if not objections(table, play))

"""The referee: may this be played (`objections`), what does it do (`apply`), what else could be (`legal_plays`).

The three are told apart throughout: an illegal play is a value with reasons, and can be applied all the same.
"""

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
    """Yield what a player may play, whatever his hand holds, each play in the one form of `candidates`."""
    return (play for play in candidates(table, player) if not objections(table, play))

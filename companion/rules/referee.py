"""The referee: may this be played (`objections`), what does it do (`apply`), what else could be (`legal_plays`).

The three are told apart throughout: an illegal play is a value with reasons, and can be applied all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from companion.rules.apply import apply
from companion.rules.dealing import EXTENDABLE_KM, EXTENDED_KM, check_seating, new_hand, seating
from companion.rules.legality import SLOW_KM, objections, remarks
from companion.rules.moves import candidates
from companion.rules.play import Play
from companion.rules.table import Table, is_driving

__all__ = [
    "EXTENDABLE_KM",
    "EXTENDED_KM",
    "SLOW_KM",
    "LegalPlays",
    "apply",
    "check_seating",
    "is_driving",
    "legal_plays",
    "new_hand",
    "objections",
    "remarks",
    "seating",
]


class LegalPlays:
    """The plays that a player may make now; answers `in`, iteration and truth.

    Iteration gives each play in one form: sides as targets, known cards, an exchange of one card at a time.
    """

    def __init__(self, table: Table, player: str) -> None:
        self._table = table
        self._player = player

    def __contains__(self, play: object) -> bool:
        return isinstance(play, Play) and play.player == self._player and not objections(self._table, play)

    def __iter__(self) -> Iterator[Play]:
        return (play for play in candidates(self._table, self._player) if not objections(self._table, play))

    def __bool__(self) -> bool:
        return any(True for _ in self)


def legal_plays(table: Table, player: str) -> LegalPlays:
    """Return what a player may play, whatever his hand holds."""
    return LegalPlays(table, player)

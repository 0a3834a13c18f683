"""The discard pile where its top may be taken: what it means that a card has gone from it."""

from __future__ import annotations

from companion.match.zone_plays import DISCARD_ZONE
from companion.rules.cards import Card, Family
from companion.rules.referee import objections
from companion.rules.table import Table
from companion.tracking.table_memory import Memory, taking
from companion.tracking.track import Place, Track
from companion.vision.view import View


class Discards:
    """Judges the discard pile of one hand by what is remembered of the cards."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.pile_was_empty = False
        """The draw pile has been seen used up, with cards on the discard pile to be reshuffled."""

    def is_taken_and_laid(self, track: Track, new: Place, table: Table) -> bool | None:
        """Whether the top of the discard pile was taken and laid by the player to move; None where it was not.

        False where it may as well be that whoever discarded it has changed his mind.
        """
        top = track.zone == DISCARD_ZONE and track.face in table.discards[-1:]
        if not top or new.zone == DISCARD_ZONE or objections(table, taking(table)):
            return None
        places = self._memory.places
        laid_by = track.player if track.order == self._memory.order else None
        taken = places.is_taken(track.face, new.zone, table, laid_by)
        if taken is None and track.face.family is Family.HAZARD and laid_by is None:
            return places.is_taken(Card.ROLL, new.zone, table, None) is None
        return None if taken is False else taken is True

    def is_amiss(self, track: Track, table: Table) -> bool:
        """Whether a card has gone that nobody may have taken, or more than one have."""
        several = len(table.discards) > 1 and self._memory.discards_are_gone()
        return track is not self._memory.lifted_discard(table) or several

    def may_be_reshuffled(self, view: View, table: Table) -> bool:
        """Whether the discards are becoming the draw pile: that one is used up, and all of them are gone."""
        used_up = table.draw_pile == 0 or self.pile_was_empty
        taken = len(table.discards) == 1 and view.draw_pile_empty is True
        return table.edition.empty_pile == "reshuffle" and used_up and not taken and self._memory.discards_are_gone()

    def reshuffle(self, table: Table) -> bool:
        """The discards are the draw pile now. Whether the record has to be told: it does so itself where it counts."""
        for track in [t for t in self._memory if t.zone == DISCARD_ZONE]:
            self._memory.forget(track)
        self.pile_was_empty = False
        return table.draw_pile > 0

"""How long a card that has come to lie somewhere is waited with before it counts as laid.

It may still be put right, the hand that laid it may be at it, or the card that was laid before it may not yet be in
sight: a discard or a hazard is the play of whoever is to move, so it matters what lies under the hands.
"""

from __future__ import annotations

from companion.match.zone_plays import DISCARD_ZONE, DRAW_ZONE, Places
from companion.rules.cards import Family
from companion.rules.referee import objections
from companion.rules.table import Table
from companion.tracking.table_memory import Memory
from companion.tracking.track import Place, Track
from companion.vision.view import View

ARM_S = 8.0
"""What is over a zone for longer is no arm that is laying a card."""

DWELL_S = 0.8
"""So long at most a new card waits until no arm is over its mat."""

BEFORE_TURN_S = 6.0
"""So long at most a card waits for the one before it, while an arm is over the table."""

MISLAID_S = 4.0
"""So long a card may lie on a pile where it does not belong: mostly it is put right at once."""


class Patience:
    """Knows since when something is over each zone of one table."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._since_s: dict[str, float] = {}

    def observe(self, view: View) -> None:
        """Takes in what a view cannot speak of."""
        self._since_s = {zone: self._since_s.get(zone, view.t_s) for zone in view.unknown_zones}

    def pause(self) -> None:
        """Nothing is known for a while."""
        self._since_s = {}

    def waits(self, track: Track, place: Place, memory: Memory, table: Table, t_s: float) -> bool:
        """Whether it is too early to say what it means that a card lies there."""
        lies_s = t_s - track.seen_since_s
        if lies_s < MISLAID_S and not self._places.belongs(track.face, place.zone):
            return True
        arms = self._arms(t_s)
        if lies_s < DWELL_S and any(zone.partition("/")[0] == place.mat != "table" for zone in arms):
            return True
        return lies_s < BEFORE_TURN_S and self._may_come_second(track, place, memory, table, t_s)

    def _may_come_second(self, track: Track, place: Place, memory: Memory, table: Table, t_s: float) -> bool:
        """Whether a card may have been laid before this one that is not in sight yet, and it matters."""
        if not self.turn_matters(track, place, table):
            return False
        zones = self._places.within_reach(table) - {place.zone}
        before = {zone for zone in zones & self._arms(t_s) if self._since_s[zone] <= track.seen_since_s}
        return bool(before) or _is_being_read(memory, track)

    def turn_matters(self, track: Track, place: Place, table: Table) -> bool:
        """Whether it depends on whose turn it is what a card means, or whether it may be laid."""
        if place.zone == DISCARD_ZONE or track.face.family is Family.HAZARD:
            return True
        guess = self._places.play_at(track.face, place.zone, place.sideways, table)
        refused = objections(table, guess.play) if guess is not None else ()
        return any(reason.code == "not-your-turn" for reason in refused)

    def _arms(self, t_s: float) -> set[str]:
        """The zones that an arm may be over."""
        return {zone for zone, since_s in self._since_s.items() if t_s - since_s < ARM_S and zone != DRAW_ZONE}


def _is_being_read(memory: Memory, but: Track) -> bool:
    """Whether another new card has come into sight that has not been looked at often enough."""
    coming = (t for t in memory if t is not but and t.is_new and not t.confirmed)
    return any(track.steady() is None for track in coming)

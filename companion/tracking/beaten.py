"""Hazards that have been beaten and are carried to the discard pile."""

from __future__ import annotations

from collections.abc import Sequence

from companion.match.zone_plays import Places
from companion.rules.cards import SAFETY_OF, Family
from companion.rules.table import Table
from companion.tabletop.mat_layout import DISCARD_ZONE, mat_of
from companion.tracking.hand_record import Record, spots_of
from companion.tracking.track import PUT_RIGHT_S, TURN_S, Track
from companion.tracking.tracker import Tracks


class BeatenHazards:
    """What becomes of hazards that a remedy or a safety has beaten, at one moment.

    People carry them to the discard pile at any time: before the attack counts, before the card that beats them is in
    sight, turns later, or never. So a hazard on that pile need not have been discarded, and one that has left its
    place need not have been taken back. `extra` are the cards that lie there and are not in the record.
    """

    def __init__(self, tracks: Tracks, record: Record, table: Table, places: Places, extra: Sequence[Track]) -> None:
        self._tracks, self._record, self._table, self._places, self._extra = tracks, record, table, places, extra

    def uncounted(self) -> list[Track]:
        """Return those that a safety has beaten, or may have, and that have gone before their attack counted."""
        lines = self._record.lines
        told = {line.serial for line in lines}
        counted = {spot for line in lines for spot in spots_of(line, self._places)}
        return [
            track
            for track in self._tracks.gone
            if track.face.family is Family.HAZARD
            and track.laid_since(self._record.hand_seq)
            and track.serial not in told
            and (track.zone, track.face) not in counted
            and self._is_beaten(track)
        ]

    def _is_beaten(self, hazard: Track) -> bool:
        gone_s = self._tracks.t_s - hazard.seen_s
        stickers = {track.card for track in self._tracks.there if track.zone == DISCARD_ZONE}
        if gone_s > TURN_S and (hazard.card is None or hazard.card not in stickers):
            return False
        zone = _safeties_of(hazard)
        soon = zone in self._tracks.hidden_since_s and gone_s < PUT_RIGHT_S
        safeties = (track.face for track in (*self._extra, *self._tracks.coming) if track.zone == zone)
        return soon or SAFETY_OF[hazard.face] in safeties

    @staticmethod
    def is_carried(old: Track, new: Track) -> bool:
        """True if a card on the discard pile, told by its face, may be the hazard that has just left its place."""
        return new.is_laid_off_hazard and new.face is old.face and 0 <= new.since_s - old.seen_s <= TURN_S

    def explains(self, old: Track, new: Track) -> bool:
        """True if a card that lies elsewhere now is a hazard that was beaten, or whose safety may come into sight."""
        if not new.is_laid_off_hazard:
            return False
        zone = _safeties_of(old)
        has_remedy = new.face in self._places.cards(self._table, old.zone)[:-1]
        has_safety = SAFETY_OF[new.face] in self._places.cards(self._table, zone)
        is_coming = zone in self._tracks.hidden_since_s or any(track.zone == zone for track in self._tracks.coming)
        return has_remedy or has_safety or is_coming or self._tracks.t_s - new.since_s < PUT_RIGHT_S


def _safeties_of(hazard: Track) -> str:
    """The zone of the safeties of the side that it attacked."""
    return f"{mat_of(hazard.zone)}/safety"

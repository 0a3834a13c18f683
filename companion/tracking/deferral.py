"""When it is too early to say what a card means: another may come, be read, or be entered first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from companion.match.questions import Kind
from companion.match.zone_plays import Places
from companion.rules.cards import Card, Family
from companion.tabletop.mat_layout import DISCARD_ZONE
from companion.tracking.acts import Act, candidates, known_face
from companion.tracking.hand_record import Record, takeable
from companion.tracking.track import MOMENT_S, PUT_RIGHT_S, TURN_S, State, Track
from companion.tracking.tracker import Tracks


@dataclass(frozen=True, slots=True)
class Deferral:
    """The reasons for which a question is put off."""

    tracks: Tracks
    record: Record
    places: Places

    def is_too_early(self, act: Act, before: Sequence[Act]) -> bool:
        """True if it is too early to say what a card means."""
        return not act.is_stacked and (
            self._may_be_doubled(act)
            or self._may_have_moved(act.track)
            or self._may_have_taken(act)
            or (act.turn_matters and self._may_follow_another(act, before))
        )

    def _may_be_doubled(self, act: Act) -> bool:
        """True if an accelerator may be laid with it yet."""
        is_distance = act.track.face.family is Family.DISTANCE
        return is_distance and Card.ACCELERATOR in act.table.edition.deck and self._lies_s(act.track) < MOMENT_S

    def _may_have_moved(self, track: Track) -> bool:
        """True if a card told by its face may be one that has just left its place, or whose place is out of sight."""
        if track.card is not None or self._lies_s(track) >= PUT_RIGHT_S:
            return False
        alike = (t for t in self.tracks.there if t.face is track.face and t.zone != track.zone)
        return any(not t.is_in_sight and (track.is_laid_off_hazard or t.absent_since_s is not None) for t in alike)

    def _may_have_taken(self, act: Act) -> bool:
        """True if the top of the discard pile is missing, and in a moment will have been taken before this."""
        top = takeable(act.table)
        tops = (t for t in self.tracks.there if t.zone == DISCARD_ZONE and t.face is top)
        return any(t.absent_since_s is not None and t.absent_since_s <= act.track.since_s for t in tops)

    def _may_follow_another(self, act: Act, before: Sequence[Act]) -> bool:
        """True if a play before it may not have been entered, or its card not be in sight, or be read, yet."""
        if any(map(self.awaits_entry, before)):
            return True
        if self._lies_s(act.track) >= TURN_S:
            return False
        others = [t for t in self.tracks.cards if t is not act.track]
        return self._may_hide_another(act) or any(
            self._is_coming(t, act.track) or self._is_being_read(t) for t in others
        )

    def _may_hide_another(self, act: Act) -> bool:
        """True if an arm has been over a zone where the player to move may have laid a card since before this one."""
        reach = self.tracks.zones_under_arms & (self.places.within_reach(act.table) - {act.track.zone})
        return any(self.tracks.hidden_since_s[zone] <= act.track.since_s for zone in reach)

    @staticmethod
    def _is_coming(other: Track, track: Track) -> bool:
        """True if another card has been seen, too seldom to count, that may have been laid before this one."""
        return other.state is State.SEEN and other.is_in_sight and other.earliest_s <= track.since_s

    def _is_being_read(self, track: Track) -> bool:
        """True if a card was laid a moment ago of which it is still to be told which it is."""
        if not track.is_there or track.face is not Card.UNKNOWN or not track.is_in_sight:
            return False
        told = any(line.serial == track.serial for line in self.record.lines) or self.record.refusal(track) is not None
        is_open = not told and self._lies_s(track) < TURN_S and known_face(track, self.tracks) is None
        return is_open and bool(candidates(track, self.tracks))

    def awaits_entry(self, act: Act) -> bool:
        """True if people are asked to enter what was played with a card, and have not answered."""
        face = known_face(act.track, self.tracks)
        asks = face is not None and self.places.question(face, act.track.zone, act.table) is not None
        return asks and self.record.answer(act.track, Kind.DIFFERS) is None

    def _lies_s(self, track: Track) -> float:
        return self.tracks.t_s - track.since_s

"""When the cards of a hand have been gathered in, all or nearly all of them, so that the next can begin."""

from __future__ import annotations

from collections.abc import Sequence

from companion.match.zone_plays import DISCARD_ZONE
from companion.tracking.table_memory import GONE_S, Memory, is_out_of_sight
from companion.tracking.track import Track
from companion.vision.view import View

LEFT_LYING = 2
"""So many cards may be forgotten on the table when it is cleared."""

LEFT_LYING_S = 4.0
ENOUGH_GONE = 3
NEW_CARD_S = 5.0
"""A card that was out of sight for so long has been dealt anew."""


class Gathering:
    """Watches the cards of one hand leave the table."""

    def __init__(self) -> None:
        self._bare_since_s: float | None = None
        self._few_since_s: float | None = None
        self._shown: frozenset[str] | None = None
        """The cards in sight when the hand had ended; those beneath come to light while they are gathered."""

    def bare_for_s(self, view: View, mats: Sequence[str]) -> float:
        """How long every mat has been seen with no card on it and nothing over it."""
        seen = {mat.id for mat in view.mats}
        if view.sightings or view.unknown_zones or not seen >= set(mats):
            self._bare_since_s = None
        elif self._bare_since_s is None:
            self._bare_since_s = view.t_s
        return 0.0 if self._bare_since_s is None else view.t_s - self._bare_since_s

    def pause(self) -> None:
        """Nothing can be seen for a while: what was counted does not count on."""
        self._bare_since_s = self._few_since_s = None

    def left_lying(self, view: View, memory: Memory) -> list[Track] | None:
        """The cards that were forgotten when the others were gathered in; None while too many still lie there.

        Either few are left for a while, or only those of one side are and a card of the next hand has been laid
        elsewhere.
        """
        if self._shown is None:
            self._shown = frozenset(t.card for t in memory if t.last_seen is not None)
        laid = [t for t in memory if t.place is not None]
        left = [t for t in laid if not _is_gone(t, view) and not self._is_dealt_anew(t)]
        enough = len(laid) - len(left) >= ENOUGH_GONE
        if not enough or len(left) > LEFT_LYING:
            self._few_since_s = None
        elif self._few_since_s is None:
            self._few_since_s = view.t_s
        few = self._few_since_s is not None and view.t_s - self._few_since_s >= LEFT_LYING_S
        return left if few or (enough and self._has_begun(left, view, memory)) else None

    def _has_begun(self, left: Sequence[Track], view: View, memory: Memory) -> bool:
        """Whether a card of the next hand lies on a mat that was cleared, before a draw pile, and one side is late."""
        late = {t.place.mat for t in left if t.place is not None}
        if len(late) > 1 or "table" in late or view.draw_pile_empty is not False:
            return False
        fresh = (t.steady() for t in memory if t.place is None or self._is_dealt_anew(t))
        return any(place.mat not in late for place in fresh if place is not None and place.zone != DISCARD_ZONE)

    def _is_dealt_anew(self, track: Track) -> bool:
        """Whether a card is seen again that had lain in sight when the hand ended, after a good while."""
        return track.steady() is not None and track.away_s >= NEW_CARD_S and track.card in (self._shown or ())


def _is_gone(track: Track, view: View) -> bool:
    """Whether it has not been seen for a while in its zone, which is in sight; what was covered goes unnoticed."""
    unseen = track.unseen_since_s
    return unseen is not None and not is_out_of_sight(track, view) and view.t_s - unseen >= GONE_S

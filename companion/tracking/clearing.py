"""Which cards belong to a hand: when those of the last are gathered in, and what was left over from before."""

from __future__ import annotations

from dataclasses import replace

from companion.tabletop.mat_layout import mat_of
from companion.tracking.hand_record import Record
from companion.tracking.piles import MANY
from companion.tracking.track import MOMENT_S, PUT_RIGHT_S, State, Track
from companion.tracking.tracker import Tracks


def is_cleared(tracks: Tracks, record: Record) -> bool:
    """True if the hand is over and its cards are gone, but for a few that were left lying or are cleared late."""
    if record.table is None or not record.table.is_over:
        return False
    ended = record.lines[-1].seq if record.lines else record.hand_seq
    mine = [t for t in tracks.cards if t.laid_seq is not None and record.hand_seq <= t.laid_seq < ended]
    there = [t for t in mine if t.is_there]
    gone = [t for t in mine if t.state is State.GONE and t.gone_seq >= ended]
    if len(gone) < MANY and (there or not mine):
        return False
    if tracks.table_bare_since_s is not None and tracks.t_s - tracks.table_bare_since_s >= MOMENT_S:
        return True
    since_s = max((t.absent_since_s or t.seen_s for t in gone), default=tracks.t_s)
    few = len(there) < MANY and tracks.t_s - since_s >= PUT_RIGHT_S
    return few or _has_begun(tracks, there, ended)


def _has_begun(tracks: Tracks, left: list[Track], ended: int) -> bool:
    """True if a card of the next hand lies on a mat that was cleared, before a draw pile, and one side is late."""
    late = {mat_of(t.zone) for t in left}
    if len(late) != 1 or "table" in late or tracks.draw_pile_empty is not False:
        return False
    return any(mat_of(t.zone) not in {*late, "table"} for t in _fresh(tracks, ended))


def dealt(tracks: Tracks, ended: int) -> Tracks:
    """Return the tracks as the next hand finds them: what was laid since the last one ended belongs to it."""
    fresh = {t.serial for t in _fresh(tracks, ended)}
    cards = (replace(t, state=State.SEEN, laid_seq=None) if t.serial in fresh else t for t in tracks.cards)
    return replace(tracks, cards=tuple(cards))


def left_over(tracks: Tracks) -> Tracks:
    """Return the tracks of a hand that began before the first look: what lay there then lay there before the hand."""
    first_s = tracks.begun_s + MOMENT_S
    cards = (
        replace(t, laid_seq=tracks.hand_seq - 1) if t.laid_seq is not None and t.earliest_s <= first_s else t
        for t in tracks.cards
    )
    return replace(tracks, cards=tuple(cards))


def _fresh(tracks: Tracks, ended: int) -> list[Track]:
    """The cards that were laid after the event that ended the hand."""
    return [t for t in tracks.there if t.laid_seq is not None and t.laid_seq >= ended]

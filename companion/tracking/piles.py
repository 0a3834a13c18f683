"""Questions about no single card: a pile that is used up, and the end of a hand whose cards are gathered in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from companion.match.questions import Kind, Question, question_of_no_card_id
from companion.rules.play import Play, Verb
from companion.rules.referee import objections
from companion.rules.table import Table
from companion.tabletop.mat_layout import DRAW_ZONE
from companion.tracking.balance import discards_are_gone
from companion.tracking.hand_record import Line, Record
from companion.tracking.track import MOMENT_S, PUT_RIGHT_S, UNCLEAR_CONFIDENCE
from companion.tracking.tracker import Tracks

MANY = 3
"""Number of cards that mean more together than each alone: gathered in, of another deck, drawn unseen."""


def questions_of_the_piles(tracks: Tracks, record: Record, table: Table) -> Iterator[Question]:
    """Yield whether the draw pile is used up, and whether the hand is over; `table` is how the record leaves it."""
    if _is_pile_used_up(tracks, record, table):
        number = sum(line.play.verb is Verb.EXHAUSTED for line in record.lines)
        ident = question_of_no_card_id(record.match, record.hand_seq, "pile", number)
        yield from _asked(ident, Play(Verb.EXHAUSTED), DRAW_ZONE, record, table, tracks.pile_empty_since_s)
    bare_since_s = tracks.table_bare_since_s
    laid = sum(line.serial is not None for line in record.lines)
    if bare_since_s is not None and tracks.t_s - bare_since_s >= MOMENT_S and laid >= MANY:
        ident = question_of_no_card_id(record.match, record.hand_seq, "end", tracks.last_serial)
        stuck = table.edition.empty_pile == "stuck" and table.draw_pile == 0
        yield from _asked(ident, Play(Verb.END), None, record, table, bare_since_s, sure=stuck)


def may_be_reshuffled(tracks: Tracks, table: Table, lines: Sequence[Line]) -> bool:
    """True if the draw pile is used up and all discards are gone: they become the draw pile."""
    is_used_up = table.draw_pile == 0 or (bool(lines) and tracks.pile_empty_seq >= lines[-1].seq)
    return is_used_up and discards_are_gone(tracks, table, lines)


def _is_pile_used_up(tracks: Tracks, record: Record, table: Table) -> bool:
    """True if the draw pile is seen empty although the count says otherwise, or the discards have become it."""
    if table.edition.empty_pile == "reshuffle" and table.discards:
        refilled = tracks.draw_pile_empty is False and table.draw_pile > 0
        return refilled and may_be_reshuffled(tracks, table, record.lines)
    since_s = tracks.pile_empty_since_s
    news = tracks.pile_seen_seq >= record.hand_seq and table.draw_pile >= MANY
    return news and since_s is not None and tracks.t_s - since_s >= PUT_RIGHT_S


def _asked(
    ident: str, play: Play, zone: str | None, record: Record, table: Table, t_s: float | None, *, sure: bool = False
) -> Iterator[Question]:
    if ident not in record.answers:
        confidence, why = (1.0 if sure else UNCLEAR_CONFIDENCE), objections(table, play)
        yield Question(ident, Kind.PLAY, zone, (play,), table, why, confidence=confidence, sure=sure, t_s=t_s or 0.0)

"""What is told by no single card: a pile used up, a hand's end, its cards gathered in, what was left from before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from companion.match.questions import Kind, Question, question_id
from companion.rules.play import Play, Verb
from companion.rules.referee import objections
from companion.rules.table import Table
from companion.tabletop.mat_layout import DRAW_ZONE, TABLE, mat_of
from companion.tracking.balance import may_be_reshuffled
from companion.tracking.hand_record import Record
from companion.tracking.track import MOMENT_S, PUT_RIGHT_S, UNCLEAR_CONFIDENCE, State, Track
from companion.tracking.tracker import Tracks

MANY = 3  # number of cards that mean more together than each alone: gathered in, of another deck, drawn unseen


def questions_of_the_piles(tracks: Tracks, record: Record, table: Table, *, is_gathering: bool) -> Iterator[Question]:
    """Yield whether the draw pile is used up, and whether the hand is over; `table` is how the record leaves it.

    A pile that is gathered in with the other cards is not used up.
    """
    if not is_gathering and _is_pile_used_up(tracks, record, table):
        number = sum(line.play.verb is Verb.EXHAUSTED for line in record.lines)
        ident = question_id(record.match, record.hand_seq, "pile", f"n{number}", Kind.PLAY)
        yield from _asked(ident, Play(Verb.EXHAUSTED), DRAW_ZONE, record, table)
    laid = sum(line.serial is not None for line in record.lines)
    if tracks.bare_s >= MOMENT_S and laid >= MANY:
        ident = question_id(record.match, record.hand_seq, "end", f"n{tracks.last_serial}", Kind.PLAY)
        stuck = table.edition.empty_pile == "stuck" and table.draw_pile == 0
        yield from _asked(ident, Play(Verb.END), None, record, table, sure=stuck)


def _is_pile_used_up(tracks: Tracks, record: Record, table: Table) -> bool:
    """True if the draw pile is seen empty although the count says otherwise, or the discards have become it."""
    if table.edition.reshuffles and table.discards:
        refilled = False in tracks.pile_since_s and table.draw_pile > 0
        return refilled and may_be_reshuffled(tracks, record, table)
    since_s = tracks.pile_since_s.get(True)
    news = tracks.pile_seqs.get(False, -1) >= record.hand_seq and table.draw_pile >= MANY
    return news and since_s is not None and tracks.t_s - since_s >= PUT_RIGHT_S


def _asked(
    ident: str, play: Play, zone: str | None, record: Record, table: Table, *, sure: bool = False
) -> Iterator[Question]:
    if ident not in record.answers:
        confidence, why = (1.0 if sure else UNCLEAR_CONFIDENCE), objections(table, play)
        yield Question(ident, Kind.PLAY, zone, (play,), table, why, confidence=confidence, sure=sure)


def is_cleared(tracks: Tracks, record: Record) -> bool:
    """True if the hand is over and its cards are gone, but for a few that were left lying or are cleared late."""
    if record.table is None or not record.table.is_over:
        return False
    ended = record.lines[-1].seq if record.lines else record.hand_seq
    mine = [t for t in tracks.cards if t.laid_since(record.hand_seq) and not t.laid_since(ended)]
    there = [t for t in mine if t.is_there]
    gone = [t for t in mine if t.state is State.GONE and t.gone_seq >= ended]
    if len(gone) < MANY and (there or not mine):
        return False
    if tracks.bare_s >= MOMENT_S:
        return True
    since_s = max((t.last_there_s for t in gone), default=tracks.t_s)
    few = len(there) < MANY and tracks.t_s - since_s >= PUT_RIGHT_S
    return few or _has_begun(tracks, there, ended)


def _has_begun(tracks: Tracks, left: list[Track], ended: int) -> bool:
    """True if a card of the next hand lies on a mat that was cleared, before a draw pile, and one side is late."""
    late = {mat_of(t.zone) for t in left}
    if len(late) != 1 or TABLE in late or False not in tracks.pile_since_s:
        return False
    return any(mat_of(t.zone) not in {*late, TABLE} for t in tracks.there if t.laid_since(ended))


def dealt(tracks: Tracks, ended: int) -> Tracks:
    """Return the tracks as the next hand finds them: what was laid since the last one ended belongs to it."""
    fresh = [t for t in tracks.there if t.laid_since(ended)]
    cards = (t._replace(state=State.SEEN, laid_seq=None) if t in fresh else t for t in tracks.cards)
    return replace(tracks, cards=tuple(cards))


def left_over(tracks: Tracks) -> Tracks:
    """Return the tracks of a hand that began before the first look: what lay there then lay there before the hand."""
    first_s = tracks.begun_s + MOMENT_S
    cards = (
        t._replace(laid_seq=tracks.hand_seq - 1) if t.laid_seq is not None and t.earliest_s <= first_s else t
        for t in tracks.cards
    )
    return replace(tracks, cards=tuple(cards))

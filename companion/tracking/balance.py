"""The table against the record: cards that lie there and are not in it, and cards of it that are gone."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from companion.rules.cards import Card
from companion.rules.table import Table
from companion.tabletop.mat_layout import DISCARD_ZONE, is_pile
from companion.tracking.hand_record import Record, Spot, takeable
from companion.tracking.track import MOMENT_S, State, Track
from companion.tracking.tracker import Tracks


@dataclass(frozen=True, slots=True)
class Balance:
    """What is left over once the cards that agree are set against each other."""

    extra: tuple[Track, ...] = ()  # cards that lie there and are not in the record, in the order in which they came
    missing: tuple[Track, ...] = ()  # cards that have gone and are in the record, the latest first


def balance(tracks: Tracks, record: Record, table: Table) -> Balance:
    """Return how the cards differ from the table to which the lines of the record have led."""
    return _Comparison(tracks, record, table).result()


def may_be_reshuffled(tracks: Tracks, record: Record, table: Table) -> bool:
    """True if the draw pile is used up and all discards, two or more, have gone since: they become the draw pile."""
    last = record.lines[-1].seq if record.lines else 0
    is_used_up = table.draw_pile == 0 or (bool(record.lines) and tracks.pile_seqs.get(True, -1) >= last)
    if not is_used_up or not table.edition.reshuffles or len(table.discards) < 2:
        return False
    gone = Counter(track.face for track in tracks.gone if track.zone == DISCARD_ZONE and track.gone_seq >= last)
    return not Counter(table.discards) - gone


class _Comparison:
    """The cards of a hand against the table that its lines have led to."""

    def __init__(self, tracks: Tracks, record: Record, table: Table) -> None:
        self._tracks, self._record, self._table, self._places = tracks, record, table, record.places
        self._there = [track for track in tracks.there if track.laid_since(record.hand_seq)]
        self._gone = [track for track in reversed(tracks.gone) if track.laid_since(record.hand_seq)]
        told = [line for line in record.lines if line.serial is not None]
        self._spots = {line.serial: next(iter(line.spots), None) for line in told}
        self._want = Counter(self._places.lying(table))  # the record's cards that no card on the table accounts for yet
        # The record's cards that were told by tracks that are forgotten: they lay there before the looking began.
        forgotten = self._spots.keys() - tracks.by_serial.keys()
        self._early = Counter(spot for line in told if line.serial in forgotten for spot in line.spots)

    def result(self) -> Balance:
        """Return what is left over. Each step strikes cards off what is wanted, so that their order matters."""
        self._leave_out_unseen()
        loose = [track for track in self._there if not self._strike_off_own(track)]
        top, beneath = self._uncovered() or (None, None)
        on_top = [t for t in loose if t is not beneath and self._lies_on_the_top(t)]
        kept = [*self._kept_for_gone(loose), *self._carried_off(loose)]
        # Of likes on the discard pile that one is in the record which lies no longer where it lay by the record either.
        away = [old for old in self._gone if (spot := self._spots.get(old.serial)) and not self._want[spot]]
        came = {t.serial for t in loose if any(self._tracks.may_be_carried_off(old, t) for old in away)}
        likely = sorted((t for t in loose if t not in on_top), key=lambda t: t.serial not in came)
        struck = {t.serial for t in likely if self._strike_off_one_like(t)}
        left = [t for t in loose if t.serial not in struck]
        # A pending Control lies beside the player who was asked, wherever there is room.
        asking = [t for t in left if t.face is Card.CONTROL][: len(self._table.requests)]
        extra = tuple(t for t in left if t not in asking and not self._was_let_go(t))
        missing = (*kept, *(t for t in self._gone if t not in kept and self._strike_off_missing(t)))
        return Balance(extra, (*([top] if top else []), *sorted(missing, key=lambda t: -t.serial)))

    def _strike_off(self, spot: Spot | None) -> bool:
        """Strike one card off what is wanted; False if there is none."""
        if spot is None or self._want[spot] <= 0:
            return False
        self._want[spot] -= 1
        return True

    def _strike_off_own(self, track: Track) -> bool:
        """Strike off the card of the line that this one told; False if it told none."""
        spot = self._spots.get(track.serial)
        if spot is not None and not self._strike_off(spot):
            # A beaten hazard may lie on in its place, or be on the discard pile by now.
            self._strike_off((DISCARD_ZONE, spot[1]))
        return spot is not None

    def _strike_off_one_like(self, track: Track) -> bool:
        """Strike off a card like this one, which may be it; False if there is none, or it lay there before."""
        spot = (track.zone, track.face)
        if track.earliest_s <= self._tracks.begun_s + MOMENT_S:
            self._early[spot] -= 1
        elif self._want[spot] <= self._early[spot]:
            return False
        return self._strike_off(spot)

    def _leave_out_unseen(self) -> None:
        """Want no card that nobody will see."""
        if may_be_reshuffled(self._tracks, self._record, self._table):
            # They are the draw pile now: the record shuffles them with the next card that is drawn.
            self._want -= Counter((DISCARD_ZONE, card) for card in self._table.discards)
        serials = set()
        for line in self._record.lines:
            # A card that lies exactly on its like has no track but that one's, which told a line before.
            if line.is_unseen or line.serial in serials:
                for spot in line.spots:
                    self._strike_off(spot)
            if line.serial is not None:
                serials.add(line.serial)

    def _lies_on_the_top(self, track: Track) -> bool:
        """True if it covers what the record has on top of a pile: then it is none of those beneath."""
        if not is_pile(track.zone) or track.is_laid_off_hazard:
            # Cards that lie side by side cover nothing, and a beaten hazard is carried to the discard pile at any time.
            return False
        recorded = self._places.cards(self._table, track.zone)
        top = recorded[-1] if recorded else None
        before = [t for t in self._there if t.face is top and t.zone == track.zone and t.serial < track.serial]
        return 0 < recorded.count(top) <= len(before) and before[-1].state is State.COVERED

    def _uncovered(self) -> tuple[Track, Track] | None:
        """The top of the discard pile, which may have been taken, and the one below, in sight for the first time."""
        there = [track for track in self._there if track.zone == DISCARD_ZONE]
        faces = [track.face for track in there]
        beneath, top = self._table.discards[-2:] if len(self._table.discards) > 1 else (None, None)
        if beneath is top or beneath in faces[:-1] or faces[-2:] != [top, beneath] or takeable(self._table) is None:
            return None
        return (there[-2], there[-1]) if there[-2].state is State.COVERED else None

    def _was_let_go(self, track: Track) -> bool:
        """True if the record has had this card there and let it go since it was laid: it may lie on for a while."""
        since = track.laid_seq or 0
        tables = [*(line.before for line in self._record.lines if line.seq > since), self._table]
        counts = [self._places.cards(each, track.zone).count(track.face) for each in tables]
        return any(later < earlier for earlier, later in itertools.pairwise(counts))

    def _kept_for_gone(self, loose: Sequence[Track]) -> Iterator[Track]:
        """Strike off the cards that are gone and that no other sticker of the same face stands in for."""
        lying = [(t.card, t.zone, t.face) for t in loose]
        for track in reversed(self._gone):
            spot = self._spots.get(track.serial)
            if track.card is None or spot is None or (track.card, *spot) in lying or self._was_let_go(track):
                continue
            if self._strike_off(spot):
                # It may have been put back meanwhile, and be gone once more.
                yield next(t for t in self._gone if (t.card, t.zone) == (track.card, track.zone))

    def _carried_off(self, loose: Sequence[Track]) -> Iterator[Track]:
        """Strike off what is on the discard pile by now, so that no card laid where it lay is taken for it.

        A beaten hazard is carried there, alone or with its remedy; or that as it was played, with all that lay beneath.
        """
        wanted = self._want.copy()
        for new in loose:
            wanted[new.zone, new.face] -= 1
            if wanted[new.zone, new.face] >= 0:
                continue  # the record has it there
            told = (old for old in self._gone if old.serial in self._spots)
            gone = (old for old in told if self._tracks.may_be_carried_off(old, new))
            yield from itertools.islice((old for old in gone if self._strike_off(self._spots[old.serial])), 1)
        for remedy in self._there:
            zone, _ = self._spots.get(remedy.serial) or (remedy.zone, remedy.face)
            if zone != remedy.zone == DISCARD_ZONE:
                beneath = (old for old in self._gone if old.zone == zone and old.serial < remedy.serial)
                yield from (old for old in beneath if self._strike_off((zone, old.face)))

    def _strike_off_missing(self, track: Track) -> bool:
        """Strike off a card that has gone while the record had it, and has it still; False if it is none of those."""
        if track.serial in self._spots:
            return self._strike_off(self._spots[track.serial])
        then = next((line.before for line in self._record.lines if line.seq > track.gone_seq), self._table)
        return track.face in self._places.cards(then, track.zone) and self._strike_off_one_like(track)

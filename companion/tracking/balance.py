"""The table against the record: cards that lie there and are not in it, and cards of it that are gone."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from companion.match.zone_plays import Places
from companion.rules.table import Table
from companion.tabletop.mat_layout import DISCARD_ZONE, is_pile
from companion.tracking.hand_record import Line, Spot, spots_of, takeable
from companion.tracking.track import MOMENT_S, State, Track
from companion.tracking.tracker import Tracks


@dataclass(frozen=True, slots=True)
class Balance:
    """What is left over once the cards that agree are set against each other."""

    extra: tuple[Track, ...] = ()  # cards that lie there and are not in the record, in the order in which they came
    missing: tuple[Track, ...] = ()  # cards that have gone and are in the record, the latest first


def balance(tracks: Tracks, hand_seq: int, table: Table, lines: Sequence[Line], places: Places) -> Balance:
    """Return how the cards differ from a table to which these lines have led."""
    return _Comparison(tracks, hand_seq, table, lines, places).result()


def discards_are_gone(tracks: Tracks, table: Table, lines: Sequence[Line]) -> bool:
    """True if all discards, two or more, have gone since the last play."""
    last = lines[-1].seq if lines else 0
    gone = Counter(track.face for track in tracks.gone if track.zone == DISCARD_ZONE and track.gone_seq >= last)
    shuffles = table.edition.empty_pile == "reshuffle"
    return shuffles and len(table.discards) > 1 and not Counter(table.discards) - gone


class _Comparison:
    """The cards of a hand against the table that its lines have led to."""

    def __init__(self, tracks: Tracks, hand_seq: int, table: Table, lines: Sequence[Line], places: Places) -> None:
        self._tracks, self._table, self._lines, self._places = tracks, table, lines, places
        self._mine = [track for track in tracks.cards if track.laid_since(hand_seq)]
        self._line_of = {line.serial: line for line in lines if line.serial is not None}
        self._want = Counter(places.lying(table))  # the record's cards that no card on the table accounts for yet

    def result(self) -> Balance:
        """Return what is left over. Each step strikes cards off what is wanted, so that their order matters."""
        self._leave_out_unseen()
        loose = [t for t in self._mine if t.is_there and not self._strike_off_own_line(t)]
        top, beneath = self._uncovered() or (None, None)
        on_top = [t for t in loose if t is not beneath and self._lies_on_the_top(t)]
        kept = self._kept_for_gone(loose)
        early = self._laid_before_the_looking()
        left = [t for t in loose if t in on_top or not self._strike_off_one_like(t, early)]
        extra = tuple(t for t in left if not self._was_let_go(t))
        missing = (*kept, *self._missing([t for t in self._mine if t not in kept], early))
        return Balance(extra, (*([top] if top else []), *sorted(missing, key=lambda t: -t.serial)))

    def _strike_off(self, spot: Spot) -> bool:
        """Strike one card off what is wanted; False if there is none."""
        if self._want[spot] <= 0:
            return False
        self._want[spot] -= 1
        return True

    def _strike_off_one_like(self, track: Track, early: Counter[Spot]) -> bool:
        """Strike off a card like this one, which may be it; False if there is none.

        `early` counts those in the record that lay there before the looking began: a later card is none of them.
        """
        spot = (track.zone, track.face)
        if self._lay_early(track):
            early[spot] -= 1
        elif self._want[spot] <= early[spot]:
            return False
        return self._strike_off(spot)

    def _lay_early(self, track: Track) -> bool:
        """True if it lay there before the looking began."""
        return track.earliest_s <= self._tracks.begun_s + MOMENT_S

    def _leave_out_unseen(self) -> None:
        """Want no card that nobody will see."""
        if self._table.draw_pile == 0 and discards_are_gone(self._tracks, self._table, self._lines):
            # They are the draw pile now: the record shuffles them with the next card that is drawn.
            self._want -= Counter((DISCARD_ZONE, card) for card in self._table.discards)
        serials: set[int] = set()
        for line in self._lines:
            # A card that lies exactly on its like has no track but that one's, which told a line before.
            if line.is_unseen or line.serial in serials:
                for spot in spots_of(line, self._places):
                    self._strike_off(spot)
            serials |= set() if line.serial is None else {line.serial}

    def _spot_of_line(self, track: Track) -> Spot | None:
        """Where the card lies by the line that it told, if it told one that has a card."""
        line = self._line_of.get(track.serial)
        return None if line is None else next(spots_of(line, self._places), None)

    def _strike_off_own_line(self, track: Track) -> bool:
        """Strike off the card of the line that this one told; False if it told none."""
        spot = self._spot_of_line(track)
        if spot is None:
            return False
        # A beaten hazard may lie on in its place, or be on the discard pile by now.
        if not self._strike_off(spot):
            self._strike_off((DISCARD_ZONE, spot[1]))
        return True

    def _laid_before_the_looking(self) -> Counter[Spot]:
        """Return how many cards of each spot were told by tracks that are forgotten: they lay there at the start."""
        known = {track.serial for track in self._tracks.cards}
        lines = (line for line in self._lines if line.serial is not None and line.serial not in known)
        return Counter(spot for line in lines for spot in spots_of(line, self._places))

    def _lies_on_the_top(self, track: Track) -> bool:
        """True if it covers what the record has on top of a pile: then it is none of those beneath."""
        if not is_pile(track.zone) or track.is_laid_off_hazard:
            # Cards that lie side by side cover nothing, and a beaten hazard is carried to the discard pile at any time.
            return False
        recorded = self._places.cards(self._table, track.zone)
        top = recorded[-1] if recorded else None
        pile = [t for t in self._mine if t.is_there and t.zone == track.zone]
        before = [t for t in pile if t.face is top and t.serial < track.serial]
        return 0 < recorded.count(top) <= len(before) and before[-1].state is State.COVERED

    def _uncovered(self) -> tuple[Track, Track] | None:
        """The top of the discard pile, which may have been taken, and the one below, in sight for the first time."""
        there = [track for track in self._mine if track.is_there and track.zone == DISCARD_ZONE]
        if len(self._table.discards) < 2 or takeable(self._table) is None:
            return None
        faces = [track.face for track in there]
        beneath, top = self._table.discards[-2:]
        if beneath is top or beneath in faces[:-1] or faces[-2:] != [top, beneath]:
            return None
        return (there[-2], there[-1]) if there[-2].state is State.COVERED else None

    def _was_let_go(self, track: Track) -> bool:
        """True if the record has had this card there and let it go since it was laid: it may lie on for a while."""
        tables = [*(line.before for line in self._lines if not track.laid_since(line.seq)), self._table]
        counts = [self._places.cards(each, track.zone).count(track.face) for each in tables]
        return any(later < earlier for earlier, later in itertools.pairwise(counts))

    def _kept_for_gone(self, loose: Sequence[Track]) -> list[Track]:
        """Strike off the cards that are gone and that no other sticker of the same face stands in for."""
        kept = []
        for track in self._mine:
            spot = self._spot_of_line(track)
            if track.state is not State.GONE or track.card is None or spot is None:
                continue
            is_back = any(t.card == track.card and (t.zone, t.face) == spot for t in loose)
            if not is_back and not self._was_let_go(track) and self._strike_off(spot):
                # It may have been put back meanwhile, and be gone once more.
                alike = (
                    t for t in self._mine if t.state is State.GONE and (t.card, t.zone) == (track.card, track.zone)
                )
                kept.append(max(alike, key=lambda t: t.serial))
        return kept

    def _missing(self, tracks: Iterable[Track], early: Counter[Spot]) -> Iterator[Track]:
        """Strike off the cards that have gone while the record had them, and has them still.

        One that came later, and told nothing, is none of those that are in `early` and may lie covered.
        """
        for track in sorted((t for t in tracks if t.state is State.GONE), key=lambda t: -t.serial):
            has_told = track.serial in self._line_of
            spot = self._spot_of_line(track) if has_told else (track.zone, track.face)
            then = next((line.before for line in self._lines if line.seq > track.gone_seq), self._table)
            was_there = has_told or track.face in self._places.cards(then, track.zone)
            if spot is None or not was_there:
                continue
            is_other = not has_told and not self._lay_early(track) and self._want[spot] <= early[spot]
            if not is_other and self._strike_off(spot):
                yield track

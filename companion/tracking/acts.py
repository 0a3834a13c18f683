"""What cards that the record has not mean: which each is by all its readings, and the cheapest explanation of them all,
in which order they were laid, and as what.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from companion.match.questions import Kind
from companion.match.zone_plays import Places
from companion.rules.cards import Card, Family
from companion.rules.play import Play
from companion.rules.reasons import Code, Reason
from companion.rules.referee import apply, objections
from companion.rules.table import Table
from companion.tabletop.card_ids import face_of, is_any_copy
from companion.tabletop.mat_layout import DISCARD_ZONE
from companion.tracking.hand_record import Record
from companion.tracking.track import LAYING_S, LOOKS, MOMENT_S, Track
from companion.tracking.tracker import Tracks

UNCLEAR, STACKED, OUT_OF_TURN, ILLEGAL, MEANINGLESS = 0.3, 1.0, 2.0, 3.0, 4.0
"""Cost of an act: how unlikely it is that somebody did it. A legal one that means nothing else costs nothing."""

SWAPPED = 0.1  # cost of each pair of cards that was laid in another order than it came into sight
MOST_TOGETHER = 4  # number of cards that came at about the same time of which every order is tried
CLEAR_LEAD, LEAST_LEAD = 0.15, 0.5
"""Margin by which every reading has to put a card first, or else legal plays come first, and the minimum confidence in
such a card."""


@dataclass(frozen=True, slots=True)
class Act:
    """A card that was laid, and what that means."""

    track: Track
    play: Play | None  # None where no play is told by it
    table: Table  # the table that it is judged on
    reasons: tuple[Reason, ...] = ()  # why it is illegal there
    clear: bool = True  # True if no other play is as likely
    is_stacked: bool = False  # True if it is a card that may lie exactly on another like it, which is the track

    @property
    def is_legal(self) -> bool:
        return self.play is not None and not self.reasons

    @property
    def cost(self) -> float:
        """How unlikely it is."""
        if self.play is None:
            return MEANINGLESS
        if self.reasons:
            others = any(reason.code is not Code.NOT_YOUR_TURN for reason in self.reasons)
            return OUT_OF_TURN * self.is_out_of_turn + ILLEGAL * others
        return STACKED if self.is_stacked else 0.0 if self.clear else UNCLEAR

    @property
    def is_out_of_turn(self) -> bool:
        """True if it was another player's turn."""
        return any(reason.code is Code.NOT_YOUR_TURN for reason in self.reasons)

    @property
    def turn_matters(self) -> bool:
        """True if it depends on whose turn it is what the card means, or whether it may be laid."""
        hazard = self.track.face.family is Family.HAZARD
        return self.track.zone == DISCARD_ZONE or hazard or self.is_out_of_turn

    @property
    def after(self) -> Table:
        """The table after it: an illegal play waits until people have decided."""
        return apply(self.table, self.play) if self.play is not None and not self.reasons else self.table


Meaning = Callable[[Track, Table], Act]  # what a card means on a table


def explained(extra: Iterable[Track], table: Table, meaning: Meaning) -> tuple[Act, ...]:
    """Return the cards in the order that explains them best, each judged on the table after those before it."""
    waiting = sorted(extra, key=lambda t: (max(t.earliest_s, t.since_s - LAYING_S), t.since_s, t.serial))
    acts: list[Act] = []
    while waiting:
        first = waiting[:MOST_TOGETHER]
        # A card that lay there in sight before another can have been laid came before it.
        together = [t for n, t in enumerate(first) if all(t.earliest_s <= other.since_s for other in first[:n])]
        ways = (_in_order(order, table, meaning) for order in itertools.permutations(together) if _may_be(order))
        best = min(ways, key=lambda way: cost_of(way) + SWAPPED * _swaps(way, together))
        acts.append(best[0])
        waiting.remove(best[0].track)
        table = best[0].after
    return tuple(acts)


def cost_of(acts: Iterable[Act]) -> float:
    """Return how unlikely it is that all of this was done."""
    return sum(act.cost for act in acts)


def _in_order(order: Iterable[Track], table: Table, meaning: Meaning) -> tuple[Act, ...]:
    acts = []
    for track in order:
        acts.append(meaning(track, table))
        table = acts[-1].after
    return tuple(acts)


def _may_be(order: Sequence[Track]) -> bool:
    return all(one.earliest_s <= other.since_s for one, other in itertools.combinations(order, 2))


def _swaps(acts: Sequence[Act], order: Sequence[Track]) -> int:
    places = [order.index(act.track) for act in acts]
    return sum(one > other for one, other in itertools.combinations(places, 2))


# --- Which card it is -----------------------------------------------------------------------------------------


def is_ripe(track: Track, t_s: float) -> bool:
    """True if it has been read often enough to decide."""
    return len(track.readings) >= LOOKS and t_s - track.since_s >= MOMENT_S


def known_face(track: Track, tracks: Tracks) -> Card | None:
    """Return the face of a card, told by one reading or by all of them together; None where people have to say."""
    if track.face is not Card.UNKNOWN:
        return track.face
    firsts = {_clear_first(read) for read in track.readings}
    first = firsts.pop() if len(firsts) == 1 and is_ripe(track, tracks.t_s) else None
    # Of a face alone there may be another copy elsewhere: people had better say.
    if first is None or is_any_copy(first) or _lies_elsewhere(first, track, tracks):
        return None
    return face_of(first)


def candidates(track: Track, tracks: Tracks) -> list[tuple[str, float]]:
    """Return the physical cards that it may be, likeliest first, with the mean confidence of its readings."""
    cards = {card for read in track.readings for card in read}
    mean = {card: sum(read.get(card, 0.0) for read in track.readings) / len(track.readings) for card in cards}
    here = {card: share for card, share in mean.items() if not _lies_elsewhere(card, track, tracks)}
    return sorted(here.items(), key=lambda item: (-item[1], item[0]))


def plays_of(track: Track, tracks: Tracks, table: Table, places: Places) -> list[tuple[Play, float]]:
    """Return what it may mean, no two alike: likeliest first, of plays about as likely the legal ones."""
    found: dict[Play, float] = {}
    for card, confidence in candidates(track, tracks):
        guess = places.play_at(face_of(card), track.zone, track.place.sideways, table)
        if guess is not None:
            found.setdefault(guess.play, confidence)
    best = max(found.values(), default=0.0)
    return sorted(
        found.items(),
        key=lambda item: (item[1] < best - CLEAR_LEAD, bool(objections(table, item[0])), -item[1]),
    )


def _lies_elsewhere(card: str, track: Track, tracks: Tracks) -> bool:
    return any(t.card == card and t is not track for t in tracks.there)


def _clear_first(read: Mapping[str, float]) -> str | None:
    """The card that a reading puts first by far."""
    first = max(read, key=lambda card: read[card], default="")
    second = max((confidence for card, confidence in read.items() if card != first), default=0.0)
    return first if read.get(first, 0.0) >= max(LEAST_LEAD, second + CLEAR_LEAD) else None


def doubled(laid: Sequence[Track], record: Record) -> tuple[dict[int, int], set[int]]:
    """Return the accelerator that came with each distance card, one with it alone, all by their serials.

    And the distance cards by which accelerators lie, none of them clearly its own. `laid` are the cards that the record
    does not have; of those people have said nothing yet.
    """
    loose = [t for t in laid if t.face is Card.ACCELERATOR and record.answer(t, Kind.DIFFERS) is None]
    beside = {
        distance.serial: tuple(
            t.serial for t in loose if t.zone == distance.zone and abs(t.since_s - distance.since_s) <= LAYING_S
        )
        for distance in laid
        if distance.face.family is Family.DISTANCE
    }
    shared = Counter(beside.values())
    doubling = {serial: near[0] for serial, near in beside.items() if len(near) == 1 and shared[near] == 1}
    return doubling, {serial for serial, near in beside.items() if near and serial not in doubling}

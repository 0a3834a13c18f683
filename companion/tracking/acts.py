"""What cards that the record has not mean: which each is by all its readings, and the cheapest explanation of them all,
in which order they were laid, and as what.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from companion.common.text import Said
from companion.match.questions import Kind
from companion.match.zone_plays import Places
from companion.rules.cards import Card, Family
from companion.rules.play import Play
from companion.rules.reasons import Code, Reason
from companion.rules.referee import apply, objections
from companion.rules.table import Table
from companion.tabletop.card_ids import face_of, is_any_copy
from companion.tabletop.mat_layout import DISCARD_ZONE
from companion.tracking.hand_record import Handling, Record
from companion.tracking.identity import LIKELY, ODD, POSSIBLE, UNLIKELY
from companion.tracking.track import LAYING_S, LOOKS, MOMENT_S, Track
from companion.tracking.tracker import Tracks

MOST_TOGETHER = 4  # number of cards that came at about the same time of which every order is tried
CLEAR_LEAD, LEAST_LEAD = 0.15, 0.5
"""Margin by which all readings together have to put a card first, or else legal plays come first, and the minimum
confidence in such a card."""


@dataclass(frozen=True, slots=True)
class Act:
    """A card that was laid, and what that means."""

    track: Track
    face: Card | None  # None where people have to say which it is
    play: Play | None  # None where no play is told by it
    table: Table  # the table that it is judged on
    sentence: Said | None = None  # asks people to enter what was played with it
    reasons: tuple[Reason, ...] = ()  # why it is illegal there
    clear: bool = True  # True if no other play is as likely
    handling: Handling = Handling.LAID  # if `STACKED` the track is the card like it on which it lies

    @property
    def is_legal(self) -> bool:
        return self.play is not None and not self.reasons

    @property
    def cost(self) -> float:
        """How unlikely it is that somebody did it; what is legal and can mean nothing else costs nothing."""
        is_illegal = self.play is None or len(self.reasons) > self.is_out_of_turn
        likely = POSSIBLE * (self.handling is Handling.STACKED) or LIKELY * (not self.clear)
        return likely if self.is_legal else ODD * self.is_out_of_turn + UNLIKELY * is_illegal

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
        return apply(self.table, self.play) if self.play is not None and self.is_legal else self.table


Meaning = Callable[[Track, Table], Act]  # what a card means on a table


def explained(extra: Iterable[Track], table: Table, meaning: Meaning) -> tuple[Act, ...]:
    """Return the cards in the order that explains them best, each judged on the table after those before it."""
    waiting = sorted(extra, key=lambda t: (max(t.earliest_s, t.since_s - LAYING_S), t.since_s, t.serial))
    acts: list[Act] = []
    while waiting:
        # The first of several that cost the same is nearest to how they came into sight.
        best = min(_ways(waiting[:MOST_TOGETHER], table, meaning), key=cost_of)[0]
        acts.append(best)
        waiting.remove(best.track)
        table = best.after
    return tuple(acts)


def _ways(tracks: Sequence[Track], table: Table, meaning: Meaning) -> Iterator[list[Act]]:
    """Yield each order in which cards may have been laid."""
    for track in tracks:
        rest = [other for other in tracks if other is not track]
        # A card that lay there in sight before another can have been laid came before it.
        if all(track.earliest_s <= other.since_s for other in rest):
            act = meaning(track, table)
            yield from ([act, *way] for way in (_ways(rest, act.after, meaning) if rest else [[]]))


def cost_of(acts: Iterable[Act]) -> float:
    """Return how unlikely it is that all of this was done."""
    return sum(act.cost for act in acts)


# --- Which card it is -----------------------------------------------------------------------------------------


def is_ripe(track: Track, t_s: float) -> bool:
    """True if it has been read often enough to decide."""
    return len(track.readings) >= LOOKS and t_s - track.since_s >= MOMENT_S


def known_face(track: Track, tracks: Tracks) -> Card | None:
    """Return the face of a card, told by one reading or by all of them together; None where people have to say."""
    if track.face is not Card.UNKNOWN or not is_ripe(track, tracks.t_s):
        return track.face if track.face is not Card.UNKNOWN else None
    (first, most), (_, second), *_ = *candidates(track, tracks), ("", 0.0), ("", 0.0)
    # Of a face alone there may be another copy elsewhere: people had better say.
    is_clear = most >= max(LEAST_LEAD, second + CLEAR_LEAD) and not is_any_copy(first)
    return face_of(first) if is_clear else None


def candidates(track: Track, tracks: Tracks) -> list[tuple[str, float]]:
    """Return the physical cards that it may be, likeliest first, with the mean confidence of its readings."""
    lying = {t.card for t in tracks.there if t is not track}
    cards = {card for read in track.readings for card in read} - lying
    mean = {card: sum(read.get(card, 0.0) for read in track.readings) / len(track.readings) for card in cards}
    return sorted(mean.items(), key=lambda item: (-item[1], item[0]))


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


def doubled(laid: Sequence[Track], record: Record) -> dict[int, int | None]:
    """Return the accelerator that came with each distance card, both by their serials; None where none is clearly its.

    `laid` are the cards that the record does not have; of those people have said nothing yet.
    """
    loose = [t for t in laid if t.face is Card.ACCELERATOR and record.answer(t, Kind.DIFFERS) is None]
    beside = {
        one.serial: [t.serial for t in loose if t.zone == one.zone and abs(t.since_s - one.since_s) <= LAYING_S]
        for one in laid
        if one.face.family is Family.DISTANCE
    }
    shared = Counter(itertools.chain.from_iterable(beside.values()))
    return {serial: near[0] if shared[near[0]] == len(near) == 1 else None for serial, near in beside.items() if near}

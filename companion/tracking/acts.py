"""The cheapest explanation of cards that the record has not: in which order they were laid, and as what."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from companion.rules.cards import Family
from companion.rules.play import Play
from companion.rules.reasons import Code, Reason
from companion.rules.referee import apply
from companion.rules.table import Table
from companion.tabletop.mat_layout import DISCARD_ZONE
from companion.tracking.track import LAYING_S, Track

UNCLEAR, STACKED, OUT_OF_TURN, ILLEGAL, MEANINGLESS = 0.3, 1.0, 2.0, 3.0, 4.0
"""Cost of an act: how unlikely it is that somebody did it. A legal one that means nothing else costs nothing."""

SWAPPED = 0.1
"""Cost of each pair of cards that was laid in another order than it came into sight."""

MOST_TOGETHER = 4
"""Number of cards that came at about the same time of which every order is tried."""


@dataclass(frozen=True, slots=True)
class Act:
    """A card that was laid, and what that means."""

    track: Track
    play: Play | None
    """None where no play is told by it."""

    table: Table
    """The table that it is judged on."""

    reasons: tuple[Reason, ...] = ()
    """Why it is illegal there."""

    clear: bool = True
    """True if no other play is as likely."""

    is_stacked: bool = False
    """True if it is a card that may lie exactly on another like it, which is the track."""

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


Meaning = Callable[[Track, Table], Act]
"""What a card means on a table."""


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

"""A table put into lanes, and lanes put side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from companion.robots.deck_numbers import Deck, Ints, deck_of
from companion.robots.information_set import NO_TOTALS
from companion.robots.lanes import BY_LANE, BY_SIDE, COMPLETED, EXHAUSTED, NOTHING, ONE, OPEN, TURN, WHOLE, Lanes
from companion.rules.cards import Card
from companion.rules.table import Due, HowEnded, Shows, Side, Table

_DUE = {Due.NOTHING: NOTHING, Due.ONE: ONE, Due.TURN: TURN}
_HOW = {HowEnded.COMPLETED: COMPLETED, HowEnded.EXHAUSTED: EXHAUSTED, HowEnded.AGREED: EXHAUSTED}
_MOST_PILED = 48
"""More cards than come to lie on a battle pile."""


def lanes_of(table: Table, hands: Ints, piles: Ints, totals: Mapping[str, int] = NO_TOTALS) -> Lanes:
    """Return a table in as many lanes as worlds are dealt: hands by lane, seat and card, and draw piles in order."""
    deck, lanes = deck_of(tuple(table.deck)), len(hands)
    ending = table.ending
    if table.extension_offered_to is not None:
        over, by = COMPLETED, table.extension_offered_to
    else:
        over = _HOW[ending.how] if ending is not None else OPEN
        by = ending.side if ending is not None and ending.side is not None else -1
    once: dict[str, Any] = {name: [] for name in BY_SIDE}
    for side in table.sides:
        for name, value in _side_fields(deck, side).items():
            once[name].append(value)
        once["totals"].append(totals.get(side.name, 0))
    public = deck.counts(table.discards)
    for side in table.sides:
        public += deck.counts((*(card for pile in side.piles.values() for card in pile),))
        public += deck.counts([Card.ACCELERATOR] * len(side.doubled))
    once |= {"public": public, "discards": deck.counts(table.discards), "move": table.to_move, "due": _DUE[table.due]}
    called = -1 if table.extended_by is None else table.extended_by
    once |= {"target": table.target, "may_extend": table.may_extend, "called": called, "over": over, "by": by}
    once |= {"at": 0, "end": piles.shape[1]}
    fields = {name: np.repeat(np.asarray(value)[None], lanes, axis=0) for name, value in once.items()}
    room = max(0, sum(table.deck.values()) - piles.shape[1])
    fields |= {"hands": hands.copy(), "pile": np.pad(piles, ((0, 0), (0, room))), "origin": np.arange(lanes)}
    return Lanes(table, fields)


def _side_fields(deck: Deck, side: Side) -> dict[str, Any]:
    piled = [0, *(deck.number.get(card, -1) + 1 for card in side.battle)]
    if side.shows is not Shows.TOP:
        piled.append(deck.roll + 1 if side.shows is Shows.ROLL else 0)
    return {
        "battle": np.array(piled + [0] * (_MOST_PILED - len(piled)), np.int8),
        "depth": len(piled) - 1,
        "tops": piled[-1],
        "limit": side.limited,
        "km": side.km,
        "twos": side.distances.count(Card.KM_200),
        "moved": bool(side.distances),
        "safe": np.array([deck.cards[at] in side.safeties for at in deck.safeties]),
        "coups": len(side.coups_fourres),
        "begun": side.has_begun,
    }


def joined(all_lanes: Sequence[Lanes]) -> Lanes:
    """Return the lanes of several tables of one hand as one, numbered through."""
    first = all_lanes[0].chosen(slice(None))
    for name in (*WHOLE, *BY_SIDE, *BY_LANE):
        setattr(first, name, np.concatenate([getattr(lanes, name) for lanes in all_lanes]))
    first.origin = np.arange(len(first.move))
    return first

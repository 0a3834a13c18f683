"""The beliefs about a table: weighted hypotheses, updated look by look.

A table where people confirm plays, a table where plays count by themselves, and a film are all followed like this. They
differ only in who answers the questions.

**A hypothesis** (`hypothesis.py`) is one explanation of everything seen since the cards were dealt: what players did,
in order, and where each card lies. Its cost is the negative logarithm of its probability, so costs add up. `Judge`
gives each act its meaning by the rules. A play in turn, one out of turn and one that is illegal have different prices;
no play is impossible. A card that was put down too early counts once its turn comes, at the price of a play out of
turn.

**A look** (`looks.py`) is what a frame adds about one zone. A *spot* is a sighting that stays: the same sticker, the
same number of the eye, or the same face within a few millimeters. A card without a sticker that is picked up and put
down again is a new spot. While a zone stays as it is, each look says less than the one before, because an error of the
eye repeats: the first second counts in full, the next three a quarter, the rest nothing. A zone with an arm, a cup or
glare over any part of it never shows that a card is gone; a card that is seen there counts once it lies still.

**An action** (`actions.py`) explains how a look differs from a hypothesis. A new spot is one of these:

* a card of this zone that was moved, turned or uncovered. The price grows with the distance and the turn; within the
  measuring error it is small
* a card that was carried here from another zone, which is no new play. Clearing a beaten hazard or its remedy away to
  the discard pile costs little. Putting the last card where it belongs costs more, carrying any other card much more
* a new card, played in turn or not, legally or not, perhaps after a play that the camera missed under an arm
* an error of the eye: a card seen twice, or misread

A card that should show and does not was missed by the eye, was covered by a later card, or was picked up. Picking up an
illegal card costs little, the last play more, any other card much; a top discard may have been taken; and once cards
are gathered in, each costs little.

An example: it is Ann's turn, and a 25 is seen a little beside the place where her 25 was. Most likely it was moved, so
the app asks nothing. Then Bob plays. If the 25 was only moved, Bob is out of turn. So the likeliest explanation is now
that Ann played a second 25 on the first, and both plays are proposed in order. A doubt can stay open for several plays,
because some forty of the likeliest hypotheses are kept after each look.

**The likelihood** (`likelihood.py`) assumes that zones are independent within a look, and that the confidence of a
reading is the probability of its face. All prices (`Costs`) are in `handling.toml`; `handling.py` says what each means.

**People are evidence** (`conditioning.py`). What they entered, confirmed, changed or refused is certain: it was played.
Its card can still be missing. A line of the record that counted by itself is no evidence.

**Questions** (`asking.py`) come from the beliefs and the record. A play is proposed once it is nearly certain, or after
a moment if it is likely. If the play before it may still be hidden by an arm, the app waits for that first. If a card
of the record is not where it was, the app asks about it after a moment. `Bars`, in `handling.py`, has these
probabilities and times. Lines that counted by themselves are changed if another explanation becomes much likelier
(`revising.py`).

To add a habit of players, add an option where its kind is: what a new card is (`likelihood.py`), what a play is
(`playing.py`), or why a card is gone (`removing.py`). Add its price to `handling.toml`, measure it with `python -m
tests.bench.prices`, and write the scene in `tests/test_mishaps.py`. `python -m tests.bench.lost` shows where the true
hypothesis of a hand was lost: never generated, dropped, or less likely than another.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from companion.rules.play import Play
from companion.tabletop.mat_layout import is_pile
from companion.tracking.actions import Actions
from companion.tracking.hand_record import Record
from companion.tracking.hypothesis import Hypothesis, Judge, TableAct, TableCard
from companion.tracking.looks import SeenTable, ZoneLook
from companion.vision.view import View

SIZE = 40  # hypotheses kept
ALIKE = 3  # of those with the same acts
RECENT, RECENTLY_ALIKE = 6, 8  # of those with the same last acts: they differ in doubts long past
REACH = 12.0  # those that are this much less likely than the best, in nats, are dropped


@dataclass(frozen=True)
class Beliefs:
    """What is believed about a table."""

    judge: Judge | None = None  # None while no hand is played
    looks: SeenTable = field(default_factory=SeenTable)
    hypotheses: tuple[Hypothesis, ...] = (Hypothesis({}, ()),)  # the likeliest first
    record: Record | None = None  # what people know
    is_dealt: bool = False  # the next hand begins by itself, with the acts of these hypotheses

    @property
    def best(self) -> Hypothesis:
        return self.hypotheses[0]

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """The probability of each hypothesis."""
        least = self.best.cost
        odds = [math.exp(least - h.cost) for h in self.hypotheses]
        return tuple(each / sum(odds) for each in odds)

    @cached_property
    def shares(self) -> Mapping[Name, float]:
        """The probability of each play, by what it is called."""
        shares: dict[Name, float] = {}
        for h, weight in zip(self.hypotheses, self.weights, strict=True):
            for name in names(h.acts):
                shares[name] = shares.get(name, 0.0) + weight
        return shares


Name = tuple[Play | None, int]


def names(acts: Iterable[TableAct]) -> Iterator[Name]:
    """Yield what each act is called in every hypothesis: its play, and how often that was played before."""
    so_far: dict[Play | None, int] = {}
    for act in acts:
        count = so_far.get(act.play, 0)
        yield act.play, count
        so_far[act.play] = count + 1


def see(beliefs: Beliefs, view: View, *, after_gap: bool = False) -> Beliefs:
    """Return the beliefs after a view; `after_gap`: pictures were missing before it.

    A view that cannot be trusted changes nothing.
    """
    if view.trouble is not None:
        return beliefs
    before = beliefs.looks.broken() if after_gap else beliefs.looks
    looks, zones = before.after(view)
    if beliefs.judge is None:
        return replace(beliefs, looks=looks)
    actions, keys, hypotheses = Actions(beliefs.judge, looks), Keys(), beliefs.hypotheses
    for look in zones:
        hypotheses = _explained(hypotheses, look, actions, keys)
    return replace(beliefs, looks=looks, hypotheses=hypotheses)


def _explained(
    hypotheses: tuple[Hypothesis, ...], look: ZoneLook, actions: Actions, keys: Keys
) -> tuple[Hypothesis, ...]:
    """Return the likeliest hypotheses that explain a look at a zone."""
    found: dict[object, Hypothesis] = {}
    least = math.inf
    for h in hypotheses:
        if h.cost > least + REACH:
            continue
        for child in actions.explained(h, look, least + REACH):
            least = min(least, child.cost)
            if child.cost <= least + REACH:
                key = keys.of(child)
                if key not in found or found[key].cost > child.cost:
                    found[key] = child
    return _few(found.values())


def likeliest(hypotheses: Iterable[Hypothesis]) -> tuple[Hypothesis, ...]:
    """Return those that are kept, the likeliest first."""
    found: dict[object, Hypothesis] = {}
    keys = Keys()
    for h in sorted(hypotheses, key=lambda h: h.cost):
        found.setdefault(keys.of(h), h)
    return _few(found.values())


def _few(hypotheses: Iterable[Hypothesis]) -> tuple[Hypothesis, ...]:
    """Return those of different hypotheses that are kept, the likeliest first."""
    ranked = sorted(hypotheses, key=lambda h: h.cost)
    kept: list[Hypothesis] = []
    spare: list[Hypothesis] = []
    alike = Counter[object]()
    for h in ranked:
        if h.cost > ranked[0].cost + REACH:
            break
        acts, recent = _acts_key(h), tuple((act.manner, act.play) for act in h.acts[-RECENT:])
        alike.update((acts, recent))
        if alike[acts] <= ALIKE:
            (kept if alike[recent] <= RECENTLY_ALIKE else spare).append(h)
    return tuple(sorted((*kept[:SIZE], *spare[: max(0, SIZE - len(kept))]), key=lambda h: h.cost))


class Keys:
    """Tells which hypotheses are the same: where each face is seen, and which were never seen.

    Most hypotheses share the cards of most zones; what makes these the same is worked out once.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[tuple[TableCard, ...], int]] = {}  # by identity of the cards

    def of(self, h: Hypothesis) -> object:
        return _acts_key(h), sum(self._of_zone(zone, there) for zone, there in h.zones.items() if there)

    def _of_zone(self, zone: str, there: tuple[TableCard, ...]) -> int:
        known = self._known.get(id(there))
        if known is None:
            seen = (tuple if is_pile(zone) else frozenset)((card.face, card.spot) for card in there if card.spot)
            unseen = Counter(card.face for card in there if not card.spot)
            known = self._known[id(there)] = there, hash((zone, seen, frozenset(unseen.items())))
        return known[1]


def _acts_key(h: Hypothesis) -> object:
    return h.acts[-1].key if h.acts else 0, tuple(one.card.serial for one in h.gone), h.is_gathering

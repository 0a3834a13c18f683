"""The beliefs about a table: weighted hypotheses, brought up to date look by look.

No table runs this yet. It is built beside the followers that it will replace (`live.py`, `offline.py`) and measured on
the same views: `python -m tests.bench.hands --beliefs`.

* A **hypothesis** (`hypothesis.py`) is what players did in this hand, in order, and where each card lies now. Its cost
  is the negative logarithm of its probability. Playing an illegal card is expensive, not impossible.
* A **look** (`looks.py`) is what a frame adds about one zone. Cards are seen as spots, which stay while nothing moves.
  A hidden zone never shows that a card is gone; a card in it counts once it lies still.
* An **action** (`actions.py`) explains the difference between a look and a hypothesis: a play, a card that was moved,
  removed or carried to the discard pile, a play that the camera missed, an error of the eye.
* The prices are in `handling.py`. Evidence adds up over looks, up to a limit: later looks repeat the same errors.

After each look the likeliest hypotheses are kept. So nothing is decided early: a card may count as moved until the next
player's play shows that it was an equal card played on top. To add a habit of players, add an option to `actions.py`
and its price to `handling.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from companion.tracking.actions import Actions
from companion.tracking.hypothesis import Hypothesis, Judge, TableAct
from companion.tracking.looks import SeenTable, ZoneLook
from companion.vision.view import View

SIZE = 40  # hypotheses kept
ALIKE = 2  # of those with the same acts
REACH = 12.0  # those that are this much less likely than the best, in nats, are dropped


@dataclass(frozen=True)
class Beliefs:
    """What is believed about a table."""

    judge: Judge
    looks: SeenTable = field(default_factory=SeenTable)
    hypotheses: tuple[Hypothesis, ...] = (Hypothesis({}, ()),)  # the likeliest first

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
    def shares(self) -> Mapping[tuple[str, int], float]:
        """The probability of each play, by its text and how often that was played before."""
        shares: dict[tuple[str, int], float] = {}
        for h, weight in zip(self.hypotheses, self.weights, strict=True):
            for name in names(h.acts):
                shares[name] = shares.get(name, 0.0) + weight
        return shares


def names(acts: Iterable[TableAct]) -> Iterator[tuple[str, int]]:
    """Yield what each act is called in every hypothesis: its play, and how often that was played before."""
    so_far = Counter[str]()
    for act in acts:
        text = str(act.play)
        yield text, so_far[text]
        so_far[text] += 1


def see(beliefs: Beliefs, view: View, *, after_gap: bool = False) -> Beliefs:
    """Return the beliefs after a view; `after_gap`: pictures were missing before it.

    A view that cannot be trusted changes nothing.
    """
    if view.trouble is not None:
        return beliefs
    before = beliefs.looks.broken() if after_gap else beliefs.looks
    looks, zones = before.after(view)
    actions, hypotheses = Actions(beliefs.judge), beliefs.hypotheses
    for look in zones:
        hypotheses = _explained(hypotheses, look, actions, looks.t_s)
    return replace(beliefs, looks=looks, hypotheses=hypotheses)


def _explained(
    hypotheses: tuple[Hypothesis, ...], look: ZoneLook, actions: Actions, t_s: float
) -> tuple[Hypothesis, ...]:
    """Return the likeliest hypotheses that explain a look at a zone."""
    found: dict[object, Hypothesis] = {}
    least = math.inf
    for h in hypotheses:
        if h.cost > least + REACH:
            continue
        actions.most = least + REACH
        for child in actions.explained(h, look, t_s):
            least = min(least, child.cost)
            if child.cost <= least + REACH:
                key = _key(child)
                if key not in found or found[key].cost > child.cost:
                    found[key] = child
    kept, alike = [], Counter[object]()
    for h in sorted((h for h in found.values() if h.cost <= least + REACH), key=lambda h: h.cost):
        acts = _acts_key(h)
        alike[acts] += 1
        if alike[acts] <= ALIKE:
            kept.append(h)
    return tuple(kept[:SIZE])


def _key(h: Hypothesis) -> object:
    """Return what makes two hypotheses the same."""
    cards = frozenset((zone, tuple((c.face, c.spot) for c in there)) for zone, there in h.zones.items() if there)
    return _acts_key(h), cards, len(h.gone), h.is_gathering


def _acts_key(h: Hypothesis) -> object:
    return tuple((act.manner, act.play, act.zone) for act in h.acts)

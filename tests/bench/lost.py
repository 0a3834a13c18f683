"""Find when, and why, the true record stopped being among the weighted hypotheses of a hand.

python -m tests.bench.lost --set faces [--hands N] [--jobs 2]

A hypothesis is true if its legal plays are the first that were really made, and none is overdue: the play after it was
made a while ago. *never*: no child of a true hypothesis was true. *pruned*: there were such children, but none was
kept. *out-scored*: a true one was kept to the end, but another was likelier. The share is what they had just before.
"""

import math
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple
from unittest import mock

from bench import following, hands
from bench.eye import heading, line_of
from bench.views import FilmedHand, TruePlay
from companion.tracking import beam
from companion.tracking.actions import Actions
from companion.tracking.hypothesis import Hypothesis

OVERDUE_S = 3.0  # after the hand has left the next card
NEVER, PRUNED, OUT_SCORED, KEPT = "never", "pruned", "out-scored", ""


class Loss(NamedTuple):
    """How the true record fared in a hand."""

    name: str
    why: str  # empty if it was the likeliest at the end
    t_s: float = math.inf
    share: float = 0.0  # of the true hypotheses just before
    record: tuple[str, ...] = ()  # the last plays of the likeliest hypothesis
    truth: tuple[str, ...] = ()  # those that were made by then


@dataclass
class Trial:
    """Tells true hypotheses from others at a time."""

    truth: following.Truth
    t_s: float = 0.0
    is_generated: bool = False  # a true child was, in this view

    def is_true(self, h: Hypothesis) -> bool:
        record = record_of(h)
        return self.due() <= len(record) and self.truth.is_true(record)

    def due(self) -> int:
        """Return how many plays were surely made: the one after the last of them was made a while ago."""
        return max(0, sum(_clear_s(play) + OVERDUE_S <= self.t_s for play in self.truth.legal) - 1)


def record_of(h: Hypothesis) -> tuple[str, ...]:
    return following.texts_of([act.play for act in h.acts if act.is_legal and act.play is not None])


def _clear_s(play: TruePlay) -> float:
    return play.clear_s or play.lies_s or 0.0


def lost(job: hands.Job) -> Loss:
    """Return how the true record fared in a hand; a loss that was made good is none."""
    hand: FilmedHand = job.hand()
    setup = following.setup_of(hand)
    trial, loss, share = Trial(following.Truth(hand, setup)), None, 1.0

    class Watched(Actions):
        def explained(self, h, look, most=math.inf):
            for child in super().explained(h, look, most):
                trial.is_generated = trial.is_generated or trial.is_true(child)
                yield child

    with mock.patch.object(beam, "Actions", Watched):
        _, beliefs = following.started(setup)
        for view, after_gap in following.lingering(hand):
            trial.t_s, trial.is_generated = view.t_s, False
            beliefs = beam.see(beliefs, view, after_gap=after_gap)
            now = sum(w for h, w in zip(beliefs.hypotheses, beliefs.weights, strict=True) if trial.is_true(h))
            if now:
                loss, share = None, now
            elif loss is None:
                made = tuple(play.text for play in trial.truth.legal if (play.lies_s or 0.0) <= view.t_s)
                why = PRUNED if trial.is_generated else NEVER
                loss = Loss(job.name, why, view.t_s, share, record_of(beliefs.best)[-4:], made[-4:])
    if loss is None and record_of(beliefs.best) != trial.truth.texts:
        loss = Loss(job.name, OUT_SCORED, view.t_s, share, record_of(beliefs.best)[-4:], trial.truth.texts[-4:])
    return loss or Loss(job.name, KEPT)


def main() -> None:
    given = hands.parsed()
    found = list(hands.each(lost, hands.jobs_of(given), given.jobs))
    print("\n".join(heading("hand", "lost", "at", "share before", "likeliest record", "played")))
    for loss in found:
        if loss.why:
            share = f"{loss.share:.3f}"
            print(line_of(loss.name, loss.why, f"{loss.t_s:.1f} s", share, *map(" / ".join, (loss.record, loss.truth))))
    why = Counter(loss.why for loss in found)
    print(f"\n{len(found)} hands: " + ", ".join(f"{name} {why[name]}" for name in (NEVER, PRUNED, OUT_SCORED)))


if __name__ == "__main__":
    main()

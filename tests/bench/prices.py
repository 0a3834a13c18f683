"""Estimate the prices in `companion/tracking/handling.toml` from hands whose plays are known.

python -m tests.bench.prices --set simulated --hands 80 --rounds 8 --jobs 2 [--write]
python -m tests.bench.prices --set simulated --reserved --hands 12 --rounds 0     only measures the prices as they are

A hypothesis is true if its plays are those that were made, and no play is lacking whose card was seen. After each play,
true hypotheses should have all the probability. The best prices make the mean of its negative logarithm, the *loss*,
least: conditional maximum likelihood, as for a conditional random field (Lafferty, McCallum and Pereira 2001). Each
cost carries its derivatives by all prices, so each round follows the slope of the loss on its share of the hands. A
price that few plays depend on stays near its value before. What was played is confirmed some seconds later, as at a
table where people confirm.

Only the first half of the simulator's ranges is for this. The prices are checked on the other half, on hands with
pictures, and on films.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from unittest import mock

import numpy as np
import numpy.typing as npt

from bench import following, hands, page
from bench.views import FilmedHand, TruePlay
from companion.rules.play import Play, Verb
from companion.rules.reasons import Code
from companion.rules.record.notation import parse_play
from companion.tabletop.mat_layout import DISCARD_ZONE
from companion.tracking import beam, conditioning
from companion.tracking.beam import Beliefs
from companion.tracking.hand_record import Line, Record
from companion.tracking.handling import COSTS, FILE, Costs
from companion.tracking.hypothesis import Hypothesis, Judge, Manner

Values = Mapping[str, float]
Floats = npt.NDArray[np.float64]
NAMES = tuple(asdict(COSTS))
NOTHING = np.zeros(len(NAMES))
TOLD_S = 5.0  # people confirm a play this long after the hand has left its card
SETTLES_S = 0.7  # and the follower should know it after this time
MOST_VIEWS = 40  # views in which a card is looked for after its play
SEEN_S = 0.5  # after a card was seen first, its play is lacking
A_ROUND = 20  # hands
STEP, LEAST_SLOPE = 0.12, 1e-4  # largest change of a price's logarithm in a round; slopes below count less
STIFFNESS = 3e-3  # slope that draws a price back, for each factor of e that it has moved
DECISIVE = 0.01  # slope from which a play counts as one that a price decided


class Priced(float):
    """A cost that carries its derivatives by the logarithm of every price."""

    __slots__ = ("parts",)
    parts: Floats

    def __new__(cls, value: float, parts: Floats) -> Priced:
        made = float.__new__(cls, value)
        made.parts = parts
        return made

    def __add__(self, other: float) -> Priced:
        parts = self.parts + other.parts if isinstance(other, Priced) else self.parts
        return Priced(float(self) + float(other), parts)

    __radd__ = __add__

    def __neg__(self) -> Priced:
        return Priced(-float(self), -self.parts)

    def __sub__(self, other: float) -> Priced:
        return self + -other

    def __rsub__(self, other: float) -> Priced:
        return -self + other

    def __mul__(self, other: float) -> Priced:
        parts = self.parts * float(other)
        if isinstance(other, Priced):
            parts = parts + other.parts * float(self)
        return Priced(float(self) * float(other), parts)

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> Priced:
        return self * (1 / other)

    def __rtruediv__(self, other: float) -> Priced:
        inverse = 1 / float(self)
        return Priced(inverse, self.parts * -(inverse**2)) * other


def priced(values: Values) -> Costs:
    """Return costs that carry their derivatives."""
    eye = np.eye(len(NAMES))
    return Costs(**{name: Priced(values[name], eye[n] * values[name]) for n, name in enumerate(NAMES)})


@dataclass(frozen=True)
class Outcome:
    """How hands went with some prices."""

    loss: float = 0.0
    slope: Floats = field(default_factory=lambda: NOTHING)  # of the loss, by the logarithm of each price
    decisive: npt.NDArray[np.int_] = field(default_factory=lambda: NOTHING.astype(int))  # plays that it matters for
    plays: int = 0
    lost: int = 0  # plays after which no true hypothesis was left

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def summary(self) -> str:
        return f"{self.plays:,} plays, loss {self.loss / max(1, self.plays):.4f}, truth lost after {self.lost}"


class Trial:
    """Tells true hypotheses from others at a time."""

    def __init__(self, hand: FilmedHand) -> None:
        self.setup = following.setup_of(hand)
        self.truth = following.Truth(hand, self.setup)
        self._seen_s = dict(self._first_seen(hand))

    def told(self) -> Iterator[tuple[float, Record]]:
        """Yield the record that people keep, with the time from which it says so."""
        game, beliefs = following.started(self.setup)
        places = beliefs.judge.places
        judge = Judge(game.table, places, COSTS, Verb.FINISH)
        record = Record(1, 1, places, game.table, (), extension=Verb.FINISH)
        yield -math.inf, record
        for seq, play in enumerate(self.truth.legal, 2):
            read = replace(parse_play(play.text, self.setup.teams), anyway=False)
            line = Line(seq, read, record.table, places)
            record = replace(record, table=judge.applied(record.table, read), lines=(*record.lines, line))
            yield _clear_s(play) + TOLD_S, record

    def shares(self, beliefs: Beliefs, t_s: float) -> list[float]:
        """Return the probability of each hypothesis that is true, and 0 for each other."""
        due, known = self.due(t_s), len(beliefs.record.lines)
        weighted = zip(beliefs.hypotheses, beliefs.weights, strict=True)
        return [w if self.is_true(h, t_s, due, known) else 0.0 for h, w in weighted]

    def times_s(self) -> list[float]:
        plays = (*self.truth.legal, *self.truth.slips)
        return sorted(_clear_s(play) + SETTLES_S for play in plays)

    def due(self, t_s: float) -> int:
        """Return how many legal plays a record must have: up to the last that was seen by then."""
        return max((n for n, seen_s in self._seen_s.items() if seen_s <= t_s), default=0)

    def _first_seen(self, hand: FilmedHand) -> Iterator[tuple[int, float]]:
        """Yield the number of each legal play, and when its hand had left and its card was seen.

        A card without a sticker has a number of the eye that was not there before it was played.
        """
        for n, play in enumerate(self.truth.legal, 1):
            face = parse_play(play.text, self.setup.teams).card
            until_s = math.inf if play.gone_s is None else play.gone_s
            lies_s = play.lies_s or 0.0
            before = {s.stay for view, _ in hand.views if view.t_s < lies_s for s in view.sightings} - {None}
            views = (view for view, _ in hand.views if _clear_s(play) <= view.t_s < until_s)
            for view in itertools.islice(views, MOST_VIEWS):
                there = (s for s in view.sightings if s.face is face and s.zone == play.zone and s.stay not in before)
                if any(s.card in (None, play.card) for s in there):
                    yield n, view.t_s + SEEN_S
                    break

    def is_true(self, h: Hypothesis, t_s: float, due: int, known: int) -> bool:
        acts = [(act, text) for act in h.acts if act.is_legal and act.play and (text := _text(act.play))]
        is_alike = all(self._is_alike(act, text, n) for n, (act, text) in enumerate(acts, known))
        if known + len(acts) < due or not is_alike:
            return False
        doubtful = (act for act in h.acts if act.play is not None and not act.is_legal and not _is_waiting(act))
        slips = [act for act in doubtful if t_s - act.since_s < TOLD_S]
        return all(self._was_made(act, t_s) for act in slips)

    def _is_alike(self, act, text: str, n: int) -> bool:
        """True if an act is the true one. The card of a discard that the camera missed cannot be known."""
        if n >= len(self.truth.texts):
            return False
        truth = self.truth.texts[n]
        return text == truth or (
            act.manner is Manner.UNSEEN and act.zone == DISCARD_ZONE and text.split()[:2] == truth.split()[:2]
        )

    def _was_made(self, act, t_s: float) -> bool:
        text = _text(act.play)
        slip = any(s.text == text and (s.lies_s or 0.0) <= t_s for s in self.truth.slips)
        stray = self.truth.is_disturbed(act.zone, t_s)
        return slip or stray


@cache
def _text(play: Play) -> str:
    return "".join(following.texts_of([play]))


def _is_waiting(act) -> bool:
    return act.manner is Manner.LAID and bool(act.reasons) and all(w.code is Code.NOT_YOUR_TURN for w in act.reasons)


def _clear_s(play: TruePlay) -> float:
    return play.clear_s or play.lies_s or 0.0


@dataclass(frozen=True)
class Try:
    """A hand, and the prices with which it is followed."""

    job: hands.Job
    values: Values


def outcome(one: Try) -> Outcome:
    """Return how likely the true hypotheses are after each play, while people confirm what was played before."""
    hand = one.job.hand()
    trial, found = Trial(hand), Outcome()
    with mock.patch.object(conditioning, "COSTS", priced(one.values)):
        told, times_s, beliefs = list(trial.told()), trial.times_s(), Beliefs()
        for view, after_gap in hand.views:
            while len(told) > 1 and told[1][0] <= view.t_s:
                del told[0]
            beliefs = beam.see(conditioning.conditioned(beliefs, told[0][1]), view, after_gap=after_gap)
            if times_s and view.t_s >= times_s[0]:
                times_s = [time_s for time_s in times_s if time_s > view.t_s]
                found += after_a_play(beliefs, trial.shares(beliefs, view.t_s))
    return found


def after_a_play(beliefs: Beliefs, true: Sequence[float]) -> Outcome:
    """Return the outcome at one time; `true` has the probability of each true hypothesis, and 0 for the others."""
    share = sum(true)
    if share <= 0.0:
        return Outcome(plays=1, lost=1)
    parts = np.array([getattr(h.cost, "parts", NOTHING) for h in beliefs.hypotheses])
    slope = (np.array(true) / share - np.array(beliefs.weights)) @ parts
    return Outcome(-math.log(share), slope, (np.abs(slope) > DECISIVE).astype(int), 1)


def measured(jobs: Sequence[hands.Job], values: Values, beside: int) -> Outcome:
    """Return how several hands go together with these prices."""
    return sum(hands.each(outcome, [Try(job, values) for job in jobs], beside), Outcome())


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = hands.options(__doc__)
    parser.add_argument("--rounds", type=int, default=0, help="rounds of estimating; 0: only measure")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    given = parsed(arguments)
    if given.rounds and given.reserved:
        raise SystemExit("Nothing is estimated on reserved hands.")
    figures = page.Figures("prices", arguments) if given.write else None
    jobs = random.Random(0).sample(hands.jobs_of(given), k=len(hands.jobs_of(given)))
    before = {name: max(1e-3, value) for name, value in asdict(COSTS).items()}
    values, square, decisive = dict(before), np.zeros(len(NAMES)), np.zeros(len(NAMES), int)
    if not given.rounds:
        print(measured(jobs, values, given.jobs).summary())
    for n in range(given.rounds):
        first = n * A_ROUND % len(jobs)
        found = measured((jobs * 2)[first : first + min(A_ROUND, len(jobs))], values, given.jobs)
        print(f"round {n + 1}: {found.summary()}", flush=True)
        off = np.array([math.log(values[name] / before[name]) for name in NAMES])
        slope = found.slope / found.plays + off * STIFFNESS
        square = slope**2 if not n else 0.8 * square + 0.2 * slope**2
        step = STEP / math.sqrt(1 + n / 3) * slope / np.sqrt(square + LEAST_SLOPE**2)
        values = {name: values[name] * math.exp(-step[i]) for i, name in enumerate(NAMES)}
        decisive = decisive + found.decisive
        text = toml_of(values, decisive, figures)
        print(text if n + 1 == given.rounds else "", end="", flush=True)
    if figures and given.rounds:
        FILE.write_text(text, encoding="utf-8")


def toml_of(values: Values, decisive: npt.NDArray[np.int_], figures: page.Figures | None) -> str:
    source = "" if figures is None else f"`{figures.command}` at {figures.commit}"
    head = (
        f"# Prices in nats, estimated by {source or 'tests/bench/prices.py'}.\n# Behind each: plays that it decided.\n"
    )
    rows = (f"{name} = {values[name]:.2f}  # {decisive[n]:,}\n" for n, name in enumerate(NAMES))
    return f"{head}\n[costs]\n{''.join(rows)}"


if __name__ == "__main__":
    main()

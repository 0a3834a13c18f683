"""What was played where one play was not seen: all that follow it are out of turn then, however surely they were read.

People at the table would say. Of a film nobody can be asked: the one play is supposed to have been missed, or one that
nobody was sure of is taken not to have been played, by which most of what was read for sure becomes legal.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from companion.match.proposals import ASKING_CONFIDENCE, OUT_OF_TURN_SURENESS, Doubt, Proposal
from companion.match.zone_plays import Places
from companion.rules.cards import Family
from companion.rules.play import Play, Verb
from companion.rules.reasons import Code, Reason
from companion.rules.referee import LegalPlays, apply, objections
from companion.rules.table import Table

MOST_ACTS = 12
"""So far back a play is looked for that was missed."""

DOUBT_REACH_S = 3.0
"""A card that could not be read may have been laid so long before or after its question says."""

DOUBTED, UNSURE, TURN, OTHER = 0.1, 0.2, 0.3, 0.4
"""What it costs to suppose a play: one that was asked about, that an unsure one was none, that a turn was missed with
whatever was discarded in it, that a certain other play was. A play read for sure that becomes legal is worth 1."""

CHANGED = 0.1
"""What it costs that a play which counts was another player's."""

PLAIN, PLAIN_IF_DOUBTED = 1.5, 0.8
"""Worth so much more it is supposed at once; less is enough where a card was there that was not read."""

ENOUGH = 0.5
LATER_PLAYS = 2
"""Worth less it is supposed after so many more plays: a card laid out of turn is taken back before the others go on."""

LEAST_ACTS, LONGER = 4, 1.3
"""And where so much longer passed before it than between plays usually does, of at least so many."""


@dataclass(frozen=True, slots=True)
class Act:
    """A play as it was seen, or that the record has although nobody saw it."""

    play: Play
    seen: Proposal | None
    counts: bool
    """Whether the record has it."""

    @property
    def is_sure(self) -> bool:
        """Whether its card was read for sure; whose turn it was does not count."""
        return self.seen is None or self.seen.confidence >= (ASKING_CONFIDENCE if self.counts else OUT_OF_TURN_SURENESS)


@dataclass(frozen=True, slots=True)
class Account:
    """One way to make sense of what was seen."""

    plays: tuple[Play | None, ...]
    """What each act was; None where it was illegal, or no play."""

    worth: float
    """How many plays that were read for sure are legal, less what is supposed."""

    missed: Play | None = None
    before: int = 0
    """Which act the missed play came before."""

    doubt: Doubt | None = None
    """A card that was there and may have been it."""

    gap_s: float = 0.0
    """How long nothing was seen to be played where it is supposed."""

    def followed_by(self, rest: Account, cost: float = 0.0) -> Account:
        """The account of these acts and of those after them."""
        return replace(self, plays=self.plays + rest.plays, worth=self.worth + rest.worth - cost)


NO_PLAY = Account((None,), 0.0)
_PLAIN_VERBS = (Verb.PLAY, Verb.DISCARD)


def tells(play: Play, reasons: Collection[Reason]) -> bool:
    """Whether a refused play may tell that another was missed.

    A remedy that remedies nothing does not: it is often one that lay there before, taken for another.
    """
    is_remedy = play.card is not None and play.card.family is Family.REMEDY
    return not is_remedy or all(reason.code is Code.NOT_YOUR_TURN for reason in reasons)


def way_back(
    table: Table, acts: Sequence[Act], places: Places, doubts: Sequence[Doubt] = (), *, is_last: bool = False
) -> Account | None:
    """The account that makes better sense of the acts than that nothing was missed; None where none does yet.

    `table` is as it was before the first act; of acts `is_last` that none will follow.
    """
    plain, _ = _account(table, acts, places)
    best = max(_supposing(table, acts, places, doubts), key=lambda one: (one.worth, one.gap_s), default=plain)
    gain = best.worth - plain.worth
    first = _first_turned(plain, best)
    later = sum(play is not None for play in best.plays[first + 1 :])
    ripe = (is_last or later >= LATER_PLAYS) and _had_time(acts, first)
    at_once = PLAIN_IF_DOUBTED if best.doubt is not None else PLAIN
    return best if gain >= at_once or (gain >= ENOUGH and ripe) else None


def _first_turned(plain: Account, best: Account) -> int:
    """The first act that was refused and by the better account need not have been; beyond the last if none is."""
    turned = (was is None and now is not None for was, now in zip(plain.plays, best.plays, strict=True))
    return next((number for number, has_turned in enumerate(turned) if has_turned), len(best.plays))


def _had_time(acts: Sequence[Act], number: int) -> bool:
    """Whether another play fits in before an act: it came later after the last one than plays here usually do."""
    act = acts[number].seen if number < len(acts) else None
    times = sorted(other.seen.t_s for other in acts if other.seen is not None)
    counted = [other.seen.t_s for other in acts if other.counts and other.seen is not None]
    before = [t_s for t_s in counted if act is not None and t_s < act.t_s]
    if act is None or not before or len(times) < LEAST_ACTS:
        return False
    usual_s = statistics.median(later - earlier for earlier, later in itertools.pairwise(times))
    return act.t_s - before[-1] >= LONGER * usual_s


def _account(table: Table, acts: Sequence[Act], places: Places) -> tuple[Account, Table]:
    """What the acts were, one after the other, if nothing was missed; and the table after them."""
    plays: list[Play | None] = []
    worth = 0.0
    for act in acts:
        play = _as_of(table, act, places)
        legal = not table.is_over and not objections(table, play)
        plays.append(play if legal else None)
        worth += _worth(act, play if legal else None)
        table = apply(table, play) if legal else table
    return Account(tuple(plays), worth), table


def _worth(act: Act, play: Play | None) -> float:
    """What it counts for an account that an act was this play by it, or none."""
    if play is None:
        return -UNSURE if act.counts and not act.is_sure else 0.0
    return float(act.is_sure) - CHANGED * (act.counts and play != act.play)


def _as_of(table: Table, act: Act, places: Places) -> Play:
    """The play that an act's card means as the table is: who discards, or attacks, is told by whose turn it is."""
    card, zone = act.play.card, act.seen.zone if act.seen is not None else None
    if card is None or zone is None or act.play.verb not in _PLAIN_VERBS:
        return act.play
    sideways = act.seen is not None and act.seen.sideways
    guess = places.play_at(card, zone, sideways or act.play.at_once, table)
    return act.play if guess is None else replace(guess.play, times=act.play.times)


def _supposing(table: Table, acts: Sequence[Act], places: Places, doubts: Sequence[Doubt]) -> Iterator[Account]:
    """Every account by which one play more was played before the last refused one, or an unsure one was not."""
    last = max((number for number, act in enumerate(acts) if not act.counts), default=-1)
    for number in range(last + 1):
        before, now = _account(table, acts[:number], places)
        if now.is_over:
            return
        gap_s = _gap_s(acts, number)
        for play, cost, doubt in _missable(now, places, _doubts_then(acts, number, doubts)):
            rest, _ = _account(apply(now, play), acts[number:], places)
            supposed = before.followed_by(rest, cost)
            yield replace(supposed, missed=play, before=number, doubt=doubt, gap_s=gap_s)
        if acts[number].counts and not acts[number].is_sure:
            rest, _ = _account(now, acts[number + 1 :], places)
            yield before.followed_by(NO_PLAY, UNSURE).followed_by(rest)


def _missable(table: Table, places: Places, doubts: Sequence[Doubt]) -> Iterator[tuple[Play, float, Doubt | None]]:
    """What may have been played unseen, what it costs to suppose it, and the card that may have been it."""
    for doubt in doubts:
        for play in (_as_of(table, Act(play, _shown(doubt, play), counts=False), places) for play in doubt.plays):
            if not objections(table, play):
                yield play, DOUBTED, doubt
    laid = [play for play in LegalPlays(table, table.player_to_move) if play.verb in _PLAIN_VERBS]
    discards = [play for play in laid if play.verb is Verb.DISCARD and play.card is not None]
    # It tells nothing which card it was: one of those that are most likely left.
    yield from ((play, TURN, None) for play in sorted(discards, key=lambda play: -_left(table, play))[:1])
    yield from ((play, OTHER, None) for play in laid if play.verb is Verb.PLAY)


def _left(table: Table, play: Play) -> int:
    return 0 if play.card is None else table.copies_left(play.card)


def _shown(doubt: Doubt, play: Play) -> Proposal:
    return Proposal(doubt.id, play, doubt.zone, doubt.confidence, doubt.t_s, sure=False)


def _doubts_then(acts: Sequence[Act], number: int, doubts: Sequence[Doubt]) -> Sequence[Doubt]:
    """The cards that may have been laid between an act and the one before it, and could not be read."""
    first_s, last_s = _between_s(acts, number)
    return [doubt for doubt in doubts if first_s - DOUBT_REACH_S <= doubt.t_s <= last_s + DOUBT_REACH_S]


def _gap_s(acts: Sequence[Act], number: int) -> float:
    first_s, last_s = _between_s(acts, number)
    return last_s - first_s


def _between_s(acts: Sequence[Act], number: int) -> tuple[float, float]:
    """When the last play before an act was seen, and when the act was; from and to the same time if it is the first."""
    times = [act.seen.t_s for act in acts[:number] if act.seen is not None]
    later = [act.seen.t_s for act in acts[number:] if act.seen is not None]
    return max(times, default=later[0]), later[0]

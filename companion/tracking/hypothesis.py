"""A hypothesis: what people have done in this hand, where each card lies now, and how likely that is.

Costs are negative log-probabilities in nats, so they add up; the cheapest hypothesis is the likeliest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from companion.match.zone_plays import Guess, Places
from companion.rules.cards import Card, Family
from companion.rules.play import Play, Verb, lay
from companion.rules.reasons import Code, Reason
from companion.rules.referee import apply, objections
from companion.rules.table import Table
from companion.tracking.handling import Costs


class TableCard(NamedTuple):
    """A card on the table."""

    serial: int  # of the spot as which it was seen first; below 0 if the record has it and it was never seen
    face: Card
    card: str | None  # physical card, if a sticker names it
    spot: int  # the spot as which it is seen now; 0 if it was never seen
    at_mm: complex
    turn_deg: float


class Manner(StrEnum):
    """Ways in which a play becomes known."""

    LAID = "laid"  # a card came to lie in a zone
    TAKEN = "taken"  # the top discard was taken
    ENDED = "ended"  # a remedy was put on the discard pile with the hazard that it ends
    UNSEEN = "unseen"  # the camera missed it


class TableAct(NamedTuple):
    """Something that a player did; what it means follows from the acts before it."""

    serial: int  # of its card; 0 for none
    face: Card
    zone: str
    sideways: bool
    manner: Manner
    since_s: float  # when its card was seen first
    earliest_s: float  # its zone was not seen since then
    fixed: Play | None = None  # the play, if it is supposed
    times: int = 1  # 2 with an accelerator
    extra: float = 0.0  # cost of how it was done
    # Judged on the table before it:
    play: Play | None = None
    reasons: tuple[Reason, ...] = ()
    total: float = 0.0  # cost of all acts up to this one
    after: Table | None = None

    @property
    def is_legal(self) -> bool:
        return self.play is not None and not self.reasons


class Gone(NamedTuple):
    """A card that left its place, and no rule explains why."""

    card: TableCard
    zone: str
    t_s: float
    to: str | None = None  # the zone where it lies now


class Hypothesis(NamedTuple):
    """One explanation of everything seen in this hand."""

    zones: Mapping[str, tuple[TableCard, ...]]  # from the lowest card to the top
    acts: tuple[TableAct, ...]
    handling: float = 0.0  # cost of all that is not an act
    lifted: tuple[Gone, ...] = ()  # cards in the air
    gone: tuple[Gone, ...] = ()  # cards that the record has, and that left their place
    is_gathering: bool = False  # the cards are being gathered in

    @property
    def cost(self) -> float:
        return self.handling + (self.acts[-1].total if self.acts else 0.0)

    def act_of(self, serial: int) -> TableAct | None:
        return next((act for act in self.acts if act.serial == serial), None)


class Judge:
    """Gives acts their meaning and cost on the table before them; remembers its verdicts.

    `start` is the table of the hand's first turn. `extension` answers the offer of an extension.
    """

    def __init__(self, start: Table, places: Places, costs: Costs, extension: Verb) -> None:
        self.start, self.places, self.costs, self._extension = start, places, costs, extension
        self._verdicts: dict[tuple[object, ...], tuple[Table, TableAct, float]] = {}

    def table(self, acts: Sequence[TableAct]) -> Table:
        """Return the table after these acts."""
        return (acts[-1].after if acts else None) or self.start

    def judged(
        self, acts: Sequence[TableAct], new: Iterable[TableAct], needed: Sequence[bool] = ()
    ) -> tuple[TableAct, ...]:
        """Return the acts with new ones after them, these judged in their order.

        Return nothing if one of the new acts is illegal that is `needed` to be legal.
        """
        done = list(acts)
        for n, act in enumerate(new):
            verdict, cost = self._verdict(act, self.table(done))
            if needed and needed[n] and not verdict.is_legal:
                return ()
            if done:
                cost += done[-1].total + self.costs.left_lying * bool(done[-1].reasons)
            done.append(
                act._replace(play=verdict.play, reasons=verdict.reasons, after=verdict.after, total=cost + act.extra)
            )
        return tuple(done)

    def _verdict(self, act: TableAct, table: Table) -> tuple[TableAct, float]:
        key = id(table), act.face, act.zone, act.sideways, act.manner, act.fixed, act.times
        known = self._verdicts.get(key)
        if known is None or known[0] is not table:
            known = self._verdicts[key] = (table, *self._judge(act._replace(play=None, reasons=(), after=table), table))
        return known[1:]

    def _judge(self, act: TableAct, table: Table) -> tuple[TableAct, float]:
        """Return an act with its meaning on this table, and its cost."""
        guess = self._meaning(act, table)
        if guess is None:
            # It belongs to a play that no picture shows, such as a special card of Rush.
            return act, self.costs.legal
        play, why = guess.play, objections(table, guess.play)
        odd = act.face.family is Family.SAFETY and act.sideways is not play.at_once
        cost = self.costs.odd_turn * odd
        if why:
            is_late = any(reason.code is Code.NOT_YOUR_TURN for reason in why)
            is_astray = act.manner is Manner.LAID and not Places.belongs(act.face, act.zone)
            wrong = self.costs.astray if is_astray else self.costs.illegal
            cost += self.costs.out_of_turn * is_late + wrong * (len(why) > is_late)
            return act._replace(play=play, reasons=why), cost
        if act.fixed is None:
            cost += self.costs.legal + self.costs.unclear * (not guess.clear)
        return act._replace(play=play, after=self._applied(table, play)), cost

    def _meaning(self, act: TableAct, table: Table) -> Guess | None:
        """Return the play that an act is on this table; None if no picture shows it."""
        if act.fixed is not None:
            return Guess(act.fixed, clear=True)
        if act.manner is Manner.TAKEN:
            return Guess(Play(Verb.TAKE, table.player_to_move), clear=True)
        if act.manner is Manner.ENDED:
            return Guess(lay(table.player_up, act.face), clear=True)
        guess = self.places.play_at(act.face, act.zone, act.sideways, table)
        if guess is None or self.places.question(act.face, act.zone, table) is not None:
            return None
        return guess if act.times == 1 else Guess(replace(guess.play, times=act.times), guess.clear)

    def _applied(self, table: Table, play: Play) -> Table:
        after = apply(table, play)
        offered = after.extension_offered_to
        if offered is None or after.is_over:
            return after
        return apply(after, Play(self._extension, after.sides[offered].players[0]))

"""A hypothesis: what people have done in this hand, where each card lies now, and how likely that is.

Costs are negative log-probabilities in nats, so they add up; the cheapest hypothesis is the likeliest.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from companion.match.zone_plays import Guess, Places
from companion.rules.cards import HAZARD_OF, Card, Family
from companion.rules.play import Play, Verb, lay
from companion.rules.reasons import Code, Reason
from companion.rules.referee import apply, legal_plays, objections
from companion.rules.table import Table
from companion.tabletop.mat_layout import DISCARD_ZONE, is_pile
from companion.tracking.handling import Costs


class TableCard(NamedTuple):
    """A card on the table."""

    serial: int  # of the spot as which it was seen first; below 0 if the record has it and it was never seen
    face: Card
    card: str | None  # physical card, if a sticker names it
    spot: int  # the spot as which it is seen now; 0 if it was never seen
    at_mm: complex
    turn_deg: float
    is_old: bool = False  # the record had it before the first look, and it was never seen


class Manner(StrEnum):
    """Ways in which a play becomes known."""

    LAID = "laid"  # a card came to lie in a zone
    TAKEN = "taken"  # the top discard was taken
    ENDED = "ended"  # a remedy was put on the discard pile with the hazard that it ends
    UNSEEN = "unseen"  # the camera missed it
    CHANGED = "changed"  # people have changed what it was
    LEFT = "left"  # an illegal card that lay there while others played on
    BACK = "back"  # the last play of the record was taken back


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
    is_clear: bool = True  # no other play is as likely
    total: float = 0.0  # cost of all acts up to this one
    after: Table | None = None
    key: int = 0  # equal if this act and all before it are

    @property
    def is_legal(self) -> bool:
        return self.play is not None and not self.reasons and self.manner is not Manner.LEFT


class Gone(NamedTuple):
    """A card that left its place, and no rule explains why."""

    card: TableCard
    zone: str
    t_s: float
    to: str | None = None  # the zone where it lies now
    paid: float = 0.0  # nats that this added to the cost


class Hypothesis(NamedTuple):
    """One explanation of everything seen in this hand."""

    zones: Mapping[str, tuple[TableCard, ...]]  # from the lowest card to the top
    acts: tuple[TableAct, ...]
    handling: float = 0.0  # cost of all that is not an act
    lifted: tuple[Gone, ...] = ()  # cards in the air
    gone: tuple[Gone, ...] = ()  # cards that the record has, and that left their place
    told: Mapping[int, TableAct] = MappingProxyType({})  # what the record has of this hand, by the number of the line
    is_gathering: bool = False  # the cards are being gathered in
    gathered_s: float = 0.0  # when the last card was

    @property
    def cost(self) -> float:
        return self.handling + (self.acts[-1].total if self.acts else 0.0)

    def card_of(self, serial: int) -> str | None:
        """Return the physical card of this number, wherever it is; None if no sticker names it."""
        cards = itertools.chain(*self.zones.values(), (one.card for one in (*self.gone, *self.lifted)))
        return next((card.card for card in cards if card.serial == serial), None)

    def act_of(self, serial: int) -> TableAct | None:
        return next((act for act in self.acts if act.serial == serial), None)

    @property
    def last_told(self) -> TableAct | None:
        """The last act that the record has, if it is not taken back."""
        if any(act.manner is Manner.BACK for act in self.acts):
            return None
        return next(reversed(tuple(self.told.values())), None)

    def told_of(self, serial: int) -> TableAct | None:
        """Return the act of the record that this card belongs to."""
        return next((act for act in self.told.values() if act.serial == serial), None)


def is_spent(judge: Judge, h: Hypothesis, remedy: Card, zone: str) -> bool:
    """True if a remedy may be cleared away from this pile.

    Either the record has it there no more, or the hazard that it ended is inactive and has been cleared away.
    """
    hazard = HAZARD_OF.get(remedy)
    if hazard is None or remedy not in judge.places.cards(judge.table(h.acts), zone):
        return remedy.family is Family.REMEDY
    back = {act.serial for act in h.acts if act.manner is Manner.BACK}
    played = (act for act in (*h.told.values(), *h.acts) if act.serial not in back)
    was_played = any((act.face, act.zone) == (hazard, zone) for act in played)
    is_there = any(card.face is hazard for card in h.zones.get(zone, ()))
    return was_played and not is_there and judge.places.is_beaten(judge.table(h.acts), hazard, zone)


def _is_passed_over(act: TableAct, later: TableAct) -> bool:
    """True if another player plays on beside an illegal card."""
    if not act.reasons or act.play is None or later.play is None:
        return bool(act.reasons)
    return act.play.player != later.play.player


class Judge:
    """Gives acts their meaning and cost on the table before them; remembers its verdicts.

    `start` is the table of the hand's first turn. `extension` answers the offer of an extension; None leaves it
    open.
    """

    def __init__(
        self, start: Table, places: Places, costs: Costs, extension: Verb | None, before: Table | None = None
    ) -> None:
        self.before = before  # the table before the last play of the record
        self.start, self.places, self.costs, self.extension = start, places, costs, extension
        self._verdicts: dict[tuple[object, ...], tuple[Table, TableAct, float]] = {}
        self._may_be_missed: dict[int, tuple[Table, tuple[tuple[Play, str, bool], ...]]] = {}

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
                cost += done[-1].total + self.costs.left_lying * _is_passed_over(done[-1], verdict)
            done.append(
                act._replace(
                    play=verdict.play,
                    reasons=verdict.reasons,
                    is_clear=verdict.is_clear,
                    after=verdict.after,
                    total=cost + act.extra,
                    key=hash((done[-1].key if done else 0, act.manner, verdict.play, act.zone)),
                )
            )
        return tuple(done)

    def may_be_missed(self, table: Table) -> tuple[tuple[Play, str, bool], ...]:
        """Return the plays of the player up that a camera may miss, with their zones; True: exactly on an equal card.

        Of the other discards it is only the likeliest.
        """
        known = self._may_be_missed.get(id(table))
        if known is None or known[0] is not table:
            known = self._may_be_missed[id(table)] = (table, tuple(self._found_missed(table)))
        return known[1]

    def _found_missed(self, table: Table) -> Iterator[tuple[Play, str, bool]]:
        discards = []
        for play in legal_plays(table, table.player_up):
            zone = self.places.zone_of(play, table) or DISCARD_ZONE
            is_stack = play.card in self.places.cards(table, zone)[-1 if is_pile(zone) else 0 :]
            if play.verb is Verb.PLAY and play.times == 1:
                yield play, zone, is_stack
            elif play.verb is Verb.DISCARD and play.card is not None:
                if is_stack:
                    yield play, zone, True
                discards.append((table.copies_left(play.card), play))
        if discards:
            _, likeliest = max(discards, key=lambda one: one[0])
            yield likeliest, DISCARD_ZONE, False

    def _verdict(self, act: TableAct, table: Table) -> tuple[TableAct, float]:
        key = id(table), act.face, act.zone, act.sideways, act.manner, act.fixed, act.times
        known = self._verdicts.get(key)
        if known is None or known[0] is not table:
            known = self._verdicts[key] = (table, *self._judge(act._replace(play=None, reasons=(), after=table), table))
        return known[1:]

    def _judge(self, act: TableAct, table: Table) -> tuple[TableAct, float]:
        """Return an act with its meaning on this table, and its cost."""
        if act.manner is Manner.BACK:
            return act._replace(after=self.before), 0.0
        if act.manner is Manner.LEFT:
            return act._replace(play=act.fixed), 0.0
        guess = self._meaning(act, table)
        if guess is None:
            # It belongs to a play that no picture shows, such as a special card of Rush.
            return act, self.costs.astray if act.face is Card.ACCELERATOR else self.costs.legal
        play, why = guess.play, objections(table, guess.play)
        odd = act.face.family is Family.SAFETY and act.sideways is not play.at_once
        is_astray = act.manner is Manner.LAID and not Places.belongs(act.face, act.zone)
        cost = self.costs.odd_turn * odd
        if why:
            is_late = any(reason.code is Code.NOT_YOUR_TURN for reason in why)
            wrong = self.costs.astray if is_astray else self.costs.illegal
            cost += self.costs.out_of_turn * is_late + wrong * (len(why) > is_late)
            return act._replace(play=play, reasons=why, is_clear=guess.clear), cost
        if act.fixed is None:
            cost += self.costs.legal + self.costs.unclear * (not guess.clear) + self.costs.misplaced * is_astray
        return act._replace(play=play, is_clear=guess.clear, after=self.applied(table, play)), cost

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

    def applied(self, table: Table, play: Play) -> Table:
        """Return the table after a legal play; the offer of an extension is answered as the record says."""
        after = apply(table, play)
        offered = after.extension_offered_to
        if offered is None or after.is_over or self.extension is None:
            return after
        return apply(after, Play(self.extension, after.sides[offered].players[0]))

"""How a new card becomes a play: at which place among the plays so far, and what was missed before it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from companion.rules.cards import HAZARD_OF, SAFETY_OF, Card, Family
from companion.rules.play import Play, Verb
from companion.rules.reasons import Code
from companion.rules.table import PILE_OF, Table
from companion.tabletop.mat_layout import DISCARD_ZONE
from companion.tracking.hypothesis import Gone, Hypothesis, Judge, Manner, TableAct, TableCard, is_spent
from companion.tracking.likelihood import NOWHERE, Likelihood
from companion.tracking.looks import SeenCard, SeenTable, ZoneLook

HAND_S = 1.0  # for this long the hand of a play may stay
DOUBLED_S = 2.0  # an accelerator is played together with its distance card
MOST_BACK = 4  # how many plays back a play may have been made that is seen only now
MOST_REACH = 8  # how many plays back a play may have been missed


class Playing:
    """The plays that new cards may be, on a table as it was seen last."""

    def __init__(self, judge: Judge, looks: SeenTable, likely: Likelihood) -> None:
        self._judge, self._costs, self._looks, self._likely = judge, judge.costs, looks, likely

    def played(self, h: Hypothesis, new: Sequence[TableAct], look: ZoneLook, most: float) -> Iterator[Hypothesis]:
        """Yield the hypotheses with the new acts, in each order and at each place that is plausible."""
        if not new:
            yield h
            return
        for order in itertools.permutations(new) if len(new) == 2 else [tuple(new)]:
            if any(one.earliest_s >= later.since_s < one.since_s for one, later in itertools.pairwise(order)):
                continue  # The later one was seen when the other surely was not there yet.
            doubled = list(self._doubled(h, order))
            yield from doubled
            if doubled:
                continue
            for acts in self._placed(h, order, look, most):
                child = excused(h._replace(acts=acts), self._judge)
                unseen = next(
                    (act for act in acts if act.manner is Manner.UNSEEN and h.act_of(act.serial) is None), None
                )
                child = child if unseen is None else self._with_expected(child, unseen)
                ended = next(
                    (act for act in acts if act.manner is Manner.ENDED and act.serial == order[-1].serial), None
                )
                yield child if ended is None else self._with_its_hazard(child, ended)

    def _doubled(self, h: Hypothesis, new: Sequence[TableAct]) -> Iterator[Hypothesis]:
        """Yield the hypotheses in which an accelerator doubles a distance card that came with it."""
        *rest, last = new
        if last.face is not Card.ACCELERATOR:
            return
        acts = self._judge.judged(h.acts, rest)
        for n, act in enumerate(acts):
            is_near = act.zone == last.zone and last.since_s - act.since_s <= DOUBLED_S
            if act.face.family is Family.DISTANCE and act.times == 1 and is_near:
                yield h._replace(acts=self._judge.judged(acts[:n], (act._replace(times=2), *acts[n + 1 :])))

    def _placed(
        self, h: Hypothesis, new: Sequence[TableAct], look: ZoneLook, most: float
    ) -> Iterator[tuple[TableAct, ...]]:
        acts, judged = h.acts, self._judge.judged
        # What surely came later stays later; at the first look, nothing is known of the order.
        end, first = len(acts), int(bool(acts) and acts[0].manner is Manner.BACK)
        while end > first and acts[end - 1].earliest_s >= new[0].since_s < acts[end - 1].since_s:
            end -= 1
        later = acts[end:]
        usual = judged(acts[:end], (*new, *later))
        yield usual
        if self._ends_its_hazard(h, self._judge.table(acts[:end]), new[-1]):
            ended = new[-1]._replace(manner=Manner.ENDED, extra=self._costs.ended)
            yield judged(acts[:end], (*new[:-1], ended, *later))
        if end > first and _is_hasty(acts[end - 1]):
            hasty = acts[end - 1]._replace(extra=self._costs.out_of_turn)
            yield judged(acts[: end - 1], (*new, hasty, *later))
        is_fine = not end or acts[end - 1].is_legal
        if (
            is_fine
            and all(act.is_legal for act in usual[end : end + len(new)])
            and _are_legal(later, usual[end + len(new) :])
        ):
            return
        # It may have been played before others; or the camera missed a play.
        for n in range(end - 1, max(first, end - MOST_BACK) - 1, -1):
            if acts[n].since_s < new[0].earliest_s:
                break
            yield judged(acts[:n], (*new, *acts[n:]))
        if look.is_first:
            yield from self._with_unseen(h, end, new, most - h.handling)

    def _ends_its_hazard(self, h: Hypothesis, table: Table, act: TableAct) -> bool:
        """True if a remedy on the discard pile may have been put there with the hazard that it ends."""
        hazard = HAZARD_OF.get(act.face)
        if act.zone != DISCARD_ZONE or hazard is None:
            return False
        if table.is_over:
            return False
        side = table.side_of(table.player_up)
        if hazard not in (side.hazard, Card.SPEED_LIMIT if side.limited else None):
            return False
        zone = f"{self._judge.places.mat_of(side.name)}/{PILE_OF[hazard]}"
        return all(
            card.face is not hazard or not self._likely.is_shown(card, zone) for card in h.zones.get(zone, ())[-1:]
        )

    def _with_its_hazard(self, h: Hypothesis, ended: TableAct) -> Hypothesis:
        """The hypothesis in which the hazard that a remedy on the discard pile ends has been carried there too."""
        if ended.play is None or ended.play.player is None:
            return h
        side, hazard = self._judge.start.side_of(ended.play.player), HAZARD_OF[ended.face]
        zone = f"{self._judge.places.mat_of(side.name)}/{PILE_OF[hazard]}"
        *below, top = h.zones.get(zone) or (None,)
        if top is None or top.face is not hazard:
            return h
        return h._replace(zones={**h.zones, zone: tuple(below)}, handling=h.handling + self._costs.cleared)

    def _with_unseen(
        self, h: Hypothesis, end: int, new: Sequence[TableAct], most: float
    ) -> Iterator[tuple[TableAct, ...]]:
        """Yield the acts with one more that the camera missed, where the new ones, before `end`, are legal after it."""
        acts = h.acts
        total = acts[-1].total if acts else 0.0
        if total + self._costs.unseen_stack + self._costs.legal > most:
            return
        for n in range(end, max(0, end - MOST_REACH) - 1, -1):
            before = acts[:n]
            table = self._judge.table(before)
            if table.is_over or table.extension_offered_to is not None:
                continue
            rest = (*acts[n:end], *new, *acts[end:])
            at_s = rest[0].since_s
            # As good as now in what follows, and the new acts legal.
            needed = (
                True,
                *(act.is_legal for act in acts[n:end]),
                *(True for _ in new),
                *(act.is_legal for act in acts[end:]),
            )
            for play, cost in self.plays_unseen(table, since_s(before), at_s):
                if total + cost + self._costs.legal <= most:
                    act = self.unseen_act(h, play, cost, at_s)
                    found = self._judge.judged(before, (act, *rest), needed=needed)
                    if found:
                        yield found

    def plays_unseen(self, table: Table, from_s: float, until_s: float) -> Iterator[tuple[Play, float]]:
        """Yield the plays of the player up that may have been missed in this time, with their costs.

        There was a hand over the zone of each.
        """
        costs = self._costs
        touched = {
            zone
            for zone, memory in self._looks.zones.items()
            if any(from_s + HAND_S < end and begin < until_s for begin, end in memory.hidden)
        }
        for play, zone, is_stack in self._judge.may_be_missed(table) if touched else ():
            if zone in touched:
                is_play = play.verb is Verb.PLAY
                yield play, costs.unseen_stack if is_stack else costs.unseen_play if is_play else costs.unseen_discard

    def unseen_act(self, h: Hypothesis, play: Play, cost: float, at_s: float) -> TableAct:
        """Return the act of a play that the camera missed; its number is below those of all other acts."""
        serial = min((act.serial for act in h.acts), default=0)
        zone = self._judge.places.zone_of(play, self._judge.table(h.acts)) or DISCARD_ZONE
        return TableAct(
            min(serial, 0) - 1,
            play.card or Card.UNKNOWN,
            zone,
            False,
            Manner.UNSEEN,
            at_s,
            at_s,
            fixed=play,
            extra=cost,
        )

    @staticmethod
    def _with_expected(h: Hypothesis, act: TableAct) -> Hypothesis:
        """The hypothesis in which the card of a missed play lies in its zone, not seen yet."""
        if act.zone == DISCARD_ZONE:
            return h
        there = h.zones.get(act.zone, ())
        below = next((card for card in reversed(there) if card.face is act.face and card.spot), None)
        card = TableCard(act.serial, act.face, None, 0, below.at_mm if below else NOWHERE, 0.0)
        return h._replace(zones={**h.zones, act.zone: (*there, card)})

    def put_elsewhere(
        self, h: Hypothesis, moved: Mapping[int, tuple[SeenCard, float, int]], zone: str
    ) -> Iterator[Hypothesis]:
        """Yield the hypothesis with what it means that cards came from another zone."""
        for serial, (spot, paid, before) in moved.items():
            if any(act.serial == serial and act.manner is Manner.BACK for act in h.acts):
                h = h._replace(acts=self._judge.judged((), [act for act in h.acts if act.manner is not Manner.BACK]))
            n = next((n for n, act in enumerate(h.acts) if act.serial == serial), None)
            gone = tuple(one for one in h.gone if one.card.serial != serial)
            if n is None:
                told = h.told_of(serial)
                if told is not None and zone != told.zone and not _is_beaten_act(self._judge, h, told):
                    unpaid = h._replace(gone=gone, handling=h.handling - paid)
                    yield from self._taken_and_laid(unpaid, told, before, spot, zone)
                    yield from self._changed(unpaid, told, spot, zone)
                    card = next(c for c in h.zones[zone] if c.serial == serial)
                    gone = (*gone, Gone(card, told.zone, spot.first_s, zone, paid))
                h = h._replace(gone=gone)
                continue
            act = h.acts[n]
            family = act.face.family
            if zone == act.zone and any(one.card.serial == serial for one in h.gone):
                h = h._replace(gone=gone)
            elif (
                act.is_legal and zone == DISCARD_ZONE and family in (Family.HAZARD, Family.REMEDY) and act.zone != zone
            ):
                if not _is_beaten_act(self._judge, h, act):
                    yield from self._beaten_unseen(h._replace(gone=gone), act)
                    card = next(c for c in h.zones[zone] if c.serial == serial)
                    h = h._replace(gone=(*gone, Gone(card, act.zone, spot.first_s, zone, paid)))
            else:
                again = act._replace(zone=zone, sideways=spot.sideways)
                h = h._replace(acts=self._judge.judged(h.acts[:n], (again, *h.acts[n + 1 :])), gone=gone)
        yield h

    def _taken_and_laid(
        self, h: Hypothesis, discarded: TableAct, number: int, spot: SeenCard, zone: str
    ) -> Iterator[Hypothesis]:
        """Yield the hypothesis in which the top discard, which had this number, was taken and played."""
        table = self._judge.table(h.acts)
        if discarded.zone != DISCARD_ZONE or table.discards[-1:] != (discarded.face,):
            return
        at_s = spot.first_s
        taken = TableAct(number, discarded.face, DISCARD_ZONE, False, Manner.TAKEN, at_s, spot.earliest_s)
        laid = TableAct(spot.number, discarded.face, zone, spot.sideways, Manner.LAID, at_s, spot.earliest_s)
        acts = self._judge.judged(h.acts, [taken._replace(extra=self._costs.taken), laid])
        if not acts[-2].is_legal:
            return
        told = {seq: act._replace(serial=number) if act is discarded else act for seq, act in h.told.items()}
        yield h._replace(acts=acts, told=told)

    def _changed(self, h: Hypothesis, told: TableAct, spot: SeenCard, zone: str) -> Iterator[Hypothesis]:
        """Yield the hypothesis in which a player replaced the last recorded play by another."""
        if told is not h.last_told or self._judge.before is None:
            return
        card = next(c for c in h.zones[zone] if c.serial == told.serial)
        laid = TableAct(told.serial, told.face, zone, spot.sideways, Manner.LAID, spot.first_s, spot.earliest_s)
        acts = self._judge.judged((), (back(card, told.zone, spot.first_s), laid, *h.acts))
        gone = (*h.gone, Gone(card, told.zone, spot.first_s, zone, self._costs.changed))
        yield h._replace(acts=acts, gone=gone, handling=h.handling + self._costs.changed)

    def _beaten_unseen(self, h: Hypothesis, hazard: TableAct) -> Iterator[Hypothesis]:
        """Yield the hypotheses in which the camera missed the card that beat a hazard."""
        table = self._judge.table(h.acts)
        if table.is_over or table.extension_offered_to is not None:
            return
        beating = {remedy for remedy, ended in HAZARD_OF.items() if ended is hazard.face} | {SAFETY_OF.get(hazard.face)}
        for play, _, _ in self._judge.may_be_missed(table):
            if play.verb is Verb.PLAY and play.card in beating:
                act = self.unseen_act(h, play, self._costs.unseen_play, h.acts[-1].since_s)
                acts = self._judge.judged(h.acts, [act])
                saved = self._costs.moved - self._costs.cleared
                yield self._with_expected(h._replace(acts=acts, handling=h.handling - saved), act)


def excused(h: Hypothesis, judge: Judge) -> Hypothesis:
    """Return the hypothesis without missing cards that have turned out to be beaten."""
    if not h.gone or any(act.manner is Manner.BACK for act in h.acts):
        return h
    acts = {one.card.serial: h.told_of(one.card.serial) or h.act_of(one.card.serial) for one in h.gone}
    beaten = [
        one
        for one in h.gone
        if one.to in (None, DISCARD_ZONE)
        and one.zone != DISCARD_ZONE
        and one.card.face.family in (Family.HAZARD, Family.REMEDY)
        and (act := acts[one.card.serial]) is not None
        and _is_beaten_act(judge, h, act)
    ]
    saved = sum(max(0.0, one.paid - judge.costs.cleared) for one in beaten)
    gone = tuple(one for one in h.gone if one not in beaten)
    return h._replace(gone=gone, handling=h.handling - saved)


def _is_beaten_act(judge: Judge, h: Hypothesis, act: TableAct) -> bool:
    """True if the card of this act is an inactive hazard, or a remedy that is spent."""
    if act.face.family is Family.HAZARD:
        return judge.places.is_beaten(judge.table(h.acts), act.face, act.zone)
    return is_spent(judge, h, act.face, act.zone)


def _is_hasty(act: TableAct) -> bool:
    """True if only the turn speaks against an act: its player may have put the card down too early."""
    is_laid = act.manner is Manner.LAID and not act.extra
    return is_laid and bool(act.reasons) and all(why.code is Code.NOT_YOUR_TURN for why in act.reasons)


def since_s(acts: Sequence[TableAct]) -> float:
    """Return when the last of these acts was seen first."""
    return acts[-1].since_s if acts else -math.inf


def _are_legal(before: Sequence[TableAct], now: Sequence[TableAct]) -> bool:
    """True if the acts that were legal are."""
    return all(new.is_legal or not old.is_legal for old, new in zip(before, now, strict=True))


def back(card: TableCard, zone: str, t_s: float) -> TableAct:
    """Return the act of taking the last recorded play back."""
    return TableAct(card.serial, card.face, zone, False, Manner.BACK, t_s, t_s)

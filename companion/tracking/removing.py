"""Why a card is not seen: the camera missed it, or somebody picked it up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from companion.rules.cards import HAZARD_OF, Family
from companion.rules.table import Table
from companion.tabletop.mat_layout import DISCARD_ZONE, is_pile
from companion.tracking.hypothesis import Gone, Hypothesis, Judge, Manner, TableAct, TableCard
from companion.tracking.likelihood import DISCARDED_S, Likelihood
from companion.tracking.looks import SeenTable, ZoneLook
from companion.tracking.playing import Playing, back, since_s

MINOR = 0.3  # costs below this need no other explanation


class Removing:
    """What may have become of cards that should show, on a table as it was seen last."""

    def __init__(self, judge: Judge, looks: SeenTable, likely: Likelihood, playing: Playing) -> None:
        self._judge, self._costs, self._t_s = judge, judge.costs, looks.t_s
        self._likely, self._playing = likely, playing

    def missing(self, h: Hypothesis, look: ZoneLook, seen: set[int], count: int, most: float) -> Iterator[Hypothesis]:
        """Yield the hypotheses in which cards that should show were missed or removed.

        The first `count` cards of the zone lay there before this look.
        """
        cards = h.zones[look.zone]
        table = self._judge.table(h.acts)
        is_bare = look.zone == DISCARD_ZONE and look.is_visible and not look.spots
        if cards and is_bare and table.edition.reshuffles and not table.draw_pile:
            # They become the draw pile.
            yield h._replace(zones={**h.zones, look.zone: ()}, handling=h.handling + self._costs.cleared)
        costs = {i: c for i, c in self._likely.misses(cards, seen, look).items() if i < count}
        h = h._replace(handling=h.handling + sum(costs.values()))
        yield h
        heavy = [i for i, cost in costs.items() if cost >= MINOR]
        singles = [(i,) for i in heavy[-3:]] if len(heavy) > 1 else []
        for away in [tuple(heavy), *singles] if heavy else []:
            yield from self._removed(
                h._replace(handling=h.handling - sum(costs[i] for i in away)), look, [cards[i] for i in away], most
            )

    def _removed(self, h: Hypothesis, look: ZoneLook, away: Sequence[TableCard], most: float) -> Iterator[Hypothesis]:
        """Yield the hypotheses in which these cards were removed."""
        costs, serials, zone = self._costs, {card.serial for card in away}, look.zone
        kept = tuple(card for card in h.zones[zone] if card.serial not in serials)
        lifted = tuple(one for one in h.lifted if self._t_s - one.t_s <= DISCARDED_S)
        handling = h.handling + self._likely.no_hand(look)
        lifted += tuple(Gone(card, zone, self._t_s) for card in away if h.told_of(card.serial) is not None)
        base = h._replace(zones={**h.zones, zone: kept}, lifted=lifted, handling=handling)
        table = self._judge.table(h.acts)
        begins = 0.0 if h.is_gathering or table.is_over else costs.gathering
        # Where nothing is left, the covered cards are gathered in with the others.
        left = kept if look.spots else ()
        gathered_in = (*away, *(card for card in reversed(kept) if card not in left))
        missed = tuple(
            Gone(card, zone, self._t_s, paid=costs.gathered)
            for card in gathered_in
            if self._is_recorded(h, table, card, zone)
        )
        gathered = (h.handling if h.is_gathering else base.handling) + begins + costs.gathered * len(away)
        clear = base._replace(
            zones={**h.zones, zone: left},
            handling=gathered,
            is_gathering=True,
            gathered_s=self._t_s,
            gone=h.gone + missed,
        )
        yield clear
        if begins:
            yield from self._gathered_at_an_end(clear._replace(handling=gathered - begins), most)
        if table.is_over:
            return
        yield self._picked_up(base, away, zone)
        if len(away) == 1:
            yield from self._picked_up_alone(base, h, away[0], look)

    def _gathered_at_an_end(self, h: Hypothesis, most: float) -> Iterator[Hypothesis]:
        """Yield the hypotheses in which the camera missed the play that ended the hand."""
        table = self._judge.table(h.acts)
        if table.extension_offered_to is not None or h.cost + self._costs.unseen_stack > most:
            return
        for play, cost in self._playing.plays_unseen(table, since_s(h.acts), self._t_s):
            acts = self._judge.judged(h.acts, [self._playing.unseen_act(h, play, cost, self._t_s)])
            if acts[-1].is_legal and self._judge.table(acts).is_over:
                yield h._replace(acts=acts)

    def _picked_up(self, h: Hypothesis, away: Sequence[TableCard], zone: str) -> Hypothesis:
        """The hypothesis in which each of these cards was picked up for a reason of its own."""
        costs, table = self._costs, self._judge.table(h.acts)
        cost, acts, gone = 0.0, h.acts, h.gone
        for card in reversed(away):
            n = next((n for n, act in enumerate(acts) if act.serial == card.serial), None)
            is_last = n is not None and n == len(acts) - 1
            is_slip = n is not None and not acts[n].is_legal
            if n is not None and (is_slip or (is_last and not self._likely.is_beaten(h, card, zone))):
                # What it cost to lay it stays.
                before, is_legal = acts[-1].total, acts[n].is_legal
                acts = self._judge.judged(acts[:n], acts[n + 1 :])
                cost += costs.taken_back if is_legal else costs.slip_back
                cost += before - (acts[-1].total if acts else 0.0)
            elif self._likely.is_beaten(h, card, zone) and zone != DISCARD_ZONE:
                cost += costs.cleared
            elif n is None and not self._is_recorded(h, table, card, zone):
                cost += costs.slip_back
            else:
                cost += costs.lifted
                gone = (*gone, Gone(card, zone, self._t_s, paid=costs.lifted))
        # A card whose play is undone is back in a hand.
        known = {act.serial for act in acts}
        lifted = (*h.lifted, *(Gone(card, zone, self._t_s) for card in away if card.serial in known))
        return h._replace(acts=acts, handling=h.handling + cost, gone=gone, lifted=lifted)

    def _picked_up_alone(
        self, base: Hypothesis, h: Hypothesis, card: TableCard, look: ZoneLook
    ) -> Iterator[Hypothesis]:
        """Yield the hypotheses in which picking up this card meant something; `h` is how the table was before."""
        table, zone = self._judge.table(h.acts), look.zone
        if zone == DISCARD_ZONE and table.discards[-1:] == (card.face,):
            taken = TableAct(card.serial, card.face, zone, False, Manner.TAKEN, self._t_s, look.before_s)
            acts = self._judge.judged(h.acts, [taken._replace(extra=self._costs.taken)])
            if acts[-1].is_legal:
                yield base._replace(acts=acts, lifted=h.lifted)
        if h.last_told is not None and h.last_told.serial == card.serial and self._is_recorded(h, table, card, zone):
            acts = self._judge.judged((), (back(card, zone, self._t_s), *h.acts))
            gone = (*h.gone, Gone(card, zone, self._t_s))
            yield base._replace(acts=acts, gone=gone, handling=base.handling + self._costs.taken_back)
        is_last = bool(h.acts) and h.acts[-1].serial == card.serial and h.acts[-1].is_legal
        if is_last and card.face.family is Family.HAZARD and is_pile(zone) and zone != DISCARD_ZONE:
            # Its remedy may go to the discard pile with it.
            yield base._replace(
                gone=(*h.gone, Gone(card, zone, self._t_s, paid=self._costs.lifted)),
                handling=base.handling + self._costs.lifted,
            )
        n = next((n for n, act in enumerate(h.acts) if self._may_have_ended(act, card)), None)
        if n is not None:
            ended = h.acts[n]._replace(manner=Manner.ENDED, extra=self._costs.ended)
            acts = self._judge.judged(h.acts[:n], (ended, *h.acts[n + 1 :]))
            if acts[n].is_legal:
                yield base._replace(acts=acts, handling=base.handling + self._costs.cleared)

    def _may_have_ended(self, act: TableAct, hazard: TableCard) -> bool:
        """True if a discarded remedy may have been put there together with this hazard."""
        is_remedy = act.manner is Manner.LAID and act.zone == DISCARD_ZONE and HAZARD_OF.get(act.face) is hazard.face
        return is_remedy and self._t_s - act.since_s <= DISCARDED_S

    def _is_recorded(self, h: Hypothesis, table: Table, card: TableCard, zone: str) -> bool:
        return h.told_of(card.serial) is not None and card.face in self._judge.places.cards(table, zone)

"""How likely a look is: the cost of each explanation of a new sighting, and of each card that is not seen.

Zones are independent within a look, and the confidence of a reading is the probability of its face.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from companion.rules.cards import Card, Family
from companion.tabletop.card_ids import face_of
from companion.tabletop.mat_layout import DISCARD_ZONE, is_pile
from companion.tracking.handling import MOST_WEIGHT
from companion.tracking.hypothesis import Hypothesis, Judge, TableCard, is_spent
from companion.tracking.looks import SeenCard, SeenTable, ZoneLook

UNTOUCHED_MM = 1.2  # measuring error: an untouched card is seen this close to where it was
UNDISTURBED_MM = 8.0  # the same, if nothing was over its zone
UNREAD_MM = 20.0  # distance from a sighting that cannot be read to the card that it may be
LEAST_SURE = 0.005  # probability of a face that the reader does not mention
REPLACED_MM = 40.0  # an equal card that vanishes this close may be this one, moved
NOWHERE = 0j  # place of a card that was missed, unless it lies on an equal one
COVERED_MM, CLEAR_MM = 30.0, 60.0  # distances between two cards' centers: surely covered, surely not
COVERED = 0.97  # share of cards below another that are not seen any more
STILL_COVERED = 0.9  # the same if it was in view with those cards on it; 0.8 to 0.95 do as well
OLD_LOOKS = 12  # sightings after which a spot is no news
DISCARDED_S = 6.0  # longest time that a hand holds a card that it moves to another zone
FIRST_S = 0.8  # time from the first look in which cards already on the table are seen


class Option(NamedTuple):
    """One explanation of a new spot."""

    cost: float
    what: str  # same, moved, new, error
    card: TableCard | None = None  # the card that it is
    zone: str | None = None  # where that lay
    face: Card = Card.UNKNOWN  # of a new card


class Likelihood:
    """The likelihood of the latest look at a table."""

    def __init__(self, judge: Judge, looks: SeenTable) -> None:
        self._judge, self._costs, self._looks = judge, judge.costs, looks
        # Zones that a hand may have reached into a moment ago.
        hidden = ((zone, memory.hidden) for zone, memory in looks.zones.items())
        self._touched = {zone for zone, spans in hidden if spans and looks.t_s - spans[-1][1] <= DISCARDED_S}

    def misses(self, cards: Sequence[TableCard], seen: set[int], look: ZoneLook) -> dict[int, float]:
        """The cost of each card that should show and is not seen."""
        left = (i for i in range(len(cards)) if i not in seen and cards[i].spot)
        costs, weight = self._costs, look.weight
        covers = ((i, _cover(cards, i, look)) for i in left)
        return {
            i: costs.miss * weight * (1 - cover) * self._recognized(cards[i], look)
            for i, cover in covers
            if cover < 1 and look.places.show(cards[i].at_mm)
        }

    def _recognized(self, card: TableCard, look: ZoneLook) -> float:
        """Return the weight of a miss: an uncovered face is recognized less surely than before it was covered."""
        is_uncovered = card.spot not in look.before and card.card is None
        return self._costs.uncovered if is_uncovered else 1.0

    def options(
        self, h: Hypothesis, cards: Sequence[TableCard], seen: set[int], spot: SeenCard, look: ZoneLook
    ) -> Iterator[Option]:
        """Yield what a new spot may be, with the cost of each; `seen` are the indices of the cards seen elsewhere."""
        costs = self._costs
        for i, card in enumerate(cards):
            if i not in seen and (cost := self._same(card, spot, look)) is not None:
                yield Option(cost + costs.dug_out * _is_dug_out(cards, i, seen, look), "same", card)
        yield from self._moved(h, spot, look.zone)
        if spot.is_unread:
            for rival, sure in spot.rivals:
                if self._is_known(h, rival):
                    continue
                yield Option(-math.log(max(LEAST_SURE, sure)) + costs.unread, "new", face=face_of(rival))
        else:
            alike = (
                c
                for i, c in enumerate(cards)
                if i not in seen and c.face is spot.face and c.spot in look.before and c.card is None
            )
            is_near = spot.card is None and any(abs(c.at_mm - spot.at_mm) < REPLACED_MM for c in alike)
            extra = costs.double if spot.is_double else costs.stacked
            cost = costs.expected * _is_expected(cards, spot)
            cost += extra * is_near - math.log(max(spot.confidence, 0.05)) + self.no_hand(look)
            is_possible = spot.card is None or not self._is_known(h, spot.card)
            if is_possible and self._judge.table(h.acts).copies_left(spot.face) > 0:
                yield Option(cost, "new", face=spot.face)
        is_news = look.is_first and spot.number not in look.before
        is_seen_twice = spot.is_double and any(c.face is spot.face for i, c in enumerate(cards) if i in seen)
        yield Option(costs.twice * is_news if is_seen_twice else self._error(spot, look), "error")

    def _error(self, spot: SeenCard, look: ZoneLook) -> float:
        """The cost of a look at a spot where no card is."""
        costs = self._costs
        confidence = spot.confidence if not spot.is_unread else sum(sure for _, sure in spot.rivals)
        sure = -math.log(max(1e-2, 1 - confidence)) * costs.clutter if confidence else costs.clutter
        share = 1.0 if look.places.show(spot.at_mm) else costs.hidden_share
        share *= costs.sticker if spot.card is not None else costs.old_error if spot.looks > OLD_LOOKS else 1.0
        return sure / MOST_WEIGHT * look.weight * share

    def is_next_hand(self, h: Hypothesis) -> bool:
        """True if the cards are being gathered in, and a new one belongs to the next hand."""
        return h.is_gathering and self._judge.table(h.acts).is_over

    def _is_known(self, h: Hypothesis, sticker: str) -> bool:
        """True if the card with this sticker lies on the table, or the record has it there."""
        lying = (card for there in h.zones.values() for card in there)
        gone = () if self.is_next_hand(h) else (*h.gone, *h.lifted)
        away = (one.card for one in gone if h.told_of(one.card.serial) is not None)
        return any(card.card == sticker for card in (*lying, *away))

    def no_hand(self, look: ZoneLook) -> float:
        """The cost of a card that was moved although nothing was over its zone."""
        return self._costs.no_hand * (not look.is_touched)

    def _same(self, card: TableCard, spot: SeenCard, look: ZoneLook) -> float | None:
        """The cost of a new spot being this card of its zone, which is not seen elsewhere; None if it cannot be."""
        costs, off_mm = self._costs, abs(card.at_mm - spot.at_mm)
        if card.card is not None and spot.card is not None:
            return None
        if spot.is_unread or card.face is Card.UNKNOWN:
            like = max((sure for rival, sure in spot.rivals if face_of(rival) is card.face), default=LEAST_SURE)
            cost = costs.unread * 0.3 + off_mm / UNREAD_MM - math.log(max(like, LEAST_SURE)) * bool(spot.rivals)
            return cost if off_mm <= UNREAD_MM or not card.spot else None
        if card.face is not spot.face:
            # It could not be read before.
            return 0.0 if card.spot == spot.number else None
        if not card.spot and card.at_mm == NOWHERE:
            # A recorded card is seen for the first time. In an area, a card that the first look missed is covered.
            was_covered = card.is_old and spot.earliest_s > self._looks.begun_s + FIRST_S and not is_pile(look.zone)
            return costs.seen_at_last + (costs.dug_out + self.no_hand(look)) * was_covered
        turn = abs((spot.turn_deg - card.turn_deg + 180) % 360 - 180)
        is_touched = off_mm > (UNTOUCHED_MM if look.is_touched else UNDISTURBED_MM)
        cost = (costs.nudge if is_touched else costs.untouched) + costs.nudge_double * spot.is_double
        return cost + min(costs.tidied, off_mm / costs.mm_per_nat + turn / costs.deg_per_nat)

    def _moved(self, h: Hypothesis, spot: SeenCard, zone: str) -> Iterator[Option]:
        """Explanations by a card that lay in another zone, or was in the air."""
        if spot.is_unread:
            return
        for old, there in h.zones.items():
            if old != zone:
                for card in there:
                    is_it = _is_same_card(card, spot) if card.spot else self._may_be_cleared(h, card, spot, old, zone)
                    if is_it:
                        yield Option(self._carrying(h, card, old, zone), "moved", card, old)
        for one in h.gone if not self.is_next_hand(h) else ():
            if one.to is None and one.zone == zone and _is_same_card(one.card, spot):
                yield Option(self._costs.returned, "moved", one.card, None)
        for one in h.lifted:
            # A card without a play may be played once it has been picked up.
            is_known = h.act_of(one.card.serial) is not None or h.told_of(one.card.serial) is not None
            if (
                is_known
                and self._looks.t_s - one.t_s <= DISCARDED_S
                and one.zone != zone
                and _is_same_card(one.card, spot)
            ):
                yield Option(max(0.0, self._carrying(h, one.card, one.zone, zone) - 0.5), "moved", one.card, None)

    def _may_be_cleared(self, h: Hypothesis, card: TableCard, spot: SeenCard, old: str, new: str) -> bool:
        """True if a spot on the discard pile may be a beaten card that was never seen where it was played."""
        return new == DISCARD_ZONE and card.face is spot.face and self.is_beaten(h, card, old)

    def _carrying(self, h: Hypothesis, card: TableCard, old: str, new: str) -> float:
        if new == DISCARD_ZONE and self.is_beaten(h, card, old):
            is_deep = any(c.serial == card.serial for c in h.zones[old][:-2])
            # To carry it off, a hand has to reach into both places; a card that was never seen may be gone for long.
            no_hand = 2 * self._costs.no_hand * (card.spot > 0 and old not in self._touched)
            had = card.face.family is Family.REMEDY and card.face in self._cards(h, old)
            return self._costs.cleared + self._costs.with_remedy * had + no_hand + self._costs.dug_out * is_deep
        if h.acts and h.acts[-1].serial == card.serial:
            is_fine = h.acts[-1].is_legal and self._judge.places.belongs(card.face, old)
            return self._costs.changed if is_fine else self._costs.corrected
        return self._costs.moved

    def is_beaten(self, h: Hypothesis, card: TableCard, zone: str) -> bool:
        """True if a card of a side's pile is a hazard that is no longer active, or a spent remedy."""
        if not is_pile(zone):
            return False
        if card.face.family is Family.HAZARD:
            return self._judge.places.is_beaten(self._judge.table(h.acts), card.face, zone)
        # Its hazard may have been cleared away in the same moment.
        shown = tuple(one for one in h.zones.get(zone, ()) if self.is_shown(one, zone))
        return is_spent(self._judge, h._replace(zones={**h.zones, zone: shown}), card.face, zone)

    def _cards(self, h: Hypothesis, zone: str) -> tuple[Card, ...]:
        """Return what the record has in a zone after all acts."""
        return self._judge.places.cards(self._judge.table(h.acts), zone)

    def is_shown(self, card: TableCard, zone: str) -> bool:
        """True if the latest look saw this card in this zone."""
        spots = self._looks.zones[zone].spots if zone in self._looks.zones else ()
        return any(spot.number == card.spot and spot.lost_s is None for spot in spots)


def _is_dug_out(cards: Sequence[TableCard], i: int, seen: set[int], look: ZoneLook) -> bool:
    """True if a card shows that was covered before, though what covered it is still there."""
    card, upper = cards[i], [cards[n] for n in seen if n > i]
    if card.spot in look.before:
        return False
    if is_pile(look.zone):
        return bool(upper)
    return card.spot != 0 and any(abs(one.at_mm - card.at_mm) < CLEAR_MM for one in upper)


def _is_expected(cards: Sequence[TableCard], spot: SeenCard) -> bool:
    """True if the record has an equal, uncovered card there that was never seen."""
    last_seen = max((i for i, card in enumerate(cards) if card.spot), default=-1)
    return any(card.face is spot.face and not card.spot for card in cards[last_seen + 1 :])


def _is_same_card(card: TableCard, spot: SeenCard) -> bool:
    if card.card is not None or spot.card is not None:
        return card.card == spot.card
    return card.face is spot.face


def _cover(cards: Sequence[TableCard], i: int, look: ZoneLook) -> float:
    """Return how surely later cards hide one, from 0 to 1; what was hidden before stays hidden."""
    most = COVERED if cards[i].spot in look.before else 1.0
    upper = [card for card in cards[i + 1 :] if card.spot]
    if not upper:
        return 0.0
    if is_pile(look.zone):
        was_seen = cards[i].spot in look.before and all(card.spot in look.before for card in upper)
        return STILL_COVERED if was_seen else most
    off_mm = min(abs(cards[i].at_mm - card.at_mm) for card in upper)
    return min(most, max(0.0, (CLEAR_MM - off_mm) / (CLEAR_MM - COVERED_MM)))

"""What people may have done between two looks at a zone: each action yields the hypotheses that follow, with its cost.

A look at a zone is compared with the cards that a hypothesis has there. What agrees costs nothing. Each new spot is one
of: the same card, moved a little; a card from another zone; a new card, played by somebody; an error of the eye. Each
card that should be visible and is not was missed, or removed. The rules set the price of a play, never forbid it.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from companion.rules.cards import HAZARD_OF, SAFETY_OF, Card, Family
from companion.rules.play import Play, Verb
from companion.rules.reasons import Code
from companion.rules.table import PILE_OF, Table
from companion.tabletop.card_ids import face_of
from companion.tabletop.mat_layout import DISCARD_ZONE, is_pile
from companion.tracking.handling import MOST_WEIGHT
from companion.tracking.hypothesis import Gone, Hypothesis, Judge, Manner, TableAct, TableCard
from companion.tracking.looks import SeenCard, SeenTable, ZoneLook

UNTOUCHED_MM = 1.2  # measuring error: a card that nobody touched is seen within this distance of where it was
UNREAD_MM = 20.0  # distance from a sighting that cannot be read to the card that it may be
LEAST_SURE = 0.005  # probability of a face that the reader does not mention
UNDISTURBED_MM = 8.0  # the same, if nothing was over its zone
REPLACED_MM = 40.0  # an equal card that vanishes this close may be this one, moved
NOWHERE = 0j  # place of a card that was missed, unless it lies on an equal one
COVERED_MM, CLEAR_MM = 30.0, 60.0  # distances between two cards' centers: surely covered, surely not
COVERED = 0.97  # share of cards below another that are not seen any more
OLD_LOOKS = 12  # sightings after which a spot is no news
MOST_SAVED = 4.0  # what a way may cost less in the end
HAND_S = 1.0  # for this long the hand of a play may stay
DISCARDED_S = 6.0  # longest time that a hand holds a card that it moves to another zone
DOUBLED_S = 2.0  # an accelerator is played together with its distance card
MOST_WAYS = 12  # combinations of explanations tried for the new spots of a zone
MOST_BACK = 4  # how many plays back a play may have been made that is seen only now
MOST_REACH = 8  # how many plays back a play may have been missed
FIRST_S = 0.8  # time from the first look in which cards already on the table are seen
MINOR = 0.3  # costs below this need no other explanation


class Option(NamedTuple):
    """One explanation of a new spot."""

    cost: float
    what: str  # same, moved, new, error
    card: TableCard | None = None  # the card that it is
    zone: str | None = None  # where that lay
    face: Card = Card.UNKNOWN  # of a new card


_cost = operator.attrgetter("cost")


class Actions:
    """The actions at one table."""

    def __init__(self, judge: Judge, looks: SeenTable) -> None:
        self._judge, self._costs, self._looks = judge, judge.costs, looks
        # Zones that a hand may have reached into a moment ago.
        hidden = ((zone, memory.hidden) for zone, memory in looks.zones.items())
        self._touched = {zone for zone, spans in hidden if spans and looks.t_s - spans[-1][1] <= DISCARDED_S}
        self.most = math.inf  # cost above which a hypothesis is not worth following

    def explained(self, h: Hypothesis, look: ZoneLook, t_s: float) -> Iterator[Hypothesis]:
        """Yield the hypotheses that explain a look at a zone."""
        h = _with_pushed(h, look)
        cards = h.zones.get(look.zone, ())
        found = _found(cards, look.spots)
        news = [spot for spot in look.spots if spot.number not in found]
        seen = set(found.values())
        misses = {} if not look.is_visible else self._misses(cards, seen, look)
        light = sum(misses.values())
        if not news and all(cost < MINOR for cost in misses.values()):
            h = self._with_readings(h, look, found)
            yield h if not light else h._replace(handling=h.handling + light)
            return
        choices = [sorted(self._options(h, cards, seen, spot, look, t_s), key=_cost) for spot in news]
        for picks, cost in _ways(choices):
            # That a card of the record was carried is paid for anew.
            unpaid = sum(p.cost for p in picks if p.what == "moved" and p.card and h.told_of(p.card.serial))
            if h.cost + cost - unpaid > self.most + MOST_SAVED:
                continue
            child = self._with_readings(h, look, found)
            yield from self._taken_up(child, look, news, picks, cost, seen, t_s)

    # What is seen

    def _with_readings(self, h: Hypothesis, look: ZoneLook, found: Mapping[int, int]) -> Hypothesis:
        """The hypothesis with the places of its cards as seen now."""
        cards = list(h.zones.get(look.zone, ()))
        is_new = False
        for spot in look.spots:
            i = found.get(spot.number)
            if i is not None and (cards[i].spot != spot.number or abs(cards[i].at_mm - spot.at_mm) > 0.5):
                cards[i] = _as_seen(cards[i], spot)
                is_new = True
        return h._replace(zones={**h.zones, look.zone: tuple(cards)}) if is_new else h

    def _misses(self, cards: Sequence[TableCard], seen: set[int], look: ZoneLook) -> dict[int, float]:
        """The cost of each card that should show and is not seen."""
        left = (i for i in range(len(cards)) if i not in seen and cards[i].spot)
        costs, weight = self._costs, look.weight
        covers = ((i, _cover(cards, i, look)) for i in left)
        return {
            i: costs.miss * weight * (1 - cover) * self._recognized(cards[i], look) for i, cover in covers if cover < 1
        }

    def _recognized(self, card: TableCard, look: ZoneLook) -> float:
        """Return the weight of a miss: an uncovered face is recognized less surely than before it was covered."""
        is_uncovered = card.spot not in look.before and card.card is None
        return self._costs.uncovered if is_uncovered else 1.0

    # Explanations of a new spot

    def _options(
        self, h: Hypothesis, cards: Sequence[TableCard], seen: set[int], spot: SeenCard, look: ZoneLook, t_s: float
    ) -> Iterator[Option]:
        costs = self._costs
        for i, card in enumerate(cards):
            if i not in seen and (cost := self._same(card, spot, look)) is not None:
                is_beneath = is_pile(look.zone) and any(n > i for n in seen)
                is_covered = is_beneath if not card.spot else card.spot not in look.before
                yield Option(cost + costs.dug_out * is_covered, "same", card)
        yield from self._moved(h, spot, look.zone, t_s)
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
            cost += extra * is_near - math.log(max(spot.confidence, 0.05)) + self._no_hand(look)
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
        share = 1.0 if look.is_visible else costs.hidden_share
        share *= costs.sticker if spot.card is not None else costs.old_error if spot.looks > OLD_LOOKS else 1.0
        return sure / MOST_WEIGHT * look.weight * share

    def _is_next_hand(self, h: Hypothesis) -> bool:
        """True if the cards are being gathered in, and a new one belongs to the next hand."""
        return h.is_gathering and self._judge.table(h.acts).is_over

    def _is_known(self, h: Hypothesis, sticker: str) -> bool:
        """True if the card with this sticker lies on the table, or the record has it there."""
        lying = (card for there in h.zones.values() for card in there)
        gone = () if self._is_next_hand(h) else (*h.gone, *h.lifted)
        away = (one.card for one in gone if h.told_of(one.card.serial) is not None)
        return any(card.card == sticker for card in (*lying, *away))

    def _no_hand(self, look: ZoneLook) -> float:
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
            return costs.seen_at_last + (costs.dug_out + self._no_hand(look)) * was_covered
        turn = abs((spot.turn_deg - card.turn_deg + 180) % 360 - 180)
        is_touched = off_mm > (UNTOUCHED_MM if look.is_touched else UNDISTURBED_MM)
        cost = (costs.nudge if is_touched else costs.untouched) + costs.nudge_double * spot.is_double
        return cost + min(costs.tidied, off_mm / costs.mm_per_nat + turn / costs.deg_per_nat)

    def _moved(self, h: Hypothesis, spot: SeenCard, zone: str, t_s: float) -> Iterator[Option]:
        """Explanations by a card that lay in another zone, or was in the air."""
        if spot.is_unread:
            return
        for old, there in h.zones.items():
            if old != zone:
                for card in there:
                    if _is_same_card(card, spot) if card.spot else self._may_be_cleared(h, card, spot, old, zone):
                        yield Option(self._carrying(h, card, old, zone), "moved", card, old)
        for one in h.gone if not self._is_next_hand(h) else ():
            if one.to is None and one.zone == zone and _is_same_card(one.card, spot):
                yield Option(self._costs.returned, "moved", one.card, None)
        for one in h.lifted:
            # A card without a play may be played once it has been picked up.
            is_known = h.act_of(one.card.serial) is not None or h.told_of(one.card.serial) is not None
            if is_known and t_s - one.t_s <= DISCARDED_S and one.zone != zone and _is_same_card(one.card, spot):
                yield Option(max(0.0, self._carrying(h, one.card, one.zone, zone) - 0.5), "moved", one.card, None)

    def _may_be_cleared(self, h: Hypothesis, card: TableCard, spot: SeenCard, old: str, new: str) -> bool:
        """True if a spot on the discard pile may be a beaten card that was never seen where it was played."""
        return new == DISCARD_ZONE and card.face is spot.face and self._is_beaten(h, card, old)

    def _carrying(self, h: Hypothesis, card: TableCard, old: str, new: str) -> float:
        if new == DISCARD_ZONE and self._is_beaten(h, card, old):
            is_deep = any(c.serial == card.serial for c in h.zones[old][:-2])
            # To carry it off, a hand has to reach into both places; a card that was never seen may be gone for long.
            no_hand = 2 * self._costs.no_hand * (card.spot > 0 and old not in self._touched)
            return self._costs.cleared + no_hand + self._costs.dug_out * is_deep
        if h.acts and h.acts[-1].serial == card.serial:
            is_fine = h.acts[-1].is_legal and self._judge.places.belongs(card.face, old)
            return self._costs.changed if is_fine else self._costs.corrected
        return self._costs.moved

    def _is_beaten(self, h: Hypothesis, card: TableCard, zone: str) -> bool:
        """True if a card of a side's pile is a hazard that is no longer active, or the remedy or safety's leftover."""
        table = self._judge.table(h.acts)
        there = self._judge.places.cards(table, zone)
        if card.face.family is Family.HAZARD:
            return is_pile(zone) and self._judge.places.is_beaten(table, card.face, zone)
        return card.face.family is Family.REMEDY and is_pile(zone) and card.face not in there

    # What follows

    def _taken_up(
        self,
        h: Hypothesis,
        look: ZoneLook,
        news: Sequence[SeenCard],
        picks: Sequence[Option],
        cost: float,
        seen: set[int],
        t_s: float,
    ) -> Iterator[Hypothesis]:
        """Yield the hypotheses in which the new spots are explained like this."""
        zones, seen, lifted, moved, new = dict(h.zones), set(seen), h.lifted, {}, []
        cards, added = list(zones.get(look.zone, ())), []
        nudged = 0
        for spot, pick in zip(news, picks, strict=True):
            if pick.what == "same" and pick.card is not None:
                i = next(n for n, card in enumerate(cards) if card.serial == pick.card.serial)
                if not cards[i].spot:
                    h = self._seen_at_last(h, cards[i].serial, spot)
                if not spot.is_unread and spot.face is not cards[i].face:
                    h = self._read_at_last(h, cards[i].serial, spot.face)
                nudged += bool(cards[i].spot) and abs(cards[i].at_mm - spot.at_mm) > UNTOUCHED_MM
                cards[i] = _as_seen(cards[i], spot)
                seen.add(i)
            elif pick.what == "moved" and pick.card is not None:
                if pick.zone is not None:
                    zones[pick.zone] = tuple(c for c in zones[pick.zone] if c.serial != pick.card.serial)
                lifted = tuple(one for one in lifted if one.card.serial != pick.card.serial)
                added.append(_as_seen(pick.card, spot)._replace(serial=spot.number))
                moved[spot.number] = spot, pick.cost, pick.card.serial
                h = _renumbered(h, pick.card.serial, spot.number)
            elif pick.what == "new":
                added.append(TableCard(spot.number, pick.face, spot.card, spot.number, spot.at_mm, spot.turn_deg))
                new.append(
                    TableAct(
                        spot.number, pick.face, look.zone, spot.sideways, Manner.LAID, spot.first_s, spot.earliest_s
                    )
                )
        cost -= max(0, nudged - 1) * (self._costs.nudge - self._costs.nudge_card)
        count = len(cards)
        zones[look.zone] = (*cards, *added)
        is_next = self._is_next_hand(h)
        if (new or moved) and h.is_gathering and not is_next:
            cost += self._costs.gathering
        is_gathering = is_next or (h.is_gathering and not (new or moved))
        child = h._replace(zones=zones, lifted=lifted, handling=h.handling + cost, is_gathering=is_gathering)
        for one in self._put_elsewhere(child, moved, look.zone):
            for played in self._played(one, new, look):
                yield from self._missing(played, look, seen, count, t_s)

    def _seen_at_last(self, h: Hypothesis, serial: int, spot: SeenCard) -> Hypothesis:
        """The hypothesis in which the card of a missed play is seen now."""
        n = next((n for n, act in enumerate(h.acts) if act.serial == serial), None)
        if n is None:
            return h
        extra = min(h.acts[n].extra, self._costs.seen_late)
        late = h.acts[n]._replace(manner=Manner.LAID, since_s=spot.first_s, extra=extra)
        return h._replace(acts=self._judge.judged(h.acts[:n], (late, *h.acts[n + 1 :])))

    def _read_at_last(self, h: Hypothesis, serial: int, face: Card) -> Hypothesis:
        """The hypothesis in which a card has this face, which was only guessed before."""
        n = next((n for n, act in enumerate(h.acts) if act.serial == serial), None)
        if n is None:
            return h
        read = h.acts[n]._replace(face=face)
        return h._replace(acts=self._judge.judged(h.acts[:n], (read, *h.acts[n + 1 :])))

    def _put_elsewhere(
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
                    gone = (*gone, Gone(card, told.zone, spot.first_s, zone))
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
                    h = h._replace(gone=(*gone, Gone(card, act.zone, spot.first_s, zone)))
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
        back = self._back(card, told.zone, spot.first_s)
        laid = TableAct(told.serial, told.face, zone, spot.sideways, Manner.LAID, spot.first_s, spot.earliest_s)
        acts = self._judge.judged((), (back, laid, *h.acts))
        gone = (*h.gone, Gone(card, told.zone, spot.first_s, zone))
        yield h._replace(acts=acts, gone=gone, handling=h.handling + self._costs.changed)

    def _beaten_unseen(self, h: Hypothesis, hazard: TableAct) -> Iterator[Hypothesis]:
        """Yield the hypotheses in which the camera missed the card that beat a hazard."""
        table = self._judge.table(h.acts)
        if table.is_over or table.extension_offered_to is not None:
            return
        beating = {remedy for remedy, ended in HAZARD_OF.items() if ended is hazard.face} | {SAFETY_OF.get(hazard.face)}
        for play, _, _ in self._judge.may_be_missed(table):
            if play.verb is Verb.PLAY and play.card in beating:
                act = self._unseen_act(h, play, self._costs.unseen_play, h.acts[-1].since_s)
                acts = self._judge.judged(h.acts, [act])
                saved = self._costs.moved - self._costs.cleared
                yield self._with_expected(h._replace(acts=acts, handling=h.handling - saved), act)

    def _unseen_act(self, h: Hypothesis, play: Play, cost: float, at_s: float) -> TableAct:
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

    def _played(self, h: Hypothesis, new: Sequence[TableAct], look: ZoneLook) -> Iterator[Hypothesis]:
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
            for acts in self._placed(h, order, look):
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

    def _placed(self, h: Hypothesis, new: Sequence[TableAct], look: ZoneLook) -> Iterator[tuple[TableAct, ...]]:
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
            yield from self._with_unseen(h, end, new)

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
        return all(card.face is not hazard or not self._is_shown(card, zone) for card in h.zones.get(zone, ())[-1:])

    def _is_shown(self, card: TableCard, zone: str) -> bool:
        spots = self._looks.zones[zone].spots if zone in self._looks.zones else ()
        return any(spot.number == card.spot and spot.lost_s is None for spot in spots)

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

    def _with_unseen(self, h: Hypothesis, end: int, new: Sequence[TableAct]) -> Iterator[tuple[TableAct, ...]]:
        """Yield the acts with one more that the camera missed, where the new ones, before `end`, are legal after it."""
        acts, most = h.acts, self.most - h.handling
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
            since_s = _since_s(before)
            for play, cost in self._plays_unseen(table, since_s, at_s):
                if total + cost + self._costs.legal <= most:
                    act = self._unseen_act(h, play, cost, at_s)
                    found = self._judge.judged(before, (act, *rest), needed=needed)
                    if found:
                        yield found

    def _plays_unseen(self, table: Table, from_s: float, until_s: float) -> Iterator[tuple[Play, float]]:
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

    # Cards that are not seen

    def _missing(self, h: Hypothesis, look: ZoneLook, seen: set[int], count: int, t_s: float) -> Iterator[Hypothesis]:
        """Yield the hypotheses in which cards that should show were missed, or removed; `count` lay there before."""
        cards = h.zones[look.zone]
        table = self._judge.table(h.acts)
        is_bare = look.zone == DISCARD_ZONE and look.is_visible and not look.spots
        if cards and is_bare and table.edition.reshuffles and not table.draw_pile:
            # They become the draw pile.
            yield h._replace(zones={**h.zones, look.zone: ()}, handling=h.handling + self._costs.cleared)
        costs = {} if not look.is_visible else {i: c for i, c in self._misses(cards, seen, look).items() if i < count}
        h = h._replace(handling=h.handling + sum(costs.values()))
        yield h
        heavy = [i for i, cost in costs.items() if cost >= MINOR]
        singles = [(i,) for i in heavy[-3:]] if len(heavy) > 1 else []
        for away in [tuple(heavy), *singles] if heavy else []:
            yield from self._removed(
                h._replace(handling=h.handling - sum(costs[i] for i in away)), look, [cards[i] for i in away], t_s
            )

    def _removed(self, h: Hypothesis, look: ZoneLook, away: Sequence[TableCard], t_s: float) -> Iterator[Hypothesis]:
        """Yield the hypotheses in which these cards were removed."""
        costs, serials, zone = self._costs, {card.serial for card in away}, look.zone
        kept = tuple(card for card in h.zones[zone] if card.serial not in serials)
        lifted = tuple(one for one in h.lifted if t_s - one.t_s <= DISCARDED_S)
        handling = h.handling + self._no_hand(look)
        lifted += tuple(Gone(card, zone, t_s) for card in away if h.told_of(card.serial) is not None)
        base = h._replace(zones={**h.zones, zone: kept}, lifted=lifted, handling=handling)
        table = self._judge.table(h.acts)
        begins = 0.0 if h.is_gathering or table.is_over else costs.gathering
        # Where nothing is left, the covered cards are gathered in with the others.
        left = kept if look.spots else ()
        gathered_in = (*away, *(card for card in reversed(kept) if card not in left))
        missed = tuple(Gone(card, zone, t_s) for card in gathered_in if self._is_recorded(h, table, card, zone))
        gathered = (h.handling if h.is_gathering else base.handling) + begins + costs.gathered * len(away)
        clear = base._replace(
            zones={**h.zones, zone: left}, handling=gathered, is_gathering=True, gathered_s=t_s, gone=h.gone + missed
        )
        yield clear
        if begins:
            yield from self._gathered_at_an_end(clear._replace(handling=gathered - begins), t_s)
        if table.is_over:
            return
        yield self._picked_up(base, away, zone, t_s)
        if len(away) == 1:
            yield from self._picked_up_alone(base, h, away[0], look, t_s)

    def _gathered_at_an_end(self, h: Hypothesis, t_s: float) -> Iterator[Hypothesis]:
        """Yield the hypotheses in which the camera missed the play that ended the hand."""
        table = self._judge.table(h.acts)
        if table.extension_offered_to is not None or h.cost + self._costs.unseen_stack > self.most:
            return
        for play, cost in self._plays_unseen(table, _since_s(h.acts), t_s):
            acts = self._judge.judged(h.acts, [self._unseen_act(h, play, cost, t_s)])
            if acts[-1].is_legal and self._judge.table(acts).is_over:
                yield h._replace(acts=acts)

    def _picked_up(self, h: Hypothesis, away: Sequence[TableCard], zone: str, t_s: float) -> Hypothesis:
        """The hypothesis in which each of these cards was picked up for a reason of its own."""
        costs, table = self._costs, self._judge.table(h.acts)
        cost, acts, gone = 0.0, h.acts, h.gone
        for card in reversed(away):
            n = next((n for n, act in enumerate(acts) if act.serial == card.serial), None)
            is_last = n is not None and n == len(acts) - 1
            is_slip = n is not None and not acts[n].is_legal
            if n is not None and (is_slip or (is_last and not self._is_beaten(h, card, zone))):
                # What it cost to lay it stays.
                before, is_legal = acts[-1].total, acts[n].is_legal
                acts = self._judge.judged(acts[:n], acts[n + 1 :])
                cost += costs.taken_back if is_legal else costs.slip_back
                cost += before - (acts[-1].total if acts else 0.0)
            elif self._is_beaten(h, card, zone) and zone != DISCARD_ZONE:
                cost += costs.cleared
            elif n is None and not self._is_recorded(h, table, card, zone):
                cost += costs.slip_back
            else:
                cost += costs.lifted
                gone = (*gone, Gone(card, zone, t_s))
        # A card whose play is undone is back in a hand.
        known = {act.serial for act in acts}
        lifted = (*h.lifted, *(Gone(card, zone, t_s) for card in away if card.serial in known))
        return h._replace(acts=acts, handling=h.handling + cost, gone=gone, lifted=lifted)

    def _picked_up_alone(
        self, base: Hypothesis, h: Hypothesis, card: TableCard, look: ZoneLook, t_s: float
    ) -> Iterator[Hypothesis]:
        """Yield the hypotheses in which picking up this card meant something; `h` is how the table was before."""
        table, zone = self._judge.table(h.acts), look.zone
        if zone == DISCARD_ZONE and table.discards[-1:] == (card.face,):
            taken = TableAct(card.serial, card.face, zone, False, Manner.TAKEN, t_s, look.before_s)
            acts = self._judge.judged(h.acts, [taken._replace(extra=self._costs.taken)])
            if acts[-1].is_legal:
                yield base._replace(acts=acts, lifted=h.lifted)
        if h.last_told is not None and h.last_told.serial == card.serial and self._is_recorded(h, table, card, zone):
            acts = self._judge.judged((), (self._back(card, zone, t_s), *h.acts))
            gone = (*h.gone, Gone(card, zone, t_s))
            yield base._replace(acts=acts, gone=gone, handling=base.handling + self._costs.taken_back)
        is_last = bool(h.acts) and h.acts[-1].serial == card.serial and h.acts[-1].is_legal
        if is_last and card.face.family is Family.HAZARD and is_pile(zone) and zone != DISCARD_ZONE:
            # Its remedy may go to the discard pile with it.
            yield base._replace(gone=(*h.gone, Gone(card, zone, t_s)), handling=base.handling + self._costs.lifted)
        n = next((n for n, act in enumerate(h.acts) if self._may_have_ended(act, card, t_s)), None)
        if n is not None:
            ended = h.acts[n]._replace(manner=Manner.ENDED, extra=self._costs.ended)
            acts = self._judge.judged(h.acts[:n], (ended, *h.acts[n + 1 :]))
            if acts[n].is_legal:
                yield base._replace(acts=acts, handling=base.handling + self._costs.cleared)

    @staticmethod
    def _may_have_ended(act: TableAct, hazard: TableCard, t_s: float) -> bool:
        """True if a discarded remedy may have been put there together with this hazard."""
        is_remedy = act.manner is Manner.LAID and act.zone == DISCARD_ZONE and HAZARD_OF.get(act.face) is hazard.face
        return is_remedy and t_s - act.since_s <= DISCARDED_S

    @staticmethod
    def _back(card: TableCard, zone: str, t_s: float) -> TableAct:
        return TableAct(card.serial, card.face, zone, False, Manner.BACK, t_s, t_s)

    def _is_recorded(self, h: Hypothesis, table: Table, card: TableCard, zone: str) -> bool:
        return h.told_of(card.serial) is not None and card.face in self._judge.places.cards(table, zone)


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
    paid = sum(judge.costs.lifted if one.to is None else judge.costs.moved for one in beaten)
    gone = tuple(one for one in h.gone if one not in beaten)
    return h._replace(gone=gone, handling=h.handling - paid + judge.costs.cleared * len(beaten))


def _is_beaten_act(judge: Judge, h: Hypothesis, act: TableAct) -> bool:
    """True if the card of this act is an inactive hazard, or a remedy that the record no longer has on its pile."""
    table = judge.table(h.acts)
    if act.face.family is Family.HAZARD:
        return judge.places.is_beaten(table, act.face, act.zone)
    return act.face not in judge.places.cards(table, act.zone)


def _is_hasty(act: TableAct) -> bool:
    """True if only the turn speaks against an act: its player may have put the card down too early."""
    is_laid = act.manner is Manner.LAID and not act.extra
    return is_laid and bool(act.reasons) and all(why.code is Code.NOT_YOUR_TURN for why in act.reasons)


def _since_s(acts: Sequence[TableAct]) -> float:
    """Return when the last of these acts was seen first."""
    return acts[-1].since_s if acts else -math.inf


def _are_legal(before: Sequence[TableAct], now: Sequence[TableAct]) -> bool:
    """True if the acts that were legal are."""
    return all(new.is_legal or not old.is_legal for old, new in zip(before, now, strict=True))


def _with_pushed(h: Hypothesis, look: ZoneLook) -> Hypothesis:
    """The hypothesis in which cards that are pushed come to lie on those beside them."""
    cards, seen_mm = h.zones.get(look.zone, ()), {spot.number: spot.at_mm for spot in look.spots}
    pushed = [abs(seen_mm.get(card.spot, card.at_mm) - card.at_mm) > UNTOUCHED_MM for card in cards]
    if is_pile(look.zone) or not any(pushed) or all(pushed):
        return h
    ordered = (*itertools.compress(cards, map(operator.not_, pushed)), *itertools.compress(cards, pushed))
    return h._replace(zones={**h.zones, look.zone: ordered})


def _found(cards: Sequence[TableCard], spots: Sequence[SeenCard]) -> dict[int, int]:
    """Return the cards that are seen just as before, by the numbers of their spots."""
    by_spot = {card.spot: i for i, card in enumerate(cards) if card.spot}
    by_card = {card.card: i for i, card in enumerate(cards) if card.card}
    found = {}
    for spot in spots:
        i = by_spot.get(spot.number)
        if i is None and spot.card is not None:
            i = by_card.get(spot.card)
        if i is not None and (spot.is_unread or cards[i].face in (spot.face, Card.UNKNOWN)):
            found[spot.number] = i
    return found


def _as_seen(card: TableCard, spot: SeenCard) -> TableCard:
    face = card.face if spot.is_unread else spot.face
    return TableCard(card.serial, face, spot.card or card.card, spot.number, spot.at_mm, spot.turn_deg)


def _renumbered(h: Hypothesis, old: int, new: int) -> Hypothesis:
    """Return the hypothesis with a card under another number: what is asked about it now is a new question."""
    acts = tuple(act._replace(serial=new) if act.serial == old else act for act in h.acts)
    told = {seq: act._replace(serial=new) if act.serial == old else act for seq, act in h.told.items()}
    gone = tuple(one._replace(card=one.card._replace(serial=new)) if one.card.serial == old else one for one in h.gone)
    return h._replace(acts=acts, told=told, gone=gone)


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
        return most
    off_mm = min(abs(cards[i].at_mm - card.at_mm) for card in upper)
    return min(most, max(0.0, (CLEAR_MM - off_mm) / (CLEAR_MM - COVERED_MM)))


def _ways(choices: Sequence[Sequence[Option]]) -> Iterator[tuple[tuple[Option, ...], float]]:
    """Yield the cheapest combinations of one option for each new spot, no card in two of them, with their costs."""
    ways: list[tuple[float, tuple[Option, ...]]] = [(0.0, ())]
    for options in choices:
        longer = [
            (cost + option.cost, (*picks, option))
            for cost, picks in ways
            for option in options
            if option.card is None or all(p.card is None or p.card.serial != option.card.serial for p in picks)
        ]
        ways = sorted(longer, key=lambda way: way[0])[:MOST_WAYS]
    yield from ((picks, cost) for cost, picks in ways)

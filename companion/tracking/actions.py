"""What people may have done between two looks at a zone: each action yields the hypotheses that follow, with its cost.

A look at a zone is compared with the cards that a hypothesis has there. What agrees costs nothing. Each new spot is one
of: the same card, moved a little; a card from another zone; a new card, played by somebody; an error of the eye
(`likelihood.py`). What a new card means is in `playing.py`; what it means that a card is not seen, in `removing.py`.
The rules set the price of a play, never forbid it.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence

from companion.rules.cards import Card
from companion.tabletop.mat_layout import is_pile
from companion.tracking.hypothesis import Hypothesis, Judge, Manner, TableAct, TableCard
from companion.tracking.likelihood import UNTOUCHED_MM, Likelihood, Option
from companion.tracking.looks import SeenCard, SeenTable, ZoneLook
from companion.tracking.playing import Playing
from companion.tracking.removing import MINOR, Removing

MOST_SAVED = 4.0  # nats by which a combination may turn out cheaper
MOST_WAYS = 12  # combinations of explanations tried for the new spots of a zone

_cost = operator.attrgetter("cost")


class Actions:
    """The actions at one table, as it was seen last."""

    def __init__(self, judge: Judge, looks: SeenTable) -> None:
        self._judge, self._costs = judge, judge.costs
        self._likely = Likelihood(judge, looks)
        self._playing = Playing(judge, looks, self._likely)
        self._removing = Removing(judge, looks, self._likely, self._playing)

    def explained(self, h: Hypothesis, look: ZoneLook, most: float = math.inf) -> Iterator[Hypothesis]:
        """Yield the hypotheses that explain a look at a zone. Costs above `most` may be left out."""
        h = _with_pushed(h, look)
        cards = h.zones.get(look.zone, ())
        found = _found(cards, look.spots)
        news = [spot for spot in look.spots if spot.number not in found]
        seen = set(found.values())
        misses = self._likely.misses(cards, seen, look)
        light = sum(misses.values())
        if not news and all(cost < MINOR for cost in misses.values()):
            h = self._with_readings(h, look, found)
            yield h if not light else h._replace(handling=h.handling + light)
            return
        choices = [sorted(self._likely.options(h, cards, seen, spot, look), key=_cost) for spot in news]
        for picks, cost in _ways(choices):
            # What it costs to carry a card of the record is worked out again below.
            unpaid = sum(p.cost for p in picks if p.what == "moved" and p.card and h.told_of(p.card.serial))
            if h.cost + cost - unpaid > most + MOST_SAVED:
                continue
            child = self._with_readings(h, look, found)
            yield from self._taken_up(child, look, news, picks, cost, seen, most)

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

    def _taken_up(
        self,
        h: Hypothesis,
        look: ZoneLook,
        news: Sequence[SeenCard],
        picks: Sequence[Option],
        cost: float,
        seen: set[int],
        most: float,
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
        is_next = self._likely.is_next_hand(h)
        if (new or moved) and h.is_gathering and not is_next:
            cost += self._costs.gathering
        is_gathering = is_next or (h.is_gathering and not (new or moved))
        child = h._replace(zones=zones, lifted=lifted, handling=h.handling + cost, is_gathering=is_gathering)
        for one in self._playing.put_elsewhere(child, moved, look.zone):
            for played in self._playing.played(one, new, look, most):
                yield from self._removing.missing(played, look, seen, count, most)

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

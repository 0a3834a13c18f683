"""People are evidence: what the record and the answers say of this hand conditions the hypotheses.

Lines that a person entered, confirmed or changed are certain, and so are all lines before them. A hypothesis keeps
them as *told*, by their numbers; its acts are what comes after them. A line that counted by itself is no evidence.

* A line that was told by a card takes that card's act. A typed line takes the act that it means; if there is none, its
  card is *expected*: it lies in its zone, never seen.
* A line that was undone gives its card back: it is an act again, or no longer expected.
* A refused card stays on the table without an act.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from companion.rules.cards import HAZARD_OF, Card
from companion.rules.play import Play, Verb
from companion.tabletop.mat_layout import DISCARD_ZONE
from companion.tracking.beam import Beliefs, likeliest
from companion.tracking.hand_record import Line, Record
from companion.tracking.handling import COSTS
from companion.tracking.hypothesis import Gone, Hypothesis, Judge, Manner, TableAct, TableCard
from companion.tracking.likelihood import FIRST_S
from companion.tracking.looks import PileSeen, SeenTable, ZoneMemory
from companion.tracking.playing import excused


def conditioned(beliefs: Beliefs, record: Record) -> Beliefs:
    """Return the beliefs, given this record."""
    before = beliefs.record
    if before is not None and _says_the_same(before, record):
        return beliefs
    if record.start is None:
        return replace(beliefs, judge=None, record=record)
    last = record.vouched[-1].before if record.vouched else None
    judge = Judge(record.start, record.places, COSTS, record.extension, last)
    is_new = before is not None and (before.match, before.hand_seq) != (record.match, record.hand_seq)
    known = [_left_over(beliefs.best)] if is_new and not beliefs.is_dealt else beliefs.hypotheses
    is_first = before is None
    hypotheses = likeliest(
        told for h in known for told in _Conditioned(h, record, judge, is_first=is_first).hypotheses()
    )
    reshuffled = _reshuffled_at(record)
    if reshuffled is not None and before is not None and all(line.seq != reshuffled for line in before.lines):
        hypotheses = tuple(_without_discards(h, beliefs.looks, reshuffled) for h in hypotheses)
    looks = replace(beliefs.looks, pile=PileSeen()) if is_new else beliefs.looks
    return replace(beliefs, judge=judge, record=record, looks=looks, hypotheses=hypotheses, is_dealt=False)


def _reshuffled_at(record: Record) -> int | None:
    """Return the number of the last line at which the discards became the draw pile."""
    afters = (*(line.before for line in record.lines[1:]), record.table)
    lines = zip(record.lines, afters, strict=False)
    return max((line.seq for line, after in lines if after and after.draw_pile > line.before.draw_pile), default=None)


def _without_discards(h: Hypothesis, looks: SeenTable, seq: int) -> Hypothesis:
    """Return the hypothesis without the discards that became the draw pile at a line, except those still in view."""
    known = {act.serial for told, act in h.told.items() if abs(told) < seq}
    shown = {spot.number for spot in looks.zones.get(DISCARD_ZONE, ZoneMemory()).spots if spot.lost_s is None}
    left = tuple(card for card in h.zones.get(DISCARD_ZONE, ()) if card.serial not in known or card.spot in shown)
    return h._replace(zones={**h.zones, DISCARD_ZONE: left})


def _says_the_same(one: Record, other: Record) -> bool:
    return (one.match, one.hand_seq, one.vouched, one.answers) == (
        other.match,
        other.hand_seq,
        other.vouched,
        other.answers,
    ) and one.start == other.start


def next_hand(beliefs: Beliefs) -> Beliefs:
    """Return the beliefs for the next hand: cards put down since the last one ended belong to it."""
    h = _left_over(beliefs.best)._replace(acts=of_next_hand(beliefs.best))
    return replace(beliefs, hypotheses=(h,), is_dealt=True)


def of_next_hand(h: Hypothesis) -> tuple[TableAct, ...]:
    """Return the acts that came after the last that was legal, and whose cards lie on the table."""
    last_s = max((act.since_s for act in h.acts if act.is_legal), default=0.0)
    lying = {card.serial for there in h.zones.values() for card in there if card.spot}
    return tuple(act for act in h.acts if act.reasons and act.since_s > last_s and act.serial in lying)


def without_first(beliefs: Beliefs) -> Beliefs:
    """Return the beliefs without plays of cards that were already on the table at the first look."""
    until_s, judge = beliefs.looks.begun_s + FIRST_S, beliefs.judge
    if judge is None:
        return beliefs
    known = (
        h._replace(acts=judge.judged((), [act for act in h.acts if act.earliest_s > until_s]))
        for h in beliefs.hypotheses
    )
    return replace(beliefs, hypotheses=likeliest(known))


def _left_over(h: Hypothesis) -> Hypothesis:
    """Return the hypothesis for a new hand: cards on the table have no meaning."""
    zones = {zone: tuple(card for card in there if card.spot) for zone, there in h.zones.items()}
    return Hypothesis(zones, ())


class _Conditioned:
    """Conditions one hypothesis on the record."""

    def __init__(self, h: Hypothesis, record: Record, judge: Judge, *, is_first: bool) -> None:
        self._h, self._record, self._judge = h, record, judge
        self._is_first = is_first  # it knew nothing of the record before
        self._zones = dict(h.zones)
        self._told = dict(h.told)
        self._acts = list(h.acts)
        self._cost = h.handling
        self._gone = list(h.gone)
        self._uncounted: list[int] = []  # cards of plays before which people have recorded a later one

    def hypotheses(self) -> Iterator[Hypothesis]:
        """Yield the hypothesis on this record; also one in which plays that people passed over were none."""
        lines = {line.seq: line for line in self._record.vouched}
        for seq, act in sorted(self._told.items(), reverse=True):
            self._compare(seq, act, lines.get(abs(seq)))
        for seq, line in lines.items():
            if seq not in self._told:
                self._tell(line)
        known = self._h._replace(
            zones=self._zones,
            told=self._told,
            acts=self._judge.judged((), self._acts_left()),
            handling=self._cost,
        )
        serials = {act.serial for act in (*self._told.values(), *known.acts)}
        gone = tuple(one for one in self._gone if one.card.serial in serials)
        h = excused(known._replace(gone=gone), self._judge)
        yield h._replace(handling=h.handling + COSTS.left_lying * len(self._uncounted))
        if self._uncounted:
            acts = self._judge.judged((), [act for act in h.acts if act.serial not in self._uncounted])
            yield h._replace(acts=acts, handling=h.handling + COSTS.contradicted * len(self._uncounted))

    def _compare(self, seq: int, act: TableAct, line: Line | None) -> None:
        """Take out what the record no longer has, and change what people have changed."""
        if line is None or (seq < 0 and line.play.times == 1):
            self._give_back(seq, act)
        elif act.fixed is None:
            # Read from the disk.
            self._told[seq] = act._replace(fixed=line.play, play=line.play)
        elif line.play != act.fixed and self._card(act.serial, is_seen=False):
            self._give_back(seq, act)
        elif line.play != act.fixed:
            zone = line.spots[0][0] if line.spots else act.zone
            self._told[seq] = act._replace(manner=Manner.CHANGED, fixed=line.play, play=line.play, zone=zone)

    def _acts_left(self) -> tuple[TableAct, ...]:
        """The acts that the record lacks, without refused cards.

        Once people have said what was played next, the play before it was not taken back.
        """
        refused, is_known = self._record.refused, self._told.keys() == self._h.told.keys()
        acts = [act for act in self._acts if (act.serial, False) not in refused]
        if any((act.serial, True) in refused and act.manner is Manner.TAKEN for act in acts):
            self._cost += COSTS.contradicted
        changed = {act.serial for act in acts if act.manner is Manner.BACK and not is_known}
        return tuple(act for act in acts if act.serial not in changed)

    def _card(self, serial: int, *, is_seen: bool) -> TableCard | None:
        cards = (card for there in self._zones.values() for card in there)
        return next((card for card in cards if card.serial == serial and bool(card.spot) is is_seen), None)

    def _give_back(self, seq: int, act: TableAct) -> None:
        """Take a line out: its card means a play again, or is no longer expected."""
        self._told.pop(seq, None)
        if act.fixed is not None and act.fixed.verb is Verb.TAKE:
            # The discard that was taken is expected again.
            taken = max((n for n, one in self._told.items() if not one.serial and n < seq), default=None)
            self._told.pop(taken or 0, None)
        self._acts = [one for one in self._acts if one.serial != act.serial]
        zone = next(
            (z for z, there in self._zones.items() if any(c.spot and c.serial == act.serial for c in there)), None
        )
        if zone is not None:
            self._acts.insert(0, act._replace(zone=zone, fixed=None, manner=Manner.LAID, extra=0.0))
        for zone, there in self._zones.items():
            self._zones[zone] = tuple(card for card in there if card.spot or card.serial != act.serial)

    def _tell(self, line: Line) -> None:
        """Take a line in: with the act that it means, else with a card that is expected."""
        act = self._meant(line)
        if act is not None:
            n = next(n for n, one in enumerate(self._acts) if one.serial == act.serial)
            # The record contradicts that the camera missed anything before it.
            missed = [one for one in self._acts[:n] if one.manner in (Manner.UNSEEN, Manner.TAKEN)]
            passed_over = [one for one in self._acts[:n] if one.reasons and one.manner is Manner.LAID]
            self._pay((*missed, *passed_over, act))
            earlier = (one for one in self._acts[:n] if one.is_legal and one.since_s < act.since_s)
            self._uncounted += [one.serial for one in earlier if one.manner is Manner.LAID]
            taken = (one for one in missed if one.manner is Manner.TAKEN)
            cards = (TableCard(one.serial, one.face, None, 0, 0j, 0.0) for one in taken)
            self._gone += (Gone(card, DISCARD_ZONE, act.since_s) for card in cards)
            lying = [_left(one) if one in passed_over else one for one in self._acts[:n]]
            self._acts = lying + self._acts[n + 1 :]
            self._drop(missed)
        else:
            like = [one for one in self._acts if one.manner is Manner.UNSEEN and _is_like(one, line.play)]
            self._pay(like[:1])
            self._drop(like[:1])
            act = self._with_its_card(line) or self._expected(line)
            self._cost += COSTS.contradicted * (line.serial is not None and act.manner is Manner.UNSEEN)
        if act.manner is Manner.LAID and line.spots and line.spots[0][0] != act.zone:
            is_thrown = act.zone == DISCARD_ZONE and act.face in HAZARD_OF
            is_astray = act.play is not None and replace(act.play, anyway=False) == replace(line.play, anyway=False)
            manner = Manner.ENDED if is_thrown else act.manner if is_astray else Manner.CHANGED
            act = act._replace(manner=manner, zone=line.spots[0][0])
        self._told[line.seq] = act._replace(fixed=line.play, play=line.play, reasons=(), after=None)
        if line.play.verb is Verb.TAKE:
            self._take_top(line)
        for _, face in line.spots[1:]:
            self._tell_beside(line, face)

    def _meant(self, line: Line) -> TableAct | None:
        """The act that a line was told by, or that a typed line means."""
        if line.serial is not None:
            return next((act for act in self._acts if act.serial == line.serial), None)
        named, spot = str(replace(line.play, anyway=False)), line.spots[:1]
        plays = (act for act in self._acts if act.play and str(replace(act.play, anyway=False)) == named)
        cards = (act for act in self._acts if ((act.zone, act.face),) == spot and act.manner is not Manner.UNSEEN)
        # A remedy may have been put on the discard pile with the hazard that it ends.
        by_player = (act for act in self._acts if act.play and act.play.player == line.play.player)
        thrown = (act for act in by_player if (act.face, act.zone) == (line.play.card, DISCARD_ZONE))
        is_remedy = line.play.verb is Verb.PLAY and line.play.card in HAZARD_OF
        return next(plays, None) or next(cards, None) or (next(thrown, None) if is_remedy else None)

    def _with_its_card(self, line: Line) -> TableAct | None:
        """The act of a card on the table that this hypothesis took for something else."""
        if line.serial is None:
            return None
        for zone, there in self._zones.items():
            for n, card in enumerate(there):
                if line.serial not in (card.serial, card.spot):
                    continue
                self._cost += COSTS.contradicted
                if card.serial != line.serial:
                    # It was taken for an equal card, moved: it lies on that.
                    below, card = card._replace(spot=max(card.serial, 0)), card._replace(serial=line.serial)
                    self._zones[zone] = (*there[:n], below, *there[n + 1 :], card)
                return TableAct(line.serial, card.face, zone, False, Manner.LAID, 0.0, 0.0)
        return None

    def _pay(self, acts: Iterable[TableAct]) -> None:
        """Add the costs of acts that are going to be told or dropped; one that was given back has been paid."""
        for act in acts:
            n = next((n for n, one in enumerate(self._h.acts) if one.serial == act.serial), None)
            if n is not None:
                self._cost += act.total - (self._h.acts[n - 1].total if n else 0.0)

    def _drop(self, missed: Sequence[TableAct]) -> None:
        serials = {act.serial for act in missed}
        self._acts = [act for act in self._acts if act.serial not in serials]
        for zone, there in self._zones.items():
            self._zones[zone] = tuple(card for card in there if card.serial not in serials)

    def _expected(self, line: Line) -> TableAct:
        zone, face = next(iter(line.spots), (DISCARD_ZONE, Card.UNKNOWN))
        serial = line.serial if line.serial is not None else -1000 * line.seq
        if line.spots:
            self._expect(zone, face, serial)
        return TableAct(serial, face, zone, False, Manner.UNSEEN, 0.0, 0.0)

    def _expect(self, zone: str, face: Card, serial: int) -> None:
        self._zones[zone] = (*self._zones.get(zone, ()), TableCard(serial, face, None, 0, 0j, 0.0, self._is_first))

    def _tell_beside(self, line: Line, face: Card) -> None:
        """Take in the accelerator of a doubled card."""
        zone = line.spots[0][0]
        loose = (c for c in self._zones.get(zone, ()) if c.face is face and not self._is_told(c.serial))
        card = next(loose, None)
        serial = -1000 * line.seq - 1 if card is None else card.serial
        if card is None:
            self._expect(zone, face, serial)
        self._acts = [
            act._replace(times=1) if act.zone == zone and act.times > 1 else act
            for act in self._acts
            if act.serial != serial
        ]
        self._told[-line.seq] = TableAct(serial, face, zone, False, Manner.LAID, 0.0, 0.0, fixed=line.play)

    def _is_told(self, serial: int) -> bool:
        return any(act.serial == serial for act in self._told.values())

    def _take_top(self, line: Line) -> None:
        """The top discard was taken: it is no longer expected to lie there."""
        there = self._zones.get(DISCARD_ZONE, ())
        top = line.serial if line.serial is not None else there[-1].serial if there else None
        self._told = {
            seq: one._replace(serial=0) if one.serial == top and seq != line.seq else one
            for seq, one in self._told.items()
        }
        self._gone = [one for one in self._gone if one.card.serial != top]
        self._zones[DISCARD_ZONE] = tuple(card for card in there if card.serial != top or card.spot)


def _left(act: TableAct) -> TableAct:
    """Return the act of an illegal card that stays illegal, even if it would be legal now."""
    return act._replace(manner=Manner.LEFT, fixed=act.play)


def _is_like(act: TableAct, play: Play) -> bool:
    return act.play is not None and (act.play.player, act.play.verb) == (play.player, play.verb)

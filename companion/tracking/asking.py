"""What people are asked, derived from beliefs and the record at each look.

* A play is proposed when it is likely by all hypotheses together; what comes after a play that is still in doubt waits.
* A card that cannot be read, or hypotheses that differ about it: people are asked which play it was.
* A card that the record has and that left its place is a difference.

Where people confirm each play, a play that the camera missed is never proposed: they know better what it was. Where
plays count by themselves, what leads counts after a while, because it can be changed.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from companion.common.text import Said, say
from companion.match.questions import SURE_CONFIDENCE, Answer, Kind, Question, question_id
from companion.match.zone_plays import where
from companion.rules.card_names import card_term
from companion.rules.cards import Card, Family
from companion.rules.play import Play, Verb
from companion.rules.reasons import Code
from companion.rules.referee import objections
from companion.rules.table import Table
from companion.tabletop.card_ids import face_of
from companion.tabletop.mat_layout import DISCARD_ZONE, DRAW_ZONE, is_pile, mat_of
from companion.tracking.beam import Beliefs, Name, names
from companion.tracking.conditioning import conditioned
from companion.tracking.hand_record import Line, Record
from companion.tracking.handling import BARS, LOOK_S
from companion.tracking.hypothesis import Gone, Hypothesis, Judge, Manner, TableAct, TableCard, is_spent
from companion.tracking.likelihood import CLEAR_MM
from companion.tracking.looks import SeenCard
from companion.tracking.playing import DOUBLED_S
from companion.tracking.revising import begins
from companion.tracking.revising import ident as identity


def ask(beliefs: Beliefs, record: Record) -> tuple[Question, ...]:
    """Return what is to be asked, in the order of play."""
    table = record.table
    if table is None or table.is_over or table.extension_offered_to is not None:
        return ()
    known = conditioned(beliefs, record)
    if known.judge is None or record.start is None:
        return ()
    return tuple(_Asking(known, record, known.judge, record.start).questions())


class _Asking:
    """What is believed about a table, against its record."""

    def __init__(self, beliefs: Beliefs, record: Record, judge: Judge, table: Table) -> None:
        self._beliefs, self._record, self._judge = beliefs, record, judge
        self._table, self._t_s = table, beliefs.looks.t_s
        self._shown = [self._visible(h) for h in beliefs.hypotheses]
        self._shares: dict[Name, float] = defaultdict(float)
        self._by_card: dict[int, dict[Play | None, float]] = {}
        for acts, weight in zip(self._shown, beliefs.weights, strict=True):
            for act, name in zip(acts, names(acts), strict=True):
                self._shares[name] += weight
                self._by_card.setdefault(act.serial, defaultdict(float))[act.play] += weight
        self._best, self._leading = self._lead()

    def _lead(self) -> tuple[Hypothesis, tuple[TableAct, ...]]:
        """The likeliest hypothesis and its acts; that a play was taken back has to be likely by itself.

        What counted by itself leads as long as it is not changed.
        """
        counted = [replace(line.play, anyway=False) for line in self._record.unvouched]
        if counted:
            agreeing = (n for n, h in enumerate(self._beliefs.hypotheses) if begins(h, counted))
            n = next(agreeing, 0)
            return self._beliefs.hypotheses[n], self._shown[n]
        backs = [any(act.manner is Manner.BACK for act in h.acts) for h in self._beliefs.hypotheses]
        share = sum(w for w, is_back in zip(self._beliefs.weights, backs, strict=True) if is_back)
        weighted = zip(self._beliefs.hypotheses, self._shown, backs, strict=True)
        found = [(h, acts) for h, acts, is_back in weighted if is_back is (share >= BARS.likely)]
        # A play whose card is not on the table any more is not asked about.
        lying = (one for one in found if self._record.is_automatic or _are_lying(*one))
        return next(lying, found[0] if found else (self._beliefs.best, self._shown[0]))

    def _visible(self, h: Hypothesis) -> tuple[TableAct, ...]:
        """The acts of a hypothesis as the record would have them: without those that the camera missed."""
        hidden = (Manner.BACK,) if self._record.is_automatic else (Manner.UNSEEN, Manner.BACK)
        # A play that was changed is asked about where it was.
        changed = {act.serial for act in h.acts if act.manner is Manner.BACK}
        acts = tuple(act for act in h.acts if act.manner not in hidden and act.serial not in changed)
        return h.acts if len(acts) == len(h.acts) else self._judge.judged((), acts)

    def questions(self) -> Iterator[Question]:
        """Yield what is asked about each play, and once none is in doubt, about what differs."""
        acts, table = self._leading, self._table
        backs = [one for one in self._best.gone if self._is_taken_back(one) and self._is_surely_gone(one)]
        asked = [self._about_gone(one) for one in backs]
        put_right = {one.card.serial for one in self._best.gone if one.to is not None}
        acts = tuple(act for act in acts if act.serial not in put_right)
        is_clear, awaits = True, False
        counted = [line.play for line in self._record.unvouched]
        for n, (act, name) in enumerate(zip(acts, names(acts), strict=True)):
            if counted and act.is_legal:
                if act.play != replace(counted.pop(0), anyway=False):
                    return  # The record is going to be changed, or it will turn out to be right.
                table = act.after or table
                continue
            if act.play is None:
                about = self._about_special(act, table)
                awaits = awaits or about is not None
                asked.append(about)
                continue
            if not self._record.is_automatic and self._is_taken_up(act):
                # People know whether that undid the play.
                table = act.after or table
                continue
            later = any(self._is_plain(*each) for each in list(zip(acts, names(acts), strict=True))[n + 1 :])
            waits = awaits or self._may_be_doubled(act, acts, table) or (self._may_be_taken(act) and not later)
            if self._is_doubled_in_doubt(act):
                asked.append(self._about_accelerator(act, table))
                awaits = True
                continue
            is_early = self._may_follow(act, table)
            one = None if is_early else self._about_act(act, self._shares[name], table, waits=waits)
            asked.append(one)
            is_clear = one is not None or not act.is_legal
            if not is_clear:
                break
            table = act.after or table
        if is_clear and not awaits:
            asked += [one for one in self._differences(table) if one not in asked]
            asked += self._about_piles(table)
        yield from {one.id: one for one in asked if one is not None}.values()

    def _may_be_taken(self, act: TableAct) -> bool:
        """True if the next play will tell whether the top discard was taken, or this card was put down."""
        if act.manner is Manner.TAKEN:
            return True
        weighted = zip(self._shown, self._beliefs.weights, strict=True)
        instead = (w for acts, w in weighted if _is_taken(acts) and all(one.serial != act.serial for one in acts))
        return act.zone == DISCARD_ZONE and sum(instead) > 1 - BARS.sure

    def _is_plain(self, act: TableAct, name: Name) -> bool:
        """True if an act is as good as certain, or likely and has been for a while."""
        return self._shares[name] >= (BARS.likely if self._lies_s(act.zone) >= BARS.while_s else BARS.sure)

    def _is_taken_back(self, gone: Gone) -> bool:
        return any(act.manner is Manner.BACK and act.serial == gone.card.serial for act in self._best.acts)

    def _may_follow(self, act: TableAct, table: Table) -> bool:
        """True if the play that comes before this may still lie under the arm that made it."""
        is_early = any(why.code is Code.NOT_YOUR_TURN for why in act.reasons)
        longest_s = BARS.turn_s if is_early else BARS.moment_s
        if self._t_s - act.since_s >= longest_s:
            return False
        looks, reach = self._beliefs.looks, self._record.places.within_reach(table) - {act.zone}
        spans = (looks.zones[zone].hidden[-1] for zone in reach if zone in looks.zones and looks.zones[zone].hidden)
        until_s = self._t_s - BARS.moment_s * is_early
        return any(act.since_s - longest_s < begin <= act.since_s and end >= until_s for begin, end in spans)

    def _may_be_doubled(self, act: TableAct, acts: Sequence[TableAct], table: Table) -> bool:
        """True if an accelerator may belong to this card, or may follow."""
        if act.face.family is not Family.DISTANCE or Card.ACCELERATOR not in table.edition.deck:
            return False
        if act.times == 1 and self._lies_s(act.zone) < BARS.moment_s:
            return True
        loose = (one for one in acts if one.face is Card.ACCELERATOR and one.zone == act.zone)
        return any(abs(one.since_s - act.since_s) <= DOUBLED_S for one in loose)

    # Plays

    def _about_act(self, act: TableAct, share: float, table: Table, *, waits: bool) -> Question | None:
        if waits and (act.zone != DISCARD_ZONE or share < BARS.sure):
            return None
        spot, total = self._spot(act), sum(self._by_card[act.serial].values())
        # What counts by itself can be changed by itself: it need not wait for ever.
        has_waited = self._record.is_automatic and self._t_s - act.since_s >= BARS.long_s
        is_still = spot is not None and spot.lost_s is None and self._t_s - spot.first_s >= 2 * BARS.while_s
        is_old = has_waited or is_still or self._lies_s(act.zone) >= BARS.while_s
        belongs = self._record.places.belongs(act.face, act.zone)
        if act.manner is Manner.LEFT and act.face.family is Family.REMEDY and belongs:
            return None  # It lay there before the hazard that it would end.
        is_astray = act.manner is Manner.LAID and not belongs
        if is_astray and self._lies_s(act.zone) < BARS.put_right_s:
            return None
        if act.play is None or total < (BARS.possible if is_old else BARS.sure):
            return None
        ranked = self._ranked(act, spot, table)
        if spot is not None and _is_fleeting(spot):
            return None
        if spot is not None and spot.is_unread and not _is_clear(spot):
            if self._t_s - spot.first_s < BARS.moment_s:
                return None  # It may be read yet.
            return self._asked(Kind.WHICH, act, ranked, table, share)
        if share < (BARS.sure if not is_old else BARS.illegal if act.reasons else BARS.possible):
            return None
        players = table.side_of(act.play.player or "").players if act.play.at_once else ()
        partners = [replace(act.play, player=player) for player in players if player != act.play.player]
        confidence = self._confidence(act, spot, share)
        others = ranked if confidence < SURE_CONFIDENCE else []
        plays = [act.play, *(play for play in (*partners, *others) if play != act.play)]
        asked = self._asked(Kind.PLAY, act, plays, table, confidence)
        bar = BARS.possible if has_waited else BARS.sure
        is_sure = (
            act.manner is not Manner.LEFT
            and (act.is_clear or has_waited)
            and share >= bar
            and confidence >= min(bar, SURE_CONFIDENCE)
            and not partners
        )
        return replace(asked, sure=is_sure)

    def _confidence(self, act: TableAct, spot: SeenCard | None, share: float) -> float:
        is_out_of_turn = bool(act.reasons) and act.play is not None and act.play.player != self._table.player_up
        looks, reach = self._beliefs.looks, self._record.places.within_reach(self._table) - {act.zone}
        unseen = (zone for zone in reach if zone in looks.zones and (looks.zones[zone].visible_s or 0.0) <= looks.gap_s)
        is_doubtful = is_out_of_turn or any(unseen)
        is_doubtful = is_doubtful or (spot is not None and (spot.is_unread or _is_askew(spot)))
        most = BARS.doubtful if is_doubtful else 1.0 if act.is_clear else BARS.unclear
        return round(min(most, share, spot.confidence if spot is not None and not spot.is_unread else 1.0), 2)

    def _ranked(self, act: TableAct, spot: SeenCard | None, table: Table) -> list[Play]:
        """What a card may mean, the likeliest first."""
        by_share = sorted(self._by_card[act.serial].items(), key=lambda item: -item[1])
        ranked = [play for play, _ in by_share if play is not None]
        elsewhere = {card.card for there in self._best.zones.values() for card in there if card.serial != act.serial}
        for card, _ in spot.rivals if spot is not None else ():
            if card in elsewhere:
                continue
            guess = self._record.places.play_at(face_of(card), act.zone, act.sideways, table)
            if guess is not None and guess.play not in ranked:
                ranked.append(guess.play)
        return ranked

    def _asked(self, kind: Kind, act: TableAct, plays: Sequence[Play], table: Table, confidence: float) -> Question:
        ident, why = identity(self._best, act, self._record, kind), objections(table, plays[0])
        few = tuple(plays[: BARS.most_plays])
        return Question(ident, kind, act.zone, few, table, why, confidence=confidence, sure=False)

    def _about_special(self, act: TableAct, table: Table) -> Question | None:
        sentence = self._record.places.question(act.face, act.zone, table)
        total = sum(self._by_card[act.serial].values())
        if sentence is None or total < BARS.likely:
            return None
        return self._difference(act.serial, act.face, act.zone, sentence, seen=act.face)

    def _is_doubled_in_doubt(self, act: TableAct) -> bool:
        """True if the accelerator may belong to another card that came with it."""
        if self._lies_s(act.zone) < BARS.moment_s:
            return False
        plays = self._by_card[act.serial]
        doubled = sum(weight for play, weight in plays.items() if play is not None and play.times > 1)
        return BARS.possible < doubled < BARS.sure

    def _about_accelerator(self, act: TableAct, table: Table) -> Question | None:
        cards = self._best.zones.get(act.zone, ())
        loose = (c for c in cards if c.face is Card.ACCELERATOR and self._best.told_of(c.serial) is None)
        card = next(loose, None)
        sentence = self._record.places.question(Card.ACCELERATOR, act.zone, table)
        if card is None or sentence is None:
            return None
        return self._difference(card.serial, card.face, act.zone, sentence, seen=card.face)

    def _spot(self, act: TableAct) -> SeenCard | None:
        card = self._card(act.serial)
        zone = self._beliefs.looks.zones.get(act.zone)
        spots = zone.spots if zone is not None and card is not None else ()
        return next((spot for spot in spots if card is not None and spot.number == card.spot), None)

    def _is_taken_up(self, act: TableAct) -> bool:
        """True if the card of a play is not in its place now, and no later card may lie on it."""
        place, looks = self._place(act.serial), self._beliefs.looks
        if place is None or act.manner is not Manner.LAID:
            return act.manner is Manner.LAID
        zone, card = place
        spots = looks.zones[zone].spots if zone in looks.zones else ()
        spot = next((one for one in spots if one.number == card.spot), None)
        if not card.spot or (spot is not None and spot.lost_s in (None, math.inf)):
            return False
        if card.spot in looks.glimpsed:
            return True  # It may have been carried past.
        later = (one for one in spots if one.lost_s is None and one.first_s > act.since_s)
        return not any(is_pile(zone) or abs(one.at_mm - card.at_mm) < CLEAR_MM for one in later)

    def _card(self, serial: int) -> TableCard | None:
        place = self._place(serial)
        return place and place[1]

    def _ident(self, serial: int, face: Card, kind: Kind) -> str:
        name = self._best.card_of(serial) or face.value
        return question_id(self._record.match, self._record.hand_seq, name, serial, kind)

    def _lies_s(self, zone: str) -> float:
        """How long a zone has been seen as it is now."""
        return self._beliefs.looks.zones[zone].weight * LOOK_S if zone in self._beliefs.looks.zones else 0.0

    # Differences

    def _differences(self, table: Table) -> Iterator[Question | None]:
        if self._best.is_gathering and (self._is_bare or self._t_s - self._last_gone_s < BARS.gathered_s):
            return
        lines = {act.serial: seq for seq, act in self._best.told.items()}
        for one in sorted(self._best.gone, key=lambda one: -lines.get(one.card.serial, 0)):
            is_had = one.card.face in self._record.places.cards(table, one.zone)
            if is_had and self._is_surely_gone(one) and not self._is_beaten(one, table):
                yield self._about_gone(one)
        for line in self._record.vouched:
            yield self._about_changed(line, table)
        yield from self._about_taken_back()

    def _is_surely_gone(self, gone: Gone) -> bool:
        # A hazard may be cleared away before what beats it is visible.
        is_hazard = gone.card.face.family is Family.HAZARD and is_pile(gone.zone) and gone.to in (None, DISCARD_ZONE)
        if is_hazard and self._is_hidden(f"{mat_of(gone.zone)}/safety"):
            return False
        waits_s = BARS.put_right_s if is_hazard else 0.0 if gone.to is not None else BARS.moment_s
        return self._share_of(gone) >= BARS.likely and self._lies_s(gone.to or gone.zone) >= waits_s

    def _is_hidden(self, zone: str) -> bool:
        looks = self._beliefs.looks
        return zone in looks.zones and looks.zones[zone].visible_s != looks.t_s

    def _share_of(self, gone: Gone) -> float:
        """The probability that this card left its place."""
        weighted = zip(self._beliefs.hypotheses, self._beliefs.weights, strict=True)
        return sum(w for h, w in weighted if _is_gone(h, gone.card.serial))

    @property
    def _is_bare(self) -> bool:
        return not any(card.spot for there in self._best.zones.values() for card in there)

    @property
    def _last_gone_s(self) -> float:
        return max((one.t_s for one in self._best.gone), default=0.0)

    def _about_piles(self, table: Table) -> Iterator[Question]:
        """Yield whether the draw pile is used up, and whether the hand is over."""
        record, looks = self._record, self._beliefs.looks
        is_used_up = self._is_pile_used_up(table)
        if self._best.is_gathering and not (is_used_up and table.edition.reshuffles):
            laid = sum(line.serial is not None for line in record.lines)
            if self._is_bare and laid >= BARS.many:
                stuck = table.edition.empty_pile == "stuck" and table.draw_pile == 0
                yield from self._about_pile("end", f"n{looks.last_number}", Play(Verb.END), None, table, stuck)
            return
        if is_used_up:
            number = sum(line.play.verb is Verb.EXHAUSTED for line in record.lines)
            yield from self._about_pile("pile", f"n{number}", Play(Verb.EXHAUSTED), DRAW_ZONE, table, False)

    def _is_pile_used_up(self, table: Table) -> bool:
        """True if the draw pile is seen empty although the count says otherwise, or the discards have become it."""
        pile = self._beliefs.looks.pile
        if table.edition.reshuffles and table.discards:
            gone = Counter(one.card.face for one in self._best.gone if one.zone == DISCARD_ZONE)
            is_all = len(table.discards) > 1 and not Counter(table.discards) - gone
            return is_all and pile.refilled_s is not None and table.draw_pile > 0
        is_news = pile.was_there and table.draw_pile >= BARS.many and pile.empty_since_s is not None
        return is_news and self._t_s - (pile.empty_since_s or 0.0) >= BARS.put_right_s

    def _about_pile(
        self, name: str, number: str, play: Play, zone: str | None, table: Table, is_sure: bool
    ) -> Iterator[Question]:
        ident = question_id(self._record.match, self._record.hand_seq, name, number, Kind.PLAY)
        if ident not in self._record.answers:
            why, confidence = objections(table, play), 1.0 if is_sure else BARS.unclear
            yield Question(ident, Kind.PLAY, zone, (play,), table, why, confidence=confidence, sure=is_sure)

    def _is_beaten(self, gone: Gone, table: Table) -> bool:
        if not is_pile(gone.zone) or gone.zone == DISCARD_ZONE:
            return False
        if gone.card.face.family is Family.HAZARD:
            return self._record.places.is_beaten(table, gone.card.face, gone.zone)
        told = [act for act in self._best.told.values() if act.zone == gone.zone]
        is_last = not told or told[-1].serial == gone.card.serial
        if gone.to == DISCARD_ZONE and is_spent(self._judge, self._best, gone.card.face, gone.zone):
            return True
        return not is_last or self._record.places.cards(table, gone.zone)[-1:] != (gone.card.face,)

    def _about_gone(self, one: Gone) -> Question | None:
        card, was_on = self._called(one.card.face), where(one.zone)
        if one.to is None:
            sentence = say("%(card)s is no longer on %(zone)s.", card=card, zone=was_on)
        else:
            sentence = say("%(card)s has moved from %(old)s to %(new)s.", card=card, old=was_on, new=where(one.to))
        return self._difference(one.card.serial, one.card.face, one.zone, sentence, expected=one.card.face)

    def _about_changed(self, line: Line, table: Table) -> Question | None:
        """A card whose line people have changed to a play elsewhere, and that lies where it lay."""
        act = self._best.told.get(line.seq)
        place = None if act is None else self._place(act.serial)
        if act is None or place is None or not line.spots or act.manner is not Manner.CHANGED:
            return None
        (zone, card), (should_be, face) = place, line.spots[0]
        places = self._record.places
        is_carried_off = zone == DISCARD_ZONE and (
            places.is_beneath(table, face, should_be)
            or (face.family is Family.HAZARD and places.is_beaten(table, face, should_be))
        )
        if zone == should_be or face is not card.face or not card.spot or is_carried_off:
            return None
        meant = self._record.places.play_at(face, zone, act.sideways, line.before)
        if meant is None or self._record.places.question(face, zone, line.before) is not None:
            return None
        if any(one.card.serial == card.serial for one in self._best.gone):
            return None
        name, here, there = self._called(face), where(zone), where(should_be)
        sentence = say("%(card)s is still on %(here)s, but should be on %(there)s.", card=name, here=here, there=there)
        asked = self._difference(act.serial, face, zone, sentence, expected=face, seen=face)
        return asked and replace(asked, plays=(meant.play,))

    def _place(self, serial: int) -> tuple[str, TableCard] | None:
        lying = ((zone, card) for zone, there in self._best.zones.items() for card in there)
        return next(((zone, card) for zone, card in lying if card.serial == serial), None)

    def _about_taken_back(self) -> Iterator[Question | None]:
        """Refused cards that are still on the table after a later play."""
        for zone, there in self._best.zones.items():
            for card in there:
                said = self._record.answers.get(self._ident(card.serial, card.face, Kind.PLAY))
                is_late = said is not None and any(line.seq > said.seq for line in self._record.lines)
                if said is not None and said.answer is Answer.TAKEN_BACK and is_late and card.spot:
                    name = self._called(card.face)
                    sentence = say("%(card)s was taken back but is still on %(zone)s.", card=name, zone=where(zone))
                    yield self._difference(card.serial, card.face, zone, sentence, seen=card.face)

    def _called(self, face: Card) -> Said:
        return card_term(face, self._table.edition.name)

    def _difference(
        self,
        serial: int,
        face: Card,
        zone: str,
        sentence: Said,
        *,
        expected: Card | None = None,
        seen: Card | None = None,
    ) -> Question | None:
        """The question, unless people have said that the record is right, or all right while the zone lies so."""
        ident = self._ident(serial, face, Kind.DIFFERS)
        about = ",".join(str(card.serial) for card in self._best.zones.get(zone, ()))
        answered = self._record.answers.get(ident)
        if answered is not None and (answered.answer is Answer.RECORD or answered.about == about):
            return None
        line = next((abs(seq) for seq, act in self._best.told.items() if act.serial == serial), None)
        question = Question(ident, Kind.DIFFERS, zone, table=self._table, say=sentence, sure=False, about=about)
        return replace(question, expected=expected, seen=seen, line=line if expected is not None else None)


def _is_clear(spot: SeenCard) -> bool:
    """True if what an unreadable card may be has one candidate far ahead of the others."""
    (_, most), (_, second), *_ = *sorted(spot.rivals, key=lambda rival: -rival[1]), ("", 0.0), ("", 0.0)
    return most >= max(BARS.least_lead, second + BARS.clear_lead)


def _are_lying(h: Hypothesis, acts: Sequence[TableAct]) -> bool:
    """True if the cards of all these plays are on the table."""
    lying = {card.serial for there in h.zones.values() for card in there}
    return all(act.serial in lying for act in acts if act.manner is Manner.LAID)


def _is_fleeting(spot: SeenCard) -> bool:
    """True if a card has not been seen to lie still, and nothing has come to lie on it."""
    return not spot.has_rested and (spot.lost_s is None or (spot.lost_s == math.inf and spot.looks < 2))


def _is_askew(spot: SeenCard) -> bool:
    """True if a safety lies neither upright nor sideways."""
    return spot.face.family is Family.SAFETY and abs(abs(spot.turn_deg) % 90 - 45) < BARS.askew_deg


def _is_taken(acts: Sequence[TableAct]) -> bool:
    return any(act.manner is Manner.TAKEN for act in acts)


def _is_gone(h: Hypothesis, serial: int) -> bool:
    """True if a card left its place, perhaps because the cards are being gathered in."""
    is_missing = all(card.serial != serial for there in h.zones.values() for card in there)
    return any(one.card.serial == serial for one in h.gone) or (h.is_gathering and is_missing)

"""What lies on the table against what the record has: the questions that follow, derived anew at each look.

The record says what should lie in each zone, the tracks say what does. Cards that agree ask nothing. The others are
explained by acts: a card laid, a card taken from the discard pile, a discard taken back, a card moved. The cheapest
explanation counts: legal in turn before out of turn before illegal, in the order in which the cards came into sight.
The rules break a tie; a card that lies there is asked about however illegal it is.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from companion.common.text import Said, say
from companion.match.questions import SURE_CONFIDENCE, Answer, Kind, Question
from companion.match.zone_plays import Guess, where
from companion.rules.card_names import card_term
from companion.rules.cards import HAZARD_OF, SAFETY_OF, Card, Family
from companion.rules.play import Play, Verb, lay
from companion.rules.referee import apply, objections
from companion.rules.table import PILE_OF, Table
from companion.tabletop.mat_layout import DISCARD_ZONE, is_pile, mat_of
from companion.tracking.acts import Act, candidates, cost_of, doubled, explained, is_ripe, known_face, plays_of
from companion.tracking.balance import Balance, balance
from companion.tracking.clearing import MANY, questions_of_the_piles
from companion.tracking.hand_record import Handling, Line, Record, takeable, taking
from companion.tracking.identity import LIKELY
from companion.tracking.track import (
    DOUBTFUL_CONFIDENCE,
    MOMENT_S,
    PUT_RIGHT_S,
    TURN_S,
    UNCLEAR_CONFIDENCE,
    UNLIKELY_CONFIDENCE,
    State,
    Track,
)
from companion.tracking.tracker import Tracks

MOST_PLAYS = 3  # maximum number of plays that a question offers


def reconcile(tracks: Tracks, record: Record) -> tuple[Question, ...]:
    """Return what is to be asked, in the order of play."""
    table = record.table
    if table is None or table.is_over or table.extension_offered_to is not None:
        return ()
    return tuple(_Reconciliation(tracks, record, table).questions())


class _Reconciliation:
    """The tracks against the record, at one moment."""

    def __init__(self, tracks: Tracks, record: Record, table: Table) -> None:
        self._tracks, self._record, self._table, self._places = tracks, record, table, record.places
        self._balance = balance(tracks, record, table)
        self._doubling = doubled(self._balance.extra, record)
        self._refused = [track for track in self._balance.extra if record.refusal(track) is not None]
        self._suppose_taken(self._missing_top())

    def _suppose_taken(self, top: Track | None) -> None:
        """Explain what lies there with the top discard taken by the player to move, or with none."""
        self._taken = top
        self._moved = list(self._moves())
        self._acts = self._explained()

    def questions(self) -> Iterator[Question]:
        """Yield what is to be asked: about each card that lies there, and once none of those has to wait, the rest."""
        asked = self._about_top()
        if asked is None:
            return
        acts = self._acts
        waits = [self._is_too_early(act, acts[:n]) for n, act in enumerate(acts)]
        # What comes after a legal play depends on it.
        end = next((n for n, act in enumerate(acts) if waits[n] and act.is_legal), None)
        asked += [self._about_act(act) for act, must_wait in zip(acts[:end], waits, strict=False) if not must_wait]
        if end is None:
            asked += map(self._about_refused, self._refused)
            # What people are still to enter may be what took a card away.
            after = acts[-1].after if acts else self._table
            now = self._balance_after(acts, after)
            recent = any(self._tracks.t_s - t.last_there_s < 2 * TURN_S for t in now.missing)
            # So many are gone that somebody gathers them in.
            is_gathering = len(now.missing) >= MANY and (recent or self._tracks.bare_since_s is not None)
            if not (is_gathering or any(map(self._awaits_entry, acts))):
                asked += [one for one in self._differences(now, after) if one not in asked]
            piles = questions_of_the_piles(self._tracks, self._record, after, is_gathering=is_gathering)
            asked += [(one.zone is None and self._last_stacked(after)) or one for one in piles]
        yield from (question for question in asked if question is not None)

    def _about_top(self) -> list[Question | None] | None:
        """What is asked about the top discard that is gone; None while only the next card can tell who has it."""
        top, last, lead = self._taken, self._record.lines[-1] if self._record.lines else None, math.inf
        if top is None:
            return []
        if last is not None and last.play.verb is Verb.DISCARD and last.play.card is top.face:
            if not self._acts:
                return None
            # Whoever has just discarded it may have taken it back and played on.
            back = explained([act.track for act in self._acts], last.before, self._meaning)
            lead = cost_of(back) + LIKELY - cost_of(self._acts)
        if lead < 0:
            self._suppose_taken(None)
            return [] if any(old is top for old, _ in self._moved) else [self._about_gone(top)]
        act = Act(top, top.face, taking(self._table), self._table, clear=lead > LIKELY, handling=Handling.TAKEN)
        return [self._asked(Kind.PLAY, act, [taking(self._table)], 1.0 if act.clear else UNCLEAR_CONFIDENCE)]

    def _explained(self) -> tuple[Act, ...]:
        """What has been done with the cards that lie there and of which nothing is known yet, in order."""
        extra = self._balance.extra
        known = {track.serial for track in (*self._refused, *(new for _, new in self._moved))}
        known |= {serial for serial in self._doubling.values() if serial is not None}
        carried = list(self._uncounted())
        stickers = {track.card for track in carried if track.card is not None}
        cards = [*(t for t in extra if t.serial not in known and t.card not in stickers), *carried]
        start = self._table if self._taken is None else apply(self._table, taking(self._table))
        return self._with_one_stacked(cards, start, explained(cards, start, self._meaning))

    # What cards mean

    def _meaning(self, track: Track, table: Table) -> Act:
        face = known_face(track, self._tracks)
        if face is None:
            likeliest = next((play for play, _ in self._ranked(track, table)), None)
            is_legal = likeliest is not None and not objections(table, likeliest)
            return Act(track, None, likeliest if is_legal else None, table, clear=False)
        sentence = self._places.question(face, track.zone, table)
        guess = self._places.play_at(face, track.zone, track.place.sideways, table)
        ended = self._ended(track, table)
        if ended is not None and ended.state is State.GONE:
            guess = Guess(lay(table.player_up, face), clear=True)
        accelerator = self._doubling.get(track.serial, 0)  # None where it is unclear whether there is one
        is_unclear = sentence is not None or accelerator is None
        # What lies there for long after what would be the last play shows that it was none.
        is_over = table.is_over and self._lies_s(track) < TURN_S
        if guess is None or is_unclear or is_over or self._lay_there_before_its_hazard(track, face):
            return Act(track, face, None, table, sentence)
        play = replace(guess.play, times=2) if accelerator else guess.play
        return Act(track, face, play, table, reasons=objections(table, play), clear=guess.clear)

    def _ended(self, track: Track, table: Table) -> Track | None:
        """The hazard that a remedy on the discard pile has ended, if both were carried there as it was played."""
        side, hazard = table.side_of(table.player_up), HAZARD_OF.get(track.face)
        in_force = (side.hazard, Card.SPEED_LIMIT if side.limited else None)
        if track.zone != DISCARD_ZONE or hazard is None or hazard not in in_force:
            return None
        zone = f"{self._places.mat_of(side.name)}/{PILE_OF[hazard]}"
        left = (t for t in self._tracks.cards if t.zone == zone and t.face is hazard and t.absent_since_s is not None)
        return next((t for t in left if abs(track.since_s - t.last_there_s) <= TURN_S), None)

    def _lay_there_before_its_hazard(self, track: Track, face: Card) -> bool:
        """True if the last hazard that such a card answers was laid there when the card was: it answers none."""
        spot, lines = (track.zone, HAZARD_OF.get(face)), reversed(self._record.lines)
        hazard = next((self._tracks.by_serial.get(line.serial) for line in lines if spot in line.spots), None)
        return hazard is not None and hazard.earliest_s > track.since_s

    def _ranked(self, track: Track, table: Table) -> list[tuple[Play, float]]:
        """What a card that cannot be read may mean, likeliest first, once it has been looked at often enough."""
        return plays_of(track, self._tracks, table, self._places) if is_ripe(track, self._tracks.t_s) else []

    def _with_one_stacked(self, extra: Sequence[Track], table: Table, acts: tuple[Act, ...]) -> tuple[Act, ...]:
        """The acts, with a card laid exactly on one like it where that makes better sense of them."""
        told = Counter(line.serial for line in self._record.lines)
        last_s = max((track.since_s for track in extra), default=0.0)
        stacked = [(t.stacked_s, t) for t in self._tracks.there if t.stacked_s is not None and told[t.serial] == 1]
        ways = [acts]
        for stacked_s, track in sorted(stacked, key=lambda one: -one[0]):
            if (
                self._last_laid_s <= stacked_s < last_s
                and self._record.answer(track, Kind.PLAY, Handling.STACKED) is None
            ):
                upon = replace(self._meaning(track, table), handling=Handling.STACKED)
                if upon.is_legal:
                    ways.append((upon, *explained(extra, upon.after, self._meaning)))
        return min(ways, key=cost_of)

    @cached_property
    def _last_laid_s(self) -> float:
        """When the latest of the cards that count was seen first."""
        counted = {line.serial for line in self._record.lines}
        return max((track.since_s for track in self._tracks.cards if track.serial in counted), default=0.0)

    def _last_stacked(self, table: Table) -> Question | None:
        """The question about a card that completed the trip, though it was taken for its like that it was laid on."""
        for track in (t for t in reversed(self._tracks.cards) if t.laid_since(self._record.hand_seq)):
            touched_s = (t_s for t_s in (track.stacked_s, track.shifted_s) if t_s is not None)
            is_touched = max(touched_s, default=-math.inf) > self._last_laid_s
            if is_touched and self._record.answer(track, Kind.PLAY, Handling.STACKED) is None:
                act = replace(self._meaning(track, table), clear=False, handling=Handling.STACKED)
                completes = act.after.is_over or act.after.extension_offered_to is not None
                if act.play is not None and act.is_legal and completes:
                    return self._asked(Kind.PLAY, act, [act.play], UNCLEAR_CONFIDENCE)
        return None

    def _moves(self) -> Iterator[tuple[Track, Track]]:
        """Yield the cards that have gone from one zone and lie in another: each with where it lies now."""
        away = [old for old in self._balance.missing if old is not self._taken]
        for new in self._balance.extra:
            gone = (old for old in away if old.zone != new.zone)
            yield from itertools.islice(((old, new) for old in gone if self._is_moved(old, new)), 1)

    def _is_moved(self, old: Track, new: Track) -> bool:
        """True if it is one card; without a sticker, one carried off as beaten, or what its player has put right."""
        if new.card is not None or new.face is not old.face:
            return new.card is not None and new.card == old.card
        is_last = bool(self._record.lines) and self._record.lines[-1].serial == old.serial
        is_put_right = is_last and 0 <= new.since_s - old.seen_s <= TURN_S
        return is_put_right or self._tracks.may_be_carried_off(old, new)

    def _missing_top(self) -> Track | None:
        """The top discard, if it is gone and the player to move may have it."""
        gone = [t for t in self._balance.missing if t.zone == DISCARD_ZONE]
        may_be = len(gone) == 1 and gone[0].face is takeable(self._table)
        return gone[0] if may_be and self._record.answer(gone[0], Kind.PLAY, Handling.TAKEN) is None else None

    # Beaten hazards are carried to the discard pile at any time: before the attack counts, before the card that beats
    # them is in sight, turns later, or never. So one on that pile need not have been discarded, and one that has left
    # its place need not have been taken back.

    def _uncounted(self) -> Iterator[Track]:
        """Yield those that a safety has beaten, or the remedy laid off with them, gone before their attack counted."""
        for track in self._tracks.gone:
            is_laid_off = self._is_laid_off_with_its_remedy(track)
            if not (track.laid_since(self._record.hand_seq) and (is_laid_off or self._is_beaten_by_a_safety(track))):
                continue
            spots = {(track.zone, track.face)} if not is_laid_off else set()
            is_counted = any(line.serial == track.serial or spots & {*line.spots} for line in self._record.lines)
            stickers = {t.card for t in self._tracks.there if t.zone == DISCARD_ZONE} - {None}
            is_late = self._tracks.t_s - track.seen_s > TURN_S and track.card not in stickers
            if not is_counted and not is_late and self._record.refusal(track) is None:
                yield track

    def _is_beaten_by_a_safety(self, track: Track) -> bool:
        """True if the safety that beats a hazard lies there, or is coming, and is not in the record yet."""
        spot = (f"{mat_of(track.zone)}/safety", SAFETY_OF.get(track.face))
        laid = (*self._balance.extra, *self._tracks.coming)
        return track.face in SAFETY_OF and any((each.zone, each.face) == spot for each in laid)

    def _is_laid_off_with_its_remedy(self, track: Track) -> bool:
        """True if what ends a hazard came to the discard pile about when that was carried off."""
        came = (new for new in self._balance.extra if (new.zone, HAZARD_OF.get(new.face)) == (DISCARD_ZONE, track.face))
        return any(abs(new.since_s - track.last_there_s) <= TURN_S for new in came)

    def _explains(self, old: Track, new: Track) -> bool:
        """True if what lies elsewhere now is a hazard that was beaten, or whose safety may come, or such a remedy."""
        if not new.is_laid_off_hazard:
            return self._tracks.may_be_carried_off(old, new)
        zone = f"{mat_of(old.zone)}/safety"
        has_remedy = self._places.is_beneath(self._table, new.face, old.zone)
        has_safety = SAFETY_OF[new.face] in self._places.cards(self._table, zone)
        is_coming = zone in self._tracks.hidden_since_s or any(track.zone == zone for track in self._tracks.coming)
        return has_remedy or has_safety or is_coming or self._tracks.t_s - new.since_s < PUT_RIGHT_S

    # What is too early to say: another card may come, be read, or be entered first

    def _is_too_early(self, act: Act, before: Sequence[Act]) -> bool:
        """True if it is too early to say what a card means."""
        track = act.track
        is_distance = track.face.family is Family.DISTANCE and Card.ACCELERATOR in act.table.edition.deck
        may_be_doubled = is_distance and self._lies_s(track) < MOMENT_S
        # The top of the discard pile is missing, and in a moment will have been taken before this.
        top = takeable(act.table)
        tops = (t for t in self._tracks.there if t.zone == DISCARD_ZONE and t.face is top)
        is_taking = any(t.absent_since_s is not None and t.absent_since_s <= track.since_s for t in tops)
        may_follow = act.turn_matters and self._may_follow_another(act, before)
        ended = self._ended(track, act.table)
        is_ending = ended is not None and ended.state is not State.GONE
        return act.handling is not Handling.STACKED and (
            may_be_doubled or is_taking or is_ending or may_follow or self._may_have_moved(track)
        )

    def _may_have_moved(self, track: Track) -> bool:
        """True if a card told by its face may be one that has just left its place, or whose place is out of sight."""
        if track.card is not None or self._lies_s(track) >= PUT_RIGHT_S:
            return False
        alike = (t for t in self._tracks.there if t.face is track.face and t.zone != track.zone)
        return any(not t.is_in_sight and (track.is_laid_off_hazard or t.absent_since_s is not None) for t in alike)

    def _may_follow_another(self, act: Act, before: Sequence[Act]) -> bool:
        """True if a play before it may not have been entered, or its card not be in sight, or be read, yet."""
        if any(map(self._awaits_entry, before)):
            return True
        since_s = act.track.since_s
        if self._lies_s(act.track) >= TURN_S:
            return False
        under_arms = self._tracks.zones_under_arms & self._reach(act)
        if any(self._tracks.hidden_since_s[zone] <= since_s for zone in under_arms):
            return True
        if any(t.is_in_sight and t.earliest_s <= since_s for t in self._tracks.coming if t is not act.track):
            return True
        unread = (t for t in self._balance.extra if t.face is Card.UNKNOWN and t.is_in_sight and t is not act.track)
        return any(
            self._lies_s(t) < TURN_S and known_face(t, self._tracks) is None and candidates(t, self._tracks)
            for t in unread
            if t not in self._refused
        )

    def _reach(self, act: Act) -> frozenset[str]:
        """The other zones where the player to move may have laid a card."""
        return self._places.within_reach(act.table) - {act.track.zone}

    def _awaits_entry(self, act: Act) -> bool:
        """True if people are asked to enter what was played with a card, and have not answered."""
        return act.sentence is not None and self._record.answer(act.track, Kind.DIFFERS) is None

    def _lies_s(self, track: Track) -> float:
        return self._tracks.t_s - track.since_s

    # Questions about cards that lie there

    def _about_act(self, act: Act) -> Question | None:
        track = act.track
        if act.face is None:
            # A card that cannot be read is asked about once it has been looked at often enough.
            ranked = self._ranked(track, act.table)
            return self._asked(Kind.WHICH, act, [play for play, _ in ranked], ranked[0][1]) if ranked else None
        if act.sentence is not None:
            return self._difference(track, act.sentence, seen=act.face)
        if act.play is None:
            return None
        confidence = self._confidence(act)
        ranked = plays_of(track, self._tracks, act.table, self._places) if confidence < SURE_CONFIDENCE else []
        players = act.table.side_of(act.play.player or "").players if act.play.at_once else ()
        partners = [replace(act.play, player=player) for player in players if player != act.play.player]
        others = [play for play in (*partners, *(play for play, _ in ranked)) if play != act.play]
        asked = self._asked(Kind.PLAY, act, [act.play, *others], confidence)
        # Who of a pair has answered the picture does not tell, and the turn is his.
        return replace(asked, sure=asked.sure and not partners)

    def _asked(self, kind: Kind, act: Act, plays: Sequence[Play], confidence: float) -> Question:
        ident, why = self._record.question_id(act.track, kind, act.handling), objections(act.table, plays[0])
        sure = kind is Kind.PLAY and act.clear and confidence >= SURE_CONFIDENCE
        few = tuple(plays[:MOST_PLAYS])
        return Question(ident, kind, act.track.zone, few, act.table, why, confidence=confidence, sure=sure)

    def _confidence(self, act: Act) -> float:
        track = act.track
        doubtful = track.is_double or act.handling is Handling.STACKED or act.face is not track.face
        # Where a card counts that was laid after this one, this may have lain on and mean nothing.
        counted = ((line, self._tracks.by_serial.get(line.serial)) for line in self._record.lines)
        in_place = (each for line, each in counted if each is not None and (each.zone, each.face) in line.spots)
        doubtful = doubtful or any(other.earliest_s > track.since_s for other in in_place)
        doubtful = doubtful or self._may_be_dug_out(track)
        # The player to move may have laid a card where nobody has looked since the pictures broke off.
        doubtful = doubtful or (act.turn_matters and bool(self._tracks.unseen_zones & self._reach(act)))
        most = 1.0 if act.clear else UNCLEAR_CONFIDENCE
        if doubtful or act.is_out_of_turn:
            most = DOUBTFUL_CONFIDENCE
        in_force = self._places.cards(act.table, track.zone)[-1:]
        if track.is_double and in_force == (track.face,) and track.face in SAFETY_OF and track.face is not Card.STOP:
            most = UNLIKELY_CONFIDENCE
        return round(min(most, track.confidence) if act.face is track.face else most, 2)

    def _may_be_dug_out(self, track: Track) -> bool:
        """True if a hand has just been over a beaten hazard that does not show: a like discard may be that one."""
        alike = (t for t in self._tracks.there if t.face is track.face and t is not self._tracks.zones[t.zone][-1])
        on_mats = (t.zone for t in alike if t.zone != DISCARD_ZONE)
        beaten = (zone for zone in on_mats if self._places.is_beneath(self._table, track.face, zone))
        touched_s = (self._tracks.hidden_until_s.get(zone, -math.inf) for zone in beaten)
        is_hazard = track.is_laid_off_hazard and track.card is None
        return is_hazard and any(abs(track.since_s - t_s) <= TURN_S for t_s in touched_s)

    def _about_refused(self, track: Track) -> Question | None:
        """A card that was to be taken back and lies there still although the game has gone on."""
        said = self._record.refusal(track)
        if said is None or said.answer is not Answer.TAKEN_BACK or not track.is_in_sight:
            return None
        if not any(line.seq > said.seq for line in self._record.lines):
            return None
        card, zone = self._called(track.face), where(track.zone)
        sentence = say("%(card)s was taken back but is still on %(zone)s.", card=card, zone=zone)
        return self._difference(track, sentence, seen=track.face)

    # Questions about cards that are gone

    def _balance_after(self, acts: Sequence[Act], after: Table) -> Balance:
        """Return how the cards differ from the record once these acts count."""
        if after is self._table:
            return self._balance
        lines = list(self._record.lines)
        for act in acts:
            if act.play is not None and act.is_legal:
                seq = lines[-1].seq if lines else self._record.hand_seq
                lines.append(Line(seq + 1, act.play, act.table, self._places, act.track.serial))
        return balance(self._tracks, replace(self._record, lines=tuple(lines)), after)

    def _differences(self, now: Balance, after: Table) -> Iterator[Question | None]:
        """Yield what is asked about cards that the record has and the table has not, or elsewhere."""
        moved = {old.serial: new for old, new in self._moved if new in now.extra}
        for old in now.missing:
            new = moved.get(old.serial)
            is_explained = self._is_settled(old, after) or (new is not None and self._explains(old, new))
            if old is not self._taken and not is_explained:
                yield self._about_gone(old, new)
        yield from map(self._about_changed, self._record.lines)

    def _is_settled(self, old: Track, table: Table) -> bool:
        """True if it means nothing that a card is gone from a side's pile: it is beaten, or what beats it is coming."""
        on_side = is_pile(old.zone) and old.zone != DISCARD_ZONE
        lines, spot = reversed(self._record.lines), (old.zone, old.face)
        newest = next((line.serial for line in lines if spot in line.spots), None)
        is_on_top = newest == old.serial and self._places.cards(table, old.zone)[-1:] == (old.face,)
        is_beneath = on_side and not is_on_top and self._places.is_beneath(table, old.face, old.zone)
        is_ending = any(HAZARD_OF.get(track.face) is old.face for track in self._tracks.coming)
        return is_beneath or is_ending or self._is_beaten_by_a_safety(old)

    def _about_changed(self, line: Line) -> Question | None:
        """A card whose line people have changed to a play elsewhere, and that lies where it lay."""
        track = self._tracks.by_serial.get(line.serial)
        if track is None or not (track.is_there and track.is_in_sight):
            return None
        zone, face = line.spots[0] if line.spots else (track.zone, track.face)
        is_carried_off = track.is_laid_off_hazard and self._places.is_beneath(self._table, face, zone)
        if zone == track.zone or is_carried_off or self._ended(track, line.before) is not None:
            return None
        meant = self._places.play_at(face, track.zone, track.place.sideways, line.before)
        if meant is None or self._places.question(face, track.zone, line.before) is not None:
            return None
        is_had = face is track.face and face in self._places.cards(self._table, zone)
        if not is_had or self._places.zone_of(meant.play, line.before) == zone:
            return None
        card, here, there = self._called(face), where(track.zone), where(zone)
        sentence = say("%(card)s is still on %(here)s, but should be on %(there)s.", card=card, here=here, there=there)
        question = self._difference(track, sentence, expected=face, seen=face)
        return replace(question, plays=(meant.play,), line=line.seq) if question is not None else None

    def _about_gone(self, old: Track, new: Track | None = None) -> Question | None:
        card, was_on = self._called(old.face), where(old.zone)
        if new is None:
            sentence = say("%(card)s is no longer on %(zone)s.", card=card, zone=was_on)
        else:
            sentence = say("%(card)s has moved from %(old)s to %(new)s.", card=card, old=was_on, new=where(new.zone))
        return self._difference(old, sentence, expected=old.face)

    def _called(self, face: Card) -> Said:
        return card_term(face, self._table.edition.name)

    def _difference(
        self, track: Track, sentence: Said, *, expected: Card | None = None, seen: Card | None = None
    ) -> Question | None:
        """The question, unless people have said that the record is right, or all right while the zone lies so."""
        ident = self._record.question_id(track, Kind.DIFFERS)
        about = ",".join(str(t.serial) for t in self._tracks.there if t.zone == track.zone)
        answered = self._record.answers.get(ident)
        if answered is not None and (answered.answer is Answer.RECORD or answered.about == about):
            return None
        # The line that laid the card: the one told by it, or the last that laid one like it there.
        lines, spot = self._record.lines[::-1], (track.zone, track.face)
        own = [line.seq for line in lines if line.serial == track.serial]
        own += [line.seq for line in lines if spot in line.spots]
        question = Question(ident, Kind.DIFFERS, track.zone, table=self._table, say=sentence, sure=False, about=about)
        return replace(question, expected=expected, seen=seen, line=own[0] if own and expected is not None else None)

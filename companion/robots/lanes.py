"""Many hands played in parallel: tables as arrays, with a row (lane) per dealt world.

There are no thefts, requests or taken discards. Out of turn, all play like level 2: an attack is answered by its
safety, else a mirror, else a fast remedy; a long or winning distance card by a u-turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card, Family
from companion.rules.dealing import EXTENDED_KM
from companion.rules.editions.edition import Edition
from companion.rules.legality import MOST_MIRRORS
from companion.rules.record.judge import NO_POINTS
from companion.rules.table import COUP_FOURRE_KM, FULL_HAND, SAFETY_KM, Due, HowEnded, Shows, Side, Table

Ints = npt.NDArray[np.integer[Any]]
Flags = npt.NDArray[np.bool_]


class Hazards(NamedTuple):
    """Hazards, their remedies and safeties, as card numbers."""

    cards: Ints
    remedies: Ints
    safeties: Ints  # indices in `NumberedDeck.safeties`


class NumberedDeck:
    """An edition's cards, numbered in deck order; piles hold numbers plus one."""

    def __init__(self, cards: tuple[Card, ...]) -> None:
        self.cards = cards
        number = {card: at for at, card in enumerate(cards)}
        self.number = number
        self.km = np.array([card.km for card in cards], np.int16)
        self.distances = [at for at, card in enumerate(cards) if card.family is Family.DISTANCE]
        self.safeties = [at for at, card in enumerate(cards) if card.family is Family.SAFETY]
        hazards = [card for card in cards if card.family is Family.HAZARD]
        self.hazards = Hazards(
            np.array([number[card] for card in hazards]),
            np.array([number[REMEDY_OF[card]] for card in hazards]),
            np.array([self.safeties.index(number[SAFETY_OF[card]]) for card in hazards]),
        )
        self.roll, self.limit = number[Card.ROLL], number[Card.SPEED_LIMIT]
        self.stop, self.end_of_limit = number[Card.STOP], number[Card.END_OF_LIMIT]
        self.right_of_way = self.safeties.index(number[Card.RIGHT_OF_WAY])
        self.two_hundred = number.get(Card.KM_200, -1)
        self.accelerator = number.get(Card.ACCELERATOR, -1)
        self.mirror, self.u_turn = number.get(Card.MIRROR, -1), number.get(Card.U_TURN, -1)
        # By a battle pile's top: its safety's index, or -1; a remedy.
        self.answers = np.full(len(cards) + 1, -1, np.int8)
        self.remedies = np.array([False, *(card.family is Family.REMEDY for card in cards)])
        self.safety_of = np.full(len(cards), -1, np.int8)
        self.safety_of[self.hazards.cards] = self.hazards.safeties
        self.remedy_of = np.full(len(cards), -1, np.int8)
        self.remedy_of[self.hazards.cards] = self.hazards.remedies
        self.answers[1:] = np.where(np.arange(len(cards)) == self.limit, -1, self.safety_of)
        self.of = {family: np.array([card.family is family for card in cards]) for family in Family}

    def counts(self, cards: Iterable[Card]) -> Ints:
        """Return the copies by card number, without unread cards."""
        counted = np.zeros(len(self.cards), np.int8)
        for card in cards:
            if card in self.number:
                counted[self.number[card]] += 1
        return counted


@cache
def deck_of(cards: tuple[Card, ...]) -> NumberedDeck:
    """Return the numbered deck."""
    return NumberedDeck(cards)


OPEN, COMPLETED, EXHAUSTED = 0, 1, 2  # values of `over`

NOTHING, ONE, TURN = 0, 1, 2  # values of `due`
LAID, DISCARDED, DOUBLED = 0, 1, 2  # uses of a card; with the card, a column of `Lanes.play`

TURN_BACK_KM = 75  # least km for a u-turn, except on a winning card

_LAID_BY_LANES = (Family.DISTANCE, Family.REMEDY, Family.SAFETY, Family.HAZARD)


class Lanes:
    """Tables of one edition, one per lane: the first array index."""

    hands: Ints  # (lane, seat, card)
    pile: Ints  # card numbers, from `begin` to before `end`
    public: Ints  # (lane, card): visible copies
    discards: Ints  # (lane, card)
    battle: Ints  # (lane, side, place); place 0: bare table
    depth: Ints  # place of the top card in `battle`
    tops: Ints  # shown by each battle pile
    limit: Flags
    km: Ints
    twos: Ints  # number of 200s
    moved: Flags
    safe: Flags  # (lane, side, safety)
    coups: Ints
    begun: Flags
    totals: Ints  # before the hand
    move: Ints
    due: Ints
    target: Ints
    may_extend: Flags
    called: Ints  # side that called the extension, or -1
    over: Ints
    by: Ints  # side that completed the trip, or -1
    begin: Ints
    end: Ints
    origin: Ints  # original lane number: finished lanes go

    def __init__(self, table: Table, fields: dict[str, Any]) -> None:
        self.edition: Edition = table.edition
        self.deck = deck_of(tuple(table.deck))
        self.total = np.array(list(table.deck.values()), np.int8)
        self.side_of = np.array([seat.side for seat in table.seats])
        self.seats, self.sides = len(table.seats), len(table.sides)
        self.race_counts = self.edition.safeties_count_as_distance == "yes"
        self.overshoots = self.edition.overshoot == "allowed"
        self.reshuffles = self.edition.reshuffles
        self._stopped: Flags | None = None
        vars(self).update(fields)

    def __len__(self) -> int:
        return len(self.move)

    def chosen(self, lanes: Any) -> Lanes:
        """Return copies of lanes: a slice, mask `(n,)` or numbers."""
        other = copy(self)
        vars(other).pop("rows", None)
        other._stopped = None
        at = np.arange(len(self))[lanes]
        for name in _FIELDS:
            setattr(other, name, getattr(self, name).take(at, axis=0))
        return other

    @cached_property
    def rows(self) -> Ints:
        return np.arange(len(self))

    def of(self, field: Any, which: Any) -> Any:
        """Return a field's entry for one side or seat per lane."""
        return field.reshape(-1, *field.shape[2:]).take(self.rows * field.shape[1] + which, axis=0)

    def race_km(self, side: Any, at: Any = None) -> Ints:
        """Return one side's km towards the target per lane, in all lanes or `at`."""
        places = (self.rows if at is None else at) * self.sides + side
        km: Ints = self.km.reshape(-1).take(places)
        if self.race_counts:
            safe = self.safe.reshape(-1, self.safe.shape[2]).take(places, axis=0)
            km = km + SAFETY_KM * safe.sum(1) + COUP_FOURRE_KM * self.coups.reshape(-1).take(places)
        return km

    @property
    def stopped(self) -> Flags:
        """True by lane and side where a hazard stops the car."""
        if self._stopped is None:
            answer = self.deck.answers[self.tops]
            places = np.arange(answer.size).reshape(answer.shape) * len(self.deck.safeties) + np.maximum(answer, 0)
            self._stopped = (answer >= 0) & ~self.safe.reshape(-1).take(places)
        return self._stopped

    # Drawing

    def left(self) -> Ints:
        return self.end - self.begin

    def draw(self, at: Ints, seat: Ints, chance: np.random.Generator) -> None:
        """Draw a card into a hand of the lanes in `at`, reshuffling discards if the edition does.

        Odd seats draw from the pile's other end: with two players, an extra draw then leaves the other's cards
        unchanged, and compared plays differ less by luck.
        """
        if self.reshuffles:
            for lane in at[self.begin[at] >= self.end[at]].tolist():
                self._reshuffle(lane, chance)
        left = self.begin[at] < self.end[at]
        at, seat = at[left], seat[left]
        from_end = seat % 2
        cards = self.pile[at, np.where(from_end, self.end[at] - 1, self.begin[at])]
        self.hands[at, seat, cards] += 1
        self.begin[at] += 1 - from_end
        self.end[at] -= from_end

    def _reshuffle(self, lane: int, chance: np.random.Generator) -> None:
        cards = np.repeat(np.arange(len(self.deck.cards)), self.discards[lane])
        chance.shuffle(cards)
        self.pile[lane, : len(cards)] = cards
        self.begin[lane], self.end[lane] = 0, len(cards)
        self.public[lane] -= self.discards[lane]
        self.discards[lane] = 0

    def draw_for_turn(self, chance: np.random.Generator) -> None:
        if self.edition.draw == "to-seven":
            for _ in range(FULL_HAND):
                held = self.of(self.hands, self.move).sum(1)
                self._draw_where((self.due == TURN) & (held < FULL_HAND), chance)
            self._draw_where(self.due == ONE, chance)
        else:
            self._draw_where(self.due != NOTHING, chance)
        self.due[:] = NOTHING

    def _draw_where(self, who: Flags, chance: np.random.Generator) -> None:
        at = np.flatnonzero(who)
        self.draw(at, self.move[at], chance)

    # Changing piles; `at` has no lane twice

    def _put(self, at: Ints, side: Ints, card: Ints) -> None:
        """Put `card` (number plus one) on battle piles; 0 makes a pile count as empty."""
        self.depth[at, side] += 1
        self.battle[at, side, self.depth[at, side]] = self.tops[at, side] = card
        self._stopped = None

    def _lift(self, at: Ints, side: Ints) -> None:
        self.discards[at, self.tops[at, side] - 1] += 1
        self.depth[at, side] -= 1
        self.tops[at, side] = self.battle[at, side, self.depth[at, side]]
        self._stopped = None

    # A turn

    def play(self, column: Ints, victim: Ints, chance: np.random.Generator) -> None:
        """Make a play per lane, after the draw: a column of `worths`, `victim` for hazards."""
        way, card = np.divmod(column, len(self.deck.cards))
        seat = self.move.copy()
        own = self.side_of[seat]
        self.hands[self.rows, seat, card] -= 1
        self.public[self.rows, card] += 1
        laid = way != DISCARDED
        self.discards[self.rows, card] += ~laid
        drives, helps, saves, attacks = (np.flatnonzero(laid & self.deck.of[family][card]) for family in _LAID_BY_LANES)
        self.move, self.due = (seat + 1) % self.seats, np.full_like(self.due, TURN)
        self._drive(drives, own[drives], seat[drives], card[drives], way[drives] == DOUBLED)
        self._remedy(helps, own[helps], card[helps])
        if len(saves):
            self._save(saves, own[saves], card[saves])
            self.move[saves], self.due[saves] = seat[saves], ONE
        if len(attacks):
            self._attack(attacks, seat[attacks], victim[attacks], card[attacks], chance)
        self._complete(drives, own[drives])
        if self.deck.u_turn >= 0:
            self.turn_back(drives, seat[drives], card[drives], way[drives] == DOUBLED)
        if self.race_counts:
            self._complete(saves, own[saves])
        self._settle()

    def _drive(self, at: Ints, own: Ints, seat: Ints, card: Ints, doubled: Flags) -> None:
        self.km[at, own] += self.deck.km[card] * (1 + doubled)
        self.twos[at, own] += card == self.deck.two_hundred
        self.moved[at, own] = self.begun[at, own] = True
        if doubled.any():
            self.hands[at, seat, self.deck.accelerator] -= doubled
            self.public[at, self.deck.accelerator] += doubled

    def _remedy(self, at: Ints, own: Ints, card: Ints) -> None:
        ends = card == self.deck.end_of_limit
        self.limit[at[ends], own[ends]] = False
        self.begun[at, own] = True
        puts = ~ends
        if self.edition.pile_after_remedy == "card-beneath":
            self.discards[at[ends], card[ends]] += 1
            self.discards[at[ends], self.deck.limit] += 1
            lifts = puts & self.stopped[at, own]
            self._lift(at[lifts], own[lifts])
            self.discards[at[lifts], card[lifts]] += 1
            puts &= ~lifts
        self._put(at[puts], own[puts], card[puts] + 1)

    def _save(self, at: Ints, side: Ints, card: Ints, beaten: Ints | int = -1) -> None:
        """Play safeties; `beaten`: hazards that coups fourrés just removed, or -1."""
        deck, edition = self.deck, self.edition
        which = np.searchsorted(deck.safeties, card)
        right_of_way = which == deck.right_of_way
        top = self.tops[at, side]
        takes_away = right_of_way | (edition.roll_after_late_safety == "not-needed")
        # An equal hazard below the removed one stays.
        hazard = takes_away & (deck.answers[top] == which) & ((beaten == -1) | (beaten == deck.limit))
        limit = right_of_way & self.limit[at, side]
        self.safe[at, side, which] = self.begun[at, side] = True
        self._stopped = None
        self.discards[at[limit], deck.limit] += 1
        self.limit[at[limit], side[limit]] = False
        self._lift(at[hazard], side[hazard])
        if edition.pile_after_safety != "roll":
            return
        limit |= beaten == deck.limit
        gone = np.where(hazard, top - 1, np.where(beaten == deck.limit, -1, beaten))
        top = self.tops[at, side]
        puts = (gone >= 0) | (limit & ((top == 0) | deck.remedies[top]))
        self._put(at[puts], side[puts], np.where(gone == deck.stop, 0, deck.roll + 1)[puts])

    def _attack(self, at: Ints, seat: Ints, victim: Ints, card: Ints, chance: np.random.Generator) -> None:
        self._put_hazard(at, victim, card)
        self.answer(at, seat, victim, card, chance)

    def _put_hazard(self, at: Ints, victim: Ints, card: Ints) -> None:
        limits = card == self.deck.limit
        self.limit[at[limits], victim[limits]] = True
        self._put(at[~limits], victim[~limits], card[~limits] + 1)

    def _take_hazard(self, at: Ints, victim: Ints, card: Ints) -> None:
        limits = card == self.deck.limit
        self.limit[at[limits], victim[limits]] = False
        self.discards[at[limits], self.deck.limit] += 1
        self._lift(at[~limits], victim[~limits])

    def answer(
        self, at: Ints, by: Ints, victim: Ints, card: Ints, chance: np.random.Generator, mirrors: int = 0
    ) -> None:
        """Let the sides that seats `by` just attacked answer."""
        if not len(at):
            return
        seat = self._coup_fourre(at, victim, card, chance)
        at, by, victim, card = (of_all[seat < 0] for of_all in (at, by, victim, card))
        if self.deck.mirror >= 0 and mirrors < MOST_MIRRORS and len(at):
            seat = self._mirror(at, by, victim, card)
            back = seat >= 0
            self.answer(at[back], seat[back], self.side_of[by[back]], card[back], chance, mirrors + 1)
            at, victim, card = (of_all[~back] for of_all in (at, victim, card))
        if self.edition.fast_remedy == "yes" and len(at):
            self._fast_remedy(at, victim, card)

    def _holder(self, at: Ints, sides: Flags, card: Ints | int) -> Ints:
        """Return the flagged sides' lowest seat with a card, or -1."""
        seat = np.full(len(at), -1)
        for other in range(self.seats - 1, -1, -1):
            seat[sides[:, self.side_of[other]] & (self.hands[at, other, card] > 0)] = other
        return seat

    def _leave_hand(self, at: Ints, seat: Ints, card: Ints | int) -> None:
        self.hands[at, seat, card] -= 1
        self.public[at, card] += 1

    def _coup_fourre(self, at: Ints, victim: Ints, card: Ints, chance: np.random.Generator) -> Ints:
        """Answer with safeties; return the answering seats, or -1."""
        safety = np.asarray(self.deck.safeties)[self.deck.safety_of[card]]
        holder = self._holder(at, _only(victim, self.sides), safety)
        coup = holder >= 0
        if not coup.any():
            return holder
        at, victim, card, safety, seat = at[coup], victim[coup], card[coup], safety[coup], holder[coup]
        self._take_hazard(at, victim, card)
        self._save(at, victim, safety, card)
        self.coups[at, victim] += 1
        self._leave_hand(at, seat, safety)
        is_whole = self.edition.coup_fourre_turn == "whole"
        if is_whole:
            self.draw(at, seat, chance)
        self.move[at], self.due[at] = seat, TURN if is_whole else NOTHING
        if self.race_counts:
            self._complete(at, victim)
        return holder

    def _mirror(self, at: Ints, by: Ints, victim: Ints, card: Ints) -> Ints:
        """Answer with mirrors; return the answering seats, or -1."""
        deck, attacker = self.deck, self.side_of[by]
        holder = self._holder(at, _only(victim, self.sides), deck.mirror)
        if not (holder >= 0).any():
            return holder
        stopped = self.stopped[at, attacker] & (self.edition.hazard_on_hazard == "forbidden")
        immune = self.safe[at, attacker, deck.safety_of[card]]
        holder[immune | np.where(card == deck.limit, self.limit[at, attacker], stopped)] = -1
        back = holder >= 0
        at, seat, attacker, victim, card = at[back], holder[back], attacker[back], victim[back], card[back]
        self._take_hazard(at, victim, card)
        self.discards[at, card] -= 1
        self._put_hazard(at, attacker, card)
        self._leave_hand(at, seat, deck.mirror)
        self.discards[at, deck.mirror] += 1
        return holder

    def _fast_remedy(self, at: Ints, victim: Ints, card: Ints) -> None:
        remedy = self.deck.remedy_of[card]
        seat = self._holder(at, _only(victim, self.sides), remedy)
        helps = seat >= 0
        if not helps.any():
            return
        at, seat, victim, remedy = at[helps], seat[helps], victim[helps], remedy[helps]
        self._leave_hand(at, seat, remedy)
        self._remedy(at, victim, remedy)
        if self.edition.fast_remedy_turn != "goes-on":
            self.move[at], self.due[at] = seat, NOTHING

    def turn_back(self, at: Ints, driver: Ints, card: Ints, doubled: Flags) -> None:
        """Let opponents play u-turns on `driver`'s distance cards just played."""
        deck, side, km = self.deck, self.side_of[driver], self.deck.km[card] * (1 + doubled)
        won = self.over[at] == COMPLETED
        seat = self._holder(at, ~_only(side, self.sides), deck.u_turn)
        seat[~won & (km < TURN_BACK_KM)] = -1
        if self.edition.u_turn_on_winning_card == "forbidden":
            seat[won & ~self.may_extend[at]] = -1
        back = seat >= 0
        if not back.any():
            return
        at, seat, side, driver, card, km = at[back], seat[back], side[back], driver[back], card[back], km[back]
        self.km[at, side] -= km
        self.twos[at, side] -= card == deck.two_hundred
        self.moved[at, side] = self.km[at, side] > 0
        self.hands[at, driver, card] += 1
        self.public[at, card] -= 1
        self.discards[at, deck.accelerator] += doubled[back]
        self._leave_hand(at, seat, deck.u_turn)
        self.discards[at, deck.u_turn] += 1
        self.over[at], self.by[at] = OPEN, -1

    # Consequences

    def _complete(self, at: Ints, side: Ints) -> None:
        km, target = self.race_km(side, at), self.target[at]
        there = (km == target) | ((km > target) & self.overshoots)
        self.over[at[there]], self.by[at[there]] = COMPLETED, side[there]

    def extend(self, who: Ints) -> None:
        self.called[who], self.target[who], self.may_extend[who] = self.by[who], EXTENDED_KM, False
        self.over[who], self.by[who] = OPEN, -1
        self._settle()

    def _settle(self) -> None:
        """With an empty pile, give the turn to the next seat with cards, else end."""
        empty = (self.over == OPEN) & (self.begin >= self.end)
        if self.reshuffles:
            empty &= self.discards.sum(1) == 0
        if not empty.any():
            return
        if self.edition.empty_pile == "ends":
            ends = empty & (self.due != NOTHING)
            self.over[ends] = EXHAUSTED
            empty &= ~ends
        held = self.hands.sum(2) > 0
        for _ in range(self.seats):
            idle = empty & ~self.of(held, self.move)
            self.move[idle] = (self.move[idle] + 1) % self.seats
            self.due[idle] = TURN
        self.over[empty & ~self.of(held, self.move)] = EXHAUSTED


def _only(side: Ints, sides: int) -> Flags:
    return np.asarray(np.arange(sides) == side[:, None])


_FIELDS = tuple(Lanes.__annotations__)
_DUE = {Due.NOTHING: NOTHING, Due.ONE: ONE, Due.TURN: TURN}
_HOW = {HowEnded.COMPLETED: COMPLETED, HowEnded.EXHAUSTED: EXHAUSTED, HowEnded.AGREED: EXHAUSTED}
_MOST_PILED = 48
"""Places in a battle pile: the bare table and a deck's hazards and remedies, at most 46.

In bsd-mille 42, and a Roll left by each of four safeties.
"""


def lanes_of(table: Table, hands: Ints, piles: Ints, totals: Mapping[str, int] = NO_POINTS) -> Lanes:
    """Return a table as lanes: `hands` (lane, seat, card: counts), `piles` (lane, place: cards)."""
    deck, lanes = deck_of(tuple(table.deck)), len(hands)
    ending = table.ending
    if table.extension_offered_to is not None:
        over, by = COMPLETED, table.extension_offered_to
    else:
        over = _HOW[ending.how] if ending is not None else OPEN
        by = ending.side if ending is not None and ending.side is not None else -1
    by_side = [_side_fields(deck, side) | {"totals": totals.get(side.name, 0)} for side in table.sides]
    once: dict[str, Any] = {name: [one[name] for one in by_side] for name in by_side[0]}
    once |= {"public": deck.counts(table.lying.elements()), "discards": deck.counts(table.discards)}
    once |= {"move": table.to_move, "due": _DUE[table.due]}
    called = -1 if table.extended_by is None else table.extended_by
    may_extend = table.may_extend and ending is None
    once |= {"target": table.target, "may_extend": may_extend, "called": called, "over": over, "by": by}
    once |= {"begin": 0, "end": piles.shape[1]}
    fields = {name: np.repeat(np.asarray(value)[None], lanes, axis=0) for name, value in once.items()}
    room = max(0, sum(table.deck.values()) - piles.shape[1])
    fields |= {"hands": hands.copy(), "pile": np.pad(piles, ((0, 0), (0, room))), "origin": np.arange(lanes)}
    return Lanes(table, fields)


def _side_fields(deck: NumberedDeck, side: Side) -> dict[str, Any]:
    piled = [0, *(deck.number.get(card, -1) + 1 for card in side.battle)]
    if side.shows is not Shows.TOP:
        piled.append(deck.roll + 1 if side.shows is Shows.ROLL else 0)
    return {
        "battle": np.array(piled + [0] * (_MOST_PILED - len(piled)), np.int8),
        "depth": len(piled) - 1,
        "tops": piled[-1],
        "limit": side.limited,
        "km": side.km,
        "twos": side.distances.count(Card.KM_200),
        "moved": bool(side.distances),
        "safe": np.array([deck.cards[at] in side.safeties for at in deck.safeties]),
        "coups": len(side.coups_fourres),
        "begun": side.has_begun,
    }


def lanes_to_move(table: Table, seat: int, held: Ints, totals: Mapping[str, int] = NO_POINTS) -> Lanes:
    """Return a lane for each hand in `held` of a seat to move; other hands are empty."""
    hands = np.zeros((len(held), len(table.seats), held.shape[1]), np.int8)
    hands[:, seat] = held
    lanes = lanes_of(table._replace(due=Due.NOTHING), hands, np.zeros((len(held), table.draw_pile), np.int8), totals)
    lanes.move[:] = seat
    return lanes


def joined(all_lanes: Sequence[Lanes]) -> Lanes:
    """Return the lanes of several tables together, renumbered."""
    first = all_lanes[0].chosen(slice(None))
    for name in _FIELDS:
        setattr(first, name, np.concatenate([getattr(lanes, name) for lanes in all_lanes]))
    first.origin = np.arange(len(first.move))
    return first

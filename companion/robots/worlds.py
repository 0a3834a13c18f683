"""Deal many worlds (other hands and draw pile) that fit what a player has seen, and play them out.

Cards visibly taken are in their hand. Hands that do not fit past plays are rarer: each is followed back, with the
played card returned and a random one removed for the draw.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from companion.robots.information_set import PastPlay, Position, known_cards
from companion.robots.lanes import COMPLETED, DISCARDED, DOUBLED, LAID, OPEN, Flags, Ints, Lanes, deck_of, lanes_to_move
from companion.robots.valuation import WEIGHTS, Points, worths
from companion.rules.cards import SAFETY_OF, Card, Family
from companion.rules.editions.edition import Edition
from companion.rules.play import Verb
from companion.rules.scoring import safety_points

_SURPLUS = 4  # dealt worlds per world kept
_LOOKS_BACK = 5  # past plays considered, of all others together
_PATIENCE_POINTS = 40.0  # deficit that makes a play e times less likely
_WHIM = 0.08  # least likelihood: people do not play by the valuation


def deal(position: Position, count: int, chance: np.random.Generator) -> tuple[Ints, Ints]:
    """Return hands (world, seat, card: counts) and draw piles (world, place: card numbers)."""
    hands, piles = _dealt(position, count * _SURPLUS, chance)
    likely = _likelihood(position, hands, chance)
    # Systematic sampling by likelihood.
    steps = (np.arange(count) + chance.random()) / count
    kept = np.minimum(np.searchsorted(np.cumsum(likely) / likely.sum(), steps), len(likely) - 1)
    chance.shuffle(kept)
    # Worlds may repeat, in different orders.
    return hands[kept], chance.permuted(piles[kept], axis=1)


def _dealt(position: Position, count: int, chance: np.random.Generator) -> tuple[Ints, Ints]:
    table, deck = position.table, deck_of(tuple(position.table.deck))
    unseen = +position.unseen
    hands = np.zeros((count, len(table.seats), len(deck.cards)), np.int8)
    hands[:, position.seat] = deck.counts(position.hand)
    sizes = {}
    for seat, known in known_cards(position).items():
        if seat != position.seat:
            sure = Counter(list((known & unseen).elements())[: table.hands[seat]])
            unseen -= sure
            hands[:, seat] = deck.counts(sure.elements())
            sizes[seat] = table.hands[seat] - sure.total()
    hidden = np.repeat(np.arange(len(deck.cards), dtype=np.int8), deck.counts(unseen.elements()))
    mixed = chance.permuted(np.tile(hidden, (count, 1)), axis=1)
    worlds, at = np.arange(count), 0
    for seat, size in sizes.items():
        for _ in range(min(size, len(hidden) - at)):
            hands[worlds, seat, mixed[:, at]] += 1
            at += 1
    return hands, mixed[:, at:]


def _likelihood(position: Position, hands: Ints, chance: np.random.Generator) -> Points:
    """Return the relative likelihood `(worlds,)` of the others' past plays, given their `hands` now."""
    likely = np.ones(len(hands))
    looks = max(1, _LOOKS_BACK // (len(position.table.seats) - 1))
    since = [None, *(past.play for past in reversed(position.past))]
    for seat, other in enumerate(position.table.seats):
        if seat == position.seat:
            continue
        held, plays = hands[:, seat].astype(np.int16), 0
        for past, after in zip(reversed(position.past), since, strict=False):
            table, play = past
            attacks = play.is_attack and play.card in SAFETY_OF and table.side_index(play.target) == other.side
            if attacks and after is not None and not after.is_coup_fourre:
                safety = SAFETY_OF[play.card or Card.UNKNOWN]
                likely *= np.where(held[:, deck_of(tuple(table.deck)).number[safety]] > 0, _WHIM / 2, 1.0)
            elif play.player == other.player:
                plays += 1
                if plays > looks or play.verb not in (Verb.PLAY, Verb.DISCARD):
                    break
                held = _led_back(past, seat, held, likely, chance)
    return likely


def _led_back(past: PastPlay, seat: int, held: Ints, likely: Points, chance: np.random.Generator) -> Ints:
    """Return a seat's hands before a play; lower `likely` where others looked better."""
    table, play = past
    deck = deck_of(tuple(table.deck))
    held = held + deck.counts(card for card in play.out_of_hand if card in deck.number)
    if play.card in deck.number and not play.at_once:
        way = DISCARDED if play.verb is Verb.DISCARD else DOUBLED if play.times > 1 else LAID
        worth = worths(lanes_to_move(table, seat, held))[0]
        lost = worth.max(1) - worth[:, way * len(deck.cards) + deck.number[play.card]]
        likely *= _WHIM + (1 - _WHIM) * np.exp(-np.minimum(lost, 1e4) / _PATIENCE_POINTS)
    for _ in range(int(held[0].sum()) - table.hands[seat]):
        drawn = (np.cumsum(held, axis=1) > (chance.random(len(held)) * held.sum(1))[:, None]).argmax(1)
        held[np.arange(len(held)), drawn] -= 1
    return held


_MOST_TURNS = 130  # more than a hand has
_MOST_TURNS_OF_RACE = 60  # with reshuffling; then the lead decides
_HAND_SPREAD = 1400.0  # of the score difference in a two-player hand
_LAST_HANDS = 1.2  # added to hands still needed; fits level 2 matches
_RACE_SPREAD_KM = 1000.0  # lead that surely decides a race
_HAND_POINTS = 1130.0  # a side's average per hand


def play_out(lanes: Lanes, chance: np.random.Generator) -> Ends:
    """Play each lane (a hand) to its end, modifying `lanes`; return points and km."""
    ends = Ends(lanes)
    for _ in range(_MOST_TURNS_OF_RACE if lanes.reshuffles else _MOST_TURNS):
        completed = np.flatnonzero((lanes.over == COMPLETED) & lanes.may_extend)
        if len(completed):
            lanes.extend(completed[wants_extension(lanes.chosen(completed))])
        over = lanes.over != OPEN
        if over.any():
            ends.note(lanes.chosen(over))
            lanes = lanes.chosen(~over)
        if not len(lanes):
            break
        lanes.draw_for_turn(chance)
        worth, victims = worths(lanes)
        column = worth.argmax(1)
        lanes.play(column, victims[lanes.rows, column % len(lanes.deck.cards)], chance)
    ends.note(lanes)
    return ends


def wants_extension(lanes: Lanes) -> Flags:
    """Flag lanes whose completer extends, for points but without risking a won match."""
    may = (lanes.over == COMPLETED) & lanes.may_extend
    if not may.any():
        return may
    w, deck, side = WEIGHTS, lanes.deck, np.arange(lanes.sides)
    is_other, made = side != lanes.by[:, None], points(lanes)
    hand = (lanes.hands * (lanes.side_of == lanes.by[:, None])[..., None]).sum(1)
    gain = w.extend + w.extend_draw * lanes.left() / lanes.seats
    gain += w.extend_stake * (made - _own_points(lanes))[lanes.rows, lanes.by]
    gain += w.extend_km * hand @ deck.km + w.extend_hazard * hand[:, deck.of[Family.HAZARD]].sum(1)
    held, safe = lanes.stopped.astype(int) + lanes.limit, lanes.safe.sum(2)
    gain += w.extend_held * np.where(is_other, held, 2).min(1)
    gain += w.extend_safety * (safe[lanes.rows, lanes.by] - np.where(is_other, safe, 0).max(1))
    worth_it = gain > 0
    most = lanes.edition.match_points
    if most is not None:
        after = made + lanes.totals
        own = after[lanes.rows, lanes.by]
        worth_it &= (own < most) | (own < after.max(1))
    return may & worth_it


def _own_points(lanes: Lanes) -> Ints:
    """Return scores without final bonuses, by lane and side."""
    safety, coup = safety_points(lanes.edition)
    every = lanes.edition.points.all_safeties
    return lanes.km + safety * lanes.safe.sum(2) + coup * lanes.coups + every * lanes.safe.all(2)


def points(lanes: Lanes) -> Ints:
    """Return the hand's score by lane and side, as in `rules/scoring.py`."""
    score, edition, made = lanes.edition.points, lanes.edition, _own_points(lanes)
    by = lanes.over == COMPLETED
    lane, side = np.flatnonzero(by), lanes.by[by]
    bonus = score.trip_completed + score.delayed_action * (lanes.left()[by] == 0)
    bonus = bonus + score.safe_trip * (lanes.twos[lane, side] == 0)
    stayed = (~lanes.moved[lane]).sum(1)
    bonus += score.shut_out * (stayed if edition.shut_out == "per-side" else stayed == lanes.sides - 1)
    made[lane, side] += bonus
    called = np.flatnonzero(lanes.called >= 0)
    caller, completer = lanes.called[called], lanes.by[called]
    if edition.extension_bonus == "caller-or-opponents":
        for other in range(lanes.sides):
            gets = np.where(completer == caller, other == caller, other != caller)
            made[called, other] += score.extension * gets
    else:
        ended = completer >= 0
        made[called[ended], completer[ended]] += score.extension
    return np.asarray(made)


class Ends:
    """Points, km and completing side (or -1) by original lane."""

    def __init__(self, lanes: Lanes) -> None:
        self.edition: Edition = lanes.edition
        self.totals = lanes.totals
        self.points = np.zeros((len(lanes), lanes.sides), np.int64)
        self.by = np.full(len(lanes), -1)
        self.km = np.zeros((len(lanes), lanes.sides), np.int64)

    def note(self, over: Lanes) -> None:
        self.points[over.origin], self.by[over.origin] = points(over), over.by
        self.km[over.origin] = np.stack([over.race_km(side) for side in range(over.sides)], axis=1)

    def shares(self, own: int) -> Points:
        """Return how likely side `own` is to win the match or race, by lane."""
        if self.edition.is_race:
            lead = self.km[:, own] - np.delete(self.km, own, axis=1).max(1)
            lead = lead / _RACE_SPREAD_KM if self.edition.reshuffles else np.sign(lead)
            return np.where(self.by >= 0, self.by == own, 0.5 + 0.5 * np.clip(lead, -1, 1))
        after, goal = self.points + self.totals, self.edition.match_points
        lead = after[:, own] - np.delete(after, own, axis=1).max(1)
        to_go = np.maximum(goal - after.max(1), 0) / _HAND_POINTS
        share = 1 / (1 + np.exp(-1.702 * lead / (_HAND_SPREAD * np.sqrt(to_go + _LAST_HANDS))))
        return np.where(after.max(1) >= goal, 0.5 + 0.5 * np.sign(lead), share)

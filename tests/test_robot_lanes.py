"""The arrays of the playouts do the same as the referee, card by card."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from robot_games import any_seating, chance_hand

from companion.robots.information_set import options
from companion.robots.lanes import COMPLETED, EXHAUSTED, OPEN, Lanes, deck_of, lanes_of
from companion.robots.valuation import Movers
from companion.robots.worlds import points
from companion.rules import referee
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card, Family
from companion.rules.editions.edition import edition_names, load_edition
from companion.rules.hidden_cards import Deal
from companion.rules.play import Play, Verb, lay
from companion.rules.record import judge, notation
from companion.rules.scoring import score
from companion.rules.table import Due, HowEnded, Table

EDITIONS = edition_names()
SEEDS = [*range(3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 60))]
ANSWERS = [Card.MIRROR, Card.U_TURN, *(card for card in load_edition("rush").deck if card.family is Family.REMEDY)]
DUE = {Due.NOTHING: 0, Due.ONE: 1, Due.TURN: 2}
HOW = {None: OPEN, HowEnded.COMPLETED: COMPLETED, HowEnded.EXHAUSTED: EXHAUSTED}


def lane_of(at: Deal) -> Lanes:
    """Return the table with all its cards as a lane, after the turn's draw."""
    deck = deck_of(tuple(at.table.deck))
    hands = np.array([[deck.counts(hand) for hand in at.hands]], np.int8)
    pile = np.array([[deck.number[card] for card in at.pile]], np.int8).reshape(1, -1)
    discards = () if at.table.draw_reshuffles else at.table.discards
    return lanes_of(at.table._replace(due=Due.NOTHING, discards=discards), hands, pile)


def random_hand(edition: str, seed: int):
    """Play a random hand; yield each ordinary play with the cards before it."""
    for step in chance_hand(any_seating(edition, seed), seed, most=250):
        table = step.position.table
        if step.position.is_in_turn and step.play is not None and is_ordinary(table, step.play):
            yield lane_of(step.hand.deal), table, step.hand.deal.hands, step.play


def is_ordinary(table: Table, play: Play) -> bool:
    """True if lanes know the play: a card played or discarded in turn, without open requests."""
    free = not table.requests and table.window.taken is None and table.extension_offered_to is None
    return free and play.verb in (Verb.PLAY, Verb.DISCARD) and not play.at_once


def with_answers(table: Table, play: Play, hands: Iterable[Iterable[Card]]) -> Table:
    """Return the table after a play and the legal answers of level 2 to it."""
    left = [list(hand) for hand in hands]
    while True:
        for card in play.out_of_hand:
            left[table.seat_of(play.player)].remove(card)
        attacked, drove = play.is_attack, play.verb is Verb.PLAY and play.card.family is Family.DISTANCE
        before, table = table, referee.apply(table, play)
        if drove and table.window.laid and table.window.laid.seat == before.seat_of(play.player):
            answers = turning_back(table, left)
        else:
            answers = answering(table, left) if attacked and table.attacks else []
        play = next((answer for answer in answers if not referee.objections(table, answer)), None)
        if play is None:
            return table


def answering(table: Table, hands: list[list[Card]]) -> list[Play]:
    """Return the possible answers of the side attacked last, best first."""
    attack = table.attacks[-1]
    cards = [SAFETY_OF[attack.hazard], Card.MIRROR]
    cards += [REMEDY_OF[attack.hazard]] if table.edition.fast_remedy == "yes" else []
    seats = [(seat, hand) for seat, hand in zip(table.seats, hands, strict=True) if seat.side == attack.side]
    return [lay(seat.player, card, at_once=True) for card in cards for seat, hand in seats if card in hand]


def turning_back(table: Table, hands: list[list[Card]]) -> list[Play]:
    """Return the u-turns of opponents against a long or winning distance card."""
    laid, ends = table.window.laid, table.ending is not None or table.extension_offered_to is not None
    if laid.card.km * laid.times < 75 and not ends:
        return []
    return [
        lay(seat.player, Card.U_TURN, at_once=True)
        for seat, hand in zip(table.seats, hands, strict=True)
        if Card.U_TURN in hand and seat.side != table.seats[laid.seat].side
    ]


def shown(lanes: Lanes) -> list:
    """Return the state of each side in a lane."""
    deck = lanes.deck
    return [
        (
            int(lanes.km[0, side]),
            None if lanes.tops[0, side] == 0 else deck.cards[lanes.tops[0, side] - 1],
            bool(lanes.stopped[0, side]),
            bool(lanes.limit[0, side]),
            {deck.cards[at] for at, out in zip(deck.safeties, lanes.safe[0, side], strict=True) if out},
            int(lanes.coups[0, side]),
        )
        for side in range(lanes.sides)
    ]


def shown_by(table: Table) -> list:
    return [
        (s.km, s.battle_top, s.hazard is not None, s.limited, set(s.safeties), len(s.coups_fourres))
        for s in table.sides
    ]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_turn_in_a_lane_changes_the_table_like_the_referee(edition, seed):
    chance = np.random.default_rng(seed)
    for lanes, table, hands, play in random_hand(edition, seed):
        deck = lanes.deck
        drawable = np.bincount(lanes.pile[0, : lanes.left()[0]], minlength=len(deck.cards))
        cards_in_all = lanes.hands[0].sum(0) + lanes.public[0] + drawable
        kind = 1 if play.verb is Verb.DISCARD else 2 if play.times > 1 else 0
        victim = table.side_index(play.target) or 0
        lanes.play(np.array([kind * len(deck.cards) + deck.number[play.card]]), np.array([victim]), chance)
        after = with_answers(table, play, hands)

        assert shown(lanes) == shown_by(after), str(play)
        offered = after.extension_offered_to is not None
        assert lanes.over[0] == (COMPLETED if offered else HOW[after.ending and after.ending.how]), str(play)
        assert lanes.left()[0] == after.draw_pile
        assert tuple(lanes.hands[0].sum(1)) == after.hands
        drawable = lanes.pile[0, lanes.begin[0] : lanes.end[0]]
        everywhere = lanes.hands[0].sum(0) + lanes.public[0] + np.bincount(drawable, minlength=len(deck.cards))
        assert (everywhere == cards_in_all).all(), str(play)
        assert {card: int(n) for card, n in zip(deck.cards, lanes.discards[0], strict=True) if n} == {
            card: after.discards.count(card) for card in after.discards
        }
        if after.is_over:
            assert [sheet.total for sheet in score(after)] == list(points(lanes)[0])
        elif not offered:
            assert (lanes.move[0], lanes.due[0]) == (after.to_move, DUE[after.due]), str(play)


@pytest.mark.parametrize("seed", SEEDS)
def test_lanes_answer_out_of_turn_like_level_2(seed):
    chance, used = random.Random(seed), Counter()
    for step in chance_hand(any_seating("rush", seed), seed, most=60):
        at = step.position
        plays = options(at).plays if at.is_in_turn else ()
        for play in (play for play in plays if is_ordinary(at.table, play) and play.verb is Verb.PLAY):
            hands = [list(hand) for hand in step.hand.deal.hands]
            for seat, hand in enumerate(hands):
                if seat != at.seat:
                    hand[:] = [chance.choice(ANSWERS) if chance.random() < 0.3 else card for card in hand]
            if play.is_attack:
                # The attacker may have to answer a mirror.
                hands[at.seat] += chance.sample(ANSWERS, 2)
            lanes = lane_of(replace(step.hand.deal, hands=tuple(map(tuple, hands))))
            deck = lanes.deck
            column = deck.number[play.card] + 2 * len(deck.cards) * (play.times > 1)
            victim = at.table.side_index(play.target) or 0
            lanes.play(np.array([column]), np.array([victim]), np.random.default_rng(seed))
            after = with_answers(at.table, play, hands)

            assert shown(lanes) == shown_by(after), str(play)
            assert (lanes.over[0] == OPEN) == (not after.is_over), str(play)
            if not after.is_over:
                assert (lanes.move[0], lanes.due[0]) == (after.to_move, DUE[after.due]), str(play)
            counted = {card: int(n) for card, n in zip(deck.cards, lanes.discards[0], strict=True) if n}
            assert counted == Counter(after.discards)
            used.update(set(after.discards) - set(at.table.discards))
    assert set(used) & set(ANSWERS)


@pytest.mark.parametrize(("edition", "hazard"), [("classic", Card.STOP), ("dujardin-2014", Card.ACCIDENT)])
def test_a_coup_fourre_leaves_an_equal_hazard_below_the_removed_one(edition, hazard):
    lines = f"option hazard-on-hazard=allowed\nhand first Ann\nAnn roll\nBob roll\nAnn {hazard} > Bob\nBob discard 25"
    text = f"edition {edition}\nside Ann\nside Bob\n{lines}"
    record = judge.judge_on(judge.EMPTY_RECORD, tuple(notation.lines(text)))
    table, play, hands = record.game.table, lay("Ann", hazard, "Bob"), [[hazard], [SAFETY_OF[hazard]]]
    deck = deck_of(tuple(table.deck))
    lanes = lanes_of(table, np.array([[deck.counts(hand) for hand in hands]], np.int8), np.zeros((1, 1), np.int8))

    lanes.play(np.array([deck.number[hazard]]), np.array([1]), np.random.default_rng(1))

    assert shown(lanes) == shown_by(with_answers(table, play, hands))


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("seed", SEEDS[:1] + SEEDS[3:20])
def test_a_lane_allows_the_same_plays_as_the_referee(edition, seed):
    for lanes, table, hands, play in random_hand(edition, seed):
        movers, deck = Movers(lanes), lanes.deck
        held = set(hands[table.seat_of(play.player)])

        def agrees(may, of: Play) -> None:
            assert bool(may[0]) == (not referee.objections(table, of)), str(of)  # noqa: B023

        for number, may in zip(deck.distances, movers.may_drive(), strict=True):
            if deck.cards[number] in held:
                agrees(may, lay(play.player, deck.cards[number]))
        for number, may in zip(deck.safeties, movers.may_save(), strict=True):
            if deck.cards[number] in held:
                agrees(may, lay(play.player, deck.cards[number]))
        for card, remedy, safety, may_remedy in zip(*deck.hazards, movers.may_remedy(), strict=True):
            if deck.cards[remedy] in held:
                agrees(may_remedy, lay(play.player, deck.cards[remedy]))
            for victim, side in enumerate(table.sides):
                if deck.cards[card] in held and victim != movers.own[0]:
                    may = movers.may_limit if card == deck.limit else movers.may_stop
                    bare = ~lanes.safe[:, victim, safety]
                    agrees(may(np.array([victim])) & bare, lay(play.player, deck.cards[card], side.name))

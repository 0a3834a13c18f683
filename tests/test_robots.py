"""Robots at the table: legal plays, based on public facts and their own hand, reproducible with a seed."""

from __future__ import annotations

import random
from dataclasses import fields, replace

import numpy as np
import pytest
from robot_games import MOST_PLAYS, PAIRS, TWO, Player, Step, any_seating, dealt, done, hidden, play_hand

from companion.robots.information_set import DealtHand, Position, known_cards, options, position_of
from companion.robots.robot import Level, choose
from companion.robots.search import Candidate, Effort
from companion.robots.worlds import deal
from companion.rules.cards import Card
from companion.rules.editions.edition import edition_names
from companion.rules.play import Play, Verb
from companion.rules.record import judge, notation
from companion.rules.record.notation import RecordLine
from companion.rules.table import Team

EDITIONS = edition_names()
QUICK = Effort(playouts=24)
HEADER = "edition {edition}\nside Ann\nside Bob\nhand first Ann"


def robot(level: int, seed: object, effort: Effort = QUICK) -> Player:
    chance = random.Random(f"robot {seed}")
    return lambda position: choose(position, Level(level), chance, effort).play


def at_table(at: DealtHand, *levels: int) -> dict[str, Player]:
    """Robots in all seats, with alternating levels."""
    return {s.player: robot(levels[n % len(levels)], n) for n, s in enumerate(at.deal.table.seats)}


def played_by(at: DealtHand, *levels: int, most: int = MOST_PLAYS) -> list[Step]:
    """Return the positions that robots decide in during a hand, and their plays."""
    return list(play_hand(at, at_table(at, *levels), most))


# `play_hand` refuses illegal plays and cards that the player does not hold.


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(n, marks=pytest.mark.long) for n in range(4, 80))])
def test_robots_of_levels_1_and_2_play_whole_hands_legally(edition, seed):
    table = played_by(any_seating(edition, seed), 2, 1)[-1].after.deal.table

    # A race of many players who keep stopping each other need not end by itself.
    assert table.is_over or (len(table.sides) > 4 and table.edition.reshuffles)


@pytest.mark.parametrize("seed", [25, 104, 106])
def test_a_race_of_three_level_1_robots_ends(seed):
    three = [Team(name, (name,)) for name in ("Ann", "Bob", "Cid")]

    assert played_by(dealt("rush", seed, three), 1, most=700)[-1].after.deal.table.is_over


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 80))])
def test_robots_follow_house_rules(edition, seed):
    at = any_seating(edition, seed, most_options=4)

    assert played_by(at, 2, 1, most=300)


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 10))])
def test_robots_of_level_3_play_legally(edition, seed):
    at = dealt(edition, seed) if seed == 0 else any_seating(edition, seed)

    assert played_by(at, 3, 2, most=15 if seed == 0 else 300)


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("edition", ["bsd-mille", "rush"])
def test_hidden_cards_do_not_influence_a_robots_play(edition, level):
    at, chance = dealt(edition, 7), random.Random(7)
    for step in play_hand(at, at_table(at, 1), most=30):
        position = step.position
        if position.is_in_turn and step.play is not None and len(position.past) % 10 == 0:
            cards = hidden(step.hand, position.seat)
            chance.shuffle(cards)
            hands = tuple(
                position.hand if seat == position.seat else tuple(cards.pop() for _ in hand)
                for seat, hand in enumerate(step.hand.deal.hands)
            )
            other = replace(step.hand, deal=replace(step.hand.deal, hands=hands, pile=tuple(cards), key="another"))
            again = other.position(position.seat)
            assert robot(level, 1)(again) == robot(level, 1)(position)


def test_a_position_has_no_field_for_hidden_cards():
    assert [field.name for field in fields(Position)] == ["table", "player", "hand", "totals", "past"]


@pytest.mark.parametrize("level", Level)
def test_a_robot_repeats_a_hand_with_the_same_seed(level):
    hands = []
    for _ in range(2):
        hands.append([str(step.play) for step in played_by(dealt("bsd-mille", 3), level, most=12)])

    assert hands[0] == hands[1]


def test_robots_in_pairs_answer_for_their_partner():
    steps = played_by(dealt("classic", 2, PAIRS), 2)
    answers = [step.position for step in steps if step.play is not None and step.play.is_coup_fourre]

    assert steps[-1].after.deal.table.is_over
    assert all(not position.is_in_turn or not position.has_drawn for position in answers)


def test_a_card_taken_in_public_is_known_to_be_in_the_hand():
    at = done(dealt("asmodee-2014", 1), "Ann", Play(Verb.SKIP_DRAW, "Ann"))
    card = next(card for card in at.deal.hands[0] if card is not Card.ROLL)
    at = done(at, "Ann", Play(Verb.DISCARD, "Ann", card))
    at = done(at, "Bob", Play(Verb.TAKE, "Bob"))

    assert known_cards(at.position(0))[1] == {card: 1}


@pytest.mark.parametrize(("penalty", "known"), [((), {Card.KM_50: 1}), (("Bob penalty 50",), {})])
def test_a_card_discarded_as_a_penalty_has_left_the_hand(penalty, known):
    begins = HEADER.format(edition="asmodee-2014\noption mistake-penalty=yes")
    lines = notation.lines("\n".join((begins, "Ann skip-draw", "Ann discard 50", "Bob take", *penalty)))
    record = judge.judge_on(judge.EMPTY_RECORD, tuple(lines))

    assert known_cards(position_of(record, "Ann", ()))[1] == known


def test_the_top_discard_may_be_taken_only_before_the_draw():
    at = dealt("asmodee-2014", 1, TWO)
    at = done(at, "Ann", Play(Verb.DISCARD, "Ann", at.deal.hands[0][0]))
    take = Play(Verb.TAKE, "Bob")

    assert take in options(at.position(1)).plays
    assert take not in options(at.drawn().position(1)).plays


def test_worlds_with_equal_hands_have_different_draw_piles():
    position = played_by(dealt("classic", 3), 1, most=40)[-1].position
    hands, piles = deal(position, 200, np.random.default_rng(1))

    assert len(np.unique(hands.reshape(200, -1), axis=0)) < 200
    assert len(np.unique(piles, axis=0)) == 200


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_record_tells_a_player_the_same_as_the_table(edition):
    record = judge.judge_on(judge.EMPTY_RECORD, tuple(notation.lines(HEADER.format(edition=edition))))
    at = dealt(edition, 5)
    for step in play_hand(at, at_table(at, 2, 1)):
        assert position_of(record, step.position.player, step.position.hand) == step.position
        if step.play is not None:
            lines = (*record.lines, RecordLine(len(record.lines) + 1, str(step.play)))
            record = judge.judge_on(record, lines)


def test_the_search_adds_the_accelerator_of_a_stolen_doubled_card_to_the_hand():
    at = done(dealt("rush", 1), "Ann", Play(Verb.SKIP_DRAW, "Ann"))
    doubled = at.deal.table.sides[1]._replace(distances=(Card.KM_100,), doubled=(Card.KM_100,))
    table = at.deal.table._replace(sides=(at.deal.table.sides[0], doubled))
    theft = Play(Verb.THEFT, "Ann", Card.KM_100, "Bob", times=2)

    after = Candidate(Position(table, "Ann", (Card.THEFT, Card.ROLL)), theft).hand
    assert after == {Card.ROLL: 1, Card.KM_100: 1, Card.ACCELERATOR: 1}

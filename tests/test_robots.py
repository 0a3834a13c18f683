"""Robots at the table: legal plays alone, from what is public and their own hand alone, the same for the same seed."""

from __future__ import annotations

import random
from dataclasses import fields

import pytest
from players import random_options, random_teams
from robot_games import MOST_PLAYS, TWO, Deal, Player, deal, play_hand

from companion.robots.information_set import Position, known_cards, position_of
from companion.robots.options import options
from companion.robots.robot import Level, choose
from companion.robots.search import Effort
from companion.rules.cards import Card
from companion.rules.editions.edition import edition_names, load_edition
from companion.rules.play import Play, Verb
from companion.rules.record import judge, notation
from companion.rules.table import Team

EDITIONS = edition_names()
QUICK = Effort(playouts=24)
PAIRS = (Team("Reds", ("Ann", "Cid")), Team("Blues", ("Bob", "Dee")))


def robot(level: int, seed: object, effort: Effort = QUICK) -> Player:
    chance = random.Random(f"robot {seed}")
    return lambda position: choose(position, Level(level), chance, effort).play


def at_table(at: Deal, *levels: int) -> dict[str, Player]:
    """Robots in all seats, their levels going round."""
    return {s.player: robot(levels[n % len(levels)], n) for n, s in enumerate(at.table.seats)}


def played_by(at: Deal, *levels: int, most: int = MOST_PLAYS) -> list[tuple[Position, Play | None]]:
    """What robots are asked in a hand, and what they play."""
    return list(play_hand(at, at_table(at, *levels), most))


def dealt(edition: str, seed: int, most_options: int = 0) -> Deal:
    """A deal for any number of sides that the edition seats, with house rules by chance."""
    chance = random.Random(seed)
    sheet = load_edition(edition)
    rules = [rule for rule in random_options(chance, most_options) if rule[0] not in sheet.fixed]
    return deal(edition, seed, random_teams(sheet, chance), rules=rules)


# `Deal.do` refuses what the referee objects to, and a card that the player does not hold.


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(n, marks=pytest.mark.long) for n in range(4, 80))])
def test_robots_of_levels_1_and_2_play_whole_hands_by_the_rules(edition, seed):
    at = dealt(edition, seed)

    played_by(at, 2, 1)

    # A race of many in which everybody is stopped again and again has no end by itself.
    assert at.table.is_over or (len(at.table.sides) > 4 and at.table.edition.empty_pile == "reshuffle")


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 80))])
def test_robots_play_by_house_rules(edition, seed):
    at = dealt(edition, seed, most_options=4)

    assert played_by(at, 2, 1, most=300)


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 10))])
def test_robots_of_level_3_play_by_the_rules(edition, seed):
    at = deal(edition, seed) if seed == 0 else dealt(edition, seed)

    assert played_by(at, 3, 2, most=15 if seed == 0 else 300)


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("edition", ["bsd-mille", "rush"])
def test_whatever_the_hidden_cards_are_the_play_is_the_same(edition, level):
    at, chance = deal(edition, 7), random.Random(7)
    for position, play in play_hand(at, at_table(at, 1), most=30):
        other = Deal(at.table, list(at.pile), [list(hand) for hand in at.hands], chance)
        hidden = [card for seat, hand in enumerate(other.hands) if seat != position.seat for card in hand] + other.pile
        chance.shuffle(hidden)
        for seat, hand in enumerate(other.hands):
            if seat != position.seat:
                other.hands[seat] = [hidden.pop() for _ in hand]
        other.pile, other.totals, other.past = hidden, at.totals, at.past
        if position.is_in_turn and play is not None and len(position.past) % 10 == 0:
            again = Position(position.table, position.player, other.position(position.seat).hand, past=position.past)
            assert robot(level, 1)(again) == robot(level, 1)(position)


def test_a_position_has_no_room_for_a_hidden_card():
    assert [field.name for field in fields(Position)] == ["table", "player", "hand", "totals", "past"]


@pytest.mark.parametrize("level", Level)
def test_with_the_same_chance_a_robot_plays_the_same_hand_again(level):
    hands = []
    for _ in range(2):
        at = deal("bsd-mille", 3)
        hands.append([str(play) for _, play in played_by(at, level, most=12)])

    assert hands[0] == hands[1]


def test_robots_play_in_pairs_and_answer_for_their_partner():
    at = deal("classic", 2, PAIRS)
    answers = [p for p, play in played_by(at, 2) if play is not None and play.is_coup_fourre]

    assert at.table.is_over
    assert all(not position.is_in_turn or not position.has_drawn for position in answers)


def test_what_everybody_saw_somebody_take_is_known_to_be_in_his_hand():
    at = deal("asmodee-2014", 1)
    ann, bob = at.table.seats
    at.do(Play(Verb.SKIP_DRAW, ann.player))
    card = next(card for card in at.hands[0] if card is not Card.ROLL)
    at.do(Play(Verb.DISCARD, ann.player, card))
    at.do(Play(Verb.TAKE, bob.player))

    assert known_cards(at.position(0))[1] == {card: 1}


def test_the_top_of_the_discard_pile_may_be_taken_before_drawing_alone():
    at = deal("asmodee-2014", 1, TWO)
    at.draw(0, 1)
    at.do(Play(Verb.DISCARD, "Ann", at.hands[0][0]))
    take = Play(Verb.TAKE, "Bob")

    assert take in options(at.position(1)).plays
    at.draw(1, 1)
    assert take not in options(at.position(1)).plays


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_player_knows_the_same_from_the_record_as_at_the_table(edition):
    at = deal(edition, 5)
    lines = [f"edition {edition}", "side Ann", "side Bob", "hand first Ann"]
    for position, _ in play_hand(at, at_table(at, 2, 1), most=40):
        text = "\n".join([*lines, *(str(past.play) for past in position.past)])
        record = judge.judge_on(judge.EMPTY_RECORD, tuple(notation.lines(text)))

        assert position_of(record, position.player, position.hand) == position

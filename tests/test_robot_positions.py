"""Positions in which one play is plainly right, and the robots of levels 2 and 3 find it."""

from __future__ import annotations

import random

import pytest

from companion.common.errors import Problem
from companion.robots.information_set import Position, position_of
from companion.robots.robot import Level, choose, reason_for
from companion.robots.search import Effort
from companion.rules.cards import Card
from companion.rules.play import discard, lay
from companion.rules.record import judge, notation

BEGINS = "edition {edition}\nside Ann\nside Bob\n{rules}hand first Ann\n"
BOTH = pytest.mark.parametrize("level", [Level.COUNTING, Level.SEARCHING])


def position(hand: str, lines: str = "", edition: str = "bsd-mille", player: str = "Ann", rules: str = "") -> Position:
    text = BEGINS.format(edition=edition, rules=rules) + lines.replace(", ", "\n")
    record = judge.judge_on(judge.EMPTY_RECORD, tuple(notation.lines(text)))
    wrong = [item for item in record.items if isinstance(item, judge.JudgedLine) and item.verdict != judge.LEGAL]
    assert not wrong, wrong[0].line
    return position_of(record, player, map(Card, hand.split()))


def play(level: Level, *where: str, **what: str) -> str | None:
    chosen = choose(position(*where, **what), level, random.Random(1), Effort(playouts=240)).play
    return None if chosen is None else str(chosen)


@BOTH
def test_a_hand_begins_with_a_roll(level):
    assert play(level, "25 50 roll stop gasoline 100 accident") == "Ann roll"


@BOTH
def test_a_car_that_stands_is_remedied(level):
    hand = "gasoline 25 50 100 repairs speed-limit roll"
    assert play(level, hand, "Ann roll, Bob out-of-gas > Ann") == "Ann gasoline"


@BOTH
def test_an_attack_is_answered_with_its_safety_at_once(level):
    hand = "extra-tank 25 50 100 repairs gasoline"
    assert play(level, hand, "Ann roll, Bob out-of-gas > Ann") == "Ann extra-tank !"


@BOTH
def test_a_safety_drawn_after_the_attack_is_no_answer_any_more(level):
    hand = "extra-tank 25 50 100 repairs gasoline roll"
    assert not str(play(level, hand, "Ann roll, Bob out-of-gas > Ann")).endswith("!")


@BOTH
def test_with_nothing_to_answer_an_attack_the_robot_waits_for_its_turn(level):
    assert play(level, "25 50 100 repairs gasoline roll", "Ann roll, Bob out-of-gas > Ann") is None


@BOTH
def test_where_nothing_is_drawn_one_question_asks_for_answer_and_turn(level):
    lines = "Ann roll, Bob out-of-gas > Ann, exhausted"
    assert play(level, "extra-tank 25 gasoline", lines) == "Ann extra-tank !"
    assert play(level, "25 50 gasoline", lines) == "Ann gasoline"


@BOTH
def test_a_rolling_opponent_is_stopped_before_one_drives_oneself(level):
    lines = "Ann roll, Bob roll, Ann discard 25, Bob 200, Ann discard 25, Bob 200, Ann discard 50, Bob 100"
    assert play(level, "stop 25 50 50 gasoline repairs 75", lines) == "Ann stop > Bob"


@BOTH
def test_no_hazard_is_thrown_at_a_car_that_stands_already(level):
    lines = "Ann roll, Bob roll, Ann stop > Bob, Bob discard 25"
    chosen = play(level, "accident 100 75 50 flat-tire repairs gasoline", lines, edition="classic")
    assert chosen == "Ann 100"


def test_a_hazard_is_not_thrown_away_on_a_car_that_stands_already():
    lines = "Ann roll, Bob roll, Ann stop > Bob, Bob stop > Ann"
    chosen = play(Level.COUNTING, "flat-tire 100 200 accident repairs gasoline spare-tire", lines, edition="classic")
    assert str(chosen).startswith("Ann discard ")


@BOTH
def test_a_third_200_is_discarded_before_anything_of_use(level):
    lines = "Ann roll, Bob discard 25, Ann 200, Bob discard 25, Ann 200, Bob stop > Ann"
    assert play(level, "200 stop flat-tire gasoline repairs accident 100", lines) == "Ann discard 200"


@BOTH
def test_a_200_that_goes_beyond_the_target_is_discarded_before_anything_of_use(level):
    lines = f"Ann roll{', Bob discard 25, Ann 100' * 6}, Bob stop > Ann"
    assert play(level, "200 stop flat-tire gasoline repairs accident 100", lines) == "Ann discard 200"


@BOTH
def test_no_hazard_is_kept_that_the_opponents_safety_keeps_off(level):
    lines = "Ann discard 25, Bob driving-ace, Bob discard 25"
    assert play(level, "accident gasoline repairs stop 100 50 flat-tire", lines) == "Ann discard accident"


NEAR = "Ann roll, Bob discard 25, Ann 200, Bob discard 25, Ann 200, Bob discard 50, Ann 100, Bob discard 50, Ann 100"


@BOTH
def test_the_target_is_reached_exactly_where_it_can_be(level):
    lines = f"{NEAR}, Bob discard 75"
    assert play(level, "100 75 50 25 gasoline repairs accident", lines) == "Ann 100"


@BOTH
def test_safeties_are_laid_before_the_card_that_ends_the_hand(level):
    lines = f"{NEAR}, Bob discard 75"
    assert play(level, "100 75 50 driving-ace gasoline repairs roll", lines) == "Ann driving-ace"


@BOTH
def test_safeties_that_count_as_distance_end_a_race_with_the_card_that_follows(level):
    lines = f"Ann roll, Bob roll, {', '.join(f'Ann {km}, Bob 25' for km in (200, 200, 100, 100, 100, 100, 75))}"
    hand = "extra-tank 25 50 out-of-gas 25 gasoline gasoline"
    assert play(level, hand, lines, edition="asmodee-2014") == "Ann extra-tank"


@pytest.mark.parametrize(("driven", "card"), [((), "25"), ((), "50"), ((25,), "25")])
def test_a_rest_that_one_card_drives_is_not_left_for_another_that_none_in_the_hand_drives(driven, card):
    drives = ", ".join(f"Ann {km}, Bob discard 75" for km in (100, 100, 100, 100, 100, 100, *driven))
    hand = f"{card} gasoline gasoline gasoline repairs roll stop"
    lines = f"Ann roll, Bob discard 75, Ann extra-tank, {drives}"
    assert play(Level.COUNTING, hand, lines) == "Ann discard gasoline"


@BOTH
def test_the_match_is_finished_where_finishing_wins_it(level):
    lines = f"{NEAR}, Bob discard 75, Ann 100"
    ahead = position("75 50 25 gasoline repairs roll", lines)
    almost = Position(ahead.table, "Ann", ahead.hand, {"Ann": 4200, "Bob": 4700}, ahead.past)

    assert str(choose(almost, level, random.Random(1), Effort(playouts=240)).play) == "Ann finish"


@BOTH
def test_a_race_card_is_turned_back_that_would_have_won(level):
    lines = "target 200"
    ends = position("u-turn 100 50 75 roll repairs", "Ann 200", "rush", "Bob", rules=f"{lines}\n")
    assert str(choose(ends, level, random.Random(1)).play) == "Bob u-turn !"


@BOTH
def test_an_attack_is_mirrored(level):
    lines = "Ann 100, Bob stop > Ann"
    assert play(level, "mirror 100 50 75 100 100", lines, edition="rush") == "Ann mirror !"


@BOTH
def test_a_card_that_was_asked_for_is_handed_over(level):
    lines = "Ann 100, Bob control roll > Ann"
    assert play(level, "roll 100 50 75 100 100", lines, edition="rush") == "Ann give roll > Bob"


@BOTH
def test_a_remedy_on_top_of_the_discard_pile_is_taken_where_it_helps(level):
    lines = "Ann roll, Bob roll, Ann discard 25, Bob accident > Ann, Ann discard 25, Bob discard repairs"
    assert play(level, "25 25 50 accident stop flat-tire", lines, edition="asmodee-2014") == "Ann take"


def test_a_reason_names_both_players_of_a_pair():
    text = "edition classic\nside Ann-Dee = Ann, Dee\nside Bob-Eve = Bob, Eve\nhand first Ann"
    record = judge.judge_on(judge.EMPTY_RECORD, tuple(notation.lines(text)))
    pair = position_of(record, "Ann", [Card.ROLL])

    assert reason_for(pair, lay("Ann", Card.ROLL)) == "It helps Ann and Dee on, with 1000 km still to go."


def test_a_single_card_is_not_spoken_of_as_several():
    assert reason_for(position("25"), discard("Ann", Card.KM_25)) == "25 km is the last card."


def test_a_hand_that_cannot_be_is_refused():
    with pytest.raises(Problem, match="more of right of way than the 1"):
        position("right-of-way right-of-way")


@BOTH
def test_no_card_is_stolen_that_would_have_to_be_handed_over_at_once(level):
    lines = "Ann 100, Bob 200, Ann 75, Bob control 200 > Ann"
    chosen = play(level, "theft 75 75 end-of-pollution mirror repairs roll", lines, edition="rush")
    assert chosen == "Ann 75"


def test_no_card_is_stolen_under_a_limit_that_keeps_it_from_being_laid():
    hand = "theft 50 50 roll roll repairs recharge"
    assert play(Level.COUNTING, hand, "Ann 50, Bob speed-limit > Ann, Ann 50, Bob 200", edition="rush") == "Ann 50"


@BOTH
def test_a_card_is_stolen_that_ends_the_race(level):
    lines = "target 200\n"
    hand = "theft pollution 75 stop mirror repairs roll"
    assert play(level, hand, "Ann 100, Bob 100", edition="rush", rules=lines) == "Ann theft 100 > Bob"


def test_no_pair_of_distance_cards_is_paid_for_a_limit_on_a_car_that_has_not_driven():
    lines = "Ann 100*2, Bob pollution > Ann, Ann discard 50, Bob speed-limit > Ann, Ann end-of-limit !, Ann discard 50"
    chosen = play(Level.COUNTING, "100 100 100 50 roll recharge repairs", f"{lines}, Bob discard speed-limit", "rush")
    assert not str(chosen).startswith("Ann pair 100")


def test_a_safe_trip_is_not_given_up_for_a_rest_that_only_a_25_drives():
    drives = ", ".join(f"Ann {km}, Bob discard 25" for km in (100, 100, 100, 100, 75))
    hand = "200 end-of-limit flat-tire out-of-gas puncture-proof repairs spare-tire"
    lines = f"Ann roll, Bob discard 50, Ann driving-ace, {drives}"
    assert play(Level.COUNTING, hand, lines) == "Ann discard repairs"


def test_the_only_remedy_is_kept_while_two_of_its_hazards_are_unseen():
    lines = "Ann roll, Bob flat-tire > Ann, Ann spare-tire, Bob discard 25"
    hand = "gasoline 100 200 stop stop driving-ace puncture-proof"
    assert play(Level.COUNTING, hand, lines) == "Ann discard stop"

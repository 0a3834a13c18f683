"""The French Dujardin sheet of 2014, row by row: what each row allows, and what it refuses."""

from __future__ import annotations

import pytest
from records import DEALT_TO_EIGHT, EIGHT, THREE, TWO, Hand, hand, run_down, teams

from companion.rules import referee
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card
from companion.rules.editions.edition import EditionError, load_edition

BATTLE_HAZARDS = [Card.ACCIDENT, Card.OUT_OF_GAS, Card.FLAT_TIRE, Card.STOP]
OTHER_BATTLE_HAZARDS = BATTLE_HAZARDS[:3]
TO_900 = "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25" + "; Ann 100; Bob 25" * 5


def dujardin(plays: str = "", players: str = TWO, **more) -> Hand:
    return hand(plays, players, edition="dujardin-2014", **more)


# Setting up


@pytest.mark.parametrize(("players", "draw_pile"), DEALT_TO_EIGHT)
def test_two_to_eight_play_to_1000_and_from_four_on_in_pairs(players, draw_pile):
    table = dujardin(players=players).table

    assert (table.target, table.draw_pile, sum(table.deck.values())) == (1000, draw_pile, 106)


@pytest.mark.parametrize("players", ["Ann", f"{EIGHT}, Ian", "Reds = Ann Bob"])
def test_other_numbers_of_players_are_refused(players):
    with pytest.raises(EditionError, match="8 in pairs"):
        referee.check_seating(load_edition("dujardin-2014"), teams(players))


# A turn


def test_cards_are_drawn_from_the_draw_pile_only():
    assert dujardin("Ann discard 100").against("Bob take") == ["cannot-take-discard"]


def test_a_forgotten_draw_is_not_made_up_for():
    forgot = dujardin("Ann skip-draw; Ann roll; Bob roll; Ann 25")

    assert (forgot.cards_of("Ann"), forgot.table.draw_pile) == (5, 92)


def test_a_card_may_be_discarded():
    table, play = dujardin().table, dujardin().parsed("Ann discard 25")

    assert dujardin().against("Ann discard 25") == dujardin().against("Ann discard right-of-way") == []
    assert referee.remarks(table, play) == ()


def test_nothing_is_exchanged_fetched_passed_or_lost_by_a_mistake():
    assert dujardin().against("Ann exchange 25") == ["no-exchange"]
    assert dujardin("Ann discard 100").against("Bob pair 50 for 100") == ["cannot-take-discard"]
    assert dujardin().against("Ann penalty 50") == ["no-penalty"]
    assert dujardin().against("Ann pass") == ["no-passing"]


# To drive at first, and remedies


def test_a_roll_or_right_of_way_starts_the_car_once():
    assert dujardin().against("Ann 100") == ["not-driving"]
    assert dujardin("Ann roll; Bob roll").against("Ann 100") == dujardin("Ann right-of-way").against("Ann 100") == []


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_after_a_remedy_no_roll_is_needed(hazard):
    attacked = dujardin(f"Ann roll; Bob {hazard} > Ann")

    assert attacked.against("Ann 25") == ["under-hazard"]
    assert attacked.then(f"Ann {REMEDY_OF[hazard]}; Bob discard 25").against("Ann 100") == []


def test_a_roll_is_laid_to_start_and_on_a_stop_alone():
    assert dujardin().against("Ann roll") == dujardin("Ann roll; Bob stop > Ann").against("Ann roll") == []
    assert dujardin("Ann roll; Bob roll").against("Ann roll") == ["already-rolling"]
    assert dujardin("Ann roll; Bob accident > Ann").against("Ann roll") == ["under-hazard"]
    assert dujardin("Ann roll; Bob accident > Ann; Ann repairs; Bob roll").against("Ann roll") == ["nothing-to-remedy"]


def test_a_roll_may_start_a_car_although_right_of_way_is_out():
    assert dujardin("Ann right-of-way").against("Ann roll") == []
    assert dujardin("Ann roll; Bob roll; Ann right-of-way").against("Ann roll") == ["already-rolling"]


@pytest.mark.parametrize("hazard", OTHER_BATTLE_HAZARDS)
def test_a_remedy_without_its_hazard_is_refused(hazard):
    assert dujardin("Ann roll; Bob roll").against(f"Ann {REMEDY_OF[hazard]}") == ["nothing-to-remedy"]
    assert dujardin("Ann roll; Bob stop > Ann").against(f"Ann {REMEDY_OF[hazard]}") == ["nothing-to-remedy"]


def test_a_remedy_out_of_turn_is_refused():
    assert dujardin("Ann roll; Bob accident > Ann", THREE).against("Ann repairs !") != []


# Hazards


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_hazard_is_laid_on_an_opponent_who_drives(hazard):
    assert dujardin("Ann roll").against(f"Bob {hazard} > Ann") == []
    assert dujardin("Ann discard 25").against(f"Bob {hazard} > Ann") == ["opponent-not-driving"]


def test_a_remedied_opponent_drives_and_may_be_attacked():
    assert dujardin("Ann roll; Bob accident > Ann; Ann repairs").against("Bob flat-tire > Ann") == []


def test_right_of_way_makes_an_opponent_drive_who_may_then_be_attacked():
    assert dujardin("Ann right-of-way; Ann 25").against("Bob flat-tire > Ann") == []
    assert dujardin("Ann right-of-way; Ann 25").against("Bob stop > Ann") == ["protected"]


@pytest.mark.parametrize("first", BATTLE_HAZARDS)
def test_a_second_hazard_is_refused_and_a_limit_is_not(first):
    attacked = dujardin(f"Ann roll; Bob {first} > Ann", THREE)

    assert attacked.against("Cid flat-tire > Ann") == ["already-attacked"]
    assert attacked.against("Cid speed-limit > Ann") == []


def test_a_second_speed_limit_is_refused():
    assert dujardin("Ann speed-limit > Cid", THREE).against("Bob speed-limit > Cid") == ["already-limited"]
    assert dujardin("Ann discard 25", THREE).against("Bob speed-limit > Cid") == []


@pytest.mark.parametrize("hazard", [*BATTLE_HAZARDS, Card.SPEED_LIMIT])
def test_a_safety_shuts_its_hazards_out(hazard):
    assert dujardin(f"Ann roll; Bob roll; Ann {SAFETY_OF[hazard]}; Ann 25").against(f"Bob {hazard} > Ann") == [
        "protected"
    ]


# Distance


def test_under_a_speed_limit_only_25_and_50_are_driven():
    limited = dujardin("Ann roll; Bob speed-limit > Ann")

    assert limited.against("Ann 25") == limited.against("Ann 50") == []
    assert [limited.against(f"Ann {km}") for km in (75, 100, 200)] == [["speed-limit"]] * 3


def test_at_most_two_200s_are_laid():
    two = dujardin("Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25")

    assert two.against("Ann 200") == ["third-200"]
    assert two.against("Ann 100") == []


def test_1000_is_reached_exactly():
    near = dujardin(f"{TO_900}; Ann 75; Bob 50")

    assert near.against("Ann 50") == ["past-target"]
    assert near.against("Ann 25") == []


def test_a_card_laid_past_1000_by_mistake_stays():
    near = dujardin(f"{TO_900}; Ann 75; Bob 50")

    assert near.then("Ann 50", as_lies=True).side("Ann").km == 1025


# Safeties and coup fourré


def test_a_safety_gives_no_km_but_another_play():
    played = dujardin("Ann driving-ace; Ann extra-tank")

    assert (played.turn, played.cards_of("Ann"), played.table.race_km(played.side("Ann"))) == ("Ann", 6, 0)


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_late_safety_throws_its_hazard_out_and_the_car_drives_on(hazard):
    late = dujardin(f"Ann roll; Bob {hazard} > Ann; Ann discard 25; Bob discard 25; Ann {SAFETY_OF[hazard]}")

    assert late.side("Ann").battle == (Card.ROLL,)
    assert late.against("Ann 100") == []


@pytest.mark.parametrize("hazard", [*BATTLE_HAZARDS, Card.SPEED_LIMIT])
def test_a_coup_fourre_draws_two_and_skips_the_players_between(hazard):
    attacked = dujardin(f"Ann roll; Bob roll; Cid roll; Ann {hazard} > Cid", THREE)
    claimed = attacked.then(f"Cid {SAFETY_OF[hazard]} !")

    assert claimed.turn == "Cid"
    assert claimed.against("Bob 25") == ["not-your-turn"]
    assert attacked.table.draw_pile - claimed.then("Cid 100").table.draw_pile == 2
    assert (claimed.then("Cid 100").cards_of("Cid"), claimed.then("Cid 100").turn) == (6, "Ann")


def test_a_coup_fourre_in_time_and_too_late():
    attacked = dujardin("Ann roll; Bob stop > Ann", THREE)

    assert attacked.against("Ann right-of-way !") == []
    assert attacked.then("Cid roll").against("Ann right-of-way !") == ["coup-fourre-window-closed"]


# The end of the race


def test_the_first_at_exactly_1000_wins():
    won = dujardin(f"{TO_900}; Ann 75; Bob 50; Ann 25")

    assert (won.result.how, won.result.by, won.result.winner) == ("completed", "Ann", "Ann")


def test_there_is_no_extension():
    reached = dujardin(TO_900.removesuffix("; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25"), target=700)

    assert (reached.result.how, reached.result.by) == ("completed", "Ann")
    assert reached.against("Ann extend") == ["hand-over"]


def test_when_the_draw_pile_is_used_up_whoever_is_nearest_wins():
    driven = dujardin("Ann roll; Bob roll; Cid roll; Ann 100; Bob 200; Cid 75", THREE)
    nearest = run_down(driven, left=0)

    assert (nearest.result.how, nearest.result.by, nearest.result.winner) == ("exhausted", None, "Bob")


def test_the_card_that_is_drawn_last_is_still_played():
    last = run_down(dujardin("Ann roll; Bob roll; Ann 100; Bob 100; Ann 25; Bob discard 25"), "200 50", left=1)

    assert not last.table.is_over
    assert last.then(f"{last.turn} 200").result.winner == last.turn


@pytest.mark.parametrize("line", ["Bob driving-ace", "Bob stop > Ann"])
def test_with_the_draw_pile_used_up_nobody_plays_on(line):
    last = run_down(dujardin("Ann roll; Bob roll; Ann 100; Bob 75"), "stop", left=1).then(line)

    assert (last.result.how, last.result.winner) == ("exhausted", "Ann")
    assert last.against("Ann right-of-way !") == ["hand-over"]


def test_two_equally_near_leave_no_winner():
    level = dujardin("Ann roll; Bob roll; Ann 100; Bob 100")

    assert run_down(level).result.winner is None


def test_a_side_that_lies_beyond_1000_is_not_the_nearest():
    beyond = dujardin(f"{TO_900}; Ann 200", as_lies=True)

    assert run_down(beyond).result.winner == "Bob"


# Scoring


def test_there_are_no_points_but_the_distance():
    won = dujardin("Ann roll; Bob stop > Ann; Ann right-of-way !; Ann driving-ace; Ann 200", target=200)

    assert won.points("Ann") == {"distance": 200}
    assert won.result.sheets["Ann"].total == 200


def test_one_race_is_the_match():
    won = dujardin("Ann roll; Bob roll; Ann 200", target=200)

    assert (won.result.match, won.result.winner) == ({"Ann": 200, "Bob": 0}, "Ann")

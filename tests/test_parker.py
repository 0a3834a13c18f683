"""The Parker sheet where it differs from the classic one: what each row allows, and what it refuses."""

from __future__ import annotations

import pytest
from records import FOUR, PAIRS, SIX, THREE, TWO, Hand, hand, run_down, teams

from companion.rules import referee
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card
from companion.rules.editions.edition import EditionError, load_edition

BATTLE_HAZARDS = [Card.ACCIDENT, Card.OUT_OF_GAS, Card.FLAT_TIRE, Card.STOP]
TO_600 = "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25"
SHUT_OUT_TO_700 = TO_600.replace("Bob 25", "Bob discard 25") + "; Ann 100"
SHUT_OUT_TO_1000 = f"{SHUT_OUT_TO_700}; Ann extend" + "; Bob discard 50; Ann 100" * 3


def parker(plays: str = "", players: str = TWO, **more) -> Hand:
    return hand(plays, players, edition="parker", **more)


# Setting up


@pytest.mark.parametrize(("players", "cards"), [(TWO, 101), (THREE, 101), (PAIRS, 106), (SIX, 106)])
def test_for_two_or_three_players_one_of_each_hazard_is_taken_out(players, cards):
    table = parker(players=players).table

    assert sum(table.deck.values()) == cards
    assert table.deck[Card.STOP] == (4 if cards == 101 else 5)


@pytest.mark.parametrize(("players", "target"), [(TWO, 700), (THREE, 700), (PAIRS, 1000), (SIX, 700)])
def test_the_targets_are_the_classic_ones(players, target):
    assert parker(players=players).table.target == target


def test_four_do_not_play_alone():
    with pytest.raises(EditionError, match="4 or 6 in pairs: these sides seat 4 alone"):
        referee.check_seating(load_edition("parker"), teams(FOUR))


def test_with_two_players_a_third_accident_is_one_too_many_and_in_pairs_it_is_not():
    two = "Ann discard accident; Bob discard accident"

    assert parker(two).against("Ann discard accident") == ["too-many-copies"]
    assert parker(two, PAIRS).against("Cid discard accident") == []


# A turn


def test_a_discard_is_for_those_who_are_stuck_and_is_remarked_upon():
    table = parker().table
    play = parker().parsed("Ann discard 25")

    assert referee.objections(table, play) == ()
    assert [why.code for why in referee.remarks(table, play)] == ["discard-only-when-stuck"]


def test_a_forgotten_draw_is_not_made_up_for():
    forgot = parker("Ann skip-draw; Ann roll; Bob roll; Ann 25")

    assert (forgot.cards_of("Ann"), forgot.table.draw_pile) == (5, 87)


def test_a_safety_may_be_discarded_by_who_is_stuck():
    assert parker().against("Ann discard right-of-way") == []


def test_nothing_is_exchanged_fetched_passed_or_lost_by_a_mistake():
    assert parker().against("Ann exchange 25") == ["no-exchange"]
    assert parker("Ann discard 100").against("Bob pair 50 for 100") == ["cannot-take-discard"]
    assert parker().against("Ann pass") == ["no-passing"]
    assert parker().against("Ann penalty 50") == ["no-penalty"]


def test_with_the_draw_pile_empty_the_hand_is_played_out():
    played = run_down(parker(), "25 50 75 25 50 75 25 50")
    for miles in (25, 50, 75, 25):
        played = played.then(f"{played.turn} discard {miles}; {played.turn} discard roll", as_lies=True)

    assert (played.table.draw_pile, played.table.hands, played.table.is_over) == (0, (2, 2), False)


def test_the_discard_pile_is_dead():
    assert parker("Ann discard 100").against("Bob take") == ["cannot-take-discard"]


# Hazards


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_hazard_is_laid_on_a_roll(hazard):
    assert parker("Ann roll").against(f"Bob {hazard} > Ann") == []


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_hazard_is_never_laid_on_an_empty_pile(hazard):
    assert parker("Ann discard 25").against(f"Bob {hazard} > Ann") == ["opponent-not-driving"]


@pytest.mark.parametrize("first", BATTLE_HAZARDS)
def test_a_hazard_is_never_laid_on_a_hazard(first):
    attacked = parker(f"Ann roll; Bob {first} > Ann", THREE)

    assert attacked.against("Cid flat-tire > Ann") == ["already-attacked"]


def test_a_hazard_is_never_laid_on_a_hazard_even_with_right_of_way_out():
    attacked = parker("Ann right-of-way; Ann roll; Bob accident > Ann", THREE)

    assert attacked.against("Cid flat-tire > Ann") == ["already-attacked"]


def test_a_remedied_opponent_is_attacked_only_once_he_rolls():
    remedied = parker("Ann roll; Bob accident > Ann; Ann repairs")

    assert remedied.against("Bob flat-tire > Ann") == ["opponent-not-driving"]
    assert remedied.then("Bob roll; Ann roll").against("Bob flat-tire > Ann") == []


@pytest.mark.parametrize(
    "before",
    [
        "Ann right-of-way; Ann 25",
        "Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs",
        "Ann right-of-way; Ann roll",
    ],
)
def test_with_right_of_way_out_a_hazard_is_laid_on_anything_but_a_hazard(before):
    assert parker(before).against("Bob flat-tire > Ann") == []
    assert parker(before).against("Bob stop > Ann") == ["protected"]


def test_a_hazard_that_a_late_safety_made_harmless_is_no_roll():
    late = parker("Ann roll; Bob accident > Ann; Ann driving-ace; Ann discard 25")
    free = parker("Ann roll; Bob accident > Ann; Ann driving-ace; Ann right-of-way; Ann 25")

    assert late.against("Bob flat-tire > Ann") == ["opponent-not-driving"]
    assert late.then("Bob roll; Ann roll").against("Bob flat-tire > Ann") == []
    assert free.against("Bob flat-tire > Ann") == []


def test_a_speed_limit_needs_no_roll():
    assert parker().against("Ann speed-limit > Bob") == []


# As in the classic game


def test_the_car_starts_with_a_roll_or_right_of_way():
    assert parker().against("Ann 100") == ["not-driving"]
    assert parker("Ann roll; Bob roll").against("Ann 100") == parker("Ann right-of-way").against("Ann 100") == []


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS[:3])
def test_after_a_remedy_a_roll_is_needed(hazard):
    remedied = parker(f"Ann roll; Bob {hazard} > Ann; Ann {REMEDY_OF[hazard]}; Bob roll")

    assert remedied.against("Ann 25") == ["not-driving"]
    assert remedied.then("Ann roll; Bob 25").against("Ann 25") == []


def test_a_remedy_out_of_turn_is_refused():
    assert parker("Ann roll; Bob accident > Ann", THREE).against("Ann repairs !") != []


def test_a_roll_is_refused_on_a_roll_and_on_a_hazard_that_is_no_stop():
    assert parker("Ann roll; Bob roll").against("Ann roll") == ["already-rolling"]
    assert parker("Ann roll; Bob accident > Ann").against("Ann roll") == ["under-hazard"]
    assert parker("Ann roll; Bob stop > Ann").against("Ann roll") == []


def test_a_safety_shuts_its_hazard_out_and_keeps_the_turn():
    safe = parker("Ann roll; Bob roll; Ann driving-ace")

    assert safe.turn == "Ann"
    assert safe.then("Ann 25").against("Bob accident > Ann") == ["protected"]


def test_under_a_limit_only_25_and_50_are_driven():
    limited = parker("Ann roll; Bob speed-limit > Ann")

    assert limited.against("Ann 75") == ["speed-limit"]
    assert limited.against("Ann 50") == []


def test_a_third_200_is_refused():
    assert parker("Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25").against("Ann 200") == ["third-200"]


@pytest.mark.parametrize("hazard", [*BATTLE_HAZARDS, Card.SPEED_LIMIT])
def test_a_coup_fourre_answers_its_hazard_until_the_next_card(hazard):
    attacked = parker(f"Ann roll; Bob {hazard} > Ann", THREE)

    assert attacked.against(f"Ann {SAFETY_OF[hazard]} !") == []
    assert attacked.then("Cid roll").against(f"Ann {SAFETY_OF[hazard]} !") == ["coup-fourre-window-closed"]


# A card beyond the target


def test_a_card_beyond_the_target_is_refused():
    near = parker(f"{TO_600}; Ann 75; Bob 25")

    assert near.against("Ann 50") == ["past-target"]
    assert near.against("Ann 25") == []


def test_a_card_laid_beyond_the_target_goes_to_the_discard_pile():
    near = parker(f"{TO_600}; Ann 75; Bob 25")
    lies = near.then("Ann 50", as_lies=True)

    assert (lies.side("Ann").km, lies.table.discards, lies.turn) == (675, (Card.KM_50,), "Bob")


def test_in_the_classic_game_a_card_laid_beyond_the_target_stays():
    near = hand(f"{TO_600}; Ann 75; Bob 25")

    assert near.then("Ann 50", as_lies=True).side("Ann").km == 725


# The extension


def test_the_extension_is_200_to_the_caller_who_completes():
    won = parker(SHUT_OUT_TO_1000)

    assert won.points("Ann")["extension"] == 200
    assert "extension" not in won.points("Bob")


def test_a_caller_who_does_not_complete_gives_each_opponent_200():
    three = TO_600.replace("Bob 25", "Bob 25; Cid discard 25").replace("Bob roll", "Bob roll; Cid discard 25")
    failed = parker(f"{three}; Ann 100; Ann extend; Bob 25; exhausted; end", THREE)

    assert failed.points("Bob")["extension"] == failed.points("Cid")["extension"] == 200
    assert "extension" not in failed.points("Ann")


def test_an_opponent_who_completes_has_the_200_and_the_trip():
    bob_drives = "; ".join(f"Bob {km}; Ann discard 50" for km in (200, 200, 100, 100, 100, 100))
    won = parker(f"{TO_600}; Ann 100; Ann extend; {bob_drives}; Bob 75; Ann discard 75; Bob 25", as_lies=True)

    assert won.result.by == "Bob"
    assert won.points("Bob")["extension"] == 200
    assert won.points("Bob")["trip-completed"] == 400
    assert "extension" not in won.points("Ann")


def test_without_a_call_there_are_no_200():
    done = parker(f"{TO_600}; Ann 100; Ann finish")

    assert "extension" not in done.points("Ann") | done.points("Bob")


# The shut-out


def test_one_shut_out_of_500_when_no_opponent_has_driven():
    all_shut = parker("Ann roll; Bob roll; Cid roll; Ann 200", THREE, target=200)

    assert all_shut.points("Ann")["shut-out"] == 500


def test_no_shut_out_when_one_opponent_has_driven():
    lines = "Ann roll; Bob roll; Cid roll; Ann 100; Bob 25; Cid discard 25; Ann 100"

    assert "shut-out" not in parker(lines, THREE, target=200).points("Ann")


# Scoring


def test_the_other_lines_count_as_in_the_classic_game():
    done = parker("Ann roll; Bob stop > Ann; Ann right-of-way !; Ann 100; Bob discard 25; Ann 100", target=200)

    assert done.points("Ann") == {
        "distance": 200,
        "safeties": 100,
        "coups-fourres": 300,
        "trip-completed": 400,
        "safe-trip": 300,
        "shut-out": 500,
    }

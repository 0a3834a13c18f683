"""The Asmodee sheet of 2014, row by row: what each row allows, and what it refuses."""

from __future__ import annotations

import pytest
from records import FIVE, FOUR, PAIRS, SIX, THREE, TWO, Hand, hand, header, results, teams

from companion.rules import referee
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card
from companion.rules.editions.edition import EditionError, load_edition

BATTLE_HAZARDS = [Card.ACCIDENT, Card.OUT_OF_GAS, Card.FLAT_TIRE, Card.STOP]
OTHER_BATTLE_HAZARDS = BATTLE_HAZARDS[:3]
TO_800 = "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25" + "; Ann 100; Bob 25" * 4


def asmodee(plays: str = "", players: str = TWO, **more) -> Hand:
    return hand(plays, players, edition="asmodee-2014", **more)


def emptied(kept: str) -> Hand:
    """Two players whose draw pile has just run out by counting; the twelve cards in their hands are `kept`."""
    game = asmodee()
    cards = [card.value for card, count in game.table.deck.items() for _ in range(count)]
    for card in kept.split():
        cards.remove(card)
    while game.table.draw_pile:
        game = game.then(f"{game.turn} discard {cards.pop()}")
    return game


# Setting up


@pytest.mark.parametrize(("players", "draw_pile"), [(TWO, 94), (THREE, 88), (FOUR, 82), (PAIRS, 82), (SIX, 70)])
def test_two_to_four_play_alone_and_four_or_six_in_pairs_to_1000_miles(players, draw_pile):
    table = asmodee(players=players).table

    assert (table.target, table.draw_pile, set(table.hands)) == (1000, draw_pile, {6})


@pytest.mark.parametrize(
    "players", ["Ann", FIVE, f"{FIVE}, Fay", "Reds = Ann Bob", "Reds = Ann Cid Eve, Blues = Bob Dee Fay"]
)
def test_other_numbers_of_players_are_refused(players):
    with pytest.raises(EditionError, match="2 to 4 alone, or 4 or 6 in pairs: these sides seat "):
        referee.check_seating(load_edition("asmodee-2014"), teams(players))


def test_the_deck_is_the_classic_one_of_106_cards():
    ours, classic = asmodee().table.deck, hand().table.deck

    assert dict(ours) == dict(classic)
    assert sum(ours.values()) == 106


def test_a_card_of_rush_is_unknown():
    assert asmodee("Ann roll; Bob roll").against("Ann 300") == ["unknown-card"]
    assert asmodee("Ann roll; Bob roll").against("Ann discard theft") == ["unknown-card"]


# A turn


def test_a_turn_draws_one_card_and_plays_one():
    played = asmodee("Ann roll; Bob roll; Ann 100")

    assert (played.table.draw_pile, played.table.hands, played.turn) == (91, (6, 6), "Bob")


def test_the_top_of_the_discard_pile_may_be_drawn_instead():
    taken = asmodee("Ann discard 100; Bob discard 75; Ann take")

    assert (taken.table.discards, taken.cards_of("Ann"), taken.table.draw_pile) == ((Card.KM_100,), 7, 92)
    assert taken.then("Ann roll").table.hands == (6, 6)


def test_nothing_is_taken_from_an_empty_discard_pile():
    assert asmodee().against("Ann take") == ["cannot-take-discard"]


def test_a_turn_takes_one_card_and_not_two():
    taken = asmodee("Ann discard 100; Bob discard 75; Ann take")

    assert taken.against("Ann take") == ["cannot-take-discard"]


def test_nothing_is_taken_after_the_draw_was_forgotten():
    assert asmodee("Ann discard 100; Bob skip-draw").against("Bob take") == ["cannot-take-discard"]


def test_nobody_takes_a_card_out_of_turn():
    assert asmodee("Ann discard 100").against("Ann take") == ["not-your-turn"]


def test_a_taken_card_may_be_played_on_the_same_turn():
    assert asmodee("Ann discard roll; Bob take").against("Bob roll") == []


def test_the_card_that_a_coup_fourre_threw_out_may_be_drawn():
    answered = asmodee("Ann roll; Bob roll; Ann stop > Bob; Bob right-of-way !; Bob 100; Ann take")

    assert answered.table.discards == ()
    assert answered.against("Ann stop > Bob") == ["protected"]


def test_a_forgotten_draw_is_not_made_up_for():
    forgot = asmodee("Ann skip-draw; Ann roll; Bob roll; Ann 25")

    assert (forgot.cards_of("Ann"), forgot.table.draw_pile) == (5, 92)


def test_two_alike_fetch_nothing_and_a_mistake_costs_nothing():
    assert asmodee("Ann discard 100").against("Bob pair 50 for 100") == ["cannot-take-discard"]
    assert asmodee().against("Ann penalty 50") == ["no-penalty"]


def test_any_card_may_be_discarded_at_any_time():
    played = asmodee("Ann roll; Bob roll")

    for slug in ("25", "roll", "stop", "right-of-way"):
        assert played.against(f"Ann discard {slug}") == []
        assert referee.remarks(played.table, played.parsed(f"Ann discard {slug}")) == ()


def test_a_discard_is_remarked_upon_where_the_house_plays_so():
    strict = asmodee(options=["discard=when-stuck"])
    play = strict.parsed("Ann discard 25")

    assert strict.against("Ann discard 25") == []
    assert [why.code for why in referee.remarks(strict.table, play)] == ["discard-only-when-stuck"]


def test_a_card_taken_from_the_discard_pile_may_be_played_again():
    spent = asmodee("Ann discard accident; Bob discard accident; Ann discard accident")

    assert spent.against("Bob discard accident") == ["too-many-copies"]
    assert spent.then("Bob take").against("Bob discard accident") == []


def test_the_discards_become_the_draw_pile_when_a_card_is_needed():
    empty = emptied("roll" + " 25" * 10 + " 50")

    assert (empty.table.draw_pile, len(empty.table.discards), empty.turn) == (0, 94, "Ann")
    assert empty.then("Ann roll").table.draw_pile == 93
    assert empty.then("Ann roll").table.discards == ()
    assert empty.then("Ann roll").table.hands == (6, 6)


def test_with_the_draw_pile_empty_the_top_discard_may_still_be_drawn():
    taken = emptied("roll" + " 25" * 10 + " 50").then("Ann take; Ann roll")

    assert (taken.table.draw_pile, len(taken.table.discards)) == (0, 93)


def test_reshuffled_cards_may_be_played_again():
    spent = emptied("roll" + " 25" * 10 + " 50")

    assert spent.against("Ann discard accident") == []
    assert spent.then("Ann skip-draw").against("Ann discard accident") == ["too-many-copies"]
    assert spent.then("Ann roll").against("Bob discard accident") == []


def test_a_reshuffle_may_be_written_down():
    written = asmodee("Ann roll; Bob discard 25; Ann 100; Bob discard 50; Ann 75; Bob discard 75; exhausted").table

    assert (written.draw_pile, written.discards) == (3, ())


def test_a_race_is_never_exhausted():
    assert emptied("roll" + " 25" * 10 + " 50").then("end").result.how == "agreed"


def test_nothing_is_exchanged_unless_the_house_plays_so():
    loose = asmodee(options=["exchange=yes"])

    assert asmodee().against("Ann exchange 25 25 stop") == ["no-exchange"]
    assert loose.against("Ann exchange 25 25 stop") == []
    assert loose.then("Ann exchange 25 25 stop").turn == "Bob"


@pytest.mark.parametrize("cards", [1, 6])
def test_an_exchange_is_of_one_to_six_cards(cards):
    exchanged = asmodee("Ann exchange" + " 25" * cards, options=["exchange=yes"])

    assert (exchanged.cards_of("Ann"), exchanged.table.draw_pile) == (6, 94 - cards)


# To drive at first


def test_no_distance_is_driven_before_a_roll():
    assert "not-driving" in asmodee().against("Ann 100")


def test_a_roll_starts_the_car():
    assert asmodee("Ann roll; Bob roll").against("Ann 100") == []


def test_right_of_way_starts_the_car():
    assert asmodee("Ann right-of-way").against("Ann 100") == []


@pytest.mark.parametrize("line", ["Ann speed-limit > Bob", "Ann driving-ace", "Ann 25", "Ann extra-tank"])
def test_a_sides_first_card_is_a_roll_or_right_of_way(line):
    assert "first-card" in asmodee().against(line)


@pytest.mark.parametrize("line", ["Ann roll", "Ann right-of-way", "Ann discard 25", "Ann discard stop"])
def test_a_roll_right_of_way_or_a_discard_comes_first(line):
    assert asmodee().against(line) == []


def test_after_the_first_card_any_card_may_follow():
    begun = asmodee("Ann roll; Bob roll")

    assert begun.against("Ann speed-limit > Bob") == begun.against("Ann driving-ace") == []


def test_the_first_card_is_counted_by_side_and_not_by_player():
    begun = asmodee("Ann roll; Bob discard 25", PAIRS)

    assert begun.against("Cid speed-limit > Blues") == []
    assert begun.then("Cid 25").against("Dee speed-limit > Reds") == ["first-card"]


def test_right_of_way_at_once_may_be_a_sides_first_card():
    limited = asmodee("Ann roll; Bob discard 25; Ann speed-limit > Bob")

    assert limited.against("Bob right-of-way !") == []


def test_a_remedy_out_of_turn_is_no_first_card_either():
    limited = asmodee("Ann roll; Bob discard 25; Ann speed-limit > Bob", options=["fast-remedy=yes"])

    assert limited.against("Bob end-of-limit !") == ["first-card"]


# Roll


def test_a_roll_is_laid_on_a_stop_or_an_empty_pile():
    assert asmodee().against("Ann roll") == []
    assert asmodee("Ann roll; Bob roll; Ann 25; Bob stop > Ann").against("Ann roll") == []


def test_a_roll_on_a_roll_is_refused():
    assert asmodee("Ann roll; Bob roll").against("Ann roll") == ["already-rolling"]


def test_a_roll_on_a_remedy_is_refused():
    remedied = asmodee("Ann roll; Bob roll; Ann 25; Bob accident > Ann; Ann repairs; Bob 25")

    assert remedied.against("Ann roll") == ["nothing-to-remedy"]


@pytest.mark.parametrize("hazard", OTHER_BATTLE_HAZARDS)
def test_a_roll_on_another_hazard_is_refused(hazard):
    assert asmodee(f"Ann roll; Bob roll; Ann 25; Bob {hazard} > Ann").against("Ann roll") == ["under-hazard"]


def test_a_roll_on_an_empty_pile_is_allowed_although_right_of_way_is_out():
    assert asmodee("Ann right-of-way").against("Ann roll") == []
    assert asmodee("Ann roll; Bob roll; Ann right-of-way").against("Ann roll") == ["already-rolling"]


# Remedies


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_remedy_lies_on_its_own_hazard_and_the_car_drives_at_once(hazard):
    attacked = asmodee(f"Ann roll; Bob roll; Ann 25; Bob {hazard} > Ann")

    assert attacked.against("Ann 100") == ["under-hazard"]
    assert attacked.then(f"Ann {REMEDY_OF[hazard]}; Bob 25").against("Ann 100") == []


@pytest.mark.parametrize("hazard", OTHER_BATTLE_HAZARDS)
def test_a_remedy_without_its_hazard_is_refused(hazard):
    other = Card.FLAT_TIRE if hazard is Card.ACCIDENT else Card.ACCIDENT
    attacked = asmodee(f"Ann roll; Bob roll; Ann 25; Bob {other} > Ann")

    assert attacked.against(f"Ann {REMEDY_OF[hazard]}") == ["nothing-to-remedy"]
    assert asmodee("Ann roll; Bob roll").against(f"Ann {REMEDY_OF[hazard]}") == ["nothing-to-remedy"]


def test_a_remedy_out_of_turn_is_refused_unless_the_house_plays_so():
    attack = "Ann roll; Bob roll; Cid roll; Ann 25; Bob accident > Ann"

    assert asmodee(attack, THREE).against("Ann repairs !") != []
    assert asmodee(attack, THREE, options=["fast-remedy=yes"]).against("Ann repairs !") == []


def test_end_of_limit_lies_on_a_showing_limit_only():
    limited = asmodee("Ann roll; Bob roll; Ann 25; Bob speed-limit > Ann")

    assert limited.against("Ann end-of-limit") == []
    assert limited.then("Ann end-of-limit; Bob 25").against("Ann end-of-limit") == ["not-limited"]
    assert asmodee("Ann roll; Bob roll").against("Ann end-of-limit") == ["not-limited"]


# Hazards


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_hazard_is_laid_on_an_opponent_who_drives(hazard):
    begun = asmodee("Ann roll; Bob discard 25; Ann 25; Bob roll; Ann 25")

    assert begun.against(f"Bob {hazard} > Ann") == []


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_hazard_on_an_opponent_who_does_not_drive_yet_is_refused(hazard):
    assert asmodee("Ann roll; Bob discard 25").against(f"Ann {hazard} > Bob") == ["opponent-not-driving"]


def test_right_of_way_opens_an_empty_battle_pile_to_hazards():
    begun = asmodee("Ann right-of-way; Ann 25; Bob roll; Ann 25")

    assert begun.against("Bob flat-tire > Ann") == []
    assert begun.against("Bob stop > Ann") == ["protected"]


def test_a_remedied_opponent_may_be_attacked_at_once():
    remedied = asmodee("Ann roll; Bob roll; Ann 25; Bob accident > Ann; Ann repairs")

    assert remedied.against("Bob flat-tire > Ann") == []
    assert remedied.against("Bob accident > Ann") == []


@pytest.mark.parametrize("first", BATTLE_HAZARDS)
def test_a_hazard_on_a_hazard_is_refused(first):
    attacked = asmodee(f"Ann roll; Bob roll; Cid roll; Ann 25; Bob {first} > Ann", THREE)

    assert attacked.against("Cid flat-tire > Ann") == ["already-attacked"]
    assert attacked.against("Cid speed-limit > Ann") == []


def test_a_hazard_goes_on_an_opponent():
    rolling = asmodee("Ann roll; Bob roll; Cid 25; Dee 25", PAIRS)

    assert rolling.against("Ann stop > Blues") == []
    assert rolling.against("Ann stop > Reds") == ["own-side"]
    assert rolling.against("Ann stop") == ["needs-target"]


@pytest.mark.parametrize("hazard", [*BATTLE_HAZARDS, Card.SPEED_LIMIT])
def test_a_safety_shuts_its_hazards_out(hazard):
    safe = asmodee(f"Ann roll; Bob roll; Ann {SAFETY_OF[hazard]}; Ann 25")

    assert safe.against(f"Bob {hazard} > Ann") == ["protected"]


# Speed limit


def test_a_speed_limit_is_laid_even_before_the_opponent_has_begun():
    assert asmodee("Ann roll; Bob discard 25").against("Ann speed-limit > Bob") == []


def test_a_speed_limit_on_a_speed_limit_is_refused():
    limited = asmodee("Ann roll; Bob roll; Ann speed-limit > Bob; Bob 25")

    assert limited.against("Ann speed-limit > Bob") == ["already-limited"]
    assert limited.then("Ann 25; Bob end-of-limit").against("Ann speed-limit > Bob") == []


def test_under_a_speed_limit_only_25_and_50_are_driven():
    limited = asmodee("Ann roll; Bob roll; Ann 25; Bob speed-limit > Ann")

    assert limited.against("Ann 25") == limited.against("Ann 50") == []
    assert [limited.against(f"Ann {km}") for km in (75, 100, 200)] == [["speed-limit"]] * 3


# Distance


def test_a_side_lays_at_most_two_200s():
    played = asmodee("Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25")

    assert played.against("Ann 200") == ["third-200"]


def test_1000_miles_may_be_passed():
    near = asmodee(f"{TO_800}; Ann 100; Bob 50; Ann 75; Bob 50")

    assert near.side("Ann").km == 975
    assert near.against("Ann 100") == []
    assert near.then("Ann 100").result.by == "Ann"


def test_1000_miles_are_reached_exactly_where_the_house_says_so():
    near = asmodee(f"{TO_800}; Ann 100; Bob 50; Ann 75; Bob 50", options=["overshoot=forbidden"])

    assert near.against("Ann 50") == ["past-target"]
    assert near.then("Ann 25").result.by == "Ann"


# Safeties


def test_a_safety_draws_a_card_and_the_turn_goes_on():
    played = asmodee("Ann right-of-way; Ann driving-ace; Ann extra-tank; Ann puncture-proof; Ann 100")

    assert (played.turn, played.cards_of("Ann"), played.table.draw_pile) == ("Bob", 6, 89)


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_late_safety_throws_its_hazard_out_and_the_car_drives_on(hazard):
    late = asmodee(f"Ann roll; Bob roll; Ann 25; Bob {hazard} > Ann; Ann discard 25; Bob 25; Ann {SAFETY_OF[hazard]}")

    assert (late.side("Ann").battle, late.table.discards[-1]) == ((Card.ROLL,), hazard)
    assert late.against("Ann 100") == []
    assert late.against("Ann roll") == ["already-rolling"]


def test_a_late_safety_on_a_remedied_pile_needs_no_roll():
    late = asmodee(
        "Ann roll; Bob roll; Ann 25; Bob accident > Ann; Ann repairs; Bob flat-tire > Ann; Ann puncture-proof"
    )

    assert late.against("Ann 100") == []


def test_right_of_way_removes_a_stop_and_a_limit():
    attacked = "Ann roll; Bob roll; Ann 25; Bob speed-limit > Ann; Ann 25; Bob stop > Ann; Ann discard 25; Bob 25"
    free = asmodee(f"{attacked}; Ann right-of-way")

    assert free.against("Ann 200") == []
    assert free.against("Ann end-of-limit") == ["not-limited"]


def test_right_of_way_does_not_answer_an_accident():
    attacked = asmodee("Ann roll; Bob roll; Ann 25; Bob accident > Ann; Ann right-of-way")

    assert attacked.against("Ann 25") == ["under-hazard"]


# Coup fourré


@pytest.mark.parametrize("hazard", [*BATTLE_HAZARDS, Card.SPEED_LIMIT])
def test_a_safety_at_once_answers_its_hazard(hazard):
    attacked = asmodee(f"Ann roll; Bob roll; Ann 25; Bob {hazard} > Ann")
    other = Card.PUNCTURE_PROOF if hazard is Card.ACCIDENT else Card.DRIVING_ACE

    assert attacked.against(f"Ann {SAFETY_OF[hazard]} !") == []
    assert attacked.against(f"Ann {other} !") == ["no-attack-to-answer"]


@pytest.mark.parametrize("closing", ["Cid 25", "Cid discard 25", "Cid skip-draw", "Cid driving-ace", "Cid take"])
def test_the_next_card_drawn_or_played_by_anyone_closes_the_window(closing):
    attacked = asmodee(
        "Ann roll; Bob roll; Cid discard 25; Ann 25; Bob discard 25; Cid roll; Ann 25; Bob stop > Ann", THREE
    )

    assert attacked.against("Ann right-of-way !") == []
    assert attacked.then(closing).against("Ann right-of-way !") == ["coup-fourre-window-closed"]


def test_an_illegal_line_leaves_the_window_open():
    attacked = asmodee("Ann roll; Bob roll; Cid roll; Ann 25; Bob stop > Ann", THREE)

    assert attacked.against("Cid flat-tire > Ann") == ["already-attacked"]
    assert attacked.against("Ann right-of-way !") == []


def test_either_partner_may_claim_and_no_opponent():
    attacked = asmodee("Ann roll; Bob roll; Cid 25; Dee 25; Ann stop > Blues", PAIRS)

    assert attacked.against("Bob right-of-way !") == attacked.against("Dee right-of-way !") == []
    assert attacked.against("Cid right-of-way !") == ["no-attack-to-answer"]


def test_a_coup_fourre_refills_one_card_has_a_whole_turn_and_skips_the_players_between():
    claimed = asmodee("Ann roll; Bob roll; Cid roll; Ann stop > Cid; Cid right-of-way !", THREE)

    assert (claimed.turn, claimed.table.draw_pile, claimed.cards_of("Cid")) == ("Cid", 83, 6)
    assert claimed.against("Bob 25") == ["not-your-turn"]
    assert claimed.then("Cid 100").turn == "Ann"
    assert (claimed.then("Cid 100").table.draw_pile, claimed.then("Cid 100").cards_of("Cid")) == (82, 6)


def test_right_of_way_at_once_clears_stop_and_limit():
    both = asmodee("Ann roll; Bob roll; Ann 25; Bob speed-limit > Ann; Ann 25; Bob stop > Ann; Ann right-of-way !")

    assert both.against("Ann 200") == []


# The end of the race


def test_safeties_are_counted_in_miles_100_each():
    near = asmodee(f"{TO_800}; Ann driving-ace")

    assert near.table.race_km(near.side("Ann")) == 900


def test_a_coup_fourre_is_200_miles_in_all():
    claimed = asmodee("Ann roll; Bob roll; Ann 100; Bob stop > Ann; Ann right-of-way !")

    assert claimed.table.race_km(claimed.side("Ann")) == 300


def test_a_safety_completes_the_race():
    won = asmodee(f"{TO_800}; Ann driving-ace; Ann extra-tank")

    assert (won.result.how, won.result.by, won.result.winner) == ("completed", "Ann", "Ann")
    assert won.against("Ann 25") == ["hand-over"]


def test_a_coup_fourre_completes_the_race():
    won = asmodee(f"{TO_800}; Ann 25; Bob stop > Ann; Ann right-of-way !")

    assert (won.result.how, won.result.by) == ("completed", "Ann")
    assert won.result.sheets["Ann"].total == 1025


def test_a_side_short_of_1000_with_its_safeties_drives_on():
    played = asmodee(f"{TO_800}; Ann driving-ace; Ann 75; Bob 50")

    assert played.table.race_km(played.side("Ann")) == 975
    assert not played.table.is_over


def test_there_is_no_extension_even_at_700():
    done = asmodee(
        "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100", target=700
    )

    assert (done.result.how, done.result.by) == ("completed", "Ann")
    assert done.against("Ann extend") == ["hand-over"]


# Scoring


def test_the_sheet_holds_miles_safeties_and_coups_fourres_and_no_bonus():
    won = asmodee(f"{TO_800}; Ann driving-ace; Ann 25; Bob stop > Ann; Ann right-of-way !")

    assert won.points("Ann") == {"distance": 825, "safeties": 200, "coups-fourres": 100}
    assert won.points("Bob") == {"distance": 150}


def test_all_four_safeties_bring_nothing_more():
    won = asmodee("Ann right-of-way; Ann driving-ace; Ann extra-tank; Ann puncture-proof", target=400)

    assert won.points("Ann") == {"distance": 0, "safeties": 400}


def test_one_race_is_the_match():
    lines = header(edition="asmodee-2014", target=200)
    race = ["Ann roll", "Bob roll", "Ann 200"]
    first, second = results("\n".join([*lines, *race, "hand first Ann", *race]))

    assert (first.match, first.winner) == ({"Ann": 200, "Bob": 0}, "Ann")
    assert (second.match, second.winner) == ({"Ann": 200, "Bob": 0}, "Ann")


def test_points_run_over_several_hands_where_the_house_says_so():
    lines = header(edition="asmodee-2014", target=200, options=["match=5000"])
    race = ["Ann roll", "Bob roll", "Ann 200"]
    first, second = results("\n".join([*lines, *race, "hand first Ann", *race]))

    assert (first.match, first.winner) == ({"Ann": 200, "Bob": 0}, None)
    assert (second.match, second.winner) == ({"Ann": 400, "Bob": 0}, None)

"""The classic rule sheet, row by row: what each row allows, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from records import PAIRS, SIX, THREE, TWO, hand

from companion.rules import referee
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card
from companion.rules.editions.edition import EditionError, load_edition
from companion.rules.play import Play, Verb
from companion.rules.table import Team

BATTLE_HAZARDS = [Card.ACCIDENT, Card.OUT_OF_GAS, Card.FLAT_TIRE, Card.STOP]
OTHER_BATTLE_HAZARDS = BATTLE_HAZARDS[:3]
TO_600 = "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25"


def pile(hand_, side: str) -> list[str]:
    return [card.value for card in hand_.side(side).battle]


# Setting up


@pytest.mark.parametrize(
    ("players", "target", "draw_pile"), [(TWO, 700, 94), (THREE, 700, 88), (PAIRS, 1000, 82), (SIX, 700, 70)]
)
def test_each_number_of_players_has_its_target_and_six_cards_each(players, target, draw_pile):
    table = hand(players=players).table

    assert (table.target, table.draw_pile, set(table.hands)) == (target, draw_pile, {6})


@pytest.mark.parametrize("teams", [1, 5, 7])
def test_other_numbers_of_players_are_refused_with_a_sentence(teams):
    sides = [Team(f"P{n}", (f"P{n}",)) for n in range(teams)]

    with pytest.raises(EditionError, match=f"2 or 3 alone, or 4 or 6 in pairs: these sides seat {teams} alone"):
        referee.new_hand(load_edition("classic"), sides, "P0")


def test_four_players_do_not_play_alone():
    sides = [Team(name, (name,)) for name in "ABCD"]

    with pytest.raises(EditionError, match="or 4 or 6 in pairs: these sides seat 4 alone"):
        referee.check_seating(load_edition("classic"), sides)


def test_partners_sit_opposite_each_other_with_one_layout():
    table = hand(players=SIX).table

    assert [seat.player for seat in table.seats] == ["Ann", "Bob", "Cid", "Dee", "Eve", "Fay"]
    assert [table.sides[seat.side].name for seat in table.seats] == ["Reds", "Blues", "Greens"] * 2


def test_partners_drive_the_same_car():
    played = hand("Ann roll; Bob discard 25; Cid 100", PAIRS)

    assert played.side("Reds").km == 100


def test_a_target_can_be_a_house_rule_and_700_can_be_extended_by_any_number_of_players():
    four, two = hand(players=PAIRS, target=700).table, hand(target=1000).table

    assert (four.target, four.may_extend) == (700, True)
    assert (two.target, two.may_extend) == (1000, False)


def test_with_five_hazards_removed_two_players_use_101_cards_and_four_all_106():
    removed = ["five-hazards-removed=yes"]
    two, four = hand(options=removed).table, hand(players=PAIRS, options=removed).table

    assert (sum(two.deck.values()), two.draw_pile, two.copies_left(Card.STOP)) == (101, 89, 4)
    assert sum(four.deck.values()) == 106


# A turn


def test_turns_run_clockwise():
    played = hand("Ann roll; Bob roll; Cid roll", THREE)

    assert played.turn == "Ann"


def test_a_play_out_of_turn_is_refused():
    assert hand().against("Bob roll") == ["not-your-turn"]
    assert hand().against("Bob discard 25") == ["not-your-turn"]
    assert hand().against("Bob skip-draw") == ["not-your-turn"]


def test_every_turn_draws_one_card_before_it_plays_one():
    played = hand("Ann roll")

    assert (played.table.draw_pile, played.cards_of("Ann"), played.cards_of("Bob")) == (93, 6, 6)


def test_a_forgotten_draw_leaves_one_card_fewer_in_the_hand():
    played = hand("Ann skip-draw; Ann roll; Bob roll; Ann 25")

    assert (played.table.draw_pile, played.cards_of("Ann")) == (92, 5)


def test_any_card_may_be_discarded_instead_of_playing():
    for slug in ("25", "roll", "stop", "right-of-way", "unknown"):
        assert hand().against(f"Ann discard {slug}") == []


def test_a_discarded_safety_is_refused_where_the_house_says_so():
    strict = hand(options=["discard-safety=forbidden"])

    assert strict.against("Ann discard right-of-way") == ["safety-discard"]
    assert strict.against("Ann discard 25") == []


def test_discards_are_dead_in_the_classic_game():
    assert hand("Ann discard 100").against("Bob take") == ["cannot-take-discard"]


def test_the_top_of_the_discard_pile_may_be_drawn_where_the_house_says_so():
    loose = hand("Ann discard 100; Bob take", options=["take-discard=allowed"])

    assert (loose.table.discards, loose.cards_of("Bob"), loose.table.draw_pile) == ((), 7, 93)
    assert loose.then("Bob roll").cards_of("Bob") == 6


def test_nothing_is_taken_twice_or_from_an_empty_discard_pile():
    allowed = ["take-discard=allowed"]
    taken = hand("Ann discard 100; Bob discard 75; Ann take", options=allowed)

    assert taken.against("Ann take") == ["cannot-take-discard"]
    assert hand(options=allowed).against("Ann take") == ["cannot-take-discard"]
    assert hand("Ann discard 100", options=allowed).against("Ann take") == ["not-your-turn"]


def test_the_top_of_the_discard_pile_is_the_card_that_was_laid_last():
    loose = hand("Ann discard 100; Bob discard 75; Ann take", options=["take-discard=allowed"])

    assert loose.table.discards == (Card.KM_100,)


def test_nobody_passes():
    assert hand().against("Ann pass") == ["no-passing"]
    assert hand().against("Bob pass") == ["not-your-turn", "no-passing"]


def test_nothing_is_exchanged_in_the_classic_game():
    assert hand().against("Ann exchange 25 25 stop") == ["no-exchange"]


def test_an_exchange_is_a_whole_turn_and_draws_as_many_cards_as_it_lays_down():
    played = hand("Ann exchange 25 25 stop", options=["exchange=yes"])

    assert (played.cards_of("Ann"), played.table.draw_pile, played.turn) == (6, 91, "Bob")
    assert [card.value for card in played.table.discards] == ["25", "25", "stop"]


def test_an_exchange_is_judged_card_by_card():
    strict = hand("Ann right-of-way", options=["exchange=yes", "discard-safety=forbidden"])

    assert strict.against("Ann exchange 300") == ["unknown-card"]
    assert strict.against("Ann exchange driving-ace") == ["safety-discard"]
    assert strict.against("Ann exchange stop stop stop stop stop stop") == ["too-many-copies"]
    assert strict.against("Ann exchange right-of-way right-of-way") == ["too-many-copies", "safety-discard"]
    assert strict.against("Bob exchange 25") == ["not-your-turn"]


def test_the_last_copy_may_be_exchanged_but_not_with_one_more():
    last = hand("Ann discard accident; Bob discard accident", options=["exchange=yes"])

    assert last.against("Ann exchange accident") == []
    assert last.against("Ann exchange accident accident") == ["too-many-copies"]


def test_a_discard_is_remarked_upon_where_it_is_for_those_who_are_stuck():
    strict, free = hand(options=["discard=when-stuck"]), hand()

    assert [why.code for why in referee.remarks(strict.table, strict.parsed("Ann discard 25"))] == [
        "discard-only-when-stuck"
    ]
    assert referee.remarks(free.table, free.parsed("Ann discard 25")) == ()


# The cards


def test_a_card_of_another_edition_is_unknown():
    assert hand().against("Ann 300") == ["unknown-card"]
    assert hand().against("Ann accelerator") == ["unknown-card"]
    assert hand().against("Ann discard mirror") == ["unknown-card"]
    assert hand().against("Bob 300") == ["not-your-turn", "unknown-card"]
    assert hand().against("Bob mirror !") == ["unknown-card"]


def test_a_card_that_could_not_be_told_cannot_be_played_but_discarded():
    assert hand().against("Ann unknown") == ["unknown-card"]
    assert hand().against("Ann discard unknown") == []


def test_no_more_copies_are_played_than_are_printed():
    three = hand("Ann discard accident; Bob discard accident; Ann roll; Bob accident > Ann")

    assert three.against("Ann discard accident") == ["too-many-copies"]
    assert three.against("Ann discard stop") == []


def test_copies_on_every_pile_count():
    limits = "Ann speed-limit > Bob; Bob discard speed-limit; Ann discard speed-limit; Bob end-of-limit"
    driven = "Ann roll; Bob roll; Ann 200; Bob 200; Ann discard 200"

    assert hand(f"{limits}; Ann speed-limit > Bob; Bob roll").against("Ann discard speed-limit") == ["too-many-copies"]
    assert hand(driven).against("Bob discard 200") == []
    assert hand(f"{driven}; Bob discard 200").against("Ann discard 200") == ["too-many-copies"]


def test_where_the_counts_are_unverified_only_a_second_safety_is_one_too_many():
    played = hand("Ann driving-ace; Ann discard accident; Bob discard accident; Ann discard accident")
    unsure = played.table._replace(edition=replace(played.table.edition, counts_verified=False))

    assert played.against("Bob discard accident") == ["too-many-copies"]
    assert referee.objections(unsure, played.parsed("Bob discard accident")) == ()
    assert [why.code for why in referee.objections(unsure, played.parsed("Bob driving-ace"))] == ["too-many-copies"]


def test_copies_left_are_those_that_nobody_has_seen():
    table = hand("Ann roll; Bob speed-limit > Ann; Ann 25; Bob driving-ace; Bob discard 25").table

    left = {card.value: table.copies_left(card) for card in (Card.ROLL, Card.SPEED_LIMIT, Card.KM_25, Card.DRIVING_ACE)}

    assert left == {"roll": 13, "speed-limit": 3, "25": 8, "driving-ace": 0}


def test_a_safety_exists_once():
    played = hand("Ann driving-ace")

    assert played.against("Ann driving-ace") == ["too-many-copies"]


def test_a_hazard_answered_by_a_coup_fourre_lies_among_the_discards_and_still_counts():
    played = hand("Ann roll; Bob accident > Ann; Ann driving-ace !; Ann discard accident; Bob discard accident")

    assert played.against("Ann discard accident") == ["too-many-copies"]


# To drive at first


def test_distance_is_refused_before_the_first_roll():
    assert hand().against("Ann 100") == ["not-driving"]


def test_a_roll_starts_the_car():
    assert hand("Ann roll; Bob roll").against("Ann 100") == []


def test_right_of_way_starts_the_car_without_a_roll():
    assert hand("Ann right-of-way").against("Ann 100") == []


def test_another_safety_does_not_start_the_car():
    assert hand("Ann driving-ace").against("Ann 100") == ["not-driving"]


def test_without_the_need_to_roll_a_side_drives_from_the_start():
    assert hand(options=["roll-to-start=not-needed"]).against("Ann 100") == []


def test_any_card_may_be_the_first_in_the_classic_game():
    assert hand().against("Ann speed-limit > Bob") == []


def test_a_first_card_is_a_roll_or_right_of_way_where_the_house_says_so():
    strict = hand(options=["first-card=roll-or-right-of-way"])

    assert strict.against("Ann speed-limit > Bob") == ["first-card"]
    assert strict.against("Ann driving-ace") == ["first-card"]
    assert strict.against("Ann roll") == strict.against("Ann right-of-way") == strict.against("Ann discard 25") == []


def test_an_opponents_hazard_is_nobodys_first_card():
    limited = hand("Ann roll; Bob discard 25; Ann speed-limit > Bob", options=["first-card=roll-or-right-of-way"])

    assert limited.against("Bob end-of-limit") == ["first-card"]
    assert limited.then("Bob roll; Ann 25").against("Bob end-of-limit") == []


# Roll


def test_a_roll_is_laid_on_an_empty_battle_pile_a_remedy_or_a_stop():
    assert hand().against("Ann roll") == []
    assert hand("Ann roll; Bob accident > Ann; Ann repairs; Bob roll").against("Ann roll") == []
    assert hand("Ann roll; Bob stop > Ann").against("Ann roll") == []


def test_a_roll_on_a_roll_is_refused():
    assert hand("Ann roll; Bob roll").against("Ann roll") == ["already-rolling"]


@pytest.mark.parametrize("hazard", OTHER_BATTLE_HAZARDS)
def test_a_roll_on_another_hazard_is_refused(hazard):
    assert hand(f"Ann roll; Bob {hazard} > Ann").against("Ann roll") == ["under-hazard"]


def test_a_roll_is_allowed_although_right_of_way_is_out():
    assert hand("Ann right-of-way").against("Ann roll") == []
    assert hand("Ann roll; Bob roll; Ann right-of-way").against("Ann roll") == ["already-rolling"]


def test_with_right_of_way_out_no_roll_is_laid_where_the_house_says_so():
    strict = ["roll-with-right-of-way=forbidden"]

    assert hand("Ann right-of-way", options=strict).against("Ann roll") == ["already-rolling"]
    assert hand(options=strict).against("Ann roll") == []


def test_a_roll_on_a_remedy_is_refused_where_the_house_says_so():
    strict = ["roll-on-remedy=forbidden", "roll-after-remedy=not-needed"]
    remedied = hand("Ann roll; Bob accident > Ann; Ann repairs; Bob roll", options=strict)

    assert remedied.against("Ann roll") == ["nothing-to-remedy"]
    assert hand(options=strict).against("Ann roll") == []
    assert hand("Ann roll; Bob stop > Ann", options=strict).against("Ann roll") == []


def test_no_roll_starts_a_car_that_needs_none_where_rolls_are_for_stops():
    only_on_stops = ["roll-to-start=not-needed", "roll-on-remedy=forbidden"]

    assert hand(options=only_on_stops).against("Ann roll") == ["nothing-to-remedy"]


# Remedies


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_hazard_is_remedied_by_its_own_remedy_alone(hazard):
    attacked = hand(f"Ann roll; Bob {hazard} > Ann")
    others = {REMEDY_OF[other] for other in OTHER_BATTLE_HAZARDS if other is not hazard}

    assert attacked.against(f"Ann {REMEDY_OF[hazard]}") == []
    assert {tuple(attacked.against(f"Ann {remedy}")) for remedy in others} == {("nothing-to-remedy",)}


def test_a_remedy_without_a_hazard_is_refused():
    assert hand("Ann roll; Bob roll").against("Ann repairs") == ["nothing-to-remedy"]


def test_a_remedied_hazard_is_not_remedied_again():
    remedied = hand("Ann roll; Bob accident > Ann; Ann repairs; Bob roll")

    assert remedied.against("Ann repairs") == ["nothing-to-remedy"]


def test_after_another_remedy_a_roll_is_needed():
    remedied = hand("Ann roll; Bob accident > Ann; Ann repairs; Bob roll")

    assert remedied.against("Ann 100") == ["not-driving"]
    assert remedied.then("Ann roll; Bob 25").against("Ann 100") == []


def test_after_another_remedy_right_of_way_needs_no_roll():
    remedied = hand("Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs; Bob roll")

    assert remedied.against("Ann 100") == []


def test_after_a_remedy_no_roll_is_needed_where_the_house_says_so():
    loose = hand("Ann roll; Bob accident > Ann; Ann repairs; Bob roll", options=["roll-after-remedy=not-needed"])

    assert loose.against("Ann 100") == []


def test_a_roll_remedies_a_stop_and_the_car_drives():
    assert hand("Ann roll; Bob stop > Ann; Ann roll; Bob roll").against("Ann 100") == []


def test_end_of_limit_is_laid_on_a_showing_limit_only():
    limited = hand("Ann roll; Bob speed-limit > Ann")

    assert limited.against("Ann end-of-limit") == []
    assert limited.then("Ann end-of-limit; Bob roll").against("Ann end-of-limit") == ["not-limited"]
    assert hand().against("Ann end-of-limit") == ["not-limited"]


# Hazards


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_hazard_needs_a_card_on_the_opponents_battle_pile(hazard):
    assert hand("Ann roll").against(f"Bob {hazard} > Ann") == []
    assert hand("Ann discard 25").against(f"Bob {hazard} > Ann") == ["opponent-not-driving"]


def test_a_hazard_may_be_laid_on_a_remedy_that_is_not_rolling_yet():
    remedied = hand("Ann roll; Bob accident > Ann; Ann repairs")

    assert remedied.against("Bob stop > Ann") == []


def test_a_hazard_on_a_remedy_waits_for_the_roll_where_the_house_says_so():
    played = "Ann roll; Bob accident > Ann; Ann repairs"
    strict = hand(played, options=["hazard-on-remedy=forbidden"])

    assert strict.against("Bob stop > Ann") == ["opponent-not-driving"]
    assert strict.then("Bob roll; Ann roll").against("Bob stop > Ann") == []


def test_a_hazard_on_a_remedy_may_need_right_of_way_to_be_out():
    switch = ["hazard-on-remedy=with-right-of-way"]
    without = hand("Ann roll; Bob accident > Ann; Ann repairs", options=switch)
    with_it = hand("Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs", options=switch)

    assert without.against("Bob flat-tire > Ann") == ["opponent-not-driving"]
    assert with_it.against("Bob flat-tire > Ann") == []


def test_hazards_may_be_stacked_and_only_the_top_one_is_remedied():
    stacked = hand("Ann roll; Bob accident > Ann; Cid flat-tire > Ann", THREE)

    assert stacked.against("Ann repairs") == ["nothing-to-remedy"]
    assert stacked.then("Ann spare-tire; Bob roll; Cid roll; Ann roll; Bob 25; Cid 25").against("Ann 100") == []


def test_hazards_are_not_stacked_where_the_house_says_so():
    strict = hand("Ann roll; Bob accident > Ann", THREE, options=["hazard-on-hazard=forbidden"])

    assert strict.against("Cid flat-tire > Ann") == ["already-attacked"]
    assert strict.against("Cid speed-limit > Ann") == []


def test_right_of_way_does_not_open_an_empty_battle_pile_to_hazards():
    started = hand("Ann right-of-way; Ann 100")

    assert started.against("Bob flat-tire > Ann") == ["opponent-not-driving"]


@pytest.mark.parametrize(
    ("switch", "before", "codes"),
    [
        ("with-right-of-way", "Ann right-of-way; Ann 100", []),
        ("with-right-of-way", "Ann discard 25", ["opponent-not-driving"]),
        ("allowed", "Ann discard 25", []),
    ],
)
def test_an_empty_battle_pile_is_open_to_hazards_as_the_house_says(switch, before, codes):
    played = hand(before, options=[f"hazard-on-empty-pile={switch}"])

    assert played.against("Bob flat-tire > Ann") == codes


def test_a_hazard_goes_on_an_opponent():
    rolling = hand("Ann roll; Bob roll; Cid discard 25; Dee discard 25", PAIRS)

    assert rolling.against("Ann stop > Blues") == []
    assert rolling.against("Ann stop > Reds") == ["own-side"]
    assert rolling.against("Ann stop > Cid") == ["own-side"]


def test_a_hazard_says_who_gets_it():
    assert hand("Ann roll").against("Bob stop") == ["needs-target"]
    assert hand("Ann roll").against("Bob stop > Ann") == []


@pytest.mark.parametrize("hazard", [*BATTLE_HAZARDS, Card.SPEED_LIMIT])
def test_a_safety_shuts_its_hazards_out(hazard):
    safe = hand(f"Ann roll; Bob roll; Ann {SAFETY_OF[hazard]}; Ann 25")

    assert safe.against(f"Bob {hazard} > Ann") == ["protected"]


def test_right_of_way_shuts_out_nothing_else():
    safe = hand("Ann roll; Bob roll; Ann right-of-way; Ann 25")

    assert [safe.against(f"Bob {hazard} > Ann") for hazard in OTHER_BATTLE_HAZARDS] == [[], [], []]


def test_a_stop_on_an_empty_pile_behind_right_of_way_is_wrong_twice():
    started = hand("Ann right-of-way; Ann 100")

    assert started.against("Bob stop > Ann") == ["protected", "opponent-not-driving"]


# Speed limit


def test_a_speed_limit_is_laid_on_an_empty_speed_pile_even_before_the_first_roll():
    assert hand().against("Ann speed-limit > Bob") == []


def test_a_speed_limit_on_a_speed_limit_is_refused():
    limited = hand("Ann speed-limit > Bob; Bob roll")

    assert limited.against("Ann speed-limit > Bob") == ["already-limited"]
    assert limited.then("Ann roll; Bob end-of-limit").against("Ann speed-limit > Bob") == []


def test_a_speed_limit_may_lie_beside_another_hazard():
    assert hand("Ann roll; Bob stop > Ann; Ann discard 25").against("Bob speed-limit > Ann") == []


def test_under_a_speed_limit_only_25_and_50_are_driven():
    limited = hand("Ann roll; Bob speed-limit > Ann")

    assert limited.against("Ann 25") == limited.against("Ann 50") == []
    assert [limited.against(f"Ann {km}") for km in (75, 100, 200)] == [["speed-limit"]] * 3


def test_the_end_of_a_limit_ends_it():
    assert hand("Ann roll; Bob speed-limit > Ann; Ann end-of-limit; Bob roll").against("Ann 200") == []


def test_a_limit_does_not_ask_for_a_new_roll():
    assert hand("Ann roll; Bob speed-limit > Ann; Ann end-of-limit; Bob roll").against("Ann 25") == []


# Distance


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_no_distance_is_driven_under_a_hazard(hazard):
    assert hand(f"Ann roll; Bob {hazard} > Ann").against("Ann 25") == ["under-hazard"]


def test_every_reason_is_given_at_once():
    both = hand("Ann roll; Bob speed-limit > Ann; Ann discard 25; Bob stop > Ann")

    assert both.against("Ann 100") == ["under-hazard", "speed-limit"]
    assert both.then("Ann discard 25").against("Ann 100") == ["not-your-turn", "under-hazard", "speed-limit"]


def test_a_side_lays_at_most_two_200s_in_a_hand():
    played = hand("Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25")

    assert played.against("Ann 200") == ["third-200"]
    assert played.then("Ann 25").against("Bob 200") == []


def test_a_third_200_is_driven_where_the_house_says_so():
    loose = hand("Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25", options=["two-hundreds=unlimited"])

    assert loose.against("Ann 200") == []


def test_two_200s_are_counted_by_side_and_not_by_player():
    played = hand("Ann roll; Bob roll; Cid 200; Dee 25; Ann 200; Bob 25", PAIRS)

    assert played.against("Cid 200") == ["third-200"]


def test_the_target_is_never_passed():
    near = hand(
        "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 25; Bob 25"
    )

    assert near.side("Ann").km == 625
    assert near.against("Ann 75") == []
    assert near.against("Ann 100") == ["past-target"]


def test_the_last_km_must_fit_exactly():
    near = hand(f"{TO_600}; Ann 75; Bob 25")

    assert near.against("Ann 25") == []
    assert near.against("Ann 50") == ["past-target"]


def test_the_target_may_be_passed_where_the_house_says_so():
    played = hand("Ann roll; Bob roll; Ann 200", target=300, options=["overshoot=allowed"]).then("Bob 25; Ann 200")

    assert (played.result.how, played.result.by, played.side("Ann").km) == ("completed", "Ann", 400)


def test_a_700_that_is_passed_can_be_extended_too():
    to_650 = "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 50; Bob 25"
    played = hand(f"{to_650}; Ann 75; Ann extend", options=["overshoot=allowed"])

    assert (played.table.target, played.side("Ann").km, played.turn) == (1000, 725, "Bob")


def test_safeties_carry_a_side_towards_the_target_where_the_house_says_so():
    counting = ["safeties-count-as-distance=yes"]
    played = hand("Ann roll; Bob stop > Ann; Ann right-of-way !", target=300, options=counting)

    assert played.table.race_km(played.side("Ann")) == 200
    assert played.then("Ann driving-ace").result.by == "Ann"


def test_what_counts_as_distance_never_passes_the_target_either():
    counting = ["safeties-count-as-distance=yes"]
    near = hand("Ann roll; Bob roll; Ann 100; Bob roll; Ann 50", target=200, options=counting, as_lies=True)
    attacked = near.then("Bob stop > Ann", as_lies=True)

    assert attacked.against("Ann right-of-way") == ["past-target"]
    assert attacked.against("Ann right-of-way !") == ["past-target"]


def test_a_coup_fourre_counts_for_more_than_its_safety_when_it_would_pass_the_target():
    counting = ["safeties-count-as-distance=yes"]
    near = hand("Ann roll; Bob roll; Ann 100; Bob stop > Ann", target=200, options=counting)

    assert near.against("Ann right-of-way") == []
    assert near.against("Ann right-of-way !") == ["past-target"]


# Safeties on one's own turn


def test_a_safety_is_laid_at_any_time_and_the_turn_goes_on():
    played = hand("Ann driving-ace; Ann extra-tank; Ann puncture-proof; Ann right-of-way; Ann 100")

    assert (played.turn, played.cards_of("Ann"), played.table.draw_pile) == ("Bob", 6, 89)


def test_a_late_safety_counts_its_hazard_as_remedied_and_a_roll_is_needed():
    late = hand("Ann roll; Bob accident > Ann; Ann discard 25; Bob roll; Ann driving-ace")

    assert pile(late, "Ann") == ["roll", "accident"]
    assert late.side("Ann").hazard is None
    assert late.against("Ann 100") == ["not-driving"]
    assert late.against("Ann roll") == []


def test_after_a_late_safety_a_roll_is_needed_although_none_is_after_a_remedy():
    late = hand("Ann roll; Bob accident > Ann; Ann driving-ace", options=["roll-after-remedy=not-needed"])

    assert late.against("Ann 100") == ["not-driving"]


def test_after_a_late_safety_right_of_way_needs_no_roll():
    late = hand("Ann roll; Bob accident > Ann; Ann driving-ace; Ann right-of-way")

    assert late.against("Ann 100") == []


def test_a_late_safety_brings_nothing_to_light_that_lies_beneath():
    late = hand("Ann roll; Bob accident > Ann; Cid flat-tire > Ann; Ann puncture-proof", THREE)

    assert late.against("Ann repairs") == ["nothing-to-remedy"]
    assert late.then("Ann roll; Bob roll; Cid roll").against("Ann 100") == []


def test_a_hazard_may_be_laid_on_one_that_a_late_safety_remedied():
    late = hand("Ann roll; Bob accident > Ann; Ann driving-ace; Ann discard 25")

    assert late.against("Bob flat-tire > Ann") == []


def test_a_hazard_whose_safety_is_out_stays_harmless_when_it_is_uncovered():
    played = hand("Ann roll; Bob accident > Ann; Ann driving-ace; Ann discard 25; Bob flat-tire > Ann")
    uncovered = played.then("Ann puncture-proof !")

    assert pile(uncovered, "Ann") == ["roll", "accident"]
    assert uncovered.side("Ann").hazard is None
    assert uncovered.against("Ann repairs") == ["nothing-to-remedy"]
    assert uncovered.against("Ann roll") == []


def test_a_safety_for_a_hazard_further_down_makes_that_one_harmless():
    played = hand("Ann roll; Bob accident > Ann; Cid flat-tire > Ann; Ann driving-ace", THREE)

    assert played.side("Ann").hazard is Card.FLAT_TIRE
    assert played.against("Ann 25") == ["under-hazard"]


def test_right_of_way_removes_a_stop_and_a_limit_and_is_a_permanent_roll():
    both = hand("Ann roll; Bob speed-limit > Ann; Ann discard 25; Bob stop > Ann; Ann right-of-way")

    assert both.against("Ann 200") == []
    assert both.against("Ann end-of-limit") == ["not-limited"]


@pytest.mark.parametrize("edition", ["classic", "parker", "dujardin-2014"])
def test_right_of_way_takes_a_stop_off_its_pile_and_a_limit_off_its_own(edition):
    played = "Ann roll; Bob speed-limit > Ann; Ann discard 25; Bob stop > Ann; Ann right-of-way"
    both = hand(played, edition=edition)

    assert (pile(both, "Ann"), both.side("Ann").speed) == (["roll"], ())
    assert both.table.discards == (Card.KM_25, Card.SPEED_LIMIT, Card.STOP)
    assert both.against("Ann roll") == ["already-rolling"]


@pytest.mark.parametrize(
    "when",
    [
        "Bob stop > Ann; Ann discard 25; Bob discard 25; Ann right-of-way",
        "Bob stop > Ann; Ann right-of-way !",
        "Bob stop > Ann; Ann discard 25; Bob speed-limit > Ann; Ann right-of-way !",
    ],
)
@pytest.mark.parametrize("options", [(), ["roll-after-late-safety=not-needed"]])
def test_an_older_hazard_that_comes_to_light_under_the_stop_counts_again(when, options):
    exposed = hand(f"Ann roll; Bob accident > Ann; Ann discard 25; {when}", options=options)

    assert pile(exposed, "Ann") == ["roll", "accident"]
    assert exposed.against("Ann 25") == ["under-hazard"]
    assert exposed.against("Ann repairs") == []


def test_an_older_hazard_whose_safety_is_out_stops_nobody_when_right_of_way_uncovers_it():
    late = hand("Ann roll; Bob accident > Ann; Ann driving-ace; Ann discard 25; Bob stop > Ann; Ann right-of-way")

    assert pile(late, "Ann") == ["roll", "accident"]
    assert late.against("Ann 100") == []


def test_a_stop_under_another_hazard_stays_there_when_right_of_way_is_laid():
    played = hand("Ann roll; Bob stop > Ann; Cid accident > Ann; Ann right-of-way", THREE)

    assert pile(played, "Ann") == ["roll", "stop", "accident"]
    assert played.against("Ann 25") == ["under-hazard"]


def test_right_of_way_does_not_answer_another_hazard():
    played = hand("Ann roll; Bob accident > Ann; Ann right-of-way")

    assert played.against("Ann 25") == ["under-hazard"]


def test_a_late_safety_takes_the_hazard_away_and_the_car_drives_where_the_house_says_so():
    loose = ["roll-after-late-safety=not-needed"]
    late = hand("Ann roll; Bob accident > Ann; Ann driving-ace", options=loose)

    assert (late.side("Ann").battle, late.side("Ann").battle_top) == ((Card.ROLL,), Card.ROLL)
    assert late.table.discards == (Card.ACCIDENT,)
    assert late.against("Ann 100") == []


@pytest.mark.parametrize(("edition", "options"), [("asmodee-2014", ["first-card=any"]), ("dujardin-2014", [])])
@pytest.mark.parametrize("when", ["Bob discard 25; Ann discard 25; Bob driving-ace", "Bob driving-ace !"])
def test_a_car_that_was_attacked_before_it_started_is_not_started_by_the_safety(edition, options, when):
    allowed = [*options, "hazard-on-empty-pile=allowed"]
    safe = hand(f"Ann roll; Bob discard 25; Ann accident > Bob; {when}", edition=edition, options=allowed)

    assert safe.against("Bob 25") == ["not-driving"]
    assert safe.against("Bob roll") == []


@pytest.mark.parametrize("when", ["Ann puncture-proof", "Ann puncture-proof !"])
def test_a_hazard_taken_away_late_uncovers_an_older_one_as_a_coup_fourre_does(when):
    loose = ["roll-after-late-safety=not-needed"]
    exposed = hand(f"Ann roll; Bob accident > Ann; Cid flat-tire > Ann; {when}", THREE, options=loose)

    assert exposed.against("Ann 100") == ["under-hazard"]
    assert exposed.against("Ann repairs") == []


def test_right_of_way_takes_only_the_last_limit_away():
    played = "Ann roll; Bob speed-limit > Ann; Ann end-of-limit; Bob speed-limit > Ann; Ann right-of-way"
    late = hand(played)

    assert late.side("Ann").speed == (Card.SPEED_LIMIT, Card.END_OF_LIMIT)


def test_where_no_roll_is_needed_the_card_below_simply_shows_again():
    loose = ["roll-after-late-safety=not-needed", "roll-after-remedy=not-needed"]
    played = "Ann roll; Bob accident > Ann; Ann repairs; Bob flat-tire > Ann; Ann puncture-proof"
    simple = hand(played, options=loose)

    assert simple.side("Ann").battle_top is Card.REPAIRS
    assert simple.against("Ann 100") == []


# Coup fourré


@pytest.mark.parametrize("hazard", [*BATTLE_HAZARDS, Card.SPEED_LIMIT])
def test_a_safety_at_once_answers_its_hazard(hazard):
    attacked = hand(f"Ann roll; Bob {hazard} > Ann")
    others = set(SAFETY_OF.values()) - {SAFETY_OF[hazard], Card.LONG_RANGE, Card.CAR_POOL}

    assert attacked.against(f"Ann {SAFETY_OF[hazard]} !") == []
    assert {tuple(attacked.against(f"Ann {safety} !")) for safety in others} == {("no-attack-to-answer",)}


def test_a_coup_fourre_discards_the_hazard_and_the_car_drives_on():
    played = hand("Ann roll; Bob stop > Ann; Ann right-of-way !")

    assert (pile(played, "Ann"), played.table.discards) == (["roll"], (Card.STOP,))
    assert played.against("Ann 100") == []


def test_a_coup_fourre_uncovers_an_older_hazard():
    played = hand("Ann roll; Bob accident > Ann; Cid flat-tire > Ann; Ann puncture-proof !", THREE)

    assert played.side("Ann").hazard is Card.ACCIDENT
    assert played.against("Ann repairs") == []


def test_a_coup_fourre_uncovers_a_remedy_that_still_needs_its_roll():
    played = hand("Ann roll; Bob accident > Ann; Ann repairs; Bob flat-tire > Ann; Ann puncture-proof !")

    assert played.against("Ann 25") == ["not-driving"]


def test_right_of_way_as_a_coup_fourre_clears_stop_and_limit():
    against_stop = hand("Ann roll; Bob speed-limit > Ann; Ann 25; Bob stop > Ann; Ann right-of-way !")
    against_limit = hand("Ann roll; Bob stop > Ann; Ann discard 25; Bob speed-limit > Ann; Ann right-of-way !")

    assert against_stop.against("Ann 200") == against_limit.against("Ann 200") == []


def test_a_coup_fourre_against_a_limit_takes_only_the_last_limit_away():
    ended = hand("Ann roll; Bob speed-limit > Ann; Ann end-of-limit; Bob speed-limit > Ann; Ann right-of-way !")

    assert ended.side("Ann").speed == (Card.SPEED_LIMIT, Card.END_OF_LIMIT)


def test_a_coup_fourre_refills_one_card_and_then_draws_and_plays():
    claimed = hand("Ann roll; Bob stop > Ann; Ann right-of-way !")

    assert (claimed.turn, claimed.cards_of("Ann"), claimed.table.draw_pile) == ("Ann", 6, 91)
    assert claimed.then("Ann 100").cards_of("Ann") == 6
    assert claimed.then("Ann 100").table.draw_pile == 90


def test_the_turn_after_a_coup_fourre_is_not_passed():
    assert hand("Ann roll; Bob stop > Ann; Ann right-of-way !").against("Ann pass") == ["no-passing"]


def test_a_coup_fourre_skips_the_players_between():
    claimed = hand("Ann roll; Bob roll; Cid roll; Ann stop > Cid; Cid right-of-way !", THREE)

    assert claimed.turn == "Cid"
    assert claimed.against("Bob 25") == ["not-your-turn"]
    assert claimed.then("Cid 100").turn == "Ann"


def test_either_partner_may_claim_the_coup_fourre_and_play_goes_on_from_there():
    attacked = hand("Ann roll; Bob roll; Cid 25; Dee 25; Ann stop > Blues", PAIRS)

    assert attacked.turn == "Bob"
    assert attacked.then("Bob right-of-way !; Bob 25").turn == "Cid"
    assert attacked.then("Dee right-of-way !; Dee 25").turn == "Ann"


def test_an_opponent_cannot_claim_the_coup_fourre():
    attacked = hand("Ann roll; Bob stop > Ann", THREE)

    assert attacked.against("Cid right-of-way !") == ["no-attack-to-answer"]


@pytest.mark.parametrize("closing", ["Cid roll", "Cid discard 25", "Cid skip-draw", "Cid driving-ace"])
def test_the_window_closes_when_the_next_card_is_drawn_or_played_by_anyone(closing):
    attacked = hand("Ann roll; Bob stop > Ann", THREE)

    assert attacked.against("Ann right-of-way !") == []
    assert attacked.then(closing).against("Ann right-of-way !") == ["coup-fourre-window-closed"]


def test_a_card_taken_from_the_discard_pile_closes_the_window():
    attacked = hand(
        "Ann roll; Bob roll; Cid discard 25; Ann 25; Bob stop > Ann", THREE, options=["take-discard=allowed"]
    )

    assert attacked.then("Cid take").against("Ann right-of-way !") == ["coup-fourre-window-closed"]


def test_an_illegal_line_or_the_sight_of_an_empty_pile_leaves_the_window_open():
    attacked = hand("Ann roll; Bob stop > Ann; exhausted")

    assert attacked.against("Ann right-of-way !") == []


def test_the_window_stays_open_until_the_own_draw_where_the_house_says_so():
    attacked = hand("Ann roll; Bob stop > Ann; Cid roll", THREE, options=["coup-fourre-window=own-draw"])

    assert attacked.against("Ann right-of-way !") == []
    assert attacked.then("Ann skip-draw").against("Ann right-of-way !") == ["coup-fourre-window-closed"]


def test_two_attacks_on_two_piles_can_both_be_answered_until_the_own_draw():
    window = ["coup-fourre-window=own-draw"]
    twice = hand("Ann roll; Bob accident > Ann; Cid speed-limit > Ann", THREE, options=window)

    assert twice.against("Ann driving-ace !") == twice.against("Ann right-of-way !") == []
    assert twice.then("Ann driving-ace !").against("Ann right-of-way !") == ["coup-fourre-window-closed"]


def test_of_two_attacks_that_right_of_way_answers_it_takes_the_last_away_and_then_the_other():
    window = ["coup-fourre-window=own-draw"]
    stop_last = hand("Ann roll; Bob speed-limit > Ann; Cid stop > Ann; Ann right-of-way !", THREE, options=window)
    limit_last = hand("Ann roll; Bob stop > Ann; Cid speed-limit > Ann; Ann right-of-way !", THREE, options=window)

    assert stop_last.table.discards == (Card.STOP, Card.SPEED_LIMIT)
    assert limit_last.table.discards == (Card.SPEED_LIMIT, Card.STOP)
    assert (pile(stop_last, "Ann"), pile(limit_last, "Ann")) == (["roll"], ["roll"])


def test_a_covered_attack_can_no_longer_be_answered():
    window = ["coup-fourre-window=own-draw"]
    covered = hand("Ann roll; Bob accident > Ann; Cid flat-tire > Ann", THREE, options=window)

    assert covered.against("Ann driving-ace !") == ["no-attack-to-answer"]
    assert covered.against("Ann puncture-proof !") == []


def test_a_safety_without_the_mark_right_after_its_hazard_is_a_late_one_with_a_remark():
    attacked = hand("Ann roll; Bob stop > Ann")
    play = attacked.parsed("Ann right-of-way")

    assert referee.objections(attacked.table, play) == ()
    assert [why.code for why in referee.remarks(attacked.table, play)] == ["late-safety"]
    assert attacked.then("Ann right-of-way").side("Ann").coups_fourres == ()


def test_nothing_is_remarked_about_a_coup_fourre_or_a_safety_that_answers_nothing():
    attacked = hand("Ann roll; Bob stop > Ann")

    for line in ("Ann right-of-way !", "Ann driving-ace", "Ann roll"):
        assert referee.remarks(attacked.table, attacked.parsed(line)) == ()


def test_a_coup_fourre_against_nothing_is_refused():
    assert hand().against("Ann right-of-way !") == ["no-attack-to-answer"]
    assert hand("Ann roll; Bob stop > Ann; Ann roll; Bob roll").against("Ann right-of-way !") == ["no-attack-to-answer"]


def test_other_cards_are_not_laid_out_of_turn():
    attacked = hand("Ann roll; Bob stop > Ann", THREE)

    assert attacked.against("Ann roll !") == ["not-your-turn"]
    assert attacked.against("Ann 100 !") == [
        "not-your-turn",
    ]
    assert attacked.against("Cid 100 !") == ["no-attack-to-answer"]


@pytest.mark.parametrize("edition", ["classic", "parker", "asmodee-2014", "dujardin-2014"])
@pytest.mark.parametrize("hazard", [*BATTLE_HAZARDS, Card.SPEED_LIMIT])
def test_a_remedy_at_once_lies_on_its_hazard_and_moves_no_turn_where_the_house_says_so(edition, hazard):
    attack = f"Ann roll; Bob roll; Cid roll; Ann {hazard} > Cid"
    fast = hand(f"{attack}; Cid {REMEDY_OF[hazard]} !", THREE, edition=edition, options=["fast-remedy=yes"])

    assert (fast.side("Cid").battle + fast.side("Cid").speed)[-2:] == (hazard, REMEDY_OF[hazard])
    assert (fast.table.discards, fast.turn, fast.cards_of("Cid")) == ((), "Bob", 5)
    assert fast.against("Bob 25") == []
    assert fast.then("Bob 25").turn == "Cid"
    assert fast.against("Bob pass") == ["no-passing"]


@pytest.mark.parametrize("edition", ["classic", "parker", "bsd-mille"])
def test_after_a_remedy_at_once_a_roll_is_needed_as_after_any(edition):
    fast = hand("Ann roll; Bob accident > Ann; Ann repairs !", edition=edition, options=["fast-remedy=yes"])

    assert fast.against("Ann 100") == ["not-driving"]
    assert fast.against("Ann roll") == []


def test_a_remedy_at_once_takes_the_turn_where_the_house_says_so():
    taking = ["fast-remedy=yes", "fast-remedy-turn=without-drawing"]
    fast = hand("Ann roll; Bob accident > Ann; Ann repairs !", THREE, options=taking)

    assert (pile(fast, "Ann"), fast.turn) == (["roll", "accident", "repairs"], "Ann")
    assert (fast.cards_of("Ann"), fast.table.draw_pile) == (5, 86)
    assert fast.then("Ann roll").cards_of("Ann") == 4
    assert fast.then("Ann roll").turn == "Bob"


def test_after_a_fast_remedy_that_takes_the_turn_it_may_be_passed_to_the_left_once():
    taking = ["fast-remedy=yes", "fast-remedy-turn=without-drawing"]
    fast = hand("Ann roll; Bob roll; Cid accident > Bob; Bob repairs !", THREE, options=taking)

    assert fast.then("Bob pass").turn == "Cid"
    assert fast.then("Bob pass").against("Cid pass") == ["no-passing"]
    assert fast.then("Bob driving-ace").against("Bob pass") == ["no-passing"]


def test_a_fast_remedy_has_the_window_of_a_coup_fourre():
    fast = hand("Ann roll; Bob accident > Ann", THREE, options=["fast-remedy=yes"])

    assert fast.against("Ann gasoline !") == ["no-attack-to-answer"]
    assert fast.then("Cid roll").against("Ann repairs !") == ["coup-fourre-window-closed"]


# The end of a hand


def test_the_hand_ends_when_the_target_is_reached_exactly():
    done = hand("Ann roll; Bob roll; Ann 200", target=200)

    assert (done.result.how, done.result.by) == ("completed", "Ann")
    assert done.against("Bob 25") == done.against("Ann right-of-way !") == ["hand-over"]


def test_whoever_first_reaches_700_is_asked_for_an_extension():
    reached = hand(f"{TO_600}; Ann 100")

    assert reached.against("Ann extend") == reached.against("Ann finish") == []
    assert reached.against("Bob extend") == ["extension-not-offered"]
    assert reached.against("Bob 25") == reached.against("Ann discard 25") == ["hand-over"]


def test_nobody_is_asked_before_or_after():
    assert hand(TO_600).against("Ann extend") == ["extension-not-offered"]
    assert hand(f"{TO_600}; Ann 100; Ann extend").against("Ann finish") == ["extension-not-offered"]


def test_either_partner_answers():
    lines = "Ann roll; Bob roll; Cid 200; Dee 25; Ann 200; Bob 25; Cid 100; Dee 25; Ann 100; Bob 25; Cid 100"
    reached = hand(lines, PAIRS, target=700)

    assert reached.against("Cid finish") == reached.against("Ann extend") == []


def test_without_an_extension_the_hand_goes_to_whoever_finishes():
    done = hand(f"{TO_600}; Ann 100; Ann finish")

    assert (done.result.how, done.result.by, done.table.target) == ("completed", "Ann", 700)


def test_an_extension_goes_to_1000_and_the_turn_goes_on():
    extended = hand(f"{TO_600}; Ann 100; Ann extend; Bob 25; Ann 100; Bob 25")

    assert (extended.table.target, extended.side("Ann").km, extended.table.is_over) == (1000, 800, False)
    assert extended.against("Ann 200") == ["third-200"]


def test_an_extension_is_offered_once():
    lines = f"{TO_600}; Ann 100; Ann extend; Bob 100; Ann discard 25; Bob 100; Ann discard 25; Bob 200; Ann discard 25"
    second = hand(f"{lines}; Bob 100; Ann discard 50; Bob 75; Ann discard 50", as_lies=True)

    assert second.side("Bob").km == 675
    assert second.then("Bob 25", as_lies=True).table.extension_offered_to is None


def test_without_the_extension_700_ends_the_hand():
    done = hand(f"{TO_600}; Ann 100", options=["extension=no"])

    assert (done.result.how, done.result.by) == ("completed", "Ann")


# The draw pile empty


def test_with_an_empty_draw_pile_play_goes_on_without_drawing():
    played = hand("Ann roll; Bob roll; exhausted; Ann 25")

    assert (played.table.draw_pile, played.cards_of("Ann")) == (0, 5)


def test_the_sight_of_an_empty_pile_outweighs_the_count():
    seen = hand("Ann roll; exhausted").table

    assert (seen.draw_pile, seen.unaccounted, seen.drawn) == (0, 93, False)


def emptied(kept: str, *options: str):
    """Two players' hand whose draw pile has run out by counting; the twelve cards in the hands are `kept`."""
    game = hand(options=options)
    cards = [card.value for card, count in game.table.deck.items() for _ in range(count)]
    for card in kept.split():
        cards.remove(card)
    while game.table.draw_pile:
        game = game.then(f"{game.turn} discard {cards.pop()}")
    return game


DISTANCES = " 25 50 75" * 4


def test_the_last_card_is_drawn_with_a_play_and_then_hands_shrink():
    played = emptied("roll roll" + " 25 50" * 5)

    assert (played.table.hands, played.turn) == ((6, 6), "Ann")
    assert played.then("Ann roll").table.hands == (5, 6)


def test_the_hand_ends_by_itself_when_all_hands_are_played_out():
    played = emptied(DISTANCES)
    for km in (25, 50, 75) * 2:
        played = played.then(f"Ann discard {km}; Bob discard {km}")

    assert (played.result.how, played.result.by) == ("exhausted", None)


def test_that_the_hand_has_ended_may_be_written_down():
    played = emptied(DISTANCES)
    for km in (25, 50, 75) * 2:
        played = played.then(f"Ann discard {km}; Bob discard {km}")

    assert played.against("end") == []
    assert played.against("Ann discard 75") == ["hand-over"]


def test_a_player_without_cards_is_passed_over():
    kept = emptied("roll roll driving-ace extra-tank 25 25 25 25 25 25 25 50")
    short = kept.then("Ann roll; Bob roll; Ann driving-ace; Ann extra-tank; Ann 25; Bob 25; Ann 25")

    assert (short.table.hands, short.turn) == ((1, 4), "Bob")
    assert short.then("Bob 25; Ann 25; Bob 25").turn == "Bob"
    assert short.then("Bob 25; Ann 25; Bob 25").against("Ann 50") == ["not-your-turn"]


def test_a_coup_fourre_with_the_last_card_leaves_the_turn_to_whoever_has_one():
    kept = emptied("roll roll stop right-of-way 25 25 25 25 25 25 25 25")
    last = kept.then("Ann roll; Bob roll; Ann 25; Bob 25; Ann 25; Bob 25; Ann 25; Bob 25; Ann 25; Bob 25")

    assert last.table.hands == (1, 1)
    assert last.then("Ann stop > Bob; Bob right-of-way !").result.how == "exhausted"


def test_after_the_pile_was_seen_empty_the_hand_ends_when_all_hands_are_played_out():
    lines = "Ann roll; Bob roll; exhausted" + "; Ann 25; Bob 25; Ann 50; Bob 50" * 2
    played = hand(f"{lines}; Ann 25; Bob 25; Ann 75")

    assert played.table.hands == (0, 1)
    assert played.then("Bob 75").result.how == "exhausted"


def test_after_the_pile_was_seen_empty_a_player_without_cards_is_passed_over():
    played = hand("Ann roll; Bob roll; Cid skip-draw; Cid roll; exhausted", THREE)
    shorter = played.then("".join(f"Ann {km}; Bob {km}; Cid {km};" for km in (25, 50, 75, 25, 50)))

    assert (shorter.table.hands, shorter.turn) == ((1, 1, 0), "Ann")
    assert shorter.then("Ann 75; Bob 75").result.how == "exhausted"


def test_an_empty_pile_changes_nobodys_turn():
    played = hand("Ann roll; Bob roll; exhausted")

    assert played.against("Bob 25") == ["not-your-turn"]


def test_the_hand_can_be_ended_by_agreement_or_with_an_empty_pile():
    agreed, exhausted = hand("Ann roll; end"), hand("Ann roll; exhausted; end")

    assert (agreed.result.how, exhausted.result.how) == ("agreed", "exhausted")
    assert agreed.table.draw_pile == 92


def test_the_end_follows_the_draw_of_the_player_to_move():
    last = hand()
    cards = [card for card, count in last.table.deck.items() for _ in range(count)]
    while last.table.draw_pile > 1:
        last = last.then(f"{last.turn} discard {cards.pop()}")

    assert last.then("end").result.how == "exhausted"


def test_an_extension_that_nobody_answers_is_finished_by_the_end():
    done = hand(f"{TO_600}; Ann 100; end")

    assert (done.result.how, done.result.by) == ("completed", "Ann")


def test_the_discards_become_the_draw_pile_where_the_house_says_so():
    played = emptied("roll" + " 25" * 10 + " 50", "empty-pile=reshuffle")

    after = played.then("Ann roll").table

    assert (len(played.table.discards), after.draw_pile, after.discards, after.hands) == (94, 93, (), (6, 6))


def test_a_reshuffle_may_be_written_down():
    seen = hand("Ann discard 25; Bob discard 25; exhausted", options=["empty-pile=reshuffle"]).table

    assert (seen.draw_pile, seen.discards, seen.unaccounted) == (2, (), 92)


def test_a_hand_with_reshuffled_discards_is_never_exhausted():
    played = emptied(DISTANCES, "empty-pile=reshuffle")

    assert played.then("end").result.how == "agreed"
    assert played.then(f"{played.turn} skip-draw; end").result.how == "agreed"


def test_a_stuck_hand_is_ended_by_the_table():
    played = emptied(DISTANCES, "empty-pile=stuck")

    assert played.then("Ann discard 25; end").result.how == "exhausted"


# The cards lie where they lie


def test_an_illegal_card_can_be_applied_all_the_same():
    lies = hand("Ann 100; Bob 200", as_lies=True)

    assert (lies.side("Ann").km, lies.side("Bob").km, lies.turn) == (100, 200, "Ann")


def test_a_safety_claimed_too_late_counts_as_a_plain_one_and_the_turn_stays():
    late = hand("Ann roll; Bob stop > Ann; Cid roll; Bob driving-ace !", THREE, as_lies=True)

    assert late.side("Bob").safeties == (Card.DRIVING_ACE,)
    assert late.side("Bob").coups_fourres == ()
    assert late.turn == "Ann"
    assert (late.cards_of("Bob"), late.table.draw_pile) == (6, 84)


def test_a_hazard_aimed_at_nobody_falls_on_the_only_opponent():
    assert hand("Ann roll; Bob stop", as_lies=True).side("Ann").hazard is Card.STOP
    assert hand("Ann roll; Bob stop", THREE, as_lies=True).table.discards == (Card.STOP,)


def test_a_hazard_on_the_own_side_is_no_attack_to_answer():
    lies = hand("Ann roll; Bob roll; Ann stop > Ann", as_lies=True)

    assert lies.side("Ann").hazard is Card.STOP
    assert lies.against("Ann right-of-way !") == ["coup-fourre-window-closed"]


def test_a_card_played_out_of_turn_is_drawn_for_whatever_the_others_have_drawn():
    lies = hand("Ann skip-draw; Bob roll", as_lies=True)

    assert (lies.table.hands, lies.table.draw_pile) == ((6, 6), 93)


def test_a_card_played_out_of_turn_takes_the_turn_with_it():
    assert hand("Ann roll; Cid roll", THREE, as_lies=True).turn == "Ann"


def test_nothing_changes_after_the_end():
    done = hand("Ann roll; end").table

    assert referee.apply(done, Play(Verb.DISCARD, "Ann", Card.KM_25)) is done


# What may be played


def test_legal_plays_answer_what_may_be_played():
    plays = referee.legal_plays(hand("Ann roll; Bob stop > Ann").table, "Ann")
    written = {str(play) for play in plays}

    assert {"Ann roll", "Ann right-of-way !", "Ann right-of-way", "Ann speed-limit > Bob", "Ann discard 25"} <= written
    assert not {"Ann 25", "Ann repairs", "Ann stop > Bob", "Ann take"} & written


def test_legal_plays_are_true_while_something_may_be_played():
    table = hand("Ann roll").table

    assert bool(referee.legal_plays(table, "Bob"))
    assert not referee.legal_plays(table, "Ann")
    assert Play(Verb.DISCARD, "Bob", Card.KM_25) in referee.legal_plays(table, "Bob")
    assert Play(Verb.DISCARD, "Ann", Card.KM_25) not in referee.legal_plays(table, "Bob")

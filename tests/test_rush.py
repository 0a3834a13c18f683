"""The sheet of Mille Bornes Rush, row by row: what each row allows, and what it refuses."""

from __future__ import annotations

import pytest
from records import (
    DEALT_TO_EIGHT,
    EIGHT,
    PAIRS,
    THREE,
    TWO,
    Hand,
    hand,
    record,
    results,
    run_down,
    teams,
    verdicts,
)

from companion.rules import referee
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card
from companion.rules.editions.edition import EditionError, load_edition

BATTLE_HAZARDS = [Card.ACCIDENT, Card.OUT_OF_CHARGE, Card.POLLUTION, Card.STOP]
OTHER_BATTLE_HAZARDS = BATTLE_HAZARDS[:3]
HAZARDS = [*BATTLE_HAZARDS, Card.SPEED_LIMIT]


def rush(plays: str = "", players: str = TWO, **more) -> Hand:
    return hand(plays, players, edition="rush", **more)


def remarks(played: Hand, line: str) -> list[str]:
    return [why.code.value for why in referee.remarks(played.table, played.parsed(line))]


# Setting up


@pytest.mark.parametrize(("players", "draw_pile"), DEALT_TO_EIGHT)
def test_two_to_eight_play_alone_and_four_to_eight_in_pairs_to_1000_km(players, draw_pile):
    table = rush(players=players).table

    assert (table.target, table.draw_pile, set(table.hands)) == (1000, draw_pile, {6})


@pytest.mark.parametrize(
    "players", ["Ann", f"{EIGHT}, Ian", "Reds = Ann Bob", "Reds = Ann Cid Eve, Blues = Bob Dee Fay"]
)
def test_other_numbers_of_players_are_refused(players):
    with pytest.raises(EditionError, match="8 in pairs"):
        referee.check_seating(load_edition("rush"), teams(players))


def test_a_pair_takes_its_sides_turns_alternately():
    played = rush("Ann 100; Bob 100; Cid 100; Dee 100", PAIRS)

    assert (played.turn, played.side("Reds").km, played.side("Blues").km) == ("Ann", 200, 200)
    assert rush("Ann 100; Bob 100", PAIRS).against("Ann 100") == ["not-your-turn"]


def test_700_km_may_be_agreed_upon_and_are_not_extended():
    done = rush("Ann 300; Bob 50; Ann 200*2", target=700)

    assert (done.result.how, done.result.by) == ("completed", "Ann")
    assert done.against("Ann extend") != []


PRINTED = """
50=10 75=10 100=12 200=6 300=1 accident=3 out-of-charge=3 pollution=3 stop=4 speed-limit=3 repairs=6 recharge=6
end-of-pollution=6 roll=6 end-of-limit=6 driving-ace=1 long-range=1 car-pool=1 right-of-way=1 accelerator=4 mirror=4
u-turn=3 control=3 theft=3
"""


def test_the_deck_has_106_cards_in_the_numbers_of_the_sheet_and_says_that_they_are_unverified():
    edition = load_edition("rush")

    assert {f"{card}={count}" for card, count in edition.deck.items()} == set(PRINTED.split())
    assert sum(edition.deck.values()) == 106
    assert not edition.counts_verified


@pytest.mark.parametrize("slug", ["25", "out-of-gas", "flat-tire", "gasoline", "spare-tire", "extra-tank"])
def test_a_card_of_the_classic_game_is_unknown(slug):
    assert rush().against(f"Ann discard {slug}") == ["unknown-card"]


# The unverified deck


def test_a_second_copy_of_a_safety_is_refused():
    assert rush("Ann driving-ace").against("Ann driving-ace") == ["too-many-copies"]


def test_one_card_too_many_of_another_kind_is_only_remarked_upon():
    twice = rush("Ann 300")

    assert twice.against("Bob 300") == []
    assert "too-many-copies" in remarks(twice, "Bob 300")
    assert "too-many-copies" not in remarks(rush(), "Ann 300")


def test_cards_laid_in_pairs_and_accelerators_are_counted_too():
    fetched, doubled = rush("Ann discard 50"), rush("Ann 50*2; Bob 50*2; Ann 75*2; Bob 75*2")

    assert fetched.against("Bob pair 300 for 50") == doubled.against("Ann 100*2") == []
    assert "too-many-copies" in remarks(fetched, "Bob pair 300 for 50")
    assert "too-many-copies" in remarks(doubled, "Ann 100*2")


def test_a_corrected_deck_is_counted_as_the_owner_says():
    text = "edition rush\ndeck 300=2, 200=5\nside Ann\nside Bob\nhand first Ann\nAnn 300\nBob 300\n"

    assert verdicts(text) == ["legal", "legal"]
    assert [why.code for line in record(text)[:2] for why in line.remarks] == []


def test_a_corrected_deck_that_does_not_add_up_is_not_read():
    text = "edition rush\ndeck 300=2\nside Ann\nside Bob\nhand first Ann\nAnn 300\n"

    assert verdicts(text) == ["unreadable", "legal"]


def test_a_deck_whose_counts_are_printed_is_not_corrected():
    text = "edition classic\ndeck 100=11, 75=11\nside Ann\nside Bob\nhand first Ann\nAnn roll\n"

    assert verdicts(text) == ["unreadable", "legal"]


# A turn


def test_a_turn_fills_the_hand_up_to_seven_and_plays_one():
    played = rush("Ann 100; Bob 100")

    assert (played.table.draw_pile, played.table.hands) == (92, (6, 6))


def test_after_an_accelerator_two_cards_are_drawn():
    played = rush("Ann 100*2; Bob 100")

    assert played.cards_of("Ann") == 5
    assert (played.then("Ann 50").cards_of("Ann"), played.then("Ann 50").table.draw_pile) == (6, 90)


def test_a_forgotten_draw_plays_with_one_card_fewer_and_the_next_turn_fills_up_again():
    forgot = rush("Ann skip-draw; Ann 100; Bob 100")

    assert (forgot.cards_of("Ann"), forgot.table.draw_pile) == (5, 93)
    assert (forgot.then("Ann 50").cards_of("Ann"), forgot.then("Ann 50").table.draw_pile) == (6, 91)


def test_the_top_of_the_discard_pile_may_be_drawn():
    taken = rush("Ann discard 100; Bob take")

    assert (taken.cards_of("Bob"), taken.table.discards, taken.table.draw_pile) == (7, (), 93)
    assert taken.then("Bob 100").cards_of("Bob") == 6
    assert rush().against("Ann take") == ["cannot-take-discard"]


def test_with_seven_cards_no_more_are_taken():
    taken = rush("Ann discard 100; Bob discard 50; Ann take")

    assert taken.against("Ann take") == ["cannot-take-discard"]


def test_as_many_cards_are_taken_as_the_hand_is_short_of_seven():
    short = rush("Ann 100*2; Bob discard 50; Cid discard 75; Ann take", THREE)

    assert short.cards_of("Ann") == 6
    assert short.then("Ann take").cards_of("Ann") == 7
    assert short.then("Ann 75").table.hands == (6, 6, 6)


def test_a_discard_is_for_those_who_are_stuck_and_is_remarked_upon():
    assert rush().against("Ann discard 50") == []
    assert "discard-only-when-stuck" in remarks(rush(), "Ann discard 50")


def test_theft_and_control_go_under_the_discard_pile():
    stolen = rush("Ann 100; Bob discard 50; Ann discard 75; Bob theft 100 > Ann")
    asked = rush("Ann discard 50; Bob control stop > Ann")

    assert stolen.table.discards == (Card.THEFT, Card.KM_50, Card.KM_75)
    assert asked.table.discards == (Card.CONTROL, Card.KM_50)


def test_the_discards_become_the_draw_pile_when_a_card_is_needed():
    empty = run_down(rush())
    after = empty.then(f"{empty.turn} 100").table

    assert (empty.table.draw_pile, len(empty.table.discards)) == (0, 94)
    assert (after.draw_pile, after.discards, after.hands) == (93, (), (6, 6))


def test_a_hand_is_filled_up_across_a_reshuffle():
    game = run_down(rush("Ann discard 50; Bob discard 50"), left=3)
    short = game.then("Bob 100*2; Ann 50")

    assert (short.cards_of("Bob"), short.table.draw_pile) == (5, 1)
    assert short.then("Bob 50").cards_of("Bob") == 6
    assert short.then("Bob 50").table.draw_pile == len(short.table.discards) - 1


def test_a_race_is_never_exhausted():
    assert run_down(rush()).then("end").result.how == "agreed"


def test_nothing_is_exchanged():
    assert rush().against("Ann exchange 50 50") == ["no-exchange"]


# Two alike


def test_two_alike_fetch_any_card_of_the_discard_pile_to_be_played_on_this_turn():
    piled = rush("Ann discard 100; Bob discard 50; Ann discard 75; Bob pair 50 for 100")

    assert (piled.turn, piled.cards_of("Bob")) == ("Bob", 6)
    assert sorted(piled.table.discards) == ["50", "50", "50", "75"]
    assert (piled.then("Bob 100").turn, piled.then("Bob 100").side("Bob").km) == ("Ann", 100)


def test_a_card_that_is_not_on_the_discard_pile_is_not_fetched():
    assert rush("Ann discard 100").against("Bob pair 50 for 200") == ["no-such-card-there"]
    assert rush().against("Ann pair 50 for 100") == ["no-such-card-there"]


@pytest.mark.parametrize("line", ["Bob 75", "Bob stop > Ann", "Bob discard 75", "Bob driving-ace", "Bob discard 100"])
def test_after_two_alike_only_the_fetched_card_is_played(line):
    fetched = rush("Ann discard 100; Bob pair 50 for 100")

    assert "must-play-it" in fetched.against(line)


def test_a_fetched_card_that_cannot_be_laid_is_discarded():
    fetched = rush("Ann discard repairs; Bob pair 50 for repairs")

    assert fetched.against("Bob discard repairs") == []
    assert fetched.against("Bob repairs") != []


def test_a_fetched_distance_card_may_be_doubled_and_a_fetched_accelerator_doubles_another():
    distance = rush("Ann discard 100; Bob pair 50 for 100")
    accelerator = rush("Ann discard accelerator; Bob pair 50 for accelerator")

    assert distance.against("Bob 100*2") == []
    assert accelerator.against("Bob 75*2") == []
    assert "must-play-it" in accelerator.against("Bob 75")


def test_a_fetched_hazard_attacks():
    fetched = rush("Ann discard stop; Bob pair 50 for stop; Bob stop > Ann")

    assert fetched.side("Ann").hazard is Card.STOP


def test_two_alike_are_laid_on_the_own_turn():
    assert rush("Ann discard 100").against("Ann pair 50 for 100") == ["not-your-turn"]


def test_two_alike_fetch_nothing_where_the_house_says_so():
    strict = rush("Ann discard 100", options=["pair-for-discard=no"])

    assert strict.against("Bob pair 50 for 100") == ["cannot-take-discard"]
    assert hand("Ann discard 100").against("Bob pair 50 for 100") == ["cannot-take-discard"]


# Driving, rolls, remedies


def test_nothing_is_needed_to_drive():
    assert rush().against("Ann 100") == []


def test_any_card_may_be_the_first():
    assert rush().against("Ann stop > Bob") == rush().against("Ann driving-ace") == []


def test_a_roll_is_laid_on_a_stop_alone():
    assert rush("Ann 100; Bob stop > Ann").against("Ann roll") == []
    assert rush().against("Ann roll") == ["nothing-to-remedy"]
    assert rush("Ann 100; Bob accident > Ann").against("Ann roll") == ["under-hazard"]
    assert rush("Ann 100; Bob stop > Ann; Ann roll; Bob 100").against("Ann roll") != []
    assert rush("Ann 100; Bob accident > Ann; Ann repairs; Bob 100").against("Ann roll") == ["nothing-to-remedy"]


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_remedy_lies_on_its_own_hazard_and_the_car_drives_at_once(hazard):
    other = REMEDY_OF[Card.POLLUTION if hazard is Card.ACCIDENT else Card.ACCIDENT]
    attacked = rush(f"Ann 100; Bob {hazard} > Ann")

    assert attacked.against("Ann 100") == ["under-hazard"]
    assert attacked.against(f"Ann {other}") == ["nothing-to-remedy"]
    assert attacked.then(f"Ann {REMEDY_OF[hazard]}; Bob 50").against("Ann 100") == []


@pytest.mark.parametrize("hazard", HAZARDS)
def test_a_remedy_goes_to_the_discard_pile_with_its_hazard(hazard):
    ended = rush(f"Ann 100; Bob {hazard} > Ann; Ann {REMEDY_OF[hazard]}")

    assert (ended.side("Ann").battle, ended.side("Ann").speed) == ((), ())
    assert ended.table.discards == (hazard, REMEDY_OF[hazard])
    assert ended.turn == "Bob"


def test_what_a_remedy_leaves_on_the_discard_pile_is_drawn_and_fetched():
    ended = rush("Ann stop > Bob; Bob roll", THREE)

    assert ended.against("Cid take") == []
    assert ended.against("Cid pair 50 for stop") == ended.against("Cid pair 50 for roll") == []


def test_a_remedy_that_ends_nothing_lies_where_it_was_laid():
    useless = rush("Ann repairs", as_lies=True)

    assert (useless.side("Ann").battle, useless.table.discards) == ((Card.REPAIRS,), ())


def test_a_roll_needed_after_a_remedy_lies_on_it_where_the_house_says_so():
    remedied = rush("Ann 100; Bob accident > Ann; Ann repairs; Bob 100", options=["roll-after-remedy=needed"])

    assert remedied.side("Ann").battle == (Card.ACCIDENT, Card.REPAIRS)
    assert remedied.against("Ann 100") == ["not-driving"]
    assert remedied.against("Ann roll") == []


def test_a_remedy_without_a_hazard_is_refused():
    assert rush().against("Ann repairs") == ["nothing-to-remedy"]


def test_end_of_limit_lies_on_a_showing_limit_only():
    limited = rush("Ann 100; Bob speed-limit > Ann")

    assert limited.against("Ann end-of-limit") == []
    assert limited.then("Ann end-of-limit; Bob 50").against("Ann end-of-limit") == ["not-limited"]
    assert rush().against("Ann end-of-limit") == ["not-limited"]


# Remedies out of turn


@pytest.mark.parametrize("hazard", HAZARDS)
def test_a_remedy_at_once_answers_its_hazard_and_takes_the_turn(hazard):
    answered = rush(f"Ann {hazard} > Cid; Cid {REMEDY_OF[hazard]} !", THREE)

    assert (answered.turn, answered.table.discards) == ("Cid", (hazard, REMEDY_OF[hazard]))
    assert answered.side("Cid").hazard is None
    assert answered.against("Cid 100") == []
    assert answered.against("Bob 100") == ["not-your-turn"]


def test_a_remedy_may_go_under_its_hazard():
    answered = rush("Ann accident > Bob; Bob repairs under !")

    assert answered.table.discards == (Card.REPAIRS, Card.ACCIDENT)
    assert answered.turn == "Bob"


def test_after_an_own_remedy_out_of_turn_the_play_is_made_without_drawing():
    answered = rush("Ann accident > Bob; Bob repairs !; Bob 100")

    assert (answered.cards_of("Bob"), answered.table.draw_pile, answered.turn) == (4, 93, "Ann")
    assert answered.then("Ann 50; Bob 50").cards_of("Bob") == 6
    assert answered.then("Ann 50; Bob 50").table.draw_pile == 89


def test_after_a_remedy_out_of_turn_the_turn_may_be_passed_to_the_left():
    answered = rush("Ann accident > Cid; Cid repairs !", THREE)

    assert answered.then("Cid pass").turn == "Ann"
    assert answered.then("Cid pass").cards_of("Cid") == 5
    assert answered.then("Cid 100").turn == "Ann"


def test_nobody_else_passes():
    assert rush().against("Ann pass") == ["no-passing"]
    assert rush("Ann accident > Bob; Bob repairs").against("Ann pass") == ["no-passing"]


def test_a_remedy_out_of_turn_has_to_fit_and_to_be_in_time():
    attacked = rush("Ann accident > Cid", THREE)

    assert attacked.against("Cid recharge !") != []
    assert attacked.against("Bob repairs !") != []
    assert attacked.then("Bob 100").against("Cid repairs !") == ["coup-fourre-window-closed"]


# Hazards


@pytest.mark.parametrize("hazard", HAZARDS)
def test_any_opponent_may_be_attacked_even_with_nothing_in_front_of_him(hazard):
    assert rush().against(f"Ann {hazard} > Bob") == []


@pytest.mark.parametrize("first", BATTLE_HAZARDS)
def test_a_hazard_on_a_hazard_is_refused(first):
    attacked = rush(f"Ann {first} > Cid", THREE)

    assert attacked.against("Bob pollution > Cid") == ["already-attacked"]
    assert attacked.against("Bob speed-limit > Cid") == []


def test_a_remedied_opponent_may_be_attacked_again():
    assert rush("Ann accident > Bob; Bob repairs").against("Ann accident > Bob") == []


def test_a_second_speed_limit_is_refused():
    assert rush("Ann speed-limit > Cid", THREE).against("Bob speed-limit > Cid") == ["already-limited"]
    assert rush("Ann speed-limit > Cid", THREE).against("Bob stop > Cid") == []


@pytest.mark.parametrize("hazard", HAZARDS)
def test_a_safety_shuts_its_hazards_out(hazard):
    safe = rush(f"Ann {SAFETY_OF[hazard]}; Ann 100")

    assert safe.against(f"Bob {hazard} > Ann") == ["protected"]


def test_a_hazard_goes_on_an_opponent():
    assert rush(players=PAIRS).against("Ann stop > Cid") == ["own-side"]
    assert rush(players=PAIRS).against("Ann stop > Dee") == []
    assert rush().against("Ann stop") == ["needs-target"]


# Distance


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_no_distance_is_driven_under_a_hazard(hazard):
    attacked = rush(f"Ann {hazard} > Bob")

    assert attacked.against("Bob 50") == attacked.against("Bob 50*2") == ["under-hazard"]


def test_under_a_speed_limit_a_card_shows_at_most_50():
    limited = rush("Ann speed-limit > Bob")

    assert limited.against("Bob 50") == []
    assert [limited.against(f"Bob {km}") for km in (75, 100, 200, 300)] == [["speed-limit"]] * 4


def test_under_a_speed_limit_a_doubled_card_counts_by_what_is_printed():
    limited, strict = (rush("Ann speed-limit > Bob", options=options) for options in ([], ["limit-on-doubled=doubled"]))

    assert limited.against("Bob 50*2") == []
    assert limited.against("Bob 75*2") == ["speed-limit"]
    assert strict.against("Bob 50*2") == ["speed-limit"]
    assert strict.against("Bob 50") == []


def test_any_number_of_200s_is_laid():
    played = rush("Ann 200; Bob 50; Ann 200; Bob 50; Ann 200; Bob 50")

    assert played.against("Ann 200") == []
    assert played.side("Ann").km == 600


def test_a_seventh_200_is_remarked_upon_and_not_refused():
    six = rush("; ".join(["Ann 200; Bob 50"] * 6), target=2000)

    assert six.against("Ann 200") == []
    assert "too-many-copies" in remarks(six, "Ann 200")


def test_200s_are_limited_where_the_house_says_so():
    played = rush("Ann 200; Bob 50; Ann 200; Bob 50", options=["two-hundreds=2"])

    assert played.against("Ann 200") == ["third-200"]


@pytest.mark.parametrize(("play", "km"), [("50*2", 100), ("75*2", 150), ("100*2", 200), ("200*2", 400), ("300*2", 600)])
def test_an_accelerator_doubles_the_km_of_its_card(play, km):
    assert rush(f"Ann {play}").side("Ann").km == km


def test_one_accelerator_a_card():
    assert rush().against("Ann 100*3") == ["already-doubled"]
    assert rush().against("Ann 100*4") == ["already-doubled"]


def test_an_accelerator_is_not_laid_by_itself():
    assert rush().against("Ann accelerator") == ["needs-distance"]
    assert rush().against("Ann discard accelerator") == []


def test_the_target_may_be_passed():
    won = rush("Ann 300*2; Bob 50; Ann 200; Bob 50; Ann 200*2")

    assert (won.result.how, won.result.by, won.result.sheets["Ann"].total) == ("completed", "Ann", 1200)


# Safeties


def test_a_safety_on_the_own_turn_draws_one_card_and_the_turn_goes_on():
    played = rush("Ann driving-ace; Ann long-range; Ann 100")

    assert (played.turn, played.cards_of("Ann"), played.table.draw_pile) == ("Bob", 6, 91)


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_late_safety_throws_its_hazard_out_and_the_car_drives_on(hazard):
    late = rush(f"Ann {hazard} > Bob; Bob discard 50; Ann 50; Bob {SAFETY_OF[hazard]}")

    assert late.side("Bob").hazard is None
    assert late.against("Bob 100") == []
    assert late.side("Bob").coups_fourres == ()


def test_right_of_way_removes_a_stop_and_a_limit():
    late = rush("Ann stop > Bob; Bob discard 50; Ann speed-limit > Bob; Bob discard 50; Ann 50; Bob right-of-way")

    assert late.against("Bob 200") == []
    assert late.against("Bob end-of-limit") == ["not-limited"]


def test_right_of_way_does_not_answer_an_accident():
    assert rush("Ann accident > Bob; Bob right-of-way").against("Bob 50") == ["under-hazard"]


# Coup fourré


@pytest.mark.parametrize("hazard", HAZARDS)
def test_a_safety_at_once_answers_its_hazard(hazard):
    attacked = rush(f"Ann {hazard} > Bob")
    other = Card.CAR_POOL if hazard is Card.ACCIDENT else Card.DRIVING_ACE

    assert attacked.against(f"Bob {SAFETY_OF[hazard]} !") == []
    assert attacked.against(f"Bob {other} !") == ["no-attack-to-answer"]


def test_a_coup_fourre_is_played_on_without_drawing_and_the_hand_is_refilled_at_the_next_own_turn():
    claimed = rush("Ann accident > Cid; Cid driving-ace !", THREE)

    assert (claimed.turn, claimed.cards_of("Cid"), claimed.table.draw_pile) == ("Cid", 5, 87)
    assert claimed.against("Bob 50") == ["not-your-turn"]
    assert (claimed.then("Cid 100").cards_of("Cid"), claimed.then("Cid 100").table.draw_pile) == (4, 87)
    assert claimed.then("Cid 100").turn == "Ann"
    assert claimed.then("Cid 100; Ann 50; Bob 50; Cid 50").cards_of("Cid") == 6


def test_after_a_coup_fourre_the_turn_may_be_passed():
    claimed = rush("Ann accident > Cid; Cid driving-ace !", THREE)

    assert claimed.then("Cid pass").turn == "Ann"


def test_after_a_coup_fourre_nothing_is_taken_from_the_discard_pile():
    assert "cannot-take-discard" in rush("Ann accident > Bob; Bob driving-ace !").against("Bob take")


def test_either_partner_claims_and_the_seats_go_on_from_there():
    attacked = rush("Ann accident > Blues", PAIRS)

    assert attacked.then("Dee driving-ace !; Dee 100").turn == "Ann"
    assert attacked.then("Bob driving-ace !; Bob 100").turn == "Cid"
    assert attacked.against("Cid driving-ace !") == ["no-attack-to-answer"]


@pytest.mark.parametrize("closing", ["Bob 50", "Bob discard 50", "Bob skip-draw", "Bob control stop > Ann"])
def test_the_next_card_drawn_or_played_closes_the_window(closing):
    attacked = rush("Ann accident > Cid", THREE)

    assert attacked.then(closing).against("Cid driving-ace !") == ["coup-fourre-window-closed"]


def test_right_of_way_at_once_clears_stop_and_limit():
    both = rush("Ann speed-limit > Bob; Bob 50; Ann stop > Bob; Bob right-of-way !")

    assert both.against("Bob 200") == []


# The end of the race


def test_safeties_count_100_km_and_a_coup_fourre_200_in_all():
    played = rush("Ann accident > Bob; Bob driving-ace !; Bob car-pool; Bob 100")

    assert played.table.race_km(played.side("Bob")) == 400


def test_a_safety_completes_the_race():
    own, at_once = (
        rush("Ann driving-ace; Ann car-pool", target=200),
        rush("Ann stop > Bob; Bob right-of-way !", target=200),
    )

    assert (own.result.by, at_once.result.by) == ("Ann", "Bob")


def test_short_of_the_target_the_race_goes_on():
    assert not rush("Ann driving-ace; Ann 75", target=200).table.is_over


def test_the_sheet_holds_km_safeties_and_coups_fourres_and_no_bonus():
    won = rush("Ann accident > Bob; Bob driving-ace !; Bob car-pool; Bob 100*2; Ann 50; Bob 200*2", target=700)

    assert won.points("Bob") == {"distance": 600, "safeties": 200, "coups-fourres": 100}
    assert won.points("Ann") == {"distance": 50}
    assert (won.result.match, won.result.winner) == ({"Ann": 50, "Bob": 900}, "Bob")


# U-turn


def test_a_u_turn_sends_a_distance_card_back_to_its_players_hand():
    turned = rush("Ann 100; Bob u-turn !")

    assert (turned.side("Ann").km, turned.table.hands, turned.turn) == (0, (7, 5), "Bob")
    assert turned.table.discards == (Card.U_TURN,)


def test_after_a_u_turn_the_next_refill_draws_nothing_for_the_card():
    turned = rush("Ann 100; Bob u-turn !; Bob 50")

    assert (turned.cards_of("Bob"), turned.table.draw_pile) == (6, 91)
    assert (turned.then("Ann 100").cards_of("Ann"), turned.then("Ann 100").table.draw_pile) == (6, 91)


def test_a_u_turn_on_a_doubled_card_loses_the_accelerator():
    turned = rush("Ann 100*2; Bob u-turn !")

    assert (turned.side("Ann").km, turned.cards_of("Ann")) == (0, 6)
    assert sorted(turned.table.discards) == ["accelerator", "u-turn"]
    assert turned.then("Bob 50; Ann 100").table.draw_pile == 90


def test_any_opponent_may_turn_back_and_the_turn_order_goes_on():
    turned = rush("Ann 100; Cid u-turn !", THREE)

    assert turned.turn == "Bob"
    assert turned.cards_of("Cid") == 5


@pytest.mark.parametrize(
    "before", ["", "Ann stop > Bob", "Ann driving-ace", "Ann discard 100", "Ann 100; Bob 100; Cid discard 50"]
)
def test_without_an_opponents_distance_card_there_is_nothing_to_turn_back(before):
    assert rush(before, THREE).against("Cid u-turn !") == ["nothing-to-turn-back"]


@pytest.mark.parametrize("closing", ["Bob discard 50", "Bob stop > Ann", "Bob skip-draw", "Bob driving-ace"])
def test_after_the_next_draw_or_play_nothing_is_turned_back(closing):
    assert rush(f"Ann 100; {closing}", THREE).against("Cid u-turn !") == ["nothing-to-turn-back"]


def test_nobody_turns_his_own_sides_card_back():
    assert rush("Ann 100", PAIRS).against("Cid u-turn !") == ["nothing-to-turn-back"]
    assert rush("Ann 100", PAIRS).against("Dee u-turn !") == []


def test_a_card_is_turned_back_once():
    assert rush("Ann 100; Bob u-turn !", THREE).against("Cid u-turn !") == ["nothing-to-turn-back"]


def test_a_u_turn_is_an_answer_and_not_a_turn():
    assert rush("Ann 100").against("Bob u-turn") == ["nothing-to-turn-back"]


def test_the_winning_card_may_be_turned_back():
    text = "edition rush\nside Ann\nside Bob\ntarget 200\nhand first Ann\nAnn 200\nBob u-turn !\nBob 50\n"

    assert verdicts(text) == ["legal"] * 3
    assert [(result.how.value, result.sheets["Ann"].total) for result in results(text)] == [("open", 0)]


def test_a_winning_card_that_nobody_turns_back_wins():
    text = "edition rush\nside Ann\nside Bob\ntarget 200\nhand first Ann\nAnn 200\n"

    assert [(result.how.value, result.by) for result in results(text)] == [("completed", "Ann")]
    assert results(f"{text}Bob 50\n")[0].how == "completed"
    assert verdicts(f"{text}Bob 50\n") == ["legal", "illegal"]


def test_the_winning_card_stands_where_the_house_says_so():
    won = rush("Ann 200", target=200, options=["u-turn-on-winning-card=forbidden"])

    assert won.table.is_over
    assert won.against("Bob u-turn !") != []


def test_a_winning_safety_is_no_card_to_turn_back():
    assert rush("Ann driving-ace; Ann car-pool", target=200).against("Bob u-turn !") != []


# Mirror


def test_a_mirror_throws_the_attack_back_on_the_attacker():
    mirrored = rush("Ann accident > Cid; Cid mirror !", THREE)

    assert (mirrored.side("Ann").hazard, mirrored.side("Cid").hazard) == (Card.ACCIDENT, None)
    assert (mirrored.turn, mirrored.cards_of("Cid"), mirrored.table.discards) == ("Bob", 5, (Card.MIRROR,))


def test_a_mirrored_limit_limits_the_attacker():
    mirrored = rush("Ann speed-limit > Bob; Bob mirror !; Bob 200")

    assert mirrored.against("Ann 75") == ["speed-limit"]


def test_a_mirror_is_mirrored_once_and_not_twice():
    twice = rush("Ann accident > Bob; Bob mirror !; Ann mirror !")

    assert (twice.side("Ann").hazard, twice.side("Bob").hazard) == (None, Card.ACCIDENT)
    assert twice.turn == "Bob"
    assert twice.against("Bob mirror !") == ["no-attack-to-answer"]


def test_whoever_ends_up_with_the_attack_may_still_answer_it():
    once = rush("Ann accident > Bob; Bob mirror !")
    twice = once.then("Ann mirror !")

    assert once.against("Ann driving-ace !") == once.against("Ann repairs !") == []
    assert twice.against("Bob driving-ace !") == twice.against("Bob repairs !") == []
    assert once.against("Bob driving-ace !") == twice.against("Ann driving-ace !") == ["no-attack-to-answer"]


def test_the_turn_after_a_coup_fourre_against_a_mirror_is_the_claimers():
    claimed = rush("Ann accident > Cid; Cid mirror !; Ann driving-ace !", THREE)

    assert claimed.turn == "Ann"
    assert claimed.then("Ann 100").turn == "Bob"


def test_a_mirror_is_refused_when_the_attacker_is_immune_or_under_a_hazard_of_that_pile():
    immune = rush("Ann driving-ace; Ann accident > Bob")
    attacked = rush("Ann 50; Bob pollution > Ann; Ann accident > Bob")
    limited = rush("Ann 50; Bob speed-limit > Ann; Ann speed-limit > Bob")

    assert immune.against("Bob mirror !") == ["protected"]
    assert attacked.against("Bob mirror !") == ["already-attacked"]
    assert limited.against("Bob mirror !") == ["already-limited"]


def test_a_hazard_of_the_other_pile_does_not_hinder_a_mirror():
    assert rush("Ann 50; Bob pollution > Ann; Ann speed-limit > Bob").against("Bob mirror !") == []
    assert rush("Ann 50; Bob speed-limit > Ann; Ann accident > Bob").against("Bob mirror !") == []


def test_a_mirror_needs_an_attack_right_before():
    attacked = rush("Ann accident > Cid", THREE)

    assert rush("Ann 100").against("Bob mirror !") == ["no-attack-to-answer"]
    assert attacked.against("Bob mirror !") == ["no-attack-to-answer"]
    assert attacked.then("Bob 50").against("Cid mirror !") != []
    assert rush("Ann accident > Bob").against("Bob mirror") == ["no-attack-to-answer"]


# Theft


def test_theft_takes_a_distance_card_from_an_opponents_table_and_it_may_be_laid_at_once():
    stolen = rush("Ann 100; Bob theft 100 > Ann", THREE)

    assert (stolen.side("Ann").km, stolen.cards_of("Bob"), stolen.turn) == (0, 7, "Cid")
    assert stolen.against("Bob 100") == []
    assert (stolen.then("Bob 100").side("Bob").km, stolen.then("Bob 100").turn) == (100, "Cid")
    assert stolen.then("Bob 100").cards_of("Bob") == 6


def test_a_stolen_card_that_is_not_laid_at_once_goes_to_the_hand():
    kept = rush("Ann 100; Bob theft 100 > Ann; Cid 50", THREE)

    assert kept.cards_of("Bob") == 7
    assert kept.against("Bob 100") == ["not-your-turn"]


def test_only_the_stolen_card_is_laid_after_the_theft():
    stolen = rush("Ann 100; Bob theft 100 > Ann", THREE)

    assert "not-your-turn" in stolen.against("Bob 50")
    assert "not-your-turn" in stolen.against("Bob stop > Ann")


def test_who_is_under_attack_steals_but_does_not_lay():
    attacked = rush("Ann 100; Bob 100; Ann accident > Bob; Bob theft 100 > Ann")
    limited = rush("Ann 100; Bob 100; Ann speed-limit > Bob; Bob theft 100 > Ann")

    assert attacked.against("Bob 100") == ["under-hazard"]
    assert limited.against("Bob 100") == ["speed-limit"]


def test_a_doubled_card_is_stolen_with_its_accelerator():
    stolen = rush("Ann 100*2; Bob theft 100 > Ann")

    assert (stolen.side("Ann").km, stolen.cards_of("Bob")) == (0, 8)
    assert (stolen.then("Bob 100*2").side("Bob").km, stolen.then("Bob 100*2").cards_of("Bob")) == (200, 6)
    assert (stolen.then("Bob 100").side("Bob").km, stolen.then("Bob 100").cards_of("Bob")) == (100, 7)


def test_of_two_like_cards_the_doubled_one_is_named():
    both = rush("Ann 100*2; Bob 50; Ann 100; Bob 50; Ann 50")

    assert both.then("Bob theft 100 > Ann").side("Ann").km == 250
    assert both.then("Bob theft 100*2 > Ann").side("Ann").km == 150


def test_a_plain_stolen_card_is_doubled_only_with_an_accelerator_of_ones_own():
    stolen = rush("Ann 100; Bob theft 100 > Ann; Bob 100*2")

    assert (stolen.side("Bob").km, stolen.cards_of("Bob")) == (200, 5)


def test_what_does_not_lie_there_is_not_stolen():
    assert rush("Ann 100").against("Bob theft 200 > Ann") == ["no-such-card-there"]
    assert rush("Ann 100").against("Bob theft 100*2 > Ann") == ["no-such-card-there"]
    assert rush("Ann 100; Bob u-turn !").against("Bob theft 100 > Ann") == ["no-such-card-there"]


def test_nobody_steals_from_his_own_side_or_out_of_turn():
    assert rush("Ann 100; Bob 50", PAIRS).against("Cid theft 100 > Ann") == ["own-side"]
    assert rush("Ann 100", THREE).against("Cid theft 100 > Ann") == ["not-your-turn"]


def test_a_stolen_card_can_win_the_race():
    won = rush("Ann 100; Bob 100; Ann 50; Bob theft 100 > Ann; Bob 100", target=200)

    assert (won.result.by, won.result.sheets["Ann"].total) == ("Bob", 50)


# Control


def test_a_card_that_is_asked_for_is_handed_over_and_laid_at_once():
    asked = rush("Ann control stop > Cid; Cid give stop > Ann", THREE)

    assert asked.table.hands == (7, 6, 5)
    assert asked.then("Ann stop > Bob").side("Bob").hazard is Card.STOP
    assert asked.then("Ann stop > Bob").turn == "Bob"
    assert asked.then("Ann stop > Bob").cards_of("Ann") == 6


def test_a_handed_card_that_is_not_laid_at_once_went_to_the_hand():
    kept = rush("Ann control 50 > Cid; Cid give 50 > Ann; Bob 75", THREE)

    assert kept.cards_of("Ann") == 7
    assert kept.against("Ann 50") == ["not-your-turn"]


def test_a_handed_card_that_cannot_be_laid_is_discarded_and_no_other():
    useless = rush("Ann control repairs > Bob; Bob give repairs > Ann")
    useful = rush("Ann control 50 > Bob; Bob give 50 > Ann")

    assert useless.against("Ann discard repairs") == []
    assert useful.against("Ann discard 50") == ["must-play-it"]
    assert useful.against("Ann 50") == []


@pytest.mark.parametrize("safety", ["driving-ace", "long-range", "car-pool", "right-of-way"])
def test_a_safety_is_not_asked_for(safety):
    assert rush().against(f"Ann control {safety} > Bob") == ["safety-demanded"]


def test_an_opponent_is_asked_on_the_own_turn():
    assert rush(players=PAIRS).against("Ann control stop > Cid") == ["own-side"]
    assert rush(players=PAIRS).against("Ann control stop > Dee") == []
    assert rush().against("Bob control stop > Ann") == ["not-your-turn"]


def test_one_request_lies_beside_a_player_at_a_time():
    asked = rush("Ann control stop > Cid", THREE)

    assert asked.against("Bob control roll > Cid") == ["request-pending"]
    assert asked.against("Bob control roll > Ann") == []


def test_a_request_stays_until_the_card_is_drawn_and_handed_over():
    asked = rush("Ann control stop > Cid; Bob 50; Cid 50; Ann 50; Bob 50; Cid give stop > Ann", THREE)

    assert asked.cards_of("Cid") == 6
    assert asked.then("Ann stop > Bob").turn == "Ann"
    assert asked.against("Ann stop > Cid") == []


def test_a_request_that_was_met_is_gone():
    met = rush("Ann control stop > Cid; Cid give stop > Ann; Ann stop > Bob", THREE)

    assert met.against("Bob control roll > Cid") == []
    assert "no-such-card-there" in met.against("Cid give stop > Ann")


def test_nobody_gives_what_nobody_has_asked_for():
    assert rush().against("Ann give stop > Bob") == ["no-such-card-there"]
    assert "no-such-card-there" in rush("Ann control stop > Bob").against("Bob give roll > Ann")


def test_a_card_that_is_asked_for_is_neither_laid_nor_discarded():
    asked = rush("Ann control stop > Bob")

    assert asked.against("Bob stop > Ann") == ["request-pending"]
    assert asked.against("Bob discard stop") == ["request-pending"]
    assert asked.against("Bob 50") == asked.against("Bob discard roll") == []


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        ("repairs", ["Bob repairs !", "Bob repairs"]),
        ("mirror", ["Bob mirror !"]),
        ("accelerator", ["Bob 100*2", "Bob discard accelerator"]),
        ("100", ["Bob 100", "Bob 100*2", "Bob pair 100 for 75"]),
        ("theft", ["Bob theft 75 > Ann"]),
        ("control", ["Bob control stop > Ann"]),
    ],
)
def test_who_holds_a_card_that_is_asked_for_uses_it_in_no_way(asked, lines):
    owing = rush(f"Ann control {asked} > Bob; Bob discard 75; Ann 75; Bob discard 75; Ann accident > Bob")

    assert [line for line in lines if "request-pending" not in owing.against(line)] == []
    assert owing.against(f"Bob give {asked} > Ann") == []


def test_a_handed_special_is_used_as_any_card():
    accelerator = rush("Ann control accelerator > Bob; Bob give accelerator > Ann")
    theft = rush("Ann control theft > Bob; Bob 50; Ann 75; Bob give theft > Ann")

    # Nobody sees whether there is a distance card for the accelerator.
    assert accelerator.against("Ann 100*2") == accelerator.against("Ann discard accelerator") == []
    assert theft.against("Ann theft 50 > Bob") == []


def test_a_handed_answer_answers_nothing_and_is_discarded():
    handed = rush("Ann control mirror > Bob; Bob give mirror > Ann")

    assert handed.against("Ann mirror !") == ["no-attack-to-answer"]
    assert handed.against("Ann discard mirror") == []


def test_a_handed_hazard_can_be_answered_like_any_other():
    attacked = rush("Ann control stop > Bob; Bob give stop > Ann; Ann stop > Cid", THREE)

    assert attacked.against("Cid mirror !") == attacked.against("Cid right-of-way !") == []
    assert attacked.against("Cid roll !") == []


def test_a_stolen_or_handed_distance_card_can_be_turned_back():
    stolen = rush("Ann 100; Bob theft 100 > Ann; Bob 100", THREE)
    handed = rush("Ann control 100 > Bob; Bob give 100 > Ann; Ann 100", THREE)

    assert stolen.then("Cid u-turn !").cards_of("Bob") == 7
    assert handed.then("Cid u-turn !").cards_of("Ann") == 7


def test_who_draws_the_card_himself_may_name_another():
    named = rush("Ann control stop > Bob; Bob 50; Ann name roll > Bob")

    assert named.turn == "Ann"
    assert named.then("Ann 50").against("Bob give roll > Ann") == []
    assert "no-such-card-there" in named.then("Ann 50").against("Bob give stop > Ann")


def test_no_other_card_is_named_without_an_own_request_or_for_a_safety():
    asked = rush("Ann control stop > Cid; Bob 50", THREE)

    assert asked.then("Cid 50").against("Ann name roll > Bob") != []
    assert asked.then("Cid 50; Ann 50").against("Bob name roll > Cid") != []
    assert "safety-demanded" in asked.then("Cid 50").against("Ann name car-pool > Cid")


# The penalty


def test_a_mistake_costs_a_card():
    punished = rush("Ann 100; Ann penalty 50")

    assert (punished.cards_of("Ann"), punished.table.discards, punished.turn) == (5, (Card.KM_50,), "Bob")


def test_without_the_penalty_nobody_loses_a_card():
    assert rush(options=["mistake-penalty=no"]).against("Ann penalty 50") == ["no-penalty"]
    assert hand().against("Ann penalty 50") == ["no-penalty"]


# Specials in other games


@pytest.mark.parametrize("line", ["theft 100 > Bob", "control stop > Bob", "mirror !", "u-turn !", "accelerator"])
def test_specials_are_unknown_in_other_games(line):
    assert hand("Ann roll; Bob roll").against(f"Ann {line}") == ["unknown-card"]


def test_nothing_is_given_or_named_in_other_games():
    assert hand().against("Ann give stop > Bob") == hand().against("Ann name stop > Bob") == ["no-such-card-there"]

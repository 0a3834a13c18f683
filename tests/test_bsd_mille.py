"""The manual page of the Unix game mille, row by row: what each row allows, and what it refuses."""

from __future__ import annotations

import pytest
from records import PAIRS, SIX, THREE, TWO, Hand, hand, header, record, results, run_down, teams

from companion.rules import referee
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card
from companion.rules.editions.edition import EditionError, load_edition
from companion.rules.record.judge import JudgedLine

BATTLE_HAZARDS = [Card.ACCIDENT, Card.OUT_OF_GAS, Card.FLAT_TIRE, Card.STOP]
OTHER_BATTLE_HAZARDS = BATTLE_HAZARDS[:3]
TO_600 = "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25"
KEPT = "25 50 75 25 50 75 25 50"
"""With the four safeties, the twelve cards of the two hands when the draw pile has run out."""


def mille(plays: str = "", players: str = TWO, **more) -> Hand:
    return hand(plays, players, edition="bsd-mille", **more)


# Setting up


def test_two_play_with_101_cards_to_700_miles():
    table = mille().table

    assert (sum(table.deck.values()), table.draw_pile, table.hands, table.target) == (101, 89, (6, 6), 700)


def test_five_hazards_are_fewer_than_in_the_classic_deck():
    ours, classic = load_edition("bsd-mille").deck, load_edition("classic").deck

    assert {card.value: ours[card] for card in classic if ours[card] != classic[card]} == {
        "accident": 2,
        "out-of-gas": 2,
        "flat-tire": 2,
        "stop": 4,
        "speed-limit": 3,
    }


def test_five_hazards_are_not_taken_out_a_second_time():
    edition = load_edition("bsd-mille")

    with pytest.raises(EditionError, match=r"not played with five-hazards-removed=yes: .*taken out already"):
        edition.with_options([("five-hazards-removed", "yes")])
    assert edition.with_options([("five-hazards-removed", "no")]).deck_for(2) == edition.deck


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_record_that_takes_five_hazards_out_again_is_told_so(order):
    head = [("edition bsd-mille", "option five-hazards-removed=yes")[line] for line in order]
    first, *_ = record("\n".join([*head, "side Ann", "side Bob", "hand first Ann", "Ann roll"]))

    assert isinstance(first, JudgedLine)
    assert (first.line.number, first.verdict) == (2, "unreadable")
    assert "is not played with five-hazards-removed=yes" in first.unreadable


@pytest.mark.parametrize("players", ["Ann", THREE, PAIRS, SIX, "Reds = Ann Bob"])
def test_it_is_a_game_for_two(players):
    with pytest.raises(EditionError, match="played by 2 alone"):
        referee.check_seating(load_edition("bsd-mille"), teams(players))


def test_a_third_accident_is_one_too_many():
    two = mille("Ann discard accident; Bob discard accident")

    assert two.against("Ann discard accident") == ["too-many-copies"]
    assert mille("Ann discard accident").against("Bob discard accident") == []


# A turn


def test_a_turn_draws_one_card_and_plays_one():
    played = mille("Ann roll; Bob discard 25; Ann 100")

    assert (played.table.draw_pile, played.table.hands, played.turn) == (86, (6, 6), "Bob")


def test_discards_are_dead():
    assert mille("Ann discard 100").against("Bob take") == ["cannot-take-discard"]


@pytest.mark.parametrize("safety", sorted(set(SAFETY_OF.values()) - {Card.LONG_RANGE, Card.CAR_POOL}))
def test_a_safety_is_never_discarded(safety):
    assert mille().against(f"Ann discard {safety}") == ["safety-discard"]


@pytest.mark.parametrize("slug", ["25", "roll", "stop", "repairs"])
def test_any_other_card_may_be_discarded(slug):
    assert mille().against(f"Ann discard {slug}") == []


def test_a_forgotten_draw_is_not_made_up_for():
    forgot = mille("Ann skip-draw; Ann roll; Bob roll; Ann 25")

    assert (forgot.cards_of("Ann"), forgot.table.draw_pile) == (5, 87)


def test_nothing_is_exchanged_fetched_or_lost_by_a_mistake():
    assert mille().against("Ann exchange 25") == ["no-exchange"]
    assert mille("Ann discard 100").against("Bob pair 50 for 100") == ["cannot-take-discard"]
    assert mille().against("Ann penalty 50") == ["no-penalty"]


def test_nothing_is_remarked_about_a_discard():
    assert referee.remarks(mille().table, mille().parsed("Ann discard 25")) == ()


def test_nobody_passes():
    assert mille().against("Ann pass") == ["no-passing"]


# To drive at first, and rolls


def test_a_roll_or_right_of_way_starts_the_car():
    assert mille().against("Ann 100") == ["not-driving"]
    assert mille("Ann roll; Bob roll").against("Ann 100") == []
    assert mille("Ann right-of-way").against("Ann 100") == []


def test_any_card_may_be_the_first():
    assert mille().against("Ann speed-limit > Bob") == mille().against("Ann driving-ace") == []


def test_a_roll_is_laid_on_an_empty_pile_a_stop_or_a_remedy_and_not_on_a_roll():
    assert mille().against("Ann roll") == []
    assert mille("Ann roll; Bob stop > Ann").against("Ann roll") == []
    assert mille("Ann roll; Bob accident > Ann; Ann repairs; Bob roll").against("Ann roll") == []
    assert mille("Ann roll; Bob roll").against("Ann roll") == ["already-rolling"]


@pytest.mark.parametrize("hazard", OTHER_BATTLE_HAZARDS)
def test_a_roll_on_another_hazard_is_refused(hazard):
    assert mille(f"Ann roll; Bob {hazard} > Ann").against("Ann roll") == ["under-hazard"]


def test_a_roll_on_an_empty_pile_is_allowed_although_right_of_way_is_out():
    assert mille("Ann right-of-way").against("Ann roll") == []


def test_a_roll_on_a_remedy_is_allowed_although_right_of_way_is_out():
    remedied = mille("Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs; Bob roll")

    assert remedied.against("Ann roll") == []


# Remedies


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_remedy_lies_on_its_own_hazard_alone(hazard):
    other = Card.FLAT_TIRE if hazard is Card.ACCIDENT else Card.ACCIDENT
    attacked = mille(f"Ann roll; Bob {hazard} > Ann")

    assert attacked.against(f"Ann {REMEDY_OF[hazard]}") == []
    assert attacked.against(f"Ann {REMEDY_OF[other]}") == ["nothing-to-remedy"]
    assert mille("Ann roll; Bob roll").against(f"Ann {REMEDY_OF[other]}") == ["nothing-to-remedy"]


def test_after_a_remedy_a_roll_is_needed_unless_right_of_way_is_out():
    remedied = mille("Ann roll; Bob accident > Ann; Ann repairs; Bob roll")

    assert remedied.against("Ann 100") == ["not-driving"]
    assert remedied.then("Ann roll; Bob 25").against("Ann 100") == []
    assert remedied.then("Ann right-of-way").against("Ann 100") == []


def test_a_remedy_out_of_turn_is_refused():
    assert mille("Ann roll; Bob accident > Ann").against("Ann repairs !") != []


def test_end_of_limit_lies_on_a_showing_limit_only():
    limited = mille("Ann roll; Bob speed-limit > Ann")

    assert limited.against("Ann end-of-limit") == []
    assert limited.then("Ann end-of-limit; Bob roll").against("Ann end-of-limit") == ["not-limited"]


# Hazards


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_hazard_is_laid_on_a_roll(hazard):
    assert mille("Ann roll").against(f"Bob {hazard} > Ann") == []


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_an_opponent_who_has_not_started_is_not_attacked(hazard):
    assert mille("Ann discard 25").against(f"Bob {hazard} > Ann") == ["opponent-not-driving"]


def test_an_opponent_under_a_hazard_is_not_attacked_again():
    attacked = mille("Ann roll; Bob accident > Ann; Ann discard 25")

    assert attacked.against("Bob flat-tire > Ann") == ["already-attacked"]


def test_an_opponent_who_has_remedied_but_not_rolled_is_not_attacked():
    remedied = mille("Ann roll; Bob accident > Ann; Ann repairs")

    assert remedied.against("Bob flat-tire > Ann") == ["opponent-not-driving"]
    assert remedied.then("Bob roll; Ann roll").against("Bob flat-tire > Ann") == []


def test_with_right_of_way_out_a_remedied_opponent_is_attacked_at_once():
    remedied = mille("Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs")

    assert remedied.against("Bob flat-tire > Ann") == []


def test_with_right_of_way_out_an_empty_battle_pile_is_attacked():
    started = mille("Ann right-of-way; Ann 25")

    assert started.against("Bob flat-tire > Ann") == []
    assert started.against("Bob stop > Ann") == ["protected"]


@pytest.mark.parametrize("hazard", [*BATTLE_HAZARDS, Card.SPEED_LIMIT])
def test_a_safety_shuts_its_hazards_out(hazard):
    safe = mille(f"Ann roll; Bob roll; Ann {SAFETY_OF[hazard]}; Ann 25")

    assert safe.against(f"Bob {hazard} > Ann") == ["protected"]


def test_a_speed_limit_is_laid_even_before_the_opponent_has_started():
    assert mille().against("Ann speed-limit > Bob") == []


def test_a_speed_limit_may_join_another_hazard_but_not_another_limit():
    attacked = mille("Ann roll; Bob accident > Ann; Ann discard 25")

    assert attacked.against("Bob speed-limit > Ann") == []
    assert attacked.then("Bob speed-limit > Ann; Ann discard 25").against("Bob speed-limit > Ann") == [
        "already-limited"
    ]


# Distance


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_no_distance_is_driven_under_a_hazard(hazard):
    assert mille(f"Ann roll; Bob {hazard} > Ann").against("Ann 25") == ["under-hazard"]


def test_under_a_speed_limit_only_25_and_50_are_driven():
    limited = mille("Ann roll; Bob speed-limit > Ann")

    assert limited.against("Ann 25") == limited.against("Ann 50") == []
    assert [limited.against(f"Ann {miles}") for miles in (75, 100, 200)] == [["speed-limit"]] * 3


def test_no_more_than_two_200s_are_laid_in_a_hand():
    two = mille("Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25")

    assert two.against("Ann 200") == ["third-200"]
    assert two.against("Ann 100") == []


def test_700_miles_are_reached_exactly():
    near = mille(f"{TO_600}; Ann 75; Bob 25")

    assert near.against("Ann 50") == ["past-target"]
    assert near.against("Ann 25") == []


def test_a_card_laid_past_700_by_mistake_stays():
    near = mille(f"{TO_600}; Ann 75; Bob 25")

    assert near.then("Ann 50", as_lies=True).side("Ann").km == 725


# Safeties


def test_a_safety_draws_a_card_and_the_turn_goes_on():
    played = mille("Ann driving-ace; Ann extra-tank; Ann roll")

    assert (played.turn, played.cards_of("Ann"), played.table.draw_pile) == ("Bob", 6, 86)


@pytest.mark.parametrize("hazard", OTHER_BATTLE_HAZARDS)
def test_a_late_safety_takes_its_hazard_away_and_the_pile_shows_a_roll(hazard):
    late = mille(f"Ann roll; Bob {hazard} > Ann; Ann discard 25; Bob discard 25; Ann {SAFETY_OF[hazard]}")

    assert late.side("Ann").battle_top is Card.ROLL
    assert late.table.discards[-1] is hazard
    assert late.against("Ann 100") == []
    assert late.against("Ann roll") == ["already-rolling"]


def test_a_late_safety_over_a_remedied_pile_shows_a_roll_that_is_not_one_of_the_fourteen():
    played = "Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs; Bob flat-tire > Ann; Ann puncture-proof"
    late = mille(played)

    assert late.side("Ann").battle_top is Card.ROLL
    assert late.table.copies_left(Card.ROLL) == 13
    assert late.against("Ann roll") == ["already-rolling"]


def test_a_safety_for_another_hazard_leaves_the_pile_as_it_is():
    attacked = mille("Ann roll; Bob accident > Ann; Ann extra-tank")

    assert attacked.side("Ann").battle_top is Card.ACCIDENT
    assert attacked.against("Ann 25") == ["under-hazard"]


def test_a_stop_taken_away_by_right_of_way_leaves_the_battle_pile_empty():
    late = mille("Ann roll; Bob stop > Ann; Ann discard 25; Bob discard 25; Ann right-of-way")

    assert late.side("Ann").battle_top is None
    assert late.against("Ann 100") == late.against("Ann roll") == []
    assert late.then("Ann 100").against("Bob accident > Ann") == []


def test_a_limit_taken_away_by_right_of_way_makes_an_empty_pile_show_a_roll():
    late = mille("Ann discard 25; Bob speed-limit > Ann; Ann discard 25; Bob discard 25; Ann right-of-way")

    assert late.side("Ann").battle_top is Card.ROLL
    assert late.side("Ann").speed_top is None
    assert late.against("Ann roll") == ["already-rolling"]
    assert late.against("Ann 200") == []


def test_a_limit_taken_away_by_right_of_way_makes_a_remedied_pile_show_a_roll():
    remedied = "Ann roll; Bob accident > Ann; Ann repairs; Bob speed-limit > Ann; Ann discard 25; Bob discard 25"
    late = mille(f"{remedied}; Ann right-of-way")

    assert late.side("Ann").battle_top is Card.ROLL
    assert late.against("Ann roll") == ["already-rolling"]


def test_right_of_way_on_a_remedied_pile_without_a_limit_leaves_it():
    remedied = mille("Ann roll; Bob accident > Ann; Ann repairs; Bob discard 25; Ann right-of-way")

    assert remedied.side("Ann").battle_top is Card.REPAIRS
    assert remedied.against("Ann 100") == remedied.against("Ann roll") == []


def test_right_of_way_leaves_an_accident_but_takes_the_limit_away():
    attacked = "Ann roll; Bob speed-limit > Ann; Ann 25; Bob accident > Ann; Ann discard 25; Bob discard 25"
    late = mille(f"{attacked}; Ann right-of-way")

    assert late.side("Ann").battle_top is Card.ACCIDENT
    assert late.against("Ann 25") == ["under-hazard"]
    assert late.against("Ann end-of-limit") == ["not-limited"]


@pytest.mark.parametrize("when", ["Ann right-of-way !", "Ann discard 25; Bob discard 25; Ann right-of-way"])
def test_right_of_way_takes_a_stop_and_a_limit_away_and_the_pile_is_empty(when):
    free = mille(f"Ann roll; Bob speed-limit > Ann; Ann 25; Bob stop > Ann; {when}")

    assert (free.side("Ann").battle_top, free.side("Ann").speed_top) == (None, None)
    assert free.against("Ann 200") == free.against("Ann roll") == []
    assert free.against("Ann end-of-limit") == ["not-limited"]


# Coup fourré


@pytest.mark.parametrize("hazard", [*BATTLE_HAZARDS, Card.SPEED_LIMIT])
def test_a_safety_at_once_answers_its_hazard(hazard):
    attacked = mille(f"Ann roll; Bob {hazard} > Ann")
    other = Card.PUNCTURE_PROOF if hazard is Card.ACCIDENT else Card.DRIVING_ACE

    assert attacked.against(f"Ann {SAFETY_OF[hazard]} !") == []
    assert attacked.against(f"Ann {other} !") == ["no-attack-to-answer"]


@pytest.mark.parametrize("hazard", OTHER_BATTLE_HAZARDS)
def test_a_coup_fourre_throws_the_hazard_out_and_the_pile_shows_a_roll(hazard):
    claimed = mille(f"Ann roll; Bob {hazard} > Ann; Ann {SAFETY_OF[hazard]} !")

    assert (claimed.side("Ann").battle_top, claimed.table.discards) == (Card.ROLL, (hazard,))
    assert claimed.against("Ann 100") == []


def test_a_coup_fourre_on_a_remedied_pile_shows_a_roll_too():
    played = "Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs; Bob flat-tire > Ann; Ann puncture-proof !"

    assert mille(played).against("Ann roll") == ["already-rolling"]


def test_a_pile_that_counts_as_empty_does_so_again_when_a_remedy_at_once_is_thrown_out_with_its_hazard():
    throwing = ["fast-remedy=yes", "pile-after-remedy=card-beneath"]
    empty = mille("Ann roll; Bob stop > Ann; Ann right-of-way !; Ann 25", options=throwing)

    assert empty.then("Bob accident > Ann; Ann repairs !").side("Ann").battle_top is None


def test_a_coup_fourre_is_possible_until_the_attacked_side_draws():
    attacked = mille("Ann roll; Bob stop > Ann")

    assert attacked.against("Ann right-of-way !") == []
    assert attacked.then("Ann driving-ace").against("Ann right-of-way !") == ["coup-fourre-window-closed"]
    assert attacked.then("Ann discard 25; Bob discard 25").against("Ann right-of-way !") == [
        "coup-fourre-window-closed"
    ]


def test_right_of_way_against_an_old_limit_is_no_coup_fourre_although_another_hazard_is_new():
    attacked = mille("Ann roll; Bob speed-limit > Ann; Ann 25; Bob accident > Ann")

    assert attacked.against("Ann right-of-way !") == ["coup-fourre-window-closed"]
    assert attacked.against("Ann driving-ace !") == []


def test_the_attacker_cannot_claim():
    assert mille("Ann roll; Bob stop > Ann").against("Bob right-of-way !") == ["no-attack-to-answer"]


def test_a_coup_fourre_draws_two_cards_and_has_a_whole_turn():
    claimed = mille("Ann roll; Bob stop > Ann; Ann right-of-way !")

    assert (claimed.turn, claimed.cards_of("Ann"), claimed.table.draw_pile) == ("Ann", 6, 86)
    assert (claimed.then("Ann 25").turn, claimed.then("Ann 25").table.draw_pile) == ("Bob", 85)
    assert claimed.then("Ann 25").cards_of("Ann") == 6


def test_right_of_way_at_once_answers_a_limit_and_clears_a_stop_too():
    both = mille("Ann roll; Bob stop > Ann; Ann discard 25; Bob speed-limit > Ann; Ann right-of-way !")

    assert both.side("Ann").coups_fourres == (Card.RIGHT_OF_WAY,)
    assert both.against("Ann 200") == []


def test_with_the_draw_pile_empty_a_coup_fourre_still_counts():
    attacked = run_down(mille(first="Bob"), "roll stop 25 25 25 25 50 50").then("Ann roll; Bob stop > Ann")

    assert attacked.against("Ann right-of-way !") == []
    assert attacked.then("Ann right-of-way !").side("Ann").coups_fourres == (Card.RIGHT_OF_WAY,)


def test_with_the_draw_pile_empty_a_late_safety_is_no_coup_fourre():
    attacked = run_down(mille(first="Bob"), "roll stop 25 25 25 25 50 50").then("Ann roll; Bob stop > Ann")
    late = attacked.then("Ann discard 25; Bob discard 25")

    assert late.against("Ann right-of-way !") == ["coup-fourre-window-closed"]
    assert late.then("Ann right-of-way").side("Ann").coups_fourres == ()


# The end of a hand


def test_at_700_miles_the_extension_is_offered():
    reached = mille(f"{TO_600}; Ann 100")

    assert reached.against("Ann extend") == reached.against("Ann finish") == []
    assert reached.against("Bob 25") == ["hand-over"]
    assert reached.then("Ann extend").table.target == 1000
    assert mille(TO_600).against("Ann extend") == ["extension-not-offered"]


def test_with_the_draw_pile_empty_play_goes_on_without_drawing():
    played = run_down(mille(first="Bob"), "roll 25 50 75 25 50 75 25").then("Ann discard 25; Bob roll; Ann discard 50")

    assert played.table.hands == (4, 5)
    assert played.against("Bob 25") == []


def test_the_hand_ends_when_neither_side_can_play():
    stuck = run_down(mille(), KEPT).then("Bob discard 25; Ann discard 25; end")

    assert (stuck.result.how, stuck.result.by) == ("exhausted", None)


def test_the_hand_ends_by_itself_when_both_hands_are_empty():
    played = run_down(mille(), KEPT).then("Bob driving-ace; Bob extra-tank; Bob discard 25")
    played = played.then("Ann puncture-proof; Ann right-of-way; Ann discard 50")

    done = played.then("Bob discard 75; Ann discard 25; Bob discard 50; Ann discard 75; Bob discard 25; Ann discard 50")

    assert (done.result.how, done.result.by) == ("exhausted", None)
    assert done.against("end") == []


def test_a_side_without_cards_is_passed_over():
    played = run_down(mille(), KEPT).then("Bob driving-ace; Bob extra-tank; Bob discard 25; Ann discard 25")
    shorter = played.then("Bob discard 50; Ann discard 50; Bob discard 75; Ann discard 75; Bob discard 25")

    assert (shorter.table.hands, shorter.turn) == ((3, 0), "Ann")
    assert shorter.then("Ann discard 50").turn == "Ann"


def test_before_the_pile_is_empty_the_end_is_by_agreement():
    assert mille("Ann roll; end").result.how == "agreed"


# Scoring


def test_each_line_of_the_sheet_counts_as_on_the_manual_page():
    attacks = "Bob stop > Ann; Ann right-of-way !; Ann 100; Bob discard 25; Ann 100"
    done = mille(f"Ann roll; {attacks}", target=200)

    assert done.points("Ann") == {
        "distance": 200,
        "safeties": 100,
        "coups-fourres": 300,
        "trip-completed": 400,
        "safe-trip": 300,
        "shut-out": 500,
    }
    assert done.points("Bob") == {"distance": 0}


def test_all_four_safeties_are_300_more():
    all_four = mille("Ann driving-ace; Ann extra-tank; Ann puncture-proof; Ann right-of-way; Ann roll; end")
    three = mille("Ann driving-ace; Ann extra-tank; Ann puncture-proof; Ann roll; end")

    assert all_four.points("Ann") == {"distance": 0, "safeties": 400, "all-safeties": 300}
    assert three.points("Ann") == {"distance": 0, "safeties": 300}


def test_the_extension_is_200_to_whoever_completes():
    extended = f"{TO_600}; Ann 100; Ann extend; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100"

    assert mille(extended).points("Ann")["extension"] == 200
    assert "extension" not in mille(f"{TO_600}; Ann 100; Ann finish").points("Ann")


def test_an_extension_that_nobody_completes_is_lost_for_everybody():
    lost = mille(f"{TO_600}; Ann 100; Ann extend; Bob 25; exhausted; end")

    assert (lost.points("Ann"), lost.points("Bob")) == ({"distance": 700}, {"distance": 125})


@pytest.mark.parametrize(("left", "counts"), [(1, True), (2, False)])
def test_finishing_on_the_turn_of_the_last_card_is_a_delayed_action(left, counts):
    to_100 = "Ann roll; Bob roll; Ann 100; Bob 25"
    forgotten = to_100.replace("Bob 25", "Bob skip-draw; Bob 25")
    near = run_down(mille(to_100 if left == 1 else forgotten, target=200), "100", left=left)

    done = near.then("Ann 100")

    assert done.table.draw_pile == left - 1
    assert ("delayed-action" in done.points("Ann")) is counts


# The match

ANN_2200 = "Ann roll; " + "; ".join(["Bob discard 25; Ann 100"] * 10)
"""1000 miles, trip, safe trip, shut-out."""

BOB_2200 = "Ann discard 25; Bob roll; " + "; ".join(["Ann discard 50; Bob 100"] * 10)
BOTH_600 = (
    "Ann driving-ace; Ann roll; Bob puncture-proof; Bob roll; Ann 200; Bob 200; Ann 200; Bob 200; Ann 100; Bob 100; end"
)


def match_of(*hands: str) -> list:
    *head, first = header(edition="bsd-mille", target=1000)
    return results("\n".join([*head, *(line for played in hands for line in [first, *played.split("; ")])]))


def test_level_at_5000_nobody_wins_and_the_totals_start_again():
    hands = match_of(ANN_2200, BOB_2200, ANN_2200, BOB_2200, BOTH_600, ANN_2200)

    assert (hands[4].match, hands[4].winner) == ({"Ann": 5000, "Bob": 5000}, None)
    assert (hands[5].match, hands[5].winner) == ({"Ann": 2200, "Bob": 0}, None)


def test_level_before_5000_the_totals_run_on():
    hands = match_of(ANN_2200, BOB_2200, ANN_2200)

    assert [result.match for result in hands[1:]] == [{"Ann": 2200, "Bob": 2200}, {"Ann": 4400, "Bob": 2200}]


def test_the_first_with_5000_wins():
    hands = match_of(ANN_2200, ANN_2200, ANN_2200, BOB_2200)

    assert [result.winner for result in hands] == [None, None, "Ann", None]
    assert hands[3].match == {"Ann": 0, "Bob": 2200}

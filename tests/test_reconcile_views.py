"""What is asked about a table seen frame by frame: what lies where is written by hand, view by view."""

from __future__ import annotations

import pytest
from viewed import STEP_S, Viewed, differences, plays, words

from companion.match.questions import Kind
from companion.rules.cards import Card
from companion.tracking.track import MOMENT_S, PUT_RIGHT_S, TURN_S


def test_a_card_that_lies_still_is_proposed_once():
    table = Viewed()
    table.lay("roll-03", "side-1/battle")

    assert plays(table.see(2.0)) == ["Ann roll"]


def test_a_proposal_comes_within_four_frames():
    table = Viewed()
    table.lay("roll-03", "side-1/battle")

    assert plays(table.see(4 * STEP_S)) == ["Ann roll"]


def test_one_sighting_is_no_proposal():
    table = Viewed()
    table.lay("roll-03", "side-1/battle")

    assert table.see(STEP_S) == []


def test_a_hazard_before_somebody_is_an_attack_by_the_player_to_move():
    table = Viewed("Ann roll")
    table.lay("stop-01", "side-1/battle")

    assert plays(table.see()) == ["Bob stop > Ann"]


def test_a_speed_limit_in_the_speed_zone_is_an_attack():
    table = Viewed("Ann roll")
    table.lay("speed-limit-01", "side-1/speed")

    assert plays(table.see()) == ["Bob speed-limit > Ann"]


def test_a_card_on_the_discard_pile_is_discarded_by_the_player_to_move():
    table = Viewed("Ann roll")
    table.lay("25-07", "table/discard")

    assert plays(table.see()) == ["Bob discard 25"]


def test_a_safety_laid_sideways_on_a_fresh_attack_is_a_coup_fourre():
    table = Viewed("Ann roll", "Bob stop > Ann")
    table.lay("right-of-way-01", "side-1/safety", sideways=True)

    assert plays(table.see()) == ["Ann right-of-way !"]


def test_a_safety_laid_upright_on_a_fresh_attack_is_asked_about():
    table = Viewed("Ann roll", "Bob stop > Ann")
    table.lay("right-of-way-01", "side-1/safety")

    question = next(question for question in table.see() if question.kind is Kind.PLAY)
    assert str(question.plays[0]) == "Ann right-of-way"
    assert not question.sure


def test_a_card_laid_out_of_turn_is_proposed_as_the_play_of_whose_side_it_is():
    table = Viewed("Ann roll")
    table.lay("100-01", "side-1/distance")

    assert plays(table.see()) == ["Ann 100"]


def test_nothing_is_proposed_from_a_zone_that_something_covers():
    table = Viewed()
    table.lay("roll-03", "side-1/battle")

    assert table.see(3.0, unknown=("side-1/battle",)) == []


def test_a_card_taken_back_withdraws_its_proposal():
    table = Viewed(confirm=False)
    table.lay("roll-03", "side-1/battle")
    assert plays(table.see()) == ["Ann roll"]
    table.cards.clear()
    table.see(MOMENT_S + 0.5)

    assert table.asked == []


def test_a_card_moved_before_it_is_confirmed_is_proposed_where_it_lies_now():
    table = Viewed(confirm=False)
    table.lay("roll-03", "side-2/battle")
    table.see()
    table.cards = {"roll-03": ("side-1/battle", False)}

    assert plays(table.see()) == ["Ann roll"]
    assert table.asked == ["Ann roll"]


def test_a_covered_card_is_not_missed():
    table = Viewed()
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.lay("stop-01", "side-1/battle")

    assert plays(table.see(5.0)) == ["Bob stop > Ann"]
    assert differences(table.ever) == []


def test_a_confirmed_card_that_vanishes_from_the_top_is_a_difference():
    table = Viewed()
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.cards.clear()

    (question,) = table.see(4.0)
    assert question.kind is Kind.DIFFERS
    assert question.expected is Card.ROLL


def test_a_difference_is_settled_when_the_card_lies_there_again():
    table = Viewed()
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.cards.clear()
    assert len(table.see(4.0)) == 1
    table.lay("roll-03", "side-1/battle")

    assert table.see() == []
    assert table.asked == []


def test_a_hand_over_a_zone_is_no_reason_to_miss_its_card():
    table = Viewed()
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.cards.clear()

    assert table.see(10.0, unknown=("side-1/battle",)) == []


@pytest.mark.parametrize("hazard_first", [True, False])
def test_the_hazard_of_a_coup_fourre_may_go_to_the_discard_pile(hazard_first: bool):
    table = Viewed()
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.lay("stop-01", "side-1/battle")
    table.see()
    if hazard_first:
        table.take_up("stop-01", beneath="roll-03")
        table.lay("stop-01", "table/discard")
        table.see(1.0)
    table.lay("right-of-way-01", "side-1/safety", sideways=True)
    table.see(1.0)
    table.lay("stop-01", "table/discard")
    table.lay("roll-03", "side-1/battle")
    table.see(6.0)

    assert plays(table.ever) == ["Ann roll", "Bob stop > Ann", "Ann right-of-way !"]
    assert differences(table.ever) == []


def test_cards_that_lay_there_before_we_looked_are_not_proposed():
    table = Viewed("Ann roll", "Bob roll", "Ann 100")
    table.lay("roll-01", "side-1/battle")
    table.lay("roll-02", "side-2/battle")
    table.lay("100-04", "side-1/distance")

    assert table.see(3.0) == []


def test_a_card_laid_on_one_that_lay_there_before_is_proposed():
    table = Viewed("Ann roll", "Bob roll", "Ann 100")
    table.lay("roll-01", "side-1/battle")
    table.see()
    table.lay("roll-09", "side-1/battle")

    assert plays(table.see()) == ["Ann roll"]


def test_a_card_that_lay_there_before_we_looked_is_known_when_the_one_on_it_has_gone():
    table = Viewed("Ann roll", "Bob stop > Ann")
    table.lay("stop-01", "side-1/battle")
    table.see()
    table.take_up("stop-01")
    table.see(0.5)
    table.enter("Ann right-of-way !")
    table.lay("roll-01", "side-1/battle")

    assert plays(table.see()) == []


def test_a_play_entered_by_hand_is_not_proposed_when_its_card_appears():
    table = Viewed()
    table.enter("Ann roll")
    table.lay("roll-01", "side-1/battle")

    assert table.see(2.0) == []


def test_an_empty_draw_pile_is_told_only_when_the_count_is_far_from_it():
    table = Viewed()
    table.see(pile_empty=False)

    assert plays(table.see(PUT_RIGHT_S + 1, pile_empty=True)) == ["exhausted"]


def test_after_the_hand_empty_mats_mean_that_the_next_can_begin():
    table = Viewed()
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.enter("end")
    table.cards.clear()

    assert table.see(3.0) == []
    assert table.is_cleared


def test_while_the_extension_is_undecided_nothing_is_proposed():
    near = ["Ann roll", "Bob roll"] + ["Ann 100", "Bob discard 25"] * 6 + ["Ann 100"]
    table = Viewed(*near)
    table.lay("25-01", "side-2/distance")

    assert table.table.extension_offered_to == 0
    assert table.see(2.0) == []


def test_cards_left_over_from_the_hand_before_mean_nothing():
    table = Viewed()
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.next_hand()

    assert table.see(3.0) == []


def test_a_card_of_the_hand_before_is_new_once_it_was_taken_away():
    table = Viewed()
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.next_hand()
    table.cards.clear()
    table.see(MOMENT_S + 0.5)
    table.lay("roll-03", "side-1/battle")

    assert plays(table.see()) == ["Ann roll"]


def test_a_play_that_the_record_took_back_may_be_laid_again():
    table = Viewed()
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.cards.clear()
    table.see(4.0)
    table.undo()
    table.lay("roll-03", "side-1/battle")

    assert plays(table.see()) == ["Ann roll"]


def test_a_confirmed_card_put_right_at_once_is_told_at_once():
    table = Viewed()
    table.lay("roll-03", "table/discard")
    table.see()
    table.cards = {"roll-03": ("side-1/battle", False)}

    (question,) = differences(table.see(4 * STEP_S))
    assert question.say == "Roll has moved from the discard pile to the battle pile."


def test_of_two_cards_laid_at_once_the_legal_one_comes_first():
    table = Viewed("Ann roll")
    table.cards = {"100-01": ("side-1/distance", False), "roll-02": ("side-2/battle", False)}

    assert plays(table.see()) == ["Bob roll", "Ann 100"]


# The discard pile, where its top may be taken


def asmodee() -> Viewed:
    """Ann drives, and Bob has laid a 25 on the discard pile."""
    table = Viewed(edition="asmodee-2014")
    table.lay("roll-01", "side-1/battle")
    table.see()
    table.lay("25-01", "table/discard")
    table.see()
    assert plays(table.ever) == ["Ann roll", "Bob discard 25"]
    return table


def test_a_discard_that_is_gone_has_been_taken_when_the_next_player_goes_on():
    table = asmodee()
    table.take_up("25-01")
    assert table.see(3.0) == []
    table.lay("100-01", "side-1/distance")

    asked = table.see()
    assert plays(asked) == ["Ann take", "Ann 100"]
    assert all(question.sure for question in asked)


def test_a_card_laid_before_the_discard_is_surely_gone_waits_for_that():
    table = asmodee()
    table.take_up("25-01")
    table.see(0.5)
    table.lay("100-01", "side-1/distance")

    assert plays(table.see(3.0)) == ["Ann take", "Ann 100"]


def test_a_discard_that_is_gone_has_been_taken_back_when_its_player_goes_on():
    table = asmodee()
    table.take_up("25-01")
    table.see(3.0)
    table.lay("roll-02", "side-2/battle")

    (question,) = differences(table.see())
    assert question.expected is Card.KM_25
    assert "Ann take" not in plays(table.ever)


def test_whether_a_discard_was_taken_or_taken_back_is_asked_where_another_discard_follows():
    table = asmodee()
    table.take_up("25-01")
    table.see(3.0)
    table.lay("50-01", "table/discard")

    take, discard = [question for question in table.see() if question.kind is Kind.PLAY]
    assert (str(take.plays[0]), take.sure) == ("Ann take", False)
    assert (str(discard.plays[0]), discard.sure) == ("Ann discard 50", True)


def test_an_attack_on_whoever_discarded_tells_that_the_discard_was_taken():
    table = asmodee()
    table.lay("100-01", "side-1/distance")
    table.see()
    table.lay("roll-02", "side-2/battle")
    table.see()
    table.lay("50-01", "table/discard")
    table.see()
    table.take_up("50-01", beneath="25-01")
    table.see(3.0)
    table.lay("stop-01", "side-1/battle")

    assert plays(table.see()) == ["Bob take", "Bob stop > Ann"]


def test_an_older_discard_can_only_have_been_taken():
    table = asmodee()
    table.lay("100-01", "side-1/distance")
    table.see()
    table.take_up("25-01")

    (take,) = table.see(3.0)
    assert (str(take.plays[0]), take.sure) == ("Bob take", True)


def test_a_discard_may_be_taken_and_laid_at_once():
    table = asmodee()
    table.cards["25-01"] = ("side-1/distance", False)

    assert plays(table.see()) == ["Ann take", "Ann 25"]


def test_a_discard_laid_elsewhere_by_its_own_player_is_put_right():
    table = asmodee()
    table.cards["25-01"] = ("side-2/distance", False)

    assert [question.kind for question in table.see()] == [Kind.DIFFERS]


def test_a_discard_that_was_only_looked_at_is_not_taken():
    table = asmodee()
    table.take_up("25-01")
    table.see(3.0)
    table.lay("25-01", "table/discard")
    table.see()
    table.lay("100-01", "side-1/distance")

    assert plays(table.see(3.0)) == ["Ann 100"]
    assert differences(table.ever) == []


def test_a_discard_that_covers_another_takes_nothing():
    table = asmodee()
    table.lay("50-01", "table/discard")

    assert plays(table.see(4.0)) == ["Ann discard 50"]


def test_a_discard_is_taken_as_soon_as_the_one_beneath_comes_to_light():
    table = asmodee()
    table.lay("50-01", "table/discard")
    table.see()
    table.take_up("50-01", beneath="25-01")
    table.see(0.6)
    table.lay("75-01", "table/discard")

    assert plays(table.see()) == ["Bob take", "Bob discard 75"]


def test_a_discard_beneath_that_was_always_in_sight_tells_nothing():
    table = asmodee()
    table.cards["50-01"] = ("table/discard", False)
    table.see()
    table.take_up("50-01")
    table.see(0.6)
    table.lay("50-01", "table/discard")
    table.lay("100-01", "side-2/distance")

    assert "Bob take" not in plays(table.see(3.0))


@pytest.mark.parametrize(
    ("side", "asks"), [("side-1", "Ann take"), ("side-2", "The 25 km is no longer on the discard pile.")]
)
def test_a_discard_that_comes_to_light_for_the_first_time_is_no_new_one(side: str, asks: str):
    lines = ("Ann roll", "Bob roll", "Ann discard 50", "Bob discard 25")
    table = Viewed(*lines, edition="asmodee-2014")
    table.lay("25-01", "table/discard")
    table.see()
    table.take_up("25-01", beneath="50-01")
    assert table.see(3.0) == []
    table.lay("100-01", f"{side}/distance")

    asked = table.see()
    assert asks in map(words, asked)
    assert not any("50" in play for play in plays(asked))


def test_a_taken_discard_may_be_discarded_again():
    table = asmodee()
    table.lay("100-01", "side-1/distance")
    table.see()
    table.take_up("25-01")
    table.see(3.0)
    table.lay("25-01", "table/discard")

    assert plays(table.see()) == ["Bob discard 25"]


def test_a_take_that_was_entered_by_hand_is_not_proposed_again():
    table = asmodee()
    table.enter("Ann take")
    table.take_up("25-01")
    table.see(3.0)
    table.lay("100-01", "side-1/distance")

    assert plays(table.see()) == ["Ann 100"]


@pytest.mark.parametrize("edition", ["asmodee-2014", "dujardin-2014", "bsd-mille"])
@pytest.mark.parametrize("hazard_first", [True, False])
def test_the_hazard_of_a_late_safety_goes_to_the_discard_pile(edition: str, hazard_first: bool):
    lines = ("Ann roll", "Bob roll", "Ann discard 25", "Bob stop > Ann", "Ann discard 50", "Bob discard 75")
    table = Viewed(*lines, edition=edition)
    table.lay("stop-01", "side-1/battle")
    table.see()
    where = ["table/discard", "side-1/safety"] if hazard_first else ["side-1/safety", "table/discard"]
    for zone in where:
        table.lay("stop-01" if zone == "table/discard" else "right-of-way-01", zone)
        table.see(1.0)

    assert plays(table.see(5.0)) == []
    assert plays(table.ever) == ["Ann right-of-way"]
    assert differences(table.ever) == []


# Reshuffled discards


def reshuffling(draw_pile: int) -> Viewed:
    """Three discards lie there, and so many cards are left by the record."""
    table = asmodee()
    for card in ("50-01", "75-01"):
        table.lay(card, "table/discard")
        table.see()
    table.leave(draw_pile)
    return table


def test_discards_that_become_the_draw_pile_are_reshuffled_by_the_record_itself():
    table = reshuffling(0)
    table.take_up("75-01")
    table.see(3.0, pile_empty=True)
    table.see(3.0)
    table.lay("50-01", "table/discard")

    assert plays(table.see()) == ["Ann discard 50"]
    assert differences(table.ever) == []
    assert table.table.discards == (Card.KM_50,)


def test_a_reshuffle_that_the_count_does_not_expect_is_asked():
    table = reshuffling(4)
    table.see(1.0, pile_empty=True)
    table.take_up("75-01")
    assert table.see(3.0, pile_empty=True) == []

    (question,) = table.see(1.0)
    assert str(question.plays[0]) == "exhausted"
    assert not question.sure
    assert table.table.discards == ()


def test_an_empty_draw_pile_is_no_news_while_the_discards_are_to_be_reshuffled():
    table = reshuffling(4)

    assert table.see(PUT_RIGHT_S + 1, pile_empty=True) == []


def test_of_an_empty_draw_pile_the_last_discard_can_still_be_taken():
    table = reshuffling(0)
    table.take_up("75-01", beneath="50-01")
    table.see(3.0, pile_empty=True)
    table.lay("100-01", "side-1/distance")

    assert plays(table.see(pile_empty=True)) == ["Ann take", "Ann 100"]


def test_discards_that_vanish_while_there_is_a_draw_pile_are_missed():
    table = reshuffling(40)
    table.take_up("75-01")

    assert plays(table.see(2 * TURN_S + 3.0)) == []
    assert {question.zone for question in differences(table.ever)} == {"table/discard"}


# Cards gathered in before the record has the hand's end


def laid_out(edition: str = "classic") -> Viewed:
    table = Viewed(edition=edition)
    for card, zone in (("roll-01", "side-1/battle"), ("roll-02", "side-2/battle"), ("100-01", "side-1/distance")):
        table.lay(card, zone)
        table.see()
    assert len(plays(table.ever)) == 3
    return table


def test_cards_that_are_all_gathered_in_may_mean_the_hands_end():
    table = laid_out()
    table.cards.clear()

    (question,) = table.see(4.0)
    assert (str(question.plays[0]), question.sure) == ("end", False)
    assert table.is_cleared


def test_they_surely_do_where_nobody_can_go_on():
    table = laid_out("bsd-mille")
    table.leave(0)
    table.cards.clear()

    question = table.see(4.0)[0]
    assert (str(question.plays[0]), question.sure) == ("end", True)
    assert table.table.ending.how == "exhausted"


def test_that_the_hand_has_ended_is_asked_once():
    table = laid_out()
    table.confirm = False
    table.cards.clear()

    assert plays(table.see(30.0)) == ["end"]


def test_cards_that_stay_away_although_others_lie_there_are_missed_in_the_end():
    table = laid_out()
    table.lay("50-01", "side-2/distance")
    table.see()
    for card in ("roll-01", "roll-02", "100-01"):
        table.take_up(card)

    assert table.see(MOMENT_S + 1.0) == []
    assert len(differences(table.see(2 * TURN_S))) == 3


# Rush: what only people can tell is asked


def rush(*lines: str) -> Viewed:
    return Viewed(*lines, edition="rush")


@pytest.mark.parametrize(
    ("lines", "card", "zone", "play"),
    [
        ((), "100-01", "side-1/distance", "Ann 100"),
        ((), "300-01", "side-1/distance", "Ann 300"),
        ((), "pollution-01", "side-2/battle", "Ann pollution > Bob"),
        ((), "speed-limit-01", "side-2/speed", "Ann speed-limit > Bob"),
        (("Ann pollution > Bob",), "end-of-pollution-01", "side-2/battle", "Bob end-of-pollution"),
        ((), "car-pool-01", "side-1/safety", "Ann car-pool"),
    ],
)
def test_rush_cards_laid_in_turn_are_proposed_like_any_others(lines, card, zone, play):
    table = rush(*lines)
    table.lay(card, zone)

    (question,) = table.see()
    assert (str(question.plays[0]), question.sure) == (play, True)


def test_a_safety_laid_sideways_on_a_fresh_attack_is_a_coup_fourre_in_rush_too():
    table = rush("Ann pollution > Bob")
    table.lay("car-pool-01", "side-2/safety", sideways=True)

    assert plays(table.see()) == ["Bob car-pool !"]


def test_an_accelerator_laid_together_with_a_distance_card_doubles_it():
    table = rush()
    table.cards = {"100-01": ("side-1/distance", False), "accelerator-02": ("side-1/distance", False)}

    (question,) = table.see(5.0)
    assert (str(question.plays[0]), question.sure) == ("Ann 100*2", True)
    assert table.table.sides[0].km == 200


def test_an_accelerator_seen_a_frame_late_still_doubles():
    table = rush()
    table.lay("100-01", "side-1/distance")
    table.see(2 * STEP_S)
    table.lay("accelerator-02", "side-1/distance")

    assert plays(table.see()) == ["Ann 100*2"]


def test_a_doubled_card_that_loses_its_accelerator_is_a_difference():
    table = rush()
    table.cards = {"100-01": ("side-1/distance", False), "accelerator-02": ("side-1/distance", False)}
    table.see()
    table.take_up("accelerator-02")

    assert [question.expected for question in differences(table.see(3.0))] == [Card.ACCELERATOR]


def test_an_accelerator_laid_beside_an_older_distance_card_is_asked():
    table = rush()
    table.lay("100-01", "side-1/distance")
    table.see()
    table.lay("accelerator-02", "side-1/distance")

    (question,) = table.see(3.0)
    assert question.kind is Kind.DIFFERS
    assert (question.zone, question.seen) == ("side-1/distance", Card.ACCELERATOR)


def test_an_accelerator_between_two_distance_cards_is_asked():
    table = rush()
    table.cards = dict.fromkeys(("100-01", "75-01", "accelerator-02"), ("side-1/distance", False))
    (question,) = table.see(3.0)
    assert question.kind is Kind.DIFFERS
    table.enter("Ann 75*2")
    table.enter("Bob discard 50")

    assert plays(table.see(3.0)) == ["Ann 100"]


@pytest.mark.parametrize("special", ["mirror", "u-turn", "theft", "control", "accelerator"])
def test_a_special_card_on_the_discard_pile_is_asked_never_guessed(special: str):
    table = rush("Ann pollution > Bob")
    table.lay(f"{special}-01", "table/discard")

    (question,) = table.see(5.0)
    assert question.kind is Kind.DIFFERS
    assert question.seen is Card(special)
    assert "enter" in str(question.say)


def test_what_depends_on_the_turn_waits_until_a_special_card_is_explained():
    table = rush("Ann 100")
    table.lay("u-turn-01", "table/discard")
    (question,) = table.see()
    table.lay("pollution-01", "side-2/battle")
    assert table.see(3.0) == []
    table.enter("Bob u-turn !")
    table.enter("Bob 50")

    assert plays(table.see(3.0)) == ["Ann pollution > Bob"]
    assert question.id not in {asked.id for asked in table.questions}


def test_an_explained_special_card_may_be_covered_and_taken_up():
    table = rush("Ann 100")
    table.lay("u-turn-01", "table/discard")
    table.see()
    table.enter("Bob u-turn !")
    table.see()
    table.lay("50-01", "table/discard")

    assert plays(table.see(3.0)) == ["Bob discard 50"]
    assert len(differences(table.ever)) == 1


def test_a_special_card_taken_back_takes_its_question_along():
    table = rush()
    table.lay("mirror-01", "table/discard")
    assert len(table.see()) == 1
    table.take_up("mirror-01")

    assert table.see(3.0) == []
    assert table.asked == []


def test_a_special_card_of_a_play_entered_before_is_not_asked():
    table = rush("Ann 100", "Bob u-turn !")
    table.lay("u-turn-01", "table/discard")

    assert table.see(3.0) == []


def test_an_attack_that_a_mirror_turned_lies_where_the_record_has_it():
    table = rush()
    table.lay("pollution-01", "side-2/battle")
    table.see()
    table.cards["pollution-01"] = ("side-1/battle", False)
    assert len(differences(table.see())) == 1
    table.enter("Bob mirror !")

    assert table.see(3.0) == []
    assert table.asked == []


def test_a_remedy_on_the_discard_pile_after_an_attack_is_asked():
    table = rush("Ann pollution > Bob")
    table.lay("end-of-pollution-01", "table/discard")

    (question,) = table.see(3.0)
    assert question.kind is Kind.DIFFERS
    assert "may be discarded or an answer" in question.say


def test_a_distance_card_that_vanishes_in_rush_is_asked_and_never_taken_back_by_itself():
    table = rush()
    table.lay("100-01", "side-1/distance")
    table.see()
    table.take_up("100-01")

    (question,) = table.see(3.0)
    assert question.kind is Kind.DIFFERS
    assert table.played == ["Ann 100"]


def test_a_discard_in_rush_may_be_half_of_a_pair_and_is_asked():
    table = rush()
    table.lay("50-01", "table/discard")

    (question,) = table.see()
    assert str(question.plays[0]) == "Ann discard 50"
    assert not question.sure


def test_a_doubled_card_entered_by_hand_is_expected_with_its_accelerator():
    table = rush()
    table.enter("Ann 100*2")
    table.cards = {"100-01": ("side-1/distance", False), "accelerator-02": ("side-1/distance", False)}

    assert table.see(3.0) == []


def test_doubled_cards_that_lay_there_before_we_looked_are_not_proposed():
    table = rush("Ann 100*2")
    table.cards = {"100-01": ("side-1/distance", False), "accelerator-02": ("side-1/distance", False)}

    assert table.see(3.0) == []


# House rules that no picture tells apart


def test_a_discard_that_may_be_part_of_an_exchange_is_asked():
    table = Viewed(edition="asmodee-2014", options=("exchange=yes",))
    table.lay("50-01", "table/discard")

    assert [question.sure for question in table.see() if question.kind is Kind.PLAY] == [False]


def test_a_remedy_that_may_have_been_an_answer_out_of_turn_is_asked():
    lines = ("Ann roll", "Bob roll", "Ann accident > Bob")
    table = Viewed(*lines, edition="asmodee-2014", options=("fast-remedy=yes",))
    table.lay("repairs-01", "table/discard")

    (question,) = table.see()
    assert question.kind is Kind.DIFFERS
    assert "an answer to the attack" in question.say


def test_a_remedy_laid_out_of_turn_on_a_fresh_attack_is_an_answer_at_once():
    lines = ("Ann roll", "Bob roll", "Cid roll", "Ann accident > Cid")
    table = Viewed(*lines, edition="asmodee-2014", options=("fast-remedy=yes",), sides=("Ann", "Bob", "Cid"))
    table.lay("repairs-01", "side-3/battle")

    assert plays(table.see()) == ["Cid repairs !"]


def test_a_remedy_thrown_out_with_its_hazard_is_asked_and_no_discard():
    table = rush("Ann stop > Bob", "Bob discard 50", "Ann 50")
    table.lay("roll-01", "table/discard")

    (question,) = table.see()
    assert question.kind is Kind.DIFFERS
    assert "enter what was played" in question.say


def test_a_discard_covered_right_after_it_was_proposed_is_not_proposed_again():
    table = Viewed()
    table.lay("50-03", "table/discard")
    while not table.ever:
        table.see(STEP_S)

    table.lay("75-02", "table/discard")
    table.see(2.0)

    assert plays(table.ever) == ["Ann discard 50", "Bob discard 75"]


ALL_OF_BOBS = ("side-2/battle", "side-2/speed", "side-2/safety", "side-2/distance")


def test_a_card_seen_before_an_arm_came_over_it_comes_before_one_seen_later():
    table = Viewed("Ann roll", "Bob roll", "Cid roll", sides=("Ann", "Bob", "Cid"))
    table.cards = {f"roll-0{n}": (f"side-{n}/battle", False) for n in (1, 2, 3)}
    table.see(1.0)
    table.see(0.3, unknown=ALL_OF_BOBS)
    table.lay("50-03", "table/discard")
    table.see(1.5, unknown=ALL_OF_BOBS)
    table.lay("stop-03", "side-3/battle")
    table.see(0.5, unknown=(*ALL_OF_BOBS, "table/discard", "side-3/battle"))
    table.see(0.5, unknown=(*ALL_OF_BOBS, "table/discard"))
    table.see(1.0)

    assert plays(table.ever) == ["Ann discard 50", "Bob stop > Cid"]


def test_a_card_that_was_waited_with_counts_although_an_arm_takes_it_to_the_discard_pile():
    table = Viewed("Ann roll", "Bob roll")
    table.cards = {f"roll-0{n}": (f"side-{n}/battle", False) for n in (1, 2)}
    table.see(1.0)
    table.see(0.3, unknown=("side-1/speed",))
    table.lay("stop-01", "side-2/battle")
    table.see(1.5, unknown=("side-1/speed",))
    table.lay("right-of-way-01", "side-2/safety", sideways=True)
    table.see(1.0, unknown=("side-1/speed",))
    table.see(0.3, unknown=("side-2/battle", "table/discard"))
    table.take_up("stop-01", beneath="roll-02")
    table.lay("stop-01", "table/discard")
    table.see(2.0)

    assert plays(table.ever) == ["Ann stop > Bob", "Bob right-of-way !"]


def test_an_attack_that_is_beaten_and_carried_off_while_it_waits_still_counts():
    table = Viewed("Ann roll", "Bob roll", "Ann 25")
    table.cards = {f"roll-0{n}": (f"side-{n}/battle", False) for n in (1, 2)}
    table.see(1.0)
    table.lay("stop-01", "side-1/battle")
    table.see(1.0, unknown=("side-2/distance",))
    table.lay("roll-01", "side-1/battle")
    table.lay("stop-01", "table/discard")
    table.lay("right-of-way-01", "side-1/safety", sideways=True)
    table.see(0.5, unknown=("side-2/distance",))
    table.see(7.0)

    assert plays(table.ever) == ["Bob stop > Ann", "Ann right-of-way !"]
    assert differences(table.ever) == []


@pytest.mark.parametrize("hidden_s", [2.9, 8.0])
def test_a_beaten_hazard_on_the_discard_pile_is_borne_with_until_the_safety_that_comes_to_light_counts(hidden_s: float):
    table = Viewed("Ann roll", "Bob roll", "Ann 25")
    table.cards = {f"roll-0{n}": (f"side-{n}/battle", False) for n in (1, 2)}
    table.see(1.0)
    table.lay("speed-limit-01", "side-1/speed")
    table.see(1.0)
    table.lay("speed-limit-01", "table/discard")
    table.lay("right-of-way-01", "side-1/safety", sideways=True)
    table.see(hidden_s, unknown=("side-1/safety", "side-1/distance"))
    asked = table.see(1.0, unknown=("side-1/distance",)) + table.see(2.0)

    assert plays(asked) == ["Ann right-of-way !"]
    assert differences(table.ever) == []


def after_a_refused_card(*, hidden: tuple[str, ...] = ()) -> Viewed:
    """Ann has laid a 50 upon a stop, which lies on while a roll makes her drive and it is her turn again."""
    table = Viewed("Ann roll", "Bob roll", "Ann discard 25", "Bob stop > Ann")
    table.cards = {"stop-01": ("side-1/battle", False), "roll-02": ("side-2/battle", False)}
    table.see()
    table.lay("50-01", "side-1/distance")
    table.see()
    table.lay("roll-03", "side-1/battle")
    table.see(1.0, unknown=hidden)
    table.lay("gasoline-01", "table/discard")
    table.see(1.0, unknown=hidden)
    return table


def test_a_refused_card_taken_up_and_laid_on_the_same_spot_once_it_is_legal_is_proposed():
    table = after_a_refused_card(hidden=("side-1/distance",))
    table.take_up("50-01")
    table.see(MOMENT_S + 0.2)
    table.lay("50-01", "side-1/distance")
    table.see(1.0)

    assert plays(table.ever) == ["Ann 50", "Ann roll", "Bob discard gasoline", "Ann 50"]
    assert table.ever[0].id != table.ever[-1].id


def test_a_refused_card_that_lies_on_is_not_legal_because_two_looks_have_missed_it():
    table = after_a_refused_card()
    table.take_up("50-01")
    table.see(0.2)
    table.lay("50-01", "side-1/distance")
    table.see(2.0)

    assert table.asked == ["Ann 50"]
    assert not table.questions[0].sure
    assert table.played[-1] == "Bob discard gasoline"


# The pictures break off


def test_a_card_that_was_waited_with_has_to_be_seen_anew_after_a_gap():
    table = Viewed("Ann roll", confirm=False)
    table.lay("speed-limit-01", "side-2/battle")
    table.see(2.0)
    table.gap()
    table.cards.clear()

    assert plays(table.see(3.0, unknown=("side-2/battle",)) + table.see(3.0)) == []


def test_how_long_a_card_has_been_lying_does_not_grow_in_a_gap():
    table = Viewed("Ann roll", confirm=False)
    table.lay("speed-limit-01", "side-2/battle")
    table.see(1.0)
    table.gap()

    assert plays(table.see(3.0)) == []
    assert plays(table.see(2.0)) != []


def test_a_card_is_not_missed_for_the_time_of_a_gap():
    table = Viewed()
    table.lay("roll-01", "side-1/battle")
    table.see(1.0)
    table.take_up("roll-01")
    table.see(MOMENT_S - 0.5)
    table.gap()

    assert differences(table.see(MOMENT_S - 0.5)) == []
    assert len(differences(table.see(1.0))) == 1


def test_a_card_that_lies_as_it_did_after_a_gap_is_neither_new_nor_missed():
    table = Viewed()
    table.lay("roll-01", "side-1/battle")
    table.see(1.0)
    table.gap()

    assert table.see(5.0) == []


def test_a_proposal_whose_card_has_gone_in_a_gap_is_withdrawn_once_its_place_is_seen_bare():
    table = Viewed(confirm=False)
    table.lay("roll-01", "side-1/battle")
    table.see(1.0)
    table.gap()
    table.cards.clear()

    assert table.see(2.0, unknown=("side-1/battle",)) == []
    assert table.asked == ["Ann roll"]
    table.see(2.0)
    assert table.asked == []


def test_cards_that_were_laid_in_a_gap_are_proposed_in_the_order_that_the_rules_allow():
    table = Viewed()
    table.see(1.0)
    table.gap()
    table.lay("100-01", "side-1/distance")
    table.lay("roll-01", "side-1/battle")
    table.lay("roll-02", "side-2/battle")

    assert plays(table.see(3.0))[:2] == ["Ann roll", "Bob roll"]

"""What the table is asked, in conversations: cards are laid, people answer, type, undo and correct."""

from __future__ import annotations

import threading

import pytest
from watched import FACE, Answer, Watched

from companion.match.match import GONE
from companion.match.questions import Kind
from companion.match.state import Policy


@pytest.fixture
def table(tmp_path):
    return Watched(tmp_path)


@pytest.fixture
def opened(table):
    return table.opened()


# --- Laid and answered ----------------------------------------------------------------------------------------


def test_a_card_that_is_laid_is_asked_about_once(table):
    table.lay("roll-01", "side-1/battle").look(20)

    assert table.asked == ["Ann roll"]


def test_a_card_that_counts_is_not_asked_about_again(table):
    table.lay("roll-01", "side-1/battle").yes().look(20)

    assert table.asked == []
    assert table.played == ["Ann roll"]


def test_a_hand_that_passes_over_a_card_that_counts_asks_nothing(opened):
    opened.look(4, hidden=("side-1/battle", "side-1/speed")).look(8)

    assert opened.asked == []


def test_an_illegal_card_counts_where_the_table_is_said_to_be_right(table):
    table.lay("50-01", "side-1/distance").say(Answer.TABLE)

    assert table.played == ["Ann 50 anyway"]
    assert table.asked == []


def test_an_illegal_card_is_asked_about_with_its_reason(table):
    table.lay("50-01", "side-1/distance")

    (question,) = table.questions
    assert str(question.plays[0]) == "Ann 50"
    assert [reason.code for reason in question.reasons] == ["not-driving"]


def test_what_was_no_play_is_not_asked_again_while_it_lies(table):
    table.lay("roll-01", "side-1/battle").say(Answer.NO).look(20)

    assert table.asked == []


def test_a_card_taken_up_for_little_more_than_a_second_after_no_is_a_new_question(table):
    table.lay("roll-01", "side-1/battle").say(Answer.NO).look()
    del table.lying["roll-01"]
    table.look(6).lay("roll-01", "side-1/battle")

    assert table.asked == ["Ann roll"]


def test_a_card_taken_up_and_laid_again_after_no_is_a_new_question(table):
    table.lay("roll-01", "side-1/battle")
    first = table.questions[0].id
    table.say(Answer.NO).take_up("roll-01").lay("roll-01", "side-1/battle")

    assert table.asked == ["Ann roll"]
    assert table.questions[0].id != first


def test_a_question_keeps_its_id_as_long_as_its_card_lies(opened):
    opened.lay("50-01", "side-1/distance")
    before = opened.questions[0].id
    opened.look(4, hidden=("side-1/distance",)).look(10)

    assert [q.id for q in opened.questions] == [before]


def test_a_card_that_is_taken_back_unanswered_asks_nothing_more(opened):
    opened.lay("50-01", "side-1/distance").take_up("50-01")

    assert opened.asked == []


def test_another_play_than_the_one_seen_settles_the_card(opened):
    opened.lay("25-01", "side-1/distance").yes("Ann 50").look(20)

    assert opened.asked == []
    assert opened.played[-1] == "Ann 50"


def test_two_cards_between_two_looks_are_asked_about_in_the_order_that_the_rules_allow(table):
    table.lying["50-01"] = ("side-1/distance", 0.0, False)
    table.lying["roll-02"] = ("side-2/battle", 0.0, False)
    table.lying["roll-01"] = ("side-1/battle", 0.0, False)
    table.look()

    assert table.asked == ["Ann roll", "Bob roll", "Ann 50"]


def test_yes_counts_the_legal_ones_before_it(table):
    table.lying["roll-01"] = ("side-1/battle", 0.0, False)
    table.look()
    table.lay("roll-02", "side-2/battle").say(Answer.YES, number=1)

    assert table.played == ["Ann roll", "Bob roll"]


# --- Typed ----------------------------------------------------------------------------------------------------


def test_typed_then_laid_asks_nothing(opened):
    opened.match.enter("Ann 50", "Ann")
    opened.lay("50-01", "side-1/distance").look(20)

    assert opened.asked == []
    assert opened.played == ["Ann roll", "Bob roll", "Ann 50"]


def test_typed_undone_laid_is_asked(opened):
    opened.match.enter("Ann 50", "Ann")
    opened.look(3)
    opened.match.undo("Ann")
    opened.look(3).lay("50-01", "side-1/distance")

    assert opened.asked == ["Ann 50"]


def test_typed_and_retracted_then_laid_is_asked(opened):
    opened.match.enter("Ann 50", "Ann")
    opened.look(3)
    opened.match.retract(opened.match.state.hand_entries[-1].seq, "Ann")
    opened.lay("50-01", "side-1/distance")

    assert opened.asked == ["Ann 50"]


def test_typed_wrong_corrected_laid_asks_nothing_and_swallows_nothing(opened):
    opened.match.enter("Ann 25", "Ann")
    opened.match.correct(opened.match.state.hand_entries[-1].seq, "Ann 50", "Ann")
    opened.lay("50-01", "side-1/distance")
    assert opened.asked == []

    opened.match.enter("Bob 100", "Bob")
    opened.lay("100-01", "side-2/distance").lay("25-01", "side-1/distance")
    assert opened.asked == ["Ann 25"]


def test_amended_in_the_queue_swallows_no_later_card(opened):
    opened.lay("100-01", "side-1/distance").lay("25-01", "side-2/distance")
    opened.match.answer(opened.questions[1].id, Answer.YES, "Bob", play="Bob 50")
    opened.look(3).lay("75-01", "side-1/distance").yes().lay("50-01", "side-2/distance")

    assert opened.asked == ["Bob 50"]


def test_what_is_undone_while_its_card_lies_is_asked_again(opened):
    opened.lay("50-01", "side-1/distance").yes()
    opened.match.undo("Ann")

    assert opened.asked == ["Ann 50"]


def test_redo_settles_it_again(opened):
    opened.lay("50-01", "side-1/distance").yes()
    opened.match.undo("Ann")
    opened.match.redo("Ann")
    opened.look()

    assert opened.asked == []


def test_two_phones_that_undo_at_once_undo_once(opened):
    opened.lay("50-01", "side-1/distance").yes()
    seq = opened.match.state.undoable.seq
    barrier, outcomes = threading.Barrier(4), []

    def undo():
        barrier.wait()
        outcomes.append(opened.match.undo("Ann", seq))

    threads = [threading.Thread(target=undo) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(outcome.done for outcome in outcomes) == 1
    assert opened.played == ["Ann roll", "Bob roll"]


# --- Hands and matches ----------------------------------------------------------------------------------------


def test_what_was_unanswered_at_a_hands_end_is_no_play_of_the_next(opened):
    opened.lay("50-01", "side-1/distance")
    old = opened.questions[0].id
    opened.match.enter("end", "Ann")
    opened.match.next_hand("Ann")
    opened.look(20)

    assert opened.asked == []
    assert opened.match.answer(old, Answer.YES, "Ann") == GONE
    assert opened.played == []


def test_what_was_missing_at_a_hands_end_is_not_asked_in_the_next(opened):
    opened.take_up("roll-01")
    assert opened.asked == ["Roll is no longer on the battle pile."]
    opened.match.enter("end", "Ann")
    opened.match.next_hand("Ann")
    opened.look(20)

    assert opened.asked == []


def test_cards_that_lie_when_a_hand_begins_ask_nothing_until_they_are_laid_anew(opened):
    opened.match.enter("end", "Ann")
    opened.match.next_hand("Ann")
    opened.take_up("roll-02")
    assert opened.asked == []

    opened.lay("roll-02", "side-2/battle")
    assert opened.asked == ["Bob roll"]


def test_a_hands_start_undone_takes_nothing_from_what_lies_there(opened):
    opened.match.enter("end", "Ann")
    opened.match.next_hand("Ann")
    opened.look(3)
    opened.match.undo("Ann")
    opened.match.undo("Ann")
    opened.look(3)
    assert opened.asked == []

    opened.take_up("roll-01")
    assert opened.asked == ["Roll is no longer on the battle pile."]
    opened.lay("roll-01", "side-1/battle")
    assert opened.asked == []


def test_a_question_of_an_old_match_counts_nothing_in_the_next(table):
    table.lay("roll-01", "side-1/battle")
    old = table.questions[0].id
    table.match.start(("edition classic", "side Ann", "side Bob", "hand first Ann"))
    table.look(20)
    assert table.asked == []

    table.take_up("roll-01").lay("roll-01", "side-1/battle")
    assert table.questions[0].id != old
    assert table.match.answer(old, Answer.YES, "Ann") == GONE


def test_a_hand_ended_while_a_card_is_in_the_air_does_not_take_it_along(opened):
    opened.match.enter("end", "Ann")
    opened.lay("50-01", "side-1/distance")
    opened.match.next_hand("Ann")
    opened.look(10)

    assert opened.asked == []


# --- Cards that leave their place -----------------------------------------------------------------------------


def test_a_card_that_counts_and_is_gone_is_asked_about(opened):
    opened.lay("50-01", "side-1/distance").yes().take_up("50-01")

    (question,) = opened.questions
    assert question.kind is Kind.DIFFERS
    assert opened.asked == ["The 50 km is no longer on the distance area."]


def test_the_table_is_right_takes_the_line_out(opened):
    opened.lay("50-01", "side-1/distance").yes().take_up("50-01").say(Answer.TABLE).look()

    assert opened.played == ["Ann roll", "Bob roll"]
    assert opened.asked == []


@pytest.mark.parametrize("answer", [Answer.RECORD, Answer.IGNORE])
def test_what_is_said_to_be_all_right_is_not_asked_again_while_the_zone_stays(opened, answer):
    opened.lay("50-01", "side-1/distance").yes().take_up("50-01").say(answer).look(20)

    assert opened.asked == []
    assert opened.played[-1] == "Ann 50"


def test_a_card_put_back_asks_nothing(opened):
    opened.lay("50-01", "side-1/distance").yes().take_up("50-01").lay("50-01", "side-1/distance")

    assert opened.asked == []


def test_a_card_under_another_is_not_gone(opened):
    opened.lay("stop-01", "side-2/battle").yes().look(30)

    assert opened.asked == []


@pytest.mark.parametrize("looks", [0, 6, 40])
def test_a_beaten_hazard_is_carried_off_whenever_it_pleases(opened, looks):
    opened.lay("stop-01", "side-2/battle").yes()
    opened.lay("right-of-way-01", "side-2/safety", sideways=True)
    assert opened.asked == ["Bob right-of-way !"]
    opened.yes().look(looks).lay("stop-01", "table/discard").look(20)

    assert opened.asked == []


def test_a_hazard_carried_off_before_its_safety_is_seen_asks_only_for_the_safety(opened):
    opened.lay("stop-01", "side-2/battle").yes()
    opened.lying["stop-01"] = ("table/discard", 0.0, False)
    opened.look(3).lay("right-of-way-01", "side-2/safety", sideways=True)

    assert opened.asked == ["Bob right-of-way !"]


def test_a_beaten_hazard_carried_off_after_the_next_discard_asks_nothing(opened):
    opened.lay("stop-01", "side-2/battle").yes()
    opened.lay("right-of-way-01", "side-2/safety", sideways=True).yes()
    opened.lay("25-05", "table/discard").yes().lay("stop-01", "table/discard").look(20)

    assert opened.asked == []


def test_where_plays_count_by_themselves_a_card_taken_back_at_once_is_taken_out_by_itself(tmp_path):
    table = Watched(tmp_path, policy=Policy.AUTO)
    table.lay("roll-01", "side-1/battle").lay("roll-02", "side-2/battle").lay("50-01", "side-1/distance")
    assert table.played == ["Ann roll", "Bob roll", "Ann 50"]

    table.take_up("50-01")
    assert table.played == ["Ann roll", "Bob roll"]
    assert table.asked == []


def test_a_discard_taken_by_the_next_player_is_told_by_his_card(tmp_path):
    table = Watched(tmp_path, "edition asmodee-2014", "side Ann", "side Bob", "hand first Ann").opened()
    table.lay("50-01", "table/discard").yes().take_up("50-01")
    assert table.asked == []

    table.lay("50-01", "side-2/distance")
    assert table.asked == ["Bob take", "Bob 50"]


def test_a_discard_that_nobody_took_is_not_said_to_be_taken_again(tmp_path):
    table = Watched(tmp_path, "edition asmodee-2014", "side Ann", "side Bob", "hand first Ann").opened()
    table.lay("50-01", "table/discard").yes().take_up("50-01").lay("50-01", "side-2/distance")
    table.say(Answer.NO).look(20)

    assert table.asked == ["The 50 km has moved from the discard pile to the distance area."]


# --- Cards without stickers -----------------------------------------------------------------------------------


def test_a_card_told_by_its_face_is_not_played_again_when_a_hand_passes_and_nudges_it(tmp_path):
    table = Watched(tmp_path, by=FACE).opened()
    table.lay("speed-limit-01", "side-2/speed").yes()
    for nudge_mm in (1.0, 3.0, -4.0):
        table.look(3, hidden=("side-2/speed",))
        table.lay("speed-limit-01", "side-2/speed", nudge_mm)

    assert table.asked == []


def test_a_second_card_with_the_same_face_beside_the_first_is_asked_about(tmp_path):
    table = Watched(tmp_path, by=FACE).opened()
    table.lay("50-01", "side-1/distance").yes().lay("25-01", "side-2/distance").yes()
    table.look(3, hidden=("side-1/distance",)).lay("50-02", "side-1/distance")

    assert table.asked == ["Ann 50"]


def test_where_the_record_is_right_about_a_card_that_is_gone_nothing_more_is_asked_of_it(opened):
    opened.lay("50-01", "side-1/distance").yes().take_up("50-01").say(Answer.RECORD)

    opened.lay("25-01", "side-2/distance").yes().lay("75-01", "side-1/distance").look(20)

    assert opened.asked == ["Ann 75"]


def test_a_hazard_that_is_carried_away_once_its_remedy_lies_on_it_asks_nothing(opened):
    opened.lay("stop-01", "side-2/battle").yes().lay("roll-03", "side-2/battle").yes()

    opened.lay("stop-01", "table/discard").lay("roll-03", "side-2/battle").look(20)

    assert opened.asked == []
    assert opened.played == ["Ann roll", "Bob roll", "Ann stop > Bob", "Bob roll"]


def test_a_card_that_is_put_back_and_goes_again_is_a_new_question(opened):
    opened.lay("50-01", "side-1/distance").yes().take_up("50-01").say(Answer.RECORD)
    opened.lay("50-01", "side-1/distance").look(12)
    assert opened.asked == []

    opened.take_up("50-01")

    assert opened.asked == ["The 50 km is no longer on the distance area."]


def test_a_hazard_that_a_late_safety_has_beaten_may_be_carried_away(opened):
    opened.lay("flat-tire-01", "side-2/battle").yes()
    opened.play(("25-01", "table/discard"), ("25-02", "table/discard"), ("puncture-proof-01", "side-2/safety"))

    opened.lay("flat-tire-01", "table/discard").look(40)

    assert opened.asked == []


def test_a_card_that_is_laid_for_a_typed_play_that_waits_asks_nothing_of_its_own(table):
    table.match.enter("Ann 100", "Ann")
    table.lay("100-01", "side-1/distance")
    assert table.asked == ["Ann 100"]

    table.yes(anyway=True).look(12)

    assert table.asked == []
    assert table.played == ["Ann 100 anyway"]


# --- Over a restart -------------------------------------------------------------------------------------------


def test_a_question_keeps_its_id_over_a_restart(table):
    table.lay("roll-01", "side-1/battle")
    before = table.questions[0].id
    table.restart()
    table.look(10)

    assert [q.id for q in table.questions] == [before]


def test_no_holds_over_undo_and_restart(opened):
    opened.lay("50-01", "side-1/distance").say(Answer.NO)
    opened.match.undo("Ann")
    opened.restart()
    opened.look(20)

    assert "Ann 50" not in opened.asked


def test_what_is_laid_after_a_card_for_a_typed_play_is_asked_about_after_it(table):
    table.match.enter("Ann 100", "Ann")

    table.lay("100-01", "side-1/distance").lay("25-01", "table/discard")

    assert table.asked == ["Ann 100", "Ann discard 25"]
    assert table.questions[0].is_typed
    assert table.questions[0].zone == "side-1/distance"

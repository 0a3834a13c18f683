"""The match: the log is the state, plays wait for a tap, corrections judge anew."""

from __future__ import annotations

import random
import threading

import pytest
from client import lines as texts
from client import played as enter
from hypothesis import given, settings
from hypothesis import strategies as st
from seen import Seen

from companion.common.errors import Problem
from companion.match.history import Kind
from companion.match.match import Answer, Match, Policy, next_first
from companion.rules.record import judge, notation
from companion.rules.referee import legal_plays
from companion.rules.table import Team
from companion.storage.event_store import Draft, Store

TWO = ("edition classic", "side Ann", "side Bob", "hand first Ann")
PAIRS = ("side Reds = Ann, Cid", "side Blues = Bob, Dee", "hand first Ann")


@pytest.fixture
def store(tmp_path):
    opened = Store.open(tmp_path / "log.sqlite3")
    yield opened
    opened.close()


@pytest.fixture
def match(store):
    begun = Match(store)
    begun.start(TWO)
    return begun


@pytest.fixture
def seen(match):
    return Seen(match)


def at_once(act) -> list[bool]:
    """What two people are told who tap in the same instant."""
    start, done = threading.Barrier(2), []

    def tap(who):
        start.wait()
        done.append(act(who).done)

    people = [threading.Thread(target=tap, args=(who,)) for who in ("Ann", "Bob")]
    for person in people:
        person.start()
    for person in people:
        person.join()
    return sorted(done)


def codes(match: Match) -> list[list[str]]:
    return [[why.code for why in question.reasons] for question in match.state.questions]


def yes(match: Match, question: str, by: str = "Ann", **how):
    return match.answer(question, Answer.YES, by, **how)


# --- Setting up ----------------------------------------------------------------------------------------------


def test_a_match_begins_with_its_header_and_the_first_player(match):
    assert match.state.game.table.player_to_move == "Ann"
    assert match.record() == "edition classic\nside Ann\nside Bob\n\nhand first Ann\n"


def test_a_new_match_starts_empty_with_its_own_teams(match, seen):
    enter(match, "Ann roll")
    seen.play(1, "Bob roll")

    match.start(PAIRS)

    assert match.state.game.teams == (Team("Reds", ("Ann", "Cid")), Team("Blues", ("Bob", "Dee")))
    assert match.state.game.hand_number == 1
    assert (match.state.questions, texts(match)) == ((), [])


@pytest.mark.parametrize(
    "lines",
    [
        ("side Ann", "side Bob"),
        ("side Ann", "side Ann", "hand first Ann"),
        ("side Ann", "hand first Ann"),
        ("edition klassik", "side Ann", "side Bob", "hand first Ann"),
        ("side Ann", "side Bob", "hand first Ann", "Ann roll"),
    ],
)
def test_lines_that_make_no_game_are_refused_and_not_saved(store, lines):
    with pytest.raises(Problem):
        Match(store).start(lines)

    assert store.matches() == ()


def test_without_a_match_a_play_is_answered_with_what_to_do(store):
    with pytest.raises(Problem, match="choose the players first"):
        Match(store).enter("Ann roll", "Ann")


# --- Plays by hand -------------------------------------------------------------------------------------------


def test_a_legal_play_counts_at_once(match):
    enter(match, "Ann roll", "Bob discard 25", "Ann 100")

    assert match.state.game.table.side_of("Ann").km == 100


def test_an_illegal_play_waits_and_can_be_played_all_the_same(match):
    outcome = match.enter("Ann 100", "Ann")

    assert not outcome.done
    assert codes(match) == [["not-driving"]]
    assert texts(match) == []

    yes(match, match.state.questions[0].id, "Bob", anyway=True)

    assert texts(match) == ["Ann 100 anyway"]
    assert match.state.game.table.side_of("Ann").km == 100
    assert match.state.questions == ()


def test_an_illegal_play_can_be_taken_back(match):
    match.enter("Ann 100", "Ann")
    (question,) = match.state.questions

    match.answer(question.id, Answer.TAKEN_BACK, "Ann")

    assert (match.state.questions, match.state.game.table.player_to_move) == ((), "Ann")
    assert match.state.answers[question.id].answer is Answer.TAKEN_BACK


def test_what_is_no_play_is_a_problem_that_says_how_to_write_it(match):
    with pytest.raises(Problem, match="begins with a player's name"):
        match.enter("Zoe roll", "Ann")


def test_the_hand_is_counted_by_itself_when_it_ends(match):
    enter(match, "Ann roll", "Bob discard 25", "Ann 200", "Bob discard 25", "Ann 200", "Bob discard 25")
    enter(match, "Ann 100", "Bob discard 50", "Ann 100", "Bob discard 50", "Ann 100", "Ann finish")

    (result,) = match.state.game.hands

    assert result.by == "Ann"
    assert result.sheets["Ann"].total == 700 + 400 + 500


def test_the_next_hand_begins_once_with_the_next_player(match):
    enter(match, "Ann roll", "end")
    match.next_hand("Ann")

    assert match.state.game.table.player_to_move == "Bob"
    assert not match.next_hand("Bob").done
    assert match.state.game.hand_number == 2


def test_after_a_hand_that_nobody_here_began_the_first_player_begins(store):
    lines = ["edition classic", "side Ann", "side Bob"]
    hand = [Draft(Kind.LINE, {"text": text}) for text in ("hand first Ann", "end", "hand first Zed")]
    store.append(None, Draft(Kind.SETUP, {"lines": lines}), *hand)

    assert next_first(Match(store).state) == "Ann"


# --- What the camera sees ------------------------------------------------------------------------------------


def test_a_card_counts_only_once_it_is_confirmed(match, seen):
    roll = seen.play(1, "Ann roll")
    before = texts(match)

    yes(match, roll, "Bob")

    assert (before, texts(match)) == ([], ["Ann roll"])
    assert match.state.hand_entries[0].written.question == roll
    assert match.state.questions == ()


def test_a_later_play_is_judged_as_if_the_earlier_were_applied(match, seen):
    seen.play(1, "Ann roll")
    seen.play(2, "Bob stop > Ann")
    seen.play(3, "Ann 100")

    assert codes(match) == [[], [], ["under-hazard"]]


def test_a_yes_counts_the_legal_and_sure_plays_before_it(match, seen):
    seen.play(1, "Ann roll")
    second = seen.play(2, "Bob roll")

    assert yes(match, second).done
    assert texts(match) == ["Ann roll", "Bob roll"]


@pytest.mark.parametrize(("first", "sure", "why"), [("Ann 100", True, ["not-driving"]), ("Ann roll", False, [])])
def test_a_yes_with_something_before_it_that_is_not_legal_and_sure_says_what_is_in_the_way(
    match, seen, first, sure, why
):
    seen.play(1, first, sure=sure)
    second = seen.play(2, "Bob roll")

    outcome = yes(match, second)

    assert not outcome.done
    assert not outcome.is_void
    assert [reason.code for reason in outcome.reasons] == why
    assert "waits for the play before it" in outcome.say
    assert texts(match) == []


def test_two_people_confirming_at_once_count_the_play_once(match, seen):
    roll = seen.play(1, "Ann roll")

    assert at_once(lambda who: yes(match, roll, who)) == [False, True]
    assert texts(match) == ["Ann roll"]


@pytest.mark.parametrize("typed", [True, False], ids=["typed as the camera has it", "entered as it was"])
def test_what_is_said_of_a_card_answers_its_question(match, seen, typed):
    card = seen.play(1, "Ann roll" if typed else "Ann stop > Bob")

    enter(match, "Ann roll") if typed else yes(match, card, play="Ann roll")

    assert texts(match) == ["Ann roll"]
    assert match.state.hand_entries[0].written.question == card
    assert match.state.questions == ()


def test_what_was_no_play_is_not_asked_again_over_undo_and_restart(match, seen, store):
    enter(match, "Ann roll")
    card = seen.play(1, "Bob roll")
    match.answer(card, Answer.NO, "Ann")

    match.undo("Ann")
    undone = match.state.questions
    again = Match(store)
    again.look(seen.derive)

    assert undone == again.state.questions == ()


def test_a_card_taken_up_again_cannot_be_confirmed_any_more(match, seen):
    card = seen.play(1, "Ann roll")
    seen.lift(card)

    assert yes(match, card).is_void
    assert texts(match) == []


def test_what_was_typed_undone_and_laid_counts_like_any_other_card(match, seen):
    enter(match, "Ann roll")
    match.undo("Ann")
    card = seen.play(1, "Ann roll")

    assert [question.id for question in match.state.questions] == [card]
    assert yes(match, card).done
    assert texts(match) == ["Ann roll"]


def test_what_was_undone_while_its_card_lies_is_asked_again(match, seen):
    card = seen.play(1, "Ann roll")
    yes(match, card)

    match.undo("Ann")

    assert [question.id for question in match.state.questions] == [card]


def test_nothing_that_is_asked_outlives_its_hand(match, seen):
    match.enter("Ann 100", "Ann")
    old = [seen.play(1, "Ann roll"), seen.which(2, "Bob roll"), seen.differs(3, "side-2/battle", None, "stop")]
    old += [question.id for question in match.state.questions]

    assert match.enter("end", "Ann").done
    ended = match.state.questions
    match.next_hand("Ann")

    assert ended == match.state.questions == ()
    assert all(match.answer(question, answer, "Ann").is_void for question in old for answer in Answer)
    assert texts(match) == []


def test_no_id_is_given_twice_in_two_matches(match, seen):
    first = seen.play(1, "Ann roll")
    match.start(TWO)
    second = seen.play(1, "Ann roll")

    assert first != second
    assert yes(match, first).is_void
    assert match.was_asked(first)
    assert not match.was_asked("1-2-camera")
    assert not match.was_asked("999-999-camera.1-play")


def test_looking_again_makes_no_new_version_and_a_new_picture_shows(match, seen):
    card = seen.play(1, "Ann roll")
    version = match.state.version

    seen.play(1, "Ann roll", crop=b"a better picture")

    assert match.state.version == version
    assert match.state.question(card).crop == b"a better picture"


def test_a_tap_counts_also_where_no_questions_can_be_derived(match):
    def broken(state):
        if state.hand_entries:
            raise ZeroDivisionError
        return ()

    match.look(broken)

    assert match.enter("Ann roll", "Ann").done
    with pytest.raises(ZeroDivisionError):
        match.look(broken)


# --- Policies ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sure", "counts"), [("Ann roll", True, True), ("Ann roll", False, False), ("Ann 100", True, False)]
)
def test_auto_counts_what_is_legal_and_sure_and_asks_about_the_rest(match, seen, text, sure, counts):
    match.set_policy(Policy.AUTO, "Ann")

    seen.play(1, text, sure=sure)

    assert texts(match) == ([text] if counts else [])
    assert len(match.state.questions) == (not counts)


def test_auto_goes_on_once_what_was_unsure_is_settled(match, seen):
    match.set_policy(Policy.AUTO, "Ann")
    first = seen.play(1, "Ann roll", sure=False)
    seen.play(2, "Bob roll")

    yes(match, first)

    assert texts(match) == ["Ann roll", "Bob roll"]


@pytest.mark.parametrize("policy", [Policy.AUTO, Policy.PLAY_ON])
def test_what_somebody_has_undone_does_not_count_by_itself_again(match, seen, policy):
    match.set_policy(policy, "Ann")
    seen.play(1, "Ann roll")
    seen.play(2, "Bob roll")
    while match.undo("Ann").done:
        pass

    assert texts(match) == []
    assert len(match.state.questions) == 2


def test_auto_takes_back_the_last_play_with_its_card(match, seen):
    match.set_policy(Policy.AUTO, "Ann")
    seen.play(1, "Ann roll")
    seen.play(2, "Bob roll")
    first, last = (entry.seq for entry in match.state.hand_entries)

    earlier = seen.differs(3, "side-1/battle", "roll", None, line=first)
    kept = texts(match)
    seen.lift(earlier)
    seen.differs(4, "side-2/battle", "roll", None, line=last)

    assert kept == ["Ann roll", "Bob roll"]
    assert texts(match) == ["Ann roll"]


def test_play_on_takes_the_next_players_play_as_a_tap(match, seen):
    match.set_policy(Policy.PLAY_ON, "Ann")
    seen.play(1, "Ann driving-ace")
    seen.play(2, "Ann roll")
    before = texts(match)

    third = seen.play(3, "Bob roll")

    assert (before, texts(match)) == ([], ["Ann driving-ace", "Ann roll"])
    assert [question.id for question in match.state.questions] == [third]


def test_play_on_does_not_wave_an_illegal_play_through(match, seen):
    match.set_policy(Policy.PLAY_ON, "Ann")
    seen.play(1, "Ann 100")
    seen.play(2, "Bob roll")

    assert texts(match) == []


# --- Plays that were typed and wait --------------------------------------------------------------------------


def test_a_typed_play_waits_over_a_restart(match, store):
    match.enter("Ann 100", "Ann")

    again = Match(store)

    assert again.state.questions == match.state.questions
    assert codes(again) == [["not-driving"]]
    assert yes(again, again.state.questions[0].id, "Bob", anyway=True).done
    assert texts(again) == ["Ann 100 anyway"]


def test_a_typed_play_that_counted_and_was_undone_is_asked_again(match):
    match.enter("Ann 100", "Ann")
    (claim,) = match.state.questions
    yes(match, claim.id, anyway=True)

    match.undo("Ann")

    assert [question.id for question in match.state.questions] == [claim.id]


def test_a_typed_play_is_judged_after_what_the_camera_asks(match, seen):
    match.enter("Bob roll", "Bob")
    before = codes(match)

    seen.play(1, "Ann roll")

    assert before == [["not-your-turn"]]
    assert codes(match) == [[], []]


def test_the_other_side_verifies_the_play_that_was_seen_and_the_one_that_is_said(match, seen):
    match.set_verifying("Ann", on=True)
    card = seen.play(1, "Ann roll")

    alone = [yes(match, card, "Ann", play=play) for play in ("Ann roll", "Ann right-of-way", "Bob discard 25")]

    assert [outcome.done for outcome in alone] == [False, False, False]
    assert {outcome.say for outcome in alone} == {"The other side has to confirm that."}
    assert texts(match) == []
    assert yes(match, card, "Bob").done


# --- Changes that are sent twice -----------------------------------------------------------------------------


def test_a_change_counts_once_however_often_it_is_sent_and_its_name_is_for_no_other(match):
    first, again = (match.once("one", "Ann roll", lambda: match.enter("Ann roll", "Ann")) for _ in range(2))
    other = match.once("one", "Bob roll", lambda: match.enter("Bob roll", "Bob"))

    assert first == again
    assert first.done
    assert first.version == match.state.version
    assert other.is_void
    assert texts(match) == ["Ann roll"]


def test_a_change_counts_once_over_a_restart_and_anew_in_the_next_match(match, store):
    match.once("one", "Ann roll", lambda: match.enter("Ann roll", "Ann"))
    again = Match(store)

    repeated = again.once("one", "Ann roll", lambda: again.enter("Ann roll", "Ann"))
    kept = texts(again)
    again.start(TWO)
    again.once("one", "Ann roll", lambda: again.enter("Ann roll", "Ann"))

    assert repeated.done
    assert kept == texts(again) == ["Ann roll"]


def test_a_match_that_is_begun_twice_under_one_name_begins_once(store):
    match = Match(store)
    for _ in range(2):
        assert match.once("new", "two", lambda: match.start(TWO)).done

    assert len(store.matches()) == 1


def test_answers_of_older_logs_are_read_and_mean_nothing(match, store):
    old = {"zone": "side-1/battle", "expected": "roll", "seen": None, "answer": "ignore", "by": "Ann"}
    store.append(match.state.match, Draft("answer", old))

    assert Match(store).state.answers == {}


# --- Corrections ---------------------------------------------------------------------------------------------


def test_undo_after_do_is_the_identity(match):
    enter(match, "Ann roll", "Bob roll")
    before = match.state

    enter(match, "Ann 100")
    match.undo("Bob")

    assert (match.state.game, match.state.entries) == (before.game, before.entries)


def test_undo_goes_back_further_and_redo_returns(match):
    enter(match, "Ann roll", "Bob roll", "Ann 100")

    match.undo("Ann")
    match.undo("Ann")
    after_two = texts(match)
    match.redo("Ann")
    match.redo("Ann")

    assert after_two == ["Ann roll"]
    assert texts(match) == ["Ann roll", "Bob roll", "Ann 100"]


@pytest.mark.parametrize("name", ["undo", "redo"])
def test_two_phones_that_take_back_in_one_instant_take_back_once(match, name):
    for _ in range(10):
        match.enter("Ann roll", "Ann")
        match.enter("Bob roll", "Bob")
        if name == "redo":
            match.undo("Ann")
        before = match.state
        seq = getattr(before, f"{name}able").seq

        assert at_once(lambda who, seq=seq: getattr(match, name)(who, seq)) == [False, True]
        assert match.state.seq == before.seq + 1

        while match.undo("Ann").done:
            pass


def test_the_set_up_is_not_undone(match):
    assert match.state.undoable is None
    assert not match.undo("Ann").done


def test_a_late_correction_judges_what_follows_anew_and_drops_nothing(match):
    enter(match, "Ann roll", "Bob roll", "Ann 100")
    match.correct(match.state.hand_entries[0].seq, "Ann discard 25", "Bob")

    assert texts(match) == ["Ann discard 25", "Bob roll", "Ann 100"]
    assert match.state.hand_entries[0].written.corrected_by == "Bob"
    (became_illegal,) = match.state.attention
    assert (became_illegal.written.text, match.state.game.table.side_of("Ann").km) == ("Ann 100", 0)

    match.let_stand(became_illegal.seq, "Bob")

    assert (match.state.attention, match.state.game.table.side_of("Ann").km) == ((), 100)


def test_a_line_can_be_taken_out_and_brought_back(match):
    enter(match, "Ann roll", "Bob roll")

    match.retract(match.state.hand_entries[0].seq, "Bob")
    without = texts(match)
    match.undo("Bob")

    assert without == ["Bob roll"]
    assert texts(match) == ["Ann roll", "Bob roll"]


def test_a_forgotten_play_is_put_before_another(match):
    enter(match, "Ann roll")
    match.enter("Ann 100", "Ann", anyway=True)
    late = match.state.hand_entries[1]

    match.insert(late.seq, "Bob roll", "Ann")

    assert texts(match) == ["Ann roll", "Bob roll", "Ann 100 anyway"]
    assert match.state.entries[-1].judged.verdict == "legal"


def test_a_correction_in_an_earlier_hand_reaches_its_totals_and_names_the_lines_there_that_no_longer_fit(match):
    enter(match, "Ann roll", "Bob discard 25", "Ann 100", "end")
    match.next_hand("Ann")
    enter(match, "Bob roll")

    match.correct(match.state.entries[4].seq, "Ann discard 25", "Bob")

    assert [(entry.hand, entry.written.text) for entry in match.state.attention] == [(1, "Ann 100")]
    assert match.state.game.hands[0].match["Ann"] == 0
    assert texts(match) == ["Bob roll"]


def test_without_the_line_that_ended_it_a_hand_is_open_again(match):
    enter(match, "Ann roll", "end")

    match.retract(match.state.hand_entries[-1].seq, "Bob")

    assert match.state.game.hand_is_open
    assert match.state.game.hands == ()


def test_a_hand_that_is_won_earlier_leaves_its_later_lines_to_be_answered(store):
    match = Match(store)
    match.start(("side Ann", "side Bob", "target 200", "hand first Ann"))
    enter(match, "Ann roll", "Bob roll", "Ann 100", "Bob 25", "Ann 25")

    match.correct(match.state.hand_entries[2].seq, "Ann 200", "Bob")

    assert [entry.written.text for entry in match.state.attention] == ["Bob 25", "Ann 25"]
    assert match.state.game.hands[0].by == "Ann"


def test_a_correction_judges_only_what_follows(match, monkeypatch):
    enter(match, "Ann roll", "Bob roll", "Ann 100", "Bob 25")
    judged = []
    step = judge.step
    monkeypatch.setattr(judge, "step", lambda game, line, **how: judged.append(line.text) or step(game, line, **how))

    match.correct(match.state.hand_entries[2].seq, "Ann 75", "Bob")

    assert judged == ["Ann 75", "Bob 25"]


def test_the_match_is_judged_as_its_record_is_replayed(match):
    enter(match, "Ann roll", "Bob roll", "Ann 100", "Bob 25", "Ann 25")
    match.insert(match.state.hand_entries[2].seq, "Ann driving-ace", "Bob")
    match.retract(match.state.hand_entries[0].seq, "Bob")

    items = [item for item in judge.judge(notation.lines(match.record())) if isinstance(item, judge.JudgedLine)]
    replayed = [(item.line.text, item.verdict, item.reasons) for item in items]
    entries = [entry.judged for entry in match.state.hand_entries]
    assert replayed == [(judged.line.text, judged.verdict, judged.reasons) for judged in entries]
    assert len(match.state.attention) == len([verdict for _, verdict, _ in replayed if verdict == "illegal"]) > 0


def test_a_players_name_to_show_can_change(match):
    match.sit("Ann", "phone", name="Ann ”Speedy” Smith")

    assert match.state.game.shown["Ann"] == "Ann ”Speedy” Smith"
    assert match.state.seats == {"Ann": 1}


# --- Cards that cannot be told -------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["Ann discard roll", "Ann right-of-way"], ids=["one of those asked", "another card"])
def test_a_card_that_cannot_be_told_counts_once_somebody_says_which_it_is(match, seen, said):
    card = seen.which(1, "Ann roll", "Ann discard roll")

    assert yes(match, card, "Bob", play=said).done
    assert (texts(match), match.state.questions) == ([said], ())


def test_of_two_answers_the_first_counts_and_the_second_is_told(match, seen):
    card = seen.which(1, "Ann roll", "Ann stop > Bob")
    yes(match, card, play="Ann roll")

    second = yes(match, card, "Bob", play="Ann stop > Bob")

    assert second.is_void
    assert second.say == "That was settled already."
    assert texts(match) == ["Ann roll"]


def test_an_answer_that_is_illegal_counts_only_where_the_table_lets_it_stand(match, seen):
    card = seen.which(1, "Ann roll")

    refused = yes(match, card, "Bob", play="Ann 100")

    assert [why.code for why in refused.reasons] == ["not-driving"]
    assert yes(match, card, "Bob", play="Ann 100", anyway=True).done
    assert texts(match) == ["Ann 100 anyway"]


def test_an_answer_counts_before_what_was_laid_after_its_card(match, seen):
    match.set_policy(Policy.AUTO, "Ann")
    card = seen.which(1, "Ann roll")
    seen.play(2, "Bob roll")

    yes(match, card)

    assert texts(match) == ["Ann roll", "Bob roll"]


def test_an_answer_that_is_no_play_leaves_the_question_open(match, seen):
    card = seen.which(1, "Ann roll")

    with pytest.raises(Problem):
        yes(match, card, play="Ann rolls")

    assert match.state.question(card) is not None


def test_a_typed_play_answers_the_question_about_its_card(match, seen):
    seen.which(1, "Ann roll", "Ann right-of-way")

    match.enter("Ann right-of-way", "Ann")

    assert match.state.questions == ()
    assert texts(match) == ["Ann right-of-way"]


# --- Table and record differ ---------------------------------------------------------------------------------


def line_of(match: Match, text: str) -> int:
    return next(entry.seq for entry in match.state.hand_entries if entry.written.text == text)


def test_the_table_is_right_changes_the_card_in_the_record(match, seen):
    enter(match, "Ann roll", "Bob roll", "Ann 75")
    other = seen.differs(1, "side-1/distance", "75", "25", "Ann 25", line=line_of(match, "Ann 75"))

    assert match.answer(other, Answer.TABLE, "Ann").done
    assert texts(match)[-1] == "Ann 25"
    assert match.state.questions == ()


def test_the_table_is_right_takes_out_a_line_whose_card_is_not_there(match, seen):
    enter(match, "Ann roll", "Bob stop > Ann")
    gone = seen.differs(1, "side-1/battle", "stop", None, line=line_of(match, "Bob stop > Ann"))

    assert match.answer(gone, Answer.TABLE, "Ann").done
    assert texts(match) == ["Ann roll"]


def test_the_table_is_right_writes_the_play_of_a_card_that_the_record_lacks_also_an_illegal_one(match, seen):
    more = seen.differs(1, "side-1/distance", None, "100", "Ann 100")

    assert match.answer(more, Answer.TABLE, "Bob").done
    assert texts(match) == ["Ann 100 anyway"]
    assert match.state.questions == ()


def test_a_difference_that_no_line_explains_stays_and_says_so(match, seen):
    gone = seen.differs(1, "side-2/battle", "stop", None)

    outcome = match.answer(gone, Answer.TABLE, "Ann")

    assert "change it in the log" in outcome.say
    assert not outcome.is_void
    assert len(match.state.questions) == 1


@pytest.mark.parametrize("answer", [Answer.RECORD, Answer.IGNORE])
def test_the_record_is_right_changes_nothing_and_is_remembered_with_what_lay_there(match, seen, store, answer):
    enter(match, "Ann roll")
    gone = seen.differs(1, "side-1/battle", "roll", None, line=line_of(match, "Ann roll"))

    match.answer(gone, answer, "Ann")

    assert texts(match) == ["Ann roll"]
    assert Match(store).state.answers[gone].answer is answer
    assert Match(store).state.answers[gone].about == "side-1/battle None"


def test_a_difference_does_not_stand_in_the_way_of_a_play(match, seen):
    seen.differs(1, "side-2/battle", "stop", None)
    card = seen.play(2, "Ann roll")

    assert yes(match, card).done


# --- Followers -----------------------------------------------------------------------------------------------


def test_a_change_wakes_whoever_waits(match):
    version = match.state.version
    woken = []
    waiter = threading.Thread(target=lambda: woken.append(match.wait(version, 10).trouble))
    waiter.start()

    match.trouble("The camera is gone.")
    waiter.join()

    assert woken == ["The camera is gone."]


def test_a_wait_without_change_ends_with_the_state_as_it_is(match):
    assert match.wait(match.state.version, 0) is match.state


# --- The log is the state ------------------------------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_log_replayed_is_the_state(tmp_path_factory, seed):
    chance = random.Random(seed)
    store = Store.open(tmp_path_factory.mktemp("log") / "log.sqlite3")
    match = Match(store)
    match.start(PAIRS)
    for _ in range(25):
        do_something(match, chance)

    again = Match(store)

    assert (again.state.game, again.state.entries) == (match.state.game, match.state.entries)
    assert (again.state.policy, again.state.undoable) == (match.state.policy, match.state.undoable)
    store.close()


def do_something(match: Match, chance: random.Random) -> None:
    """One act of somebody at the table, mostly a legal play."""
    table = match.state.game.table
    if table.is_over:
        match.next_hand("Ann")
        return
    plays = list(legal_plays(table, table.player_to_move))
    seqs = [entry.seq for entry in match.state.hand_entries] or [0]
    acts = [lambda: match.enter(str(chance.choice(plays)), "Ann")] * 6
    acts += [
        lambda: match.undo("Bob"),
        lambda: match.redo("Bob"),
        lambda: match.retract(chance.choice(seqs), "Bob"),
        lambda: match.correct(chance.choice(seqs), f"{table.player_to_move} discard 25", "Bob"),
        lambda: match.enter("Ann 200", "Ann", anyway=True),
        lambda: match.set_policy(chance.choice(list(Policy)), "Ann"),
    ]
    chance.choice(acts)()

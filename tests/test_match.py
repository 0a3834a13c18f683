"""The match: the log is the state, plays wait for a tap, corrections judge anew."""

from __future__ import annotations

import random
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.common.errors import Problem
from companion.match.match import Answer, Fate, Match, Policy
from companion.match.proposals import Doubt, Mismatch, Proposal
from companion.rules.record import judge, notation
from companion.rules.record.notation import parse_play
from companion.rules.referee import legal_plays
from companion.rules.table import Team
from companion.storage.event_store import Store

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


def enter(match: Match, *lines: str) -> Match:
    for line in lines:
        assert match.enter(line, "Ann").done, line
    return match


def seen(match: Match, number: int, text: str, *, sure: bool = True) -> None:
    play = parse_play(text, match.state.game.teams)
    match.propose(Proposal(number, play, None, 0.9, float(number), sure=sure))


def texts(match: Match) -> list[str]:
    return [entry.written.text for entry in match.state.hand_entries]


def codes(match: Match) -> list[list[str]]:
    return [[why.code for why in pending.judged.reasons] for pending in match.state.pending]


# --- Setting up ----------------------------------------------------------------------------------------------


def test_a_match_begins_with_its_header_and_the_first_player(match):
    assert match.state.game.table.player_to_move == "Ann"
    assert match.record() == "edition classic\nside Ann\nside Bob\n\nhand first Ann\n"


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


def test_a_new_match_starts_empty(match):
    enter(match, "Ann roll")
    seen(match, 1, "Bob roll")

    match.start(PAIRS)

    assert match.state.game.hand_number == 1
    assert match.state.pending == ()
    assert texts(match) == []


# --- Plays by hand -------------------------------------------------------------------------------------------


def test_a_legal_play_counts_at_once(match):
    enter(match, "Ann roll", "Bob discard 25", "Ann 100")

    assert match.state.game.table.side_of("Ann").km == 100


def test_an_illegal_play_waits_for_the_tables_answer(match):
    outcome = match.enter("Ann 100", "Ann")

    assert not outcome.done
    assert codes(match) == [["not-driving"]]
    assert texts(match) == []


def test_an_illegal_play_can_be_played_all_the_same(match):
    match.enter("Ann 100", "Ann")

    match.confirm(match.state.pending[0].id, "Bob", anyway=True)

    assert texts(match) == ["Ann 100 anyway"]
    assert match.state.game.table.side_of("Ann").km == 100
    assert match.state.pending == ()


def test_an_illegal_play_can_be_taken_back(match):
    match.enter("Ann 100", "Ann")
    (pending,) = match.state.pending

    match.dismiss(pending.id, "Ann", Fate.TAKEN_BACK)

    assert match.state.pending == ()
    assert match.state.game.table.player_to_move == "Ann"
    assert match.state.fates[pending.id] is Fate.TAKEN_BACK


def test_what_is_no_play_is_a_problem_that_says_how_to_write_it(match):
    with pytest.raises(Problem, match="begins with a player's name"):
        match.enter("Zoe roll", "Ann")


def test_the_hand_is_counted_by_itself_when_it_ends(match):
    enter(match, "Ann roll", "Bob discard 25", "Ann 200", "Bob discard 25", "Ann 200", "Bob discard 25")
    enter(match, "Ann 100", "Bob discard 50", "Ann 100", "Bob discard 50", "Ann 100", "Ann finish")

    (result,) = match.state.game.hands

    assert result.by == "Ann"
    assert result.sheets["Ann"].total == 700 + 400 + 500


def test_the_next_hand_begins_with_the_next_player(match):
    enter(match, "Ann roll", "end")

    match.next_hand("Ann")

    assert match.state.game.table.player_to_move == "Bob"
    assert match.state.game.hand_number == 2


def test_a_second_tap_on_next_hand_does_nothing(match):
    enter(match, "end")
    match.next_hand("Ann")

    assert not match.next_hand("Bob").done
    assert match.state.game.hand_number == 2


# --- Proposals -----------------------------------------------------------------------------------------------


def test_a_proposal_counts_only_once_it_is_confirmed(match):
    seen(match, 1, "Ann roll")
    before = texts(match)

    match.confirm(1, "Bob")

    assert (before, texts(match)) == ([], ["Ann roll"])


def test_a_later_proposal_is_judged_as_if_the_earlier_were_applied(match):
    seen(match, 1, "Ann roll")
    seen(match, 2, "Bob stop > Ann")
    seen(match, 3, "Ann 100")

    assert codes(match) == [[], [], ["under-hazard"]]


def test_confirming_a_later_proposal_confirms_the_legal_ones_before_it(match):
    seen(match, 1, "Ann roll")
    seen(match, 2, "Bob roll")

    match.confirm(2, "Ann")

    assert texts(match) == ["Ann roll", "Bob roll"]


def test_an_illegal_proposal_before_it_has_to_be_settled_first(match):
    seen(match, 1, "Ann 100")
    seen(match, 2, "Bob roll")

    outcome = match.confirm(2, "Ann")

    assert [why.code for why in outcome.reasons] == ["not-driving"]
    assert texts(match) == []


def test_two_people_confirming_at_once_count_the_play_once(match):
    seen(match, 1, "Ann roll")
    start = threading.Barrier(2)
    outcomes = []

    def tap(who):
        start.wait()
        outcomes.append(match.confirm(1, who).done)

    people = [threading.Thread(target=tap, args=(who,)) for who in ("Ann", "Bob")]
    for person in people:
        person.start()
    for person in people:
        person.join()

    assert sorted(outcomes) == [False, True]
    assert texts(match) == ["Ann roll"]


def test_entering_by_hand_what_the_camera_has_seen_confirms_it(match):
    seen(match, 1, "Ann roll")

    enter(match, "Ann roll")

    assert texts(match) == ["Ann roll"]
    assert match.state.pending == ()


def test_a_proposal_read_wrongly_is_entered_as_it_was(match):
    seen(match, 1, "Ann stop > Bob")

    match.amend(1, "Ann roll", "Ann")

    assert texts(match) == ["Ann roll"]
    assert match.state.fates[1] is Fate.CHANGED


def test_what_was_no_play_is_not_proposed_again(match):
    seen(match, 1, "Ann roll")
    match.dismiss(1, "Ann")

    seen(match, 1, "Ann roll")

    assert match.state.pending == ()
    assert match.state.fates[1] is Fate.NOT_A_PLAY


def test_a_withdrawn_proposal_cannot_be_confirmed_any_more(match):
    seen(match, 1, "Ann roll")
    match.withdraw(1)

    assert not match.confirm(1, "Ann").done
    assert texts(match) == []


# --- Policies ------------------------------------------------------------------------------------------------


def test_auto_confirms_what_is_legal_and_sure(match):
    match.set_policy(Policy.AUTO, "Ann")

    seen(match, 1, "Ann roll")

    assert texts(match) == ["Ann roll"]
    assert match.state.fates[1] is Fate.CONFIRMED


@pytest.mark.parametrize(("text", "sure"), [("Ann roll", False), ("Ann 100", True)])
def test_auto_asks_about_what_is_unsure_or_illegal(match, text, sure):
    match.set_policy(Policy.AUTO, "Ann")

    seen(match, 1, text, sure=sure)

    assert texts(match) == []
    assert len(match.state.pending) == 1


def test_auto_goes_on_once_the_doubt_before_it_is_settled(match):
    match.set_policy(Policy.AUTO, "Ann")
    seen(match, 1, "Ann roll", sure=False)
    seen(match, 2, "Bob roll")

    match.confirm(1, "Ann")

    assert texts(match) == ["Ann roll", "Bob roll"]


def test_play_on_takes_the_next_players_play_as_a_tap(match):
    match.set_policy(Policy.PLAY_ON, "Ann")
    seen(match, 1, "Ann driving-ace")
    seen(match, 2, "Ann roll")
    before = texts(match)

    seen(match, 3, "Bob roll")

    assert before == []
    assert texts(match) == ["Ann driving-ace", "Ann roll"]
    assert [pending.id for pending in match.state.pending] == [3]


def test_play_on_does_not_wave_an_illegal_play_through(match):
    match.set_policy(Policy.PLAY_ON, "Ann")
    seen(match, 1, "Ann 100")

    seen(match, 2, "Bob roll")

    assert texts(match) == []


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


def test_a_double_tap_on_undo_undoes_once(match):
    enter(match, "Ann roll", "Bob roll")
    seq = match.state.undoable.seq

    match.undo("Ann", seq)
    again = match.undo("Ann", seq)

    assert not again.done
    assert texts(match) == ["Ann roll"]


def test_the_set_up_is_not_undone(match):
    assert match.state.undoable is None
    assert not match.undo("Ann").done


def test_a_late_correction_judges_what_follows_anew_and_drops_nothing(match):
    enter(match, "Ann roll", "Bob roll", "Ann 100")
    first = match.state.hand_entries[0]

    match.correct(first.seq, "Ann discard 25", "Bob")

    assert texts(match) == ["Ann discard 25", "Bob roll", "Ann 100"]
    assert [entry.written.text for entry in match.state.attention] == ["Ann 100"]
    assert match.state.game.table.side_of("Ann").km == 0
    assert match.state.hand_entries[0].written.corrected_by == "Bob"


def test_a_line_that_became_illegal_can_stand_all_the_same(match):
    enter(match, "Ann roll", "Bob roll", "Ann 100")
    match.correct(match.state.hand_entries[0].seq, "Ann discard 25", "Bob")

    match.let_stand(match.state.attention[0].seq, "Bob")

    assert match.state.attention == ()
    assert match.state.game.table.side_of("Ann").km == 100


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


def test_a_correction_reaches_the_match_totals_of_hands_gone_by(match):
    enter(match, "Ann roll", "Bob roll", "Ann 100", "end")
    match.next_hand("Ann")
    hundred = next(entry for entry in match.state.entries if entry.written.text == "Ann 100")

    match.correct(hundred.seq, "Ann 75", "Ann")

    assert match.state.game.hands[0].match["Ann"] == 75


def test_a_correction_in_an_earlier_hand_names_the_lines_there_that_no_longer_fit(match):
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

    replayed = [(item.line.text, item.verdict, item.reasons) for item in judged_lines(match.record())]

    entries = [entry.judged for entry in match.state.hand_entries]
    assert replayed == [(judged.line.text, judged.verdict, judged.reasons) for judged in entries]
    assert len(match.state.attention) == len([verdict for _, verdict, _ in replayed if verdict == "illegal"]) > 0


def judged_lines(text: str) -> list[judge.JudgedLine]:
    return [item for item in judge.judge(notation.lines(text)) if isinstance(item, judge.JudgedLine)]


def test_a_players_name_to_show_can_change(match):
    match.sit("Ann", "phone", name='Ann "Speedy" Smith'.replace('"', "”"))

    assert match.state.game.shown["Ann"] == "Ann ”Speedy” Smith"
    assert match.state.seats == {"Ann": 1}


# --- Doubts --------------------------------------------------------------------------------------------------


def unsure(match: Match, number: int, *plays: str, zone: str = "side-1/battle") -> None:
    read = tuple(parse_play(text, match.state.game.teams) for text in plays)
    match.doubt(Doubt(number, zone, read, 0.5, float(number), crop=b"a card"))


def test_a_card_in_doubt_counts_once_somebody_says_which_it_is(match):
    unsure(match, 1, "Ann roll", "Ann discard roll")

    outcome = match.answer_doubt(1, "Ann roll", "Bob")

    assert outcome.done
    assert texts(match) == ["Ann roll"]
    assert match.state.doubts == ()


def test_another_card_than_those_in_question_may_be_the_answer(match):
    unsure(match, 1, "Ann roll")

    match.answer_doubt(1, "Ann right-of-way", "Bob")

    assert texts(match) == ["Ann right-of-way"]


def test_of_two_answers_the_first_counts_and_the_second_is_told(match):
    unsure(match, 1, "Ann roll", "Ann stop > Bob")
    match.answer_doubt(1, "Ann roll", "Ann")

    second = match.answer_doubt(1, "Ann stop > Bob", "Bob")

    assert not second.done
    assert second.say == "That was settled already."
    assert texts(match) == ["Ann roll"]


def test_an_answer_that_is_illegal_waits_with_its_reasons_and_the_picture(match):
    unsure(match, 1, "Ann 100")

    outcome = match.answer_doubt(1, "Ann 100", "Bob")

    assert [why.code for why in outcome.reasons] == ["not-driving"]
    assert codes(match) == [["not-driving"]]
    assert match.state.pending[0].proposal.crop == b"a card"
    assert match.state.doubts == ()


def test_an_illegal_answer_can_stand(match):
    unsure(match, 1, "Ann 100")
    match.answer_doubt(1, "Ann 100", "Bob")

    match.confirm(match.state.pending[0].id, "Bob", anyway=True)

    assert texts(match) == ["Ann 100 anyway"]


def test_an_answer_counts_before_what_was_laid_after_its_card(match):
    match.set_policy(Policy.AUTO, "Ann")
    unsure(match, 1, "Ann roll")
    seen(match, 2, "Bob roll")
    assert codes(match) == [["not-your-turn"]]

    match.answer_doubt(1, "Ann roll", "Ann")

    assert texts(match) == ["Ann roll", "Bob roll"]


def test_an_answer_brings_the_legal_plays_before_it_along(match):
    seen(match, 1, "Ann roll")
    unsure(match, 2, "Bob roll")

    match.answer_doubt(2, "Bob roll", "Ann")

    assert texts(match) == ["Ann roll", "Bob roll"]


def test_what_was_in_doubt_may_be_no_play(match):
    unsure(match, 1, "Ann roll")

    outcome = match.answer_doubt(1, None, "Ann")
    unsure(match, 1, "Ann roll")

    assert outcome.done
    assert match.state.doubts == ()
    assert texts(match) == []


def test_an_answer_that_is_no_play_leaves_the_doubt_open(match):
    unsure(match, 1, "Ann roll")

    with pytest.raises(Problem):
        match.answer_doubt(1, "Ann rolls", "Ann")

    assert match.state.doubted(1) is not None


def test_an_answer_can_be_undone(match):
    unsure(match, 1, "Ann roll")
    match.answer_doubt(1, "Ann roll", "Ann")

    match.undo("Ann")

    assert texts(match) == []


def test_a_doubt_that_has_settled_itself_is_asked_no_longer(match):
    unsure(match, 1, "Ann roll")
    match.clear_doubt(1)
    version = match.state.version

    match.clear_doubt(1)

    assert match.state.doubts == ()
    assert match.state.version == version


def test_a_doubt_with_likelier_plays_takes_the_place_of_the_one_before(match):
    unsure(match, 1, "Ann roll")

    unsure(match, 1, "Ann right-of-way", "Ann roll")

    (doubt,) = match.state.doubts
    assert [str(play) for play in doubt.plays] == ["Ann right-of-way", "Ann roll"]


def test_the_oldest_doubt_is_asked_before_what_was_laid_later(match):
    seen(match, 3, "Bob roll")
    unsure(match, 2, "Ann stop > Bob")
    unsure(match, 1, "Ann roll")

    assert [doubt.id for doubt in match.state.doubts] == [1, 2]
    assert match.state.asks_first.id == 1


def test_what_was_laid_before_a_card_in_doubt_is_asked_first(match):
    seen(match, 1, "Ann roll")
    unsure(match, 2, "Bob roll")

    assert match.state.asks_first is None


def test_a_play_entered_by_hand_answers_the_doubt_about_its_card(match):
    unsure(match, 1, "Ann roll", "Ann right-of-way")

    match.enter("Ann roll", "Ann")

    assert match.state.doubts == ()
    assert texts(match) == ["Ann roll"]


def test_doubts_end_with_their_hand(match):
    unsure(match, 1, "Ann roll")
    match.enter("end", "Ann")

    match.next_hand("Ann")

    assert match.state.doubts == ()


# --- Table and record differ ---------------------------------------------------------------------------------


def differs(match: Match, zone: str, expected: str | None, found: str | None, number: int = 1) -> None:
    match.mismatch(Mismatch(number, zone, expected, found, "It differs."))


def test_the_table_is_right_changes_the_card_in_the_record(match):
    enter(match, "Ann roll", "Bob roll", "Ann 75")
    differs(match, "side-1/distance", "75", "25")

    match.answer_mismatch(1, Answer.TABLE, "Ann")

    assert texts(match)[-1] == "Ann 25"
    assert match.state.mismatches == ()


def test_the_table_is_right_takes_out_a_line_whose_card_is_not_there(match):
    enter(match, "Ann roll", "Bob stop > Ann")
    differs(match, "side-1/battle", "stop", None)

    match.answer_mismatch(1, Answer.TABLE, "Ann")

    assert texts(match) == ["Ann roll"]


def test_a_difference_that_no_line_explains_stays_and_says_so(match):
    differs(match, "side-2/battle", "stop", None)

    outcome = match.answer_mismatch(1, Answer.TABLE, "Ann")

    assert "change it in the log" in outcome.say
    assert len(match.state.mismatches) == 1


def test_the_record_is_right_changes_nothing_and_may_be_asked_again(match):
    enter(match, "Ann roll")
    differs(match, "side-1/battle", "roll", None)
    match.answer_mismatch(1, Answer.RECORD, "Ann")

    differs(match, "side-1/battle", "roll", None, number=2)

    assert texts(match) == ["Ann roll"]
    assert [m.id for m in match.state.mismatches] == [2]


def test_an_ignored_difference_is_not_asked_again_even_after_a_restart(match, store):
    differs(match, "side-1/battle", "roll", None)
    match.answer_mismatch(1, Answer.IGNORE, "Ann")

    again = Match(store)
    differs(again, "side-1/battle", "roll", None, number=2)

    assert again.state.mismatches == ()


def test_a_difference_that_is_gone_is_not_asked_about(match):
    differs(match, "side-1/battle", "roll", None)

    match.clear_mismatch(1)

    assert match.state.mismatches == ()


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


@settings(max_examples=25, deadline=None)
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


def test_a_team_is_seated_as_the_header_says(store):
    match = Match(store)

    match.start(PAIRS)

    assert match.state.game.teams == (Team("Reds", ("Ann", "Cid")), Team("Blues", ("Bob", "Dee")))

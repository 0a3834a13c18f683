"""An earlier match that was not played to its end is gone on with."""

import pytest
from client import lines, played, stranger, tap, text_of

from companion.match.match import Match
from companion.match.state import Policy

FIRST, SECOND = ("side Ann", "side Bob", "hand first Ann"), ("side Cid", "side Dee", "hand first Cid")


@pytest.fixture
def two(match):
    """A match of two that was left in its second hand, and another that has been begun since."""
    match.start(FIRST)
    played(match, "Ann roll", "Bob roll", "Ann 100", "end")
    match.next_hand("Ann")
    played(match, "Bob roll")
    match.start(SECOND)
    return match


def first_of(match) -> int:
    return match.store.matches()[0]


def go_on(page, match, **fields):
    return tap(page, f"/past/{first_of(match)}/go-on", **fields)


def test_a_match_that_is_not_over_is_offered_and_goes_on_where_it_was(page, two):
    assert text_of(page.get("/past")).count("Go on with this match") == 1

    go_on(page, two)

    assert (two.state.match, lines(two), two.state.game.totals["Ann"]) == (first_of(two), ["Bob roll"], 100)
    played(two, "Ann roll")
    assert lines(two) == ["Bob roll", "Ann roll"]


@pytest.mark.parametrize("played_in_it", [True, False])
def test_a_hand_without_a_play_is_not_offered_to_be_watched(page, two, played_in_it):
    if played_in_it:
        played(two, "Cid roll")

    offered = "Watch the unfinished one" in text_of(page.get(f"/past/{two.state.match}"))

    assert offered is played_in_it


def test_another_match_with_plays_is_asked_about_and_nothing_of_either_is_lost(page, two):
    played(two, "Cid roll", "Dee roll")
    second = two.state.match
    asked = go_on(page, two)

    assert asked.status_code == 409
    assert "Another match is being played." in text_of(asked)
    assert two.state.match == second

    go_on(page, two, replace="1")
    tap(page, f"/past/{second}/go-on", replace="1")

    assert lines(two) == ["Cid roll", "Dee roll"]
    archive = page.application.extensions["companion"].archive
    assert archive.past(two.store, first_of(two)).lines[-2:] == ("hand first Bob", "Bob roll")


def test_it_is_at_the_table_after_a_restart_too(page, two):
    go_on(page, two)

    assert lines(Match(two.store)) == ["Bob roll"]


def test_a_tap_that_is_sent_twice_counts_once(page, two):
    for _ in range(2):
        go_on(page, two, request="one")

    assert [event.kind for event in two.store.events(first_of(two))].count("setting") == 2


def test_what_was_undone_before_is_not_what_undo_takes_back_there(page, two):
    played(two, "Cid roll")
    go_on(page, two, replace="1")

    tap(page, "/undo")

    assert lines(two) == []


def test_cards_of_the_other_hand_do_not_count_without_a_tap(page, two):
    two.set_policy(Policy.AUTO, "Ann")

    go_on(page, two)

    assert two.state.policy is Policy.TAP


def test_what_is_over_what_was_never_played_and_what_the_demo_played_is_not_offered(page, match):
    match.start(("option match=one-race", *FIRST))
    played(match, "Ann roll", "Bob roll", "Ann 200", "end")
    match.start(FIRST)
    match.start(FIRST, by="demo")
    played(match, "Ann roll")
    match.start(SECOND)

    assert "Go on with this match" not in text_of(page.get("/past"))
    for number in match.store.matches():
        tap(page, f"/past/{number}/go-on")
    assert match.state.match == match.store.matches()[-1]


def test_only_the_host_goes_on_with_it(app, page, two):
    tap(page, "/join", player="Cid")
    guest = stranger(app)

    assert "Go on with this match" not in text_of(guest.get("/past"))
    assert go_on(guest, two).status_code in (401, 403)
    assert two.state.match == two.store.matches()[-1]


def test_the_hands_of_a_match_without_cards_are_those_it_had(page, match):
    match.start(FIRST, robots={})
    held = match.state.dealt.seen_by("Ann").hand
    play = match.state.dealt.seen_by("Ann").plays[0]
    assert match.enter(str(play), "Ann").done
    after = match.state.dealt.seen_by("Ann").hand
    match.start(SECOND, robots={})

    go_on(page, match)

    assert held != match.state.dealt.seen_by("Ann").hand == after

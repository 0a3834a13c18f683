"""Resuming an unfinished match."""

import pytest
from client import lines, played, stranger, tap, text_of

from companion.match.match import Match
from companion.match.state import Policy

FIRST, SECOND = ("side Ann", "side Bob", "hand first Ann"), ("side Cid", "side Dee", "hand first Cid")


@pytest.fixture
def two(match):
    """Two matches: one stopped in its second hand, and a later one."""
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


def test_an_unfinished_match_is_offered_and_resumes_where_it_stopped(page, two):
    assert text_of(page.get("/past")).count("Continue this match") == 1

    go_on(page, two)

    assert (two.state.match, lines(two), two.state.game.totals["Ann"]) == (first_of(two), ["Bob roll"], 100)
    played(two, "Ann roll")
    assert lines(two) == ["Bob roll", "Ann roll"]


@pytest.mark.parametrize("played_in_it", [True, False])
def test_a_hand_without_plays_has_no_replay(page, two, played_in_it):
    if played_in_it:
        played(two, "Cid roll")

    offered = "Replay the unfinished hand" in text_of(page.get(f"/past/{two.state.match}"))

    assert offered is played_in_it


def test_replacing_a_match_with_plays_needs_confirmation_and_loses_neither(page, two):
    played(two, "Cid roll", "Dee roll")
    second = two.state.match
    asked = go_on(page, two)

    assert asked.status_code == 409
    assert "Another match is in progress." in text_of(asked)
    assert two.state.match == second

    go_on(page, two, replace="1")
    tap(page, f"/past/{second}/go-on", replace="1")

    assert lines(two) == ["Cid roll", "Dee roll"]
    archive = page.application.extensions["companion"].archive
    assert archive.past(two.store, first_of(two)).lines[-2:] == ("hand first Bob", "Bob roll")


def test_the_resumed_match_is_still_at_the_table_after_a_restart(page, two):
    go_on(page, two)

    assert lines(Match(two.store)) == ["Bob roll"]


def test_a_repeated_tap_counts_once(page, two):
    for _ in range(2):
        go_on(page, two, request="one")

    assert [event.kind for event in two.store.events(first_of(two))].count("setting") == 2


def test_undo_in_the_resumed_match_skips_what_was_already_undone(page, two):
    played(two, "Cid roll")
    go_on(page, two, replace="1")

    tap(page, "/undo")

    assert lines(two) == []


def test_cards_of_the_other_hand_do_not_count_without_a_tap(page, two):
    two.set_policy(Policy.AUTO, "Ann")

    go_on(page, two)

    assert two.state.policy is Policy.TAP


def test_finished_unplayed_and_demo_matches_are_not_offered(page, match):
    match.start(("option match=one-race", *FIRST))
    played(match, "Ann roll", "Bob roll", "Ann 200", "end")
    match.start(FIRST)
    match.start(FIRST, by="demo")
    played(match, "Ann roll")
    match.start(SECOND)

    assert "Continue this match" not in text_of(page.get("/past"))
    for number in match.store.matches():
        tap(page, f"/past/{number}/go-on")
    assert match.state.match == match.store.matches()[-1]


def test_only_the_host_can_resume_a_match(app, page, two):
    tap(page, "/join", player="Cid")
    guest = stranger(app)

    assert "Continue this match" not in text_of(guest.get("/past"))
    assert go_on(guest, two).status_code in (401, 403)
    assert two.state.match == two.store.matches()[-1]


def test_a_resumed_dealt_match_has_the_same_hands(page, match):
    match.start(FIRST, robots={})
    held = match.state.dealt.seen_by("Ann").hand
    play = match.state.dealt.seen_by("Ann").plays[0]
    assert match.enter(str(play), "Ann").done
    after = match.state.dealt.seen_by("Ann").hand
    match.start(SECOND, robots={})

    go_on(page, match)

    assert held != match.state.dealt.seen_by("Ann").hand == after

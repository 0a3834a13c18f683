"""A dealt hand in a browser: from set-up, by taps on cards against two robots, to the score."""

from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from browser.screens import PHONE, SMALL, WALL
from browser.test_accessibility import AXE, BROKEN, FINDINGS, SPILLS
from companion.match.robot_players import RobotPlayers, decide, let_pass


@pytest.fixture
def robots(match, monkeypatch):
    """Robots without pauses; the same cards are dealt each time."""
    monkeypatch.setattr("companion.match.drafts.secrets", SimpleNamespace(token_hex=lambda _size: "the same cards"))
    players = RobotPlayers(match, pause_s=0, answer_s=0)
    players.start()
    yield players
    players.stop()


def test_a_hand_against_two_robots(opened, match, url, robots):
    page = opened(f"{url}/setup", PHONE)
    page.get_by_label("Play without cards").check(force=True)
    page.locator('input[value="3x1"]').check(force=True)
    page.get_by_role("button", name="Start the game").click()
    expect(page.get_by_role("heading", name="Your turn")).to_be_visible()
    assert page.locator(".held.use .tile").count() == 7
    page.evaluate(AXE)
    assert page.evaluate(FINDINGS, {}) == page.evaluate(SPILLS) == page.evaluate(BROKEN) == []

    page.locator(".tools label").click()
    expect(page.locator(".held.use")).to_be_hidden()
    discarded = page.locator(".held.out .tile:not(.faint)").first
    text = discarded.get_attribute("value")
    discarded.click()
    expect(page.locator(".log")).to_contain_text("Player 1 discards")
    assert match.state.hand_entries[0].written.text == text
    expect(page.get_by_role("heading", name="Your turn")).to_be_visible()
    expect(page.locator(".held.use")).to_be_visible()

    page.get_by_role("button", name="Sort").click()
    expect(page.get_by_role("button", name="In drawing order")).to_be_visible()
    page.get_by_role("button", name="What would you play?").click()
    expect(page.get_by_role("status").filter(has_text="I would")).to_be_visible()
    wall = opened(f"{url}/wall", WALL)
    expect(wall.get_by_role("heading", name="Player 1’s turn")).to_be_visible()
    assert wall.locator(".tile").count() == 0

    while match.state.game.hand_is_open or match.state.dealt.waiting:
        own = match.state.dealt.seen_by("Player-1")
        if own.plays:
            match.enter(str(own.plays[0]), "Player-1")
        elif own.is_asked:
            match.waive("Player-1")
        elif not decide(match):
            let_pass(match)
    expect(page.get_by_role("button", name="Next hand")).to_be_visible()


def test_a_hand_whose_turn_it_is_stands_out_and_a_waiting_one_does_not(opened, stacked, match, url):
    stacked("50 25 25 75 repairs gasoline", "roll accident 25 25 50 75", "100")
    match.start(["side Ann", "side Bob", "hand first Ann"], robots={})
    looks = {}
    for name in ("Ann", "Bob"):
        page = opened(f"{url}/join", SMALL)
        page.get_by_role("button", name=name).click()
        page.locator(".held.use").wait_for()
        page.wait_for_load_state()  # the page may still be without its styles
        looks[name] = page.evaluate("""() => ["outlineStyle", "borderTopColor", "backgroundColor"].map((what, at) =>
            getComputedStyle(document.querySelectorAll(".held.use, .held.use .tile")[Math.min(at, 1)])[what])""")

    assert looks["Ann"][0] == "solid", "a frame, though no card can be laid"
    assert looks["Bob"] == ["none", *["rgba(0, 0, 0, 0)"] * 2]

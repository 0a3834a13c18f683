"""Taps that answer: shown at once, sent until answered, each counted once."""

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import LOOKS_MS
from browser.screens import PHONE, THREE, TWO, feed


@pytest.fixture
def game(match):
    feed(match, TWO)
    return match


def plays(match) -> list[str]:
    return [str(entry.play) for entry in match.state.hand_entries]


def tile(page: Page, play: str):
    return page.locator(f'.by-tap .taps.use button[value="{play}"]')


def fingers(page: Page, play: str):
    """Return a function that taps where this tile was, whatever is there now."""
    box = tile(page, play).bounding_box()
    return lambda: page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


@pytest.mark.parametrize("after_ms", [100, 700, 1500])
def test_a_second_tap_on_the_same_spot_is_no_play_of_the_next_player(opened, game, url, after_ms):
    page = opened(url, PHONE)
    tap = fingers(page, "Ann roll")
    tap()
    page.wait_for_timeout(after_ms)
    tap()
    expect(page.locator("h1")).to_have_text("Bob’s turn")
    page.wait_for_timeout(LOOKS_MS)
    assert plays(game) == ["Ann roll"]

    tap()
    expect(page.locator("h1")).to_have_text("Ann’s turn")
    assert plays(game) == ["Ann roll", "Bob roll"]


def test_a_tap_on_a_picker_whose_owner_has_just_changed_is_ignored_and_shaken(opened, game, url):
    page = opened(url, PHONE)
    game.enter("Ann roll", "Ann")
    expect(page.locator("h1")).to_have_text("Bob’s turn")
    tile(page, "Bob roll").click()

    expect(page.locator(".shakes")).to_have_attribute("value", "Bob roll")
    assert plays(game) == ["Ann roll"]


def test_a_tap_shows_at_once_and_nothing_else_is_sent_meanwhile(opened, game, url):
    page = opened(url, PHONE)
    page.route("**/play", lambda route: (page.wait_for_timeout(1500), route.continue_()))
    tile(page, "Ann roll").click()
    shown_ms = page.evaluate("""() => new Promise((done) => {
      const since = performance.now();
      (function look() {
        if (document.querySelector("p.sending")) done(performance.now() - since); else requestAnimationFrame(look);
      })();
    })""")
    assert shown_ms < 1500
    expect(page.locator("p.sending")).to_contain_text("Ann: Roll")
    tile(page, "Ann driving-ace").click()

    expect(page.locator("h1")).to_have_text("Bob’s turn")
    expect(page.locator("p.sending")).to_have_count(0)
    assert plays(game) == ["Ann roll"]


def test_a_tap_made_offline_waits_visibly_and_is_sent_when_the_network_is_back(opened, game, url):
    page = opened(url, PHONE)
    page.context.set_offline(True)
    tile(page, "Ann roll").click()
    expect(page.locator("p.sending")).to_contain_text("waiting for the network")
    expect(page.locator("#offline")).to_be_visible()
    turn, line = page.locator("h1").bounding_box(), page.locator("#offline").bounding_box()
    assert line["y"] + line["height"] <= turn["y"], "whose turn it is stays visible"
    assert plays(game) == []
    page.context.set_offline(False)

    expect(page.locator("h1")).to_have_text("Bob’s turn")
    assert plays(game) == ["Ann roll"]


def test_a_waiting_tap_can_be_withdrawn(opened, game, url):
    page = opened(url, PHONE)
    page.context.set_offline(True)
    tile(page, "Ann roll").click()
    page.get_by_role("button", name="Don’t send").click()
    page.context.set_offline(False)
    expect(page.locator("#offline")).to_be_hidden()

    assert page.locator("p.sending").count() == 0
    assert plays(game) == []


def test_a_play_whose_answer_is_lost_counts_once(opened, game, url):
    page = opened(url, PHONE)
    page.route("**/play", lambda route: (route.fetch(), route.abort()), times=1)
    tile(page, "Ann roll").click()

    expect(page.locator("h1")).to_have_text("Bob’s turn")
    assert plays(game) == ["Ann roll"]


def test_a_play_waits_on_the_page_that_asks_for_it_too(opened, match, url):
    feed(match, THREE, ["Ann roll", "Bob roll", "Cid roll"])
    page = opened(f"{url}/play?player=Ann&card=stop", PHONE)
    page.context.set_offline(True)
    page.get_by_role("button", name="Bob").click()
    expect(page.locator("p.sending")).to_contain_text("Ann: Bob")
    page.context.set_offline(False)

    expect(page).to_have_url(f"{url}/")
    assert plays(match)[-1] == "Ann stop > Bob"


@pytest.mark.parametrize(
    ("play", "says"),
    [("Ann roll", "That was already entered: Ann plays Roll."), ("Ann driving-ace", "Not entered: Ann plays Driving")],
    ids=["the same", "another"],
)
def test_two_phones_that_enter_a_play_accuse_nobody(opened, game, url, play, says):
    page = opened(url, PHONE)
    page.context.set_offline(True)
    tile(page, play).click()
    expect(page.locator("p.sending")).to_be_visible()
    game.enter("Ann roll", "Bob")
    page.context.set_offline(False)

    expect(page.get_by_text(says)).to_be_visible()
    expect(page.get_by_text("Not allowed")).to_have_count(0)
    assert plays(game) == ["Ann roll"]


def test_focus_stays_on_the_same_tile_after_a_play(opened, game, url):
    page = opened(url, PHONE)
    page.locator("#tap-use-roll").focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Bob’s turn")

    expect(page.locator("#tap-use-roll")).to_be_focused()


def test_focus_goes_to_the_heading_if_its_button_is_gone(opened, game, url):
    game.enter("Ann 100", "Ann")
    page = opened(url, PHONE)
    page.get_by_role("button", name="Take it back").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Not allowed")).to_have_count(0)

    expect(page.locator("main h1")).to_be_focused()

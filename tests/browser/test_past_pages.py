"""From the end of a hand to its replay in a real browser, with and without scripts."""

import pytest
from playwright.sync_api import expect

from browser.screens import SMALL, TWO, feed

OPENING = ["Ann roll", "Bob roll", "Ann 100", "Bob stop > Ann", "Ann right-of-way !"]
WINNING = [*OPENING, *["Ann 100", "Bob 25"] * 5, "Ann 100"]


@pytest.fixture
def ended(match):
    feed(match, TWO, [*WINNING, "Ann finish"])
    return match


@pytest.mark.variants(1)
@pytest.mark.parametrize("scripts", [True, False])
def test_from_the_end_of_a_hand_to_its_replay(opened, ended, url, scripts):
    page = opened(url, SMALL, java_script_enabled=scripts)

    page.get_by_role("link", name="See the score").click()
    expect(page.get_by_role("row", name="This hand")).to_contain_text("1800")
    page.get_by_role("row", name="Coups fourrés").locator("summary").click()
    expect(page.get_by_text("Ann countered Stop at once with Right of Way: 300 extra.")).to_be_visible()
    page.get_by_role("link", name="Replay").click()
    for said in ("Ann plays Roll.", "Bob plays Roll.", "Ann drives 100 km."):
        page.get_by_role("link", name="Next play").click()
        expect(page.locator(".told .say")).to_have_text(said)
    page.get_by_role("link", name="Previous play").click()
    expect(page.locator(".told .say")).to_have_text("Bob plays Roll.")
    page.get_by_role("link", name="Last play").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text(f"{len(WINNING) + 1} of {len(WINNING) + 1}")


def test_arrow_keys_step_through_a_hand(opened, ended, url):
    page = opened(url + "/past/1/1", SMALL)

    for key, said in (
        ("ArrowRight", "Ann plays Roll."),
        ("ArrowRight", "Bob plays Roll."),
        ("ArrowLeft", "Ann plays Roll."),
    ):
        page.keyboard.press(key)
        expect(page.locator(".told .say")).to_have_text(said)
    page.keyboard.press("Home")

    expect(page.locator(".told .say")).to_have_text("The cards are dealt.")
    assert page.url.endswith("?step=0")


def settled(page) -> None:
    """Wait until no step is pending: a new link is a plain one for a moment."""
    expect(page.locator(".htmx-request, .htmx-settling")).to_have_count(0)


def test_autoplay_runs_until_stopped(opened, ended, url):
    page = opened(url + "/past/1/1?step=12", SMALL)
    run = page.locator("#run")

    page.get_by_label("Speed").select_option("slow")
    page.locator("body").press(" ")
    expect(run).to_have_text("Pause")
    expect(page.get_by_role("heading", level=1)).to_contain_text("14 of 17")
    run.click()
    expect(run).to_have_text("Autoplay")
    assert page.get_by_label("Speed").input_value() == "slow"
    run.press("Enter")
    settled(page)
    page.keyboard.press("Home")
    expect(run).to_have_text("Autoplay")
    settled(page)
    page.keyboard.press("End")
    expect(page.locator(".plate small")).to_have_text("17 of 17")
    settled(page)
    run.press("Enter")

    expect(page.locator(".plate small")).to_have_text("0 of 17")
    expect(run).to_have_text("Pause")


def test_autoplay_stops_at_the_end_of_the_hand(opened, ended, url):
    page = opened(url + "/past/1/1?step=16", SMALL, reduced_motion="reduce")

    assert page.get_by_label("Speed").input_value() == "slow"
    page.locator("#run").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("17 of 17")
    expect(page.locator("#run")).to_have_text("Autoplay")


def test_the_link_to_a_play_is_copied_and_works_without_scripts(opened, ended, url):
    page = opened(url + "/past/1/1?step=2", SMALL)
    page.get_by_role("link", name="Next play").click()
    settled(page)
    page.locator("#link[href='?step=3']").click()

    expect(page.locator("#link")).to_have_text("Copied")
    link = page.locator("#link").evaluate("link => link.href")
    assert link == url + "/past/1/1?step=3"
    plain = opened(link, SMALL, java_script_enabled=False)
    expect(plain.locator(".told .say")).to_have_text("Ann drives 100 km.")
    expect(plain.locator("#player")).to_be_hidden()


def test_open_details_stay_open_when_the_score_changes(opened, match, url):
    feed(match, TWO, OPENING)
    page = opened(url + "/score", SMALL)
    page.get_by_role("row", name="Distance").locator("summary").click()

    match.enter("Ann 100", "Ann")

    expect(page.get_by_text("Ann: 2 × 100 km = 200")).to_be_visible()


def test_the_sheet_is_animated_once_and_not_with_reduced_motion(opened, ended, url):
    moving = "document.getAnimations().filter(one => one.animationName).length"
    page = opened(url + "/score", SMALL)
    still = opened(url + "/score", SMALL, reduced_motion="reduce")

    assert page.locator(".fresh tbody tr").count() == 5
    assert still.evaluate(moving) == 0
    expect(still.get_by_role("row", name="This hand")).to_contain_text("1800")
    page.reload()
    assert page.locator(".fresh").count() == 0


def test_the_score_is_printed_without_controls(opened, ended, url):
    page = opened(url + "/score", SMALL)
    page.emulate_media(media="print")

    expect(page.get_by_role("row", name="This hand")).to_be_visible()
    expect(page.get_by_role("button", name="Next hand")).to_be_hidden()
    expect(page.get_by_role("link", name="More")).to_be_hidden()
    assert page.pdf(format="A4").startswith(b"%PDF")

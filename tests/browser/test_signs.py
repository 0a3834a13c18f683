"""Explanations of signs: a long press on a button, or a tap that does nothing else."""

import re

import pytest
from playwright.sync_api import expect

from browser.screens import OPENING, TWO, feed


@pytest.fixture(autouse=True)
def _game(match):
    feed(match, TWO, OPENING)


def test_a_tap_on_a_sign_of_the_board_explains_it_and_another_closes_it(opened, url):
    page = opened(url)
    page.locator(".battle svg.sign").first.click()

    expect(page.get_by_role("dialog")).to_contain_text("Fixes")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.url.rstrip("/") == url.rstrip("/")


def test_a_long_press_on_a_card_of_the_picker_explains_it_and_plays_nothing(opened, url):
    page = opened(f"{url}/play")
    page.get_by_role("button", name=re.compile("^Repairs")).click(delay=900)

    expect(page.get_by_role("dialog", name="Repairs")).to_contain_text("Accident")
    assert page.url.endswith("/play")
    page.get_by_role("link", name="How to play").click()
    expect(page.get_by_role("heading", name="Remedies")).to_be_in_viewport()

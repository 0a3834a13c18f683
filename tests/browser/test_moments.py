"""A moment fills the screen once, and not where it is turned off."""

import pytest
from playwright.sync_api import expect

from browser.screens import ATTACK, RUSH, RUSH_WON, SMALL, TWO, WALL, feed


@pytest.fixture
def attacked(match):
    feed(match, TWO, ATTACK)
    return match


SCENE = """() => {
  const scene = document.querySelector(".moment");
  if (!scene) return null;
  const { width, height } = scene.getBoundingClientRect();
  const said = scene.textContent.includes("Ann +300") ? "Ann +300" : scene.textContent;
  return [said, { width, height }, getComputedStyle(scene).pointerEvents];
}"""
"""The scene's content, read at once because it ends by itself."""


@pytest.mark.parametrize(("path", "size"), [("/wall", WALL), ("/", SMALL)])
def test_a_coup_fourre_fills_the_screen_once_and_taps_pass_through(opened, attacked, url, path, size):
    page = opened(url + path, size)
    attacked.enter("Ann right-of-way !", "Ann")

    scene = page.locator(".moment")
    assert page.wait_for_function(SCENE).json_value() == ["Ann +300", size, "none"]
    expect(scene).to_have_count(0)
    page.reload()
    expect(page.locator("#moment[data-moment=coup-fourre]")).to_have_count(1)
    expect(scene).to_have_count(0)


def test_a_win_is_celebrated_once_no_u_turn_can_undo_it(opened, match, url):
    feed(match, RUSH, RUSH_WON[:-1])
    page = opened(url + "/wall", WALL)
    page.clock.install()
    page.reload()
    feed(match, None, RUSH_WON[-1:])

    expect(page.locator("#moment[data-moment=victory]")).to_have_count(1)
    page.clock.run_for(14_000)
    assert page.locator(".moment").count() == 0
    page.clock.run_for(2_000)
    expect(page.locator(".moment.victory")).to_contain_text("Ann wins the race by 750 km!")


CALM = "addEventListener('DOMContentLoaded', () => { document.body.dataset.calm = 'on'; })"


@pytest.mark.parametrize(("options", "script"), [({"reduced_motion": "reduce"}, ""), ({}, CALM)])
def test_a_moment_is_not_shown_if_turned_off(opened, attacked, url, options, script):
    page = opened(url + "/wall", WALL, **options)
    page.add_init_script(script)
    page.reload()
    attacked.enter("Ann right-of-way !", "Ann")

    expect(page.locator("#moment[data-moment=coup-fourre]")).to_have_count(1)
    assert page.locator(".moment").count() == 0


def test_an_undo_shows_no_moment_again(opened, attacked, url):
    attacked.enter("Ann right-of-way !", "Ann")
    attacked.enter("Ann 25", "Ann")
    page = opened(url + "/wall", WALL)
    attacked.undo("Ann")

    expect(page.locator("#moment[data-moment=coup-fourre]")).to_have_count(1)
    assert page.evaluate("sessionStorage.getItem('moment shown')") is not None
    assert page.locator(".moment").count() == 0


def test_moments_from_before_the_tab_was_opened_are_not_shown(opened, attacked, url):
    attacked.enter("Ann right-of-way !", "Ann")
    page = opened(url + "/more", SMALL)
    page.goto(url + "/")

    expect(page.locator("#moment[data-moment=coup-fourre]")).to_have_count(1)
    page.wait_for_function("sessionStorage.getItem('moment shown') > 0")
    assert page.locator(".moment").count() == 0

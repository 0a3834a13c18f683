"""Whole flows in a real browser: phones, the wall screen, taps, live updates."""

import re

import pytest
from client import lines
from marks import mostly_long
from playwright.sync_api import expect

from browser.conftest import LOOKS_MS
from browser.screens import (
    RUSH,
    RUSH_EIGHT,
    RUSH_FIVE,
    RUSH_PAIRS,
    RUSH_THREE,
    SIX,
    SMALL,
    TABLET,
    THREE,
    TWO,
    WALL,
    feed,
    propose,
)


@pytest.fixture
def game(match):
    feed(match, TWO)
    return match


def test_a_hand_without_a_camera_from_set_up_to_score(opened, match, url):
    page = opened(url)
    page.get_by_label("Name of player 1").fill("Ann Smith")
    page.get_by_label("Name of player 2").fill("<b>Bob</b>")
    page.get_by_role("button", name="Start the game").click()
    page.get_by_role("button", name="Ann Smith").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your turn")

    for card in ("Roll", "Roll", "200 km", "25 km", "200 km"):
        page.get_by_role("link", name="Other").click()
        page.get_by_role("button", name=card).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("<b>Bob</b>’s turn")
    page.get_by_role("link", name="Other").click()
    page.get_by_role("link", name="Discard").click()
    page.get_by_role("button", name="Stop").click()
    for card in ("100 km", "50 km", "200 km"):
        page.get_by_role("link", name="Other").click()
        page.get_by_role("button", name=card).click()
    expect(page.get_by_text("A side may play 2 cards of 200 km per hand")).to_be_visible()
    page.get_by_role("button", name="Take it back").click()
    page.get_by_role("link", name="Other").click()
    page.get_by_role("link", name="Other").click()
    page.get_by_role("button", name="End the hand now").click()

    expect(page.get_by_role("row", name="This hand")).to_contain_text("500")
    page.get_by_role("button", name="Next hand").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("<b>Bob</b>’s turn")


def test_a_proposal_appears_automatically_and_one_tap_confirms_it(opened, game, url):
    phone, wall = opened(url), opened(url + "/wall", WALL)
    propose(game, "Ann roll")

    phone.get_by_role("button", name="Confirm").wait_for()
    phone.wait_for_timeout(LOOKS_MS)
    phone.get_by_role("button", name="Confirm").click()

    expect(phone.get_by_role("heading", level=1)).to_have_text("Bob’s turn")
    expect(wall.get_by_role("heading", level=1)).to_have_text("Bob’s turn")
    assert lines(game) == ["Ann roll"]


def test_the_car_moves_along_the_road(opened, game, url):
    for play in ("Ann roll", "Bob roll"):
        game.enter(play, "Ann")
    page = opened(url)
    before = page.locator("#car-1").bounding_box()

    game.enter("Ann 200", "Ann")
    expect(page.locator("#car-1")).to_have_class(re.compile("p28"))

    page.wait_for_function("y => document.querySelector('#car-1').getBoundingClientRect().y < y - 20", arg=before["y"])


def test_a_page_that_lost_its_connection_says_so_and_recovers(opened, game, url):
    page = opened(url)
    page.evaluate("document.getElementById('offline').hidden")
    page.context.set_offline(True)

    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#offline")).to_be_visible()
    game.enter("Ann roll", "Ann")
    page.context.set_offline(False)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    expect(page.get_by_role("heading", level=1)).to_have_text("Bob’s turn")
    expect(page.locator("#offline")).to_be_hidden()


def test_a_page_polls_the_version_and_updates_only_after_a_change(opened, game, url):
    page = opened(url)
    asked = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(url)))
    for _ in range(3):
        page.wait_for_event("response", lambda response: response.url.endswith("/version"))
    still = list(asked)

    game.enter("Ann roll", "Ann")
    expect(page.get_by_role("heading", level=1)).to_have_text("Bob’s turn")

    assert "/version" in still
    assert "/" not in still
    assert "/" in asked


def test_a_failed_update_is_repeated(opened, game, url):
    page = opened(url)
    page.route(url + "/", lambda route: route.abort(), times=1)
    game.enter("Ann roll", "Ann")

    expect(page.get_by_role("heading", level=1)).to_have_text("Bob’s turn")
    expect(page.locator("#offline")).to_be_hidden()


def test_a_hidden_page_polls_rarely_and_immediately_when_shown(opened, game, url):
    page = opened(url)
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    page.wait_for_event("response", lambda response: response.url.endswith("/version"))
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    game.enter("Ann roll", "Ann")
    page.wait_for_timeout(3000)
    seldom = len(asked)

    page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_role("heading", level=1)).to_have_text("Bob’s turn")

    assert seldom <= 1


def test_everything_works_without_scripts(opened, game, url):
    propose(game, "Ann roll")
    page = opened(url, java_script_enabled=False)

    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("link", name="Score").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Score")
    assert lines(game) == ["Ann roll"]


def test_another_edition_is_shown_at_once_and_keeps_the_names(opened, match, url):
    page = opened(url + "/setup", SMALL)
    page.get_by_label("Name of player 1").fill("Ann Smith")
    page.get_by_label("Rush").check()
    page.locator("label", has_text="8").filter(has_text="in pairs").click()

    expect(page.get_by_label("Name of player 8")).to_be_visible()
    expect(page.get_by_label("Name of player 1")).to_have_value("Ann Smith")
    page.get_by_text("More rules").click()
    page.get_by_label("Mistake penalty").select_option("no")
    page.get_by_role("button", name="Start the game").click()
    page.get_by_role("button", name="Ann Smith").wait_for()

    assert match.state.game.edition_name == "rush"
    assert match.state.game.options == (("mistake-penalty", "no"),)
    assert len(match.state.game.table.seats) == 8


def test_another_edition_is_shown_without_scripts(opened, match, url):
    page = opened(url + "/setup", SMALL, java_script_enabled=False)
    page.get_by_label("Name of player 2").fill("Bob")
    page.get_by_label("Rush").check()
    page.get_by_role("button", name="Show these rules").click()

    expect(page.get_by_label("Rush")).to_be_checked()
    expect(page.get_by_label("Name of player 2")).to_have_value("Bob")
    expect(page.get_by_text("Count the cards of your deck")).to_be_visible()


OVER_THE_BORDER = """[...document.querySelectorAll(".side")].flatMap(card => {
  const border = card.getBoundingClientRect(), out = [];
  for (const sign of card.querySelectorAll("svg, .road, .laid span")) {
    const box = sign.getBoundingClientRect();
    if (box.width && (box.left < border.left || box.right > border.right)) out.push(sign.outerHTML.slice(0, 60));
  }
  const texts = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    if (!texts.currentNode.data.trim() || texts.currentNode.parentElement.closest("h2, .hidden")) continue;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const box = range.getBoundingClientRect();
    if (box.width && (box.left < border.left + 2 || box.right > border.right - 2)) out.push(texts.currentNode.data);
  }
  return out;
})"""
LONG_THREE = ["side Ann", "side Bob", "side Cid", "target 1000", "hand first Ann"]


@pytest.mark.variants(2)
@pytest.mark.parametrize("width", mostly_long([320, 360], 320))
@pytest.mark.parametrize(
    "header", mostly_long([RUSH, RUSH_THREE, LONG_THREE, SIX, RUSH_FIVE, RUSH_EIGHT], LONG_THREE, RUSH_EIGHT)
)
@pytest.mark.parametrize("asked", [None, "Ann 200", "Bob stop > Ann"])
def test_a_sides_cards_stay_within_its_border(opened, header, width, asked, match, url):
    first = header[-1].removeprefix("hand first ")
    feed(match, header)
    for play in (f"Bob accident > {first}", f"{first} driving-ace !"):
        match.enter(play, "Ann", anyway=True)
    if asked:
        propose(match, asked.replace("Ann", first))
    page = opened(url, {"width": width, "height": 740})

    assert page.evaluate(OVER_THE_BORDER) == []


NO_CAMERA = "There is no camera here: plug one in, or choose another with --camera. Plays can be entered by hand."
CUT_OR_COVERED = """() => {
  const all = [...document.querySelectorAll(".says > *, .trouble, .lane, .lane > *, aside.join, .wallscore, .sheet")];
  const boxes = all.map(e => [e, e.getBoundingClientRect()]);
  const cut = boxes.filter(([, b]) => b.top < 0 || b.left < 0 || b.bottom > innerHeight || b.right > innerWidth);
  const covered = boxes.filter(([e, a]) => boxes.some(([f, b]) => e !== f && !e.contains(f) && !f.contains(e)
    && !(e.closest(".lane") && f.closest(".lane") && e.closest(".lane") === f.closest(".lane"))
    && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1));
  return [...cut, ...covered].map(([e]) => e.outerHTML.slice(0, 60));
}"""


@pytest.mark.variants(2)
@pytest.mark.parametrize("header", mostly_long([TWO, THREE, SIX, RUSH_PAIRS, RUSH_FIVE, RUSH_EIGHT], TWO, RUSH_EIGHT))
@pytest.mark.parametrize("asked", [None, "Ann 200", "Ann stop > Bob"])
def test_the_wall_cuts_or_covers_nothing_during_camera_trouble(opened, header, asked, match, url):
    first = header[-1].removeprefix("hand first ")
    opening = [f"{first} 200*2", "Bob control roll > Ann"] if header[0] == "edition rush" else [f"{first} roll"]
    feed(match, header, opening)
    match.trouble(NO_CAMERA)
    if asked:
        propose(match, asked.replace("Ann", first))
    page = opened(url + "/wall", WALL)
    page.locator(".trouble").wait_for()

    for size in (WALL, {"width": 1280, "height": 720}):
        page.set_viewport_size(size)
        assert page.evaluate(CUT_OR_COVERED) == []


CARS = """() => [...document.querySelectorAll(".road")].map(road => {
  const box = e => e.getBoundingClientRect(), whole = box(road), car = box(road.querySelector(".car"));
  const [low, high] = whole.height > whole.width ? ["top", "bottom"] : ["left", "right"];
  const along = selector => [...road.querySelectorAll(selector)].map(one => (box(one)[low] + box(one)[high]) / 2);
  const stays = car[low] >= whole[low] - 1 && car[high] <= whole[high] + 1;
  return [stays, ...along(".car"), ...along(".tick"), ...along(".finish")];
})"""


@pytest.mark.variants(4)
@pytest.mark.parametrize(
    ("path", "player", "header", "size"),
    [
        ("/", None, TWO, SMALL), ("/", "Ann", TWO, SMALL), ("/wall", None, TWO, WALL), ("/wall", None, THREE, TABLET),
        *(("/wall", None, header, size) for header in (RUSH_FIVE, RUSH_EIGHT) for size in (WALL, TABLET, SMALL)),
        *(("/wall", None, THREE, size) for size in (WALL, SMALL)),
    ],
)  # fmt: skip
def test_a_car_is_at_the_tick_of_its_distance_and_on_the_flag_at_the_target(
    opened, path, player, header, size, match, url
):
    feed(match, header, ["Ann roll"])
    page = opened(f"{url}/join", size, reduced_motion="reduce")
    if player:
        page.request.post(f"{url}/join", form={"player": player}, headers={"Origin": url})
    target = match.state.game.table.target // 100
    for hundreds in range(1, target + 1 if header is TWO else 2):
        match.enter("Ann 100", "Ann", anyway=True)
        page.goto(url + path)
        (stays, car, *marks), (bob_stays, bob, first, *_) = page.evaluate(CARS)[:2]

        assert (stays, bob_stays, len(marks)) == (True, True, target)
        assert car == pytest.approx(marks[hundreds - 1], abs=1)
        assert abs(bob - first) > 0.03 * abs(marks[-1] - marks[0])
        assert match.enter("Bob discard 25", "Bob", anyway=True).done or hundreds == target
    if header is TWO:
        match.enter("Ann extend", "Ann")
        page.reload()
        _, car, *marks = page.evaluate(CARS)[0]
        assert (len(marks), car) == (10, pytest.approx(marks[target - 1], abs=1))


TYPED = """() => [...document.querySelectorAll(".typed > *")].map(e => {
  const lines = document.createRange();
  lines.selectNodeContents(e);
  return [lines.getClientRects().length, parseFloat(getComputedStyle(e).fontSize) / innerWidth];
})"""


@pytest.mark.variants(1)
@pytest.mark.parametrize("size", [WALL, {"width": 1280, "height": 720}, TABLET])
@pytest.mark.parametrize("header", mostly_long([None, TWO, RUSH_EIGHT], RUSH_EIGHT))
def test_the_address_and_code_to_type_are_large_and_unbroken_before_the_game(opened, header, size, match, url):
    feed(match, header)
    page = opened(url + "/wall", size)
    number, _name, code = page.evaluate(TYPED)

    assert page.evaluate(CUT_OR_COVERED) == []
    for rows, share in (number, code):
        assert rows == 1
        assert share >= 0.03


def test_a_camera_problem_is_one_line_that_can_be_dismissed_until_another_occurs(opened, game, url):
    game.trouble(NO_CAMERA)
    page = opened(url)
    banner = page.locator(".trouble")
    assert banner.bounding_box()["height"] <= 48
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")

    banner.locator("summary").click()
    banner.get_by_role("button", name="Dismiss").click()
    expect(banner).to_be_hidden()
    game.enter("Ann roll", "Ann")
    expect(page.get_by_role("heading", level=1)).to_have_text("Bob’s turn")
    expect(banner).to_be_hidden()
    game.trouble("The camera is gone: plug it in again.")

    expect(page.get_by_text("The camera is gone")).to_be_visible()

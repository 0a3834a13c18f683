"""Counting only, in a real browser: a photograph is chosen, adjusted, counted, and changed again."""

import pytest
import tableaux
from marks import mostly_long
from playwright.sync_api import Page, expect

from browser.screens import DOUBTS, PHONE, SMALL, WALL, count, photographed
from browser.test_accessibility import CRAMPED
from companion.vision.counting.photographs import MOST_BYTES, Snap

WIDEST_ANSWER = """selects => selects.flatMap(select => [...select.options].map(option => {
    const drawn = document.createElement("canvas").getContext("2d");
    drawn.font = getComputedStyle(select).font;
    return drawn.measureText(option.text).width + 36 > select.clientWidth ? option.text : "";
})).filter(Boolean)"""
"""Answers too wide to be shown beside the select's arrow."""

LIES_ON_TOP = """rows => rows.map(row => row.getBoundingClientRect()).map(({left, width, top, height}) =>
    document.elementFromPoint(left + width / 2, top + height / 2)?.closest("table, form").tagName ?? null)"""
"""The topmost element in the middle of each row; none below the screen."""


def total(page: Page) -> str:
    return page.locator("tr.total").inner_text()


@pytest.mark.variants(1)
@pytest.mark.parametrize("has_script", [True, False])
def test_a_photograph_is_read_confirmed_and_counted(has_script, opened, url, tmp_path):
    photo = tmp_path / "IMG_0001.jpg"
    photo.write_bytes(tableaux.file_of())
    page = opened(url + "/snap", java_script_enabled=has_script)

    # With scripts a photograph is sent as soon as it is chosen.
    expect(page.get_by_text("Read the cards")).to_be_visible(visible=not has_script)
    page.set_input_files("input[name=photo]", photo)
    if not has_script:
        page.click("text=Read the cards")
    page.fill('[name="n-side-2-200"]', "2")
    for side in (1, 2):
        page.check(f"[name=all-side-{side}]")
    page.press('[name="n-side-2-200"]', "Enter")

    assert total(page).split()[-2:] == ["1900", "775"]
    page.click("text=Change the cards")
    expect(page.locator('[name="n-side-2-200"]')).to_have_value("2")


def test_back_from_the_match_shows_the_score_again_and_then_the_lines(app, opened, url):
    page = opened(url + photographed(app, "/snap/TOKEN"))
    count(page)
    page.click("text=Add to a match")
    expect(page.get_by_text("All hands so far, on this phone")).to_be_visible()

    page.go_back()

    expect(page.get_by_text("Add to a match")).to_be_visible()
    page.go_back()
    expect(page.locator('[name="n-side-2-200"]')).to_be_visible()


def test_plus_and_minus_change_the_number_and_the_kilometers(app, opened, url):
    page = opened(url + photographed(app, "/snap/TOKEN"))
    line = page.locator("li", has=page.locator('[name="n-side-1-200"]'))
    page.get_by_text("Not in the picture").first.click()

    line.get_by_role("button").last.click()
    line.get_by_role("button").last.click()
    line.get_by_role("button").first.click()

    expect(page.locator('[name="n-side-1-200"]')).to_have_value("1")
    expect(page.locator(".km b").first).to_have_text("900")


def test_each_number_and_its_buttons_are_in_one_equal_row(app, opened, url):
    page = opened(url + photographed(app, "/snap/TOKEN"), SMALL)
    rows = page.locator(".stepper").evaluate_all(
        "rows => rows.map(row => [...row.children].map(one => [one.offsetTop - row.offsetTop, one.offsetWidth].join()))"
    )

    assert len({tuple(row) for row in rows}) == 1
    assert page.locator(".stepper input").first.evaluate("one => getComputedStyle(one).borderRadius") == "0px"


def test_an_impossible_number_is_reported_beside_it_immediately(app, opened, url):
    page = opened(url + photographed(app, "/snap/TOKEN"))
    line = page.locator("li", has=page.locator('[name="n-side-1-200"]'))

    page.get_by_text("Not in the picture").first.click()
    page.fill('[name="n-side-1-200"]', "3")

    expect(line.get_by_text("Side 1 has more than 2 cards of 200 km.")).to_be_visible()
    expect(page.get_by_text("Extended by Side 1: 1000 km").last).to_be_visible()
    page.fill('[name="n-side-1-200"]', "0")
    expect(line.locator(".odd")).to_be_hidden()


def test_no_answer_about_the_hand_is_truncated(app, opened, url):
    page = opened(url + photographed(app, "/snap/TOKEN"), SMALL)
    for name in ("name-side-1", "name-side-2"):
        page.fill(f'[name="{name}"]', f"Bartholomew {name[-1]}")
    count(page)
    page.click("text=Change the cards")
    expect(page.locator(".hand select").first).to_be_visible()

    assert page.locator(".hand select").evaluate_all(WIDEST_ANSWER) == []


def test_no_button_covers_the_score_sheet(app, opened, url):
    page = opened(url + photographed(app, "/snap/TOKEN"), {"width": 360, "height": 500})
    count(page)
    expect(page.locator(".sheet")).to_be_visible()

    assert set(page.locator(".sheet tr").evaluate_all(LIES_ON_TOP)) - {None} == {"TABLE"}


def test_an_answer_counts_towards_the_kilometres(app, opened, url):
    page = opened(url + photographed(app, "/snap/TOKEN?doubts"))
    before = page.locator(".km b").first.inner_text()

    page.locator(".doubtful").first.get_by_label("75 km").check()

    assert before == "625"
    expect(page.get_by_text("plus 1 answered above")).to_be_visible()
    expect(page.locator(".km b").first).to_have_text("700")


def test_choosing_from_the_list_selects_another_card(app, opened, url):
    page = opened(url + photographed(app, "/snap/TOKEN?doubts"))

    page.locator(".doubtful select").first.select_option("200")

    assert page.locator(".doubtful").first.locator("[value=other]").is_checked()
    expect(page.locator(".km b").first).to_have_text("825")


def test_an_open_question_prevents_submitting(app, opened, url):
    page = opened(url + photographed(app, "/snap/TOKEN?doubts"))

    page.click(".dock .primary")

    expect(page.locator("h1")).to_have_text("Is this right?")


def guessed(app) -> str:
    """Return the path of lines with two uncertain cards, one of each side, with a likely guess."""
    doubts = {card: DOUBTS[card] for card in ("75-04", "100-07")}
    shot = tableaux.in_doubt(tableaux.shot(), doubts, 0.8)
    return "/snap/" + app.extensions["companion"].snaps.keep(Snap("classic", "", (shot,)))


def test_count_never_accepts_a_guess_and_leads_to_the_open_question(app, opened, url):
    page = opened(url + guessed(app), PHONE)

    for _ in range(3):
        page.click(".dock .primary")

    expect(page.locator("h1")).to_have_text("Is this right?")
    expect(page.locator(".doubtful input:checked")).to_have_count(0)
    question = page.locator(".doubtful", has=page.locator("input:focus"))
    picture, answer, dock = (
        part.bounding_box()
        for part in (question.locator("svg").first, question.locator(":focus"), page.locator(".dock"))
    )
    assert 0 < picture["y"] < answer["y"] < answer["y"] + answer["height"] < dock["y"]


def test_one_tap_accepts_a_guess_and_a_trip_that_it_completes_is_asked_about(app, opened, url):
    page = opened(url + guessed(app), PHONE)

    page.get_by_label("Not sure: probably 75 km").check()

    expect(page.locator(".dock")).to_contain_text("Score it, with 1 guess")
    expect(page.get_by_text("Side 1? That depends on guesses.")).to_be_visible()
    page.click("text=Use the best guess for 1 unclear card")
    expect(page.locator(".dock")).to_contain_text("Score it, with 2 guesses")
    count(page)
    expect(page.locator("[name=ended]")).to_be_focused()
    page.select_option("[name=ended]", "side-1")
    count(page)
    expect(page.get_by_text("2 cards are guesses.")).to_be_visible()


def test_hidden_cards_are_asked_about_only_if_the_side_may_have_driven_farther(app, opened, url):
    page = opened(url + photographed(app, "/snap/TOKEN"))
    asks = [page.locator(f"#all-side-{side}") for side in (1, 2)]
    expect(asks[0]).to_contain_text("Yes, all cards are visible: 700 km")
    expect(asks[1]).to_contain_text("Yes, all cards are visible: 475 km")

    page.select_option("[name=trip]", "700")
    expect(asks[0]).to_be_hidden()
    page.fill('[name="n-side-1-100"]', "4")
    expect(asks[0]).to_be_visible()
    page.fill('[name="n-side-1-100"]', "5")
    page.fill('[name="n-side-2-75"]', "5")

    expect(asks[0]).to_be_hidden()
    expect(asks[1]).to_be_hidden()


@pytest.mark.variants(1)
@pytest.mark.parametrize("path", ["/snap/TOKEN", "/snap/TOKEN?doubts"])
@pytest.mark.parametrize("size", mostly_long([SMALL, WALL], SMALL), ids=["phone", "wall"])
def test_every_control_is_large_enough_and_fits_the_screen(path, size, app, opened, url):
    page = opened(url + photographed(app, path), size)

    assert page.evaluate(CRAMPED) == []


def test_a_file_that_is_too_large_is_reported_before_sending_and_the_lines_stay(app, opened, url, tmp_path):
    huge = tmp_path / "huge.jpg"
    with huge.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    page = opened(url + photographed(app, "/snap/TOKEN"))
    page.get_by_text("Not in the picture").first.click()
    page.fill('[name="n-side-1-200"]', "1")

    page.get_by_text("Another photo of this table").click()
    page.set_input_files("input[name=photo]", huge)
    told = page.get_by_text("take the photograph with fewer pixels")
    expect(told).to_be_visible()

    expect(page.get_by_text("Add it", exact=True)).to_be_hidden()
    expect(page.locator('[name="n-side-1-200"]')).to_have_value("1")

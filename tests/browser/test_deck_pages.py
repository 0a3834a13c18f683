"""Adding a deck in a real browser: name it, show cards to a camera, save them by taps or automatically."""

import pytest
from card_photos import sheet_photo
from playwright.sync_api import expect

from browser.screens import app_of, card_before_camera
from browser.test_accessibility import CRAMPED
from companion.rules.cards import Card
from companion.tabletop.template_decks import load_deck, put_waiting
from companion.vision.capture.image_io import decode, jpeg_of
from companion.vision.enrol.enrolment import as_png


class Table:
    """A table before a camera, with one card."""

    def __init__(self, data) -> None:
        self.data = data
        self.lay("25")

    def lay(self, slug: str) -> None:
        self.jpeg = card_before_camera(slug)

    def faces(self) -> set[Card]:
        return set(load_deck("grandmas-deck", self.data).faces)


@pytest.fixture
def table(tmp_path):
    return Table(tmp_path)


@pytest.fixture
def app(match, table):
    return app_of(match, camera=lambda: table.jpeg)


def begun(opened, url, **options):
    """Open a new deck's page the way people do."""
    page = opened(url + "/more", **options)
    page.click("text=With stickers or your own deck")
    page.click("text=Add a deck")
    page.fill("[name=title]", "Grandma’s deck")
    page.click("text=Begin")
    expect(page.locator("h1")).to_contain_text("25 km 1 of 19")
    return page


@pytest.mark.variants(1)
@pytest.mark.parametrize("has_script", [True, False])
def test_a_tap_saves_a_card_shows_it_and_asks_for_the_next(has_script, opened, url, table):
    page = begun(opened, url, java_script_enabled=has_script)

    page.click("text=Use this picture")

    expect(page.locator("h1")).to_contain_text("50 km 2 of 19")
    expect(page.locator(".got")).to_contain_text("Got it: 25 km")
    assert page.locator(".got img").evaluate("image => image.decode().then(() => image.naturalHeight)") == 240
    assert table.faces() == {Card.KM_25}


@pytest.mark.long
def test_cards_are_saved_automatically_once_they_lie_still(opened, url, table):
    page = begun(opened, url)

    page.click("text=Capture automatically")
    expect(page.locator("h1")).to_contain_text("50 km")
    table.lay("50")
    expect(page.locator("h1")).to_contain_text("75 km")

    assert table.faces() == {Card.KM_25, Card.KM_50}
    page.click("text=Taken by itself")
    expect(page.get_by_text("Capture automatically")).to_be_visible()


def test_an_unusable_photograph_is_explained_and_can_be_replaced(opened, url, tmp_path):
    page = begun(opened, url)
    bad, good = tmp_path / "bad.jpg", tmp_path / "IMG_2.jpg"
    bad.write_bytes(b"GIF89a")
    good.write_bytes(card_before_camera("25"))

    page.click("text=Use a photograph instead")
    for photo in (bad, good):
        # The details stay open for the next photograph, and a chosen one is sent at once.
        page.set_input_files("[name=photo]", photo)
        if photo == bad:
            expect(page.locator("#verdict")).to_contain_text("or not a JPEG, PNG, WebP or BMP file")

    expect(page.locator("h1")).to_contain_text("50 km")


def test_many_cards_on_one_photograph_are_enrolled_with_two_taps(opened, url, table, tmp_path):
    page = begun(opened, url)
    photo = sheet_photo(5, "own", ("25", "50", "75", "stop", "roll", "accident"), "felt", columns=3, long_px=1200)
    (tmp_path / "IMG_7.jpg").write_bytes(jpeg_of(photo.image))

    page.click("text=Use a photograph instead")
    page.set_input_files("[name=photo]", tmp_path / "IMG_7.jpg")
    expect(page.get_by_text("All of them are known already.")).to_be_visible(timeout=150_000)
    assert page.evaluate(CRAMPED) == []
    first = page.locator(".piece").first
    first.locator("summary").click()
    first.locator("select").select_option("out-of-gas")
    expect(first.locator("summary")).to_have_text("Out of Gas")
    first.locator("label.choice").first.click()
    expect(first.locator("summary")).to_have_text("25 km")
    page.click("text=These names are right")

    expect(page.locator("h1")).to_contain_text("100 km")
    assert len(table.faces()) == 6


def test_pictures_of_single_cards_are_sent_one_by_one_and_good_ones_saved(opened, url, table, tmp_path):
    page = begun(opened, url)
    shots = {"IMG_10.jpg": card_before_camera("75"), "IMG_9.jpg": b"GIF89a", "IMG_8.jpg": card_before_camera("25")}
    for name, content in shots.items():
        (tmp_path / name).write_bytes(content)

    page.click("text=Use a photograph instead")
    page.set_input_files("[name=photo]", [tmp_path / name for name in shots])
    expect(page.get_by_text("Reading 1 of 3 …")).to_be_visible()

    expect(page.get_by_text("Photograph 2: The picture you sent is damaged, or not a JPEG")).to_be_visible(
        timeout=60_000
    )
    for number, card in ((1, "25"), (3, "75")):
        page.check(f'[name="card-{number}"][value="{card}"]')
    page.click("text=These names are right")

    expect(page.locator("h1")).to_contain_text("50 km")
    assert table.faces() == {Card.KM_25, Card.KM_75}


def test_giving_a_card_anothers_name_swaps_both_names(opened, url, table):
    page = begun(opened, url)
    folder = table.data / "decks/grandmas-deck"
    for place, slug in enumerate(("50", "25", "75")):
        put_waiting(folder, place, as_png(decode(card_before_camera(slug), slug)))
    page.goto(url + "/decks/grandmas-deck/enrol/names?ordered=1")
    names = page.locator("summary b")
    expect(names).to_have_text(["25 km", "50 km", "75 km"])

    page.locator("summary").nth(0).click()
    choice = page.locator(".other select").nth(0)
    choice.select_option("none")
    choice.select_option("75")
    expect(names).to_have_text(["75 km", "50 km", "…"])
    expect(page.locator('[name="card-3"]:checked')).to_have_count(0)
    page.locator("summary").nth(2).click()
    page.locator(".other select").nth(2).select_option("50")
    page.locator(".other select").nth(1).select_option("25", force=True)
    choice.select_option("50")

    expect(names).to_have_text(["50 km", "25 km", "75 km"])
    page.click("text=These names are right")
    expect(page.locator("h1")).to_contain_text("100 km")
    assert table.faces() == {Card.KM_25, Card.KM_50, Card.KM_75}

"""The playing screen in a browser: windows, sounds, text version, double-sized letters."""

import pytest
from marks import mostly_long
from playwright.sync_api import expect

from browser.screens import (
    ATTACK,
    OPENING,
    RUSH,
    RUSH_EIGHT,
    RUSH_PAIRS,
    SCENES,
    SIX,
    SIX_PLAYS,
    SMALL,
    TABLET,
    THREE,
    TWO,
    WALL,
    differ,
    feed,
    perhaps,
    propose,
    special,
    unsure,
)
from browser.test_accessibility import CRAMPED
from companion.common.languages import LANGUAGES


@pytest.fixture
def game(match):
    feed(match, TWO, OPENING)
    return match


@pytest.fixture
def seated(opened, url):
    """Return a function that opens a page on a player's phone."""

    def open_page(player: str, path: str = "/", size=SMALL, prepare=None, **options):
        page = opened(f"{url}/join", size, **options)
        page.request.post(f"{url}/join", form={"player": player}, headers={"Origin": url})
        if prepare:
            page.add_init_script(prepare)
        page.goto(url + path)
        return page

    return open_page


def top_of(page, selector: str) -> float:
    return page.locator(selector).first.bounding_box()["y"]


# --- The own side --------------------------------------------------------------------------------------------


@pytest.mark.variants(1)
@pytest.mark.parametrize(
    ("header", "plays"), [(TWO, OPENING), (THREE, ["Ann roll"]), (SIX, SIX_PLAYS), (RUSH_EIGHT, [])]
)
def test_the_own_side_is_first_and_full_width(seated, header, plays, match, url):
    feed(match, header, plays)
    page = seated(header[-1].split()[-1])

    assert page.locator(".own").bounding_box()["width"] > 320
    assert top_of(page, ".own") < min(one.bounding_box()["y"] for one in page.locator(".strip").all())


def which_of_three(match):
    unsure(match, "side-2/distance", "Bob 75", "Bob 25", "Bob 200")


@pytest.mark.variants(2)
@pytest.mark.parametrize("wait", [lambda m: propose(m, "Bob 25"), lambda m: propose(m, "Bob 100"), which_of_three])
def test_waiting_plays_fit_on_a_small_phone_without_scrolling(seated, game, wait):
    wait(game)
    page = seated("Ann")
    card = page.locator(".proposal").bounding_box()

    assert card["y"] >= 0
    assert card["y"] + card["height"] <= SMALL["height"]
    assert card["y"] > top_of(page, ".own")


@pytest.mark.parametrize("language", mostly_long(LANGUAGES, "de"))
@pytest.mark.parametrize("asked", mostly_long([which_of_three, perhaps, special], which_of_three))
def test_a_question_fits_a_small_phone_without_scrolling(opened, asked, language, game, url):
    asked(game)
    page = opened(url, locale=language)
    box = page.locator(".act").bounding_box()

    assert box["y"] >= 0
    assert box["y"] + box["height"] <= SMALL["height"]
    assert page.evaluate(CRAMPED) == []


@pytest.mark.parametrize("language", mostly_long(LANGUAGES, "pl"))
@pytest.mark.parametrize(("header", "count"), [(RUSH, 3), (RUSH_PAIRS, 4)], ids=["alone", "pairs"])
def test_every_answer_to_an_attack_is_visible_on_a_small_phone(opened, header, count, language, match, url):
    whom = header[1].split()[1]
    feed(match, header, ["Ann 100*2", f"Bob stop > {whom}"])
    page = opened(url, locale=language)
    boxes = [answer.bounding_box() for answer in page.locator(":is(.now, .extra) .button").all()]

    assert len(boxes) == count
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= SMALL["width"] for box in boxes)
    assert all(box["y"] >= 0 and box["y"] + box["height"] <= SMALL["height"] for box in boxes)
    clipped = "all => all.filter(one => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 4)"
    assert page.locator(".chance").evaluate_all(clipped + ".length") == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.variants(1)
@pytest.mark.parametrize("size", [TABLET, WALL])
def test_on_a_wide_screen_the_log_is_beside_the_table(seated, game, size):
    page = seated("Ann", size=size)
    own, log = page.locator(".own").bounding_box(), page.locator(".log").bounding_box()

    assert log["x"] >= own["x"] + own["width"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.variants(2)
@pytest.mark.parametrize("path", ["/", "/may", "/plain", "/play", "/score", "/line/9"])
def test_double_sized_letters_need_no_horizontal_scrolling(seated, path, match, url):
    feed(match, TWO, ATTACK)
    propose(match, "Ann 100") if path == "/" else None
    page = seated("Ann", path)
    page.evaluate("document.documentElement.style.fontSize = '200%'")

    assert page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"]


def test_with_double_sized_letters_names_are_above_their_cars_states(opened, match, url):
    feed(match, THREE, ["Ann roll"])
    page = opened(url, SMALL, locale="fr")
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    names, words = ([one.bounding_box() for one in page.locator(f".strip {part}").all()] for part in ("h2", ".word"))

    assert [name["y"] + name["height"] <= word["y"] + 1 for name, word in zip(names, words, strict=True)] == [True] * 3
    assert min(name["width"] for name in names) > 80


@pytest.mark.variants(1)
@pytest.mark.parametrize("scene", ["differ", "special", "trouble"])
def test_a_scene_is_described_in_the_readers_language(opened, scene, match, url):
    header, plays, prepare, path = SCENES[scene]
    feed(match, header, plays)
    prepare(match)
    now, shown = match.state, opened(url + path, locale="de").locator("main").inner_text()
    said = [*(question.say for question in now.questions), *filter(None, [now.trouble])]

    assert said
    assert not [sentence for sentence in map(str, said) if sentence in shown]


def test_larger_letters_keep_the_deck_in_view(seated, game):
    page = seated("Ann")
    page.evaluate("document.documentElement.dataset.large = 'on'")

    first = page.locator(".taps .tile").first.bounding_box()
    assert first["y"] + first["height"] <= SMALL["height"] - 30, "and what follows begins above the edge"


@pytest.mark.parametrize("app", [{"sees": True}], indirect=True, ids=["a camera"])
def test_a_difference_shows_the_cameras_picture_of_the_zone(seated, game):
    page = seated("Ann")
    differ(game)

    expect(page.get_by_role("img", name="Ann: distance area, as the camera sees it now")).to_be_visible()
    assert page.locator(".beside-each img").evaluate("e => e.decode().then(() => e.naturalWidth)") > 50


BEGAN = """ago => sessionStorage.setItem(
  "coup fourré window", JSON.stringify([document.querySelector(".chance").dataset.window, Date.now() - ago]))"""
"""Pretend that the window has been open for so many milliseconds."""

# --- Coups fourrés -------------------------------------------------------------------------------------------


def test_the_window_shrinks_only_on_the_attacked_players_phone(seated, game):
    ann, bob = seated("Ann"), seated("Bob")
    game.enter("Bob stop > Ann", "Bob")

    expect(ann.locator(".chance.shrinks .window")).to_be_visible()
    expect(bob.get_by_text("Ann may counter with a coup fourré.")).to_be_visible()
    expect(bob.locator(".chance")).to_have_count(0)


def test_the_window_continues_after_updates_and_the_button_works_after_it_has_closed(seated, game):
    game.enter("Bob stop > Ann", "Bob")
    page = seated("Ann")
    chance = page.locator(".chance")
    expect(page.locator(".chance.shrinks")).to_be_visible()
    page.evaluate(BEGAN, 9000)

    game.trouble("The camera is gone. Plays can be entered by hand.")
    expect(page.locator(".trouble")).to_be_visible()
    assert int(chance.evaluate("e => e.style.getPropertyValue('--since')")[:-2]) <= -9000

    page.evaluate(BEGAN, 16000)
    page.reload()
    expect(page.locator(".chance.late")).to_be_visible()
    chance.click()
    expect(page.locator(".last")).to_have_text("Coup fourré! Ann counters with Right of Way.")


def test_with_reduced_motion_the_window_is_described_in_words(seated, game):
    game.enter("Bob stop > Ann", "Bob")
    page = seated("Ann", reduced_motion="reduce")

    expect(page.locator(".chance .window")).to_be_hidden()
    expect(page.get_by_text("Until the next card is played")).to_be_visible()


# --- Motion --------------------------------------------------------------------------------------------------


def test_a_card_slides_into_its_place_once(seated, game):
    page = seated("Ann")
    assert page.locator(".slides").count() == 0

    game.enter("Bob stop > Ann", "Bob")
    expect(page.locator(".own .slides")).to_have_count(1)
    game.trouble("The camera is gone. Plays can be entered by hand.")
    expect(page.locator(".trouble")).to_be_visible()

    expect(page.locator(".slides")).to_have_count(0)


# --- Sounds, speech, vibration -------------------------------------------------------------------------------


HEARS = """
addEventListener("DOMContentLoaded", () => {
  for (const sense of ["sound", "speech", "vibrate"]) document.body.dataset[sense] = "on";
});
window.heard = [];
const quiet = { setValueAtTime() {}, exponentialRampToValueAtTime() {} };
window.AudioContext = class {
  state = "running"; currentTime = 0; destination = {};
  createOscillator() { heard.push("tone"); return { frequency: quiet, connect: (to) => to, start() {}, stop() {} }; }
  createGain() { return { gain: quiet, connect: (to) => to }; }
};
navigator.vibrate = (how) => heard.push(Array.isArray(how) ? "vibrates: illegal" : "vibrates: my turn");
window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
const speak = (saying) => heard.push(`${saying.lang}: ${saying.text}`);
Object.defineProperty(window, "speechSynthesis", { value: { speak } });
"""


def heard(page) -> list[str]:
    """Return what was heard, a sequence of tones as one."""
    said = page.evaluate("heard")
    return [what for what, before in zip(said, [None, *said], strict=False) if what != before]


@pytest.fixture
def listening(seated, game):
    """A phone with all sounds and speech on, after its first tap."""
    with_sounds = seated("Ann", prepare=HEARS)
    with_sounds.evaluate("import(document.body.dataset.soundsAt).then(() => null)")
    with_sounds.locator(".plate").click()
    return game, with_sounds


def test_each_new_play_is_heard_and_spoken_once_and_an_undo_announces_nothing(listening):
    match, page = listening
    assert heard(page) == []

    match.enter("Bob stop > Ann", "Bob")
    expect(page.locator(".last")).to_contain_text("Bob stops Ann.")
    match.trouble("The camera is gone. Plays can be entered by hand.")
    expect(page.locator(".trouble")).to_be_visible()
    assert heard(page) == ["tone", "en: Bob stops Ann.", "vibrates: my turn"]

    match.undo("Ann")
    expect(page.locator(".last")).to_have_text("Ann drives 200 km.")
    assert "en: Ann drives 200 km." not in heard(page)


def test_an_illegal_play_whistles_and_vibrates_once(listening):
    match, page = listening
    propose(match, "Bob 100")
    expect(page.locator(".verdict")).to_have_text("Not allowed")
    match.trouble("The camera is gone. Plays can be entered by hand.")
    expect(page.locator(".trouble")).to_be_visible()

    assert heard(page) == [
        "tone",
        "vibrates: illegal",
        "en: Bob drives 100 km. Speed Limit: only 25 and 50 are allowed.",
    ]


def test_sounds_are_not_loaded_unless_turned_on(seated, game):
    page = seated("Ann")
    game.enter("Bob stop > Ann", "Bob")
    expect(page.locator(".last")).to_contain_text("Bob stops Ann.")

    loaded = page.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
    assert loaded
    assert not any("sounds" in name for name in loaded)


# --- Text version --------------------------------------------------------------------------------------------


def test_the_text_version_announces_each_new_play_in_one_sentence(seated, game):
    page = seated("Ann", "/plain")
    expect(page.locator("#said p")).to_have_count(0)

    game.enter("Bob 25", "Bob")
    expect(page.locator("#said p")).to_have_text(["Bob drives 25 km."])
    game.enter("Ann 100", "Ann")
    expect(page.locator("#said p")).to_have_text(["Bob drives 25 km.", "Ann drives 100 km."])

    expect(page.locator("#turn")).to_have_text("It is Bob’s turn.")


def test_the_text_version_announces_waiting_and_undone_plays(seated, game):
    page = seated("Ann", "/plain")

    propose(game, "Bob 25")
    expect(page.locator("#said p")).to_have_text(["Bob drives 25 km."])
    page.get_by_role("button", name="Confirm").click()
    expect(page.locator("#turn")).to_have_text("It is your turn.")
    game.undo("Ann")

    # its card is still there, so it is asked about again
    expect(page.locator("#said p")).to_have_text(["The last play was undone.", "Bob drives 25 km."])


def test_the_text_version_keeps_the_focus(seated, game):
    page = seated("Ann", "/plain")
    page.get_by_role("button", name="Undo").focus()
    card = page.get_by_role("combobox", name="Card", exact=True)
    card.focus()
    card.select_option("100")

    game.enter("Bob 25", "Bob")
    expect(page.locator("#said p")).to_have_count(1)

    expect(card).to_be_focused()
    expect(card).to_have_value("100")


def test_a_play_is_entered_in_the_text_version_by_keys_alone(seated, game):
    page = seated("Bob", "/plain")
    page.get_by_role("combobox", name="Card", exact=True).focus()
    page.keyboard.type("25")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.locator("#turn")).to_have_text("It is Ann’s turn.")
    assert game.state.hand_entries[-1].written.text == "Bob 25"


def test_the_first_tab_stop_of_the_table_leads_to_the_text_version(seated, game):
    page = seated("Ann")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("Text version")


# --- The wall ------------------------------------------------------------------------------------------------


def test_the_join_code_is_large_until_the_first_play(opened, match, url):
    feed(match, TWO)
    page = opened(f"{url}/wall", WALL)
    large = page.locator(".qr").bounding_box()["width"]
    match.enter("Ann roll", "Ann")
    expect(page.locator(".fresh")).to_have_count(0)

    assert large > 2 * page.locator(".qr").bounding_box()["width"]


@pytest.mark.variants(1)
@pytest.mark.parametrize("player", [None, "Ann"])
def test_before_the_first_play_road_and_kilometers_have_their_full_size(opened, player, match, url):
    feed(match, TWO)
    page = opened(f"{url}/join" if player else url)
    if player:
        page.get_by_role("button", name=player).click()
        page.locator(".own").wait_for()
        page.wait_for_load_state()

    road, km = page.locator(".side .road").first, page.locator(".side .km b").first
    assert road.bounding_box()["width"] >= 30
    assert road.bounding_box()["height"] >= 100
    expect(km).to_have_text("700")
    assert km.bounding_box()["width"] >= 30

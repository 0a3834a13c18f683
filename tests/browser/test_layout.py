"""Nothing is hidden and nothing jumps, on any screen, whatever is asked."""

from functools import cache

import pytest
from marks import mostly_long
from seen import camera

from browser.conftest import LOOKS_MS
from browser.screens import (
    ATTACK,
    EIGHT_PLAYS,
    FINISH,
    LYING,
    PHONE,
    RUSH,
    RUSH_EIGHT,
    RUSH_PLAYS,
    SMALL,
    TABLET,
    THREE,
    TWO,
    WALL,
    crop_of,
    feed,
    full_disk,
    nothing,
    propose,
    unsure,
)
from companion.common.languages import LANGUAGES
from companion.rules.cards import Card

SIZES = (SMALL, LYING, TABLET, WALL)
NAMES = ("Ann", "Bob", "Cid", "Dee", "Eve", "Fay", "Gil", "Hal")


def alone(count: int) -> list[str]:
    """Return the header of a race with this many players, one with a long name."""
    sides = (f"side {name}" for name in NAMES[:count])
    return ["edition dujardin-2014", *sides, 'player Bob "Bartholomäus von Zitzewi"', "hand first Ann"]


ROUNDS = ["Ann roll", "Bob right-of-way", "Bob 100"]
ROUNDS += [play for km in (25, 50, 75, 200) for play in (f"Ann {km}", f"Bob {km}")] + ["Ann 100"]
SAFE = ["Cid right-of-way", "Cid driving-ace", "Cid extra-tank", "Cid puncture-proof", "Cid 200"]
TABLES = {
    2: (TWO, [*ROUNDS, "Bob driving-ace", "Bob speed-limit > Ann"], "Ann stop > Bob"),
    3: (alone(3), ["Ann roll", "Bob roll", *SAFE, "Ann 200"], "Bob stop > Cid"),
    4: (alone(4), ["Ann roll", "Bob roll", *SAFE, "Dee roll", "Ann 200"], "Bob stop > Cid"),
    8: (alone(8), ["Ann roll", "Bob roll", *SAFE, "Dee roll", "Eve stop > Ann", "Fay roll"], "Gil stop > Cid"),
}
"""Tables by number of sides: header, plays, and an attack on a protected side."""

OVERLAPS = """() => {
  const shows = e => e.checkVisibility({ visibilityProperty: true }) && e.getBoundingClientRect().width > 1;
  const all = selector => [...document.querySelectorAll(selector)].filter(shows);
  const box = e => e.getBoundingClientRect();
  const cross = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const said = e => `${e.tagName}.${e.getAttribute("class")} ${e.textContent.trim().slice(0, 24)}`;
  const wrong = [], panels = all(".side, .strip, .lane"), parts = all(".sky > *, .says > *, .act, .join, .papers");
  const pairs = list => list.flatMap((a, at) => list.slice(at + 1).map(b => [a, b]));
  for (const [a, b] of pairs([...panels, ...parts])) if (cross(box(a), box(b))) wrong.push(`${said(a)} × ${said(b)}`);
  const facts = "h2 > *, .state, .battle > b, .word > b, .limit, .km, .laid span, .needs, .owes, .safeties li, .road";
  for (const panel of panels) {
    const inside = [...panel.querySelectorAll(facts)].filter(shows), frame = box(panel);
    for (const [a, b] of pairs(inside)) if (cross(box(a), box(b))) wrong.push(`${said(a)} on ${said(b)}`);
    for (const one of inside) {
      const at = box(one), aside = at.left < frame.left || at.right > frame.right;
      const beyond = aside || at.top < frame.top - 1 || at.bottom > frame.bottom + 1;
      if (beyond) wrong.push(`${said(one)} out of ${said(panel)}`);
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.push("wider than the screen");
  return wrong;
}"""
"""Overlapping panels and parts of the page, overlapping facts in a panel, and overflowing ones."""

CUT_OFF = """() => [...document.querySelectorAll("main *")]
  .filter(e => e.checkVisibility({ visibilityProperty: true }) && !e.closest("h2, details, .hidden, .moment"))
  .filter(e => getComputedStyle(e).textOverflow === "ellipsis" && e.scrollWidth > e.clientWidth + 1)
  .filter(e => e.clientWidth > 1).map(e => e.textContent.trim())"""
"""The texts that end in an ellipsis; names in headings may, and what opens at a tap."""

LOWEST = (
    """selector => Math.max(...[...document.querySelectorAll(selector)].map(e => e.getBoundingClientRect().bottom))"""
)
"""The lowest edge of these elements, in pixels."""

PLACES = """() => [...document.querySelectorAll(".own, .own :is(.state, .km, .safeties), .strip, .strip .km")]
  .map(e => { const at = e.getBoundingClientRect(); return [at.left, at.top, at.width, at.height].map(Math.round); })"""


@pytest.fixture(scope="module")
def tab(browser):
    """Tabs by language and number, shared by the tests: a new one takes as long as two pages."""
    contexts = []

    @cache
    def of(language: str, _number: int):
        contexts.append(browser.new_context(locale=language, reduced_motion="reduce"))
        return contexts[-1].new_page()

    yield of
    for context in contexts:
        context.close()


@pytest.fixture
def phone(tab):
    """Return a function that gives an unused phone's tab, with a language and a seat."""
    taken = []

    def of(url: str, language: str = "en", seat: str | None = None):
        page = tab(language, len(taken))
        taken.append(page)
        page.set_viewport_size(SMALL)
        if seat:
            page.request.post(f"{url}/join", form={"player": seat}, headers={"Origin": url})
        return page

    yield of
    for page in taken:
        page.goto("about:blank")
        page.context.clear_cookies()


@pytest.mark.parametrize("language", mostly_long(LANGUAGES, "fr"))
def test_a_side_with_all_safeties_has_room_for_its_name_on_the_narrowest_phone(phone, language, match, url):
    header, plays, _attack = TABLES[3]
    feed(match, header, plays)
    page = phone(url, language, "Bob")
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(url)
    name = page.locator(".strip h2", has_text="Cid")

    assert name.evaluate("h2 => h2.lastElementChild.scrollWidth <= h2.lastElementChild.clientWidth")
    assert page.evaluate(OVERLAPS) == []


@pytest.mark.parametrize("language", mostly_long(LANGUAGES, "fr"))
@pytest.mark.parametrize("count", TABLES)
def test_nothing_on_the_table_overlaps_or_overflows(phone, count, language, match, url):
    header, plays, attack = TABLES[count]
    wrong = {}
    feed(match, header, plays)
    pages = {"seated": phone(url, language, "Bob"), "watching": phone(url, language), "wall": phone(url, language)}
    for state in ("open", "legal", "illegal"):
        if state != "open":
            first = attack.split()[0]
            propose(match, f"{first} 25" if state == "legal" else attack)
        for view, page in pages.items():
            page.goto(f"{url}/wall" if view == "wall" else url)
            for size in SIZES[3:] if view == "wall" else SIZES:
                page.set_viewport_size(size)
                wrong[state, view, size["width"]] = page.evaluate(OVERLAPS)

    assert {where: found for where, found in wrong.items() if found} == {}


@pytest.mark.parametrize("language", mostly_long(LANGUAGES, "es"))
@pytest.mark.parametrize(
    ("header", "plays", "prepare"),
    [
        (TWO, ATTACK, nothing),
        (TWO, ATTACK, full_disk),
        (TWO, [*FINISH, "Ann finish"], nothing),
        (THREE, ["Ann roll", "Bob roll", "Cid roll", "Ann 100", "Bob stop > Cid"], nothing),
        (RUSH_EIGHT, EIGHT_PLAYS, nothing),
    ],
    ids=["two sides", "a full disk", "at the end", "three sides", "eight sides"],
)
def test_no_text_but_a_name_is_cut_off(phone, language, header, plays, prepare, match, url):
    feed(match, header, plays)
    prepare(match)
    cut = {}
    shown = "/score" if "Ann finish" in plays else "/"
    for path, seat, size in ((shown, None, SMALL), (shown, "Ann", SMALL), ("/wall", None, WALL)):
        page = phone(url, language, seat)
        page.set_viewport_size(size)
        page.goto(url + path)
        page.evaluate("document.fonts.ready.then(() => null)")
        cut[path, seat] = page.evaluate(CUT_OFF)

    assert {where: texts for where, texts in cut.items() if texts} == {}


@pytest.mark.parametrize("language", mostly_long(LANGUAGES, "de"))
def test_no_text_of_a_choice_leaves_its_frame(phone, language, url):
    page = phone(url, language)
    page.goto(f"{url}/setup")

    wide = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
    assert page.locator(".choice").evaluate_all(wide) == []


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_question_moves_nothing_on_the_table(phone, count, match, url):
    header, plays, attack = TABLES[count]
    feed(match, header, plays)
    page = phone(url, seat="Bob")
    page.goto(url)
    before = page.evaluate(PLACES)
    propose(match, attack)
    page.reload()

    assert page.locator(".proposal").count() == 1
    assert page.evaluate(PLACES) == before


@pytest.mark.parametrize("count", [2, 3, 4])
def test_an_illegal_plays_target_and_safety_are_visible_and_highlighted(phone, count, match, url):
    header, plays, attack = TABLES[count]
    feed(match, header, plays)
    page = phone(url, seat="Bob")
    propose(match, attack)
    page.goto(url)
    lit = page.locator(".meant .safeties .meant")

    assert lit.count() == 1
    assert page.locator(".meant h2").first.inner_text() == attack.split()[-1] or count == 2
    edge = page.locator(".proposal").bounding_box()
    assert lit.bounding_box()["y"] + lit.bounding_box()["height"] <= edge["y"]
    assert edge["y"] + 200 <= SMALL["height"]


def which_hazard(match) -> None:
    whom = match.state.game.teams[-1].name
    attacks = [f"Ann {hazard} > {whom}" for hazard in ("stop", "accident", "flat-tire")]
    camera(match).play(1, *attacks, sure=False, zone="side-2/battle", crop=crop_of(Card.STOP))


@pytest.mark.parametrize("language", mostly_long(LANGUAGES, "pl"))
@pytest.mark.parametrize(
    ("count", "more", "wait", "seat", "buttons"),
    [
        (2, [], which_hazard, "Ann", 5),
        (3, ["Cid roll"], which_hazard, "Ann", 5),
        (3, ["Cid roll"], lambda m: unsure(m, "side-3/battle", "Bob stop > Cid", "Bob stop > Ann"), "Bob", 4),
        (3, ["Cid stop > Ann"], lambda m: propose(m, "Ann stop > Cid"), "Bob", 3),
    ],
    ids=["one of three hazards", "below three sides", "which of two attacks", "an illegal attack"],
)
def test_every_answer_about_an_attack_is_visible(phone, language, count, more, wait, seat, buttons, match, url):
    feed(match, alone(count), ["Ann roll", "Bob roll", *more])
    wait(match)
    page = phone(url, language, seat)
    page.goto(url)

    assert page.locator(".proposal .button").count() == buttons
    assert page.evaluate(LOWEST, ".proposal .button") <= SMALL["height"]


# --- Controls stay in place -------------------------------------------------------------------------------------

TAPPED = (
    ".tabs a", ".tiles .tile", ".held .tile:not(.wait)", ".tools > *", ".act > .slim > :first-child", ".ask-rules",
)  # fmt: skip
STAND = """selectors => selectors.map(selector => [...document.querySelectorAll(selector)]
  .filter(e => e.checkVisibility()).map(e => { const at = e.getBoundingClientRect();
    return [at.left + scrollX, at.top + scrollY, at.width, at.height].map(Math.round).join(" "); }))"""
"""Positions of the elements of each kind."""

SAID = """() => { document.getElementById("offline").hidden = false;
  document.getElementById("notice").innerHTML = '<p class="banner bad">That tap did not count.</p>'; }"""
"""The page reports a lost connection and a failed tap."""

PHONES = pytest.mark.parametrize("size", mostly_long([SMALL, LYING, TABLET, PHONE], SMALL, LYING))


class Stillness:
    """Movements on a page since its first state; an additional card in a hand is no movement."""

    def __init__(self, page, url: str, size) -> None:
        self.page, self.url, self.moved = page, url, {}
        page.set_viewport_size(size)
        self.first = self._stand()

    def follow(self, match, plays) -> None:
        for play in plays:
            assert match.enter(play, "Ann").done, play
            self.look(play)

    def look(self, state: str, *, anew: bool = True) -> None:
        for kind, before, now in zip(TAPPED, self.first, self._stand(anew=anew), strict=True):
            if len(before) != len(now) and "held" not in kind:
                self.moved[state, kind] = f"{len(before)} -> {len(now)}"
            elif moved := [f"{old} -> {new}" for old, new in zip(before, now, strict=False) if old != new]:
                self.moved[state, kind] = moved[0]

    def _stand(self, *, anew: bool = True):
        if anew:
            self.page.goto(self.url)
        return self.page.evaluate(STAND, TAPPED)


LONG_NAMED = [*TWO[:3], 'player Bob "Bartholomäus von Zitzewi"', TWO[-1]]
TURNS = ["Ann roll", "Bob roll", "Ann speed-limit > Bob", "Bob 50", "Ann 200", "Bob stop > Ann", "Ann roll"]
TURNS += ["Bob discard 25", "Ann accident > Bob", "Bob repairs", "Ann driving-ace", "Ann 25"]


@PHONES
@pytest.mark.parametrize(("seat", "language"), [("Bob", "fr"), (None, "nl")])
@pytest.mark.parametrize(
    ("header", "plays", "line", "instead"),
    [(LONG_NAMED, TURNS, 3, "Bob 25"), (RUSH, [*RUSH_PLAYS, "Ann right-of-way !"], 1, "Bob 50")],
    ids=["classic", "rush"],
)
def test_no_card_of_the_deck_below_the_board_moves(
    phone, header, plays, line, instead, seat, language, size, match, url
):
    feed(match, header)
    still = Stillness(phone(url, language, seat), url, size)
    still.follow(match, plays)
    match.undo("Ann")
    still.look("undo")
    match.correct(match.state.hand_entries[line].seq, instead, "Ann")
    still.look("another has changed a line")
    assert still.page.locator(".unasked .asked").count() == (seat == "Bob")
    still.page.evaluate(SAID)
    still.look("out of reach", anew=False)

    assert still.moved == {}


@pytest.mark.parametrize("language", mostly_long(LANGUAGES, "fr"))
@pytest.mark.parametrize("seat", mostly_long(["Bob", None], "Bob"))
def test_large_letters_move_no_card_of_the_deck_either(phone, seat, language, match, url):
    feed(match, LONG_NAMED)
    page = phone(url, language, seat)
    page.request.post(f"{url}/phone", form={"theme": "auto", "large": "on"}, headers={"Origin": url})
    still = Stillness(page, url, SMALL)
    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "20px"
    still.follow(match, TURNS)

    assert still.moved == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_undo_and_redo_labels_fit_on_the_smallest_phone(phone, language, match, url):
    feed(match, TWO, TURNS[:4])
    for text in ("Ann 25", "Ann 50"):
        match.correct(match.state.hand_entries[0].seq, text, "Ann")
    match.undo("Ann")
    page = phone(url, language)
    page.goto(url)
    page.locator(".slim .button").nth(1).wait_for()
    cut = page.evaluate("""() => [...document.querySelectorAll(".slim .button span")]
      .filter(e => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 4)
      .map(e => e.textContent)""")

    assert cut == []


def test_a_play_keeps_the_scroll_position(phone, match, url):
    feed(match, TWO, ["Ann roll", "Bob roll"])
    page = phone(url, seat="Ann")
    page.goto(url)
    page.evaluate("scrollTo(0, 240)")
    scrolled_px = page.evaluate("scrollY")
    assert scrolled_px > 100
    for play, told in (("Ann 25", "Ann drives 25 km."), ("Bob 50", "Bob drives 50 km.")):
        page.locator(f'.by-tap button[value="{play}"]').first.click()
        page.locator(".sky .last", has_text=told).wait_for()

        assert page.evaluate("scrollY") == scrolled_px
        page.wait_for_timeout(LOOKS_MS)


@PHONES
def test_no_card_of_a_dealt_hand_moves(phone, stacked, size, match, url):
    stacked("roll 50 25 driving-ace repairs gasoline", "roll accident 25 25 50 75", "100 200 75 stop")
    match.start(LONG_NAMED[1:], robots={})
    phone(url, seat="Bob")
    still = Stillness(phone(url, seat="Ann"), url, size)
    for tile in ("50 km", "What would you play?"):
        still.page.get_by_role("button", name=tile).first.click()
        still.page.locator(".unasked .banner").filter(visible=True).wait_for()
        still.look(f"said: {tile}", anew=False)
        still.page.locator(".said .close").filter(visible=True).first.click()
        assert not still.page.locator(".said").filter(visible=True).count()
    for play in ("Ann roll", "Bob roll", "Ann 50", "Bob accident > Ann"):
        assert match.enter(play, play.split()[0]).done, play
        still.look(play)
    assert still.page.locator(".tile.chance, .tile.wait").count() == 2
    match.waive("Ann")
    still.look("drawn")
    match.undo("Bob")
    still.look("another asks for an undo")
    assert still.page.get_by_role("button", name="Agree").is_visible()

    assert still.moved == {}


def test_no_card_on_the_picker_moves(phone, match, url):
    feed(match, RUSH)
    still = Stillness(phone(url), f"{url}/play?player=Ann", SMALL)
    for play in [*RUSH_PLAYS, "Ann right-of-way !"]:
        match.enter(play, "Ann")
        still.look(play)

    assert still.moved == {}


# --- By hand: board and cards on one screen -----------------------------------------------------------------------

HAND_SIZES = {
    name: {"width": int(name.split("x")[0]), "height": int(name.split("x")[1])}
    for name in ("360x560", "360x640", "390x664", "390x844", "844x390", "820x1180", "1920x1080")
}
"""Phones with and without browser bars, lying, a tablet and a laptop."""

TEXT_PX = (16, 20, 24)
"""Letters as usual, as large as the app offers, and larger on phones held upright."""

CROWDED = (8, "360x560")  # one row of cards is in view, perhaps without a playable one

IN_VIEW = """() => {
  const tools = document.querySelector(".by-tap .tools:last-child").getBoundingClientRect();
  const tile = [...document.querySelectorAll(".taps.use .tile")].find(one => !one.classList.contains("faint"));
  const list = tile.closest(".taps").getBoundingClientRect(), at = tile.getBoundingClientRect(), wrong = [];
  const isDocked = innerWidth < 768 && innerHeight > innerWidth;
  const lowest = Math.min(innerHeight, isDocked ? list.bottom : innerHeight);
  if (at.top < list.top - 1 || at.top + at.height / 2 > lowest) wrong.push(`first playable card at ${at.top}`);
  if (isDocked && tools.bottom > innerHeight + 1) wrong.push(`tools end at ${tools.bottom}`);
  const turn = document.querySelector("h1").getBoundingClientRect();
  if (turn.top < 0 || turn.bottom > innerHeight) wrong.push("the turn is out of view");
  return wrong;
}"""


@pytest.mark.parametrize("language", mostly_long(LANGUAGES, "fr"))
@pytest.mark.parametrize("count", TABLES)
def test_by_hand_the_board_and_a_playable_card_are_on_the_first_screen(phone, count, language, match, url):
    header, plays, _attack = TABLES[count]
    feed(match, header, plays)
    pages = {"seated": phone(url, language, "Bob"), "shared": phone(url, language)}
    wrong = {}
    for who, page in pages.items():
        page.goto(url)
        for name, size in HAND_SIZES.items():
            if (count, name) == CROWDED:
                continue
            page.set_viewport_size(size)
            for px in TEXT_PX if size["width"] < 768 and size["height"] > 600 else TEXT_PX[:2]:
                page.evaluate("px => { document.documentElement.style.fontSize = `${px}px`; }", px)
                wrong[who, name, px] = page.evaluate(OVERLAPS) + page.evaluate(IN_VIEW)
            page.evaluate("document.documentElement.style.fontSize = ''")

    assert {where: found for where, found in wrong.items() if found} == {}

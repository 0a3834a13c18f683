"""axe-core finds nothing serious on any page, in either theme, and nothing overflows."""

import re
from pathlib import Path

import pytest
from marks import mostly_long
from serving import running

from browser.screens import (
    EIGHT_PLAYS,
    FINISH,
    OPENING,
    RUSH,
    RUSH_EIGHT,
    RUSH_PLAYS,
    SCENES,
    SMALL,
    TABLET,
    TWO,
    WALL,
    app_of,
    feed,
    perhaps,
    propose,
    with_waiting,
)
from companion.common.languages import LANGUAGES
from companion.pages.players.access import DOORS, Who

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = true; })"
FINDINGS = """only => axe.run(document, {resultTypes: ["violations"], ...only}).then(found => found.violations
    .filter(one => ["serious", "critical"].includes(one.impact))
    .flatMap(one => one.nodes.map(node => `${one.id}: ${node.target.join(" ")} – ${node.failureSummary}`)))"""
SPILLS = """() => {
  const shows = box => box.width > 1 && box.height > 1;
  const clips = one => /auto|scroll|hidden/.test(getComputedStyle(one).overflowX);
  const scrolls = one => one && (clips(one) || scrolls(one.parentElement));
  const said = one => `${one.tagName.toLowerCase()} “${(one.alt ?? one.innerText).slice(0, 40)}”`;
  return [...document.querySelectorAll("main :is(img, select, input, button, a, h1, h2, h3, p, b, td)")].filter(one => {
    const box = one.getBoundingClientRect();
    if (!shows(box) || scrolls(one.parentElement)) return false;
    const frame = one.parentElement.getBoundingClientRect();
    const beyond = one.tagName === "IMG" && (box.left < frame.left - 2 || box.right > frame.right + 2);
    return beyond || box.left < -1 || box.right > innerWidth + 1;
  }).map(said);
}"""
"""Elements beyond the page, and pictures beyond their containers."""

BROKEN = """() => {
  const broken = [], texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (!text.parentElement.checkVisibility()) continue;
    for (const word of text.data.matchAll(/[\\p{L}’]{3,}/gu)) {
      const range = new Range();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const tops = [...range.getClientRects()].filter(box => box.width > 1).map(box => Math.round(box.top / 4));
      if (new Set(tops).size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""
"""Words broken over two lines."""

ONLY = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
"""Rules per theme: themes differ only in colors."""

STATES = {"empty": SCENES["setup"], "open": SCENES["entry"], "finished": SCENES["score"]}
STATES |= {name: SCENES[name] for name in ("legal", "illegal", "doubt", "differ", "attention", "extension")}
"""Matches in every state that a page can show."""

SAMPLES = {
    "/question/<question_id>": {"legal": "/question/1-2-camera.1-play", "illegal": "/question/1-2-camera.1-play",
        "doubt": "/question/1-2-camera.1-which"},
    "/line/<int:seq>": {"open": "/line/9", "attention": "/line/9", "legal": "/line/9?player=Ann",
        "illegal": "/line/4?text=Ann%20discard%2025&refused=1"},
    "/how/<name>": {"open": "/how/rush"},
    "/how/card/<slug>": {"open": "/how/card/speed-limit"},
    "/join/seat/<player>": {"open": "/join/seat/Bob"},
    "/past/<int(max=999999999):number>": {"open": "/past/1", "finished": "/past/1"},
    "/past/<int(max=999999999):number>/<int(max=9999):hand>": {"open": "/past/1/1?step=3", "finished": "/past/1/1"},
    "/past/players/<segment>": {"finished": "/past/players/ann"},
    "/score/<int:number>/plays": {"finished": "/score/1/plays"},
    "/decks/<name>/enrol/names": {"open": "/decks/grandma/enrol/names"},
    "/decks/<name>/enrol": {"open": "/decks/grandma/enrol", "empty": "/decks/grandma/enrol?card=done"},
}  # fmt: skip
"""Example paths for routes with parameters, by route and state."""

QUERIES = {
    "/setup": ("?edition=rush&seating=4x1&option-fast-remedy=no", "?seating=4x2"),
    "/play": ("?tab=other", "?tab=discard", "?player=Ann&card=stop"),
    "/camera/zones": ("?suggest=1",),
    "/try": ("?step=2&card=25", "?step=6"),
    "/print": ("?edition=rush&sides=8&kind=tag",),
}
"""Additional queries, in the state `open`."""

EVERYWHERE = ("/", "/play", "/score", "/wall", "/more")
"""Pages about the table, checked in every state; others only before, in and after a hand."""

NO_PAGES = re.compile(
    r"^/(api/|static/|version$|export\.mbn$|snap/)"
    r"|\.(jpg|json|png|zip|pdf|svg|csv)$|/bg-stats$|<any\([a-z, ]+\):form>$"
)
"""Pictures and files; pages of photographs are checked by the tests of counting."""


def pages_of(app) -> list[str]:
    """Return the routes of all pages."""
    rules = {rule.rule for rule in app.url_map.iter_rules() if "GET" in rule.methods}
    return sorted(rule for rule in rules if not NO_PAGES.search(rule))


def addresses(app, state: str) -> list[str]:
    found = []
    for rule in pages_of(app):
        if "<" in rule:
            found += [SAMPLES[rule][state]] if state in SAMPLES[rule] else []
        elif rule in EVERYWHERE or state in ("empty", "open", "finished"):
            found += [rule, *(rule + query for query in QUERIES.get(rule, ()) if state == "open")]
    return found


def test_every_page_is_checked(app):
    unknown = [rule for rule in pages_of(app) if "<" in rule and rule not in SAMPLES]

    assert unknown == [], "say in SAMPLES where these pages are to be looked at"


def test_the_checks_find_errors(inspected, monkeypatch, app):
    for door in ("bad", "faint"):
        monkeypatch.setitem(DOORS, door, Who.ANYBODY)
    page = "<html lang=en><title>Bad</title><main><h1>Bad</h1><button></button><p class=faint>Faint</p></main>"
    app.add_url_rule("/bad", "bad", lambda: f'{page}<link rel=stylesheet href="/faint.css">')
    app.add_url_rule("/faint.css", "faint", lambda: (FAINT, {"Content-Type": "text/css"}))
    with running(app) as url:
        found = {"".join(one.split(":")[:2]) for one in inspected(url + "/bad")}

    wrong = {"light button-name", "dark color-contrast"}
    assert found == {f"{width} {one}" for width in (360, 1920) for one in wrong}


FAINT = """
    @media (prefers-color-scheme: dark) {
        :root { color-scheme: dark; background: #222; }
        .faint { color: #444; }
    }
"""


@pytest.fixture(scope="module")
def inspected(browser):
    """Return a function that lists a page's serious axe-core findings, in both themes and sizes, and overflow."""
    context = browser.new_context(viewport=SMALL, bypass_csp=True, reduced_motion="reduce")
    page = context.new_page()

    def inspect(url: str) -> list[str]:
        page.goto(url)
        page.evaluate(AXE)
        page.evaluate(OPEN_ALL)
        found = []
        for size in (SMALL, WALL):
            page.set_viewport_size(size)
            for theme, only in ONLY.items():
                page.emulate_media(color_scheme=theme)
                found += [f"{size['width']} {theme}: {one}" for one in page.evaluate(FINDINGS, only)]
        for size in (SMALL, TABLET, WALL):
            page.set_viewport_size(size)
            found += [f"{size['width']} spills: {one}" for one in page.evaluate(SPILLS)]
        return found

    yield inspect
    context.close()


@pytest.mark.long
@pytest.mark.parametrize("state", mostly_long(STATES, "open"))
def test_no_page_has_serious_violations_or_overflows(inspected, state, match):
    header, plays, prepare, _path = STATES[state]
    feed(match, header, plays)
    with_waiting(match)
    prepare(match)
    app = app_of(match, sees=state == "open")
    with running(app) as url:
        wrong = {address: inspected(url + address) for address in addresses(app, state)}

    assert {address: found for address, found in wrong.items() if found} == {}


LONG = ['player Ann "Bartholomäus von Zitzew"', 'player Bob "Maximilianowitschenkoff"']
FULL = {
    "classic": ([*TWO[:-1], *LONG, TWO[-1]], [*FINISH, "Ann finish"], OPENING, "Bob 100"),
    "rush of eight": ([*RUSH_EIGHT[:-1], *LONG, RUSH_EIGHT[-1]], ["Ann 100", "end"], EIGHT_PLAYS, "Gil stop > Ann"),
}
"""Tables with a finished hand, and another with an open question."""

MORE = (
    "/nowhere", "/past/1/1?step=4", "/decks/grandma/enrol?card=stop&got=25", "/decks/grandma/enrol?card=25",
    *(f"/play?{query}" for query in ("tab=at-once", "player=Ann&card=control", "player=Ann&card=theft",
                                     "player=Ann&ask=penalty")),
)  # fmt: skip
CRAMPED = """() => [
  ...document.documentElement.scrollWidth > innerWidth ? ["wider than the screen"] : [],
  ...[...document.querySelectorAll('.tile, .button')].filter(e => e.scrollWidth > e.clientWidth + 1),
  ...[...document.querySelectorAll(`a, button, summary, select, .choice, .zone > label, .together,
    input:not([type=hidden], [type=radio], [type=checkbox], .choice input)`)]
    .filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 48 && !e.closest(".view"))
].map(e => e.outerHTML?.slice(0, 80) ?? e)"""
"""A page wider than the screen, buttons with truncated labels, and controls too small to tap."""


@pytest.mark.parametrize("table", mostly_long(FULL, "rush of eight"))
@pytest.mark.parametrize("app", [{"sees": True}], indirect=True, ids=["a camera"])
def test_no_page_is_wider_than_its_screen_and_every_control_is_large_enough(opened, table, match, app, url):
    header, before, plays, asked = FULL[table]
    wrong = {}
    feed(match, header, before)
    match.next_hand("Ann")
    for play in plays:
        match.enter(play, "Ann", anyway=True)
    propose(match, asked)
    with_waiting(match)
    # During the animation a row measures slightly less than its height.
    page = opened(url, reduced_motion="reduce")
    for address in {*addresses(app, "open"), *addresses(app, "finished"), *MORE}:
        if address.startswith("/print"):
            continue  # a link within a sentence is only as high as the text
        page.goto(url + address)
        page.evaluate(OPEN_ALL)
        for size in (SMALL, WALL):
            page.set_viewport_size(size)
            wrong[address, size["width"]] = page.evaluate(CRAMPED)

    assert {address: found for address, found in wrong.items() if found} == {}


PLAYED = {"classic": (TWO, OPENING), "rush": (RUSH, RUSH_PLAYS)}


@pytest.mark.long
@pytest.mark.parametrize("language", mostly_long(LANGUAGES, "fr"))
@pytest.mark.parametrize("edition", mostly_long(PLAYED, "classic"))
@pytest.mark.parametrize("app", [{"sees": True}], indirect=True, ids=["a camera"])
def test_no_word_breaks_on_a_small_phone(browser, edition, language, match, app, url):
    wrong = {}
    context = browser.new_context(viewport=SMALL, locale=language, reduced_motion="reduce")
    page = context.new_page()
    feed(match, *PLAYED[edition])
    with_waiting(match)
    if edition == "classic":
        perhaps(match)
    for address in addresses(app, "open"):
        page.goto(url + address)
        page.evaluate(OPEN_ALL)
        wrong[address] = [*page.evaluate(BROKEN), *page.evaluate(SPILLS)]
    context.close()

    assert {address: found for address, found in wrong.items() if found} == {}

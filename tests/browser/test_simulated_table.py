"""The main job in a browser: a hand on the simulated table, read by the whole pipeline, confirmed on a phone."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect
from serving import running

from browser.screens import CHROMIUM, PHONE, app_of
from companion import demo
from companion.match import Match
from companion.rules import judge
from companion.rules.notation import Line
from companion.simulate.script import Script, shipped_script
from companion.store import Store
from companion.vision.eye import Eye
from companion.watch import Corridor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which(CHROMIUM) is None, reason="Chromium is not installed"),
]

SPEED = 8.0
PATIENCE_S = 36_000.0
"""Longer than any test: the players wait for the tap, however busy the machine is."""

MOST_TAPS = 200
ANSWER = """() => {
  const question = document.querySelector(".proposal .go, .proposal .primary, [value='Ann finish'] ~ button");
  question?.click();
  return question?.innerText || (location.pathname === "/score" && "Score");
}"""
"""Taps the answer to whatever the table asks; gives its words, or `Score` once the page has led there."""


def final_sheet(script: Script) -> dict[str, int]:
    """What the script's hand is worth by its own record."""
    lines = (Line(number, text) for number, text in enumerate(script.record().splitlines(), 1) if text.strip())
    (result,) = [item for item in judge.judge(lines) if isinstance(item, judge.HandResult)]
    return {side: sheet.total for side, sheet in result.sheets.items()}


def taps(page: Page) -> Iterator[str]:
    """Answers whatever the table asks, one tap each, until the score is shown."""
    for _ in range(MOST_TAPS):
        said = page.wait_for_function(ANSWER, timeout=60_000).json_value()
        if said == "Score":
            return
        yield said
        page.wait_for_function("() => document.querySelector('.htmx-request') === null")


def one_by_one(match: Match) -> Callable[[], bool]:
    """Players who wait until what was laid last has been seen, and somebody has answered for it."""
    answered = 0

    def may_go_on() -> bool:
        nonlocal answered
        state = match.state
        table = state.game.table
        asks = state.pending or (table is not None and table.extension_offered_to is not None)
        if asks or len(state.fates) <= answered:
            return False
        answered = len(state.fates)
        return True

    return may_go_on


def test_a_simulated_hand_is_confirmed_on_a_phone_and_counted(browser, tmp_path):
    script = shipped_script("two-players")
    store = Store.open(tmp_path / "log.sqlite3")
    match = Match(store)
    demo.start_or_go_on(match, script)
    mats = dict(demo.setup_of(script).mats)
    corridor = Corridor(match, Eye(), lambda _state: mats)
    frames = demo.frames_of(script, speed=SPEED, may_go_on=one_by_one(match), patience_s=PATIENCE_S)

    with running(app_of(match)) as url, browser.new_context(viewport=PHONE) as context:
        page = context.new_page()
        page.goto(url)
        thread = corridor.start(frames)
        try:
            tapped = list(taps(page))
        finally:
            corridor.stop()
            thread.join()
        rows = page.get_by_role("row", name=re.compile("This hand"))
        expect(rows).to_have_count(1)
        shown = [int(cell) for cell in rows.get_by_role("cell").all_inner_texts() if cell.strip()]
    store.close()

    assert shown == list(final_sheet(script).values())
    laid = Counter(action.taken_back for action in script.hands[0].actions if action.card_id)
    assert Counter(tapped) == {"Confirm": laid[False], "Taken back": laid[True], "Finish here": 1}

"""The main flow in a browser: a hand on the simulated table, read by the whole pipeline, confirmed on a phone."""

import json
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import LOOKS_MS
from browser.screens import PHONE
from companion.app import demo
from companion.app.demo_players import DemoPlayers, frames_of_players
from companion.match.match import Match
from companion.rules.record import judge
from companion.rules.record.notation import RecordLine
from companion.simulate.animation import Tempo
from companion.simulate.script import Script, shipped_script
from companion.tracking.live import TableWatch
from companion.vision.capture.sources import Frame
from companion.vision.eye import Eye

SPEED = 8.0
MOST_TAPS = 200
MOST_WAITS = 40
QUESTION = """document.querySelector(".proposal .go, .proposal .primary, [value='Ann finish'] ~ button")"""
ASKS = f"() => {QUESTION} || location.pathname === '/score'"
ANSWER = """() => {
  const question = QUESTION;
  const scored = !question && location.pathname === "/score";
  if (question) {
    sessionStorage.tapped = JSON.stringify([...JSON.parse(sessionStorage.tapped || "[]"), question.innerText]);
    question.click();
  }
  return scored ? "Score" : Boolean(question);
}""".replace("QUESTION", QUESTION)
"""Tap the answer to the table's question and note its label; return `Score` once the page shows the score.

The label is noted in the page, since a tap that leads to another page may lose its return value.
"""


def final_sheet(script: Script) -> dict[str, int]:
    """Return the value of the script's hand by its own record."""
    lines = (RecordLine(number, text) for number, text in enumerate(script.record().splitlines(), 1) if text.strip())
    (result,) = [item for item in judge.judge(lines) if isinstance(item, judge.HandResult)]
    return {side: sheet.total for side, sheet in result.sheets.items()}


def taps(page: Page) -> Counter[str]:
    """Answer the table's questions, one tap each, until the score is shown; count each answer."""
    for _ in range(MOST_TAPS):
        page.wait_for_function(ASKS, timeout=60_000)
        page.wait_for_timeout(LOOKS_MS)
        if page.wait_for_function(ANSWER, timeout=60_000).json_value() == "Score":
            break
        page.wait_for_function("() => document.querySelector('.htmx-request') === null")
    return Counter(json.loads(page.evaluate("sessionStorage.tapped")))


def waiting_for_answers(frames: Iterator[Frame], match: Match) -> Iterator[Frame]:
    """Yield the frames, the next one only once all questions are answered, since a film has no clock.

    Otherwise the players would take an illegal card back before the phone has polled.
    """
    for frame in frames:
        yield frame
        for _ in range(MOST_WAITS):
            state = match.state
            if not state.questions:
                break
            match.wait(state.version, 0.5)


@pytest.mark.long
def test_a_simulated_hand_is_confirmed_on_a_phone_and_counted(browser, match, url):
    script = shipped_script("two-players")
    demo.start_or_go_on(match, script)
    mats = dict(demo.setup_of(script).mats)
    watch = TableWatch(match, Eye(), lambda _state: mats)
    players = DemoPlayers(match, script, tempo=Tempo(speed=SPEED), is_stopped=watch.stopping.is_set)

    with browser.new_context(viewport=PHONE) as context:
        page = context.new_page()
        page.goto(url)
        thread = watch.start(waiting_for_answers(frames_of_players(players), match))
        try:
            tapped = taps(page)
        finally:
            watch.stopping.set()
            thread.join()
        rows = page.get_by_role("row", name=re.compile("This hand"))
        expect(rows).to_have_count(1)
        shown = [int(cell) for cell in rows.get_by_role("cell").all_inner_texts() if cell.strip()]

    assert shown == list(final_sheet(script).values())
    laid = Counter(action.taken_back for action in script.hands[0].actions if action.card_id)
    assert tapped == {"Confirm": laid[False], "Take it back": laid[True], "Finish here": 1}

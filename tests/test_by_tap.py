"""Without a camera the deck stands under the board: a tap is a play."""

from __future__ import annotations

import pytest
from client import SECRET, STRANGER, TWO, played, tap, text_of, values

from companion.pages import Camera, create_app

ASKS = "What does Ann play?"


@pytest.fixture
def app(match):
    match.start(TWO)
    return create_app(match, secret=SECRET)


def test_the_board_bears_a_button_for_each_card_laid_or_discarded(page, match):
    shown = values(page.get("/"))
    assert {"Ann roll", "Ann 25", "Ann stop > Bob", "Ann discard 25"} <= set(shown)

    tap(page, "/play", text="Ann roll")
    assert match.lines()[-1] == "Ann roll"
    assert "What does Bob play?" in text_of(page.get("/"))
    assert "Bob stop > Ann" in values(page.get("/"))


def test_with_several_opponents_a_hazard_asks_whom_it_hits(page, match):
    match.start(("side Ann", "side Bob", "side Cid", "hand first Ann"))

    assert 'href="/play?player=Ann&amp;card=stop"' in page.get("/").get_data(as_text=True)


@pytest.mark.parametrize("plays", [("Ann 100",), ("end",)], ids=["a question", "the end of the hand"])
def test_what_waits_for_an_answer_takes_its_place(page, match, plays):
    for play in plays:
        match.enter(play, "Ann")

    assert "tiles" not in page.get("/").get_data(as_text=True)


def test_a_camera_a_watcher_and_dealt_hands_need_no_such_cards(page, app, match):
    watcher = app.test_client()
    watcher.environ_base.update(STRANGER)
    sees = create_app(match, secret=SECRET, camera=Camera(lambda: b"a picture")).test_client()

    assert ASKS in text_of(page.get("/"))
    assert ASKS not in text_of(watcher.get("/"))
    assert ASKS not in text_of(sees.get("/"))
    match.play_without_camera(on=True)
    assert ASKS in text_of(sees.get("/"))
    match.start(TWO, robots={"Bob": 1})
    assert ASKS not in text_of(page.get("/"))


def test_a_play_that_is_refused_is_asked_about_on_the_board(page, match):
    played(match, "Ann roll", "Bob roll")
    answer = tap(page, "/play", text="Ann stop > Ann")

    assert answer.status_code == 303
    assert "Not allowed" in text_of(page.get("/"))

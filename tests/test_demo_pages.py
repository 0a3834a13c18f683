"""The demo's pages identify it, and an own game ends it."""

import html
import re

import numpy as np
import pytest
from client import SECRET, STRANGER, TWO, tap, text_of

from companion.match.history import DEMO
from companion.match.match import Match
from companion.pages import Camera, create_app
from companion.rules.cards import Card
from companion.storage.data_folder import DEMO_NAME
from companion.storage.event_store import Store
from companion.vision.enrol.enrolment import begin

PAGES = ("/", "/score", "/more", "/join", "/setup", "/seats", "/phone", "/past", "/camera", "/decks", "/print", "/wall")


@pytest.fixture
def app(match):
    match.start(TWO, DEMO)
    return create_app(match, secret=SECRET, camera=Camera(lambda: b"a picture", is_simulated=True))


@pytest.mark.parametrize("path", PAGES)
def test_every_page_of_the_demo_says_so_until_people_play_their_own_game(page, match, path):
    assert 'class="demo"' in page.get(path).text
    match.start(TWO, "Ann")
    assert 'class="demo"' not in page.get(path).text


@pytest.mark.parametrize("path", ["/", "/join"])
def test_a_phone_without_the_code_is_not_offered_its_own_game(page, path):
    for way in ("Play our own game", "Just want the score? Photograph the finished table"):
        assert way in text_of(page.get(path))
        assert way not in text_of(page.get(path, environ_base=STRANGER))


def test_the_demo_explains_how_to_use_a_phone_as_the_camera(page, monkeypatch):
    monkeypatch.setenv("COMPANION_CALLED", "deploy/run")

    assert "To use a phone, stop it and start it like this: deploy/run up" in text_of(page.get("/camera/phone"))


@pytest.mark.parametrize("path", ["/decks", "/decks/ours/enrol", "/setup"])
def test_the_demo_says_that_its_decks_and_games_stay_in_it(page, match, path, monkeypatch):
    monkeypatch.setenv("COMPANION_CALLED", "deploy/run")
    ours = begin("ours", "classic", match.store.path.parent)
    ours.keep(Card.ROLL, [np.full((88, 57, 3), 200, np.uint8)])
    said = "This is the demo: decks and games made here stay in the demo. Start your own table, with or without"

    for _game in ("the demo's", "people's"):
        assert f"{said} a camera, with deploy/run up." in text_of(page.get(path))
        match.start(TWO, "Ann")


def test_an_own_game_starts_without_asking_about_the_demo(page, match):
    match.enter("Ann roll", "Ann")
    form = page.get("/setup").text
    assert 'value="Ann"' not in form
    assert "A match is in progress" not in form

    assert tap(page, "/setup", edition="classic", seating="2x1", name1="Oma", name2="Leo").status_code == 303
    assert not match.state.is_demo
    assert [team.name for team in match.state.game.teams] == ["Oma", "Leo"]


def test_an_own_game_in_the_demo_has_no_camera(page, match):
    match.trouble("The simulated table has come to its end.")
    assert "When the camera sees a play" in text_of(page.get("/more"))
    match.start(TWO, "Ann")
    assert "When the camera sees a play" not in text_of(page.get("/more"))
    assert "/camera.jpg" not in page.get("/more").text


def test_an_open_page_notices_the_end_of_the_demo(page, match):
    before = page.get("/version").get_etag()[0]
    match.start(TWO, "Ann")
    after = page.get("/version").get_etag()[0]

    assert ("-demo." in before, "-demo." in after) == (True, False)


def test_the_demo_enrolls_from_photographs_and_not_from_its_rendered_table(page, match, tmp_path):
    begin("ours", "classic", tmp_path).keep(Card.ROLL, [np.full((88, 57, 3), 200, np.uint8)])
    in_the_demo = page.get("/decks/ours/enrol").text
    match.start(TWO, "Ann")
    in_a_match = page.get("/decks/ours/enrol").text

    for shown in (in_the_demo, in_a_match):
        assert "/camera.jpg" not in shown
        assert "<details open><summary>Photographs of the cards" in shown


def test_restarting_the_demo_begins_the_demo(page, match):
    match.start(TWO, "Ann")
    match.offer(TWO)
    assert "Show the demo again?" in text_of(page.get("/"))
    tap(page, "/offered", begin="yes")
    assert match.state.is_demo


def test_no_link_of_the_demo_is_dead(page, match):
    match.enter("Ann roll", "Ann")
    found, waiting = {}, ["/"]
    while waiting:
        path = waiting.pop()
        shown = page.get(path)
        found[path] = shown.status_code
        links = re.findall(r'href="(/[^"#]*)', shown.text) if shown.mimetype == "text/html" else []
        waiting += {html.unescape(link) for link in links if "/static/" not in link} - found.keys() - set(waiting)

    assert len(found) > 50
    assert {path: code for path, code in found.items() if code >= 400} == {}


def test_a_phone_keeps_its_seat_at_the_table_while_it_looks_at_the_demo(tmp_path):
    """They have one address, but different signing keys."""
    cookies = {}
    for name, folder in (("table", tmp_path), ("demo", tmp_path / DEMO_NAME)):
        folder.mkdir(exist_ok=True)
        store = Store.open(folder / "log.sqlite3")
        app = create_app(Match(store), secret=name.encode() * 8)
        cookies[name] = app.config["SESSION_COOKIE_NAME"]
        store.close()

    assert cookies["table"] != cookies["demo"]

"""What a phone's owner chooses for it: language, light, letters, sounds."""

from __future__ import annotations

import pytest

from companion.match.match import Match
from companion.pages import create_app, language
from companion.storage.event_store import Store

HOME = {"Origin": "http://localhost"}


@pytest.fixture
def app(tmp_path):
    store = Store.open(tmp_path / "log.sqlite3")
    yield create_app(Match(store), secret=b"p" * 32)
    store.close()


@pytest.fixture
def client(app):
    return app.test_client()


@pytest.mark.parametrize(
    ("asked", "spoken"),
    [("fr-FR,fr;q=0.9,en;q=0.5", "fr"), ("pl", "pl"), ("fi,sv", "en"), ("de-AT,de;q=0.9", "de"), ("", "en")],
)
def test_a_page_is_in_the_language_the_phone_asks_for(client, asked, spoken):
    page = client.get("/phone", headers={"Accept-Language": asked}).text

    assert f'<html lang="{spoken}"' in page


def test_the_language_that_was_chosen_stays(client):
    client.post("/phone", data={"language": "pl"}, headers=HOME)

    assert '<html lang="pl"' in client.get("/phone", headers={"Accept-Language": "fr"}).text


def test_a_language_nobody_here_speaks_changes_nothing(client):
    client.post("/phone", data={"language": "xx"}, headers=HOME)

    assert '<html lang="en"' in client.get("/phone").text


def test_what_was_chosen_is_written_where_style_sheets_and_scripts_read_it(client):
    client.post("/phone", data={"theme": "dark", "large": "on", "sound": "on"}, headers=HOME)

    page = client.get("/phone").text
    assert '<html lang="en" data-theme="dark" data-large="on">' in page
    assert 'data-sound="on"' in page
    assert "data-speech" not in page


def test_a_language_chosen_on_another_page_leaves_the_rest_as_it_is(client):
    client.post("/phone", data={"theme": "dark"}, headers=HOME)
    client.post("/phone", data={"language": "fr", "back": "/join"}, headers=HOME)

    assert '<html lang="fr" data-theme="dark">' in client.get("/phone").text


@pytest.mark.parametrize("back", ["//evil.example", "https://evil.example", "/\\evil.example", "", "/\nx"])
def test_after_choosing_a_phone_is_sent_to_none_but_our_own_pages(client, back):
    answer = client.post("/phone", data={"language": "fr", "back": back}, headers=HOME)

    assert answer.location == "/phone"


def test_somebody_who_only_watches_may_choose_his_language_too(client):
    answer = client.post("/phone", data={"language": "fr"}, headers=HOME, environ_base={"REMOTE_ADDR": "192.0.2.7"})

    assert answer.status_code == 303


def test_a_request_leaves_no_language_behind(client):
    client.get("/phone", headers={"Accept-Language": "pl"})

    assert language.spoken() == "en"


def test_what_is_chosen_leaves_seat_and_host_as_they_are(app):
    app.extensions["companion"].match.start(["side Ann", "side Bob", "hand first Ann"])
    phone = app.test_client()
    phone.environ_base["REMOTE_ADDR"] = "192.0.2.7"
    phone.get("/join", query_string={"t": app.extensions["companion"].token}, follow_redirects=True)
    phone.post("/join", data={"player": "Ann"}, headers=HOME)

    phone.post("/phone", data={"theme": "dark", "large": "on", "sound": "on", "language": "fr"}, headers=HOME)

    assert "À vous de jouer" in phone.get("/").text
    assert phone.post("/verify", data={"verify": "yes"}, headers=HOME).status_code == 303

"""The table of routes and permissions is complete, and the app enforces it."""

import re

import pytest
from client import HOME, SECRET, scanned, stranger

from companion.pages import create_app
from companion.pages.players.access import DOORS, Who

COMES_IN = {
    "stranger": {Who.ANYBODY},
    "watcher": {Who.ANYBODY, Who.INSIDE},
    "player": {Who.ANYBODY, Who.INSIDE, Who.PLAYING, Who.PLAYING_OR_HOST},
    "watching host": {Who.ANYBODY, Who.INSIDE, Who.PLAYING_OR_HOST, Who.HOST},
    "host": set(Who),
    "machine": set(Who),
}
"""The groups of each client."""


@pytest.fixture
def app(match):
    match.start(("side Ann", "side Bob", "hand first Ann"))
    return create_app(match, secret=SECRET)


def client_of(app, whose: str):
    """Return a client's browser; there is always a host."""
    first = scanned(app, player="" if whose == "watching host" else "Ann")
    others = {
        "stranger": lambda: stranger(app),
        "watcher": lambda: scanned(app, 11, player=""),
        "player": lambda: scanned(app, 12, player="Bob"),
        "machine": app.test_client,
    }
    return others[whose]() if whose in others else first


def routes(app):
    """Return each route's endpoint, method and an example path."""
    return [
        (rule.endpoint, "POST" if "POST" in rule.methods else "GET", address_of(rule.rule))
        for rule in app.url_map.iter_rules()
    ]


def address_of(rule: str) -> str:
    return re.sub(r"<any\(['\"]?([\w-]+)[^>]*>|<int[^>]*>|<[^>]+>", lambda found: found[1] or "1", rule)


def test_every_route_has_a_line_in_the_table_and_every_line_a_route(app):
    assert {rule.endpoint for rule in app.url_map.iter_rules()} == set(DOORS)


def test_a_route_has_one_method(app):
    asked = [rule.methods - {"HEAD", "OPTIONS"} for rule in app.url_map.iter_rules()]

    assert all(methods in ({"GET"}, {"POST"}) for methods in asked)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unlisted_route_is_closed_to_all(app, method):
    app.add_url_rule("/new", "table.new", lambda: "open", methods=[method])

    answer = app.test_client().open("/new", method=method, headers=HOME)

    assert answer.status_code == 404
    assert "open" not in answer.text


@pytest.mark.parametrize("whose", COMES_IN)
def test_a_route_admits_exactly_the_phones_listed(app, whose):
    client, came = client_of(app, whose), set()
    for endpoint in app.view_functions:
        app.view_functions[endpoint] = lambda endpoint=endpoint, **_which: came.add(endpoint) or "in"

    codes = {
        endpoint: client.open(path, method=method, headers=HOME).status_code for endpoint, method, path in routes(app)
    }

    assert came == {endpoint for endpoint, who in DOORS.items() if who in COMES_IN[whose]}
    assert {codes[endpoint] for endpoint in DOORS if endpoint not in came} <= {401 if whose == "stranger" else 403}

"""Access, headers and content of all pages, with data in each, for every kind of visitor."""

import hashlib
from pathlib import Path

import house as houses
import pytest
from house import HOME, House, looked_at

from companion.pages.players.access import DOORS, Who


def host(house: House):
    client = house.phone(32, everybody="1")
    with client.session_transaction() as session:
        house.app.extensions["companion"].phones.make_host(session["phone"])
    return client


PLAYS = {Who.ANYBODY, Who.INSIDE, Who.PLAYING, Who.PLAYING_OR_HOST}
VISITORS = {
    "machine": (House.machine, set(Who)),
    "stranger": (House.stranger, {Who.ANYBODY}),
    "let in": (lambda house: house.phone(30, everybody="1"), PLAYS),
    "watching": (lambda house: house.phone(31), {Who.ANYBODY, Who.INSIDE}),
    "seated": (lambda house: house.phone(11, player="Bob"), PLAYS),
    "host": (host, set(Who)),
}
"""Each visitor's browser and rights."""


def kept(house: House) -> dict[str, str]:
    """Return the saved data: the log's events, and every other file of the data folder."""
    store = house.match.store
    log = repr([store.events(match) for match in store.matches()])
    files = {
        path: path.read_bytes() for path in house.folder.rglob("*") if path.is_file() and "sqlite" not in path.name
    }
    return {str(path): hashlib.sha256(what).hexdigest() for path, what in files.items()} | {"log": log}


@pytest.mark.variants(3)
@pytest.mark.parametrize("whose", VISITORS)
def test_access_follows_the_table_of_rights_and_reading_changes_nothing(house, whose):
    visitor, doors = VISITORS[whose]
    client, before = visitor(house), kept(house)
    for endpoint, path in looked_at(house):
        codes = (200, 302, 303) if DOORS[endpoint] in doors else (401, 403)
        for method in ("GET", "HEAD", "OPTIONS"):
            code = client.open(path, method=method).status_code
            assert method == "OPTIONS" or code in codes, path
            client.open(f"{path}{'&' if '?' in path else '?'}confirm=1&player=Ann&text=Ann+25&phone=x", method=method)

    assert kept(house) == before


def test_a_stranger_sees_no_camera_or_card_pictures(house):
    client = house.stranger()
    for _endpoint, path in looked_at(house):
        answer = client.get(path)

        assert houses.PICTURE not in answer.data, path
        assert b"\xff\xd8" not in answer.data[:2], path
        if answer.mimetype == "text/html":
            assert b".jpg" not in answer.data, path


@pytest.mark.parametrize(
    "path",
    [
        "/static/../companion.css", "/static/..%2f..%2fsecret-key", "/static//etc/passwd",
        "/static/%2e%2e/%2e%2e/secret-key", "/static/....//secret-key", "/static/companion.css%00.jpg",
        "/decks/../secret-key.zip", "/decks/..%2f..%2flog.sqlite3.zip", "/decks/%2e%2e/enrol", "/decks/own/..-1.jpg",
        "/snap/../../secret-key", "/past/1/../../secret-key",
    ],
)  # fmt: skip
def test_no_address_leads_outside_the_served_files(house, path):
    answer = house.machine().get(path)

    assert answer.status_code in (302, 303, 308, 400, 404)
    assert b"root:" not in answer.data


PROTECTING = (
    "Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy",
    "Cross-Origin-Resource-Policy", "Cross-Origin-Opener-Policy", "Cache-Control",
)  # fmt: skip


@pytest.mark.parametrize("visitor", [House.stranger, House.machine])
def test_every_answer_has_security_headers(house, visitor):
    client = visitor(house)
    paths = [path for _endpoint, path in looked_at(house)]
    answers = [client.get(path) for path in [*paths, "/nowhere"]]
    answers += [client.post(path, headers=HOME) for path in ("/play", "/nowhere", "/join/code")]
    answers += [client.post("/play"), client.get("/", headers={"Host": "evil.example"})]

    for answer in answers:
        assert [name for name in PROTECTING if name not in answer.headers] == []
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        assert "Access-Control-Allow-Origin" not in answer.headers
        answer.close()


def test_private_pictures_are_not_cached(house):
    client = house.phone(11, player="Bob")
    pictures = [path for endpoint, path in looked_at(house) if path.endswith(".jpg") or endpoint == "camera.picture"]

    assert len(pictures) >= 6
    assert {client.get(path).headers["Cache-Control"] for path in pictures} == {"no-store"}


def test_no_page_reveals_paths_of_the_machine(house):
    for client in (house.stranger(), house.machine()):
        for _endpoint, path in looked_at(house):
            assert str(Path(house.folder)).encode() not in client.get(path).data, path

"""The data folder: its location, permissions, and damaged small files, which never prevent playing."""

import os

import pytest
from logs import played

from companion.app import mqtt
from companion.app.reports.deck_report import listing
from companion.common.errors import Problem
from companion.match.match import Match
from companion.match.phones import KEPT_NAME as PHONES
from companion.pages import create_app
from companion.pages.context import Camera
from companion.pages.players import phone_identity
from companion.pages.table_camera.camera_settings import KeptTurn
from companion.rules.editions.edition import keep_own_editions
from companion.storage import recovery
from companion.storage.backups import back_up
from companion.storage.data_folder import DECK_IN_USE_NAME as DECK_IN_USE
from companion.storage.data_folder import KEY_NAME, data_dir, store_path
from companion.storage.data_folder import TURN_NAME as TURN
from companion.storage.event_store import Store
from companion.storage.versions import FILE_NAME as VERSIONS
from companion.tabletop.drawn_zones import FILE_NAME as ZONES
from companion.tabletop.drawn_zones import DrawnZones
from companion.tabletop.template_decks import deck_names
from companion.vision.faces.deck_in_use import DeckInUse

GARBAGE = {
    "empty": b"", "zeros": bytes(4096), "torn": b'{"host": "fir', "no text": b"\xff\xfe\x00\x80" * 50,
    "a list": b"[1, 2]", "null": b"null", "a number": b"7",
    "numbers": b'{"deck": 3, "degrees": [90], "mirrored": 1, "host": {}, "seats": [[]], "zone": [3], "matches": 1}',
    "texts": b'{"deck": "../x", "degrees": "90", "picture": "x", "seats": {"a": 1}, "away": 7, "matches": "ab"}',
    "deep": b"[" * 200_000, "endless": b'{"host": ' + b"9" * 10_000 + b"}", "a folder": None,
}  # fmt: skip
SETTINGS = (PHONES, ZONES, TURN, DECK_IN_USE, recovery.NOTE_NAME, VERSIONS, mqtt.ID_NAME)
NAMES = (*SETTINGS, "editions/ours.toml", "decks/ours/deck.toml", KEY_NAME)


@pytest.mark.parametrize("content", GARBAGE.values(), ids=GARBAGE)
def test_the_service_starts_and_plays_with_garbage_in_every_small_file(tmp_path, content):
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            (tmp_path / name).write_bytes(content)
        elif name != KEY_NAME:
            (tmp_path / name).mkdir()

    keep_own_editions(tmp_path / "editions")
    store = Store.open(store_path(tmp_path))
    match = Match(store)
    match.start(["side Ann", "side Bob", "hand first Ann"])
    camera = Camera(zones=DrawnZones(tmp_path), turn=KeptTurn(tmp_path))
    page = create_app(match, secret=phone_identity.load_secret(tmp_path), camera=camera).test_client()

    assert DeckInUse(tmp_path).templates() is None
    assert len(mqtt.own_id(tmp_path)) == 8
    assert listing(deck_names(tmp_path), tmp_path)
    assert page.post("/play", data={"text": "Ann roll"}, headers={"Origin": "http://localhost"}).status_code == 303
    for path in ("/", "/seats", "/more", "/camera", "/decks", "/join"):
        assert page.get(path).status_code == 200
    keep_own_editions(tmp_path / "none")
    store.close()


def test_a_data_folder_that_cannot_be_created_is_reported(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(Problem, match="cannot be written to"):
        data_dir(tmp_path / "file" / "data")


def test_the_option_for_the_data_folder_overrides_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPANION_DATA", str(tmp_path / "b"))

    assert data_dir(tmp_path / "a") == tmp_path / "a"
    assert data_dir() == tmp_path / "b"


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_written_files_are_readable_only_by_their_owner(tmp_path, called, umask):
    (tmp_path / "data").mkdir()
    path, before = played(tmp_path / "data", matches=1, plays=3), os.umask(umask)
    try:
        (path.parent / recovery.LAST_NAME).unlink()
        recovery.keep_last(path.parent, None)
        back_up(path)
        called("backup", tmp_path / "table.zip", "--data", path.parent)
        (tmp_path / "table.zip").chmod(0o644)
        called("backup", tmp_path / "table.zip", "--force", "--data", path.parent)
        called("play", tmp_path / "game.json", typed="q")
    finally:
        os.umask(before)

    written = [tmp_path / "table.zip", tmp_path / "game.json", path.parent / recovery.LAST_NAME]
    written += path.parent.glob("backups/*")
    assert len(written) == 4
    assert {one.name: one.stat().st_mode & 0o777 for one in written} == {one.name: 0o600 for one in written}

"""What tests of many rooms start from, and in which order they run."""

import gc
import io
import os
import sqlite3
import sys
from collections import Counter
from functools import lru_cache
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from client import SECRET, TWO
from werkzeug.routing import Rule

from companion.app.cli import main
from companion.match import dealer
from companion.match.match import Match
from companion.printing import render
from companion.rules.cards import card_of_slug
from companion.rules.editions.edition import keep_own_editions
from companion.rules.hidden_cards import deal
from companion.storage import database
from companion.storage.event_store import Store
from companion.vision.enrol import enrolment, rectify
from companion.vision.enrol.rectify import Rectified

LONGEST_FIRST = ("test_robot_seat.py", "test_several_cameras.py", "test_accessibility.py", "test_face_detector.py")
"""Whoever runs the tests beside one another does not wait for these at the end."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks all but the first parameters of a test of variants as long, and puts the longest tests first."""
    seen: Counter[str] = Counter()
    for item in (item for item in items if not item.get_closest_marker("long")):
        test = item.nodeid.partition("[")[0]
        seen[test] += 1
        if (mark := item.get_closest_marker("variants")) and seen[test] > mark.args[0]:
            item.add_marker("long")
    items.sort(key=lambda item: not item.get_closest_marker("long") and item.path.name not in LONGEST_FIRST)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What was collected stays to the end: looking through it for garbage again and again took a twentieth of a run."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


COMPILED: dict[tuple, tuple] = {}
COMPILE = Rule.compile


def compiled(rule: Rule) -> None:
    """Makes a rule's addresses as they were made for the first app: most of the time that it takes to make one."""
    key = (rule.rule, rule.subdomain, rule.merge_slashes, repr(rule.defaults), *rule.map.converters.values())
    if key not in COMPILED:
        COMPILE(rule)
        builders = rule._build.__func__, rule._build_unknown.__func__
        COMPILED[key] = rule._parts, rule._trace, rule._converters, *builders
    rule._parts, rule._trace, rule._converters, build, build_unknown = COMPILED[key]
    rule._build, rule._build_unknown = build.__get__(rule), build_unknown.__get__(rule)
    rule.arguments.update(rule._converters)


@pytest.fixture(scope="session", autouse=True)
def compiled_once():
    """Every test makes an app of its own; they share what was compiled, templates through files beside those."""
    patch = pytest.MonkeyPatch()
    patch.setattr(sys, "dont_write_bytecode", False)
    patch.setattr(Rule, "compile", compiled)
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def drawn_and_rectified_once():
    """Many tests draw the same few cards and mats, and cut cards out of the same few pictures: once for each."""
    found: dict[tuple, Rectified] = {}

    def rectified(image, size_mm):
        key = (image.tobytes(), image.shape, size_mm)
        return found[key] if key in found else found.setdefault(key, rectify.rectified(image, size_mm))

    patch = pytest.MonkeyPatch()
    patch.setattr(enrolment, "rectified", rectified)
    patch.setattr(render, "_png", lru_cache(512)(render._png))
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def unsynced():
    """Nothing waits for the disk, which took half of the time of many tests; gives what brings a log up to date else.

    What must have reached a disk before its power goes is asked by `test_trust_power_cuts.py`.
    """
    migrate = database.migrate

    def unsynced(db: sqlite3.Connection, schema: int | None = None) -> None:
        db.execute("PRAGMA synchronous = OFF")
        migrate(db, schema)

    patch = pytest.MonkeyPatch()
    patch.setattr(database, "migrate", unsynced)
    patch.setattr(os, "fsync", lambda _fd: None)
    yield migrate
    patch.undo()


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A house with something in every room."""
    from house import furnished  # needs all rooms of the program, which few tests do

    with furnished(tmp_path_factory.mktemp("house")) as house:
        yield house


@pytest.fixture
def store(tmp_path):
    """An empty log, whose clock stands still on 14 November 2023."""
    opened = Store.open(tmp_path / "log.sqlite3", clock=lambda: 1_700_000_000.0)
    yield opened
    opened.close()


@pytest.fixture
def match(store):
    """A match that nobody has begun, over an empty log."""
    return Match(store)


@pytest.fixture
def begun(match):
    """The match, with a hand of Ann and Bob."""
    match.start(TWO)
    return match


@pytest.fixture
def app(match):
    """The pages of the match, as few as they may be; a test's own file may serve others."""
    from companion.pages import create_app

    return create_app(match, secret=SECRET)


@pytest.fixture
def page(app):
    """A browser on the machine itself, at the pages that the test's own file serves."""
    return app.test_client()


@pytest.fixture
def called(monkeypatch, capsys, tmp_path):
    """Calls the program as a shell would, without the time that it takes to load; `typed` is its standard input."""

    def call(*words: str | Path, typed: str = "") -> CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["companion", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed.encode())))
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return CompletedProcess(words, int(ended.value.code or 0), said.out, said.err)

    yield call
    keep_own_editions(tmp_path / "none")


@pytest.fixture
def clock():
    """A clock that goes when it is told to: a call gives `now_s`."""
    return type("Clock", (), {"now_s": 1000.0, "__call__": lambda clock: clock.now_s})()


@pytest.fixture
def strangers(monkeypatch):
    """Nobody is the machine itself, nor let in for sitting there: all are strangers until they show the code."""
    monkeypatch.setattr("companion.pages.players.phone_identity.is_machine", lambda: False)


@pytest.fixture
def stacked(monkeypatch):
    """Deals the cards that are named, seat by seat and then those that are drawn; the others follow."""

    def stack(*hands: str) -> None:
        named = [card_of_slug(slug) for hand in hands for slug in hand.split()]

        def dealt_by(table, key):
            others = Counter(table.deck) - Counter(named)
            return deal(table, [*others.elements(), *reversed(named)], key)

        monkeypatch.setattr(dealer, "dealt_by", dealt_by)

    return stack

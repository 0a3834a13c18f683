"""The wall clock may jump by years: nothing depends on it, and no impossible date is shown."""

import itertools
import os
import re
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from client import TWO, tap, text_of
from itsdangerous import TimestampSigner
from test_template_decks import PNG

from companion.app.service import exported
from companion.common import clock
from companion.match import season
from companion.match.archive import Archive
from companion.match.match import Match
from companion.pages import create_app
from companion.pages.scores import past_matches
from companion.rules.cards import Card
from companion.storage.event_store import Store
from companion.tabletop.deck_archive import export_deck
from companion.tabletop.template_decks import (
    Description,
    load_deck,
    own_folder,
    put_pictures,
    write_description,
)
from companion.vision.enrol import enrolment

ROOT = Path(__file__).parent.parent
YEARS = 365.25 * 24 * 3600
IN_1970, IN_2026, IN_2100 = 0.0, 56.9 * YEARS, 130.5 * YEARS
JUMPS = (IN_2026, IN_1970, IN_2100, IN_1970 - 1, IN_2026, 1e300, float("inf"), IN_1970)


PLAYS = ("Ann roll", "Bob roll", "Ann 100", "Bob stop > Ann", "Ann right-of-way !", "Ann 200", "Bob 25", "end")


def opened(path: Path, *times_s: float) -> Store:
    """Open a log whose clock jumps with every event."""
    jumping = itertools.cycle(times_s)
    return Store.open(path, clock=lambda: next(jumping))


def played(store: Store, *plays: str, name: str = "") -> Match:
    match = Match(store)
    match.start(TWO)
    if name:
        match.sit("Ann", "Ann", name)
    for play in plays:
        match.enter(play, "Ann")
    return match


# --- Order of events ------------------------------------------------------------------------------------------


def test_a_match_does_not_depend_on_the_clock(tmp_path):
    states, records, sheets = [], [], []
    for number, times_s in enumerate([(IN_2026,), JUMPS, JUMPS[::-1]]):
        (tmp_path / str(number)).mkdir()
        store = opened(tmp_path / str(number) / "companion.sqlite3", *times_s)
        match = played(store, *PLAYS)
        match.undo("Bob")
        match.redo("Bob")
        match.correct(6, "Ann 75", "Bob")
        match.next_hand("Ann")
        states.append((match.state.game, match.state.entries, Match(store).state.game))
        records.append(match.record())
        store.close()
        sheets.append(exported(1, "csv", store.path.parent))

    assert states[0] == states[1] == states[2]
    assert len(set(records)) == len(set(sheets)) == 1


def test_matches_are_listed_in_the_order_they_were_played(tmp_path):
    store = opened(tmp_path / "log.sqlite3", IN_2100, IN_2026, IN_1970)
    for name in ("Anna", "Änne", "ANNA"):
        played(store, *PLAYS, name=name)
    archive = Archive()

    pasts, _ = archive.page(store, 1, 10)

    assert [past.match for past in pasts] == sorted(store.matches(), reverse=True)
    (block,) = season.by_edition(archive.figures(store))
    assert block.players["anna"].name == "ANNA"
    store.close()


def test_a_clock_beyond_the_range_of_python_stops_nothing(monkeypatch):
    """After the year 2262 Python cannot read the clock; libraries need a readable time again."""

    def far() -> float:
        raise OverflowError("timestamp too large to convert to C _PyTime_t")

    monkeypatch.setattr("time.time", far)

    clock.make_readable()

    assert 0 <= clock.now_s() < IN_2026
    assert clock.today() is None


# --- Access ---------------------------------------------------------------------------------------------------


@pytest.fixture
def signed_at(monkeypatch):
    """The time used to sign and read cookies."""
    now_s = [IN_2026]
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _self: int(now_s[0]))
    return now_s


@pytest.mark.parametrize(("then_s", "now_s"), list(itertools.permutations((IN_1970, IN_2026, IN_2100), 2)))
@pytest.mark.usefixtures("begun")
def test_a_phone_is_recognized_after_the_clock_jumps_by_years(app, page, signed_at, then_s, now_s):
    signed_at[0] = then_s
    sent = tap(page, "/join", player="Ann").headers["Set-Cookie"]
    tap(page, "/phone", theme="dark")

    signed_at[0] = now_s

    assert "this phone" in text_of(page.get("/seats"))
    assert 'data-theme="dark"' in page.get("/").get_data(as_text=True)
    assert len(app.extensions["companion"].phones.party.seats) == 1
    # The phone itself counts the age of its cookie.
    assert not {"Expires", "Domain"} & {part.partition("=")[0] for part in sent.split("; ")}
    assert {"HttpOnly", "SameSite=Lax", "Path=/", f"Max-Age={400 * 24 * 3600}"} <= set(sent.split("; "))


def test_a_cached_file_is_not_sent_again_because_of_a_clock_jump(page):
    sent = page.get("/static/live.js")

    again = page.get("/static/live.js", headers={"If-None-Match": sent.headers["ETag"]})

    assert (sent.status_code, again.status_code, again.data) == (200, 304, b"")
    assert "Last-Modified" not in sent.headers


# --- Impossible dates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("at_s", [IN_1970, -1e10, 1e300, float("inf"), float("nan"), IN_2026 + 1000 * YEARS])
def test_an_impossible_date_is_not_shown(app, at_s):
    with app.test_request_context("/past"):
        assert past_matches.when(at_s) == "Unknown date"
        assert "2026" in past_matches.when(IN_2026)


def test_matches_from_a_computer_without_a_clock_show_no_date(tmp_path):
    store = opened(tmp_path / "log.sqlite3", IN_1970)
    match = played(store, *PLAYS)
    page = create_app(match, secret=b"s" * 32).test_client()

    for path in ("/past", "/past/1"):
        assert "Unknown date" in text_of(page.get(path))
        assert "1970" not in text_of(page.get(path))
    assert page.get("/past/1/1.png").status_code == 200
    assert page.get("/api/matches").json["matches"][0]["began"] is None
    store.close()


@pytest.mark.parametrize(("now_s", "day"), [(IN_1970, None), (IN_2026, datetime.fromtimestamp(IN_2026).date())])
def test_a_deck_shows_its_date_only_if_known(tmp_path, monkeypatch, now_s, day):
    monkeypatch.setattr(clock.time, "time", lambda: now_s)

    made = enrolment.begin("ours", "classic", tmp_path).description.made

    assert made == (day.isoformat() if day else None)


def test_a_deck_dated_1970_can_be_moved_to_another_machine(tmp_path):
    write_description(own_folder("ours", tmp_path), Description("ours", "classic"))
    put_pictures(own_folder("ours", tmp_path), Card.ROLL, [PNG])
    deck = load_deck("ours", tmp_path)
    for path in deck.folder.iterdir():
        os.utime(path, (0, 0))

    with zipfile.ZipFile(export_deck(deck, tmp_path)) as packed:
        assert {"deck.toml", "roll.png"} <= set(packed.namelist())


# --- Readers of the clock -------------------------------------------------------------------------------------

READS = re.compile(
    r"\btime\.(?:time|time_ns|localtime|gmtime|ctime|strftime)\b|\bdatetime\.(?:now|utcnow|today)\b|\bdate\.today\b"
    r"|\bst_[acm]time|\bgetmtime\b|from time import|\blast_modified\b|\bmax_age\b|\bexpires\b"
)
MAY = {
    "companion/common/clock.py": {"time.time"},
    "companion/app/doctor.py": {"time.gmtime"},  # reports a wrong clock
    "companion/vision/faces/face_templates.py": {"st_mtime"},  # to compare files, not to order them
    "companion/pages/table_camera/enrol.py": {"st_mtime"},  # the same
    "companion/pages/server/guard.py": {"max_age"},  # counted by the phone
}


def test_only_listed_files_read_the_wall_clock():
    paths = sorted((ROOT / "companion").rglob("*.py"))
    found = {path.relative_to(ROOT).as_posix(): set(READS.findall(path.read_text(encoding="utf-8"))) for path in paths}

    assert {path: names for path, names in found.items() if names} == MAY


def test_no_query_uses_the_time_of_an_event():
    source = (ROOT / "companion" / "storage" / "event_store.py").read_text(encoding="utf-8")
    clauses = re.findall(r"(?:ORDER BY|WHERE|GROUP BY)[^\"]*", source)

    assert clauses
    assert not [clause for clause in clauses if "at_s" in clause]

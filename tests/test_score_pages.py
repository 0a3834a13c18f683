"""The end of a hand and what comes after: why each line counts, what can be kept, earlier matches, replays."""

import csv
import io
import json
import re
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote

import cv2
import evening
import numpy as np
import pytest
from client import SECRET, tap, text_of
from sheet import scenes

from companion.app.service import exported
from companion.match.match import Match
from companion.pages import create_app
from companion.pages.limits import Queue
from companion.pages.scores import past_matches, sheet_image
from companion.storage.data_folder import store_path
from companion.storage.event_store import Store

GOLDEN = Path(__file__).parent / "golden"
OPENING = ["Ann roll", "Bob roll", "Ann 100", "Bob stop > Ann", "Ann right-of-way !"]
WINNING = [*OPENING, *["Ann 100", "Bob 25"] * 5, "Ann 100"]
AFTERNOON = datetime(2026, 11, 23, 15, 4)


class FourPast:
    """A clock that stands still."""

    @staticmethod
    def fromtimestamp(_at_s: float) -> datetime:
        return AFTERNOON


def page_of(match: Match):
    return create_app(match, secret=b"s" * 32).test_client()


def replayed(store: Store, name: str, hands: int | None = None) -> Match:
    """A golden record as a match of the log, or its first hands."""
    lines = [line.split("#")[0].strip() for line in (GOLDEN / f"{name}.mbn").read_text(encoding="utf-8").splitlines()]
    lines = [line for line in lines if line]
    hand_at = [number for number, line in enumerate(lines) if line.startswith("hand ")]
    begins = hand_at[0] + 1
    match = Match(store)
    match.start(lines[:begins])
    for line in lines[begins : hand_at[hands] if hands else None]:
        if line.startswith("hand "):
            match.next_hand("Ann", line.split()[-1])
        else:
            match.enter(line, "Ann")
    return match


def started(store: Store, *plays: str, header=("side Ann", "side Bob", "hand first Ann")) -> Match:
    match = Match(store)
    match.start(header)
    for play in plays:
        match.enter(play, "Ann")
    return match


def won(store: Store) -> Match:
    """A hand that Ann has completed, with a coup fourré."""
    match = started(store, *WINNING)
    match.enter("Ann finish", "Ann")
    assert match.state.game.hands
    return match


# --- Why each line has its points -----------------------------------------------------------------------------


EXPLAINED = {
    "": """
        Ann: 7 × 100 km = 700
        Bob: 5 × 25 km = 125
        Ann laid right of way: 100
        Ann answered stop at once with right of way: 300 on top.
        Ann completed 700 km: 400
        Ann completed the trip without any 200 km card: 300
        Rule: the classic rules (106 cards) – Scoring""",
    "three-players-5100": """
        Ann laid every safety there is: 300 on top.
        The draw pile was used up when Ann completed the trip: 300
        Ann called the extension and completed it: 200
        Bob laid no distance card: 500 for Ann. Cid laid no distance card: 500 for Ann.""",
    "rush-five-players": """
        Dee: 1 × 300 km with an accelerator, 2 × 100 km, 1 × 50 km = 850""",
}


@pytest.mark.parametrize("record", EXPLAINED)
def test_every_line_of_the_sheet_says_where_its_points_come_from(store, record):
    shown = text_of(page_of(replayed(store, record) if record else won(store)).get("/score"))

    for sentence in EXPLAINED[record].strip().splitlines():
        assert sentence.strip() in shown


def test_the_longest_sheet_stands_in_the_order_of_the_printed_pads(store):
    shown = page_of(replayed(store, "three-players-5100")).get("/score").get_data(as_text=True)

    titles = re.findall(r'<tr class="d\d"><th scope="row">([^<]+?) <small', shown)
    assert ", ".join(titles) == (
        "Distance, Safeties, All four safeties, Coups fourrés, Trip completed, Delayed action, Safe trip, Extension,"
        " Shut-out"
    )


def test_a_new_sheet_comes_in_line_by_line_once_on_each_phone(store):
    match = won(store)
    page, other = page_of(match), page_of(match)

    first, second = (page.get("/score").get_data(as_text=True) for _ in range(2))

    assert 'class="sheet fresh' in first
    assert 'data-sum="800"' in first
    assert "fresh" not in second
    assert 'class="sheet fresh' in other.get("/score").get_data(as_text=True)


# --- Corrections ----------------------------------------------------------------------------------------------


def test_who_leaves_a_play_as_it_is_goes_back_to_where_the_pen_was(store):
    match = started(store, "Ann roll", "Bob roll", "Ann 100")
    page = page_of(match)

    first = match.state.hand_entries[0].seq

    def left_for() -> str:
        asked = page.get(tap(page, f"/line/{first}/correct", text="Ann discard 25").location)
        return re.search(r'href="([^"]*)"><svg[^<]*<path[^<]*</svg><span>Leave it as it is', asked.text)[1]

    assert left_for() == "/"
    match.enter("end", "Ann")
    assert left_for() == "/score/1/plays"


# --- What can be kept -----------------------------------------------------------------------------------------


def test_the_sheet_is_a_picture_to_send(store):
    answer = page_of(won(store)).get("/past/1/1.png")

    picture = cv2.imdecode(np.frombuffer(answer.data, np.uint8), cv2.IMREAD_COLOR)
    assert answer.mimetype == "image/png"
    assert picture.shape[1] == 1000
    assert picture.std() > 20


def test_a_picture_has_a_place_for_every_letter_and_every_number_of_sides(store):
    match = replayed(store, "rush-five-players")
    match.sit("Ann", "Ann", "王 🚗 Bartholomäus")

    assert page_of(match).get("/past/1/1.png").status_code == 200


def test_a_picture_is_drawn_once_until_the_match_changes_and_once_a_language(store, monkeypatch):
    drawn = count_drawings(monkeypatch)
    match = won(store)
    page = page_of(match)

    pictures = [page.get("/past/1/1.png").data for _ in range(3)]
    page.get("/past/1/1.png", headers={"Accept-Language": "fr"})
    match.correct(next(entry.seq for entry in match.state.entries if entry.written.text == "Bob 25"), "Bob 75", "Ann")
    corrected = page.get("/past/1/1.png").data

    assert pictures == [pictures[0]] * 3
    assert corrected != pictures[0]
    assert len(drawn) == 3


def test_who_asks_while_too_many_wait_for_their_pictures_is_told_to_come_back(store, monkeypatch):
    page = page_of(won(store))
    monkeypatch.setattr(past_matches, "_drawing", Queue(1))
    with past_matches._drawing.turn("busy"):
        told = page.get("/past/1/1.png")

    assert told.status_code == 503
    assert "Other sheets are being drawn: try again in a moment." in text_of(told)
    assert page.get("/past/1/1.png").status_code == 200


def count_drawings(monkeypatch, note=lambda: None) -> list:
    drawn, draw = [], sheet_image.png

    def png(*sheet):
        drawn.append(note())
        return draw(*sheet)

    monkeypatch.setattr(sheet_image, "png", png)
    return drawn


def test_a_match_can_be_kept_as_record_table_and_json(store):
    match = won(store)
    page = page_of(match)

    record, sheets, lines = (page.get(f"/past/1.{form}").get_data(as_text=True) for form in ("mbn", "csv", "jsonl"))

    assert record == match.record() == page.get("/export.mbn").get_data(as_text=True)
    totals = [row for row in csv.DictReader(io.StringIO(sheets)) if row["item"] == "total"]
    assert [(row["side"], row["points"]) for row in totals] == [("Ann", "1800"), ("Bob", "125")]
    assert [json.loads(line) for line in lines.splitlines()][-1]["ended"] == "completed"
    assert page.get("/past/1.exe").status_code == 404


def test_what_is_kept_of_a_match_says_how_its_players_called_themselves(store):
    match = won(store)
    match.sit("Ann", "Ann", "Zoé")
    match.sit("Bob", "Bob", "=1+1")
    page = page_of(match)

    record, sheets, lines = (page.get(f"/past/1.{form}").get_data(as_text=True) for form in ("mbn", "csv", "jsonl"))

    assert 'player Ann "Zoé"' in record
    totals = [row for row in csv.DictReader(io.StringIO(sheets)) if row["item"] == "total"]
    assert [(row["side"], row["name"]) for row in totals] == [("Ann", "Zoé"), ("Bob", "'=1+1")]
    assert json.loads(lines.splitlines()[-1])["names"] == {"Ann": "Zoé", "Bob": "=1+1"}


def test_the_terminal_writes_the_names_as_the_page_does_and_closes_the_log(tmp_path, monkeypatch):
    closed = []
    monkeypatch.setattr(Store, "close", lambda store: closed.append(store.path))
    store = Store.open(store_path(tmp_path))
    match = won(store)
    match.sit("Ann", "Ann", "Zoé")
    page = page_of(match)

    assert exported(1, "csv", tmp_path) == page.get("/past/1.csv").get_data(as_text=True)
    assert '"names": {"Ann": "Zoé"}' in exported(1, "json", tmp_path)
    assert closed == [store.path] * 2
    monkeypatch.undo()
    store.close()


PLAY = {
    "sourceName": str,
    "sourcePlayId": str,
    "playDate": str,
    "board": str,
    "game": {"name": str, "sourceGameId": str, "highestWins": bool, "noPoints": bool},
    "players": [{"name": str, "sourcePlayerId": str, "role": str, "score": int, "winner": bool}],
}
"""What BG Stats documents of the play that another app sends, as far as a match here has it."""


def shape(value):
    """Return the types of a JSON value; those of a list are its one element's."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        (only,) = {json.dumps(shape(one), default=str) for one in value}
        return [shape(value[0])] if only else []
    return type(value)


def sent(page) -> dict:
    return page.get("/past/1/bg-stats.json").json


def test_a_match_is_a_play_that_bg_stats_takes(store):
    play = sent(page_of(replayed(store, "match-to-5000", hands=5)))

    assert shape(play) == PLAY
    assert (play["game"]["name"], play["board"]) == ("Mille Bornes", "Classic")
    assert play["playDate"] == "2023-11-14 22:13:20"
    assert [(one["name"], one["score"], one["winner"]) for one in play["players"]] == [
        ("Ann Smith", 6025, True),
        ("Bob", 3500, False),
    ]


def test_the_app_opens_with_the_same_play_and_no_server_is_told(store):
    page = page_of(won(store))
    way = page.get("/past/1/bg-stats").location

    assert way.startswith("bgstats://app.bgstatsapp.com/createPlay.html?data=")
    assert json.loads(unquote(way.partition("=")[2])) == sent(page)
    for path in ("/score", "/past/1"):
        assert 'href="/past/1/bg-stats"' in page.get(path).get_data(as_text=True)


def test_a_match_as_it_stands_has_no_winner_and_is_the_same_play_later(store):
    match = won(store)
    page = page_of(match)
    before = sent(page)
    match.next_hand("Ann", "Bob")
    for line in ("Bob roll", "Ann roll", "Bob 100", "end"):
        match.enter(line, "Ann")
    after = sent(page)

    assert [(one["score"], one["winner"]) for one in before["players"]] == [(1800, False), (125, False)]
    assert [one["score"] for one in after["players"]] == [1800, 225]
    assert before["sourcePlayId"] == after["sourcePlayId"]


def test_in_pairs_each_player_has_the_score_of_the_pair(store):
    header = ("side Ann-Cid = Ann, Cid", "side Bob-Dee = Bob, Dee", "hand first Ann")
    play = sent(page_of(started(store, "Ann roll", "Bob roll", "Cid 100", "end", header=header)))

    assert [(one["name"], one["role"], one["score"]) for one in play["players"]] == [
        *(("Ann", "Ann & Cid", 100), ("Cid", "Ann & Cid", 100)),
        *(("Bob", "Bob & Dee", 0), ("Dee", "Bob & Dee", 0)),
    ]


def test_a_race_without_points_has_kilometres_and_its_winner(store):
    play = sent(page_of(replayed(store, "asmodee-passes-1000")))

    assert shape(play) == PLAY
    assert [one["winner"] for one in play["players"]].count(True) == 1
    assert max(one["score"] for one in play["players"]) >= 1000


# --- Earlier matches ------------------------------------------------------------------------------------------


def test_all_matches_are_listed_the_newest_first_ten_a_page(store):
    for number in range(11):
        match = started(store, header=(f"side P{number}", "side Bob", f"hand first P{number}"))
    page = page_of(match)

    first, second = (page.get(f"/past?page={number}").get_data(as_text=True) for number in (1, 2))

    assert re.findall(r"<b>(P\d+) – Bob</b>", first) == [f"P{number}" for number in range(10, 0, -1)]
    assert re.findall(r"<b>(P\d+) – Bob</b>", second) == ["P0"]
    assert first.count("At the table now") == 1
    assert "14 November 2023" in first


@pytest.mark.parametrize(
    ("languages", "day"),
    [
        ("en-GB,en;q=0.9", "14 November 2023, "), ("en-US,en;q=0.9", "November 14, 2023, "),
        ("en", "14 November 2023, "), ("en,en-US;q=0.5", "November 14, 2023, "),
        ("pl-PL,pl;q=0.9,en-US;q=0.8", "14 listopada 2023, "), ("fr-CA,en-US;q=0.8", "14 novembre 2023, "),
        ("en-XX,en;q=0.9", "14 November 2023, "), ("en-../../etc/passwd", "14 November 2023, "),
        ("en-" + "9" * 5000, "14 November 2023, "),
    ],
)  # fmt: skip
def test_a_day_is_written_as_where_the_phone_is_at_home(store, languages, day):
    assert day in text_of(page_of(started(store)).get("/past", headers={"Accept-Language": languages}))


def test_the_language_that_was_chosen_comes_before_the_country_of_the_browser(store):
    page = page_of(started(store))
    tap(page, "/phone", language="fr")

    assert "14 novembre 2023" in text_of(page.get("/past", headers={"Accept-Language": "en-US"}))


def test_an_american_clock_has_two_halves_and_a_canadian_one_an_h(store, monkeypatch):
    monkeypatch.setattr(past_matches, "datetime", FourPast)
    page = page_of(started(store))
    told = {tag: text_of(page.get("/past", headers={"Accept-Language": tag})) for tag in ("en", "en-US", "fr-CA")}

    assert "15:04" in told["en"]
    assert "3:04 PM" in told["en-US"]
    assert "15 h 04" in told["fr-CA"]


def test_an_earlier_match_has_its_sheets_charts_and_result(store):
    replayed(store, "match-to-5000")
    page = page_of(started(store))

    shown = page.get("/past/1").get_data(as_text=True)

    assert shown.count('class="sheet explained') == 6
    assert 'id="totals-t"' in shown
    assert 'id="race-1-t"' in shown
    assert 'href="/past/1/2?step=0"' in shown


@pytest.mark.parametrize("path", ["/past/99999999999999999999", "/past/1/99999", "/past/1/0", "/past/0", "/past/1/2"])
def test_what_is_not_in_the_log_is_not_found(store, path):
    assert page_of(won(store)).get(path).status_code == 404


LAST = len(WINNING) + 1
SHOWN = {
    "/past/players": "Wins 1 of 1 hand against Bob. Best hand: 1800 points. | Wins 0 of 1 hand against Ann."
    " | 1 coup fourré | 700 km driven"
    " | Most cruel attacker: Bob, with 1 hazard on Ann.",
    "/more": "Earlier matches | Players’ figures",
    "/score": "Earlier matches | Players’ figures",
    "/past/1/1?step=0": "The cards are dealt.",
    "/past/1/1?step=3": "Ann drives 100 km. | 600 km to go",
    "/past/1/1?step=4": "Bob stops Ann. | Ann 100 this hand",
    **{f"/past/1/1?step={asked}": "Hand 1 0 of" for asked in ("-5", "x", "٣", "²", "9" * 5000)},
    "/past/1/1?step=9999": f"Hand 1 {LAST} of",
}


@pytest.mark.parametrize("path", SHOWN)
def test_what_is_said_of_a_hand_that_was_won(store, path):
    shown = text_of(page_of(won(store)).get(path))

    assert [said for said in SHOWN[path].split(" | ") if said not in shown] == []


EVENINGS = """
a step says who entered and who changed it
    Ann taps /play text=Ann roll -> 401; Ann sits; Bob sits; Ann taps /play text=Ann roll
    Bob taps {line}/correct text=Ann right-of-way; machine at /past/1/1?step=1 | Ann lays right of way.
    machine reads | Entered by Ann. Changed later by Bob.
a step that was illegal says why
    machine sends /plays {"text": "Ann 100", "anyway": true}
    machine at /past/1/1?step=1 | Illegal, played all the same | Ann cannot drive yet.
a correction of the hand on the table leads to the table
    Ann roll; Bob roll; Ann 100; machine taps {line 3}/correct text=Ann 75 -> /
the sheet of an open hand does not come in and is no picture
    Ann roll; Bob roll; machine at /score | not markup fresh; machine at /past/1/1.png -> 404
before the first hand is finished there is nothing to send
    Ann roll; Bob roll; machine at /score | not markup bg-stats; machine at /past/1/bg-stats -> 404
an extension called in vain says who called it [option extension-bonus=caller-or-opponents]
    Ann roll; Bob roll; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100
    Bob 25; Ann 100; Ann extend; end; machine at /score | Rule: house rule: extension-bonus=caller-or-opponents
    machine reads | Ann called the extension and did not complete it: 200 for Bob.
a play of a hand that has ended is corrected and the score follows
    Ann roll; Bob roll; Ann 100; Bob 25; end; machine at /score | markup /score/1/plays
    machine at /score/1/plays | markup href="{line 4}"; machine taps {line 4}/correct text=Bob 75 -> /score
    machine at /score | Bob: 1 × 75 km = 75
a hand that was played shows a spectator its plays but no pen
    Ann roll; Bob roll; Ann 100; end; eve at /score/1/plays | Ann drives 100 km. | not markup /line/
    machine at /score/7/plays -> 404
a step is a part for a page that asks for one
    Ann roll; Bob roll; machine polls /past/1/1?step=2; machine reads | Bob rolls. | not markup <html
a page that is not there is no error
    machine at /past?page=0 -> 200; machine at /past?page=-3 -> 200; machine at /past?page=x -> 200
    machine at /past?page=99999999999999999999 -> 200
without any match the pages say so [fresh]
    machine at /past | Nothing has been played here yet.; machine at /past/1 -> 404; machine at /past/1/1 -> 404
    machine at /past/players | as soon as the first hand is finished
"""


@pytest.mark.parametrize(("setting", "rows"), scenes(EVENINGS))
def test_on_an_evening(match, setting, rows):
    evening.check(create_app(match, secret=SECRET), match, setting, rows)


# --- A hand again ---------------------------------------------------------------------------------------------


def test_the_steps_lead_back_and_on_but_not_past_the_ends(store):
    page = page_of(won(store))
    last = len(WINNING) + 1

    button = re.compile(r'id="to-(\w+)" class="button" href="\?step=(\d+)"')
    links = {step: button.findall(html_of(page, step)) for step in (0, 2, last)}

    assert links[0] == [("next", "1"), ("last", str(last))]
    assert links[2] == [("first", "0"), ("prev", "1"), ("next", "3"), ("last", str(last))]
    assert links[last] == [("first", "0"), ("prev", str(last - 1))]


def html_of(page, step: int) -> str:
    return page.get(f"/past/1/1?step={step}").get_data(as_text=True)


@pytest.mark.variants(5)
@pytest.mark.parametrize("record", sorted(path.stem for path in GOLDEN.glob("*.mbn")))
def test_every_step_and_sheet_of_every_golden_record_can_be_shown(store, record):
    match = replayed(store, record)
    page = page_of(match)

    assert page.get("/score").status_code == page.get("/past/1").status_code == page.get("/past").status_code == 200
    for hand in {entry.hand for entry in match.state.entries} - {0}:
        last = sum(entry.hand == hand and entry.judged is not None for entry in match.state.entries)
        for step in (0, 1, last // 2, last):
            assert page.get(f"/past/1/{hand}?step={step}").status_code == 200

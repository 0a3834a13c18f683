"""The end of a hand and later: reasons for points, downloads, past matches, replays."""

import csv
import html
import io
import json
import re
import time
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import cv2
import evening
import numpy as np
import pytest
from client import SECRET, TWO, played, tap, text_of
from evening import PAIRS
from sheet import scenes

from companion.app.service import exported
from companion.match import archive, season
from companion.match.match import Match
from companion.pages import create_app
from companion.pages.limits import Queue
from companion.pages.scores import past_matches, sheet_image, statistics_pages
from companion.rules.record import notation
from companion.storage.data_folder import store_path
from companion.storage.event_store import Store

GOLDEN = Path(__file__).parent / "golden"
OPENING = ["Ann roll", "Bob roll", "Ann 100", "Bob stop > Ann", "Ann right-of-way !"]
WINNING = [*OPENING, *["Ann 100", "Bob 25"] * 5, "Ann 100"]


def replayed(match: Match, name: str, hands: int | None = None) -> None:
    """Play a golden record, or its first hands."""
    texts = [line.text for line in notation.lines((GOLDEN / f"{name}.mbn").read_text(encoding="utf-8"))]
    hand_at = [number for number, text in enumerate(texts) if text.startswith("hand ")]
    begins = hand_at[0] + 1
    match.start(texts[:begins])
    for text in texts[begins : hand_at[hands] if hands else None]:
        if text.startswith("hand "):
            match.next_hand("Ann", text.split()[-1])
        else:
            match.enter(text, "Ann")


@pytest.fixture
def won(begun):
    """A hand completed by Ann, with a coup fourré."""
    return played(begun, *WINNING, "Ann finish")


# --- Reasons for points ---------------------------------------------------------------------------------------


EXPLAINED = {
    "three-players-5100": "Ann played all the safeties: 300 extra."
    " | The draw pile was empty when Ann completed the trip: 300 | Ann called the extension and completed it: 200"
    " | Bob played no distance card: 500 for Ann. Cid played no distance card: 500 for Ann.",
    "rush-five-players": "Dee: 1 × 300 km with Accelerator, 2 × 100 km, 1 × 50 km = 850",
}


@pytest.mark.parametrize("record", EXPLAINED)
def test_every_line_of_the_sheet_explains_its_points(page, match, record):
    replayed(match, record)
    shown = text_of(page.get("/score"))

    assert [said for said in EXPLAINED[record].split(" | ") if said not in shown] == []


def test_the_longest_sheet_follows_the_order_of_the_printed_pads(page, match):
    replayed(match, "three-players-5100")
    shown = page.get("/score").text

    titles = re.findall(r'<tr class="d\d"><th scope="row">([^<]+?) <small', shown)
    assert ", ".join(titles) == (
        "Distance, Safeties, All four safeties, Coups fourrés, Trip completed, Delayed action, Safe trip, Extension,"
        " Shut-out"
    )


def test_a_new_sheet_appears_line_by_line_once_per_phone(app, page, won):
    first, second = (page.get("/score").text for _ in range(2))

    assert 'class="sheet fresh' in first
    assert 'data-sum="800"' in first
    assert "fresh" not in second
    assert 'class="sheet fresh' in app.test_client().get("/score").text


# --- Downloads ------------------------------------------------------------------------------------------------


def test_the_sheet_can_be_sent_as_a_picture(page, won):
    answer = page.get("/past/1/1.png")

    picture = cv2.imdecode(np.frombuffer(answer.data, np.uint8), cv2.IMREAD_COLOR)
    assert answer.mimetype == "image/png"
    assert picture.shape[1] == 1000
    assert picture.std() > 20


def test_a_picture_can_show_every_letter_and_number_of_sides(page, match):
    replayed(match, "rush-five-players")
    match.sit("Ann", "Ann", "王 🚗 Bartholomäus")

    assert page.get("/past/1/1.png").status_code == 200


def test_a_picture_is_drawn_once_per_language_until_the_match_changes(page, won, monkeypatch):
    drawn, draw = [], sheet_image.png
    monkeypatch.setattr(sheet_image, "png", lambda *sheet: drawn.append(sheet) or draw(*sheet))

    pictures = [page.get("/past/1/1.png").data for _ in range(3)]
    page.get("/past/1/1.png", headers={"Accept-Language": "fr"})
    won.correct(next(entry.seq for entry in won.state.entries if entry.written.text == "Bob 25"), "Bob 75", "Ann")
    corrected = page.get("/past/1/1.png").data

    assert pictures == [pictures[0]] * 3
    assert corrected != pictures[0]
    assert len(drawn) == 3


def test_too_many_requests_for_pictures_are_asked_to_try_again(page, won, monkeypatch):
    monkeypatch.setattr(past_matches, "_drawing", Queue(1))
    with past_matches._drawing.turn("busy"):
        told = page.get("/past/1/1.png")

    assert told.status_code == 503
    assert "Other sheets are being drawn: try again in a moment." in text_of(told)
    assert page.get("/past/1/1.png").status_code == 200


def test_a_match_is_exported_as_record_table_and_json_with_displayed_names(page, won):
    won.sit("Ann", "Ann", "Zoé")
    won.sit("Bob", "Bob", "=1+1")

    record, sheets, lines = (page.get(f"/past/1.{form}").text for form in ("mbn", "csv", "jsonl"))
    export = page.get("/export.mbn")

    assert record == won.record() == export.text
    assert record.startswith("side Ann\nside Bob\n\nhand first Ann\nAnn roll\n")
    assert 'player Ann "Zoé"' in record
    assert "attachment" in export.headers["Content-Disposition"]
    totals = [row for row in csv.DictReader(io.StringIO(sheets)) if row["item"] == "total"]
    assert [(row["side"], row["name"], row["points"]) for row in totals] == [
        ("Ann", "Zoé", "1800"),
        ("Bob", "'=1+1", "125"),
    ]
    last = json.loads(lines.splitlines()[-1])
    assert (last["ended"], last["names"]) == ("completed", {"Ann": "Zoé", "Bob": "=1+1"})
    assert page.get("/past/1.exe").status_code == 404


def test_the_terminal_exports_the_displayed_names_and_closes_the_log(tmp_path, monkeypatch):
    closed = []
    monkeypatch.setattr(Store, "close", lambda store: closed.append(store.path))
    store = Store.open(store_path(tmp_path))
    match = Match(store)
    match.start(TWO)
    played(match, *WINNING, "Ann finish").sit("Ann", "Ann", "Zoé")
    page = create_app(match, secret=SECRET).test_client()

    assert exported(1, "csv", tmp_path) == page.get("/past/1.csv").text
    assert '"names": {"Ann": "Zoé"}' in exported(1, "json", tmp_path)
    assert closed == [store.path] * 2
    monkeypatch.undo()
    store.close()


def sent(page) -> dict:
    return page.get("/past/1/bg-stats.json").json


def test_a_match_is_exported_as_a_play_for_bg_stats(page, match):
    replayed(match, "match-to-5000", hands=5)

    assert sent(page) == {
        "sourceName": "Mille Bornes Companion",
        "sourcePlayId": "1700000000-1-1",
        "playDate": "2023-11-14 22:13:20",
        "board": "Classic",
        "game": {"name": "Mille Bornes", "sourceGameId": "mille-bornes", "highestWins": True, "noPoints": False},
        "players": [
            {"name": "Ann Smith", "sourcePlayerId": "ann smith", "role": "", "score": 6025, "winner": True},
            {"name": "Bob", "sourcePlayerId": "bob", "role": "", "score": 3500, "winner": False},
        ],
    }


def test_bg_stats_opens_with_the_same_play_without_a_server(page, won):
    way = page.get("/past/1/bg-stats").location

    assert way.startswith("bgstats://app.bgstatsapp.com/createPlay.html?data=")
    assert json.loads(unquote(way.partition("=")[2])) == sent(page)
    assert all('href="/past/1/bg-stats"' in page.get(path).text for path in ("/score", "/past/1"))


def test_an_unfinished_match_has_no_winner_and_keeps_its_play_id(page, won):
    before = sent(page)
    won.next_hand("Ann", "Bob")
    played(won, "Bob roll", "Ann roll", "Bob 100", "end")
    after = sent(page)

    assert [(one["score"], one["winner"]) for one in before["players"]] == [(1800, False), (125, False)]
    assert [one["score"] for one in after["players"]] == [1800, 225]
    assert before["sourcePlayId"] == after["sourcePlayId"]


def test_in_pairs_each_player_gets_the_score_of_the_pair(page, match):
    match.start(PAIRS)
    played(match, "Ann roll", "Bob roll", "Cid 100", "end")
    play = sent(page)

    assert [(one["name"], one["role"], one["score"]) for one in play["players"]] == [
        *(("Ann", "Ann & Cid", 100), ("Cid", "Ann & Cid", 100)),
        *(("Bob", "Bob & Dee", 0), ("Dee", "Bob & Dee", 0)),
    ]


def test_a_race_is_exported_with_kilometers_and_its_winner(page, match):
    replayed(match, "asmodee-passes-1000")
    play = sent(page)

    assert play["game"]["noPoints"] is False
    assert [one["winner"] for one in play["players"]].count(True) == 1
    assert max(one["score"] for one in play["players"]) >= 1000


# --- Past matches ---------------------------------------------------------------------------------------------


def test_matches_are_listed_newest_first_ten_per_page(page, match):
    for number in range(11):
        match.start((f"side P{number}", "side Bob", f"hand first P{number}"))

    first, second = (page.get(f"/past?page={number}").text for number in (1, 2))

    assert re.findall(r"<b>(P\d+) – Bob</b>", first) == [f"P{number}" for number in range(10, 0, -1)]
    assert re.findall(r"<b>(P\d+) – Bob</b>", second) == ["P0"]
    assert first.count("In progress") == 1
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
def test_a_date_is_written_as_in_the_phones_country(page, begun, languages, day):
    assert day in text_of(page.get("/past", headers={"Accept-Language": languages}))


def test_the_chosen_language_takes_precedence_over_the_browsers_country(page, begun):
    tap(page, "/phone", language="fr")

    assert "14 novembre 2023" in text_of(page.get("/past", headers={"Accept-Language": "en-US"}))


def test_american_times_have_am_and_pm_and_canadian_french_ones_an_h(page, begun, monkeypatch):
    afternoon = datetime(2026, 11, 23, 15, 4)
    monkeypatch.setattr(past_matches, "datetime", SimpleNamespace(fromtimestamp=lambda _at_s: afternoon))
    told = {tag: text_of(page.get("/past", headers={"Accept-Language": tag})) for tag in ("en", "en-US", "fr-CA")}

    assert "15:04" in told["en"]
    assert "3:04 PM" in told["en-US"]
    assert "15 h 04" in told["fr-CA"]


def test_a_past_match_shows_its_sheets_charts_and_result(page, match):
    replayed(match, "match-to-5000")
    match.start(TWO)

    shown = page.get("/past/1").text

    assert shown.count('class="sheet explained') == 6
    assert 'id="totals-t"' in shown
    assert 'id="race-1-t"' in shown
    assert 'href="/past/1/2?step=0"' in shown


@pytest.mark.parametrize("miles_first", [True, False])
def test_a_past_match_keeps_its_own_unit_and_rules_whatever_is_on_the_table(page, match, miles_first):
    for edition in ("asmodee-2014", "classic") if miles_first else ("classic", "asmodee-2014"):
        match.start((f"edition {edition}", *TWO))
        played(match, "Ann roll", "Bob roll", "Ann 100", "Bob stop > Ann")
        match.enter("Ann 25", "Ann", anyway=True)
        played(match, "end")
    first, last = match.store.matches()
    miles, km = (first, last) if miles_first else (last, first)

    for number, unit, other, edition in ((miles, "miles", "km", "asmodee-2014"), (km, "km", "miles", "classic")):
        for path in (f"/past/{number}", f"/past/{number}/1?step=3", f"/past/{number}/1?step=5"):
            shown = page.get(path)
            assert re.search(rf"\d {unit}\b", text_of(shown))
            assert not re.search(rf"\d {other}\b", text_of(shown))
            assert set(re.findall(r'href="/how([^"#]*)#', shown.text)) <= {f"/{edition}"}
    assert 'href="/how/classic#' in page.get(f"/past/{km}/1?step=5").text


def test_the_picture_of_a_past_race_is_in_its_own_unit(page, match, monkeypatch):
    drawn, draw = [], sheet_image.svg
    monkeypatch.setattr(sheet_image, "svg", lambda sheet, *more: drawn.append(sheet.headline) or draw(sheet, *more))
    match.start(("edition asmodee-2014", "target 500", *TWO))
    played(match, "Ann roll", "Bob roll", "Ann 200", "Bob 25", "Ann 200", "Bob 25", "Ann 100")
    match.start(TWO)

    assert page.get("/past/1/1.png").status_code == 200
    assert drawn == ["Ann wins the race by 450 miles!"]


def test_statistics_have_a_block_for_each_edition_in_its_own_unit(page, match):
    match.start(("edition asmodee-2014", "target 500", *TWO))
    played(match, "Ann roll", "Bob roll", "Ann 200", "Bob 25", "Ann 200", "Bob 25", "Ann 100")
    match.start(TWO)
    played(match, "Ann roll", "Bob roll", "Ann 100", "end")

    shown = text_of(page.get("/past/players"))

    assert "miles Ann 1 of 1 1 of 1 500" in shown
    assert "km Ann – 1 of 1 100 100 100" in shown
    assert "600" not in shown


def chosen_by(shown) -> str:
    return re.search(r'id="choice-open">([^<]*)<', shown.text)[1]


def test_statistics_and_matches_are_filtered_by_address(page, match, monkeypatch):
    monkeypatch.setattr(match.store, "_clock", time.time)
    for name, edition in (("Bob", "classic"), ("Cid", "classic"), ("Bob", "rush")):
        match.start((f"edition {edition}", "side Ann", f"side {name}", "hand first Ann"))
        played(match, "Ann 100" if edition == "rush" else "Ann roll", "end")

    everything = page.get("/past/players")
    assert chosen_by(everything) == "All matches"
    choices = {html.unescape(href) for href in re.findall(r'class="pick" href="([^"]*)"', everything.text)}
    assert {"/past/players?edition=rush", "/past/players?with=cid", "/past/players?when=month"} <= choices

    with_cid = page.get("/past/players?edition=classic&with=cid")
    assert chosen_by(with_cid) == "Classic · with Cid"
    assert "Bob" not in text_of(with_cid).partition("With ")[2].partition("Player")[2]
    assert 'href="/past?edition=classic&amp;with=cid"' in with_cid.text

    matches = text_of(page.get("/past?edition=classic&with=cid"))
    assert "Ann – Cid" in matches
    assert "Ann – Bob" not in matches


def test_a_choice_that_fits_no_match_says_so(page, won):
    for path in ("/past/players?when=1999", "/past?when=1999", "/past?with=nobody&when=%00&edition=" + "x" * 999):
        assert "No match fits this choice." in text_of(page.get(path))


def test_the_next_page_of_chosen_matches_keeps_the_choice(page, match):
    for _ in range(11):
        match.start(TWO)
        played(match, "Ann roll", "end")

    assert 'href="/past?with=bob&amp;page=2"' in page.get("/past?with=bob").text
    assert "Ann – Bob" in text_of(page.get("/past?with=bob&page=2"))


def test_a_match_says_how_long_it_was_played(page, match, monkeypatch):
    times_s = iter(range(1_772_000_000, 1_773_000_000, 5 * 60))
    monkeypatch.setattr(match.store, "_clock", lambda: next(times_s))
    match.start(TWO)
    played(match, "Ann roll", "Bob roll", "Ann 100", "end")

    for path in ("/past", "/past/1"):
        assert re.search(r"2026, \d\d:\d\d · \d\d min · Classic", text_of(page.get(path)))


@pytest.mark.parametrize("path", ["/past/99999999999999999999", "/past/1/99999", "/past/1/0", "/past/0", "/past/1/2"])
def test_matches_and_hands_not_in_the_log_are_not_found(page, won, path):
    assert page.get(path).status_code == 404


LAST = len(WINNING) + 1
SHOWN = {
    "/past/players": "Ann – 1 of 1 1800 1800 700 | Bob – 0 of 1 125 125 125"
    " | Most cruel attacker: Bob, with 1 hazard on Ann.",
    "/past/players/ann": "1 of 1 hands won | 1800 points in the best hand | 1 coup fourré played | 700 km driven"
    " | Bob 1 of 1 – –",
    "/past/players/bob": "1 coup fourré suffered | Stop is the favorite hazard | Cruel to Ann: 1 hazard."
    " | Ann 0 of 1 – –",
    "/more": "Earlier matches | Statistics",
    "/score": "Earlier matches | Statistics | Ann: 7 × 100 km = 700 | Bob: 5 × 25 km = 125"
    " | Ann played Right of Way: 100 | Ann countered Stop at once with Right of Way: 300 extra."
    " | Ann completed 700 km: 400 | Ann completed the trip without any 200 km card: 300"
    " | From the classic rules (106 cards) – Scoring",
    "/past/1/1?step=0": "The cards are dealt.",
    "/past/1/1?step=3": "Ann drives 100 km. | 600 km to go",
    "/past/1/1?step=4": "Bob stops Ann. | Ann 100 this hand",
    **{f"/past/1/1?step={asked}": "Hand 1 0 of" for asked in ("-5", "x", "٣", "²", "9" * 5000)},
    "/past/1/1?step=9999": f"Hand 1 {LAST} of",
}


@pytest.mark.parametrize("path", SHOWN)
def test_a_won_hand_has_a_headline(page, won, path):
    shown = text_of(page.get(path))

    assert [said for said in SHOWN[path].split(" | ") if said not in shown] == []


def test_partners_have_a_page_and_a_year_as_a_picture_in_their_edition(page, match):
    match.start(("side Reds = Ann, Cid", "side Blues = Bob, Dee", "hand first Ann"))
    played(match, "Ann roll", "Bob roll", "Cid 100", "end")
    shown = text_of(page.get("/past/players/ann%20%26%20cid"))
    year = re.search(r'href="([^"]*\.png)"', page.get("/past/players/ann").text)[1]

    assert "1 of 1 hands won" in shown
    assert "Bob & Dee 1 of 1" in shown
    assert page.get(year).data.startswith(b"\x89PNG")
    assert page.get("/past/players/ann/1999.png").status_code == 404


def test_a_won_match_counts_head_to_head_with_its_closest_score(page, match):
    match.start(("edition rush", *TWO))
    played(match, "Ann 300*2", "Bob 300", "Ann 100", "Bob 200", "Ann 300")
    shown = text_of(page.get("/past/players/bob"))

    assert "Ann 0 of 1 0 of 1 500 : 1000" in shown


@pytest.mark.parametrize("name", [".", "..", "~1", "a/b", "ü ö"])
def test_every_name_has_a_page_of_its_own(page, match, name):
    match.start(("side Ann", "side Bob", f'player Ann "{name}"', "hand first Ann"))
    played(match, "Ann roll", "end")
    address = re.search(r'href="(/past/players/[^"?]+)"', page.get("/past/players").text)[1]

    assert f"<h1>{name}</h1>" in page.get(address).text


def test_a_player_who_never_finished_a_hand_has_no_page(page, won):
    assert page.get("/past/players/cid").status_code == 404


EVENINGS = """
a step says who entered and who changed it
    Ann taps /play text=Ann roll -> 401; Ann sits; Bob sits; Ann taps /play text=Ann roll
    Bob taps {line}/correct text=Ann right-of-way; machine at /past/1/1?step=1 | Ann plays Right of Way.
    machine reads | Entered by Ann. Changed later by Bob.
a step that was illegal says why
    machine sends /plays {"text": "Ann 100", "anyway": true}
    machine at /past/1/1?step=1 | Illegal, played anyway | Ann cannot drive yet.
a correction of the hand on the table leads to the table
    Ann roll; Bob roll; Ann 100; machine taps {line 3}/correct text=Ann 75 -> /
the sheet of an open hand does not come in and is no picture
    Ann roll; Bob roll; machine at /score | not markup fresh; machine at /past/1/1.png -> 404
before the first hand is finished there is nothing to send
    Ann roll; Bob roll; machine at /score | not markup bg-stats; machine at /past/1/bg-stats -> 404
an extension called in vain says who called it [option extension-bonus=caller-or-opponents]
    Ann roll; Bob roll; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 200; Bob 25; Ann 100
    Ann extend; end; machine at /score | From the house rule extension-bonus=caller-or-opponents
        | Extension Ann called it but did not complete it – 200 | not completed after calling it
        | Ann called the extension but did not complete it: 200 for Bob.
and one that is completed that it was [option extension-bonus=caller-or-opponents]
    Ann roll; Bob roll; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 200; Bob 25; Ann 100
    Ann extend; Bob 25; Ann 200; Bob 25; Ann 100; machine at /score | Extension completed after calling it 200 –
where it brings the opponents nothing a failed one has no line
    Ann roll; Bob roll; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 200; Bob 25; Ann 100
    Ann extend; end; machine at /score | not Ann called it but did not complete it | not completed after calling it
who leaves a play as it is goes back to where the pen was
    Ann roll; Bob roll; Ann 100; machine taps {line 1}/correct text=Ann discard 25
    machine at {line 1}?text=Ann+discard+25&refused=1 | Leave it as it is | markup <a class="button" href="/"><svg
    end; machine at {line 1}?text=Ann+discard+25&refused=1 | markup <a class="button" href="/score/1/plays"><svg
a play of a hand that has ended is corrected and the score follows
    Ann roll; Bob roll; Ann 100; Bob 25; end; machine at /score | markup /score/1/plays
    machine at /score/1/plays | markup href="{line 4}"; machine taps {line 4}/correct text=Bob 75 -> /score
    machine at /score | Bob: 1 × 75 km = 75
a hand that was played shows a spectator its plays but no pen
    Ann roll; Bob roll; Ann 100; end; eve at /score/1/plays | Ann drives 100 km. | not markup /line/
    machine at /score/7/plays -> 404
a step is a part for a page that asks for one
    Ann roll; Bob roll; machine polls /past/1/1?step=2; machine reads | Bob plays Roll. | not markup <html
a page that is not there is no error
    machine at /past?page=0 -> 200; machine at /past?page=-3 -> 200; machine at /past?page=x -> 200
    machine at /past?page=99999999999999999999 -> 200
without any match the pages say so [fresh]
    machine at /past | Nothing has been played here yet.; machine at /past/1 -> 404; machine at /past/1/1 -> 404
    machine at /past/players | Statistics appear after the first hand.
"""


@pytest.mark.parametrize(("setting", "rows"), scenes(EVENINGS))
def test_on_an_evening(app, match, setting, rows):
    evening.check(app, match, setting, rows)


# --- Replay ---------------------------------------------------------------------------------------------------


def test_the_replay_steps_back_and_forward_within_the_hand(page, won):
    button = re.compile(r'id="to-(\w+)" class="button" href="\?step=(\d+)"')
    links = {step: button.findall(page.get(f"/past/1/1?step={step}").text) for step in (0, 2, LAST)}

    assert links[0] == [("next", "1"), ("last", str(LAST))]
    assert links[2] == [("first", "0"), ("prev", "1"), ("next", "3"), ("last", str(LAST))]
    assert links[LAST] == [("first", "0"), ("prev", str(LAST - 1))]


@pytest.mark.variants(5)
@pytest.mark.parametrize("record", sorted(path.stem for path in GOLDEN.glob("*.mbn")))
def test_every_step_and_sheet_of_every_golden_record_can_be_shown(page, match, record):
    replayed(match, record)

    assert page.get("/score").status_code == page.get("/past/1").status_code == page.get("/past").status_code == 200
    for hand in {entry.hand for entry in match.state.entries} - {0}:
        last = sum(entry.hand == hand and entry.judged is not None for entry in match.state.entries)
        for step in (0, 1, last // 2, last):
            assert page.get(f"/past/1/{hand}?step={step}").status_code == 200


def test_a_won_match_tells_how_often_these_sides_won_this_year(page, match, monkeypatch):
    monkeypatch.setattr(match.store, "_clock", time.time)
    said = []
    for sides in ((TWO[0], TWO[1]), ("side Ann", "side Cid"), (TWO[0], TWO[1])):
        match.start(("edition rush", *sides, "hand first Ann"))
        second = sides[1].split()[1]
        played(match, "Ann 300*2", f"{second} 300", "Ann 100", f"{second} 200", "Ann 300")
        said.append("This year: Ann 2, Bob 0" in text_of(page.get("/score")))

    assert said == [False, False, True]


def test_a_match_ends_with_its_last_line(page, match, monkeypatch):
    times = iter(range(1_700_000_000, 1_800_000_000, 60))
    monkeypatch.setattr(match.store, "_clock", lambda: float(next(times)))
    match.start(TWO)
    played(match, "Ann roll", "end")
    past = archive.judged(1, match.store.events(1))

    assert past.ended_s > past.began_s


@pytest.mark.parametrize("key", ["..", ".", "a/b~c", "~2x", "ann & cid", "ü"])
def test_a_players_address_leads_back_to_the_player(key):
    assert statistics_pages.key_in(unquote(statistics_pages.address_of(key).rsplit("/", 1)[1])) == key


def test_a_year_has_only_rows_with_something_to_tell(won):
    (block,) = season.by_edition([season.figures_of(1, won.store.events(1))])
    rows = dict(statistics_pages._year_rows(block, block.players["bob"], ("bob",)))

    assert (rows["Hands"], rows["Favorite hazard"]) == ("1", "Stop")
    assert {title for title, value in rows.items() if not value} == {
        "Matches won", "Most hands won in a row", "Coups fourrés", "Closest match",
    }  # fmt: skip

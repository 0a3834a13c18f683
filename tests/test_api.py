"""The JSON API: what it returns and changes, and that it agrees with its document for any input."""

import json
import re
import threading

import evening
import pytest
import schemathesis
from client import HOME, SECRET, lines, played, scanned, seen, stranger, tap
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)
from seen import camera
from sheet import scenes

from companion.match.match import Match
from companion.match.robot_players import RobotPlayers
from companion.match.state import Policy
from companion.pages import create_app, limits
from companion.pages.api import openapi
from companion.pages.limits import Rate, RequestKind
from companion.storage.events import NewEvent

TWO = ("edition classic", "side Ann", "side Bob", 'player Ann "Anne-Marie"', "hand first Ann")
PLAYS = ["Ann roll", "Bob roll", *2 * ("Ann 200", "Bob 100"), "Ann 100"]


@pytest.fixture
def begun(match):
    match.start(TWO)
    return match


def send(client, path, body=None, **more):
    return client.post(path, json={} if body is None else body, headers=HOME, **more)


# --- Reading --------------------------------------------------------------------------------------------------


def test_matches_are_listed_latest_first(page, begun, match):
    first = match.state.match
    match.start(("edition rush", "side Cid", "side Dee", "hand first Dee"))

    told = page.get("/api/matches").get_json()["matches"]

    assert [one["match"] for one in told] == [match.state.match, first]
    assert [one["playing"] for one in told] == [True, False]
    assert told[1]["names"] == {"Ann": "Anne-Marie", "Bob": "Bob"}
    assert told[0]["edition"] == "rush"
    assert told[0]["sides"] == {"Cid": ["Cid"], "Dee": ["Dee"]}


def test_a_match_is_listed_as_set_up_with_any_player_names(page, match):
    match.start(["Edition Parker", "side side", "side edition", "hand first side"])
    played(match, "side roll", "edition roll")

    (told,) = page.get("/api/matches?limit=1").get_json()["matches"]

    assert (told["edition"], sorted(told["sides"]), told["hands"]) == ("parker", ["edition", "side"], 1)


def test_two_unicode_spellings_of_a_name_are_one_player(page, match):
    record = "edition classic\nside Zoe\u0308\nside Bob\nhand first Zo\u00eb"

    assert send(page, "/api/matches", {"record": record, "cards": "dealt", "robots": {"Bob": 2}}).json["done"]
    assert match.record().splitlines()[1] == "side Zo\u00eb"
    assert match.state.people == ("Zo\u00eb",)


def test_matches_come_in_pages(page, match):
    for _ in range(3):
        match.start(TWO)

    latest = page.get("/api/matches?limit=2").get_json()["matches"]
    older = page.get(f"/api/matches?before={latest[-1]['match']}").get_json()["matches"]

    assert len(latest) == 2
    assert len(older) == 1
    assert older[0]["match"] < latest[-1]["match"]


def test_a_match_with_a_missing_edition_is_still_listed(page, begun, match):
    """A custom edition that was deleted or renamed; other unreadable headers are skipped."""
    lines = ["edition ours", "side Ann", "side Bob", "side", "hand first Ann"]
    gone = match.store.append(None, NewEvent("setup", {"lines": lines}))[0].match

    answer, alone = page.get("/api/matches"), page.get(f"/api/matches/{gone}")

    assert (answer.status_code, alone.status_code) == (200, 200)
    assert [one["edition"] for one in answer.get_json()["matches"]] == ["ours", "classic"]
    assert alone.get_json()["names"] == {"Ann": "Ann", "Bob": "Bob"}


def test_a_match_includes_its_record_and_hands(page, begun):
    played(begun, *PLAYS, "end")

    told = page.get(f"/api/matches/{begun.state.match}").get_json()

    assert told["record"][:3] == ["edition classic", "side Ann", "side Bob"]
    assert told["record"][-1] == "end"
    assert told["played_hands"][0]["sides"]["Ann"]["km"] == begun.state.game.hands[0].table.sides[0].km
    assert told["totals"] == dict(begun.state.game.totals)


EVENINGS = """
a page of matches is asked for in numbers
    machine at /api/matches?limit=0 -> 422 | must be a number from; machine at /api/matches?limit=101 -> 422
    machine at /api/matches?limit=-1 -> 422; machine at /api/matches?limit=two -> 422 | must be a number from
    machine at /api/matches?before=9999999999999999999 -> 422 | must be a number from
a match that is not there is not found
    machine at /api/matches/0 -> 404 | {"say":; machine at /api/matches/77 -> 404 | {"say":
    machine at /api/matches/999999999999999 -> 404 | {"say":; machine at /api/matches/ann -> 404 | {"say":
    machine at /api/matches/99999999999999999999999999999999999999999999999999 -> 404 | {"say":
a spectator may read and change nothing
    eve at /api/state -> 200; eve sends /plays {"text": "Ann roll"} -> 401; lines -
a legal play counts at once
    machine sends /plays {"text": "Ann roll"}; machine reads | "done":true | "seq":{seq}; lines Ann roll
an illegal play waits, says why and counts where the table lets it stand
    machine sends /plays {"text": "Ann 100"} -> 202; machine reads | "done":false | Ann cannot drive yet.; lines -
    machine reads | "questions":["{id}"]; machine sends /questions/{id} {"answer": "yes", "anyway": true}
    machine sends /plays {"text": "Bob 50", "anyway": true}; lines Ann 100 anyway, Bob 50 anyway
a question is answered once
    sees Ann roll; machine sends /questions/{id} {"answer": "yes"}; lines Ann roll; asked -
    machine sends /questions/{id} {"answer": "yes"} -> 409
an illegal play is let stand
    sees Ann 100; machine sends /questions/{id} {"answer": "yes"} -> 202; asked Ann 100
    machine sends /questions/{id} {"answer": "yes", "anyway": true}; lines Ann 100 anyway; asked -
another play is named
    sees Ann roll; machine sends /questions/{id} {"answer": "yes", "play": "Ann right-of-way"}; lines Ann right-of-way
it was no play
    sees Ann roll; machine sends /questions/{id} {"answer": "no"}; lines -; asked -
a play is taken back
    sees Ann roll; machine sends /questions/{id} {"answer": "taken-back"}; lines -; asked -
an answer that is none is refused
    sees Ann roll; machine sends /questions/{id} {} -> 422; machine sends /questions/{id} {"answer": "perhaps"} -> 422
    machine sends /questions/{id} {"answer": 1} -> 422; asked Ann roll
    machine sends /questions/{id} {"answer": "yes", "play": "Ann rolls"} -> 422; asked Ann roll
what stands in the way is told
    sees Ann 100; sees Bob roll; machine sends /questions/1-2-camera.2-play {"answer": "yes"} -> 202
    machine reads | not "reasons":[]; lines -
a question that nobody asked is not found and one of another hand is settled
    sees Ann roll; asked Ann roll; machine at {asked}; end; machine taps /hand
    machine sends /questions/{id} {"answer": "yes"} -> 409; machine sends /questions/7 {"answer": "yes"} -> 404
    machine sends /questions/999-999-camera.7-play {"answer": "yes"} -> 404; lines -
undo and redo go there and back
    Ann roll; machine sends /redo -> 409; machine sends /undo; lines -; machine sends /redo; lines Ann roll
undo takes back the last change and with a number only that one
    Ann roll; Bob roll; machine sends /undo {"seq": {seq}}; machine sends /undo {"seq": 1} -> 409; lines Ann roll
    machine sends /undo; lines -; machine at /export.mbn | not Ann roll
a change with an id counts once and gets the first answer again
    machine sends /plays {"text": "Ann 100", "anyway": true, "id": "one"}; machine reads | "seq":{seq}
    machine sends /plays {"text": "Ann 100", "anyway": true, "id": "one"}; machine reads | "seq":{seq}
    machine sends /plays {"text": "Bob roll", "anyway": true, "id": "one"} -> 409; lines Ann 100 anyway
a change that waits or does nothing gets its first answer again too
    machine sends /plays {"text": "Ann 100", "id": "one"} -> 202; machine reads | "done":false | Ann cannot drive yet.
    machine sends /plays {"text": "Ann 100", "id": "one"} -> 202; machine reads | "done":false | Ann cannot drive yet.
    asked Ann 100; machine sends /undo {"id": "two"} -> 409; machine sends /undo {"id": "two"} -> 409
a stranger hears of trouble with the camera but not its address
    trouble The stream http://10.0.0.5/cam?pwd=secret does not answer.; machine at /api/state | pwd=secret
    eve at /api/state | "trouble":"Something is wrong with the camera." | not 10.0.0.5
    eve at / | not markup 10.0.0.5; eve at /plain | not markup 10.0.0.5; eve at /wall | not markup 10.0.0.5
    eve at /camera | not markup 10.0.0.5
what is no JSON is refused
    machine taps /api/plays text=Ann roll -> 415; machine reads | application/json; machine at /api/plays | {"say":
    machine sends /plays { -> 400; machine reads | {"say":; machine sends /plays Ann roll -> 400; lines -
without a game nothing can be played [fresh]
    machine sends /plays {"text": "Ann roll"} -> 409; machine reads | set up
a line is corrected and the next hand and a match are begun
    Ann roll; machine sends /correct {"seq": {seq}, "text": "Ann right-of-way"}; lines Ann right-of-way
    machine sends /correct {"seq": 10000, "text": "Ann roll"} -> 409; machine sends /next-hand -> 409; end
    machine sends /next-hand {"first": "Ann"}; machine at / | Ann’s turn; machine at /score | Hand 2
    machine sends /matches {"record": "edition classic\\nside Cid\\nside Dee\\n\\nhand first Dee", "id": "m"}
    machine at / | Dee’s turn; Dee roll; lines Dee roll
    machine sends /matches {"record": "edition classic\\nside Cid\\nside Dee\\n\\nhand first Dee", "id": "m"}
    lines Dee roll
"""


@pytest.mark.parametrize(("setting", "rows"), scenes(EVENINGS))
def test_on_an_evening(app, match, setting, rows):
    evening.check(app, match, setting, rows)


# --- Seats and the policy ---------------------------------------------------------------------------------------


def seat(client, player="Ann", **more):
    return send(client, "/api/seat", {"player": player, **more})


def test_a_script_plays_a_whole_dealt_hand_by_the_api_alone(app, match):
    script, robots = scanned(app), RobotPlayers(match, pause_s=0)
    record = "edition classic\nside Ann\nside Bob\nhand first Ann"
    robots.start()
    try:
        begun = send(script, "/api/matches", {"record": record, "cards": "dealt", "robots": {"Bob": 1}})
        sat = seat(script)
        assert (begun.status_code, sat.status_code) == (200, 200)
        while not (now := script.get("/api/state").get_json())["hands"]:
            own = script.get("/api/hand").get_json()
            if own["asked"] and own["plays"]:
                play = next((one for one in own["plays"] if " discard " not in one), own["plays"][0])
                send(script, "/api/plays", {"text": play})
            elif own["asked"]:
                send(script, "/api/waive")
            else:
                match.wait(now["version"], 1)
    finally:
        robots.stop()

    played_by = {line["text"].split()[0] for line in now["log"]}
    assert own["player"] == "Ann"
    assert played_by >= {"Ann", "Bob"}
    assert {line["verdict"] for line in now["log"]} == {"legal"}
    assert now["totals"] == now["hands"][0]["match"]


def test_a_seat_is_kept_by_a_new_match_and_robots_alone_make_it_a_dealt_one(app, match):
    script, record = scanned(app), "side Ann\nside Bob\nhand first Ann"
    send(script, "/api/matches", {"record": record})
    send(script, "/api/seat", {"player": "Ann"})
    send(script, "/api/matches", {"record": "side Eve\nside Dan\nhand first Eve"})

    begun = send(script, "/api/matches", {"record": record, "robots": {"Bob": 1}})

    assert (begun.status_code, match.state.is_dealt) == (200, True)
    assert script.get("/api/hand").json["player"] == "Ann"


def test_a_script_sees_only_the_hand_of_its_own_seat(app, match):
    match.start(TWO, robots={})
    ann, bob = scanned(app, 11), scanned(app, 12)
    seat(ann)
    seat(bob, "Bob")

    assert [one.get("/api/hand").get_json()["player"] for one in (ann, bob)] == ["Ann", "Bob"]
    assert ann.get("/api/hand").get_json()["hand"] != bob.get("/api/hand").get_json()["hand"]
    assert send(bob, "/api/plays", {"text": ann.get("/api/hand").get_json()["plays"][0]}).status_code == 202
    assert lines(match) == []


def test_a_taken_seat_can_only_be_taken_over_from_a_silent_phone_or_by_the_host(match):
    now_s = [0.0]
    app = create_app(match, secret=SECRET, clock=lambda: now_s[0])
    match.start(TWO)
    host, first, second = scanned(app, 10), scanned(app, 11), scanned(app, 12)
    party = app.extensions["companion"].phones

    assert seat(first).status_code == 200
    mine = party.party.seats["Ann"]
    assert (seat(second).status_code, seat(second, take=True).status_code) == (409, 409)
    assert party.party.seats == {"Ann": mine}
    assert "Another phone has that seat" in seat(second).get_json()["say"]
    assert seat(first, "Bob").status_code == 200
    assert seat(second).status_code == 200, "the seat that it has left"
    now_s[0] += 121
    second.get("/version")
    assert seat(second, "Bob").status_code == 409
    assert seat(second, "Bob", take=True).status_code == 200
    assert seat(host, "Bob").status_code == 409
    assert seat(host, "Bob", take=True).status_code == 200


def test_a_seat_request_with_an_id_counts_once_and_for_its_own_phone(app, match):
    match.start(TWO)
    first, second = scanned(app, 11), scanned(app, 12)
    party = app.extensions["companion"].phones
    assert seat(first, id="one").status_code == 200
    assert seat(first, "Bob", id="two").status_code == 200
    seq = match.state.seq

    assert seat(first, id="one").get_json()["done"]
    assert [*party.party.seats] == ["Bob"]
    assert match.state.seq == seq
    assert seat(second, id="one").status_code == 409
    assert seat(first, "Bob", id="one").status_code == 409
    assert [*party.party.seats] == ["Bob"]


def test_an_unknown_seat_or_a_robots_is_refused(app, page, match):
    assert seat(page).status_code == 409, "no match yet"
    match.start(TWO, robots={"Bob": 1})

    assert (seat(page, "Zoe").status_code, seat(page, "Bob").status_code) == (422, 409)
    assert seat(page, "Bob", take=True).status_code == 409
    assert seat(stranger(app)).status_code == 401
    assert app.extensions["companion"].phones.party.seats == {}


def test_a_watching_phone_can_take_a_seat_and_a_phone_has_one_seat_at_a_time(app, match):
    match.start(TWO)
    watcher = scanned(app, 11, player="")
    assert send(watcher, "/api/plays", {"text": "Ann roll"}).status_code == 403

    seat(watcher, "Bob")
    assert seat(watcher).status_code == 200
    assert [*app.extensions["companion"].phones.party.seats] == ["Ann"]
    assert send(watcher, "/api/plays", {"text": "Ann roll"}).status_code == 200


def test_phones_and_scripts_taking_seats_never_deadlock(app, match):
    match.start(TWO)
    codes: list[int] = []

    def sits(number: int) -> None:
        client = scanned(app, number)
        for turn in range(20):
            player = ("Ann", "Bob")[turn % 2]
            answer = seat(client, player) if number % 2 else tap(client, "/join", player=player)
            codes.append(answer.status_code)

    threads = [threading.Thread(target=sits, args=(number,), daemon=True) for number in range(20, 24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert not any(thread.is_alive() for thread in threads)
    assert len(codes) == 80
    assert {*codes} <= {200, 303, 409}


@pytest.mark.parametrize("policy", list(Policy))
def test_only_the_host_sets_what_counts_without_a_tap(app, match, policy):
    match.start(TWO)
    host, other = scanned(app, 11), scanned(app, 12)
    before = match.state.policy

    assert send(other, "/api/policy", {"policy": policy}).status_code == 403
    assert match.state.policy == before
    assert send(host, "/api/policy", {"policy": policy, "id": "one"}).status_code == 200
    assert host.get("/api/state").get_json()["policy"] == policy
    seq = match.state.seq
    assert send(host, "/api/policy", {"policy": policy, "id": "one"}).status_code == 200
    assert match.state.seq == seq
    assert send(host, "/api/policy", {"policy": "never"}).status_code == 422


# --- Playing --------------------------------------------------------------------------------------------------


def test_the_state_includes_the_open_questions(page, begun):
    camera(begun).which(1, "Ann roll", "Ann gasoline")
    seen(begun, 2, "Ann 100")
    camera(begun).differs(3, "side-2/battle", None, "stop")

    which, play, differs = page.get("/api/state").get_json()["questions"]

    assert (which["kind"], which["zone"], which["plays"]) == ("which", "side-1/battle", ["Ann roll", "Ann gasoline"])
    assert (play["kind"], play["verdict"], play["plays"]) == ("play", "illegal", ["Ann 100"])
    assert play["reasons"][0]["say"] == "Anne-Marie cannot drive yet."
    assert (differs["kind"], differs["verdict"], differs["reasons"]) == ("differs", None, [])
    assert all(one["say"].endswith(".") for one in (which, play, differs))


def test_the_record_follows_the_table(page, begun):
    begun.enter("Ann roll", "Ann")
    gone = camera(begun).differs(1, "side-1/battle", "roll", None, line=begun.state.hand_entries[0].seq)

    assert send(page, f"/api/questions/{gone}", {"answer": "table"}).status_code == 200
    assert lines(begun) == []


def test_a_request_id_is_remembered_after_a_restart(page, begun, match):
    send(page, "/api/plays", {"text": "Ann roll", "id": "one"})
    again = Match(match.store)
    late = create_app(again, secret=SECRET).test_client()

    assert send(late, "/api/plays", {"text": "Ann roll", "id": "one"}).status_code == 200
    assert send(late, "/api/plays", {"text": "Bob roll", "id": "one"}).status_code == 409
    assert lines(again) == ["Ann roll"]


def test_the_version_changes_with_the_state(page, begun):
    first = page.get("/version")
    same = page.get("/version", headers={"If-None-Match": first.headers["ETag"]})
    begun.enter("Ann roll", "Ann")
    other = page.get("/version", headers={"If-None-Match": first.headers["ETag"]})

    assert same.status_code == 304
    assert other.status_code == 200
    assert other.get_json()["version"] > first.get_json()["version"]
    assert other.get_json()["version"] == page.get("/api/state").get_json()["version"]


def numbers_in(told) -> list[float]:
    """Return all numbers of a JSON value."""
    if isinstance(told, dict | list):
        return [number for one in (told.values() if isinstance(told, dict) else told) for number in numbers_in(one)]
    return [told] if isinstance(told, int | float) else []


def test_every_number_fits_into_32_bits(page, begun):
    played(begun, *PLAYS, "end")
    answers = [page.get(path) for path in ("/version", "/api/state", "/api/matches", "/api/matches/1", "/api/hand")]
    answers.append(send(page, "/api/next-hand"))
    numbers = [number for answer in answers for number in numbers_in(answer.get_json())]

    assert len(numbers) > 50
    assert max(numbers) < 2**31


# --- Refusals ---------------------------------------------------------------------------------------------------


SHAPES = [
    *({"text": text} for text in (7, ["Ann roll"], None)),
    *({"text": "Ann roll", "anyway": anyway} for anyway in ("yes", 1)),
    *({"text": "Ann roll", "id": name} for name in ("", "x" * 65, "a\nb", 7)),
    *({"text": text} for text in ("nonsense", "Zoe roll", "Ann roll\nBob roll", "\ud800", "\x00", "", "a" * 201)),
    *({"text": "Ann roll", "by": "Bob"}, {}, [], "Ann roll", None),
]
NUMBERS = [*({"seq": seq} for seq in ("1", 1.5, True, 10**30, -(10**30))), {"why": "x"}]
GAMES = ["", "\n", "side Ann", "x\x00", "Ann roll", "side Ann\nside Bob\nhand first Zoe"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        *(("/api/plays", body) for body in SHAPES),
        *(("/api/undo", body) for body in NUMBERS),
        *(("/api/matches", {"record": record}) for record in GAMES),
    ],
)
def test_an_invalid_body_is_refused_with_a_sentence_and_changes_nothing(page, begun, path, body):
    answer = page.post(path, data=json.dumps(body), headers=HOME, content_type="application/json")

    assert (answer.status_code, set(answer.get_json())) == (422, {"say"})
    assert answer.get_json()["say"].endswith((".", "!", "?"))
    assert (lines(begun), begun.store.matches()) == ([], (begun.state.match,))


@pytest.mark.parametrize("body", [b"\xff\xfe", b'{"text": ' + b"[" * 9000])
def test_invalid_json_is_refused(page, begun, body):
    answer = page.post("/api/plays", data=body, headers=HOME, content_type="application/json")

    assert (answer.status_code, set(answer.get_json())) == (400, {"say"})


def test_wrong_methods_and_oversized_bodies_are_refused(page, begun):
    refused = page.delete("/api/state", headers=HOME)

    assert (refused.status_code, "GET" in refused.headers["Allow"]) == (405, True)
    assert send(page, "/api/plays", {"text": "a" * 20_000}).status_code == 413


# --- The document --------------------------------------------------------------------------------------------


def test_the_document_describes_exactly_the_routes(app, page):
    served = {
        (re.sub(r"<(?:[^:<>]+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    told = page.get("/api/openapi.json").get_json()["paths"]
    both = {(path, method) for path in told for method in told[path]}

    assert both <= served
    assert {(path, method) for path, method in served if path.startswith("/api/")} <= both


SCHEMA = schemathesis.openapi.from_dict(openapi.document()).include(path_regex="^/api/")
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
)


@pytest.fixture
def busy(match, app):
    """A table with hands played, an attack, waiting plays and a difference.

    Requests come from the machine itself, which may do everything.
    """
    match.start(TWO, policy=Policy.TAP)
    played(match, *PLAYS, "end")
    match.next_hand("Ann", "Bob")
    played(match, "Bob roll", "Ann roll", "Bob stop > Ann")
    for number in range(1, 40):
        seen(match, number, "Ann 100")
    camera(match).differs(40, "side-1/battle", "stop", None)
    served = app.wsgi_app
    app.wsgi_app = lambda environ, start: served({**environ, "REMOTE_ADDR": "127.0.0.1"}, start)
    return app


def test_a_late_change_is_answered_as_documented(busy):
    headers = {"Origin": "http://localhost", "Accept-Encoding": "identity"}
    case = SCHEMA["/api/undo"]["POST"].Case(body={"seq": 1}, headers=headers, media_type="application/json")
    response = case.call(app=busy, base_url="http://localhost")

    assert (response.status_code, response.json()["done"]) == (409, False)
    case.validate_response(response, checks=[response_schema_conformance])


@SCHEMA.parametrize()
@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_any_request_is_answered_as_documented(busy, case: Case, monkeypatch):
    monkeypatch.setitem(limits.RATES, RequestKind.HEAVY, Rate(1e9, 1e9))
    case.headers = {**(case.headers or {}), "Origin": "http://localhost", "Accept-Encoding": "identity"}
    response = case.call(app=busy, base_url="http://localhost")

    case.validate_response(response, checks=list(CHECKS))

"""Directing a club: tournaments, calls, corrections, people and their data."""

# ruff: noqa: F811 (a fixture of another file is imported by its name)

import json
import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import club_database
import pytest
from client import HOME, tap, text_of

pytestmark = pytest.mark.skipif(club_database.why_not() is not None, reason=club_database.why_not() or "")
psycopg = pytest.importorskip("psycopg", reason="the club's driver is not installed: pip install '.[club]'")

from test_club import (  # noqa: E402
    OWN,
    Wire,
    a_table,
    browser,
    club,  # noqa: F401
    director,  # noqa: F401
    everything,
    let_in,
    pool,  # noqa: F401
    server,  # noqa: F401
    set_up,
    table,  # noqa: F401
    table_id,
    tables_of,
    url,  # noqa: F401
)

from companion.club import batch, club_doors, club_log, club_service, deeds, keys, outbox, people, projection  # noqa: E402
from companion.club.outbox import Address, Delivery, Outbox  # noqa: E402
from companion.match.questions import Answer  # noqa: E402
from companion.pages import create_app  # noqa: E402
from companion.rules.editions import edition  # noqa: E402
from companion.storage.events import EventKind, NewEvent  # noqa: E402

PLAN = {
    "name": "Friday", "edition": "classic", "system": "swiss", "rounds": "2", "hands": "1", "minutes": "45",
    "seats": "2",
}  # fmt: skip


def person(pool, role: str, name: str = "Eve"):
    """A browser of a signed-in person."""
    with pool.connection() as db:
        number = people.add(db, name, role).id
    return let_in(browser(pool), pool, number)


def line(match, text: str) -> int:
    return next(entry.seq for entry in match.state.entries if entry.written.text == text)


@pytest.fixture
def wire(table, club, pool):
    found = Wire(table, club)
    found.run(pool)
    return found


def desk_of(club) -> str:
    return f"/tables/{table_id(club)}"


def entered(director, *sides: str, **plan: object) -> str:
    """Create a tournament of these sides; return its path."""
    at = tap(director, "/tournaments", **PLAN | plan).location.removesuffix("/direct")
    tap(director, f"{at}/enter", sides="\n".join(sides))
    return at


def begun(director, *sides: str, **plan: object) -> str:
    """Create a tournament and draw its first round; return its path."""
    at = entered(director, *sides, **plan)
    tap(director, f"{at}/draw", round=1)
    return at


# --- Tournaments ----------------------------------------------------------------------------------------------


def test_a_tournament_is_drawn_scored_from_the_tables_hands_and_drawn_again(director, pool, table, wire):
    at = begun(director, "Ann", "Bob", "Cid")
    public = browser(pool)
    shown = text_of(public.get(f"{at}?me=Ann"))
    assert "Round 1 of 2" in shown
    assert tap(director, f"{at}/draw", round=1).status_code == 400

    seats = public.get(f"{at}.json").get_json()["games"]
    one, other = next(game["seat"]["sides"] for game in seats if len(game["seat"]["sides"]) == 2)
    table.start([f"side {one}", f"side {other}", f"hand first {one}"])
    for play in (f"{one} roll", f"{other} roll", f"{one} 100", f"{other} 25", "end"):
        table.enter(play, "")
    wire.run(pool)

    assert f"{one} – {other} 100 : 25" in text_of(public.get(at))
    assert tap(director, f"{at}/draw", round=2).status_code == 303
    assert "Round 2 of 2" in text_of(public.get(at))
    games = public.get(f"{at}/games.csv").get_data(as_text=True).splitlines()
    assert f"1,Table 7,{one},100,{other},25,1,0" in games
    assert public.get(f"{at}/standings.csv").get_data(as_text=True).count("\n") == 4


def test_two_simultaneous_draws_make_one_round_at_present_tables(director, pool, wire):
    at = entered(director, "Ann", "Bob", "Cid", "Dee")
    helpers = [person(pool, "director", f"Eve {number}") for number in range(3)]
    with pool.connection() as db:
        db.execute("UPDATE club.tables SET seen_at = now() - interval '2 days'")

    with ThreadPoolExecutor(3) as taps:
        answers = list(taps.map(lambda client: tap(client, f"{at}/draw", round=1).status_code, helpers))

    assert sorted(answers) == [303, 400, 400]
    games = director.get(f"{at}.json").get_json()["games"]
    assert [game["seat"]["table"] for game in games] == [None, None]


def test_a_typed_result_is_marked_and_every_page_shows_the_clock(director, club, pool):
    at = begun(director, "Ann", "Bob")
    first = club.get(f"{at}.json").get_json()["games"][0]["seat"]["sides"][0]
    helper = person(pool, "helper", "Hal")
    assert tap(helper, f"{at}/clock", runs="start").status_code == 303
    assert tap(helper, f"{at}/result", round=1, first=first, points0=300, points1=200).status_code == 303
    assert tap(helper, f"{at}/draw", round=2).status_code == 403

    assert "300 : 200 entered by the director" in text_of(club.get(at))
    for path in ("/", "/standings", "/tournaments", at):
        assert re.search(r"Friday 4[45]:\d\d", text_of(browser(pool).get(path))), path


def test_a_round_without_club_tables_says_so_and_can_be_printed(director, club):
    at = begun(director, "Ann", "Bob", "Cid", "Dee")

    assert text_of(director.get(f"{at}/direct")).count("No table of the club plays here. Type the points") == 2
    assert "No table of the club" not in text_of(club.get(at))
    assert re.findall(r"<b>(Table \d)</b>", director.get(f"{at}/cards").text) == ["Table 1", "Table 2"]


def test_a_round_clock_keeps_running_at_tables_without_the_club(director, pool, table, wire, monkeypatch):
    at = begun(director, "Ann", "Bob")
    phone = create_app(table, secret=b"x" * 32, club=wire.outbox).test_client()
    wire.run()
    before = phone.get("/version").headers["ETag"]
    assert "Friday" not in text_of(phone.get("/"))

    tap(director, f"{at}/clock", runs="start")
    wire.client = browser(pool)
    wire.run()
    for path in ("/", "/wall", "/plain", "/score"):
        assert re.search(r"Friday 4[45]:\d\d", text_of(phone.get(path))), path
    assert phone.get("/version").headers["ETag"] != before
    began_s = outbox.time.monotonic()
    monkeypatch.setattr(outbox.time, "monotonic", lambda: began_s + 3000)
    assert "Friday 0:00 Time is up. Finish the hand." in text_of(phone.get("/wall"))
    monkeypatch.setattr(outbox.time, "monotonic", lambda: began_s + 4000)
    assert "Friday" not in text_of(phone.get("/wall"))
    monkeypatch.undo()

    tap(director, f"{at}/undraw", round=1)
    wire.client = browser(pool)
    wire.run()
    assert "Friday" not in text_of(phone.get("/"))


def test_names_in_a_csv_file_are_not_formulas(director, club):
    at = entered(director, "=1+1", "Bob")

    assert ",'=1+1," in club.get(f"{at}/standings.csv").get_data(as_text=True)


# --- Calls ----------------------------------------------------------------------------------------------------


def test_a_call_is_shown_until_a_helper_answers_and_the_table_is_notified(director, pool, table, wire):
    table.call_director("Ann")
    wire.run()
    assert "Table 7 calls the director." in text_of(director.get("/"))

    tap(director, f"{desk_of(director)}/answered")
    assert "calls the director" not in text_of(director.get("/"))
    assert table.state.past.has_called
    wire.run()
    assert not table.state.past.has_called
    assert wire.answers[-1] == {"acknowledged": table.state.seq}
    assert table.state.questions == ()


def test_a_log_sent_again_as_a_new_table_repeats_no_calls(director, club, table, wire):
    table.call_director("Ann")
    wire.run()
    tap(director, f"{desk_of(club)}/answered")
    wire.run()
    (table.store.path.parent / "club.json").unlink()
    Wire(table, club, "Table 7 again").run()

    assert "Table 7 again" in text_of(director.get("/"))
    assert "calls the director" not in text_of(director.get("/"))


def test_a_call_withdrawn_by_the_table_disappears(director, table, wire):
    table.call_director("Ann")
    assert not table.call_director("Bob").done
    table.call_director("Bob", is_over=True)
    wire.run()

    assert "calls the director" not in text_of(director.get("/"))


def test_any_phone_at_a_club_table_can_call_the_director_with_one_tap(table):
    alone = create_app(table, secret=b"x" * 32).test_client()
    phone = create_app(table, secret=b"x" * 32, club=Outbox(table.store, Address("http://club", "T"))).test_client()
    for path in ("/", "/plain"):
        assert "Call the director" not in text_of(alone.get(path))
        assert "Call the director" in text_of(phone.get(path))

        called = tap(phone, "/director", call="come", page=path.strip("/"))
        assert path == "/" or called.location == "/plain"
        assert "The director has been called." in text_of(phone.get(path))
        tap(phone, "/director", call="over")
        assert not table.state.past.has_called

    before = table.state.seq
    assert tap(alone, "/director", call="come").status_code == 404
    assert table.state.seq == before


# --- Corrections ----------------------------------------------------------------------------------------------


@pytest.fixture
def playing(table, wire, pool):
    """A club table with an open hand."""
    table.next_hand("Ann")
    for play in ("Bob roll", "Ann roll", "Bob 50"):
        table.enter(play, "Ann")
    wire.run(pool)
    return table


@pytest.mark.parametrize(
    ("what", "says", "answer", "then", "stage", "deed"),
    [
        ("change", "changes “Bob 50” to “Bob 25”.", Answer.YES, "Bob 25", "Ann has agreed.", "asked to change a play"),
        (
            "remove",
            "removes this from the record: “Bob 50”",
            Answer.NO,
            "Bob 50",
            "Ann has refused.",
            "asked to remove a play",
        ),
    ],
    ids=["agreed", "refused"],
)
def test_a_correction_counts_only_if_the_table_agrees(
    director, club, pool, playing, wire, what, says, answer, then, stage, deed
):
    at, seq, before = desk_of(club), line(playing, "Bob 50"), playing.lines()
    assert tap(director, f"{at}/correct", line=seq, what=what, text="Bob 25").status_code == 303
    assert "The table has not received it yet." in text_of(director.get(f"{at}/desk"))
    wire.run()
    (question,) = playing.state.questions
    assert question.say == f"Director, for the club, {says}"
    assert playing.lines() == before
    assert "Waiting for the table’s answer." in text_of(director.get(f"{at}/desk"))

    playing.answer(question.id, answer, "Ann")
    assert playing.lines() == [*before[:-1], then]
    assert playing.state.questions == ()
    wire.run(pool)
    assert stage in text_of(director.get(f"{at}/desk"))
    assert stage in text_of(director.get(f"{at}/board"))
    audit = text_of(director.get("/audit"))
    assert deed in audit
    assert "has answered" in audit


def test_an_outdated_correction_is_not_asked_when_a_table_is_back_online(director, pool, playing, wire):
    at, seq = desk_of(director), line(playing, "Bob 50")
    tap(director, f"{at}/correct", line=seq, what="remove")
    playing.rewrite(EventKind.RETRACT, seq, None, "Bob")
    wire.run(pool)

    assert playing.state.questions == ()
    assert "this no longer applies" in text_of(director.get(f"{at}/desk"))


def test_removing_a_play_for_the_director_needs_a_tap_even_in_auto_mode(director, playing, wire):
    playing.set_policy("auto", "Ann")
    tap(director, f"{desk_of(director)}/correct", line=line(playing, "Bob 50"), what="remove")
    wire.run()

    assert line(playing, "Bob 50")
    assert len(playing.state.questions) == 1


def test_a_match_without_cards_refuses_corrections_and_tells_the_director(director, pool, table, wire):
    table.start(["side Ann", "side Bob", "hand first Ann"], robots={"Bob": 1})
    wire.run(pool)
    table.receive({"letter": 9, "what": "remove", "by": "Eve", "of": table.state.seq, "text": ""})

    assert table.state.questions == ()
    wire.run()
    assert "has answered by: the companion" in text_of(director.get("/audit"))


def test_a_note_does_not_delay_plays(table):
    table.next_hand("Ann")
    table.receive({"letter": 1, "what": "note", "by": "Eve", "of": 0, "text": "Five minutes left."})
    page = text_of(create_app(table, secret=b"x" * 32).test_client().get("/"))

    assert "Five minutes left." in page
    assert "What does " in page
    assert table.enter("Bob roll", "Bob").done


def test_a_repeated_note_is_shown_once(director, playing, wire):
    tap(director, f"{desk_of(director)}/note", text="Five minutes left.")
    wire.run()
    (came,) = next(batch.letters(answer, None) for answer in wire.answers if "letters" in answer)
    (question,) = playing.state.questions
    playing.answer(question.id, Answer.YES, "Bob")
    playing.receive(came)

    assert "Five minutes left." in question.say
    assert playing.state.questions == ()


NOTE = json.dumps([{"letter": 1, "what": "note", "by": "Eve", "of": 0, "text": "Hello"}])


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        *(("id.secret", {"letters": NOTE} | signed) for signed in ({}, {"signed": ""}, {"signed": "0" * 64})),
        *((None, {"letters": rubbish}) for rubbish in (7, "x", "{}", "7", "[1]", '[{"letter": true}]')),
        (None, {"letters": NOTE.replace("note", "delete")}),
    ],
)
def test_unsigned_or_invalid_letters_are_ignored(key, answer):
    signed = {"letters": NOTE, "signed": batch.digest("secret", NOTE.encode())}

    assert len(batch.letters(signed, "id.secret")) == len(batch.letters({"letters": NOTE}, None)) == 1
    assert batch.letters(answer, key) == []


def test_letters_are_signed_if_keys_are_used(director, pool, club, table):
    with pool.connection() as db:
        key = keys.make(db, "Table 7")
    wire = Wire(table, club, key=key.text)
    wire.run()
    tap(director, f"{desk_of(club)}/note", text="Hello")
    wire.run()

    assert "Hello" in table.state.questions[0].say


# --- People ---------------------------------------------------------------------------------------------------


def test_every_route_has_a_required_role(pool):
    rules = club_service.create_app(pool).url_map.iter_rules()

    assert {rule.endpoint for rule in rules} == set(club_doors.DOORS)


@pytest.mark.parametrize("role", [None, "player", "helper"])
def test_a_role_allows_nothing_more_than_its_rights(pool, club, wire, role):
    app = club_service.create_app(pool)
    client = person(pool, role) if role else app.test_client()
    order = [None, "player", "helper", "director"]
    some = {"table": table_id(club), "number": 1, "key_id": "x", "deed": "enter", "what": "games", "name": "club.css"}
    for rule in app.url_map.iter_rules():
        if order.index(club_doors.DOORS[rule.endpoint]) <= order.index(role):
            continue
        path = re.sub(r"<(?:[^:<>]*\([^)]*\):|\w+:)?(\w+)>", lambda found: str(some[found[1]]), rule.rule)
        for method in rule.methods - {"HEAD", "OPTIONS"}:
            answer = client.open(path, method=method, headers=HOME)
            assert answer.status_code == (403 if role else 401), (method, path)


def test_a_lost_phone_is_signed_out_and_the_last_director_cannot_be_removed(director, pool):
    helper = person(pool, "helper", "Hal")
    page = text_of(director.get("/people"))
    assert "Hal Helper" in page
    number = re.search(r"/people/(\d+)/out\"><button[^>]*: Hal", director.get("/people").get_data(as_text=True))[1]
    assert helper.get("/tournaments/1/direct").status_code == 404
    tap(director, f"/people/{number}/out")

    assert helper.get("/tournaments/1/direct").status_code == 401
    own = re.search(r"/people/(\d+)/out\"><button[^>]*Director", director.get("/people").get_data(as_text=True))[1]
    assert "You cannot remove the last director" in text_of(tap(director, f"/people/{own}/remove"))


def test_a_player_can_download_their_data(pool, wire):
    ann = person(pool, "player", "Ann")
    known = ann.get("/me.json").get_json()

    assert known["figures"][0]["points"] == 300
    assert len(known["matches"]) == 1
    assert [one["role"] for one in known["people"]] == ["player"]


def test_erasing_a_name_removes_it_everywhere_and_keeps_the_scores(director, club, pool, table, wire):
    entered(director, "Ann", "Bob")
    page = text_of(tap(director, "/people/erase", name="ann"))
    alias = re.search(r"Player-\w{5}", page)[0]
    projection.Projector(pool).catch_up()

    with pool.connection() as db:
        for name in ("events", "matches", "hands", "deeds", "people"):
            rows = db.execute(f"SELECT count(*) FROM club.{name} row WHERE row::text ~* '\\mann\\M'").fetchone()
            assert rows == (0,), name
    assert f"{alias} 300" in text_of(club.get("/"))
    assert "Distance" in text_of(club.get(desk_of(club)))
    assert "Ann" not in club.get(desk_of(club)).get_data(as_text=True)


def left_of(pool, name: str) -> list[str]:
    """Return the rows of the club's database that contain a name in any case, spacing and Unicode form."""
    shown = everything(pool).replace(r"\\\\u", r"\u").replace(r"\\u", r"\u")
    shown = re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), shown)
    plain = [(" ".join(unicodedata.normalize("NFKC", row).split()).casefold(), row) for row in shown.split("\n")]
    return [row for folded, row in plain if re.search(rf"\b{name.casefold()}\b", folded)]


def corrected(match):
    match.correct(line(match, "Zora 100"), "Zora 75", "Zora")


def taken_back(match):
    match._append(NewEvent("undo", {"of": match.state.seq, "by": "Zora"}))


def called(match):
    match.call_director("Zora")


def written(*lines: str):
    """Return a function that appends raw events."""

    def write(match):
        match._append(*(NewEvent("line", {"text": text, "by": "Zora"}) for text in lines))

    return write


BEFORE = {
    "a player": (),
    "a seat that was renamed later": (written('player Zora "Somebody Else"'),),
    "a name that was undone": (written('player Bob "Zora"'), taken_back),
    "blanks and capitals": (written('player Bob "  ZORA "'),),
    "another Unicode form": (written('player Bob "Ｚｏｒａ"'),),
    "a seat": (lambda match: match._append(NewEvent("seat", {"player": "Bob", "name": "Zora"})),),
    "a correction and a call": (corrected, called),
    "a line that cannot be read": (written("Zora flies > Zora"),),
    "a letter": (
        lambda match: match.receive({"letter": 9, "what": "note", "by": "Zora", "of": 0, "text": "Sit down, Zora!"}),
    ),
    "a field of a later version": (
        lambda match: match._append(NewEvent("line", {"text": "Bob 25", "new": {"deep": ["for Zora"]}})),
    ),
}


@pytest.mark.parametrize("before", BEFORE)
def test_after_an_erasure_the_name_is_gone_and_the_table_continues(director, club, pool, tmp_path, before):
    with a_table(tmp_path, "side Zora", "side Bob", "hand first Zora", plays=ZORAS) as match:
        for write in BEFORE[before]:
            write(match)
        wire = Wire(match, club)
        wire.run(pool)
        assert left_of(pool, "zora")
        totals = [side["total"] for side in tables_of(club)[0]["state"]["sides"]]

        tap(director, "/people/erase", name="zora")
        projection.Projector(pool).catch_up()

        assert left_of(pool, "zora") == []
        assert [side["total"] for side in tables_of(club)[0]["state"]["sides"]] == totals
        for path in ("/", "/standings", desk_of(club), f"{desk_of(club)}/desk", "/audit"):
            assert "zora" not in text_of(director.get(path)).casefold(), path
        match.next_hand("Bob", "Bob")
        match.enter("Bob roll", "Zora")
        wire.outbox._delivery = Delivery(1)  # Forces a comparison of the whole log.
        wire.run(pool)
        assert wire.outbox.says == "The club is up to date with this table."
        assert left_of(pool, "zora") == []
        assert tables_of(club)[0]["state"]["is_open"]


ZORAS = ("Zora roll", "Bob roll", "Zora 100", "Bob stop > Zora", "Zora roll", "end")


def test_erasing_a_full_name_also_erases_the_players_word_in_the_record(director, club, pool, tmp_path):
    lines = ["side Zora", "side Bob", 'player Zora "Zora  Quist"', "hand first Zora"]
    with a_table(tmp_path, *lines, plays=ZORAS) as match:
        Wire(match, club).run(pool)
    tap(director, "/people/erase", name="ZORA quist")
    projection.Projector(pool).catch_up()

    assert left_of(pool, "zora") == left_of(pool, "quist") == []
    assert re.search(r"Player-\w{5} 100", text_of(club.get("/")))


def test_two_spellings_from_an_older_table_get_one_alias(director, club, pool):
    one, other = "Zo\u00eb", "Zoe\u0308"
    set_up(club, f"side {other}", "side Bob", f'player {one} "{one} Quist"')
    projection.Projector(pool).catch_up()

    tap(director, "/people/erase", name=f"{other} Quist")
    projection.Projector(pool).catch_up()

    assert left_of(pool, one) == left_of(pool, "quist") == []
    assert len(set(re.findall(r"Player-\w{5}(?:-\d)?", everything(pool)))) == 1


def test_a_name_is_erased_from_a_match_of_an_unknown_edition(director, club, pool):
    set_up(club, "edition of-elsewhere", "side Zora", "side Bob", "hand first Zora")
    projection.Projector(pool).catch_up()

    page = text_of(tap(director, "/people/erase", name="Zora"))
    assert "Matches: 1, lines of logs: 1," in page
    assert left_of(pool, "zora") == []


def test_a_name_is_erased_from_a_tables_own_edition_and_its_match_is_still_judged(director, club, pool, tmp_path):
    (tmp_path / "editions").mkdir()
    (tmp_path / "editions/ours.toml").write_text(OWN.format(target=500).replace("Ours at", "Zora’s at"))
    assert edition.keep_own_editions(tmp_path / "editions") == ()
    with a_table(tmp_path, "Edition ours", "side Zora", "side Bob", "hand first Zora", plays=ZORAS) as match:
        Wire(match, club).run(pool)
    edition.keep_own_editions(tmp_path / "none")
    tap(director, "/people/erase", name="Zora")
    projection.Projector(pool).catch_up()

    assert left_of(pool, "zora") == []
    assert tables_of(club)[0]["state"]["target"] == 500


def test_an_erasure_also_searches_table_names_and_the_clubs_own_log(director, club, pool, tmp_path):
    with a_table(tmp_path, "side Zora", "side Bob", "hand first Zora", plays=ZORAS) as match:
        wire = Wire(match, club, name="Zora’s table")
        wire.run(pool)
        at = desk_of(club)
        tap(director, f"{at}/note", text="Five minutes, Zora.")
        tap(director, f"{at}/correct", line=line(match, "Zora 100"), what="remove")
        tap(director, f"{at}/correct", line=line(match, "Bob stop > Zora"), what="change", text="Bob 25")
        entered(director, "Zora & Ann", "Bob & Zorana", name="Zora’s cup", of="pairs")
        key = re.search(r"--key (\S+)", text_of(director.get(tap(director, "/keys", name="Zora’s table").location)))[1]
        tap(director, "/people", name="Zora", role="player")

        page = text_of(tap(director, "/people/erase", name="Zora"))
        assert "tournaments: 1, notes of the club: 6, people: 1, names of tables and keys: 2." in page
        assert left_of(pool, "zora") == []
        alias = re.search(r"Player-\w{5}", page)[0]
        (enter,) = deeds_of(pool, "enter")
        assert enter.body == {"sides": [[alias, "Ann"], ["Bob", "Zorana"]]}
        Wire(match, club, "Zora’s table", key).run(pool)
        assert left_of(pool, "zora") == []


def deeds_of(pool, kind: str):
    with pool.connection() as db:
        return deeds.begun(db, kind)


def test_similar_names_and_longer_full_names_are_not_erased(director, club, pool, tmp_path):
    lines = ["side Zora", "side Zorana", 'player Zorana "Zora Smith"', "hand first Zora"]
    with a_table(tmp_path, *lines, plays=("Zora roll", "Zorana roll", "Zora 100", "Zorana 75", "end")) as match:
        match.start(["side Zora-Ann", "side Bob", "hand first Bob"])
        match.enter("end", "Bob")
        Wire(match, club).run(pool)
    tap(director, "/people/erase", name="Zora")
    projection.Projector(pool).catch_up()

    standings = text_of(club.get("/standings"))
    assert all(name in standings for name in ("Zora Smith", "Zora-Ann"))
    assert re.search(r"Player-\w{5}", standings)


@pytest.mark.parametrize("name", ["roll", "Stop", "side", "end", "hand", "Take", "100", "first", "policy", "yes"])
def test_erasing_a_name_that_is_also_a_card_changes_no_card(director, club, pool, tmp_path, name):
    plays = (f"{name} roll", "Bob roll", f"{name} 100", "Bob stop > Ann", f"{name} stop > Bob", "Ann roll", "end")
    plays = [play.replace("Ann", name) for play in plays]
    with a_table(tmp_path, f"side {name}", "side Bob", f"hand first {name}", plays=plays) as match:
        wire = Wire(match, club)
        wire.run(pool)
        before = tables_of(club)[0]["state"]
        tap(director, "/people/erase", name=name)
        match.next_hand("Bob")
        for play in ("Bob roll", f"{name} roll", f"Bob stop > {name}", "end"):
            match.enter(play, "Bob")
        wire.run(pool)
    projection.Projector(pool).catch_up()

    after = tables_of(club)[0]["state"]
    assert [side["total"] for side in after["sides"]] == [side["total"] for side in before["sides"]]
    assert re.fullmatch(r"Player-\w{5}", after["sides"][0]["name"])
    assert after["hand"] == 2
    with pool.connection() as db:
        lines = [event.body.get("text") for event in club_log.events(db, table_id(club), 1)]
    alias = after["sides"][0]["name"]
    assert {f"{alias} roll", f"Bob stop > {alias}", f"{alias} 100"} <= set(lines)


def test_two_players_whose_names_differ_only_in_case_get_two_aliases(director, club, pool, tmp_path):
    plays = ("Zora roll", "zora roll", "Zora 100", "zora 75", "end")
    with a_table(tmp_path, "side Zora", "side zora", "hand first Zora", plays=plays) as match:
        Wire(match, club).run(pool)
    tap(director, "/people/erase", name="Zora")
    projection.Projector(pool).catch_up()

    assert left_of(pool, "zora") == []
    assert [side["total"] for side in tables_of(club)[0]["state"]["sides"]] == [100, 75]


def test_a_log_sent_again_as_a_new_table_does_not_restore_an_erased_name(director, club, pool, tmp_path):
    with a_table(tmp_path, "side Zora", "side Bob", "hand first Zora", plays=ZORAS) as match:
        Wire(match, club).run(pool)
        tap(director, "/people/erase", name="Zora")
        (tmp_path / "club.json").unlink()
        again = Wire(match, club, "Table 7 again")
        again.run(pool)
        match.next_hand("Bob", "Bob")
        for play in ("Bob roll", "Zora roll", "Bob 25", "Zora 200", "end"):
            match.enter(play, "Zora")
        again.run(pool)

        assert left_of(pool, "zora") == []
        state = next(one["state"] for one in tables_of(club) if one["name"] == "Table 7 again")
        assert {side["total"] for side in state["sides"]} == set(match.state.game.totals.values())
        assert "It starts with the same entries as Table 7" in text_of(club.get("/"))
        match.start(["side Zora", "side Bob", "hand first Zora"])
        again.run(pool)
        assert left_of(pool, "zora")  # A new match stores the name again.


def test_an_erased_name_given_later_in_an_old_match_is_replaced_in_all_of_it(director, club, pool, tmp_path):
    with a_table(tmp_path, "side Zora", "side Bob", "hand first Zora", plays=ZORAS) as match:
        written('player Zora "Quist"')(match)
        wire = Wire(match, club)
        wire.run(pool)
        tap(director, "/people/erase", name="Quist")
        assert left_of(pool, "zora") == []
        written('player Bob "Quist"', "Bob 25")(match)
        wire.run(pool)

    assert left_of(pool, "quist") == left_of(pool, "zora") == left_of(pool, "bob") == []


def test_events_added_to_a_match_erased_by_an_older_club_lose_their_text(director, club, pool, table, wire):
    with pool.connection() as db:
        db.execute("INSERT INTO club.erasures SELECT id, 1, true FROM club.tables")
        db.execute("UPDATE club.tables SET has_erased = true")
    table.next_hand("Bob")
    wire.run()

    assert wire.outbox.says == "The club is up to date with this table."
    with pool.connection() as db:
        assert db.execute("SELECT body FROM club.events ORDER BY seq DESC LIMIT 1").fetchone() == ("null",)


def test_values_nested_too_deep_to_search_are_not_stored(director, club, pool, table, wire):
    deep = "[" * 900 + '"Ann"' + "]" * 900
    sent = {"table": "T", "first_seq": 1, "events": [{"seq": 1, "crc": 1, "body": "BODY"}]}
    assert club.post("/club/events", data=json.dumps(sent).replace('"BODY"', deep)).status_code == 200

    tap(director, "/people/erase", name="Ann")
    assert left_of(pool, "ann") == []


def test_a_player_in_an_open_hand_cannot_be_erased(director, playing):
    assert "is playing at Table 7" in text_of(tap(director, "/people/erase", name="Bob"))
    assert "has no player called" in text_of(tap(director, "/people/erase", name="Zoe"))

"""Directing a club: tournaments, calls from tables, corrections that a table agrees to, people and their data."""

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
    """A browser of somebody who has come in."""
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
    """The address of a tournament in which these take part."""
    at = tap(director, "/tournaments", **PLAN | plan).location.removesuffix("/direct")
    tap(director, f"{at}/enter", sides="\n".join(sides))
    return at


def begun(director, *sides: str, **plan: object) -> str:
    """The address of a tournament, its first round drawn."""
    at = entered(director, *sides, **plan)
    tap(director, f"{at}/draw", round=1)
    return at


# --- Tournaments ----------------------------------------------------------------------------------------------


def test_an_evening_is_drawn_counted_from_the_tables_own_hands_and_drawn_on(director, pool, table, wire):
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


def test_two_who_draw_at_once_draw_one_round_at_tables_that_are_there(director, pool, wire):
    at = entered(director, "Ann", "Bob", "Cid", "Dee")
    helpers = [person(pool, "director", f"Eve {number}") for number in range(3)]
    with pool.connection() as db:
        db.execute("UPDATE club.tables SET seen_at = now() - interval '2 days'")

    with ThreadPoolExecutor(3) as taps:
        answers = list(taps.map(lambda client: tap(client, f"{at}/draw", round=1).status_code, helpers))

    assert sorted(answers) == [303, 400, 400]
    games = director.get(f"{at}.json").get_json()["games"]
    assert [game["seat"]["table"] for game in games] == [None, None]


def test_a_typed_result_is_marked_and_the_clock_shows_on_every_page(director, club, pool):
    at = begun(director, "Ann", "Bob")
    first = club.get(f"{at}.json").get_json()["games"][0]["seat"]["sides"][0]
    helper = person(pool, "helper", "Hal")
    assert tap(helper, f"{at}/clock", runs="start").status_code == 303
    assert tap(helper, f"{at}/result", round=1, first=first, points0=300, points1=200).status_code == 303
    assert tap(helper, f"{at}/draw", round=2).status_code == 403

    assert "300 : 200 entered by the director" in text_of(club.get(at))
    for path in ("/", "/standings", "/tournaments", at):
        assert re.search(r"Friday 4[45]:\d\d", text_of(browser(pool).get(path))), path


def test_a_round_drawn_where_no_table_pushes_says_so_and_has_its_cards_all_the_same(director, club):
    at = begun(director, "Ann", "Bob", "Cid", "Dee")

    assert text_of(director.get(f"{at}/direct")).count("No table of the club plays here. Type the points") == 2
    assert "No table of the club" not in text_of(club.get(at))
    assert re.findall(r"<b>(Table \d)</b>", director.get(f"{at}/cards").text) == ["Table 1", "Table 2"]


def test_the_clock_of_a_round_goes_on_at_its_tables_without_the_club(director, pool, table, wire, monkeypatch):
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


def test_names_in_a_spreadsheet_are_no_formulas(director, club):
    at = entered(director, "=1+1", "Bob")

    assert ",'=1+1," in club.get(f"{at}/standings.csv").get_data(as_text=True)


# --- Calls ----------------------------------------------------------------------------------------------------


def test_a_call_stands_on_the_board_until_somebody_comes_and_the_table_hears_of_it(director, pool, table, wire):
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


def test_a_log_that_is_sent_again_as_a_new_table_calls_nobody_anew(director, club, table, wire):
    table.call_director("Ann")
    wire.run()
    tap(director, f"{desk_of(club)}/answered")
    wire.run()
    (table.store.path.parent / "club.json").unlink()
    Wire(table, club, "Table 7 again").run()

    assert "Table 7 again" in text_of(director.get("/"))
    assert "calls the director" not in text_of(director.get("/"))


def test_a_call_that_the_table_takes_back_is_gone(director, table, wire):
    table.call_director("Ann")
    assert not table.call_director("Bob").done
    table.call_director("Bob", is_over=True)
    wire.run()

    assert "calls the director" not in text_of(director.get("/"))


def test_any_phone_at_the_table_calls_by_one_tap_where_there_is_a_club(table):
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
    """A table at which a hand is open, known to the club."""
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
            "takes this out of the record: “Bob 50”",
            Answer.NO,
            "Bob 50",
            "Ann has refused.",
            "asked to remove a play",
        ),
    ],
    ids=["agreed", "refused"],
)
def test_a_correction_counts_once_somebody_at_the_table_has_agreed_and_changes_nothing_where_it_refuses(
    director, club, pool, playing, wire, what, says, answer, then, stage, deed
):
    at, seq, before = desk_of(club), line(playing, "Bob 50"), playing.lines()
    assert tap(director, f"{at}/correct", line=seq, what=what, text="Bob 25").status_code == 303
    assert "The table has not received it yet." in text_of(director.get(f"{at}/desk"))
    wire.run()
    (question,) = playing.state.questions
    assert question.say == f"Director, who directs the club, {says}"
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


def test_a_table_that_is_offline_gets_it_later_and_what_no_longer_applies_is_not_asked(director, pool, playing, wire):
    at, seq = desk_of(director), line(playing, "Bob 50")
    tap(director, f"{at}/correct", line=seq, what="remove")
    playing.rewrite(EventKind.RETRACT, seq, None, "Bob")
    wire.run(pool)

    assert playing.state.questions == ()
    assert "this no longer applies" in text_of(director.get(f"{at}/desk"))


def test_a_play_that_is_lifted_by_the_director_waits_for_a_tap_also_where_everything_counts_at_once(
    director, playing, wire
):
    playing.set_policy("auto", "Ann")
    tap(director, f"{desk_of(director)}/correct", line=line(playing, "Bob 50"), what="remove")
    wire.run()

    assert line(playing, "Bob 50")
    assert len(playing.state.questions) == 1


def test_where_the_program_deals_nothing_can_be_corrected_and_the_director_hears_so(director, pool, table, wire):
    table.start(["side Ann", "side Bob", "hand first Ann"], robots={"Bob": 1})
    wire.run(pool)
    table.receive({"letter": 9, "what": "remove", "by": "Eve", "of": table.state.seq, "text": ""})

    assert table.state.questions == ()
    wire.run()
    assert "has answered by: the companion" in text_of(director.get("/audit"))


def test_a_note_holds_up_no_play(table):
    table.next_hand("Ann")
    table.receive({"letter": 1, "what": "note", "by": "Eve", "of": 0, "text": "Five minutes left."})
    page = text_of(create_app(table, secret=b"x" * 32).test_client().get("/"))

    assert "Five minutes left." in page
    assert "Enter a play" in page
    assert table.enter("Bob roll", "Bob").done


def test_a_note_is_read_once_however_often_it_comes(director, playing, wire):
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
def test_what_the_club_has_not_signed_and_rubbish_are_no_letters(key, answer):
    signed = {"letters": NOTE, "signed": batch.digest("secret", NOTE.encode())}

    assert len(batch.letters(signed, "id.secret")) == len(batch.letters({"letters": NOTE}, None)) == 1
    assert batch.letters(answer, key) == []


def test_where_keys_are_used_letters_come_signed(director, pool, club, table):
    with pool.connection() as db:
        key = keys.make(db, "Table 7")
    wire = Wire(table, club, key=key.text)
    wire.run()
    tap(director, f"{desk_of(club)}/note", text="Hello")
    wire.run()

    assert "Hello" in table.state.questions[0].say


# --- People ---------------------------------------------------------------------------------------------------


def test_every_route_of_the_club_says_who_may_use_it(pool):
    rules = club_service.create_app(pool).url_map.iter_rules()

    assert {rule.endpoint for rule in rules} == set(club_doors.DOORS)


@pytest.mark.parametrize("role", [None, "player", "helper"])
def test_nobody_does_more_than_the_role_allows(pool, club, wire, role):
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


def test_a_lost_phone_is_shut_out_and_the_last_director_stays(director, pool):
    helper = person(pool, "helper", "Hal")
    page = text_of(director.get("/people"))
    assert "Hal Helper" in page
    number = re.search(r"/people/(\d+)/out\"><button[^>]*: Hal", director.get("/people").get_data(as_text=True))[1]
    assert helper.get("/tournaments/1/direct").status_code == 404
    tap(director, f"/people/{number}/out")

    assert helper.get("/tournaments/1/direct").status_code == 401
    own = re.search(r"/people/(\d+)/out\"><button[^>]*Director", director.get("/people").get_data(as_text=True))[1]
    assert "You cannot remove the last director" in text_of(tap(director, f"/people/{own}/remove"))


def test_a_player_takes_along_what_the_club_knows(pool, wire):
    ann = person(pool, "player", "Ann")
    known = ann.get("/me.json").get_json()

    assert known["figures"][0]["points"] == 300
    assert len(known["matches"]) == 1
    assert [one["role"] for one in known["people"]] == ["player"]


def test_an_erased_name_is_nowhere_and_the_scores_stay(director, club, pool, table, wire):
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
    """Every row of the club's database with a name in it, whatever its case, blanks and Unicode form."""
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
    """Events as they are, beside what the program itself writes."""

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
def test_an_erased_name_is_left_nowhere_and_the_table_goes_on(director, club, pool, tmp_path, before):
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
        wire.outbox._delivery = Delivery(1)  # It compares all of its log with the club's.
        wire.run(pool)
        assert wire.outbox.says == "The club is up to date with this table."
        assert left_of(pool, "zora") == []
        assert tables_of(club)[0]["state"]["is_open"]


ZORAS = ("Zora roll", "Bob roll", "Zora 100", "Bob stop > Zora", "Zora roll", "end")


def test_a_full_name_is_erased_with_the_word_that_the_record_has_for_the_player(director, club, pool, tmp_path):
    lines = ["side Zora", "side Bob", 'player Zora "Zora  Quist"', "hand first Zora"]
    with a_table(tmp_path, *lines, plays=ZORAS) as match:
        Wire(match, club).run(pool)
    tap(director, "/people/erase", name="ZORA quist")
    projection.Projector(pool).catch_up()

    assert left_of(pool, "zora") == left_of(pool, "quist") == []
    assert re.search(r"Player-\w{5} 100", text_of(club.get("/")))


def test_a_name_that_an_older_table_spelled_in_two_ways_gets_one_alias(director, club, pool):
    one, other = "Zo\u00eb", "Zoe\u0308"
    set_up(club, f"side {other}", "side Bob", f'player {one} "{one} Quist"')
    projection.Projector(pool).catch_up()

    tap(director, "/people/erase", name=f"{other} Quist")
    projection.Projector(pool).catch_up()

    assert left_of(pool, one) == left_of(pool, "quist") == []
    assert len(set(re.findall(r"Player-\w{5}(?:-\d)?", everything(pool)))) == 1


def test_a_name_goes_from_a_match_of_an_edition_that_the_club_does_not_know(director, club, pool):
    set_up(club, "edition of-elsewhere", "side Zora", "side Bob", "hand first Zora")
    projection.Projector(pool).catch_up()

    page = text_of(tap(director, "/people/erase", name="Zora"))
    assert "Matches: 1, lines of logs: 1," in page
    assert left_of(pool, "zora") == []


def test_a_name_goes_from_an_edition_of_the_tables_own_and_its_match_is_still_judged(director, club, pool, tmp_path):
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


def test_the_names_of_tables_and_all_that_the_clubs_people_have_done_are_searched_too(director, club, pool, tmp_path):
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


def test_names_that_only_begin_alike_and_others_full_names_stay_as_they_are(director, club, pool, tmp_path):
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
def test_a_name_that_is_a_word_of_the_record_is_erased_and_no_card_is_changed(director, club, pool, tmp_path, name):
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


def test_two_players_whose_names_differ_in_capitals_alone_stay_two(director, club, pool, tmp_path):
    plays = ("Zora roll", "zora roll", "Zora 100", "zora 75", "end")
    with a_table(tmp_path, "side Zora", "side zora", "hand first Zora", plays=plays) as match:
        Wire(match, club).run(pool)
    tap(director, "/people/erase", name="Zora")
    projection.Projector(pool).catch_up()

    assert left_of(pool, "zora") == []
    assert [side["total"] for side in tables_of(club)[0]["state"]["sides"]] == [100, 75]


def test_a_log_that_is_sent_again_as_a_new_table_does_not_bring_an_erased_name_back(director, club, pool, tmp_path):
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
        assert left_of(pool, "zora")  # Who plays again is known again.


def test_a_player_who_is_called_by_an_erased_name_later_in_an_old_match_is_renamed_in_all_of_it(
    director, club, pool, tmp_path
):
    with a_table(tmp_path, "side Zora", "side Bob", "hand first Zora", plays=ZORAS) as match:
        written('player Zora "Quist"')(match)
        wire = Wire(match, club)
        wire.run(pool)
        tap(director, "/people/erase", name="Quist")
        assert left_of(pool, "zora") == []
        written('player Bob "Quist"', "Bob 25")(match)
        wire.run(pool)

    assert left_of(pool, "quist") == left_of(pool, "zora") == left_of(pool, "bob") == []


def test_what_is_added_to_a_match_whose_name_an_older_club_has_erased_is_kept_without_its_words(
    director, club, pool, table, wire
):
    with pool.connection() as db:
        db.execute("INSERT INTO club.erasures SELECT id, 1, true FROM club.tables")
        db.execute("UPDATE club.tables SET has_erased = true")
    table.next_hand("Bob")
    wire.run()

    assert wire.outbox.says == "The club is up to date with this table."
    with pool.connection() as db:
        assert db.execute("SELECT body FROM club.events ORDER BY seq DESC LIMIT 1").fetchone() == ("null",)


def test_values_nested_too_deep_to_be_searched_are_not_kept(director, club, pool, table, wire):
    deep = "[" * 900 + '"Ann"' + "]" * 900
    sent = {"table": "T", "first_seq": 1, "events": [{"seq": 1, "crc": 1, "body": "BODY"}]}
    assert club.post("/club/events", data=json.dumps(sent).replace('"BODY"', deep)).status_code == 200

    tap(director, "/people/erase", name="Ann")
    assert left_of(pool, "ann") == []


def test_who_is_playing_just_now_is_not_erased(director, playing):
    assert "is playing at Table 7" in text_of(tap(director, "/people/erase", name="Bob"))
    assert "has no player called" in text_of(tap(director, "/people/erase", name="Zoe"))

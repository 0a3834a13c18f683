"""The club stores pushed events completely and once, judges them by replay, and shows the results."""

import contextlib
import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor

import club_database
import pytest
from client import TWO, tap, text_of

from companion.common.errors import Problem
from companion.match.match import Match
from companion.rules.editions import edition
from companion.storage.data_folder import store_path
from companion.storage.event_store import Store

pytestmark = pytest.mark.skipif(club_database.why_not() is not None, reason=club_database.why_not() or "")
psycopg = pytest.importorskip("psycopg", reason="the club's driver is not installed: pip install '.[club]'")

from companion.club import batch, club_service, keys, people, postgres, projection  # noqa: E402
from companion.club.outbox import Address, Delivery, Outbox  # noqa: E402

PLAYED = ("Ann roll", "Bob roll", "Ann 100", "Bob 75", "Ann 200", "Bob stop > Ann", "Ann end-of-limit", "end")


@pytest.fixture(scope="module")
def server():
    with club_database.running() as started:
        yield started


@pytest.fixture
def url(server):
    return server.new()


@pytest.fixture
def pool(url):
    with postgres.opened(url) as opened:
        yield opened


@pytest.fixture
def club(pool):
    return browser(pool)


def events(first: int, last: int, mark: int = 0) -> list[dict]:
    return [{"seq": seq, "crc": seq * 7 + mark, "body": {"text": f"Ann {seq}"}} for seq in range(first, last + 1)]


def push(club, first: int, last: int, table: str = "T7", *, mark: int = 0, **more):
    sent = {"table": table, "first_seq": first, "events": events(first, last, mark)}
    answer = club.post("/club/events", json=sent | more)
    return answer.status_code, answer.get_json()


def stored(pool, table: str = "T7") -> list[tuple]:
    with pool.connection() as db:
        return db.execute("SELECT seq, crc, body FROM club.events WHERE table_id = %s ORDER BY seq", [table]).fetchall()


# --- What tables push -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("here", "sent", "answer", "after"),
    [
        pytest.param(11, events(1, 11), {"acknowledged": 11}, 11, id="twice"),
        pytest.param(11, events(8, 15), {"acknowledged": 15}, 15, id="one that overlaps"),
        pytest.param(0, events(120, 131), {"missing_from": 1}, 0, id="a gap before the first"),
        pytest.param(94, events(120, 131), {"missing_from": 95}, 94, id="a gap"),
        pytest.param(0, [*events(1, 3), *events(5, 6)], {"missing_from": 4}, 0, id="a gap within"),
        pytest.param(0, [*events(3, 5)[::-1], *events(1, 2) * 2], {"acknowledged": 5}, 5, id="in any order, and twice"),
        pytest.param(90, events(88, 95, mark=1), {"fork_at": 88}, 90, id="another course"),
        pytest.param(3, [{**events(3, 3)[0], "body": {"text": "Ann roll"}}], {"fork_at": 3}, 3, id="another body"),
    ],
)
def test_new_events_are_stored_once_and_gaps_and_forks_are_answered_with_their_place(
    club, pool, here, sent, answer, after
):
    if here:
        push(club, 1, here)
    first = min(event["seq"] for event in sent)

    said = club.post("/club/events", json={"table": "T7", "first_seq": first, "events": sent})

    assert (said.status_code, said.get_json()) == (200 if "acknowledged" in answer else 409, answer)
    assert [row[0] for row in stored(pool)] == list(range(1, after + 1))


def test_a_batch_pushed_twice_at_once_is_stored_once(pool):
    app = club_service.create_app(pool)

    with ThreadPoolExecutor(8) as phones:
        answers = list(phones.map(lambda _number: push(app.test_client(), 1, 40), range(8)))

    assert answers == [(200, {"acknowledged": 40})] * 8
    assert len(stored(pool)) == 40


def test_two_logs_with_the_same_first_event_are_shown_as_copies(club):
    push(club, 1, 3, "T7", name="Table 7")
    push(club, 1, 3, "T8", name="Table 8")

    assert "It starts with the same entries as Table 7" in text_of(club.get("/"))


OF_A_COMPANION = {"match": 1, "at_s": 0.0, "kind": "setup", "body": "{}"}
EMPTY = {"table": "T7", "first_seq": 1, "events": []}
NO_BATCHES = {
    "rubbish": (b"rubbish", "cannot be read as JSON"),
    "too deep": (b"[" * 100_000, "cannot be read as JSON"),
    "no number": (b'{"table": "T7", "first_seq": NaN, "events": []}', "cannot be read as JSON"),
    "no events": ({"events": 3}, "it needs"),
    "no table": ({"table": ""}, "1 to 64"),
    "event 0": ({"first_seq": 0}, "event numbers start at 1"),
    "a text for the last number": ({"last": ""}, "event numbers start at 1"),
    "a list for the last number": ({"last": []}, "event numbers start at 1"),
    "no event": ({"events": [1]}, "each needs"),
    "an old schema": ({"schema": 0}, "another version"),
    "a new schema": ({"schema": 9}, "another version"),
    "another checksum": ({"events": [{"seq": 1, "crc": 1, "body": OF_A_COMPANION}]}, "damaged in transit"),
    "10 MB": (b" " * 10_000_000, "at most 1 MB"),
}


@pytest.mark.parametrize("name", NO_BATCHES)
def test_an_invalid_batch_is_refused_with_one_sentence(club, pool, name):
    sent, says = NO_BATCHES[name]

    answer = club.post("/club/events", data=sent if isinstance(sent, bytes) else json.dumps(EMPTY | sent))

    assert answer.status_code == (413 if "1 MB" in says else 400)
    assert says in answer.get_json()["say"]
    assert stored(pool) == []


@pytest.mark.parametrize("at_s", [10**400, float("inf"), True, "0", None])
def test_an_event_with_an_impossible_time_is_not_a_companions(at_s):
    assert batch.row_of(1, OF_A_COMPANION) is not None
    assert batch.row_of(1, OF_A_COMPANION | {"at_s": at_s}) is None


# --- The keys of dealt hands ----------------------------------------------------------------------------------


def dealt(match: Match) -> str:
    """Begin a match without cards; return the secret key of its first hand."""
    match.start(TWO, robots={})
    return next(entry.written.deal for entry in match.state.entries if entry.written.deal)


def everything(pool) -> str:
    """Return the content of the club's database as text."""
    with pool.connection() as db:
        names = db.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'club'").fetchall()
        rows = [db.execute(f"SELECT row::text FROM club.{name} row".encode()).fetchall() for (name,) in names]
    return "\n".join(text for found in rows for (text,) in found)


def test_a_deal_key_never_leaves_the_table_but_its_hash_does(club, pool, table):
    wire, sent = Wire(table, club), []
    post = wire.outbox._post
    wire.outbox._post = lambda url, body, headers: sent.append(body.decode()) or post(url, body, headers)
    keys_dealt = [dealt(table)]
    wire.run(pool)
    table.enter("end", "Ann")
    table.undo("Ann")
    keys_dealt.append(dealt(table))
    wire.run(pool)

    assert wire.outbox.says == "The club is up to date with this table."
    assert not [key for key in keys_dealt if key in everything(pool) or key in "".join(sent)]
    assert all(hashlib.sha256(key.encode()).hexdigest() in everything(pool) for key in keys_dealt)


def in_clear(match: Match) -> str:
    """Return a table's log as sent by an older program, including deal keys."""
    rows = [(row, crc) for row, crc in match.store.rows(1, 1000)]
    sent = [{"seq": row[0], "crc": crc, "body": dict(zip(batch._BODY, row[1:], strict=True))} for row, crc in rows]
    return json.dumps(
        {"table": "T7", "name": "Table 7", "first_seq": 1, "events": sent, "last": len(rows), "schema": 1}
    )


def test_a_deal_key_from_an_older_table_is_accepted_but_not_stored(club, pool, table):
    key = dealt(table)
    assert key in in_clear(table)

    for _again in range(2):
        answer = club.post("/club/events", data=in_clear(table)).get_json()
        assert answer == {"acknowledged": table.state.seq}
    assert key not in everything(pool)


def test_an_updated_table_continues_where_it_was(club, pool, table):
    dealt(table)
    club.post("/club/events", data=in_clear(table))
    (table.store.path.parent / "club.json").write_text('{"table": "T7"}')
    wire = Wire(table, club)
    wire.outbox._delivery = Delivery(1)  # Forces a comparison of every event.
    wire.run(pool)

    assert wire.outbox.says == "The club is up to date with this table."
    assert tables_of(club)[0]["state"]["is_open"]


# --- Keys -----------------------------------------------------------------------------------------------------


def signed(club, key: str, first: int = 1, last: int = 3, scheme: str = batch.SCHEME):
    body = json.dumps({"table": "T7", "first_seq": first, "events": events(first, last)}).encode()
    header = batch.signature(key, body) if scheme == batch.SCHEME else f"{scheme} {key}"
    answer = club.post("/club/events", data=body, headers={"Authorization": header})
    return answer.status_code, answer.get_json()


def made(pool, name: str = "Table 7") -> keys.Key:
    with pool.connection() as db:
        return keys.make(db, name)


def test_unsigned_batches_are_refused_after_the_first_key_or_with_require_keys(club, pool):
    assert push(club, 1, 3)[0] == 200
    assert push(club_service.create_app(pool, keys_needed=True).test_client(), 1, 3)[0] == 401
    key = made(pool)

    assert push(club, 1, 3)[0] == 401
    assert signed(club, key.text) == (200, {"acknowledged": 3})
    assert signed(club, key.text, scheme="Bearer") == (200, {"acknowledged": 3})


@pytest.mark.parametrize(
    "wrong", ["Bearer nobody.secret", "Bearer {0.id}.wrong", "Bearer {0.id}.", "a signature of another body"]
)
def test_a_wrong_key_is_refused_with_a_sentence(club, pool, wrong):
    key = made(pool)
    header = wrong.format(key) if wrong.startswith("Bearer") else batch.signature(key.text, b"another body")

    answer = club.post("/club/events", json=EMPTY, headers={"Authorization": header})

    assert answer.status_code == 401
    assert answer.get_json()["say"] == "The club does not know this key: copy the whole key from the director’s page."


def test_a_revoked_key_is_refused_and_another_key_can_take_over_its_table(club, pool):
    first, second = made(pool), made(pool)
    signed(club, first.text)

    assert signed(club, second.text)[0] == 403
    with pool.connection() as db:
        keys.revoke(db, first.id)
    assert signed(club, first.text) == (401, {"say": "The director has revoked this key: ask for another."})
    assert signed(club, second.text, 4, 5) == (200, {"acknowledged": 5})


# --- What is derived ------------------------------------------------------------------------------------------


@contextlib.contextmanager
def a_table(folder, *lines: str, plays=PLAYED, **how):
    """A table where a hand is played; `lines` replace the setup of Ann and Bob."""
    with contextlib.closing(Store.open(store_path(folder), **how)) as store:
        match = Match(store)
        match.start(lines or TWO)
        for play in plays:
            match.enter(play, "Ann")
        yield match


@pytest.fixture
def table(tmp_path):
    with a_table(tmp_path) as match:
        yield match


class Wire:
    """The connection between a table and its club; records the requests."""

    def __init__(self, match: Match, client, name: str = "Table 7", key: str | None = None) -> None:
        self.client, self.answers = client, []
        self.outbox = Outbox(match.store, Address("http://club", name, key), receive=match.receive, post=self.post)

    def post(self, url: str, body: bytes, headers: dict) -> tuple[int, dict]:
        answer = self.client.post(url.removeprefix("http://club"), data=body, headers=headers)
        self.answers.append(answer.get_json())
        return answer.status_code, answer.get_json()

    def run(self, pool=None) -> None:
        """Push everything and receive the answers; with `pool`, also judge it."""
        for _ in range(4):
            self.outbox._quiet_s = 60
            self.outbox._step()
        if pool is not None:
            projection.Projector(pool).catch_up()


def tables_of(club) -> list[dict]:
    return club.get("/club/tables.json").get_json()["tables"]


def table_id(club) -> str:
    return tables_of(club)[0]["id"]


def derived(pool) -> list[list]:
    with pool.connection() as db:
        return [db.execute(f"SELECT * FROM club.{name} ORDER BY 1, 2, 3").fetchall() for name in ("matches", "hands")]


def test_the_club_shows_the_same_state_as_the_tables_own_referee(club, pool, table):
    wire = Wire(table, club)
    wire.run(pool)

    assert wire.outbox.says == "The club is up to date with this table."
    assert {side["name"]: side["total"] for side in tables_of(club)[0]["state"]["sides"]} == table.state.game.totals
    assert "Table 7 Ann 300" in text_of(club.get("/"))
    assert "Distance" in text_of(club.get(f"/tables/{table_id(club)}"))
    assert "1. Ann 0 1 1 300 300" in text_of(club.get("/standings"))


def test_the_boards_show_a_match_that_was_continued(club, pool, table):
    first = table.state.match
    table.start(["side Cid", "side Dee", "hand first Cid"])
    table.go_on_with(first, "Ann")
    Wire(table, club).run(pool)

    assert [side["name"] for side in tables_of(club)[0]["state"]["sides"]] == ["Ann", "Bob"]
    sheets = text_of(club.get(f"/tables/{table_id(club)}"))
    assert sheets.index("Ann – Bob") < sheets.index("Cid – Dee")


def test_the_clubs_log_equals_the_tables_log(club, pool, table):
    Wire(table, club).run()

    rows = [(seq, crc, json.loads(body)) for (seq, crc, body) in stored(pool, table_id(club))]
    ours = table.store.rows(1, 100)
    assert [(seq, crc, *(body[field] for field in ("match", "at_s", "kind", "body"))) for seq, crc, body in rows] == [
        (row[0], str(crc), *row[1:]) for row, crc in ours
    ]


@pytest.mark.parametrize("clock_s", [0.0, 7.9e9], ids=["1970", "2220"])
def test_a_table_with_a_wrong_clock_is_accepted_and_judged(club, pool, tmp_path, clock_s):
    with a_table(tmp_path, clock=lambda: clock_s) as match:
        Wire(match, club).run(pool)

    assert "Table 7 Ann 300" in text_of(club.get("/"))
    assert club.get(f"/tables/{table_id(club)}").status_code == 200


def test_incremental_results_equal_a_rebuild(club, pool, table):
    projector, wire = projection.Projector(pool), Wire(table, club)
    wire.run()
    projector.catch_up()
    table.next_hand("Ann")
    for play in ("Bob roll", "Ann roll", "Bob 50", "end"):
        table.enter(play, "Ann")
    table.undo("Ann")
    table.sit("Bob", "Bob", "Bob the Builder")
    table.correct(next(e.seq for e in table.state.entries if e.written.text == "Bob 75"), "Bob 25", "Ann")
    wire.run()
    projector.catch_up()
    before = derived(pool)

    assert projection.rebuild(pool) == 1
    assert derived(pool) == before
    assert before[1]


OWN = """name = "ours"
parent = "classic"
title = "Ours at table 7"
sheet = "our own sheet"
about = "Longer for two."
counts-verified = false

[setting-up.target-km]
2 = {target}
"""


def test_a_tables_own_edition_is_judged_by_its_own_rules(club, pool, tmp_path):
    for name, target in (("Table 7", 500), ("Table 8", 300)):  # two of the same name
        (tmp_path / name / "editions").mkdir(parents=True)
        (tmp_path / name / "editions/ours.toml").write_text(OWN.format(target=target))
        assert edition.keep_own_editions(tmp_path / name / "editions") == ()
        with a_table(tmp_path / name, "Edition ours", *TWO) as match:
            Wire(match, club, name).run()
        edition.keep_own_editions(tmp_path / "none")
    projection.Projector(pool).catch_up()

    there = {one["name"]: (one["state"]["edition"], one["state"]["target"]) for one in tables_of(club)}
    assert there == {"Table 7": ("ours", 500), "Table 8": ("ours", 300)}
    assert all("Ours at table 7" in text_of(club.get(f"/tables/{one['id']}")) for one in tables_of(club))
    assert projection.rebuild(pool) == 2


def set_up(club, *lines: str) -> None:
    """Push a table with only the setup of a match."""
    body = {"match": 1, "at_s": 0.0, "kind": "setup", "body": json.dumps({"lines": lines}, separators=(",", ":"))}
    crc = batch.checksum((1, *body.values()))
    club.post("/club/events", json={"table": "T", "first_seq": 1, "events": [{"seq": 1, "crc": crc, "body": body}]})


def test_a_match_of_an_unknown_edition_is_not_judged(club, pool):
    set_up(club, "edition of-elsewhere", *TWO)
    projection.Projector(pool).catch_up()

    assert tables_of(club)[0]["state"] is None


def test_a_log_that_cannot_be_judged_does_not_delay_others(club, pool, table):
    set_up(club, "edition of-elsewhere", "side \0")
    push(club, 1, 3, "of another program")
    Wire(table, club).run(pool)

    assert "Ann 300" in text_of(club.get("/"))


def test_results_that_cannot_be_stored_do_not_delay_other_tables(club, pool, table, monkeypatch):
    set_up(club, "side Zoe", "side Bob", "hand first Zoe")
    write = projection._as_json
    monkeypatch.setattr(projection, "_as_json", lambda value: "no JSON" if "Zoe" in str(value) else write(value))
    Wire(table, club).run(pool)

    assert "Ann 300" in text_of(club.get("/"))
    assert "companion_club_events_to_judge 0" in club.get("/metrics").get_data(as_text=True)


# --- The director ---------------------------------------------------------------------------------------------


def browser(pool):
    """A browser without a session, at a new process of the club."""
    return club_service.create_app(pool).test_client()


def let_in(client, pool, person: int | None = None):
    """A browser that is signed in by a link, as the director if no person is named."""
    with pool.connection() as db:
        token = people.new_link(db, person)
    assert "This link signs one browser in." in text_of(client.get(f"/director?once={token}"))
    assert tap(client, "/director", once=token).status_code == 303
    return client


@pytest.fixture
def director(club, pool):
    return let_in(club, pool)


def test_a_link_signs_in_one_browser_once(pool):
    with pool.connection() as db:
        token = people.new_link(db)
    first, second = browser(pool), browser(pool)

    assert [tap(one, "/director", once=token).status_code for one in (first, second)] == [303, 400]
    assert (first.get("/keys").status_code, (shut := second.get("/keys")).status_code) == (200, 401)
    assert "open your personal link, or ask the director for one" in text_of(shut)


def test_the_director_makes_a_key_sees_its_command_and_revokes_it(director, pool, monkeypatch):
    # The table does not run the script that started the club.
    monkeypatch.setenv("COMPANION_CALLED", "deploy/club")
    at = tap(director, "/keys", name="Table 7").location
    page = text_of(director.get(at))

    line = re.search(r"companion up --club http://(?!localhost)\S+ --name 'Table 7' --key (\S+)", page)
    assert line is not None
    assert signed(director, line[1])[0] == 200
    tap(director, f"{at}/revoke")
    assert signed(director, line[1])[0] == 401


def test_only_the_director_can_hide_a_forked_table(director, club, pool):
    push(club, 1, 3)
    push(club, 3, 4, mark=1)
    stranger = browser(pool)

    assert tap(stranger, "/tables/T7/settle", answer="hide").status_code == 401
    assert "T7 Its record differs from the club’s, from entry 3 or earlier" in text_of(stranger.get("/"))
    tap(director, "/tables/T7/settle", answer="hide")
    assert "T7" not in text_of(director.get("/"))
    assert stranger.get("/club/tables.json").get_json() == {"tables": []}


@pytest.mark.parametrize("path", ["/keys", "/director", "/director/leave", "/language"])
def test_a_cross_site_request_changes_nothing(club, path):
    assert club.post(path, headers={"Origin": "http://evil.example"}).status_code == 403


@pytest.mark.parametrize(("spoken", "standings"), [("fr", "Classement"), ("pl", "Klasyfikacja")])
def test_pages_use_the_browsers_language(club, spoken, standings):
    assert standings in text_of(club.get("/", headers={"Accept-Language": spoken}))


def test_every_answer_has_security_headers(club):
    for path in ("/", "/standings", "/director", "/keys", "/nowhere", "/health"):
        assert "default-src 'none'" in club.get(path).headers["Content-Security-Policy"], path


# --- The database ---------------------------------------------------------------------------------------------


def test_migrating_twice_and_at_once_changes_nothing(url):
    with ThreadPoolExecutor(4) as starting:
        for opened in starting.map(lambda _number: postgres.opened(url), range(4)):
            opened.close()

    with psycopg.connect(url) as db:
        assert db.execute("SELECT array_agg(number ORDER BY number) FROM club.migrations").fetchone() == (
            list(range(1, len(postgres.migrations()) + 1)),
        )


def test_the_database_of_an_older_club_is_migrated_with_all_its_data(url):
    older(url, 1)
    with psycopg.connect(url) as db:
        db.execute("INSERT INTO club.tables (id, name, last) VALUES ('T7', 'Table 7', 1)")
        db.execute("""INSERT INTO club.events VALUES ('T7', 1, '7', NULL, '{"text":"Ann 1"}')""")

    with postgres.opened(url) as pool:
        assert push(browser(pool), 1, 3) == (200, {"acknowledged": 3})
        assert [row[0] for row in stored(pool)] == [1, 2, 3]


def older(url: str, version: int) -> None:
    """Create a database with an older club's schema."""
    with psycopg.connect(url) as db:
        db.execute("CREATE SCHEMA club")
        db.execute("CREATE TABLE club.migrations (number integer PRIMARY KEY, at timestamptz DEFAULT now())")
        for number, step in enumerate(postgres.migrations()[:version], start=1):
            db.execute(step.encode())
            db.execute("INSERT INTO club.migrations VALUES (%s)", [number])
        db.execute("INSERT INTO club.settings VALUES ('secret', 'x')")


def test_a_migration_removes_deal_keys_and_tables_continue(url, table):
    keys_dealt = [dealt(table), dealt(table)]
    older(url, 4)
    with psycopg.connect(url) as db:
        db.execute("INSERT INTO club.tables (id, name, last) VALUES ('T7', 'Table 7', %s)", [table.state.seq])
        db.execute("INSERT INTO club.judged (table_id) VALUES ('T7')")
        for event in json.loads(in_clear(table))["events"]:
            # In the second match a name was erased.
            is_erased = event["body"]["match"] == table.state.match
            body = json.dumps(event["body"], separators=(",", ":")).replace(
                "Ann", "Player-abcde" if is_erased else "Ann"
            )
            row = ["T7", event["seq"], str(event["crc"]), event["body"]["match"], body, int(is_erased)]
            db.execute("INSERT INTO club.events VALUES (%s, %s, %s, %s, %s, %s)", row)

    with postgres.opened(url) as pool:
        assert not [key for key in keys_dealt if key in everything(pool)]
        answers = [browser(pool).post("/club/events", data=in_clear(table)).get_json() for _again in range(2)]
        assert answers == [{"acknowledged": table.state.seq}] * 2
        other = json.loads(in_clear(table))
        other["events"][0] |= {"body": {"another": "course"}}
        assert browser(pool).post("/club/events", data=json.dumps(other)).get_json() == {"fork_at": 1}


def test_a_newer_database_is_not_changed(url, pool):
    with pool.connection() as db:
        db.execute("INSERT INTO club.migrations (number) VALUES (99)")

    with pytest.raises(Problem, match="newer version"):
        postgres.opened(url)


def test_a_missing_right_to_create_tables_is_reported_in_a_sentence(server, url):
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CREATE ROLE guest LOGIN")

    with pytest.raises(Problem, match="GRANT CREATE"):
        postgres.opened(url.replace("postgres@", "guest@"))


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("postgresql://me:secret@127.0.0.1:1/club", "127.0.0.1/club cannot be reached"),
        ("nonsense", "no address of a database"),
        ("postgresql://me:my@secret@127.0.0.1:1/club", "no address of a database"),
        ("postgresql://me:my/secret@127.0.0.1:1/club", "no address of a database"),
    ],
)
def test_a_missing_database_is_reported_without_its_password(address, says):
    with pytest.raises(Problem, match=re.escape(says)) as raised:
        postgres.opened(address)

    assert "secret" not in str(raised.value)


def test_a_full_disk_is_logged_and_loses_nothing(club, pool, caplog):
    full = "BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END"
    with pool.connection() as db:
        db.execute(f"CREATE FUNCTION club.full() RETURNS trigger LANGUAGE plpgsql AS $${full}$$".encode())
        db.execute("CREATE TRIGGER disk BEFORE INSERT ON club.events EXECUTE FUNCTION club.full()")
    code, answer = push(club, 1, 3)

    assert (code, stored(pool)) == (503, [])
    assert "is full: free some space on its disk. Nothing is lost: the tables will send again." in answer["say"]
    assert "is full: free some space on its disk" in caplog.text
    with pool.connection() as db:
        db.execute("DROP TRIGGER disk ON club.events")
    assert push(club, 1, 3) == (200, {"acknowledged": 3})


def test_tables_hear_that_the_database_is_down_and_are_accepted_again_later(tmp_path):
    with club_database.running() as server, postgres.opened(server.new()) as pool:
        club = browser(pool)
        push(club, 1, 3)
        server.stop()
        away = push(club, 4, 5)
        page, health, metrics = club.get("/"), club.get("/health"), club.get("/metrics")
        server.start()

        assert away[0] == 503
        assert "check that PostgreSQL is running" in away[1]["say"]
        assert (page.status_code, health.status_code) == (503, 503)
        assert "companion_club_up 0" in metrics.get_data(as_text=True)
        assert push(club, 4, 5) == (200, {"acknowledged": 5})
        assert club.get("/health").get_json() == {"ok": True, "tables": 1}
        assert "companion_club_events 5\n" in club.get("/metrics").get_data(as_text=True)

"""The table's outbox: it never waits, retries everything, and never merges a fork silently."""

import json
import re
import socket
import ssl
import sys
import threading
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from client import played, text_of

from companion.app.cli import companion
from companion.club import batch
from companion.club.outbox import LONGEST_PAUSE_S, LOOK_S, Address, Outbox, Trouble, _object, _posted
from companion.common.errors import Problem
from companion.pages import create_app
from companion.pages.server.secure_port import certify
from companion.storage.data_folder import store_path
from companion.storage.event_store import NewEvent, Store

AT = "http://club.example"


class Club:
    """A club in memory, which may be offline."""

    def __init__(self) -> None:
        self.logs: dict[str, list[tuple]] = {}
        self.is_away = False
        self.sizes: list[int] = []

    def post(self, url: str, body: bytes, headers: dict) -> tuple[int, dict]:
        if self.is_away:
            raise OSError("no route")
        sent = json.loads(body)
        self.sizes.append(len(sent["events"]))
        log = self.logs.setdefault(sent["table"], [])
        for event in sent["events"]:
            row = (event["seq"], event["crc"], json.dumps(event["body"]))
            if event["seq"] > len(log) + 1:
                return 409, {"missing_from": len(log) + 1}
            if event["seq"] <= len(log) and log[event["seq"] - 1] != row:
                return 409, {"fork_at": event["seq"]}
            log[event["seq"] - 1 :] = [row, *log[event["seq"] :]]
        return 200, {"acknowledged": len(log)}


@pytest.fixture
def club():
    return Club()


def fill(store: Store, lines: int) -> None:
    """Write a match of this many events."""
    match = store.append(None, NewEvent("setup", {"lines": ["side Ann", "side Bob"]}))[0].match
    add(store, lines - 1, match)


def add(store: Store, lines: int, match: int = 1) -> None:
    if lines:
        store.append(match, *(NewEvent("line", {"text": f"Ann {number}"}) for number in range(lines)))


@contextmanager
def copied(folder: Path, kept: str, lines: int):
    """Copy a log as it was after some events, with the table's ID."""
    folder.mkdir()
    (folder / "club.json").write_text(kept)
    with closing(Store.open(store_path(folder), clock=lambda: 1_700_000_000.0)) as store:
        fill(store, lines)
        store._clock = lambda: 1_700_000_099.0
        yield store


def outbox(store: Store, club: Club, chance: float = 0.0) -> Outbox:
    return Outbox(store, Address(AT, "Table 7"), post=club.post, chance=lambda: chance)


def run(box: Outbox, steps: int = 30) -> Outbox:
    for _ in range(steps):
        try:
            box._step()
        except OSError:
            box._in_trouble(Trouble.SILENT)
    return box


def test_an_answer_that_is_no_json_object_is_ignored():
    assert [_object(answer) for answer in (b"", b"[1]", b"[" * 65536, b'{"acknowledged": 1}')] == [
        {}, {}, {}, {"acknowledged": 1},
    ]  # fmt: skip


def test_the_log_is_sent_in_small_batches_then_only_new_events(store, club):
    fill(store, 300)
    box = run(outbox(store, club))
    (log,) = club.logs.values()

    assert (len(log), box.behind, box.says) == (300, 0, "The club is up to date with this table.")
    add(store, 1)
    club.sizes.clear()
    run(box, 1)
    assert club.sizes == [2]


def test_after_a_restart_it_continues_where_the_clubs_copy_ends(store, club):
    fill(store, 100)
    run(outbox(store, club))
    add(store, 5)
    club.sizes.clear()

    box = run(outbox(store, club), 3)

    assert box.behind == 0
    assert sum(club.sizes) == 2 + 6


def test_a_club_that_has_lost_events_gets_them_again(store, club):
    fill(store, 100)
    box = run(outbox(store, club))
    (log,) = club.logs.values()
    del log[40:]

    add(store, 1)
    run(box)

    assert len(log) == 101


def test_pauses_grow_up_to_a_limit_while_the_club_is_silent(store, club):
    fill(store, 3)
    club.is_away = True
    box = outbox(store, club)

    pauses = [box._in_trouble(Trouble.SILENT) for _ in range(6)]

    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE_S
    box._last = store.last
    assert box.says == "The club does not answer. 3 entries will be sent when it does."
    club.is_away = False
    assert run(box).says == "The club is up to date with this table."


@pytest.mark.parametrize("kept", ["no JSON", "[" * 100_000])
def test_an_unreadable_id_file_is_reported(store, tmp_path, club, kept):
    fill(store, 3)
    (tmp_path / "club.json").write_text(kept)

    with pytest.raises(Problem, match=r"club\.json cannot be read"):
        run(outbox(store, club), 1)


def test_jitter_shortens_a_pause_by_up_to_half(store, club):
    fill(store, 3)

    assert outbox(store, club, 1.0)._in_trouble(Trouble.SILENT) * 2 == outbox(store, club)._in_trouble(Trouble.SILENT)


@pytest.mark.parametrize("played_on", [0, 5, 49, 50, 51, 200])
def test_a_table_restored_from_a_backup_is_detected_however_far_it_continued(store, tmp_path, club, played_on):
    fill(store, 100)
    run(outbox(store, club))
    (table,) = club.logs
    with copied(tmp_path / "after", json.dumps({"table": table}), 50) as restored:
        add(restored, played_on)

        box = run(outbox(restored, club))

    assert box.is_forked
    assert "Nothing is sent until you decide" in box.says
    assert len(club.logs[table]) == 100


def test_two_copies_of_one_table_are_detected(store, tmp_path, club):
    fill(store, 20)
    one = run(outbox(store, club))
    with copied(tmp_path / "copy", (tmp_path / "club.json").read_text(), 20) as second:
        other = run(outbox(second, club), 3)

        add(store, 1)
        run(one, 2)
        add(second, 2)
        run(other, 2)

    assert (one.is_forked, other.is_forked) == (False, True)


def test_a_forked_table_can_continue_as_a_new_one_with_its_whole_log(store, club):
    fill(store, 20)
    box = run(outbox(store, club))
    (old,) = club.logs
    club.logs[old][19] = (20, 1, "{}")
    add(store, 1)
    run(box)
    assert box.is_forked

    box.begin_anew()
    run(box)

    assert sorted(len(log) for log in club.logs.values()) == [20, 21]
    assert run(outbox(store, club)).behind == 0


def test_events_lost_by_a_damaged_disk_are_sent_as_lost(store, club):
    fill(store, 20)
    store._db.execute("DELETE FROM event WHERE seq IN (7, 8)")

    box = run(outbox(store, club))

    (log,) = club.logs.values()
    assert (len(log), box.behind) == (20, 0)
    assert log[6] == (7, 0, "null")


def test_a_refusal_shows_the_clubs_reason(store):
    fill(store, 3)
    said = "The director has revoked this key: ask for another."
    box = Outbox(store, Address(AT, "Table 7", "ab.cd"), post=lambda *_sent: (401, {"say": said}))

    box._step()

    assert box.says == f"The club rejects what this table sends: {said}"


def test_a_batch_is_signed_with_the_tables_key(store, club):
    seen = []
    fill(store, 3)
    box = Outbox(store, Address(AT, "Table 7", "ab.cd"), post=lambda _u, b, h: seen.append((b, h)) or (200, {}))

    box._step()

    ((body, headers),) = seen
    assert headers["Authorization"] == f"Companion ab:{batch.digest('cd', body)}"


@pytest.mark.parametrize("key", ["", " ", "clé", "a\nb"])
def test_what_is_no_key_gets_a_sentence(key):
    with pytest.raises(Problem, match="not a club key"):
        batch.signature(key, b"")


def test_nothing_is_sent_to_a_club_with_an_untrusted_certificate(tmp_path):
    certify(tmp_path / "own.pem", ("127.0.0.1",))
    trusts = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trusts.load_cert_chain(tmp_path / "own.pem")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        heard = []

        def answer() -> None:
            with suppress(OSError), trusts.wrap_socket(server.accept()[0], server_side=True) as line:
                heard.append(line.recv(100))

        club = threading.Thread(target=answer)
        club.start()
        with pytest.raises(Problem, match="Its certificate is not valid for this address"):
            _posted(f"https://127.0.0.1:{server.getsockname()[1]}/club/events", b"{}", {})
        club.join()

    assert heard == []


def test_an_idle_table_reports_regularly(store, club):
    fill(store, 3)
    box = run(outbox(store, club))
    club.sizes.clear()

    assert box._step() == LOOK_S
    box._quiet_s = 31.0
    box._step()

    assert club.sizes == [1]


@pytest.mark.parametrize("url", ["club.example", "ftp://club.example", "http://", "nonsense"])
def test_an_address_that_is_none_gets_a_sentence(url):
    with pytest.raises(Problem, match="is not the address of a club"):
        Address(url, "Table 7")


def test_errors_in_the_outbox_thread_do_not_stop_the_table(begun):
    def post(*_sent):
        raise RuntimeError("a mistake of ours")

    box = Outbox(begun.store, Address(AT, "Table 7"), post=post)
    box.start()
    played(begun, "Ann roll", "Bob roll", "Ann 100")
    box.stop()

    assert begun.state.game.table.sides[0].km == 100


def test_the_page_shows_the_delivery_and_asks_after_a_fork(begun, club):
    box = run(outbox(begun.store, club))
    page = create_app(begun, secret=b"x" * 32, club=box).test_client()

    assert "The club is up to date with this table." in text_of(page.get("/more"))
    next(iter(club.logs.values()))[-1] = (2, 1, "{}")
    played(begun, "Ann roll")
    run(box)
    assert "Continue at the club as a new table" in text_of(page.get("/more"))
    page.post("/club", headers={"Origin": "http://localhost"})
    run(box)
    assert "The club is up to date with this table." in text_of(page.get("/more"))


def test_without_the_postgresql_driver_the_club_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(Problem, match=re.escape("pip install 'psycopg[binary,pool]'")):
        companion(["club", "link", "--database", "postgresql://club"], standalone_mode=False)

"""People at the table: who is host, whose seat is whose, who watches, who confirms, and who may take back what."""

from __future__ import annotations

import html
import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from client import SECRET, TWO, lines, played, seen, tap, text_of
from seen import camera

from companion.match.match import Match, Policy
from companion.match.phones import (
    HOST_AWAY_S,
    KEPT_NAME,
    MOST_ASKING,
    MOST_ASKING_AN_ADDRESS,
    MOST_KEPT,
    SEAT_AWAY_S,
    Kind,
    News,
    Phones,
    Wish,
)
from companion.pages import Camera, announce, create_app, limits
from companion.pages.players import phone_identity
from companion.storage.event_store import Draft, Store

THREE = ("side Ann", "side Bob", "side Cid", "hand first Ann")
PAIRS = ("side Ann-Cid = Ann, Cid", "side Bob-Dee = Bob, Dee", "hand first Ann")
CODE = phone_identity.table_code(SECRET)


@pytest.fixture
def clock():
    """A clock that goes when it is told to: a call gives `now_s`."""
    return type("Clock", (), {"now_s": 1000.0, "__call__": lambda clock: clock.now_s})()


@pytest.fixture
def app(match, clock):
    address = "http://192.168.1.20:8080"
    return create_app(match, secret=SECRET, base_url=address, clock=clock, camera=Camera(lambda: b"a picture"))


@pytest.fixture
def begun(match):
    match.start(TWO)
    return match


def stranger(app, number: int = 77):
    """A phone on the network that has not scanned anything."""
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = f"192.168.1.{number}"
    return client


def scanned(app, number: int = 10):
    """A phone that has scanned the code."""
    client = stranger(app, number)
    client.get(f"/join?t={phone_identity.join_token(SECRET)}", follow_redirects=True)
    return client


def seated(app, player: str, number: int = 10):
    """A phone that has scanned the code and taken a seat."""
    client = scanned(app, number)
    assert tap(client, "/join", player=player).location == "/"
    return client


@pytest.fixture
def two(app, begun):
    """Ann's phone, which came first and is the host's, and Bob's."""
    return seated(app, "Ann", 10), seated(app, "Bob", 11)


@pytest.fixture
def three(app, match):
    """The host's phone, which is for the whole table, and those of Ann, Bob and Cid."""
    match.start(THREE)
    host = scanned(app, 9)
    tap(host, "/join", everybody="1")
    return host, seated(app, "Ann", 10), seated(app, "Bob", 11), seated(app, "Cid", 12)


def phones_of(app) -> Phones:
    return app.extensions["companion"].phones


def answer_asked(app, client, answer: str, **fields):
    """What a phone gets that answers the last wish."""
    return tap(client, f"/seats/asked/{asked_id(app)}", answer=answer, **fields)


def outside(app, number: int = 77, name: str = "Zoe"):
    """A phone that has typed the code and waits to be let in."""
    client = stranger(app, number)
    assert tap(client, "/join/code", code=CODE.lower(), name=name).location == "/join"
    return client


def asking(app, player: str, number: int = 12):
    """A phone that asks for a seat."""
    client = scanned(app, number)
    tap(client, "/join", player=player, ask="1")
    return client


def phone_of(client) -> str:
    with client.session_transaction() as session:
        return session["phone"]


def is_host(app, client) -> bool:
    return phones_of(app).party.host == phone_of(client)


def holds(app, player: str):
    return phones_of(app).party.seats.get(player)


def asked_id(app) -> int:
    return phones_of(app).asked[-1].id


# --- The host ------------------------------------------------------------------------------------------------


def test_the_first_phone_that_scans_the_code_is_the_host(app, begun):
    first, second = scanned(app, 10), scanned(app, 11)

    assert is_host(app, first)
    assert "This phone is the host’s." in text_of(first.get("/seats"))
    assert "Phone 1 is the host." in text_of(second.get("/seats"))
    tap(first, "/join", player="Ann")
    assert "Ann is the host." in text_of(second.get("/seats"))


def test_neither_a_wall_screen_nor_a_link_that_is_only_looked_at_makes_a_host(app, begun):
    stranger(app, 5).get(f"/wall?t={phone_identity.join_token(SECRET)}")
    stranger(app, 66).get(f"/join?t={phone_identity.join_token(SECRET)}")

    assert phones_of(app).party.host is None


def test_the_machine_may_do_what_the_host_may_and_leaves_the_role_to_a_phone(app, two, page, begun):
    page.get("/join")
    tap(page, "/policy", policy="auto")

    assert is_host(app, two[0])
    assert begun.state.policy is Policy.AUTO


def test_who_is_host_and_who_sits_where_survives_a_restart(app, two, match, clock):
    again = create_app(match, secret=SECRET, clock=clock)
    ann = stranger(again, 10)
    ann.set_cookie("companion", two[0].get_cookie("companion").value)

    assert is_host(again, two[0])
    assert "Your turn" in text_of(ann.get("/"))
    assert "This phone is the host’s." in text_of(ann.get("/seats"))


def test_a_phone_that_was_closed_keeps_its_seat_in_the_next_match_too(two, begun):
    begun.start(TWO)

    assert "Your turn" in text_of(two[0].get("/"))


@pytest.mark.parametrize(
    "kept", ["", "[]", "{", "null", '{"host": 3, "seats": [1], "let_in": {}}', '{"seats": {"Ann": 1}}']
)
def test_a_damaged_list_of_phones_counts_as_none(tmp_path, kept):
    (tmp_path / KEPT_NAME).write_text(kept)

    phones = Phones(tmp_path)
    phones.arrive("first")

    assert (phones.party.host, dict(phones.party.seats), phones.party.let_in) == ("first", {}, ())


def test_a_list_of_phones_that_cannot_be_kept_is_said_and_remembered_until_it_can(tmp_path):
    now_s, told = [0.0], []
    phones = Phones(tmp_path / "gone", clock=lambda: now_s[0], changed=lambda: told.append(now_s[0]))
    phones.arrive("first")

    assert phones.party.host == "first"
    assert "Who sits where cannot be kept" in str(phones.unkept)

    (tmp_path / "gone").mkdir()
    now_s[0] = 60.0

    assert phones.unkept is None
    assert told[-1] == 60.0
    assert Phones(tmp_path / "gone").party.host == "first"


def test_the_host_hands_the_role_on_and_both_are_told(app, two):
    ann, bob = two
    tap(ann, "/seats/host", phone=phone_of(bob))

    assert is_host(app, bob)
    assert "You are the host now: you set up matches" in text_of(bob.get("/"))
    assert "The role is handed on: Bob is the host now." in text_of(ann.get("/seats"))
    assert told(app, ann) == []
    assert tap(ann, "/seats/host", phone=phone_of(ann)).status_code == 403

    tap(bob, "/seats/host", phone=phone_of(ann))

    assert (told(app, bob), told(app, ann)) == ([], [Kind.HOST])


def test_the_role_goes_to_no_phone_that_is_not_there(app, two):
    tap(two[0], "/seats/host", phone="nobody")

    assert is_host(app, two[0])
    assert "That phone is gone" in text_of(two[0].get("/seats"))


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/setup", {"edition": "classic", "seating": "2x1", "replace": "1"}),
        ("/policy", {"policy": "auto"}),
        ("/verify", {"verify": "yes"}),
        ("/seats/free", {"player": "Ann"}),
        ("/seats/give", {"player": "Ann", "phone": "any"}),
        ("/seats/host", {"phone": "any"}),
        ("/seats/host/take", {}),
    ],
)
def test_what_is_the_hosts_to_do_is_refused_to_others_with_his_name(two, spectator, begun, path, fields):
    before = begun.state

    for phone in (two[1], spectator):
        answer = tap(phone, path, **fields)

        assert answer.status_code == 403
        assert "That is for the host to do: ask Ann" in text_of(answer)
    assert (begun.state.seq, begun.state.match) == (before.seq, before.match)


def test_others_see_neither_the_settings_nor_the_button_that_starts_a_match(two):
    _ann, bob = two
    more, setup = bob.get("/more"), bob.get("/setup")

    assert 'action="/policy"' not in more.get_data(as_text=True)
    assert 'action="/policy"' in two[0].get("/more").get_data(as_text=True)
    assert "Only the host starts a match: ask Ann." in text_of(setup)
    assert "Start the game" not in text_of(setup)


def test_a_host_asked_for_hands_his_role_on_from_the_table(app, two):
    ann, bob = two
    tap(bob, "/seats/host/ask")

    assert "Bob asks to be the host." in text_of(ann.get("/"))
    assert "The host is asked." in text_of(bob.get("/seats"))
    assert answer_asked(app, bob, "yes").status_code == 403
    assert is_host(app, ann)
    assert answer_asked(app, ann, "yes", **{"from": "table"}).location == "/"
    assert is_host(app, bob)
    assert "The role is handed on: Bob is the host now." in text_of(ann.get("/"))
    assert "You are the host now" in text_of(bob.get("/"))


def test_a_host_asked_for_may_say_no_and_open_pages_learn_of_it(app, two, begun):
    ann, bob = two
    tap(bob, "/seats/host/ask")
    before = begun.state.version
    answer_asked(app, ann, "no")

    assert is_host(app, ann)
    assert begun.state.version > before
    assert "The host is asked." not in text_of(bob.get("/seats"))
    assert "The host said no. What only the host may do, ask for at the table." in text_of(bob.get("/"))


def test_whoever_asks_again_is_not_told_the_old_answer(app, two):
    for _time in range(2):
        tap(two[1], "/seats/host/ask")
        before = told(app, two[1])
        answer_asked(app, two[0], "no")

    assert (before, told(app, two[1])) == ([], [Kind.HOST_REFUSED])


def test_a_seated_phone_follows_a_host_who_has_been_away_and_he_is_told(app, two, clock):
    ann, bob = two
    clock.now_s += HOST_AWAY_S - 1
    refused = tap(bob, "/seats/host/take")
    clock.now_s += 2

    assert refused.status_code == 403
    assert "has been away for some minutes" in text_of(bob.get("/seats"))
    assert tap(scanned(app, 12), "/seats/host/take").status_code == 403
    tap(bob, "/seats/host/take")
    assert is_host(app, bob)
    assert "This phone is the host’s no longer. Bob is the host." in text_of(ann.get("/"))
    assert told(app, bob) == []


def test_an_open_page_is_a_host_who_is_there(app, two, clock):
    ann, bob = two
    clock.now_s += HOST_AWAY_S
    ann.get("/version", headers={"If-None-Match": ann.get("/version").headers["ETag"]})

    assert tap(bob, "/seats/host/take").status_code == 403


def test_where_nobody_is_seated_any_phone_follows_a_lost_host(app, begun, clock):
    _lost, other = scanned(app, 10), scanned(app, 11)
    clock.now_s += HOST_AWAY_S
    tap(other, "/seats/host/take")

    assert is_host(app, other)


def test_the_machine_makes_itself_host_at_any_time(app, two, page):
    tap(page, "/seats/host/take")

    assert is_host(app, page)


# --- Seats ---------------------------------------------------------------------------------------------------


def test_from_scanning_to_a_free_seat_is_one_tap(app, begun):
    phone = stranger(app)
    shown = phone.get(f"/join?t={phone_identity.join_token(SECRET)}", follow_redirects=True)

    assert "Who are you?" in text_of(shown)
    assert tap(phone, "/join", player="Ann").location == "/"
    assert "Your turn" in text_of(phone.get("/"))


def test_a_second_phone_on_a_taken_seat_is_asked_first_and_takes_it_not_by_force(app, two):
    other = scanned(app, 12)
    shown = text_of(other.get(tap(other, "/join", player="Ann").location))
    tap(other, "/join", player="Ann", take="1")

    assert "Ann’s seat is taken" in shown
    assert "Ask for the seat" in shown
    assert "Take the seat over" not in shown
    assert holds(app, "Ann") == phone_of(two[0])


def test_a_seat_whose_phone_is_silent_for_two_minutes_is_taken_over_in_two_taps_and_that_is_told(app, two, clock):
    clock.now_s += SEAT_AWAY_S
    cleared = scanned(app, 12)
    shown = cleared.get(tap(cleared, "/join", player="Bob").location)
    tap(cleared, "/join", player="Bob", take="1")

    assert "Take the seat over" in text_of(shown)
    assert "Bob" in text_of(cleared.get("/more"))
    assert "This is Bob’s phone" not in text_of(two[1].get("/more"))
    assert "Another phone has Bob’s seat now: this one has none." in text_of(two[1].get("/"))
    assert told(app, cleared) == []


@pytest.mark.parametrize(("answers", "news"), [(0, [Kind.TAKEN]), (1, [])], ids=["by the host", "by who has it"])
def test_a_seat_is_handed_over_and_who_did_so_is_not_told(app, two, answers, news):
    other = asking(app, "Bob")
    for phone in two:
        assert "Phone 3 asks for the seat of Bob." in text_of(phone.get("/"))
    answer_asked(app, two[answers], "yes")

    assert holds(app, "Bob") == phone_of(other)
    assert other.get("/join/seat/Bob").location == "/"
    assert told(app, two[1]) == news


def test_a_third_phone_hands_nobodys_seat_over(app, three):
    _host, _ann, bob, cid = three
    asking(app, "Cid", 13)

    assert "asks for the seat" not in text_of(bob.get("/"))
    assert answer_asked(app, bob, "yes").status_code == 403
    assert holds(app, "Cid") == phone_of(cid)


def test_a_request_answered_twice_was_settled_already(app, two):
    asking(app, "Bob")
    number = asked_id(app)
    tap(two[0], f"/seats/asked/{number}", answer="no")
    tap(two[1], f"/seats/asked/{number}", answer="yes")

    assert "That was settled already." in text_of(two[1].get("/seats"))
    assert holds(app, "Bob") == phone_of(two[1])


def test_the_host_takes_a_seat_that_is_another_phones_after_being_asked_and_has_that_one(app, two):
    assert "Take the seat over" in text_of(two[0].get(tap(two[0], "/join", player="Bob").location))

    tap(two[0], "/join", player="Bob", take="1")

    assert (holds(app, "Ann"), holds(app, "Bob")) == (None, phone_of(two[0]))


def test_a_phone_whose_seat_the_host_freed_is_told_until_it_has_one_again(app, two):
    ann, bob = two
    tap(ann, "/seats/free", player="Bob")
    shown = bob.get("/").get_data(as_text=True)

    assert holds(app, "Bob") is None
    assert "This is Bob’s phone" not in text_of(bob.get("/more"))
    assert "The host freed Bob’s seat: this phone has none now." in shown
    assert re.search(r'<a class="button primary" href="/join">.*?Take a seat', shown)
    tap(bob, "/join", player="Bob")
    assert "freed" not in text_of(bob.get("/"))


def test_a_phone_that_goes_on_without_its_seat_or_into_the_next_match_is_told_no_more(app, two, begun):
    ann, bob = two
    tap(ann, "/seats/free", player="Bob")
    put_away(app, bob)
    other = seated(app, "Bob", 12)
    tap(ann, "/seats/free", player="Bob")

    assert ["freed" in text_of(phone.get("/")) for phone in (bob, other)] == [False, True]
    begun.start(("side Cid", "side Dee", "hand first Cid"))
    assert "freed" not in text_of(other.get("/"))


def test_the_host_gives_a_seat_to_a_phone_that_has_none_and_it_is_told(app, two):
    guest = scanned(app, 12)
    assert phone_of(guest) in two[0].get("/seats").get_data(as_text=True)
    tap(two[0], "/seats/give", player="Bob", phone=phone_of(guest))

    assert holds(app, "Bob") == phone_of(guest)
    assert "The host gave this phone Bob’s seat." in text_of(guest.get("/"))
    assert told(app, two[1]) == [Kind.TAKEN]


def test_a_phone_that_has_not_been_let_in_is_given_nothing(app, two):
    tap(two[0], "/seats/give", player="Bob", phone=phone_of(outside(app)))

    assert holds(app, "Bob") == phone_of(two[1])


def test_of_two_phones_that_tap_a_free_seat_at_once_the_first_has_it(app, begun):
    phones = phones_of(app)

    assert [phones.sit(phone, "Ann", over=False) for phone in ("one", "other", "one")] == [True, False, True]
    assert phones.party.seats["Ann"] == "one"


def test_the_page_of_seats_says_who_is_asleep_and_who_watches(app, two, clock):
    clock.now_s += SEAT_AWAY_S
    tap(scanned(app, 12), "/join", player="")

    shown = text_of(two[0].get("/seats"))

    assert "Bob on a phone that is asleep" in shown
    assert "1 phone watches." in shown


# --- What a phone is told ------------------------------------------------------------------------------------


def told(app, client) -> list[Kind]:
    return [one.kind for one in phones_of(app).news.of(phone_of(client))]


def put_away(app, client) -> None:
    for one in phones_of(app).news.of(phone_of(client)):
        assert tap(client, f"/told/{one.id}").status_code == 303


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        (0, "The host said no: Bob’s seat stays with the other phone. Take a free one, or talk to the host."),
        (1, "The other phone keeps Bob’s seat. Take a free one, or talk to the host."),
    ],
)
def test_a_seat_that_is_not_handed_over_is_said_with_by_whom_until_that_is_put_away(app, two, answers, says):
    other = asking(app, "Bob")
    answer_asked(app, two[answers], "no")

    for path in ("/join/seat/Bob", "/join", "/", "/plain", "/seats"):
        assert says in text_of(other.get(path)), path
    put_away(app, other)
    assert says not in text_of(other.get("/"))


def test_a_phone_outside_puts_away_that_it_was_not_let_in_and_nobody_elses_news(app, two):
    asker = outside(app)
    answer_asked(app, two[0], "no")
    tap(two[1], f"/told/{phones_of(app).news.of(phone_of(asker))[0].id}")
    before = told(app, asker)
    put_away(app, asker)

    assert (before, told(app, asker)) == ([Kind.JOIN_REFUSED], [])


def test_a_phone_has_a_last_word_of_each_kind_and_phones_of_long_ago_are_forgotten():
    news = News()
    for number in range(MOST_KEPT + 1):
        news.tell(f"phone {number}", Kind.FREED, "Ann")
        news.tell(f"phone {number}", Kind.GIVEN, "Bob")

    assert news.of("phone 0") == ()
    assert [one.kind for one in news.of("phone 1")] == [Kind.GIVEN]


# --- Which phone is which ------------------------------------------------------------------------------------

IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1"
ANDROID = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/126.0.0.0 Mobile Safari/537.36"
LAPTOP = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0"


def test_phones_without_a_seat_have_a_number_that_stays_when_others_come_and_go(app, two):
    guests = {3: scanned(app, 12), 4: scanned(app, 13)}
    shown = text_of(two[0].get("/seats"))
    for number, guest in guests.items():
        assert f"Phone {number} " in shown
        assert f"This is Phone {number}, without a seat." in text_of(guest.get("/"))
        assert f"This is Phone {number}." in text_of(guest.get("/seats"))

    tap(guests[3], "/join", player="")

    assert "This is Phone 4, without a seat." in text_of(guests[4].get("/"))
    assert "Phone 4 " in text_of(two[0].get("/seats"))
    assert "Phone 3 " not in text_of(two[0].get("/seats"))


@pytest.mark.parametrize(
    ("browser", "called"), [(IPHONE, "iPhone"), (ANDROID, "Android"), (LAPTOP, "computer"), ("", ""), ("curl/8", "")]
)
def test_the_host_reads_what_kind_of_phone_it_is(app, two, browser, called):
    scanned(app, 12).get("/", headers={"User-Agent": browser})

    assert f"Phone 3 {called} Ann Bob Give the seat".replace("  ", " ") in text_of(two[0].get("/seats"))


def test_a_hostile_browser_name_is_never_shown(app, two):
    scanned(app, 12).get("/", headers={"User-Agent": "<script>alert(1)</script> iPhone " + "x" * 3000})
    shown = two[0].get("/seats").get_data(as_text=True)

    assert "<small>iPhone</small>" in shown
    assert "alert(1)" not in shown


def test_a_host_without_a_seat_is_not_made_host_once_more(app, three):
    host, _ann, bob, _cid = three
    tap(bob, "/join", player="")
    tap(host, "/seats/host", phone=phone_of(three[1]))
    shown = three[1].get("/seats").get_data(as_text=True)

    assert "Phone 1" in shown
    assert shown.count("Make host") == 2


# --- Spectators ----------------------------------------------------------------------------------------------


@pytest.fixture
def spectator(app, two):
    phone = scanned(app, 12)
    tap(phone, "/join", player="")
    return phone


def test_a_phone_that_watches_sees_the_table_and_no_button_that_changes_it(spectator, begun):
    seen(begun, 1, "Ann roll")
    begun.enter("Ann roll", "Ann")
    shown = spectator.get("/").get_data(as_text=True)

    assert "Bob’s turn" in shown
    assert "You are watching." in shown
    assert "<button" not in shown


@pytest.mark.parametrize("path", ["/play", "/question/1-2-camera.1-play", "/undo", "/redo", "/hand", "/line/3/retract"])
def test_a_tap_of_a_phone_that_watches_is_refused(spectator, begun, path):
    seen(begun, 1, "Ann roll")

    answer = tap(spectator, path, text="Ann roll")

    assert answer.status_code == 403
    assert "This phone is just watching: take a seat to play along." in text_of(answer)
    assert lines(begun) == []


@pytest.mark.parametrize("path", ["/print/mats.pdf", "/decks/own/stop-1.jpg", "/decks/own.zip"])
def test_a_phone_that_watches_is_told_to_take_a_seat_and_not_to_scan(spectator, app, path):
    answer = spectator.get(path)

    assert (answer.status_code, stranger(app).get(path).status_code) == (403, 401)
    assert "This phone is just watching: take a seat to play along." in text_of(answer)


@pytest.mark.parametrize("path", ["/camera", "/decks", "/print"])
def test_pages_for_players_send_a_phone_that_watches_to_a_seat(spectator, path):
    shown = text_of(spectator.get(path))

    assert "You are watching. Take a seat" in shown
    assert "scan the code" not in shown


def test_a_phone_that_watches_counts_a_photograph_of_its_own(spectator):
    assert 'action="/snap"' in spectator.get("/snap").get_data(as_text=True)
    assert spectator.get("/snap/nothing").status_code == 303


def test_a_phone_that_watched_takes_a_seat_after_all(app, two, spectator, begun):
    tap(two[0], "/seats/free", player="Bob")
    tap(spectator, "/join", player="Bob")

    assert tap(spectator, "/play", text="Ann roll").status_code == 303
    assert lines(begun) == ["Ann roll"]


def test_one_phone_without_a_seat_serves_the_whole_table(app, begun):
    phone = scanned(app)
    tap(phone, "/join", everybody="1")
    for play in ("Ann roll", "Bob roll", "Ann 100"):
        tap(phone, "/play", text=play)
    for _step in range(2):
        tap(phone, "/undo")

    assert lines(begun) == ["Ann roll"]


def test_a_host_who_watches_may_still_undo_and_set_but_not_play(app, two, begun):
    tap(two[0], "/join", player="")
    begun.enter("Ann roll", "Bob")

    assert tap(two[0], "/play", text="Bob roll").status_code == 403
    assert tap(two[0], "/policy", policy="auto").status_code == 303
    assert tap(two[0], "/undo").status_code == 303
    assert lines(begun) == []


# --- The other side verifies ---------------------------------------------------------------------------------


@pytest.fixture
def verified(two, begun):
    tap(two[0], "/verify", verify="yes")
    return begun


def test_where_the_other_side_verifies_a_play_is_confirmed_by_it_and_not_by_its_own(two, verified):
    asked = seen(verified, 1, "Ann roll")
    tap(two[0], asked)
    own, other = two[0].get("/"), two[1].get("/")

    assert lines(verified) == []
    assert "The other side has to confirm that." in text_of(own)
    assert "Waits for Bob’s side to confirm." in text_of(own)
    assert 'name="answer" value="yes"' not in own.get_data(as_text=True)
    assert 'name="answer" value="yes"' in other.get_data(as_text=True)
    tap(two[1], asked)
    assert lines(verified) == ["Ann roll"]


def test_a_play_entered_by_its_own_side_waits_for_the_other(two, verified):
    tap(two[0], "/play", text="Ann roll")
    waiting = verified.state.questions
    tap(two[0], "/play", text="Ann roll")
    tap(two[1], f"/question/{waiting[0].id}")

    assert len(waiting) == 1
    assert lines(verified) == ["Ann roll"]
    tap(two[0], "/play", text="Bob roll")
    assert lines(verified) == ["Ann roll", "Bob roll"]


def test_an_illegal_play_is_let_stand_by_the_other_side_alone(two, verified):
    asked = seen(verified, 1, "Ann 100")
    tap(two[0], asked, anyway="1")
    before = lines(verified)
    tap(two[1], asked, anyway="1")

    assert (before, lines(verified)) == ([], ["Ann 100 anyway"])


def test_a_card_in_doubt_that_its_own_side_names_waits_for_the_other(two, verified):
    camera(verified).which(5, "Ann roll")
    tap(two[0], "/question/1-2-camera.5-which", text="Ann roll")

    assert lines(verified) == []
    assert len(verified.state.questions) == 1


@pytest.mark.parametrize("policy", [Policy.AUTO, Policy.PLAY_ON])
def test_no_play_counts_by_itself_where_the_other_side_verifies(two, verified, policy):
    verified.set_policy(policy, "Ann")
    seen(verified, 1, "Ann roll")
    seen(verified, 2, "Bob roll")

    assert lines(verified) == []


def test_partners_do_not_verify_each_other(app, match):
    match.start(PAIRS, verified=True)
    _host, cid, bob = scanned(app, 9), seated(app, "Cid", 12), seated(app, "Bob", 11)
    asked = seen(match, 1, "Ann roll")
    tap(cid, asked)
    refused = lines(match)
    tap(bob, asked)

    assert (refused, lines(match)) == ([], ["Ann roll"])


def test_a_host_alone_with_a_phone_confirms_for_all(app, match):
    match.start(TWO, verified=True)
    ann = seated(app, "Ann")
    tap(ann, "/play", text="Ann roll")
    tap(ann, "/play", text="Bob roll")

    assert lines(match) == ["Ann roll", "Bob roll"]


def test_a_host_without_a_seat_confirms_for_any_side_and_a_guest_for_none(app, three, match):
    match.set_verifying("Ann", on=True)
    guest, asked = scanned(app, 13), seen(match, 1, "Ann roll")
    assert "Waits for another side to confirm." in text_of(guest.get("/"))
    tap(guest, asked)
    refused = lines(match)
    tap(three[0], asked)

    assert (refused, lines(match)) == ([], ["Ann roll"])


def test_that_the_other_side_verifies_is_kept_by_the_log_and_by_the_next_match(verified):
    again = Match(verified.store)
    before = again.state.other_side_verifies
    again.start(TWO)

    assert (before, again.state.other_side_verifies) == (True, True)


def test_the_setting_is_chosen_with_the_match(page, match):
    fields = {"edition": "classic", "seating": "2x1", "name1": "Ann", "name2": "Bob"}
    tap(page, "/setup", verify="yes", **fields)
    on = match.state.other_side_verifies
    tap(page, "/setup", **fields)

    assert (on, match.state.other_side_verifies) == (True, False)


# --- Who takes back what -------------------------------------------------------------------------------------


def test_undo_says_whose_play_it_takes_back(two, begun):
    played(begun, "Ann roll", "Bob roll", "Ann 100")

    assert "Undo: Ann, 100 km" in text_of(two[0].get("/"))


def test_the_wrong_person_is_told_who_may_undo(two, begun):
    ann, bob = two
    asked = seen(begun, 1, "Bob roll")
    begun.enter("Ann roll", "Bob")
    tap(bob, asked)
    tap(ann, "/seats/host", phone=phone_of(bob))

    answer = tap(ann, "/undo")

    assert answer.status_code == 403
    for shown in (text_of(answer), text_of(ann.get("/"))):
        assert "Bob confirmed that: Bob or the host may undo it." in shown
    assert "Undo:" not in text_of(ann.get("/"))
    assert lines(begun) == ["Ann roll", "Bob roll"]


@pytest.mark.parametrize(
    ("who", "may"),
    [(0, True), (1, True), (2, True), (3, False), (4, False)],
    ids=["host", "Ann", "Bob", "Cid", "guest"],
)
def test_a_play_is_taken_back_by_who_noted_it_the_side_whose_it_is_and_the_host(app, three, match, who, may):
    phones = (*three, scanned(app, 13))
    tap(phones[2], "/play", text="Ann roll")
    answer = tap(phones[who], "/undo")

    assert answer.status_code == (303 if may else 403)
    assert lines(match) == ([] if may else ["Ann roll"])
    assert ("Bob entered that: Bob or the host may undo it." in text_of(answer)) is not may


def test_partners_take_back_for_each_other(app, match):
    match.start(PAIRS)
    scanned(app, 9)
    ann, cid = seated(app, "Ann", 10), seated(app, "Cid", 12)
    tap(ann, "/play", text="Ann roll")

    assert tap(cid, "/undo").status_code == 303
    assert lines(match) == []


def test_the_host_takes_back_further(three, match):
    host, ann, bob, _cid = three
    tap(ann, "/play", text="Ann roll")
    tap(bob, "/play", text="Bob roll")
    tap(host, "/undo")
    tap(host, "/undo")

    assert lines(match) == []


def test_what_the_camera_or_a_phone_without_a_seat_noted_is_taken_back_by_anybody_seated(app, three, match):
    tap(scanned(app, 13), "/play", text="Ann roll")
    tap(three[3], "/undo")
    typed = lines(match)
    match.set_policy(Policy.AUTO, "Ann")
    seen(match, 1, "Ann roll")
    counted = lines(match)
    tap(three[3], "/undo")

    assert (typed, counted, lines(match)) == ([], ["Ann roll"], [])


def test_a_second_step_back_is_the_hosts(three, match):
    _host, _ann, bob, _cid = three
    tap(bob, "/play", text="Ann roll")
    tap(bob, "/play", text="Bob roll")
    tap(bob, "/undo")
    answer = tap(bob, "/undo")

    assert answer.status_code == 403
    assert "One step is undone. Further back only the host undoes." in text_of(answer)
    assert lines(match) == ["Ann roll"]


def test_a_double_tap_on_undo_is_settled_already_and_not_refused(three, match):
    _host, _ann, bob, _cid = three
    tap(bob, "/play", text="Ann roll")
    seq = match.state.undoable.seq
    first, second = tap(bob, "/undo", seq=seq), tap(bob, "/undo", seq=seq)

    assert (first.status_code, second.status_code) == (303, 303)
    assert "That was settled already." in text_of(bob.get("/"))
    assert lines(match) == []


def test_redo_belongs_to_whoever_undid(three, match):
    _host, ann, bob, cid = three
    tap(ann, "/play", text="Ann roll")
    tap(ann, "/undo")
    refused = [tap(phone, "/redo") for phone in (bob, cid)]
    tap(ann, "/redo")

    assert [answer.status_code for answer in refused] == [403, 403]
    assert "Ann undid that: Ann or the host may bring it back." in text_of(refused[0])
    assert lines(match) == ["Ann roll"]


def test_a_line_is_taken_out_by_its_own_people_and_corrected_by_anybody(three, match):
    _host, ann, _bob, cid = three
    tap(ann, "/play", text="Ann roll")
    seq = match.state.hand_entries[0].seq
    refused = tap(cid, f"/line/{seq}/retract")
    tap(cid, f"/line/{seq}/correct", text="Ann right-of-way")

    assert "Ann noted that line: Ann or the host may take it out. Anybody may correct it." in text_of(refused)
    assert lines(match) == ["Ann right-of-way"]
    assert "corrected by Cid" in text_of(ann.get("/"))
    assert tap(ann, f"/line/{seq}/retract").status_code == 303
    assert lines(match) == []


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda m, seq: m.correct(seq, "Ann right-of-way", "Bob"), "Undo: the line that Bob changed"),
        (lambda m, seq: m.retract(seq, "Bob"), "Undo: the line that Bob took out"),
        (lambda m, _seq: m.sit("Ann", "Ann", "Annie"), "Undo: Annie, Roll"),
        (lambda m, _seq: m.enter("Bob discard 25", "Bob"), "Undo: “Bob discards 25 km.”"),
        (lambda m, _seq: (m.enter("end", "Bob"), m.next_hand("Bob")), "Undo: the start of this hand"),
    ],
)
def test_undo_says_what_it_takes_back_beside_a_play(page, begun, act, says):
    begun.enter("Ann roll", "Ann")
    act(begun, begun.state.hand_entries[0].seq)

    assert says in text_of(page.get("/"))


def test_two_people_who_confirm_at_once_count_a_play_once_and_the_second_is_told(two, begun):
    asked = seen(begun, 1, "Ann roll")
    tap(two[0], asked)
    tap(two[1], asked)

    assert lines(begun) == ["Ann roll"]
    assert "That was settled already." in text_of(two[1].get("/"))


def test_a_log_from_before_phones_had_seats_still_replays(tmp_path, clock):
    store = Store.open(tmp_path / "old.sqlite3")
    setup = store.append(None, Draft("setup", {"lines": list(TWO[:2]), "by": "somebody"}))[0]
    bodies = [{"text": "hand first Ann", "by": "somebody"}, {"text": "Ann roll", "by": "Ann", "source": "phone"}]
    drafts = [Draft("seat", {"player": "Ann", "by": "Ann"}), *(Draft("line", body) for body in bodies)]
    store.append(setup.match, *drafts, Draft("setting", {"key": "policy", "value": "tap", "by": "Ann"}))
    old = Match(store)
    app = create_app(old, secret=SECRET, clock=clock)

    assert lines(old) == ["Ann roll"]
    assert not old.state.other_side_verifies
    assert "Undo: Ann, Roll" in text_of(app.test_client().get("/"))
    store.close()


def test_a_phone_that_scanned_before_phones_had_names_gets_one_and_still_acts(app, begun):
    old = stranger(app)
    with old.session_transaction() as session:
        session["may"], session["player"] = True, "Ann"

    assert tap(old, "/play", text="Ann roll").status_code == 303
    assert phone_of(old)


# --- The code of the table -----------------------------------------------------------------------------------


def test_the_code_is_four_clear_letters_that_stay_the_same(app):
    assert re.fullmatch(r"[CDFGHJKLMNPRTVWXY]{4}", CODE)
    assert phone_identity.table_code(SECRET) == CODE
    assert phone_identity.table_code(SECRET[::-1]) != CODE


def test_the_wall_and_the_terminal_show_the_code(page, app, begun):
    assert CODE in text_of(page.get("/wall"))
    assert CODE not in text_of(stranger(app).get("/wall"))
    assert f"http://192.168.1.20:8080/join and type {CODE}" in announce("192.168.1.20", 8080, "tok", CODE)


def test_the_code_asks_the_host_alone_and_lets_nobody_in_by_itself(app, two, begun):
    before = begun.state.version
    asker = outside(app)

    assert begun.state.version > before
    assert "The host is asked" in text_of(asker.get("/join"))
    assert "Ann sees your name, Zoe" in text_of(asker.get("/join/waiting"))
    assert tap(asker, "/play", text="Ann roll").status_code == 401
    assert "Zoe has the code of the table and wants to take part." in text_of(two[0].get("/"))
    assert "Zoe" not in text_of(two[1].get("/"))
    assert [answer_asked(app, phone, "yes").status_code for phone in (two[1], asker)] == [403, 401]
    assert not phones_of(app).party.let_in


def test_a_phone_that_the_host_lets_in_takes_part_and_does_so_after_a_restart(app, two, match, clock):
    asker = outside(app)
    answer_asked(app, two[0], "yes")

    waited = asker.get("/join/waiting", headers={"HX-Request": "true"})

    assert (waited.status_code, waited.headers["HX-Redirect"]) == (204, "/join")
    assert "Who are you?" in text_of(asker.get("/join"))
    assert tap(asker, "/play", text="Ann roll").status_code == 303
    again = stranger(create_app(match, secret=SECRET, clock=clock))
    again.set_cookie("companion", asker.get_cookie("companion").value)
    assert tap(again, "/play", text="Bob roll").status_code == 303


def test_a_phone_that_the_host_refuses_stays_outside_and_is_told(app, two):
    asker = outside(app)
    answer_asked(app, two[0], "no")

    for path in ("/", "/join", "/join/waiting"):
        assert "The host said no: this phone was not let in." in text_of(asker.get(path, follow_redirects=True))
    assert tap(asker, "/play", text="Ann roll").status_code == 401


def test_a_name_typed_outside_is_shown_as_it_is_and_does_nothing(app, two):
    outside(app, name="<script>alert(1)</script>")
    shown = two[0].get("/").get_data(as_text=True)

    assert "&lt;script&gt;" in shown
    assert "<script>alert" not in shown


@pytest.mark.parametrize(
    ("code", "name", "status"),
    [*((code, "Zoe", 403) for code in ("", "AAAA", "ü", CODE[:3], CODE * 2)), (CODE, " ", 400)],
)
def test_a_wrong_code_and_one_without_a_name_ask_nobody(app, two, code, name, status):
    assert tap(stranger(app), "/join/code", code=code, name=name).status_code == status
    assert phones_of(app).asked == ()


def test_whoever_guesses_codes_waits_a_minute_and_others_do_not(app, two, clock):
    guesser = stranger(app, 66)
    wrong = [tap(guesser, "/join/code", code="XXXX", name="Eve").status_code for _ in range(6)]
    right = tap(guesser, "/join/code", code=CODE, name="Eve")
    other = tap(stranger(app, 67), "/join/code", code=CODE, name="Zoe")
    clock.now_s += 60

    assert wrong == [403] * 5 + [429]
    assert right.status_code == 429
    assert "wait a minute" in text_of(right)
    assert other.status_code == 303
    assert tap(guesser, "/join/code", code=CODE, name="Eve").status_code == 303


def test_of_many_codes_at_the_same_moment_five_are_looked_at(clock):
    pace = limits.Pace(clock)
    with ThreadPoolExecutor(8) as pool:
        waits = list(pool.map(lambda _time: pace.wait_s(limits.Kind.CODE, "10.0.0.1", None), range(40)))

    assert waits.count(0) == 5
    assert pace.wait_s(limits.Kind.CODE, "10.0.0.2", None) == 0


def test_one_address_does_not_keep_all_others_waiting(app, two):
    same = [tap(stranger(app, 66), "/join/code", code=CODE, name=f"Eve {number}").status_code for number in range(4)]
    other = tap(stranger(app, 67), "/join/code", code=CODE, name="Zoe")

    assert same == [303] * MOST_ASKING_AN_ADDRESS + [429] * (4 - MOST_ASKING_AN_ADDRESS)
    assert other.status_code == 303


@pytest.mark.parametrize(("path", "fields"), [("/seats/host/ask", {}), ("/join", {"player": "Ann", "ask": "1"})])
def test_who_asks_while_too_many_wait_is_told_so(app, two, clock, path, fields):
    phones = phones_of(app)
    waiting = [phones.ask(Wish.JOIN, f"phone {number}", "Zoe") for number in range(MOST_ASKING + 1)]
    answer = tap(two[1], path, **fields)

    assert waiting == [True] * MOST_ASKING + [False]
    assert "Too many phones wait for an answer: try again in a minute." in text_of(two[1].get(answer.location))
    clock.now_s += SEAT_AWAY_S
    assert phones.asked == ()
    assert phones.ask(Wish.JOIN, "a later phone", "Zoe")


def test_phones_that_are_in_ask_from_one_address_as_they_like(tmp_path):
    phones = Phones(tmp_path)

    assert all(phones.ask(Wish.SEAT, f"phone {number}", player="Ann") for number in range(MOST_ASKING))


def test_a_phone_that_asks_again_is_asked_about_once(app, two):
    tap(outside(app), "/join/code", code=CODE, name="Zoë")

    assert [asked.name for asked in phones_of(app).asked] == ["Zoë"]


def test_what_is_kept_of_phones_is_only_what_must_be(app, two, begun):
    kept = json.loads((begun.store.path.parent / KEPT_NAME).read_text())

    assert set(kept) == {"host", "seats", "watching", "let_in", "names"}
    assert set(kept["seats"]) == {"Ann", "Bob"}


def test_what_the_other_side_verifies_is_not_slipped_in_before_a_line_nor_into_one(match):
    match.start(["side Ann", "side Bob", "hand first Ann"], verified=True)
    match.enter("Ann roll", "Bob")
    line = match.state.hand_entries[0].seq

    assert not match.insert(line, "Ann 200 anyway", "Ann").done
    assert not match.correct(line, "Ann right-of-way", "Ann").done
    assert match.correct(line, "Ann right-of-way", "Bob").done
    assert match.correct(line, "Ann roll", "Ann", vouched=True).done


def test_half_a_sign_in_what_was_kept_is_kept_no_longer(tmp_path):
    (tmp_path / "phones.json").write_text('{"host": "a", "names": {"a": "\\ud800"}}')
    phones = Phones(tmp_path)
    phones.sit("b", "Ann")

    assert (dict(phones.party.seats), dict(phones.party.names)) == ({"Ann": "b"}, {})


def test_a_seat_whose_name_is_written_with_joiners_can_be_taken(app, match):
    player = "علی\u200cرضا"
    match.start((f"side {player}", "side Bob", f"hand first {player}"))
    phone = scanned(app, 9)
    shown = html.unescape(phone.get("/join").get_data(as_text=True))
    offered = re.findall(r'name="player" value="([^"]+)"', shown)

    assert player in offered
    assert tap(phone, "/join", player=player).status_code == 303
    assert match.state.seats == {player: 1}

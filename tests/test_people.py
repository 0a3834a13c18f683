"""People at the table: host, seats, watching, confirming, undoing."""

import html
import json
import re
from concurrent.futures import ThreadPoolExecutor

import evening
import pytest
from client import HOME, SECRET, TWO, lines, scanned, stranger, tap, text_of
from sheet import scenes

from companion.match.match import Match
from companion.match.phones import (
    KEPT_NAME,
    MOST_ASKING,
    MOST_ASKING_AN_ADDRESS,
    MOST_KEPT,
    SEAT_AWAY_S,
    News,
    NoticeKind,
    Party,
    Phones,
    Wish,
)
from companion.pages import Camera, create_app, limits
from companion.pages.players import phone_identity
from companion.storage.event_store import NewEvent, Store
from companion.storage.events import EventKind

CODE = phone_identity.table_code(SECRET)


@pytest.fixture
def app(match, clock):
    address = "http://192.168.1.20:8080"
    return create_app(match, secret=SECRET, base_url=address, clock=clock, camera=Camera(lambda: b"a picture"))


@pytest.fixture
def two(app, begun):
    """Ann's phone, the first and so the host's, and Bob's."""
    return scanned(app, 10, player="Ann"), scanned(app, 11, player="Bob")


@pytest.fixture
def three(app, match):
    """The host's phone, which serves the whole table, and those of Ann, Bob and Cid."""
    match.start(evening.THREE)
    host = scanned(app, 9, everybody="1")
    return host, scanned(app, 10, player="Ann"), scanned(app, 11, player="Bob"), scanned(app, 12, player="Cid")


EVENINGS = """
# --- The host

the first phone that scans the code is the host
    Ann scans; Ben scans; Ann is host; Ann at /seats | This phone is the host’s.; Ben at /seats | Phone 1 is the host.
    Ann taps /join player=Ann; Ben at /seats | Ann is the host.
the machine may do what the host may and leaves the role to a phone [two]
    machine at /join; machine taps /policy policy=auto; Ann is host; policy auto
a phone that was closed keeps its seat in the next match too [two]
    anew; Ann at / | Your turn
the host hands the role on and both are told [two]
    Ann taps /seats/host phone={phone Bob}; Bob is host; Bob at / | You are the host now: you can set up matches
    Ann at /seats | Bob is the host now.; Ann taps /seats/host phone={phone Ann} -> 403
    Bob taps /seats/host phone={phone Ann}; Bob at / | not You are the host; Ann at / | You are the host now
the role goes to no phone that is not there [two]
    Ann taps /seats/host phone=nobody; Ann is host; Ann at /seats | That phone is gone
what is the host’s to do is refused to others with his name [two]
    Bob taps /setup edition=classic & seating=2x1 & replace=1 -> 403; Bob reads | Only the host can do that: ask Ann
    Bob taps /policy policy=auto -> 403; Bob reads | Only the host can do that: ask Ann; policy tap
    Bob taps /verify verify=yes -> 403; Bob reads | Only the host can do that: ask Ann
    Bob taps /seats/free player=Ann -> 403; Bob reads | Only the host can do that: ask Ann; Ann is Ann
    Bob taps /seats/give player=Ann & phone={phone Bob} -> 403; Bob reads | Only the host can do that: ask Ann
    Bob taps /seats/host phone={phone Bob} -> 403; Bob reads | Only the host can do that: ask Ann; Ann is host
    Bob taps /seats/host/take -> 403; Bob reads | Only the host can do that: ask Ann; Ann is host
others see neither the settings nor the button that starts a match [two]
    Bob at /more | not markup action="/policy"; Ann at /more | markup action="/policy"
    Bob at /setup | Only the host can do that: ask Ann, or see the Seats page. | not Start the game
a host asked for hands the role on from the table [two]
    Bob taps /seats/host/ask; Ann at / | Bob asks to be the host.; Bob at /seats | Waiting for the host.
    Bob answers yes -> 403; Ann is host; Ann answers yes & from=table -> /; Bob is host
    Ann at / | Bob is the host now.; Bob at / | You are the host now
a host asked for may say no and open pages learn of it [two]
    Bob taps /seats/host/ask; newer; Ann answers no; newer; Ann is host; Bob at /seats | not Waiting for the host.
    Bob at / | The host said no. Ask the host at the table to do it.
whoever asks again is not told the old answer [two]
    Bob taps /seats/host/ask; Ann answers no; Bob at / | The host said no.
    Bob taps /seats/host/ask; Bob at / | not The host said no.; Ann answers no; Bob at / | The host said no.
a seated phone follows a host who has been away and that is told [two]
    later 179; Bob taps /seats/host/take -> 403; later 2; Bob at /seats | has been away for some minutes
    eve scans; eve taps /seats/host/take -> 403; Bob taps /seats/host/take; Bob is host
    Ann at / | This phone is no longer the host’s. Bob is the host.; Bob at / | not You are the host now
an open page is a host who is there [two]
    later 180; Ann polls /version; Bob taps /seats/host/take -> 403; Ann is host
where nobody is seated any phone follows a lost host
    Ann scans; Bob scans; later 180; Bob taps /seats/host/take; Bob is host
the machine makes itself host at any time [two]
    machine taps /seats/host/take; machine is host

# --- Seats

a phone without the code reads how to join and is offered nothing else [fresh]
    eve at / | To take part, scan the code on the big screen | not Just watch | not Start the game
    eve at /setup | To take part, scan the code | not How many players?; eve at /more | Take a seat | not New match
a phone without the code watches the game that runs [two]
    eve at / | Ann’s turn | You are watching. To take part, scan the code; eve at /setup | To take part | Just watch
whoever is not host waits for the first game [fresh]
    Ann scans; Bob scans; Ann at / | set up the game; Bob at / | Another phone is setting up the game.
from scanning to a free seat is one tap
    Ann scans; Ann reads | Who are you?; Ann taps /join player=Ann -> /; Ann at / | Your turn
a second phone on a taken seat is asked first and takes it not by force [two]
    eve scans; eve taps /join player=Ann -> /join/seat/Ann
    eve at /join/seat/Ann | Ann’s seat is taken | Ask for the seat | not Take the seat over
    eve taps /join player=Ann & take=1 -> /join/seat/Ann; Ann is Ann
a seat whose phone is silent for two minutes is taken over in two taps and that is told [two]
    later 120; eve scans; eve taps /join player=Bob -> /join/seat/Bob; eve at /join/seat/Bob | Take the seat over
    eve taps /join player=Bob & take=1 -> /; eve is Bob; eve at /more | Bob; eve at / | not Another phone
    Bob at / | Another phone has Bob’s seat now: this phone no longer has a seat.
    Bob at /more | not This is Bob’s phone
a third phone hands nobody’s seat over [three]
    eve scans; eve taps /join player=Cid & ask=1; Bob at / | not asks for the seat; Bob answers yes -> 403; Cid is Cid
a seat is handed over by the host and that is told [two]
    eve scans; eve taps /join player=Bob & ask=1; Ann at / | Phone 3 asks for the seat of Bob.
    Ann answers yes; eve is Bob; eve at /join/seat/Bob | Ann’s turn | not Another phone
    Bob at / | Another phone has Bob’s
a seat is handed over by the phone that has it and that one is told nothing [two]
    eve scans; eve taps /join player=Bob & ask=1; Bob at / | Phone 3 asks for the seat of Bob.
    eve at /join/seat/Bob | markup hx-get="/join/seat/Bob" hx-trigger="live from:body; eve polls /join/seat/Bob
    Bob answers yes; eve is Bob; Bob at / | not Another phone has; eve polls /join/seat/Bob -> /
the host takes a seat that is another phone’s after being asked and has that one [two]
    Ann taps /join player=Bob -> /join/seat/Bob; Ann at /join/seat/Bob | Take the seat over
    Ann taps /join player=Bob & take=1 -> /; Ann is Bob; nobody is Ann
a phone whose seat the host freed is told until it has one again [two]
    Ann taps /seats/free player=Bob; nobody is Bob; Bob at /more | not This is Bob’s phone
    Bob at / | The host freed Bob’s seat: this phone no longer has a seat.
    Bob reads | markup <a class="button primary" href="/join">
    Bob taps /join player=Bob; Bob at / | not freed
a phone that goes on without its seat or into the next match is told no more [two]
    Ann taps /seats/free player=Bob; Bob at / | freed; Bob taps /told/1; Bob at / | not freed
    eve scans; eve taps /join player=Bob; Ann taps /seats/free player=Bob; eve at / | freed
    Ann taps /setup edition=classic & seating=2x1 & name1=Cid & name2=Dee & replace=1; eve at / | Cid | not freed
a seat that the host does not hand over is said on every page until that is put away [two]
    eve scans; eve taps /join player=Bob & ask=1; Ann answers no
    eve at / | The host said no: the other phone keeps Bob’s seat
    eve at /join/seat/Bob | The host said no: the other phone keeps Bob’s seat. Take a free one
    eve at /join | The host said no; eve at /plain | The host said no; eve at /seats | The host said no
    eve taps /told/1; eve at / | not The host said no
a request answered twice was settled already [two]
    eve scans; eve taps /join player=Bob & ask=1; Ann taps /seats/asked/1 answer=no
    Bob taps /seats/asked/1 answer=yes; Bob at /seats | That is already settled.; Bob is Bob
a seat that the other phone keeps is said to be kept by that one [two]
    eve scans; eve taps /join player=Bob & ask=1; Bob answers no
    eve at / | The other phone keeps Bob’s seat. Take a free one, or talk to the host.
the host gives a seat to a phone that has none and both are told [two]
    eve scans; Ann at /seats | markup {phone eve}; Ann taps /seats/give player=Bob & phone={phone eve}; eve is Bob
    eve at / | The host gave this phone Bob’s seat.; Bob at / | Another phone has Bob’s seat now
a phone that has not been let in is given nothing [two]
    zoe taps /join/code code={code} & name=Zoe; zoe at /join
    Ann taps /seats/give player=Bob & phone={phone zoe}; Bob is Bob
the page of seats says who is asleep and who watches [two]
    later 120; eve watches; Ann at /seats | Bob on a phone that is asleep | 1 phone is watching.
phones without a seat have a number that stays when others come and go [two]
    eve scans; fay scans; Ann at /seats | Phone 3 | Phone 4; eve at / | This is Phone 3, without a seat.
    eve at /seats | This is Phone 3.; fay at / | This is Phone 4, without a seat.; fay at /seats | This is Phone 4.
    eve taps /join player=; fay at / | This is Phone 4, without a seat.; Ann at /seats | Phone 4 | not Phone 3

# --- Spectators

a phone that watches sees the table and no button that changes it [two]
    eve watches; sees Ann roll; Ann roll; eve at / | Bob’s turn | You are watching. | not markup <button
a phone that watches is told to take a seat and not to scan [two]
    eve watches; eve at /print/mats.pdf -> 403 | This phone is only watching: take a seat to play.
    eve at /decks/own/stop-1.jpg -> 403 | This phone is only watching; eve at /decks/own.zip -> 403
    eve at /camera | You are watching. Take a seat | not scan the code
    eve at /decks | You are watching. Take a seat | not scan the code
    eve at /print | You are watching. Take a seat | not scan the code
a phone that watches counts a photograph of its own [two]
    eve watches; eve at /snap | markup action="/snap"; eve at /snap/nothing | That photograph is gone
a phone that watched takes a seat after all [two]
    eve watches; Ann taps /seats/free player=Bob; eve taps /join player=Bob; eve taps /play text=Ann roll
    lines Ann roll
one phone without a seat serves the whole table
    host sits; host taps /play text=Ann roll; host taps /play text=Bob roll; host taps /play text=Ann 100
    host taps /undo; host taps /undo; lines Ann roll
a host who watches may still undo and set but not play [two]
    Ann watches; Bob taps /play text=Ann roll; Ann taps /play text=Bob roll -> 403; Ann taps /policy policy=auto
    Ann taps /undo; lines -

# --- The other side verifies

where the other side verifies a play is confirmed by it and not by its own [two]
    Ann at /more | markup action="/verify"; Ann taps /verify verify=yes; sees Ann roll; Ann taps {asked}; lines -
    Bob at / | markup name="answer" value="yes"
    Ann at / | The other side has to confirm that. | Waiting for Bob’s side to confirm. | not markup value="yes"
    Bob taps {asked}; lines Ann roll
no play counts by itself where the other side verifies [two; verified]
    Ann taps /policy policy=auto; sees Ann roll; sees Bob roll; lines -
    Ann taps /policy policy=play-on; sees Ann 100; lines -
a play entered by its own side waits for the other [two; verified]
    Ann taps /play text=Ann roll; Ann taps /play text=Ann roll; asked Ann roll; Bob taps {asked}; lines Ann roll
    Ann taps /play text=Bob roll; lines Ann roll, Bob roll
an illegal play is let stand by the other side alone [two; verified]
    sees Ann 100; Ann taps {asked} anyway=1; lines -; Bob taps {asked} anyway=1; lines Ann 100 anyway
a card in doubt that its own side names waits for the other [two; verified]
    which Ann roll; Ann taps {asked} text=Ann roll; lines -; asked Ann roll
partners do not verify each other [pairs; verified]
    host scans; Cid sits; Bob sits; sees Ann roll; Cid taps {asked}; lines -; Bob taps {asked}; lines Ann roll
a host alone with a phone confirms for all [verified]
    Ann sits; Ann taps /play text=Ann roll; Ann taps /play text=Bob roll; lines Ann roll, Bob roll
a host without a seat confirms for any side and a guest for none [three; verified]
    eve scans; sees Ann roll; eve at / | Waiting for another side to confirm.; eve taps {asked}; lines -
    host taps {asked}; lines Ann roll

# --- Who takes back what

undo says whose play it takes back or what else beside a play [two]
    Ann roll; Bob roll; Ann 100; Ann at / | Undo: Ann, 100 km
    Bob discard 25; Ann at / | Undo: “Bob discards 25 km.”
    Bob taps {line 3}/correct text=Ann 75; Ann at / | Undo: the line that Bob changed
    Bob taps {line 4}/retract; Ann at / | Undo: the line that Bob removed
    end; Ann taps /hand; Ann at / | Undo: the start of this hand
    Bob roll; Bob taps /join player=Bob & name=Bobby; Ann at / | Undo: Bobby, Roll
a play is taken back by who noted it, the side whose it is and the host [three]
    Bob taps /play text=Ann roll; eve scans; eve taps /undo -> 403; Cid taps /undo -> 403; lines Ann roll
    Cid reads | Bob entered that: Bob or the host may undo it.; Bob taps /undo; lines -
    Bob taps /play text=Ann roll; Ann taps /undo; lines -; Bob taps /play text=Ann roll; host taps /undo; lines -
the wrong person is told who may undo [two]
    sees Bob roll; Bob taps /play text=Ann roll; Bob taps {asked}; Ann taps /seats/host phone={phone Bob}
    Ann taps /undo -> 403; Ann reads | Bob confirmed that: Bob or the host may undo it.
    Ann at / | Bob confirmed that: Bob or the host may undo it. | not Undo:; lines Ann roll, Bob roll
partners take back for each other [pairs]
    host scans; Ann sits; Cid sits; Ann taps /play text=Ann roll; Cid taps /undo; lines -
the host takes back further [three]
    Ann taps /play text=Ann roll; Bob taps /play text=Bob roll; host taps /undo; host taps /undo; lines -
what the camera or a phone without a seat noted is taken back by anybody seated [three]
    eve scans; eve taps /play text=Ann roll; Cid taps /undo; lines -
    host taps /policy policy=auto; sees Ann roll; lines Ann roll; Cid taps /undo; lines -
a second step back is the host’s [three]
    Bob taps /play text=Ann roll; Bob taps /play text=Bob roll; Bob taps /undo; Bob taps /undo -> 403
    Bob reads | One step is undone. Only the host can undo more.; lines Ann roll
a double tap on undo is settled already and not refused [three]
    Bob taps /play text=Ann roll; Bob taps /undo seq={seq}; Bob taps /undo seq={seq}
    Bob at / | That is already settled.; lines -
redo belongs to whoever undid [three]
    Ann taps /play text=Ann roll; Ann taps /undo; Bob taps /redo -> 403; Cid taps /redo -> 403
    Bob reads | Ann undid that: Ann or the host may redo it.; Ann taps /redo; lines Ann roll
a line is taken out by its own people and corrected by anybody [three]
    Ann taps /play text=Ann roll; Cid taps {line}/retract -> 403
    Cid reads | Ann entered that line: Ann or the host may remove it. Every player may correct it.
    Cid taps {line}/correct text=Ann right-of-way; lines Ann right-of-way; Ann at / | corrected by Cid
    Ann taps {line}/retract; lines -

# --- The code of the table

the code asks the host alone and lets nobody in by itself [two]
    zoe taps /join/code code={code} & name=Zoe -> /join; newer; zoe at /join | Waiting for the host
    zoe at /join/waiting | Ann sees your name, Zoe; zoe taps /play text=Ann roll -> 401; Bob at / | not Zoe
    Ann at / | Zoe has the table’s code and wants to join.; Bob answers yes -> 403; zoe answers yes -> 401
    zoe taps /play text=Ann roll -> 401
a wrong code and one without a name ask nobody [two]
    zoe taps /join/code code= & name=Zoe -> 403; zoe taps /join/code code=AAAA & name=Zoe -> 403
    zoe taps /join/code code=ü & name=Zoe -> 403; zoe taps /join/code code=C & name=Zoe -> 403
    zoe taps /join/code code={code}{code} & name=Zoe -> 403; yan taps /join/code code={code} & name= -> 400
    Ann at / | not wants to take part
a phone that the host refuses stays outside and is told [two]
    zoe taps /join/code code={code} & name=Zoe; Ann answers no; zoe taps /play text=Ann roll -> 401
    zoe at / | The host did not let this phone in.; zoe at /join | The host did not let this phone in.
    zoe at /join/waiting | The host did not let this phone in.
a phone outside puts away that it was not let in and nobody else’s news [two]
    zoe taps /join/code code={code} & name=Zoe; Ann answers no; Bob taps /told/1; zoe at / | The host did not let
    zoe taps /told/1; zoe at / | not The host did not let
whoever guesses codes waits a minute and others do not [two]
    eve taps /join/code code=XXXX & name=Eve -> 403; eve taps /join/code code=XXXX & name=Eve -> 403
    eve taps /join/code code=XXXX & name=Eve -> 403; eve taps /join/code code=XXXX & name=Eve -> 403
    eve taps /join/code code=XXXX & name=Eve -> 403; eve taps /join/code code={code} & name=Eve -> 429
    eve reads | wait a minute; zoe taps /join/code code={code} & name=Zoe
    later 60; eve taps /join/code code={code} & name=Eve
a phone that asks again is asked about once [two]
    zoe taps /join/code code={code} & name=Zoe; zoe taps /join/code code={code} & name=Yan
    Ann at / | Yan has the table’s code | not Zoe has the table’s code
a name typed outside is shown as it is and does nothing [two]
    zoe taps /join/code code={code} & name=<script>alert(1)</script>
    Ann at / | <script>alert(1)</scrip | not markup <script>alert
"""


def test_the_link_for_phones_that_cannot_scan_leads_to_the_code_field(app, begun):
    (link,) = re.findall(r'href="(/join\?[^"]+)"', stranger(app).get("/").text)

    assert '<details class="cannot-scan" open>' in stranger(app).get(link).text
    assert '<details class="cannot-scan">' in stranger(app).get("/join").text


@pytest.mark.parametrize(("setting", "rows"), scenes(EVENINGS))
def test_on_an_evening(app, match, clock, setting, rows):
    evening.check(app, match, setting, rows, clock)


def phones_of(app) -> Phones:
    return app.extensions["companion"].phones


def phone_of(client) -> str:
    with client.session_transaction() as session:
        return session["phone"]


# --- The host ------------------------------------------------------------------------------------------------


def test_a_wall_screen_or_link_preview_does_not_become_host(app, begun):
    stranger(app, 5).get(f"/wall?t={phone_identity.join_token(SECRET)}")
    stranger(app, 66).get(f"/join?t={phone_identity.join_token(SECRET)}")

    assert phones_of(app).party.host is None


def test_host_and_seats_survive_a_restart(app, two, match, clock):
    again = create_app(match, secret=SECRET, clock=clock)
    ann = stranger(again, 10)
    ann.set_cookie("companion", two[0].get_cookie("companion").value)

    assert phones_of(again).party.host == phone_of(two[0])
    assert "Your turn" in text_of(ann.get("/"))
    assert "This phone is the host’s." in text_of(ann.get("/seats"))


@pytest.mark.parametrize(
    "kept",
    [
        *("", "[]", "{", "null", '{"host": 3, "seats": [1], "let_in": {}}', '{"seats": {"Ann": 1}}'),
        '{"host": "a", "names": {"a": "\\ud800"}}',  # half a surrogate pair
    ],
)
def test_a_damaged_list_of_phones_is_ignored(tmp_path, kept):
    (tmp_path / KEPT_NAME).write_text(kept)

    phones = Phones(tmp_path)
    phones.arrive("first")

    assert phones.party == Party(host="first")


def test_a_seat_that_an_older_version_saved_with_the_name_spelled_otherwise_is_kept(tmp_path):
    kept = {"host": "first", "seats": {"Zoe\u0308": "first"}, "names": {"second": "Rene\u0301"}}
    (tmp_path / KEPT_NAME).write_text(json.dumps(kept))

    party = Phones(tmp_path).party

    assert party.seat_of("first") == "Zo\u00eb"
    assert party.names == {"second": "Ren\u00e9"}


def test_a_list_of_phones_that_cannot_be_saved_is_reported_and_saved_later(tmp_path):
    now_s, told = [0.0], []
    phones = Phones(tmp_path / "gone", clock=lambda: now_s[0], changed=lambda: told.append(now_s[0]))
    phones.arrive("first")

    assert phones.party.host == "first"
    assert "The seating cannot be saved" in str(phones.unkept)

    (tmp_path / "gone").mkdir()
    now_s[0] = 60.0

    assert phones.unkept is None
    assert told[-1] == 60.0
    assert Phones(tmp_path / "gone").party.host == "first"


# --- Seats ---------------------------------------------------------------------------------------------------


def test_the_first_of_two_simultaneous_phones_gets_a_free_seat(app, begun):
    phones = phones_of(app)

    assert [phones.sit(phone, "Ann", over=False) for phone in ("one", "other", "one")] == [True, False, True]
    assert phones.party.seats["Ann"] == "one"


# --- Notices -------------------------------------------------------------------------------------------------


def test_a_newer_notice_on_the_same_matter_replaces_the_old_one_and_old_phones_are_forgotten():
    news = News()
    for number in range(MOST_KEPT + 1):
        news.tell(f"phone {number}", NoticeKind.FREED, "Ann")
        news.tell(f"phone {number}", NoticeKind.GIVEN, "Bob")

    assert news.of("phone 0") == ()
    assert [one.kind for one in news.of("phone 1")] == [NoticeKind.GIVEN]


# --- Phone identity ------------------------------------------------------------------------------------------

IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1"
ANDROID = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/126.0.0.0 Mobile Safari/537.36"
LAPTOP = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0"
EVIL = "<script>alert(1)</script> iPhone " + "x" * 3000


@pytest.mark.parametrize(
    ("browser", "called"),
    [(IPHONE, "iPhone"), (ANDROID, "Android"), (LAPTOP, "computer"), (EVIL, "iPhone"), ("", ""), ("curl/8", "")],
)
def test_the_host_sees_only_a_phones_kind_of_its_user_agent(app, two, browser, called):
    scanned(app, 12).get("/", headers={"User-Agent": browser})
    shown = two[0].get("/seats")

    assert f"Phone 3 {called} Ann Bob Give the seat".replace("  ", " ") in text_of(shown)
    assert "alert(1)" not in shown.text


def test_a_host_without_a_seat_is_not_offered_the_role_again(app, three):
    host, _ann, bob, _cid = three
    tap(bob, "/join", player="")
    tap(host, "/seats/host", phone=phone_of(three[1]))
    shown = three[1].get("/seats").text

    assert "Phone 1" in shown
    assert shown.count("Make host") == 2


# --- Confirmation by the other side --------------------------------------------------------------------------


def test_verification_by_the_other_side_is_logged_and_kept_for_the_next_match(two, begun):
    tap(two[0], "/verify", verify="yes")
    again = Match(begun.store)
    again.start(TWO)

    assert again.state.other_side_verifies


def test_verification_is_chosen_when_setting_up_a_match(page, match):
    fields = {"edition": "classic", "seating": "2x1", "name1": "Ann", "name2": "Bob"}
    tap(page, "/setup", verify="yes", **fields)
    on = match.state.other_side_verifies
    tap(page, "/setup", **fields)

    assert (on, match.state.other_side_verifies) == (True, False)


# --- Permission to undo --------------------------------------------------------------------------------------


def test_a_play_by_a_player_named_hand_does_not_begin_a_hand(page, match):
    match.start(["side hand", "side Bob", "hand first hand"])
    match.enter("hand roll", "Bob")

    assert "Undo: hand, Roll" in text_of(page.get("/"))


def test_a_log_from_before_phones_had_seats_still_replays(tmp_path, clock):
    store = Store.open(tmp_path / "old.sqlite3")
    setup = store.append(None, NewEvent("setup", {"lines": list(TWO[:2]), "by": "somebody"}))[0]
    bodies = [{"text": "hand first Ann", "by": "somebody"}, {"text": "Ann roll", "by": "Ann", "source": "phone"}]
    drafts = [NewEvent("seat", {"player": "Ann", "by": "Ann"}), *(NewEvent("line", body) for body in bodies)]
    store.append(setup.match, *drafts, NewEvent("setting", {"key": "policy", "value": "tap", "by": "Ann"}))
    old = Match(store)
    app = create_app(old, secret=SECRET, clock=clock)

    assert lines(old) == ["Ann roll"]
    assert not old.state.other_side_verifies
    assert "Undo: Ann, Roll" in text_of(app.test_client().get("/"))
    store.close()


def test_a_cookie_without_a_phone_id_gets_one_and_still_works(app, begun):
    old = stranger(app)
    with old.session_transaction() as session:
        session["may"], session["player"] = True, "Ann"

    assert tap(old, "/play", text="Ann roll").status_code == 303
    assert phone_of(old)


# --- The table code ------------------------------------------------------------------------------------------


def test_the_table_code_is_four_clear_letters_and_permanent(app):
    assert re.fullmatch(r"[CDFGHJKLMNPRTVWXY]{4}", CODE)
    assert phone_identity.table_code(SECRET) == CODE
    assert phone_identity.table_code(SECRET[::-1]) != CODE


def test_a_phone_admitted_by_the_host_takes_part_also_after_a_restart(app, two, match, clock):
    asker = stranger(app)
    tap(asker, "/join/code", code=CODE.lower(), name="Zoe")
    tap(two[0], "/seats/asked/1", answer="yes")

    waited = asker.get("/join/waiting", headers={"HX-Request": "true"})

    assert (waited.status_code, waited.headers["HX-Redirect"]) == (204, "/join")
    assert "Who are you?" in text_of(asker.get("/join"))
    assert tap(asker, "/play", text="Ann roll").status_code == 303
    again = stranger(create_app(match, secret=SECRET, clock=clock))
    again.set_cookie("companion", asker.get_cookie("companion").value)
    assert tap(again, "/play", text="Bob roll").status_code == 303


def test_only_five_of_many_simultaneous_codes_are_checked(clock):
    pace = limits.RateLimits(clock)
    with ThreadPoolExecutor(8) as pool:
        waits = list(pool.map(lambda _time: pace.wait_s(limits.RequestKind.CODE, "10.0.0.1", "eve"), range(40)))

    assert waits.count(0) == 5
    assert pace.wait_s(limits.RequestKind.CODE, "10.0.0.1", "zoe") == 0


def type_code(client, code: str = CODE, name: str = "Zoe", **headers: str) -> int:
    """Type a code on a phone; return the response's status."""
    return client.post("/join/code", data={"code": code, "name": name}, headers=HOME | headers).status_code


def test_a_phone_guessing_codes_leaves_tries_for_others_at_its_address(app, two):
    eve, zoe = stranger(app, 66), stranger(app, 66)

    assert [type_code(eve, "XXXX") for _ in range(6)] == [403] * 5 + [429]
    assert type_code(zoe) == 303


def test_a_phone_dropping_its_cookie_gets_the_tries_of_only_a_few_phones(app, two):
    tries = [type_code(stranger(app, 66), "XXXX") for _ in range(40)]

    assert tries.count(403) == 5 * limits.TYPISTS_AT_AN_ADDRESS
    assert tries[-1] == 429
    assert type_code(stranger(app, 67)) == 303


def by_proxy(app, *before: str):
    """Return a new phone behind a proxy on this machine; the last address is the one that the proxy saw."""
    client = app.test_client()
    client.environ_base["HTTP_X_FORWARDED_FOR"] = ", ".join(before)
    return client


def test_phones_behind_a_local_proxy_are_distinguished_by_forwarded_addresses(app, two):
    eve = [type_code(by_proxy(app, f"10.9.9.{number}", "10.0.0.66"), "XXXX") for number in range(40)]

    assert eve[-1] == 429
    assert type_code(by_proxy(app, "10.0.0.67")) == 303


def test_forged_addresses_through_a_proxy_allow_no_unlimited_guessing(app, two):
    tries = [type_code(by_proxy(app, f"10.0.{number}.1"), "XXXX") for number in range(150)]

    assert tries.count(403) == 5 * limits.PHONES_AT_AN_ADDRESS


def test_a_phone_in_the_network_cannot_forge_its_address(app, two):
    tries = [type_code(stranger(app, 66), "XXXX", **{"X-Forwarded-For": f"10.0.0.{n}"}) for n in range(40)]

    assert tries[-1] == 429


def test_one_address_does_not_block_requests_from_others(app, two):
    same = [type_code(stranger(app, 66), name=f"Eve {number}") for number in range(6)]

    assert same == [303] * MOST_ASKING_AN_ADDRESS + [429] * (6 - MOST_ASKING_AN_ADDRESS)
    assert type_code(stranger(app, 67)) == 303


def test_a_full_queue_makes_room_for_a_phone_from_another_address(app, two):
    for address in (66, 67):
        for number in range(MOST_ASKING // 2):
            assert type_code(stranger(app, address), name=f"Eve {address} {number}") == 303

    assert type_code(stranger(app, 68)) == 303
    names = [asked.name for asked in phones_of(app).asked]
    assert (len(names), names[-1]) == (MOST_ASKING, "Zoe")
    assert type_code(stranger(app, 66), name="Eve once more") == 429


def test_strangers_filling_the_queue_do_not_block_phones_at_the_table(app, two):
    for number in range(MOST_ASKING):
        phones_of(app).ask(Wish.JOIN, f"phone {number}", "Eve", address=f"10.0.0.{number}")
    tap(two[1], "/seats/host/ask")

    assert "Bob asks to be the host." in text_of(two[0].get("/seats"))


def test_the_host_refuses_everyone_who_typed_the_code_at_once(app, two):
    waiting = [stranger(app, 60 + number) for number in range(3)]
    for number, phone in enumerate(waiting):
        type_code(phone, name=f"Eve {number}")
    page = two[0].get("/seats")
    path = re.findall(r'action="(/seats/asked/\d+)"', page.text)[0]
    assert "Refuse all 3 requests by code" in text_of(page)

    assert tap(two[1], path, answer="none").status_code == 403
    assert len(phones_of(app).asked) == 3
    tap(two[0], path, answer="none")

    assert phones_of(app).asked == ()
    assert "The host did not let this phone in" in text_of(waiting[2].get("/join"))


@pytest.mark.parametrize(("path", "fields"), [("/seats/host/ask", {}), ("/join", {"player": "Ann", "ask": "1"})])
def test_a_phone_is_told_if_too_many_are_waiting(app, two, clock, path, fields):
    phones = phones_of(app)
    waiting = [phones.ask(Wish.HOST, f"phone {number}", "Zoe") for number in range(MOST_ASKING + 1)]
    answer = tap(two[1], path, **fields)

    assert waiting == [True] * MOST_ASKING + [False]
    assert "Too many phones are waiting for an answer: try again in a minute." in text_of(two[1].get(answer.location))
    clock.now_s += SEAT_AWAY_S
    assert phones.asked == ()
    assert phones.ask(Wish.JOIN, "a later phone", "Zoe")


def test_admitted_phones_at_one_address_may_ask_freely(tmp_path):
    phones = Phones(tmp_path)

    assert all(phones.ask(Wish.SEAT, f"phone {number}", player="Ann") for number in range(MOST_ASKING))


def test_only_necessary_data_about_phones_is_saved(app, two, begun):
    kept = json.loads((begun.store.path.parent / KEPT_NAME).read_text())

    assert set(kept) == {"host", "seats", "watching", "let_in", "names"}
    assert set(kept["seats"]) == {"Ann", "Bob"}


def test_inserting_or_correcting_a_line_cannot_bypass_verification(match):
    match.start(["side Ann", "side Bob", "hand first Ann"], verified=True)
    match.enter("Ann roll", "Bob")
    line = match.state.hand_entries[0].seq

    assert not match.rewrite(EventKind.LINE, line, "Ann 200 anyway", "Ann").done
    assert not match.correct(line, "Ann right-of-way", "Ann").done
    assert match.correct(line, "Ann right-of-way", "Bob").done
    assert match.correct(line, "Ann roll", "Ann", vouched=True).done


def test_a_seat_can_be_taken_with_joiners_in_its_name(app, match):
    player = "علی\u200cرضا"
    match.start((f"side {player}", "side Bob", f"hand first {player}"))
    phone = scanned(app, 9)
    shown = html.unescape(phone.get("/join").text)
    offered = re.findall(r'name="player" value="([^"]+)"', shown)

    assert player in offered
    assert tap(phone, "/join", player=player).status_code == 303
    assert player in phones_of(app).party.seats

"""What the table page says of itself: a hand's end, what others changed, a camera that is not there, old lines."""

from __future__ import annotations

import re

import pytest
from client import HOME, SECRET, TWO, played, tap, text_of

from companion.match.match import Policy
from companion.pages import Camera, create_app
from companion.pages.players import phone_identity

THREE = ("side Ann", "side Bob", "side Cid", "hand first Ann")
LIVE = {**HOME, "HX-Request": "true"}


@pytest.fixture
def match(match):
    match.start(TWO)
    return match


@pytest.fixture
def app(match):
    return create_app(match, secret=SECRET, base_url="http://192.168.1.20:8080", camera=Camera(lambda: b"a picture"))


@pytest.fixture
def blind(match):
    """The pages of a table without a camera."""
    return create_app(match, secret=SECRET, base_url="http://192.168.1.20:8080").test_client()


@pytest.fixture
def two(app):
    """Ann's phone, which is the host's, and Bob's."""
    return seated(app, "Ann", 10), seated(app, "Bob", 11)


def seated(app, player: str, number: int):
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = f"192.168.1.{number}"
    client.get(f"/join?t={phone_identity.join_token(SECRET)}", follow_redirects=True)
    tap(client, "/join", player=player)
    return client


def live(client, path="/"):
    """The part that a page fetches when something has changed."""
    return client.get(path, headers=LIVE)


# A hand's end


def test_at_a_hands_end_every_phone_is_led_to_the_score_once_and_goes_on_with_the_next_hand(two, match):
    ann, bob = two
    match.enter("end", "Ann")

    for phone in two:
        assert live(phone).headers["HX-Redirect"] == "/score"
        assert "See the score" in text_of(live(phone))
        phone.get("/score")
    assert live(bob, "/score").status_code == 200
    tap(ann, "/hand")

    assert live(bob, "/score").headers["HX-Redirect"] == "/"
    assert live(bob, "/score").status_code == 200


def test_the_phones_at_the_score_come_back_when_the_end_is_undone_or_a_new_match_begins(two, match):
    _ann, bob = two
    for goes_on in (lambda: match.undo("Ann"), lambda: match.start(TWO)):
        match.enter("end", "Ann")
        assert live(bob).headers["HX-Redirect"] == "/score"
        bob.get("/score")
        goes_on()

        assert live(bob, "/score").headers["HX-Redirect"] == "/"


def test_the_screen_of_the_machine_is_led_to_the_score_too_and_a_browser_that_keeps_no_cookie_stays(app, match):
    machine, forgetful = app.test_client(), app.test_client(use_cookies=False)
    forgetful.environ_base["REMOTE_ADDR"] = "192.168.1.77"
    match.enter("end", "Ann")

    assert live(machine).headers["HX-Redirect"] == "/score"
    assert live(machine).status_code == 200
    assert live(forgetful).status_code == 200


def test_the_extension_is_asked_on_the_phones_of_the_side_that_decides(two, match):
    ann, bob = two
    played(match, "Ann roll", "Bob roll", *["Ann 100", "Bob discard 25"] * 6, "Ann 100")

    for path in ("/", "/plain"):
        assert "Extend to 1000" in text_of(ann.get(path))
        assert "Extend to 1000" not in text_of(bob.get(path))
    assert "Ann decides" in text_of(bob.get("/"))
    tap(ann, "/join")
    assert "Extend to 1000" in text_of(bob.get("/"))


def test_whoever_opened_the_score_by_himself_stays_there(two, match):
    _ann, bob = two
    bob.get("/score")
    match.enter("end", "Ann")
    assert live(bob, "/score").status_code == 200
    match.next_hand("Ann")

    assert live(bob, "/score").status_code == 200


def test_a_hands_end_leads_nowhere_while_something_is_asked(two, match):
    ann, _bob = two
    match.enter("end", "Ann")
    match.enter("Ann 100", "Ann")
    assert match.state.questions

    assert live(ann).status_code == 200


def test_the_tap_that_ends_a_hand_leads_to_the_score_without_a_script_too(two):
    ann, _bob = two

    assert tap(ann, "/play", text="end").headers["Location"] == "/score"


def test_the_one_who_begins_anyway_is_not_offered_as_somebody_else(two, match):
    match.start(THREE)
    match.enter("end", "Ann")
    page = two[0].get("/score").get_data(as_text=True)
    offered = re.findall(r'<button class="button" name="first" value="(\w+)"', page)

    assert offered == ["Ann", "Cid"]


# What others did to a line


def test_a_side_is_told_when_another_changes_its_line(two, match):
    ann, bob = two
    match.enter("Ann roll", "Ann")
    tap(bob, f"/line/{match.state.hand_entries[0].seq}/correct", text="Ann discard 25")

    assert "Bob changed your line “Ann rolls” to “Ann discards 25 km”." in text_of(ann.get("/"))
    assert "changed your line" not in text_of(bob.get("/"))
    tap(ann, "/changed", seq=match.state.changes[-1].seq)
    assert "changed your line" not in text_of(ann.get("/"))


def test_a_side_is_told_of_each_change_one_after_the_other(two, match):
    ann, bob = two
    played(match, "Ann roll", "Bob roll")
    lines = [entry.seq for entry in match.state.hand_entries]
    tap(bob, f"/line/{lines[0]}/correct", text="Ann discard 25")
    tap(bob, f"/line/{lines[1]}/correct", text="Bob discard 50")

    for path in ("/", "/plain"):
        assert "Bob changed your line “Ann rolls”" in text_of(ann.get(path))
    tap(ann, "/changed", seq=match.state.changes[0].seq)
    assert "changed your line" not in text_of(ann.get("/"))


def test_a_line_made_anothers_is_given_back_by_the_side_whose_it_was(two, match):
    ann, bob = two
    match.enter("Ann roll", "Bob")
    line = match.state.hand_entries[0]
    tap(bob, f"/line/{line.seq}/correct", text="Bob discard 25")

    assert tap(ann, "/undo", seq=match.state.undoable.seq).status_code == 303
    assert match.state.entry(line.seq).written.text == "Ann roll"


def test_a_side_is_told_when_another_takes_its_line_out_and_may_undo_that(two, match):
    ann, bob = two
    match.enter("Ann roll", "Ann")
    match.enter("Bob roll", "Ann")
    line = match.state.hand_entries[1]
    tap(ann, f"/line/{line.seq}/retract")
    shown = bob.get("/")

    assert "Ann took out your line “Bob rolls”." in text_of(shown)
    assert f'name="seq" value="{match.state.undoable.seq}"' in shown.get_data(as_text=True)
    tap(bob, "/undo", seq=match.state.undoable.seq)
    assert "took out your line" not in text_of(bob.get("/"))
    assert match.state.entry(line.seq) is not None


def test_an_undo_of_another_sides_play_is_told_too(two, match):
    ann, bob = two
    played(match, "Ann roll", "Bob roll")
    tap(ann, "/undo")

    assert "Ann took out your line “Bob rolls”." in text_of(bob.get("/"))
    tap(ann, "/redo")
    assert "your line" not in text_of(bob.get("/"))


def test_nobody_is_told_what_his_own_side_did_nor_what_changed_nothing(two, match):
    ann, bob = two
    match.enter("Ann roll", "Ann")
    line = match.state.hand_entries[0].seq
    tap(ann, f"/line/{line}/correct", text="Ann discard 25")
    assert "your line" not in text_of(ann.get("/"))
    tap(bob, f"/line/{line}/correct", text="Ann discard 25 anyway")

    assert "your line" not in text_of(ann.get("/"))


def test_a_phone_without_a_seat_is_told_nothing(app, match):
    match.enter("Ann roll", "Ann")
    match.correct(match.state.hand_entries[0].seq, "Ann discard 25", "Bob")

    assert "your line" not in text_of(app.test_client().get("/"))


# The camera that is not there


def test_a_table_without_a_camera_is_not_asked_about_it(blind, two):
    assert "When the camera sees a play" not in text_of(blind.get("/setup"))
    assert "When the camera sees a play" not in text_of(blind.get("/more"))
    assert "The other side confirms" in text_of(blind.get("/setup"))
    assert "When the camera sees a play" in text_of(two[0].get("/setup"))
    assert "When the camera sees a play" in text_of(two[0].get("/more"))
    assert "No camera looks at the table." in text_of(blind.get("/camera"))


def test_a_match_set_up_without_the_question_keeps_how_plays_are_confirmed(blind, match):
    match.set_policy(Policy.AUTO, "Ann")
    tap(blind, "/setup", edition="classic", seating="2x1", name1="Ann", name2="Bob", replace="1")

    assert match.state.policy is Policy.AUTO


def test_the_camera_is_put_away_for_the_evening_and_comes_back(two, match):
    ann, bob = two
    match.trouble("The camera sends no pictures any more.")
    assert "Play without the camera" in text_of(bob.get("/"))
    tap(bob, "/without-camera", camera="no")

    assert all("no pictures any more" not in text_of(phone.get("/")) for phone in two)
    assert "no pictures any more" not in text_of(ann.get("/plain"))
    assert "no pictures any more" not in text_of(ann.get("/wall"))
    assert "no pictures any more" in text_of(ann.get("/camera"))
    match.start(TWO)
    assert "no pictures any more" not in text_of(ann.get("/"))
    assert "Play with the camera again" in text_of(ann.get("/more"))
    tap(ann, "/without-camera", camera="yes")
    assert "no pictures any more" in text_of(bob.get("/"))
    assert "Play with the camera again" not in text_of(ann.get("/more"))


# Old lines


def test_cards_for_an_old_line_are_faint_by_the_table_of_that_moment(two, match):
    ann, _bob = two
    match.enter("Ann roll", "Ann")
    line = match.state.hand_entries[0].seq
    old, new = text_of(ann.get(f"/line/{line}?player=Ann")), text_of(ann.get("/play"))

    assert "Faint cards were illegal at that moment." in old
    assert "illegal now" not in old
    assert "Faint cards would be illegal now." in new

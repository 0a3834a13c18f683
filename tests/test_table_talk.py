"""What the table page says of itself: a hand's end, what others changed, a camera that is not there, old lines."""

import evening
import pytest
from client import SECRET, tap, text_of
from sheet import scenes

from companion.match.state import Policy
from companion.pages import Camera, create_app


@pytest.fixture
def app(match):
    return create_app(match, secret=SECRET, base_url="http://192.168.1.20:8080", camera=Camera(lambda: b"a picture"))


@pytest.fixture
def blind(begun):
    """The pages of a table without a camera."""
    return create_app(begun, secret=SECRET).test_client()


EVENINGS = """
# A hand's end

at a hand’s end every phone is led to the score once and goes on with the next hand [two]
    end; Ann polls / -> /score; Ann polls /; Ann reads | See the score; Ann at /score
    Bob polls / -> /score; Bob polls /; Bob reads | See the score; Bob at /score; Bob polls /score
    Ann taps /hand; Bob polls /score -> /; Bob polls /score
the phones at the score come back when the end is undone or a new match begins [two]
    end; Bob polls / -> /score; Bob at /score; Ann taps /undo; Bob polls /score -> /
    end; Bob polls / -> /score; Bob at /score; anew; Bob polls /score -> /
the extension is asked on the phones of the side that decides [two]
    Ann roll; Bob roll; Ann 100; Bob discard 25; Ann 100; Bob discard 25; Ann 100; Bob discard 25; Ann 100
    Bob discard 25; Ann 100; Bob discard 25; Ann 100; Bob discard 25; Ann 100
    Ann at / | Extend to 1000; Ann at /plain | Extend to 1000; Bob at /plain | not Extend to 1000
    Bob at / | Ann decides | not Extend to 1000; Ann taps /join; Bob at / | Extend to 1000
the one who begins anyway is not offered as somebody else [three]
    end; host at /score | markup name="first" value="Ann" | markup name="first" value="Cid"
    host reads | not markup name="first" value="Bob"
whoever opened the score stays there [two]
    Bob at /score; end; Bob polls /score; Ann taps /hand; Bob polls /score
a hand’s end leads nowhere while something is asked [two]
    end; Ann taps /play text=Ann 100; asked Ann 100; Ann polls /
the tap that ends a hand leads to the score without a script too [two]
    Ann taps /play text=end -> /score

# What others did to a line

a side is told when another changes its line [two]
    Ann roll; Bob taps {line}/correct text=Ann discard 25; Bob at / | not changed your line
    Ann at / | Bob changed your line “Ann plays Roll” to “Ann discards 25 km”.
    Ann taps /changed seq={changed}; Ann at / | not changed your line
a side is told of each change one after the other [two]
    Ann roll; Bob roll; Bob taps {line 1}/correct text=Ann discard 25; Bob taps {line 2}/correct text=Bob discard 50
    Ann at / | Bob changed your line “Ann plays Roll”; Ann at /plain | Bob changed your line “Ann plays Roll”
    Ann taps /changed seq={changed 1}; Ann at / | not changed your line
a line made another’s is given back by the side whose it was [two]
    Bob taps /play text=Ann roll; Bob taps {line}/correct text=Bob discard 25 & anyway=1
    Ann taps /undo seq={seq}; lines Ann roll
a side is told when another takes its line out and may undo that [two]
    Ann roll; Ann taps /play text=Bob roll; Ann taps {line 2}/retract
    Bob at / | Ann removed your line “Bob plays Roll”. | markup name="seq" value="{seq}"
    Bob taps /undo seq={seq}; Bob at / | not removed your line; lines Ann roll, Bob roll
an undo of another side’s play is told too [two]
    Ann roll; Bob roll; Ann taps /undo; Bob at / | Ann removed your line “Bob plays Roll”.
    Ann taps /redo; Bob at / | not your line
nobody is told what the own side did nor what changed nothing [two]
    Ann roll; Ann taps {line}/correct text=Ann discard 25; Ann at / | not your line
    Bob taps {line}/correct text=Ann discard 25 anyway; Ann at / | not your line
a phone without a seat is told nothing
    Ann roll; Bob sits; Bob taps {line}/correct text=Ann discard 25; machine at / | not your line

# The camera that is not there, and old lines

the camera is put away for the evening and comes back [two]
    trouble The camera no longer sends pictures.; Bob at / | Play without the camera
    Bob taps /without-camera camera=no; Ann at / | not no longer sends pictures; Bob at / | not no longer sends pictures
    Ann at /plain | not no longer sends pictures; Ann at /wall | not no longer sends pictures
    Ann at /camera | no longer sends pictures; anew; Ann at / | not no longer sends pictures
    Ann at /more | Use the camera again; Ann taps /without-camera camera=yes
    Bob at / | no longer sends pictures; Ann at /more | not Use the camera again
cards for an old line are faint by the table of that moment [two]
    Ann roll; Ann at {line}?player=Ann | Grayed-out cards were not allowed at that moment. | not not allowed now
    Ann at /play | Grayed-out cards are not allowed now.
"""


@pytest.mark.parametrize(("setting", "rows"), scenes(EVENINGS))
def test_on_an_evening(app, match, setting, rows):
    evening.check(app, match, setting, rows)


def test_the_screen_of_the_machine_is_led_to_the_score_too_and_a_browser_that_keeps_no_cookie_stays(app, begun):
    machine, forgetful = app.test_client(), app.test_client(use_cookies=False)
    forgetful.environ_base["REMOTE_ADDR"] = "192.168.1.77"
    begun.enter("end", "Ann")
    first, second, other = (one.get("/", headers={"HX-Request": "true"}) for one in (machine, machine, forgetful))

    assert first.headers["HX-Redirect"] == "/score"
    assert second.status_code == other.status_code == 200


def test_a_table_without_a_camera_is_not_asked_about_it(blind, page):
    for path in ("/setup", "/more"):
        assert "When the camera sees a play" in text_of(page.get(path))
        assert "When the camera sees a play" not in text_of(blind.get(path))
    assert "The other side confirms" in text_of(blind.get("/setup"))
    assert "No camera is connected." in text_of(blind.get("/camera"))


def test_a_match_set_up_without_the_question_keeps_how_plays_are_confirmed(blind, begun):
    begun.set_policy(Policy.AUTO, "Ann")
    tap(blind, "/setup", edition="classic", seating="2x1", name1="Ann", name2="Bob", replace="1")

    assert begun.state.policy is Policy.AUTO

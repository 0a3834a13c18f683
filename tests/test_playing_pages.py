"""The playing screen: own side, coups fourrés, waiting plays, legal cards, text version."""

import re

import cv2
import evening
import numpy as np
import pytest
from client import SECRET, TWO, scanned, stranger, text_of, values
from client import played as play
from evening import PAIRS, THREE
from seen import camera
from sheet import scenes

from companion.match.state import RobotSeat
from companion.pages import Camera, create_app
from companion.pages.context import NO_CAMERA
from companion.pages.game.views import side_views
from companion.rules.referee import legal_plays
from companion.vision.quality.advice import Advice
from companion.vision.quality.live_survey import Survey

# --- The own side --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "player", "first", "sides"),
    [(TWO, "Bob", ("side", "Bob"), 2), (THREE, "Bob", ("side", "Bob"), 3), (PAIRS, "Bob", ("side", "Bob &amp; Dee"), 2),
     (THREE, "", ("strip", "Ann"), 3)],
)  # fmt: skip
def test_a_seated_phone_shows_its_own_side_first_and_large(app, match, header, player, first, sides):
    match.start(header)
    shown = scanned(app, player=player).get("/").text

    kinds = re.findall(r'<article class="(side|strip)\b.*?<h2>.*?<span>([^<]+)', shown, re.S)
    assert (kinds[0], [kind for kind, _who in kinds[1:]]) == (first, ["strip"] * (sides - 1))


@pytest.mark.parametrize(
    ("plays", "sign", "because_of"),
    [
        (["Ann discard 25"], None, None), (["Ann roll"], "roll", None), (["Ann roll", "Bob stop > Ann"], "stop", None),
        (["Ann roll", "Bob accident > Ann", "Ann repairs"], None, "repairs"),
        (["Ann right-of-way", "Ann 25"], "roll", "right-of-way"),
    ],
)  # fmt: skip
def test_the_large_sign_shows_the_cars_state_and_the_small_one_its_cause(match, plays, sign, because_of):
    match.start(["side Ann", "side Bob", "hand first Ann"])
    ann = side_views(play(match, *plays).state.game, None)[0]

    assert (ann["sign"], ann["because_of"]) == (sign, because_of)


EVENINGS = """
a stopped side says what stops it and what it needs
    Ann roll; Bob accident > Ann; Ann discard 25; Ann sits; Ann at / | Accident | You need Repairs or Driving Ace.
the others are told that a coup fourré may come
    Ann roll; Bob stop > Ann; Bob sits; Bob at / | Ann may counter with a coup fourré. | not Coup fourré! Ann
a phone for the whole table can enter the coup fourré
    Ann roll; Bob stop > Ann; machine at / | Coup fourré! Ann: Right of Way
the chance is gone once somebody has played on
    Ann roll; Bob stop > Ann; Ann discard 25; Ann sits; Ann at / | not Coup fourré
what may be played comes first
    Ann sits; Ann at /may | Bob Remedies Roll Hazards Speed Limit | Enter a discard Not allowed, and why Distances
what may not be played says why for all cards alike
    Ann sits
    Ann at /may | 25 km, 50 km, 75 km, 100 km, 200 km Ann cannot drive yet. Instead: Roll or Right of Way. From the
two reasons at once are said once each, with all the cards that they are about
    Ann roll; Bob speed-limit > Ann; Ann discard 25; Bob stop > Ann; Ann discard 25; Bob discard 25; Ann sits
    Ann at /may | 25 km, 50 km, 75 km, 100 km, 200 km Ann cannot drive under Stop: | 75 km, 100 km, 200 km Speed Limit:
what would be allowed instead is said of the first reason alone, as the others still stand
    Ann discard 25; Bob speed-limit > Ann; Ann sits
    Ann at /may | Ann cannot drive yet. Instead: Roll or Right of Way. | only 25 and 50 are allowed. From the
        | not Instead: 25, 50 or End of Limit; anew; Ann roll; Bob speed-limit > Ann
    Ann at /may | Speed Limit: only 25 and 50 are allowed. Instead: 25, 50 or
a safety that may not be discarded is told [option discard-safety=forbidden]
    machine at /may | You can discard any other card.
        | Driving Ace, Extra Tank, Puncture Proof, Right of Way A safety cannot be discarded.
out of turn the cards are shown as they would stand and none can be entered
    Ann roll; Ann sits
    Ann at /may | This is what you could play if it were yours. | not button Ann 100
        | Distances 25 km 50 km 75 km 100 km 200 km
an answer out of turn can be entered although it is somebody else’s turn [side Ann; side Bob; side Cid]
    Ann roll; Bob stop > Ann; Ann sits; Ann at /may | button Ann right-of-way ! | not button Ann roll
the page asks nothing of a hand that is over
    end; Ann sits; Ann at /may | The hand is over | not button Ann roll
the plain page tells the table in sentences
    Ann roll; Bob roll; Ann 100; Bob stop > Ann; Ann sits
    Ann at /plain | It is your turn.
        | Ann (you) 100 km driven, 600 km to go. Car: Stopped. You need Roll or Right of Way.
        | Bob stops Ann. Ann needs Roll or Right of Way.
an illegal play that was typed can be changed
    Ann sits; Ann taps /play text=Ann 100; Ann at / | Take it back Play it anyway Change
    Ann reads | not The camera is wrong
the phone of another says who takes an illegal play back [two]
    sees Ann 100; Bob at / | Ann takes it back; Ann at / | Take it back; machine at / | Take it back
the window of a coup fourré is on the phone of the attacked alone [two]
    Ann roll; Bob stop > Ann; Ann at / | markup data-window; Bob at / | not markup data-window
    machine at / | not markup data-window
another attack has another window
    Ann sits; Ann roll; Bob stop > Ann; Ann at / | markup data-window="1.{seq}"
    Ann roll; Bob accident > Ann; Ann at / | markup data-window="1.{seq}"
partners have each their own chance and can enter the other’s [pairs]
    Ann roll; Bob stop > Ann; Cid sits
    Cid at / | markup data-window | button Cid right-of-way ! | Coup fourré! Ann: Right of Way
a coup fourré seen of a pair offers both partners and no third button [pairs]
    Ann roll; Bob stop > Ann; perhaps Cid right-of-way ! or Ann right-of-way !
    machine at / | buttons Cid right-of-way !, Ann right-of-way !
        | Or was it: Coup fourré! Ann counters with Right of Way.
the chance stays while a card waits to be confirmed
    Ann sits; Ann roll; Bob stop > Ann; sees Ann discard 25; Ann at / | button Ann right-of-way !
    Ann reads | not markup data-window
an illegal play that the camera saw has three answers
    Ann sits; sees Ann 100; Ann at / | Take it back Play it anyway The camera is wrong | From the classic rules
    Ann at {asked} | What was it? | Not a play
one tap confirms all legal plays that wait
    Ann sits; sees Ann roll; Ann at / | not Confirm all; sees Bob roll; sees Ann 100
    Ann at / | 2 more plays are waiting: Bob plays Roll. Ann drives 100 km. Confirm all 3
    Ann taps /question/1-2-camera.3-play; lines Ann roll, Bob roll, Ann 100
only the legal plays before an illegal one are confirmed together
    Ann sits; sees Ann roll; sees Bob roll; sees Ann stop > Bob; sees Bob 100
    Ann at / | Bob drives 100 km. Not allowed | Confirm the first 3
a tap on a legal card enters it and who only watches sees what is legal
    Ann sits; Ann at /may | button Ann roll; Ann taps /play text=Ann roll; lines Ann roll
    eve at /may | Roll | not markup name="text"
what waits is answered on the plain page and leads back to it
    Ann sits; sees Ann roll; Ann at /plain | To confirm Ann plays Roll. Confirm
    Ann taps {asked} page=plain -> /plain; lines Ann roll
what was written wrongly comes back to be mended
    Ann sits; Ann taps /plain/play text=Ann rol -> /plain?text=Ann+rol#enter
    Ann at /plain?text=Ann+rol | markup value="Ann rol"
an illegal play from the plain page waits there with its answers
    Ann sits; Ann taps /plain/play text=Ann 100 -> /plain#now
    Ann at /plain | Not allowed Ann drives 100 km. Ann cannot drive yet. | Take it back Play it anyway Change
a play is put together from the choices of the plain page
    Ann sits; Ann taps /plain/play player=Ann & how=lay & card=roll -> /plain#now; Bob roll
    Ann taps /plain/play player=Ann & how=lay & card=stop & target=Bob -> /plain#now; Bob roll
    Ann taps /plain/play player=Ann & how=lay & card=stop -> /plain#now; Bob roll
    Ann taps /plain/play player=Ann & how=discard & card=100 -> /plain#now; Bob discard 25
    Ann taps /plain/play text=Ann 100 -> /plain#now; lines Ann roll, Bob roll, Ann stop > Bob, Bob roll,
        Ann stop > Bob, Bob roll, Ann discard 100, Bob discard 25, Ann 100
what is missing in the choices of the plain page is said [three]
    Ann taps /plain/play player=Ann -> /plain#enter; Ann at /plain | Choose the card that was played.
    Ann taps /plain/play player=<b> & card=roll -> /plain#enter; Ann at /plain | Choose who played.
    Ann taps /plain/play player=Ann & card=stop -> /plain#enter; Ann at /plain | Choose who gets the hazard.
    Ann taps /plain/play player=Ann & card=theft -> /plain#enter; Ann at /plain | Choose the card that was played.
    lines -
a line of the log says who saw to it
    Ann sits; Bob sits; Bob taps /play text=Ann roll; Ann at / | Ann plays Roll. entered by Bob
    machine taps /play text=Bob roll; Ann at / | Bob plays Roll. entered on a phone
    sees Ann 100; Bob taps {asked}; Ann at / | Ann drives 100 km. confirmed by Bob
    machine taps /policy policy=auto; sees Bob 50; Ann at / | Bob drives 50 km. by the camera
    Ann taps {line 4}/correct text=Bob 25; Ann at / | Bob drives 25 km. corrected by Ann
the last play says how it sounds
    Ann sits; Ann roll; Ann at / | markup data-kind="roll"; Bob stop > Ann; Ann at / | markup data-kind="attack"
    Ann right-of-way !; Ann at / | markup data-kind="coup-fourre"; Ann 100; Ann at / | markup data-kind="distance"
    Bob driving-ace; Ann at / | markup data-kind="safety"; Bob discard 25; Ann at / | markup data-kind="other"
who only watches may read the plain page and change nothing
    eve at /plain | not markup <select; eve taps /plain/play text=Ann roll -> 401; lines -

# Without a camera the deck stands under the board: a tap is a play

the board bears a button for each card laid or discarded
    machine at / | button Ann roll | button Ann 25 | button Ann stop > Bob | button Ann discard 25
    machine taps /play text=Ann roll; lines Ann roll; machine at / | What does Bob play? | button Bob stop > Ann
with several opponents a hazard asks whom it hits [side Ann; side Bob; side Cid]
    machine at / | markup href="/play?player=Ann&amp;card=stop"
what waits for an answer takes its place
    machine taps /play text=Ann 100; machine at / | not markup tiles
the end of the hand takes its place
    end; machine at / | not markup tiles
a play that is refused is asked about on the board
    Ann roll; Bob roll; machine taps /play text=Ann stop > Ann; machine at / | Not allowed
"""


@pytest.mark.parametrize(("setting", "rows"), scenes(EVENINGS))
def test_on_an_evening(app, match, setting, rows):
    evening.check(app, match, setting, rows)


def test_no_deck_below_the_board_with_a_camera_when_watching_or_in_a_dealt_match(app, match):
    match.start(TWO)
    asks, machine, watcher = "What does Ann play?", app.test_client(), stranger(app)
    sees = create_app(match, secret=SECRET, camera=Camera(lambda: b"a picture")).test_client()

    assert asks in text_of(machine.get("/"))
    assert asks not in text_of(watcher.get("/"))
    assert asks not in text_of(sees.get("/"))
    match.play_without_camera(on=True)
    assert asks in text_of(sees.get("/"))
    match.start(TWO, robots={"Bob": 1})
    assert asks not in text_of(machine.get("/"))


# --- Table and record differ ---------------------------------------------------------------------------------


ZONE = ((100.0, 100.0), (200.0, 100.0), (200.0, 300.0), (100.0, 300.0))


def differing(match, picture, zone="side-1/distance"):
    """Return a browser for a zone whose card differs from the record, with a survey of Ann's distances."""
    match.start(TWO)
    camera(match).differs(1, zone, "100", "75")
    survey = Survey(Advice((640, 480), 9.0, (), (), None, None), {"side-1/distance": ZONE}, {})
    seen = Camera(lambda: b"a picture", lambda: picture, lambda: survey) if picture is not None else NO_CAMERA
    return create_app(match, secret=SECRET, camera=seen).test_client()


@pytest.fixture
def two_tone():
    """A picture, white in the zone and black elsewhere."""
    picture = np.zeros((480, 640, 3), np.uint8)
    picture[100:300, 100:200] = 255
    return picture


def shown_zone(client):
    answer = client.get("/question/1-2-camera.1-differs.jpg")
    return cv2.imdecode(np.frombuffer(answer.data, np.uint8), cv2.IMREAD_COLOR)


def test_a_difference_only_in_position_shows_no_signs(page, begun):
    camera(begun).differs(1, "side-1/distance", "100", "100", "Ann 100")
    shown = text_of(page.get("/"))

    assert "The table is right" in shown
    assert "The table:" not in shown


def test_a_difference_shows_the_camera_picture_beside_the_record(match, two_tone):
    page = differing(match, two_tone)

    assert page.get("/question/1-2-camera.2-differs.jpg").status_code == 404
    assert 'src="/question/1-2-camera.1-differs.jpg"' in page.get("/").text
    assert "The table: 75 km The record: 100 km" in text_of(page.get("/"))


@pytest.mark.parametrize("scale", [1, 2], ids=["the usual picture", "one of half the size"])
def test_the_picture_of_a_difference_is_the_zone_with_a_margin(match, two_tone, scale):
    shown = shown_zone(differing(match, two_tone[::scale, ::scale].copy()))

    assert abs(shown.shape[0] - 260 // scale) < 4
    assert abs(shown.shape[1] - 130 // scale) < 4
    assert 0.5 < (shown > 128).mean() < 0.7


def test_the_whole_picture_is_shown_if_the_zone_is_not_visible(match, two_tone):
    assert shown_zone(differing(match, two_tone, "side-2/battle")).shape[:2] == (360, 480)


def test_without_a_picture_a_difference_is_shown_as_signs(match):
    page = differing(match, None)

    assert page.get("/question/1-2-camera.1-differs.jpg").status_code == 404
    assert "<img" not in page.get("/").text
    assert "The table: 75 km The record: 100 km" in text_of(page.get("/"))


# --- What may I play? ----------------------------------------------------------------------------------------


def test_the_legal_cards_are_those_that_the_referee_allows(app, match):
    match.start(THREE)
    play(match, "Ann roll", "Bob stop > Ann", "Cid roll")
    table = match.state.game.table

    laying = {str(p) for p in legal_plays(table, "Ann") if p.verb == "play"}
    assert {*values(scanned(app, player="Ann").get("/may"))} == laying
    assert "Ann accident > Cid" in laying


@pytest.mark.parametrize("path", ["/", "/plain", "/score", "/may", "/play"])
def test_every_page_begins_with_a_skip_link(page, begun, path):
    body = page.get(path).text.partition("<body")[2]

    assert re.search(r'<a\b[^>]*href="([^"]+)"', body)[1] == ("/plain" if path == "/" else "#live")


@pytest.mark.parametrize("is_dealt", [True, False])
def test_a_robots_side_is_marked_on_every_page(page, match, is_dealt):
    match.start(("side Ann", "side Bob", "hand first Ann"), robots={"Bob": 1} if is_dealt else None)
    match.seat_robot(None if is_dealt else RobotSeat("Bob", 2), "Ann")

    shown = [text_of(page.get(path)) for path in ("/", "/wall", "/plain")]

    assert [re.findall(r"(\w+) \(?robot\b", text) for text in shown] == [["Bob"]] * 3

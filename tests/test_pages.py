"""The pages: what they show, what a tap does, what they refuse."""

import html
import random
import re
import socket

import evening
import pytest
import signs
from client import HOME, SECRET, TWO, form_of, lines, played, seen, stranger, tap, text_of, values
from jinja2 import DictLoader, Environment
from seen import camera
from sheet import scenes

from companion.app.usage import here, terminal_language
from companion.common.errors import Problem
from companion.common.text import say
from companion.match.match import Match
from companion.match.state import Policy
from companion.match.zone_plays import where
from companion.pages import Camera, announce, create_app, serve
from companion.pages.game import views
from companion.pages.players import phone_identity
from companion.pages.players.names import clean, record_names
from companion.pages.server import address
from companion.pages.server.address import given_names
from companion.pages.server.guard import is_our_name, is_our_page
from companion.pages.templating import Compiled
from companion.rules.card_names import card_term
from companion.rules.cards import Card
from companion.rules.editions.edition import edition_names, load_edition, switches
from companion.rules.play import Play, Verb
from companion.rules.referee import legal_plays
from companion.rules.table import Table
from companion.tabletop import translation


@pytest.fixture
def app(match):
    pictures = Camera(lambda: b"a picture")
    return create_app(match, secret=SECRET, base_url="http://192.168.1.20:8080", camera=pictures)


@pytest.fixture
def phone(app):
    return stranger(app)


# --- The table -----------------------------------------------------------------------------------------------


EVENINGS = """
the table shows whose turn it is and the way left
    Ann roll; Bob roll; Ann 100; machine at / | Bob’s turn | Ann drives 100 km. | 600 km to go
an attack says who needs what
    Ann roll; Bob stop > Ann; machine at / | Bob stops Ann. Ann needs Roll or Right of Way. | Coup fourré!
the score begins with the match as it stands and says what it was before the open hand
    Ann roll; Bob roll; Ann 100
    machine at /score | Ann 100 Bob 0 First to 5000 points wins. Including this hand so far.
        | This hand 100 0 Match before this hand 0 0
an attack that was mirrored says what its new victim needs [edition rush; side Ann; side Bob; side Cid]
    Ann stop > Bob; Bob mirror !; machine at / | Mirror! Bob sends the attack back. Ann needs Go or Emergency Vehicle.
a demand does not speak of what its victim lacks [edition rush; side Ann; side Bob; side Cid]
    Ann stop > Bob; Bob discard 50; Cid control 50 > Bob; machine at / | Cid demands 50 km from Bob. | not is needed
what is worth a word about a play stands in the log [edition rush; side Ann; side Bob; side Cid]
    Ann stop > Bob; Bob right-of-way
    machine at / | Bob plays Emergency Vehicle. Played on the player’s own turn, so not a coup fourré
two alike fetch a card of the discard pile [edition rush; side Ann; side Bob; side Cid]
    Ann discard roll; Bob discard 50
    machine at /play?player=Cid&ask=pair&named=75 | button Cid pair 75 for 50 | button Cid pair 75 for roll
an attack can be answered with all that answers it [edition rush; side Ann; side Bob; side Cid]
    Ann stop > Bob; machine at / | button Bob right-of-way ! | button Bob roll ! | button Bob mirror !
    machine at /play?player=Bob&tab=at-once | button Bob right-of-way ! | button Bob roll ! | button Bob mirror !
        | button Bob roll under !
what lies beside a player is said and handing over is offered [edition rush; side Ann; side Bob; side Cid]
    Ann control stop > Bob; machine at / | has to hand over: Red Light | button Bob give stop > Ann; Bob give stop > Ann
    machine at / | Red Light on Bob Red Light on Cid | not has to hand over
another card can be named for an open request [edition rush; side Ann; side Bob; side Cid]
    Ann control stop > Bob; Bob 50; Cid 50; machine at /play?player=Ann&ask=name&of=Bob | button Ann name roll > Bob
a stolen card may be laid and a doubled one is marked [edition rush; side Ann; side Bob; side Cid]
    Ann 100*2; Bob theft 100 > Ann; machine at / | button Bob 100 | button Bob 100*2; Bob 100*2
    machine at / | 800 km to go | 100 ×2
a handed card is laid by whoever asked for it [edition rush; side Ann; side Bob; side Cid]
    Ann control 100 > Bob; Bob give 100 > Ann; machine at / | Ann’s turn | Ann plays the 100 km now.; Ann sits
    Ann at / | Your turn | button Ann 100 | not or keep it
    machine at /play | button Ann 100 | not button Bob 100 | not Who played?
a stolen card that cannot be laid leaves the page as it is [edition rush; side Ann; side Bob; side Cid]
    Ann 200; Bob stop > Cid; Cid discard 50; Ann stop > Bob; Bob theft 200 > Ann; Bob sits; Bob at / | Cid’s turn
passing is offered to whoever has the turn out of turn [edition rush; side Ann; side Bob; side Cid]
    Ann stop > Cid; Cid right-of-way !; machine at / | Pass the turn to Ann
a race is counted in its own unit and its winner is named [edition asmodee-2014]
    Ann roll; Bob roll; Ann driving-ace; Ann 200; Bob 100; Ann 200; Bob stop > Ann; Ann right-of-way !; Ann 100; Bob 50
    Ann 100; Bob 50; Ann 100
    machine at /score | Ann wins the race by 800 miles! Races won: Ann 1, Bob 0
        | Coups fourrés 100 extra each 100 – | This race miles 1000 200 | not points | Next race – Bob starts
a winner is named so that it fits one and many
        [edition asmodee-2014; side Ann-Cid = Ann, Cid; side Reds = Bob, Dee; target 500]
    Ann roll; Bob roll; Cid 200; Dee 25; Ann 200; Bob 25; Cid 100; machine at / | Ann & Cid win the race!
    machine at /score | Ann & Cid win the race by 450 miles!
    machine at /wall | Ann & Cid win the race by 450 miles!
one player whose name has an ampersand wins alone [edition asmodee-2014; player Ann "Tom & Jerry"; target 500]
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; machine at / | Tom & Jerry wins the race!
    machine at /score | Tom & Jerry wins the race by 450 miles!
with many sides the sheet has a line for each [edition rush; side Ann; side Bob; side Cid; side Dee; side Eve]
    Ann 200*2; Bob driving-ace; Bob 50; end; machine at /score | This race Ann 400 – 400 Bob 50 100 150
and one for the match [edition rush; side Ann; side Bob; side Cid; side Dee; side Eve; option match=5000]
    Ann 200*2; Bob driving-ace; Bob 50; end; machine at /score | Match Ann 400 – 400 400 Bob 50 100 150 150
whoever is nearest wins a race that nobody completes [edition dujardin-2014]
    Ann roll; Bob roll; Ann 200; exhausted; machine at /score | Race 1 the draw pile was empty, Ann is nearest
the extension is asked of the side that decides
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100
    machine at / | Ann decides. | markup class="side side-1 drives turn" | markup class="side side-2 drives"
a card past the target is said to go to the discard pile [edition parker; target 300]
    Ann roll; Bob roll; Ann 200; Bob 25; machine taps /play text=Ann 200; machine at / | Onto the discard pile
    machine taps {asked} anyway=1; machine at / | not played all the same
        | Bob’s turn Ann plays 200 km past the target: it goes to the discard pile. Ann Rolling
        | This hand Ann plays 200 km past the target: it goes to the discard pile.
a card that says more is asked about [edition rush; side Ann; side Bob; side Cid]
    Ann 100; Bob 75*2; Cid 50; machine at /play?tab=other | markup ask=pair
    machine at /play | markup &amp;card=accelerator | markup &amp;card=theft | markup &amp;card=control
    machine at /play?player=Ann&card=accelerator | button Ann 100*2
    machine at /play?player=Ann&card=theft | buttons Ann theft 50 > Cid, Ann theft 75*2 > Bob
    machine at /play?player=Ann&card=control&named=roll | buttons Ann control roll > Bob, Ann control roll > Cid
    machine at /play?player=Ann&card=control | not markup named=driving-ace
up to six cards are exchanged where the table plays so [edition asmodee-2014; option exchange=yes]
    machine at /play?tab=other | markup ask=exchange
    machine at /play?player=Ann&ask=exchange&cards=25,25,stop | buttons Ann exchange 25 25 stop
    machine at /play?player=Ann&ask=exchange&cards=25,25,25,25,25,25 | not markup tile
a live page is led to the penalty as well [edition rush; side Ann; side Bob; side Cid]
    sees Ann roll; machine presses {asked} answer=taken-back -> /play?player=Ann&ask=penalty
only a mistake costs a card [edition rush; side Ann; side Bob; side Cid]
    sees Ann roll; machine taps {asked} answer=no -> /; sees Ann 50; machine taps {asked} answer=taken-back -> /
a proposal is confirmed with one tap
    sees Ann roll; machine taps {asked}; lines Ann roll
a tap from a live page brings the new table with it
    sees Ann roll; machine presses {asked} -> 200; machine reads | Bob’s turn | not markup <html
lines that no longer fit are listed and explained once with the undo beside
    Ann roll; Bob roll; Ann 100; Bob 25; Ann 50; machine taps {line 1}/correct text=Ann discard 25 & anyway=1
    machine at / | What is allowed? These lines no longer fit An earlier change made 3 plays illegal. Undo: the line
        | Undo: the line that a player changed Ann drives 100 km. Ann cannot drive yet. | markup {line 3}?before=1
        | The table was like that: keep them all and 2 more Bob drives 25 km. It is Ann’s turn
an illegal proposal says its rule and counts only when it is played all the same
    sees Ann 100; machine at / | the classic rules (106 cards) – Starting to drive | Take it back Play it anyway
        | Not allowed Ann drives 100 km. Ann cannot drive yet. Instead: Roll or Right of Way.
    machine taps {asked}; lines -; machine taps {asked} anyway=1; lines Ann 100 anyway
    machine at / | illegal, played anyway
an answer that is none is refused
    sees Ann roll; machine taps {asked} answer=perhaps -> 400; lines -
a tap that came too late is told so
    sees Ann roll; machine taps /question/1-2-camera.7-play; machine at / | That is already settled.
a doubt is answered with one tap and whoever answers second is told so
    which Ann roll or Ann repairs; machine taps {asked} text=Ann roll; machine taps {asked} text=Ann repairs
    machine at / | That is already settled.; lines Ann roll
a card in doubt is shown with its picture and up to three answers
    which Ann roll or Ann repairs or Ann gasoline; machine at / | markup <img src="{asked}.jpg"
        | Roll Repairs not allowed now Gasoline not allowed now Another card Not a play
    machine at {asked}.jpg | a card; machine at {asked} | Which card is it? | markup action="{asked}"
        | button Ann right-of-way
what was in doubt may be no play at all
    which Ann roll; machine taps {asked} answer=no; asked -; lines -
a doubt that is over leads back to the table
    machine at /question/1-2-camera.1-which | Ann’s turn; machine at /question/1-2-camera.1-which.jpg -> 404
answers that differ by more than the card say what would have happened
    which Ann discard roll or Ann stop > Bob; machine at / | Ann discards Roll. Ann stops Bob. not allowed now
a card that cannot be told is asked about with its place
    which Ann roll; machine at / | A card was played on Ann’s battle pile. Which is it?
    machine at /wall | A card was played on Ann’s battle pile. Which is it? Tap it on a phone.
    machine taps {asked} answer=no; which Ann roll at side-2/speed
    machine at / | A card was played on Bob’s speed pile. Which is it?
    machine taps {asked} answer=no; which Ann roll at side-2/distance
    machine at / | A card was played in Bob’s distance area. Which is it?
    machine taps {asked} answer=no; which Ann roll at side-1/safety
    machine at / | A card was played in Ann’s safety area. Which is it?
    machine taps {asked} answer=no; which Ann roll at table/discard
    machine at / | A card was put on the discard pile. Which is it?
    machine taps {asked} answer=no; which Ann roll at side-7/battle; machine at / | A card was played. Which is it?
an illegal answer says why and can be played all the same
    which Ann 100; machine taps {asked} text=Ann 100 -> {asked}?text=Ann+100&refused=1
    machine presses {asked} text=Ann 100 -> {asked}?text=Ann+100&refused=1
    machine at {asked}?text=Ann+100&refused=1 | Take it back Play it anyway
        | Not allowed Ann drives 100 km. Ann cannot drive yet. Instead: Roll or Right of Way.
    lines -; machine taps {asked} text=Ann 100 & anyway=1; lines Ann 100 anyway
what was laid after a card in doubt waits behind it
    which Ann roll or Ann repairs; sees Bob roll; machine at / | One more play is waiting: Bob plays Roll. | not Confirm
a play that is not sure offers what else it may have been
    perhaps Ann roll or Ann right-of-way; machine at / | Is that right? Ann plays Roll. Confirm Or was it: Right of Way
    machine taps {asked} text=Ann right-of-way; lines Ann right-of-way
a form that is sent twice counts once
    machine taps /play text=Ann discard 25 & request=one; machine taps /play text=Ann discard 25 & request=one
    machine taps /play text=Bob discard 25 & request=one; lines Ann discard 25, Bob discard 25
a usual play by hand takes two taps and a discard one more
    machine at /play | button Ann roll; machine at /play?tab=discard | button Ann discard 25
    machine taps /play text=Ann roll; lines Ann roll
of two sides the other is hit by a hazard
    machine at /play | button Ann stop > Bob
of more sides it is asked which one a hazard hits [side Ann; side Bob; side Cid]
    machine at /play | not button Ann stop > Bob; machine at /play?player=Ann&card=stop | button Ann stop > Cid
a discard is changed where discards are
    Ann roll; Bob discard 25; sees Ann discard 50; machine at {line 1} | markup aria-current="true">In turn<
    machine at {asked} | markup aria-current="true">Discard<; machine at {line 2} | markup aria-current="true">Discard<
        | button Bob discard 50 | markup href="{line 2}?player=Bob&amp;tab=my-turn"
    machine at {line 2}?player=Bob&tab=my-turn | button Bob 50
    machine at {line 2}?before=1 | markup aria-current="true">In turn<
a proposal read wrongly is entered as another play
    sees Ann 100; machine at {asked} | Recorded as: Ann drives 100 km.
    machine taps {asked} text=Ann roll; lines Ann roll
a line of the log can be changed, taken out and preceded
    Ann roll; Bob roll; machine at {line 2}?before=1 | What came before it?
    machine taps {line 1}/correct text=Ann discard 25; machine taps {line 2}/before text=Bob driving-ace
    machine taps {line 3}/retract; lines Ann discard 25, Bob driving-ace
to end the hand by hand is found under more as long as it is open
    machine at /more | End the hand now; machine at /play?tab=other | button end
    machine taps /play text=end; machine at /more | not End the hand now
a phone that scans the code takes a seat in two taps, with another name
    Ann scans; Ann taps /join player=Ann & name=Annie; Ann at / | Your turn; machine at / | Annie’s turn
a seat that does not exist is nobody’s
    machine taps /join player=Zoe; machine at / | Ann’s turn; nobody is Zoe
what playing on means and which rules are in force can be read
    machine at /more | The next player’s card confirms the previous play. | Classic , to 700 km | No house rules.
the card that wins can be turned back from the table and the score [edition rush]
    Ann 300*2; Bob 50; Ann 200*2; machine at / | Ann wins the race! | button Bob u-turn !
    machine at /score | Ann wins the race by | U-Turn! The last card can still be sent back.
    machine taps /play text=Bob u-turn !; machine at / | Bob’s turn; machine at /score | not wins
a thief may lay what was stolen and that phone says so [edition rush; side Ann; side Bob; side Cid]
    Ann 200; Bob theft 200 > Ann; Bob sits; Bob at / | Play 200 km now, or keep it | not Cid’s turn
        | markup <span>Bob plays 200 km</span>
    Bob at /play | button Bob 200 | not button Cid 200
    Cid sits; Cid at / | Your turn | Bob may play the 200 km now, or keep it.; Cid at /play | button Cid 200
    machine at / | Cid’s turn; machine at /play | Who played? Bob, the 200 km Cid, whose turn it is
    machine at /play | not button Bob 200 | not button Cid 200; machine at /play?player=Bob | button Bob 200
an illegal play taken back asks which card it costs [edition rush; side Ann; side Bob; side Cid]
    sees Ann roll; machine taps {asked} answer=taken-back -> /play?player=Ann&ask=penalty
    machine at /play?player=Ann&ask=penalty | No penalty | button Ann penalty 50
        | Which card does Bob, to Ann’s left, draw from Ann’s hand and discard?
    machine taps /play text=Ann penalty 50; machine at / | A mistake costs Ann a card: 50 km.
the join page lists the players and says nothing of a camera that is not there
    trouble There isn't a camera here.; machine at /join | markup name="player" value="Bob" | There isn’t a camera here.
    machine reads | not The camera looks
the score is there when the hand ends
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; end; machine at /score | Hand 1 ended by agreement
        | Distance 1 point per kilometer 400 50 | Next hand – Bob starts
the log does not say of every discard when one may [edition parker]
    Ann discard 25; machine at / | Ann discards 25 km. | not only when
a refused play says why it is refused
    sees Ann 100; machine at / | markup href="/how#distance">Why?</a>
a stranger’s wall leads to the table and not to joining
    eve at /wall | Watch 192.168.1.20:8080 | not 8080/join | not {code} | not markup class="qr"

# --- Set-up

names make a match
    machine taps /setup edition=classic & seating=2x1 & name1=Ann Smith & name2=Bob & first=2 & policy=play-on
    policy play-on; machine at / | Bob’s turn | Ann Smith
    machine at /export.mbn | edition classic side Ann-Smith side Bob player Ann-Smith "Ann Smith" hand first Bob
players without names are numbered
    machine taps /setup edition=classic & seating=3x1
    machine at /export.mbn | side Player-1 side Player-2 side Player-3
partners sit opposite each other
    machine taps /setup edition=classic & seating=4x2 & name1=Ann & name2=Bob & name3=Cid & name4=Dee
    machine at / | Ann & Cid | Bob & Dee; machine at /export.mbn | side Ann-Cid = Ann, Cid side Bob-Dee = Bob, Dee
a new match asks before it ends the hand that is played
    Ann roll; machine taps /setup edition=classic & seating=2x1 & name1=Eve & name2=Fay -> 409; lines Ann roll
    machine reads | This ends the current match. Start a new one anyway? | markup value="Eve"
    machine taps /setup edition=classic & seating=2x1 & name1=Eve & name2=Fay & replace=1; machine at / | Eve’s turn
a new match asks between two hands as well
    end; machine taps /setup edition=classic & seating=2x1 & name1=Eve & name2=Fay -> 409; machine at / | not Eve
but not after the last [edition asmodee-2014]
    Ann roll; end; machine taps /setup edition=classic & seating=2x1 & name1=Eve & name2=Fay; machine at / | Eve’s turn
where the sheet is silent the set-up says so
    machine at /setup?edition=classic | Rule sheet: Until a side has a card on its battle pile, only Speed Limit
    machine reads | Not in the rule sheet. Here: A mistake costs only that play. | not Rule sheet: A mistake
the rules in force can be read during a match
    machine taps /setup edition=rush & seating=2x1 & target=700 & option-roll-after-remedy=needed
        & count-stop=5 & count-50=9
    machine at /more | , to 700 km | Go after remedy After any remedy but Go, a side needs a Go | 5 × Red Light
    machine reads | Go on remedy Go may be played on any other remedy.
an edition says what is different and who deals where the sheet has a dealer
    machine at /setup?edition=classic | not What is different? | markup class="seats dealt"
    machine at /setup?edition=rush | What is different? | not markup class="seats dealt"
another edition keeps what was typed and says whom it cannot seat
    machine at /setup?edition=classic&seating=5x1&name4=Dee&option-discard=when-stuck | markup value="Dee"
    machine reads | Classic is for 2, 3, 4 or 6 players. | markup <option value="when-stuck" selected
house rules and counted cards become header lines
    machine taps /setup edition=rush & seating=5x1 & option-fast-remedy=no & option-exchange=no
        & count-stop=5 & count-50=9 & count-theft=3
    machine at /export.mbn | edition rush | option fast-remedy=no | deck 50=9, stop=5 | not exchange
a wrong count of the deck is open to be corrected
    machine taps /setup edition=rush & seating=2x1 & count-stop=5 -> 400
    machine reads | markup <details class="agreed" open> | markup name="count-stop" value="5"
"""


@pytest.mark.parametrize(("setting", "rows"), scenes(EVENINGS))
def test_on_an_evening(app, match, setting, rows):
    evening.check(app, match, setting, rows)


def test_every_form_that_changes_the_match_has_a_request_id(page, begun):
    seen(begun, 1, "Ann roll", "Ann gasoline", sure=False)
    camera(begun).differs(2, "side-2/battle", "stop", None)
    begun.enter("Ann discard 25", "Ann")
    pages = ("/", "/plain", "/play", "/may", f"/line/{begun.state.hand_entries[0].seq}", "/setup")
    shown = "".join(page.get(path).text for path in pages)
    forms = re.findall(
        r'<form[^>]*action="/(?:play|plain/play|question|undo|line|setup)[^"]*"[^>]*>.*?</form>', shown, re.S
    )

    assert len(forms) > 12
    assert [form for form in forms if 'name="request"' not in form] == []


def test_yes_confirms_the_play_that_the_page_showed(page, begun):
    asked = seen(begun, 1, "Ann roll")
    camera(begun).play(1, "Ann right-of-way")

    tap(page, asked, answer="yes", text="Ann roll")

    assert lines(begun) == ["Ann roll"]


@pytest.mark.parametrize(
    ("zone", "sentence", "put_in", "asked"),
    [
        ("side-2/battle", "%(card)s lies on %(zone)s.", Card.ROLL, "Roll lies on Bo’s battle pile."),
        ("side-1/distance", "%(card)s still lies on %(zone)s.", Card.KM_100,
            "100 km still lies on Ann’s distance area."),
        ("side-1/battle", "It has moved from %(zone)s to %(card)s.", "side-2/battle",
            "It has moved from Ann’s battle pile to Bo’s battle pile."),
        ("table/discard", "%(card)s is no longer on %(zone)s.", Card.STOP, "Stop is no longer on the discard pile."),
        ("side-7/battle", "%(card)s is no longer on %(zone)s.", Card.STOP, "Stop is no longer on the battle pile."),
    ],
)  # fmt: skip
def test_a_difference_names_the_side_of_the_pile(page, begun, zone, sentence, put_in, asked):
    begun.sit("Bob", "Bob", name="Bo")
    card = card_term(put_in) if isinstance(put_in, Card) else where(put_in)
    camera(begun).differs(1, zone, "roll", None, sentence=say(sentence, card=card, zone=where(zone)))

    differ = f"Table and record differ {asked} The table: No card The record: Roll"
    differ += " The table is right The record is right Ignore"
    assert differ in text_of(page.get("/"))


def test_a_question_about_a_special_card_takes_a_play_or_none(page, match):
    match.start(("edition rush", *TWO))
    camera(match).differs(1, "table/discard", None, "theft", sentence=say("Theft has been laid: enter the play."))
    shown = text_of(page.get("/"))

    tap(page, "/question/1-2-camera.1-differs", answer="record")

    assert "What was played? Theft has been laid: enter the play. Enter a play Not a play" in shown
    assert "The table is right" not in shown
    assert match.state.questions == ()


# --- By hand -------------------------------------------------------------------------------------------------


NO_PLAYS = {
    "Ann rol": "There is no card “rol”",
    "<script>alert(1)</script>": "Start a play with a player’s name",
    "Ann roll > ": "Write a play as “Ann roll”",
}


@pytest.mark.parametrize(("text", "sentence"), NO_PLAYS.items())
def test_unreadable_text_is_shown_again_with_a_hint(page, begun, text, sentence):
    begun.enter("Ann roll", "Ann")
    seen(begun, 1, "Bob 100")
    seq = begun.state.hand_entries[-1].seq
    places = ["/play", "/question/1-2-camera.1-play", f"/line/{seq}/correct", f"/line/{seq}/before"]
    answers = [page.post(place, data={"text": text}, headers=HOME, follow_redirects=True) for place in places]

    assert [sentence in text_of(answer) for answer in answers] == [True] * 4
    assert {form_of(answer)["text"] for answer in answers} == {text}
    assert "<script>alert" not in answers[0].text
    assert not any("companion editions" in text_of(answer) for answer in answers)
    assert lines(begun) == ["Ann roll"]


def test_a_text_that_is_far_too_long_is_refused(page, begun):
    assert tap(page, "/play", text="Ann " + "x" * 300).status_code == 400
    assert tap(page, "/play", text="x" * 100_000).status_code == 413


# --- Set-up and seats ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["", "700", "abc", "999999", "-5", "٣", "1000"])
def test_a_target_is_recorded_only_if_it_differs_from_the_sheet(page, match, target):
    tap(page, "/setup", seating="2x1", target=target)
    written = [line for line in match.lines() if line.startswith("target")]

    assert written == (["target 1000"] if target == "1000" else [])


@pytest.mark.parametrize(("one", "other"), [("Ann", "Ann"), ("Ann", " aNN "), ("Ann B", "annb"), ("Player 2", "")])
def test_two_players_with_one_name_are_refused_and_the_form_keeps_its_values(page, match, one, other):
    kept = {"seating": "3x1", "first": "3", "target": "1000", "policy": "auto"}
    answer = tap(page, "/setup", name1=one, name2=other, name3="Cid", **kept)

    assert answer.status_code == 400
    assert "give one of them another name." in answer.text
    assert form_of(answer).items() >= (kept | {"name3": "Cid"}).items()
    assert match.state.match is None


AS_BEFORE = {"edition": "rush", "seating": "4x2", "name1": "Ann Smith", "name2": "Bob", "name3": "Cid", "name4": "Dee"}
AS_BEFORE |= {"first": "1", "policy": "play-on", "option-fast-remedy": "no", "count-50": "9", "count-stop": "5"}


@pytest.mark.parametrize("target", ["", "700", "500"])
def test_a_new_match_is_prefilled_from_the_last_one(page, match, target):
    tap(page, "/setup", **AS_BEFORE, target=target)
    record = match.record()

    again = form_of(page.get("/setup"))
    tap(page, "/setup", **again)

    assert again | AS_BEFORE | {"target": target} == again
    assert match.record() == record
    assert match.state.policy is Policy.PLAY_ON


HOSTILE = ['"><script>alert(1)</script>', "Ann\nhand first Bob", "end", "  ", "side", "{{7*7}}", "😀", "a" * 500]
HOSTILE += ['x" # y', "\u202eevil", "..", "100%s %(who)s"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_with_markup_are_shown_as_text(page, match, name):
    tap(page, "/setup", seating="2x1", name1=name, name2="Bob")
    tap(page, "/play", text=f"{match.state.game.teams[0].name} roll")

    shown = page.get("/").text

    assert lines(match) == [f"{match.state.game.teams[0].name} roll"]
    assert "<script>alert" not in shown
    assert "49" not in text_of(page.get("/score"))


def test_a_name_is_cleaned_for_display():
    assert clean('  Ann\t"Speedy"\x00 Smith ') == "Ann ”Speedy” Smith"


def test_record_names_are_single_different_words():
    names = record_names(["Ann Smith", "ann-smith", "hand", "!!", "Łukasz"])

    assert names == ["Ann-Smith", "ann-smith2", "hand_", "Somebody", "Łukasz"]


# --- The score -----------------------------------------------------------------------------------------------


def test_a_race_is_called_a_race_everywhere(page, match):
    match.start(("edition asmodee-2014", *TWO))
    shown = [text_of(page.get(path)) for path in ("/", "/score", "/play?tab=other")]
    match.enter("end", "Ann")
    shown += [text_of(page.get(path)) for path in ("/", "/score", "/wall")]

    assert "Race 1" in shown[0]
    assert "The race is over" in shown[3]
    assert not [text for text in shown if re.search(r"\b[Hh]and\b", text)]


def test_the_chosen_player_begins_the_next_hand_and_an_unknown_one_is_refused(page, begun):
    begun.enter("end", "Ann")
    tap(page, "/hand", first="Zoe\nhand first Bob")
    before = begun.state.game.hand_number

    tap(page, "/hand", first="Ann")

    assert (before, begun.state.game.hand_number) == (1, 2)
    assert begun.state.game.table.player_to_move == "Ann"


# --- Every edition -------------------------------------------------------------------------------------------

RUSH = ("edition rush", "side Ann", "side Bob", "side Cid", "hand first Ann")
NOTATION = re.compile(r"\*\d| > |\b(?:" + "|".join(card for card in Card if "-" in card and card != "u-turn") + r")\b")
PAGES = ["/", "/play?tab=discard", "/play?tab=at-once", "/play?tab=other"]
PAGES += ["/score", "/wall", "/setup", "/more", "/join", "/may", "/plain", "/api/state"]
QUESTIONS = ["card=stop", "card=accelerator", "card=theft", "card=control", "card=control&named=roll", "ask=pair"]
QUESTIONS += ["ask=pair&named=50", "ask=exchange", "ask=exchange&cards=50,50", "ask=penalty", "ask=name&of=Player-2"]


def some_legal_play(chance: random.Random, table: Table) -> str:
    """Return a random legal play of any kind, most often of a card in turn."""
    kinds: dict[tuple[Verb, bool], list[Play]] = {}
    for player in [table.player_to_move, *(seat.player for seat in table.seats)]:
        for play in legal_plays(table, player):
            kinds.setdefault((play.verb, play.at_once), []).append(play)
    weights = [6 if kind == (Verb.PLAY, False) else 1 for kind in kinds]
    return str(chance.choice(chance.choices(list(kinds.values()), weights)[0]))


@pytest.mark.variants(2)
@pytest.mark.parametrize("edition", edition_names())
def test_every_page_works_during_a_hand_of_every_edition(page, match, edition):
    chance = random.Random(edition)
    players, each = chance.choice(load_edition(edition).seatings)
    tap(page, "/setup", edition=edition, seating=f"{players}x{each}")
    for _ in range(24):
        if match.state.game.table.is_over:
            tap(page, "/hand", first="Player-1")
        text = some_legal_play(chance, match.state.game.table)
        tap(page, "/play", text=text)
        entries = match.state.hand_entries
        paths = [*PAGES[:1], *chance.sample(PAGES, 3), "/play?player=Player-1&" + chance.choice(QUESTIONS)]
        for path in [*paths, f"/line/{entries[-1].seq}" if entries else "/play"]:
            answer = page.get(path, follow_redirects=True)

            assert answer.status_code == 200, (path, text)
            assert answer.is_json or not NOTATION.search(text_of(answer)), (path, text, text_of(answer))
        assert match.state.questions == (), text


@pytest.mark.parametrize("edition", edition_names())
def test_the_set_up_offers_each_edition_with_its_seats_and_switches(page, edition):
    chosen = load_edition(edition)
    shown = page.get(f"/setup?edition={edition}").text

    assert [html.unescape(load_edition(name).about) in html.unescape(shown) for name in edition_names()] == [True] * 6
    assert re.findall(r'name="seating" value="(\w+)"', shown) == [f"{n}x{each}" for n, each in chosen.seatings]
    named = re.findall(r'<(?:select|input type="hidden") name="option-([\w-]+)"', shown)
    assert sorted(named) == sorted(switches()), "each once"
    assert ('name="count-stop"' in shown) is not chosen.counts_verified


NO_SUCH_CARD = {"limit-on-doubled", "u-turn-on-winning-card"}
IDLE = [
    ("classic", {}, NO_SUCH_CARD | {"fast-remedy-turn"}),
    ("classic", {"option-overshoot": "allowed"}, NO_SUCH_CARD | {"fast-remedy-turn", "past-target-card"}),
    ("classic", {"option-fast-remedy": "yes"}, NO_SUCH_CARD),
    ("classic", {"option-limit-on-doubled": "doubled"}, {"fast-remedy-turn", "u-turn-on-winning-card"}),
    ("rush", {}, {"extension-bonus", "shut-out", "past-target-card"}),
]


@pytest.mark.parametrize(("edition", "chosen", "idle"), IDLE)
def test_house_rules_without_effect_are_listed_last_and_folded(page, edition, chosen, idle):
    shown = page.get("/setup", query_string={"edition": edition, **chosen}).text
    _main, folded = shown.split("No effect in this game")

    assert set(re.findall(r'<select name="option-([\w-]+)"', folded)) == idle


WRONG_AGREEMENTS = [
    ("classic", {"option-roll-on-remedy": "forbidden", "option-roll-after-remedy": "needed"}, None),
    ("asmodee-2014", {"option-roll-on-remedy": "forbidden", "option-roll-after-remedy": "needed"}, None),
    ("asmodee-2014", {"option-first-card": "roll-or-right-of-way", "option-roll-to-start": "not-needed"}, None),
    ("classic", {"option-first-card": "roll-or-right-of-way", "option-roll-to-start": "not-needed"}, "contradict each"),
    ("classic", {"option-discard": "never"}, "“discard” must be"),
    ("rush", {"count-stop": "5"}, "the deck has 107 cards, not 106"),
    ("rush", {"count-stop": "many"}, "Enter a number of cards for Red Light"),
    ("classic", {"seating": "8x2"}, "Classic has no seating for these players"),
]


@pytest.mark.parametrize(("edition", "fields", "sentence"), WRONG_AGREEMENTS)
def test_contradictory_rules_are_explained_and_the_form_keeps_its_values(page, match, edition, fields, sentence):
    answer = tap(page, "/setup", **{"edition": edition, "seating": "2x1", "name1": "Eve", **fields})
    shown = answer.text

    assert (answer.status_code == 400) is (sentence is not None)
    assert sentence is None or (sentence in shown.replace("’", "&#39;") and 'value="Eve"' in shown)
    assert (match.state.match is None) is (sentence is not None)


@pytest.mark.parametrize("edition", ["classic", "bsd-mille", "parker"])
def test_an_edition_without_special_cards_does_not_offer_them(page, match, edition):
    match.start((f"edition {edition}", *TWO))
    more = page.get("/play?tab=other").text
    at_once = values(page.get("/play?tab=at-once"))

    assert not re.search("ask=|Pass|discards", more)
    assert {text.split()[1] for text in at_once} == set(load_edition(edition).safeties)


SENTENCES = {
    "Ann 100*2": "Ann drives 100 km with Accelerator: 200 km.",
    "Ann theft 100*2 > Bob": "Ann steals 100 km with Accelerator from Bob.",
    "Ann control stop > Bob": "Ann demands Stop from Bob.", "Ann control stop": "Ann demands Stop.",
    "Ann name roll > Bob": "Ann demands Roll from Bob instead.", "Bob give stop > Ann": "Bob hands Stop to Ann.",
    "Ann pair 50 for 100": "Ann discards 50 km twice and takes 100 km from the discard pile.",
    "Ann exchange 25 stop": "Ann exchanges 25 km, Stop for new cards.",
    "Bob repairs under !": "Bob counters at once with Repairs.", "Bob mirror !": "Mirror! Bob sends the attack back.",
    "Bob u-turn !": "U-Turn! Bob sends the last distance card back.", "Bob u-turn": "Bob plays U-Turn.",
    "Bob car-pool !": "Coup fourré! Bob counters with Car Pool.", "Bob pass": "Bob passes.",
    "Ann penalty 50": "A mistake costs Ann a card: 50 km.",
}  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), SENTENCES.items())
def test_a_line_can_be_corrected_into_any_play_and_is_shown_as_a_sentence(page, match, text, sentence):
    match.start(RUSH)
    played(match, "Ann 50")
    seq = match.state.hand_entries[0].seq

    tap(page, f"/line/{seq}/correct", text=text, anyway="1")

    assert lines(match) == [text]
    assert views.log_view(match.state)[0]["say"] == sentence
    assert page.get("/").status_code == page.get(f"/line/{seq}?tab=other").status_code == 200


# --- The wall ------------------------------------------------------------------------------------------------


def test_the_wall_shows_the_code_and_the_addresses_by_number_and_name(page, begun, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "table")
    wall = page.get("/wall")

    assert 'class="qr"' in wall.text
    typed = f"192.168.1.20:8080/join table.local:8080/join {phone_identity.table_code(SECRET)}"
    assert typed in text_of(wall)


def test_help_with_mobile_data_is_beside_the_join_code(page, begun):
    assert "Turn off mobile data" in text_of(page.get("/wall"))
    assert "Turn off mobile data" in text_of(page.get("/seats"))


def test_the_terminals_link_opens_the_wall_with_the_code(phone, begun):
    answer = phone.get(f"/wall?t={phone_identity.join_token(SECRET)}", follow_redirects=True)

    assert 'class="qr"' in answer.text
    assert answer.request.query_string == b""


# --- JSON ----------------------------------------------------------------------------------------------------


def test_the_state_has_sentences_in_the_requested_language(page, begun):
    begun.trouble(say("%(camera)s no longer sends pictures; still trying.", camera="0"))

    asked = [page.get("/api/state", headers={"Accept-Language": spoken}) for spoken in ("en", "fr")]

    assert asked[0].get_json()["trouble"] == "0 no longer sends pictures; still trying."
    assert asked[1].get_json()["trouble"].startswith("0 n’envoie plus d’images")
    assert translation.spoken() == "en"


def test_a_page_shows_the_version_in_its_data_attribute(page, begun):
    begun.enter("Ann roll", "Ann")

    shown = page.get("/").text

    assert f'data-shows="{page.get("/version").get_etag()[0]}"' in shown


def test_a_version_from_before_a_restart_is_outdated(page, begun):
    known = f'"feed.{begun.state.version}"'

    assert page.get("/version", headers={"If-None-Match": known}).status_code == 200


# --- The guard -----------------------------------------------------------------------------------------------


def changing_routes(app) -> list[str]:
    return [rule.rule for rule in app.url_map.iter_rules() if "POST" in rule.methods]


def test_every_change_must_come_from_our_own_page(app, begun, page):
    for rule in changing_routes(app):
        path = re.sub(r"<[^>]+>", "1", rule)

        assert page.post(path).status_code == 403, rule
        assert page.post(path, headers={"Origin": "http://evil.example"}).status_code == 403, rule


@pytest.mark.parametrize("token", ["", "x", "ü", "A" * 22])
def test_a_wrong_token_admits_no_phone(phone, begun, token):
    phone.get("/join", query_string={"t": token})
    shown = phone.get("/").text

    assert "You are watching." in shown
    assert "<button" not in shown
    assert tap(phone, "/play", text="Ann roll").status_code == 401


@pytest.mark.parametrize("host", ["rebound.example", ".local", "a" * 70 + ".local", "a..local"])
def test_foreign_and_impossible_host_names_are_refused_with_a_sentence(page, begun, host):
    answer = page.get("/wall", headers={"Host": host})

    assert answer.status_code == 400
    assert "This machine has another name: open http://192.168.1.20:8080 instead" in text_of(answer)
    assert host not in text_of(answer)


OURS = "192.168.1.20:8080 [fe80::1]:8080 localhost LOCALHOST:8080 localhost. phone.localhost table Table.Local:8080 "
OURS += "table.local. table-2.local table.home.arpa table.cafe.example:8080"
NOT_OURS = "[fe80::1%25eth0]:8080 pi.local:8080 table.evil.example table.local.evil.example localhost.evil.example "
NOT_OURS += "localhost@evil.example evil@localhost localhost:8080:80 localhost:http localhost/ lоcalhost "
NOT_OURS += "xn--lcalhost-u3h 127.1 0x7f000001 2130706433 example.com 192.168.1.20.example.com ["
FOREIGN = [*NOT_OURS.split(), "localhost, evil.example", "localhost ", "1" * 300, ""]


@pytest.mark.parametrize(("host", "ours"), [*((host, True) for host in OURS.split()), *((h, False) for h in FOREIGN)])
def test_only_our_own_host_names_are_accepted(host, ours, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "Table")

    assert is_our_name(host, given_names({"COMPANION_NAMES": "Table.Cafe.example, other.example"})) is ours


OTHER_ORIGINS = "null http://evil.example http://localhost.evil ftp://localhost http://localhost:8080 "
OTHER_ORIGINS += "http://localhost:80 http://localhost. http://LOCALHOST http://localhost/ http://user@localhost "
OTHER_ORIGINS += "http://localhost@evil.example http://lоcalhost localhost //localhost"


@pytest.mark.parametrize("origin", [None, "", "http://localhost http://evil.example", *OTHER_ORIGINS.split()])
def test_other_origins_are_not_our_page(origin):
    assert not is_our_page(origin, "localhost")


@pytest.mark.parametrize("path", ["/nowhere", "/line/x", "/static/../companion.css", "/static/none.js"])
def test_a_missing_page_gets_a_sentence_without_the_requested_address(page, path):
    answer = page.get(path + "?q=%3Cscript%3Ehello")

    assert answer.status_code == 404
    assert "go back to the table" in text_of(answer)
    assert "hello" not in answer.text


def test_an_internal_error_is_a_sentence_without_details(app, begun, monkeypatch):
    begun.enter("Ann roll", "Ann")
    monkeypatch.setattr(Match, "undo", lambda *_: 1 / 0)
    app.config["PROPAGATE_EXCEPTIONS"] = False

    answer = tap(app.test_client(), "/undo")

    assert answer.status_code == 500
    assert "Something went wrong on our side" in text_of(answer)
    assert "division" not in answer.text


WORDS = ["Ann", "Bob", "roll", "25", "200", "stop", ">", "!", "anyway", "discard", "end", "unknown", "\x00", "é", "<b>"]


@pytest.mark.parametrize("seed", range(3))
def test_random_taps_never_fail_and_the_log_replays_to_the_same_state(app, page, match, seed):
    chance = random.Random(seed)
    match.start(TWO)
    paths = [*changing_routes(app), "/", "/play", "/score", "/wall", "/api/state", "/may", "/plain"]
    for _ in range(150):
        ids = [entry.seq for entry in match.state.entries] + [question.id for question in match.state.questions]
        path = re.sub(r"<[^>]+>", str(chance.choice(ids)), chance.choice([*paths, *["/play"] * 9]))
        text = " ".join([chance.choice(["Ann", "Bob"]), *chance.choices(WORDS, k=chance.randint(0, 3))])
        answer = page.open(path, method=chance.choice(["GET", "POST", "POST"]), data={"text": text}, headers=HOME)

        assert answer.status_code < 500, (path, text)
    assert Match(match.store).state.entries == match.state.entries


# --- Serving -------------------------------------------------------------------------------------------------


def test_a_port_in_use_is_reported_with_a_remedy(app):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(Problem, match=f"Port {port} is taken .* --port"):
            serve(app, "127.0.0.1", port)


TABLE = "http://192.168.1.20:8080"
ALONE = "http://localhost:8080 | phones cannot reach http:// | restart without --host | not tok | not ▀"


@pytest.mark.parametrize(
    ("host", "says"),
    [
        ("192.168.1.20", f"{TABLE}/join?t=tok | {TABLE}/join and type NKCM | http://localhost:8080 | ▀ | mobile data"),
        *((host, ALONE) for host in ("127.0.0.1", "::1", "localhost")),
        ("0.0.0.0", "phones cannot reach http://127.0.0.1:8080: connect this machine to your network"),
    ],
)
def test_the_terminal_shows_only_addresses_that_phones_can_reach(monkeypatch, host, says):
    monkeypatch.setattr(address, "lan_ip", lambda: "127.0.0.1")
    said = announce(host, 8080, "tok", "NKCM")

    for one in says.split(" | "):
        assert (one.removeprefix("not ") in said) is not one.startswith("not "), one


def test_the_terminal_aligns_the_addresses_and_uses_its_own_language(monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "fr_FR.UTF-8")
    translation.speak(terminal_language())
    ready = here(say("Mille Bornes Companion is ready."))
    said = announce("192.168.1.20", 8080, "tok", "NKCM")
    translation.speak("en")

    assert said.startswith(ready)
    assert ready != "Mille Bornes Companion is ready."
    assert {line.index("http") for line in said.splitlines()[1:4]} == {said.splitlines()[1].index("http")}


def test_listening_everywhere_announces_the_network_address():
    assert address.base_url("0.0.0.0", 80) == f"http://{address.lan_ip()}"


def test_the_pages_use_the_signs_and_icons_of_the_printed_deck():
    assert signs.FILE.read_text() == signs.drawn(), "draw them again: python tests/signs.py"

    for px in signs.ICONS_PX:
        assert (signs.STATIC / f"icon-{px}.png").read_bytes() == signs.icon(px), (
            "draw them again: python tests/signs.py"
        )


def test_a_template_is_compiled_once_and_again_after_a_truncated_file(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", False)

    def compiled(folder) -> bool:
        """True if the template had to be compiled; it is shown in any case."""
        kept = Compiled(str(folder))
        bucket = kept.get_bucket(Environment(), "page.html", None, "Hello")
        shown = Environment(loader=DictLoader({"page.html": "Hello"}), bytecode_cache=kept).get_template("page.html")
        assert shown.render() == "Hello"
        return bucket.code is None

    folder = tmp_path / "compiled"
    assert [compiled(folder), compiled(folder)] == [True, False]
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:-60])
    assert [compiled(folder), compiled(folder)] == [True, False]
    file.write_bytes(file.read_bytes()[:25])
    assert [compiled(folder), compiled(folder)] == [True, False]
    assert [compiled(file / "no folder"), compiled(file / "no folder")] == [True, True]

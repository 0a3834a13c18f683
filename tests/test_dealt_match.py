"""A match without cards: dealing, hidden hands, legal plays, robots, undo and restarts."""

import random
import re
from dataclasses import replace
from types import SimpleNamespace

import evening
import pytest
from client import HOME, STRANGER, TWO, lines, tap, text_of, values
from evening import DULL, THREE
from sheet import scenes

from companion.common.errors import Problem
from companion.match.history import history
from companion.match.match import Match
from companion.match.robot_players import RobotPlayers, decide, let_pass
from companion.match.state import RobotSeat
from companion.robots.robot import Level
from companion.rules.editions.edition import edition_names, load_edition
from companion.rules.hidden_cards import deal
from companion.rules.play import Verb
from companion.rules.record.notation import header_text
from companion.rules.table import Team
from companion.storage.event_store import NewEvent, Store

NOTED = re.compile(r'class="[^"]* noted".*?(?:#s-|for=")([a-z0-9-]+?)(?:ing-\d+)?"')


@pytest.fixture(autouse=True)
def same_cards(monkeypatch):
    """Deal the same cards in every run of a test."""
    chance = random.Random(7)
    keys = SimpleNamespace(token_hex=lambda size: chance.randbytes(size).hex())
    monkeypatch.setattr("companion.match.drafts.secrets", keys)


@pytest.fixture
def seated(app):
    """Return the phone of a player, or one without a seat."""

    def phone(player: str = ""):
        client = app.test_client()
        tap(client, "/join", player=player, everybody="1")
        return client

    return phone


def hand_of(client) -> list[str]:
    return client.get("/api/hand").json["hand"]


def send(client, path: str, **body):
    return client.post(path, json=body, headers=HOME)


def robots_play(match: Match) -> None:
    while decide(match):
        pass


# --- Who sees what -------------------------------------------------------------------------------------------


def test_each_phone_sees_only_the_hand_of_its_own_seat(match, app, seated):
    match.start(THREE, robots={"Cid": 1})
    ann, bob, seatless, stranger = seated("Ann"), seated("Bob"), seated(), app.test_client()

    assert (len(hand_of(ann)), len(hand_of(bob))) == (7, 6), "Ann has drawn"
    assert ann.get("/api/hand").json["player"] == "Ann"
    assert (seatless.get("/api/hand").json["player"], hand_of(seatless)) == (None, [])
    assert stranger.get("/api/hand", environ_base=STRANGER).status_code == 401
    assert "Your hand" in text_of(ann.get("/")), text_of(bob.get("/"))
    assert "Your hand" not in text_of(seatless.get("/")) + text_of(app.test_client().get("/wall"))


def routes(app, match: Match) -> list[str]:
    """Return all addresses without parameters, and those of this match and its first play."""
    known = {"number": match.state.match, "seq": match.state.hand_entries[0].seq}
    adapter = app.url_map.bind("localhost")
    rules = (rule for rule in app.url_map.iter_rules() if "GET" in rule.methods and rule.arguments <= known.keys())
    asked = (adapter.build(rule.endpoint, {name: known[name] for name in rule.arguments}) for rule in rules)
    return [*asked, *(f"/past/{match.state.match}.{form}" for form in ("mbn", "jsonl", "csv")), "/play?card=stop"]


def shown(client, paths: list[str], **how) -> dict[str, str]:
    pages = {path: client.get(path, **how).text for path in paths}
    return {path: re.sub(r'name="request" value="\w+"', "", page) for path, page in pages.items()}


def test_hidden_cards_change_nothing_that_others_see(match, app, seated):
    match.start(THREE, robots={"Cid": 1})
    play = next(play for play in match.state.dealt.seen_by("Ann").plays if play.verb is Verb.DISCARD)
    assert match.enter(str(play), "Ann").done
    assert match.state.dealt.asks("Bob"), "it is his turn, and he has drawn"
    ann, others = seated("Ann"), [(seated("Bob"), {}), (seated(), {}), (app.test_client(), {"environ_base": STRANGER})]
    paths = routes(app, match)
    for client, how in others:
        shown(client, paths, **how)  # From now on these phones are known.
    before, hers = [shown(client, paths, **how) for client, how in others], shown(ann, paths)

    now = match.state
    hidden = now.dealt.hand.deal
    cards = [*hidden.hands[0], *hidden.hands[2], *hidden.pile]
    random.Random(1).shuffle(cards)
    hands = (tuple(cards[:6]), hidden.hands[1], tuple(cards[6:12]))
    other = replace(now.dealt, hand=replace(now.dealt.hand, deal=replace(hidden, hands=hands, pile=tuple(cards[12:]))))
    match._state = replace(now, dealt=other)

    assert [shown(client, paths, **how) for client, how in others] == before
    assert shown(ann, paths)["/"] != hers["/"]
    assert not any(hidden.key in page for pages in (*before, hers) for page in pages.values())


# --- What may be played --------------------------------------------------------------------------------------


EVENINGS = """
a card that is not held and a hand that is not one’s own are refused
        [side Ann; side Bob; side Cid; dealt Cid=1; deals roll / stop / / 100]
    Ann sits; Bob sits; eve sits
    Ann sends /plays {"text": "Ann discard gasoline", "anyway": true} -> 202; Ann reads | no-such-card-there
    Bob sends /plays {"text": "Ann roll", "anyway": true} -> 202; Bob reads | own hand
    Ann sends /plays {"text": "Bob stop > Ann", "anyway": true} -> 202; Ann reads | own hand
    eve sends /plays {"text": "Ann roll", "anyway": true} -> 202; eve reads | own hand
    Ann sends /plays {"text": "end", "anyway": true} -> 202; Ann reads | own hand; lines -
    Ann sends /plays {"text": "Ann roll"}; Ann sends /correct {"seq": {seq}, "text": "Ann 100"} -> 202
    Ann reads | undo takes it back; Ann taps {line}/retract; lines Ann roll
a tap on a card plays it, asks in which way, or says why not
        [side Ann; side Bob; side Cid; dealt; deals stop roll / roll / roll / accident]
    Ann sits; Ann at / | button Ann roll | button Ann discard stop | What would you play?
    Ann taps /play text=Ann 50; Ann at / | Ann cannot drive yet. From the
    Ann roll; Bob roll; Cid roll; Ann at / | markup /play?player=Ann&amp;card=stop
    Ann at /play?player=Ann&card=stop | Who gets Stop? Bob Cid | buttons Ann stop > Bob, Ann stop > Cid
what has to be handed over or is doubled is asked as the card is tapped
        [edition rush; dealt; deals roll control accelerator 50 50 100 / 50 50 50 75 75 75 / 75 75 75]
    Ann sits; Ann at /play?player=Ann&card=control | button Ann control 200 > Bob
    Ann at /play?player=Ann&card=accelerator | buttons Ann 50*2, Ann 75*2, Ann 100*2
    Ann sends /plays {"text": "Ann 200*2"} -> 202; Ann sends /plays {"text": "Ann 50*2"}
where no card may be laid discarding stands out [dealt; deals 25 50 75 100 gasoline repairs / / 25]
    Ann sits; Ann at / | markup class="button slender primary"
and only there [dealt; deals roll 50 75 100 gasoline repairs / / 25]
    Ann sits; Ann at / | not markup class="button slender primary"
the hand lies as drawn or by family [dealt; deals 50 right-of-way 25 stop roll 25 / / gasoline]
    Ann sits; Ann at / | just drawn , not allowed now 50 km Right of Way 25 km Stop Roll 25 km Gasoline , just drawn
    Ann taps /sort; Ann at / | Right of Way 25 km 25 km 50 km Stop Gasoline , just drawn Roll Right of Way Discard
with others undo waits until one agrees [side Ann; side Bob; side Cid; dealt Cid=1; deals roll / / / 25]
    Ann sits; Bob sits; eve sits; Ann roll; Ann sends /undo -> 202; Ann at /api/state | markup "kind":"undo"
    Bob at / | Agree; Ann at / | not Agree; eve sends /questions/{id} {"answer": "no"} -> 202
    eve reads | own hand; Bob sends /questions/{id} {"answer": "no"}; asked -; lines Ann roll
    Ann sends /undo -> 202; Ann sends /undo -> 202; lines Ann roll; Bob taps {asked} answer=yes; asked -; lines -
    Ann at / | not took out
several people say who they are and all robots is no game [fresh]
    machine taps /setup seating=2x1 & cards=dealt & robot1=0 & robot2=0 -> /join
    machine at /api/state | markup "robots":{} | markup "dealt":true
    machine taps /setup seating=2x1 & cards=dealt & robot1=1 & robot2=1 & replace=1 -> 400
    machine reads | somebody plays who is none
who was attacked before his own turn answers or draws [dealt; deals roll stop / roll right-of-way / 75 200 100]
    Ann sits; Bob sits; Ann roll; Bob roll; Ann stop > Bob
    Bob at /api/hand | markup "hand":["right-of-way","25","25","50","50","200"]
    Bob sends /plays {"text": "Bob discard 50"} -> 202; Bob reads | Draw a card first
    Bob sends /plays {"text": "Bob right-of-way !"}; Bob at / | Coup fourré! Bob counters with Right of Way.
    Ann taps /undo; Bob taps /undo; lines Ann roll, Bob roll, Ann stop > Bob; Bob sends /waive
    Bob at /api/hand | markup "hand":["right-of-way","25","25","50","50","200","
    Bob sends /plays {"text": "Bob right-of-way !"} -> 202
"""


@pytest.mark.parametrize(("setting", "rows"), scenes(EVENINGS))
def test_dealt_matches_play_as_written(app, match, stacked, setting, rows):
    evening.check(app, match, setting, rows, stacked=stacked)


def test_the_recommended_card_is_marked_to_play_and_to_discard(match, seated, stacked):
    stacked(f"roll {DULL[3:]}", f"roll {DULL[3:]}", "25 50 accident")
    match.start(TWO, robots={})
    for play in ("Ann roll", "Bob roll"):
        assert match.enter(play, play.split()[0]).done
    ann = seated("Ann")
    tap(ann, "/advice")

    advised = ann.get("/")
    assert "I would play: Accident on Bob. It holds up Bob at 0 km" in text_of(advised)
    assert NOTED.findall(advised.text) == ["accident", "accident"]
    assert not NOTED.search(ann.get("/").text), "as long as the sentence is there"


def test_a_recommended_discard_also_marks_the_way_to_it(match, seated, stacked):
    stacked("50 25 75 gasoline repairs 200", DULL, "100")
    match.start(TWO, robots={})
    ann = seated("Ann")
    tap(ann, "/advice")

    assert NOTED.findall(ann.get("/").text) == ["25", "25", "discard"]


# --- Answers out of turn -------------------------------------------------------------------------------------


@pytest.mark.parametrize("holds", ["right-of-way", "200"])
def test_the_hand_waits_for_an_attacked_player_with_or_without_an_answer(match, seated, stacked, holds):
    stacked(f"roll stop {DULL[6:]}", f"{DULL}", f"roll {holds} {DULL[6:]}", "75 75 75 75")
    match.start(THREE, robots={"Bob": 1})
    for play in ("Ann roll", None, "Cid roll", "Ann stop > Cid"):
        assert match.enter(play, play.split()[0]).done if play else decide(match)

    assert not decide(match), "Bob would draw"
    cid, ann = seated("Cid"), seated("Ann")
    assert ("Cid right-of-way !" in values(cid.get("/"))) == (holds == "right-of-way")
    assert "Let it pass" in text_of(cid.get("/"))
    assert "Let it pass" not in text_of(ann.get("/"))
    let_pass(match)
    assert decide(match)
    assert not match.enter("Cid right-of-way !", "Cid").done, "it is too late"


# --- Robots --------------------------------------------------------------------------------------------------


def header_of(edition: str) -> list[str]:
    """Return the setup lines for three players, or for two or four if the edition requires it."""
    players, each = min(load_edition(edition).seatings, key=lambda way: abs(way[0] - 3))
    sides = [["Ann", "Bob", "Cid", "Dee"][side : players : players // each] for side in range(players // each)]
    teams = [Team("-".join(side), tuple(side)) for side in sides]
    return [*header_text(teams, edition, None, {}), "hand first Ann"]


@pytest.mark.parametrize("edition", edition_names())
def test_robots_play_a_hand_to_its_score_sheet(match, seated, edition):
    header = header_of(edition)
    players = {name for line in header if line.startswith("side ") for name in re.findall(r"[A-Z]\w+", line)}
    record = {"record": "\n".join(header), "cards": "dealt", "robots": dict.fromkeys(sorted(players - {"Ann"}), 2)}
    ann = seated()
    assert send(ann, "/api/matches", **record).json["done"]
    tap(ann, "/join", player="Ann")

    while match.state.game.hand_is_open or match.state.dealt.waiting:
        robots_play(match)
        own, dealt = ann.get("/api/hand").json, match.state.dealt
        play = dealt.choice(dealt.asks("Ann"), Level.COUNTING).play if own["plays"] else None
        if play is not None:
            assert str(play) in own["plays"]
            assert send(ann, "/api/plays", text=str(play)).json["done"]
        elif own["asked"]:
            assert send(ann, "/api/waive").json["done"]
        let_pass(match)
        match.state.dealt.hand.deal.checked()
    assert [entry.judged.verdict for entry in match.state.hand_entries] == ["legal"] * len(match.state.hand_entries)
    assert len(ann.get("/api/state").json["hands"]) == 1
    assert ann.get("/").status_code == 200
    assert match.next_hand("Ann").done
    assert match.state.dealt.waiting[0].player == "Bob"


def test_the_robots_play_until_a_person_is_asked(match):
    robots = RobotPlayers(match, pause_s=0)
    robots.start()
    match.start(("side Ann", "side Bob", "side Cid", "hand first Bob"), robots={"Bob": 1, "Cid": 1})
    while match.state.dealt.asks("Ann") is None:
        match.wait(match.state.version, 1)
    robots.stop()

    assert match.state.dealt.asks("Ann")
    assert {"Bob"} <= {line.split()[0] for line in lines(match)} <= {"Bob", "Cid"}


def test_a_robots_decision_on_an_outdated_state_does_not_count(match):
    match.start(("side Ann", "side Bob", "hand first Bob"), robots={"Bob": 1})
    seq, play = match.state.seq, match.state.dealt.seen_by("Bob").plays[0]
    match.sit("Ann", "Ann")

    assert not match.decide("Bob", play, seq).done
    assert match.decide("Bob", play, match.state.seq).done


@pytest.mark.parametrize("robots", [{"Ann": 1, "Bob": 1, "Cid": 1}, {"Dee": 1}, {"Bob": 4}])
def test_invalid_robots_are_refused(match, robots):
    with pytest.raises(Problem, match="Each robot is one of the players"):
        match.start(THREE, robots=robots)


def test_a_robots_seat_cannot_be_taken_or_kept_from_an_earlier_match(match, app, seated):
    match.start(THREE)
    bob = seated("Bob")
    match.start(THREE, robots={"Bob": 1})

    assert hand_of(bob) == []
    assert "Bob" not in re.findall(r'id="seat-(\w+)"', bob.get("/join").text)
    assert "One phone for us all" not in text_of(bob.get("/join")), "hands are hidden from one another"
    assert hand_of(seated("Bob")) == []
    assert "robot of level 1" in text_of(bob.get("/seats"))


def test_a_dealt_match_has_no_robot_seat_for_real_cards(match, page):
    match.start(THREE)
    match.seat_robot(RobotSeat("Bob", 2), "Ann")
    match.start(THREE, robots={"Bob": 1})

    assert match.state.robot_seat is None
    assert page.get("/robot").location == "/"
    assert "/robot" not in text_of(page.get("/more")) + text_of(page.get("/"))


# --- Undo, restarts ------------------------------------------------------------------------------------------


def test_undo_of_a_lone_player_goes_back_to_their_own_play(match, seated):
    match.start(THREE, robots={"Bob": 1, "Cid": 1})
    ann = seated("Ann")
    hand = hand_of(ann)
    play = ann.get("/api/hand").json["plays"][-1]
    assert send(ann, "/api/plays", text=play).json["done"]
    robots_play(match)
    played = lines(match)
    assert len(played) >= 2

    assert "Undo" in text_of(ann.get("/"))
    tap(ann, "/undo", seq=match.state.undoable.seq)
    assert (lines(match), hand_of(ann)) == ([], hand)
    tap(ann, "/redo", seq=match.state.redoable.seq)
    robots_play(match)
    assert lines(match) == played, "a robot does the same again"


def test_the_start_of_a_hand_is_not_a_play_by_a_robot_named_hand(match):
    store = match.store
    number = store.append(None, NewEvent("setup", {"lines": ["side Ann", "side hand"], "by": "Ann"}))[0].match
    store.append(number, NewEvent("setting", {"key": "robot hand", "value": "1", "by": "Ann"}))
    for text, by in (("hand first Ann", "Ann"), ("Ann roll", "Ann"), ("hand roll", "hand"), ("hand first hand", "Ann")):
        store.append(number, NewEvent("line", {"text": text, "by": by}))

    now, before = (history(store.events(number)[:end]).undone_next for end in (None, -1))

    assert [event.body["text"] for event in now] == ["hand first hand"]
    assert [event.body["text"] for event in before] == ["hand roll", "Ann roll"]


def test_a_restart_during_a_hand_keeps_all_hands(tmp_path):
    store = Store.open(tmp_path / "log.sqlite3")
    match = Match(store)
    match.start(THREE, robots={"Bob": 2, "Cid": 1})
    for _ in range(4):
        robots_play(match)
        if match.state.dealt.asks("Ann") is None:
            let_pass(match)
            continue
        plays = match.state.dealt.seen_by("Ann").plays
        assert (match.enter(str(plays[-1]), "Ann") if plays else match.waive("Ann")).done
    before = match.state
    store.close()
    again = Store.open(tmp_path / "log.sqlite3")
    after = Match(again).state
    again.close()

    assert (after.dealt, after.robots, after.is_dealt) == (before.dealt, before.robots, True)


def test_each_hand_and_each_match_is_dealt_new_cards(match):
    keys = set()
    for _ in range(3):
        match.start(THREE, robots={"Bob": 1, "Cid": 1})
        keys.add(match.state.dealt.hand.deal.key)

    assert len(keys) == 3
    match.start(THREE)
    assert (match.state.dealt, match.state.is_dealt, dict(match.state.robots)) == (None, False, {})


def test_cards_that_contradict_the_record_stop_only_the_hand(match, seated, monkeypatch):
    match.start(THREE, robots={"Bob": 1, "Cid": 1})
    ann = seated("Ann")
    monkeypatch.setattr("companion.match.dealer.dealt_by", lambda table, key: deal(table, (), key))
    match.sit("Ann", "Ann")

    assert match.state.dealt is None
    assert "cannot be dealt" in send(ann, "/api/plays", text="Ann roll").json["say"]
    assert (ann.get("/").status_code, hand_of(ann)) == (200, [])


# --- Setting up ----------------------------------------------------------------------------------------------


def test_a_lone_player_is_seated_at_once(match, page):
    begun = tap(page, "/setup", seating="3x1", cards="dealt", robot1="0", robot2="3", robot3="1", name3="Zoe")

    assert (begun.status_code, begun.location) == (303, "/")
    assert dict(match.state.robots) == {"Bob": 3, "Zoe": 1}
    assert len(hand_of(page)) == 7
    again = page.get("/setup").text
    assert re.findall(r'<option value="(\d)" selected', again)[:3] == ["3", "1", "2"]

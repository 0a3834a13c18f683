"""Plays that counted by themselves, and are changed when other hypotheses have become likelier."""

import math

import pytest
from records import hand
from watched import Watched

from companion.match.questions import Kind
from companion.match.state import Policy
from companion.match.zone_plays import Places
from companion.rules.cards import Card
from companion.rules.record import notation
from companion.storage.events import EventKind, NewEvent
from companion.tracking.beam import Beliefs
from companion.tracking.hand_record import Line, Record
from companion.tracking.handling import COSTS
from companion.tracking.hypothesis import Hypothesis, Judge, Manner, TableAct
from companion.tracking.revising import revisions

TABLE = hand().table
PLACES = Places({"side-1": "Ann", "side-2": "Bob"})


def recorded(text: str, vouched: int) -> Record:
    """A record of plays, the first of them confirmed by people; line 10 is the first."""
    lines = tuple(
        Line(10 + n, notation.parse_play(play, TABLE.sides), TABLE, PLACES, is_vouched=n < vouched)
        for n, play in enumerate(filter(None, text.split(", ")))
    )
    return Record(1, 2, PLACES, TABLE, lines, is_automatic=True)


def believed(*hypotheses: str) -> Beliefs:
    """Hypotheses such as `0.9 Ann roll, Bob roll`."""
    found = []
    for share, plays in (one.split(" ", 1) for one in hypotheses):
        acts = tuple(
            TableAct(n, Card.ROLL, "side-1/battle", False, Manner.LAID, 0.0, 0.0,
                     play=notation.parse_play(play, TABLE.sides))
            for n, play in enumerate(filter(None, plays.split(", ")), 1)
        )  # fmt: skip
        found.append(Hypothesis({}, acts, handling=-math.log(float(share))))
    return Beliefs(Judge(TABLE, PLACES, COSTS, None), hypotheses=tuple(found))


@pytest.mark.parametrize(
    ("record", "vouched", "hypotheses", "expected"),
    [
        pytest.param("Ann roll, Bob roll", 0, ["1 Ann roll, Bob roll, Ann 25"], [], id="what goes on is no change"),
        pytest.param("Ann roll", 0, ["0.9 Bob roll", "0.1 Ann roll"], [], id="what may be right stays"),
        pytest.param("Ann roll", 1, ["1 Bob roll"], [], id="what people have confirmed stays"),
        pytest.param("Ann 25, Bob 50", 0, ["1 Ann 75, Bob 50"], ["10 Ann 75"], id="another card"),
        pytest.param("Ann 25, Bob 50", 0, ["1 Bob 50"], ["10 -"], id="a play that nobody made"),
        pytest.param("Ann 25, Ann 75", 0, ["1 Ann 25, Bob 50, Ann 75"], ["new before 11 Bob 50"], id="a missed play"),
        pytest.param("Ann 25, Bob 50", 0, ["1 Ann 25"], ["11 -"], id="the last play, taken back"),
        pytest.param("Ann 25", 0, ["0.4 Ann 75", "0.3 Ann 50", "0.3 Ann 200"], [], id="no hypothesis leads"),
        pytest.param("Ann 25, Bob 50", 0, ["0.4 Ann 75, Bob 100", "0.3 Ann 75, Bob 200", "0.3 Ann 75, Bob 25"],
            ["10 Ann 75"],
                     id="only what is clear"),
    ],
)  # fmt: skip
def test_the_record_is_changed(record, vouched, hypotheses, expected):
    found = revisions(believed(*hypotheses), recorded(record, vouched))

    assert [f"{'new before ' * one.is_new}{one.line} {one.play or '-'}" for one in found] == expected


@pytest.fixture
def table(tmp_path):
    table = Watched(tmp_path, policy=Policy.AUTO)
    table.lay("roll-01", "side-1/battle").lay("roll-02", "side-2/battle")
    assert table.played == ["Ann roll", "Bob roll"]
    return table


def changed_by_camera(table: Watched, text: str) -> None:
    line = table.match.state.hand_entries[0].seq
    change = NewEvent(EventKind.CORRECT, {"of": line, "text": text, "by": "camera"})
    table.match.revise([change], table.match.state.seq)


def test_a_person_who_undoes_a_change_of_the_camera_vouches_for_the_line(table):
    changed_by_camera(table, "Ann discard roll")
    assert table.played == ["Ann discard roll", "Bob roll"]

    table.match.undo("Ann")
    assert table.match.state.hand_entries[0].written.corrected_by == "Ann"

    table.look(20)
    assert table.played == ["Ann roll", "Bob roll"]


def test_the_camera_changes_nothing_that_people_changed_meanwhile(table):
    before, line = table.match.state.seq, table.match.state.hand_entries[0].seq
    table.match.correct(line, "Ann discard 25", "Ann")
    table.match.revise([NewEvent(EventKind.RETRACT, {"of": line, "by": "camera"})], before)

    assert table.played == ["Ann discard 25", "Bob roll"]


def test_what_the_camera_takes_back_by_itself_may_count_again(table):
    last = table.match.state.hand_entries[-1]
    table.match.revise([NewEvent(EventKind.RETRACT, {"of": last.seq, "by": "camera"})], table.match.state.seq)
    assert last.written.question not in table.match.state.past.asked

    table.look()
    assert table.played == ["Ann roll", "Bob roll"]


def test_a_play_may_count_again_after_the_camera_changed_its_line(table):
    last = table.match.state.hand_entries[-1]
    change = {"of": last.seq, "text": "Bob discard 25", "question": "1-1-25.9-play", "by": "camera"}
    table.match.revise([NewEvent(EventKind.CORRECT, change)], table.match.state.seq)

    assert last.written.question not in table.match.state.past.asked
    assert "1-1-25.9-play" in table.match.state.past.asked


def test_what_a_person_takes_back_does_not_count_again_by_itself(table):
    table.perform("retract")
    table.look(20)

    assert table.played == ["Ann roll"]
    assert [question.kind for question in table.questions] == [Kind.PLAY]


def test_nothing_is_lost_when_people_change_how_plays_count(table):
    table.match.set_policy(Policy.TAP, "Ann")
    table.look(10)
    assert (table.played, table.asked) == (["Ann roll", "Bob roll"], [])

    table.lay("100-01", "side-1/distance")
    assert table.asked == ["Ann 100"]
    table.match.set_policy(Policy.AUTO, "Ann")
    table.look()
    assert table.played == ["Ann roll", "Bob roll", "Ann 100"]


def test_the_phone_says_that_the_camera_changed_a_play(begun, page):
    begun.enter("Ann roll", "Ann")
    line = begun.state.hand_entries[0].seq
    change = NewEvent(EventKind.CORRECT, {"of": line, "text": "Ann discard roll", "by": "camera"})
    begun.revise([change], begun.state.seq)
    page.post("/join", data={"player": "Ann"}, headers={"Origin": "http://localhost"})

    assert "The camera changed your line “Ann plays Roll” to “Ann discards Roll”." in page.get("/").get_data(
        as_text=True
    )

"""Records judged line by line: verdicts, the hands' results, and what is wrong in them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records import PAIRS, SIX, THREE, TWO, header, record, results, verdicts

from companion.rules.cards import Card
from companion.rules.editions.edition import switches
from companion.rules.record import judge, notation
from companion.rules.record.judge import HandResult, JudgedLine

HEAD = "edition classic\nside Ann\nside Bob\n"
REACHED = f"{HEAD}target 700\nhand first Ann\nAnn roll\nBob roll\n" + "".join(
    f"Ann {km}\nBob discard 25\n" for km in (200, 200, 100, 100)
)


def judged_lines(text: str, *, as_lies: bool = False) -> list[JudgedLine]:
    return [item for item in record(text, as_lies=as_lies) if isinstance(item, JudgedLine)]


def codes(line: JudgedLine) -> list[str]:
    return [why.code.value for why in line.reasons]


# Verdicts


def test_every_line_of_play_gets_a_verdict_and_header_lines_none():
    lines = judged_lines(HEAD + "hand first Ann\nAnn roll\nBob 100\nBob flies\n")

    assert [(line.line.number, line.verdict) for line in lines] == [(5, "legal"), (6, "illegal"), (7, "unreadable")]


@pytest.mark.parametrize(
    ("text", "as_lies", "applied"),
    [("Ann 100\nAnn roll", False, False), ("Ann 100\nBob roll", True, True), ("Ann 100 anyway\nBob roll", False, True)],
)
def test_an_illegal_line_is_applied_as_it_lies_or_where_the_table_let_it_stand(text, as_lies, applied):
    illegal, legal = judged_lines(f"{HEAD}hand first Ann\n{text}\n", as_lies=as_lies)

    assert (illegal.verdict, codes(illegal), illegal.applied) == ("illegal", ["not-driving"], applied)
    assert legal.verdict == "legal"


def test_an_unreadable_line_is_reported_and_the_rest_still_counts():
    text = HEAD + "hand first Ann\nAnn roll\n??? !!!\nBob roll\nAnn 100\n"

    assert verdicts(text) == ["legal", "unreadable", "legal", "legal"]
    assert results(text)[0].sheets["Ann"].total == 100


TAKEN = "is taken already"
BEGUN = "The game has begun: this line stands before the first `hand first`."
RUSH_HAND = "edition rush\nside Ann\nside Bob\nhand first Ann\n"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        *((f"{HEAD}{line}", [TAKEN]) for line in ("side Ann", "side Reds = Ann, Cid", "side Bob = Cid, Dee")),
        *((f"{HEAD}hand first Ann\n{line}", [BEGUN]) for line in ("edition classic", "side Cid", "target 1000")),
        (f"{HEAD}hand first Ann\noption extension=no", [BEGUN]),
        (f"{HEAD}hand first Cid", ["names a player"]),
        ("side Ann\nhand first Ann", ["played by 2 or 3 alone, or 4 or 6 in pairs: these sides seat 1 alone."]),
        ("side Reds = Ann, Cid\nside Bob\nhand first Ann", ["6 in pairs: these sides are not equally large."]),
        (
            "edition rush\nside Ann\nhand first Ann\nAnn 100\nend",
            [
                "Rush is played by 2 to 8 alone, or 4, 6 or 8 in pairs: these sides seat 1 alone.",
                *["No hand has begun."] * 2,
            ],
        ),
        # The card that was meant is sought in the game first.
        (f"{RUSH_HAND}Ann gharge", ["There is no card 'gharge' (did you mean 'recharge'?)."]),
        (f"{RUSH_HAND}Ann gasolin", ["There is no card 'gasolin' (did you mean 'gasoline'?)."]),
        (f"{HEAD}hand first Ann\nAnn accelerater", ["There is no card 'accelerater' (did you mean 'accelerator'?)."]),
        (
            "edition rush\noption fast-remdy=yes\noption fast-remedy=yess\ndeck stopp=5, roll=5",
            [
                "There is no house rule 'fast-remdy' (did you mean 'fast-remedy'?).",
                "'fast-remedy' is yes or no, not 'yess' (did you mean 'yes'?).",
                "There is no card 'stopp' (did you mean 'stop'?).",
            ],
        ),
        ("edition ruhs\nside Ann", ["There is no edition 'ruhs' (did you mean 'rush'?): the editions are classic, "]),
        ("edition ruhs\nside Ann", [". The record is judged as classic."]),
        ("edition Rush\nedition parkr", [". The record is judged as rush."]),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(text, sentences):
    said = [line.unreadable or "" for line in judged_lines(text)]

    assert len(said) == len(sentences)
    assert [part for part, sentence in zip(sentences, said, strict=True) if part not in sentence] == []


def test_an_unknown_word_says_in_which_edition_to_look_it_up():
    lines = judged_lines("edition rush\noption fast-remdy=yes\ndeck stopp=5\n")
    (classic,) = judged_lines(f"{HEAD}hand first Ann\nAnn accelerater\n")

    assert [line.look_up for line in (*lines, classic)] == ["rush", "rush", "classic"]


def test_an_unreadable_header_line_is_reported_like_a_line_of_play():
    first, *_ = judged_lines("edition classic\nsides Ann and Bob\nside Ann\nside Bob\nhand first Ann\nAnn roll\n")

    assert (first.line.number, first.verdict, first.hand) == (2, "unreadable", 0)
    assert first.unreadable


def test_a_hand_begins_as_soon_as_the_sides_are_put_right():
    first, second, *plays = judged_lines("side Ann\nhand first Ann\nAnn roll\nside Bob\nAnn roll\nBob roll\n")

    assert (first.verdict, second.verdict) == ("unreadable", "unreadable")
    assert [play.verdict for play in plays] == ["legal", "legal"]


def test_without_hand_first_whoever_plays_first_begins_with_a_remark():
    first, second = judged_lines(HEAD + "Bob roll\nAnn roll\n")

    assert (first.verdict, [why.code for why in first.remarks], second.remarks) == (
        "legal",
        ["hand-began-by-itself"],
        (),
    )


@pytest.mark.parametrize(
    "head",
    [
        "option extension=no\noption hazard-on-empty-pile=allowed\nside Ann\nside Bob\n",
        f"{HEAD}option extension=yes\noption hazard-on-empty-pile=allowed\noption extension=no\n",
    ],
)
def test_house_rules_count_in_any_order_beside_each_other_and_can_be_taken_back(head):
    text = f"{head}hand first Ann\nAnn stop > Bob\n"
    (result,) = results(text)

    assert verdicts(text) == ["legal"]
    assert (result.table.edition.name, result.table.may_extend) == ("classic", False)


def test_a_player_called_like_a_header_word_can_play():
    text = "side side\nside hand\nhand first side\nside roll\nhand roll\nside 100\n"

    (result,) = results(text)

    assert verdicts(text) == ["legal"] * 3
    assert result.sheets["side"].total == 100


@pytest.mark.parametrize("as_lies", [False, True])
def test_the_plays_after_the_end_are_over(as_lies):
    over = f"{HEAD}target 200\nhand first Ann\nAnn roll\nBob roll\nAnn 200\nBob 25\nend\nexhausted\n"
    lines = judged_lines(over, as_lies=as_lies)

    assert [(codes(line), line.applied) for line in lines[-3:]] == [(["hand-over"], False)] * 3


# Hands


def test_the_hands_result_follows_its_last_line():
    items = record(HEAD + "target 200\nhand first Ann\nAnn roll\nBob roll\nAnn 200\nhand first Bob\nBob roll\n")

    assert [type(item) for item in items] == [JudgedLine, JudgedLine, JudgedLine, HandResult, JudgedLine, HandResult]
    assert [(i.number, i.how) for i in items if isinstance(i, HandResult)] == [(1, "completed"), (2, "open")]


def test_an_open_hand_counts_what_would_count_now_and_is_not_in_the_match():
    one = "hand first Ann\nAnn roll\nBob roll\nAnn 200\n"
    done, still_open = results(f"{HEAD}target 200\n{one}hand first Bob\nBob roll\nAnn roll\nBob 100\n")

    assert still_open.sheets["Bob"].total == 100
    assert still_open.match == done.match == {"Ann": 200 + 400 + 500, "Bob": 0}
    assert results(f"{HEAD}{one}")[0].match == {"Ann": 0, "Bob": 0}


def test_an_illegal_line_is_refused_and_not_remarked_upon():
    *_, refused = judged_lines(f"{HEAD}option discard=when-stuck\nhand first Ann\nBob discard 25\n")

    assert (codes(refused), refused.remarks) == (["not-your-turn"], ())


def test_a_target_reached_and_not_answered_is_open_until_a_new_hand_finishes_it():
    (waiting,) = results(REACHED + "Ann 100\n")
    done, _ = results(REACHED + "Ann 100\nhand first Bob\nBob roll\n")
    *_, play = judged_lines(REACHED + "Ann 100\nBob 25\n")

    assert (waiting.how, waiting.by, waiting.sheets["Ann"].total) == ("open", None, 700)
    assert (done.how, done.by, done.remarks) == ("completed", "Ann", ())
    assert codes(play) == ["hand-over"]


def test_the_sight_of_an_empty_pile_while_the_answer_is_open_makes_a_delayed_action():
    (result,) = results(REACHED + "Ann 100\nexhausted\nAnn finish\n")

    assert dict(result.sheets["Ann"].lines)["delayed-action"] == 300


def test_a_new_hand_while_one_is_open_ends_that_one_as_agreed_with_a_remark():
    agreed, _ = results(HEAD + "hand first Ann\nAnn roll\nBob roll\nAnn 100\nhand first Bob\n")

    assert (agreed.how, agreed.by, [why.code for why in agreed.remarks]) == ("agreed", None, ["ended-as-agreed"])
    assert agreed.match == {"Ann": 100, "Bob": 0}


def test_a_record_without_a_hand_gives_no_result():
    assert record("") == record("# nothing\n") == record(HEAD) == []


def test_the_window_of_a_coup_fourre_outlasts_illegal_and_unreadable_lines_and_comments():
    text = HEAD + "hand first Ann\nAnn roll\nBob stop > Ann\nBob 100\nwho was it?\n# well\nAnn right-of-way !\n"

    assert verdicts(text) == ["legal", "legal", "illegal", "unreadable", "legal"]


# JSON


def test_the_object_of_a_line_has_the_keys_of_the_contract():
    (line,) = judged_lines(HEAD + "hand first Ann\nAnn 100  # too early\n")

    said = line.as_json("a.mbn")

    assert said | {"reasons": []} == {
        "file": "a.mbn",
        "line": 5,
        "hand": 1,
        "text": "Ann 100",
        "verdict": "illegal",
        "reasons": [],
        "remarks": [],
        "applied": False,
    }
    assert said["reasons"][0] == {
        "code": "not-driving",
        "say": "Ann cannot drive yet.",
        "rule": "the classic rules (106 cards): Starting to drive",
        "instead": "a roll, or right of way",
    }


def test_the_object_of_an_unreadable_line_says_how_to_write_it():
    (line,) = judged_lines("edition\n")

    assert line.as_json("a.mbn")["reasons"] == [
        {"code": "unreadable", "say": "This line is written `edition classic`. The record is judged as classic."}
    ]


def test_the_state_after_a_line_is_given_where_it_is_asked_for():
    (line,) = judged_lines(HEAD + "Ann roll\n")
    (before,) = judged_lines("edition\n")

    assert "state" not in line.as_json("a.mbn")
    assert before.as_json("a.mbn", states=True)["state"] is None


def test_the_state_says_all_that_lies_on_the_table():
    *_, line = judged_lines(HEAD + "hand first Ann\nAnn roll\nBob stop > Ann\nAnn discard 25\n")

    state = line.as_json("a.mbn", states=True)["state"]

    assert state | {"sides": sorted(state["sides"])} == {
        "to_move": "Bob",
        "target": 700,
        "extended": False,
        "extension_offered_to": None,
        "draw_pile": 91,
        "discard": "25",
        "discards": 1,
        "hands": {"Ann": 6, "Bob": 6},
        "requests": [],
        "may_pass": False,
        "ended": None,
        "sides": ["Ann", "Bob"],
    }
    assert state["sides"]["Ann"]["battle"] == "stop"


def test_the_state_tells_an_extension_and_an_end():
    *_, reached, extended, ended = judged_lines(REACHED + "Ann 100\nAnn extend\nend\n")

    states = [line.as_json("a.mbn", states=True)["state"] for line in (reached, extended, ended)]

    assert [state["extension_offered_to"] for state in states] == ["Ann", None, None]
    assert [state["extended"] for state in states] == [False, True, True]
    assert [state["ended"] for state in states] == [None, None, "agreed"]
    assert states[-1]["to_move"] is None


def test_the_object_of_a_hand_has_the_keys_of_the_contract():
    text = (
        HEAD + "target 200\nhand first Ann\nAnn roll\nBob stop > Ann\nAnn right-of-way !\nAnn 100\nBob roll\nAnn 100\n"
    )
    (result,) = results(text)

    said = result.as_json("a.mbn")

    assert said | {"sides": {}} == {
        "file": "a.mbn",
        "hand": 1,
        "ended": "completed",
        "by": "Ann",
        "target": 200,
        "extended": False,
        "draw_pile": 88,
        "sides": {},
        "match": {"Ann": 1800, "Bob": 0},
        "winner": None,
        "matches_won": {"Ann": 0, "Bob": 0},
        "remarks": [],
    }
    assert said["sides"]["Ann"] == {
        "battle": "roll",
        "speed": None,
        "km": 200,
        "distances": {"25": 0, "50": 0, "75": 0, "100": 2, "200": 0},
        "safeties": {"right-of-way": "coup-fourre"},
        "score": [
            {"item": "distance", "points": 200},
            {"item": "safeties", "points": 100},
            {"item": "coups-fourres", "points": 300},
            {"item": "trip-completed", "points": 400},
            {"item": "safe-trip", "points": 300},
            {"item": "shut-out", "points": 500},
        ],
        "total": 1800,
    }


def test_a_card_of_another_edition_that_lies_there_is_shown():
    (result,) = results(HEAD + "hand first Ann\nAnn roll\nBob roll\nAnn 300 anyway\n")

    assert result.as_json("a.mbn")["sides"]["Ann"]["distances"]["300"] == 1


def test_a_name_to_show_belongs_to_its_player():
    game = judge.NEW_GAME
    for text in ["side Ann", 'player Ann "<b>Ann</b> {turn}"', "side Bob", 'player Ann "Annie"']:
        game, _ = judge.step(game, notation.Line(1, text))

    assert game.shown == {"Ann": "Annie"}


# Hostile records


@pytest.mark.parametrize(
    "text",
    [
        "side {turn}\n",
        "side Ann\nside Bob\nhand first Ann\nAnn {player}\n",
        "\x00" * 100,
        "hand\n" * 10,
        "side Reds = " + ", ".join(f"P{n}" for n in range(500)) + "\nhand first P1\n",
        "".join(f"side P{n}\n" for n in range(50)) + "hand first P1\n",
        "target 999975\nside Ann\nside Bob\nhand first Ann\n" + "Ann roll\nBob roll\n" * 20,
        "\ud800 roll\n",
    ],
)
@pytest.mark.parametrize("as_lies", [False, True])
def test_a_hostile_record_is_judged_without_an_error(text, as_lies):
    for item in record(text, as_lies=as_lies):
        assert json.dumps(item.as_json("a.mbn"))


def test_no_more_sides_and_names_are_kept_than_a_table_has():
    sides = judged_lines("".join(f"side P{n}\n" for n in range(20)))
    names = judged_lines("".join(f'player P{n} "P"\n' for n in range(20)))

    assert (len(sides), len(names)) == (4, 4)


def test_a_record_of_very_many_hands_does_not_slow_down():
    text = HEAD + "hand first Ann\n" * 3000

    assert [result.how for result in results(text)][-2:] == ["agreed", "open"]


CARDS = st.sampled_from([card.value for card in Card])
WORDS = "end;exhausted;Ann take;Bob skip-draw;Ann extend;Ann finish;Bob pass;hand first Bob;Ann exchange 25 50"
VALUES = ["allowed", "forbidden", "yes", "no"]
RUBBISH = st.one_of(
    st.sampled_from([line for players in (TWO, THREE, PAIRS, SIX) for line in header(players)]),
    st.builds("{} {}{}".format, st.sampled_from(["Ann", "Bob", "Cid", "Fay"]), CARDS, st.sampled_from(["", " !"])),
    st.builds("{} {} > {}".format, st.sampled_from(["Ann", "Bob"]), CARDS, st.sampled_from(["Ann", "Bob", "Reds"])),
    st.sampled_from(WORDS.split(";")),
    st.builds("option {}={}".format, st.sampled_from(list(switches())), st.sampled_from(VALUES)),
    st.text(max_size=30),
)


@given(st.lists(RUBBISH, max_size=40), st.booleans())
@settings(max_examples=150, deadline=None)
def test_whatever_stands_in_a_record_it_is_judged(lines, as_lies):
    for item in record("\n".join(["side Ann", "side Bob", *lines]), as_lies=as_lies):
        assert item.as_json("a.mbn")


@pytest.mark.parametrize("line", ["Ann extend", "Ann finish", "Ann take", "Bob skip-draw"])
def test_as_it_lies_applies_only_what_leaves_a_card_on_the_table(line):
    items = list(judge.judge(notation.lines(f"side Ann\nside Bob\nhand first Ann\n{line}"), as_lies=True))

    assert (items[0].verdict, items[0].applied) == ("illegal", False)
    assert items[1].how == "open"


def test_a_limit_that_right_of_way_has_lifted_does_not_show():
    lines = "side Ann\nside Bob\nhand first Ann\nAnn roll\nBob speed-limit > Ann\nAnn right-of-way"
    *_, result = judge.judge(notation.lines(lines))

    assert result.as_json("")["sides"]["Ann"]["speed"] is None

"""`companion robot`: one line per question, one per answer, and a sentence for every bad line."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest
from players import legal_hand, random_table

from companion.robots.robot import Dialogue, Level
from companion.robots.search import Effort
from companion.rules.editions.edition import edition_names
from companion.rules.record import judge, notation

RECORD = "edition bsd-mille\nside Ann\nside Bob\nhand first Ann\n"
ASKED = {"record": RECORD, "player": "Ann", "hand": ["roll", "25"]}
HANDED = "edition rush\nside Ann\nside Bob\nhand first Ann\nAnn control stop > Bob\nBob give stop > Ann"
ATTACKED = RECORD + "Ann roll\nBob stop > Ann\n"


@pytest.fixture
def answers(called):
    """Return a function that sends lines and returns the answers."""

    def ask(lines: list[str], *options: str) -> list[dict]:
        ran = called("robot", *options, typed="".join(f"{line}\n" for line in lines))
        assert ran.returncode == 0
        return [json.loads(line) for line in ran.stdout.splitlines()]

    return ask


@pytest.mark.parametrize("level", ["1", "2", "3"])
def test_a_question_is_answered_with_a_play_and_a_reason(answers, level):
    (answer,) = answers([json.dumps(ASKED)], "--level", level)

    assert answer["play"] == "Ann roll"
    assert any(sign.isdigit() for sign in answer["why"])


def test_a_player_is_found_by_the_composed_or_decomposed_name():
    dialogue = Dialogue(Level(1), Effort(), 1)
    record = RECORD.replace("Ann", "Zo\u00eb")

    assert (
        dialogue.answer(json.dumps({"record": record, "player": "Zoe\u0308", "hand": ["roll"]}))["play"]
        == "Zo\u00eb roll"
    )


@pytest.mark.parametrize("roll", ["Roll", "go", "Green Light", "feu-vert"])
def test_a_hand_may_be_given_by_printed_card_names(roll):
    answer = Dialogue(Level(1), Effort(), 1).answer(json.dumps(ASKED | {"hand": [roll, "25 km"]}))

    assert answer["play"] == "Ann roll"


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("", None),
        ("roll", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "JSON object"),
        ("{}", "`record`"),
        (json.dumps(ASKED | {"record": 7}), "`record`"),
        (json.dumps(ASKED | {"hand": "roll"}), "`hand`"),
        (json.dumps(ASKED | {"hand": ["rol"]}), "did you mean 'roll'"),
        (json.dumps(ASKED | {"hand": [25]}), "list of card names"),
        (json.dumps(ASKED | {"hand": ["unknown"]}), "list of card names"),
        (json.dumps(ASKED | {"hand": ["300"]}), "no 300 miles in this edition"),
        (json.dumps(ASKED | {"hand": ["driving-ace"] * 2}), "more of Driving Ace"),
        (json.dumps(ASKED | {"hand": ["25"] * 99}), "99 cards"),
        (json.dumps(ASKED | {"hand": []}), "has no card to play"),
        (json.dumps(ASKED | {"player": "Cid"}), "Cid does not play"),
        (json.dumps(ASKED | {"player": "Bob"}), "Ann's turn"),
        (json.dumps({"record": HANDED, "player": "Bob", "hand": ["50"] * 5}), "Ann's turn"),
        (json.dumps(ASKED | {"record": "edition bsd-mille\nside Ann\nside Bob"}), "No hand has started"),
        (json.dumps(ASKED | {"record": RECORD + "Ann rol"}), "Line 5 of the record"),
        (json.dumps(ASKED | {"record": "edition klassik"}), "Line 1 of the record"),
        (json.dumps(ASKED | {"record": RECORD + "end"}), "The hand is over"),
        ('{"record": "\\ud800", "player": "\\u0000", "hand": []}', "Line 1 of the record"),
    ],
)
def test_bad_input_gets_one_sentence_and_the_next_question_an_answer(answers, question, says):
    *bad, good = answers([question, json.dumps(ASKED)], "--level", "1")

    assert good["play"] == "Ann roll"
    assert [list(answer) for answer in bad] == ([["error"]] if says else [])
    assert all(says in answer["error"] and answer["error"].count("\n") == 0 for answer in bad)


def test_out_of_turn_answers_use_the_same_question(answers):
    hand = ["25", "50", "100", "gasoline", "repairs"]
    has, lacks, drawn = (
        json.dumps({"record": ATTACKED, "player": "Ann", "hand": [*cards, *hand]})
        for cards in (["right-of-way"], ["75"], ["75", "roll"])
    )

    plays = [answer["play"] for answer in answers([has, lacks, drawn])]
    assert plays == ["Ann right-of-way !", None, "Ann roll"]


def test_the_same_seed_gives_the_same_answer(answers):
    question = json.dumps(
        {"record": ATTACKED, "player": "Ann", "hand": ["25", "stop", "100", "75", "50", "roll", "200"]}
    )
    given = answers([question] * 2, "--level", "3", "--seed", "5")

    assert given[0] == given[1]


@pytest.mark.parametrize("level", [*Level])
def test_the_order_of_the_hand_makes_no_difference_to_the_answer(level):
    hand = ["roll", "25", "75", "stop", "50", "end-of-limit", "25"]
    record = RECORD + "Ann right-of-way\nAnn discard 100\nBob roll\nAnn discard 50\nBob 50"

    def answer(cards: list[str], seed: int, text: str = record) -> dict:
        line = json.dumps({"record": text, "player": "Ann", "hand": cards})
        return Dialogue(level, Effort(playouts=60), seed).answer(line)

    for seed in range(5):
        given = [answer(random.Random(order).sample(hand, len(hand)), seed) for order in range(6)]
        given.append(answer(hand, seed, record + "\n\n# to be continued"))
        assert given == given[:1] * len(given)


def test_a_search_ends_when_its_time_is_up(answers):
    question = json.dumps(
        {"record": RECORD, "player": "Ann", "hand": ["25", "stop", "100", "75", "50", "gasoline", "200"]}
    )
    (answer,) = answers([question], "--level", "3", "--seconds", "0.05")

    assert answer["play"].startswith("Ann ")


def test_only_the_new_lines_of_a_grown_record_are_judged(monkeypatch):
    stepped, step = [], judge.step
    monkeypatch.setattr(judge, "step", lambda game, line: stepped.append(line.text) or step(game, line))
    dialogue = Dialogue(Level.THUMB, Effort(), seed=1)
    for lines in ("", "\nAnn roll\nBob discard 25"):
        stepped.clear()
        dialogue.answer(json.dumps({**ASKED, "record": ASKED["record"] + lines}))

    assert stepped == ["Ann roll", "Bob discard 25"]


def test_each_answer_is_written_before_the_next_question_is_read():
    program = "from companion.app.main import main; main()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", program, "robot"], **pipes) as robot:
        for _ in range(2):
            robot.stdin.write(json.dumps(ASKED) + "\n")
            robot.stdin.flush()
            assert json.loads(robot.stdout.readline())["play"] == "Ann roll"
        robot.stdin.close()


@pytest.mark.parametrize("edition", edition_names())
@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(n, marks=pytest.mark.long) for n in range(2, 40))])
def test_after_any_record_each_player_gets_a_legal_play_or_a_sentence(edition, seed):
    chance = random.Random(f"{edition} {seed}")
    table = random_table(chance, edition)
    rules = [f"option {name}={value}" for name, value in table.edition.house_rules]
    sides = [f"side {side.name} = {', '.join(side.players)}" for side in table.sides]
    lines = [f"edition {edition}", *rules, *sides, f"target {table.target}", f"hand first {table.player_to_move}"]
    for play, after in legal_hand(table, chance, most=chance.randint(0, 90)):
        if after.is_over:
            break
        lines, table = [*lines, str(play)], after
    lines += chance.choice(([], [], [f"{table.player_to_move} discard unknown"]))
    left = [card for card in table.deck for _ in range(max(0, table.copies_left(card)))]
    for seat, size in zip(table.seats, table.hands, strict=True):
        hand = chance.sample(left, min(len(left), max(0, size + chance.choice((0, 0, 1, -1, 3)))))
        asked = json.dumps({"record": "\n".join(lines), "player": seat.player, "hand": hand})
        for level in Level:
            given = Dialogue(level, Effort(playouts=18), seed=1).answer(asked)
            if given.get("play"):
                judged = judge.judge(notation.lines("\n".join([*lines, given["play"]])))
                played = [item for item in judged if isinstance(item, judge.JudgedLine)][-1]
                assert (played.line.text, played.verdict) == (given["play"], judge.LEGAL)
            else:
                assert "error" in given or given["why"]

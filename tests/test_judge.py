"""Records judged line by line: verdicts, results of hands, unreadable lines."""

import json
from functools import reduce

import pytest
from records import record, results
from sheet import blocks

from companion.rules.record import judge, notation
from companion.rules.record.judge import HandResult, JudgedLine

HEAD = "edition classic\nside Ann\nside Bob\n"


def judged_lines(text: str, *, as_lies: bool = False) -> list[JudgedLine]:
    return [item for item in record(text, as_lies=as_lies) if isinstance(item, JudgedLine)]


def codes(line: JudgedLine) -> list[str]:
    return [why.code.value for why in line.reasons]


SIDES = "edition classic; side Ann; side Bob"
BEGIN = f"{SIDES}; hand first Ann"
REACHED = "Ann roll; Bob roll" + "".join(f"; Ann {km}; Bob discard 25" for km in (200, 200, 100, 100)) + "; Ann 100"
SHEET = f"""
every play gets a verdict and headers none
    {BEGIN}; Ann roll; Bob 100; Bob flies = verdicts 5 legal, 6 illegal, 7 unreadable
an illegal play is applied on request or with `anyway`
    {BEGIN}; Ann 100; Ann roll = codes not-driving / -; applied no yes; verdicts 5 illegal, 6 legal
    {BEGIN}; Ann 100; Bob roll = codes not-driving / -; applied yes yes; verdicts 5 illegal, 6 legal [as it lies]
    {BEGIN}; Ann 100 anyway; Bob roll = codes not-driving / -; applied yes yes; verdicts 5 illegal, 6 legal
as it lies applies only plays that move a card [as it lies]
    {BEGIN}; Ann extend = verdicts 5 illegal; applied no; hands open None
    {BEGIN}; Ann finish = verdicts 5 illegal; applied no; hands open None
    {BEGIN}; Ann take = verdicts 5 illegal; applied no; hands open None
    {BEGIN}; Bob skip-draw = verdicts 5 illegal; applied no; hands open None
an unreadable line is reported and the others still count
    {BEGIN}; Ann roll; ??? !!!; Bob roll; Ann 100 = verdicts 5 legal, 6 unreadable, 7 legal, 8 legal; total Ann 100
an unreadable header is reported like a play
    edition classic; sides Ann and Bob; side Ann; side Bob; hand first Ann; Ann roll
        = verdicts 2 unreadable, 6 legal; hand 0 1
a hand begins as soon as the sides are correct
    side Ann; hand first Ann; Ann roll; side Bob; Ann roll; Bob roll
        = verdicts 2 unreadable, 3 unreadable, 5 legal, 6 legal
a house rule without effect gets one remark, in the first hand's result
    {SIDES}; target 1000; option extension=yes; hand first Ann; Ann roll; end; hand first Bob; Bob roll
        = about-each no-effect / -
    {SIDES}; option extension=yes; hand first Ann; Ann roll = about-each -
    {SIDES}; option extension=no; target 1000; hand first Ann; Ann roll = about-each -
    {SIDES}; option extension-bonus=completer; option extension=no; hand first Ann; Ann roll = about-each no-effect
    edition rush; side Ann; side Bob; option fast-remedy-turn=goes-on; hand first Ann; Ann 100 = about-each -
    {SIDES}; option fast-remedy-turn=goes-on; hand first Ann; Ann roll = about-each no-effect
    {SIDES}; option fast-remedy-turn=goes-on; option fast-remedy=yes; hand first Ann; Ann roll = about-each -
    {SIDES}; side Cid; option shut-out=once; hand first Ann; Ann roll = about-each -
names that look alike get one remark
    {SIDES}; side Аnn; hand first Ann; Ann roll; end; hand first Bob; Bob roll = about-each look-alike / -
    {SIDES}; side ann; side Anna; side José; hand first Ann = about-each
    side Алена; side Алёна; hand first Алена; Алена roll = about-each -
one name in two spellings is taken already
    side Zoë; side Zoë; side Bob; hand first Zoë; Zoë roll = verdicts 2 unreadable, 5 legal
without hand first the first play begins the hand, with a remark
    {SIDES}; Bob roll; Ann roll = verdicts 4 legal, 5 legal; remarks hand-began-by-itself / -
house rules count in any order and can be reversed
    option extension=no; option hazard-on-empty-pile=allowed; side Ann; side Bob; hand first Ann; Ann stop > Bob
        = verdicts 6 legal; extendable no
    {SIDES}; option extension=yes; option hazard-on-empty-pile=allowed; option extension=no; hand first Ann;
        Ann stop > Bob = verdicts 8 legal; extendable no
a player named like a header can play
    side side; side hand; hand first side; side roll; hand roll; side 100
        = verdicts 4 legal, 5 legal, 6 legal; total side 100
plays after the end of the hand are refused
    {SIDES}; target 200; hand first Ann; Ann roll; Bob roll; Ann 200; Bob 25; end; exhausted
        = codes - / - / - / hand-over / hand-over / hand-over; applied yes yes yes no no no
    {SIDES}; target 200; hand first Ann; Ann roll; Bob roll; Ann 200; Bob 25; end; exhausted
        = codes - / - / - / hand-over / hand-over / hand-over; applied yes yes yes no no no [as it lies]
an illegal play is refused without remarks
    {SIDES}; option discard=when-stuck; hand first Ann; Bob discard 25 = codes not-your-turn; remarks -

# Hands

a hands result follows its last line
    {SIDES}; target 200; hand first Ann; Ann roll; Bob roll; Ann 200; hand first Bob; Bob roll
        = order line line line hand line hand; hands completed Ann, open None
an open hand scores what counts so far and is not in the match totals
    {SIDES}; target 200; hand first Ann; Ann roll; Bob roll; Ann 200; hand first Bob; Bob roll; Ann roll; Bob 100
        = total Bob 100; match Ann 1100; match Bob 0
    {BEGIN}; Ann roll; Bob roll; Ann 200 = match Ann 0; match Bob 0
a reached target without an answer is open until the next hand
    {BEGIN}; {REACHED} = hands open None; total Ann 700
    {BEGIN}; {REACHED}; hand first Bob; Bob roll = hands completed Ann, open None; about -
    {BEGIN}; {REACHED}; Bob 25 = last hand-over
an empty pile seen before the answer makes a delayed action
    {BEGIN}; {REACHED}; exhausted; Ann finish = score Ann delayed-action 300
a new hand ends an open one as agreed, with a remark
    {BEGIN}; Ann roll; Bob roll; Ann 100; hand first Bob = hands agreed None, open None; about ended-as-agreed;
        match Ann 100; match Bob 0
a record without a hand gives no result
    # nothing = order
    {SIDES} = order
a limit that Right of Way has lifted does not show
    {BEGIN}; Ann roll; Bob speed-limit > Ann; Ann right-of-way = shown Ann speed None
a card of another edition is shown
    {BEGIN}; Ann roll; Bob roll; Ann 300 anyway = shown Ann distances 300 1
"""


def fact(items: list[JudgedLine | HandResult], said: str) -> str:
    """Return the value of a fact about a judged record."""
    name, *of = said.split()
    lines = [item for item in items if isinstance(item, JudgedLine)]
    hands = [item for item in items if isinstance(item, HandResult)]
    side = of[0] if of else ""
    facts = {
        "verdicts": lambda: ", ".join(f"{line.line.number} {line.verdict}" for line in lines),
        "codes": lambda: " / ".join(" ".join(codes(line)) or "-" for line in lines),
        "last": lambda: " ".join(codes(lines[-1])),
        "remarks": lambda: " / ".join(" ".join(why.code for why in line.remarks) or "-" for line in lines),
        "applied": lambda: " ".join("yes" if line.applied else "no" for line in lines),
        "hand": lambda: " ".join(str(line.hand) for line in lines),
        "order": lambda: " ".join("line" if isinstance(item, JudgedLine) else "hand" for item in items),
        "hands": lambda: ", ".join(f"{hand.how} {hand.by}" for hand in hands),
        "about": lambda: " ".join(why.code for why in hands[0].remarks) or "-",
        "about-each": lambda: " / ".join(" ".join(why.code for why in hand.remarks) or "-" for hand in hands),
        "extendable": lambda: "yes" if hands[-1].table.may_extend else "no",
        "total": lambda: f"{side} {hands[-1].sheets[side].total}",
        "match": lambda: f"{side} {hands[-1].match[side]}",
        "score": lambda: f"{side} {of[1]} {dict(hands[-1].sheets[side].lines)[of[1]]}",
        "shown": lambda: " ".join([*of[:-1], str(reduce(dict.get, of[1:-1], hands[-1].as_json("")["sides"][side]))]),
    }
    return f"{name} {facts[name]()}".strip()


@pytest.mark.parametrize("rows", [pytest.param(rows, id=sentence) for sentence, rows in blocks(SHEET)])
def test_a_record_is_judged_line_by_line(rows):
    for row, setting in rows:
        lines, _, said = row.partition(" = ")
        items = record(lines.replace("; ", "\n"), as_lies=setting == "as it lies")
        for one in said.split("; "):
            assert fact(items, one) == one, row


# Verdicts


TAKEN = "is already taken"
BEGUN = "The game has started: write this line before the first `hand first`."
RUSH_HAND = "edition rush\nside Ann\nside Bob\nhand first Ann\n"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        *((f"{HEAD}{line}", [TAKEN]) for line in ("side Ann", "side Reds = Ann, Cid", "side Bob = Cid, Dee")),
        *((f"{HEAD}hand first Ann\n{line}", [BEGUN]) for line in ("edition classic", "side Cid", "target 1000")),
        (f"{HEAD}hand first Ann\noption extension=no", [BEGUN]),
        (f"{HEAD}hand first Cid", ["Write one of the players after `hand first`: Ann, Bob."]),
        ("hand first Ann", ["No `side` line names the players yet."]),
        ("side Ann\nhand first Ann", ["for 2 or 3 alone, or 4 or 6 in pairs: these sides seat 1 alone."]),
        ("side Reds = Ann, Cid\nside Bob\nhand first Ann", ["6 in pairs: these sides are not equal in size."]),
        (
            "edition rush\nside Ann\nhand first Ann\nAnn 100\nend",
            [
                "Rush is for 2 to 8 alone, or 4, 6 or 8 in pairs: these sides seat 1 alone.",
                *["No hand has started."] * 2,
            ],
        ),
        # Suggestions come from the cards of this game first.
        (f"{RUSH_HAND}Ann gharge", ["There is no card 'gharge' (did you mean 'recharge'?)."]),
        (f"{RUSH_HAND}Ann gasolin", ["There is no card 'gasolin' (did you mean 'gasoline'?)."]),
        (f"{HEAD}hand first Ann\nAnn accelerater", ["There is no card 'accelerater' (did you mean 'accelerator'?)."]),
        (
            "edition rush\noption fast-remdy=yes\noption fast-remedy=yess\ndeck stopp=5, roll=5",
            [
                "There is no house rule 'fast-remdy' (did you mean 'fast-remedy'?).",
                "'fast-remedy' must be yes or no, not 'yess' (did you mean 'yes'?).",
                "There is no card 'stopp' (did you mean 'stop'?).",
            ],
        ),
        ("edition ruhs\nside Ann", ["There is no edition 'ruhs' (did you mean 'rush'?): the editions are classic, "]),
        ("edition ruhs\nside Ann", [". The record is judged as classic."]),
        ("edition Rush\nedition parkr", [". The record is judged as rush."]),
    ],
)
def test_each_unreadable_line_is_explained_in_a_sentence(text, sentences):
    said = [line.unreadable or "" for line in judged_lines(text)]

    assert len(said) == len(sentences)
    assert [part for part, sentence in zip(sentences, said, strict=True) if part not in sentence] == []


def test_an_unknown_card_names_the_edition_to_look_in():
    lines = judged_lines("edition rush\noption fast-remdy=yes\ndeck stopp=5\n")
    (classic,) = judged_lines(f"{HEAD}hand first Ann\nAnn accelerater\n")

    assert [line.look_up for line in (*lines, classic)] == ["rush", "rush", "classic"]


# JSON


def test_the_json_of_a_line_has_the_documented_keys():
    (line,) = judged_lines(HEAD + "hand first Ann\nAnn 100  # too early\n")

    said = line.as_json("a.mbn")

    assert said | {"reasons": []} == {
        "file": "a.mbn", "line": 5, "hand": 1, "text": "Ann 100", "verdict": "illegal", "reasons": [], "remarks": [],
        "applied": False,
    }  # fmt: skip
    assert said["reasons"][0] == {
        "code": "not-driving",
        "say": "Ann cannot drive yet.",
        "rule": "the classic rules (106 cards) – Starting to drive",
        "instead": "Roll or Right of Way",
    }


def test_the_json_of_an_unreadable_line_says_how_to_write_it():
    (line,) = judged_lines("edition\n")

    assert line.as_json("a.mbn")["reasons"] == [
        {"code": "unreadable", "say": "Write this line as `edition classic`. The record is judged as classic."}
    ]


def test_the_json_of_a_line_includes_the_state_on_request():
    (line,) = judged_lines(HEAD + "Ann roll\n")
    (before,) = judged_lines("edition\n")

    assert "state" not in line.as_json("a.mbn")
    assert before.as_json("a.mbn", states=True)["state"] is None


def test_the_state_lists_all_visible_cards():
    *_, line = judged_lines(HEAD + "hand first Ann\nAnn roll\nBob stop > Ann\nAnn discard 25\n")

    state = line.as_json("a.mbn", states=True)["state"]

    assert state | {"sides": sorted(state["sides"])} == {
        "to_move": "Bob", "target": 700, "extended": False, "extension_offered_to": None, "draw_pile": 91,
        "discard": "25", "discards": 1, "hands": {"Ann": 6, "Bob": 6}, "requests": [], "may_pass": False, "ended": None,
        "sides": ["Ann", "Bob"],
    }  # fmt: skip
    assert state["sides"]["Ann"]["battle"] == "stop"


def test_the_state_shows_an_extension_and_the_end_of_the_hand():
    *_, reached, extended, ended = judged_lines(
        "\n".join([*BEGIN.split("; "), *REACHED.split("; "), "Ann extend", "end"])
    )

    states = [line.as_json("a.mbn", states=True)["state"] for line in (reached, extended, ended)]

    assert [state["extension_offered_to"] for state in states] == ["Ann", None, None]
    assert [state["extended"] for state in states] == [False, True, True]
    assert [state["ended"] for state in states] == [None, None, "agreed"]
    assert states[-1]["to_move"] is None


def test_the_json_of_a_hand_has_the_documented_keys():
    text = (
        HEAD + "target 200\nhand first Ann\nAnn roll\nBob stop > Ann\nAnn right-of-way !\nAnn 100\nBob roll\nAnn 100\n"
    )
    (result,) = results(text)

    said = result.as_json("a.mbn")

    assert said | {"sides": {}} == {
        "file": "a.mbn", "hand": 1, "ended": "completed", "by": "Ann", "target": 200, "extended": False,
        "draw_pile": 88, "sides": {}, "match": {"Ann": 1800, "Bob": 0}, "winner": None,
        "matches_won": {"Ann": 0, "Bob": 0}, "remarks": [],
    }  # fmt: skip
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


def test_a_display_name_belongs_to_its_player():
    game = judge.NEW_GAME
    for text in ["side Ann", 'player Ann "<b>Ann</b> {turn}"', "side Bob", 'player Ann "Annie"']:
        game, _ = judge.step(game, notation.RecordLine(1, text))

    assert game.shown == {"Ann": "Annie"}


# Hostile records


@pytest.mark.parametrize(
    "text",
    [
        "side {turn}\n", "side Ann\nside Bob\nhand first Ann\nAnn {player}\n", "\x00" * 100, "hand\n" * 10,
        "side Reds = " + ", ".join(f"P{n}" for n in range(500)) + "\nhand first P1\n",
        "".join(f"side P{n}\n" for n in range(50)) + "hand first P1\n",
        "target 999975\nside Ann\nside Bob\nhand first Ann\n" + "Ann roll\nBob roll\n" * 20, "\ud800 roll\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("as_lies", [False, True])
def test_a_hostile_record_is_judged_without_an_error(text, as_lies):
    for item in record(text, as_lies=as_lies):
        assert json.dumps(item.as_json("a.mbn"))


def test_sides_and_display_names_are_limited():
    sides = judged_lines("".join(f"side P{n}\n" for n in range(20)))
    names = judged_lines("".join(f'player P{n} "P"\n' for n in range(20)))

    assert (len(sides), len(names)) == (4, 4)


def test_a_record_of_very_many_hands_does_not_slow_down():
    text = HEAD + "hand first Ann\n" * 3000

    assert [result.how for result in results(text)][-2:] == ["agreed", "open"]

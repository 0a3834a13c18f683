"""Every reason has an example at the table, a sentence, and the place where the rule is written."""

from __future__ import annotations

import string

import pytest
from records import hand, record

from companion.rules import referee
from companion.rules.cards import Card
from companion.rules.edition import load_edition
from companion.rules.judge import HandResult, JudgedLine
from companion.rules.reasons import Code, Reason, as_json, catalogue, instead, reason, rule, say

CLASSIC = load_edition("classic")
TO_650 = "Ann roll; Bob roll" + "".join(f"; Ann {km}; Bob 25" for km in (200, 200, 100, 100, 50))

# Code: the lines before, the line that is refused, the sentence; and the house rule it needs.
REFUSED: dict[Code, tuple[str, ...]] = {
    Code.NOT_YOUR_TURN: ("", "Bob roll", "It is Ann's turn, not Bob's."),
    Code.HAND_OVER: ("Ann roll; end", "Bob roll", "The hand is over."),
    Code.UNKNOWN_CARD: ("", "Ann 300", "There is no 300 km in this game."),
    Code.TOO_MANY_COPIES: ("Ann driving-ace", "Ann driving-ace", "All 1 of driving ace have been played already."),
    Code.OWN_SIDE: ("Ann roll; Bob roll", "Ann stop > Ann", "A hazard goes on an opponent, not on your own side."),
    Code.NEEDS_TARGET: ("Ann roll", "Bob stop", "Say who gets the stop."),
    Code.NOT_DRIVING: ("", "Ann 100", "Ann cannot drive yet."),
    Code.UNDER_HAZARD: (
        "Ann roll; Bob flat-tire > Ann",
        "Ann 100",
        "Flat tire on Ann: no driving until it is remedied.",
    ),
    Code.SPEED_LIMIT: (
        "Ann roll; Bob speed-limit > Ann",
        "Ann 100",
        "Speed limit: only 25 and 50 until it is lifted.",
    ),
    Code.PAST_TARGET: (TO_650, "Ann 75", "75 km would pass the target: 50 km are left."),
    Code.THIRD_200: (
        "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25",
        "Ann 200",
        "At most 2 cards of 200 km a hand: Ann laid them already.",
    ),
    Code.NOTHING_TO_REMEDY: ("", "Ann repairs", "Repairs answers accident, and none shows on Ann."),
    Code.ALREADY_ROLLING: ("Ann roll; Bob roll", "Ann roll", "A roll would do nothing: Ann can drive already."),
    Code.NOT_LIMITED: ("", "Ann end-of-limit", "There is no speed limit on Ann to end."),
    Code.ALREADY_LIMITED: (
        "Ann speed-limit > Bob; Bob roll",
        "Ann speed-limit > Bob",
        "There is a speed limit on Bob already.",
    ),
    Code.PROTECTED: (
        "Ann roll; Bob roll; Ann right-of-way; Ann 25",
        "Bob stop > Ann",
        "Stop cannot touch Ann: right of way is out.",
    ),
    Code.OPPONENT_NOT_DRIVING: (
        "",
        "Ann stop > Bob",
        "Bob cannot be stopped yet: nothing lies on that battle pile.",
    ),
    Code.ALREADY_ATTACKED: (
        "Ann roll; Bob accident > Ann; Ann discard 25",
        "Bob stop > Ann",
        "Accident lies on Ann already.",
        "hazard-on-hazard=forbidden",
    ),
    Code.COUP_FOURRE_WINDOW_CLOSED: (
        "Ann roll; Bob stop > Ann; Ann discard 25; Bob roll",
        "Ann right-of-way !",
        "Too late for a coup fourré: a card was drawn or played since stop.",
    ),
    Code.NO_ATTACK_TO_ANSWER: (
        "",
        "Bob right-of-way !",
        "Right of way cannot be laid at once: there is no attack on Bob that it answers.",
    ),
    Code.FIRST_CARD: (
        "",
        "Ann driving-ace",
        "Ann's first card must be a roll or right of way.",
        "first-card=roll-or-right-of-way",
    ),
    Code.EXTENSION_NOT_OFFERED: ("", "Ann extend", "No extension is offered to Ann."),
    Code.SAFETY_DISCARD: ("", "Ann discard extra-tank", "A safety is never discarded.", "discard-safety=forbidden"),
    Code.CANNOT_TAKE_DISCARD: ("", "Ann take", "Cards are drawn from the draw pile, not from the discard pile."),
    Code.NO_PASSING: ("", "Ann pass", "There is no passing."),
    Code.NO_EXCHANGE: ("", "Ann exchange 25", "Cards are not exchanged in this game."),
}

REMARKED = {Code.LATE_SAFETY, Code.DISCARD_ONLY_WHEN_STUCK, Code.ENDED_AS_AGREED, Code.HAND_BEGAN_BY_ITSELF}
OF_OTHER_EDITIONS = {
    Code.ALREADY_DOUBLED,
    Code.NO_SUCH_CARD_THERE,
    Code.REQUEST_PENDING,
    Code.NOTHING_TO_TURN_BACK,
    Code.SAFETY_DEMANDED,
    Code.NEEDS_DISTANCE,
    Code.MUST_PLAY_IT,
}


def refused(code: Code) -> tuple[Reason, ...]:
    plays, line, _, *options = REFUSED[code]
    played = hand(plays, options=options)
    return referee.objections(played.table, played.parsed(line))


def test_every_code_has_an_example_here():
    assert set(REFUSED) | REMARKED | OF_OTHER_EDITIONS == set(Code)


@pytest.mark.parametrize("code", REFUSED)
def test_each_reason_speaks_against_its_play_and_says_why(code):
    why = next(why for why in refused(code) if why.code is code)

    assert say(why) == REFUSED[code][2]
    assert rule(why, CLASSIC).startswith("the classic rules (106 cards): ")


@pytest.mark.parametrize("code", Code)
def test_every_code_has_a_sentence_and_a_section(code):
    entry = catalogue()[code]
    sentences = [text for key, text in entry.items() if key == "say" or key.startswith("say-")]

    assert sentences
    assert all(sentence.endswith(".") for sentence in sentences)
    assert entry["section"]


def test_no_message_is_left_over():
    assert set(catalogue()) == {code.value for code in Code}
    assert {key for entry in catalogue().values() for key in entry if not key.startswith("say-")} <= {
        "say",
        "section",
        "instead",
    }


@pytest.mark.parametrize("code", REFUSED)
def test_every_sentence_of_a_code_is_filled_by_its_details(code):
    (why, *_) = [why for why in refused(code) if why.code is code]
    known = {key for key, _ in why.details}
    texts = [text for key, text in catalogue()[code].items() if key == "instead" or key.startswith("say")]

    assert {field for text in texts for _, field, _, _ in string.Formatter().parse(text) if field} <= known


def test_the_way_out_is_given_where_it_is_short():
    (under,) = refused(Code.UNDER_HAZARD)
    (passing,) = refused(Code.PAST_TARGET)

    assert instead(under) == "spare tire, or puncture proof"
    assert instead(passing) is None


def test_a_code_has_a_sentence_for_each_case():
    remedied = hand(
        "Ann roll; Bob stop > Ann; Ann roll; Bob accident > Ann; Ann repairs", options=["hazard-on-remedy=forbidden"]
    )
    (why,) = referee.objections(remedied.table, remedied.parsed("Bob stop > Ann"))
    nothing = hand(options=["take-discard=allowed"])
    (empty,) = referee.objections(nothing.table, nothing.parsed("Ann take"))
    drawn = nothing.then("Ann discard 25; Bob skip-draw")
    (twice,) = referee.objections(drawn.table, drawn.parsed("Bob take"))

    assert say(why) == "Ann cannot be stopped yet: there has been no roll since."
    assert say(empty) == "There is no card on the discard pile."
    assert say(twice) == "This turn's card has been drawn already."


def test_the_json_of_a_reason_gives_code_sentence_rule_and_way_out():
    (why,) = refused(Code.NO_PASSING)

    assert as_json(why, CLASSIC) == {
        "code": "no-passing",
        "say": "There is no passing.",
        "rule": "the classic rules (106 cards): A turn",
        "instead": "play or discard a card",
    }


def test_names_in_a_sentence_are_never_taken_for_its_gaps_or_for_cards():
    why = reason(Code.NOT_YOUR_TURN, player="{turn}", turn="roll")
    away = reason(Code.NEEDS_TARGET, card=Card.OUT_OF_GAS)

    assert say(why) == "It is roll's turn, not {turn}'s."
    assert say(away) == "Say who gets the out of gas."


def test_a_reason_is_written_as_its_code():
    assert str(reason(Code.OWN_SIDE)) == "own-side"


def remarked(text: str) -> list[Reason]:
    return [why for item in record(text) for why in item.remarks]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("hand first Ann\nAnn roll\nBob stop > Ann\nAnn right-of-way\n", Code.LATE_SAFETY),
        ("option discard=when-stuck\nhand first Ann\nAnn discard 25\n", Code.DISCARD_ONLY_WHEN_STUCK),
        ("hand first Ann\nAnn roll\nhand first Bob\n", Code.ENDED_AS_AGREED),
        ("Ann roll\n", Code.HAND_BEGAN_BY_ITSELF),
    ],
)
def test_each_remark_is_made_about_a_legal_play(text, code):
    items = record(f"side Ann\nside Bob\n{text}")

    assert [why.code for why in remarked(f"side Ann\nside Bob\n{text}")] == [code]
    assert {item.verdict for item in items if isinstance(item, JudgedLine)} == {"legal"}
    assert any(isinstance(item, HandResult) for item in items)

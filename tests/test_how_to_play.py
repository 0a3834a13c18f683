"""How to play follows the edition's data and the house rules; the referee judges the trial game."""

from collections import Counter

import pytest
from client import TWO, text_of

from companion.pages.game import how_to_play
from companion.pages.words import Why
from companion.rules.editions.edition import edition_names, load_edition, switches
from companion.rules.reasons import Code, catalogue
from companion.rules.record import judge
from companion.rules.record.judge import JudgedLine
from companion.rules.record.notation import RecordLine

STANDS = "Play on an opponent: their car stops until they fix it."


def test_every_rules_switch_is_explained_in_one_section():
    told = Counter(name for _title, *lists in how_to_play.SECTIONS.values() for names in lists for name in names)

    assert told == dict.fromkeys(switches(), 1)


@pytest.mark.parametrize("name", edition_names())
def test_every_card_of_an_edition_is_on_its_page(page, name):
    shown = page.get(f"/how/{name}").text

    assert [card.value for card in load_edition(name).deck if f'id="card-{card.value}"' not in shown] == []


@pytest.mark.parametrize(
    ("path", "said", "not_said"),
    [
        ("/how/classic", "Shut-out an opponent played no distance cards 500", "miles"),
        ("/how/classic", "Be the first to drive 700 or 1000 km", "Specials"),
        ("/how/rush", "Mirror 4 × Right after an attack on you", "miles"),
        ("/how/asmodee-2014", "Be the first to drive 1000 miles", "km"),
        ("/how/asmodee-2014", "There are no points", "Shut-out"),
        ("/how/card/stop", f"Stop {STANDS} Fixed by Roll Right of Way", "Not in this deck."),
        ("/how/card/mirror", "Not in this deck.", "miles"),
        ("/try?step=2&card=25", "Ann cannot drive under Out of Gas: fix it first.", "would be allowed"),
        ("/try?step=1&card=25", "25 km is allowed too, but for this lesson tap 100 km.", "Not allowed"),
        ("/try?step=1&card=mirror", "Step 2 of 6", "would be allowed"),
        ("/try?step=99&card=x", "Step 1 of 6", "would be allowed"),
    ],
)
def test_a_page_agrees_with_the_edition_and_the_referee(page, path, said, not_said):
    shown = text_of(page.get(path))

    assert said in shown
    assert not_said not in shown.replace("km to go", "")


@pytest.mark.parametrize(
    ("sides", "is_extendable"), [(TWO[:2], True), (("side Reds = Ann, Cid", "side Blues = Bob, Dee"), False)]
)
def test_a_tables_page_has_only_rules_that_hold_for_its_players_and_target(page, match, sides, is_extendable):
    match.start([*sides, "hand first Ann"])
    shown = text_of(page.get("/how"))

    assert ("Be the first to drive 700 km" in shown) == is_extendable
    assert ("extension" in shown.lower()) == is_extendable


@pytest.mark.parametrize("path", ["/how/card/unknown", "/how/nobody"])
def test_unknown_editions_and_cards_have_no_page(page, path):
    assert page.get(path).status_code == 404


def test_house_rules_are_marked(page, match):
    match.start(("option hazard-on-hazard=forbidden", *TWO))
    shown = text_of(page.get("/how"))

    assert "A side under a hazard cannot be attacked with a second one. house rule" in shown
    assert "Be the first to drive 700 km" in shown
    assert "house rule" not in text_of(page.get("/how/classic"))


@pytest.mark.parametrize("code", [code for code in Code if code in catalogue()])
def test_every_rule_links_to_an_existing_section(code):
    assert Why(code.value, "", "", None).at in how_to_play.SECTIONS


def test_a_past_match_links_to_the_rules_of_its_edition(page, match):
    match.start(("edition rush", *TWO))
    match.enter("Ann 100", "Ann")
    match.enter("end", "Ann")
    match.start(TWO)

    assert 'href="/how/rush#points"' in page.get("/past/1").text


# --- The trial game ----------------------------------------------------------------------------------------------


def test_every_prepared_play_is_legal_and_its_card_in_hand():
    plays = [text for step in how_to_play.STEPS for text in (step.play, step.reply) if text]
    lines = [RecordLine(number, text) for number, text in enumerate((*how_to_play.BEGINS, *plays))]
    judged = [item for item in judge.judge(lines) if isinstance(item, JudgedLine)]

    assert {item.verdict for item in judged} == {judge.LEGAL}
    assert [item.play.is_coup_fourre for item in judged].index(True) == len(judged) - 1


def test_the_trial_game_continues_only_with_the_right_card_and_changes_no_match(page, match):
    match.start(TWO)
    before = match.record()
    for number, card in enumerate(("roll", "100", "gasoline", "roll", "stop", "puncture-proof")):
        assert f"Step {number + 1} of 6" in text_of(page.get(f"/try?step={number}"))
        assert f"Step {number + 1} of 6" in text_of(page.get(f"/try?step={number}&card=25"))
        shown = text_of(page.get(f"/try?step={number}&card={card}"))

    assert "The safety counts 100 points, the coup fourré 300 more." in shown
    assert match.record() == before

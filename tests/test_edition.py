"""Editions as data: what the classic sheet says, house rules, and files that are wrong."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.rules.cards import Card, Family
from companion.rules.editions import edition
from companion.rules.editions.edition import (
    EditionError,
    edition_names,
    keep_own_editions,
    lent,
    load_edition,
    switches,
)
from companion.rules.editions.switches import check_options, contradictions

CLASSIC = load_edition("classic")
ASMODEE = load_edition("asmodee-2014")
RUSH = load_edition("rush")
RULE_SHEET_SWITCHES = """
hazard-on-hazard hazard-on-remedy hazard-on-empty-pile five-hazards-removed extension extension-bonus overshoot
safeties-count-as-distance two-hundreds roll-to-start roll-after-remedy roll-after-late-safety roll-on-remedy
roll-with-right-of-way first-card take-discard empty-pile draw discard-safety discard fast-remedy
fast-remedy-turn exchange pair-for-discard limit-on-doubled u-turn-on-winning-card shut-out coup-fourre-window
coup-fourre-turn pile-after-safety pile-after-remedy past-target-card mistake-penalty match
"""


@pytest.mark.parametrize("name", edition_names())
def test_every_edition_that_ships_can_be_loaded_and_says_where_it_is_written(name):
    edition = load_edition(name)

    assert edition.name == name
    assert edition.sheet
    assert all(edition.sources.values())
    assert edition.sources.keys() == {*switches(), "deck", "setting-up", "first-player", "points"}


CLASSIC_CARDS = (46, 18, 38, 4, 0)
DECKS = dict.fromkeys(("classic", "asmodee-2014", "parker", "dujardin-2014"), CLASSIC_CARDS)
DECKS |= {"bsd-mille": (46, 13, 38, 4, 0), "rush": (39, 16, 30, 4, 17)}


@pytest.mark.parametrize("name", edition_names())
def test_an_edition_has_as_many_cards_of_each_kind_as_its_sheet_says(name):
    deck = load_edition(name).deck
    by_family = {family: sum(n for card, n in deck.items() if card.family is family) for family in Family}

    assert tuple(by_family[family] for family in Family if family is not Family.UNKNOWN) == DECKS[name]


@pytest.mark.parametrize("name", [name for name in edition_names() if name != "bsd-mille"])
def test_one_of_each_hazard_that_the_deck_has_is_taken_out_for_three(name):
    edition = load_edition(name).with_options([("five-hazards-removed", "yes")])
    hazards = {card for card in edition.deck if card.family is Family.HAZARD}

    assert {card for card, count in edition.deck.items() if edition.deck_for(3)[card] == count - 1} == hazards
    assert len(hazards) == 5
    assert edition.deck_for(4) == edition.deck


def test_the_switches_are_those_of_the_rule_sheets_and_each_value_means_something():
    assert list(switches()) == RULE_SHEET_SWITCHES.split()
    for name, values in switches().items():
        assert len(values) >= 2, name
        assert all(meaning.endswith(".") for meaning in values.values()), name


def test_a_house_rule_changes_its_switch_and_nothing_else():
    house = CLASSIC.with_options([("hazard-on-hazard", "forbidden")]).with_options([("match", "one-race")])

    assert (house.switch("hazard-on-hazard"), house.match_points) == ("forbidden", None)
    assert house.house_rules == (("hazard-on-hazard", "forbidden"), ("match", "one-race"))
    assert CLASSIC.switch("hazard-on-hazard") == "allowed"


def test_a_house_rule_set_again_counts_once_and_gives_back_what_it_took_along():
    house = CLASSIC.with_options([("roll-on-remedy", "forbidden")]).with_options([("roll-on-remedy", "allowed")])

    assert house.house_rules == (("roll-on-remedy", "allowed"),)
    assert house.switch("roll-after-remedy") == "needed"
    with pytest.raises(EditionError, match="contradict each other"):
        CLASSIC.with_options(rules("roll-on-remedy=forbidden")).with_options(rules("roll-after-remedy=needed"))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("cheating", "allowed", "no house rule 'cheating'"),
        ("extension", "maybe", "'extension' must be yes or no, not 'maybe'."),
        ("empty-pile", "", "play-out, stuck, reshuffle or ends"),
        ("two-hundreds", "3", "'two-hundreds' must be 2 or unlimited"),
        ("__class__", "x", "no house rule"),
    ],
)
def test_a_house_rule_that_does_not_exist_gets_a_sentence(name, value, sentence):
    with pytest.raises(EditionError, match=sentence):
        CLASSIC.with_options([("match", "one-race"), (name, value)])


# House rules that contradict the sheet, or each other

NO_ROLL = {"roll-after-remedy": "not-needed", "roll-after-late-safety": "not-needed"}
DRAGGED = [
    ("classic", "roll-on-remedy=forbidden", NO_ROLL),
    ("parker", "roll-on-remedy=forbidden", NO_ROLL),
    ("bsd-mille", "roll-on-remedy=forbidden", {"roll-after-remedy": "not-needed"}),
    ("classic", "first-card=roll-or-right-of-way", {}),
    ("classic", "roll-to-start=not-needed", {}),
    ("asmodee-2014", "roll-after-remedy=needed", {"roll-on-remedy": "allowed"}),
    ("asmodee-2014", "roll-after-late-safety=needed", {"roll-on-remedy": "allowed"}),
    ("asmodee-2014", "roll-to-start=not-needed", {"first-card": "any"}),
    ("asmodee-2014", "first-card=any", {}),
    ("dujardin-2014", "roll-after-remedy=needed", {"roll-on-remedy": "allowed"}),
    ("rush", "first-card=roll-or-right-of-way", {"roll-to-start": "needed"}),
    ("rush", "roll-after-remedy=needed", {"roll-on-remedy": "allowed", "pile-after-remedy": "remedy"}),
    ("classic", "pile-after-remedy=card-beneath", {"roll-after-remedy": "not-needed"}),
]


def rules(text: str) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (rule.partition("=") for rule in text.split())]


@pytest.mark.parametrize(("name", "rule", "dragged"), DRAGGED)
def test_a_house_rule_that_contradicts_the_sheet_takes_the_sheets_switch_along(name, rule, dragged):
    edition = load_edition(name)
    house = edition.with_options(rules(rule))

    changed = {switch: house.switch(switch) for switch in switches() if house.switch(switch) != edition.switch(switch)}
    assert changed == dragged | dict(rules(rule))
    assert house.house_rules == tuple(rules(rule))


CONTRADICTORY = [
    "roll-on-remedy=forbidden roll-after-remedy=needed",
    "roll-on-remedy=forbidden roll-after-late-safety=needed",
    "pile-after-remedy=card-beneath roll-after-remedy=needed",
    "first-card=roll-or-right-of-way roll-to-start=not-needed",
    "extension=no roll-after-remedy=needed overshoot=allowed roll-on-remedy=forbidden",
    "first-card=any roll-to-start=not-needed first-card=roll-or-right-of-way",
]


@pytest.mark.parametrize("name", edition_names())
@pytest.mark.parametrize("text", CONTRADICTORY)
def test_house_rules_that_contradict_each_other_are_refused_with_both_and_a_way_out(name, text):
    with pytest.raises(EditionError) as refused:
        load_edition(name).with_options(rules(text))

    said = str(refused.value)
    assert said.count("\n") == 0
    assert said.endswith(".")
    assert sum(f"{switch}={value}" in said for switch, value in dict(rules(text)).items()) == 2
    assert "or write " in said


EVERY_RULE = [(name, value) for name, values in switches().items() for value in values]


@pytest.mark.parametrize("name", edition_names())
@pytest.mark.parametrize("rule", EVERY_RULE, ids="=".join)
def test_every_value_of_every_switch_that_is_not_fixed_can_be_a_house_rule_of_every_edition(name, rule):
    if rule[0] in load_edition(name).fixed:
        return
    house = load_edition(name).with_options([rule])

    assert house.switch(rule[0]) == rule[1]
    check_options(house.by_the_sheet.items())
    check_options((switch, house.switch(switch)) for switch in switches())


@given(st.lists(st.sampled_from(EVERY_RULE), max_size=12), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_house_rules_does_not_matter(chosen, chance):
    each_once = list(dict(chosen).items())
    shuffled = chance.sample(each_once, len(each_once))

    wrong = [*contradictions(dict(each_once))]
    assert wrong == [*contradictions(dict(shuffled))]
    if not wrong:
        one, other = (ASMODEE.with_options(order) for order in (each_once, shuffled))
        assert {s: one.switch(s) for s in switches()} == {s: other.switch(s) for s in switches()}


def test_an_edition_is_found_by_its_name_in_any_case_and_the_nearest_is_suggested():
    assert load_edition("RUSH") is RUSH
    with pytest.raises(
        EditionError, match=r"no edition 'parkers' \(did you mean 'parker'\?\): the editions are classic, "
    ):
        load_edition("Parkers")


# The numbers of an unverified deck


def test_an_unverified_deck_can_be_corrected():
    house = RUSH.with_deck({Card.STOP: 5, Card.ROLL: 5})

    assert (house.deck[Card.STOP], house.deck[Card.ROLL], sum(house.deck.values())) == (5, 5, 106)
    assert not house.counts_verified
    assert RUSH.deck[Card.STOP] == 4


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ({Card.STOP: 5}, "the deck has 107 cards, not 106"),
        ({Card.STOP: 3}, "the deck has 105 cards, not 106"),
        ({Card.STOP: -1, Card.ROLL: 11}, "The count of stop must be 0 or more, not -1"),
        ({Card.GASOLINE: 1, Card.ROLL: 5}, "There is no gasoline in the deck of Rush"),
        ({Card.DRIVING_ACE: 2, Card.ROLL: 5}, "The deck has one driving-ace"),
    ],
)
def test_a_correction_that_cannot_be_is_refused_with_a_sentence(counts, sentence):
    with pytest.raises(EditionError, match=sentence):
        RUSH.with_deck(counts)


@pytest.mark.parametrize("name", [name for name in edition_names() if name != "rush"])
def test_a_verified_deck_is_not_corrected(name):
    with pytest.raises(EditionError, match="only an unverified deck"):
        load_edition(name).with_deck({Card.STOP: 5, Card.ROLL: 13})


def test_a_hazard_corrected_away_is_not_taken_out_again():
    house = RUSH.with_deck({Card.POLLUTION: 0, Card.ROLL: 9}).with_options([("five-hazards-removed", "yes")])

    assert house.deck_for(2)[Card.POLLUTION] == 0
    assert sum(house.deck_for(2).values()) == 102


# Editions of one's own, by name


@pytest.fixture
def shelf(tmp_path):
    yield tmp_path
    keep_own_editions(tmp_path / "none")


def own(name: str) -> str:
    return f'parent = "classic"\nname = "{name}"\n'


def test_the_files_of_a_folder_are_editions_by_their_names(shelf):
    (shelf / "ours.toml").write_text(own("ours"), encoding="utf-8")
    (shelf / "note.txt").write_text("not an edition", encoding="utf-8")

    assert keep_own_editions(shelf) == ()
    assert edition_names()[-1] == "ours"
    assert edition_names()[0] == "classic"
    assert load_edition("ours").title == "Ours"
    assert keep_own_editions(shelf / "none") == ()
    assert "ours" not in edition_names()


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("ours.toml", own("theirs"), "edition 'theirs' must be in a file theirs.toml"),
        ("rush.toml", own("rush"), "'rush' is the name of an edition that ships"),
        ("ours.toml", "name = ", "ours.toml:1: this is not valid TOML"),
    ],
)
def test_a_file_that_cannot_be_an_edition_by_name_is_told_and_the_others_can(shelf, file, text, sentence):
    (shelf / "good.toml").write_text(own("good"), encoding="utf-8")
    (shelf / file).write_text(text, encoding="utf-8")

    said = keep_own_editions(shelf)
    assert len(said) == 1
    assert sentence in said[0]
    assert edition_names()[-1] == "good"
    assert load_edition("rush") is RUSH


# No switch is silently ignored


def test_every_switch_is_turned_by_a_test_of_the_rules_or_by_an_edition():
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    by_option = {name for name in switches() if re.search(rf"(?<![\w-]){name}=", tests)}
    others = [load_edition(name) for name in edition_names()]
    by_edition = {name for name in switches() if len({edition.switch(name) for edition in others}) > 1}

    assert set(switches()) - by_option - by_edition == set()


def test_an_edition_of_another_machine_goes_by_its_name_and_what_is_in_it(monkeypatch):
    text = own("ours") + 'title = "%s"\n'
    one, other = lent(text % "One"), lent(text % "Other")

    assert one == lent(text % "One") != other
    assert one.startswith("ours.")
    assert [load_edition(name).title for name in (one, other)] == ["One", "Other"]
    assert one not in edition_names()
    for wrong in (text % "x" + "deck = 3", text.replace("ours", "rush") % "x", text % "x" + "#" * 70_000, "\0"):
        with pytest.raises(EditionError):
            lent(wrong)
    monkeypatch.setattr(edition.edition_file, "read_text", None)  # what is too much is not even read
    with pytest.raises(EditionError, match="too long"):
        lent(text % "x" + "#" * 70_000)
    monkeypatch.setattr(edition, "MOST_LENT", 2)
    with pytest.raises(EditionError, match="There are too many"):
        lent(text % "Third")

"""Editions as data: what the classic sheet says, house rules, and files that are wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.rules import edition as editions
from companion.rules.cards import Card, Family
from companion.rules.edition import (
    Edition,
    EditionError,
    check_option,
    edition_names,
    load_edition,
    read_edition,
    switches,
)

CLASSIC = load_edition("classic")
RUSH = load_edition("rush")
SHIPPED = Path(editions.__file__).parent / "editions"
RULE_SHEET_SWITCHES = """
hazard-on-hazard hazard-on-remedy hazard-on-empty-pile five-hazards-removed extension extension-bonus overshoot
safeties-count-as-distance two-hundreds roll-to-start roll-after-remedy roll-after-late-safety roll-on-remedy
roll-with-right-of-way first-card take-discard empty-pile draw discard-safety discard fast-remedy exchange
pair-for-discard limit-on-doubled u-turn-on-winning-card shut-out coup-fourre-window coup-fourre-turn
pile-after-safety past-target-card mistake-penalty match
"""


@pytest.mark.parametrize("name", edition_names())
def test_every_edition_that_ships_can_be_loaded_and_says_where_it_is_written(name):
    edition = load_edition(name)

    assert edition.name == name
    assert edition.sheet
    assert all(edition.sources[switch] for switch in switches())


def test_classic_comes_first():
    assert edition_names()[0] == "classic"


@pytest.mark.parametrize(
    ("name", "cards"),
    [
        ("classic", 106),
        ("asmodee-2014", 106),
        ("bsd-mille", 101),
        ("rush", 106),
        ("parker", 106),
        ("dujardin-2014", 106),
    ],
)
def test_an_edition_has_as_many_cards_as_its_sheet_says(name, cards):
    assert sum(load_edition(name).deck.values()) == cards


def test_rush_has_nothing_left_of_the_classic_deck():
    by_family = {family: sum(n for card, n in RUSH.deck.items() if card.family is family) for family in Family}

    assert [by_family[f] for f in Family if f is not Family.UNKNOWN] == [39, 16, 30, 4, 17]
    assert not {Card.KM_25, Card.OUT_OF_GAS, Card.FLAT_TIRE, Card.GASOLINE, Card.EXTRA_TANK} & set(RUSH.deck)
    assert not RUSH.counts_verified


@pytest.mark.parametrize("name", edition_names())
def test_one_of_each_hazard_that_the_deck_has_is_taken_out_for_three(name):
    edition = load_edition(name).with_option("five-hazards-removed", "yes")
    hazards = {card for card in edition.deck if card.family is Family.HAZARD}

    assert {card for card, count in edition.deck.items() if edition.deck_for(3)[card] == count - 1} == hazards
    assert len(hazards) == 5
    assert edition.deck_for(4) == edition.deck


@pytest.mark.parametrize(
    ("name", "seatings", "targets"),
    [
        ("classic", "2 3 4x2 6x2", {2: 700, 3: 700, 4: 1000, 6: 700}),
        ("asmodee-2014", "2 3 4 4x2 6x2", dict.fromkeys((2, 3, 4, 6), 1000)),
        ("bsd-mille", "2", {2: 700}),
        ("rush", "2 3 4 5 6 7 8 4x2 6x2 8x2", dict.fromkeys(range(2, 9), 1000)),
        ("parker", "2 3 4x2 6x2", {2: 700, 3: 700, 4: 1000, 6: 700}),
        ("dujardin-2014", "2 3 4 5 6 7 8 4x2 6x2 8x2", dict.fromkeys(range(2, 9), 1000)),
    ],
)
def test_players_and_targets_are_those_of_the_sheet(name, seatings, targets):
    edition = load_edition(name)

    assert " ".join(f"{n}x{each}" if each > 1 else f"{n}" for n, each in edition.seatings) == seatings
    assert edition.target_km == targets


def test_the_classic_deck_has_106_cards():
    by_family = {family: sum(n for card, n in CLASSIC.deck.items() if card.family is family) for family in Family}

    assert sum(CLASSIC.deck.values()) == 106
    assert [by_family[f] for f in (Family.DISTANCE, Family.HAZARD, Family.REMEDY, Family.SAFETY)] == [46, 18, 38, 4]
    assert CLASSIC.deck[Card.ROLL] == 14


def test_the_switches_are_those_of_the_rule_sheets():
    assert list(switches()) == RULE_SHEET_SWITCHES.split()


def test_every_value_of_every_switch_means_something():
    for name, values in switches().items():
        assert len(values) >= 2 or name == "match", name
        assert all(meaning.endswith(".") for meaning in values.values()), name


def test_a_house_rule_changes_its_switch_and_nothing_else():
    house = CLASSIC.with_option("hazard-on-hazard", "forbidden").with_option("match", "one-race")

    assert (house.switch("hazard-on-hazard"), house.match_points) == ("forbidden", None)
    assert house.house_rules == (("hazard-on-hazard", "forbidden"), ("match", "one-race"))
    assert CLASSIC.switch("hazard-on-hazard") == "allowed"


def test_a_house_rule_set_again_counts_once():
    house = CLASSIC.with_option("extension", "no").with_option("extension", "yes")

    assert house.house_rules == (("extension", "yes"),)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("cheating", "allowed", "no house rule 'cheating'"),
        ("extension", "maybe", "'extension' is yes or no, not 'maybe'."),
        ("empty-pile", "", "play-out, stuck, reshuffle or ends"),
        ("two-hundreds", "3", "'two-hundreds' is 2 or unlimited"),
        ("__class__", "x", "no house rule"),
    ],
)
def test_a_house_rule_that_does_not_exist_gets_a_sentence(name, value, sentence):
    with pytest.raises(EditionError, match=sentence):
        check_option(name, value)


def test_an_unknown_edition_is_told_the_known_ones():
    with pytest.raises(EditionError, match="the editions are classic"):
        load_edition("poker")


# Files of one's own

OWN = """
parent = "classic"
name = "ours"
title = "Ours"

[switches]
hazard-on-hazard = { value = "forbidden", source = "grandmother" }
"""


def read(tmp_path: Path, text: str) -> Edition:
    path = tmp_path / "ours.toml"
    path.write_text(text, encoding="utf-8")
    return read_edition(path)


def test_an_edition_is_its_parent_and_what_differs(tmp_path):
    ours = read(tmp_path, OWN)

    assert (ours.title, ours.switch("hazard-on-hazard"), ours.switch("extension")) == ("Ours", "forbidden", "yes")
    assert (ours.sources["hazard-on-hazard"], ours.deck) == ("grandmother", CLASSIC.deck)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("parent = ", "Invalid value"),
        ("\x00", "Invalid statement"),
        ('colour = "red"', "unknown key 'colour'"),
        ('parent = "poker"', "parent 'poker' is not one of classic"),
        ("parent = 3", "parent '3' is not one of"),
        ("name = 3", "'name' must be a text in quotes, not 3"),
        ('counts-verified = "yes"', "'counts-verified' must be true or false"),
        ("deck = 106", "'deck' must be a table"),
        ("[deck]\nroll = 13", "adds up to 13 cards, not 106"),
        ("[deck-changes]\nroll = 13", "adds up to 105 cards, not 106"),
        ("[deck]\nroll = -1", "'roll' must be a whole number, not -1"),
        ("[deck]\nroll = true", "'roll' must be a whole number, not True"),
        ("[deck]\nunknown = 1", "a card 'unknown' that no edition has"),
        ("[deck]\njoker = 2", "a card 'joker' that no edition has"),
        ("[setting-up]\nhands = 6", r"\[setting-up\] has an unknown key 'hands'"),
        ('[setting-up]\nhand = "six"', "'hand' must be a whole number"),
        ("[setting-up]\nseatings = [[2]]", "lists pairs of numbers"),
        ("[setting-up]\nseatings = [[5, 2]]", "lists pairs of numbers"),
        ("[setting-up]\nseatings = []", "lists pairs of numbers"),
        ("[setting-up]\nseatings = [[5, 1]]", "'5' is missing"),
        ("[setting-up.target-km]\n2 = 0", "more than 0 km"),
        ("[setting-up.target-km]\n9 = 700", "unknown key '9'"),
        ("[points]\nbonus = 5", r"\[points\] has an unknown key 'bonus'"),
        ('[points]\nsafety = "many"', "'safety' must be a whole number"),
        ('[points]\nlevel = "toss"', "'level' is play-on or restart, not 'toss'"),
        ('[switches]\ncheating = { value = "yes", source = "x" }', "no house rule 'cheating'"),
        ('[switches]\nextension = { value = "maybe", source = "x" }', "'extension' is yes or no"),
        ('[switches]\nextension = "no"', "'extension' must be a table"),
        ('[switches]\nextension = { value = "no", because = "x" }', "unknown key 'because'"),
    ],
)
def test_a_file_that_is_wrong_gets_a_sentence_with_its_name(tmp_path, change, sentence):
    own = 'name = "ours"\n' if not re.match("name", change) else ""
    parent = 'parent = "classic"\n' if not re.match("parent", change) else ""

    with pytest.raises(EditionError, match=f"^ours.toml: .*{sentence}"):
        read(tmp_path, parent + own + change)


@pytest.mark.parametrize("key", ["name", "deck", "setting-up", "points", "switches", "counts-verified"])
def test_a_file_without_a_parent_says_everything_itself(tmp_path, key):
    text = (SHIPPED / "classic.toml").read_text(encoding="utf-8")
    without = re.sub(rf"(?ms)^\[{key}[\].].*?(?=^\[(?!{key})|\Z)|^{key} = .*?$", "", text)

    with pytest.raises(EditionError, match=f"'{key}' is missing"):
        read(tmp_path, without)


def test_every_switch_is_said(tmp_path):
    text = (SHIPPED / "classic.toml").read_text(encoding="utf-8")

    with pytest.raises(EditionError, match="says nothing about 'overshoot'"):
        read(tmp_path, re.sub(r"(?m)^overshoot.*$", "", text))


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    latin = tmp_path / "latin.toml"
    latin.write_bytes('title = "Fran\xe7ais"'.encode("latin-1"))

    with pytest.raises(EditionError, match="cannot be read"):
        read_edition(tmp_path / "none.toml")
    with pytest.raises(EditionError, match="cannot be read"):
        read_edition(tmp_path)
    with pytest.raises(EditionError, match=r"latin\.toml"):
        read_edition(latin)


@given(st.text(max_size=80))
@settings(max_examples=60, deadline=None)
def test_any_text_is_an_edition_or_an_edition_error(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("edition") / "ours.toml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(EditionError):
        read_edition(path)


def test_a_deeply_nested_file_is_an_edition_error(tmp_path):
    with pytest.raises(EditionError):
        read(tmp_path, "name = " + "[" * 10_000)


# No switch is silently ignored


def test_every_switch_is_turned_by_a_test_of_the_rules_or_by_an_edition():
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    by_option = {name for name in switches() if re.search(rf"(?<![\w-]){name}=", tests)}
    by_edition = {
        name
        for name in switches()
        if any(load_edition(e).switch(name) != CLASSIC.switch(name) for e in edition_names())
    }

    assert set(switches()) - by_option - by_edition == OF_SPECIAL_CARDS


OF_SPECIAL_CARDS = {"limit-on-doubled", "u-turn-on-winning-card"}

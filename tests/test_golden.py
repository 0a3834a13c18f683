"""Whole hands, legal from the first line to the last, with the sheets that they come to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from records import record

from companion.rules.cards import Card, Family
from companion.rules.editions.edition import edition_names, load_edition
from companion.rules.record.judge import HandResult, JudgedLine

GOLDEN = Path(__file__).parent / "golden"
RECORDS = sorted(GOLDEN.glob("*.mbn"))
MOST = {
    "two-players-4600": 4600,
    "pairs-4400": 4400,
    "three-players-5100": 5100,
    "six-players-5100": 5100,
    "bsd-mille-4600": 4600,
}


def read(name: str) -> str:
    return (GOLDEN / f"{name}.mbn").read_text(encoding="utf-8")


def expected(path: Path) -> list[dict]:
    return json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def hands_of(text: str) -> list[dict]:
    return [item.as_json("") for item in record(text) if isinstance(item, HandResult)]


def test_there_are_golden_hands():
    assert {path.stem for path in RECORDS} == {path.stem for path in GOLDEN.glob("*.json")}


@pytest.mark.parametrize("edition", edition_names())
def test_every_edition_has_golden_hands(edition):
    of_edition = [path for path in RECORDS if f"edition {edition}\n" in path.read_text(encoding="utf-8")]

    assert len(of_edition) >= 2


@pytest.mark.parametrize("special", [card for card in load_edition("rush").deck if card.family is Family.SPECIAL])
def test_every_special_of_rush_is_played_with_two_with_pairs_and_with_five(special):
    word = "*2" if special is Card.ACCELERATOR else f" {special}"

    assert [name for name in ("two-players", "pairs", "five-players") if word not in read(f"rush-{name}")] == []


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_every_line_of_a_golden_hand_is_legal(path):
    lines = [item for item in record(path.read_text(encoding="utf-8")) if isinstance(item, JudgedLine)]

    assert lines
    assert [f"{line.line.number}: {line.line.text}" for line in lines if line.verdict != "legal"] == []


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_golden_hand_comes_to_its_sheet(path):
    hands = hands_of(path.read_text(encoding="utf-8"))

    assert [hand | {"file": ""} for hand in expected(path)] == hands


@pytest.mark.parametrize(("name", "points"), MOST.items())
def test_the_most_that_a_hand_can_bring(name, points):
    (hand,) = hands_of(read(name))

    assert max(side["total"] for side in hand["sides"].values()) == points
    assert sorted(side["total"] for side in hand["sides"].values())[:-1] == [0] * (len(hand["sides"]) - 1)


def score_of(name: str, side: str) -> dict[str, int]:
    (hand,) = hands_of(read(name))
    return {line["item"]: line["points"] for line in hand["sides"][side]["score"]}


def test_the_last_card_drawn_makes_a_delayed_action():
    assert score_of("delayed-action", "Ann") == {"distance": 700, "trip-completed": 400, "delayed-action": 300}


def test_an_extension_that_nobody_completes_brings_nothing():
    assert score_of("extension-lost", "Ann") == {"distance": 700, "safeties": 200}


def test_a_player_skipped_by_a_coup_fourre_has_one_turn_less():
    plays = [item.play.player for item in record(read("coup-fourre-skips-a-player")) if isinstance(item, JudgedLine)]

    assert plays[6:10] == ["Ann", "Cid", "Cid", "Ann"]


def test_the_hand_after_a_match_begins_at_zero():
    hands = hands_of(read("match-to-5000"))

    assert [hand["winner"] for hand in hands] == [None, None, None, None, "Ann", None]
    assert hands[3]["match"] == {"Ann": 4925, "Bob": 2600}
    assert hands[5]["match"] == {side: sheet["total"] for side, sheet in hands[5]["sides"].items()}


def test_the_asmodee_race_counts_safeties_in_miles_and_may_pass_1000():
    assert score_of("asmodee-passes-1000", "Ann") == {"distance": 725, "safeties": 200, "coups-fourres": 100}


def test_a_caller_who_fails_by_parkers_sheet_leaves_200_to_each_opponent():
    assert "extension" not in score_of("parker-extension-lost", "Ann")
    assert [score_of("parker-extension-lost", side)["extension"] for side in ("Bob", "Cid")] == [200, 200]


def test_a_level_match_of_mille_is_nobodys_and_starts_again_from_zero():
    hands = hands_of(read("bsd-mille-level-match"))

    assert (hands[4]["match"], hands[4]["winner"]) == ({"Ann": 5000, "Bob": 5000}, None)
    assert hands[5]["match"] == {side: sheet["total"] for side, sheet in hands[5]["sides"].items()}


def test_when_the_draw_pile_is_used_up_the_nearest_of_the_french_race_wins():
    (hand,) = hands_of(read("dujardin-nearest"))

    assert (hand["ended"], hand["by"], hand["winner"]) == ("exhausted", None, "Blues")


def test_a_hand_of_mille_that_nobody_can_go_on_with_is_exhausted():
    (hand,) = hands_of(read("bsd-mille-neither-can-play"))

    assert (hand["ended"], hand["by"], hand["winner"]) == ("exhausted", None, None)

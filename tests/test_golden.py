"""Whole hands, legal from the first line to the last, with the sheets that they come to."""

import json
from pathlib import Path

import pytest
from records import record

from companion.rules.cards import Card, Family
from companion.rules.editions.edition import edition_names, load_edition
from companion.rules.record.judge import HandResult, JudgedLine

GOLDEN = Path(__file__).parent / "golden"
RECORDS = sorted(GOLDEN.glob("*.mbn"))
MOST = ("two-players-4600", "pairs-4400", "three-players-5100", "six-players-5100", "bsd-mille-4600")


def read(name: str) -> str:
    return (GOLDEN / f"{name}.mbn").read_text(encoding="utf-8")


def test_there_are_golden_hands():
    assert {path.stem for path in RECORDS} == {path.stem for path in GOLDEN.glob("*.json")}


@pytest.mark.parametrize("edition", edition_names())
def test_every_edition_has_golden_hands(edition):
    of_edition = [path for path in RECORDS if f"edition {edition}\n" in read(path.stem)]

    assert len(of_edition) >= 2


@pytest.mark.parametrize("special", [card for card in load_edition("rush").deck if card.family is Family.SPECIAL])
def test_every_special_of_rush_is_played_with_two_with_pairs_and_with_five(special):
    word = "*2" if special is Card.ACCELERATOR else f" {special}"

    assert [name for name in ("two-players", "pairs", "five-players") if word not in read(f"rush-{name}")] == []


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_every_line_of_a_golden_hand_is_legal_and_it_comes_to_its_sheet(path):
    items = list(record(read(path.stem)))
    lines = [item for item in items if isinstance(item, JudgedLine)]
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))

    assert lines
    assert [f"{line.line.number}: {line.line.text}" for line in lines if line.verdict != "legal"] == []
    assert [hand | {"file": ""} for hand in expected] == [
        item.as_json("") for item in items if isinstance(item, HandResult)
    ]


@pytest.mark.parametrize("name", MOST)
def test_the_most_that_a_hand_can_bring_is_not_400_more(name):
    (hand,) = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))

    *others, most = sorted(side["total"] for side in hand["sides"].values())
    assert (most, set(others)) == (int(name.rpartition("-")[2]), {0})

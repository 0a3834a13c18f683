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
def test_the_most_that_a_hand_can_bring_is_not_400_more(name, points):
    (hand,) = hands_of(read(name))

    assert max(side["total"] for side in hand["sides"].values()) == points
    assert sorted(side["total"] for side in hand["sides"].values())[:-1] == [0] * (len(hand["sides"]) - 1)


def test_a_player_skipped_by_a_coup_fourre_has_one_turn_less():
    plays = [item.play.player for item in record(read("coup-fourre-skips-a-player")) if isinstance(item, JudgedLine)]

    assert plays[6:10] == ["Ann", "Cid", "Cid", "Ann"]


@pytest.mark.parametrize(
    ("name", "side", "score"),
    [
        ("delayed-action", "Ann", {"distance": 700, "trip-completed": 400, "delayed-action": 300}),
        ("extension-lost", "Ann", {"distance": 700, "safeties": 200}),
        ("asmodee-passes-1000", "Ann", {"distance": 725, "safeties": 200, "coups-fourres": 100}),
        *(("parker-extension-lost", side, {"extension": 200}) for side in ("Bob", "Cid")),
    ],
)
def test_a_sheet_has_the_lines_that_its_hand_is_about(name, side, score):
    (hand,) = hands_of(read(name))
    lines = {line["item"]: line["points"] for line in hand["sides"][side]["score"]}

    assert lines | score == lines
    assert ("extension" in lines) is ("extension" in score)


@pytest.mark.parametrize(("name", "winner"), [("dujardin-nearest", "Blues"), ("bsd-mille-neither-can-play", None)])
def test_a_hand_that_nobody_goes_on_with_is_exhausted(name, winner):
    (hand,) = hands_of(read(name))

    assert (hand["ended"], hand["by"], hand["winner"]) == ("exhausted", None, winner)


@pytest.mark.parametrize(
    ("name", "winners", "match"),
    [
        ("match-to-5000", [None, None, None, None, "Ann", None], {"Ann": 4925, "Bob": 2600}),
        ("bsd-mille-level-match", [None] * 6, {"Ann": 5000, "Bob": 5000}),
    ],
)
def test_the_hand_after_a_match_that_is_won_or_level_by_mille_begins_at_zero(name, winners, match):
    hands = hands_of(read(name))

    assert [hand["winner"] for hand in hands] == winners
    assert match in [hand["match"] for hand in hands[3:5]]
    assert hands[5]["match"] == {side: sheet["total"] for side, sheet in hands[5]["sides"].items()}

"""The traps that other programs fall into, each by its name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from records import TWO, hand, header, results
from sheet import check, rules

GOLDEN = Path(__file__).parent / "golden"
POINT_GAMES = ["classic", "bsd-mille", "parker"]
TO_700 = "Ann roll; Bob roll" + "; Ann 100; Bob discard 25" * 6 + "; Ann 100"
"""Ann has 700 km without a 200, Bob has none."""

FOUR_SAFETIES = "Ann right-of-way; Ann driving-ace; Ann extra-tank; Ann puncture-proof"
ANN_2200 = "Ann roll" + "; Bob discard 25; Ann 100" * 10
"""1000 km, trip, safe trip, shut-out."""


def match_of(edition: str, *hands: str) -> list:
    """The hands of a match to 1000 km each, given by their lines of play."""
    *head, first = header(TWO, edition=edition, target=1000)
    return results("\n".join([*head, *(line for played in hands for line in [first, *played.split("; ")])]))


def total_of(name: str, side: str) -> int:
    (played,) = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return sum(line["points"] for line in played["sides"][side]["score"])


SHEET = f"""four safeties bring 400 and 300 not 700 more
    {FOUR_SAFETIES}; Ann discard 25; end = points Ann distance=0 safeties=400 all-safeties=300; total Ann 700
    {FOUR_SAFETIES}; Ann discard 25; end = points Ann distance=0 safeties=400 all-safeties=300; total Ann 700
        [edition=bsd-mille]
    {FOUR_SAFETIES}; Ann discard 25; end = points Ann distance=0 safeties=400 all-safeties=300; total Ann 700
        [edition=parker]
a coup fourre of a race is 200 in all and not 300 [edition=rush]
    Ann roll; Bob roll; Ann 100; Bob stop > Ann; Ann right-of-way !; end = total Ann 300 [edition=asmodee-2014]
    Ann 100; Bob stop > Ann; Ann right-of-way !; end = total Ann 300
there is no safe trip at 700 when the extension fails
    {TO_700}; Ann extend; Bob discard 25; exhausted; end = points Ann distance=700
    {TO_700}; Ann finish = safe-trip Ann 300
    {TO_700}; Ann extend; Bob discard 25; exhausted; end = points Ann distance=700 [edition=bsd-mille]
    {TO_700}; Ann finish = safe-trip Ann 300 [edition=bsd-mille]
    {TO_700}; Ann extend; Bob discard 25; exhausted; end = points Ann distance=700 [edition=parker]
    {TO_700}; Ann finish = safe-trip Ann 300 [edition=parker]
"""


@pytest.mark.parametrize("rows", rules(SHEET))
def test_a_row_of_the_sheet(rows):
    check(rows)


@pytest.mark.parametrize(
    ("name", "side", "most", "copied_wrongly"),
    [
        ("two-players-4600", "Ann", 4600, 5000),
        ("pairs-4400", "Reds", 4400, 4800),
        ("three-players-5100", "Ann", 5100, 5500),
        ("six-players-5100", "Reds", 5100, 5500),
        ("bsd-mille-4600", "Ann", 4600, 5000),
    ],
)
def test_the_most_that_a_hand_brings_is_not_400_more(name, side, most, copied_wrongly):
    assert total_of(name, side) == most == copied_wrongly - 400


@pytest.mark.parametrize("edition", ["asmodee-2014", "rush"])
def test_in_a_race_the_safeties_stand_in_the_total(edition):
    start = "" if edition == "rush" else "Ann roll; Bob roll; "
    raced = hand(f"{start}Ann 100; Bob stop > Ann; Ann right-of-way !; Ann driving-ace; Ann 50; end", edition=edition)

    assert raced.points("Ann") == {"distance": 150, "safeties": 200, "coups-fourres": 100}
    assert raced.result.sheets["Ann"].total == raced.result.match["Ann"] == 450


@pytest.mark.parametrize("edition", POINT_GAMES)
def test_a_match_is_won_with_exactly_5000(edition):
    six_hundred = "Ann driving-ace; Ann extra-tank; Ann roll; Bob discard 25; Ann 200; Bob discard 25; Ann 200; end"
    *_, last = match_of(edition, ANN_2200, ANN_2200, six_hundred)

    assert (last.match["Ann"], last.winner) == (5000, "Ann")


@pytest.mark.parametrize("edition", POINT_GAMES)
def test_a_match_is_not_won_with_4975(edition):
    short = (
        "Ann driving-ace; Ann extra-tank; Ann roll; Bob discard 25; Ann 200; Bob discard 25; Ann 100; Bob discard 50"
    )
    *_, last = match_of(edition, ANN_2200, ANN_2200, f"{short}; Ann 75; end")

    assert (last.match["Ann"], last.winner) == (4975, None)


@pytest.mark.parametrize("edition", POINT_GAMES)
def test_a_hand_is_not_cut_short_because_the_match_total_was_passed(edition):
    six_hundred = "Ann driving-ace; Ann extra-tank; Ann roll; Bob discard 25; Ann 200; Bob discard 25; Ann 200"
    *_, last = match_of(edition, ANN_2200, ANN_2200, f"{six_hundred}; Bob roll; Ann 100; Bob 200; Ann 100; end")

    assert last.match == {"Ann": 5200, "Bob": 200}
    assert last.how == "agreed"


@pytest.mark.parametrize("edition", POINT_GAMES)
def test_the_trip_goes_to_whoever_completes_it_and_not_to_the_extensions_caller(edition):
    to_700 = TO_700.replace("Bob discard 25", "Bob 100", 5)
    bob_first = "; Bob 100; Ann discard 25; Bob 200; Ann discard 25; Bob 100; Ann discard 50; Bob 50; Ann discard 50"
    done = hand(f"{to_700}; Ann extend{bob_first}; Bob 50", edition=edition, as_lies=True)

    assert done.result.by == "Bob"
    assert (done.points("Bob")["trip-completed"], done.points("Bob")["extension"]) == (400, 200)
    assert {"trip-completed", "extension"}.isdisjoint(done.points("Ann"))


@pytest.mark.parametrize("edition", POINT_GAMES)
@pytest.mark.parametrize("end", ["end", "exhausted; end"])
def test_there_is_no_safe_trip_without_a_completed_trip(edition, end):
    short = TO_700.removesuffix("; Ann 100")
    done = hand(f"{short}; {end}", edition=edition)

    assert done.points("Ann") == {"distance": 600}

"""The traps that other programs fall into, each by its name; of the most that a hand brings: test_golden.py."""

import pytest
from sheet import ANN_2200, check, rules

TO_700 = "Ann roll; Bob roll" + "; Ann 100; Bob discard 25" * 6 + "; Ann 100"
"""Ann has 700 km without a 200, Bob has none."""

FOUR_SAFETIES = "Ann right-of-way; Ann driving-ace; Ann extra-tank; Ann puncture-proof"
SIX_HUNDRED = "Ann driving-ace; Ann extra-tank; Ann roll; Bob discard 25; Ann 200; Bob discard 25; Ann 200"
OVERTAKEN = TO_700.replace("Bob discard 25", "Bob 100", 5) + (
    "; Ann extend; Bob 100; Ann discard 25; Bob 200; Ann discard 25; Bob 100; Ann discard 50; Bob 50; Ann discard 50"
)
POINT_GAMES = "edition=classic, bsd-mille, parker"
SHEET = f"""
four safeties bring 400 and 300 not 700 more [{POINT_GAMES}]
    {FOUR_SAFETIES}; Ann discard 25; end = points Ann distance=0 safeties=400 all-safeties=300; total Ann 700
each line of the sheet is worth what is printed [target=200; {POINT_GAMES}]
    Ann roll; Bob stop > Ann; Ann right-of-way !; Ann 100; Bob discard 25; Ann 100
        = points Ann distance=200 safeties=100 coups-fourres=300 trip-completed=400 safe-trip=300 shut-out=500;
        points Bob distance=0
a coup fourre of a race is 200 in all and not 300
    Ann roll; Bob roll; Ann 100; Bob stop > Ann; Ann right-of-way !; end = total Ann 300 [edition=asmodee-2014]
    Ann 100; Bob stop > Ann; Ann right-of-way !; end = total Ann 300 [edition=rush]
in a race the safeties stand in the total
    Ann roll; Bob roll; Ann 100; Bob stop > Ann; Ann right-of-way !; Ann driving-ace; Ann 50; end
        = points Ann distance=150 safeties=200 coups-fourres=100; total Ann 450; match Ann 450 [edition=asmodee-2014]
    Ann 100; Bob stop > Ann; Ann right-of-way !; Ann driving-ace; Ann 50; end
        = points Ann distance=150 safeties=200 coups-fourres=100; total Ann 450; match Ann 450 [edition=rush]
there is no safe trip at 700 when the extension fails [{POINT_GAMES}]
    {TO_700}; Ann extend; Bob discard 25; exhausted; end = points Ann distance=700
    {TO_700}; Ann finish = safe-trip Ann 300
there is no safe trip without a completed trip [{POINT_GAMES}]
    {TO_700.removesuffix("; Ann 100")}; end = points Ann distance=600
    {TO_700.removesuffix("; Ann 100")}; exhausted; end = points Ann distance=600
a match is won with exactly 5000 and not with 4975 [target=1000; {POINT_GAMES}]
    {ANN_2200}; hand first Ann; {ANN_2200}; hand first Ann; {SIX_HUNDRED}; end = match Ann 5000; winner Ann
    {ANN_2200}; hand first Ann; {ANN_2200}; hand first Ann; {SIX_HUNDRED.replace("; Ann 200", "; Ann 75", 1)};
        Bob discard 50; Ann 100; end = match Ann 4975; winner None
a hand is not cut short because the match total was passed [target=1000; {POINT_GAMES}]
    {ANN_2200}; hand first Ann; {ANN_2200}; hand first Ann; {SIX_HUNDRED}; Bob roll; Ann 100; Bob 200; Ann 100; end
        = match Ann 5200; match Bob 200; ended agreed
the trip goes to whoever completes it and not to the extensions caller [as it lies; {POINT_GAMES}]
    {OVERTAKEN}; Bob 50 = by Bob; trip-completed Bob 400; extension Bob 200; trip-completed Ann None; extension Ann None
"""


@pytest.mark.parametrize("rows", rules(SHEET))
def test_a_row_of_the_sheet(rows):
    check(rows)

"""The classic score sheet, line by line, and the match totals."""

import pytest
from sheet import ANN_2200, BOB_2200, check, rules

from companion.rules.scoring import Sheet

TO_600 = "Ann roll; Bob roll; Ann 200; Bob discard 25; Ann 200; Bob discard 25; Ann 100; Bob discard 25; Ann 100"
TO_700 = f"{TO_600}; Bob discard 25; Ann 100"
"""The opponent plays no distance card."""

EXTENDED = f"{TO_700}; Ann extend; Bob discard 25"
TO_1000 = f"{EXTENDED}; Ann 100; Bob discard 25; Ann 100; Bob discard 25; Ann 100"

BOTH_700 = (
    "Ann driving-ace; Ann extra-tank; Ann roll; Bob puncture-proof; Bob roll; "
    "Ann 200; Bob 200; Ann 200; Bob 200; Ann 100; Bob 100; Ann 100; Bob 100; end"
)
"""Ann 800, Bob 700."""

LEVEL = BOTH_700.replace("Ann extra-tank; ", "")
NEXT = "; hand first Ann; "
MATCH = NEXT.join([ANN_2200, BOB_2200] * 2)


SHEET = f"""
# Lines of every side

each km is a point
    Ann roll; Bob roll; Ann 200; Bob 75; Ann 25 = counts Ann distance=225; counts Bob distance=75
a side without distance has a distance line of 0
    = counts Ann distance=0; counts Bob distance=0
a safety is 100
    Ann driving-ace; Ann extra-tank; Ann roll = counts Ann distance=0 safeties=200
three safeties are not all
    Ann driving-ace; Ann extra-tank; Ann puncture-proof = counts Ann distance=0 safeties=300
a coup fourre is 300 in addition to 100 for its safety
    Ann roll; Bob stop > Ann; Ann right-of-way ! = counts Ann distance=0 safeties=100 coups-fourres=300
a late safety is no coup fourre
    Ann roll; Bob stop > Ann; Ann right-of-way = counts Ann distance=0 safeties=100

# Lines of the completer

a completed trip is 400
    {TO_700}; Ann finish = trip-completed Ann 400; trip-completed Bob None
an exhausted hand has no completion bonuses
    Ann roll; Bob roll; exhausted; Ann 100; end = points Ann distance=100; points Bob distance=0
a trip without 200s is safe [target=200]
    Ann roll; Bob roll; Ann 100; Bob 25; Ann 100 = safe-trip Ann 300
    Ann roll; Bob roll; Ann 200 = safe-trip Ann None
an uncompleted trip is not safe [target=200]
    Ann roll; Bob roll; Ann 100; Bob 200 = safe-trip Ann None; trip-completed Bob 400
an opponents 200 does not spoil a safe trip [target=300]
    Ann roll; Bob roll; Ann 100; Bob 200; Ann 100; Bob 25; Ann 100 = safe-trip Ann 300
completing the trip with the draw of the last card is a delayed action [target=200]
    Ann roll; Bob roll; Ann 100; Bob skip-draw; Bob 25; down to 1 but 100 25; Ann 100 = pile 0; delayed-action Ann 300
    Ann roll; Bob roll; Ann 100; Bob 25; down to 2 but 100; Ann 100 = pile 1; delayed-action Ann None
a trip completed with an empty draw pile is a delayed action [target=200]
    Ann roll; Bob roll; Ann 100; exhausted; Bob 25; Ann 100 = delayed-action Ann 300
    Ann roll; Bob roll; Ann 100; Bob 25; Ann 100 = delayed-action Ann None
a shut out is 500 for each opponent without distance [three; target=200]
    Ann roll; Bob roll; Ann 200 = shut-out Ann 500 [target=200]
    Ann roll; Bob roll; Cid roll; Ann 200 = shut-out Ann 1000
    Ann roll; Bob roll; Cid roll; Ann 100; Bob 25; Cid discard 25; Ann 100 = shut-out Ann 500
a side with distance is not shut out [target=200]
    Ann roll; Bob roll; Ann 100; Bob 25; Ann 100 = shut-out Ann None
there is no shut out in a hand that is not completed
    Ann roll; Bob roll; Ann 100; Bob discard 25; end = shut-out Ann None
the shut out can count once for all opponents together [three; shut-out=once; target=200]
    Ann roll; Bob roll; Cid roll; Ann 200 = shut-out Ann 500
    Ann roll; Bob roll; Cid roll; Ann 100; Bob 25; Cid discard 25; Ann 100 = shut-out Ann None

# The extension

the extension scores 200 for its caller who completes
    {TO_1000} = extension Ann 200
an extension that is not completed scores nothing
    {EXTENDED}; exhausted; end = points Ann distance=700; points Bob distance=0
without a call there is no extension to score
    {TO_700}; Ann finish = extension Ann None
    Ann roll; Bob roll; Ann 200 = extension Ann None [target=200]
a failed extension can score 200 for each opponent [extension-bonus=caller-or-opponents]
    {EXTENDED}; exhausted; end = points Bob distance=0 extension=200; extension Ann None
    {TO_1000} = extension Ann 200; extension Bob None
an open extension scores nothing [extension-bonus=caller-or-opponents]
    {EXTENDED} = counts Bob distance=0

# The sheet

safeties that count as distance score even on a sheet without points for them
        [edition=dujardin-2014; safeties-count-as-distance=yes]
    Ann roll; Bob stop > Ann; Ann right-of-way !; Ann 100 = counts Ann distance=100 safeties=100 coups-fourres=100
    Ann roll; Bob stop > Ann; Ann right-of-way !; Ann 100 = counts Ann distance=100 [edition=dujardin-2014]
the lines are in the order of the printed pads and the total is their sum [target=200]
    Ann driving-ace; Ann roll; Bob roll; Ann 100; Bob discard 25; Ann 100
        = points Ann distance=200 safeties=100 trip-completed=400 safe-trip=300 shut-out=500; total Ann 1500
an open hand has no completion bonuses
    {TO_700} = counts Ann distance=700; counts Bob distance=0

# The match

points belong to sides, not to players [pairs; target=200]
    Ann roll; Bob roll; Cid 100; Dee 25; Ann 100 = match Reds 900; match Blues 25
totals add up over the hands [target=1000]
    {ANN_2200}{NEXT}{BOB_2200} = match Ann 2200; match Bob 2200; winner None
the first side with 5000 wins the match [target=1000]
    {ANN_2200}{NEXT}{ANN_2200} = winner None
    + {NEXT}{ANN_2200} = match Ann 6600; match Bob 0; winner Ann
with both sides over 5000 the higher total wins [target=1000]
    {MATCH} = winner None
    + {NEXT}{BOTH_700} = match Ann 5200; match Bob 5100; winner Ann
after a tie another hand decides [target=1000]
    {MATCH}{NEXT}{LEVEL} = match Ann 5100; match Bob 5100; winner None
    + {NEXT}{BOTH_700} = match Ann 5900; match Bob 5800; winner Ann
a hand after the end of a match starts a new one from zero [target=1000]
    {ANN_2200}{NEXT}{ANN_2200}{NEXT}{ANN_2200}{NEXT}{BOB_2200} = match Ann 0; match Bob 2200; winner None
in a one race match each hand is a match [match=one-race; target=1000]
    {ANN_2200} = match Ann 2200; match Bob 0; winner Ann
    + {NEXT}{BOB_2200} = match Ann 0; match Bob 2200; winner Bob
the nearest side wins a race that runs out of cards [match=one-race; target=1000]
    Ann roll; Bob roll; Ann 100; Bob 75; exhausted; end = winner Ann
    Ann roll; Bob roll; Ann 100; Bob 100; exhausted; end = winner None
    Ann roll; Bob roll; Ann 100; end = winner None
with reshuffled discards the nearest side does not win [match=one-race; empty-pile=reshuffle; target=1000]
    Ann roll; Bob roll; Ann 100; Bob 75; exhausted; end = ended exhausted; winner None
"""


@pytest.mark.parametrize("rows", rules(SHEET))
def test_a_row_of_the_score_sheet(rows):
    check(rows)


# The sheet


def test_an_empty_score_sheet_totals_zero():
    assert Sheet(()).total == 0

"""The French Dujardin sheet of 2014: what differs from sheet to sheet (test_every_sheet.py has the other rows)."""

import pytest
from sheet import check, rules

TO_900 = "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25" + "; Ann 100; Bob 25" * 5


SHEET = f"""
a safety gives no km
    Ann driving-ace; Ann extra-tank = race Ann 0
a coup fourré draws two and skips the players between [three]
    Ann roll; Bob roll; Cid roll; Ann accident > Cid; Cid driving-ace ! = turn Cid
    + | Bob 25: not-your-turn
    + Cid 100 = pile 82; cards Cid 6; turn Ann
    Ann roll; Bob roll; Cid roll; Ann speed-limit > Cid; Cid right-of-way ! = turn Cid
    + | Bob 25: not-your-turn
    + Cid 100 = pile 82; cards Cid 6; turn Ann
the first at exactly 1000 wins
    {TO_900}; Ann 75; Bob 50; Ann 25 = ended completed; by Ann; winner Ann
there are no points but the distance, and one race is the match [target=200]
    Ann roll; Bob stop > Ann; Ann right-of-way !; Ann driving-ace; Ann 200 = points Ann distance=200; total Ann 200

# The end of the race

when the draw pile is used up whoever is nearest wins [three]
    Ann roll; Bob roll; Cid roll; Ann 100; Bob 200; Cid 75; down to 0 = ended exhausted; by None; winner Bob
the card that is drawn last is still played
    Ann roll; Bob roll; Ann 100; Bob 100; Ann 25; Bob discard 25; down to 1 but 200 50 = over False; turn Bob
    + Bob 200 = winner Bob
when the draw pile is empty nobody plays on
    Ann roll; Bob roll; Ann 100; Bob 75; down to 1 but stop; Bob driving-ace = ended exhausted; winner Ann
    + | Ann right-of-way !: hand-over
    Ann roll; Bob roll; Ann 100; Bob 75; down to 1 but stop; Bob stop > Ann = ended exhausted; winner Ann
    + | Ann right-of-way !: hand-over
two equally near leave no winner
    Ann roll; Bob roll; Ann 100; Bob 100; down to 0 = winner None
a side that lies beyond 1000 is not the nearest [as it lies]
    {TO_900}; Ann 200; down to 0 = winner Bob

# Found by rules turned wrong (`python tests/mutations.py`)

a french race goes on for whoever has drawn the last card
    Ann skip-draw; exhausted = over False; turn Ann
    + Ann roll = ended exhausted
the card that completes a race outweighs the empty draw pile [target=200]
    Ann roll; Bob roll; Ann 25; Bob 100; down to 1 but 100; Bob 100 = pile 0; ended completed; by Bob
"""


@pytest.mark.parametrize("rows", rules(SHEET, "dujardin-2014"))
def test_a_rule_of_the_sheet(rows):
    check(rows)

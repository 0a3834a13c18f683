"""The French Dujardin sheet of 2014: what differs from sheet to sheet (test_every_sheet.py has the other rows)."""

import pytest
from sheet import check, rules

TO_900 = "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25" + "; Ann 100; Bob 25" * 5
TO_700 = TO_900.removesuffix("; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25")


# A turn


SHEET = f"""
cards are drawn from the draw pile only; nothing is exchanged, fetched, passed or lost by a mistake
    Ann discard 100 | Bob take; Bob pair 50 for 100: cannot-take-discard
    | Ann exchange 25: no-exchange
    | Ann penalty 50: no-penalty
    | Ann pass: no-passing
any card may be discarded
    | Ann discard 25; Ann discard right-of-way
a roll or right of way starts the car once
    | Ann 100: not-driving
    Ann roll; Bob roll | Ann 100
    Ann right-of-way | Ann 100
    Ann roll; Bob DAMAGE > Ann | Ann 25: under-hazard
    Ann roll; Bob DAMAGE > Ann; Ann REMEDY; Bob discard 25 | Ann 100
a roll is laid to start, although right of way is out, and on a stop alone
    | Ann roll
    Ann right-of-way | Ann roll
    Ann roll; Bob stop > Ann | Ann roll
    Ann roll; Bob roll | Ann roll: already-rolling
    Ann roll; Bob roll; Ann right-of-way | Ann roll: already-rolling
    Ann roll; Bob accident > Ann | Ann roll: under-hazard
    Ann roll; Bob accident > Ann; Ann repairs; Bob roll | Ann roll: nothing-to-remedy
a remedy is laid on its own hazard, and in turn
    Ann roll; Bob roll | Ann repairs; Ann gasoline; Ann spare-tire: nothing-to-remedy
    Ann roll; Bob stop > Ann | Ann repairs; Ann gasoline; Ann spare-tire: nothing-to-remedy
    Ann roll; Bob accident > Ann | Ann repairs !: not-your-turn [three]
a hazard is laid on an opponent who drives
    Ann roll | Bob accident > Ann; Bob out-of-gas > Ann; Bob flat-tire > Ann; Bob stop > Ann
    Ann discard 25 | Bob accident > Ann; Bob out-of-gas > Ann; Bob flat-tire > Ann;
        Bob stop > Ann: opponent-not-driving
    Ann roll; Bob accident > Ann; Ann repairs | Bob flat-tire > Ann
    Ann right-of-way; Ann 25 | Bob flat-tire > Ann
    Ann right-of-way; Ann 25 | Bob stop > Ann: protected
a second hazard is refused, and a limit beside one is not
    Ann roll; Bob DAMAGE > Ann | Cid flat-tire > Ann: already-attacked [three]
    Ann roll; Bob DAMAGE > Ann | Cid speed-limit > Ann [three]
    Ann speed-limit > Cid | Bob speed-limit > Cid: already-limited [three]
    Ann discard 25 | Bob speed-limit > Cid [three]
at most two 200s are laid
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25 | Ann 200: third-200
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25 | Ann 100
1000 is reached exactly
    {TO_900}; Ann 75; Bob 50 | Ann 50: past-target
    {TO_900}; Ann 75; Bob 50 | Ann 25
a forgotten draw is not made up for, a card too far stays, and no discard is remarked upon
    Ann skip-draw; Ann roll; Bob roll; Ann 25 = cards Ann 5; pile 92
    {TO_900}; Ann 75; Bob 50; Ann 50 = km Ann 1025 [as it lies]
    | Ann discard 25~
a safety gives no km
    Ann driving-ace; Ann extra-tank = race Ann 0
a late safety throws its hazard out and the car drives on
    Ann roll; Bob DAMAGE > Ann; Ann discard 25; Bob discard 25; Ann SAFETY = battle Ann roll; discards 25 25 DAMAGE
    + | Ann 100
a coup fourré draws two and skips the players between [three]
    Ann roll; Bob roll; Cid roll; Ann accident > Cid; Cid driving-ace ! = turn Cid
    + | Bob 25: not-your-turn
    + Cid 100 = pile 82; cards Cid 6; turn Ann
    Ann roll; Bob roll; Cid roll; Ann speed-limit > Cid; Cid right-of-way ! = turn Cid
    + | Bob 25: not-your-turn
    + Cid 100 = pile 82; cards Cid 6; turn Ann
the first at exactly 1000 wins, and nothing is extended
    {TO_900}; Ann 75; Bob 50; Ann 25 = ended completed; by Ann; winner Ann
    {TO_700} = ended completed; by Ann [target=700]
    {TO_700} | Ann extend: hand-over [target=700]
there are no points but the distance, and one race is the match [target=200]
    Ann roll; Bob stop > Ann; Ann right-of-way !; Ann driving-ace; Ann 200 = points Ann distance=200; total Ann 200
    Ann roll; Bob roll; Ann 200 = match Ann 200; match Bob 0; winner Ann
a coup fourré comes in time or too late
    Ann roll; Bob stop > Ann | Ann right-of-way ! [three]
    Ann roll; Bob stop > Ann; Cid roll | Ann right-of-way !: coup-fourre-window-closed [three]

# The end of the race

when the draw pile is used up whoever is nearest wins [three]
    Ann roll; Bob roll; Cid roll; Ann 100; Bob 200; Cid 75; down to 0 = ended exhausted; by None; winner Bob
the card that is drawn last is still played
    Ann roll; Bob roll; Ann 100; Bob 100; Ann 25; Bob discard 25; down to 1 but 200 50 = over False; turn Bob
    + Bob 200 = winner Bob
with the draw pile used up nobody plays on
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

"""The Parker sheet where it differs from the classic one: what each row allows, and what it refuses."""

import pytest
from sheet import TO_600, check, rules

SHUT_OUT_TO_700 = TO_600.replace("Bob 25", "Bob discard 25") + "; Ann 100"
OF_THREE = TO_600.replace("Bob 25", "Bob 25; Cid discard 25").replace("Bob roll", "Bob roll; Cid discard 25")
SHUT_OUT_TO_1000 = f"{SHUT_OUT_TO_700}; Ann extend" + "; Bob discard 50; Ann 100" * 3


SHEET = f"""
# Setting up

in pairs a third accident is not one too many
    Ann discard accident; Bob discard accident | Cid discard accident [pairs]

# A turn

a discard is for those who are stuck and is remarked upon
    | Ann discard 25~ discard-only-when-stuck

# Hazards

a hazard is never laid on a hazard even with right of way out [three]
    Ann right-of-way; Ann roll; Bob accident > Ann | Cid flat-tire > Ann: already-attacked
with right of way out a hazard is laid on a roll
    Ann right-of-way; Ann roll | Bob flat-tire > Ann
    + | Bob stop > Ann: protected
a hazard that a late safety made harmless is no roll
    Ann roll; Bob accident > Ann; Ann driving-ace; Ann discard 25 | Bob flat-tire > Ann: opponent-not-driving
    + Bob roll; Ann roll | Bob flat-tire > Ann
    Ann roll; Bob accident > Ann; Ann driving-ace; Ann right-of-way; Ann 25 | Bob flat-tire > Ann

# A card beyond the target

a card laid beyond the target goes to the discard pile [as it lies]
    {TO_600}; Ann 75; Bob 25; Ann 50 = km Ann 675; discards 50; turn Bob

# The extension

without a call there are no 200
    {TO_600}; Ann 100; Ann finish = extension Ann None; extension Bob None
a caller who does not complete gives each opponent 200 [three]
    {OF_THREE}; Ann 100; Ann extend; Bob 25; exhausted; end
        = extension Bob 200; extension Cid 200; extension Ann None
the extension is 200 to the caller who completes
    {SHUT_OUT_TO_1000} = extension Ann 200; extension Bob None

# The shut-out

one shut out of 500 when no opponent has driven [three; target=200]
    Ann roll; Bob roll; Cid roll; Ann 200 = shut-out Ann 500
no shut out when one opponent has driven [three; target=200]
    Ann roll; Bob roll; Cid roll; Ann 100; Bob 25; Cid discard 25; Ann 100 = shut-out Ann None

# Scoring

a coup fourre answers its hazard until the next card [three]
    Ann roll; Bob HAZARD > Ann | Ann SAFETY !
    + Cid roll | Ann SAFETY !: coup-fourre-window-closed
with the draw pile empty the hand is played out [as it lies]
    down to 0 but 25 50 75 25 50 75 25 50; Ann discard 25; Bob discard roll; Ann discard 50; Bob discard roll;
        Ann discard 75; Bob discard roll; Ann discard 25; Bob discard roll = pile 0; hands 2 2; over False
"""


@pytest.mark.parametrize("rows", rules(SHEET, "parker"))
def test_a_row_of_the_sheet(rows):
    check(rows)

"""The Asmodee sheet of 2014: what differs from sheet to sheet (test_every_sheet.py has the other rows)."""

import pytest
from sheet import TO_600, check, rules

from companion.rules.editions.edition import load_edition

TO_800 = f"{TO_600}; Ann 100; Bob 25; Ann 100; Bob 25"
TO_975 = f"{TO_800}; Ann 100; Bob 50; Ann 75; Bob 50"
EMPTY = "down to 0 but roll 50 25 25 25 25 25 25"
ATTACKED = "Ann roll; Bob roll; Cid discard 25; Ann 25; Bob discard 25; Cid roll; Ann 25; Bob stop > Ann"


# Setting up


def test_the_deck_is_the_classic_one_of_106_cards():
    ours, classic = load_edition("asmodee-2014").deck, load_edition("classic").deck

    assert dict(ours) == dict(classic)
    assert (sum(ours.values()), ours["roll"]) == (106, 14)


SHEET = f"""
the top of the discard pile is taken instead of a draw, once and in turn
    | Ann take: cannot-take-discard
    Ann discard 100; Bob discard 75; Ann take | Ann take: cannot-take-discard
    Ann discard 100; Bob skip-draw | Bob take: cannot-take-discard
    Ann discard 100 | Ann take: not-your-turn
    Ann discard roll; Bob take | Bob roll
    Ann discard accident; Bob discard accident; Ann discard accident | Bob discard accident: too-many-copies
    Ann discard accident; Bob discard accident; Ann discard accident; Bob take | Bob discard accident
the card that a coup fourré threw out may be taken
    Ann roll; Bob roll; Ann stop > Bob; Bob right-of-way !; Bob 100; Ann take | Ann stop > Bob: protected
cards are exchanged where the house plays so
    | Ann exchange 25 25 stop [exchange=yes]
a roll or right of way starts the car and is a side's first card; a discard may come before
    | Ann 100; Ann 25: first-card not-driving
    | Ann speed-limit > Bob; Ann driving-ace; Ann extra-tank: first-card
    | Ann roll; Ann right-of-way; Ann discard 25; Ann discard stop
    Ann roll; Bob roll | Ann speed-limit > Bob; Ann driving-ace
the first card is counted by side and not by player
    Ann roll; Bob discard 25 | Cid speed-limit > Blues [pairs]
    Ann roll; Bob discard 25; Cid 25 | Dee speed-limit > Reds: first-card [pairs]
right of way at once may be a side's first card, and a remedy out of turn may not
    Ann roll; Bob discard 25; Ann speed-limit > Bob | Bob right-of-way !
    Ann roll; Bob discard 25; Ann speed-limit > Bob | Bob end-of-limit !: first-card [fast-remedy=yes]
a remedy is laid out of turn where the house plays so
    Ann roll; Bob roll; Cid roll; Ann 25; Bob accident > Ann | Ann repairs ! [three; fast-remedy=yes]
1000 miles may be passed unless the house says otherwise
    {TO_975} | Ann 100
    {TO_975} | Ann 50: past-target [overshoot=forbidden]
    {TO_975} | Ann 25 [overshoot=forbidden]
a late safety on a remedied pile needs no roll
    Ann roll; Bob roll; Ann 25; Bob accident > Ann; Ann repairs; Bob flat-tire > Ann; Ann puncture-proof | Ann 100
a card taken from the discard pile closes the window
    {ATTACKED}; Cid take | Ann right-of-way !: coup-fourre-window-closed [three]
a turn takes a card or draws one
    Ann discard 100; Bob discard 75; Ann take = discards 100; cards Ann 7; pile 92
    + Ann roll = hands 6 6
a reshuffle may be written down
    Ann roll; Bob discard 25; Ann 100; Bob discard 50; Ann 75; Bob discard 75; exhausted = pile 3; discards
an exchange is of one to six cards [exchange=yes]
    Ann exchange 25 = cards Ann 6; pile 93; turn Bob
    Ann exchange 25 25 25 25 25 25 = cards Ann 6; pile 88; turn Bob
cards are exchanged also where the discards are drawn again [exchange=yes]
    Ann roll; Bob roll; down to 0 | Ann exchange 25 25 25
a coup fourré refills one card, has a whole turn and skips the players between [three]
    Ann roll; Bob roll; Cid roll; Ann stop > Cid; Cid right-of-way ! = turn Cid; pile 83; cards Cid 6
    + Cid 100 = turn Ann; pile 82; cards Cid 6
a safety is 100 miles and a coup fourré 200 in all
    {TO_800}; Ann driving-ace = race Ann 900; over False
    {TO_800}; Ann driving-ace; Ann 75; Bob 50 = race Ann 975; over False
    Ann roll; Bob roll; Ann 100; Bob stop > Ann; Ann right-of-way ! = race Ann 300
a distance, a safety or a coup fourré completes the race
    {TO_975}; Ann 100 = ended completed; by Ann; winner Ann; total Ann 1075
    {TO_800}; Ann driving-ace; Ann extra-tank = ended completed; by Ann; winner Ann; total Ann 1000
    {TO_800}; Ann 25; Bob stop > Ann; Ann right-of-way ! = ended completed; by Ann; winner Ann; total Ann 1025
    + | Ann 25: hand-over
the sheet holds miles, safeties and coups fourrés and no bonus
    {TO_800}; Ann driving-ace; Ann 25; Bob stop > Ann; Ann right-of-way !
        = points Ann distance=825 safeties=200 coups-fourres=100; points Bob distance=150
    Ann right-of-way; Ann driving-ace; Ann extra-tank; Ann puncture-proof
        = points Ann distance=0 safeties=400 [target=400]
either partner may claim a coup fourré, and no opponent
    Ann roll; Bob roll; Cid 25; Dee 25; Ann stop > Blues | Bob right-of-way !; Dee right-of-way ! [pairs]
    Ann roll; Bob roll; Cid 25; Dee 25; Ann stop > Blues | Cid right-of-way !: no-attack-to-answer [pairs]

# The draw pile empty

the discards become the draw pile when a card is needed
    {EMPTY} = pile 0; discarded 94; turn Ann
    + Ann roll = pile 93; discards; hands 6 6
with the draw pile empty the top discard may still be drawn
    {EMPTY}; Ann take; Ann roll = pile 0; discarded 93
reshuffled cards may be played again
    {EMPTY} | Ann discard accident
    {EMPTY}; Ann skip-draw | Ann discard accident: too-many-copies
    {EMPTY}; Ann roll | Bob discard accident
a race is never exhausted
    {EMPTY}; end = ended agreed
one race is the match unless the house says otherwise [target=200]
    Ann roll; Bob roll; Ann 200; hand first Ann; Ann roll; Bob roll; Ann 200 = match Ann 200; match Bob 0; winner Ann
    Ann roll; Bob roll; Ann 200 = match Ann 200; match Bob 0; winner None [target=200; match=5000]
    + hand first Ann; Ann roll; Bob roll; Ann 200 = match Ann 400; winner None [target=200; match=5000]

# Found by rules turned wrong (`python tests/mutations.py`)

a card of the discard pile may come back with the draw that reshuffles it
    Ann roll; Bob roll; Ann right-of-way; down to 0 | Bob discard accident
a card that lies in front of a side does not come back with a reshuffle
    Ann roll; Bob roll; Ann right-of-way; down to 0 | Bob right-of-way; Bob discard right-of-way: too-many-copies
no more cards are exchanged than the hand holds [exchange=yes]
    | Ann exchange 25 25 25 25 25 25
    Ann skip-draw; Ann discard 25; Bob discard 25 | Ann exchange 25 25 25 25 25 25: no-such-card-there
    + | Ann exchange 25 25 25 25 25
    + | Ann exchange 25 25 25 25 25 25: no-such-card-there [exchange=yes; draw=to-seven]
    Ann discard 75; Bob take; Bob discard 25; Ann discard 25 | Bob exchange 25 25 25 25 25 25
a card of the discard pile is not there yet for who draws afterwards [exchange=yes]
    Ann roll; Bob roll; down to 0 | Ann exchange accident: too-many-copies
    Ann roll; Bob roll; down to 0; Ann skip-draw | Ann discard accident: too-many-copies
"""


@pytest.mark.parametrize("rows", rules(SHEET, "asmodee-2014"))
def test_a_rule_of_the_sheet(rows):
    check(rows)

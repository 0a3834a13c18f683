"""The classic rule sheet, row by row: what is legal and what is refused."""

import pytest
from records import PAIRS, hand
from sheet import TO_600, check, rules

from companion.rules import referee
from companion.rules.cards import Card
from companion.rules.play import Play, Verb

UNCOVERED = "".join(
    f"""
    Ann roll; Bob accident > Ann; Ann discard 25; Bob stop > Ann; {until} = battle Ann roll accident
    + | Ann 25: under-hazard
    + | Ann repairs"""
    for until in (
        "Ann discard 25; Bob discard 25; Ann right-of-way",
        "Ann right-of-way !",
        "Ann discard 25; Bob speed-limit > Ann; Ann right-of-way !",
    )
).removeprefix("\n")
CARDS = "25 50 75 25 50 75 25 50"
"""Together with the four safeties, the twelve cards left in the two hands when the draw pile is empty."""

SHEET = f"""
# Setting up

partners drive the same car [pairs]
    Ann roll; Bob discard 25; Cid 100 = km Reds 100

a target can be a house rule
    = target 700 [pairs; target=700]
    = target 1000 [target=1000]

# A turn

turns run clockwise [three]
    Ann roll; Bob roll; Cid roll = turn Ann
a play out of turn is refused
    | Bob roll; Bob discard 25; Bob skip-draw: not-your-turn
an unread card may be discarded
    | Ann discard unknown
discarding a safety can be forbidden [discard-safety=forbidden]
    | Ann discard right-of-way: safety-discard
    | Ann discard 25
taking the top discard can be allowed [take-discard=allowed]
    Ann discard 100; Bob take = discards; cards Bob 7; pile 93
    + Bob roll = cards Bob 6
a discard is not taken twice or from an empty pile [take-discard=allowed]
    Ann discard 100; Bob discard 75; Ann take | Ann take: cannot-take-discard
    | Ann take: cannot-take-discard
    Ann discard 100 | Ann take: not-your-turn
the top of the discard pile is the last card discarded [take-discard=allowed]
    Ann discard 100; Bob discard 75; Ann take = discards 100
passing out of turn is refused
    | Bob pass: not-your-turn no-passing
an exchange takes the whole turn and draws as many cards as it discards [exchange=yes]
    Ann exchange 25 25 stop = cards Ann 6; pile 91; turn Bob; discards 25 25 stop
a discard gets a remark if only stuck players may discard [discard=when-stuck]
    | Ann discard 25~ discard-only-when-stuck
    | Ann discard 25
an exchange is checked card by card [exchange=yes; discard-safety=forbidden]
    Ann right-of-way | Ann exchange 300: unknown-card
    + | Ann exchange driving-ace: safety-discard
    + | Ann exchange stop stop stop stop stop stop: too-many-copies
    + | Ann exchange right-of-way right-of-way: too-many-copies safety-discard
    + | Bob exchange 25: not-your-turn
the last copy may be exchanged but not two [exchange=yes]
    Ann discard accident; Bob discard accident | Ann exchange accident
    + | Ann exchange accident accident: too-many-copies
no exchange after taking a discard [exchange=yes; take-discard=allowed]
    Ann discard 100 | Bob exchange 25
    Ann discard 100; Bob take | Bob exchange 25; Bob exchange 25 25: no-exchange
    Ann discard 100; Bob take | Ann exchange 25: not-your-turn
    Ann discard 100; Bob take; Bob discard 25 | Ann exchange 25
    Ann discard 100; Bob skip-draw | Bob exchange 25
an exchange after a safety replaces the second turn and its draw [exchange=yes]
    Ann driving-ace; Ann exchange 25 25 = cards Ann 6; pile 91; turn Bob
at most as many cards are exchanged as can be drawn [exchange=yes]
    down to 2 | Ann exchange 25 25
    + | Ann exchange 25 25 25: no-exchange
    down to 0 | Ann exchange 25: no-exchange

# The cards

a card of another edition is unknown, and an unread card can only be discarded
    | Ann 300; Ann accelerator; Ann discard mirror; Ann unknown: unknown-card
    | Bob 300: not-your-turn unknown-card
    | Bob mirror !: unknown-card
no more copies are played than the deck has
    Ann discard accident; Bob discard accident; Ann roll; Bob accident > Ann | Ann discard accident: too-many-copies
    + | Ann discard stop
copies on every pile count
    Ann speed-limit > Bob; Bob discard speed-limit; Ann discard speed-limit; Bob end-of-limit;
        Ann speed-limit > Bob; Bob roll | Ann discard speed-limit: too-many-copies
    Ann roll; Bob roll; Ann 200; Bob 200; Ann discard 200 | Bob discard 200
    + Bob discard 200 | Ann discard 200: too-many-copies
a hazard answered by a coup fourre counts as discarded
    Ann roll; Bob accident > Ann; Ann driving-ace !; Ann discard accident; Bob discard accident
        | Ann discard accident: too-many-copies

# To start

another safety does not start the car
    Ann driving-ace | Ann 100: not-driving
a side can drive from the start if no roll is needed [roll-to-start=not-needed]
    | Ann 100
the first card can be limited to roll or right of way [first-card=roll-or-right-of-way]
    | Ann speed-limit > Bob; Ann driving-ace: first-card
    | Ann roll; Ann right-of-way; Ann discard 25
an opponents hazard does not count as a first card [first-card=roll-or-right-of-way]
    Ann roll; Bob discard 25; Ann speed-limit > Bob | Bob end-of-limit: first-card
    + Bob roll; Ann 25 | Bob end-of-limit

# Roll

with right of way a roll can be forbidden [roll-with-right-of-way=forbidden]
    Ann right-of-way | Ann roll: already-rolling
    | Ann roll
a roll on a remedy can be forbidden [roll-on-remedy=forbidden; roll-after-remedy=not-needed]
    Ann roll; Bob accident > Ann; Ann repairs; Bob roll | Ann roll: nothing-to-remedy
    | Ann roll
    Ann roll; Bob stop > Ann | Ann roll
no roll is played without need if rolls are only for stops [roll-to-start=not-needed; roll-on-remedy=forbidden]
    | Ann roll: nothing-to-remedy

# Remedies

a hazard is remedied only once
    Ann roll; Bob accident > Ann; Ann repairs; Bob roll | Ann repairs: nothing-to-remedy
after another remedy right of way needs no roll
    Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs; Bob roll | Ann 100
a roll after a remedy can be unnecessary [roll-after-remedy=not-needed]
    Ann roll; Bob accident > Ann; Ann repairs; Bob roll | Ann 100
a roll remedies a stop and the car drives
    Ann roll; Bob stop > Ann; Ann roll; Bob roll | Ann 100

# Hazards

a hazard may be played on a remedy without a roll
    Ann roll; Bob accident > Ann; Ann repairs | Bob stop > Ann
a hazard on a remedy without a roll can be forbidden [hazard-on-remedy=forbidden]
    Ann roll; Bob accident > Ann; Ann repairs | Bob stop > Ann: opponent-not-driving
    + Bob roll; Ann roll | Bob stop > Ann
a hazard on a remedy can need right of way [hazard-on-remedy=with-right-of-way]
    Ann roll; Bob accident > Ann; Ann repairs | Bob flat-tire > Ann: opponent-not-driving
    Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs | Bob flat-tire > Ann
hazards may be stacked and only the top one is remedied [three]
    Ann roll; Bob accident > Ann; Cid flat-tire > Ann | Ann repairs: nothing-to-remedy
    + Ann spare-tire; Bob roll; Cid roll; Ann roll; Bob 25; Cid 25 | Ann 100
stacking hazards can be forbidden [three; hazard-on-hazard=forbidden]
    Ann roll; Bob accident > Ann | Cid flat-tire > Ann: already-attacked
    + | Cid speed-limit > Ann
right of way does not allow hazards on an empty battle pile
    Ann right-of-way; Ann 100 | Bob flat-tire > Ann: opponent-not-driving
hazards on an empty battle pile can be allowed [hazard-on-empty-pile=with-right-of-way]
    Ann right-of-way; Ann 100 | Bob flat-tire > Ann
    Ann discard 25 | Bob flat-tire > Ann: opponent-not-driving
    Ann discard 25 | Bob flat-tire > Ann [hazard-on-empty-pile=allowed]
a hazard is played on an opponent [pairs]
    Ann roll; Bob roll; Cid discard 25; Dee discard 25 | Ann stop > Blues
    + | Ann stop > Reds; Ann stop > Cid: own-side
right of way removes a speed limit
    Ann roll; Bob speed-limit > Ann; Ann right-of-way | Ann 75; Ann 200
right of way protects against no other hazards
    Ann roll; Bob roll; Ann right-of-way; Ann 25 | Bob accident > Ann; Bob out-of-gas > Ann; Bob flat-tire > Ann
a stop on an empty pile with right of way gets two reasons
    Ann right-of-way; Ann 100 | Bob stop > Ann: protected opponent-not-driving

# Speed limit

under a speed limit only 25 and 50 are legal
    Ann roll; Bob speed-limit > Ann | Ann 25; Ann 50
    + | Ann 75; Ann 100; Ann 200: speed-limit

# Distance

every reason is given at once
    Ann roll; Bob speed-limit > Ann; Ann discard 25; Bob stop > Ann | Ann 100: under-hazard speed-limit
    + Ann discard 25 | Ann 100: not-your-turn under-hazard speed-limit
each side may play two 200s
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 25 | Bob 200
a third 200 can be allowed [two-hundreds=unlimited]
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25 | Ann 200
partners share the two 200s [pairs]
    Ann roll; Bob roll; Cid 200; Dee 25; Ann 200; Bob 25 | Cid 200: third-200
the target is never passed
    {TO_600}; Ann 25; Bob 25 = km Ann 625
    + | Ann 75
    + | Ann 100: past-target
passing the target can be allowed [overshoot=allowed; target=300]
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200 = ended completed; by Ann; km Ann 400
a trip past 700 can be extended too [overshoot=allowed]
    {TO_600}; Ann 50; Bob 25; Ann 75; Ann extend = target 1000; km Ann 725; turn Bob
safeties can count towards the target [safeties-count-as-distance=yes; target=300]
    Ann roll; Bob stop > Ann; Ann right-of-way ! = race Ann 200
    + Ann driving-ace = by Ann
safeties that count as distance do not pass the target either [safeties-count-as-distance=yes; as it lies; target=200]
    Ann roll; Bob roll; Ann 100; Bob roll; Ann 50; Bob stop > Ann | Ann right-of-way; Ann right-of-way !: past-target
a coup fourre that passes the target is refused although its safety alone fits
        [safeties-count-as-distance=yes; target=200]
    Ann roll; Bob roll; Ann 100; Bob stop > Ann | Ann right-of-way
    + | Ann right-of-way !: past-target

# Safeties in turn

a safety is played at any time and the turn goes on
    Ann driving-ace; Ann extra-tank; Ann puncture-proof; Ann right-of-way; Ann 100 = turn Bob; cards Ann 6; pile 89
a late safety counts its hazard as remedied and a roll is needed
    Ann roll; Bob accident > Ann; Ann discard 25; Bob roll; Ann driving-ace
        = battle Ann roll accident; hazard Ann None
    + | Ann 100: not-driving
    + | Ann roll
after a late safety a roll is needed even if none is needed after a remedy [roll-after-remedy=not-needed]
    Ann roll; Bob accident > Ann; Ann driving-ace | Ann 100: not-driving
after a late safety right of way needs no roll
    Ann roll; Bob accident > Ann; Ann driving-ace; Ann right-of-way | Ann 100
a late safety uncovers no hazard below [three]
    Ann roll; Bob accident > Ann; Cid flat-tire > Ann; Ann puncture-proof | Ann repairs: nothing-to-remedy
    + Ann roll; Bob roll; Cid roll | Ann 100
a hazard may be played on one that a late safety remedied
    Ann roll; Bob accident > Ann; Ann driving-ace; Ann discard 25 | Bob flat-tire > Ann
an uncovered hazard is harmless if its safety has been played
    Ann roll; Bob accident > Ann; Ann driving-ace; Ann discard 25; Bob flat-tire > Ann; Ann puncture-proof !
        = battle Ann roll accident; hazard Ann None
    + | Ann repairs: nothing-to-remedy
    + | Ann roll
a safety makes its hazard further down harmless [three]
    Ann roll; Bob accident > Ann; Cid flat-tire > Ann; Ann driving-ace = hazard Ann flat-tire
    + | Ann 25: under-hazard
right of way removes a stop and a limit and is a permanent roll
    Ann roll; Bob speed-limit > Ann; Ann discard 25; Bob stop > Ann; Ann right-of-way | Ann 200
    + | Ann end-of-limit: not-limited
an older hazard with its safety is harmless when right of way uncovers it
    Ann roll; Bob accident > Ann; Ann driving-ace; Ann discard 25; Bob stop > Ann; Ann right-of-way
        = battle Ann roll accident
    + | Ann 100
right of way leaves a stop under another hazard [three]
    Ann roll; Bob stop > Ann; Cid accident > Ann; Ann right-of-way = battle Ann roll stop accident
    + | Ann 25: under-hazard
a hazard removed by a late safety uncovers an older one like a coup fourre [three; roll-after-late-safety=not-needed]
    Ann roll; Bob accident > Ann; Cid flat-tire > Ann; Ann puncture-proof | Ann 100: under-hazard
    + | Ann repairs
    Ann roll; Bob accident > Ann; Cid flat-tire > Ann; Ann puncture-proof ! | Ann 100: under-hazard
    + | Ann repairs
a late safety can remove the hazard and let the car drive [roll-after-late-safety=not-needed]
    Ann roll; Bob accident > Ann; Ann driving-ace = battle Ann roll; top Ann roll; discards accident
    + | Ann 100
the card below shows again if no roll is needed
        [roll-after-late-safety=not-needed; roll-after-remedy=not-needed]
    Ann roll; Bob accident > Ann; Ann repairs; Bob flat-tire > Ann; Ann puncture-proof = top Ann repairs
    + | Ann 100
right of way removes a stop and a limit from their piles
    Ann roll; Bob speed-limit > Ann; Ann discard 25; Bob stop > Ann; Ann right-of-way
        = battle Ann roll; speed Ann; discards 25 speed-limit stop
    + = battle Ann roll; speed Ann; discards 25 speed-limit stop [edition=parker]
    + = battle Ann roll; speed Ann; discards 25 speed-limit stop [edition=dujardin-2014]
    + | Ann roll: already-rolling
right of way removes only the last limit
    Ann roll; Bob speed-limit > Ann; Ann end-of-limit; Bob speed-limit > Ann; Ann right-of-way
        = speed Ann speed-limit end-of-limit
an older hazard uncovered below a stop counts again
{UNCOVERED}
an older hazard counts again also if late safeties remove their hazards [roll-after-late-safety=not-needed]
{UNCOVERED}
a safety does not start a car that was attacked before its start
        [edition=asmodee-2014, dujardin-2014; hazard-on-empty-pile=allowed; first-card=any]
    Ann roll; Bob discard 25; Ann accident > Bob; Bob discard 25; Ann discard 25; Bob driving-ace | Bob 25: not-driving
    + | Bob roll
    Ann roll; Bob discard 25; Ann accident > Bob; Bob driving-ace ! | Bob 25: not-driving
    + | Bob roll

# Coup fourré

a coup fourre answers only the safetys own hazard
    Ann roll; Bob HAZARD > Ann | Ann OTHER SAFETY !: no-attack-to-answer
a coup fourre discards the hazard and the car drives on
    Ann roll; Bob stop > Ann; Ann right-of-way ! = battle Ann roll; discards stop
    + | Ann 100
a coup fourre uncovers an older hazard [three]
    Ann roll; Bob accident > Ann; Cid flat-tire > Ann; Ann puncture-proof ! = hazard Ann accident
    + | Ann repairs
a coup fourre leaves an equal hazard below, which is harmless
    Ann roll; Bob stop > Ann; Ann discard 25; Bob stop > Ann; Ann right-of-way ! = battle Ann roll stop
    + | Ann 100
a coup fourre uncovers a remedy that still needs its roll
    Ann roll; Bob accident > Ann; Ann repairs; Bob flat-tire > Ann; Ann puncture-proof ! | Ann 25: not-driving
a coup fourre against a limit removes only the last limit
    Ann roll; Bob speed-limit > Ann; Ann end-of-limit; Bob speed-limit > Ann; Ann right-of-way !
        = speed Ann speed-limit end-of-limit
after a coup fourre one card is refilled before a whole turn
    Ann roll; Bob stop > Ann; Ann right-of-way ! = turn Ann; cards Ann 6; pile 91
    + Ann 100 = cards Ann 6; pile 90
the turn after a coup fourre cannot be passed
    Ann roll; Bob stop > Ann; Ann right-of-way ! | Ann pass: no-passing
either partner may play the coup fourre and the turn goes on from there [pairs]
    Ann roll; Bob roll; Cid 25; Dee 25; Ann stop > Blues = turn Bob
    + Bob right-of-way !; Bob 25 = turn Cid
    + Dee right-of-way !; Dee 25 = turn Ann
an opponent cannot play the coup fourre [three]
    Ann roll; Bob stop > Ann | Cid right-of-way !: no-attack-to-answer
a safety without ! right after its hazard is late and gets a remark
    Ann roll; Bob stop > Ann | Ann right-of-way
    + | Ann right-of-way~ late-safety
    + Ann right-of-way = coups Ann
a coup fourre or a safety that answers nothing gets no remark
    Ann roll; Bob stop > Ann | Ann right-of-way !; Ann driving-ace; Ann roll~
taking a discard closes the window for a coup fourre [three; take-discard=allowed]
    Ann roll; Bob roll; Cid discard 25; Ann 25; Bob stop > Ann; Cid take
        | Ann right-of-way !: coup-fourre-window-closed
an illegal line or an empty pile leaves the window open
    Ann roll; Bob stop > Ann; exhausted | Ann right-of-way !
the window can stay open until the players own draw [three; coup-fourre-window=own-draw]
    Ann roll; Bob stop > Ann; Cid roll | Ann right-of-way !
    + Ann skip-draw | Ann right-of-way !: coup-fourre-window-closed
two attacks on two piles can both be answered before the players own draw [three; coup-fourre-window=own-draw]
    Ann roll; Bob accident > Ann; Cid speed-limit > Ann | Ann driving-ace !; Ann right-of-way !
    + Ann driving-ace ! | Ann right-of-way !: coup-fourre-window-closed
right of way removes the last of two attacks first, then the other
        [three; coup-fourre-window=own-draw]
    Ann roll; Bob speed-limit > Ann; Cid stop > Ann; Ann right-of-way ! = discards stop speed-limit
    Ann roll; Bob stop > Ann; Cid speed-limit > Ann; Ann right-of-way ! = discards speed-limit stop
    Ann roll; Bob speed-limit > Ann; Cid stop > Ann; Ann right-of-way ! = battle Ann roll
    Ann roll; Bob stop > Ann; Cid speed-limit > Ann; Ann right-of-way ! = battle Ann roll
a covered attack can no longer be answered [three; coup-fourre-window=own-draw]
    Ann roll; Bob accident > Ann; Cid flat-tire > Ann | Ann driving-ace !: no-attack-to-answer
    + | Ann puncture-proof !
a coup fourre without an attack is refused
    | Ann right-of-way !: no-attack-to-answer
    Ann roll; Bob stop > Ann; Ann roll; Bob roll | Ann right-of-way !: no-attack-to-answer
other cards are not played out of turn [three]
    Ann roll; Bob stop > Ann | Ann roll !; Ann 100 !: not-your-turn
    + | Cid 100 !: no-attack-to-answer
after a fast remedy a roll is needed as after any [edition=parker; fast-remedy=yes]
    Ann roll; Bob accident > Ann; Ann repairs ! | Ann 100: not-driving [fast-remedy=yes]
    + | Ann roll [fast-remedy=yes]
    Ann roll; Bob accident > Ann; Ann repairs ! | Ann 100: not-driving
    + | Ann roll
    Ann roll; Bob accident > Ann; Ann repairs ! | Ann 100: not-driving [edition=bsd-mille; fast-remedy=yes]
    + | Ann roll [edition=bsd-mille; fast-remedy=yes]
a fast remedy can take the turn [three; fast-remedy=yes; fast-remedy-turn=without-drawing]
    Ann roll; Bob accident > Ann; Ann repairs ! = battle Ann roll accident repairs; turn Ann; cards Ann 5; pile 86
    + Ann roll = cards Ann 4; turn Bob
the turn taken by a fast remedy may be passed to the left once
        [three; fast-remedy=yes; fast-remedy-turn=without-drawing]
    Ann roll; Bob roll; Cid accident > Bob; Bob repairs !; Bob pass = turn Cid
    + | Cid pass: no-passing
    Ann roll; Bob roll; Cid accident > Bob; Bob repairs !; Bob driving-ace | Bob pass: no-passing
a fast remedy is put on its hazard and does not change the turn
        [three; fast-remedy=yes; edition=classic, parker, asmodee-2014, dujardin-2014]
    Ann roll; Bob roll; Cid roll; Ann DAMAGE > Cid; Cid REMEDY ! = battle Cid roll DAMAGE REMEDY; discards; turn Bob
    Ann roll; Bob roll; Cid roll; Ann speed-limit > Cid; Cid end-of-limit ! = speed Cid speed-limit end-of-limit
    Ann roll; Bob roll; Cid roll; Ann HAZARD > Cid; Cid REMEDY ! = discards; turn Bob; cards Cid 5
    + | Bob 25
    + | Bob pass: no-passing
    + Bob 25 = turn Cid
a fast remedy has the window of a coup fourre [three; fast-remedy=yes]
    Ann roll; Bob accident > Ann | Ann gasoline !: no-attack-to-answer
    + Cid roll | Ann repairs !: coup-fourre-window-closed

# The end of a hand

the hand ends when the target is reached exactly [target=200]
    Ann roll; Bob roll; Ann 200 = ended completed; by Ann
    + | Bob 25; Ann right-of-way !: hand-over
the side that first reaches 700 is offered an extension
    {TO_600}; Ann 100 | Ann extend; Ann finish
    + | Bob extend: extension-not-offered
    + | Bob 25; Ann discard 25: hand-over
an extension is not offered before 700 or twice
    {TO_600} | Ann extend: extension-not-offered
    + Ann 100; Ann extend | Ann finish: extension-not-offered
either partner answers [pairs; target=700]
    Ann roll; Bob roll; Cid 200; Dee 25; Ann 200; Bob 25; Cid 100; Dee 25; Ann 100; Bob 25; Cid 100
        | Cid finish; Ann extend
without an extension the side at 700 completes the hand, with or without an answer
    {TO_600}; Ann 100; Ann finish = ended completed; by Ann; target 700
    {TO_600}; Ann 100; end = ended completed; by Ann
an extension goes to 1000 and the turn goes on
    {TO_600}; Ann 100; Ann extend; Bob 25; Ann 100; Bob 25 = target 1000; km Ann 800; over False
    + | Ann 200: third-200
without the extension 700 ends the hand [extension=no]
    {TO_600}; Ann 100 = ended completed; by Ann
an extension is offered once [as it lies]
    {TO_600}; Ann 100; Ann extend; Bob 100; Ann discard 25; Bob 100; Ann discard 25; Bob 200; Ann discard 25;
        Bob 100; Ann discard 50; Bob 75; Ann discard 50 = km Bob 675
    + Bob 25 | Bob extend: extension-not-offered

# The draw pile empty

with an empty draw pile play goes on without drawing
    Ann roll; Bob roll; exhausted; Ann 25 = pile 0; cards Ann 5
after the pile is seen empty the hand ends with the last card
    Ann roll; Bob roll; exhausted; Ann 25; Bob 25; Ann 50; Bob 50; Ann 25; Bob 25; Ann 50; Bob 50; Ann 25;
        Bob 25; Ann 75 = hands 0 1
    + Bob 75 = ended exhausted
after the pile is seen empty a player without cards is skipped [three]
    Ann roll; Bob roll; Cid skip-draw; Cid roll; exhausted; Ann 25; Bob 25; Cid 25; Ann 50; Bob 50; Cid 50;
        Ann 75; Bob 75; Cid 75; Ann 25; Bob 25; Cid 25; Ann 50; Bob 50; Cid 50 = hands 1 1 0; turn Ann
    + Ann 75; Bob 75 = ended exhausted
an empty pile does not change the turn
    Ann roll; Bob roll; exhausted | Bob 25: not-your-turn
a hand can end by agreement or with an empty pile
    Ann roll; end = ended agreed
    Ann roll; exhausted; end = ended exhausted
    Ann roll; end = pile 92
a pile seen empty overrides the count
    Ann roll; exhausted = pile 0; drawn False
after the last card is drawn the hands shrink
    down to 0 but roll 25 50 75 25 50 75 25 = hands 6 6; turn Ann
    + Ann roll = hands 5 6
a hand ends when all cards are played and the record may say so
    down to 0 but {CARDS}; Ann discard 25; Bob discard 25; Ann discard 50; Bob discard 50; Ann discard 75;
        Bob discard 75; Ann discard 25; Bob discard 50; Ann driving-ace; Ann extra-tank; Bob puncture-proof;
        Bob right-of-way = ended exhausted; by None
    + | end
    + | Ann discard 75: hand-over
a player without cards is skipped
    down to 0 but roll roll 25 50 75 25 50 75; Ann roll; Bob roll; Ann driving-ace; Ann extra-tank; Ann 25; Bob 25;
        Ann 50 = hands 1 4; turn Bob
    + Bob 50; Ann 75; Bob 75 = turn Bob
    + | Ann discard 50: not-your-turn
a coup fourre with the last card gives the turn to a player with cards
    down to 0 but roll roll stop 25 25 50 50 75; Ann roll; Bob roll; Ann driving-ace; Ann 25; Bob extra-tank; Bob 25;
        Ann 50; Bob puncture-proof; Bob 50; Ann 75 = hands 1 1
    + Bob stop > Ann; Ann right-of-way ! = ended exhausted
the end follows the draw of the player to move
    down to 1; end = ended exhausted
reshuffling the discards can be allowed [empty-pile=reshuffle]
    down to 0 but roll 25 50 75 25 50 75 25 = discarded 94
    + Ann roll = pile 93; discards; hands 6 6
a record may note a reshuffle [empty-pile=reshuffle]
    Ann discard 25; Bob discard 25; exhausted = pile 2; discards
a hand with reshuffled discards is never exhausted [empty-pile=reshuffle]
    down to 0; end = ended agreed
    down to 0; Ann skip-draw; end = ended agreed
a stuck hand is ended by the table [empty-pile=stuck]
    down to 0 but {CARDS}; Ann discard 25; end = ended exhausted

# Illegal plays that were made all the same

an illegal play can be applied [as it lies]
    Ann 100; Bob 200 = km Ann 100; km Bob 200; turn Ann
a safety too late for a coup fourre counts as a plain one and the turn stays [three; as it lies]
    Ann roll; Bob stop > Ann; Cid roll; Bob driving-ace ! = safeties Bob driving-ace; coups Bob; turn Ann;
        cards Bob 6; pile 84
a hazard without a target goes to the only opponent [as it lies]
    Ann roll; Bob stop = hazard Ann stop
    Ann roll; Bob stop = discards stop [three; as it lies]
a hazard on the players own side cannot be answered [as it lies]
    Ann roll; Bob roll; Ann stop > Ann = hazard Ann stop
    + | Ann right-of-way !: coup-fourre-window-closed
a card played out of turn includes its draw [as it lies]
    Ann skip-draw; Bob roll = hands 6 6; pile 93
a card played out of turn takes the turn with it [three; as it lies]
    Ann roll; Cid roll = turn Ann

# Found by mutations of the rules (`python tests/mutations.py`)

an extension is offered even if the draw pile is empty [empty-pile=ends]
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann discard 50;
        Bob skip-draw; Bob discard 50; down to 1 but 100; Ann 100 = pile 0; over False
    + Ann finish = by Ann
"""


@pytest.mark.parametrize("rows", rules(SHEET))
def test_a_row_of_the_rule_sheet(rows):
    check(rows)


# Setting up


def test_any_number_of_players_can_extend_a_trip_of_700():
    assert hand(players=PAIRS, target=700).table.may_extend
    assert not hand(target=1000).table.may_extend


def test_nothing_changes_after_the_end_of_a_hand():
    done = hand("Ann roll; end").table

    assert referee.apply(done, Play(Verb.DISCARD, "Ann", Card.KM_25)) is done


def test_legal_plays_lists_what_a_player_may_play():
    plays = {str(play) for play in referee.legal_plays(hand("Ann roll; Bob stop > Ann").table, "Ann")}

    assert {"Ann roll", "Ann right-of-way !", "Ann right-of-way", "Ann speed-limit > Bob", "Ann discard 25"} <= plays
    assert not {"Ann 25", "Ann repairs", "Ann stop > Bob", "Ann take", "Bob discard 25"} & plays
    assert not list(referee.legal_plays(hand("Ann roll").table, "Ann"))


def test_right_of_way_overrides_a_limit_on_the_speed_pile():
    limited = hand("Ann roll; Bob speed-limit > Ann").side("Ann")

    assert limited.limited
    assert not limited._replace(safeties=(Card.RIGHT_OF_WAY,)).limited

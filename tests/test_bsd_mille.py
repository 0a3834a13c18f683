"""The manual page of the Unix game mille: what differs from sheet to sheet (test_every_sheet.py has the other rows)."""

import pytest
from records import TWO, Hand, hand, record
from sheet import ANN_2200, BOB_2200, TO_600, check, rules

from companion.rules.cards import SAFETY_OF, Card
from companion.rules.editions.edition import EditionError, load_edition
from companion.rules.record.judge import JudgedLine

DAMAGES = (Card.ACCIDENT, Card.OUT_OF_GAS, Card.FLAT_TIRE)
LATE = "Ann discard 25; Bob discard 25"
KEPT = "25 50 75 25 50 75 25 50"
"""With the four safeties, the twelve cards of the two hands when the draw pile has run out."""


BOTH_600 = (
    "Ann driving-ace; Ann roll; Bob puncture-proof; Bob roll; Ann 200; Bob 200; Ann 200; Bob 200; Ann 100; Bob 100; end"
)
NEXT = "hand first Ann"
LEVEL = f"; {NEXT}; ".join([ANN_2200, BOB_2200, ANN_2200, BOB_2200, BOTH_600])


def mille(plays: str = "", players: str = TWO, **more) -> Hand:
    return hand(plays, players, edition="bsd-mille", **more)


# Setting up


def test_five_hazards_are_fewer_than_in_the_classic_deck():
    ours, classic = load_edition("bsd-mille").deck, load_edition("classic").deck

    assert {card.value: ours[card] for card in classic if ours[card] != classic[card]} == {
        "accident": 2,
        "out-of-gas": 2,
        "flat-tire": 2,
        "stop": 4,
        "speed-limit": 3,
    }


def test_five_hazards_are_not_taken_out_a_second_time():
    edition = load_edition("bsd-mille")

    with pytest.raises(EditionError, match=r"five-hazards-removed=yes is not possible in .*taken out already"):
        edition.with_options([("five-hazards-removed", "yes")])
    assert edition.with_options([("five-hazards-removed", "no")]).deck_for(2) == edition.deck


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_record_that_takes_five_hazards_out_again_is_told_so(order):
    head = [("edition bsd-mille", "option five-hazards-removed=yes")[line] for line in order]
    first, *_ = record("\n".join([*head, "side Ann", "side Bob", "hand first Ann", "Ann roll"]))

    assert isinstance(first, JudgedLine)
    assert (first.line.number, first.verdict) == (2, "unreadable")
    assert "five-hazards-removed=yes is not possible" in first.unreadable


SHEET = f"""
no safety is ever discarded
    | Ann discard right-of-way; Ann discard driving-ace; Ann discard extra-tank: safety-discard
a roll lies on a remedy, although right of way is out, until a safety has thrown the next hazard out
    Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs; Bob roll | Ann roll
    Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs; Bob flat-tire > Ann; Ann puncture-proof !
        | Ann roll: already-rolling
after a remedy no roll is needed where right of way is out
    Ann roll; Bob accident > Ann; Ann repairs; Bob roll; Ann right-of-way | Ann 100
a remedy out of turn is refused
    Ann roll; Bob accident > Ann | Ann repairs !: no-attack-to-answer
a hazard on a hazard is refused
    Ann roll; Bob accident > Ann; Ann discard 25 | Bob flat-tire > Ann: already-attacked
a coup fourré is possible until the attacked side draws
    Ann roll; Bob stop > Ann | Ann right-of-way !
    Ann roll; Bob stop > Ann | Bob right-of-way !: no-attack-to-answer
    Ann roll; Bob stop > Ann; Ann driving-ace | Ann right-of-way !: coup-fourre-window-closed
    Ann roll; Bob stop > Ann; Ann discard 25; Bob discard 25 | Ann right-of-way !: coup-fourre-window-closed
a pile that right of way has emptied is attacked
    Ann roll; Bob stop > Ann; {LATE}; Ann right-of-way; Ann 100 | Bob accident > Ann
a pile that counts as empty does so again when a remedy at once is thrown out with its hazard
    Ann roll; Bob stop > Ann; Ann right-of-way !; Ann 25; Bob accident > Ann; Ann repairs !
        = top Ann None [fast-remedy=yes; pile-after-remedy=card-beneath]
a coup fourré draws two cards and has a whole turn
    Ann roll; Bob stop > Ann; Ann right-of-way ! = turn Ann; cards Ann 6; pile 86
    + Ann 25 = turn Bob; pile 85; cards Ann 6
at 700 miles the extension is offered, of 200 to whoever completes
    {TO_600}; Ann 100 | Ann extend; Ann finish
    + | Bob 25: hand-over
    + Ann extend = target 1000
    {TO_600} | Ann extend: extension-not-offered
    {TO_600}; Ann 100; Ann extend; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100 = extension Ann 200
    {TO_600}; Ann 100; Ann finish = extension Ann None
    {TO_600}; Ann 100; Ann extend; Bob 25; exhausted; end = points Ann distance=700; points Bob distance=125
before the pile is empty the end is by agreement
    Ann roll; end = ended agreed
right of way against an old limit is no coup fourré although another hazard is new
    Ann roll; Bob speed-limit > Ann; Ann 25; Bob accident > Ann | Ann right-of-way !: coup-fourre-window-closed
    Ann roll; Bob speed-limit > Ann; Ann 25; Bob accident > Ann | Ann driving-ace !

# The draw pile empty

with the draw pile empty a coup fourré still counts and a late safety is none [first=Bob]
    down to 0 but roll stop 25 25 25 25 50 50; Ann roll; Bob stop > Ann; Ann right-of-way ! = coups Ann right-of-way
    down to 0 but roll stop 25 25 25 25 50 50; Ann roll; Bob stop > Ann; {LATE}
        | Ann right-of-way !: coup-fourre-window-closed
    + Ann right-of-way = coups Ann
with the draw pile empty play goes on without drawing [first=Bob]
    down to 0 but roll 25 50 75 25 50 75 25; Ann discard 25; Bob roll; Ann discard 50 = hands 4 5
    + | Bob 25
the hand ends when neither side can play
    down to 0 but {KEPT}; Bob discard 25; Ann discard 25; end = ended exhausted; by None
the hand ends by itself when both hands are empty
    down to 0 but {KEPT}; Bob driving-ace; Bob extra-tank; Bob discard 25; Ann puncture-proof; Ann right-of-way;
        Ann discard 50; Bob discard 75; Ann discard 25; Bob discard 50; Ann discard 75; Bob discard 25; Ann discard 50
        = ended exhausted; by None
    + | end
a side without cards is passed over
    down to 0 but {KEPT}; Bob driving-ace; Bob extra-tank; Bob discard 25; Ann discard 25; Bob discard 50;
        Ann discard 50; Bob discard 75; Ann discard 75; Bob discard 25 = hands 3 0; turn Ann
    + Ann discard 50 = turn Ann
finishing on the turn of the last card is a delayed action [target=200]
    Ann roll; Bob roll; Ann 100; Bob 25; down to 1 but 100; Ann 100 = pile 0; delayed-action Ann 300
    Ann roll; Bob roll; Ann 100; Bob skip-draw; Bob 25; down to 2 but 100; Ann 100 = pile 1; delayed-action Ann None

# The match

level at 5000 nobody wins and the totals start again [target=1000]
    {ANN_2200}; {NEXT}; {BOB_2200} = match Ann 2200; match Bob 2200
    + {NEXT}; {ANN_2200} = match Ann 4400; match Bob 2200
    {LEVEL} = match Ann 5000; match Bob 5000; winner None
    + {NEXT}; {ANN_2200} = match Ann 2200; match Bob 0; winner None

# Found by rules turned wrong (`python tests/mutations.py`)

in mille right of way leaves nothing of a limit that lay on an older one
    Ann speed-limit > Bob; Bob end-of-limit; Ann speed-limit > Bob; Bob right-of-way ! = limit Bob None
    + = limit Bob end-of-limit [edition=classic]
    Ann speed-limit > Bob; Bob end-of-limit; Ann speed-limit > Bob; Bob roll; Ann roll; Bob right-of-way
        = limit Bob None
a second card of the attackers leaves the window open until the own draw [as it lies]
    Ann roll; Bob roll; Ann stop > Bob; Ann 25 anyway | Bob right-of-way !
    + Bob skip-draw | Bob right-of-way !: coup-fourre-window-closed
    Ann roll; Bob roll; Ann stop > Bob; Ann 25 anyway
        | Bob right-of-way !: coup-fourre-window-closed [edition=classic; as it lies]
"""


@pytest.mark.parametrize("rows", rules(SHEET, "bsd-mille"))
def test_a_rule_of_the_sheet(rows):
    check(rows)


# Safeties


REMEDIED = "Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs; Bob flat-tire > Ann; Ann puncture-proof"
BOTH = "Ann roll; Bob speed-limit > Ann; Ann 25; Bob stop > Ann"


@pytest.mark.parametrize(
    ("plays", "shows"),
    [
        *((f"Ann roll; Bob {card} > Ann; {LATE}; Ann {SAFETY_OF[card]}", Card.ROLL) for card in DAMAGES),
        *((f"Ann roll; Bob {card} > Ann; Ann {SAFETY_OF[card]} !", Card.ROLL) for card in DAMAGES),
        (REMEDIED, Card.ROLL),
        (f"{REMEDIED} !", Card.ROLL),
        ("Ann roll; Bob accident > Ann; Ann extra-tank", Card.ACCIDENT),
        (f"Ann roll; Bob stop > Ann; {LATE}; Ann right-of-way", None),
        (f"Ann discard 25; Bob speed-limit > Ann; {LATE}; Ann right-of-way", Card.ROLL),
        (f"Ann roll; Bob accident > Ann; Ann repairs; Bob speed-limit > Ann; {LATE}; Ann right-of-way", Card.ROLL),
        ("Ann roll; Bob accident > Ann; Ann repairs; Bob discard 25; Ann right-of-way", Card.REPAIRS),
        (f"Ann roll; Bob speed-limit > Ann; Ann 25; Bob accident > Ann; {LATE}; Ann right-of-way", Card.ACCIDENT),
        (f"{BOTH}; Ann right-of-way !", None),
        (f"{BOTH}; {LATE}; Ann right-of-way", None),
        ("Ann roll; Bob stop > Ann; Ann discard 25; Bob speed-limit > Ann; Ann right-of-way !", None),
    ],
)
def test_a_safety_takes_its_hazard_away_and_leaves_a_pile_that_shows(plays, shows):
    laid = mille(plays)
    under = ["under-hazard"] if shows is Card.ACCIDENT else []

    assert (laid.side("Ann").battle_top, laid.side("Ann").speed_top) == (shows, None)
    assert laid.against("Ann 100") == under
    assert laid.against("Ann roll") == (["already-rolling"] if shows is Card.ROLL else under)
    assert laid.against("Ann end-of-limit") == ["not-limited"]


def test_the_roll_that_a_pile_shows_after_a_safety_is_not_one_of_the_fourteen():
    assert mille(REMEDIED).table.copies_left(Card.ROLL) == 13
    assert mille("Ann roll; Bob accident > Ann; Ann driving-ace !").table.discards == (Card.ACCIDENT,)
    assert mille(f"Ann roll; Bob accident > Ann; {LATE}; Ann driving-ace").table.discards[-1] is Card.ACCIDENT

"""Rows of the sheets that only a rule turned wrong showed to be untested (`python tests/mutations.py`)."""

from __future__ import annotations

import pytest
from records import hand
from sheet import check, rules

from companion.rules.cards import Card
from companion.rules.editions.edition import EditionError, edition_names, load_edition

SHEET = """
# Rush

a fetched card that is discarded is no discard to be remarked upon [edition=rush]
    Ann discard repairs; Bob pair 50 for repairs | Bob discard repairs~
    | Ann discard repairs~ discard-only-when-stuck
a demanded card is handed over on the spot or on the own turn alone [edition=rush; three]
    Ann control stop > Bob | Bob give stop > Ann
    + Bob 50 | Bob give stop > Ann: not-your-turn
    + Bob 50; Cid 50; Ann 50 | Bob give stop > Ann
whoever has drawn the card himself names another one [edition=rush]
    Ann control stop > Bob; Bob 50 | Ann name roll > Bob
    + | Ann name stop > Bob: request-pending
no two safeties are alike [edition=rush]
    Ann discard 100 | Bob pair driving-ace for 100: too-many-copies
    + | Bob pair 300 for 100
a discarded theft or control goes under the pile as well [edition=rush]
    Ann discard 50; Bob discard theft = discards theft 50
    Ann discard 50; Bob discard control = discards control 50
in mille right of way leaves nothing of a limit that lay on an older one [edition=bsd-mille]
    Ann speed-limit > Bob; Bob end-of-limit; Ann speed-limit > Bob; Bob right-of-way ! = limit Bob None
    + = limit Bob end-of-limit [edition=classic]
    Ann speed-limit > Bob; Bob end-of-limit; Ann speed-limit > Bob; Bob roll; Ann roll; Bob right-of-way
        = limit Bob None
two alike fetch one of themselves too [edition=rush]
    Ann pair 50 for 50 = discards 50
    + Ann 50 = km Ann 50
a stolen card is laid out of turn by its thief alone and never discarded [edition=rush; three]
    Ann 100; Bob theft 100 > Ann = turn Cid
    + | Bob 100
    + | Ann 100; Bob discard 100: not-your-turn
a safety draws its one card also where the turn has drawn none [edition=rush]
    Ann skip-draw; Ann driving-ace; Ann 50 = cards Ann 5; pile 93
    Ann accident > Bob; Bob driving-ace !; Bob long-range; Bob 50 = cards Bob 4; pile 92
what could be answered before a penalty still can [edition=rush]
    Ann accident > Bob; Ann penalty 50 | Bob driving-ace !; Bob mirror !
    + = turn Bob
whoever names another card has drawn for this turn [edition=rush; draw=one]
    Ann control stop > Bob; Bob 50; Ann name roll > Bob = turn Ann; cards Ann 7; pile 91
    + Ann 50 = cards Ann 6; pile 91
a card is turned back although its player has paid a penalty [edition=rush]
    Ann 100; Ann penalty 50 | Bob u-turn !
a winning card that was turned back counts once in the match [edition=rush; match=5000; target=200]
    Ann 200; Bob u-turn !; Bob 50; Ann 200 = match Ann 200; match Bob 50

# BSD mille

a second card of the attackers leaves the window open until the own draw [edition=bsd-mille; as it lies]
    Ann roll; Bob roll; Ann stop > Bob; Ann 25 anyway | Bob right-of-way !
    + Bob skip-draw | Bob right-of-way !: coup-fourre-window-closed
    Ann roll; Bob roll; Ann stop > Bob; Ann 25 anyway | Bob right-of-way !: coup-fourre-window-closed [as it lies]

# The end

a french race goes on for whoever has drawn the last card [edition=dujardin-2014]
    Ann skip-draw; exhausted = over False; turn Ann
    + Ann roll = ended exhausted
a remedy that answers no attack is told so where remedies are laid at once [edition=rush; three]
    Ann accident > Cid | Cid recharge !: no-attack-to-answer
    Ann roll; Bob accident > Ann | Ann gasoline !: not-your-turn [three]
two accelerators on one card are refused however they are written [edition=rush]
    | Ann 100*2*2; Ann 100*4; Ann 100*3: already-doubled
the card that completes a race outweighs the empty draw pile [edition=dujardin-2014; target=200]
    Ann roll; Bob roll; Ann 25; Bob 100; down to 1 but 100; Bob 100 = pile 0; ended completed; by Bob
an extension is offered although the draw pile is empty [empty-pile=ends]
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann discard 50;
        Bob skip-draw; Bob discard 50; down to 1 but 100; Ann 100 = pile 0; over False
    + Ann finish = by Ann

# The draw that reshuffles

two alike fetch nothing that their own draw has reshuffled [edition=rush]
    down to 0 | Ann pair 50 for 100: no-such-card-there
    down to 0; Ann skip-draw | Ann pair 50 for 100
    down to 1 | Bob pair 50 for 100
a card of the discard pile may come back with the draw that reshuffles it [edition=asmodee-2014]
    Ann roll; Bob roll; Ann right-of-way; down to 0 | Bob discard accident
a card that lies in front of a side does not come back with a reshuffle [edition=asmodee-2014]
    Ann roll; Bob roll; Ann right-of-way; down to 0 | Bob right-of-way; Bob discard right-of-way: too-many-copies
a card of the discard pile is not there yet for who draws afterwards [edition=asmodee-2014; exchange=yes]
    Ann roll; Bob roll; down to 0 | Ann exchange accident: too-many-copies
    Ann roll; Bob roll; down to 0; Ann skip-draw | Ann discard accident: too-many-copies
of two attacks a mirror sends the last one back [edition=rush; three; coup-fourre-window=own-draw]
    Ann accident > Cid; Bob speed-limit > Cid; Cid mirror !
        = hazard Ann None; limit Bob speed-limit; hazard Cid accident
"""


@pytest.mark.parametrize("rows", rules(SHEET))
def test_a_row_of_the_sheet(rows):
    check(rows)


# Rush


def test_a_limit_that_still_lies_beneath_right_of_way_is_not_in_force():
    limited = hand("Ann roll; Bob speed-limit > Ann").side("Ann")

    assert limited.limited
    assert not limited._replace(safeties=(Card.RIGHT_OF_WAY,)).limited


def test_a_corrected_deck_is_neither_smaller_nor_larger_than_the_printed_one():
    edition = load_edition("rush")

    assert edition.with_deck({Card.KM_50: 9, Card.KM_75: 11}).deck[Card.KM_75] == 11
    for count in (9, 11):
        with pytest.raises(EditionError, match="not 106"):
            edition.with_deck({Card.KM_50: count})


# The end


def test_each_sheet_says_what_becomes_of_an_empty_draw_pile():
    pile = {"classic": "play-out", "parker": "play-out", "bsd-mille": "stuck", "dujardin-2014": "ends"}
    pile |= {"asmodee-2014": "reshuffle", "rush": "reshuffle"}

    assert {edition: load_edition(edition).empty_pile for edition in edition_names()} == pile

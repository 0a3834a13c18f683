"""The rows that read the same on every rule sheet, in every edition."""

from dataclasses import replace

import pytest
from records import DEALT_TO_EIGHT, EIGHT, FIVE, FOUR, PAIRS, SIX, THREE, TWO, Hand, hand, header, record, teams
from sheet import check, rules

from companion.rules import referee
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card, Family
from companion.rules.editions.edition import EditionError, edition_names, load_edition
from companion.rules.record.judge import JudgedLine

EDITIONS = edition_names()
SIX_ALONE = f"{FIVE}, Fay"
EACH_HAZARD = [(name, card) for name in EDITIONS for card in load_edition(name).deck if card.family is Family.HAZARD]


def start_of(edition: str) -> str:
    """What makes both drive: nothing in Rush, elsewhere a roll each. Ann is to move."""
    return "" if load_edition(edition).roll_to_start == "not-needed" else "Ann roll; Bob roll; "


def driving(edition: str, plays: str = "") -> Hand:
    return hand(start_of(edition) + plays, edition=edition)


def verdicts_of(edition: str, *lines: str) -> list[str]:
    """What is said of lines of play once both drive."""
    start = start_of(edition).removesuffix("; ").split("; ")
    written = "\n".join([*header(TWO, edition=edition), *start, *lines])
    return [item.verdict for item in record(written) if isinstance(item, JudgedLine)]


SEATED = [
    *(("classic", *row) for row in ((TWO, 700, 94), (THREE, 700, 88), (PAIRS, 1000, 82), (SIX, 700, 70))),
    *(("parker", *row) for row in ((TWO, 700, 89), (THREE, 700, 83), (PAIRS, 1000, 82), (SIX, 700, 70))),
    *(("asmodee-2014", *row) for row in ((TWO, 1000, 94), (THREE, 1000, 88), (FOUR, 1000, 82), (PAIRS, 1000, 82))),
    ("asmodee-2014", SIX, 1000, 70),
    *((edition, players, 1000, pile) for edition in ("rush", "dujardin-2014") for players, pile in DEALT_TO_EIGHT),
    ("bsd-mille", TWO, 700, 89),
]
THREES = "Reds = Ann Cid Eve, Blues = Bob Dee Fay"
ONE_SIDE = "Reds = Ann Bob"
UNSEATED = {
    ("classic", "2 or 3 alone, or 4 or 6 in pairs: these sides seat [146] alone"): ("Ann", FOUR, SIX_ALONE),
    ("parker", "4 or 6 in pairs: these sides seat 4 alone"): (FOUR,),
    ("asmodee-2014", "2 to 4 alone, or 4 or 6 in pairs: these sides seat "): ("Ann", FIVE, SIX_ALONE, ONE_SIDE, THREES),
    ("rush", "8 in pairs"): ("Ann", f"{EIGHT}, Ian", ONE_SIDE, THREES),
    ("dujardin-2014", "8 in pairs"): ("Ann", f"{EIGHT}, Ian", ONE_SIDE),
    ("bsd-mille", "is for 2"): ("Ann", THREE, PAIRS, SIX, ONE_SIDE),
}


@pytest.mark.parametrize(("edition", "players", "target", "pile"), SEATED)
def test_a_seating_of_the_sheet_has_its_target_and_six_cards_each(edition, players, target, pile):
    table = hand(players=players, edition=edition).table

    assert (table.target, table.draw_pile, set(table.hands)) == (target, pile, {6})
    assert sum(table.deck.values()) == pile + sum(table.hands)
    assert table.deck[Card.STOP] == load_edition(edition).deck[Card.STOP] - (edition == "parker" and pile > 82)


@pytest.mark.parametrize(
    ("edition", "says", "players"), [(*sheet, players) for sheet, refused in UNSEATED.items() for players in refused]
)
def test_other_seatings_are_refused_with_a_sentence(edition, says, players):
    with pytest.raises(EditionError, match=says):
        referee.new_hand(load_edition(edition), teams(players), "Ann")


def test_partners_sit_opposite_each_other_with_one_layout():
    table = hand(players=SIX).table

    assert [seat.player for seat in table.seats] == ["Ann", "Bob", "Cid", "Dee", "Eve", "Fay"]
    assert [table.sides[seat.side].name for seat in table.seats] == ["Reds", "Blues", "Greens"] * 2


SHEET = """
nobody plays out of turn
    | Bob 50: not-your-turn
    | Ann 50
no hazard goes on the own side or on nobody
    | Ann stop > Ann: own-side
    | Ann stop: needs-target
end of limit is laid on a showing limit only
    Ann speed-limit > Bob | Bob end-of-limit
    Ann speed-limit > Bob; Bob end-of-limit; Ann 50 | Bob end-of-limit: not-limited
under a limit nothing above 50 is driven, and after its end anything
    Ann speed-limit > Bob | Bob 50
    Ann speed-limit > Bob | Bob 75; Bob 200: speed-limit
    Ann speed-limit > Bob; Bob end-of-limit; Ann 50 | Bob 200
a limit and another hazard may lie side by side
    Ann accident > Bob; Bob discard 50; Ann speed-limit > Bob | Bob 100: under-hazard speed-limit
    Ann accident > Bob; Bob discard 50; Ann speed-limit > Bob | Bob repairs; Bob end-of-limit
right of way at once clears a stop and a limit
    Ann speed-limit > Bob; Bob 50; Ann stop > Bob; Bob right-of-way ! | Bob 200
    Ann stop > Bob; Bob discard 50; Ann speed-limit > Bob; Bob right-of-way ! | Bob 200
right of way answers no accident
    Ann accident > Bob | Bob right-of-way !: no-attack-to-answer
    Ann accident > Bob; Bob right-of-way | Bob 50: under-hazard
a safety is laid on the own turn draws a card and keeps the turn
    Ann SAFETY = turn Ann; safeties Ann SAFETY
    Ann SAFETY | Ann SAFETY: too-many-copies
    Ann SAFETY; Ann 50 = cards Ann 6
a late safety is no coup fourré
    Ann HAZARD > Bob; Bob SAFETY = safeties Bob SAFETY; coups Bob; hazard Bob None; limit Bob None
a coup fourré throws the hazard out and takes the turn
    Ann HAZARD > Bob; Bob SAFETY ! = coups Bob SAFETY; discards HAZARD; turn Bob
    Ann HAZARD > Bob; Bob SAFETY ! | Bob 100
each km is a point or a km
    Ann 200; Bob 75; Ann 50; end = points Ann distance=250; points Bob distance=75
after the end nothing is played
    Ann 50; end | Bob 50; Bob driving-ace !: hand-over
"""


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("rows", rules(SHEET))
def test_a_rule_of_every_sheet(rows, edition):
    check([replace(row, plays=start_of(edition) + row.plays, edition=edition) for row in rows])


OF_MOST_SHEETS = """
nothing is exchanged, fetched or lost by a mistake, and nobody passes
    | Ann exchange 25: no-exchange
    Ann discard 100 | Bob pair 50 for 100: cannot-take-discard
    | Ann penalty 50: no-penalty
    | Ann pass: no-passing
discards are dead [edition=bsd-mille, classic, dujardin-2014, parker]
    Ann discard 100 | Bob take: cannot-take-discard
a discarded accident is gone [edition=bsd-mille, parker]
    Ann discard accident; Bob discard accident | Ann discard accident: too-many-copies
any card but a safety may be discarded, and is remarked upon by one sheet alone
    | Ann discard 25; Ann discard roll; Ann discard stop; Ann discard repairs
    | Ann discard 25~ [edition=asmodee-2014, bsd-mille, classic, dujardin-2014]
    | Ann discard right-of-way [edition=asmodee-2014, classic, dujardin-2014, parker]
a forgotten draw is not made up for
    Ann skip-draw; Ann roll; Bob roll; Ann 25 = cards Ann 5; pile 92 [edition=asmodee-2014, classic, dujardin-2014]
    + = cards Ann 5; pile 87 [edition=bsd-mille, parker]
a roll or right of way starts the car
    | Ann 100: not-driving [edition=bsd-mille, classic, dujardin-2014, parker]
    Ann roll; Bob roll | Ann 100
    Ann right-of-way | Ann 100
    Ann roll; Bob roll; Ann 25; Bob DAMAGE > Ann | Ann 25: under-hazard
a roll lies on an empty pile or a stop, although right of way is out, and on no roll or other hazard
    | Ann roll
    Ann right-of-way | Ann roll
    Ann roll; Bob roll; Ann 25; Bob stop > Ann | Ann roll
    Ann roll; Bob roll | Ann roll: already-rolling
    Ann roll; Bob roll; Ann right-of-way | Ann roll: already-rolling
    Ann roll; Bob roll; Ann 25; Bob accident > Ann | Ann roll: under-hazard
    Ann roll; Bob roll; Ann 25; Bob out-of-gas > Ann | Ann roll: under-hazard
    Ann roll; Bob roll; Ann 25; Bob flat-tire > Ann | Ann roll: under-hazard
after a remedy a roll is needed, and lies on it [edition=bsd-mille, classic, parker]
    Ann roll; Bob accident > Ann; Ann repairs; Bob roll | Ann 100: not-driving
    + | Ann roll
    + Ann roll; Bob 25 | Ann 100
after a remedy the car drives at once, may be attacked again, and takes no roll [edition=asmodee-2014, dujardin-2014]
    Ann roll; Bob roll; Ann 25; Bob DAMAGE > Ann; Ann REMEDY; Bob 25 | Ann 100
    Ann roll; Bob roll; Ann 25; Bob accident > Ann; Ann repairs | Bob flat-tire > Ann; Bob accident > Ann
    + Bob 25 | Ann roll: nothing-to-remedy
a remedy lies on its own hazard, and in turn
    Ann roll; Bob roll | Ann repairs; Ann gasoline; Ann spare-tire: nothing-to-remedy
    Ann roll; Bob roll; Ann 25; Bob accident > Ann | Ann gasoline; Ann spare-tire: nothing-to-remedy
    Ann roll; Bob roll; Cid roll; Ann 25; Bob accident > Ann
        | Ann repairs !: not-your-turn [edition=asmodee-2014, classic, dujardin-2014, parker; three]
a hazard is laid on an opponent who drives
    Ann roll; Bob roll; Ann 25 | Bob DAMAGE > Ann
    Ann roll; Bob discard 25 | Ann DAMAGE > Bob: opponent-not-driving
with right of way out a hazard is laid on an empty pile and a remedy
    Ann right-of-way; Ann 25; Bob roll; Ann 25
        | Bob flat-tire > Ann [edition=asmodee-2014, bsd-mille, dujardin-2014, parker]
    + | Bob stop > Ann: protected [edition=asmodee-2014, bsd-mille, dujardin-2014, parker]
    Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs
        | Bob flat-tire > Ann [edition=bsd-mille, classic, dujardin-2014, parker]
a remedied opponent is attacked only once he rolls [edition=bsd-mille, parker]
    Ann roll; Bob accident > Ann; Ann repairs | Bob flat-tire > Ann: opponent-not-driving
    + Bob roll; Ann roll | Bob flat-tire > Ann
a hazard on a hazard is refused, and a limit beside it is not [edition=asmodee-2014, dujardin-2014, parker; three]
    Ann roll; Bob roll; Cid roll; Ann 25; Bob DAMAGE > Ann | Cid flat-tire > Ann: already-attacked
    + | Cid speed-limit > Ann
a speed limit is laid before the opponent has begun, and on no other limit
    Ann roll; Bob discard 25 | Ann speed-limit > Bob
    | Ann speed-limit > Bob [edition=bsd-mille, classic, dujardin-2014, parker]
    Ann roll; Bob roll; Ann speed-limit > Bob; Bob 25 | Ann speed-limit > Bob: already-limited
    + Ann 25; Bob end-of-limit | Ann speed-limit > Bob
a side lays at most two 200s
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25 | Ann 200: third-200
    + | Ann 100
the target is reached exactly [edition=bsd-mille, classic, dujardin-2014, parker; target=200]
    Ann roll; Bob roll; Ann 100; Bob 25 | Ann 200: past-target
    + | Ann 100
a card laid beyond the target stays [edition=asmodee-2014, bsd-mille, classic, dujardin-2014; as it lies; target=200]
    Ann roll; Bob roll; Ann 100; Bob 25; Ann 200 = km Ann 300
a late safety throws its hazard out and the car drives on [edition=asmodee-2014, bsd-mille, dujardin-2014]
    Ann roll; Bob roll; Ann 25; Bob DAMAGE > Ann; Ann discard 25; Bob 25; Ann SAFETY
        = battle Ann roll; discards 25 DAMAGE
    + | Ann 100
    + | Ann roll: already-rolling [edition=asmodee-2014]
a coup fourré skips the players between [edition=asmodee-2014, classic, dujardin-2014, parker; three]
    Ann roll; Bob roll; Cid roll; Ann stop > Cid; Cid right-of-way ! = turn Cid
    + | Bob 25: not-your-turn
    + Cid 100 = turn Ann
the next card of anybody closes the window [edition=asmodee-2014, classic, dujardin-2014, parker; three]
    Ann roll; Bob roll; Cid roll; Ann 25; Bob stop > Ann | Ann right-of-way !
    + Cid 25 | Ann right-of-way !: coup-fourre-window-closed
    + Cid discard 25 | Ann right-of-way !: coup-fourre-window-closed
    + Cid skip-draw | Ann right-of-way !: coup-fourre-window-closed
    + Cid driving-ace | Ann right-of-way !: coup-fourre-window-closed
one race is the match [edition=asmodee-2014, dujardin-2014; target=200]
    Ann roll; Bob roll; Ann 200 = match Ann 200; match Bob 0; winner Ann
there is no extension even at 700 [edition=asmodee-2014, dujardin-2014; target=700]
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100
        = ended completed; by Ann
    + | Ann extend: hand-over
"""


@pytest.mark.parametrize("rows", rules(OF_MOST_SHEETS, ", ".join(name for name in EDITIONS if name != "rush")))
def test_a_rule_of_most_sheets(rows):
    check(rows)


@pytest.mark.parametrize(("edition", "hazard"), EACH_HAZARD)
def test_a_hazard_is_remedied_by_its_remedy_alone_and_shut_out_by_its_safety(edition, hazard):
    attacked, safe = driving(edition, f"Ann {hazard} > Bob"), driving(edition, f"Ann {SAFETY_OF[hazard]}; Ann 50")
    others = {REMEDY_OF[card] for card in load_edition(edition).deck if card in REMEDY_OF and card is not hazard}

    assert attacked.against(f"Bob {REMEDY_OF[hazard]}") == []
    assert [card for card in others if not attacked.against(f"Bob {card}")] == []
    assert safe.against(f"Bob {hazard} > Ann") == ["protected"]
    assert driving(edition, "Ann 50").against(f"Bob {hazard} > Ann") == []


@pytest.mark.parametrize("edition", EDITIONS)
def test_six_cards_are_dealt_and_a_turn_draws_and_plays_one(edition):
    before, after = driving(edition), driving(edition, "Ann 50; Bob 50")

    assert before.table.hands == after.table.hands == (6, 6)
    assert before.table.draw_pile - after.table.draw_pile == 2
    assert before.against("Ann 25" if edition == "rush" else "Ann 300") == ["unknown-card"]


# Coup fourré


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("line", ["Bob 200 now", "# what a pity", "Ann 50", "Bob roll > Ann", "Bob end-of-limit", ""])
def test_illegal_unreadable_and_comment_lines_leave_the_window_open(edition, line):
    assert verdicts_of(edition, "Ann accident > Bob", line, "Bob driving-ace !")[-1] == "legal"


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("line", ["Bob skip-draw", "Bob discard 50", "Bob extra-tank", "Bob car-pool"])
def test_a_card_drawn_or_played_by_the_attacked_side_shuts_the_window(edition, line):
    *_, act, answer = verdicts_of(edition, "Ann accident > Bob", line, "Bob driving-ace !")

    assert {"legal": "illegal", "illegal": "legal"}[act] == answer


# The end


@pytest.mark.parametrize(
    ("edition", "points"),
    [
        ("classic", [100, 300, 300, 400, 300, 300, 200, 500]), ("asmodee-2014", [100, 0, 100, 0, 0, 0, 0, 0]),
        ("bsd-mille", [100, 300, 300, 400, 300, 300, 200, 500]), ("rush", [100, 0, 100, 0, 0, 0, 0, 0]),
        ("parker", [100, 300, 300, 400, 300, 300, 200, 500]), ("dujardin-2014", [0] * 8),
    ],
)  # fmt: skip
def test_the_other_lines_of_the_sheet_are_worth_what_is_printed(edition, points):
    worth = load_edition(edition).points

    assert [worth.safety, worth.all_safeties, worth.coup_fourre] == points[:3]
    assert [worth.trip_completed, worth.delayed_action, worth.safe_trip, worth.extension, worth.shut_out] == points[3:]


def test_each_sheet_says_what_becomes_of_an_empty_draw_pile():
    pile = {"classic": "play-out", "parker": "play-out", "bsd-mille": "stuck", "dujardin-2014": "ends"}
    pile |= {"asmodee-2014": "reshuffle", "rush": "reshuffle"}

    assert {edition: load_edition(edition).empty_pile for edition in EDITIONS} == pile

"""The manual page of the Unix game mille: what differs from sheet to sheet (test_every_sheet.py has the other rows)."""

from __future__ import annotations

import pytest
from records import BATTLE_HAZARDS, PAIRS, SIX, THREE, TWO, Hand, hand, header, record, results, rows, run_down, teams

from companion.rules import referee
from companion.rules.cards import SAFETY_OF, Card
from companion.rules.editions.edition import EditionError, load_edition
from companion.rules.record.judge import JudgedLine

TO_600 = "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25"
KEPT = "25 50 75 25 50 75 25 50"
"""With the four safeties, the twelve cards of the two hands when the draw pile has run out."""


def mille(plays: str = "", players: str = TWO, **more) -> Hand:
    return hand(plays, players, edition="bsd-mille", **more)


# Setting up


def test_two_play_with_101_cards_to_700_miles():
    table = mille().table

    assert (sum(table.deck.values()), table.draw_pile, table.hands, table.target) == (101, 89, (6, 6), 700)


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

    with pytest.raises(EditionError, match=r"not played with five-hazards-removed=yes: .*taken out already"):
        edition.with_options([("five-hazards-removed", "yes")])
    assert edition.with_options([("five-hazards-removed", "no")]).deck_for(2) == edition.deck


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_record_that_takes_five_hazards_out_again_is_told_so(order):
    head = [("edition bsd-mille", "option five-hazards-removed=yes")[line] for line in order]
    first, *_ = record("\n".join([*head, "side Ann", "side Bob", "hand first Ann", "Ann roll"]))

    assert isinstance(first, JudgedLine)
    assert (first.line.number, first.verdict) == (2, "unreadable")
    assert "is not played with five-hazards-removed=yes" in first.unreadable


@pytest.mark.parametrize("players", ["Ann", THREE, PAIRS, SIX, "Reds = Ann Bob"])
def test_it_is_a_game_for_two(players):
    with pytest.raises(EditionError, match="played by 2 alone"):
        referee.check_seating(load_edition("bsd-mille"), teams(players))


SHEET = """
A third accident is one too many.
    Ann discard accident; Bob discard accident | Ann discard accident | too-many-copies
    Ann discard accident | Bob discard accident |
Discards are dead.
    Ann discard 100 | Bob take | cannot-take-discard
No safety is ever discarded, and any other card may be.
    | Ann discard right-of-way, Ann discard driving-ace, Ann discard extra-tank | safety-discard
    | Ann discard 25, Ann discard roll, Ann discard stop, Ann discard repairs |
Nothing is exchanged, fetched or lost by a mistake, and nobody passes.
    | Ann exchange 25 | no-exchange
    Ann discard 100 | Bob pair 50 for 100 | cannot-take-discard
    | Ann penalty 50 | no-penalty
    | Ann pass | no-passing
A roll or right of way starts the car, and any card may be the first.
    | Ann 100 | not-driving
    Ann roll; Bob roll | Ann 100 |
    Ann right-of-way | Ann 100 |
    | Ann speed-limit > Bob, Ann driving-ace |
A roll lies on an empty pile, a stop or a remedy, although right of way is out, and not on a roll.
    | Ann roll |
    Ann roll; Bob stop > Ann | Ann roll |
    Ann roll; Bob accident > Ann; Ann repairs; Bob roll | Ann roll |
    Ann right-of-way | Ann roll |
    Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs; Bob roll | Ann roll |
    Ann roll; Bob roll | Ann roll | already-rolling
    Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs; Bob flat-tire > Ann; Ann puncture-proof ! | Ann roll\
 | already-rolling
    Ann roll; Bob {damage} > Ann | Ann roll | under-hazard
A remedy lies on its own hazard alone.
    Ann roll; Bob accident > Ann | Ann gasoline, Ann spare-tire | nothing-to-remedy
    Ann roll; Bob roll | Ann repairs, Ann gasoline | nothing-to-remedy
After a remedy a roll is needed unless right of way is out.
    Ann roll; Bob accident > Ann; Ann repairs; Bob roll | Ann 100 | not-driving
    Ann roll; Bob accident > Ann; Ann repairs; Bob roll; Ann roll; Bob 25 | Ann 100 |
    Ann roll; Bob accident > Ann; Ann repairs; Bob roll; Ann right-of-way | Ann 100 |
A remedy out of turn is refused.
    Ann roll; Bob accident > Ann | Ann repairs ! | no-attack-to-answer
A hazard is laid on an opponent who drives and not on another.
    Ann roll | Bob {hazard} > Ann |
    Ann discard 25 | Bob {hazard} > Ann | opponent-not-driving
    Ann roll; Bob accident > Ann; Ann discard 25 | Bob flat-tire > Ann | already-attacked
    Ann roll; Bob accident > Ann; Ann repairs | Bob flat-tire > Ann | opponent-not-driving
    Ann roll; Bob accident > Ann; Ann repairs; Bob roll; Ann roll | Bob flat-tire > Ann |
With right of way out a remedied opponent and an empty pile are attacked.
    Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs | Bob flat-tire > Ann |
    Ann right-of-way; Ann 25 | Bob flat-tire > Ann |
    Ann right-of-way; Ann 25 | Bob stop > Ann | protected
A speed limit is laid at any time and beside another hazard, but on no other limit.
    | Ann speed-limit > Bob |
    Ann roll; Bob accident > Ann; Ann discard 25 | Bob speed-limit > Ann |
    Ann roll; Bob accident > Ann; Ann discard 25; Bob speed-limit > Ann; Ann discard 25 | Bob speed-limit > Ann\
 | already-limited
No distance is driven under a hazard.
    Ann roll; Bob {hazard} > Ann | Ann 25 | under-hazard
No more than two 200s are laid in a hand.
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25 | Ann 200 | third-200
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25 | Ann 100 |
700 miles are reached exactly.
    {TO_600}; Ann 75; Bob 25 | Ann 50 | past-target
    {TO_600}; Ann 75; Bob 25 | Ann 25 |
A coup fourré is possible until the attacked side draws.
    Ann roll; Bob stop > Ann | Ann right-of-way ! |
    Ann roll; Bob stop > Ann | Bob right-of-way ! | no-attack-to-answer
    Ann roll; Bob stop > Ann; Ann driving-ace | Ann right-of-way ! | coup-fourre-window-closed
    Ann roll; Bob stop > Ann; Ann discard 25; Bob discard 25 | Ann right-of-way ! | coup-fourre-window-closed
Right of way against an old limit is no coup fourré although another hazard is new.
    Ann roll; Bob speed-limit > Ann; Ann 25; Bob accident > Ann | Ann right-of-way ! | coup-fourre-window-closed
    Ann roll; Bob speed-limit > Ann; Ann 25; Bob accident > Ann | Ann driving-ace ! |
"""


@pytest.mark.parametrize("row", rows(SHEET, TO_600=TO_600))
def test_a_row_of_the_sheet(row):
    row.holds("bsd-mille")


# A turn


def test_mistakes_stay_as_they_are():
    forgot = mille("Ann skip-draw; Ann roll; Bob roll; Ann 25")
    past = mille(f"{TO_600}; Ann 75; Bob 25").then("Ann 50", as_lies=True)

    assert (forgot.cards_of("Ann"), forgot.table.draw_pile) == (5, 87)
    assert past.side("Ann").km == 725
    assert referee.remarks(mille().table, mille().parsed("Ann discard 25")) == ()


# Safeties


LATE = "Ann discard 25; Bob discard 25"
REMEDIED = "Ann roll; Bob accident > Ann; Ann right-of-way; Ann repairs; Bob flat-tire > Ann; Ann puncture-proof"
BOTH = "Ann roll; Bob speed-limit > Ann; Ann 25; Bob stop > Ann"


@pytest.mark.parametrize(
    ("plays", "shows"),
    [
        *((f"Ann roll; Bob {card} > Ann; {LATE}; Ann {SAFETY_OF[card]}", Card.ROLL) for card in BATTLE_HAZARDS[:3]),
        *((f"Ann roll; Bob {card} > Ann; Ann {SAFETY_OF[card]} !", Card.ROLL) for card in BATTLE_HAZARDS[:3]),
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


def test_a_pile_that_right_of_way_has_emptied_is_attacked():
    late = mille(f"Ann roll; Bob stop > Ann; {LATE}; Ann right-of-way; Ann 100")

    assert late.against("Bob accident > Ann") == []


# Coup fourré


def test_a_pile_that_counts_as_empty_does_so_again_when_a_remedy_at_once_is_thrown_out_with_its_hazard():
    throwing = ["fast-remedy=yes", "pile-after-remedy=card-beneath"]
    empty = mille("Ann roll; Bob stop > Ann; Ann right-of-way !; Ann 25", options=throwing)

    assert empty.then("Bob accident > Ann; Ann repairs !").side("Ann").battle_top is None


def test_a_coup_fourre_draws_two_cards_and_has_a_whole_turn():
    claimed = mille("Ann roll; Bob stop > Ann; Ann right-of-way !")

    assert (claimed.turn, claimed.cards_of("Ann"), claimed.table.draw_pile) == ("Ann", 6, 86)
    assert (claimed.then("Ann 25").turn, claimed.then("Ann 25").table.draw_pile) == ("Bob", 85)
    assert claimed.then("Ann 25").cards_of("Ann") == 6


def test_with_the_draw_pile_empty_a_coup_fourre_still_counts_and_a_late_safety_is_none():
    attacked = run_down(mille(first="Bob"), "roll stop 25 25 25 25 50 50").then("Ann roll; Bob stop > Ann")

    assert attacked.then("Ann right-of-way !").side("Ann").coups_fourres == (Card.RIGHT_OF_WAY,)
    assert attacked.then(LATE).against("Ann right-of-way !") == ["coup-fourre-window-closed"]
    assert attacked.then(f"{LATE}; Ann right-of-way").side("Ann").coups_fourres == ()


# The end of a hand


def test_at_700_miles_the_extension_is_offered():
    reached = mille(f"{TO_600}; Ann 100")

    assert reached.against("Ann extend") == reached.against("Ann finish") == []
    assert reached.against("Bob 25") == ["hand-over"]
    assert reached.then("Ann extend").table.target == 1000
    assert mille(TO_600).against("Ann extend") == ["extension-not-offered"]


def test_with_the_draw_pile_empty_play_goes_on_without_drawing():
    played = run_down(mille(first="Bob"), "roll 25 50 75 25 50 75 25").then("Ann discard 25; Bob roll; Ann discard 50")

    assert played.table.hands == (4, 5)
    assert played.against("Bob 25") == []


def test_the_hand_ends_when_neither_side_can_play():
    stuck = run_down(mille(), KEPT).then("Bob discard 25; Ann discard 25; end")

    assert (stuck.result.how, stuck.result.by) == ("exhausted", None)


def test_the_hand_ends_by_itself_when_both_hands_are_empty():
    played = run_down(mille(), KEPT).then("Bob driving-ace; Bob extra-tank; Bob discard 25")
    played = played.then("Ann puncture-proof; Ann right-of-way; Ann discard 50")

    done = played.then("Bob discard 75; Ann discard 25; Bob discard 50; Ann discard 75; Bob discard 25; Ann discard 50")

    assert (done.result.how, done.result.by) == ("exhausted", None)
    assert done.against("end") == []


def test_a_side_without_cards_is_passed_over():
    played = run_down(mille(), KEPT).then("Bob driving-ace; Bob extra-tank; Bob discard 25; Ann discard 25")
    shorter = played.then("Bob discard 50; Ann discard 50; Bob discard 75; Ann discard 75; Bob discard 25")

    assert (shorter.table.hands, shorter.turn) == ((3, 0), "Ann")
    assert shorter.then("Ann discard 50").turn == "Ann"


def test_before_the_pile_is_empty_the_end_is_by_agreement():
    assert mille("Ann roll; end").result.how == "agreed"


# Scoring


def test_each_line_of_the_sheet_counts_as_on_the_manual_page():
    attacks = "Bob stop > Ann; Ann right-of-way !; Ann 100; Bob discard 25; Ann 100"
    done = mille(f"Ann roll; {attacks}", target=200)

    assert done.points("Ann") == {
        "distance": 200,
        "safeties": 100,
        "coups-fourres": 300,
        "trip-completed": 400,
        "safe-trip": 300,
        "shut-out": 500,
    }
    assert done.points("Bob") == {"distance": 0}


def test_all_four_safeties_are_300_more():
    all_four = mille("Ann driving-ace; Ann extra-tank; Ann puncture-proof; Ann right-of-way; Ann roll; end")
    three = mille("Ann driving-ace; Ann extra-tank; Ann puncture-proof; Ann roll; end")

    assert all_four.points("Ann") == {"distance": 0, "safeties": 400, "all-safeties": 300}
    assert three.points("Ann") == {"distance": 0, "safeties": 300}


def test_the_extension_is_200_to_whoever_completes():
    extended = f"{TO_600}; Ann 100; Ann extend; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100"

    assert mille(extended).points("Ann")["extension"] == 200
    assert "extension" not in mille(f"{TO_600}; Ann 100; Ann finish").points("Ann")


def test_an_extension_that_nobody_completes_is_lost_for_everybody():
    lost = mille(f"{TO_600}; Ann 100; Ann extend; Bob 25; exhausted; end")

    assert (lost.points("Ann"), lost.points("Bob")) == ({"distance": 700}, {"distance": 125})


@pytest.mark.parametrize(("left", "counts"), [(1, True), (2, False)])
def test_finishing_on_the_turn_of_the_last_card_is_a_delayed_action(left, counts):
    to_100 = "Ann roll; Bob roll; Ann 100; Bob 25"
    forgotten = to_100.replace("Bob 25", "Bob skip-draw; Bob 25")
    near = run_down(mille(to_100 if left == 1 else forgotten, target=200), "100", left=left)

    done = near.then("Ann 100")

    assert done.table.draw_pile == left - 1
    assert ("delayed-action" in done.points("Ann")) is counts


# The match

ANN_2200 = "Ann roll; " + "; ".join(["Bob discard 25; Ann 100"] * 10)
"""1000 miles, trip, safe trip, shut-out."""

BOB_2200 = "Ann discard 25; Bob roll; " + "; ".join(["Ann discard 50; Bob 100"] * 10)
BOTH_600 = (
    "Ann driving-ace; Ann roll; Bob puncture-proof; Bob roll; Ann 200; Bob 200; Ann 200; Bob 200; Ann 100; Bob 100; end"
)


def match_of(*hands: str) -> list:
    *head, first = header(edition="bsd-mille", target=1000)
    return results("\n".join([*head, *(line for played in hands for line in [first, *played.split("; ")])]))


def test_level_at_5000_nobody_wins_and_the_totals_start_again():
    hands = match_of(ANN_2200, BOB_2200, ANN_2200, BOB_2200, BOTH_600, ANN_2200)

    assert (hands[4].match, hands[4].winner) == ({"Ann": 5000, "Bob": 5000}, None)
    assert (hands[5].match, hands[5].winner) == ({"Ann": 2200, "Bob": 0}, None)


def test_level_before_5000_the_totals_run_on():
    hands = match_of(ANN_2200, BOB_2200, ANN_2200)

    assert [result.match for result in hands[1:]] == [{"Ann": 2200, "Bob": 2200}, {"Ann": 4400, "Bob": 2200}]


def test_the_first_with_5000_wins():
    hands = match_of(ANN_2200, ANN_2200, ANN_2200, BOB_2200)

    assert [result.winner for result in hands] == [None, None, "Ann", None]
    assert hands[3].match == {"Ann": 0, "Bob": 2200}

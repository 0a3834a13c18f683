"""The Asmodee sheet of 2014: what differs from sheet to sheet (test_every_sheet.py has the other rows)."""

from __future__ import annotations

import pytest
from records import (
    BATTLE_HAZARDS,
    FIVE,
    FOUR,
    PAIRS,
    SIX,
    THREE,
    TWO,
    Hand,
    hand,
    header,
    results,
    rows,
    run_down,
    teams,
)

from companion.rules import referee
from companion.rules.cards import SAFETY_OF, Card
from companion.rules.editions.edition import EditionError, load_edition

TO_800 = "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25" + "; Ann 100; Bob 25" * 4


def asmodee(plays: str = "", players: str = TWO, **more) -> Hand:
    return hand(plays, players, edition="asmodee-2014", **more)


# Setting up


@pytest.mark.parametrize(("players", "draw_pile"), [(TWO, 94), (THREE, 88), (FOUR, 82), (PAIRS, 82), (SIX, 70)])
def test_two_to_four_play_alone_and_four_or_six_in_pairs_to_1000_miles(players, draw_pile):
    table = asmodee(players=players).table

    assert (table.target, table.draw_pile, set(table.hands)) == (1000, draw_pile, {6})


@pytest.mark.parametrize(
    "players", ["Ann", FIVE, f"{FIVE}, Fay", "Reds = Ann Bob", "Reds = Ann Cid Eve, Blues = Bob Dee Fay"]
)
def test_other_numbers_of_players_are_refused(players):
    with pytest.raises(EditionError, match="2 to 4 alone, or 4 or 6 in pairs: these sides seat "):
        referee.check_seating(load_edition("asmodee-2014"), teams(players))


def test_the_deck_is_the_classic_one_of_106_cards():
    ours, classic = asmodee().table.deck, hand().table.deck

    assert dict(ours) == dict(classic)
    assert sum(ours.values()) == 106


SHEET = """
The top of the discard pile is taken instead of a draw, once and in turn.
    | Ann take | cannot-take-discard
    Ann discard 100; Bob discard 75; Ann take | Ann take | cannot-take-discard
    Ann discard 100; Bob skip-draw | Bob take | cannot-take-discard
    Ann discard 100 | Ann take | not-your-turn
    Ann discard roll; Bob take | Bob roll |
    Ann discard accident; Bob discard accident; Ann discard accident | Bob discard accident | too-many-copies
    Ann discard accident; Bob discard accident; Ann discard accident; Bob take | Bob discard accident |
The card that a coup fourré threw out may be taken.
    Ann roll; Bob roll; Ann stop > Bob; Bob right-of-way !; Bob 100; Ann take | Ann stop > Bob | protected
Two alike fetch nothing, a mistake costs nothing, and nothing is exchanged unless the house plays so.
    Ann discard 100 | Bob pair 50 for 100 | cannot-take-discard
    | Ann penalty 50 | no-penalty
    | Ann exchange 25 25 stop | no-exchange
    [exchange=yes] | Ann exchange 25 25 stop |
A roll or right of way starts the car and is a side's first card; a discard may come before.
    | Ann 100, Ann 25 | first-card not-driving
    | Ann speed-limit > Bob, Ann driving-ace, Ann extra-tank | first-card
    | Ann roll, Ann right-of-way, Ann discard 25, Ann discard stop |
    Ann roll; Bob roll | Ann 100, Ann speed-limit > Bob, Ann driving-ace |
    Ann right-of-way | Ann 100 |
The first card is counted by side and not by player.
    [pairs] Ann roll; Bob discard 25 | Cid speed-limit > Blues |
    [pairs] Ann roll; Bob discard 25; Cid 25 | Dee speed-limit > Reds | first-card
Right of way at once may be a side's first card, and a remedy out of turn may not.
    Ann roll; Bob discard 25; Ann speed-limit > Bob | Bob right-of-way ! |
    [fast-remedy=yes] Ann roll; Bob discard 25; Ann speed-limit > Bob | Bob end-of-limit ! | first-card
A roll lies on a stop or an empty pile, although right of way is out, and on nothing else.
    Ann roll; Bob roll; Ann 25; Bob stop > Ann | Ann roll |
    Ann right-of-way | Ann roll |
    Ann roll; Bob roll | Ann roll | already-rolling
    Ann roll; Bob roll; Ann right-of-way | Ann roll | already-rolling
    Ann roll; Bob roll; Ann 25; Bob accident > Ann; Ann repairs; Bob 25 | Ann roll | nothing-to-remedy
    Ann roll; Bob roll; Ann 25; Bob {damage} > Ann | Ann roll | under-hazard
After a remedy the car drives at once.
    Ann roll; Bob roll; Ann 25; Bob {hazard} > Ann | Ann 100 | under-hazard
    Ann roll; Bob roll; Ann 25; Bob {hazard} > Ann; Ann {remedy}; Bob 25 | Ann 100 |
A remedy lies on its own hazard.
    Ann roll; Bob roll; Ann 25; Bob accident > Ann | Ann gasoline, Ann spare-tire | nothing-to-remedy
    Ann roll; Bob roll | Ann repairs, Ann gasoline, Ann spare-tire | nothing-to-remedy
A remedy out of turn is refused unless the house plays so.
    [three] Ann roll; Bob roll; Cid roll; Ann 25; Bob accident > Ann | Ann repairs ! | not-your-turn
    [three fast-remedy=yes] Ann roll; Bob roll; Cid roll; Ann 25; Bob accident > Ann | Ann repairs ! |
A hazard is laid on an opponent who drives.
    Ann roll; Bob discard 25; Ann 25; Bob roll; Ann 25 | Bob {hazard} > Ann |
    Ann roll; Bob discard 25 | Ann {hazard} > Bob | opponent-not-driving
    [pairs] Ann roll; Bob roll; Cid 25; Dee 25 | Ann stop > Blues |
    [pairs] Ann roll; Bob roll; Cid 25; Dee 25 | Ann stop > Reds | own-side
Right of way opens an empty battle pile to hazards, and a remedy a remedied one.
    Ann right-of-way; Ann 25; Bob roll; Ann 25 | Bob flat-tire > Ann |
    Ann right-of-way; Ann 25; Bob roll; Ann 25 | Bob stop > Ann | protected
    Ann roll; Bob roll; Ann 25; Bob accident > Ann; Ann repairs | Bob flat-tire > Ann, Bob accident > Ann |
A hazard on a hazard is refused, and a limit beside it is not.
    [three] Ann roll; Bob roll; Cid roll; Ann 25; Bob {hazard} > Ann | Cid flat-tire > Ann | already-attacked
    [three] Ann roll; Bob roll; Cid roll; Ann 25; Bob {hazard} > Ann | Cid speed-limit > Ann |
A speed limit is laid before the opponent has begun, and on no other limit.
    Ann roll; Bob discard 25 | Ann speed-limit > Bob |
    Ann roll; Bob roll; Ann speed-limit > Bob; Bob 25 | Ann speed-limit > Bob | already-limited
    Ann roll; Bob roll; Ann speed-limit > Bob; Bob 25; Ann 25; Bob end-of-limit | Ann speed-limit > Bob |
A side lays at most two 200s.
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25 | Ann 200 | third-200
1000 miles may be passed unless the house says otherwise.
    {TO_975} | Ann 100 |
    [overshoot=forbidden] {TO_975} | Ann 50 | past-target
    [overshoot=forbidden] {TO_975} | Ann 25 |
A late safety on a remedied pile needs no roll.
    Ann roll; Bob roll; Ann 25; Bob accident > Ann; Ann repairs; Bob flat-tire > Ann; Ann puncture-proof | Ann 100 |
The next card drawn or played by anyone closes the window.
    [three] {ATTACKED} | Ann right-of-way ! |
    [three] {ATTACKED}; Cid 25 | Ann right-of-way ! | coup-fourre-window-closed
    [three] {ATTACKED}; Cid discard 25 | Ann right-of-way ! | coup-fourre-window-closed
    [three] {ATTACKED}; Cid skip-draw | Ann right-of-way ! | coup-fourre-window-closed
    [three] {ATTACKED}; Cid driving-ace | Ann right-of-way ! | coup-fourre-window-closed
    [three] {ATTACKED}; Cid take | Ann right-of-way ! | coup-fourre-window-closed
Either partner may claim a coup fourré, and no opponent.
    [pairs] Ann roll; Bob roll; Cid 25; Dee 25; Ann stop > Blues | Bob right-of-way !, Dee right-of-way ! |
    [pairs] Ann roll; Bob roll; Cid 25; Dee 25; Ann stop > Blues | Cid right-of-way ! | no-attack-to-answer
"""
TO_975 = f"{TO_800}; Ann 100; Bob 50; Ann 75; Bob 50"
ATTACKED = "Ann roll; Bob roll; Cid discard 25; Ann 25; Bob discard 25; Cid roll; Ann 25; Bob stop > Ann"


@pytest.mark.parametrize("row", rows(SHEET, TO_975=TO_975, ATTACKED=ATTACKED))
def test_a_row_of_the_sheet(row):
    row.holds("asmodee-2014")


# A turn


def test_the_top_of_the_discard_pile_may_be_drawn_instead():
    taken = asmodee("Ann discard 100; Bob discard 75; Ann take")

    assert (taken.table.discards, taken.cards_of("Ann"), taken.table.draw_pile) == ((Card.KM_100,), 7, 92)
    assert taken.then("Ann roll").table.hands == (6, 6)


def test_a_forgotten_draw_is_not_made_up_for():
    forgot = asmodee("Ann skip-draw; Ann roll; Bob roll; Ann 25")

    assert (forgot.cards_of("Ann"), forgot.table.draw_pile) == (5, 92)


def test_any_card_may_be_discarded_at_any_time():
    played = asmodee("Ann roll; Bob roll")

    for slug in ("25", "roll", "stop", "right-of-way"):
        assert played.against(f"Ann discard {slug}") == []
        assert referee.remarks(played.table, played.parsed(f"Ann discard {slug}")) == ()


def test_a_discard_is_remarked_upon_where_the_house_plays_so():
    strict = asmodee(options=["discard=when-stuck"])
    play = strict.parsed("Ann discard 25")

    assert strict.against("Ann discard 25") == []
    assert [why.code for why in referee.remarks(strict.table, play)] == ["discard-only-when-stuck"]


@pytest.fixture
def empty():
    """A hand whose draw pile has just run out, the four safeties in the players' hands."""
    return run_down(asmodee(), "roll 50" + " 25" * 6)


def test_the_discards_become_the_draw_pile_when_a_card_is_needed(empty):
    drawn = empty.then("Ann roll").table

    assert (empty.table.draw_pile, len(empty.table.discards), empty.turn) == (0, 94, "Ann")
    assert (drawn.draw_pile, drawn.discards, drawn.hands) == (93, (), (6, 6))


def test_with_the_draw_pile_empty_the_top_discard_may_still_be_drawn(empty):
    taken = empty.then("Ann take; Ann roll")

    assert (taken.table.draw_pile, len(taken.table.discards)) == (0, 93)


def test_reshuffled_cards_may_be_played_again(empty):
    assert empty.against("Ann discard accident") == []
    assert empty.then("Ann skip-draw").against("Ann discard accident") == ["too-many-copies"]
    assert empty.then("Ann roll").against("Bob discard accident") == []


def test_a_reshuffle_may_be_written_down():
    written = asmodee("Ann roll; Bob discard 25; Ann 100; Bob discard 50; Ann 75; Bob discard 75; exhausted").table

    assert (written.draw_pile, written.discards) == (3, ())


def test_a_race_is_never_exhausted(empty):
    assert empty.then("end").result.how == "agreed"


@pytest.mark.parametrize("cards", [1, 6])
def test_an_exchange_is_of_one_to_six_cards(cards):
    exchanged = asmodee("Ann exchange" + " 25" * cards, options=["exchange=yes"])

    assert (exchanged.cards_of("Ann"), exchanged.table.draw_pile, exchanged.turn) == (6, 94 - cards, "Bob")


# Safeties


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_late_safety_throws_its_hazard_out_and_the_car_drives_on(hazard):
    late = asmodee(f"Ann roll; Bob roll; Ann 25; Bob {hazard} > Ann; Ann discard 25; Bob 25; Ann {SAFETY_OF[hazard]}")

    assert (late.side("Ann").battle, late.table.discards[-1]) == ((Card.ROLL,), hazard)
    assert late.against("Ann 100") == []
    assert late.against("Ann roll") == ["already-rolling"]


# Coup fourré


def test_a_coup_fourre_refills_one_card_has_a_whole_turn_and_skips_the_players_between():
    claimed = asmodee("Ann roll; Bob roll; Cid roll; Ann stop > Cid; Cid right-of-way !", THREE)

    assert (claimed.turn, claimed.table.draw_pile, claimed.cards_of("Cid")) == ("Cid", 83, 6)
    assert claimed.against("Bob 25") == ["not-your-turn"]
    assert claimed.then("Cid 100").turn == "Ann"
    assert (claimed.then("Cid 100").table.draw_pile, claimed.then("Cid 100").cards_of("Cid")) == (82, 6)


# The end of the race


@pytest.mark.parametrize(
    ("plays", "km"),
    [
        (f"{TO_800}; Ann driving-ace", 900),
        (f"{TO_800}; Ann driving-ace; Ann 75; Bob 50", 975),
        ("Ann roll; Bob roll; Ann 100; Bob stop > Ann; Ann right-of-way !", 300),
    ],
)
def test_a_safety_is_100_miles_and_a_coup_fourre_200_in_all(plays, km):
    played = asmodee(plays)

    assert played.table.race_km(played.side("Ann")) == km
    assert not played.table.is_over


@pytest.mark.parametrize(
    ("plays", "total"),
    [
        (f"{TO_975}; Ann 100", 1075),
        (f"{TO_800}; Ann driving-ace; Ann extra-tank", 1000),
        (f"{TO_800}; Ann 25; Bob stop > Ann; Ann right-of-way !", 1025),
    ],
)
def test_a_distance_a_safety_or_a_coup_fourre_completes_the_race(plays, total):
    won = asmodee(plays)

    assert (won.result.how, won.result.by, won.result.winner) == ("completed", "Ann", "Ann")
    assert won.result.sheets["Ann"].total == total
    assert won.against("Ann 25") == ["hand-over"]


def test_there_is_no_extension_even_at_700():
    done = asmodee(
        "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25; Ann 100", target=700
    )

    assert (done.result.how, done.result.by) == ("completed", "Ann")
    assert done.against("Ann extend") == ["hand-over"]


# Scoring


def test_the_sheet_holds_miles_safeties_and_coups_fourres_and_no_bonus():
    won = asmodee(f"{TO_800}; Ann driving-ace; Ann 25; Bob stop > Ann; Ann right-of-way !")

    assert won.points("Ann") == {"distance": 825, "safeties": 200, "coups-fourres": 100}
    assert won.points("Bob") == {"distance": 150}


def test_all_four_safeties_bring_nothing_more():
    won = asmodee("Ann right-of-way; Ann driving-ace; Ann extra-tank; Ann puncture-proof", target=400)

    assert won.points("Ann") == {"distance": 0, "safeties": 400}


@pytest.mark.parametrize(("options", "total", "winner"), [([], 200, "Ann"), (["match=5000"], 400, None)])
def test_one_race_is_the_match_unless_the_house_says_otherwise(options, total, winner):
    lines = header(edition="asmodee-2014", target=200, options=options)
    race = ["Ann roll", "Bob roll", "Ann 200"]
    first, second = results("\n".join([*lines, *race, "hand first Ann", *race]))

    assert (first.match, first.winner) == ({"Ann": 200, "Bob": 0}, winner)
    assert (second.match, second.winner) == ({"Ann": total, "Bob": 0}, winner)

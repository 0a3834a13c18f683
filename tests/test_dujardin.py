"""The French Dujardin sheet of 2014: what differs from sheet to sheet (test_every_sheet.py has the other rows)."""

from __future__ import annotations

import pytest
from records import BATTLE_HAZARDS, DEALT_TO_EIGHT, EIGHT, THREE, TWO, Hand, hand, rows, run_down, teams

from companion.rules import referee
from companion.rules.cards import SAFETY_OF, Card
from companion.rules.editions.edition import EditionError, load_edition

TO_900 = "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25" + "; Ann 100; Bob 25" * 5


def dujardin(plays: str = "", players: str = TWO, **more) -> Hand:
    return hand(plays, players, edition="dujardin-2014", **more)


# Setting up


@pytest.mark.parametrize(("players", "draw_pile"), DEALT_TO_EIGHT)
def test_two_to_eight_play_to_1000_and_from_four_on_in_pairs(players, draw_pile):
    table = dujardin(players=players).table

    assert (table.target, table.draw_pile, sum(table.deck.values())) == (1000, draw_pile, 106)


@pytest.mark.parametrize("players", ["Ann", f"{EIGHT}, Ian", "Reds = Ann Bob"])
def test_other_numbers_of_players_are_refused(players):
    with pytest.raises(EditionError, match="8 in pairs"):
        referee.check_seating(load_edition("dujardin-2014"), teams(players))


# A turn


SHEET = """
Cards are drawn from the draw pile only; nothing is exchanged, fetched, passed or lost by a mistake.
    Ann discard 100 | Bob take, Bob pair 50 for 100 | cannot-take-discard
    | Ann exchange 25 | no-exchange
    | Ann penalty 50 | no-penalty
    | Ann pass | no-passing
Any card may be discarded.
    | Ann discard 25, Ann discard right-of-way |
A roll or right of way starts the car once.
    | Ann 100 | not-driving
    Ann roll; Bob roll | Ann 100 |
    Ann right-of-way | Ann 100 |
    Ann roll; Bob {hazard} > Ann | Ann 25 | under-hazard
    Ann roll; Bob {hazard} > Ann; Ann {remedy}; Bob discard 25 | Ann 100 |
A roll is laid to start, although right of way is out, and on a stop alone.
    | Ann roll |
    Ann right-of-way | Ann roll |
    Ann roll; Bob stop > Ann | Ann roll |
    Ann roll; Bob roll | Ann roll | already-rolling
    Ann roll; Bob roll; Ann right-of-way | Ann roll | already-rolling
    Ann roll; Bob accident > Ann | Ann roll | under-hazard
    Ann roll; Bob accident > Ann; Ann repairs; Bob roll | Ann roll | nothing-to-remedy
A remedy is laid on its own hazard, and in turn.
    Ann roll; Bob roll | Ann repairs, Ann gasoline, Ann spare-tire | nothing-to-remedy
    Ann roll; Bob stop > Ann | Ann repairs, Ann gasoline, Ann spare-tire | nothing-to-remedy
    [three] Ann roll; Bob accident > Ann | Ann repairs ! | not-your-turn
A hazard is laid on an opponent who drives.
    Ann roll | Bob {hazard} > Ann |
    Ann discard 25 | Bob {hazard} > Ann | opponent-not-driving
    Ann roll; Bob accident > Ann; Ann repairs | Bob flat-tire > Ann |
    Ann right-of-way; Ann 25 | Bob flat-tire > Ann |
    Ann right-of-way; Ann 25 | Bob stop > Ann | protected
A second hazard is refused, and a limit beside one is not.
    [three] Ann roll; Bob {hazard} > Ann | Cid flat-tire > Ann | already-attacked
    [three] Ann roll; Bob {hazard} > Ann | Cid speed-limit > Ann |
    [three] Ann speed-limit > Cid | Bob speed-limit > Cid | already-limited
    [three] Ann discard 25 | Bob speed-limit > Cid |
At most two 200s are laid.
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25 | Ann 200 | third-200
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25 | Ann 100 |
1000 is reached exactly.
    {TO_900}; Ann 75; Bob 50 | Ann 50 | past-target
    {TO_900}; Ann 75; Bob 50 | Ann 25 |
A coup fourré comes in time or too late.
    [three] Ann roll; Bob stop > Ann | Ann right-of-way ! |
    [three] Ann roll; Bob stop > Ann; Cid roll | Ann right-of-way ! | coup-fourre-window-closed
"""


@pytest.mark.parametrize("row", rows(SHEET, TO_900=TO_900))
def test_a_row_of_the_sheet(row):
    row.holds("dujardin-2014")


def test_mistakes_stay_as_they_are():
    forgot = dujardin("Ann skip-draw; Ann roll; Bob roll; Ann 25")
    past = dujardin(f"{TO_900}; Ann 75; Bob 50").then("Ann 50", as_lies=True)

    assert (forgot.cards_of("Ann"), forgot.table.draw_pile) == (5, 92)
    assert past.side("Ann").km == 1025
    assert referee.remarks(dujardin().table, dujardin().parsed("Ann discard 25")) == ()


def test_a_safety_gives_no_km():
    played = dujardin("Ann driving-ace; Ann extra-tank")

    assert played.table.race_km(played.side("Ann")) == 0


# Safeties and coup fourré


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_late_safety_throws_its_hazard_out_and_the_car_drives_on(hazard):
    late = dujardin(f"Ann roll; Bob {hazard} > Ann; Ann discard 25; Bob discard 25; Ann {SAFETY_OF[hazard]}")

    assert late.side("Ann").battle == (Card.ROLL,)
    assert late.against("Ann 100") == []


@pytest.mark.parametrize("hazard", [*BATTLE_HAZARDS, Card.SPEED_LIMIT])
def test_a_coup_fourre_draws_two_and_skips_the_players_between(hazard):
    attacked = dujardin(f"Ann roll; Bob roll; Cid roll; Ann {hazard} > Cid", THREE)
    claimed = attacked.then(f"Cid {SAFETY_OF[hazard]} !")

    assert claimed.turn == "Cid"
    assert claimed.against("Bob 25") == ["not-your-turn"]
    assert attacked.table.draw_pile - claimed.then("Cid 100").table.draw_pile == 2
    assert (claimed.then("Cid 100").cards_of("Cid"), claimed.then("Cid 100").turn) == (6, "Ann")


# The end of the race


def test_the_first_at_exactly_1000_wins():
    won = dujardin(f"{TO_900}; Ann 75; Bob 50; Ann 25")

    assert (won.result.how, won.result.by, won.result.winner) == ("completed", "Ann", "Ann")


def test_there_is_no_extension():
    reached = dujardin(TO_900.removesuffix("; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25"), target=700)

    assert (reached.result.how, reached.result.by) == ("completed", "Ann")
    assert reached.against("Ann extend") == ["hand-over"]


def test_when_the_draw_pile_is_used_up_whoever_is_nearest_wins():
    driven = dujardin("Ann roll; Bob roll; Cid roll; Ann 100; Bob 200; Cid 75", THREE)
    nearest = run_down(driven, left=0)

    assert (nearest.result.how, nearest.result.by, nearest.result.winner) == ("exhausted", None, "Bob")


def test_the_card_that_is_drawn_last_is_still_played():
    last = run_down(dujardin("Ann roll; Bob roll; Ann 100; Bob 100; Ann 25; Bob discard 25"), "200 50", left=1)

    assert not last.table.is_over
    assert last.then(f"{last.turn} 200").result.winner == last.turn


@pytest.mark.parametrize("line", ["Bob driving-ace", "Bob stop > Ann"])
def test_with_the_draw_pile_used_up_nobody_plays_on(line):
    last = run_down(dujardin("Ann roll; Bob roll; Ann 100; Bob 75"), "stop", left=1).then(line)

    assert (last.result.how, last.result.winner) == ("exhausted", "Ann")
    assert last.against("Ann right-of-way !") == ["hand-over"]


def test_two_equally_near_leave_no_winner():
    level = dujardin("Ann roll; Bob roll; Ann 100; Bob 100")

    assert run_down(level).result.winner is None


def test_a_side_that_lies_beyond_1000_is_not_the_nearest():
    beyond = dujardin(f"{TO_900}; Ann 200", as_lies=True)

    assert run_down(beyond).result.winner == "Bob"


# Scoring


def test_there_are_no_points_but_the_distance():
    won = dujardin("Ann roll; Bob stop > Ann; Ann right-of-way !; Ann driving-ace; Ann 200", target=200)

    assert won.points("Ann") == {"distance": 200}
    assert won.result.sheets["Ann"].total == 200


def test_one_race_is_the_match():
    won = dujardin("Ann roll; Bob roll; Ann 200", target=200)

    assert (won.result.match, won.result.winner) == ({"Ann": 200, "Bob": 0}, "Ann")

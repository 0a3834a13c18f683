"""Swiss tournaments: the standings as one counts them by hand, nobody meets twice, and nobody rests twice."""

from __future__ import annotations

import random

import pytest
from click.testing import CliRunner

from companion.app.club_commands import club
from companion.club.swiss import Encounter, paired, read, standings
from companion.common.errors import Problem

BY_HAND = """
# four sides, two rounds
Ann
Bob
Cid
Dee

1, Ann, 3000, Bob, 1000
1, Cid, 2000, Dee, 2000
2, Ann, 1500, Cid, 2500
2, Dee, 900, Bob, 700
"""


def table(text: str = BY_HAND) -> list[tuple]:
    return [
        (one.side, one.won, one.buchholz, one.difference, one.points)
        for one in standings(*read(text.splitlines(), "x"))
    ]


def test_the_standings_are_those_that_one_counts_by_hand():
    # Cid and Dee have won 3 each: Cid has met Dee (3) and Ann (2), Dee has met Cid (3) and Bob (0).
    assert table() == [
        ("Cid", 3, 5, 1000, 4500),
        ("Dee", 3, 3, 200, 2900),
        ("Ann", 2, 3, 1000, 4500),
        ("Bob", 0, 5, -2200, 1700),
    ]


def test_those_who_stand_nearest_and_have_not_met_play_next():
    assert paired(standings(*read(BY_HAND.splitlines(), "x"))) == [("Cid", "Bob"), ("Dee", "Ann")]


def test_the_first_round_is_as_it_was_drawn():
    assert paired(standings(["Ann", "Bob", "Cid", "Dee"], [])) == [("Ann", "Bob"), ("Cid", "Dee")]


def test_where_their_number_is_odd_the_last_who_has_not_rested_rests():
    sides = ["Ann", "Bob", "Cid"]
    first = [Encounter(1, "Ann", "Bob", (2, 1)), Encounter(1, "Cid")]

    assert paired(standings(sides, [])) == [("Ann", "Bob"), ("Cid", None)]
    assert paired(standings(sides, first)) == [("Ann", "Cid"), ("Bob", None)]


def test_two_sides_who_have_met_meet_again_where_there_is_nobody_else():
    played = [Encounter(1, "Ann", "Bob", (2, 1))]

    assert paired(standings(["Ann", "Bob"], played)) == [("Ann", "Bob")]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("count", [9, 16, 32])
def test_in_a_whole_tournament_nobody_meets_twice_nobody_rests_twice_and_nothing_is_lost(count, seed):
    chance, sides = random.Random(seed), [f"Side {number}" for number in range(1, count + 1)]
    games: list[Encounter] = []
    for number in range(1, 6):
        for first, second in paired(standings(sides, games)):
            points = (0, 0) if second is None else (chance.randrange(0, 5000, 25), chance.randrange(0, 5000, 25))
            games.append(Encounter(number, first, second, points))

    met = [frozenset((game.first, game.second)) for game in games]
    assert len(met) == len(set(met))
    for number in range(1, 6):
        seated = [side for game in games if game.round == number for side in (game.first, game.second) if side]
        assert sorted(seated) == sorted(sides)
    found = standings(sides, games)
    assert sum(one.won for one in found) == 2 * len(games)
    assert sum(one.difference for one in found) == 0
    for one in found:
        ours = [game for game in games if one.side in (game.first, game.second)]
        assert one.won == sum(game.won()[game.second == one.side] for game in ours)
        assert one.points == sum(game.points[game.second == one.side] for game in ours)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("Ann", "Ann stands there twice"),
        ("1, Ann, 3000, Zoe, 1000", "Zoe is none of those who play"),
        ("1, Ann, much, Bob, 1000", "a game is written as"),
        ("0, Ann, 1, Bob, 2", "a game is written as"),
        ("1, Ann, 1, Bob", "a game is written as"),
        ("1, Ann, 1, Ann, 2", "Ann plays twice in round 1"),
        ("2, Cid, 1, Bob, 2", "Cid plays twice in round 2"),
        ("bye", "nobody can be called bye"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(line, says):
    with pytest.raises(Problem, match=f"saturday.csv, line 12: .*{says}"):
        read([*BY_HAND.splitlines(), line, ""], "saturday.csv")


def test_the_command_says_how_it_stands_and_who_plays_next(tmp_path):
    (tmp_path / "saturday.csv").write_text(BY_HAND)

    said = CliRunner().invoke(club, ["pair", str(tmp_path / "saturday.csv")]).output.splitlines()

    assert said[1].split() == ["1.", "Cid", "3", "5", "+1000", "4500"]
    assert said[-3:] == ["Round 3", "Table 1: Cid – Bob", "Table 2: Dee – Ann"]

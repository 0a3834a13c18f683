"""Swiss tournaments: the standings as one counts them by hand, nobody meets twice, and nobody rests twice."""

import random

import pytest

from companion.club.swiss import Encounter, seated, standings

FOUR = ["Ann", "Bob", "Cid", "Dee"]
BY_HAND = [
    Encounter(("Ann", "Bob"), (3000, 1000)),
    Encounter(("Cid", "Dee"), (2000, 2000)),
    Encounter(("Ann", "Cid"), (1500, 2500)),
    Encounter(("Dee", "Bob"), (900, 700)),
]


def figures(found) -> list[tuple]:
    return [(one.side, one.won, one.buchholz, one.difference, one.points) for one in found]


def test_the_standings_are_those_that_one_counts_by_hand():
    # Cid and Dee have won 3 each: Cid has met Dee (3) and Ann (2), Dee has met Cid (3) and Bob (0).
    assert figures(standings(FOUR, BY_HAND)) == [
        ("Cid", 3, 5, 1000, 4500),
        ("Dee", 3, 3, 200, 2900),
        ("Ann", 2, 3, 1000, 4500),
        ("Bob", 0, 5, -2200, 1700),
    ]


def test_those_who_stand_nearest_and_have_not_met_play_next():
    assert seated(standings(FOUR, BY_HAND)) == [("Cid", "Bob"), ("Dee", "Ann")]


def test_where_their_number_is_odd_the_last_who_has_not_rested_rests():
    sides = ["Ann", "Bob", "Cid"]
    first = [Encounter(("Ann", "Bob"), (2, 1)), Encounter(("Cid",))]

    assert seated(standings(sides, [])) == [("Ann", "Bob"), ("Cid",)]
    assert seated(standings(sides, first)) == [("Ann", "Cid"), ("Bob",)]


def test_two_sides_who_have_met_meet_again_where_there_is_nobody_else():
    played = [Encounter(("Ann", "Bob"), (2, 1))]

    assert seated(standings(["Ann", "Bob"], played)) == [("Ann", "Bob")]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("count", [9, 16, 32])
def test_in_a_whole_tournament_nobody_meets_twice_nobody_rests_twice_and_nothing_is_lost(count, seed):
    chance, sides = random.Random(seed), [f"Side {number}" for number in range(1, count + 1)]
    games: list[Encounter] = []
    for _round in range(5):
        tables = seated(standings(sides, games))
        assert sorted(side for there in tables for side in there) == sorted(sides)
        for there in tables:
            points = tuple(chance.randrange(0, 5000, 25) for _ in there) if len(there) > 1 else ()
            games.append(Encounter(there, points))

    met = [frozenset(game.sides) for game in games]
    assert len(met) == len(set(met))
    found = standings(sides, games)
    assert sum(one.won for one in found) == 2 * len(games)
    assert sum(one.difference for one in found) == 0
    for one in found:
        ours = [(game, game.sides.index(one.side)) for game in games if one.side in game.sides]
        assert one.won == sum(game.won()[place] for game, place in ours)
        assert one.points == sum(game.points[place] for game, place in ours if game.points)


@pytest.mark.parametrize(
    ("points", "won"),
    [
        ((900, 400, 700, 0), (6, 2, 4, 0)),
        ((900, 400, 900, 0), (5, 2, 5, 0)),  # who is level shares the places
        ((900, 400, 700), (6, 2, 4)),  # nobody is worse off for an empty seat
        ((0, 0, 0, 0), (3, 3, 3, 3)),
    ],
)
def test_at_a_table_of_four_each_place_counts_two_more_than_the_next(points, won):
    assert Encounter(tuple(FOUR[: len(points)]), points, seats=4).won() == won


def test_at_a_table_of_more_than_two_whoever_was_met_counts_once_each_for_buchholz_and_difference():
    found = standings(FOUR, [Encounter(tuple(FOUR), (900, 400, 700, 0), seats=4)])

    # Ann: 4 + 2 + 0 of those met; 500 + 200 + 900 ahead of them.
    assert figures(found)[0] == ("Ann", 6, 6, 1600, 900)
    assert sum(one.difference for one in found) == 0


@pytest.mark.parametrize(
    ("count", "seats", "sizes"), [(8, 4, [4, 4]), (7, 4, [4, 3]), (5, 4, [3, 2]), (13, 6, [5, 4, 4])]
)
def test_tables_are_as_full_as_each_other_and_who_sits_at_a_small_one_does_so_once(count, seats, sizes):
    sides = [f"Side {number}" for number in range(count)]
    first = seated(standings(sides, []), seats)
    games = [Encounter(there, tuple(range(len(there))), seats) for there in first]
    second = seated(standings(sides, games), seats)

    assert [len(there) for there in first] == [len(there) for there in second] == sizes
    assert sorted(side for there in second for side in there) == sorted(sides)
    if sizes == [4, 3]:
        assert not set(first[-1]) & set(second[-1])


def test_of_sixteen_at_tables_of_four_hardly_anybody_meets_somebody_again():
    sides, games = [f"Side {number}" for number in range(16)], []
    for number in (1, 2, 3):
        for there in seated(standings(sides, games), 4):
            games.append(Encounter(there, tuple((sides.index(side) * 7 + number) % 16 for side in there), 4))

    met = [one.met for one in standings(sides, games)]
    assert sum(len(others) - len(set(others)) for others in met) <= 8  # of 144 meetings

"""Tournaments without a database: deeds, draws, results and standings."""

from datetime import UTC, datetime

import pytest

from companion.club import tournament as t
from companion.club.deed import Deed
from companion.common.errors import Problem

PLAN = {"name": "Friday", "edition": "classic", "system": "swiss", "is_of_pairs": False, "rounds": 3, "hands": 0}
FOUR = ("Ann", "Bob", "Cid", "Dee")
TABLES = (t.TableThere("a", "Table 1", 10), t.TableThere("b", "Table 2", 20))


def deed(kind: str, body: dict, age_s: float = 0) -> Deed:
    return Deed(1, "tournament:1", kind, "Eve", datetime(2026, 1, 1, tzinfo=UTC), age_s, body)


class Evening:
    """A tournament built from its deeds."""

    def __init__(self, names=FOUR, **plan) -> None:
        self.log = [deed("create", {**PLAN, "minutes": 45, **plan})]
        self.played: list[t.Played] = []
        self.do("enter", t.entered(self.now, "\n".join(names)))

    @property
    def now(self) -> t.Tournament:
        return t.tournament(self.log)

    @property
    def results(self):
        return t.results(self.now, self.played)

    def do(self, kind: str, body: dict, age_s: float = 0) -> None:
        self.log.append(deed(kind, body, age_s))

    def draw(self, number: int, lot=None) -> list[tuple]:
        lot = [side.name for side in self.now.sides] if lot is None else lot
        self.do("draw", t.drawn(self.now, self.results, number, TABLES, lot))
        return [(seat.place, *seat.sides) for seat in self.now.rounds[-1]]

    def type(self, number: int, first: str, *points: object) -> None:
        form = {f"points{place}": str(one) for place, one in enumerate(points)}
        self.do("result", t.typed(self.now, {"round": str(number), "first": first, **form}))

    def plays(self, table: str, match: int, *each: tuple, winner=None, counted=None) -> None:
        sides = [{"name": name, "players": [name], "total": total} for name, total in each]
        self.played.append(t.Played(table, match, {"sides": sides, "winner": winner, "edition": "classic"}, counted))

    def stand(self) -> list[str]:
        return [one.side for one in t.standings(self.now, self.results)]


def begun(names=FOUR, **plan) -> Evening:
    """A tournament after the first draw: Ann plays Bob, and Cid plays Dee."""
    evening = Evening(names, **plan)
    evening.draw(1)
    return evening


def test_the_first_round_follows_the_lot_and_the_next_the_standings():
    evening = Evening()

    assert evening.draw(1, ["Dee", "Ann", "Cid", "Bob"]) == [("Table 1", "Dee", "Ann"), ("Table 2", "Cid", "Bob")]
    evening.type(1, "Dee", 100, 900)
    evening.type(1, "Cid", 700, 100)
    assert evening.stand() == ["Ann", "Cid", "Bob", "Dee"]
    assert evening.draw(2) == [("Table 1", "Ann", "Cid"), ("Table 2", "Bob", "Dee")]


def test_a_side_without_an_opponent_gets_a_bye_that_counts_as_a_win():
    evening = Evening(("Ann", "Bob", "Cid"))

    assert evening.draw(1) == [("Table 1", "Ann", "Bob"), ("", "Cid")]
    evening.type(1, "Ann", 0, 100)
    assert evening.stand() == ["Bob", "Cid", "Ann"]


def test_in_a_round_robin_of_five_all_sides_meet_and_rest_once():
    evening = Evening((*FOUR, "Eve"), system="round-robin", rounds=1)
    met, rested = set(), []

    for number in range(1, evening.now.length + 1):
        for _place, first, *others in evening.draw(number):
            if others:
                met.add(frozenset((first, *others)))
                evening.type(number, first, 100, 50)
            else:
                rested.append(first)

    assert evening.now.length == 5
    assert len(met) == 10
    assert sorted(rested) == sorted((*FOUR, "Eve"))
    with pytest.raises(Problem, match="All rounds have been played"):
        evening.draw(6)


def test_the_opponent_of_a_side_that_left_gets_a_bye():
    evening = begun(system="fixed")
    evening.type(1, "Ann", 1, 0)
    evening.type(1, "Bob", 1, 0)
    evening.do("leave", t.left(evening.now, "Dee"))

    assert evening.draw(2) == [("Table 1", "Ann", "Cid"), ("", "Bob")]


def test_a_result_comes_from_the_sides_match_begun_after_the_draw():
    evening = begun()
    evening.plays("a", 9, ("Ann", 5000), ("Bob", 0), winner="Ann")  # before the draw
    evening.plays("a", 11, ("Zoe", 300), ("Bob", 0))
    evening.plays("a", 15, ("bob", 200), ("ANN", 700))  # case and order of names do not matter
    evening.plays("b", 21, ("Zoe", 300), ("Dee", 0))

    first, second = evening.results
    assert (first.points, first.is_final, first.is_typed) == ((700, 200), False, False)
    assert (second.points, second.others) == (None, "Zoe – Dee")
    evening.plays("a", 30, ("Ann", 800), ("Bob", 5100), winner="Bob")
    assert (evening.results[0].points, evening.results[0].is_final) == ((800, 5100), True)


def test_with_a_fixed_number_of_hands_the_points_after_the_last_count():
    evening = begun(hands=2)
    evening.plays("a", 12, ("Ann", 900), ("Bob", 100), counted={"Ann": 400, "Bob": 100})

    assert (evening.results[0].points, evening.results[0].is_final) == ((400, 100), True)


def test_a_typed_result_replaces_the_tables_until_it_is_withdrawn():
    evening = begun()
    evening.plays("a", 12, ("Ann", 900), ("Bob", 100), winner="Ann")
    evening.type(1, "Ann", 100, 200)

    assert (evening.results[0].points, evening.results[0].is_typed) == ((100, 200), True)
    evening.type(1, "Ann", "", "")
    assert (evening.results[0].points, evening.results[0].is_typed) == ((900, 100), False)


def test_matches_after_the_next_draw_belong_to_that_round():
    evening = begun()
    evening.type(1, "Cid", 100, 0)
    evening.plays("a", 12, ("Ann", 900), ("Bob", 100), winner="Ann")
    tables = [t.TableThere("a", "Table 1", 50)]
    evening.do("draw", t.drawn(evening.now, evening.results, 2, tables, FOUR))
    evening.plays("a", 60, ("Ann", 0), ("Bob", 5000), winner="Bob")

    assert evening.results[0].points == (900, 100)


def test_the_clock_runs_stops_and_ends_with_the_next_draw():
    evening = begun()
    evening.do("clock", t.clocked(evening.now, "start"), age_s=600)
    assert evening.now.clock == (2100, True)

    evening.do("clock", t.clocked(evening.now, "stop"), age_s=900)
    assert evening.now.clock == (2100, False)
    evening.do("clock", t.clocked(evening.now, "start"), age_s=5000)
    assert evening.now.clock == (0, True)
    evening.do("clock", t.clocked(evening.now, "again"))
    assert evening.now.clock == (2700, True)
    evening.type(1, "Ann", 1, 0)
    evening.type(1, "Cid", 1, 0)
    evening.draw(2)
    assert evening.now.clock is None


def test_a_draw_can_be_undone_before_play_and_undoing_the_first_clears_the_lot():
    evening = begun()
    evening.do("undraw", t.undrawn(evening.now, evening.results, 1))
    assert (evening.now.rounds, evening.now.lot) == ((), ())

    evening.draw(1, ["Bob", "Ann", "Dee", "Cid"])
    evening.type(1, "Bob", 5, 0)
    with pytest.raises(Problem, match="This round has started"):
        t.undrawn(evening.now, evening.results, 1)


def test_both_players_of_a_pair_must_be_on_one_side():
    evening = begun(("Ann & Bob", "Cid, Dee"), is_of_pairs=True)
    sides = [{"name": "x", "players": ["Dee", "Cid"], "total": 3}, {"name": "y", "players": ["Ann", "Bob"], "total": 4}]
    evening.played.append(t.Played("a", 11, {"sides": sides, "winner": None, "edition": "rush"}, None))

    assert (evening.results[0].points, evening.results[0].edition) == ((4, 3), "rush")


def test_a_player_is_found_in_either_unicode_spelling_of_the_name():
    evening = begun(("Zoe\u0308", "Bob"))
    evening.plays("a", 11, ("Zo\u00eb", 3), ("Bob", 4))

    assert evening.results[0].points == (3, 4)


@pytest.mark.parametrize("system", ["swiss", "fixed"])
def test_single_players_can_play_at_tables_of_four(system):
    evening = Evening((*FOUR, "Eve", "Flo", "Gus", "Hal"), seats=4, edition="rush", system=system)
    assert evening.draw(1) == [("Table 1", *FOUR), ("Table 2", "Eve", "Flo", "Gus", "Hal")]
    evening.plays("a", 11, ("Ann", 100), ("Bob", 50), ("Cid", 75))  # without Dee
    evening.plays("a", 12, ("Dee", 100), ("Bob", 900), ("Ann", 700), ("Cid", 300), winner="Bob")
    evening.type(1, "Eve", 25, 50, 75, 100)

    assert [(one.points, one.is_final) for one in evening.results] == [
        ((700, 900, 300, 100), True),
        ((25, 50, 75, 100), True),
    ]
    # 6, 4, 2, 0 points at each table; ties are broken by the difference to all three opponents.
    assert evening.stand() == ["Bob", "Hal", "Ann", "Gus", "Flo", "Cid", "Eve", "Dee"]
    # Each table gets two sides of each previous table, as near in the standings as possible.
    swiss = [("Table 1", "Bob", "Hal", "Ann", "Gus"), ("Table 2", "Flo", "Cid", "Eve", "Dee")]
    fixed = [("Table 1", "Ann", "Eve", "Bob", "Flo"), ("Table 2", "Cid", "Gus", "Dee", "Hal")]
    assert evening.draw(2) == (swiss if system == "swiss" else fixed)


def test_draws_of_an_older_club_can_be_read():
    evening = Evening(("Ann", "Bob", "Cid"))
    seats = [
        {"number": 1, "first": "Ann", "second": "Bob", "place": "Table 1", "table": "a", "since": 10},
        {"number": 2, "first": "Cid", "second": None},
    ]
    evening.do("draw", {"round": 1, "seats": seats, "lot": ["Ann", "Bob", "Cid"]})

    assert [(seat.sides, seat.table, seat.rests) for seat in evening.now.rounds[0]] == [
        (("Ann", "Bob"), "a", False),
        (("Cid",), None, True),
    ]


@pytest.mark.parametrize(
    ("of_pairs", "text", "says"),
    [
        (False, "", "one side per line"), (False, "Ann", "is already taking part"),
        (False, "Zoe\nzoe", "is already taking part"),
        (False, "Zoe & Max", "more than one player"), (True, "Zoe", "is not a pair"),
        (False, "\n".join(f"P{n}" for n in range(600)), "At most 512"),
    ],
)  # fmt: skip
def test_an_invalid_entry_is_refused_with_a_sentence(of_pairs, text, says):
    evening = Evening(("Ann & Bob",) if of_pairs else FOUR, is_of_pairs=of_pairs)

    with pytest.raises(Problem, match=says):
        t.entered(evening.now, text)


def test_a_round_is_not_drawn_twice_too_early_or_for_one_side():
    evening = begun()
    with pytest.raises(Problem, match="already drawn"):
        evening.draw(1)
    with pytest.raises(Problem, match="Ann – Bob: no result yet"):
        evening.draw(2)
    with pytest.raises(Problem, match="needs two sides"):
        Evening(("Ann",)).draw(1)


@pytest.mark.parametrize(
    "form",
    [
        {"name": " "}, {"system": "knock-out"}, {"edition": "chess"}, {"rounds": "0"}, {"hands": "-1"}, {"seats": "4"},
        {"seats": "3", "of": "pairs", "edition": "bsd-mille"}, {"seats": "3", "system": "round-robin"},
        {"minutes": "1e9"}, {"rounds": "٣"},
    ],
)  # fmt: skip
def test_an_invalid_plan_is_refused_with_a_sentence(form):
    right = {"name": "Friday", "edition": "classic", "system": "swiss", "seats": "3"}
    right |= {"rounds": "5", "hands": "3", "minutes": "0"}
    assert t.planned(right)["rounds"] == 5

    with pytest.raises(Problem):
        t.planned(right | form)


@pytest.mark.parametrize(
    "form", [{"first": "Zoe"}, {"first": "Bob"}, {"points0": "x"}, {"points1": ""}, {"round": "7"}]
)
def test_an_impossible_result_is_refused_with_a_sentence(form):
    evening = begun()

    with pytest.raises(Problem):
        t.typed(evening.now, {"round": "1", "first": "Ann", "points0": "100", "points1": "50"} | form)

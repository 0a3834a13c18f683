"""A Swiss tournament of 16 tables and 5 rounds, played at the tables, against standings that PostgreSQL counts."""

# ruff: noqa: F811 (a fixture of another file is imported by its name)

from __future__ import annotations

import csv

import club_database
import pytest

pytestmark = pytest.mark.skipif(club_database.why_not() is not None, reason=club_database.why_not() or "")
psycopg = pytest.importorskip("psycopg", reason="the club's driver is not installed: pip install '.[club]'")

from test_club import club, director, pool, sent_by, server, url  # noqa: E402, F401
from test_club_director import post  # noqa: E402

from companion.club import projection, tournament_pages  # noqa: E402
from companion.match.match import Match  # noqa: E402
from companion.storage.data_folder import store_path  # noqa: E402
from companion.storage.event_store import Store  # noqa: E402

TABLES, ROUNDS = 16, 5
SIDES = [f"P{number:02}" for number in range(2 * TABLES)]
CARDS = (25, 50, 75, 100)

BY_SQL = """
    WITH side AS (SELECT unnest(%s::text[]) AS name),
         game AS (SELECT * FROM unnest(%s::text[], %s::int[], %s::text[], %s::int[]) AS g (one, mine, two, theirs)),
         seat AS (SELECT one AS name, two AS other, mine, theirs FROM game
                  UNION ALL SELECT two, one, theirs, mine FROM game),
         won AS (SELECT name, sum(sign(mine - theirs) + 1)::int AS points FROM seat GROUP BY name)
    SELECT name, (SELECT points FROM won WHERE won.name = side.name),
           (SELECT sum(won.points) FROM seat JOIN won ON won.name = seat.other WHERE seat.name = side.name)::int,
           (SELECT sum(mine - theirs) FROM seat WHERE seat.name = side.name)::int,
           (SELECT sum(mine) FROM seat WHERE seat.name = side.name)::int
      FROM side
"""
"""The standings, counted from the games in another language and by another way than the club's."""


def drives(side: str, number: int) -> int:
    """The kilometres of the one card that a side lays in a round."""
    return CARDS[(SIDES.index(side) * 7 + number * 5 + SIDES.index(side) // 3) % len(CARDS)]


def test_sixteen_tables_and_five_rounds_come_to_the_standings_that_are_counted_apart(
    director, club, pool, tmp_path, monkeypatch
):
    monkeypatch.setattr(tournament_pages.secrets.SystemRandom, "sample", lambda _self, sides, _count: list(sides))
    folders = [tmp_path / str(number) for number in range(TABLES)]
    stores = [Store.open(store_path(folder)) for folder in folders if folder.mkdir() is None]
    matches = [Match(store) for store in stores]
    for number, match in enumerate(matches, start=1):
        match.start(["side Zoe", "side Max", "hand first Zoe"])
        sent_by(match, club, f"Table {number}")
    projection.Projector(pool).catch_up()
    plan = {"name": "Friday", "edition": "classic", "system": "swiss", "seats": 2, "hands": 1, "minutes": 0}
    at = post(director, "/tournaments", **plan, rounds=ROUNDS).location.removesuffix("/direct")
    post(director, f"{at}/enter", sides="\n".join(SIDES))

    for number in range(1, ROUNDS + 1):
        assert post(director, f"{at}/draw", round=number).status_code == 303
        drawn = [game["seat"] for game in club.get(f"{at}.json").get_json()["games"] if game["round"] == number]
        for seat in drawn:
            one, two = seat["sides"]
            match = matches[int(seat["place"].removeprefix("Table ")) - 1]
            match.start([f"side {one}", f"side {two}", f"hand first {one}"])
            laid = (f"{side} {drives(side, number)}" for side in (one, two))
            for play in (f"{one} roll", f"{two} roll", *laid, "end"):
                match.enter(play, "")
            sent_by(match, club, seat["place"])
        projection.Projector(pool).catch_up()
    for store in stores:
        store.close()

    games = list(csv.reader(club.get(f"{at}/games.csv").get_data(as_text=True).splitlines()))[1:]
    assert len(games) == TABLES * ROUNDS
    assert [row[6:] for row in games] == [["1", "0"]] * len(games)
    assert all(int(row[3]) == drives(row[2], int(row[0])) for row in games)
    assert len({frozenset((row[2], row[4])) for row in games}) == len(games), "two have met twice"
    for number in range(1, ROUNDS + 1):
        assert sorted(side for row in games if row[0] == str(number) for side in (row[2], row[4])) == SIDES

    columns = [[row[2] for row in games], [int(row[3]) for row in games]]
    columns += [[row[4] for row in games], [int(row[5]) for row in games]]
    with pool.connection() as db:
        counted = db.execute(BY_SQL, [SIDES, *columns]).fetchall()
    # Who is level in all of it stands as drawn; sorting keeps that order.
    wanted = sorted(counted, key=lambda row: tuple(-figure for figure in row[1:]))
    shown = list(csv.reader(club.get(f"{at}/standings.csv").get_data(as_text=True).splitlines()))[1:]
    assert [(row[1], *map(int, row[2:])) for row in shown] == wanted
    assert len({row[1:] for row in wanted}) > 25, "hardly anybody is level"

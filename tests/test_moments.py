"""Moments for the whole screen, the room that fills before the first card, and sounds asked for at the door."""

import re

import pytest
from client import SECRET, TWO, played, tap

from companion.pages import create_app
from companion.pages.scores.score_sheets import SheetView

WON = ["Ann roll", *["Bob discard 25", "Ann 200"] * 2, *["Bob discard 25", "Ann 100"] * 3, "Ann finish"]


@pytest.fixture
def app(match):
    return create_app(match, secret=SECRET, base_url="http://192.168.1.20:8080")


@pytest.mark.parametrize(
    ("edition", "plays", "moment"),
    [
        ("classic", ["Ann roll"], None),
        ("classic", ["Ann roll", "Bob stop > Ann", "Ann right-of-way !"], "coup-fourre: Coup fourré! Ann +300"),
        (
            "asmodee-2014",
            ["Ann roll", "Bob roll", "Ann 25", "Bob stop > Ann", "Ann right-of-way !"],
            "coup-fourre: Coup fourré! Ann +100",
        ),
        ("classic", WON, "arrival: The hand goes to Ann, by 1600!"),
        ("classic", ["Ann roll", "end"], None),
    ],
)
@pytest.mark.parametrize("path", ["/", "/wall"])
def test_a_coup_fourre_and_a_hand_that_somebody_wins_are_moments(app, match, edition, plays, moment, path):
    match.start([f"edition {edition}", *TWO])
    played(match, *plays)
    shown = app.test_client().get(path).text
    found = re.search(r'<template id="moment".*?data-moment="([^"]*)">(.*?)</template>', shown, re.S)

    assert (
        f"{found[1]}: {' '.join(re.sub('<[^>]+>', ' ', found[2]).split())}" if found and found[1] else None
    ) == moment


def sheet(totals: tuple[int, ...], winner: str | None, *, is_race: bool) -> SheetView:
    return SheetView(1, "", is_race, ("Ann", "Bob", "Cid"), (), totals, 1000, False, winner=winner)


@pytest.mark.parametrize(
    ("totals", "winner", "is_race", "headline", "lead"),
    [
        ((500, 1775, 20), None, False, "The hand goes to Bob, by 1275!", (2, 1275)),
        ((500, 500, 20), None, False, "The hand ends level", None),
        ((900, 1000, 20), "Bob", True, "The race goes to Bob, by 100 km!", (2, 100)),
        ((1050, 1000, 20), "Bob", True, "The race goes to Bob!", (2, -50)),
        ((0, 0, 0), None, True, "The race is over", None),
    ],
)
def test_the_sheet_says_who_has_won_and_by_how_much(totals, winner, is_race, headline, lead):
    view = sheet(totals, winner, is_race=is_race)

    assert (view.headline, view.lead) == (headline, lead)


def test_the_wall_fills_as_people_sit_down_and_the_code_shrinks_once_all_do(app, match):
    match.start(TWO)
    phones = {name: app.test_client() for name in ("Ann", "Bob")}
    wall = app.test_client()
    shown = []
    for name, phone in phones.items():
        shown.append(wall.get("/wall").text)
        tap(phone, "/join", player=name)
    shown.append(wall.get("/wall").text)

    assert [len(re.findall('class="guest side-. here"', page)) for page in shown] == [0, 1, 0]
    assert ["are here" in page for page in shown] == [True, True, False]
    assert ["gathered" in page for page in shown] == [False, False, True]
    assert "1 of 2 are here" in shown[1]


def test_the_winners_column_is_gold(app, match):
    match.start(TWO)
    played(match, *WON)

    assert re.findall(
        r'class="[^"]*\bwon">(?:<svg.*?</svg>)?(?:<span>)?(?:<i.*</i>)?(?:<span[^>]*>)?(\w+)',
        app.test_client().get("/wall").text,
    ) == ["Ann", "1600"]

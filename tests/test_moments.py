"""Moments for the whole screen, the room that fills before the first card, and sounds asked for at the door."""

import re

import pytest
from client import TWO, played, scanned

from companion.pages.scores.score_sheets import SheetView

WON = ["Ann roll", *["Bob discard 25", "Ann 200"] * 2, *["Bob discard 25", "Ann 100"] * 3, "Ann finish"]
ANSWERED = ["Ann roll", "Bob roll", "Ann 25", "Bob stop > Ann", "Ann right-of-way !"]


@pytest.mark.parametrize(
    ("edition", "plays", "moment"),
    [
        ("classic", ["Ann roll"], None),
        ("classic", ANSWERED, "coup-fourre: Coup fourré! Ann +300"),
        ("asmodee-2014", ANSWERED, "coup-fourre: Coup fourré! Ann +100"),
        ("classic", WON, "arrival: Ann wins the hand by 1600!"),
        ("classic", ["Ann roll", "end"], None),
    ],
)
@pytest.mark.parametrize("path", ["/", "/wall"])
def test_a_coup_fourre_and_a_hand_that_somebody_wins_are_moments(page, match, edition, plays, moment, path):
    match.start([f"edition {edition}", *TWO])
    played(match, *plays)
    found = re.search(r'<template id="moment".*?data-moment="([^"]*)">(.*?)</template>', page.get(path).text, re.S)
    kind, inside = found.groups() if found else ("", "")

    assert (f"{kind}: {' '.join(re.sub('<[^>]+>', ' ', inside).split())}" if kind else None) == moment


@pytest.mark.parametrize(
    ("totals", "winner", "is_race", "headline", "lead"),
    [
        ((500, 1775, 20), None, False, "Bob wins the hand by 1275!", (2, 1275)),
        ((500, 500, 20), None, False, "The hand is a tie", None),
        ((900, 1000, 20), "Bob", True, "Bob wins the race by 100 km!", (2, 100)),
        ((1050, 1000, 20), "Bob", True, "Bob wins the race!", (2, -50)),
        ((0, 0, 0), None, True, "The race is over", None),
    ],
)
def test_the_sheet_says_who_has_won_and_by_how_much(totals, winner, is_race, headline, lead):
    view = SheetView(1, "", is_race, ("Ann", "Bob", "Cid"), (), totals, 1000, False, winner=winner)

    assert (view.headline, view.lead) == (headline, lead)


def test_the_wall_fills_as_people_sit_down_and_the_code_shrinks_once_all_do(app, page, begun):
    shown = [page.get("/wall").text]
    for number, name in enumerate(("Ann", "Bob"), start=10):
        scanned(app, number, player=name)
        shown.append(page.get("/wall").text)

    assert [len(re.findall('class="guest side-. here"', wall)) for wall in shown] == [0, 1, 0]
    assert ["are here" in wall for wall in shown] == [True, True, False]
    assert ["gathered" in wall for wall in shown] == [False, False, True]
    assert "1 of 2 are here" in shown[1]


def test_the_winners_column_is_gold(page, begun):
    played(begun, *WON)

    assert re.findall(
        r'class="[^"]*\bwon">(?:<svg.*?</svg>)?(?:<span>)?(?:<i.*</i>)?(?:<span[^>]*>)?(\w+)', page.get("/wall").text
    ) == ["Ann", "1600"]

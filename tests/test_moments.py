"""Moments for the whole screen, the room that fills before the first card, and sounds asked for at the door."""

import re
from dataclasses import replace

import pytest
from client import TWO, played, scanned, text_of

from companion.match.archive import last_match
from companion.match.match import Match
from companion.pages.scores import score_sheets, sheet_image
from companion.pages.scores.score_sheets import SheetView
from companion.pages.words import Names

WON = ["Ann roll", *["Bob discard 25", "Ann 200"] * 2, *["Bob discard 25", "Ann 100"] * 3, "Ann finish"]
RACE_WON = ["Ann 200*2", "Bob 50", "Ann 200*2", "Bob 100*2", "Ann driving-ace", "Ann 100"]
LEVEL = ["Ann roll", "Bob roll", "Ann 100", "Bob 100", "exhausted"]
ANSWERED = ["Ann roll", "Bob roll", "Ann 25", "Bob stop > Ann", "Ann right-of-way !"]


@pytest.mark.parametrize(
    ("edition", "plays", "moment"),
    [
        ("classic", ["Ann roll"], None),
        ("classic", ANSWERED, "coup-fourre: Coup fourré! Ann +300"),
        ("asmodee-2014", ANSWERED, "coup-fourre: Coup fourré! Ann +100"),
        ("classic", WON, "arrival: Ann wins the hand by 1600!"),
        ("classic", ["Ann roll", "end"], None),
        ("rush", RACE_WON, "victory: Ann wins the race by 750 km!"),
        ("dujardin-2014", LEVEL, None),
    ],
)
@pytest.mark.parametrize("path", ["/", "/wall"])
def test_a_coup_fourre_and_a_hand_that_somebody_wins_are_moments(page, match, edition, plays, moment, path):
    match.start([f"edition {edition}", *TWO])
    played(match, *plays)
    found = re.search(r'<template id="moment".*?data-moment="([^"]*)"[^>]*>(.*?)</template>', page.get(path).text, re.S)
    kind, inside = found.groups() if found else ("", "")

    assert (f"{kind}: {' '.join(re.sub('<[^>]+>', ' ', inside).split())}" if kind else None) == moment


def won_match(match: Match, hands: int = 5) -> Match:
    """Play that many hands of 1100 and 25 points; the fifth wins the match."""
    match.start(TWO)
    for number in range(hands):
        if number:
            match.next_hand("Ann", "Ann")
        played(match, WON[0], "Bob roll", *WON[2:3], "Bob 25", *WON[4:])
    return match


@pytest.mark.parametrize("path", ["/", "/wall", "/score"])
def test_a_won_match_is_a_larger_moment_than_its_last_hand(page, match, path):
    won_match(match)
    shown = page.get(path).text

    inside = re.search(r'data-moment="victory">(.*?)</template>', shown, re.S)[1]
    assert " ".join(re.sub("<[^>]+>", " ", inside).split()) == "Ann wins the match! 5500 : 125"
    assert '#s-car-1"' in inside


def test_after_the_match_the_wall_shows_all_its_hands_with_running_totals(page, match):
    won_match(match)
    shown = text_of(page.get("/wall"))

    assert "Ann wins the match! 5500 : 125" in shown
    assert "Hand 1 1100 1100 25 25 Hand 2 1100 2200 25 50" in shown
    assert "Hand 5 1100 5500 25 125 Match 5500 125" in shown
    assert "Trip completed" not in shown
    match.next_hand("Ann", "Bob")
    assert "5500" not in text_of(page.get("/wall"))


def test_the_phones_score_and_the_shared_picture_name_the_winner_of_the_match(page, match, monkeypatch):
    drawn, draw = [], sheet_image._words
    monkeypatch.setattr(sheet_image, "_words", lambda text, *at, **how: drawn.append(text) or draw(text, *at, **how))
    won_match(match)

    assert "<h1>Ann wins the match!</h1>" in page.get("/score").text
    assert page.get("/past/1/5.png").status_code == 200
    assert "Ann wins the match! 5500 : 125" in drawn
    assert page.get("/past/1/3.png").status_code == 200
    assert "Hand 3: Ann wins the hand by 1075!" in drawn


def test_a_long_match_sums_up_its_first_hands(match):
    match.start(TWO)
    for number in range(14):
        if number:
            match.next_hand("Ann")
        played(match, f"{('Ann', 'Bob')[number % 2]} roll", "end")
    hands = match.state.game.hands
    view = score_sheets.match_view(hands, Names.of(match.state.game))

    assert len(hands) == 14
    assert [title for title, _cells in view.rows] == ["Hands 1–3", *(f"Hand {number}" for number in range(4, 15))]
    assert view.champion == 0


def test_a_match_begins_after_the_one_that_was_won(match):
    won_match(match, 6)
    hands = match.state.game.hands

    assert last_match(hands[:5]) == hands[:5]
    assert last_match(hands) == hands[5:]
    assert last_match(()) == ()


@pytest.mark.parametrize(
    ("header", "plays", "sentence"),
    [
        (["edition dujardin-2014"], LEVEL, "A draw: Ann and Bob have 100 km each."),
        (["edition dujardin-2014"], ["Ann roll", "Bob roll", "Ann 100", "exhausted"], "Ann wins the race by 100 km!"),
        (["edition rush"], ["Ann 100", "end"], "The race ends without a winner"),
        ([], ["Ann roll", "end"], "The hand is a tie"),
    ],
)
@pytest.mark.parametrize("path", ["/score", "/wall"])
def test_an_end_without_a_winner_says_so(page, match, header, plays, sentence, path):
    match.start([*header, *TWO])
    played(match, *plays)

    assert f">{sentence}</h1>" in page.get(path).text


@pytest.mark.parametrize(
    ("edition", "sentence"),
    [
        ("classic", "Ann and Bob have 6400 points each: another hand decides."),
        ("bsd-mille", "Ann and Bob have 6400 points each: the match starts again."),
    ],
)
def test_sides_that_are_level_at_the_end_of_a_match_are_named(match, edition, sentence):
    match.start([f"edition {edition}", *TWO])
    played(match, "Ann roll", "end")
    level = match.state.game.hands[-1]

    view = score_sheets.sheet_view(replace(level, match={"Ann": 6400, "Bob": 6400}), Names.of(match.state.game))
    assert view.headline == sentence


def test_a_win_that_a_u_turn_can_undo_is_celebrated_later(page, match):
    match.start(["edition rush", *TWO])
    played(match, *RACE_WON)
    shown = page.get("/wall")
    match.next_hand("Ann")
    played(match, "end")

    assert 'data-moment="victory" data-waits="15"' in shown.text
    assert "U-Turn! The last card can still be sent back." in text_of(shown)
    assert "data-waits" not in page.get("/wall").text


@pytest.mark.parametrize(
    ("totals", "winner", "is_race", "headline", "lead"),
    [
        ((500, 1775, 20), None, False, "Bob wins the hand by 1275!", (2, 1275)),
        ((500, 500, 20), None, False, "The hand is a tie", None),
        ((900, 1000, 20), "Bob", True, "Bob wins the race by 100 km!", (2, 100)),
        ((1050, 1000, 20), "Bob", True, "Bob wins the race!", (2, -50)),
        ((0, 0, 0), None, True, "The race ends without a winner", None),
        ((100, 1775, 20), "Ann", False, "Ann wins the match!", (2, 1675)),
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

"""The bench of faces cuts out what it says, and counts right what was named."""

from __future__ import annotations

import cv2
import decks
import numpy as np
import pytest
from bench import faces, namers
from bench.faces import Condition, Contest, Tally
from bench.namers import PX_PER_MM, Answer, Rule

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def crops():
    return faces.crops_of("cartoon", Condition(120.0, off=0.0), 1)


def test_each_face_of_a_deck_is_cut_out_once(crops):
    assert sorted(truth for truth, _ in crops) == sorted(decks.CLASSIC)
    assert {crop.card.shape for _, crop in crops} == {(88 * PX_PER_MM, 57 * PX_PER_MM, 3)}
    assert all(crop.seen is None for _, crop in crops)


def test_a_crop_shows_its_face_upright_or_upside_down(crops):
    ways = [[likeness(crop.card, truth), likeness(crop.card[::-1, ::-1], truth)] for truth, crop in crops]

    assert min(max(way) for way in ways) > 0.75
    assert {np.argmax(way) for way in ways} == {0, 1}


def likeness(card, slug) -> float:
    size = (57, 88)
    face = cv2.resize(decks.face("cartoon", slug), size, interpolation=cv2.INTER_AREA)
    return float(np.corrcoef(cv2.resize(card, size).ravel(), face.ravel())[0, 1])


def test_of_a_covered_card_it_is_known_what_shows():
    covered = faces.crops_of("dark", Condition(60.0, covered=0.5, off=0.0), 2)

    rim = round(namers.MARGIN_MM * PX_PER_MM)
    shares = [float(crop.seen[rim:-rim, rim:-rim].mean()) for _, crop in covered]
    assert len(covered) == 19
    assert np.mean(shares) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("way", namers.WAYS, ids=lambda way: way.name)
def test_every_way_names_most_cards_that_lie_well(way, crops):
    namer = way.made(faces.pictures_of("cartoon", "drawing"), decks.size_mm("cartoon"))

    some = crops[:6]
    assert sum(namer(crop).face == truth for truth, crop in some) >= 5


def test_what_is_no_face_is_of_every_kind():
    kinds = [kind for kind, _ in faces.strangers_of("own", 0, count=1)]

    assert tuple(kinds) == faces.KINDS


def test_a_back_and_no_guess_are_never_accepted_and_a_way_may_say_itself_whether_it_is_sure():
    assert not Rule().accepts(Answer(decks.BACK, 1.0, 1.0))
    assert not Rule().accepts(Answer(None, 1.0, 1.0))
    assert not Rule().accepts(Answer("roll", 1.0, 1.0, sure=False))
    assert Rule(2.0, 2.0).accepts(Answer("roll", 1.0, 1.0, sure=True))


def test_told_wrong_and_merely_guessed_are_counted_apart():
    tally, rule = Tally(), Rule(0.5, 0.1)
    for answer in (Answer("roll", 0.9, 0.5), Answer("roll", 0.2, 0.5), Answer("stop", 0.9, 0.5), Answer(None)):
        tally.count(answer, "roll", rule)

    assert str(tally) == "25.0 (50.0), **1 wrong**"


def test_a_table_takes_the_place_of_the_one_before_and_leaves_the_others():
    page = faces.PAGE.read_text(encoding="utf-8")

    new = faces.written(page, "light", ["| of late |"])

    assert "| of late |" in new
    assert faces.written(new, "light", ["| x |"]) == faces.written(page, "light", ["| x |"])
    with pytest.raises(ValueError, match="marks for light"):
        faces.written("no marks", "light", [])


def test_the_page_has_a_place_for_every_table():
    page = faces.PAGE.read_text(encoding="utf-8")

    assert [name for name in faces.TABLES if not all(mark in page for mark in faces.marks(name))] == []


@pytest.mark.long
def test_the_bench_runs_and_fills_its_tables():
    contest = Contest(["minimal"], ["ours", "colour correlation"])

    lines = faces.TABLES["decks"](contest, range(1), lambda line: None)
    lines += faces.TABLES["open"](contest, range(1), lambda line: None)

    assert lines[0] == "| deck, cards 75 px wide | cards | ours | colour correlation |"
    assert len(lines) == 2 + 1 + 2 + len(faces.KINDS)
    assert {line.count("|") for line in lines} == {5}

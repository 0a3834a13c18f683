"""The benches of the eye run and fill their tables; photographs tell the truth about where stickers lie."""

from __future__ import annotations

import math

import numpy as np
import photos
import pytest
import zxingcpp
from bench import eye, readings
from laid import Cover, Laid, Table, covered_share, glued_by_hand, in_rows
from photos import Score, Shot, compared
from webcam import Glare, Pose

from companion.tabletop.card_ids import payload

pytestmark = pytest.mark.long


def table_of(count: int, area_mm: tuple[float, float], seed: int = 1) -> Table:
    rng = np.random.default_rng(seed)
    return Table(in_rows([payload(card) for card in photos.all_cards()[:count]], area_mm, rng), cloth="dark")


@pytest.mark.parametrize("pose", [Pose(4.0), Pose(4.0, tilt_deg=30, lean_deg=60, turn_deg=20, barrel=0.1)])
def test_a_general_reader_finds_large_codes_where_the_truth_says(pose):
    photo = photos.photograph(table_of(10, (430, 240)), pose)

    results = zxingcpp.read_barcodes(photo.gray, formats=zxingcpp.BarcodeFormat.QRCode)
    middles = {r.text: eye_middle(r.position) for r in results}

    shown = [s for s in photo.stickers if s.in_sight]
    assert len(shown) >= 4
    assert max(math.dist(middles[payload(s.card)], s.centre_px) for s in shown) < 1.6


def eye_middle(position: zxingcpp.Position) -> tuple[float, float]:
    corners = (position.top_left, position.top_right, position.bottom_right, position.bottom_left)
    return float(np.mean([c.x for c in corners])) - 0.5, float(np.mean([c.y for c in corners])) - 0.5


def test_a_sticker_under_a_later_card_a_hand_or_the_edge_is_not_in_sight():
    rng = np.random.default_rng(0)
    texts = [payload(card) for card in photos.all_cards()[:4]]
    below, above, beside, outside = (
        Laid(x, y, 0, glued_by_hand(text, rng, spot="middle"))
        for text, (x, y) in zip(texts, ((0, 0), (20, -20), (150, 0), (292, 0)), strict=True)
    )
    hand = Cover(((140, -50), (160, -50), (160, 80), (140, 80)))

    hidden = covered_share(Table((below, above, beside), (), (hand,)))
    photo = photos.photograph(Table((below, above, beside, outside), (), (hand,)), Pose(3.2))

    assert (hidden[0] > 0.5, hidden[1], hidden[2] > 0.5) == (True, 0.0, True)
    assert [s.in_sight for s in photo.stickers] == [False, True, False, False]


def test_a_sticker_under_a_burnt_out_reflection_is_not_in_sight():
    table = Table((Laid(0, 30, 0, glued_by_hand("MB1:ROLL-03", np.random.default_rng(0), spot="middle")),))

    seen = [
        photos.photograph(table, Pose(2.0), Shot(glares=(Glare(x, 0.28, (0.1, 0.1), 0, 3.0),))).stickers[0].in_sight
        for x in (0.5, 0.0)
    ]

    assert seen == [False, True]


def test_the_same_seed_gives_the_same_photo():
    one, two = (photos.hard_photo(7, size_px=(480, 270)) for _ in range(2))

    assert (one.image == two.image).all()


def test_a_card_named_where_another_lies_is_wrong_and_one_where_none_lies_a_ghost():
    photo = photos.photograph(table_of(6, (430, 240)), Pose(4.0))
    first, second, *rest = [s for s in photo.stickers if s.in_sight]
    found = [
        (first.card, first.centre_px),
        ("stop-01", second.centre_px),
        (rest[0].card, (5.0, 5.0)),
        (None, (9.0, 9.0)),
    ]

    score = compared(photo.stickers, found)

    assert (score.read, score.unknown, len(score.wrong), len(score.ghosts), len(score.strays)) == (1, 0, 1, 1, 1)
    assert score.wrong == (f"{second.card} as stop-01",)


@pytest.mark.long
def test_the_bench_fills_its_tables(monkeypatch):
    monkeypatch.setattr(eye, "LEAST_STICKERS", 1)
    few = [reader for reader in eye.READERS if reader.name in ("ours, no mats", "zxing-cpp, 2×")]
    monkeypatch.setattr(eye, "READERS", few)

    text = eye.measured(1, True, lambda line: None)

    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    assert [len(table) for table in tables] == [3, 3, 3, 4, 3, 3]
    assert all(len({line.count("|") for line in table}) == 1 for table in tables)
    assert "%" in tables[0][2]


def test_the_page_has_its_marks_and_keeps_what_stands_around_them():
    page = eye.PAGE.read_text(encoding="utf-8")

    new = eye.written(page, "| a |")

    assert f"{eye.BEGIN}\n| a |\n{eye.END}" in new
    assert new.split(eye.BEGIN)[0] == page.split(eye.BEGIN)[0]


def test_readings_are_counted_by_light_and_tilt(tmp_path):
    tally = readings.run(1, 1, readings.trials(0, ("hard",)), tmp_path, lambda line: None)

    (lines,) = [list(tally.lines())]
    assert tally.by["hard"]["all"].in_sight >= 1
    assert lines[2].startswith("| hard | all |")
    assert isinstance(tally.by["hard"]["soft"], Score)

"""The benches run, count right and fill their tables; the pages have places for these."""

import pytest
from bench import eye, faces
from bench.faces import Contest

pytestmark = pytest.mark.long


def test_the_bench_of_readers_fills_its_tables(monkeypatch):
    monkeypatch.setattr(eye, "LEAST_STICKERS", 1)
    few = [reader for reader in eye.READERS if reader.name in ("ours, no mats", "zxing-cpp, 2×")]
    monkeypatch.setattr(eye, "READERS", few)

    text = eye.measured(1, True, lambda line: None)

    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    assert [len(table) for table in tables] == [3, 3, 3, 4, 3, 3]
    assert all(len({line.count("|") for line in table}) == 1 for table in tables)
    assert "%" in tables[0][2]


def test_the_bench_of_faces_fills_its_tables():
    contest = Contest(["minimal"], ["ours", "colour correlation"])

    lines = faces.TABLES["decks"](contest, range(1), lambda line: None)
    lines += faces.TABLES["open"](contest, range(1), lambda line: None)
    assert lines[0] == "| deck, cards 75 px wide | cards | ours | colour correlation |"
    assert len(lines) == 2 + 1 + 2 + len(faces.KINDS)
    assert {line.count("|") for line in lines} == {5}


def test_the_pages_have_a_place_for_every_table_and_keep_what_stands_around_them():
    page = eye.PAGE.read_text(encoding="utf-8")
    of_faces = faces.PAGE.read_text(encoding="utf-8")

    new = eye.written(page, "| a |")

    assert f"{eye.BEGIN}\n| a |\n{eye.END}" in new
    assert new.split(eye.BEGIN)[0] == page.split(eye.BEGIN)[0]
    assert [name for name in faces.TABLES if not all(mark in of_faces for mark in faces.marks(name))] == []

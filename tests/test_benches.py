"""The benches run, count right and fill their tables; the pages have places for these."""

import pytest
from bench import eye, faces
from bench.faces import Contest

pytestmark = pytest.mark.long


def test_the_bench_of_readers_fills_its_tables(monkeypatch):
    readers = [reader for reader in eye.READERS if reader.name in ("ours, no mats", "zxing-cpp, 2×")]
    few = {"LEAST_STICKERS": 1, "READERS": readers, "MODULE_PX": (4.0,), "SIZES": {"1.28 px": 1.28}, "TILTS": (0.0,),
           "LIGHTS": ("typical",), "FRAMES": {"1080p": eye.FRAMES["1080p"]}, "COUNTS": (10,), "ROUNDS": 1,
           "IDLE_ROUNDS": 20}  # fmt: skip
    for name, value in few.items():
        monkeypatch.setattr(eye, name, value)

    text = eye.measured(1, lambda line: None)

    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    assert [len(table) for table in tables] == [3, 3, 3, 4, 3, 5]
    assert all(len({line.count("|") for line in table}) == 1 for table in tables)
    assert "%" in tables[0][2]


def test_the_bench_of_faces_fills_its_tables():
    contest = Contest(["minimal"], ["ours", "colour correlation"])

    lines = faces.TABLES["decks"](contest, range(1), lambda line: None)
    lines += faces.TABLES["open"](contest, range(1), lambda line: None)
    assert lines[0] == "| deck, cards 75 px wide | cards | ours | colour correlation |"
    assert len(lines) == 2 + 1 + 2 + len(faces.KINDS)
    assert {line.count("|") for line in lines} == {5}


def test_the_pages_have_a_place_for_every_table_and_keep_what_stands_around_them(tmp_path):
    page = tmp_path / "page.md"
    for docs, every in ((eye.PAGE, [eye.MARKS]), (faces.PAGE, map(faces.marks, faces.TABLES))):
        was = docs.read_text(encoding="utf-8")
        for begin, end in every:
            page.write_text(was, encoding="utf-8")

            eye.write(page, (begin, end), "| a |")

            (before, rest), (_, after) = was.split(begin), was.split(end)
            assert page.read_text(encoding="utf-8") == f"{before}{begin}\n| a |\n{end}{after}"
            assert end in rest

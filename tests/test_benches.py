"""The benches run, count right and fill their tables; the pages have places for these."""

import pytest
from bench import eye, faces, hands, readings
from bench.faces import Contest
from photos import Score
from troubles import mishaps

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


def test_readings_are_counted_by_light_and_tilt(tmp_path):
    tally = readings.run(1, 1, readings.trials(0, ("hard",)), tmp_path, lambda line: None)

    assert tally.by["hard"]["all"].in_sight >= 1
    assert list(tally.lines())[2].startswith("| hard | all |")
    assert isinstance(tally.by["hard"]["soft"], Score)


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


def test_a_watched_hand_has_no_fault_and_a_play_that_was_not_told_is_missed():
    case = hands.Case(1000, 2, "typical", mishaps.NONE, km=300)
    watched = hands.Watch(case, "scene", None)
    told = watched.told()
    second = [item for _, item in told if item.get("verdict") == "legal"][1]
    results = []
    for said in (told, [(frame, item) for frame, item in told if item is not second]):
        results.append(hands.Result(case, 0, case.size, case.look.tilt_deg))
        hands.compare(results[-1], said, watched.script, watched.diary)

    whole, lacking = results
    assert (whole.right, whole.faults, whole.sheet) == (whole.plays, [], True)
    assert (lacking.missed, lacking.wrong, lacking.phantom, lacking.right) == (1, 0, 0, lacking.plays - 1)
    assert f"| {2 * whole.plays} | {2 * whole.plays - 1} | 1 |" in hands.table(results).splitlines()[-1]

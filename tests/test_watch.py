"""Whole hands watched: pixels in, plays and a score sheet out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.cli import companion
from companion.rules import judge, notation
from companion.simulate import Script, random_script, read_script, shipped_script, write_clip, write_folder

OPENING = """edition classic
side Ann
side Bob
hand first Ann
Ann roll
Bob roll
Ann 100
# taken back: Bob end-of-limit
Bob stop > Ann
Ann right-of-way !
"""


def watched(*words: str | Path) -> list[dict]:
    """What `companion watch` prints."""
    ran = CliRunner().invoke(companion, ["watch", *map(str, words), "--json"])
    assert ran.exit_code == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def confirmed(items: list[dict]) -> list[str]:
    return [item["proposal"] for item in items if item.get("confirmed")]


def refused(items: list[dict]) -> list[str]:
    return [item["proposal"] for item in items if item.get("verdict") == "illegal"]


def laid(script: Script, *, taken_back: bool) -> list[str]:
    """The script's plays with a card: those that stay, or those that were taken back."""
    actions = [action for hand in script.hands for action in hand.actions]
    return [str(action.play) for action in actions if action.card_id and action.taken_back is taken_back]


def sheets(script: Script) -> list[dict]:
    """What each hand of the script comes to, by its record alone."""
    items = judge.judge(notation.lines(script.record()))
    return [item.as_json("")["sides"] for item in items if isinstance(item, judge.HandResult)]


@pytest.mark.parametrize("name", ["two-players", "pairs"])
def test_a_whole_hand_watched_comes_to_the_scripts_score(name: str):
    script = shipped_script(name)
    items = watched("--source", f"demo:{name}", "--confirm", "legal")

    assert confirmed(items) == laid(script, taken_back=False)
    assert refused(items) == laid(script, taken_back=True)
    assert [item["sides"] for item in items if "hand" in item] == sheets(script)


@pytest.fixture(scope="module")
def opening() -> Script:
    return read_script(OPENING)


@pytest.fixture(scope="module")
def filmed(opening: Script, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """The opening as a folder of pictures and as a clip, and its setup file."""
    folder = tmp_path_factory.mktemp("opening")
    write_folder(opening, folder / "frames", speed=2.0)
    write_clip(opening, folder / "opening.mp4", speed=2.0)
    return folder / "frames", folder / "opening.mp4", folder / "frames" / "table.toml"


@pytest.mark.parametrize("kind", [0, 1], ids=["folder", "clip"])
def test_a_folder_and_a_clip_are_watched_alike(opening: Script, filmed: tuple[Path, Path, Path], kind: int):
    items = watched("--source", filmed[kind], "--setup", filmed[2], "--confirm", "legal")

    assert confirmed(items) == laid(opening, taken_back=False)
    assert refused(items) == laid(opening, taken_back=True)
    assert items[-1]["ended"] == "open"


def test_without_confirming_the_plays_are_only_proposed(opening: Script, filmed: tuple[Path, Path, Path]):
    items = watched("--source", filmed[0], "--setup", filmed[2], "--confirm", "none")

    proposed = [item["proposal"] for item in items if item.get("verdict") == "legal"]
    assert proposed == laid(opening, taken_back=False)
    assert confirmed(items) == []
    assert [item["ended"] for item in items if "hand" in item] == ["open"]


def test_a_legal_card_taken_back_at_once_does_not_count():
    script = read_script(OPENING.replace("Bob end-of-limit", "Bob 200"))
    items = watched_script(script)

    assert [item["withdrawn"] for item in items if "withdrawn" in item] == ["Bob 200"]
    assert items[-1]["sides"]["Bob"]["km"] == 0
    assert items[-1]["sides"]["Ann"]["safeties"] == {"right-of-way": "coup-fourre"}


def test_a_damaged_picture_among_the_frames_is_passed_over(opening: Script, tmp_path: Path):
    write_folder(opening, tmp_path, speed=2.0)
    (tmp_path / "00031.jpg").write_bytes(b"\xff\xd8 no picture")
    (tmp_path / "00032.jpg").write_bytes(b"")
    items = watched("--source", tmp_path, "--setup", tmp_path / "table.toml", "--confirm", "legal")

    assert confirmed(items) == laid(opening, taken_back=False)


def test_a_device_that_does_not_exist_gets_one_sentence(filmed: tuple[Path, Path, Path]):
    ran = CliRunner().invoke(companion, ["watch", "--source", "/dev/video97", "--setup", str(filmed[2]), "--json"])

    assert ran.stdout == ""
    assert "/dev/video97" in str(ran.exception)


def test_two_hands_in_a_row_are_both_counted():
    script = random_script(hands=2, seed=12)
    items = watched_script(script)

    assert len(sheets(script)) == 2
    assert [item["sides"] for item in items if "hand" in item] == sheets(script)


def watched_script(script: Script) -> list[dict]:
    """A script watched at the greatest speed, without the command line."""
    from companion import demo, service
    from companion.rules.play import Verb
    from companion.watch import Watcher

    setup = demo.setup_of(script)
    watcher = Watcher(setup, service.eye_for(setup), confirm=True, extension=Verb.FINISH)
    return list(watcher.items(demo.frames_of(script, speed=8.0)))


def test_a_card_laid_before_the_play_before_it_was_seen_counts_once_it_was():
    from companion import demo
    from companion.labels import face_of
    from companion.rules.play import Verb
    from companion.vision.camera import Frame
    from companion.vision.view import MatSeen, Sighting, View
    from companion.watch import Watcher

    square = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    mats = tuple(MatSeen(mat, square, 2.0) for mat in ("side-1", "side-2", "table"))
    lying = {"roll-02": "side-2/battle"}

    def look(frame: Frame) -> View:
        if frame.t_s > 1:
            lying["roll-01"] = "side-1/battle"
        cards = (Sighting(face_of(c), c, (0.0, 0.0), None, z, False, 0.99, "sticker") for c, z in lying.items())
        return View(frame.t_s, mats, tuple(cards))

    watcher = Watcher(demo.setup_of(read_script(OPENING)), look, confirm=True, extension=Verb.FINISH)
    items = list(watcher.items(Frame(None, number / 10) for number in range(40)))

    assert refused(items) == ["Bob roll"]
    assert confirmed(items) == ["Ann roll", "Bob roll"]

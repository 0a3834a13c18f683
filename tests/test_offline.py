"""Whole hands watched: pixels in, plays and a score sheet out."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import scene_eye
from click.testing import CliRunner
from films import write_clip, write_folder

from companion.app import demo, service
from companion.app.cli import companion
from companion.app.reports import report
from companion.match.setup_file import read_setup
from companion.rules.cards import Card
from companion.rules.play import Verb
from companion.rules.record import judge, notation
from companion.rules.table import Team
from companion.simulate.players import PAIRS, TWO_PLAYERS, random_script
from companion.simulate.script import Script, plays_that_stay, read_script, shipped_script
from companion.tabletop.card_ids import face_of
from companion.tracking.offline import UNREAD, Watcher
from companion.vision.capture.sources import Frame
from companion.vision.view import MatSeen, Sighting, View

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


@pytest.mark.long
@pytest.mark.parametrize("name", ["two-players", "pairs"])
def test_a_whole_hand_watched_comes_to_the_scripts_score(name: str):
    script = shipped_script(name)
    items = watched("--source", f"demo:{name}", "--confirm", "legal")

    assert confirmed(items) == laid(script, taken_back=False)
    assert refused(items) == laid(script, taken_back=True)
    assert [item["sides"] for item in items if "hand" in item] == sheets(script)


THREE = tuple(Team(name, (name,)) for name in ("Ann", "Bob", "Cid"))
SEATS = {2: TWO_PLAYERS, 3: THREE, 4: PAIRS}
HANDS = [
    ("asmodee-2014", 4, 11),  # a coup fourré that takes a stop and a limit away
    ("parker", 3, 3),
]
LONG_HANDS = [
    ("asmodee-2014", 2, 2),  # late safeties
    ("asmodee-2014", 3, 1),  # the discards are reshuffled
    ("bsd-mille", 2, 4),  # ends because nobody can go on
    ("parker", 2, 7),  # exhausted
    ("dujardin-2014", 2, 2),  # ends with the draw pile
    ("dujardin-2014", 4, 3),
]
MORE = int(os.environ.get("COMPANION_HANDS", "0"))
"""So many more hands of every edition and number of players are watched: an hour's work, or a night's."""


def long_hands() -> Iterator[tuple[str, int, int]]:
    yield from LONG_HANDS
    for edition, seats in itertools.product(("classic", "asmodee-2014", "parker", "dujardin-2014"), SEATS):
        yield from ((edition, seats, seed) for seed in range(1000, 1000 + MORE))
    yield from (("bsd-mille", 2, seed) for seed in range(1000, 1000 + MORE))


@pytest.mark.parametrize(
    ("edition", "seats", "seed"), [*HANDS, *(pytest.param(*hand, marks=pytest.mark.long) for hand in long_hands())]
)
def test_a_hand_of_every_edition_is_followed_play_by_play_to_its_score(edition: str, seats: int, seed: int):
    script = random_script(edition, teams=SEATS[seats], seed=seed)
    items = scene_eye.watched(script, seed=seed)
    played = [str(play) for play in plays_that_stay(script.hands[0]) if play.verb is not Verb.FINISH]

    assert confirmed(items) == played
    assert [item["sides"] for item in items if "hand" in item] == sheets(script)


TAKEN = """edition asmodee-2014
side Ann
side Bob
hand first Ann
Ann roll
Bob roll
Ann discard 100
Bob take
Bob 100
Ann stop > Bob
Bob right-of-way
Bob discard 75
Ann discard 25
"""


@pytest.mark.long
def test_a_taken_discard_and_a_late_safety_are_read_from_pictures():
    script = read_script(TAKEN)
    items = watched_script(script)

    assert confirmed(items) == [str(action.play) for action in script.hands[0].actions]
    assert [item["sides"] for item in items if "hand" in item] == sheets(script)


RUSH_SETUP = """edition = "rush"
[[side]]
name = "Ann"
[[side]]
name = "Bob"
"""


def test_rush_is_watched_as_far_as_pictures_tell_and_the_rest_is_asked(tmp_path: Path):
    (tmp_path / "rush.toml").write_text(RUSH_SETUP)
    setup = read_setup(tmp_path / "rush.toml")
    lying = {"100-01": "side-1/distance", "accelerator-01": "side-1/distance"}

    def look(frame: Frame) -> View:
        if frame.t_s > 2:
            lying["pollution-01"] = "side-1/battle"
        if frame.t_s > 4:
            lying["mirror-01"] = "table/discard"
        if frame.t_s > 6:
            lying["stop-01"] = "side-2/battle"
        return seen(frame.t_s, lying)

    watcher = Watcher(setup, look, confirm=True, extension=Verb.FINISH)
    items = list(watcher.items(Frame(None, number / 10) for number in range(100)))

    assert confirmed(items) == ["Ann 100*2", "Bob pollution > Ann"]
    assert [item["zone"] for item in items if "question" in item] == ["table/discard"]
    assert report.watched(next(item for item in items if "question" in item)).endswith(
        "enter the play that it belongs to."
    )


def seen(t_s: float, lying: dict[str, str]) -> View:
    """A view of cards, each with its zone."""
    square = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    mats = tuple(MatSeen(mat, square, 2.0) for mat in ("side-1", "side-2", "table"))
    cards = (Sighting(face_of(c), c, (0.0, 0.0), None, z, False, 0.99, "sticker") for c, z in lying.items())
    return View(t_s, mats, tuple(cards))


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


@pytest.mark.long
@pytest.mark.parametrize("kind", [0, 1], ids=["folder", "clip"])
def test_a_folder_and_a_clip_are_watched_alike(opening: Script, filmed: tuple[Path, Path, Path], kind: int):
    items = watched("--source", filmed[kind], "--setup", filmed[2], "--confirm", "legal")

    assert confirmed(items) == laid(opening, taken_back=False)
    assert refused(items) == laid(opening, taken_back=True)
    assert items[-1]["ended"] == "open"


@pytest.mark.long
def test_without_confirming_the_plays_are_only_proposed(opening: Script, filmed: tuple[Path, Path, Path]):
    items = watched("--source", filmed[0], "--setup", filmed[2], "--confirm", "none")

    proposed = [item["proposal"] for item in items if item.get("verdict") == "legal"]
    assert proposed == laid(opening, taken_back=False)
    assert confirmed(items) == []
    assert [item["ended"] for item in items if "hand" in item] == ["open"]


@pytest.mark.long
def test_a_legal_card_taken_back_at_once_does_not_count():
    script = read_script(OPENING.replace("Bob end-of-limit", "Bob 200"))
    items = watched_script(script)

    assert [item["withdrawn"] for item in items if "withdrawn" in item] == ["Bob 200"]
    assert items[-1]["sides"]["Bob"]["km"] == 0
    assert items[-1]["sides"]["Ann"]["safeties"] == {"right-of-way": "coup-fourre"}


@pytest.mark.long
def test_a_damaged_picture_among_the_frames_is_passed_over(
    opening: Script, filmed: tuple[Path, Path, Path], tmp_path: Path
):
    frames = shutil.copytree(filmed[0], tmp_path / "frames")
    (frames / "00031.jpg").write_bytes(b"\xff\xd8 no picture")
    (frames / "00032.jpg").write_bytes(b"")
    items = watched("--source", frames, "--setup", frames / "table.toml", "--confirm", "legal")

    assert confirmed(items) == laid(opening, taken_back=False)


@pytest.mark.parametrize(
    ("source", "says"), [("demo:", "do not play Rush yet"), ("/dev/video97", "/dev/video97")], ids=["rush", "no device"]
)
def test_what_cannot_be_watched_gets_one_sentence(tmp_path: Path, source: str, says: str):
    setup = tmp_path / "rush.toml"
    setup.write_text(RUSH_SETUP)
    ran = CliRunner().invoke(companion, ["watch", "--source", source, "--setup", str(setup), "--json"])

    assert ran.stdout == ""
    assert says in str(ran.exception)


@pytest.mark.long
def test_two_hands_in_a_row_are_both_counted():
    script = random_script(hands=2, seed=13, target=200)
    items = watched_script(script)

    assert len(sheets(script)) == 2
    assert [item["sides"] for item in items if "hand" in item] == sheets(script)


def watched_script(script: Script) -> list[dict]:
    """A script watched at the greatest speed, without the command line."""
    setup = demo.setup_of(script)
    watcher = Watcher(setup, service.eye_for(setup), confirm=True, extension=Verb.FINISH)
    return list(watcher.items(demo.frames_of(script, speed=8.0)))


def test_a_card_laid_before_the_play_before_it_was_seen_counts_once_it_was():
    lying = {"roll-02": "side-2/battle"}

    def look(frame: Frame) -> View:
        if frame.t_s > 1:
            lying["roll-01"] = "side-1/battle"
        return seen(frame.t_s, lying)

    watcher = Watcher(demo.setup_of(read_script(OPENING)), look, confirm=True, extension=Verb.FINISH)
    items = list(watcher.items(Frame(None, number / 10) for number in range(40)))

    assert refused(items) == ["Bob roll"]
    assert confirmed(items) == ["Ann roll", "Bob roll"]


def test_a_card_that_cannot_be_read_for_sure_is_a_question_with_its_choices_and_is_never_confirmed():
    rivals = (("roll-02", 0.6), ("stop-03", 0.5))
    code = Sighting(Card.UNKNOWN, None, (0.0, 0.0), None, "side-1/battle", False, 0.0, "sticker", rivals)
    setup = demo.setup_of(read_script(OPENING))
    watcher = Watcher(
        setup, lambda frame: replace(seen(frame.t_s, {}), sightings=(code,)), confirm=True, extension=Verb.FINISH
    )

    items = list(watcher.items(Frame(None, number / 10) for number in range(40)))

    (question,) = [item for item in items if "question" in item]
    assert question["choices"] == ["Ann roll", "Bob stop > Ann"]
    assert question["zone"] == "side-1/battle"
    assert confirmed(items) == []


def test_a_legal_play_that_was_not_read_for_sure_is_told_and_not_confirmed():
    def look(frame: Frame) -> View:
        view = seen(frame.t_s, {"roll-02": "side-1/battle"})
        return replace(view, sightings=tuple(replace(s, confidence=0.8) for s in view.sightings))

    watcher = Watcher(demo.setup_of(read_script(OPENING)), look, confirm=True, extension=Verb.FINISH)
    items = list(watcher.items(Frame(None, number / 10) for number in range(40)))

    assert [(item["proposal"], item["confirmed"]) for item in items if "proposal" in item] == [("Ann roll", False)]
    assert not any("counted" in item for item in items)


def laid_one_after_the_other(*cards: tuple[str, str, float] | None, apart_s: int = 1) -> list[dict]:
    """What is told of cards that come to lie a while apart, each in its zone and so sure to be read; None: not read."""
    laid = [(apart_s * number, *card) for number, card in enumerate(cards) if card is not None]

    def look(frame: Frame) -> View:
        lying = {card: zone for t_s, card, zone, _ in laid if frame.t_s >= t_s}
        sure = {card: confidence for _, card, _, confidence in laid}
        view = seen(frame.t_s, lying)
        return replace(view, sightings=tuple(replace(s, confidence=sure[s.card]) for s in view.sightings))

    watcher = Watcher(demo.setup_of(read_script(OPENING)), look, confirm=True, extension=Verb.FINISH)
    return list(watcher.items(Frame(None, number / 10) for number in range(10 * apart_s * len(cards) + 10)))


def test_a_play_that_nobody_was_sure_of_counts_once_one_follows_that_is_sure():
    items = laid_one_after_the_other(
        ("roll-01", "side-1/battle", 0.8), ("roll-02", "side-2/battle", 0.99), ("100-01", "side-1/distance", 0.99)
    )

    told = [(item["proposal"], item["verdict"], item["confirmed"]) for item in items if "proposal" in item]
    assert told == [("Ann roll", "legal", False), ("Bob roll", "legal", True), ("Ann 100", "legal", True)]
    assert [(item["counted"], item["zone"]) for item in items if "counted" in item] == [("Ann roll", "side-1/battle")]


def test_plays_that_nobody_was_sure_of_count_where_the_cards_are_gathered_in_one_after_the_other():
    laid = {"roll-01": "side-1/battle", "roll-02": "side-2/battle", "100-01": "side-1/distance"}
    unsure = {"100-02": "side-2/distance", "100-03": "side-1/distance"}
    gathered_s = {"100-03": 8.0, "100-02": 9.0}

    def look(frame: Frame) -> View:
        cards = {**laid, **unsure}
        laid_s = {card: 1.0 * number for number, card in enumerate(cards)}
        lying = {c: z for c, z in cards.items() if laid_s[c] <= frame.t_s < gathered_s.get(c, 10.0)}
        view = seen(frame.t_s, lying)
        sure = (replace(s, confidence=0.86 if s.card in unsure else 0.99) for s in view.sightings)
        return replace(view, sightings=tuple(sure))

    watcher = Watcher(demo.setup_of(read_script(OPENING)), look, confirm=True, extension=Verb.FINISH)
    items = list(watcher.items(Frame(None, number / 10) for number in range(120)))

    assert [item["counted"] for item in items if "counted" in item] == ["Bob 100", "Ann 100"]
    assert confirmed(items) == ["Ann roll", "Bob roll", "Ann 100", "end"]


def test_a_play_that_nobody_was_sure_of_is_dropped_where_a_card_is_legal_only_without_it():
    items = laid_one_after_the_other(
        ("roll-01", "side-1/battle", 0.8), ("right-of-way-01", "side-1/safety", 0.99), ("25-01", "table/discard", 0.99)
    )

    assert confirmed(items)[0] == "Ann right-of-way"
    assert refused(items) == []


def kilometres(items: list[dict]) -> dict[str, int]:
    """What the sides have driven by the sheet of the hand."""
    return {name: side["km"] for name, side in items[-1]["sides"].items()}


def test_a_play_that_was_not_seen_is_never_invented():
    items = laid_one_after_the_other(
        ("roll-01", "side-1/battle", 0.99), ("100-01", "side-1/distance", 0.99), ("50-01", "side-2/distance", 0.99)
    )

    assert refused(items) == ["Ann 100", "Bob 50"]
    assert confirmed(items) == ["Ann roll"]


def test_a_card_laid_out_of_turn_counts_once_the_others_have_gone_on_although_it_lies_there():
    cards = [("roll-01", "side-1/battle", 0.99), ("roll-02", "side-2/battle", 0.99), None]
    cards += [("50-01", "side-2/distance", 0.99), ("75-01", "side-1/distance", 0.99)]
    cards += [("75-02", "side-2/distance", 0.99), ("100-01", "side-1/distance", 0.99)]

    items = laid_one_after_the_other(*cards, apart_s=3)

    assert "Bob 50" in refused(items)
    assert kilometres(items) == {"Ann": 175, "Bob": 125}


def test_a_card_that_counts_after_all_is_told_although_one_like_it_counted_before():
    cards = [("roll-01", "side-1/battle", 0.99), ("roll-02", "side-2/battle", 0.99)]
    cards += [("100-01", "side-1/distance", 0.99), ("50-02", "side-2/distance", 0.99), None]
    cards += [("50-01", "side-2/distance", 0.99), ("75-01", "side-1/distance", 0.99)]
    cards += [("75-02", "side-2/distance", 0.99), ("100-02", "side-1/distance", 0.99)]

    items = laid_one_after_the_other(*cards, apart_s=3)

    assert kilometres(items) == {"Ann": 275, "Bob": 175}
    assert [item["counted"] for item in items if "counted" in item] == ["Bob 50"]


def test_a_turn_that_was_missed_beside_a_discard_is_noticed_when_the_next_cards_are_out_of_turn():
    items = laid_one_after_the_other(
        ("roll-01", "side-1/battle", 0.99),
        ("25-01", "table/discard", 0.99),
        ("roll-02", "side-2/battle", 0.99),
        ("100-01", "side-1/distance", 0.99),
        ("100-02", "side-2/distance", 0.99),
    )

    assert any("missed" in item for item in items)
    assert kilometres(items) == {"Ann": 100, "Bob": 100}


def test_a_card_that_could_not_be_read_at_once_is_no_play_that_was_missed_later():
    unread = (("25-01", 0.6), ("50-01", 0.5))
    later = {"roll-02": "side-2/battle", "100-01": "side-1/distance"}

    def look(frame: Frame) -> View:
        lying = {"roll-01": "side-1/battle"}
        lying |= {"25-01": "table/discard"} if frame.t_s >= 4 else {}
        lying |= {card: zone for at, (card, zone) in enumerate(later.items()) if frame.t_s >= 5 + at}
        code = Sighting(Card.UNKNOWN, None, (0.0, 0.0), None, "table/discard", False, 0.0, "sticker", unread)
        view = seen(frame.t_s, lying)
        return replace(view, sightings=(*view.sightings, *((code,) if 2 <= frame.t_s < 4 else ())))

    watcher = Watcher(demo.setup_of(read_script(OPENING)), look, confirm=True, extension=Verb.FINISH)
    items = list(watcher.items(Frame(None, number / 10) for number in range(100)))

    assert [item["question"] for item in items if "question" in item] == [UNREAD]
    assert confirmed(items)[:2] == ["Ann roll", "Bob discard 25"]
    assert "Ann discard 25" not in confirmed(items)


def test_a_card_laid_just_before_the_films_end_counts():
    watcher = Watcher(
        demo.setup_of(read_script(OPENING)),
        lambda frame: seen(frame.t_s, {"roll-01": "side-1/battle"} if frame.t_s > 1 else {}),
        confirm=True,
        extension=Verb.FINISH,
    )

    items = list(watcher.items(Frame(None, number / 10) for number in range(12)))

    assert confirmed(items) == ["Ann roll"]

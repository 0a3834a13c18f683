"""Whole hands watched: pixels in, plays and a score sheet out."""

import itertools
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import scene_eye
from click.testing import CliRunner
from films import sheets, write_clip, write_folder
from viewed import SQUARE, zone_of

from companion.app import demo, service
from companion.app.cli import companion
from companion.app.reports import report
from companion.match.setup_file import Setup, read_setup
from companion.rules.cards import Card
from companion.rules.play import Verb
from companion.rules.table import Team
from companion.simulate.frame_source import demo_pictures
from companion.simulate.players import PAIRS, TWO_PLAYERS, random_script
from companion.simulate.script import Script, plays_that_stay, read_script, shipped_script
from companion.tabletop.card_ids import face_of, is_any_copy
from companion.tracking.film import UNREAD, Watcher
from companion.vision.capture.sources import Frame
from companion.vision.view import MatSeen, Sighting, View

MATS = tuple(MatSeen(mat, SQUARE, 2.0) for mat in ("side-1", "side-2", "side-3", "table"))
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


def told(items: list[dict]) -> list[str]:
    """What is proposed as legal, with a question mark where it is not confirmed at once."""
    legal = [item for item in items if item.get("verdict") == "legal"]
    return [item["proposal"] + "?" * (not item["confirmed"]) for item in legal]


def in_the_end(items: list[dict]) -> list[str]:
    """The plays that count at the end, in the order of the reports."""
    plays: list[str] = []
    for item in items:
        if "withdrawn" in item:
            del plays[len(plays) - 1 - plays[::-1].index(item["withdrawn"])]
        elif "counted" in item or "missed" in item:
            plays.append(item.get("counted") or item["missed"])
        elif item.get("confirmed"):
            plays.append(item["proposal"])
    return plays


def missed(items: list[dict]) -> bool:
    return any("missed" in item for item in items)


def laid(script: Script, *, taken_back: bool) -> list[str]:
    """The script's plays with a card: those that stay, or those that were taken back."""
    actions = [action for hand in script.hands for action in hand.actions]
    return [str(action.play) for action in actions if action.card_id and action.taken_back is taken_back]


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

    assert in_the_end(items) == played
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

    assert withdrawn(items) == ["Bob 200"]
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
    ("source", "says"), [("demo:", "cannot play Rush yet"), ("/dev/video97", "/dev/video97")], ids=["rush", "no device"]
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
    pictures = enumerate(demo_pictures(script, speed=8.0))
    return list(watcher.items(Frame(image, number / 10) for number, image in pictures))


# Cards that lie there from a time on


def told_of(*cards: str, seconds: float, setup: Setup | None = None, hidden: str = "0-0 discard") -> list[dict]:
    """What is told of cards, each a row: from when on (and until when) it lies there, which it is, its zone, how sure.

    Of one that cannot be read stands what it may be: `2-4 25-01:0.6|50-01:0.5 discard`; of one without a sticker its
    face, the eye's number and how many pixels below the middle it lies, with a question mark where no picture tells
    whether it is its like, pushed: `25#2@8?`. `hidden` says from when until when zones are out of sight, and which.
    """
    laid = [_lying(*row.split()) for row in cards]
    away = [(*map(float, when.split("-")), zone_of(zone)) for when, zone in map(str.split, hidden.split(";"))]

    def look(frame: Frame) -> View:
        unknown = frozenset(zone for first_s, last_s, zone in away if first_s <= frame.t_s < last_s)
        lying = (seen for since_s, till_s, seen in laid if since_s <= frame.t_s < till_s)
        return View(frame.t_s, MATS, tuple(seen for seen in lying if seen.zone not in unknown), unknown)

    watcher = Watcher(setup or demo.setup_of(read_script(OPENING)), look, confirm=True, extension=Verb.FINISH)
    return list(watcher.items(Frame(None, number / 10) for number in range(round(10 * seconds))))


@pytest.mark.parametrize("slip", [(), ("1 end-of-limit-01 1/speed",)], ids=["nothing else", "a slip that lies on"])
def test_a_doubtful_card_was_not_laid_where_all_that_follow_are_in_turn_without_it(slip: tuple[str, ...]):
    setup = demo.setup_of(read_script(OPENING.replace("side Bob\n", "side Bob\nside Cid\n", 1)))
    rolled = ("0 roll-01 1/battle", *slip, "2 roll-02 2/battle", "4 roll-03 3/battle")
    played = ("6 50-01 discard", "8 50-02 discard", "10 50-03 discard", "12 25#1 discard 0.85", "14 25-02 discard")

    items = told_of(*rolled, *played, "16 100-01 2/distance", "18 100-02 3/distance", seconds=22, setup=setup)

    assert withdrawn(items) == ["Bob discard 25"]
    assert in_the_end(items)[-3:] == ["Ann discard 25", "Bob 100", "Cid 100"]


def test_a_doubtful_card_that_completes_the_trip_was_not_laid_where_others_play_on():
    setup = replace(demo.setup_of(read_script(OPENING)), target=200)
    played = "0 roll-01 1/battle", "2 roll-02 2/battle", "4 100-01 1/distance", "6 75-01 discard"

    items = told_of(
        *played,
        "8 100#1 1/distance 0.85",
        "12 25-01 discard",
        "14 50-01 discard",
        "16 50-02 discard",
        seconds=26,
        setup=setup,
    )

    assert in_the_end(items)[-4:] == ["Bob discard 75", "Ann discard 25", "Bob discard 50", "Ann discard 50"]


def test_a_doubtful_card_that_people_have_long_passed_over_is_no_play_for_which_others_would_be_missing():
    driven = "4 25-01 1/distance", "6 50-01 discard", "8 25-02 1/distance", "10 roll-02 2/battle", "12 50-02 discard"

    items = told_of(
        "0 roll-01 1/battle",
        "2 75-01 discard",
        "3 100-01 2/distance 0.85",
        *driven,
        "14 200-01 2/distance",
        seconds=22,
    )

    assert refused(items) == ["Bob 100"]
    assert confirmed(items)[-2:] == ["Ann discard 50", "Bob 200"]
    assert not missed(items)


def test_the_last_play_stands_where_the_card_of_another_that_was_laid_with_it_has_left_its_place():
    items = told_of("0-4 roll-01 1/battle", "0 25-01 discard", seconds=8)

    assert confirmed(items) == ["Ann roll", "Bob discard 25"]
    assert [item["question"] for item in items if "question" in item] == ["Roll is no longer on the battle pile."]
    assert not any("withdrawn" in item for item in items)


def test_a_hazard_put_right_at_another_side_counts_there_though_its_like_lies_beaten_where_it_was_laid_first():
    setup = demo.setup_of(read_script(OPENING.replace("side Bob\n", "side Bob\nside Cid\n", 1)))
    rolled = "0 roll-01 1/battle", "2 roll-02 2/battle", "4 roll-03 3/battle"
    beaten = "6 flat-tire-01 2/battle", "8 spare-tire-01 2/battle", "10 25-01 discard", "12 25-02 discard"
    put_right = "14 roll-04 2/battle", "16 25-03 discard", "18-20 flat-tire-02 2/battle", "20.3 flat-tire-02 3/battle"

    items = told_of(*rolled, *beaten, *put_right, "23 100-01 2/distance", seconds=28, setup=setup)

    assert withdrawn(items) == ["Ann flat-tire > Bob"]
    assert confirmed(items)[-2:] == ["Ann flat-tire > Cid", "Bob 100"]


def test_a_card_that_lay_out_of_sight_came_before_those_that_were_told_meanwhile():
    setup = demo.setup_of(read_script(OPENING.replace("side Bob\n", "side Bob\nside Cid\n", 1)))
    rolled = "0 roll-01 1/battle", "2 roll-02 2/battle", "4 roll-03 3/battle"
    played = "6 100-01 1/distance", "8 50-01 discard", "10 200-01 3/distance"

    items = told_of(*rolled, *played, seconds=18, setup=setup, hidden="5-14 1/distance")

    assert withdrawn(items) == ["Ann discard 50"]
    assert confirmed(items)[-3:] == ["Ann 100", "Bob discard 50", "Cid 200"]
    assert not missed(items)


@pytest.mark.parametrize(
    ("till_s", "at_s", "hidden"),
    [
        pytest.param(10, 10.4, "0-0 discard", id="once it had shown beneath its remedy"),
        pytest.param(6, 10.4, "9-9.6 2/battle", id="when a hand had been over it again"),
        pytest.param(6, 6.6, "5-6 2/battle", id="with the hand that laid its remedy"),
    ],
)
def test_a_beaten_hazard_that_shows_no_longer_was_carried_away_and_not_discarded(
    till_s: float, at_s: float, hidden: str
) -> None:
    beaten = f"4-{till_s} stop-00 2/battle", "6 roll-03 2/battle", f"{at_s} stop-00 discard"

    cards = "0 roll-01 1/battle", "2 roll-02 2/battle", *beaten, "16 100-01 1/distance"
    items = told_of(*cards, seconds=20, hidden=hidden)

    assert told(items) == ["Ann roll", "Bob roll", "Ann stop > Bob", "Bob roll", "Ann 100"]


def test_a_hazard_laid_where_its_like_was_beaten_and_carried_away_is_another():
    beaten = "4-10 stop-00 2/battle", "6 roll-03 2/battle", "10.4 stop-00 discard"
    driven = "16 100-01 1/distance", "18 100-02 2/distance", "20 stop-00 2/battle"

    items = told_of("0 roll-01 1/battle", "2 roll-02 2/battle", *beaten, *driven, seconds=30)

    assert told(items)[-3:] == ["Ann 100", "Bob 100", "Ann stop > Bob"]


def test_a_hazard_that_a_hand_may_have_dug_out_from_beneath_the_next_is_a_discard_only_if_what_follows_needs_it():
    beaten = "4-6 stop-00 2/battle", "6 roll-03 2/battle", "8 accident-00 2/battle", "11 stop-00 discard"
    rolled = "0 roll-01 1/battle", "2 roll-02 2/battle"

    items = told_of(*rolled, *beaten, "16 repairs-01 2/battle", seconds=20, hidden="10-10.6 2/battle")

    assert confirmed(items)[-2:] == ["Ann accident > Bob", "Bob repairs"]


def test_a_hazard_that_a_hand_may_have_dug_out_is_no_discard_though_the_like_that_was_beaten_seems_to_lie_there_still():
    setup = demo.setup_of(read_script(OPENING.replace("side Bob\n", "side Bob\nside Cid\n", 1)))
    rolled = "0 roll-01 1/battle", "2 roll-02 2/battle", "4 roll-03 3/battle"
    beaten = "6 stop-00 2/battle", "8 roll-04 2/battle", "10 25-01 discard", "12 accident-00 2/battle"
    driven = "16 25-03 discard", "18 50-03 discard", "20 100-01 1/distance", "22 repairs-01 2/battle"

    items = told_of(*rolled, *beaten, "15 stop-00 discard", *driven, seconds=30, setup=setup, hidden="14-14.6 2/battle")

    assert in_the_end(items)[-4:] == ["Bob discard 25", "Cid discard 50", "Ann 100", "Bob repairs"]


def test_a_hazard_discarded_with_no_hand_over_the_like_one_that_was_beaten_is_a_discard():
    beaten = "4-6 stop-00 2/battle", "6 roll-03 2/battle", "10.4 stop-00 discard"

    items = told_of("0 roll-01 1/battle", "2 roll-02 2/battle", *beaten, "16 100-01 2/distance", seconds=20)

    assert told(items) == ["Ann roll", "Bob roll", "Ann stop > Bob", "Bob roll", "Ann discard stop", "Bob 100"]


ANSWERED_UNSEEN = ("end-of-limit-00 2/speed", "100-01 1/distance", "speed-limit-00 discard")
"""An arm was over an attack until the card that answers it lay on it, and it was carried off a play later."""


def test_an_attack_that_nobody_saw_until_it_was_carried_off_came_before_the_remedy_that_had_answered_it():
    cards = ("roll-01 1/battle", "roll-02 2/battle", *ANSWERED_UNSEEN, "100-02 2/distance")

    items = told_of(*(f"{2 * n} {card}" for n, card in enumerate(cards)), seconds=14, hidden="3.2-4 2/speed")

    assert [item["missed"] for item in items if "missed" in item] == ["Ann speed-limit > Bob"]
    assert in_the_end(items)[2:] == ["Ann speed-limit > Bob", "Bob end-of-limit", "Ann 100", "Bob 100"]
    assert [item for item in items if "withdrawn" in item or "question" in item] == []


def test_a_hazard_laid_down_after_a_remedy_for_it_that_was_illegal_is_a_discard_where_an_attack_makes_others_illegal():
    setup = demo.setup_of(read_script(OPENING.replace("side Bob\n", "side Bob\nside Cid\n", 1)))
    cards = ("roll-01 1/battle", "roll-02 2/battle", "roll-03 3/battle", *ANSWERED_UNSEEN, "100-02 3/distance")

    items = told_of(*(f"{2 * n} {card}" for n, card in enumerate(cards)), seconds=16, setup=setup)

    assert confirmed(items)[3:] == ["Ann 100", "Bob discard speed-limit", "Cid 100"]
    assert refused(items) == ["Bob end-of-limit"]


def told_of_one_on_its_like(
    *cards: str,
    card: Card,
    zone: str,
    at_s: float = 4,
    till_s: float = 99,
    target: int = 1000,
    is_pushed: bool = False,
    seconds: float = 13,
) -> list[dict]:
    """What is told of cards, and of one laid at a time, on which its like comes to lie 4 s later, 1 mm beside it.

    One that is pushed comes to lie 4 mm beside, and nothing tells that there are not two. It all lasts so long after
    that card was laid.
    """
    laid = [_lying(*row.split()) for row in cards]
    lower = Sighting(card, None, (0.0, 0.0), None, zone_of(zone), False, 0.99, "face", stay=1)

    def look(frame: Frame) -> View:
        since_s = frame.t_s - at_s
        lying = [seen for from_s, until_s, seen in laid if from_s <= frame.t_s < until_s]
        if since_s >= 0 and frame.t_s < till_s:
            pushed = replace(lower, centre_px=(0.0, 8.0), is_double=True, stay=2)
            beside = pushed if is_pushed else replace(lower, centre_px=(0.0, 2.0))
            lying.append(lower if since_s < 4 else beside)
        return View(frame.t_s, MATS, tuple(lying), frozenset({lower.zone} if 3.6 <= since_s < 4 else ()))

    setup = replace(demo.setup_of(read_script(OPENING)), target=target)
    watcher = Watcher(setup, look, confirm=True, extension=Verb.FINISH)
    return list(watcher.items(Frame(None, number / 10) for number in range(round(10 * (at_s + seconds)))))


def test_a_card_taken_for_the_like_that_it_lies_on_is_found_by_what_follows():
    plays = "0 roll-01 1/battle", "2 roll-02 2/battle", "6 25-01 discard", "10 25-02 discard"
    rows = *plays, "12 accident-01 2/battle", "14 repairs-01 2/battle"

    items = told_of_one_on_its_like(*rows, card=Card.OUT_OF_GAS, zone="2/battle")

    assert [item["missed"] for item in items if "missed" in item] == ["Ann out-of-gas > Bob"]
    assert confirmed(items)[-3:] == ["Bob discard 25", "Ann accident > Bob", "Bob repairs"]


def test_a_card_taken_for_the_like_that_it_lies_on_is_found_though_a_slip_lies_there_too():
    plays = "0 roll-01 1/battle", "2 roll-02 2/battle", "6 25-01 discard", "10 25-02 discard"
    rows = *plays, "11 end-of-limit-01 1/speed", "13 accident-01 2/battle"

    items = told_of_one_on_its_like(*rows, card=Card.OUT_OF_GAS, zone="2/battle")

    assert refused(items)[0].endswith("end-of-limit")
    assert [item["missed"] for item in items if "missed" in item] == ["Ann out-of-gas > Bob"]
    assert confirmed(items)[-2:] == ["Bob discard 25", "Ann accident > Bob"]


def test_a_card_taken_for_its_like_is_found_though_many_have_played_on_before_anything_speaks_for_it():
    faces = ["75", "50", "roll", "75", "50", "roll", "75", "50"]
    discards = [f"{10 + 2 * n} {face}-{1 + n // 3:02} discard" for n, face in enumerate(faces)]
    plays = "0 roll-04 1/battle", "2 roll-05 2/battle", "6 100-01 discard", *discards

    items = told_of_one_on_its_like(
        *plays, "28 stop-01 1/battle", "30 roll-06 1/battle", card=Card.KM_25, zone="1/distance", seconds=30
    )

    assert [item["missed"] for item in items if "missed" in item] == ["Ann 25"]
    assert confirmed(items)[-2:] == ["Bob stop > Ann", "Ann roll"]


def test_a_card_that_was_touched_just_as_another_was_laid_has_no_like_on_it_for_a_play_that_is_illegal():
    plays = "0 roll-01 1/battle", "2 roll-02 2/battle", "8 50-01 discard", "12 100-01 2/distance"

    items = told_of_one_on_its_like(*plays, card=Card.KM_25, zone="1/distance")

    assert refused(items) == ["Bob 100"]
    assert not missed(items)


def test_a_doubtful_play_is_dropped_before_one_is_supposed_that_nobody_saw():
    plays = "0 roll-01 1/battle", "2 roll-02 2/battle", "6 100-01 discard", "10 75#2 discard 0.85", "12 50-01 discard"

    items = told_of_one_on_its_like(
        *plays, "14 stop-01 1/battle", "14 roll-03 1/battle", card=Card.KM_25, zone="1/distance", seconds=16
    )

    assert withdrawn(items) == ["Bob discard 50", "Ann discard 75"]
    assert confirmed(items)[-3:] == ["Ann discard 50", "Bob stop > Ann", "Ann roll"]
    assert not missed(items)


def test_a_hazard_that_was_taken_for_its_like_pushed_was_laid_if_what_follows_is_in_turn_only_with_it():
    plays = (
        "0 roll-01 1/battle",
        "2 roll-02 2/battle",
        "6 25-01 discard",
        "10 25-02 discard",
        "12 speed-limit-01 2/speed",
    )

    items = told_of_one_on_its_like(*plays, card=Card.OUT_OF_GAS, zone="2/battle", is_pushed=True)

    assert withdrawn(items) == []
    assert told(items)[3:] == ["Bob discard 25", "Ann out-of-gas > Bob?", "Bob discard 25?", "Ann speed-limit > Bob"]
    assert counted(items) == ["Ann out-of-gas > Bob", "Bob discard 25"]


def test_a_discard_that_was_pushed_is_found_long_after_it_counted_twice_by_two_that_are_out_of_turn():
    discards = [f"{10 + 2 * n} {face}-{1 + n // 3:02} discard" for n, face in enumerate(3 * ["75", "50", "roll"])]
    plays = ("0 roll-04 1/battle", "2 roll-05 2/battle", "6 100-01 discard", *discards)

    items = told_of_one_on_its_like(
        *plays,
        "28 stop-01 1/battle",
        "30 roll-06 1/battle",
        card=Card.KM_25,
        zone="discard",
        is_pushed=True,
        seconds=30,
    )

    assert "Ann discard 25" in withdrawn(items)
    assert confirmed(items)[-3:] == ["Ann discard roll", "Bob stop > Ann", "Ann roll"]


# Cards told by their faces that hands have pushed, covered or carried off

ROLLED = "0 roll-01 1/battle", "2 roll-02 2/battle"


@pytest.mark.parametrize("slip", [(), ("5 end-of-limit-01 2/speed",)], ids=["nothing else", "a slip that lies on"])
@pytest.mark.parametrize(
    ("laid", "expected"),
    [
        (("100-01 3/distance", "50-02 discard"), ["Cid 100", "Ann discard 50"]),
        (("stop-01 1/battle", "roll-04 1/battle"), ["Cid stop > Ann", "Ann roll"]),
    ],
    ids=["one is illegal with it", "both are"],
)
def test_a_discard_of_which_a_like_lies_there_too_was_that_one_pushed_where_two_are_in_turn_without_it(
    slip: tuple[str, ...], laid: tuple[str, str], expected: list[str]
):
    setup = demo.setup_of(read_script(OPENING.replace("side Bob\n", "side Bob\nside Cid\n", 1)))
    discards = *slip, "4 roll-03 3/battle", "6-9 25#1 discard", "8 50-01 discard", "10 25#2@16 discard"

    items = told_of(
        *ROLLED, *discards, f"12 {laid[0]}", f"14 {laid[1]}", seconds=18, setup=setup, hidden="9-10 discard"
    )

    assert in_the_end(items)[-3:] == ["Bob discard 50", *expected]


def test_a_doubtful_discard_was_a_like_pushed_before_a_card_is_supposed_on_one_that_was_touched():
    touched = "4-7.4 25#1 1/distance", "6-12 50#2 discard", "7.4 25#1@2 1/distance", "8 75-01 discard"
    rows = *touched, "10 100-01 discard", "12 50#3@16? discard", "14 25-05 discard", "16 stop-01 1/battle"

    items = told_of(*ROLLED, *rows, seconds=20, hidden="7-7.4 1/distance;11.6-12 discard")

    assert not missed(items)
    assert confirmed(items)[-2:] == ["Ann discard 25", "Bob stop > Ann"]


@pytest.mark.parametrize("follows", [(), ("18 100-01 2/distance", "20 50-07 discard")], ids=["at first", "later"])
def test_a_card_that_may_be_its_like_pushed_is_no_play_for_which_others_would_be_missing(follows: tuple[str, ...]):
    lying = "4-11.4 75#1 1/distance", "6 25-01 discard", "8 50#2@60 1/distance", "10 25-02 discard"
    touched = "11.4-15.4 75#1@2 1/distance", "13 100-05 discard", "15.4 75#3@36? 1/distance"

    items = told_of(*ROLLED, *lying, *touched, *follows, seconds=24, hidden="11-11.4 1/distance;15-15.4 1/distance")

    assert confirmed(items).count("Ann 75") == 1
    assert not missed(items)


def test_a_hazard_that_seemed_to_be_carried_off_was_discarded_where_the_next_player_is_in_turn_only_with_it():
    beaten = "4-6 speed-limit#1 2/speed", "6 end-of-limit#2 2/speed", "8 25-01 discard", "10 speed-limit#3 discard"

    items = told_of(
        *ROLLED, *beaten, "12 stop-01 2/battle", seconds=16, hidden="9.4-10 2/speed;9.4-10 discard;5.6-6 2/speed"
    )

    assert counted(items) == ["Bob discard speed-limit"]
    assert confirmed(items)[-1] == "Ann stop > Bob"


@pytest.mark.parametrize("face", ["stop", "out-of-gas"], ids=["as one that was beaten there", "the first there"])
def test_a_doubtful_hazard_counts_once_it_is_carried_off_with_its_remedy(face: str):
    beaten = "4 75-01 discard", "6-7.6 stop#7 1/battle", "8 roll#8 1/battle", "10 25-01 discard", "12 75-02 discard"
    remedy = {"stop": "roll", "out-of-gas": "gasoline"}[face]
    attacked = f"14-18.6 {face}#1@2 1/battle 0.85", f"19.4 {remedy}#2 discard", "22 50-01 discard"
    hidden = "7.6-8 1/battle;13.4-14 1/battle;18.4-19.4 1/battle;18.4-19.4 discard"

    items = told_of(*ROLLED, *beaten, *attacked, "25 accident-01 2/battle", seconds=30, hidden=hidden)

    played = [f"Bob {face} > Ann", f"Ann {remedy}", "Bob discard 50", "Ann accident > Bob"]
    assert in_the_end(items)[-4:] == played


def test_a_hazard_that_may_be_its_like_pushed_is_missing_too_where_its_remedy_is_illegal_without_it():
    beaten = "4 25-01 discard", "6-7.6 stop#1 1/battle", "8-14.6 roll#2 1/battle", "10 100-01 discard"
    played = "11 75#5 discard 0.85", "13 50-01 discard", "15-16.6 stop#3@30? 1/battle", "17 roll#4@30 1/battle"
    hidden = "7.6-8 1/battle;14.6-15 1/battle;16.6-17 1/battle"

    items = told_of(*ROLLED, *beaten, *played, seconds=22, hidden=hidden)

    assert withdrawn(items) == ["Bob discard 50", "Ann discard 75"]
    assert in_the_end(items)[-3:] == ["Ann discard 50", "Bob stop > Ann", "Ann roll"]


def test_cards_that_come_to_light_just_where_they_lay_had_not_gone():
    discards = "4-5.6 25#1 discard", "6-10 50#2@4 discard", "14 50#2@4 discard", "16 25#3@20 discard"
    driven = "8 100-01 1/distance", "12 75-01 2/distance"

    items = told_of(*ROLLED, *discards, *driven, seconds=20, hidden="5.6-6 discard;13-14 discard;15.4-16 discard")

    assert confirmed(items)[-2:] == ["Bob 75", "Ann discard 25"]


@pytest.mark.parametrize("target", [200, 700], ids=["the whole trip", "all but an extension"])
def test_a_card_taken_for_its_like_counts_where_it_completes_the_trip_and_the_cards_are_gathered_in(target: int):
    farther = ("200-01 1/distance", "25-02 discard", "200-02 1/distance", "25-03 discard", "100-01 1/distance")
    before = [*farther, "25-04 discard"] if target == 700 else []
    at_s, till_s = 4 + 2 * len(before), 12 + 2 * len(before)
    played = ("roll-01 1/battle", "roll-02 2/battle", *before)
    rows = (f"{2 * number}-{till_s} {row}" for number, row in enumerate(played))

    items = told_of_one_on_its_like(
        *rows,
        f"{at_s + 2}-{till_s} 25-01 discard",
        card=Card.KM_100,
        zone="1/distance",
        at_s=at_s,
        till_s=till_s,
        target=target,
    )

    assert confirmed(items)[-2:] == ["Ann 100", "Bob discard 25"]
    assert [item["missed"] for item in items if "missed" in item] == ["Ann 100"]
    assert [item["ended"] for item in items if "ended" in item] == ["completed"]


def _lying(when: str, card: str, zone: str, sure: str = "0.99") -> tuple[float, float, Sighting]:
    since_s, _, till_s = when.partition("-")
    if "#" in card:
        face, stay, down, double = re.fullmatch(r"(.+)#(\d+)@?(\d*)(\??)", card).groups()
        middle = (0.0, float(down or 0))
        seen = Sighting(Card(face), None, middle, None, zone_of(zone), False, float(sure), "face", stay=int(stay))
        return float(since_s), float(till_s or "inf"), replace(seen, is_double=bool(double))
    rivals = tuple((name, float(share)) for name, share in re.findall(r"([^|]+):([^|]+)", card))
    face, known, confidence = (Card.UNKNOWN, None, 0.0) if rivals else (face_of(card), card, float(sure))
    known = None if known is None or is_any_copy(known) else known
    seen = Sighting(face, known, (0.0, 0.0), None, zone_of(zone), False, confidence, "sticker", rivals)
    return float(since_s), float(till_s or "inf"), seen


def counted(items: list[dict]) -> list[str]:
    return [item["counted"] for item in items if "counted" in item]


def withdrawn(items: list[dict]) -> list[str]:
    return [item["withdrawn"] for item in items if "withdrawn" in item]


def kilometres(items: list[dict]) -> list[int]:
    """What the sides have driven by the sheet of the hand."""
    return [side["km"] for side in items[-1]["sides"].values()]


def test_rush_is_watched_as_far_as_pictures_tell_and_the_rest_is_asked(tmp_path: Path):
    (tmp_path / "rush.toml").write_text(RUSH_SETUP)
    cards = ("0 100-01 1/distance", "0 accelerator-01 1/distance", "2.1 pollution-01 1/battle")
    items = told_of(
        *cards, "4.1 mirror-01 discard", "6.1 stop-01 2/battle", seconds=10, setup=read_setup(tmp_path / "rush.toml")
    )

    (question,) = [item for item in items if "question" in item]
    assert confirmed(items) == ["Ann 100*2", "Bob pollution > Ann"]
    assert question["zone"] == "table/discard"
    assert report.watched(question).endswith("enter the play it belongs to.")


def fifties(items: list[dict]) -> int:
    return in_the_end(items).count("Bob 50")


FOLLOWED = {
    "a card laid before the play before it was seen counts once it was": (
        ("0 roll-02 2/battle", "1.1 roll-01 1/battle"),
        4,
        {refused: ["Bob roll"], confirmed: ["Ann roll", "Bob roll"]},
    ),
    "a card laid just before the films end counts": (("1.1 roll-01 1/battle",), 1.2, {confirmed: ["Ann roll"]}),
    "a legal play that was not read for sure is told and not confirmed": (
        ("0 roll-02 1/battle 0.8",),
        4,
        {told: ["Ann roll?"], counted: []},
    ),
    "a play that nobody was sure of counts once one follows that is sure": (
        ("0 roll-01 1/battle 0.8", "1 roll-02 2/battle", "2 100-01 1/distance"),
        4,
        {told: ["Ann roll?", "Bob roll", "Ann 100"], counted: ["Ann roll"]},
    ),
    "plays that nobody was sure of count where the cards are gathered in one after the other": (
        (
            *("0-10 roll-01 1/battle", "1-10 roll-02 2/battle", "2-10 100-01 1/distance"),
            *("3-9 100-02 2/distance 0.86", "4-8 100-03 1/distance 0.86"),
        ),
        12,
        {counted: ["Bob 100", "Ann 100"], confirmed: ["Ann roll", "Bob roll", "Ann 100", "end"]},
    ),
    "plays that nobody was sure of count though the later one is waited with while cards are gathered in": (
        (
            *("0-7.2 roll-01 1/battle", "0.5-7.2 roll-02 2/battle", "1-7.2 50-01 discard", "2-7.2 100-01 2/distance"),
            *("3-7.1 75-01 1/distance 0.86", "4-8.5 50-00 2/distance 0.86"),
        ),
        12,
        {kilometres: [75, 150]},
    ),
    "a play that nobody was sure of is dropped where a card is legal only without it": (
        ("0 roll#1 1/battle 0.8", "1 right-of-way-01 1/safety", "2 25-01 discard"),
        4,
        {confirmed: ["Ann right-of-way", "Ann discard 25"], refused: []},
    ),
    "a play that was not seen is never invented": (
        ("0 roll-01 1/battle", "1 100-01 1/distance", "2 50-01 2/distance"),
        4,
        {refused: ["Ann 100", "Bob 50"], confirmed: ["Ann roll"]},
    ),
    "a card laid out of turn counts once the others have gone on although it lies there": (
        (
            *("0 roll-01 1/battle", "3 roll-02 2/battle", "9 50-01 2/distance", "12 75-01 1/distance"),
            *("15 75-02 2/distance", "18 100-01 1/distance"),
        ),
        22,
        {refused: ["Bob 50"], kilometres: [175, 125]},
    ),
    "a card that counts after all is told although one like it counted before": (
        (
            *("0 roll-01 1/battle", "3 roll-02 2/battle", "6 100-01 1/distance", "9 50-02 2/distance"),
            *("15 50-01 2/distance", "18 75-01 1/distance", "21 75-02 2/distance", "24 100-02 1/distance"),
        ),
        28,
        {fifties: 2, kilometres: [275, 175]},
    ),
    "a turn that was missed beside a discard is noticed when the next cards are out of turn": (
        (
            *("0 roll-01 1/battle", "2 25-01 discard", "4 roll-02 2/battle"),
            *("6 100-01 1/distance", "8 100-02 2/distance"),
        ),
        10,
        {missed: True, kilometres: [100, 100]},
    ),
}


HAND_OVER = {
    "a card laid out of turn counts once the others have gone on although it lies there": "6-6.6 discard",
    "a card that counts after all is told although one like it counted before": "12-12.6 discard",
    "a turn that was missed beside a discard is noticed when the next cards are out of turn": "3.4-3.8 discard",
}
"""A camera misses a play only where a hand was: when, and over which zone."""


@pytest.mark.parametrize("what", FOLLOWED)
def test_of_cards_that_come_to_lie_there_is_told(what: str):
    cards, seconds, expected = FOLLOWED[what]

    items = told_of(*cards, seconds=seconds, hidden=HAND_OVER.get(what, "0-0 discard"))

    assert {what: what(items) for what in expected} == expected


def test_a_card_that_cannot_be_read_for_sure_is_a_question_with_its_choices_and_is_never_confirmed():
    items = told_of("0 roll-02:0.6|stop-03:0.5 1/battle", seconds=4)

    (question,) = [item for item in items if "question" in item]
    assert (question["choices"], question["zone"]) == (["Ann roll", "Bob stop > Ann"], "side-1/battle")
    assert confirmed(items) == []


def test_a_card_that_nobody_tells_counts_as_its_likeliest_once_somebody_plays_on():
    unread = "4 100-01:0.5|75-01:0.45 1/distance"
    items = told_of("0 roll-01 1/battle", "2 roll-02 2/battle", unread, "10 25-01 discard", seconds=14)

    assert [item["question"] for item in items if "question" in item] == [UNREAD]
    assert [item["counted"] for item in items if "counted" in item] == ["Ann 100"]
    assert confirmed(items) == ["Ann roll", "Bob roll", "Bob discard 25"]
    assert kilometres(items) == [100, 0]


def test_a_card_that_could_not_be_read_at_once_is_no_play_that_was_missed_later():
    unread = "2-4 25-01:0.6|50-01:0.5 discard"
    items = told_of(
        *("0 roll-01 1/battle", unread, "4 25-01 discard", "5 100-01 1/distance", "6 roll-02 2/battle"), seconds=10
    )

    assert [item["question"] for item in items if "question" in item] == [UNREAD]
    assert in_the_end(items) == ["Ann roll", "Bob discard 25", "Ann 100", "Bob roll"]

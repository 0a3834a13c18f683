"""The command line: what it prints, its exit codes, and one sentence for whatever is wrong."""

import json
import shutil
import signal
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

import click
import cv2
import numpy as np
import pytest
from pictures import Lens, Mat, Scene, picture
from records import WITH_FAULTS

from companion.app import usage
from companion.app.cli import companion as companion_group
from companion.tabletop.drawn_zones import FILE_NAME, DrawnZones, parse_drawing
from companion.tabletop.mat_layout import side_mat

TABLE = "[[side]]\nname = 'Ann'\n[[side]]\nname = 'Bob'\n"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "game.mbn"
    path.write_text(WITH_FAULTS, encoding="utf-8")
    return path


def is_one_sentence(text: str) -> bool:
    return text.count("\n") == 1 and text.endswith((".\n", "`\n")) and "Traceback" not in text


def test_replay_judges_every_line_and_ends_with_the_hand(called, record):
    ran = called("replay", record, "--json")

    *lines, hand = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [(line["line"], line["verdict"]) for line in lines] == [
        (5, "legal"), (6, "illegal"), (7, "unreadable"), (8, "legal"),
    ]  # fmt: skip
    assert lines[1]["reasons"][0]["code"] == "not-driving"
    assert hand["ended"] == "open"
    assert ran.returncode == 1


def test_sheets_speak_the_language_of_the_terminal_or_the_one_asked_for(called, tmp_path, monkeypatch):
    def printed(*more: str, lang: str = "C.UTF-8") -> str:
        monkeypatch.setenv("LC_ALL", lang)
        assert called("print", "mats", "--format", "svg", "--out", tmp_path, *more).returncode == 0
        return (tmp_path / "side-1.svg").read_text(encoding="utf-8")

    english, german = printed(), printed("--language", "de")

    assert english != german
    assert printed(lang="de_DE.UTF-8") == german
    assert printed(lang="tlh_KX.UTF-8") == english


def test_replay_as_lies_applies_illegal_plays_and_adds_the_table_where_it_is_asked_for(called, record):
    ran = called("replay", record, "--json", "--as-lies", "--states")

    *lines, _hand = [json.loads(line) for line in ran.stdout.splitlines()]
    illegal = [(line["text"], line["applied"]) for line in lines if line["verdict"] == "illegal"]
    assert illegal == [("Bob 25", True), ("Bob roll", True)]
    assert lines[0]["state"]["sides"]["Ann"]["battle"] == "roll"


CLOSING = (
    "3 lines were illegal or unreadable and left out, the first is line 6; what follows may be illegal only because "
    "of it. `companion replay --as-lies` counts every card as it was played; "
    "`anyway` at the end of a line counts that line."
)


def test_what_was_left_out_is_told_once_at_the_end(called, record):
    record.write_text(WITH_FAULTS + "Bob 25\n", encoding="utf-8")
    replayed, scored = called("replay", record, record), called("score", record)

    assert replayed.stdout.count(CLOSING) == 2
    assert "Total" in scored.stdout
    assert scored.stderr.count(f"  {CLOSING}\n") == 1


def test_unknown_words_point_to_the_edition_that_is_played(called, tmp_path):
    path = tmp_path / "game.mbn"
    path.write_text("edition Rush\nside Ann\nside Bob\nhand first Ann\nAnn gharge\nAnn gharge\n", encoding="utf-8")
    replayed, scored = called("replay", path), called("score", path)

    pointer = "`companion editions show rush` lists the cards and the house rules.\n"
    assert replayed.stdout.count(pointer) == scored.stderr.count(pointer) == 1
    assert replayed.stdout.endswith(pointer)


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "edition rush\nside Ann\nside Bob\n"])
def test_a_record_without_a_play_is_told_so(called, tmp_path, text):
    path = tmp_path / "empty.mbn"
    path.write_text(text, encoding="utf-8")
    replayed, scored, as_json = (called(*words, path) for words in (["replay"], ["score"], ["replay", "--json"]))

    assert replayed.stderr == scored.stderr == f"{path} has no plays.\n"
    assert (replayed.stdout, as_json.stdout, as_json.stderr) == ("", "", "")
    assert (replayed.returncode, scored.returncode, as_json.returncode) == (0, 0, 0)


@pytest.mark.parametrize("command", ["replay", "score"])
def test_a_file_that_is_no_record_is_left_after_five_complaints(called, tmp_path, command):
    path = tmp_path / "letter.txt"
    path.write_text("Dear aunt,\n" * 40, encoding="utf-8")
    ran = called(command, path)

    assert (ran.stdout + ran.stderr).count("unreadable") == 5
    assert "Is this a record?" in ran.stderr.splitlines()[-1]
    assert ran.returncode == 1


@pytest.mark.parametrize("words", [["replay"], ["replay", "--json"], ["score"]])
def test_a_file_that_is_no_text_gets_one_sentence(called, tmp_path, words):
    path, sound = tmp_path / "scan.mbn", tmp_path / "sound.mbn"
    path.write_bytes(bytes(range(256)) * 40)
    sound.write_text(WITH_FAULTS, encoding="utf-8")
    alone, together = called(*words, path), called(*words, path, sound)

    assert (alone.stdout, alone.stderr) == (
        "",
        f"{path} is not a record: a record is a text file with one play per line.\n",
    )
    assert (alone.returncode, together.returncode) == (1, 1)
    assert together.stdout == called(*words, sound).stdout


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_record_saved_by_notepad_is_read(called, tmp_path, encoding):
    record, same = tmp_path / "game.mbn", tmp_path / "same" / "game.mbn"
    same.parent.mkdir()
    record.write_text(WITH_FAULTS, encoding="utf-8")
    same.write_text(WITH_FAULTS, encoding=encoding)

    for words in (["replay", "--json"], ["replay"], ["score"]):
        assert called(*words, same).stdout.replace(str(same), str(record)) == called(*words, record).stdout


def test_a_record_is_counted_to_its_end_though_its_first_lines_are_misspelt(called, tmp_path):
    path = tmp_path / "evening.mbn"
    path.write_text("side Ann\nside Bob\nhand first Ann\n" + "Ann rol\n" * 6 + "Ann roll\n", encoding="utf-8")
    ran = called("replay", path)

    assert ran.stdout.count("unreadable") == 6
    assert "Ann roll: legal" in ran.stdout


def test_editions_lists_all_that_ship(called):
    ran = called("editions")

    assert [line.split()[0] for line in ran.stdout.splitlines()] == [
        "classic", "asmodee-2014", "bsd-mille", "dujardin-2014", "parker", "rush",
    ]  # fmt: skip


OURS = """parent = "classic"
name = "ours"

[switches]
hazard-on-hazard = { value = "forbidden", source = "grandmother" }
"""


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    path = tmp_path / "ours.toml"
    path.write_text(OURS, encoding="utf-8")
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.toml"
    path.write_text(OURS.replace('"forbidden"', '"never"') + "[deck-changes]\nroll = 13\n", encoding="utf-8")
    return path


def test_editions_check_tells_everything_that_is_wrong_by_key(called, ours, wrong):
    ran = called("editions", "check", ours, wrong)

    assert ran.stdout == f"{ours}: Ours is in order, 106 cards; as classic but for hazard-on-hazard=forbidden.\n"
    assert ran.stderr.splitlines() == [
        f"{wrong}: [switches] 'hazard-on-hazard' is allowed or forbidden, not 'never'.",
        f"{wrong}: with [deck-changes] the deck has 105 cards, not 106: correct the counts, or write cards = 105 "
        "under [setting-up].",
    ]
    assert ran.returncode == 1


FILES = {
    "rubbish": b"\xff\xfe\x00rubbish\r\n\tmore > > !\nside\nhand first\n" + bytes(range(256)),
    "stands": b"side Ann\nside Bob\nhand first Ann\nAnn 100 anyway\n",
    "unplayed": b"edition klassik\nAnn roll\n",
    "bad": b"side Ann\nside Bob\nhand first Ann\nAnn roll\n" + b"Ann quux\n" * 8,
    "other": OURS.encode(),
}
TRACE = "Traceback"
CALLS = {
    "nothing is left out where every card lies": ("replay {record} --as-lies", 1, "", "", "left out"),
    "nor is that said in JSON": ("replay {record} --json", 1, '"illegal"', "", "left out"),
    "a line that the table let stand is counted": ("score {stands}", 1, "100", "counted anyway: ", "left out"),
    "no hand was counted": ("score {unplayed}", 1, "", "\n  No hand could be counted.\n", TRACE),
    "rubbish is reported line by line": ("replay {rubbish} --json", 1, '"unreadable"', "", '"legal"'),
    "bad lines after a good one to the end": ("replay {bad}", 1, "bad.file:12: Ann quux: unreadable", "", "a record?"),
    "and the score of it": ("score {bad}", 1, "", "bad.file:12: Ann quux: unreadable", "a record?"),
    "a sheet has every switch": ("editions show classic", 0, "hazard-on-hazard=allowed", "", TRACE),
    "and its sources": ("editions show classic", 0, "Playing hazards", "", TRACE),
    "a name in any case": ("editions show RUSH", 0, "Rush – ", "", TRACE),
    "a file of one's own": ("editions show {ours}", 0, "* hazard-on-hazard=forbidden", "", TRACE),
    "and its source": ("editions show {ours}", 0, "[our own rules: grandmother]", "", TRACE),
    "a file that is wrong": ("editions show {wrong}", 1, "", "wrong.toml: [switches] 'hazard-on-hazard' is", TRACE),
    "a file by another name": ("editions check {other}", 0, "name the file ours.toml.\n", "", TRACE),
    "the rest beside one that is missing": ("editions check {ours} none.toml", 2, "in order", "cannot be read", TRACE),
    "sheets of an edition of one's own": (
        "print mats --edition ours --format svg --out {data} --data {data}", 0, "side-1.svg", "", TRACE,
    ),
    "that an edition is not there first": ("print mats --edition klassik", 2, "", "no edition 'klassik'", "--out"),
    "a picture not there": ("doctor --source no.jpg --data {data}", 1, "MISSING camera: No film, folder", "", TRACE),
    "no range where there is none": ("print --help", 0, "print", "", "None"),
    "a range where there is one": ("demo --help", 0, "0.1<=x<=20", "", TRACE),
}  # fmt: skip


@pytest.mark.parametrize(("words", "code", "out", "err", "never"), CALLS.values(), ids=CALLS)
def test_a_call_prints(called, record, ours, wrong, tmp_path, words, code, out, err, never):
    (tmp_path / "data/editions").mkdir(parents=True)
    (tmp_path / "data/editions/ours.toml").write_text(OURS, encoding="utf-8")
    files = {"record": record, "ours": ours, "wrong": wrong, "data": tmp_path / "data"}
    for name, content in FILES.items():
        files[name] = tmp_path / f"{name}.file"
        files[name].write_bytes(content)

    ran = called(*words.format(**files).split())

    assert ran.returncode == code
    assert out in ran.stdout
    assert err in ran.stderr
    assert never not in ran.stdout + ran.stderr


def test_an_edition_in_the_data_folder_is_played_by_its_name(called, tmp_path, monkeypatch, ours):
    (tmp_path / "data/editions").mkdir(parents=True)
    ours.rename(tmp_path / "data/editions/ours.toml")
    record = tmp_path / "game.mbn"
    plays = "Ann roll\nBob roll\nAnn stop > Bob\nBob discard 25\nAnn accident > Bob\n"
    record.write_text(f"edition ours\nside Ann\nside Bob\nhand first Ann\n{plays}", encoding="utf-8")
    ran = called("replay", record, "--json", "--data", tmp_path / "data")
    monkeypatch.setenv("COMPANION_DATA", str(tmp_path / "data"))

    *lines, _hand = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [reason["code"] for reason in lines[-1]["reasons"]] == ["already-attacked"]
    assert "ours " in called("editions").stdout
    assert "Ours – " in called("editions", "--data", tmp_path / "data", "show", "ours").stdout


def test_an_edition_in_the_data_folder_that_is_wrong_is_named_and_left_out(called, tmp_path, wrong):
    (tmp_path / "data/editions").mkdir(parents=True)
    wrong.rename(tmp_path / "data/editions/ours.toml")
    ran = called("editions", "--data", tmp_path / "data")

    assert "ours.toml: [switches] 'hazard-on-hazard' is" in ran.stderr
    assert "ours" not in ran.stdout
    assert ran.returncode == 0


CAMERAS = "up --data empty --camera /dev/video0"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ("replay nowhere.mbn", 2, ""), ("score nowhere.mbn", 2, ""), ("editions show klassik", 2, ""),
        ("editions check nowhere.toml", 2, ""), ("editions show nowhere.toml", 2, ""),
        ("read nowhere.jpg --json", 1, ""), ("read nowhere.jpg --audit klassik", 2, ""),
        ("watch --source nowhere.mp4 --setup nowhere.toml --json", 2, ""),
        ("watch --source demo:nothing-like-it", 2, ""), ("export 1 --data empty", 2, ""),
        ("print stickers --edition klassik --out x", 2, ""), ("print stickers --size-mm 3 --out x", 2, ""),
        ("nonsense", 2, ""), ("demo --speed fast", 2, ""), ("replay holiday.jpg", 1, ""), ("score holiday.jpg", 1, ""),
        (f"{CAMERAS} --camera nowhere.mp4", 2, "No film, folder or camera nowhere.mp4: check the path."),
        *((f"{words} rtsp//ann:secret@10.0.0.5/{name}", 2, "No film, folder or camera rtsp//10.0.0.5: check")
          for words in (f"{CAMERAS} --camera", "watch --setup table.toml --source") for name in ("live", "a.jpg")),
        ("read holiday.jpg --audit=", 2, "There is no edition ''"),
        (f"{CAMERAS} --camera 0", 2, "0 is listed twice: list each camera once."),
        (f"{CAMERAS}{''.join(f' --camera {n}' for n in (1, 2, 3, 4))}", 2, "No more cameras can be used at once"),
    ],
)  # fmt: skip
def test_a_wrong_call_gets_one_sentence(called, tmp_path, monkeypatch, words, code, says):
    monkeypatch.chdir(tmp_path)
    Path("holiday.jpg").write_bytes(bytes(range(256)) * 40)
    Path("table.toml").write_text('[[side]]\nname = "Ann"\n[[side]]\nname = "Bob"\n')
    ran = called(*words.split())

    assert ran.stdout == ""
    assert is_one_sentence(ran.stderr), ran.stderr
    assert ran.stderr.startswith(says)
    assert ran.returncode == code


@pytest.mark.parametrize(("command", "option"), [*product(("up", "demo"), ("--address", "--mqtt")), ("up", "--club")])
def test_an_empty_address_is_refused_like_a_wrong_one(called, command, option):
    empty, wrong = (called(command, option, address) for address in ("", "nonsense"))

    assert (empty.returncode, empty.stdout, empty.stderr) == (2, "", wrong.stderr)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("print stickers", "`companion print` needs --out DIR, as in `companion print stickers --out sheets`"),
        ("print", "`companion print` needs stickers, mats, deck or robot, as in `companion print stickers"),
        ("print rugs --out x", "`companion print` takes stickers, mats, deck or robot, not 'rugs', as in"),
        ("print stickers --out x --size-mm 20,5", "--size-mm is a number such as 20, not '20,5': write 20.5, with a"),
        ("print stickers --out x --size-mm nan", "--size-mm is a number such as 20, not 'nan'."),
        ("demo --speed nan", "--speed is a number from 0.1 to 20, not 'nan', as in `companion demo --speed 2`"),
        ("demo --speed 99", "--speed is a number from 0.1 to 20, not '99.0', as in `companion demo --speed 2`"),
        ("up --port inf", "--port is a whole number from 1 to 65535, not 'inf'."),
        ("print deck --out x --dpi 900", "--dpi is a whole number from 50 to 600, not '900'."),
        ("export x", "MATCH is a whole number, not 'x', as in `companion export 1 --format csv`"),
        ("read", "`companion read` needs IMAGE, as in `companion read table.jpg --json`"),
        ("print stickers --uot x", "No such option '--uot'."),
        ("nonsense", "No such command 'nonsense': see `companion --help`."),
        (
            "up rtsp://ann:secret@10.0.0.5/live",
            "Got unexpected extra argument (rtsp://10.0.0.5): see `companion up --help`.",
        ),
        ("rtsp//ann:secret@10.0.0.5/live", "No such command 'rtsp//10.0.0.5': see `companion --help`."),
    ],
)
def test_a_wrong_call_is_told_how_it_is_written(words: str, says: str):
    with pytest.raises(click.ClickException) as wrong:
        companion_group.main(words.split(), prog_name="companion", standalone_mode=False)

    said = usage.sentence(wrong.value)
    assert said.startswith(says)
    assert is_one_sentence(said + "\n")


@pytest.mark.parametrize("words", [(), ("club",)])
def test_a_call_without_a_command_shows_the_help_as_it_is(words):
    with pytest.raises(click.ClickException) as nothing:
        companion_group.main(list(words), prog_name="companion", standalone_mode=False)
    lines = usage.sentence(nothing.value).splitlines()

    assert lines[0] == " ".join(("Usage: companion", *words, "[OPTIONS] COMMAND [ARGS]..."))
    assert "Commands:" in lines
    assert not [line for line in lines[1:] if line.endswith("...")]
    assert "see `companion" not in lines[-1]


@pytest.mark.long
def test_a_film_without_a_play_gets_a_hint(called, tmp_path):
    frames = tmp_path / "frames"
    frames.mkdir()
    for number in range(3):
        cv2.imwrite(str(frames / f"{number}.png"), np.full((180, 320, 3), 90, np.uint8))
    setup = tmp_path / "table.toml"
    setup.write_text(TABLE, encoding="utf-8")
    call = ("watch", "--source", frames, "--setup", setup, "--data", tmp_path)

    assert "Cards without stickers need --deck own" in called(*call).stderr
    assert "with --deck own which are told" in called(*call, "--deck", "own").stderr
    setup.write_text(f'cards = "own"\n{TABLE}', encoding="utf-8")
    assert "with --deck own which are told" in called(*call).stderr


def test_a_hint_says_what_was_typed(called, monkeypatch):
    monkeypatch.setenv("COMPANION_CALLED", "deploy/run")

    assert called("print").stderr.endswith("as in `deploy/run print stickers --out sheets`\n")
    assert "Add one of your cards with `deploy/run enroll`" in called("decks", "show", "grandma").stderr


BAD_SETUPS = ["edition = 'klassik'", "colour = 'red'", "[[side]]\nname = 3", "= =", "side = 1", ""]


@pytest.mark.parametrize("setup", BAD_SETUPS)
def test_a_setup_file_that_is_wrong_gets_one_sentence_that_names_it(called, tmp_path, setup):
    path = tmp_path / "table.toml"
    path.write_text(setup, encoding="utf-8")
    ran = called("watch", "--source", tmp_path, "--setup", path, "--json")

    assert is_one_sentence(ran.stderr), ran.stderr
    assert "table.toml" in ran.stderr
    assert ran.returncode == 2


@pytest.mark.parametrize("name", companion_group.list_commands(None))
def test_every_command_has_help_with_an_example(called, name):
    said = called(name, "--help").stdout

    assert "Example:" in said
    assert "--data" in said


@pytest.mark.parametrize("words", [["replay"], ["replay", "--as-lies"], ["score"]])
def test_a_line_of_rubbish_or_a_picture_takes_no_other_line_or_record_along(called, record, tmp_path, words):
    rubbish, picture = tmp_path / "rubbish.mbn", tmp_path / "holiday.jpg"
    rubbish.write_bytes(b"side Ann\nside Bob\nhand first Ann\nAnn \x00\xff\x00\nAnn roll\n")
    picture.write_bytes(bytes(range(256)) * 40)
    good, ran = called(*words, record), called(*words, rubbish, picture, record)

    assert f"{rubbish}:4: Ann ·�·: unreadable" in ran.stdout + ran.stderr
    assert ran.stdout.endswith(good.stdout)
    assert ran.returncode == 1


@pytest.mark.long
def test_read_with_a_setup_file_says_beside_all_else_what_the_camera_allows_and_what_would_help(called, tmp_path):
    """Ann's mat alone on a table that is 2 m wide."""
    photo, setup = tmp_path / "table.png", tmp_path / "table.toml"
    cv2.imwrite(str(photo), picture(Scene(mats=(Mat(side_mat(1), -210, -150),)), Lens(width_mm=2000)))
    setup.write_text(TABLE, encoding="utf-8")

    ran = called("read", photo, "--setup", setup)
    plain, told = (json.loads(called("read", photo, "--json", *more).stdout) for more in ((), ("--setup", setup)))

    assert ran.returncode == 0
    for said in ("side-1/battle", "→ The mat of side 2", "→ Move the camera"):
        assert said in ran.stdout
    assert [hint["code"] for hint in told.pop("setup")["hints"]] == ["mat-missing", "closer"]
    assert told == plain


DRAWN = "picture = [1920, 1080]\n" + "".join(
    f'[[zone]]\nname = "side-{side}/{zone}"\nrect = [{left}, {top}, {width}, 300]\n'
    for side, top in ((1, 100), (2, 500))
    for zone, left, width in (("battle", 100, 200), ("distance", 400, 600))
)


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A table without mats and without cards, and a setup file that draws zones on it."""
    path = tmp_path / "bare.png"
    cv2.imwrite(str(path), picture(Scene(cloth=(150, 150, 150)), Lens(width_mm=900)))
    path.with_suffix(".toml").write_text(DRAWN + TABLE, encoding="utf-8")
    return path


def test_read_does_not_call_a_camera_good_where_nothing_tells_the_scale(called, bare):
    ran = called("read", bare, "--setup", bare.with_suffix(".toml"))

    assert "no cards" in ran.stdout
    assert "· Put a card in each zone and check again" in ran.stdout
    assert "enough for" not in ran.stdout


@pytest.mark.parametrize(
    ("where", "told"),
    [("setup", "mats: Drawn zones of 2 mats."), ("page", "mats: Drawn zones of 2 mats."),
     ("damaged", "note    zones: The drawn zones in")],
)  # fmt: skip
def test_doctor_sees_the_zones_that_the_setup_file_or_the_data_folder_draws(called, bare, tmp_path, where, told):
    setup = ("--setup", bare.with_suffix(".toml")) if where == "setup" else ()
    if where == "page":
        DrawnZones(tmp_path).save(parse_drawing(tomllib.loads(DRAWN)))
    elif where == "damaged":
        (tmp_path / FILE_NAME).write_text("{", encoding="utf-8")

    said = called("doctor", "--source", bare, *setup, "--data", tmp_path).stdout
    assert told in said
    assert ("No mat found" in said) is (where == "damaged")


@pytest.mark.long
def test_what_a_deck_lacks_is_said_wherever_it_is_used(called, tmp_path):
    source = tmp_path / "faces"
    source.mkdir()
    for slug in ("roll", "25"):
        shutil.copy(Path(__file__).parent.parent / "card_templates" / "own" / f"{slug}.png", source / f"{slug}.png")
    enrolled = called("enroll", "ours", "--edition", "classic", "--from", source, "--data", tmp_path)
    picture = source / "roll.png"
    read = called("read", picture, "--deck", "ours", "--data", tmp_path)

    setup = tmp_path / "table.toml"
    setup.write_text(f'cards = "ours"\n{TABLE}', encoding="utf-8")
    watched = called("watch", "--source", source, "--setup", setup, "--data", tmp_path)

    assert watched.stderr.startswith("The deck 'ours' has no picture of 50, 75, 100, 200")
    assert "no picture yet of 50, 75" in enrolled.stdout + enrolled.stderr
    assert read.stderr.startswith("The deck 'ours' has no picture of 50, 75, 100, 200")
    assert is_one_sentence(read.stderr)


PULLED_WHILE_IT_LOADS = """
import importlib.abc, os, signal, sys

class Pulled(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "companion.app.cli":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Pulled())
from companion.app.main import main
main()
"""


def test_ctrl_c_while_the_program_loads_ends_it_without_a_word():
    ended = subprocess.run([sys.executable, "-c", PULLED_WHILE_IT_LOADS], capture_output=True, text=True)

    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")

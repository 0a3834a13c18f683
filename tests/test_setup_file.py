"""The setup file: players, house rules and deck."""

from pathlib import Path

import pytest

from companion.common.errors import Problem
from companion.match.setup_file import Setup, read_setup
from companion.rules.cards import Card
from companion.rules.record import judge, notation

SIDES = """
[[side]]
name = "Ann"
[[side]]
name = "Bob"
"""


def read(folder: Path, text: str) -> Setup:
    path = folder / "table.toml"
    path.write_text(text + SIDES, encoding="utf-8")
    return read_setup(path)


def test_house_rules_become_options_of_the_record(tmp_path):
    setup = read(tmp_path, '[options]\nroll-on-remedy = "forbidden"\nextension = "no"')

    assert setup.header()[-2:] == ["option roll-on-remedy=forbidden", "option extension=no"]
    assert setup.edition.switch("roll-after-remedy") == "not-needed"


def test_the_setup_file_can_give_a_seat_to_a_robot(tmp_path):
    assert read(tmp_path, "robot = {Bob = 3}").robot == ("Bob", 3)
    assert read(tmp_path, "").robot is read(tmp_path, "").drawing is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[options]\nextension = false", "'extension' must be yes or no, not 'False'"),
        ('[options]\ncheating = "yes"', "no house rule 'cheating'"),
        ("robot.Eve = 2", "'robot' must name a player and a level from 1 to 3, such as robot.Bob = 2"),
        ("robot = {Ann = 1, Bob = 2}", "'robot' must name a player"),
        ("options = 3", r"\[options\] holds house rules"),
        ('edition = "rush"\n[deck]\nstop = 5', "the deck has 107 cards, not 106"),
        ('edition = "rush"\n[deck]\nstop = "5"', r"\[deck\] must give a number for each card"),
        ('edition = "rush"\n[deck]\nstop = true', r"\[deck\] must give a number for each card"),
        ('edition = "rush"\n[deck]\njoker = 2', "a card 'joker' that no edition has"),
        ('edition = "rush"\ndeck = 5', r"\[deck\] must give a number for each card"),
        ("[options]\npicture = [1280, 720]", r"'picture' is below \[options\] .*above \[options\]"),
        ("[deck]\ntarget = 700", r"move `target = …` above \[deck\]"),
        ("picture = [1280, 720]", r"no \[\[zone\]\] is drawn"),
    ],
)
def test_invalid_values_are_refused_with_a_sentence_that_names_the_file(tmp_path, text, sentence):
    with pytest.raises(Problem, match=rf"table\.toml: .*{sentence}.*\.$"):
        read(tmp_path, text)


@pytest.mark.parametrize("key", ["edition", "target", "first", "picture", "deck", "options"])
@pytest.mark.parametrize("table", ["side", "zone"])
def test_the_error_for_a_misplaced_key_says_where_it_belongs(tmp_path, table, key):
    path = tmp_path / "table.toml"
    path.write_text(f'{SIDES}\n[[{table}]]\nname = "Cid"\n{key} = 3', encoding="utf-8")

    with pytest.raises(Problem) as refused:
        read_setup(path)

    says = f"'{key}' is below [[{table}]] and belongs to it: move `{key} = …` above the first [[side]]."
    assert str(refused.value) == f"{path}: {says}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[zone]", r"1: write \[\[zone\]\] instead of \[zone\]"),
        ("target = 700\n  [ side ]", r"2: write \[\[side\]\]"),
        ("\n[[side]", r"2: the brackets \]\] after the name of a table are missing"),
        ("edition", "1: a line is a"),
    ],
)
def test_syntax_errors_are_refused_in_plain_words_with_their_line(tmp_path, text, sentence):
    with pytest.raises(Problem, match=rf"table\.toml:{sentence}.*\.$") as refused:
        read(tmp_path, text)

    assert "TOML" not in str(refused.value)


def test_a_setup_file_with_a_byte_order_mark_is_read(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text("\ufeff" + SIDES, encoding="utf-8")

    assert len(read_setup(path).sides) == 2


def test_corrected_card_counts_become_part_of_the_record(tmp_path):
    setup = read(tmp_path, 'edition = "rush"\n[deck]\nstop = 5\nroll = 5')

    assert setup.header()[:3] == ["edition rush", "deck stop=5, roll=5", "side Ann"]
    assert (setup.edition.deck[Card.STOP], setup.edition.deck[Card.ROLL]) == (5, 5)


def test_the_record_header_of_a_setup_gives_the_same_game(tmp_path):
    setup = read(tmp_path, 'edition = "rush"\ntarget = 700\n[options]\nfast-remedy = "no"\n[deck]\nstop = 5\nroll = 5')

    game = judge.NEW_GAME
    for number, text in enumerate(setup.header(), start=1):
        game, items = judge.step(game, notation.RecordLine(number, text))
        assert items == (), text
    assert game.edition == setup.edition


ZONES = """
picture = [1280, 720]
[[zone]]
name = "side-1/battle"
rect = [100, 100, 120, 220]
[[zone]]
name = "side-1/distance"
corners = [[100, 360], [600, 340], [600, 580], [100, 580]]
"""
SECOND = ZONES.partition("720]")[2].replace("side-1", "side-2").replace("[100,", "[700,").replace("[600,", "[1200,")


def test_the_setup_file_can_define_drawn_zones(tmp_path):
    setup = read(tmp_path, ZONES + SECOND)

    assert setup.drawing.picture == (1280, 720)
    assert [zone.name for zone in setup.drawing.of("side-2")] == ["side-2/battle", "side-2/distance"]


def test_a_side_without_drawn_zones_uses_its_printed_mat(tmp_path):
    setup = read(tmp_path, ZONES)

    assert setup.drawing.mats == ("side-1",)
    assert dict(setup.mats) == {"side-1": "Ann", "side-2": "Bob"}


def test_zones_of_an_unknown_side_are_refused(tmp_path):
    with pytest.raises(Problem, match=r"there are zones for side-3, but no such side plays\."):
        read(tmp_path, ZONES + SECOND.replace("side-2", "side-3"))


@pytest.mark.parametrize(
    "text",
    [
        '[options]\nextension = "' + "x" * 5000 + '"', 'edition = "\\u001b[2J"', "target = 0x" + "f" * 6000,
        "target = " + "9" * 6000, "a." * 3000 + "b = 1", "a = " + "[" * 5000 + "]" * 5000,
        'edition = "rush"\n[deck]\nstop = 0x' + "f" * 6000,
    ],
)  # fmt: skip
def test_every_error_is_one_short_sentence(tmp_path, text):
    with pytest.raises(Problem) as refused:
        read(tmp_path, text)

    said = str(refused.value)
    assert said.isprintable()
    assert len(said) < 700
    assert "Exceeds the limit" not in said


def test_a_house_rule_without_effect_is_reported(tmp_path):
    silent = read(tmp_path, '[options]\nextension = "yes"')
    idle = read(tmp_path, 'target = 1000\n[options]\nextension = "yes"')

    assert list(silent.remarks) == []
    assert [why.code for why in idle.remarks] == ["no-effect"]


def test_two_unicode_spellings_of_a_name_are_one_player(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(
        'first = "Zoe\u0308"\nrobot = {"Zo\u00eb" = 2}\n[[side]]\nname = "Zo\u00eb"\n[[side]]\nname = "Bob"\n'
    )

    setup = read_setup(path)

    assert (setup.first, setup.robot.player, setup.teams[0].name) == ("Zo\u00eb",) * 3


def test_different_names_that_look_alike_are_reported(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text('[[side]]\nname = "Ann"\n[[side]]\nname = "\u0410nn"\n', encoding="utf-8")

    assert [why.code for why in read_setup(path).remarks] == ["look-alike"]


def test_a_file_saved_by_notepad_is_read(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(SIDES.replace("Ann", "Zo\u00eb"), encoding="utf-16")

    assert read_setup(path).first == "Zo\u00eb"


@pytest.mark.parametrize("side", ['name = "{}"', 'name = "Reds"\nplayers = ["{}", "Cid"]'])
def test_a_name_that_is_too_long_is_refused(tmp_path, side):
    path = tmp_path / "table.toml"
    path.write_text(SIDES + "[[side]]\n" + side.format("C" * 61))

    with pytest.raises(Problem, match=r"A name has at most 60 letters: 'C+' has 61\."):
        read_setup(path)

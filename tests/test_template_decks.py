"""Template decks: read, written whole or not at all, and carried as one file."""

import zipfile
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.common.errors import Problem
from companion.rules.cards import Card
from companion.tabletop.deck_archive import export_deck, import_deck
from companion.tabletop.template_decks import (
    DECKS_NAME,
    FILE_NAME,
    Description,
    deck_names,
    load_deck,
    own_folder,
    picture_named,
    put_pictures,
    read_deck,
    read_description,
    remove_deck,
    titles,
    write_description,
)
from companion.vision.enrol.enrolment import recoded

PNG = cv2.imencode(".png", np.full((88, 57, 3), 200, np.uint8))[1].tobytes()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with the deck `ours`, two faces and a back of classic."""
    folder, maker = own_folder("ours", tmp_path), 'Jean "Ed" Müller'
    write_description(folder, Description("ours", "classic", (60.0, 90.0), "Grandma's", maker, "2026-11-22"))
    put_pictures(folder, Card.ROLL, [PNG, PNG])
    put_pictures(folder, Card.KM_100, [PNG])
    put_pictures(folder, None, [PNG])
    return tmp_path


def sentence_of(call, *words: object, **named: object) -> str:
    with pytest.raises(Problem) as caught:
        call(*words, **named)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert sentence.isprintable()
    assert len(sentence) < 800
    return sentence


def test_the_projects_own_deck_ships_with_every_face_of_classic():
    deck = load_deck("own")

    assert len(deck.faces) == 19
    assert deck.missing == ()
    assert len(deck.back) == 2
    assert deck.size_mm == (57, 88)


def test_a_deck_comes_back_as_it_was_written(data):
    deck = load_deck("ours", data)

    assert (deck.title, deck.maker) == ("Grandma's", 'Jean "Ed" Müller')
    assert (deck.made, deck.size_mm) == ("2026-11-22", (60, 90))
    assert [path.name for path in deck.faces[Card.ROLL]] == ["roll.png", "roll-2.png"]
    assert [path.name for path in deck.faces[Card.KM_100]] == ["100.png"]
    assert [path.name for path in deck.back] == ["back.png"]


def test_decks_are_those_that_ship_and_ones_own(data):
    assert deck_names(None) == ("own",)
    assert deck_names(data) == ("own", "ours")
    assert deck_names(data / "nowhere") == ("own",)


def test_new_pictures_of_a_face_take_the_place_of_all_old_ones(data):
    folder = own_folder("ours", data)
    (folder / "roll-3.jpg").write_bytes(PNG)

    put_pictures(folder, Card.ROLL, [PNG])

    assert [path.name for path in load_deck("ours", data).faces[Card.ROLL]] == ["roll.png"]
    assert not list(folder.glob("*.new"))


@pytest.mark.parametrize(
    ("name", "shows"),
    [
        ("roll.png", (Card.ROLL, 1)), ("100-2.jpg", (Card.KM_100, 2)), ("right-of-way.jpeg", (Card.RIGHT_OF_WAY, 1)),
        ("back.png", (None, 1)), ("unknown.png", None), ("../roll.png", None), ("roll.gif", None), ("roll-1.png", None),
        ("Roll.png", None), ("deck.toml", None),
    ],
)  # fmt: skip
def test_a_file_of_a_deck_is_what_its_name_says(name, shows):
    assert picture_named(name) == shows


def test_a_deck_that_is_not_there_is_told_with_the_nearest_name(data):
    assert "did you mean 'ours'?" in sentence_of(load_deck, "our", data)


@pytest.mark.parametrize("name", ["../evil", "a b", "", "é", "x" * 41, "-x", "own", "OWN"])
def test_a_name_that_no_deck_may_have_is_refused(name, tmp_path):
    sentence = sentence_of(own_folder, name, tmp_path)

    assert "cannot be the name of a deck" in sentence or "is built in" in sentence


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ("edition = ", "is damaged"), ("\xff\xfe\0", "is damaged"), ("", "the edition is missing"),
        ('edition = "classic"\neditoin = 3', "did you mean 'edition'"), ("edition = 3", "a text in quotes"),
        ('edition = "clasic"', "did you mean 'classic'"),
        ('edition = "classic"\nsize_mm = [88, 57]', "the shorter first"),
        ('edition = "classic"\nsize_mm = [nan, 57]', "the shorter first"),
        ('edition = "classic"\nmade = "yesterday"', "a date"),
        ('edition = "classic"\nback = "../../secret.png"', "is missing from the deck"),
        ('edition = "classic"\nback = "rear.png"', "The picture 'rear.png', named in deck.toml, is missing"),
        ('edition = "classic"\nback = "' + "x" * 300 + '.png"', "The picture 'xxx"),
        ('edition = "classic"\nback = "\\u0000"', "The picture '·', named in deck.toml, is missing"),
        ('edition = "classic"\nsize_mm = [' + "9" * 400 + ", 88]", "the shorter first"),
        ('edition = "classic"\nsize_mm = [0x' + "f" * 6000 + ", 88]", "the shorter first"),
        ('edition = "classic"\n' + "a." * 3000 + "b = 1", "nested too deeply"),
        ('edition = "classic"\nmade = ' + "[" * 5000, "nested too deeply"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_decks_file_is_one_sentence(toml, says, data):
    (own_folder("ours", data) / FILE_NAME).write_text(toml, encoding="latin-1")

    assert says in sentence_of(load_deck, "ours", data)


def test_a_deck_without_any_face_is_none(data):
    for path in own_folder("ours", data).glob("[r1]*.png"):
        path.unlink()

    assert "has no pictures yet" in sentence_of(load_deck, "ours", data)


def test_a_deck_that_is_removed_is_gone(data):
    remove_deck("ours", data)

    assert deck_names(data) == ("own",)
    assert "There is no deck 'ours'" in sentence_of(remove_deck, "ours", data)


# --- As one file ----------------------------------------------------------------------------------------------


def test_a_deck_travels_as_one_file(data, tmp_path):
    file = export_deck(load_deck("ours", data), tmp_path)
    there = tmp_path / "there"

    deck = import_deck(file, there, recoded)

    assert file.name == "ours.zip"
    assert (deck.name, deck.title, deck.size_mm, deck.made) == ("ours", "Grandma's", (60, 90), "2026-11-22")
    assert [path.name for path in deck.faces[Card.ROLL]] == ["roll.png", "roll-2.png"]
    assert "with --as" in sentence_of(import_deck, file, there, recoded)
    assert import_deck(file, there, recoded, "theirs").name == "theirs"
    assert deck_names(there) == ("own", "ours", "theirs")
    assert titles(there) == {"own": load_deck("own").title, "ours": "Grandma's (ours)", "theirs": "Grandma's (theirs)"}
    assert import_deck(file, there, recoded, "aunt", title="Aunt's").title == titles(there)["aunt"] == "Aunt's"


def test_pictures_of_a_face_that_differ_in_their_suffix_alone_travel_both(data, tmp_path):
    ours = load_deck("ours", data).folder
    (ours / "roll.jpg").write_bytes((ours / "roll.png").read_bytes())
    kept = [path.read_bytes() for path in load_deck("ours", data).faces[Card.ROLL]]

    file = export_deck(load_deck("ours", data), tmp_path)
    deck = import_deck(file, tmp_path / "there", lambda content, _name: content)

    assert [path.name for path in deck.faces[Card.ROLL]] == ["roll.png", "roll-2.png", "roll-3.png"]
    assert [path.read_bytes() for path in deck.faces[Card.ROLL]] == kept


def packed(path: Path, **files: bytes) -> Path:
    """A zip with these files; `_` stands for the dot."""
    with zipfile.ZipFile(path / "deck.zip", "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name.replace("__", "/").replace("_", "."), content)
    return path / "deck.zip"


TOML = b'name = "ours"\nedition = "classic"\n'
BOMB = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x40\0\0\0\x40\0\x08\x02\0\0\0" + bytes(20)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"roll_png": PNG}, "has no deck.toml"),
        ({"deck_toml": TOML}, "has no pictures yet"),
        ({"deck_toml": TOML, "__evil_png": PNG}, "neither deck.toml nor a card's picture"),
        ({"deck_toml": TOML, "roll_exe": PNG}, "neither deck.toml nor a card's picture"),
        ({"deck_toml": TOML, "roll_png": PNG, "roll_jpg": PNG}, "twice"),
        ({"deck_toml": b"\xff", "roll_png": PNG}, "is damaged"),
        ({"deck_toml": b'name = "own"\nedition = "classic"', "roll_png": PNG}, "is built in"),
        ({"deck_toml": b'name = "../x"\nedition = "classic"', "roll_png": PNG}, "cannot be the name of a deck"),
        ({"deck_toml": b'name = "x"\nedition = "none"', "roll_png": PNG}, "no edition 'none'"),
        ({"deck_toml": TOML, "roll_png": b"GIF89a" + bytes(40)}, "or not a JPEG, PNG"),
        ({"deck_toml": TOML, "roll_png": PNG[:90]}, "is incomplete or damaged"),
        ({"deck_toml": TOML, "roll_png": BOMB}, "pixels; the limit is"),
        ({"deck_toml": TOML, "roll_png": bytes(17_000_000)}, "larger than 16 MB"),
    ],
)
def test_a_file_that_is_no_sound_deck_is_refused_and_leaves_nothing_behind(files, says, tmp_path):
    file = packed(tmp_path, **files)

    assert says in sentence_of(import_deck, file, tmp_path / "data", recoded)
    assert list((tmp_path / "data" / DECKS_NAME).glob("*")) == []


def test_a_picture_larger_than_is_of_use_is_kept_smaller(tmp_path):
    noise = np.random.default_rng(7).integers(0, 256, (2400, 4000, 3), np.uint8)
    file = packed(tmp_path, deck_toml=TOML, roll_jpg=cv2.imencode(".jpg", noise)[1].tobytes(), stop_png=PNG,
                  accident_png=cv2.imencode(".png", noise[:40])[1].tobytes())  # fmt: skip

    deck = import_deck(file, tmp_path / "data", recoded)

    shapes = {path.name: cv2.imread(str(path)).shape[:2] for path in sorted(deck.folder.glob("*.png"))}
    assert shapes["roll.png"] == (960, 1600)
    assert shapes["stop.png"] == cv2.imdecode(np.frombuffer(PNG, np.uint8), cv2.IMREAD_COLOR).shape[:2]
    assert shapes["accident.png"] == (32, 3200)
    assert (deck.folder / "roll.png").stat().st_size < 8_000_000


def test_pictures_that_are_far_too_large_once_unpacked_are_refused_as_they_come(tmp_path):
    names = [f"roll{number}_png" for number in ("", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9")]
    file = packed(tmp_path, deck_toml=TOML, **dict.fromkeys(names, PNG))
    kept = []

    def large(content: bytes, name: str) -> bytes:
        kept.append(len(list((tmp_path / "data" / DECKS_NAME).glob("*/roll*.png"))))
        return bytes(30_000_000)

    assert "it is larger than 128 MB when unpacked" in sentence_of(import_deck, file, tmp_path / "data", large)
    assert kept == [0, 1, 2, 3, 4]
    assert list((tmp_path / "data" / DECKS_NAME).glob("*")) == []


def test_what_is_no_zip_is_told(tmp_path):
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04 nonsense")

    assert "not a zip file" in sentence_of(import_deck, tmp_path / "x.zip", tmp_path, recoded)
    assert "not found: check" in sentence_of(import_deck, tmp_path / "y.zip", tmp_path, recoded)


def test_a_title_does_not_steer_the_terminal(tmp_path):
    (tmp_path / "deck.toml").write_text('edition = "classic"\ntitle = "\\u001b]0;x\\u0007"\n')

    assert read_description(tmp_path).title == "·]0;x·"


def test_a_picture_without_end_is_not_packed(tmp_path):
    folder = tmp_path / "decks" / "ours"
    folder.mkdir(parents=True)
    (folder / "deck.toml").write_text('edition = "classic"\n')
    with (folder / "roll.png").open("wb") as file:
        file.truncate(40_000_000_000)

    with pytest.raises(Problem, match="larger than 16 MB"):
        export_deck(read_deck(folder), tmp_path / "out.zip")


def test_a_file_that_says_an_entry_lies_beyond_every_end_is_refused(tmp_path):
    path = tmp_path / "deck.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("deck.toml", b'edition = "classic"')
    raw = bytearray(path.read_bytes())
    at = raw.find(b"PK\x01\x02")
    raw[at + 30 : at + 32] = (12).to_bytes(2, "little")
    raw[at + 42 : at + 46] = b"\xff" * 4
    raw[at + 46 + 9 : at + 46 + 9] = b"\x01\x00\x08\x00" + b"\xff" * 8
    end = raw.find(b"PK\x05\x06")
    raw[end + 12 : end + 16] = (end - at).to_bytes(4, "little")

    with pytest.raises(Problem, match="not a usable deck"):
        import_deck(path, tmp_path, recoded, sent=bytes(raw))

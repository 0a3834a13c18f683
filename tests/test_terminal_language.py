"""The language of the terminal: commands speak the system's language, and English wherever programs read them."""

import ast
import json
from pathlib import Path

import pytest
import texts
from records import WITH_FAULTS

from companion.app import usage
from companion.app.doctor import NAMES, Check
from companion.common.text import say
from companion.tabletop import translation
from companion.vision.quality.verdict import Aspect

RACE = "edition rush\nside Ann\nside Bob\ntarget 300\nhand first Ann\nAnn 300\n"


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def spoken(monkeypatch):
    """Return a function that sets the system's language."""
    return lambda locale: monkeypatch.setenv("LANG", locale)


@pytest.fixture
def record(tmp_path):
    path = tmp_path / "game.mbn"
    path.write_text(WITH_FAULTS, encoding="utf-8")
    return path


@pytest.fixture
def german(spoken):
    spoken("de_DE.UTF-8")


@pytest.mark.usefixtures("german")
def test_replay_judges_in_german(called, record):
    assert called("replay", record).stdout.splitlines() == [
        f"{record}:5: Ann roll: erlaubt",
        f"{record}:6: Bob 25: nicht erlaubt – Für Bob geht es noch nicht los. "
        "[klassische Regeln (106 Karten) – Losfahren]",
        f"{record}:7: Bob foo: nicht lesbar – Eine Karte „foo“ gibt es nicht.",
        f"{record}:8: Bob roll: erlaubt",
        "",
        "Runde 1: läuft noch",
        "        Ann  Bob",
        "Summe     0    0",
        "Partie    0    0",
        "",
        "2 Zeilen waren nicht erlaubt oder nicht lesbar und zählen nicht, die erste ist Zeile 6; was folgt, ist "
        "vielleicht nur deshalb nicht erlaubt. `companion replay --as-lies` lässt jede Karte liegen, wie sie gelegt "
        "wurde; `anyway` am Ende einer Zeile lässt nur diese gelten.",
        "`companion editions show classic` zeigt die Karten und die Hausregeln.",
    ]


@pytest.mark.usefixtures("german")
def test_score_says_in_german_who_wins_and_what_does_not_count(called, tmp_path):
    race, game = tmp_path / "race.mbn", tmp_path / "game.mbn"
    race.write_text(RACE, encoding="utf-8")
    game.write_text(WITH_FAULTS.replace("Bob foo\n", ""), encoding="utf-8")
    won, left_out = called("score", race), called("score", game)

    assert "Runde 1: Ann nach 300 km am Ziel\n" in won.stdout
    assert won.stdout.endswith("Ann gewinnt das Rennen!\n")
    assert left_out.stderr.startswith(f"  nicht gezählt: {game}:6: Bob 25: nicht erlaubt – ")
    assert "  Zeile 6 war nicht erlaubt und zählt nicht. " in left_out.stderr


@pytest.mark.usefixtures("german")
def test_a_sheet_counts_in_the_unit_of_its_edition(called, tmp_path):
    path = tmp_path / "miles.mbn"
    path.write_text(
        "edition bsd-mille\nside Ann\nside Bob\nhand first Ann\nAnn roll\nBob roll\nAnn 100\n", encoding="utf-8"
    )

    assert "\nMeilen" in called("score", path).stdout


@pytest.mark.usefixtures("german")
def test_doctor_speaks_german(called, tmp_path, monkeypatch):
    monkeypatch.setattr("companion.vision.capture.sources.camera_answers", lambda: None)
    lines = called("doctor", "--data", tmp_path).stdout.splitlines()

    assert lines[0] == "Ihr könnt jetzt von Hand spielen; was mit der Kamera nicht stimmt, steht in ihrer Zeile."
    assert "Hinweis Kamera: Keine Kamera gefunden: Schließ eine an oder gib die Züge von Hand ein." in lines
    assert "ok      Partien: Im Datenordner gibt es noch keine Partien." in lines


@pytest.mark.usefixtures("german")
def test_the_errors_of_replay_score_and_doctor_are_german(called, tmp_path):
    nowhere, letter = tmp_path / "nowhere.mbn", tmp_path / "letter.txt"
    letter.write_text("Liebe Tante,\n" * 9, encoding="utf-8")

    assert called("replay", nowhere).stderr == (
        f"Die Mitschrift {nowhere} ist nicht lesbar (Datei oder Ordner gibt es nicht): Prüfe den Pfad.\n"
    )
    assert "Die ersten 5 Zeilen sind nicht lesbar. Ist das eine Mitschrift?" in called("score", letter).stderr
    assert called("doctor", "--port", "inf").stderr == "--port ist eine ganze Zahl von 1 bis 65535, nicht „inf“.\n"


WRONG_CALLS = """
up --new | `--new` geht nur mit `--setup FILE`: `companion up --help` zeigt, was es gibt.
up a b | Das gehört nicht in den Befehl: a b: `companion up --help` zeigt, was es gibt.
print rugs --out x | Zu `companion print` gehört stickers, mats, deck oder robot, nicht „rugs“, zum Beispiel
print stickers --out x --size-mm 20,5 | --size-mm ist eine Zahl, etwa 20, nicht „20,5“: Schreib 20.5, mit einem Punkt.
print mats --out x --kind tag | Nur Aufkleber gibt es in mehreren Arten; lass --kind weg.
print stickers --labels zz --out x | „zz“ ist kein Etikettenbogen, der hier bekannt ist
print stickers --otu x | Die Option „--otu“ gibt es nicht
decks show nope | Einen Kartensatz „nope“ gibt es nicht
backup . | . ist ein Ordner: Gib eine Datei an
restore nope.zip | Die Datei nope.zip gibt es nicht: Prüfe den Pfad.
play --players 9 | --players ist eine ganze Zahl von 2 bis 6, nicht „9“.
play --edition zz | Eine Ausgabe „zz“ gibt es nicht
nonsense | Den Befehl „nonsense“ gibt es nicht: `companion --help` zeigt, was es gibt.
""".strip().splitlines()


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("row", WRONG_CALLS)
def test_a_wrong_call_is_explained_in_german(called, tmp_path, monkeypatch, row):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPANION_DATA", str(tmp_path / "data"))
    words, _bar, says = row.partition(" | ")

    ran = called(*words.split())

    assert ran.stderr.startswith(says)
    assert ran.returncode == 2


SETUPS = {
    "[side]\nname = 'Ann'\n": ":1: schreib [[side]] statt [side]: zwei Klammern, denn es kann mehrere geben.\n",
    "name = \n": ":1: Texte stehen in Anführungszeichen, Zahlen und true oder false ohne.\n",
    "[[side]]\nname = 'Ann'\n[[side]]\nname = 'Ann'\n": ": Der Name „Ann“ kommt zweimal vor.\n",
    "colour = 3\n": ": In der Einrichtungsdatei steht ein unbekannter Schlüssel „colour“; bekannt sind ",
}


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("setup", SETUPS)
def test_a_fault_in_a_setup_file_is_explained_in_german(called, tmp_path, setup):
    path = tmp_path / "table.toml"
    path.write_text(setup, encoding="utf-8")

    assert called("up", "--setup", path, "--data", tmp_path).stderr.startswith(f"{path}{SETUPS[setup]}")


@pytest.mark.parametrize("locale", ["C.UTF-8", "en_US.UTF-8", "tlh_KX.UTF-8", "POSIX", ""])
def test_english_is_spoken_in_english_and_unknown_locales(called, record, spoken, locale):
    spoken(locale)

    assert f"{record}:5: Ann roll: legal\n" in called("replay", record).stdout
    assert called("nonsense").stderr == "No such command 'nonsense': see `companion --help`.\n"


def test_a_language_asked_for_is_that_of_the_errors_too(called, record, spoken):
    spoken("fr_FR.UTF-8")

    assert called("play", "--language", "de", record).stderr.startswith(f"{record} enthält kein Spiel")


def test_a_command_leaves_no_language_behind(called, record, spoken):
    before = translation.spoken()
    spoken("de_DE.UTF-8")
    called("replay", record)

    assert translation.spoken() == before


@pytest.mark.parametrize("command", [("replay",), ("replay", "--states", "--as-lies")])
def test_what_programs_read_is_the_same_in_every_language(called, record, spoken, command):
    english = called(*command, "--json", record).stdout
    spoken("de_DE.UTF-8")

    assert called(*command, "--json", record).stdout == english
    assert json.loads(english.splitlines()[1])["verdict"] == "illegal"


def test_a_text_that_is_not_marked_is_never_translated(spoken):
    spoken("de_DE.UTF-8")

    assert (usage.here("clock"), usage.here(say("clock"))) == ("clock", "Uhr")


# --- No sentence bypasses the catalogs ------------------------------------------------------------------------

APP = Path(usage.__file__).parent
FILES = {str(path.relative_to(APP)) for path in APP.rglob("*.py")}
ENGLISH_ALONE = {
    "club_commands.py": "commands of a club's administrators",
    "reports/audit_report.py": "part of the JSON of `read --audit`",
    "reports/deck_report.py": "what `decks` lists",
    "reports/edition_report.py": "what `editions` lists",
}
"""Files whose sentences stay English, and what they are."""

SPEAKERS = {"Problem", "Progress", "UsageError", "Check", "tell", "warn", "add", "here", "echo"}


def is_marked(sentence: ast.expr) -> bool:
    """True if a sentence is no literal text, or a pattern with values, which a Problem marks for translation."""
    if isinstance(sentence, ast.Constant):
        return not isinstance(sentence.value, str) or "%(" in sentence.value or " " not in sentence.value.strip()
    if isinstance(sentence, ast.JoinedStr):
        # What a sentence is put into may have marks and blanks, but no words.
        written = "".join(part.value for part in sentence.values if isinstance(part, ast.Constant))
        return not any(sign.isalpha() for sign in written)
    return True


def spoken_in(path: Path) -> list[tuple[int, ast.expr]]:
    """Return the sentences that a file prints or raises, with their lines."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    named = [(getattr(call.func, "id", None) or getattr(call.func, "attr", None), call) for call in calls]
    return [
        (call.lineno, sentence)
        for name, call in named
        if name in SPEAKERS
        for sentence in (call.args[3:4] if name == "Check" else call.args[:1])
    ]


@pytest.mark.parametrize("name", sorted(FILES - ENGLISH_ALONE.keys()))
def test_every_sentence_of_a_command_is_marked_for_translation(name):
    assert [line for line, sentence in spoken_in(APP / name) if not is_marked(sentence)] == []


def test_an_unmarked_sentence_is_found(tmp_path):
    path = tmp_path / "bad.py"
    path.write_text(
        'tell("Hello there.")\nraise Problem(f"{path} is bad.")\nwarn(say("Well done."))\ntell(f"{a}: {b}")\n'
    )

    assert [line for line, sentence in spoken_in(path) if not is_marked(sentence)] == [1, 2]


RAISED = """
match/setup_file printing/write storage/backups storage/data_folder storage/event_store vision/capture/sources
vision/quality/camera_check vision/read vision/enrol/enrolment vision/enrol/sheet_enrolment vision/enrol/guided
pages/players/phone_identity pages/server/address
"""
"""Other files with the errors of families' commands."""


@pytest.mark.parametrize("module", RAISED.split())
def test_the_errors_that_commands_report_are_marked_for_translation(module):
    path = texts.ROOT / "companion" / f"{module}.py"

    assert [line for line, sentence in spoken_in(path) if not is_marked(sentence)] == []


def test_every_check_of_the_doctor_has_a_name_to_translate():
    libraries = {"OpenCV", "zxing-cpp", "pyzbar"}

    assert {*map(str, Aspect), "table", "help"} <= NAMES.keys()
    assert all(Check(name, True, True, "").title == name for name in libraries)

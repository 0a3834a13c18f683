"""The benches count correctly and fill their tables; the pages show how each table was measured."""

import importlib
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from bench import eye, faces, page
from bench.faces import Contest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
BLOCKS = [
    pytest.param(table, id=f"{name}: {title}")
    for name, text in sorted(PAGES.items())
    for title, table in re.findall(r"(?s)<!-- measured: (.*?) -->\n(.*?)<!-- end of \1 -->", text)
]
COMMANDS = sorted({found for text in PAGES.values() for found in re.findall(r"-m tests\.bench\.([^`\n]+)", text)})


@pytest.mark.long
def test_the_bench_of_readers_fills_its_tables(monkeypatch):
    readers = [reader for reader in eye.READERS if reader.name in ("ours, no mats", "zxing-cpp, 2×")]
    few = {"LEAST_STICKERS": 1, "READERS": readers, "MODULE_PX": (4.0,), "SIZES": {"1.28 px": 1.28}, "TILTS": (0.0,),
           "LIGHTS": ("typical",), "FRAMES": {"1080p": eye.FRAMES["1080p"]}, "COUNTS": (10,), "ROUNDS": 1,
           "IDLE_ROUNDS": 20}  # fmt: skip
    for name, value in few.items():
        monkeypatch.setattr(eye, name, value)

    tables = [make(1, lambda line: None) for make, _, _ in eye.TABLES.values()]

    assert [len(table) for table in tables] == [3, 3, 3, 4, 3, 5]
    assert all(len({line.count("|") for line in table}) == 1 for table in tables)
    assert "%" in tables[0][2]


@pytest.mark.long
def test_the_bench_of_faces_fills_its_tables():
    contest = Contest(["minimal"], ["ours", "color correlation"])

    lines = faces.TABLES["decks"](contest, range(1), lambda line: None)
    lines += faces.TABLES["open"](contest, range(1), lambda line: None)
    assert lines[0] == "| deck, cards 75 px wide | cards | ours | color correlation |"
    assert len(lines) == 2 + 1 + 2 + len(faces.KINDS)
    assert {line.count("|") for line in lines} == {5}


def test_a_table_is_replaced_and_the_rest_of_the_page_stays(tmp_path):
    docs = tmp_path / "page.md"
    docs.write_text("# Page\n\n<!-- measured: faces decks -->\nold\n<!-- end of faces decks -->\n\nText.\n", "utf-8")

    page.fill(docs, "faces decks", "new")

    assert docs.read_text("utf-8") == (
        "# Page\n\n<!-- measured: faces decks -->\nnew\n<!-- end of faces decks -->\n\nText.\n"
    )


def test_a_page_without_a_place_for_the_table_is_left_alone(tmp_path):
    docs = tmp_path / "page.md"
    docs.write_text("# Page\n", "utf-8")

    with pytest.raises(ValueError, match="lacks the marks"):
        page.fill(docs, "faces decks", "new")

    assert docs.read_text("utf-8") == "# Page\n"


@pytest.fixture
def checkout(tmp_path):
    """A small repository with one commit."""
    (tmp_path / "companion").mkdir()
    (tmp_path / "docs").mkdir()
    for name in ("companion/eye.py", "docs/page.md"):
        (tmp_path / name).write_text("1\n", "utf-8")
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    for command in (("init", "--quiet"), ("add", "."), (*who, "commit", "--quiet", "-m", "One")):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_figures_name_the_commit_of_the_measured_code(checkout):
    (checkout / "docs/page.md").write_text("2\n", "utf-8")

    assert re.fullmatch(r"[0-9a-f]{8,}", page.clean_commit(checkout))


@pytest.mark.parametrize("name", ["companion/eye.py", "companion/new.py", "card_templates/new.toml"])
def test_figures_of_code_that_is_not_committed_are_refused(checkout, name):
    (checkout / name).parent.mkdir(exist_ok=True)
    (checkout / name).write_text("2\n", "utf-8")

    with pytest.raises(SystemExit, match="committed code only"):
        page.clean_commit(checkout)


# --- The pages ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", BLOCKS)
def test_every_measured_table_shows_its_command_commit_date_and_machine(table):
    assert re.match(r"```sh\n(?:.* )?python -m tests\.bench\.\w+ .*\n```\n\n\|", table)
    assert re.search(r"\nCommit [0-9a-f]{8}\b.*, \d{4}-\d\d-\d\d, .*\bcores?\b.*\. Measured: .+\.\n", table)
    assert "dirty" not in table


@pytest.mark.parametrize("command", COMMANDS)
def test_every_bench_command_in_the_docs_is_understood(command):
    name, *arguments = shlex.split(command)

    assert importlib.import_module(f"bench.{name}").parsed(arguments)


def test_the_benches_find_their_tables_in_the_pages():
    places = {f"eye {name}": where for name, (_, where, _) in eye.TABLES.items()}
    places |= {f"faces {name}": where for name, (where, _) in faces.PLACES.items()}

    missing = [name for name, where in places.items() for mark in page.marks(name) if mark not in PAGES[where.name]]
    assert missing == []

"""The pages in docs/: what they say of records and rules is what the program does."""

import importlib.util
import json
import re
import tomllib
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import cv2
import doc_translations
import pytest
from browser import illustrations
from records import record
from texts import forms, read, texts

from companion.app.cli import companion
from companion.match.questions import Answer, Kind
from companion.match.setup_file import parse_setup
from companion.pages.api import openapi
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import edition_names, load_edition, switches
from companion.rules.play import Verb
from companion.rules.record.judge import JudgedLine

DOCS = Path(__file__).parent.parent / "docs"
RECORDS = (DOCS / "records.md").read_text(encoding="utf-8")
RULES = (DOCS / "rules.md").read_text(encoding="utf-8")
SETUP_FILE = (DOCS / "setup-file.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```\n(.*?)```", RECORDS, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_a_record_in_the_docs_can_be_read_and_only_what_is_called_illegal_is(block):
    lines = [item for item in record(block) if isinstance(item, JudgedLine)]

    assert [line.line.text for line in lines if line.verdict == "unreadable"] == []
    assert [f"# illegal: {line.line.text}" for line in lines if line.verdict == "illegal"] == [
        f"# illegal: {text.strip()}" for text in re.findall(r"^(.*?)# illegal", block, re.MULTILINE)
    ]


@pytest.mark.parametrize("verb", [verb for verb in Verb if verb is not Verb.PLAY])
def test_every_word_of_the_notation_is_explained(verb):
    assert re.search(rf"`(Ann |Bob )?{verb}\b", RECORDS)


def test_every_special_card_is_explained():
    specials = [card for card in load_edition("rush").deck if card.family is Family.SPECIAL]

    assert [card for card in specials if f"\n| `{card}` | " not in RULES] == []


def test_the_setup_files_in_the_docs_can_be_played():
    blocks = [block for block in re.findall(r"(?s)```toml\n(.*?)```", SETUP_FILE) if "[[side]]" in block]

    setups = [parse_setup(tomllib.loads(block)) for block in blocks]
    assert [setup.edition_name for setup in setups] == ["classic", "classic", "rush"]
    assert [zone.name for zone in setups[1].drawing.zones] == ["side-1/battle", "side-1/distance"]
    assert setups[2].deck == ((Card.STOP, 5), (Card.ROLL, 5))


@pytest.mark.parametrize("switch", switches())
def test_the_table_of_switches_is_the_editions_own(switch):
    values = " | ".join(load_edition(name).switch(switch) for name in edition_names())

    assert f"| `{switch}` | {values} |" in RULES


def test_the_table_of_switches_has_every_edition_and_no_other_switch():
    assert f"| switch | {' | '.join(edition_names())} |" in RULES
    table = RULES.partition("| switch |")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z0-9-]+)` \|", table, re.MULTILINE) == list(switches())


# --- The commands ------------------------------------------------------------------------------------------------

ROOT = DOCS.parent
COMMANDS = (DOCS / "commands.md").read_text(encoding="utf-8")
DEPLOYED = [path for path in (ROOT / "deploy").rglob("*") if path.is_file() and path.suffix != ".pyc"]
SOURCES = [*(ROOT / "companion").rglob("*.py"), *DEPLOYED]


def test_the_docs_name_every_environment_variable_and_no_other():
    used = {name for path in SOURCES for name in re.findall(r"\bCOMPANION_[A-Z_]+\b", path.read_text("utf-8"))}

    assert set(re.findall(r"`(COMPANION_[A-Z_]+)`", COMMANDS)) == used


def test_the_docs_give_the_option_of_each_environment_variable():
    commands = [companion.get_command(None, name) for name in companion.list_commands(None)]
    every = [one for command in commands for one in (command, *getattr(command, "commands", {}).values())]
    options = {(param.envvar, param.opts[0]) for command in every for param in command.params if param.envvar}

    assert len(options) >= 5
    assert [one for one in sorted(options) if "| `{}` | `{}` |".format(*one) not in COMMANDS] == []


# --- The table for scripts ---------------------------------------------------------------------------------------

OPERATIONS = [
    (method.upper(), path, told)
    for path, methods in openapi.document()["paths"].items()
    for method, told in methods.items()
]
API = (DOCS / "api.md").read_text(encoding="utf-8").partition("## Home Assistant")[0]


def test_the_docs_have_every_route_for_scripts_and_no_other():
    told = set(re.findall(r"^\| `(GET|POST) (/[^`?\s]*)", API, re.MULTILINE))
    named = {"{number}": "ID", "{question_id}": "ID", "{form}": "FORM"}

    assert told == {(method, re.sub(r"\{\w+\}", lambda found: named[found[0]], path)) for method, path, _ in OPERATIONS}


def test_the_docs_name_every_status_code():
    codes = {code for _, _, told in OPERATIONS for code in told["responses"]}

    assert {"200", "202", "304", "429", "503"} <= codes
    assert [code for code in sorted(codes) if not re.search(rf"\b{code}\b", API)] == []


@pytest.mark.parametrize(("method", "path", "told"), OPERATIONS, ids=lambda one: one if isinstance(one, str) else "")
def test_the_docs_name_every_field_that_a_change_takes(method, path, told):
    sent = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})

    assert [field for field in sent.get("properties", {}) if not re.search(rf"[`\"]{field}[`\"]", API)] == []


def test_every_json_that_the_docs_send_is_as_the_service_describes_it():
    examples = re.findall(r"^\| `POST (/[^`]*)` `(\{.*?\})` \|", API, re.MULTILINE)
    examples += re.findall(r"(/api/[\w/.-]+)[^\n]*--json '(\{[^\n]*\})'", API)
    schemas = {
        path.replace("{question_id}", "ID"): told["requestBody"]["content"]["application/json"]["schema"]
        for method, path, told in OPERATIONS
        if method == "POST"
    }

    assert len(examples) > 12
    for path, text in examples:
        sent, schema = json.loads(text), schemas[re.sub(r"(/questions/)[\w.-]+", r"\1ID", path)]
        assert {*schema["required"]} <= sent.keys() <= schema["properties"].keys(), (path, text)


def test_the_example_of_an_answer_has_the_fields_that_the_service_sends():
    example = json.loads(next(block for block in re.findall(r"```json\n(.*?)```", API, re.DOTALL) if '"done"' in block))

    assert {*example} == {*openapi.SCHEMAS["Outcome"]}
    assert {*example["reasons"][0]} == {*openapi.SCHEMAS["Why"]}
    assert [field for field in example if f"`{field}`" not in API.partition("| `done`")[2] and field != "done"] == []


def test_every_answer_and_every_kind_of_question_is_explained():
    assert [one for one in (*Answer, *Kind) if f"`{one}`" not in API] == []


# --- The pictures ------------------------------------------------------------------------------------------------

PICTURES = sorted((DOCS / "pictures").iterdir(), key=lambda picture: picture.stem)


def test_every_picture_of_the_docs_is_shown_there_and_can_be_made_anew():
    shown = {
        name for page in DOCS.glob("*.md") for name in re.findall(r"pictures/([\w-]+)\.webp", page.read_text("utf-8"))
    }

    assert [picture.stem for picture in PICTURES] == sorted(shown) == sorted(illustrations.NAMES)


def test_the_pictures_of_the_docs_are_small():
    widths = {picture.name: cv2.imread(str(picture)).shape[1] for picture in PICTURES if picture.stem != "evening"}

    assert [name for name, width in widths.items() if width > 900] == []
    assert sum(picture.stat().st_size for picture in PICTURES) < 600_000


# --- The labels that the pages quote, and the translated chapters ------------------------------------------------

TRANSLATED = sorted(path for language in doc_translations.languages() for path in (DOCS / language).glob("*.md"))
NOT_OURS = {"Raspberry Pi OS Lite (64-bit)"}
"""Labels of other programs."""


@cache
def labels(language: str) -> set[str]:
    """Return the texts of the program's pages in a language, and the beginnings of those that end in a value."""
    known = {form for text in texts() for form in forms(text)}
    if language != "en":
        known = {form for message in read(language) if message.id for form in forms(message.string)}
    # French has no-break spaces before "?" and ":".
    known = {re.sub(r"\s+", " ", text) for text in known}
    begins = {text.partition("%(")[0].rstrip(" –:") for text in known if "%(" in text}
    return known | begins | {re.split(r" ?[:–]", text)[0] for text in begins}


def quoted(page: Path) -> set[str]:
    """Return the labels that a page quotes: texts in italics, each part of a path."""
    text = re.sub(
        r"```.*?```|`[^`]*`|^ *\* |\*\*", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    found = re.findall(r"\*([^*]+)\*", text)
    return {label for path in found for label in re.sub(r"\s+", " ", path).removesuffix(" …").split(" → ")} - NOT_OURS


def test_a_path_on_the_pages_names_their_labels():
    pages = [*sorted(DOCS.glob("*.md")), DOCS.parent / "README.md"]
    paths = [(page.name, path) for page in pages for path in re.findall(r"\*([^*\n]+ → [^*\n]+)\*", page.read_text())]

    assert sorted((name, one) for name, path in paths for one in path.split(" → ") if one not in labels("en")) == []


@pytest.mark.parametrize("page", TRANSLATED, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_a_translated_page_quotes_the_labels_of_its_language(page):
    assert sorted(quoted(page) - labels(page.parent.name)) == []


@pytest.mark.parametrize("page", TRANSLATED, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_a_translated_page_names_its_english_page(page):
    english, digits = doc_translations.header(page)

    assert english == f"docs/{page.name}"
    assert page.stem in doc_translations.CHAPTERS
    assert re.fullmatch("[0-9a-f]{12}", digits)


def test_a_changed_english_page_is_listed_until_its_translation_is_stamped(tmp_path, monkeypatch):
    monkeypatch.setattr(doc_translations, "ROOT", tmp_path)
    monkeypatch.setattr(doc_translations, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(doc_translations, "CHAPTERS", ("start", "faq"))
    page = tmp_path / "docs" / "de" / "start.md"
    page.parent.mkdir(parents=True)
    (tmp_path / "docs" / "start.md").write_text("# Start\n", encoding="utf-8")
    page.write_text('---\ntranslates: docs/start.md\nof: "000000000000"\n---\n\n# Los\n', encoding="utf-8")

    missing = "docs/de/faq.md: missing"
    assert doc_translations.report("de") == ["docs/de/start.md: docs/start.md has changed", missing]
    doc_translations.stamp(page)
    assert doc_translations.report("de") == [missing]
    assert page.read_text(encoding="utf-8").endswith("---\n\n# Los\n")


def test_the_site_notes_that_the_english_page_is_newer(tmp_path):
    spec = importlib.util.spec_from_file_location("docs_hook", ROOT / "deploy" / "docs_hook.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    (tmp_path / "docs").mkdir()
    english = tmp_path / "docs" / "start.md"
    english.write_text("# Start\n", encoding="utf-8")
    meta = {"translates": "docs/start.md", "of": doc_translations.digits(english)}
    page = SimpleNamespace(file=SimpleNamespace(src_uri="de/start.md"), meta=meta)
    there = SimpleNamespace(get_file_from_path={"start.md", "de/start.md"}.__contains__)

    def shown() -> str:
        return hook.on_page_markdown("# Los\nText", page=page, config={"docs_dir": english.parent}, files=there)

    assert shown() == "# Los\n\n[English](../start.md)\n\nText"
    english.write_text("# Another start\n", encoding="utf-8")
    assert shown() == "# Los\n\n**Die englische Seite ist neuer.** · [English](../start.md)\n\nText"

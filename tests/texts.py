"""Collect all texts that pages and commands can show, and update the translation catalogs.

python tests/texts.py

Keeps translations, adds new texts without one, and drops removed texts. A text that was reworded a little keeps its
translations and is listed: check that they still say the same. Texts are sorted and have no locations, so moving a text
to another file changes nothing.
"""

import argparse
import difflib
import io
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from companion.common.languages import OWN_NAMES
from companion.rules.editions.edition import edition_names, load_edition, switches
from companion.rules.editions.switches import switch_title
from companion.tabletop.template_decks import deck_names, load_deck
from companion.tabletop.translation import ENGLISH

ROOT = Path(__file__).parent.parent
TRANSLATIONS = ROOT / "web" / "translations"
LANGUAGES = tuple(language for language in OWN_NAMES if language != ENGLISH)
SIMILAR = 0.6  # share of equal characters (`difflib`) above which a text counts as reworded
Text = str | tuple[str, str]
"""A text, or its singular and plural."""

_IN_PYTHON = {"_": None, "N_": None, "say": None, "file_problem": None, "many": (1, 2), "say_many": (1, 2)}
_PROBLEMS = {
    "Problem": None, "EditionError": None, "SeatingError": None, "NotSaved": None, "Newer": None, "Unreadable": None,
}  # fmt: skip
"""Classes whose texts with values are marked for translation. Texts without values are marked by `say`."""

_IN_TEMPLATES = {"_": None, "gettext": None, "ngettext": (1, 2)}


def texts() -> tuple[Text, ...]:
    return tuple(dict.fromkeys((*_of_python(), *_of_templates(), *_of_data())))


def _of_python() -> Iterator[Text]:
    for path in sorted((ROOT / "companion").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        # Search first: extraction is by far the slowest step.
        if _calls(_IN_PYTHON, source):
            yield from _extracted(path, "python", _IN_PYTHON)
        if _calls(_PROBLEMS, source):
            yield from (text for text in _extracted(path, "python", _PROBLEMS) if "%(" in text)


def _calls(names: Iterable[str], source: str) -> bool:
    return re.search(rf"\b({'|'.join(names)})\s*\(", source) is not None


def _of_templates() -> Iterator[Text]:
    for path in sorted((ROOT / "web" / "templates").glob("*.html")):
        yield from _extracted(path, "jinja2.ext:babel_extract", _IN_TEMPLATES, {"silent": "false"})


def _extracted(path: Path, method: str, keywords: dict, options: dict | None = None) -> Iterator[Text]:
    for _line, text, _comments, _context in extract_from_file(method, path, keywords, options=options):
        yield text


def _of_data() -> Iterator[Text]:
    for name, values in switches().items():
        yield switch_title(name)
        yield from values.values()
    for name in edition_names():
        edition = load_edition(name)
        yield from (edition.title, edition.about)
    for name in deck_names(None):
        yield str(load_deck(name).title)


def path_of(language: str) -> Path:
    return TRANSLATIONS / f"{language}.po"


@cache
def read(language: str) -> Catalog:
    """Return the catalog of a language; empty if there is none yet."""
    if not path_of(language).is_file():
        return Catalog(locale=language)
    with path_of(language).open("rb") as file:
        return read_po(file, locale=language)


def reworded(known: Iterable[Text], before: Iterable[Text]) -> dict[Text, Text]:
    """Return the earlier wording of each new text that is at least `SIMILAR` to one that is gone."""
    new, gone = set(known) - set(before), {forms(text)[0]: text for text in set(before) - set(known)}
    found = {text: difflib.get_close_matches(forms(text)[0], gone, 1, SIMILAR) for text in new}
    return {text: gone[near[0]] for text, near in found.items() if near and isinstance(text, type(gone[near[0]]))}


def updated(language: str, known: Iterable[Text], earlier: Mapping[Text, Text]) -> str:
    """Return the catalog file of a language with all known texts and their existing translations."""
    before, now = read(language), Catalog(locale=language)
    # Keep the plural rule of the translations: Babel's own changes between versions.
    now.mime_headers = before.mime_headers
    for text in known:
        was = earlier.get(text, text)
        old = before.get(forms(was)[0])
        keeps = old is not None and old.id == was and not old.fuzzy
        now.add(text, old.string if keeps else None)
    return "".join((*_header(language, now), *_entries(now)))


def _header(language: str, catalogue: Catalog) -> Iterator[str]:
    yield f"# {OWN_NAMES[language]}: what the pages say. `python tests/texts.py` brings it up to date with the texts.\n"
    yield 'msgid ""\nmsgstr ""\n'
    yield f'"Language: {language}\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    yield f'"Content-Transfer-Encoding: 8bit\\n"\n"Plural-Forms: {catalogue.plural_forms}\\n"\n\n'


def _entries(catalogue: Catalog) -> Iterator[str]:
    out = io.BytesIO()
    write_po(out, catalogue, width=110, omit_header=True, no_location=True, sort_output=True)
    yield out.getvalue().decode()


def forms(strings: str | Iterable[str]) -> tuple[str, ...]:
    """Return all forms of a text or translation."""
    return (strings,) if isinstance(strings, str) else tuple(strings)


def main() -> None:
    argparse.ArgumentParser(description="Update the translation catalogs in web/translations.").parse_args()
    logging.getLogger("babel").setLevel(logging.ERROR)  # it warns of each f-string
    known = texts()
    earlier = reworded(known, (message.id for message in read(LANGUAGES[0]) if message.id))
    for new, old in earlier.items():
        print(f"reworded: {forms(old)[0]!r}\n      now: {forms(new)[0]!r}")
    TRANSLATIONS.mkdir(exist_ok=True)
    for language in LANGUAGES:
        path_of(language).write_text(updated(language, known, earlier), encoding="utf-8")
        read.cache_clear()
        empty = sum(not all(forms(message.string or "")) for message in read(language) if message.id)
        print(f"{path_of(language).relative_to(ROOT)}: {len(known)} texts, {empty} not translated")


if __name__ == "__main__":
    main()

"""List what is missing or out of date in the translated chapters of docs/.

python tests/doc_translations.py
python tests/doc_translations.py --stamp docs/de/start.md

A translated page names its English page and the first 12 hex digits of that page's SHA-256:

    ---
    translates: docs/start.md
    of: "0123456789ab"
    ---

Outdated pages are listed only: a change of an English page needs no translator.
"""

import argparse
import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
CHAPTERS = (
    "index", "start", "camera", "print", "decks", "evening", "counting", "trouble", "faq", "play", "robot-seat",
    "systems", "privacy",
)  # fmt: skip
"""The pages for families, which are translated."""

_HEADER = re.compile(r'\A---\ntranslates: (\S+)\nof: "?([0-9a-f]*)"?\n---\n')


def languages() -> list[str]:
    """Return the languages that have chapters."""
    return sorted(path.name for path in DOCS.iterdir() if re.fullmatch("[a-z]{2}", path.name))


def header(page: Path) -> tuple[str, str]:
    """Return the English page and the digits in a page's front matter; raise ValueError if there is none."""
    found = _HEADER.match(page.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{page}: the front matter must be two lines, 'translates: docs/NAME.md' and 'of: DIGITS'.")
    return found[1], found[2]


def digits(page: Path) -> str:
    """Return the first 12 hex digits of a file's SHA-256."""
    return hashlib.sha256(page.read_bytes()).hexdigest()[:12]


def report(language: str) -> list[str]:
    """Return one line for each missing or outdated chapter of a language."""
    lines = []
    for name in CHAPTERS:
        page = DOCS / language / f"{name}.md"
        if not page.exists():
            lines.append(f"docs/{language}/{name}.md: missing")
        elif header(page)[1] != digits(ROOT / header(page)[0]):
            lines.append(f"docs/{language}/{name}.md: {header(page)[0]} has changed")
    return lines


def stamp(page: Path) -> None:
    """Write the current digits of the English page into a translated page."""
    english, _ = header(page)
    lines = f'---\ntranslates: {english}\nof: "{digits(ROOT / english)}"\n---\n'
    page.write_text(_HEADER.sub(lines, page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="List missing and outdated translations of the chapters in docs/.")
    parser.add_argument("--stamp", nargs="+", type=Path, default=[], metavar="PAGE", help="mark pages as up to date")
    for translated in parser.parse_args().stamp:
        stamp(translated)
    for folder in languages():
        print(*(report(folder) or [f"docs/{folder}: complete and up to date"]), sep="\n")

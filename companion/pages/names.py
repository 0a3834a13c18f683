"""Names that people type: cleaned for showing, and made into the one word that a record needs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

MOST_LETTERS = 24
_KEYWORDS = {"edition", "side", "target", "option", "player", "hand", "end", "exhausted"}


def clean(typed: str) -> str:
    """A name as it is shown: printable, one line, without the quotes that end it in a record, at most 24 letters."""
    plain = unicodedata.normalize("NFC", typed).replace('"', "”")
    printable = "".join(letter if letter.isprintable() else " " for letter in plain)
    return " ".join(printable.split())[:MOST_LETTERS].strip()


def record_names(shown: Iterable[str]) -> list[str]:
    """One word for each shown name, all different: letters, digits, `-` and `_`."""
    words: list[str] = []
    for name in shown:
        words.append(_free(_word(name), words))
    return words


def _word(name: str) -> str:
    word = re.sub(r"[^\w-]+", "-", name).strip("-") or "Somebody"
    return f"{word}_" if word.lower() in _KEYWORDS else word


def _free(word: str, taken: list[str]) -> str:
    used = {name.lower() for name in taken}
    candidates = [word, *(f"{word}{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in candidates if name.lower() not in used)

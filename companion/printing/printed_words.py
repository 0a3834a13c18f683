"""The words on our cards and mats, from `words/<language>.toml`.

Cards show their names, but for a few, mostly shorter ones, in `rules/printed_names.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from companion.rules import reasons
from companion.rules.card_names import printed_name
from companion.rules.cards import Card, Family

_WORDS = Path(__file__).parent / "words"


@cache
def _words(language: str) -> Mapping[str, Mapping[str, str]]:
    """Return a language's words. Raises FileNotFoundError for an unknown language."""
    return tomllib.loads((_WORDS / f"{language}.toml").read_text(encoding="utf-8"))


def card_word(card: Card, language: str = "en") -> str:
    """Return the word below a card's picture: its name, or the unit of a distance."""
    if card.family is Family.DISTANCE:
        return _words(language)["cards"][Family.DISTANCE]
    return printed_name(card, language) or reasons.card_name(card, language).replace("'", "’")


def family_word(family: Family, language: str) -> str:
    """Return the family's name in lower case."""
    return _words(language)["families"][family]


def mat_word(key: str, language: str) -> str:
    """Return a word or phrase on a mat or sheet."""
    return _words(language)["mats"][key]

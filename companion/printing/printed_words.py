"""The words on our cards and mats, from `words/<language>.toml`; card names from `rules/card_names.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from companion.rules.card_names import card_name
from companion.rules.cards import Card, Family
from companion.rules.reasons import in_edition

_WORDS = Path(__file__).parent / "words"


@cache
def _words(language: str) -> Mapping[str, Mapping[str, str]]:
    """Return a language's words. Raise FileNotFoundError if unknown."""
    return tomllib.loads((_WORDS / f"{language}.toml").read_text(encoding="utf-8"))


def card_word(card: Card, language: str = "en", edition: str | None = None) -> str:
    """Return the word below a card's picture: its name, or a distance's unit."""
    if card.family is Family.DISTANCE:
        return in_edition(_words(language)["cards"][Family.DISTANCE], language, edition)
    return card_name(card, language, edition)


def family_word(family: Family, language: str) -> str:
    """Return the family's name in lower case."""
    return _words(language)["families"][family]


def mat_word(key: str, language: str) -> str:
    """Return a word or phrase on a mat or sheet."""
    return _words(language)["mats"][key]

"""The words on our cards and mats: `words/<language>.toml`, and shorter card names in `rules/printed_names.toml`."""

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
    """Load a language's words. Raises FileNotFoundError for an unknown one."""
    return tomllib.loads((_WORDS / f"{language}.toml").read_text(encoding="utf-8"))


def card_word(card: Card, language: str = "en") -> str:
    """Return the word below a card's picture: a name, or a distance's unit."""
    if card.family is Family.DISTANCE:
        return _words(language)["cards"][Family.DISTANCE]
    return printed_name(card, language) or reasons.card_name(card, language).replace("'", "’")


def family_word(family: Family, language: str) -> str:
    """Return the family's name in lower case."""
    return _words(language)["families"][family]


def mat_word(key: str, language: str) -> str:
    """Return a word or phrase on a mat or sheet."""
    return _words(language)["mats"][key]

"""Card names by language and edition, and the card that a typed name means."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from companion.common.text import Term
from companion.rules.cards import Card, card_of_slug
from companion.rules.editions.edition import Edition, known_edition

_TABLE = Path(__file__).parent / "card_names.toml"
_UNITS = ("km", "miles")
_PLACE = re.compile(rf"%\(({'|'.join(Card)})\)s")

_LETTERS = str.maketrans("ł", "l")  # NFKD does not separate its stroke


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    """Return all names: by language and slug, or by language, edition and slug."""
    return tomllib.loads(_TABLE.read_text(encoding="utf-8"))


def card_name(card: Card, language: str = "en", edition: str | None = None) -> str:
    """Return a card's printed name, as in sentences: `End of Limit`, `Feu vert`, `25 km`.

    Unknown editions have the language's usual names. Raises KeyError for an unknown language.
    """
    return names(language, edition)[card.value]


@cache
def names(language: str, edition: str | None) -> Mapping[str, str]:
    """Return `card_name` of every card by slug."""
    own, printed_by = _table()[language], tuple(_lineage(edition))
    unit = own[printed_by[0].unit if printed_by else "km"][0]
    found = {card.value: f"{card} {unit}" if card.km else own[card.value][0] for card in Card}
    for ancestor in reversed(printed_by):
        found |= {slug: called[0] for slug, called in own.get(ancestor.name, {}).items()}
    return MappingProxyType(found)


def _lineage(edition: str | None) -> Iterator[Edition]:
    """Yield an edition and its ancestors."""
    while (found := known_edition(edition)) is not None:
        yield found
        edition = found.parent


def card_term(card: Card, edition: str | None = None) -> Term:
    """Return a card's English name, translatable in sentences."""
    return Term(card_name(card, edition=edition), "card", card.value)


def with_names(text: str, language: str, edition: str | None) -> str:
    """Return a text with card names in place of slugs: `%(roll)s`."""
    return _PLACE.sub(lambda found: names(language, edition)[found[1]], text)


def spellings() -> Iterator[tuple[str, Card, str]]:
    """Yield every name read as a card, of any edition, with card and language."""
    for language, own in _table().items():
        tables = [own, *(of_edition for of_edition in own.values() if isinstance(of_edition, dict))]
        units = [unit for key in _UNITS for unit in own[key]]
        for card in Card:
            if card.km:
                yield from ((f"{card} {unit}", card, language) for unit in units)
            elif card is not Card.UNKNOWN:
                yield from ((name, card, language) for called in tables for name in called.get(card.value, ()))


@cache
def _by_name() -> Mapping[str, Card]:
    """Return cards by key, also those of names as one word: `red-light`, `redlight`."""
    return MappingProxyType({key: card for name, card, _ in spellings() for key in _keys(name)})


def _keys(name: str) -> tuple[str, str]:
    return word_key(name), word_key(name).replace("-", "")


def word_key(name: str) -> str:
    """Return a name in lower case, without accents, hyphenated: `panne-d-electricite`."""
    letters = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return re.sub("[-_'’ ]+", "-", letters.casefold().translate(_LETTERS)).strip("-")


def card_named(word: str) -> Card | None:
    """Return the card with this slug or name, ignoring case and accents; None if unknown."""
    return card_of_slug(word) or card_of_slug(word.lower()) or _by_name().get(word_key(word))


@cache
def printed_by_key(edition: str | None = None) -> Mapping[str, str]:
    """Return names by lookup key, `Red Light` by `redlight`, as an edition (or any) prints them."""
    found: dict[str, str] = {}
    for name, card, language in spellings():
        for key in _keys(name):
            found.setdefault(key, card_name(card, language, edition) if edition else name)
    return MappingProxyType(found)


MOST_WORDS = 6
"""Most words in a card name."""


def joined(words: Sequence[str]) -> list[str]:
    """Return the words, names of several words joined: `red`, `light` becomes `red-light`."""
    out, at = [], 0
    while at < len(words):
        several = range(min(MOST_WORDS, len(words) - at), 1, -1)
        count = next((n for n in several if word_key("-".join(words[at : at + n])) in _by_name()), 1)
        out.append("-".join(words[at : at + count]))
        at += count
    return out

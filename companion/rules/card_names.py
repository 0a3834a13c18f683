"""Card names: what is printed on each edition's cards, and the card that a typed name means."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from companion.common.languages import LANGUAGES
from companion.rules.cards import Card, Family, card_of_slug
from companion.rules.reasons import card_name

_NAMES = Path(__file__).parent / "printed_names.toml"
OWN_DECK = "own-deck"  # the deck that this program prints, listed next to the editions

_LETTERS = str.maketrans("ł", "l")  # NFKD does not separate the stroke from this letter


@cache
def _printed() -> Mapping[str, Mapping[str, Mapping[str, list[str]]]]:
    """Return the printed names by edition, language and slug."""
    return tomllib.loads(_NAMES.read_text(encoding="utf-8"))


def printed_name(card: Card, language: str, edition: str = OWN_DECK) -> str | None:
    """Return the name printed on an edition's card; None if it equals the name used in sentences."""
    names = _printed().get(edition, {}).get(language, {}).get(card.value)
    return names[0] if names else None


def spellings() -> Iterator[tuple[str, Card]]:
    """Yield each card name of any edition and language, with its card."""
    for by_language in _printed().values():
        for names in by_language.values():
            cards = {card: names[card.value] for card in Card if card.value in names}
            yield from ((name, card) for card, several in cards.items() for name in several)
            yield from ((f"{card} {unit}", card) for unit in names.get(Family.DISTANCE, ()) for card in Card if card.km)
    for card in Card:
        if card is not Card.UNKNOWN:
            yield from ((card_name(card, language), card) for language in LANGUAGES)


@cache
def _by_name() -> Mapping[str, Card]:
    """Return the cards by the keys of their names, also by those written as one word: `red-light`, `redlight`."""
    return MappingProxyType({key: card for name, card in spellings() for key in _keys(name)})


def _keys(name: str) -> tuple[str, str]:
    return word_key(name), word_key(name).replace("-", "")


def word_key(name: str) -> str:
    """Return a name in lower case, without accents, hyphens between words: `panne-d-electricite`."""
    letters = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return re.sub("[-_'’ ]+", "-", letters.casefold().translate(_LETTERS)).strip("-")


def card_named(word: str) -> Card | None:
    """Return the card with this slug or printed name, ignoring case and accents; None if unknown."""
    return card_of_slug(word) or card_of_slug(word.lower()) or _by_name().get(word_key(word))


@cache
def printed_by_key() -> Mapping[str, str]:
    """Return the printed spelling of every name by the keys that `_by_name` has: `red light` by `redlight`."""
    found: dict[str, str] = {}
    for name, _ in spellings():
        for key in _keys(name):
            found.setdefault(key, name)
    return MappingProxyType(found)


MOST_WORDS = 6
"""Maximum number of words in a card name."""


def joined(words: Sequence[str]) -> list[str]:
    """Return the words, with card names of several words joined: `red`, `light` becomes `red-light`."""
    out, at = [], 0
    while at < len(words):
        several = range(min(MOST_WORDS, len(words) - at), 1, -1)
        count = next((n for n in several if word_key("-".join(words[at : at + n])) in _by_name()), 1)
        out.append("-".join(words[at : at + count]))
        at += count
    return out

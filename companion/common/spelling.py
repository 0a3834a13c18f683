"""Spelling: equal letters, look-alikes, and the word that was meant."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from companion.common.text import Said, plain, say

_MOST_SHOWN = 40
_NEAR = 0.7  # least `difflib` similarity of a suggestion, 0 to 1

_MOST_COMPARED = 60  # letters: the longest name in a new match

_ALIKE = str.maketrans("аеорсухіјѕԁһӏԛԝвкмнтүαορνυικτχγεημζβ", "aeopcyxijsdhlqwbkmhtyaopvuiktxyehmzb")
"""Lower-case Cyrillic and Greek letters that, or whose capitals, look like Latin ones."""

_SCRIPTS = {"CYRILLIC": say("Cyrillic letters"), "GREEK": say("Greek letters")}


def composed(text: str) -> str:
    """Return a text in Unicode NFC: `ë` is one character, not two."""
    return unicodedata.normalize("NFC", text)


def all_composed(value: Any) -> Any:
    """Return a JSON or TOML value with all its texts and keys `composed`."""
    if isinstance(value, dict):
        return {composed(key): all_composed(one) for key, one in value.items()}
    if isinstance(value, list):
        return [all_composed(one) for one in value]
    return composed(value) if isinstance(value, str) else value


def same_look(one: str, other: str) -> bool:
    """True if two words look the same, ignoring case: letters are equal or look-alikes of other scripts."""
    if max(len(one), len(other)) > _MOST_COMPARED:
        return one == other
    ones, others = _letters(one), _letters(other)
    return len(ones) == len(others) and all(
        a == b or (a.translate(_ALIKE) == b.translate(_ALIKE) and _script(a) != _script(b))
        for a, b in zip(ones, others, strict=True)
    )


def _letters(word: str) -> str:
    """Return a word's lower-case letters and accents, without blanks and invisible characters."""
    letters = "".join(char for char in unicodedata.normalize("NFKD", word) if unicodedata.category(char) != "Cf")
    return "".join(letters.split()).lower()


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def look_alike(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that looks like this one but has other letters, if any."""
    small = composed(word).casefold()
    return next((other for other in known if same_look(word, other) and composed(other).casefold() != small), None)


def unlike_letters(one: str, other: str) -> Said:
    """Return how two look-alikes differ: `Cyrillic letters`."""
    scripts = map(_script, sorted({*one} ^ {*other}))
    return next((_SCRIPTS[script] for script in scripts if script in _SCRIPTS), say("other letters"))


def shown(word: str) -> str:
    """Return an untrusted word for a sentence, on one line and shortened."""
    return plain(word[:_MOST_SHOWN], _MOST_SHOWN)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the most similar known word, ignoring case; None if none is similar."""
    by_small = {other.lower(): other for other in known}
    near = difflib.get_close_matches(word[:_MOST_SHOWN].lower(), by_small, n=1, cutoff=_NEAR)
    return by_small[near[0]] if near else None


def meant(word: str, known: Iterable[str], spelled: Mapping[str, str] | None = None) -> Said:
    """Return ` (did you mean 'roll'?)`, or the word it only looks like; empty if none is similar.

    `spelled` gives known words to show in another spelling.
    """
    words, spelled = list(known), spelled or {}
    alike = look_alike(word, words)
    if alike is not None:
        letters = unlike_letters(word, alike)
        return say(
            " (it looks like '%(near)s', but one of them has %(letters)s)",
            near=shown(spelled.get(alike, alike)),
            letters=letters,
        )
    near = nearest(word, words)
    return say(" (did you mean '%(near)s'?)", near=shown(spelled.get(near, near))) if near else Said("")

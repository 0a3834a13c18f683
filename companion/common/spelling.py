"""How words are spelled: one form for equal letters, letters that only look alike, and the word that was meant."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from companion.common.text import Said, plain, say

_MOST_SHOWN = 40
_NEAR = 0.7  # minimum similarity of a suggestion, 0 to 1, as `difflib` measures it

_MOST_COMPARED = 60  # letters: the longest name with which a match begins

_ALIKE = str.maketrans("аеорсухіјѕԁһӏԛԝвкмнтүαορνυικτχγεημζβ", "aeopcyxijsdhlqwbkmhtyaopvuiktxyehmzb")
"""Lower-case Cyrillic and Greek letters that look like Latin ones, or whose capitals do."""

_SCRIPTS = {"CYRILLIC": say("Cyrillic letters"), "GREEK": say("Greek letters")}


def composed(text: str) -> str:
    """Return a text in which equal letters are spelled alike (Unicode NFC): `ë` is one character, not two."""
    return unicodedata.normalize("NFC", text)


def all_composed(value: Any) -> Any:
    """Return a value from JSON or TOML with every text and key in it `composed`."""
    if isinstance(value, dict):
        return {composed(key): all_composed(one) for key, one in value.items()}
    if isinstance(value, list):
        return [all_composed(one) for one in value]
    return composed(value) if isinstance(value, str) else value


def same_look(one: str, other: str) -> bool:
    """True if two words look the same in any case: each letter is equal or the look-alike of another script."""
    if max(len(one), len(other)) > _MOST_COMPARED:
        return one == other
    ones, others = _letters(one), _letters(other)
    return len(ones) == len(others) and all(
        a == b or (a.translate(_ALIKE) == b.translate(_ALIKE) and _script(a) != _script(b))
        for a, b in zip(ones, others, strict=True)
    )


def _letters(word: str) -> str:
    """Return the lower-case letters and accents of a word, without blanks and invisible characters."""
    letters = "".join(char for char in unicodedata.normalize("NFKD", word) if unicodedata.category(char) != "Cf")
    return "".join(letters.split()).lower()


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def look_alike(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that looks like this one but has other letters; None if there is none."""
    small = composed(word).casefold()
    return next((other for other in known if same_look(word, other) and composed(other).casefold() != small), None)


def unlike_letters(one: str, other: str) -> Said:
    """Return in which letters two words differ that look alike: `Cyrillic letters`."""
    scripts = map(_script, sorted({*one} ^ {*other}))
    return next((_SCRIPTS[script] for script in scripts if script in _SCRIPTS), say("other letters"))


def shown(word: str) -> str:
    """Return a stranger's word within a sentence: of one line, and not too long."""
    return plain(word[:_MOST_SHOWN], _MOST_SHOWN)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like this one, in any case; None where none is like it."""
    by_small = {other.lower(): other for other in known}
    near = difflib.get_close_matches(word[:_MOST_SHOWN].lower(), by_small, n=1, cutoff=_NEAR)
    return by_small[near[0]] if near else None


def meant(word: str, known: Iterable[str], spelled: Mapping[str, str] | None = None) -> Said:
    """Return ` (did you mean 'roll'?)`, or which word this one only looks like; empty if no known word is like it.

    `spelled` gives the known words that are shown in another spelling.
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

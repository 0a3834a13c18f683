from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Self


class Said(str):
    """An English sentence with its `pattern` and the `values` in it, for translation.

    Pages look up the pattern and insert the values, perhaps `Said` too.
    """

    __slots__ = ("pattern", "values")

    pattern: str
    values: MappingProxyType[str, object]

    def __new__(cls, pattern: str, **values: object) -> Self:
        self = super().__new__(cls, pattern % values if values else pattern)
        self.pattern = pattern
        self.values = MappingProxyType(values)
        return self

    def __str__(self) -> Said:
        """Return itself, so that `str(error)` keeps `pattern` and `values`."""
        return self


class Counted(Said):
    """A sentence about `number` things: `pattern` for one, `several` otherwise."""

    __slots__ = ("number", "several")

    several: str
    number: int

    def __new__(cls, one: str, several: str, count: int, **values: object) -> Self:
        values = {"count": count, **values}
        self = super().__new__(cls, one if count == 1 else several, **values)
        self.pattern, self.several, self.number = one, several, count
        return self


class Term(Said):
    """A word that pages translate by kind and key.

    Kinds and keys: `card` and slug, `player` and name, `zone` and `side-1/battle`, `mat` or `side` and `side-1` or
    `table`.
    """

    __slots__ = ("key", "kind")

    kind: str
    key: str

    def __new__(cls, text: str, kind: str, key: str) -> Self:
        self = super().__new__(cls, text)
        self.kind, self.key = kind, key
        return self

    def called(self, text: str) -> Term:
        """Return the term with another word."""
        return Term(text, self.kind, self.key)

    def begun(self) -> Term:
        """Return the term with a capital."""
        return self.called(self[:1].upper() + self[1:])


def plain(text: object, most: int = 500) -> str:
    """Make untrusted text safe for a sentence: one printable line, cut after `most` characters."""
    short = str(text)[: most + 1]
    signs = "".join(char if char.isprintable() else "·" for char in short[:most])
    return f"{signs}…" if len(short) > most else signs


def say(pattern: str, **values: object) -> Said:
    """Return a sentence from a pattern with `%(name)s` places; marks it for translation."""
    return Said(pattern, **values)


def say_many(one: str, several: str, count: int, **values: object) -> Said:
    """Return the sentence for `%(count)d` things; marks both for translation."""
    return Counted(one, several, count, **values)


def begun(sentence: Said) -> Said:
    """Return a sentence that begins with a capital, in its translations too."""
    large = str.__new__(Said, sentence[:1].upper() + sentence[1:])
    large.pattern, large.values = "%(sentence)s", MappingProxyType({"sentence": sentence})
    return large


def listed(items: Iterable[object]) -> Said:
    """Join items by commas; a page translates each."""
    named = {f"item{number}": item for number, item in enumerate(items)}
    return Said(", ".join(f"%({name})s" for name in named), **named)


def sentences(*several: str) -> Said:
    """Join sentences by spaces; a page translates each."""
    named = {f"item{number}": sentence for number, sentence in enumerate(several)}
    return Said(" ".join(f"%({name})s" for name in named), **named)


def one_of(items: Iterable[object]) -> Said:
    """Join one or more alternatives: `play-out, stuck or reshuffle`."""
    *most, last = items
    return say("%(some)s or %(last)s", some=listed(most), last=last) if most else listed([last])


def all_of(items: Iterable[object]) -> Said:
    """Join one or more items: `Ann, Bob and Cid`."""
    *most, last = items
    return say("%(some)s and %(last)s", some=listed(most), last=last) if most else listed([last])

"""A sentence for people that remembers how it was put together, so that a page can say it in another language."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Self


class Said(str):
    """The English sentence, as a `str` that also knows its pattern and what was put into it.

    The rooms further in speak English; a page looks the pattern up in its catalogue and puts the same values in.
    A value may be a `Said` itself.
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
        """Itself: `str(error)` of an exception that was raised with it knows its pattern still."""
        return self


class Counted(Said):
    """A sentence about so many things: `pattern` is about one, `several` about more."""

    __slots__ = ("number", "several")

    several: str
    number: int

    def __new__(cls, one: str, several: str, count: int, **values: object) -> Self:
        values = {"count": count, **values}
        self = super().__new__(cls, one if count == 1 else several, **values)
        self.pattern, self.several, self.number = one, several, count
        return self


class Term(Said):
    """A word within a sentence for something that the pages call by a name of their own.

    `kind` is what it is: a `card` by its slug, a `player`, a `zone` (`side-1/battle`), the `mat` of a side, or the
    `side` on it (`side-1`, `table`).
    """

    __slots__ = ("key", "kind")

    kind: str
    key: str

    def __new__(cls, text: str, kind: str, key: str) -> Self:
        self = super().__new__(cls, text)
        self.kind, self.key = kind, key
        return self

    def called(self, text: str) -> Term:
        """Return the same thing by another English word."""
        return Term(text, self.kind, self.key)

    def begun(self) -> Term:
        """Return the same word where a sentence begins with it."""
        return self.called(self[:1].upper() + self[1:])


def plain(text: object, most: int = 500) -> str:
    """Return a stranger's text for a sentence: one line, nothing in it that steers a terminal, and not too long."""
    short = str(text)[: most + 1]
    signs = "".join(char if char.isprintable() else "·" for char in short[:most])
    return f"{signs}…" if len(short) > most else signs


def say(pattern: str, **values: object) -> Said:
    """Return a sentence from a pattern with `%(name)s` places; this call marks the texts to translate."""
    return Said(pattern, **values)


def say_many(one: str, several: str, count: int, **values: object) -> Said:
    """Return the sentence of the two that fits `%(count)d` things; a mark like `say`."""
    return Counted(one, several, count, **values)


def listed(items: Iterable[object]) -> Said:
    """Return words one after the other, each said in the language of the page."""
    named = {f"item{number}": item for number, item in enumerate(items)}
    return Said(", ".join(f"%({name})s" for name in named), **named)


def sentences(*several: Said) -> Said:
    """Return sentences one after the other, each said in the language of the page."""
    named = {f"item{number}": sentence for number, sentence in enumerate(several)}
    return Said(" ".join(f"%({name})s" for name in named), **named)


def one_of(items: Iterable[object]) -> Said:
    """Return a choice as a sentence names it: `play-out, stuck or reshuffle`."""
    *most, last = items
    return say("%(some)s or %(last)s", some=listed(most), last=last) if most else listed([last])


def all_of(items: Iterable[object]) -> Said:
    """Return all of several as a sentence names them: `Ann, Bob and Cid`."""
    *most, last = items
    return say("%(some)s and %(last)s", some=listed(most), last=last) if most else listed([last])

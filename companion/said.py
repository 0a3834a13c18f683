"""A sentence for people that remembers how it was put together, so that a page can say it in another language."""

from __future__ import annotations

from types import MappingProxyType


class Said(str):
    """The English sentence, as a `str` that also knows its pattern and what was put into it.

    The rooms further in speak English; a page looks the pattern up in its catalogue and puts the same values in.
    A value may be a `Said` itself.
    """

    __slots__ = ("pattern", "values")

    pattern: str
    values: MappingProxyType[str, object]

    def __new__(cls, pattern: str, **values: object) -> Said:
        self = super().__new__(cls, pattern % values if values else pattern)
        self.pattern = pattern
        self.values = MappingProxyType(values)
        return self


def say(pattern: str, **values: object) -> Said:
    """A sentence from a pattern with `%(name)s` places; the mark by which the texts to translate are found."""
    return Said(pattern, **values)

"""TOML texts: their tables, and on which line of a text each key and each element of a list stands.

The standard reader gives values without their places. `key_lines` gives places without values; it trusts the text to
be TOML, which the standard reader has found out before.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Iterator
from typing import Any

Place = tuple[str | int, ...]
"""Keys, and numbers of elements from 0, from the top of the file down."""

_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_TEXT = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")|\'\'\'.*?\'{3,5}(?!\')|' + _QUOTED.pattern,
    re.DOTALL,
)
_PLAIN = re.compile(r"[^,\]}#\n]+")


MOST_DOTS = 200
"""No line has more: over a key of some thousand parts the standard reader takes hours."""

TOO_LARGE = 10**18
"""Larger than any number that is meant; larger ones are read as this one."""


def load(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises ValueError for what is none, RecursionError for what is nested too deeply."""
    if any(line.count(".") > MOST_DOTS for line in text.splitlines()):
        raise RecursionError
    return {key: _sayable(value) for key, value in tomllib.loads(text).items()}


def _sayable(value: Any) -> Any:
    """A value as it is, but no number so large that it is an error to put it into a sentence."""
    if isinstance(value, dict):
        return {key: _sayable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_sayable(inner) for inner in value]
    return TOO_LARGE if type(value) is int and abs(value) > TOO_LARGE else value


def key_lines(text: str) -> dict[Place, int]:
    """The line, from 1, of each key, table header and element in a TOML text.

    A table without a header of its own stands where it is first named. What is no TOML ends the reading.
    """
    reader = _Reader(text.replace("\r\n", "\n"))
    with contextlib.suppress(_StrayError):
        reader.read()
    return reader.lines


class _StrayError(Exception):
    """A sign that no TOML has there."""


class _Reader:
    """Goes through the text once, from the first sign to the last."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._counted_to, self._line = 0, 1
        self._tables_in: dict[Place, int] = {}
        """How many tables each list of tables has so far."""
        self.lines: dict[Place, int] = {}

    def read(self) -> None:
        table: Place = ()
        self._skip(_BLANK)
        while self._at < len(self._text):
            if self._next("["):
                table = self._header()
            else:
                self._entry(table)
            self._skip(_BLANK)

    def _header(self) -> Place:
        line = self._line_here()
        of_many = self._next("[")
        table = self._inside(self._key())
        for end in range(1, len(table)):
            self._note(table[:end], line)
        self._expect("]")
        if not of_many:
            self.lines[table] = line
        else:
            self._expect("]")
            self._note(table, line)
            number = self._tables_in.get(table, 0)
            self._tables_in[table] = number + 1
            table = (*table, number)
            self._note(table, line)
        return table

    def _inside(self, keys: Place) -> Place:
        """Where a header's keys lead: through a list of tables they mean its last one."""
        out: Place = ()
        for key in keys[:-1]:
            out = (*out, key)
            out = (*out, self._tables_in[out] - 1) if out in self._tables_in else out
        return (*out, keys[-1])

    def _entry(self, table: Place) -> None:
        line = self._line_here()
        place = (*table, *self._key())
        for end in range(len(table) + 1, len(place) + 1):
            self._note(place[:end], line)
        self._expect("=")
        self._value(place)

    def _value(self, place: Place) -> None:
        self._skip(_SPACE)
        if self._next("["):
            for number in self._until("]"):
                self._note((*place, number), self._line_here())
                self._value((*place, number))
        elif self._next("{"):
            for _ in self._until("}"):
                self._entry(place)
        elif not self._skip(_TEXT):
            self._must(_PLAIN)

    def _until(self, end: str) -> Iterator[int]:
        """Numbers the elements of a list or the entries of a table, and stops after its end."""
        number = 0
        self._skip(_BLANK)
        while not self._next(end):
            yield number
            number += 1
            self._skip(_BLANK)
            self._next(",")
            self._skip(_BLANK)

    def _key(self) -> Place:
        """A key with its dots."""
        parts = [self._key_part()]
        while self._next("."):
            parts.append(self._key_part())
        return tuple(parts)

    def _key_part(self) -> str:
        self._skip(_SPACE)
        quoted = self._skip(_QUOTED)
        part = str(tomllib.loads(f"key = {quoted}")["key"]) if quoted else self._must(_BARE)
        self._skip(_SPACE)
        return part

    def _note(self, place: Place, line: int) -> None:
        self.lines.setdefault(place, line)

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted_to, self._at)
        self._counted_to = self._at
        return self._line

    def _next(self, sign: str) -> bool:
        """Whether the next sign is this one; it is read if so."""
        found = self._text.startswith(sign, self._at)
        self._at += len(sign) * found
        return found

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return found[0] if found else ""

    def _must(self, pattern: re.Pattern[str]) -> str:
        return self._skip(pattern) or self._stray()

    def _expect(self, sign: str) -> None:
        if not self._next(sign):
            self._stray()

    def _stray(self) -> str:
        raise _StrayError

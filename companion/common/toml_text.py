from __future__ import annotations

import re
import tomllib
from typing import Any

from companion.common.text import plain, say

MOST_DOTS = 200  # per line: `tomllib` takes hours over thousands of dots
TOO_LARGE = 10**18
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_TOO_MANY_DIGITS = re.compile(r"[0-9_]{4000,}")
_NO_QUOTE = say("the quotation mark at the end of a text is missing")
_NO_KEY = say('a line is a [table], or key = "value"')
_FAULTS = {
    r"Illegal character '\n'": _NO_QUOTE,
    "Unterminated string": _NO_QUOTE,
    'Expected "\'"': _NO_QUOTE,
    "Illegal character": say("there is a character that a text cannot contain"),
    "Unescaped": say("write a backslash in a text twice"),
    "Expected newline": say("there is more after the value; a comment begins with #"),
    "Expected '=' after a key": _NO_KEY,
    "Expected ']]'": say("the brackets ]] after the name of a table are missing"),
    "Expected ']'": say("the bracket ] after the name of a table is missing"),
    "Unclosed array": say("the bracket ] at the end of a list is missing"),
    "Unclosed inline table": say("the bracket } is missing"),
    "Cannot overwrite a value": say("this key appears twice"),
    "Cannot declare": say("this table appears twice"),
    "Invalid value": say("texts need quotes; numbers, true and false do not"),
    "Invalid statement": _NO_KEY,
}
"""Our wording by the beginning of `tomllib`'s."""


class TomlError(ValueError):
    """Invalid TOML; `str()` is a clear sentence without full stop, `fault` only what is wrong."""

    def __init__(self, line: int | None, fault: str, *, is_syntax: bool = False) -> None:
        super().__init__(say("this is not valid TOML: %(fault)s", fault=fault) if is_syntax else fault)
        self.line = line  # from 1; None if no single line is at fault
        self.fault = fault


def load(text: str) -> dict[str, Any]:
    """Return a TOML text's tables; integers beyond ±`TOO_LARGE` become `TOO_LARGE`. Raises TomlError."""
    try:
        if any(line.count(".") > MOST_DOTS for line in text.splitlines()):
            raise RecursionError
        return {key: _sayable(value) for key, value in tomllib.loads(text).items()}
    except RecursionError as error:
        raise TomlError(None, say("the brackets are nested too deeply")) from error
    except ValueError as error:
        raise _fault(str(error), text) from error


def _sayable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sayable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_sayable(inner) for inner in value]
    return TOO_LARGE if type(value) is int and abs(value) > TOO_LARGE else value


def _fault(complaint: str, text: str) -> TomlError:
    place = _PLACE.search(complaint)
    if place is None:
        digits = _TOO_MANY_DIGITS.search(text)
        return TomlError(text.count("\n", 0, digits.start()) + 1 if digits else 1, say("this number is too large"))
    line = int(place[1] or text.rstrip("\n").count("\n") + 1)
    ours = next((fault for start, fault in _FAULTS.items() if complaint.startswith(start)), None)
    theirs = plain(complaint[: place.start()])
    return TomlError(line, ours or f"{theirs[:1].lower()}{theirs[1:]}", is_syntax=True)

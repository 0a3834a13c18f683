from __future__ import annotations

import re
import tomllib
from typing import Any

from companion.common.text import plain, say

MOST_DOTS = 200  # per line: `tomllib` takes hours over thousands of dots
TOO_LARGE = 10**18
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_TOO_MANY_DIGITS = re.compile(r"[0-9_]{4000,}")
_NO_QUOTE = "the quotation mark at the end of a text is missing"
_NO_KEY = 'a line is a [table], or key = "value"'
_FAULTS = {
    r"Illegal character '\n'": _NO_QUOTE,
    "Unterminated string": _NO_QUOTE,
    'Expected "\'"': _NO_QUOTE,
    "Illegal character": "there is a sign that no text may hold",
    "Unescaped": "a backslash in a text is written twice",
    "Expected newline": "there is more after the value; a comment begins with #",
    "Expected '=' after a key": _NO_KEY,
    "Expected ']]'": "the brackets ]] after the name of a table are missing",
    "Expected ']'": "the bracket ] after the name of a table is missing",
    "Unclosed array": "the bracket ] at the end of a list is missing",
    "Unclosed inline table": "the bracket } is missing",
    "Cannot overwrite a value": "this key stands twice",
    "Cannot declare": "this table stands twice",
    "Invalid value": "texts stand in quotes, numbers and true or false without",
    "Invalid statement": _NO_KEY,
}
"""Our wording by the beginning of `tomllib`'s."""


class TomlError(ValueError):
    """Invalid TOML; `str()` is a clear sentence without full stop."""

    def __init__(self, line: int | None, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line  # from 1; None if no single line is wrong


def load(text: str) -> dict[str, Any]:
    """Return a TOML text's tables; larger integers become `TOO_LARGE`. Raises TomlError."""
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
        return TomlError(text.count("\n", 0, digits.start()) + 1 if digits else 1, "this number is too large")
    line = int(place[1] or text.rstrip("\n").count("\n") + 1)
    what = next((fault for start, fault in _FAULTS.items() if complaint.startswith(start)), complaint[: place.start()])
    return TomlError(line, plain(f"this is no TOML: {what[:1].lower()}{what[1:]}"))

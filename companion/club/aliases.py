"""Replace names in texts, JSON values and record lines. Pure functions.

Names are compared word by word, ignoring case, spaces and Unicode form: `ANN  secret` equals `Ann Secret`. Record lines
change only where players and sides are, so renaming a player `Stop` changes no card.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from companion.match.drafts import PROGRAM
from companion.match.history import CAMERA, DEMO, PHONE, ROBOT, SOMEBODY
from companion.match.questions import Letter
from companion.storage.events import EventKind

Words = tuple[str, ...]

_ASCII_WORD = re.compile(r"[\w-]+|[^\w\s]")
_NOBODY = frozenset({CAMERA, PHONE, SOMEBODY, DEMO, PROGRAM})  # values of `by` that are no player
_NAMES = frozenset({"by", "player", "name", "who", "players", "sides", "side", "first", "second", "lot"})
_CODES = frozenset(
    {"source", "question", "answer", "about", "asked", "zone", "expected", "seen", "what", "value", "deal_sha256"}
    | {"system", "edition", "role", "table"}
)
"""Fields that hold names; fields with the program's own texts."""

_LINES = (EventKind.LINE, EventKind.CORRECT, EventKind.CLAIM, Letter.CHANGE, Letter.REMOVE)
"""Kinds whose `text` is a record line."""

_TITLES = ("create", "key")  # kinds whose `name` is a tournament's or table's
_TOGETHER = " & "  # separates a pair's players
_PLAYER = re.compile(r'(player\s+)([^\s"]+)(\s+")([^"]*)(".*)', re.IGNORECASE | re.DOTALL)
_FIRST = re.compile(r"(hand\s+first\s+)(\S+)(.*)", re.IGNORECASE | re.DOTALL)
_SIDE = re.compile(r"(side\s+)(.+)", re.IGNORECASE | re.DOTALL)
_NAMED = re.compile(r"[^\s=,#]+")
_SAID = re.compile(r"[^\s>!]+|[>!]")


def words_of(text: str) -> Words:
    """Return a name's folded words; equal words mean equal names."""
    return tuple(word for _, _, word in _tokens(text))


def folded(text: str) -> str:
    """Return a text for comparison: lower case, NFKC, no format characters."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(char for char in plain if unicodedata.category(char) != "Cf")


def _tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and folded text of each word or other visible character."""
    if text.isascii():
        yield from ((found.start(), found.end(), found[0].lower()) for found in _ASCII_WORD.finditer(text))
        return
    begin: int | None = None
    for at, char in enumerate(f"{text} "):
        if _is_of_word(char):
            begin = at if begin is None else begin
            continue
        if begin is not None and (word := folded(text[begin:at])):
            yield begin, at, word
        begin = None
        if not char.isspace():
            yield at, at + 1, folded(char)


def _is_of_word(char: str) -> bool:
    return char.isalnum() or char in "_-" or unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf")


@dataclass(frozen=True, slots=True)
class Aliases:
    """Names to replace by aliases.

    `of_name` returns the alias for a name's words; `lengths` are the word counts to try, longest first. `of_word`
    returns the alias for a player's or side's exact word in one match.
    """

    lengths: tuple[int, ...]
    of_name: Callable[[Words], str | None]
    of_word: Callable[[str], str | None] = lambda _word: None

    def name(self, text: str) -> str | None:
        """Return the alias if the whole text is a name."""
        words = words_of(text)
        return self.of_name(words) if len(words) in self.lengths else None

    def in_name(self, text: str) -> str:
        """Replace a player's name, or each of a pair."""
        return _TOGETHER.join(self.of_word(one) or self.name(one) or one for one in text.split(_TOGETHER))

    def in_text(self, text: str) -> str:
        """Return free text with aliases for names."""
        tokens, parts, end, place = list(_tokens(text)), [], 0, 0
        while place < len(tokens):
            alias, count = self._at([word for _, _, word in tokens[place : place + max(self.lengths, default=1)]])
            begin, last = tokens[place][0], tokens[place + count - 1][1]
            alias = alias or self.of_word(text[begin:last])
            if alias:
                parts += [text[end:begin], alias]
                end = last
            place += count
        return "".join([*parts, text[end:]])

    def _at(self, words: list[str]) -> tuple[str | None, int]:
        for length in self.lengths:
            if length <= len(words) and (alias := self.of_name(tuple(words[:length]))):
                return alias, length
        return None, 1

    def in_line(self, text: str, *, is_header: bool = False) -> str:
        """Return a record line with aliases for players and sides; with `is_header`, also in a `side` line."""
        if found := _PLAYER.fullmatch(text):
            head, word, between, shown, rest = found.groups()
            return f"{head}{self.in_name(word)}{between}{self.name(shown) or self.in_name(shown)}{rest}"
        if found := _FIRST.fullmatch(text):
            return f"{found[1]}{self.in_name(found[2])}{found[3]}"
        if is_header:
            found = _SIDE.fullmatch(text)
            return found[1] + _NAMED.sub(lambda name: self.in_name(name[0]), found[2]) if found else text
        said = list(_SAID.finditer(text))
        places = [one for one, before in zip(said, [None, *said], strict=False) if before is None or before[0] == ">"]
        for one in reversed(places if len(said) > 1 else []):
            text = text[: one.start()] + self.in_name(one[0]) + text[one.end() :]
        return text

    def within(self, value: object, kind: str | None, field: str = "") -> Any:
        """Replace names in a JSON value from an event or deed of this kind."""
        if isinstance(value, str):
            return self._within_text(value, kind, field)
        if isinstance(value, list):
            return [self.within(one, kind, field) for one in value]
        if isinstance(value, dict):
            what = value.get("what") if kind == EventKind.LETTER else kind
            return {name: self.within(one, what, name) for name, one in value.items()}
        return value

    def _within_text(self, text: str, kind: str | None, field: str) -> str:
        if field == "lines":
            return self.in_line(text, is_header=True)
        if field == "text" and kind in _LINES:
            return self.in_line(text)
        if kind == EventKind.SETTING and field == "key":
            return ROBOT + self.in_name(text.removeprefix(ROBOT)) if text.startswith(ROBOT) else text
        if field == "edition" and kind == EventKind.SETUP:
            return self.in_text(text)
        if field in _CODES or (field == "by" and text in _NOBODY):
            return text
        return self.in_name(text) if field in _NAMES and kind not in _TITLES else self.in_text(text)


def named_in(kind: str, body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each player and side in an event: word in the record, and shown name."""
    if kind == EventKind.SEAT:
        yield str(body.get("player", "")), str(body.get("name") or body.get("player", ""))
    lines = body.get("lines") if kind == EventKind.SETUP else [body.get("text")] if kind in _LINES else None
    for text in lines if isinstance(lines, list) else ():
        if not isinstance(text, str):
            continue
        if found := _PLAYER.fullmatch(text):
            yield found[2], found[4]
        elif kind == EventKind.SETUP and (found := _SIDE.fullmatch(text)):
            yield from ((name, name) for name in _NAMED.findall(found[2]))

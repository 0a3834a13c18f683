"""Typed names: for display, and as single words in records."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import combinations

from companion.common.errors import Problem
from companion.common.spelling import composed, same_look
from companion.match.history import CAMERA, DEMO, SOMEBODY, history
from companion.pages.words import _
from companion.rules.record import notation
from companion.rules.record.notation import PlayerLine, SideLine
from companion.storage.event_store import Store

MOST_LETTERS = 24
MOST_TYPED = 200  # letters read of a typed name
MOST_MATCHES, MOST_KNOWN = 20, 12  # past matches searched for names; names returned
_UNSEEN = re.compile("[\u034f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_BLANKS = str.maketrans(dict.fromkeys("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0", " "))
"""Invisible letters become spaces: a name of them alone is empty."""

MOST_MARKS = 2  # more would overlap the lines around it
_KEYWORDS = {"edition", "side", "target", "option", "player", "hand", "end", "exhausted"}
_OURS = {SOMEBODY, CAMERA, DEMO}  # authors in the log that are not players
_NOBODY = re.compile(r"\D+-\d+")  # default name: `Player-2`


def clean(typed: str) -> str:
    """Return a typed name for display: one line, at most 24 letters, without `"`, which ends it in records."""
    plain = _UNSEEN.sub("", composed(typed[:MOST_TYPED]).translate(_BLANKS)).replace('"', "”")
    printable = "".join(letter if letter.isprintable() else " " for letter in _lightly_marked(plain))
    return " ".join(printable.split())[:MOST_LETTERS].strip()


def _lightly_marked(text: str) -> Iterator[str]:
    marks = MOST_MARKS
    for letter in text:
        marks = marks + 1 if unicodedata.combining(letter) else MOST_MARKS if letter.isspace() else 0
        if not unicodedata.combining(letter) or marks <= MOST_MARKS:
            yield letter


def known_names(store: Store) -> list[str]:
    """Return player names of recent matches, latest first, without the demo's."""
    known: dict[str, str] = {}
    for match in reversed(store.matches()[-MOST_MATCHES:]):
        lines = history(store.events(match)).lines
        for name in _names_in(line.text for line in lines if lines[0].by != DEMO):
            known.setdefault(name.casefold(), name)
    return list(known.values())[:MOST_KNOWN]


def _names_in(lines: Iterable[str]) -> Iterator[str]:
    shown: dict[str, str] = {}
    for header in notation.headers(lines):
        if isinstance(header, SideLine):
            shown |= {player: player for player in header.team.players}
        elif isinstance(header, PlayerLine):
            shown[header.player] = header.shown
    return (name for player, name in shown.items() if not _NOBODY.fullmatch(player))


def check_names(shown: list[str]) -> None:
    """Raise Problem if two names look the same."""
    for one, other in combinations(shown, 2):
        if same_look(one, other):
            raise Problem(_("Two players are called %(name)s: give one of them another name.", name=other))


def record_names(shown: Iterable[str]) -> list[str]:
    """Return a distinct word for each name: letters, digits, `-` and `_`."""
    words: list[str] = []
    for name in shown:
        word = re.sub(r"[^\w-]+", "-", name).strip("-") or "Somebody"
        word = f"{word}_" if word.lower() in _KEYWORDS or word in _OURS else word
        used = {other.lower() for other in words}
        numbered = (f"{word}{number}" for number in range(2, len(words) + 3))
        words.append(next(one for one in (word, *numbered) if one.lower() not in used))
    return words

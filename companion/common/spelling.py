"""The word that somebody may have meant who wrote one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from companion.common.text import Said, plain, say

_MOST_SHOWN = 40
_NEAR = 0.7  # how alike two words are, from 0 to 1, so that the one may be a slip for the other


def shown(word: str) -> str:
    """Return a stranger's word within a sentence: of one line, and not too long."""
    return plain(word[:_MOST_SHOWN], _MOST_SHOWN)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like this one, in any case; None where none is like it."""
    by_small = {other.lower(): other for other in known}
    near = difflib.get_close_matches(word[:_MOST_SHOWN].lower(), by_small, n=1, cutoff=_NEAR)
    return by_small[near[0]] if near else None


def meant(word: str, known: Iterable[str]) -> Said:
    """` (did you mean 'roll'?)`, or nothing where no known word is like this one."""
    near = nearest(word, known)
    return say(" (did you mean '%(near)s'?)", near=near) if near else Said("")

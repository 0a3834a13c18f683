"""Whole numbers as people and programs type them."""

from __future__ import annotations


def whole(text: str | None, low: int, high: int) -> int | None:
    """Return the number from `low` (0 or more) to `high` that a text is, apart from spaces; None for anything else.

    A number is plain figures, 0 to 9: no sign, no `1_000`, no `²` or `٣`, and not a thousand figures to work through.
    """
    plain = (text or "").strip()
    if not (plain.isascii() and plain.isdigit()) or len(plain) > len(str(high)) + _MOST_ZEROS:
        return None
    return found if low <= (found := int(plain)) <= high else None


_MOST_ZEROS = 4

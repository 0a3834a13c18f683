from __future__ import annotations


def whole(text: str | None, low: int, high: int) -> int | None:
    """Return the whole number in a text if from `low` (0 or more) to `high`, else None.

    Allows outer spaces and a few leading zeros, but no sign, `1_000`, `²` or `٣`.
    """
    plain = (text or "").strip()
    if not (plain.isascii() and plain.isdigit()) or len(plain) > len(str(high)) + _MOST_ZEROS:
        return None
    return found if low <= (found := int(plain)) <= high else None


_MOST_ZEROS = 4

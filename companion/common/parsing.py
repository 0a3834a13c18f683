from __future__ import annotations


def whole(text: str | None, low: int, high: int) -> int | None:
    """Return a text's whole number from `low` (0 or more) to `high`, ignoring spaces around it; otherwise None.

    Only the digits 0 to 9 are accepted: no sign, `1_000`, `²` or `٣`, and at most a few leading zeros.
    """
    plain = (text or "").strip()
    if not (plain.isascii() and plain.isdigit()) or len(plain) > len(str(high)) + _MOST_ZEROS:
        return None
    return found if low <= (found := int(plain)) <= high else None


_MOST_ZEROS = 4

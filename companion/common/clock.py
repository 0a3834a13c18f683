"""The wall clock: for people to read, never for order, expiry or access.

A small computer starts in 1970, or at its last shutdown, and jumps by years once online. Numbers order events; waits
use the monotonic clock.
"""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime

FIRST_YEAR = 2020  # no recorded match is older
LAST_YEAR = 2199


def make_readable() -> None:
    """Restart `time.time` at 1970 if the clock is past 2262, unreadable for Python."""
    try:
        time.time()
    except OverflowError:
        time.time = time.monotonic


def now_s() -> float:
    """Return seconds since 1970, by a perhaps wrong clock."""
    return time.time()


def moment(at_s: float) -> datetime | None:
    """Return a logged time in UTC; None outside `FIRST_YEAR` … `LAST_YEAR`."""
    if not math.isfinite(at_s):
        return None
    try:
        read = datetime.fromtimestamp(at_s, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return read if FIRST_YEAR <= read.year <= LAST_YEAR else None


def today() -> str | None:
    """Return the local date as `2026-11-22`, or None like `moment`."""
    now = moment(now_s())
    return now.astimezone().date().isoformat() if now else None

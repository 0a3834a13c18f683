"""The clock on the wall: for people to read, never to order, keep or let in by.

A small computer without a clock of its own wakes in 1970, or when it was last switched off, and jumps by years once
the network tells it the time. So numbers order everything, what is waited for goes by the monotonic clock, and a time
that cannot be right is not shown.
"""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime

FIRST_YEAR = 2020  # nobody has played with a companion before
LAST_YEAR = 2199


def make_readable() -> None:
    """Let the time begin in 1970 where the clock is beyond the year 2262: Python cannot read it, nor any library."""
    try:
        time.time()
    except OverflowError:
        time.time = time.monotonic


def now_s() -> float:
    """Return seconds since 1970 by the clock on the wall, right or wrong."""
    return time.time()


def moment(at_s: float) -> datetime | None:
    """Return a time of the log as people read it, in UTC; None where the clock cannot have been right."""
    if not math.isfinite(at_s):
        return None
    try:
        read = datetime.fromtimestamp(at_s, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return read if FIRST_YEAR <= read.year <= LAST_YEAR else None


def today() -> str | None:
    """Return the day where this machine stands, as `2026-11-22`; None while the clock cannot be right."""
    now = moment(now_s())
    return now.astimezone().date().isoformat() if now else None

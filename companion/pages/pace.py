"""How often a phone may ask: far more often than people do, and not so often that others have to wait.

Each phone has a bucket of permissions that fills again with time, by what it asks for; phones that do not take part
have one together for each address. An address has larger ones for all its phones. Nothing here knows the time of day.
"""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

MOST_BUCKETS = 4000
"""The ones that were used longest ago are forgotten: they are full again."""

PHONES_AT_AN_ADDRESS = 20
"""A whole room may come by one address, as behind a router of its own."""


class Kind(StrEnum):
    """What is asked for, by what it costs."""

    PAGE = "page"
    CHANGE = "change"
    HEAVY = "heavy"
    """A page or a file for which a small computer works for a while."""

    PICTURE = "picture"
    """A photograph or a deck that is sent."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many at once, and so many a second in the long run."""

    at_once: float
    a_second: float


RATES: Mapping[Kind, Rate] = {
    Kind.PAGE: Rate(300, 20),
    Kind.CHANGE: Rate(100, 10),
    Kind.HEAVY: Rate(40, 2),
    Kind.PICTURE: Rate(20, 0.5),
}
"""For one phone."""

_HEAVY = """
    past.show past.players past.picture past.export api.matches api.one live.export
    decks.take_away printed.sheet
"""
_PICTURES = "snap.send snap.count enrolling.take decks.take_in"
KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(_HEAVY.split(), Kind.HEAVY),
    **dict.fromkeys(_PICTURES.split(), Kind.PICTURE),
}
"""What is neither a usual page nor a usual change, by endpoint."""

FREE_TO_THE_MACHINE = frozenset({Kind.PAGE, Kind.CHANGE})


@dataclass(slots=True)
class _Bucket:
    left: float
    at_s: float


class Pace:
    """The buckets of all who ask. Any thread may call it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[tuple[str, Kind], _Bucket] = {}

    def wait_s(self, kind: Kind, address: str, phone: str | None) -> int:
        """For how many seconds whoever asks has to wait; nought where he may, and then it counts."""
        place, rate = f"at {network(address)}", RATES[kind]
        many = Rate(rate.at_once * PHONES_AT_AN_ADDRESS, rate.a_second * PHONES_AT_AN_ADDRESS)
        asked = [(f"phone {phone}", rate), (place, many)] if phone else [(f"strangers {place}", rate)]
        with self._lock:
            buckets = [(self._bucket(whose, kind, each), each) for whose, each in asked]
            wait_s = max((1 - bucket.left) / each.a_second for bucket, each in buckets)
            if wait_s > 0:
                return math.ceil(wait_s)
            for bucket, _rate in buckets:
                bucket.left -= 1
            return 0

    def _bucket(self, whose: str, kind: Kind, rate: Rate) -> _Bucket:
        now_s = self._clock()
        bucket = self._buckets.pop((whose, kind), None) or _Bucket(rate.at_once, now_s)
        bucket.left = min(rate.at_once, bucket.left + max(0.0, now_s - bucket.at_s) * rate.a_second)
        bucket.at_s = now_s
        self._buckets[whose, kind] = bucket
        while len(self._buckets) > MOST_BUCKETS:
            del self._buckets[next(iter(self._buckets))]
        return bucket


def network(address: str) -> str:
    """What counts as one address: of IPv6 the network, of which a machine takes as many as it likes."""
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(known, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((known, 64), strict=False))
    return str(known)

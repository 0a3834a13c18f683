"""Limits on request sizes, rates and code attempts.

Each phone has a token bucket per kind of request; phones that do not take part share one per address. Addresses and
proxies have larger ones for all their phones.
"""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from companion.common.errors import Busy
from companion.pages.words import N_, _
from companion.vision.counting.photographs import MOST_BYTES, MOST_SENT_BYTES

MOST_HEADER_BYTES = 16 * 1024
MOST_DECK_BYTES = 64_000_000  # `companion decks import` takes larger decks
MOST_FRAME_BYTES = 4_000_000  # 4K, lightly compressed
_AT_ONCE = 512 * 1024  # form around a file, with the parser's buffer


@dataclass(frozen=True, slots=True)
class Body:
    """Limits on a request's body."""

    most_bytes: int = 16 * 1024
    most_fields: int = 128
    most_form_bytes: int = 16 * 1024  # everything except files


USUAL = Body()
BODIES: Mapping[str, Body] = {
    "snap.send": Body(MOST_SENT_BYTES, 600, _AT_ONCE),
    "snap.count": Body(MOST_SENT_BYTES, 600, _AT_ONCE),
    "camera.frame": Body(MOST_FRAME_BYTES),
    "enrolling.take": Body(MOST_SENT_BYTES, most_form_bytes=_AT_ONCE),
    "decks.take_in": Body(MOST_DECK_BYTES, most_form_bytes=_AT_ONCE),
}
"""Limits above `USUAL`, by endpoint."""

LARGEST_BYTES = max(body.most_bytes for body in BODIES.values())


def too_many_pixels() -> str:
    """Return the message that a photograph is too large."""
    say = N_("That is more than %(mb)d MB: take the photograph with fewer pixels, or send fewer at a time.")
    return _(say, mb=MOST_BYTES // 1_000_000)


class Queue:
    """Slow tasks, one at a time; at most `most` run or wait."""

    def __init__(self, most: int) -> None:
        self._places, self._turn = threading.BoundedSemaphore(most), threading.Lock()

    @contextmanager
    def turn(self, busy: str) -> Iterator[None]:
        """Wait for a turn. Raises Busy(`busy`) if too many wait."""
        if not self._places.acquire(blocking=False):
            raise Busy(busy)
        try:
            with self._turn:
                yield
        finally:
            self._places.release()


MOST_BUCKETS = 4000  # least recently used are dropped: they are full again
PHONES_AT_AN_ADDRESS = 20  # a whole room may share one router
TYPISTS_AT_AN_ADDRESS = 4  # codes can be guessed; new phones cost nothing


class RequestKind(StrEnum):
    """Kinds of request, by cost."""

    PAGE = "page"
    POLL = "poll"  # each open page asks every second
    CHANGE = "change"
    HEAVY = "heavy"  # keeps a small computer busy
    PICTURE = "picture"  # a photograph or a deck
    FRAME = "frame"  # from a phone used as the camera
    CODE = "code"  # a table code, right or wrong


@dataclass(frozen=True, slots=True)
class Rate:
    """Bucket size, and requests per second in the long run."""

    at_once: float
    a_second: float

    def times(self, phones: int) -> Rate:
        return Rate(self.at_once * phones, self.a_second * phones)


RATES: Mapping[RequestKind, Rate] = {
    RequestKind.PAGE: Rate(300, 20),
    RequestKind.POLL: Rate(300, 60),
    RequestKind.CHANGE: Rate(100, 10),
    RequestKind.HEAVY: Rate(40, 2),
    RequestKind.PICTURE: Rate(20, 0.5),
    RequestKind.FRAME: Rate(60, 15),
    RequestKind.CODE: Rate(5, 1 / 30),
}
"""Rates for one phone."""

_HEAVY = """
    past.show statistics.show statistics.one statistics.card past.picture past.export api.matches api.match api.record
    decks.take_away enrolling.name_them printed.sheet
"""
KINDS: Mapping[str, RequestKind] = {
    "api.version": RequestKind.POLL,
    **dict.fromkeys(_HEAVY.split(), RequestKind.HEAVY),
    **dict.fromkeys(BODIES, RequestKind.PICTURE),
    "camera.frame": RequestKind.FRAME,
}
"""Kinds of routes, by endpoint, other than PAGE and CHANGE."""

FREE_TO_THE_MACHINE = frozenset({RequestKind.PAGE, RequestKind.POLL, RequestKind.CHANGE})


class RateLimits:
    """Buckets of phones and addresses. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[tuple[str, RequestKind], tuple[float, float]] = {}
        """Tokens left and time counted, by phone or address and kind."""

    def wait_s(self, kind: RequestKind, address: str, phone: str | None, proxy: str | None = None) -> int:
        """Return how many seconds a phone has to wait; 0 allows and counts the request."""
        place, rate = f"at {network(address)}", RATES[kind]
        many = rate.times(TYPISTS_AT_AN_ADDRESS if kind is RequestKind.CODE else PHONES_AT_AN_ADDRESS)
        asked = [(f"phone {phone}", rate), (place, many)] if phone else [(f"strangers {place}", rate)]
        if proxy is not None:
            asked.append((f"through {network(proxy)}", rate.times(PHONES_AT_AN_ADDRESS)))
        now_s = self._clock()
        with self._lock:
            left: dict[str, float] = {}
            for whose, each in asked:
                before, at_s = self._buckets.pop((whose, kind), (each.at_once, now_s))
                left[whose] = min(each.at_once, before + max(0.0, now_s - at_s) * each.a_second)
            wait_s = max((1 - left[whose]) / each.a_second for whose, each in asked)
            taken = 0 if wait_s > 0 else 1
            self._buckets |= {(whose, kind): (tokens - taken, now_s) for whose, tokens in left.items()}
            while len(self._buckets) > MOST_BUCKETS:
                del self._buckets[next(iter(self._buckets))]
        return math.ceil(max(0.0, wait_s))


def network(address: str) -> str:
    """Return what counts as one address: an IPv4 address or an IPv6 /64 network."""
    known = ip_of(address.partition("%")[0])
    if isinstance(known, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((known, 64), strict=False))
    return str(known or "")


def ip_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an IP address; None if invalid."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None

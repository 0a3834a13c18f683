"""How much each route takes in, how often a phone may ask, and how often an address may try codes.

A page sends little; photographs and decks have a line of their own. A phone may ask far more often than people do, and
not so often that others have to wait: each has a bucket of permissions that fills again with time, by what it asks for;
phones that do not take part have one together for each address. An address has larger ones for all its phones. Nothing
here knows the time of day.
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

from flask import Request

from companion.common.errors import Problem
from companion.vision.counting.photographs import MOST_BYTES, MOST_SENT_BYTES

MOST_DECK_BYTES = 64_000_000
"""A larger file is not taken in over the network; `companion decks import` takes it."""

_AT_ONCE = 512 * 1024
"""How much of a file is taken in at once has to fit as well."""


@dataclass(frozen=True, slots=True)
class Body:
    """What one request may bring."""

    most_bytes: int = 16 * 1024
    most_fields: int = 128
    most_form_bytes: int = 16 * 1024
    """How much of it may be anything else than files."""


USUAL = Body()
BODIES: Mapping[str, Body] = {
    "snap.send": Body(MOST_SENT_BYTES, 600, _AT_ONCE),
    "snap.count": Body(MOST_SENT_BYTES, 600, _AT_ONCE),
    "enrolling.take": Body(MOST_BYTES, most_form_bytes=_AT_ONCE),
    "decks.take_in": Body(MOST_DECK_BYTES, most_form_bytes=_AT_ONCE),
}
"""The routes that take in more than usual, by endpoint."""

LARGEST_BYTES = max(body.most_bytes for body in BODIES.values())


def body_of(endpoint: str | None) -> Body:
    """What a route takes in."""
    return BODIES.get(endpoint or "", USUAL)


def limit(request: Request) -> None:
    """Holds a request to what its route takes in."""
    body = body_of(request.endpoint)
    request.max_content_length = body.most_bytes
    request.max_form_parts = body.most_fields
    request.max_form_memory_size = body.most_form_bytes


class Busy(Problem):
    """Too many wait for the same already."""


class Queue:
    """Work for which a small computer needs a while: done one at a time, with so many that may wait for it."""

    def __init__(self, most: int) -> None:
        self._places, self._turn = threading.BoundedSemaphore(most), threading.Lock()

    @contextmanager
    def turn(self, busy: str) -> Iterator[None]:
        """Wait for one's turn. Raises Busy with that sentence where too many wait."""
        if not self._places.acquire(blocking=False):
            raise Busy(busy)
        try:
            with self._turn:
                yield
        finally:
            self._places.release()


MOST_WRONG = 5
FORGIVEN_AFTER_S = 60.0
MOST_ADDRESSES = 1000


class Answer(StrEnum):
    """What a code that was typed comes to."""

    RIGHT = "right"
    WRONG = "wrong"
    WAIT = "wait"
    """Too many wrong ones lately: whether this one was right is not said."""


class Knocks:
    """The wrong codes of the last minute, by address. Any thread may call it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._wrong_s: dict[str, tuple[float, ...]] = {}

    def knock(self, address: str, *, is_right: bool) -> Answer:
        """An address has typed a code; a wrong one counts against it."""
        now_s = self._clock()
        with self._lock:
            recent = tuple(at_s for at_s in self._wrong_s.pop(address, ()) if now_s - at_s < FORGIVEN_AFTER_S)
            answer = Answer.WAIT if len(recent) >= MOST_WRONG else Answer.RIGHT if is_right else Answer.WRONG
            if answer is Answer.WRONG:
                recent = (*recent, now_s)
            if recent:
                self._wrong_s[address] = recent
            while len(self._wrong_s) > MOST_ADDRESSES:
                del self._wrong_s[next(iter(self._wrong_s))]
            return answer


MOST_BUCKETS = 4000
"""The ones that were used longest ago are forgotten: they are full again."""

PHONES_AT_AN_ADDRESS = 20
"""A whole room may come by one address, as behind a router of its own."""


class Kind(StrEnum):
    """What is asked for, by what it costs."""

    PAGE = "page"
    POLL = "poll"
    """Whether anything has changed, which every open page asks each second."""

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
    Kind.POLL: Rate(300, 60),
    Kind.CHANGE: Rate(100, 10),
    Kind.HEAVY: Rate(40, 2),
    Kind.PICTURE: Rate(20, 0.5),
}
"""For one phone."""

_HEAVY = """
    past.show past.players past.picture past.export api.matches api.one live.export
    decks.take_away printed.sheet
"""
KINDS: Mapping[str, Kind] = {
    "live.version": Kind.POLL,
    **dict.fromkeys(_HEAVY.split(), Kind.HEAVY),
    **dict.fromkeys(BODIES, Kind.PICTURE),
}
"""What is neither a usual page nor a usual change, by endpoint."""

FREE_TO_THE_MACHINE = frozenset({Kind.PAGE, Kind.POLL, Kind.CHANGE})


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
    known = ip_of(address.partition("%")[0])
    if isinstance(known, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((known, 64), strict=False))
    return str(known or "")


def ip_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an IP address; None for what is none."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None

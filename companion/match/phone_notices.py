"""What others have done with a phone, kept until its holder has read it: its seat freed, its wish refused, a role."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import count

MOST_PHONES = 200


class Kind(StrEnum):
    """What a phone may have to be told."""

    FREED = "freed"  # the host freed its seat
    TAKEN = "taken"  # another phone has its seat now
    GIVEN = "given"  # the host gave it a seat
    JOIN_REFUSED = "join-refused"
    SEAT_REFUSED = "seat-refused"
    SEAT_KEPT = "seat-kept"  # refused too, but by the phone that has the seat
    HOST_REFUSED = "host-refused"
    HOST = "host"  # it has become the host's
    FOLLOWED = "followed"  # it was the host's, and another is now


OF_SEATS = frozenset({Kind.FREED, Kind.TAKEN, Kind.GIVEN, Kind.SEAT_REFUSED, Kind.SEAT_KEPT})
OF_ROLES = frozenset({Kind.HOST, Kind.FOLLOWED, Kind.HOST_REFUSED})
OF_JOINING = frozenset({Kind.JOIN_REFUSED})
GROUPS = (OF_SEATS, OF_ROLES, OF_JOINING)  # of each of these the last word counts


@dataclass(frozen=True, slots=True)
class Told:
    """Something that a phone has to be told."""

    id: int
    kind: Kind
    player: str | None = None


class News:
    """What each phone has not yet read, as long as the service runs. Any thread may call it."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self._changed = changed
        self._lock = threading.Lock()
        self._of: dict[str, tuple[Told, ...]] = {}
        self._next_id = count(1)

    def of(self, phone: str | None) -> tuple[Told, ...]:
        """Return what a phone has to be told, the oldest first."""
        return self._of.get(phone or "", ())

    def tell(self, phone: str, kind: Kind, player: str | None = None) -> None:
        """Keep something to tell a phone, and drop what it makes old."""
        group = next(group for group in GROUPS if kind in group)
        self._change(phone, lambda told: told.kind not in group, Told(next(self._next_id), kind, player))

    def settle(self, phone: str, group: frozenset[Kind]) -> None:
        """Drop what a phone had to be told of a group: it has done something about it."""
        self._change(phone, lambda told: told.kind not in group)

    def put_away(self, phone: str, told_id: int) -> None:
        """Drop a notice that has been read."""
        self._change(phone, lambda told: told.id != told_id)

    def _change(self, phone: str, stays: Callable[[Told], bool], *new: Told) -> None:
        with self._lock:
            before = self._of.pop(phone, ())
            news = (*filter(stays, before), *new)
            if news:
                self._of[phone] = news
            for oldest in list(self._of)[:-MOST_PHONES]:
                del self._of[oldest]
        if news != before:
            self._changed()

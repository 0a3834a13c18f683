"""The phones at a table: host, seats, watchers, requests, notices.

Host and seats are saved in the data folder; the rest is lost when the service stops.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

from companion.common.errors import cause
from companion.common.small_file import read_json
from companion.common.spelling import all_composed
from companion.common.text import Said, say
from companion.storage.data_folder import write_whole

KEPT_NAME = "phones.json"
SEAT_AWAY_S = 120.0  # silence after which others may take the seat
HOST_AWAY_S = 180.0  # silence after which any seated phone may become host
TRY_AGAIN_S = 5.0  # between attempts to save
MOST_KEPT = 200
MOST_SEEN = 500  # phones last seen: anyone with the code can add some
MOST_ASKING = 8  # open requests to join, and as many others
MOST_ASKING_AN_ADDRESS = 4


class Wish(StrEnum):
    """Requests of a phone."""

    JOIN = "join"  # take part, after typing the table's code
    SEAT = "seat"  # take another phone's seat
    HOST = "host"


@dataclass(frozen=True, slots=True)
class Asked:
    """A phone's open request."""

    id: int
    wish: Wish
    phone: str
    name: str = ""  # typed, or the player in the phone's seat
    player: str | None = None
    address: str = ""  # network address, for JOIN


@dataclass(frozen=True, slots=True)
class Party:
    """Host, seats (phone by player), watchers, names (by phone)."""

    host: str | None = None
    seats: Mapping[str, str] = field(default_factory=dict)
    watching: tuple[str, ...] = ()
    let_in: tuple[str, ...] = ()  # phones admitted by the host
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def held(self) -> frozenset[str]:
        """Phones of host and players."""
        return frozenset((*self.seats.values(), *([self.host] if self.host else [])))

    def seat_of(self, phone: str | None) -> str | None:
        return next((player for player, whose in self.seats.items() if whose == phone), None)


class NoticeKind(StrEnum):
    """Notices a phone can get."""

    FREED = "freed"  # the host freed its seat
    TAKEN = "taken"  # another phone has its seat now
    GIVEN = "given"  # the host gave it a seat
    JOIN_REFUSED = "join-refused"
    SEAT_REFUSED = "seat-refused"
    SEAT_KEPT = "seat-kept"  # by the phone that has the seat
    HOST_REFUSED = "host-refused"
    HOST = "host"  # it has become host
    FOLLOWED = "followed"  # another phone has replaced it as host


OF_SEATS = frozenset(
    {NoticeKind.FREED, NoticeKind.TAKEN, NoticeKind.GIVEN, NoticeKind.SEAT_REFUSED, NoticeKind.SEAT_KEPT}
)
OF_ROLES = frozenset({NoticeKind.HOST, NoticeKind.FOLLOWED, NoticeKind.HOST_REFUSED})
OF_JOINING = frozenset({NoticeKind.JOIN_REFUSED})
GROUPS = (OF_SEATS, OF_ROLES, OF_JOINING)  # a phone keeps only the latest notice of each group


@dataclass(frozen=True, slots=True)
class PhoneNotice:
    """A notice, shown until dismissed."""

    id: int
    kind: NoticeKind
    player: str | None = None


class News:
    """Unread notices by phone, in memory only. Thread-safe."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self._changed = changed
        self._lock = threading.Lock()
        self._of: dict[str, tuple[PhoneNotice, ...]] = {}
        self._next_id = count(1)

    def of(self, phone: str | None) -> tuple[PhoneNotice, ...]:
        return self._of.get(phone or "", ())

    def tell(self, phone: str, kind: NoticeKind, player: str | None = None) -> None:
        """Notify a phone, replacing its notice of the same group."""
        group = next(group for group in GROUPS if kind in group)
        self._change(phone, lambda told: told.kind not in group, PhoneNotice(next(self._next_id), kind, player))

    def settle(self, phone: str, group: frozenset[NoticeKind]) -> None:
        """Drop a phone's notice of a group."""
        self._change(phone, lambda told: told.kind not in group)

    def put_away(self, phone: str, told_id: int) -> None:
        self._change(phone, lambda told: told.id != told_id)

    def _change(self, phone: str, stays: Callable[[PhoneNotice], bool], *new: PhoneNotice) -> None:
        with self._lock:
            before = self._of.pop(phone, ())
            news = (*filter(stays, before), *new)
            if news:
                self._of[phone] = news
            for oldest in list(self._of)[:-MOST_KEPT]:
                del self._of[oldest]
        if news != before:
            self._changed()


class Phones:
    """The phones of one table. Thread-safe.

    The party is saved before it shows. If that fails, it stays in memory and `unkept` says why.
    """

    def __init__(
        self, folder: Path, clock: Callable[[], float] = time.monotonic, changed: Callable[[], None] = lambda: None
    ) -> None:
        self._path = folder / KEPT_NAME
        self._clock = clock
        self._changed = changed
        self._lock = threading.RLock()
        self._began_s = clock()
        self._seen_s: dict[str, float] = {}
        self._numbers: dict[str, int] = {}  # by phone, from 1; tells apart phones without a seat
        self._devices: dict[str, str] = {}
        self._asked: tuple[Asked, ...] = ()
        self._next_number, self._next_id = count(1), count(1)
        self.news = News(changed)
        self._party = _read(self._path)
        self._refused: Said | None = None
        self._tried_s = clock()

    @property
    def unkept(self) -> Said | None:
        """Why the party is unsaved, if so. Reading it retries every `TRY_AGAIN_S`."""
        if self._refused is not None and self._clock() - self._tried_s >= TRY_AGAIN_S:
            with self._lock:
                self._tried_s, self._refused = self._clock(), _kept(self._path, self._party)
            if self._refused is None:
                self._changed()
        return self._refused

    @property
    def party(self) -> Party:
        return self._party

    def held(self) -> AbstractContextManager[object]:
        """Return the party's lock. Take it before the match's lock: changing the party refreshes the match."""
        return self._lock

    # Presence

    def seen(self, phone: str, *, inside: bool = False, device: str = "") -> None:
        """Note a phone's contact; `inside`: it takes part; `device`: its kind."""
        self._seen_s[phone] = self._clock()
        if inside and phone not in self._numbers:
            with self._lock:
                if phone not in self._numbers:
                    self._numbers[phone] = next(self._next_number)
        if device:
            self._devices[phone] = device
        if len(self._seen_s) > MOST_SEEN:
            self._forget_silent()

    def _forget_silent(self) -> None:
        with self._lock:
            held = self._party.held | {asked.phone for asked in self._asked}
            others = sorted((seen_s, phone) for phone, seen_s in tuple(self._seen_s.items()) if phone not in held)
            for _, phone in others[: max(0, len(self._seen_s) - MOST_SEEN)]:
                for known in (self._seen_s, self._numbers, self._devices):
                    known.pop(phone, None)

    def number(self, phone: str | None) -> int | None:
        """Return a phone's number in this run; None if it never took part."""
        return self._numbers.get(phone or "")

    def device(self, phone: str) -> str:
        return self._devices.get(phone, "")

    def silent_s(self, phone: str) -> float:
        """Return seconds since a phone's last contact, at most since the service began."""
        return self._clock() - self._seen_s.get(phone, self._began_s)

    def has_left(self, player: str) -> bool:
        """True if the phone in the seat is silent, so that another may take it."""
        phone = self._party.seats.get(player)
        return phone is not None and self.silent_s(phone) >= SEAT_AWAY_S

    def host_has_left(self) -> bool:
        host = self._party.host
        return host is not None and self.silent_s(host) >= HOST_AWAY_S

    def present(self) -> tuple[str, ...]:
        return tuple(phone for phone in tuple(self._numbers) if self.silent_s(phone) < SEAT_AWAY_S)

    # The host

    def arrive(self, phone: str) -> None:
        """Let a phone take part; make it host if there is none."""
        with self._lock:
            self.seen(phone, inside=True)
            if self._party.host is None:
                self.make_host(phone, by=phone)

    def make_host(self, phone: str, *, by: str | None = None) -> None:
        """Make a phone host; notify old and new, except `by`."""
        with self._lock:
            before = self._party.host
            self._forget(lambda asked: asked.wish is Wish.HOST and asked.phone == phone)
            self._keep(replace(self._party, host=phone))
            for one in (before or phone, phone):
                self.news.settle(one, OF_ROLES)
            if before != phone:
                self._tell(before, NoticeKind.FOLLOWED, by)
                self._tell(phone, NoticeKind.HOST, by)

    # Seats

    def sit(self, phone: str, player: str, *, over: bool = True, by: str | None = None) -> bool:
        """Give a phone a seat; return False if that is taken and not `over`.

        Notifies the seat's previous phone, unless that is `by`.
        """
        with self._lock:
            before = self._party.seats.get(player)
            if before not in (None, phone) and not over:
                return False
            others = {p: whose for p, whose in self._party.seats.items() if p != player and whose != phone}
            self._forget(lambda asked: asked.wish is Wish.SEAT and phone == asked.phone)
            watching = tuple(p for p in self._party.watching if p != phone)
            self._keep(replace(self._party, seats={**others, player: phone}, watching=watching))
            self.news.settle(phone, OF_SEATS)
            if before != phone:
                self._tell(before, NoticeKind.TAKEN, by, player)
            return True

    def give(self, phone: str, player: str, *, by: str | None) -> None:
        with self._lock:
            self.sit(phone, player, by=by)
            self._tell(phone, NoticeKind.GIVEN, by, player)

    def stand_up(self, phone: str, *, watches: bool) -> None:
        """Free a phone's seat; it then watches, or serves the whole table."""
        with self._lock:
            seats = {player: whose for player, whose in self._party.seats.items() if whose != phone}
            others = tuple(p for p in self._party.watching if p != phone)
            self._keep(replace(self._party, seats=seats, watching=(*others, phone) if watches else others))
            self.news.settle(phone, OF_SEATS)

    def free(self, player: str, *, by: str | None = None) -> None:
        with self._lock:
            before = self._party.seats.get(player)
            seats = {p: phone for p, phone in self._party.seats.items() if p != player}
            self._keep(replace(self._party, seats=seats))
            self._tell(before, NoticeKind.FREED, by, player)

    # Requests

    def ask(self, wish: Wish, phone: str, name: str = "", player: str | None = None, address: str = "") -> bool:
        """Add a request, replacing the phone's last of its kind; return False if there are too many.

        Each `address` may have `MOST_ASKING_AN_ADDRESS` requests to join. If all places are taken, another address
        replaces the busiest one's newest request.
        """
        with self._lock:
            self.seen(phone)
            others = [asked for asked in self.asked if (asked.phone, asked.wish) != (phone, wish)]
            rivals = [asked for asked in others if (asked.wish is Wish.JOIN) == (wish is Wish.JOIN)]
            crowds = Counter(asked.address for asked in rivals if asked.address)
            if crowds[address] >= MOST_ASKING_AN_ADDRESS:
                return False
            if len(rivals) >= MOST_ASKING:
                crowd, size = max(crowds.items(), key=lambda one: one[1], default=("", 0))
                if wish is not Wish.JOIN or size <= crowds[address] + 1:
                    return False
                others.remove(next(asked for asked in reversed(rivals) if asked.address == crowd))
            self._asked = (*others, Asked(next(self._next_id), wish, phone, name, player, address))
            self.news.settle(phone, _ANSWERS[wish])
            self._changed()
            return True

    @property
    def asked(self) -> tuple[Asked, ...]:
        """Open requests of phones that are not silent, oldest first."""
        return tuple(asked for asked in self._asked if self.silent_s(asked.phone) < SEAT_AWAY_S)

    @property
    def strangers(self) -> tuple[Asked, ...]:
        return tuple(asked for asked in self.asked if asked.wish is Wish.JOIN)

    def refuse_strangers(self) -> None:
        for asked in self.strangers:
            self.answer(asked.id, yes=False)

    def waiting(self, phone: str | None, wish: Wish) -> Asked | None:
        return next((asked for asked in self.asked if asked.phone == phone and asked.wish is wish), None)

    def answer(self, asked_id: int, *, yes: bool, by: str | None = None) -> Asked | None:
        """Grant or refuse a request and return it; None if settled before. Notifies of a refusal."""
        with self._lock:
            found = next((asked for asked in self.asked if asked.id == asked_id), None)
            if found is None:
                return None
            if yes:
                if found.wish is Wish.HOST:
                    self.make_host(found.phone, by=by)
                elif found.wish is Wish.SEAT and found.player is not None:
                    self.sit(found.phone, found.player, by=by)
                elif found.wish is Wish.JOIN:
                    names = {**self._party.names, found.phone: found.name}
                    self._keep(replace(self._party, let_in=(*self._party.let_in, found.phone), names=names))
            else:
                self.news.tell(found.phone, self._refusal(found, by), found.player)
            self._forget(lambda asked: asked.id == asked_id)
            self._changed()
            return found

    def _refusal(self, asked: Asked, by: str | None) -> NoticeKind:
        if asked.wish is Wish.SEAT:
            holds = by is not None and by == self._party.seats.get(asked.player or "") and by != self._party.host
            return NoticeKind.SEAT_KEPT if holds else NoticeKind.SEAT_REFUSED
        return NoticeKind.HOST_REFUSED if asked.wish is Wish.HOST else NoticeKind.JOIN_REFUSED

    def _tell(self, phone: str | None, kind: NoticeKind, by: str | None, player: str | None = None) -> None:
        if phone is not None and phone != by:
            self.news.tell(phone, kind, player)

    def _forget(self, which: Callable[[Asked], bool]) -> None:
        self._asked = tuple(asked for asked in self._asked if not which(asked))

    # Saving

    def _keep(self, party: Party) -> None:
        self._party, self._tried_s = _recent(party), self._clock()
        self._refused = _kept(self._path, self._party)
        self._changed()


_ANSWERS: Mapping[Wish, frozenset[NoticeKind]] = {
    Wish.JOIN: OF_JOINING,
    Wish.SEAT: frozenset({NoticeKind.SEAT_REFUSED, NoticeKind.SEAT_KEPT}),
    Wish.HOST: frozenset({NoticeKind.HOST_REFUSED}),
}
"""Notices that a new request makes obsolete."""


def _recent(party: Party) -> Party:
    """Drop the oldest phones beyond `MOST_KEPT`, but not host or seated ones."""
    seats = MappingProxyType(dict(list(party.seats.items())[-MOST_KEPT:]))
    held = replace(party, seats=seats).held
    old = {phone for phone in party.let_in[:-MOST_KEPT] if phone not in held}
    names = dict(list(party.names.items())[-MOST_KEPT:])
    return replace(
        party,
        seats=seats,
        watching=party.watching[-MOST_KEPT:],
        let_in=tuple(phone for phone in party.let_in if phone not in old),
        names=MappingProxyType({phone: name for phone, name in party.names.items() if phone in held or phone in names}),
    )


def _read(path: Path) -> Party:
    """Return the saved party, empty if unreadable."""
    try:
        kept = all_composed(read_json(path))
        json.dumps(kept, ensure_ascii=False).encode()  # a lone surrogate could be neither shown nor saved
        host = kept.get("host")
        return Party(
            host=host if isinstance(host, str) else None,
            seats=_texts(kept.get("seats")),
            watching=_list(kept.get("watching")),
            let_in=_list(kept.get("let_in")),
            names=_texts(kept.get("names")),
        )
    except (OSError, ValueError, AttributeError, RecursionError):
        return Party()


def _texts(kept: Any) -> Mapping[str, str]:
    pairs = kept.items() if isinstance(kept, dict) else ()
    return MappingProxyType({key: value for key, value in pairs if isinstance(value, str)})


def _list(kept: Any) -> tuple[str, ...]:
    return tuple(one for one in kept if isinstance(one, str)) if isinstance(kept, list) else ()


def _kept(path: Path, party: Party) -> Said | None:
    """Save a party atomically; return why, if that fails."""
    body = {kept.name: getattr(party, kept.name) for kept in fields(Party)}
    try:
        write_whole(path, json.dumps(body, ensure_ascii=False, default=dict))
        return None
    except OSError as error:
        where, why = str(path.parent), cause(error)
        return say(
            "The seating cannot be saved in %(where)s (%(why)s): free some space there, or it is lost at the next"
            " start.",
            where=where,
            why=why,
        )

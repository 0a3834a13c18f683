"""Who is holding the phone: a signed cookie says which phone it is; `Phones` what that phone may do.

A phone takes part once it has shown the join code's link, or the host has let it in. It *acts* unless it chose to
watch. The machine itself always takes part, and may always do what the host may.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import logging
import secrets
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from flask import request, session

from companion.common.errors import Problem
from companion.match.history import SOMEBODY
from companion.match.match import MatchState
from companion.match.phones import Phones, new_phone
from companion.pages.context import service
from companion.pages.words import N_, _
from companion.storage.data_folder import KEY_NAME
from companion.storage.files import read_small, write_whole

_MAY, _PHONE = "may", "phone"
KEY_BYTES = 32
CODE_LETTERS = "CDFGHJKLMNPRTVWXY"
"""None that looks like another or like a figure, and no vowels: no code is a word."""

CODE_LENGTH = 4

log = logging.getLogger(__name__)


class NotYours(Problem):
    """What this phone asked for belongs to somebody else; the sentence says to whom."""


def load_secret(folder: Path) -> bytes:
    """The key that signs cookies, made on first use and readable by its owner alone.

    One that is no key, as a power cut may leave it, is made anew: an empty key would be everybody's. Where a new one
    cannot be kept it holds as long as the service runs: then every phone has to scan the code again.
    """
    path = folder / KEY_NAME
    try:
        known = _kept(path)
    except OSError as error:
        raise Problem(f"{path} cannot be used ({error.strerror}): choose another folder with --data.") from error
    if known is not None and _is_key(known):
        return known
    if known is not None:
        print(_MADE_ANEW.format(path=path), file=sys.stderr)  # noqa: T201
    return _new_secret(path)


_MADE_ANEW = "{path} was damaged: there is a new key, and every phone has to scan the join code again."


def _kept(path: Path) -> bytes | None:
    """What lies there, from now on readable by its owner alone."""
    try:
        key = read_small(path)
    except FileNotFoundError:
        return None
    with suppress(OSError):
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    return key


def _is_key(key: bytes) -> bool:
    return len(key) == KEY_BYTES and len(set(key)) > KEY_BYTES // 4


def _new_secret(path: Path) -> bytes:
    key = secrets.token_bytes(KEY_BYTES)
    try:
        write_whole(path, key, mode=0o600)
    except OSError as error:
        log.warning("%s cannot be kept (%s): after the next start phones scan the code anew.", path, error.strerror)
    return key


def join_token(secret: bytes) -> str:
    """The token in the join QR: 128 bits, the same after a restart."""
    digest = hmac.digest(secret, b"join", hashlib.sha256)[:16]
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def table_code(secret: bytes) -> str:
    """The short code of the table, for phones that cannot scan: it asks the host. The same after a restart."""
    number = int.from_bytes(hmac.digest(secret, b"table code", hashlib.sha256)[:8])
    letters = []
    for _place in range(CODE_LENGTH):
        number, letter = divmod(number, len(CODE_LETTERS))
        letters.append(CODE_LETTERS[letter])
    return "".join(letters)


def phones() -> Phones:
    """The phones of this table."""
    return service().phones


def phone() -> str | None:
    """Which phone this is; None for one that never took part."""
    known = session.get(_PHONE)
    return known if isinstance(known, str) else None


def known_phone() -> str:
    """Which phone this is, from now on at the latest."""
    known = phone()
    if known is None:
        session.permanent = True
        session[_PHONE] = known = new_phone()
    return known


def let_in(given: str, token: str) -> bool:
    """Lets a phone take part that shows the token."""
    if hmac.compare_digest(given.encode(), token.encode()):
        session.permanent = True
        session[_MAY] = True
        return True
    return False


def notice() -> None:
    """Remembers that this phone is there."""
    known = phone() or (known_phone() if session.get(_MAY) else None)
    if known is not None:
        phones().seen(known, inside=takes_part(), device=_device(request.user_agent.string))


DEVICES = (
    ("iPad", N_("iPad")),
    ("iPhone", N_("iPhone")),
    ("TV", N_("television")),
    ("Android", N_("Android")),
    ("Windows", N_("computer")),
    ("Macintosh", N_("computer")),
    ("CrOS", N_("computer")),
    ("X11", N_("computer")),
)
"""What a browser's name for itself is looked through for, in this order, and what people call such a thing."""


def _device(browser: str) -> str:
    """The kind of a phone; nothing of what a browser says of itself is ever shown."""
    return next((called for sign, called in DEVICES if sign in browser), "")


def called(phone: str | None) -> str | None:
    """What a phone without a seat is told apart by: the name typed at the door, else its number; None without both."""
    number = phones().number(phone)
    numbered = _("Phone %(number)d", number=number) if number is not None else None
    return phones().party.names.get(phone or "") or numbered


def takes_part() -> bool:
    """Whether this phone was let in, or is the machine itself: it may see pictures and take a seat."""
    return bool(session.get(_MAY)) or is_machine() or phone() in phones().party.let_in


def may_act() -> bool:
    """Whether this phone may change the game: it takes part and did not choose to watch."""
    return takes_part() and not watches()


def watches() -> bool:
    """Whether this phone chose to watch."""
    return phone() in phones().party.watching


def may_host() -> bool:
    """Whether this phone may do what the host may: everybody may while there is no host."""
    host = phones().party.host
    return takes_part() and (is_machine() or host is None or phone() == host)


def is_host() -> bool:
    """Whether this phone is the host's."""
    return phone() is not None and phone() == phones().party.host


BY_PROXY = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip")
"""What is said by a program that passes on what others ask."""


def is_machine() -> bool:
    """Whether this request comes from the machine that watches the table, and was not passed on there for somebody."""
    return is_here(request.remote_addr) and not any(name in request.headers for name in BY_PROXY)


def is_here(address: str | None) -> bool:
    """Whether an address is this machine's own."""
    try:
        return ipaddress.ip_address(address or "").is_loopback
    except ValueError:
        return False


def seat(state: MatchState) -> str | None:
    """The player whose seat this phone has in the match being played."""
    player = phones().party.seat_of(phone()) if phone() else None
    return player if any(player in team.players for team in state.game.teams) else None


def who(state: MatchState) -> str:
    """Whom the log names for what this phone does."""
    return seat(state) or SOMEBODY


@dataclass(frozen=True, slots=True)
class Holder:
    """Whoever holds a phone, as the rights see him."""

    seat: str | None = None
    acts: bool = True
    hosts: bool = False
    seated: frozenset[str] = frozenset()
    """The players of this match who have a phone."""


def holder(state: MatchState) -> Holder:
    """Whoever holds this phone."""
    seats = phones().party.seats
    players = (player for team in state.game.teams for player in team.players)
    return Holder(seat(state), may_act(), may_host(), frozenset(player for player in players if player in seats))

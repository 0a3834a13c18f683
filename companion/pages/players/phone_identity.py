"""Identity of a phone: a signed cookie holds its id, `Phones` its rights.

A phone takes part once it opened the join link or the host admitted it. It may *act* unless it watches. This machine
always takes part, with the host's rights.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import secrets
import sys
from contextlib import suppress
from pathlib import Path

from flask import request, session

from companion.common.errors import Problem, cause
from companion.common.small_file import read_small
from companion.common.text import say
from companion.match.history import SOMEBODY
from companion.match.phones import Phones
from companion.match.state import MatchState
from companion.pages.context import service
from companion.pages.limits import ip_of
from companion.pages.words import N_, _
from companion.storage.data_folder import KEY_NAME, write_whole

_MAY, _PHONE = "may", "phone"
KEY_BYTES = 32
CODE_LETTERS = "CDFGHJKLMNPRTVWXY"  # unlike each other and digits; without vowels no code is a word
CODE_LENGTH = 4

log = logging.getLogger(__name__)


class NotYours(Problem):
    """Refusal of an action, naming who may do it."""


def load_secret(folder: Path) -> bytes:
    """Return the key that signs cookies, created on first use and readable only by its owner.

    An invalid key is replaced: anyone could sign with an empty one. An unsaved key lasts until the service ends. Raises
    Problem if the file cannot be read.
    """
    path, known = folder / KEY_NAME, None
    try:
        with suppress(FileNotFoundError):
            known = read_small(path)
            with suppress(OSError):
                if path.stat().st_mode & 0o077:
                    path.chmod(0o600)
    except OSError as error:
        raise Problem(
            "%(path)s cannot be used (%(error)s): choose another folder with --data.", path=path, error=cause(error)
        ) from error
    if known is not None and len(known) == KEY_BYTES and len(set(known)) > KEY_BYTES // 4:
        return known
    if known is not None:
        say_so = "was damaged: there is a new key, and every phone has to scan the join code again."
        print(f"{path} {say_so}", file=sys.stderr)  # noqa: T201
    key = secrets.token_bytes(KEY_BYTES)
    try:
        write_whole(path, key)
    except OSError as error:
        log.warning("%s cannot be kept (%s): after the next start phones scan the code again.", path, error.strerror)
    return key


def join_token(secret: bytes) -> str:
    """Return the join link's token: 128 bits, the same after a restart."""
    digest = hmac.digest(secret, b"join", hashlib.sha256)[:16]
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def table_code(secret: bytes) -> str:
    """Return the short code for phones that cannot scan, the same after a restart."""
    number, base = int.from_bytes(hmac.digest(secret, b"table code", hashlib.sha256)[:8]), len(CODE_LETTERS)
    return "".join(CODE_LETTERS[number // base**place % base] for place in range(CODE_LENGTH))


def phones() -> Phones:
    """Return the table's phones."""
    return service().phones


def phone() -> str | None:
    """Return the id in this phone's cookie, if any."""
    known = session.get(_PHONE)
    return known if isinstance(known, str) else None


def known_phone() -> str:
    """Return this phone's id; a new phone gets its cookie now."""
    known = phone()
    if known is None:
        session[_PHONE] = known = secrets.token_urlsafe(16)
    return known


def let_in(given: str, token: str) -> bool:
    """Let this phone take part; return False for a wrong token."""
    if hmac.compare_digest(given.encode(), token.encode()):
        session[_MAY] = True
        return True
    return False


def notice() -> None:
    """Record this phone's presence and device."""
    known = phone() or (known_phone() if session.get(_MAY) else None)
    if known is not None:
        # nothing else of the user agent is ever shown
        device = next((called for sign, called in DEVICES if sign in request.user_agent.string), "")
        phones().seen(known, inside=takes_part(), device=device)


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
"""Device names by part of the user agent; the first match counts."""


def called(phone: str | None) -> str | None:
    """Return a seatless phone's typed name, else `Phone 2`, else None."""
    number = phones().number(phone)
    numbered = _("Phone %(number)d", number=number) if number is not None else None
    return phones().party.names.get(phone or "") or numbered


def takes_part() -> bool:
    """True if this phone may see pictures and take a seat."""
    return bool(session.get(_MAY)) or is_machine() or phone() in phones().party.let_in


def trouble(state: MatchState) -> str | None:
    """Return the camera problem, without its address (perhaps with a password) for strangers."""
    if state.trouble is None or takes_part():
        return state.trouble
    return say("Something is wrong with the camera.")


def may_act() -> bool:
    """True if this phone may change the game."""
    return takes_part() and not watches()


def watches() -> bool:
    """True if this phone chose to watch."""
    return phone() in phones().party.watching


def may_host() -> bool:
    """True if this phone has the host's rights; without a host, all that take part do."""
    host = phones().party.host
    return takes_part() and (is_machine() or host is None or phone() == host)


def is_host() -> bool:
    """True if this phone is the host's."""
    return phone() is not None and phone() == phones().party.host


BY_PROXY = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip")
BY_ANNOUNCED = "companion.by_announced"  # WSGI key of requests to the announced address


def is_machine() -> bool:
    """True if this request comes from this machine, not through a proxy on it."""
    known = ip_of(request.remote_addr or "")
    is_passed_on = BY_ANNOUNCED in request.environ or any(name in request.headers for name in BY_PROXY)
    return known is not None and known.is_loopback and not is_passed_on


def places() -> tuple[str, str | None]:
    """Return the sender's address, and that of the forwarding proxy on this machine, if any.

    Only the header's last address counts: the proxy appended it. Without a proxy the header is ignored.
    """
    peer = request.remote_addr or ""
    known, named = ip_of(peer), request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
    if known is None or not known.is_loopback or ip_of(named) is None:
        return peer, None
    return named, peer


def seat(state: MatchState) -> str | None:
    """Return this phone's player in the current match."""
    player = phones().party.seat_of(phone())
    return player if player in state.people else None


def who(state: MatchState) -> str:
    """Return the author of this phone's changes in the log."""
    return seat(state) or SOMEBODY


def seated(state: MatchState) -> frozenset[str]:
    """Return this match's players who have a phone."""
    return frozenset(phones().party.seats) & set(state.people)

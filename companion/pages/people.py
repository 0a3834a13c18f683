"""Who is holding the phone: a signed cookie says whether he may take part, and which seat is his."""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import os
import secrets
from pathlib import Path

from flask import request, session

from companion.data import KEY_NAME
from companion.errors import Problem
from companion.match import MatchState

_MAY, _PLAYER = "may", "player"
SOMEBODY = "somebody"


def load_secret(folder: Path) -> bytes:
    """The key that signs cookies, made on first use and readable by its owner alone."""
    path = folder / KEY_NAME
    try:
        if not path.exists():
            _write_new(path, secrets.token_bytes(32))
        return path.read_bytes()
    except OSError as error:
        raise Problem(f"{path} cannot be used ({error.strerror}): choose another folder with --data.") from error


def _write_new(path: Path, key: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(key)


def join_token(secret: bytes) -> str:
    """The token in the join QR: 128 bits, the same after a restart."""
    digest = hmac.digest(secret, b"join", hashlib.sha256)[:16]
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def let_in(given: str, token: str) -> bool:
    """Lets a phone take part that shows the token."""
    if hmac.compare_digest(given.encode(), token.encode()):
        session.permanent = True
        session[_MAY] = True
        return True
    return False


def may_act() -> bool:
    """Whether this request may change anything: it scanned the code, or sits at the machine itself."""
    return bool(session.get(_MAY)) or is_here(request.remote_addr)


def is_here(address: str | None) -> bool:
    """Whether an address is this machine's own."""
    try:
        return ipaddress.ip_address(address or "").is_loopback
    except ValueError:
        return False


def sit_down(player: str | None) -> None:
    """Remembers the seat of this phone; None for a spectator."""
    session.permanent = True
    session[_PLAYER] = player


def seat(state: MatchState) -> str | None:
    """The player whose seat this phone has in the match being played."""
    player = session.get(_PLAYER)
    return player if any(player in team.players for team in state.game.teams) else None


def who(state: MatchState) -> str:
    """Whom the log names for what this phone does."""
    return seat(state) or SOMEBODY

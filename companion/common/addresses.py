"""Addresses that people type, as they may be shown: most of one may be a secret."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"([^/@?&#=]*)(?:(?<=:)/|//)/*([^/?#\\]*)(.*)", re.DOTALL)
_HOST = re.compile(r"(?:[^@]*@)?([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?", re.IGNORECASE)
_SECRETS = re.compile(r"[?&#=].*", re.DOTALL)
_NOT_SHOWN = "…"


def shown(source: str) -> str:
    """Return a source as it may be shown: of an address the scheme, host and port, as all else may be a secret.

    However it is mistyped, nothing before an `@` is shown, nor from `?`, `&`, `#` or `=` on. Where a password has such
    signs the host cannot be found for sure, and is left out too.
    """
    address = _ADDRESS.fullmatch(source)
    if address is not None:
        scheme, place, rest = address.groups()
        host = None if "@" in rest else _HOST.fullmatch(place)
        return f"{scheme}//{host[1]}{host[2] or ''}" if host else f"{scheme}//{_NOT_SHOWN}"
    login, at, rest = source.rpartition("@")
    if _SECRETS.search(login):
        return _NOT_SHOWN
    return (f"{_NOT_SHOWN}@" if at else "") + _SECRETS.sub(_NOT_SHOWN, rest)

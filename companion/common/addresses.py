"""Addresses of cameras and services, shown without secrets."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"([^/@?&#=]*)(?:(?<=:)/|//)/*([^/?#\\]*)(.*)", re.DOTALL)
_HOST = re.compile(r"(?:[^@]*@)?([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?", re.IGNORECASE)
_SECRETS = re.compile(r"[?&#=].*", re.DOTALL)
_NOT_SHOWN = "…"


def shown(source: str) -> str:
    """Return a source without secrets: of an address only scheme, host and port.

    Text before `@` and after `?`, `&`, `#` or `=` never shows, even in mistyped sources; nor does the host, if the
    password may contain one of these.
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

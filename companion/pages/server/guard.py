"""What every request passes: which name it asked for, how often, whose page it comes from, which door."""

from __future__ import annotations

import gzip
import io
import re
import socket
from collections.abc import Collection
from typing import IO, Any

from flask import Flask, Request, Response, abort, request
from werkzeug.exceptions import TooManyRequests
from werkzeug.routing import IntegerConverter

from companion.pages import error_pages, limits
from companion.pages.context import service
from companion.pages.limits import FREE_TO_THE_MACHINE, KINDS, Kind
from companion.pages.players import access, phone_identity
from companion.pages.server.cookies import Cookies
from companion.pages.words import _

WORTH_PACKING_BYTES = 600
LOOKING = ("GET", "HEAD", "OPTIONS")

_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
"""What every answer says to the browser."""

_TEXTS = ("text/html", "text/css", "text/javascript", "application/json", "image/svg+xml", "text/plain")
_HOST = re.compile(
    r"(?:\[(?P<six>[0-9a-f:.]{2,45})\]|(?P<name>[a-z0-9.-]{1,253}))(?::\d{1,5})?", re.IGNORECASE | re.ASCII
)

# What nobody sees and browsers obey, such as a name that turns the line around it backwards, is left out of pages.
# The joiners U+200C and U+200D stay: names of some languages are written with them, and forms send names back.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ud800-\udfff\ue000-\uf8ff"
    "\ufeff\ufff0-\ufffb\U000e0000-\U000e007f\U000f0000-\U0010ffff]"
)
AT_HOME = ("local", "lan", "home", "home.arpa", "internal", "localdomain")
"""What local networks put behind a machine's own name; nobody can buy a name on the internet that ends so."""


class InMemory(Request):
    """A request of which nothing comes to lie on the disk, a photograph neither."""

    def _get_file_stream(self, *_about: Any, **_more: Any) -> IO[bytes]:
        return io.BytesIO()


class ShortNumber(IntegerConverter):
    """A number in an address, of no more digits than any of ours has."""

    regex = r"\d{1,15}"


def protect(app: Flask) -> None:
    """Puts the guard before and behind every request of the app."""
    app.request_class = InMemory
    app.url_map.converters["int"] = ShortNumber
    app.session_interface = Cookies()
    app.config.update(
        # Not "Strict": a link to the join page in a message would come without the cookie, and the phone lose its seat.
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_NAME="companion",
        SESSION_REFRESH_EACH_REQUEST=False,  # a slow old answer must not bring an old cookie back
    )
    app.before_request(_before)
    app.after_request(_after)


def _before() -> None:
    limits.limit(request)
    _check_name()
    _check_pace()
    phone_identity.notice()
    _check_page()
    if request.endpoint is not None:
        access.let_in(request.endpoint)


def check_door() -> None:
    """Ends a request that would not be let in: by its name, by whose page it comes from, or by its door."""
    _check_name()
    _check_page()
    if request.endpoint is not None:
        access.let_in(request.endpoint)


def _check_name() -> None:
    if not is_our_name(request.host, service().called):
        where = service().base_url or "http://localhost"
        abort(error_pages.say(_("This machine goes by another name: open %(address)s instead.", address=where), 400))


def _check_pace() -> None:
    kind = KINDS.get(request.endpoint or "", Kind.PAGE if request.method in LOOKING else Kind.CHANGE)
    if kind in FREE_TO_THE_MACHINE and phone_identity.is_machine():
        return
    whose = phone_identity.phone() if phone_identity.takes_part() else None
    wait_s = service().pace.wait_s(kind, request.remote_addr or "", whose)
    if wait_s:
        raise TooManyRequests(retry_after=wait_s)


def _check_page() -> None:
    if request.method in LOOKING:
        return
    ours = is_our_page(request.headers.get("Origin"), request.host)
    if not ours or request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        abort(403)


def is_our_name(host: str, called: Collection[str] = ()) -> bool:
    """Whether somebody may ask for this machine by that name: an address, localhost, its own name, or one it was given.

    A strange name that leads here is how a page on the internet would reach into the local network.
    """
    found = _HOST.fullmatch(host)
    if found is None:
        return False
    if found["six"] is not None or not re.search(r"[a-z]", found["name"], re.IGNORECASE):
        return limits.ip_of(found["six"] or found["name"]) is not None
    name, own = found["name"].lower().removesuffix("."), re.escape(socket.gethostname().lower().split(".")[0])
    # Where two machines have one name, the second is called `table-2.local`.
    at_home = rf"{own}|{own}(?:-\d{{1,3}})?\.(?:{'|'.join(map(re.escape, AT_HOME))})"
    ours = {"localhost", socket.gethostname().lower(), *called}
    return name in ours or name.endswith(".localhost") or re.fullmatch(at_home, name) is not None


def is_our_page(origin: str | None, host: str) -> bool:
    """Whether a change was asked for by one of our own pages."""
    return origin in (f"http://{host}", f"https://{host}")


def _after(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Cache-Control", "no-store")
    if response.mimetype == "text/html" and not response.is_streamed:
        response.set_data(_UNSEEN.sub("", response.get_data(as_text=True)))
    return _packed(response)


def _packed(response: Response) -> Response:
    """The response gzipped where the browser takes it and it pays."""
    wanted = "gzip" in request.headers.get("Accept-Encoding", "") and response.mimetype in _TEXTS
    if not wanted or response.is_streamed or response.direct_passthrough or "Content-Encoding" in response.headers:
        return response
    body = response.get_data()
    if len(body) >= WORTH_PACKING_BYTES:
        response.set_data(gzip.compress(body, 6, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding, Cookie"
    return response

"""Checks that every request passes: its host name, its pace, the page it comes from, its route."""

from __future__ import annotations

import gzip
import io
import re
import socket
from collections.abc import Callable, Collection
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

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'"
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
_TEXTS = ("text/html", "text/css", "text/javascript", "application/json", "image/svg+xml", "text/plain")
_HOST = re.compile(
    r"(?:\[(?P<six>[0-9a-f:.]{2,45})\]|(?P<name>[a-z0-9.-]{1,253}))(?::\d{1,5})?", re.IGNORECASE | re.ASCII
)

# Invisible characters that browsers obey, such as those that reverse a line, are left out of pages.
# The joiners U+200C and U+200D stay: some languages need them in names, and forms send names back.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ud800-\udfff\ue000-\uf8ff"
    "\ufeff\ufff0-\ufffb\U000e0000-\U000e007f\U000f0000-\U0010ffff]"
)
AT_HOME = ("local", "lan", "home", "home.arpa", "internal", "localdomain")
"""Domains of local networks, which nobody can register on the internet."""


class InMemory(Request):
    """A request whose files stay in memory: no photograph reaches the disk."""

    def _get_file_stream(self, *_about: Any, **_more: Any) -> IO[bytes]:
        return io.BytesIO()


class ShortNumber(IntegerConverter):
    """A number in an address, of at most 15 digits."""

    regex = r"\d{1,15}"


def protect(app: Flask) -> None:
    """Check every request of the app, and complete every answer."""
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
    body = limits.body_of(request.endpoint)
    request.max_content_length = body.most_bytes
    request.max_form_parts = body.most_fields
    request.max_form_memory_size = body.most_form_bytes
    check_door(_count)


def check_door(count: Callable[[], None] = lambda: None) -> None:
    """End a request that may not come in: by its host name, by the page it comes from, or by its route.

    `count` is called for one of a right name, before the rest is checked.
    """
    if not is_our_name(request.host, service().called):
        where = service().base_url() or "http://localhost"
        abort(error_pages.say(_("This machine goes by another name: open %(address)s instead.", address=where), 400))
    count()
    if request.method not in LOOKING:
        ours = is_our_page(request.headers.get("Origin"), request.host)
        if not ours or request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            abort(403)
    if request.endpoint is not None:
        access.let_in(request.endpoint)


def _count() -> None:
    """Count a request against its phone's pace, and note that the phone is present. Raises TooManyRequests."""
    kind = KINDS.get(request.endpoint or "", Kind.PAGE if request.method in LOOKING else Kind.CHANGE)
    if kind not in FREE_TO_THE_MACHINE or not phone_identity.is_machine():
        whose = phone_identity.phone() if phone_identity.takes_part() else None
        wait_s = service().pace.wait_s(kind, request.remote_addr or "", whose)
        if wait_s:
            raise TooManyRequests(retry_after=wait_s)
    phone_identity.notice()


def is_our_name(host: str, called: Collection[str] = ()) -> bool:
    """True if a host name is this machine's: an address, localhost, its own name, or one it was given.

    Any other would let a page on the internet reach into the local network (DNS rebinding).
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
    """True if a change was asked for by one of our own pages."""
    return origin in (f"http://{host}", f"https://{host}")


def _after(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Cache-Control", "no-store")
    if response.mimetype == "text/html" and not response.is_streamed:
        response.set_data(_UNSEEN.sub("", response.get_data(as_text=True)))
    return _packed(response)


def _packed(response: Response) -> Response:
    """Return the response, gzipped where the browser takes that and it pays."""
    wanted = "gzip" in request.headers.get("Accept-Encoding", "") and response.mimetype in _TEXTS
    if not wanted or response.is_streamed or response.direct_passthrough or "Content-Encoding" in response.headers:
        return response
    body = response.get_data()
    if len(body) >= WORTH_PACKING_BYTES:
        response.set_data(gzip.compress(body, 6, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding, Cookie"
    return response

"""What every request passes: whose page it comes from, which name it asked for, which door, what a browser may do."""

from __future__ import annotations

import gzip
import io
import ipaddress
import socket
from typing import IO, Any
from urllib.parse import urlsplit

from flask import Flask, Request, Response, abort, request
from werkzeug.routing import IntegerConverter

from companion.pages import doors, people

MOST_BODY_BYTES = 16 * 1024
MOST_FIELDS = 128
WORTH_PACKING_BYTES = 600

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
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_TEXTS = ("text/html", "text/css", "text/javascript", "application/json", "image/svg+xml", "text/plain")


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
    app.config.update(
        MAX_CONTENT_LENGTH=MOST_BODY_BYTES,
        MAX_FORM_MEMORY_SIZE=MOST_BODY_BYTES,
        MAX_FORM_PARTS=MOST_FIELDS,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_NAME="companion",
        SESSION_REFRESH_EACH_REQUEST=False,  # a slow old answer must not bring an old cookie back
    )
    app.before_request(_before)
    app.after_request(_after)


def _before() -> None:
    if not is_our_name(request.host):
        abort(400)
    people.notice()
    changes = request.method not in ("GET", "HEAD", "OPTIONS")
    if changes and not is_our_page(request.headers.get("Origin"), request.host):
        abort(403)
    if request.endpoint is not None:
        doors.let_in(request.endpoint)


def is_our_name(host: str) -> bool:
    """Whether somebody may ask for this machine by that name: an address, localhost or its own name.

    A strange name that leads here is how a page on the internet would reach into the local network.
    """
    own = socket.gethostname().lower()
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        if name in ("localhost", own, own.split(".")[0]) or name.endswith((".local", ".localhost")):
            return True
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_our_page(origin: str | None, host: str) -> bool:
    """Whether a change was asked for by one of our own pages."""
    return origin in (f"http://{host}", f"https://{host}")


def _after(response: Response) -> Response:
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Cache-Control", "no-store")
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

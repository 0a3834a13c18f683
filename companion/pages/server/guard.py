"""Checks of every request, headers of every response, cookies and errors."""

from __future__ import annotations

import gzip
import hashlib
import io
import logging
import re
import socket
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import IO, Any

from flask import Flask, Request, Response, abort, make_response, render_template, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from itsdangerous import BadSignature
from werkzeug.exceptions import BadHost, HTTPException, MethodNotAllowed, TooManyRequests
from werkzeug.http import dump_cookie
from werkzeug.routing import IntegerConverter

from companion.common.errors import Busy, Problem
from companion.pages import limits
from companion.pages.context import service
from companion.pages.limits import FREE_TO_THE_MACHINE, KINDS, RequestKind
from companion.pages.players import access, phone_identity
from companion.pages.players.phone_identity import NotYours
from companion.pages.words import N_, _
from companion.storage.event_store import NotSaved

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
_TEXTS = (
    "text/html",
    "text/css",
    "text/javascript",
    "application/json",
    "application/manifest+json",
    "image/svg+xml",
    "text/plain",
)
_HOST = re.compile(
    r"(?:\[(?P<six>[0-9a-f:.]{2,45})\]|(?P<name>[a-z0-9.-]{1,253}))(?::\d{1,5})?", re.IGNORECASE | re.ASCII
)

# Removed from pages: invisible characters that browsers obey, such as bidirectional controls. The joiners U+200C and
# U+200D stay: some languages need them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ud800-\udfff\ue000-\uf8ff"
    "\ufeff\ufff0-\ufffb\U000e0000-\U000e007f\U000f0000-\U0010ffff]"
)
AT_HOME = ("local", "lan", "home", "home.arpa", "internal", "localdomain")  # local domains, not registrable


class InMemory(Request):
    """A request whose uploads stay in memory, never on disk."""

    def _get_file_stream(self, *_about: Any, **_more: Any) -> IO[bytes]:
        return io.BytesIO()


class ShortNumber(IntegerConverter):
    """A URL's number of at most 15 digits."""

    regex = r"\d{1,15}"


def protect(app: Flask) -> None:
    """Make an app check requests, complete responses and turn errors into sentences."""
    app.request_class = InMemory
    app.url_map.converters["int"] = ShortNumber
    app.session_interface = Cookies()
    app.config.update(
        # "Strict" would drop the cookie, and the seat, at a join link in a message.
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_NAME="companion",
        SESSION_REFRESH_EACH_REQUEST=False,  # a late response must not restore an old cookie
    )
    app.before_request(_before)
    app.after_request(complete)
    for kind, answer in ((Problem, _problem), (HTTPException, _http), (Exception, _ours)):
        app.register_error_handler(kind, answer)


def _before() -> None:
    body = limits.BODIES.get(request.endpoint or "", limits.USUAL)
    request.max_content_length = body.most_bytes
    request.max_form_parts = body.most_fields
    request.max_form_memory_size = body.most_form_bytes
    check_door(_count)


def check_door(count: Callable[[], None] = lambda: None) -> None:
    """Abort a request with a wrong host name, from a foreign page, or to a closed route.

    `count` is called once the host name is accepted.
    """
    if not is_our_name(request.host, service().called):
        where = service().base_url() or "http://localhost"
        abort(say(_("This machine has another name: open %(address)s instead.", address=where), 400))
    count()
    check_origin(service().announced)
    if request.endpoint is not None:
        access.let_in(request.endpoint)


def check_origin(announced: str = "") -> None:
    """Abort a change that none of our pages requested."""
    ours = is_our_page(request.headers.get("Origin"), request.host, announced)
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    if request.method not in LOOKING and not (ours and site in ("same-origin", "none")):
        abort(403)


def _count() -> None:
    """Count the request against its phone's rate and record its presence. Raises TooManyRequests."""
    kind = KINDS.get(request.endpoint or "", RequestKind.PAGE if request.method in LOOKING else RequestKind.CHANGE)
    if kind not in FREE_TO_THE_MACHINE or not phone_identity.is_machine():
        whose = phone_identity.phone() if phone_identity.takes_part() else None
        address, proxy = phone_identity.places()
        wait_s = service().limits.wait_s(kind, address, whose, proxy)
        if wait_s:
            raise TooManyRequests(retry_after=wait_s)
    phone_identity.notice()


def is_our_name(host: str, called: Collection[str]) -> bool:
    """True if a host name is this machine's: an IP address, localhost, its own or an additional name.

    Others would allow DNS rebinding.
    """
    found = _HOST.fullmatch(host)
    if found is None:
        return False
    if found["six"] is not None or not re.search(r"[a-z]", found["name"], re.IGNORECASE):
        return limits.ip_of(found["six"] or found["name"]) is not None
    name, own = found["name"].lower().removesuffix("."), re.escape(socket.gethostname().lower().split(".")[0])
    # A second machine of the same name becomes `table-2.local`.
    at_home = rf"{own}|{own}(?:-\d{{1,3}})?\.(?:{'|'.join(map(re.escape, AT_HOME))})"
    ours = {"localhost", socket.gethostname().lower(), *called}
    return name in ours or name.endswith(".localhost") or re.fullmatch(at_home, name) is not None


def is_our_page(origin: str | None, host: str, announced: str = "") -> bool:
    """True if the origin is the requested host or the announced address: proxies may change the host."""
    return bool(origin) and origin in (f"http://{host}", f"https://{host}", announced)


def know_proxy(app: Flask, announced: str) -> None:
    """Mark requests to the announced address and set their scheme: proxies forward https as http."""
    if not announced:
        return
    inner, (scheme, _, host) = app.wsgi_app, announced.partition("://")

    def outer(environ: dict[str, Any], start_response: Any) -> Any:
        usual = scheme if environ.get("HTTP_HOST", "").lower() == host else ""
        if environ.get("HTTP_X_FORWARDED_PROTO", usual).partition(",")[0].strip().lower() == scheme:
            environ[phone_identity.BY_ANNOUNCED] = True
            environ["wsgi.url_scheme"] = scheme
        elif environ.get("HTTP_ORIGIN") == announced:
            # Proxies without forwarding headers still pass on the origin.
            environ[phone_identity.BY_ANNOUNCED] = True
        return inner(environ, start_response)

    app.wsgi_app = outer  # type: ignore[method-assign]


def complete(response: Response) -> Response:
    """Add the common headers, remove invisible characters, and compress if worthwhile."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Cache-Control", "no-store")
    if response.mimetype == "text/html" and not response.is_streamed:
        response.set_data(_UNSEEN.sub("", response.get_data(as_text=True)))
    return _packed(response)


def _packed(response: Response) -> Response:
    wanted = "gzip" in request.headers.get("Accept-Encoding", "") and response.mimetype in _TEXTS
    if not wanted or response.is_streamed or response.direct_passthrough or "Content-Encoding" in response.headers:
        return response
    body = response.get_data()
    if len(body) >= WORTH_PACKING_BYTES:
        response.set_data(gzip.compress(body, 9, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding, Cookie"
    return response


# The phone's cookie, signed with HMAC-SHA256

KEPT = timedelta(days=400)  # the longest that browsers allow


class Cookies(SecureCookieSessionInterface):
    """Session cookies independent of this machine's clock.

    With a wrong clock Flask refuses good cookies, and browsers delete those with an expiry date in 1970.
    """

    digest_method = staticmethod(hashlib.sha256)

    def get_cookie_secure(self, _app: Flask) -> bool:
        """True for https at the announced address: the camera's TLS port shares the cookie with plain pages."""
        return phone_identity.BY_ANNOUNCED in request.environ and request.is_secure

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """Return the cookie's content; empty without a valid signature."""
        signed = self.get_signing_serializer(app)
        if signed is None:
            return None
        try:
            return self.session_class(signed.loads(request.cookies.get(self.get_cookie_name(app), "")))
        except BadSignature:
            return self.session_class()

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Send a changed cookie; the phone's clock measures its lifetime (Max-Age)."""
        has_news = session and self.should_set_cookie(app, session)
        signed = self.get_signing_serializer(app) if has_news else None
        if signed is None:
            super().save_session(app, session, response)
            return
        cookie = dump_cookie(
            self.get_cookie_name(app),
            signed.dumps(dict(session)),
            max_age=KEPT,
            sync_expires=False,
            httponly=self.get_cookie_httponly(app),
            secure=self.get_cookie_secure(app),
            samesite=self.get_cookie_samesite(app),
        )
        response.headers.add("Set-Cookie", cookie)
        response.vary.add("Cookie")


# Errors, without the request's content

log = logging.getLogger(__name__)

SENTENCES = {
    400: N_("The page sent something unreadable: go back and try again."),
    401: N_("To take part, scan the code on the big screen or in the terminal with this phone."),
    403: N_("That request did not come from a page of the companion: reload the page."),
    404: N_("Page not found: go back to the table."),
    405: N_("Page not found: go back to the table."),
    413: N_("That was too much data: go back and try again."),
    415: N_("Send this as JSON: Content-Type: application/json."),
    429: N_("Too many requests: wait a moment, then try again."),
    500: N_("Something went wrong on our side. Everything you confirmed is safe; reload the page."),
    503: N_("Too many pages are open here: close one, then try again."),
}


def _problem(problem: Problem) -> Response:
    code = 503 if isinstance(problem, (NotSaved, Busy)) else 403 if isinstance(problem, NotYours) else 400
    return say(_(problem.sentence), code)


def _http(error: HTTPException) -> Response:
    code = error.code or 500
    if error.response is not None:
        return make_response(error.response)
    response = say(_(SENTENCES.get(code, SENTENCES[500 if code >= 500 else 400])), code)
    if isinstance(error, TooManyRequests):
        response.headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, MethodNotAllowed):
        response.allow.update(error.valid_methods or ())
    return response


def _ours(error: Exception) -> Response:
    log.error("a page failed: %s", request.endpoint, exc_info=error)
    return say(_(SENTENCES[500]), 500)


def say(sentence: str, code: int) -> Response:
    """Return an error sentence: JSON under `/api/`, else a page or part of one."""
    if isinstance(request.routing_exception, BadHost):
        # A page's links would not work with this host name.
        return Response(sentence, code, mimetype="text/plain")
    if request.path.startswith("/api/"):
        return make_response({"say": sentence}, code)
    page = "notice.html" if "HX-Request" in request.headers else "oops.html"
    return make_response(render_template(page, sentence=sentence), code)

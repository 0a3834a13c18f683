"""Waitress with stricter limits on connections and request bodies.

When full, waitress accepts nothing until an idle connection times out. This server closes one: first without any
request, then the longest idle. It also ends slow requests. Waitress hands only complete requests to threads, so slow
phones block none.

Large bodies are accepted only on the routes in `limits.BODIES`, from permitted phones; the header decides. Unreadable
requests get a sentence without their content.
"""

from __future__ import annotations

import copy
import json
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from flask import request
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from werkzeug.datastructures import LanguageAccept
from werkzeug.exceptions import HTTPException
from werkzeug.http import parse_accept_header

from companion.common import clock
from companion.common.errors import Problem
from companion.common.languages import LANGUAGES
from companion.pages import limits
from companion.pages.limits import network
from companion.pages.players.phone_identity import NotYours
from companion.pages.server import guard
from companion.pages.server.guard import SENTENCES
from companion.pages.words import _
from companion.tabletop import translation

MOST_CONNECTIONS = 640
MOST_AN_ADDRESS = 160  # a whole room may share one
REQUEST_S = 20.0  # to receive a request, plus its body's time at the slowest rate
SLOWEST_BYTES_A_SECOND = 8_000  # a photograph over poor Wi-Fi is faster
STALLED_S = 20  # until an unreceived response is abandoned
MOST_SECURE = 48  # TLS port: one phone sends pictures, a few others watch
MOST_SECURE_AN_ADDRESS = 16  # a browser opens six
HANDSHAKE_S = 10.0
RECORD_BYTES = 16 * 1024  # largest TLS record; poll does not report what OpenSSL has buffered
_NOT_TLS = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    b"This address begins with https://, not with http://.\n"
)


class Channel(HTTPChannel):
    """An HTTP connection."""

    has_asked = False  # True after a complete request

    def __init__(self, server: Server, sock: socket.socket, addr: Any, adj: Adjustments, map: Any = None) -> None:  # noqa: A002
        super().__init__(server, sock, addr, adj, map=map)
        self.host = network(str(addr[0]))

    def parser_class(self, adj: Adjustments) -> Parser:
        return Parser(self, adj)

    @property
    def is_answered(self) -> bool:
        """True while a response is pending or partly sent."""
        return bool(self.requests or self.total_outbufs_len)

    def is_too_slow(self, now_s: float) -> bool:
        """True if an incomplete request takes too long."""
        request = self.request
        return request is not None and (
            now_s - request.began_s >= REQUEST_S + request.body_bytes_received / SLOWEST_BYTES_A_SECOND
        )


class Server(TcpWSGIServer):
    """Waitress server that replaces idle connections by new ones."""

    channel_class: type[Channel] = Channel

    def most(self) -> tuple[int, int]:
        """Return the maximum connections per address and in total."""
        return MOST_AN_ADDRESS, MOST_CONNECTIONS

    def channels(self) -> list[Channel]:
        return list(self.active_channels.values())

    def add_task(self, task: Channel) -> None:
        task.has_asked = True
        super().add_task(task)

    def maintenance(self, now: float) -> None:
        """Close connections that are idle or whose request is too slow."""
        super().maintenance(now)
        for channel in self.channels():
            if channel.is_too_slow(time.monotonic()):
                channel.will_close = True

    def set_socket_options(self, conn: socket.socket) -> None:
        """Accept a connection; at the limit, close an idle one first. Raises OSError if none is: waitress drops the new
        one.
        """
        super().set_socket_options(conn)
        # Waitress never closes a connection with unsent data; the system will.
        conn.setsockopt(socket.SOL_TCP, socket.TCP_USER_TIMEOUT, 1000 * STALLED_S)
        host = network(str(conn.getpeername()[0]))
        most_an_address, most = self.most()
        crowd = [channel for channel in self.channels() if channel.host == host]
        if len(crowd) < most_an_address:
            crowd = self.channels()
            if len(crowd) < most:
                return
        idle = [channel for channel in crowd if not channel.is_answered]
        if not idle:
            conn.close()
            raise ConnectionRefusedError(host)
        min(idle, key=lambda channel: (channel.has_asked, float(channel.last_activity))).handle_close()


class SecureChannel(Channel):
    """A TLS connection whose handshake proceeds as bytes arrive: silent peers block no others."""

    def __init__(self, server: SecureServer, sock: ssl.SSLSocket, addr: Any, adj: Adjustments, map: Any = None) -> None:  # noqa: A002
        super().__init__(server, sock, addr, adj, map=map)
        self.sendbuf_len = RECORD_BYTES
        self._came_s = time.monotonic()
        self._turn = threading.Lock()  # threads send while the loop receives; OpenSSL allows one call at a time

    def is_too_slow(self, now_s: float) -> bool:
        line = self.socket
        is_open = line is None or line.version() is not None
        return super().is_too_slow(now_s) or (not is_open and now_s - self._came_s >= HANDSHAKE_S)

    def handle_read(self) -> None:
        """Read available bytes; wait for more if the TLS record is incomplete."""
        try:
            with self._turn:
                data = self.socket.recv(RECORD_BYTES)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return
        except OSError as error:
            if isinstance(error, ssl.SSLError) and error.reason == "HTTP_REQUEST":
                with suppress(OSError):  # reply without TLS; unread input would discard the reply
                    socket.socket.recv(self.socket, RECORD_BYTES)
                    socket.socket.send(self.socket, _NOT_TLS)
            data = b""
        if not data:
            self.handle_close()
            return
        self.last_activity = clock.now_s()  # as in waitress
        self.received(data)

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Send bytes; return how many the system accepted, 0 if TLS is not ready."""
        try:
            with self._turn:
                return int(super().send(data, do_close))
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return 0


class SecureServer(Server):
    """Server of the TLS port, with lower limits."""

    channel_class = SecureChannel

    def most(self) -> tuple[int, int]:
        return MOST_SECURE_AN_ADDRESS, MOST_SECURE


# Request bodies

MOST_LARGE = 4  # simultaneous: pictures, photographs, decks
MOST_LARGE_BYTES = 96_000_000  # of all of them, in memory
_SAID = {
    400: (400, "Bad Request"),
    401: (401, "Unauthorized"),
    403: (403, "Forbidden"),
    404: (404, "Not Found"),
    413: (413, "Request Entity Too Large"),
    431: (413, "Request Header Fields Too Large"),
    501: (400, "Not Implemented"),
    503: (503, "Service Unavailable"),
}
"""Key in `SENTENCES` and reason phrase, by code."""

_SHUT = (401, 403, 404)  # codes with which a route refuses a phone

_PAGE = (
    '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    '<link rel="stylesheet" href="/static/companion.css"><title>{0}</title><p>{0}</p><p><a href="/">{1}</a></p>'
)


class Refusal:
    """Error response sent before a request reaches the app."""

    def __init__(self, code: int, headers: Mapping[str, str], path: str, sentence: str = "") -> None:
        self.code = code if code in _SAID else 400
        self._headers, self._path, self._sentence = headers, path, sentence

    def to_response(self, _ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        sentence, reason = _SAID[self.code]
        accepted = parse_accept_header(self._headers.get("ACCEPT_LANGUAGE", ""), LanguageAccept)
        texts = translation.catalogue(accepted.best_match(LANGUAGES, translation.ENGLISH))
        say, kind = self._sentence or texts.gettext(SENTENCES[sentence]), "text/plain"
        if self._path.startswith("/api/"):
            say, kind = json.dumps({"say": say}), "application/json"
        elif "text/html" in self._headers.get("ACCEPT", ""):
            say, kind = _PAGE.format(say, texts.gettext("Back to the table")), "text/html"
        headers = {
            "Content-Type": kind if kind == "application/json" else f"{kind}; charset=utf-8",
            "Cache-Control": "no-store",
            **guard.HEADERS,
        }
        if self.code == 503:
            headers["Retry-After"] = "10"
        return f"{self.code} {reason}", list(headers.items()), say.encode()


class Parser(HTTPRequestParser):
    """An HTTP request being received."""

    adj: Any
    content_length: int
    error: Any
    path = ""  # empty if unreadable
    large_bytes = 0  # maximum of a large upload, otherwise 0

    def __init__(self, channel: Channel, adj: Adjustments) -> None:
        super().__init__(adj)
        self.began_s = time.monotonic()
        self._channel = channel

    def received(self, data: bytes) -> int:
        """Read bytes; return how many belong to this request."""
        consumed = int(super().received(data))
        if self.error is not None:
            self.expect_continue = False  # do not invite the announced body
            if not isinstance(self.error, Refusal):
                self.error = Refusal(self.error.code, self.headers, self.path)
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the header and limit or refuse the body. Raises ParsingError if unreadable."""
        try:
            super().parse_header(header_plus)
        except ValueError as error:  # an address or length that waitress fails on
            raise ParsingError("") from error
        if not self.chunked and self.content_length <= limits.USUAL.most_bytes:
            return
        most_bytes = self._most_bytes()
        if isinstance(most_bytes, Refusal):
            self._refuse(most_bytes)
            return
        if most_bytes <= limits.USUAL.most_bytes:
            return
        large_bytes = most_bytes if self.chunked else min(self.content_length, most_bytes)
        coming = [one for channel in self._channel.server.channels() for one in (channel.request, *channel.requests)]
        others = [one.large_bytes for one in coming if one is not None and one.large_bytes]
        if len(others) >= MOST_LARGE or sum(others) + large_bytes > MOST_LARGE_BYTES:
            self._refuse(Refusal(503, self.headers, self.path))
            return
        self.large_bytes = large_bytes
        self.adj = copy.copy(self.adj)
        self.adj.max_request_body_size = most_bytes + 1

    def _refuse(self, refusal: Refusal) -> None:
        """Answer at once and skip the body."""
        self.body_rcv, self.content_length, self.error = None, 0, refusal

    def _most_bytes(self) -> int | Refusal:
        """Return the route's limit in bytes, or the refusal of an unpermitted phone."""
        if "MOST_BYTES" in self._channel.server.application.config:
            return int(self._channel.server.application.config["MOST_BYTES"])
        environ = self._channel.task_class(self._channel, self).get_environment()
        with self._channel.server.application.request_context(environ):
            translation.speak(request.accept_languages.best_match(LANGUAGES, translation.ENGLISH))
            try:
                guard.check_door()
            except NotYours as problem:
                return Refusal(403, self.headers, self.path, _(problem.sentence))
            except HTTPException as error:
                return Refusal(error.code, self.headers, self.path) if error.code in _SHUT else limits.USUAL.most_bytes
            except Problem:
                return limits.USUAL.most_bytes
            finally:
                translation.speak(translation.ENGLISH)
            return limits.BODIES.get(request.endpoint or "", limits.USUAL).most_bytes

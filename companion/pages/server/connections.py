"""Limits of connections and bodies beyond waitress's own: who makes room, how long a request takes, how much it brings.

Waitress hands a request to a thread only once all of it has come, so that a slow phone costs a connection but no
thread. At its own limit it accepts nobody until an idle connection has timed out. Here the one that is idle for longest
makes room at once, those first that have never asked for anything, and a request that trickles in is ended. Its limit
of a body is one for everybody; here only a route for photographs or decks takes more than a page sends, and only from a
phone that may use it. The header decides before the rest is read: first whether the phone may use the route, then the
size. What waitress cannot read is answered with a sentence and the headers of every answer, and nothing that was sent.
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
from companion.pages import language, limits
from companion.pages.limits import network
from companion.pages.players.phone_identity import NotYours
from companion.pages.server import guard
from companion.pages.server.guard import SENTENCES
from companion.pages.words import _

MOST_CONNECTIONS = 640
MOST_AN_ADDRESS = 160  # maximum number of connections from one address, behind which there may be a whole room
REQUEST_S = 20.0  # time in which a request must come, in seconds, plus what its body needs at the slowest pace
SLOWEST_BYTES_A_SECOND = 8_000  # slowest pace of a body: a photograph over a poor Wi-Fi is faster
STALLED_S = 20  # time after which an answer is given up if the phone takes nothing of it, in seconds
MOST_SECURE = 48  # connections of the port with TLS: one phone sends pictures, and a few look on
MOST_SECURE_AN_ADDRESS = 16  # a browser opens six
HANDSHAKE_S = 10.0  # time in which a handshake must be complete, in seconds
RECORD_BYTES = 16 * 1024  # largest TLS record. OpenSSL keeps what is not taken of one, and no poll tells of that.
_NOT_TLS = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    b"This address begins with https://, not with http://.\n"
)


class Channel(HTTPChannel):
    """A connection."""

    has_asked = False  # True once a request has come whole

    def __init__(self, server: Server, sock: socket.socket, addr: Any, adj: Adjustments, map: Any = None) -> None:  # noqa: A002
        super().__init__(server, sock, addr, adj, map=map)
        self.host = network(str(addr[0]))

    def parser_class(self, adj: Adjustments) -> Parser:
        return Parser(self, adj)

    @property
    def is_answered(self) -> bool:
        """True if a request of it is being answered, or an answer has not been sent in full."""
        return bool(self.requests or self.total_outbufs_len)

    def is_too_slow(self, now_s: float) -> bool:
        """True if a request has begun to come and takes longer than it may."""
        request = self.request
        return request is not None and (
            now_s - request.began_s >= REQUEST_S + request.body_bytes_received / SLOWEST_BYTES_A_SECOND
        )


class Server(TcpWSGIServer):
    """Waitress, whose connections make room for one another."""

    channel_class: type[Channel] = Channel

    def most(self) -> tuple[int, int]:
        """Return the maximum number of connections from one address, and in all."""
        return MOST_AN_ADDRESS, MOST_CONNECTIONS

    def channels(self) -> list[Channel]:
        return list(self.active_channels.values())

    def add_task(self, task: Channel) -> None:
        """Have a thread answer what has come by a connection."""
        task.has_asked = True
        super().add_task(task)

    def maintenance(self, now: float) -> None:
        """End connections that are idle, and those whose request takes too long to come."""
        super().maintenance(now)
        for channel in self.channels():
            if channel.is_too_slow(time.monotonic()):
                channel.will_close = True

    def set_socket_options(self, conn: socket.socket) -> None:
        """Let a connection in: where there are too many, an idle one ends.

        It is one that never asked for anything, or else the one that brought nothing for longest.

        Raises OSError where none of them is idle: waitress then drops the new connection.
        """
        super().set_socket_options(conn)
        # Waitress ends no connection that has something to send; the system does where the phone takes none of it.
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


# TLS


class SecureChannel(Channel):
    """A connection by TLS. Its handshake goes on as its bytes come, so a silent one keeps no other waiting."""

    def __init__(self, server: SecureServer, sock: ssl.SSLSocket, addr: Any, adj: Adjustments, map: Any = None) -> None:  # noqa: A002
        super().__init__(server, sock, addr, adj, map=map)
        self.sendbuf_len = RECORD_BYTES
        self._came_s = time.monotonic()
        self._turn = threading.Lock()  # A thread may send while the loop receives; OpenSSL takes one call at a time.

    def is_too_slow(self, now_s: float) -> bool:
        """True if the handshake, or a request that has begun to come, takes longer than it may."""
        line = self.socket
        is_open = line is None or line.version() is not None
        return super().is_too_slow(now_s) or (not is_open and now_s - self._came_s >= HANDSHAKE_S)

    def handle_read(self) -> None:
        """Take in what has come, as soon as it is a whole record."""
        try:
            with self._turn:
                data = self.socket.recv(RECORD_BYTES)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return
        except OSError as error:
            if isinstance(error, ssl.SSLError) and error.reason == "HTTP_REQUEST":
                with suppress(OSError):  # As it came: not by TLS. What is left unread would have the answer dropped.
                    socket.socket.recv(self.socket, RECORD_BYTES)
                    socket.socket.send(self.socket, _NOT_TLS)
            data = b""
        if not data:
            self.handle_close()
            return
        self.last_activity = clock.now_s()  # as Waitress has it
        self.received(data)

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Send bytes; return how many the system took."""
        try:
            with self._turn:
                return int(super().send(data, do_close))
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return 0


class SecureServer(Server):
    """The server of a port with TLS; its listening socket is wrapped, and makes no handshake as it accepts."""

    channel_class = SecureChannel

    def most(self) -> tuple[int, int]:
        return MOST_SECURE_AN_ADDRESS, MOST_SECURE


# The body of a request

MOST_LARGE = 4  # maximum number of photographs and decks that are received at a time
MOST_LARGE_BYTES = 96_000_000  # maximum size of all of them together, in bytes; they are kept in memory
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
"""The key in `SENTENCES` of each code that is answered here, and the name of the code."""

_SHUT = (401, 403, 404)  # what a door answers to a request that may not come in

_PAGE = (
    '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    '<link rel="stylesheet" href="/static/companion.css"><title>{0}</title><p>{0}</p><p><a href="/">{1}</a></p>'
)
"""The page for a browser: a sentence of ours, and the way back."""


class Refusal:
    """An answer to a request that never reaches the app, in waitress's terms."""

    def __init__(self, code: int, headers: Mapping[str, str], path: str, sentence: str = "") -> None:
        self.code = code if code in _SAID else 400
        self._headers, self._path, self._sentence = headers, path, sentence

    def to_response(self, _ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        sentence, reason = _SAID[self.code]
        accepted = parse_accept_header(self._headers.get("ACCEPT_LANGUAGE", ""), LanguageAccept)
        texts = language.catalogue(accepted.best_match(LANGUAGES, language.ENGLISH))
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
    """A request as it comes in."""

    adj: Any
    content_length: int
    error: Any
    path = ""  # the request's path; empty for one that could not be read
    large_bytes = 0  # size of a photograph or deck that is taken in, at most; 0 for any other request

    def __init__(self, channel: Channel, adj: Adjustments) -> None:
        super().__init__(adj)
        self.began_s = time.monotonic()
        self._channel = channel

    def received(self, data: bytes) -> int:
        """Take bytes in; return how many of them belong to this request."""
        consumed = int(super().received(data))
        if self.error is not None:
            self.expect_continue = False  # A client that waits for leave to send its body gets none.
            if not isinstance(self.error, Refusal):
                self.error = Refusal(self.error.code, self.headers, self.path)
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        """Read the first lines, and set how large the body may be. Raises ParsingError where they cannot be read."""
        try:
            super().parse_header(header_plus)
        except ValueError as error:  # An address or a length that waitress itself fails on.
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
        """Answer at once, and take nothing of the body in."""
        self.body_rcv, self.content_length, self.error = None, 0, refusal

    def _most_bytes(self) -> int | Refusal:
        """Return the size the route takes in, in bytes, or what a phone is told that may not use the route."""
        if "MOST_BYTES" in self._channel.server.application.config:
            return int(self._channel.server.application.config["MOST_BYTES"])
        environ = self._channel.task_class(self._channel, self).get_environment()
        with self._channel.server.application.request_context(environ):
            language.speak(request.accept_languages.best_match(LANGUAGES, language.ENGLISH))
            try:
                guard.check_door()
            except NotYours as problem:
                return Refusal(403, self.headers, self.path, _(problem.sentence))
            except HTTPException as error:
                return Refusal(error.code, self.headers, self.path) if error.code in _SHUT else limits.USUAL.most_bytes
            except Problem:
                return limits.USUAL.most_bytes
            finally:
                language.speak(language.ENGLISH)
            return limits.BODIES.get(request.endpoint or "", limits.USUAL).most_bytes

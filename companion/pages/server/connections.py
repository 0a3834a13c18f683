"""Limits of connections and bodies beyond waitress's own: who makes room, how long a request takes, how much it brings.

Waitress hands a request to a thread only once all of it has come, so that a slow phone costs a connection but no
thread. At its own limit it accepts nobody until an idle connection has timed out. Here the one that is idle for longest
makes room at once, and a request that trickles in is ended. Its limit of a body is one for everybody; here only a route
for photographs or decks takes more than a page sends, and only from a phone that may use it: the header decides, before
the rest is read. What waitress cannot read is answered with a sentence and the headers of every answer, without
anything of what was sent.
"""

from __future__ import annotations

import copy
import json
import socket
import time
from collections.abc import Mapping
from typing import Any

from flask import request
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from werkzeug.datastructures import LanguageAccept
from werkzeug.exceptions import HTTPException
from werkzeug.http import parse_accept_header

from companion.common.errors import Problem
from companion.common.languages import LANGUAGES
from companion.pages import language, limits
from companion.pages.limits import network
from companion.pages.server import guard
from companion.pages.server.guard import SENTENCES

MOST_CONNECTIONS = 640
MOST_AN_ADDRESS = 160  # maximum number of connections from one address, behind which there may be a whole room
REQUEST_S = 20.0  # time in which a request must come, in seconds, plus what its body needs at the slowest pace
SLOWEST_BYTES_A_SECOND = 8_000  # slowest pace of a body: a photograph over a poor Wi-Fi is faster
STALLED_S = 20  # time after which an answer is given up if the phone takes nothing of it, in seconds


class Channel(HTTPChannel):
    """A connection."""

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

    channel_class = Channel

    def channels(self) -> list[Channel]:
        return list(self.active_channels.values())

    def maintenance(self, now: float) -> None:
        """End connections that are idle, and those whose request takes too long to come."""
        super().maintenance(now)
        for channel in self.channels():
            if channel.is_too_slow(time.monotonic()):
                channel.will_close = True

    def set_socket_options(self, conn: socket.socket) -> None:
        """Let a connection in: where there are too many, the idle one that brought nothing for longest ends.

        Raises OSError where none of them is idle: waitress then drops the new connection.
        """
        super().set_socket_options(conn)
        # Waitress ends no connection that has something to send; the system does where the phone takes none of it.
        conn.setsockopt(socket.SOL_TCP, socket.TCP_USER_TIMEOUT, 1000 * STALLED_S)
        host = network(str(conn.getpeername()[0]))
        crowd = [channel for channel in self.channels() if channel.host == host]
        if len(crowd) < MOST_AN_ADDRESS:
            crowd = self.channels()
            if len(crowd) < MOST_CONNECTIONS:
                return
        idle = [channel for channel in crowd if not channel.is_answered]
        if not idle:
            conn.close()
            raise ConnectionRefusedError(host)
        min(idle, key=lambda channel: float(channel.last_activity)).handle_close()


# The body of a request

MOST_LARGE = 4  # maximum number of photographs and decks that are received at a time
MOST_LARGE_BYTES = 96_000_000  # maximum size of all of them together, in bytes; they are kept in memory
_SAID = {
    400: (400, "Bad Request"),
    413: (413, "Request Entity Too Large"),
    431: (413, "Request Header Fields Too Large"),
    501: (400, "Not Implemented"),
    503: (503, "Service Unavailable"),
}
"""The key in `SENTENCES` of each of waitress's codes, and the name of the code."""

_PAGE = (
    '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    '<link rel="stylesheet" href="/static/companion.css"><title>{0}</title><p>{0}</p><p><a href="/">{1}</a></p>'
)
"""The page for a browser: a sentence of ours, and the way back."""


class Refusal:
    """An answer to a request that never reaches the app, in waitress's terms."""

    def __init__(self, code: int, headers: Mapping[str, str], path: str) -> None:
        self.code = code if code in _SAID else 400
        self._headers, self._path = headers, path

    def to_response(self, _ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        sentence, reason = _SAID[self.code]
        accepted = parse_accept_header(self._headers.get("ACCEPT_LANGUAGE", ""), LanguageAccept)
        texts = language.catalogue(accepted.best_match(LANGUAGES, language.ENGLISH))
        say, kind = texts.gettext(SENTENCES[sentence]), "text/plain"
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
        if most_bytes <= limits.USUAL.most_bytes:
            return
        large_bytes = most_bytes if self.chunked else min(self.content_length, most_bytes)
        coming = [one for channel in self._channel.server.channels() for one in (channel.request, *channel.requests)]
        others = [one.large_bytes for one in coming if one is not None and one.large_bytes]
        if len(others) >= MOST_LARGE or sum(others) + large_bytes > MOST_LARGE_BYTES:
            self.body_rcv, self.content_length, self.error = None, 0, Refusal(503, self.headers, self.path)
            return
        self.large_bytes = large_bytes
        self.adj = copy.copy(self.adj)
        self.adj.max_request_body_size = most_bytes + 1

    def _most_bytes(self) -> int:
        """Return the size the route takes in, in bytes: the usual one where the request may not use the route."""
        if "MOST_BYTES" in self._channel.server.application.config:
            return int(self._channel.server.application.config["MOST_BYTES"])
        environ = self._channel.task_class(self._channel, self).get_environment()
        with self._channel.server.application.request_context(environ):
            try:
                guard.check_door()
            except (HTTPException, Problem):
                return limits.USUAL.most_bytes
            finally:
                language.speak(language.ENGLISH)
            return limits.BODIES.get(request.endpoint or "", limits.USUAL).most_bytes

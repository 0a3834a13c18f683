"""The porter: looks at a request's first lines before the rest is taken in, and says no where the app would.

Without him the server takes in as much as its largest route allows, from anybody and for any address, before a line of
ours runs, and keeps it in a file. He also speaks for the server where it cannot read a request at all: in a sentence,
with the headers of every answer, and without a word of what was sent.
"""

from __future__ import annotations

import copy
import threading
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from flask import Flask, request
from waitress.parser import HTTPRequestParser, ParsingError
from werkzeug.datastructures import LanguageAccept
from werkzeug.exceptions import HTTPException
from werkzeug.http import parse_accept_header

from companion.common.errors import Problem
from companion.pages import language, limits
from companion.pages.error_pages import SENTENCES
from companion.pages.players import phone_identity
from companion.pages.server import connections, guard
from companion.rules.reasons import LANGUAGES

MOST_HEADER_BYTES = 16 * 1024
"""The address of a page, its cookie, and what browsers say of themselves."""

MOST_LARGE = 4
"""So many photographs or decks are taken in at a time."""

LIMITS: Mapping[str, int] = {
    "max_request_header_size": MOST_HEADER_BYTES,
    "max_request_body_size": limits.LARGEST_BYTES + 1,
    "inbuf_overflow": limits.LARGEST_BYTES + 2,  # Nothing that is sent comes to lie on the disk.
}
"""What the server is told of it beforehand."""

_SAID = {
    400: (400, "Bad Request"),
    413: (413, "Request Entity Too Large"),
    431: (413, "Request Header Fields Too Large"),
    501: (400, "Not Implemented"),
    503: (503, "Service Unavailable"),
}
"""Which sentence is said for what the server finds, and what the code is called."""


class Refusal:
    """An answer of the server that is none of the app's, in the server's own terms."""

    def __init__(self, code: int, headers: Mapping[str, str]) -> None:
        self.code = code if code in _SAID else 400
        self._headers = headers

    def to_response(self, _ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        """Status, headers and body."""
        sentence, reason = _SAID[self.code]
        accepted = parse_accept_header(self._headers.get("ACCEPT_LANGUAGE", ""), LanguageAccept)
        texts = language.catalogue(accepted.best_match(LANGUAGES, language.ENGLISH))
        headers = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", **guard.HEADERS}
        if self.code == 503:
            headers["Retry-After"] = "10"
        return f"{self.code} {reason}", list(headers.items()), texts.gettext(SENTENCES[sentence]).encode()


class Porter:
    """What is known of all connections of a server."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._large: weakref.WeakSet[Parser] = weakref.WeakSet()
        self._lock = threading.Lock()

    def room_for(self, parser: Parser, environ: Callable[[], dict[str, Any]]) -> int:
        """How many bytes a request may bring, by its first lines; nought where too many bring much just now."""
        most, wanted = limits.USUAL.most_bytes, parser.content_length
        if not parser.chunked and wanted <= most:
            return most
        most = self._allowed(environ())
        if most <= limits.USUAL.most_bytes:
            return most
        with self._lock:
            if len(self._large) >= MOST_LARGE:
                return 0
            self._large.add(parser)
        return most

    def is_done(self, parser: Parser) -> None:
        """A request has been answered, or nobody waits for its answer any more."""
        with self._lock:
            self._large.discard(parser)

    def _allowed(self, environ: dict[str, Any]) -> int:
        """As much as the route takes in, where whoever asks may come in by it at all; else what anybody may send."""
        with self._app.request_context(environ):
            try:
                guard.check_door()
            except (HTTPException, Problem):
                return limits.USUAL.most_bytes
            finally:
                language.speak(language.ENGLISH)
            return limits.body_of(request.endpoint).most_bytes


class Parser(HTTPRequestParser):
    """A request as it comes in."""

    path = ""
    """Named where its phone has gone before the answer, also of a request that could not be read and so has none."""

    def __init__(self, channel: Channel, adj: Any) -> None:
        super().__init__(adj)
        self.adj: Any = adj
        self._channel = channel
        self._comes_too_late = False

    def received(self, data: bytes) -> int:
        """Takes in what has come; gives how much of it belongs to this request."""
        try:
            consumed = int(super().received(data))
        except Exception:  # An address or a length that the server itself stumbles over.
            self.error, self.completed, consumed = Refusal(400, self.headers), True, len(data)
        if self.error is not None:
            self.expect_continue = False
            if not isinstance(self.error, Refusal):
                self.error = Refusal(503 if self._comes_too_late else self.error.code, self.headers)
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        if any(name.upper().replace("-", "_") in self.headers for name in phone_identity.BY_PROXY):
            self.headers[phone_identity.PASSED_ON.upper().replace("-", "_")] = "yes"
        if self.body_rcv is None:
            return
        most = self._channel.porter.room_for(self, partial(self._channel.environ_of, self))
        self.adj = copy.copy(self.adj)
        self.adj.max_request_body_size = most + 1
        if not most:
            self._comes_too_late = True
            raise ParsingError("")

    def close(self) -> None:
        self._channel.porter.is_done(self)
        super().close()


class Channel(connections.Channel):
    """A connection whose requests the porter looks at."""

    def __init__(self, porter: Porter, server: Any, sock: Any, addr: Any, adj: Any, map: Any = None) -> None:  # noqa: A002
        super().__init__(server, sock, addr, adj, map=map)
        self.porter = porter
        self.parser_class = partial(Parser, self)

    def environ_of(self, parser: Parser) -> dict[str, Any]:
        """A request's first lines as the app knows them."""
        return dict(self.task_class(self, parser).get_environment())

    def handle_close(self) -> None:
        if self.request is not None:
            self.porter.is_done(self.request)
        # Else a connection that has ended would hold itself until somebody looks for such.
        self.__dict__.pop("parser_class", None)
        super().handle_close()


def let_stand(server: Any, app: Flask) -> None:
    """Puts the porter before a server of waitress."""
    server.channel_class = partial(Channel, Porter(app))

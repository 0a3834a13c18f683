"""Limits of a request's body, judged by its header before the rest is read.

Waitress has one limit for everybody; here only a route for photographs or decks takes more than a page sends, and only
from a phone that may use it. What waitress cannot read is answered with a sentence and the headers of every answer,
without anything of what was sent.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flask import request
from waitress.adjustments import Adjustments
from waitress.parser import HTTPRequestParser, ParsingError
from werkzeug.datastructures import LanguageAccept
from werkzeug.exceptions import HTTPException
from werkzeug.http import parse_accept_header

from companion.common.errors import Problem
from companion.common.languages import LANGUAGES
from companion.pages import language, limits
from companion.pages.error_pages import SENTENCES
from companion.pages.server import guard

if TYPE_CHECKING:
    from companion.pages.server.connections import Channel

MOST_LARGE = 4
"""Maximum number of photographs and decks that are received at a time."""

MOST_LARGE_BYTES = 96_000_000
"""Maximum size of all of them together, in bytes; they are kept in memory."""

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

    def __init__(self, code: int, headers: Mapping[str, str]) -> None:
        self.code = code if code in _SAID else 400
        self._headers = headers

    def to_response(self, _ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        """Return status, headers and body."""
        sentence, reason = _SAID[self.code]
        accepted = parse_accept_header(self._headers.get("ACCEPT_LANGUAGE", ""), LanguageAccept)
        texts = language.catalogue(accepted.best_match(LANGUAGES, language.ENGLISH))
        say, kind = texts.gettext(SENTENCES[sentence]), "text/plain"
        if "text/html" in self._headers.get("ACCEPT", ""):
            say, kind = _PAGE.format(say, texts.gettext("Back to the table")), "text/html"
        headers = {"Content-Type": f"{kind}; charset=utf-8", "Cache-Control": "no-store", **guard.HEADERS}
        if self.code == 503:
            headers["Retry-After"] = "10"
        return f"{self.code} {reason}", list(headers.items()), say.encode()


class Parser(HTTPRequestParser):
    """A request as it comes in."""

    adj: Any
    content_length: int
    error: Any
    path = ""
    """The request's path; empty for one that could not be read."""

    large_bytes = 0
    """Size of a photograph or deck that is taken in, at most; 0 for any other request."""

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
                self.error = Refusal(self.error.code, self.headers)
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
            self.body_rcv, self.content_length, self.error = None, 0, Refusal(503, self.headers)
            return
        self.large_bytes = large_bytes
        self.adj = copy.copy(self.adj)
        self.adj.max_request_body_size = most_bytes + 1

    def _most_bytes(self) -> int:
        """Return the size the route takes in, in bytes: the usual one where the request may not use the route."""
        environ = self._channel.task_class(self._channel, self).get_environment()
        with self._channel.server.application.request_context(environ):
            try:
                guard.check_door()
            except (HTTPException, Problem):
                return limits.USUAL.most_bytes
            finally:
                language.speak(language.ENGLISH)
            return limits.body_of(request.endpoint).most_bytes

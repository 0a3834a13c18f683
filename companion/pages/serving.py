"""The web server: waitress, with room for a stream to every phone."""

from __future__ import annotations

import errno
import socket
import sys
from collections.abc import Callable
from typing import Any

from flask import Flask
from waitress.parser import HTTPRequestParser
from waitress.server import create_server

from companion.errors import Problem
from companion.match import Match
from companion.pages import address, people
from companion.snap import MOST_SENT_BYTES

# Waitress names the path of a request whose phone has gone before the answer. One that could not be read has none,
# and the error about that would be logged at length, and leave its connection behind.
setattr(HTTPRequestParser, "path", "")  # noqa: B010

THREADS = 128
"""More than the streams that are let in, so that taps always find one."""


def serve(app: Flask, host: str, port: int, ready: Callable[[int], None] = lambda _port: None) -> None:
    """Serves an app until the process is stopped; `ready` is called with the port once it is open.

    Raises Problem when the port cannot be had.
    """
    server = _bound(app, host, port)
    try:
        ready(int(server.effective_port))
        server.run()
    except KeyboardInterrupt:
        server.close()


def _bound(app: Flask, host: str, port: int) -> Any:
    return create_server(
        app,
        sockets=[_listening(host or "0.0.0.0", port)],  # noqa: S104
        threads=THREADS,
        connection_limit=1000,
        max_request_body_size=MOST_SENT_BYTES,
        channel_request_lookahead=1,
        ident=None,
        clear_untrusted_proxy_headers=True,
    )


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        raise Problem(_why_not(error, host, port)) from error


def _why_not(error: OSError | OverflowError, host: str, port: int) -> str:
    if isinstance(error, OverflowError):
        return f"There is no port {port}: choose one from 1 to 65535 with --port."
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} is taken by another program: choose another with --port, for example --port {port + 1}."
    if error.errno == errno.EACCES:
        return f"Port {port} may only be opened by an administrator: choose one above 1023 with --port."
    return f"The address {host}:{port} cannot be opened ({error.strerror or error}): choose another with --host."


def run(match: Match, host: str, port: int, create_app: Callable[..., Flask]) -> None:
    """Makes the app for a match, opens the port, says where it is, and serves."""
    secret = people.load_secret(match.store.path.parent)
    app = create_app(match, secret=secret, base_url=address.base_url(host, port))

    def say(bound_port: int) -> None:
        said = address.announce(host, bound_port, people.join_token(secret), people.table_code(secret))
        print(said, file=sys.stdout, flush=True)  # noqa: T201

    serve(app, host, port, say)

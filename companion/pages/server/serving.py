"""The web server: waitress, until the process is asked to end."""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from flask import Flask
from waitress import wasyncore
from waitress.adjustments import Adjustments

from companion.common.errors import Problem
from companion.match.match import Match
from companion.pages import limits
from companion.pages.server.connections import MOST_CONNECTIONS, Server

THREADS = 16
"""Number of threads that answer: more than may wait for a picture, a sheet or a photograph, so that taps find one."""

IDLE_S = 75
"""Time after which an idle connection is closed, in seconds. A page asks more often."""

LOOK_S = 5
"""Time between two looks for connections to close, in seconds."""

TURN_S = 1.0
LAST_ANSWERS_S = 1.0
"""Time to finish the answers under way when the service ends, in seconds."""

MOST_UNSENT_BYTES = 1024 * 1024
SIGNALS = (signal.SIGTERM, signal.SIGINT)


def serve(app: Flask, host: str, port: int, ready: Callable[[int], None] = lambda _port: None) -> None:
    """Serve an app until the process is asked to end; `ready` is called with the port once it is open.

    Raises Problem when the port cannot be had.
    """
    server = bound(app, host, port)
    with _asked_to_end(server.pull_trigger) as asked:
        ready(int(server.effective_port))
        while not asked.is_set():
            turn(server, TURN_S)
    end(server)


def bound(app: Flask, host: str, port: int, threads: int = THREADS) -> Server:
    """Return a server whose port is open; it answers once its loop turns. Raises Problem when the port is not free."""
    logging.getLogger("waitress").setLevel(logging.ERROR)  # a flood is no reason to write on a memory card
    listening = _listening(host or "0.0.0.0", port)  # noqa: S104
    adjustments = Adjustments(
        sockets=[listening],
        threads=threads,
        connection_limit=2 * MOST_CONNECTIONS,  # Connections make room before.
        channel_timeout=IDLE_S,
        cleanup_interval=LOOK_S,
        max_request_header_size=limits.MOST_HEADER_BYTES,
        max_request_body_size=limits.USUAL.most_bytes + 1,
        inbuf_overflow=limits.LARGEST_BYTES + 2,  # Nothing that is sent reaches the disk.
        outbuf_high_watermark=MOST_UNSENT_BYTES,
        outbuf_overflow=2 * MOST_UNSENT_BYTES,
        log_socket_errors=False,
        ident=None,
        # The app itself has to know what came by a proxy.
        clear_untrusted_proxy_headers=False,
    )
    about = (listening.family, listening.type, listening.proto, listening.getsockname())
    return Server(app, _sock=listening, adj=adjustments, bind_socket=False, sockinfo=about)


def turn(server: Server, timeout_s: float) -> None:
    """Handle what has come, or wait up to `timeout_s` for it. By polling: `select` knows 1024 files only."""
    wasyncore.loop(timeout=timeout_s, use_poll=True, map=server._map, count=1)


def end(server: Server) -> None:
    """Take no more requests, finish the answers under way, and close every connection."""
    server.accepting = False
    server.del_channel()
    server.socket.close()
    until_s = time.monotonic() + LAST_ANSWERS_S
    while any(channel.is_answered for channel in server.channels()) and time.monotonic() < until_s:
        turn(server, 0.05)
    for channel in server.channels():
        channel.handle_close()
    server.task_dispatcher.shutdown(timeout=0.3)
    server.trigger.close()


@contextmanager
def _asked_to_end(wake: Callable[[], None]) -> Iterator[threading.Event]:
    """Provide an event that is set when the process is asked to end; asked once more, it ends at once."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def hear(number: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            os._exit(128 + number)
        asked.set()
        wake()

    for number in SIGNALS:
        signal.signal(number, hear)
    yield asked


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


def status(match: Match) -> str:
    """Return a line on how it goes, for the service manager."""
    now = match.state
    played = f"Match {now.match}, hand {now.game.hand_number}" if now.match else "No match yet"
    return f"{played}. {now.trouble}" if now.trouble else f"{played}."

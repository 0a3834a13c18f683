"""Run waitress until the process is asked to end, and notify systemd."""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable, MutableMapping, Sequence
from contextlib import suppress
from types import FrameType

from flask import Flask
from waitress import wasyncore
from waitress.adjustments import Adjustments

from companion.common.errors import Problem, cause
from companion.common.parsing import whole
from companion.common.text import Said, say
from companion.match.match import Match
from companion.pages import limits
from companion.pages.server.connections import MOST_CONNECTIONS, SecureServer, Server

THREADS = 16  # more than wait for pictures, so taps find one
IDLE_S = 75  # pages ask more often
LOOK_S = 5  # between checks for idle connections
TURN_S = 1.0
LAST_ANSWERS_S = 1.0  # for pending responses at the end
MOST_UNSENT_BYTES = 1024 * 1024


def serve(app: Flask, host: str, port: int, ready: Callable[[int], None] = lambda _port: None) -> None:
    """Serve an app until a signal asks to end; call `ready` with the port once open.

    Raises Problem if it cannot be opened.
    """
    server = bound(app, host, port)
    asked = _asked_to_end(server.pull_trigger)
    ready(int(server.effective_port))
    while not asked.is_set():
        turn(server, TURN_S)
    end(server)


def bound(app: Flask, host: str, port: int, threads: int = THREADS) -> Server:
    """Return a server with an open port, not yet running. Raises Problem if the port is unavailable."""
    try:
        return server_at(listening(host, port), app, threads)
    except (OSError, OverflowError) as error:
        raise Problem(_why_not(error, host or "0.0.0.0", port)) from error  # noqa: S104


def listening(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises OSError or OverflowError."""
    host = host or "0.0.0.0"  # noqa: S104
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


def server_at(line: socket.socket, app: Flask, threads: int, secure: ssl.SSLContext | None = None) -> Server:
    """Return a server for a listening socket; `secure` adds TLS."""
    logging.getLogger("waitress").setLevel(logging.ERROR)  # a flood must not wear out a memory card
    if secure is not None:
        line = secure.wrap_socket(line, server_side=True, do_handshake_on_connect=False)
    adjustments = Adjustments(
        sockets=[line],
        threads=threads,
        connection_limit=2 * MOST_CONNECTIONS,  # the server closes idle connections first
        channel_timeout=IDLE_S,
        cleanup_interval=LOOK_S,
        max_request_header_size=limits.MOST_HEADER_BYTES,
        max_request_body_size=limits.USUAL.most_bytes + 1,
        inbuf_overflow=limits.LARGEST_BYTES + 2,  # keeps bodies off the disk
        outbuf_high_watermark=MOST_UNSENT_BYTES,
        outbuf_overflow=2 * MOST_UNSENT_BYTES,
        log_socket_errors=False,
        ident=None,
        # the app detects proxies by them
        clear_untrusted_proxy_headers=False,
        url_scheme="https" if secure else "http",
    )
    about = (line.family, line.type, line.proto, line.getsockname())
    kind = SecureServer if secure else Server
    return kind(app, _sock=line, adj=adjustments, bind_socket=False, sockinfo=about)


def turn(server: Server, timeout_s: float) -> None:
    """Handle what has arrived, or wait up to `timeout_s`. Polls: `select` is limited to 1024 files."""
    wasyncore.loop(timeout=timeout_s, use_poll=True, map=server._map, count=1)


def end(server: Server) -> None:
    """Send pending responses, then close every connection."""
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


def _asked_to_end(wake: Callable[[], None]) -> threading.Event:
    """Return an event that the first signal to end sets; a second one exits at once.

    SIGHUP does not count: a closing terminal sends several signals.
    """
    asked = threading.Event()
    heard: set[int] = set()

    def hear(number: int, _frame: FrameType | None) -> None:
        if number != signal.SIGHUP and heard - {signal.SIGHUP}:
            os._exit(128 + number)
        heard.add(number)
        asked.set()
        wake()

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            # `nohup` ignores a closing terminal.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, hear)
    return asked


def _why_not(error: OSError | OverflowError, host: str, port: int) -> Said:
    if isinstance(error, OverflowError):
        return say("There is no port %(port)s: choose one from 1 to 65535 with --port.", port=str(port))
    if error.errno == errno.EADDRINUSE:
        return say(
            "Port %(port)s is taken by another program: choose another with --port, for example --port %(other)s.",
            port=str(port),
            other=str(port + 1),
        )
    if error.errno == errno.EACCES:
        return say(
            "Port %(port)s may only be opened by an administrator: choose one above 1023 with --port.", port=str(port)
        )
    return say(
        "The address %(address)s cannot be opened (%(error)s): choose another with --host.",
        address=f"{host}:{port}",
        error=cause(error),
    )


def status(match: Match) -> str:
    """Return a status line for systemd."""
    now = match.state
    played = f"Match {now.match}, hand {now.game.hand_number}" if now.match else "No match yet"
    return f"{played}. {now.trouble}" if now.trouble else f"{played}."


# systemd restarts a service without a heartbeat within `WATCHDOG_USEC`. Each follows a test of every part.

BEATS = 4  # per watchdog period


class Manager:
    """The service manager at `NOTIFY_SOCKET`, if any. Never raises."""

    def __init__(self, environ: MutableMapping[str, str] = os.environ) -> None:
        address = environ.pop("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        usec = whole(environ.get("WATCHDOG_USEC", ""), 1, 10**12)
        meant = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self.patience_s = usec / 1_000_000 if usec and meant else None  # maximum between heartbeats

    def tell(self, **what: str | int) -> None:
        """Send a message: `READY=1`, `STATUS="…"`, `STOPPING=1`, `WATCHDOG=1`."""
        if not self._address:
            return
        said = "\n".join(f"{key}={' '.join(str(value).split())}" for key, value in what.items())
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as line:
            line.settimeout(1)
            line.sendto(said.encode(), self._address)


def start_heart(manager: Manager, tries: Sequence[Callable[[], object]], status: Callable[[], str]) -> None:
    """Start a thread that sends heartbeats while every part works; nothing without a watchdog.

    Each of `tries` raises or hangs if its part fails.
    """

    def run(pause_s: float) -> None:
        while True:
            time.sleep(pause_s)
            beat(manager, tries, status)

    if manager.patience_s is not None:
        threading.Thread(target=run, args=(manager.patience_s / BEATS,), name="heart", daemon=True).start()


def beat(manager: Manager, tries: Sequence[Callable[[], object]], status: Callable[[], str] = str) -> bool:
    """Test every part; send a heartbeat and return True if all work."""
    try:
        for one in tries:
            one()
        said = status()
    except Exception as error:
        manager.tell(STATUS=f"Something does not answer: {error}")
        return False
    manager.tell(WATCHDOG=1, STATUS=said)
    return True


def answers(host: str, port: int, within_s: float = 5.0) -> None:
    """Request a file from the web server. Raises OSError without a response."""
    reached = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    with socket.create_connection((reached, port), within_s) as line:
        line.settimeout(within_s)
        line.sendall(b"HEAD /static/icon.svg HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        if not line.recv(64).startswith(b"HTTP/1."):
            raise OSError("the web server gives no answer")

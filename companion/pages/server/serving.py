"""The web server: waitress, with room for a stream to every phone, until the process is asked to end."""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from flask import Flask
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.task import ThreadedTaskDispatcher

from companion.common.errors import Problem
from companion.match.match import Match
from companion.pages.game import updates
from companion.pages.players import phone_identity
from companion.pages.server import address, upload_limits
from companion.pages.server.connections import Server
from companion.pages.server.watchdog import Heart, Manager, answers

THREADS = 128
"""So many at most: more than the streams that are let in, so that taps always find one."""

TURN_S = 1.0
LAST_ANSWERS_S = 1.0
"""So long the answers that are being given may take when the service ends."""

MOST_UNSENT_BYTES = 1024 * 1024
SIGNALS = (signal.SIGTERM, signal.SIGINT)


def _nothing() -> None:
    return


class Workers(ThreadedTaskDispatcher):
    """The threads that answer, of which there are no more than were needed at once: each keeps memory for itself."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self._counting = threading.Lock()

    def add_task(self, task: Any) -> None:
        """Has a request answered, by another thread where all are busy."""
        super().add_task(task)
        with self._counting:
            running = len(self.threads) - self.stop_count
            missing = len(self.queue) - (running - self.active_count)
            if missing > 0 and running < self._most:
                self.set_thread_count(min(running + missing, self._most))

    def start_new_thread(self, target: Callable[[int], None], thread_no: int) -> None:
        """Starts a thread; where the system has no more to give, those that there are come to the request later."""
        try:
            super().start_new_thread(target, thread_no)
        except RuntimeError:
            self.threads.discard(thread_no)
            self.active_count -= 1

    def shutdown(self, cancel_pending: bool = True, timeout: float = 5) -> bool:
        """Lets the threads end, for so many seconds; whether what still waits was called off."""
        with self._counting:
            self._most = 0
        return bool(super().shutdown(cancel_pending, timeout))


def serve(
    app: Flask,
    host: str,
    port: int,
    ready: Callable[[int], None] = lambda _port: None,
    leaving: Callable[[], None] = _nothing,
) -> None:
    """Serves an app until the process is asked to end; `ready` is called with the port once it is open.

    `leaving` is called when no new requests are taken any more: what streams then has to come to its end.
    Raises Problem when the port cannot be had.
    """
    server = bound(app, host, port)
    with _asked_to_end(server.pull_trigger) as asked:
        ready(int(server.effective_port))
        while not asked.is_set():
            turn(server, TURN_S)
    leaving()
    end(server)


def bound(app: Flask, host: str, port: int, threads: int = THREADS) -> Server:
    """A server whose port is open; nothing is answered before its loop turns. Raises Problem without the port."""
    logging.getLogger("waitress").setLevel(logging.ERROR)  # a flood is no reason to write on a memory card
    listening = _listening(host or "0.0.0.0", port)  # noqa: S104
    workers = Workers(threads)
    about = (listening.family, listening.type, listening.proto, listening.getsockname())
    adjustments = _adjustments(listening)
    server = Server(
        app, map={}, _sock=listening, dispatcher=workers, adj=adjustments, bind_socket=False, sockinfo=about
    )
    upload_limits.let_stand(server, app)
    return server


def _adjustments(listening: socket.socket) -> Any:
    return Adjustments(
        sockets=[listening],
        outbuf_high_watermark=MOST_UNSENT_BYTES,
        outbuf_overflow=2 * MOST_UNSENT_BYTES,
        channel_request_lookahead=1,
        log_socket_errors=False,
        ident=None,
        clear_untrusted_proxy_headers=True,
        **upload_limits.LIMITS,
    )


def turn(server: Server, timeout_s: float) -> None:
    """Lets a server take what has come, or waits for it so long. It is polled: `select` knows 1024 files only."""
    wasyncore.loop(timeout=timeout_s, use_poll=True, map=server._map, count=1)


def end(server: Server) -> None:
    """Takes no more requests, gives the answers that are being given, and closes every connection."""
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
    """An event that is set when the process is asked to end; asked once more, it ends at once."""
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


def run(
    match: Match, host: str, port: int, create_app: Callable[..., Flask], *, also: Callable[[], object] = _nothing
) -> None:
    """Makes the app for a match, opens the port, says where it is, and serves.

    The service manager is told how it goes; `also` is tried with each beat of the heart.
    """
    secret = phone_identity.load_secret(match.store.path.parent)
    app = create_app(match, secret=secret, base_url=lambda: address.base_url(host, port))
    manager = Manager()

    def ready(bound_port: int) -> None:
        said = address.announce(host, bound_port, phone_identity.join_token(secret), phone_identity.table_code(secret))
        print(said, file=sys.stdout, flush=True)  # noqa: T201
        tries = (lambda: answers(host, bound_port), match.is_there, also)
        Heart(manager, tries, lambda: _status(match)).start()
        manager.tell(READY=1, STATUS=_status(match))

    def leaving() -> None:
        manager.tell(STOPPING=1, STATUS="Ending.")
        updates.streams.end()
        match.refresh()

    serve(app, host, port, ready, leaving)


def _status(match: Match) -> str:
    """How it goes, in a line for whoever looks after the machine."""
    now = match.state
    played = f"Match {now.match}, hand {now.game.hand_number}" if now.match else "No match yet"
    trouble = f" {now.trouble}" if now.trouble else ""
    return f"{played}; {updates.streams.count()} pages open.{trouble}"

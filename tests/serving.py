"""Serve the pages on a free local port, as the service does."""

import contextlib
import threading
from collections.abc import Iterator

from flask import Flask

from companion.pages.server import serving
from companion.pages.server.connections import Server


@contextlib.contextmanager
def running(app: Flask) -> Iterator[str]:
    """Serve an app and yield its address; close all connections at the end."""
    with turning(app) as server:
        yield f"http://127.0.0.1:{server.effective_port}"


@contextlib.contextmanager
def turning(app: Flask, threads: int = serving.THREADS, turn_s: float = serving.TURN_S) -> Iterator[Server]:
    """Run a server in its own thread."""
    server = serving.bound(app, "127.0.0.1", 0, threads)
    asked = threading.Event()

    def turn() -> None:
        while not asked.is_set():
            serving.turn(server, turn_s)
        serving.end(server)

    thread = threading.Thread(target=turn, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        asked.set()
        with contextlib.suppress(OSError):
            # Wake the thread; it may have closed the server already.
            server.pull_trigger()
        thread.join(5)

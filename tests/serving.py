"""The pages on a free port of this machine, as the service serves them."""

import contextlib
import threading
from collections.abc import Iterator

from flask import Flask

from companion.pages.server import serving

THREADS = 16


@contextlib.contextmanager
def running(app: Flask) -> Iterator[str]:
    """Serves an app; gives its address, and closes every connection at the end."""
    server = serving.bound(app, "127.0.0.1", 0, THREADS)
    asked = threading.Event()

    def turn() -> None:
        while not asked.is_set():
            serving.turn(server, serving.TURN_S)
        serving.end(server)

    thread = threading.Thread(target=turn, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        asked.set()
        with contextlib.suppress(OSError):
            # It only wakes the thread, which may have closed the server by now.
            server.pull_trigger()
        thread.join(5)

"""The pages on a free port of this machine, as waitress serves them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from flask import Flask
from waitress import wasyncore
from waitress.server import create_server

from companion.pages import porter


@contextlib.contextmanager
def running(app: Flask) -> Iterator[str]:
    """Serves an app; gives its address, and closes every connection at the end."""
    channels: dict[int, Any] = {}
    server = create_server(
        app,
        host="127.0.0.1",
        port=0,
        threads=16,
        channel_request_lookahead=1,
        ident=None,
        map=channels,
        **porter.LIMITS,
    )
    porter.let_stand(server, app)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        # An answer that ends at the same moment may wake the server first: then it is closed before it is woken here.
        with contextlib.suppress(OSError):
            server.trigger.pull_trigger(lambda: wasyncore.close_all(channels, ignore_all=True))
        thread.join(5)
        server.task_dispatcher.shutdown(timeout=2)

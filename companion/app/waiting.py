"""What a service of the system does while its data keeps it from starting: it says why, and tries again.

The reason is said in the log and to the service manager, and on every page, with growing pauses between the tries. In
a terminal the reason ends the program instead: somebody is there to read it.
"""

from __future__ import annotations

import html
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from threading import Thread
from typing import TypeVar

import click

from companion.common.errors import Problem
from companion.common.terminal import plain
from companion.pages.server.watchdog import Manager

PAUSES_S = (2.0, 5.0, 10.0, 30.0, 60.0)
"""Seconds between one try and the next; the last goes on."""

BEAT_S = 5.0
"""Seconds between two beats of the heart, of which the service manager misses none."""

_Opened = TypeVar("_Opened")


def opened_in_the_end(open_it: Callable[[], _Opened], host: str, port: int) -> _Opened:
    """Return what `open_it` gives, as soon as it can. Where no service manager looks on, raises what it raises."""
    if "NOTIFY_SOCKET" not in os.environ:
        return open_it()
    manager = Manager(dict(os.environ))
    for pause_s in chain(PAUSES_S, repeat(PAUSES_S[-1])):
        try:
            return open_it()
        except Exception as error:
            reason = error.sentence if isinstance(error, Problem) else f"The companion has made a mistake ({error!r})."
        click.echo(plain(reason), err=True)
        with _said_on_every_page(reason, host, port):
            _wait(pause_s, manager, reason)
    raise AssertionError


def _wait(pause_s: float, manager: Manager, reason: str) -> None:
    until_s = time.monotonic() + pause_s
    while (left_s := until_s - time.monotonic()) > 0:
        manager.tell(READY=1, WATCHDOG=1, STATUS=f"Cannot start yet: {reason}")
        time.sleep(min(BEAT_S, left_s))


@contextmanager
def _said_on_every_page(reason: str, host: str, port: int) -> Iterator[None]:
    """Answer every request with a sentence; nothing is answered where the port cannot be had."""
    page = _PAGE.format(reason=html.escape(reason)).encode()

    class Answer(BaseHTTPRequestHandler):
        timeout = 5

        def do_GET(self) -> None:
            self.send_response(503)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_about: object) -> None:
            """Say nothing: a flood of requests is no reason to write on a memory card."""

    try:
        server = ThreadingHTTPServer((host, port), Answer)
    except OSError:
        yield
        return
    Thread(target=server.serve_forever, name="reason", daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="5">
<title>Mille Bornes Companion</title>
<h1>The companion cannot start yet</h1>
<p>{reason}</p>
<p>It tries again by itself.</p>
</html>
"""
"""What is shown: no part of the pages, which need the matches."""

"""Retry the start of a system service while its data prevents it.

Log, service manager and every page get the reason; pauses grow. In a terminal the error ends the program.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from itertools import chain, repeat
from typing import TypeVar

from flask import Flask, Response, make_response, render_template

from companion.app.usage import warn
from companion.common.errors import Problem
from companion.common.resources import shipped
from companion.common.text import say
from companion.pages import language
from companion.pages.server import serving
from companion.pages.server.serving import Manager
from companion.pages.words import _
from companion.tabletop import translation

PAUSES_S = (2.0, 5.0, 10.0, 30.0, 60.0)  # between attempts; the last repeats
BEAT_S = 5.0  # between signs of life to the service manager
OURS = say("Something went wrong on our side; see the log of the service.")

log = logging.getLogger(__name__)
_Opened = TypeVar("_Opened")


def opened_in_the_end(open_it: Callable[[], _Opened], host: str, port: int) -> _Opened:
    """Return `open_it()`, retried until it succeeds; without a service manager, raise its errors."""
    if "NOTIFY_SOCKET" not in os.environ:
        return open_it()
    manager = Manager(dict(os.environ))
    for pause_s in chain(PAUSES_S, repeat(PAUSES_S[-1])):
        try:
            return open_it()
        except Problem as problem:
            reason = problem.sentence
        except Exception:
            log.exception("the service cannot start")
            reason = OURS
        warn(reason)
        _say_why(reason, pause_s, manager, host, port)
    raise AssertionError


def _say_why(reason: str, pause_s: float, manager: Manager, host: str, port: int) -> None:
    """Answer requests with the reason for `pause_s` seconds; without a free port, wait."""
    until_s = time.monotonic() + pause_s
    try:
        server = serving.bound(_page(reason), host, port, threads=1)
    except Problem:
        server = None
    while (left_s := until_s - time.monotonic()) > 0:
        manager.tell(READY=1, WATCHDOG=1, STATUS=f"Cannot start yet: {reason}")
        if server is None:
            time.sleep(min(BEAT_S, left_s))
        else:
            serving.turn(server, min(BEAT_S, left_s))
    if server is not None:
        serving.end(server)


def _page(reason: str) -> Flask:
    """Return an app that answers every request with the reason."""
    app = Flask(__name__, static_folder=None, template_folder=str(shipped("web") / "templates"))
    language.prepare(app)

    @app.before_request
    def answer() -> Response:
        page = render_template("waiting.html", language=translation.spoken(), reason=translation.translate(reason), _=_)
        return make_response(page, 503, {"Cache-Control": "no-store"})

    return app

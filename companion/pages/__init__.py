"""The pages: what phones and the wall screen show, and the taps that come back. `create_app` is the contents."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial

from flask import Flask

from companion.common.resources import shipped
from companion.match.match import Match
from companion.match.phones import Phones
from companion.pages import (
    api,
    camera,
    decks,
    enrolling,
    entry,
    errors,
    guard,
    join,
    live,
    may,
    past,
    people,
    phone,
    plain,
    printed,
    replay,
    saving,
    score,
    seats,
    serving,
    setting_up,
    snap,
    table,
    templating,
    told,
    wall,
)
from companion.pages.address import announce, given_names
from companion.pages.context import NO_CAMERA, Camera, Service
from companion.pages.knocking import Knocks
from companion.pages.pace import Pace
from companion.storage.backups import Nightly

__all__ = ["Camera", "announce", "create_app", "run_service", "serve"]

PARTS = (
    table,
    entry,
    may,
    plain,
    setting_up,
    join,
    seats,
    told,
    saving,
    phone,
    score,
    past,
    replay,
    wall,
    live,
    api,
    camera,
    snap,
    decks,
    enrolling,
    printed,
)
"""The rooms of the house that have a door of their own."""

serve = serving.serve


def create_app(
    match: Match,
    *,
    secret: bytes,
    base_url: str | Callable[[], str] = "",
    camera: Camera = NO_CAMERA,
    clock: Callable[[], float] = time.monotonic,
) -> Flask:
    """The web application over a match.

    `secret` signs cookies and the join link; `base_url` is, or gives, where phones reach this machine; `clock` tells
    how long a phone has been silent.
    """
    web = shipped("web")
    app = Flask("companion.pages", static_folder=None, template_folder=str(web / "templates"))
    app.secret_key = secret
    app.extensions["companion"] = _service(match, secret, base_url, camera, clock)
    templating.prepare(app, web / "static")
    guard.protect(app)
    errors.register(app)
    for part in PARTS:
        app.register_blueprint(part.bp)
    return app


def _service(
    match: Match, secret: bytes, base_url: str | Callable[[], str], camera: Camera, clock: Callable[[], float]
) -> Service:
    return Service(
        match=match,
        phones=Phones(match.store.path.parent, clock, changed=match.refresh),
        token=people.join_token(secret),
        code=people.table_code(secret),
        knocks=Knocks(clock),
        pace=Pace(clock),
        called=given_names(os.environ),
        reached_at=base_url if callable(base_url) else lambda: base_url,
        camera=camera,
    )


def run_service(
    match: Match,
    host: str,
    port: int,
    camera: Camera = NO_CAMERA,
    *,
    looks_after: Callable[[], object] = lambda: None,
) -> None:
    """Serves the pages until the process is asked to end, and prints the address and the join code once ready.

    Meanwhile the log is copied once a day. `looks_after` is called now and then where a service manager watches. Raises
    Problem when the port cannot be had.
    """
    nightly = Nightly(match.store.path, match.store.quiet_s)
    nightly.start()
    try:
        serving.run(match, host, port, partial(create_app, camera=camera), also=looks_after)
    finally:
        nightly.stop()

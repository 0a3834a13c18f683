"""The pages: what phones and the wall screen show, and the taps that come back. `create_app` is the contents."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from flask import Flask

from companion.drawn_zones import DrawnZones
from companion.lookout import Survey
from companion.match import Match
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
from companion.pages.address import announce
from companion.pages.context import Service
from companion.pages.knocking import Knocks
from companion.phones import Phones
from companion.shipped import shipped
from companion.turned import KeptTurn
from companion.vision.boxes import Image

__all__ = ["announce", "create_app", "run_service", "serve"]

PARTS = (
    table,
    entry,
    may,
    plain,
    setting_up,
    join,
    seats,
    told,
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

COOKIE_DAYS = 400
"""A phone keeps its seat as long as browsers keep any cookie."""


def create_app(
    match: Match,
    *,
    secret: bytes,
    base_url: str = "",
    camera_picture: Callable[[], bytes | None] | None = None,
    survey: Callable[[], Survey | None] | None = None,
    zones: DrawnZones | None = None,
    camera_image: Callable[[], Image | None] | None = None,
    deck: str | None = None,
    clock: Callable[[], float] = time.monotonic,
    turn: KeptTurn | None = None,
    web: Path | None = None,
) -> Flask:
    """The web application over a match.

    `secret` signs cookies and the join link; `base_url` is where phones reach this machine; `camera_picture`
    gives the latest camera picture as JPEG, `survey` what it shows as a whole; `zones` are those drawn on it;
    `camera_image` gives it as it is, `(H, W, 3) uint8 BGR`. `deck` names the one whose faces the cards have.
    `clock` tells how long a phone has been silent; `turn` is how the pictures are turned before they are given.
    """
    web = web or shipped("web")
    app = Flask("companion.pages", static_folder=None, template_folder=str(web / "templates"))
    app.secret_key = secret
    token = people.join_token(secret)
    app.permanent_session_lifetime = timedelta(days=COOKIE_DAYS)
    phones = Phones(match.store.path.parent, clock, changed=match.refresh)
    code, knocks = people.table_code(secret), Knocks(clock)
    app.extensions["companion"] = Service(
        match,
        token,
        base_url,
        camera_picture,
        survey,
        zones,
        camera_image,
        deck,
        phones=phones,
        code=code,
        knocks=knocks,
        turn=turn,
    )
    templating.prepare(app, web / "static")
    guard.protect(app)
    errors.register(app)
    for part in PARTS:
        app.register_blueprint(part.bp)
    return app


def run_service(match: Match, host: str, port: int, **camera: Any) -> None:
    """Serves the pages until the process is stopped, and prints the address and the join code once ready.

    `camera` is what `create_app` takes of it. Raises Problem when the port cannot be had.
    """
    serving.run(match, host, port, partial(create_app, **camera))

"""The web application."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from urllib.parse import urlsplit

from flask import Flask

from companion.common.errors import Problem
from companion.common.resources import shipped
from companion.match.match import Match
from companion.match.phones import Phones
from companion.match.robot_players import RobotPlayers
from companion.pages import templating
from companion.pages.api import routes
from companion.pages.context import NO_CAMERA, Camera, ClubLine, Service
from companion.pages.game import entry, how_to_play, new_match, robot_page, table_page, text_page
from companion.pages.limits import RateLimits
from companion.pages.players import notices, phone_identity, preferences, seats
from companion.pages.scores import past_matches, photo_score, score, statistics_pages, wall
from companion.pages.server import address, guard
from companion.pages.server.address import announce, given_names
from companion.pages.server.secure_port import SecurePort
from companion.pages.server.serving import Manager, answers, serve, start_heart, status
from companion.pages.table_camera import camera, decks, enrol, printing
from companion.storage.backups import Nightly
from companion.storage.data_folder import DEMO_NAME

__all__ = ["Camera", "announce", "create_app", "run_service", "serve"]

PARTS = (
    *(table_page, entry, how_to_play, robot_page, text_page, new_match),
    *(seats, notices, preferences),
    *(score, past_matches, statistics_pages, wall, photo_score),
    *(camera, decks, enrol, printing),
    routes,
)


def create_app(
    match: Match,
    *,
    secret: bytes,
    base_url: str | Callable[[], str] = "",
    announced: str = "",
    camera: Camera = NO_CAMERA,
    secure: SecurePort | None = None,
    club: ClubLine | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Flask:
    """Return the web application of a match.

    `secret` signs cookies and the join link. `base_url` is the address for phones, or returns it; `announced`, from
    `address.announced`, replaces it and is an accepted host name. `secure` is the TLS port for a phone's camera, `club`
    receives the log.
    """
    web = shipped("web")
    app = Flask("companion.pages", static_folder=None, template_folder=str(web / "templates"))
    app.secret_key = secret
    app.extensions["companion"] = Service(
        match=match,
        phones=Phones(match.store.path.parent, clock, changed=match.refresh),
        token=phone_identity.join_token(secret),
        code=phone_identity.table_code(secret),
        limits=RateLimits(clock),
        called=given_names(os.environ) | ({urlsplit(announced).hostname or ""} if announced else set()),
        base_url=base_url if callable(base_url) and not announced else lambda: announced or str(base_url),
        announced=announced,
        camera=camera,
        secure=secure,
        club=club,
    )
    templating.prepare(app, web / "static")
    guard.protect(app)
    guard.know_proxy(app, announced)
    if match.store.path.parent.name == DEMO_NAME:
        # lets a phone use the demo and the table at one address
        app.config["SESSION_COOKIE_NAME"] += "-demo"
    for part in PARTS:
        app.register_blueprint(part.bp)
    return app


def run_service(
    match: Match,
    host: str,
    port: int,
    camera: Camera = NO_CAMERA,
    *,
    announced: str = "",
    looks_after: Callable[[], object] = lambda: None,
    club: ClubLine | None = None,
) -> None:
    """Serve the pages until a signal asks to end; print the address and join code once ready.

    Backs up the log daily and after each hand. Sends systemd heartbeats while every part works; `looks_after` raises if
    one fails. `announced`: see `create_app`. Raises Problem if the port cannot be opened.
    """
    secret, manager = phone_identity.load_secret(match.store.path.parent), Manager()
    secure = SecurePort(match.store.path.parent, host, port) if camera.phone is not None else None
    base = partial(address.base_url, host, port)
    app = create_app(match, secret=secret, base_url=base, announced=announced, camera=camera, secure=secure, club=club)
    nightly = Nightly(
        match.store.path, match.store.quiet_s, hands_ended=lambda: (match.state.match, len(match.state.game.hands))
    )

    def ready(bound_port: int) -> None:
        token, code = phone_identity.join_token(secret), phone_identity.table_code(secret)
        said = announce(host, bound_port, token, code, announced)
        print(said, flush=True)  # noqa: T201
        tries = (lambda: answers(host, bound_port), match.check_alive, looks_after)
        if secure is not None and secure.was_opened:
            with suppress(Problem):  # the phone camera's page shows it
                secure.open(app)
        start_heart(manager, tries, lambda: status(match))
        manager.tell(READY=1, STATUS=status(match))

    robots = RobotPlayers(match)
    nightly.start()
    robots.start()
    try:
        serve(app, host, port, ready)
        manager.tell(STOPPING=1, STATUS="Ending.")
    finally:
        if secure is not None:
            secure.close()
        robots.stop()
        nightly.stop()

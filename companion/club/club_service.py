"""The club's web service. Its processes share one database, which holds all state."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from flask import Flask, Response, g, make_response, render_template, request
from werkzeug.exceptions import HTTPException

from companion.club import (
    batch,
    club_doors,
    club_pages,
    desk_pages,
    keys,
    people,
    people_pages,
    postgres,
    tournament_pages,
)
from companion.club.club_log import NotThisTable
from companion.club.keys import NotLetIn
from companion.club.postgres import Pool, Unavailable, connected
from companion.club.projection import Projector
from companion.common.cache import Kept
from companion.common.errors import Problem
from companion.common.resources import shipped
from companion.pages import templating
from companion.pages.server import guard, serving
from companion.pages.server.address import base_url
from companion.pages.server.guard import SENTENCES, Cookies
from companion.pages.words import N_, _

log = logging.getLogger("companion.club")

TAKEN_IN_BYTES = 16_000_000
"""Size up to which a request is read and answered; larger ones are cut off."""

FORM_BYTES = 16 * 1024
RETRY_S = 1
_FIGURES = {
    "tables": ("Tables that have ever pushed.", "count(*)"),
    "events": ("Events in the club's log.", "sum(last)"),
    "events_behind": ("Events that tables have and the club has not.", "sum(greatest(told - last, 0))"),
    "tables_forked": ("Tables that tell another course of their log than the club has.", "count(fork_at)"),
    "tables_gone": (
        "Tables that have not been heard of for 90 seconds.",
        "count(*) FILTER (WHERE seen_at < now() - interval '90 seconds')",
    ),
    "events_to_judge": ("Events that the referee has still to judge for the boards.", "sum(last - seq)"),
}
"""Help text and SQL of each figure in `/metrics`."""


@dataclass(frozen=True, slots=True)
class Club:
    """The app's shared parts."""

    pool: Pool
    keys_needed: bool  # even before one has been made
    answers: Counter[int] = field(default_factory=Counter)  # batches answered by this process, by HTTP status
    boards: Kept[str] = field(default_factory=lambda: Kept(16))  # overview pages
    clocks: Kept[dict[str, dict[str, object]]] = field(default_factory=lambda: Kept(1))
    """Round clocks by table."""

    troubles: Kept[None] = field(default_factory=lambda: Kept(4))
    """Database problems logged in the last minute."""


def create_app(pool: Pool, *, keys_needed: bool = False) -> Flask:
    """Return the club's web application."""
    web = shipped("web")
    app = Flask("companion.club", static_folder=None, template_folder=str(web / "templates"))
    with connected(pool) as db:
        app.secret_key = postgres.cookie_secret(db)
    app.extensions["club"] = Club(pool, keys_needed)
    app.config["MOST_BYTES"] = TAKEN_IN_BYTES
    app.config.update(SESSION_COOKIE_NAME="companion-club", SESSION_COOKIE_SAMESITE="Lax", SESSION_COOKIE_HTTPONLY=True)
    app.session_interface = Cookies()
    templating.prepare_looks(app, web / "static")
    app.context_processor(club_pages.helpers)
    app.before_request(_check)
    app.before_request(club_doors.let_in)
    app.after_request(_counted)
    app.after_request(guard.complete)
    app.register_error_handler(Exception, _error)
    for part in (club_pages, desk_pages, people_pages, tournament_pages):
        app.register_blueprint(part.bp)
    app.add_url_rule("/health", "health", _health)
    app.add_url_rule("/metrics", "metrics", _metrics)
    return app


_SENTENCES = SENTENCES | {
    401: N_("You need access to this page: open your personal link, or ask the director for one."),
}


def _check() -> None:
    is_batch = request.endpoint == "club.take"
    request.max_content_length = TAKEN_IN_BYTES if is_batch else FORM_BYTES
    if not is_batch:
        guard.check_origin()


def _counted(response: Response) -> Response:
    if request.endpoint == "club.take":
        club_doors.club().answers[response.status_code] += 1
    return response


def _error(error: Exception) -> Response:
    """Return an error as JSON for programs, as a page for browsers."""
    code, sentence = _meant(error)
    if code >= 500:
        g.is_failing = True
    if code == 503:  # once a minute, however many tables ask
        club_doors.club().troubles.get(sentence, lambda: log.error("%s", sentence), int(time.monotonic() / 60))
    if request.endpoint in ("club.take", "club.as_json", "health"):
        response = make_response({"say": sentence}, code)
    else:
        response = make_response(render_template("club_oops.html", sentence=_(sentence)), code)
    if code == 503:
        response.headers["Retry-After"] = str(RETRY_S)
    return response


def _meant(error: Exception) -> tuple[int, str]:
    if isinstance(error, Problem):
        codes = {Unavailable: 503, NotLetIn: 401, NotThisTable: 403}
        return codes.get(type(error), 400), error.sentence
    if isinstance(error, HTTPException):
        code = error.code or 500
        too_large = batch.TOO_LARGE if code == 413 and request.endpoint == "club.take" else None
        return code, too_large or _SENTENCES.get(code, SENTENCES[400])
    log.error("a page failed: %s", request.endpoint, exc_info=error)
    return 500, SENTENCES[500]


def _health() -> tuple[dict[str, object], int]:
    with connected(club_doors.club().pool) as db:
        row = db.execute("SELECT count(*) FROM club.tables").fetchone()
    return {"ok": True, "tables": row[0] if row else 0}, 200


def _metrics() -> Response:
    """Return this club's and process's figures in Prometheus format."""
    known = club_doors.club()
    found: tuple[int, ...] = ()
    counts = ", ".join(f"coalesce({how}, 0)" for _, how in _FIGURES.values())
    with suppress(Unavailable), connected(known.pool) as db:
        query = f"SELECT {counts} FROM club.tables JOIN club.judged ON table_id = id"  # noqa: S608
        found = db.execute(query.encode()).fetchone() or ()
    lines = _metric("up", "1 if the database answers.", {"": int(bool(found))})
    for (name, (about, _how)), value in zip(_FIGURES.items(), found, strict=False):
        lines += _metric(name, about, {"": value})
    batches = {f'{{status="{status}"}}': count for status, count in sorted(known.answers.items())}
    lines += _metric("batches_total", "Batches that this process has answered, by HTTP status.", batches, "counter")
    return Response("\n".join([*lines, ""]), mimetype="text/plain; version=0.0.4")


def _metric(name: str, about: str, values: dict[str, int], kind: str = "gauge") -> list[str]:
    heads = [f"# HELP companion_club_{name} {about}", f"# TYPE companion_club_{name} {kind}"]
    return heads + [f"companion_club_{name}{label} {value}" for label, value in values.items()]


# Running


class _AsJson(logging.Formatter):
    """Log format: a JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        said = {"at": self.formatTime(record), "level": record.levelname.lower(), "say": record.getMessage()}
        if record.exc_info:
            said["trace"] = self.formatException(record.exc_info)
        return json.dumps(said, ensure_ascii=False)


def run(url: str, host: str, port: int, *, keys_needed: bool, tell: Callable[[str], None]) -> None:
    """Serve the club in the database `url` until stopped; give `tell` the addresses and director's link when ready.

    `keys_needed`: tables need one even before any exists. Raises Problem if database or port is unavailable.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_AsJson())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    # judging uses the CPU: with faster thread switches pages wait less
    sys.setswitchinterval(0.001)
    pool = postgres.opened(url)
    projector = Projector(pool)
    try:
        app = create_app(pool, keys_needed=keys_needed)

        def ready(bound_port: int) -> None:
            with connected(pool) as db:
                token = people.new_link(db)
                is_open = not keys_needed and not keys.are_needed(db)
            here = base_url(host, bound_port)
            tell(f"The club is ready.\n  For everybody:    {here}/\n  For the director: {here}/director?once={token}")
            tell("  That link lets one browser in, once, within a day.")
            if is_open:
                tell("  No key has been made yet: any table may push. The first key shuts out those without one.")

        projector.start()
        serving.serve(app, host, port, ready)
    finally:
        projector.stop()
        pool.close(2)
    tell("The club has ended. All that was acknowledged is kept.")

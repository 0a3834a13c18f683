"""Template helpers and static files, which browsers cache for a year."""

from __future__ import annotations

import hashlib
import mimetypes
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from pickle import PickleError
from typing import Any

import jinja2
from flask import Flask, Response, abort, request, url_for
from jinja2.bccache import Bucket, FileSystemBytecodeCache

from companion.common.languages import OWN_NAMES, OWN_WORDS
from companion.common.terminal import typed
from companion.pages import language, words
from companion.pages.api import routes
from companion.pages.context import is_demo, match, request_field, service, state
from companion.pages.limits import too_many_pixels
from companion.pages.players import notices, phone_identity, preferences
from companion.pages.scores import charts, wall
from companion.rules.cards import Card, Family
from companion.tabletop import translation
from companion.tabletop.mat_layout import SIDE_MARKS
from companion.vision.counting.photographs import MOST_BYTES

_TYPES = {
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
TOKENS = "tokens.css"
_FOR_READERS = {
    ".css": re.compile(rb"/\*.*?\*/\n?|(?<=[:;,{]) +| +(?=[{}])|(?<=\n) +", re.DOTALL),
    ".js": re.compile(rb"^ *//.*\n|^ +", re.MULTILINE),
}
"""Bytes not sent to browsers: comments and indentation."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A static file."""

    body: bytes
    kind: str
    mark: str  # hash of the content, part of the URL


class Compiled(FileSystemBytecodeCache):
    """Bytecode cache beside the templates; without write access each start compiles.

    The first page's templates compile in 45 ms and load in 2 ms on a desktop computer.
    """

    _how = f"{jinja2.__version__} {Path(__file__).read_text(encoding='utf-8')}"  # what affects compilation

    def get_source_checksum(self, source: str) -> str:
        return super().get_source_checksum(self._how + source)

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except (OSError, EOFError, PickleError):  # perhaps truncated by a power cut
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                Path(self.directory).mkdir(exist_ok=True)
                super().dump_bytecode(bucket)


def prepare(app: Flask, static: Path) -> None:
    """Add static files and template helpers to a table's app."""
    prepare_looks(app, static)
    app.before_request(lambda: words.speak_of(state().game, match().mats(state())))
    app.jinja_env.globals.update(
        chart_svg=charts.svg, chart_sample=charts.sample, moment=wall.latest_moment, service=service, typed=typed
    )
    app.context_processor(_helpers)


def prepare_looks(app: Flask, static: Path) -> None:
    """Add static files, languages and general template helpers to an app."""
    files = [path for path in sorted(static.rglob("*")) if path.is_file()]
    bodies = {path.relative_to(static).as_posix(): path.read_bytes() for path in files}
    # Pages allow no inline styles, so side colors and progress are classes.
    sides = (f".side-{n} {{ --side: {mark.colour}; }}\n" for n, mark in enumerate(SIDE_MARKS, start=1))
    road = (f".p{percent}{{--p:{percent / 100:g}}}\n" for percent in range(101))
    bodies[TOKENS] += "".join((*sides, *road)).encode()

    @cache
    def asset(name: str) -> Asset:
        body, ending = bodies[name], Path(name).suffix
        if ending in _FOR_READERS and not name.startswith("htmx"):
            body = _FOR_READERS[ending].sub(b"", body)
        kind = _TYPES.get(ending) or mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Asset(body, kind, hashlib.sha256(body).hexdigest()[:10])

    app.jinja_env.bytecode_cache = Compiled(str(static.parent / "templates" / "__pycache__"))
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]
        translation.worded, translation.translate_many, newstyle=True
    )
    language.prepare(app)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    # Folding constants takes longer than evaluating them.
    app.jinja_env.optimized = False
    app.jinja_env.globals.update(
        card=Card,
        family=Family,
        title=words.title,
        words=words,
        request_field=request_field,
        most_bytes=MOST_BYTES,
        too_many_pixels=too_many_pixels,
        in_edition=translation.in_edition,
    )
    app.jinja_env.filters.update(curly=words.curly, here=translation.translate, said=words.said, title_of=words.title)
    app.context_processor(lambda: _looks(asset))
    app.add_url_rule(
        "/static/<path:name>", "static", lambda name: _serve(asset(name)) if name in bodies else abort(404)
    )


def _serve(asset: Asset) -> Response:
    response = Response(asset.body, mimetype=asset.kind)
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    # With a clock in 1970 browsers ask again for every file: they get a 304.
    response.set_etag(asset.mark, weak=True)
    response.make_conditional(request)
    return response


def _looks(asset: Callable[[str], Asset]) -> dict[str, Any]:
    return {
        "asset": lambda name: url_for("static", name=name, v=asset(name).mark),
        "signs": url_for("static", name="signs.svg", v=asset("signs.svg").mark),
        "part": "HX-Request" in request.headers,
        "language": translation.spoken(),
        "own_languages": OWN_NAMES,
        "word_language": " · ".join(OWN_WORDS.values()),
    }


def _helpers() -> dict[str, Any]:
    now, club = state(), service().club
    return {
        "names": words.Names.of(now.game),
        "may_act": phone_identity.may_act(),
        "takes_part": phone_identity.takes_part(),
        "may_host": phone_identity.may_host(),
        "watches": phone_identity.watches(),
        "seat": phone_identity.seat(now),
        "told": notices.here(now),
        "saving": notices.of_saving(now),
        "this_phone": phone_identity.called(phone_identity.phone()),
        "state": now,
        "trouble": phone_identity.trouble(now),
        "in_club": club is not None,
        "clocks": lambda: club.clocks if club else (),
        "complaint": None if now.without_camera or now.is_dealt else phone_identity.trouble(now),
        "mark": routes.mark(now),
        "is_demo": is_demo(),
        "is_simulated": service().camera.is_simulated,
        "phone": preferences.phone(),
    }

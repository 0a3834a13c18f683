"""What every page needs: the match, and how this service is reached."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from flask import Response, current_app, g, redirect, request
from markupsafe import Markup
from werkzeug.wrappers import Response as AnyResponse

from companion.common.cache import Kept
from companion.match.archive import Archive
from companion.match.match import Match, MatchState, Outcome
from companion.match.phones import Phones
from companion.pages.limits import Knocks, Pace
from companion.tabletop.drawn_zones import DrawnZones
from companion.vision.boxes import Image
from companion.vision.capture.image_io import decode
from companion.vision.capture.orientation import KeptTurn
from companion.vision.counting.photographs import Snaps
from companion.vision.enrol.guided import Guide
from companion.vision.quality.live_survey import Survey

MOST_PICTURES = 16


@dataclass(frozen=True, slots=True)
class Camera:
    """What the pages have of the camera: each is None where there is none of it."""

    picture: Callable[[], bytes | None] | None = None
    """Gives the latest picture as JPEG."""

    image: Callable[[], Image | None] | None = None
    """Gives it as it is, `(H, W, 3) uint8 BGR`; without it cards are enrolled from the one for the pages."""

    survey: Callable[[], Survey | None] | None = None
    """Gives what it shows as a whole."""

    zones: DrawnZones | None = None
    """The zones drawn on it."""

    turn: KeptTurn | None = None
    """How it is turned before anybody looks at it."""

    deck: str | None = None
    """The deck whose faces the cards have, where it was said at the start; else it is the one chosen on the page."""

    is_there: Callable[[], bool] = lambda: True
    """Whether a camera has answered, where one is looked for."""

    def can_look(self) -> bool:
        """Whether pictures are to be expected."""
        return self.picture is not None and self.is_there()

    def latest(self, name: str) -> Image | None:
        """Return the latest picture, `(H, W, 3) uint8 BGR`, decoded from the JPEG where only that is to be had.

        Raises Problem, which calls the picture `name`, where the JPEG cannot be decoded.
        """
        if self.image is not None:
            return self.image()
        jpeg = self.jpeg()
        return decode(jpeg, name) if jpeg else None

    def jpeg(self) -> bytes | None:
        """The latest picture as JPEG, where there is one."""
        return self.picture() if self.picture is not None else None

    def seen(self) -> Survey | None:
        """What the latest picture shows, where there is one."""
        return self.survey() if self.survey is not None else None


NO_CAMERA = Camera()
"""Every play is entered by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What the app is about."""

    match: Match
    phones: Phones
    """Who takes part, who is host, which seat is whose."""

    token: str
    """Whoever shows it may take part."""

    code: str
    """The short code of the table: whoever types it asks the host to be let in."""

    knocks: Knocks
    """Slows those down who try codes."""

    pace: Pace
    """Slows those down who ask too often."""

    called: frozenset[str] = frozenset()
    """The names that somebody gave this machine beside its own."""

    reached_at: Callable[[], str]
    """Gives the address that phones open now; empty where it is not known."""

    camera: Camera
    """What can be seen."""

    guide: Guide = field(default_factory=Guide)
    """Looks at cards that are being enrolled."""

    snaps: Snaps = field(default_factory=Snaps)
    """The photographs of finished tableaux, as long as they are counted."""

    archive: Archive = field(default_factory=Archive)
    """The matches of the log, judged."""

    pictures: Kept[bytes] = field(default_factory=lambda: Kept(MOST_PICTURES))
    """The score sheets that were drawn last, as PNG."""

    @property
    def base_url(self) -> str:
        """The address that phones open; it changes where the network comes later than this machine, or anew."""
        return self.reached_at()


def service() -> Service:
    """The service of this request's app."""
    return cast(Service, current_app.extensions["companion"])


def match() -> Match:
    """The match being played."""
    return service().match


def state() -> MatchState:
    """The state of the match, the same for all of a page."""
    if "state" not in g:
        g.state = service().match.state
    return cast(MatchState, g.state)


def has_camera() -> bool:
    """Whether a camera is meant to look at the table: one was asked for, or answered, and nobody has put it away."""
    return service().camera.can_look() and not state().without_camera


def forget_state() -> None:
    """What was tapped has changed the match: the page is about the state after it."""
    g.pop("state", None)


def request_field() -> Markup:
    """What a form carries so that what it asks for counts once, however often it is tapped."""
    return Markup('<input type="hidden" name="request" value="%s">') % secrets.token_hex(8)


def once(act: Callable[[], Outcome]) -> Outcome:
    """Makes the change that a form asks for; the same form sent again with the same choice gets the same answer."""
    form = sorted((name, value) for name, value in request.form.items() if name != "request")
    asked, token = f"{request.path} {form}", request.form.get("request", "")[:32]
    name = f"{token}-{hashlib.sha256(asked.encode()).hexdigest()[:16]}" if token else None
    return match().once(name, asked, act)


def go(url: str) -> AnyResponse:
    """Another page, also for a page that asked for a part or keeps itself in step."""
    if "HX-Request" in request.headers:
        return Response(status=204, headers={"HX-Redirect": url})
    return redirect(url, 303)

"""Context of every page: match, camera and service."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from flask import Response, current_app, g, redirect, request
from markupsafe import Markup
from werkzeug import wrappers

from companion.common.cache import Kept
from companion.common.text import Said
from companion.match.archive import Archive
from companion.match.match import Match
from companion.match.phones import Phones
from companion.match.state import MatchState, Outcome
from companion.pages.limits import RateLimits
from companion.pages.table_camera.camera_settings import KeptTurn, OtherCameras
from companion.robots.robot_seat import RobotHelp
from companion.rules.cards import Card
from companion.rules.editions.edition import Edition, edition_names, load_edition
from companion.tabletop.drawn_zones import DrawnZones
from companion.vision.boxes import Image
from companion.vision.capture.phone_frames import PhoneFrames
from companion.vision.counting.photographs import Snaps
from companion.vision.enrol.guided import Guide
from companion.vision.quality.live_survey import Survey

if TYPE_CHECKING:
    from companion.pages.server.secure_port import SecurePort  # imports this module

AnyResponse: TypeAlias = wrappers.Response


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Camera:
    """Camera access for pages. The functions return None without a fresh picture."""

    picture: Callable[[], bytes | None] = _nothing  # JPEG
    image: Callable[[], Image | None] = _nothing  # `(H, W, 3) uint8 BGR`
    survey: Callable[[], Survey | None] = _nothing
    robot_hand: Callable[[], tuple[Card | None, ...] | None] = _nothing
    """Cards in the slots of a robot's mat, for its helper only."""

    others: OtherCameras | None = None
    """Additional cameras, if possible."""

    zones: DrawnZones | None = None
    turn: KeptTurn | None = None
    phone: PhoneFrames | None = None  # None if a source was given at the start
    deck: str | None = None  # given at the start; None for the one chosen on the page
    is_simulated: bool = False
    is_there: Callable[[], bool] = lambda: True  # a camera has responded

    def can_look(self) -> bool:
        """True if pictures can be expected."""
        return self.picture is not _nothing and self.is_there()


class ClubLine(Protocol):
    """Connection from this table to its club."""

    @property
    def says(self) -> Said:
        """How far the club is behind, and why."""

    @property
    def clocks(self) -> list[dict[str, Any]]:
        """Clocks of the current tournament round: `name`, `left_s`, `runs`, `seq`."""

    @property
    def is_forked(self) -> bool:
        """True if a person must decide whether to continue as a new table."""

    def begin_anew(self) -> None:
        """Continue at the club as a new table. Raises Problem."""


NO_CAMERA = Camera()  # every play is entered by hand


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Parts of the running service."""

    match: Match
    phones: Phones
    token: str  # of the join link
    code: str  # typed to ask for admission
    limits: RateLimits
    called: frozenset[str]  # additional host names
    base_url: Callable[[], str]  # for phones; empty if unknown
    announced: str  # replaces this machine's address, such as behind a proxy; may be empty
    camera: Camera
    secure: SecurePort | None = None  # for a phone's camera
    club: ClubLine | None = None
    robot: RobotHelp = field(default_factory=RobotHelp)
    guide: Guide = field(default_factory=Guide)
    snaps: Snaps = field(default_factory=Snaps)
    archive: Archive = field(default_factory=Archive)
    pictures: Kept[bytes] = field(default_factory=lambda: Kept(16))  # last drawn score sheets (PNG)
    marked: Kept[bytes] = field(default_factory=lambda: Kept(16))  # last photographs with outlined reflections (JPEG)


def service() -> Service:
    """Return the current app's service."""
    return cast(Service, current_app.extensions["companion"])


def match() -> Match:
    """Return the match."""
    return service().match


def state() -> MatchState:
    """Return the match state, read once per request."""
    if "state" not in g:
        g.state = service().match.state
    return cast(MatchState, g.state)


def folder() -> Path:
    """Return the data folder."""
    return match().store.path.parent


def editions() -> list[Edition]:
    """Return all editions."""
    return [load_edition(name) for name in edition_names()]


def sent_files(field: str) -> list[tuple[bytes, str]]:
    """Return uploaded files as (content, name), in numeric order of names: phones send them in any order."""
    sent = [(file.read(), file.filename or "") for file in request.files.getlist(field)]
    return sorted((one for one in sent if one[0]), key=lambda one: (len(one[1]), one[1]))


def download(content: str | bytes, mimetype: str, name: str, *, opens: bool = False) -> Response:
    """Return a file as a download; with `opens` the browser may display it."""
    response = Response(content, mimetype=mimetype)
    response.headers["Content-Disposition"] = f'{"inline" if opens else "attachment"}; filename="{name}"'
    return response


def is_demo() -> bool:
    """True if the pages show the simulated table."""
    return service().camera.is_simulated and (state().match is None or state().is_demo)


def has_picture() -> bool:
    """True if there is a fresh picture; simulated ones count only in the demo."""
    return (is_demo() or not service().camera.is_simulated) and service().camera.picture() is not None


def has_camera() -> bool:
    """True if the match uses an available camera."""
    now, camera = state(), service().camera
    return camera.can_look() and not (now.without_camera or now.is_dealt or (camera.is_simulated and not now.is_demo))


def forget_state() -> None:
    """Drop the cached state, so the page shows a change just made."""
    g.pop("state", None)


def request_field() -> Markup:
    """Return the hidden field by which `once` recognizes a repeated form."""
    return Markup('<input type="hidden" name="request" value="%s">') % secrets.token_hex(8)


def once(act: Callable[[], Outcome]) -> Outcome:
    """Apply the form's change; a repeated submission gets the first result."""
    form = sorted((name, value) for name, value in request.form.items() if name != "request")
    asked, token = f"{request.path} {form}", request.form.get("request", "")[:32]
    name = f"{token}-{hashlib.sha256(asked.encode()).hexdigest()[:16]}" if token else None
    return match().once(name, asked, act)


def go(url: str) -> AnyResponse:
    """Redirect to another page, also for htmx requests."""
    if "HX-Request" in request.headers:
        return Response(status=204, headers={"HX-Redirect": url})
    return redirect(url, 303)

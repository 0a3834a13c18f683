"""Context of every page: the match, the camera, and the address of this service."""

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
    from companion.pages.server.secure_port import SecurePort  # It serves the pages, which ask for this context.

AnyResponse: TypeAlias = wrappers.Response  # an answer of ours, or a redirect


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Camera:
    """The camera as the pages use it: functions about the latest picture, which return None where none is fresh."""

    picture: Callable[[], bytes | None] = _nothing  # the picture as JPEG
    image: Callable[[], Image | None] = _nothing  # the picture, `(H, W, 3) uint8 BGR`
    survey: Callable[[], Survey | None] = _nothing
    robot_hand: Callable[[], tuple[Card | None, ...] | None] = _nothing
    """What lies in the slots of a robot's mat: for its helper alone."""

    others: OtherCameras | None = None
    """The cameras beside the first; None where there can be none."""

    zones: DrawnZones | None = None
    turn: KeptTurn | None = None
    phone: PhoneFrames | None = None  # what a phone sends as the camera; None where a source was named at the start
    deck: str | None = None  # the deck named when the service was started; None for the one chosen on the page
    is_simulated: bool = False  # True if the table is drawn: nobody lays these cards
    is_there: Callable[[], bool] = lambda: True  # True if a camera has answered

    def can_look(self) -> bool:
        """True if pictures are to be expected."""
        return self.picture is not _nothing and self.is_there()


class ClubLine(Protocol):
    """How it stands between this table and its club."""

    @property
    def says(self) -> Said:
        """How far the club is behind, and why."""

    @property
    def clocks(self) -> list[dict[str, Any]]:
        """The clock of the round that is played here, in a tournament: `name`, `left_s`, `runs`, `seq`."""

    @property
    def is_forked(self) -> bool:
        """True if somebody has to decide whether this table goes on at the club as a new one."""

    def begin_anew(self) -> None:
        """Go on at the club as a new table. Raises Problem."""


NO_CAMERA = Camera()  # every play is entered by hand


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The parts that the app is built on."""

    match: Match
    phones: Phones
    token: str  # the token of the join link: a phone that shows it takes part
    code: str  # the short code of the table: a phone on which it is typed asks the host to be let in
    limits: RateLimits
    called: frozenset[str]  # additional host names of this machine
    base_url: Callable[[], str]  # returns the address that phones open now, as the network changes; empty if not known
    announced: str  # the address announced in place of the machine's own, such as that of a proxy; empty for none
    camera: Camera
    secure: SecurePort | None = None  # the port for the phone that is the camera
    club: ClubLine | None = None
    robot: RobotHelp = field(default_factory=RobotHelp)
    guide: Guide = field(default_factory=Guide)
    snaps: Snaps = field(default_factory=Snaps)
    archive: Archive = field(default_factory=Archive)
    pictures: Kept[bytes] = field(default_factory=lambda: Kept(16))  # the latest drawn score sheets, as PNG


def service() -> Service:
    """Return the service of this request's app."""
    return cast(Service, current_app.extensions["companion"])


def match() -> Match:
    """Return the match being played."""
    return service().match


def state() -> MatchState:
    """Return the state of the match, the same for all of a page."""
    if "state" not in g:
        g.state = service().match.state
    return cast(MatchState, g.state)


def folder() -> Path:
    """Return the data folder."""
    return match().store.path.parent


def editions() -> list[Edition]:
    """Return every edition that can be chosen."""
    return [load_edition(name) for name in edition_names()]


def sent_files(field: str) -> list[tuple[bytes, str]]:
    """Return the contents and names of files that were sent together, in the order of their names.

    A telephone numbers its pictures; the order in which it sends those chosen says nothing.
    """
    sent = [(file.read(), file.filename or "") for file in request.files.getlist(field)]
    return sorted((one for one in sent if one[0]), key=lambda one: (len(one[1]), one[1]))


def download(content: str | bytes, mimetype: str, name: str, *, opens: bool = False) -> Response:
    """Return a file to keep, or with `opens` one that the browser may show."""
    response = Response(content, mimetype=mimetype)
    response.headers["Content-Disposition"] = f'{"inline" if opens else "attachment"}; filename="{name}"'
    return response


def is_demo() -> bool:
    """True if what the pages show is played at the simulated table."""
    return service().camera.is_simulated and (state().match is None or state().is_demo)


def has_picture() -> bool:
    """True if there is a fresh picture of the table that is played on: the simulated one is not that of people."""
    return (is_demo() or not service().camera.is_simulated) and service().camera.picture() is not None


def has_camera() -> bool:
    """True if a camera is used: one was asked for, or answered, and the table does not play without it, nor cards."""
    now, camera = state(), service().camera
    return camera.can_look() and not (now.without_camera or now.is_dealt or (camera.is_simulated and not now.is_demo))


def forget_state() -> None:
    """Drop the state of the page after a change of the match, so that the page shows the one after it."""
    g.pop("state", None)


def request_field() -> Markup:
    """Return the hidden field by which a form counts once, however often it is sent."""
    return Markup('<input type="hidden" name="request" value="%s">') % secrets.token_hex(8)


def once(act: Callable[[], Outcome]) -> Outcome:
    """Make the change that a form asks for; the same form sent again with the same choice gets the same answer."""
    form = sorted((name, value) for name, value in request.form.items() if name != "request")
    asked, token = f"{request.path} {form}", request.form.get("request", "")[:32]
    name = f"{token}-{hashlib.sha256(asked.encode()).hexdigest()[:16]}" if token else None
    return match().once(name, asked, act)


def go(url: str) -> AnyResponse:
    """Redirect to another page, also from a page that asked for a part."""
    if "HX-Request" in request.headers:
        return Response(status=204, headers={"HX-Redirect": url})
    return redirect(url, 303)
